/* dleft_balanced.c - loads of two subtables that were filled from all keys at once
 *
 * Every key has one bucket in each of two subtables.  Keys are first put in the less loaded of their
 * buckets, one after the other.  Then, in each pass, every key in turn is taken out and put in again
 * (Bonomi et al., "Bloom Filters via d-Left Hashing and Dynamic Bit Reassignment", 2006, section II.D,
 * who only simulate it).  The equations are ours.
 *
 * Buckets and keys are the nodes and edges of a sparse random graph.  A bucket has a state x = (k, a):
 * k keys may go to it, its degree, and a are in it, its load.  A key is at home in one of its buckets
 * and away from the other.  In the first pass a key meets two independent buckets, and the fluid limit
 * is exact.  Later they depend on each other through the key, so we follow
 *
 *     pair(x, y)   keys whose home has state x and whose other bucket has state y, per bucket of a
 *                  subtable.
 *
 * A key moves if the load of y is less than that of x without the key, and in some cases if they are
 * equal: a tie.  A move changes the states of two buckets, and so the pairs of their other keys.  The
 * one assumption is a pair approximation: given the state of a bucket, its keys do not depend on each
 * other.  Degrees matter: a bucket with fewer keys than the mean load stays poor for ever, and the
 * others must take what it lacks.
 *
 * In a pass each key is visited once, so pairs are kept twice, for keys that this pass has and has not
 * visited.  The next of the latter is assumed to be random; really the order is the same each time.
 * Time is cut into steps.  Their error is of first order, and is removed by a second run with half the
 * steps (Richardson).
 *
 * Neglected: the table is finite; very large degrees and loads.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tamis/model.h"

#include <math.h>

#include "base/base.h"

enum {
    LOADS = 16,
    MEAN_MAX = 10,
    DEGREES = 46,
    STATES = 640, /* (k, a) with a <= k, at the largest mean */
    PASSES_MAX = 100,
    STEPS = 48, /* of a pass */
    FIRST = 6,  /* times as many in the first pass */
    NONE = STATES
};

/* A smaller share of the keys or buckets of a subtable does not matter. */
#define LITTLE 1e-15

/* One subtable; it stands for both if they are alike. */
typedef struct side {
    double has[STATES + 1];              /* fraction of the buckets */
    double leave[STATES], enter[STATES]; /* keys that do so in this step, per bucket */
    /* The odds that moves of others change the state of a key's bucket in this step: of the bucket
     * where it is at home, and of the other. */
    double home_up[STATES], home_down[STATES], away_up[STATES], away_down[STATES];
    double *pair[2]; /* [1]: visited in this pass */
} side;

typedef struct table {
    tamis_ties ties;
    unsigned sides; /* 1 or 2 */
    unsigned n;     /* states */
    uint8_t degree[STATES], load[STATES];
    /* The states with one key more or less at home, of the same degree; and those with one key more, at
     * home or away. */
    uint16_t up[STATES], down[STATES], with[STATES], without[STATES];
    side side[2];
    double *next;
} table;

static unsigned model_dleft_balanced_other(const table *t, unsigned s) {
    return t->sides - 1 - s;
}

/* The states up to some degree and load. */
static void model_dleft_balanced_states(table *t, double mean) {
    const unsigned degrees = (unsigned)ceil(2 * mean + 4.5 * sqrt(2 * mean)) + 5;
    const unsigned loads = (unsigned)ceil(mean) + 5;
    uint16_t number[DEGREES + 2][LOADS + 1];
    for (unsigned k = 0; k < DEGREES + 2; k++)
        for (unsigned a = 0; a <= LOADS; a++)
            number[k][a] = NONE;
    for (unsigned k = 0; k < degrees && k < DEGREES; k++)
        for (unsigned a = 0; a <= k && a < loads && a < LOADS; a++) {
            number[k][a] = (uint16_t)t->n;
            t->degree[t->n] = (uint8_t)k;
            t->load[t->n++] = (uint8_t)a;
        }
    TAMIS_ASSERT(t->n <= STATES);
    for (unsigned x = 0; x < t->n; x++) {
        const unsigned k = t->degree[x], a = t->load[x];
        t->up[x] = number[k][a + 1];
        t->down[x] = a > 0 ? number[k][a - 1] : NONE;
        t->with[x] = number[k + 1][a + 1];
        t->without[x] = number[k + 1][a];
    }
}

