/* test_line.c - lines of fingerprints against a plain model, and what the two kinds refuse
 *
 * The model is a list of entries (home, fingerprint, bits), with the rules of bits/line.h written down as
 * they stand there.  Every line is compared with it bit by bit after every call, for each set of
 * operations.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "base/cpu.h"
#include "bits/line.h"
#include "filter/filter.h"
#include "small_multiset.h"

typedef struct plain {
    tamis_i_line line;
    unsigned n;
    unsigned bits; /* of all fingerprints */
    tamis_i_line_entry entries[TAMIS_I_LINE_ENTRIES + 1];
} plain;

static void plain_write(const plain *p, uint64_t words[8]) {
    unsigned at = (unsigned)p->line.top;
    memset(words, 0, 64);
    for (unsigned i = 0; i < p->n; i++) {
        const tamis_i_line_entry *const e = &p->entries[i];
        for (unsigned b = 0; b < e->bits; b++)
            if (e->fingerprint >> (63 - b) & 1)
                tamis_i_bit_set(words, at - 1 - b);
        at -= e->bits;
        tamis_i_bit_set(words, e->home);
        if (i + 1 == p->n || p->entries[i + 1].home != e->home)
            tamis_i_bit_set(words, p->line.homes + i);
    }
    for (unsigned b = 0; b < 9 && !tamis_i_line_is_set(&p->line); b++)
        if (p->bits >> b & 1)
            tamis_i_bit_set(words, 503 + b);
}

static bool plain_match(const tamis_i_line_entry *e, unsigned home, uint64_t fingerprint) {
    return e->home == home && (e->fingerprint ^ fingerprint) >> (64 - e->bits) == 0;
}

static unsigned plain_copies(const plain *p, unsigned home, uint64_t fingerprint) {
    unsigned copies = 0;
    for (unsigned i = 0; i < p->n; i++)
        copies += plain_match(&p->entries[i], home, fingerprint);
    return copies;
}

static void plain_shorten(plain *p, unsigned i, unsigned bits) {
    tamis_i_line_entry *const e = &p->entries[i];
    assert_true(bits >= 1 && bits <= e->bits);
    p->bits -= e->bits - bits;
    e->bits = (uint8_t)bits;
    e->fingerprint = e->fingerprint >> (64 - bits) << (64 - bits);
}

static bool plain_fits(const plain *p) {
    return p->line.homes + p->n + p->bits <= p->line.top;
}

/* The last run of those that are as long as the first loses a bit, again and again. */
static void plain_make_room(plain *p) {
    while (!plain_fits(p)) {
        unsigned last = p->n - 1; /* the last entry of the last long run */
        while (last > 0 && p->entries[last].bits < p->entries[0].bits)
            last--;
        for (unsigned i = last + 1; i-- > 0 && p->entries[i].home == p->entries[last].home;)
            plain_shorten(p, i, p->entries[i].bits - 1u);
    }
}

static unsigned plain_add(plain *p, unsigned home, uint64_t fingerprint) {
    const bool set = tamis_i_line_is_set(&p->line);
    const unsigned copies = plain_copies(p, home, fingerprint);
    unsigned at = 0, bits;
    if ((copies != 0 && (set || copies >= p->line.copies)) || p->n == p->line.most)
        return copies != 0;
    while (at < p->n && p->entries[at].home < home)
        at++;
    const bool is_new = at == p->n || p->entries[at].home != home;
    const unsigned room = (unsigned)(p->line.top - p->line.homes) - p->n - 1;
    if (p->n == 0)
        bits = (unsigned)p->line.bits_max;
    else if (!is_new)
        bits = p->entries[at].bits;
    else {
        const unsigned least = p->entries[p->n - 1].bits;
        bits = at < p->n && p->entries[at].bits > least ? p->entries[at].bits : least;
        const bool after_longs = at == 0 || p->entries[at - 1].bits > least;
        if (bits == least && after_longs && least < p->line.bits_max && p->bits + least + 1 <= room)
            bits++;
    }
    memmove(&p->entries[at + 1], &p->entries[at], (p->n - at) * sizeof p->entries[0]);
    p->entries[at] =
        (tamis_i_line_entry){.fingerprint = fingerprint, .home = (uint8_t)home, .bits = 64};
    p->n++;
    p->bits += 64;
    if (set) { /* lengths follow from the number of entries */
        const unsigned most = (unsigned)p->line.bits_max * p->n;
        const unsigned all = most < room ? most : room, r = all / p->n, e = all % p->n;
        for (unsigned i = 0, end = 0; i < p->n; i++) {
            while (end <= i || (end < p->n && p->entries[end].home == p->entries[end - 1].home))
                end++;
            plain_shorten(p, i, r + (end <= e));
        }
    } else {
        plain_shorten(p, at, bits);
        plain_make_room(p);
    }
    assert_true(plain_fits(p));
    return (copies != 0) | TAMIS_I_LINE_STORED;
}

