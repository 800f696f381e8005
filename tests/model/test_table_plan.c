/* test_table_plan.c - plans of tables against the exact models, and against tables that are built
 *
 * SPDX-License-Identifier: MIT
 */
#include "plain_table.h"

#include "tamis/model.h"

static const tamis_i_summary_id ids[] = {TAMIS_I_SUMMARY_INTERPOLATION, TAMIS_I_SUMMARY_SINGLE,
                                         TAMIS_I_SUMMARY_MULTIPLE, TAMIS_I_SUMMARY_SINGLE_COUNTING,
                                         TAMIS_I_SUMMARY_MULTIPLE_COUNTING};
enum { N_IDS = sizeof ids / sizeof ids[0] };

static bool can_remove(tamis_i_summary_id id) {
    return tamis_i_summary_by_id((uint64_t)id)->remove != NULL;
}

/* The paper's tables come out, with a summary that is no larger than the paper's for the same promise. */
static void test_plan_finds_the_tables_of_the_paper(void **state) {
    (void)state;
    static const uint64_t n[2] = {10000, 100000};
    static const double odds[2] = {1e-11, 2.8e-11}; /* half of it is for crises */
    for (unsigned i = 0; i < 2; i++) {
        tamis_i_table_plan paper, ours;
        assert_ok(tamis_i_plan_table_paper(n[i], TAMIS_I_SUMMARY_MULTIPLE, &paper));
        const tamis_i_table_need need = {
            .n = n[i], .kind = TAMIS_I_SUMMARY_MULTIPLE, .odds = odds[i], .fpr = paper.fpr};
        assert_ok(tamis_i_plan_table(&need, &ours));
        /* For 100,000 items five sub-tables are enough for these odds. */
        assert_int_equal(ours.n_types, 5);
        for (unsigned j = 0; j < 4 + (i == 0); j++)
            assert_int_equal(ours.buckets[j], paper.buckets[j]);
        printf("# %u items: %.2f bits each, the paper %.2f; failure %.3g, the paper's %.3g\n",
               (unsigned)n[i], (double)ours.summary_bits / (double)n[i],
               (double)paper.summary_bits / (double)n[i], ours.failure, paper.failure);
        assert_true(ours.summary_bits <= paper.summary_bits);
    }
}

/* All plans keep their promise by the models, and their parameters are accepted. */
static void test_plans_keep_their_promise(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1, 7, 100, 3000, 50000, 1000000, 1000000000};
    static const double odds[] = {1e-12, 1e-6, 0.3};
    static const double rates[] = {1e-6, 0.006, 0.3};
    for (unsigned k = 0; k < N_IDS; k++)
        for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            for (unsigned j = 0; j < 3; j++)
                for (unsigned bucket = 1; bucket <= 4; bucket += 1 + i % 3)
                    for (unsigned churn = 0; churn <= can_remove(ids[k]); churn++) {
                        const tamis_i_table_need need = {.n = sizes[i],
                                                         .kind = ids[k],
                                                         .odds = odds[j],
                                                         .fpr = rates[(i + j) % 3],
                                                         .bucket = bucket,
                                                         .churn = churn != 0};
                        tamis_i_table_plan plan;
                        const tamis_status status = tamis_i_plan_table(&need, &plan);
                        if (status == TAMIS_E_UNSUPPORTED) {
                            /* Strings would have more bits than there is room for. */
                            assert_true(ids[k] == TAMIS_I_SUMMARY_INTERPOLATION);
                            assert_true(sizes[i] >= 50000 && odds[j] < 0.3);
                            continue;
                        }
                        assert_ok(status);
                        assert_true(plan.crisis + plan.failure <= need.odds);
                        assert_true(plan.fpr <= need.fpr);
                        assert_int_equal(plan.summary.n_types, plan.n_types);
                        double slots = 0, items = 0;
                        for (unsigned t = 0; t < plan.n_types; t++) {
                            slots += (double)(plan.buckets[t] * bucket);
                            items += plan.items[t];
                        }
                        assert_true(slots >= (double)sizes[i]);
                        assert_true(fabs(items - (double)sizes[i]) <=
                                    1e-6 * (double)sizes[i] + 0.3);
                        if (sizes[i] >= 3000) {
                            static const double space[] = {0, 6, 4, 3, 2.5};
                            assert_true(slots <= space[bucket] * (double)sizes[i] * 1.01 + 1024);
                        }
                    }
}

/* P(Poisson(mean) >= x). */
static double reaches(double mean, uint64_t x) {
    double odds;
    assert_ok(tamis_model_poisson_tail(mean, x - 1, &odds));
    return odds;
}

