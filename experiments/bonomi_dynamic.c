/* bonomi_dynamic.c - the figures of "Bloom Filters via d-Left Hashing and Dynamic Bit Reassignment"
 *
 * Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese, Allerton Conference 2006: tables I and II and
 * the text of sections II and III.  Where the paper ends a number with dots, its digits are cut off and
 * not rounded; here too.
 *
 * SPDX-License-Identifier: MIT
 */
#include "churn.h"
#include "rebalance.h"
#include "simulate.h"

#include <math.h>
#include <stdio.h>

enum { LOADS = 12, SUBTABLES = 3 };

/* -------------------------------------------------------------------------------------------------
 * Tables: index is the load
 */

static tamis_status mean_fraction(double mean, int load, double *value) {
    double fraction[SUBTABLES * LOADS];
    const tamis_status status = tamis_model_dleft_inserted(SUBTABLES, mean, LOADS, fraction);
    if (status != TAMIS_OK)
        return status;
    double sum = 0;
    for (int i = 0; i < SUBTABLES; i++)
        sum += fraction[i * LOADS + load];
    *value = sum / SUBTABLES;
    return TAMIS_OK;
}

static tamis_status table1(const figure *self, double *value) {
    return mean_fraction(4, self->index, value);
}

static tamis_status table2(const figure *self, double *value) {
    return mean_fraction(6.4, self->index, value);
}

/* -------------------------------------------------------------------------------------------------
 * Error rates of section II: index is the rule
 */

static tamis_status single(double mean, const unsigned *bits, double *value) {
    double fraction[SUBTABLES * LOADS];
    const tamis_status status = tamis_model_dleft_inserted(SUBTABLES, mean, LOADS, fraction);
    if (status != TAMIS_OK)
        return status;
    return tamis_model_dleft_fpr(SUBTABLES, LOADS, fraction, bits, value);
}

/* Keys per bucket of this many bits. */
static double mean_for(int bucket_bits) {
    return bucket_bits == 64 ? 4 : 6.4;
}

static double mean_of(int rule) {
    return mean_for(rule == TAMIS_MODEL_RULE_64_PLAIN || rule == TAMIS_MODEL_RULE_64 ? 64 : 128);
}

static tamis_status buckets(const figure *self, double *value) {
    unsigned bits[LOADS];
    const tamis_status status = tamis_model_dleft_rule((tamis_model_rule)self->index, LOADS, bits);
    if (status != TAMIS_OK)
        return status;
    return single(mean_of(self->index), bits, value);
}

/* One bit gained by semi-sorting, at loads from 6 on. */
static tamis_status gain_from_6(const figure *self, double *value) {
    unsigned bits[LOADS] = {0};
    (void)self;
    for (unsigned a = 1; a < LOADS; a++)
        bits[a] = 120 / a + (a >= 6 ? 1 : 0);
    return single(6.4, bits, value);
}

static tamis_status grouped(const figure *self, double *value) {
    const double mean = mean_of(self->index);
    double fraction[SUBTABLES * LOADS];
    unsigned bits[LOADS];
    tamis_status status = tamis_model_dleft_inserted(SUBTABLES, mean, LOADS, fraction);
    if (status == TAMIS_OK)
        status = tamis_model_dleft_rule((tamis_model_rule)self->index, LOADS, bits);
    if (status != TAMIS_OK)
        return status;
    return tamis_model_dleft_fpr_grouped(SUBTABLES, LOADS, fraction, bits, mean < 5 ? 60 : 120, 4,
                                         value);
}

/* -------------------------------------------------------------------------------------------------
 * Bloom filters with 16 and 20 bits per key: index is the bits
 */

static unsigned hashes(int bits) {
    return bits == 16 ? 11 : 14;
}

static tamis_status bloom(const figure *self, double *value) {
    const double n = 1e12; /* so large that only the ratio counts */
    return tamis_model_bloom(n * self->index, n, hashes(self->index), value);
}

/* The paper computes these two rates and does not simulate them; the full run is ten times the other. */
static tamis_status bloom_simulate(const figure *self, run *r, measured *value) {
    experiment e = {.keys = 200000, .trials = r->full ? 100 : 4};
    tamis_params_init(&e.params);
    e.params.hash = TAMIS_HASH_XXH3;
    e.params.kind = TAMIS_KIND_BLOOM;
    e.params.capacity = e.keys;
    e.params.value[TAMIS_BLOOM_BITS] = (uint64_t)self->index * e.keys;
    e.params.value[TAMIS_BLOOM_HASHES] = hashes(self->index);
    return simulate_rate(&e, 2000000, value);
}

