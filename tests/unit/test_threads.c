/* test_threads.c - many readers at once
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <pthread.h>

enum { READERS = 4, KEYS = 4000, ROUNDS = 30 };

/* What every reader sees, and what it must answer. */
typedef struct shared {
    const tamis_filter *filter;
    uint64_t keys[KEYS];
    bool present[KEYS];
    uint64_t copies[KEYS];
    size_t found;
    tamis_info info;
} shared;

typedef struct reader {
    const shared *shared;
    unsigned first;
    unsigned wrong; /* assertions belong to the main thread */
} reader;

static void *read_all(void *argument) {
    reader *const r = argument;
    const shared *const s = r->shared;
    for (unsigned round = 0; round < ROUNDS; round++) {
        bool present[KEYS];
        r->wrong += tamis_filter_contains_many_u64(s->filter, s->keys, KEYS, present) != s->found;
        r->wrong += memcmp(present, s->present, sizeof present) != 0;
        for (unsigned i = r->first; i < KEYS; i += READERS) {
            r->wrong += tamis_filter_contains_u64(s->filter, s->keys[i]) != s->present[i];
            r->wrong += tamis_filter_copies_u64(s->filter, s->keys[i]) != s->copies[i];
        }
        tamis_info info;
        tamis_info_init(&info);
        r->wrong += tamis_filter_info(s->filter, &info) != TAMIS_OK;
        r->wrong += info.count != s->info.count || info.fpr < s->info.fpr || info.fpr > s->info.fpr;
        tamis_filter *copy = NULL;
        if (tamis_filter_clone(s->filter, NULL, &copy) != TAMIS_OK)
            r->wrong++;
        else
            r->wrong += tamis_filter_contains_many_u64(copy, s->keys, KEYS, NULL) != s->found;
        tamis_filter_free(copy);
    }
    return NULL;
}

static void test_threads_readers_agree(void **state) {
    (void)state;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        static shared s;
        tamis_filter *const f = test_filter(kind, KEYS, 0.05, test_seed());
        uint64_t random = test_seed();
        for (unsigned i = 0; i < KEYS; i++) {
            s.keys[i] = test_random(&random);
            if (i % 2 == 0)
                assert_ok(tamis_filter_insert_u64(f, s.keys[i], NULL));
        }
        s.filter = f;
        s.found = tamis_filter_contains_many_u64(f, s.keys, KEYS, s.present);
        for (unsigned i = 0; i < KEYS; i++)
            s.copies[i] = tamis_filter_copies_u64(f, s.keys[i]);
        tamis_info_init(&s.info);
        assert_ok(tamis_filter_info(f, &s.info));
        size_t size;
        unsigned char *const before = test_encoded(f, &size);

        pthread_t threads[READERS];
        reader readers[READERS];
        for (unsigned i = 0; i < READERS; i++) {
            readers[i] = (reader){.shared = &s, .first = i};
            assert_int_equal(pthread_create(&threads[i], NULL, read_all, &readers[i]), 0);
        }
        for (unsigned i = 0; i < READERS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_int_equal(readers[i].wrong, 0);
        }
        assert_encoded(f, before, size);
        free(before);
        tamis_filter_free(f);
    }
}

/* Filters share nothing: each thread makes, fills, merges and frees its own. */
static void *own_filters(void *argument) {
    reader *const r = argument;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        tamis_plan plan;
        const tamis_need need = test_need(kind, 1000, 0);
        tamis_plan_init(&plan);
        if (tamis_plan_make(&need, &plan) != TAMIS_OK) {
            r->wrong++;
            continue;
        }
        for (unsigned round = 0; round < 20; round++) {
            tamis_filter *f;
            if (tamis_filter_create(&plan.params, NULL, &f) != TAMIS_OK) {
                r->wrong++;
                continue;
            }
            for (uint64_t key = 0; key < 1000; key++)
                r->wrong += tamis_filter_insert_u64(f, key + r->first, NULL) != TAMIS_OK;
            for (uint64_t key = 0; key < 1000; key++)
                r->wrong += !tamis_filter_contains_u64(f, key + r->first);
            tamis_filter_free(f);
        }
    }
    return NULL;
}

static void test_threads_own_filters_are_independent(void **state) {
    (void)state;
    pthread_t threads[READERS];
    reader readers[READERS];
    for (unsigned i = 0; i < READERS; i++) {
        readers[i] = (reader){.first = 10000 * i};
        assert_int_equal(pthread_create(&threads[i], NULL, own_filters, &readers[i]), 0);
    }
    for (unsigned i = 0; i < READERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(readers[i].wrong, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_readers_agree),
        cmocka_unit_test(test_threads_own_filters_are_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