static bool plain_drop(plain *p, unsigned home, uint64_t fingerprint) {
    unsigned at = p->n;
    while (at > 0 && !plain_match(&p->entries[at - 1], home, fingerprint))
        at--;
    if (at == 0)
        return false;
    p->bits -= p->entries[at - 1].bits;
    memmove(&p->entries[at - 1], &p->entries[at], (p->n - at) * sizeof p->entries[0]);
    p->n--;
    return true;
}

/* ---- one line ---- */

static void compare(const plain *p, const uint64_t words[8]) {
    uint64_t expected[8];
    const char *reason = "";
    plain_write(p, expected);
    assert_memory_equal(words, expected, 64);
    assert_true(tamis_i_line_check(&p->line, words, &reason));
}

static uint64_t some_fingerprint(uint64_t *random) {
    /* Every third is one of a few, so that equal ones meet. */
    const uint64_t fingerprint = test_random(random);
    return fingerprint % 3 == 0 ? fingerprint >> 62 << 62 : fingerprint;
}

/* One key, as a group and alone. */
static tamis_i_line_keys one_key(uint64_t words[8], unsigned home, uint64_t fingerprint) {
    return (tamis_i_line_keys){.at = {words}, .home = {home}, .fingerprint = {fingerprint}};
}

static void add_one(plain *p, uint64_t words[8], const tamis_i_line_ops *ops, unsigned home,
                    uint64_t fingerprint) {
    const tamis_i_line_keys key = one_key(words, home, fingerprint);
    uint64_t before[8];
    uint8_t result;
    memcpy(before, words, sizeof before);
    assert_int_equal(ops->add(&p->line, &key, 0, 1, &key, &result), 1);
    assert_int_equal(result, plain_add(p, home, fingerprint));
    compare(p, words);
    memcpy(words, before, sizeof before);
    assert_int_equal(ops->add_one(&p->line, words, home, fingerprint), result);
    compare(p, words);
}

static void drop_one(plain *p, uint64_t words[8], const tamis_i_line_ops *ops, unsigned home,
                     uint64_t fingerprint) {
    const tamis_i_line_keys key = one_key(words, home, fingerprint);
    uint64_t before[8];
    bool dropped;
    memcpy(before, words, sizeof before);
    ops->drop(&p->line, &key, 1, &key, &dropped);
    assert_int_equal(dropped, plain_drop(p, home, fingerprint));
    compare(p, words);
    memcpy(words, before, sizeof before);
    assert_int_equal(ops->drop_one(&p->line, words, home, fingerprint), dropped);
    compare(p, words);
}

static void ask_one(const plain *p, uint64_t words[8], const tamis_i_line_ops *ops, unsigned home,
                    uint64_t fingerprint) {
    const tamis_i_line_keys key = one_key(words, home, fingerprint);
    bool found;
    ops->find(&p->line, &key, 1, &key, &found);
    assert_int_equal(ops->has(&p->line, words, home, fingerprint), found);
    assert_int_equal(found, plain_copies(p, home, fingerprint) != 0);
    assert_int_equal(tamis_i_line_copies(&p->line, words, home, fingerprint),
                     plain_copies(p, home, fingerprint));
    if (p->line.passes_on) {
        const bool full = p->n == p->line.most;
        uint8_t result;
        ops->look(&p->line, &key, 1, &key, &result);
        assert_int_equal(result, found ? TAMIS_I_LINE_FOUND : full ? TAMIS_I_LINE_FULL : 0);
        assert_int_equal(ops->full(&p->line, words), full);
    }
}

/* A line between two words: kernels may read the word before it, and change neither. */
typedef struct guarded {
    uint64_t before, words[8], after;
} guarded;

#define GUARD   0x5555u
#define GUARDED ((guarded){.before = GUARD, .after = GUARD})

static void compare_guards(const guarded *g) {
    assert_int_equal(g->before, GUARD);
    assert_int_equal(g->after, GUARD);
}

