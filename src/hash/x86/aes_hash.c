/* aes_hash.c - the hash for strangers' keys, for x86-64 with AES instructions
 *
 * One instruction is a round.  With VAES one instruction is a round of two blocks, and batches of integers
 * have four keys under way.
 *
 * SPDX-License-Identifier: MIT
 */
#include "hash/aes_hash.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "hash/aes_block.h"
#include "hash/x86/aes_word.h"

#define TAMIS_I_AES  TAMIS_I_TARGET_AES
#define TAMIS_I_LONG TAMIS_I_TARGET_AES_AVX2
#define TAMIS_I_VAES TAMIS_I_TARGET_VAES

TAMIS_I_AES TAMIS_INLINE __m128i aes_finish(const tamis_i_hash_keys *keys, tamis_digest block) {
    return tamis_i_aes_rounds(keys, _mm_set_epi64x((long long)block.hi, (long long)block.lo));
}

TAMIS_I_AES TAMIS_INLINE void aes_store(tamis_digest *digest, __m128i state) {
    _mm_storeu_si128((__m128i *)(void *)digest, state);
}

/* ---- bytes ---- */

TAMIS_I_AES TAMIS_INLINE __m128i aes_of_short(const tamis_i_hash_keys *keys,
                                              const unsigned char *key, size_t size) {
    return aes_finish(keys, tamis_i_aes_short(keys, key, size));
}

TAMIS_I_AES static tamis_digest aes_hash(const tamis_i_hash_keys *keys, const void *key,
                                         size_t size) {
    return tamis_i_aes_words_of(size <= 16 ? aes_of_short(keys, key, size)
                                           : aes_finish(keys, tamis_i_aes_beyond(keys, key, size)));
}

TAMIS_I_AES static void aes_many(const tamis_i_hash_keys *keys, const tamis_bytes *from, size_t n,
                                 tamis_digest *digests) {
    for (size_t i = 0; i < n; i++)
        digests[i] = aes_hash(keys, from[i].data, from[i].size);
}

/* ---- bytes, with AVX2: four products at a time ---- */

typedef struct aes_vectors {
    __m256i s[4];
} aes_vectors;

TAMIS_I_LONG TAMIS_INLINE void aes_add_block(aes_vectors *sums, const unsigned char *p,
                                             const uint64_t (*keys)[4]) {
    const __m256i words = _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)(const void *)p));
    for (unsigned j = 0; j < 4; j++) {
        const __m256i key = _mm256_loadu_si256((const __m256i *)(const void *)keys[j]);
        sums->s[j] = _mm256_add_epi64(sums->s[j], _mm256_mul_epu32(words, key));
    }
}

/* The four lanes of each vector added up. */
TAMIS_I_LONG TAMIS_INLINE tamis_i_aes_sums aes_sums(const aes_vectors *v) {
    const __m256i a = _mm256_add_epi64(_mm256_unpacklo_epi64(v->s[0], v->s[1]),
                                       _mm256_unpackhi_epi64(v->s[0], v->s[1])),
                  b = _mm256_add_epi64(_mm256_unpacklo_epi64(v->s[2], v->s[3]),
                                       _mm256_unpackhi_epi64(v->s[2], v->s[3]));
    const __m128i low = _mm_add_epi64(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1)),
                  high = _mm_add_epi64(_mm256_castsi256_si128(b), _mm256_extracti128_si256(b, 1));
    return (tamis_i_aes_sums){
        {(uint64_t)_mm_cvtsi128_si64(low), (uint64_t)_mm_extract_epi64(low, 1),
         (uint64_t)_mm_cvtsi128_si64(high), (uint64_t)_mm_extract_epi64(high, 1)}};
}

/* The blocks from p to before 'end', one at least. */
TAMIS_I_LONG TAMIS_INLINE void aes_add_blocks(aes_vectors *sums, const unsigned char *p,
                                              const unsigned char *end,
                                              const uint64_t (*keys)[4][4]) {
    do {
        aes_add_block(sums, p, *keys++);
        p += 16;
    } while (p < end);
}

