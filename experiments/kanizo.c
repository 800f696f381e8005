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

static tamis_status balanced(tamis_balance_scheme scheme, int beta, bool exact, double *value) {
    const double load = (double)BLOCK_BITS / beta;
    tamis_balance_shape shape;
    const tamis_status status = best_shape(scheme, load, &shape);
    if (status != TAMIS_OK)
        return status;
    const unsigned bits = BLOCK_BITS - tamis_model_balance_counter_bits(shape.threshold);
    const unsigned k = hashes_for(beta);
    return exact ? tamis_model_balance_fpr(&shape, load, false, bits, k, value)
                 : tamis_model_balance_fpr_printed(&shape, load, bits, k, value);
}

static tamis_status single(const figure *self, double *value) {
    return balanced(TAMIS_BALANCE_SINGLE, self->index, false, value);
}

static tamis_status single_exact(const figure *self, double *value) {
    return balanced(TAMIS_BALANCE_SINGLE, self->index, true, value);
}

static tamis_status mht(const figure *self, double *value) {
    return balanced(TAMIS_BALANCE_MHT, self->index, false, value);
}

static tamis_status mht_exact(const figure *self, double *value) {
    return balanced(TAMIS_BALANCE_MHT, self->index, true, value);
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

static tamis_status reads_absent(const figure *self, double *value) {
    tamis_balance_state found;
    const tamis_status status = state(self->index, &found);
    if (status == TAMIS_OK)
        *value = found.reads_absent;
    return status;
}

/* -------------------------------------------------------------------------------------------------
 * The list.  PLOT is a figure without a printed value.
 */

#define PLOT(id, compute, index, note)                                                             \
    { id, NULL, compute, NULL, index, 0, NULL, note }

#define P_LB(a, i) PLOT("bal.f2.a" #a ".p" #i, lower_bound, 100 * (a) + (i), "P_LB(" #i "), r = 8")

#define F3A(a)                                                                                     \
    PLOT("bal.f3a.sequential.a" #a, region_sequential, a, "least overflow, r = 8, d = 3"),         \
        PLOT("bal.f3a.mht.a" #a, region_mht, a, "least overflow, d = 3, any r")

#define F3B(r) PLOT("bal.f3b.sequential.r" #r, region_by_load, r, "least overflow, a = 1.2, d = 3")

#define F4(beta)                                                                                   \
    PLOT("bal.f4.standard.b" #beta, standard, beta, "(1 - e^(-k/beta))^k"),                        \
        PLOT("bal.f4.blocked.b" #beta, blocked, beta, "mean fill of a block"),                     \
        PLOT("bal.f4.blocked.exact.b" #beta, blocked_exact, beta, "exact fill of a block"),        \
        PLOT("bal.f4.single.b" #beta, single, beta, "mean fill of a block"),                       \
        PLOT("bal.f4.single.exact.b" #beta, single_exact, beta, "exact fill of a block"),          \
        PLOT("bal.f4.mht.b" #beta, mht, beta, "mean fill of a block, sum of P_j FPR_j"),           \
        PLOT("bal.f4.mht.exact.b" #beta, mht_exact, beta, "exact fill of a block"),                \
        PLOT("bal.reads.absent.b" #beta, reads_absent, beta,                                       \
             "MHT of figure 4, blocks read per query of an absent key")

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
    {"bal.reads.insert", "1.2", reads_insert, NULL, 16, 0, NULL,
     "MHT of figure 4, blocks read per insert; a present key's query reads as many"},
    {"bal.k24", "17", hashes, NULL, 24, 0, NULL, "24 ln 2; the text has r for the bits per key"},
    {"bal.k30", "21", hashes, NULL, 30, 0, NULL, "30 ln 2, section I"},
};

const figure_list figures_balance = {"kanizo2011-balanced-bloom", figures,
                                     sizeof figures / sizeof figures[0]};
