/* test_plan_tables.c - plans of d-left filters: as their models say, and no better than they promise
 *
 * With TAMIS_TEST_LONG=1 in the environment all entries of plan/dleft_tables.h are computed, compared and
 * printed, in some minutes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/dleft_tables.h"
#include "support.h"
#include "tamis/model.h"

#include <math.h>

enum { STATE = 18, TRIALS = 4 };

static bool all_entries(void) {
    return getenv("TAMIS_TEST_LONG") != NULL;
}

static unsigned entry_of(double fpr) {
    return (unsigned)floor(-TAMIS_I_TABLE_UNIT * log2(fpr));
}

/* The last digit may differ on another machine. */
static void assert_entry(double fpr, unsigned entry) {
    assert_in_range(entry, entry_of(fpr) - 1, entry_of(fpr) + 1);
}

/* ---- the tables ---- */

static void test_tables_offline_is_the_model(void **state) {
    enum { LOADS = 16 };
    static const tamis_model_rule rules[2] = {TAMIS_MODEL_RULE_64, TAMIS_MODEL_RULE_128};
    (void)state;
    const unsigned end = all_entries() ? TAMIS_I_BALANCED_LOADS : 63;
    for (unsigned i = all_entries() ? 0 : 4; i < end; i += all_entries() ? 1 : 29) {
        double fraction[2 * LOADS];
        assert_ok(tamis_model_dleft_balanced(tamis_i_balanced_load(i), 10, TAMIS_TIES_RANDOM, LOADS,
                                             fraction));
        for (unsigned k = 0; k < 2 && i < tamis_i_balanced_tables[k].n; k++) {
            unsigned bits[LOADS];
            double fpr, full = 0;
            assert_ok(tamis_model_dleft_rule(rules[k], LOADS, bits));
            for (unsigned j = 1; j < LOADS; j++)
                if (bits[j] == 0)
                    full += fraction[j] + fraction[LOADS + j];
            assert_true(full <= 1e-9); /* what the planner says */
            assert_ok(tamis_model_dleft_fpr(2, LOADS, fraction, bits, &fpr));
            assert_entry(fpr, tamis_i_balanced_tables[k].rate[i]);
            if (all_entries())
                printf("%u, %u: %u\n", tamis_i_balanced_tables[k].bits, i, entry_of(fpr));
        }
    }
}

static void test_tables_dynamic_is_the_model(void **state) {
    (void)state;
    for (unsigned k = 0; k < TAMIS_I_DYNAMIC_TABLES; k++) {
        const tamis_i_dynamic_table *const t = &tamis_i_dynamic_tables[k];
        const unsigned end = all_entries() ? TAMIS_I_DYNAMIC_LOADS : 90;
        for (unsigned i = all_entries() ? 0 : 3 * k; i < end; i += all_entries() ? 1 : 37) {
            const double load = tamis_i_dynamic_table_load(i);
            const unsigned least =
                tamis_i_dynamic_least(t->bits - STATE, tamis_i_dynamic_most(load));
            double filled, replaced;
            assert_ok(tamis_model_ddlcbf_two(3, load, 0, t->bits - STATE, 0, least, &filled));
            assert_ok(
                tamis_model_ddlcbf_two(3, load, 12 * load, t->bits - STATE, 0, least, &replaced));
            assert_entry(filled, t->filled[i]);
            assert_entry(replaced, t->replaced[i]);
            if (all_entries())
                printf("%u, %u: %u %u\n", t->bits, i, entry_of(filled), entry_of(replaced));
        }
    }
}

/* ---- plans and filters ---- */

static tamis_plan plan_for(tamis_kind kind, uint64_t n, double fpr, bool deletes, bool offline) {
    tamis_need need = test_need(kind, n, fpr);
    need.deletes = deletes;
    need.offline = offline;
    return test_planned(&need);
}

static double rate_of(tamis_filter *filter) {
    const tamis_info info = test_info(filter);
    tamis_filter_free(filter);
    return info.fpr;
}

/* The mean over TRIALS filters is not above the promise by more than four standard errors, nor less than
 * 'least' of it. */
static void assert_kept(const char *what, const tamis_plan *plan, const double *rates,
                        double least) {
    double sum = 0, squares = 0;
    for (unsigned t = 0; t < TRIALS; t++) {
        sum += rates[t] / plan->fpr;
        squares += rates[t] / plan->fpr * (rates[t] / plan->fpr);
    }
    const double mean = sum / TRIALS;
    const double error = sqrt(fmax(squares / TRIALS - mean * mean, 0) / (TRIALS - 1));
    printf("# %s, planned %.3g: %.3f +- %.3f of it\n", what, plan->fpr, mean, error);
    assert_true(mean <= 1 + 4 * error);
    assert_true(mean >= least - 4 * error);
}

