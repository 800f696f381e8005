/* test_run.c - buckets of runs against lists; tables that spill over against exact multisets
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "bits/run.h"
#include "bits/spill.h"
#include "bits/words.h"

#define HOMES 200u
#define SLOTS 160u

/* ---- one bucket ---- */

/* A bucket as lists. */
typedef struct lists {
    uint64_t slot[HOMES][SLOTS];
    unsigned n[HOMES];
    unsigned load;
    uint64_t held;
} lists;

static void compare_bucket(const tamis_i_run *run, const tamis_i_run_ops *ops,
                           const uint64_t *bucket, const lists *l) {
    const char *reason = NULL;
    uint64_t first = 0;
    const tamis_i_run_load load = ops->count(run, bucket);
    assert_int_equal(load.load, l->load);
    assert_int_equal(load.held, l->held);
    for (uint64_t home = 0; home < run->homes; home++) {
        tamis_i_run_view view;
        assert_int_equal(ops->look(run, bucket, home, &view), home < l->held);
        if (home >= l->held) {
            assert_int_equal(ops->find(run, bucket, home, 0), TAMIS_I_RUN_AWAY);
            continue;
        }
        assert_int_equal(view.first, first);
        assert_int_equal(view.length, l->n[home]);
        for (unsigned i = 0; i < l->n[home]; i++) {
            assert_int_equal(tamis_i_run_get(run, bucket, first + i), l->slot[home][i]);
            assert_int_equal(ops->find(run, bucket, home, l->slot[home][i] & run->print_mask),
                             TAMIS_I_RUN_FOUND);
        }
        first += l->n[home];
    }
    if (!tamis_i_run_check(run, bucket, &reason))
        fail_msg("%s", reason);
}

/* What is asked before homes come and go: how many slots of a run have a value, and which home goes. */
static void compare_asked(const tamis_i_run *run, const tamis_i_run_ops *ops, uint64_t *bucket,
                          const lists *l, uint64_t *random) {
    const uint64_t mask = run->slot_mask & test_random(random) & test_random(random);
    uint64_t last = 0;
    for (uint64_t home = 0; home < l->held; home++) {
        last = l->n[home] > 0 ? home : last;
        if (l->held < run->homes)
            continue;
        const uint64_t any = test_random(random),
                       value = (l->n[home] > 0 ? l->slot[home][any % l->n[home]] : any) & mask;
        tamis_i_run_asked asked[2] = {{.bucket = bucket, .value = value}, {.bucket = bucket}};
        tamis_i_run_view view;
        uint64_t n = 0, first = 0;
        for (unsigned i = l->n[home]; i-- > 0;)
            if ((l->slot[home][i] & mask) == value) {
                first = i;
                n++;
            }
        assert_true(ops->look(run, bucket, home, &view));
        ops->ask(run, home, mask, asked, 2);
        assert_int_equal(asked[0].n, n);
        assert_true(n == 0 || asked[0].number == view.first + first);
        ops->weigh(run, home, &asked[1], 1);
        for (unsigned i = 0; i < 2; i++) {
            assert_memory_equal(&asked[i].view, &view, sizeof view);
            assert_int_equal(asked[i].load, l->load);
        }
    }
    if (l->load != run->slots)
        return;
    for (uint64_t own = 0; own < l->held; own += 1 + own % 7) {
        const tamis_i_run_load load = {.load = l->load, .held = l->held};
        tamis_i_run_view view, expected;
        const uint64_t home = ops->spare(run, bucket, load, own, &view);
        assert_int_equal(home, own > last ? own : last);
        assert_true(ops->look(run, bucket, home, &expected));
        assert_memory_equal(&view, &expected, sizeof view);
    }
}

/* A slot that found its bucket full learns of it what there is to know. */
static void check_spot(const tamis_i_run *run, const tamis_i_run_ops *ops, const uint64_t *bucket,
                       uint64_t home, const lists *l, const tamis_i_run_spot *spot) {
    tamis_i_run_view view;
    assert_true(ops->look(run, bucket, home, &view));
    assert_memory_equal(&view, &spot->view, sizeof view);
    assert_int_equal(spot->load.load, l->load);
    assert_int_equal(spot->load.held, l->held);
    assert_int_equal(l->load, run->slots);
}

