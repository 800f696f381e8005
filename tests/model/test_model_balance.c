/* test_model_balance.c - balanced blocks: distributions, regions, error rates, balls and bins
 *
 * The schemes are simulated on plain arrays of counters, and the local filters on arrays of bits.
 *
 * SPDX-License-Identifier: MIT
 */
#include "balance.h"
#include "support.h"

#include <math.h>

#include "tamis/model.h"

enum { ROOM = 200, LOADS = 64 };

static double mean_of(const double *p, size_t n) {
    double mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += (double)i * p[i];
    return mean;
}

static double sum_of(const double *p, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += p[i];
    return sum;
}

/* -------------------------------------------------------------------------------------------------
 * Distributions
 */

static void test_balance_bound_sums_to_one_and_keeps_mean(void **state) {
    (void)state;
    static const double loads[] = {0.01, 0.5, 1, 8, 32, 100},
                        accesses[] = {0.9, 1, 1.05, 1.2, 1.4, 3},
                        overflows[] = {0, 1e-9, 0.005, 0.3};
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++)
            for (size_t k = 0; k < 4; k++) {
                const double r = loads[i], a = accesses[j], gamma = overflows[k];
                double p[ROOM];
                unsigned k0;
                const tamis_status status = tamis_model_balance_bound(a, r, gamma, p, ROOM, &k0);
                if (a - 1 + gamma <= 0) {
                    assert_status(status, TAMIS_E_DOMAIN);
                    continue;
                }
                assert_ok(status);
                assert_true(fabs(sum_of(p, ROOM) - 1) < 1e-12);
                assert_true(fabs(mean_of(p, ROOM) / (r * (1 - gamma)) - 1) < 1e-9);
                for (unsigned l = 0; l < ROOM; l++)
                    assert_true(p[l] >= 0 && (l <= k0 + 1 || p[l] == 0));

                /* The scheme with the parameters found has the same blocks. */
                unsigned h;
                double coin, q[ROOM];
                assert_ok(tamis_model_balance_parameters(a, r, gamma, &h, &coin));
                assert_int_equal(h, k0);
                assert_ok(tamis_model_balance_loads(a * r, h, coin, q, ROOM));
                for (unsigned l = 0; l < ROOM; l++)
                    assert_true(fabs(p[l] - q[l]) < 1e-11);
            }
}

/* k0 against its definition in the paper, summed directly. */
static void test_balance_bound_k0_is_the_largest(void **state) {
    (void)state;
    for (double a = 1.05; a < 1.5; a += 0.05) {
        unsigned k0;
        assert_ok(tamis_model_balance_bound(a, 8, 0, NULL, 0, &k0));
        for (unsigned k = k0; k <= k0 + 1; k++) {
            double capped = 0;
            for (unsigned i = 0; i < 100; i++) {
                double p;
                assert_ok(tamis_model_poisson(a * 8, i, &p));
                capped += p * (i < k ? i : k);
            }
            assert_true((capped < 8) == (k == k0));
        }
    }
}

/* The fixed-point equation as the paper prints it, where it is not singular. */
static void test_balance_coin_solves_printed_equation(void **state) {
    (void)state;
    const double a = 1.2, r = 8, gamma = 0.005, t = a * r;
    unsigned h, k0;
    double p, bound[ROOM];
    assert_ok(tamis_model_balance_parameters(a, r, gamma, &h, &p));
    assert_ok(tamis_model_balance_bound(a, r, gamma, bound, ROOM, &k0));
    double sum = 0, term = 1;
    for (unsigned i = 0; i < h; i++) {
        sum += term;
        term *= t * (1 - p) / (i + 1);
    }
    const double printed = (exp(-p * t) - exp(-t) * sum) / pow(1 - p, h);
    assert_true(fabs(printed - bound[k0]) < 1e-12);
}

