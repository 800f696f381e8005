/* rank.c - rank-indexed hashing: size, error rate, odds of running out of room, best parameters
 *
 * A filter has B buckets of L homes; n keys fall in them, n/(B L) = lambda per home.  Chains of
 * fingerprints of r bits share Z1 slots per bucket.  A bucket with more keys than that takes one of J2
 * extensions of Z2 slots, and a bucket that fills this too takes one of J3 extensions of Z3 slots:
 *
 *     bucket      L bits base index | Z1 x (1 bit higher index + r bits) | which second extension
 *     extension 2       in use: 1 bit | Z2 x (1 + r)                     | which third extension
 *     extension 3       in use: 1 bit | Z3 x (1 + r)
 *
 * W1 = Z1, W2 = Z1 + Z2 and W3 = Z1 + Z2 + Z3 are the loads up to which a bucket lives in one, two or
 * three pieces.  "Which extension" is 0 for none or a number up to J: as many bits as J has.
 *
 * Symbols: n keys, mu = n/B mean load of a bucket, O = number of buckets whose load exceeds W, x =
 * further bits per slot (a counter, a value), P_o = probability that some key finds no slot.
 *
 * After Hua, Zhao, Lin and Xu, "Rank-Indexed Hashing: A Compact Construction of Bloom Filters and
 * Variants", ICNP 2008, sections III to V.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tamis/model.h"

#include <math.h>

#include "base/base.h"
#include "model/rank.h"

#define HOMES_MAX   64u
#define FP_BITS_MAX 56u
#define SLOTS_MAX   4096u
#define EXTRA_MAX   64u
#define N_MAX       ((uint64_t)1 << 40)
#define BUCKETS_MAX ((uint64_t)1 << 46)
#define LAMBDA_MIN  0.3
#define LAMBDA_MAX  6.4
#define WIDTH_MAX   512u /* loads that the search distinguishes above the smallest Z1 */

/* The number of bits of a number up to 'most'; 0 for 0. */
static unsigned model_rank_bit_width(uint64_t most) {
    unsigned width = 0;
    while (most != 0) {
        width++;
        most >>= 1;
    }
    return width;
}

/* Copy the caller's shape in and check it.  An extension level exists if it has both slots and
 * extensions, and the third level needs the second. */
static tamis_status model_rank_take_shape(const tamis_rank_shape *theirs, tamis_rank_shape *shape) {
    if (!tamis_i_struct_in(shape, sizeof *shape, theirs))
        return TAMIS_E_ARGUMENT;
    const bool second = shape->extensions[0] > 0;
    const bool third = shape->extensions[1] > 0;
    if (shape->buckets < 1 || shape->buckets > BUCKETS_MAX || shape->homes < 1 ||
        shape->homes > HOMES_MAX || shape->fp_bits < 1 || shape->fp_bits > FP_BITS_MAX ||
        shape->extra_bits > EXTRA_MAX || shape->slots[0] < 1 || shape->slots[0] > SLOTS_MAX ||
        shape->slots[1] > SLOTS_MAX || shape->slots[2] > SLOTS_MAX)
        return TAMIS_E_DOMAIN;
    if (second != (shape->slots[1] > 0) || third != (shape->slots[2] > 0) || (third && !second) ||
        shape->extensions[0] > shape->buckets || shape->extensions[1] > shape->extensions[0])
        return TAMIS_E_DOMAIN;
    return TAMIS_OK;
}

static double model_rank_error_rate(const tamis_rank_shape *s, uint64_t n) {
    const double cells = ldexp((double)s->buckets * s->homes, (int)s->fp_bits);
    return -expm1((double)n * log1p(-1 / cells));
}

/* Every key is in one home of one bucket with one fingerprint, a cell of B L 2^r.  The absent key
 * errs if its cell holds at least one of the n others: 1 - (1 - 1/(B L 2^r))^n.  The paper's
 * lambda/2^r counts the keys in the cell and is above this by a factor 1 + lambda/2^(r+1). */
tamis_status tamis_model_rank_fpr(const tamis_rank_shape *shape, uint64_t n, double *fpr) {
    tamis_rank_shape s;
    const tamis_status status = model_rank_take_shape(shape, &s);
    if (status != TAMIS_OK)
        return status;
    if (n > N_MAX)
        return TAMIS_E_DOMAIN;
    *fpr = model_rank_error_rate(&s, n);
    return TAMIS_OK;
}

