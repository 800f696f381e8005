/* summary_multiple.c - a Bloom filter for each sub-table and those after it
 *
 * Filter f holds the items of type f and above, so filter 0 holds all of them:
 *
 *      type 0     filter 0
 *      type 1     filter 0, filter 1
 *      type 2     filter 0, filter 1, filter 2     ...
 *
 * The type of an item is that of the last filter, from the first on, that has it.  If not even filter 0
 * has it, the type is "none".  An absent item gets a type if filter 0 has it by mistake: the error rate
 * of filter 0 is that of the summary.  An item of type f gets another type if filter f + 1 has it by
 * mistake, so the filters after the first are made for very small error rates.  They can afford it,
 * because most items are of type 0 and a filter holds far fewer items than the one before.
 *
 * The filters are not partitioned.  Each hash is independent of the others (draw.h).
 *
 *      body:   [ filter 0 ][ filter 1 ] ...      each begins at a word; bits, or counters
 *
 * The counting variant has counters instead of bits, with a planned width per filter.  Two rules:
 *
 *  - a counter that has reached its largest value is saturated and stays so.  It may be too high,
 *    which costs failures or false positives, but no item is lost;
 *  - an item raises each of its counters once, even if two of its hashes collide.  Otherwise a
 *    single item would saturate the narrow counters of a small filter (section XI-B).
 *
 * After Kirsch and Mitzenmacher, "Simple Summaries for Hashing With Choices", IEEE/ACM Transactions
 * on Networking 16(1), 2008, sections VIII-B and XI-B.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "bits/field.h"
#include "table/draw.h"
#include "table/summary.h"

/* Geometry: four numbers for each filter. */
enum { BASE, SPAN, HASHES, PER_WORD, N_NUMBERS };
_Static_assert(N_NUMBERS *TAMIS_I_SUMMARY_TYPES_MAX <= TAMIS_I_SUMMARY_GEOMETRY, "they fit");

static const uint64_t *summary_multiple_numbers(const tamis_i_summary *summary, unsigned filter) {
    return summary->geometry + (size_t)filter * N_NUMBERS;
}

/* -------------------------------------------------------------------------------------------------
 * Both variants
 */

static uint64_t summary_multiple_width_of(const tamis_i_summary_params *params, unsigned filter) {
    return params->counter_bits[filter] != 0 ? params->counter_bits[filter] : 1;
}

static tamis_status summary_multiple_shape_any(const tamis_i_summary_params *params, bool counting,
                                               uint64_t *n_words) {
    if (params->n_types < 1 || params->n_types > TAMIS_I_SUMMARY_TYPES_MAX ||
        params->string_bits != 0)
        return TAMIS_E_ARGUMENT;
    uint64_t words = 0;
    for (unsigned f = 0; f < TAMIS_I_SUMMARY_TYPES_MAX; f++) {
        const uint64_t cells = params->cells[f], hashes = params->hashes[f];
        const uint64_t width = params->counter_bits[f];
        if (f >= params->n_types) {
            if (cells != 0 || hashes != 0 || width != 0)
                return TAMIS_E_ARGUMENT;
            continue;
        }
        if (cells < 1 || hashes < 1 || hashes > TAMIS_I_SUMMARY_HASHES_MAX ||
            (counting ? width < 1 || width > TAMIS_I_SUMMARY_COUNTER_BITS_MAX : width != 0))
            return TAMIS_E_ARGUMENT;
        if (cells > TAMIS_I_SUMMARY_CELLS_MAX)
            return TAMIS_E_TOO_LARGE;
        words +=
            (cells * summary_multiple_width_of(params, f) + 63) / 64; /* 16 times 2^42 at most */
    }
    *n_words = (words + TAMIS_LINE_WORDS - 1) / TAMIS_LINE_WORDS * TAMIS_LINE_WORDS;
    return TAMIS_OK;
}