static void test_balance_loads_any_arrivals_sum_to_one(void **state) {
    (void)state;
    static const double arrivals[] = {0, 1e-6, 0.5, 7.9, 8, 8.1, 30, 900, 8192};
    static const double coins[] = {0, 1e-12, 0.3, 1 - 1e-12, 1};
    static double p[5000];
    for (size_t i = 0; i < 9; i++)
        for (size_t j = 0; j < 5; j++)
            for (unsigned h = 0; h <= 4096; h = h * 2 + (h < 8)) {
                assert_ok(tamis_model_balance_loads(arrivals[i], h, coins[j], p, 5000));
                assert_true(fabs(sum_of(p, 5000) - 1) < 1e-10);
                assert_true(mean_of(p, 5000) <= arrivals[i] * (1 + 1e-10));
            }
}

/* -------------------------------------------------------------------------------------------------
 * Regions and states
 */

static void test_balance_region_state_uses_up_its_accesses(void **state) {
    (void)state;
    static const double loads[] = {1, 8, 32};
    for (unsigned d = 2; d <= 4; d++)
        for (size_t i = 0; i < 3; i++)
            for (double a = 1.05; a < 1.5; a += 0.15)
                for (int s = TAMIS_BALANCE_SEQUENTIAL; s <= TAMIS_BALANCE_MHT; s++) {
                    tamis_balance_shape shape = balance_shape((tamis_balance_scheme)s, d);
                    double gamma;
                    assert_ok(tamis_model_balance_region(shape.scheme, d, a, loads[i], &gamma,
                                                         shape.shares));
                    assert_ok(tamis_model_balance_parameters(a, loads[i], gamma, &shape.threshold,
                                                             &shape.coin));
                    const tamis_balance_state found = balance_state(&shape, loads[i]);
                    assert_true(fabs(found.accesses / a - 1) < 1e-9);
                    assert_true(fabs(found.overflow / gamma - 1) < 1e-8);
                    assert_true(fabs(found.reads_present / a - 1) < 1e-9);
                    assert_true(found.reads_absent_keyed <= found.reads_absent);
                    assert_true(found.reads_absent <= d);
                    double p[ROOM], placed = 0;
                    for (unsigned c = 0; c < d; c++) {
                        assert_true(fabs(found.arrivals[c] / (a * loads[i]) - 1) < 1e-9);
                        assert_ok(tamis_model_balance_loads(found.arrivals[c], shape.threshold,
                                                            shape.coin, p, ROOM));
                        placed += mean_of(p, ROOM) / d;
                    }
                    /* For SEQUENTIAL this compares the integral with the closed form. */
                    assert_true(fabs(placed / (loads[i] * (1 - gamma)) - 1) < 1e-9);
                }
}

static void test_balance_region_mht_closed_form(void **state) {
    (void)state;
    double gamma, shares[8];
    assert_ok(tamis_model_balance_region(TAMIS_BALANCE_MHT, 3, 1.2, 8, &gamma, shares));
    const double q = (sqrt(1 + 4 * 0.2) - 1) / 2; /* q + q^2 = 0.2 */
    assert_true(fabs(gamma - q * q * q) < 1e-14);
    assert_true(fabs(shares[0] - 1 / 1.2) < 1e-14);
    assert_true(fabs(shares[2] - q * q / 1.2) < 1e-14);
    assert_true(fabs(sum_of(shares, 3) - 1) < 1e-14);
    assert_true(gamma > 0.0049 && gamma < 0.005); /* "0.49 %" */
}

static void test_balance_budget_places_the_rest_in_the_list(void **state) {
    (void)state;
    tamis_balance_shape shape = balance_shape(TAMIS_BALANCE_SEQUENTIAL, 3);
    shape.threshold = 8;
    shape.coin = 0.5;
    shape.shares[0] = 0.8;
    shape.shares[1] = shape.shares[2] = 0.1;
    for (int s = TAMIS_BALANCE_SINGLE; s <= TAMIS_BALANCE_MHT; s++) {
        shape.scheme = (tamis_balance_scheme)s;
        shape.choices = s == TAMIS_BALANCE_SINGLE ? 1 : 3;
        tamis_balance_state free, tight;
        tamis_balance_state_init(&free);
        tamis_balance_state_init(&tight);
        shape.budget = 0;
        assert_ok(tamis_model_balance_state(&shape, 9, &free));
        shape.budget = 0.9;
        assert_ok(tamis_model_balance_state(&shape, 9, &tight));
        assert_true(fabs(tight.accesses - 0.9) < 1e-9);
        assert_true(tight.overflow > free.overflow && tight.overflow < 1);
        shape.budget = 8;
        assert_ok(tamis_model_balance_state(&shape, 9, &tight));
        assert_memory_equal(&free, &tight, sizeof free);
    }
}

