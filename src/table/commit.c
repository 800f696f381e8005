/* commit.c - page tables: blocks of the file, the log, and roots
 *
 * A record of the log, little-endian:
 *
 *      offset  size
 *           0     8  checksum of the rest and of the salt
 *           8     8  number of the root that it belongs to
 *          16     4  its own number, from 1
 *          20     4  number of the last record that was durable when it was written
 *          24     2  size of the key
 *          26     1  1: put; 2: delete; 3: put, and the value is elsewhere
 *          27     1  zero
 *          28     4  size of the value
 *          32        key, value, zeros up to a multiple of 8
 *
 * A root, of a block: checksum (8), number (8), 1 if the table was closed (8), items (8), pages (8), blocks
 * of the file (8), first block of the log or 0 (4), first block of the filters or 0 (4), their blocks (4),
 * twigs (4), branches (4), blocks of the log (4), checksum of the filters (8); from offset 80 block and
 * checksum (4, 4) of each branch.
 *
 * A branch: checksum (4), twigs (4), zero (8), then block and checksum (4, 4) of each.
 * A twig: checksum (4), pages (4), zero (8), then for each page: first hash (4), block (4), checksum (4),
 * items (2), bytes in use (2).
 * Filters: for each page, in order, bytes (2), room (2), load (2), zero (2), and its bytes, with zeros up to
 * a multiple of 8; then, if values may be elsewhere, a number of words, and these: a bit for each block that
 * belongs to a value.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/pages.h"

#define BLOCKS_MAX  ((uint64_t)TAMIS_I_PAGES_FRESH)
#define GONE_MIN    32768u /* blocks that wait for a root, and a quarter of the file */
#define COMPACTIONS 2u
#define LOG_LARGE   1024u /* blocks of a log of which a small table may have one */
#define FRESH_MIN                                                                                  \
    8192u /* pages changed before a root is due; a quarter of the table if that is more */

/* -------------------------------------------------------------------------------------------------
 * Blocks
 */

static bool commit_is_taken(const tamis_i_pages *p, uint64_t block) {
    return (p->taken[block / 64] >> block % 64 & 1) != 0;
}

/* Bits for this many blocks. */
static bool commit_cover(tamis_i_pages *p, uint64_t n) {
    if (n <= p->cap_blocks)
        return true;
    if (n > BLOCKS_MAX)
        return false;
    const uint64_t cap = (n + n / 4 + 4096) / 64 * 64;
    uint64_t *const more = tamis_i_alloc_zeroed(p->allocator, (size_t)(cap / 8));
    if (more == NULL)
        return false;
    if (p->cap_blocks > 0)
        memcpy(more, p->taken, (size_t)(p->cap_blocks / 8));
    if (p->large) {
        uint64_t *const owned = tamis_i_alloc_zeroed(p->allocator, (size_t)(cap / 8));
        if (owned == NULL) {
            tamis_i_free(p->allocator, more, (size_t)(cap / 8));
            return false;
        }
        if (p->cap_blocks > 0)
            memcpy(owned, p->owned, (size_t)(p->cap_blocks / 8));
        tamis_i_free(p->allocator, p->owned, (size_t)(p->cap_blocks / 8));
        p->owned = owned;
    }
    tamis_i_free(p->allocator, p->taken, (size_t)(p->cap_blocks / 8));
    p->taken = more;
    p->cap_blocks = cap;
    return true;
}

bool tamis_i_pages_mark(tamis_i_pages *p, uint64_t block) {
    if (block >= p->n_blocks || !commit_cover(p, p->n_blocks) || commit_is_taken(p, block))
        return false;
    p->taken[block / 64] |= (uint64_t)1 << block % 64;
    return true;
}

void tamis_i_pages_release(tamis_i_pages *p, uint64_t block) {
    p->taken[block / 64] &= ~((uint64_t)1 << block % 64);
    if (block < p->lowest)
        p->lowest = block;
}

bool tamis_i_pages_take(tamis_i_pages *p, uint32_t *block) {
    uint64_t b = p->lowest;
    while (b < p->n_blocks && commit_is_taken(p, b))
        b += b % 64 == 0 && p->taken[b / 64] == UINT64_MAX ? 64 : 1;
    if (b > p->n_blocks)
        b = p->n_blocks;
    if (!commit_cover(p, b + 1))
        return false;
    if (b == p->n_blocks)
        p->n_blocks++;
    p->taken[b / 64] |= (uint64_t)1 << b % 64;
    p->lowest = b + 1;
    *block = (uint32_t)b;
    return true;
}

