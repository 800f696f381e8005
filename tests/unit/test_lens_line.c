/* test_lens_line.c - lines that a lens changes, bit for bit those of the portable code
 *
 * Every call is made twice, on copies of one line.  tests/CMakeLists.txt has the options, as for
 * test_lens_native.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "bits/lens.h"
#include "bits/line.h"

#ifdef TAMIS_LENS_X86

#include "lens_runs.h"

enum { PAD = 8 }; /* words before a line and after it, which a query may read */

typedef struct twice {
    tamis_i_line line;
    tamis_lens lens;
    uint16_t splits[TAMIS_I_LENS_SPLITS];
    uint64_t one[3 * PAD], two[3 * PAD];
    uint64_t keys[2]; /* in the table and in the stash, as a lens counts them */
    const uint64_t *away;
} twice;

/* What a lens does not do itself. */
static tamis_status leave(tamis_filter *filter, tamis_digest digest, bool *added) {
    (void)filter, (void)digest, (void)added;
    return TAMIS_E_FULL;
}

static void twice_init(twice *t, bool set, uint64_t bits_max) {
    memset(t, 0, sizeof *t);
    tamis_i_line_init(&t->line, 64, bits_max, set, 255);
    t->lens.form = set ? TAMIS_LENS_LINE_SET : TAMIS_LENS_LINE;
    t->lens.n = 1;
    t->lens.table = t->two + PAD;
    t->lens.state = t->keys;
    t->away = t->keys + 1;
    t->lens.away = &t->away;
    t->lens.insert = leave;
    t->lens.value[TAMIS_LENS_LINE_CAP] = bits_max << 8 | 1;
    tamis_i_lens_attach(&t->lens, t->splits);
    for (unsigned i = 0; i < 3 * PAD; i++)
        if (i / PAD != 1)
            t->one[i] = t->two[i] = 0x5aa5c33c0ff0e11eu * (i + 1);
}

typedef struct tally {
    unsigned room, cuts, levels, left, drops, found;
} tally;

/* Is the line as the portable code leaves it, and all around as it was? */
static void assert_twice(const twice *t, const uint64_t *before, bool done) {
    assert_memory_equal(t->two, done ? t->one : before, sizeof t->two);
}

static void add_twice(twice *t, unsigned home, uint64_t fingerprint, tally *sums) {
    uint64_t before[3 * PAD];
    tamis_i_line_view old, now;
    memcpy(before, t->one, sizeof before);
    tamis_i_line_look(&t->line, t->one + PAD, home, &old);
    const unsigned result = tamis_i_line_add(&t->line, t->one + PAD, home, fingerprint);
    const tamis_digest digest = {.lo = (uint64_t)home << 58, .hi = fingerprint};
    const uint64_t keys = t->keys[0];
    bool added = false;
    const tamis_status status =
        tamis_lens_lines_insert(&t->lens, t->lens.form, tamis_lens_hash_of(digest), &added);
    const bool done = status == TAMIS_OK;
    assert_true(added == done && t->keys[0] == keys + done);
    assert_true(!done || result == TAMIS_I_LINE_STORED);
    assert_twice(t, before, done);
    memcpy(t->two, t->one, sizeof t->two);
    tamis_i_line_look(&t->line, t->one + PAD, home, &now);
    const bool shorter = old.n != 0 && now.longs - (now.start < now.longs) != old.longs;
    sums->levels += done && old.r != now.r;
    sums->cuts += done && old.r == now.r && shorter;
    sums->room += done && old.r == now.r && !shorter;
    sums->left += !done && result == TAMIS_I_LINE_STORED && old.n != 0;
}

/* Is a fingerprint found as the portable code finds it?  True if the lens knows. */
static bool find_twice(const twice *t, unsigned home, uint64_t fingerprint) {
    const unsigned answer =
        tamis_lens_lines_have(&t->lens, t->lens.form, (uint64_t)home << 58, fingerprint);
    assert_true(answer == TAMIS_LENS_ASK ||
                (answer != 0) == tamis_i_line_find(&t->line, t->one + PAD, home, fingerprint));
    return answer != TAMIS_LENS_ASK;
}

static void drop_twice(twice *t, unsigned home, uint64_t fingerprint, tally *sums) {
    uint64_t before[3 * PAD];
    memcpy(before, t->one, sizeof before);
    const bool dropped = tamis_i_line_drop(&t->line, t->one + PAD, home, fingerprint);
    const bool done = tamis_lens_line_drop(&t->lens, t->two + PAD, home, fingerprint);
    assert_true(!done || dropped);
    assert_twice(t, before, done);
    memcpy(t->two, t->one, sizeof t->two);
    sums->drops += done;
}

static void test_lens_changes_lines_like_the_portable_code(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned set = 0; set < 2; set++) {
        tally sums = {0};
        for (unsigned round = 0; round < 1500; round++) {
            twice t;
            uint64_t prints[128];
            unsigned homes[128], n = 0;
            /* Few homes make long runs; few prints make equal ones. */
            const uint64_t spread = 1 + test_random_below(&random, 64),
                           mask =
                               test_random_below(&random, 4) == 0 ? (uint64_t)3 << 60 : UINT64_MAX;
            twice_init(&t, set != 0, 1 + test_random_below(&random, TAMIS_I_LINE_PRINT));
            for (unsigned call = 0; call < 150; call++) {
                const unsigned home = (unsigned)(test_random_below(&random, spread) * 63 / 64);
                const uint64_t print = test_random(&random) & mask;
                if (!set && n > 0 && test_random_below(&random, 4) == 0) {
                    const unsigned i = (unsigned)test_random_below(&random, n);
                    drop_twice(&t, homes[i], prints[i], &sums);
                    homes[i] = homes[--n];
                    prints[i] = prints[n];
                } else if (n < 128) {
                    homes[n] = home;
                    prints[n++] = print;
                    add_twice(&t, home, print, &sums);
                }
                if (n > 0) {
                    const unsigned i = (unsigned)test_random_below(&random, n);
                    sums.found += find_twice(&t, homes[i], prints[i]);
                }
                (void)find_twice(&t, home, print);
                (void)find_twice(&t, (unsigned)test_random_below(&random, 64),
                                 test_random(&random) & mask);
                const char *reason;
                assert_true(tamis_i_line_check(&t.line, t.one + PAD, &reason));
            }
        }
        printf("# %s: room %u, cuts %u, levels %u, left to the library %u, drops %u, found %u\n",
               set ? "set" : "multiset", sums.room, sums.cuts, sums.levels, sums.left, sums.drops,
               sums.found);
        assert_true(sums.found > 1000 && sums.room > 1000 && sums.cuts > 1000 &&
                    sums.levels > 1000);
        assert_true(set || sums.drops > 1000);
    }
}

int main(void) {
    if (!test_lens_runs()) {
        puts("# skipped: this processor has not what it is compiled for");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lens_changes_lines_like_the_portable_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
    puts("# skipped: there is no lens for this processor");
    return 0;
}

#endif
