/* model.h - the analysis by itself
 *
 * Error rates, sizes and failure odds as pure functions: no allocation, no state, no input or output;
 * callable from any thread.  Each takes its numbers by value, writes its result through a pointer, and
 * returns TAMIS_E_DOMAIN outside the domain where it holds, never a number that only looks fine; the
 * result is then unchanged.  What each neglects, and where it was confirmed, is in docs/models.md.
 *
 * The error rate always means: the probability that one query for one absent key answers "present".
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_MODEL_H
#define TAMIS_MODEL_H

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------
 * Bloom filters
 */

/* Bloom filter: m bits, n keys, k hashes, all independent and uniform.
 * (1 - (1 - 1/m)^(kn))^k, the expected fill to the power k.  m >= 1, k >= 1, n >= 0, real m and n. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_model_bloom(double m, double n, unsigned k,
                                                          double *fpr);

/* Like tamis_model_bloom, with each hash in its own part of m/k bits: (1 - (1 - k/m)^n)^k; m > k. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_model_bloom_partitioned(double m, double n, unsigned k,
                                                                      double *fpr);

/* Like tamis_model_bloom, but exact for a small table: the mean of (X/m)^k over the distribution of
 * the number X of bits set by n keys.  m from 1 to 4096, n*k up to 2^20, k from 1 to 64. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_model_bloom_exact(unsigned m, uint64_t n, unsigned k,
                                                                double *fpr);

/* Blocked Bloom filter: each key falls in one of many blocks of 'block_bits' bits and sets k bits
 * there, independent and uniform; 'load' keys fall in a block on average, Poisson distributed.  The
 * mean of tamis_model_bloom_exact over the load.  block_bits from 1 to 4096, 0 <= load <= 4096. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_model_blocked(unsigned block_bits, double load,
                                                            unsigned k, double *fpr);

/* Counting Bloom filter: the probability that some counter of the m reaches 'limit' (16 for 4 bits)
 * when n keys with k hashes are in: at most m * P(Binomial(nk, 1/m) >= limit).  limit from 1 to
 * 2^20. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_model_counter_overflow(double m, double n, unsigned k,
                                                                     unsigned limit, double *odds);

/* -------------------------------------------------------------------------------------------------
 * Tails of Poisson and binomial distributions
 */

/* X is Poisson distributed with the given mean: P(X = x).  0 <= mean <= 2^40.  Relative error below
 * 1e-12; probabilities under 1e-300 lose digits and may come out as 0.  The same holds for all of
 * this section. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_model_poisson(double mean, uint64_t x, double *p);

/* The upper tail P(X > x), strictly greater.  Takes time like the square root of the mean. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_model_poisson_tail(double mean, uint64_t x, double *p);

/* The lower tail P(X <= x), with x itself: the two tails of one x add up to 1, and each is exact
 * where it is small. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_model_poisson_head(double mean, uint64_t x, double *p);

/* X counts the successes of n independent trials, each with chance q: P(X = x), P(X > x) and
 * P(X <= x) like the three above.  n <= 2^53, 0 <= q <= 1; n*q or n*(1-q) is at most 2^40. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_model_binomial(uint64_t n, double q, uint64_t x,
                                                             double *p);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_model_binomial_tail(uint64_t n, double q, uint64_t x,
                                                                  double *p);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_model_binomial_head(uint64_t n, double q, uint64_t x,
                                                                  double *p);

/* -------------------------------------------------------------------------------------------------
 * d-left hashing: load distributions, and the error rates of the filters built on them
 * (Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese, both papers of 2006)
 */

/* -------------------------------------------------------------------------------------------------
 * Multilevel hash tables and their summaries (Kirsch and Mitzenmacher, 2008)
 */

/* -------------------------------------------------------------------------------------------------
 * Rank-indexed hashing (Hua, Zhao, Lin and Xu, 2008)
 */

/* -------------------------------------------------------------------------------------------------
 * Balanced Bloom filters (Kanizo, Hay and Keslassy, 2011)
 */

#ifdef __cplusplus
}
#endif

#endif
