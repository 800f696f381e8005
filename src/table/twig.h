/* twig.h - the index of a page table in fast memory: which page has a hash, and what is in it
 *
 * Pages are in the order of the first hash that they may hold; a page has all items from its first hash
 * up to that of the next one.  A twig is up to 250 pages that follow each other.  In the file it is one
 * block; here it also has a filter for each page:
 *
 *      leaves   | first, block, sum, ... | first, block, sum, ... | ...    sorted by first hash
 *      rows     | place of filter 0 | place of filter 4 | ...
 *      filters  | filter of page 0 | filter of page 1 | ...                bytes, of different lengths
 *
 * A filter is a Bloom filter of the keys of its page, B_0 of the paper cut into pieces.  It has room for the
 * keys of the page and some 'extra'; of these, 'lost' ones are taken by keys that were deleted since.  When
 * a key comes and there is no room left, or too many were lost to count, the filter is made anew from the
 * page, which is then at hand.  So filters forget, and grow.
 *
 * The length of a filter follows from its room, and its place from the lengths before it.  So that these
 * are few, each fourth place is noted.  As a key that comes takes some of the extra room, and one that goes
 * leaves its own there, room and length stay until the filter is made anew.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TABLE_TWIG_H
#define TAMIS_TABLE_TWIG_H

#include <stdatomic.h>

#include "base/base.h"
#include "hash/hash.h"

#define TAMIS_I_TWIG_LEAVES 250u
#define TAMIS_I_TWIG_BITS   256u /* there are a few leaves more before a twig is cut in two */
#define TAMIS_I_TWIG_ROW    4u   /* leaves for which one place is noted */
#define TAMIS_I_TWIG_EXTRA  63u  /* keys, at most */
#define TAMIS_I_TWIG_LOST   7u   /* so many were lost, or more */

/* A page as the index knows it: 16 bytes, and one more for its place.  Items of a page are below 2^11, its
 * bytes below 2^12. */
typedef struct tamis_i_leaf {
    uint32_t first;      /* hash */
    uint32_t block;      /* where it is: see tamis_i_pages */
    uint32_t sum;        /* checksum of the page in that block */
    uint32_t count : 11; /* items in the page */
    uint32_t used : 12;  /* bytes in use in the page */
    uint32_t lost : 3;   /* keys that the filter was told of, and that were deleted since */
    uint32_t extra : 6;  /* keys that the filter has room for, beyond those in the page */
} tamis_i_leaf;

_Static_assert(sizeof(tamis_i_leaf) == 16, "no bytes are lost");

/* Numbers as the leaf can hold them: what is cut off is zero. */
static inline void tamis_i_leaf_set_sizes(tamis_i_leaf *leaf, size_t count, size_t used) {
    leaf->count = count & 0x7ff;
    leaf->used = used & 0xfff;
}
static inline void tamis_i_leaf_set_room(tamis_i_leaf *leaf, size_t extra, size_t lost) {
    leaf->extra = extra & TAMIS_I_TWIG_EXTRA;
    leaf->lost = (lost < TAMIS_I_TWIG_LOST ? lost : TAMIS_I_TWIG_LOST) & TAMIS_I_TWIG_LOST;
}

/* May its filter be told of one more key? */
static inline bool tamis_i_leaf_spare(const tamis_i_leaf *leaf) {
    return leaf->extra > leaf->lost && leaf->lost < TAMIS_I_TWIG_LOST;
}

/* The keys that its filter has room for. */
static inline uint32_t tamis_i_leaf_room(const tamis_i_leaf *leaf) {
    return (uint32_t)leaf->count + leaf->extra;
}

