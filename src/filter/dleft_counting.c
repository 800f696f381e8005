/* dleft_counting.c - d-left counting filter (dlCBF)
 *
 * A multiset in less than half the space of a counting Bloom filter.  A key is reduced to a
 * fingerprint f, which has one bucket and one remainder in each of d subtables (filter/choices.h).
 * It is stored once, in the least loaded of the d buckets, the leftmost on a tie, as a cell of
 * remainder and counter (bits/cells.h).  A key with the same f raises the counter.
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
#include "bits/cells.h"
#include "filter/choices.h"

#define SUBTABLES_MAX TAMIS_I_SUBTABLES_MAX
#define HEAVY         4u

/* What geometry[] holds; words, all of it. */
typedef struct layout {
    tamis_i_choices choices;
    tamis_i_cells cells;
} layout;

_Static_assert(sizeof(layout) <= TAMIS_I_GEOMETRY * sizeof(uint64_t), "geometry[] is too small");

static inline const layout *layout_of(const tamis_filter *filter) {
    return (const layout *)(const void *)filter->geometry;
}

static void set_default(uint64_t *value, uint64_t is) {
    *value = *value == 0 ? is : *value;
}

static uint64_t bucket_bits(const tamis_params *params) {
    return tamis_i_cells_bits(params->value[TAMIS_DLCBF_CELLS],
                              params->value[TAMIS_DLCBF_COUNTER_BITS],
                              params->value[TAMIS_DLCBF_REMAINDER_BITS]);
}

static tamis_status shape(tamis_params *params, uint64_t *n_table) {
    uint64_t *const v = params->value;
    set_default(&v[TAMIS_DLCBF_SUBTABLES], 4);
    set_default(&v[TAMIS_DLCBF_CELLS], 8);
    set_default(&v[TAMIS_DLCBF_REMAINDER_BITS], 14);
    set_default(&v[TAMIS_DLCBF_COUNTER_BITS], 2);
    set_default(&v[TAMIS_DLCBF_MOVES], 3);
    set_default(&params->stash, 16 + params->capacity / 16384);
    if (v[TAMIS_DLCBF_SUBTABLES] > SUBTABLES_MAX || v[TAMIS_DLCBF_CELLS] < 2 ||
        !tamis_i_cells_ok(v[TAMIS_DLCBF_CELLS], v[TAMIS_DLCBF_COUNTER_BITS],
                          v[TAMIS_DLCBF_REMAINDER_BITS]) ||
        (v[TAMIS_DLCBF_MOVES] > TAMIS_I_MOVES_MAX && v[TAMIS_DLCBF_MOVES] != TAMIS_NONE))
        return TAMIS_E_ARGUMENT;
    const uint64_t keys = 3 * v[TAMIS_DLCBF_SUBTABLES] * v[TAMIS_DLCBF_CELLS];
    set_default(&v[TAMIS_DLCBF_BUCKETS], (4 * params->capacity + keys - 1) / keys);
    return tamis_i_choices_shape(v[TAMIS_DLCBF_SUBTABLES], v[TAMIS_DLCBF_BUCKETS],
                                 v[TAMIS_DLCBF_REMAINDER_BITS], bucket_bits(params), n_table);
}

static void attach(tamis_filter *filter) {
    const uint64_t *const v = filter->params.value;
    layout l;
    tamis_i_cells_init(&l.cells, v[TAMIS_DLCBF_CELLS], v[TAMIS_DLCBF_COUNTER_BITS],
                       v[TAMIS_DLCBF_REMAINDER_BITS]);
    tamis_i_choices_init(&l.choices, filter->params.seed, v[TAMIS_DLCBF_SUBTABLES],
                         v[TAMIS_DLCBF_BUCKETS], v[TAMIS_DLCBF_REMAINDER_BITS],
                         bucket_bits(&filter->params));
    memcpy(filter->geometry, &l, sizeof l);
}

/* ---- the cells of a key ---- */

static inline uint64_t used_at(const layout *l, const uint64_t *line, unsigned at) {
    return tamis_i_cells_used(&l->cells, tamis_i_cells_counters(&l->cells, line, at));
}

static inline uint64_t load_at(const layout *l, const uint64_t *line, unsigned at) {
    return tamis_i_cells_load(&l->cells, used_at(l, line, at));
}

static inline unsigned bit_of(const tamis_i_probe *probe, unsigned i) {
    return (unsigned)probe->word[1 + i];
}