TAMIS_I_LONG TAMIS_INLINE __m128i aes_of_middle(const tamis_i_hash_keys *keys,
                                                const unsigned char *p, size_t n) {
    const __m256i zero = _mm256_setzero_si256();
    aes_vectors sums = {{zero, zero, zero, zero}};
    aes_add_block(&sums, p + n - 16, keys->words[0]);
    aes_add_blocks(&sums, p, p + n - 16, keys->words + 1);
    const tamis_digest value = tamis_i_aes_fold(tamis_i_aes_value(aes_sums(&sums), n));
    return aes_finish(keys, tamis_i_aes_begin(keys, value.lo, value.hi, TAMIS_I_AES_MIDDLE));
}

/* v of a chunk.  A function of its own that is told where the chunk ends, or gcc would load all keys before
 * the first chunk, make all products before the first sum, and have no registers for them. */
TAMIS_I_LONG TAMIS_APART void aes_chunk(const tamis_i_hash_keys *keys, const unsigned char *p,
                                        const unsigned char *end, tamis_i_aes_number *number) {
    const __m256i zero = _mm256_setzero_si256();
    aes_vectors sums = {{zero, zero, zero, zero}};
    aes_add_blocks(&sums, p, end, keys->words);
    *number = tamis_i_aes_value(aes_sums(&sums), 0);
}

TAMIS_I_LONG TAMIS_APART tamis_digest aes_of_long(const tamis_i_hash_keys *keys,
                                                  const unsigned char *p, size_t n) {
    tamis_digest a = {.lo = n, .hi = 0};
    for (size_t done = 0; done < n; done += TAMIS_I_AES_CHUNK) {
        const size_t at = n - done < TAMIS_I_AES_CHUNK ? n - TAMIS_I_AES_CHUNK : done;
        tamis_i_aes_number number;
        aes_chunk(keys, p + at, p + at + TAMIS_I_AES_CHUNK, &number);
        a = tamis_i_aes_fold(tamis_i_aes_advance(number, a, keys->point));
    }
    const __m128i state = aes_finish(keys, tamis_i_aes_begin(keys, a.lo, a.hi, TAMIS_I_AES_LONG));
    return tamis_i_aes_words_of(state);
}

TAMIS_I_LONG static tamis_digest aes_hash_avx2(const tamis_i_hash_keys *keys, const void *key,
                                               size_t size) {
    if (size <= 16)
        return tamis_i_aes_words_of(aes_of_short(keys, key, size));
    if (size <= TAMIS_I_AES_CHUNK)
        return tamis_i_aes_words_of(aes_of_middle(keys, key, size));
    return aes_of_long(keys, key, size);
}

TAMIS_I_LONG static void aes_many_avx2(const tamis_i_hash_keys *keys, const tamis_bytes *from,
                                       size_t n, tamis_digest *digests) {
    for (size_t i = 0; i < n; i++) {
        const size_t size = from[i].size;
        if (size <= 16)
            aes_store(digests + i, aes_of_short(keys, from[i].data, size));
        else if (size <= TAMIS_I_AES_CHUNK)
            aes_store(digests + i, aes_of_middle(keys, from[i].data, size));
        else
            digests[i] = aes_of_long(keys, from[i].data, size);
    }
}

/* ---- integers ---- */

TAMIS_I_AES static tamis_digest aes_word(const tamis_i_hash_keys *keys, uint64_t key) {
    return tamis_i_aes_word(keys, key);
}

TAMIS_I_AES static void aes_many_words(const tamis_i_hash_keys *keys, const uint64_t *from,
                                       size_t n, tamis_digest *digests) {
    for (size_t i = 0; i < n; i++)
        aes_store(digests + i, tamis_i_aes_rounds(keys, tamis_i_aes_state(keys, from[i])));
}

TAMIS_I_VAES TAMIS_INLINE __m256i aes_both(const uint64_t key[2]) {
    return _mm256_broadcastsi128_si256(tamis_i_aes_load(key));
}

