/* load.c - page tables: from a file to memory
 *
 * Nothing in a file is trusted.  The higher of two valid roots counts; every block that it leads to is in
 * the file, is there once, and has the checksum that is expected; pages are in order.  If the table was
 * closed, its filters are read.  If not, or if these are damaged, all pages are read and filters made.
 *
 * Which root?  If the last one is damaged, the one before leads to blocks that may have been written since.
 * That is noticed by the checksums, or by records that belong to the missing root.  If neither, nothing was
 * changed since: with its log, the root before has the same state.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/pages.h"

#define TRIES 1000u /* to find a root and its log while a writer makes new ones */

static const char damaged_index[] = "the index is damaged";

static bool load_read(tamis_i_pages *p, uint64_t block, unsigned char *image) {
    return p->disk.ops->read(p->disk.self, block * TAMIS_I_PAGE_BYTES, image, TAMIS_I_PAGE_BYTES);
}

/* -------------------------------------------------------------------------------------------------
 * Root and index
 */

static bool load_root_ok(const tamis_i_pages *p, const unsigned char *root, uint64_t slot) {
    const uint64_t epoch = tamis_i_get_u64(root + TAMIS_I_ROOT_EPOCH);
    return tamis_i_get_u64(root) == tamis_i_pages_root_sum(p, root) && epoch % 2 == slot &&
           epoch > 0 && epoch < (uint64_t)1 << 62;
}

/* Read the valid root with the higher number. */
static tamis_status load_choose_root(tamis_i_pages *p, unsigned char *root, const char **reason) {
    unsigned char other[TAMIS_I_PAGE_BYTES];
    bool found = false;
    for (uint64_t slot = 0; slot < 2; slot++) {
        if (!load_read(p, 1 + slot, other)) {
            *reason = "a root cannot be read";
            return TAMIS_E_IO;
        }
        if (!load_root_ok(p, other, slot) ||
            (found && tamis_i_get_u64(other + TAMIS_I_ROOT_EPOCH) <
                          tamis_i_get_u64(root + TAMIS_I_ROOT_EPOCH)))
            continue;
        memcpy(root, other, sizeof other);
        found = true;
    }
    return found ? TAMIS_OK : tamis_i_refuse(reason, "both roots are damaged");
}

tamis_status tamis_i_pages_last_root(tamis_i_pages *p, uint64_t *epoch, const char **reason) {
    unsigned char root[TAMIS_I_PAGE_BYTES];
    const tamis_status status = load_choose_root(p, root, reason);
    if (status == TAMIS_OK)
        *epoch = tamis_i_get_u64(root + TAMIS_I_ROOT_EPOCH);
    return status;
}

/* A copy of a log. */
typedef struct log_copy {
    unsigned char *bytes; /* NULL: there is none */
    size_t size;
} log_copy;

static void load_drop_log(const tamis_i_pages *p, log_copy *log) {
    tamis_i_free(p->allocator, log->bytes, log->size);
    *log = (log_copy){.bytes = NULL};
}

/* Copy the log of a root, if it has one in the file.  If it says so wrongly, load_take_root will notice. */
static tamis_status load_copy_log(tamis_i_pages *p, const unsigned char *root, log_copy *log,
                                  const char **reason) {
    const uint64_t at = (uint64_t)tamis_i_get_u32(root + TAMIS_I_ROOT_LOG) * TAMIS_I_PAGE_BYTES;
    const uint32_t blocks = tamis_i_get_u32(root + TAMIS_I_ROOT_LOG_BLOCKS);
    const uint64_t bytes = (uint64_t)blocks * TAMIS_I_PAGE_BYTES;
    uint64_t size = 0;
    load_drop_log(p, log);
    if (at == 0 || blocks == 0 || blocks > TAMIS_I_PAGES_LOG_MAX)
        return TAMIS_OK;
    const bool known = p->disk.ops->size(p->disk.self, &size);
    if (known && at + bytes > size)
        return TAMIS_OK;
    log->bytes = known ? tamis_i_alloc(p->allocator, (size_t)bytes) : NULL;
    log->size = log->bytes == NULL ? 0 : (size_t)bytes;
    if (known && log->bytes == NULL) {
        *reason = tamis_status_text(TAMIS_E_NOMEM);
        return TAMIS_E_NOMEM;
    }
    if (known && p->disk.ops->read(p->disk.self, at, log->bytes, log->size))
        return TAMIS_OK;
    *reason = "the log cannot be read";
    return TAMIS_E_IO;
}