TAMIS_INLINE void locate(const layout *l, unsigned d, const tamis_filter *filter,
                         tamis_digest digest, tamis_i_probe *probe) {
    tamis_i_choices_locate(&l->choices, d, filter->table, digest, probe);
    probe->word[TAMIS_I_HEAD] = tamis_i_cells_head(&l->cells, probe->word[0]);
}

/* The cells of a fingerprint, in all its buckets. */
typedef struct cells_of {
    uint64_t copies; /* sum of the counters */
    unsigned n;
    /* The cell to be raised or lowered: the last one whose counter is not at its largest, else any. */
    unsigned choice, cell;
    uint64_t count;
} cells_of;

/* 'hits' are the cells whose heads agree, 16 for each bucket. */
TAMIS_INLINE cells_of find_cells(const layout *l, const tamis_i_probe *probe, uint64_t hits) {
    cells_of found = {0};
    const uint64_t most = tamis_i_cells_counter_max(&l->cells);
    for (; hits != 0; hits &= hits - 1) {
        const unsigned bit = (unsigned)__builtin_ctzll(hits), i = bit / 16, cell = bit % 16;
        const uint64_t count =
            tamis_i_cells_confirm(&l->cells, probe->at[i], bit_of(probe, i), cell, probe->word[0]);
        if (count == 0)
            continue;
        if (found.n == 0 || count < most) {
            found.choice = i;
            found.cell = cell;
            found.count = count;
        }
        found.copies += count;
        found.n++;
    }
    return found;
}

/* ---- queries ---- */

/* The first hit is looked at even if there is none, since whether there is one cannot be foreseen. */
TAMIS_INLINE bool contains_at(const tamis_filter *filter, tamis_digest digest,
                              const tamis_i_probe *probe, uint64_t hits) {
    const layout *const l = layout_of(filter);
    unsigned bit = (unsigned)__builtin_ctzll(hits + (hits == 0));
    bool found =
        (hits != 0) & tamis_i_cells_holds(&l->cells, probe->at[bit / 16], bit_of(probe, bit / 16),
                                          bit % 16, probe->word[0]);
    for (hits &= hits - 1; TAMIS_UNLIKELY(hits != 0); hits &= hits - 1) {
        bit = (unsigned)__builtin_ctzll(hits);
        found |= tamis_i_cells_holds(&l->cells, probe->at[bit / 16], bit_of(probe, bit / 16),
                                     bit % 16, probe->word[0]);
    }
    if (filter->state[TAMIS_I_STASH_USED] != 0)
        found |= tamis_i_stash_copies(&filter->stash, digest) != 0;
    return found;
}

static uint64_t copies(const tamis_filter *filter, tamis_digest digest) {
    const layout *const l = layout_of(filter);
    tamis_i_probe probe;
    locate(l, (unsigned)l->choices.subtables, filter, digest, &probe);
    const uint64_t hits =
        tamis_i_heads_find(&l->cells.heads, &probe, (unsigned)l->choices.subtables);
    return find_cells(l, &probe, hits).copies + tamis_i_stash_copies(&filter->stash, digest);
}

/* ---- making room ---- */

static unsigned list_remainders(const tamis_filter *filter, uint64_t number, uint64_t *remainders) {
    const layout *const l = layout_of(filter);
    const tamis_i_bucket b = tamis_i_choices_bucket(&l->choices, filter->table, number);
    for (unsigned i = 0; i < l->cells.n; i++)
        remainders[i] = tamis_i_cells_remainder(&l->cells, b.line, b.at, i);
    return (unsigned)l->cells.n;
}

static bool has_room(const tamis_filter *filter, uint64_t from, uint64_t remainder, uint64_t to) {
    const layout *const l = layout_of(filter);
    const tamis_i_bucket b = tamis_i_choices_bucket(&l->choices, filter->table, to);
    (void)from, (void)remainder; /* any cell fits where one is free */
    return load_at(l, b.line, b.at) < l->cells.n;
}

/* One cell goes from a bucket to another.  T(f) does not change. */
static void move_cell(const layout *l, tamis_filter *filter, const tamis_i_move *move) {
    const tamis_i_bucket from = tamis_i_choices_bucket(&l->choices, filter->table, move->from);
    const tamis_i_bucket to = tamis_i_choices_bucket(&l->choices, filter->table, move->to);
    const uint64_t counters = tamis_i_cells_counters(&l->cells, from.line, from.at);
    const unsigned hits = tamis_i_cells_match(&l->cells, from.line, from.at, move->remainder);
    TAMIS_ASSERT(hits != 0);
    const unsigned cell = (unsigned)__builtin_ctz(hits);
    tamis_i_cells_add(&l->cells, to.line, to.at, load_at(l, to.line, to.at), move->remainder,
                      tamis_i_cells_counter(&l->cells, counters, cell));
    tamis_i_cells_drop(&l->cells, from.line, from.at, cell, move->remainder);
}

