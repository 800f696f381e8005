/* summary_single.c - one filter whose cells hold the largest type written to them
 *
 * A cell holds 0, or 1 + the largest type of the items that have it among their cells.  Each of the k
 * hashes of an item has its own group of floor(m/k) cells.  The smallest of the k cells of an item is
 * then 1 + its type or more; 0 means that the item is not there.
 *
 * Cells of t + 1 values are packed in one of two ways, whichever takes less room:
 *
 *      digits    as many as go into a byte, as digits of a number: three cells of 0 .. 5 make 0 .. 215
 *      fields    as many bits as a value needs, side by side: 3 bits for 0 .. 6
 *
 * Digits are separated without division: a byte times 2^16 / 6^j, shifted, is the byte over 6^j.
 *
 * In the counting variant each cell has a counter for each type, of a planned width, side by side.  The
 * value of the cell is 1 + the largest type whose counter is not zero.  A counter that has reached its
 * largest value is saturated and stays so: it may be too high, which costs failures or false positives,
 * but no item is lost.
 *
 * After Kirsch and Mitzenmacher, "Simple Summaries for Hashing With Choices", IEEE/ACM Transactions
 * on Networking 16(1), 2008, sections VIII-A and XI-B.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/field.h"
#include "table/draw.h"
#include "table/summary.h"

enum { DIGITS_MAX = 8 };

/* Geometry.  WIDTH is that of a field or of a cell with counters; PER_BYTE is 0 if there are no digits.
 * From POWER on, by digit: s^j, and 2^16 / s^j rounded up, for s values of a cell.  From OFFSET on, by
 * type: the first bit of its counter in a cell. */
enum { SPAN, HASHES, PER_WORD, WIDTH, VALUES, VALUE_PART, PER_BYTE, PER_BYTE_PART };
enum { POWER = 8, POWER_PART = POWER + DIGITS_MAX, OFFSET = POWER_PART + DIGITS_MAX };
_Static_assert(OFFSET + TAMIS_I_SUMMARY_TYPES_MAX <= TAMIS_I_SUMMARY_GEOMETRY, "they fit");

/* Bits that distinguish 'values' values. */
static unsigned summary_single_bits_for(uint64_t values) {
    unsigned width = 0;
    while (((values - 1) >> width) != 0)
        width++;
    return width;
}

/* How many cells a byte has room for. */
static unsigned summary_single_digits_per_byte(uint64_t values) {
    unsigned n = 1;
    for (uint64_t states = values * values; states <= 256; states *= values)
        n++;
    return n;
}

/* Bits of the cells, and the digits per byte, or 0 for fields. */
static uint64_t summary_single_packed_bits(const tamis_i_summary_params *params,
                                           unsigned *per_byte) {
    const uint64_t cells = params->cells[0], values = params->n_types + 1;
    const uint64_t as_fields = cells * summary_single_bits_for(values);
    const unsigned n = summary_single_digits_per_byte(values);
    const uint64_t as_digits = (cells + n - 1) / n * 8;
    *per_byte = as_digits < as_fields ? n : 0;
    return as_digits < as_fields ? as_digits : as_fields;
}

static uint64_t summary_single_counting_width(const tamis_i_summary_params *params) {
    uint64_t width = 0;
    for (unsigned t = 0; t < params->n_types; t++)
        width += params->counter_bits[t];
    return width;
}

static bool summary_single_is_counting(const tamis_i_summary_params *params) {
    return params->counter_bits[0] != 0;
}

static uint64_t summary_single_bits(const tamis_i_summary_params *params) {
    unsigned per_byte;
    return summary_single_is_counting(params)
               ? params->cells[0] * summary_single_counting_width(params)
               : summary_single_packed_bits(params, &per_byte);
}

static tamis_status summary_single_shape_any(const tamis_i_summary_params *params, bool counting,
                                             uint64_t *n_words) {
    const uint64_t cells = params->cells[0], hashes = params->hashes[0];
    if (params->n_types < 1 || params->n_types > TAMIS_I_SUMMARY_TYPES_MAX ||
        params->string_bits != 0 || hashes < 1 || hashes > TAMIS_I_SUMMARY_HASHES_MAX ||
        cells < hashes)
        return TAMIS_E_ARGUMENT;
    for (unsigned t = 0; t < TAMIS_I_SUMMARY_TYPES_MAX; t++) {
        const uint64_t width = params->counter_bits[t];
        if ((t > 0 && (params->cells[t] != 0 || params->hashes[t] != 0)) ||
            (counting && t < params->n_types ? width < 1 || width > TAMIS_I_SUMMARY_COUNTER_BITS_MAX
                                             : width != 0))
            return TAMIS_E_ARGUMENT;
    }
    if (cells > TAMIS_I_SUMMARY_CELLS_MAX)
        return TAMIS_E_TOO_LARGE;
    *n_words = (summary_single_bits(params) + 511) / 512 * TAMIS_LINE_WORDS;
    return TAMIS_OK;
}

