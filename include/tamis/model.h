/* model.h - the analysis by itself
 *
 * Error rates, sizes and failure odds as pure functions: no allocation, no state, no input or output;
 * callable from any thread.  Each takes its numbers by value, writes its result through a pointer, and
 * returns TAMIS_E_DOMAIN outside the domain where it holds, never a number that only looks fine; the
 * result is then unchanged.  Like the functions of math.h that they use, they may leave errno changed
 * where a result underflows.  What each neglects, and where it was confirmed, is in docs/models.md.
 *
 * The error rate always means: the probability that one query for one absent key answers "present".
 *
 * These functions are a library of their own, libtamis-model: link with -ltamis-model (pkg-config
 * tamis-model, CMake tamis::model).  They are experimental: names and arguments may change with any minor
 * version, without a new SONAME of libtamis.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_MODEL_H
#define TAMIS_MODEL_H

#include <tamis/tamis.h>

/* The planner has a copy of its own, which libtamis does not export. */
#ifdef TAMIS_BUILDING_LIBTAMIS
#define TAMIS_MODEL_API
#else
#define TAMIS_MODEL_API TAMIS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------
 * Bloom filters
 */

/* Bloom filter: m bits, n keys, k hashes, all independent and uniform.
 * (1 - (1 - 1/m)^(kn))^k, the expected fill to the power k.  m >= 1, k >= 1, n >= 0, real m and n. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_bloom(double m, double n, unsigned k,
                                                                double *fpr);

/* Like tamis_model_bloom, with each hash in its own part of m/k bits: (1 - (1 - k/m)^n)^k; m > k. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_bloom_partitioned(double m, double n,
                                                                            unsigned k,
                                                                            double *fpr);

/* Like tamis_model_bloom, but exact for a small table: the mean of (X/m)^k over the distribution of
 * the number X of bits set by n keys.  m from 1 to 4096, n*k up to 2^20, k from 1 to 64. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_bloom_exact(unsigned m, uint64_t n,
                                                                      unsigned k, double *fpr);

/* Blocked Bloom filter: each key falls in one of many blocks of 'block_bits' bits and sets k bits
 * there, independent and uniform; 'load' keys fall in a block on average, Poisson distributed.  The
 * mean of tamis_model_bloom_exact over the load.  block_bits from 1 to 4096, 0 <= load <= 4096. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_blocked(unsigned block_bits, double load,
                                                                  unsigned k, double *fpr);

/* The same where a block is 'lanes' lanes of 'lane_bits' bits and a key sets one bit in each of them: the
 * mean of (1 - (1 - 1/lane_bits)^x)^lanes over the load x, which is exact, because lanes are independent
 * once x is known.  lanes from 1 to 64, lane_bits from 1 to 4096, 0 <= load <= 4096. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_blocked_lanes(unsigned lanes,
                                                                        unsigned lane_bits,
                                                                        double load, double *fpr);

/* Counting Bloom filter: the probability that some counter of the m reaches 'limit' (16 for 4 bits)
 * when n keys with k hashes are in: at most m * P(Binomial(nk, 1/m) >= limit), n rounded up.  limit
 * from 1 to 2^20, nk up to 2^53. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_counter_overflow(double m, double n,
                                                                           unsigned k,
                                                                           unsigned limit,
                                                                           double *odds);

/* -------------------------------------------------------------------------------------------------
 * Tails of Poisson and binomial distributions
 */

/* X is Poisson distributed with the given mean: P(X = x).  0 <= mean <= 2^40.  Relative error below
 * 1e-12, for the largest means 1e-11; probabilities under 1e-300 lose digits and may come out as 0.
 * The same holds for all of this section. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_poisson(double mean, uint64_t x,
                                                                  double *p);

/* The upper tail P(X > x), strictly greater.  Takes time like the square root of the mean. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_poisson_tail(double mean, uint64_t x,
                                                                       double *p);

/* The lower tail P(X <= x), with x itself: the two tails of one x add up to 1, and each is exact
 * where it is small. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_poisson_head(double mean, uint64_t x,
                                                                       double *p);

/* X counts the successes of n independent trials, each with chance q: P(X = x), P(X > x) and
 * P(X <= x) like the three above.  n <= 2^53, 0 <= q <= 1; n*q or n*(1-q) is at most 2^40. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_binomial(uint64_t n, double q, uint64_t x,
                                                                   double *p);
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_binomial_tail(uint64_t n, double q,
                                                                        uint64_t x, double *p);
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_binomial_head(uint64_t n, double q,
                                                                        uint64_t x, double *p);

/* -------------------------------------------------------------------------------------------------
 * d-left hashing: load distributions, and the error rates of the filters built on them
 * (Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese, both papers of 2006)
 */

/* Most loads that an array of loads can tell apart. */
#define TAMIS_MODEL_LOADS_MAX 256

