/* test_cost.c - what hostile input may cost, in time and in memory
 *
 * The input is valid by every other rule: keys that were chosen to meet in one place, forms that promise much
 * and say little.  Time is compared with time, for inputs of which one is four times as long as the other.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE 1

#include "robust.h"

#include "bits/rank_bucket.h"

#include <time.h>

#define RUN_MAX   4096u
#define CHAIN_MAX 256u

/* A digest of which only 'home' matters for where in the stash it goes. */
static tamis_digest of_home(uint64_t home, uint64_t hi) {
    return (tamis_digest){.lo = home ^ (hi << 32 | hi >> 32), .hi = hi};
}

/* A home whose first slot is 'slot' of the stash, or one of the 63 after it. */
static uint64_t home_near(uint64_t slots, uint64_t slot) {
    uint64_t home = 0;
    while (tamis_i_range(tamis_i_mix(home), slots) - slot >= 64)
        home++;
    return home;
}

/* ---- compact forms made by hand ---- */

typedef struct form {
    unsigned char *bytes;
    size_t size, room;
} form;

static void put_byte(form *f, unsigned byte) {
    assert_true(f->size < f->room);
    f->bytes[f->size++] = (unsigned char)byte;
}

static void put_number(form *f, uint64_t number) {
    for (; number >= 0x80; number >>= 7)
        put_byte(f, (unsigned)(number | 0x80) & 0xff);
    put_byte(f, (unsigned)number);
}

static void put_word(form *f, uint64_t word) {
    for (unsigned i = 0; i < 64; i += 8)
        put_byte(f, word >> i & 0xff);
}

/* The header of a rank filter with these values. */
static form begin(size_t room, const uint64_t value[9], uint64_t stash, uint64_t used,
                  uint64_t count) {
    form f = {.bytes = malloc(room + 256), .room = room + 256};
    assert_non_null(f.bytes);
    static const char magic[] = "\x89TAMCF\r\n";
    for (unsigned i = 0; i < 8; i++)
        put_byte(&f, (unsigned char)magic[i]);
    put_word(&f, SEED);
    const uint64_t numbers[] = {1, TAMIS_KIND_RANK, 1, 1000, stash, count, used};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_number(&f, numbers[i]);
    unsigned n = 9;
    while (n > 0 && value[n - 1] == 0)
        n--;
    put_number(&f, n);
    for (unsigned i = 0; i < n; i++)
        put_number(&f, value[i]);
    return f;
}

/* 'zeros' bytes of an empty table, and the checksum. */
static void end(form *f, size_t zeros) {
    while (zeros-- > 0)
        put_byte(f, 0);
    put_word(f, tamis_i_checksum(f->bytes, f->size));
}

static const uint64_t small[9] = {1, 64, 8, 20, 0, 0, 0, 0, 0};

/* Slots of the stash of a form with n entries. */
static uint64_t slots_of(uint64_t n) {
    return 2 * n + 2 * n / 4 + 1;
}

/* A form of n entries with 255 copies each, 'each' of them with one home, and the homes far apart. */
static form entries_form(uint64_t n, uint64_t each, bool one_digest) {
    form f = begin((size_t)n * 17, small, 2 * n, n, 255 * n);
    const uint64_t slots = slots_of(n), homes = n / each;
    uint64_t home = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (i % each == 0)
            home = home_near(slots, i / each * (slots / homes));
        const tamis_digest d = of_home(home, one_digest ? 1 : i);
        put_word(&f, d.lo);
        put_word(&f, d.hi);
        put_byte(&f, 255);
    }
    end(&f, 8);
    return f;
}

