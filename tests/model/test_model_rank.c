/* test_model_rank.c - rank-indexed hashing: printed values, simulation of the bound, the optimiser
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <math.h>

#include "model/rank.h"

enum { N_KEYS = 100000 };

/* Table II of the paper. */
static const struct row {
    double fpr, lambda;
    unsigned fp_bits, homes, slots[3];
    double extensions[2];
} rows[3] = {
    {0.01, 0.64, 6, 60, {45, 8, 45}, {0.179, 0.027}},
    {0.001, 0.92, 10, 64, {63, 17, 50}, {0.360, 0.017}},
    {0.0001, 0.86, 13, 61, {59, 13, 48}, {0.233, 0.018}},
};

static tamis_rank_shape shape_of(uint64_t buckets, unsigned homes, unsigned fp_bits) {
    const tamis_rank_shape shape = {
        .struct_size = sizeof shape, .buckets = buckets, .homes = homes, .fp_bits = fp_bits};
    return shape;
}

static tamis_rank_shape row_shape(int i) {
    tamis_rank_shape shape = shape_of((uint64_t)(N_KEYS / (rows[i].lambda * rows[i].homes)),
                                      rows[i].homes, rows[i].fp_bits);
    for (unsigned j = 0; j < 3; j++)
        shape.slots[j] = rows[i].slots[j];
    for (unsigned j = 0; j < 2; j++)
        shape.extensions[j] = (uint64_t)lround(rows[i].extensions[j] * (double)shape.buckets);
    return shape;
}

static double bits_per_key(const tamis_rank_shape *shape, uint64_t n) {
    uint64_t bits;
    assert_ok(tamis_model_rank_bits(shape, &bits));
    return (double)bits / (double)n;
}

static double overflow_bound(const tamis_rank_shape *shape, uint64_t n) {
    double odds;
    assert_ok(tamis_model_rank_overflow(shape, n, &odds));
    return odds;
}

static double error_rate(const tamis_rank_shape *shape, uint64_t n) {
    double fpr;
    assert_ok(tamis_model_rank_fpr(shape, n, &fpr));
    return fpr;
}

static void test_rank_table2_rows_keep_their_promise(void **state) {
    (void)state;
    static const double bits[3] = {10.6, 14.4, 18.2}, counting[3] = {13.0, 16.8, 20.6},
                        packed[3] = {8.6, 12.1, 15.2};
    for (int i = 0; i < 3; i++) {
        tamis_rank_shape shape = row_shape(i);
        assert_true(overflow_bound(&shape, N_KEYS) < 1e-10);
        assert_true(fabs(bits_per_key(&shape, N_KEYS) / bits[i] - 1) < 0.01);
        double compact;
        assert_ok(tamis_model_rank_compact(&shape, N_KEYS, &compact));
        assert_true(fabs(compact - packed[i]) < 0.05);
        const double lambda = ldexp(rows[i].lambda, -(int)rows[i].fp_bits);
        assert_true(fabs(error_rate(&shape, N_KEYS) / lambda - 1) < 0.006);
        shape.extra_bits = 2;
        assert_true(fabs(bits_per_key(&shape, N_KEYS) / counting[i] - 1) < 0.01);
    }
}

/* By hand: 10 buckets of 4 + 3 * (1 + 5 + 2) + 2 bits, 3 of 1 + 2 * 8 + 1, 1 of 1 + 8. */
static void test_rank_bits_small_shape_counted_by_hand(void **state) {
    (void)state;
    tamis_rank_shape shape = shape_of(10, 4, 5);
    shape.extra_bits = 2;
    shape.slots[0] = 3;
    shape.slots[1] = 2;
    shape.slots[2] = 1;
    shape.extensions[0] = 3;
    shape.extensions[1] = 1;
    uint64_t bits;
    assert_ok(tamis_model_rank_bits(&shape, &bits));
    assert_int_equal(bits, 10 * 30 + 3 * 18 + 9);
}