static uint64_t model_rank_storage(const tamis_rank_shape *s) {
    const uint64_t slot = 1 + s->fp_bits + s->extra_bits;
    const uint64_t bucket = s->homes + s->slots[0] * slot + model_rank_bit_width(s->extensions[0]);
    const uint64_t second = 1 + s->slots[1] * slot + model_rank_bit_width(s->extensions[1]);
    const uint64_t third = 1 + s->slots[2] * slot;
    return s->buckets * bucket + s->extensions[0] * second + s->extensions[1] * third;
}

/* Section V: S = B S1 + J2 S2 + J3 S3.  Within the domain S < 2^46 * 3 * 2^19, which 64 bits cannot
 * hold, so it is checked. */
tamis_status tamis_model_rank_bits(const tamis_rank_shape *shape, uint64_t *bits) {
    tamis_rank_shape s;
    const tamis_status status = model_rank_take_shape(shape, &s);
    if (status != TAMIS_OK)
        return status;
    const double slots = (double)s.slots[0] + s.slots[1] + s.slots[2];
    if ((double)s.buckets * (slots * (1 + s.fp_bits + s.extra_bits) + 256) > 0x1p63)
        return TAMIS_E_TOO_LARGE;
    *bits = model_rank_storage(&s);
    return TAMIS_OK;
}

/* Section V, Table V: what is left without the empty slots.  Base indices L B, and 1 + r + x per
 * key; the receiver finds the ends of the arrays by counting.  Per key: 1/lambda + r + 1 + x. */
tamis_status tamis_model_rank_compact(const tamis_rank_shape *shape, uint64_t n,
                                      double *bits_per_key) {
    tamis_rank_shape s;
    const tamis_status status = model_rank_take_shape(shape, &s);
    if (status != TAMIS_OK)
        return status;
    if (n < 1 || n > N_MAX)
        return TAMIS_E_DOMAIN;
    *bits_per_key = (double)s.buckets * s.homes / (double)n + 1 + s.fp_bits + s.extra_bits;
    return TAMIS_OK;
}

/* -------------------------------------------------------------------------------------------------
 * Odds of running out of room
 */

/* At most J buckets can hold more than w of n keys each if J + 1 of them would need more than n. */
static bool model_rank_cannot_exceed(uint64_t n, uint64_t buckets, uint64_t w, uint64_t j) {
    uint64_t needed;
    return j >= buckets || !tamis_i_mul(j + 1, w + 1, &needed) || needed > n;
}

/* The bound on P(O > 0): B P(Binomial(n, 1/B) > w), each bucket by itself (section IV, for O_4). */
static double model_rank_some_bucket_exceeds(uint64_t n, uint64_t buckets, uint64_t w) {
    double tail;
    if (model_rank_cannot_exceed(n, buckets, w, 0) ||
        tamis_model_binomial_tail(n, 1 / (double)buckets, w, &tail) != TAMIS_OK)
        return 0;
    return (double)buckets * tail;
}

/* The bound on P(O > j), equation (1): 2 P(Binomial(B, P(Poisson(mu) > w)) > j).  The loads of the
 * buckets are not independent.  Independent Poisson loads err by a factor of at most 2, because more
 * keys can only make the event likelier (Theorem 1). */
static double model_rank_more_buckets_exceed(uint64_t n, uint64_t buckets, uint64_t w, uint64_t j) {
    double one, tail;
    if (model_rank_cannot_exceed(n, buckets, w, j) ||
        tamis_model_poisson_tail((double)n / (double)buckets, w, &one) != TAMIS_OK ||
        tamis_model_binomial_tail(buckets, one, j, &tail) != TAMIS_OK)
        return 0;
    return 2 * tail;
}

/* Section IV: P_o <= P(O_2 > J2) + P(O_3 > J3) + P(O_4 > 0).  A level without extensions has no term of
 * its own: its W is that of the level before, and the last term covers it. */