/* Choose a root and copy its log.  A reader says which root it looks at, and begins anew if
 * a newer one was written meanwhile: R1. */
static tamis_status load_begin(tamis_i_pages *p, unsigned char *root, log_copy *log,
                               const char **reason) {
    const bool beside = p->read_only && p->disk.ops->watch != NULL;
    for (unsigned i = 0; i < TRIES; i++) {
        tamis_status status = load_choose_root(p, root, reason);
        if (status == TAMIS_OK && !beside)
            return load_copy_log(p, root, log, reason);
        if (status != TAMIS_OK)
            return status;
        const uint64_t epoch = tamis_i_get_u64(root + TAMIS_I_ROOT_EPOCH);
        if (!p->disk.ops->watch(p->disk.self, epoch)) {
            *reason = "the table is being repaired elsewhere";
            return TAMIS_E_LOCKED;
        }
        p->watching = epoch;
        uint64_t last = 0;
        status = tamis_i_pages_last_root(p, &last, reason);
        if (status == TAMIS_OK && last == epoch)
            status = load_copy_log(p, root, log, reason);
        if (status == TAMIS_OK && last == epoch)
            status = tamis_i_pages_last_root(p, &last, reason);
        if (status == TAMIS_OK && last == epoch)
            return TAMIS_OK;
        p->disk.ops->unwatch(p->disk.self, epoch);
        p->watching = 0;
        if (status != TAMIS_OK)
            return status;
    }
    *reason = "the table is being changed too quickly";
    return TAMIS_E_LOCKED;
}

static tamis_status load_take_root(tamis_i_pages *p, const unsigned char *root,
                                   const char **reason) {
    uint64_t size = 0;
    p->epoch = tamis_i_get_u64(root + TAMIS_I_ROOT_EPOCH);
    p->closed = tamis_i_get_u64(root + TAMIS_I_ROOT_CLOSED) == 1;
    p->count = tamis_i_get_u64(root + TAMIS_I_ROOT_COUNT);
    p->n_blocks = tamis_i_get_u64(root + TAMIS_I_ROOT_BLOCKS);
    p->log_at = tamis_i_get_u32(root + TAMIS_I_ROOT_LOG);
    p->log_blocks = tamis_i_get_u32(root + TAMIS_I_ROOT_LOG_BLOCKS);
    p->filters_at = tamis_i_get_u32(root + TAMIS_I_ROOT_FILTERS);
    p->filters_blocks = tamis_i_get_u32(root + TAMIS_I_ROOT_FILTER_BLOCKS);
    p->filters_sum = tamis_i_get_u64(root + TAMIS_I_ROOT_FILTERS_SUM);
    p->n_branches = tamis_i_get_u32(root + TAMIS_I_ROOT_BRANCHES);
    if (!p->disk.ops->size(p->disk.self, &size)) {
        *reason = "the size of the file is not known";
        return TAMIS_E_IO;
    }
    if (p->n_blocks > size / TAMIS_I_PAGE_BYTES)
        return tamis_i_refuse(reason, "the file is cut off");
    bool good = p->n_blocks >= 3 && p->n_branches <= TAMIS_I_PAGES_BRANCH &&
                p->log_blocks <= TAMIS_I_PAGES_LOG_MAX && (p->log_blocks > 0) == (p->log_at > 0);
    for (uint64_t i = 0; i < 3; i++)
        good = good && tamis_i_pages_mark(p, i);
    for (uint64_t i = 0; good && i < p->log_blocks; i++)
        good = tamis_i_pages_mark(p, p->log_at + i);
    for (uint64_t i = 0; good && i < p->filters_blocks; i++)
        good = tamis_i_pages_mark(p, p->filters_at + i);
    p->lowest = 3;
    return good ? TAMIS_OK : tamis_i_refuse(reason, "the root is damaged");
}

