/* kanizo.c - the figures of "Access-Efficient Balanced Bloom Filters"
 *
 * Kanizo, Hay and Keslassy, 2011 (technical report TR11-07, Comnet, Technion).  Nearly all of it is
 * in plots without data; their curves are computed at the marks and have no printed value.
 *
 * In figure 4 all filters have blocks of 256 bits and k = round(beta ln 2) hashes, where beta is
 * the number of bits per key; SINGLE and MHT have the overflow list that MHT needs with 1.2
 * accesses and 3 choices, 0.498 % of the keys.  The curves of the paper take the mean number of
 * bits set in a block for the number itself; the IDs with ".exact." do not, and are what a filter
 * shows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "experiments.h"

#include <math.h>

#include <tamis/plan.h>

enum { BLOCK_BITS = 256, CHOICES = 3 };

/* The number of hashes that suits 'beta' bits per key. */
static unsigned hashes_for(double beta) {
    return (unsigned)lround(beta * log(2));
}

/* -------------------------------------------------------------------------------------------------
 * Figure 2: the lower-bound distribution; index = 100 * (10 * accesses) + load
 */

enum { LARGEST = 99 };

static tamis_status lower_bound(const figure *self, double *value) {
    double p[LARGEST];
    unsigned k0;
    const int tenths = self->index / 100;
    const tamis_status status = tamis_model_balance_bound(tenths / 10.0, 8, 0, p, LARGEST, &k0);
    if (status == TAMIS_OK)
        *value = self->index % 100 == LARGEST ? k0 : p[self->index % 100];
    return status;
}

/* -------------------------------------------------------------------------------------------------
 * Figure 3: the optimality regions; index = 100 * accesses in (a), keys per block in (b)
 */

static tamis_status region_sequential(const figure *self, double *value) {
    return tamis_model_balance_region(TAMIS_BALANCE_SEQUENTIAL, CHOICES, self->index / 100.0, 8,
                                      value, NULL);
}

static tamis_status region_mht(const figure *self, double *value) {
    return tamis_model_balance_region(TAMIS_BALANCE_MHT, CHOICES, self->index / 100.0, 8, value,
                                      NULL);
}

static tamis_status region_by_load(const figure *self, double *value) {
    return tamis_model_balance_region(TAMIS_BALANCE_SEQUENTIAL, CHOICES, 1.2, self->index, value,
                                      NULL);
}

static tamis_status sequential_percent(const figure *self, double *value) {
    const tamis_status status = region_sequential(self, value);
    if (status == TAMIS_OK)
        *value *= 100;
    return status;
}

static tamis_status mht_percent(const figure *self, double *value) {
    const tamis_status status = region_mht(self, value);
    if (status == TAMIS_OK)
        *value *= 100;
    return status;
}

/* -------------------------------------------------------------------------------------------------
 * Figure 4: error rates; index = bits per key
 */

static tamis_status hashes(const figure *self, double *value) {
    *value = hashes_for(self->index);
    return TAMIS_OK;
}

/* SINGLE or MHT with the parameters that balance best. */
static tamis_status best_shape(tamis_balance_scheme scheme, double load,
                               tamis_balance_shape *shape) {
    tamis_balance_shape_init(shape);
    double overflow;
    const tamis_status status =
        tamis_model_balance_region(TAMIS_BALANCE_MHT, CHOICES, 1.2, load, &overflow, shape->shares);
    if (status != TAMIS_OK)
        return status;
    shape->scheme = scheme;
    shape->choices = scheme == TAMIS_BALANCE_SINGLE ? 1 : CHOICES;
    return tamis_model_balance_parameters(scheme == TAMIS_BALANCE_SINGLE ? 1 : 1.2, load, overflow,
                                          &shape->threshold, &shape->coin);
}

static tamis_status balanced(tamis_balance_scheme scheme, int beta, bool exact, bool keyed,
                             double *value) {
    const double load = (double)BLOCK_BITS / beta;
    tamis_balance_shape shape;
    const tamis_status status = best_shape(scheme, load, &shape);
    if (status != TAMIS_OK)
        return status;
    const unsigned bits = BLOCK_BITS - tamis_model_balance_counter_bits(shape.threshold);
    const unsigned k = hashes_for(beta);
    return exact ? tamis_model_balance_fpr(&shape, load, keyed, bits, k, value)
                 : tamis_model_balance_fpr_printed(&shape, load, bits, k, value);
}

static tamis_status single(const figure *self, double *value) {
    return balanced(TAMIS_BALANCE_SINGLE, self->index, false, false, value);
}