/* Blocks that follow each other, at the end of the file. */
static bool commit_take_run(tamis_i_pages *p, uint64_t n, uint32_t *block) {
    if (!commit_cover(p, p->n_blocks + n))
        return false;
    *block = (uint32_t)p->n_blocks;
    for (uint64_t i = 0; i < n; i++)
        p->taken[(p->n_blocks + i) / 64] |= (uint64_t)1 << (p->n_blocks + i) % 64;
    p->n_blocks += n;
    return true;
}

bool tamis_i_pages_take_run(tamis_i_pages *p, uint64_t n, uint32_t *block) {
    uint64_t length = 0;
    for (uint64_t b = p->lowest; b < p->n_blocks; b++) {
        length = commit_is_taken(p, b) ? 0 : length + 1;
        if (length < n)
            continue;
        *block = (uint32_t)(b + 1 - n);
        for (uint64_t i = *block; i <= b; i++)
            p->taken[i / 64] |= (uint64_t)1 << i % 64;
        return true;
    }
    return commit_take_run(p, n, block);
}

bool tamis_i_pages_reserve_gone(tamis_i_pages *p, size_t n) {
    if (p->n_gone + n <= p->cap_gone)
        return true;
    const size_t cap = p->n_gone + n + p->cap_gone / 2 + 64;
    uint32_t *const more =
        tamis_i_grown(p->allocator, p->gone, p->cap_gone * sizeof *more, cap * sizeof *more);
    if (more == NULL)
        return false;
    p->gone = more;
    p->cap_gone = cap;
    return true;
}

static bool commit_watched(const tamis_i_pages *p, uint64_t epoch) {
    return p->disk.ops->watched != NULL && p->disk.ops->watched(p->disk.self, epoch);
}

/* All of 'gone' is what readers of roots up to 'epoch' may look at. */
static void commit_hold(tamis_i_pages *p, uint64_t epoch) {
    if (tamis_i_pages_waiting(p) == 0)
        return;
    if (p->n_held < TAMIS_I_PAGES_HELD)
        p->n_held++;
    p->held[p->n_held - 1] = (tamis_i_held){.epoch = epoch, .end = p->n_gone};
}

/* Free the blocks that no reader looks at any more; none waits for a root. */
static void commit_free_held(tamis_i_pages *p) {
    unsigned n = 0;
    while (n < p->n_held && !commit_watched(p, p->held[n].epoch))
        n++;
    if (n == 0)
        return;
    const size_t end = p->held[n - 1].end;
    for (size_t i = 0; i < end; i++)
        tamis_i_pages_release(p, p->gone[i]);
    p->n_gone -= end;
    if (p->n_gone > 0)
        memmove(p->gone, p->gone + end, p->n_gone * sizeof *p->gone);
    p->n_held -= n;
    for (unsigned i = 0; i < p->n_held; i++)
        p->held[i] = (tamis_i_held){.epoch = p->held[i + n].epoch, .end = p->held[i + n].end - end};
}

tamis_status tamis_i_pages_keep_free(tamis_i_pages *p) {
    uint64_t size = 0;
    if (p->epoch < 2 || !commit_watched(p, p->epoch - 1))
        return TAMIS_OK;
    if (!p->disk.ops->size(p->disk.self, &size))
        return TAMIS_E_IO;
    const uint64_t blocks = size / TAMIS_I_PAGE_BYTES, before = p->n_blocks;
    size_t n = 0;
    if (!commit_cover(p, blocks))
        return TAMIS_E_NOMEM;
    p->n_blocks = blocks > before ? blocks : before;
    for (uint64_t b = 0; b < p->n_blocks; b++)
        n += !commit_is_taken(p, b);
    if (!tamis_i_pages_reserve_gone(p, n)) {
        p->n_blocks = before;
        return TAMIS_E_NOMEM;
    }
    if (n == 0)
        return TAMIS_OK;
    if (p->n_gone > 0) /* these wait for the next root, and come after the others */
        memmove(p->gone + n, p->gone, p->n_gone * sizeof *p->gone);
    size_t i = 0;
    for (uint64_t b = 0; b < p->n_blocks; b++)
        if (!commit_is_taken(p, b) && tamis_i_pages_mark(p, b))
            p->gone[i++] = (uint32_t)b;
    p->n_gone += n;
    p->held[p->n_held++] = (tamis_i_held){.epoch = p->epoch - 1, .end = n};
    return TAMIS_OK;
}

