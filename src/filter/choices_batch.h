/* choices_batch.h - one by one, and batches, from the work on a key whose probe is known
 *
 * A template: included by a structure after it has defined layout (with its choices), layout_of, heads_of,
 * locate, contains_at, insert_at and remove_at, all of them to be inlined, which get the matching heads.
 * Everything is compiled twice, in plain C and for AVX2.
 *
 * The work on keys of a group is done in turns with fetching those of the next, one or two at a time: those
 * located in the turn before are fetched, and as many more located.  Measured to be better than many fetches
 * at a time, and than fetches of addresses that are still being computed; presumably the work after a
 * fetch has to wait until its address is known and translated.
 *
 * SPDX-License-Identifier: MIT
 */

static bool vectors(const tamis_filter *filter) {
    return tamis_i_cpu_vectors(filter->features) && heads_of(layout_of(filter))->vectors;
}

/* ---- one key ---- */

TAMIS_INLINE bool contains_with(const tamis_filter *filter, tamis_digest digest,
                                tamis_i_heads_finder *find) {
    const layout *const l = layout_of(filter);
    const unsigned d = (unsigned)l->choices.subtables;
    tamis_i_probe probe;
    locate(l, d, filter, digest, &probe);
    return contains_at(filter, digest, &probe, find(heads_of(l), &probe, d));
}

TAMIS_INLINE tamis_status insert_with(tamis_filter *filter, tamis_digest digest, bool *added,
                                      tamis_i_heads_finder *find) {
    const layout *const l = layout_of(filter);
    const unsigned d = (unsigned)l->choices.subtables;
    tamis_i_probe probe;
    locate(l, d, filter, digest, &probe);
    return insert_at(filter, d, digest, &probe, find(heads_of(l), &probe, d), added);
}

TAMIS_INLINE tamis_status remove_with(tamis_filter *filter, tamis_digest digest,
                                      tamis_i_heads_finder *find) {
    const layout *const l = layout_of(filter);
    const unsigned d = (unsigned)l->choices.subtables;
    tamis_i_probe probe;
    locate(l, d, filter, digest, &probe);
    return remove_at(filter, digest, &probe, find(heads_of(l), &probe, d));
}

TAMIS_I_AVX2 static bool contains_avx2(const tamis_filter *filter, tamis_digest digest) {
    return contains_with(filter, digest, tamis_i_heads_find_avx2);
}

static bool contains(const tamis_filter *filter, tamis_digest digest) {
    return vectors(filter) ? contains_avx2(filter, digest)
                           : contains_with(filter, digest, tamis_i_heads_find);
}

TAMIS_I_AVX2 static tamis_status insert_avx2(tamis_filter *filter, tamis_digest digest,
                                             bool *added) {
    return insert_with(filter, digest, added, tamis_i_heads_find_avx2);
}

static tamis_status insert(tamis_filter *filter, tamis_digest digest, bool *added) {
    return vectors(filter) ? insert_avx2(filter, digest, added)
                           : insert_with(filter, digest, added, tamis_i_heads_find);
}

TAMIS_I_AVX2 static tamis_status remove_avx2(tamis_filter *filter, tamis_digest digest) {
    return remove_with(filter, digest, tamis_i_heads_find_avx2);
}

static tamis_status remove_one(tamis_filter *filter, tamis_digest digest) {
    return vectors(filter) ? remove_avx2(filter, digest)
                           : remove_with(filter, digest, tamis_i_heads_find);
}

static void prefetch(const tamis_filter *filter, tamis_digest digest, bool write) {
    const layout *const l = layout_of(filter);
    const unsigned d = (unsigned)l->choices.subtables;
    tamis_i_probe probe;
    locate(l, d, filter, digest, &probe);
    tamis_i_choices_fetch(d, &probe, write);
}

/* ---- groups ---- */

/* Keys of a turn. */
#define QUERIES 1u
#define CHANGES 2u

TAMIS_INLINE void locate_some(const tamis_filter *filter, unsigned d, const tamis_i_group *group,
                              size_t i, size_t n) {
    const layout *const l = layout_of(filter);
    for (size_t j = i; j < i + n; j++)
        locate(l, d, filter, group->digests[j], &tamis_i_group_probes(group)[j]);
}

/* Fetch keys i to i + n - 1 of a full group, and locate the n after them. */
TAMIS_INLINE void fetch_some(const tamis_filter *filter, unsigned d, const tamis_i_group *group,
                             size_t i, size_t n, bool write) {
    for (size_t j = i; j < i + n; j++)
        tamis_i_choices_fetch(d, &tamis_i_group_probes(group)[j], write);
    if (i + n < TAMIS_I_GROUP)
        locate_some(filter, d, group, i + n, n);
}

static void fetch_group(const tamis_filter *filter, const tamis_i_group *group, bool write) {
    const unsigned d = (unsigned)layout_of(filter)->choices.subtables;
    locate_some(filter, d, group, 0, group->n);
    for (size_t i = 0; i < group->n; i++)
        tamis_i_choices_fetch(d, &tamis_i_group_probes(group)[i], write);
}

/* The beginning of the work on a group.  Are both full, so that they can be worked on in turns?  If not, the
 * next one is fetched now: that is the case at the ends of a batch. */
