/* dleft_bucket_template.h - the search in buckets of dleft_bucket.h, compiled once per processor family
 *
 * The including file defines DLEFT_TARGET, attributes of all functions; DLEFT(name), names of functions
 * that no other file has; and DLEFT_OPS, the declaration of the operations of all eight layouts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/dleft_layouts.h"
#include "bits/field.h"
#include "bits/search.h"

#define GROUP TAMIS_I_DLEFT_GROUP

/* Is one of the fields, 'width' bits each and 'length' bits in all, equal to 'rest'?  Bits past the
 * length do not matter. */
TAMIS_INLINE bool dleft_match(uint64_t fields, unsigned length, unsigned width, uint64_t rest) {
    const uint64_t ones = tamis_i_repeat[width], high = ones << (width - 1), low = high - ones;
    const uint64_t x = fields ^ rest * ones;
    return (~(((x & low) + low) | x) & high & tamis_i_low_mask(length)) != 0;
}

/* The states are the last bits of the last word. */
TAMIS_INLINE const tamis_i_dleft_meaning *dleft_meaning_of(const tamis_i_dleft_bucket *layout,
                                                           const uint64_t *group, unsigned bucket) {
    const unsigned shift = 64 - layout->state_bits * (layout->buckets - bucket);
    const unsigned mask = (1u << layout->state_bits) - 1;
    return &layout->states[group[layout->words - 1] >> shift & mask];
}

/* Where the fingerprints of a bucket are. */
typedef struct place {
    const tamis_i_dleft_meaning *state;
    unsigned at;     /* the first bit */
    unsigned stored; /* bits of each */
} place;

TAMIS_INLINE place dleft_place_of(const tamis_i_dleft_bucket *layout, const uint64_t *group,
                                  unsigned bucket) {
    place p = {.state = dleft_meaning_of(layout, group, bucket)};
    if (layout->buckets == 1) {
        p.stored = p.state->alone;
        return p;
    }
    const tamis_i_dleft_meaning *states[GROUP];
    unsigned all = 0;
    for (unsigned i = 0; i < GROUP; i++) {
        states[i] = dleft_meaning_of(layout, group, i);
        all += states[i]->bound[4];
    }
    const unsigned bits = layout->stored[all];
    const unsigned stays = layout->stored[all + 1] == bits;
    for (unsigned i = 0; i < GROUP - 1; i++)
        p.at += i < bucket ? states[i]->bound[4] * (bits + (states[i]->keeps & stays)) : 0;
    p.stored = bits + (p.state->keeps & stays);
    return p;
}

TAMIS_INLINE bool dleft_find_in(const tamis_i_dleft_bucket *layout, const uint64_t *group,
                                unsigned bucket, uint64_t fingerprint) {
    const place p = dleft_place_of(layout, group, bucket);
    const unsigned width = p.stored;
    const uint64_t wanted = fingerprint >> (64 - width - p.state->told);
    const uint8_t *const bound = p.state->bound + (wanted >> width);
    const uint64_t rest = wanted & tamis_i_low_mask(width);
    unsigned at = p.at + bound[0] * width, length = (unsigned)(bound[1] - bound[0]) * width;
    if (TAMIS_LIKELY(length <= 64)) {
        /* Two words from the first bit on.  Nothing past the last word of the group is needed. */
        const unsigned word = at / 64, shift = at % 64;
        const unsigned next = word + 1 < layout->words ? word + 1 : word;
        const uint64_t fields = group[word] >> shift | group[next] << 1 << (63 - shift);
        return dleft_match(fields, length, width, rest);
    }
    for (const unsigned step = tamis_i_whole[width]; length > 0; at += step) {
        const unsigned now = length < step ? length : step;
        if (dleft_match(tamis_i_field_get(group, at, now), now, width, rest))
            return true;
        length -= now;
    }
    return false;
}

/* The search in a single bucket of 64 bits, by state.  The whole word is compared at once, and a mask
 * per first bit tells which fields count. */
typedef struct plan64 {
    uint64_t ones;    /* the lowest bits of all fields */
    uint64_t low;     /* all but the highest bits of all fields */
    uint64_t high[2]; /* the highest bits of the fields that begin with 0, with 1 */
    uint64_t rest;    /* the bits of a fingerprint that are stored */
    uint8_t shift;    /* moves the told bits of a full fingerprint down */
    uint8_t width;    /* of a field */
} plan64;

