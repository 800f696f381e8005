/* summary_interpolation.c - sorted strings with types, found by interpolation
 *
 * Each item is kept as a random string of at least b bits and its type.  In a sorted array of random
 * strings the place of a string can be guessed from its value: interpolation search.  The paper's array
 * is dense, so an insert moves half of it.  Here it has gaps, a tenth of it for instance, and the guess
 * is where a string would like to be, its *home*:
 *
 *      string  =  [ home: 0 .. slots-1 ][ remainder: r bits ]
 *
 *      slot       3      4      5      6      7
 *      home       3      3      4      4      -       in the order of home, remainder, type
 *      distance   0      1      1      2    empty     of a slot from the home of its string
 *
 * The strings are in order, never before their home, and with no empty slot between it and them.  A
 * search begins at the home and passes strings of smaller home (those whose distance is larger than the
 * one walked so far).  Then it compares remainders, and ends at the first that is not smaller, found or
 * not.  An insert pushes the strings from there to the next empty slot up by one.  A removal pulls down
 * those that are not at home.  This is linear probing in order, and it keeps all three cheap: with nine
 * slots in ten in use, a search passes 5 strings on average, an insert pushes about 50.  The home need
 * not be stored, since it follows from slot and distance; that pays for distance and gaps:
 *
 *      slot:  [ 1 + distance, 0 if empty: 8 bits ][ type ][ remainder ]
 *
 * For strings past the last home there are 255 more slots; the last one is never used.
 *
 * Equal strings are all kept, with their types; the paper calls this a failure.  Such an item may get
 * the type of the other, but none is lost and each can be removed.  An insert fails, TAMIS_E_FULL, if a
 * string would get more than 254 slots away from home.  With nine slots in ten in use that has a chance
 * below 1e-22 for each slot: the odds of a distance x fall like exp(-0.207 x), where 0.207 solves 0.9
 * (e^y - 1) = y.  It also fails if more than MOVES_MAX strings would have to move, so that no keys make it
 * slow, whoever has chosen them.  By chance so many strings without a gap have odds of
 * e^-(k (a - 1 - ln a)), a = 0.9, Chernoff's bound for k arrivals where k a are expected: 1e-38.
 *
 * After Kirsch and Mitzenmacher, "Simple Summaries for Hashing With Choices", IEEE/ACM Transactions
 * on Networking 16(1), 2008, section VII; the order of the array is that of Amble and Knuth, "Ordered
 * hash tables", The Computer Journal 17(2), 1974.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "bits/field.h"
#include "table/summary.h"

#define DISTANCE_BITS 8u
#define DISTANCE_MASK 255u
#define DISTANCE_MAX  254u
#define SPARE_SLOTS   255u
#define MOVES_MAX     16384u

/* A slot has at most 64 bits: 96 would need 2^40 slots and more. */
#define STRING_BITS_MAX 96u

/* Geometry. */
enum { SLOTS, REMAINDER_BITS, TYPE_BITS, WIDTH };

static unsigned summary_interpolation_bits_for(uint64_t values) {
    unsigned width = 0;
    while (((values - 1) >> width) != 0)
        width++;
    return width;
}

/* The least r with slots 2^r >= 2^b. */
static unsigned summary_interpolation_remainder_bits(const tamis_i_summary_params *params) {
    unsigned home_bits = 0; /* whole ones */
    while (params->cells[0] >> home_bits > 1)
        home_bits++;
    return params->string_bits > home_bits ? (unsigned)params->string_bits - home_bits : 0;
}

static unsigned summary_interpolation_slot_bits(const tamis_i_summary_params *params) {
    return DISTANCE_BITS + summary_interpolation_bits_for(params->n_types) +
           summary_interpolation_remainder_bits(params);
}

