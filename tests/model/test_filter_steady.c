/* test_filter_steady.c - the steady filter under churn, against its models
 *
 * A filter at its capacity changes without end: a random key goes, a new one comes.  At intervals the error
 * rate is measured by queries, the share of spilled keys and of cut buckets is compared with the model, and
 * the stash must be empty.  In the end every key is there and every copy counted.
 *
 * What the model takes for granted is measured likewise: that no bucket of the back exceeds the mean one by
 * more than MARGIN slots, and that no more keys are away than it says with homes that come back late.
 *
 * TAMIS_TEST_LONG=1 takes more keys and replacements, TAMIS_TEST_ONLY=*constants* only tests of such names.
 * TAMIS_TEST_CURVE=FILE writes the error rate and what spilled after every 10^7 of TAMIS_TEST_OPERATIONS
 * (default 10^9) operations at 90 to 100 % of the capacity.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "bits/spill.h"
#include "filter/filter.h"
#include "model/steady.h"
#include "tamis/model.h"

#include <math.h>

_Static_assert(TAMIS_I_STEADY_RETURNS == TAMIS_I_SPILL_RETURNS, "the model is of another engine");

static tamis_digest draw(uint64_t *random) {
    return (tamis_digest){.lo = test_random(random), .hi = test_random(random)};
}

static uint64_t errors(const tamis_filter *f, uint64_t *random, uint64_t queries) {
    uint64_t hits = 0;
    for (uint64_t i = 0; i < queries; i++)
        hits += tamis_filter_contains_digest(f, draw(random));
    return hits;
}

static tamis_steady_shape shape_of(const tamis_params *p) {
    tamis_steady_shape s;
    tamis_steady_shape_init(&s);
    s.buckets = p->value[TAMIS_STEADY_BUCKETS];
    s.bucket_bits = (unsigned)p->value[TAMIS_STEADY_BUCKET_BITS];
    s.homes = (unsigned)p->value[TAMIS_STEADY_HOMES];
    s.fp_bits = (unsigned)p->value[TAMIS_STEADY_FINGERPRINT_BITS];
    s.spill_buckets = p->value[TAMIS_STEADY_SPILL_BUCKETS];
    s.spill_bits = (unsigned)p->value[TAMIS_STEADY_SPILL_BITS];
    s.origin_bits = (unsigned)p->value[TAMIS_STEADY_ORIGIN_BITS];
    s.extra_bits =
        (unsigned)(p->value[TAMIS_STEADY_VALUE_BITS] + p->value[TAMIS_STEADY_COUNTER_BITS]);
    return s;
}

/* The shares of keys that have spilled, and of buckets that have given homes away. */
static void measure(const tamis_filter *f, double *spilled, double *cut) {
    const tamis_i_spill *const s = (const tamis_i_spill *)(const void *)f->geometry;
    uint64_t load = 0, n = 0;
    for (uint64_t i = 0; i < s->n_front; i++) {
        const tamis_i_run_load l = s->front_ops->count(&s->front, f->table + i * s->front.words);
        load += l.load;
        n += l.held < s->front.homes;
    }
    *cut = (double)n / (double)s->n_front;
    *spilled = 1 - (double)load / (double)tamis_filter_count(f);
}

