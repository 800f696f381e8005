/* plan_costs.c - what each wish of a need costs
 *
 * One wish is left out at a time, and the rest is planned again.  What would save less than some 5 % is not
 * told.  The planner page does the same (integrations/web/site/worker.js).
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <tamis/shared.h>

#define SAVES 0.95 /* of bits or errors, at most this much is left */

typedef bool leaving_out(tamis_need *need, unsigned *threads);

static bool without_deletes(tamis_need *need, unsigned *threads) {
    const bool was = need->deletes || need->replacements > 0;
    (void)threads;
    need->deletes = false;
    need->replacements = 0;
    return was;
}

static bool without_merges(tamis_need *need, unsigned *threads) {
    const bool was = need->merges;
    (void)threads;
    need->merges = false;
    return was;
}

static bool without_copies(tamis_need *need, unsigned *threads) {
    const bool was = need->copies > 1;
    (void)threads;
    need->copies = 0;
    return was;
}

static bool without_values(tamis_need *need, unsigned *threads) {
    const bool was = need->value_bits > 0;
    (void)threads;
    need->value_bits = 0;
    return was;
}

static bool without_ticks(tamis_need *need, unsigned *threads) {
    const bool was = need->ticks > 0;
    (void)threads;
    need->ticks = 0;
    return was;
}

static bool without_growth(tamis_need *need, unsigned *threads) {
    const bool was = need->grows;
    (void)threads;
    need->grows = false;
    return was;
}

static bool without_offline(tamis_need *need, unsigned *threads) {
    const bool was = need->offline;
    (void)threads;
    need->offline = false;
    return was;
}

static bool without_overshoot(tamis_need *need, unsigned *threads) {
    const bool was = need->overshoot > 0;
    (void)threads;
    need->overshoot = 0;
    return was;
}

static bool without_lines(tamis_need *need, unsigned *threads) {
    const bool was = need->lines_max > 0;
    (void)threads;
    need->lines_max = 0;
    return was;
}

static bool without_failure(tamis_need *need, unsigned *threads) {
    const bool was = need->failure_max > 0;
    (void)threads;
    need->failure_max = 0;
    return was;
}

static bool without_order(tamis_need *need, unsigned *threads) {
    const bool was = need->order != TAMIS_ORDER_BYTES;
    (void)threads;
    need->order = TAMIS_ORDER_BYTES;
    return was;
}

static bool without_kind(tamis_need *need, unsigned *threads) {
    const bool was = need->kind != TAMIS_KIND_ANY;
    (void)threads;
    need->kind = TAMIS_KIND_ANY;
    return was;
}

static bool without_threads(tamis_need *need, unsigned *threads) {
    const bool was = *threads > 0;
    (void)need;
    *threads = 0;
    return was;
}

static const struct {
    const char *wish; /* the option, without its dashes */
    leaving_out *leave_out;
} wishes[] = {
    {"deletes", without_deletes}, {"merges", without_merges},       {"copies", without_copies},
    {"values", without_values},   {"ticks", without_ticks},         {"grow", without_growth},
    {"offline", without_offline}, {"overshoot", without_overshoot}, {"lines", without_lines},
    {"failure", without_failure}, {"sort", without_order},          {"kind", without_kind},
    {"threads", without_threads},
};

_Static_assert(sizeof wishes / sizeof *wishes <= PLAN_COSTS_MAX, "room for all wishes");

static bool made_without(const tamis_need *need, unsigned threads, plan_cost *made) {
    if (threads > 0) {
        tamis_shared_plan plan;
        tamis_shared_plan_init(&plan);
        if (tamis_shared_plan_make(need, threads, &plan) != TAMIS_OK)
            return false;
        *made = (plan_cost){made->wish, plan.params.kind,  plan.n,
                            plan.bytes, plan.bits_per_key, plan.fpr};
        return true;
    }
    tamis_plan plan;
    tamis_plan_init(&plan);
    if (tamis_plan_make(need, &plan) != TAMIS_OK)
        return false;
    *made =
        (plan_cost){made->wish, plan.params.kind, plan.n, plan.bytes, plan.bits_per_key, plan.fpr};
    return true;
}

/* Is it worth telling?  What was asked for is the number of keys, the error rate, or the size. */
static bool saves(const tamis_need *need, const plan_cost *with, const plan_cost *without) {
    if (need->n == 0)
        return (double)without->n * SAVES >= (double)with->n;
    if (need->fpr == 0)
        return without->fpr <= with->fpr * SAVES;
    return without->bits_per_key <= with->bits_per_key * SAVES;
}

size_t plan_costs(const tamis_need *need, unsigned threads, const plan_cost *with,
                  plan_cost *without) {
    size_t n = 0;

    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        tamis_need less = *need;
        unsigned less_threads = threads;
        plan_cost made = {.wish = wishes[i].wish};
        if (wishes[i].leave_out == without_deletes && need->replacements > 0)
            made.wish = "replacements";
        if (wishes[i].leave_out(&less, &less_threads) && made_without(&less, less_threads, &made) &&
            saves(need, with, &made))
            without[n++] = made;
    }
    return n;
}

void print_plan_costs(const tamis_need *need, const plan_cost *with, const plan_cost *without,
                      size_t n) {
    char keys[TEXT_NUMBER];

    for (size_t i = 0; i < n; i++) {
        const plan_cost *const made = &without[i];
        printf("%swithout --%s: %s, ", i == 0 ? "\n" : "", made->wish, tamis_kind_name(made->kind));
        if (need->n == 0)
            printf("%s keys (%.0f %% more)\n", text_count(made->n, keys),
                   100 * ((double)made->n / (double)with->n - 1));
        else if (need->fpr == 0)
            printf("error rate %.3g (in place of %.3g)\n", made->fpr, with->fpr);
        else
            printf("%.2f bits per key (%.0f %% less)\n", made->bits_per_key,
                   100 * (1 - made->bits_per_key / with->bits_per_key));
    }
}

void json_plan_costs(json *j, const plan_cost *without, size_t n) {
    json_open(j, "without", '[', false);
    for (size_t i = 0; i < n; i++) {
        json_open(j, NULL, '{', true);
        json_text(j, "wish", without[i].wish);
        json_text(j, "kind", tamis_kind_name(without[i].kind));
        json_u64(j, "n", without[i].n);
        json_u64(j, "bytes", without[i].bytes);
        json_real(j, "bits_per_key", without[i].bits_per_key);
        json_real(j, "fpr", without[i].fpr);
        json_close(j);
    }
    json_close(j);
}
