/* song.h - the scheme of Song and others, simulated
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_EXPERIMENTS_SONG_H
#define TAMIS_EXPERIMENTS_SONG_H

#include "experiments.h"

enum { SONG_ITEMS = 10000, SONG_BUCKETS = 131072, SONG_HASHES = 10, SONG_BITS = 3 };

enum {
    SONG_FPR,    /* the part of absent items none of whose counters is zero */
    SONG_BYTES,  /* of the counters */
    SONG_PLACED, /* items of a table that found a bucket, with the heuristic */
    SONG_MOVES,  /* items that one insertion moves */
    SONG_READS,  /* reads of slow memory for an item that is there */
    SONG_VALUES
};

/* Build real tables with these numbers, seeds 1, 2, ..., and query each with this many absent items. */
tamis_status song_simulate(unsigned trials, unsigned queries, measured *values);

/* Items that have no bucket to themselves, before the heuristic.  The table does not let such counters be
 * seen, so that the counters are implemented anew. */
tamis_status song_simulate_covered(unsigned trials, measured *value);

#endif
