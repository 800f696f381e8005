/* dleft_bucket.c - buckets whose fingerprints shrink as they fill
 *
 * A bucket of 64 bits has 60 bits for fingerprints and 4 for its state; one of 128 bits has 120 and 8.
 * With load a, each fingerprint gets floor(60/a) bits.  When one is added, all lose their last bits.
 * The rest is still a prefix of the full fingerprint, and a query needs nothing else.
 *
 * Semi-sorting.  Fingerprints are kept in the order of their first bit (128: first two bits).  Besides
 * the load, the state then tells how many of them begin with 0 (128: with 00, 01, 10, 11).  The first
 * bit (first two bits) need not be stored.  The states are used as follows:
 *
 *      64 bits    loads 0 to 3, 6          1 state each                       5
 *                 load 4: 5, load 5: 6     how many begin with 0             11     together  16
 *      128 bits   loads 0 to 5, 8 to 10    how many begin with 0             51
 *                 load 6: C(9,3) = 84      how many begin with 00, 01, 10    84
 *                 load 7: C(10,3) = 120                                     120
 *                 load 11                  1 state                            1     together 256
 *
 * So the fingerprint told is one or two bits longer than the one stored:
 *
 *      64 bits    load  1  2  3  4  5  6             128 bits   load  1  2  3  4  5  6  7  8  9 10 11
 *               stored 60 30 20 15 12 10                      stored 61 60 40 30 24 20 17 15 13 12 10
 *                 told 60 30 20 16 13 10                        told 62 61 41 31 25 22 19 16 14 13 10
 *
 * (More than about 60 stored bits would gain nothing.)
 *
 * Groups.  Four buckets may share their bits.  With T fingerprints in the group, each is stored in
 * floor(240/T) bits, and the one or two bits told by the state of its bucket come on top.  There is one
 * catch: a bucket that goes from load 3 to 4 (128: from 5 to 6) tells one bit more than before.  If
 * floor(240/T) stays the same, that bit must have been kept.  So in a group whose next fingerprint will
 * not make the others shorter, buckets with load 3 (5) or less store one more bit, taken from those
 * that the division leaves over.  A test goes through all loads of four buckets.
 *
 * Layout of a group of n buckets, from bit 0 up:
 *
 *      [ fingerprints of bucket 0 | of bucket 1 | ... | zeros ][ states of buckets 0, 1, ... ]
 *        60 n (120 n) bits in all                                4 (8) bits each
 *
 * Search.  The state bounds the fingerprints that begin like the wanted one.  They lie side by side,
 * two on average, and are compared at once.  A multiplication repeats the wanted one.  A field of x =
 * stored ^ repeated is zero where they agree, and these fields are found without a carry from field to
 * field: with H the highest bits and L the other bits of all fields, ((x & L) + L) | x has the highest
 * bit clear exactly where the field is zero.
 *
 * Plain buckets are those of section II.A.  They are not semi-sorted, the state is the load, and the
 * fingerprints told are those stored, in the order in which they came.
 *
 * Invariants, tested by tamis_i_dleft_bucket_check():
 *   B1  fingerprints of a bucket are in the order of their first bit (two bits), older ones first;
 *   B2  bits past the last fingerprint are zero.
 *
 * After Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese, "Bloom Filters via d-Left Hashing and Dynamic
 * Bit Reassignment", Allerton 2006, sections II.A to II.C.
 *
 * SPDX-License-Identifier: MIT
 */

#include "bits/native.h"

#define DLEFT_TARGET
#define DLEFT(name) dleft_##name
#define DLEFT_OPS   static const tamis_i_dleft_bucket_ops portable[8]
#include "bits/dleft_bucket_template.h"

#define LOADS TAMIS_I_DLEFT_LOADS

const tamis_i_dleft_bucket *tamis_i_dleft_bucket_layout(uint64_t bucket_bits, uint64_t group,
                                                        bool plain) {
    if ((bucket_bits != 64 && bucket_bits != 128) || (group != 1 && group != GROUP))
        return NULL;
    return &tamis_i_dleft_layouts[4 * plain + 2 * (bucket_bits == 128) + (group == GROUP)];
}

