/* test_batch.c - many keys at a time give the answers and the bytes of one key at a time
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE 1

#include "support.h"

#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 1000 };

static const size_t sizes[] = {0, 1, 15, 16, 17, 31, 32, 33, 511, 512, 513, MOST};
#define N_SIZES (sizeof sizes / sizeof sizes[0])

/* The three forms that keys come in. */
typedef enum form { BYTES, INTEGERS, DIGESTS, FORMS } form;

typedef struct batch {
    form form;
    size_t n;
    tamis_bytes bytes[MOST];
    uint64_t integers[MOST];
    tamis_digest digests[MOST];
    char text[MOST][24];
} batch;

/* Keys of which many are equal, also within one group, and many were in the batch before. */
static void batch_fill(batch *b, form f, size_t n, uint64_t *random) {
    b->form = f;
    b->n = n;
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = test_random_below(random, 2 * n);
        const int length = snprintf(b->text[i], sizeof b->text[i], "%llx",
                                    (unsigned long long)(key * 0x9e3779b97f4a7c15u));
        b->bytes[i] = (tamis_bytes){key == 0 ? NULL : b->text[i], key == 0 ? 0 : (size_t)length};
        b->integers[i] = key;
        b->digests[i] = test_hash_u64(99, key);
    }
}

static tamis_status insert_one(tamis_filter *f, const batch *b, size_t i, bool *added) {
    switch (b->form) {
    case BYTES:
        return tamis_filter_insert(f, b->bytes[i].data, b->bytes[i].size, added);
    case INTEGERS:
        return tamis_filter_insert_u64(f, b->integers[i], added);
    default:
        return tamis_filter_insert_digest(f, b->digests[i], added);
    }
}

static bool contains_one(const tamis_filter *f, const batch *b, size_t i) {
    switch (b->form) {
    case BYTES:
        return tamis_filter_contains(f, b->bytes[i].data, b->bytes[i].size);
    case INTEGERS:
        return tamis_filter_contains_u64(f, b->integers[i]);
    default:
        return tamis_filter_contains_digest(f, b->digests[i]);
    }
}

static tamis_status remove_one(tamis_filter *f, const batch *b, size_t i) {
    switch (b->form) {
    case BYTES:
        return tamis_filter_remove(f, b->bytes[i].data, b->bytes[i].size);
    case INTEGERS:
        return tamis_filter_remove_u64(f, b->integers[i]);
    default:
        return tamis_filter_remove_digest(f, b->digests[i]);
    }
}

static tamis_status insert_all(tamis_filter *f, const batch *b, bool *added, size_t *done) {
    switch (b->form) {
    case BYTES:
        return tamis_filter_insert_many(f, b->bytes, b->n, added, done);
    case INTEGERS:
        return tamis_filter_insert_many_u64(f, b->integers, b->n, added, done);
    default:
        return tamis_filter_insert_many_digest(f, b->digests, b->n, added, done);
    }
}

static size_t contains_all(const tamis_filter *f, const batch *b, bool *present) {
    switch (b->form) {
    case BYTES:
        return tamis_filter_contains_many(f, b->bytes, b->n, present);
    case INTEGERS:
        return tamis_filter_contains_many_u64(f, b->integers, b->n, present);
    default:
        return tamis_filter_contains_many_digest(f, b->digests, b->n, present);
    }
}

static tamis_status remove_all(tamis_filter *f, const batch *b, bool *removed, size_t *count) {
    switch (b->form) {
    case BYTES:
        return tamis_filter_remove_many(f, b->bytes, b->n, removed, count);
    case INTEGERS:
        return tamis_filter_remove_many_u64(f, b->integers, b->n, removed, count);
    default:
        return tamis_filter_remove_many_digest(f, b->digests, b->n, removed, count);
    }
}

static void check_insert(tamis_filter *many, tamis_filter *single, const batch *b) {
    bool in_batch[MOST + 1], alone[MOST + 1];
    in_batch[b->n] = alone[b->n] = true; /* nothing is written past the end */
    size_t done = 12345, in = 0;
    const tamis_status status = insert_all(many, b, in_batch, &done);
    tamis_status last = TAMIS_OK;
    while (in < b->n && (last = insert_one(single, b, in, &alone[in])) == TAMIS_OK)
        in++;
    assert_status(status, last); /* a kind that can be full stops both at the same key */
    assert_int_equal(done, in);
    assert_memory_equal(in_batch, alone, in);
    assert_true(in_batch[b->n]);
    assert_same(many, single);
}

