/* counted_block.c - small Bloom filters in blocks of memory, for x86-64 with AVX2
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/counted_block.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "bits/native.h"
#include "bits/x86/halves.h"

#include <string.h>

#define AVX2 TAMIS_I_TARGET_AVX2

AVX2 static inline __m256i counted_load(const void *p) {
    return _mm256_loadu_si256((const __m256i *)p);
}

AVX2 static inline __m256i counted_all_lanes(uint32_t value) {
    return _mm256_set1_epi32((int)value);
}

/* Half of a hash in all lanes, straight from memory. */
AVX2 static inline __m256i counted_half(const unsigned char *p) {
    int32_t value;
    memcpy(&value, p, sizeof value);
    return _mm256_set1_epi32(value);
}

/* Words past the end of a block are not touched: they may be in another line, or not in our memory. */
AVX2 TAMIS_INLINE __m256i counted_load_words(const uint64_t *from, unsigned words) {
    if (words >= 4)
        return counted_load(from);
    const __m256i number = _mm256_setr_epi64x(0, 1, 2, 3);
    return _mm256_maskload_epi64((const long long *)(const void *)from,
                                 _mm256_cmpgt_epi64(_mm256_set1_epi64x(words), number));
}

AVX2 TAMIS_INLINE tamis_i_halves counted_load_block(const uint64_t *block, unsigned words) {
    return (tamis_i_halves){.low = counted_load_words(block, words),
                            .high = words > 4 ? counted_load_words(block + 4, words - 4)
                                              : _mm256_setzero_si256()};
}

/* The bits that belong to the places and are clear in the block.
 *
 *      place   [ v | lane | bit ]      1 + 3 + 5 bits: which vector, which of its lanes, which bit
 *
 * Both vectors are permuted by lane, and v blends them. */
AVX2 TAMIS_INLINE __m256i counted_missing(tamis_i_halves block, __m256i place, unsigned words) {
    const __m256i lane = _mm256_srli_epi32(place, 5);
    const __m256i bit =
        _mm256_sllv_epi32(counted_all_lanes(1), _mm256_and_si256(place, counted_all_lanes(31)));
    __m256i word = _mm256_permutevar8x32_epi32(block.low, lane);
    if (words > 4) {
        const __m256i high = _mm256_permutevar8x32_epi32(block.high, lane);
        word = _mm256_castps_si256(_mm256_blendv_ps(
            _mm256_castsi256_ps(word), _mm256_castsi256_ps(high),
            _mm256_castsi256_ps(_mm256_slli_epi32(place, 23)))); /* v as the sign */
    }
    return _mm256_andnot_si256(word, bit);
}

/* What does not change from key to key. */
typedef struct frame {
    __m256i bits, first;
    __m256i factors;           /* of the first eight places */
    tamis_i_counted_block own; /* a copy, so no write can alias it */
    uint64_t counter;          /* mask */
} frame;

AVX2 TAMIS_INLINE __m256i counted_factors_from(const tamis_i_counted_block *layout, unsigned from) {
    return tamis_i_halves_factors(tamis_i_counted_block_factors, from, layout->hashes);
}

AVX2 TAMIS_INLINE frame counted_frame_of(const tamis_i_counted_block *layout) {
    return (frame){.own = *layout,
                   .factors = counted_factors_from(layout, 0),
                   .bits = counted_all_lanes(layout->bits),
                   .first = counted_all_lanes(layout->first),
                   .counter = ((uint64_t)1 << layout->first) - 1};
}

/* Eight places: tamis_i_counted_block_place in each lane.  Both factors of the second product are below
 * 2^16 in lanes of 32 bits: its high half is the place. */
AVX2 TAMIS_INLINE __m256i counted_places(const frame *f, const uint64_t *hash, __m256i factors) {
    const unsigned char *const halves = (const unsigned char *)hash;
    const __m256i where = _mm256_add_epi32(_mm256_mullo_epi32(counted_half(halves), factors),
                                           counted_half(halves + 4));
    return _mm256_add_epi32(_mm256_mulhi_epu16(_mm256_srli_epi32(where, 16), f->bits), f->first);
}

/* Does the block lack one of the first eight bits of the hash?  For most absent keys it does. */
AVX2 TAMIS_INLINE bool counted_lacks_first(const frame *f, const uint64_t *block,
                                           const uint64_t *hash, unsigned words) {
    const __m256i lacks = counted_missing(counted_load_block(block, words),
                                          counted_places(f, hash, f->factors), words);
    return _mm256_testz_si256(lacks, lacks) == 0;
}

