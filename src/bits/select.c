/* select.c - which kernels to use: the only place that asks for CPU features
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/block.h"
#include "bits/kernels.h"
#include "hash/hash.h"

#ifdef TAMIS_TESTING
#include <stdlib.h>

static unsigned switched_off(void) {
    static const struct {
        const char *name;
        unsigned feature;
    } names[] = {
        {"popcnt", TAMIS_I_CPU_POPCNT}, {"bmi2", TAMIS_I_CPU_BMI2}, {"avx2", TAMIS_I_CPU_AVX2}};
    unsigned off = 0;
    const char *text = getenv("TAMIS_CPU_OFF");
    while (text != NULL && *text != '\0') {
        const size_t length = strcspn(text, ",");
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (strlen(names[i].name) == length && memcmp(names[i].name, text, length) == 0)
                off |= names[i].feature;
        text += length + (text[length] == ',');
    }
    return off;
}
#else
static unsigned switched_off(void) {
    return 0;
}
#endif

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <stdatomic.h>

/* Not every compiler's __builtin_cpu_supports() knows it.  Asked once: in a virtual machine CPUID takes
 * many microseconds. */
static bool has_lzcnt(void) {
    enum { UNKNOWN, NO, YES };
    static atomic_int answer = UNKNOWN;
    int known = atomic_load_explicit(&answer, memory_order_relaxed);
    if (known == UNKNOWN) {
        unsigned a, b, c, d;
        known = __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (c & bit_LZCNT) != 0 ? YES : NO;
        atomic_store_explicit(&answer, known, memory_order_relaxed);
    }
    return known == YES;
}
#endif

unsigned tamis_i_cpu_features(void) {
    unsigned features = 0;
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("popcnt"))
        features |= TAMIS_I_CPU_POPCNT;
    if (__builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && has_lzcnt())
        features |= TAMIS_I_CPU_BMI2;
    if (__builtin_cpu_supports("avx2"))
        features |= TAMIS_I_CPU_AVX2;
#endif
    return features & ~switched_off();
}

void tamis_i_kernels_choose(tamis_i_kernels *kernels, unsigned features) {
    tamis_i_kernels_portable(kernels);
    tamis_i_kernels_x86(kernels, features);
    const bool avx2 = (features & TAMIS_I_CPU_AVX2) != 0;
    kernels->hash_u64 = avx2 ? tamis_i_hash_many_u64_avx2 : tamis_i_hash_many_u64;
    const unsigned both = TAMIS_I_CPU_AVX2 | TAMIS_I_CPU_BMI2;
    kernels->avx2 = (features & both) == both;
    tamis_i_block_portable(kernels);
    tamis_i_block_x86(kernels, features);
}
