/* filter.h - the handle, and what a structure must provide
 *
 * A filter is one block of memory:
 *
 *      [ handle ][ state: 8 words ][ stash ][ table ]
 *                |<------------- body ------------->|    each part a multiple of a cache line
 *
 * The body is an array of 64-bit words and is read and written as such by everyone (native engines,
 * which exist for little-endian machines only, included).  A file is a header and the body; the
 * handle is rebuilt from the header.  So a structure needs no code of its own for files, copies and
 * views, as long as it keeps to this: all that changes is in the body, all that is derived from the
 * parameters is in geometry[], and unused bits are zero.
 *
 * To add a structure, write one file src/filter/<kind>.c that defines a tamis_i_kind, declare it below and
 * name it in src/filter/kinds.c; its planner is a matter of plan/planners.h.  docs/architecture.md has all
 * steps.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FILTER_FILTER_H
#define TAMIS_FILTER_FILTER_H

#include "base/base.h"
#include "base/cpu.h"
#include "bits/group.h"
#include "bits/stream.h"
#include "bits/words.h"
#include "filter/stash.h"
#include "hash/hasher.h"

/* Words of the state. */
#define TAMIS_I_COUNT       0u /* keys held */
#define TAMIS_I_STASH_USED  1u /* entries in the stash */
#define TAMIS_I_STATE_OWN   2u /* the first of those that a structure may use as it likes */
#define TAMIS_I_STATE_WORDS TAMIS_LINE_WORDS

/* No file may count more keys than this: from here to where the count would wrap is longer than anyone
 * can insert. */
#define TAMIS_I_COUNT_MAX ((uint64_t)1 << 62)

/* Words of a handle for what follows from the parameters. */
#define TAMIS_I_GEOMETRY 86u

/* No table has more words than this: 2^45 bytes. */
#define TAMIS_I_WORDS_MAX ((uint64_t)1 << 42)

typedef struct tamis_i_kind tamis_i_kind;
typedef struct tamis_i_links tamis_i_links;
struct tamis_i_guard;

/* What the public functions for one key do, decided when the handle is made and not per key:
 * read-only, a series, a guard or an ordinary set.  'added' may be NULL.  Those for an integer, a
 * word, hash it and go on to those for a digest, unless the kind has them in one piece. */
typedef struct tamis_i_calls {
    bool (*contains)(const tamis_filter *filter, tamis_digest digest);
    tamis_status (*insert)(tamis_filter *filter, tamis_digest digest, bool *added);
    tamis_status (*remove)(tamis_filter *filter, tamis_digest digest);
    bool (*contains_word)(const tamis_filter *filter, uint64_t key);
    tamis_status (*insert_word)(tamis_filter *filter, uint64_t key, bool *added);
    tamis_status (*remove_word)(tamis_filter *filter, uint64_t key);
} tamis_i_calls;

struct tamis_filter {
    /* The first line: all that a call for one key needs of the handle before it goes to the table. */
    tamis_i_calls calls;
    uint64_t *table;
    uint64_t *state;                     /* the body begins here */
    uint64_t geometry[TAMIS_I_GEOMETRY]; /* derived from the parameters by attach */
    tamis_i_hasher hasher;               /* of keys, by hash and seed of the parameters */
    bool unread; /* the answer "added" of who does not ask: a writer has the handle for itself */
    bool read_only;
    unsigned char key_form; /* a tamis_key_form, the same in all links */
    unsigned features;      /* of the processor, base/cpu.h: asked once, when the handle is made */
    const tamis_i_kind *kind;
    tamis_i_links *links; /* of a filter that has grown or may grow (filter/series.h), or NULL */
    tamis_params params;  /* complete: no defaults left */
    tamis_i_stash stash;
    uint64_t n_body; /* words */
    uint64_t n_table;
    const tamis_i_words_ops *words;
    tamis_allocator allocator; /* alloc NULL: the system's memory */
    size_t block_size;
    void *map; /* a mapped file to be unmapped at the end, or NULL */
    size_t map_size;
    struct tamis_i_guard *guard; /* of a view that is verified in parts (filter/guard.h), or NULL */
};