static void churn(tamis_order order, uint64_t n, double fpr, unsigned rounds) {
    uint64_t random = test_seed() + n + (uint64_t)order, hits = 0;
    const uint64_t queries = (uint64_t)(400 / fpr);
    tamis_need need = test_need(TAMIS_KIND_STEADY, n, fpr);
    need.deletes = true;
    need.order = order;
    tamis_plan plan = test_planned(&need);
    tamis_filter *f;
    tamis_digest *const keys = malloc((size_t)n * sizeof *keys);
    assert_non_null(keys);
    plan.params.seed = test_seed();
    assert_ok(tamis_filter_create(&plan.params, NULL, &f));
    for (uint64_t i = 0; i < n; i++) {
        keys[i] = draw(&random);
        assert_ok(tamis_filter_insert_digest(f, keys[i], NULL));
    }
    for (unsigned round = 0; round < rounds; round++) {
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t at = test_random_below(&random, n);
            assert_ok(tamis_filter_remove_digest(f, keys[at]));
            keys[at] = draw(&random);
            assert_ok(tamis_filter_insert_digest(f, keys[at], NULL));
        }
        hits += errors(f, &random, queries);
    }
    const tamis_steady_shape shape = shape_of(&plan.params);
    double spilled, cut, model_spilled, model_cut;
    assert_ok(tamis_model_steady_spilled(&shape, n, &model_spilled, &model_cut));
    measure(f, &spilled, &cut);
    printf("# order %d, n = %llu, p = %g: %.3f bits above the bound; spilled %.4f, model %.4f; "
           "cut %.4f, model %.4f; stash %llu\n",
           (int)order, (unsigned long long)n, fpr, plan.bits_per_key - plan.bound_bits_per_key,
           spilled, model_spilled, cut, model_cut, (unsigned long long)test_info(f).stash_used);
    /* A bucket that spills gives away some sqrt(mean) slots, give or take as many. */
    const double mean = (double)n / (double)shape.buckets;
    const double scatter = sqrt(model_cut * (double)shape.buckets * mean) / (double)n;
    assert_true(fabs(spilled - model_spilled) <= 0.03 * model_spilled + 5 * scatter);
    assert_true(fabs(cut - model_cut) < 0.04 + 5 / sqrt((double)shape.buckets));
    assert_int_equal(test_info(f).stash_used, 0);
    assert_rate("error rate under churn", hits, rounds * queries, plan.fpr, 0);
    assert_true(fabs(test_info(f).fpr / plan.fpr - 1) < 0.005);
    for (uint64_t i = 0; i < n; i++)
        assert_true(tamis_filter_contains_digest(f, keys[i]));
    for (uint64_t i = 0; i < n; i++)
        assert_ok(tamis_filter_remove_digest(f, keys[i]));
    assert_int_equal(tamis_filter_count(f), 0);
    free(keys);
    tamis_filter_free(f);
}

static void test_steady_stays_as_planned(void **state) {
    (void)state;
    const bool all = getenv("TAMIS_TEST_LONG") != NULL;
    const uint64_t n = all ? 1000000 : 30000;
    for (int order = TAMIS_ORDER_BYTES; order <= TAMIS_ORDER_LINES; order++) {
        churn((tamis_order)order, n, 0.01, all ? 20 : 3);
        churn((tamis_order)order, n, 0.001, all ? 20 : 3);
        if (all) {
            churn((tamis_order)order, n, 1e-4, 20);
            churn((tamis_order)order, n / 100, 1e-5, 20);
        }
    }
    for (uint64_t few = 100; few < 5000; few = few * 7 / 2)
        churn(TAMIS_ORDER_BYTES, few, 0.01, 10);
}

/* Slots by which the fullest bucket of the back exceeds the mean one. */
static double excess(const tamis_filter *f) {
    const tamis_i_spill *const s = (const tamis_i_spill *)(const void *)f->geometry;
    const uint64_t *const back = f->table + s->n_front * s->front.words;
    uint64_t sum = 0, most = 0;
    for (uint64_t i = 0; i < s->n_back; i++) {
        const uint64_t load = s->back_ops->count(&s->back, back + i * s->back.words).load;
        sum += load;
        most = load > most ? load : most;
    }
    return (double)most - (double)sum / (double)s->n_back;
}

