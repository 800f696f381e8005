/* test_rank.c - chains without links against lists, and the rank filters at their limits
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "base/cpu.h"
#include "bits/group.h"
#include "bits/rank_bucket.h"
#include "filter/filter.h"
#include "tamis/plan.h"

#define KEYS_MAX 64

/* One bucket as lists: what a chain must hold, in any order. */
typedef struct lists {
    uint64_t slot[64][KEYS_MAX];
    unsigned n[64];
    unsigned load;
} lists;

static uint64_t count_equal(const lists *l, unsigned home, uint64_t fingerprint, uint64_t mask) {
    uint64_t n = 0;
    for (unsigned i = 0; i < l->n[home]; i++)
        n += ((l->slot[home][i] ^ fingerprint) & mask) == 0;
    return n;
}

/* A table of one bucket and two extensions that are linked by hand, and bits around it that must stay. */
typedef struct bucket {
    tamis_i_rank_bucket rank;
    uint64_t *table;
    size_t n_words;
} bucket;

static bucket make_bucket(unsigned homes, unsigned fingerprint_bits, unsigned slot_bits,
                          unsigned z1, unsigned z2, unsigned z3) {
    bucket b = {.rank = {.homes = homes,
                         .fingerprint_bits = fingerprint_bits,
                         .slot_bits = slot_bits,
                         .n = {3, z2 != 0, z3 != 0},
                         .slots = {z1, z2, z3}}};
    assert_true(tamis_i_rank_init(&b.rank));
    b.n_words = (size_t)(b.rank.bits / 64 + 2);
    b.table = calloc(b.n_words, sizeof *b.table);
    assert_non_null(b.table);
    return b;
}

/* Bucket 1 gets the piece it needs next, or gives back the one it does not need. */
static void relink(const bucket *b, tamis_i_rank_view *v, unsigned load) {
    const tamis_i_rank_bucket *const c = &b->rank;
    for (unsigned kind = 1; kind < TAMIS_I_RANK_PIECES && c->n[kind] != 0; kind++) {
        const bool needed = load > c->first[kind];
        tamis_i_rank_set_link(c, b->table, kind - 1, v->number[kind - 1], needed);
        v->number[kind] = 0;
        v->at[kind] = tamis_i_rank_piece(c, kind, 0);
        if (!needed)
            return;
        v->pieces = kind + 1 > v->pieces ? kind + 1 : v->pieces;
    }
}

/* The answers to n queries of a batch, which is fetched, prepared and answered, alone and between two
 * others. */
static void find_many(const tamis_i_rank_ops *ops, const bucket *b, const tamis_i_rank_keys *asked,
                      size_t n, bool *found) {
    tamis_i_rank_keys keys[2] = {*asked, *asked};
    bool again[TAMIS_I_GROUP];
    const tamis_i_rank_turns turns[] = {
        {.next = &keys[0], .n_next = n},
        {.before = &keys[0], .next = &keys[1], .n_before = n, .n_next = n},
        {.now = &keys[0], .before = &keys[1], .n_now = n, .n_before = n},
        {.now = &keys[1], .n_now = n}};
    for (unsigned i = 0; i < 4; i++)
        ops->find_many(&b->rank, b->table, &turns[i], i == 3 ? again : found);
    assert_memory_equal(found, again, n * sizeof *found);
}

/* Queries for some homes of the bucket, and for those of an empty one in between. */
static void compare_many(const bucket *b, const tamis_i_rank_ops *ops, const lists *l,
                         unsigned home, uint64_t fingerprint) {
    const uint64_t at = tamis_i_rank_piece(&b->rank, 0, 1);
    const uint64_t mask = tamis_i_low_mask((unsigned)b->rank.fingerprint_bits);
    const size_t n = fingerprint % 2 == 0 ? TAMIS_I_GROUP : 1 + home % TAMIS_I_GROUP;
    tamis_i_rank_keys keys;
    bool found[TAMIS_I_GROUP];
    memset(&keys, 0, sizeof keys);
    for (unsigned i = 0; i < n; i++) {
        keys.at[i] = i % 4 == 3 ? 0 : at;
        keys.home[i] = (home + i) % b->rank.homes;
        keys.fingerprint[i] = fingerprint;
    }
    find_many(ops, b, &keys, n, found);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(found[i],
                         i % 4 != 3 && count_equal(l, (home + i) % (unsigned)b->rank.homes,
                                                   fingerprint, mask) != 0);
}

