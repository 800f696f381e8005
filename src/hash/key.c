/* key.c - XXH3 of keys, and the checksum of files
 *
 * The only file that knows XXH3.  Its code is compiled in from libxxhash's header, so that short keys
 * are hashed without a call and the library needs no other at run time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "hash/word.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* From this version on the digests of XXH3 stay what they are; word.h has its constants. */
#if XXH_VERSION_NUMBER < 800
#error "xxHash 0.8.0 or newer is needed"
#endif

static tamis_digest xxh3_bytes(const tamis_i_hash_keys *under, const void *key, size_t size) {
    const XXH128_hash_t h = XXH3_128bits_withSeed(size == 0 ? "" : key, size, under->seed);
    return (tamis_digest){.lo = h.low64, .hi = h.high64};
}

static tamis_digest xxh3_word(const tamis_i_hash_keys *under, uint64_t key) {
    return tamis_i_hash_word(under->flip, key);
}

static void xxh3_many(const tamis_i_hash_keys *under, const tamis_bytes *keys, size_t n,
                      tamis_digest *digests) {
    for (size_t i = 0; i < n; i++)
        digests[i] = xxh3_bytes(under, keys[i].data, keys[i].size);
}

void tamis_i_hash_many_words(const tamis_i_hash_keys *under, const uint64_t *keys, size_t n,
                             tamis_digest *digests) {
    for (size_t i = 0; i < n; i++)
        digests[i] = tamis_i_hash_word(under->flip, keys[i]);
}

const tamis_i_hash_ops *tamis_i_xxh3_ops_for(unsigned features) {
    static const tamis_i_hash_ops portable = {xxh3_word, xxh3_bytes, tamis_i_hash_many_words,
                                              xxh3_many, NULL,       NULL};
#if defined(__x86_64__) && defined(__GNUC__)
    static const tamis_i_hash_ops native = {xxh3_word, xxh3_bytes, tamis_i_hash_many_words_x86,
                                            xxh3_many, NULL,       NULL};
    if ((features & TAMIS_I_CPU_AVX2) != 0)
        return &native;
#else
    (void)features;
#endif
    return &portable;
}

uint64_t tamis_i_checksum(const void *data, size_t size) {
    return XXH3_64bits(data, size);
}

uint64_t tamis_i_checksum_words(const uint64_t *words, size_t n) {
    if (tamis_i_little_endian())
        return XXH3_64bits(words, n * sizeof *words);
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    (void)XXH3_64bits_reset(&state);
    for (size_t i = 0; i < n; i++) {
        unsigned char bytes[8];
        tamis_i_put_u64(bytes, words[i]);
        (void)XXH3_64bits_update(&state, bytes, sizeof bytes);
    }
    return XXH3_64bits_digest(&state);
}

_Static_assert(sizeof(XXH3_state_t) <= sizeof(tamis_i_checksum_flow), "the flow is too small");
_Static_assert(_Alignof(XXH3_state_t) <= _Alignof(tamis_i_checksum_flow), "and its alignment");

void tamis_i_checksum_begin(tamis_i_checksum_flow *flow) {
    XXH3_state_t *const state = (XXH3_state_t *)(void *)flow->state;
    XXH3_INITSTATE(state);
    (void)XXH3_64bits_reset(state);
}

void tamis_i_checksum_add(tamis_i_checksum_flow *flow, const void *data, size_t size) {
    (void)XXH3_64bits_update((XXH3_state_t *)(void *)flow->state, data, size);
}

uint64_t tamis_i_checksum_end(const tamis_i_checksum_flow *flow) {
    return XXH3_64bits_digest((const XXH3_state_t *)(const void *)flow->state);
}
