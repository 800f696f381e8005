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

tamis_kind test_next_kind(tamis_kind kind) {
    /* Numbers of kinds may have gaps. */
    for (unsigned next = (unsigned)kind + 1; next < 64; next++)
        if (tamis_kind_name((tamis_kind)next) != NULL)
            return (tamis_kind)next;
    return TAMIS_KIND_ANY;
}

tamis_params test_bare_params(tamis_kind kind, uint64_t capacity, uint64_t seed) {
    const tamis_params params = {
        .struct_size = sizeof params, .kind = kind, .capacity = capacity, .seed = seed};
    return params;
}

tamis_need test_need(tamis_kind kind, uint64_t n, double fpr) {
    const tamis_need need = {.struct_size = sizeof need, .n = n, .fpr = fpr, .kind = kind};
    return need;
}

tamis_plan test_planned(const tamis_need *need) {
    tamis_plan plan;
    tamis_plan_init(&plan);
    assert_ok(tamis_plan_make(need, &plan));
    assert_true(need->fpr == 0 || plan.fpr <= need->fpr);
    assert_true(need->failure_max == 0 || plan.overflow_probability <= need->failure_max);
    return plan;
}

tamis_params test_params(tamis_kind kind, uint64_t n, double fpr, uint64_t seed) {
    tamis_need need = test_need(kind, n, fpr);
    tamis_params params = test_planned(&need).params;
    if (tamis_params_abilities(&params) != tamis_kind_abilities(kind)) {
        need.deletes = true;
        params = test_planned(&need).params;
    }
    params.seed = seed;
    return params;
}

tamis_filter *test_filter(tamis_kind kind, uint64_t n, double fpr, uint64_t seed) {
    const tamis_params params = test_params(kind, n, fpr, seed);
    tamis_filter *filter = NULL;
    assert_ok(tamis_filter_create(&params, NULL, &filter));
    assert_non_null(filter);
    return filter;
}

tamis_info test_info(const tamis_filter *filter) {
    tamis_info info;
    tamis_info_init(&info);
    assert_ok(tamis_filter_info(filter, &info));
    return info;
}

unsigned char *test_encoded(const tamis_filter *filter, size_t *size) {
    *size = (size_t)tamis_filter_encoded_size(filter);
    /* Aligned, so that a view can be opened on it. */
    unsigned char *const bytes = aligned_alloc(64, (*size + 63) / 64 * 64);
    assert_non_null(bytes);
    assert_ok(tamis_filter_encode(filter, bytes, *size));
    return bytes;
}

void assert_encoded(const tamis_filter *filter, const unsigned char *bytes, size_t size) {
    size_t now;
    unsigned char *const encoded = test_encoded(filter, &now);
    assert_int_equal(now, size);
    assert_memory_equal(encoded, bytes, size);
    free(encoded);
}

void assert_same(const tamis_filter *a, const tamis_filter *b) {
    size_t size;
    unsigned char *const bytes = test_encoded(a, &size);
    assert_encoded(b, bytes, size);
    free(bytes);
}

void assert_fair(const char *what, const uint64_t *counts, size_t n) {
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += counts[i];
    const double expected = (double)total / (double)n;
    assert_true(n >= 2 && expected >= 5);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double off = (double)counts[i] - expected;
        sum += off * off / expected;
    }
    /* The upper 0.1 % of chi-square with n - 1 degrees of freedom, after Wilson and Hilferty. */
    const double spread = 2 / (9 * (double)(n - 1));
    const double limit = (double)(n - 1) * pow(1 - spread + 3.0902 * sqrt(spread), 3);
    if (!(sum <= limit))
        fail_msg("%s: chi-square %.1f of %zu counts is over %.1f", what, sum, n, limit);
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

uint64_t test_some_word(uint64_t *random) {
    const uint64_t a = test_random(random), b = test_random(random), c = test_random(random);
    switch (test_random_below(random, 8)) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX;
    case 2:
        return (uint64_t)1 << a % 64;
    case 3:
        return ~((uint64_t)1 << a % 64);
    case 4:
        return a & b & c;
    case 5:
        return a | b | c;
    default:
        return a;
    }
}

/* The hash is prepared once for a seed, as long as that does not change. */
static const tamis_hasher *test_hasher(uint64_t seed) {
    static tamis_hasher hasher;
    static uint64_t prepared;
    if (prepared != seed || seed == 0) {
        tamis_params params;
        tamis_params_init(&params);
        params.seed = seed;
        assert_ok(tamis_hasher_init(&hasher, &params));
        prepared = seed;
    }
    return &hasher;
}

tamis_digest test_hash(uint64_t seed, const void *key, size_t size) {
    return tamis_hash(test_hasher(seed), key, size);
}

tamis_digest test_hash_u64(uint64_t seed, uint64_t key) {
    return tamis_hash_u64(test_hasher(seed), key);
}
