/* hasher.c - the hashes there are: which one, under which seed
 *
 * SPDX-License-Identifier: MIT
 */
#include "hash/hasher.h"

#include "hash/word.h"

_Static_assert(sizeof(tamis_i_hasher) <= sizeof(tamis_hasher), "a tamis_hasher is too small");
_Static_assert(_Alignof(tamis_i_hasher) <= _Alignof(tamis_hasher), "a tamis_hasher is not aligned");

const char *tamis_hash_name(tamis_hash_id hash) {
    return hash == TAMIS_HASH_XXH3 ? "xxh3" : hash == TAMIS_HASH_AES ? "aes" : NULL;
}

bool tamis_i_hasher_ok(tamis_hash_id hash, uint64_t seed, uint64_t seed_high) {
    return (hash == TAMIS_HASH_XXH3 && seed_high == 0 && seed != 0) ||
           (hash == TAMIS_HASH_AES && (seed | seed_high) != 0);
}

void tamis_i_hasher_init(tamis_i_hasher *hasher, tamis_hash_id hash, uint64_t seed,
                         uint64_t seed_high, unsigned features) {
    TAMIS_ASSERT(tamis_i_hasher_ok(hash, seed, seed_high));
    hasher->keys.seed = seed;
    hasher->keys.flip = tamis_i_hash_flip(seed);
    hasher->keys.salt = seed;
    hasher->ops =
        hash == TAMIS_HASH_XXH3 ? tamis_i_xxh3_ops_for(features) : tamis_i_aes_ops_for(features);
    if (hash == TAMIS_HASH_AES)
        tamis_i_aes_keys_init(&hasher->keys, seed, seed_high, hasher->ops);
}

/* A seed of as many bits as the hash has. */
static tamis_status hasher_draw(tamis_hash_id hash, uint64_t *seed, uint64_t *seed_high) {
    uint64_t low, high = 0;
    tamis_status status = tamis_i_random_seed(&low);
    if (status == TAMIS_OK && hash != TAMIS_HASH_XXH3)
        status = tamis_i_random_seed(&high);
    if (status == TAMIS_OK) {
        *seed = low;
        *seed_high = high;
    }
    return status;
}

tamis_status tamis_i_hasher_complete(tamis_hash_id *hash, uint64_t *seed, uint64_t *seed_high) {
    if (*hash == TAMIS_HASH_DEFAULT)
        *hash = TAMIS_HASH_AES;
    return *seed != 0 || *seed_high != 0 ? TAMIS_OK : hasher_draw(*hash, seed, seed_high);
}

tamis_status tamis_seed_draw(tamis_params *params) {
    tamis_params own;
    if (params == NULL || !tamis_i_struct_in(&own, sizeof own, params))
        return TAMIS_E_ARGUMENT;
    const tamis_hash_id hash = own.hash == TAMIS_HASH_DEFAULT ? TAMIS_HASH_AES : own.hash;
    if (hash != TAMIS_HASH_AES && hash != TAMIS_HASH_XXH3)
        return TAMIS_E_ARGUMENT;
    const tamis_status status = hasher_draw(hash, &own.seed, &own.seed_high);
    if (status != TAMIS_OK)
        return status;
    return tamis_i_struct_out(params, &own, sizeof own) ? TAMIS_OK : TAMIS_E_ARGUMENT;
}

tamis_status tamis_hasher_init(tamis_hasher *hasher, const tamis_params *params) {
    tamis_params own;
    if (hasher == NULL || params == NULL || !tamis_i_struct_in(&own, sizeof own, params))
        return TAMIS_E_ARGUMENT;
    const tamis_hash_id hash = own.hash == TAMIS_HASH_DEFAULT ? TAMIS_HASH_AES : own.hash;
    if (!tamis_i_hasher_ok(hash, own.seed, own.seed_high))
        return TAMIS_E_ARGUMENT;
    tamis_i_hasher_init((tamis_i_hasher *)(void *)hasher, hash, own.seed, own.seed_high,
                        tamis_i_cpu_features());
    return TAMIS_OK;
}

tamis_digest tamis_hash(const tamis_hasher *hasher, const void *key, size_t size) {
    return tamis_i_hasher_bytes((const tamis_i_hasher *)(const void *)hasher, key, size);
}

tamis_digest tamis_hash_u64(const tamis_hasher *hasher, uint64_t key) {
    return tamis_i_hasher_word((const tamis_i_hasher *)(const void *)hasher, key);
}

uint64_t tamis_digest_shard(tamis_digest digest, uint64_t n) {
    return tamis_i_digest_shard(digest, n);
}
