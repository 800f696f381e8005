/* plan_curves.h - the rows of src/plan/quick_tables.h, from the models
 *
 * For a rate 2^-bits and each shape of a line: the most keys per line that err no more often, by
 * bisection. The best shape is the one with the most, half a step further.  Then the same shape is solved
 * for rates above it, up to the next row, and the power of the rate that is below all of them taken.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_PLAN_CURVES_H
#define TAMIS_TESTS_PLAN_CURVES_H

#include "plan/quick.h"
#include "tamis/model.h"

#include <math.h>
#include <stdbool.h>

#define CURVE_LINES ((uint64_t)1 << 30) /* as good as infinitely many */
#define CURVE_READS 1.2                 /* as in plan/line.c */
#define CURVE_CAP   2u                  /* as there */
#define CURVE_ODDS  1e-12               /* as in plan/quick.c */
#define CURVE_SHAVE 0.9995              /* for what is between the rates that are looked at */

typedef enum curve_kind { CURVE_BLOCKED, CURVE_LINE, CURVE_WAY, CURVE_KINDS } curve_kind;

static const struct {
    const char *name;
    double first;
    unsigned rows;
} curves[CURVE_KINDS] = {{"blocked", 1, 121}, {"line", 3, 177}, {"way", 8, 289}};

typedef struct curve_shape {
    curve_kind kind;
    unsigned of, cap, limit;
} curve_shape;

static inline tamis_line_shape curve_line_shape(const curve_shape *s) {
    tamis_line_shape line;
    tamis_line_shape_init(&line);
    line.lines = CURVE_LINES;
    line.homes = s->of;
    line.fp_bits_max = s->cap;
    line.set = line.bound = true;
    line.passes_on = s->kind == CURVE_WAY;
    line.load_max = s->limit;
    return line;
}

/* The error rate with so many keys per line; 1 where there is none. */
static inline double curve_rate(const curve_shape *s, double load) {
    double fpr = 1;
    if (s->kind == CURVE_BLOCKED && s->cap != 0)
        return tamis_model_blocked_lanes(s->cap, 512 / s->cap, load, &fpr) == TAMIS_OK ? fpr : 1;
    if (s->kind == CURVE_BLOCKED)
        return tamis_model_blocked(512, load, s->of, &fpr) == TAMIS_OK ? fpr : 1;
    const tamis_line_shape line = curve_line_shape(s);
    const uint64_t n = (uint64_t)(load * (double)CURVE_LINES);
    return tamis_model_line_fpr(&line, n, &fpr) == TAMIS_OK ? fpr : 1;
}

/* Lines that are read, or INFINITY. */
static inline double curve_reads(const curve_shape *s, double load, double *insert) {
    double query = 1;
    *insert = 1;
    const tamis_line_shape line = curve_line_shape(s);
    if (s->kind == CURVE_WAY &&
        tamis_model_line_reads(&line, (uint64_t)(load * (double)CURVE_LINES), &query, insert) !=
            TAMIS_OK)
        return INFINITY;
    return query;
}

