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

/* What a simulation found: the mean and its standard error. */
typedef struct measured {
    double mean;
    double standard_error;
} measured;

typedef struct figure figure;
struct figure {
    const char *id; /* "dleft.t1.load4" */
    const char
        *printed; /* as the paper prints it: "6.6e-1"; its digits tell the rounding.  NULL: the
                          * paper shows it in a plot only */
    /* The value by src/model/.  'index' is the entry within a row of figures. */
    tamis_status (*compute)(const figure *self, double *value);
    /* The value on the real structure, NULL as long as there is none; 'full' asks for the paper's own
     * number of trials.  Seeded: the same call gives the same numbers. */
    tamis_status (*simulate)(const figure *self, bool full, measured *value);
    int index;
    double slack; /* relative difference that still agrees, where rounding alone is too strict; the
                       * note then says why.  0: rounding decides */
    const char *typo; /* not NULL: the paper slips here, and how; the verdict becomes "typo" */
    const char *note; /* convention or reason, one line */
};

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