/* Make room in one of the full buckets of a fingerprint. */
static bool make_room(const layout *l, tamis_filter *filter, uint64_t print) {
    const uint64_t depth = filter->params.value[TAMIS_DLCBF_MOVES];
    const tamis_i_search search = {.filter = filter,
                                   .choices = &l->choices,
                                   .stays = print,
                                   .list = list_remainders,
                                   .fits = has_room};
    tamis_i_move moves[TAMIS_I_MOVES_MAX];
    uint64_t roots[SUBTABLES_MAX];
    if (depth == TAMIS_NONE)
        return false;
    for (unsigned i = 0; i < l->choices.subtables; i++)
        roots[i] = tamis_i_choices_of(&l->choices, print, i);
    const unsigned n = tamis_i_choices_search(&search, roots, (unsigned)l->choices.subtables,
                                              (unsigned)depth, moves);
    for (unsigned i = 0; i < n; i++)
        move_cell(l, filter, &moves[i]);
    return n != 0;
}

/* Use a new cell, if there is one in the key's buckets. */
TAMIS_INLINE bool add_cell(const layout *l, unsigned d, const tamis_i_probe *probe) {
    unsigned best = 0;
    uint64_t least = used_at(l, probe->at[0], bit_of(probe, 0));
    for (unsigned i = 1; i < d; i++) {
        const uint64_t used = used_at(l, probe->at[i], bit_of(probe, i));
        best = used < least ? i : best;
        least = used < least ? used : least;
    }
    if (least == l->cells.counter_tops)
        return false;
    tamis_i_cells_add(&l->cells, probe->at[best], bit_of(probe, best),
                      tamis_i_cells_load(&l->cells, least), probe->word[0], 1);
    return true;
}

/* ---- changes ---- */

