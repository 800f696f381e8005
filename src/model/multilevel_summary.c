/* multilevel_summary.c - summaries that tell which sub-table holds an item: failure odds and sizes
 *
 * Symbols: n = items, d = sub-tables, type i = the item is in sub-table i, m = cells and k = hashes
 * of a filter, b = bits of a string.  S_i = the items of type above i.
 *
 * A failure is a summary that names the wrong sub-table for some item in the table.  A false positive
 * is an absent item for which it names any.  A crisis, an item that found no place, comes on top and
 * belongs to the table (multilevel.c).
 *
 * In both Bloom filter summaries an item of type i is mistaken when all of its k cells were raised
 * by the |S_i| = l items of higher type, which has probability q_l = (1 - (1 - k/m)^l)^k in a
 * partitioned filter.  Union bounds over the items of type i and over the types give
 *
 *     f = sum over i < d of E[(|S_{i-1}| - |S_i|) q_{|S_i|}]          (appendix III, (4) and (5)).
 *
 * The expectation is over the joint distribution of |S_{i-1}| and |S_i|. Since q depends on l alone,
 * the walk through the sub-tables only has to keep, for each l, the expected number of items placed.
 * Any number of filters can then be tried on that.
 *
 * Confirmed by tests/model/test_model_multilevel.c.
 *
 * After Kirsch and Mitzenmacher, "Simple Summaries for Hashing With Choices", IEEE/ACM Transactions
 * on Networking 16(1), 2008, sections IV, V, VII to IX and XI-B, appendix III.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tamis/model.h"

#include <math.h>

#include "base/base.h"
#include "model/multilevel.h"

enum { STRING_BITS_MAX = 128, COUNTER_BITS_MAX = 64 };

static double model_multilevel_summary_at_most_one(double x) {
    return x < 1 ? x : 1;
}

/* log prod_{i<n} (1 - i/M), the birthday problem, for M a power of two.
 *
 * For few items the product is multiplied out.  For many, the Euler-Maclaurin formula gives the sum of
 * logarithms: integral, half the difference of the ends, a twelfth of that of the slopes; the next term
 * is below 1/(360 n^3).  The integral is M times g(r) = -(1-r) log(1-r) - r with r = n/M.  Its two
 * parts cancel for small r; there its series -sum r^k / (k (k-1)) is used. */
static double model_multilevel_summary_log_all_distinct(uint64_t n, double M) {
    if (n <= 4096) {
        double sum = 0;
        for (uint64_t i = 1; i < n; i++)
            sum += log1p(-(double)i / M);
        return sum;
    }
    const double r = (double)n / M;
    double g = 0;
    if (r < 0.1) {
        double power = r;
        for (int k = 2; k <= 20; k++) {
            power *= r;
            g -= power / (k * (k - 1));
        }
    } else {
        g = -(1 - r) * log1p(-r) - r;
    }
    return M * g - 0.5 * log1p(-r) + (1 / M - 1 / (M - (double)n)) / 12;
}

tamis_status tamis_model_summary_interpolation(uint64_t n, unsigned bits, double *failure,
                                               double *fpr) {
    if (bits < 1 || bits > STRING_BITS_MAX)
        return TAMIS_E_DOMAIN;
    const double M = ldexp(1, (int)bits);
    const double items = (double)n;
    /* The logarithm is at most -n(n-1)/2M: past 800 the chance of n different strings is zero. */
    const bool crowded = n > 1 && items * (items - 1) / 2 > 800 * M;
    *failure =
        n > 1 ? (crowded || items > M ? 1 : -expm1(model_multilevel_summary_log_all_distinct(n, M)))
              : 0;
    *fpr = -expm1(items * log1p(-1 / M));
    return TAMIS_OK;
}

/* sum placed[l] q_l; the filter has been checked. */
static double model_multilevel_summary_mistaken(const double *placed, uint64_t n, double cells,
                                                unsigned hashes) {
    const double log_spared = log1p(-(double)hashes / cells);
    double sum = 0;
    for (uint64_t l = 1; l <= n; l++)
        if (placed[l] > 0)
            sum += placed[l] * pow(-expm1((double)l * log_spared), hashes);
    return sum;
}

static bool model_multilevel_summary_valid_filter(uint64_t cells, unsigned hashes) {
    return hashes >= 1 && cells > hashes && cells <= TAMIS_MULTILEVEL_BUCKETS_MAX;
}

tamis_status tamis_model_summary_failure(uint64_t n, const double *placed, uint64_t cells,
                                         unsigned hashes, double *odds) {
    if (n > TAMIS_MULTILEVEL_ITEMS_MAX || !model_multilevel_summary_valid_filter(cells, hashes))
        return TAMIS_E_DOMAIN;
    for (uint64_t l = 0; l <= n; l++)
        if (!(placed[l] >= 0 && isfinite(placed[l])))
            return TAMIS_E_DOMAIN;
    *odds = model_multilevel_summary_at_most_one(
        model_multilevel_summary_mistaken(placed, n, (double)cells, hashes));
    return TAMIS_OK;
}

