/* pages.c - page tables: find, put, delete, list, verify
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/pages.h"

#define LIST_MAX (TAMIS_I_PAGE_ITEMS_MAX + 1u)

/* -------------------------------------------------------------------------------------------------
 * Memory
 */

bool tamis_i_pages_reserve_twig(tamis_i_pages *p) {
    if (p->n_twigs < p->cap_twigs)
        return true;
    const unsigned cap = p->cap_twigs + p->cap_twigs / 2 + 4;
    tamis_i_twig **const twigs = tamis_i_alloc(p->allocator, cap * sizeof(tamis_i_twig *));
    uint32_t *const firsts = tamis_i_alloc(p->allocator, cap * sizeof *firsts);
    if (twigs == NULL || firsts == NULL) {
        tamis_i_free(p->allocator, twigs, cap * sizeof(tamis_i_twig *));
        tamis_i_free(p->allocator, firsts, cap * sizeof *firsts);
        return false;
    }
    if (p->n_twigs > 0) {
        memcpy(twigs, p->twigs, p->n_twigs * sizeof(tamis_i_twig *));
        memcpy(firsts, p->firsts, p->n_twigs * sizeof *firsts);
    }
    tamis_i_free(p->allocator, p->twigs, p->cap_twigs * sizeof(tamis_i_twig *));
    tamis_i_free(p->allocator, p->firsts, p->cap_twigs * sizeof *firsts);
    p->twigs = twigs;
    p->firsts = firsts;
    p->cap_twigs = cap;
    return true;
}

void tamis_i_pages_insert_twig(tamis_i_pages *p, unsigned t, tamis_i_twig *twig) {
    memmove(p->twigs + t + 1, p->twigs + t, (p->n_twigs - t) * sizeof(tamis_i_twig *));
    memmove(p->firsts + t + 1, p->firsts + t, (p->n_twigs - t) * sizeof *p->firsts);
    p->twigs[t] = twig;
    p->firsts[t] = twig->leaves[0].first;
    p->n_twigs++;
}

void tamis_i_pages_remove_twig(tamis_i_pages *p, unsigned t) {
    tamis_i_twig_clear(p->twigs[t], p->allocator);
    tamis_i_free(p->allocator, p->twigs[t], sizeof *p->twigs[t]);
    p->n_twigs--;
    memmove(p->twigs + t, p->twigs + t + 1, (p->n_twigs - t) * sizeof(tamis_i_twig *));
    memmove(p->firsts + t, p->firsts + t + 1, (p->n_twigs - t) * sizeof *p->firsts);
}

bool tamis_i_pages_reserve_fresh(tamis_i_pages *p, unsigned n, unsigned char **images) {
    if (p->cap_fresh - p->n_fresh < n) {
        const size_t cap = p->cap_fresh + p->cap_fresh / 2 + n + 16;
        if (cap > TAMIS_I_PAGES_FRESH)
            return false;
        tamis_i_fresh *const more =
            tamis_i_grown(p->allocator, p->fresh, p->cap_fresh * sizeof *more, cap * sizeof *more);
        if (more == NULL)
            return false;
        p->fresh = more;
        p->cap_fresh = (uint32_t)cap;
    }
    for (unsigned i = 0; i < n; i++) {
        images[i] = tamis_i_alloc(p->allocator, TAMIS_I_PAGE_BYTES);
        if (images[i] != NULL)
            continue;
        while (i-- > 0)
            tamis_i_free(p->allocator, images[i], TAMIS_I_PAGE_BYTES);
        return false;
    }
    return true;
}

uint32_t tamis_i_pages_new_fresh(tamis_i_pages *p, unsigned char *image, uint32_t old_block) {
    uint32_t number = p->n_fresh;
    if (p->free_fresh != 0) {
        number = p->free_fresh - 1;
        p->free_fresh = p->fresh[number].next_block;
    } else {
        p->n_fresh++;
    }
    p->fresh[number] = (tamis_i_fresh){.image = image, .old_block = old_block};
    p->live_fresh++;
    return number | TAMIS_I_PAGES_FRESH;
}