/* How full the buckets are when each key has one bucket in each of d subtables and was put in the
 * least loaded, the leftmost on a tie; 'mean' keys per bucket over all, many buckets.
 *
 * fraction[i * n_loads + j] is set to the fraction of the buckets of subtable i (0 is the leftmost)
 * that hold j keys, for j < n_loads - 1; the last entry of each subtable to the fraction that holds
 * n_loads - 1 keys or more.  Relative error below 1e-6 for every entry over 1e-100, mostly far less;
 * below 1e-300 it is 0.  d from 1 to 8 (1 is Poisson), 0 <= mean <= 128, n_loads from 2 to
 * TAMIS_MODEL_LOADS_MAX.  A few milliseconds for a mean of 6, more like the square of it. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_dleft_inserted(unsigned d, double mean,
                                                                         unsigned n_loads,
                                                                         double *fraction);

/* Like tamis_model_dleft_inserted, but after very many rounds in each of which a key chosen at random
 * was removed and a new one inserted.  About a millisecond. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_dleft_steady(unsigned d, double mean,
                                                                       unsigned n_loads,
                                                                       double *fraction);

/* Like tamis_model_dleft_inserted, but for two subtables that tamis_filter_build made: all keys were
 * inserted, and then each in turn was put in again, 'passes' times, with ties broken as told.  A pair
 * approximation, not exact: docs/models.md tells how near it comes.
 *
 * 0 <= mean <= 10, up to 100 passes, n_loads from 2 to 16.  A second for 10 passes at a mean of 8, two if
 * ties are not random; it takes up to 14 MB from the system's allocator, and returns TAMIS_E_NOMEM if
 * there is none. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_dleft_balanced(
    double mean, unsigned passes, tamis_ties ties, unsigned n_loads, double *fraction);

/* How long a fingerprint is in a bucket that holds so many. */
typedef enum tamis_model_rule {
    TAMIS_MODEL_RULE_64_PLAIN = 0, /* 64-bit bucket: floor(60/a) bits up to load a = 6 */
    TAMIS_MODEL_RULE_64 = 1,       /* the same with semi-sorting: one more at loads 4 and 5 */
    TAMIS_MODEL_RULE_128_ONE = 2,  /* 128-bit bucket: floor(120/a) + 1 bits up to load 11 */
    TAMIS_MODEL_RULE_128 = 3,      /* the same, and one more at loads 6 and 7 */
    TAMIS_MODEL_RULE_128_FIT = 4   /* the same, floor(120/a) below load 6: fits 8 bits */
} tamis_model_rule;

/* Fill fp_bits[0 .. n_loads-1] with a ready rule; 0 at loads that the bucket has no room for. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_dleft_rule(tamis_model_rule rule,
                                                                     unsigned n_loads,
                                                                     unsigned *fp_bits);

/* Error rate of a d-left filter: 'fraction' as tamis_model_dleft_inserted sets it, fp_bits[j] the
 * bits of a fingerprint in a bucket of load j; a load with 0 bits counts as a sure error.  The
 * expected number of matches, which is slightly more than the probability of at least one.
 *
 *     double load[3 * 10], fpr;
 *     unsigned bits[10];
 *     if (tamis_model_dleft_inserted(3, 4.0, 10, load) == TAMIS_OK &&
 *         tamis_model_dleft_rule(TAMIS_MODEL_RULE_64, 10, bits) == TAMIS_OK &&
 *         tamis_model_dleft_fpr(3, 10, load, bits, &fpr) == TAMIS_OK)
 *         printf("16 bits per key: %g\n", fpr);                                     0.0004477
 */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_dleft_fpr(unsigned d, unsigned n_loads,
                                                                    const double *fraction,
                                                                    const unsigned *fp_bits,
                                                                    double *fpr);

