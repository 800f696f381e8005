/* multilevel.c - how the items spread over a multilevel hash table, and which move in a rebuild
 *
 * A multilevel hash table is a row of sub-tables T_1 ... T_d with one slot per bucket.  An item
 * goes to the first sub-table where its bucket is empty; if there is none, that is a crisis.
 *
 * Symbols: n = items, d = sub-tables, m = buckets of a sub-table, j = items that reach a sub-table,
 * l = items that leave it again because their bucket was taken, b = j - l = items that stay.
 *
 * Whatever the order of the items, as many stay in a sub-table as j random throws hit buckets.  So the
 * sub-tables form a chain: l of one is j of the next, and a crisis is l > 0 after the last.
 *
 * Approximation (equation (1)): use the mean instead of the random number at every step.
 *
 * Exact calculation (appendix III, equation (3)): one more throw hits an empty bucket, and b grows, or
 * an occupied one, and l grows.  Written for l at a fixed number of throws,
 *
 *     p_j[l] = (p_{j-1}[l] (m - (j-1-l)) + p_{j-1}[l-1] (j-l)) / m,       p_0[0] = 1.
 *
 * There are only products and sums of positive numbers here: every entry, however small, keeps its
 * relative accuracy.  So sums of tails have it too, where one minus a head would be round-off.
 *
 * The cost would be the square of n.  But l lies within a few dozen standard deviations (about the root
 * of n) of its mean, and only that window is kept.  An entry at its edge that falls below 1e-100 is
 * dropped and its value added to the mass neglected.  A dropped path of the chain is missing from then
 * on, and no other mass is ever lost.  So the sum of the dropped values bounds the error of any
 * probability.  The number of steps is then n^1.5 times a constant.
 *
 * Confirmed by tests/model/test_model_multilevel.c: enumeration of all throws for tiny tables,
 * simulation up to 10,000 items, the printed values of the paper.
 *
 * After Kirsch and Mitzenmacher, "Simple Summaries for Hashing With Choices", IEEE/ACM Transactions
 * on Networking 16(1), 2008, sections VI and XI-A, appendix III.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tamis/model.h"

#include <math.h>

#include "base/base.h"
#include "model/multilevel.h"

/* Entries below this are not worth their arithmetic. */
static const double negligible = 1e-100;

/* Arrays of n + 2 doubles in the work space: the window before and after a throw and the outcome of one
 * sub-table; the distribution between the sub-tables and the items placed, for callers that walk
 * through all of them. */
enum { ARRAY_BEFORE, ARRAY_AFTER, ARRAY_OUTCOME, ARRAY_WAITING, ARRAY_PLACED, N_ARRAYS };
_Static_assert(TAMIS_MULTILEVEL_WORK(1) == N_ARRAYS * 3, "the public constant is what is used");

static bool model_multilevel_valid_tables(const uint64_t *buckets, unsigned n_tables) {
    if (n_tables < 1 || n_tables > TAMIS_MULTILEVEL_TABLES_MAX)
        return false;
    for (unsigned i = 0; i < n_tables; i++)
        if (buckets[i] < 1 || buckets[i] > TAMIS_MULTILEVEL_BUCKETS_MAX)
            return false;
    return true;
}

size_t tamis_model_multilevel_work(uint64_t n) {
    return n <= TAMIS_MULTILEVEL_ITEMS_MAX ? TAMIS_MULTILEVEL_WORK(n) : 0;
}

tamis_status tamis_model_multilevel_sizes(uint64_t n, double first, double ratio, unsigned n_tables,
                                          uint64_t *buckets) {
    if (n_tables < 1 || n_tables > TAMIS_MULTILEVEL_TABLES_MAX || !(first > 0 && isfinite(first)) ||
        !(ratio > 0 && ratio <= 1) || n < 1 ||
        !(first * (double)n <= (double)TAMIS_MULTILEVEL_BUCKETS_MAX))
        return TAMIS_E_DOMAIN;
    for (unsigned i = 0; i < n_tables; i++) {
        /* 0.1 * 30 is slightly above 3 in binary and must not become 4. */
        const double size = first * (double)n * pow(ratio, i);
        const double rounded = ceil(size * (1 - 1e-13));
        buckets[i] = rounded < 1 ? 1 : (uint64_t)rounded;
    }
    return TAMIS_OK;
}

tamis_status tamis_model_multilevel_approx(double n, const uint64_t *buckets, unsigned n_tables,
                                           double *items) {
    if (!(n >= 0 && n <= (double)TAMIS_MULTILEVEL_BUCKETS_MAX) ||
        !model_multilevel_valid_tables(buckets, n_tables))
        return TAMIS_E_DOMAIN;
    double left = n;
    for (unsigned i = 0; i < n_tables; i++) {
        const double m = (double)buckets[i];
        /* One bucket takes one item: log1p(-1) does not work there. */
        items[i] = m > 1 ? -m * expm1(left * log1p(-1 / m)) : left < 1 ? left : 1;
        left -= items[i];
    }
    return TAMIS_OK;
}

