/* dynamic_bucket.c - buckets whose elements shrink, for x86-64 with AVX2 and BMI2
 *
 * There are two sets of operations: quick ones, with the kernels of dynamic_view.h, for the layouts
 * that these support; and the template, with heads compared as vectors, for the others.
 *
 * The quick ones locate the keys of a group first, four at a time.  Then work on each key alternates
 * with a fetch for the next group.  There is no branch on anything unpredictable: whether a head
 * matches, where, and to which group an element belongs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/native.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "bits/dynamic_key.h"
#include "bits/x86/choices.h"
#include "bits/x86/dynamic_test.h"
#include "bits/x86/dynamic_view.h"
#include "bits/x86/heads.h"

#define CHOICES_TARGET TAMIS_I_TARGET_BOTH
#define CHOICES_FIND   tamis_i_heads_find_x86
#define CHOICES_OPS    static const tamis_i_choices_ops vectors
#include "bits/choices_template.h"

#define FAST TAMIS_I_TARGET_BOTH static inline

/* ---- one key ---- */

/* Probes hold the first bytes of the buckets in the last d of at[], and the fingerprint. */
TAMIS_INLINE void dynamic_quick_locate(const tamis_i_dynamic_layout *l, unsigned d,
                                       unsigned char *table, tamis_digest digest,
                                       tamis_i_probe *probe) {
    const unsigned r = (unsigned)l->choices.remainder_bits;
    tamis_i_choices_locate_bytes(&l->choices, d, table, digest, probe);
    probe->word[0] = probe->word[0] << (64 - r) | digest.hi >> r;
}

TAMIS_INLINE unsigned char *dynamic_quick_bucket(const tamis_i_probe *probe, unsigned d,
                                                 uint64_t i) {
    return (unsigned char *)probe->at[TAMIS_I_PROBE_CHOICES - d + i];
}

FAST uint64_t dynamic_quick_find(const tamis_i_dynamic_layout *l, const tamis_i_probe *probe,
                                 unsigned d) {
    const __m128i wanted = _mm_set1_epi8((char)(probe->word[0] >> 56));
    uint64_t hits = 0;
    for (unsigned j = 0; j < d; j++) {
        const __m128i all =
            _mm_loadu_si128((const __m128i *)(const void *)dynamic_quick_bucket(probe, d, j));
        hits |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(all, wanted)) << 16 * j;
    }
    return hits & l->bucket.heads.places;
}

/* Does the first of the elements in 'hits', or element 0 if there are none, hold the fingerprint? */
FAST bool dynamic_first_holds(const tamis_i_dynamic_quick *q, unsigned d,
                              const tamis_i_probe *probe, uint64_t hits, bool least) {
    const uint64_t bit = _tzcnt_u64(hits) % 64;
    return tamis_i_dynamic_holds_x86(q, dynamic_quick_bucket(probe, d, bit / 16), bit % 16,
                                     probe->word[0], least);
}

/* Mostly at most one head matches.  Whether one does is not a branch, since it cannot be predicted. */
FAST bool dynamic_quick_contains(const tamis_i_dynamic_quick *q, unsigned d,
                                 const tamis_i_probe *probe, uint64_t hits) {
    unsigned found = (hits != 0) & dynamic_first_holds(q, d, probe, hits, false);
    const uint64_t more = hits & (hits - 1);
    if (TAMIS_UNLIKELY(more != 0))
        for (uint64_t left = more; left != 0; left &= left - 1)
            found |= dynamic_first_holds(q, d, probe, left, false);
    return found != 0;
}

/* Change a bucket.  Wide ones are left to bits/dynamic_bucket.c. */
FAST void dynamic_quick_add(const tamis_i_dynamic_layout *l, uint64_t *table,
                            const tamis_i_dynamic_quick *q, unsigned char *bucket, uint64_t n,
                            uint64_t fingerprint) {
    if (l->bucket.narrow) {
        tamis_i_dynamic_add_x86(&l->bucket, q, bucket, n, fingerprint);
        return;
    }
    const uint64_t byte = (uint64_t)(bucket - (unsigned char *)table);
    const bool done =
        tamis_i_dynamic_add(&l->bucket, table + byte / TAMIS_LINE_BYTES * TAMIS_LINE_WORDS,
                            (unsigned)(byte % TAMIS_LINE_BYTES * 8), fingerprint, 64, 1);
    TAMIS_ASSERT(done);
    (void)done;
}