/* Queries by groups: for the first slot of each home, or any fingerprint. */
static void compare_groups(const tamis_i_run *run, const tamis_i_run_ops *ops, uint64_t *bucket,
                           const lists *l, uint64_t *random) {
    tamis_i_run_keys keys;
    for (uint64_t home = 0; home < run->homes; home += TAMIS_I_GROUP) {
        const size_t n =
            run->homes - home < TAMIS_I_GROUP ? (size_t)(run->homes - home) : TAMIS_I_GROUP;
        for (size_t i = 0; i < n; i++) {
            const uint64_t at = home + i;
            keys.bucket[i] = bucket;
            keys.home[i] = at;
            keys.print[i] =
                (l->n[at] > 0 && i % 2 == 0 ? l->slot[at][l->n[at] - 1] : test_random(random)) &
                run->print_mask;
        }
        const uint32_t away = ops->look_many(run, &keys, n, &keys);
        const uint32_t found = ops->match_many(run, &keys, n);
        uint32_t gone;
        assert_int_equal(ops->find_many(run, &keys, n, &keys, &gone), found);
        assert_int_equal(gone, away);
        for (size_t i = 0; i < n; i++) {
            const unsigned expected = ops->find(run, bucket, home + i, keys.print[i]);
            assert_int_equal(away >> i & 1, expected == TAMIS_I_RUN_AWAY);
            assert_int_equal(found >> i & 1, expected == TAMIS_I_RUN_FOUND);
        }
        const tamis_i_run_load load = ops->count(run, bucket);
        const bool full = load.load == run->slots || load.held < run->homes;
        assert_int_equal(ops->full_many(run, &keys, n), full ? ((uint32_t)1 << n) - 1 : 0);
    }
}

/* One random change, in the lists and in the bucket by either operations; both must give the same bytes. */
static void change_bucket(const tamis_i_run *run, const tamis_i_run_ops *const ops[2],
                          uint64_t *const bucket[2], lists *l, uint64_t *random) {
    const uint64_t home = test_random_below(random, run->homes),
                   slot = test_random(random) & run->slot_mask & (run->print_mask << 3 | 1);
    const uint64_t what = test_random_below(random, 16);
    const tamis_i_run_load load = {.load = l->load, .held = l->held};
    if (what < 9) {
        uint64_t equal = 0;
        for (unsigned i = 0; home < l->held && i < l->n[home]; i++)
            equal += ((l->slot[home][i] ^ slot) & run->print_mask) == 0;
        const bool fits = home < l->held && l->load < run->slots && equal < 3;
        const unsigned expected =
            home >= l->held ? TAMIS_I_RUN_AWAY
                            : (equal != 0 ? TAMIS_I_RUN_FOUND : 0) | (fits ? TAMIS_I_RUN_DONE : 0);
        for (unsigned i = 0; i < 2; i++) {
            tamis_i_run_spot spot;
            assert_int_equal(ops[i]->add(run, bucket[i], home, slot, 3, &spot), expected);
            if (expected == 0)
                check_spot(run, ops[i], bucket[i], home, l, &spot);
        }
        if (fits) {
            l->slot[home][l->n[home]++] = slot;
            l->load++;
        }
    } else if (what < 14) {
        const bool held = home < l->held;
        unsigned at = 0;
        while (held && at < l->n[home] && ((l->slot[home][at] ^ slot) & run->print_mask) != 0)
            at++;
        const bool found = held && at < l->n[home];
        const bool any = held && l->n[home] > 0 && what % 2 == 0; /* or the first one */
        const uint64_t print = (any ? l->slot[home][0] : slot) & run->print_mask;
        const unsigned cut = l->held < run->homes ? TAMIS_I_RUN_CUT : 0;
        for (unsigned i = 0; i < 2; i++)
            assert_int_equal(ops[i]->drop(run, bucket[i], home, print), !held ? TAMIS_I_RUN_AWAY
                                                                        : any || found
                                                                            ? TAMIS_I_RUN_DONE | cut
                                                                            : 0);
        if (any || found) {
            const unsigned gone = any ? 0 : at;
            l->n[home]--;
            l->load--;
            memmove(&l->slot[home][gone], &l->slot[home][gone + 1],
                    (l->n[home] - gone) * sizeof l->slot[home][0]);
        }
    } else if (what == 14 && l->load > 0) {
        uint64_t last = l->held - 1;
        while (l->n[last] == 0)
            last--;
        for (unsigned i = 0; i < 2; i++) {
            tamis_i_run_view view;
            assert_int_equal(tamis_i_run_last(run, bucket[i], load), last);
            assert_true(ops[i]->look(run, bucket[i], last, &view));
            tamis_i_run_cut(run, bucket[i], load, &view);
        }
        for (; l->held > last; l->held--) {
            l->load -= l->n[l->held - 1];
            l->n[l->held - 1] = 0;
        }
    } else if (l->held < run->homes && l->load + 2 <= run->slots) {
        const unsigned n = (unsigned)test_random_below(random, 3);
        for (unsigned i = 0; i < 2; i++) {
            tamis_i_run_join(run, bucket[i], load, n);
            for (unsigned k = 0; k < n; k++)
                tamis_i_run_set(run, bucket[i], load.load + k, (slot + k) & run->slot_mask);
        }
        for (unsigned k = 0; k < n; k++)
            l->slot[l->held][l->n[l->held]++] = (slot + k) & run->slot_mask;
        l->held++;
        l->load += n;
    }
}

