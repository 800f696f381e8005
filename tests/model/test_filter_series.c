/* test_filter_series.c - the error rate of series whose keys are replaced, against what they promise
 *
 * Each kind that can remove grows to three links, the newest almost full.  Then all keys of the newest link
 * are replaced, ten times: that is how long a plan with deletes promises its rate for 'line'
 * (docs/line.md), and the others do not age faster.  Absent keys are asked for after three and after ten
 * rounds.
 *
 * The interval: hits of Q queries at a rate of at most P, the promise, exceed Q P + 3.72 sqrt(Q P) with odds
 * of at most 1e-4.  Rates within are no failure from below: a plan is an upper bound.
 *
 * With TAMIS_TEST_LONG=1 in the environment: 695,000 keys at 0.001, four million queries.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <math.h>

enum { CHUNK = 500 };

typedef struct run {
    uint64_t first; /* keys of the first link */
    double promise;
    uint64_t queries;
} run;

static tamis_filter *growing(tamis_kind kind, const run *r) {
    tamis_growth growth;
    tamis_filter *f;
    tamis_growth_init(&growth);
    tamis_need need = test_need(kind, r->first, 0);
    need.fpr = growth.fpr = r->promise;
    need.grows = need.deletes = growth.automatic = true;
    tamis_plan plan = test_planned(&need);
    plan.params.seed = test_seed() + (uint64_t)kind;
    assert_ok(tamis_filter_create(&plan.params, NULL, &f));
    assert_ok(tamis_filter_allow_growth(f, &growth));
    return f;
}

static void assert_promise(const char *name, const tamis_filter *f, const run *r, unsigned round) {
    const double expected = r->promise * (double)r->queries;
    uint64_t hits = 0, keys[CHUNK];
    for (uint64_t done = 0; done < r->queries; done += CHUNK) {
        for (uint64_t i = 0; i < CHUNK; i++)
            keys[i] = UINT64_C(1) << 50 | (done + i);
        hits += tamis_filter_contains_many_u64(f, keys, CHUNK, NULL);
    }
    const tamis_info info = test_info(f);
    printf("# %s, %u links, keys replaced %u times: promised %g, measured %.3g, info %.3g\n", name,
           info.n_links, round, r->promise, (double)hits / (double)r->queries, info.fpr);
    assert_int_equal(info.n_links, 3);
    assert_true((double)hits <= expected + 3.72 * sqrt(expected));
}

/* Keys 3 n to 6.95 n are in the third link, and keys that replace them.  One that is refused as ambiguous
 * stays, and none comes for it. */
static void replace_keys(tamis_kind kind, const run *r) {
    const uint64_t all = r->first * 695 / 100, n = all - 3 * r->first;
    tamis_filter *const f = growing(kind, r);
    uint64_t in = 0, out = 3 * r->first;
    while (in < all)
        assert_ok(tamis_filter_insert_u64(f, in++, NULL));
    for (unsigned round = 1; round <= 10; round++) {
        for (uint64_t i = 0; i < n && out < in; i++) {
            const tamis_status status = tamis_filter_remove_u64(f, out++);
            assert_true(status == TAMIS_OK || status == TAMIS_E_AMBIGUOUS);
            if (status == TAMIS_OK)
                assert_ok(tamis_filter_insert_u64(f, in++, NULL));
        }
        if (round == 3 || round == 10)
            assert_promise(tamis_kind_name(kind), f, r, round);
    }
    tamis_filter_free(f);
}

static void test_series_with_deletes_keeps_its_promise(void **state) {
    (void)state;
    const bool is_long = getenv("TAMIS_TEST_LONG") != NULL;
    const run r = is_long ? (run){100000, 0.001, 4000000} : (run){2000, 0.001, 1000000};
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;)
        if (tamis_kind_abilities(kind) & TAMIS_CAN_REMOVE)
            replace_keys(kind, &r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_series_with_deletes_keeps_its_promise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