static uint64_t summary_multiple_bits(const tamis_i_summary_params *params) {
    uint64_t all = 0;
    for (unsigned f = 0; f < params->n_types; f++)
        all += params->cells[f] * summary_multiple_width_of(params, f);
    return all;
}

/* BASE is a bit of the body, for counters too. */
static void summary_multiple_attach(tamis_i_summary *summary) {
    uint64_t word = 0;
    for (unsigned f = 0; f < summary->params.n_types; f++) {
        uint64_t *const g = summary->geometry + (size_t)f * N_NUMBERS;
        const uint64_t cells = summary->params.cells[f];
        g[BASE] = word * 64;
        g[SPAN] = cells;
        g[HASHES] = summary->params.hashes[f];
        g[PER_WORD] = tamis_i_draw_per_word(cells);
        word += (cells * summary_multiple_width_of(&summary->params, f) + 63) / 64;
    }
}

/* Only bits of the filters are set, and an item in a filter is also in those before it.  With counters,
 * some of a later filter may be saturated and stay when all items have left. */
static bool summary_multiple_check(const tamis_i_summary *summary, const char **reason) {
    bool empty_before = false;
    uint64_t word = 0;
    for (unsigned f = 0; f < summary->params.n_types; f++) {
        const uint64_t used =
            summary->params.cells[f] * summary_multiple_width_of(&summary->params, f);
        bool empty = true;
        for (uint64_t i = 0; i < used / 64; i++)
            empty = empty && summary->body[word + i] == 0;
        word += used / 64;
        if (used % 64 != 0) {
            const uint64_t last = summary->body[word++];
            if (last >> used % 64 != 0) {
                *reason = "a filter of the summary has bits past its end";
                return false;
            }
            empty = empty && last == 0;
        }
        if (!empty && empty_before && summary->params.counter_bits[f] == 0) {
            *reason = "a filter of the summary is empty, and the one after it is not";
            return false;
        }
        empty_before = empty;
    }
    return tamis_i_summary_ends_at(summary, 64 * word, reason);
}

/* -------------------------------------------------------------------------------------------------
 * Bits
 */

static tamis_status summary_multiple_shape(const tamis_i_summary_params *params,
                                           uint64_t *n_words) {
    return summary_multiple_shape_any(params, false, n_words);
}

static tamis_status summary_multiple_insert(tamis_i_summary *summary, tamis_digest digest,
                                            unsigned type) {
    for (unsigned f = 0; f <= type; f++) {
        const uint64_t *const g = summary_multiple_numbers(summary, f);
        uint64_t *const words = summary->body + g[BASE] / 64;
        tamis_i_draw draw = tamis_i_draw_begin(digest, f);
        for (uint64_t i = 0; i < g[HASHES]; i++)
            tamis_i_bit_set(words, tamis_i_draw_next(&draw, g[SPAN], (unsigned)g[PER_WORD]));
    }
    return TAMIS_OK;
}

/* Does a filter have all bits of an item?  Half of them are set: a filter without the item is done
 * after two bits on average.  The positions are those of tamis_i_draw_next, a word at a time. */
static bool summary_multiple_has_all(const tamis_i_summary *summary, tamis_digest digest,
                                     unsigned filter) {
    const uint64_t *const g = summary_multiple_numbers(summary, filter);
    const uint64_t *const words = summary->body + g[BASE] / 64;
    const uint64_t span = g[SPAN];
    const unsigned per_word = (unsigned)g[PER_WORD];
    tamis_i_draw draw = tamis_i_draw_begin(digest, filter);
    unsigned left = (unsigned)g[HASHES];
    do {
        uint64_t word = tamis_i_mix(draw.state);
        draw.state += draw.step;
        unsigned n = per_word < left ? per_word : left;
        left -= n;
        do {
            if (!tamis_i_bit_get(words, tamis_i_take(&word, span)))
                return false;
        } while (--n != 0);
    } while (left != 0);
    return true;
}

