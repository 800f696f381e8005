/* lines.c - one table that threads share, line by line
 *
 * SPDX-License-Identifier: MIT
 */
#include "shared/lines.h"

#define REGIONS_MAX  64u
#define REGION_LEAST 1024u /* lines, 64 KiB: a region's handle takes 3 KiB */

/* ---- making ---- */

bool tamis_i_lines_can(const tamis_filter *filter) {
    return filter->links == NULL && tamis_i_words_are_atomic() &&
           tamis_i_line_alone_can(filter->kind->line_alone, &filter->params);
}

unsigned tamis_i_lines_regions(const tamis_filter *filter, unsigned *shift) {
    const uint64_t lines = filter->n_table / TAMIS_LINE_WORDS;
    *shift = 0;
    while ((uint64_t)REGION_LEAST >> *shift > 1 || (lines - 1) >> *shift >= REGIONS_MAX)
        ++*shift;
    return (unsigned)((lines - 1) >> *shift) + 1;
}

/* Entries that the stash of a region can take: twice its share, and some. */
static uint64_t lines_region_stash(const tamis_shared *shared) {
    const uint64_t all = shared->set->params.stash, share = 2 * all / shared->n + 64;
    const uint64_t used = shared->set->state[TAMIS_I_STASH_USED];
    return all == 0 ? 0 : share > used ? share : used;
}

tamis_status tamis_i_lines_begin(tamis_shared *shared) {
    tamis_filter *const set = shared->set;
    const tamis_allocator *const allocator = &shared->allocator;
    const uint64_t stash = lines_region_stash(shared);
    const uint64_t words = TAMIS_I_STATE_WORDS + tamis_i_stash_words(stash);
    shared->bodies_size = (size_t)(shared->n * words) * sizeof(uint64_t);
    shared->bodies = tamis_i_alloc_zeroed(allocator, shared->bodies_size);
    if (shared->bodies == NULL)
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
        region->state = shared->bodies + i * words;
        tamis_i_stash_attach(&region->stash, region->state + TAMIS_I_STATE_WORDS,
                             region->state + TAMIS_I_STASH_USED, stash);
        tamis_i_filter_attach(region);
        shared->gates[i].is.filter = region;
    }
    shared->lines = set->n_table / TAMIS_LINE_WORDS;
    shared->alone = set->kind->line_alone;
    const tamis_status status = tamis_i_lines_unpack(shared, set);
    if (status != TAMIS_OK) { /* which cannot be: each stash has room for all entries */
        tamis_i_lines_end(shared);
        return status;
    }
    const uint64_t own = TAMIS_I_STATE_WORDS + tamis_i_stash_words(set->params.stash);
    memset(set->state, 0, (size_t)own * sizeof(uint64_t));
    return TAMIS_OK;
}

void tamis_i_lines_end(tamis_shared *shared) {
    for (unsigned i = 0; i < shared->n; i++)
        tamis_filter_free(shared->gates[i].is.filter);
    tamis_i_free(&shared->allocator, shared->bodies, shared->bodies_size);
}

/* ---- one key ---- */

/* With the lock, and the stash. */
bool tamis_i_lines_contains_locked(tamis_i_gate *gate, tamis_digest digest) {
    const tamis_filter *const region = gate->is.filter;
    tamis_i_lock_read(&gate->is.lock);
    const bool present = region->kind->contains(region, digest);
    tamis_i_unlock_read(&gate->is.lock);
    return present;
}

/* A copy of a line.  Engines may read up to 7 bytes before a line, whatever they are. */
typedef struct line_copy {
    _Alignas(TAMIS_LINE_BYTES) uint64_t words[2 * TAMIS_LINE_WORDS];
} line_copy;

static inline uint64_t *lines_copy(line_copy *room) {
    room->words[TAMIS_LINE_WORDS - 1] = 0;
    return room->words + TAMIS_LINE_WORDS;
}