/* Read an index page that should have this checksum. */
static bool load_node(tamis_i_pages *p, const unsigned char *pointer, unsigned most,
                      unsigned char *image, uint32_t *block) {
    *block = tamis_i_get_u32(pointer);
    if (!tamis_i_pages_mark(p, *block) || !load_read(p, *block, image) ||
        tamis_i_get_u32(image) != tamis_i_get_u32(pointer + 4) ||
        !tamis_i_page_sealed(image, *block, p->salt))
        return false;
    const uint32_t n = tamis_i_get_u32(image + 4);
    return n >= 1 && n <= most;
}

static bool load_leaves(tamis_i_pages *p, tamis_i_twig *twig, const unsigned char *image,
                        uint64_t *next) {
    const unsigned n = tamis_i_get_u32(image + 4);
    for (unsigned i = 0; i < n; i++) {
        const unsigned char *const at = image + 16 + (size_t)16 * i;
        const uint32_t first = tamis_i_get_u32(at), sizes = tamis_i_get_u32(at + 12);
        if (first < *next || (*next == 0 && first != 0) ||
            !tamis_i_pages_mark(p, tamis_i_get_u32(at + 4)) || (sizes & 0xffff) > sizes >> 16 ||
            (sizes & 0xffff) > TAMIS_I_PAGE_ITEMS_MAX || sizes >> 16 > TAMIS_I_PAGE_ROOM)
            return false;
        tamis_i_twig_append(twig, first);
        tamis_i_leaf *const leaf = twig->leaves + i;
        leaf->block = tamis_i_get_u32(at + 4);
        leaf->sum = tamis_i_get_u32(at + 8);
        tamis_i_leaf_set_sizes(leaf, sizes & 0xffff, sizes >> 16);
        *next = (uint64_t)first + 1;
        p->n_leaves++;
    }
    tamis_i_twig_set_pace(twig);
    return true;
}

/* Instead of a twig that cannot be read: one empty page. */
static tamis_status load_empty_leaf(tamis_i_pages *p, tamis_i_twig *twig, uint64_t *next) {
    unsigned char *image;
    if (!tamis_i_pages_reserve_fresh(p, 1, &image))
        return TAMIS_E_NOMEM;
    tamis_i_twig_append(twig, (uint32_t)*next);
    tamis_i_page_build(image, (uint32_t)*next, NULL, 0);
    twig->leaves[0].block = tamis_i_pages_new_fresh(p, image, 0);
    twig->dirty = true;
    twig->block = 0;
    ++*next;
    p->n_leaves++;
    p->damaged++;
    return TAMIS_OK;
}

static tamis_status load_twig(tamis_i_pages *p, const unsigned char *pointer, bool repair,
                              uint64_t *next, const char **reason) {
    unsigned char image[TAMIS_I_PAGE_BYTES];
    tamis_i_twig *const twig = tamis_i_alloc_zeroed(p->allocator, sizeof *twig);
    tamis_status status = TAMIS_E_NOMEM;
    *reason = tamis_status_text(status);
    if (twig == NULL)
        return status;
    const bool good = load_node(p, pointer, TAMIS_I_TWIG_LEAVES, image, &twig->block);
    if (tamis_i_twig_reserve(twig, p->allocator, good ? tamis_i_get_u32(image + 4) : 1, 0) &&
        tamis_i_pages_reserve_twig(p)) {
        if (good) {
            twig->sum = tamis_i_get_u32(image);
            status = load_leaves(p, twig, image, next) ? TAMIS_OK : TAMIS_E_FORMAT;
        } else {
            status = repair && *next >> 32 == 0 ? load_empty_leaf(p, twig, next) : TAMIS_E_FORMAT;
        }
        if (status == TAMIS_E_FORMAT)
            *reason = damaged_index;
    }
    if (status != TAMIS_OK) {
        tamis_i_twig_clear(twig, p->allocator);
        tamis_i_free(p->allocator, twig, sizeof *twig);
        return status;
    }
    tamis_i_pages_insert_twig(p, p->n_twigs, twig);
    return TAMIS_OK;
}