/* Keys that are worked on together, and room for what the structure finds out about them: as many bytes as
 * its kind states, aligned to a cache line. */
#define TAMIS_I_SCRATCH_MAX (TAMIS_I_GROUP * sizeof(tamis_i_probe))
typedef struct tamis_i_group {
    const tamis_digest *digests;
    size_t n;
    void *scratch;
    /* Of a group to fetch, and of those: the one that was fetched before it, as far back as the one that is
     * worked off.  NULL: it is the first. */
    const struct tamis_i_group *before;
} tamis_i_group;

/* The scratch of a kind that keeps a probe for each key. */
static inline tamis_i_probe *tamis_i_group_probes(const tamis_i_group *group) {
    return group->scratch;
}

/* How many of n <= TAMIS_I_GROUP answers are yes.  They are bytes of value 0 or 1: summed up by eights. */
static inline size_t tamis_i_group_sum(const bool *answers, size_t n) {
    uint64_t eights[2] = {0, 0};
    if (n == TAMIS_I_GROUP)
        memcpy(eights, answers, sizeof eights);
    else
        memcpy(eights, answers, n);
    return (size_t)((eights[0] + eights[1]) * 0x0101010101010101u >> 56);
}

/* Bits 0 to n-1 of a mask as n <= TAMIS_I_GROUP answers.  Words are written where they can be: a word that is
 * read (tamis_i_group_sum) while its bytes are on their way to memory has to wait for all of them. */
static inline void tamis_i_group_answer(bool *answers, size_t n, uint32_t mask) {
    if (n == TAMIS_I_GROUP && tamis_i_little_endian()) {
        for (unsigned i = 0; i < TAMIS_I_GROUP; i += 8) {
            const uint64_t bits = mask >> i & 0xff;
            const uint64_t bytes =
                ((bits & 0x7f) * 0x0002040810204081u & 0x0101010101010101u) | bits >> 7 << 56;
            memcpy(answers + i, &bytes, sizeof bytes);
        }
        return;
    }
    for (size_t i = 0; i < n; i++)
        answers[i] = (mask >> i & 1) != 0;
}

/* What a kind provides besides that keeps each key in one line of the table, has neither a stash
 * nor removal, and takes every key: threads share its sets without shards (src/shared/lines.h).
 * This is the work on one line; the key's own is number tamis_i_range(digest.lo, lines).  The state
 * is that of 'filter'. */
typedef struct tamis_i_line_alone {
    /* Copy a line that another thread may be writing to, or ask such a line: what was read may be torn. */
    void (*read)(const tamis_filter *filter, const uint64_t *line, uint64_t *copy);
    bool (*has)(const tamis_filter *filter, tamis_digest digest, const uint64_t *line);
    void (*insert)(tamis_filter *filter, tamis_digest digest, uint64_t *line, bool *added);
    /* Where a group that was 'next' keeps the addresses of its lines: get them, or put others. */
    void (*places)(const tamis_i_group *group, uint64_t **lines, bool put);
} tamis_i_line_alone;

/* One of 'parts' equal parts of a table, or of each of its subtables.  {0, 1} is all of it. */
typedef struct tamis_i_slice {
    uint64_t part, parts;
} tamis_i_slice;

#define TAMIS_I_WHOLE ((tamis_i_slice){0, 1})

/* The first of n buckets or lines of a table that is in the slice, the end of them, how many they are. */
static inline uint64_t tamis_i_slice_from(tamis_i_slice slice, uint64_t n) {
    const uint64_t more = n % slice.parts; /* the first parts have one more */
    return n / slice.parts * slice.part + (slice.part < more ? slice.part : more);
}

static inline uint64_t tamis_i_slice_end(tamis_i_slice slice, uint64_t n) {
    return tamis_i_slice_from((tamis_i_slice){slice.part + 1, slice.parts}, n);
}

