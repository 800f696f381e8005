/* tamis_leveldb.h - small sets as the filters of a LevelDB database
 *
 * LevelDB keeps a filter for each 2 KiB of data, some 36 keys, and asks it before it reads.  This policy
 * makes them small sets (tamis/small.h): in the same bytes they err half as often as its own Bloom filters.
 *
 *     tamis_leveldb_options options;
 *     tamis_leveldb_options_init(&options);
 *     leveldb_filterpolicy_t *policy = tamis_leveldb_policy(&options);
 *     leveldb_options_set_filter_policy(database_options, policy);
 *     // open, use and close databases
 *     leveldb_filterpolicy_destroy(policy);
 *
 * A database remembers the policy of each file by its name.  The name has the version of the bytes and, if
 * it is not the default, what identifies the hash: filters of another policy, version or seed are not
 * asked, never misread, and go away as files are rewritten.
 *
 * Link with libtamis and libleveldb, or compile policy.c into the program.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_LEVELDB_H
#define TAMIS_LEVELDB_H

#include <leveldb/c.h>
#include <tamis/small.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tamis_leveldb_options {
    size_t struct_size;
    double bits_per_key; /* all included; 3 to 48, default 10: 1 error in 240 or fewer */
    /* Of the hash.  Whoever knows it can choose keys that make filters useless, not wrong.  Keep it: filters
     * of another seed are not asked.  0: the default, which everyone knows. */
    uint64_t seed, seed_high;
} tamis_leveldb_options;

static inline void tamis_leveldb_options_init(tamis_leveldb_options *options) {
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
    options->bits_per_key = 10;
}

/* A policy; 'options' may be NULL.  NULL if an option is out of range, or without memory.  Any number of
 * databases and threads may use it.  leveldb_filterpolicy_destroy frees it. */
leveldb_filterpolicy_t *tamis_leveldb_policy(const tamis_leveldb_options *options);

#ifdef __cplusplus
}
#endif

#endif
