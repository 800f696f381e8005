/* set.c - values of keys: memory, making, copying, decoding
 *
 * A block of the server's memory is aligned to 16 bytes at least, a filter wants more.  So a block is made
 * larger, and what is needed to free it is kept just before what the filter gets:
 *
 *      [ .. ][ begin, size ][ the filter's block ]
 *
 * Blocks that must be zero are the tables of new sets and new links.  Large ones are not written to: pages
 * that are given back to the system (madvise) read as zero.  Making a set of a gigabyte takes no longer
 * than making a small one, and costs memory as keys come.  A large set is freed by a thread of its own, since
 * the system takes its time to take pages back.
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE 1 /* madvise */

#include "set.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE       ((size_t)1 << 20)  /* bytes of a block that is not cleared by writing */
#define FREED_APART ((size_t)16 << 20) /* bytes of a set that is freed by a thread */
#define FREEING_MAX 8                  /* such threads at a time */

set_totals totals;
_Atomic uint64_t set_max_bytes;
static _Atomic int freeing;

/* ---- memory ---- */

typedef struct block_head {
    void *begin;
    size_t size; /* of all */
} block_head;

static void *set_alloc(void *context, size_t size, size_t align) {
    memory_count *const count = context;
    const size_t more = align + sizeof(block_head);
    if (size > SIZE_MAX - more)
        return NULL;
    const block_head probe = {NULL, size + more};
    const uint64_t before = atomic_fetch_add(&count->bytes, probe.size);
    const uint64_t limit = count->limited ? atomic_load(&set_max_bytes) : UINT64_MAX;
    if (before <= limit && probe.size <= limit - before) {
        unsigned char *const begin = server.TryAlloc(probe.size);
        if (begin != NULL) {
            const block_head head = {begin, probe.size};
            const uintptr_t first = (uintptr_t)begin + sizeof head;
            unsigned char *const block =
                begin + sizeof head + (size_t)((align - first % align) % align);
            memcpy(block - sizeof head, &head, sizeof head);
            atomic_fetch_add(&totals.bytes, head.size);
            return block;
        }
    }
    atomic_fetch_sub(&count->bytes, probe.size);
    return NULL;
}

static void set_release(void *context, void *block, size_t size) {
    (void)size;
    memory_count *const count = context;
    block_head head;
    memcpy(&head, (const unsigned char *)block - sizeof head, sizeof head);
    atomic_fetch_sub(&count->bytes, head.size);
    atomic_fetch_sub(&totals.bytes, head.size);
    server.Free(head.begin);
}

/* Zero a block; whole pages of a large one by giving them back. */
static void set_clear(unsigned char *block, size_t size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t head = (page - (size_t)((uintptr_t)block % page)) % page;
    if (size >= LARGE && size > head + page) {
        const size_t body = (size - head) / page * page;
        if (madvise(block + head, body, MADV_DONTNEED) == 0) {
            memset(block, 0, head);
            memset(block + head + body, 0, size - head - body);
            return;
        }
    }
    memset(block, 0, size);
}

static void *set_alloc_zeroed(void *context, size_t size, size_t align) {
    void *const block = set_alloc(context, size, align);
    if (block != NULL)
        set_clear(block, size);
    return block;
}

tamis_allocator set_allocator(set *s) {
    return (tamis_allocator){set_alloc, set_release, s->memory, set_alloc_zeroed};
}

bool set_like_text(const set_like *like, char *text) {
    (void)snprintf(text, SET_LIKE_TEXT, "%" PRIu64 ",%" PRIu64 ",%" PRIu64, like->bucket_size,
                   like->max_iterations, like->expansion);
    return like_known(like);
}

/* ---- pieces ---- */

pieces *pieces_new(void) {
    pieces *const p = server.TryAlloc(sizeof *p);
    if (p != NULL) {
        memset(p, 0, sizeof *p);
        p->owners = 1;
    }
    return p;
}

bool pieces_take(pieces *p, char *data, size_t size) {
    if (p->n == p->room) {
        const size_t room = p->room == 0 ? 16 : 2 * p->room;
        piece *const list = server.TryAlloc(room * sizeof *list);
        if (list == NULL)
            return false;
        if (p->n > 0)
            memcpy(list, p->list, p->n * sizeof *list);
        server.Free(p->list);
        p->list = list;
        p->room = room;
    }
    p->list[p->n++] = (piece){data, size};
    p->bytes += size;
    atomic_fetch_add(&totals.bytes, size);
    return true;
}

bool pieces_add(pieces *p, const char *data, size_t size) {
    char *const copy = server.TryAlloc(size);
    if (copy == NULL)
        return false;
    memcpy(copy, data, size);
    if (pieces_take(p, copy, size))
        return true;
    server.Free(copy);
    return false;
}

static void piece_free(piece *one) {
    server.Free(one->data);
    atomic_fetch_sub(&totals.bytes, one->size);
    *one = (piece){NULL, 0};
}

void pieces_drop(pieces *p) {
    if (p == NULL || atomic_fetch_sub(&p->owners, 1) > 1)
        return;
    for (size_t i = p->keep ? 0 : p->next; i < p->n; i++)
        piece_free(&p->list[i]);
    server.Free(p->list);
    server.Free(p);
}

/* A tamis_reader that frees what has been read, unless it is to be kept. */
static bool pieces_read(void *context, void *buffer, size_t size) {
    pieces *const p = context;
    unsigned char *to = buffer;
    while (size > 0) {
        if (p->next == p->n)
            return false;
        piece *const one = &p->list[p->next];
        const size_t left = one->size - p->next_from;
        const size_t n = size < left ? size : left;
        memcpy(to, one->data + p->next_from, n);
        to += n;
        size -= n;
        p->next_from += n;
        if (p->next_from == one->size) {
            if (!p->keep)
                piece_free(one);
            p->next++;
            p->next_from = 0;
        }
    }
    return true;
}

