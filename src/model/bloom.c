/* bloom.c - Bloom filters: standard, partitioned, small and exact, blocked; counters
 *
 * Symbols: m = bits in the table (of one block, for the blocked filter), n = keys, k = hashes per
 * key, N = nk = throws of a bit position, X = number of bits set.
 *
 * The usual formula uses the expected fill instead of the fill, E[X/m]^k for E[(X/m)^k].  In a large table
 * X hardly varies and the two agree; in a block of 512 bits they do not.  (X/m)^k is the probability that k
 * more throws, those of a query, hit only set bits.  These k throws hit D distinct positions, so
 *
 *     E[(X/m)^k] = sum over j of P(D = j) A_j(N),
 *     A_j(N)     = P(j given positions are all hit by N throws),
 *
 * and both factors follow from recurrences without a subtraction.  The number of distinct positions
 * after one more throw:
 *
 *     P(D_{t+1} = j) = P(D_t = j) j/m + P(D_t = j-1) (m-j+1)/m;
 *
 * and the first of N+1 throws hits one of the j positions or none:
 *
 *     A_j(N+1) = A_{j-1}(N) j/m + A_j(N) (1 - j/m),      A_0 = 1,  A_j(0) = 0 for j > 0.
 *
 * (The closed form of A_j alternates in sign and loses all digits when j is large.) All A_j, j <= k,
 * advance together, with k steps of arithmetic per throw.  The blocked filter takes the mean over a
 * Poisson number of keys at the same time.
 *
 * Where a key sets one bit in each of several lanes of a block, each lane has as many throws as the block has
 * keys, and they are independent of each other: the rate is a power of the mean fill of one lane.
 *
 * Confirmed by tests/model/test_model_bloom.c against enumeration of small tables and simulation of blocks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tamis/model.h"

#include <math.h>

#include "base/base.h"

enum { HASHES_MAX = 64, SMALL_TABLE_MAX = 4096 };

/* (1 - (1 - q)^throws)^k: the chance that k positions are set, if each throw misses a position with
 * probability 1 - q, independently. */
static double model_bloom_filled(double q, double throws, unsigned k) {
    const double set = q < 1 ? -expm1(throws * log1p(-q)) : throws > 0 ? 1 : 0;
    return pow(set, (double)k);
}

tamis_status tamis_model_bloom(double m, double n, unsigned k, double *fpr) {
    if (!(m >= 1 && isfinite(m)) || !(n >= 0 && isfinite(n)) || k < 1)
        return TAMIS_E_DOMAIN;
    *fpr = model_bloom_filled(1 / m, n * k, k);
    return TAMIS_OK;
}

tamis_status tamis_model_bloom_partitioned(double m, double n, unsigned k, double *fpr) {
    if (!(m > k && isfinite(m)) || !(n >= 0 && isfinite(n)) || k < 1)
        return TAMIS_E_DOMAIN;
    *fpr = model_bloom_filled(k / m, n, k);
    return TAMIS_OK;
}

/* What a query with k hashes sees of a table of m bits: P(D = j), and A_j so far. */
typedef struct small_table {
    double m;
    unsigned k;
    double distinct[HASHES_MAX + 1];
    double all_set[HASHES_MAX + 1];
} small_table;

static void model_bloom_small_table_init(small_table *table, unsigned m, unsigned k) {
    *table = (small_table){.m = m, .k = k, .distinct = {1}, .all_set = {1}};
    for (unsigned t = 0; t < k; t++) {
        for (unsigned j = t + 1; j >= 1; j--) {
            /* With fewer than j positions in all, the second factor has already reached 0. */
            const double fresh = j <= m ? (double)(m - j + 1) / m : 0;
            table->distinct[j] = table->distinct[j] * j / m + table->distinct[j - 1] * fresh;
        }
        table->distinct[0] = 0;
    }
}

static void model_bloom_small_table_throw(small_table *table, uint64_t throws) {
    double hit[HASHES_MAX + 1];
    double miss[HASHES_MAX + 1];
    const unsigned k = table->k;
    for (unsigned j = 0; j <= k; j++) {
        hit[j] = j < table->m ? j / table->m : 1; /* j > m has A_j = 0, and no weight */
        miss[j] = 1 - hit[j];
    }
    for (; throws > 0; throws--)
        for (unsigned j = k; j >= 1; j--)
            table->all_set[j] = hit[j] * table->all_set[j - 1] + miss[j] * table->all_set[j];
}

