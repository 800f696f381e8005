/* glance.h - an engine: a copy of a cache line that another thread may be writing to
 *
 * Each word is read by one atomic read, in order, each of which what follows it stays behind (acquire); the
 * line as a whole may be torn.  Who writes it stores words by atomic writes (release), so that there is no
 * data race; whether the copy is whole is for the caller to find out (shared/lines.h).
 *
 * The copy is read as vectors a moment later, and so is best written as vectors: a vector that is read while
 * its words are on their way to memory has to wait until they are there, and all that came before them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_GLANCE_H
#define TAMIS_BITS_GLANCE_H

#include "base/base.h"

#include <stdatomic.h>

/* 'to' is aligned like a line. */
typedef void tamis_i_glance(const uint64_t *from, uint64_t *to);

/* Words of a table are plain objects; on machines where 64 bits are read and written at once anyway, an
 * atomic object has the same form. */
static inline uint64_t tamis_i_word_read(const uint64_t *from) {
    return atomic_load_explicit((const _Atomic uint64_t *)(const void *)from, memory_order_acquire);
}

static inline void tamis_i_word_write(uint64_t *to, uint64_t word) {
    atomic_store_explicit((_Atomic uint64_t *)(void *)to, word, memory_order_release);
}

/* Is that so here? */
static inline bool tamis_i_words_are_atomic(void) {
    return ATOMIC_LLONG_LOCK_FREE == 2 && sizeof(_Atomic uint64_t) == sizeof(uint64_t);
}

/* The best for these features (base/cpu.h); 0 gives the portable one. */
tamis_i_glance *tamis_i_glance_for(unsigned features);
tamis_i_glance *tamis_i_glance_x86(unsigned features);

#endif
