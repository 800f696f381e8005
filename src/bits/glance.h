/* glance.h - an engine: a look into a cache line that another thread may be writing to
 *
 * Each word is read by one atomic read, which what follows it stays behind (acquire); the line as a whole may
 * be torn.  Who writes it stores words by atomic writes (release), so that there is no data race.  Lines, in
 * groups of 2^shift, have a sequence number each:
 *
 *      bit 0   lines of the group are being written        bit 1   keys of the group are also elsewhere
 *
 * What was read is whole if the number was the same before and after, and bit 0 was clear.  shared/lines.h
 * has the other side.
 *
 * 'copy' takes the whole line.  The copy is read as vectors a moment later, and so is best written as
 * vectors: a vector that is read while its words are on their way to memory has to wait until they are
 * there, and all that came before them.
 *
 * 'has_digest' and 'has_word' are one query from the key to the answer, for lines that a lens can look into
 * (bits/lens.h).  They read only the words that the answer depends on.  Torn words give any answer, and no
 * other harm.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_GLANCE_H
#define TAMIS_BITS_GLANCE_H

#include "base/base.h"
#include "bits/lens.h"

#include <stdatomic.h>

/* 'to' is aligned like a line. */
typedef void tamis_i_glance_copy(const uint64_t *from, uint64_t *to);

/* Bytes from one sequence number to the next: processors fetch lines in pairs, so that a line of one's own
 * takes two. */
#define TAMIS_I_GLANCE_STRIDE 128u

enum { TAMIS_I_GLANCE_WRITING = 1, TAMIS_I_GLANCE_ELSEWHERE = 2, TAMIS_I_GLANCE_STEP = 4 };

typedef struct tamis_i_glance_table {
    const tamis_lens *lens;
    const unsigned char *sequences; /* atomic_uint, every TAMIS_I_GLANCE_STRIDE bytes */
    unsigned shift;
} tamis_i_glance_table;

/* Answers. */
typedef enum tamis_i_glanced {
    TAMIS_I_GLANCED_NO,
    TAMIS_I_GLANCED_YES,
    TAMIS_I_GLANCED_NOTHING /* the words were torn, or it is not the common case */
} tamis_i_glanced;

typedef struct tamis_i_glance_ops {
    tamis_i_glance_copy *copy;
    /* An integer is hashed by AES.  NULL: there is none. */
    tamis_i_glanced (*has_digest)(const tamis_i_glance_table *table, tamis_digest digest);
    tamis_i_glanced (*has_word)(const tamis_i_glance_table *table, uint64_t key);
} tamis_i_glance_ops;

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

/* The best for a form of lens and these features (base/cpu.h); 0 gives the portable ones. */
tamis_i_glance_ops tamis_i_glance_ops_for(uint32_t form, unsigned features);

/* The native ones, for bits/native.h: replace those that there are. */
void tamis_i_glance_ops_x86(uint32_t form, unsigned features, tamis_i_glance_ops *ops);

#endif
