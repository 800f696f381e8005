/* dleft_dynamic.c - d-left counting filter with dynamic bit reassignment (ddlCBF)
 *
 * As dleft_counting.c, but a bucket shares its bits out among the elements that it holds
 * (bits/dynamic_bucket.h), so that the error rate is a third of it, or less, while the table is not full.  A
 * fingerprint of 64 bits stands for a key in each subtable:
 *
 *      [ minimal remainder: r bits ][ more bits, the same in all subtables ]
 *
 * Minimal remainder and bucket come from the fingerprint f by the permutation of the subtable.  The
 * minimal remainder is always kept, so that each element tells its f, and permutations work as in
 * the other filter.
 *
 * Keys of one f.  They have the same buckets and minimal remainders, but may differ in the other
 * bits.  All that are in the table are in one bucket:
 *
 *   E1  elements of one f are in one bucket;
 *   E2  there is a way to assign each copy of a key that is not in the stash to a key of an element (an
 *       element stands for as many keys as its counter tells) that is a prefix of its fingerprint, and no key
 *       of an element is left over.
 *
 * A key whose f is in a bucket goes there, or to the stash; any other key to the least loaded
 * bucket.  Only elements that are the only one of their f are moved, whole.  A removal looks in the
 * stash first, as in dleft_counting.c, and then takes the longest match; dynamic_bucket.c shows that E2 holds
 * again.  By E2 a key that is in is found, and its copies are never fewer than the truth.
 *
 * After Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese, "Bloom Filters via d-Left Hashing and
 * Dynamic Bit Reassignment", Allerton 2006, section III.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/dynamic_bucket.h"
#include "filter/choices.h"

#include <math.h>

#define SUBTABLES_MAX TAMIS_I_SUBTABLES_MAX
#define HEAVY         4u /* elements of one fingerprint from which on the stash comes first */
#define NO_HOME       SUBTABLES_MAX

/* What geometry[] holds; words, all of it. */
typedef struct layout {
    tamis_i_choices_way way;
    tamis_i_dynamic_layout in;
} layout;

_Static_assert(sizeof(layout) <= TAMIS_I_GEOMETRY * sizeof(uint64_t), "geometry[] is too small");

static inline const layout *dynamic_layout_of(const tamis_filter *filter) {
    return (const layout *)(const void *)filter->geometry;
}

static bool dynamic_bucket_of(const tamis_params *params, tamis_i_dynamic_bucket *bucket) {
    const uint64_t *const v = params->value;
    const uint64_t counter = v[TAMIS_DLEFT_DYNAMIC_COUNTER_BITS];
    return tamis_i_dynamic_init(bucket, v[TAMIS_DLEFT_DYNAMIC_BUCKET_BITS],
                                v[TAMIS_DLEFT_DYNAMIC_REMAINDER_BITS],
                                counter == TAMIS_NONE ? 0 : counter, v[TAMIS_DLEFT_DYNAMIC_SIZES]);
}

static tamis_status dynamic_shape(tamis_params *params, uint64_t *n_table) {
    static const uint64_t defaults[] = {4, 0, 128, 12, 1, 2, 3};
    uint64_t *const v = params->value;
    for (unsigned i = 0; i < sizeof defaults / sizeof defaults[0]; i++)
        v[i] = v[i] == 0 ? defaults[i] : v[i];
    if (params->stash == 0)
        params->stash = 16 + params->capacity / 16384;
    if (v[TAMIS_DLEFT_DYNAMIC_SUBTABLES] > SUBTABLES_MAX ||
        v[TAMIS_DLEFT_DYNAMIC_BUCKET_BITS] > 512 ||
        v[TAMIS_DLEFT_DYNAMIC_REMAINDER_BITS] > TAMIS_I_REMAINDER_MAX ||
        (v[TAMIS_DLEFT_DYNAMIC_COUNTER_BITS] > 8 &&
         v[TAMIS_DLEFT_DYNAMIC_COUNTER_BITS] != TAMIS_NONE) ||
        (v[TAMIS_DLEFT_DYNAMIC_MOVES] > TAMIS_I_MOVES_MAX &&
         v[TAMIS_DLEFT_DYNAMIC_MOVES] != TAMIS_NONE))
        return TAMIS_E_ARGUMENT;
    tamis_i_dynamic_bucket bucket;
    if (!dynamic_bucket_of(params, &bucket))
        return TAMIS_E_ARGUMENT;
    if (v[TAMIS_DLEFT_DYNAMIC_BUCKETS] == 0) {
        const uint64_t keys = 6 * v[TAMIS_DLEFT_DYNAMIC_SUBTABLES];
        v[TAMIS_DLEFT_DYNAMIC_BUCKETS] = (params->capacity + keys - 1) / keys;
    }
    return tamis_i_choices_shape(v[TAMIS_DLEFT_DYNAMIC_SUBTABLES], v[TAMIS_DLEFT_DYNAMIC_BUCKETS],
                                 v[TAMIS_DLEFT_DYNAMIC_REMAINDER_BITS],
                                 v[TAMIS_DLEFT_DYNAMIC_BUCKET_BITS], n_table);
}