FAST void dynamic_quick_drop(const tamis_i_dynamic_layout *l, uint64_t *table,
                             const tamis_i_dynamic_quick *q, unsigned char *bucket, uint64_t i) {
    if (l->bucket.narrow) {
        tamis_i_dynamic_drop_x86(q, bucket, i);
        return;
    }
    const uint64_t byte = (uint64_t)(bucket - (unsigned char *)table);
    tamis_i_dynamic_drop(&l->bucket, table + byte / TAMIS_LINE_BYTES * TAMIS_LINE_WORDS,
                         (unsigned)(byte % TAMIS_LINE_BYTES * 8), (unsigned)i);
}

/* A key whose fingerprint is in no bucket goes to the least loaded one, if that has room. */
FAST bool dynamic_quick_insert(const tamis_i_dynamic_layout *l, uint64_t *table,
                               const tamis_i_dynamic_quick *q, unsigned d,
                               const tamis_i_probe *probe) {
    uint64_t least = tamis_i_dynamic_quick_load(q, dynamic_quick_bucket(probe, d, 0)) * 4;
    for (unsigned i = 1; i < d; i++) {
        const uint64_t load =
            tamis_i_dynamic_quick_load(q, dynamic_quick_bucket(probe, d, i)) * 4 + i;
        least = load < least ? load : least;
    }
    bool akin = least / 4 >= q->most;
    for (uint64_t left = dynamic_quick_find(l, probe, d); left != 0; left &= left - 1)
        akin |= dynamic_first_holds(q, d, probe, left, true);
    if (TAMIS_UNLIKELY(akin))
        return false;
    dynamic_quick_add(l, table, q, dynamic_quick_bucket(probe, d, least % 4), least / 4,
                      probe->word[0]);
    return true;
}

/* Without counters the first match of a bucket is one of the longest. */
FAST bool dynamic_quick_remove(const tamis_i_dynamic_layout *l, uint64_t *table,
                               const tamis_i_dynamic_quick *q, unsigned d,
                               const tamis_i_probe *probe) {
    for (uint64_t hits = dynamic_quick_find(l, probe, d); hits != 0; hits &= hits - 1) {
        if (TAMIS_LIKELY(dynamic_first_holds(q, d, probe, hits, false))) {
            const uint64_t bit = _tzcnt_u64(hits);
            dynamic_quick_drop(l, table, q, dynamic_quick_bucket(probe, d, bit / 16), bit % 16);
            return true;
        }
    }
    return false;
}

TAMIS_I_TARGET_BOTH static bool dynamic_quick_contains_one(const tamis_i_choices *layout,
                                                           uint64_t *table, tamis_digest digest) {
    const tamis_i_dynamic_layout *const l = choices_layout(layout);
    const tamis_i_dynamic_quick q = tamis_i_dynamic_quick_of(&l->bucket);
    const unsigned d = (unsigned)layout->subtables;
    tamis_i_probe probe;
    dynamic_quick_locate(l, d, (unsigned char *)table, digest, &probe);
    return dynamic_quick_contains(&q, d, &probe, dynamic_quick_find(l, &probe, d));
}

TAMIS_I_TARGET_BOTH static bool dynamic_quick_add_one(const tamis_i_choices *layout,
                                                      uint64_t *table, tamis_digest digest) {
    const tamis_i_dynamic_layout *const l = choices_layout(layout);
    const tamis_i_dynamic_quick q = tamis_i_dynamic_quick_of(&l->bucket);
    const unsigned d = (unsigned)layout->subtables;
    tamis_i_probe probe;
    dynamic_quick_locate(l, d, (unsigned char *)table, digest, &probe);
    return dynamic_quick_insert(l, table, &q, d, &probe);
}

