/* wishes.c - the ranges of a need's members, and the abilities that it asks for: one row each
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/wishes.h"

#include "filter/window.h"
#include "tamis/window.h"

#include <math.h>

/* ---- ranges ---- */

_Static_assert(sizeof(tamis_order) == sizeof(unsigned), "an enum is read as an unsigned");
_Static_assert(TAMIS_CAPACITY_MAX == 1099511627776u, "the sentence about n says 2^40");

#define AT(member) #member, offsetof(tamis_need, member)

const tamis_i_limit tamis_i_limits[] = {
    {AT(n), 1, (double)TAMIS_CAPACITY_MAX, "sets have at most 2^40 keys", TAMIS_I_U64, false,
     false},
    {AT(fpr), 0, 1, NULL, TAMIS_I_REAL, true, true},
    {AT(copies), 1, 255, NULL, TAMIS_I_UNSIGNED, false, false},
    {AT(value_bits), 1, 8, NULL, TAMIS_I_UNSIGNED, false, false},
    {AT(order), 0, TAMIS_ORDER_WEIGHTED, "there is no such order", TAMIS_I_UNSIGNED, false, false},
    {AT(overshoot), 0, 1000, NULL, TAMIS_I_REAL, false, false},
    {AT(lines_max), 1, INFINITY, NULL, TAMIS_I_REAL, false, false},
    {AT(failure_max), 1e-30, 1, NULL, TAMIS_I_REAL, false, false},
    {AT(line_bits), 0, INFINITY, NULL, TAMIS_I_REAL, true, true},
    {AT(replacements), 1, TAMIS_I_REPLACEMENTS_MAX, NULL, TAMIS_I_UNSIGNED, false, false},
    {AT(hash), 0, TAMIS_HASH_AES, "there is no such hash", TAMIS_I_UNSIGNED, false, false},
    {AT(ticks), 1, TAMIS_WINDOW_TICKS_MAX, NULL, TAMIS_I_UNSIGNED, false, false},
};
const size_t tamis_i_n_limits = sizeof tamis_i_limits / sizeof tamis_i_limits[0];

uint64_t tamis_i_limit_integer(const tamis_i_limit *range, const tamis_need *need) {
    const unsigned char *const at = (const unsigned char *)need + range->offset;
    uint64_t whole = 0;
    unsigned small = 0;
    if (range->type == TAMIS_I_U64)
        memcpy(&whole, at, sizeof whole);
    else if (range->type == TAMIS_I_UNSIGNED)
        memcpy(&small, at, sizeof small);
    return whole + small;
}

double tamis_i_limit_value(const tamis_i_limit *range, const tamis_need *need) {
    double real;
    if (range->type != TAMIS_I_REAL)
        return (double)tamis_i_limit_integer(range, need);
    memcpy(&real, (const unsigned char *)need + range->offset, sizeof real);
    return real;
}

/* Written so that it is false of what is not a number. */
static bool wishes_in_range(const tamis_i_limit *range, double value) {
    return value == 0 || ((range->least_open ? value > range->least : value >= range->least) &&
                          (range->most_open ? value < range->most : value <= range->most));
}

const tamis_i_limit *tamis_i_limit_missed(const tamis_need *need) {
    for (size_t i = 0; i < tamis_i_n_limits; i++)
        if (!wishes_in_range(&tamis_i_limits[i], tamis_i_limit_value(&tamis_i_limits[i], need)))
            return &tamis_i_limits[i];
    return NULL;
}

double tamis_i_need_keys(const tamis_need *need, uint64_t n) {
    return (double)n + ceil((double)n * need->overshoot);
}

tamis_i_misfit tamis_i_need_misfit(const tamis_need *need) {
    if (need->kind != TAMIS_KIND_ANY && tamis_i_kind_of(need->kind) == NULL)
        return TAMIS_I_NO_KIND;
    if (need->n == 0 && need->bytes == 0)
        return TAMIS_I_NO_SIZE;
    return tamis_i_need_keys(need, need->n) > (double)TAMIS_CAPACITY_MAX ? TAMIS_I_KEYS
                                                                         : TAMIS_I_FITS;
}

/* ---- abilities ---- */

static bool wishes_ticks(const tamis_need *need) {
    return need->ticks != 0;
}

static bool wishes_can_forget(const tamis_i_kind *kind) {
    return (kind->abilities & TAMIS_CAN_FORGET) != 0;
}

static bool wishes_deletes(const tamis_need *need) {
    return need->deletes || need->replacements != 0;
}

static bool wishes_can_remove(const tamis_i_kind *kind) {
    return (kind->abilities & TAMIS_CAN_REMOVE) != 0;
}

static bool wishes_merges(const tamis_need *need) {
    return need->merges;
}

static bool wishes_can_merge(const tamis_i_kind *kind) {
    return (kind->abilities & TAMIS_CAN_MERGE) != 0;
}

static bool wishes_copies(const tamis_need *need) {
    return need->copies > 1;
}

/* A key that is inserted often must not fill its buckets or be counted wrongly: that takes counters. */
static bool wishes_can_count(const tamis_i_kind *kind) {
    return kind->counters;
}

static bool wishes_values(const tamis_need *need) {
    return need->value_bits != 0;
}

static bool wishes_can_keep(const tamis_i_kind *kind) {
    return kind->insert_value != NULL;
}

const tamis_i_wish tamis_i_wishes[TAMIS_I_WISHES] = {
    {"ticks", wishes_ticks, wishes_can_forget, "cannot forget keys", "can"},
    {"deletes", wishes_deletes, wishes_can_remove, "cannot remove keys", "can"},
    {"merges", wishes_merges, wishes_can_merge, "cannot be merged", "can"},
    {"copies", wishes_copies, wishes_can_count, "has no counters", "have"},
    {"value_bits", wishes_values, wishes_can_keep, "has no values", "have"},
};

unsigned tamis_i_wishes_missed(const tamis_i_kind *kind, const tamis_need *need) {
    unsigned missed = 0;
    for (unsigned i = 0; i < TAMIS_I_WISHES; i++)
        if (tamis_i_wishes[i].asked(need) && !tamis_i_wishes[i].can(kind))
            missed |= 1u << i;
    return missed;
}