static tamis_status load_index(tamis_i_pages *p, const unsigned char *root, bool repair,
                               const char **reason) {
    unsigned char branch[TAMIS_I_PAGE_BYTES];
    uint64_t next = 0;
    for (unsigned b = 0; b < p->n_branches; b++) {
        if (!load_node(p, root + TAMIS_I_ROOT_LIST + (size_t)8 * b, TAMIS_I_PAGES_BRANCH, branch,
                       p->branches + b))
            return tamis_i_refuse(reason, damaged_index);
        for (unsigned i = 0; i < tamis_i_get_u32(branch + 4); i++) {
            const tamis_status status =
                load_twig(p, branch + 16 + (size_t)8 * i, repair, &next, reason);
            if (status != TAMIS_OK)
                return status;
        }
    }
    if (p->n_twigs == 0 || p->n_twigs != tamis_i_get_u32(root + TAMIS_I_ROOT_TWIGS) ||
        (p->n_leaves != tamis_i_get_u64(root + TAMIS_I_ROOT_LEAVES) && p->damaged == 0))
        return tamis_i_refuse(reason, damaged_index);
    return TAMIS_OK;
}

/* -------------------------------------------------------------------------------------------------
 * Filters
 */

typedef struct stream {
    tamis_i_pages *p;
    uint64_t block, end;
    unsigned char *page;
    size_t used;
    uint64_t sum;
} stream;

static bool load_stream(stream *s, uint64_t *word) {
    if (s->used == TAMIS_I_PAGE_BYTES) {
        if (s->block == s->end || !load_read(s->p, s->block, s->page))
            return false;
        s->block++;
        s->used = 0;
    }
    *word = tamis_i_get_u64(s->page + s->used);
    s->used += 8;
    s->sum = tamis_i_mix(s->sum ^ *word) + *word;
    return true;
}

static bool load_filter(stream *s, tamis_i_twig *twig, unsigned i) {
    uint64_t head;
    if (!load_stream(s, &head))
        return false;
    const uint32_t bytes = (uint16_t)head, room = (uint16_t)(head >> 16),
                   load = (uint16_t)(head >> 32), count = twig->leaves[i].count;
    if (load < count || room < load || room - count > TAMIS_I_TWIG_EXTRA ||
        bytes != tamis_i_sieve_bytes(&s->p->sieve, room) || head >> 48 != 0 ||
        !tamis_i_twig_reserve(twig, s->p->allocator, 0, bytes))
        return false;
    unsigned char *const filter = twig->filters + twig->n_bytes;
    tamis_i_twig_append_filter(twig, &s->p->sieve, i, room - count, load - count);
    uint64_t word = 0;
    for (size_t j = 0; j < bytes; j++) {
        if (j % 8 == 0 && !load_stream(s, &word))
            return false;
        filter[j] = (unsigned char)word;
        word >>= 8;
    }
    return word == 0;
}

/* The bits of the blocks of values. */
static bool load_owned(stream *s) {
    uint64_t n;
    if (!load_stream(s, &n) || n > (s->p->n_blocks + 63) / 64)
        return false;
    for (uint64_t i = 0; i < n; i++)
        if (!load_stream(s, s->p->owned + i))
            return false;
    return true;
}

/* The blocks of values are taken; if one cannot be, none is. */
static bool load_mark_owned(tamis_i_pages *p) {
    if (!p->large)
        return true;
    bool good = true;
    uint64_t end = 0;
    for (uint64_t b = 0; good && b < p->cap_blocks; b++)
        if ((p->owned[b / 64] >> b % 64 & 1) != 0) {
            good = tamis_i_pages_mark(p, b);
            end = good ? b + 1 : end;
        }
    if (good)
        return true;
    for (uint64_t b = 0; b < end; b++)
        if ((p->owned[b / 64] >> b % 64 & 1) != 0)
            tamis_i_pages_release(p, b);
    return false;
}

