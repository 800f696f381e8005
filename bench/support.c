/* support.c - keys, time and memory for the benchmarks
 *
 * SPDX-License-Identifier: MIT
 */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE 1 /* madvise, MAP_ANONYMOUS, clock_gettime */
#endif

#include "bench/bench.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define HUGE ((size_t)2 << 20)

#define TEXT_OF(x) #x
#define VERSION(x) TEXT_OF(x)
#if defined(__clang__)
const char bench_compiler[] = "clang-" VERSION(__clang_major__) "." VERSION(__clang_minor__);
#elif defined(__GNUC__)
const char bench_compiler[] = "gcc-" VERSION(__GNUC__) "." VERSION(__GNUC_MINOR__);
#else
const char bench_compiler[] = "cc";
#endif

/* Each step is invertible, so no two numbers give the same key. */
uint64_t bench_key(uint64_t number) {
    uint64_t x = number + 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

double bench_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static size_t whole_pages(size_t size) {
    return (size + HUGE - 1) / HUGE * HUGE;
}

void bench_advise(void *block, size_t size, bool huge) {
    const uintptr_t start = ((uintptr_t)block + HUGE - 1) / HUGE * HUGE;
    const uintptr_t end = ((uintptr_t)block + size) / HUGE * HUGE;
    if (end <= start)
        return;
#if defined(MADV_HUGEPAGE) && defined(MADV_NOHUGEPAGE)
    (void)madvise((void *)start, end - start, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#else
    (void)huge;
#endif
}

/* The mapping has one huge page more than needed; the part outside the aligned range is unmapped. */
void *bench_alloc(size_t size, bool huge) {
    if (size > SIZE_MAX - 2 * HUGE)
        return NULL;
    const size_t body = whole_pages(size);
    unsigned char *const map =
        mmap(NULL, body + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return NULL;
    const size_t before = (HUGE - (size_t)((uintptr_t)map % HUGE)) % HUGE;
    if (before != 0)
        (void)munmap(map, before);
    if (before != HUGE)
        (void)munmap(map + before + body, HUGE - before);
    bench_advise(map + before, body, huge);
    memset(map + before, 0, body);
    return map + before;
}

void bench_free(void *block, size_t size) {
    if (block != NULL)
        (void)munmap(block, whole_pages(size));
}

int64_t bench_huge_bytes(void) {
    FILE *const file = fopen("/proc/self/smaps_rollup", "r");
    if (file == NULL)
        return -1;
    char line[256];
    long long kib = -1;
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "AnonHugePages: %lld kB", &kib) == 1) // NOLINT(cert-err34-c)
            break;
    (void)fclose(file);
    return kib < 0 ? -1 : (int64_t)kib * 1024;
}