static void compare(const bucket *b, const tamis_i_rank_ops *ops, const lists *l) {
    const uint64_t mask = tamis_i_low_mask((unsigned)b->rank.fingerprint_bits);
    const char *reason = NULL;
    tamis_i_rank_view v;
    for (unsigned home = 0; home < b->rank.homes; home++) {
        for (uint64_t fingerprint = 0; fingerprint <= (mask < 7 ? mask : 7); fingerprint++) {
            const uint64_t equal = count_equal(l, home, fingerprint, mask);
            ops->look(&b->rank, b->table, 1, home, fingerprint, &v);
            assert_int_equal(v.copies, equal);
            assert_int_equal(v.length, l->n[home]);
            assert_int_equal(v.load, l->load);
            assert_int_equal(ops->find(&b->rank, b->table, 1, home, fingerprint), equal != 0);
            assert_false(ops->find(&b->rank, b->table, 0, home, fingerprint));
            assert_false(ops->find(&b->rank, b->table, 2, home, fingerprint));
            if (fingerprint < 2)
                compare_many(b, ops, l, home, fingerprint);
        }
    }
    if (!tamis_i_rank_check(&b->rank, b->table, &v, &reason))
        fail_msg("%s", reason);
}

/* Random calls on one bucket; 'quick': with the functions for the common case wherever they work. */
static void run_bucket(const tamis_i_rank_ops *ops, bucket b, uint64_t random, bool quick) {
    const uint64_t at = tamis_i_rank_piece(&b.rank, 0, 1);
    lists l = {0};
    const uint64_t mask = tamis_i_low_mask((unsigned)b.rank.fingerprint_bits);
    const unsigned most = (unsigned)b.rank.first[TAMIS_I_RANK_PIECES];
    for (unsigned step = 0; step < 600; step++) {
        const unsigned home = (unsigned)test_random_below(&random, b.rank.homes);
        const uint64_t slot =
            (test_random(&random) & 7 & mask) |
            (test_random(&random) & (tamis_i_low_mask((unsigned)b.rank.slot_bits) ^ mask));
        const bool grow = test_random_below(&random, 8) < (step % 200 < 100 ? 6u : 2u);
        tamis_i_rank_view v;
        ops->look(&b.rank, b.table, 1, home, slot & mask, &v);
        if (grow && l.load < most && l.n[home] < KEYS_MAX) {
            if (!quick || !ops->add_new(&b.rank, b.table, at, home, slot)) {
                relink(&b, &v, l.load + 1);
                ops->add(&b.rank, b.table, &v, slot);
            }
            l.slot[home][l.n[home]++] = slot;
            l.load++;
        } else if (!grow && v.copies > 0) {
            unsigned i = 0;
            while (l.slot[home][i] != v.slot)
                assert_true(++i < l.n[home]);
            l.slot[home][i] = l.slot[home][--l.n[home]];
            l.load--;
            if (!quick || !ops->drop_only(&b.rank, b.table, at, home, slot & mask)) {
                ops->drop(&b.rank, b.table, &v);
                relink(&b, &v, l.load);
            }
        }
        if (step % 20 == 19)
            compare(&b, ops, &l);
    }
    assert_int_equal(b.table[b.n_words - 1], 0);
}

static void test_rank_bucket_is_a_list_for_each_home(void **state) {
    (void)state;
    static const unsigned shapes[][6] = {
        {60, 6, 6, 45, 8, 45},  {64, 10, 13, 63, 17, 50}, {1, 1, 1, 1, 1, 1},
        {64, 56, 64, 5, 3, 9},  {7, 2, 4, 3, 1, 64},      {33, 13, 13, 100, 0, 0},
        {48, 8, 8, 49, 13, 52}, {64, 19, 21, 70, 14, 61}, {64, 3, 8, 64, 65, 0},
        {64, 7, 7, 40, 30, 20}, {52, 8, 8, 51, 13, 50},   {43, 12, 12, 36, 9, 40},
        {64, 7, 7, 90, 16, 60}, {20, 8, 8, 30, 30, 30}};
    const tamis_i_rank_ops *const fast = tamis_i_rank_bucket_ops_for(tamis_i_cpu_features());
    uint64_t random = test_seed();
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (unsigned round = 0; round < 4; round++) {
            const unsigned *const s = shapes[i];
            const bucket a = make_bucket(s[0], s[1], s[2], s[3], s[4], s[5]);
            const bucket b = make_bucket(s[0], s[1], s[2], s[3], s[4], s[5]);
            const uint64_t seed = test_random(&random);
            run_bucket(tamis_i_rank_bucket_ops_for(0), a, seed, false);
            for (unsigned way = 0; way < 3; way++) {
                memset(b.table, 0, b.n_words * sizeof *b.table);
                run_bucket(way == 0 ? tamis_i_rank_bucket_ops_for(0) : fast, b, seed, way != 2);
                assert_memory_equal(a.table, b.table, a.n_words * sizeof *a.table);
            }
            free(a.table);
            free(b.table);
        }
    }
}