/* Does it lack one of the others?  There are 'eights' times eight. */
AVX2 TAMIS_INLINE bool counted_lacks_other(const frame *f, const uint64_t *block,
                                           const uint64_t *hash, const __m256i *factors,
                                           unsigned eights, unsigned words) {
    const tamis_i_halves both = counted_load_block(block, words);
    __m256i lacks = counted_missing(both, counted_places(f, hash, factors[0]), words);
    for (unsigned i = 1; i < eights; i++)
        lacks = _mm256_or_si256(lacks,
                                counted_missing(both, counted_places(f, hash, factors[i]), words));
    return _mm256_testz_si256(lacks, lacks) == 0;
}

/* Of the keys that have the first eight bits, given as a mask, those that also have the others. */
AVX2 TAMIS_INLINE uint32_t counted_with_others(const frame *f, const tamis_i_probe *probes,
                                               uint32_t present, unsigned eights, unsigned words) {
    __m256i factors[3];
    for (unsigned i = 0; i < eights; i++)
        factors[i] = counted_factors_from(&f->own, 8 + 8 * i);
    for (uint32_t left = present; left != 0; left &= left - 1) {
        const tamis_i_probe *const p = &probes[__builtin_ctz(left)];
        if (counted_lacks_other(f, p->at[0], &p->word[TAMIS_I_COUNTED_BLOCK_HASH], factors, eights,
                                words))
            present ^= left & -left;
    }
    return present;
}

AVX2 TAMIS_INLINE bool counted_test_block(const tamis_i_counted_block *layout,
                                          const uint64_t *block, uint64_t hash, unsigned words) {
    const frame f = counted_frame_of(layout);
    if (counted_lacks_first(&f, block, &hash, words))
        return false;
    for (unsigned from = 8; from < f.own.hashes; from += 8) {
        const __m256i factors = counted_factors_from(&f.own, from);
        if (counted_lacks_other(&f, block, &hash, &factors, 1, words))
            return false;
    }
    return true;
}

AVX2 static bool counted_block_test(const tamis_i_counted_block *layout, const uint64_t *block,
                                    uint64_t hash) {
    return layout->words == 8   ? counted_test_block(layout, block, hash, 8)
           : layout->words == 4 ? counted_test_block(layout, block, hash, 4)
                                : counted_test_block(layout, block, hash, layout->words);
}

AVX2 TAMIS_INLINE bool counted_refuses(const frame *f, const tamis_i_probe *probe) {
    return ((probe->at[0][0] & f->counter) << 32 | probe->word[TAMIS_I_COUNTED_BLOCK_COIN]) >=
           f->own.limit;
}

/* Test the first eight bits of all keys, then the other bits of the keys that have these.  No processor
 * can predict whether a key has them, so there is no branch per key. */
AVX2 TAMIS_INLINE uint64_t counted_look_at(const tamis_i_counted_block *layout,
                                           const tamis_i_probe *probes, size_t n,
                                           const tamis_i_probe *next, unsigned words) {
    const frame f = counted_frame_of(layout);
    uint32_t present = 0, refused = 0;
    for (size_t j = n; j-- > 0;) {
        const tamis_i_probe *const p = &probes[j];

        TAMIS_PREFETCH(next[j].at[0]);
        present = 2 * present +
                  !counted_lacks_first(&f, p->at[0], &p->word[TAMIS_I_COUNTED_BLOCK_HASH], words);
        refused = 2 * refused + counted_refuses(&f, p);
    }
    if (f.own.hashes > 8 && present != 0)
        present = f.own.hashes <= 16   ? counted_with_others(&f, probes, present, 1, words)
                  : f.own.hashes <= 24 ? counted_with_others(&f, probes, present, 2, words)
                                       : counted_with_others(&f, probes, present, 3, words);
    return (uint64_t)refused << 32 | present;
}

AVX2 static uint64_t counted_block_look(const tamis_i_counted_block *layout,
                                        const tamis_i_probe *probes, size_t n,
                                        const tamis_i_probe *next) {
    return layout->words == 8   ? counted_look_at(layout, probes, n, next, 8)
           : layout->words == 4 ? counted_look_at(layout, probes, n, next, 4)
                                : counted_look_at(layout, probes, n, next, layout->words);
}

