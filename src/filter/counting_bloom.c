/* counting_bloom.c - the counting Bloom filter
 *
 * As bloom.c, with counters of 4 bits instead of bits: a key raises k counters by one each, and its
 * removal lowers them.  A multiset.
 *
 * A counter that has reached 15 is saturated: it is neither raised nor lowered any more.  So it may be
 * too high for ever, which costs false positives, but it is never too low, which would lose keys.
 * The state keeps no number of saturated counters; info counts them.
 *
 * A key whose sequence visits one counter twice raises it twice and lowers it twice.  Removal lowers in
 * the order of the sequence and, if it meets a zero, raises again what it has lowered: that restores
 * the table exactly, because no counter that it lowered was saturated.
 *
 * After Fan, Cao, Almeida and Broder, "Summary Cache: A Scalable Wide-Area Web Cache Sharing Protocol",
 * SIGCOMM 1998.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/guard.h"
#include "filter/probe.h"

#include <math.h>

#define COUNTERS_MAX ((uint64_t)1 << 46)
#define SATURATED    15u
#define ALL_ONES     0x1111111111111111u /* the lowest bit of every counter of a word */

static tamis_status counting_bloom_shape(tamis_params *params, uint64_t *n_table) {
    uint64_t *const counters = &params->value[TAMIS_COUNTING_BLOOM_COUNTERS];
    uint64_t *const hashes = &params->value[TAMIS_COUNTING_BLOOM_HASHES];
    if (*counters == 0)
        *counters = tamis_i_probe_default_cells(params->capacity);
    if (*hashes == 0)
        *hashes = tamis_i_probe_default_hashes(*counters, params->capacity);
    if (*counters > COUNTERS_MAX || *hashes > TAMIS_I_PROBES_MAX || params->stash != 0)
        return TAMIS_E_ARGUMENT;
    *n_table = (*counters + 127) / 128 * TAMIS_LINE_WORDS;
    return TAMIS_OK;
}

static unsigned counting_bloom_counter_get(const tamis_filter *filter, uint64_t i) {
    return (unsigned)(filter->table[i / 16] >> 4 * (i % 16) & 15);
}

static void counting_bloom_counter_raise(tamis_filter *filter, uint64_t i) {
    filter->table[i / 16] += (uint64_t)1 << 4 * (i % 16);
}

static void counting_bloom_counter_lower(tamis_filter *filter, uint64_t i) {
    filter->table[i / 16] -= (uint64_t)1 << 4 * (i % 16);
}

/* The smallest of the k counters; stops at a zero. */
static uint64_t counting_bloom_copies(const tamis_filter *filter, tamis_digest digest) {
    const uint64_t span = filter->params.value[TAMIS_COUNTING_BLOOM_COUNTERS];
    const unsigned k = (unsigned)filter->params.value[TAMIS_COUNTING_BLOOM_HASHES];
    unsigned least = SATURATED;
    for (unsigned i = 0; i < k && least != 0; i++) {
        const unsigned count =
            counting_bloom_counter_get(filter, tamis_i_probe_next(&digest, span));
        least = count < least ? count : least;
    }
    return least;
}

static bool counting_bloom_contains(const tamis_filter *filter, tamis_digest digest) {
    return counting_bloom_copies(filter, digest) != 0;
}

static tamis_status counting_bloom_insert(tamis_filter *filter, tamis_digest digest, bool *added) {
    const uint64_t span = filter->params.value[TAMIS_COUNTING_BLOOM_COUNTERS];
    const unsigned k = (unsigned)filter->params.value[TAMIS_COUNTING_BLOOM_HASHES];
    /* A counter that this very key has raised from zero before does not make it an old key, so the
     * answer is that of a query before the first change. */
    *added = !counting_bloom_contains(filter, digest);
    for (unsigned i = 0; i < k; i++) {
        const uint64_t at = tamis_i_probe_next(&digest, span);
        if (counting_bloom_counter_get(filter, at) != SATURATED)
            counting_bloom_counter_raise(filter, at);
    }
    filter->state[TAMIS_I_COUNT]++;
    return TAMIS_OK;
}

static tamis_status counting_bloom_remove_one(tamis_filter *filter, tamis_digest digest) {
    const uint64_t span = filter->params.value[TAMIS_COUNTING_BLOOM_COUNTERS];
    const unsigned k = (unsigned)filter->params.value[TAMIS_COUNTING_BLOOM_HASHES];
    uint64_t lowered[TAMIS_I_PROBES_MAX];
    unsigned n_lowered = 0;
    for (unsigned i = 0; i < k; i++) {
        const uint64_t at = tamis_i_probe_next(&digest, span);
        const unsigned count = counting_bloom_counter_get(filter, at);
        if (count == 0) {
            while (n_lowered > 0)
                counting_bloom_counter_raise(filter, lowered[--n_lowered]);
            return TAMIS_E_NOT_FOUND;
        }
        if (count != SATURATED) {
            counting_bloom_counter_lower(filter, at);
            lowered[n_lowered++] = at;
        }
    }
    /* With saturated counters a key can seem to be there after all have left. */
    filter->state[TAMIS_I_COUNT] -= filter->state[TAMIS_I_COUNT] != 0;
    return TAMIS_OK;
}

static void counting_bloom_prefetch(const tamis_filter *filter, tamis_digest digest, bool write) {
    const uint64_t span = filter->params.value[TAMIS_COUNTING_BLOOM_COUNTERS];
    const unsigned k = (unsigned)filter->params.value[TAMIS_COUNTING_BLOOM_HASHES];
    const unsigned ahead = write || k < 2 ? k : 2;
    for (unsigned i = 0; i < ahead; i++)
        TAMIS_PREFETCH(filter->table + tamis_i_probe_next(&digest, span) / 16);
}