/* The distribution of l after some number of throws, within the window lo..hi. */
typedef struct window {
    double *p;     /* by l */
    double *spare; /* where the next throw goes */
    int lo;
    int hi;
    double dropped; /* probability of having left the window in this or an earlier throw */
} window;

/* Throw number j (from 1) into m buckets.  The loop is written for the compiler's vector unit: two
 * arrays, and an index that fits the conversion to double. */
static void model_multilevel_throw_one(window *w, int j, double m) {
    const double *const restrict p = w->p;
    double *const restrict q = w->spare;
    const int lo = w->lo;
    const int hi = w->hi;
    const double thrown = j - 1;
    q[lo] = p[lo] * (m - (thrown - lo)) / m;
    for (int l = lo + 1; l <= hi; l++) {
        const double occupied = thrown - l;
        q[l] = (p[l] * (m - occupied) + p[l - 1] * (occupied + 1)) / m;
    }
    q[hi + 1] = p[hi] * (thrown - hi) / m;

    w->spare = w->p;
    w->p = q;
    w->hi = hi + 1;
    while (w->lo < w->hi && q[w->lo] < negligible)
        w->dropped += q[w->lo++];
    while (w->hi > w->lo && q[w->hi] < negligible)
        w->dropped += q[w->hi--];
}

/* Add to 'outcome' and 'placed' what happens if j items come; 'probability' is the chance that they do. */
static void model_multilevel_collect(const window *w, int j, double probability,
                                     double *restrict outcome, double *restrict placed) {
    const double *const restrict p = w->p;
    for (int l = w->lo; l <= w->hi; l++) {
        const double joint = probability * p[l];
        outcome[l] += joint;
        placed[l] += joint * (double)(j - l);
    }
}

static void model_multilevel_fill_zero(double *array, uint64_t n) {
    for (uint64_t i = 0; i <= n; i++)
        array[i] = 0;
}

/* One sub-table; the arguments are valid. */
static void model_multilevel_pass_table(uint64_t n, uint64_t buckets, double *waiting,
                                        double *placed, double *work, double *neglected) {
    double lost = 0;
    uint64_t first = 0;
    uint64_t last = n;
    while (last > first && waiting[last] < negligible)
        lost += waiting[last--];
    while (first < last && waiting[first] < negligible)
        lost += waiting[first++];

    double *const outcome = work + ARRAY_OUTCOME * (n + 2);
    model_multilevel_fill_zero(outcome, n);
    model_multilevel_fill_zero(placed, n);
    if (first == 0)
        outcome[0] = waiting[0];

    window w = {.p = work + ARRAY_BEFORE * (n + 2), .spare = work + ARRAY_AFTER * (n + 2)};
    w.p[0] = 1;
    for (uint64_t j = 1; j <= last; j++) {
        model_multilevel_throw_one(&w, (int)j, (double)buckets);
        if (j >= first && waiting[j] > 0) {
            model_multilevel_collect(&w, (int)j, waiting[j], outcome, placed);
            lost += waiting[j] * w.dropped;
        }
    }
    for (uint64_t x = 0; x <= n; x++)
        waiting[x] = outcome[x];
    *neglected += lost;
}

tamis_status tamis_model_multilevel_level(uint64_t n, uint64_t buckets, double *waiting,
                                          double *placed, double *work, size_t work_len,
                                          double *neglected) {
    if (n > TAMIS_MULTILEVEL_ITEMS_MAX || !model_multilevel_valid_tables(&buckets, 1))
        return TAMIS_E_DOMAIN;
    double sum = 0;
    for (uint64_t x = 0; x <= n; x++) {
        if (!(waiting[x] >= 0))
            return TAMIS_E_DOMAIN;
        sum += waiting[x];
    }
    if (!(sum <= 1 + 1e-6) || !(*neglected >= 0))
        return TAMIS_E_DOMAIN;
    if (work_len < tamis_model_multilevel_work(n))
        return TAMIS_E_ARGUMENT;
    model_multilevel_pass_table(n, buckets, waiting,
                                placed != NULL ? placed : work + ARRAY_PLACED * (n + 2), work,
                                neglected);
    return TAMIS_OK;
}