static void summary_single_attach(tamis_i_summary *summary) {
    const tamis_i_summary_params *const params = &summary->params;
    uint64_t *const g = summary->geometry;
    g[SPAN] = params->cells[0] / params->hashes[0];
    g[HASHES] = params->hashes[0];
    g[PER_WORD] = tamis_i_draw_per_word(g[SPAN]);
    if (summary_single_is_counting(params)) {
        g[WIDTH] = summary_single_counting_width(params);
        for (unsigned t = 1; t < params->n_types; t++)
            g[OFFSET + t] = g[OFFSET + t - 1] + params->counter_bits[t - 1];
        return;
    }
    unsigned per_byte;
    (void)summary_single_packed_bits(params, &per_byte);
    g[VALUES] = params->n_types + 1;
    g[VALUE_PART] = 65536 / g[VALUES] + 1;
    g[WIDTH] = summary_single_bits_for(g[VALUES]);
    g[PER_BYTE] = per_byte;
    g[PER_BYTE_PART] = per_byte > 1 ? UINT64_MAX / per_byte + 1 : 0;
    uint64_t power = 1;
    for (unsigned j = 0; j < per_byte; j++, power *= g[VALUES]) {
        g[POWER + j] = power;
        g[POWER_PART + j] = 65536 / power + 1;
    }
}

/* -------------------------------------------------------------------------------------------------
 * Cells with a value
 */

/* The byte of cell i, as its first bit, and which digit it is. */
static uint64_t summary_single_digit_of(const uint64_t *g, uint64_t i, unsigned *digit) {
    const uint64_t byte = tamis_i_mulhi(i, g[PER_BYTE_PART]);
    *digit = (unsigned)(i - byte * g[PER_BYTE]);
    return byte * 8;
}

static uint64_t summary_single_cell_get(const tamis_i_summary *summary, uint64_t i) {
    const uint64_t *const g = summary->geometry;
    if (g[PER_BYTE] == 0)
        return tamis_i_packed_get(summary->body, (unsigned)g[WIDTH], i);
    unsigned digit;
    const uint64_t at = summary_single_digit_of(g, i, &digit);
    const uint64_t byte = summary->body[at / 64] >> at % 64 & 255;
    const uint64_t upper = byte * g[POWER_PART + digit] >> 16;
    return upper - (upper * g[VALUE_PART] >> 16) * g[VALUES];
}

/* Raise cell i from 'from' to 'to'. */
static void summary_single_cell_raise(tamis_i_summary *summary, uint64_t i, uint64_t from,
                                      uint64_t to) {
    const uint64_t *const g = summary->geometry;
    if (g[PER_BYTE] == 0) {
        tamis_i_packed_put(summary->body, (unsigned)g[WIDTH], i, to);
        return;
    }
    unsigned digit;
    const uint64_t at = summary_single_digit_of(g, i, &digit);
    summary->body[at / 64] += (to - from) * g[POWER + digit] << at % 64;
}

static tamis_status summary_single_shape(const tamis_i_summary_params *params, uint64_t *n_words) {
    return summary_single_shape_any(params, false, n_words);
}

static tamis_status summary_single_insert(tamis_i_summary *summary, tamis_digest digest,
                                          unsigned type) {
    const uint64_t *const g = summary->geometry;
    tamis_i_draw draw = tamis_i_draw_begin(digest, 0);
    uint64_t group = 0;
    for (uint64_t h = 0; h < g[HASHES]; h++, group += g[SPAN]) {
        const uint64_t i = group + tamis_i_draw_next(&draw, g[SPAN], (unsigned)g[PER_WORD]);
        const uint64_t value = summary_single_cell_get(summary, i);
        if (value < type + 1u)
            summary_single_cell_raise(summary, i, value, type + 1u);
    }
    return TAMIS_OK;
}

