/* rank.h - what the planner asks of the model of rank-indexed filters beyond tamis/model.h
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_MODEL_RANK_H
#define TAMIS_MODEL_RANK_H

#include "tamis/model.h"

/* Like tamis_model_rank_optimise, for buckets of exactly 'bucket_bits' bits; buckets of 512 bits are
 * cache lines. */
tamis_status tamis_i_model_rank_exact(uint64_t n, double fpr, double overflow, unsigned extra_bits,
                                      unsigned bucket_bits, tamis_rank_shape *shape);

#endif
