/* kirsch.c - the figures of "Simple Summaries for Hashing With Choices"
 *
 * Kirsch and Mitzenmacher, IEEE/ACM Transactions on Networking 16(1), 2008: tables I to III and the
 * text of sections VI to XI.  "k" of the paper is 1000.  All of the numerical results are for two hash
 * tables, one for 10,000 items and one for 100,000, with six buckets per item.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kirsch.h"
#include "song.h"

#include <math.h>
#include <stdlib.h>

enum { TABLES_MAX = KIRSCH_TABLES_MAX };
typedef kirsch_setting setting;

enum { SETTING_10K, SETTING_100K, SETTING_T1, SETTING_20K };

static const setting settings[] = {
    [SETTING_10K] = {.n = 10000,
                     .n_tables = 5,
                     .buckets = {40000, 10000, 5000, 2500, 2500},
                     .string_bits = 55,
                     .cells = 120000,
                     .cell_hashes = 15,
                     .bits = {106000, 87500, 5500, 500, 100},
                     .bit_hashes = {7, 49, 49, 49, 49}},
    /* The paper lists five filters for six sub-tables; the sixth is assumed to equal the fifth.  It
     * serves so few items that its size does not show in the failure probability. */
    [SETTING_100K] = {.n = 100000,
                      .n_tables = 6,
                      .buckets = {400000, 100000, 50000, 25000, 12500, 12500},
                      .string_bits = 61,
                      .cells = 1200000,
                      .cell_hashes = 15,
                      .bits = {1060000, 875000, 550000, 1000, 1000, 1000},
                      .bit_hashes = {7, 49, 49, 49, 49, 49}},
    /* The table of Table I has no summary in the paper. */
    [SETTING_T1] = {.n = 10000,
                    .n_tables = 5,
                    .buckets = {30000, 15000, 7500, 3750, 1875},
                    .cells = 120000,
                    .cell_hashes = 15},
    /* A fifth of the one for 100,000 items, for experiments that need many tables. */
    [SETTING_20K] = {.n = 20000,
                     .n_tables = 6,
                     .buckets = {80000, 20000, 10000, 5000, 2500, 2500},
                     .string_bits = 59,
                     .cells = 240000,
                     .cell_hashes = 15,
                     .bits = {212000, 175000, 110000, 1000, 1000, 1000},
                     .bit_hashes = {7, 49, 49, 49, 49, 49}},
};

static double *new_work(uint64_t n, size_t *work_len) {
    *work_len = tamis_model_multilevel_work(n);
    return malloc(*work_len * sizeof(double));
}

/* -------------------------------------------------------------------------------------------------
 * The tables: index i is the number of the sub-table, from 1
 */

enum { T1_TABLES = 5 };

static tamis_status table1_buckets(uint64_t *buckets) {
    return tamis_model_multilevel_sizes(10000, 3, 0.5, T1_TABLES, buckets);
}

static tamis_status approx_items(const uint64_t *buckets, int i, double *value) {
    double items[T1_TABLES];
    const tamis_status status = tamis_model_multilevel_approx(10000, buckets, T1_TABLES, items);
    if (status == TAMIS_OK)
        *value = items[i - 1];
    return status;
}

static tamis_status exact_items(const uint64_t *buckets, int i, double *value) {
    size_t work_len;
    double *const work = new_work(10000, &work_len);
    if (work == NULL)
        return TAMIS_E_NOMEM;
    double items[T1_TABLES];
    double crisis;
    const tamis_status status = tamis_model_multilevel_exact(10000, buckets, T1_TABLES, work,
                                                             work_len, items, &crisis, NULL);
    free(work);
    if (status == TAMIS_OK)
        *value = items[i - 1];
    return status;
}

static tamis_status t1_approx(const figure *self, double *value) {
    uint64_t buckets[T1_TABLES];
    const tamis_status status = table1_buckets(buckets);
    return status == TAMIS_OK ? approx_items(buckets, self->index, value) : status;
}

static tamis_status t1_exact(const figure *self, double *value) {
    uint64_t buckets[T1_TABLES];
    const tamis_status status = table1_buckets(buckets);
    return status == TAMIS_OK ? exact_items(buckets, self->index, value) : status;
}