/* Whatever stands in a table, no function reads or writes outside of it, or goes on for ever. */
static void test_rank_any_bits_are_safe(void **state) {
    (void)state;
    uint64_t random = test_seed();
    static const unsigned shapes[][4] = {
        {64, 3, 5, 20}, {52, 8, 8, 51}, {40, 6, 6, 40}, {64, 7, 7, 90}, {64, 20, 20, 60}};
    const tamis_i_rank_ops *const fast = tamis_i_rank_bucket_ops_for(tamis_i_cpu_features());
    for (unsigned round = 0; round < 300; round++) {
        const unsigned *const s = shapes[round % 5];
        const bucket b = make_bucket(s[0], s[1], s[2], s[3], 6, 9);
        for (size_t i = 0; i + 1 < b.n_words; i++)
            b.table[i] = test_random(&random) & test_random(&random);
        for (unsigned step = 0; step < 200; step++) {
            const unsigned home = (unsigned)test_random_below(&random, b.rank.homes);
            const uint64_t number = test_random_below(&random, 3);
            tamis_i_rank_view v;
            const uint64_t at = tamis_i_rank_piece(&b.rank, 0, number);
            const tamis_i_rank_keys key = {.at = {at}, .home = {home}, .fingerprint = {step % 8}};
            bool found;
            for (unsigned way = 0; way < 2; way++) {
                find_many(way == 0 ? tamis_i_rank_bucket_ops_for(0) : fast, &b, &key, 1, &found);
                assert_int_equal(found, tamis_i_rank_bucket_ops_for(0)->find(
                                            &b.rank, b.table, number, home, step % 8));
            }
            tamis_i_rank_bucket_ops_for(0)->look(&b.rank, b.table, number, home, step % 8, &v);
            assert_true(v.load <= b.rank.first[v.pieces]);
            if (step % 5 == 0)
                (void)tamis_i_rank_bucket_ops_for(0)->add_new(&b.rank, b.table, at, home,
                                                              step % 32);
            else if (step % 5 == 1)
                (void)tamis_i_rank_bucket_ops_for(0)->drop_only(&b.rank, b.table, at, home,
                                                                step % 8);
            else if (v.copies > 0 && step % 2 == 0)
                tamis_i_rank_bucket_ops_for(0)->drop(&b.rank, b.table, &v);
            else if (v.load < b.rank.first[v.pieces])
                tamis_i_rank_bucket_ops_for(0)->add(&b.rank, b.table, &v, step % 32);
        }
        free(b.table);
    }
}

/* ---- the filters ---- */

static tamis_filter *make_filter(tamis_kind kind, uint64_t capacity, const uint64_t *value) {
    tamis_filter *f;
    tamis_params params = test_bare_params(kind, capacity, test_seed() | 1);
    params.stash = 4;
    memcpy(params.value, value, 9 * sizeof *value);
    assert_ok(tamis_filter_create(&params, NULL, &f));
    return f;
}

static void assert_sound(const tamis_filter *f) {
    const char *reason = NULL;
    if (!tamis_i_filter_check(f, &reason))
        fail_msg("%s", reason);
}