tamis_status tamis_model_rank_overflow(const tamis_rank_shape *shape, uint64_t n, double *odds) {
    tamis_rank_shape s;
    const tamis_status status = model_rank_take_shape(shape, &s);
    if (status != TAMIS_OK)
        return status;
    if (n > N_MAX)
        return TAMIS_E_DOMAIN;
    const uint64_t w1 = s.slots[0], w2 = w1 + s.slots[1], w3 = w2 + s.slots[2];
    double sum = model_rank_some_bucket_exceeds(n, s.buckets, w3);
    if (s.extensions[0] > 0)
        sum += model_rank_more_buckets_exceed(n, s.buckets, w1, s.extensions[0]);
    if (s.extensions[1] > 0)
        sum += model_rank_more_buckets_exceed(n, s.buckets, w2, s.extensions[1]);
    *odds = fmin(sum, 1);
    return TAMIS_OK;
}

/* -------------------------------------------------------------------------------------------------
 * The best parameters
 *
 * Error and overflow are promised, bits are to be few.  How the parameters interact:
 *
 *  - r and lambda.  The error fixes the number of cells B L 2^r, so each r has its largest lambda.
 *    One more bit of r doubles it and halves the base index, 1/lambda bits per key.  By this alone
 *    the best lambda is near 0.6, but L is limited, and only with more keys per home do buckets
 *    become larger, with loads that vary less: up to 6 keys per home may pay.
 *  - L.  Large buckets average the loads better; the largest L is nearly best, but Z1 is whole, and
 *    some smaller L may fit better.  For each L, B is the least that keeps the error.  (A larger B
 *    with the same L was tried and gains less than 1 in 1,000.)
 *  - W3 depends on B alone: the least load that no bucket exceeds.
 *  - J2 depends on B and W1, and J3 on B and W2, by the same function: J(w) is the least number
 *    that keeps the bound for O(w).  It is tabulated once per B; then every pair W1 < W2 is a few
 *    additions.
 *
 * The share of P_o that each of its three terms may take is fixed during the search and settled
 * afterwards for the winner: a share twice as large saves one or two extensions.
 *
 * Tails are bounded from above by the first term times a geometric series.  At six standard deviations
 * from the mean, where the search works, that is 3 % too much, and it takes the same time for any n.
 */

/* An upper bound on P(Binomial(n, q) > j) for j >= n q, and the ratio of successive terms there. */
static double model_rank_tail_above(uint64_t n, double q, uint64_t j, double *ratio) {
    double first;
    if (j >= n || tamis_model_binomial(n, q, j + 1, &first) != TAMIS_OK)
        first = 0;
    const double next = (double)(j + 1);
    *ratio = j >= n ? 0 : ((double)n - next) / (next + 1) * (q / (1 - q));
    return *ratio < 1 ? first / (1 - *ratio) : 1;
}

/* The least j > n q with factor * P(Binomial(n, q) > j) <= share, or 'most' if that is less.
 *
 * The logarithm of the tail is concave in j.  So Newton's step lands at the answer or above it,
 * wherever it starts, and the following ones come down to it.  The start is the normal quantile,
 * 'sigmas' standard deviations away, with its correction for skew. */
static uint64_t model_rank_least_exceeded(uint64_t n, double q, double factor, double share,
                                          double sigmas, uint64_t most) {
    const double mean = (double)n * q;
    if (mean + 1 >= (double)most)
        return most;
    uint64_t low = (uint64_t)mean, high = most; /* the answer is in ]low, high] */
    double guess = mean + sigmas * sqrt(mean * (1 - q)) + sigmas * sigmas * (1 - 2 * q) / 6;
    while (high - low > 1) {
        uint64_t j = low + 1;
        if (guess > (double)j)
            j = guess < (double)high ? (uint64_t)guess : high - 1;
        double ratio;
        const double tail = factor * model_rank_tail_above(n, q, j, &ratio);
        const double step = ratio < 1 ? log(tail / share) / -log(ratio) : 1;
        if (tail <= share) {
            high = j;
            guess = (double)j - fmax(1, floor(-step));
        } else {
            low = j;
            guess = (double)j + fmax(1, ceil(step));
        }
    }
    return high;
}

/* The need, the same for all candidates. */
typedef struct rank_need {
    uint64_t n;
    double fpr;
    double overflow;
    double sigmas;       /* standard deviations that a term of P_o is away from the mean, roughly */
    uint64_t bucket_max; /* bits of a bucket */
    bool exact;          /* a bucket has exactly that many */
} rank_need;

/* The shares of P_o during the search: the extensions of each level, and the last resort. */
static const double share_extensions = 0.45, share_last = 0.1;

