/* test_dleft_bucket.c - buckets whose fingerprints shrink, against a list of full fingerprints
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/cpu.h"
#include "bits/dleft_bucket.h"
#include "bits/group.h"
#include "support.h"

static const struct {
    uint64_t bits, group;
    bool plain;
} all_layouts[] = {{64, 1, false}, {64, 4, false}, {128, 1, false}, {128, 4, false},
                   {64, 1, true},  {64, 4, true},  {128, 1, true},  {128, 4, true}};

enum { LAYOUTS = sizeof all_layouts / sizeof all_layouts[0] };

static const tamis_i_dleft_bucket *layout_number(unsigned l) {
    return tamis_i_dleft_bucket_layout(all_layouts[l].bits, all_layouts[l].group,
                                       all_layouts[l].plain);
}

/* What a group should hold: full fingerprints, and the bits by which it must tell them. */
typedef struct reference {
    const tamis_i_dleft_bucket *layout;
    unsigned buckets;
    unsigned load[4];
    uint64_t fingerprint[4][11];
} reference;

static uint64_t top(uint64_t fingerprint, unsigned bits) {
    return fingerprint >> (64 - bits);
}

/* The group finds exactly the fingerprints that agree with one in the bucket in the bits told. */
static void check_group(const reference *r, const uint64_t *group, uint64_t *random) {
    const char *reason = NULL;
    const tamis_i_dleft_bucket_ops *const ops = tamis_i_dleft_bucket_ops_for(r->layout, 0);
    assert_true(tamis_i_dleft_bucket_check(r->layout, group, &reason));
    for (unsigned b = 0; b < r->buckets; b++) {
        assert_int_equal(tamis_i_dleft_bucket_load(r->layout, group, b), r->load[b]);
        const unsigned bits = tamis_i_dleft_bucket_bits(r->layout, group, b);
        assert_in_range(bits, 10, 63);
        for (unsigned i = 0; i < r->load[b]; i++)
            assert_true(ops->find(group, b, r->fingerprint[b][i]));
        for (unsigned t = 0; t < 24; t++) {
            uint64_t other = test_random(random);
            if (r->load[b] > 0 && t < 16) /* near misses: one bit of a stored one flipped */
                other = r->fingerprint[b][t % r->load[b]] ^ (uint64_t)1 << (64 - 1 - t * bits / 16);
            bool expected = false;
            for (unsigned i = 0; i < r->load[b]; i++)
                expected |= top(r->fingerprint[b][i], bits) == top(other, bits);
            assert_int_equal(ops->find(group, b, other), expected);
        }
    }
}

static void fill_group(const reference *start, unsigned similar, uint64_t *random) {
    reference r = *start;
    uint64_t group[TAMIS_I_DLEFT_WORDS] = {0};
    const unsigned most = tamis_i_dleft_bucket_load_max(r.layout);
    check_group(&r, group, random);
    for (;;) {
        unsigned b = (unsigned)test_random_below(random, r.buckets), full = 0;
        for (unsigned i = 0; i < r.buckets; i++)
            full += r.load[i] == most;
        if (full == r.buckets)
            break;
        /* 'similar' leading bits are the same for all: states at their edges. */
        uint64_t fingerprint = test_random(random);
        if (similar > 0)
            fingerprint =
                fingerprint >> similar | (similar % 2 == 1 ? ~(~(uint64_t)0 >> similar) : 0);
        if (r.load[b] == most) {
            uint64_t before[TAMIS_I_DLEFT_WORDS];
            memcpy(before, group, sizeof before);
            assert_false(tamis_i_dleft_bucket_insert(r.layout, group, b, fingerprint));
            assert_memory_equal(before, group, sizeof before);
            continue;
        }
        assert_true(tamis_i_dleft_bucket_insert(r.layout, group, b, fingerprint));
        r.fingerprint[b][r.load[b]++] = fingerprint;
        check_group(&r, group, random);
    }
}

static void test_dleft_bucket_random_inserts_find_every_fingerprint(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned l = 0; l < LAYOUTS; l++) {
        reference start = {.layout = layout_number(l), .buckets = (unsigned)all_layouts[l].group};
        for (unsigned round = 0; round < 400; round++)
            fill_group(&start, round % 5, &random);
    }
}

/* Every state of a single bucket: all ways in which the fingerprints can begin.  The state is a bijection
 * with (load, how many begin with what), so that encode and decode are inverse; tested by counting
 * distinct states and by tamis_i_dleft_bucket_check, which takes apart and puts together. */