AVX2 TAMIS_INLINE void counted_store_words(uint64_t *to, __m256i value, unsigned words) {
    if (words >= 4) {
        _mm256_storeu_si256((__m256i *)(void *)to, value);
        return;
    }
    const __m256i number = _mm256_setr_epi64x(0, 1, 2, 3);
    _mm256_maskstore_epi64((long long *)(void *)to,
                           _mm256_cmpgt_epi64(_mm256_set1_epi64x(words), number), value);
}

/* The entries of two keys, 'eights' times eight of each, in turns. */
AVX2 TAMIS_INLINE void counted_find_entries(const tamis_i_counted_block *layout,
                                            const uint64_t *even, const uint64_t *odd,
                                            const __m256i *factors, uint16_t (*entries)[2],
                                            unsigned eights) {
    const unsigned char *const hash[2] = {(const unsigned char *)even, (const unsigned char *)odd};
    const __m256i low[2] = {counted_half(hash[0]), counted_half(hash[1])};
    const __m256i high[2] = {counted_half(hash[0] + 4), counted_half(hash[1] + 4)};
    const __m256i bits = _mm256_set1_epi16((short)layout->bits);
    const __m256i first = _mm256_set1_epi16((short)layout->first);
    for (unsigned i = 0; i < eights; i++) {
        const __m256i where =
            tamis_i_halves_pair(_mm256_add_epi32(_mm256_mullo_epi32(low[0], factors[i]), high[0]),
                                _mm256_add_epi32(_mm256_mullo_epi32(low[1], factors[i]), high[1]));
        const __m256i place = _mm256_add_epi16(_mm256_mulhi_epu16(where, bits), first);
        _mm256_storeu_si256((__m256i *)(void *)entries[8 * i],
                            tamis_i_halves_entries(place, _mm256_set1_epi16(31)));
    }
}

AVX2 TAMIS_INLINE void counted_find_places(const tamis_i_counted_block *layout,
                                           const tamis_digest *digests, size_t n,
                                           tamis_i_probe *probes,
                                           tamis_i_counted_block_places *places, unsigned eights) {
    const tamis_i_counted_block own = *layout; /* a copy, so no write can alias it */
    __m256i factors[4];
    for (unsigned i = 0; i < eights; i++)
        factors[i] = counted_factors_from(&own, 8 * i);
    size_t j = 0;
    for (; j + 1 < n; j += 2) {
        uint16_t(*const entries)[2] = places->at[j / 2];
        counted_find_entries(&own, &digests[j].hi, &digests[j + 1].hi, factors, entries, eights);
        probes[j].at[1] = (uint64_t *)(void *)&entries[0][0];
        probes[j + 1].at[1] = (uint64_t *)(void *)&entries[0][1];
    }
    if (j < n) {
        uint16_t(*const entries)[2] = places->at[j / 2];
        counted_find_entries(&own, &digests[j].hi, &digests[j].hi, factors, entries, eights);
        probes[j].at[1] = (uint64_t *)(void *)&entries[0][0];
    }
}

AVX2 static void counted_block_prepare(const tamis_i_counted_block *layout,
                                       const tamis_digest *digests, size_t n, tamis_i_probe *probes,
                                       tamis_i_counted_block_places *places) {
    if (layout->hashes <= 8)
        counted_find_places(layout, digests, n, probes, places, 1);
    else if (layout->hashes <= 16)
        counted_find_places(layout, digests, n, probes, places, 2);
    else if (layout->hashes <= 24)
        counted_find_places(layout, digests, n, probes, places, 3);
    else
        counted_find_places(layout, digests, n, probes, places, 4);
}

/* The lowest n bits, 1 to 32, in reverse order. */
TAMIS_INLINE uint32_t counted_reverse(uint32_t x, size_t n) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x) >> (32 - n);
}

/* If a block refuses its key, the changed block is written elsewhere.  Near the capacity a refusal is
 * random, so a branch would be mispredicted. */