static void check_contains(const tamis_filter *f, const batch *b) {
    bool present[MOST + 1];
    size_t found = 0;
    present[b->n] = true;
    const size_t n = contains_all(f, b, present);
    for (size_t i = 0; i < b->n; i++) {
        assert_int_equal(present[i], contains_one(f, b, i));
        found += present[i];
    }
    assert_int_equal(n, found);
    assert_int_equal(contains_all(f, b, NULL), found);
    assert_true(present[b->n]);
}

static void check_remove(tamis_filter *many, tamis_filter *single, const batch *b) {
    bool removed[MOST + 1];
    size_t count = 12345, sum = 0;
    removed[b->n] = true;
    assert_ok(remove_all(many, b, removed, &count));
    for (size_t i = 0; i < b->n; i++) {
        const tamis_status status = remove_one(single, b, i);
        assert_true(status == TAMIS_OK || status == TAMIS_E_NOT_FOUND);
        assert_int_equal(removed[i], status == TAMIS_OK);
        sum += removed[i];
    }
    assert_int_equal(count, sum);
    assert_true(removed[b->n]);
    assert_same(many, single);
}

/* Rounds of inserts, queries and removals of one form and size on a pair of filters. */
static void check_form(tamis_kind kind, form f, size_t n, uint64_t *random) {
    static batch b;
    const uint64_t capacity = n < 20 ? 20 : 2 * n;
    tamis_filter *const many = test_filter(kind, capacity, 0.05, 77);
    tamis_filter *const single = test_filter(kind, capacity, 0.05, 77);
    const bool removes = (tamis_kind_abilities(kind) & TAMIS_CAN_REMOVE) != 0;
    for (unsigned round = 0; round < 3; round++) {
        batch_fill(&b, f, n, random);
        check_contains(many, &b);
        check_insert(many, single, &b);
        check_contains(many, &b);
        batch_fill(&b, f, n, random); /* some are there, some are not */
        check_contains(many, &b);
        if (removes)
            check_remove(many, single, &b);
    }
    tamis_filter_free(single);
    tamis_filter_free(many);
}

static void test_batch_every_kind_equals_single_calls(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;)
        for (form f = BYTES; f < FORMS; f = (form)(f + 1))
            for (size_t i = 0; i < N_SIZES; i++)
                check_form(kind, f, sizes[i], &random);
}

static void test_batch_answers_may_be_left_out(void **state) {
    (void)state;
    uint64_t random = test_seed();
    static batch b;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        for (form f = BYTES; f < FORMS; f = (form)(f + 1)) {
            tamis_filter *const with = test_filter(kind, 3000, 0.05, 77);
            tamis_filter *const without = test_filter(kind, 3000, 0.05, 77);
            bool answers[MOST];
            size_t done;
            batch_fill(&b, f, MOST, &random);
            assert_ok(insert_all(with, &b, answers, &done));
            assert_ok(insert_all(without, &b, NULL, NULL));
            assert_same(with, without);
            if (tamis_kind_abilities(kind) & TAMIS_CAN_REMOVE) {
                assert_ok(remove_all(with, &b, answers, &done));
                assert_ok(remove_all(without, &b, NULL, NULL));
                assert_same(with, without);
            } else {
                done = 77;
                assert_status(remove_all(with, &b, answers, &done), TAMIS_E_UNSUPPORTED);
                assert_int_equal(done, 77);
            }
            tamis_filter_free(without);
            tamis_filter_free(with);
        }
    }
}

static void test_batch_of_nothing_does_nothing(void **state) {
    (void)state;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        tamis_filter *const f = test_filter(kind, 10, 0.05, 77);
        tamis_filter *const empty = test_filter(kind, 10, 0.05, 77);
        size_t done = 5;
        assert_ok(tamis_filter_insert_many(f, NULL, 0, NULL, &done));
        assert_int_equal(done, 0);
        done = 5;
        assert_ok(tamis_filter_insert_many_digest(f, NULL, 0, NULL, &done));
        assert_int_equal(done, 0);
        assert_ok(tamis_filter_insert_many_u64(f, NULL, 0, NULL, NULL));
        assert_int_equal(tamis_filter_contains_many(f, NULL, 0, NULL), 0);
        assert_int_equal(tamis_filter_contains_many_u64(f, NULL, 0, NULL), 0);
        assert_int_equal(tamis_filter_contains_many_digest(f, NULL, 0, NULL), 0);
        if (tamis_kind_abilities(kind) & TAMIS_CAN_REMOVE) {
            done = 5;
            assert_ok(tamis_filter_remove_many_u64(f, NULL, 0, NULL, &done));
            assert_int_equal(done, 0);
        }
        assert_same(f, empty);
        tamis_filter_free(empty);
        tamis_filter_free(f);
    }
}

