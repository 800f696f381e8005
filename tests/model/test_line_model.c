/* test_line_model.c - the model of lines against sums by hand, against simulated lines, and against
 * the whole
 *
 * The simulation knows no bits: a line is how many entries each of its homes has, and a line of the
 * back a list of the homes that its entries are of.  It follows the rules of the structure
 * (docs/line.md): what goes, where it goes, who moves for it, and when it comes back.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "kinds/line/line_bits.h"
#include "kinds/line/line_model.h"
#include "plan/planners.h"

#include <math.h>

/* ---- sums by hand ---- */

static double poisson(double mean, unsigned x) {
    double p;
    assert_ok(tamis_model_poisson(mean, x, &p));
    return p;
}

/* P(Po(mean) > x); all of it below 0. */
static double above(double mean, int x) {
    double p = 1;
    if (x >= 0)
        assert_ok(tamis_model_poisson_tail(mean, (uint64_t)x, &p));
    return p;
}

static const struct {
    unsigned homes, entries;
    double load;
} lines[] = {{90, 60, 57.6}, {91, 60, 50}, {120, 55, 60}, {81, 43, 41.5}, {44, 33, 36},
             {46, 27, 30},   {20, 49, 50}, {4, 50, 50},   {28, 17, 20},   {1, 5, 5}};
#define N_LINES (sizeof lines / sizeof *lines)

static void test_line_sums_equal_sums_by_hand(void **state) {
    (void)state;
    for (size_t i = 0; i < N_LINES; i++) {
        const double m = lines[i].load, homes = lines[i].homes, lambda = m / homes;
        const int c = (int)lines[i].entries;
        const tamis_i_line_front front = {lines[i].homes, lines[i].entries, m, true};
        double away = 0, square = 0, growth = 0;
        for (unsigned t = 1; t <= lines[i].homes; t++) {
            const double tail = above(t * lambda, c - 1);
            away += lambda * tail;
            square += lambda * tail + lambda * lambda * above(t * lambda, c - 2) +
                      2 * lambda * lambda * (homes - t) * tail;
            growth += (tail + t * lambda * poisson(t * lambda, lines[i].entries - 1)) / homes;
        }
        tamis_i_line_sums sums;
        tamis_i_line_model_sums(&front, &sums);
        assert_true(fabs(sums.cut - above(m, c)) < 2e-5);
        assert_true(fabs(sums.away / away - 1) < 1e-4);
        assert_true(fabs(sums.growth / growth - 1) < 1e-4);
        assert_true(fabs(sums.scatter / (square - away * away) - 1) < 1e-3);
        assert_true(fabs(sums.variance - (square - away * away - m * growth * growth)) <
                    2e-3 * square);
    }
}

/* The mean of e^(s a), of all numbers of entries in the homes before the first that does not fit,
 * in that, and behind. */
static double moment_by_hand(size_t i, double load, double s) {
    const unsigned homes = lines[i].homes, c = lines[i].entries;
    const double lambda = load / homes, power = exp(s), u = expm1(s);
    double sum = 1 - above(load, (int)c);
    for (unsigned t = 0; t < homes; t++)
        for (unsigned x = 0; x <= c; x++) { /* in the first t homes */
            const double before = t == 0 ? x == 0 : poisson(t * lambda, x);
            /* e^(s e) of e > c - x entries: those of a mean of lambda e^s, times e^(lambda u) */
            sum += before * exp(lambda * u) * above(lambda * power, (int)(c - x)) *
                   exp((homes - t - 1) * lambda * u);
        }
    return sum;
}

static void test_line_moments_equal_sums_by_hand(void **state) {
    (void)state;
    static const double exponents[] = {1e-3, 0.1, 0.3, 0.8};
    for (size_t i = 0; i < N_LINES; i++) {
        const tamis_i_line_front front = {lines[i].homes, lines[i].entries, lines[i].load, false};
        tamis_i_line_sums sums;
        tamis_i_line_model_sums(&front, &sums);
        for (size_t k = 0; k < sizeof exponents / sizeof *exponents; k++) {
            const double s = exponents[k], less = s * sums.growth, load = front.load * exp(-less);
            const double by_hand = front.load * (expm1(-less) + less) +
                                   log(moment_by_hand(i, load, s)) +
                                   s * tamis_i_line_model_lag(&front, sums.cut);
            const double found = tamis_i_line_model_log(&front, &sums, 1, 0, s);
            if (!(fabs(found - by_hand) < 1e-3 * fabs(by_hand) + 1e-9))
                fail_msg("%u homes, s = %g: %g and not %g", lines[i].homes, s, found, by_hand);
        }
    }
}