static tamis_status single_exact(const figure *self, double *value) {
    return balanced(TAMIS_BALANCE_SINGLE, self->index, true, false, value);
}

static tamis_status mht(const figure *self, double *value) {
    return balanced(TAMIS_BALANCE_MHT, self->index, false, false, value);
}

static tamis_status mht_exact(const figure *self, double *value) {
    return balanced(TAMIS_BALANCE_MHT, self->index, true, false, value);
}

/* As the filter of this library does it: a query knows the coins of its key. */
static tamis_status mht_keyed(const figure *self, double *value) {
    return balanced(TAMIS_BALANCE_MHT, self->index, true, true, value);
}

/* A table that is too large for its fill to vary. */
static tamis_status standard(const figure *self, double *value) {
    return tamis_model_bloom(1e15 * self->index, 1e15, hashes_for(self->index), value);
}

static tamis_status blocked_exact(const figure *self, double *value) {
    return tamis_model_blocked(BLOCK_BITS, (double)BLOCK_BITS / self->index,
                               hashes_for(self->index), value);
}

/* SINGLE without list and counter: Poisson loads, phi(i) = (1 - e^(-ki/B))^k. */
static tamis_status blocked(const figure *self, double *value) {
    const double load = (double)BLOCK_BITS / self->index;
    const unsigned k = hashes_for(self->index);
    double sum = 0;
    for (unsigned i = 1; i <= 2 * BLOCK_BITS; i++) {
        double weight;
        const tamis_status status = tamis_model_poisson(load, i, &weight);
        if (status != TAMIS_OK)
            return status;
        sum += weight * pow(-expm1(-(double)k * i / BLOCK_BITS), k);
    }
    *value = sum;
    return TAMIS_OK;
}

/* Blocks read per insert and per query of an absent key, MHT as in figure 4. */
static tamis_status state(int beta, tamis_balance_state *found) {
    const double load = (double)BLOCK_BITS / beta;
    tamis_balance_shape shape;
    const tamis_status status = best_shape(TAMIS_BALANCE_MHT, load, &shape);
    if (status != TAMIS_OK)
        return status;
    tamis_balance_state_init(found);
    return tamis_model_balance_state(&shape, load, found);
}

static tamis_status reads_insert(const figure *self, double *value) {
    tamis_balance_state found;
    const tamis_status status = state(self->index, &found);
    if (status == TAMIS_OK)
        *value = found.accesses;
    return status;
}

static tamis_status reads_absent_keyed(const figure *self, double *value) {
    tamis_balance_state found;
    const tamis_status status = state(self->index, &found);
    if (status == TAMIS_OK)
        *value = found.reads_absent_keyed;
    return status;
}

static tamis_status reads_absent(const figure *self, double *value) {
    tamis_balance_state found;
    const tamis_status status = state(self->index, &found);
    if (status == TAMIS_OK)
        *value = found.reads_absent;
    return status;
}

/* Reads while MHT with 16 bits per key fills up; index = percent of the keys that are in. */
enum { FILLING_BITS = 16 };

static tamis_status filling(const figure *self, tamis_balance_state *found) {
    const double load = (double)BLOCK_BITS / FILLING_BITS;
    tamis_balance_shape shape;
    const tamis_status status = best_shape(TAMIS_BALANCE_MHT, load, &shape);
    if (status != TAMIS_OK)
        return status;
    tamis_balance_state_init(found);
    return tamis_model_balance_state(&shape, load * self->index / 100, found);
}

static tamis_status filling_insert(const figure *self, double *value) {
    tamis_balance_state found;
    const tamis_status status = filling(self, &found);
    if (status == TAMIS_OK)
        *value = found.accesses;
    return status;
}

static tamis_status filling_query(const figure *self, double *value) {
    tamis_balance_state found;
    const tamis_status status = filling(self, &found);
    if (status == TAMIS_OK)
        *value = found.reads_absent_keyed;
    return status;
}

/* -------------------------------------------------------------------------------------------------
 * On the filter itself
 *
 * Error rates are those that info tells: from the bits that are set in the blocks, which is exact for this
 * table and can be had where queries would take days.  tests/model/test_filter_balanced.c
 * compares info with queries.
 */

typedef double observation(const tamis_info *info);

static double see_overflow(const tamis_info *info) {
    return (double)info->stash_used / (double)info->count;
}

static double see_insert(const tamis_info *info) {
    return info->reads_per_insert;
}

static double see_query(const tamis_info *info) {
    return info->reads_per_query;
}

static double see_rate(const tamis_info *info) {
    return info->fpr;
}

/* Fill a filter with n keys, and look at it.  A key that a false positive hides sets no bit that is not
 * set, but is missing from the loads. */
