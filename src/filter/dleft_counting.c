/* dleft_counting.c - d-left counting filter (dlCBF)
 *
 * A multiset in less than half the space of a counting Bloom filter.  A key is reduced to a
 * fingerprint f, which has one bucket and one remainder in each of d subtables (bits/choices.h).
 * It is stored once, in the least loaded of the d buckets, the leftmost on a tie, as a cell of
 * remainder and counter (bits/counting_bucket.h).  A key with the same f raises the counter.
 *
 * What may stand where.  m(x) is the number of copies of key x that are in the filter, S(x) how many of
 * them are in the stash, which keeps whole digests, and T(f) the sum of the counters of all cells of
 * fingerprint f.  After every call
 *
 *   D1  S(x) <= m(x) for every key x;
 *   D2  T(f) is the sum of m(x) - S(x) over the keys x with fingerprint f.
 *
 * The paper's claim: removal is never ambiguous.  A cell in one of the d buckets of x that holds the
 * remainder of x there stands for an f' with P_i(f') = P_i(f); P_i is a permutation, so f' = f.  So the
 * cells that match x are exactly those of f, whichever key of f wrote them: by D2 they hold the
 * copies of x that are not in the stash, and others of the same f, which nothing can tell from x.
 * Which of these cells is lowered makes no difference to any answer, now or later, since answers
 * depend on T(f) only. (With d independent hashes instead of permutations a cell of another
 * fingerprint may match, and lowering it loses a key.)
 *
 *   query   T(f) + S(x) > 0.  If m(x) > 0, then either S(x) > 0, or T(f) >= m(x) > 0 by D2 and D1.
 *   copies  T(f) + S(x), which for the same reason is at least m(x).
 *   insert  raises T(f), or else S(x), by one: D1 and D2 hold again.
 *   remove  lowers S(x) if it is not 0, else T(f).  If m(x) > 0 and S(x) = 0 then T(f) > 0, so there is
 *           something to lower, and D1 holds for x and for all others of its f.
 *
 * Insert, in this order: a cell of f whose counter is not at its largest is raised; else a new cell is
 * used in the least loaded bucket; else, all buckets being full, an element of one of them is moved to
 * another of its choices, by a chain of moves if need be; else the key goes to the stash; else the
 * filter is full.  A key with very many copies must not fill its buckets all alone: from HEAVY
 * cells of one f on three quarters of the stash, where a copy costs nothing, comes before a new cell.
 *
 * After Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese, "An Improved Construction for Counting
 * Bloom Filters", ESA 2006.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/counting_bucket.h"
#include "filter/choices.h"

#include <math.h>

#define SUBTABLES_MAX TAMIS_I_SUBTABLES_MAX
#define HEAVY         4u

/* What geometry[] holds; words, all of it. */
typedef struct layout {
    tamis_i_choices_way way;
    tamis_i_counting_layout in;
} layout;

_Static_assert(sizeof(layout) <= TAMIS_I_GEOMETRY * sizeof(uint64_t), "geometry[] is too small");

static inline const layout *counting_layout_of(const tamis_filter *filter) {
    return (const layout *)(const void *)filter->geometry;
}

static void counting_set_default(uint64_t *value, uint64_t is) {
    *value = *value == 0 ? is : *value;
}

static uint64_t counting_bucket_bits(const tamis_params *params) {
    return tamis_i_counting_bits(params->value[TAMIS_DLEFT_COUNTING_CELLS],
                                 params->value[TAMIS_DLEFT_COUNTING_COUNTER_BITS],
                                 params->value[TAMIS_DLEFT_COUNTING_REMAINDER_BITS]);
}