/* Slots with a low bit or two of some value go: in copies of the bucket, against the lists. */
static void compare_sweeps(const tamis_i_run *run, const tamis_i_run_ops *const ops[2],
                           const uint64_t *bucket, const lists *l, uint64_t *random) {
    const uint64_t mask = run->slot_mask & (1 + test_random_below(random, 3)),
                   value = test_random(random) & mask;
    uint64_t copy[2][24], kept = 0;
    for (unsigned i = 0; i < 2; i++) {
        const char *reason;
        memcpy(copy[i], bucket, run->words * sizeof *bucket);
        const uint64_t dropped = ops[i]->sweep(run, copy[i], mask, value);
        const tamis_i_run_load load = ops[i]->count(run, copy[i]);
        assert_true(tamis_i_run_check(run, copy[i], &reason));
        assert_true(load.load + dropped == l->load && load.held == l->held);
    }
    assert_memory_equal(copy[0], copy[1], run->words * sizeof *bucket);
    for (uint64_t home = 0; home < l->held; home++)
        for (unsigned i = 0; i < l->n[home]; i++)
            if ((l->slot[home][i] & mask) != value)
                assert_int_equal(tamis_i_run_get(run, copy[0], kept++), l->slot[home][i]);
    assert_int_equal(kept, ops[0]->count(run, copy[0]).load);
}

