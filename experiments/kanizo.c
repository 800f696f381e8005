/* kanizo.c - the figures of "Access-Efficient Balanced Bloom Filters"
 *
 * Kanizo, Hay and Keslassy, 2011 (technical report TR11-07, Comnet, Technion).  Nearly all of it is in
 * plots without data.  Their curves are computed at the marks and have no printed value.
 *
 * In figure 4 all filters have blocks of 256 bits and k = round(beta ln 2) hashes, where beta is the
 * number of bits per key.  SINGLE and MHT have the overflow list that MHT needs with 1.2 accesses and 3
 * choices, 0.498 % of the keys.  The curves of the paper use the mean number of bits set in a block
 * instead of the number itself.  The IDs with ".exact." do not, and show what a filter does.  They are
 * measured by queries, with fewer hashes where the rate is too small to be seen.  The IDs with ".info."
 * compare the rate that info computes from the bits that are set.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kanizo.h"

#include <math.h>

enum { BLOCK_BITS = KANIZO_BLOCK_BITS, CHOICES = KANIZO_CHOICES };

unsigned kanizo_hashes(double beta) {
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
    *value = kanizo_hashes(self->index);
    return TAMIS_OK;
}

tamis_status kanizo_shape(tamis_balance_scheme scheme, double load, tamis_balance_shape *shape) {
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

static tamis_status balanced(tamis_balance_scheme scheme, int beta, unsigned k, bool exact,
                             bool keyed, double *value) {
    const double load = (double)BLOCK_BITS / beta;
    tamis_balance_shape shape;
    const tamis_status status = kanizo_shape(scheme, load, &shape);
    if (status != TAMIS_OK)
        return status;
    const unsigned bits = BLOCK_BITS - tamis_model_balance_counter_bits(shape.threshold);
    return exact ? tamis_model_balance_fpr(&shape, load, keyed, bits, k, value)
                 : tamis_model_balance_fpr_printed(&shape, load, bits, k, value);
}

tamis_status kanizo_fpr(kanizo_kind kind, int beta, unsigned k, double *value) {
    enum { COUNTER_BITS = 7 };
    switch (kind) {
    case KANIZO_STANDARD: /* a table so large that its fill does not vary */
        return tamis_model_bloom(1e15 * beta, 1e15, k, value);
    case KANIZO_BLOCKED:
        return tamis_model_blocked(BLOCK_BITS - COUNTER_BITS, (double)BLOCK_BITS / beta, k, value);
    case KANIZO_SINGLE:
        return balanced(TAMIS_BALANCE_SINGLE, beta, k, true, false, value);
    default:
        return balanced(TAMIS_BALANCE_MHT, beta, k, true, true, value);
    }
}

static tamis_status single(const figure *self, double *value) {
    return balanced(TAMIS_BALANCE_SINGLE, self->index, kanizo_hashes(self->index), false, false,
                    value);
}

static tamis_status mht(const figure *self, double *value) {
    return balanced(TAMIS_BALANCE_MHT, self->index, kanizo_hashes(self->index), false, false,
                    value);
}

static tamis_status mht_exact(const figure *self, double *value) {
    return balanced(TAMIS_BALANCE_MHT, self->index, kanizo_hashes(self->index), true, false, value);
}

static tamis_status standard(const figure *self, double *value) {
    return kanizo_fpr(KANIZO_STANDARD, self->index, kanizo_hashes(self->index), value);
}

static tamis_status blocked_counted(const figure *self, double *value) {
    return kanizo_fpr(KANIZO_BLOCKED, self->index, kanizo_hashes(self->index), value);
}

static tamis_status single_exact(const figure *self, double *value) {
    return kanizo_fpr(KANIZO_SINGLE, self->index, kanizo_hashes(self->index), value);
}

/* Like the filter of this library: a query knows the coins of its key. */
static tamis_status mht_keyed(const figure *self, double *value) {
    return kanizo_fpr(KANIZO_MHT, self->index, kanizo_hashes(self->index), value);
}

