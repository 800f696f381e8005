/* dleft.c - d-left filter with dynamic bit reassignment
 *
 * The table has d subtables of equally many buckets.  A key has one bucket in each, and one fingerprint,
 * which is stored in the least loaded of its buckets, the leftmost on a tie.  A query looks in all d.
 * The buckets share their bits out evenly among the fingerprints they hold (bits/dleft_bucket.h): as a bucket
 * fills, its fingerprints get shorter.  That costs nothing while the filter is underfull, and beats the
 * standard Bloom filter from 16 bits per key on.  Plain buckets do without semi-sorting and err twice as
 * often or more; they are the paper's first construction, there to be compared with.
 *
 * A key all of whose buckets are full goes to the stash.  At the loads that the planner uses that does not
 * happen; far beyond the capacity it does, and the error rate rises by then as in any filter.
 *
 * A set: a key whose fingerprint is found in one of its buckets is there already, as far as can be
 * seen, and is not stored again.  No removal: two keys may share one fingerprint, in different buckets
 * of theirs, and which of the two to take away cannot be seen (dleft-counting is made for that).  No
 * merging: a fingerprint tells its own bucket only, not the other choices of its key, so the union
 * cannot be balanced; two filters at capacity would overfill their buckets.
 *
 * After Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese, "Bloom Filters via d-Left Hashing and Dynamic
 * Bit Reassignment", Allerton 2006, section II.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/dleft_bucket.h"
#include "filter/guard.h"
#include "hash/hash.h"

#include <limits.h>
#include <math.h>

#define SUBTABLES_MAX TAMIS_I_PROBE_CHOICES
#define BUCKETS_MAX   ((uint64_t)1 << 38)

enum {
    SUBTABLES,
    PER_SUBTABLE,
    WORDS,
    GROUP,
    GROUPS,
    LAYOUT,
    OPS
}; /* geometry; WORDS of a group */

static tamis_status dleft_shape(tamis_params *params, uint64_t *n_table) {
    uint64_t *const bits = &params->value[TAMIS_DLEFT_BUCKET_BITS];
    uint64_t *const subtables = &params->value[TAMIS_DLEFT_SUBTABLES];
    uint64_t *const buckets = &params->value[TAMIS_DLEFT_BUCKETS];
    uint64_t *const group = &params->value[TAMIS_DLEFT_GROUP];
    if (*bits == 0)
        *bits = 64;
    if (*subtables == 0)
        *subtables = 3;
    if (*group == 0)
        *group = 1;
    const uint64_t plain = params->value[TAMIS_DLEFT_PLAIN];
    const tamis_i_dleft_bucket *const layout =
        tamis_i_dleft_bucket_layout(*bits, *group, plain != 0);
    if (layout == NULL || *subtables < 2 || *subtables > SUBTABLES_MAX || plain > 1)
        return TAMIS_E_ARGUMENT;
    if (*buckets == 0) { /* a mean load of 4, or 6.4 */
        const uint64_t keys = 32 * *subtables * *group, load = *bits == 64 ? 8 : 5;
        *buckets = (params->capacity * load + keys - 1) / keys * *group;
    }
    if (params->stash == 0)
        params->stash = 16 + params->capacity / 16384;
    if (*buckets > BUCKETS_MAX || *buckets % *group != 0)
        return TAMIS_E_ARGUMENT;
    const uint64_t words = *subtables * (*buckets / *group) * tamis_i_dleft_bucket_words(layout);
    *n_table = (words + TAMIS_LINE_WORDS - 1) / TAMIS_LINE_WORDS * TAMIS_LINE_WORDS;
    return TAMIS_OK;
}

static const tamis_i_dleft_bucket_ops *dleft_ops_of(const tamis_filter *filter) {
    return (const tamis_i_dleft_bucket_ops *)(uintptr_t)filter->geometry[OPS];
}

static const tamis_i_dleft_bucket *dleft_layout_of(const tamis_filter *filter) {
    return (const tamis_i_dleft_bucket *)(uintptr_t)filter->geometry[LAYOUT];
}