static const plan64 plans64[16] = {
    {0x0u, 0x0u, {0x0u, 0x0u}, 0xfffffffffffffffu, 4, 60},
    {0x1u, 0x7ffffffffffffffu, {0x800000000000000u, 0x0u}, 0xfffffffffffffffu, 4, 60},
    {0x40000001u, 0x7ffffffdfffffffu, {0x800000020000000u, 0x0u}, 0x3fffffffu, 34, 30},
    {0x10000100001u, 0x7ffff7ffff7ffffu, {0x800008000080000u, 0x0u}, 0xfffffu, 44, 20},
    {0x200040008001u, 0x7ffefffdfffbfffu, {0x0u, 0x800100020004000u}, 0x7fffu, 48, 15},
    {0x200040008001u, 0x7ffefffdfffbfffu, {0x4000u, 0x800100020000000u}, 0x7fffu, 48, 15},
    {0x200040008001u, 0x7ffefffdfffbfffu, {0x20004000u, 0x800100000000000u}, 0x7fffu, 48, 15},
    {0x200040008001u, 0x7ffefffdfffbfffu, {0x100020004000u, 0x800000000000000u}, 0x7fffu, 48, 15},
    {0x200040008001u, 0x7ffefffdfffbfffu, {0x800100020004000u, 0x0u}, 0x7fffu, 48, 15},
    {0x1001001001001u, 0x7ff7ff7ff7ff7ffu, {0x0u, 0x800800800800800u}, 0xfffu, 51, 12},
    {0x1001001001001u, 0x7ff7ff7ff7ff7ffu, {0x800u, 0x800800800800000u}, 0xfffu, 51, 12},
    {0x1001001001001u, 0x7ff7ff7ff7ff7ffu, {0x800800u, 0x800800800000000u}, 0xfffu, 51, 12},
    {0x1001001001001u, 0x7ff7ff7ff7ff7ffu, {0x800800800u, 0x800800000000000u}, 0xfffu, 51, 12},
    {0x1001001001001u, 0x7ff7ff7ff7ff7ffu, {0x800800800800u, 0x800000000000000u}, 0xfffu, 51, 12},
    {0x1001001001001u, 0x7ff7ff7ff7ff7ffu, {0x800800800800800u, 0x0u}, 0xfffu, 51, 12},
    {0x4010040100401u, 0x7fdff7fdff7fdffu, {0x802008020080200u, 0x0u}, 0x3ffu, 54, 10},
};

TAMIS_INLINE bool dleft_find_in_64(const uint64_t *group, uint64_t fingerprint) {
    const plan64 *const s = &plans64[group[0] >> 60];
    const uint64_t wanted = fingerprint >> s->shift;
    const uint64_t x = group[0] ^ (wanted & s->rest) * s->ones;
    return (~(((x & s->low) + s->low) | x) & s->high[wanted >> s->width]) != 0;
}

/* The same search, compiled for each layout: for one key in one bucket, and for many keys in all their
 * buckets. */
#define SEARCH(number, find)                                                                       \
    DLEFT_TARGET static bool DLEFT(find_##number)(const uint64_t *group, unsigned bucket,          \
                                                  uint64_t fingerprint) {                          \
        (void)bucket;                                                                              \
        return (find);                                                                             \
    }                                                                                              \
    DLEFT_TARGET static void DLEFT(search_##number)(const tamis_i_probe *probes, size_t n,         \
                                                    unsigned d, const tamis_i_probe *next,         \
                                                    bool *found) {                                 \
        for (size_t i = 0; i < n; i++) {                                                           \
            const tamis_i_probe *const p = &probes[i];                                             \
            bool is = false;                                                                       \
            for (unsigned j = 0; j < d; j++) {                                                     \
                const uint64_t *const group = p->at[j];                                            \
                const unsigned bucket = (unsigned)p->word[1 + j];                                  \
                const uint64_t fingerprint = p->word[0];                                           \
                (void)bucket;                                                                      \
                TAMIS_PREFETCH(next[i].at[j]);                                                     \
                is |= (find);                                                                      \
            }                                                                                      \
            found[i] = is;                                                                         \
        }                                                                                          \
    }

SEARCH(0, dleft_find_in_64(group, fingerprint))
SEARCH(1, dleft_find_in(&tamis_i_dleft_layouts[1], group, bucket, fingerprint))
SEARCH(2, dleft_find_in(&tamis_i_dleft_layouts[2], group, bucket, fingerprint))
SEARCH(3, dleft_find_in(&tamis_i_dleft_layouts[3], group, bucket, fingerprint))
SEARCH(4, dleft_find_in(&tamis_i_dleft_layouts[4], group, bucket, fingerprint))
SEARCH(5, dleft_find_in(&tamis_i_dleft_layouts[5], group, bucket, fingerprint))
SEARCH(6, dleft_find_in(&tamis_i_dleft_layouts[6], group, bucket, fingerprint))
SEARCH(7, dleft_find_in(&tamis_i_dleft_layouts[7], group, bucket, fingerprint))

#define ROW(number)                                                                                \
    { DLEFT(find_##number), DLEFT(search_##number) }
DLEFT_OPS = {ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6), ROW(7)};
#undef ROW

#undef SEARCH