/* Like tamis_model_dleft_fpr, when 'group' buckets of a subtable share the bits of all of them: each
 * fingerprint of the group has floor(group * bucket_bits / keys in the group) bits, and what the
 * rule 'fp_bits' has over floor(bucket_bits / load) in its bucket.  group from 1 to 8, n_loads up to
 * 64. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_dleft_fpr_grouped(
    unsigned d, unsigned n_loads, const double *fraction, const unsigned *fp_bits,
    unsigned bucket_bits, unsigned group, double *fpr);

/* The probability that one more key finds 'capacity' keys or more in each of its d buckets: times
 * the number of insertions, the number of times that a bucket overflows.  capacity < n_loads. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_dleft_full(unsigned d, unsigned n_loads,
                                                                     const double *fraction,
                                                                     unsigned capacity,
                                                                     double *odds);

/* The probability that some bucket holds more than 'capacity' keys, with n_buckets in each subtable:
 * at most the sum over the buckets.  capacity < n_loads - 1. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status
tamis_model_dleft_overflow(unsigned d, unsigned n_loads, const double *fraction, unsigned capacity,
                           double n_buckets, double *odds);

/* d-left counting filter with n keys whose hash has 'range' values, the buckets of one subtable times
 * the values of a remainder: error rate 1 - (1 - 1/range)^n.  n >= 0, range >= 1. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_dlcbf(double n, double range,
                                                                double *fpr);

/* The simple bound of the same: n / range, at most 1. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_dlcbf_bound(double n, double range,
                                                                      double *bound);

/* Cells in use: keys with the same hash share one. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_dlcbf_cells(double n, double range,
                                                                      double *cells);

/* The probability that 'limit' or more keys share one cell: at most C(n, limit) / range^(limit - 1).
 * limit from 1 to 64. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_dlcbf_counter(double n, double range,
                                                                        unsigned limit,
                                                                        double *odds);

/* Dynamic d-left counting filter: seen[m * n_loads + a] is set to the fraction of all buckets that
 * hold a keys and have held m, but never more.  The table was filled to 'mean' keys per bucket, then
 * 'rounds' times per bucket a random key was removed and a new one inserted; a key goes to the bucket
 * of one with the same minimal remainder of 'min_bits' bits, if there is one.
 *
 * d from 1 to 8, mean > 0, n_loads from 2 to 32 and large enough that higher loads do not matter,
 * d * mean at most 2^min_bits, rounds * (d + n_loads/mean) up to about 2 * 10^5.  A tenth of a
 * second for 100 rounds. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_ddlcbf_seen(
    unsigned d, double mean, double rounds, unsigned min_bits, unsigned n_loads, double *seen);

/* Its error rate with one remainder length per bucket, fp_bits[m] when m was its largest load. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_ddlcbf(unsigned d, unsigned n_loads,
                                                                 const double *seen,
                                                                 const unsigned *fp_bits,
                                                                 double *fpr);

/* Its error rate with two lengths per bucket, in the case of tamis_model_ddlcbf_seen: a bucket has
 * 'payload_bits' for its remainders and their counters of 'counter_bits', and the lengths follow from its
 * history as in the kind dleft-dynamic; a key that finds its buckets full moves another one, if d > 1.
 * rounds = 0: the table was only filled.
 *
 * d from 1 to 4, 0 < mean <= 15 and at most 0.95 of the remainders that a bucket holds, payload_bits up to
 * 512 and enough for two, counter_bits up to 8, min_bits from 2 to 32, d * mean at most 2^min_bits,
 * rounds * (d + 15/mean) up to 5 * 10^4.  Up to half a second for 100 rounds; it takes 3 MB from the system's
 * allocator, and returns TAMIS_E_NOMEM if there is none. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status
tamis_model_ddlcbf_two(unsigned d, double mean, double rounds, unsigned payload_bits,
                       unsigned counter_bits, unsigned min_bits, double *fpr);

/* Its error rate with any mixture of lengths: remainders[b] is the mean number of remainders of b bits
 * in a bucket, b < n_lengths <= TAMIS_MODEL_LOADS_MAX. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_ddlcbf_lengths(unsigned d,
                                                                         unsigned n_lengths,
                                                                         const double *remainders,
                                                                         double *fpr);

/* -------------------------------------------------------------------------------------------------
 * Multilevel hash tables and their summaries (Kirsch and Mitzenmacher, 2008)
 *
 * A multilevel hash table is a row of sub-tables with one slot per bucket.  An item goes to the
 * first sub-table where its bucket is empty; if there is none, that is a crisis.  A summary in fast
 * memory tells which sub-table holds an item; a failure is a summary that is wrong about an item in
 * the table.
 *
 *     const uint64_t buckets[5] = {40000, 10000, 5000, 2500, 2500};
 *     static double work[TAMIS_MULTILEVEL_WORK(10000)];
 *     double items[5], crisis, neglected;
 *     if (tamis_model_multilevel_exact(10000, buckets, 5, work, TAMIS_MULTILEVEL_WORK(10000),
 *                                      items, &crisis, &neglected) == TAMIS_OK)
 *         printf("%.2f items in the first sub-table, crisis %.2e\n", items[0], crisis);
 *
 * prints "8848.07 items in the first sub-table, crisis 1.01e-12".
 *
 * Limits: 1 to TAMIS_MULTILEVEL_TABLES_MAX sub-tables; 1 to TAMIS_MULTILEVEL_BUCKETS_MAX buckets in
 * each; up to TAMIS_MULTILEVEL_ITEMS_MAX items where the calculation is exact, that is, wherever
 * work space is asked for.  Its cost grows like n^1.5: 0.3 s for 100,000 items, 7 s for a million.
 * TAMIS_E_DOMAIN outside the limits, TAMIS_E_ARGUMENT if the work space is too short; the results
 * are then unchanged.  The content of the work space does not matter, before or after.
 */
#define TAMIS_MULTILEVEL_TABLES_MAX  64u
#define TAMIS_MULTILEVEL_BUCKETS_MAX ((uint64_t)1 << 48)
#define TAMIS_MULTILEVEL_ITEMS_MAX   ((uint64_t)1 << 24)