/* -------------------------------------------------------------------------------------------------
 * Balls and bins
 */

/* A filter of counters and bits; keys are random numbers, drawn where they are needed. */
enum { BLOCKS = 60000, BLOCK_BITS = 64 };

typedef struct bins {
    const tamis_balance_shape *shape;
    uint64_t random;
    unsigned first[8], n_blocks[8]; /* the blocks of each choice */
    unsigned char load[BLOCKS];
    uint64_t bits[BLOCKS];
    uint64_t looks, listed, keys;
} bins;

static void bins_init(bins *b, const tamis_balance_shape *shape) {
    memset(b, 0, sizeof *b);
    b->shape = shape;
    b->random = test_seed() ^ 0xba1;
    unsigned next = 0;
    for (unsigned i = 0; i < shape->choices; i++) {
        const bool parts = shape->scheme == TAMIS_BALANCE_MHT;
        b->first[i] = parts ? next : 0;
        b->n_blocks[i] = parts ? (unsigned)lround(shape->shares[i] * BLOCKS) : BLOCKS;
        if (parts && i == shape->choices - 1)
            b->n_blocks[i] = BLOCKS - next;
        next += b->n_blocks[i];
    }
}

static unsigned bins_choice(bins *b, unsigned i) {
    return b->first[i] + (unsigned)test_random_below(&b->random, b->n_blocks[i]);
}

static bool coin_falls(bins *b) {
    return (double)(test_random(&b->random) >> 11) * 0x1p-53 < b->shape->coin;
}

static uint64_t some_bits(bins *b, unsigned hashes) {
    uint64_t set = 0;
    for (unsigned i = 0; i < hashes; i++)
        set |= (uint64_t)1 << test_random_below(&b->random, BLOCK_BITS);
    return set;
}

static void bins_insert(bins *b, unsigned hashes) {
    b->keys++;
    for (unsigned i = 0; i < b->shape->choices; i++) {
        const unsigned block = bins_choice(b, i);
        b->looks++;
        if (b->load[block] < b->shape->threshold ||
            (b->load[block] == b->shape->threshold && coin_falls(b))) {
            b->load[block]++;
            b->bits[block] |= some_bits(b, hashes);
            return;
        }
    }
    b->listed++;
}

/* A query for an absent key.  If the coins are functions of key and choice, it knows its own. */
static bool bins_query(bins *b, unsigned hashes, bool keyed, uint64_t *reads) {
    for (unsigned i = 0; i < b->shape->choices; i++) {
        const unsigned block = bins_choice(b, i);
        const uint64_t wanted = some_bits(b, hashes);
        ++*reads;
        if ((b->bits[block] & wanted) == wanted)
            return true;
        if (b->load[block] < b->shape->threshold ||
            (keyed && b->load[block] == b->shape->threshold && coin_falls(b)))
            return false;
    }
    return false;
}

/* A mean of bounded quantities against the model at 99.9 %, with the spread of one term given. */
static void assert_mean(const char *what, double seen, double model, double spread, uint64_t n) {
    const double width = 3.3 * spread / sqrt((double)n) + 1e-12;
    printf("# %s: %.6f, model %.6f +- %.6f\n", what, seen, model, width);
    if (!(fabs(seen - model) <= width))
        fail_msg("%s: %g, model %g +- %g", what, seen, model, width);
}