static tamis_status t2_approx(const figure *self, double *value) {
    return approx_items(settings[SETTING_10K].buckets, self->index, value);
}

static tamis_status t2_exact(const figure *self, double *value) {
    return exact_items(settings[SETTING_10K].buckets, self->index, value);
}

/* -------------------------------------------------------------------------------------------------
 * Failures and crises: index is the setting
 */

static tamis_status crisis_of(const setting *s, double *value) {
    size_t work_len;
    double *const work = new_work(s->n, &work_len);
    if (work == NULL)
        return TAMIS_E_NOMEM;
    const tamis_status status = tamis_model_multilevel_exact(s->n, s->buckets, s->n_tables, work,
                                                             work_len, NULL, value, NULL);
    free(work);
    return status;
}

static tamis_status crisis(const figure *self, double *value) {
    return crisis_of(&settings[self->index], value);
}

/* An item is mistaken or lost: with a single summary filter of so many cells, or with a filter for each level
 * if there are none. */
static tamis_status filters_fail(const setting *s, uint64_t cells, unsigned hashes, double *value) {
    size_t work_len;
    double *const work = new_work(s->n, &work_len);
    if (work == NULL)
        return TAMIS_E_NOMEM;
    double failed;
    double crashed;
    const tamis_status status =
        cells > 0
            ? tamis_model_summary_single(s->n, s->buckets, s->n_tables, cells, hashes, work,
                                         work_len, &failed, &crashed, NULL)
            : tamis_model_summary_multiple(s->n, s->buckets, s->n_tables, s->bits, s->bit_hashes,
                                           work, work_len, &failed, &crashed, NULL);
    free(work);
    if (status == TAMIS_OK)
        *value = failed + crashed;
    return status;
}

static tamis_status single_fail(const figure *self, double *value) {
    const setting *const s = &settings[self->index];
    return filters_fail(s, s->cells, s->cell_hashes, value);
}

static tamis_status single_weak(const figure *self, double *value) {
    return filters_fail(&settings[self->index], 100000, 10, value);
}

static tamis_status multiple_fail_of(const setting *s, double *value) {
    return filters_fail(s, 0, 0, value);
}

static tamis_status multiple_fail(const figure *self, double *value) {
    return multiple_fail_of(&settings[self->index], value);
}

static tamis_status strings_fail(const figure *self, double *value) {
    const setting *const s = &settings[self->index];
    double fpr;
    return tamis_model_summary_interpolation(s->n, s->string_bits, value, &fpr);
}

/* -------------------------------------------------------------------------------------------------
 * Error rates and sizes: index is the setting
 */

static tamis_status strings_fp(const figure *self, double *value) {
    const setting *const s = &settings[self->index];
    double failed;
    return tamis_model_summary_interpolation(s->n, s->string_bits, &failed, value);
}

static tamis_status single_fp(const figure *self, double *value) {
    const setting *const s = &settings[self->index];
    return tamis_model_bloom_partitioned((double)s->cells, (double)s->n, s->cell_hashes, value);
}

static tamis_status multiple_fp(const figure *self, double *value) {
    const setting *const s = &settings[self->index];
    return tamis_model_bloom((double)s->bits[0], (double)s->n, s->bit_hashes[0], value);
}

static tamis_status strings_bytes(const figure *self, double *value) {
    const setting *const s = &settings[self->index];
    uint64_t bytes;
    const tamis_status status = tamis_model_summary_interpolation_bytes(
        s->n, s->string_bits, s->buckets, s->n_tables, &bytes);
    if (status == TAMIS_OK)
        *value = (double)bytes;
    return status;
}

static tamis_status single_bytes(const figure *self, double *value) {
    const setting *const s = &settings[self->index];
    uint64_t bytes;
    const tamis_status status =
        tamis_model_summary_single_bytes(s->cells, NULL, s->buckets, s->n_tables, &bytes);
    if (status == TAMIS_OK)
        *value = (double)bytes;
    return status;
}