static void test_run_agrees_with_lists(void **state) {
    (void)state;
    static const struct {
        unsigned words, homes, print, slot;
    } cases[] = {{8, 60, 9, 9},    {16, 174, 9, 9},   {16, 86, 13, 13}, {16, 184, 6, 6},
                 {16, 100, 5, 12}, {24, 190, 20, 28}, {8, 20, 48, 64},  {16, 64, 14, 14},
                 {8, 1, 7, 7},     {8, 3, 1, 9},      {24, 64, 40, 57}, {8, 199, 1, 1},
                 {16, 2, 11, 11},  {16, 40, 18, 22},  {24, 130, 8, 8},  {16, 171, 9, 9},
                 {16, 128, 13, 13}};
    uint64_t random = test_seed();
    for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++) {
        tamis_i_run run = {.words = cases[c].words,
                           .homes = cases[c].homes,
                           .print_bits = cases[c].print,
                           .slot_bits = cases[c].slot};
        uint64_t bytes[2][24] = {{0}};
        uint64_t *const bucket[2] = {bytes[0], bytes[1]};
        assert_true(tamis_i_run_init(&run) && run.slots <= SLOTS);
        const tamis_i_run_ops *const ops[2] = {tamis_i_run_ops_for(&run, 0),
                                               tamis_i_run_ops_for(&run, tamis_i_cpu_features())};
        lists *const l = calloc(1, sizeof *l);
        assert_non_null(l);
        l->held = run.homes;
        for (unsigned step = 0; step < 3000; step++) {
            change_bucket(&run, ops, bucket, l, &random);
            assert_memory_equal(bytes[0], bytes[1], sizeof bytes[0]);
            if (step % 8 == 1)
                compare_sweeps(&run, ops, bucket[0], l, &random);
            if (step % 8 == 0)
                for (unsigned i = 0; i < 2; i++) {
                    compare_bucket(&run, ops[i], bucket[i], l);
                    compare_groups(&run, ops[i], bucket[i], l, &random);
                    compare_asked(&run, ops[i], bucket[i], l, &random);
                }
        }
        free(l);
    }
}

static void test_run_impossible_layouts_are_refused(void **state) {
    (void)state;
    const tamis_i_run good = {.words = 16, .homes = 170, .print_bits = 9, .slot_bits = 9};
    tamis_i_run run = good;
    assert_true(tamis_i_run_init(&run));
    assert_int_equal(run.slots, 85);
    for (unsigned i = 0; i < 8; i++) {
        run = good;
        run.words = i == 0 ? 12 : i == 1 ? 520 : i == 2 ? 0 : 16;
        run.homes = i == 3 ? 0 : i == 4 ? 1024 : 170;
        run.print_bits = i == 5 ? 0 : i == 6 ? 49 : 9;
        run.slot_bits = i == 7 ? 8 : i == 6 ? 60 : 9;
        assert_false(tamis_i_run_init(&run));
    }
}

/* Whatever the bits are, no function leaves the bucket (the sanitizers see to that), and for what the check
 * lets in all give the same. */
static void test_run_any_bits_are_safe(void **state) {
    (void)state;
    uint64_t random = test_seed() + 1;
    for (unsigned step = 0; step < 30000; step++) {
        const unsigned words = step % 5 < 2 ? 8 : step % 5 < 4 ? 16 : 24;
        tamis_i_run run = {.words = words,
                           .homes = 7 * words,
                           .print_bits = 9,
                           .slot_bits = step % 2 == 0 ? 9 : 13};
        assert_true(tamis_i_run_init(&run));
        const tamis_i_run_ops *const ops[2] = {tamis_i_run_ops_for(&run, 0),
                                               tamis_i_run_ops_for(&run, tamis_i_cpu_features())};
        uint64_t *const bucket[2] = {malloc(words * sizeof **bucket),
                                     malloc(words * sizeof **bucket)};
        assert_true(bucket[0] != NULL && bucket[1] != NULL);
        const char *reason;
        for (unsigned i = 0; i < words; i++)
            bucket[0][i] = step % 3 == 0 ? test_random(&random)
                                         : test_random(&random) & test_random(&random) &
                                               (step % 3 == 1 ? 0 : test_random(&random));
        memcpy(bucket[1], bucket[0], words * sizeof **bucket);
        const bool sound = tamis_i_run_check(&run, bucket[0], &reason);
        const uint64_t home = test_random_below(&random, run.homes);
        unsigned answer[2][4];
        tamis_i_run_spot spot;
        for (unsigned i = 0; i < 2; i++) {
            answer[i][0] = ops[i]->find(&run, bucket[i], home, 5);
            answer[i][1] = ops[i]->add(&run, bucket[i], home, 5, 4, &spot);
            answer[i][2] = ops[i]->drop(&run, bucket[i], home, 7);
            answer[i][3] = (unsigned)ops[i]->sweep(&run, bucket[i], 1, step % 2);
            tamis_i_run_asked asked = {.bucket = bucket[i], .value = step % 512};
            ops[i]->weigh(&run, home, &asked, 1);
            ops[i]->ask(&run, home, run.print_mask, &asked, 1);
            assert_true(asked.view.first + asked.view.length <= run.slots);
        }
        if (sound) {
            for (unsigned i = 0; i < 4; i++)
                assert_int_equal(answer[0][i], answer[1][i]);
            assert_memory_equal(bucket[0], bucket[1], words * sizeof **bucket);
        }
        free(bucket[0]);
        free(bucket[1]);
    }
}

