/* kanizo.h - balanced filters under the experiments of Kanizo, Hay and Keslassy
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_EXPERIMENTS_KANIZO_H
#define TAMIS_EXPERIMENTS_KANIZO_H

#include "simulate.h"

enum { KANIZO_BLOCK_BITS = 256, KANIZO_CHOICES = 3 };

/* The filters of figure 4 that can be built. */
typedef enum kanizo_kind {
    KANIZO_STANDARD,
    KANIZO_BLOCKED, /* with an unused counter of 7 bits in each block */
    KANIZO_SINGLE,
    KANIZO_MHT /* a query knows the coins of its key */
} kanizo_kind;

/* The number of hashes that suits 'beta' bits per key. */
unsigned kanizo_hashes(double beta);

/* SINGLE or MHT with the parameters that balance best, with the overflow of MHT at 1.2 accesses. */
tamis_status kanizo_shape(tamis_balance_scheme scheme, double load, tamis_balance_shape *shape);

/* Error rate by the model, with beta bits and k hashes per key. */
tamis_status kanizo_fpr(kanizo_kind kind, int beta, unsigned k, double *value);

/* Convex costs of a block by its load. */
typedef enum kanizo_cost { KANIZO_SQUARE, KANIZO_HINGE } kanizo_cost;

/* The square of the load, or what is above 8. */
double kanizo_cost_of(kanizo_cost cost, unsigned load);

/* What is measured on a filter; the parts of the blocks that have load 0, 1, ... come last. */
enum {
    KANIZO_RATE,     /* of "present" among queries for absent keys */
    KANIZO_INFO,     /* error rate that info gives, from the bits that are set */
    KANIZO_OVERFLOW, /* part of the keys in the overflow list */
    KANIZO_INSERT,   /* blocks read per insert */
    KANIZO_QUERY,    /* blocks read per query for an absent key */
    KANIZO_COSTS,    /* mean costs of a block */
    KANIZO_LOADS = KANIZO_COSTS + 2
};

/* Measure 'what' on a filter of this scheme, planned by the theory for this many accesses and keys per
 * block.  Its list is the least with which it balances best, or 'overflow' if that is not 0. */
tamis_status kanizo_see_region(tamis_balance_scheme scheme, double accesses, double overflow,
                               double load, unsigned what, run *r, measured *value);

/* The same for a filter of figure 4 with 'percent' of its keys.  An error rate that is too small to be
 * seen is measured with fewer hashes. */
tamis_status kanizo_see_figure4(kanizo_kind kind, int beta, int percent, unsigned what, run *r,
                                measured *value);

#endif