/* Around a level that goes up and down, from an empty line to a full one. */
static void walk(const tamis_i_line *line, const tamis_i_line_ops *ops, uint64_t *random) {
    plain p = {.line = *line};
    guarded memory = GUARDED;
    uint64_t *const words = memory.words;
    const bool set = tamis_i_line_is_set(line);
    for (unsigned stretch = 0; stretch < (set ? 1u : 4u); stretch++) {
        const uint64_t level =
            set || stretch == 1 ? line->most + 2 : test_random_below(random, line->most + 2);
        for (unsigned step = 0; step < 2 * line->most + 20; step++) {
            const unsigned home = (unsigned)test_random_below(random, line->homes);
            const uint64_t fingerprint = some_fingerprint(random);
            if (set || test_random(random) % 16 < (p.n < level ? 13u : 3u)) {
                add_one(&p, words, ops, home, fingerprint);
            } else {
                const bool one = p.n != 0 && test_random(random) % 4 != 0;
                const unsigned i = one ? (unsigned)test_random_below(random, p.n) : 0;
                drop_one(&p, words, ops, one ? p.entries[i].home : home,
                         one ? p.entries[i].fingerprint | fingerprint >> p.entries[i].bits
                             : fingerprint);
            }
            ask_one(&p, words, ops, home, fingerprint);
            ask_one(&p, words, ops, home, some_fingerprint(random));
        }
        for (unsigned i = 0; i < p.n; i++)
            ask_one(&p, words, ops, p.entries[i].home,
                    p.entries[i].fingerprint | test_random(random) >> p.entries[i].bits);
    }
    while (p.n > 0 && !set)
        drop_one(&p, words, ops, p.entries[p.n / 2].home, p.entries[p.n / 2].fingerprint);
    compare_guards(&memory);
}

static const uint64_t some_homes[] = {1, 37, 64, 65, 96, 128};
static const uint64_t some_bits[] = {1, 4, 7, 12, 56};

/* The operations for lines of this mean load. */
static const tamis_i_line_ops *ops_at(tamis_i_line *line, uint64_t load) {
    line->load = load;
    return tamis_i_line_ops_for(line, tamis_i_cpu_features());
}

#define for_each_layout(line, copies)                                                              \
    for (unsigned layout_ = 0; layout_ < 6 * 5 * 2; layout_++)                                     \
        if (tamis_i_line_init(&(line), some_homes[layout_ % 6], some_bits[layout_ / 6 % 5],        \
                              layout_ / 30 != 0, (copies)),                                        \
            true)

static void test_line_equals_its_model(void **state) {
    (void)state;
    uint64_t random = test_seed();
    tamis_i_line line;
    for_each_layout(line, 4) {
        walk(&line, tamis_i_line_ops_for(&line, 0), &random);
        for (uint64_t load = 20; load <= 80; load += 60)
            walk(&line, ops_at(&line, load), &random);
    }
}

static void test_line_that_passes_on_equals_its_model(void **state) {
    (void)state;
    static const uint64_t limits[] = {1, 2, 31, 40, 63, 64};
    uint64_t random = test_seed() + 4;
    tamis_i_line line;
    for_each_layout(line, 0) {
        for (unsigned i = 0; i < 6 && tamis_i_line_is_set(&line); i++) {
            tamis_i_line limited = line;
            tamis_i_line_limit(&limited, limits[i]);
            walk(&limited, tamis_i_line_ops_for(&limited, 0), &random);
            for (uint64_t load = 20; load <= 80; load += 60)
                walk(&limited, ops_at(&limited, load), &random);
        }
    }
}

/* One home has most entries, so that its long run is cut as a whole, and is not the run that grows. */
static void crowd(const tamis_i_line *line, const tamis_i_line_ops *ops, uint64_t *random) {
    const bool set = tamis_i_line_is_set(line);
    for (unsigned round = 0; round < 6; round++) {
        plain p = {.line = *line};
        guarded memory = GUARDED;
        uint64_t *const words = memory.words;
        const unsigned crowded = (unsigned)test_random_below(random, line->homes);
        const uint64_t share = 1 + test_random_below(random, 7);
        for (unsigned step = 0; step < 3 * line->most / 2; step++) {
            const unsigned home = test_random_below(random, 8) < share
                                      ? crowded
                                      : (unsigned)test_random_below(random, line->homes);
            add_one(&p, words, ops, home, test_random(random));
            if (!set && step % 5 == 4) {
                const unsigned i = (unsigned)test_random_below(random, p.n);
                drop_one(&p, words, ops, p.entries[i].home, p.entries[i].fingerprint);
            }
        }
        compare_guards(&memory);
    }
}