/* Fill to 'load', compare; the keys must be few enough that their number of looks hardly varies. */
static void compare(bins *b, double load, unsigned hashes) {
    const uint64_t keys = (uint64_t)llround(load * BLOCKS);
    while (b->keys < keys)
        bins_insert(b, hashes);
    const tamis_balance_state model = balance_state(b->shape, load);
    const double n = (double)keys;
    /* A key's looks spread by less than those of independent trials with the same mean. */
    const double spread = sqrt(model.accesses * model.accesses - 1) + 1e-3;
    assert_mean("looks per insert", (double)b->looks / n, model.accesses, spread, keys);
    assert_mean("overflow", (double)b->listed / n, model.overflow,
                sqrt(model.overflow_variance / load) + 1e-3, keys);

    double p[LOADS];
    uint64_t full = 0, over = 0;
    for (unsigned i = 0; i < b->n_blocks[0]; i++) {
        full += b->load[i] == b->shape->threshold;
        over += b->load[i] > b->shape->threshold;
    }
    assert_ok(tamis_model_balance_loads(model.arrivals[0], b->shape->threshold, b->shape->coin, p,
                                        LOADS));
    assert_rate("blocks at the threshold", full, b->n_blocks[0], p[b->shape->threshold], 0);
    assert_rate("blocks above it", over, b->n_blocks[0], p[b->shape->threshold + 1], 0);

    enum { QUERIES = 400000 };
    for (int keyed = 0; keyed <= 1; keyed++) {
        uint64_t reads = 0, hits = 0;
        for (unsigned i = 0; i < QUERIES; i++)
            hits += bins_query(b, hashes, keyed, &reads);
        double fpr;
        assert_ok(tamis_model_balance_fpr(b->shape, load, keyed, BLOCK_BITS, hashes, &fpr));
        /* The blocks themselves are a sample: 60,000 of them bring in less than 0.5 %. */
        assert_rate(keyed ? "errors, keyed coin" : "errors", hits, QUERIES, fpr, 0.005);
        const double reads_model = keyed ? model.reads_absent_keyed : model.reads_absent;
        const double reads_seen = (double)reads / QUERIES;
        /* The model leaves out that an error ends a query, at most 'fpr' of the further reads. */
        assert_true(reads_seen <= reads_model + 0.02);
        assert_true(reads_seen >= reads_model - 0.02 - fpr * (b->shape->choices - 1));
    }
}

static bins *new_bins(void) {
    bins *b = malloc(sizeof *b);
    assert_non_null(b);
    return b;
}

static void compare_filling(const tamis_balance_shape *shape, double first, double second) {
    bins *b = new_bins();
    bins_init(b, shape);
    compare(b, first, 5);
    compare(b, second, 5);
    free(b);
}

static void compare_best(tamis_balance_scheme scheme) {
    for (double a = 1.1; a < 1.45; a += 0.15) {
        tamis_balance_shape shape = balance_shape(scheme, 3);
        double gamma, *const shares = scheme == TAMIS_BALANCE_MHT ? shape.shares : NULL;
        assert_ok(tamis_model_balance_region(scheme, 3, a, 8, &gamma, shares));
        assert_ok(tamis_model_balance_parameters(a, 8, gamma, &shape.threshold, &shape.coin));
        compare_filling(&shape, 6, 8);
    }
}

static void test_balance_single_simulation_agrees(void **state) {
    (void)state;
    tamis_balance_shape shape = balance_shape(TAMIS_BALANCE_SINGLE, 1);
    assert_ok(tamis_model_balance_parameters(1, 8, 0.005, &shape.threshold, &shape.coin));
    compare_filling(&shape, 4, 8);
}

static void test_balance_sequential_simulation_agrees(void **state) {
    (void)state;
    compare_best(TAMIS_BALANCE_SEQUENTIAL);
}

static void test_balance_mht_simulation_agrees(void **state) {
    (void)state;
    compare_best(TAMIS_BALANCE_MHT);
}