static inline double tamis_i_slice_size(tamis_i_slice slice, uint64_t n) {
    return (double)(tamis_i_slice_end(slice, n) - tamis_i_slice_from(slice, n));
}

/* How full a table is: cells that are set, and their mean and variance, over seeds, with as many different
 * keys as it is made for (filter/fill.c). */
typedef struct tamis_i_fill {
    double set, mean, variance;
} tamis_i_fill;

/* What a structure provides.  A function pointer may be NULL where it says so; shape, insert, contains,
 * prefetch, info and check never are.  All functions that change a filter may rely on it being writable; none
 * of them allocates, but for merge and build, which may need memory aside.  The arguments have been checked,
 * and no pointer to a result is NULL. */
struct tamis_i_kind {
    tamis_kind id;
    const char *name;   /* of letters a to z and '-' */
    unsigned abilities; /* TAMIS_CAN_...; who counts also removes, and has copies */
    unsigned n_state;   /* words of the state that it uses, from TAMIS_I_STATE_OWN on */
    unsigned ahead;     /* groups of a batch from fetching to work, 2 or 3; 0: 2 */
    size_t scratch;     /* bytes that it needs for a group, up to TAMIS_I_SCRATCH_MAX */
    /* Equal keys share a counter: a key that comes often does not fill its buckets.  Only such a kind is
     * asked for plans with copies. */
    bool counters;
    bool merges_all; /* merge also sees to stash and count */
    /* What serves sets of these complete parameters, of the same id, name and params: a kind whose parameters
     * decide what it can do has a form for each.  The one that is listed can do all that any can.  NULL: it
     * serves all itself. */
    const tamis_i_kind *(*form)(const tamis_params *params);
    const char *params[TAMIS_PARAMS_MAX]; /* names of value[], at least one; NULL after the last */

    /* Fill in the defaults of value[] and stash, check all ranges, and give the size of the table in
     * words, a multiple of TAMIS_LINE_WORDS.  The same complete parameters must be accepted unchanged.
     * params->capacity is in its range, and what has no name is 0.  A kind without a stash refuses one.
     * TAMIS_E_ARGUMENT, TAMIS_E_TOO_LARGE. */
    tamis_status (*shape)(tamis_params *params, uint64_t *n_table);

    /* Fill geometry[].  Better calls than the usual, which are the functions below, may be set in the handle.
     * NULL: there is nothing to derive. */
    void (*attach)(tamis_filter *filter);

    /* Give back what attach has taken, once, when the handle goes.  NULL: it takes nothing. */
    void (*detach)(tamis_filter *filter);

    /* As the public functions of these names, for one digest, in table and stash.  remove may be NULL; copies
     * may be NULL for a set.  insert and remove keep state[TAMIS_I_COUNT]: keys of a set that were answered
     * "added", all copies of a multiset.  The stash counts its entries by itself.  A key that is in both is
     * taken from the stash first, which is exact. */
    tamis_status (*insert)(tamis_filter *filter, tamis_digest digest, bool *added);
    bool (*contains)(const tamis_filter *filter, tamis_digest digest);
    tamis_status (*remove)(tamis_filter *filter, tamis_digest digest);
    uint64_t (*copies)(const tamis_filter *filter, tamis_digest digest);

    /* Begin to fetch the memory that the four above will touch first.  'write': it will be changed. */
    void (*prefetch)(const tamis_filter *filter, tamis_digest digest, bool write);

    /* Batches of their own, for structures that can do better than prefetch and one call per key.  Work
     * off the group 'now', and begin to fetch the group 'next', best in turns, a key each: memory
     * serves only so many fetches at a time, and work that is done while they wait costs nothing.
     * Every group is 'next' before it is 'now', and ahead - 1 others are worked off in between; what was
     * found out about its keys is in its scratch, and must not depend on the table.  next->before, if not
     * NULL, was 'next' in the call before this one: its first memory has arrived, and tells what else
     * to fetch; queries may keep what they learn.  All groups may have any number of keys up to
     * TAMIS_I_GROUP, and none.  All answers are given, present[i] and so on
     * with room for now->n.  insert_many stops at the first failure; '*done' keys are in.
     * Each may be NULL. */
    void (*contains_many)(const tamis_filter *filter, const tamis_i_group *now,
                          const tamis_i_group *next, bool *present);
    tamis_status (*insert_many)(tamis_filter *filter, const tamis_i_group *now,
                                const tamis_i_group *next, bool *added, size_t *done);
    void (*remove_many)(tamis_filter *filter, const tamis_i_group *now, const tamis_i_group *next,
                        bool *removed);

