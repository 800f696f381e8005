/* lines_many.c - one table that threads share, line by line: groups of keys
 *
 * The lines of a group are copied before the structure works on it, and the group is told of the copies.
 * Only queries while nobody writes (shared/calm.h) read lines where they are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shared/lines.h"

/* ---- contains ---- */

typedef struct group_watch {
    tamis_i_watch watch; /* the first: the batch knows no more */
    const tamis_shared *shared;
    uint32_t torn; /* keys whose copies are not whole */
    _Alignas(TAMIS_LINE_BYTES) uint64_t copies[TAMIS_I_GROUP][TAMIS_LINE_WORDS];
} group_watch;

/* What is torn must not be looked at. */
TAMIS_APART void lines_hide_torn(group_watch *w) {
    for (size_t i = 0; i < TAMIS_I_GROUP; i++)
        if ((w->torn >> i & 1) != 0)
            memset(w->copies[i], 0, sizeof w->copies[i]);
}

static void lines_before_group(tamis_i_watch *watch, const tamis_i_group *group) {
    group_watch *const w = (group_watch *)(void *)watch;
    const tamis_shared *const shared = w->shared;
    const uint64_t *const table = shared->set->table;
    const unsigned shift = shared->shift;
    const size_t n = group->n;
    void (*const read)(const tamis_filter *, const uint64_t *, uint64_t *) = shared->alone->read;
    uint64_t *lines[TAMIS_I_GROUP];
    tamis_i_gate *gates[TAMIS_I_GROUP];
    unsigned seen[TAMIS_I_GROUP];
    shared->alone->places(group, lines, false);
    for (size_t i = 0; i < n; i++) {
        const uint64_t line = (uint64_t)(lines[i] - table) / TAMIS_LINE_WORDS;
        gates[i] = tamis_i_gate_at(shared, (unsigned)(line >> shift));
        seen[i] = tamis_i_lines_first_look(gates[i]);
        read(shared->set, lines[i], w->copies[i]);
        lines[i] = w->copies[i];
    }
    shared->alone->places(group, lines, true);
    w->torn = 0;
    for (size_t i = 0; i < n; i++)
        w->torn |= (uint32_t)!tamis_i_lines_whole(gates[i], seen[i]) << i;
    if (TAMIS_UNLIKELY(w->torn != 0))
        lines_hide_torn(w);
}

static void lines_after_group(tamis_i_watch *watch, const tamis_i_group *group, bool *present,
                              size_t n) {
    const group_watch *const w = (const group_watch *)(const void *)watch;
    if (TAMIS_LIKELY(w->torn == 0))
        return;
    for (size_t i = 0; i < n; i++)
        if ((w->torn >> i & 1) != 0)
            present[i] = tamis_i_lines_contains_locked(
                tamis_i_gate_of(w->shared, group->digests[i]), group->digests[i]);
}

/* A piece, with copies. */
static size_t lines_contains_piece(const tamis_shared *shared, tamis_i_keys_form form,
                                   const void *array, size_t n, bool *present) {
    group_watch w;
    w.watch = (tamis_i_watch){.before = lines_before_group, .after = lines_after_group};
    w.shared = shared;
    w.torn = 0;
    return tamis_i_batch_contains_watched(shared->set, form, array, n, present, &w.watch);
}

size_t tamis_i_lines_contains_many(const tamis_shared *shared, tamis_i_keys_form form,
                                   const void *array, size_t n, bool *present) {
    const size_t size = tamis_i_keys_size(form);
    size_t found = 0;
    for (size_t at = 0, m; at < n; at += m) {
        const void *const keys = (const unsigned char *)array + at * size;
        bool *const answers = present == NULL ? NULL : present + at;
        m = n - at < TAMIS_I_CALM_PIECE ? n - at : TAMIS_I_CALM_PIECE;
        tamis_i_calm_line *const slot = m < TAMIS_I_CALM_LEAST ? NULL : tamis_i_calm_enter(shared);
        if (slot != NULL) {
            found += tamis_i_batch_contains(shared->set, form, keys, m, answers);
            tamis_i_calm_leave(slot);
            continue;
        }
        found += lines_contains_piece(shared, form, keys, m, answers);
        if (m >= TAMIS_I_CALM_LEAST)
            tamis_i_calm_consider(shared);
    }
    return found;
}

/* ---- insert ---- */

/* Keys of one line get one copy of it, so that each sees what those before it have done. */
typedef struct insert_watch {
    tamis_i_watch watch;
    const tamis_shared *shared;
    const tamis_i_lines_runs *runs;
    tamis_filter *handle; /* what the batch works with: the state is that of the first run */
    unsigned first, last; /* the runs whose locks are held: first <= i < last */
    size_t at;            /* keys before the group */
    size_t n;             /* different lines */
    uint64_t *lines[TAMIS_I_GROUP];
    _Alignas(TAMIS_LINE_BYTES) uint64_t copies[TAMIS_I_GROUP][TAMIS_LINE_WORDS];
} insert_watch;

