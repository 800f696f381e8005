/* test_twig.c - the filters of page tables: their places, their room, and what a file says of them
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "robust/table_file.h"

#include "table/table.h"

static tamis_table_params page_params(void) {
    tamis_table_params params;
    tamis_table_params_init(&params);
    params.seed = test_seed();
    params.hash = TAMIS_HASH_XXH3;
    return params;
}

static tamis_table *page_table(void) {
    const tamis_table_params params = page_params();
    tamis_table *table = NULL;
    assert_ok(tamis_table_create(&params, NULL, &table));
    return table;
}

static void put_key(tamis_table *table, uint64_t key, size_t value_size) {
    static const unsigned char value[1000];
    assert_ok(tamis_table_put(table, &key, 8, value, value_size, NULL));
}

/* The places that are noted are those that follow from the lengths.  '*fullest' gets the most extra room. */
static void expect_places(const tamis_table *table, unsigned *fullest) {
    const tamis_i_pages *const p = table->pages;
    *fullest = 0;
    for (unsigned t = 0; t < p->n_twigs; t++) {
        const tamis_i_twig *const twig = p->twigs[t];
        size_t at = 0;
        for (unsigned i = 0; i < twig->n; i++) {
            size_t n;
            assert_ptr_equal(tamis_i_twig_filter(twig, &p->sieve, i, &n), twig->filters + at);
            at += n;
            if (twig->leaves[i].extra > *fullest)
                *fullest = twig->leaves[i].extra;
        }
        assert_int_equal(at, twig->n_bytes);
        assert_true(twig->n_bytes <= twig->cap_bytes);
    }
}

static void verify(const tamis_table *table) {
    const char *reason = "";
    if (tamis_table_verify(table, NULL, &reason) != TAMIS_OK)
        fail_msg("verify: %s", reason);
}

/* Keys come and go: filters that forgot to be made anew would say yes to nearly all. */
static void test_filters_of_keys_that_come_and_go_keep_the_rate(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 20, 150};
    enum { KEYS = 3000, CHANGES = 30000 };
    for (unsigned s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        tamis_table *const table = page_table();
        uint64_t random = test_seed() + s, next = KEYS, live[KEYS];
        unsigned most;
        for (uint64_t i = 0; i < KEYS; i++) {
            live[i] = i;
            put_key(table, i, sizes[s]);
        }
        for (unsigned i = 0; i < CHANGES; i++) {
            uint64_t *const key = live + test_random_below(&random, KEYS);
            assert_ok(tamis_table_delete(table, key, 8));
            *key = next++;
            put_key(table, *key, sizes[s]);
            if (i % 1000 != 999)
                continue;
            expect_places(table, &most);
            assert_true(table_state(table).fpr < 0.0022);
        }
        verify(table);
        assert_ok(tamis_table_close(table));
    }
}

/* More keys of a page go than its filter can have extra room for. */
static void test_filters_of_pages_that_lose_many_keys_are_made_anew(void **state) {
    (void)state;
    enum { KEYS = 3000 };
    tamis_table *const table = page_table();
    unsigned most = 0, now;
    for (uint64_t i = 0; i < KEYS; i++)
        put_key(table, i, 0);
    for (uint64_t i = 0; i < KEYS; i++) {
        assert_ok(tamis_table_delete(table, &i, 8));
        expect_places(table, &now);
        most = now > most ? now : most;
        if (i % 100 == 0)
            verify(table);
        if (i % 10 == 0) /* and some come back */
            put_key(table, i, 0);
    }
    assert_int_equal(most, TAMIS_I_TWIG_EXTRA);
    assert_int_equal(tamis_table_count(table), KEYS / 10);
    verify(table);
    assert_ok(tamis_table_close(table));
}

/* What a file says of its only filter, and whether it can be. */
typedef struct head {
    uint32_t room, load;
    int longer; /* bytes of the filter that are too many */
    bool good;
} head;

/* Write it over that of a closed table, with checksums that are right. */
static void write_head(tamis_i_pages *p, const head *h) {
    unsigned char filters[TAMIS_I_PAGE_BYTES], root[TAMIS_I_PAGE_BYTES];
    const uint64_t n = tamis_i_sieve_bytes(&p->sieve, h->room) + (uint64_t)h->longer;
    const uint64_t at = (uint64_t)p->filters_at * TAMIS_I_PAGE_BYTES;
    const uint64_t root_at = (1 + p->epoch % 2) * TAMIS_I_PAGE_BYTES;
    FILE *const file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fread(filters, 1, sizeof filters, file), sizeof filters);
    assert_int_equal(fseek(file, (long)root_at, SEEK_SET), 0);
    assert_int_equal(fread(root, 1, sizeof root, file), sizeof root);
    tamis_i_put_u64(filters, n | (uint64_t)h->room << 16 | (uint64_t)h->load << 32);
    memset(filters + 8 + n, 0, sizeof filters - 8 - (size_t)n);
    uint64_t sum = p->salt;
    for (size_t i = 0; i < 8 + n; i += 8) {
        const uint64_t word = tamis_i_get_u64(filters + i);
        sum = tamis_i_mix(sum ^ word) + word;
    }
    tamis_i_put_u64(root + TAMIS_I_ROOT_FILTERS_SUM, sum);
    tamis_i_put_u64(root, tamis_i_pages_root_sum(p, root));
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fwrite(filters, 1, sizeof filters, file), sizeof filters);
    assert_int_equal(fseek(file, (long)root_at, SEEK_SET), 0);
    assert_int_equal(fwrite(root, 1, sizeof root, file), sizeof root);
    assert_int_equal(fclose(file), 0);
}

static void test_filters_of_a_file_are_made_anew_if_they_cannot_be(void **state) {
    (void)state;
    enum { KEYS = 40 };
    static const head heads[] = {
        {KEYS, KEYS, 0, true},           {KEYS + 63, KEYS, 0, true},
        {KEYS + 63, KEYS + 63, 0, true}, {KEYS + 9, KEYS + 8, 0, true},
        {KEYS + 64, KEYS, 0, false},     {KEYS, KEYS + 1, 0, false},
        {KEYS + 5, KEYS - 1, 0, false},  {KEYS - 1, KEYS, 0, false},
        {KEYS - 1, KEYS - 1, 0, false},  {KEYS + 5, KEYS, 1, false},
        {KEYS + 5, KEYS, -1, false},     {0, 0, 0, false},
    };
    const tamis_table_params params = page_params();
    tamis_table_options options = quick_options();
    for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        options.read_only = false;
        tamis_table *table = create_table(&params, &options);
        for (uint64_t key = 0; key < KEYS; key++)
            put_key(table, key, 50);
        assert_ok(tamis_table_close(table));
        options.read_only = true;
        table = open_table(&options);
        assert_int_equal(table->pages->n_leaves, 1);
        assert_false(table_state(table).recovered);
        verify(table);
        write_head(table->pages, &heads[i]);
        assert_ok(tamis_table_close(table));
        table = open_table(&options);
        assert_int_equal(table_state(table).recovered, !heads[i].good);
        if (!heads[i].good)
            verify(table);
        unsigned most;
        expect_places(table, &most);
        assert_ok(tamis_table_close(table));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filters_of_keys_that_come_and_go_keep_the_rate),
        cmocka_unit_test(test_filters_of_pages_that_lose_many_keys_are_made_anew),
        cmocka_unit_test(test_filters_of_a_file_are_made_anew_if_they_cannot_be),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