/* Work space for n items, in doubles: as a constant, and checked, 0 if n is above the limit. */
#define TAMIS_MULTILEVEL_WORK(n) (5 * ((size_t)(n) + 2))
TAMIS_MODEL_API size_t tamis_model_multilevel_work(uint64_t n);

/* Sub-tables that shrink geometrically: buckets[i] = first * n * ratio^i, rounded up.
 * first > 0, 0 < ratio <= 1, n >= 1. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_multilevel_sizes(uint64_t n, double first,
                                                                           double ratio,
                                                                           unsigned n_tables,
                                                                           uint64_t *buckets);

/* Approximate number of items in each sub-table, items[0] to items[n_tables - 1], as if each took
 * exactly its expected share.  Good as long as many items are left; once less than one is left the
 * entries mean nothing, and can be slightly negative.  Real n from 0 to 2^48, at once. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_multilevel_approx(double n,
                                                                            const uint64_t *buckets,
                                                                            unsigned n_tables,
                                                                            double *items);

/* Exact expected number of items in each sub-table, and the probability of a crisis while n items
 * are inserted.
 *
 * 'items' (may be NULL) has room for n_tables numbers.  Paths of negligible probability are left
 * out; their total probability goes to '*neglected' (may be NULL), about n * 1e-100.  The true
 * crisis probability lies between '*crisis' and '*crisis + *neglected', the true number of items
 * between items[i] and items[i] + n * *neglected; a relative rounding error below n * 4e-16 comes
 * on top. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status
tamis_model_multilevel_exact(uint64_t n, const uint64_t *buckets, unsigned n_tables, double *work,
                             size_t work_len, double *items, double *crisis, double *neglected);

/* One sub-table of the exact calculation, for callers that want the distributions themselves.
 *
 * On entry waiting[x], x from 0 to n, is the probability that x items reach this sub-table: for the
 * first, 1 at n and 0 elsewhere.  On return it is the probability that x items go on to the next.
 * placed[x] (may be NULL, else n + 1 numbers) becomes the expected number of items placed here,
 * counted only where x go on: its sum is the mean number of items, and with
 * tamis_model_summary_failure it judges any number of filters.  '*neglected' grows by the
 * probability that was left out; set it to 0 before the first sub-table.
 *
 *     const uint64_t buckets[3] = {4000, 1000, 500};
 *     static double work[TAMIS_MULTILEVEL_WORK(1000)], waiting[1000 + 1];
 *     double neglected = 0;
 *     tamis_status status = TAMIS_OK;
 *     waiting[1000] = 1;
 *     for (int i = 0; i < 3 && status == TAMIS_OK; i++)
 *         status = tamis_model_multilevel_level(1000, buckets[i], waiting, NULL, work,
 *                                               TAMIS_MULTILEVEL_WORK(1000), &neglected);
 *     printf("all items find a place with probability %g\n", waiting[0]);
 *
 * TAMIS_E_DOMAIN also if 'waiting' is no distribution. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status
tamis_model_multilevel_level(uint64_t n, uint64_t buckets, double *waiting, double *placed,
                             double *work, size_t work_len, double *neglected);

/* Lazy deletion: n + deleted items were inserted, 'deleted' of them, a random choice, are marked,
 * and the table is rebuilt.  The expected number of surviving items with at least one marked item
 * before them in their way, which is slightly above the expected number of items that move.  Work
 * space for n + deleted. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status
tamis_model_rebuild_random(uint64_t n, uint64_t deleted, const uint64_t *buckets, unsigned n_tables,
                           double *work, size_t work_len, double *moves);

/* Like tamis_model_rebuild_random, but the marked items are all from the first sub-table. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status
tamis_model_rebuild_first(uint64_t n, uint64_t deleted, const uint64_t *buckets, unsigned n_tables,
                          double *work, size_t work_len, double *moves);

/* Interpolation search summary: each item is kept as a random string of 'bits' bits, with the
 * number of its sub-table.  Probability that two of n items share a string, and error rate.
 * 1 <= bits <= 128. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_summary_interpolation(uint64_t n,
                                                                                unsigned bits,
                                                                                double *failure,
                                                                                double *fpr);

/* Upper bound, 1 at most, of the probability that a filter mistakes an item of one sub-table for
 * one of a later sub-table.  'placed' is what tamis_model_multilevel_level gave for the sub-table;
 * the filter has 'cells' cells, in as many equal parts as hashes, raised by the items of later
 * sub-tables.  cells > hashes >= 1. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_summary_failure(
    uint64_t n, const double *placed, uint64_t cells, unsigned hashes, double *odds);

/* Single filter summary: one filter whose cells hold the largest number of a sub-table written to
 * them.
 *
 * '*failure' is an upper bound, 1 at most, of the probability that some item is mistaken; it is
 * nearly tight when small.  '*crisis' and '*neglected' (each may be NULL) are those of
 * tamis_model_multilevel_exact.  The error rate is that of
 * tamis_model_bloom_partitioned(cells, n, hashes). */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_summary_single(
    uint64_t n, const uint64_t *buckets, unsigned n_tables, uint64_t cells, unsigned hashes,
    double *work, size_t work_len, double *failure, double *crisis, double *neglected);

