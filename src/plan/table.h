/* table.h - planning of multilevel tables and their summaries
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_PLAN_TABLE_H
#define TAMIS_PLAN_TABLE_H

#include "table/summary.h"
#include "tamis/table.h"

/* What is wanted.  A zero stands for the default. */
typedef struct tamis_i_table_need {
    uint64_t n;              /* items, 1 to 2^40 */
    uint64_t deleted;        /* deleted items that may wait for a rebuild, besides n: a summary that
                              * cannot remove must have room for them too */
    tamis_i_summary_id kind; /* of the summary */
    double odds; /* probability of a crisis or failure, 1e-16 to 0.5; default 1e-9; 'song': none */
    double fpr;  /* error rate, 1e-15 to 0.5; default 0.006 */
    bool churn;  /* items come and go for ever, and slots are used again without a
                              * rebuild: the summary must be able to remove */
    unsigned bucket; /* slots of a bucket, 1 to 4; default 1 */
    double space;    /* slots per item, 1 to 100; default 6, 4, 3 and 2.5 for 1 to 4 slots */
} tamis_i_table_need;

typedef struct tamis_i_table_plan {
    unsigned n_types; /* sub-tables */
    uint64_t buckets[TAMIS_I_SUMMARY_TYPES_MAX];
    tamis_i_summary_params summary;
    double items[TAMIS_I_SUMMARY_TYPES_MAX]; /* expected in each sub-table */
    /* Bounds on the probability that an item finds no slot, and that one gets a wrong answer; with churn,
     * on the expected number of such items at a moment. */
    double crisis;
    double failure;
    double fpr;            /* predicted error rate */
    uint64_t summary_bits; /* without rounding */
} tamis_i_table_plan;

/* Find sub-tables and the smallest summary that keep the promise.  The same call gives the same plan,
 * in less than a second for any n.  TAMIS_E_ARGUMENT if the need is out of range, TAMIS_E_UNSUPPORTED if
 * there is no such plan, TAMIS_E_TOO_LARGE, TAMIS_E_NOMEM. */
tamis_status tamis_i_plan_table(const tamis_i_table_need *need, tamis_i_table_plan *plan);

/* The configurations of the paper: Table III, and section XI-B with counters of 4 bits, 2 in the last
 * filter.  n is 10,000 or 100,000; 10,000 for 'song'.  The predictions are those of the models.
 * TAMIS_E_ARGUMENT, TAMIS_E_NOMEM. */
tamis_status tamis_i_plan_table_paper(uint64_t n, tamis_i_summary_id kind,
                                      tamis_i_table_plan *plan);

/* table_song.c: the same for the scheme of Song and others. */
tamis_status tamis_i_plan_table_song(const tamis_i_table_need *need, tamis_i_table_plan *plan);
tamis_status tamis_i_plan_table_song_paper(tamis_i_table_plan *plan);

/* Check the summary of a plan, and tell its bits. */
tamis_status tamis_i_plan_table_finish(tamis_i_summary_id id, tamis_i_table_plan *plan);

/* P(Poisson(mean) >= x), an upper bound that is good for x above the mean. */
double tamis_i_plan_poisson_tail(double mean, double x);

/* Fill in sub-tables and summary for params->capacity. */
tamis_status tamis_i_table_plan_params(tamis_table_params *params);

#endif
