/* support.c - what the tests share
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <math.h>
#include <unistd.h>

uint64_t test_seed(void) {
    static uint64_t seed;
    if (seed == 0) {
        const char *text = getenv("TAMIS_TEST_SEED");
        seed = text != NULL ? strtoull(text, NULL, 0) : 20260118;
        if (seed == 0)
            seed = 1;
        printf("# TAMIS_TEST_SEED=%llu\n", (unsigned long long)seed);
    }
    return seed;
}

uint64_t test_random(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t test_random_below(uint64_t *state, uint64_t n) {
    return test_random(state) % n;
}

void assert_rate(const char *what, uint64_t hits, uint64_t trials, double p, double extra) {
    const double expected = p * (double)trials;
    const double sd = sqrt(expected * (1 - p) + 1e-9);
    const double width = 3.2905 * sqrt(sd * sd + extra * extra * expected * expected) + 0.5;
    printf("# %s: %llu of %llu, expected %.1f +- %.1f (99.9 %%)\n", what, (unsigned long long)hits,
           (unsigned long long)trials, expected, width);
    if (!(fabs((double)hits - expected) <= width))
        fail_msg("%s: %llu hits, expected %.1f +- %.1f", what, (unsigned long long)hits, expected,
                 width);
}

static void *counting_alloc(void *context, size_t size, size_t align) {
    test_allocator *t = context;
    const long call = t->calls++;
    if (size > t->largest)
        t->largest = size;
    if (call == t->fail_at)
        return NULL;
    void *const block = aligned_alloc(align, (size + align - 1) / align * align);
    if (block != NULL) {
        memset(block, 0xa5, size);
        t->live++;
        t->bytes += size;
    }
    return block;
}

static void counting_free(void *context, void *block, size_t size) {
    test_allocator *t = context;
    assert_non_null(block);
    assert_true(t->live > 0 && t->bytes >= size);
    t->live--;
    t->bytes -= size;
    free(block);
}

void test_allocator_init(test_allocator *t, long fail_at) {
    memset(t, 0, sizeof *t);
    t->allocator.alloc = counting_alloc;
    t->allocator.free = counting_free;
    t->allocator.context = t;
    t->fail_at = fail_at;
}

const char *test_path(const char *name) {
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    const char *dir = getenv("TMPDIR");
    snprintf(path, sizeof paths[0], "%s/tamis-test-%ld-%s", dir != NULL ? dir : "/tmp",
             (long)getpid(), name);
    return path;
}
