/* hasher.h - the hash of a filter or table: which one, under which seed
 *
 * Everything that follows from the seed is computed once, when the handle is made.  The operations are those
 * of the chosen hash for the processor at hand.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_HASH_HASHER_H
#define TAMIS_HASH_HASHER_H

#include "base/cpu.h"
#include "hash/aes_hash.h"
#include "hash/hash.h"

typedef struct tamis_i_hasher {
    tamis_i_hash_keys keys;
    const tamis_i_hash_ops *ops;
} tamis_i_hasher;

/* Is this a hash with a seed of its length?  TAMIS_HASH_DEFAULT is none: it has been filled in. */
bool tamis_i_hasher_ok(tamis_hash_id hash, uint64_t seed, uint64_t seed_high);

/* Prepare the hash; hash and seed are right. */
void tamis_i_hasher_init(tamis_i_hasher *hasher, tamis_hash_id hash, uint64_t seed,
                         uint64_t seed_high, unsigned features);

/* Fill in what is not given: the default hash, and a random seed.  TAMIS_E_IO. */
tamis_status tamis_i_hasher_complete(tamis_hash_id *hash, uint64_t *seed, uint64_t *seed_high);

/* The operations of XXH3, the best for these features; those of the other hash are in aes_hash.h. */
const tamis_i_hash_ops *tamis_i_xxh3_ops_for(unsigned features);

static inline tamis_digest tamis_i_hasher_word(const tamis_i_hasher *hasher, uint64_t key) {
    return hasher->ops->word(&hasher->keys, key);
}

static inline tamis_digest tamis_i_hasher_bytes(const tamis_i_hasher *hasher, const void *key,
                                                size_t size) {
    return hasher->ops->bytes(&hasher->keys, key, size);
}

#endif
