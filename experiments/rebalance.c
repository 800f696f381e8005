/* rebalance.c - moving elements in the background
 *
 * Section II.D of the paper: if the fingerprint and the bucket of an element give its other buckets, as
 * permutations allow, elements can be moved long after they came.  No structure of ours does so, because it
 * does not pay.  A bucket that was fuller has cut its elements, and the cut bits are lost.  The element
 * that moves stays as short as it was, and so do those it leaves behind, while those that it joins are cut.
 * Loads become even, lengths do not.  So the tables here are only simulated, by loads and lengths.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rebalance.h"

#include <math.h>
#include <stdlib.h>

enum { BUCKETS = 16384, LOAD = 4, MOST = REBALANCE_LOADS, CHOICES_MAX = 4 };

typedef struct element {
    unsigned bucket[CHOICES_MAX];
    unsigned home;   /* which of them */
    unsigned length; /* known bits */
} element;

typedef struct bucket {
    unsigned load;
    unsigned held[MOST]; /* elements */
} bucket;

typedef struct table {
    unsigned d;
    unsigned bits[MOST]; /* of an element, by the load */
    element elements[CHOICES_MAX * BUCKETS * LOAD];
    bucket buckets[CHOICES_MAX * BUCKETS];
    uint64_t random;
} table;

tamis_status rebalance_bits(unsigned bits[REBALANCE_LOADS]) {
    const tamis_status status = tamis_model_dleft_rule(TAMIS_MODEL_RULE_64, MOST, bits);
    for (unsigned a = 1; a < MOST && status == TAMIS_OK; a++)
        if (bits[a] == 0)
            bits[a] = 60 / a;
    return status;
}

static uint64_t rebalance_random(uint64_t *state, uint64_t n) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % n;
}

static unsigned load_at(const table *t, const element *e, unsigned i) {
    return t->buckets[e->bucket[i]].load;
}

/* All elements of a bucket have one length: as much as there is room for and as is known of each. */
static void put(table *t, unsigned number, unsigned home) {
    element *const e = &t->elements[number];
    bucket *const b = &t->buckets[e->bucket[home]];
    e->home = home;
    b->held[b->load++] = number;
    unsigned length = t->bits[b->load];
    for (unsigned i = 0; i < b->load; i++)
        if (t->elements[b->held[i]].length < length)
            length = t->elements[b->held[i]].length;
    for (unsigned i = 0; i < b->load; i++)
        t->elements[b->held[i]].length = length;
}

static void take(table *t, unsigned number) {
    const element *const e = &t->elements[number];
    bucket *const b = &t->buckets[e->bucket[e->home]];
    unsigned i = 0;
    while (b->held[i] != number)
        i++;
    b->held[i] = b->held[--b->load];
}

static unsigned least_loaded(const table *t, const element *e) {
    unsigned best = 0;
    for (unsigned i = 1; i < t->d; i++)
        if (load_at(t, e, i) < load_at(t, e, best))
            best = i;
    return best;
}

/* False if a bucket is full, which does not happen at this load. */
static bool fill(table *t, unsigned moves) {
    for (unsigned n = 0; n < t->d * BUCKETS * LOAD; n++) {
        element *const e = &t->elements[n];
        for (unsigned i = 0; i < t->d; i++)
            e->bucket[i] = i * BUCKETS + (unsigned)rebalance_random(&t->random, BUCKETS);
        e->length = t->bits[1];
        const unsigned home = least_loaded(t, e);
        if (load_at(t, e, home) + 1 == MOST)
            return false;
        put(t, n, home);
        for (unsigned m = 0; m < moves; m++) {
            const unsigned number = (unsigned)rebalance_random(&t->random, n + 1);
            const element *const other = &t->elements[number];
            const unsigned best = least_loaded(t, other);
            if (load_at(t, other, best) + 1 < load_at(t, other, other->home)) {
                take(t, number);
                put(t, number, best);
            }
        }
    }
    return true;
}

/* A query meets a bucket of each subtable with even odds. */
static double rate(const table *t, bool by_loads) {
    double sum = 0;
    for (unsigned n = 0; n < t->d * BUCKETS * LOAD; n++) {
        const element *const e = &t->elements[n];
        sum += ldexp(1, -(int)(by_loads ? t->bits[load_at(t, e, e->home)] : e->length));
    }
    return sum / BUCKETS;
}

tamis_status rebalance_rate(unsigned d, unsigned moves, bool by_loads, unsigned trials,
                            measured *value) {
    double sum = 0, squares = 0;
    table *const t = malloc(sizeof *t);
    if (t == NULL)
        return TAMIS_E_NOMEM;
    for (unsigned trial = 0; trial < trials; trial++) {
        for (unsigned b = 0; b < CHOICES_MAX * BUCKETS; b++)
            t->buckets[b].load = 0;
        t->d = d;
        t->random = 1000 + trial;
        const tamis_status status = rebalance_bits(t->bits);
        if (status != TAMIS_OK || !fill(t, moves)) {
            free(t);
            return status != TAMIS_OK ? status : TAMIS_E_FULL;
        }
        const double found = rate(t, by_loads);
        sum += found;
        squares += found * found;
    }
    free(t);
    value->mean = sum / trials;
    value->standard_error =
        sqrt(fmax(squares / trials - value->mean * value->mean, 0) / (trials - 1));
    return TAMIS_OK;
}
