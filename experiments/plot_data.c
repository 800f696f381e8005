/* plot_data.c - the numbers behind the plots in docs/models.md
 *
 * Three files for gnuplot.  Each holds several sets of points, separated by two empty lines.  A set
 * begins with a comment that has its name for scripts/figures.sh.
 *
 *     error.dat     bits per key and error rate, one set per structure
 *     loads.dat     load and fraction of buckets, one set per way of hashing
 *     regions.dat   accesses per insert and least overflow, one set per scheme
 *
 * SPDX-License-Identifier: MIT
 */
#include "experiments/plot_data.h"

#include <math.h>
#include <stdio.h>

#include "experiments/experiments.h"

/* Bits per key at which the curves are drawn. */
static const double bits_from = 6;
static const double bits_to = 32;

static void set_name(FILE *out, const char *name) {
    fprintf(out, "\n\n# %s\n", name);
}

/* A point for which the model has no number is left out. */
static void point(FILE *out, tamis_status status, double x, double y) {
    if (status == TAMIS_OK && y > 0 && y < 1)
        fprintf(out, "%.6g %.6g\n", x, y);
}

/* -------------------------------------------------------------------------------------------------
 * Error rate against bits per key
 */

static void plot_bloom(FILE *out, const char *name, double bits_per_cell) {
    const double n = 1e9;
    set_name(out, name);
    for (double bits = bits_from; bits <= bits_to; bits += 0.25) {
        double best = 1;
        for (unsigned k = 1; k <= 32; k++) {
            double fpr;
            if (tamis_model_bloom(n * bits / bits_per_cell, n, k, &fpr) == TAMIS_OK && fpr < best)
                best = fpr;
        }
        point(out, TAMIS_OK, bits, best);
    }
}

static void plot_blocked(FILE *out) {
    set_name(out, "blocked-bloom");
    for (double bits = bits_from; bits <= bits_to; bits += 0.25) {
        double best = 1;
        for (unsigned k = 1; k <= 32; k++) {
            double fpr;
            if (tamis_model_blocked(512, 512 / bits, k, &fpr) == TAMIS_OK && fpr < best)
                best = fpr;
        }
        point(out, TAMIS_OK, bits, best);
    }
}

/* Three subtables; loads at which more than one bucket in 10^9 overflows are left out. */
static void plot_dleft(FILE *out, const char *name, tamis_model_rule rule, double bucket_bits,
                       unsigned capacity) {
    enum { CHOICES = 3, LOADS = 40 };
    double fraction[CHOICES * LOADS];
    unsigned fp_bits[LOADS];
    if (tamis_model_dleft_rule(rule, LOADS, fp_bits) != TAMIS_OK)
        return;
    set_name(out, name);
    for (double bits = bits_from; bits <= bits_to; bits += 0.25) {
        double fpr = 1;
        double odds;
        tamis_status status =
            tamis_model_dleft_inserted(CHOICES, bucket_bits / bits, LOADS, fraction);
        if (status == TAMIS_OK)
            status = tamis_model_dleft_overflow(CHOICES, LOADS, fraction, capacity, 1, &odds);
        if (status == TAMIS_OK && odds <= 1e-9)
            status = tamis_model_dleft_fpr(CHOICES, LOADS, fraction, fp_bits, &fpr);
        point(out, status, bits, fpr);
    }
}

/* Four subtables at load 6 in buckets of 8 cells, each a remainder and two bits of counter. */
static void plot_dlcbf(FILE *out) {
    set_name(out, "dleft-counting");
    for (int r = 5; 8.0 / 6 * (r + 2) <= bits_to; r++) {
        double fpr = 1;
        const tamis_status status = tamis_model_dlcbf(24, ldexp(1, r), &fpr);
        point(out, status, 8.0 / 6 * (r + 2), fpr);
    }
}

/* The best shape for 10^6 keys and overflow odds of 1e-10; extra_bits = 2 makes it count. */
static void plot_rank(FILE *out, const char *name, unsigned extra_bits) {
    const uint64_t n = 1000000;
    set_name(out, name);
    for (double goal = 0.0625; goal > 1e-9; goal /= 2) {
        tamis_rank_shape shape;
        uint64_t bits = 0;
        double fpr = 1;
        tamis_rank_shape_init(&shape);
        tamis_status status = tamis_model_rank_optimise(n, goal, 1e-10, extra_bits, 64, 0, &shape);
        if (status == TAMIS_OK)
            status = tamis_model_rank_bits(&shape, &bits);
        if (status == TAMIS_OK)
            status = tamis_model_rank_fpr(&shape, n, &fpr);
        const double bits_per_key = (double)bits / (double)n;
        if (bits_per_key >= bits_from && bits_per_key <= bits_to)
            point(out, status, bits_per_key, fpr);
    }
}

/* MHT with three choices and 1.2 accesses per insert, in blocks of 512 bits that hold their counter.
 * The list, half a percent of the keys, is not counted. */