/* A key inserted again and again takes a few slots and no more; it cannot be lost, and others find room. */
static void test_rank_one_key_does_not_fill_its_bucket(void **state) {
    (void)state;
    static const uint64_t value[9] = {4, 64, 10, 40, 8, 20, 3, 2, 0};
    static const uint64_t counted[9] = {4, 64, 10, 40, 8, 20, 3, 2, 2};
    for (unsigned i = 0; i < 2; i++) {
        tamis_filter *const f = make_filter(i == 0 ? TAMIS_KIND_RANK : TAMIS_KIND_RANK_COUNTING,
                                            150, i == 0 ? value : counted);
        for (unsigned n = 0; n < 100000; n++)
            assert_ok(tamis_filter_insert(f, "x", 1, NULL));
        assert_int_equal(tamis_filter_count(f), 100000);
        assert_int_equal(tamis_filter_copies(f, "x", 1), 16);
        const tamis_info info = test_info(f);
        assert_int_equal(info.saturated, 1);
        assert_int_equal(info.stash_used, 0);
        for (uint64_t key = 0; key < 130; key++)
            assert_ok(tamis_filter_insert_u64(f, key, NULL));
        for (unsigned n = 0; n < 200000; n++)
            assert_ok(tamis_filter_remove(f, "x", 1));
        assert_true(tamis_filter_contains(f, "x", 1));
        for (uint64_t key = 0; key < 130; key++)
            assert_true(tamis_filter_contains_u64(f, key));
        assert_sound(f);
        tamis_filter_free(f);
    }
}

/* Extensions are used up, the stash too: FULL changes nothing, and all comes back as keys leave. */
static void test_rank_pools_run_out_and_recover(void **state) {
    (void)state;
    static const uint64_t value[9] = {8, 16, 12, 10, 3, 4, 4, 2, 0};
    tamis_filter *const f = make_filter(TAMIS_KIND_RANK, 100, value);
    uint64_t random = test_seed();
    for (unsigned round = 0; round < 20; round++) {
        bool in[400] = {false};
        uint64_t n = 0;
        for (unsigned i = 0; i < 400; i++) {
            size_t size;
            unsigned char *const before = test_encoded(f, &size);
            const tamis_status status = tamis_filter_insert_u64(f, i + 1000 * round, NULL);
            in[i] = status == TAMIS_OK;
            n += in[i];
            if (!in[i]) {
                assert_status(status, TAMIS_E_FULL);
                assert_encoded(f, before, size);
            }
            free(before);
        }
        assert_true(n >= 100 && n < 200);
        assert_int_equal(f->state[TAMIS_I_STATE_OWN + 1], 4); /* all extensions are in use */
        assert_int_equal(f->state[TAMIS_I_STATE_OWN], 0);
        assert_sound(f);
        for (unsigned left = 400; left > 0; left--) {
            unsigned i = (unsigned)test_random_below(&random, 400);
            while (!in[i] && n > 0)
                i = (i + 1) % 400;
            if (n == 0)
                break;
            assert_true(tamis_filter_contains_u64(f, i + 1000 * round));
            assert_ok(tamis_filter_remove_u64(f, i + 1000 * round));
            in[i] = false;
            n--;
            if (left % 16 == 0)
                assert_sound(f);
        }
        assert_int_equal(tamis_filter_count(f), 0);
        assert_sound(f);
    }
    tamis_filter_free(f);
}

static void test_rank_parameters_out_of_range_are_refused(void **state) {
    (void)state;
    static const uint64_t good[9] = {8, 16, 12, 10, 3, 4, 4, 2, 0};
    static const struct {
        unsigned index;
        uint64_t value;
    } bad[] = {{0, 0},         {0, ((uint64_t)1 << 38) + 1},
               {1, 0},         {1, 65},
               {2, 57},        {3, 0},
               {3, 513},       {4, 0},
               {4, 513},       {5, 0},
               {6, 0},         {6, 9},
               {7, 5},         {8, 9},
               {7, 0},         {1, UINT64_MAX},
               {2, UINT64_MAX}};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        tamis_params params;
        tamis_filter *f = NULL;
        tamis_params_init(&params);
        params.kind = TAMIS_KIND_RANK;
        params.capacity = 100;
        memcpy(params.value, good, sizeof good);
        params.value[bad[i].index] = bad[i].value;
        assert_status(tamis_filter_create(&params, NULL, &f), TAMIS_E_ARGUMENT);
    }
}

/* ---- values ---- */

