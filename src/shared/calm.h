/* calm.h - batches of queries while nobody writes
 *
 * A batch that copies every line takes a third longer than one that reads them where they are.  That it may
 * while nobody writes, and somebody who wants to can tell that it does.  The set is calm:
 *
 *      a batch    slot <- slot + 1;  if the set is calm, read;  slot <- slot - 1 (release)
 *      a writer   (has its locks)  if it is calm: "ends";  wait until all slots are 0;  "off"
 *
 * The first two steps of both are in one order for all threads (sequentially consistent), so that the batch
 * sees "ends" or the writer the slot.  A slot is on a line of its own; which one a batch takes depends on
 * where its stack is, so that threads seldom share one.  Batches of one slot count.
 *
 * It becomes calm again when batches have read PATIENCE pieces and the sequence numbers of all
 * regions are what they were that long ago, by a batch that has all locks, for reading.  A writer
 * holds a lock all the time, so that it cannot become calm meanwhile.  It waits for one piece at
 * most.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_SHARED_CALM_H
#define TAMIS_SHARED_CALM_H

#include "base/atomic_words.h"

/* Bytes from one sequence number, or slot, to the next: processors fetch lines in pairs, so that a
 * line of one's own takes two. */
#define TAMIS_I_SEQUENCE_STRIDE 128u

/* Of a sequence number: bit 0, lines of the region are being written; the rest counts. */
enum { TAMIS_I_SEQUENCE_WRITING = 1, TAMIS_I_SEQUENCE_STEP = 2 };

#define TAMIS_I_CALM_PIECE 4096u /* keys, after which a writer is let in */
#define TAMIS_I_CALM_LEAST 32u /* for fewer keys a slot is not worth its two atomic instructions */
#define TAMIS_I_CALM_SLOTS 32u

enum { TAMIS_I_CALM_OFF, TAMIS_I_CALM_ENDS, TAMIS_I_CALM_ON };

typedef union tamis_i_calm_line {
    struct {
        atomic_uint word, sum;
    } is;
    unsigned char room[TAMIS_I_SEQUENCE_STRIDE];
} tamis_i_calm_line;

/* Line 0 has the state, line 1 the pieces read and the sum of the sequence numbers; then come the slots. */
#define TAMIS_I_CALM_LINES (2u + TAMIS_I_CALM_SLOTS)

typedef struct tamis_shared tamis_shared;

/* The slot of a batch, if the set is calm and stays so until it is left; else NULL. */
tamis_i_calm_line *tamis_i_calm_enter(const tamis_shared *shared);

static inline void tamis_i_calm_leave(tamis_i_calm_line *slot) {
    (void)atomic_fetch_sub_explicit(&slot->is.word, 1, memory_order_release);
}

/* A batch has read a piece though the set is not calm: should it be? */
void tamis_i_calm_consider(const tamis_shared *shared);

/* A writer, who has a lock, ends it. */
void tamis_i_calm_end(const tamis_shared *shared);

#endif
