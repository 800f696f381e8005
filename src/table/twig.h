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
#include "table/summary.h"

#define TAMIS_I_TWIG_LEAVES 250u
#define TAMIS_I_TWIG_BITS   256u  /* there are a few leaves more before a twig is cut in two */
#define TAMIS_I_TWIG_WORDS  8191u /* of a filter, at most */
#define TAMIS_I_TWIG_WORD                                                                          \
    32u /* bits: half a word per page is lost, and a page of names has some 30 */

/* A page as the index knows it: 20 bytes.  Items of a page are below 2^11, its bytes below 2^12, words of a
 * filter below 2^13, and words of a twig below 2^21. */
typedef struct tamis_i_leaf {
    uint32_t first;      /* hash */
    uint32_t block;      /* where it is: see tamis_i_pages */
    uint32_t sum;        /* checksum of the page in that block */
    uint32_t at : 21;    /* its filter: place in 'words' ... */
    uint32_t count : 11; /* items in the page */
    uint32_t used : 12;  /* bytes in use in the page */
    uint32_t words : 13; /* ... and length */
    uint32_t spare : 7;  /* keys that the filter may still be told of; perhaps some more */
} tamis_i_leaf;

_Static_assert(sizeof(tamis_i_leaf) == 20, "no bytes are lost");

/* Numbers as the leaf can hold them: what is cut off is zero. */
static inline void tamis_i_leaf_set_at(tamis_i_leaf *leaf, size_t at) {
    leaf->at = at & 0x1fffff;
}
static inline void tamis_i_leaf_set_sizes(tamis_i_leaf *leaf, size_t count, size_t used) {
    leaf->count = count & 0x7ff;
    leaf->used = used & 0xfff;
}

typedef struct tamis_i_twig {
    tamis_i_leaf *leaves;
    unsigned n, cap;
    _Atomic uint32_t
        verified[TAMIS_I_TWIG_BITS / 32]; /* by leaf: the block was read and is right */
    uint32_t *words;
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
void tamis_i_sieve_add(const tamis_i_sieve *sieve, uint32_t *words, size_t n, tamis_digest digest);

/* The bits of a key: numbers of a sequence that is linear modulo 2^64, of which the upper halves count. */
typedef struct tamis_i_drops {
    uint64_t x, step;
} tamis_i_drops;

static inline tamis_i_drops tamis_i_drops_of(tamis_digest digest) {
    return (tamis_i_drops){tamis_i_word(digest, TAMIS_I_SUMMARY_WORD),
                           tamis_i_word(digest, TAMIS_I_SUMMARY_WORD + 1) | 1};
}

static inline size_t tamis_i_drop(tamis_i_drops *d, size_t n_bits) {
    d->x = d->x * 0x9e3779b97f4a7c15u + d->step;
    return (size_t)((d->x >> 32) * (uint64_t)n_bits >> 32);
}

/* Are the next n bits of a key all set?  n is a constant. */
static inline bool tamis_i_drops_are_set(tamis_i_drops *d, unsigned n, const uint32_t *words,
                                         size_t n_bits) {
    uint32_t all = 1;
    for (unsigned i = 0; i < n; i++) {
        const size_t bit = tamis_i_drop(d, n_bits);
        all &= words[bit / TAMIS_I_TWIG_WORD] >> bit % TAMIS_I_TWIG_WORD;
    }
    return all != 0;
}

/* Half of the bits of a full filter are set: after each one it would be anybody's guess whether to go on,
 * after four it is one absent key in sixteen that does. */
static inline bool tamis_i_sieve_has(const tamis_i_sieve *sieve, const uint32_t *words, size_t n,
                                     tamis_digest digest) {
    tamis_i_drops d = tamis_i_drops_of(digest);
    uint32_t i = 0;
    for (; i + 4 <= sieve->hashes; i += 4)
        if (!tamis_i_drops_are_set(&d, 4, words, TAMIS_I_TWIG_WORD * n))
            return false;
    for (; i < sieve->hashes; i++)
        if (!tamis_i_drops_are_set(&d, 1, words, TAMIS_I_TWIG_WORD * n))
            return false;
    return true;
}

/* A block that 'old' of 'old_size' bytes was copied to, and 'old' freed; NULL, with nothing changed. */
void *tamis_i_grown(const tamis_allocator *allocator, void *old, size_t old_size, size_t size);

/* Make room for so many leaves and words more.  False, with nothing changed, if there is no memory. */
bool tamis_i_twig_reserve(tamis_i_twig *twig, const tamis_allocator *allocator, unsigned leaves,
                          size_t words);
/* Give back what was reserved in vain, if there is memory for the copy; 'grows': but for a little. */
void tamis_i_twig_fit(tamis_i_twig *twig, const tamis_allocator *allocator, bool grows);
void tamis_i_twig_clear(tamis_i_twig *twig, const tamis_allocator *allocator);

/* The last leaf with a first hash of at most 'hash': there is one.  Pages have about as many items each, so
 * it is a few steps from where it would be if all were equally wide; 'end' is where the twig ends. */
static inline unsigned tamis_i_twig_find(const tamis_i_twig *twig, uint32_t hash, uint64_t end) {
    const tamis_i_leaf *const leaves = twig->leaves;
    const unsigned n = twig->n;
    const uint64_t first = leaves[0].first;
    unsigned i = (unsigned)((hash - first) * n / (end - first));
    i = i < n ? i : n - 1; /* a damaged index may say anything */
    while (i > 0 && leaves[i].first > hash)
        i--;
    while (i + 1 < n && leaves[i + 1].first <= hash)
        i++;
    return i;
}

/* Put an empty leaf at number i. */
void tamis_i_twig_insert(tamis_i_twig *twig, unsigned i, uint32_t first);
/* Take n leaves from number i on away, and put others in their place that are zero, but for 'words' words of
 * filters, which are empty.  There is room for them. */
void tamis_i_twig_replace(tamis_i_twig *twig, unsigned i, unsigned n, unsigned leaves,
                          size_t words);

/* Give leaf number i an empty filter of this length.  There is room for it. */
void tamis_i_twig_set_words(tamis_i_twig *twig, unsigned i, size_t words);
/* Its filter was told of so many keys. */
void tamis_i_twig_set_load(tamis_i_twig *twig, const tamis_i_sieve *sieve, unsigned i, size_t load);

/* Readers in several threads may set it at the same time, but not while the table is changed. */
static inline bool tamis_i_twig_verified(const tamis_i_twig *twig, unsigned i) {
    return (atomic_load_explicit(twig->verified + i / 32, memory_order_relaxed) >> i % 32 & 1) != 0;
}
static inline void tamis_i_twig_verify(tamis_i_twig *twig, unsigned i, bool verified) {
    const uint32_t bit = (uint32_t)1 << i % 32;
    if (verified && !tamis_i_twig_verified(twig, i))
        (void)atomic_fetch_or_explicit(twig->verified + i / 32, bit, memory_order_relaxed);
    else if (!verified && tamis_i_twig_verified(twig, i))
        (void)atomic_fetch_and_explicit(twig->verified + i / 32, ~bit, memory_order_relaxed);
}

#endif