static tamis_status summary_interpolation_shape(const tamis_i_summary_params *params,
                                                uint64_t *n_words) {
    if (params->n_types < 1 || params->n_types > TAMIS_I_SUMMARY_TYPES_MAX ||
        params->string_bits < 1 || params->string_bits > STRING_BITS_MAX || params->cells[0] < 1)
        return TAMIS_E_ARGUMENT;
    for (unsigned t = 0; t < TAMIS_I_SUMMARY_TYPES_MAX; t++)
        if ((t > 0 && params->cells[t] != 0) || params->hashes[t] != 0 ||
            params->counter_bits[t] != 0)
            return TAMIS_E_ARGUMENT;
    if (params->cells[0] > TAMIS_I_SUMMARY_CELLS_MAX)
        return TAMIS_E_TOO_LARGE;
    if (summary_interpolation_slot_bits(params) > 64)
        return TAMIS_E_ARGUMENT;
    *n_words = ((params->cells[0] + SPARE_SLOTS) * summary_interpolation_slot_bits(params) + 511) /
               512 * TAMIS_LINE_WORDS;
    return TAMIS_OK;
}

static uint64_t summary_interpolation_bits(const tamis_i_summary_params *params) {
    return (params->cells[0] + SPARE_SLOTS) * summary_interpolation_slot_bits(params);
}

static void summary_interpolation_attach(tamis_i_summary *summary) {
    uint64_t *const g = summary->geometry;
    g[SLOTS] = summary->params.cells[0];
    g[REMAINDER_BITS] = summary_interpolation_remainder_bits(&summary->params);
    g[TYPE_BITS] = summary_interpolation_bits_for(summary->params.n_types);
    g[WIDTH] = summary_interpolation_slot_bits(&summary->params);
}

static uint64_t summary_interpolation_slot_get(const tamis_i_summary *summary, uint64_t i) {
    return tamis_i_packed_get(summary->body, (unsigned)summary->geometry[WIDTH], i);
}

static void summary_interpolation_slot_put(tamis_i_summary *summary, uint64_t i, uint64_t slot) {
    tamis_i_packed_put(summary->body, (unsigned)summary->geometry[WIDTH], i, slot);
}

static uint64_t summary_interpolation_home_of(const tamis_i_summary *summary, tamis_digest digest) {
    return tamis_i_range(tamis_i_word(digest, TAMIS_I_SUMMARY_WORD), summary->geometry[SLOTS]);
}

/* Remainder and type, as they are in a slot above the distance. */
static uint64_t summary_interpolation_tail_of(const tamis_i_summary *summary, tamis_digest digest,
                                              unsigned type) {
    const unsigned r = (unsigned)summary->geometry[REMAINDER_BITS];
    const uint64_t word = tamis_i_word(digest, TAMIS_I_SUMMARY_WORD + 1);
    return (r == 0 ? 0 : word >> (64 - r)) << summary->geometry[TYPE_BITS] | type;
}

/* Walk from the home past smaller strings.  Returns the distance of the first slot that is empty, or
 * holds a string of larger home, or one of the same home and at least this tail ('*same'). */
static uint64_t summary_interpolation_walk(const tamis_i_summary *summary, uint64_t home,
                                           uint64_t tail, bool *same) {
    for (uint64_t distance = 0;; distance++) {
        const uint64_t slot = summary_interpolation_slot_get(summary, home + distance);
        const uint64_t theirs = slot & DISTANCE_MASK; /* 1 + their distance, or 0 */
        *same = theirs == distance + 1 && slot >> DISTANCE_BITS >= tail;
        if (theirs <= distance || *same)
            return distance;
    }
}

static tamis_status summary_interpolation_insert(tamis_i_summary *summary, tamis_digest digest,
                                                 unsigned type) {
    const uint64_t home = summary_interpolation_home_of(summary, digest),
                   tail = summary_interpolation_tail_of(summary, digest, type);
    bool same;
    const uint64_t distance = summary_interpolation_walk(summary, home, tail, &same);
    if (distance > DISTANCE_MAX)
        return TAMIS_E_FULL;
    const uint64_t at = home + distance;
    uint64_t empty = at;
    for (;; empty++) {
        const uint64_t slot = summary_interpolation_slot_get(summary, empty);
        if (slot == 0)
            break;
        if ((slot & DISTANCE_MASK) > DISTANCE_MAX || empty - at == MOVES_MAX)
            return TAMIS_E_FULL;
    }
    for (; empty > at; empty--)
        summary_interpolation_slot_put(summary, empty,
                                       summary_interpolation_slot_get(summary, empty - 1) + 1);
    summary_interpolation_slot_put(summary, at, tail << DISTANCE_BITS | (distance + 1));
    return TAMIS_OK;
}

