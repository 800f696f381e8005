/* spread.c - page tables: fill some pages that follow each other anew
 *
 * The items of a few neighbours are listed in the order of their hashes and cut into parts of about the
 * same size, between different hashes.  Each part becomes a page.  Everything that this needs is reserved
 * first; then nothing can fail.  The items are the same before and after, so no record is written.
 *
 * How many neighbours?  As few as have room for the new item and some more.  If even WIDTH pages are full,
 * they become WIDTH + 1.  So pages are never less than FULL WIDTH / (WIDTH + 1) full while a table grows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/pages.h"

#include <stdlib.h>

#define WIDTH     12u
#define PARTS_MAX (WIDTH + 2u)
#define FULL      (TAMIS_I_PAGE_ROOM / 100 * 94)

/* An item on its way: its hash, and where it is in the list. */
typedef struct rank {
    uint32_t hash;
    uint32_t at;
} rank;

/* Pages being filled anew. */
typedef struct spread {
    unsigned t, from, n; /* leaves of a twig */
    unsigned char *old;  /* copies of their pages */
    tamis_i_page_item *items;
    tamis_digest *digests;
    rank *ranks;
    unsigned n_items;
    size_t block_size; /* of all of these */
    void *block;
    unsigned parts;
    unsigned start[PARTS_MAX + 1]; /* first rank of each part */
    tamis_i_page_item *sorted;
} spread;

static int spread_compare(const void *a, const void *b) {
    const rank *const x = a, *const y = b;
    return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash)
                              : (x->at > y->at) - (x->at < y->at);
}

/* List the items of all pages, sorted. */
static tamis_status spread_gather(tamis_i_pages *p, spread *s) {
    tamis_i_twig *const twig = p->twigs[s->t];
    size_t n = 0;
    for (unsigned i = 0; i < s->n; i++)
        n += twig->leaves[s->from + i].count;
    const size_t images = (size_t)s->n * TAMIS_I_PAGE_BYTES;
    s->block_size =
        images + n * (2 * sizeof *s->items + sizeof *s->digests + sizeof *s->ranks) + 64;
    s->block = tamis_i_alloc(p->allocator, s->block_size);
    if (s->block == NULL)
        return TAMIS_E_NOMEM;
    s->old = s->block;
    s->digests = (void *)(s->old + images);
    s->items = (void *)(s->digests + n);
    s->sorted = s->items + n;
    s->ranks = (void *)(s->sorted + n);
    s->n_items = 0;
    for (unsigned i = 0; i < s->n; i++) {
        unsigned char *const copy = s->old + (size_t)i * TAMIS_I_PAGE_BYTES;
        const unsigned char *image;
        tamis_i_page_buffer buffer;
        const tamis_status status = tamis_i_pages_image(p, twig, s->from + i, buffer.bytes, &image);
        if (status != TAMIS_OK)
            return status;
        memcpy(copy, image, TAMIS_I_PAGE_BYTES);
        tamis_i_page_walk walk = {.image = copy};
        for (; tamis_i_page_next(&walk, s->items + s->n_items); s->n_items++) {
            const tamis_i_page_item *const item = s->items + s->n_items;
            const tamis_digest digest = tamis_i_pages_digest(p, item->key, item->key_size);
            s->digests[s->n_items] = digest;
            s->ranks[s->n_items] = (rank){tamis_i_pages_hash(digest), s->n_items};
        }
    }
    qsort(s->ranks, s->n_items, sizeof *s->ranks, spread_compare);
    for (unsigned i = 0; i < s->n_items; i++)
        s->sorted[i] = s->items[s->ranks[i].at];
    return TAMIS_OK;
}

/* The first rank after those with the hash of rank i. */
static unsigned spread_after(const spread *s, unsigned i) {
    unsigned next = i + 1;
    while (next < s->n_items && s->ranks[next].hash == s->ranks[i].hash)
        next++;
    return next;
}

/* Cut the items into at most 'parts' parts.  False if one would be too large for a page. */
static bool spread_cut(spread *s, unsigned parts) {
    size_t total = 0;
    for (unsigned i = 0; i < s->n_items; i++)
        total += (size_t)s->sorted[i].key_size + s->sorted[i].value_size + 4;
    unsigned i = 0;
    s->parts = 0;
    size_t done = 0;
    while (i < s->n_items || s->parts == 0) {
        if (s->parts == parts)
            return false;
        const size_t goal = total * (s->parts + 1) / parts;
        tamis_i_page_load load = {0};
        s->start[s->parts++] = i;
        while (i < s->n_items && (done < goal || load.n == 0)) {
            const unsigned next = spread_after(s, i);
            tamis_i_page_load more = load;
            size_t bytes = 0;
            for (unsigned j = i; j < next; j++) {
                tamis_i_page_load_add(&more, s->sorted + j);
                bytes += (size_t)s->sorted[j].key_size + s->sorted[j].value_size + 4;
            }
            if (tamis_i_page_load_size(&more) > TAMIS_I_PAGE_ROOM ||
                more.n > TAMIS_I_PAGE_ITEMS_MAX) {
                if (load.n == 0)
                    return false;
                break;
            }
            load = more;
            done += bytes;
            i = next;
        }
    }
    s->start[s->parts] = s->n_items;
    return true;
}