/* ---- tables ---- */

#define KEYS 600u

typedef struct table {
    tamis_i_spill spill;
    uint64_t *words;
    tamis_i_spill_key key[KEYS]; /* what should be in it, with extra bits */
    uint64_t extra[KEYS];
    unsigned n;
} table;

static void make_table(table *t, uint64_t buckets, uint64_t back, uint64_t origin_bits,
                       unsigned features) {
    memset(t, 0, sizeof *t);
    t->spill = (tamis_i_spill){.front = {.words = 8, .homes = 50, .print_bits = 6, .slot_bits = 9},
                               .back = {.words = 8},
                               .n_front = buckets,
                               .n_back = back,
                               .origin_bits = origin_bits};
    assert_true(tamis_i_spill_init(&t->spill, features));
    t->words = calloc((size_t)t->spill.words, sizeof *t->words);
    assert_non_null(t->words);
}

static bool is_key(const table *t, unsigned i, tamis_i_spill_key key) {
    return t->key[i].bucket == key.bucket && t->key[i].home == key.home &&
           t->key[i].print == key.print;
}

/* All slots that the table has of a key: their number and the sum of their extra bits. */
static unsigned slots_of(const table *t, tamis_i_spill_key key, uint64_t *sum) {
    tamis_i_spill_place place;
    unsigned n = 0;
    uint64_t extra;
    *sum = 0;
    tamis_i_spill_find(&t->spill, t->words, key, &place);
    do {
        for (uint64_t i = place.view.first; tamis_i_spill_next(&place, &i, &extra); i++) {
            n++;
            *sum += extra;
        }
    } while (tamis_i_spill_other(&t->spill, t->words, key, &place));
    return n;
}

static void compare_table(const table *t) {
    const char *reason = NULL;
    uint64_t slots = 0, walked = 0, sums = 0, should = 0;
    if (!tamis_i_spill_check(&t->spill, t->words, &slots, &reason))
        fail_msg("%s", reason);
    assert_int_equal(slots, t->n);
    for (unsigned i = 0; i < t->n; i++) {
        uint64_t sum, expected = 0;
        unsigned n = 0;
        for (unsigned j = 0; j < t->n; j++)
            if (is_key(t, j, t->key[i])) {
                n++;
                expected += t->extra[j];
            }
        assert_int_equal(slots_of(t, t->key[i], &sum), n);
        assert_int_equal(sum, expected);
        assert_true(tamis_i_spill_has(&t->spill, t->words, t->key[i]));
        should += t->extra[i];
    }
    for (uint64_t b = 0; b < t->spill.n_front; b++) {
        tamis_i_spill_walk walk;
        tamis_i_spill_start(&t->spill, t->words, b, &walk);
        while (tamis_i_spill_step(&t->spill, t->words, &walk)) {
            walked++;
            sums += walk.extra;
        }
    }
    assert_int_equal(walked, t->n);
    assert_int_equal(sums, should);
}

static void forget(table *t, unsigned i) {
    t->n--;
    t->key[i] = t->key[t->n];
    t->extra[i] = t->extra[t->n];
}