void tamis_i_pages_drop_fresh(tamis_i_pages *p, uint32_t number) {
    tamis_i_fresh *const fresh = p->fresh + (number & ~TAMIS_I_PAGES_FRESH);
    tamis_i_free(p->allocator, fresh->image, TAMIS_I_PAGE_BYTES);
    fresh->image = NULL;
    fresh->next_block = p->free_fresh;
    p->free_fresh = (number & ~TAMIS_I_PAGES_FRESH) + 1;
    p->live_fresh--;
}

tamis_status tamis_i_pages_freshen(tamis_i_pages *p, tamis_i_twig *twig, unsigned i,
                                   const unsigned char *now, tamis_i_fresh **fresh) {
    tamis_i_leaf *const leaf = twig->leaves + i;
    if ((leaf->block & TAMIS_I_PAGES_FRESH) == 0) {
        unsigned char *image;
        if (!tamis_i_pages_reserve_fresh(p, 1, &image))
            return TAMIS_E_NOMEM;
        memcpy(image, now, TAMIS_I_PAGE_BYTES);
        leaf->block = tamis_i_pages_new_fresh(p, image, leaf->block);
        twig->dirty = true;
    }
    *fresh = p->fresh + (leaf->block & ~TAMIS_I_PAGES_FRESH);
    return TAMIS_OK;
}

/* The first twig, with one empty page. */
static tamis_status pages_sow(tamis_i_pages *p) {
    unsigned char *image;
    tamis_i_twig *const twig = tamis_i_alloc_zeroed(p->allocator, sizeof *twig);
    if (twig == NULL)
        return TAMIS_E_NOMEM;
    if (!tamis_i_pages_reserve_twig(p) || !tamis_i_twig_reserve(twig, p->allocator, 1, 0) ||
        !tamis_i_pages_reserve_fresh(p, 1, &image)) {
        tamis_i_twig_clear(twig, p->allocator);
        tamis_i_free(p->allocator, twig, sizeof *twig);
        return TAMIS_E_NOMEM;
    }
    tamis_i_twig_append(twig, 0);
    tamis_i_page_build(image, 0, NULL, 0);
    twig->leaves[0].block = tamis_i_pages_new_fresh(p, image, 0);
    twig->dirty = true;
    tamis_i_pages_insert_twig(p, 0, twig);
    p->n_leaves = 1;
    return TAMIS_OK;
}

tamis_status tamis_i_pages_make(const tamis_allocator *allocator, const tamis_i_hasher *hasher,
                                const tamis_i_sieve *sieve, uint64_t salt, tamis_i_pages **pages) {
    tamis_i_pages *const p = tamis_i_alloc_zeroed(allocator, sizeof *p);
    if (p == NULL)
        return TAMIS_E_NOMEM;
    p->allocator = allocator;
    p->hasher = hasher;
    p->sieve = *sieve;
    p->salt = salt;
    p->file.fd = p->file.direct_fd = -1;
    p->list = tamis_i_alloc(allocator, LIST_MAX * sizeof *p->list);
    p->scratch = tamis_i_alloc(allocator, TAMIS_I_PAGE_BYTES);
    if (p->list == NULL || p->scratch == NULL || pages_sow(p) != TAMIS_OK) {
        tamis_i_pages_free(p);
        return TAMIS_E_NOMEM;
    }
    *pages = p;
    return TAMIS_OK;
}

void tamis_i_pages_free(tamis_i_pages *p) {
    const tamis_allocator *const a = p->allocator;
    if (p->disk.ops != NULL)
        p->disk.ops->close(p->disk.self);
    while (p->n_twigs > 0)
        tamis_i_pages_remove_twig(p, p->n_twigs - 1);
    for (uint32_t i = 0; i < p->n_fresh; i++)
        tamis_i_free(a, p->fresh[i].image, TAMIS_I_PAGE_BYTES);
    tamis_i_free(a, p->twigs, p->cap_twigs * sizeof(tamis_i_twig *));
    tamis_i_free(a, p->firsts, p->cap_twigs * sizeof *p->firsts);
    tamis_i_free(a, p->fresh, p->cap_fresh * sizeof *p->fresh);
    tamis_i_free(a, p->taken, (size_t)(p->cap_blocks / 8));
    tamis_i_free(a, p->owned, p->owned == NULL ? 0 : (size_t)(p->cap_blocks / 8));
    tamis_i_free(a, p->gone, p->cap_gone * sizeof *p->gone);
    tamis_i_free(a, p->list, LIST_MAX * sizeof *p->list);
    tamis_i_free(a, p->scratch, TAMIS_I_PAGE_BYTES);
    tamis_i_free(a, p->pending, TAMIS_I_PAGES_PENDING);
    tamis_i_free(a, p, sizeof *p);
}

