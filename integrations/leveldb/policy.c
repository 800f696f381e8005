/* policy.c - a filter policy for LevelDB over small sets
 *
 * What LevelDB asks for, by its documentation and its C interface: keys in ascending order, in which a key of
 * several versions stands several times; a filter in memory of malloc, which it frees; "yes" for all that is
 * in doubt.  Keys are hashed with one hasher for all filters.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tamis_leveldb.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME "tamis.small.1" /* the number is that of the bytes */
#define SEED 1               /* by default */

typedef struct policy {
    tamis_hasher hasher;
    double bits;
    char name[64];
} policy;

/* Bytes of a filter of n keys: as many as its own Bloom filter has, which is n times the bits and a byte. */
static size_t policy_size(const policy *p, size_t n) {
    const size_t size = (size_t)ceil((double)n * p->bits / 8) + 1;
    const size_t least = tamis_small_size(n, TAMIS_SMALL_BITS_MIN);
    const size_t most = tamis_small_size(n, TAMIS_SMALL_BITS_MAX);
    return size < least ? least : size > most ? most : size;
}

/* Digests of the keys; a key that stands several times counts once. */
static size_t policy_digests(const policy *p, const char *const *keys, const size_t *sizes,
                             size_t n, tamis_digest *digests) {
    size_t distinct = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || sizes[i] != sizes[i - 1] || memcmp(keys[i], keys[i - 1], sizes[i]) != 0)
            digests[distinct++] = tamis_hash(&p->hasher, keys[i], sizes[i]);
    return distinct;
}

/* A filter of no bytes, or of one, answers "yes": without memory, and for more keys than a small set takes,
 * as blocks of a megabyte may have. */
static char *policy_create(void *state, const char *const *keys, const size_t *sizes, int n_keys,
                           size_t *size) {
    const policy *const p = state;
    const size_t n = n_keys > 0 ? (size_t)n_keys : 0;
    tamis_digest *const digests = malloc((n > 0 ? n : 1) * sizeof *digests);
    char *filter = NULL;
    *size = 0;
    if (digests != NULL) {
        const size_t distinct = policy_digests(p, keys, sizes, n, digests);
        const bool fits = distinct <= TAMIS_SMALL_KEYS_MAX;
        const size_t bytes = fits ? policy_size(p, distinct) : 1;
        filter = calloc(1, bytes);
        if (filter != NULL &&
            (!fits || tamis_small_build(digests, distinct, filter, bytes) == TAMIS_OK))
            *size = bytes;
    }
    free(digests);
    return filter;
}

static unsigned char policy_match(void *state, const char *key, size_t size, const char *filter,
                                  size_t filter_size) {
    const policy *const p = state;
    return tamis_small_contains(filter, filter_size, tamis_hash(&p->hasher, key, size));
}

static const char *policy_name(void *state) {
    const policy *const p = state;
    return p->name;
}

static void policy_destroy(void *state) {
    free(state);
}

leveldb_filterpolicy_t *tamis_leveldb_policy(const tamis_leveldb_options *options) {
    tamis_leveldb_options own;
    tamis_leveldb_options_init(&own);
    if (options != NULL) {
        if (options->struct_size != sizeof own)
            return NULL;
        own = *options;
    }
    if (!(own.bits_per_key >= 3 && own.bits_per_key <= TAMIS_SMALL_BITS_MAX))
        return NULL;
    policy *const p = malloc(sizeof *p);
    if (p == NULL)
        return NULL;
    tamis_params params;
    tamis_params_init(&params);
    const bool seeded = (own.seed | own.seed_high) != 0;
    params.seed = seeded ? own.seed : SEED;
    params.seed_high = own.seed_high;
    p->bits = own.bits_per_key;
    if (tamis_hasher_init(&p->hasher, &params) != TAMIS_OK) {
        free(p);
        return NULL;
    }
    const tamis_digest tag = tamis_hash(&p->hasher, NAME, sizeof NAME - 1);
    if (seeded)
        snprintf(p->name, sizeof p->name, "%s-%016" PRIx64, NAME, tag.lo);
    else
        snprintf(p->name, sizeof p->name, "%s", NAME);
    return leveldb_filterpolicy_create(p, policy_destroy, policy_create, policy_match, policy_name);
}
