/* twig.c - the index of a page table in fast memory: leaves and their filters
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/twig.h"

size_t tamis_i_sieve_extra(const tamis_i_sieve *sieve, size_t n, size_t keys) {
    const uint32_t bytes = tamis_i_sieve_bytes(sieve, (uint32_t)keys);
    const size_t room = (size_t)bytes * 8000 / sieve->bits;
    return room - n < TAMIS_I_TWIG_EXTRA ? room - n : TAMIS_I_TWIG_EXTRA;
}

void tamis_i_sieve_add(const tamis_i_sieve *sieve, unsigned char *filter, size_t n,
                       tamis_digest digest) {
    tamis_i_drops d = tamis_i_drops_of(digest);
    for (uint32_t i = 0; i < sieve->hashes; i++) {
        const size_t bit = tamis_i_drop(&d, 8 * n);
        filter[bit / 8] |= (unsigned char)(1u << bit % 8);
    }
}

void *tamis_i_grown(const tamis_allocator *allocator, void *old, size_t old_size, size_t size) {
    void *const block = tamis_i_alloc(allocator, size);
    if (block == NULL)
        return NULL;
    if (old != NULL)
        memcpy(block, old, old_size);
    tamis_i_free(allocator, old, old_size);
    return block;
}

/* Move leaves and rows to a block for 'cap' leaves. */
static bool twig_move(tamis_i_twig *twig, const tamis_allocator *allocator, unsigned cap) {
    tamis_i_leaf *const leaves = tamis_i_alloc(allocator, tamis_i_twig_block(cap));
    if (leaves == NULL)
        return false;
    uint32_t *const rows = (uint32_t *)(void *)(leaves + cap);
    if (twig->n > 0) {
        memcpy(leaves, twig->leaves, twig->n * sizeof *leaves);
        memcpy(rows, twig->rows,
               (twig->n + TAMIS_I_TWIG_ROW - 1) / TAMIS_I_TWIG_ROW * sizeof *rows);
    }
    tamis_i_free(allocator, twig->leaves, tamis_i_twig_block(twig->cap));
    twig->leaves = leaves;
    twig->rows = rows;
    twig->cap = cap;
    return true;
}

bool tamis_i_twig_reserve(tamis_i_twig *twig, const tamis_allocator *allocator, unsigned leaves,
                          size_t bytes) {
    if (twig->n + leaves > twig->cap &&
        !twig_move(twig, allocator, twig->n + leaves + twig->n / 32 + 2))
        return false;
    if (twig->n_bytes + bytes > twig->cap_bytes || twig->filters == NULL) {
        const size_t cap = twig->n_bytes + bytes + twig->n_bytes / 64 + 64;
        unsigned char *const more = tamis_i_grown(allocator, twig->filters, twig->cap_bytes, cap);
        if (more == NULL)
            return false;
        twig->filters = more;
        twig->cap_bytes = cap;
    }
    return true;
}

void tamis_i_twig_fit(tamis_i_twig *twig, const tamis_allocator *allocator, bool grows) {
    const unsigned cap = twig->n + (grows ? 8 : 0);
    const size_t cap_bytes = twig->n_bytes + (grows ? 256 : 0);
    if (cap < twig->cap)
        (void)twig_move(twig, allocator, cap);
    unsigned char *const filters =
        cap_bytes > 0 && cap_bytes < twig->cap_bytes ? tamis_i_alloc(allocator, cap_bytes) : NULL;
    if (filters != NULL) {
        memcpy(filters, twig->filters, twig->n_bytes);
        tamis_i_free(allocator, twig->filters, twig->cap_bytes);
        twig->filters = filters;
        twig->cap_bytes = cap_bytes;
    }
}

void tamis_i_twig_clear(tamis_i_twig *twig, const tamis_allocator *allocator) {
    tamis_i_free(allocator, twig->leaves, tamis_i_twig_block(twig->cap));
    tamis_i_free(allocator, twig->filters, twig->cap_bytes);
    memset(twig, 0, sizeof *twig);
}

void tamis_i_twig_append(tamis_i_twig *twig, uint32_t first) {
    const unsigned i = twig->n;
    TAMIS_ASSERT(i < TAMIS_I_TWIG_BITS);
    tamis_i_twig_verify(twig, i, false);
    twig->n++;
    twig->leaves[i] = (tamis_i_leaf){.first = first};
    if (i % TAMIS_I_TWIG_ROW == 0)
        twig->rows[i / TAMIS_I_TWIG_ROW] = (uint32_t)twig->n_bytes;
}