static unsigned summary_multiple_ask(const tamis_i_summary *summary, tamis_digest digest) {
    const unsigned n = (unsigned)summary->params.n_types;
    for (unsigned f = 0; f < n; f++)
        if (!summary_multiple_has_all(summary, digest, f))
            return f == 0 ? TAMIS_I_SUMMARY_NONE : f - 1;
    return n - 1;
}

/* The first bits of the first filter decide about absent items, those of the second about most present
 * ones.  The processor itself overlaps the reads in between. */
static void summary_multiple_prefetch(const tamis_i_summary *summary, tamis_digest digest) {
    const unsigned n = summary->params.n_types < 2 ? 1 : 2;
    for (unsigned f = 0; f < n; f++) {
        const uint64_t *const g = summary_multiple_numbers(summary, f);
        const uint64_t width = summary_multiple_width_of(&summary->params, f);
        tamis_i_draw draw = tamis_i_draw_begin(digest, f);
        for (uint64_t i = 0; i < g[HASHES] && i < 2; i++) {
            const uint64_t at = tamis_i_draw_next(&draw, g[SPAN], (unsigned)g[PER_WORD]);
            TAMIS_PREFETCH(summary->body + (g[BASE] + at * width) / 64);
        }
    }
}

static double summary_multiple_fpr(const tamis_i_summary *summary) {
    uint64_t ones = 0;
    for (uint64_t i = 0; i < (summary->params.cells[0] + 63) / 64; i++)
        ones += (uint64_t)__builtin_popcountll(summary->body[i]);
    return pow((double)ones / (double)summary->params.cells[0], (double)summary->params.hashes[0]);
}

const tamis_i_summary_kind tamis_i_summary_multiple = {.id = TAMIS_I_SUMMARY_MULTIPLE,
                                                       .name = "multiple",
                                                       .shape = summary_multiple_shape,
                                                       .bits = summary_multiple_bits,
                                                       .attach = summary_multiple_attach,
                                                       .insert = summary_multiple_insert,
                                                       .ask = summary_multiple_ask,
                                                       .prefetch = summary_multiple_prefetch,
                                                       .fpr = summary_multiple_fpr,
                                                       .check = summary_multiple_check};

/* -------------------------------------------------------------------------------------------------
 * Counters
 */

static tamis_status summary_multiple_shape_counting(const tamis_i_summary_params *params,
                                                    uint64_t *n_words) {
    return summary_multiple_shape_any(params, true, n_words);
}

static uint64_t summary_multiple_counter_get(const tamis_i_summary *summary, unsigned filter,
                                             uint64_t i) {
    const unsigned width = (unsigned)summary->params.counter_bits[filter];
    return tamis_i_field_get(summary->body,
                             summary_multiple_numbers(summary, filter)[BASE] + i * width, width);
}

static void summary_multiple_counter_put(tamis_i_summary *summary, unsigned filter, uint64_t i,
                                         uint64_t value) {
    const unsigned width = (unsigned)summary->params.counter_bits[filter];
    tamis_i_field_put(summary->body, summary_multiple_numbers(summary, filter)[BASE] + i * width,
                      width, value);
}

/* The counters of an item, each once; returns how many.  A sketch of the counters seen recognises most
 * new ones. */
static unsigned summary_multiple_counters_of(const tamis_i_summary *summary, tamis_digest digest,
                                             unsigned filter,
                                             uint64_t at[TAMIS_I_SUMMARY_HASHES_MAX]) {
    const uint64_t *const g = summary_multiple_numbers(summary, filter);
    tamis_i_draw draw = tamis_i_draw_begin(digest, filter);
    uint64_t sketch[16] = {0};
    unsigned n = 0;
    for (uint64_t i = 0; i < g[HASHES]; i++) {
        const uint64_t next = tamis_i_draw_next(&draw, g[SPAN], (unsigned)g[PER_WORD]);
        const uint64_t bit = (uint64_t)1 << next % 64;
        uint64_t *const word = &sketch[next / 64 % 16];
        bool seen = false;
        if ((*word & bit) != 0)
            for (unsigned j = 0; j < n; j++)
                seen |= at[j] == next;
        *word |= bit;
        at[n] = next;
        n += !seen;
    }
    return n;
}

