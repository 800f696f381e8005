/* shared.h - one set for many threads
 *
 * A tamis_shared is a set that any number of threads may insert into, ask, remove from, count in and save, at
 * the same time and without locks of their own.
 *
 *     tamis_shared *set;
 *     if (tamis_shared_new(1000000, 0.001, 8, &set) == TAMIS_OK) {
 *         // from here on by any of 8 threads:
 *         status = tamis_shared_insert_u64(set, 17, NULL);
 *         if (!tamis_shared_contains_u64(set, 17))
 *             puts("never printed");
 *         tamis_shared_free(set);
 *     }
 *
 * How it works.  There are two ways, by kind:
 *
 *  - blocked-bloom keeps a key in one cache line, and only ever sets bits in it.  Such a set is one
 *    ordinary filter; its lines are shared out to up to 64 regions, each with a lock on a cache line of
 *    its own.  Who changes a line locks its region.  Who asks locks nothing and writes nothing that others
 *    read: what was read counts if nobody changed the region meanwhile.  Batches, while nobody has written
 *    for some time, only say that they read, each on a cache line of its own, and a writer waits for them.
 *  - All others are spread over shards: filters of equal parameters, hash and seed, each with its lock.
 *    Which one a key belongs to is told by tamis_digest_shard, a mix of its digest that no structure draws
 *    from; so what is left to a shard is as random as before, and every kind is as good in a shard as by
 *    itself.  Who changes a shard locks it for that; who asks shares the lock with others who ask.
 *
 * docs/threads.md has the whole story, with measurements.
 *
 * What is promised:
 *
 *  - Each call for one key is linearizable: it takes effect at one moment between its beginning and its
 *    return. So a key that was inserted, by a call that has returned, is found by every call that begins
 *    later, in any thread, until it is removed; and of two threads that insert a new key into a set one is
 *    told "added".
 *  - A batch is many such calls: each key by itself has its moment, the keys of one shard in the order of the
 *    batch, those of different shards in any order.  Equal keys are in one shard.  A batch is not one
 *    transaction: another thread may find some of its keys and not yet others.
 *  - tamis_shared_snapshot and tamis_shared_save take one moment for the whole set: every call that
 *    returned before they began is in the copy, no call is in it in part, and if a call is in it, so is
 *    every call that had returned before that one began.  So are tamis_shared_clear, tamis_shared_merge and
 *    tamis_shared_set_key_form to all others.
 *  - tamis_shared_count and tamis_shared_info visit one shard after the other.  While others change the set
 *    they tell for each shard what it was like at some moment of the call.
 *  - A call waits for another thread only while that one is inside a call that changes the same shard, or
 *    copies it; one that changes a set that is shared line by line also while others ask in batches that
 *    began when nobody was writing, for as long as 4,096 keys take them at most.  Those calls take as long
 *    as their work, and call nothing of the caller's but its allocator (growth, merge and snapshots).  There
 *    is no queue: a thread may be passed by.  A thread that waits gives the processor away, so that one that
 *    was interrupted inside a call can go on.
 *  - A thread that is stopped or ends outside of these calls leaves nothing behind.  One that is cancelled or
 *    killed inside may leave a shard locked for ever.
 *  - Do not call from a signal handler: the interrupted thread may hold the lock.  After fork the child has
 *    one thread and the locks as they were: it may use the set only if no other thread was inside a call.
 *  - The caller sees to it that no call is under way, and none begins, when tamis_shared_free is called.
 *
 * The statuses, and what a call does to a key, are those of the functions of tamis.h of the same names.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_SHARED_H
#define TAMIS_SHARED_H

#include <tamis/plan.h>
#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A set that threads share.  Opaque. */
typedef struct tamis_shared tamis_shared;

#define TAMIS_SHARDS_MAX 1024u

/* -------------------------------------------------------------------------------------------------
 * Planning
 */