static bool counting_bloom_touch(const tamis_filter *filter, tamis_digest digest) {
    const uint64_t span = filter->params.value[TAMIS_COUNTING_BLOOM_COUNTERS];
    const unsigned k = (unsigned)filter->params.value[TAMIS_COUNTING_BLOOM_HASHES];
    bool good = true;
    for (unsigned i = 0; i < k && good; i++)
        good =
            tamis_i_guard_words(filter, filter->table + tamis_i_probe_next(&digest, span) / 16, 1);
    return good;
}

/* Sixteen counters at once: sums of the even and of the odd counters in bytes; a sum of 15 or more, and
 * a counter that was saturated before, stay at 15. */
static tamis_status counting_bloom_merge(tamis_filter *filter, const tamis_filter *source) {
    const uint64_t even = 0x0f0f0f0f0f0f0f0fu;
    for (uint64_t i = 0; i < filter->n_table; i++) {
        const uint64_t a = filter->table[i], b = source->table[i];
        uint64_t halves[2];
        for (unsigned odd = 0; odd < 2; odd++) {
            const uint64_t sum = (a >> 4 * odd & even) + (b >> 4 * odd & even);
            const uint64_t over = (sum >> 4 & 0x0101010101010101u) * 15; /* 15 where sum > 15 */
            halves[odd] = (sum | over) & even;
        }
        filter->table[i] = halves[0] | halves[1] << 4;
    }
    return TAMIS_OK;
}

/* The nonzero counters of a word, one bit each. */
static uint64_t counting_bloom_nonzero(uint64_t word) {
    word |= word >> 2;
    word |= word >> 1;
    return word & ALL_ONES;
}

static void counting_bloom_info(const tamis_filter *filter, tamis_i_slice slice, tamis_info *info) {
    const uint64_t counters = filter->params.value[TAMIS_COUNTING_BLOOM_COUNTERS];
    const double n = tamis_i_slice_size(slice, counters);
    info->n_loads = SATURATED + 1;
    const uint64_t end = tamis_i_slice_end(slice, counters);
    for (uint64_t i = tamis_i_slice_from(slice, counters); i < end; i++)
        info->load_histogram[counting_bloom_counter_get(filter, i)]++;
    const double filled = (n - (double)info->load_histogram[0]) / n;
    info->fpr = pow(filled, (double)filter->params.value[TAMIS_COUNTING_BLOOM_HASHES]);
    info->saturated = info->load_histogram[SATURATED];
}

static bool counting_bloom_fill(const tamis_filter *filter, tamis_i_fill *fill) {
    const tamis_i_fill_shape shape = {
        1, (double)filter->params.value[TAMIS_COUNTING_BLOOM_COUNTERS],
        (double)filter->params.value[TAMIS_COUNTING_BLOOM_HASHES], false};
    uint64_t set = 0;
    for (uint64_t i = 0; i < filter->n_table; i++) {
        const uint64_t nonzero = counting_bloom_nonzero(filter->table[i]);
        set += nonzero * ALL_ONES >> 60; /* up to 15 of 16 */
        set += nonzero == ALL_ONES ? 16 : 0;
    }
    tamis_i_fill_of(&shape, (double)filter->params.capacity, fill);
    fill->set = (double)set;
    return true;
}

/* As long as no counter is saturated, none ever was, and the counters add up to k times the keys. */
static bool counting_bloom_check(const tamis_filter *filter, const char **reason) {
    const uint64_t counters = filter->params.value[TAMIS_COUNTING_BLOOM_COUNTERS];
    const uint64_t count = filter->state[TAMIS_I_COUNT];
    uint64_t sum = 0, expected;
    bool saturated = false;
    for (uint64_t i = 0; i < filter->n_table; i++) {
        uint64_t word = filter->table[i];
        if (counting_bloom_nonzero(~word) != ALL_ONES)
            saturated = true;
        for (; word != 0; word >>= 4)
            sum += word & 15;
    }
    const unsigned rest = (unsigned)(counters % 16);
    for (uint64_t i = counters / 16; i < filter->n_table; i++) {
        const unsigned first = i == counters / 16 ? 4 * rest : 0;
        if (filter->table[i] >> first != 0) {
            *reason = "the table has counters past its end";
            return false;
        }
    }
    const bool fits =
        tamis_i_mul(count, filter->params.value[TAMIS_COUNTING_BLOOM_HASHES], &expected);
    if (!saturated && !(fits && sum == expected)) {
        *reason = "the counters do not add up to the number of keys";
        return false;
    }
    return true;
}

const tamis_i_kind tamis_i_counting_bloom = {.id = TAMIS_KIND_COUNTING_BLOOM,
                                             .name = "counting-bloom",
                                             .counters = true,
                                             .abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT |
                                                          TAMIS_CAN_MERGE,
                                             .params = {"counters", "hashes"},
                                             .shape = counting_bloom_shape,
                                             .insert = counting_bloom_insert,
                                             .contains = counting_bloom_contains,
                                             .remove = counting_bloom_remove_one,
                                             .copies = counting_bloom_copies,
                                             .prefetch = counting_bloom_prefetch,
                                             .touch = counting_bloom_touch,
                                             .merge = counting_bloom_merge,
                                             .fill = counting_bloom_fill,
                                             .info = counting_bloom_info,
                                             .check = counting_bloom_check};