/* -------------------------------------------------------------------------------------------------
 * Writing blocks
 */

static bool commit_write(tamis_i_pages *p, uint64_t block, const unsigned char *image) {
    p->page_writes++;
    return p->disk.ops->write(p->disk.self, block * TAMIS_I_PAGE_BYTES, image, TAMIS_I_PAGE_BYTES);
}

static tamis_status commit_sync(tamis_i_pages *p) {
    if (p->sync == TAMIS_SYNC_NONE || p->disk.ops->sync(p->disk.self))
        return TAMIS_OK;
    /* What a failed sync has not written may also be gone from the system's memory. */
    p->broken = true;
    return TAMIS_E_IO;
}

/* Blocks taken by a root that is being made: given back if it fails. */
typedef struct draft {
    uint32_t *blocks;
    size_t n, cap;
    uint32_t branches[TAMIS_I_PAGES_BRANCH], sums[TAMIS_I_PAGES_BRANCH];
    unsigned n_branches;
    uint32_t log_at, log_blocks, filters_at, filters_blocks;
    uint64_t filters_sum;
} draft;

static bool commit_draw(tamis_i_pages *p, draft *d, uint32_t *block) {
    if (!tamis_i_pages_take(p, block))
        return false;
    d->blocks[d->n++] = *block;
    return true;
}

static tamis_status commit_pages(tamis_i_pages *p, draft *d, tamis_i_twig *twig) {
    for (unsigned i = 0; i < twig->n; i++) {
        const uint32_t number = twig->leaves[i].block;
        if ((number & TAMIS_I_PAGES_FRESH) == 0)
            continue;
        tamis_i_fresh *const fresh = p->fresh + (number & ~TAMIS_I_PAGES_FRESH);
        if (!commit_draw(p, d, &fresh->next_block))
            return TAMIS_E_NOMEM;
        tamis_i_page_seal(fresh->image, fresh->next_block, p->salt);
        if (!commit_write(p, fresh->next_block, fresh->image))
            return TAMIS_E_IO;
    }
    return TAMIS_OK;
}

static void commit_encode_twig(const tamis_i_pages *p, const tamis_i_twig *twig,
                               unsigned char *image) {
    memset(image, 0, TAMIS_I_PAGE_BYTES);
    tamis_i_put_u32(image + 4, twig->n);
    for (unsigned i = 0; i < twig->n; i++) {
        const tamis_i_leaf *const leaf = twig->leaves + i;
        unsigned char *const at = image + 16 + (size_t)16 * i;
        const bool is_fresh = (leaf->block & TAMIS_I_PAGES_FRESH) != 0;
        const tamis_i_fresh *const fresh = p->fresh + (leaf->block & ~TAMIS_I_PAGES_FRESH);
        tamis_i_put_u32(at, leaf->first);
        tamis_i_put_u32(at + 4, is_fresh ? fresh->next_block : leaf->block);
        tamis_i_put_u32(at + 8, is_fresh ? tamis_i_get_u32(fresh->image) : leaf->sum);
        tamis_i_put_u32(at + 12, (uint32_t)leaf->count | (uint32_t)leaf->used << 16);
    }
}

static tamis_status commit_twigs(tamis_i_pages *p, draft *d) {
    for (unsigned t = 0; t < p->n_twigs; t++) {
        tamis_i_twig *const twig = p->twigs[t];
        if (!twig->dirty)
            continue;
        const tamis_status status = commit_pages(p, d, twig);
        if (status != TAMIS_OK)
            return status;
        if (!commit_draw(p, d, &twig->next_block))
            return TAMIS_E_NOMEM;
        commit_encode_twig(p, twig, p->scratch);
        tamis_i_page_seal(p->scratch, twig->next_block, p->salt);
        twig->next_sum = tamis_i_get_u32(p->scratch);
        if (!commit_write(p, twig->next_block, p->scratch))
            return TAMIS_E_IO;
    }
    return TAMIS_OK;
}