static tamis_status blocked_exact(const figure *self, double *value) {
    return tamis_model_blocked(BLOCK_BITS, (double)BLOCK_BITS / self->index,
                               kanizo_hashes(self->index), value);
}

/* SINGLE without list and counter: Poisson loads, phi(i) = (1 - e^(-ki/B))^k. */
static tamis_status blocked(const figure *self, double *value) {
    const double load = (double)BLOCK_BITS / self->index;
    const unsigned k = kanizo_hashes(self->index);
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
    const tamis_status status = kanizo_shape(TAMIS_BALANCE_MHT, load, &shape);
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
    const tamis_status status = kanizo_shape(TAMIS_BALANCE_MHT, load, &shape);
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
 * Theorems 1, 2, 4 and 5 by loads and costs: 8 keys per block, 3 choices, with the least overflow for which
 * a scheme balances best; index = 100 * accesses, and the load or the cost below that
 */

static const double cost_load = 8;

double kanizo_cost_of(kanizo_cost cost, unsigned load) {
    return cost == KANIZO_SQUARE ? (double)load * load : fmax(0, load - cost_load);
}

/* The list given to SINGLE, which makes one access. */
static const double single_overflow = 0.01;

static tamis_status cost_bound(tamis_balance_scheme scheme, double accesses, kanizo_cost cost,
                               double *value) {
    double costs[64], overflow = single_overflow;
    for (unsigned i = 0; i < 64; i++)
        costs[i] = kanizo_cost_of(cost, i);
    if (scheme != TAMIS_BALANCE_SINGLE) {
        const tamis_status status =
            tamis_model_balance_region(scheme, CHOICES, accesses, cost_load, &overflow, NULL);
        if (status != TAMIS_OK)
            return status;
    }
    return tamis_model_balance_cost(accesses, cost_load, overflow, costs, 64, value);
}

static tamis_status cost_single(const figure *self, double *value) {
    return cost_bound(TAMIS_BALANCE_SINGLE, 1, (kanizo_cost)self->index, value);
}

static double percent(int hundredths) {
    return hundredths / 100.0;
}

static tamis_status cost_sequential(const figure *self, double *value) {
    return cost_bound(TAMIS_BALANCE_SEQUENTIAL, percent(self->index / 10),
                      (kanizo_cost)(self->index % 10), value);
}

static tamis_status cost_mht(const figure *self, double *value) {
    return cost_bound(TAMIS_BALANCE_MHT, percent(self->index / 10), (kanizo_cost)(self->index % 10),
                      value);
}

/* MHT by Theorem 2: each choice has its own distribution, all on one sub-table, and all of them
 * together hit every block alike. */
static tamis_status mixed(const figure *self, double *value) {
    enum { ROOM = 64 };
    const double a = percent(self->index / 100);
    double overflow, shares[CHOICES], weights[CHOICES], aims[CHOICES * CHOICES] = {0}, p[ROOM];
    tamis_status status =
        tamis_model_balance_region(TAMIS_BALANCE_MHT, CHOICES, a, cost_load, &overflow, shares);
    if (status != TAMIS_OK)
        return status;
    /* A look at choice i comes after i refusals, q each. */
    const double q = cbrt(overflow);
    for (unsigned i = 0; i < CHOICES; i++) {
        weights[i] = pow(q, i) / a;
        aims[i * CHOICES + i] = 1;
    }
    const tamis_balance_mixture mixture = {.struct_size = sizeof mixture,
                                           .n_hashes = CHOICES,
                                           .n_parts = CHOICES,
                                           .weights = weights,
                                           .shares = shares,
                                           .aims = aims};
    unsigned k0;
    status = tamis_model_balance_mixed(&mixture, a, cost_load, overflow, p, ROOM, &k0);
    if (status == TAMIS_OK)
        *value = p[self->index % 100];
    return status;
}

static tamis_status mixed_see(const figure *self, run *r, measured *value) {
    return kanizo_see_region(TAMIS_BALANCE_MHT, percent(self->index / 100), 0, cost_load,
                             KANIZO_LOADS + (unsigned)self->index % 100, r, value);
}

static tamis_status cost_single_see(const figure *self, run *r, measured *value) {
    return kanizo_see_region(TAMIS_BALANCE_SINGLE, 1, single_overflow, cost_load,
                             KANIZO_COSTS + (unsigned)self->index, r, value);
}

static tamis_status cost_sequential_see(const figure *self, run *r, measured *value) {
    return kanizo_see_region(TAMIS_BALANCE_SEQUENTIAL, percent(self->index / 10), 0, cost_load,
                             KANIZO_COSTS + (unsigned)self->index % 10, r, value);
}

static tamis_status cost_mht_see(const figure *self, run *r, measured *value) {
    return kanizo_see_region(TAMIS_BALANCE_MHT, percent(self->index / 10), 0, cost_load,
                             KANIZO_COSTS + (unsigned)self->index % 10, r, value);
}

/* -------------------------------------------------------------------------------------------------
 * Figure 3 on the filter
 */

static tamis_status region_sequential_see(const figure *self, run *r, measured *value) {
    return kanizo_see_region(TAMIS_BALANCE_SEQUENTIAL, self->index / 100.0, 0, 8, KANIZO_OVERFLOW,
                             r, value);
}

static tamis_status region_mht_see(const figure *self, run *r, measured *value) {
    return kanizo_see_region(TAMIS_BALANCE_MHT, self->index / 100.0, 0, 8, KANIZO_OVERFLOW, r,
                             value);
}

static tamis_status region_by_load_see(const figure *self, run *r, measured *value) {
    return kanizo_see_region(TAMIS_BALANCE_SEQUENTIAL, 1.2, 0, self->index, KANIZO_OVERFLOW, r,
                             value);
}

/* The blocks that a filter with the parameters for this many accesses reads: not the number that went
 * in, but the result of filling it. */
static tamis_status accesses(tamis_balance_scheme scheme, int percent, double *value) {
    tamis_balance_shape shape;
    double overflow;
    tamis_balance_shape_init(&shape);
    shape.scheme = scheme;
    shape.choices = CHOICES;
    tamis_balance_state state;
    tamis_balance_state_init(&state);
    tamis_status status =
        tamis_model_balance_region(scheme, CHOICES, percent / 100.0, 8, &overflow, shape.shares);
    if (status == TAMIS_OK)
        status = tamis_model_balance_parameters(percent / 100.0, 8, overflow, &shape.threshold,
                                                &shape.coin);
    if (status == TAMIS_OK)
        status = tamis_model_balance_state(&shape, 8, &state);
    if (status == TAMIS_OK)
        *value = state.accesses;
    return status;
}

static tamis_status accesses_sequential(const figure *self, double *value) {
    return accesses(TAMIS_BALANCE_SEQUENTIAL, self->index, value);
}

static tamis_status accesses_mht(const figure *self, double *value) {
    return accesses(TAMIS_BALANCE_MHT, self->index, value);
}

static tamis_status accesses_sequential_see(const figure *self, run *r, measured *value) {
    return kanizo_see_region(TAMIS_BALANCE_SEQUENTIAL, self->index / 100.0, 0, 8, KANIZO_INSERT, r,
                             value);
}

static tamis_status accesses_mht_see(const figure *self, run *r, measured *value) {
    return kanizo_see_region(TAMIS_BALANCE_MHT, self->index / 100.0, 0, 8, KANIZO_INSERT, r, value);
}

/* -------------------------------------------------------------------------------------------------
 * Figure 4 on the filter
 */

static tamis_status standard_see(const figure *self, run *r, measured *value) {
    return kanizo_see_figure4(KANIZO_STANDARD, self->index, 100, KANIZO_RATE, r, value);
}

static tamis_status standard_info(const figure *self, run *r, measured *value) {
    return kanizo_see_figure4(KANIZO_STANDARD, self->index, 100, KANIZO_INFO, r, value);
}

static tamis_status blocked_see(const figure *self, run *r, measured *value) {
    return kanizo_see_figure4(KANIZO_BLOCKED, self->index, 100, KANIZO_RATE, r, value);
}

static tamis_status blocked_info(const figure *self, run *r, measured *value) {
    return kanizo_see_figure4(KANIZO_BLOCKED, self->index, 100, KANIZO_INFO, r, value);
}

static tamis_status single_see(const figure *self, run *r, measured *value) {
    return kanizo_see_figure4(KANIZO_SINGLE, self->index, 100, KANIZO_RATE, r, value);
}

static tamis_status single_info(const figure *self, run *r, measured *value) {
    return kanizo_see_figure4(KANIZO_SINGLE, self->index, 100, KANIZO_INFO, r, value);
}

static tamis_status mht_see(const figure *self, run *r, measured *value) {
    return kanizo_see_figure4(KANIZO_MHT, self->index, 100, KANIZO_RATE, r, value);
}

static tamis_status mht_info(const figure *self, run *r, measured *value) {
    return kanizo_see_figure4(KANIZO_MHT, self->index, 100, KANIZO_INFO, r, value);
}

static tamis_status reads_absent_see(const figure *self, run *r, measured *value) {
    return kanizo_see_figure4(KANIZO_MHT, self->index, 100, KANIZO_QUERY, r, value);
}

static tamis_status reads_insert_see(const figure *self, run *r, measured *value) {
    return kanizo_see_figure4(KANIZO_MHT, self->index, 100, KANIZO_INSERT, r, value);
}

static tamis_status filling_insert_see(const figure *self, run *r, measured *value) {
    return kanizo_see_figure4(KANIZO_MHT, FILLING_BITS, self->index, KANIZO_INSERT, r, value);
}

static tamis_status filling_query_see(const figure *self, run *r, measured *value) {
    return kanizo_see_figure4(KANIZO_MHT, FILLING_BITS, self->index, KANIZO_QUERY, r, value);
}

/* -------------------------------------------------------------------------------------------------
 * The list.  PLOT is a figure without a printed value, SEEN one that is also measured.
 */

#define PLOT(id, compute, index, note)                                                             \
    { id, NULL, compute, NULL, index, 0, NULL, note }

#define SEEN(id, compute, simulate, index, note)                                                   \
    { id, NULL, compute, simulate, index, 0, NULL, note }

#define BOUND "least mean cost of a block by Theorem 1, r = 8, d = 3; cost: "

#define MIXED(a, i)                                                                                \
    SEEN("bal.t2.a" #a ".p" #i, mixed, mixed_see, 100 * (a) + (i),                                 \
         "P_LB(" #i ") by Theorem 2 for the sub-tables of MHT, r = 8")

#define P_LB(a, i) PLOT("bal.f2.a" #a ".p" #i, lower_bound, 100 * (a) + (i), "P_LB(" #i "), r = 8")

#define F3A(a)                                                                                     \
    SEEN("bal.f3a.sequential.a" #a, region_sequential, region_sequential_see, a,                   \
         "least overflow, r = 8, d = 3"),                                                          \
        SEEN("bal.f3a.mht.a" #a, region_mht, region_mht_see, a, "least overflow, d = 3, any r"),   \
        SEEN("bal.accesses.sequential.a" #a, accesses_sequential, accesses_sequential_see, a,      \
             "blocks read per insert, r = 8, d = 3"),                                              \
        SEEN("bal.accesses.mht.a" #a, accesses_mht, accesses_mht_see, a,                           \
             "blocks read per insert, r = 8, d = 3"),                                              \
        SEEN("bal.cost.square.sequential.a" #a, cost_sequential, cost_sequential_see,              \
             10 * (a) + KANIZO_SQUARE, BOUND "load squared"),                                      \
        SEEN("bal.cost.square.mht.a" #a, cost_mht, cost_mht_see, 10 * (a) + KANIZO_SQUARE,         \
             BOUND "load squared"),                                                                \
        SEEN("bal.cost.hinge.mht.a" #a, cost_mht, cost_mht_see, 10 * (a) + KANIZO_HINGE,           \
             BOUND "load above 8")

/* From 1.3 on no block has more than 8 keys. */
#define COST_HINGE(a)                                                                              \
    SEEN("bal.cost.hinge.sequential.a" #a, cost_sequential, cost_sequential_see,                   \
         10 * (a) + KANIZO_HINGE, BOUND "load above 8")

#define F3B(r)                                                                                     \
    SEEN("bal.f3b.sequential.r" #r, region_by_load, region_by_load_see, r,                         \
         "least overflow, a = 1.2, d = 3")

#define QUERIED "; below 5e-4 simulated with fewer hashes"
#define INFO    "what info tells from the bits that are set"
#define HIDDEN  "; expected without the keys that are mistaken for present ones"

#define F4(beta)                                                                                   \
    SEEN("bal.f4.standard.b" #beta, standard, standard_see, beta, "(1 - e^(-k/beta))^k" QUERIED),  \
        SEEN("bal.f4.standard.info.b" #beta, standard, standard_info, beta, INFO),                 \
        PLOT("bal.f4.blocked.b" #beta, blocked, beta, "mean fill of a block"),                     \
        PLOT("bal.f4.blocked.exact.b" #beta, blocked_exact, beta, "exact fill of a block"),        \
        SEEN("bal.f4.blocked.counted.b" #beta, blocked_counted, blocked_see, beta,                 \
             "exact fill of a block, 7 bits of which count its keys" QUERIED),                     \
        SEEN("bal.f4.blocked.counted.info.b" #beta, blocked_counted, blocked_info, beta, INFO),    \
        PLOT("bal.f4.single.b" #beta, single, beta, "mean fill of a block"),                       \
        SEEN("bal.f4.single.exact.b" #beta, single_exact, single_see, beta,                        \
             "exact fill of a block" QUERIED),                                                     \
        SEEN("bal.f4.single.exact.info.b" #beta, single_exact, single_info, beta, INFO),           \
        PLOT("bal.f4.mht.b" #beta, mht, beta, "mean fill of a block, sum of P_j FPR_j"),           \
        PLOT("bal.f4.mht.exact.b" #beta, mht_exact, beta, "exact fill of a block"),                \
        SEEN("bal.f4.mht.keyed.b" #beta, mht_keyed, mht_see, beta,                                 \
             "exact fill of a block, a query knows the coins of its key" QUERIED HIDDEN),          \
        SEEN("bal.f4.mht.keyed.info.b" #beta, mht_keyed, mht_info, beta, INFO HIDDEN),             \
        PLOT("bal.reads.absent.b" #beta, reads_absent, beta,                                       \
             "MHT of figure 4, blocks read per query of an absent key"),                           \
        SEEN("bal.reads.keyed.b" #beta, reads_absent_keyed, reads_absent_see, beta,                \
             "the same if a query knows the coins of its key" HIDDEN)

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

    MIXED(110, 5),
    MIXED(110, 6),
    MIXED(110, 7),
    MIXED(110, 8),
    MIXED(110, 9),
    MIXED(110, 10),
    MIXED(120, 5),
    MIXED(120, 6),
    MIXED(120, 7),
    MIXED(120, 8),
    MIXED(120, 9),
    SEEN("bal.cost.square.single", cost_single, cost_single_see, KANIZO_SQUARE,
         BOUND "load squared; SINGLE with 1 % in the list"),
    SEEN("bal.cost.hinge.single", cost_single, cost_single_see, KANIZO_HINGE,
         BOUND "load above 8; SINGLE with 1 % in the list"),

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
    COST_HINGE(105),
    COST_HINGE(110),
    COST_HINGE(115),
    COST_HINGE(120),
    COST_HINGE(125),
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