TAMIS_I_VAES static void aes_many_words_vaes(const tamis_i_hash_keys *keys, const uint64_t *from,
                                             size_t n, tamis_digest *digests) {
    const __m256i low = _mm256_set1_epi64x((long long)keys->start[8][0]),
                  high = _mm256_set1_epi64x((long long)keys->start[8][1]);
    __m256i round[TAMIS_I_AES_ROUNDS + 1];
    for (unsigned i = 1; i <= TAMIS_I_AES_ROUNDS; i++)
        round[i] = aes_both(keys->schedule.round[i]);
    const size_t whole = n - n % 4;
    for (size_t i = 0; i < whole; i += 4) {
        /* 0 1 2 3 becomes 0 2 1 3, of which the even ones are keys 0 and 1. */
        const __m256i four = _mm256_xor_si256(
            _mm256_permute4x64_epi64(_mm256_loadu_si256((const __m256i *)(const void *)(from + i)),
                                     0xd8),
            low);
        __m256i a = _mm256_unpacklo_epi64(four, high), b = _mm256_unpackhi_epi64(four, high);
        for (unsigned j = 1; j < TAMIS_I_AES_ROUNDS; j++) {
            a = _mm256_aesenc_epi128(a, round[j]);
            b = _mm256_aesenc_epi128(b, round[j]);
        }
        a = _mm256_aesenclast_epi128(a, round[TAMIS_I_AES_ROUNDS]);
        b = _mm256_aesenclast_epi128(b, round[TAMIS_I_AES_ROUNDS]);
        _mm256_storeu_si256((__m256i *)(void *)(digests + i), a);
        _mm256_storeu_si256((__m256i *)(void *)(digests + i + 2), b);
    }
    for (size_t i = whole; i < n; i++)
        aes_store(digests + i, tamis_i_aes_rounds(keys, tamis_i_aes_state(keys, from[i])));
}

/* ---- the keys of a seed ---- */

TAMIS_I_AES static tamis_digest aes_encrypt(const tamis_i_aes_schedule *schedule,
                                            tamis_digest block) {
    const uint64_t(*const round)[2] = schedule->round;
    __m128i state = _mm_xor_si128(_mm_set_epi64x((long long)block.hi, (long long)block.lo),
                                  tamis_i_aes_load(round[0]));
    for (unsigned i = 1; i < TAMIS_I_AES_ROUNDS; i++)
        state = _mm_aesenc_si128(state, tamis_i_aes_load(round[i]));
    return tamis_i_aes_words_of(
        _mm_aesenclast_si128(state, tamis_i_aes_load(round[TAMIS_I_AES_ROUNDS])));
}

/* Four equal columns: turning the rows changes nothing. */
TAMIS_I_AES static uint32_t aes_substitute(uint32_t column) {
    return (uint32_t)_mm_cvtsi128_si32(
        _mm_aesenclast_si128(_mm_set1_epi32((int)column), _mm_setzero_si128()));
}

const tamis_i_hash_ops *tamis_i_aes_ops_x86(unsigned features) {
    static const tamis_i_hash_ops aes = {aes_word, aes_hash,    aes_many_words,
                                         aes_many, aes_encrypt, aes_substitute},
                                  avx2 = {aes_word,      aes_hash_avx2, aes_many_words,
                                          aes_many_avx2, aes_encrypt,   aes_substitute},
                                  vaes = {aes_word,      aes_hash_avx2, aes_many_words_vaes,
                                          aes_many_avx2, aes_encrypt,   aes_substitute};
    if ((features & TAMIS_I_CPU_AES) == 0)
        return NULL;
    if ((features & TAMIS_I_CPU_AVX2) == 0)
        return &aes;
    return (features & TAMIS_I_CPU_VAES) != 0 ? &vaes : &avx2;
}

#undef TAMIS_I_AES
#undef TAMIS_I_LONG
#undef TAMIS_I_VAES

#endif
