/* ddlcbf_two.c - the dynamic d-left counting filter with two lengths per bucket
 *
 * A bucket has P bits for its remainders, which have two lengths.  When one is added, the lengths are
 * chosen again from what is there; remainders may shrink, but none grows.  When one goes, the others stay
 * as they are (Bonomi et al., "Bloom Filters via d-Left Hashing and Dynamic Bit Reassignment", 2006,
 * section III.B, who only simulate it; the rule is that of bits/dynamic_bucket.c, the equations are ours).
 *
 * So a bucket is a Markov chain with the states
 *
 *     (n_a, l_a; n_b, l_b)   n_a remainders of the longer length l_a, n_b of the shorter l_b.
 *
 * It goes up as in ddlcbf.c, to the state that the rule gives, at a rate that depends only on its load
 * n_a + n_b.  It goes down at the rate n_a/c to (n_a - 1, n_b), and at n_b/c to (n_a, n_b - 1).
 * Buckets influence each other only through the loads.  Some hundreds to some thousands of states can
 * be reached from the empty bucket.  The error rate is d times the mean of n_a 2^-l_a + n_b 2^-l_b.
 *
 * Symbols as in ddlcbf.c: c = mean load, t = time in insertions per bucket, y_ij; e = d x / R.
 *
 * A key that finds all its d buckets full, with odds f = product over i of y_i,most, is put in the place of
 * one of their remainders, which moves to another of its buckets (filter/dleft_dynamic.c): to any bucket that
 * is not full.  So all of these go up at the rate f / (their share) besides.
 *
 * Neglected: the table is finite; three keys may have one minimal remainder; keys may share an element;
 * that a full bucket exchanges a remainder, and that a bucket with room may be more than one move away.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tamis/model.h"

#include <math.h>

#include "base/base.h"

enum {
    CHOICES_MAX = 4,
    MOST =
        15, /* remainders of a bucket, as in bits/dynamic_bucket.h; and the bits beyond the shortest */
    MORE = 31,
    LONGEST = 56,
    STATES = 1 << 14,
    CODES = 1 << 18, /* 4 bits for each number, 5 for each length beyond the shortest */
    NONE = 0xffff
};

#define FULLEST                                                                                    \
    0.95 /* mean load, as a share of what a bucket holds: there the moves still find room */

typedef struct state {
    uint8_t n_a, a, n_b, b;      /* a, b: lengths; 0 if there are none of them */
    uint16_t up, down_a, down_b; /* states, or NONE */
    double errors;
} state;

typedef struct chain {
    unsigned d, payload, counter, least, longest, most;
    double mean, forced; /* c, and d / R */
    bool deletes;        /* the filling is over */
    unsigned n;
    state states[STATES];
    uint16_t number[CODES]; /* 1 + the number of a state */
    /* Fractions of the buckets of each subtable, and what the steps need. */
    double now[CHOICES_MAX][STATES], at[CHOICES_MAX][STATES];
    double rate[CHOICES_MAX][STATES], next[CHOICES_MAX][STATES];
} chain;

/* ---- states ---- */

static unsigned two_code(const chain *c, const state *s) {
    const unsigned a = s->n_a != 0 ? s->a - c->least : 0, b = s->n_b != 0 ? s->b - c->least : 0;
    return s->n_a | (unsigned)s->n_b << 4 | a << 8 | b << 13;
}

static double two_errors(const state *s) {
    return s->n_a * ldexp(1, -(int)s->a) + s->n_b * ldexp(1, -(int)s->b);
}

/* The number of a state, a new one if it is new; NONE if there is no room. */
static uint16_t two_number(chain *c, const state *s) {
    const unsigned code = two_code(c, s);
    if (c->number[code] == 0) {
        if (c->n == STATES)
            return NONE;
        c->states[c->n] = *s;
        c->states[c->n].errors = two_errors(s);
        c->number[code] = (uint16_t)++c->n;
    }
    return (uint16_t)(c->number[code] - 1);
}