/* As listed: five filters, even for six sub-tables. */
static tamis_status multiple_bytes(const figure *self, double *value) {
    const setting *const s = &settings[self->index];
    uint64_t bits[TABLES_MAX] = {0};
    for (unsigned i = 0; i < 5; i++)
        bits[i] = s->bits[i];
    uint64_t bytes;
    const tamis_status status =
        tamis_model_summary_multiple_bytes(bits, NULL, s->buckets, s->n_tables, &bytes);
    if (status == TAMIS_OK)
        *value = (double)bytes;
    return status;
}

/* Section XI-B: counters instead of bits, the wide and the narrow choice; index is 0 or 1. */
static const unsigned counter_bits[2][TABLES_MAX] = {{4, 4, 4, 4, 2}, {4, 4, 4, 3, 1}};

static tamis_status counting_bytes(const figure *self, double *value) {
    const setting *const s = &settings[SETTING_10K];
    uint64_t bit_table = 0;
    for (unsigned i = 0; i < s->n_tables; i++)
        bit_table += s->buckets[i];
    uint64_t bytes;
    const tamis_status status = tamis_model_summary_multiple_bytes(
        s->bits, counter_bits[self->index], s->buckets, s->n_tables, &bytes);
    if (status == TAMIS_OK)
        *value = (double)bytes - (double)bit_table / 8;
    return status;
}

/* Song's scheme; index is the value. */
static tamis_status song(const figure *self, double *value) {
    double fpr, crashed;
    uint64_t bytes;
    if (self->index == SONG_MOVES)
        return tamis_model_song_moves(SONG_ITEMS, SONG_BUCKETS, SONG_HASHES, value);
    const tamis_status status =
        tamis_model_song(SONG_ITEMS, SONG_BUCKETS, SONG_HASHES, SONG_BITS, &fpr, &crashed, &bytes);
    if (status == TAMIS_OK)
        *value = self->index == SONG_FPR ? fpr : (double)bytes;
    return status;
}

/* The others hit an item's buckets as they would those of an absent one. */
static tamis_status song_covered(const figure *self, double *value) {
    double fpr, crashed;
    uint64_t bytes;
    (void)self;
    const tamis_status status = tamis_model_song(SONG_ITEMS - 1, SONG_BUCKETS, SONG_HASHES,
                                                 SONG_BITS, &fpr, &crashed, &bytes);
    if (status == TAMIS_OK)
        *value = SONG_ITEMS * fpr;
    return status;
}

/* -------------------------------------------------------------------------------------------------
 * Rebuilding: 9090 items survive, 909 are deleted
 */

static tamis_status rebuild(const figure *self, double *value) {
    const setting *const s = &settings[SETTING_10K];
    size_t work_len;
    double *const work = new_work(s->n, &work_len);
    if (work == NULL)
        return TAMIS_E_NOMEM;
    const tamis_status status =
        (self->index == 0 ? tamis_model_rebuild_random : tamis_model_rebuild_first)(
            9090, 909, s->buckets, s->n_tables, work, work_len, value);
    free(work);
    return status;
}

/* -------------------------------------------------------------------------------------------------
 * On the real table: as computed above, by index.  What is too rare to be seen is made common, and the
 * same model says how common.
 */

/* The paper does not say how often; 'few' for a quick look. */
static unsigned trials_of(const figure *self, const run *r, unsigned few, unsigned many) {
    const unsigned trials = r->full ? many : few;
    return self->index == SETTING_100K && trials > 20 ? trials / 10 : trials;
}

/* Items in sub-table 'level' of a setting, found for all of its sub-tables at once. */
static tamis_status level_sim(const setting *s, const char *name, int level, unsigned trials,
                              run *r, measured *value) {
    if (run_recall(r, name) == NULL) {
        measured values[TABLES_MAX];
        tamis_status status = kirsch_simulate_levels(s, trials, values);
        if (status == TAMIS_OK)
            status = run_keep(r, name, values, s->n_tables);
        if (status != TAMIS_OK)
            return status;
    }
    *value = run_recall(r, name)[level - 1];
    return TAMIS_OK;
}

typedef tamis_status items_model(const uint64_t *buckets, int i, double *value);