/* Any key, in any state of the table. */
static tamis_status insert_seen(tamis_filter *filter, tamis_digest digest,
                                const tamis_i_probe *probe, uint64_t hits, bool *added) {
    const layout *const l = layout_of(filter);
    const unsigned d = (unsigned)l->choices.subtables;
    const cells_of cells = find_cells(l, probe, hits);
    const bool fresh = cells.n == 0 && tamis_i_stash_copies(&filter->stash, digest) == 0;
    if (cells.n != 0 && cells.count < tamis_i_cells_counter_max(&l->cells)) {
        tamis_i_cells_count(&l->cells, probe->at[cells.choice], bit_of(probe, cells.choice),
                            cells.cell, cells.count, cells.count + 1);
    } else if (cells.n >= HEAVY && tamis_i_stash_insert_spare(&filter->stash, digest) == TAMIS_OK) {
        /* done: the stash has it */
    } else if (!add_cell(l, d, probe)) {
        if (make_room(l, filter, tamis_i_choices_print(&l->choices, digest))) {
            const bool done = add_cell(l, d, probe);
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

/* Most keys are new, and there is room for them. */
TAMIS_INLINE tamis_status insert_at(tamis_filter *filter, unsigned d, tamis_digest digest,
                                    const tamis_i_probe *probe, uint64_t hits, bool *added) {
    const layout *const l = layout_of(filter);
    if (hits != 0 || filter->state[TAMIS_I_STASH_USED] != 0 || !add_cell(l, d, probe))
        return insert_seen(filter, digest, probe, hits, added);
    filter->state[TAMIS_I_COUNT]++;
    *added = true;
    return TAMIS_OK;
}

TAMIS_INLINE tamis_status remove_at(tamis_filter *filter, tamis_digest digest,
                                    const tamis_i_probe *probe, uint64_t hits) {
    if (filter->state[TAMIS_I_STASH_USED] == 0 || !tamis_i_stash_remove(&filter->stash, digest)) {
        const layout *const l = layout_of(filter);
        const cells_of cells = find_cells(l, probe, hits);
        if (cells.n == 0)
            return TAMIS_E_NOT_FOUND;
        uint64_t *const words = probe->at[cells.choice];
        const unsigned at = bit_of(probe, cells.choice);
        if (cells.count > 1)
            tamis_i_cells_count(&l->cells, words, at, cells.cell, cells.count, cells.count - 1);
        else
            tamis_i_cells_drop(&l->cells, words, at, cells.cell, probe->word[0]);
    }
    filter->state[TAMIS_I_COUNT]--;
    return TAMIS_OK;
}

/* ---- one by one, and batches ---- */

static const tamis_i_heads *heads_of(const layout *l) {
    return &l->cells.heads;
}

#include "filter/choices_batch.h"

/* ---- whole filters ---- */

/* Is this cell, with a full counter, one of several of its fingerprint, and not the one that counts?  At
 * most one cell of a fingerprint is not full, since only that one is raised and lowered: it counts, or, if
 * there is none, the first. */
static bool is_further(const tamis_filter *filter, uint64_t number, unsigned cell) {
    const layout *const l = layout_of(filter);
    const tamis_i_bucket own = tamis_i_choices_bucket(&l->choices, filter->table, number);
    const uint64_t remainder = tamis_i_cells_remainder(&l->cells, own.line, own.at, cell);
    const uint64_t print = tamis_i_choices_back(&l->choices, number, remainder);
    for (unsigned i = 0; i < l->choices.subtables; i++) {
        const uint64_t other = tamis_i_choices_of(&l->choices, print, i);
        const tamis_i_bucket b = tamis_i_choices_bucket(&l->choices, filter->table, other);
        const uint64_t counters = tamis_i_cells_counters(&l->cells, b.line, b.at);
        unsigned hits = tamis_i_cells_match(&l->cells, b.line, b.at, remainder);
        for (; hits != 0; hits &= hits - 1) {
            const unsigned j = (unsigned)__builtin_ctz(hits);
            if (other < number || (other == number && j < cell) ||
                tamis_i_cells_counter(&l->cells, counters, j) <
                    tamis_i_cells_counter_max(&l->cells))
                return true;
        }
    }
    return false;
}

/* A query for an absent key meets one of B 2^r fingerprints at random. */
static void info(const tamis_filter *filter, tamis_info *info) {
    const layout *const l = layout_of(filter);
    const uint64_t most = tamis_i_cells_counter_max(&l->cells);
    uint64_t distinct = 0;
    info->n_loads = l->cells.n + 1;
    for (uint64_t i = 0; i < l->choices.subtables * l->choices.buckets; i++) {
        const tamis_i_bucket b = tamis_i_choices_bucket(&l->choices, filter->table, i);
        const uint64_t counters = tamis_i_cells_counters(&l->cells, b.line, b.at);
        const uint64_t load = load_at(l, b.line, b.at);
        info->load_histogram[load]++;
        distinct += load;
        for (unsigned cell = 0; cell < load; cell++)
            if (tamis_i_cells_counter(&l->cells, counters, cell) == most)
                distinct -= is_further(filter, i, cell);
    }
    const double fpr = (double)distinct / (double)l->choices.prints;
    info->fpr = fpr < 1 ? fpr : 1;
}

/* D2 summed over all f, and the invariants of the buckets. */
static bool check(const tamis_filter *filter, const char **reason) {
    const layout *const l = layout_of(filter);
    const uint64_t n_buckets = l->choices.subtables * l->choices.buckets;
    uint64_t keys = 0;
    for (uint64_t i = 0; i < n_buckets; i++) {
        const tamis_i_bucket b = tamis_i_choices_bucket(&l->choices, filter->table, i);
        if (!tamis_i_cells_check(&l->cells, b.line, b.at, reason))
            return false;
        const uint64_t counters = tamis_i_cells_counters(&l->cells, b.line, b.at);
        for (unsigned cell = 0; cell < l->cells.n; cell++)
            keys += tamis_i_cells_counter(&l->cells, counters, cell);
    }
    return tamis_i_choices_check(&l->choices, filter, keys, reason);
}

const tamis_i_kind tamis_i_dleft_counting = {
    .id = TAMIS_KIND_DLEFT_COUNTING,
    .scratch = TAMIS_I_SCRATCH_MAX,
    .name = "dleft-counting",
    .abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT,
    .params = {"subtables", "buckets", "cells", "remainder_bits", "counter_bits", "moves"},
    .shape = shape,
    .attach = attach,
    .insert = insert,
    .contains = contains,
    .remove = remove_one,
    .copies = copies,
    .prefetch = prefetch,
    .contains_many = contains_many,
    .insert_many = insert_many,
    .remove_many = remove_many,
    .info = info,
    .check = check};
