/* blocked_bloom.c - calls for one key of a blocked-bloom in one piece, for x86-64 with AVX2, BMI2 and AES
 *
 * Inserts write the block whether a bit is new or not: only the count, and who asks for it, depends
 * on what was there.  An integer's hash stays in its register.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/native.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "bits/x86/block_key.h"
#include "filter/blocked_bloom.h"
#include "hash/x86/aes_word.h"

#define FAST     TAMIS_I_TARGET_ALL
#define FAST_AES TAMIS_I_TARGET_ALL_AES

FAST TAMIS_INLINE tamis_status blocked_count(tamis_filter *filter, bool fresh, bool *added) {
    __asm__("" : "+r"(fresh)); /* to be counted and to be told: not found out twice */
    filter->state[TAMIS_I_COUNT] += fresh;
    if (added != NULL)
        *added = fresh;
    return TAMIS_OK;
}

FAST TAMIS_INLINE __m128i blocked_upper(tamis_digest digest) {
    return _mm_set_epi64x((long long)digest.hi, 0);
}

FAST_AES TAMIS_INLINE __m128i blocked_hash(const tamis_filter *filter, uint64_t key) {
    return tamis_i_aes_rounds(&filter->hasher.keys, tamis_i_aes_state(&filter->hasher.keys, key));
}

FAST TAMIS_INLINE uint64_t *blocked_block(const tamis_filter *filter, __m128i hash) {
    return tamis_i_blocked_block(filter, (uint64_t)_mm_cvtsi128_si64(hash));
}

/* 'of_digest' and 'of_hash' are what a key sets in its block, 'have' and 'add' the work on that. */
#define CALLS(name, of_digest, of_hash, have, add)                                                 \
    FAST static bool blocked_contains_##name(const tamis_filter *filter, tamis_digest digest) {    \
        const uint64_t *const block = tamis_i_blocked_block(filter, digest.lo);                    \
        return have(filter, block, of_digest);                                                     \
    }                                                                                              \
    FAST static tamis_status blocked_insert_##name(tamis_filter *filter, tamis_digest digest,      \
                                                   bool *added) {                                  \
        uint64_t *const block = tamis_i_blocked_block(filter, digest.lo);                          \
        return blocked_count(filter, add(filter, block, of_digest), added);                        \
    }                                                                                              \
    FAST_AES static bool blocked_contains_##name##_word(const tamis_filter *filter,                \
                                                        uint64_t key) {                            \
        const __m128i hash = blocked_hash(filter, key);                                            \
        return have(filter, blocked_block(filter, hash), of_hash);                                 \
    }                                                                                              \
    FAST_AES static tamis_status blocked_insert_##name##_word(tamis_filter *filter, uint64_t key,  \
                                                              bool *added) {                       \
        const __m128i hash = blocked_hash(filter, key);                                            \
        return blocked_count(filter, add(filter, blocked_block(filter, hash), of_hash), added);    \
    }

#define USED(filter)                          (tamis_i_blocked_layout_of(filter)->used)
#define LANES_HAVE(filter, block, places)     tamis_i_lanes_have(block, places)
#define LANES_ADD(filter, block, places)      tamis_i_lanes_add(block, places)
#define PLACES_HAVE(filter, block, hash)      tamis_i_places_have(block, hash, USED(filter), false)
#define PLACES_ADD(filter, block, hash)       tamis_i_places_add(block, hash, USED(filter), false)
#define MANY_PLACES_HAVE(filter, block, hash) tamis_i_places_have(block, hash, USED(filter), true)
#define MANY_PLACES_ADD(filter, block, hash)  tamis_i_places_add(block, hash, USED(filter), true)

CALLS(lanes, tamis_i_lanes_places(digest.hi), tamis_i_lanes_upper(hash), LANES_HAVE, LANES_ADD)
CALLS(places, blocked_upper(digest), hash, PLACES_HAVE, PLACES_ADD)
CALLS(many_places, blocked_upper(digest), hash, MANY_PLACES_HAVE, MANY_PLACES_ADD)

typedef struct calls {
    bool (*contains)(const tamis_filter *filter, tamis_digest digest);
    tamis_status (*insert)(tamis_filter *filter, tamis_digest digest, bool *added);
    bool (*contains_word)(const tamis_filter *filter, uint64_t key);
    tamis_status (*insert_word)(tamis_filter *filter, uint64_t key, bool *added);
} calls;

#define CALLS_OF(name)                                                                             \
    {                                                                                              \
        blocked_contains_##name, blocked_insert_##name, blocked_contains_##name##_word,            \
            blocked_insert_##name##_word                                                           \
    }

void tamis_i_call_blocks_x86(tamis_filter *filter) {
    static const calls lanes = CALLS_OF(lanes), places = CALLS_OF(places),
                       many_places = CALLS_OF(many_places);
    /* Ones in the first k of sixteen lanes, from place 16 - k on. */
    static const uint32_t used[32] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const unsigned needed = TAMIS_I_CPU_POPCNT | TAMIS_I_CPU_BMI2 | TAMIS_I_CPU_AVX2;
    if ((filter->features & needed) != needed)
        return;
    const uint64_t hashes = filter->params.value[TAMIS_BLOCKED_BLOOM_HASHES];
    tamis_i_blocked_layout *const l = (tamis_i_blocked_layout *)(void *)filter->geometry;
    l->used = used + TAMIS_I_BLOCK_HASHES_MAX - hashes;
    const calls *const own = filter->params.value[TAMIS_BLOCKED_BLOOM_LANES] != 0 ? &lanes
                             : hashes <= 8                                        ? &places
                                                                                  : &many_places;
    filter->calls.contains = own->contains;
    filter->calls.insert = own->insert;
    if (filter->params.hash != TAMIS_HASH_AES || (filter->features & TAMIS_I_CPU_AES) == 0)
        return;
    filter->calls.contains_word = own->contains_word;
    filter->calls.insert_word = own->insert_word;
}

#undef FAST
#undef FAST_AES

#endif
