/* counted.h - a set of keys that are counted first
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_CLI_COUNTED_H
#define TAMIS_CLI_COUNTED_H

#include "cli/cli.h"
#include "cli/distinct.h"

/* The keys that came, and what the set is planned for. */
typedef struct key_counts {
    uint64_t all;
    distinct_count different;
    uint64_t planned; /* 0: nothing was counted */
    bool copies;      /* the set would count keys that come again */
} key_counts;

/* Read all keys, then plan for them, or take the parameters that are given, and build; NULL after a
 * complaint.  The reader knows the hash. */
tamis_filter *build_counted(key_reader *reader, unsigned jobs, tamis_need *need,
                            const tamis_params *params, key_counts *counts);

/* Keys that came more than once make a set smaller than who counted the lines expects, or, if it counts
 * copies, larger than who counted the keys expects.  Tell it on stderr where it matters, or 'always'. */
void build_tell_counts(const char *command, const key_counts *counts, bool always);

/* A plan for a need, with the hash and the seed of 'hash'.  false after a complaint. */
bool build_plan(const char *command, const tamis_need *need, const tamis_params *hash,
                tamis_plan *plan);

/* Why a set, planned for so many bytes (0: unknown), could not be made. */
void build_complain(const char *command, tamis_status status, uint64_t bytes);

#endif