/* The odds that a key goes to subtable s if the load is a there, and b in the other; 'home': it was
 * there, 'placed' before. */
static double model_dleft_balanced_odds(const table *t, unsigned s, unsigned a, unsigned b,
                                        bool placed, bool home) {
    if (a != b)
        return a < b ? 1 : 0;
    if (t->ties == TAMIS_TIES_RANDOM)
        return 0.5;
    if (t->ties == TAMIS_TIES_STAY && placed)
        return home ? 1 : 0;
    return s == 0 ? 1 : 0;
}

static void model_dleft_balanced_loads(const table *t, unsigned s, double fraction[LOADS]) {
    memset(fraction, 0, LOADS * sizeof *fraction);
    for (unsigned x = 0; x < t->n; x++)
        fraction[t->load[x]] += t->side[s].has[x];
}

static double *model_dleft_balanced_row(const table *t, double *pairs, unsigned x) {
    return pairs + (size_t)x * t->n;
}

static void model_dleft_balanced_swap(double **a, double **b) {
    double *const old = *a;
    *a = *b;
    *b = old;
}

/* A key that would go to a state beyond the table stays where it is. */
static unsigned model_dleft_balanced_or(unsigned to, unsigned stay) {
    return to == NONE ? stay : to;
}

/* ---- the first pass: keys come, and degrees grow ---- */

/* 'takes': the odds that a key goes to a bucket of that load if it is one of its two. */
static void model_dleft_balanced_arrive_pairs(table *t, unsigned s, double h,
                                              double takes[2][LOADS]) {
    const unsigned o = model_dleft_balanced_other(t, s);
    const double *const here = takes[s], *const there = takes[1 - s];
    memcpy(t->next, t->side[s].pair[0], (size_t)t->n * t->n * sizeof(double));
    for (unsigned x = 0; x < t->n; x++) {
        const double *const old = model_dleft_balanced_row(t, t->side[s].pair[0], x);
        double *const row = model_dleft_balanced_row(t, t->next, x);
        double *const x_with =
            model_dleft_balanced_row(t, t->next, model_dleft_balanced_or(t->with[x], x));
        double *const x_without =
            model_dleft_balanced_row(t, t->next, model_dleft_balanced_or(t->without[x], x));
        const double up = h * here[t->load[x]], has = h * t->side[s].has[x];
        for (unsigned y = 0; y < t->n; y++) {
            const unsigned y_with = model_dleft_balanced_or(t->with[y], y);
            const unsigned y_without = model_dleft_balanced_or(t->without[y], y);
            const double keys = old[y], far = h * there[t->load[y]];
            if (keys > LITTLE) {
                row[y] -= 2 * h * keys;
                x_with[y] += up * keys;
                x_without[y] += (h - up) * keys;
                row[y_with] += far * keys;
                row[y_without] += (h - far) * keys;
            }
            x_with[y_without] +=
                has * t->side[o].has[y] *
                model_dleft_balanced_odds(t, s, t->load[x], t->load[y], false, false);
        }
    }
    model_dleft_balanced_swap(&t->next, &t->side[s].pair[0]);
}

/* h keys per bucket come to both subtables. */
static void model_dleft_balanced_arrive(table *t, double h) {
    double fraction[2][LOADS], takes[2][LOADS] = {{0}};
    for (unsigned s = 0; s < 2; s++)
        model_dleft_balanced_loads(t, t->sides == 2 ? s : 0, fraction[s]);
    for (unsigned s = 0; s < 2; s++)
        for (unsigned a = 0; a < LOADS; a++)
            for (unsigned b = 0; b < LOADS; b++)
                takes[s][a] +=
                    fraction[1 - s][b] * model_dleft_balanced_odds(t, s, a, b, false, false);
    for (unsigned s = 0; s < t->sides; s++)
        model_dleft_balanced_arrive_pairs(t, s, h, takes);
    for (unsigned s = 0; s < t->sides; s++)
        for (unsigned x = t->n; x-- > 0;) { /* keys lead to later states only */
            double *const has = t->side[s].has;
            const double keys = h * has[x], up = takes[s][t->load[x]];
            has[x] -= keys;
            has[model_dleft_balanced_or(t->with[x], x)] += keys * up;
            has[model_dleft_balanced_or(t->without[x], x)] += keys * (1 - up);
        }
}