static void dleft_attach(tamis_filter *filter) {
    uint64_t *const g = filter->geometry;
    const tamis_i_dleft_bucket *const layout = tamis_i_dleft_bucket_layout(
        filter->params.value[TAMIS_DLEFT_BUCKET_BITS], filter->params.value[TAMIS_DLEFT_GROUP],
        filter->params.value[TAMIS_DLEFT_PLAIN] != 0);
    g[LAYOUT] = (uintptr_t)layout;
    g[OPS] = (uintptr_t)tamis_i_dleft_bucket_ops_for(layout, filter->features);
    g[SUBTABLES] = filter->params.value[TAMIS_DLEFT_SUBTABLES];
    g[PER_SUBTABLE] = filter->params.value[TAMIS_DLEFT_BUCKETS];
    g[WORDS] = tamis_i_dleft_bucket_words(layout);
    g[GROUP] = filter->params.value[TAMIS_DLEFT_GROUP];
    g[GROUPS] = g[PER_SUBTABLE] / g[GROUP];
}

/* A key's bucket in one subtable: its group, and its number within. */
typedef struct choice {
    uint64_t *group;
    unsigned bucket;
} choice;

/* Words 0 to 3 of the digest's stream choose the buckets, word 4 is the fingerprint. */
static inline choice dleft_choice_of(const tamis_filter *filter, tamis_digest digest,
                                     unsigned subtable) {
    const uint64_t *const g = filter->geometry;
    const uint64_t bucket = tamis_i_range(tamis_i_word(digest, subtable), g[PER_SUBTABLE]);
    const uint64_t group = subtable * g[GROUPS] + (g[GROUP] == 1 ? bucket : bucket / 4);
    return (choice){.group = filter->table + group * g[WORDS],
                    .bucket = g[GROUP] == 1 ? 0 : (unsigned)(bucket % 4)};
}

static uint64_t dleft_fingerprint_of(tamis_digest digest) {
    return tamis_i_word(digest, 4);
}

static bool dleft_contains(const tamis_filter *filter, tamis_digest digest) {
    const tamis_i_dleft_bucket_ops *const ops = dleft_ops_of(filter);
    const uint64_t fingerprint = dleft_fingerprint_of(digest);
    bool found = false;
    for (unsigned i = 0; i < filter->geometry[SUBTABLES]; i++) {
        const choice c = dleft_choice_of(filter, digest, i);
        found |= ops->find(c.group, c.bucket, fingerprint);
    }
    return found || tamis_i_stash_copies(&filter->stash, digest) != 0;
}

static tamis_status dleft_insert(tamis_filter *filter, tamis_digest digest, bool *added) {
    const tamis_i_dleft_bucket *const layout = dleft_layout_of(filter);
    const tamis_i_dleft_bucket_ops *const ops = dleft_ops_of(filter);
    const unsigned subtables = (unsigned)filter->geometry[SUBTABLES];
    const uint64_t fingerprint = dleft_fingerprint_of(digest);
    choice choices[SUBTABLES_MAX] = {{NULL, 0}};
    bool found = false;
    for (unsigned i = 0; i < subtables; i++)
        choices[i] = dleft_choice_of(filter, digest, i);
    for (unsigned i = 0; i < subtables; i++)
        found |= ops->find(choices[i].group, choices[i].bucket, fingerprint);
    if (found || tamis_i_stash_copies(&filter->stash, digest) != 0) {
        *added = false;
        return TAMIS_OK;
    }
    unsigned best = 0, least = UINT_MAX;
    for (unsigned i = 0; i < subtables; i++) {
        const unsigned load =
            tamis_i_dleft_bucket_load(layout, choices[i].group, choices[i].bucket);
        if (load < least) {
            least = load;
            best = i;
        }
    }
    if (!tamis_i_dleft_bucket_insert(layout, choices[best].group, choices[best].bucket,
                                     fingerprint)) {
        const tamis_status status = tamis_i_stash_insert(&filter->stash, digest);
        if (status != TAMIS_OK)
            return status;
    }
    filter->state[TAMIS_I_COUNT]++;
    *added = true;
    return TAMIS_OK;
}