unsigned tamis_i_dleft_bucket_words(const tamis_i_dleft_bucket *layout) {
    return layout->words;
}

unsigned tamis_i_dleft_bucket_load_max(const tamis_i_dleft_bucket *layout) {
    return layout->load_max;
}

const tamis_i_dleft_bucket_ops *tamis_i_dleft_bucket_ops_for(const tamis_i_dleft_bucket *layout,
                                                             unsigned features) {
    const tamis_i_dleft_bucket_ops *const native =
        TAMIS_I_DLEFT_BUCKET_NATIVE(layout->number, features);
    return native != NULL ? native : &portable[layout->number];
}

unsigned tamis_i_dleft_bucket_load(const tamis_i_dleft_bucket *layout, const uint64_t *group,
                                   unsigned bucket) {
    return dleft_meaning_of(layout, group, bucket)->bound[4];
}

unsigned tamis_i_dleft_bucket_bits_alone(const tamis_i_dleft_bucket *layout, unsigned load) {
    const tamis_i_dleft_meaning *const any = &layout->states[layout->first_state[load]];
    return any->alone + any->told;
}

unsigned tamis_i_dleft_bucket_bits(const tamis_i_dleft_bucket *layout, const uint64_t *group,
                                   unsigned bucket) {
    const place p = dleft_place_of(layout, group, bucket);
    return p.stored + p.state->told;
}

/* The bits that fingerprints are ordered by. */
static uint64_t dleft_bucket_order_of(const tamis_i_dleft_bucket *layout, uint64_t fingerprint) {
    return layout->order_bits == 0 ? 0 : fingerprint >> (64 - layout->order_bits);
}

/* A group taken apart: full fingerprints, in which only the told bits can be nonzero. */
typedef struct parts {
    unsigned load[GROUP];
    uint64_t fingerprint[GROUP][LOADS];
} parts;

static void dleft_bucket_take_apart(const tamis_i_dleft_bucket *layout, const uint64_t *group,
                                    parts *out) {
    for (unsigned b = 0; b < layout->buckets; b++) {
        const place p = dleft_place_of(layout, group, b);
        out->load[b] = p.state->bound[4];
        unsigned begins = 0;
        for (unsigned i = 0; i < out->load[b]; i++) {
            while (i >= p.state->bound[begins + 1])
                begins++;
            const uint64_t rest = tamis_i_field_get(group, p.at + i * p.stored, p.stored);
            out->fingerprint[b][i] = ((uint64_t)begins << p.stored | rest)
                                     << (64 - p.stored - p.state->told);
        }
    }
}

/* The state of a bucket whose fingerprints are in order: the number of its bounds among those of its
 * load, in the order of the tables: by how many begin with the first bits, then with the next, ... */
static unsigned dleft_bucket_state_for(const tamis_i_dleft_bucket *layout,
                                       const uint64_t *fingerprints, unsigned load) {
    unsigned state = layout->first_state[load];
    const unsigned told = layout->states[state].told;
    if (told == 0)
        return state;
    unsigned count[4] = {0, 0, 0, 0};
    for (unsigned i = 0; i < load; i++)
        count[fingerprints[i] >> (64 - told)]++;
    if (told == 1)
        return state + count[0];
    unsigned left = load;
    for (unsigned c = 0; c < count[0]; c++, left--)
        state += (left + 1) * (left + 2) / 2;
    for (unsigned c = 0; c < count[1]; c++, left--)
        state += left + 1;
    return state + count[2];
}

static void dleft_bucket_put_together(const tamis_i_dleft_bucket *layout, uint64_t *group,
                                      const parts *in) {
    unsigned all = 0, at = 0;
    for (unsigned b = 0; b < layout->buckets; b++)
        all += in->load[b];
    const unsigned bits = layout->stored[all];
    const unsigned stays = layout->stored[all + 1] == bits;
    memset(group, 0, layout->words * sizeof *group);
    for (unsigned b = 0; b < layout->buckets; b++) {
        const unsigned load = in->load[b];
        const tamis_i_dleft_meaning *const any =
            &layout->states[layout->first_state[load]]; /* of this load */
        const unsigned stored = bits + (any->keeps & stays), told = any->told;
        for (unsigned i = 0; i < load; i++, at += stored)
            tamis_i_field_put(group, at, stored, in->fingerprint[b][i] >> (64 - stored - told));
        const unsigned shift = 64 - layout->state_bits * (layout->buckets - b);
        group[layout->words - 1] |=
            (uint64_t)dleft_bucket_state_for(layout, in->fingerprint[b], load) << shift;
    }
    TAMIS_ASSERT(at <= layout->payload_bits);
}