/* One filling of a filter: true if some key finds no slot. */
static bool runs_out(const tamis_rank_shape *shape, unsigned n, uint64_t *random) {
    enum { BUCKETS_MAX = 64 };
    unsigned load[BUCKETS_MAX] = {0};
    assert_true(shape->buckets <= BUCKETS_MAX);
    for (unsigned i = 0; i < n; i++)
        load[test_random_below(random, shape->buckets)]++;
    const unsigned w1 = shape->slots[0], w2 = w1 + shape->slots[1], w3 = w2 + shape->slots[2];
    unsigned second = 0, third = 0, last = 0;
    for (unsigned i = 0; i < shape->buckets; i++) {
        second += load[i] > w1;
        third += load[i] > w2;
        last += load[i] > w3;
    }
    return second > shape->extensions[0] || third > shape->extensions[1] || last > 0;
}

/* The bound must not be below the truth.  How far above it is depends on the term that
 * dominates: the last resort is nearly exact; the extensions are counted as if the loads were
 * independent, and that they add up to n makes a crowd of full buckets rarer, the more so the
 * nearer W is to the mean.  Shapes in which the second level, the third and the last resort
 * dominate in turn. */
static void test_rank_overflow_simulation_below_bound(void **state) {
    (void)state;
    static const struct {
        unsigned slots[3];
        uint64_t extensions[2];
        double factor; /* bound over truth, at most */
    } cases[] = {
        {{22, 10, 40}, {17, 10}, 15}, {{26, 12, 30}, {6, 6}, 8}, {{24, 8, 40}, {16, 2}, 15},
        {{24, 6, 8}, {30, 12}, 1.2},  {{38, 0, 0}, {0, 0}, 1.2}, {{28, 12, 0}, {6, 0}, 10},
    };
    uint64_t random = test_seed();
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        tamis_rank_shape shape = shape_of(50, 32, 8);
        for (unsigned i = 0; i < 3; i++)
            shape.slots[i] = cases[c].slots[i];
        shape.extensions[0] = cases[c].extensions[0];
        shape.extensions[1] = cases[c].extensions[1];
        const double bound = overflow_bound(&shape, 1000);
        enum { TRIALS = 40000 };
        unsigned hits = 0;
        for (unsigned i = 0; i < TRIALS; i++)
            hits += runs_out(&shape, 1000, &random);
        const double seen = hits / (double)TRIALS, error = sqrt(seen * (1 - seen) / TRIALS);
        printf("# case %zu: bound %.4g, simulated %.4g +- %.2g\n", c, bound, seen, error);
        assert_true(hits > 5);
        assert_true(seen - 3.3 * error <= bound); /* 99.9 % */
        assert_true(bound <= cases[c].factor * (seen + 3.3 * error));
    }
}

/* Cells of home and fingerprint are hit by absent keys as often as the model says. */
static void test_rank_fpr_simulation_agrees(void **state) {
    (void)state;
    tamis_rank_shape shape = shape_of(40, 50, 3);
    shape.slots[0] = 200;
    enum { CELLS = 40 * 50 * 8, KEYS = 3000, FILLS = 200, QUERIES = 1000 };
    uint64_t random = test_seed();
    uint64_t hits = 0;
    for (unsigned fill = 0; fill < FILLS; fill++) {
        static bool cell[CELLS];
        memset(cell, 0, sizeof cell);
        for (unsigned i = 0; i < KEYS; i++)
            cell[test_random_below(&random, CELLS)] = true;
        for (unsigned i = 0; i < QUERIES; i++)
            hits += cell[test_random_below(&random, CELLS)];
    }
    assert_rate("rank error", hits, (uint64_t)FILLS * QUERIES, error_rate(&shape, KEYS), 0.001);
}