static tamis_status summary_multiple_insert_counting(tamis_i_summary *summary, tamis_digest digest,
                                                     unsigned type) {
    uint64_t at[TAMIS_I_SUMMARY_HASHES_MAX];
    for (unsigned f = 0; f <= type; f++) {
        const uint64_t saturated = tamis_i_low_mask((unsigned)summary->params.counter_bits[f]);
        const unsigned n = summary_multiple_counters_of(summary, digest, f, at);
        for (unsigned i = 0; i < n; i++) {
            const uint64_t count = summary_multiple_counter_get(summary, f, at[i]);
            if (count != saturated)
                summary_multiple_counter_put(summary, f, at[i], count + 1);
        }
    }
    return TAMIS_OK;
}

/* Look first: a zero among the counters means that there was no such item. */
static tamis_status summary_multiple_remove_counting(tamis_i_summary *summary, tamis_digest digest,
                                                     unsigned type) {
    uint64_t at[TAMIS_I_SUMMARY_HASHES_MAX];
    for (unsigned f = 0; f <= type; f++) {
        const unsigned n = summary_multiple_counters_of(summary, digest, f, at);
        for (unsigned i = 0; i < n; i++)
            if (summary_multiple_counter_get(summary, f, at[i]) == 0)
                return TAMIS_E_NOT_FOUND;
    }
    for (unsigned f = 0; f <= type; f++) {
        const uint64_t saturated = tamis_i_low_mask((unsigned)summary->params.counter_bits[f]);
        const unsigned n = summary_multiple_counters_of(summary, digest, f, at);
        for (unsigned i = 0; i < n; i++) {
            const uint64_t count = summary_multiple_counter_get(summary, f, at[i]);
            if (count != saturated)
                summary_multiple_counter_put(summary, f, at[i], count - 1);
        }
    }
    return TAMIS_OK;
}

static unsigned summary_multiple_ask_counting(const tamis_i_summary *summary, tamis_digest digest) {
    const unsigned n = (unsigned)summary->params.n_types;
    for (unsigned f = 0; f < n; f++) {
        const uint64_t *const g = summary_multiple_numbers(summary, f);
        tamis_i_draw draw = tamis_i_draw_begin(digest, f);
        for (uint64_t i = 0; i < g[HASHES]; i++) {
            const uint64_t at = tamis_i_draw_next(&draw, g[SPAN], (unsigned)g[PER_WORD]);
            if (summary_multiple_counter_get(summary, f, at) == 0)
                return f == 0 ? TAMIS_I_SUMMARY_NONE : f - 1;
        }
    }
    return n - 1;
}

static double summary_multiple_fpr_counting(const tamis_i_summary *summary) {
    uint64_t raised = 0;
    for (uint64_t i = 0; i < summary->params.cells[0]; i++)
        raised += summary_multiple_counter_get(summary, 0, i) != 0;
    return pow((double)raised / (double)summary->params.cells[0],
               (double)summary->params.hashes[0]);
}

const tamis_i_summary_kind tamis_i_summary_multiple_counting = {
    .id = TAMIS_I_SUMMARY_MULTIPLE_COUNTING,
    .name = "multiple-counting",
    .abilities = TAMIS_I_SUMMARY_CAN_REMOVE,
    .shape = summary_multiple_shape_counting,
    .bits = summary_multiple_bits,
    .attach = summary_multiple_attach,
    .insert = summary_multiple_insert_counting,
    .ask = summary_multiple_ask_counting,
    .remove = summary_multiple_remove_counting,
    .prefetch = summary_multiple_prefetch,
    .fpr = summary_multiple_fpr_counting,
    .check = summary_multiple_check};
