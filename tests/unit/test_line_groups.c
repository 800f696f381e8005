/* test_line_groups.c - the same calls for sixteen keys at once and one by one give the same lines
 *
 * The portable operations, whose lines test_line.c compares with a model, take the keys one by one; those of
 * this machine take them in groups.  Few lines, so that keys of one group often meet in a line.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "base/cpu.h"
#include "bits/line.h"

#define LINES 24u
#define GROUP TAMIS_I_GROUP

/* A word before the first line, which kernels may read. */
typedef struct lines {
    uint64_t before[8], words[LINES][8], after;
} lines;

typedef struct key {
    size_t line;
    uint64_t home, fingerprint;
} key;

typedef struct pair {
    tamis_i_line line;
    const tamis_i_line_ops *ops;
    lines one, other; /* the portable ones and ours */
    uint64_t random;
    key stored[LINES * 64]; /* some of the keys that were added */
    size_t n_stored;
} pair;

/* Some of the keys are equal, some homes crowded. */
static key some_key(pair *p) {
    const uint64_t chance = test_random(&p->random), fingerprint = test_random(&p->random);
    const uint64_t homes = chance % 8 == 0 && p->line.homes > 3 ? 3 : p->line.homes;
    return (key){.line = (size_t)test_random_below(&p->random, LINES),
                 .home = test_random_below(&p->random, homes),
                 .fingerprint = chance % 7 == 1 ? fingerprint >> 61 << 61 : fingerprint};
}

static void draw(pair *p, key drawn[GROUP], tamis_i_line_keys *keys, unsigned known_in_eight) {
    memset(keys, 0, sizeof *keys);
    for (unsigned i = 0; i < GROUP; i++) {
        const bool known = p->n_stored != 0 && test_random_below(&p->random, 8) < known_in_eight;
        drawn[i] = known ? p->stored[test_random_below(&p->random, p->n_stored)] : some_key(p);
        keys->at[i] = p->other.words[drawn[i].line];
        keys->home[i] = drawn[i].home;
        keys->fingerprint[i] = drawn[i].fingerprint;
    }
}

static void compare(const pair *p) {
    assert_memory_equal(&p->one, &p->other, sizeof p->one);
}

static void add_group(pair *p) {
    key drawn[GROUP];
    tamis_i_line_keys keys;
    uint8_t results[GROUP];
    draw(p, drawn, &keys, 1);
    for (size_t to = 0, from = 0; to < GROUP; from = to) {
        to = p->ops->add(&p->line, &keys, from, GROUP, &keys, results);
        assert_true(to > from && to <= GROUP);
        for (size_t i = from; i < to; i++) {
            const unsigned result = tamis_i_line_add(&p->line, p->one.words[drawn[i].line],
                                                     (unsigned)drawn[i].home, drawn[i].fingerprint);
            assert_int_equal(results[i], result);
            assert_true(i + 1 == to || !tamis_i_line_refused(&p->line, result));
            if (p->n_stored < sizeof p->stored / sizeof p->stored[0])
                p->stored[p->n_stored++] = drawn[i];
        }
        assert_true(to == GROUP || tamis_i_line_refused(&p->line, results[to - 1]));
    }
    compare(p);
}

static void find_group(pair *p) {
    key drawn[GROUP];
    tamis_i_line_keys keys;
    bool found[GROUP];
    uint8_t results[GROUP];
    draw(p, drawn, &keys, 4);
    p->ops->find(&p->line, &keys, GROUP, &keys, found);
    if (p->line.passes_on)
        p->ops->look(&p->line, &keys, GROUP, &keys, results);
    for (unsigned i = 0; i < GROUP; i++) {
        const uint64_t *const words = p->one.words[drawn[i].line];
        const bool there =
            tamis_i_line_find(&p->line, words, (unsigned)drawn[i].home, drawn[i].fingerprint);
        assert_int_equal(found[i], there);
        if (p->line.passes_on)
            assert_int_equal(results[i], there                                ? TAMIS_I_LINE_FOUND
                                         : tamis_i_line_full(&p->line, words) ? TAMIS_I_LINE_FULL
                                                                              : 0);
    }
    compare(p);
}

