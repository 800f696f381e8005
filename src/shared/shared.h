/* shared.h - what a shared set consists of
 *
 *      tamis_shared ── set: a sharded set (filter/shards.h), or one filter
 *                   ├─ gates: one for each shard, or for each region of one filter's table, with its lock
 *                   └─ calm: whether batches of queries may read regions as if they were alone
 *
 * Regions (shared/lines.h) are for kinds that keep a key in one line; all others have shards.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_SHARED_SHARED_H
#define TAMIS_SHARED_SHARED_H

#include "base/atomic_words.h"
#include "filter/shards.h"
#include "hash/hash.h"
#include "shared/calm.h"
#include "shared/lock.h"
#include "tamis/shared.h"

/* The way to a shard, or to a region. */
typedef union tamis_i_gate {
    struct {
        atomic_uint sequence; /* of a region: shared/lines.h */
        tamis_i_lock lock;
        tamis_filter *filter; /* the shard, or a handle for the region */
    } is;
    unsigned char room[TAMIS_I_SEQUENCE_STRIDE];
} tamis_i_gate;

struct tamis_shared {
    tamis_i_gate *gates;
    unsigned n;
    const tamis_i_hasher *hasher;
    tamis_filter *set;
    tamis_allocator allocator;
    tamis_i_calm_line *calm;
    void *block; /* of the gates, and of 'calm' */
    size_t block_size;
    /* Of regions: */
    const tamis_i_line_alone *alone; /* NULL: there are shards, or one filter */
    unsigned shift;                  /* lines of a region, as a power of two */
    uint64_t lines;
    uint64_t *states; /* of the regions, a line each */
    size_t states_size;
};

/* The number of a key's line, and of its region. */
static inline uint64_t tamis_i_lines_number(const tamis_shared *shared, tamis_digest digest) {
    return tamis_i_range(digest.lo, shared->lines);
}

static inline uint64_t *tamis_i_lines_at(const tamis_shared *shared, uint64_t line) {
    return shared->set->table + TAMIS_LINE_WORDS * line;
}

static inline unsigned tamis_i_lines_region(const tamis_shared *shared, tamis_digest digest) {
    return (unsigned)(tamis_i_lines_number(shared, digest) >> shared->shift);
}

/* The number of a key's gate. */
static inline unsigned tamis_i_shared_number(const tamis_shared *shared, tamis_digest digest) {
    return shared->alone != NULL ? tamis_i_lines_region(shared, digest)
                                 : (unsigned)tamis_i_digest_shard(digest, shared->n);
}

/* The lock of a set that is const to its reader: what readers change is no part of the set. */
static inline tamis_i_gate *tamis_i_gate_at(const tamis_shared *shared, unsigned i) {
    return &shared->gates[i];
}

static inline tamis_i_gate *tamis_i_gate_of(const tamis_shared *shared, tamis_digest digest) {
    return tamis_i_gate_at(shared, tamis_i_shared_number(shared, digest));
}

/* A writer has a lock. */
static inline void tamis_i_gate_entered(const tamis_shared *shared) {
    if (TAMIS_UNLIKELY(atomic_load_explicit(&shared->calm[0].is.word, memory_order_acquire) !=
                       TAMIS_I_CALM_OFF))
        tamis_i_calm_end(shared);
}

/* To change a shard. */
static inline bool tamis_i_gate_try_enter(const tamis_shared *shared, tamis_i_gate *gate) {
    if (!tamis_i_lock_try_write(&gate->is.lock))
        return false;
    tamis_i_gate_entered(shared);
    return true;
}

static inline void tamis_i_gate_enter(const tamis_shared *shared, tamis_i_gate *gate) {
    tamis_i_lock_write(&gate->is.lock);
    tamis_i_gate_entered(shared);
}

static inline void tamis_i_gate_leave(tamis_i_gate *gate) {
    tamis_i_unlock_write(&gate->is.lock);
}

/* All locks, in the order of shards, for reading or for writing. */
void tamis_i_shared_lock_all(const tamis_shared *shared, bool write);
void tamis_i_shared_unlock_all(const tamis_shared *shared, bool write);

#endif
