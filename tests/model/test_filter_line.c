/* test_filter_line.c - error rates of real 'line' and 'line-set' filters against the model
 *
 * Three figures of one filter: that of the model, that which 'info' counts in its table, and that which
 * queries find.  Tables scatter around the model's mean because their lines have different loads; by how
 * much is told by the model too.
 *
 * TAMIS_LINE_QUERIES=100000000 measures the rates beside a Bloom filter of the same size with queries,
 * too.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <math.h>

#include "tamis/model.h"

enum { KEYS = 100000, QUERIES = 1000000, CHUNK = 10000 };

static tamis_digest digest_at(uint64_t *state) {
    tamis_digest d = {test_random(state), 0};
    d.hi = test_random(state);
    return d;
}

static tamis_filter *make(tamis_kind kind, double bits, unsigned homes, unsigned fp_bits_max,
                          unsigned limit, tamis_line_shape *shape) {
    tamis_filter *filter;
    tamis_params params = test_bare_params(kind, KEYS, 1);
    params.value[TAMIS_LINE_LINES] = (uint64_t)(KEYS * bits / 512);
    params.value[TAMIS_LINE_HOMES] = homes;
    params.value[TAMIS_LINE_BITS_MAX] = fp_bits_max;
    if (limit != 0)
        params.value[TAMIS_LINE_LIMIT] = limit;
    assert_ok(tamis_filter_create(&params, NULL, &filter));
    tamis_line_shape_init(shape);
    shape->lines = params.value[TAMIS_LINE_LINES];
    shape->homes = homes;
    shape->fp_bits_max = fp_bits_max;
    shape->header_bits = kind == TAMIS_KIND_LINE ? 9 : 0;
    shape->set = kind == TAMIS_KIND_LINE_SET;
    shape->passes_on = limit != 0;
    shape->load_max = limit;
    return filter;
}

/* Standard deviation of the mean rate of a table, from the loads of its lines. */
static double scatter(const tamis_line_shape *s, double mean) {
    double squares = 0;
    const unsigned most = (512 - s->header_bits - s->homes) / 2;
    for (unsigned load = 1; load <= most; load++) {
        double p, rate;
        assert_ok(tamis_model_binomial(KEYS, 1 / (double)s->lines, load, &p));
        assert_ok(tamis_model_line_load(s, load, &rate));
        squares += p * rate * rate;
    }
    return sqrt((squares - mean * mean) / (double)s->lines);
}

/* The same of lines that pass on.  With r the mean rate of the lines and f the share of full ones, the rate
 * of the table is r / (1 - f); a line that is full adds its own rate and, as a way to others, that of the
 * table. */
static double scatter_passing_on(const tamis_line_shape *s, double fpr) {
    double query, insert, squares = 0, sum = 0, below = 0;
    assert_ok(tamis_model_line_reads(s, KEYS, &query, &insert));
    const double mean = insert * KEYS / (double)s->lines;
    for (unsigned load = 0; load <= s->load_max; load++) {
        double p, rate;
        assert_ok(tamis_model_poisson(mean, load, &p));
        assert_ok(tamis_model_line_load(s, load, &rate));
        if (load == s->load_max) {
            p = 1 - below;
            rate += fpr;
        }
        below += p;
        sum += p * rate;
        squares += p * rate * rate;
    }
    return sqrt((squares - sum * sum) / (double)s->lines) * query;
}

static double counted(const tamis_filter *filter) {
    const tamis_info info = test_info(filter);
    return info.fpr;
}

static void insert_all(tamis_filter *filter, tamis_digest *keys, uint64_t *random) {
    size_t done;
    for (size_t i = 0; i < KEYS; i++)
        keys[i] = digest_at(random);
    assert_ok(tamis_filter_insert_many_digest(filter, keys, KEYS, NULL, &done));
    assert_int_equal(done, KEYS);
}

static uint64_t wrong_answers(const tamis_filter *filter, uint64_t *random) {
    static tamis_digest asked[CHUNK];
    uint64_t hits = 0;
    for (size_t at = 0; at < QUERIES; at += CHUNK) {
        for (size_t i = 0; i < CHUNK; i++)
            asked[i] = digest_at(random);
        hits += tamis_filter_contains_many_digest(filter, asked, CHUNK, NULL);
    }
    return hits;
}

