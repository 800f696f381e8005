/* stash_model.h - a stash beside an exact multiset, for the tests of the stash
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_UNIT_STASH_MODEL_H
#define TAMIS_TESTS_UNIT_STASH_MODEL_H

#include "filter/stash.h"
#include "support.h"

#define COPIES_IN_A_SLOT 255u

/* Memory of its own, as large as the stash says and not a word more. */
typedef struct own_stash {
    tamis_i_stash stash;
    uint64_t used;
    uint64_t n_words;
} own_stash;

static inline void own_stash_init(own_stash *own, uint64_t capacity) {
    own->used = 0;
    own->n_words = tamis_i_stash_words(capacity);
    uint64_t *const words = own->n_words == 0 ? NULL : calloc((size_t)own->n_words, sizeof *words);
    assert_true(own->n_words == 0 || words != NULL);
    tamis_i_stash_attach(&own->stash, words, &own->used, capacity);
}

static inline void own_stash_free(own_stash *own) {
    free(own->stash.words);
}

static inline void own_stash_copy(own_stash *copy, const own_stash *from) {
    own_stash_init(copy, from->stash.capacity);
    copy->used = from->used;
    if (from->n_words != 0)
        memcpy(copy->stash.words, from->stash.words, (size_t)from->n_words * sizeof(uint64_t));
}

static inline void assert_checked(const own_stash *own) {
    const char *reason = "no reason";
    if (!tamis_i_stash_check(&own->stash, &reason))
        fail_msg("a sound stash was refused: %s", reason);
}

/* A digest for whose slot only 'home' matters: the slot is found from lo xor hi, with hi turned by half
 * its length, and any hi gives another digest of the same slot. */
static inline tamis_digest digest_of_home(uint64_t home, uint64_t hi) {
    return (tamis_digest){.lo = home ^ (hi << 32 | hi >> 32), .hi = hi};
}

/* The slot where a digest is put in an empty stash of this capacity. */
static inline uint64_t home_slot(uint64_t capacity, tamis_digest digest) {
    own_stash own;
    own_stash_init(&own, capacity);
    assert_ok(tamis_i_stash_insert(&own.stash, digest));
    uint64_t slot = 0;
    while ((own.stash.words[2 * own.stash.slots + slot / 8] >> 8 * (slot % 8) & 0xff) == 0)
        slot++;
    own_stash_free(&own);
    return slot;
}

#endif