TAMIS_I_TARGET_BOTH static bool dynamic_quick_drop_one(const tamis_i_choices *layout,
                                                       uint64_t *table, tamis_digest digest) {
    const tamis_i_dynamic_layout *const l = choices_layout(layout);
    const tamis_i_dynamic_quick q = tamis_i_dynamic_quick_of(&l->bucket);
    const unsigned d = (unsigned)layout->subtables;
    tamis_i_probe probe;
    dynamic_quick_locate(l, d, (unsigned char *)table, digest, &probe);
    return dynamic_quick_remove(l, table, &q, d, &probe);
}

/* ---- groups ---- */

FAST void dynamic_quick_locate_group(const tamis_i_dynamic_layout *l, unsigned d,
                                     const tamis_i_choices_turn *turn) {
    size_t i = 0;
    if (d == 3 && tamis_i_choices_can_four(&l->choices))
        for (; i + 4 <= turn->n_next; i += 4)
            tamis_i_choices_locate_four(&l->choices, turn->table, turn->next + i,
                                        turn->next_probes + i);
    for (; i < turn->n_next; i++)
        dynamic_quick_locate(l, d, (unsigned char *)turn->table, turn->next[i],
                             &turn->next_probes[i]);
}

TAMIS_INLINE void dynamic_quick_fetch(unsigned d, const tamis_i_choices_turn *turn, size_t i,
                                      size_t n, bool write) {
    for (size_t j = i; j < i + n; j++) {
        for (unsigned k = 0; k < d; k++) {
            if (write)
                TAMIS_PREFETCH_RW(dynamic_quick_bucket(&turn->next_probes[j], d, k));
            else
                TAMIS_PREFETCH(dynamic_quick_bucket(&turn->next_probes[j], d, k));
        }
    }
}

/* Locate the next group.  True if its lines are to be fetched in turns with the work on this group, key
 * by key.  If not, they are fetched here. */
FAST bool dynamic_quick_begin(const tamis_i_dynamic_layout *l, unsigned d,
                              const tamis_i_choices_turn *turn, bool write) {
    const bool turns = choices_in_turns(turn);
    dynamic_quick_locate_group(l, d, turn);
    if (!turns)
        dynamic_quick_fetch(d, turn, 0, turn->n_next, write);
    return turns;
}

FAST void dynamic_quick_contains_group(const tamis_i_dynamic_layout *l, unsigned d,
                                       const tamis_i_choices_turn *turn, bool *found) {
    const tamis_i_dynamic_quick q = tamis_i_dynamic_quick_of(&l->bucket);
    const bool turns = dynamic_quick_begin(l, d, turn, false);
    for (size_t i = 0; i < turn->n_now; i++) {
        const tamis_i_probe *const probe = &turn->now_probes[i];
        if (turns)
            dynamic_quick_fetch(d, turn, i, 1, false);
        found[i] = dynamic_quick_contains(&q, d, probe, dynamic_quick_find(l, probe, d));
    }
}

FAST size_t dynamic_quick_add_group(const tamis_i_dynamic_layout *l, unsigned d,
                                    const tamis_i_choices_turn *turn, size_t from) {
    const tamis_i_dynamic_quick q = tamis_i_dynamic_quick_of(&l->bucket);
    const bool turns = from == 0 ? dynamic_quick_begin(l, d, turn, true) : choices_in_turns(turn);
    for (size_t i = from; i < turn->n_now; i++) {
        if (turns)
            dynamic_quick_fetch(d, turn, i, 1, true);
        if (TAMIS_UNLIKELY(!dynamic_quick_insert(l, turn->table, &q, d, &turn->now_probes[i])))
            return i;
    }
    return turn->n_now;
}

FAST void dynamic_quick_drop_group(const tamis_i_dynamic_layout *l, unsigned d,
                                   const tamis_i_choices_turn *turn, bool *dropped) {
    const tamis_i_dynamic_quick q = tamis_i_dynamic_quick_of(&l->bucket);
    const bool turns = dynamic_quick_begin(l, d, turn, true);
    for (size_t i = 0; i < turn->n_now; i++) {
        if (turns)
            dynamic_quick_fetch(d, turn, i, 1, true);
        dropped[i] = dynamic_quick_remove(l, turn->table, &q, d, &turn->now_probes[i]);
    }
}

