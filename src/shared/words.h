/* words.h - words that one thread writes and others read
 *
 * Each word is read by one atomic read, which what follows it stays behind (acquire), and written by one atomic
 * write (release), so that there is no data race; a line as a whole may be torn.  Lines, in groups of 2^shift, have
 * a sequence number each:
 *
 *      bit 0   lines of the group are being written        bit 1   keys of the group are also elsewhere
 *
 * What was read is whole if the number was the same before and after, and bit 0 was clear.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_SHARED_WORDS_H
#define TAMIS_SHARED_WORDS_H

#include "base/base.h"

#include <stdatomic.h>

/* Bytes from one sequence number to the next: processors fetch lines in pairs, so that a line of one's own
 * takes two. */
#define TAMIS_I_SEQUENCE_STRIDE 128u

enum { TAMIS_I_SEQUENCE_WRITING = 1, TAMIS_I_SEQUENCE_ELSEWHERE = 2, TAMIS_I_SEQUENCE_STEP = 4 };

/* Words of a table are plain objects; on machines where 64 bits are read and written at once anyway, an
 * atomic object has the same form. */
TAMIS_INLINE uint64_t tamis_i_word_read(const uint64_t *from) {
    return atomic_load_explicit((const _Atomic uint64_t *)(const void *)from, memory_order_acquire);
}

TAMIS_INLINE void tamis_i_word_write(uint64_t *to, uint64_t word) {
    atomic_store_explicit((_Atomic uint64_t *)(void *)to, word, memory_order_release);
}

/* Is that so here? */
static inline bool tamis_i_words_are_atomic(void) {
    return ATOMIC_LLONG_LOCK_FREE == 2 && sizeof(_Atomic uint64_t) == sizeof(uint64_t);
}

static inline void tamis_i_line_copy(const uint64_t *from, uint64_t *to) {
    for (unsigned i = 0; i < TAMIS_LINE_WORDS; i++)
        to[i] = tamis_i_word_read(from + i);
}

#endif
