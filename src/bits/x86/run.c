/* run.c - the work on one bucket of bits/run.h, for x86-64 with POPCNT and BMI2
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/run.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "bits/native.h"
#include "hash/x86/target.h"

#include <immintrin.h>

#define RUN_TARGET          TAMIS_I_TARGET_COUNT
#define RUN_ONES(word)      ((unsigned)__builtin_popcountll(word))
#define RUN_SELECT(word, r) ((unsigned)_tzcnt_u64(_pdep_u64((uint64_t)1 << (r), word)))
#define RUN_OPS             static const tamis_i_run_ops ops
#include "bits/run_template.h"

const tamis_i_run_ops *tamis_i_run_ops_x86(const tamis_i_run *run, unsigned features) {
    const unsigned needed = TAMIS_I_CPU_POPCNT | TAMIS_I_CPU_BMI2;
    (void)run;
    return (features & needed) == needed ? &ops : NULL;
}

#endif