void tamis_i_twig_append_filter(tamis_i_twig *twig, const tamis_i_sieve *sieve, unsigned i,
                                size_t extra, size_t lost) {
    tamis_i_leaf *const leaf = twig->leaves + i;
    tamis_i_leaf_set_room(leaf, extra, lost);
    const uint32_t bytes = tamis_i_sieve_bytes(sieve, tamis_i_leaf_room(leaf));
    if (i % TAMIS_I_TWIG_ROW == 0)
        twig->rows[i / TAMIS_I_TWIG_ROW] = (uint32_t)twig->n_bytes;
    if (bytes > 0)
        memset(twig->filters + twig->n_bytes, 0, bytes);
    twig->n_bytes += bytes;
}

void tamis_i_twig_note(tamis_i_twig *twig, const tamis_i_sieve *sieve, unsigned i) {
    unsigned j = i / TAMIS_I_TWIG_ROW * TAMIS_I_TWIG_ROW;
    size_t at = j == 0 ? 0 : twig->rows[j / TAMIS_I_TWIG_ROW];
    for (; j < twig->n; j++) {
        if (j % TAMIS_I_TWIG_ROW == 0)
            twig->rows[j / TAMIS_I_TWIG_ROW] = (uint32_t)at;
        at += tamis_i_sieve_bytes(sieve, tamis_i_leaf_room(twig->leaves + j));
    }
    TAMIS_ASSERT(at == twig->n_bytes);
    tamis_i_twig_set_pace(twig);
}

/* Bytes 'at' to 'at + old' of the filters become 'bytes' zeros. */
static void twig_resize(tamis_i_twig *twig, size_t at, size_t old, size_t bytes) {
    const size_t after = twig->n_bytes - at - old;
    if (after > 0 && bytes != old)
        memmove(twig->filters + at + bytes, twig->filters + at + old, after);
    if (bytes > 0)
        memset(twig->filters + at, 0, bytes);
    twig->n_bytes += bytes;
    twig->n_bytes -= old;
}

void tamis_i_twig_refit(tamis_i_twig *twig, const tamis_i_sieve *sieve, unsigned i, size_t count,
                        size_t extra) {
    tamis_i_leaf *const leaf = twig->leaves + i;
    const size_t at = tamis_i_twig_at(twig, sieve, i);
    const size_t old = tamis_i_sieve_bytes(sieve, tamis_i_leaf_room(leaf));
    tamis_i_leaf_set_sizes(leaf, count, leaf->used);
    tamis_i_leaf_set_room(leaf, extra, 0);
    const size_t bytes = tamis_i_sieve_bytes(sieve, tamis_i_leaf_room(leaf));
    twig_resize(twig, at, old, bytes);
    for (unsigned j = i / TAMIS_I_TWIG_ROW + 1; j * TAMIS_I_TWIG_ROW < twig->n; j++)
        twig->rows[j] += (uint32_t)bytes - (uint32_t)old;
}

void tamis_i_twig_replace(tamis_i_twig *twig, const tamis_i_sieve *sieve, unsigned i, unsigned n,
                          unsigned leaves, size_t bytes) {
    size_t old = 0;
    const unsigned after = twig->n - i - n;
    const size_t at = tamis_i_twig_at(twig, sieve, i);
    for (unsigned j = i; j < i + n; j++)
        old += tamis_i_sieve_bytes(sieve, tamis_i_leaf_room(twig->leaves + j));
    twig_resize(twig, at, old, bytes);
    memmove(twig->leaves + i + leaves, twig->leaves + i + n, after * sizeof *twig->leaves);
    memset(twig->leaves + i, 0, leaves * sizeof *twig->leaves);
    bool verified[TAMIS_I_TWIG_BITS];
    for (unsigned j = 0; j < after && leaves != n; j++)
        verified[j] = tamis_i_twig_verified(twig, i + n + j);
    for (unsigned j = 0; j < after && leaves != n; j++)
        tamis_i_twig_verify(twig, i + leaves + j, verified[j]);
    for (unsigned j = i; j < i + leaves; j++)
        tamis_i_twig_verify(twig, j, false);
    for (unsigned j = twig->n - n + leaves; j < twig->n; j++)
        tamis_i_twig_verify(twig, j, false);
    twig->n += leaves;
    twig->n -= n;
}