static void compare(tamis_kind kind, double bits, unsigned homes, unsigned limit,
                    double neglected) {
    uint64_t random = test_seed() + (uint64_t)bits;
    tamis_line_shape shape;
    double fpr;
    tamis_filter *const filter = make(kind, bits, homes, 56, limit, &shape);
    tamis_digest *const keys = malloc(KEYS * sizeof *keys);
    assert_non_null(keys);
    insert_all(filter, keys, &random);
    assert_ok(tamis_model_line_fpr(&shape, KEYS, &fpr));
    const double table = counted(filter);
    const double error = limit != 0 ? scatter_passing_on(&shape, fpr) : scatter(&shape, fpr);
    char what[80];
    (void)snprintf(what, sizeof what, "%s, %g bits per key, limit %u", tamis_kind_name(kind), bits,
                   limit);
    print_message("%s: model %.4e, table %.4e (%.1f)\n", what, fpr, table, (table - fpr) / error);
    assert_true(fabs(table - fpr) <= 4.5 * error + neglected * fpr);
    if (table * QUERIES >= 20)
        assert_rate(what, wrong_answers(filter, &random), QUERIES, table, 0);
    free(keys);
    tamis_filter_free(filter);
}

static void test_line_error_rate_from_6_to_32_bits_is_that_of_the_model(void **state) {
    (void)state;
    static const double bits[] = {6, 8, 10, 12, 14, 16, 20, 24, 32};
    static const unsigned homes[] = {128, 96, 80, 64, 64, 64, 48, 48, 40};
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        compare(TAMIS_KIND_LINE, bits[i], homes[i], 0, 0);
        /* That fingerprints of a run differ in a set is neglected: 1 % at 6 bits per key. */
        compare(TAMIS_KIND_LINE_SET, bits[i], homes[i], 0, bits[i] < 8 ? 0.015 : 0.002);
    }
}

static void test_line_error_rate_with_a_limit_is_that_of_the_model(void **state) {
    (void)state;
    compare(TAMIS_KIND_LINE_SET, 12, 64, 50, 0.002);
    compare(TAMIS_KIND_LINE_SET, 14, 64, 44, 0.002);
    compare(TAMIS_KIND_LINE_SET, 16, 64, 37, 0.002);
    compare(TAMIS_KIND_LINE_SET, 20, 48, 30, 0.002);
    compare(TAMIS_KIND_LINE_SET, 24, 48, 24, 0.002);
    compare(TAMIS_KIND_LINE_SET, 32, 40, 20, 0.002);
}

/* Halves of a planned set, with and without keys in common, become one that finds all keys and keeps the
 * promise. */
static void test_line_planned_parts_merge(void **state) {
    (void)state;
    static const double rates[] = {1e-4, 1e-5, 1e-6};
    for (unsigned i = 0; i < 3; i++)
        for (unsigned shares = 0; shares < 3; shares++) {
            tamis_filter *part[2];
            const tamis_need need = test_need(TAMIS_KIND_LINE_SET, KEYS, rates[i]);
            tamis_plan plan = test_planned(&need);
            assert_true(plan.params.value[TAMIS_LINE_LIMIT] != 0 && plan.lines_per_query > 1);
            plan.params.seed = 7;
            for (unsigned k = 0; k < 2; k++)
                assert_ok(tamis_filter_create(&plan.params, NULL, &part[k]));
            const uint64_t first = KEYS * (2 + 3 * shares) / 10;
            for (uint64_t key = 0; key < KEYS; key++) {
                assert_ok(tamis_filter_insert_u64(part[key >= first], key, NULL));
                if (key % 8 == 0 && shares == 1)
                    assert_ok(tamis_filter_insert_u64(part[key < first], key, NULL));
            }
            assert_ok(tamis_filter_merge(part[0], part[1], TAMIS_MERGE_BEYOND));
            for (uint64_t key = 0; key < KEYS; key++)
                assert_true(tamis_filter_contains_u64(part[0], key));
            print_message("promised %.2e, merged %.2e\n", plan.fpr, counted(part[0]));
            assert_true(counted(part[0]) <= 1.05 * plan.fpr);
            tamis_filter_free(part[0]);
            tamis_filter_free(part[1]);
        }
}

