/* test_filter_dleft.c - the d-left filter against its paper and its model, through the public interface
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"
#include "tamis/model.h"

#include <math.h>

static tamis_filter *make_with(uint64_t n, uint64_t bucket_bits, uint64_t group, uint64_t plain,
                               uint64_t seed) {
    tamis_filter *filter = NULL;
    tamis_params params = test_bare_params(TAMIS_KIND_DLEFT, n, seed);
    params.value[TAMIS_DLEFT_BUCKET_BITS] = bucket_bits;
    params.value[TAMIS_DLEFT_GROUP] = group;
    params.value[TAMIS_DLEFT_PLAIN] = plain;
    assert_ok(tamis_filter_create(&params, NULL, &filter));
    return filter;
}

static tamis_filter *make(uint64_t n, uint64_t bucket_bits, uint64_t group, uint64_t seed) {
    return make_with(n, bucket_bits, group, 0, seed);
}

/* Keys from..to-1 are inserted in batches. */
static void fill(tamis_filter *filter, uint64_t from, uint64_t to) {
    uint64_t keys[1024];
    while (from < to) {
        size_t n = 0;
        while (n < 1024 && from < to)
            keys[n++] = from++;
        assert_ok(tamis_filter_insert_many_u64(filter, keys, n, NULL, NULL));
    }
}

/* How many of the keys from..to-1 are answered "present". */
static uint64_t ask(const tamis_filter *filter, uint64_t from, uint64_t to) {
    uint64_t keys[1024], found = 0;
    while (from < to) {
        size_t n = 0;
        while (n < 1024 && from < to)
            keys[n++] = from++;
        found += tamis_filter_contains_many_u64(filter, keys, n, NULL);
    }
    return found;
}

#define ABSENT ((uint64_t)1 << 40)

/* The papers' asymptotic rates at 16 and 20 bits per key, from 10^6 keys. */
static void test_dleft_error_rates_as_the_paper(void **state) {
    (void)state;
    static const struct {
        uint64_t bits, group, plain;
        double paper, bits_per_key;
    } rows[5] = {{64, 1, 0, 4.477e-4, 16},
                 {64, 4, 0, 3.520e-4, 16},
                 {128, 1, 0, 2.245e-5, 20},
                 {128, 4, 0, 2.042e-5, 20},
                 {64, 1, 1, 8.937e-4, 16}};
    const uint64_t n = 1000000, queries = 10000000;
    for (unsigned i = 0; i < 5; i++) {
        tamis_filter *const filter =
            make_with(n, rows[i].bits, rows[i].group, rows[i].plain, test_seed() + i);
        fill(filter, 0, n);
        assert_int_equal(ask(filter, 0, n), n);
        const tamis_info info = test_info(filter);
        const double bits_per_key = 8 * (double)info.bytes / (double)n;
        char what[64];
        snprintf(what, sizeof what, "dleft %d bits, groups of %d%s", (int)rows[i].bits,
                 (int)rows[i].group, rows[i].plain ? ", plain" : "");
        printf("# %s: %.3f bits per key, info says %.4g\n", what, bits_per_key, info.fpr);
        assert_true(fabs(bits_per_key / rows[i].bits_per_key - 1) < 0.002);
        assert_true(fabs(info.fpr / rows[i].paper - 1) < 0.01);
        assert_rate(what, ask(filter, ABSENT, ABSENT + queries), queries, rows[i].paper, 0.003);
        tamis_filter_free(filter);
    }
}

