/* twig.c - the index of a page table in fast memory: leaves and their filters
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/twig.h"

#define SPARE_MAX 0x7fu /* the bits of 'spare' of a leaf */

size_t tamis_i_sieve_words(const tamis_i_sieve *sieve, size_t keys) {
    return (size_t)(((uint64_t)keys * sieve->bits / 1000 + TAMIS_I_TWIG_WORD - 1) /
                    TAMIS_I_TWIG_WORD);
}

size_t tamis_i_sieve_room(const tamis_i_sieve *sieve, size_t words) {
    return (size_t)((((uint64_t)words * TAMIS_I_TWIG_WORD + 1) * 1000 - 1) / sieve->bits);
}

void tamis_i_sieve_add(const tamis_i_sieve *sieve, uint32_t *words, size_t n, tamis_digest digest) {
    tamis_i_drops d = tamis_i_drops_of(digest);
    for (uint32_t i = 0; i < sieve->hashes; i++) {
        const size_t bit = tamis_i_drop(&d, TAMIS_I_TWIG_WORD * n);
        words[bit / TAMIS_I_TWIG_WORD] |= (uint32_t)1 << bit % TAMIS_I_TWIG_WORD;
    }
}

void *tamis_i_grown(const tamis_allocator *allocator, void *old, size_t old_size, size_t size) {
    void *const block = tamis_i_alloc(allocator, size);
    if (block == NULL)
        return NULL;
    if (old_size > 0)
        memcpy(block, old, old_size);
    tamis_i_free(allocator, old, old_size);
    return block;
}

bool tamis_i_twig_reserve(tamis_i_twig *twig, const tamis_allocator *allocator, unsigned leaves,
                          size_t words) {
    if (twig->n + leaves > twig->cap) {
        const unsigned cap = twig->n + leaves + twig->n / 32 + 2;
        tamis_i_leaf *const more =
            tamis_i_grown(allocator, twig->leaves, twig->cap * sizeof *more, cap * sizeof *more);
        if (more == NULL)
            return false;
        twig->leaves = more;
        twig->cap = cap;
    }
    if (twig->n_words + words > twig->cap_words) {
        const size_t cap = twig->n_words + words + twig->n_words / 64 + 16;
        uint32_t *const more = tamis_i_grown(allocator, twig->words, twig->cap_words * sizeof *more,
                                             cap * sizeof *more);
        if (more == NULL)
            return false;
        twig->words = more;
        twig->cap_words = cap;
    }
    return true;
}

void tamis_i_twig_fit(tamis_i_twig *twig, const tamis_allocator *allocator, bool grows) {
    const unsigned cap = twig->n + (grows ? 8 : 0);
    const size_t cap_words = twig->n_words + (grows ? 64 : 0);
    tamis_i_leaf *const leaves =
        cap < twig->cap ? tamis_i_alloc(allocator, cap * sizeof *leaves) : NULL;
    if (leaves != NULL) {
        memcpy(leaves, twig->leaves, twig->n * sizeof *leaves);
        tamis_i_free(allocator, twig->leaves, twig->cap * sizeof *leaves);
        twig->leaves = leaves;
        twig->cap = cap;
    }
    uint32_t *const words =
        cap_words < twig->cap_words ? tamis_i_alloc(allocator, cap_words * sizeof *words) : NULL;
    if (words != NULL) {
        memcpy(words, twig->words, twig->n_words * sizeof *words);
        tamis_i_free(allocator, twig->words, twig->cap_words * sizeof *words);
        twig->words = words;
        twig->cap_words = cap_words;
    }
}

void tamis_i_twig_clear(tamis_i_twig *twig, const tamis_allocator *allocator) {
    tamis_i_free(allocator, twig->leaves, twig->cap * sizeof *twig->leaves);
    tamis_i_free(allocator, twig->words, twig->cap_words * sizeof *twig->words);
    memset(twig, 0, sizeof *twig);
}

void tamis_i_twig_insert(tamis_i_twig *twig, unsigned i, uint32_t first) {
    TAMIS_ASSERT(twig->n < TAMIS_I_TWIG_BITS);
    const uint32_t at = i < twig->n ? twig->leaves[i].at : (uint32_t)twig->n_words;
    memmove(twig->leaves + i + 1, twig->leaves + i, (twig->n - i) * sizeof *twig->leaves);
    for (unsigned j = twig->n; j > i; j--)
        tamis_i_twig_verify(twig, j, tamis_i_twig_verified(twig, j - 1));
    tamis_i_twig_verify(twig, i, false);
    twig->n++;
    memset(twig->leaves + i, 0, sizeof *twig->leaves);
    twig->leaves[i].first = first;
    tamis_i_leaf_set_at(twig->leaves + i, at);
}

void tamis_i_twig_set_words(tamis_i_twig *twig, unsigned i, size_t words) {
    tamis_i_leaf *const leaf = twig->leaves + i;
    const size_t old = leaf->words, after = leaf->at + old;
    if (words != old) {
        memmove(twig->words + leaf->at + words, twig->words + after,
                (twig->n_words - after) * sizeof *twig->words);
        for (unsigned j = i + 1; j < twig->n; j++)
            tamis_i_leaf_set_at(twig->leaves + j, twig->leaves[j].at + words - old);
        twig->n_words += words - old;
        leaf->words = words & TAMIS_I_TWIG_WORDS;
    }
    if (words > 0)
        memset(twig->words + leaf->at, 0, words * sizeof *twig->words);
    leaf->spare = 0;
}

void tamis_i_twig_set_load(tamis_i_twig *twig, const tamis_i_sieve *sieve, unsigned i,
                           size_t load) {
    tamis_i_leaf *const leaf = twig->leaves + i;
    const size_t room = tamis_i_sieve_room(sieve, leaf->words);
    const size_t spare = room > load ? room - load : 0;
    leaf->spare = (spare < SPARE_MAX ? spare : SPARE_MAX) & SPARE_MAX;
}

void tamis_i_twig_replace(tamis_i_twig *twig, unsigned i, unsigned n, unsigned leaves,
                          size_t words) {
    size_t old = 0;
    const unsigned after = twig->n - i - n;
    const size_t at = twig->leaves[i].at;
    for (unsigned j = i; j < i + n; j++)
        old += twig->leaves[j].words;
    memmove(twig->words + at + words, twig->words + at + old,
            (twig->n_words - at - old) * sizeof *twig->words);
    memset(twig->words + at, 0, words * sizeof *twig->words);
    memmove(twig->leaves + i + leaves, twig->leaves + i + n, after * sizeof *twig->leaves);
    memset(twig->leaves + i, 0, leaves * sizeof *twig->leaves);
    for (unsigned j = i + leaves; j < i + leaves + after; j++)
        tamis_i_leaf_set_at(twig->leaves + j, twig->leaves[j].at + words - old);
    bool verified[TAMIS_I_TWIG_BITS];
    for (unsigned j = 0; j < after && leaves != n; j++)
        verified[j] = tamis_i_twig_verified(twig, i + n + j);
    for (unsigned j = 0; j < after && leaves != n; j++)
        tamis_i_twig_verify(twig, i + leaves + j, verified[j]);
    for (unsigned j = i; j < i + leaves; j++)
        tamis_i_twig_verify(twig, j, false);
    for (unsigned j = twig->n - n + leaves; j < twig->n; j++)
        tamis_i_twig_verify(twig, j, false);
    twig->n_words += words - old;
    twig->n += leaves;
    twig->n -= n;
}