/* Like tamis_model_summary_single, but with a Bloom filter per sub-table: filter i, of bits[i] bits
 * and hashes[i] hashes, holds the items of the sub-table of buckets[i] and of those after it, so
 * that filter 0 holds all.  The filters are taken as partitioned, which is on the safe side for
 * others.  The error rate is that of filter 0: tamis_model_bloom(bits[0], n, hashes[0]), or
 * tamis_model_bloom_partitioned. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status
tamis_model_summary_multiple(uint64_t n, const uint64_t *buckets, unsigned n_tables,
                             const uint64_t *bits, const unsigned *hashes, double *work,
                             size_t work_len, double *failure, double *crisis, double *neglected);

/* Bytes of an interpolation search summary: strings, numbers of sub-tables, and the bit table that
 * each summary keeps, one bit per bucket of the hash table. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_summary_interpolation_bytes(
    uint64_t n, unsigned bits, const uint64_t *buckets, unsigned n_tables, uint64_t *bytes);

/* Bytes of a single filter summary, with the bit table.  The cells are bit fields, or packed as
 * digits of a byte where that is smaller (three cells of 0 to 5).  For a summary that supports
 * removal, counter_bits[i] is the width of the counter that each cell then has for the sub-table of
 * buckets[i], 1 to 64 bits; NULL for none. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status
tamis_model_summary_single_bytes(uint64_t cells, const unsigned *counter_bits,
                                 const uint64_t *buckets, unsigned n_tables, uint64_t *bytes);

/* Bytes of a multiple filter summary, with the bit table.  For a summary that supports removal,
 * counter_bits[i], 1 to 64, is the width of the counters that take the place of the bits of
 * filter i; NULL for none. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status
tamis_model_summary_multiple_bytes(const uint64_t *bits, const unsigned *counter_bits,
                                   const uint64_t *buckets, unsigned n_tables, uint64_t *bytes);

/* The scheme of Song, Dharmapurikar, Turner and Lockwood (2005): one table, each item in the one of
 * its 'hashes' buckets that is hashed to least often; a counter of 'counter_bits' bits per bucket
 * is the summary.  Its error rate, its bytes, and an upper bound, 1 at most, of the probability
 * that some bucket gets two items, without the heuristics of that paper: for these there is no
 * analysis.
 * buckets, hashes, counter_bits >= 1. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_song(uint64_t n, uint64_t buckets,
                                                               unsigned hashes,
                                                               unsigned counter_bits, double *fpr,
                                                               double *crisis, uint64_t *bytes);

/* Items that the insertion of one moves in the same scheme, if n are inserted one after the other: the mean
 * over all of them.  It depends on n / buckets and the hashes only.  Each hash has its own part of the
 * buckets, of which there are many; moves by the heuristics are neglected.
 * n, hashes >= 1; hashes <= 64, n hashes <= 100 buckets. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_song_moves(uint64_t n, uint64_t buckets,
                                                                     unsigned hashes,
                                                                     double *moves);

/* -------------------------------------------------------------------------------------------------
 * Rank-indexed hashing (Hua, Zhao, Lin and Xu, 2008)
 */

/* The shape of a rank-indexed filter.  A key belongs to one of 'homes' homes of one of 'buckets'
 * buckets, where a fingerprint is kept for it.  A bucket has slots[0] slots; when these are full
 * it gets one of extensions[0] extensions with slots[1] slots more, and then one of
 * extensions[1] with slots[2].  A level is there if both its numbers are not 0, and the third
 * only on top of the second. */
typedef struct tamis_rank_shape {
    size_t struct_size;
    uint64_t buckets;       /* 1 to 2^46 */
    uint64_t extensions[2]; /* up to 'buckets', and up to extensions[0] */
    unsigned homes;         /* 1 to 64 */
    unsigned fp_bits;       /* fingerprint, 1 to 56 */
    unsigned extra_bits;    /* more bits in each slot, for a counter or a value, 0 to 64 */
    unsigned slots[3];      /* 1 to 4096; the second and third may be 0 */
} tamis_rank_shape;

/* All members zero but struct_size. */
static inline void tamis_rank_shape_init(tamis_rank_shape *shape) {
    memset(shape, 0, sizeof *shape);
    shape->struct_size = sizeof *shape;
}

