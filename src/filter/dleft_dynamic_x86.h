/* dleft_dynamic_x86.h - the work on a key of dleft_dynamic.c with the kernels of bits/flex_x86.h
 *
 * Included by that file, after choices_batch.h: what is not quick falls back to the functions there.
 *
 * The keys of a group are located first, four at a time; then each key is worked on in turns with a fetch
 * for the next group.  What cannot be foreseen is not branched on: whether a head agrees, where, and to which
 * group an element belongs.
 *
 * SPDX-License-Identifier: MIT
 */
#if defined(__x86_64__) && defined(__GNUC__)

static bool is_quick(const tamis_filter *filter) {
    return tamis_i_cpu_vectors(filter->features) && layout_of(filter)->flex.quick;
}

/* Probes have the first bytes of the buckets in the last d of at[], and the print. */
TAMIS_INLINE void quick_locate(const layout *l, unsigned d, unsigned char *table,
                               tamis_digest digest, tamis_i_probe *probe) {
    const unsigned r = (unsigned)l->choices.remainder_bits;
    tamis_i_choices_locate_bytes(&l->choices, d, table, digest, probe);
    probe->word[0] = probe->word[0] << (64 - r) | digest.hi >> r;
}

TAMIS_INLINE unsigned char *quick_bucket(const tamis_i_probe *probe, unsigned d, uint64_t i) {
    return (unsigned char *)probe->at[TAMIS_I_PROBE_CHOICES - d + i];
}

TAMIS_I_AVX2 static inline uint64_t quick_find(const layout *l, const tamis_i_probe *probe,
                                               unsigned d) {
    const __m128i wanted = _mm_set1_epi8((char)(probe->word[0] >> 56));
    uint64_t hits = 0;
    for (unsigned j = 0; j < d; j++) {
        const __m128i all =
            _mm_loadu_si128((const __m128i *)(const void *)quick_bucket(probe, d, j));
        hits |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(all, wanted)) << 16 * j;
    }
    return hits & l->flex.heads.places;
}

/* Does the first of the elements that 'hits' tells, or element 0 if there are none, hold the print? */
TAMIS_I_AVX2 static inline bool first_holds(const tamis_i_flex_quick *q, unsigned d,
                                            const tamis_i_probe *probe, uint64_t hits, bool least) {
    const uint64_t bit = _tzcnt_u64(hits) % 64;
    return tamis_i_flex_holds_avx2(q, quick_bucket(probe, d, bit / 16), bit % 16, probe->word[0],
                                   least);
}

/* Mostly no more than one head agrees: whether one does is no branch, since it cannot be foreseen. */
TAMIS_I_AVX2 static inline bool quick_contains(const tamis_i_flex_quick *q, unsigned d,
                                               const tamis_i_probe *probe, uint64_t hits) {
    unsigned found = (hits != 0) & first_holds(q, d, probe, hits, false);
    const uint64_t more = hits & (hits - 1);
    if (TAMIS_UNLIKELY(more != 0))
        for (uint64_t left = more; left != 0; left &= left - 1)
            found |= first_holds(q, d, probe, left, false);
    return found != 0;
}

/* Changes of a bucket.  Wide ones are left to flex.c. */
TAMIS_I_AVX2 static inline void quick_add(const tamis_filter *filter, const tamis_i_flex_quick *q,
                                          unsigned char *bucket, uint64_t n, uint64_t print) {
    const layout *const l = layout_of(filter);
    if (l->flex.narrow) {
        tamis_i_flex_add_avx2(&l->flex, q, bucket, n, print);
        return;
    }
    const uint64_t byte = (uint64_t)(bucket - (unsigned char *)filter->table);
    const bool done =
        tamis_i_flex_add(&l->flex, filter->table + byte / TAMIS_LINE_BYTES * TAMIS_LINE_WORDS,
                         (unsigned)(byte % TAMIS_LINE_BYTES * 8), print, 64, 1);
    TAMIS_ASSERT(done);
    (void)done;
}

TAMIS_I_AVX2 static inline void quick_drop(const tamis_filter *filter, const tamis_i_flex_quick *q,
                                           unsigned char *bucket, uint64_t i) {
    const layout *const l = layout_of(filter);
    if (l->flex.narrow) {
        tamis_i_flex_drop_avx2(q, bucket, i);
        return;
    }
    const uint64_t byte = (uint64_t)(bucket - (unsigned char *)filter->table);
    tamis_i_flex_drop(&l->flex, filter->table + byte / TAMIS_LINE_BYTES * TAMIS_LINE_WORDS,
                      (unsigned)(byte % TAMIS_LINE_BYTES * 8), (unsigned)i);
}

/* A key that is akin to another, or finds no room. */
__attribute__((noinline)) static tamis_status slow_insert(tamis_filter *filter, tamis_digest digest,
                                                          bool *added) {
    return insert(filter, digest, added);
}