static void test_line_with_a_crowded_home_equals_its_model(void **state) {
    (void)state;
    uint64_t random = test_seed() + 2;
    tamis_i_line line;
    for_each_layout(line, 64) {
        crowd(&line, tamis_i_line_ops_for(&line, 0), &random);
        for (uint64_t load = 20; load <= 80; load += 60)
            crowd(&line, ops_at(&line, load), &random);
    }
}

/* ---- merging ---- */

static void fill(plain *p, uint64_t words[8], unsigned n, uint64_t *random) {
    memset(words, 0, 64);
    for (unsigned tries = 0; p->n < n && tries < 4 * n; tries++)
        add_one(p, words, tamis_i_line_ops_for(&p->line, 0),
                (unsigned)test_random_below(random, p->line.homes), some_fingerprint(random));
    for (uint64_t drops = tamis_i_line_is_set(&p->line) ? 0 : test_random_below(random, p->n + 1);
         drops > 0; drops--)
        drop_one(p, words, tamis_i_line_ops_for(&p->line, 0), p->entries[p->n / 2].home,
                 p->entries[p->n / 2].fingerprint);
}

static void test_merged_lines_hold_the_entries_of_both(void **state) {
    (void)state;
    uint64_t random = test_seed() + 1;
    tamis_i_line line;
    uint64_t full = 0, merged = 0;
    for_each_layout(line, 4) {
        const bool set = tamis_i_line_is_set(&line);
        for (unsigned round = 0; round < 20; round++) {
            plain a = {.line = line}, b = {.line = line};
            uint64_t words[8], source[8], before[8];
            fill(&a, words, (unsigned)test_random_below(&random, line.most * 3 / 4), &random);
            fill(&b, source, (unsigned)test_random_below(&random, line.most * 3 / 4), &random);
            memcpy(before, words, sizeof before);
            const bool fits = tamis_i_line_merge(&line, words, source, false);
            assert_memory_equal(words, before, sizeof before);
            assert_int_equal(tamis_i_line_merge(&line, words, source, true), fits);
            if (!fits) {
                assert_memory_equal(words, before, sizeof before);
                assert_true(a.n + b.n > line.most);
                full++;
                continue;
            }
            const char *reason;
            assert_true(tamis_i_line_check(&line, words, &reason));
            tamis_i_line_entry entries[TAMIS_I_LINE_ENTRIES];
            const unsigned n = tamis_i_line_list(&line, words, entries);
            assert_true(set ? n <= a.n + b.n && n >= a.n && n >= b.n : n == a.n + b.n);
            for (unsigned i = 0; i < a.n + b.n; i++) {
                const tamis_i_line_entry *const e = i < a.n ? &a.entries[i] : &b.entries[i - a.n];
                const unsigned copies = plain_copies(&a, e->home, e->fingerprint) +
                                        plain_copies(&b, e->home, e->fingerprint);
                assert_true(tamis_i_line_copies(&line, words, e->home, e->fingerprint) >=
                            (set ? 1 : copies));
            }
            merged++;
        }
    }
    assert_true(full > 10 && merged > 1000);
}

/* Lines of sets that have most keys in common: whatever the merged line has, it finds every key, all bits of
 * its fingerprint included. */
static void test_merged_sets_find_every_key(void **state) {
    (void)state;
    uint64_t random = test_seed() + 7, merged = 0;
    for (unsigned round = 0; round < 6000; round++) {
        tamis_i_line line;
        uint64_t words[2][8] = {{0}}, fingerprint[240];
        unsigned home[240];
        bool in[240];
        tamis_i_line_init(&line, 2 + test_random_below(&random, 63), 56, true, 0);
        const unsigned n = 2 + (unsigned)test_random_below(&random, 238);
        const uint64_t share = 1 + test_random_below(&random, 99);
        for (unsigned i = 0; i < n; i++) {
            home[i] = (unsigned)test_random_below(&random, line.homes);
            fingerprint[i] = test_random(&random);
            in[i] = false;
            for (unsigned k = 0; k < 2; k++)
                if (test_random_below(&random, 100) < share)
                    in[i] |= tamis_i_line_add(&line, words[k], home[i], fingerprint[i]) != 0;
        }
        if (!tamis_i_line_merge(&line, words[0], words[1], true))
            continue;
        for (unsigned i = 0; i < n; i++)
            assert_true(!in[i] || tamis_i_line_find(&line, words[0], home[i], fingerprint[i]));
        merged++;
    }
    print_message("%u of 6000 merged\n", (unsigned)merged);
    assert_true(merged > 5700);
}