typedef struct tamis_i_twig {
    tamis_i_leaf *leaves;
    uint32_t *rows; /* behind the leaves */
    unsigned n, cap;
    _Atomic uint32_t
        verified[TAMIS_I_TWIG_BITS / 32]; /* by leaf: the block was read and is right */
    unsigned char *filters;
    size_t n_bytes, cap_bytes; /* of the filters */
    uint32_t pace;             /* leaves per hash, times 2^32 */
    uint32_t block;            /* 0: it is not in the file */
    uint32_t sum;
    uint32_t next_block, next_sum; /* where it will be */
    bool dirty;                    /* the block is not up to date */
} tamis_i_twig;

/* How large filters are. */
typedef struct tamis_i_sieve {
    uint32_t bits; /* per 1000 keys */
    uint32_t hashes;
} tamis_i_sieve;

/* Bytes of a filter for so many keys, and how many more than n a filter for so many has room for.  Numbers
 * are those of keys in a page, and so below 2^12. */
static inline uint32_t tamis_i_sieve_bytes(const tamis_i_sieve *sieve, uint32_t keys) {
    return (keys * sieve->bits + 7999) / 8000;
}
size_t tamis_i_sieve_extra(const tamis_i_sieve *sieve, size_t n, size_t keys);
void tamis_i_sieve_add(const tamis_i_sieve *sieve, unsigned char *filter, size_t n,
                       tamis_digest digest);

/* The bits of a key: numbers of a sequence that is linear modulo 2^64, of which the upper halves count.  It
 * begins with the half of the digest that says nothing of the page: keys of a page have only the first bits
 * of the other in common. */
typedef struct tamis_i_drops {
    uint64_t x, step;
} tamis_i_drops;

static inline tamis_i_drops tamis_i_drops_of(tamis_digest digest) {
    return (tamis_i_drops){digest.hi, digest.lo | 1};
}

static inline size_t tamis_i_drop(tamis_i_drops *d, size_t n_bits) {
    d->x = d->x * 0x9e3779b97f4a7c15u + d->step;
    return (size_t)((d->x >> 32) * (uint64_t)n_bits >> 32);
}

/* Are the next n bits of a key all set?  n is a constant. */
static inline bool tamis_i_drops_are_set(tamis_i_drops *d, unsigned n, const unsigned char *filter,
                                         size_t n_bits) {
    uint32_t all = 1;
    for (unsigned i = 0; i < n; i++) {
        const size_t bit = tamis_i_drop(d, n_bits);
        all &= (uint32_t)filter[bit / 8] >> bit % 8;
    }
    return all != 0;
}

/* Half of the bits of a full filter are set: after each one it would be anybody's guess whether to go on,
 * after four it is one absent key in sixteen that does. */
static inline bool tamis_i_sieve_has(const tamis_i_sieve *sieve, const unsigned char *filter,
                                     size_t n, tamis_digest digest) {
    tamis_i_drops d = tamis_i_drops_of(digest);
    uint32_t i = 0;
    for (; i + 4 <= sieve->hashes; i += 4)
        if (!tamis_i_drops_are_set(&d, 4, filter, 8 * n))
            return false;
    for (; i < sieve->hashes; i++)
        if (!tamis_i_drops_are_set(&d, 1, filter, 8 * n))
            return false;
    return true;
}

/* A block that 'old' of 'old_size' bytes was copied to, and 'old' freed; NULL, with nothing changed. */
void *tamis_i_grown(const tamis_allocator *allocator, void *old, size_t old_size, size_t size);

/* Bytes of a block of leaves and rows. */
static inline size_t tamis_i_twig_block(unsigned cap) {
    return cap * sizeof(tamis_i_leaf) +
           (cap + TAMIS_I_TWIG_ROW - 1) / TAMIS_I_TWIG_ROW * sizeof(uint32_t);
}

/* Make room for so many leaves, and bytes of filters, more; 'filters' is not NULL then.  False, with nothing
 * changed, if there is no memory. */
bool tamis_i_twig_reserve(tamis_i_twig *twig, const tamis_allocator *allocator, unsigned leaves,
                          size_t bytes);