/* A key whose fingerprint is in no bucket goes to the least loaded, if that has room. */
TAMIS_I_AVX2 static inline tamis_status quick_insert(tamis_filter *filter,
                                                     const tamis_i_flex_quick *q, unsigned d,
                                                     tamis_digest digest,
                                                     const tamis_i_probe *probe, bool *added) {
    const layout *const l = layout_of(filter);
    uint64_t least = tamis_i_flex_quick_load(q, quick_bucket(probe, d, 0)) * 4;
    for (unsigned i = 1; i < d; i++) {
        const uint64_t load = tamis_i_flex_quick_load(q, quick_bucket(probe, d, i)) * 4 + i;
        least = load < least ? load : least;
    }
    bool akin = least / 4 >= q->most;
    for (uint64_t left = quick_find(l, probe, d); left != 0; left &= left - 1)
        akin |= first_holds(q, d, probe, left, true);
    if (TAMIS_UNLIKELY(akin))
        return slow_insert(filter, digest, added);
    *added =
        filter->state[TAMIS_I_STASH_USED] == 0 || tamis_i_stash_copies(&filter->stash, digest) == 0;
    quick_add(filter, q, quick_bucket(probe, d, least % 4), least / 4, probe->word[0]);
    filter->state[TAMIS_I_COUNT]++;
    return TAMIS_OK;
}

/* Without counters the first match of a bucket is one of the longest. */
TAMIS_I_AVX2 static inline bool quick_remove(tamis_filter *filter, const tamis_i_flex_quick *q,
                                             unsigned d, tamis_digest digest,
                                             const tamis_i_probe *probe) {
    const layout *const l = layout_of(filter);
    if (TAMIS_UNLIKELY(filter->state[TAMIS_I_STASH_USED] != 0) &&
        tamis_i_stash_remove(&filter->stash, digest)) {
        filter->state[TAMIS_I_COUNT]--;
        return true;
    }
    for (uint64_t hits = quick_find(l, probe, d); hits != 0; hits &= hits - 1) {
        if (TAMIS_LIKELY(first_holds(q, d, probe, hits, false))) {
            const uint64_t bit = _tzcnt_u64(hits);
            quick_drop(filter, q, quick_bucket(probe, d, bit / 16), bit % 16);
            filter->state[TAMIS_I_COUNT]--;
            return true;
        }
    }
    return false;
}

TAMIS_I_AVX2 static bool quick_contains_one(const tamis_filter *filter, tamis_digest digest) {
    const layout *const l = layout_of(filter);
    const tamis_i_flex_quick q = tamis_i_flex_quick_of(&l->flex);
    const unsigned d = (unsigned)l->choices.subtables;
    tamis_i_probe probe;
    quick_locate(l, d, (unsigned char *)filter->table, digest, &probe);
    return quick_contains(&q, d, &probe, quick_find(l, &probe, d)) ||
           (filter->state[TAMIS_I_STASH_USED] != 0 &&
            tamis_i_stash_copies(&filter->stash, digest) != 0);
}

TAMIS_I_AVX2 static tamis_status quick_insert_one(tamis_filter *filter, tamis_digest digest,
                                                  bool *added) {
    const layout *const l = layout_of(filter);
    const tamis_i_flex_quick q = tamis_i_flex_quick_of(&l->flex);
    const unsigned d = (unsigned)l->choices.subtables;
    tamis_i_probe probe;
    quick_locate(l, d, (unsigned char *)filter->table, digest, &probe);
    return quick_insert(filter, &q, d, digest, &probe, added);
}

TAMIS_I_AVX2 static tamis_status quick_remove_one(tamis_filter *filter, tamis_digest digest) {
    const layout *const l = layout_of(filter);
    const tamis_i_flex_quick q = tamis_i_flex_quick_of(&l->flex);
    const unsigned d = (unsigned)l->choices.subtables;
    tamis_i_probe probe;
    quick_locate(l, d, (unsigned char *)filter->table, digest, &probe);
    return quick_remove(filter, &q, d, digest, &probe) ? TAMIS_OK : TAMIS_E_NOT_FOUND;
}

TAMIS_I_AVX2 static inline void quick_locate_group(const tamis_filter *filter, unsigned d,
                                                   const tamis_i_group *group) {
    const layout *const l = layout_of(filter);
    size_t i = 0;
    if (d == 3 && tamis_i_choices_can_four(&l->choices))
        for (; i + 4 <= group->n; i += 4)
            tamis_i_choices_locate_four(&l->choices, filter->table, group->digests + i,
                                        tamis_i_group_probes(group) + i);
    for (; i < group->n; i++)
        quick_locate(l, d, (unsigned char *)filter->table, group->digests[i], &tamis_i_group_probes(group)[i]);
}