/* Walk through the tables; 'filter_step' is 1 if each type has its own filter and 0 if all share
 * the first. */
static tamis_status model_multilevel_summary_walk_failures(uint64_t n, const uint64_t *buckets,
                                                           unsigned n_tables, const uint64_t *cells,
                                                           const unsigned *hashes,
                                                           unsigned filter_step, double *work,
                                                           size_t work_len, double *failure,
                                                           double *crisis, double *neglected) {
    tamis_i_multilevel_walk walk;
    const tamis_status status =
        tamis_i_multilevel_start(&walk, n, buckets, n_tables, work, work_len);
    if (status != TAMIS_OK)
        return status;
    double sum = 0;
    for (unsigned i = 0; i < n_tables; i++) {
        tamis_i_multilevel_pass(&walk, buckets[i]);
        const unsigned f = (i + 1) * filter_step;
        if (i + 1 < n_tables) /* items of the last type cannot be mistaken */
            sum += model_multilevel_summary_mistaken(walk.placed, n, (double)cells[f], hashes[f]);
    }
    *failure = model_multilevel_summary_at_most_one(sum);
    if (crisis != NULL)
        *crisis = tamis_i_multilevel_crisis(&walk);
    if (neglected != NULL)
        *neglected = walk.neglected;
    return TAMIS_OK;
}

tamis_status tamis_model_summary_single(uint64_t n, const uint64_t *buckets, unsigned n_tables,
                                        uint64_t cells, unsigned hashes, double *work,
                                        size_t work_len, double *failure, double *crisis,
                                        double *neglected) {
    if (!model_multilevel_summary_valid_filter(cells, hashes))
        return TAMIS_E_DOMAIN;
    return model_multilevel_summary_walk_failures(n, buckets, n_tables, &cells, &hashes, 0, work,
                                                  work_len, failure, crisis, neglected);
}

tamis_status tamis_model_summary_multiple(uint64_t n, const uint64_t *buckets, unsigned n_tables,
                                          const uint64_t *bits, const unsigned *hashes,
                                          double *work, size_t work_len, double *failure,
                                          double *crisis, double *neglected) {
    if (n_tables > TAMIS_MULTILEVEL_TABLES_MAX)
        return TAMIS_E_DOMAIN;
    for (unsigned i = 0; i < n_tables; i++)
        if (!model_multilevel_summary_valid_filter(bits[i], hashes[i]))
            return TAMIS_E_DOMAIN;
    return model_multilevel_summary_walk_failures(n, buckets, n_tables, bits, hashes, 1, work,
                                                  work_len, failure, crisis, neglected);
}

/* Whole bytes for 'bits', and the table with one bit for each bucket of the hash table. */
static tamis_status model_multilevel_summary_bytes_with_bit_table(uint64_t bits,
                                                                  const uint64_t *buckets,
                                                                  unsigned n_tables,
                                                                  uint64_t *bytes) {
    if (n_tables < 1 || n_tables > TAMIS_MULTILEVEL_TABLES_MAX)
        return TAMIS_E_DOMAIN;
    uint64_t occupancy = 0;
    for (unsigned i = 0; i < n_tables; i++)
        if (buckets[i] < 1 || !tamis_i_add(occupancy, buckets[i], &occupancy))
            return TAMIS_E_DOMAIN;
    *bytes = bits / 8 + (bits % 8 != 0) + occupancy / 8 + (occupancy % 8 != 0);
    return TAMIS_OK;
}

/* Bits that distinguish 'values' values. */
static unsigned model_multilevel_summary_bits_for(unsigned values) {
    unsigned bits = 0;
    while (((values - 1) >> bits) != 0)
        bits++;
    return bits;
}

tamis_status tamis_model_summary_interpolation_bytes(uint64_t n, unsigned bits,
                                                     const uint64_t *buckets, unsigned n_tables,
                                                     uint64_t *bytes) {
    uint64_t all;
    if (bits < 1 || bits > STRING_BITS_MAX || n_tables < 1 ||
        !tamis_i_mul(n, bits + model_multilevel_summary_bits_for(n_tables), &all))
        return TAMIS_E_DOMAIN;
    return model_multilevel_summary_bytes_with_bit_table(all, buckets, n_tables, bytes);
}