/* -------------------------------------------------------------------------------------------------
 * Finding
 */

static inline unsigned pages_twig_of(const tamis_i_pages *p, uint32_t hash) {
    unsigned low = 0, n = p->n_twigs;
    while (n > 1) {
        const unsigned half = n / 2;
        if (p->firsts[low + half] <= hash)
            low += half;
        n -= half;
    }
    return low;
}

void tamis_i_pages_relocate(const tamis_i_pages *p, tamis_i_spot *spot) {
    spot->t = pages_twig_of(p, spot->hash);
    spot->i = tamis_i_twig_find(p->twigs[spot->t], spot->hash);
}

void tamis_i_pages_locate(const tamis_i_pages *p, const void *key, size_t key_size,
                          tamis_i_spot *spot) {
    spot->digest = tamis_i_pages_digest(p, key, key_size);
    spot->hash = tamis_i_pages_hash(spot->digest);
    spot->tag = tamis_i_pages_tag(spot->digest);
    tamis_i_pages_relocate(p, spot);
}

uint64_t tamis_i_pages_end_of(const tamis_i_pages *p, unsigned t, unsigned i) {
    if (i + 1 < p->twigs[t]->n)
        return p->twigs[t]->leaves[i + 1].first;
    return t + 1 < p->n_twigs ? p->firsts[t + 1] : (uint64_t)1 << 32;
}

tamis_status tamis_i_pages_image(const tamis_i_pages *p, tamis_i_twig *twig, unsigned i,
                                 unsigned char *buffer, const unsigned char **image) {
    const tamis_i_leaf *const leaf = twig->leaves + i;
    if ((leaf->block & TAMIS_I_PAGES_FRESH) != 0) {
        *image = p->fresh[leaf->block & ~TAMIS_I_PAGES_FRESH].image;
        return TAMIS_OK;
    }
    const uint64_t at = (uint64_t)leaf->block * TAMIS_I_PAGE_BYTES;
    *image = p->disk.ops->view(p->disk.self, at, TAMIS_I_PAGE_BYTES);
    if (*image == NULL) {
        if (!p->disk.ops->fetch(p->disk.self, at, buffer, TAMIS_I_PAGE_BYTES))
            return TAMIS_E_IO;
        *image = buffer;
    } else if (tamis_i_twig_verified(twig, i)) {
        return TAMIS_OK;
    }
    if (tamis_i_get_u32(*image) != leaf->sum ||
        !tamis_i_page_sealed(*image, leaf->block, p->salt) || !tamis_i_page_check(*image) ||
        tamis_i_page_first(*image) != leaf->first || tamis_i_page_count(*image) != leaf->count ||
        tamis_i_page_used(*image) != leaf->used)
        return TAMIS_E_FORMAT;
    tamis_i_twig_verify(twig, i, true);
    return TAMIS_OK;
}

tamis_status tamis_i_pages_find(const tamis_i_pages *p, const tamis_i_spot *spot, const void *key,
                                size_t key_size, unsigned char *buffer, tamis_i_page_item *item) {
    const unsigned char *image;
    const tamis_status status = tamis_i_pages_image(p, p->twigs[spot->t], spot->i, buffer, &image);
    if (status != TAMIS_OK)
        return status;
    return tamis_i_page_find(image, spot->tag, key, key_size, item, NULL) ? TAMIS_OK
                                                                          : TAMIS_E_NOT_FOUND;
}

/* -------------------------------------------------------------------------------------------------
 * Changing
 */

void tamis_i_pages_tell(const tamis_i_pages *p, const tamis_i_twig *twig, unsigned i,
                        const unsigned char *image) {
    size_t n;
    unsigned char *const filter = tamis_i_twig_filter(twig, &p->sieve, i, &n);
    tamis_i_page_walk walk = {.image = image};
    tamis_i_page_item item;
    while (tamis_i_page_next(&walk, &item))
        tamis_i_sieve_add(&p->sieve, filter, n, tamis_i_pages_digest(p, item.key, item.key_size));
}