/* 600 fills of 60,000 keys: the relative error of a variance is 5.8 %, 19 % at 99.9 %. */
static void test_balance_overflow_variance_simulation_agrees(void **state) {
    (void)state;
    for (int s = TAMIS_BALANCE_SINGLE; s <= TAMIS_BALANCE_MHT; s++) {
        tamis_balance_shape shape =
            balance_shape((tamis_balance_scheme)s, s == TAMIS_BALANCE_SINGLE ? 1 : 3);
        const double a = s == TAMIS_BALANCE_SINGLE ? 1 : 1.2, load = 1;
        double gamma;
        assert_ok(
            tamis_model_balance_region(TAMIS_BALANCE_MHT, 3, 1.2, load, &gamma, shape.shares));
        assert_ok(tamis_model_balance_parameters(a, load, gamma, &shape.threshold, &shape.coin));
        const tamis_balance_state model = balance_state(&shape, load);
        enum { FILLS = 600 };
        bins *b = new_bins();
        uint64_t random = test_seed();
        double sum = 0, squares = 0;
        for (unsigned i = 0; i < FILLS; i++) {
            bins_init(b, &shape);
            b->random = test_random(&random);
            while (b->keys < (uint64_t)(load * BLOCKS))
                bins_insert(b, 0);
            sum += (double)b->listed;
            squares += (double)b->listed * (double)b->listed;
        }
        free(b);
        const double mean = sum / FILLS;
        const double variance = (squares - sum * mean) / (FILLS - 1);
        const double ratio = variance / (model.overflow_variance * BLOCKS);
        printf("# scheme %d: %.1f listed, model %.1f; variance %.1f, model %.1f\n", s, mean,
               model.overflow * load * BLOCKS, variance, model.overflow_variance * BLOCKS);
        if (s == TAMIS_BALANCE_SEQUENTIAL)
            assert_true(ratio < 1.19); /* an estimate from above */
        else
            assert_true(ratio > 0.81 && ratio < 1.19);
    }
}

/* -------------------------------------------------------------------------------------------------
 * Error rates of figure 4
 */

static double figure4(tamis_balance_scheme scheme, unsigned beta, bool exact) {
    const double load = 256.0 / beta;
    tamis_balance_shape shape = balance_shape(scheme, scheme == TAMIS_BALANCE_SINGLE ? 1 : 3);
    double gamma, fpr;
    assert_ok(tamis_model_balance_region(TAMIS_BALANCE_MHT, 3, 1.2, load, &gamma, shape.shares));
    assert_ok(tamis_model_balance_parameters(scheme == TAMIS_BALANCE_SINGLE ? 1 : 1.2, load, gamma,
                                             &shape.threshold, &shape.coin));
    const unsigned bits = 256 - tamis_model_balance_counter_bits(shape.threshold);
    const unsigned k = (unsigned)lround(beta * log(2));
    if (exact)
        assert_ok(tamis_model_balance_fpr(&shape, load, false, bits, k, &fpr));
    else
        assert_ok(tamis_model_balance_fpr_printed(&shape, load, bits, k, &fpr));
    return fpr;
}

static void test_balance_figure4_order_of_curves(void **state) {
    (void)state;
    for (unsigned beta = 8; beta <= 40; beta++) {
        const double single = figure4(TAMIS_BALANCE_SINGLE, beta, true);
        const double mht = figure4(TAMIS_BALANCE_MHT, beta, true);
        double blocked;
        assert_ok(
            tamis_model_blocked(256, 256.0 / beta, (unsigned)lround(beta * log(2)), &blocked));
        assert_true((mht < blocked) == (beta >= 17));
        if (beta >= 20)
            assert_true(mht < single && single < blocked);
        assert_true(figure4(TAMIS_BALANCE_MHT, beta, false) < mht); /* phi is too low */
        if (beta == 32)
            assert_true(mht < blocked / 20);
        if (beta >= 39)
            assert_true(mht < blocked / 100); /* "two orders of magnitude" */
    }
}

/* Ten keys in 64 blocks: each that is refused is the third of a block at least, and there are so
 * many triples. */
static void test_balance_few_keys_are_seldom_refused(void **state) {
    (void)state;
    tamis_balance_shape shape = balance_shape(TAMIS_BALANCE_SINGLE, 1);
    shape.threshold = 2;
    shape.coin = 0.5;
    shape.blocks = 64;
    shape.shares[0] = 1;
    const tamis_balance_state found = balance_state(&shape, 10.0 / 64);
    assert_true(found.overflow > 0 && found.overflow < 120.0 / (64 * 64) / 10);
}

