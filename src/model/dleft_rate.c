/* dleft_rate.c - error and overflow of filters built on d-left hashing, from their load distribution
 *
 * Symbols: d = subtables; Q_ij = fraction of the buckets of subtable i with load j; f(j) = bits of a
 * fingerprint in a bucket of load j; B = buckets per subtable, R = values of a remainder, so BR is the
 * range of the hash of a key; n = keys.
 *
 * A query reads one bucket in each subtable and errs if it meets its fingerprint there (Bonomi et
 * al., "Bloom Filters via d-Left Hashing and Dynamic Bit Reassignment", 2006, equation (1)):
 *
 *     F = sum over i and j of Q_ij j 2^-f(j).                                                      (1)
 *
 * It counts the matching fingerprints instead of the probability that at least one matches: an upper
 * bound, by a relative F/2 or so.
 *
 * Semi-sorting.  The order of fingerprints in a bucket carries no information, so they are kept with
 * those that begin with 0 first.  The number of these, together with the load, is one state of the
 * bucket, and the first bit of each fingerprint need not be stored: all gain one bit.
 *
 *     64-bit bucket, 4 bits of state:   loads 0 to 3 and 6 have one state, load 4 five, load 5 six; in
 *                                       all 16.  60 bits for fingerprints.
 *     128-bit bucket, 8 bits of state:  one bit is gained at each load, two at loads 6 and 7, where the
 *                                       numbers of fingerprints that begin with 00, 01, 10 and 11 are kept:
 *                                       C(9,3) = 84 and C(10,3) = 120 states.  120 bits for fingerprints.
 *
 * With a+1 states for each other load a up to 11, the second comes to 267 states, more than 8 bits can
 * distinguish.  Without the gain below load 6, where fingerprints are long anyway, it is 252, and the
 * error rate that the paper prints is the one of this rule: RULE_128_FIT.
 *
 * The counting filter (Bonomi et al., "An Improved Construction for Counting Bloom Filters", ESA 2006)
 * derives all buckets and remainders of a key from one hash value in [BR] by permutations.  It errs if
 * and only if that value is also that of a key in the table.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tamis/model.h"

#include <math.h>

#include "base/base.h"

enum { CHOICES_MAX = 8, GROUP_MAX = 8 };

tamis_status tamis_model_dleft_rule(tamis_model_rule rule, unsigned n_loads, unsigned *fp_bits) {
    unsigned bits;
    unsigned capacity;
    switch (rule) {
    case TAMIS_MODEL_RULE_64_PLAIN:
    case TAMIS_MODEL_RULE_64:
        bits = 60;
        capacity = 6;
        break;
    case TAMIS_MODEL_RULE_128_ONE:
    case TAMIS_MODEL_RULE_128:
    case TAMIS_MODEL_RULE_128_FIT:
        bits = 120;
        capacity = 11;
        break;
    default:
        return TAMIS_E_DOMAIN;
    }
    if (n_loads < 1 || n_loads > TAMIS_MODEL_LOADS_MAX)
        return TAMIS_E_DOMAIN;
    for (unsigned a = 0; a < n_loads; a++) {
        if (a == 0 || a > capacity) {
            fp_bits[a] = 0;
            continue;
        }
        unsigned gain = 0;
        if (rule == TAMIS_MODEL_RULE_64)
            gain = a == 4 || a == 5 ? 1 : 0;
        else if (rule == TAMIS_MODEL_RULE_128_ONE)
            gain = 1;
        else if (rule == TAMIS_MODEL_RULE_128)
            gain = a == 6 || a == 7 ? 2 : 1;
        else if (rule == TAMIS_MODEL_RULE_128_FIT)
            gain = a == 6 || a == 7 ? 2 : a > 7 ? 1 : 0;
        fp_bits[a] = bits / a + gain;
    }
    return TAMIS_OK;
}

/* d distributions over n_loads loads: nothing negative, each row sums to 1. */
static bool model_dleft_rate_distributions(unsigned d, unsigned n_loads, const double *fraction) {
    if (d < 1 || d > CHOICES_MAX || n_loads < 2 || n_loads > TAMIS_MODEL_LOADS_MAX)
        return false;
    for (unsigned i = 0; i < d; i++) {
        double sum = 0;
        for (unsigned j = 0; j < n_loads; j++) {
            if (!(fraction[i * n_loads + j] >= 0))
                return false;
            sum += fraction[i * n_loads + j];
        }
        if (!(fabs(sum - 1) <= 1e-6))
            return false;
    }
    return true;
}

/* Matches that a query expects in a bucket of load j: j 2^-f, and a certain error if there is no room
 * for that load. */
static double model_dleft_rate_matches(unsigned j, unsigned fp_bits) {
    if (j == 0)
        return 0;
    return fp_bits == 0 ? 1 : ldexp((double)j, -(int)(fp_bits < 2000 ? fp_bits : 2000));
}

tamis_status tamis_model_dleft_fpr(unsigned d, unsigned n_loads, const double *fraction,
                                   const unsigned *fp_bits, double *fpr) {
    if (!model_dleft_rate_distributions(d, n_loads, fraction))
        return TAMIS_E_DOMAIN;
    double sum = 0;
    for (unsigned i = 0; i < d; i++)
        for (unsigned j = 1; j < n_loads; j++)
            sum += fraction[i * n_loads + j] * model_dleft_rate_matches(j, fp_bits[j]);
    *fpr = sum < 1 ? sum : 1;
    return TAMIS_OK;
}