static tamis_status dynamic_insert_any(tamis_filter *filter, tamis_digest digest, bool *added);

static void dynamic_attach(tamis_filter *filter) {
    const uint64_t *const v = filter->params.value;
    layout l;
    const bool possible = dynamic_bucket_of(&filter->params, &l.in.bucket);
    TAMIS_ASSERT(possible);
    (void)possible;
    tamis_i_choices_init(&l.in.choices, filter->hasher.keys.salt, v[TAMIS_DLEFT_DYNAMIC_SUBTABLES],
                         v[TAMIS_DLEFT_DYNAMIC_BUCKETS], v[TAMIS_DLEFT_DYNAMIC_REMAINDER_BITS],
                         v[TAMIS_DLEFT_DYNAMIC_BUCKET_BITS]);
    l.way = (tamis_i_choices_way){.ops = tamis_i_dynamic_bucket_ops_for(&l.in, filter->features),
                                  .layout = offsetof(layout, in),
                                  .insert_any = dynamic_insert_any};
    memcpy(filter->geometry, &l, sizeof l);
}

/* ---- copies ---- */

static uint64_t dynamic_copies(const tamis_filter *filter, tamis_digest digest) {
    return tamis_i_stash_copies(&filter->stash, digest) +
           tamis_i_dynamic_count(&dynamic_layout_of(filter)->in, filter->table, digest);
}

/* ---- making room ---- */

static uint64_t dynamic_remainder_of(const layout *l, const tamis_i_element *e) {
    return e->fingerprint >> (64 - l->in.choices.remainder_bits);
}

/* Those that are the only one of their fingerprint. */
static unsigned dynamic_list_remainders(const void *context, uint64_t number,
                                        uint64_t *remainders) {
    const tamis_filter *const filter = context;
    const layout *const l = dynamic_layout_of(filter);
    const tamis_i_bucket b = tamis_i_choices_bucket(&l->in.choices, filter->table, number);
    tamis_i_element elements[TAMIS_I_DYNAMIC_MAX];
    const unsigned n = tamis_i_dynamic_list(&l->in.bucket, b.line, b.at, elements);
    unsigned alone = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned akin = 0;
        for (unsigned j = 0; j < n; j++)
            akin += dynamic_remainder_of(l, &elements[j]) == dynamic_remainder_of(l, &elements[i]);
        if (akin == 1)
            remainders[alone++] = dynamic_remainder_of(l, &elements[i]);
    }
    return alone;
}

static bool dynamic_has_room(const void *context, uint64_t from, uint64_t remainder, uint64_t to) {
    const tamis_filter *const filter = context;
    const layout *const l = dynamic_layout_of(filter);
    const tamis_i_bucket b = tamis_i_choices_bucket(&l->in.choices, filter->table, to);
    (void)from, (void)remainder; /* any one element fits where there is room for one */
    return tamis_i_dynamic_load(&l->in.bucket, b.line, b.at) < l->in.bucket.most;
}

static void dynamic_move_element(const layout *l, tamis_filter *filter, const tamis_i_move *move) {
    const tamis_i_bucket from = tamis_i_choices_bucket(&l->in.choices, filter->table, move->from);
    const tamis_i_bucket to = tamis_i_choices_bucket(&l->in.choices, filter->table, move->to);
    tamis_i_element elements[TAMIS_I_DYNAMIC_MAX];
    const unsigned n = tamis_i_dynamic_list(&l->in.bucket, from.line, from.at, elements);
    unsigned i = 0;
    while (i < n && dynamic_remainder_of(l, &elements[i]) != move->remainder)
        i++;
    TAMIS_ASSERT(i < n);
    const bool done = tamis_i_dynamic_add(&l->in.bucket, to.line, to.at, elements[i].fingerprint,
                                          elements[i].length, elements[i].count);
    TAMIS_ASSERT(done);
    (void)done;
    tamis_i_dynamic_drop(&l->in.bucket, from.line, from.at, i);
}

