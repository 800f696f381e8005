/* test_shared_threads.c - a set that threads share, used by threads
 *
 * Histories of calls for few keys are checked for linearizability, key by key.  Each call takes a number
 * from one counter before it begins and one after it has returned.  A key that is there c times is a
 * counter: insert raises it and tells whether it was 0, remove lowers it or finds it 0, contains and copies
 * tell it. An order of all calls for a key is looked for that a single thread could have made and in which
 * no call comes before one that had returned when it began.  Between rounds all threads wait for each
 * other, so that a round is a history of its own.
 *
 * TAMIS_SOAK=N: N calls by 8 threads instead of some.  TAMIS_SAVES=N: N saves under load.  TAMIS_HOLD=N: for
 * how long locks are held, in a set of N keys.
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE 1 /* usleep, barriers */

#include "support.h"

#include "tamis/shared.h"

#include "shared/lines.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

/* ---- linearizability ---- */

enum { THREADS = 4, CALLS = 6, HOT = 3, ROUNDS = 400 };

typedef enum what { INSERT, REMOVE, CONTAINS, COPIES } what;

typedef struct call {
    what what;
    unsigned key;
    uint64_t began, ended, result;
} call;

/* Does a call give this result when the key is there c times?  What it leaves is in '*after'. */
static bool explains(const call *c, bool multiset, uint64_t copies, uint64_t *after) {
    *after = copies;
    switch (c->what) {
    case INSERT:
        *after = multiset ? copies + 1 : 1;
        return c->result == (copies == 0);
    case REMOVE:
        *after = copies == 0 ? 0 : copies - 1;
        return c->result == (copies != 0);
    case CONTAINS:
        return c->result == (copies != 0);
    default:
        return c->result == copies;
    }
}

#define STATES ((CALLS + 1) * (CALLS + 1) * (CALLS + 1) * (CALLS + 1))

/* Is there an order?  A state is how many calls of each thread are in it; all that are reached are looked at.
 * 'copies' is the number before, and after if the answer is yes. */
static bool linearizable(call *const calls[THREADS], const unsigned n[THREADS], bool multiset,
                         uint64_t *copies) {
    static uint64_t value[STATES];
    static bool seen[STATES];
    memset(seen, 0, sizeof seen);
    static const unsigned weight[THREADS] = {1, CALLS + 1, (CALLS + 1) * (CALLS + 1),
                                             (CALLS + 1) * (CALLS + 1) * (CALLS + 1)};
    unsigned last = 0;
    for (unsigned t = 0; t < THREADS; t++)
        last += n[t] * weight[t];
    seen[0] = true;
    value[0] = *copies;
    for (unsigned s = 0; s <= last; s++) { /* a call leads to a larger number */
        if (!seen[s])
            continue;
        uint64_t first_end = UINT64_MAX; /* of the calls that are left */
        for (unsigned t = 0; t < THREADS; t++) {
            const unsigned at = s / weight[t] % (CALLS + 1);
            if (at < n[t] && calls[t][at].ended < first_end)
                first_end = calls[t][at].ended;
        }
        for (unsigned t = 0; t < THREADS; t++) {
            const unsigned at = s / weight[t] % (CALLS + 1);
            uint64_t after;
            if (at < n[t] && calls[t][at].began < first_end &&
                explains(&calls[t][at], multiset, value[s], &after)) {
                seen[s + weight[t]] = true;
                value[s + weight[t]] = after;
            }
        }
    }
    if (seen[last])
        *copies = value[last];
    return seen[last];
}

/* The judge itself: histories that are right, and histories that are not. */
static void test_judge_tells_right_from_wrong(void **state) {
    (void)state;
    call a[CALLS] = {{INSERT, 0, 1, 4, 1}, {CONTAINS, 0, 5, 6, 1}};
    call b[CALLS] = {{INSERT, 0, 2, 3, 0}, {REMOVE, 0, 7, 8, 1}};
    call none[CALLS];
    call *const calls[THREADS] = {a, b, none, none};
    const unsigned n[THREADS] = {2, 2, 0, 0};
    uint64_t copies = 0;
    assert_true(linearizable(calls, n, true, &copies));
    assert_int_equal(copies, 1);
    copies = 0;
    a[1].result = 0; /* a key that was inserted is not found */
    assert_false(linearizable(calls, n, true, &copies));
    a[1].result = 1;
    b[0].result = 1; /* both are told that the key was new */
    assert_false(linearizable(calls, n, true, &copies));
    b[0].result = 0;
    b[0].ended = 3, a[0].began = 10, a[0].ended = 11; /* "not new", though nobody had begun */
    a[1].began = 12, a[1].ended = 13;
    assert_false(linearizable(calls, n, true, &copies));
}