/* Error rate with n keys in.  Each of the functions that take a shape returns TAMIS_E_ARGUMENT
 * if its struct_size makes no sense, and TAMIS_E_DOMAIN if the shape is no shape or n is over
 * 2^40. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_rank_fpr(const tamis_rank_shape *shape,
                                                                   uint64_t n, double *fpr);

/* Bits of the whole filter: indices, slots, extensions and the pointers to them.  TAMIS_E_TOO_LARGE
 * if they are more than 2^63. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_rank_bits(const tamis_rank_shape *shape,
                                                                    uint64_t *bits);

/* Bits per key of the compact form, without the empty slots, when n keys are in; n >= 1. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status
tamis_model_rank_compact(const tamis_rank_shape *shape, uint64_t n, double *bits_per_key);

/* An upper bound on the probability that one of n keys finds no slot, because its bucket is full
 * to the last level or because the extensions are used up.  At most 1.  Takes time like the
 * square root of the number of buckets. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status
tamis_model_rank_overflow(const tamis_rank_shape *shape, uint64_t n, double *odds);

/* The shape of the fewest bits that keeps the error rate 'fpr' with n keys in, and the bound of
 * tamis_model_rank_overflow at 'overflow' (the paper takes 1e-10).  n from 1 to 2^40, fpr from
 * 1e-15 to 0.5, overflow from 1e-30 to 0.5, homes_max from 1 to 64 (64 needs the fewest bits),
 * extra_bits up to 64.  A bucket without its extensions has at most 'bucket_bits_max' bits; 0
 * means any number.  TAMIS_E_DOMAIN also if there is no such shape.  'shape' must have gone
 * through tamis_rank_shape_init.  The same call gives the same shape, in about 10 milliseconds
 * for any n. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status
tamis_model_rank_optimise(uint64_t n, double fpr, double overflow, unsigned extra_bits,
                          unsigned homes_max, unsigned bucket_bits_max, tamis_rank_shape *shape);

/* -------------------------------------------------------------------------------------------------
 * Buckets that spill over ('steady')
 */

/* The shape: 'buckets' buckets of bucket_bits bits with 'homes' homes each.  A slot holds a fingerprint
 * and extra bits.  A full bucket gives its last homes away, to 'spill_buckets' buckets of spill_bits bits,
 * where a slot has origin_bits + 1 bits more and a choice of two buckets. */
typedef struct tamis_steady_shape {
    size_t struct_size;
    uint64_t buckets;       /* 1 to 2^40 */
    uint64_t spill_buckets; /* 0 to 2^40 */
    unsigned bucket_bits;   /* up to 2^15; room for one slot at least */
    unsigned spill_bits;    /* the same, if there are spill_buckets */
    unsigned homes;         /* of a bucket, 1 to bucket_bits - 2 */
    unsigned fp_bits;       /* fingerprint, 1 to 48 */
    unsigned extra_bits;    /* more bits in each slot, for a counter or a value, 0 to 8 */
    unsigned origin_bits;   /* 0 to 8 */
} tamis_steady_shape;

/* All members zero but struct_size. */
static inline void tamis_steady_shape_init(tamis_steady_shape *shape) {
    memset(shape, 0, sizeof *shape);
    shape->struct_size = sizeof *shape;
}

/* Error rate with n keys in, at any time.  Each of the functions that take a shape returns
 * TAMIS_E_ARGUMENT if its struct_size makes no sense, and TAMIS_E_DOMAIN if the shape is no shape, or n is 0
 * or over 2^40. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status
tamis_model_steady_fpr(const tamis_steady_shape *shape, uint64_t n, double *fpr);

/* Of n keys that come and go, the share in the back, and of the buckets the share that have given homes
 * away. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_steady_spilled(
    const tamis_steady_shape *shape, uint64_t n, double *spilled, double *cut);

/* An upper bound on the probability that n keys need more room in the back than there is, at a given time
 * while keys come and go.  At most 1. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status
tamis_model_steady_overflow(const tamis_steady_shape *shape, uint64_t n, double *odds);

/* Cache lines that a query for an absent key reads, and that an insert touches, on average. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_steady_lines(
    const tamis_steady_shape *shape, uint64_t n, double *query, double *insert);

/* Bloom filter that is sparse so that it can be compressed: the bits per key of its array in
 * memory if its error rate is 'fpr' and a perfect compressor makes 'packed_bits' bits per key of
 * it.  The number of hashes is real.  0 < fpr < 1; packed_bits is above log2(1/fpr), where the
 * array would be infinite, and at most log2(1/fpr)/ln 2, where nothing can be compressed. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_bloom_compressed(double fpr,
                                                                           double packed_bits,
                                                                           double *bits_per_key);

/* -------------------------------------------------------------------------------------------------
 * Lines of fingerprints that give homes away: the kind 'line'
 */

/* The shape.  A line of the front has 'homes' homes and room for 'entries' entries, a fingerprint each.  A
 * full one gives its highest home away, to 'back_lines' lines with room for 'back_entries' entries each, of
 * which an entry has a choice of two; what finds no place there goes to a stash. */
