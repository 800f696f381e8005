/* test_line_exact.c - the kind 'line' against an exact multiset of entries
 *
 * All that the structure keeps of a key is its entry: line, home and fingerprint, the digits of one number.
 * So it is not only right about keys that are in: every answer, also to an absent key, is known beforehand.
 * Random calls are compared with a plain array of counts, in small tables of many shapes, most of them too
 * full: homes go to the back and return, entries move there, the stash is in use, and inserts are refused.
 *
 * TAMIS_LINE_OPERATIONS=1000000000 makes so many calls in all.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "filter/filter.h"
#include "kinds/line/line.h"

/* What a set should hold: how often each entry is in it. */
typedef struct plain {
    tamis_filter *filter;
    tamis_params params;
    uint64_t n_entries; /* that there are: n L 2^R */
    uint32_t *copies;
    unsigned char *values; /* of an entry that is in once, or 0 */
    uint64_t count, distinct;
    bool set;
    uint64_t random;
} plain;

/* A digest of entry number i. */
static tamis_digest plain_digest(plain *p, uint64_t i) {
    const uint64_t *const v = p->params.value;
    const uint64_t prints = (uint64_t)1 << v[TAMIS_LINE_FINGERPRINT_BITS];
    const uint64_t print = i % prints, home = i / prints % v[TAMIS_LINE_HOMES];
    const uint64_t line = i / prints / v[TAMIS_LINE_HOMES];
    /* the least word whose digits these are, and some more */
    const long double unit = (long double)18446744073709551616.0L;
    const long double least =
        ((long double)line + ((long double)home + (long double)print / (long double)prints) /
                                 (long double)v[TAMIS_LINE_HOMES]) /
        (long double)v[TAMIS_LINE_LINES] * unit;
    const long double more = unit / (long double)p->n_entries * 0.3L;
    tamis_digest digest = {.hi = test_random(&p->random)};
    digest.lo = (uint64_t)(least + more * (1 + (long double)(digest.hi % 100) / 100));
    return digest;
}

static plain plain_make(uint64_t lines, unsigned homes, unsigned prints, unsigned values, bool set,
                        uint64_t back, unsigned back_homes, uint64_t stash, uint64_t seed) {
    plain p = {.set = set, .random = seed};
    p.params = test_bare_params(TAMIS_KIND_LINE, 1000, seed | 1);
    uint64_t *const v = p.params.value;
    v[TAMIS_LINE_LINES] = lines, v[TAMIS_LINE_HOMES] = homes;
    v[TAMIS_LINE_FINGERPRINT_BITS] = prints, v[TAMIS_LINE_VALUE_BITS] = values;
    v[TAMIS_LINE_BACK_LINES] = back, v[TAMIS_LINE_BACK_HOMES] = back_homes;
    v[TAMIS_LINE_SET] = set;
    p.params.stash = stash;
    assert_ok(tamis_filter_create(&p.params, NULL, &p.filter));
    p.n_entries = lines * homes << prints;
    p.copies = calloc(p.n_entries, sizeof *p.copies);
    p.values = calloc(p.n_entries, 1);
    assert_true(p.copies != NULL && p.values != NULL);
    return p;
}

static void plain_free(plain *p) {
    tamis_filter_free(p->filter);
    free(p->copies);
    free(p->values);
}

static void plain_insert(plain *p, uint64_t i) {
    bool added = false;
    const tamis_status status = tamis_filter_insert_digest(p->filter, plain_digest(p, i), &added);
    if (status == TAMIS_OK) {
        assert_int_equal(added, p->copies[i] == 0);
        p->distinct += p->copies[i] == 0;
        p->count += !p->set || p->copies[i] == 0;
        p->copies[i] += !p->set || p->copies[i] == 0;
        p->values[i] = 0;
    } else {
        assert_status(status, TAMIS_E_FULL);
        assert_false(p->set && p->copies[i] != 0);
    }
}

static void plain_remove(plain *p, uint64_t i) {
    const tamis_status status = tamis_filter_remove_digest(p->filter, plain_digest(p, i));
    if (p->set) {
        assert_status(status, TAMIS_E_UNSUPPORTED);
        return;
    }
    assert_status(status, p->copies[i] == 0 ? TAMIS_E_NOT_FOUND : TAMIS_OK);
    p->count -= p->copies[i] != 0;
    p->distinct -= p->copies[i] == 1;
    p->copies[i] -= p->copies[i] != 0;
    p->values[i] = 0;
}