    /* Add the table of 'source', which has the same parameters.  Unless merges_all, the caller has merged
     * the stashes, which it takes back after a failure, and adds the counts afterwards.  TAMIS_E_FULL,
     * TAMIS_E_NOMEM, with nothing changed.  NULL: cannot merge. */
    tamis_status (*merge)(tamis_filter *filter, const tamis_filter *source);

    /* Was it merged, and may it therefore err more often than one that got the same keys one by one?
     * NULL: how keys came in does not matter. */
    bool (*uneven)(const tamis_filter *filter);

    /* How full the table is.  False: its cells do not tell how many keys there are.  NULL: it keeps
     * fingerprints, and its rate tells, which is in proportion to them or scatters little. */
    bool (*fill)(const tamis_filter *filter, tamis_i_fill *fill);

    /* Fill fpr, saturated, n_loads and load_histogram; the other members have been set, or are 0.  fpr is
     * worked out here from what is in the table (this room stands above src/model), is 0 while that is
     * empty, and agrees with the plan when the filter is at its capacity.  n_loads is at least 2, and the
     * sum of the histogram never changes.
     *
     * Of a slice only fpr counts: what the rate would be if all of the table were like this part of it, or
     * more; not a number if the slice is empty.  It costs as much as the part is large. */
    void (*info)(const tamis_filter *filter, tamis_i_slice slice, tamis_info *info);

    /* Place all keys of 'source' in an empty filter, knowing all of them.  The options are complete.  'n' is
     * the number of keys.  The filter may be half filled after a failure.  NULL: keys are inserted. */
    tamis_status (*build)(tamis_filter *filter, const tamis_source *source, uint64_t n,
                          const tamis_build_options *options, const tamis_allocator *allocator);

    /* Fill in those defaults of value[] that are different when all keys are known.  May be NULL. */
    void (*shape_offline)(tamis_params *params);

    /* Check that the table could have come from calls.  False, and why.  The body may hold anything, but
     * the stash has been checked, and the state beyond n_state is 0.  What is let in must be safe to work on:
     * unused bits are 0, and the count of a kind that stores its keys is what table and stash hold, so that
     * removals do not take it below 0. */
    bool (*check)(const tamis_filter *filter, const char **reason);

    /* Of a view that is verified in parts: touch all that contains, copies and lookup_value may read of the
     * table for this key, by tamis_i_guard_words (filter/guard.h), in their order where what is read tells
     * what is read next.  False: some of it is damaged; then nothing behind it need be touched.  NULL: only
     * all of the table will do. */
    bool (*touch)(const tamis_filter *filter, tamis_digest digest);

    /* What the stash has for a key, of a kind that does not keep the digest itself there.  NULL: the
     * digest. */
    tamis_digest (*key_in_stash)(const tamis_filter *filter, tamis_digest digest);

    /* Are words 'from' to 'end' of the table, which are whole lines, safe to be asked?  False, and why.
     * NULL: queries never leave the table, whatever its bits are, and come to an end. */
    bool (*check_lines)(const tamis_filter *filter, uint64_t from, uint64_t end,
                        const char **reason);

    /* The table without what is empty in it, as a stream of bits: how many at least for these complete
     * parameters, how many now, write them, and read them into an empty table.  compact_read is false, and
     * says why, if they are not such a table.  All NULL: there is no compact form. */
    uint64_t (*compact_least)(const tamis_params *params);
    uint64_t (*compact_bits)(const tamis_filter *filter);
    void (*compact_write)(const tamis_filter *filter, tamis_i_writer *out);
    bool (*compact_read)(tamis_filter *filter, tamis_i_reader *in, const char **reason);

