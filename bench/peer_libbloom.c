/* peer_libbloom.c - libbloom, a standard Bloom filter in C (Debian: libbloom-dev)
 *
 * It gets the same number of bits and of hashes as our 'bloom' at the same bits per key.  Its interface
 * takes entries and error rate and derives
 *
 *      bits = entries x b,   hashes = ceil(b ln 2),   b = -ln(error) / ln(2)^2,
 *
 * so for 'bits' and 'hashes' we choose b = (hashes - 1/2) / ln 2 and entries to fit.  Sizes are of type
 * int: tables of 256 MiB and more cannot be made.  It hashes integers as their 8 bytes (MurmurHash2,
 * twice 32 bits), and has no batches.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench/bench.h"

#include <bloom.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include <tamis/model.h>

#define LN2 0.69314718055994531

static const char *create(bench_subject *subject, const bench_setup *setup) {
    if (setup->digests || setup->text)
        return "it takes keys only, no digests";
    const double bits = floor((double)setup->n * setup->bits);
    if (bits > (double)INT_MAX - 64)
        return "its tables have less than 2^31 bits";
    const double best = round(setup->bits * LN2);
    const double hashes = best < 1 ? 1 : best;
    const double entries = round(bits / ((hashes - 0.5) / LN2));
    if (entries < 1000) /* its own lower limit */
        return "its tables have at least 1000 entries";
    struct bloom *const filter = calloc(1, sizeof *filter);
    if (filter == NULL)
        return "no memory";
    if (bloom_init(filter, (int)entries, exp(-bits / entries * LN2 * LN2)) != 0) {
        free(filter);
        return "bloom_init refused";
    }
    bench_advise(filter->bf, (size_t)filter->bytes, setup->huge);
    (void)bloom_reset(filter); /* touches the memory */
    double fpr;
    subject->self = filter;
    subject->bytes = (uint64_t)filter->bytes;
    subject->predicted_fpr = tamis_model_bloom(filter->bits, (double)setup->n,
                                               (unsigned)filter->hashes, &fpr) == TAMIS_OK
                                 ? fpr
                                 : NAN;
    subject->lines = 2; /* as for every Bloom filter that is half full */
    return NULL;
}

static void destroy(bench_subject *subject) {
    bloom_free(subject->self);
    free(subject->self);
    subject->self = NULL;
}

static void clear(const bench_subject *subject) {
    (void)bloom_reset(subject->self);
}

static size_t insert(const bench_subject *subject, const bench_keys *keys) {
    size_t added = 0;
    for (size_t i = 0; i < keys->n; i++)
        added += bloom_add(subject->self, &keys->u64[i], sizeof keys->u64[i]) == 0;
    return added;
}

static size_t query(const bench_subject *subject, const bench_keys *keys) {
    size_t present = 0;
    for (size_t i = 0; i < keys->n; i++)
        present += bloom_check(subject->self, &keys->u64[i], sizeof keys->u64[i]) == 1;
    return present;
}

const bench_engine bench_engine_libbloom = {
    .create = create, .destroy = destroy, .clear = clear, .insert = {insert}, .query = {query}};