static void every_state(uint64_t bits, bool plain, unsigned n_states) {
    const tamis_i_dleft_bucket *const layout = tamis_i_dleft_bucket_layout(bits, 1, plain);
    const unsigned words = tamis_i_dleft_bucket_words(layout),
                   most = tamis_i_dleft_bucket_load_max(layout);
    bool seen[256] = {false};
    unsigned distinct = 0;
    for (unsigned load = 0; load <= most; load++) {
        for (unsigned a = 0; a <= load; a++) {
            for (unsigned b = 0; a + b <= load; b++) {
                for (unsigned c = 0; a + b + c <= load; c++) {
                    reference r = {.layout = layout, .buckets = 1};
                    uint64_t group[TAMIS_I_DLEFT_WORDS] = {0}, random = 1;
                    for (unsigned i = 0; i < load; i++) {
                        const uint64_t begins = i < a ? 0 : i < a + b ? 1 : i < a + b + c ? 2 : 3;
                        const uint64_t fingerprint = begins << 62 | (test_random(&random) >> 2);
                        assert_true(tamis_i_dleft_bucket_insert(layout, group, 0, fingerprint));
                        r.fingerprint[0][r.load[0]++] = fingerprint;
                    }
                    check_group(&r, group, &random);
                    const unsigned number = (unsigned)(group[words - 1] >> (bits == 64 ? 60 : 56));
                    distinct += !seen[number];
                    seen[number] = true;
                }
            }
        }
    }
    assert_int_equal(distinct, n_states);
}

static void test_dleft_bucket_states_are_all_used(void **state) {
    (void)state;
    every_state(64, false, 16);
    every_state(128, false, 256);
    every_state(64, true, 7);
    every_state(128, true, 12);
}

static void test_dleft_bucket_bits_alone_as_the_paper(void **state) {
    (void)state;
    static const unsigned told64[6] = {60, 30, 20, 16, 13, 10};
    static const unsigned told128[11] = {62, 61, 41, 31, 25, 22, 19, 16, 14, 13, 10};
    const tamis_i_dleft_bucket *const small = tamis_i_dleft_bucket_layout(64, 1, false);
    const tamis_i_dleft_bucket *const large = tamis_i_dleft_bucket_layout(128, 1, false);
    for (unsigned a = 1; a <= 6; a++)
        assert_int_equal(tamis_i_dleft_bucket_bits_alone(small, a), told64[a - 1]);
    for (unsigned a = 1; a <= 11; a++)
        assert_int_equal(tamis_i_dleft_bucket_bits_alone(large, a), told128[a - 1]);
    for (unsigned a = 1; a <= 6; a++)
        assert_int_equal(
            tamis_i_dleft_bucket_bits_alone(tamis_i_dleft_bucket_layout(64, 1, true), a), 60 / a);
    for (unsigned a = 2; a <= 11; a++)
        assert_int_equal(
            tamis_i_dleft_bucket_bits_alone(tamis_i_dleft_bucket_layout(128, 1, true), a), 120 / a);
}

/* For all loads of the four buckets of a group: the fingerprints fit, and no insert into any bucket makes
 * any bucket tell more bits than it did before. */
static void every_group(uint64_t bits, bool plain) {
    const tamis_i_dleft_bucket *const layout = tamis_i_dleft_bucket_layout(bits, 4, plain);
    const unsigned most = tamis_i_dleft_bucket_load_max(layout),
                   words = tamis_i_dleft_bucket_words(layout);
    const char *reason = NULL;
    uint64_t random = 5;
    unsigned groups = 0;
    unsigned load[4];
    for (load[0] = 0; load[0] <= most; load[0]++) {
        for (load[1] = 0; load[1] <= most; load[1]++) {
            for (load[2] = 0; load[2] <= most; load[2]++) {
                for (load[3] = 0; load[3] <= most; load[3]++) {
                    uint64_t group[TAMIS_I_DLEFT_WORDS] = {0};
                    for (unsigned b = 0; b < 4; b++)
                        for (unsigned i = 0; i < load[b]; i++)
                            assert_true(tamis_i_dleft_bucket_insert(layout, group, b,
                                                                    test_random(&random)));
                    for (unsigned b = 0; b < 4; b++) {
                        uint64_t more[TAMIS_I_DLEFT_WORDS];
                        memcpy(more, group, sizeof more);
                        if (!tamis_i_dleft_bucket_insert(layout, more, b, test_random(&random)))
                            continue;
                        for (unsigned i = 0; i < 4; i++)
                            if (load[i] > 0)
                                assert_true(tamis_i_dleft_bucket_bits(layout, more, i) <=
                                            tamis_i_dleft_bucket_bits(layout, group, i));
                    }
                    if (!tamis_i_dleft_bucket_check(layout, group, &reason))
                        fail_msg("%s", reason);
                    groups++;
                }
            }
        }
    }
    assert_true(words <= TAMIS_I_DLEFT_WORDS);
    assert_int_equal(groups, (most + 1) * (most + 1) * (most + 1) * (most + 1));
}