/* The fifth sub-table gets an item in 60,000 tables.  With a third of the buckets it gets 15 and 33. */
static tamis_status fifth_sim(const setting *s, const char *name, items_model *model, run *r,
                              measured *value) {
    setting small = *s;
    for (unsigned i = 0; i < s->n_tables; i++)
        small.buckets[i] /= 3;
    const tamis_status status = level_sim(&small, name, T1_TABLES, r->full ? 1000 : 30, r, value);
    return status == TAMIS_OK ? model(small.buckets, T1_TABLES, &value->expected) : status;
}

static tamis_status t1_level(const figure *self, run *r, measured *value) {
    return level_sim(&settings[SETTING_T1], "mht t1", self->index, r->full ? 1000 : 240, r, value);
}

static tamis_status t2_level(const figure *self, run *r, measured *value) {
    return level_sim(&settings[SETTING_10K], "mht t2", self->index, r->full ? 1000 : 240, r, value);
}

static tamis_status t1_fifth_approx(const figure *self, run *r, measured *value) {
    (void)self;
    return fifth_sim(&settings[SETTING_T1], "mht t1 small", approx_items, r, value);
}

static tamis_status t1_fifth(const figure *self, run *r, measured *value) {
    (void)self;
    return fifth_sim(&settings[SETTING_T1], "mht t1 small", exact_items, r, value);
}

static tamis_status t2_fifth_approx(const figure *self, run *r, measured *value) {
    (void)self;
    return fifth_sim(&settings[SETTING_10K], "mht t2 small", approx_items, r, value);
}

static tamis_status t2_fifth(const figure *self, run *r, measured *value) {
    (void)self;
    return fifth_sim(&settings[SETTING_10K], "mht t2 small", exact_items, r, value);
}

/* The setting for experiments that build many tables. */
static setting common_setting(int index) {
    return settings[index == SETTING_100K ? SETTING_20K : index];
}

/* Without a fourth sub-table, and with a small third one, two tables in three have a crisis. */
static tamis_status crisis_sim(const figure *self, run *r, measured *value) {
    setting weak = common_setting(self->index);
    weak.n_tables = 3;
    weak.buckets[2] = self->index == SETTING_100K ? 7000 : 1700;
    const tamis_status status = kirsch_simulate_crisis(&weak, r->full ? 1000 : 45, value);
    return status == TAMIS_OK ? crisis_of(&weak, &value->expected) : status;
}

/* Strings of few bits.  Two items with the same string fail if they are in different sub-tables: one of
 * the two then gets the number of the other's sub-table.  The model counts all pairs. */
static tamis_status strings_fail_sim(const figure *self, run *r, measured *value) {
    setting weak = common_setting(self->index);
    double some, fpr, items[TABLES_MAX], same = 0;
    weak.string_slots =
        self->index == SETTING_100K ? 1 << 15 : 1 << 14; /* a power of two: all strings */
    weak.string_bits = self->index == SETTING_100K ? 24 : 22;
    tamis_status status =
        kirsch_simulate_mistaken(&weak, TAMIS_SUMMARY_INTERPOLATION, r->full ? 1000 : 40, value);
    if (status == TAMIS_OK)
        status = tamis_model_summary_interpolation(weak.n, weak.string_bits, &some, &fpr);
    if (status == TAMIS_OK)
        status = tamis_model_multilevel_approx((double)weak.n, weak.buckets, weak.n_tables, items);
    if (status != TAMIS_OK)
        return status;
    for (unsigned i = 0; i < weak.n_tables; i++)
        same += items[i] * items[i] / ((double)weak.n * (double)weak.n);
    value->expected = -log1p(-some) * (1 - same);
    return TAMIS_OK;
}

/* For small filters the union bound is the mean number of mistaken items, as long as it is below 1. */
static tamis_status single_mistaken(int index, uint64_t cells, unsigned hashes, unsigned trials,
                                    measured *value) {
    setting weak = common_setting(index);
    weak.cells = cells;
    weak.cell_hashes = hashes;
    const tamis_status status =
        kirsch_simulate_mistaken(&weak, TAMIS_SUMMARY_SINGLE, trials, value);
    return status == TAMIS_OK ? filters_fail(&weak, cells, hashes, &value->expected) : status;
}

static tamis_status single_fail_sim(const figure *self, run *r, measured *value) {
    const unsigned trials = r->full ? 1000 : 90;
    return self->index == SETTING_100K ? single_mistaken(self->index, 58000, 7, trials, value)
                                       : single_mistaken(self->index, 28000, 6, trials, value);
}