static void test_rank_values_are_kept(void **state) {
    (void)state;
    enum { N = 2000 };
    for (unsigned bits = 1; bits <= 8; bits++) {
        const uint64_t value[9] = {50, 64, 24, 50, 10, 40, 20, 5, bits};
        tamis_filter *const f = make_filter(TAMIS_KIND_RANK, N, value);
        assert_int_equal(tamis_filter_value_bits(f), bits);
        const unsigned mask = (1u << bits) - 1;
        for (unsigned i = 0; i < N; i++) {
            bool added = false;
            assert_ok(tamis_filter_insert_value(f, &i, sizeof i, i * 7 & mask, &added));
            assert_true(added);
        }
        for (unsigned i = 0; i < N; i += 3)
            assert_ok(tamis_filter_update_value(f, &i, sizeof i, i * 5 & mask));
        for (unsigned i = 1; i < N; i += 3)
            assert_ok(tamis_filter_remove(f, &i, sizeof i));
        for (unsigned i = 0; i < N; i++) {
            unsigned got = 77777;
            const tamis_status status = tamis_filter_lookup_value(f, &i, sizeof i, &got);
            if (i % 3 == 1) {
                assert_status(status, TAMIS_E_NOT_FOUND);
                assert_int_equal(got, 77777);
            } else {
                assert_ok(status);
                assert_int_equal(got, i * (i % 3 == 0 ? 5 : 7) & mask);
            }
        }
        assert_sound(f);
        tamis_filter_free(f);
    }
}

/* Copies of a key in the stash have no value.  Either all of them get one, or none. */
static void test_rank_values_of_keys_in_the_stash_change_or_refuse(void **state) {
    (void)state;
    static const uint64_t value[9] = {1, 64, 30, 24, 4, 0, 1, 0, 3};
    enum { SLOTS = 24 + 4 };
    for (unsigned in_slots = 0; in_slots <= 2; in_slots++) {
        for (unsigned in_stash = 1; in_stash <= 18; in_stash++) {
            for (unsigned room = 0; room <= 20; room++) {
                tamis_filter *const f = make_filter(TAMIS_KIND_RANK, 30, value);
                for (unsigned i = 0; i < in_slots; i++)
                    assert_ok(tamis_filter_insert_value(f, "a", 1, 1, NULL));
                for (unsigned i = in_slots; i < SLOTS; i++)
                    assert_ok(tamis_filter_insert_value(f, &i, sizeof i, 5, NULL));
                for (unsigned i = 0; i < in_stash; i++)
                    assert_ok(tamis_filter_insert(f, "a", 1, NULL));
                for (unsigned i = SLOTS - 1; i >= SLOTS - room; i--)
                    assert_ok(tamis_filter_remove(f, &i, sizeof i));
                size_t size;
                unsigned char *const bytes = test_encoded(f, &size);
                const tamis_status status = tamis_filter_update_value(f, "a", 1, 6);
                unsigned got = 9;
                assert_ok(tamis_filter_lookup_value(f, "a", 1, &got));
                /* 16 copies of one fingerprint are the most that slots keep */
                const bool fits = in_stash <= room && in_slots + in_stash <= 16;
                assert_status(status, fits ? TAMIS_OK : TAMIS_E_FULL);
                assert_int_equal(got, fits ? 6 : 0);
                if (!fits)
                    assert_encoded(f, bytes, size);
                assert_int_equal(tamis_filter_copies(f, "a", 1), in_slots + in_stash);
                for (unsigned i = in_slots; i < SLOTS - room; i++) {
                    assert_ok(tamis_filter_lookup_value(f, &i, sizeof i, &got));
                    assert_int_equal(got, 5);
                }
                const char *reason = NULL;
                assert_true(tamis_i_filter_check(f, &reason));
                free(bytes);
                tamis_filter_free(f);
            }
        }
    }
}

static void test_rank_values_full_bucket_refuses(void **state) {
    (void)state;
    static const uint64_t value[9] = {1, 64, 30, 10, 0, 0, 0, 0, 3};
    tamis_filter *const f = make_filter(TAMIS_KIND_RANK, 10, value);
    unsigned got;
    for (uint64_t i = 0; i < 10; i++)
        assert_ok(tamis_filter_insert_value(f, &i, sizeof i, 5, NULL));
    assert_status(tamis_filter_insert_value(f, "a", 1, 5, NULL), TAMIS_E_FULL);
    assert_ok(tamis_filter_insert_value(f, "a", 1, 0, NULL)); /* to the stash */
    assert_ok(tamis_filter_lookup_value(f, "a", 1, &got));
    assert_int_equal(got, 0);
    assert_status(tamis_filter_update_value(f, "a", 1, 5), TAMIS_E_FULL);
    const uint64_t first = 0;
    assert_ok(tamis_filter_remove(f, &first, sizeof first));
    assert_ok(tamis_filter_update_value(f, "a", 1, 5)); /* from the stash to the free slot */
    assert_ok(tamis_filter_lookup_value(f, "a", 1, &got));
    assert_int_equal(got, 5);
    assert_int_equal(f->state[TAMIS_I_STASH_USED], 0);
    assert_status(tamis_filter_update_value(f, "b", 1, 5), TAMIS_E_NOT_FOUND);
    assert_status(tamis_filter_update_value(f, "a", 1, 8), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_lookup_value(f, "b", 1, &got), TAMIS_E_NOT_FOUND);
    assert_sound(f);
    tamis_filter_free(f);

    tamis_filter *const plain = test_filter(TAMIS_KIND_BLOOM, 10, 0.01, 1);
    assert_status(tamis_filter_insert_value(plain, "a", 1, 0, NULL), TAMIS_E_UNSUPPORTED);
    assert_status(tamis_filter_lookup_value(plain, "a", 1, &got), TAMIS_E_UNSUPPORTED);
    assert_int_equal(tamis_filter_value_bits(plain), 0);
    tamis_filter_free(plain);
}