/* Make the filter of a leaf anew, with room for one more key. */
static tamis_status pages_refit(tamis_i_pages *p, tamis_i_twig *twig, unsigned i,
                                const unsigned char *image) {
    const unsigned n = tamis_i_page_count(image);
    const size_t extra = tamis_i_pages_extra(p, n, 1);
    const size_t bytes = tamis_i_sieve_bytes(&p->sieve, (uint32_t)(n + extra));
    const size_t old = tamis_i_sieve_bytes(&p->sieve, tamis_i_leaf_room(twig->leaves + i));
    if (bytes > old && !tamis_i_twig_reserve(twig, p->allocator, 0, bytes - old))
        return TAMIS_E_NOMEM;
    tamis_i_twig_refit(twig, &p->sieve, i, n, extra);
    tamis_i_pages_tell(p, twig, i, image);
    return TAMIS_OK;
}

/* List the items of a page but the one called 'but'. */
static unsigned pages_list(const tamis_i_pages *p, const unsigned char *image, unsigned but) {
    tamis_i_page_walk walk = {.image = image};
    tamis_i_page_item *next = p->list;
    while (tamis_i_page_next(&walk, next))
        next += walk.i - 1 != but;
    return (unsigned)(next - p->list);
}

static size_t pages_size_of(const tamis_i_page_item *list, unsigned n) {
    tamis_i_page_load load = {0};
    for (unsigned i = 0; i < n; i++)
        tamis_i_page_load_add(&load, list + i);
    return tamis_i_page_load_size(&load);
}

/* How a page will be changed. */
typedef enum way { WAY_BUILD, WAY_APPEND, WAY_OVERWRITE } way;

/* Everything for a change of one page is there. */
typedef struct change {
    tamis_i_spot spot;
    tamis_i_page_item item; /* NULL as key and value: it is a deletion */
    tamis_i_fresh *fresh;
    way way;
    unsigned n; /* to build: items in p->list */
    size_t at;  /* to overwrite: place of the value */
    bool found;
    bool drops; /* the old value is elsewhere, and will not be needed */
    tamis_i_value old;
} change;

static void pages_make_change(tamis_i_pages *p, const change *c) {
    const tamis_i_leaf *const leaf = p->twigs[c->spot.t]->leaves + c->spot.i;
    unsigned char *const image = c->fresh->image;
    if (c->way == WAY_APPEND) {
        tamis_i_page_append(image, &c->item);
    } else if (c->way == WAY_OVERWRITE) {
        if (c->item.value_size != 0)
            memcpy(image + c->at, c->item.value, c->item.value_size);
    } else {
        tamis_i_page_build(p->scratch, leaf->first, p->list, c->n);
        memcpy(image, p->scratch, TAMIS_I_PAGE_BYTES);
    }
}

/* List what the page will hold: its items but number 'but', and the new one. */
static size_t pages_list_change(tamis_i_pages *p, const unsigned char *image, unsigned but,
                                bool deletion, change *c) {
    c->n = pages_list(p, image, but);
    if (!deletion)
        p->list[c->n++] = c->item;
    return pages_size_of(p->list, c->n);
}

/* Choose the way.  False: the item does not fit, and 'need' more bytes would be needed. */
static bool pages_choose_way(tamis_i_pages *p, const unsigned char *image, bool deletion,
                             const tamis_i_page_item *old, unsigned but, change *c, size_t *need) {
    if (!deletion && !c->found && tamis_i_page_fits(image, &c->item)) {
        c->way = WAY_APPEND;
        return true;
    }
    if (!deletion && c->found && old->value_size == c->item.value_size &&
        old->elsewhere == c->item.elsewhere) {
        c->way = WAY_OVERWRITE;
        c->at = (size_t)(old->value - image);
        return true;
    }
    c->way = WAY_BUILD;
    const size_t size = pages_list_change(p, image, but, deletion, c),
                 now = tamis_i_page_used(image);
    *need = size > now ? size - now : 0;
    return size <= TAMIS_I_PAGE_ROOM && c->n <= TAMIS_I_PAGE_ITEMS_MAX;
}

