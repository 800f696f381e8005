/* twig.h - the index of a page table in fast memory: which page has a hash, and what is in it
 *
 * Pages are in the order of the first hash that they may hold; a page has all items from its first hash
 * up to that of the next one.  A twig is up to 250 pages that follow each other.  In the file it is one
 * block; here it also has a filter for each page:
 *
 *      leaves   | first, block, sum, ... | first, block, sum, ... | ...    sorted by first hash
 *      words    | filter of page 0 | filter of page 1 | ...                of different lengths
 *
 * A filter is a Bloom filter of the keys of its page, B_0 of the paper cut into pieces.  It is made
 * for 'room' keys and has been told 'load'; keys that were deleted since are among these.  When it
 * is full it is made anew from the page, which is then at hand.  So filters forget, and grow.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TABLE_TWIG_H
#define TAMIS_TABLE_TWIG_H

#include <stdatomic.h>

#include "base/base.h"
#include "hash/hash.h"

#define TAMIS_I_TWIG_LEAVES 250u

/* A page as the index knows it. */
typedef struct tamis_i_leaf {
    uint32_t first;           /* hash */
    uint32_t block;           /* where it is: see tamis_i_pages */
    uint32_t sum;             /* checksum of the page in that block */
    uint32_t at;              /* its filter: place in 'words' ... */
    uint16_t words;           /* ... and length */
    uint16_t room;            /* keys that the filter is made for */
    uint16_t load;            /* keys that it was told of */
    uint16_t count;           /* items in the page */
    uint16_t used;            /* bytes in use in the page */
    _Atomic uint8_t verified; /* the block was read and is right */
} tamis_i_leaf;

typedef struct tamis_i_twig {
    tamis_i_leaf *leaves;
    unsigned n, cap;
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

/* Words of a filter for so many keys. */
size_t tamis_i_sieve_words(const tamis_i_sieve *sieve, size_t keys);
void tamis_i_sieve_add(const tamis_i_sieve *sieve, uint64_t *words, size_t n, tamis_digest digest);
bool tamis_i_sieve_has(const tamis_i_sieve *sieve, const uint64_t *words, size_t n,
                       tamis_digest digest);

/* A block that 'old' of 'old_size' bytes was copied to, and 'old' freed; NULL, with nothing changed. */
void *tamis_i_grown(const tamis_allocator *allocator, void *old, size_t old_size, size_t size);

/* Make room for so many leaves and words more.  False, with nothing changed, if there is no memory. */
bool tamis_i_twig_reserve(tamis_i_twig *twig, const tamis_allocator *allocator, unsigned leaves,
                          size_t words);
/* Give back what was reserved in vain, if there is memory for the copy. */
void tamis_i_twig_fit(tamis_i_twig *twig, const tamis_allocator *allocator);
void tamis_i_twig_clear(tamis_i_twig *twig, const tamis_allocator *allocator);

/* The last leaf with a first hash of at most 'hash': there is one. */
unsigned tamis_i_twig_find(const tamis_i_twig *twig, uint32_t hash);

/* Put an empty leaf at number i, or take leaf number i away with its filter. */
void tamis_i_twig_insert(tamis_i_twig *twig, unsigned i, uint32_t first);
void tamis_i_twig_remove(tamis_i_twig *twig, unsigned i);

/* Give leaf number i an empty filter of this length.  There is room for it. */
void tamis_i_twig_set_words(tamis_i_twig *twig, unsigned i, size_t words);

#endif