/* ---- later passes: keys move ---- */

/* Visit the share 'part' of the keys at home in subtable s that this pass has not visited. */
static void model_dleft_balanced_visit(table *t, unsigned s, double part) {
    side *const own = &t->side[s], *const other = &t->side[model_dleft_balanced_other(t, s)];
    for (unsigned x = 0; x < t->n; x++) {
        double *const todo = model_dleft_balanced_row(t, own->pair[0], x);
        double *const done = model_dleft_balanced_row(t, own->pair[1], x);
        if (t->load[x] == 0 || own->has[x] < LITTLE)
            continue;
        for (unsigned y = 0; y < t->n; y++) {
            const double keys = part * todo[y];
            double moves = 0;
            if (!(keys > LITTLE))
                continue;
            if (t->up[y] != NONE)
                moves = keys - keys * model_dleft_balanced_odds(t, s, t->load[x] - 1u, t->load[y],
                                                                true, true);
            todo[y] -= keys;
            done[y] += keys - moves;
            if (moves > 0)
                model_dleft_balanced_row(t, other->pair[1], t->up[y])[t->down[x]] += moves;
            own->leave[x] += moves;
            other->enter[y] += moves;
        }
    }
}

static double model_dleft_balanced_share(double flow, double of) {
    return flow > 0 && of > LITTLE ? fmin(flow / of, 1) : 0;
}

/* A key that leaves a bucket of load a takes down the a - 1 others that are at home there, and the k -
 * a that are away; one that enters takes a and k - a - 1 up. */
static void model_dleft_balanced_drift(table *t, unsigned s) {
    side *const own = &t->side[s];
    const side *const other = &t->side[model_dleft_balanced_other(t, s)];
    for (unsigned x = 0; x < t->n; x++) {
        double home = 0, away = 0;
        const double a = t->load[x], rest = t->degree[x] - a;
        if (own->leave[x] > 0 || own->enter[x] > 0)
            for (unsigned y = 0; y < t->n; y++)
                for (unsigned i = 0; i < 2; i++) {
                    home += model_dleft_balanced_row(t, own->pair[i], x)[y];
                    away += model_dleft_balanced_row(t, other->pair[i], y)[x];
                }
        own->home_down[x] = model_dleft_balanced_share((a - 1) * own->leave[x], home);
        own->home_up[x] = model_dleft_balanced_share(a * own->enter[x], home);
        own->away_down[x] = model_dleft_balanced_share(rest * own->leave[x], away);
        own->away_up[x] = model_dleft_balanced_share((rest - 1) * own->enter[x], away);
    }
}

static void model_dleft_balanced_apply(table *t, unsigned s, unsigned i) {
    const side *const own = &t->side[s], *const other = &t->side[model_dleft_balanced_other(t, s)];
    memcpy(t->next, own->pair[i], (size_t)t->n * t->n * sizeof(double));
    for (unsigned x = 0; x < t->n; x++) {
        const double *const old = model_dleft_balanced_row(t, own->pair[i], x);
        double *const row = model_dleft_balanced_row(t, t->next, x);
        double *const above =
            model_dleft_balanced_row(t, t->next, model_dleft_balanced_or(t->up[x], x));
        double *const below =
            model_dleft_balanced_row(t, t->next, model_dleft_balanced_or(t->down[x], x));
        const double up = own->home_up[x], down = own->home_down[x];
        for (unsigned y = 0; y < t->n; y++) {
            if (!(old[y] > LITTLE))
                continue;
            const double far_up = other->away_up[y], far_down = other->away_down[y];
            const double sum = up + down + far_up + far_down, keys = old[y] / fmax(sum, 1);
            row[y] -= sum * keys;
            above[y] += up * keys;
            below[y] += down * keys;
            row[model_dleft_balanced_or(t->up[y], y)] += far_up * keys;
            row[model_dleft_balanced_or(t->down[y], y)] += far_down * keys;
        }
    }
    model_dleft_balanced_swap(&t->next, &t->side[s].pair[i]);
}