/* Both, over so many replacements, of which the first makes it steady. */
static void constants(tamis_order order, uint64_t n, double fpr, unsigned rounds) {
    uint64_t random = test_seed() + 3 * n + (uint64_t)order, next = 0;
    tamis_need need = test_need(TAMIS_KIND_STEADY, n, fpr);
    need.deletes = true;
    need.order = order;
    tamis_plan plan = test_planned(&need);
    tamis_filter *f;
    uint64_t *const keys = malloc((size_t)n * sizeof *keys);
    assert_non_null(keys);
    plan.params.seed = test_seed();
    assert_ok(tamis_filter_create(&plan.params, NULL, &f));
    for (; next < n; next++) {
        keys[next] = next;
        assert_ok(tamis_filter_insert_u64(f, next, NULL));
    }
    const tamis_steady_shape shape = shape_of(&plan.params);
    double model, cut, away = 0, most = 0;
    unsigned moments = 0;
    assert_ok(tamis_model_steady_spilled(&shape, n, &model, &cut));
    for (uint64_t i = 1; i <= rounds * n; i++) {
        uint64_t *const key = &keys[test_random_below(&random, n)];
        assert_ok(tamis_filter_remove_u64(f, *key));
        *key = next++;
        assert_ok(tamis_filter_insert_u64(f, *key, NULL));
        if (i > n && i % (n / 4) == 0) {
            double spilled, now;
            measure(f, &spilled, &now);
            away += spilled;
            most = fmax(most, excess(f));
            moments++;
        }
    }
    away /= moments;
    printf(
        "# order %d, n = %llu, p = %g: %llu buckets of the back, of %llu slots, the fullest %.1f "
        "above the mean; %.4f away, %.3f of the model\n",
        (int)order, (unsigned long long)n, fpr, (unsigned long long)shape.spill_buckets,
        (unsigned long long)((const tamis_i_spill *)(const void *)f->geometry)->back.slots, most,
        away, away / model);
    assert_true(most <= TAMIS_I_STEADY_MARGIN);
    /* What moments have in common does not average out: the scatter is that of one of them. */
    const double mean = (double)n / (double)shape.buckets;
    assert_true(away <= model + 4 * sqrt(cut * (double)shape.buckets * mean) / (double)n);
    /* Of many keys with fingerprints of a few bits, some have five copies, and the fifth is in the stash. */
    if (fpr < 0.05)
        assert_int_equal(test_info(f).stash_used, 0);
    free(keys);
    tamis_filter_free(f);
}

static void test_steady_constants_hold(void **state) {
    (void)state;
    const bool all = getenv("TAMIS_TEST_LONG") != NULL;
    for (int order = TAMIS_ORDER_BYTES; order <= TAMIS_ORDER_LINES; order++) {
        constants((tamis_order)order, 50000, 0.001, 3);
        for (double fpr = 0.1; all && fpr > 5e-7; fpr /= 10)
            constants((tamis_order)order, 1000000, fpr, 6);
        if (all)
            constants((tamis_order)order, 30000000, 1e-4, 2);
    }
}

/* A back of a multiple of as many buckets as a bucket has homes gets all last homes in a part of them: so it
 * was planned for 15,870,000 keys at 1e-5, and was full before they were in. */
static void test_steady_back_is_even(void **state) {
    (void)state;
    unsigned seen = 0;
    for (int order = TAMIS_ORDER_BYTES; order <= TAMIS_ORDER_LINES; order++)
        for (double fpr = 0.01; fpr > 5e-6; fpr /= 10)
            for (uint64_t n = 20000; n < 20000000; n = n * 5 / 4) {
                tamis_need need = test_need(TAMIS_KIND_STEADY, n, fpr);
                need.deletes = true;
                need.order = (tamis_order)order;
                const tamis_plan plan = test_planned(&need);
                const tamis_steady_shape shape = shape_of(&plan.params);
                if (shape.spill_buckets <= 2)
                    continue;
                assert_true(shape.homes == 1 || shape.spill_buckets % shape.homes != 0);
                assert_int_equal(tamis_i_model_steady_even(&shape), shape.spill_buckets);
                seen++;
            }
    assert_true(seen > 100);
    tamis_steady_shape shape;
    tamis_steady_shape_init(&shape);
    shape.buckets = 272086;
    shape.homes = 89;
    shape.origin_bits = 3;
    shape.spill_buckets = 8544; /* 96 x 89 */
    assert_int_equal(tamis_i_model_steady_even(&shape), 8545);
}