/* Equals take apart, add and put together, for a single bucket of 64 bits: each field in turn is cut to
 * its new length and moved to its new place. */
static bool dleft_bucket_insert64(uint64_t *group, uint64_t fingerprint) {
    const tamis_i_dleft_meaning *const old = &tamis_i_dleft_states64[group[0] >> 60];
    const unsigned load = old->bound[4], width = old->alone;
    if (load == 6)
        return false;
    const unsigned state = tamis_i_dleft_first64[load + 1],
                   new_width = tamis_i_dleft_states64[state].alone;
    const unsigned told = tamis_i_dleft_states64[state].told;
    const unsigned cut = load == 0 ? 0 : width + old->told - new_width - told;
    /* How many begin with 0: told by the state, or counted by their highest bits, as they are in order. */
    unsigned zeros = old->bound[1];
    if (old->told == 0)
        for (zeros = 0; zeros < load && (group[0] >> (width * (zeros + 1) - 1) & 1) == 0;)
            zeros++;
    const unsigned first = (unsigned)(fingerprint >> 63), at = first == 0 ? zeros : load;
    const uint64_t keep = tamis_i_low_mask(new_width), mask = tamis_i_low_mask(width);
    uint64_t word = (fingerprint >> (64 - new_width - told) & keep) << at * new_width;
    for (unsigned i = 0; i < load; i++) {
        uint64_t field = group[0] >> i * width & mask;
        if (old->told != 0 && i >= zeros)
            field |= (uint64_t)1 << width;
        word |= (field >> cut & keep) << (i + (i >= at)) * new_width;
    }
    zeros += first == 0;
    group[0] = word | (uint64_t)(state + (told != 0 ? zeros : 0)) << 60;
    return true;
}

bool tamis_i_dleft_bucket_insert(const tamis_i_dleft_bucket *layout, uint64_t *group,
                                 unsigned bucket, uint64_t fingerprint) {
    if (layout == &tamis_i_dleft_layouts[0])
        return dleft_bucket_insert64(group, fingerprint);
    if (tamis_i_dleft_bucket_load(layout, group, bucket) == layout->load_max)
        return false;
    parts p;
    dleft_bucket_take_apart(layout, group, &p);
    uint64_t *const fingerprints = p.fingerprint[bucket];
    unsigned i = p.load[bucket]++;
    for (; i > 0 && dleft_bucket_order_of(layout, fingerprints[i - 1]) >
                        dleft_bucket_order_of(layout, fingerprint);
         i--)
        fingerprints[i] = fingerprints[i - 1];
    fingerprints[i] = fingerprint;
    dleft_bucket_put_together(layout, group, &p);
    return true;
}

bool tamis_i_dleft_bucket_check(const tamis_i_dleft_bucket *layout, const uint64_t *group,
                                const char **reason) {
    parts p;
    uint64_t again[TAMIS_I_DLEFT_WORDS];
    dleft_bucket_take_apart(layout, group, &p);
    for (unsigned b = 0; b < layout->buckets; b++) {
        for (unsigned i = 1; i < p.load[b]; i++) {
            if (dleft_bucket_order_of(layout, p.fingerprint[b][i - 1]) >
                dleft_bucket_order_of(layout, p.fingerprint[b][i])) {
                *reason = "a bucket is not in order";
                return false;
            }
        }
    }
    dleft_bucket_put_together(layout, again, &p);
    if (memcmp(again, group, layout->words * sizeof *group) != 0) {
        *reason = "a bucket has data past its fingerprints";
        return false;
    }
    return true;
}
