/* atomic_words.h - words of a table that one thread writes and others read
 *
 * Each word is read by one atomic read, which what follows it stays behind (acquire), and written
 * by one atomic write (release), so that there is no data race; a line as a whole may be torn.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BASE_ATOMIC_WORDS_H
#define TAMIS_BASE_ATOMIC_WORDS_H

#include "base/base.h"

#include <stdatomic.h>

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

#endif