/* What is left of both fills the line, and all that is not in it is from the line that had fewer. */
static void test_merge_of_lines_that_pass_on_keeps_the_fuller(void **state) {
    (void)state;
    uint64_t random = test_seed() + 5, over = 0;
    for (unsigned round = 0; round < 2000; round++) {
        tamis_i_line line;
        const char *reason;
        tamis_i_line_init(&line, some_homes[round % 6], 20, true, 0);
        tamis_i_line_limit(&line, 12 + round % 30);
        plain a = {.line = line}, b = {.line = line};
        uint64_t words[8], source[8];
        fill(&a, words, (unsigned)test_random_below(&random, line.most + 1), &random);
        fill(&b, source, (unsigned)test_random_below(&random, line.most + 1), &random);
        assert_true(tamis_i_line_merge(&line, words, source, true));
        assert_true(tamis_i_line_check(&line, words, &reason));
        const plain *const fuller = b.n > a.n ? &b : &a, *const other = b.n > a.n ? &a : &b;
        unsigned missing = 0;
        for (unsigned i = 0; i < fuller->n; i++)
            assert_true(tamis_i_line_find(&line, words, fuller->entries[i].home,
                                          fuller->entries[i].fingerprint));
        for (unsigned i = 0; i < other->n; i++)
            missing += !tamis_i_line_find(&line, words, other->entries[i].home,
                                          other->entries[i].fingerprint);
        assert_true(missing == 0 || tamis_i_line_full(&line, words));
        over += missing;
    }
    assert_true(over > 1000);
}

/* ---- damage ---- */

/* Any line that passes the check can be worked on, and is what its own entries make. */
static void test_damaged_lines_are_refused_or_sound(void **state) {
    (void)state;
    uint64_t random = test_seed() + 2, refused = 0, sound = 0;
    tamis_i_line line;
    for_each_layout(line, 4) {
        for (unsigned round = 0; round < 50; round++) {
            plain p = {.line = line}, again = {.line = line};
            uint64_t words[8], rewritten[8];
            const char *reason = NULL;
            fill(&p, words, (unsigned)test_random_below(&random, line.most), &random);
            for (uint64_t flips = 1 + test_random(&random) % 3; flips > 0; flips--) {
                const uint64_t at = test_random_below(&random, 512);
                words[at / 64] ^= (uint64_t)1 << at % 64;
            }
            if (!tamis_i_line_check(&line, words, &reason)) {
                assert_non_null(reason);
                refused++;
                continue;
            }
            again.n = tamis_i_line_list(&line, words, again.entries);
            for (unsigned i = 0; i < again.n; i++)
                again.bits += again.entries[i].bits;
            plain_write(&again, rewritten);
            assert_memory_equal(words, rewritten, sizeof words);
            add_one(&again, words, tamis_i_line_ops_for(&line, 0), 0, test_random(&random));
            sound++;
        }
    }
    assert_true(refused > 1000 && sound > 1000);
}

/* ---- the kinds ---- */

static tamis_params tiny(tamis_kind kind, uint64_t lines, uint64_t homes, uint64_t bits_max) {
    tamis_params params = test_bare_params(kind, 50, 1);
    params.stash = 4;
    params.value[TAMIS_LINE_LINES] = lines;
    params.value[TAMIS_LINE_HOMES] = homes;
    params.value[TAMIS_LINE_BITS_MAX] = bits_max;
    return params;
}

static void test_small_lines_keep_every_copy(void **state) {
    (void)state;
    uint64_t random = test_seed() + 3;
    small_tally tally = {0};
    for (unsigned round = 0; round < 60; round++) {
        tamis_params params = tiny(TAMIS_KIND_LINE, 1, 1 + test_random_below(&random, 4),
                                   1 + test_random_below(&random, 6));
        params.seed = 1 + round;
        params.value[TAMIS_LINE_COPIES] = 1 + test_random_below(&random, 4);
        small_multiset_run(&params, &random, &tally);
    }
    assert_true(tally.stashed > 0);
}

static void test_heavy_key_takes_one_slot_of_the_stash(void **state) {
    (void)state;
    tamis_params params = tiny(TAMIS_KIND_LINE, 0, 0, 0);
    params.capacity = 800;
    params.stash = 16;
    small_heavy_key(&params);
}