AVX2 TAMIS_INLINE uint64_t counted_fill_blocks(const tamis_i_counted_block *layout,
                                               const tamis_i_probe *probes, size_t n, bool stop,
                                               unsigned hashes, unsigned words) {
    const uint64_t limit = layout->limit, counter = ((uint64_t)1 << layout->first) - 1;
    uint64_t nowhere[TAMIS_I_COUNTED_BLOCK_WORDS];
    uint32_t fresh = 0, taken = 0; /* the first key is the highest bit */
    for (size_t j = 0; j < n; j++) {
        uint64_t *const block = probes[j].at[0];
        const uint16_t *const entries = (const uint16_t *)(const void *)probes[j].at[1];
        const uint64_t coin = probes[j].word[TAMIS_I_COUNTED_BLOCK_COIN];
        const bool takes = ((block[0] & counter) << 32 | coin) < limit;
        if (stop && !takes)
            return (uint64_t)1 << (32 + j) | (j == 0 ? 0 : counted_reverse(fresh, j));
        const tamis_i_halves bits = tamis_i_halves_of(entries, hashes, words);
        const tamis_i_halves old = counted_load_block(block, words);
        uint64_t *const to = stop || takes ? block : nowhere;
        const bool lacks = tamis_i_halves_lack(old, bits, words);
        const __m256i one = _mm256_zextsi128_si256(_mm_cvtsi32_si128(lacks));
        counted_store_words(to, _mm256_add_epi64(_mm256_or_si256(old.low, bits.low), one), words);
        if (words > 4)
            counted_store_words(to + 4, _mm256_or_si256(old.high, bits.high), words - 4);
        taken = 2 * taken + takes;
        fresh = 2 * fresh + lacks;
    }
    if (n == 0)
        return 0;
    return stop ? counted_reverse(fresh, n)
                : (uint64_t)counted_reverse(fresh & ~taken, n) << 32 |
                      counted_reverse(fresh & taken, n);
}

AVX2 TAMIS_INLINE uint64_t counted_fill_words(const tamis_i_counted_block *layout,
                                              const tamis_i_probe *probes, size_t n, bool stop,
                                              unsigned words) {
    const unsigned hashes = layout->hashes;
    if (words == 8 && hashes > 4 && hashes <= 8) /* the most common: no jump */
        return stop ? counted_fill_blocks(layout, probes, n, true, 8, words)
                    : counted_fill_blocks(layout, probes, n, false, 8, words);
    return stop ? counted_fill_blocks(layout, probes, n, true, hashes, words)
                : counted_fill_blocks(layout, probes, n, false, hashes, words);
}

AVX2 static uint64_t counted_block_fill(const tamis_i_counted_block *layout,
                                        const tamis_i_probe *probes, size_t n, bool stop) {
    return layout->words == 8   ? counted_fill_words(layout, probes, n, stop, 8)
           : layout->words == 4 ? counted_fill_words(layout, probes, n, stop, 4)
                                : counted_fill_words(layout, probes, n, stop, layout->words);
}

AVX2 TAMIS_INLINE bool counted_set_block(const tamis_i_counted_block *layout, uint64_t *block,
                                         uint64_t hash, unsigned words) {
    uint16_t entries[TAMIS_I_COUNTED_BLOCK_PLACES][2];
    __m256i factors[4];
    const unsigned eights = (layout->hashes + 7) / 8;
    for (unsigned i = 0; i < eights; i++)
        factors[i] = counted_factors_from(layout, 8 * i);
    counted_find_entries(layout, &hash, &hash, factors, entries, eights);
    const tamis_i_halves old = counted_load_block(block, words);
    const tamis_i_halves bits = tamis_i_halves_of(entries[0], layout->hashes, words);
    counted_store_words(block, _mm256_or_si256(old.low, bits.low), words);
    if (words > 4)
        counted_store_words(block + 4, _mm256_or_si256(old.high, bits.high), words - 4);
    return tamis_i_halves_lack(old, bits, words);
}

AVX2 static bool counted_block_set(const tamis_i_counted_block *layout, uint64_t *block,
                                   uint64_t hash) {
    return layout->words == 8   ? counted_set_block(layout, block, hash, 8)
           : layout->words == 4 ? counted_set_block(layout, block, hash, 4)
                                : counted_set_block(layout, block, hash, layout->words);
}

const tamis_i_counted_block_ops *tamis_i_counted_block_ops_x86(unsigned features) {
    static const tamis_i_counted_block_ops ops = {counted_block_test, counted_block_set,
                                                  counted_block_look, counted_block_prepare,
                                                  counted_block_fill};
    return (features & TAMIS_I_CPU_AVX2) != 0 ? &ops : NULL;
}

#undef AVX2

#endif