static tamis_status commit_branches(tamis_i_pages *p, draft *d) {
    for (unsigned first = 0; first < p->n_twigs; first += TAMIS_I_PAGES_BRANCH) {
        if (d->n_branches == TAMIS_I_PAGES_BRANCH)
            return TAMIS_E_TOO_LARGE;
        const unsigned n =
            p->n_twigs - first < TAMIS_I_PAGES_BRANCH ? p->n_twigs - first : TAMIS_I_PAGES_BRANCH;
        uint32_t *const block = d->branches + d->n_branches;
        if (!commit_draw(p, d, block))
            return TAMIS_E_NOMEM;
        memset(p->scratch, 0, TAMIS_I_PAGE_BYTES);
        tamis_i_put_u32(p->scratch + 4, n);
        for (unsigned i = 0; i < n; i++) {
            const tamis_i_twig *const twig = p->twigs[first + i];
            tamis_i_put_u32(p->scratch + 16 + (size_t)8 * i,
                            twig->dirty ? twig->next_block : twig->block);
            tamis_i_put_u32(p->scratch + 20 + (size_t)8 * i,
                            twig->dirty ? twig->next_sum : twig->sum);
        }
        tamis_i_page_seal(p->scratch, *block, p->salt);
        d->sums[d->n_branches++] = tamis_i_get_u32(p->scratch);
        if (!commit_write(p, *block, p->scratch))
            return TAMIS_E_IO;
    }
    return TAMIS_OK;
}

/* -------------------------------------------------------------------------------------------------
 * Filters of a closed table
 */

/* Bytes on their way to blocks that follow each other. */
typedef struct stream {
    tamis_i_pages *p;
    uint64_t at; /* in bytes */
    unsigned char *page;
    size_t used;
    uint64_t sum;
    bool good;
} stream;

static void commit_stream(stream *s, uint64_t word) {
    tamis_i_put_u64(s->page + s->used, word);
    s->used += 8;
    s->sum = tamis_i_mix(s->sum ^ word) + word;
    if (s->used == TAMIS_I_PAGE_BYTES) {
        s->good = s->good && commit_write(s->p, s->at / TAMIS_I_PAGE_BYTES, s->page);
        s->at += TAMIS_I_PAGE_BYTES;
        s->used = 0;
    }
}

static void commit_filter(const tamis_i_pages *p, const tamis_i_twig *twig, unsigned i, stream *s) {
    const tamis_i_leaf *const leaf = twig->leaves + i;
    const uint64_t room = tamis_i_leaf_room(leaf);
    const uint64_t load = tamis_i_leaf_spare(leaf) ? (uint64_t)leaf->count + leaf->lost : room;
    size_t n;
    const unsigned char *const filter = tamis_i_twig_filter(twig, &p->sieve, i, &n);
    commit_stream(s, n | room << 16 | load << 32);
    for (size_t j = 0; j < n; j += 8) {
        uint64_t word = 0;
        for (size_t k = 0; k < 8 && j + k < n; k++)
            word |= (uint64_t)filter[j + k] << 8 * k;
        commit_stream(s, word);
    }
}

static tamis_status commit_filters(tamis_i_pages *p, draft *d) {
    uint64_t words = 0;
    for (unsigned t = 0; t < p->n_twigs; t++) {
        const tamis_i_twig *const twig = p->twigs[t];
        words += twig->n;
        for (unsigned i = 0; i < twig->n; i++)
            words += (tamis_i_sieve_bytes(&p->sieve, tamis_i_leaf_room(twig->leaves + i)) + 7) / 8;
    }
    const uint64_t owned = p->large ? (p->n_blocks + 63) / 64 : 0;
    words += p->large ? 1 + owned : 0;
    const uint64_t blocks = (8 * words + TAMIS_I_PAGE_BYTES - 1) / TAMIS_I_PAGE_BYTES;
    if (blocks > UINT32_MAX || !commit_take_run(p, blocks, &d->filters_at))
        return TAMIS_E_NOMEM;
    d->filters_blocks = (uint32_t)blocks;
    stream s = {.p = p,
                .at = (uint64_t)d->filters_at * TAMIS_I_PAGE_BYTES,
                .page = p->scratch,
                .sum = p->salt,
                .good = true};
    for (unsigned t = 0; t < p->n_twigs; t++) {
        const tamis_i_twig *const twig = p->twigs[t];
        for (unsigned i = 0; i < twig->n; i++)
            commit_filter(p, twig, i, &s);
    }
    if (p->large)
        commit_stream(&s, owned);
    for (uint64_t i = 0; i < owned; i++)
        commit_stream(&s, p->owned[i]);
    if (s.used > 0) {
        memset(s.page + s.used, 0, TAMIS_I_PAGE_BYTES - s.used);
        s.good = s.good && commit_write(p, s.at / TAMIS_I_PAGE_BYTES, s.page);
    }
    d->filters_sum = s.sum;
    return s.good ? TAMIS_OK : TAMIS_E_IO;
}