/* The least of an item's cells, as value_of reads them: 1 + type, or 0. */
TAMIS_INLINE unsigned summary_single_ask_with(const tamis_i_summary *summary, tamis_digest digest,
                                              uint64_t (*value_of)(const tamis_i_summary *,
                                                                   uint64_t)) {
    const uint64_t *const g = summary->geometry;
    tamis_i_draw draw = tamis_i_draw_begin(digest, 0);
    uint64_t group = 0, least = summary->params.n_types;
    for (uint64_t h = 0; h < g[HASHES]; h++, group += g[SPAN]) {
        const uint64_t value =
            value_of(summary, group + tamis_i_draw_next(&draw, g[SPAN], (unsigned)g[PER_WORD]));
        if (value == 0)
            return TAMIS_I_SUMMARY_NONE;
        least = value < least ? value : least;
    }
    return (unsigned)least - 1;
}

static unsigned summary_single_ask(const tamis_i_summary *summary, tamis_digest digest) {
    return summary_single_ask_with(summary, digest, summary_single_cell_get);
}

/* For an absent item more than two cells are seldom read. */
static void summary_single_prefetch(const tamis_i_summary *summary, tamis_digest digest) {
    const uint64_t *const g = summary->geometry;
    tamis_i_draw draw = tamis_i_draw_begin(digest, 0);
    uint64_t group = 0;
    for (uint64_t h = 0; h < g[HASHES] && h < 4; h++, group += g[SPAN]) {
        const uint64_t i = group + tamis_i_draw_next(&draw, g[SPAN], (unsigned)g[PER_WORD]);
        unsigned digit;
        const uint64_t at = g[PER_BYTE] == 0 ? i * g[WIDTH] : summary_single_digit_of(g, i, &digit);
        TAMIS_PREFETCH(summary->body + at / 64);
    }
}

/* Each hash looks into its own group: the product of their fills. */
static double summary_single_fpr_with(const tamis_i_summary *summary,
                                      uint64_t (*value_of)(const tamis_i_summary *, uint64_t)) {
    const uint64_t *const g = summary->geometry;
    double rate = 1;
    for (uint64_t h = 0; h < g[HASHES]; h++) {
        uint64_t raised = 0;
        for (uint64_t i = 0; i < g[SPAN]; i++)
            raised += value_of(summary, h * g[SPAN] + i) != 0;
        rate *= (double)raised / (double)g[SPAN];
    }
    return rate;
}

static double summary_single_fpr(const tamis_i_summary *summary) {
    return summary_single_fpr_with(summary, summary_single_cell_get);
}

static bool summary_single_check(const tamis_i_summary *summary, const char **reason) {
    const uint64_t *const g = summary->geometry;
    const uint64_t used = g[SPAN] * g[HASHES];
    if (!tamis_i_summary_ends_at(summary, summary_single_bits(&summary->params), reason))
        return false;
    if (g[PER_BYTE] != 0) {
        const uint64_t states = g[POWER + g[PER_BYTE] - 1] * g[VALUES];
        for (uint64_t i = 0; i < summary->n_words; i++)
            for (unsigned b = 0; b < 64; b += 8)
                if ((summary->body[i] >> b & 255) >= states) {
                    *reason = "a cell of the summary holds no type";
                    return false;
                }
    }
    /* A few cells are in no group, and the last byte may have more digits than there are cells. */
    const uint64_t digits =
        g[PER_BYTE] == 0 ? 0 : summary_single_bits(&summary->params) / 8 * g[PER_BYTE];
    const uint64_t all = digits > summary->params.cells[0] ? digits : summary->params.cells[0];
    for (uint64_t i = 0; i < all; i++)
        if (summary_single_cell_get(summary, i) > (i < used ? summary->params.n_types : 0)) {
            *reason = "a cell of the summary holds no type";
            return false;
        }
    return true;
}

const tamis_i_summary_kind tamis_i_summary_single = {.id = TAMIS_I_SUMMARY_SINGLE,
                                                     .name = "single",
                                                     .shape = summary_single_shape,
                                                     .bits = summary_single_bits,
                                                     .attach = summary_single_attach,
                                                     .insert = summary_single_insert,
                                                     .ask = summary_single_ask,
                                                     .prefetch = summary_single_prefetch,
                                                     .fpr = summary_single_fpr,
                                                     .check = summary_single_check};

/* -------------------------------------------------------------------------------------------------
 * Cells with counters
 */

static tamis_status summary_single_shape_counting(const tamis_i_summary_params *params,
                                                  uint64_t *n_words) {
    return summary_single_shape_any(params, true, n_words);
}