static void plain_ask(plain *p, uint64_t i) {
    const tamis_digest digest = plain_digest(p, i);
    assert_int_equal(tamis_filter_contains_digest(p->filter, digest), p->copies[i] != 0);
    assert_int_equal(tamis_filter_copies_digest(p->filter, digest), p->copies[i]);
}

/* Many keys at once. */
static void plain_batch(plain *p, uint64_t from) {
    tamis_digest digests[40];
    bool answers[40];
    uint64_t entries[40];
    const size_t n = 1 + p->random % 40;
    for (size_t i = 0; i < n; i++) {
        entries[i] = (from + test_random(&p->random) % (1 + p->random % 3000)) % p->n_entries;
        digests[i] = plain_digest(p, entries[i]);
    }
    const size_t found = tamis_filter_contains_many_digest(p->filter, digests, n, answers);
    size_t here = 0;
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(answers[i], p->copies[entries[i]] != 0);
        here += answers[i];
    }
    assert_int_equal(found, here);
    if (p->random % 2 == 0) {
        size_t done;
        const tamis_status status =
            tamis_filter_insert_many_digest(p->filter, digests, n, answers, &done);
        assert_true(status == TAMIS_OK ? done == n : done < n);
        for (size_t i = 0; i < done; i++) {
            uint32_t *const copies = &p->copies[entries[i]];
            assert_int_equal(answers[i], *copies == 0);
            p->distinct += *copies == 0;
            p->count += !p->set || *copies == 0;
            *copies += !p->set || *copies == 0;
            p->values[entries[i]] = 0;
        }
    } else if (!p->set) {
        size_t count = 0;
        assert_ok(tamis_filter_remove_many_digest(p->filter, digests, n, answers, &count));
        for (size_t i = 0; i < n; i++) {
            uint32_t *const copies = &p->copies[entries[i]];
            assert_int_equal(answers[i], *copies != 0);
            p->distinct -= *copies == 1;
            p->count -= *copies != 0;
            count -= *copies != 0;
            *copies -= *copies != 0;
            p->values[entries[i]] = 0;
        }
        assert_int_equal(count, 0);
    }
}

/* Keys with values, of which there is one copy each. */
static void plain_value(plain *p, uint64_t i) {
    const unsigned values = 1u << p->params.value[TAMIS_LINE_VALUE_BITS];
    const unsigned value = (unsigned)(test_random(&p->random) % values);
    const tamis_digest digest = plain_digest(p, i);
    unsigned got = 0;
    if (values == 1 || p->copies[i] > 1)
        return;
    if (p->copies[i] == 0) {
        bool added;
        assert_status(tamis_filter_lookup_value_digest(p->filter, digest, &got), TAMIS_E_NOT_FOUND);
        if (tamis_filter_insert_value_digest(p->filter, digest, value, &added) != TAMIS_OK)
            return;
        assert_true(added);
        p->count++, p->distinct++, p->copies[i] = 1;
    } else if (tamis_filter_update_value_digest(p->filter, digest, value) != TAMIS_OK) {
        return;
    }
    p->values[i] = (unsigned char)value;
    assert_ok(tamis_filter_lookup_value_digest(p->filter, digest, &got));
    assert_int_equal(got, value);
}

/* Everything at once: invariants, counts, the error rate, each entry. */
static void assert_whole(plain *p) {
    const char *reason = "";
    assert_true(tamis_i_filter_check(p->filter, &reason));
    assert_int_equal(tamis_filter_count(p->filter), p->count);
    const double rate = (double)p->distinct / (double)p->n_entries;
    const tamis_info info = test_info(p->filter);
    assert_true(info.fpr >= rate * (1 - 1e-9) &&
                info.fpr <= rate * 1.1 + 20 / (double)p->n_entries);
    for (uint64_t i = 0; i < p->n_entries; i += 1 + p->n_entries / 20000)
        plain_ask(p, i);
}