/* When the stash is full too, the line is filled to its end, and then no more. */
static void test_full_line_and_stash_refuse(void **state) {
    (void)state;
    const tamis_params params = tiny(TAMIS_KIND_LINE, 1, 64, 0);
    tamis_filter *f, *loaded;
    assert_ok(tamis_filter_create(&params, NULL, &f));
    uint64_t in = 0;
    while (tamis_filter_insert_u64(f, in, NULL) == TAMIS_OK)
        in++;
    assert_int_equal(in, (512 - 9 - 64) / 2 + params.stash);
    assert_int_equal(tamis_filter_count(f), in);
    size_t size;
    unsigned char *const bytes = test_encoded(f, &size);
    assert_status(tamis_filter_insert_u64(f, in, NULL), TAMIS_E_FULL);
    assert_encoded(f, bytes, size);
    assert_ok(tamis_filter_decode(bytes, size, NULL, &loaded, NULL));
    tamis_filter_free(loaded);
    free(bytes);
    for (uint64_t key = 0; key < in; key++)
        assert_true(tamis_filter_contains_u64(f, key));
    for (uint64_t key = 0; key < in; key++)
        assert_ok(tamis_filter_remove_u64(f, key));
    assert_int_equal(tamis_filter_count(f), 0);
    tamis_filter_free(f);
}

/* A set takes any number of keys: at last it finds all that it is asked for. */
static void test_overfull_set_answers_present(void **state) {
    (void)state;
    const tamis_params params = tiny(TAMIS_KIND_LINE_SET, 1, 64, 0);
    tamis_filter *f;
    assert_ok(tamis_filter_create(&params, NULL, &f));
    for (uint64_t key = 0; key < 5000; key++)
        assert_ok(tamis_filter_insert_u64(f, key, NULL));
    for (uint64_t key = 0; key < 5000; key++)
        assert_true(tamis_filter_contains_u64(f, key));
    const tamis_info info = test_info(f);
    assert_true(info.fpr > 0.99 && info.fpr <= 1);
    tamis_filter_free(f);
}

static void test_set_stores_a_key_once(void **state) {
    (void)state;
    const tamis_params params = tiny(TAMIS_KIND_LINE_SET, 3, 64, 0);
    tamis_filter *once, *often;
    assert_ok(tamis_filter_create(&params, NULL, &once));
    assert_ok(tamis_filter_create(&params, NULL, &often));
    for (uint64_t key = 0; key < 100; key++) {
        bool added;
        assert_ok(tamis_filter_insert_u64(once, key, NULL));
        for (unsigned i = 0; i < 3; i++) {
            const bool was = tamis_filter_contains_u64(often, key);
            assert_ok(tamis_filter_insert_u64(often, key, &added));
            assert_int_equal(added, !was);
        }
    }
    assert_same(once, often);
    assert_status(tamis_filter_remove_u64(once, 1), TAMIS_E_UNSUPPORTED);
    tamis_filter_free(once);
    tamis_filter_free(often);
}

/* Merging lines that do not fit together refuses, and changes nothing. */
static void test_merge_that_does_not_fit_changes_nothing(void **state) {
    (void)state;
    const tamis_params params = tiny(TAMIS_KIND_LINE, 2, 64, 0);
    tamis_filter *a, *b;
    assert_ok(tamis_filter_create(&params, NULL, &a));
    assert_ok(tamis_filter_create(&params, NULL, &b));
    for (uint64_t key = 0; key < 250; key++) {
        assert_ok(tamis_filter_insert_u64(a, key, NULL));
        assert_ok(tamis_filter_insert_u64(b, key + 1000, NULL));
    }
    size_t size;
    unsigned char *const bytes = test_encoded(a, &size);
    assert_status(tamis_filter_merge(a, b, TAMIS_MERGE_BEYOND), TAMIS_E_FULL);
    assert_encoded(a, bytes, size);
    free(bytes);
    tamis_filter_free(a);
    tamis_filter_free(b);
}

/* ---- sets whose lines pass on ---- */

static tamis_params limited(uint64_t lines, uint64_t limit) {
    tamis_params params = tiny(TAMIS_KIND_LINE_SET, lines, 64, 20);
    params.value[TAMIS_LINE_LIMIT] = limit;
    return params;
}

/* Nothing is lost until lines and stash are full, then a key is refused and nothing changes.  Batches
 * do what single calls do. */