typedef struct arena {
    tamis_shared *set;
    bool removes;
    atomic_uint_fast64_t clock;
    pthread_barrier_t barrier;
    call calls[THREADS][CALLS];
    unsigned rounds;
    uint64_t keys[HOT];
} arena;

typedef struct player {
    arena *arena;
    unsigned number;
    unsigned wrong;
} player;

static uint64_t make_call(tamis_shared *set, const call *c, uint64_t key, bool batch,
                          unsigned *bad) {
    bool yes = false;
    tamis_status status = TAMIS_OK;
    switch (c->what) {
    case INSERT:
        status = batch ? tamis_shared_insert_many_u64(set, &key, 1, &yes, NULL, NULL)
                       : tamis_shared_insert_u64(set, key, &yes);
        *bad += status != TAMIS_OK;
        return yes;
    case REMOVE:
        status = tamis_shared_remove_u64(set, key);
        *bad += status != TAMIS_OK && status != TAMIS_E_NOT_FOUND;
        return status == TAMIS_OK;
    case CONTAINS:
        return batch ? tamis_shared_contains_many_u64(set, &key, 1, NULL)
                     : tamis_shared_contains_u64(set, key);
    default:
        return tamis_shared_copies_u64(set, key);
    }
}

static void *play(void *argument) {
    player *const p = argument;
    arena *const a = p->arena;
    uint64_t random = test_seed() + p->number;
    for (unsigned round = 0; round < a->rounds; round++) {
        (void)pthread_barrier_wait(&a->barrier);
        for (unsigned i = 0; i < CALLS; i++) {
            call *const c = &a->calls[p->number][i];
            const uint64_t dice = test_random_below(&random, 8);
            c->what = dice < 3                 ? INSERT
                      : dice < 5 && a->removes ? REMOVE
                      : dice < 7               ? CONTAINS
                                               : COPIES;
            c->key = (unsigned)test_random_below(&random, HOT);
            const bool batch = test_random_below(&random, 3) == 0;
            c->began = atomic_fetch_add(&a->clock, 1);
            c->result = make_call(a->set, c, a->keys[c->key], batch, &p->wrong);
            c->ended = atomic_fetch_add(&a->clock, 1);
        }
        (void)pthread_barrier_wait(&a->barrier);
    }
    return NULL;
}

/* The calls of the last round, key by key. */
static bool judge(arena *a, bool multiset, uint64_t copies[HOT]) {
    bool fine = true;
    for (unsigned key = 0; key < HOT; key++) {
        call own[THREADS][CALLS];
        call *calls[THREADS];
        unsigned n[THREADS];
        for (unsigned t = 0; t < THREADS; t++) {
            calls[t] = own[t];
            n[t] = 0;
            for (unsigned i = 0; i < CALLS; i++)
                if (a->calls[t][i].key == key)
                    own[t][n[t]++] = a->calls[t][i];
        }
        fine = linearizable(calls, n, multiset, &copies[key]) && fine;
    }
    return fine;
}

static void histories(const tamis_params *params, unsigned shards, unsigned rounds) {
    const unsigned abilities = tamis_params_abilities(params);
    const bool multiset = (abilities & TAMIS_CAN_COUNT) != 0;
    static arena a;
    assert_ok(tamis_shared_create(params, shards, NULL, &a.set));
    a.removes = (abilities & TAMIS_CAN_REMOVE) != 0;
    atomic_init(&a.clock, 0);
    a.rounds = rounds;
    for (unsigned i = 0; i < HOT; i++) {
        a.keys[i] = test_seed() + i;
        assert_false(tamis_shared_contains_u64(a.set, a.keys[i]));
    }
    assert_int_equal(pthread_barrier_init(&a.barrier, NULL, THREADS + 1), 0);
    pthread_t threads[THREADS];
    player players[THREADS];
    for (unsigned t = 0; t < THREADS; t++) {
        players[t] = (player){.arena = &a, .number = t};
        assert_int_equal(pthread_create(&threads[t], NULL, play, &players[t]), 0);
    }
    uint64_t copies[HOT] = {0};
    unsigned bad = 0;
    for (unsigned round = 0; round < rounds; round++) {
        (void)pthread_barrier_wait(&a.barrier);
        (void)pthread_barrier_wait(&a.barrier);
        bad += !judge(&a, multiset, copies);
        /* Few copies: every kind counts so many exactly. */
        for (unsigned i = 0; i < HOT && a.removes; i++)
            for (; copies[i] > 1; copies[i]--)
                bad += tamis_shared_remove_u64(a.set, a.keys[i]) != TAMIS_OK;
        if (!a.removes && round % 8 == 7) {
            bad += tamis_shared_clear(a.set) != TAMIS_OK;
            memset(copies, 0, sizeof copies);
        }
    }
    for (unsigned t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_join(threads[t], NULL), 0);
        assert_int_equal(players[t].wrong, 0);
    }
    if (bad != 0)
        print_error("%s, %u shards: %u of %u histories are not linearizable\n",
                    tamis_kind_name(params->kind), shards, bad, rounds);
    assert_int_equal(bad, 0);
    (void)pthread_barrier_destroy(&a.barrier);
    tamis_shared_free(a.set);
}