/* The paper's two offline experiments, 30 trials each, by both ways to break ties. */
static void test_dleft_offline_as_the_paper(void **state) {
    (void)state;
    static const struct {
        uint64_t bits;
        size_t n;
        tamis_ties ties;
        double low, high; /* of the rate as the filter tells it */
    } rows[4] = {{64, 32768, TAMIS_TIES_LEFT, 2.30e-4, 2.42e-4},
                 {64, 32768, TAMIS_TIES_RANDOM, 1.90e-4, 2.05e-4},
                 {128, 49152, TAMIS_TIES_LEFT, 4.4e-6, 4.7e-6},
                 {128, 49152, TAMIS_TIES_RANDOM, 3.6e-6, 3.9e-6}};
    const unsigned trials = 30;
    tamis_digest *const digests = malloc(49152 * sizeof *digests);
    assert_non_null(digests);
    for (unsigned i = 0; i < 4; i++) {
        double mean = 0;
        uint64_t hits = 0;
        for (unsigned t = 0; t < trials; t++) {
            tamis_build_options how;
            tamis_filter *filter = NULL;
            tamis_build_options_init(&how);
            tamis_params params = test_bare_params(TAMIS_KIND_DLEFT, rows[i].n, test_seed() + t);
            params.value[TAMIS_DLEFT_BUCKET_BITS] = rows[i].bits;
            params.value[TAMIS_DLEFT_BUCKETS] = 4096;
            how.ties = rows[i].ties;
            for (size_t k = 0; k < rows[i].n; k++)
                digests[k] = test_hash_u64(params.seed, k);
            assert_ok(tamis_filter_build_many(&params, digests, rows[i].n, &how, NULL, &filter));
            assert_int_equal(tamis_filter_contains_many_digest(filter, digests, rows[i].n, NULL),
                             rows[i].n);
            const tamis_info info = test_info(filter);
            assert_int_equal(info.params.value[TAMIS_DLEFT_SUBTABLES], 2);
            mean += info.fpr / trials;
            hits += ask(filter, ABSENT, ABSENT + 100000);
            tamis_filter_free(filter);
        }
        printf("# offline %d bits, ties %d: %.4g\n", (int)rows[i].bits, (int)rows[i].ties, mean);
        assert_true(mean >= rows[i].low && mean <= rows[i].high);
        assert_rate("offline, measured", hits, (uint64_t)trials * 100000, mean, 0);
    }
    free(digests);
}

/* From 5 % to 120 % of the capacity: the error rate beside that of the standard Bloom filter with as many
 * bytes and the hashes that are best at capacity; no key is lost.
 *
 * With 20 bits per key (128-bit buckets) dleft is below Bloom all the way but for the first 5 %, where a
 * fingerprint of 62 bits ends at 2e-19 and Bloom's rate is 3e-21.  With 16 bits per key it is not:
 * groups of 64-bit buckets are below up to 110 %; by themselves they lack semi-sorting at loads under
 * 4, which costs them the range under 55 % (where both rates are below 3e-6), and fall behind past
 * 100 %.  The ranges are asserted, so that they cannot shrink unseen. */
static void test_dleft_fill_curve_against_bloom(void **state) {
    (void)state;
    static const struct {
        uint64_t bits, group;
        unsigned hashes, better_from, better_to;
    } rows[4] = {
        {64, 1, 11, 55, 100}, {64, 4, 11, 5, 110}, {128, 1, 14, 10, 120}, {128, 4, 14, 10, 120}};
    const uint64_t n = 200000;
    for (unsigned i = 0; i < 4; i++) {
        tamis_filter *const filter = make(n, rows[i].bits, rows[i].group, test_seed());
        uint64_t before = 0;
        for (unsigned percent = 5; percent <= 120; percent += 5) {
            const uint64_t keys = n * percent / 100;
            fill(filter, before, keys);
            before = keys;
            assert_int_equal(ask(filter, 0, keys), keys);
            const tamis_info info = test_info(filter);
            double bloom = 0;
            assert_ok(
                tamis_model_bloom(8 * (double)info.bytes, (double)keys, rows[i].hashes, &bloom));
            printf("# %d bits, groups of %d, %u %%: dleft %.3g, bloom %.3g\n", (int)rows[i].bits,
                   (int)rows[i].group, percent, info.fpr, bloom);
            if (percent >= rows[i].better_from && percent <= rows[i].better_to)
                assert_true(info.fpr < bloom);
            assert_int_equal(info.stash_used, 0);
        }
        tamis_filter_free(filter);
    }
}