typedef struct tamis_line_shape {
    size_t struct_size;
    uint64_t lines;        /* 1 to 2^40 */
    uint64_t back_lines;   /* 0 to 2^40 */
    uint64_t stash;        /* entries; 0 to 2^40 */
    unsigned homes;        /* of a line, 1 to 126 */
    unsigned fp_bits;      /* fingerprint, 1 to 40 */
    unsigned entries;      /* of a line, 2 to 63 */
    unsigned back_entries; /* the same, if there are back_lines */
    bool set;              /* a key that seems present is not stored again, and none is removed */
} tamis_line_shape;

/* All members zero but struct_size. */
static inline void tamis_line_shape_init(tamis_line_shape *shape) {
    memset(shape, 0, sizeof *shape);
    shape->struct_size = sizeof *shape;
}

/* Error rate with n distinct keys in, at any time.  Each of the functions that take a shape returns
 * TAMIS_E_ARGUMENT if its struct_size makes no sense, and TAMIS_E_DOMAIN if the shape is no shape, or n is 0
 * or over 2^40; the others also if more entries come to the lines than 4 times what fits in them. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_line_fpr(const tamis_line_shape *shape,
                                                                   uint64_t n, double *fpr);

/* Of n keys, which come and go unless it is a set, the share that is not in its line, and of the lines the
 * share that have given homes away. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_line_away(const tamis_line_shape *shape,
                                                                    uint64_t n, double *away,
                                                                    double *cut);

/* A bound on the odds that n keys need more room in back and stash than there is: of a set, at any time
 * while it is filled; otherwise at a given time while keys come and go.  At most 1. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status
tamis_model_line_overflow(const tamis_line_shape *shape, uint64_t n, double *odds);

/* Cache lines that a query for an absent key reads, and that an insert touches, on average. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_line_lines(const tamis_line_shape *shape,
                                                                     uint64_t n, double *query,
                                                                     double *insert);

/* -------------------------------------------------------------------------------------------------
 * Balanced Bloom filters (Kanizo, Hay and Keslassy, 2011)
 */

/* Where a key looks for a block with room: in one block; in several, each among all blocks; or in
 * several, each in a sub-table of its own (MHT, a multilevel hash table). */
typedef enum tamis_balance_scheme {
    TAMIS_BALANCE_SINGLE = 1,
    TAMIS_BALANCE_SEQUENTIAL = 2,
    TAMIS_BALANCE_MHT = 3
} tamis_balance_scheme;

#define TAMIS_BALANCE_CHOICES_MAX 8

/* In this section, 'load' is the number of keys per block, those in the overflow list included;
 * up to 1024.  'accesses' is the mean number of blocks that an insert looks at, up to 8, and
 * 'overflow' the fraction of the keys that go to the overflow list.  Everything holds for many
 * blocks; tamis_model_balance_state and tamis_model_balance_fpr also for few, from 16 on, if the shape
 * says how many. */

/* The best distribution of the loads of blocks that any scheme with these accesses and this
 * overflow can reach: p[i] = P(load = i) for i = 0 .. *k0 + 1, and 0 up to p[room - 1].  p may
 * be NULL.  TAMIS_E_DOMAIN also if room is too small, and where no load is the largest: with
 * accesses <= 1 - overflow nothing can be chosen.  *k0 is below 4096. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_balance_bound(double accesses,
                                                                        double load,
                                                                        double overflow, double *p,
                                                                        size_t room, unsigned *k0);

/* The least mean cost of a block that any scheme with these accesses and this overflow can reach, whatever
 * the cost: cost[i] is that of a block with i keys, for i = 0 .. n - 1.  TAMIS_E_DOMAIN also if the costs
 * fall somewhere or are not convex, and if n is less than *k0 + 2 of tamis_model_balance_bound, whose
 * distribution this is the mean by.  TAMIS_E_ARGUMENT if 'cost' is NULL. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_balance_cost(double accesses, double load,
                                                                       double overflow,
                                                                       const double *cost, size_t n,
                                                                       double *value);

/* Hash functions that do not all hit every block alike.  Blocks that are hit alike are one part. */
typedef struct tamis_balance_mixture {
    size_t struct_size;
    unsigned n_hashes;     /* distributions, 1 to 8 */
    unsigned n_parts;      /* 1 to 8 */
    const double *weights; /* n_hashes: the part of the looks that each makes, sum 1 */
    const double *shares;  /* n_parts: of the blocks, above 0, sum 1 */
    const double *aims;    /* n_hashes times n_parts: where it looks, sum 1 for each */
} tamis_balance_mixture;