static void test_shared_histories_are_linearizable(void **state) {
    (void)state;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        /* So few errors that none is seen, where the kind can; the hot keys have been tried before. */
        const tamis_params params = test_params(kind, 4000, 1e-5, test_seed());
        /* Counters of counting-bloom and rank-counting stop; three copies at a time stay below. */
        histories(&params, 1, ROUNDS);
        if (kind == TAMIS_KIND_RANK || kind == TAMIS_KIND_STEADY || kind == TAMIS_KIND_LINE)
            histories(&params, 2, ROUNDS);
    }
    const tamis_need need = test_need(TAMIS_KIND_LINE, 4000, 1e-5);
    tamis_params set = test_planned(&need).params;
    set.seed = test_seed();
    assert_int_equal(set.value[TAMIS_LINE_SET], 1);
    histories(&set, 2, ROUNDS);
}

/* ---- many calls: no key is lost ---- */

enum { SOAKERS = 8, OWN = 2000, SOAK_SHORT = 3000000 };

typedef struct soaker {
    tamis_shared *set;
    uint64_t first, calls, wrong;
    bool removes;
} soaker;

/* Own keys: put in, asked for, taken out, in turns; others do the same with theirs. */
static void *soak(void *argument) {
    soaker *const s = argument;
    uint64_t keys[OWN], random = s->first, left = s->calls;
    for (uint64_t turn = 0; left > 0; turn++) {
        const uint64_t base = s->removes ? s->first : s->first + turn % 50 * OWN;
        size_t done = 0, count = 0;
        for (uint64_t i = 0; i < OWN; i++)
            keys[i] = base + i;
        s->wrong += tamis_shared_insert_many_u64(s->set, keys, OWN, NULL, NULL, &done) != TAMIS_OK;
        s->wrong += OWN - done;
        s->wrong += OWN - tamis_shared_contains_many_u64(s->set, keys, OWN, NULL);
        for (unsigned i = 0; i < 100; i++) {
            const uint64_t key = base + test_random_below(&random, OWN);
            s->wrong += !tamis_shared_contains_u64(s->set, key);
            if (s->removes) {
                s->wrong += tamis_shared_remove_u64(s->set, key) != TAMIS_OK;
                s->wrong += tamis_shared_insert_u64(s->set, key, NULL) != TAMIS_OK;
            }
            s->wrong += tamis_shared_copies_u64(s->set, key) == 0;
        }
        if (s->removes) {
            s->wrong += tamis_shared_remove_many_u64(s->set, keys, OWN, NULL, &count) != TAMIS_OK;
            s->wrong += OWN - count;
        }
        const uint64_t calls = s->removes ? 3 * OWN + 400 : 2 * OWN + 200;
        left -= left < calls ? left : calls;
    }
    return NULL;
}