/* What will be built, and what it promises for the whole. */
typedef struct tamis_shared_plan {
    size_t struct_size;
    tamis_params params; /* of one shard, for tamis_shared_create; the seed is 0, that is random */
    unsigned shards;
    uint64_t n;                /* keys, as of tamis_plan */
    uint64_t bytes;            /* of all shards */
    double bits_per_key;       /* bytes * 8 / n */
    double bound_bits_per_key; /* log2(1/fpr) */
    double fpr;                /* at most, when n keys and their overshoot are in */
    /* That an insert up to there finds no room, or a shard gets more keys than it is made for, and errs more
     * often than promised. */
    double overflow_probability;
    double lines_per_query; /* of the set; those of the locks are few, and in the cache */
    double lines_per_insert;
} tamis_shared_plan;

static inline void tamis_shared_plan_init(tamis_shared_plan *plan) {
    memset(plan, 0, sizeof *plan);
    plan->struct_size = sizeof *plan;
}

/* Plan a set for 'need', to be used by so many threads at a time, 1 to 1024.
 *
 * For blocked-bloom, unless the set is to grow (need.grows), that is the plan of an
 * ordinary set, with one shard.  Else there are 8 shards for each thread, so that two seldom meet; fewer
 * for a small set, so that none is made for less than 16,384 keys, and never more than TAMIS_SHARDS_MAX.
 * The keys of a shard are binomially distributed. Each shard is planned for as many as it gets but for half
 * of the odds of failure (need.failure_max), shared by all shards; the other half is theirs to fail.  That
 * takes about 6 standard deviations: 0.6 % more room for a million keys per shard, 5 % for 16,384.
 *
 * need.offline is not looked at.  Statuses as tamis_plan_make; 'plan' is then unchanged. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_plan_make(const tamis_need *need,
                                                               unsigned threads,
                                                               tamis_shared_plan *plan);

/* -------------------------------------------------------------------------------------------------
 * Making and freeing
 */

/* Make an empty set of 'shards' shards, 1 to TAMIS_SHARDS_MAX, each with these parameters; zeros in them
 * take their defaults.  With one shard of blocked-bloom the set is shared line by line;
 * with one of another kind, all threads share one lock.  Statuses as tamis_filter_create.  The allocator
 * must be usable by several threads at a time if the set is to grow, or is merged or saved. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_create(const tamis_params *params,
                                                            unsigned shards,
                                                            const tamis_allocator *allocator,
                                                            tamis_shared **shared);

/* Plan with the defaults, then create. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_new(uint64_t n, double fpr, unsigned threads,
                                                         tamis_shared **shared);

/* Make a shared set of a filter, which belongs to it from then on: the shards of a set that was shared
 * before and loaded by tamis_filter_load, or else one.  TAMIS_E_READONLY for a
 * view, TAMIS_E_NOMEM, TAMIS_E_ARGUMENT; the filter is then still the caller's. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_of(tamis_filter *filter,
                                                        tamis_shared **shared);

/* Load a file, of a shared or of an ordinary set.  Statuses as tamis_filter_load. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_load(const char *path,
                                                          const tamis_allocator *allocator,
                                                          tamis_shared **shared,
                                                          const char **reason);

/* NULL is allowed. */
TAMIS_API void tamis_shared_free(tamis_shared *shared);

/* The opposite of tamis_shared_of: '*filter' becomes the ordinary set, with all keys, and the shared one is
 * gone.  Nobody else may be in a call.  Tables are not copied, unless keys beside them need more room than
 * the set was made with.  TAMIS_E_NOMEM, TAMIS_E_ARGUMENT; the set is then as it was. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_end(tamis_shared *shared,
                                                         tamis_filter **filter);

/* -------------------------------------------------------------------------------------------------
 * One key at a time
 */

/* As tamis_filter_insert, tamis_filter_insert_u64 and tamis_filter_insert_digest. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_insert(tamis_shared *shared, const void *key,
                                                            size_t size, bool *added);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_insert_u64(tamis_shared *shared, uint64_t key,
                                                                bool *added);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_insert_digest(tamis_shared *shared,
                                                                   tamis_digest digest,
                                                                   bool *added);

/* As tamis_filter_contains and its siblings. */
TAMIS_API bool tamis_shared_contains(const tamis_shared *shared, const void *key, size_t size);
TAMIS_API bool tamis_shared_contains_u64(const tamis_shared *shared, uint64_t key);
TAMIS_API bool tamis_shared_contains_digest(const tamis_shared *shared, tamis_digest digest);