static void drop_group(pair *p) {
    key drawn[GROUP];
    tamis_i_line_keys keys;
    bool dropped[GROUP];
    draw(p, drawn, &keys, 7);
    p->ops->drop(&p->line, &keys, GROUP, &keys, dropped);
    for (unsigned i = 0; i < GROUP; i++)
        assert_int_equal(dropped[i],
                         tamis_i_line_drop(&p->line, p->one.words[drawn[i].line],
                                           (unsigned)drawn[i].home, drawn[i].fingerprint));
    compare(p);
}

/* Lines fill up, and a multiset is emptied and filled again. */
static void walk(const tamis_i_line *line, uint64_t load, uint64_t seed) {
    pair *const p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->line = *line;
    p->line.load = load;
    p->ops = tamis_i_line_ops_for(&p->line, tamis_i_cpu_features());
    p->random = seed;
    const unsigned groups = (unsigned)line->most * LINES / GROUP;
    for (unsigned round = 0; round < (tamis_i_line_is_set(line) ? 1u : 2u); round++) {
        for (unsigned i = 0; i < groups + groups / 4; i++) {
            add_group(p);
            find_group(p);
            if (!tamis_i_line_is_set(line) && i % 4 == 3)
                drop_group(p);
        }
        for (unsigned i = 0; i < groups && !tamis_i_line_is_set(line); i++) {
            drop_group(p);
            find_group(p);
        }
    }
    free(p);
}

static void test_groups_of_keys_equal_single_keys(void **state) {
    (void)state;
    static const uint64_t homes[] = {1, 16, 37, 48, 64, 65, 80, 128},
                          bits[] = {1, 3, 7, 12, 30, 56};
    uint64_t seed = test_seed() + 7;
    for (unsigned i = 0; i < 8; i++)
        for (unsigned j = 0; j < 6; j++)
            for (unsigned set = 0; set < 2; set++) {
                tamis_i_line line;
                tamis_i_line_init(&line, homes[i], bits[j], set != 0, 3);
                walk(&line, 20, seed++);
                walk(&line, 80, seed++);
                if (set) {
                    tamis_i_line_limit(&line, 40 + 8 * (uint64_t)(j % 4));
                    walk(&line, 20, seed++);
                }
            }
}

/* Any numbers of lines, also more than 2^32, homes and keys. */
static void test_groups_are_located_like_single_keys(void **state) {
    (void)state;
    static uint64_t table[8];
    uint64_t random = 20261116;
    for (unsigned round = 0; round < 20000; round++) {
        const uint64_t n_lines = 1 + test_random(&random) % ((uint64_t)1 << (1 + round % 38));
        const size_t n = round % 3 == 0 ? (size_t)test_random_below(&random, GROUP + 1) : GROUP;
        tamis_i_line line;
        tamis_i_line_init(&line, 1 + test_random_below(&random, TAMIS_I_LINE_HOMES), 8, true, 0);
        line.load = 40;
        const tamis_i_line_ops *const ops = tamis_i_line_ops_for(&line, tamis_i_cpu_features());
        tamis_digest digests[GROUP];
        tamis_i_line_keys keys, others;
        memset(&keys, 0, sizeof keys);
        memset(&others, 0, sizeof others);
        for (size_t i = 0; i < GROUP; i++) {
            digests[i] = (tamis_digest){.lo = test_random(&random), .hi = test_random(&random)};
            if (round % 5 == 0)
                digests[i].lo = i % 2 == 0 ? UINT64_MAX - i : i / 2;
        }
        ops->locate(&line, table, n_lines, digests, n, &keys);
        tamis_i_line_locate_all(&line, table, n_lines, digests, n, &others);
        assert_memory_equal(&keys, &others, sizeof keys);
        for (size_t i = 0; i < n; i++) {
            assert_true(keys.home[i] < line.homes);
            assert_true((uint64_t)((uintptr_t)keys.at[i] - (uintptr_t)table) / 64 < n_lines);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups_of_keys_equal_single_keys),
                                       cmocka_unit_test(test_groups_are_located_like_single_keys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