static uint64_t number_from(const char *variable, uint64_t otherwise) {
    const char *const text = getenv(variable);
    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

static void soak_kind(tamis_kind kind, uint64_t calls) {
    tamis_need need = test_need(kind, 40000, 0.001);
    need.deletes = (tamis_kind_abilities(kind) & TAMIS_CAN_REMOVE) != 0;
    if (!need.deletes) /* they stay */
        need.n = 1000000;
    tamis_shared_plan plan;
    tamis_shared_plan_init(&plan);
    assert_ok(tamis_shared_plan_make(&need, SOAKERS, &plan));
    plan.params.seed = test_seed();
    tamis_shared *set = NULL;
    assert_ok(tamis_shared_create(&plan.params, plan.shards, NULL, &set));
    pthread_t threads[SOAKERS];
    soaker soakers[SOAKERS];
    for (unsigned t = 0; t < SOAKERS; t++) {
        soakers[t] = (soaker){.set = set,
                              .first = (uint64_t)(t + 1) << 32,
                              .calls = calls / SOAKERS,
                              .removes = need.deletes};
        assert_int_equal(pthread_create(&threads[t], NULL, soak, &soakers[t]), 0);
    }
    uint64_t wrong = 0;
    for (unsigned t = 0; t < SOAKERS; t++) {
        assert_int_equal(pthread_join(threads[t], NULL), 0);
        wrong += soakers[t].wrong;
    }
    print_message("# %s: %llu calls by %u threads, %llu wrong\n", tamis_kind_name(kind),
                  (unsigned long long)calls, (unsigned)SOAKERS, (unsigned long long)wrong);
    assert_int_equal(wrong, 0);
    if (need.deletes)
        assert_int_equal(tamis_shared_count(set), 0);
    tamis_shared_free(set);
}

static void test_shared_soak_loses_no_key(void **state) {
    (void)state;
    static const tamis_kind kinds[] = {TAMIS_KIND_STEADY, TAMIS_KIND_BLOCKED_BLOOM,
                                       TAMIS_KIND_RANK_COUNTING};
    const uint64_t calls = number_from("TAMIS_SOAK", SOAK_SHORT);
    soak_kind(kinds[0], calls / 2);
    soak_kind(kinds[1], calls / 4);
    soak_kind(kinds[2], calls / 4);
}

/* ---- saving while others write ---- */

enum { WRITERS = 2, SAVES = 12, WRITTEN = 400000 };

typedef struct writer {
    tamis_shared *set;
    uint64_t first;
    atomic_uint_fast64_t done; /* keys whose insert has returned */
    atomic_bool *stop;
    uint64_t wrong;
} writer;

static void *write_on(void *argument) {
    writer *const w = argument;
    for (uint64_t i = 0; i < WRITTEN && !atomic_load(w->stop); i++) {
        w->wrong += tamis_shared_insert_u64(w->set, w->first + i, NULL) != TAMIS_OK;
        atomic_store(&w->done, i + 1);
    }
    return NULL;
}

/* What a copy has of one writer's keys: all up to some number that is not below 'before', and none after. */
static unsigned wrong_cut(const tamis_filter *copy, uint64_t first, uint64_t before,
                          uint64_t after) {
    unsigned wrong = 0;
    uint64_t i = 0;
    while (i < before)
        wrong += !tamis_filter_contains_u64(copy, first + i++);
    while (i < after && tamis_filter_contains_u64(copy, first + i))
        i++;
    while (i < after)
        wrong += tamis_filter_contains_u64(copy, first + i++);
    return wrong;
}

static void save_under_load(tamis_kind kind, unsigned shards, unsigned saves) {
    const tamis_params params =
        test_params(kind, WRITERS * WRITTEN / shards + 2000, 1e-9, test_seed());
    const char *const path = test_path("load");
    unsigned wrong = 0;
    while (saves > 0) {
        static writer writers[WRITERS];
        atomic_bool stop = false;
        pthread_t threads[WRITERS];
        tamis_shared *set = NULL;
        assert_ok(tamis_shared_create(&params, shards, NULL, &set));
        for (unsigned t = 0; t < WRITERS; t++) {
            writers[t].set = set;
            writers[t].first = (uint64_t)(t + 1) << 40;
            writers[t].stop = &stop;
            writers[t].wrong = 0;
            atomic_init(&writers[t].done, 0);
            assert_int_equal(pthread_create(&threads[t], NULL, write_on, &writers[t]), 0);
        }
        for (unsigned i = 0; i < 10 && saves > 0; i++, saves--) {
            uint64_t before[WRITERS];
            for (unsigned t = 0; t < WRITERS; t++)
                before[t] = atomic_load(&writers[t].done);
            wrong += tamis_shared_save(set, path, NULL) != TAMIS_OK;
            tamis_filter *copy = NULL;
            assert_ok(tamis_filter_load(path, NULL, &copy, NULL));
            for (unsigned t = 0; t < WRITERS; t++)
                wrong +=
                    wrong_cut(copy, writers[t].first, before[t], atomic_load(&writers[t].done) + 1);
            tamis_filter_free(copy);
        }
        atomic_store(&stop, true);
        for (unsigned t = 0; t < WRITERS; t++) {
            assert_int_equal(pthread_join(threads[t], NULL), 0);
            assert_int_equal(writers[t].wrong, 0);
        }
        tamis_shared_free(set);
    }
    (void)remove(path);
    assert_int_equal(wrong, 0);
}

static void test_shared_save_under_load_is_one_moment(void **state) {
    (void)state;
    const unsigned saves = (unsigned)number_from("TAMIS_SAVES", SAVES);
    save_under_load(TAMIS_KIND_BLOCKED_BLOOM, 1, saves - saves / 2);
    save_under_load(TAMIS_KIND_RANK, 8, saves / 2);
}

/* ---- batches of queries while a writer comes and goes ---- */

enum { ASKERS = 3, KNOWN = 20000, BURSTS = 40, BURST = 300 };

typedef struct asker {
    tamis_shared *set;
    atomic_bool *stop;
    uint64_t batches, wrong;
} asker;

/* The first KNOWN keys are in all the time. */
static void *ask_on(void *argument) {
    asker *const a = argument;
    uint64_t keys[2000];
    for (; !atomic_load(a->stop); a->batches++) {
        for (uint64_t i = 0; i < 2000; i++)
            keys[i] = (a->batches * 2000 + i) % KNOWN;
        a->wrong += tamis_shared_contains_many_u64(a->set, keys, 2000, NULL) != 2000;
    }
    return NULL;
}

/* Bursts of inserts, one by one and in batches, with time between them for the set to become
 * calm.  What a call has put in is found by the next, in both ways to ask. */
static unsigned burst(tamis_shared *set, bool batch) {
    uint64_t keys[BURST];
    unsigned wrong = 0;
    size_t done = 0;
    for (uint64_t i = 0; i < BURST; i++)
        keys[i] = ((uint64_t)1 << 50) + i;
    if (batch)
        wrong += tamis_shared_insert_many_u64(set, keys, BURST, NULL, NULL, &done) != TAMIS_OK;
    for (uint64_t i = 0; !batch && i < BURST; i++)
        wrong += tamis_shared_insert_u64(set, keys[i], NULL) != TAMIS_OK;
    wrong += tamis_shared_contains_many_u64(set, keys, BURST, NULL) != BURST;
    for (uint64_t i = 0; i < BURST; i++)
        wrong += !tamis_shared_contains_u64(set, keys[i]);
    return wrong;
}

static bool is_calm(const tamis_shared *set) {
    return atomic_load(&set->calm[0].is.word) == TAMIS_I_CALM_ON;
}

static void test_shared_batches_between_bursts(void **state) {
    (void)state;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        if (tamis_i_kind_of(kind)->line_alone == NULL)
            continue;
        const tamis_params params = test_params(kind, 100000, 0.001, test_seed());
        tamis_shared *set = NULL;
        pthread_t threads[ASKERS];
        asker askers[ASKERS];
        atomic_bool stop = false;
        unsigned wrong = 0, calm = 0;
        uint64_t batches = 0;
        assert_ok(tamis_shared_create(&params, 1, NULL, &set));
        for (uint64_t i = 0; i < KNOWN; i++)
            assert_ok(tamis_shared_insert_u64(set, i, NULL));
        for (unsigned t = 0; t < ASKERS; t++) {
            askers[t] = (asker){.set = set, .stop = &stop};
            assert_int_equal(pthread_create(&threads[t], NULL, ask_on, &askers[t]), 0);
        }
        for (unsigned i = 0; i < BURSTS; i++) {
            for (unsigned wait = 0; wait < 100 && !is_calm(set); wait++)
                (void)usleep(2000);
            calm += is_calm(set);
            wrong += burst(set, i % 2 == 0);
        }
        atomic_store(&stop, true);
        for (unsigned t = 0; t < ASKERS; t++) {
            assert_int_equal(pthread_join(threads[t], NULL), 0);
            wrong += (unsigned)askers[t].wrong;
            batches += askers[t].batches;
        }
        print_message("# %s: %llu batches, calm before %u of %u bursts\n", tamis_kind_name(kind),
                      (unsigned long long)batches, calm, (unsigned)BURSTS);
        assert_int_equal(wrong, 0);
        assert_true(calm > 0);
        tamis_shared_free(set);
    }
}