/* Make room in one of the key's buckets, all of which are full, or in bucket number 'home' of them. */
static bool dynamic_make_room(const layout *l, tamis_filter *filter, uint64_t f, unsigned home) {
    const uint64_t depth = filter->params.value[TAMIS_DLEFT_DYNAMIC_MOVES];
    const tamis_i_search search = {.context = filter,
                                   .choices = &l->in.choices,
                                   .stays = f,
                                   .list = dynamic_list_remainders,
                                   .fits = dynamic_has_room};
    tamis_i_move moves[TAMIS_I_MOVES_MAX];
    uint64_t roots[SUBTABLES_MAX];
    unsigned n = 0;
    if (depth == TAMIS_NONE)
        return false;
    for (unsigned i = 0; i < l->in.choices.subtables; i++)
        if (home == NO_HOME || home == i)
            roots[n++] = tamis_i_choices_of(&l->in.choices, f, i);
    const unsigned n_moves = tamis_i_choices_search(&search, roots, n, (unsigned)depth, moves);
    for (unsigned i = 0; i < n_moves; i++)
        dynamic_move_element(l, filter, &moves[i]);
    return n_moves != 0;
}

/* ---- changes ---- */

/* Put a key into the table, if that is possible. */
static bool dynamic_place_key(tamis_filter *filter, const tamis_i_probe *probe,
                              tamis_i_dynamic_found found, tamis_digest digest) {
    const layout *const l = dynamic_layout_of(filter);
    const uint64_t f = tamis_i_choices_fingerprint(&l->in.choices, digest);
    const unsigned home = found.home;
    if (home == NO_HOME)
        return tamis_i_dynamic_put_least(&l->in, probe) ||
               (dynamic_make_room(l, filter, f, home) && tamis_i_dynamic_put_least(&l->in, probe));
    unsigned elements = 0;
    for (unsigned left = found.same; left != 0; left &= left - 1)
        elements++;
    if (elements >= HEAVY && tamis_i_stash_insert_spare(&filter->stash, digest) == TAMIS_OK)
        return true;
    return tamis_i_dynamic_join(&l->in.bucket, probe->at[home], (unsigned)probe->word[1 + home],
                                found.same) ||
           tamis_i_dynamic_put(&l->in, probe, home) ||
           (dynamic_make_room(l, filter, f, home) && tamis_i_dynamic_put(&l->in, probe, home));
}

/* Any key, in any state of the table. */
static tamis_status dynamic_insert_any(tamis_filter *filter, tamis_digest digest, bool *added) {
    tamis_i_probe probe;
    const tamis_i_dynamic_found found =
        tamis_i_dynamic_look(&dynamic_layout_of(filter)->in, filter->table, digest, &probe);
    const bool fresh = found.same == 0 && tamis_i_stash_copies(&filter->stash, digest) == 0;
    if (!dynamic_place_key(filter, &probe, found, digest)) {
        const tamis_status status = tamis_i_stash_insert(&filter->stash, digest);
        if (status != TAMIS_OK)
            return status;
    }
    filter->state[TAMIS_I_COUNT]++;
    *added = fresh;
    return TAMIS_OK;
}

/* Does every key that 'b' matches match 'a'? */
static bool dynamic_covers(const tamis_i_element *a, const tamis_i_element *b) {
    return a->length <= b->length && (a->fingerprint ^ b->fingerprint) >> (64 - a->length) == 0;
}

/* A further element for this key, in a copy of the bucket: all elements that there are then must be covered
 * by those of now.  That is so if removals have left room, else some are cut. */
static bool dynamic_copy_is_free_at(const tamis_i_dynamic_layout *l, const tamis_i_probe *probe,
                                    unsigned i) {
    uint64_t line[TAMIS_LINE_WORDS];
    tamis_i_element now[TAMIS_I_DYNAMIC_MAX], then[TAMIS_I_DYNAMIC_MAX];
    const unsigned at = (unsigned)probe->word[1 + i];
    const unsigned n = tamis_i_dynamic_list(&l->bucket, probe->at[i], at, now);
    memcpy(line, probe->at[i], sizeof line);
    if (!tamis_i_dynamic_add(&l->bucket, line, at, probe->word[0], 64, 1))
        return false;
    const unsigned m = tamis_i_dynamic_list(&l->bucket, line, at, then);
    for (unsigned j = 0; j < m; j++) {
        unsigned k = 0;
        while (k < n && !dynamic_covers(&now[k], &then[j]))
            k++;
        if (k == n)
            return false;
    }
    return true;
}

static bool dynamic_copy_is_free(const tamis_filter *filter, tamis_digest digest) {
    const tamis_i_dynamic_layout *const l = &dynamic_layout_of(filter)->in;
    tamis_i_probe probe;
    const tamis_i_dynamic_found found = tamis_i_dynamic_look(l, filter->table, digest, &probe);
    return found.same != 0 && dynamic_copy_is_free_at(l, &probe, found.home);
}