static void drop_first(table *t, unsigned i) {
    const tamis_i_spill_key key = t->key[i];
    tamis_i_spill_place place;
    uint64_t extra, number;
    tamis_i_spill_find(&t->spill, t->words, key, &place);
    number = place.view.first;
    if (!tamis_i_spill_next(&place, &number, &extra)) {
        assert_true(tamis_i_spill_other(&t->spill, t->words, key, &place));
        number = place.view.first;
        assert_true(tamis_i_spill_next(&place, &number, &extra));
    }
    tamis_i_spill_drop(&t->spill, t->words, key, &place, number);
    for (unsigned j = 0; j < t->n; j++)
        if (is_key(t, j, key) && t->extra[j] == extra) {
            forget(t, j);
            return;
        }
    fail_msg("a slot was dropped that was not there");
}

/* Fill, change and sweep; at any time the table holds exactly what it should, and refuses only when full. */
static void test_spill_agrees_with_multiset(void **state) {
    (void)state;
    static const unsigned cases[][3] = {{7, 5, 1}, {4, 1, 0}, {8, 6, 2}, {1, 2, 0}, {3, 0, 0}};
    uint64_t random = test_seed() + 2;
    for (unsigned c = 0; c < 2 * sizeof cases / sizeof *cases; c++) {
        table *const t = malloc(sizeof *t);
        assert_non_null(t);
        make_table(t, cases[c / 2][0], cases[c / 2][1], cases[c / 2][2],
                   c % 2 == 0 ? 0 : tamis_i_cpu_features());
        unsigned refused = 0, spilled = 0;
        for (unsigned step = 0; step < 6000; step++) {
            const bool fills = step / 1000 % 2 == 0;
            if (test_random_below(&random, 10) < (fills ? 7 : 3) && t->n < KEYS) {
                const tamis_i_spill_key key = {
                    .bucket = test_random_below(&random, t->spill.n_front),
                    .home = test_random_below(&random, 50),
                    .print = test_random_below(&random, 1 + test_random_below(&random, 64))};
                t->key[t->n] = key;
                t->extra[t->n] = test_random_below(&random, 8);
                if (tamis_i_spill_add(&t->spill, t->words, key, t->extra[t->n]))
                    t->n++;
                else
                    refused++;
            } else if (t->n > 0) {
                drop_first(t, (unsigned)test_random_below(&random, t->n));
            }
            if (step % 250 == 0)
                compare_table(t);
            for (uint64_t b = 0; b < t->spill.n_front; b++)
                spilled +=
                    t->spill.front_ops->count(&t->spill.front, t->words + b * t->spill.front.words)
                        .held < 50;
            if (step % 600 == 599) { /* forget all of one value, bucket by bucket */
                uint64_t swept = 0, should = 0;
                for (unsigned i = t->n; i-- > 0;)
                    if (t->extra[i] == 3) {
                        forget(t, i);
                        should++;
                    }
                for (uint64_t b = 0; b < t->spill.n_front; b++)
                    swept += tamis_i_spill_sweep(&t->spill, t->words, b, 7, 3);
                assert_int_equal(swept, should);
                compare_table(t);
            }
        }
        while (t->n > 0)
            drop_first(t, 0);
        compare_table(t);
        print_message("# %u buckets, %u of the back: %u refused, cut %u times\n", cases[c / 2][0],
                      cases[c / 2][1], refused, spilled);
        assert_true((cases[c / 2][1] == 0) == (spilled == 0));
        free(t->words);
        free(t);
    }
}

/* Two tables of one layout, of the portable and of the best operations. */
typedef struct pair_of_tables {
    tamis_i_spill spill[2];
    uint64_t *words[2];
} pair_of_tables;

static void make_pair(pair_of_tables *p, const tamis_i_spill *layout) {
    for (unsigned i = 0; i < 2; i++) {
        p->spill[i] = *layout;
        assert_true(tamis_i_spill_init(&p->spill[i], i == 0 ? 0 : tamis_i_cpu_features()));
        p->words[i] = calloc((size_t)p->spill[i].words, sizeof *p->words[i]);
        assert_non_null(p->words[i]);
    }
}