/* Read the filters of a closed table: false if they cannot be used. */
static bool load_filters(tamis_i_pages *p) {
    stream s = {.p = p,
                .sum = p->salt,
                .block = p->filters_at,
                .end = (uint64_t)p->filters_at + p->filters_blocks,
                .page = p->scratch,
                .used = TAMIS_I_PAGE_BYTES};
    if (!p->closed || p->filters_at == 0)
        return false;
    uint64_t count = 0;
    for (unsigned t = 0; t < p->n_twigs; t++)
        for (unsigned i = 0; i < p->twigs[t]->n; i++) {
            if (!load_filter(&s, p->twigs[t], i))
                return false;
            count += p->twigs[t]->leaves[i].count;
        }
    return (!p->large || load_owned(&s)) && s.sum == p->filters_sum && count == p->count &&
           load_mark_owned(p);
}

/* Are all items of a page in their place? */
static bool load_belongs(const tamis_i_pages *p, unsigned t, unsigned i,
                         const unsigned char *image) {
    const uint64_t end = tamis_i_pages_end_of(p, t, i);
    tamis_i_page_walk walk = {.image = image};
    tamis_i_page_item item;
    while (tamis_i_page_next(&walk, &item)) {
        const tamis_digest digest = tamis_i_pages_digest(p, item.key, item.key_size);
        const uint32_t hash = tamis_i_pages_hash(digest);
        if (hash < p->twigs[t]->leaves[i].first || hash >= end ||
            item.tag != tamis_i_pages_tag(digest) ||
            (size_t)item.key_size + item.value_size > TAMIS_I_PAGE_ITEM_MAX)
            return false;
    }
    return true;
}

/* The blocks of the values of a page are taken from now on.  False, and none is: one cannot be. */
static bool load_claim(tamis_i_pages *p, const unsigned char *image) {
    tamis_i_page_walk walk = {.image = image};
    tamis_i_page_item item;
    tamis_i_value v;
    unsigned claimed = 0;
    bool good = true;
    while (good && tamis_i_page_next(&walk, &item))
        if (item.elsewhere) {
            good = tamis_i_value_decode(p, &item, &v) && tamis_i_value_claim(p, &v);
            claimed += good;
        }
    walk = (tamis_i_page_walk){.image = image};
    while (!good && claimed > 0 && tamis_i_page_next(&walk, &item))
        if (item.elsewhere && tamis_i_value_decode(p, &item, &v)) {
            tamis_i_value_release(p, &v);
            claimed--;
        }
    return good;
}

/* Instead of a page that is damaged: an empty one. */
static tamis_status load_empty_page(tamis_i_pages *p, tamis_i_twig *twig, unsigned i,
                                    const unsigned char **image) {
    tamis_i_leaf *const leaf = twig->leaves + i;
    tamis_i_fresh *fresh;
    tamis_i_page_build(p->scratch, leaf->first, NULL, 0);
    const tamis_status status = tamis_i_pages_freshen(p, twig, i, p->scratch, &fresh);
    if (status != TAMIS_OK)
        return status;
    *image = fresh->image;
    tamis_i_leaf_set_sizes(leaf, 0, 0);
    p->damaged++;
    return TAMIS_OK;
}

/* A table that was loaded before, and how far its pages have been compared. */
typedef struct donor {
    const tamis_i_pages *pages;
    unsigned t, i;
} donor;

/* Take over the filter of the same page in the same block, which was not changed since. */
static bool load_inherit(tamis_i_pages *p, tamis_i_twig *twig, unsigned i, donor *d) {
    const tamis_i_pages *const from = d->pages;
    const tamis_i_leaf *const leaf = twig->leaves + i;
    while (from != NULL && d->t < from->n_twigs &&
           from->twigs[d->t]->leaves[d->i].first < leaf->first)
        if (++d->i == from->twigs[d->t]->n) {
            d->t++;
            d->i = 0;
        }
    if (from == NULL || d->t == from->n_twigs)
        return false;
    const tamis_i_twig *const other = from->twigs[d->t];
    const tamis_i_leaf *const old = other->leaves + d->i;
    if (old->first != leaf->first || old->block != leaf->block || old->sum != leaf->sum ||
        old->count != leaf->count || old->used != leaf->used ||
        !tamis_i_twig_reserve(twig, p->allocator, 0,
                              tamis_i_sieve_bytes(&p->sieve, tamis_i_leaf_room(old))))
        return false;
    size_t n;
    const unsigned char *const filter = tamis_i_twig_filter(other, &p->sieve, d->i, &n);
    tamis_i_twig_append_filter(twig, &p->sieve, i, old->extra, old->lost);
    if (n > 0)
        memcpy(twig->filters + twig->n_bytes - n, filter, n);
    tamis_i_twig_verify(twig, i, tamis_i_twig_verified(other, d->i));
    return true;
}

