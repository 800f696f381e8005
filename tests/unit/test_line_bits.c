/* test_line_bits.c - one line against plain arrays, for every shape that there can be
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "kinds/line/line_bits.h"

/* What a line holds, in the order in which it has to stand there. */
typedef struct plain {
    unsigned n;
    unsigned home[TAMIS_I_LINE_ENTRIES_MAX];
    uint64_t fingerprint[TAMIS_I_LINE_ENTRIES_MAX];
} plain;

static unsigned plain_from(const plain *p, unsigned home) {
    unsigned at = 0;
    while (at < p->n && p->home[at] < home)
        at++;
    return at;
}

static void plain_add(plain *p, unsigned home, uint64_t fingerprint) {
    const unsigned at = plain_from(p, home);
    for (unsigned i = p->n++; i > at; i--) {
        p->home[i] = p->home[i - 1];
        p->fingerprint[i] = p->fingerprint[i - 1];
    }
    p->home[at] = home;
    p->fingerprint[at] = fingerprint;
}

static void plain_drop(plain *p, unsigned at) {
    p->n--;
    for (unsigned i = at; i < p->n; i++) {
        p->home[i] = p->home[i + 1];
        p->fingerprint[i] = p->fingerprint[i + 1];
    }
}

/* The words that a line with these entries has, bit by bit as the drawing of line_bits.h says. */
static void plain_line(const plain *p, const tamis_i_line_shape *shape, bool away, uint64_t *line) {
    memset(line, 0, TAMIS_LINE_BYTES);
#define SET(bit) line[(bit) / 64] |= UINT64_C(1) << (bit) % 64
    for (unsigned i = 0; i < p->n; i++) {
        SET(p->home[i]);
        if (i > 0 && p->home[i] != p->home[i - 1])
            SET(shape->homes + i);
        for (unsigned j = 0; j < shape->planes; j++)
            if ((p->fingerprint[i] >> j & 1) != 0)
                SET(shape->plane[0] + j * shape->capacity + i);
    }
    if (p->n > 0)
        SET(shape->homes + p->n);
    if (away)
        SET(shape->homes);
#undef SET
}

static void assert_line(const plain *p, const tamis_i_line_shape *shape, bool away,
                        const uint64_t *line) {
    uint64_t expected[TAMIS_LINE_WORDS];
    const char *reason = NULL;
    plain_line(p, shape, away, expected);
    assert_memory_equal(line, expected, sizeof expected);
    assert_true(tamis_i_line_bits_check(shape, line, &reason));
    assert_int_equal(tamis_i_line_bits_count(shape, line), p->n);
    assert_int_equal(tamis_i_line_bits_away(shape, line), away);
    const int highest = p->n == 0 ? -1 : (int)p->home[p->n - 1];
    assert_int_equal(tamis_i_line_bits_highest(shape, line), highest);
}

static void assert_questions(const plain *p, const tamis_i_line_shape *shape, const uint64_t *line,
                             unsigned home, uint64_t fingerprint, uint64_t mask) {
    uint64_t places = 0;
    for (unsigned i = 0; i < p->n; i++)
        if (p->home[i] == home && ((p->fingerprint[i] ^ fingerprint) & mask) == 0)
            places |= UINT64_C(1) << i;
    assert_true(tamis_i_line_bits_look(shape, line, home, fingerprint, mask) == places);
    const tamis_i_line_run run = tamis_i_line_bits_run(shape, line, home);
    assert_int_equal(run.from, plain_from(p, home));
    assert_int_equal(run.end, plain_from(p, home + 1));
    assert_int_equal(tamis_i_line_bits_above(shape, line, home),
                     p->n == 0 || p->home[p->n - 1] < home);
}

/* Calls at random: full lines, empty ones, many entries of one home. */
static void run_shape(const tamis_i_line_shape *shape, uint64_t seed, unsigned calls) {
    const uint64_t planes = shape->planes == 64 ? UINT64_MAX : (UINT64_C(1) << shape->planes) - 1;
    uint64_t line[TAMIS_LINE_WORDS] = {0}, random = seed;
    plain p = {.n = 0};
    bool away = false;
    for (unsigned i = 0; i < calls; i++) {
        const uint64_t draw = test_random(&random), values = test_random(&random);
        const unsigned crowd = (i / 97) % 3; /* of homes: all, a few, one */
        const unsigned home = (unsigned)(draw % (crowd == 0   ? shape->homes
                                                 : crowd == 1 ? 3
                                                              : 1)) %
                              shape->homes;
        const uint64_t fingerprint = crowd == 0 ? values & planes : values & planes & 3;
        const bool grows = (i / 61) % 2 == 0;
        if (p.n < shape->capacity && (p.n == 0 || (draw >> 32) % 4 < (grows ? 3u : 1u))) {
            tamis_i_line_bits_add(shape, line, home, fingerprint);
            plain_add(&p, home, fingerprint);
        } else if ((draw >> 40) % 32 == 0) {
            tamis_i_line_bits_drop_highest(shape, line);
            for (const unsigned top = p.home[p.n - 1]; p.n > 0 && p.home[p.n - 1] == top;)
                plain_drop(&p, p.n - 1);
        } else if ((draw >> 40) % 8 == 0) {
            const unsigned at = (unsigned)((draw >> 20) % p.n);
            tamis_i_line_bits_put(shape, line, at, fingerprint, 5);
            p.fingerprint[at] ^= (p.fingerprint[at] ^ fingerprint) & 5;
        } else {
            const unsigned at = (unsigned)((draw >> 20) % p.n);
            tamis_i_line_bits_drop(shape, line, p.home[at], at);
            plain_drop(&p, at);
        }
        if ((draw >> 50) % 16 == 0)
            tamis_i_line_bits_set_away(shape, line, away = !away);
        assert_line(&p, shape, away, line);
        assert_questions(&p, shape, line, home, fingerprint, planes);
        assert_questions(&p, shape, line, (unsigned)(values % shape->homes), values & planes,
                         planes >> 1);
        for (unsigned at = 0; at < p.n; at++)
            assert_true(tamis_i_line_bits_get(shape, line, at) == p.fingerprint[at]);
    }
}