/* A copy through the bytes of a file has the same bytes and the same answers. */
static void assert_copies(plain *p) {
    size_t size;
    unsigned char *const bytes = test_encoded(p->filter, &size);
    tamis_filter *copy, *own = p->filter;
    const char *reason;
    assert_ok(tamis_filter_decode(bytes, size, NULL, &copy, &reason));
    p->filter = copy;
    assert_whole(p);
    p->filter = own;
    assert_same(copy, own);
    tamis_filter_free(copy);
    free(bytes);
}

/* 'mean' copies of an entry would be in, if there were room: calls go up and down around it. */
static void run(plain *p, uint64_t operations, uint64_t keys) {
    const uint64_t crowd = test_random(&p->random) % p->n_entries;
    for (uint64_t i = 0; i < operations; i++) {
        const uint64_t draw = test_random(&p->random);
        uint64_t entry = test_random(&p->random) % p->n_entries;
        if (draw % 16 == 0) /* keys that share a home or a line */
            entry = (crowd + draw / 16 % 100) % p->n_entries;
        if (draw % 16 == 1)
            entry = crowd;
        const bool grows = p->count < keys + keys / 8 * ((i / (4 * keys + 1)) % 3) - keys / 8;
        const unsigned what = (unsigned)(draw >> 32) % 64;
        if (what == 0)
            plain_batch(p, entry);
        else if (what == 1)
            plain_value(p, entry);
        else if (what < 24)
            plain_ask(p, entry);
        else if (what < (grows ? 56u : 32u))
            plain_insert(p, entry);
        else
            plain_remove(p, entry);
        if (!p->set && !grows &&
            what >= 40) { /* what is there, or hardly anything would be removed */
            for (uint64_t tries = 0; tries < 200 && p->copies[entry] == 0; tries++)
                entry = (entry + 1) % p->n_entries;
            plain_remove(p, entry);
        }
    }
    assert_whole(p);
    assert_copies(p);
}

/* Remove everything: no word of the body is left but zero. */
static void assert_empties(plain *p) {
    for (uint64_t i = 0; !p->set && i < p->n_entries; i++)
        while (p->copies[i] != 0)
            plain_remove(p, i);
    for (uint64_t i = 0; !p->set && i < p->filter->n_body; i++)
        assert_true(p->filter->state[i] == 0);
}

static uint64_t operations_in_all(void) {
    const char *const text = getenv("TAMIS_LINE_OPERATIONS");
    return text == NULL ? 3000000 : strtoull(text, NULL, 10);
}

/* Shapes of plans and odd ones: lines, homes, fingerprint bits, values, back lines, their homes, stash. */
static const uint64_t shapes[][7] = {
    {40, 90, 6, 0, 4, 32, 24},  {40, 90, 6, 0, 2, 50, 100}, {13, 86, 7, 0, 2, 18, 4},
    {60, 80, 9, 0, 5, 30, 16},  {31, 48, 8, 3, 7, 16, 40},  {7, 126, 4, 0, 1, 7, 12},
    {9, 60, 5, 8, 0, 0, 200},   {1, 90, 6, 0, 0, 0, 30},    {1, 90, 6, 0, 1, 1, 30},
    {2, 30, 7, 1, 2, 2, 8},     {50, 17, 6, 0, 20, 6, 50},  {64, 64, 3, 0, 5, 26, 32},
    {100, 5, 5, 0, 30, 8, 100}, {25, 1, 8, 0, 9, 6, 60},    {30, 91, 6, 0, 3, 20, 16},
    {20, 40, 10, 4, 3, 14, 9},  {200, 2, 2, 0, 40, 10, 64}, {33, 120, 5, 0, 3, 62, 16},
};
#define SHAPES (sizeof shapes / sizeof *shapes)

static void test_line_exact_random_calls(void **state) {
    (void)state;
    const uint64_t each = operations_in_all() / SHAPES / 4;
    for (size_t i = 0; i < SHAPES; i++)
        for (unsigned form = 0; form < 4; form++) {
            const uint64_t *const s = shapes[i];
            const bool set = form == 3 && s[3] == 0;
            plain p = plain_make(s[0], (unsigned)s[1], (unsigned)s[2], (unsigned)s[3], set, s[4],
                                 (unsigned)s[5], s[6], test_seed() + 10 * i + form);
            const tamis_i_line_table *const t = (const void *)p.filter->geometry;
            const uint64_t keys = s[0] * t->front.shape.capacity * (5 + form) / 6;
            run(&p, each, keys);
            assert_empties(&p);
            plain_free(&p);
        }
}