/* Find out how the page changes, make it fresh and its filter ready.  'item' NULL: delete. */
static tamis_status pages_prepare(tamis_i_pages *p, const tamis_i_page_item *item, const void *key,
                                  size_t key_size, change *c) {
    tamis_i_page_buffer buffer;
    tamis_i_page_item old;
    tamis_i_pages_locate(p, key, key_size, &c->spot);
    if (item != NULL) {
        c->item = *item;
        c->item.tag = c->spot.tag;
    }
    for (unsigned attempt = 0;; attempt++) {
        tamis_i_twig *const twig = p->twigs[c->spot.t];
        const unsigned char *image;
        unsigned at = UINT32_MAX;
        size_t need;
        const bool maybe = tamis_i_pages_maybe(p, &c->spot);
        if (item == NULL && !maybe)
            return TAMIS_E_NOT_FOUND;
        tamis_status status = tamis_i_pages_image(p, twig, c->spot.i, buffer.bytes, &image);
        if (status != TAMIS_OK)
            return status;
        c->found = maybe && tamis_i_page_find(image, c->spot.tag, key, key_size, &old, &at);
        if (item == NULL && !c->found)
            return TAMIS_E_NOT_FOUND;
        c->drops = c->found && old.elsewhere;
        if (c->drops && !tamis_i_value_decode(p, &old, &c->old))
            return TAMIS_E_FORMAT;
        c->drops = c->drops && tamis_i_value_is_owned(p, &c->old);
        if (c->drops && !tamis_i_value_reserve_drop(p, &c->old))
            return TAMIS_E_NOMEM;
        if (!pages_choose_way(p, image, item == NULL, &old, at, c, &need)) {
            status = attempt > 4 ? TAMIS_E_FULL
                                 : tamis_i_pages_make_room(p, &c->spot, need, attempt > 0);
            if (status != TAMIS_OK)
                return status;
            tamis_i_pages_relocate(p, &c->spot);
            continue;
        }
        const tamis_i_leaf *const leaf = twig->leaves + c->spot.i;
        if (item != NULL && !c->found && !tamis_i_leaf_spare(leaf))
            status = pages_refit(p, twig, c->spot.i, image);
        if (status == TAMIS_OK)
            status = tamis_i_pages_freshen(p, twig, c->spot.i, image, &c->fresh);
        /* The list must not point to the old page any more. */
        if (status == TAMIS_OK && c->way == WAY_BUILD && image != c->fresh->image)
            (void)pages_list_change(p, c->fresh->image, at, item == NULL, c);
        return status;
    }
}

static void pages_finish_put(tamis_i_pages *p, const change *c) {
    tamis_i_twig *const twig = p->twigs[c->spot.t];
    tamis_i_leaf *const leaf = twig->leaves + c->spot.i;
    pages_make_change(p, c);
    tamis_i_leaf_set_sizes(leaf, tamis_i_page_count(c->fresh->image),
                           tamis_i_page_used(c->fresh->image));
    if (c->drops)
        tamis_i_value_drop(p, &c->old);
    if (c->found)
        return;
    tamis_i_leaf_set_room(leaf, leaf->extra - 1u, leaf->lost);
    size_t n;
    unsigned char *const filter = tamis_i_twig_filter(twig, &p->sieve, c->spot.i, &n);
    tamis_i_sieve_add(&p->sieve, filter, n, c->spot.digest);
    p->count++;
}

tamis_status tamis_i_pages_put(tamis_i_pages *p, const tamis_i_page_item *item, bool *found) {
    change c;
    tamis_status status =
        tamis_i_pages_ready(p, tamis_i_pages_record_size(item->key_size, item->value_size));
    if (status == TAMIS_OK)
        status = pages_prepare(p, item, item->key, item->key_size, &c);
    if (status == TAMIS_OK)
        status = tamis_i_pages_record(p, item, item->key, item->key_size);
    if (status != TAMIS_OK)
        return status;
    pages_finish_put(p, &c);
    *found = c.found;
    return TAMIS_OK;
}