static void test_rank_optimise_beats_table2(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        const tamis_rank_shape paper = row_shape(i);
        const double paper_odds = overflow_bound(&paper, N_KEYS);
        /* At the printed promise, and at the odds that the row really has. */
        const double odds[2] = {1e-10, paper_odds};
        for (int j = 0; j < 2; j++) {
            tamis_rank_shape ours;
            tamis_rank_shape_init(&ours);
            assert_ok(tamis_model_rank_optimise(N_KEYS, rows[i].fpr, odds[j], 0, 64, 0, &ours));
            assert_true(overflow_bound(&ours, N_KEYS) <= odds[j]);
            assert_true(error_rate(&ours, N_KEYS) <= rows[i].fpr);
            const double gain = 1 - bits_per_key(&ours, N_KEYS) / bits_per_key(&paper, N_KEYS);
            printf("# %g at %.2g: %.3f bits, paper %.3f, %.2f %% fewer\n", rows[i].fpr, odds[j],
                   bits_per_key(&ours, N_KEYS), bits_per_key(&paper, N_KEYS), 100 * gain);
            assert_true(gain > 0.01);
        }
    }
}

static void test_rank_optimise_any_need_keeps_promise(void **state) {
    (void)state;
    static const uint64_t ns[] = {1,
                                  2,
                                  3,
                                  7,
                                  20,
                                  64,
                                  65,
                                  100,
                                  343,
                                  1000,
                                  2401,
                                  30000,
                                  1000000,
                                  (uint64_t)1 << 27,
                                  (uint64_t)1 << 33,
                                  (uint64_t)1 << 40};
    static const double rates[] = {0.5, 0.1, 1.0 / 128, 1e-3, 1e-6, 1e-15};
    static const double odds[] = {0.5, 1e-3, 1e-10, 1e-30};
    for (size_t a = 0; a < sizeof ns / sizeof ns[0]; a++)
        for (size_t b = 0; b < sizeof rates / sizeof rates[0]; b++)
            for (size_t c = 0; c < sizeof odds / sizeof odds[0]; c++) {
                if (ns[a] > (uint64_t)1 << 33 && c != 2)
                    continue;
                tamis_rank_shape s;
                tamis_rank_shape_init(&s);
                assert_ok(tamis_model_rank_optimise(ns[a], rates[b], odds[c], 0, 64, 0, &s));
                assert_true(error_rate(&s, ns[a]) <= rates[b]);
                assert_true(overflow_bound(&s, ns[a]) <= odds[c]);
            }
}

static void test_rank_optimise_limits_are_kept(void **state) {
    (void)state;
    static const unsigned limits[] = {2048, 1024, 512, 256, 64};
    double before = 0;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        tamis_rank_shape s;
        tamis_rank_shape_init(&s);
        assert_ok(tamis_model_rank_optimise(1000000, 0.001, 1e-10, 2, 48, limits[i], &s));
        uint64_t pointer = 0;
        while (s.extensions[0] >> pointer != 0)
            pointer++;
        assert_true(s.homes <= 48);
        assert_true(s.homes + s.slots[0] * (s.fp_bits + 3) + pointer <= limits[i]);
        assert_true(overflow_bound(&s, 1000000) <= 1e-10);
        const double bits = bits_per_key(&s, 1000000);
        assert_true(bits >= before); /* less freedom cannot help */
        before = bits;
    }
    tamis_rank_shape s;
    tamis_rank_shape_init(&s);
    s.buckets = 77;
    assert_status(tamis_model_rank_optimise(1000000, 0.001, 1e-10, 0, 64, 8, &s), TAMIS_E_DOMAIN);
    assert_int_equal(s.buckets, 77);
}

