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
#define ROW_MAX   32u /* ranks in a line of the table that sorts them */

/* An item on its way: its hash, and where it is in the list. */
typedef struct rank {
    uint32_t hash;
    uint32_t at;
} rank;

/* Pages being filled anew. */
typedef struct spread {
    unsigned t, from, n; /* leaves of a twig */
    const tamis_i_coming *coming;
    size_t n_coming;    /* items that are about to come: room is left for them */
    unsigned char *old; /* pages that were read */
    tamis_i_page_item *items;
    tamis_digest *digests;
    rank *ranks, *drawn;
    uint32_t *counts;
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

/* Sort the ranks.  Hashes in an interval are spread evenly, so that a table of as many lines as there are
 * ranks has about one in each.  If someone has seen to it that they are not, it is done by comparisons. */
static void spread_sort(const tamis_i_pages *p, spread *s) {
    const uint64_t first = p->twigs[s->t]->leaves[s->from].first, n = s->n_items;
    const uint64_t scale = (n << 32) / (tamis_i_pages_end_of(p, s->t, s->from + s->n - 1) - first);
    uint32_t most = 0, sum = 0;
    memset(s->counts, 0, (size_t)n * sizeof *s->counts);
    for (uint64_t i = 0; i < n; i++) {
        uint32_t *const count = s->counts + ((s->drawn[i].hash - first) * scale >> 32);
        most = ++*count > most ? *count : most;
    }
    if (most > ROW_MAX) {
        memcpy(s->ranks, s->drawn, (size_t)n * sizeof *s->ranks);
        qsort(s->ranks, (size_t)n, sizeof *s->ranks, spread_compare);
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t count = s->counts[i];
        s->counts[i] = sum;
        sum += count;
    }
    for (uint64_t i = 0; i < n; i++)
        s->ranks[s->counts[(s->drawn[i].hash - first) * scale >> 32]++] = s->drawn[i];
    for (uint64_t i = 1; i < n; i++) {
        const rank moved = s->ranks[i];
        uint64_t at = i;
        for (; at > 0 && s->ranks[at - 1].hash > moved.hash; at--)
            s->ranks[at] = s->ranks[at - 1];
        s->ranks[at] = moved;
    }
}

/* Room for 'n' items and the pages that are not in memory. */
static bool spread_reserve(tamis_i_pages *p, spread *s, size_t n) {
    const size_t images = (size_t)s->n * TAMIS_I_PAGE_BYTES;
    s->block_size =
        images + TAMIS_I_PAGE_BYTES +
        n * (2 * sizeof *s->items + sizeof *s->digests + 2 * sizeof *s->ranks + sizeof *s->counts);
    s->block = tamis_i_alloc(p->allocator, s->block_size);
    if (s->block == NULL)
        return false;
    /* Past the cache only aligned pages can be read. */
    s->old = (unsigned char *)s->block + (0 - (uintptr_t)s->block) % TAMIS_I_PAGE_BYTES;
    s->digests = (void *)(s->old + images);
    s->items = (void *)(s->digests + n);
    s->sorted = s->items + n;
    s->ranks = (void *)(s->sorted + n);
    s->drawn = s->ranks + n;
    s->counts = (void *)(s->drawn + n);
    return true;
}

/* List the items of all pages and those that are about to come, sorted.  The latter have no key. */
static tamis_status spread_gather(tamis_i_pages *p, spread *s) {
    tamis_i_twig *const twig = p->twigs[s->t];
    size_t n = s->n_coming;
    for (unsigned i = 0; i < s->n; i++)
        n += twig->leaves[s->from + i].count;
    if (!spread_reserve(p, s, n))
        return TAMIS_E_NOMEM;
    s->n_items = 0;
    for (unsigned i = 0; i < s->n; i++) {
        const unsigned char *image;
        const tamis_status status = tamis_i_pages_image(
            p, twig, s->from + i, s->old + (size_t)i * TAMIS_I_PAGE_BYTES, &image);
        if (status != TAMIS_OK)
            return status;
        const uint32_t first = tamis_i_page_first(image);
        const uint64_t width = tamis_i_pages_end_of(p, s->t, s->from + i) - first;
        tamis_i_page_walk walk = {.image = image};
        for (; tamis_i_page_next(&walk, s->items + s->n_items); s->n_items++) {
            const tamis_i_page_item *const item = s->items + s->n_items;
            const tamis_digest digest = tamis_i_pages_digest(p, item->key, item->key_size);
            const uint32_t hash = tamis_i_pages_hash(digest);
            if (hash < first || hash - first >= width)
                return TAMIS_E_FORMAT;
            s->digests[s->n_items] = digest;
            s->drawn[s->n_items] = (rank){hash, s->n_items};
        }
    }
    for (size_t i = 0; i < s->n_coming; i++, s->n_items++) {
        s->items[s->n_items] = (tamis_i_page_item){.key_size = s->coming[i].key_size,
                                                   .value_size = s->coming[i].value_size};
        s->drawn[s->n_items] = (rank){s->coming[i].hash, s->n_items};
    }
    if (s->n_items > 0)
        spread_sort(p, s);
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

/* Is there room for one more item, whatever its sizes do to the others? */
static bool spread_surely_fits(const tamis_i_page_load *load, const tamis_i_page_item *item) {
    return load->n < TAMIS_I_PAGE_ITEMS_MAX &&
           load->n + load->bytes + load->heads + item->key_size + item->value_size + 5 <=
               TAMIS_I_PAGE_ROOM;
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
            if (next == i + 1 && spread_surely_fits(&load, s->sorted + i)) {
                tamis_i_page_load_add(&load, s->sorted + i);
                done += (size_t)s->sorted[i].key_size + s->sorted[i].value_size + 4;
                i = next;
                continue;
            }
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

/* Is item i of the sorted ones about to come? */
static bool spread_comes(const spread *s, unsigned i) {
    return s->ranks[i].at >= s->n_items - s->n_coming;
}

/* What a leaf will say of a part, but for where its page is.  Its filter has room for what is about to
 * come. */
static tamis_i_leaf spread_leaf(const tamis_i_pages *p, const spread *s, unsigned part) {
    tamis_i_leaf leaf = {.first = part == 0 ? p->twigs[s->t]->leaves[s->from].first
                                            : s->ranks[s->start[part]].hash};
    unsigned n = 0, coming = 0;
    for (unsigned i = s->start[part]; i < s->start[part + 1]; i++) {
        const bool comes = spread_comes(s, i);
        coming += comes;
        n += !comes;
    }
    tamis_i_leaf_set_sizes(&leaf, n, 0);
    tamis_i_leaf_set_room(&leaf, tamis_i_pages_extra(p, n, coming), 0);
    return leaf;
}

/* Build the page and the filter of a part.  Those that are about to come are left out. */
static void spread_fill(tamis_i_pages *p, const spread *s, unsigned part, unsigned char *image) {
    const tamis_i_twig *const twig = p->twigs[s->t];
    tamis_i_leaf *const leaf = twig->leaves + s->from + part;
    tamis_i_page_item *const items = s->sorted + s->start[part];
    size_t bytes;
    unsigned char *const filter = tamis_i_twig_filter(twig, &p->sieve, s->from + part, &bytes);
    unsigned n = 0;
    for (unsigned i = s->start[part]; i < s->start[part + 1]; i++) {
        if (spread_comes(s, i))
            continue;
        tamis_i_sieve_add(&p->sieve, filter, bytes, s->digests[s->ranks[i].at]);
        items[n++] = s->sorted[i];
    }
    tamis_i_page_build(image, leaf->first, items, n);
    tamis_i_leaf_set_sizes(leaf, n, tamis_i_page_used(image));
}

/* Forget the page of a leaf that was built anew. */
static void spread_forget(tamis_i_pages *p, uint32_t leaf_block) {
    uint32_t block = leaf_block;
    if ((block & TAMIS_I_PAGES_FRESH) != 0) {
        block = p->fresh[block & ~TAMIS_I_PAGES_FRESH].old_block;
        tamis_i_pages_drop_fresh(p, leaf_block);
    }
    if (block != 0)
        p->gone[p->n_gone++] = block;
}

/* Cut a twig that is too long in two.  There is memory for the second. */
static void spread_halve(tamis_i_pages *p, unsigned t, tamis_i_twig *second) {
    tamis_i_twig *const first = p->twigs[t];
    const unsigned half = first->n / 2;
    const size_t at = tamis_i_twig_at(first, &p->sieve, half);
    second->n = first->n - half;
    memcpy(second->leaves, first->leaves + half, second->n * sizeof *second->leaves);
    second->n_bytes = first->n_bytes - at;
    if (second->n_bytes > 0)
        memcpy(second->filters, first->filters + at, second->n_bytes);
    tamis_i_twig_note(second, &p->sieve, 0);
    first->n = half;
    first->n_bytes = at;
    tamis_i_twig_set_pace(first);
    first->dirty = second->dirty = true;
    tamis_i_pages_insert_twig(p, t + 1, second);
    tamis_i_twig_fit(first, p->allocator, true);
    tamis_i_twig_fit(second, p->allocator, true);
}

/* The twig that a longer one may need. */
static tamis_i_twig *spread_second_twig(tamis_i_pages *p, const tamis_i_twig *first, size_t bytes) {
    tamis_i_twig *const second = tamis_i_alloc_zeroed(p->allocator, sizeof *second);
    if (second == NULL)
        return NULL;
    if (tamis_i_pages_reserve_twig(p) &&
        tamis_i_twig_reserve(second, p->allocator, first->n, first->n_bytes + bytes))
        return second;
    tamis_i_twig_clear(second, p->allocator);
    tamis_i_free(p->allocator, second, sizeof *second);
    return NULL;
}

/* Put the parts in the place of the old pages. */
static tamis_status spread_replace(tamis_i_pages *p, const spread *s) {
    tamis_i_twig *const twig = p->twigs[s->t];
    unsigned char *images[PARTS_MAX];
    uint32_t blocks[WIDTH];
    tamis_i_leaf leaves[PARTS_MAX];
    tamis_i_twig *second = NULL;
    size_t bytes = 0, old = 0;
    for (unsigned i = 0; i < s->n; i++) {
        const tamis_i_leaf *const leaf = twig->leaves + s->from + i;
        old += tamis_i_sieve_bytes(&p->sieve, tamis_i_leaf_room(leaf));
        blocks[i] = leaf->block;
    }
    for (unsigned i = 0; i < s->parts; i++) {
        leaves[i] = spread_leaf(p, s, i);
        bytes += tamis_i_sieve_bytes(&p->sieve, tamis_i_leaf_room(leaves + i));
    }
    if (!tamis_i_twig_reserve(twig, p->allocator, s->parts > s->n ? s->parts - s->n : 0,
                              bytes > old ? bytes - old : 0) ||
        !tamis_i_pages_reserve_gone(p, s->n))
        return TAMIS_E_NOMEM;
    if (twig->n - s->n + s->parts > TAMIS_I_TWIG_LEAVES) {
        second = spread_second_twig(p, twig, bytes);
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
    tamis_i_twig_replace(twig, &p->sieve, s->from, s->n, s->parts, bytes);
    memcpy(twig->leaves + s->from, leaves, s->parts * sizeof *leaves);
    tamis_i_twig_note(twig, &p->sieve, s->from);
    for (unsigned i = 0; i < s->parts; i++) {
        spread_fill(p, s, i, images[i]);
        twig->leaves[s->from + i].block = tamis_i_pages_new_fresh(p, images[i], 0);
    }
    for (unsigned i = 0; i < s->n; i++) /* only now: the items were there */
        spread_forget(p, blocks[i]);
    twig->dirty = true;
    p->n_leaves += s->parts;
    p->n_leaves -= s->n;
    p->spreads++;
    if (second != NULL)
        spread_halve(p, s->t, second);
    return TAMIS_OK;
}

/* Fill the leaves of a spread anew, into 'parts' pages or up to 'most'.  TAMIS_E_FULL. */
static tamis_status spread_run(tamis_i_pages *p, spread *s, unsigned parts, unsigned most) {
    tamis_status status = spread_gather(p, s);
    if (status == TAMIS_OK) {
        while (parts <= most && !spread_cut(s, parts))
            parts++;
        status = parts <= most ? spread_replace(p, s) : TAMIS_E_FULL;
    }
    tamis_i_free(p->allocator, s->block, s->block_size);
    return status;
}

static tamis_status spread_pages(tamis_i_pages *p, unsigned t, unsigned from, unsigned n,
                                 unsigned parts, unsigned most) {
    spread s = {.t = t, .from = from, .n = n};
    return spread_run(p, &s, parts, most);
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

/* -------------------------------------------------------------------------------------------------
 * Many items at once
 */

/* Bytes that an item will take: its tag, and mostly a byte for each of its sizes. */
static size_t spread_size(const tamis_i_coming *item) {
    return (size_t)item->key_size + item->value_size + 3;
}

/* The first of the coming items with at least this hash. */
static size_t spread_seek(const tamis_i_coming *coming, size_t n, uint64_t hash) {
    size_t low = 0;
    while (n > 0) {
        const size_t half = n / 2;
        if (coming[low + half].hash < hash) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return low;
}

/* The bytes that are about to come to leaves [from, from + n) of a twig; they are [*first, *after). */
static size_t spread_coming(const tamis_i_pages *p, const tamis_i_coming *coming, size_t n_coming,
                            const spread *s, size_t *first, size_t *after) {
    size_t bytes = 0;
    *first = spread_seek(coming, n_coming, p->twigs[s->t]->leaves[s->from].first);
    *after = spread_seek(coming, n_coming, tamis_i_pages_end_of(p, s->t, s->from + s->n - 1));
    for (size_t i = *first; i < *after; i++)
        bytes += spread_size(coming + i);
    return bytes;
}

/* Fill the page of a leaf and as few of its neighbours as there must be anew, with room for all that is about
 * to come to them.  So much may come to a few pages that there is no use in taking more of them. */
static tamis_status spread_ahead(tamis_i_pages *p, const tamis_i_coming *coming, size_t n_coming,
                                 unsigned t, unsigned i) {
    const tamis_i_twig *const twig = p->twigs[t];
    const unsigned most = twig->n < WIDTH ? twig->n : WIDTH;
    spread s = {.t = t};
    size_t first = 0, after = 0, bytes = 0;
    unsigned parts = 0;
    for (s.n = 1; s.n <= most; s.n++) {
        size_t used;
        s.from = spread_window(twig, i, s.n, &used);
        bytes = used + spread_coming(p, coming, n_coming, &s, &first, &after);
        parts = (unsigned)((bytes + FULL - 1) / FULL);
        if (parts <= s.n || parts > WIDTH || s.n == most)
            break;
    }
    if (parts < s.n)
        parts = s.n;
    if (parts > PARTS_MAX - 1)
        parts = PARTS_MAX - 1;
    s.coming = coming + first;
    s.n_coming = after - first;
    return spread_run(p, &s, parts, PARTS_MAX);
}

void tamis_i_pages_expect(tamis_i_pages *p, const tamis_i_coming *coming, size_t n) {
    for (size_t i = 0; i < n;) {
        tamis_i_spot spot = {.hash = coming[i].hash};
        tamis_i_pages_relocate(p, &spot);
        const tamis_i_leaf *const leaf = p->twigs[spot.t]->leaves + spot.i;
        const uint64_t end = tamis_i_pages_end_of(p, spot.t, spot.i);
        size_t used = leaf->used, after = i;
        for (; after < n && coming[after].hash < end; after++)
            used += spread_size(coming + after);
        if (used > TAMIS_I_PAGE_ROOM) {
            if (spread_ahead(p, coming, n, spot.t, spot.i) != TAMIS_OK)
                return;
            tamis_i_pages_relocate(p, &spot);
            /* If there is not room for all of them, let them find it one by one. */
            const uint64_t now = tamis_i_pages_end_of(p, spot.t, spot.i);
            while (i < n && coming[i].hash < now)
                i++;
        } else {
            i = after;
        }
    }
}
