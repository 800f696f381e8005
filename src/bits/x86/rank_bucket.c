/* rank_bucket.c - the work on one bucket of bits/rank_bucket.h, for x86-64 with POPCNT and BMI2
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/rank_bucket.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "bits/native.h"
#include "bits/x86/draw.h"

/* On this machine bytes are in the order of bits. */
static inline uint64_t rank_bucket_byte_window(const uint64_t *table, uint64_t at) {
    uint64_t bits;
    memcpy(&bits, (const unsigned char *)table + at / 8, sizeof bits);
    return bits >> at % 8;
}

/* The 8 bytes that end with or after the last of 'width' bits: a line behind them is not touched. */
static inline uint64_t rank_bucket_byte_window_before(const uint64_t *table, uint64_t at,
                                                      uint64_t width) {
    const uint64_t end = at + width + 7;
    uint64_t bits;
    memcpy(&bits, (const unsigned char *)table + end / 8 - 8, sizeof bits);
    return bits >> (at - (end & ~(uint64_t)7)) % 64;
}

#define RANK_TARGET     TAMIS_I_TARGET_COUNT
#define RANK_ONES(word) ((unsigned)__builtin_popcountll(word))
#define RANK_INDEX(table, at, tight)                                                               \
    ((tight) ? rank_bucket_byte_window(table, at) : rank_bucket_window(table, at))
#define RANK_SLOT   rank_bucket_byte_window_before
#define RANK_LOCATE tamis_i_rank_locate
#define RANK_OPS    static const tamis_i_rank_ops ops
#include "bits/rank_bucket_template.h"

TAMIS_I_TARGET_AVX2 static void rank_locate(const tamis_i_rank_bucket *rank,
                                            const tamis_digest *digests, size_t n,
                                            tamis_i_rank_keys *keys) {
    const uint64_t buckets = rank->n[0], stride = rank->stride[0];
    if (TAMIS_UNLIKELY(n != TAMIS_I_GROUP || (buckets | stride) >> 32 != 0)) {
        tamis_i_rank_locate(rank, digests, n, keys);
        return;
    }
    const __m256i all_buckets = _mm256_set1_epi64x((long long)buckets),
                  all_homes = _mm256_set1_epi64x((long long)rank->homes),
                  all_stride = _mm256_set1_epi64x((long long)stride),
                  all_mask = _mm256_set1_epi64x((long long)rank->fingerprint_mask);
    for (size_t i = 0; i < TAMIS_I_GROUP; i += 4) {
        const tamis_i_drawn d = tamis_i_draw_four(digests + i, all_buckets, all_homes);
        tamis_i_put_four(keys->at + i, _mm256_mul_epu32(d.first, all_stride));
        tamis_i_put_four(keys->home + i, d.second);
        tamis_i_put_four(keys->fingerprint + i, _mm256_and_si256(d.other, all_mask));
    }
}

const tamis_i_rank_ops *tamis_i_rank_bucket_ops_x86(unsigned features) {
    static const tamis_i_rank_ops vectors = {.locate = rank_locate,
                                             .find = rank_bucket_find,
                                             .find_many = rank_bucket_find_many,
                                             .look = rank_bucket_look,
                                             .add = rank_bucket_add,
                                             .drop = rank_bucket_drop,
                                             .add_new = rank_bucket_add_new,
                                             .drop_only = rank_bucket_drop_only};
    const unsigned needed = TAMIS_I_CPU_POPCNT | TAMIS_I_CPU_BMI2;
    if ((features & needed) != needed)
        return NULL;
    return (features & TAMIS_I_CPU_AVX2) != 0 ? &vectors : &ops;
}

#endif