/* Counters that all but never stop, or that have fewer items than they can count. */
static void test_plans_have_wide_counters(void **state) {
    (void)state;
    static const tamis_i_summary_id counting[] = {TAMIS_I_SUMMARY_MULTIPLE_COUNTING,
                                                  TAMIS_I_SUMMARY_SINGLE_COUNTING};
    for (unsigned k = 0; k < 2; k++)
        for (uint64_t n = 1; n < 200; n += 1 + n / 16)
            for (double odds = 0.5; odds > 1e-9; odds /= 30) {
                const tamis_i_table_need need = {.n = n, .kind = counting[k], .odds = odds};
                tamis_i_table_plan plan;
                assert_ok(tamis_i_plan_table(&need, &plan));
                for (unsigned f = 0; f < plan.n_types; f++) {
                    const unsigned shared = k == 0 ? f : 0;
                    const double cells = (double)plan.summary.cells[shared];
                    const double hashes = (double)plan.summary.hashes[shared];
                    const uint64_t top = ((uint64_t)1 << plan.summary.counter_bits[f]) - 1;
                    assert_true(cells * reaches(plan.items[f] * hashes / cells, top) <= odds ||
                                reaches(plan.items[f], top) <= odds);
                }
            }
}

/* Just above the size up to which plans are exact, the approximation agrees with the exact model. */
static void test_plan_approximation_agrees_with_exact_model(void **state) {
    (void)state;
    enum { N = 20001 };
    const size_t work_len = tamis_model_multilevel_work(N);
    double *const work = malloc(work_len * sizeof(double));
    assert_non_null(work);
    for (unsigned k = 1; k <= 2; k++) {
        tamis_i_table_plan plan;
        const tamis_i_table_need need = {.n = N, .kind = ids[k]};
        assert_ok(tamis_i_plan_table(&need, &plan));
        unsigned hashes[TAMIS_I_SUMMARY_TYPES_MAX];
        for (unsigned i = 0; i < TAMIS_I_SUMMARY_TYPES_MAX; i++)
            hashes[i] = (unsigned)plan.summary.hashes[i];
        double failure, crisis, items[TAMIS_I_SUMMARY_TYPES_MAX];
        if (ids[k] == TAMIS_I_SUMMARY_SINGLE)
            assert_ok(tamis_model_summary_single(N, plan.buckets, plan.n_types,
                                                 plan.summary.cells[0], hashes[0], work, work_len,
                                                 &failure, &crisis, NULL));
        else
            assert_ok(tamis_model_summary_multiple(N, plan.buckets, plan.n_types,
                                                   plan.summary.cells, hashes, work, work_len,
                                                   &failure, &crisis, NULL));
        printf("# %s: failure %.3g, exact %.3g; crisis below %.3g, exact %.3g\n",
               tamis_i_summary_by_id((uint64_t)ids[k])->name, plan.failure, failure, plan.crisis,
               crisis);
        assert_true(plan.failure >= 0.8 * failure && plan.failure <= 2 * failure);
        assert_true(plan.crisis >= crisis && plan.crisis <= 1e4 * crisis);
        assert_ok(tamis_model_multilevel_exact(N, plan.buckets, plan.n_types, work, work_len, items,
                                               &crisis, NULL));
        for (unsigned i = 0; i < 3; i++)
            assert_true(fabs(plan.items[i] - items[i]) <= 1e-3 * items[i]);
    }
    free(work);
}

/* Plans for odds that can be seen: so often, and not more often, a build has a crisis or a failure. */
static void test_plan_odds_hold_when_tables_are_built(void **state) {
    (void)state;
    enum { N_MOST = 2000, BUILDS = 150 };
    static plain_item items[N_MOST];
    uint64_t random = test_seed();
    for (unsigned k = 0; k < N_IDS; k++)
        for (unsigned bucket = 1; bucket <= 4; bucket++) {
            const tamis_i_table_need need = {.n = bucket == 1 ? N_MOST : 500,
                                             .kind = ids[k],
                                             .odds = 0.2,
                                             .fpr = 0.02,
                                             .bucket = bucket};
            tamis_i_table_plan plan;
            assert_ok(tamis_i_plan_table(&need, &plan));
            plain_table t;
            plain_table_planned(&t, ids[k], bucket, &plan);
            unsigned bad = 0;
            uint64_t hits = 0;
            for (unsigned b = 0; b < BUILDS; b++) {
                unsigned crises, failures;
                plain_table_build(&t, (unsigned)need.n, items, &random, &crises, &failures);
                bad += crises != 0 || failures != 0;
                hits += plain_table_false_positives(&t, 500, &random);
            }
            const double most = (plan.crisis + plan.failure) * BUILDS;
            printf("# %s, %u slots: %u of %u builds, computed at most %.1f\n", t.summary.kind->name,
                   bucket, bad, (unsigned)BUILDS, most);
            assert_true(bad <= most + 4.5 * sqrt(most) + 1);
            /* The computed odds are no wild exaggeration, either, where they are exact. */
            if (bucket == 1 && ids[k] != TAMIS_I_SUMMARY_INTERPOLATION)
                assert_true(bad >= most / 3 - 4.5 * sqrt(most / 3));
            assert_rate("error rate", hits, BUILDS * 500, plan.fpr, 0.02);
            plain_table_free(&t);
        }
}