static void test_limited_set_fills_up_and_refuses(void **state) {
    (void)state;
    for (uint64_t lines = 1; lines <= 60; lines += 1 + lines / 3) {
        const tamis_params params = limited(lines, 1 + lines % 30);
        tamis_filter *f, *batch;
        assert_ok(tamis_filter_create(&params, NULL, &f));
        assert_ok(tamis_filter_create(&params, NULL, &batch));
        uint64_t keys[2000];
        bool present[2000], added[2000];
        for (uint64_t i = 0; i < 2000; i++)
            keys[i] = i;
        uint64_t in = 0;
        while (in < 2000 && tamis_filter_insert_u64(f, in, &added[in]) == TAMIS_OK)
            in++;
        assert_true(in < 2000 && in >= params.stash + params.value[TAMIS_LINE_LIMIT]);
        size_t size, done;
        unsigned char *const bytes = test_encoded(f, &size);
        assert_status(tamis_filter_insert_u64(f, in, NULL), TAMIS_E_FULL);
        assert_encoded(f, bytes, size);
        free(bytes);
        bool added_many[2000];
        assert_status(tamis_filter_insert_many_u64(batch, keys, 2000, added_many, &done),
                      TAMIS_E_FULL);
        assert_int_equal(done, in);
        assert_memory_equal(added_many, added, (size_t)in);
        assert_same(f, batch);
        size_t found = 0;
        (void)tamis_filter_contains_many_u64(f, keys, 2000, present);
        for (uint64_t i = 0; i < 2000; i++) {
            assert_int_equal(tamis_filter_contains_u64(f, i), present[i]);
            assert_true(present[i] || i >= in);
            found += present[i];
        }
        assert_true(found < 2000);
        tamis_filter_free(f);
        tamis_filter_free(batch);
    }
}

/* Short fingerprints match in every line that is looked at, so that a line too many or too few is seen. */
static void test_limited_set_with_full_lines_answers_alike_singly_and_in_batches(void **state) {
    (void)state;
    enum { N = 20000 };
    static uint64_t keys[N];
    static bool present[N];
    for (uint64_t i = 0; i < N; i++)
        keys[i] = i;
    for (uint64_t lines = 1; lines <= 40; lines += 13) {
        for (unsigned share = 1; share <= 3; share++) { /* of the lines that are full */
            tamis_params params = limited(lines, 30);
            params.value[TAMIS_LINE_BITS_MAX] = 3;
            tamis_filter *f;
            assert_ok(tamis_filter_create(&params, NULL, &f));
            for (uint64_t i = 0; i < N && tamis_filter_count(f) < 10 * lines * share; i++)
                if (tamis_filter_insert_u64(f, i, NULL) != TAMIS_OK)
                    break;
            size_t found = 0, differ = 0;
            const size_t told = tamis_filter_contains_many_u64(f, keys, N, present);
            for (uint64_t i = 0; i < N; i++) {
                found += present[i];
                differ += present[i] != tamis_filter_contains_u64(f, i);
            }
            assert_int_equal(differ, 0);
            assert_int_equal(found, told);
            tamis_filter_free(f);
        }
    }
}

/* Parts of a set, merged in any shares, find all keys; what does not fit changes nothing. */
static void test_limited_sets_merge(void **state) {
    (void)state;
    uint64_t random = test_seed() + 6, merged = 0, refused = 0;
    for (unsigned round = 0; round < 300; round++) {
        tamis_params params = limited(20 + round % 100, 20 + round % 15);
        const uint64_t share = test_random_below(&random, 101);
        const uint64_t room = params.value[TAMIS_LINE_LINES] * params.value[TAMIS_LINE_LIMIT];
        const uint64_t n = room * (60 + test_random_below(&random, 50)) / 100;
        const bool overlap = round % 4 == 0;
        tamis_filter *f[2];
        params.seed = 1 + round;
        for (unsigned k = 0; k < 2; k++)
            assert_ok(tamis_filter_create(&params, NULL, &f[k]));
        uint64_t in = 0;
        for (bool full = false; in < n && !full; in += !full) {
            const unsigned k = test_random_below(&random, 100) < share;
            full = tamis_filter_insert_u64(f[k], in, NULL) != TAMIS_OK;
            if (overlap && !full && in % 2 == 0)
                full = tamis_filter_insert_u64(f[!k], in, NULL) != TAMIS_OK;
        }
        size_t size;
        unsigned char *const bytes = test_encoded(f[0], &size);
        const tamis_status status = tamis_filter_merge(f[0], f[1], TAMIS_MERGE_BEYOND);
        if (status == TAMIS_OK) {
            for (uint64_t i = 0; i < in; i++)
                assert_true(tamis_filter_contains_u64(f[0], i));
            merged++;
        } else {
            assert_status(status, TAMIS_E_FULL);
            assert_encoded(f[0], bytes, size);
            refused++;
        }
        free(bytes);
        tamis_filter_free(f[0]);
        tamis_filter_free(f[1]);
    }
    print_message("%u merges, %u refused\n", (unsigned)merged, (unsigned)refused);
    assert_true(merged > 100 && refused > 10);
}