static tamis_status single_weak_sim(const figure *self, run *r, measured *value) {
    return single_mistaken(self->index, 30000, 6, r->full ? 10000 : 120, value);
}

static tamis_status multiple_fail_sim(const figure *self, run *r, measured *value) {
    setting weak = common_setting(self->index);
    const bool large = self->index == SETTING_100K;
    weak.bits[1] = large ? 48000 : 22000;
    weak.bit_hashes[1] = large ? 14 : 13;
    const tamis_status status =
        kirsch_simulate_mistaken(&weak, TAMIS_SUMMARY_MULTIPLE, r->full ? 1000 : 100, value);
    return status == TAMIS_OK ? multiple_fail_of(&weak, &value->expected) : status;
}

static tamis_status strings_fp_sim(const figure *self, run *r, measured *value) {
    setting weak = settings[self->index];
    double some;
    weak.string_slots = self->index == SETTING_100K ? 1 << 17 : 1 << 14;
    weak.string_bits = self->index == SETTING_100K ? 26 : 23;
    const tamis_status status = kirsch_simulate_fpr(&weak, TAMIS_SUMMARY_INTERPOLATION,
                                                    trials_of(self, r, 2, 100), 100000, value);
    if (status != TAMIS_OK)
        return status;
    return tamis_model_summary_interpolation(weak.n, weak.string_bits, &some, &value->expected);
}

static tamis_status single_fp_sim(const figure *self, run *r, measured *value) {
    return kirsch_simulate_fpr(&settings[self->index], TAMIS_SUMMARY_SINGLE,
                               trials_of(self, r, self->index == SETTING_100K ? 2 : 5, 100), 100000,
                               value);
}

static tamis_status multiple_fp_sim(const figure *self, run *r, measured *value) {
    return kirsch_simulate_fpr(&settings[self->index], TAMIS_SUMMARY_MULTIPLE,
                               trials_of(self, r, self->index == SETTING_100K ? 2 : 5, 100), 100000,
                               value);
}

static tamis_status strings_bytes_sim(const figure *self, run *r, measured *value) {
    (void)r;
    return kirsch_simulate_bytes(&settings[self->index], TAMIS_SUMMARY_INTERPOLATION, value);
}

static tamis_status single_bytes_sim(const figure *self, run *r, measured *value) {
    (void)r;
    return kirsch_simulate_bytes(&settings[self->index], TAMIS_SUMMARY_SINGLE, value);
}

static tamis_status multiple_bytes_sim(const figure *self, run *r, measured *value) {
    (void)r;
    return kirsch_simulate_bytes(&settings[self->index], TAMIS_SUMMARY_MULTIPLE, value);
}

static tamis_status counting_bytes_sim(const figure *self, run *r, measured *value) {
    (void)r;
    return kirsch_simulate_counting_bytes(&settings[SETTING_10K], counter_bits[self->index], value);
}

static tamis_status song_sim(const figure *self, run *r, measured *value) {
    static const char name[] = "song";
    if (run_recall(r, name) == NULL) {
        measured values[SONG_VALUES];
        tamis_status status = song_simulate(r->full ? 1000 : 10, 50000, values);
        if (status == TAMIS_OK)
            status = run_keep(r, name, values, SONG_VALUES);
        if (status != TAMIS_OK)
            return status;
    }
    *value = run_recall(r, name)[self->index];
    return TAMIS_OK;
}

static tamis_status song_covered_sim(const figure *self, run *r, measured *value) {
    (void)self;
    return song_simulate_covered(r->full ? 1000 : 10, value);
}

/* The paper has 100,000 trials. */
static tamis_status rebuild_sim(const figure *self, run *r, measured *value) {
    return kirsch_simulate_moves(&settings[SETTING_10K], 9090, 909, self->index == 1,
                                 r->full ? 100000 : 100, value);
}

/* -------------------------------------------------------------------------------------------------
 * The list
 */