static tamis_status fill(const tamis_params *params, uint64_t n, tamis_info *info) {
    enum { CHUNK = 512 };
    tamis_filter *filter;
    tamis_status status = tamis_filter_create(params, NULL, &filter);
    if (status != TAMIS_OK)
        return status;
    uint64_t keys[CHUNK];
    for (uint64_t next = 0; next < n && status == TAMIS_OK;) {
        size_t in = 0;
        while (in < CHUNK && next < n)
            keys[in++] = next++;
        status = tamis_filter_insert_many_u64(filter, keys, in, NULL, NULL);
    }
    tamis_info_init(info);
    if (status == TAMIS_OK)
        status = tamis_filter_info(filter, info);
    tamis_filter_free(filter);
    return status;
}

/* Mean and standard error of what is seen in some filters with 'percent' of their keys in. */
static tamis_status observe(const tamis_params *params, int percent, bool full,
                            observation *observed, measured *value) {
    const unsigned trials = full ? 20 : 12;
    double sum = 0, squares = 0;
    for (unsigned t = 0; t < trials; t++) {
        tamis_params own = *params;
        tamis_info info;
        own.seed = t + 1;
        const tamis_status status = fill(&own, own.capacity * (uint64_t)percent / 100, &info);
        if (status != TAMIS_OK)
            return status;
        sum += observed(&info);
        squares += observed(&info) * observed(&info);
    }
    value->mean = sum / trials;
    value->standard_error =
        sqrt(fmax(0, squares / trials - value->mean * value->mean) / (trials - 1));
    /* What happens to less than one key in all is not seen. */
    value->standard_error =
        fmax(value->standard_error, 1e-3 * value->mean / sqrt((double)params->capacity * trials));
    return TAMIS_OK;
}

static uint64_t keys_for(bool full) {
    return full ? 400000 : 30000;
}

/* By the theory, with so many keys per block of 256 bits, or of 512 where those would be too full to tell
 * keys apart. */
static tamis_status by_theory(tamis_balance_scheme scheme, double accesses, double overflow,
                              double load, bool full, tamis_params *params) {
    tamis_balanced_need need;
    tamis_plan plan;
    tamis_balanced_need_init(&need);
    tamis_plan_init(&plan);
    need.n = keys_for(full);
    need.scheme = scheme;
    need.accesses = accesses;
    need.overflow = overflow;
    need.block_bits = load <= 16 ? BLOCK_BITS : 2 * BLOCK_BITS;
    need.bits_per_key = need.block_bits / load;
    const tamis_status status = tamis_plan_balanced(&need, &plan);
    if (status == TAMIS_OK)
        *params = plan.params;
    return status;
}

static tamis_status region_see(tamis_balance_scheme scheme, double accesses, double load, bool full,
                               observation *observed, measured *value) {
    tamis_params params;
    const tamis_status status = by_theory(scheme, accesses, 0, load, full, &params);
    return status == TAMIS_OK ? observe(&params, 100, full, observed, value) : status;
}

static tamis_status region_sequential_see(const figure *self, bool full, measured *value) {
    return region_see(TAMIS_BALANCE_SEQUENTIAL, self->index / 100.0, 8, full, see_overflow, value);
}

static tamis_status region_mht_see(const figure *self, bool full, measured *value) {
    return region_see(TAMIS_BALANCE_MHT, self->index / 100.0, 8, full, see_overflow, value);
}

static tamis_status region_by_load_see(const figure *self, bool full, measured *value) {
    return region_see(TAMIS_BALANCE_SEQUENTIAL, 1.2, self->index, full, see_overflow, value);
}

static tamis_status accesses(const figure *self, double *value) {
    *value = self->index / 100.0;
    return TAMIS_OK;
}

static tamis_status accesses_sequential_see(const figure *self, bool full, measured *value) {
    return region_see(TAMIS_BALANCE_SEQUENTIAL, self->index / 100.0, 8, full, see_insert, value);
}

static tamis_status accesses_mht_see(const figure *self, bool full, measured *value) {
    return region_see(TAMIS_BALANCE_MHT, self->index / 100.0, 8, full, see_insert, value);
}