static unsigned summary_interpolation_ask(const tamis_i_summary *summary, tamis_digest digest) {
    const unsigned type_bits = (unsigned)summary->geometry[TYPE_BITS];
    const uint64_t home = summary_interpolation_home_of(summary, digest),
                   tail = summary_interpolation_tail_of(summary, digest, 0);
    bool same;
    const uint64_t distance = summary_interpolation_walk(summary, home, tail, &same);
    if (!same)
        return TAMIS_I_SUMMARY_NONE;
    const uint64_t type =
        (summary_interpolation_slot_get(summary, home + distance) >> DISTANCE_BITS) - tail;
    return type >> type_bits != 0 ? TAMIS_I_SUMMARY_NONE : (unsigned)type;
}

static tamis_status summary_interpolation_remove_one(tamis_i_summary *summary, tamis_digest digest,
                                                     unsigned type) {
    const uint64_t home = summary_interpolation_home_of(summary, digest),
                   tail = summary_interpolation_tail_of(summary, digest, type);
    bool same;
    uint64_t at = home + summary_interpolation_walk(summary, home, tail, &same);
    if (!same || summary_interpolation_slot_get(summary, at) >> DISTANCE_BITS != tail)
        return TAMIS_E_NOT_FOUND;
    for (;; at++) {
        const uint64_t next = summary_interpolation_slot_get(summary, at + 1);
        if ((next & DISTANCE_MASK) <= 1) /* empty, or at home */
            break;
        summary_interpolation_slot_put(summary, at, next - 1);
    }
    summary_interpolation_slot_put(summary, at, 0);
    return TAMIS_OK;
}

static void summary_interpolation_prefetch(const tamis_i_summary *summary, tamis_digest digest) {
    const uint64_t at = summary_interpolation_home_of(summary, digest) * summary->geometry[WIDTH];
    TAMIS_PREFETCH(summary->body + at / 64);
    TAMIS_PREFETCH(summary->body + at / 64 + TAMIS_LINE_WORDS / 2);
}

/* The number of strings over the number of possible ones. */
static double summary_interpolation_fpr(const tamis_i_summary *summary) {
    const uint64_t *const g = summary->geometry;
    uint64_t strings = 0;
    for (uint64_t i = 0; i < g[SLOTS] + SPARE_SLOTS; i++)
        strings += summary_interpolation_slot_get(summary, i) != 0;
    const double possible = ldexp((double)g[SLOTS], (int)g[REMAINDER_BITS]);
    return (double)strings < possible ? (double)strings / possible : 1;
}

static bool summary_interpolation_check(const tamis_i_summary *summary, const char **reason) {
    const uint64_t *const g = summary->geometry;
    const uint64_t n = g[SLOTS] + SPARE_SLOTS, end = n * g[WIDTH];
    if (!tamis_i_summary_ends_at(summary, end, reason))
        return false;
    uint64_t before = 0, home_before = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t slot = summary_interpolation_slot_get(summary, i);
        if (slot != 0) {
            const uint64_t distance = (slot & DISTANCE_MASK) - 1, home = i - distance;
            const uint64_t tail = slot >> DISTANCE_BITS;
            if ((slot & DISTANCE_MASK) == 0 || distance > i || home >= g[SLOTS]) {
                *reason = "a string of the summary has no home";
                return false;
            }
            if ((tail & tamis_i_low_mask((unsigned)g[TYPE_BITS])) >= summary->params.n_types) {
                *reason = "a string of the summary has no type";
                return false;
            }
            if (distance > 0 && (before == 0 || home_before > home ||
                                 (home_before == home && before >> DISTANCE_BITS > tail))) {
                *reason = "the strings of the summary are not in order";
                return false;
            }
            home_before = home;
        }
        before = slot;
    }
    return true;
}

const tamis_i_summary_kind tamis_i_summary_interpolation = {
    .id = TAMIS_I_SUMMARY_INTERPOLATION,
    .name = "interpolation",
    .abilities = TAMIS_I_SUMMARY_CAN_REMOVE,
    .shape = summary_interpolation_shape,
    .bits = summary_interpolation_bits,
    .attach = summary_interpolation_attach,
    .insert = summary_interpolation_insert,
    .ask = summary_interpolation_ask,
    .remove = summary_interpolation_remove_one,
    .prefetch = summary_interpolation_prefetch,
    .fpr = summary_interpolation_fpr,
    .check = summary_interpolation_check};
