/* support.h - what the tests share: seeded chance, an allocator that fails, confidence intervals
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_SUPPORT_H
#define TAMIS_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "tamis/plan.h"
#include "tamis/tamis.h"

/* The seed of this run: TAMIS_TEST_SEED from the environment, or a fixed number.  Printed once. */
uint64_t test_seed(void);

/* A small generator (splitmix64), independent of the library under test. */
uint64_t test_random(uint64_t *state);

/* Uniform in [0, n). */
uint64_t test_random_below(uint64_t *state, uint64_t n);

/* Asserts that 'hits' out of 'trials' is compatible with probability p at 99.9 %, two-sided normal
 * interval with 'extra' relative uncertainty of p itself added (0 for none); prints what it saw. */
void assert_rate(const char *what, uint64_t hits, uint64_t trials, double p, double extra);

/* Asserts that a call returned this status, with its name in the message. */
#define assert_status(call, expected) assert_int_equal((int)(call), (int)(expected))
#define assert_ok(call)               assert_status(call, TAMIS_OK)

/* An allocator that counts, checks sizes, and fails at the chosen call. */
typedef struct test_allocator {
    tamis_allocator allocator; /* pass &allocator */
    long fail_at;              /* the call number that returns NULL, counted from 0; -1 for none */
    long calls;
    long live;      /* blocks not yet freed */
    size_t bytes;   /* bytes not yet freed */
    size_t largest; /* largest single request */
} test_allocator;
void test_allocator_init(test_allocator *t, long fail_at);

/* The kinds that exist, one after the other: TAMIS_KIND_ANY begins them and ends them. */
tamis_kind test_next_kind(tamis_kind kind);

/* Parameters with these members, the others by default. */
tamis_params test_bare_params(tamis_kind kind, uint64_t capacity, uint64_t seed);

/* A need with these members, the others by default. */
tamis_need test_need(tamis_kind kind, uint64_t n, double fpr);

/* The plan for a need that can be met; it promises what is asked for. */
tamis_plan test_planned(const tamis_need *need);

/* Parameters of this kind, planned for n keys at error rate 'fpr', of the form that can do all that the kind
 * can; the seed is 'seed'. */
tamis_params test_params(tamis_kind kind, uint64_t n, double fpr, uint64_t seed);

/* An empty filter with these parameters, to be freed. */
tamis_filter *test_filter(tamis_kind kind, uint64_t n, double fpr, uint64_t seed);

/* What a filter tells of itself. */
tamis_info test_info(const tamis_filter *filter);

/* The bytes of a filter as a file would hold them: a copy, to be freed. */
unsigned char *test_encoded(const tamis_filter *filter, size_t *size);

/* Asserts that a filter still has these bytes. */
void assert_encoded(const tamis_filter *filter, const unsigned char *bytes, size_t size);

/* Asserts that two filters have the same bytes. */
void assert_same(const tamis_filter *a, const tamis_filter *b);

/* Asserts that n counts are compatible with equal chances at 99.9 % (chi-square). */
void assert_fair(const char *what, const uint64_t *counts, size_t n);

/* A path for a temporary file of this process, in TMPDIR or /tmp; static buffers, 4 in rotation. */
const char *test_path(const char *name);

/* A word with few, many, no or all bits set, or a random one. */
uint64_t test_some_word(uint64_t *random);

/* May native operations that need AVX2 and BMI2 be called? */
static inline bool test_has_vectors(unsigned features) {
    const unsigned both = TAMIS_I_CPU_AVX2 | TAMIS_I_CPU_BMI2;
    return (features & both) == both;
}

/* Digests of the default hash under a seed of 64 bits. */
tamis_digest test_hash(uint64_t seed, const void *key, size_t size);
tamis_digest test_hash_u64(uint64_t seed, uint64_t key);

#endif
