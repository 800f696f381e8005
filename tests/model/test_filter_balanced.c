/* test_filter_balanced.c - the balanced Bloom filter against Theorems 1, 4 and 5
 *
 * 8 keys per block of 256 bits, 3 choices, 1.05 to 1.4 looks per insert: looks, overflow and loads of
 * several filters, whose mean must be that of the theory within sampling error.  The theory is that of
 * infinitely many blocks; a relative allowance for what that leaves out is stated with each quantity.
 * Then the error rate: info against queries, the plan against info.  Then the blocks that are read, counted
 * by a plain walk along the choices of a key; TAMIS_BALANCED_BLOOM_KEYS=1000000 does that in larger filters.
 *
 * 'tamis reproduce bal.' shows the same, and more of it, as figures.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/counted_block.h"
#include "bits/field.h"
#include "filter/filter.h"
#include "hash/hash.h"
#include "support.h"
#include "tamis/model.h"

#include <math.h>
#include <stdlib.h>

enum { KEYS = 40000, FILTERS = 10, LOADS = 20, CHUNK = 1000 };

static tamis_plan plan_for(tamis_balance_scheme scheme, double accesses, double bits_per_key,
                           uint64_t n) {
    const tamis_balanced_need need = {.struct_size = sizeof need,
                                      .n = n,
                                      .scheme = scheme,
                                      .accesses = accesses,
                                      .block_bits = 256,
                                      .bits_per_key = bits_per_key};
    tamis_plan plan;
    tamis_plan_init(&plan);
    assert_ok(tamis_plan_balanced(&need, &plan));
    return plan;
}

static tamis_filter *filled(const tamis_params *params, uint64_t seed, uint64_t n) {
    tamis_params own = *params;
    tamis_filter *filter;
    uint64_t keys[CHUNK];
    own.seed = seed;
    assert_ok(tamis_filter_create(&own, NULL, &filter));
    for (uint64_t at = 0; at < n; at += CHUNK) {
        for (uint64_t i = 0; i < CHUNK; i++)
            keys[i] = at + i;
        assert_ok(tamis_filter_insert_many_u64(filter, keys, CHUNK, NULL, NULL));
    }
    return filter;
}

typedef struct sample {
    double sum, squares;
} sample;

static void sample_add(sample *s, double value) {
    s->sum += value;
    s->squares += value * value;
}

/* The mean of FILTERS values within 5 standard errors (99.9 % for 9 degrees of freedom), and an allowance
 * for the theory. */
static void assert_mean(const char *what, const sample *s, double expected, double allowance) {
    const double mean = s->sum / FILTERS;
    const double error = sqrt(fmax(0, s->squares / FILTERS - mean * mean) / (FILTERS - 1));
    if (fabs(mean - expected) > 5 * error + allowance)
        fail_msg("%s: theory %.6g, measured %.6g +- %.1g", what, expected, mean, error);
}

static void check_scheme(tamis_balance_scheme scheme, double accesses) {
    const tamis_plan plan = plan_for(scheme, accesses, 32, KEYS);
    const double blocks = (double)plan.params.value[TAMIS_BALANCED_BLOOM_BLOCKS];
    double overflow, bound[LOADS];
    unsigned k0;
    char what[80];
    assert_ok(tamis_model_balance_region(scheme, 3, accesses, 8, &overflow, NULL));
    assert_ok(tamis_model_balance_bound(accesses, 8, overflow, bound, LOADS, &k0));
    sample looks = {0, 0}, listed = {0, 0}, loads[LOADS] = {{0, 0}};
    for (unsigned i = 0; i < FILTERS; i++) {
        tamis_filter *const filter = filled(&plan.params, test_seed() + i, KEYS);
        const tamis_info info = test_info(filter);
        sample_add(&looks, info.reads_per_insert);
        sample_add(&listed, (double)info.stash_used / KEYS);
        assert_true(info.stash_used < info.stash_size);
        for (unsigned j = 0; j < LOADS; j++)
            sample_add(&loads[j], j < info.n_loads ? (double)info.load_histogram[j] / blocks : 0);
        tamis_filter_free(filter);
    }
    printf("# scheme %d, a = %.2f: looks %.4f, overflow %.5f (theory %.5f)\n", scheme, accesses,
           looks.sum / FILTERS, listed.sum / FILTERS, overflow);
    snprintf(what, sizeof what, "looks of scheme %d at %.2f", scheme, accesses);
    assert_mean(what, &looks, accesses, 5e-4);
    snprintf(what, sizeof what, "overflow of scheme %d at %.2f", scheme, accesses);
    assert_mean(what, &listed, overflow, 0.02 * overflow + 1e-5);
    for (unsigned j = 0; j < LOADS; j++) {
        snprintf(what, sizeof what, "load %u of scheme %d at %.2f", j, scheme, accesses);
        assert_mean(what, &loads[j], bound[j], 5e-4);
    }
}