static void model_dleft_balanced_step(table *t, double part) {
    for (unsigned s = 0; s < t->sides; s++) {
        memset(t->side[s].leave, 0, sizeof t->side[s].leave);
        memset(t->side[s].enter, 0, sizeof t->side[s].enter);
    }
    for (unsigned s = 0; s < t->sides; s++)
        model_dleft_balanced_visit(t, s, part);
    for (unsigned s = 0; s < t->sides; s++)
        model_dleft_balanced_drift(t, s);
    for (unsigned s = 0; s < t->sides; s++) {
        side *const own = &t->side[s];
        model_dleft_balanced_apply(t, s, 0);
        model_dleft_balanced_apply(t, s, 1);
        for (unsigned x = 0; x < t->n; x++) {
            own->has[x] -= own->leave[x] + own->enter[x];
            own->has[t->load[x] > 0 ? t->down[x] : x] += own->leave[x];
            own->has[model_dleft_balanced_or(t->up[x], x)] += own->enter[x];
        }
    }
}

/* All passes, with this many steps each. */
static void model_dleft_balanced_run(table *t, double mean, unsigned passes, unsigned steps) {
    const size_t size = (size_t)t->n * t->n * sizeof(double);
    for (unsigned s = 0; s < t->sides; s++) {
        memset(t->side[s].has, 0, sizeof t->side[s].has);
        t->side[s].has[0] = 1;
        memset(t->side[s].pair[0], 0, size);
        memset(t->side[s].pair[1], 0, size);
    }
    for (unsigned i = 0; i < FIRST * steps; i++)
        model_dleft_balanced_arrive(t, 2 * mean / (FIRST * steps));
    for (unsigned pass = 0; pass < passes; pass++) {
        for (unsigned i = 0; i < steps; i++)
            model_dleft_balanced_step(t, 1.0 / (steps - i));
        for (unsigned s = 0; s < t->sides; s++) {
            model_dleft_balanced_swap(&t->side[s].pair[0], &t->side[s].pair[1]);
            memset(t->side[s].pair[1], 0, size);
        }
    }
}

/* The loads of both subtables after all passes, by Richardson's extrapolation. */
static void model_dleft_balanced_solve(table *t, double mean, unsigned passes,
                                       double fine[2][LOADS]) {
    double coarse[LOADS];
    model_dleft_balanced_run(t, mean, passes, STEPS);
    for (unsigned s = 0; s < 2; s++)
        model_dleft_balanced_loads(t, s % t->sides, fine[s]);
    model_dleft_balanced_run(t, mean, passes, STEPS / 2);
    for (unsigned s = 0; s < 2; s++) {
        double sum = 0;
        model_dleft_balanced_loads(t, s % t->sides, coarse);
        for (unsigned j = 0; j < LOADS; j++) {
            fine[s][j] = fmax(2 * fine[s][j] - coarse[j], 0);
            sum += fine[s][j];
        }
        for (unsigned j = 0; j < LOADS; j++)
            fine[s][j] /= sum;
    }
}

tamis_status tamis_model_dleft_balanced(double mean, unsigned passes, tamis_ties ties,
                                        unsigned n_loads, double *fraction) {
    if (!(mean >= 0 && mean <= MEAN_MAX) || passes > PASSES_MAX ||
        (unsigned)ties > TAMIS_TIES_STAY || n_loads < 2 || n_loads > LOADS)
        return TAMIS_E_DOMAIN;
    table *const t = tamis_i_alloc_zeroed(NULL, sizeof *t); /* too much for some stacks */
    if (t == NULL)
        return TAMIS_E_NOMEM;
    t->ties = ties;
    t->sides = ties == TAMIS_TIES_RANDOM ? 1 : 2;
    model_dleft_balanced_states(t, mean);
    const size_t pairs = (size_t)t->n * t->n, size = (2 * t->sides + 1) * pairs * sizeof(double);
    double *const work = tamis_i_alloc(NULL, size);
    if (work != NULL) {
        double loads[2][LOADS];
        t->next = work;
        for (unsigned i = 0; i < 2 * t->sides; i++)
            t->side[i / 2].pair[i % 2] = work + (i + 1) * pairs;
        model_dleft_balanced_solve(t, mean, passes, loads);
        for (unsigned s = 0; s < 2; s++) {
            double *const row = &fraction[s * n_loads];
            memcpy(row, loads[s], n_loads * sizeof *row);
            for (unsigned j = n_loads; j < LOADS; j++)
                row[n_loads - 1] += loads[s][j];
        }
        tamis_i_free(NULL, work, size);
    }
    tamis_i_free(NULL, t, sizeof *t);
    return work != NULL ? TAMIS_OK : TAMIS_E_NOMEM;
}