/* ---- lines without bits ---- */

enum { MOVES = TAMIS_I_LINE_MOVES, STASH = 4096 };

typedef struct place {
    uint32_t line;
    uint32_t home;
} place;

typedef struct simulated {
    tamis_line_shape shape;
    uint8_t *homes;   /* entries of each home of each line, here or away */
    uint8_t *here;    /* homes of a line that are here: below this */
    uint8_t *entries; /* that are here */
    bool *away;
    uint32_t *shift; /* from the first place of a line in the back to its second */
    place *back;
    uint8_t *filled; /* places of a back line */
    place stash[STASH];
    unsigned stashed, most_stashed;
    uint64_t n_away, random;
} simulated;

static void *take(size_t n, size_t size) {
    void *const p = calloc(n + 1, size);
    assert_non_null(p);
    return p;
}

/* Shifts of which no two differ by what two others do: their sums would meet again soon. */
static void draw_shifts(simulated *s, unsigned places) {
    const uint64_t n = s->shape.back_lines;
    for (unsigned i = 0; i < places && n > 1; i++) {
        for (unsigned tries = 0; tries < 200; tries++) {
            bool good = true;
            s->shift[i] = 1 + (uint32_t)test_random_below(&s->random, n - 1);
            for (unsigned j = 0; j < i; j++) {
                good = good && s->shift[i] != s->shift[j] && s->shift[i] != n - s->shift[j];
                for (unsigned k = 0; k < i && tries < 100; k++)
                    good = good && (s->shift[j] + s->shift[k]) % n != s->shift[i] &&
                           (s->shift[j] + s->shift[i]) % n != s->shift[k];
            }
            if (good)
                break;
        }
    }
}

static simulated *simulate(const tamis_line_shape *shape, uint64_t seed) {
    simulated *const s = take(1, sizeof *s);
    const size_t n = shape->lines, m = shape->back_lines;
    const unsigned places = m == 0 ? 0 : (unsigned)((n + m - 1) / m);
    s->shape = *shape;
    s->random = seed;
    s->homes = take(n * shape->homes, 1);
    s->here = take(n, 1);
    memset(s->here, (int)shape->homes, n);
    s->entries = take(n, 1);
    s->away = take(n, sizeof *s->away);
    s->shift = take(places, sizeof *s->shift);
    s->back = take(m * shape->back_entries, sizeof *s->back);
    s->filled = take(m, 1);
    draw_shifts(s, places);
    return s;
}

static void finish(simulated *s) {
    free(s->homes);
    free(s->here);
    free(s->entries);
    free(s->away);
    free(s->shift);
    free(s->back);
    free(s->filled);
    free(s);
}

static void back_lines_of(const simulated *s, uint32_t line, uint32_t *both) {
    const uint64_t m = s->shape.back_lines;
    both[0] = (uint32_t)(line % m);
    both[1] = m == 1 ? both[0] : (uint32_t)((both[0] + s->shift[line / m]) % m);
}

static place *entry_of(simulated *s, uint32_t back, unsigned i) {
    return &s->back[(size_t)back * s->shape.back_entries + i];
}

/* Make room in a full line of the back, by so many moves. */
static bool make_room(simulated *s, uint32_t back, unsigned moves) {
    for (unsigned deep = 1; deep <= moves; deep++) {
        for (unsigned i = 0; i < s->filled[back]; i++) {
            uint32_t both[2];
            back_lines_of(s, entry_of(s, back, i)->line, both);
            const uint32_t other = both[0] == back ? both[1] : both[0];
            if (other == back)
                continue;
            if (s->filled[other] == s->shape.back_entries &&
                (deep == 1 || !make_room(s, other, deep - 1)))
                continue;
            if (s->filled[back] < s->shape.back_entries) /* what moved made room here */
                return true;
            *entry_of(s, other, s->filled[other]++) = *entry_of(s, back, i);
            *entry_of(s, back, i) = *entry_of(s, back, --s->filled[back]);
            return true;
        }
    }
    return false;
}