static tamis_status counting_shape(tamis_params *params, uint64_t *n_table) {
    uint64_t *const v = params->value;
    counting_set_default(&v[TAMIS_DLEFT_COUNTING_SUBTABLES], 4);
    counting_set_default(&v[TAMIS_DLEFT_COUNTING_CELLS], 8);
    counting_set_default(&v[TAMIS_DLEFT_COUNTING_REMAINDER_BITS], 14);
    counting_set_default(&v[TAMIS_DLEFT_COUNTING_COUNTER_BITS], 2);
    counting_set_default(&v[TAMIS_DLEFT_COUNTING_MOVES], 3);
    counting_set_default(&params->stash, 16 + params->capacity / 16384);
    if (v[TAMIS_DLEFT_COUNTING_SUBTABLES] > SUBTABLES_MAX || v[TAMIS_DLEFT_COUNTING_CELLS] < 2 ||
        !tamis_i_counting_ok(v[TAMIS_DLEFT_COUNTING_CELLS], v[TAMIS_DLEFT_COUNTING_COUNTER_BITS],
                             v[TAMIS_DLEFT_COUNTING_REMAINDER_BITS]) ||
        (v[TAMIS_DLEFT_COUNTING_MOVES] > TAMIS_I_MOVES_MAX &&
         v[TAMIS_DLEFT_COUNTING_MOVES] != TAMIS_NONE))
        return TAMIS_E_ARGUMENT;
    const uint64_t keys = 3 * v[TAMIS_DLEFT_COUNTING_SUBTABLES] * v[TAMIS_DLEFT_COUNTING_CELLS];
    counting_set_default(&v[TAMIS_DLEFT_COUNTING_BUCKETS],
                         (4 * params->capacity + keys - 1) / keys);
    return tamis_i_choices_shape(v[TAMIS_DLEFT_COUNTING_SUBTABLES], v[TAMIS_DLEFT_COUNTING_BUCKETS],
                                 v[TAMIS_DLEFT_COUNTING_REMAINDER_BITS],
                                 counting_bucket_bits(params), n_table);
}

static tamis_status counting_insert_any(tamis_filter *filter, tamis_digest digest, bool *added);

static void counting_attach(tamis_filter *filter) {
    const uint64_t *const v = filter->params.value;
    layout l;
    tamis_i_counting_init(&l.in.cells, v[TAMIS_DLEFT_COUNTING_CELLS],
                          v[TAMIS_DLEFT_COUNTING_COUNTER_BITS],
                          v[TAMIS_DLEFT_COUNTING_REMAINDER_BITS]);
    tamis_i_choices_init(&l.in.choices, filter->hasher.keys.salt, v[TAMIS_DLEFT_COUNTING_SUBTABLES],
                         v[TAMIS_DLEFT_COUNTING_BUCKETS], v[TAMIS_DLEFT_COUNTING_REMAINDER_BITS],
                         counting_bucket_bits(&filter->params));
    l.way = (tamis_i_choices_way){.ops = tamis_i_counting_bucket_ops_for(&l.in, filter->features),
                                  .layout = offsetof(layout, in),
                                  .insert_any = counting_insert_any};
    memcpy(filter->geometry, &l, sizeof l);
}

/* ---- the cells of a key ---- */

static inline uint64_t counting_load_at(const layout *l, const tamis_i_bucket *b) {
    const tamis_i_counting_bucket *const cells = &l->in.cells;
    return tamis_i_counting_load(
        cells, tamis_i_counting_used(cells, tamis_i_counting_counters(cells, b->line, b->at)));
}

static uint64_t counting_copies(const tamis_filter *filter, tamis_digest digest) {
    tamis_i_probe probe;
    return tamis_i_counting_look(&counting_layout_of(filter)->in, filter->table, digest, &probe)
               .copies +
           tamis_i_stash_copies(&filter->stash, digest);
}

/* ---- making room ---- */

static unsigned counting_list_remainders(const void *context, uint64_t number,
                                         uint64_t *remainders) {
    const tamis_filter *const filter = context;
    const layout *const l = counting_layout_of(filter);
    const tamis_i_bucket b = tamis_i_choices_bucket(&l->in.choices, filter->table, number);
    for (unsigned i = 0; i < l->in.cells.n; i++)
        remainders[i] = tamis_i_counting_remainder(&l->in.cells, b.line, b.at, i);
    return (unsigned)l->in.cells.n;
}

static bool counting_has_room(const void *context, uint64_t from, uint64_t remainder, uint64_t to) {
    const tamis_filter *const filter = context;
    const layout *const l = counting_layout_of(filter);
    const tamis_i_bucket b = tamis_i_choices_bucket(&l->in.choices, filter->table, to);
    (void)from, (void)remainder; /* any cell fits where one is free */
    return counting_load_at(l, &b) < l->in.cells.n;
}