/* Build the page and the filter of a part. */
static void spread_fill(tamis_i_pages *p, const spread *s, unsigned part, unsigned char *image) {
    tamis_i_twig *const twig = p->twigs[s->t];
    tamis_i_leaf *const leaf = twig->leaves + s->from + part;
    const unsigned n = s->start[part + 1] - s->start[part];
    tamis_i_page_build(image, leaf->first, s->sorted + s->start[part], n);
    const size_t room = tamis_i_pages_room(n), words = tamis_i_sieve_words(&p->sieve, room);
    tamis_i_twig_set_words(twig, s->from + part, words);
    for (unsigned i = s->start[part]; i < s->start[part + 1]; i++)
        tamis_i_sieve_add(&p->sieve, twig->words + leaf->at, words, s->digests[s->ranks[i].at]);
    tamis_i_twig_set_load(twig, &p->sieve, s->from + part, n);
    leaf->count = n & 0xfff;
    leaf->used = tamis_i_page_used(image) & 0xfff;
}

/* Forget the page of a leaf that will be built anew. */
static void spread_forget(tamis_i_pages *p, const tamis_i_leaf *leaf) {
    uint32_t block = leaf->block;
    if ((block & TAMIS_I_PAGES_FRESH) != 0) {
        block = p->fresh[block & ~TAMIS_I_PAGES_FRESH].old_block;
        tamis_i_pages_drop_fresh(p, leaf->block);
    }
    if (block != 0)
        p->gone[p->n_gone++] = block;
}

/* Cut a twig that is too long in two.  There is memory for the second. */
static void spread_halve(tamis_i_pages *p, unsigned t, tamis_i_twig *second) {
    tamis_i_twig *const first = p->twigs[t];
    const unsigned half = first->n / 2;
    const size_t at = first->leaves[half].at;
    second->n = first->n - half;
    memcpy(second->leaves, first->leaves + half, second->n * sizeof *second->leaves);
    second->n_words = first->n_words - at;
    memcpy(second->words, first->words + at, second->n_words * sizeof *second->words);
    for (unsigned i = 0; i < second->n; i++)
        second->leaves[i].at = (uint32_t)(second->leaves[i].at - at) & 0xfffff;
    first->n = half;
    first->n_words = at;
    first->dirty = second->dirty = true;
    tamis_i_pages_insert_twig(p, t + 1, second);
    tamis_i_twig_fit(first, p->allocator, true);
    tamis_i_twig_fit(second, p->allocator, true);
}

/* The twig that a longer one may need. */
static tamis_i_twig *spread_second_twig(tamis_i_pages *p, const tamis_i_twig *first, size_t words) {
    tamis_i_twig *const second = tamis_i_alloc_zeroed(p->allocator, sizeof *second);
    if (second == NULL)
        return NULL;
    if (tamis_i_pages_reserve_twig(p) &&
        tamis_i_twig_reserve(second, p->allocator, first->n, first->n_words + words))
        return second;
    tamis_i_twig_clear(second, p->allocator);
    tamis_i_free(p->allocator, second, sizeof *second);
    return NULL;
}

