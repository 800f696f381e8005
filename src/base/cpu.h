/* cpu.h - what this processor can do
 *
 * Asked once per handle.  The handle keeps the answer and passes it on to the engines (bits/native.h).
 * Nothing else asks.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BASE_CPU_H
#define TAMIS_BASE_CPU_H

/* Features, as a sum. */
#define TAMIS_I_CPU_POPCNT 1u
#define TAMIS_I_CPU_BMI2   2u /* includes BMI1 and LZCNT, as on every such processor */
#define TAMIS_I_CPU_AVX2   4u
#define TAMIS_I_CPU_NEON   8u
#define TAMIS_I_CPU_AES    16u /* the AES instructions of x86-64, with SSE4.1, or of ARMv8 */
#define TAMIS_I_CPU_VAES   32u /* those of x86-64 on two blocks at a time, with AVX2 */
#define TAMIS_I_CPU_PDEP                                                                           \
    64u /* PDEP and PEXT of BMI2 are quick: before Zen 3, AMD's take up to 300 cycles */

/* The features of this machine that we have engines for; 0: the portable ones.  A library built with
 * TAMIS_TESTING leaves out those listed, separated by commas, in the environment variable TAMIS_CPU_OFF. */
unsigned tamis_i_cpu_features(void);

#endif
