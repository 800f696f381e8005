/* block.c - a Bloom filter in one block, for 64-bit ARM with NEON
 *
 * A block is 64 bytes, as many as TBL looks up: four registers are one table.  The top six bits of a
 * place select the byte, the next three the bit:
 *
 *      place      [ byte | bit ]        top 9 bits of a 32-bit lane
 *
 * All places of a key are narrowed to bytes, eight or sixteen.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/atomic_words.h"
#include "bits/native.h"

#ifdef TAMIS_I_NATIVE_ARM

#include "bits/block.h"

#include <arm_neon.h>

/* The first byte of each word of a block. */
#define LANES_FIRST 0x3830282018100800u

TAMIS_INLINE uint8x16x4_t block_load(const uint8_t *block) {
    return (uint8x16x4_t){
        {vld1q_u8(block), vld1q_u8(block + 16), vld1q_u8(block + 32), vld1q_u8(block + 48)}};
}

/* What all keys of a call share: factors, and 1 in the lanes that k bits use.  'more': more than eight
 * bits. */
typedef struct block_draw {
    uint32x4_t factors[4];
    uint8x16_t ones;
} block_draw;

TAMIS_INLINE block_draw block_draw_of(unsigned k, bool more) {
    static const uint8_t lanes[32] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    block_draw draw;
    for (unsigned i = 0; i < 4; i++)
        draw.factors[i] = vld1q_u32(tamis_i_block_factors + 4 * (size_t)(more ? i : i % 2));
    draw.ones =
        more ? vld1q_u8(lanes + (16 - k)) : vcombine_u8(vld1_u8(lanes + (16 - k)), vdup_n_u8(0));
    return draw;
}

/* The places of one key: bytes, and the bit in each, which is 0 in unused lanes. */
typedef struct block_key {
    uint8x16_t bytes, bits;
} block_key;

/* The top halves of eight places. */
TAMIS_INLINE uint16x8_t block_places(uint64_t hash, uint32x4_t factors0, uint32x4_t factors1) {
    const uint32x4_t high = vdupq_n_u32((uint32_t)(hash >> 32));
    return vuzp2q_u16(vreinterpretq_u16_u32(vmlaq_n_u32(high, factors0, (uint32_t)hash)),
                      vreinterpretq_u16_u32(vmlaq_n_u32(high, factors1, (uint32_t)hash)));
}

TAMIS_INLINE block_key block_key_of(const block_draw *draw, uint64_t hash, bool more) {
    const uint16x8_t low = block_places(hash, draw->factors[0], draw->factors[1]);
    const uint16x8_t high = more ? block_places(hash, draw->factors[2], draw->factors[3]) : low;
    const uint8x16_t bytes =
        vshrq_n_u8(vuzp2q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high)), 2);
    const uint8x16_t bit = vandq_u8(more ? vshrn_high_n_u16(vshrn_n_u16(low, 7), high, 7)
                                         : vcombine_u8(vshrn_n_u16(low, 7), vdup_n_u8(0)),
                                    vdupq_n_u8(7));
    return (block_key){bytes, vshlq_u8(draw->ones, vreinterpretq_s8_u8(bit))};
}

/* Is one of its bits clear in the block? */
TAMIS_INLINE bool block_lacks(const uint8_t *block, block_key key, bool more) {
    const uint8x16_t lacks = vbicq_u8(key.bits, vqtbl4q_u8(block_load(block), key.bytes));
    const uint64x2_t words = vreinterpretq_u64_u8(more ? vpmaxq_u8(lacks, lacks) : lacks);
    return vgetq_lane_u64(words, 0) != 0;
}

/* ---- the operations ---- */

TAMIS_INLINE bool block_test_one(const uint64_t *block, uint64_t hash, unsigned k, bool more) {
    const block_draw draw = block_draw_of(k, more);
    return !block_lacks((const uint8_t *)block, block_key_of(&draw, hash, more), more);
}

static bool block_test(const uint64_t *block, uint64_t hash, unsigned k) {
    return k <= 8 ? block_test_one(block, hash, k, false) : block_test_one(block, hash, k, true);
}

TAMIS_INLINE void block_test_all(const tamis_i_probe *probes, size_t n, unsigned k,
                                 const tamis_i_probe *next, bool *present, bool more) {
    const block_draw draw = block_draw_of(k, more);
    for (size_t j = 0; j < n; j++) {
        TAMIS_PREFETCH(next[j].at[0]);
        present[j] = !block_lacks((const uint8_t *)probes[j].at[0],
                                  block_key_of(&draw, probes[j].word[0], more), more);
    }
}

static void block_test_many(const tamis_i_probe *probes, size_t n, unsigned k,
                            const tamis_i_probe *next, bool *present) {
    if (k <= 8)
        block_test_all(probes, n, k, next, present, false);
    else
        block_test_all(probes, n, k, next, present, true);
}