/* The first bit of the counter of a type in cell i. */
static uint64_t summary_single_counter_at(const tamis_i_summary *summary, uint64_t i,
                                          unsigned type) {
    return i * summary->geometry[WIDTH] + summary->geometry[OFFSET + type];
}

static uint64_t summary_single_counter_get(const tamis_i_summary *summary, uint64_t i,
                                           unsigned type) {
    return tamis_i_field_get(summary->body, summary_single_counter_at(summary, i, type),
                             (unsigned)summary->params.counter_bits[type]);
}

/* 1 + the largest type in cell i, or 0.  Most cells are a field that can be read at once; the highest
 * set bit is then in the counter of the largest type. */
static uint64_t summary_single_largest_type(const tamis_i_summary *summary, uint64_t i) {
    const uint64_t *const g = summary->geometry;
    unsigned type = (unsigned)summary->params.n_types;
    if (g[WIDTH] <= 64) {
        const uint64_t cell = tamis_i_packed_get(summary->body, (unsigned)g[WIDTH], i);
        const unsigned highest = cell == 0 ? 0 : 63 - (unsigned)__builtin_clzll(cell);
        while (type > 0 && g[OFFSET + type - 1] > highest)
            type--;
        return cell == 0 ? 0 : type;
    }
    while (type > 0 && summary_single_counter_get(summary, i, type - 1) == 0)
        type--;
    return type;
}

/* Add 'change' to the counters of an item that are not saturated. */
static void summary_single_change_counters(tamis_i_summary *summary, tamis_digest digest,
                                           unsigned type, uint64_t change) {
    const uint64_t *const g = summary->geometry;
    const unsigned width = (unsigned)summary->params.counter_bits[type];
    const uint64_t saturated = tamis_i_low_mask(width);
    tamis_i_draw draw = tamis_i_draw_begin(digest, 0);
    uint64_t group = 0;
    for (uint64_t h = 0; h < g[HASHES]; h++, group += g[SPAN]) {
        const uint64_t i = group + tamis_i_draw_next(&draw, g[SPAN], (unsigned)g[PER_WORD]);
        const uint64_t count = summary_single_counter_get(summary, i, type);
        if (count != saturated)
            tamis_i_field_put(summary->body, summary_single_counter_at(summary, i, type), width,
                              count + change);
    }
}

static tamis_status summary_single_insert_counting(tamis_i_summary *summary, tamis_digest digest,
                                                   unsigned type) {
    summary_single_change_counters(summary, digest, type, 1);
    return TAMIS_OK;
}

static tamis_status summary_single_remove_counting(tamis_i_summary *summary, tamis_digest digest,
                                                   unsigned type) {
    const uint64_t *const g = summary->geometry;
    tamis_i_draw draw = tamis_i_draw_begin(digest, 0);
    uint64_t group = 0;
    for (uint64_t h = 0; h < g[HASHES]; h++, group += g[SPAN]) {
        const uint64_t i = group + tamis_i_draw_next(&draw, g[SPAN], (unsigned)g[PER_WORD]);
        if (summary_single_counter_get(summary, i, type) == 0)
            return TAMIS_E_NOT_FOUND;
    }
    summary_single_change_counters(summary, digest, type, ~(uint64_t)0);
    return TAMIS_OK;
}

static unsigned summary_single_ask_counting(const tamis_i_summary *summary, tamis_digest digest) {
    return summary_single_ask_with(summary, digest, summary_single_largest_type);
}

static double summary_single_fpr_counting(const tamis_i_summary *summary) {
    return summary_single_fpr_with(summary, summary_single_largest_type);
}

static bool summary_single_check_counting(const tamis_i_summary *summary, const char **reason) {
    const uint64_t *const g = summary->geometry;
    return tamis_i_summary_ends_at(summary, g[SPAN] * g[HASHES] * g[WIDTH], reason);
}

const tamis_i_summary_kind tamis_i_summary_single_counting = {
    .id = TAMIS_I_SUMMARY_SINGLE_COUNTING,
    .name = "single-counting",
    .abilities = TAMIS_I_SUMMARY_CAN_REMOVE,
    .shape = summary_single_shape_counting,
    .bits = summary_single_bits,
    .attach = summary_single_attach,
    .insert = summary_single_insert_counting,
    .ask = summary_single_ask_counting,
    .remove = summary_single_remove_counting,
    .prefetch = summary_single_prefetch,
    .fpr = summary_single_fpr_counting,
    .check = summary_single_check_counting};