/* Far beyond the capacity: the stash fills, then inserts are refused, and nothing is lost or changed. */
static void test_dleft_overfull_refuses_and_keeps_all(void **state) {
    (void)state;
    for (uint64_t bits = 64; bits <= 128; bits += 64) {
        for (uint64_t group = 1; group <= 4; group += 3) {
            tamis_filter *const filter = make(1000, bits, group, test_seed());
            uint64_t keys = 0;
            bool added;
            while (tamis_filter_insert_u64(filter, keys, &added) == TAMIS_OK)
                keys++;
            const tamis_info full = test_info(filter);
            printf("# %d bits, groups of %d: full at %d of 1000, error rate %.3g\n", (int)bits,
                   (int)group, (int)keys, full.fpr);
            assert_in_range(keys, 1200, 2000);
            assert_int_equal(full.stash_used, full.stash_size);
            assert_int_equal(ask(filter, 0, keys), keys);
            size_t size = (size_t)tamis_filter_encoded_size(filter);
            unsigned char *const a = malloc(size), *const b = malloc(size);
            assert_true(a != NULL && b != NULL);
            assert_ok(tamis_filter_encode(filter, a, size));
            added = true;
            assert_status(tamis_filter_insert_u64(filter, keys, &added), TAMIS_E_FULL);
            assert_true(added);
            assert_ok(tamis_filter_encode(filter, b, size));
            assert_memory_equal(a, b, size);
            tamis_filter *again = NULL;
            const char *reason = "";
            assert_ok(tamis_filter_decode(a, size, NULL, &again, &reason));
            assert_int_equal(ask(again, 0, keys), keys);
            tamis_filter_free(again);
            tamis_filter_free(filter);
            free(a);
            free(b);
        }
    }
}

/* Loads of 10^7 keys against the fluid limit, chi-square over the loads with at least 25 expected buckets.
 * Loads of one table are not independent, which makes the statistic smaller, never larger. */
static void test_dleft_loads_follow_the_fluid_limit(void **state) {
    (void)state;
    /* 99.9 % quantiles of chi-square with 1 to 8 degrees of freedom. */
    static const double quantile[9] = {0, 10.83, 13.82, 16.27, 18.47, 20.52, 22.46, 24.32, 26.12};
    const uint64_t n = 10000000;
    for (uint64_t bits = 64; bits <= 128; bits += 64) {
        tamis_filter *const filter = make(n, bits, 1, test_seed() + bits);
        fill(filter, 0, n);
        const tamis_info info = test_info(filter);
        const double buckets = 3 * (double)info.params.value[TAMIS_DLEFT_BUCKETS];
        /* Keys taken for others, the false positives of insert, are not in the table. */
        double fraction[3 * 14], chi = 0;
        assert_ok(tamis_model_dleft_inserted(3, (double)info.count / buckets, 14, fraction));
        unsigned cells = 0;
        for (unsigned j = 0; j < info.n_loads; j++) {
            const double expected =
                buckets * (fraction[j] + fraction[14 + j] + fraction[28 + j]) / 3;
            const double seen = (double)info.load_histogram[j];
            if (expected >= 25) {
                chi += (seen - expected) * (seen - expected) / expected;
                cells++;
            }
        }
        printf("# %d bits: chi-square %.2f with %u loads\n", (int)bits, chi, cells);
        assert_in_range(cells, 5, 9);
        assert_true(chi < quantile[cells - 1]);
        tamis_filter_free(filter);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dleft_error_rates_as_the_paper),
        cmocka_unit_test(test_dleft_offline_as_the_paper),
        cmocka_unit_test(test_dleft_fill_curve_against_bloom),
        cmocka_unit_test(test_dleft_overfull_refuses_and_keeps_all),
        cmocka_unit_test(test_dleft_loads_follow_the_fluid_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