/* -------------------------------------------------------------------------------------------------
 * The filter of section II itself: index is the load, or 64 or 128, the bits of a bucket
 */

static experiment dleft(int bucket_bits, uint64_t buckets, uint64_t keys, unsigned trials) {
    experiment e = {.keys = keys, .trials = trials};
    tamis_params_init(&e.params);
    e.params.hash = TAMIS_HASH_XXH3;
    e.params.kind = TAMIS_KIND_DLEFT;
    e.params.capacity = keys;
    e.params.value[TAMIS_DLEFT_BUCKET_BITS] = (uint64_t)bucket_bits;
    e.params.value[TAMIS_DLEFT_BUCKETS] = buckets; /* 0: as many as give a mean load of 4 or 6.4 */
    return e;
}

/* The loads of filters of three subtables with this many keys per bucket, shared by the figures of one
 * mean.  A load that is too rare to be seen is simulated with another mean, where it is common. */
static tamis_status loads_simulate(int bucket_bits, uint64_t buckets, double mean,
                                   const figure *self, run *r, measured *value) {
    char name[64];
    snprintf(name, sizeof name, "loads %d %g", bucket_bits, mean);
    if (run_recall(r, name) == NULL) {
        const uint64_t all = SUBTABLES * buckets;
        const experiment e =
            dleft(bucket_bits, buckets, (uint64_t)lround(mean * (double)all), r->full ? 400 : 4);
        measured seen[LOADS];
        tamis_status status = simulate_loads(&e, all, LOADS, seen);
        if (status == TAMIS_OK)
            status = run_keep(r, name, seen, LOADS);
        if (status != TAMIS_OK)
            return status;
    }
    *value = run_recall(r, name)[self->index];
    return mean_fraction(mean, self->index, &value->expected);
}

static tamis_status table1_simulate(const figure *self, run *r, measured *value) {
    static const double weaker[LOADS] = {[0] = 2.5, [6] = 4.5, [7] = 5.5};
    const double mean = weaker[self->index] > 0 ? weaker[self->index] : mean_for(64);
    return mean > 5 ? loads_simulate(128, 10000, mean, self, r, value) /* 64 bits are too few */
                    : loads_simulate(64, 1 << 14, mean, self, r, value);
}

static tamis_status table2_simulate(const figure *self, run *r, measured *value) {
    static const double weaker[LOADS] = {[0] = 2.5, [1] = 3.5, [2] = 4.5, [3] = 5.5, [9] = 7.5};
    const double mean = weaker[self->index] > 0 ? weaker[self->index] : mean_for(128);
    return loads_simulate(128, 10000, mean, self, r, value);
}

static tamis_status rate(int bucket_bits, uint64_t group, run *r, measured *value) {
    experiment e = dleft(bucket_bits, 0, r->full ? 1000000 : 200000, r->full ? 40 : 4);
    e.params.value[TAMIS_DLEFT_GROUP] = group;
    const uint64_t queries = r->full ? 1000000 : 500000;
    return simulate_rate(&e, bucket_bits == 64 ? queries : 4 * queries, value);
}

static tamis_status plain64(const figure *self, run *r, measured *value) {
    experiment e = dleft(64, 0, 1000000, r->full ? 40 : 4);
    (void)self;
    e.params.value[TAMIS_DLEFT_PLAIN] = 1;
    return simulate_rate(&e, 1000000, value);
}

static tamis_status semisort64(const figure *self, run *r, measured *value) {
    (void)self;
    return rate(64, 1, r, value);
}

static tamis_status semisort128(const figure *self, run *r, measured *value) {
    (void)self;
    return rate(128, 1, r, value);
}

static tamis_status grouped_simulate(const figure *self, run *r, measured *value) {
    return rate(mean_of(self->index) < 5 ? 64 : 128, 4, r, value);
}

/* The paper's own experiment: 1000 trials of 100,000 queries each. */
static tamis_status sim64(const figure *self, run *r, measured *value) {
    (void)self;
    const experiment e = dleft(64, 4096, 49152, r->full ? 1000 : 25);
    return simulate_rate(&e, 100000, value);
}

