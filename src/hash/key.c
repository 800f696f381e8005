/* key.c - the keyed hash of a key, and the checksum of files
 *
 * The only file that knows XXH3.  Its code is compiled in from libxxhash's header, so that short keys
 * are hashed without a call and the library needs no other at run time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "hash/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* From this version on the digests of XXH3 stay what they are; word.h has its constants. */
#if XXH_VERSION_NUMBER < 800
#error "xxHash 0.8.0 or newer is needed"
#endif

static inline tamis_digest digest_of(uint64_t seed, const void *key, size_t size) {
    const XXH128_hash_t h = XXH3_128bits_withSeed(key, size, seed);
    return (tamis_digest){.lo = h.low64, .hi = h.high64};
}

static inline tamis_digest digest_of_u64(uint64_t seed, uint64_t key) {
    unsigned char bytes[8];
    tamis_i_put_u64(bytes, key);
    return digest_of(seed, bytes, sizeof bytes);
}

tamis_digest tamis_hash(uint64_t seed, const void *key, size_t size) {
    return digest_of(seed, size == 0 ? "" : key, size);
}

tamis_digest tamis_hash_u64(uint64_t seed, uint64_t key) {
    return digest_of_u64(seed, key);
}

void tamis_i_hash_many(uint64_t seed, const tamis_bytes *keys, size_t n, tamis_digest *digests) {
    for (size_t i = 0; i < n; i++)
        digests[i] = digest_of(seed, keys[i].size == 0 ? "" : keys[i].data, keys[i].size);
}

void tamis_i_hash_many_u64(uint64_t seed, const uint64_t *keys, size_t n, tamis_digest *digests) {
    for (size_t i = 0; i < n; i++)
        digests[i] = digest_of_u64(seed, keys[i]);
}

tamis_i_hash_integers *tamis_i_hash_integers_for(unsigned features) {
    tamis_i_hash_integers *native = NULL;
#if defined(__x86_64__) && defined(__GNUC__)
    native = tamis_i_hash_integers_x86(features);
#else
    (void)features;
#endif
    return native != NULL ? native : tamis_i_hash_many_u64;
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