/* Like tamis_model_balance_bound for such hash functions.  Where all of them together hit every block
 * alike, it is the same bound; where they do not, it is a higher one.  TAMIS_E_ARGUMENT if struct_size
 * makes no sense or an array is NULL, TAMIS_E_DOMAIN also if the mixture is none. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status
tamis_model_balance_mixed(const tamis_balance_mixture *mixture, double accesses, double load,
                          double overflow, double *p, size_t room, unsigned *k0);

/* The parameters with which the schemes reach this bound: a block with less than 'threshold' keys
 * takes any key, one with 'threshold' keys takes a key with probability 'coin', a fuller one none.
 * Each choice of a key has a coin of its own; one coin for all would send keys that were refused
 * once to be refused again.  Domain as tamis_model_balance_bound. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_balance_parameters(
    double accesses, double load, double overflow, unsigned *threshold, double *coin);

/* The least overflow for which SEQUENTIAL or MHT with 'choices' choices reaches the bound with
 * these accesses.  For MHT, where the load does not matter, it also fills 'shares', unless NULL,
 * with the shares of the blocks that the sub-tables get, one per choice.  choices from 2 to 8,
 * 1 < accesses < choices.  (SINGLE is at the bound with accesses = 1 and any overflow above 0.)
 * SEQUENTIAL takes a few milliseconds, more for large loads. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status
tamis_model_balance_region(tamis_balance_scheme scheme, unsigned choices, double accesses,
                           double load, double *overflow, double *shares);

/* The loads of a block after 'arrivals' looks on average, Poisson distributed: p[i] = P(load = i)
 * for i = 0 .. threshold + 1, and 0 up to p[room - 1].  arrivals up to 8192, threshold up to 4096,
 * 0 <= coin <= 1, room at least threshold + 2. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_balance_loads(double arrivals,
                                                                        unsigned threshold,
                                                                        double coin, double *p,
                                                                        size_t room);

/* Bits that count a block's keys, 0 to threshold + 1. */
TAMIS_MODEL_API unsigned tamis_model_balance_counter_bits(unsigned threshold);

/* A balanced filter. */
typedef struct tamis_balance_shape {
    size_t struct_size;
    tamis_balance_scheme scheme;
    unsigned choices;   /* 1 for SINGLE, else 1 to 8 */
    unsigned threshold; /* 0 to 4096 */
    double coin;        /* 0 to 1 */
    double budget;      /* mean accesses at which the list takes all further keys; 0: no limit */
    double shares[TAMIS_BALANCE_CHOICES_MAX]; /* MHT: of each sub-table, sum 1 */
    uint64_t
        blocks; /* of all sub-tables, up to 2^40; each is rounded to whole ones.  0: the limit of many */
} tamis_balance_shape;

static inline void tamis_balance_shape_init(tamis_balance_shape *shape) {
    memset(shape, 0, sizeof *shape);
    shape->struct_size = sizeof *shape;
}

/* What a balanced filter is like at some load. */
typedef struct tamis_balance_state {
    size_t struct_size;
    double accesses;           /* blocks that an insert looked at, mean over all so far */
    double overflow;           /* fraction of the keys in the list */
    double overflow_variance;  /* of the number of keys in the list, divided by that of blocks */
    double reads_present;      /* blocks that a query reads, mean over the keys that are in */
    double reads_absent;       /* the same for absent keys; on while a block has the threshold */
    double reads_absent_keyed; /* the same if coins are functions of the key: stops earlier */
    double arrivals[TAMIS_BALANCE_CHOICES_MAX]; /* at a block of each choice: for ..._loads */
} tamis_balance_state;

static inline void tamis_balance_state_init(tamis_balance_state *state) {
    memset(state, 0, sizeof *state);
    state->struct_size = sizeof *state;
}

/* Fill 'state', which has gone through tamis_balance_state_init, with what the filter is like.
 * TAMIS_E_ARGUMENT if a struct_size makes no sense, TAMIS_E_DOMAIN if the shape is no shape. The
 * reads leave out that a false answer ends a query early; the variance is that of a filter whose
 * budget is not used up, and for SEQUENTIAL only an estimate, that of independent keys. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_balance_state(
    const tamis_balance_shape *shape, double load, tamis_balance_state *state);

/* Error rate at this load if each block holds a Bloom filter of 'bits' bits, its counter not
 * among them, in which a key sets 'hashes' bits; with the exact number of bits set.  keyed_coin:
 * the query knows the coin of its key.  bits from 1 to 4096, hashes from 1 to 64. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status
tamis_model_balance_fpr(const tamis_balance_shape *shape, double load, bool keyed_coin,
                        unsigned bits, unsigned hashes, double *fpr);

/* Like tamis_model_balance_fpr without a keyed coin, but as the paper computes it: with the mean
 * number of bits set, and a sum over the blocks.  It is too low for small blocks. */
TAMIS_MODEL_API TAMIS_MUST_CHECK tamis_status tamis_model_balance_fpr_printed(
    const tamis_balance_shape *shape, double load, unsigned bits, unsigned hashes, double *fpr);

#ifdef __cplusplus
}
#endif

#endif