tamis_status tamis_i_pages_put_large(tamis_i_pages *p, tamis_bytes key, tamis_bytes value,
                                     bool *found) {
    unsigned char place[TAMIS_I_VALUE_BYTES];
    tamis_i_value v;
    const tamis_i_page_item item = {.key = key.data,
                                    .key_size = (uint16_t)key.size,
                                    .value = place,
                                    .value_size = TAMIS_I_VALUE_BYTES,
                                    .elsewhere = true};
    tamis_status status =
        tamis_i_pages_ready(p, tamis_i_pages_record_size(key.size, TAMIS_I_VALUE_BYTES));
    if (status == TAMIS_OK)
        status = tamis_i_value_store(p, value.data, value.size, place, &v);
    if (status != TAMIS_OK)
        return status;
    status = tamis_i_pages_put(p, &item, found);
    /* A record that could not be written may be there all the same: then its blocks must not be used. */
    if (status != TAMIS_OK && !p->broken)
        tamis_i_value_release(p, &v);
    return status;
}

/* The filter of a leaf knows one key too many.  If there is no number for its room it is made anew, and
 * smaller. */
static void pages_lose(tamis_i_pages *p, const change *c) {
    tamis_i_twig *const twig = p->twigs[c->spot.t];
    tamis_i_leaf *const leaf = twig->leaves + c->spot.i;
    const unsigned char *const image = c->fresh->image;
    const unsigned n = tamis_i_page_count(image);
    if (leaf->extra < TAMIS_I_TWIG_EXTRA) {
        tamis_i_leaf_set_room(leaf, leaf->extra + 1u, leaf->lost + 1u);
    } else {
        tamis_i_twig_refit(twig, &p->sieve, c->spot.i, n, tamis_i_pages_extra(p, n, 0));
        tamis_i_pages_tell(p, twig, c->spot.i, image);
    }
    tamis_i_leaf_set_sizes(leaf, n, tamis_i_page_used(image));
}

static void pages_finish_delete(tamis_i_pages *p, const change *c) {
    pages_make_change(p, c);
    pages_lose(p, c);
    if (c->drops)
        tamis_i_value_drop(p, &c->old);
    p->count--;
    /* Without memory for it the pages stay as they are. */
    if (p->twigs[c->spot.t]->leaves[c->spot.i].used < TAMIS_I_PAGE_ROOM / 5 * 3)
        (void)tamis_i_pages_join(p, &c->spot);
}

tamis_status tamis_i_pages_delete(tamis_i_pages *p, const void *key, size_t key_size) {
    change c;
    tamis_status status = tamis_i_pages_ready(p, tamis_i_pages_record_size(key_size, 0));
    if (status == TAMIS_OK)
        status = pages_prepare(p, NULL, key, key_size, &c);
    if (status == TAMIS_OK)
        status = tamis_i_pages_record(p, NULL, key, key_size);
    if (status == TAMIS_OK)
        pages_finish_delete(p, &c);
    return status;
}

tamis_status tamis_i_pages_apply(tamis_i_pages *p, const tamis_i_page_item *item, bool *found) {
    change c;
    const tamis_status status = pages_prepare(p, item, item->key, item->key_size, &c);
    if (status == TAMIS_OK) {
        pages_finish_put(p, &c);
        *found = c.found;
    }
    return status;
}

tamis_status tamis_i_pages_unapply(tamis_i_pages *p, const void *key, size_t key_size) {
    change c;
    const tamis_status status = pages_prepare(p, NULL, key, key_size, &c);
    if (status == TAMIS_OK)
        pages_finish_delete(p, &c);
    return status;
}

/* -------------------------------------------------------------------------------------------------
 * Listing and checking
 */

/* '*at' is the first hash of a page, times 2^32, and the number of the next item there; after the last
 * page it is 2^64 - 1. */