/* One cell goes from a bucket to another.  T(f) does not change. */
static void counting_move_cell(const layout *l, tamis_filter *filter, const tamis_i_move *move) {
    const tamis_i_bucket from = tamis_i_choices_bucket(&l->in.choices, filter->table, move->from);
    const tamis_i_bucket to = tamis_i_choices_bucket(&l->in.choices, filter->table, move->to);
    const uint64_t counters = tamis_i_counting_counters(&l->in.cells, from.line, from.at);
    const unsigned hits = tamis_i_counting_match(&l->in.cells, from.line, from.at, move->remainder);
    TAMIS_ASSERT(hits != 0);
    const unsigned cell = (unsigned)__builtin_ctz(hits);
    tamis_i_counting_add(&l->in.cells, to.line, to.at, counting_load_at(l, &to), move->remainder,
                         tamis_i_counting_counter(&l->in.cells, counters, cell));
    tamis_i_counting_drop(&l->in.cells, from.line, from.at, cell, move->remainder);
}

/* Make room in one of the full buckets of a fingerprint. */
static bool counting_make_room(const layout *l, tamis_filter *filter, uint64_t fingerprint) {
    const uint64_t depth = filter->params.value[TAMIS_DLEFT_COUNTING_MOVES];
    const tamis_i_search search = {.context = filter,
                                   .choices = &l->in.choices,
                                   .stays = fingerprint,
                                   .list = counting_list_remainders,
                                   .fits = counting_has_room};
    tamis_i_move moves[TAMIS_I_MOVES_MAX];
    uint64_t roots[SUBTABLES_MAX];
    if (depth == TAMIS_NONE)
        return false;
    for (unsigned i = 0; i < l->in.choices.subtables; i++)
        roots[i] = tamis_i_choices_of(&l->in.choices, fingerprint, i);
    const unsigned n = tamis_i_choices_search(&search, roots, (unsigned)l->in.choices.subtables,
                                              (unsigned)depth, moves);
    for (unsigned i = 0; i < n; i++)
        counting_move_cell(l, filter, &moves[i]);
    return n != 0;
}

/* ---- changes ---- */

/* Any key, in any state of the table. */
static tamis_status counting_insert_any(tamis_filter *filter, tamis_digest digest, bool *added) {
    const tamis_i_counting_layout *const l = &counting_layout_of(filter)->in;
    tamis_i_probe probe;
    const tamis_i_counting_found cells = tamis_i_counting_look(l, filter->table, digest, &probe);
    const bool fresh = cells.n == 0 && tamis_i_stash_copies(&filter->stash, digest) == 0;
    if (cells.n != 0 && cells.count < tamis_i_counting_counter_max(&l->cells)) {
        tamis_i_counting_count(&l->cells, probe.at[cells.choice], probe.word[1 + cells.choice],
                               cells.cell, cells.count, cells.count + 1);
    } else if (cells.n >= HEAVY && tamis_i_stash_insert_spare(&filter->stash, digest) == TAMIS_OK) {
        /* done: the stash has it */
    } else if (!tamis_i_counting_use(l, &probe)) {
        if (counting_make_room(counting_layout_of(filter), filter,
                               tamis_i_choices_fingerprint(&l->choices, digest))) {
            const bool done = tamis_i_counting_use(l, &probe);
            TAMIS_ASSERT(done);
            (void)done;
        } else {
            const tamis_status status = tamis_i_stash_insert(&filter->stash, digest);
            if (status != TAMIS_OK)
                return status;
        }
    }
    filter->state[TAMIS_I_COUNT]++;
    *added = fresh;
    return TAMIS_OK;
}

/* ---- whole filters ---- */

/* Is this cell, with a full counter, one of several of its fingerprint, and not the one that counts?  At
 * most one cell of a fingerprint is not full, since only that one is raised and lowered: it counts, or, if
 * there is none, the first. */
static bool counting_is_further(const tamis_filter *filter, uint64_t number, unsigned cell) {
    const layout *const l = counting_layout_of(filter);
    const tamis_i_bucket own = tamis_i_choices_bucket(&l->in.choices, filter->table, number);
    const uint64_t remainder = tamis_i_counting_remainder(&l->in.cells, own.line, own.at, cell);
    const uint64_t fingerprint = tamis_i_choices_back(&l->in.choices, number, remainder);
    for (unsigned i = 0; i < l->in.choices.subtables; i++) {
        const uint64_t other = tamis_i_choices_of(&l->in.choices, fingerprint, i);
        const tamis_i_bucket b = tamis_i_choices_bucket(&l->in.choices, filter->table, other);
        const uint64_t counters = tamis_i_counting_counters(&l->in.cells, b.line, b.at);
        unsigned hits = tamis_i_counting_match(&l->in.cells, b.line, b.at, remainder);
        for (; hits != 0; hits &= hits - 1) {
            const unsigned j = (unsigned)__builtin_ctz(hits);
            if (other < number || (other == number && j < cell) ||
                tamis_i_counting_counter(&l->in.cells, counters, j) <
                    tamis_i_counting_counter_max(&l->in.cells))
                return true;
        }
    }
    return false;
}