static double seconds(void) {
    struct timespec t;
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The least of three. */
static double import_time(const form *f, tamis_status *status) {
    double least = INFINITY;
    for (unsigned i = 0; i < 3; i++) {
        tamis_filter *filter = NULL;
        const double from = seconds();
        *status = tamis_filter_compact_decode(f->bytes, f->size, NULL, &filter, NULL);
        least = fmin(least, seconds() - from);
        tamis_filter_free(filter);
    }
    return least;
}

/* Four times the length takes at most eight times the time, whether the form is taken or refused.  The first
 * is the most that a form can ask for: all runs as long as may be. */
static void test_cost_import_takes_time_in_proportion_to_its_length(void **state) {
    (void)state;
    for (unsigned one_digest = 0; one_digest < 2; one_digest++) {
        tamis_status status[2];
        double time[2];
        for (unsigned i = 0; i < 2; i++) {
            const uint64_t n = i == 0 ? 8000 : 32000;
            form f = entries_form(n, one_digest ? n : 4000, one_digest != 0);
            time[i] = import_time(&f, &status[i]);
            print_message("# %zu bytes: %.1f ms, %s\n", f.size, 1e3 * time[i],
                          tamis_status_text(status[i]));
            assert_status(status[i], one_digest ? TAMIS_E_FORMAT : TAMIS_OK);
            free(f.bytes);
        }
        assert_true(time[1] <= 8 * time[0] + 0.01);
    }
}

/* ---- runs of the stash ---- */

/* Calls and the check of files agree on how many slots may lie side by side. */
static void test_cost_run_of_the_stash_is_bounded(void **state) {
    (void)state;
    for (unsigned one_digest = 0; one_digest < 2; one_digest++) {
        for (uint64_t n = RUN_MAX; n <= RUN_MAX + 1; n++) {
            form f = entries_form(n, n, one_digest != 0);
            tamis_filter *filter = NULL;
            const char *reason = NULL;
            const tamis_status status =
                tamis_filter_compact_decode(f.bytes, f.size, NULL, &filter, &reason);
            assert_status(status, n <= RUN_MAX ? TAMIS_OK : TAMIS_E_FORMAT);
            free(f.bytes);
            if (status != TAMIS_OK)
                continue;
            tamis_i_stash *const stash = &filter->stash;
            const uint64_t home = home_near(stash->slots, 0);
            const tamis_digest next = of_home(home, one_digest ? 1 : n);
            const tamis_digest other = of_home(home_near(stash->slots, 2 * RUN_MAX), 0);
            assert_status(tamis_i_stash_insert(stash, next), TAMIS_E_FULL);
            assert_ok(tamis_i_stash_insert(stash, other));
            assert_true(tamis_i_stash_remove(stash, other));
            /* A slot more by hand, behind the run: the loader sees it. */
            const uint64_t slot = tamis_i_range(tamis_i_mix(home), stash->slots) + RUN_MAX;
            stash->words[2 * slot] = next.lo;
            stash->words[2 * slot + 1] = next.hi;
            stash->words[2 * stash->slots + slot / 8] |= (uint64_t)1 << 8 * (slot % 8);
            ++*stash->used;
            assert_false(tamis_i_stash_check(stash, &reason));
            assert_string_equal(reason, "the stash has too many keys in one place");
            tamis_filter_free(filter);
        }
    }
}

/* Two runs that are short enough are not joined, and a merge that would do it changes nothing. */
static void test_cost_merge_keeps_the_bound_or_changes_nothing(void **state) {
    (void)state;
    tamis_filter *pair[2];
    tamis_params params = test_bare_params(TAMIS_KIND_BALANCED_BLOOM, 100, SEED);
    params.stash = 20000;
    for (unsigned i = 0; i < 2; i++) {
        assert_ok(tamis_filter_create(&params, NULL, &pair[i]));
        for (uint64_t j = 0; j < RUN_MAX / 2 + 1; j++)
            assert_ok(tamis_i_stash_insert(&pair[i]->stash, of_home(0, 2 * j + i)));
        pair[i]->state[TAMIS_I_COUNT] = RUN_MAX / 2 + 1;
    }
    size_t size;
    unsigned char *const bytes = encode(pair[0], &size);
    assert_status(tamis_filter_merge(pair[0], pair[1], TAMIS_MERGE_BEYOND), TAMIS_E_FULL);
    size_t size_after;
    unsigned char *const after = encode(pair[0], &size_after);
    assert_int_equal(size, size_after);
    assert_memory_equal(bytes, after, size);
    free(bytes);
    free(after);
    assert_true(tamis_i_stash_remove(&pair[0]->stash, of_home(0, 0)));
    assert_true(tamis_i_stash_remove(&pair[1]->stash, of_home(0, 1)));
    pair[0]->state[TAMIS_I_COUNT]--;
    pair[1]->state[TAMIS_I_COUNT]--;
    assert_ok(tamis_filter_merge(pair[0], pair[1], TAMIS_MERGE_BEYOND));
    const char *reason = NULL;
    assert_true(tamis_i_filter_check(pair[0], &reason));
    tamis_filter_free(pair[0]);
    tamis_filter_free(pair[1]);
}

/* A form that is written again is the same, also where a run goes around the end of the stash. */
static void test_cost_forms_keep_the_order_of_the_stash(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned round = 0; round < 300; round++) {
        tamis_params params = test_bare_params(TAMIS_KIND_RANK, 40, 1 + round);
        params.stash = 1 + test_random_below(&random, 30);
        const uint64_t value[6] = {1, 64, 8, 10, 0, 0};
        memcpy(params.value, value, sizeof value);
        tamis_filter *f, *back;
        assert_ok(tamis_filter_create(&params, NULL, &f));
        while (tamis_filter_insert_u64(f, test_random_below(&random, 60), NULL) == TAMIS_OK) {
        }
        const size_t size = (size_t)tamis_filter_compact_size(f);
        unsigned char *const bytes = malloc(2 * size);
        assert_non_null(bytes);
        assert_ok(tamis_filter_compact_encode(f, bytes, size));
        assert_ok(tamis_filter_compact_decode(bytes, size, NULL, &back, NULL));
        assert_int_equal(tamis_filter_compact_size(back), size);
        assert_ok(tamis_filter_compact_encode(back, bytes + size, size));
        assert_memory_equal(bytes, bytes + size, size);
        free(bytes);
        tamis_filter_free(back);
        tamis_filter_free(f);
    }
}