/* -------------------------------------------------------------------------------------------------
 * Roots
 */

uint64_t tamis_i_pages_root_sum(const tamis_i_pages *p, const unsigned char *root) {
    return tamis_i_checksum(root + 8, TAMIS_I_PAGE_BYTES - 8) ^ tamis_i_mix(p->salt);
}

static void commit_encode_root(const tamis_i_pages *p, const draft *d, tamis_i_root kind,
                               unsigned char *root) {
    memset(root, 0, TAMIS_I_PAGE_BYTES);
    tamis_i_put_u64(root + TAMIS_I_ROOT_EPOCH, p->epoch + 1);
    tamis_i_put_u64(root + TAMIS_I_ROOT_CLOSED, kind == TAMIS_I_ROOT_OF_CLOSED ? 1 : 0);
    tamis_i_put_u64(root + TAMIS_I_ROOT_COUNT, p->count);
    tamis_i_put_u64(root + TAMIS_I_ROOT_LEAVES, p->n_leaves);
    tamis_i_put_u64(root + TAMIS_I_ROOT_BLOCKS, p->n_blocks);
    tamis_i_put_u32(root + TAMIS_I_ROOT_LOG, d->log_at);
    tamis_i_put_u32(root + TAMIS_I_ROOT_FILTERS, d->filters_at);
    tamis_i_put_u32(root + TAMIS_I_ROOT_FILTER_BLOCKS, d->filters_blocks);
    tamis_i_put_u32(root + TAMIS_I_ROOT_TWIGS, p->n_twigs);
    tamis_i_put_u32(root + TAMIS_I_ROOT_BRANCHES, d->n_branches);
    tamis_i_put_u32(root + TAMIS_I_ROOT_LOG_BLOCKS, d->log_blocks);
    tamis_i_put_u64(root + TAMIS_I_ROOT_FILTERS_SUM, d->filters_sum);
    for (unsigned i = 0; i < d->n_branches; i++) {
        tamis_i_put_u32(root + TAMIS_I_ROOT_LIST + (size_t)8 * i, d->branches[i]);
        tamis_i_put_u32(root + TAMIS_I_ROOT_LIST + (size_t)8 * i + 4, d->sums[i]);
    }
    tamis_i_put_u64(root, tamis_i_pages_root_sum(p, root));
}

static void commit_undo(tamis_i_pages *p, const draft *d) {
    for (size_t i = 0; i < d->n; i++)
        tamis_i_pages_release(p, d->blocks[i]);
    for (uint32_t i = 0; i < d->filters_blocks; i++)
        tamis_i_pages_release(p, d->filters_at + i);
    if (d->log_at != 0 && d->log_at != p->log_at)
        for (uint32_t i = 0; i < d->log_blocks; i++)
            tamis_i_pages_release(p, d->log_at + i);
}

/* The new root counts: pages and twigs are where it says, and what it does not lead to is free.  There is
 * room in 'gone' for all of it. */
static void commit_settle(tamis_i_pages *p, const draft *d) {
    for (unsigned t = 0; t < p->n_twigs; t++) {
        tamis_i_twig *const twig = p->twigs[t];
        if (!twig->dirty)
            continue;
        for (unsigned i = 0; i < twig->n; i++) {
            tamis_i_leaf *const leaf = twig->leaves + i;
            if ((leaf->block & TAMIS_I_PAGES_FRESH) == 0)
                continue;
            const uint32_t number = leaf->block;
            const tamis_i_fresh fresh = p->fresh[number & ~TAMIS_I_PAGES_FRESH];
            leaf->block = fresh.next_block;
            leaf->sum = tamis_i_get_u32(fresh.image);
            tamis_i_twig_verify(twig, i, true);
            if (fresh.old_block != 0)
                p->gone[p->n_gone++] = fresh.old_block;
            tamis_i_pages_drop_fresh(p, number);
        }
        if (twig->block != 0)
            p->gone[p->n_gone++] = twig->block;
        twig->block = twig->next_block;
        twig->sum = twig->next_sum;
        twig->dirty = false;
    }
    for (unsigned i = 0; i < p->n_branches; i++)
        p->gone[p->n_gone++] = p->branches[i];
    for (uint32_t i = 0; i < p->filters_blocks; i++)
        p->gone[p->n_gone++] = p->filters_at + i;
    commit_hold(p, p->epoch);
    commit_free_held(p);
    p->n_fresh = p->live_fresh == 0 ? 0 : p->n_fresh;
    p->free_fresh = p->live_fresh == 0 ? 0 : p->free_fresh;
    memcpy(p->branches, d->branches, sizeof p->branches);
    p->n_branches = d->n_branches;
    /* No reader needs the log after it has copied it: R1. */
    if (d->log_at != p->log_at)
        for (uint32_t i = 0; i < p->log_blocks; i++)
            tamis_i_pages_release(p, p->log_at + i);
    p->filters_at = d->filters_at;
    p->filters_blocks = d->filters_blocks;
    p->log_at = d->log_at;
    p->log_blocks = d->log_blocks;
    p->log_used = 0;
    p->log_last = p->log_synced = 0;
    p->epoch++;
}