TAMIS_INLINE void quick_fetch(unsigned d, const tamis_i_group *group, size_t i, size_t n,
                              bool write) {
    for (size_t j = i; j < i + n; j++) {
        for (unsigned k = 0; k < d; k++) {
            if (write)
                TAMIS_PREFETCH_RW(quick_bucket(&tamis_i_group_probes(group)[j], d, k));
            else
                TAMIS_PREFETCH(quick_bucket(&tamis_i_group_probes(group)[j], d, k));
        }
    }
}

/* Locate the next group.  True if its lines are to be fetched in turns with the work on this one, key by key;
 * if not, they are fetched here. */
TAMIS_I_AVX2 static inline bool quick_begin(const tamis_filter *filter, unsigned d,
                                            const tamis_i_group *now, const tamis_i_group *next,
                                            bool write) {
    const bool turns = now->n == TAMIS_I_GROUP && next->n == TAMIS_I_GROUP;
    quick_locate_group(filter, d, next);
    if (!turns)
        quick_fetch(d, next, 0, next->n, write);
    return turns;
}

TAMIS_I_AVX2 static inline void quick_contains_group(const tamis_filter *filter, unsigned d,
                                                     const tamis_i_group *now,
                                                     const tamis_i_group *next, bool *present) {
    const layout *const l = layout_of(filter);
    const tamis_i_flex_quick q = tamis_i_flex_quick_of(&l->flex);
    const bool turns = quick_begin(filter, d, now, next, false);
    for (size_t i = 0; i < now->n; i++) {
        const tamis_i_probe *const probe = &tamis_i_group_probes(now)[i];
        if (turns)
            quick_fetch(d, next, i, 1, false);
        present[i] = quick_contains(&q, d, probe, quick_find(l, probe, d));
    }
    if (filter->state[TAMIS_I_STASH_USED] != 0)
        for (size_t i = 0; i < now->n; i++)
            if (!present[i])
                present[i] = tamis_i_stash_copies(&filter->stash, now->digests[i]) != 0;
}

TAMIS_I_AVX2 static inline tamis_status quick_insert_group(tamis_filter *filter, unsigned d,
                                                           const tamis_i_group *now,
                                                           const tamis_i_group *next, bool *added,
                                                           size_t *done) {
    const tamis_i_flex_quick q = tamis_i_flex_quick_of(&layout_of(filter)->flex);
    const bool turns = quick_begin(filter, d, now, next, true);
    *done = 0;
    for (size_t i = 0; i < now->n; i++) {
        if (turns)
            quick_fetch(d, next, i, 1, true);
        const tamis_status status =
            quick_insert(filter, &q, d, now->digests[i], &tamis_i_group_probes(now)[i], &added[i]);
        if (status != TAMIS_OK)
            return status;
        *done = i + 1;
    }
    return TAMIS_OK;
}

TAMIS_I_AVX2 static inline void quick_remove_group(tamis_filter *filter, unsigned d,
                                                   const tamis_i_group *now,
                                                   const tamis_i_group *next, bool *removed) {
    const tamis_i_flex_quick q = tamis_i_flex_quick_of(&layout_of(filter)->flex);
    const bool turns = quick_begin(filter, d, now, next, true);
    for (size_t i = 0; i < now->n; i++) {
        if (turns)
            quick_fetch(d, next, i, 1, true);
        removed[i] = quick_remove(filter, &q, d, now->digests[i], &tamis_i_group_probes(now)[i]);
    }
}

TAMIS_I_AVX2 static void quick_contains_many(const tamis_filter *filter, const tamis_i_group *now,
                                             const tamis_i_group *next, bool *present) {
    const unsigned d = (unsigned)layout_of(filter)->choices.subtables;
    if (d == 3)
        quick_contains_group(filter, 3, now, next, present);
    else
        quick_contains_group(filter, d, now, next, present);
}

TAMIS_I_AVX2 static tamis_status quick_insert_many(tamis_filter *filter, const tamis_i_group *now,
                                                   const tamis_i_group *next, bool *added,
                                                   size_t *done) {
    const unsigned d = (unsigned)layout_of(filter)->choices.subtables;
    if (d == 3)
        return quick_insert_group(filter, 3, now, next, added, done);
    return quick_insert_group(filter, d, now, next, added, done);
}

TAMIS_I_AVX2 static void quick_remove_many(tamis_filter *filter, const tamis_i_group *now,
                                           const tamis_i_group *next, bool *removed) {
    const unsigned d = (unsigned)layout_of(filter)->choices.subtables;
    if (d == 3)
        quick_remove_group(filter, 3, now, next, removed);
    else
        quick_remove_group(filter, d, now, next, removed);
}

#else
#define is_quick(filter)    false
#define quick_contains_one  contains
#define quick_insert_one    insert
#define quick_remove_one    remove_one
#define quick_contains_many contains_many
#define quick_insert_many   insert_many
#define quick_remove_many   remove_many
#endif