/* Buckets that are cache lines: just 512 bits, the promises kept, and never fewer bits than the best. */
static void test_rank_exact_buckets_are_lines(void **state) {
    (void)state;
    static const uint64_t ns[] = {1000, 100000, 30000000, (uint64_t)1 << 36};
    static const double rates[] = {0.3, 0.01, 1e-3, 1e-6};
    for (unsigned a = 0; a < 4; a++)
        for (unsigned b = 0; b < 4; b++)
            for (unsigned extra = 0; extra < 6; extra += 2) {
                tamis_rank_shape s, best;
                tamis_rank_shape_init(&s);
                tamis_rank_shape_init(&best);
                assert_ok(tamis_i_model_rank_exact(ns[a], rates[b], 1e-10, extra, 512, &s));
                assert_ok(tamis_model_rank_optimise(ns[a], rates[b], 1e-10, extra, 64, 0, &best));
                unsigned pointer = 0;
                while (s.extensions[0] >> pointer != 0)
                    pointer++;
                assert_int_equal(s.homes + s.slots[0] * (s.fp_bits + extra + 1) + pointer, 512);
                assert_true(error_rate(&s, ns[a]) <= rates[b]);
                assert_true(overflow_bound(&s, ns[a]) <= 1e-10);
                assert_true(bits_per_key(&s, ns[a]) >= bits_per_key(&best, ns[a]));
            }
}

static void test_rank_optimise_same_call_same_shape(void **state) {
    (void)state;
    tamis_rank_shape a, b;
    tamis_rank_shape_init(&a);
    tamis_rank_shape_init(&b);
    assert_ok(tamis_model_rank_optimise(123457, 0.003, 1e-9, 2, 64, 0, &a));
    assert_ok(tamis_model_rank_optimise(123457, 0.003, 1e-9, 2, 64, 0, &b));
    assert_memory_equal(&a, &b, sizeof a);
}

static void test_rank_edges_no_keys_and_one_bucket(void **state) {
    (void)state;
    tamis_rank_shape s = shape_of(1, 64, 8);
    s.slots[0] = 100;
    assert_true(overflow_bound(&s, 0) == 0 && error_rate(&s, 0) == 0);
    assert_true(overflow_bound(&s, 100) == 0);
    assert_true(overflow_bound(&s, 101) == 1);
    double compact = -1;
    assert_status(tamis_model_rank_compact(&s, 0, &compact), TAMIS_E_DOMAIN);
    assert_true(compact == -1);
    /* 2^40 keys in 2^34 buckets. */
    s.buckets = (uint64_t)1 << 34;
    s.slots[0] = 200;
    assert_true(overflow_bound(&s, (uint64_t)1 << 40) < 1e-20);
    s.slots[0] = 70;
    s.slots[1] = 130;
    s.extensions[0] = s.buckets / 2;
    assert_true(overflow_bound(&s, (uint64_t)1 << 40) < 1e-20);
    s.extensions[0] = s.buckets / 10;
    assert_true(overflow_bound(&s, (uint64_t)1 << 40) == 1);
}

static void test_rank_domain_bad_shape_refused(void **state) {
    (void)state;
    const tamis_rank_shape good = row_shape(0);
    tamis_rank_shape bad[14];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        bad[i] = good;
    bad[0].buckets = 0;
    bad[1].homes = 0;
    bad[2].homes = 65;
    bad[3].fp_bits = 0;
    bad[4].fp_bits = 57;
    bad[5].slots[0] = 0;
    bad[6].slots[1] = 0;
    bad[7].extensions[1] = 0;
    bad[8].extensions[0] = bad[8].buckets + 1;
    bad[9].extensions[1] = bad[9].extensions[0] + 1;
    bad[10].slots[2] = 5000;
    bad[11].extra_bits = 65;
    bad[12].buckets = ((uint64_t)1 << 46) + 1;
    bad[13].extensions[0] = bad[13].slots[1] = 0;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double value = -1;
        uint64_t bits = 77;
        assert_status(tamis_model_rank_fpr(&bad[i], N_KEYS, &value), TAMIS_E_DOMAIN);
        assert_status(tamis_model_rank_overflow(&bad[i], N_KEYS, &value), TAMIS_E_DOMAIN);
        assert_status(tamis_model_rank_compact(&bad[i], N_KEYS, &value), TAMIS_E_DOMAIN);
        assert_status(tamis_model_rank_bits(&bad[i], &bits), TAMIS_E_DOMAIN);
        assert_true(value == -1 && bits == 77);
    }
    double value = -1;
    assert_status(tamis_model_rank_fpr(&good, ((uint64_t)1 << 40) + 1, &value), TAMIS_E_DOMAIN);
    tamis_rank_shape odd = good;
    odd.struct_size = 3;
    assert_status(tamis_model_rank_fpr(&odd, 1, &value), TAMIS_E_ARGUMENT);
    odd = good;
    odd.buckets = (uint64_t)1 << 46;
    odd.slots[0] = 4096;
    uint64_t bits = 77;
    odd.extra_bits = 64;
    assert_status(tamis_model_rank_bits(&odd, &bits), TAMIS_E_TOO_LARGE);
    assert_true(value == -1 && bits == 77);
}