static void test_dleft_bucket_groups_never_lengthen(void **state) {
    (void)state;
    every_group(64, false);
    every_group(128, false);
    every_group(64, true);
}

static void test_dleft_bucket_damage_is_seen(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned l = 0; l < LAYOUTS; l++) {
        const tamis_i_dleft_bucket *const layout = layout_number(l);
        const unsigned words = tamis_i_dleft_bucket_words(layout);
        unsigned refused = 0;
        for (unsigned round = 0; round < 2000; round++) {
            /* Any bits at all: take apart and check must be safe, and mostly find fault. */
            uint64_t group[TAMIS_I_DLEFT_WORDS];
            const char *reason = NULL;
            for (unsigned i = 0; i < words; i++)
                group[i] = test_random(&random);
            if (!tamis_i_dleft_bucket_check(layout, group, &reason)) {
                assert_non_null(reason);
                refused++;
            }
        }
        printf("# layout %u: %u of 2000 random groups refused\n", l, refused);
        assert_true(refused > 100);
        uint64_t past[TAMIS_I_DLEFT_WORDS] = {0};
        const char *reason = NULL;
        past[0] = 1; /* a bit in an empty group */
        assert_false(tamis_i_dleft_bucket_check(layout, past, &reason));
        assert_string_equal(reason, "a bucket has data past its fingerprints");
    }
}

/* The search for many keys, portable and with BMI2, answers as the search for one. */
static void test_dleft_bucket_search_equals_find(void **state) {
    (void)state;
    uint64_t random = test_seed();
    const unsigned features = tamis_i_cpu_features();
    enum { GROUPS = 8, QUERIES = 64 };
    unsigned found = 0;
    for (unsigned l = 0; l < LAYOUTS; l++) {
        const tamis_i_dleft_bucket *const layout = layout_number(l);
        const unsigned buckets = (unsigned)all_layouts[l].group;
        const tamis_i_dleft_bucket_ops *const plain = tamis_i_dleft_bucket_ops_for(layout, 0);
        for (unsigned round = 0; round < 300; round++) {
            uint64_t groups[GROUPS][TAMIS_I_DLEFT_WORDS] = {{0}}, fingerprints[QUERIES];
            tamis_i_probe queries[QUERIES];
            bool one[QUERIES], many[QUERIES];
            for (unsigned i = 0; i < QUERIES; i++)
                fingerprints[i] = test_random(&random);
            for (unsigned i = 0; i < round % 40 * GROUPS / 8; i++)
                (void)tamis_i_dleft_bucket_insert(
                    layout, groups[test_random_below(&random, GROUPS)],
                    (unsigned)test_random_below(&random, buckets), fingerprints[i % QUERIES]);
            const unsigned d = 1 + round % 4;
            for (unsigned i = 0; i < QUERIES; i++) {
                queries[i].word[0] = fingerprints[i];
                one[i] = false;
                for (unsigned j = 0; j < d; j++) {
                    queries[i].at[j] = groups[test_random_below(&random, GROUPS)];
                    queries[i].word[1 + j] = test_random_below(&random, buckets);
                    one[i] |= plain->find(queries[i].at[j], (unsigned)queries[i].word[1 + j],
                                          fingerprints[i]);
                }
                found += one[i];
            }
            plain->search(queries, QUERIES, d, queries, many);
            assert_memory_equal(one, many, sizeof one);
            tamis_i_dleft_bucket_ops_for(layout, features)
                ->search(queries, QUERIES, d, queries, many);
            assert_memory_equal(one, many, sizeof one);
        }
    }
    assert_true(found > 1000); /* of 4 * 300 * 64 queries */
}

static void test_dleft_bucket_unknown_layouts_are_null(void **state) {
    (void)state;
    assert_null(tamis_i_dleft_bucket_layout(32, 1, false));
    assert_null(tamis_i_dleft_bucket_layout(64, 2, false));
    assert_null(tamis_i_dleft_bucket_layout(0, 0, false));
    assert_null(tamis_i_dleft_bucket_layout((uint64_t)1 << 32 | 64, 1, false));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dleft_bucket_random_inserts_find_every_fingerprint),
        cmocka_unit_test(test_dleft_bucket_states_are_all_used),
        cmocka_unit_test(test_dleft_bucket_bits_alone_as_the_paper),
        cmocka_unit_test(test_dleft_bucket_groups_never_lengthen),
        cmocka_unit_test(test_dleft_bucket_damage_is_seen),
        cmocka_unit_test(test_dleft_bucket_search_equals_find),
        cmocka_unit_test(test_dleft_bucket_unknown_layouts_are_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