/* The shorter ones have b bits; the n_a others share the rest, up to 'limit' bits each. */
static state two_share(unsigned room, unsigned n, unsigned n_a, unsigned limit, unsigned b) {
    const unsigned part = n_a != 0 ? (room - (n - n_a) * b) / n_a : 0;
    const unsigned a = part < limit ? part : limit;
    if (a <= b)
        n_a = 0;
    return (state){.n_a = (uint8_t)n_a,
                   .a = (uint8_t)(n_a != 0 ? a : 0),
                   .n_b = (uint8_t)(n - n_a),
                   .b = (uint8_t)(n_a < n ? b : 0)};
}

/* Add one remainder of which all bits are known. */
static state two_add(const chain *c, const state *s) {
    const unsigned n = s->n_a + s->n_b + 1u, room = c->payload - n * c->counter;
    /* If all have one length, they are the shorter ones. */
    const bool one = s->n_b == 0;
    const unsigned n_a = one ? 0 : s->n_a, b = one ? s->a : s->b, own = c->longest;
    if (n == 1)
        return two_share(room, 1, 0, 0, own < room ? own : room);
    const unsigned even = room / n;
    if (even < b && even < own) {
        const unsigned longer = room - n * even;
        return (state){.n_a = (uint8_t)longer,
                       .a = (uint8_t)(longer != 0 ? even + 1 : 0),
                       .n_b = (uint8_t)(n - longer),
                       .b = (uint8_t)even};
    }
    const unsigned longer = n_a + (own > b), limit = n_a != 0 && s->a < own ? s->a : own;
    const state keep = two_share(room, n, longer, limit, b);
    if (b == c->least)
        return keep;
    const state cut = two_share(room, n, longer, limit, b - 1);
    return two_errors(&cut) < two_errors(&keep) ? cut : keep;
}

/* Find all states that can be reached, with and without removals.  False if there are too many. */
static bool two_explore(chain *c, bool removals) {
    const state empty = {.n_a = 0};
    if (two_number(c, &empty) == NONE)
        return false;
    for (unsigned i = 0; i < c->n; i++) {
        const state s = c->states[i];
        state to = s;
        uint16_t up = NONE, down_a = NONE, down_b = NONE;
        if (s.n_a + s.n_b < (int)c->most) {
            to = two_add(c, &s);
            up = two_number(c, &to);
        }
        if (s.n_a != 0 && removals) {
            to = s;
            to.a = --to.n_a != 0 ? s.a : 0;
            down_a = two_number(c, &to);
        }
        if (s.n_b != 0 && removals) {
            to = s;
            to.b = --to.n_b != 0 ? s.b : 0;
            down_b = two_number(c, &to);
        }
        if (c->n == STATES)
            return false;
        c->states[i].up = up;
        c->states[i].down_a = down_a;
        c->states[i].down_b = down_b;
    }
    return true;
}

/* ---- time ---- */

typedef double fractions[CHOICES_MAX][STATES];

static double *two_tails(const chain *c, const double *now, double y[MOST + 2]) {
    for (unsigned a = 0; a < MOST + 2; a++)
        y[a] = 0;
    for (unsigned s = 0; s < c->n; s++)
        y[c->states[s].n_a + c->states[s].n_b] += now[s];
    for (unsigned a = MOST + 1; a-- > 0;)
        y[a] += y[a + 1];
    return y;
}

/* The rate at which a bucket with room gets a remainder that made room for a key whose buckets are full. */
static double two_moved(const chain *c, double y[CHOICES_MAX][MOST + 2]) {
    double met = 1, room = 0;
    if (c->d == 1) /* it has no other bucket */
        return 0;
    for (unsigned i = 0; i < c->d; i++) {
        met *= y[i][c->most];
        room += (1 - y[i][c->most]) / c->d;
    }
    return room > 0 ? met / room : 0;
}