static bool add_to_pair(pair_of_tables *p, tamis_i_spill_key key, uint64_t extra) {
    const bool added = tamis_i_spill_add(&p->spill[0], p->words[0], key, extra);
    assert_int_equal(tamis_i_spill_add(&p->spill[1], p->words[1], key, extra), added);
    return added;
}

static void drop_from_pair(pair_of_tables *p, tamis_i_spill_key key) {
    for (unsigned i = 0; i < 2; i++) {
        tamis_i_spill_place place;
        uint64_t number, extra;
        tamis_i_spill_find(&p->spill[i], p->words[i], key, &place);
        number = place.view.first;
        if (!tamis_i_spill_next(&place, &number, &extra)) {
            assert_true(tamis_i_spill_other(&p->spill[i], p->words[i], key, &place));
            number = place.view.first;
            assert_true(tamis_i_spill_next(&place, &number, &extra));
        }
        tamis_i_spill_drop(&p->spill[i], p->words[i], key, &place, number);
    }
}

/* Filled, then up and down; some homes have three times as many keys, so that runs are long at times. */
static void change_pair(pair_of_tables *p, uint64_t *random, unsigned number) {
    const tamis_i_spill *const s = &p->spill[0];
    const unsigned extra_bits = (unsigned)(s->front.slot_bits - s->front.print_bits);
    const size_t most = (size_t)(s->n_front * s->front.slots) * 21 / 20;
    const size_t size = (size_t)s->words * sizeof *p->words[0];
    tamis_i_spill_key *const keys = malloc(most * sizeof *keys);
    const char *reason = NULL;
    uint64_t slots, refused = 0, away = 0;
    size_t n = 0;
    assert_non_null(keys);
    for (size_t step = 0; step < 8 * most + 4000; step++) {
        if (n < most && test_random_below(random, 16) < (step < 2 * most ? 13 : 8)) {
            const uint64_t home = test_random_below(random, s->front.homes);
            const tamis_i_spill_key key = {.bucket = test_random_below(random, s->n_front),
                                           .home = step % 5 == 0 ? home / 3 * 3 : home,
                                           .print = test_random(random) & s->front.print_mask};
            const bool added = add_to_pair(p, key, test_random(random) & ((1u << extra_bits) - 1));
            keys[n] = key;
            n += added;
            refused += !added;
        } else if (n > 0) {
            const size_t at = (size_t)test_random_below(random, n);
            drop_from_pair(p, keys[at]);
            keys[at] = keys[--n];
        }
        if (step % 16 == 0)
            assert_memory_equal(p->words[0], p->words[1], size);
        if (step == 2 * most)
            for (uint64_t i = 0; i < s->n_back; i++)
                away += s->back_ops
                            ->count(&s->back,
                                    p->words[0] + s->n_front * s->front.words + i * s->back.words)
                            .load;
    }
    assert_true(tamis_i_spill_check(&p->spill[1], p->words[1], &slots, &reason));
    assert_int_equal(slots, n);
    assert_true(away > 0);
    print_message("# case %u: index of %u and %u bits, %u away at a time, %u refused\n", number,
                  (unsigned)s->front.index_bits, (unsigned)s->back.index_bits, (unsigned)away,
                  (unsigned)refused);
    free(keys);
}

/* The same changes by both operations: the same bytes.  Layouts as planned, with indexes that end in, before
 * and behind the fourth word, and where one begins, and some that are not planned. */