static void dleft_prefetch(const tamis_filter *filter, tamis_digest digest, bool write) {
    for (unsigned i = 0; i < filter->geometry[SUBTABLES]; i++) {
        if (write)
            TAMIS_PREFETCH_RW(dleft_choice_of(filter, digest, i).group);
        else
            TAMIS_PREFETCH(dleft_choice_of(filter, digest, i).group);
    }
}

static bool dleft_touch(const tamis_filter *filter, tamis_digest digest) {
    bool good = true;
    for (unsigned i = 0; i < filter->geometry[SUBTABLES] && good; i++)
        good = tamis_i_guard_words(filter, dleft_choice_of(filter, digest, i).group,
                                   filter->geometry[WORDS]);
    return good;
}

/* Compiled for the numbers that are the same for all keys. */
TAMIS_INLINE void dleft_locate_with(const tamis_filter *filter, const tamis_i_group *next,
                                    unsigned subtables, unsigned group, uint64_t words) {
    const uint64_t per_subtable = filter->geometry[PER_SUBTABLE];
    const uint64_t step = filter->geometry[GROUPS] * words;
    uint64_t *const table = filter->table;
    for (size_t i = 0; i < next->n; i++) {
        tamis_i_probe *const p = &tamis_i_group_probes(next)[i];
        p->word[0] = dleft_fingerprint_of(next->digests[i]);
        for (unsigned j = 0; j < subtables; j++) {
            const uint64_t bucket = tamis_i_range(tamis_i_word(next->digests[i], j), per_subtable);
            p->at[j] = table + j * step + bucket / group * words;
            p->word[1 + j] = bucket % group;
        }
    }
}

/* The probes of the next group, for the engine to fetch while it works on this one; where there are
 * fewer than it works on, its own have to do. */
static const tamis_i_probe *dleft_locate(const tamis_filter *filter, const tamis_i_group *now,
                                         const tamis_i_group *next) {
    const uint64_t *const g = filter->geometry;
    const unsigned subtables = (unsigned)g[SUBTABLES];
    if (g[GROUP] == 1 && subtables == 3 && g[WORDS] == 1)
        dleft_locate_with(filter, next, 3, 1, 1);
    else if (g[GROUP] == 1 && subtables == 3)
        dleft_locate_with(filter, next, 3, 1, 2);
    else if (g[GROUP] == 1)
        dleft_locate_with(filter, next, subtables, 1, g[WORDS]);
    else
        dleft_locate_with(filter, next, subtables, 4, g[WORDS]);
    if (next->n >= now->n && now->n != 0)
        return tamis_i_group_probes(next);
    for (size_t i = 0; i < next->n; i++)
        for (unsigned j = 0; j < subtables; j++)
            TAMIS_PREFETCH(tamis_i_group_probes(next)[i].at[j]);
    return tamis_i_group_probes(now);
}

static void dleft_contains_many(const tamis_filter *filter, const tamis_i_group *now,
                                const tamis_i_group *next, bool *present) {
    const tamis_i_probe *const fetch = dleft_locate(filter, now, next);
    dleft_ops_of(filter)->search(tamis_i_group_probes(now), now->n,
                                 (unsigned)filter->geometry[SUBTABLES], fetch, present);
    if (*filter->stash.used != 0)
        for (size_t i = 0; i < now->n; i++)
            present[i] |= tamis_i_stash_copies(&filter->stash, now->digests[i]) != 0;
}

/* ---- all keys at once ---- */

/* Two choices are best when keys can be moved. */
static void dleft_shape_offline(tamis_params *params) {
    if (params->value[TAMIS_DLEFT_SUBTABLES] == 0)
        params->value[TAMIS_DLEFT_SUBTABLES] = 2;
}

#define CHUNK 1024u

/* Balancing goes on loads alone: one byte for each bucket, and for each key the subtable where it is. */
typedef struct balance {
    uint8_t *loads; /* of all buckets, subtable after subtable */
    uint8_t *where; /* by key; NOWHERE before the first pass */
} balance;

#define NOWHERE 255u

static uint64_t dleft_bucket_number(const tamis_filter *filter, tamis_digest digest,
                                    unsigned subtable) {
    const uint64_t per = filter->geometry[PER_SUBTABLE];
    return subtable * per + tamis_i_range(tamis_i_word(digest, subtable), per);
}

