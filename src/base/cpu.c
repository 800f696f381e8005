/* cpu.c - what this processor can do: the only file that asks
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/cpu.h"

#include <stddef.h>
#include <string.h>

#ifdef TAMIS_TESTING
#include <stdlib.h>

static unsigned cpu_switched_off(void) {
    static const struct {
        const char *name;
        unsigned feature;
    } names[] = {{"popcnt", TAMIS_I_CPU_POPCNT},
                 {"bmi2", TAMIS_I_CPU_BMI2},
                 {"avx2", TAMIS_I_CPU_AVX2},
                 {"neon", TAMIS_I_CPU_NEON}};
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
static unsigned cpu_switched_off(void) {
    return 0;
}
#endif

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Not every compiler's __builtin_cpu_supports() knows it.  Asked once: in a virtual machine CPUID takes
 * many microseconds. */
static bool cpu_has_lzcnt(void) {
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

static unsigned cpu_has(void) {
    unsigned features = 0;
    if (__builtin_cpu_supports("popcnt"))
        features |= TAMIS_I_CPU_POPCNT;
    if (__builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && cpu_has_lzcnt())
        features |= TAMIS_I_CPU_BMI2;
    if (__builtin_cpu_supports("avx2"))
        features |= TAMIS_I_CPU_AVX2;
    return features;
}
#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)
/* Every such processor has it. */
static unsigned cpu_has(void) {
    return TAMIS_I_CPU_NEON;
}
#else
static unsigned cpu_has(void) {
    return 0;
}
#endif

unsigned tamis_i_cpu_features(void) {
    return cpu_has() & ~cpu_switched_off();
}
