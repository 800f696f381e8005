/* target.h - the sets of instructions that code is compiled for on x86-64
 *
 * The one place that names them to the compiler.  A function marked with one of these may be called only
 * where the processor has the features beside it (base/cpu.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_HASH_X86_TARGET_H
#define TAMIS_HASH_X86_TARGET_H

#define TAMIS_I_TARGET_POPCNT __attribute__((target("popcnt")))
#define TAMIS_I_TARGET_BMI2   __attribute__((target("bmi,bmi2")))
#define TAMIS_I_TARGET_AVX2   __attribute__((target("avx2")))
#define TAMIS_I_TARGET_COUNT  __attribute__((target("popcnt,bmi,bmi2"))) /* POPCNT, BMI2 */
#define TAMIS_I_TARGET_BOTH   __attribute__((target("avx2,bmi,bmi2")))   /* AVX2, BMI2 */
/* All three.  The order of instructions is that for processors with AVX2, not for the oldest x86-64. */
#define TAMIS_I_TARGET_ALL __attribute__((target("popcnt,bmi,bmi2,lzcnt,avx2,tune=znver2")))

#define TAMIS_I_TARGET_AES      __attribute__((target("aes,sse4.1")))    /* AES */
#define TAMIS_I_TARGET_AES_AVX2 __attribute__((target("aes,avx2")))      /* AES, AVX2 */
#define TAMIS_I_TARGET_VAES     __attribute__((target("vaes,aes,avx2"))) /* AES, AVX2, VAES */

/* ALL, and AES */
#define TAMIS_I_TARGET_ALL_AES                                                                     \
    __attribute__((target("popcnt,bmi,bmi2,lzcnt,avx2,aes,sse4.1,tune=znver2")))

#endif
