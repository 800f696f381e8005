/* stash.h - the exact set of digests that found no room in a table
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FILTER_STASH_H
#define TAMIS_FILTER_STASH_H

#include "base/base.h"

#define TAMIS_I_STASH_MAX ((uint64_t)1 << 36)

/* A stash within the memory of a filter.  All zero words are an empty stash. */
typedef struct tamis_i_stash {
    uint64_t *words;
    uint64_t *used;    /* entries in use: a word of the filter's state */
    uint64_t capacity; /* entries that it may take */
    uint64_t slots;    /* slots for them, more than the capacity unless that is 0 */
} tamis_i_stash;

/* Words that a stash for 'capacity' entries needs, a multiple of a cache line; 0 for capacity 0.
 * capacity <= TAMIS_I_STASH_MAX. */
uint64_t tamis_i_stash_words(uint64_t capacity);

/* A stash at 'words', which holds tamis_i_stash_words(capacity), with its count at 'used'. */
void tamis_i_stash_attach(tamis_i_stash *stash, uint64_t *words, uint64_t *used, uint64_t capacity);

/* Copies of 'digest' in the stash.  Ends at once while the stash is empty. */
uint64_t tamis_i_stash_copies(const tamis_i_stash *stash, tamis_digest digest);

/* Begin to fetch the memory that tamis_i_stash_copies will read. */
void tamis_i_stash_prefetch(const tamis_i_stash *stash, tamis_digest digest);

/* Add one copy.  TAMIS_E_FULL if it needs a new entry and there is none, or none within bounds. */
tamis_status tamis_i_stash_insert(tamis_i_stash *stash, tamis_digest digest);

/* Entries of a stash that are left to keys that have no place elsewhere: a quarter, rounded up. */
static inline uint64_t tamis_i_stash_kept(uint64_t capacity) {
    return capacity / 4 + (capacity % 4 != 0);
}

/* The same for a key that has a place elsewhere. */
tamis_status tamis_i_stash_insert_spare(tamis_i_stash *stash, tamis_digest digest);
/* The same for up to 255 copies at once: all of them, or none. */
tamis_status tamis_i_stash_add(tamis_i_stash *stash, tamis_digest digest, unsigned copies);

/* Make it 'copies' of an entry, 1 to 255; nothing if there is none. */
void tamis_i_stash_set(tamis_i_stash *stash, tamis_digest digest, unsigned copies);

/* Take an entry away with all its copies. */
void tamis_i_stash_drop(tamis_i_stash *stash, tamis_digest digest);

/* Take one copy away; false if there is none. */
bool tamis_i_stash_remove(tamis_i_stash *stash, tamis_digest digest);

/* Walk over the entries: '*at' begins at 0; false at the end.  '*copies' is at least 1.  The stash must
 * not change during the walk. */
bool tamis_i_stash_next(const tamis_i_stash *stash, uint64_t *at, tamis_digest *digest,
                        uint64_t *copies);

/* For a structure that keeps in the stash what it knows of a key, instead of the digest: a number of up to 64
 * bits, and the place in the table that it belongs to.  Entries of one place lie in one run, since their
 * probing begins at the same slot.  As an entry of the stash; and back. */
static inline tamis_digest tamis_i_stash_key(uint64_t place, uint64_t what) {
    return (tamis_digest){.lo = place ^ (what << 32 | what >> 32), .hi = what};
}

static inline uint64_t tamis_i_stash_place(tamis_digest key) {
    return key.lo ^ (key.hi << 32 | key.hi >> 32);
}

/* Walk over those of one place: '*at' begins at 0; false at the end. */
bool tamis_i_stash_along(const tamis_i_stash *stash, uint64_t place, uint64_t *at, uint64_t *what,
                         uint64_t *copies);

/* The first slot that is empty; a walk from it on, and then from the first slot to it, comes to the entries
 * in an order in which they can be added to an empty stash, each to the slot that it has. */
uint64_t tamis_i_stash_gap(const tamis_i_stash *stash);

/* Add every copy that is in 'source', whose capacity is the same.  False if they do not fit; nothing is then
 * changed. */
bool tamis_i_stash_merge(tamis_i_stash *stash, const tamis_i_stash *source);

/* Take all of this back, before any other change. */
void tamis_i_stash_unmerge(tamis_i_stash *stash, const tamis_i_stash *source);

/* What a query for a digest reads of a stash of which anyone may have written anything: 'may' is asked for
 * words before they are read.  False: it has said no, or no stash reaches that far. */
bool tamis_i_stash_touch(const tamis_i_stash *stash, tamis_digest digest,
                         bool (*may)(const void *context, const uint64_t *words, uint64_t n),
                         const void *context);

/* Check all that must hold of a stash read from a file.  False, and why. */
bool tamis_i_stash_check(const tamis_i_stash *stash, const char **reason);

#endif