    /* As the public functions of these names; the value has no more bits than values have, and these are
     * not 0.  All NULL: keys have no values. */
    unsigned (*value_bits)(const tamis_filter *filter);
    tamis_status (*insert_value)(tamis_filter *filter, tamis_digest digest, unsigned value,
                                 bool *added);
    tamis_status (*lookup_value)(const tamis_filter *filter, tamis_digest digest, unsigned *value);
    tamis_status (*update_value)(tamis_filter *filter, tamis_digest digest, unsigned value);

    /* Copies of a key that the counters of complete parameters are made for, beyond what every plan has.
     * NULL: all plans of the kind have the same counters, or none. */
    unsigned (*copies_max)(const tamis_params *params);

    /* Of a key that the table claims: would a further copy leave the answers for all other keys as they are?
     * A series (filter/series.h) asks, before it inserts into an older link, but not about keys that are in
     * the stash alone.  Only of multisets; NULL: it always would. */
    bool (*copy_is_free)(const tamis_filter *filter, tamis_digest digest);

    /* NULL: threads share sets of this kind by shards. */
    const tamis_i_line_alone *line_alone;
};

/* Complete and check parameters, and give the words of the body and of the table; TAMIS_E_TOO_LARGE also if
 * they are more than this machine can address.  To measure is the same without that limit. */
tamis_status tamis_i_filter_measure(const tamis_i_kind *kind, tamis_params *params,
                                    uint64_t *n_body, uint64_t *n_table);
tamis_status tamis_i_filter_shape(const tamis_i_kind *kind, tamis_params *params, uint64_t *n_body,
                                  uint64_t *n_table);

/* Make a filter with complete parameters.  If 'body' is NULL it gets one of its own, zeroed if 'zeroed'
 * is true; otherwise it becomes a read-only view on 'body'.  TAMIS_E_TOO_LARGE, TAMIS_E_NOMEM,
 * and what shape returns. */
tamis_status tamis_i_filter_make(const tamis_i_kind *kind, const tamis_params *params,
                                 const tamis_allocator *allocator, const uint64_t *body,
                                 bool zeroed, tamis_filter **filter);

/* Fill in what follows from parameters and addresses, of a filter without links, and which calls
 * are best.  To be called again by who changes what tamis_i_filter_make has set. */
void tamis_i_filter_attach(tamis_filter *f);

/* The calls for integers that go on to those for digests. */
void tamis_i_filter_call_words(tamis_filter *f);

/* Check the body of a filter that was read: state, stash and table.  False, and why.  Or the state alone. */
bool tamis_i_filter_check_state(const tamis_filter *filter, const char **reason);
bool tamis_i_filter_check(const tamis_filter *filter, const char **reason);

/* Copy one filter, as one that is made for 'capacity' keys, and without further links.  TAMIS_E_NOMEM;
 * TAMIS_E_FORMAT if the bytes under a view are no longer those of a set. */
tamis_status tamis_i_filter_clone(const tamis_filter *source, uint64_t capacity,
                                  const tamis_allocator *allocator, tamis_filter **copy);

/* An error rate that was told from a sample: its mean, and the variance of that; 0 if all was read. */
typedef struct tamis_i_rate {
    double mean, variance;
} tamis_i_rate;

/* What the rate is at most: five standard errors more, which are too few once in a million times. */
double tamis_i_rate_most(tamis_i_rate rate);

/* The error rate of one filter now.  Of a table of more than 1 MiB a sample is read, of 1 MiB over the
 * number of tables that share this time, but 64 KiB at least.  The same table has the same answer
 * everywhere. */
tamis_i_rate tamis_i_filter_rate(const tamis_filter *filter, unsigned sharing);
bool tamis_i_filter_is_large(const tamis_filter *filter);

/* The variance of the rate that tables with such keys have by chance, or more: from what its parts differ.
 * Infinite if there are too few of them to tell. */
double tamis_i_filter_scatter(const tamis_filter *filter);