TAMIS_I_TARGET_BOTH static void dynamic_quick_contains_many(const tamis_i_choices *layout,
                                                            const tamis_i_choices_turn *turn,
                                                            bool *found) {
    if (layout->subtables == 3)
        dynamic_quick_contains_group(choices_layout(layout), 3, turn, found);
    else
        dynamic_quick_contains_group(choices_layout(layout), (unsigned)layout->subtables, turn,
                                     found);
}

TAMIS_I_TARGET_BOTH static size_t dynamic_quick_add_many(const tamis_i_choices *layout,
                                                         const tamis_i_choices_turn *turn,
                                                         size_t from) {
    if (layout->subtables == 3)
        return dynamic_quick_add_group(choices_layout(layout), 3, turn, from);
    return dynamic_quick_add_group(choices_layout(layout), (unsigned)layout->subtables, turn, from);
}

TAMIS_I_TARGET_BOTH static void dynamic_quick_drop_many(const tamis_i_choices *layout,
                                                        const tamis_i_choices_turn *turn,
                                                        bool *dropped) {
    if (layout->subtables == 3)
        dynamic_quick_drop_group(choices_layout(layout), 3, turn, dropped);
    else
        dynamic_quick_drop_group(choices_layout(layout), (unsigned)layout->subtables, turn,
                                 dropped);
}

const tamis_i_choices_ops *tamis_i_dynamic_bucket_ops_x86(const tamis_i_dynamic_layout *layout,
                                                          unsigned features) {
    static const tamis_i_choices_ops quick = {.contains = dynamic_quick_contains_one,
                                              .add_new = dynamic_quick_add_one,
                                              .drop = dynamic_quick_drop_one,
                                              .contains_many = dynamic_quick_contains_many,
                                              .add_many = dynamic_quick_add_many,
                                              .drop_many = dynamic_quick_drop_many};
    const unsigned needed = TAMIS_I_CPU_AVX2 | TAMIS_I_CPU_BMI2;
    if ((features & needed) != needed)
        return NULL;
    return layout->bucket.quick ? &quick : layout->bucket.heads.vectors ? &vectors : NULL;
}

/* ---- for the tests: the work on one bucket ---- */

#ifdef TAMIS_TESTING
TAMIS_I_TARGET_BOTH void tamis_i_dynamic_test_add(const tamis_i_dynamic_bucket *bucket,
                                                  unsigned char *bytes, unsigned n,
                                                  uint64_t fingerprint) {
    const tamis_i_dynamic_quick q = tamis_i_dynamic_quick_of(bucket);
    tamis_i_dynamic_add_x86(bucket, &q, bytes, n, fingerprint);
}

void tamis_i_dynamic_test_add_any(const tamis_i_dynamic_bucket *bucket, unsigned char *bytes,
                                  uint64_t fingerprint) {
    tamis_i_dynamic_add_any_x86(bucket, bytes, fingerprint);
}

TAMIS_I_TARGET_BOTH void tamis_i_dynamic_test_drop(const tamis_i_dynamic_bucket *bucket,
                                                   unsigned char *bytes, unsigned i) {
    const tamis_i_dynamic_quick q = tamis_i_dynamic_quick_of(bucket);
    tamis_i_dynamic_drop_x86(&q, bytes, i);
}

TAMIS_I_TARGET_BOTH bool tamis_i_dynamic_test_holds(const tamis_i_dynamic_bucket *bucket,
                                                    const unsigned char *bytes, unsigned i,
                                                    uint64_t fingerprint, bool least) {
    const tamis_i_dynamic_quick q = tamis_i_dynamic_quick_of(bucket);
    return tamis_i_dynamic_holds_x86(&q, bytes, i, fingerprint, least);
}

TAMIS_I_TARGET_BOTH void tamis_i_choices_test_locate_four(const tamis_i_choices *choices,
                                                          const uint64_t *table,
                                                          const tamis_digest *digests,
                                                          tamis_i_probe *probes) {
    tamis_i_choices_locate_four(choices, table, digests, probes);
}
#endif

#endif