static uint64_t model_rank_least_extensions(const rank_need *need, uint64_t buckets, uint64_t w,
                                            double q, double share) {
    const uint64_t most = need->n / (w + 1); /* cannot_exceed() */
    return model_rank_least_exceeded(buckets, q, 2, share, need->sigmas,
                                     most < buckets ? most : buckets);
}

static uint64_t model_rank_least_last_load(const rank_need *need, uint64_t buckets, double share) {
    return model_rank_least_exceeded(need->n, 1 / (double)buckets, (double)buckets, share,
                                     need->sigmas, need->n);
}

/* P(Poisson(mu) > w) for w = first .. last, in tail[0 ..]: summed upwards from the smallest. */
static void model_rank_poisson_tails(double mu, uint64_t first, uint64_t last, double *tail) {
    double term = 0, sum = 0;
    if (tamis_model_poisson_tail(mu, last, &sum) != TAMIS_OK ||
        tamis_model_poisson(mu, last, &term) != TAMIS_OK)
        sum = term = 0;
    for (uint64_t w = last;; w--) {
        tail[w - first] = sum;
        if (w == first)
            return;
        sum += term;
        term *= (double)w / mu;
    }
}

/* Bits of one bucket with 'w1' slots when there are 'j2' second extensions. */
static uint64_t model_rank_bucket_bits(const tamis_rank_shape *shape, uint64_t w1, uint64_t j2) {
    return shape->homes + w1 * (1 + shape->fp_bits + shape->extra_bits) + model_rank_bit_width(j2);
}

static bool model_rank_bucket_fits(const rank_need *need, uint64_t bits) {
    return bits == need->bucket_max || (bits < need->bucket_max && !need->exact);
}

/* How many second extensions to give buckets with 'w1' slots that need j2 > 0 of them.  If buckets must
 * have an exact number of bits: so many that their link takes the bits left over, or 0 if there is no
 * such number. */
static uint64_t model_rank_extensions_for(const rank_need *need, const tamis_rank_shape *shape,
                                          uint64_t w1, uint64_t j2) {
    const uint64_t bits = model_rank_bucket_bits(shape, w1, j2);
    if (model_rank_bucket_fits(need, bits))
        return j2;
    const uint64_t rest = need->bucket_max - model_rank_bucket_bits(shape, w1, 0);
    if (bits > need->bucket_max || rest > model_rank_bit_width(shape->buckets))
        return 0;
    const uint64_t more = (uint64_t)1 << (rest - 1);
    return more <= shape->buckets ? more : 0;
}

/* Complete 'shape', whose buckets, homes and fp_bits are given, with the slots and extensions that need
 * the fewest bits.  Returns these bits, or UINT64_MAX if no bucket is small enough. */
static uint64_t model_rank_complete(const rank_need *need, tamis_rank_shape *shape) {
    const uint64_t buckets = shape->buckets;
    const double mu = (double)need->n / (double)buckets;
    const uint64_t w3 = model_rank_least_last_load(need, buckets, share_last * need->overflow);
    uint64_t best = UINT64_MAX;
    const uint64_t flat = model_rank_bucket_bits(shape, w3, 0);
    if (w3 <= SLOTS_MAX && model_rank_bucket_fits(need, flat)) {
        shape->slots[0] = (unsigned)w3;
        shape->slots[1] = shape->slots[2] = 0;
        shape->extensions[0] = shape->extensions[1] = 0;
        best = buckets * flat;
    }
    /* With less than mu - sqrt(mu) slots nearly every bucket would be extended. */
    const double lowest = mu - sqrt(mu);
    const uint64_t first = lowest > 1 ? (uint64_t)lowest : 1;
    if (first >= w3 || w3 - first > WIDTH_MAX)
        return best;

    double tail[WIDTH_MAX + 1];
    uint64_t least[WIDTH_MAX + 1];
    model_rank_poisson_tails(mu, first, w3, tail);
    for (uint64_t w = first; w < w3; w++)
        least[w - first] = model_rank_least_extensions(need, buckets, w, tail[w - first],
                                                       share_extensions * need->overflow);
    least[w3 - first] = 0; /* W2 = W3 means that there is no third level */

    const uint64_t slot = 1 + shape->fp_bits + shape->extra_bits;
    for (uint64_t w1 = first; w1 < w3; w1++) {
        if (least[w1 - first] == 0)
            continue;
        const uint64_t j2 = model_rank_extensions_for(need, shape, w1, least[w1 - first]);
        const uint64_t bucket = model_rank_bucket_bits(shape, w1, j2);
        if (j2 == 0)
            continue;
        for (uint64_t w2 = w1 + 1; w2 <= w3; w2++) {
            const uint64_t j3 = least[w2 - first];
            const uint64_t bits = buckets * bucket +
                                  j2 * (1 + (w2 - w1) * slot + model_rank_bit_width(j3)) +
                                  j3 * (1 + (w3 - w2) * slot);
            if (bits < best && j3 <= j2 && (j3 > 0 || w2 == w3)) {
                best = bits;
                shape->slots[0] = (unsigned)w1;
                shape->slots[1] = (unsigned)(w2 - w1);
                shape->slots[2] = (unsigned)(w3 - w2);
                shape->extensions[0] = j2;
                shape->extensions[1] = j3;
            }
        }
    }
    return best;
}