/* A table of blocks of cells.  A key has one of them, and sets in it 'hashes' cells, drawn independently,
 * or one in each of as many lanes. */
typedef struct tamis_i_fill_shape {
    double blocks, cells, hashes;
    bool lanes;
} tamis_i_fill_shape;

/* Mean and variance of the cells that so many different keys set. */
void tamis_i_fill_of(const tamis_i_fill_shape *shape, double keys, tamis_i_fill *fill);

/* Add the fill of a filter, infinite if it cannot be told, to that of others of which it is a part. */
void tamis_i_fill_add(const tamis_filter *filter, tamis_i_fill *sum);

/* Is it no more than chance explains, five standard deviations, if there are as many keys as planned? */
bool tamis_i_fill_within(const tamis_i_fill *fill);

/* Does a filter have no more different keys than it is made for, as far as can be told?  Without a look at
 * the table only if its count says so. */
bool tamis_i_filter_fits(const tamis_filter *filter, bool look);

/* What one filter is like, without its further links; bits_per_key is not set.  Unless 'sharing' is 0 it is a
 * glance: of large tables fpr is that of tamis_i_filter_rate at most, and the members of the kind are 0. */
void tamis_i_filter_info(const tamis_filter *filter, unsigned sharing, tamis_info *info);

/* Copies that a counter of so many bits can tell; 1 for the two bits that every plan has. */
static inline unsigned tamis_i_counter_copies(uint64_t bits) {
    return bits > 2 ? (1u << bits) - 1 : 1;
}

/* Bits of the value that is kept with each key; 0: none. */
static inline unsigned tamis_i_filter_value_bits(const tamis_filter *filter) {
    return filter->kind->value_bits == NULL ? 0 : filter->kind->value_bits(filter);
}

/* What the stash of a filter has for a key. */
static inline tamis_digest tamis_i_key_in_stash(const tamis_filter *filter, tamis_digest digest) {
    return filter->kind->key_in_stash == NULL ? digest : filter->kind->key_in_stash(filter, digest);
}

/* Do two filters give the same digests to keys? */
static inline bool tamis_i_same_hash(const tamis_params *a, const tamis_params *b) {
    return a->hash == b->hash && a->seed == b->seed && a->seed_high == b->seed_high;
}

/* All structures (filter/kinds.c). */
extern const tamis_i_kind *const tamis_i_kinds[];
extern const size_t tamis_i_n_kinds;

#ifdef TAMIS_TESTING
extern const tamis_i_kind *tamis_i_kind_tested; /* one more, that a test brings along */
#endif

/* The structure with this number, or NULL. */
const tamis_i_kind *tamis_i_kind_of(tamis_kind kind);

/* What is said of a file of a kind that is gone: line and line-set as they were before 14.  NULL of
 * others. */
static inline const char *tamis_i_kind_gone(uint64_t number) {
    return number == 10 ? "a set of the old kind line, which is no longer read; build it again"
           : number == 11
               ? "a set of the old kind line-set, which is no longer read; build it again"
               : NULL;
}

/* The form of it that serves sets of these complete parameters. */
static inline const tamis_i_kind *tamis_i_form_of(const tamis_i_kind *kind,
                                                  const tamis_params *params) {
    return kind->form == NULL ? kind : kind->form(params);
}

/* The structures. */
extern const tamis_i_kind tamis_i_bloom;
extern const tamis_i_kind tamis_i_counting_bloom;
extern const tamis_i_kind tamis_i_blocked_bloom;
extern const tamis_i_kind tamis_i_dleft;
extern const tamis_i_kind tamis_i_balanced_bloom;
extern const tamis_i_kind tamis_i_dleft_counting;
extern const tamis_i_kind tamis_i_dleft_dynamic;
extern const tamis_i_kind tamis_i_rank;
extern const tamis_i_kind tamis_i_rank_counting;
extern const tamis_i_kind tamis_i_line_kind;
extern const tamis_i_kind tamis_i_steady;
extern const tamis_i_kind tamis_i_window;

#endif
