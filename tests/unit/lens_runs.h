/* lens_runs.h - does this processor have what a test of tamis/inline.h is compiled for?
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_LENS_RUNS_H
#define TAMIS_TESTS_LENS_RUNS_H

#include "tamis/inline.h"

#ifdef TAMIS_LENS_X86
static inline bool test_lens_runs(void) {
#ifdef TAMIS_LENS_AVX512
    if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512cd") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl") ||
        !__builtin_cpu_supports("avx512ifma") || !__builtin_cpu_supports("avx512vbmi") ||
        !__builtin_cpu_supports("avx512vbmi2") || !__builtin_cpu_supports("avx512vpopcntdq"))
        return false;
#endif
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("aes");
}
#endif

#endif