static void plot_balanced(FILE *out) {
    enum { CHOICES = 3 };
    set_name(out, "balanced-bloom");
    for (double bits = bits_from; bits <= bits_to; bits += 0.25) {
        const double load = 512 / bits;
        tamis_balance_shape shape;
        tamis_balance_shape_init(&shape);
        shape.scheme = TAMIS_BALANCE_MHT;
        shape.choices = CHOICES;
        double overflow;
        tamis_status status = tamis_model_balance_region(TAMIS_BALANCE_MHT, CHOICES, 1.2, load,
                                                         &overflow, shape.shares);
        if (status == TAMIS_OK)
            status =
                tamis_model_balance_parameters(1.2, load, overflow, &shape.threshold, &shape.coin);
        double best = 1;
        for (unsigned k = 1; k <= 32 && status == TAMIS_OK; k++) {
            double fpr = 1;
            const unsigned table = 512 - tamis_model_balance_counter_bits(shape.threshold);
            status = tamis_model_balance_fpr(&shape, load, false, table, k, &fpr);
            if (status == TAMIS_OK && fpr < best)
                best = fpr;
        }
        point(out, status, bits, best);
    }
}

static void write_error(FILE *out) {
    fputs("# bits per key, error rate\n", out);
    set_name(out, "bound");
    for (double bits = bits_from; bits <= bits_to; bits++)
        point(out, TAMIS_OK, bits, exp2(-bits));
    plot_bloom(out, "bloom", 1);
    plot_blocked(out);
    plot_balanced(out);
    plot_dleft(out, "dleft-64", TAMIS_MODEL_RULE_64, 64, 6);
    plot_dleft(out, "dleft-128", TAMIS_MODEL_RULE_128_FIT, 128, 11);
    plot_rank(out, "rank", 0);
    plot_bloom(out, "counting-bloom", 4);
    plot_dlcbf(out);
    plot_rank(out, "rank-counting", 2);
}

/* -------------------------------------------------------------------------------------------------
 * Load distributions
 */

static void plot_loads(FILE *out, const char *name, unsigned d, double mean, bool steady) {
    enum { LOADS = 18 };
    double fraction[8 * LOADS];
    const tamis_status status = steady ? tamis_model_dleft_steady(d, mean, LOADS, fraction)
                                       : tamis_model_dleft_inserted(d, mean, LOADS, fraction);
    set_name(out, name);
    for (unsigned j = 0; j < LOADS; j++) {
        double sum = 0;
        for (unsigned i = 0; i < d && status == TAMIS_OK; i++)
            sum += fraction[i * LOADS + j];
        point(out, status, j, sum / d);
    }
}

static void write_loads(FILE *out) {
    fputs("# load, fraction of buckets, mean load 6\n", out);
    plot_loads(out, "poisson", 1, 6, false);
    plot_loads(out, "2-left inserted", 2, 6, false);
    plot_loads(out, "2-left steady", 2, 6, true);
    plot_loads(out, "3-left inserted", 3, 6, false);
    plot_loads(out, "3-left steady", 3, 6, true);
    plot_loads(out, "4-left inserted", 4, 6, false);
    plot_loads(out, "4-left steady", 4, 6, true);
}

/* -------------------------------------------------------------------------------------------------
 * Optimality regions: above its curve a scheme is as good as any can be
 */

static void plot_region(FILE *out, const char *name, tamis_balance_scheme scheme,
                        unsigned choices) {
    set_name(out, name);
    for (double accesses = 1.02; accesses <= 1.6; accesses += 0.02) {
        double overflow = 1;
        const tamis_status status =
            tamis_model_balance_region(scheme, choices, accesses, 8, &overflow, NULL);
        point(out, status, accesses, overflow);
    }
}

static void write_regions(FILE *out) {
    fputs("# accesses per insert, least overflow; load 8\n", out);
    plot_region(out, "mht 2", TAMIS_BALANCE_MHT, 2);
    plot_region(out, "mht 3", TAMIS_BALANCE_MHT, 3);
    plot_region(out, "mht 4", TAMIS_BALANCE_MHT, 4);
    plot_region(out, "sequential 2", TAMIS_BALANCE_SEQUENTIAL, 2);
    plot_region(out, "sequential 3", TAMIS_BALANCE_SEQUENTIAL, 3);
    plot_region(out, "sequential 4", TAMIS_BALANCE_SEQUENTIAL, 4);
}

bool plot_data_write(const char *folder, const char **failed) {
    static const struct {
        const char *name;
        void (*write)(FILE *out);
    } files[] = {
        {"error.dat", write_error}, {"loads.dat", write_loads}, {"regions.dat", write_regions}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[4096];
        const int length = snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        FILE *const out = length > 0 && (size_t)length < sizeof path ? fopen(path, "w") : NULL;
        bool good = out != NULL;
        if (good) {
            files[i].write(out);
            good = !ferror(out);
            good = fclose(out) == 0 && good;
        }
        if (!good) {
            *failed = files[i].name;
            return false;
        }
    }
    return true;
}