/* No block after the last one in use counts.  Those in use have been written, so the file has them. */
static void commit_trim(tamis_i_pages *p) {
    while (p->n_blocks > 3 && !commit_is_taken(p, p->n_blocks - 1))
        p->n_blocks--;
    if (p->lowest > p->n_blocks)
        p->lowest = p->n_blocks;
}

/* The blocks of the next log.  One that was filled is followed by a larger one: who changes so much would
 * write the same pages again and again. */
static uint32_t commit_log_blocks(const tamis_i_pages *p) {
    const uint64_t most = p->n_leaves / 4 > LOG_LARGE ? p->n_leaves / 4 : LOG_LARGE;
    const bool grows = p->log_used > tamis_i_pages_log_bytes(p) / 8 * 7 &&
                       2 * p->log_blocks <= TAMIS_I_PAGES_LOG_MAX && 2 * p->log_blocks <= most;
    const uint32_t first = p->first_log != 0 ? p->first_log : TAMIS_I_PAGES_LOG;
    return p->log_at == 0 ? first : p->log_blocks * (grows ? 2 : 1);
}

/* A new log is zeros, written now, so that later syncs have nothing else to write. */
static tamis_status commit_start_log(tamis_i_pages *p, draft *d, uint32_t blocks) {
    if (!commit_take_run(p, blocks, &d->log_at))
        return TAMIS_E_NOMEM;
    d->log_blocks = blocks;
    memset(p->scratch, 0, TAMIS_I_PAGE_BYTES);
    for (uint32_t i = 0; i < blocks; i++)
        if (!commit_write(p, d->log_at + i, p->scratch))
            return TAMIS_E_IO;
    return TAMIS_OK;
}

static tamis_status commit_write_all(tamis_i_pages *p, draft *d, tamis_i_root kind) {
    tamis_status status = TAMIS_OK;
    const uint32_t log_blocks = commit_log_blocks(p);
    if (kind == TAMIS_I_ROOT_OF_OPEN && log_blocks != p->log_blocks) {
        status = commit_start_log(p, d, log_blocks);
    } else if (kind == TAMIS_I_ROOT_OF_OPEN) {
        d->log_at = p->log_at;
        d->log_blocks = p->log_blocks;
    }
    if (status == TAMIS_OK)
        status = commit_twigs(p, d);
    if (status == TAMIS_OK)
        status = commit_branches(p, d);
    if (status == TAMIS_OK && kind == TAMIS_I_ROOT_OF_CLOSED)
        status = commit_filters(p, d);
    commit_trim(p);
    if (status == TAMIS_OK && !p->disk.ops->cover(p->disk.self, p->n_blocks * TAMIS_I_PAGE_BYTES))
        status = TAMIS_E_NOMEM;
    return status == TAMIS_OK ? commit_sync(p) : status;
}

static tamis_status commit_write_root(tamis_i_pages *p, const draft *d, tamis_i_root kind) {
    commit_encode_root(p, d, kind, p->scratch);
    if (commit_write(p, 1 + (p->epoch + 1) % 2, p->scratch))
        return commit_sync(p);
    p->broken = true;
    return TAMIS_E_IO;
}