static void dleft_place(const tamis_filter *filter, balance *b, uint64_t key, tamis_digest digest,
                        unsigned pass, tamis_ties ties) {
    const unsigned subtables = (unsigned)filter->geometry[SUBTABLES];
    const unsigned old = b->where[key];
    uint64_t buckets[SUBTABLES_MAX] = {0};
    for (unsigned i = 0; i < subtables; i++)
        buckets[i] = dleft_bucket_number(filter, digest, i);
    if (old != NOWHERE && b->loads[buckets[old]] > 0) /* saturated loads may reach 0 too early */
        b->loads[buckets[old]]--;
    unsigned best = 0, equal = 1;
    uint64_t chance = tamis_i_mix(digest.lo + digest.hi + pass);
    for (unsigned i = 1; i < subtables; i++) {
        const uint8_t load = b->loads[buckets[i]], least = b->loads[buckets[best]];
        if (load < least) {
            best = i;
            equal = 1;
        } else if (load == least) {
            equal++;
            if (ties == TAMIS_TIES_STAY
                    ? i == old
                    : ties == TAMIS_TIES_RANDOM && tamis_i_take(&chance, equal) == 0)
                best = i;
        }
    }
    b->where[key] = (uint8_t)best;
    if (b->loads[buckets[best]] < UINT8_MAX)
        b->loads[buckets[best]]++;
}

/* Put a key where the balancing has decided, unless it is found there already. */
static tamis_status dleft_settle(tamis_filter *filter, tamis_digest digest, unsigned subtable) {
    if (dleft_contains(filter, digest))
        return TAMIS_OK;
    const choice c = dleft_choice_of(filter, digest, subtable);
    if (!tamis_i_dleft_bucket_insert(dleft_layout_of(filter), c.group, c.bucket,
                                     dleft_fingerprint_of(digest))) {
        const tamis_status status = tamis_i_stash_insert(&filter->stash, digest);
        if (status != TAMIS_OK)
            return status;
    }
    filter->state[TAMIS_I_COUNT]++;
    return TAMIS_OK;
}

/* One walk over all keys; the last one, number 'passes' + 1, settles them. */
static tamis_status dleft_walk(tamis_filter *filter, balance *b, const tamis_source *source,
                               uint64_t n, unsigned pass, const tamis_build_options *options) {
    tamis_digest digests[CHUNK];
    uint64_t key = 0;
    size_t got;
    if (!source->rewind(source->context))
        return TAMIS_E_IO;
    for (;; key += got) {
        if (!source->read(source->context, digests, CHUNK, &got) || got > CHUNK)
            return TAMIS_E_IO;
        if (got == 0)
            return key == n ? TAMIS_OK : TAMIS_E_IO;
        if (got > n - key) /* more keys than were counted */
            return TAMIS_E_IO;
        for (size_t i = 0; i < got; i++) {
            if (pass <= options->passes) {
                dleft_place(filter, b, key + i, digests[i], pass, options->ties);
            } else {
                const tamis_status status = dleft_settle(filter, digests[i], b->where[key + i]);
                if (status != TAMIS_OK)
                    return status;
            }
        }
        if (options->progress != NULL)
            options->progress(options->context,
                              (pass + (double)(key + got) / (double)n) / (options->passes + 2.0));
    }
}

static tamis_status dleft_build(tamis_filter *filter, const tamis_source *source, uint64_t n,
                                const tamis_build_options *options,
                                const tamis_allocator *allocator) {
    const uint64_t buckets = filter->geometry[SUBTABLES] * filter->geometry[PER_SUBTABLE];
    uint64_t size;
    if (!tamis_i_add(buckets, n, &size) || size > SIZE_MAX)
        return TAMIS_E_TOO_LARGE;
    uint8_t *const work = tamis_i_alloc_zeroed(allocator, (size_t)size);
    if (work == NULL)
        return TAMIS_E_NOMEM;
    balance b = {.loads = work, .where = work + buckets};
    memset(b.where, NOWHERE, (size_t)n);
    tamis_status status = TAMIS_OK;
    for (unsigned pass = 0; pass <= options->passes + 1 && status == TAMIS_OK; pass++)
        status = dleft_walk(filter, &b, source, n, pass, options);
    tamis_i_free(allocator, work, (size_t)size);
    return status;
}