/* The most keys per line at this rate. */
static inline double curve_load(const curve_shape *s, double fpr) {
    double low = 0.01, high = s->kind == CURVE_WAY ? 0.98 * s->limit : 1000, insert;
    if (s->kind == CURVE_LINE)
        high = (512 - s->of) / 2.0;
    while (high - low > 1e-9 * low) {
        const double middle = (low + high) / 2;
        if (curve_reads(s, middle, &insert) <= CURVE_READS && curve_rate(s, middle) <= fpr)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The odds that the usual stash is too small, at the worst number of keys. */
static inline double curve_odds(const curve_shape *s, double load) {
    double worst = 0, odds;
    tamis_line_shape line = curve_line_shape(s);
    for (unsigned i = 1; s->kind != CURVE_BLOCKED && i <= 40; i += 3) {
        const uint64_t n = (uint64_t)1 << i;
        line.lines = (uint64_t)ceil((double)n / load);
        if (s->kind == CURVE_WAY && line.lines < 256)
            continue;
        if (tamis_model_line_stash(&line, n, 16 + n / 16384, &odds) != TAMIS_OK)
            return 1;
        worst = fmax(worst, odds);
    }
    return worst;
}

/* Is this shape better than the best one?  Sets the cap first: a little more than the mean line can use. */
static inline bool curve_take(curve_shape *s, double fpr, double *best) {
    double load;
    if (s->kind != CURVE_BLOCKED) {
        s->cap = 56;
        load = curve_load(s, fpr);
        const unsigned bits = (unsigned)fmax((512.0 - s->of) / fmax(load, 1) - 1, 1) + CURVE_CAP;
        s->cap = bits < 56 ? bits : 56;
    }
    load = curve_load(s, fpr);
    /* in the middle of its step, where a shape that only its reads limit is no better than here */
    const double middle = curve_load(s, fpr * exp2(TAMIS_I_CURVE_STEP / 2));
    const double worth = s->kind != CURVE_BLOCKED && s->of == 64 ? middle / 0.995 : middle;
    if (worth <= *best || curve_odds(s, 1.05 * load) > CURVE_ODDS)
        return false;
    *best = worth;
    return true;
}

/* The best shape for 2^-bits; none if its load_max is in the way. */
static inline bool curve_best(curve_kind kind, double bits, curve_shape *best) {
    static const unsigned homes[] = {32, 40, 48, 64, 80, 96, 128};
    const double fpr = exp2(-bits);
    const bool lanes =
        kind == CURVE_BLOCKED && bits > 6.5 && bits <= 10.5; /* as in plan/planners.h */
    double most = 0;
    if (lanes) {
        *best = (curve_shape){.kind = kind, .of = 8, .cap = 8};
        return true;
    }
    for (unsigned i = 0; kind == CURVE_BLOCKED && i < 16; i++) {
        curve_shape s = {.kind = kind, .of = i + 1};
        if (curve_take(&s, fpr, &most))
            *best = s;
    }
    for (unsigned i = 0; kind != CURVE_BLOCKED && i < sizeof homes / sizeof *homes; i++) {
        curve_shape s = {.kind = kind, .of = homes[i]};
        const double about = (512.0 - homes[i]) / (bits + 1);
        if (kind == CURVE_LINE) {
            if (curve_take(&s, fpr, &most))
                *best = s;
            continue;
        }
        for (unsigned limit = (unsigned)(0.7 * about); limit <= 64 && limit <= 1.4 * about + 4;
             limit++) {
            s.limit = limit < 4 ? 4 : limit;
            if (curve_take(&s, fpr, &most))
                *best = s;
        }
    }
    return most > 0;
}

/* Row i of a curve. */
static inline bool curve_row(curve_kind kind, unsigned i, tamis_i_curve *row) {
    enum { PARTS = 8 };
    const double bits = curves[kind].first + i * TAMIS_I_CURVE_STEP, least = exp2(-bits);
    curve_shape s;
    if (!curve_best(kind, bits, &s))
        return false;
    const double load = curve_load(&s, least);
    double gain = INFINITY, end = load, insert;
    for (unsigned j = 0; j <= PARTS; j++) { /* near the row, and then in equal steps */
        const double ratio = exp2((j == 0 ? 0.1 : j) * TAMIS_I_CURVE_STEP / PARTS);
        end = curve_load(&s, least * ratio);
        gain = fmin(gain, log(end / load) / log(ratio));
    }
    const double half = curve_rate(&s, load / 2), half_end = curve_rate(&s, end / 2);
    *row = (tamis_i_curve){
        .load = floor(load * (1 - 1e-6) * 1e6) / 1e6,
        .gain =
            fmax(floor(gain * CURVE_SHAVE * 1e6) / 1e6, 0), /* 0: what may be read is the limit */
        .half = half,
        .half_gain = log(half_end / half) / (TAMIS_I_CURVE_STEP * log(2)),
        .of = (uint8_t)s.of,
        .cap = (uint8_t)s.cap,
        .limit = (uint8_t)s.limit,
    };
    row->query = curve_reads(&s, end, &insert);
    row->insert = insert;
    return true;
}

#endif