/* ---- chains of rank ---- */

/* A bucket with one home and many slots: keys beyond the longest chain go to the stash, and a longer chain,
 * made by hand, is refused from files and from forms. */
static void test_cost_chain_is_bounded(void **state) {
    (void)state;
    tamis_params params = test_bare_params(TAMIS_KIND_RANK, 1000, SEED);
    params.stash = 100;
    const uint64_t value[9] = {1, 1, 20, 512, 512, 512, 1, 1, 0};
    memcpy(params.value, value, sizeof value);
    tamis_filter *f;
    assert_ok(tamis_filter_create(&params, NULL, &f));
    tamis_filter *many;
    assert_ok(tamis_filter_create(&params, NULL, &many));
    uint64_t keys[500];
    for (uint64_t i = 0; i < 500; i++)
        keys[i] = i;
    size_t done;
    assert_status(tamis_filter_insert_many_u64(many, keys, 500, NULL, &done), TAMIS_E_FULL);
    for (uint64_t i = 0; i < CHAIN_MAX + 100; i++)
        assert_ok(tamis_filter_insert_u64(f, i, NULL));
    assert_status(tamis_filter_insert_u64(f, CHAIN_MAX + 100, NULL), TAMIS_E_FULL);
    assert_int_equal(done, CHAIN_MAX + 100);
    assert_int_equal(f->state[TAMIS_I_STASH_USED], 100);
    assert_same(f, many);
    tamis_filter_free(many);
    loader l;
    size_t size;
    unsigned char *bytes = encode(f, &size);
    loader_open(&l, "cost.tamis", size);
    for (way w = FROM_MEMORY; w < N_WAYS; w = next_way(w))
        assert_true(refused_or_safe(&l, w, bytes, size));
    free(bytes);
    /* One key moves from the stash to a slot, by hand. */
    tamis_i_rank_bucket rank = {.homes = 1,
                                .fingerprint_bits = 20,
                                .slot_bits = 20,
                                .n = {1, 1, 1},
                                .slots = {512, 512, 512}};
    assert_true(tamis_i_rank_init(&rank));
    tamis_i_rank_view view;
    const tamis_digest digest = test_hash_u64(SEED, CHAIN_MAX);
    assert_true(tamis_i_stash_remove(&f->stash, digest));
    tamis_i_rank_bucket_ops_for(0)->look(&rank, f->table, 0, 0, digest.hi & 0xfffff, &view);
    assert_int_equal(view.length, CHAIN_MAX);
    tamis_i_rank_bucket_ops_for(0)->add(&rank, f->table, &view, digest.hi & 0xfffff);
    bytes = encode(f, &size);
    for (way w = FROM_MEMORY; w < N_WAYS; w = next_way(w))
        assert_string_equal(must_refuse(&l, w, bytes, size, TAMIS_E_FORMAT),
                            "a chain has more fingerprints than any may have");
    free(bytes);
    tamis_filter *back = NULL;
    size = (size_t)tamis_filter_compact_size(f);
    bytes = malloc(size);
    assert_ok(tamis_filter_compact_encode(f, bytes, size));
    assert_status(tamis_filter_compact_decode(bytes, size, NULL, &back, NULL), TAMIS_E_FORMAT);
    free(bytes);
    loader_close(&l);
    tamis_filter_free(f);
}