/* All keys of a batch are one key: a set adds it once, a multiset holds each copy. */
static void test_batch_of_one_key_adds_it_once(void **state) {
    (void)state;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        tamis_filter *const f = test_filter(kind, 1000, 0.01, 77);
        enum { COPIES = 14 };
        uint64_t keys[COPIES];
        bool added[COPIES];
        for (unsigned i = 0; i < COPIES; i++)
            keys[i] = 4711;
        assert_ok(tamis_filter_insert_many_u64(f, keys, COPIES, added, NULL));
        assert_true(added[0]);
        for (unsigned i = 1; i < COPIES; i++)
            assert_false(added[i]);
        const bool multiset = (tamis_kind_abilities(kind) & TAMIS_CAN_COUNT) != 0;
        assert_int_equal(tamis_filter_count(f), multiset ? COPIES : 1);
        assert_int_equal(tamis_filter_copies_u64(f, 4711), multiset ? COPIES : 1);
        tamis_filter_free(f);
    }
}

/* What is worked out ahead ends where the keys end: a page that cannot be read comes right after them. */
static void test_batch_of_digests_reads_nothing_past_them(void **state) {
    (void)state;
    enum { KEYS = 256 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = KEYS * sizeof(tamis_digest);
    assert_true(room <= page);
    unsigned char *const map =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map != MAP_FAILED);
    assert_int_equal(mprotect(map + page, page, PROT_NONE), 0);
    tamis_digest *const keys = (void *)(map + page - room);
    for (size_t i = 0; i < KEYS; i++)
        keys[i] = test_hash_u64(5, i);
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        tamis_filter *const f = test_filter(kind, KEYS, 0.01, 3);
        for (size_t n = 16; n <= KEYS; n += 16) { /* whole groups, and halves of them */
            bool present[KEYS];
            const tamis_digest *const last = keys + KEYS - n;
            assert_ok(tamis_filter_insert_many_digest(f, last, n, NULL, NULL));
            assert_int_equal(tamis_filter_contains_many_digest(f, last, n, present), n);
            if ((tamis_kind_abilities(kind) & TAMIS_CAN_REMOVE) != 0)
                assert_ok(tamis_filter_remove_many_digest(f, last, n, NULL, NULL));
        }
        tamis_filter_free(f);
    }
    assert_int_equal(munmap(map, 2 * page), 0);
}

/* Keys that found no room in the table are found by batches too, wherever in a group they are: filters are
 * filled until the stash is. */
static void test_batch_finds_the_keys_of_the_stash(void **state) {
    (void)state;
    enum { STASH = 24 };
    uint64_t keys[MOST];
    unsigned kinds = 0;
    for (uint64_t i = 0; i < MOST; i++)
        keys[i] = i;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        tamis_params params = test_params(kind, MOST / 10, 0.001, 7);
        if (params.stash == 0)
            continue;
        params.stash = STASH;
        tamis_filter *f;
        size_t n = 0;
        bool present[MOST];
        assert_ok(tamis_filter_create(&params, NULL, &f));
        while (n < MOST && tamis_filter_insert_u64(f, keys[n], NULL) == TAMIS_OK)
            n++;
        kinds += test_info(f).stash_used > STASH / 2;
        assert_int_equal(tamis_filter_contains_many_u64(f, keys, n, present), n);
        for (size_t i = 0; i < n; i++)
            assert_true(present[i]);
        tamis_filter_free(f);
    }
    print_message("# the stash of %u kinds was used\n", kinds);
    assert_true(kinds >= 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch_every_kind_equals_single_calls),
        cmocka_unit_test(test_batch_answers_may_be_left_out),
        cmocka_unit_test(test_batch_of_nothing_does_nothing),
        cmocka_unit_test(test_batch_of_one_key_adds_it_once),
        cmocka_unit_test(test_batch_of_digests_reads_nothing_past_them),
        cmocka_unit_test(test_batch_finds_the_keys_of_the_stash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