/* How fast the fractions change when x keys per bucket are in. */
static void two_change(const chain *c, double x, fractions now, fractions rate) {
    const double shared = c->forced * x < 1 ? c->forced * x : 1;
    const double joined = c->forced * x < 1 ? c->forced : 1 / x; /* e/x, also at x = 0 */
    double y[CHOICES_MAX][MOST + 2];
    for (unsigned i = 0; i < c->d; i++)
        two_tails(c, now[i], y[i]);
    const double moved = (1 - shared) * two_moved(c, y);
    for (unsigned i = 0; i < c->d; i++) {
        double up[MOST + 1];
        for (unsigned a = 0; a <= MOST; a++) {
            up[a] = (1 - shared) * c->d;
            for (unsigned l = 0; l < c->d; l++)
                if (l != i)
                    up[a] *= y[l][l < i ? a + 1 : a];
            up[a] += moved + joined * a;
        }
        memset(rate[i], 0, c->n * sizeof rate[i][0]);
        for (unsigned s = 0; s < c->n; s++) {
            const state *const from = &c->states[s];
            const double rise = up[from->n_a + from->n_b] * now[i][s];
            if (from->up != NONE) {
                rate[i][s] -= rise;
                rate[i][from->up] += rise;
            }
            if (!c->deletes)
                continue;
            const double fall_a = from->n_a / c->mean * now[i][s];
            const double fall_b = from->n_b / c->mean * now[i][s];
            rate[i][s] -= fall_a + fall_b;
            if (from->down_a != NONE)
                rate[i][from->down_a] += fall_a;
            if (from->down_b != NONE)
                rate[i][from->down_b] += fall_b;
        }
    }
}

/* to = from + h * rate */
static void two_move(const chain *c, fractions from, double h, fractions rate, fractions to) {
    for (unsigned i = 0; i < c->d; i++)
        for (unsigned s = 0; s < c->n; s++)
            to[i][s] = from[i][s] + h * rate[i][s];
}

/* A classic Runge-Kutta step. */
static void two_step(chain *c, double x, double h) {
    static const double ahead[4] = {0, 0.5, 0.5, 1};
    static const double share[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    two_move(c, c->now, 0, c->rate, c->at);
    two_move(c, c->now, 0, c->rate, c->next);
    for (int k = 0; k < 4; k++) {
        if (k > 0)
            two_move(c, c->now, ahead[k] * h, c->rate, c->at);
        two_change(c, c->deletes ? c->mean : x + ahead[k] * h, c->at, c->rate);
        two_move(c, c->next, share[k] * h, c->rate, c->next);
    }
    two_move(c, c->next, 0, c->rate, c->now);
}

static double two_rate(const chain *c) {
    double sum = 0;
    for (unsigned i = 0; i < c->d; i++)
        for (unsigned s = 0; s < c->n; s++)
            sum += c->now[i][s] * c->states[s].errors;
    return sum < 1 ? sum : 1;
}

tamis_status tamis_model_ddlcbf_two(unsigned d, double mean, double rounds, unsigned payload_bits,
                                    unsigned counter_bits, unsigned min_bits, double *fpr) {
    if (d < 1 || d > CHOICES_MAX || !(mean > 0 && mean <= MOST) || !(rounds >= 0) || min_bits < 2 ||
        min_bits > 32 || counter_bits > 8 || payload_bits > 512 ||
        payload_bits < 2 * (min_bits + counter_bits))
        return TAMIS_E_DOMAIN;
    const unsigned holds = payload_bits / (min_bits + counter_bits);
    const unsigned most = holds < MOST ? holds : MOST;
    const double fill_steps = 64 + ceil(4 * mean * d);
    const double round_steps = ceil(2 * rounds * (d + MOST / mean));
    const double forced = d * exp2(-(double)min_bits);
    if (!(mean <= FULLEST * most && forced * mean <= 1 && round_steps <= 1e5))
        return TAMIS_E_DOMAIN;
    chain *const c = tamis_i_alloc_zeroed(NULL, sizeof *c);
    if (c == NULL)
        return TAMIS_E_NOMEM;
    c->d = d;
    c->payload = payload_bits;
    c->counter = counter_bits;
    c->least = min_bits;
    c->longest = min_bits + MORE < LONGEST ? min_bits + MORE : LONGEST;
    c->most = most;
    c->mean = mean;
    c->forced = forced;
    const bool possible = two_explore(c, rounds > 0);
    if (possible) {
        for (unsigned i = 0; i < d; i++)
            c->now[i][0] = 1;
        for (double k = 0; k < fill_steps; k++)
            two_step(c, k * mean / fill_steps, mean / fill_steps);
        c->deletes = true;
        for (double k = 0; k < round_steps; k++)
            two_step(c, mean, rounds / round_steps);
        *fpr = two_rate(c);
    }
    tamis_i_free(NULL, c, sizeof *c);
    return possible ? TAMIS_OK : TAMIS_E_DOMAIN;
}