static tamis_status offline_simulate(int bucket_bits, tamis_ties ties, run *r, measured *value) {
    tamis_build_options how;
    tamis_build_options_init(&how);
    how.passes = 10;
    how.ties = ties;
    experiment e = dleft(bucket_bits, 4096, bucket_bits == 64 ? 32768 : 49152, r->full ? 400 : 20);
    e.params.value[TAMIS_DLEFT_SUBTABLES] = 2;
    e.offline = &how;
    return simulate_rate(&e, bucket_bits == 64 ? 200000 : 1250000, value);
}

/* The loads after ten passes, and equation (1): index is 64 or 128, the bits of a bucket. */
static tamis_status offline_rate(int bucket_bits, tamis_ties ties, double *value) {
    double fraction[2 * LOADS];
    unsigned bits[LOADS];
    tamis_status status =
        tamis_model_dleft_balanced(bucket_bits == 64 ? 4 : 6, 10, ties, LOADS, fraction);
    if (status == TAMIS_OK)
        status = tamis_model_dleft_rule(
            bucket_bits == 64 ? TAMIS_MODEL_RULE_64 : TAMIS_MODEL_RULE_128, LOADS, bits);
    if (status != TAMIS_OK)
        return status;
    return tamis_model_dleft_fpr(2, LOADS, fraction, bits, value);
}

static tamis_status offline_left_rate(const figure *self, double *value) {
    return offline_rate(self->index, TAMIS_TIES_LEFT, value);
}

static tamis_status offline_random_rate(const figure *self, double *value) {
    return offline_rate(self->index, TAMIS_TIES_RANDOM, value);
}

static tamis_status offline_left(const figure *self, run *r, measured *value) {
    return offline_simulate(self->index, TAMIS_TIES_LEFT, r, value);
}

static tamis_status offline_random(const figure *self, run *r, measured *value) {
    return offline_simulate(self->index, TAMIS_TIES_RANDOM, r, value);
}

/* Elements that are moved in the background, section II.D: index is the number of moves per insert.
 * Without moves there is a model.  With them there is none, and the paper has no numbers: these rows are
 * data. */
static tamis_status rebalance(unsigned d, const figure *self, bool by_loads, run *r,
                              measured *value) {
    return rebalance_rate(d, (unsigned)self->index, by_loads, r->full ? 100 : 5, value);
}

static tamis_status rebalanced(const figure *self, run *r, measured *value) {
    return rebalance(SUBTABLES, self, false, r, value);
}

static tamis_status rebalanced_two(const figure *self, run *r, measured *value) {
    return rebalance(2, self, false, r, value);
}

static tamis_status rebalanced_loads(const figure *self, run *r, measured *value) {
    return rebalance(SUBTABLES, self, true, r, value);
}

/* Without moves: d-left hashing. */
static tamis_status d_left_rate(unsigned d, double *value) {
    double fraction[SUBTABLES * LOADS];
    unsigned bits[REBALANCE_LOADS];
    tamis_status status = tamis_model_dleft_inserted(d, 4, LOADS, fraction);
    if (status == TAMIS_OK)
        status = rebalance_bits(bits);
    return status != TAMIS_OK ? status : tamis_model_dleft_fpr(d, LOADS, fraction, bits, value);
}

static tamis_status not_rebalanced(const figure *self, double *value) {
    (void)self;
    return d_left_rate(SUBTABLES, value);
}

static tamis_status two_not_rebalanced(const figure *self, double *value) {
    (void)self;
    return d_left_rate(2, value);
}

/* -------------------------------------------------------------------------------------------------
 * The counting filter of section III: 4 subtables of 2048 buckets, 49152 keys, 2^20 rounds
 */

static tamis_status fixed_remainders(const figure *self, double *value) {
    (void)self;
    return tamis_model_dlcbf(49152, 2048 * ldexp(1, 14), value);
}

/* 120 bits per bucket: a remainder gives one to its counter and gains one by semi-sorting. */
static tamis_status one_length(const figure *self, double *value) {
    enum { MOST = 14, CHOICES = 4 };
    double seen[MOST * MOST];
    unsigned bits[MOST] = {0};
    for (unsigned m = 1; m < MOST; m++)
        bits[m] = 120 / m - 1 + 1;
    const tamis_status status =
        tamis_model_ddlcbf_seen(CHOICES, 6, 128, (unsigned)self->index, MOST, seen);
    if (status != TAMIS_OK)
        return status;
    return tamis_model_ddlcbf(CHOICES, MOST, seen, bits, value);
}

/* 120 bits per bucket; each remainder gives one to its counter. */
static tamis_status two_lengths(const figure *self, double *value) {
    return tamis_model_ddlcbf_two(4, 6, 128, 120, 1, (unsigned)self->index, value);
}