tamis_status tamis_i_pages_next(const tamis_i_pages *p, uint64_t *at, unsigned char *buffer,
                                tamis_i_page_item *item) {
    while (*at != UINT64_MAX) {
        tamis_i_spot spot = {.hash = (uint32_t)(*at >> 32)};
        tamis_i_pages_relocate(p, &spot);
        tamis_i_leaf *const leaf = p->twigs[spot.t]->leaves + spot.i;
        const uint32_t number = (uint32_t)*at;
        const uint64_t end = tamis_i_pages_end_of(p, spot.t, spot.i);
        const uint64_t after = end >> 32 != 0 ? UINT64_MAX : end << 32;
        if (number >= leaf->count) {
            *at = after;
            continue;
        }
        const unsigned char *image;
        const tamis_status status =
            tamis_i_pages_image(p, p->twigs[spot.t], spot.i, buffer, &image);
        if (status != TAMIS_OK) {
            *at = after;
            return status;
        }
        tamis_i_page_walk walk = {.image = image};
        while (walk.i <= number && tamis_i_page_next(&walk, item)) {
        }
        ++*at;
        return TAMIS_OK;
    }
    return TAMIS_E_NOT_FOUND;
}

static tamis_status pages_verify_value(const tamis_i_pages *p, const tamis_i_page_item *item,
                                       const char **reason) {
    tamis_i_value v;
    if (!item->elsewhere)
        return TAMIS_OK;
    const tamis_status status =
        tamis_i_value_decode(p, item, &v) ? tamis_i_value_check(p, &v) : TAMIS_E_FORMAT;
    if (status != TAMIS_OK)
        *reason = status == TAMIS_E_FORMAT ? "a long value is damaged" : tamis_status_text(status);
    return status;
}

/* Is every item of a page where it belongs, once, and known to the filter? */
static tamis_status pages_verify_page(const tamis_i_pages *p, unsigned t, unsigned i,
                                      const unsigned char *image, const char **reason) {
    const tamis_i_twig *const twig = p->twigs[t];
    const tamis_i_leaf *const leaf = twig->leaves + i;
    const uint64_t end = tamis_i_pages_end_of(p, t, i);
    size_t n;
    const unsigned char *const filter = tamis_i_twig_filter(twig, &p->sieve, i, &n);
    tamis_i_page_walk walk = {.image = image};
    tamis_i_page_item item, same;
    while (tamis_i_page_next(&walk, &item)) {
        const tamis_digest digest = tamis_i_pages_digest(p, item.key, item.key_size);
        const uint32_t hash = tamis_i_pages_hash(digest);
        unsigned at;
        if (hash < leaf->first || hash >= end || item.tag != tamis_i_pages_tag(digest))
            return tamis_i_refuse(reason, "an item is in a wrong page");
        if (!tamis_i_page_find(image, item.tag, item.key, item.key_size, &same, &at))
            return tamis_i_refuse(reason, "an item is not found");
        if (at != walk.i - 1)
            return tamis_i_refuse(reason, "a key is there twice");
        if (!tamis_i_sieve_has(&p->sieve, filter, n, digest))
            return tamis_i_refuse(reason, "the summary does not know an item");
        const tamis_status status = pages_verify_value(p, &item, reason);
        if (status != TAMIS_OK)
            return status;
    }
    return TAMIS_OK;
}

tamis_status tamis_i_pages_verify(const tamis_i_pages *p, const char **reason) {
    tamis_i_page_buffer buffer;
    uint64_t count = 0, leaves = 0, last = 0;
    for (unsigned t = 0; t < p->n_twigs; t++) {
        tamis_i_twig *const twig = p->twigs[t];
        if (p->firsts[t] != twig->leaves[0].first)
            return tamis_i_refuse(reason, "the index is wrong");
        for (unsigned i = 0; i < twig->n; i++) {
            tamis_i_leaf *const leaf = twig->leaves + i;
            const unsigned char *image;
            if (leaves > 0 ? leaf->first <= last : leaf->first != 0)
                return tamis_i_refuse(reason, "the pages are not in order");
            tamis_i_twig_verify(twig, i, false);
            tamis_status status = tamis_i_pages_image(p, twig, i, buffer.bytes, &image);
            if (status != TAMIS_OK) {
                *reason = status == TAMIS_E_FORMAT ? "a page is damaged" : "a page cannot be read";
                return status;
            }
            status = pages_verify_page(p, t, i, image, reason);
            if (status != TAMIS_OK)
                return status;
            last = leaf->first;
            count += leaf->count;
            leaves++;
        }
    }
    if (count != p->count || leaves != p->n_leaves)
        return tamis_i_refuse(reason, "the counts are wrong");
    return TAMIS_OK;
}