TAMIS_INLINE bool in_turns(const tamis_filter *filter, unsigned d, const tamis_i_group *now,
                           const tamis_i_group *next, size_t n, bool write) {
    if (now->n == TAMIS_I_GROUP && next->n == TAMIS_I_GROUP) {
        locate_some(filter, d, next, 0, n);
        return true;
    }
    fetch_group(filter, next, write);
    return false;
}

TAMIS_INLINE void contains_group(const tamis_filter *filter, unsigned d, const tamis_i_group *now,
                                 const tamis_i_group *next, bool *present,
                                 tamis_i_heads_finder *find) {
    const tamis_i_heads *const heads = heads_of(layout_of(filter));
    const bool turns = in_turns(filter, d, now, next, QUERIES, false);
    for (size_t i = 0; i < now->n; i++) {
        const tamis_i_probe *const probe = &tamis_i_group_probes(now)[i];
        if (turns && i % QUERIES == 0)
            fetch_some(filter, d, next, i, QUERIES, false);
        present[i] = contains_at(filter, now->digests[i], probe, find(heads, probe, d));
    }
}

TAMIS_INLINE tamis_status insert_group(tamis_filter *filter, unsigned d, const tamis_i_group *now,
                                       const tamis_i_group *next, bool *added, size_t *done,
                                       tamis_i_heads_finder *find) {
    const tamis_i_heads *const heads = heads_of(layout_of(filter));
    const bool turns = in_turns(filter, d, now, next, CHANGES, true);
    *done = 0;
    for (size_t i = 0; i < now->n; i++) {
        const tamis_i_probe *const probe = &tamis_i_group_probes(now)[i];
        if (turns && i % CHANGES == 0)
            fetch_some(filter, d, next, i, CHANGES, true);
        const tamis_status status =
            insert_at(filter, d, now->digests[i], probe, find(heads, probe, d), &added[i]);
        if (status != TAMIS_OK)
            return status;
        *done = i + 1;
    }
    return TAMIS_OK;
}

TAMIS_INLINE void remove_group(tamis_filter *filter, unsigned d, const tamis_i_group *now,
                               const tamis_i_group *next, bool *removed,
                               tamis_i_heads_finder *find) {
    const tamis_i_heads *const heads = heads_of(layout_of(filter));
    const bool turns = in_turns(filter, d, now, next, CHANGES, true);
    for (size_t i = 0; i < now->n; i++) {
        const tamis_i_probe *const probe = &tamis_i_group_probes(now)[i];
        if (turns && i % CHANGES == 0)
            fetch_some(filter, d, next, i, CHANGES, true);
        removed[i] = remove_at(filter, now->digests[i], probe, find(heads, probe, d)) == TAMIS_OK;
    }
}

/* With vectors, also inlined for each number of buckets. */
TAMIS_I_AVX2 static void contains_many_avx2(const tamis_filter *filter, const tamis_i_group *now,
                                            const tamis_i_group *next, bool *present) {
    const unsigned d = (unsigned)layout_of(filter)->choices.subtables;
    if (d == 2)
        contains_group(filter, 2, now, next, present, tamis_i_heads_find_avx2);
    else if (d == 3)
        contains_group(filter, 3, now, next, present, tamis_i_heads_find_avx2);
    else
        contains_group(filter, 4, now, next, present, tamis_i_heads_find_avx2);
}

static void contains_many(const tamis_filter *filter, const tamis_i_group *now,
                          const tamis_i_group *next, bool *present) {
    if (vectors(filter))
        contains_many_avx2(filter, now, next, present);
    else
        contains_group(filter, (unsigned)layout_of(filter)->choices.subtables, now, next, present,
                       tamis_i_heads_find);
}

TAMIS_I_AVX2 static tamis_status insert_many_avx2(tamis_filter *filter, const tamis_i_group *now,
                                                  const tamis_i_group *next, bool *added,
                                                  size_t *done) {
    const unsigned d = (unsigned)layout_of(filter)->choices.subtables;
    if (d == 2)
        return insert_group(filter, 2, now, next, added, done, tamis_i_heads_find_avx2);
    if (d == 3)
        return insert_group(filter, 3, now, next, added, done, tamis_i_heads_find_avx2);
    return insert_group(filter, 4, now, next, added, done, tamis_i_heads_find_avx2);
}

static tamis_status insert_many(tamis_filter *filter, const tamis_i_group *now,
                                const tamis_i_group *next, bool *added, size_t *done) {
    if (vectors(filter))
        return insert_many_avx2(filter, now, next, added, done);
    return insert_group(filter, (unsigned)layout_of(filter)->choices.subtables, now, next, added,
                        done, tamis_i_heads_find);
}

TAMIS_I_AVX2 static void remove_many_avx2(tamis_filter *filter, const tamis_i_group *now,
                                          const tamis_i_group *next, bool *removed) {
    const unsigned d = (unsigned)layout_of(filter)->choices.subtables;
    if (d == 2)
        remove_group(filter, 2, now, next, removed, tamis_i_heads_find_avx2);
    else if (d == 3)
        remove_group(filter, 3, now, next, removed, tamis_i_heads_find_avx2);
    else
        remove_group(filter, 4, now, next, removed, tamis_i_heads_find_avx2);
}

static void remove_many(tamis_filter *filter, const tamis_i_group *now, const tamis_i_group *next,
                        bool *removed) {
    if (vectors(filter))
        remove_many_avx2(filter, now, next, removed);
    else
        remove_group(filter, (unsigned)layout_of(filter)->choices.subtables, now, next, removed,
                     tamis_i_heads_find);
}