static void test_rank_domain_bad_need_refused(void **state) {
    (void)state;
    tamis_rank_shape s;
    tamis_rank_shape_init(&s);
    static const struct {
        uint64_t n;
        double fpr, overflow;
        unsigned extra, homes;
    } bad[] = {
        {0, 0.01, 1e-10, 0, 64},     {((uint64_t)1 << 40) + 1, 0.01, 1e-10, 0, 64},
        {1000, 0, 1e-10, 0, 64},     {1000, 0.6, 1e-10, 0, 64},
        {1000, NAN, 1e-10, 0, 64},   {1000, 0.01, 0, 0, 64},
        {1000, 0.01, 1, 0, 64},      {1000, 0.01, NAN, 0, 64},
        {1000, 0.01, 1e-10, 65, 64}, {1000, 0.01, 1e-10, 0, 0},
        {1000, 0.01, 1e-10, 0, 65},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_status(tamis_model_rank_optimise(bad[i].n, bad[i].fpr, bad[i].overflow, bad[i].extra,
                                                bad[i].homes, 0, &s),
                      TAMIS_E_DOMAIN);
    assert_int_equal(s.buckets, 0);
}

/* A Bloom filter that is not sparse at all, and one hash: f = e, b = -1/ln(1-e), z = b H(e). */
static void test_bloom_compressed_known_points_agree(void **state) {
    (void)state;
    double bits;
    assert_ok(tamis_model_bloom_compressed(0.01, log2(100) / log(2), &bits));
    assert_true(fabs(bits * log(2) / log2(100) - 1) < 1e-5);
    const double e = 0.01, array = -1 / log1p(-e);
    const double entropy = -(e * log2(e) + (1 - e) * log2(1 - e));
    assert_ok(tamis_model_bloom_compressed(e, array * entropy, &bits));
    assert_true(fabs(bits / array - 1) < 1e-9);
    bits = -1;
    assert_status(tamis_model_bloom_compressed(0.01, log2(100), &bits), TAMIS_E_DOMAIN);
    assert_status(tamis_model_bloom_compressed(0.01, 9.7, &bits), TAMIS_E_DOMAIN);
    assert_status(tamis_model_bloom_compressed(0, 9, &bits), TAMIS_E_DOMAIN);
    assert_status(tamis_model_bloom_compressed(NAN, 9, &bits), TAMIS_E_DOMAIN);
    assert_status(tamis_model_bloom_compressed(0.01, NAN, &bits), TAMIS_E_DOMAIN);
    assert_true(bits == -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rank_table2_rows_keep_their_promise),
        cmocka_unit_test(test_rank_bits_small_shape_counted_by_hand),
        cmocka_unit_test(test_rank_overflow_simulation_below_bound),
        cmocka_unit_test(test_rank_fpr_simulation_agrees),
        cmocka_unit_test(test_rank_optimise_beats_table2),
        cmocka_unit_test(test_rank_optimise_any_need_keeps_promise),
        cmocka_unit_test(test_rank_optimise_limits_are_kept),
        cmocka_unit_test(test_rank_exact_buckets_are_lines),
        cmocka_unit_test(test_rank_optimise_same_call_same_shape),
        cmocka_unit_test(test_rank_edges_no_keys_and_one_bucket),
        cmocka_unit_test(test_rank_domain_bad_shape_refused),
        cmocka_unit_test(test_rank_domain_bad_need_refused),
        cmocka_unit_test(test_bloom_compressed_known_points_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