static inline tamis_i_gate *lines_gate_of_run(const insert_watch *w, unsigned run) {
    return tamis_i_gate_at(w->shared, w->runs->region[run]);
}

/* Leave the runs before key 'end'. */
static inline void lines_leave_runs(insert_watch *w, size_t end) {
    while (w->first < w->last && w->runs->begin[w->first + 1] <= end)
        tamis_i_gate_leave(lines_gate_of_run(w, w->first++));
}

static inline void lines_enter_runs(insert_watch *w, size_t end) {
    for (; w->last < w->runs->n && w->runs->begin[w->last] < end; w->last++)
        tamis_i_gate_enter(w->shared, lines_gate_of_run(w, w->last));
}

/* The copy of a line: one that there is, or a new one.  'bits' are those of the lines that have one, by the
 * last bits of their numbers. */
TAMIS_INLINE uint64_t *lines_copy_of(insert_watch *w, uint64_t *line, uint64_t *bits) {
    const uint64_t bit = (uint64_t)1 << (uintptr_t)line / TAMIS_LINE_BYTES % 64;
    if (TAMIS_UNLIKELY((*bits & bit) != 0)) {
        for (size_t i = 0; i < w->n; i++)
            if (w->lines[i] == line)
                return w->copies[i];
    }
    *bits |= bit;
    const size_t number = w->n++;
    w->lines[number] = line;
    tamis_i_lines_take(line, w->copies[number]);
    return w->copies[number];
}

/* A group over a border is worked off with the state of its first region. */
static void lines_before_insert(tamis_i_watch *watch, const tamis_i_group *group) {
    insert_watch *const w = (insert_watch *)(void *)watch;
    lines_enter_runs(w, w->at + group->n);
    w->handle->state = lines_gate_of_run(w, w->first)->is.filter->state;
    uint64_t *lines[TAMIS_I_GROUP], bits = 0;
    w->n = 0;
    w->shared->alone->places(group, lines, false);
    for (size_t i = 0; i < group->n; i++)
        lines[i] = lines_copy_of(w, lines[i], &bits);
    w->shared->alone->places(group, lines, true);
}

/* All keys of a group over a border were counted in its first region. */
static inline void lines_sort_counts(insert_watch *w, const bool *added, size_t n) {
    uint64_t *const own = w->handle->state;
    for (unsigned run = w->first + 1; run < w->last; run++) {
        const size_t from = w->runs->begin[run] - w->at;
        const size_t to = w->runs->begin[run + 1] - w->at < n ? w->runs->begin[run + 1] - w->at : n;
        uint64_t keys = 0;
        for (size_t i = from; i < to; i++)
            keys += added[i];
        own[TAMIS_I_COUNT] -= keys;
        lines_gate_of_run(w, run)->is.filter->state[TAMIS_I_COUNT] += keys;
    }
}

static void lines_after_insert(tamis_i_watch *watch, const tamis_i_group *group, bool *added,
                               size_t n) {
    insert_watch *const w = (insert_watch *)(void *)watch;
    (void)group;
    if (w->last - w->first > 1)
        lines_sort_counts(w, added, n);
    for (unsigned run = w->first; run < w->last; run++)
        tamis_i_lines_open(lines_gate_of_run(w, run));
    for (size_t i = 0; i < w->n; i++)
        tamis_i_lines_write(w->lines[i], w->copies[i]);
    for (unsigned run = w->first; run < w->last; run++)
        tamis_i_lines_close(lines_gate_of_run(w, run));
    w->at += n;
    lines_leave_runs(w, w->at);
}

void tamis_i_lines_fill(tamis_shared *shared, unsigned first, const tamis_digest *digests,
                        size_t n) {
    tamis_filter handle = *shared->set;
    handle.state = tamis_i_gate_at(shared, first)->is.filter->state;
    (void)!tamis_i_batch_insert(&handle, TAMIS_I_KEYS_DIGESTS, digests, n, NULL, NULL);
}

void tamis_i_lines_insert_many(const tamis_shared *shared, const tamis_i_lines_runs *runs,
                               bool *added) {
    tamis_filter handle = *shared->set;
    uint64_t nothing[TAMIS_I_STATE_WORDS] = {0}; /* the state of no key, until there are locks */
    insert_watch w;
    w.watch = (tamis_i_watch){.before = lines_before_insert, .after = lines_after_insert};
    w.shared = shared, w.runs = runs, w.handle = &handle;
    w.first = w.last = 0;
    w.at = runs->begin[0];
    handle.state = nothing;
    (void)!tamis_i_batch_insert_watched(&handle, TAMIS_I_KEYS_DIGESTS, runs->digests + w.at,
                                        runs->begin[runs->n] - w.at, added + w.at, NULL, &w.watch);
}