/* The experiment of section III: fifty trials in the paper. */
static churn counting(tamis_kind kind, bool full) {
    enum { KEYS = 49152 };
    churn c = {.keys = KEYS,
               .rounds = 1 << 20,
               .queries = full ? 10000 : 1000000,
               .trials = full ? 50 : 2};
    tamis_params_init(&c.params);
    c.params.hash = TAMIS_HASH_XXH3;
    c.params.kind = kind;
    c.params.capacity = KEYS;
    c.params.seed = 1;
    c.params.value[0] = 4; /* subtables, of both kinds */
    c.params.value[1] = 2048;
    return c;
}

static tamis_status fixed_simulate(const figure *self, run *r, measured *value) {
    const churn c = counting(TAMIS_KIND_DLEFT_COUNTING, r->full); /* the defaults are the paper's */
    churn_result result;
    (void)self;
    const tamis_status status = churn_run(&c, false, &result);
    *value = result.rate;
    return status;
}

/* index is the minimal remainder; the state of a bucket comes on top of its 120 bits. */
static tamis_status ddlcbf_simulate(const figure *self, uint64_t sizes, run *r, measured *value) {
    enum { ONE_STATE = 13, TWO_STATE = 18 };
    churn c = counting(TAMIS_KIND_DLEFT_DYNAMIC, r->full);
    churn_result result;
    c.params.value[TAMIS_DLEFT_DYNAMIC_BUCKET_BITS] = 120 + (sizes == 1 ? ONE_STATE : TWO_STATE);
    c.params.value[TAMIS_DLEFT_DYNAMIC_REMAINDER_BITS] = (uint64_t)self->index;
    c.params.value[TAMIS_DLEFT_DYNAMIC_COUNTER_BITS] = 1;
    c.params.value[TAMIS_DLEFT_DYNAMIC_SIZES] = sizes;
    const tamis_status status = churn_run(&c, false, &result);
    *value = result.rate;
    return status;
}

static tamis_status one_simulate(const figure *self, run *r, measured *value) {
    return ddlcbf_simulate(self, 1, r, value);
}

static tamis_status two_simulate(const figure *self, run *r, measured *value) {
    return ddlcbf_simulate(self, 2, r, value);
}

#define MOVED           "ours: elements moved in the background, 64-bit buckets at load 4"
#define FLUID           "fluid limit, mean over the three subtables"
#define SIMULATED(load) FLUID "; simulated with " load " keys per bucket"
#define OFFLINE         "local search, pair approximation"