static void give(simulated *s, uint32_t line, uint32_t home) {
    const place entry = {line, home};
    s->n_away++;
    if (s->shape.back_lines != 0) {
        uint32_t both[2];
        back_lines_of(s, line, both);
        const bool second = s->filled[both[1]] < s->filled[both[0]];
        for (unsigned i = 0; i < 2; i++) {
            const uint32_t back = both[second ? 1 - i : i];
            if (s->filled[back] < s->shape.back_entries || make_room(s, back, MOVES)) {
                *entry_of(s, back, s->filled[back]++) = entry;
                return;
            }
        }
    }
    assert_true(s->stashed < STASH);
    s->stash[s->stashed++] = entry;
    if (s->stashed > s->most_stashed)
        s->most_stashed = s->stashed;
}

/* Take back one entry of a home that is away, any of them. */
static void fetch(simulated *s, uint32_t line, uint32_t home) {
    uint32_t both[2] = {0, 0};
    s->n_away--;
    for (unsigned b = 0; b < 2 && s->shape.back_lines != 0; b++) {
        back_lines_of(s, line, both);
        const unsigned n = s->filled[both[b]],
                       from = (unsigned)test_random_below(&s->random, n + 1);
        for (unsigned i = 0; i < n; i++) {
            place *const at = entry_of(s, both[b], (from + i) % n);
            if (at->line == line && at->home == home) {
                *at = *entry_of(s, both[b], --s->filled[both[b]]);
                return;
            }
        }
    }
    for (unsigned i = 0; i < s->stashed; i++) {
        if (s->stash[i].line == line && s->stash[i].home == home) {
            s->stash[i] = s->stash[--s->stashed];
            return;
        }
    }
    fail_msg("an entry is nowhere");
}

/* The highest home below 'end' that has entries, plus one. */
static unsigned highest(const uint8_t *homes, unsigned end) {
    while (end > 0 && homes[end - 1] == 0)
        end--;
    return end;
}

static void insert(simulated *s, place p) {
    uint8_t *const homes = s->homes + (size_t)p.line * s->shape.homes;
    uint8_t *const entries = &s->entries[p.line], *const here = &s->here[p.line];
    if (p.home >= *here) {
        homes[p.home]++;
        give(s, p.line, p.home);
        return;
    }
    if (*entries == s->shape.entries) { /* the highest home goes, or a new one above it */
        const unsigned top = highest(homes, *here);
        s->away[p.line] = true;
        if (p.home + 1 >= top) {
            homes[p.home]++;
            give(s, p.line, p.home);
        }
        if (p.home + 1 > top) {
            *here = (uint8_t)top;
            return;
        }
        const unsigned gone = homes[top - 1] - (p.home + 1 == top ? 1u : 0u);
        for (unsigned i = 0; i < gone; i++)
            give(s, p.line, top - 1);
        *entries = (uint8_t)(*entries - gone);
        *here = (uint8_t)(top - 1);
        if (p.home + 1 == top) {
            *here = (uint8_t)highest(homes, *here);
            return;
        }
    }
    homes[p.home]++;
    (*entries)++;
    if (s->away[p.line])
        *here = (uint8_t)highest(homes, *here);
}

static void remove_one(simulated *s, place p) {
    uint8_t *const homes = s->homes + (size_t)p.line * s->shape.homes;
    uint8_t *const entries = &s->entries[p.line], *const here = &s->here[p.line];
    const unsigned all = s->shape.homes;
    const bool was_here = p.home < *here;
    if (was_here)
        (*entries)--;
    else
        fetch(s, p.line, p.home);
    homes[p.home]--;
    if (!s->away[p.line])
        return;
    *here = (uint8_t)highest(homes, *here);
    unsigned next = *here;
    while (next < all && homes[next] == 0)
        next++;
    if (was_here && next < all && *entries + 2u <= s->shape.entries &&
        *entries + homes[next] <= s->shape.entries) {
        for (unsigned i = 0; i < homes[next]; i++)
            fetch(s, p.line, next);
        *entries = (uint8_t)(*entries + homes[next]);
        *here = (uint8_t)++next;
        while (next < all && homes[next] == 0)
            next++;
    }
    if (next == all) {
        *here = (uint8_t)all;
        s->away[p.line] = false;
    }
}