static void test_balanced_schemes_follow_their_theorems(void **state) {
    (void)state;
    for (int a = 105; a <= 140; a += 5) {
        check_scheme(TAMIS_BALANCE_SEQUENTIAL, a / 100.0);
        check_scheme(TAMIS_BALANCE_MHT, a / 100.0);
    }
}

/* The rate that info tells is that of queries, and the plan's is the mean of those that filters have. */
static void test_balanced_rate_is_as_planned(void **state) {
    (void)state;
    static const double bits[] = {10, 14, 18};
    for (unsigned i = 0; i < 3; i++) {
        const tamis_plan plan = plan_for(TAMIS_BALANCE_MHT, 1.2, bits[i], 400000);
        tamis_filter *const filter = filled(&plan.params, test_seed() + i, 400000);
        const tamis_info info = test_info(filter);
        uint64_t hits = 0, keys[CHUNK];
        for (uint64_t at = 0; at < 4000000; at += CHUNK) {
            for (uint64_t j = 0; j < CHUNK; j++)
                keys[j] = ((uint64_t)1 << 40) + at + j;
            hits += tamis_filter_contains_many_u64(filter, keys, CHUNK, NULL);
        }
        assert_rate("balanced-bloom against info", hits, 4000000, info.fpr, 0);
        printf("# %.0f bits per key: planned %.3e, info %.3e\n", bits[i], plan.fpr, info.fpr);
        /* Keys that a false positive hides are missing from the loads: the rate is lower by then. */
        assert_true(fabs(info.fpr / plan.fpr - 1) < 0.03 + 2 * plan.fpr);
        tamis_filter_free(filter);
    }
}

/* The claim: at 32 bits per key at most 1/20 of the blocked filter's error, for 1.25 reads per insert. */
static void test_balanced_beats_blocked_twenty_times(void **state) {
    (void)state;
    const tamis_plan plan = plan_for(TAMIS_BALANCE_MHT, 1.2, 32, 400000);
    tamis_filter *const filter = filled(&plan.params, test_seed(), 400000);
    const tamis_info info = test_info(filter);
    double blocked;
    assert_ok(tamis_model_blocked(256, 8, 22, &blocked));
    printf("# MHT %.3e, blocked %.3e: 1/%.1f; %.3f reads per insert, %.3f per negative query\n",
           info.fpr, blocked, blocked / info.fpr, info.reads_per_insert, info.reads_per_query);
    assert_true(info.fpr * 20 <= blocked);
    assert_true(info.reads_per_insert <= 1.25);
    tamis_filter_free(filter);
}

/* Beyond the capacity nothing is refused, and the error rate rises step by step. */
static void test_balanced_overload_rises_smoothly(void **state) {
    (void)state;
    const tamis_plan plan = plan_for(TAMIS_BALANCE_MHT, 1.2, 16, KEYS);
    double before = 0;
    for (uint64_t n = KEYS / 2; n <= 3 * KEYS; n += KEYS / 4) {
        tamis_filter *const filter = filled(&plan.params, test_seed(), n);
        const tamis_info info = test_info(filter);
        for (uint64_t key = 0; key < n; key++)
            assert_true(tamis_filter_contains_u64(filter, key));
        printf("# %3.0f %% of the capacity: error rate %.2e, %.2f reads per query\n",
               100.0 * (double)n / KEYS, info.fpr, info.reads_per_query);
        assert_true(info.fpr > before && (before == 0 || info.fpr < 40 * before));
        before = info.fpr;
        tamis_filter_free(filter);
    }
}

/* The blocks of choice i of an MHT filter: one for each sub-table, and the rest by weight. */
static uint64_t subtable_end(const uint64_t *v, uint64_t i) {
    uint64_t sum = 0, before = 0, weight = (uint64_t)1 << 32;
    for (uint64_t j = 0; j < v[TAMIS_BALANCED_BLOOM_CHOICES]; j++) {
        sum += weight;
        before += j < i ? weight : 0;
        weight = weight * v[TAMIS_BALANCED_BLOOM_RATIO] >> 32;
    }
    const uint64_t spare = v[TAMIS_BALANCED_BLOOM_BLOCKS] - v[TAMIS_BALANCED_BLOOM_CHOICES];
    return i + tamis_i_share(spare, before, sum);
}

