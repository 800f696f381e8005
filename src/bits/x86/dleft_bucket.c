/* dleft_bucket.c - the search in d-left buckets, for x86-64 with BMI2: its shifts and masks take half
 * the instructions
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/native.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "hash/x86/target.h"

#define DLEFT_TARGET TAMIS_I_TARGET_BMI2
#define DLEFT(name)  dleft_bmi2_##name
#define DLEFT_OPS    static const tamis_i_dleft_bucket_ops ops[8]
#include "bits/dleft_bucket_template.h"

const tamis_i_dleft_bucket_ops *tamis_i_dleft_bucket_ops_x86(unsigned number, unsigned features) {
    return (features & TAMIS_I_CPU_BMI2) != 0 ? &ops[number] : NULL;
}

#endif