/* Lengthen or shorten the last level of 'shape' so that it ends at load w3.  False if nothing would be
 * left of it. */
static bool model_rank_end_at(tamis_rank_shape *shape, uint64_t w3) {
    const unsigned level = shape->extensions[1] > 0 ? 2 : shape->extensions[0] > 0 ? 1 : 0;
    uint64_t before = 0;
    for (unsigned i = 0; i < level; i++)
        before += shape->slots[i];
    if (w3 <= before || w3 - before > SLOTS_MAX)
        return false;
    shape->slots[level] = (unsigned)(w3 - before);
    return true;
}

/* Give the three terms of P_o the shares that need the fewest bits, with W1 and W2 as they are: the
 * last two terms a few steps above their least, and the first what is left. */
static void model_rank_settle(const rank_need *need, tamis_rank_shape *shape) {
    const uint64_t buckets = shape->buckets, n = need->n;
    const double mu = (double)n / (double)buckets;
    const uint64_t w1 = shape->slots[0], w2 = w1 + shape->slots[1];
    const bool second = shape->extensions[0] > 0, third = shape->extensions[1] > 0;
    double q1, q2, ratio;
    if (tamis_model_poisson_tail(mu, w1, &q1) != TAMIS_OK ||
        tamis_model_poisson_tail(mu, w2, &q2) != TAMIS_OK)
        return;

    uint64_t best = model_rank_storage(shape);
    tamis_rank_shape trial = *shape;
    const uint64_t w3_least = model_rank_least_last_load(need, buckets, need->overflow);
    for (uint64_t w3 = w3_least; w3 < w3_least + 3 && w3 <= n; w3++) {
        double rest = need->overflow;
        if (w3 < n)
            rest -= (double)buckets * model_rank_tail_above(n, 1 / (double)buckets, w3, &ratio);
        if (!(rest > 0) || !model_rank_end_at(&trial, w3))
            continue;
        const uint64_t j3_least =
            third ? model_rank_least_extensions(need, buckets, w2, q2, rest) : 0;
        const uint64_t j3_most = third ? j3_least + 8 : 0;
        for (uint64_t j3 = j3_least; j3 <= j3_most; j3++) {
            double share = rest;
            if (third && !model_rank_cannot_exceed(n, buckets, w2, j3))
                share -= 2 * model_rank_tail_above(buckets, q2, j3, &ratio);
            if (!(share > 0))
                continue;
            const uint64_t j2 =
                second ? model_rank_least_extensions(need, buckets, w1, q1, share) : 0;
            trial.extensions[0] = j2;
            trial.extensions[1] = j3;
            if (j3 <= j2 &&
                model_rank_bucket_fits(need, model_rank_bucket_bits(&trial, trial.slots[0], j2)) &&
                model_rank_storage(&trial) < best) {
                best = model_rank_storage(&trial);
                *shape = trial;
            }
        }
    }
}