/* Such a merge needs a second table for a while: without, nothing is changed. */
static void test_limited_merge_without_memory_changes_nothing(void **state) {
    (void)state;
    const tamis_params params = limited(20, 10);
    test_allocator t;
    tamis_filter *f[2];
    size_t size;
    test_allocator_init(&t, 2);
    for (unsigned k = 0; k < 2; k++) {
        assert_ok(tamis_filter_create(&params, &t.allocator, &f[k]));
        for (uint64_t i = 0; i < 60; i++)
            assert_ok(tamis_filter_insert_u64(f[k], 1000 * k + i, NULL));
    }
    unsigned char *const bytes = test_encoded(f[0], &size);
    assert_status(tamis_filter_merge(f[0], f[1], TAMIS_MERGE_BEYOND), TAMIS_E_NOMEM);
    assert_encoded(f[0], bytes, size);
    free(bytes);
    tamis_filter_free(f[0]);
    tamis_filter_free(f[1]);
    assert_int_equal(t.live, 0);
}

/* The numbers that the state of such a set has of its own: impossible ones are refused, with and without a
 * limit. */
static void test_limited_set_with_an_impossible_state_is_refused(void **state) {
    (void)state;
    for (uint64_t limit = 0; limit <= 10; limit += 10)
        for (unsigned word = TAMIS_I_STATE_OWN; word < TAMIS_I_STATE_OWN + 2; word++) {
            const tamis_params params = limited(20, limit);
            tamis_filter *f, *loaded = NULL;
            const char *reason = NULL;
            size_t size;
            assert_ok(tamis_filter_create(&params, NULL, &f));
            for (uint64_t i = 0; i < 100; i++)
                assert_ok(tamis_filter_insert_u64(f, i, NULL));
            f->state[word] = limit == 0 ? 1 : TAMIS_I_COUNT_MAX + 1;
            unsigned char *const bytes = test_encoded(f, &size);
            assert_status(tamis_filter_decode(bytes, size, NULL, &loaded, &reason), TAMIS_E_FORMAT);
            assert_string_equal(reason, "keys were passed on farther than possible");
            free(bytes);
            tamis_filter_free(f);
        }
}

static void test_parameters_out_of_range_are_refused(void **state) {
    (void)state;
    const tamis_params good = tiny(TAMIS_KIND_LINE, 3, 64, 9);
    const small_bad bad[] = {{TAMIS_LINE_LINES, ((uint64_t)1 << 38) + 1},
                             {TAMIS_LINE_HOMES, 129},
                             {TAMIS_LINE_BITS_MAX, 57},
                             {TAMIS_LINE_COPIES, 256},
                             {TAMIS_LINE_COPIES + 1, 1}};
    small_refused(&good, bad, sizeof bad / sizeof bad[0]);
    const tamis_params set = tiny(TAMIS_KIND_LINE_SET, 3, 64, 9);
    const small_bad bad_set[] = {{TAMIS_LINE_LIMIT, 65}, {TAMIS_LINE_LIMIT + 1, 1}};
    small_refused(&set, bad_set, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_equals_its_model),
        cmocka_unit_test(test_line_that_passes_on_equals_its_model),
        cmocka_unit_test(test_line_with_a_crowded_home_equals_its_model),
        cmocka_unit_test(test_merged_lines_hold_the_entries_of_both),
        cmocka_unit_test(test_merged_sets_find_every_key),
        cmocka_unit_test(test_merge_of_lines_that_pass_on_keeps_the_fuller),
        cmocka_unit_test(test_damaged_lines_are_refused_or_sound),
        cmocka_unit_test(test_small_lines_keep_every_copy),
        cmocka_unit_test(test_heavy_key_takes_one_slot_of_the_stash),
        cmocka_unit_test(test_full_line_and_stash_refuse),
        cmocka_unit_test(test_overfull_set_answers_present),
        cmocka_unit_test(test_set_stores_a_key_once),
        cmocka_unit_test(test_merge_that_does_not_fit_changes_nothing),
        cmocka_unit_test(test_limited_set_fills_up_and_refuses),
        cmocka_unit_test(test_limited_set_with_full_lines_answers_alike_singly_and_in_batches),
        cmocka_unit_test(test_limited_sets_merge),
        cmocka_unit_test(test_limited_merge_without_memory_changes_nothing),
        cmocka_unit_test(test_limited_set_with_an_impossible_state_is_refused),
        cmocka_unit_test(test_parameters_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