bool tamis_i_lines_contains(const tamis_shared *shared, tamis_digest digest) {
    line_copy room;
    uint64_t *const copy = lines_copy(&room);
    const uint64_t line = tamis_i_lines_number(shared, digest);
    tamis_i_gate *const gate = tamis_i_gate_at(shared, (unsigned)(line >> shared->shift));
    const unsigned seen = tamis_i_lines_first_look(gate);
    tamis_i_line_copy(tamis_i_lines_at(shared, line), copy);
    if (TAMIS_UNLIKELY(!tamis_i_lines_whole(gate, seen)))
        return tamis_i_lines_contains_locked(gate, digest);
    return shared->alone->has(shared->set, digest, copy);
}

/* Stores of words that follow the first step are of the kind that it stays before. */
void tamis_i_lines_open(tamis_i_gate *gate) {
    const unsigned sequence = atomic_load_explicit(&gate->is.sequence, memory_order_relaxed);
    atomic_store_explicit(&gate->is.sequence, sequence | TAMIS_I_SEQUENCE_WRITING,
                          memory_order_relaxed);
}

/* The new number also tells whether there are keys in the stash. */
void tamis_i_lines_close(tamis_i_gate *gate) {
    const unsigned flags = TAMIS_I_SEQUENCE_WRITING | TAMIS_I_SEQUENCE_ELSEWHERE;
    const unsigned sequence = atomic_load_explicit(&gate->is.sequence, memory_order_relaxed);
    const bool stash = gate->is.filter->state[TAMIS_I_STASH_USED] != 0;
    atomic_store_explicit(&gate->is.sequence,
                          (sequence & ~flags) + TAMIS_I_SEQUENCE_STEP +
                              (stash ? TAMIS_I_SEQUENCE_ELSEWHERE : 0u),
                          memory_order_release);
}

/* Write a line back. */
static inline void lines_put(tamis_i_gate *gate, uint64_t *at, const uint64_t *copy) {
    tamis_i_lines_open(gate);
    tamis_i_lines_write(at, copy);
    tamis_i_lines_close(gate);
}

tamis_status tamis_i_lines_insert(const tamis_shared *shared, tamis_i_gate *gate,
                                  tamis_digest digest, bool *added) {
    line_copy room;
    uint64_t *const copy = lines_copy(&room);
    uint64_t *const at = tamis_i_lines_at(shared, tamis_i_lines_number(shared, digest));
    tamis_i_lines_take(at, copy);
    const tamis_status status = shared->alone->insert(gate->is.filter, digest, copy, added);
    if (status == TAMIS_OK)
        lines_put(gate, at, copy);
    return status;
}

