/* calm.c - batches of queries while nobody writes
 *
 * SPDX-License-Identifier: MIT
 */
#include "shared/shared.h"

#define PATIENCE 16u /* pieces: some half a millisecond */

static atomic_uint *calm_state(const tamis_shared *shared) {
    return &shared->calm[0].is.word;
}

tamis_i_calm_line *tamis_i_calm_enter(const tamis_shared *shared) {
    atomic_uint *const state = calm_state(shared);
    if (atomic_load_explicit(state, memory_order_relaxed) != TAMIS_I_CALM_ON)
        return NULL;
    const uint64_t stack = (uint64_t)(uintptr_t)&state >> 12;
    const uint64_t number = tamis_i_range(stack * 0x9e3779b97f4a7c15u, TAMIS_I_CALM_SLOTS);
    tamis_i_calm_line *const slot = shared->calm + 2 + number;
    (void)atomic_fetch_add_explicit(&slot->is.word, 1, memory_order_seq_cst);
    if (atomic_load_explicit(state, memory_order_seq_cst) == TAMIS_I_CALM_ON)
        return slot;
    tamis_i_calm_leave(slot);
    return NULL;
}

void tamis_i_calm_end(const tamis_shared *shared) {
    atomic_store_explicit(calm_state(shared), TAMIS_I_CALM_ENDS, memory_order_seq_cst);
    for (unsigned i = 0; i < TAMIS_I_CALM_SLOTS; i++) {
        unsigned turn = 0;
        while (atomic_load_explicit(&shared->calm[2 + i].is.word, memory_order_seq_cst) != 0)
            tamis_i_lock_pause(&turn);
    }
    atomic_store_explicit(calm_state(shared), TAMIS_I_CALM_OFF, memory_order_release);
}

/* The sum of all sequence numbers; false if a region is being written. */
static bool calm_sum(const tamis_shared *shared, unsigned *sum) {
    unsigned all = 0;
    *sum = 0;
    for (unsigned i = 0; i < shared->n; i++) {
        const unsigned sequence =
            atomic_load_explicit(&tamis_i_gate_at(shared, i)->is.sequence, memory_order_relaxed);
        *sum += sequence;
        all |= sequence;
    }
    return (all & TAMIS_I_SEQUENCE_WRITING) == 0;
}

void tamis_i_calm_consider(const tamis_shared *shared) {
    tamis_i_calm_line *const tally = &shared->calm[1];
    const unsigned pieces = atomic_fetch_add_explicit(&tally->is.word, 1, memory_order_relaxed);
    unsigned sum, locked = 0;
    if (pieces % PATIENCE != PATIENCE - 1 || !calm_sum(shared, &sum) ||
        atomic_exchange_explicit(&tally->is.sum, sum, memory_order_relaxed) != sum)
        return;
    while (locked < shared->n && tamis_i_lock_try_read(&tamis_i_gate_at(shared, locked)->is.lock,
                                                       TAMIS_I_LOCK_WRITER | TAMIS_I_LOCK_WAITING))
        locked++;
    if (locked == shared->n && calm_sum(shared, &sum))
        atomic_store_explicit(calm_state(shared), TAMIS_I_CALM_ON, memory_order_seq_cst);
    while (locked > 0)
        tamis_i_unlock_read(&tamis_i_gate_at(shared, --locked)->is.lock);
}