/* Give back what was reserved in vain, if there is memory for the copy; 'grows': but for a little. */
void tamis_i_twig_fit(tamis_i_twig *twig, const tamis_allocator *allocator, bool grows);
void tamis_i_twig_clear(tamis_i_twig *twig, const tamis_allocator *allocator);

/* Note how many leaves there are per hash, when they have become other ones. */
static inline void tamis_i_twig_set_pace(tamis_i_twig *twig) {
    const uint64_t width = twig->leaves[twig->n - 1].first - twig->leaves[0].first,
                   pace = width == 0 ? 0 : ((uint64_t)(twig->n - 1) << 32) / width;
    twig->pace = (uint32_t)(pace < UINT32_MAX ? pace : UINT32_MAX);
}

/* The last leaf with a first hash of at most 'hash': there is one.  Pages have about as many items each, so
 * it is a few steps from where it would be if all were equally wide. */
static inline unsigned tamis_i_twig_find(const tamis_i_twig *twig, uint32_t hash) {
    const tamis_i_leaf *const leaves = twig->leaves;
    const unsigned n = twig->n;
    unsigned i = (unsigned)((uint64_t)(hash - leaves[0].first) * twig->pace >> 32);
    i = i < n ? i : n - 1; /* it may be behind the last one, and a damaged index may say anything */
    while (i > 0 && leaves[i].first > hash)
        i--;
    while (i + 1 < n && leaves[i + 1].first <= hash)
        i++;
    return i;
}

/* The place of the filter of leaf i: of all leaves before it the room is right.  Without branches: which leaf
 * of its row it is would be anybody's guess. */
static inline size_t tamis_i_twig_at(const tamis_i_twig *twig, const tamis_i_sieve *sieve,
                                     unsigned i) {
    const unsigned k = i % TAMIS_I_TWIG_ROW;
    const tamis_i_leaf *const row = twig->leaves + (i - k);
    size_t at = twig->rows[i / TAMIS_I_TWIG_ROW];
    for (unsigned j = 0; j + 1 < TAMIS_I_TWIG_ROW; j++) {
        const uint32_t before = j < k;
        at += tamis_i_sieve_bytes(sieve, tamis_i_leaf_room(row + j * before) * before);
    }
    return at;
}

/* The filter of leaf i, and its length. */
static inline unsigned char *
tamis_i_twig_filter(const tamis_i_twig *twig, const tamis_i_sieve *sieve, unsigned i, size_t *n) {
    *n = tamis_i_sieve_bytes(sieve, tamis_i_leaf_room(twig->leaves + i));
    return twig->filters + tamis_i_twig_at(twig, sieve, i);
}

/* Put an empty leaf, without a filter, behind the others. */
void tamis_i_twig_append(tamis_i_twig *twig, uint32_t first);
/* Give leaf number i, whose page is known, an empty filter with this room.  All leaves before it have theirs,
 * and it and those behind it have none.  There is room for it. */
void tamis_i_twig_append_filter(tamis_i_twig *twig, const tamis_i_sieve *sieve, unsigned i,
                                size_t extra, size_t lost);
/* Take n leaves from number i on away, and put others in their place that are zero, but for 'bytes' bytes of
 * filters, which are empty.  There is room for them.  When the room of the new leaves is known, note it. */
void tamis_i_twig_replace(tamis_i_twig *twig, const tamis_i_sieve *sieve, unsigned i, unsigned n,
                          unsigned leaves, size_t bytes);
/* Note the places of filters from leaf i on. */
void tamis_i_twig_note(tamis_i_twig *twig, const tamis_i_sieve *sieve, unsigned i);

/* Give leaf number i, whose page has so many keys now, an empty filter with room for some more.  There is
 * room for it. */
void tamis_i_twig_refit(tamis_i_twig *twig, const tamis_i_sieve *sieve, unsigned i, size_t count,
                        size_t extra);

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