static void test_spill_engines_agree(void **state) {
    (void)state;
    static const struct {
        unsigned words, homes, print, slot, buckets, back_words, back, origin;
    } cases[] = {{16, 161, 9, 9, 60, 32, 2, 5},  {16, 174, 6, 6, 40, 16, 3, 3},
                 {16, 170, 6, 8, 40, 24, 3, 3},  {16, 112, 13, 13, 40, 64, 2, 4},
                 {16, 89, 16, 17, 30, 16, 5, 2}, {64, 640, 7, 7, 9, 128, 2, 1},
                 {16, 171, 9, 9, 40, 32, 3, 8},  {16, 128, 13, 13, 40, 8, 7, 3},
                 {16, 163, 6, 6, 2, 16, 1, 0},   {16, 138, 6, 6, 20, 40, 1, 4},
                 {16, 40, 40, 44, 30, 16, 9, 3}, {24, 96, 20, 28, 20, 24, 4, 2}};
    uint64_t random = test_seed() + 20;
    for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++) {
        const tamis_i_spill layout = {.front = {.words = cases[c].words,
                                                .homes = cases[c].homes,
                                                .print_bits = cases[c].print,
                                                .slot_bits = cases[c].slot},
                                      .back = {.words = cases[c].back_words},
                                      .n_front = cases[c].buckets,
                                      .n_back = cases[c].back,
                                      .origin_bits = cases[c].origin};
        pair_of_tables p;
        make_pair(&p, &layout);
        change_pair(&p, &random, c);
        free(p.words[0]);
        free(p.words[1]);
    }
}

/* A refused slot leaves every byte as it was. */
static void test_spill_refusal_changes_nothing(void **state) {
    (void)state;
    uint64_t random = test_seed() + 3;
    unsigned refused = 0;
    table *const t = malloc(sizeof *t);
    assert_non_null(t);
    make_table(t, 3, 2, 0, tamis_i_cpu_features());
    const size_t size = (size_t)t->spill.words * sizeof *t->words;
    uint64_t *const before = malloc(size);
    assert_non_null(before);
    for (unsigned step = 0; step < 2000; step++) {
        const tamis_i_spill_key key = {.bucket = test_random_below(&random, 3),
                                       .home = test_random_below(&random, 50),
                                       .print = test_random_below(&random, 64)};
        memcpy(before, t->words, size);
        if (!tamis_i_spill_add(&t->spill, t->words, key, 1)) {
            refused++;
            assert_memory_equal(before, t->words, size);
        }
    }
    assert_true(refused > 1000);
    free(before);
    free(t->words);
    free(t);
}

/* A slot in the back that no home was given away for is noticed, and so is a home that is away nowhere. */
static void test_spill_check_finds_strays(void **state) {
    (void)state;
    const char *reason = NULL;
    uint64_t slots;
    table *const t = malloc(sizeof *t);
    assert_non_null(t);
    make_table(t, 3, 2, 0, 0);
    uint64_t *const back = t->words + 3 * 8;
    const tamis_i_run_ops *const ops = t->spill.back_ops;
    tamis_i_run_spot spot;
    assert_true(tamis_i_spill_check(&t->spill, t->words, &slots, &reason));
    assert_int_equal(ops->add(&t->spill.back, back, 0, 1, 1, &spot), TAMIS_I_RUN_DONE);
    assert_false(tamis_i_spill_check(&t->spill, t->words, &slots, &reason));
    assert_string_equal(reason, "a slot of the back belongs to no home that was given away");
    assert_int_equal(ops->drop(&t->spill.back, back, 0, 1), TAMIS_I_RUN_DONE);
    tamis_i_run_view view;
    assert_true(ops->look(&t->spill.back, back, 5, &view));
    tamis_i_run_cut(&t->spill.back, back, ops->count(&t->spill.back, back), &view);
    assert_false(tamis_i_spill_check(&t->spill, t->words, &slots, &reason));
    assert_string_equal(reason, "a bucket of the back has given homes away");
    t->words[3 * 8 + 7] = UINT64_MAX;
    assert_false(tamis_i_spill_check(&t->spill, t->words, &slots, &reason));
    free(t->words);
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_agrees_with_lists),
        cmocka_unit_test(test_run_impossible_layouts_are_refused),
        cmocka_unit_test(test_run_any_bits_are_safe),
        cmocka_unit_test(test_spill_agrees_with_multiset),
        cmocka_unit_test(test_spill_engines_agree),
        cmocka_unit_test(test_spill_refusal_changes_nothing),
        cmocka_unit_test(test_spill_check_finds_strays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