tamis_status tamis_i_pages_commit(tamis_i_pages *p, tamis_i_root kind) {
    unsigned dirty = 0;
    if (p->broken)
        return TAMIS_E_IO;
    for (unsigned t = 0; t < p->n_twigs; t++)
        dirty += p->twigs[t]->dirty;
    const size_t most = p->live_fresh + (size_t)dirty + TAMIS_I_PAGES_BRANCH;
    draft d = {.cap = most};
    d.blocks = tamis_i_alloc(p->allocator, most * sizeof *d.blocks);
    if (d.blocks == NULL ||
        !tamis_i_pages_reserve_gone(p, most + p->n_branches + p->filters_blocks)) {
        tamis_i_free(p->allocator, d.blocks, most * sizeof *d.blocks);
        return TAMIS_E_NOMEM;
    }
    /* Where a log begins, or a table ends, both roots say so: the older one is not to be taken for it if the
     * other is damaged. */
    const bool twice = kind == TAMIS_I_ROOT_OF_CLOSED ||
                       (kind == TAMIS_I_ROOT_OF_OPEN && commit_log_blocks(p) != p->log_blocks);
    tamis_status status = commit_write_all(p, &d, kind);
    if (status != TAMIS_OK) {
        commit_undo(p, &d);
    } else {
        status = commit_write_root(p, &d, kind);
        if (status == TAMIS_OK) {
            commit_settle(p, &d);
            p->closed = kind == TAMIS_I_ROOT_OF_CLOSED;
        }
        if (status == TAMIS_OK && twice) {
            status = commit_write_root(p, &d, kind);
            p->epoch += status == TAMIS_OK;
        }
    }
    tamis_i_free(p->allocator, d.blocks, most * sizeof *d.blocks);
    return status;
}

/* Make the pages at the end of the file fresh, and move values, as far as there are free blocks before
 * them. */
static tamis_status commit_compact(tamis_i_pages *p, bool *some) {
    uint64_t used = 3;
    for (uint64_t b = 3; b < p->n_blocks; b++)
        used += commit_is_taken(p, b);
    *some = false;
    const bool values = tamis_i_value_any_from(p, used);
    for (unsigned i = 0; i < p->n_branches; i++) /* these are written with every root */
        *some = *some || p->branches[i] >= used;
    for (unsigned t = 0; t < p->n_twigs; t++) {
        tamis_i_twig *const twig = p->twigs[t];
        if (twig->block >= used)
            twig->dirty = *some = true;
        for (unsigned i = 0; i < twig->n; i++) {
            const tamis_status moved =
                values ? tamis_i_value_compact(p, twig, i, used, some) : TAMIS_OK;
            if (moved != TAMIS_OK)
                return moved;
            tamis_i_leaf *const leaf = twig->leaves + i;
            tamis_i_page_buffer buffer;
            const unsigned char *image;
            tamis_i_fresh *fresh;
            if (leaf->block < used)
                continue;
            tamis_status status = tamis_i_pages_image(p, twig, i, buffer.bytes, &image);
            if (status == TAMIS_OK)
                status = tamis_i_pages_freshen(p, twig, i, image, &fresh);
            if (status != TAMIS_OK)
                return status;
            *some = true;
        }
    }
    return TAMIS_OK;
}

/* A root without a log, whose blocks are free then; one or two with the pages from behind free blocks; one
 * with the filters. */
tamis_status tamis_i_pages_finish(tamis_i_pages *p) {
    bool some = false;
    if (p->disk.ops == NULL || p->read_only || p->closed)
        return TAMIS_OK;
    tamis_status status = tamis_i_pages_commit(p, TAMIS_I_ROOT_BARE);
    /* The first time some blocks of the index find no place but behind those that are about to be free. */
    for (unsigned i = 0; status == TAMIS_OK && i < COMPACTIONS; i++) {
        status = commit_compact(p, &some);
        if (status == TAMIS_OK && some)
            status = tamis_i_pages_commit(p, TAMIS_I_ROOT_BARE);
        if (!some)
            break;
    }
    commit_trim(p);
    if (status == TAMIS_OK)
        status = tamis_i_pages_commit(p, TAMIS_I_ROOT_OF_CLOSED);
    /* What lies behind the last block is not used, and need not go.  The last two roots are the same. */
    if (status == TAMIS_OK && !commit_watched(p, p->epoch - 2))
        (void)p->disk.ops->resize(p->disk.self, p->n_blocks * TAMIS_I_PAGE_BYTES);
    return status;
}

/* -------------------------------------------------------------------------------------------------
 * The log
 */

