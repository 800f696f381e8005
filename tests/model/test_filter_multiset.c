/* test_filter_multiset.c - random calls on every kind, against an exact multiset
 *
 * For each kind and capacity a filter is filled to 100 % and then to 200 % of its capacity, changed,
 * emptied, and filled again, while every answer is compared with the truth:
 *
 *   - not one key that is in is ever answered "absent";
 *   - the count is exact for a multiset, and the number of "added" answers for a set;
 *   - copies are never below the truth while no counter is saturated;
 *   - a key that the filter says is absent cannot be removed, and the attempt changes nothing;
 *   - TAMIS_E_FULL, where a kind can be full, comes only past the capacity and changes nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#define SATURATED_COPIES 14 /* of a key: more would saturate its counters by themselves */

/* A universe of keys with the number of copies of each that is in. */
typedef struct truth {
    uint64_t n_keys;
    uint32_t *copies;
    uint64_t total;    /* copies of all */
    uint64_t distinct; /* keys with a copy */
    uint64_t seed;
} truth;

typedef struct run {
    tamis_filter *filter;
    truth truth;
    unsigned abilities;
    uint64_t capacity;
    uint64_t added; /* answers, since the last clear */
    uint64_t random;
    uint64_t calls, full, queries, wrong;
    bool saturated;
} run;

static uint64_t key_number(const run *r, uint64_t i) {
    uint64_t state = r->truth.seed + i;
    return test_random(&state);
}

/* Each key has one form: a third are bytes of some length, a third integers, a third digests. */
typedef struct key {
    unsigned form;
    char text[40];
    size_t size;
    uint64_t integer;
    tamis_digest digest;
} key;

static key key_of(const run *r, uint64_t i) {
    const uint64_t number = key_number(r, i);
    key k = {.form = (unsigned)(i % 3), .integer = number};
    if (k.form == 0)
        k.size = (size_t)snprintf(k.text, sizeof k.text, "%llu/%0*d", (unsigned long long)number,
                                  (int)(number % 17), 7);
    if (k.form == 2) {
        uint64_t state = number;
        k.digest.lo = test_random(&state);
        k.digest.hi = test_random(&state);
    }
    return k;
}

static bool ask(const run *r, const key *k) {
    return k->form == 0   ? tamis_filter_contains(r->filter, k->text, k->size)
           : k->form == 1 ? tamis_filter_contains_u64(r->filter, k->integer)
                          : tamis_filter_contains_digest(r->filter, k->digest);
}

static uint64_t ask_copies(const run *r, const key *k) {
    return k->form == 0   ? tamis_filter_copies(r->filter, k->text, k->size)
           : k->form == 1 ? tamis_filter_copies_u64(r->filter, k->integer)
                          : tamis_filter_copies_digest(r->filter, k->digest);
}

static tamis_status put(run *r, const key *k, bool *added) {
    return k->form == 0   ? tamis_filter_insert(r->filter, k->text, k->size, added)
           : k->form == 1 ? tamis_filter_insert_u64(r->filter, k->integer, added)
                          : tamis_filter_insert_digest(r->filter, k->digest, added);
}

static tamis_status take(run *r, const key *k) {
    return k->form == 0   ? tamis_filter_remove(r->filter, k->text, k->size)
           : k->form == 1 ? tamis_filter_remove_u64(r->filter, k->integer)
                          : tamis_filter_remove_digest(r->filter, k->digest);
}

static void check_count(const run *r) {
    const bool multiset = (r->abilities & TAMIS_CAN_COUNT) != 0;
    assert_int_equal(tamis_filter_count(r->filter), multiset ? r->truth.total : r->added);
}

static void call_insert(run *r, uint64_t i) {
    const key k = key_of(r, i);
    const bool present = ask(r, &k);
    if ((r->abilities & TAMIS_CAN_COUNT) && r->truth.copies[i] >= SATURATED_COPIES)
        return;
    if ((r->abilities & TAMIS_CAN_REMOVE) && !(r->abilities & TAMIS_CAN_COUNT) && present)
        return; /* a set that removes cannot hold two keys that it takes for one */
    bool added = !present;
    const tamis_status status = put(r, &k, &added);
    r->calls++;
    if (status == TAMIS_E_FULL) {
        assert_true(r->truth.total >= r->capacity); /* not before what was planned for is in */
        assert_int_equal(added, !present);
        r->full++;
        return;
    }
    assert_ok(status);
    assert_int_equal(added, !present);
    r->added += added;
    r->truth.distinct += r->truth.copies[i] == 0;
    if ((r->abilities & TAMIS_CAN_COUNT) || r->truth.copies[i] == 0) {
        r->truth.copies[i]++;
        r->truth.total++;
    }
    assert_true(ask(r, &k));
}

static void call_remove(run *r, uint64_t i) {
    const key k = key_of(r, i);
    r->calls++;
    if (r->truth.copies[i] == 0) {
        if (ask(r, &k)) /* a false positive: removing it is what callers must not do */
            return;
        size_t size = 0;
        unsigned char *const before = r->capacity <= 10 ? test_encoded(r->filter, &size) : NULL;
        assert_status(take(r, &k), TAMIS_E_NOT_FOUND);
        if (before != NULL)
            assert_encoded(r->filter, before, size);
        free(before);
        return;
    }
    assert_ok(take(r, &k));
    r->added -= !(r->abilities & TAMIS_CAN_COUNT);
    r->truth.copies[i]--;
    r->truth.total--;
    r->truth.distinct -= r->truth.copies[i] == 0;
}