/* ---- for how long locks are held ---- */

static double seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum { HELD = 1 << 20 };

/* Nanoseconds per key of what insert_u64 does, and of the same without the work under the lock. */
static double time_of_inserts(tamis_shared *set, uint64_t first, bool work) {
    const double from = seconds();
    for (uint64_t i = first; i < first + HELD; i++) {
        const tamis_digest digest = tamis_hash_u64(tamis_shared_hasher(set), i);
        TAMIS_PREFETCH_RW(tamis_i_lines_at(set, tamis_i_lines_number(set, digest)));
        tamis_i_gate *const gate = tamis_i_gate_of(set, digest);
        bool added;
        tamis_i_gate_enter(set, gate);
        if (work)
            tamis_i_lines_insert(set, gate, digest, &added);
        tamis_i_gate_leave(gate);
    }
    return 1e9 * (seconds() - from) / HELD;
}

static void test_shared_hold_times(void **state) {
    (void)state;
    const uint64_t n = number_from("TAMIS_HOLD", 0);
    static uint64_t keys[HELD];
    for (tamis_kind kind = 0; n != 0 && (kind = test_next_kind(kind)) != 0;) {
        if (tamis_i_kind_of(kind)->line_alone == NULL)
            continue;
        const tamis_params params = test_params(kind, n, 0.001, test_seed());
        tamis_shared *set = NULL;
        assert_ok(tamis_shared_create(&params, 1, NULL, &set));
        for (uint64_t at = 0; at < n - n / 4; at += HELD) {
            for (uint64_t i = 0; i < HELD; i++)
                keys[i] = at + i;
            assert_ok(tamis_shared_insert_many_u64(set, keys, HELD, NULL, NULL, NULL));
        }
        const double all = time_of_inserts(set, (uint64_t)1 << 40, true);
        const double less = time_of_inserts(set, (uint64_t)2 << 40, false);
        for (uint64_t i = 0; i < HELD; i++)
            keys[i] = ((uint64_t)3 << 40) + i;
        const double from = seconds();
        assert_ok(tamis_shared_insert_many_u64(set, keys, HELD, NULL, NULL, NULL));
        print_message(
            "# %s, %u regions: insert %.0f ns, %.0f of them under the lock; batches %.0f\n",
            tamis_kind_name(kind), set->n, all, all - less, 1e9 * (seconds() - from) / HELD);
        tamis_shared_free(set);
    }
}

