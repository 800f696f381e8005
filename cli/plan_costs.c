/* plan_costs.c - what each wish of a need costs
 *
 * One wish is left out at a time, and the rest is planned again.  What would save less than some 5 % is not
 * told.  The planner page does the same (integrations/web/site/worker.js).
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <tamis/shared.h>

#include <string.h>

#define SAVES 0.95 /* of bits or errors, at most this much is left */

/* The members that are wishes: all zero is their default. */
#define WISH(name, member) name, offsetof(tamis_need, member), sizeof((tamis_need *)0)->member
static const struct {
    const char *wish; /* the option, without its dashes */
    size_t offset, size;
} wishes[] = {
    {WISH("deletes", deletes)},     {WISH("merges", merges)},       {WISH("copies", copies)},
    {WISH("values", value_bits)},   {WISH("ticks", ticks)},         {WISH("grow", grows)},
    {WISH("offline", offline)},     {WISH("overshoot", overshoot)}, {WISH("lines", lines_max)},
    {WISH("failure", failure_max)}, {WISH("sort", order)},          {WISH("kind", kind)},
};
enum { WISHES = sizeof wishes / sizeof *wishes, WISH_DELETES = 0 };

_Static_assert(WISHES + 1 <= PLAN_COSTS_MAX, "room for all wishes, and threads");

/* Leave out one wish.  false if it was not made. */
static bool leave_out(tamis_need *need, unsigned i) {
    static const tamis_need none;
    unsigned char *const at = (unsigned char *)need + wishes[i].offset;
    const bool given =
        memcmp(at, (const unsigned char *)&none + wishes[i].offset, wishes[i].size) != 0;

    memset(at, 0, wishes[i].size);
    if (i == WISH_DELETES) /* they imply it */
        need->replacements = 0;
    return given;
}

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

    for (unsigned i = 0; i < WISHES; i++) {
        tamis_need less = *need;
        plan_cost made = {.wish = wishes[i].wish};
        if (i == WISH_DELETES && need->replacements > 0)
            made.wish = "replacements";
        if (leave_out(&less, i) && made_without(&less, threads, &made) && saves(need, with, &made))
            without[n++] = made;
    }
    plan_cost alone = {.wish = "threads"};
    if (threads > 0 && made_without(need, 0, &alone) && saves(need, with, &alone))
        without[n++] = alone;
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
