/* song.h - the scheme of Song and others, simulated
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_EXPERIMENTS_SONG_H
#define TAMIS_EXPERIMENTS_SONG_H

#include "experiments.h"

enum { SONG_ITEMS = 10000, SONG_BUCKETS = 131072, SONG_HASHES = 10, SONG_BITS = 3 };

enum {
    SONG_FPR,     /* the part of absent items none of whose counters is zero */
    SONG_COVERED, /* items that have no bucket to themselves */
    SONG_BYTES,   /* of the counters */
    SONG_VALUES
};

/* Build tables with these numbers, seeds 1, 2, ..., and query each with this many absent items. */
tamis_status song_simulate(unsigned trials, unsigned queries, measured *values);

#endif
