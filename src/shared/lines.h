/* lines.h - one table that threads share, line by line
 *
 * Where a key is in one line of the table, the set need not be cut in shards.  It is one ordinary
 * filter, and its lines, in groups of a power of two, are regions:
 *
 *      table    [ line 0 | 1 | 2 | 3 ][ 4 | 5 | 6 | 7 ] ...
 *      regions    lock, sequence        lock, sequence          each with a handle, that is
 *                 count                 count                   a state of its own
 *
 * A writer locks the region, copies the line, works on the copy, and stores its words by atomic
 * stores, between two steps of the sequence:
 *
 *      sequence <- "writing";  words (release);  sequence <- a new number (release)
 *
 * A reader locks nothing and writes nothing that others read:
 *
 *      s <- sequence (acquire);  read words (acquire);  they are whole if s is no "writing" and sequence = s
 *
 * If a word came from a writer, then so did the number "writing" that this writer had stored
 * before, and the second look finds a number other than s.  What is not whole counts for nothing:
 * the reader takes the lock instead.  Bits of a Bloom filter are only ever set, so that torn words
 * of an insert would do no harm; but clearing and merging are one moment for the whole set, which
 * the sequences of all regions make so.
 *
 * A batch of inserts is sorted by regions and worked off in groups that go over the borders of regions.  The
 * locks of all regions of a group are held.  They are taken in ascending order, by everyone, so that no two
 * threads can wait for each other.
 *
 * The filter itself has no count meanwhile; it is collected when the set is copied.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_SHARED_LINES_H
#define TAMIS_SHARED_LINES_H

#include "filter/batch.h"
#include "shared/shared.h"

/* Can this filter have regions? */
bool tamis_i_lines_can(const tamis_filter *filter);

/* How many regions, and how many lines they have. */
unsigned tamis_i_lines_regions(const tamis_filter *filter, unsigned *shift);

/* Make the handles of the regions.  TAMIS_E_NOMEM. */
tamis_status tamis_i_lines_begin(tamis_shared *shared);
void tamis_i_lines_end(tamis_shared *shared);

/* ---- one key: the lock is not held ---- */

bool tamis_i_lines_contains(const tamis_shared *shared, tamis_digest digest);

/* With the lock. */
bool tamis_i_lines_contains_locked(tamis_i_gate *gate, tamis_digest digest);

/* Before words of the region are read, and after: are they whole? */
TAMIS_INLINE unsigned tamis_i_lines_first_look(tamis_i_gate *gate) {
    return atomic_load_explicit(&gate->is.sequence, memory_order_acquire);
}

TAMIS_INLINE bool tamis_i_lines_whole(tamis_i_gate *gate, unsigned seen) {
    return ((seen & TAMIS_I_SEQUENCE_WRITING) |
            (atomic_load_explicit(&gate->is.sequence, memory_order_relaxed) ^ seen)) == 0;
}

/* ---- one key, whose region is locked ---- */

void tamis_i_lines_insert(const tamis_shared *shared, tamis_i_gate *gate, tamis_digest digest,
                          bool *added);

/* Between the two, the words of lines of the region may be written. */
void tamis_i_lines_open(tamis_i_gate *gate);
void tamis_i_lines_close(tamis_i_gate *gate);

/* Copy a line of a region that is locked for writing: nobody else writes, so that any read will do. */
TAMIS_INLINE void tamis_i_lines_take(const uint64_t *at, uint64_t *copy) {
    memcpy(copy, at, TAMIS_LINE_BYTES);
}

/* Write a line.  All words: which of them have changed is what a processor guesses wrong. */
TAMIS_INLINE void tamis_i_lines_write(uint64_t *at, const uint64_t *copy) {
    for (unsigned i = 0; i < TAMIS_LINE_WORDS; i++)
        tamis_i_word_write(at + i, copy[i]);
}

/* ---- many ---- */

size_t tamis_i_lines_contains_many(const tamis_shared *shared, tamis_i_keys_form form,
                                   const void *array, size_t n, bool *present);

/* Keys in the order of their regions: those of region[i] are number begin[i] to begin[i + 1] - 1. */
typedef struct tamis_i_lines_runs {
    const tamis_digest *digests;
    const uint16_t *region, *begin;
    unsigned n;
} tamis_i_lines_runs;

/* Insert them, with no lock held: added[i] for each key. */
void tamis_i_lines_insert_many(const tamis_shared *shared, const tamis_i_lines_runs *runs,
                               bool *added);

/* Insert keys of the regions from 'first' on to which nobody else comes meanwhile, where they are. */
void tamis_i_lines_fill(tamis_shared *shared, unsigned first, const tamis_digest *digests,
                        size_t n);

/* ---- the whole, of which all regions are locked ---- */

/* What the set is like, as a handle on 'state', a line that the caller provides. */
void tamis_i_lines_handle(const tamis_shared *shared, tamis_filter *handle, uint64_t *state);

/* An ordinary filter with all keys; 'to' has been made with the same parameters. */
void tamis_i_lines_pack(const tamis_shared *shared, tamis_filter *to);

/* Give the filter itself its count back. */
void tamis_i_lines_settle(tamis_shared *shared);

/* Take over all keys of 'from', a filter with the same table, or (NULL) have none. */
void tamis_i_lines_unpack(tamis_shared *shared, const tamis_filter *from);

#endif
