/* multilevel.h - the walk through the sub-tables that the models of a multilevel table share
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_MODEL_MULTILEVEL_H
#define TAMIS_MODEL_MULTILEVEL_H

#include "base/base.h"
#include "tamis/model.h"

/* The state between two sub-tables, in the caller's work space. */
typedef struct tamis_i_multilevel_walk {
    uint64_t n;
    double *work;
    double *waiting; /* [x], x <= n: probability that x items are handed on */
    double *placed;  /* [x]: expected items placed in the last sub-table, where x went on */
    double neglected;
} tamis_i_multilevel_walk;

/* Begin with exactly n items.  TAMIS_E_DOMAIN, TAMIS_E_ARGUMENT if the work space is too short. */
tamis_status tamis_i_multilevel_start(tamis_i_multilevel_walk *walk, uint64_t n,
                                      const uint64_t *buckets, unsigned n_tables, double *work,
                                      size_t work_len);

/* Pass through one of the sub-tables that were checked at the start. */
void tamis_i_multilevel_pass(tamis_i_multilevel_walk *walk, uint64_t buckets);

/* Probability that at least one item is left. */
double tamis_i_multilevel_crisis(const tamis_i_multilevel_walk *walk);

#endif