/* The filters of figure 4: blocks of 256 bits at any load. */
static tamis_status figure4_see(tamis_balance_scheme scheme, int beta, int percent, bool full,
                                observation *observed, measured *value) {
    tamis_balanced_need need;
    tamis_plan plan;
    tamis_balanced_need_init(&need);
    tamis_plan_init(&plan);
    need.n = keys_for(full);
    need.scheme = scheme;
    need.block_bits = BLOCK_BITS;
    need.bits_per_key = beta;
    need.hashes = hashes_for(beta);
    tamis_status status = TAMIS_OK;
    if (scheme == TAMIS_BALANCE_SINGLE)
        status =
            tamis_model_balance_region(TAMIS_BALANCE_MHT, CHOICES, 1.2, 8, &need.overflow, NULL);
    if (status == TAMIS_OK)
        status = tamis_plan_balanced(&need, &plan);
    return status == TAMIS_OK ? observe(&plan.params, percent, full, observed, value) : status;
}

static tamis_status single_see(const figure *self, bool full, measured *value) {
    return figure4_see(TAMIS_BALANCE_SINGLE, self->index, 100, full, see_rate, value);
}

static tamis_status mht_see(const figure *self, bool full, measured *value) {
    return figure4_see(TAMIS_BALANCE_MHT, self->index, 100, full, see_rate, value);
}

static tamis_status reads_absent_see(const figure *self, bool full, measured *value) {
    return figure4_see(TAMIS_BALANCE_MHT, self->index, 100, full, see_query, value);
}

static tamis_status reads_insert_see(const figure *self, bool full, measured *value) {
    return figure4_see(TAMIS_BALANCE_MHT, self->index, 100, full, see_insert, value);
}

static tamis_status filling_insert_see(const figure *self, bool full, measured *value) {
    return figure4_see(TAMIS_BALANCE_MHT, FILLING_BITS, self->index, full, see_insert, value);
}

static tamis_status filling_query_see(const figure *self, bool full, measured *value) {
    return figure4_see(TAMIS_BALANCE_MHT, FILLING_BITS, self->index, full, see_query, value);
}

static tamis_status standard_see(const figure *self, bool full, measured *value) {
    tamis_params params;
    tamis_params_init(&params);
    params.kind = TAMIS_KIND_BLOOM;
    params.capacity = keys_for(full);
    params.value[TAMIS_BLOOM_BITS] = params.capacity * (uint64_t)self->index;
    params.value[TAMIS_BLOOM_HASHES] = hashes_for(self->index);
    return observe(&params, 100, full, see_rate, value);
}

/* A blocked filter with blocks of 256 bits is one of SINGLE whose blocks are never full; it has a counter
 * of 7 bits. */
enum { COUNTER_BITS = 7 };

static tamis_status blocked_counted(const figure *self, double *value) {
    return tamis_model_blocked(BLOCK_BITS - COUNTER_BITS, (double)BLOCK_BITS / self->index,
                               hashes_for(self->index), value);
}

static tamis_status blocked_see(const figure *self, bool full, measured *value) {
    tamis_params params;
    tamis_params_init(&params);
    params.kind = TAMIS_KIND_BALANCED_BLOOM;
    params.capacity = keys_for(full);
    params.value[TAMIS_BALANCED_SCHEME] = TAMIS_BALANCE_SINGLE;
    params.value[TAMIS_BALANCED_BLOCK_BITS] = BLOCK_BITS;
    params.value[TAMIS_BALANCED_BLOCKS] = params.capacity * (uint64_t)self->index / BLOCK_BITS;
    params.value[TAMIS_BALANCED_HASHES] = hashes_for(self->index);
    params.value[TAMIS_BALANCED_LOAD_MAX] = (1 << COUNTER_BITS) - 1;
    return observe(&params, 100, full, see_rate, value);
}

/* -------------------------------------------------------------------------------------------------
 * The list.  PLOT is a figure without a printed value, SEEN one that is also measured.
 */

#define PLOT(id, compute, index, note)                                                             \
    { id, NULL, compute, NULL, index, 0, NULL, note }

#define SEEN(id, compute, simulate, index, note)                                                   \
    { id, NULL, compute, simulate, index, 0, NULL, note }

#define P_LB(a, i) PLOT("bal.f2.a" #a ".p" #i, lower_bound, 100 * (a) + (i), "P_LB(" #i "), r = 8")