static tamis_status model_rank_optimise(uint64_t n, double fpr, double overflow,
                                        unsigned extra_bits, unsigned homes_max,
                                        unsigned bucket_bits_max, bool exact,
                                        tamis_rank_shape *shape) {
    if (n < 1 || n > N_MAX || !(fpr >= 1e-15 && fpr <= 0.5) ||
        !(overflow >= 1e-30 && overflow <= 0.5) || extra_bits > EXTRA_MAX || homes_max < 1 ||
        homes_max > HOMES_MAX)
        return TAMIS_E_DOMAIN;
    const rank_need need = {n,
                            fpr,
                            overflow,
                            sqrt(-2 * log(overflow)),
                            bucket_bits_max > 0 ? bucket_bits_max : UINT64_MAX,
                            exact};
    /* The cells B L 2^r that the error rate needs: the inverse of error_rate(). */
    const double cells = -1 / expm1(log1p(-fpr) / (double)n);

    tamis_rank_shape found, trial;
    tamis_rank_shape_init(&found);
    tamis_rank_shape_init(&trial);
    trial.extra_bits = extra_bits;
    uint64_t least = UINT64_MAX;
    for (unsigned r = 1; r <= FP_BITS_MAX; r++) {
        const double homes = ldexp(cells, -(int)r); /* B L */
        if ((double)n < LAMBDA_MIN * homes)
            continue;
        if ((double)n > LAMBDA_MAX * homes && least != UINT64_MAX)
            break;
        trial.fp_bits = r;
        uint64_t least_here = UINT64_MAX;
        for (unsigned l = homes_max; l >= 1; l--) {
            trial.buckets = (uint64_t)ceil(homes / l);
            trial.homes = exact ? l : (unsigned)ceil(homes / (double)trial.buckets);
            while (model_rank_error_rate(&trial, n) >
                   fpr) /* the division was rounded the wrong way */
                trial.buckets++;
            const uint64_t bits = model_rank_complete(&need, &trial);
            if (bits < least) {
                least = bits;
                found = trial;
            }
            if (bits < least_here)
                least_here = bits;
            else if (!exact && bits != UINT64_MAX && bits - least_here > least_here / 64)
                break; /* smaller buckets only get worse from here */
        }
    }
    if (least == UINT64_MAX)
        return TAMIS_E_DOMAIN;
    model_rank_settle(&need, &found);
    return tamis_i_struct_out(shape, &found, sizeof found) ? TAMIS_OK : TAMIS_E_ARGUMENT;
}

tamis_status tamis_model_rank_optimise(uint64_t n, double fpr, double overflow, unsigned extra_bits,
                                       unsigned homes_max, unsigned bucket_bits_max,
                                       tamis_rank_shape *shape) {
    return model_rank_optimise(n, fpr, overflow, extra_bits, homes_max, bucket_bits_max, false,
                               shape);
}

tamis_status tamis_i_model_rank_exact(uint64_t n, double fpr, double overflow, unsigned extra_bits,
                                      unsigned bucket_bits, tamis_rank_shape *shape) {
    return model_rank_optimise(n, fpr, overflow, extra_bits, HOMES_MAX, bucket_bits, true, shape);
}

/* -------------------------------------------------------------------------------------------------
 * Compressed Bloom filters, for Table V
 *
 * An array of b bits per key whose fraction f is set by k hashes has f = 1 - e^(-k/b), the error
 * rate f^k and the entropy b H(f), H(f) = -f log2 f - (1-f) log2(1-f).  Given the error, f
 * determines k = ln(error)/ln(f) and b = -k/ln(1-f); the entropy grows with f up to f = 1/2, the
 * ordinary Bloom filter (Mitzenmacher, "Compressed Bloom Filters", 2002, quoted in section II-A).
 */

static double model_rank_sparse_array(double log_fpr, double f, double *packed) {
    const double bits = -log_fpr / log(f) / log1p(-f);
    *packed = bits * -(f * log2(f) + (1 - f) * log1p(-f) / log(2));
    return bits;
}

tamis_status tamis_model_bloom_compressed(double fpr, double packed_bits, double *bits_per_key) {
    if (!(fpr > 0 && fpr < 1) || !(packed_bits > -log2(fpr) * (1 + 1e-9)))
        return TAMIS_E_DOMAIN;
    const double log_fpr = log(fpr);
    double packed;
    double bits = model_rank_sparse_array(log_fpr, 0.5, &packed);
    if (!(packed_bits <= packed * (1 + 1e-12)))
        return TAMIS_E_DOMAIN;
    /* Bisection for log f: the array grows like 1/f as packed_bits nears its lower bound. */
    double low = -700, high = log(0.5);
    for (unsigned i = 0; i < 100; i++) {
        const double middle = low + (high - low) / 2;
        bits = model_rank_sparse_array(log_fpr, exp(middle), &packed);
        if (packed < packed_bits)
            low = middle;
        else
            high = middle;
    }
    *bits_per_key = bits;
    return TAMIS_OK;
}