/* With one choice and room for all, it is the mean over Poisson loads. */
static void test_balance_printed_rate_of_one_choice(void **state) {
    (void)state;
    tamis_balance_shape shape = balance_shape(TAMIS_BALANCE_SINGLE, 1);
    shape.threshold = 80;
    shape.shares[0] = 1;
    double fpr, sum = 0, weight = exp(-8);
    for (int j = 1; j <= 80; j++) {
        weight *= 8.0 / j;
        sum += weight * pow(1 - exp(-6.0 * j / 250), 6);
    }
    assert_ok(tamis_model_balance_fpr_printed(&shape, 8, 250, 6, &fpr));
    assert_true(fabs(fpr / sum - 1) < 1e-9);
}

static void test_balance_counter_bits_hold_the_largest_load(void **state) {
    (void)state;
    for (unsigned h = 0; h < 300; h++) {
        const unsigned bits = tamis_model_balance_counter_bits(h);
        assert_int_equal(bits, (unsigned)ceil(log2(h + 2)));
    }
}

/* -------------------------------------------------------------------------------------------------
 * Edges
 */

static void test_balance_edges_empty_filter(void **state) {
    (void)state;
    tamis_balance_shape shape = balance_shape(TAMIS_BALANCE_SEQUENTIAL, 2);
    shape.threshold = 5;
    shape.coin = 0.5;
    shape.shares[0] = 0.75;
    shape.shares[1] = 0.25;
    for (int s = TAMIS_BALANCE_SEQUENTIAL; s <= TAMIS_BALANCE_MHT; s++) {
        shape.scheme = (tamis_balance_scheme)s;
        const tamis_balance_state found = balance_state(&shape, 0);
        assert_true(found.accesses == 1 && found.overflow == 0 && found.reads_absent == 1);
        double fpr;
        assert_ok(tamis_model_balance_fpr(&shape, 0, true, 64, 4, &fpr));
        assert_true(fpr == 0);
    }
    /* No slot at all: everything goes to the list after all choices. */
    shape.threshold = 0;
    shape.coin = 0;
    const tamis_balance_state found = balance_state(&shape, 3);
    assert_true(fabs(found.overflow - 1) < 1e-12 && fabs(found.accesses - 2) < 1e-12);
}