/* Make the filter of a leaf from its page. */
static tamis_status load_make_filter(tamis_i_pages *p, tamis_i_twig *twig, unsigned i,
                                     const unsigned char *image) {
    const unsigned n = tamis_i_page_count(image);
    const size_t extra = tamis_i_pages_extra(p, n, 0);
    if (!tamis_i_twig_reserve(twig, p->allocator, 0,
                              tamis_i_sieve_bytes(&p->sieve, (uint32_t)(n + extra))))
        return TAMIS_E_NOMEM;
    tamis_i_twig_append_filter(twig, &p->sieve, i, extra, 0);
    tamis_i_pages_tell(p, twig, i, image);
    return TAMIS_OK;
}

/* Read all pages and make their filters. */
static tamis_status load_pages(tamis_i_pages *p, const tamis_i_pages *before, bool repair,
                               const char **reason) {
    tamis_i_page_buffer buffer;
    donor d = {.pages = before};
    uint64_t count = 0;
    if (p->large)
        memset(p->owned, 0, (size_t)(p->cap_blocks / 8));
    for (unsigned t = 0; t < p->n_twigs; t++) {
        tamis_i_twig *const twig = p->twigs[t];
        twig->n_bytes = 0; /* those that were read before one that is damaged */
        for (unsigned i = 0; i < twig->n; i++) {
            const unsigned char *image;
            if (load_inherit(p, twig, i, &d)) {
                count += twig->leaves[i].count;
                continue;
            }
            tamis_status status = tamis_i_pages_image(p, twig, i, buffer.bytes, &image);
            if (status == TAMIS_OK && (!load_belongs(p, t, i, image) || !load_claim(p, image)))
                status = TAMIS_E_FORMAT;
            if (status == TAMIS_E_FORMAT && repair)
                status = load_empty_page(p, twig, i, &image);
            if (status == TAMIS_OK)
                status = load_make_filter(p, twig, i, image);
            if (status != TAMIS_OK) {
                *reason =
                    status == TAMIS_E_FORMAT ? "a page is damaged" : tamis_status_text(status);
                return status;
            }
            count += twig->leaves[i].count;
        }
    }
    if (count != p->count && p->damaged == 0)
        return tamis_i_refuse(reason, "the number of items is wrong");
    p->count = count;
    p->recovered = true;
    return TAMIS_OK;
}

/* With 'repair': items whose long value is damaged go. */
static tamis_status load_repair_values(tamis_i_pages *p) {
    tamis_i_page_buffer buffer;
    tamis_i_page_item item;
    tamis_i_value v;
    uint64_t at = 0;
    tamis_status status = TAMIS_OK;
    while (p->large && status == TAMIS_OK) {
        status = tamis_i_pages_next(p, &at, buffer.bytes, &item);
        if (status != TAMIS_OK || !item.elsewhere)
            continue;
        status = tamis_i_value_decode(p, &item, &v) ? tamis_i_value_check(p, &v) : TAMIS_E_FORMAT;
        if (status != TAMIS_E_FORMAT)
            continue;
        unsigned char key[TAMIS_I_PAGE_ITEM_MAX];
        memcpy(key, item.key, item.key_size);
        status = tamis_i_pages_unapply(p, key, item.key_size);
        p->damaged++;
        at = 0; /* pages may have moved */
    }
    return status == TAMIS_E_NOT_FOUND ? TAMIS_OK : status;
}