/* A union has the entries of both; one for which there is no room changes nothing. */
static void test_line_exact_merge_is_the_union(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++)
        for (unsigned form = 0; form < 2; form++) {
            const uint64_t *const s = shapes[i];
            const bool set = form == 1 && s[3] == 0;
            plain a = plain_make(s[0], (unsigned)s[1], (unsigned)s[2], (unsigned)s[3], set, s[4],
                                 (unsigned)s[5], s[6], test_seed());
            plain b = plain_make(s[0], (unsigned)s[1], (unsigned)s[2], (unsigned)s[3], set, s[4],
                                 (unsigned)s[5], s[6], test_seed());
            const tamis_i_line_table *const t = (const void *)a.filter->geometry;
            const uint64_t keys = s[0] * t->front.shape.capacity;
            b.random++;
            for (uint64_t k = 0; k < keys * 45 / 100; k++) {
                plain_insert(&a, test_random(&a.random) % a.n_entries);
                plain_insert(&b, test_random(&b.random) % b.n_entries);
            }
            size_t size;
            unsigned char *const before = test_encoded(a.filter, &size);
            const tamis_status status = tamis_filter_merge(a.filter, b.filter, TAMIS_MERGE_BEYOND);
            if (status == TAMIS_OK) {
                a.count += b.count;
                for (uint64_t k = 0; k < a.n_entries; k++) {
                    a.distinct += a.copies[k] == 0 && b.copies[k] != 0;
                    a.copies[k] =
                        set ? (a.copies[k] | b.copies[k]) != 0 : a.copies[k] + b.copies[k];
                }
                assert_whole(&a);
            } else {
                assert_status(status, TAMIS_E_FULL);
                assert_encoded(a.filter, before, size);
            }
            free(before);
            plain_free(&a);
            plain_free(&b);
        }
}

/* What front and back cannot take is in the stash: no key is refused as long as that has room for a home. */
static void test_line_exact_stash_takes_the_rest(void **state) {
    (void)state;
    static const uint64_t few[][5] = {{1, 90, 6, 2, 28}, {3, 60, 9, 0, 0}, {2, 90, 6, 1, 2}};
    for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
        enum { STASH = 3000 };
        plain p = plain_make(few[i][0], (unsigned)few[i][1], (unsigned)few[i][2], 0, false,
                             few[i][3], (unsigned)few[i][4], STASH, test_seed() + i);
        while (p.filter->stash.used[0] + TAMIS_I_LINE_ENTRIES_MAX < STASH - STASH / 4) {
            const uint64_t before = p.count;
            plain_insert(&p, test_random(&p.random) % p.n_entries);
            assert_int_equal(p.count, before + 1);
        }
        assert_whole(&p);
        assert_copies(&p);
        assert_empties(&p);
        plain_free(&p);
    }
}

/* A key that is inserted a million times harms no other: it is counted, and from some number on refused. */
static void test_line_exact_crowd_harms_nobody(void **state) {
    (void)state;
    plain p = plain_make(40, 90, 6, 0, false, 4, 32, 24, test_seed());
    for (unsigned i = 0; i < 2000; i++)
        plain_insert(&p, test_random(&p.random) % p.n_entries);
    const uint64_t crowd = 90 * 64 + 77;
    uint64_t refused = 0;
    for (unsigned i = 0; i < 1000000; i++) {
        const uint64_t before = p.count;
        plain_insert(&p, crowd);
        refused += p.count == before;
    }
    assert_true(refused > 0 && p.copies[crowd] > 255 * 10);
    for (unsigned i = 0; i < 150; i++) { /* the last that were planned for */
        const uint64_t before = p.count;
        plain_insert(&p, test_random(&p.random) % p.n_entries);
        assert_int_equal(p.count, before + 1);
    }
    assert_whole(&p);
    printf("# %u copies counted\n", p.copies[crowd]);
    assert_empties(&p);
    plain_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_exact_random_calls),
        cmocka_unit_test(test_line_exact_merge_is_the_union),
        cmocka_unit_test(test_line_exact_stash_takes_the_rest),
        cmocka_unit_test(test_line_exact_crowd_harms_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