static void test_balance_domain_refused_and_untouched(void **state) {
    (void)state;
    unsigned k0 = 77, h = 77;
    double value = -1, p[ROOM] = {-1};
    /* One access and no list: the loads have no largest. */
    assert_status(tamis_model_balance_bound(1, 8, 0, p, ROOM, &k0), TAMIS_E_DOMAIN);
    assert_status(tamis_model_balance_parameters(1, 8, 0, &h, &value), TAMIS_E_DOMAIN);
    static const double bad[][3] = {{NAN, 8, 0.1}, {1.2, NAN, 0.1}, {1.2, 8, NAN}, {0, 8, 0.1},
                                    {1.2, 0, 0.1}, {1.2, 8, 1},     {1.2, 8, -1},  {9, 8, 0},
                                    {0.5, 8, 0.4}, {1.2, 2000, 0},  {1.2, -8, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const double *b = bad[i];
        assert_status(tamis_model_balance_bound(b[0], b[1], b[2], p, ROOM, &k0), TAMIS_E_DOMAIN);
        assert_status(tamis_model_balance_parameters(b[0], b[1], b[2], &h, &value), TAMIS_E_DOMAIN);
    }
    assert_status(tamis_model_balance_bound(1.2, 8, 0, p, 9, &k0), TAMIS_E_DOMAIN);
    const int sequential = TAMIS_BALANCE_SEQUENTIAL, mht = TAMIS_BALANCE_MHT;
    for (int s = sequential; s <= mht; s++) {
        const tamis_balance_scheme scheme = (tamis_balance_scheme)s;
        assert_status(tamis_model_balance_region(scheme, 3, 1, 8, &value, p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_balance_region(scheme, 3, 3, 8, &value, p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_balance_region(scheme, 1, 1.2, 8, &value, p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_balance_region(scheme, 9, 1.2, 8, &value, p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_balance_region(scheme, 3, NAN, 8, &value, p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_balance_region(scheme, 3, 1.2, NAN, &value, p), TAMIS_E_DOMAIN);
    }
    assert_status(tamis_model_balance_region(TAMIS_BALANCE_SINGLE, 3, 1.2, 8, &value, p),
                  TAMIS_E_DOMAIN);
    assert_status(tamis_model_balance_loads(NAN, 8, 0.5, p, ROOM), TAMIS_E_DOMAIN);
    assert_status(tamis_model_balance_loads(8, 8, 1.5, p, ROOM), TAMIS_E_DOMAIN);
    assert_status(tamis_model_balance_loads(8, 8, NAN, p, ROOM), TAMIS_E_DOMAIN);
    assert_status(tamis_model_balance_loads(8, 8, 0.5, p, 9), TAMIS_E_DOMAIN);
    assert_true(value == -1 && p[0] == -1 && k0 == 77 && h == 77);
}

static void test_balance_domain_bad_shape_refused(void **state) {
    (void)state;
    tamis_balance_shape good = balance_shape(TAMIS_BALANCE_MHT, 2);
    good.threshold = 5;
    good.coin = 0.5;
    good.shares[0] = 0.75;
    good.shares[1] = 0.25;
    tamis_balance_shape bad[9];
    for (size_t i = 0; i < 9; i++)
        bad[i] = good;
    bad[0].scheme = (tamis_balance_scheme)0;
    bad[1].choices = 0;
    bad[2].choices = 9;
    bad[3].coin = NAN;
    bad[4].shares[0] = 0.5;
    bad[5].shares[1] = NAN;
    bad[6].budget = -1;
    bad[7].threshold = 4097;
    bad[8].scheme = TAMIS_BALANCE_SINGLE;
    tamis_balance_state found;
    tamis_balance_state_init(&found);
    found.accesses = -1;
    double fpr = -1;
    for (size_t i = 0; i < 9; i++) {
        assert_status(tamis_model_balance_state(&bad[i], 4, &found), TAMIS_E_DOMAIN);
        assert_status(tamis_model_balance_fpr(&bad[i], 4, false, 64, 4, &fpr), TAMIS_E_DOMAIN);
        assert_status(tamis_model_balance_fpr_printed(&bad[i], 4, 64, 4, &fpr), TAMIS_E_DOMAIN);
    }
    assert_status(tamis_model_balance_state(&good, NAN, &found), TAMIS_E_DOMAIN);
    assert_status(tamis_model_balance_state(&good, 1025, &found), TAMIS_E_DOMAIN);
    assert_status(tamis_model_balance_fpr(&good, 4, false, 0, 4, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_balance_fpr(&good, 4, false, 64, 0, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_balance_fpr(&good, 4, false, 5000, 4, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_balance_fpr(&good, 4, false, 64, 65, &fpr), TAMIS_E_DOMAIN);
    good.struct_size = 1;
    assert_status(tamis_model_balance_state(&good, 4, &found), TAMIS_E_ARGUMENT);
    assert_true(fpr == -1 && found.accesses == -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_balance_bound_sums_to_one_and_keeps_mean),
        cmocka_unit_test(test_balance_bound_k0_is_the_largest),
        cmocka_unit_test(test_balance_coin_solves_printed_equation),
        cmocka_unit_test(test_balance_loads_any_arrivals_sum_to_one),
        cmocka_unit_test(test_balance_region_state_uses_up_its_accesses),
        cmocka_unit_test(test_balance_region_mht_closed_form),
        cmocka_unit_test(test_balance_budget_places_the_rest_in_the_list),
        cmocka_unit_test(test_balance_single_simulation_agrees),
        cmocka_unit_test(test_balance_sequential_simulation_agrees),
        cmocka_unit_test(test_balance_mht_simulation_agrees),
        cmocka_unit_test(test_balance_overflow_variance_simulation_agrees),
        cmocka_unit_test(test_balance_figure4_order_of_curves),
        cmocka_unit_test(test_balance_few_keys_are_seldom_refused),
        cmocka_unit_test(test_balance_printed_rate_of_one_choice),
        cmocka_unit_test(test_balance_counter_bits_hold_the_largest_load),
        cmocka_unit_test(test_balance_edges_empty_filter),
        cmocka_unit_test(test_balance_domain_refused_and_untouched),
        cmocka_unit_test(test_balance_domain_bad_shape_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