/* Look for a key of an MHT filter without budget, block by block, and count the blocks.  Written from the
 * description of the structure, and slow. */
static bool walk(const tamis_filter *filter, tamis_digest digest, unsigned *reads) {
    const uint64_t *const v = filter->params.value;
    tamis_i_counted_block layout = {.words = (unsigned)(v[TAMIS_BALANCED_BLOOM_BLOCK_BITS] / 64),
                                    .hashes = (unsigned)v[TAMIS_BALANCED_BLOOM_HASHES]};
    while (v[TAMIS_BALANCED_BLOOM_LOAD_MAX] >> layout.first != 0)
        layout.first++;
    layout.bits = 64 * layout.words - layout.first;
    for (*reads = 0; *reads < v[TAMIS_BALANCED_BLOOM_CHOICES];) {
        const uint64_t first = subtable_end(v, *reads), end = subtable_end(v, *reads + 1);
        uint64_t word = tamis_i_word(digest, *reads == 0 ? 0 : *reads + 1);
        const uint64_t *const block =
            filter->table + (first + tamis_i_take(&word, end - first)) * layout.words;
        const uint64_t load = tamis_i_counted_block_counter(&layout, block);
        bool here = true;
        for (unsigned i = 0; i < layout.hashes && here; i++)
            here = tamis_i_bit_get(block, tamis_i_counted_block_place(&layout, digest.hi, i));
        ++*reads;
        if (here)
            return true;
        if (load + 1 < v[TAMIS_BALANCED_BLOOM_LOAD_MAX] ||
            (load + 1 == v[TAMIS_BALANCED_BLOOM_LOAD_MAX] &&
             word >> 32 < v[TAMIS_BALANCED_BLOOM_COIN]))
            return false;
    }
    return tamis_i_stash_copies(&filter->stash, digest) != 0;
}

/* Blocks read by queries of keys from 'first' on; the answers are those of the filter. */
static double reads_of(const tamis_filter *filter, uint64_t first, uint64_t n, double *error) {
    double sum = 0, squares = 0;
    for (uint64_t key = first; key < first + n; key++) {
        const tamis_digest digest = test_hash_u64(filter->params.seed, key);
        unsigned reads;
        assert_int_equal(walk(filter, digest, &reads),
                         tamis_filter_contains_digest(filter, digest));
        sum += reads;
        squares += (double)reads * reads;
    }
    const double mean = sum / (double)n;
    *error = sqrt(fmax(0, squares / (double)n - mean * mean) / (double)n);
    return mean;
}

/* Reads against load: of inserts as info counts them, of present and of absent keys as they are walked.  A
 * present key reads as many blocks as its insert did, except that a false positive may end it earlier; so
 * the difference is below that of two error rates. */
static void test_balanced_reads_are_as_counted(void **state) {
    (void)state;
    static const double bits[] = {16, 32};
    const char *const text = getenv("TAMIS_BALANCED_BLOOM_KEYS");
    const uint64_t capacity = text == NULL ? 40000 : strtoull(text, NULL, 10) / CHUNK * CHUNK;
    assert_true(capacity >= CHUNK);
    printf("# bits/key  load  insert  present  absent (info)   error rate\n");
    for (unsigned i = 0; i < 2; i++) {
        const tamis_plan plan = plan_for(TAMIS_BALANCE_MHT, 1.2, bits[i], capacity);
        for (uint64_t percent = 20; percent <= 100; percent += percent < 60 ? 20 : 10) {
            const uint64_t n = capacity * percent / 100 / CHUNK * CHUNK;
            tamis_filter *const filter = filled(&plan.params, test_seed() + i, n);
            const tamis_info info = test_info(filter);
            double error, present_error;
            const double present = reads_of(filter, 0, n, &present_error);
            const double absent = reads_of(filter, (uint64_t)1 << 40, capacity, &error);
            printf("# %8.0f %4u %% %7.3f %8.3f %7.3f (%.3f) %10.1e\n", bits[i], (unsigned)percent,
                   info.reads_per_insert, present, absent, info.reads_per_query, info.fpr);
            assert_true(fabs(present - info.reads_per_insert) <= 2 * info.fpr + 1e-4);
            assert_true(fabs(absent - info.reads_per_query) <= 4.5 * error + 1e-9);
            tamis_filter_free(filter);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_balanced_schemes_follow_their_theorems),
        cmocka_unit_test(test_balanced_rate_is_as_planned),
        cmocka_unit_test(test_balanced_beats_blocked_twenty_times),
        cmocka_unit_test(test_balanced_overload_rises_smoothly),
        cmocka_unit_test(test_balanced_reads_are_as_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