/* The bucket that a query reads has load j.  The others of its group hold s keys together, with the
 * distribution of a sum of group - 1 independent loads.  All fingerprints of the group are equally long,
 * except for what each bucket gains by semi-sorting, which follows from the rule for single buckets. */
tamis_status tamis_model_dleft_fpr_grouped(unsigned d, unsigned n_loads, const double *fraction,
                                           const unsigned *fp_bits, unsigned bucket_bits,
                                           unsigned group, double *fpr) {
    if (!model_dleft_rate_distributions(d, n_loads, fraction) || n_loads > 64 || group < 1 ||
        group > GROUP_MAX || bucket_bits < 1 || bucket_bits > 1u << 16)
        return TAMIS_E_DOMAIN;
    for (unsigned j = 1; j < n_loads; j++)
        if (fp_bits[j] != 0 && fp_bits[j] < bucket_bits / j)
            return TAMIS_E_DOMAIN;
    double total = 0;
    for (unsigned i = 0; i < d; i++) {
        const double *const q = &fraction[i * n_loads];
        double others[64 * GROUP_MAX] = {1};
        unsigned n_others = 1;
        for (unsigned b = 1; b < group; b++) {
            double sum[64 * GROUP_MAX] = {0};
            for (unsigned s = 0; s < n_others; s++)
                for (unsigned j = 0; j < n_loads; j++)
                    sum[s + j] += others[s] * q[j];
            n_others += n_loads - 1;
            memcpy(others, sum, n_others * sizeof others[0]);
        }
        for (unsigned j = 1; j < n_loads; j++)
            for (unsigned s = 0; s < n_others; s++) {
                unsigned bits = 0;
                if (fp_bits[j] != 0)
                    bits = group * bucket_bits / (j + s) + (fp_bits[j] - bucket_bits / j);
                total += q[j] * others[s] * model_dleft_rate_matches(j, bits);
            }
    }
    *fpr = total < 1 ? total : 1;
    return TAMIS_OK;
}

/* Fraction of the buckets of one subtable with load j or more, summed from the small end. */
static double model_dleft_rate_tail(const double *fraction, unsigned n_loads, unsigned j) {
    double sum = 0;
    for (unsigned l = n_loads; l-- > j;)
        sum += fraction[l];
    return sum < 1 ? sum : 1;
}

tamis_status tamis_model_dleft_full(unsigned d, unsigned n_loads, const double *fraction,
                                    unsigned capacity, double *odds) {
    if (!model_dleft_rate_distributions(d, n_loads, fraction) || capacity >= n_loads)
        return TAMIS_E_DOMAIN;
    double product = 1;
    for (unsigned i = 0; i < d; i++)
        product *= model_dleft_rate_tail(&fraction[i * n_loads], n_loads, capacity);
    *odds = product;
    return TAMIS_OK;
}

tamis_status tamis_model_dleft_overflow(unsigned d, unsigned n_loads, const double *fraction,
                                        unsigned capacity, double n_buckets, double *odds) {
    if (!model_dleft_rate_distributions(d, n_loads, fraction) || capacity >= n_loads - 1 ||
        !(n_buckets >= 0 && isfinite(n_buckets)))
        return TAMIS_E_DOMAIN;
    double sum = 0;
    for (unsigned i = 0; i < d; i++)
        sum += model_dleft_rate_tail(&fraction[i * n_loads], n_loads, capacity + 1);
    *odds = n_buckets * sum < 1 ? n_buckets * sum : 1;
    return TAMIS_OK;
}

static bool model_dleft_rate_dlcbf_domain(double n, double range) {
    return n >= 0 && isfinite(n) && range >= 1 && isfinite(range);
}

/* 1 - (1 - 1/(BR))^n. */
static double model_dleft_rate_taken(double n, double range) {
    return range > 1 ? -expm1(n * log1p(-1 / range)) : n > 0 ? 1 : 0;
}

tamis_status tamis_model_dlcbf(double n, double range, double *fpr) {
    if (!model_dleft_rate_dlcbf_domain(n, range))
        return TAMIS_E_DOMAIN;
    *fpr = model_dleft_rate_taken(n, range);
    return TAMIS_OK;
}

tamis_status tamis_model_dlcbf_bound(double n, double range, double *bound) {
    if (!model_dleft_rate_dlcbf_domain(n, range))
        return TAMIS_E_DOMAIN;
    *bound = n < range ? n / range : 1;
    return TAMIS_OK;
}

tamis_status tamis_model_dlcbf_cells(double n, double range, double *cells) {
    if (!model_dleft_rate_dlcbf_domain(n, range))
        return TAMIS_E_DOMAIN;
    *cells = range * model_dleft_rate_taken(n, range);
    return TAMIS_OK;
}

/* Expected number of sets of 'limit' keys with one value: C(n, limit) (BR)^(1 - limit). */
tamis_status tamis_model_dlcbf_counter(double n, double range, unsigned limit, double *odds) {
    if (!model_dleft_rate_dlcbf_domain(n, range) || limit < 1 || limit > 64)
        return TAMIS_E_DOMAIN;
    double sets = range;
    for (unsigned k = 0; k < limit && sets > 0; k++)
        sets *= n > k ? (n - k) / range / (k + 1) : 0;
    *odds = sets < 1 ? sets : 1;
    return TAMIS_OK;
}