/* The state that a root and its log have. */
static tamis_status load_state(tamis_i_pages *p, const tamis_i_pages *before,
                               const unsigned char *root, unsigned char *log, bool repair,
                               const char **reason) {
    tamis_status status = load_take_root(p, root, reason);
    if (status == TAMIS_OK && !p->disk.ops->cover(p->disk.self, p->n_blocks * TAMIS_I_PAGE_BYTES)) {
        *reason = "the file cannot be mapped";
        status = TAMIS_E_IO;
    }
    if (status == TAMIS_OK)
        status = load_index(p, root, repair, reason);
    if (status == TAMIS_OK && (repair || !load_filters(p)))
        status = load_pages(p, before, repair, reason);
    for (unsigned t = 0; t < p->n_twigs && status == TAMIS_OK && p->read_only; t++)
        tamis_i_twig_fit(p->twigs[t], p->allocator, false);
    if (status == TAMIS_OK && p->log_at != 0)
        status = log != NULL ? tamis_i_pages_replay(p, log, repair, reason)
                             : tamis_i_refuse(reason, "the root is damaged");
    if (status == TAMIS_OK && p->large) /* values in the log may be behind the last block */
        status = p->disk.ops->cover(p->disk.self, p->n_blocks * TAMIS_I_PAGE_BYTES) ? TAMIS_OK
                                                                                    : TAMIS_E_NOMEM;
    return status;
}

/* From a disk, or for a reader from the table that it was before. */
static tamis_status load_anew(tamis_i_pages *p, const tamis_i_pages *before, bool repair,
                              const char **reason) {
    unsigned char root[TAMIS_I_PAGE_BYTES];
    log_copy log = {.bytes = NULL};
    tamis_i_pages_drop_fresh(p, p->twigs[0]->leaves[0].block);
    tamis_i_pages_remove_twig(p, 0);
    p->n_leaves = 0;
    tamis_status status = load_begin(p, root, &log, reason);
    if (status == TAMIS_OK)
        status = load_state(p, before, root, log.bytes, repair, reason);
    load_drop_log(p, &log);
    return status;
}

tamis_status tamis_i_pages_load(tamis_i_pages *p, bool repair, const char **reason) {
    tamis_status status = load_anew(p, NULL, repair, reason);
    if (status == TAMIS_OK && repair)
        status = load_repair_values(p);
    if (status == TAMIS_OK && !p->read_only) {
        status = tamis_i_pages_keep_free(p);
        /* Records of a new root do not mix with those after a gap. */
        if (status == TAMIS_OK && (!p->closed || p->damaged > 0))
            status = tamis_i_pages_commit(p, TAMIS_I_ROOT_OF_OPEN);
        if (status != TAMIS_OK)
            *reason = tamis_status_text(status);
    }
    return status;
}

tamis_status tamis_i_pages_refresh(tamis_i_pages **pages, bool *changed, const char **reason) {
    tamis_i_pages *const p = *pages, *next;
    bool last = false;
    *changed = false;
    if (p->disk.ops == NULL || !p->read_only || p->disk.ops->watch == NULL)
        return TAMIS_OK;
    tamis_status status = tamis_i_pages_follow(p, &last, changed, reason);
    if (status != TAMIS_OK || last)
        return status;
    status = tamis_i_pages_make(p->allocator, p->hasher, &p->sieve, p->salt, &next);
    if (status != TAMIS_OK) {
        *reason = tamis_status_text(status);
        return status;
    }
    next->disk = p->disk;
    next->sync = p->sync;
    next->read_only = true;
    next->large = p->large;
    status = load_anew(next, p, false, reason);
    if (status != TAMIS_OK) {
        if (next->watching != 0)
            p->disk.ops->unwatch(p->disk.self, next->watching);
        next->disk.ops = NULL;
        tamis_i_pages_free(next);
        return status;
    }
    p->disk.ops->unwatch(p->disk.self, p->watching);
    if (p->disk.self == &p->file) {
        next->file = p->file;
        tamis_i_disk_of_file(&next->disk, &next->file);
    }
    p->disk.ops = NULL;
    tamis_i_pages_free(p);
    *pages = next;
    *changed = true;
    return TAMIS_OK;
}