/* clang-format off: one line per figure */
static const figure figures[] = {
    {"dleft.t1.load0", "2.3e-05", table1, table1_simulate, 0, 0, NULL, SIMULATED("2.5")},
    {"dleft.t1.load1", "6.0e-04", table1, table1_simulate, 1, 0,
     SLIP("5.9e-04", "5.902e-4 does not round to 6.0e-4"), FLUID},
    FOUR_FIGURES(dleft.t1.load, table1, table1_simulate, 0, FLUID, 2, "1.1e-02", 3, "1.5e-01", 4,
                 "6.6e-01", 5, "1.8e-01"),
    {"dleft.t1.load6", "2.3e-05", table1, table1_simulate, 6, 0, NULL, SIMULATED("4.5")},
    {"dleft.t1.load7", "5.6e-31", table1, table1_simulate, 7, 0, NULL, SIMULATED("5.5")},
    {"dleft.t2.load0", "1.7e-08", table2, table2_simulate, 0, 0, NULL, SIMULATED("2.5")},
    {"dleft.t2.load1", "5.6e-07", table2, table2_simulate, 1, 0, NULL, SIMULATED("3.5")},
    {"dleft.t2.load2", "1.2e-05", table2, table2_simulate, 2, 0, NULL, SIMULATED("4.5")},
    {"dleft.t2.load3", "2.1e-04", table2, table2_simulate, 3, 0, NULL, SIMULATED("5.5")},
    FOUR_FIGURES(dleft.t2.load, table2, table2_simulate, 0, FLUID, 4, "3.5e-03", 5, "5.6e-02", 6,
                 "4.8e-01", 7, "4.5e-01"),
    {"dleft.t2.load8", "6.2e-03", table2, table2_simulate, 8, 0, NULL, FLUID},
    {"dleft.t2.load9", "4.8e-15", table2, table2_simulate, 9, 0, NULL,
     FLUID
     "; mean load 6.4, so n/6.4 buckets and not the n/4 of the caption; simulated with 7.5 keys "
     "per bucket"},

    {"dleft.fpr64.plain", "0.0008937...", buckets, plain64, TAMIS_MODEL_RULE_64_PLAIN, 0, NULL,
     "equation (1), f(a) = floor(60/a); plain buckets"},
    {"dleft.fpr64.semisort", "0.0004477...", buckets, semisort64, TAMIS_MODEL_RULE_64, 0, NULL,
     "one more bit at loads 4 and 5"},
    {"dleft.bloom16", "0.0004587...", bloom, bloom_simulate, 16, 0, NULL, "11 hashes, many keys"},
    {"dleft.bloom20", "0.00006713...", bloom, bloom_simulate, 20, 0, NULL, "14 hashes, many keys"},
    {"dleft.fpr128.semisort1", "0.00004259...", gain_from_6, NULL, 0, 0, NULL,
     "one more bit from load 6 on; with one at every load, as the text has it, 4.2575e-5"},
    {"dleft.fpr128.semisort2", "0.00002245...", buckets, semisort128, TAMIS_MODEL_RULE_128_FIT, 0,
     NULL,
     "22 and 19 bits at loads 6 and 7, one more bit from load 8 on: these 252 states fit 8 bits; "
     "with one more below 6 as well, as the text has it, 2.2430e-5 and 267 states"},
    {"dleft.group64", "0.0003520...", grouped, grouped_simulate, TAMIS_MODEL_RULE_64, 0, NULL,
     "four independent loads of one subtable share 240 bits, semi-sorting as before"},
    {"dleft.group128", "0.0002042...", grouped, grouped_simulate, TAMIS_MODEL_RULE_128, 0.001,
     SLIP("0.00002042", "a zero is missing"),
     "four loads share 480 bits, semi-sorting at every load; agrees to 0.06 %"},
    {"dleft.sim64", "0.00044988", buckets, sim64, TAMIS_MODEL_RULE_64, 0.01, NULL,
     "the printed value has a standard error of 0.5 %; load 4 needs 3*4096 bins, not 8192"},
    {"dleft.offline64", "0.00023894", offline_left_rate, offline_left, 64, 0.02, NULL,
     OFFLINE "; ties to the left"},
    {"dleft.offline128", "0.000004605", offline_left_rate, offline_left, 128, 0.02, NULL,
     OFFLINE "; ties to the left"},
    {"dleft.offline64.random", NULL, offline_random_rate, offline_random, 64, 0, NULL,
     OFFLINE "; ours: random ties, where the paper has 0.00023894"},
    {"dleft.offline128.random", NULL, offline_random_rate, offline_random, 128, 0, NULL,
     OFFLINE "; ours: random ties, where the paper has 0.000004605"},

    {"dleft.rebalance.none", NULL, not_rebalanced, rebalanced, 0, 0, NULL, MOVED ": none"},
    {"dleft.rebalance.one", NULL, NULL, rebalanced, 1, 0, NULL,
     MOVED ": one per insert; lengths that were lost do not come back"},
    {"dleft.rebalance.four", NULL, NULL, rebalanced, 4, 0, NULL, MOVED ": four per insert"},
    {"dleft.rebalance.four.loads", NULL, NULL, rebalanced_loads, 4, 0, NULL,
     MOVED ": four per insert, and all bits of a key still known"},
    {"dleft.rebalance.two.none", NULL, two_not_rebalanced, rebalanced_two, 0, 0, NULL,
     MOVED ": none, two subtables"},
    {"dleft.rebalance.two.four", NULL, NULL, rebalanced_two, 4, 0, NULL,
     MOVED ": four per insert, two subtables"},

    {"ddlcbf.dlcbf", "0.0014593", fixed_remainders, fixed_simulate, 0, 0.05, NULL,
     "1 - (1 - 1/BR)^m; fifty trials, about 4 % standard error if 10,000 queries each"},
    {"ddlcbf.one", "0.0004729", one_length, one_simulate, 14, 0, NULL,
     "not reproducible: the minimal remainder is not stated; with 14 bits as in the dlCBF 3.24e-4, "
     "11 bits would give 4.67e-4"},
    {"ddlcbf.two", "0.0003111", two_lengths, two_simulate, 14, 0.05, NULL,
     "a Markov chain over the lengths in a bucket; minimal remainders of 14 bits"},
};
/* clang-format on */

const figure_list figures_dleft = {"bonomi2006-dleft-dynamic-bit-reassignment", figures,
                                   sizeof figures / sizeof figures[0]};