/* Replace every key 'rounds' times, each time one drawn at random. */
static void replace(tamis_filter *filter, tamis_digest *keys, size_t n, unsigned rounds,
                    uint64_t *random) {
    for (size_t k = 0; k < rounds * n; k++) {
        tamis_digest *const key = &keys[test_random_below(random, n)];
        assert_ok(tamis_filter_remove_digest(filter, *key));
        *key = digest_at(random);
        assert_ok(tamis_filter_insert_digest(filter, *key, NULL));
    }
}

/* Every key replaced ROUNDS times, each time one drawn at random; 3 % for what the model neglects. */
static void test_line_error_rate_after_churn_is_that_of_the_model(void **state) {
    (void)state;
    enum { ROUNDS = 5 };
    static const double bits[] = {8, 12, 16};
    static const unsigned homes[] = {96, 64, 64};
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        uint64_t random = test_seed() + 99 + i;
        tamis_line_shape shape;
        double fpr, before;
        tamis_filter *const filter = make(TAMIS_KIND_LINE, bits[i], homes[i], 56, 0, &shape);
        tamis_digest *const keys = malloc(KEYS * sizeof *keys);
        assert_non_null(keys);
        insert_all(filter, keys, &random);
        replace(filter, keys, KEYS, ROUNDS, &random);
        for (size_t k = 0; k < KEYS; k++)
            assert_true(tamis_filter_contains_digest(filter, keys[k]));
        assert_ok(tamis_model_line_fpr(&shape, KEYS, &before));
        assert_ok(tamis_model_line_churned(&shape, KEYS, ROUNDS, &fpr));
        const double table = counted(filter);
        /* The rates of lines scatter about as before, in proportion. */
        const double error = scatter(&shape, before) * fpr / before;
        print_message("%g bits per key, %d rounds: model %.4e, table %.4e (%.3f)\n", bits[i],
                      ROUNDS, fpr, table, table / fpr);
        assert_true(fabs(table - fpr) <= 0.03 * fpr + 4.5 * error);
        free(keys);
        tamis_filter_free(filter);
    }
}

/* The promise for R replacements holds at each moment until then.  One filter of each: its rate scatters by
 * a few percent, and at 10 replacements, where the promise is nearest, it is 7 to 20 % below. */
static void test_line_promise_holds_for_its_replacements(void **state) {
    (void)state;
    enum { N = 10000 };
    static const double rates[] = {1e-2, 1e-3, 1e-5};
    static const unsigned asked[] = {10, 50, 150};
    static tamis_digest keys[N];
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
            uint64_t random = test_seed() + 7 * i + k;
            tamis_filter *filter;
            tamis_need need = test_need(TAMIS_KIND_LINE, N, rates[i]);
            need.replacements = asked[k];
            const tamis_plan plan = test_planned(&need);
            assert_int_equal(plan.replacements, asked[k]);
            assert_ok(tamis_filter_create(&plan.params, NULL, &filter));
            for (size_t j = 0; j < N; j++) {
                keys[j] = digest_at(&random);
                assert_ok(tamis_filter_insert_digest(filter, keys[j], NULL));
            }
            double worst = counted(filter);
            for (unsigned round = 0; round < asked[k]; round += 10) {
                replace(filter, keys, N, 10, &random);
                worst = fmax(worst, counted(filter));
            }
            print_message("promised %.2e for %u replacements, %.2f bits per key: %.3f of it\n",
                          plan.fpr, asked[k], plan.bits_per_key, worst / plan.fpr);
            assert_true(worst <= plan.fpr);
            tamis_filter_free(filter);
        }
}

/* Plans keep their promise from 10 keys on: the mean over many filters, each counted. */
static void test_line_plans_keep_their_promise(void **state) {
    (void)state;
    static const uint64_t n[] = {10, 100, 1000};
    static const double rates[] = {0.1, 0.01, 0.001, 0.0001};
    for (unsigned set = 0; set < 2; set++)
        for (size_t i = 0; i < sizeof n / sizeof n[0]; i++)
            for (size_t k = 0; k < sizeof rates / sizeof rates[0]; k++) {
                const unsigned trials = n[i] < 1000 ? 300 : 60;
                double sum = 0, squares = 0;
                const tamis_need need =
                    test_need(set ? TAMIS_KIND_LINE_SET : TAMIS_KIND_LINE, n[i], rates[k]);
                tamis_plan plan = test_planned(&need);
                assert_true(plan.fpr <= rates[k]);
                for (unsigned t = 0; t < trials; t++) {
                    tamis_filter *filter;
                    plan.params.seed = 1 + t;
                    assert_ok(tamis_filter_create(&plan.params, NULL, &filter));
                    for (uint64_t key = 0; key < n[i]; key++)
                        assert_ok(tamis_filter_insert_u64(filter, key, NULL));
                    const double table = counted(filter);
                    sum += table;
                    squares += table * table;
                    tamis_filter_free(filter);
                }
                const double mean = sum / trials;
                const double error = sqrt(fmax(squares / trials - mean * mean, 0) / trials);
                /* 1.5 %: a set of few bits per key, as above. */
                assert_true(mean <= plan.fpr * 1.015 + 4.5 * error);
            }
}