static place draw(simulated *s) {
    return (place){(uint32_t)test_random_below(&s->random, s->shape.lines),
                   (uint32_t)test_random_below(&s->random, s->shape.homes)};
}

static void fill(simulated *s, place *keys, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        keys[i] = draw(s);
        insert(s, keys[i]);
    }
}

static void replace(simulated *s, place *keys, uint64_t n, uint64_t times) {
    for (uint64_t i = 0; i < times; i++) {
        const uint64_t k = test_random_below(&s->random, n);
        remove_one(s, keys[k]);
        keys[k] = draw(s);
        insert(s, keys[k]);
    }
}

/* ---- what is away ---- */

static tamis_line_shape shape_of(uint64_t n_lines, uint64_t back_lines, unsigned homes,
                                 unsigned prints, unsigned entries, bool set) {
    tamis_line_shape shape;
    tamis_line_shape_init(&shape);
    shape.lines = n_lines;
    shape.back_lines = back_lines;
    shape.homes = homes;
    shape.fp_bits = prints;
    shape.entries = entries;
    shape.back_entries = 30;
    shape.stash = 16;
    shape.set = set;
    return shape;
}

static double share_cut(const simulated *s) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < s->shape.lines; i++)
        n += s->away[i];
    return (double)n / (double)s->shape.lines;
}

/* With fingerprints so long that no two keys are taken for one. */
static void test_line_away_is_as_simulated(void **state) {
    (void)state;
    for (size_t i = 0; i < 7; i++) {
        const uint64_t n_lines = 6000, n = (uint64_t)((double)n_lines * lines[i].load);
        tamis_line_shape shape =
            shape_of(n_lines, n_lines / 3, lines[i].homes, 32, lines[i].entries, true);
        simulated *const s = simulate(&shape, test_seed() + i);
        place *const keys = take(n, sizeof *keys);
        double away, cut;
        fill(s, keys, n);
        assert_ok(tamis_model_line_away(&shape, n, &away, &cut));
        const tamis_i_line_front front = {lines[i].homes, lines[i].entries, lines[i].load, true};
        tamis_i_line_sums sums;
        tamis_i_line_model_sums(&front, &sums);
        const double expected = away * (double)n, sd = sqrt((double)n_lines * sums.variance);
        const double found = (double)s->n_away;
        printf("# %u homes, %u entries, %.1f keys: away %.4f, filled %.4f +- %.4f", lines[i].homes,
               lines[i].entries, lines[i].load, away, found / (double)n, sd / (double)n);
        assert_true(fabs(found - expected) < 4 * sd + 0.005 * expected);
        assert_true(fabs(share_cut(s) - cut) < 0.03);
        replace(s, keys, n, 3 * n);
        double mean = 0;
        for (unsigned k = 0; k < 4; k++) {
            replace(s, keys, n, n / 2);
            mean += (double)s->n_away / 4;
        }
        shape.set = false;
        assert_ok(tamis_model_line_away(&shape, n, &away, &cut));
        printf("; with removals %.4f, replaced %.4f\n", away, mean / (double)n);
        assert_true(mean < away * (double)n + 3 * sd); /* the lag is an upper bound */
        assert_true(mean > 0.96 * away * (double)n - 3 * sd);
        assert_true(fabs(share_cut(s) - cut) < 0.04);
        free(keys);
        finish(s);
    }
}