#define T1_APPROX "equation (1) with the power; sub-tables 30000 15000 7500 3750 1875"
#define T2_APPROX "equation (1) with the power; sub-tables 40k 10k 5k 2.5k 2.5k"
#define NEGATIVE  "equation (1) once less than one item is left: the negative number is genuine"
#define EXACT     "appendix III-A"
#define THIRD     "simulated with a third of the buckets"
#define WITH_BITS                                                                                  \
    "with the bit table, one bit per bucket; the real table has a deletion bit per bucket, too, "  \
    "where the summary cannot remove, and whole lines of 64 bytes"
#define UNION "union bound of appendix III plus crisis"
#define MOVES "moves M of real rebuilds; the model above counts M', about 3 % more"

static const figure figures[] = {
    FOUR_FIGURES(mht.t1.approx, t1_approx, t1_level, 0, T1_APPROX, 1, "8504.18", 2, "1423.70", 3,
                 "71.78", 4, "0.34"),
    {"mht.t1.approx5", "-3.00e-5", t1_approx, t1_fifth_approx, 5, 0, NULL, NEGATIVE "; " THIRD},
    FOUR_FIGURES(mht.t1.exact, t1_exact, t1_level, 0, EXACT, 1, "8504.18", 2, "1423.67", 3, "71.80",
                 4, "0.35"),
    {"mht.t1.exact5", "1.62e-5", t1_exact, t1_fifth, 5, 0, NULL, EXACT "; " THIRD},
    FOUR_FIGURES(mht.t2.approx, t2_approx, t2_level, 0, T2_APPROX, 1, "8848.07", 2, "1088.11", 3,
                 "63.42", 4, "0.40"),
    {"mht.t2.approx5", "-4.80e-5", t2_approx, t2_fifth_approx, 5, 0, NULL, NEGATIVE "; " THIRD},
    FOUR_FIGURES(mht.t2.exact, t2_exact, t2_level, 0, EXACT, 1, "8848.07", 2, "1088.08", 3, "63.45",
                 4, "0.41"),
    {"mht.t2.exact5", "3.37e-5", t2_exact, t2_fifth, 5, 0, NULL, EXACT "; " THIRD},
    {"mht.crisis10k", "1.01e-12", crisis, crisis_sim, SETTING_10K, 0, NULL,
     "the tail, summed by itself; simulated with three sub-tables, the last of 1,700 buckets"},
    {"mht.crisis100k", "7.78e-16", crisis, crisis_sim, SETTING_100K, 0,
     SLIP("6.64e-24", "holds as the bound that it is called, but is the round-off of 1 - Pr(no "
                      "crisis)"),
     "the tail, summed by itself; simulated with 20,000 items and three sub-tables, the last of "
     "7,000 buckets"},

    {"is.fail10k", "1.39e-9", strings_fail, strings_fail_sim, SETTING_10K, 0, NULL,
     "birthday problem, 55 bits; simulated: items mistaken with strings of 22 bits"},
    {"is.fail100k", "2.17e-9", strings_fail, strings_fail_sim, SETTING_100K, 0, NULL,
     "birthday problem, 61 bits; simulated: items mistaken of 20,000 with strings of 24 bits"},
    {"is.fp10k", "2.78e-13", strings_fp, strings_fp_sim, SETTING_10K, 0, NULL,
     "1 - (1 - 2^-55)^n; simulated with strings of 23 bits"},
    {"is.fp100k", "4.34e-14", strings_fp, strings_fp_sim, SETTING_100K, 0, NULL,
     "1 - (1 - 2^-61)^n; simulated with strings of 26 bits"},
    {"is.bytes10k", "80000", strings_bytes, strings_bytes_sim, SETTING_10K, 0, NULL,
     "58 bits per item; " WITH_BITS},
    {"is.bytes100k", "875000", strings_bytes, strings_bytes_sim, SETTING_100K, 0, NULL,
     "64 bits per item; " WITH_BITS},

    {"sf.fail10k", "7.64e-10", single_fail, single_fail_sim, SETTING_10K, 0, NULL,
     UNION "; simulated: items mistaken with 28,000 cells, 6 hashes"},
    {"sf.fail100k", "7.27e-9", single_fail, single_fail_sim, SETTING_100K, 0, NULL,
     UNION "; simulated: items mistaken of 20,000 with 58,000 cells, 7 hashes"},
    {"sf.fp10k", "0.006", single_fp, single_fp_sim, SETTING_10K, 0, NULL, "partitioned filter"},
    {"sf.fp100k", "0.006", single_fp, single_fp_sim, SETTING_100K, 0, NULL, "partitioned filter"},
    {"sf.bytes10k", "47500", single_bytes, single_bytes_sim, SETTING_10K, 0, NULL,
     "three cells per byte; " WITH_BITS},
    {"sf.bytes100k", "525000", single_bytes, single_bytes_sim, SETTING_100K, 0, NULL,
     "three bits per cell; " WITH_BITS},
    {"sf.weak", "2.1e-6", single_weak, single_weak_sim, SETTING_10K, 0, NULL,
     "section X: 100,000 cells, 10 hashes; simulated: items mistaken with 30,000 cells, 6 hashes"},

    {"mbf.fail10k", "4.97e-12", multiple_fail, multiple_fail_sim, SETTING_10K, 0, NULL,
     UNION ", the filters taken as partitioned; simulated: items mistaken with a second filter of "
           "22,000 bits, 13 hashes"},
    {"mbf.fail100k", "1.38e-11", multiple_fail, multiple_fail_sim, SETTING_100K, 0, NULL,
     UNION "; the third filter may have 550k, 495k or 55k bits without changing these digits; "
           "simulated: items mistaken of 20,000 with a second filter of 48,000 bits, 14 hashes"},
    {"mbf.fp10k", "0.006", multiple_fp, multiple_fp_sim, SETTING_10K, 0, NULL,
     "first filter, not partitioned"},
    {"mbf.fp100k", "0.006", multiple_fp, multiple_fp_sim, SETTING_100K, 0, NULL,
     "first filter, not partitioned"},
    {"mbf.bytes10k", "32450", multiple_bytes, multiple_bytes_sim, SETTING_10K, 0, NULL, WITH_BITS},
    {"mbf.bytes100k", "379000", multiple_bytes, multiple_bytes_sim, SETTING_100K, 0,
     SLIP("385875",
          "what the filters listed take, five for six sub-tables; 379000 needs a third one of "
          "495k bits"),
     WITH_BITS "; a third filter of 55k bits, as for 10k items, would make it 324000"},
    {"mbf.counting.wide", "99775", counting_bytes, counting_bytes_sim, 0, 0, NULL,
     "section XI-B: 4, 4, 4, 4, 2 bits per counter, without the bit table"},
    {"mbf.counting.narrow", "99700", counting_bytes, counting_bytes_sim, 1, 0, NULL,
     "section XI-B: 4, 4, 4, 3, 1 bits per counter, without the bit table"},

    {"song.fp10k", "0.002", song, song_sim, SONG_FPR, 0, NULL, "131,072 buckets, 10 hashes"},
    {"song.bytes10k", "49152", song, song_sim, SONG_BYTES, 0, NULL, "counters of three bits"},
    {"song.covered10k", NULL, song_covered, song_covered_sim, 0, 0, NULL,
     "items that have no bucket for themselves, before the heuristics: the bound of the crisis"},
    {"song.placed10k", NULL, NULL, song_sim, SONG_PLACED, 0, NULL,
     "items that found a bucket, with the heuristic; section IX: no crisis in a million trials"},
    {"song.moves10k", NULL, song, song_sim, SONG_MOVES, 0, NULL,
     "items moved by an insertion; section IV: a constant is expected"},
    {"song.reads10k", NULL, NULL, song_sim, SONG_READS, 0, NULL,
     "reads of an item that is there: the summary is never wrong"},

    {"rebuild.random.model", "100.02", rebuild, NULL, 0, 0, NULL, "E[M'], 9090 items stay, 909 go"},
    {"rebuild.first.model", "118.34", rebuild, NULL, 1, 0, NULL, "E[M'], 9090 items stay, 909 go"},
    {"rebuild.random.sim", "96.98", NULL, rebuild_sim, 0, 0, NULL, MOVES},
    {"rebuild.first.sim", "114.25", NULL, rebuild_sim, 1, 0, NULL, MOVES},
};

const figure_list figures_multilevel = {"kirsch2008-simple-summaries", figures,
                                        sizeof figures / sizeof figures[0]};
