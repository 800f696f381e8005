/* memory.c - where blocks come from, random seeds, structs that cross the interface
 *
 * SPDX-License-Identifier: MIT
 */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE 1 /* madvise, getentropy, MAP_ANONYMOUS */
#endif

#include "base/base.h"

#include "base/system.h"

#include <errno.h>
#include <stdlib.h>

#ifdef TAMIS_I_HAS_MAPPED_MEMORY
/* A large block is mapped with room for one more huge page, and the part outside the aligned range is
 * unmapped again.  Fresh mappings are zero, and cost nothing until they are touched. */
static void *memory_map_block(size_t size) {
    if (size > SIZE_MAX - 2 * TAMIS_I_HUGE)
        return NULL;
    const size_t page = TAMIS_I_HUGE;
    const size_t body = (size + page - 1) / page * page;
    const size_t room = body + page;
    unsigned char *const map =
        mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return NULL;
    const size_t before = (page - (size_t)((uintptr_t)map % page)) % page;
    if (before != 0)
        (void)munmap(map, before);
    if (room - before - body != 0)
        (void)munmap(map + before + body, room - before - body);
#ifdef MADV_HUGEPAGE
    (void)madvise(map + before, body, MADV_HUGEPAGE);
#endif
    return map + before;
}

static void memory_unmap_block(void *block, size_t size) {
    (void)munmap(block, (size + TAMIS_I_HUGE - 1) / TAMIS_I_HUGE * TAMIS_I_HUGE);
}

static bool memory_is_mapped(size_t size) {
    return size >= TAMIS_I_HUGE;
}
#else
static void *memory_map_block(size_t size) {
    (void)size;
    return NULL;
}

static void memory_unmap_block(void *block, size_t size) {
    (void)block;
    (void)size;
}

static bool memory_is_mapped(size_t size) {
    (void)size;
    return false;
}
#endif

static void *memory_system_block(size_t size, bool zeroed) {
    if (memory_is_mapped(size))
        return memory_map_block(size);
    if (size > SIZE_MAX - TAMIS_LINE_BYTES)
        return NULL;
    const size_t rounded = (size + TAMIS_LINE_BYTES - 1) / TAMIS_LINE_BYTES * TAMIS_LINE_BYTES;
    void *const block = aligned_alloc(TAMIS_LINE_BYTES, rounded);
    if (block != NULL && zeroed)
        memset(block, 0, rounded);
    return block;
}

void *tamis_i_alloc_zeroed(const tamis_allocator *allocator, size_t size) {
    TAMIS_ASSERT(size > 0);
    const int saved = errno;
    void *block;
    if (allocator == NULL || allocator->alloc == NULL) {
        block = memory_system_block(size, true);
    } else if (allocator->alloc_zeroed != NULL) {
        block = allocator->alloc_zeroed(allocator->context, size, TAMIS_LINE_BYTES);
    } else {
        block = allocator->alloc(allocator->context, size, TAMIS_LINE_BYTES);
        if (block != NULL)
            memset(block, 0, size);
    }
    errno = saved;
    return block;
}

void *tamis_i_alloc(const tamis_allocator *allocator, size_t size) {
    TAMIS_ASSERT(size > 0);
    const int saved = errno;
    void *const block = allocator == NULL || allocator->alloc == NULL
                            ? memory_system_block(size, false)
                            : allocator->alloc(allocator->context, size, TAMIS_LINE_BYTES);
    errno = saved;
    return block;
}

void tamis_i_free(const tamis_allocator *allocator, void *block, size_t size) {
    if (block == NULL)
        return;
    if (allocator != NULL && allocator->alloc != NULL)
        allocator->free(allocator->context, block, size);
    else if (memory_is_mapped(size))
        memory_unmap_block(block, size);
    else
        free(block);
}

static bool memory_random_word(uint64_t *word) {
#ifdef TAMIS_I_HAS_ENTROPY
    if (getentropy(word, sizeof *word) == 0)
        return true;
#endif
    const int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t got = read(fd, word, sizeof *word);
    (void)close(fd);
    return got == (ssize_t)sizeof *word;
}

tamis_status tamis_i_random_seed(uint64_t *seed) {
    const int saved = errno;
    uint64_t drawn = 0;
    while (drawn == 0) {
        if (!memory_random_word(&drawn)) {
            errno = saved;
            return TAMIS_E_IO;
        }
    }
    *seed = drawn;
    return TAMIS_OK;
}
