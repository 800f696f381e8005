/* shared.h - what a shared set consists of
 *
 *      tamis_shared ── set: a sharded set (filter/shards.h), or one filter
 *                   └─ gates: one for each shard, or for each region of one filter's table, with its lock
 *
 * Regions (shared/lines.h) are for kinds that keep a key in one line; all others have shards.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_SHARED_SHARED_H
#define TAMIS_SHARED_SHARED_H

#include "bits/glance.h"
#include "filter/shards.h"
#include "hash/hash.h"
#include "shared/lock.h"
#include "tamis/shared.h"

/* Processors fetch lines in pairs, so that a line of one's own takes two. */
#define TAMIS_I_GATE_BYTES 128u

/* The way to a shard. */
typedef union tamis_i_gate {
    struct {
        tamis_i_lock lock;
        atomic_uint sequence; /* odd while lines of the region are being written */
        atomic_uint crowded;  /* 1: the region has keys in its stash */
        tamis_filter *filter; /* the shard, or a handle for the region */
    } is;
    unsigned char room[TAMIS_I_GATE_BYTES];
} tamis_i_gate;

struct tamis_shared {
    tamis_i_gate *gates;
    unsigned n;
    const tamis_i_hasher *hasher;
    tamis_filter *set;
    tamis_allocator allocator;
    void *block; /* of the gates */
    size_t block_size;
    /* Of regions: */
    const tamis_i_line_alone
        *alone;     /* NULL: there are shards, or one filter that cannot have regions */
    unsigned shift; /* lines of a region, as a power of two */
    tamis_i_glance *glance;
    uint64_t *bodies; /* states and stashes of the regions */
    size_t bodies_size;
};

/* The number of a key's gate. */
static inline unsigned tamis_i_shared_number(const tamis_shared *shared, tamis_digest digest) {
    return shared->alone != NULL
               ? (unsigned)(shared->alone->number(shared->set, digest) >> shared->shift)
               : (unsigned)tamis_i_digest_shard(digest, shared->n);
}

/* The lock of a set that is const to its reader: what readers change is no part of the set. */
static inline tamis_i_gate *tamis_i_gate_at(const tamis_shared *shared, unsigned i) {
    return &shared->gates[i];
}

static inline tamis_i_gate *tamis_i_gate_of(const tamis_shared *shared, tamis_digest digest) {
    return tamis_i_gate_at(shared, tamis_i_shared_number(shared, digest));
}

/* To change a shard. */
static inline bool tamis_i_gate_try_enter(tamis_i_gate *gate) {
    return tamis_i_lock_try_write(&gate->is.lock);
}

static inline void tamis_i_gate_enter(tamis_i_gate *gate) {
    tamis_i_lock_write(&gate->is.lock);
}

static inline void tamis_i_gate_leave(tamis_i_gate *gate) {
    tamis_i_unlock_write(&gate->is.lock);
}

/* All locks, in the order of shards, for reading or for writing. */
void tamis_i_shared_lock_all(const tamis_shared *shared, bool write);
void tamis_i_shared_unlock_all(const tamis_shared *shared, bool write);

#endif