tamis_status tamis_model_summary_single_bytes(uint64_t cells, const unsigned *counter_bits,
                                              const uint64_t *buckets, unsigned n_tables,
                                              uint64_t *bytes) {
    if (n_tables < 1 || n_tables > TAMIS_MULTILEVEL_TABLES_MAX || cells < 1 ||
        cells > TAMIS_MULTILEVEL_BUCKETS_MAX)
        return TAMIS_E_DOMAIN;
    uint64_t bits = 0;
    if (counter_bits != NULL) {
        uint64_t per_cell = 0;
        for (unsigned i = 0; i < n_tables; i++) {
            if (counter_bits[i] < 1 || counter_bits[i] > COUNTER_BITS_MAX)
                return TAMIS_E_DOMAIN;
            per_cell += counter_bits[i];
        }
        if (!tamis_i_mul(cells, per_cell, &bits))
            return TAMIS_E_DOMAIN;
    } else {
        /* As many cells per byte as it can count, or bit fields side by side, whichever is less. */
        uint64_t per_byte = 0;
        for (unsigned states = n_tables + 1; states <= 256; states *= n_tables + 1)
            per_byte++;
        bits = cells * model_multilevel_summary_bits_for(n_tables + 1);
        if (per_byte > 0 && (cells + per_byte - 1) / per_byte * 8 < bits)
            bits = (cells + per_byte - 1) / per_byte * 8;
    }
    return model_multilevel_summary_bytes_with_bit_table(bits, buckets, n_tables, bytes);
}

tamis_status tamis_model_summary_multiple_bytes(const uint64_t *bits, const unsigned *counter_bits,
                                                const uint64_t *buckets, unsigned n_tables,
                                                uint64_t *bytes) {
    if (n_tables < 1 || n_tables > TAMIS_MULTILEVEL_TABLES_MAX)
        return TAMIS_E_DOMAIN;
    uint64_t all = 0;
    for (unsigned i = 0; i < n_tables; i++) {
        const unsigned width = counter_bits != NULL ? counter_bits[i] : 1;
        uint64_t filter;
        if (width < 1 || width > COUNTER_BITS_MAX || !tamis_i_mul(bits[i], width, &filter) ||
            !tamis_i_add(all, filter, &all))
            return TAMIS_E_DOMAIN;
    }
    return model_multilevel_summary_bytes_with_bit_table(all, buckets, n_tables, bytes);
}

/* An item that has a bucket to itself is kept there, so a crisis needs an item all of whose buckets
 * were hit by others. */
tamis_status tamis_model_song(uint64_t n, uint64_t buckets, unsigned hashes, unsigned counter_bits,
                              double *fpr, double *crisis, uint64_t *bytes) {
    uint64_t bits;
    if (buckets < 1 || hashes < 1 || counter_bits < 1 || counter_bits > COUNTER_BITS_MAX ||
        !tamis_i_mul(buckets, counter_bits, &bits))
        return TAMIS_E_DOMAIN;
    double rate;
    const tamis_status status = tamis_model_bloom((double)buckets, (double)n, hashes, &rate);
    if (status != TAMIS_OK)
        return status;
    *fpr = rate;
    *crisis = model_multilevel_summary_at_most_one((double)n * rate);
    *bytes = bits / 8 + (bits % 8 != 0);
    return TAMIS_OK;
}

/* The probability that an item leaves its bucket when the counter there is raised, if each bucket is hit by a
 * Poisson number of others, of this mean: 1 - P(it stays).  It is in bucket t, hit by j others, and stays
 * if that is still the smallest: those before t are hit by j + 2 or more, those after it by j + 1 or more. */
static double model_multilevel_summary_song_leaves(double mean, unsigned hashes) {
    double term = exp(-mean), tail = 1, stays = 0; /* of j, and of j or more */
    for (unsigned j = 0; j < 1000 && tail > 1e-15; j++) {
        const double next = term * mean / (j + 1);
        const double one = fmax(tail - term, 0), two = fmax(one - next, 0);
        for (unsigned t = 0; t < hashes; t++)
            stays += term * pow(two, t) * pow(one, hashes - 1 - t);
        tail = one;
        term = next;
    }
    return 1 - stays;
}

/* When k items are in, the next one hits the bucket of each of them with probability d / m = a / n, where a
 * is the mean number of hits of a bucket in the end.  So it moves x P(leaves at mean x) items, with
 * x = k a / n, and the mean over all k is an integral from 0 to a: Simpson's rule. */
tamis_status tamis_model_song_moves(uint64_t n, uint64_t buckets, unsigned hashes, double *moves) {
    enum { STEPS = 400 };
    const double load = (double)n * hashes / (double)buckets;
    if (n < 1 || buckets < 1 || hashes < 1 || hashes > 64 || load > 100)
        return TAMIS_E_DOMAIN;
    double sum = 0;
    for (unsigned i = 1; i <= STEPS; i++) { /* the integrand is 0 at 0 */
        const double x = load * i / STEPS;
        const double value = x * model_multilevel_summary_song_leaves(x, hashes);
        sum += value * (i == STEPS ? 1 : i % 2 == 1 ? 4 : 2);
    }
    *moves = sum / 3 / STEPS;
    return TAMIS_OK;
}