static double model_bloom_small_table_fpr(const small_table *table) {
    double sum = 0;
    for (unsigned j = 1; j <= table->k; j++)
        sum += table->distinct[j] * table->all_set[j];
    return sum < 1 ? sum : 1;
}

tamis_status tamis_model_bloom_exact(unsigned m, uint64_t n, unsigned k, double *fpr) {
    if (m < 1 || m > SMALL_TABLE_MAX || k < 1 || k > HASHES_MAX || n > ((uint64_t)1 << 20) / k)
        return TAMIS_E_DOMAIN;
    small_table table;
    model_bloom_small_table_init(&table, m, k);
    model_bloom_small_table_throw(&table, n * k);
    *fpr = model_bloom_small_table_fpr(&table);
    return TAMIS_OK;
}

/* One more load of a mean over a Poisson number x of keys, whose rate is 'fpr'.  The mean continues until the
 * rest cannot matter: the error rate is at most 1, and past the mean the Poisson weights fall at least as
 * fast as a geometric series. */
static tamis_status model_bloom_add_load(double load, uint64_t x, double fpr, double *sum,
                                         bool *done) {
    double weight;
    const tamis_status status = tamis_model_poisson(load, x, &weight);
    if (status != TAMIS_OK)
        return status;
    *sum += weight * fpr;
    const double ratio = load / (double)(x + 1);
    *done = ratio < 1 && weight * ratio <= (1 - ratio) * 1e-17 * *sum;
    return TAMIS_OK;
}

tamis_status tamis_model_blocked(unsigned block_bits, double load, unsigned k, double *fpr) {
    if (block_bits < 1 || block_bits > SMALL_TABLE_MAX || k < 1 || k > HASHES_MAX ||
        !(load >= 0 && load <= SMALL_TABLE_MAX))
        return TAMIS_E_DOMAIN;
    small_table table;
    model_bloom_small_table_init(&table, block_bits, k);
    double sum = 0;
    bool done = false;
    for (uint64_t x = 1; !done; x++) {
        model_bloom_small_table_throw(&table, k);
        const tamis_status status =
            model_bloom_add_load(load, x, model_bloom_small_table_fpr(&table), &sum, &done);
        if (status != TAMIS_OK)
            return status;
    }
    *fpr = sum < 1 ? sum : 1;
    return TAMIS_OK;
}

tamis_status tamis_model_blocked_lanes(unsigned lanes, unsigned lane_bits, double load,
                                       double *fpr) {
    if (lanes < 1 || lanes > HASHES_MAX || lane_bits < 1 || lane_bits > SMALL_TABLE_MAX ||
        !(load >= 0 && load <= SMALL_TABLE_MAX))
        return TAMIS_E_DOMAIN;
    double sum = 0;
    bool done = false;
    for (uint64_t x = 1; !done; x++) {
        const double rate = model_bloom_filled(1.0 / lane_bits, (double)x, lanes);
        const tamis_status status = model_bloom_add_load(load, x, rate, &sum, &done);
        if (status != TAMIS_OK)
            return status;
    }
    *fpr = sum < 1 ? sum : 1;
    return TAMIS_OK;
}

tamis_status tamis_model_counter_overflow(double m, double n, unsigned k, unsigned limit,
                                          double *odds) {
    if (!(m >= 1 && isfinite(m)) || k < 1 || limit < 1 || limit > 1u << 20 || !(n >= 0))
        return TAMIS_E_DOMAIN;
    const double throws = ceil(n) * k;
    if (!(throws <= 9007199254740992.0)) /* 2^53 */
        return TAMIS_E_DOMAIN;
    double tail;
    const tamis_status status =
        tamis_model_binomial_tail((uint64_t)throws, 1 / m, limit - 1, &tail);
    if (status != TAMIS_OK)
        return status;
    *odds = m * tail < 1 ? m * tail : 1;
    return TAMIS_OK;
}
