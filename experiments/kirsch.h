/* kirsch.h - the tables of "Simple Summaries for Hashing With Choices", and experiments with them
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_EXPERIMENTS_KIRSCH_H
#define TAMIS_EXPERIMENTS_KIRSCH_H

#include "simulate.h"

#include <tamis/table.h>

enum { KIRSCH_TABLES_MAX = 6 };

/* A hash table with its three summaries, as section IX configures them. */
typedef struct kirsch_setting {
    uint64_t n;
    uint64_t string_slots; /* of the array of interpolation search; 0: a tenth more than items */
    uint64_t cells;        /* single filter */
    uint64_t buckets[KIRSCH_TABLES_MAX];
    uint64_t bits[KIRSCH_TABLES_MAX]; /* multiple filters */
    unsigned n_tables;
    unsigned string_bits; /* interpolation search */
    unsigned cell_hashes;
    unsigned bit_hashes[KIRSCH_TABLES_MAX];
} kirsch_setting;

/* Parameters of such a real table, still without a seed.  The summary is 'interpolation', 'single' or
 * 'multiple'. */
void kirsch_params(const kirsch_setting *s, tamis_summary summary, tamis_table_params *params);

/* All of these build 'trials' tables of s->n items, with seeds 1, 2, ... */

/* Items in each of the sub-tables. */
tamis_status kirsch_simulate_levels(const kirsch_setting *s, unsigned trials, measured *values);

/* The part of the tables with a crisis. */
tamis_status kirsch_simulate_crisis(const kirsch_setting *s, unsigned trials, measured *value);

/* Items of a table that the summary is wrong about. */
tamis_status kirsch_simulate_mistaken(const kirsch_setting *s, tamis_summary summary,
                                      unsigned trials, measured *value);

/* The part of 'queries' misses for which the summary named a sub-table. */
tamis_status kirsch_simulate_fpr(const kirsch_setting *s, tamis_summary summary, unsigned trials,
                                 unsigned queries, measured *value);

/* Bytes of fast memory of one table: the summary, and the bits that it keeps for each bucket.  The
 * expected value is the sum of the layouts, in whole words and lines. */
tamis_status kirsch_simulate_bytes(const kirsch_setting *s, tamis_summary summary, measured *value);

/* Bytes of the multiple filters with counters of these widths, the same way. */
tamis_status kirsch_simulate_counting_bytes(const kirsch_setting *s, const unsigned *counter_bits,
                                            measured *value);

/* Of 'stay' + 'go' items, 'go' are deleted, chosen from all of them or from those of the first
 * sub-table.  How many does a rebuild move? */
tamis_status kirsch_simulate_moves(const kirsch_setting *s, unsigned stay, unsigned go,
                                   bool first_only, unsigned trials, measured *value);

#endif