/* Set four bits, byte by byte. */
TAMIS_INLINE void block_set_four(uint8_t *block, uint64_t bytes, uint64_t bits) {
    for (unsigned i = 0; i < 4; i++) {
        uint8_t *const byte = block + (bytes >> 8 * i & 0xff);
        *byte = (uint8_t)(*byte | (bits >> 8 * i & 0xff));
    }
}

/* Set the bits of eight lanes, or of the first four. */
TAMIS_INLINE void block_set_eight(uint8_t *block, uint8x8_t bytes, uint8x8_t bits, bool upper) {
    const uint64_t at = vget_lane_u64(vreinterpret_u64_u8(bytes), 0),
                   which = vget_lane_u64(vreinterpret_u64_u8(bits), 0);
    block_set_four(block, at, which);
    if (upper)
        block_set_four(block, at >> 32, which >> 32);
}

TAMIS_INLINE size_t block_set_all(const tamis_i_probe *probes, size_t n, unsigned k, bool *changed,
                                  bool more) {
    const block_draw draw = block_draw_of(k, more);
    size_t sum = 0;
    for (size_t j = 0; j < n; j++) {
        uint8_t *const block = (uint8_t *)probes[j].at[0];
        const block_key key = block_key_of(&draw, probes[j].word[0], more);
        changed[j] = block_lacks(block, key, more);
        sum += changed[j];
        block_set_eight(block, vget_low_u8(key.bytes), vget_low_u8(key.bits), k > 4);
        if (more)
            block_set_eight(block, vget_high_u8(key.bytes), vget_high_u8(key.bits), k > 12);
    }
    return sum;
}

static size_t block_set_many(const tamis_i_probe *probes, size_t n, unsigned k, bool *changed) {
    return k <= 8 ? block_set_all(probes, n, k, changed, false)
                  : block_set_all(probes, n, k, changed, true);
}

/* ---- lanes: a place in each of the eight words, by a byte of the hash ---- */

TAMIS_INLINE block_key block_lanes_key_of(uint64_t hash) {
    const uint8x8_t place = vcreate_u8(hash);
    const uint8x8_t bytes = vadd_u8(vshr_n_u8(vshl_n_u8(place, 2), 5), vcreate_u8(LANES_FIRST));
    const uint8x8_t bits = vshl_u8(vdup_n_u8(1), vreinterpret_s8_u8(vand_u8(place, vdup_n_u8(7))));
    return (block_key){vcombine_u8(bytes, vdup_n_u8(0)), vcombine_u8(bits, vdup_n_u8(0))};
}

static bool block_lanes_test(const uint64_t *block, uint64_t hash, unsigned k) {
    (void)k;
    return !block_lacks((const uint8_t *)block, block_lanes_key_of(hash), false);
}

static void block_lanes_test_many(const tamis_i_probe *probes, size_t n, unsigned k,
                                  const tamis_i_probe *next, bool *present) {
    for (size_t j = 0; j < n; j++) {
        TAMIS_PREFETCH(next[j].at[0]);
        present[j] = block_lanes_test(probes[j].at[0], probes[j].word[0], k);
    }
}

static size_t block_lanes_set_many(const tamis_i_probe *probes, size_t n, unsigned k,
                                   bool *changed) {
    size_t sum = 0;
    (void)k;
    for (size_t j = 0; j < n; j++) {
        uint8_t *const block = (uint8_t *)probes[j].at[0];
        const block_key key = block_lanes_key_of(probes[j].word[0]);
        changed[j] = block_lacks(block, key, false);
        sum += changed[j];
        block_set_eight(block, vget_low_u8(key.bytes), vget_low_u8(key.bits), true);
    }
    return sum;
}

/* Vectors of what was read word by word. */
static void block_read(const uint64_t *block, uint64_t *copy) {
    for (unsigned i = 0; i < TAMIS_LINE_WORDS; i += 2)
        vst1q_u64(copy + i, vcombine_u64(vcreate_u64(tamis_i_word_read(block + i)),
                                         vcreate_u64(tamis_i_word_read(block + i + 1))));
}

static bool block_test_read(const uint64_t *block, uint64_t hash, unsigned k) {
    uint64_t copy[TAMIS_LINE_WORDS];
    block_read(block, copy);
    return block_test(copy, hash, k);
}

static bool block_lanes_test_read(const uint64_t *block, uint64_t hash, unsigned k) {
    uint64_t copy[TAMIS_LINE_WORDS];
    block_read(block, copy);
    return block_lanes_test(copy, hash, k);
}

const tamis_i_block_ops *tamis_i_block_ops_arm(unsigned lanes, unsigned features) {
    static const tamis_i_block_ops places = {block_test, block_test_many, block_set_many,
                                             block_read, block_test_read},
                                   in_lanes = {block_lanes_test, block_lanes_test_many,
                                               block_lanes_set_many, block_read,
                                               block_lanes_test_read};
    if ((features & TAMIS_I_CPU_NEON) == 0)
        return NULL;
    return lanes != 0 ? &in_lanes : &places;
}

#endif
