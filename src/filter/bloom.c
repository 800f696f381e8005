/* bloom.c - the standard Bloom filter
 *
 * A key sets k bits of a table of m.  It is present if all k are set.  With 'partitioned' each of the
 * k hashes has its own part of floor(m/k) bits.
 *
 * The k positions come from a linear congruential sequence that starts at one half of the digest and
 * has the other as its increment.  Unlike double hashing, whose positions are an arithmetic progression
 * and overlap more often in small tables, every step multiplies, so that the high bits, from which the
 * position is taken, depend on all bits of the digest.
 *
 * After B. H. Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors", CACM 1970.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/field.h"
#include "filter/guard.h"
#include "filter/probe.h"
#include "hash/hash.h"

#include <math.h>

#define BITS_MAX ((uint64_t)1 << 48)

enum { SPAN, PER_KEY, STEP }; /* geometry: bits a hash ranges over, k, distance between ranges */

static tamis_status bloom_shape(tamis_params *params, uint64_t *n_table) {
    uint64_t *const bits = &params->value[TAMIS_BLOOM_BITS];
    uint64_t *const hashes = &params->value[TAMIS_BLOOM_HASHES];
    if (*bits == 0)
        *bits = tamis_i_probe_default_cells(params->capacity);
    if (*hashes == 0)
        *hashes = tamis_i_probe_default_hashes(*bits, params->capacity);
    if (*bits > BITS_MAX || *hashes > TAMIS_I_PROBES_MAX || *bits < *hashes ||
        params->value[TAMIS_BLOOM_PARTITIONED] > 1 || params->stash != 0)
        return TAMIS_E_ARGUMENT;
    *n_table = (*bits + 511) / 512 * TAMIS_LINE_WORDS;
    return TAMIS_OK;
}

static void bloom_attach(tamis_filter *filter) {
    const uint64_t bits = filter->params.value[TAMIS_BLOOM_BITS];
    const uint64_t hashes = filter->params.value[TAMIS_BLOOM_HASHES];
    const bool parts = filter->params.value[TAMIS_BLOOM_PARTITIONED] != 0;
    filter->geometry[SPAN] = parts ? bits / hashes : bits;
    filter->geometry[STEP] = parts ? bits / hashes : 0;
    filter->geometry[PER_KEY] = hashes;
}

static bool bloom_contains(const tamis_filter *filter, tamis_digest digest) {
    const uint64_t span = filter->geometry[SPAN], step = filter->geometry[STEP];
    const unsigned k = (unsigned)filter->geometry[PER_KEY];
    uint64_t base = 0;
    for (unsigned i = 0; i < k; i++, base += step)
        if (!tamis_i_bit_get(filter->table, base + tamis_i_probe_next(&digest, span)))
            return false;
    return true;
}

static tamis_status bloom_insert(tamis_filter *filter, tamis_digest digest, bool *added) {
    const uint64_t span = filter->geometry[SPAN], step = filter->geometry[STEP];
    const unsigned k = (unsigned)filter->geometry[PER_KEY];
    uint64_t base = 0, fresh = 0;
    for (unsigned i = 0; i < k; i++, base += step) {
        const uint64_t at = base + tamis_i_probe_next(&digest, span);
        const uint64_t bit = (uint64_t)1 << at % 64;
        fresh |= bit & ~filter->table[at / 64];
        filter->table[at / 64] |= bit;
    }
    *added = fresh != 0;
    filter->state[TAMIS_I_COUNT] += fresh != 0;
    return TAMIS_OK;
}

/* A query for an absent key seldom goes past the second bit. */
static void bloom_prefetch(const tamis_filter *filter, tamis_digest digest, bool write) {
    const uint64_t span = filter->geometry[SPAN], step = filter->geometry[STEP];
    const unsigned k = (unsigned)filter->geometry[PER_KEY];
    const unsigned ahead = write || k < 2 ? k : 2;
    uint64_t base = 0;
    for (unsigned i = 0; i < ahead; i++, base += step)
        TAMIS_PREFETCH(filter->table + (base + tamis_i_probe_next(&digest, span)) / 64);
}