/* Items that come and go: the levels fill as Erlang's formula says, and nothing goes wrong. */
static void test_plan_steady_state_is_as_computed(void **state) {
    (void)state;
    enum { N = 4000, ROUNDS = 40 };
    static plain_item items[N];
    uint64_t random = test_seed() + 1;
    for (unsigned bucket = 1; bucket <= 4; bucket += 3) {
        const tamis_i_table_need need = {.n = N,
                                         .kind = TAMIS_I_SUMMARY_MULTIPLE_COUNTING,
                                         .odds = 1e-9,
                                         .bucket = bucket,
                                         .churn = true};
        tamis_i_table_plan plan;
        assert_ok(tamis_i_plan_table(&need, &plan));
        plain_table t;
        plain_table_planned(&t, need.kind, bucket, &plan);
        double in_level[TAMIS_I_SUMMARY_TYPES_MAX] = {0};
        for (unsigned i = 0; i < N; i++)
            items[i] = plain_table_put(&t, &random);
        uint64_t samples = 0;
        for (unsigned step = 0; step < ROUNDS * N; step++) {
            plain_item *const victim = &items[test_random_below(&random, N)];
            plain_table_delete(&t, victim);
            *victim = plain_table_put(&t, &random);
            if (step >= 8 * N && step % N == 0) {
                samples++;
                for (unsigned i = 0; i < N; i++) {
                    assert_int_not_equal(items[i].type, CRISIS);
                    assert_int_equal(t.summary.kind->ask(&t.summary, items[i].digest),
                                     items[i].type);
                    in_level[items[i].type]++;
                }
            }
        }
        for (unsigned i = 0; i < plan.n_types; i++) {
            const double mean = in_level[i] / (double)samples;
            /* The samples are a generation apart: almost independent. */
            const double width = 4.5 * sqrt(2 * plan.items[i] / (double)samples) + 0.2;
            printf("# %u slots, level %u: %.2f items, computed %.2f +- %.2f\n", bucket, i, mean,
                   plan.items[i], width);
            assert_true(fabs(mean - plan.items[i]) <= width);
        }
        plain_table_free(&t);
    }
}

static void test_plan_refuses_what_makes_no_sense(void **state) {
    (void)state;
    const tamis_i_table_need good = {.n = 1000, .kind = TAMIS_I_SUMMARY_MULTIPLE};
    tamis_i_table_plan plan;
    assert_ok(tamis_i_plan_table(&good, &plan));
    const tamis_i_table_plan before = plan;
    tamis_i_table_need bad[12];
    for (unsigned i = 0; i < 12; i++)
        bad[i] = good;
    bad[0].n = 0;
    bad[1].n = ((uint64_t)1 << 40) + 1;
    bad[2].kind = (tamis_i_summary_id)0;
    bad[3].kind = (tamis_i_summary_id)99;
    bad[4].odds = -1;
    bad[5].odds = NAN;
    bad[6].fpr = 0.6;
    bad[7].fpr = NAN;
    bad[8].bucket = 5;
    bad[9].space = 0.5;
    bad[10].churn = true; /* 'multiple' cannot remove */
    bad[11].deleted = UINT64_MAX;
    for (unsigned i = 0; i < 12; i++)
        assert_status(tamis_i_plan_table(&bad[i], &plan), TAMIS_E_ARGUMENT);
    /* One slot per item cannot keep any promise with so few sub-tables. */
    tamis_i_table_need tight = {
        .n = 1000000, .kind = TAMIS_I_SUMMARY_MULTIPLE, .space = 1, .odds = 1e-9};
    assert_status(tamis_i_plan_table(&tight, &plan), TAMIS_E_UNSUPPORTED);
    assert_memory_equal(&plan, &before, sizeof plan);
    /* Deleted items that wait are planned for. */
    tamis_i_table_plan more;
    tamis_i_table_need lazy = good;
    lazy.deleted = 100;
    assert_ok(tamis_i_plan_table(&lazy, &more));
    assert_true(more.summary_bits > before.summary_bits && more.buckets[0] == 4400);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_finds_the_tables_of_the_paper),
        cmocka_unit_test(test_plans_keep_their_promise),
        cmocka_unit_test(test_plans_have_wide_counters),
        cmocka_unit_test(test_plan_approximation_agrees_with_exact_model),
        cmocka_unit_test(test_plan_odds_hold_when_tables_are_built),
        cmocka_unit_test(test_plan_steady_state_is_as_computed),
        cmocka_unit_test(test_plan_refuses_what_makes_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
