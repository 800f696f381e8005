/* lock.h - a small lock that readers share
 *
 * One word:   bit 0  a writer is in        bit 1  a writer waits        from bit 2 on  how many readers are
 * in
 *
 * A writer that waits keeps new readers out, so that a stream of them cannot keep it waiting for ever.
 * Whoever finds the lock taken looks again a few times and then gives the processor away: with as many
 * threads as processors the holder is running and soon done; with more it may have been interrupted, and
 * what it needs is a processor.  After many turns a waiter sleeps, since to give the processor away does
 * not help against a holder of lower priority.
 *
 * It is not fair.  A mutex of the system would sleep at once, at two calls of the system for each meeting,
 * and takes two locked instructions where this takes one: the holder leaves by a plain store.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_SHARED_LOCK_H
#define TAMIS_SHARED_LOCK_H

#include "base/base.h"

#include <stdatomic.h>

typedef struct tamis_i_lock {
    atomic_uint word;
} tamis_i_lock;

enum { TAMIS_I_LOCK_WRITER = 1, TAMIS_I_LOCK_WAITING = 2, TAMIS_I_LOCK_READER = 4 };

/* Wait a little; 'turn' counts how often that was done. */
void tamis_i_lock_pause(unsigned *turn);

static inline bool tamis_i_lock_try_write(tamis_i_lock *lock) {
    unsigned seen = atomic_load_explicit(&lock->word, memory_order_relaxed);
    return (seen & ~(unsigned)TAMIS_I_LOCK_WAITING) == 0 &&
           atomic_compare_exchange_strong_explicit(&lock->word, &seen, TAMIS_I_LOCK_WRITER,
                                                   memory_order_acquire, memory_order_relaxed);
}

static inline void tamis_i_lock_write(tamis_i_lock *lock) {
    for (unsigned turn = 0; TAMIS_UNLIKELY(!tamis_i_lock_try_write(lock));) {
        if ((atomic_load_explicit(&lock->word, memory_order_relaxed) & TAMIS_I_LOCK_WAITING) == 0)
            (void)atomic_fetch_or_explicit(&lock->word, TAMIS_I_LOCK_WAITING, memory_order_relaxed);
        tamis_i_lock_pause(&turn);
    }
}

/* Others may have begun to wait, which they will notice by themselves. */
static inline void tamis_i_unlock_write(tamis_i_lock *lock) {
    atomic_store_explicit(&lock->word, 0, memory_order_release);
}

/* 'against': the bits that keep a reader out. */
static inline bool tamis_i_lock_try_read(tamis_i_lock *lock, unsigned against) {
    unsigned seen = atomic_load_explicit(&lock->word, memory_order_relaxed);
    return (seen & against) == 0 &&
           atomic_compare_exchange_strong_explicit(&lock->word, &seen, seen + TAMIS_I_LOCK_READER,
                                                   memory_order_acquire, memory_order_relaxed);
}

/* A writer that waits may have been interrupted: it is let pass for a while only. */
#define TAMIS_I_LOCK_POLITE 64u

static inline void tamis_i_lock_read(tamis_i_lock *lock) {
    for (unsigned turn = 0;;) {
        const unsigned against =
            TAMIS_I_LOCK_WRITER | (turn < TAMIS_I_LOCK_POLITE ? TAMIS_I_LOCK_WAITING : 0u);
        if (TAMIS_LIKELY(tamis_i_lock_try_read(lock, against)))
            return;
        tamis_i_lock_pause(&turn);
    }
}

static inline void tamis_i_unlock_read(tamis_i_lock *lock) {
    (void)atomic_fetch_sub_explicit(&lock->word, TAMIS_I_LOCK_READER, memory_order_release);
}

#endif