static bool bloom_touch(const tamis_filter *filter, tamis_digest digest) {
    const uint64_t span = filter->geometry[SPAN], step = filter->geometry[STEP];
    const unsigned k = (unsigned)filter->geometry[PER_KEY];
    uint64_t base = 0;
    bool good = true;
    for (unsigned i = 0; i < k && good; i++, base += step)
        good = tamis_i_guard_words(
            filter, filter->table + (base + tamis_i_probe_next(&digest, span)) / 64, 1);
    return good;
}

static tamis_status bloom_merge(tamis_filter *filter, const tamis_filter *source) {
    for (uint64_t i = 0; i < filter->n_table; i++)
        filter->table[i] |= source->table[i];
    return TAMIS_OK;
}

/* The error rate is the product of the fills of the parts that the hashes range over.  It is at most the
 * power of their mean, by which a slice is told. */
static void bloom_info(const tamis_filter *filter, tamis_i_slice slice, tamis_info *info) {
    const uint64_t span = filter->geometry[SPAN], step = filter->geometry[STEP];
    const unsigned k = (unsigned)filter->geometry[PER_KEY];
    const uint64_t used = step == 0 ? span : k * step;
    const uint64_t from = tamis_i_slice_from(slice, filter->n_table);
    const uint64_t end = tamis_i_slice_end(slice, filter->n_table);
    const uint64_t all = filter->words->ones(filter->table + from, (size_t)(end - from));
    if (step == 0 || slice.parts > 1) {
        const uint64_t bits = (used < 64 * end ? used : 64 * end) - 64 * from;
        info->fpr = pow((double)all / (double)bits, k);
    } else {
        info->fpr = 1;
        for (unsigned i = 0; i < k; i++) {
            const uint64_t ones = filter->words->rank(filter->table, (i + 1) * step) -
                                  filter->words->rank(filter->table, i * step);
            info->fpr *= (double)ones / (double)span;
        }
    }
    info->n_loads = 2;
    info->load_histogram[0] = filter->params.value[TAMIS_BLOOM_BITS] - all;
    info->load_histogram[1] = all;
}

static bool bloom_fill(const tamis_filter *filter, tamis_i_fill *fill) {
    const uint64_t span = filter->geometry[SPAN], k = filter->geometry[PER_KEY];
    const bool parts = filter->geometry[STEP] != 0;
    const tamis_i_fill_shape shape = {1, (double)(parts ? k * span : span), (double)k, parts};
    tamis_i_fill_of(&shape, (double)filter->params.capacity, fill);
    fill->set = (double)filter->words->ones(filter->table, (size_t)filter->n_table);
    return true;
}

static bool bloom_check(const tamis_filter *filter, const char **reason) {
    const uint64_t span = filter->geometry[SPAN], step = filter->geometry[STEP];
    const uint64_t used = step == 0 ? span : filter->geometry[PER_KEY] * step;
    const uint64_t ones = filter->words->ones(filter->table, (size_t)filter->n_table);
    if (ones != filter->words->rank(filter->table, used)) {
        *reason = "the table has bits past its end";
        return false;
    }
    return tamis_i_probe_check_count(filter, ones, reason);
}

const tamis_i_kind tamis_i_bloom = {.id = TAMIS_KIND_BLOOM,
                                    .name = "bloom",
                                    .abilities = TAMIS_CAN_MERGE,
                                    .params = {"bits", "hashes", "partitioned"},
                                    .shape = bloom_shape,
                                    .attach = bloom_attach,
                                    .insert = bloom_insert,
                                    .contains = bloom_contains,
                                    .prefetch = bloom_prefetch,
                                    .touch = bloom_touch,
                                    .merge = bloom_merge,
                                    .fill = bloom_fill,
                                    .info = bloom_info,
                                    .check = bloom_check};