uint64_t tamis_i_pages_record_sum(const tamis_i_pages *p, const unsigned char *record,
                                  size_t size) {
    return tamis_i_checksum(record + 8, size - 8) ^ tamis_i_mix(p->salt + 1);
}

tamis_status tamis_i_pages_ready(tamis_i_pages *p, size_t size) {
    if (p->disk.ops == NULL)
        return TAMIS_OK;
    if (p->broken)
        return TAMIS_E_IO;
    uint64_t most = p->n_leaves / 4 > FRESH_MIN ? p->n_leaves / 4 : FRESH_MIN;
    if (p->most_fresh != 0)
        most = p->most_fresh;
    if (p->log_at != 0 && p->live_fresh < most &&
        tamis_i_pages_waiting(p) < GONE_MIN + p->n_blocks / 4 &&
        p->log_used + size <= tamis_i_pages_log_bytes(p))
        return TAMIS_OK;
    const tamis_status status = tamis_i_pages_flush(p);
    return status == TAMIS_OK ? tamis_i_pages_commit(p, TAMIS_I_ROOT_OF_OPEN) : status;
}

static void commit_encode_record(const tamis_i_pages *p, const tamis_i_page_item *item,
                                 const void *key, size_t key_size, unsigned char *record,
                                 size_t size) {
    const size_t value_size = item == NULL ? 0 : item->value_size;
    memset(record, 0, size);
    tamis_i_put_u64(record + 8, p->epoch);
    tamis_i_put_u32(record + 16, p->log_last + 1);
    tamis_i_put_u32(record + 20, p->log_synced);
    tamis_i_put_u32(record + 24, (uint32_t)key_size | (item == NULL      ? 2u
                                                       : item->elsewhere ? 3u
                                                                         : 1u)
                                                          << 16);
    tamis_i_put_u32(record + 28, (uint32_t)value_size);
    if (key_size > 0)
        memcpy(record + TAMIS_I_RECORD_HEAD, key, key_size);
    if (value_size > 0)
        memcpy(record + TAMIS_I_RECORD_HEAD + key_size, item->value, value_size);
    tamis_i_put_u64(record, tamis_i_pages_record_sum(p, record, size));
}

tamis_status tamis_i_pages_flush(tamis_i_pages *p) {
    const uint64_t at = (uint64_t)p->log_at * TAMIS_I_PAGE_BYTES + p->log_used - p->n_pending;
    if (p->n_pending == 0)
        return TAMIS_OK;
    const bool good = p->disk.ops->write(p->disk.self, at, p->pending, p->n_pending);
    p->n_pending = 0;
    p->broken = p->broken || !good;
    return good ? TAMIS_OK : TAMIS_E_IO;
}

tamis_status tamis_i_pages_record(tamis_i_pages *p, const tamis_i_page_item *item, const void *key,
                                  size_t key_size) {
    unsigned char record[TAMIS_I_RECORD_HEAD + TAMIS_I_PAGE_ITEM_MAX + 8];
    if (p->disk.ops == NULL)
        return TAMIS_OK;
    const size_t size = tamis_i_pages_record_size(key_size, item == NULL ? 0 : item->value_size);
    if (p->batch && p->pending != NULL) {
        const tamis_status status =
            p->n_pending + size > TAMIS_I_PAGES_PENDING ? tamis_i_pages_flush(p) : TAMIS_OK;
        if (status != TAMIS_OK)
            return status;
        commit_encode_record(p, item, key, key_size, p->pending + p->n_pending, size);
        p->n_pending += size;
        p->log_used += size;
        p->log_last++;
        return TAMIS_OK;
    }
    commit_encode_record(p, item, key, key_size, record, size);
    if (!p->disk.ops->write(p->disk.self, (uint64_t)p->log_at * TAMIS_I_PAGE_BYTES + p->log_used,
                            record, size)) {
        p->broken = true;
        return TAMIS_E_IO;
    }
    p->log_used += size;
    p->log_last++;
    return p->sync == TAMIS_SYNC_EACH && !p->batch ? tamis_i_pages_sync(p) : TAMIS_OK;
}

tamis_status tamis_i_pages_sync(tamis_i_pages *p) {
    if (p->disk.ops == NULL || p->read_only)
        return TAMIS_OK;
    if (p->broken || !p->disk.ops->sync(p->disk.self)) {
        p->broken = true;
        return TAMIS_E_IO;
    }
    p->log_synced = p->log_last;
    return TAMIS_OK;
}