tamis_status tamis_i_multilevel_start(tamis_i_multilevel_walk *walk, uint64_t n,
                                      const uint64_t *buckets, unsigned n_tables, double *work,
                                      size_t work_len) {
    if (n > TAMIS_MULTILEVEL_ITEMS_MAX || !model_multilevel_valid_tables(buckets, n_tables))
        return TAMIS_E_DOMAIN;
    if (work_len < tamis_model_multilevel_work(n))
        return TAMIS_E_ARGUMENT;
    *walk = (tamis_i_multilevel_walk){
        .n = n,
        .work = work,
        .waiting = work + ARRAY_WAITING * (n + 2),
        .placed = work + ARRAY_PLACED * (n + 2),
    };
    model_multilevel_fill_zero(walk->waiting, n);
    walk->waiting[n] = 1;
    return TAMIS_OK;
}

void tamis_i_multilevel_pass(tamis_i_multilevel_walk *walk, uint64_t buckets) {
    model_multilevel_pass_table(walk->n, buckets, walk->waiting, walk->placed, walk->work,
                                &walk->neglected);
}

/* Sums from the far end of the tail, so small entries are added to small sums. */
double tamis_i_multilevel_crisis(const tamis_i_multilevel_walk *walk) {
    double sum = 0;
    for (uint64_t x = walk->n; x >= 1; x--)
        sum += walk->waiting[x];
    return sum;
}

static double model_multilevel_sum_of(const double *array, uint64_t n) {
    double sum = 0;
    for (uint64_t x = 0; x <= n; x++)
        sum += array[x];
    return sum;
}

tamis_status tamis_model_multilevel_exact(uint64_t n, const uint64_t *buckets, unsigned n_tables,
                                          double *work, size_t work_len, double *items,
                                          double *crisis, double *neglected) {
    tamis_i_multilevel_walk walk;
    const tamis_status status =
        tamis_i_multilevel_start(&walk, n, buckets, n_tables, work, work_len);
    if (status != TAMIS_OK)
        return status;
    for (unsigned i = 0; i < n_tables; i++) {
        tamis_i_multilevel_pass(&walk, buckets[i]);
        if (items != NULL)
            items[i] = model_multilevel_sum_of(walk.placed, n);
    }
    *crisis = tamis_i_multilevel_crisis(&walk);
    if (neglected != NULL)
        *neglected = walk.neglected;
    return TAMIS_OK;
}

/* Of n + a items, a random set of a is deleted.  An item in sub-table i survives with probability n /
 * (n + a), the telescoped form of the product in section XI-A.  Then the i - 1 items in its way, all
 * different, survive with probability prod (n - h) / (n - h + a), h = 1 ... i - 1. */
tamis_status tamis_model_rebuild_random(uint64_t n, uint64_t deleted, const uint64_t *buckets,
                                        unsigned n_tables, double *work, size_t work_len,
                                        double *moves) {
    uint64_t all;
    if (!tamis_i_add(n, deleted, &all))
        return TAMIS_E_DOMAIN;
    tamis_i_multilevel_walk walk;
    const tamis_status status =
        tamis_i_multilevel_start(&walk, all, buckets, n_tables, work, work_len);
    if (status != TAMIS_OK)
        return status;
    double sum = 0;
    double log_undisturbed = 0;
    for (unsigned i = 0; i < n_tables && n > 0 && deleted > 0; i++) {
        tamis_i_multilevel_pass(&walk, buckets[i]);
        if (i >= n)
            log_undisturbed = -INFINITY; /* no i other survivors are left to be in the way */
        else if (i > 0)
            log_undisturbed -= log1p((double)deleted / (double)(n - i));
        sum += model_multilevel_sum_of(walk.placed, all) * -expm1(log_undisturbed);
    }
    *moves = all > 0 ? sum * ((double)n / (double)all) : 0;
    return TAMIS_OK;
}

/* The deleted items are a random set of those in the first sub-table.  Of s items that went on, each has
 * its first bucket freed with probability a / (n + a - s): again the product of section XI-A telescopes. */
tamis_status tamis_model_rebuild_first(uint64_t n, uint64_t deleted, const uint64_t *buckets,
                                       unsigned n_tables, double *work, size_t work_len,
                                       double *moves) {
    uint64_t all;
    if (!tamis_i_add(n, deleted, &all))
        return TAMIS_E_DOMAIN;
    tamis_i_multilevel_walk walk;
    const tamis_status status =
        tamis_i_multilevel_start(&walk, all, buckets, n_tables, work, work_len);
    if (status != TAMIS_OK)
        return status;
    tamis_i_multilevel_pass(&walk, buckets[0]);
    double sum = 0;
    for (uint64_t s = 1; s <= all && deleted > 0; s++) {
        const double freed = s < n ? (double)s * ((double)deleted / (double)(all - s)) : (double)n;
        sum += walk.waiting[s] * freed;
    }
    *moves = sum;
    return TAMIS_OK;
}
