/* lines.c - one table that threads share, line by line
 *
 * SPDX-License-Identifier: MIT
 */
#include "shared/lines.h"

#define REGIONS_MAX  64u
#define REGION_LEAST 1024u /* lines, 64 KiB: a region's handle takes 3 KiB */

/* ---- making ---- */

bool tamis_i_lines_can(const tamis_filter *filter) {
    return filter->links == NULL && tamis_i_words_are_atomic() && filter->kind->line_alone != NULL;
}

unsigned tamis_i_lines_regions(const tamis_filter *filter, unsigned *shift) {
    const uint64_t lines = filter->n_table / TAMIS_LINE_WORDS;
    *shift = 0;
    while ((uint64_t)REGION_LEAST >> *shift > 1 || (lines - 1) >> *shift >= REGIONS_MAX)
        ++*shift;
    return (unsigned)((lines - 1) >> *shift) + 1;
}

tamis_status tamis_i_lines_begin(tamis_shared *shared) {
    tamis_filter *const set = shared->set;
    const tamis_allocator *const allocator = &shared->allocator;
    TAMIS_ASSERT(set->params.stash == 0);
    shared->states_size = (size_t)shared->n * TAMIS_LINE_BYTES;
    shared->states = tamis_i_alloc_zeroed(allocator, shared->states_size);
    if (shared->states == NULL)
        return TAMIS_E_NOMEM;
    for (unsigned i = 0; i < shared->n; i++) {
        tamis_filter *region;
        const tamis_status status =
            tamis_i_filter_make(set->kind, &set->params, allocator, set->state, false, &region);
        if (status != TAMIS_OK) {
            tamis_i_lines_end(shared);
            return status;
        }
        region->read_only = false;
        region->state = shared->states + i * TAMIS_I_STATE_WORDS;
        tamis_i_filter_attach(region);
        shared->gates[i].is.filter = region;
    }
    shared->lines = set->n_table / TAMIS_LINE_WORDS;
    shared->alone = set->kind->line_alone;
    tamis_i_lines_unpack(shared, set);
    memset(set->state, 0, TAMIS_LINE_BYTES);
    return TAMIS_OK;
}

void tamis_i_lines_end(tamis_shared *shared) {
    for (unsigned i = 0; i < shared->n; i++)
        tamis_filter_free(shared->gates[i].is.filter);
    tamis_i_free(&shared->allocator, shared->states, shared->states_size);
}

/* ---- one key ---- */

bool tamis_i_lines_contains_locked(tamis_i_gate *gate, tamis_digest digest) {
    const tamis_filter *const region = gate->is.filter;
    tamis_i_lock_read(&gate->is.lock);
    const bool present = region->kind->contains(region, digest);
    tamis_i_unlock_read(&gate->is.lock);
    return present;
}

typedef struct line_copy {
    _Alignas(TAMIS_LINE_BYTES) uint64_t words[TAMIS_LINE_WORDS];
} line_copy;

bool tamis_i_lines_contains(const tamis_shared *shared, tamis_digest digest) {
    const uint64_t line = tamis_i_lines_number(shared, digest);
    tamis_i_gate *const gate = tamis_i_gate_at(shared, (unsigned)(line >> shared->shift));
    const unsigned seen = tamis_i_lines_first_look(gate);
    const bool present = shared->alone->has(shared->set, digest, tamis_i_lines_at(shared, line));
    return TAMIS_LIKELY(tamis_i_lines_whole(gate, seen))
               ? present
               : tamis_i_lines_contains_locked(gate, digest);
}

/* Stores of words that follow the first step are of the kind that it stays before. */
void tamis_i_lines_open(tamis_i_gate *gate) {
    const unsigned sequence = atomic_load_explicit(&gate->is.sequence, memory_order_relaxed);
    atomic_store_explicit(&gate->is.sequence, sequence | TAMIS_I_SEQUENCE_WRITING,
                          memory_order_relaxed);
}

void tamis_i_lines_close(tamis_i_gate *gate) {
    const unsigned sequence = atomic_load_explicit(&gate->is.sequence, memory_order_relaxed);
    atomic_store_explicit(&gate->is.sequence,
                          (sequence & ~(unsigned)TAMIS_I_SEQUENCE_WRITING) + TAMIS_I_SEQUENCE_STEP,
                          memory_order_release);
}

void tamis_i_lines_insert(const tamis_shared *shared, tamis_i_gate *gate, tamis_digest digest,
                          bool *added) {
    line_copy copy;
    uint64_t *const at = tamis_i_lines_at(shared, tamis_i_lines_number(shared, digest));
    tamis_i_lines_take(at, copy.words);
    shared->alone->insert(gate->is.filter, digest, copy.words, added);
    tamis_i_lines_open(gate);
    tamis_i_lines_write(at, copy.words);
    tamis_i_lines_close(gate);
}

/* ---- the whole ---- */

/* The states of all regions, added up. */
static void lines_add_states(const tamis_shared *shared, uint64_t *state) {
    memset(state, 0, TAMIS_I_STATE_WORDS * sizeof *state);
    for (unsigned i = 0; i < shared->n; i++)
        for (unsigned j = 0; j < TAMIS_I_STATE_WORDS; j++)
            state[j] += tamis_i_gate_at(shared, i)->is.filter->state[j];
}

void tamis_i_lines_handle(const tamis_shared *shared, tamis_filter *handle, uint64_t *state) {
    *handle = *shared->set;
    lines_add_states(shared, state);
    handle->state = state;
}

void tamis_i_lines_pack(const tamis_shared *shared, tamis_filter *to) {
    memcpy(to->table, shared->set->table, (size_t)to->n_table * sizeof(uint64_t));
    to->key_form = shared->set->key_form;
    lines_add_states(shared, to->state);
}

void tamis_i_lines_settle(tamis_shared *shared) {
    lines_add_states(shared, shared->set->state);
}

/* The sequences are odd all the time: to readers, who then wait for the locks, it is one change.  The first
 * region has the counts of all; those of others may go below 0, and the sum is right. */
void tamis_i_lines_unpack(tamis_shared *shared, const tamis_filter *from) {
    static const uint64_t empty[TAMIS_LINE_WORDS] = {0};
    for (unsigned i = 0; i < shared->n; i++)
        tamis_i_lines_open(tamis_i_gate_at(shared, i));
    memset(shared->states, 0, shared->states_size);
    if (from != NULL)
        memcpy(shared->states, from->state, TAMIS_LINE_BYTES);
    const uint64_t lines = shared->set->n_table / TAMIS_LINE_WORDS;
    if (from != shared->set)
        for (uint64_t line = 0; line < lines; line++)
            tamis_i_lines_write(tamis_i_lines_at(shared, line),
                                from == NULL ? empty : from->table + TAMIS_LINE_WORDS * line);
    for (unsigned i = 0; i < shared->n; i++)
        tamis_i_lines_close(tamis_i_gate_at(shared, i));
}
