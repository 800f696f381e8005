/* lines.h - one table that threads share, line by line
 *
 * Where a key is in one line of the table or else in the stash, the set need not be cut in shards.  It is one
 * ordinary filter, and its lines, in groups of a power of two, are regions:
 *
 *      table    [ line 0 | 1 | 2 | 3 ][ 4 | 5 | 6 | 7 ] ...
 *      regions    lock, sequence        lock, sequence          each with a handle, that is
 *                 count, stash          count, stash            a count and a stash of its own
 *
 * A writer locks the region, copies the line, works on the copy, and stores the words that have changed by
 * atomic stores, between two steps of the sequence:
 *
 *      sequence <- odd;  words (release);  sequence <- even (release)
 *
 * A reader locks nothing and writes nothing that others read:
 *
 *      s <- sequence (acquire);  copy the words (acquire);  the copy is whole if s is even and sequence = s
 *
 * If a word of the copy came from a writer, then so did the odd number that this writer had stored before,
 * and the second look finds a number other than s.  A copy that is not whole is not looked at: the reader
 * takes the lock instead, and so it does while the region has keys in its stash, which is seldom: with the
 * parameters of a plan less than once in 10^80 sets, but for a key with many copies.
 *
 * The filter itself has an empty stash and no count meanwhile; both are collected when the set is copied.
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

/* Make the handles of the regions, and give them the keys of the filter's stash.  TAMIS_E_NOMEM. */
tamis_status tamis_i_lines_begin(tamis_shared *shared);
void tamis_i_lines_end(tamis_shared *shared);

/* ---- one key: the lock is not held ---- */

bool tamis_i_lines_contains(const tamis_shared *shared, tamis_digest digest);

/* ---- one key, whose region is locked ---- */

tamis_status tamis_i_lines_insert(const tamis_shared *shared, tamis_i_gate *gate,
                                  tamis_digest digest, bool *added);
tamis_status tamis_i_lines_remove(const tamis_shared *shared, tamis_i_gate *gate,
                                  tamis_digest digest);

/* The same for n digests, all of this region; stops at the first failure. */
tamis_status tamis_i_lines_insert_run(const tamis_shared *shared, tamis_i_gate *gate,
                                      const tamis_digest *digests, size_t n, bool *added,
                                      size_t *done);

/* ---- many ---- */

size_t tamis_i_lines_contains_many(const tamis_shared *shared, tamis_i_keys_form form,
                                   const void *array, size_t n, bool *present);

/* ---- the whole, of which all regions are locked ---- */

/* What the set is like, as a handle on 'state', a line that the caller provides. */
void tamis_i_lines_handle(const tamis_shared *shared, tamis_filter *handle, uint64_t *state);

/* An ordinary filter with all keys; 'to' has been made, with room for tamis_i_lines_stash entries. */
uint64_t tamis_i_lines_stash(const tamis_shared *shared);
tamis_status tamis_i_lines_pack(const tamis_shared *shared, tamis_filter *to);

/* Take over all keys of 'from', a filter with the same table, or (NULL) have none.  TAMIS_E_FULL if the stash
 * of a region is too small: nothing is then changed. */
tamis_status tamis_i_lines_unpack(tamis_shared *shared, const tamis_filter *from);

#endif