static void call_query(run *r, uint64_t i) {
    const key k = key_of(r, i);
    const bool present = ask(r, &k);
    r->calls++;
    if (r->truth.copies[i] > 0) {
        assert_true(present);
        if (!r->saturated)
            assert_true(ask_copies(r, &k) >= r->truth.copies[i]);
    } else {
        r->queries++;
        r->wrong += present;
    }
    assert_int_equal(ask_copies(r, &k) != 0, present);
}

/* Every key of the universe, and what info tells. */
static void check_all(run *r) {
    const tamis_info info = test_info(r->filter);
    r->saturated = info.saturated != 0;
    for (uint64_t i = 0; i < r->truth.n_keys; i++)
        if (r->truth.copies[i] > 0)
            call_query(r, i);
    check_count(r);
    assert_int_equal(info.count, tamis_filter_count(r->filter));
    assert_true(info.fpr >= 0 && info.fpr <= 1);
}

/* What the filter holds can be stored and read back at any time. */
static void check_file(const run *r) {
    size_t size;
    unsigned char *const bytes = test_encoded(r->filter, &size);
    tamis_filter *loaded = NULL;
    const char *reason = NULL;
    const tamis_status status = tamis_filter_decode(bytes, size, NULL, &loaded, &reason);
    if (status != TAMIS_OK)
        fail_msg("a filter that calls have made is refused: %s", reason);
    assert_same(r->filter, loaded);
    tamis_filter_free(loaded);
    free(bytes);
}

/* A stretch of random calls that moves the number of copies to about 'level'. */
static void stretch(run *r, uint64_t level, uint64_t calls) {
    const bool removes = (r->abilities & TAMIS_CAN_REMOVE) != 0;
    for (uint64_t n = 0; n < calls; n++) {
        const uint64_t i = test_random_below(&r->random, r->truth.n_keys);
        const uint64_t what = test_random_below(&r->random, 8);
        const bool grow = r->truth.total < level;
        if (what < 3)
            call_query(r, i);
        else if (removes && what < (grow ? 4u : 7u))
            call_remove(r, i);
        else if (grow || removes)
            call_insert(r, i);
        else
            call_query(r, i);
    }
    check_all(r);
    check_file(r);
}

/* What came of several runs. */
typedef struct sums {
    uint64_t calls, full, queries, wrong;
} sums;

static void run_one(const tamis_params *params, uint64_t calls, sums *all) {
    const uint64_t capacity = params->capacity;
    run r = {.abilities = tamis_kind_abilities(params->kind), .capacity = capacity};
    r.random = params->seed;
    r.truth.n_keys = 4 * capacity + 8;
    r.truth.seed = test_random(&r.random);
    r.truth.copies = calloc((size_t)r.truth.n_keys, sizeof *r.truth.copies);
    assert_non_null(r.truth.copies);
    tamis_filter *empty;
    assert_ok(tamis_filter_create(params, NULL, &r.filter));
    assert_ok(tamis_filter_create(params, NULL, &empty));

    stretch(&r, capacity, calls / 2);
    stretch(&r, 2 * capacity, calls / 4);
    stretch(&r, capacity / 2, calls / 4);
    if (r.abilities & TAMIS_CAN_REMOVE) {
        for (uint64_t i = 0; i < r.truth.n_keys; i++)
            while (r.truth.copies[i] > 0)
                call_remove(&r, i);
        check_all(&r);
        check_file(&r);
        assert_int_equal(tamis_filter_count(r.filter), 0);
        for (uint64_t i = 0; i < r.truth.n_keys && !r.saturated; i++) {
            const key k = key_of(&r, i);
            assert_false(ask(&r, &k)); /* nothing is left behind */
        }
    }
    assert_ok(tamis_filter_clear(r.filter));
    assert_same(r.filter, empty);
    all->calls += r.calls;
    all->full += r.full;
    all->queries += r.queries;
    all->wrong += r.wrong;
    tamis_filter_free(empty);
    tamis_filter_free(r.filter);
    free(r.truth.copies);
}

/* Every kind, planned for 'capacity' keys, in 'rounds' filters of different seeds. */
static void run_all(uint64_t capacity, uint64_t calls, unsigned rounds) {
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        tamis_params params = test_params(kind, capacity, 0.01, test_seed());
        sums all = {0};
        for (unsigned round = 0; round < rounds; round++) {
            params.seed++;
            run_one(&params, calls, &all);
        }
        printf("# %s for %llu keys: %llu calls, %llu full, %llu of %llu absent keys present\n",
               tamis_kind_name(kind), (unsigned long long)capacity, (unsigned long long)all.calls,
               (unsigned long long)all.full, (unsigned long long)all.wrong,
               (unsigned long long)all.queries);
    }
}

static void test_multiset_tiny_filters_are_never_wrong(void **state) {
    (void)state;
    run_all(1, 100, 500);
    run_all(2, 100, 500);
    run_all(10, 400, 500);
}

static void test_multiset_small_filters_are_never_wrong(void **state) {
    (void)state;
    run_all(1000, 40000, 12);
}

static void test_multiset_large_filters_are_never_wrong(void **state) {
    (void)state;
    run_all(100000, 600000, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_multiset_tiny_filters_are_never_wrong),
        cmocka_unit_test(test_multiset_small_filters_are_never_wrong),
        cmocka_unit_test(test_multiset_large_filters_are_never_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