static void test_line_bits_follow_plain_arrays(void **state) {
    (void)state;
    unsigned shapes = 0;
    for (unsigned homes = 1; homes <= TAMIS_I_LINE_HOMES_MAX; homes++)
        for (unsigned planes = 1; planes <= TAMIS_I_LINE_PLANES_MAX; planes += 1 + homes % 3) {
            tamis_i_line_shape shape;
            assert_true(tamis_i_line_bits_shape(homes, planes, 0, &shape));
            run_shape(&shape, test_seed() + homes + 1000 * planes, 40);
            shapes++;
        }
    /* those of plans */
    static const unsigned planned[][3] = {{90, 6, 60},  {86, 7, 53},  {80, 9, 43},  {88, 9, 42},
                                          {48, 13, 33}, {51, 16, 27}, {111, 6, 57}, {30, 13, 34}};
    for (unsigned i = 0; i < sizeof planned / sizeof *planned; i++) {
        tamis_i_line_shape shape;
        assert_true(tamis_i_line_bits_shape(planned[i][0], planned[i][1], 0, &shape));
        assert_int_equal(shape.capacity, planned[i][2]);
        run_shape(&shape, test_seed() + i, 4000);
    }
    printf("# %u shapes\n", shapes);
}

static void test_line_bits_shapes_out_of_range_refused(void **state) {
    (void)state;
    tamis_i_line_shape shape;
    assert_false(tamis_i_line_bits_shape(0, 6, 0, &shape));
    assert_false(tamis_i_line_bits_shape(TAMIS_I_LINE_HOMES_MAX + 1, 6, 0, &shape));
    assert_false(tamis_i_line_bits_shape(60, 0, 0, &shape));
    assert_false(tamis_i_line_bits_shape(60, TAMIS_I_LINE_PLANES_MAX + 1, 0, &shape));
}

/* Units lie within 8 bytes from the byte that they begin in, and within the line, one after the other. */
static void test_line_bits_units_are_within_eight_bytes(void **state) {
    (void)state;
    for (unsigned homes = 1; homes <= TAMIS_I_LINE_HOMES_MAX; homes++)
        for (unsigned planes = 1; planes <= TAMIS_I_LINE_PLANES_MAX; planes++) {
            tamis_i_line_shape s;
            assert_true(tamis_i_line_bits_shape(homes, planes, 0, &s));
            assert_true(s.capacity >= 2 && s.starts == homes + 1);
            assert_true(s.starts % 8 + s.capacity <= 64);
            for (unsigned j = 0; j < planes; j++) {
                assert_int_equal(s.plane[j], s.plane[0] + j * s.capacity);
                assert_true(s.plane[j] % 8 + s.capacity <= 64);
            }
            assert_in_range(s.plane[0], s.starts + s.capacity, s.starts + s.capacity + 7);
            assert_true(s.plane[planes - 1] + s.capacity <= 512);
        }
}

/* Words that anyone may have written: each invariant is missed by the check if it is not tested, and
 * questions end and stay within the line. */
static void test_line_bits_of_any_words_are_safe(void **state) {
    (void)state;
    uint64_t random = test_seed();
    tamis_i_line_shape shape;
    assert_true(tamis_i_line_bits_shape(90, 6, 0, &shape));
    unsigned sound = 0;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t line[TAMIS_LINE_WORDS] = {0};
        const char *reason = NULL;
        for (unsigned e = 0; e < i % 60; e++)
            tamis_i_line_bits_add(&shape, line, (unsigned)(test_random(&random) % 90),
                                  test_random(&random) & 63);
        for (unsigned flips = 1 + i % 5; flips > 0; flips--) {
            const unsigned bit = (unsigned)(test_random(&random) % 512);
            line[bit / 64] ^= UINT64_C(1) << bit % 64;
        }
        if (i % 4 == 0)
            for (unsigned w = 0; w < TAMIS_LINE_WORDS; w++)
                line[w] = test_random(&random);
        if (tamis_i_line_bits_check(&shape, line, &reason))
            sound++;
        else
            assert_true(reason != NULL && strlen(reason) > 8);
        for (unsigned home = 0; home < 90; home++) {
            const tamis_i_line_run run = tamis_i_line_bits_run(&shape, line, home);
            assert_true(run.from <= run.end && run.end <= shape.capacity);
            assert_true(
                tamis_i_line_bits_look(&shape, line, home, home & 63, 63) >> shape.capacity == 0);
        }
        assert_true(tamis_i_line_bits_count(&shape, line) <= shape.capacity);
        tamis_i_line_bits_drop_highest(&shape, line);
    }
    printf("# %u of 20000 sound\n", sound);
    assert_true(sound > 100 && sound < 10000); /* flips of fingerprints alone */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_bits_follow_plain_arrays),
        cmocka_unit_test(test_line_bits_shapes_out_of_range_refused),
        cmocka_unit_test(test_line_bits_units_are_within_eight_bytes),
        cmocka_unit_test(test_line_bits_of_any_words_are_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