/* As tamis_filter_remove and its siblings. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_remove(tamis_shared *shared, const void *key,
                                                            size_t size);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_remove_u64(tamis_shared *shared, uint64_t key);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_remove_digest(tamis_shared *shared,
                                                                   tamis_digest digest);

/* As tamis_filter_copies and its siblings. */
TAMIS_API uint64_t tamis_shared_copies(const tamis_shared *shared, const void *key, size_t size);
TAMIS_API uint64_t tamis_shared_copies_u64(const tamis_shared *shared, uint64_t key);
TAMIS_API uint64_t tamis_shared_copies_digest(const tamis_shared *shared, tamis_digest digest);

/* Values; of keys that are bytes, hash first (tamis_shared_hasher). */
TAMIS_API unsigned tamis_shared_value_bits(const tamis_shared *shared);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_insert_value_digest(tamis_shared *shared,
                                                                         tamis_digest digest,
                                                                         unsigned value,
                                                                         bool *added);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_lookup_value_digest(const tamis_shared *shared,
                                                                         tamis_digest digest,
                                                                         unsigned *value);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_update_value_digest(tamis_shared *shared,
                                                                         tamis_digest digest,
                                                                         unsigned value);

/* -------------------------------------------------------------------------------------------------
 * Many keys at a time
 *
 * Keys are sorted by shards or regions, 2,048 at a time, so that each lock is taken once for all keys of its
 * shard; to ask a set that is shared line by line takes no locks.  Longer batches are better, up to that
 * length.
 */

/* Insert n keys.  'added' (may be NULL) gets n answers.  A key that finds no room does not keep others out:
 * 'refused' (may be NULL) gets n answers, true for keys that are not in, '*done' (may be NULL) the number
 * of those that are.  Of a shard that was full, the keys after it in the same batch of 2,048 are refused too;
 * regions refuse each key by itself.  Returns the first status that was not TAMIS_OK, in the order of
 * shards; added[i] is false for keys that were refused.  TAMIS_E_ARGUMENT if one of the keys is NULL with a
 * size above 0: none is in, and nothing is written. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_insert_many(tamis_shared *shared,
                                                                 const tamis_bytes *keys, size_t n,
                                                                 bool *added, bool *refused,
                                                                 size_t *done);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_insert_many_u64(tamis_shared *shared,
                                                                     const uint64_t *keys, size_t n,
                                                                     bool *added, bool *refused,
                                                                     size_t *done);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_insert_many_digest(tamis_shared *shared,
                                                                        const tamis_digest *digests,
                                                                        size_t n, bool *added,
                                                                        bool *refused,
                                                                        size_t *done);

/* As tamis_filter_contains_many. */
TAMIS_API size_t tamis_shared_contains_many(const tamis_shared *shared, const tamis_bytes *keys,
                                            size_t n, bool *present);
TAMIS_API size_t tamis_shared_contains_many_u64(const tamis_shared *shared, const uint64_t *keys,
                                                size_t n, bool *present);
TAMIS_API size_t tamis_shared_contains_many_digest(const tamis_shared *shared,
                                                   const tamis_digest *digests, size_t n,
                                                   bool *present);

/* As tamis_filter_remove_many. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_remove_many(tamis_shared *shared,
                                                                 const tamis_bytes *keys, size_t n,
                                                                 bool *removed, size_t *count);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_remove_many_u64(tamis_shared *shared,
                                                                     const uint64_t *keys, size_t n,
                                                                     bool *removed, size_t *count);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_remove_many_digest(tamis_shared *shared,
                                                                        const tamis_digest *digests,
                                                                        size_t n, bool *removed,
                                                                        size_t *count);

/* -------------------------------------------------------------------------------------------------
 * Filling a set side by side
 *
 * Keys of different parts are never in the same shard or region.  Threads that insert the keys of one part
 * each do not meet, and the set that results depends on the order of the keys of each part only.
 */

