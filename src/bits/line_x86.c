/* line_x86.c - the work on one line of line.h, for x86-64 with POPCNT, BMI2 and AVX2
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/line.h"

const tamis_i_line_ops *tamis_i_line_x86(const tamis_i_line *line, unsigned features,
                                         uint64_t load) {
    (void)line, (void)features, (void)load;
    return NULL;
}