/* Where a query may read only one line, buckets are lines; all their keys are found. */
static void test_rank_one_line_per_query(void **state) {
    (void)state;
    enum { N = 20000 };
    static uint64_t keys[N];
    static bool answers[N];
    tamis_need need = test_need(TAMIS_KIND_RANK, N, 0.004);
    need.lines_max = 1;
    tamis_plan plan = test_planned(&need);
    assert_true(plan.lines_per_query == 1 && plan.fpr <= 0.004);
    plan.params.seed = test_seed() | 1;
    tamis_filter *f;
    assert_ok(tamis_filter_create(&plan.params, NULL, &f));
    for (uint64_t i = 0; i < N; i++)
        keys[i] = i;
    assert_ok(tamis_filter_insert_many_u64(f, keys, N, NULL, NULL));
    assert_int_equal(tamis_filter_contains_many_u64(f, keys, N, NULL), N);
    for (uint64_t i = 0; i < N; i++)
        keys[i] = i + N / 2;
    (void)tamis_filter_contains_many_u64(f, keys, N, answers);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(answers[i], tamis_filter_contains_u64(f, keys[i]));
    assert_sound(f);
    tamis_filter_free(f);
}

/* Any numbers of buckets, also more than 2^32, homes and keys. */
static void test_groups_are_located_like_single_keys(void **state) {
    (void)state;
    uint64_t random = 20261116;
    for (unsigned round = 0; round < 20000; round++) {
        const tamis_i_rank_bucket rank = {
            .n = {1 + test_random(&random) % ((uint64_t)1 << (1 + round % 38))},
            .homes = 1 + test_random_below(&random, 64),
            .stride = {1 + test_random_below(&random, 4096)},
            .fingerprint_mask = tamis_i_low_mask(1 + (unsigned)test_random_below(&random, 56))};
        const size_t n =
            round % 3 == 0 ? (size_t)test_random_below(&random, TAMIS_I_GROUP + 1) : TAMIS_I_GROUP;
        tamis_digest digests[TAMIS_I_GROUP];
        tamis_i_rank_keys keys, others;
        memset(&keys, 0, sizeof keys);
        memset(&others, 0, sizeof others);
        for (size_t i = 0; i < TAMIS_I_GROUP; i++) {
            digests[i] = (tamis_digest){.lo = test_random(&random), .hi = test_random(&random)};
            if (round % 5 == 0)
                digests[i].lo = i % 2 == 0 ? UINT64_MAX - i : i / 2;
        }
        tamis_i_rank_locate(&rank, digests, n, &keys);
        tamis_i_rank_bucket_ops_for(tamis_i_cpu_features())->locate(&rank, digests, n, &others);
        assert_memory_equal(&keys, &others, sizeof keys);
        for (size_t i = 0; i < n; i++)
            assert_true(keys.home[i] < rank.homes && keys.at[i] / rank.stride[0] < rank.n[0]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_are_located_like_single_keys),
        cmocka_unit_test(test_rank_bucket_is_a_list_for_each_home),
        cmocka_unit_test(test_rank_any_bits_are_safe),
        cmocka_unit_test(test_rank_one_key_does_not_fill_its_bucket),
        cmocka_unit_test(test_rank_pools_run_out_and_recover),
        cmocka_unit_test(test_rank_parameters_out_of_range_are_refused),
        cmocka_unit_test(test_rank_values_are_kept),
        cmocka_unit_test(test_rank_values_full_bucket_refuses),
        cmocka_unit_test(test_rank_values_of_keys_in_the_stash_change_or_refuse),
        cmocka_unit_test(test_rank_one_line_per_query),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