/* ---- beside a Bloom filter of the same size ---- */

/* Fill a filter of so many bits per key, as planned; its rate as counted in its table, and as queries find
 * it if there are queries. */
static void rate_at(tamis_kind kind, double bits, uint64_t queries, double *table,
                    double *measured) {
    enum { N = 400000 };
    static tamis_digest asked[CHUNK];
    tamis_filter *filter;
    uint64_t random = test_seed() + 31, hits = 0;
    tamis_need need = test_need(kind, N, 0);
    need.bytes = (uint64_t)(N * bits / 8);
    tamis_plan plan = test_planned(&need);
    assert_true((double)plan.bytes <= N * bits / 8);
    plan.params.seed = 5;
    assert_ok(tamis_filter_create(&plan.params, NULL, &filter));
    for (uint64_t i = 0; i < N; i++)
        assert_ok(tamis_filter_insert_digest(filter, digest_at(&random), NULL));
    for (uint64_t i = 0; i < queries; i += CHUNK) {
        for (size_t k = 0; k < CHUNK; k++)
            asked[k] = digest_at(&random);
        hits += tamis_filter_contains_many_digest(filter, asked, CHUNK, NULL);
    }
    *table = counted(filter);
    *measured = queries == 0 ? NAN : (double)hits / (double)queries;
    if (queries != 0)
        assert_rate(tamis_kind_name(kind), hits, queries, *table, 0.01);
    tamis_filter_free(filter);
}

/* What was aimed at, and for 'line' 1.12 times as much.  It misses the last by a fifth: fingerprints of
 * its fullest lines are too short there, and a multiset has no limit. */
static void test_line_errs_less_than_bloom(void **state) {
    (void)state;
    static const double bits[] = {8, 10, 12, 14, 16, 20, 24};
    static const double aim[] = {0.95, 0.72, 0.58, 0.50, 0.46, 0.48, 0.45};
    const char *const text = getenv("TAMIS_LINE_QUERIES");
    const uint64_t queries = text == NULL ? 0 : strtoull(text, NULL, 0);
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        double table[3], measured[3];
        rate_at(TAMIS_KIND_BLOOM, bits[i], queries, &table[0], &measured[0]);
        rate_at(TAMIS_KIND_LINE_SET, bits[i], queries, &table[1], &measured[1]);
        rate_at(TAMIS_KIND_LINE, bits[i], queries, &table[2], &measured[2]);
        print_message("%g bits per key: bloom %.3e, line-set %.3e (%.2f), line %.3e (%.2f)\n",
                      bits[i], table[0], table[1], table[1] / table[0], table[2],
                      table[2] / table[0]);
        if (queries != 0)
            print_message("       measured: bloom %.3e, line-set %.3e (%.2f), line %.3e (%.2f)\n",
                          measured[0], measured[1], measured[1] / measured[0], measured[2],
                          measured[2] / measured[0]);
        const double slack = bits[i] > 20 ? 1.2 : 1;
        assert_true(table[1] <= aim[i] * table[0]);
        assert_true(table[2] <= 1.12 * slack * aim[i] * table[0]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_error_rate_from_6_to_32_bits_is_that_of_the_model),
        cmocka_unit_test(test_line_error_rate_with_a_limit_is_that_of_the_model),
        cmocka_unit_test(test_line_planned_parts_merge),
        cmocka_unit_test(test_line_error_rate_after_churn_is_that_of_the_model),
        cmocka_unit_test(test_line_errs_less_than_bloom),
        cmocka_unit_test(test_line_promise_holds_for_its_replacements),
        cmocka_unit_test(test_line_plans_keep_their_promise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
