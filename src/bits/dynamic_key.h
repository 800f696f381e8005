/* dynamic_key.h - the work on one key of dynamic_bucket.h whose buckets are known: a template for
 * choices_template.h
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/dynamic_bucket.h"

#define CHOICES_LAYOUT tamis_i_dynamic_layout

TAMIS_INLINE const tamis_i_heads *choices_heads(const tamis_i_dynamic_layout *l) {
    return &l->bucket.heads;
}

/* The fingerprint takes the place of the remainder in word[0]. */
TAMIS_INLINE void choices_locate(const tamis_i_dynamic_layout *l, unsigned d, uint64_t *table,
                                 tamis_digest digest, tamis_i_probe *probe) {
    const unsigned r = (unsigned)l->choices.remainder_bits;
    tamis_i_choices_locate(&l->choices, d, table, digest, probe);
    probe->word[0] = probe->word[0] << (64 - r) | digest.hi >> r;
    probe->word[TAMIS_I_HEAD] = tamis_i_dynamic_head(&l->bucket, probe->word[0]);
}

static inline unsigned dynamic_bit_of(const tamis_i_probe *probe, unsigned i) {
    return (unsigned)probe->word[1 + i];
}

/* Elements of bucket i that are a prefix of the fingerprint.  'hits' are those with matching heads, 16
 * bits for each bucket. */
static inline unsigned dynamic_matches(const tamis_i_dynamic_layout *l, const tamis_i_probe *probe,
                                       unsigned i, uint64_t hits) {
    return tamis_i_dynamic_match(&l->bucket, probe->at[i], dynamic_bit_of(probe, i), probe->word[0],
                                 (uint16_t)(hits >> 16 * i));
}

/* The first bucket with an element of the key's fingerprint, or TAMIS_I_SUBTABLES_MAX. The key can only
 * be there. */
static inline unsigned dynamic_home(const tamis_i_dynamic_layout *l, const tamis_i_probe *probe,
                                    uint64_t hits) {
    for (; hits != 0; hits &= hits - 1) {
        const unsigned bit = (unsigned)__builtin_ctzll(hits), i = bit / 16;
        if (tamis_i_dynamic_akin(&l->bucket, probe->at[i], dynamic_bit_of(probe, i), probe->word[0],
                                 1u << bit % 16) != 0)
            return i;
    }
    return TAMIS_I_SUBTABLES_MAX;
}

TAMIS_INLINE bool choices_holds(const tamis_i_dynamic_layout *l, const tamis_i_probe *probe,
                                uint64_t hits) {
    for (; hits != 0; hits &= hits - 1) {
        const unsigned bit = (unsigned)__builtin_ctzll(hits), i = bit / 16;
        if (tamis_i_dynamic_holds(&l->bucket, probe->at[i], dynamic_bit_of(probe, i), bit % 16,
                                  probe->word[0]))
            return true;
    }
    return false;
}

TAMIS_INLINE bool dynamic_put_least(const tamis_i_dynamic_layout *l, unsigned d,
                                    const tamis_i_probe *probe) {
    unsigned best = 0,
             least = tamis_i_dynamic_load(&l->bucket, probe->at[0], dynamic_bit_of(probe, 0));
    for (unsigned i = 1; i < d; i++) {
        const unsigned load =
            tamis_i_dynamic_load(&l->bucket, probe->at[i], dynamic_bit_of(probe, i));
        best = load < least ? i : best;
        least = load < least ? load : least;
    }
    return tamis_i_dynamic_put(l, probe, best);
}

/* Most keys are new, and there is room for them. */
TAMIS_INLINE bool choices_add(const tamis_i_dynamic_layout *l, unsigned d,
                              const tamis_i_probe *probe, uint64_t hits) {
    return (hits == 0 || dynamic_home(l, probe, hits) == TAMIS_I_SUBTABLES_MAX) &&
           dynamic_put_least(l, d, probe);
}

/* The longest match in the first bucket that has one: no other has (E1 of filter/dleft_dynamic.c). */
TAMIS_INLINE bool choices_drop(const tamis_i_dynamic_layout *l, const tamis_i_probe *probe,
                               uint64_t hits) {
    for (uint64_t left = hits; left != 0; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left) / 16;
        const unsigned elements = dynamic_matches(l, probe, i, hits);
        if (elements != 0) {
            tamis_i_dynamic_remove(&l->bucket, probe->at[i], dynamic_bit_of(probe, i), elements);
            return true;
        }
    }
    return false;
}