/* A query for an absent key meets one of B 2^r fingerprints at random. */
static void counting_info(const tamis_filter *filter, tamis_i_slice slice, tamis_info *info) {
    const layout *const l = counting_layout_of(filter);
    const uint64_t most = tamis_i_counting_counter_max(&l->in.cells);
    const uint64_t buckets = l->in.choices.buckets, from = tamis_i_slice_from(slice, buckets);
    const uint64_t n_here = tamis_i_slice_end(slice, buckets) - from;
    uint64_t distinct = 0;
    info->n_loads = (size_t)l->in.cells.n + 1;
    for (uint64_t i = 0; i < l->in.choices.subtables * n_here; i++) {
        const uint64_t number = i / n_here * buckets + from + i % n_here;
        const tamis_i_bucket b = tamis_i_choices_bucket(&l->in.choices, filter->table, number);
        const uint64_t counters = tamis_i_counting_counters(&l->in.cells, b.line, b.at);
        const uint64_t load = counting_load_at(l, &b);
        info->load_histogram[load]++;
        distinct += load;
        for (unsigned cell = 0; cell < load; cell++)
            if (tamis_i_counting_counter(&l->in.cells, counters, cell) == most)
                distinct -= counting_is_further(filter, number, cell);
    }
    const double share = (double)n_here / (double)buckets;
    info->fpr = n_here == 0
                    ? NAN
                    : fmin((double)distinct / ((double)l->in.choices.fingerprints * share), 1);
}

static bool counting_check_lines(const tamis_filter *filter, uint64_t from, uint64_t end,
                                 const char **reason) {
    const layout *const l = counting_layout_of(filter);
    const uint64_t last = tamis_i_choices_first(&l->in.choices, end);
    for (uint64_t i = tamis_i_choices_first(&l->in.choices, from); i < last; i++) {
        const tamis_i_bucket b = tamis_i_choices_bucket(&l->in.choices, filter->table, i);
        if (!tamis_i_counting_check(&l->in.cells, b.line, b.at, reason))
            return false;
    }
    return true;
}

/* D2 summed over all f, and the invariants of the buckets. */
static bool counting_check(const tamis_filter *filter, const char **reason) {
    const layout *const l = counting_layout_of(filter);
    const uint64_t n_buckets = l->in.choices.subtables * l->in.choices.buckets;
    uint64_t keys = 0;
    for (uint64_t i = 0; i < n_buckets; i++) {
        const tamis_i_bucket b = tamis_i_choices_bucket(&l->in.choices, filter->table, i);
        if (!tamis_i_counting_check(&l->in.cells, b.line, b.at, reason))
            return false;
        const uint64_t counters = tamis_i_counting_counters(&l->in.cells, b.line, b.at);
        for (unsigned cell = 0; cell < l->in.cells.n; cell++)
            keys += tamis_i_counting_counter(&l->in.cells, counters, cell);
    }
    return tamis_i_choices_check(&l->in.choices, filter, keys, reason);
}

static unsigned counting_copies_max(const tamis_params *params) {
    return tamis_i_counter_copies(params->value[TAMIS_DLEFT_COUNTING_COUNTER_BITS]);
}

const tamis_i_kind tamis_i_dleft_counting = {
    .id = TAMIS_KIND_DLEFT_COUNTING,
    .scratch = TAMIS_I_SCRATCH_MAX,
    .name = "dleft-counting",
    .abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT,
    .counters = true,
    .params = {"subtables", "buckets", "cells", "remainder_bits", "counter_bits", "moves"},
    .shape = counting_shape,
    .attach = counting_attach,
    .insert = tamis_i_choices_insert,
    .contains = tamis_i_choices_contains,
    .remove = tamis_i_choices_remove,
    .copies = counting_copies,
    .prefetch = tamis_i_choices_prefetch,
    .touch = tamis_i_choices_touch,
    .check_lines = counting_check_lines,
    .contains_many = tamis_i_choices_contains_many,
    .insert_many = tamis_i_choices_insert_many,
    .remove_many = tamis_i_choices_remove_many,
    .info = counting_info,
    .check = counting_check,
    .copies_max = counting_copies_max};