/* ---- whole filters ---- */

/* Does another element match whatever element j matches?  Of equal ones, the first counts. */
static bool dynamic_is_covered(const tamis_i_element *elements, unsigned n, unsigned j) {
    for (unsigned i = 0; i < n; i++) {
        const unsigned length = elements[i].length;
        if ((length < elements[j].length || (length == elements[j].length && i < j)) &&
            (elements[i].fingerprint ^ elements[j].fingerprint) >> (64 - length) == 0)
            return true;
    }
    return false;
}

/* A query for an absent key meets a bucket of each subtable with even odds, and matches an element with
 * probability 2^-length.  Elements of different fingerprints exclude each other. */
static void dynamic_info(const tamis_filter *filter, tamis_i_slice slice, tamis_info *info) {
    const layout *const l = dynamic_layout_of(filter);
    const uint64_t buckets = l->in.choices.buckets;
    const uint64_t from = tamis_i_slice_from(slice, buckets);
    const uint64_t n_here = tamis_i_slice_end(slice, buckets) - from;
    double sum = 0;
    info->n_loads = (size_t)l->in.bucket.most + 1;
    for (uint64_t i = 0; i < l->in.choices.subtables * n_here; i++) {
        const uint64_t number = i / n_here * buckets + from + i % n_here;
        const tamis_i_bucket b = tamis_i_choices_bucket(&l->in.choices, filter->table, number);
        tamis_i_element elements[TAMIS_I_DYNAMIC_MAX];
        const unsigned n = tamis_i_dynamic_list(&l->in.bucket, b.line, b.at, elements);
        info->load_histogram[n]++;
        for (unsigned j = 0; j < n; j++)
            if (!dynamic_is_covered(elements, n, j))
                sum += ldexp(1, -(int)elements[j].length);
    }
    info->fpr = n_here == 0 ? NAN : fmin(sum / (double)n_here, 1);
}

static bool dynamic_check_lines(const tamis_filter *filter, uint64_t from, uint64_t end,
                                const char **reason) {
    const layout *const l = dynamic_layout_of(filter);
    const uint64_t last = tamis_i_choices_first(&l->in.choices, end);
    for (uint64_t i = tamis_i_choices_first(&l->in.choices, from); i < last; i++) {
        const tamis_i_bucket b = tamis_i_choices_bucket(&l->in.choices, filter->table, i);
        if (!tamis_i_dynamic_check(&l->in.bucket, b.line, b.at, reason))
            return false;
    }
    return true;
}

static bool dynamic_check(const tamis_filter *filter, const char **reason) {
    const layout *const l = dynamic_layout_of(filter);
    uint64_t keys = 0;
    for (uint64_t i = 0; i < l->in.choices.subtables * l->in.choices.buckets; i++) {
        const tamis_i_bucket b = tamis_i_choices_bucket(&l->in.choices, filter->table, i);
        tamis_i_element elements[TAMIS_I_DYNAMIC_MAX];
        if (!tamis_i_dynamic_check(&l->in.bucket, b.line, b.at, reason))
            return false;
        const unsigned n = tamis_i_dynamic_list(&l->in.bucket, b.line, b.at, elements);
        for (unsigned j = 0; j < n; j++)
            keys += elements[j].count;
    }
    return tamis_i_choices_check(&l->in.choices, filter, keys, reason);
}

const tamis_i_kind tamis_i_dleft_dynamic = {.id = TAMIS_KIND_DLEFT_DYNAMIC,
                                            .scratch = TAMIS_I_SCRATCH_MAX,
                                            .name = "dleft-dynamic",
                                            .abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT,
                                            .params = {"subtables", "buckets", "bucket_bits",
                                                       "remainder_bits", "counter_bits", "sizes",
                                                       "moves"},
                                            .shape = dynamic_shape,
                                            .attach = dynamic_attach,
                                            .insert = tamis_i_choices_insert,
                                            .contains = tamis_i_choices_contains,
                                            .remove = tamis_i_choices_remove,
                                            .copies = dynamic_copies,
                                            .prefetch = tamis_i_choices_prefetch,
                                            .touch = tamis_i_choices_touch,
                                            .check_lines = dynamic_check_lines,
                                            .contains_many = tamis_i_choices_contains_many,
                                            .insert_many = tamis_i_choices_insert_many,
                                            .remove_many = tamis_i_choices_remove_many,
                                            .info = dynamic_info,
                                            .check = dynamic_check,
                                            .copy_is_free = dynamic_copy_is_free};
