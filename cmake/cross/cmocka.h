/* cmocka.h - a stand-in for cmocka on machines that have no package of it
 *
 * The part of its interface that our tests use.  The first assertion that fails ends the program.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_CROSS_CMOCKA_H
#define TAMIS_CROSS_CMOCKA_H

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*CMFixtureFunction)(void **state);
struct CMUnitTest {
    const char *name;
    void (*test_func)(void **state);
    CMFixtureFunction setup_func;
    CMFixtureFunction teardown_func;
    void *initial_state;
};

#define cmocka_unit_test(f)                                                                        \
    { #f, f, NULL, NULL, NULL }
#define cmocka_unit_test_setup_teardown(f, setup, teardown)                                        \
    { #f, f, setup, teardown, NULL }
#define cmocka_unit_test_setup(f, setup)                                                           \
    { #f, f, setup, NULL, NULL }
#define cmocka_unit_test_teardown(f, teardown)                                                     \
    { #f, f, NULL, teardown, NULL }
#define cmocka_unit_test_prestate(f, state)                                                        \
    { #f, f, NULL, NULL, state }

/* Where skip() goes; one for the whole program. */
__attribute__((weak)) jmp_buf tamis_cross_next;

/* 0 if the test passed or was skipped, 1 if a fixture failed. */
static inline int tamis_cross_one(const struct CMUnitTest *test, void **state) {
    if (setjmp(tamis_cross_next) != 0)
        return 0;
    if (test->setup_func != NULL && test->setup_func(state) != 0)
        return 1;
    test->test_func(state);
    return test->teardown_func != NULL && test->teardown_func(state) != 0;
}

static inline int tamis_cross_run(const char *group, const struct CMUnitTest *tests, size_t n,
                                  CMFixtureFunction setup, CMFixtureFunction teardown) {
    int (*const volatile one)(const struct CMUnitTest *, void **) =
        tamis_cross_one; /* not inlined */
    void *group_state = NULL;
    if (setup != NULL && setup(&group_state) != 0)
        return 1;
    for (size_t i = 0; i < n; i++) {
        void *state = tests[i].initial_state != NULL ? tests[i].initial_state : group_state;
        printf("[ RUN  ] %s.%s\n", group, tests[i].name);
        fflush(stdout);
        if (one(&tests[i], &state) != 0)
            return 1;
    }
    return teardown != NULL ? teardown(&group_state) : 0;
}
/* All of them are run. */
#define cmocka_set_test_filter(pattern) ((void)(pattern))

#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    tamis_cross_run(#tests, tests, sizeof(tests) / sizeof(tests)[0], setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                  \
    tamis_cross_run(name, tests, sizeof(tests) / sizeof(tests)[0], setup, teardown)

#define skip() longjmp(tamis_cross_next, 1)

#define fail_msg(...)                                                                              \
    do {                                                                                           \
        printf("%s:%d: ", __FILE__, __LINE__);                                                     \
        printf(__VA_ARGS__);                                                                       \
        printf("\n");                                                                              \
        exit(1);                                                                                   \
    } while (0)
#define fail() fail_msg("failed")

#define TAMIS_CROSS_ASSERT(condition, text)                                                        \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s", text);                                                                  \
    } while (0)
#define TAMIS_CROSS_NUMBER(x) ((uintmax_t)(x))

#define assert_true(c)     TAMIS_CROSS_ASSERT(c, #c)
#define assert_false(c)    TAMIS_CROSS_ASSERT(!(c), "not: " #c)
#define assert_non_null(p) TAMIS_CROSS_ASSERT((p) != NULL, #p " is NULL")
#define assert_null(p)     TAMIS_CROSS_ASSERT((p) == NULL, #p " is not NULL")
#define assert_ptr_equal(a, b)                                                                     \
    TAMIS_CROSS_ASSERT((const void *)(a) == (const void *)(b), #a " == " #b)
#define assert_ptr_not_equal(a, b)                                                                 \
    TAMIS_CROSS_ASSERT((const void *)(a) != (const void *)(b), #a " != " #b)
#define assert_int_equal(a, b)                                                                     \
    do {                                                                                           \
        const uintmax_t a_ = TAMIS_CROSS_NUMBER(a), b_ = TAMIS_CROSS_NUMBER(b);                    \
        if (a_ != b_)                                                                              \
            fail_msg("%s == %s: %#jx, %#jx", #a, #b, a_, b_);                                      \
    } while (0)
#define assert_int_not_equal(a, b)                                                                 \
    TAMIS_CROSS_ASSERT(TAMIS_CROSS_NUMBER(a) != TAMIS_CROSS_NUMBER(b), #a " != " #b)
#define assert_in_range(x, low, high)                                                              \
    TAMIS_CROSS_ASSERT(TAMIS_CROSS_NUMBER(x) >= TAMIS_CROSS_NUMBER(low) &&                         \
                           TAMIS_CROSS_NUMBER(x) <= TAMIS_CROSS_NUMBER(high),                      \
                       #x " in [" #low ", " #high "]")
#define assert_not_in_range(x, low, high)                                                          \
    TAMIS_CROSS_ASSERT(TAMIS_CROSS_NUMBER(x) < TAMIS_CROSS_NUMBER(low) ||                          \
                           TAMIS_CROSS_NUMBER(x) > TAMIS_CROSS_NUMBER(high),                       \
                       #x " not in [" #low ", " #high "]")
#define assert_string_equal(a, b)        TAMIS_CROSS_ASSERT(strcmp(a, b) == 0, #a " == " #b)
#define assert_string_not_equal(a, b)    TAMIS_CROSS_ASSERT(strcmp(a, b) != 0, #a " != " #b)
#define assert_memory_equal(a, b, n)     TAMIS_CROSS_ASSERT(memcmp(a, b, n) == 0, #a " == " #b)
#define assert_memory_not_equal(a, b, n) TAMIS_CROSS_ASSERT(memcmp(a, b, n) != 0, #a " != " #b)
#define assert_float_equal(a, b, epsilon)                                                          \
    TAMIS_CROSS_ASSERT((a) - (b) <= (epsilon) && (b) - (a) <= (epsilon), #a " == " #b)
#define assert_double_equal(a, b, epsilon) assert_float_equal(a, b, epsilon)
#define assert_return_code(code, error)    TAMIS_CROSS_ASSERT((code) >= 0, #code)

#define print_message(...) printf(__VA_ARGS__)
#define print_error(...)   printf(__VA_ARGS__)

#endif