/* How many parts there can be: the shards of the set, or the regions of one filter. */
TAMIS_API unsigned tamis_shared_parts(const tamis_shared *shared);

/* To which of n parts does a key belong, 0 to n - 1?  If n is above tamis_shared_parts, some have no keys. */
TAMIS_API unsigned tamis_shared_part(const tamis_shared *shared, tamis_digest digest, unsigned n);

/* Insert keys that all belong to one of n parts, where no other thread asks or writes meanwhile: regions are
 * filled without locks, as fast as an ordinary set.  Otherwise as tamis_shared_insert_many_digest.
 * TAMIS_E_ARGUMENT also if part >= n. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_fill_digest(tamis_shared *shared,
                                                                 unsigned part, unsigned n,
                                                                 const tamis_digest *digests,
                                                                 size_t n_digests);

/* -------------------------------------------------------------------------------------------------
 * The whole set
 */

/* Number of keys held. */
TAMIS_API uint64_t tamis_shared_count(const tamis_shared *shared);

/* As tamis_filter_info.  Reads all tables, one shard after the other, under its lock for readers. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_info(const tamis_shared *shared,
                                                          tamis_info *info);

/* The hash of the set, with its seed: valid as long as the set. */
TAMIS_API const tamis_hasher *tamis_shared_hasher(const tamis_shared *shared);

/* The parameters of a shard, with all defaults, hash and seed filled in, and how many shards there are: pass
 * both to tamis_shared_create to make a set that can be merged with this one.  '*shards' (may be NULL).
 * TAMIS_E_ARGUMENT. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_params(const tamis_shared *shared,
                                                            tamis_params *params, unsigned *shards);

/* The form of keys, as tamis_filter_set_key_form. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_set_key_form(tamis_shared *shared,
                                                                  tamis_key_form form);
TAMIS_API tamis_key_form tamis_shared_key_form(const tamis_shared *shared);

/* Remove all keys. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_clear(tamis_shared *shared);

/* As tamis_window_tick (tamis/window.h): all threads are in the next tick at once.  Inserts clear what is
 * forgotten, each in its shard; what they have not cleared is cleared here, while others wait. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_tick(tamis_shared *shared);

/* Add all keys of 'source': an ordinary set, as tamis_shared_snapshot or a file gives it, with equally many
 * shards of equal parameters.  Nobody may change 'source' meanwhile.  A second set of the same size exists
 * until it is done.  Statuses as tamis_filter_merge; the set is then unchanged. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_merge(tamis_shared *shared,
                                                           const tamis_filter *source,
                                                           unsigned flags);

/* As tamis_filter_grow and tamis_filter_allow_growth.  growth->n is for the whole set.  A shard that has the
 * keys it was made for grows by itself (automatic), while the others go on.  TAMIS_E_UNSUPPORTED for a set of
 * one filter that is shared line by line: plan it for growth (need.grows), which gives it shards. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_grow(tamis_shared *shared,
                                                          const tamis_growth *growth);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_allow_growth(tamis_shared *shared,
                                                                  const tamis_growth *growth);

/* Make an ordinary set with the keys that are in at one moment.  Writers of a shard wait until it is copied,
 * readers do not.  The copy has as many shards, and can be asked, changed, saved, merged and shared again.
 * TAMIS_E_NOMEM, TAMIS_E_TOO_LARGE, TAMIS_E_ARGUMENT. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_snapshot(const tamis_shared *shared,
                                                              const tamis_allocator *allocator,
                                                              tamis_filter **filter);

/* Save a snapshot, as tamis_filter_save: the file is read by tamis_filter_load, tamis_filter_map,
 * tamis_shared_load and the command line.  A set of one shard is saved as the ordinary set that it is. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_save(const tamis_shared *shared,
                                                          const char *path, const char **reason);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_shared_save_fd(const tamis_shared *shared, int fd,
                                                             const char **reason);

#ifdef __cplusplus
}
#endif

#endif
