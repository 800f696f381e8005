/* experiments.h - the figures that the papers print, as a table that can be run
 *
 * Each paper has one file here, with one array of figures.  'tamis reproduce' walks all of them.
 * Clients of the public headers only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_EXPERIMENTS_H
#define TAMIS_EXPERIMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tamis/model.h>
#include <tamis/tamis.h>

/* The result of a simulation: the mean and its standard error, 0 if no chance is involved.  'expected'
 * is what the model says of the simulated structure, if that is not the one of the figure: odds of 1e-9
 * cannot be seen, those of a weaker structure can.  NaN: that of the figure; if that has neither a model nor
 * a number of the paper, the row is data, which is shown and not judged. */
typedef struct measured {
    double mean;
    double standard_error;
    double expected;
} measured;

/* One call of 'tamis reproduce'.  Figures that come from the same simulation share it: see simulate.h. */
typedef struct run {
    bool full; /* as often as the papers did */
    struct memo *memos;
} run;

/* A mistake of the paper: what it should have printed, in the same form, and how it came about. */
typedef struct slip {
    const char *corrected;
    const char *how;
} slip;

#define SLIP(corrected, how) (&(const slip){corrected, how})

typedef struct figure figure;
struct figure {
    const char *id; /* "dleft.t1.load4" */
    /* As the paper prints it: "6.6e-1"; its digits tell the rounding.  NULL: the paper only shows it in a
     * plot, or does not have it. */
    const char *printed;
    /* The value by src/model/.  'index' is the entry within a row of figures. */
    tamis_status (*compute)(const figure *self, double *value);
    /* The value on the real structure, or NULL.  Seeded: the same call gives the same numbers. */
    tamis_status (*simulate)(const figure *self, run *r, measured *value);
    int index;
    /* Relative difference from the printed number that still agrees, if rounding alone is too strict; the
     * note then says why.  0: rounding decides. */
    double slack;
    /* Not NULL: a mistake of the paper; the verdict becomes "typo" if the corrected value is met. */
    const slip *typo;
    const char *note; /* convention or reason, one line */
};

/* A figure whose id is 'id', which stands without quotes, and its index. */
#define INDEXED_FIGURE(id, compute, simulate, slack, note, i, printed)                             \
    { #id #i, printed, compute, simulate, i, slack, NULL, note }

/* Four of them that differ by the index alone: for each the index and what is printed. */
#define FOUR_FIGURES(id, compute, simulate, slack, note, i, a, j, b, k, c, l, d)                   \
    INDEXED_FIGURE(id, compute, simulate, slack, note, i, a),                                      \
        INDEXED_FIGURE(id, compute, simulate, slack, note, j, b),                                  \
        INDEXED_FIGURE(id, compute, simulate, slack, note, k, c),                                  \
        INDEXED_FIGURE(id, compute, simulate, slack, note, l, d)

typedef struct figure_list {
    const char *paper; /* "bonomi2006-dleft-dynamic" */
    const figure *figures;
    size_t n_figures;
} figure_list;

extern const figure_list figures_dleft;      /* bonomi_dynamic.c */
extern const figure_list figures_dlcbf;      /* bonomi_counting.c */
extern const figure_list figures_multilevel; /* kirsch.c */
extern const figure_list figures_rank;       /* hua.c */
extern const figure_list figures_balance;    /* kanizo.c */

#endif