/* ---- a thread that is gone ---- */

static void *work_and_wait(void *argument) {
    tamis_shared *const set = argument;
    for (uint64_t i = 0; i < 1000; i++)
        if (tamis_shared_insert_u64(set, i, NULL) != TAMIS_OK)
            return NULL;
    for (;;)
        pause(); /* where it is cancelled */
    return NULL;
}

static void test_shared_goes_on_when_a_thread_is_gone(void **state) {
    (void)state;
    static const tamis_kind kinds[] = {TAMIS_KIND_STEADY, TAMIS_KIND_RANK};
    for (unsigned k = 0; k < 2; k++) {
        const tamis_params params = test_params(kinds[k], 5000, 0.001, test_seed());
        tamis_shared *set = NULL;
        pthread_t thread;
        assert_ok(tamis_shared_create(&params, 1, NULL, &set));
        assert_int_equal(pthread_create(&thread, NULL, work_and_wait, set), 0);
        while (tamis_shared_count(set) < 1000)
            (void)usleep(1000);
        assert_int_equal(pthread_cancel(thread), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        for (uint64_t i = 0; i < 1000; i++) {
            assert_true(tamis_shared_contains_u64(set, i));
            assert_ok(tamis_shared_remove_u64(set, i));
        }
        tamis_filter *copy = NULL;
        assert_ok(tamis_shared_snapshot(set, NULL, &copy));
        assert_int_equal(tamis_filter_count(copy), 0);
        tamis_filter_free(copy);
        tamis_shared_free(set);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_judge_tells_right_from_wrong),
        cmocka_unit_test(test_shared_histories_are_linearizable),
        cmocka_unit_test(test_shared_soak_loses_no_key),
        cmocka_unit_test(test_shared_save_under_load_is_one_moment),
        cmocka_unit_test(test_shared_batches_between_bursts),
        cmocka_unit_test(test_shared_goes_on_when_a_thread_is_gone),
        cmocka_unit_test(test_shared_hold_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