/* ---- sets ---- */

set *set_new(void) {
    set *const s = server.TryAlloc(sizeof *s);
    memory_count *const memory = server.TryAlloc(sizeof *memory);
    if (s == NULL || memory == NULL) {
        server.Free(s);
        server.Free(memory);
        return NULL;
    }
    memset(s, 0, sizeof *s);
    memset(memory, 0, sizeof *memory);
    s->memory = memory;
    atomic_fetch_add(&totals.sets, 1);
    return s;
}

static void set_free_now(set *s) {
    tamis_filter_free(s->filter);
    pieces_drop(s->pieces);
    server.Free(s->memory);
    server.Free(s);
}

static void *set_free_thread(void *context) {
    set_free_now(context);
    atomic_fetch_sub(&freeing, 1);
    return NULL;
}

void set_free(void *value) {
    set *const s = value;
    if (s == NULL)
        return;
    atomic_fetch_sub(&totals.sets, 1);
    if (s->pieces != NULL)
        atomic_fetch_sub(&totals.loading, 1);
    if (set_memory(s) >= FREED_APART && atomic_fetch_add(&freeing, 1) < FREEING_MAX) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, set_free_thread, s) == 0) {
            (void)pthread_detach(thread);
            return;
        }
        atomic_fetch_sub(&freeing, 1);
    } else if (set_memory(s) >= FREED_APART) {
        atomic_fetch_sub(&freeing, 1);
    }
    set_free_now(s);
}

size_t set_memory(const set *s) {
    return sizeof *s + sizeof *s->memory + atomic_load(&s->memory->bytes) +
           (s->pieces == NULL ? 0
                              : sizeof *s->pieces + s->pieces->room * sizeof *s->pieces->list +
                                    (size_t)s->pieces->bytes);
}

/* Let the set have this filter, which grows or does not. */
static tamis_status set_take(set *s, tamis_filter *filter, bool grows) {
    tamis_params params;
    tamis_params_init(&params);
    tamis_status status = tamis_filter_params(filter, &params);
    if (status == TAMIS_OK && grows) {
        tamis_growth growth;
        tamis_growth_init(&growth);
        growth.automatic = true;
        status = tamis_filter_allow_growth(filter, &growth);
    }
    if (status != TAMIS_OK)
        return status;
    const unsigned can = tamis_params_abilities(&params);
    s->grows = grows;
    s->deletes = (can & TAMIS_CAN_REMOVE) != 0;
    s->counts = (can & TAMIS_CAN_COUNT) != 0;
    s->forgets = (can & TAMIS_CAN_FORGET) != 0;
    s->capacity = params.capacity;
    s->filter = filter;
    s->n_links = 1;
    s->room = params.capacity;
    s->counted = atomic_load(&s->memory->bytes);
    return TAMIS_OK;
}

tamis_status set_adopt(set *s, tamis_filter *filter) {
    tamis_info info;
    tamis_info_init(&info);
    tamis_status status = tamis_filter_glance(filter, &info);
    if (status == TAMIS_OK)
        status = set_take(s, filter, info.grows);
    if (status != TAMIS_OK)
        return status;
    s->n_links = info.n_links;
    s->room = info.capacity;
    return TAMIS_OK;
}

void set_count_links(set *s) {
    const size_t bytes = atomic_load(&s->memory->bytes);
    tamis_info info;
    tamis_info_init(&info);
    if (s->counted == bytes || tamis_filter_glance(s->filter, &info) != TAMIS_OK)
        return;
    s->n_links = info.n_links;
    s->room = info.capacity;
    s->counted = bytes;
}

tamis_status set_create(set *s, const tamis_params *params, double promise, bool grows) {
    const tamis_allocator allocator = set_allocator(s);
    tamis_filter *filter;
    tamis_status status = tamis_filter_create(params, &allocator, &filter);
    if (status != TAMIS_OK)
        return status;
    status = tamis_filter_set_key_form(filter, TAMIS_KEYS_BYTES);
    if (status == TAMIS_OK && grows) {
        tamis_growth growth;
        tamis_growth_init(&growth);
        growth.fpr = promise;
        growth.automatic = true;
        status = tamis_filter_allow_growth(filter, &growth);
    }
    if (status == TAMIS_OK)
        status = set_take(s, filter, grows);
    if (status != TAMIS_OK)
        tamis_filter_free(filter);
    return status;
}

set *set_copy(const set *source) {
    set *const s = set_new();
    if (s == NULL)
        return NULL;
    const tamis_allocator allocator = set_allocator(s);
    tamis_filter *filter;
    s->like = source->like;
    if (tamis_filter_clone(source->filter, &allocator, &filter) == TAMIS_OK) {
        if (set_take(s, filter, source->grows) == TAMIS_OK) {
            s->n_links = source->n_links;
            s->room = source->room;
            return s;
        }
        tamis_filter_free(filter);
    }
    set_free(s);
    return NULL;
}

tamis_status set_decode(set *s, pieces *p, const char **reason) {
    const tamis_reader reader = {pieces_read, p};
    const tamis_allocator allocator = set_allocator(s);
    tamis_filter *filter;
    tamis_status status = tamis_filter_decode_from(&reader, p->bytes, &allocator, &filter, reason);
    if (status == TAMIS_OK) {
        status = set_adopt(s, filter);
        if (status != TAMIS_OK) {
            *reason = tamis_status_text(status);
            tamis_filter_free(filter);
        }
    }
    if (status != TAMIS_OK)
        atomic_fetch_add(&totals.refused_loads, 1);
    return status;
}