/* ---- the whole ---- */

/* A query for an absent key meets, in each subtable, one bucket at random, and matches each of its
 * fingerprints, which are distinct, with probability 2^-bits. */
static void dleft_info(const tamis_filter *filter, tamis_i_slice slice, tamis_info *info) {
    const tamis_i_dleft_bucket *const layout = dleft_layout_of(filter);
    const uint64_t *const g = filter->geometry;
    const uint64_t from = tamis_i_slice_from(slice, g[PER_SUBTABLE]);
    const uint64_t end = tamis_i_slice_end(slice, g[PER_SUBTABLE]);
    double miss = 0; /* the logarithm, so that small rates keep their digits */
    info->n_loads = tamis_i_dleft_bucket_load_max(layout) + 1;
    for (uint64_t i = 0; i < g[SUBTABLES]; i++) {
        double hit = 0;
        for (uint64_t j = from; j < end; j++) {
            const uint64_t *const group = filter->table + (i * g[GROUPS] + j / g[GROUP]) * g[WORDS];
            const unsigned bucket = (unsigned)(j % g[GROUP]);
            const unsigned load = tamis_i_dleft_bucket_load(layout, group, bucket);
            info->load_histogram[load]++;
            hit += ldexp(load, -(int)tamis_i_dleft_bucket_bits(layout, group, bucket));
        }
        miss += log1p(-hit / (double)(end - from));
    }
    info->fpr = -expm1(miss);
}

/* A group has 1, 2, 4 or 8 words: it is in one line. */
static bool dleft_check_lines(const tamis_filter *filter, uint64_t from, uint64_t end,
                              const char **reason) {
    const uint64_t *const g = filter->geometry;
    const uint64_t groups = g[SUBTABLES] * g[GROUPS];
    for (uint64_t i = from / g[WORDS]; i < end / g[WORDS] && i < groups; i++)
        if (!tamis_i_dleft_bucket_check(dleft_layout_of(filter), filter->table + i * g[WORDS],
                                        reason))
            return false;
    return true;
}

static bool dleft_check(const tamis_filter *filter, const char **reason) {
    const tamis_i_dleft_bucket *const layout = dleft_layout_of(filter);
    const uint64_t *const g = filter->geometry;
    const uint64_t groups = g[SUBTABLES] * g[GROUPS];
    uint64_t keys = 0, at = 0, copies;
    tamis_digest digest;
    for (uint64_t i = 0; i < groups; i++) {
        const uint64_t *const group = filter->table + i * g[WORDS];
        if (!tamis_i_dleft_bucket_check(layout, group, reason))
            return false;
        for (unsigned bucket = 0; bucket < g[GROUP]; bucket++)
            keys += tamis_i_dleft_bucket_load(layout, group, bucket);
    }
    for (uint64_t i = groups * g[WORDS]; i < filter->n_table; i++) {
        if (filter->table[i] != 0) {
            *reason = "the table has data past its end";
            return false;
        }
    }
    while (tamis_i_stash_next(&filter->stash, &at, &digest, &copies))
        keys += copies;
    if (keys != filter->state[TAMIS_I_COUNT]) {
        *reason = "the buckets do not hold as many keys as the filter claims";
        return false;
    }
    return true;
}

const tamis_i_kind tamis_i_dleft = {
    .id = TAMIS_KIND_DLEFT,
    .name = "dleft",
    .scratch = TAMIS_I_SCRATCH_MAX,
    .params = {"bucket_bits", "subtables", "buckets", "group", "plain"},
    .shape = dleft_shape,
    .attach = dleft_attach,
    .insert = dleft_insert,
    .contains = dleft_contains,
    .prefetch = dleft_prefetch,
    .touch = dleft_touch,
    .check_lines = dleft_check_lines,
    .contains_many = dleft_contains_many,
    .info = dleft_info,
    .build = dleft_build,
    .shape_offline = dleft_shape_offline,
    .check = dleft_check};
