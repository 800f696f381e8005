/* twig.h - the index of a page table in fast memory: which page has a hash, and what is in it
 *
 * Pages are in the order of the first hash that they may hold; a page has all items from its first hash
 * up to that of the next one.  A twig is up to 250 pages that follow each other.  In the file it is one
 * block; here it also has a filter for each page:
 *
 *      leaves   | first, block, sum, ... | first, block, sum, ... | ...    sorted by first hash
 *      words    | filter of page 0 | filter of page 1 | ...                of different lengths
 *
 * A filter is a Bloom filter of the keys of its page, B_0 of the paper cut into pieces.  Its words have room
 * for a number of keys, of which 'spare' are left; keys that were deleted since are among the others.  When
 * none is left it is made anew from the page, which is then at hand.  So filters forget, and grow.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TABLE_TWIG_H
#define TAMIS_TABLE_TWIG_H

#include <stdatomic.h>

#include "base/base.h"
#include "hash/hash.h"

#define TAMIS_I_TWIG_LEAVES 250u
#define TAMIS_I_TWIG_BITS   256u  /* there are a few leaves more before a twig is cut in two */
#define TAMIS_I_TWIG_WORDS  4095u /* of a filter, at most */

/* A page as the index knows it: 20 bytes.  Items and bytes of a page are below 4096, and so are the words of
 * a filter, of which a twig has less than 2^20. */
typedef struct tamis_i_leaf {
    uint32_t first;      /* hash */
    uint32_t block;      /* where it is: see tamis_i_pages */
    uint32_t sum;        /* checksum of the page in that block */
    uint32_t at : 20;    /* its filter: place in 'words' ... */
    uint32_t count : 12; /* items in the page */
    uint32_t used : 12;  /* bytes in use in the page */
    uint32_t words : 12; /* ... and length */
    uint32_t spare : 8;  /* keys that the filter may still be told of; perhaps some more */
} tamis_i_leaf;

_Static_assert(sizeof(tamis_i_leaf) == 20, "no bytes are lost");

typedef struct tamis_i_twig {
    tamis_i_leaf *leaves;
    unsigned n, cap;
    _Atomic uint32_t
        verified[TAMIS_I_TWIG_BITS / 32]; /* by leaf: the block was read and is right */
    uint64_t *words;
    size_t n_words, cap_words;
    uint32_t block; /* 0: it is not in the file */
    uint32_t sum;
    uint32_t next_block, next_sum; /* where it will be */
    bool dirty;                    /* the block is not up to date */
} tamis_i_twig;

/* How large filters are. */
typedef struct tamis_i_sieve {
    uint32_t bits; /* per 1000 keys */
    uint32_t hashes;
} tamis_i_sieve;

/* Words of a filter for so many keys, and most keys of a filter of so many words. */
size_t tamis_i_sieve_words(const tamis_i_sieve *sieve, size_t keys);
size_t tamis_i_sieve_room(const tamis_i_sieve *sieve, size_t words);
void tamis_i_sieve_add(const tamis_i_sieve *sieve, uint64_t *words, size_t n, tamis_digest digest);
bool tamis_i_sieve_has(const tamis_i_sieve *sieve, const uint64_t *words, size_t n,
                       tamis_digest digest);

/* A block that 'old' of 'old_size' bytes was copied to, and 'old' freed; NULL, with nothing changed. */
void *tamis_i_grown(const tamis_allocator *allocator, void *old, size_t old_size, size_t size);

/* Make room for so many leaves and words more.  False, with nothing changed, if there is no memory. */
bool tamis_i_twig_reserve(tamis_i_twig *twig, const tamis_allocator *allocator, unsigned leaves,
                          size_t words);
/* Give back what was reserved in vain, if there is memory for the copy; 'grows': but for a little. */
void tamis_i_twig_fit(tamis_i_twig *twig, const tamis_allocator *allocator, bool grows);
void tamis_i_twig_clear(tamis_i_twig *twig, const tamis_allocator *allocator);

/* The last leaf with a first hash of at most 'hash': there is one. */
unsigned tamis_i_twig_find(const tamis_i_twig *twig, uint32_t hash);

/* Put an empty leaf at number i, or take leaf number i away with its filter. */
void tamis_i_twig_insert(tamis_i_twig *twig, unsigned i, uint32_t first);
void tamis_i_twig_remove(tamis_i_twig *twig, unsigned i);

/* Give leaf number i an empty filter of this length.  There is room for it. */
void tamis_i_twig_set_words(tamis_i_twig *twig, unsigned i, size_t words);
/* Its filter was told of so many keys. */
void tamis_i_twig_set_load(tamis_i_twig *twig, const tamis_i_sieve *sieve, unsigned i, size_t load);

/* Readers in several threads may set it at the same time. */
static inline bool tamis_i_twig_verified(const tamis_i_twig *twig, unsigned i) {
    return (atomic_load_explicit(twig->verified + i / 32, memory_order_relaxed) >> i % 32 & 1) != 0;
}
static inline void tamis_i_twig_verify(tamis_i_twig *twig, unsigned i, bool verified) {
    const uint32_t bit = (uint32_t)1 << i % 32;
    if (verified)
        (void)atomic_fetch_or_explicit(twig->verified + i / 32, bit, memory_order_relaxed);
    else
        (void)atomic_fetch_and_explicit(twig->verified + i / 32, ~bit, memory_order_relaxed);
}

#endif
