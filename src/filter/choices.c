/* choices.c - keys that have several buckets and can be removed: stash and count
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/choices.h"

#include "filter/guard.h"

static inline const tamis_i_choices_way *choices_way(const tamis_filter *filter) {
    return (const tamis_i_choices_way *)(const void *)filter->geometry;
}

static inline const tamis_i_choices *choices_of(const tamis_filter *filter) {
    return (const tamis_i_choices *)(const void *)((const unsigned char *)filter->geometry +
                                                   choices_way(filter)->layout);
}

static inline bool choices_stash_is_used(const tamis_filter *filter) {
    return TAMIS_UNLIKELY(filter->state[TAMIS_I_STASH_USED] != 0);
}

/* ---- one key ---- */

bool tamis_i_choices_contains(const tamis_filter *filter, tamis_digest digest) {
    return choices_way(filter)->ops->contains(choices_of(filter), filter->table, digest) ||
           (choices_stash_is_used(filter) && tamis_i_stash_copies(&filter->stash, digest) != 0);
}

/* A key that its buckets have taken, and that they did not hold. */
static inline void choices_added(tamis_filter *filter, tamis_digest digest, bool *added) {
    *added = !choices_stash_is_used(filter) || tamis_i_stash_copies(&filter->stash, digest) == 0;
    filter->state[TAMIS_I_COUNT]++;
}

tamis_status tamis_i_choices_insert(tamis_filter *filter, tamis_digest digest, bool *added) {
    const tamis_i_choices_way *const way = choices_way(filter);
    if (!way->ops->add_new(choices_of(filter), filter->table, digest))
        return way->insert_any(filter, digest, added);
    choices_added(filter, digest, added);
    return TAMIS_OK;
}

tamis_status tamis_i_choices_remove(tamis_filter *filter, tamis_digest digest) {
    if ((!choices_stash_is_used(filter) || !tamis_i_stash_remove(&filter->stash, digest)) &&
        !choices_way(filter)->ops->drop(choices_of(filter), filter->table, digest))
        return TAMIS_E_NOT_FOUND;
    filter->state[TAMIS_I_COUNT]--;
    return TAMIS_OK;
}

void tamis_i_choices_prefetch(const tamis_filter *filter, tamis_digest digest, bool write) {
    const tamis_i_choices *const choices = choices_of(filter);
    const unsigned d = (unsigned)choices->subtables;
    tamis_i_probe probe;
    tamis_i_choices_locate(choices, d, filter->table, digest, &probe);
    tamis_i_choices_fetch(d, &probe, write);
}

bool tamis_i_choices_touch(const tamis_filter *filter, tamis_digest digest) {
    const tamis_i_choices *const choices = choices_of(filter);
    const unsigned d = (unsigned)choices->subtables;
    tamis_i_probe probe;
    bool good = true;
    tamis_i_choices_locate(choices, d, filter->table, digest, &probe);
    for (unsigned i = 0; i < d && good; i++)
        good = tamis_i_guard_words(filter, probe.at[i], TAMIS_LINE_WORDS);
    return good;
}

/* ---- groups ---- */

static tamis_i_choices_turn choices_turn(const tamis_filter *filter, const tamis_i_group *now,
                                         const tamis_i_group *next) {
    return (tamis_i_choices_turn){.table = filter->table,
                                  .now = now->digests,
                                  .next = next->digests,
                                  .now_probes = tamis_i_group_probes(now),
                                  .next_probes = tamis_i_group_probes(next),
                                  .n_now = now->n,
                                  .n_next = next->n};
}

void tamis_i_choices_contains_many(const tamis_filter *filter, const tamis_i_group *now,
                                   const tamis_i_group *next, bool *present) {
    const tamis_i_choices_turn turn = choices_turn(filter, now, next);
    choices_way(filter)->ops->contains_many(choices_of(filter), &turn, present);
    if (choices_stash_is_used(filter))
        for (size_t i = 0; i < now->n; i++)
            present[i] = present[i] || tamis_i_stash_copies(&filter->stash, now->digests[i]) != 0;
}

tamis_status tamis_i_choices_insert_many(tamis_filter *filter, const tamis_i_group *now,
                                         const tamis_i_group *next, bool *added, size_t *done) {
    const tamis_i_choices_way *const way = choices_way(filter);
    const tamis_i_choices_turn turn = choices_turn(filter, now, next);
    size_t from = 0;
    *done = 0;
    do {
        const size_t to = way->ops->add_many(choices_of(filter), &turn, from);
        for (size_t i = from; i < to; i++)
            choices_added(filter, now->digests[i], &added[i]);
        *done = from = to;
        if (to < now->n) {
            const tamis_status status = way->insert_any(filter, now->digests[to], &added[to]);
            if (status != TAMIS_OK)
                return status;
            *done = ++from;
        }
    } while (from < now->n);
    return TAMIS_OK;
}

/* The stash comes first, and would have to be asked between two keys: it is seldom in use. */
void tamis_i_choices_remove_many(tamis_filter *filter, const tamis_i_group *now,
                                 const tamis_i_group *next, bool *removed) {
    if (choices_stash_is_used(filter)) {
        for (size_t i = 0; i < now->n; i++)
            removed[i] = tamis_i_choices_remove(filter, now->digests[i]) == TAMIS_OK;
        const tamis_i_group none = {.digests = NULL, .n = 0, .scratch = now->scratch};
        now = &none;
        const tamis_i_choices_turn turn = choices_turn(filter, now, next);
        choices_way(filter)->ops->drop_many(choices_of(filter), &turn, removed);
        return;
    }
    const tamis_i_choices_turn turn = choices_turn(filter, now, next);
    choices_way(filter)->ops->drop_many(choices_of(filter), &turn, removed);
    filter->state[TAMIS_I_COUNT] -= tamis_i_group_sum(removed, now->n);
}

/* ---- whole filters ---- */

bool tamis_i_choices_check(const tamis_i_choices *choices, const tamis_filter *filter,
                           uint64_t keys, const char **reason) {
    uint64_t at = 0, copies;
    tamis_digest digest;
    if (!tamis_i_choices_rest_is_zero(choices, filter->table, filter->n_table)) {
        *reason = "the table has data outside of its buckets";
        return false;
    }
    while (tamis_i_stash_next(&filter->stash, &at, &digest, &copies))
        keys += copies;
    if (keys != filter->state[TAMIS_I_COUNT]) {
        *reason = "the buckets do not hold as many keys as the filter claims";
        return false;
    }
    return true;
}