/* The bound on the odds of so many, against their share among many small sets. */
static void test_line_tail_is_bounded(void **state) {
    (void)state;
    enum { SETS = 20000, MOST = 2048 };
    static const uint64_t few[] = {3, 10, 30};
    for (size_t i = 0; i < 9; i++) {
        const size_t k = (i / 3) * 3; /* of lines[] */
        const uint64_t n_lines = few[i % 3], n = (uint64_t)((double)n_lines * lines[k].load);
        const tamis_line_shape shape =
            shape_of(n_lines, 0, lines[k].homes, 32, lines[k].entries, true);
        const tamis_i_line_front front = {lines[k].homes, lines[k].entries,
                                          (double)n / (double)n_lines, false};
        tamis_i_line_sums sums;
        unsigned seen[MOST] = {0};
        place *const keys = take(n, sizeof *keys);
        tamis_i_line_model_sums(&front, &sums);
        for (unsigned set = 0; set < SETS; set++) {
            simulated *const s = simulate(&shape, test_seed() + 1000 * set + i);
            fill(s, keys, n);
            seen[s->n_away < MOST ? s->n_away : MOST - 1]++;
            finish(s);
        }
        free(keys);
        unsigned checked = 0;
        for (unsigned b = MOST - 1, more = 0; b > 0 && checked < 4; b--) {
            static const double shares[] = {3e-4, 3e-3, 3e-2, 0.15};
            more += seen[b];
            if ((double)more / SETS < shares[checked])
                continue;
            double bound = 0; /* of the logarithm */
            for (double s = 2; s > 0.01; s *= 0.9)
                bound = fmin(bound,
                             tamis_i_line_model_log(&front, &sums, (double)n_lines, 0, s) - s * b);
            if (checked == 0)
                printf("# %u lines of %u: %u or more away, %.1e of sets, bound %.1e\n",
                       (unsigned)n_lines, lines[k].entries, b, (double)more / SETS, exp(bound));
            assert_true((double)more / SETS < exp(bound));
            assert_true((double)more / SETS > exp(bound) / 100);
            checked++;
        }
        assert_int_equal(checked, 4);
    }
}

/* ---- room in the back ---- */

/* Backs of planned sets: full of what is away, with all keys replaced, they keep within their
 * stash. */
static void test_line_back_has_room(void **state) {
    (void)state;
    static const struct {
        uint64_t n;
        double p;
        bool deletes;
    } sets[] = {{300000, 0.05, true}, {300000, 0.01, true},  {300000, 0.01, false},
                {300000, 1e-3, true}, {300000, 1e-4, true},  {300000, 1e-4, false},
                {300000, 1e-6, true}, {300000, 1e-6, false}, {10000, 0.01, true},
                {10000, 1e-3, false}, {10000, 1e-5, true},   {1000, 0.01, true},
                {1000, 1e-4, true},   {200, 1e-3, true}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        tamis_need need = test_need(TAMIS_KIND_LINE, sets[i].n, sets[i].p);
        tamis_plan plan;
        tamis_plan_init(&plan);
        need.failure_max = 1e-6;
        need.lines_max = INFINITY;
        need.deletes = sets[i].deletes;
        assert_ok(tamis_i_plan_line(&need, &plan));
        const uint64_t *const v = plan.params.value;
        unsigned bits = 0;
        while (1u << bits < v[TAMIS_LINE_HOMES])
            bits++;
        tamis_i_line_shape front, back = {.capacity = 0};
        const unsigned prints = (unsigned)v[TAMIS_LINE_FINGERPRINT_BITS];
        assert_true(tamis_i_line_bits_shape((unsigned)v[TAMIS_LINE_HOMES], prints, 0, &front));
        assert_true(
            v[TAMIS_LINE_BACK_LINES] == 0 ||
            tamis_i_line_bits_shape((unsigned)v[TAMIS_LINE_BACK_HOMES], prints + bits, 0, &back));
        tamis_line_shape shape = shape_of(v[TAMIS_LINE_LINES], v[TAMIS_LINE_BACK_LINES],
                                          front.homes, prints, front.capacity, !need.deletes);
        shape.back_entries = back.capacity;
        shape.stash = plan.params.stash;
        simulated *const s = simulate(&shape, test_seed() + i);
        const uint64_t n =
            need.deletes ? sets[i].n : (uint64_t)((double)sets[i].n * (1 - sets[i].p / 2));
        place *const keys = take(n, sizeof *keys);
        fill(s, keys, n);
        if (need.deletes)
            replace(s, keys, n, sets[i].n > 100000 ? 3 * n : 50 * n);
        printf("# %u keys, %g%s: %u of %u in the stash, %.3f of the back filled\n",
               (unsigned)sets[i].n, sets[i].p, need.deletes ? ", replaced" : "", s->most_stashed,
               (unsigned)shape.stash,
               back.capacity == 0
                   ? 0.
                   : (double)(s->n_away - s->stashed) / (double)(shape.back_lines * back.capacity));
        assert_true(s->most_stashed <= shape.stash);
        free(keys);
        finish(s);
    }
}