#define F3A(a)                                                                                     \
    SEEN("bal.f3a.sequential.a" #a, region_sequential, region_sequential_see, a,                   \
         "least overflow, r = 8, d = 3"),                                                          \
        SEEN("bal.f3a.mht.a" #a, region_mht, region_mht_see, a, "least overflow, d = 3, any r"),   \
        SEEN("bal.accesses.sequential.a" #a, accesses, accesses_sequential_see, a,                 \
             "blocks read per insert, r = 8, d = 3"),                                              \
        SEEN("bal.accesses.mht.a" #a, accesses, accesses_mht_see, a,                               \
             "blocks read per insert, r = 8, d = 3")

#define F3B(r)                                                                                     \
    SEEN("bal.f3b.sequential.r" #r, region_by_load, region_by_load_see, r,                         \
         "least overflow, a = 1.2, d = 3")

#define F4(beta)                                                                                   \
    SEEN("bal.f4.standard.b" #beta, standard, standard_see, beta, "(1 - e^(-k/beta))^k"),          \
        PLOT("bal.f4.blocked.b" #beta, blocked, beta, "mean fill of a block"),                     \
        PLOT("bal.f4.blocked.exact.b" #beta, blocked_exact, beta, "exact fill of a block"),        \
        SEEN("bal.f4.blocked.counted.b" #beta, blocked_counted, blocked_see, beta,                 \
             "exact fill of a block, 7 bits of which count its keys"),                             \
        PLOT("bal.f4.single.b" #beta, single, beta, "mean fill of a block"),                       \
        SEEN("bal.f4.single.exact.b" #beta, single_exact, single_see, beta,                        \
             "exact fill of a block"),                                                             \
        PLOT("bal.f4.mht.b" #beta, mht, beta, "mean fill of a block, sum of P_j FPR_j"),           \
        PLOT("bal.f4.mht.exact.b" #beta, mht_exact, beta, "exact fill of a block"),                \
        SEEN("bal.f4.mht.keyed.b" #beta, mht_keyed, mht_see, beta,                                 \
             "exact fill of a block, a query knows the coins of its key"),                         \
        PLOT("bal.reads.absent.b" #beta, reads_absent, beta,                                       \
             "MHT of figure 4, blocks read per query of an absent key"),                           \
        SEEN("bal.reads.keyed.b" #beta, reads_absent_keyed, reads_absent_see, beta,                \
             "the same if a query knows the coins of its key")

#define FILLING(percent)                                                                           \
    SEEN("bal.filling.insert.n" #percent, filling_insert, filling_insert_see, percent,             \
         "MHT of figure 4, 16 bits per key, blocks read per insert so far"),                       \
        SEEN("bal.filling.query.n" #percent, filling_query, filling_query_see, percent,            \
             "the same, blocks read per query of an absent key")

static const figure figures[] = {
    PLOT("bal.f2.a11.k0", lower_bound, 1100 + LARGEST, "r = 8, no overflow list"),
    P_LB(11, 0),
    P_LB(11, 1),
    P_LB(11, 2),
    P_LB(11, 3),
    P_LB(11, 4),
    P_LB(11, 5),
    P_LB(11, 6),
    P_LB(11, 7),
    P_LB(11, 8),
    P_LB(11, 9),
    P_LB(11, 10),
    PLOT("bal.f2.a12.k0", lower_bound, 1200 + LARGEST, "r = 8, no overflow list"),
    P_LB(12, 0),
    P_LB(12, 1),
    P_LB(12, 2),
    P_LB(12, 3),
    P_LB(12, 4),
    P_LB(12, 5),
    P_LB(12, 6),
    P_LB(12, 7),
    P_LB(12, 8),
    P_LB(12, 9),

    F3A(105),
    F3A(110),
    {"bal.f3a.text", "1", sequential_percent, NULL, 110, 0, NULL,
     "percent; \"approximately 1 %\" in section VIII, seen on the plot, is nearer 0.6"},
    F3A(115),
    F3A(120),
    F3A(125),
    F3A(130),
    F3A(135),
    F3A(140),
    F3B(1),
    F3B(2),
    F3B(4),
    F3B(8),
    F3B(12),
    F3B(16),
    F3B(20),
    F3B(24),
    F3B(32),
    {"bal.mht.gamma", "0.49", mht_percent, NULL, 120, 0.02, NULL,
     "percent, a = 1.2, d = 3; cut off where rounding gives 0.50"},

    F4(8),
    F4(12),
    F4(16),
    F4(20),
    F4(24),
    F4(28),
    F4(32),
    F4(36),
    F4(40),
    FILLING(20),
    FILLING(40),
    FILLING(60),
    FILLING(70),
    FILLING(80),
    FILLING(90),
    FILLING(95),
    FILLING(100),
    {"bal.reads.insert", "1.2", reads_insert, reads_insert_see, 16, 0, NULL,
     "MHT of figure 4, blocks read per insert; a present key's query reads as many"},
    {"bal.k24", "17", hashes, NULL, 24, 0, NULL, "24 ln 2; the text has r for the bits per key"},
    {"bal.k30", "21", hashes, NULL, 30, 0, NULL, "30 ln 2, section I"},
};

const figure_list figures_balance = {"kanizo2011-balanced-bloom", figures,
                                     sizeof figures / sizeof figures[0]};