/* Put the parts in the place of the old pages. */
static tamis_status spread_replace(tamis_i_pages *p, const spread *s) {
    tamis_i_twig *const twig = p->twigs[s->t];
    unsigned char *images[PARTS_MAX];
    tamis_i_twig *second = NULL;
    size_t words = 0, old = 0;
    for (unsigned i = 0; i < s->n; i++)
        old += twig->leaves[s->from + i].words;
    for (unsigned i = 0; i < s->parts; i++) {
        const size_t n = s->start[i + 1] - s->start[i];
        words += tamis_i_sieve_words(&p->sieve, tamis_i_pages_room(n));
    }
    if (!tamis_i_twig_reserve(twig, p->allocator, s->parts > s->n ? s->parts - s->n : 0,
                              words > old ? words - old : 0) ||
        !tamis_i_pages_reserve_gone(p, s->n))
        return TAMIS_E_NOMEM;
    if (twig->n - s->n + s->parts > TAMIS_I_TWIG_LEAVES) {
        second = spread_second_twig(p, twig, words);
        if (second == NULL)
            return TAMIS_E_NOMEM;
    }
    if (!tamis_i_pages_reserve_fresh(p, s->parts, images)) {
        if (second != NULL) {
            tamis_i_twig_clear(second, p->allocator);
            tamis_i_free(p->allocator, second, sizeof *second);
        }
        return TAMIS_E_NOMEM;
    }
    const uint32_t first = twig->leaves[s->from].first;
    for (unsigned i = 0; i < s->n; i++) {
        spread_forget(p, twig->leaves + s->from);
        tamis_i_twig_remove(twig, s->from);
    }
    for (unsigned i = 0; i < s->parts; i++) {
        tamis_i_twig_insert(twig, s->from + i, i == 0 ? first : s->ranks[s->start[i]].hash);
        spread_fill(p, s, i, images[i]);
        twig->leaves[s->from + i].block = tamis_i_pages_new_fresh(p, images[i], 0);
    }
    twig->dirty = true;
    p->n_leaves += s->parts;
    p->n_leaves -= s->n;
    p->spreads++;
    if (second != NULL)
        spread_halve(p, s->t, second);
    return TAMIS_OK;
}

/* Fill leaves [from, from + n) of a twig anew, into 'parts' pages or up to 'most'.  TAMIS_E_FULL. */
static tamis_status spread_pages(tamis_i_pages *p, unsigned t, unsigned from, unsigned n,
                                 unsigned parts, unsigned most) {
    spread s = {.t = t, .from = from, .n = n};
    tamis_status status = spread_gather(p, &s);
    if (status == TAMIS_OK) {
        while (parts <= most && !spread_cut(&s, parts))
            parts++;
        status = parts <= most ? spread_replace(p, &s) : TAMIS_E_FULL;
    }
    tamis_i_free(p->allocator, s.block, s.block_size);
    return status;
}

/* The leaves around i: the window of 'width' leaves, as far as the twig has them. */
static unsigned spread_window(const tamis_i_twig *twig, unsigned i, unsigned width, size_t *used) {
    unsigned from = i >= width / 2 ? i - width / 2 : 0;
    if (from + width > twig->n)
        from = twig->n - width;
    *used = 0;
    for (unsigned j = 0; j < width; j++)
        *used += twig->leaves[from + j].used;
    return from;
}

tamis_status tamis_i_pages_make_room(tamis_i_pages *p, const tamis_i_spot *spot, size_t need,
                                     bool again) {
    const tamis_i_twig *const twig = p->twigs[spot->t];
    if (again) /* even parts had no room: a page of its own has */
        return spread_pages(p, spot->t, spot->i, 1, 2, 3);
    const unsigned most = twig->n < WIDTH ? twig->n : WIDTH;
    size_t used;
    for (unsigned width = 2; width <= most; width++) {
        const unsigned from = spread_window(twig, spot->i, width, &used);
        if (used + need <= (size_t)width * FULL)
            return spread_pages(p, spot->t, from, width, width, PARTS_MAX);
    }
    const unsigned from = spread_window(twig, spot->i, most, &used);
    return spread_pages(p, spot->t, from, most, most + 1, PARTS_MAX);
}

tamis_status tamis_i_pages_join(tamis_i_pages *p, const tamis_i_spot *spot) {
    const tamis_i_twig *const twig = p->twigs[spot->t];
    for (unsigned width = 2; width <= WIDTH && width <= twig->n; width++) {
        size_t used;
        const unsigned from = spread_window(twig, spot->i, width, &used);
        if (used > (size_t)(width - 1) * FULL)
            continue;
        const tamis_status status = spread_pages(p, spot->t, from, width, width - 1, width - 1);
        return status == TAMIS_E_FULL ? TAMIS_OK : status;
    }
    return TAMIS_OK;
}

tamis_status tamis_i_pages_pack(tamis_i_pages *p, unsigned t) {
    const tamis_i_twig *const twig = p->twigs[t];
    for (unsigned from = 0; from < twig->n;) {
        const unsigned width = twig->n - from < WIDTH ? twig->n - from : WIDTH;
        size_t used;
        (void)spread_window(twig, from + width / 2, width, &used);
        const unsigned parts = (unsigned)((used + FULL - 1) / FULL);
        const unsigned before = twig->n;
        if (parts < width) {
            const tamis_status status =
                spread_pages(p, t, from, width, parts > 0 ? parts : 1, width - 1);
            if (status != TAMIS_OK && status != TAMIS_E_FULL)
                return status;
        }
        from += width - (before - twig->n);
        if (from < twig->n && before != twig->n && width == WIDTH)
            from--; /* the last page of a window may be nearly empty */
    }
    return TAMIS_OK;
}
