/* counting_bucket.c - buckets of cells whose heads are compared as vectors, for x86-64 with AVX2 and BMI2
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/native.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "bits/counting_key.h"
#include "bits/x86/heads.h"

#define CHOICES_TARGET TAMIS_I_TARGET_BOTH
#define CHOICES_FIND   tamis_i_heads_find_x86
#define CHOICES_OPS    static const tamis_i_choices_ops ops
#include "bits/choices_template.h"

const tamis_i_choices_ops *tamis_i_counting_bucket_ops_x86(const tamis_i_counting_layout *layout,
                                                           unsigned features) {
    const unsigned needed = TAMIS_I_CPU_AVX2 | TAMIS_I_CPU_BMI2;
    return (features & needed) == needed && layout->cells.heads.vectors ? &ops : NULL;
}

#endif