static tamis_filter *filled(const tamis_params *params, uint64_t n, unsigned replacements,
                            uint64_t *random) {
    uint64_t *const keys = malloc(n * sizeof *keys), next = test_random(random);
    tamis_filter *filter = NULL;
    bool added;
    assert_non_null(keys);
    assert_ok(tamis_filter_create(params, NULL, &filter));
    for (uint64_t k = 0; k < n * (1 + replacements); k++) {
        uint64_t *const key = &keys[k < n ? k : test_random_below(random, n)];
        if (k >= n)
            assert_ok(tamis_filter_remove_u64(filter, *key));
        *key = next++;
        assert_ok(tamis_filter_insert_u64(filter, *key, &added));
    }
    free(keys);
    return filter;
}

/* What the steps of the table cost, and at rates over a percent the model, is given away; no more. */
static void test_plan_dynamic_promises_what_it_does(void **state) {
    static const double rates[] = {1e-2, 1e-3, 1e-5};
    uint64_t random = test_seed() + 17;
    (void)state;
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        for (unsigned deletes = 0; deletes < 2; deletes++) {
            const uint64_t n = deletes ? 10000 : 100000;
            tamis_plan plan = plan_for(TAMIS_KIND_DLEFT_DYNAMIC, n, rates[i], deletes != 0, false);
            double found[TRIALS];
            for (unsigned t = 0; t < TRIALS; t++) {
                plan.params.seed = test_random(&random) | 1;
                found[t] = rate_of(filled(&plan.params, n, deletes ? 10 : 0, &random));
            }
            assert_kept(deletes ? "dleft-dynamic, replaced ten times" : "dleft-dynamic, filled",
                        &plan, found, 0.9);
        }
}

static void test_plan_offline_promises_what_it_does(void **state) {
    /* The last ones are for so many keys per bucket, or so few, that the planner knows a bound only. */
    static const double rates[] = {2e-3, 1e-3, 1e-4, 1e-5, 1e-6, 0.1, 1e-2, 1e-8, 1e-10};
    enum { KEYS = 40000, KNOWN = 5 };
    uint64_t random = test_seed() + 18;
    tamis_digest *const digests = malloc(KEYS * sizeof *digests);
    (void)state;
    assert_non_null(digests);
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        tamis_plan plan = plan_for(TAMIS_KIND_DLEFT, KEYS, rates[i], false, true);
        double found[TRIALS];
        for (unsigned t = 0; t < TRIALS; t++) {
            tamis_filter *filter = NULL;
            plan.params.seed = test_random(&random) | 1;
            for (unsigned k = 0; k < KEYS; k++)
                digests[k] = test_hash_u64(plan.params.seed, k);
            assert_ok(tamis_filter_build_many(&plan.params, digests, KEYS, NULL, NULL, &filter));
            found[t] = rate_of(filter);
        }
        assert_kept("dleft, offline", &plan, found, i < KNOWN ? 0.95 : 0);
    }
    free(digests);
}

/* In a table of a few buckets the balance is worse than the model says, just where the load is a little
 * less than a whole number. */
static void test_plan_offline_small_tables_keep_the_promise(void **state) {
    static const struct {
        unsigned n;
        double fpr;
    } needs[] = {{19, 1e-3}, {30, 1e-4}, {31, 1e-8}, {54, 1e-8}};
    enum { BUILT = 1500, MOST = 64 };
    uint64_t random = test_seed() + 19;
    (void)state;
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        tamis_plan plan = plan_for(TAMIS_KIND_DLEFT, needs[i].n, needs[i].fpr, false, true);
        double sum = 0, squares = 0;
        for (unsigned t = 0; t < BUILT; t++) {
            tamis_digest digests[MOST];
            tamis_filter *filter = NULL;
            plan.params.seed = test_random(&random) | 1;
            for (unsigned k = 0; k < needs[i].n; k++)
                digests[k] = test_hash_u64(plan.params.seed, k);
            assert_ok(
                tamis_filter_build_many(&plan.params, digests, needs[i].n, NULL, NULL, &filter));
            const double share = rate_of(filter) / plan.fpr;
            sum += share;
            squares += share * share;
        }
        const double mean = sum / BUILT, error = sqrt((squares / BUILT - mean * mean) / BUILT);
        printf("# %u keys, planned %.3g: %.3f +- %.3f of it\n", needs[i].n, plan.fpr, mean, error);
        assert_true(mean <= 1 + 4 * error);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_offline_is_the_model),
        cmocka_unit_test(test_tables_dynamic_is_the_model),
        cmocka_unit_test(test_plan_dynamic_promises_what_it_does),
        cmocka_unit_test(test_plan_offline_promises_what_it_does),
        cmocka_unit_test(test_plan_offline_small_tables_keep_the_promise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