/* Odds that can be observed: shapes whose back is too small fail, the model says how often at most. */
static void test_steady_overflow_is_bounded(void **state) {
    (void)state;
    const uint64_t n = 4000;
    uint64_t random = test_seed() + 5;
    tamis_need need = test_need(TAMIS_KIND_STEADY, n, 0.01);
    need.order = TAMIS_ORDER_LINES;
    tamis_plan plan = test_planned(&need);
    unsigned compared = 0;
    for (uint64_t back = 1; back <= plan.params.value[TAMIS_STEADY_SPILL_BUCKETS]; back++) {
        tamis_params p = plan.params;
        p.value[TAMIS_STEADY_SPILL_BUCKETS] = back;
        const tamis_steady_shape shape = shape_of(&p);
        double odds;
        if (tamis_model_steady_overflow(&shape, n, &odds) != TAMIS_OK)
            continue;
        const unsigned filters = 300;
        unsigned failed = 0;
        for (unsigned i = 0; i < filters; i++) {
            tamis_filter *f;
            p.seed = test_random(&random) | 1;
            assert_ok(tamis_filter_create(&p, NULL, &f));
            for (uint64_t k = 0; k < n; k++) /* none more once the stash is full, too */
                if (tamis_filter_insert_digest(f, draw(&random), NULL) != TAMIS_OK)
                    break;
            failed += test_info(f).stash_used != 0;
            tamis_filter_free(f);
        }
        printf(
            "# %llu buckets of the back: a key without a place in %u of %u filters, bound %.3g\n",
            (unsigned long long)back, failed, filters, odds);
        /* 99.9 %: three standard errors and one. */
        const double mean = filters * fmin(odds, 1);
        assert_true(failed <= mean + 3.3 * sqrt(mean) + 3);
        compared++;
    }
    assert_true(compared >= 2);
}

/* The error rate over very many operations, as a curve. */
static void test_steady_curve(void **state) {
    (void)state;
    const char *const path = getenv("TAMIS_TEST_CURVE");
    if (path == NULL)
        return;
    const char *const asked = getenv("TAMIS_TEST_OPERATIONS");
    const uint64_t all = asked != NULL ? strtoull(asked, NULL, 10) : 1000000000, step = 10000000;
    const uint64_t n = 100000, queries = 20000000;
    uint64_t random = test_seed(), in = 0;
    tamis_need need = test_need(TAMIS_KIND_STEADY, n, 0.01);
    need.deletes = true;
    need.order = TAMIS_ORDER_LINES;
    tamis_plan plan = test_planned(&need);
    tamis_filter *f;
    tamis_digest *const keys = malloc((size_t)n * sizeof *keys);
    FILE *const out = fopen(path, "w");
    assert_non_null(keys);
    assert_non_null(out);
    plan.params.seed = test_seed();
    assert_ok(tamis_filter_create(&plan.params, NULL, &f));
    double first = 0, last = 0;
    bool rises = true;
    for (uint64_t done = 0; done < all;) {
        for (uint64_t i = 0; i < step; i++, done++) { /* between 90 and 100 % of the capacity */
            rises = in == n ? false : in <= n * 9 / 10 ? true : rises;
            if (rises == (test_random_below(&random, 4) != 0) && in < n) {
                keys[in] = draw(&random);
                assert_ok(tamis_filter_insert_digest(f, keys[in++], NULL));
            } else if (in > 0) {
                const uint64_t at = test_random_below(&random, in);
                assert_ok(tamis_filter_remove_digest(f, keys[at]));
                keys[at] = keys[--in];
            }
        }
        double spilled, cut;
        measure(f, &spilled, &cut);
        /* Of a filter with 'in' keys, as if it were full. */
        const double rate =
            (double)errors(f, &random, queries) / (double)queries * (double)n / (double)in;
        fprintf(out, "%llu %llu %.6g %.5g %.5g %llu\n", (unsigned long long)done,
                (unsigned long long)in, rate, spilled, cut,
                (unsigned long long)test_info(f).stash_used);
        fflush(out);
        first = first == 0 ? rate : first;
        last = rate;
        assert_true(fabs(rate / plan.fpr - 1) < 0.02);
    }
    printf("# planned %.6g, first %.6g, last %.6g\n", plan.fpr, first, last);
    for (uint64_t i = 0; i < in; i++)
        assert_true(tamis_filter_contains_digest(f, keys[i]));
    assert_int_equal(tamis_filter_count(f), in);
    fclose(out);
    free(keys);
    tamis_filter_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steady_stays_as_planned),
        cmocka_unit_test(test_steady_constants_hold),
        cmocka_unit_test(test_steady_back_is_even),
        cmocka_unit_test(test_steady_overflow_is_bounded),
        cmocka_unit_test(test_steady_curve),
    };
    const char *const only = getenv("TAMIS_TEST_ONLY");
    if (only != NULL)
        cmocka_set_test_filter(only);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