/* ---- memory ---- */

/* No form of any parameters takes more than 2 MiB, and 64 bytes for each of its own. */
static void test_cost_import_takes_memory_in_proportion_to_its_length(void **state) {
    (void)state;
    static const uint64_t homes[] = {1, 2, 8, 64};
    unsigned taken = 0, refused = 0;
    for (unsigned i = 0; i < 4; i++) {
        for (uint64_t buckets = 1000; buckets <= 1024000; buckets *= 4) {
            for (unsigned stashes = 0; stashes < 3; stashes++) {
                const uint64_t slots = 8 * homes[i] < 500 ? 8 * homes[i] : 500;
                const uint64_t value[9] = {buckets, homes[i], 56,      slots, slots,
                                           slots,   buckets,  buckets, 8};
                const size_t zeros = (size_t)(buckets * homes[i] + 7) / 8;
                form f = begin(zeros, value, stashes == 0 ? 1 : stashes * 32 * zeros, 0, 0);
                end(&f, zeros);
                test_allocator t;
                test_allocator_init(&t, -1);
                tamis_filter *filter = NULL;
                const tamis_status status =
                    tamis_filter_compact_decode(f.bytes, f.size, &t.allocator, &filter, NULL);
                assert_true(status == TAMIS_OK || status == TAMIS_E_FORMAT ||
                            (sizeof(size_t) < 8 && status == TAMIS_E_TOO_LARGE));
                assert_true(t.largest <= ((size_t)2 << 20) + 4096 + 64 * f.size);
                assert_true(status == TAMIS_OK || t.calls == 0);
                taken += status == TAMIS_OK;
                refused += status != TAMIS_OK;
                tamis_filter_free(filter);
                free(f.bytes);
            }
        }
    }
    print_message("# %u forms taken, %u refused\n", taken, refused);
    assert_true(taken > 5 && refused > 5);
}

/* What could not be read is not written; what a plan makes can be, as soon as some keys are in. */
static void test_cost_planned_filters_have_a_form(void **state) {
    (void)state;
    static const double rates[] = {0.1, 1e-3, 1e-6, 1e-9, 1e-12};
    for (unsigned i = 0; i < 10; i++) {
        tamis_plan plan;
        tamis_need need = test_need(TAMIS_KIND_RANK, 500000, rates[i % 5]);
        need.lines_max = i < 5 ? 0 : 1;
        tamis_plan_init(&plan);
        if (tamis_plan_make(&need, &plan) != TAMIS_OK)
            continue;
        plan.params.seed = SEED;
        tamis_filter *f, *back = NULL;
        assert_ok(tamis_filter_create(&plan.params, NULL, &f));
        if (i < 5)
            assert_true(tamis_filter_compact_size(f) != 0);
        for (uint64_t key = 0; key < need.n / 4; key++)
            assert_ok(tamis_filter_insert_u64(f, key, NULL));
        const size_t size = (size_t)tamis_filter_compact_size(f);
        assert_true(size != 0);
        unsigned char *const bytes = malloc(size);
        assert_ok(tamis_filter_compact_encode(f, bytes, size));
        assert_ok(tamis_filter_compact_decode(bytes, size, NULL, &back, NULL));
        free(bytes);
        tamis_filter_free(back);
        tamis_filter_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cost_import_takes_time_in_proportion_to_its_length),
        cmocka_unit_test(test_cost_run_of_the_stash_is_bounded),
        cmocka_unit_test(test_cost_merge_keeps_the_bound_or_changes_nothing),
        cmocka_unit_test(test_cost_forms_keep_the_order_of_the_stash),
        cmocka_unit_test(test_cost_chain_is_bounded),
        cmocka_unit_test(test_cost_import_takes_memory_in_proportion_to_its_length),
        cmocka_unit_test(test_cost_planned_filters_have_a_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