/* ---- its domain ---- */

static void test_line_model_refuses_what_is_no_shape(void **state) {
    (void)state;
    const tamis_line_shape good = shape_of(100, 10, 90, 6, 60, false);
    double x = -1, y = -1;
    for (unsigned i = 0; i < 14; i++) {
        tamis_line_shape s = good;
        uint64_t n = 5000;
        unsigned *const small[] = {&s.homes,   &s.homes,   &s.fp_bits,      &s.fp_bits,
                                   &s.entries, &s.entries, &s.back_entries, &s.back_entries};
        static const unsigned bad[] = {0, 127, 0, 41, 1, 64, 1, 64};
        uint64_t *const large[] = {&s.lines, &s.lines, &s.back_lines, &s.stash, &n, &n};
        static const uint64_t most = ((uint64_t)1 << 40) + 1;
        const uint64_t beyond[] = {0, most, most, most, 0, most};
        if (i < 8)
            *small[i] = bad[i];
        else
            *large[i - 8] = beyond[i - 8];
        assert_status(tamis_model_line_fpr(&s, n, &x), TAMIS_E_DOMAIN);
        assert_status(tamis_model_line_away(&s, n, &x, &y), TAMIS_E_DOMAIN);
        assert_status(tamis_model_line_overflow(&s, n, &x), TAMIS_E_DOMAIN);
        assert_status(tamis_model_line_lines(&s, n, &x, &y), TAMIS_E_DOMAIN);
        s.struct_size = 4;
        assert_status(tamis_model_line_fpr(&s, n, &x), TAMIS_E_ARGUMENT);
    }
    assert_true(x == -1 && y == -1);
    assert_ok(tamis_model_line_fpr(&good, 5760, &x));
    assert_true(fabs(x / -expm1(-0.01) - 1) < 1e-4); /* 5760 keys in 576,000 cells */
}

/* More keys, and a smaller back or stash, never make it safer; what fits in one line is safe. */
static void test_line_overflow_follows_the_room(void **state) {
    (void)state;
    double before = 2;
    for (uint64_t back = 4; back < 40; back += 3) {
        const tamis_line_shape s = shape_of(170, back, 91, 6, 60, false);
        double odds;
        assert_ok(tamis_model_line_overflow(&s, 10000, &odds));
        assert_true(odds <= before && odds >= 0);
        before = odds;
    }
    assert_true(before < 1e-12);
    before = 0;
    for (uint64_t n = 8000; n < 12000; n += 500) {
        const tamis_line_shape s = shape_of(170, 20, 91, 6, 60, false);
        double odds;
        assert_ok(tamis_model_line_overflow(&s, n, &odds));
        assert_true(odds >= before && odds <= 1);
        before = odds;
    }
    assert_true(before == 1);
    const tamis_line_shape one = shape_of(1, 0, 90, 6, 60, false);
    assert_ok(tamis_model_line_overflow(&one, 60, &before));
    assert_true(before == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_sums_equal_sums_by_hand),
        cmocka_unit_test(test_line_moments_equal_sums_by_hand),
        cmocka_unit_test(test_line_away_is_as_simulated),
        cmocka_unit_test(test_line_tail_is_bounded),
        cmocka_unit_test(test_line_back_has_room),
        cmocka_unit_test(test_line_model_refuses_what_is_no_shape),
        cmocka_unit_test(test_line_overflow_follows_the_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