tamis_status tamis_i_lines_remove(const tamis_shared *shared, tamis_i_gate *gate,
                                  tamis_digest digest) {
    line_copy room;
    uint64_t *const copy = lines_copy(&room);
    uint64_t *const at = tamis_i_lines_at(shared, tamis_i_lines_number(shared, digest));
    tamis_i_lines_take(at, copy);
    const tamis_status status = shared->alone->remove(gate->is.filter, digest, copy);
    if (status == TAMIS_OK)
        lines_put(gate, at, copy);
    return status;
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

uint64_t tamis_i_lines_stash(const tamis_shared *shared) {
    uint64_t used = 0;
    for (unsigned i = 0; i < shared->n; i++)
        used += tamis_i_gate_at(shared, i)->is.filter->state[TAMIS_I_STASH_USED];
    const uint64_t room = shared->set->params.stash;
    return used > room ? used : room;
}

static tamis_status lines_add_stash(tamis_i_stash *to, const tamis_i_stash *from) {
    tamis_digest digest;
    uint64_t at = 0, copies;
    tamis_status status = TAMIS_OK;
    while (status == TAMIS_OK && tamis_i_stash_next(from, &at, &digest, &copies))
        status = tamis_i_stash_add(to, digest, (unsigned)copies);
    return status;
}

/* Collect what is beside the table. */
static tamis_status lines_collect(const tamis_shared *shared, tamis_filter *to) {
    const uint64_t own = to->n_body - to->n_table;
    memset(to->state, 0, (size_t)own * sizeof(uint64_t));
    tamis_status status = TAMIS_OK;
    for (unsigned i = 0; status == TAMIS_OK && i < shared->n; i++)
        status = lines_add_stash(&to->stash, &tamis_i_gate_at(shared, i)->is.filter->stash);
    uint64_t state[TAMIS_I_STATE_WORDS];
    lines_add_states(shared, state);
    for (unsigned j = 0; j < TAMIS_I_STATE_WORDS; j++)
        if (j != TAMIS_I_STASH_USED)
            to->state[j] = state[j];
    return status;
}

tamis_status tamis_i_lines_pack(const tamis_shared *shared, tamis_filter *to) {
    memcpy(to->table, shared->set->table, (size_t)to->n_table * sizeof(uint64_t));
    to->key_form = shared->set->key_form;
    return lines_collect(shared, to);
}

bool tamis_i_lines_settle(tamis_shared *shared) {
    return tamis_i_lines_stash(shared) <= shared->set->params.stash &&
           lines_collect(shared, shared->set) == TAMIS_OK;
}

/* Is there room for the entries of a stash in those of the regions? */
static bool lines_stashes_fit(const tamis_shared *shared, const tamis_i_stash *from) {
    uint64_t entries[REGIONS_MAX] = {0}, at = 0, copies;
    tamis_digest digest;
    while (tamis_i_stash_next(from, &at, &digest, &copies)) {
        const unsigned number = tamis_i_shared_number(shared, digest);
        if (++entries[number] > tamis_i_gate_at(shared, number)->is.filter->stash.capacity)
            return false;
    }
    return true;
}

/* Give the regions the state and the stash of 'from', or nothing.  The first has the counts of all; those of
 * others may go below 0, and the sum is right. */
static tamis_status lines_unpack_states(tamis_shared *shared, const tamis_filter *from) {
    for (unsigned i = 0; i < shared->n; i++) {
        tamis_filter *const region = tamis_i_gate_at(shared, i)->is.filter;
        const uint64_t words = TAMIS_I_STATE_WORDS + tamis_i_stash_words(region->stash.capacity);
        memset(region->state, 0, (size_t)words * sizeof(uint64_t));
    }
    if (from == NULL)
        return TAMIS_OK;
    tamis_digest digest;
    tamis_status status = TAMIS_OK;
    uint64_t at = 0, copies;
    while (status == TAMIS_OK && tamis_i_stash_next(&from->stash, &at, &digest, &copies))
        status = tamis_i_stash_add(&tamis_i_gate_of(shared, digest)->is.filter->stash, digest,
                                   (unsigned)copies);
    uint64_t *const state = tamis_i_gate_at(shared, 0)->is.filter->state;
    for (unsigned j = 0; j < TAMIS_I_STATE_WORDS; j++)
        state[j] = j == TAMIS_I_STASH_USED ? state[j] : from->state[j];
    return status;
}

/* The sequences are odd all the time: to readers, who then wait for the locks, it is one change. */
tamis_status tamis_i_lines_unpack(tamis_shared *shared, const tamis_filter *from) {
    static const uint64_t empty[TAMIS_LINE_WORDS] = {0};
    if (from != NULL && !lines_stashes_fit(shared, &from->stash))
        return TAMIS_E_FULL;
    for (unsigned i = 0; i < shared->n; i++)
        tamis_i_lines_open(tamis_i_gate_at(shared, i));
    const tamis_status status = lines_unpack_states(shared, from);
    const uint64_t lines = shared->set->n_table / TAMIS_LINE_WORDS;
    if (from != shared->set)
        for (uint64_t line = 0; line < lines; line++)
            tamis_i_lines_write(tamis_i_lines_at(shared, line),
                                from == NULL ? empty : from->table + TAMIS_LINE_WORDS * line);
    for (unsigned i = 0; i < shared->n; i++)
        tamis_i_lines_close(tamis_i_gate_at(shared, i));
    return status;
}
