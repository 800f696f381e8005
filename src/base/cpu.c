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
    } names[] = {{"popcnt", TAMIS_I_CPU_POPCNT}, {"bmi2", TAMIS_I_CPU_BMI2},
                 {"avx2", TAMIS_I_CPU_AVX2},     {"neon", TAMIS_I_CPU_NEON},
                 {"aes", TAMIS_I_CPU_AES},       {"vaes", TAMIS_I_CPU_VAES},
                 {"pdep", TAMIS_I_CPU_PDEP}};
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

#define CPU_HYGON 0x6f677948u /* "Hygo" */

/* What not every compiler's __builtin_cpu_supports() knows.  Asked once: in a virtual machine CPUID takes
 * many microseconds. */
enum { CPU_ASKED = 1, CPU_LZCNT = 2, CPU_AES = 4, CPU_VAES = 8, CPU_SLOW_PDEP = 16 };

/* Zen 1 and 2 are family 0x17, those by Hygon 0x18; before them Excavator, 0x15, had BMI2. */
static int cpu_has_slow_pdep(void) {
    unsigned a, b, c, d;
    if (__get_cpuid(0, &a, &b, &c, &d) == 0 ||
        (b != signature_AMD_ebx && b != CPU_HYGON)) /* the first four letters */
        return 0;
    (void)__get_cpuid(1, &a, &b, &c, &d);
    const unsigned base = a >> 8 & 15, family = base + (base == 15 ? a >> 20 & 255 : 0);
    return family < 0x19;
}

static int cpu_ask(void) {
    unsigned a, b, c, d;
    int answer = CPU_ASKED;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (c & bit_LZCNT) != 0)
        answer |= CPU_LZCNT;
    if (__get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_AES) != 0 && (c & bit_SSE4_1) != 0)
        answer |= CPU_AES;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & 1u << 9) != 0)
        answer |= CPU_VAES;
    if (cpu_has_slow_pdep())
        answer |= CPU_SLOW_PDEP;
    return answer;
}

static int cpu_answer(void) {
    static atomic_int known;
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer == 0) {
        answer = cpu_ask();
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer;
}

static unsigned cpu_has(void) {
    const int answer = cpu_answer();
    unsigned features = 0;
    if (__builtin_cpu_supports("popcnt"))
        features |= TAMIS_I_CPU_POPCNT;
    if (__builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
        (answer & CPU_LZCNT) != 0)
        features |= TAMIS_I_CPU_BMI2;
    if ((features & TAMIS_I_CPU_BMI2) != 0 && (answer & CPU_SLOW_PDEP) == 0)
        features |= TAMIS_I_CPU_PDEP;
    if (__builtin_cpu_supports("avx2"))
        features |= TAMIS_I_CPU_AVX2;
    if ((answer & CPU_AES) != 0)
        features |= TAMIS_I_CPU_AES;
    /* The system keeps long registers if it does so for AVX2. */
    if ((answer & CPU_VAES) != 0 && (features & TAMIS_I_CPU_AVX2) != 0)
        features |= TAMIS_I_CPU_VAES;
    return features;
}
#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)
#ifdef __linux__
#include <sys/auxv.h>

static unsigned cpu_has_aes(void) {
    const unsigned long aes = 1ul << 3; /* HWCAP_AES of the kernel's interface */
    return (getauxval(AT_HWCAP) & aes) != 0 ? TAMIS_I_CPU_AES : 0;
}
#else
static unsigned cpu_has_aes(void) {
#if defined(__ARM_FEATURE_AES) || defined(__ARM_FEATURE_CRYPTO)
    return TAMIS_I_CPU_AES; /* the compiler was told so */
#else
    return 0;
#endif
}
#endif

/* Every such processor has NEON. */
static unsigned cpu_has(void) {
    return TAMIS_I_CPU_NEON | cpu_has_aes();
}
#else
static unsigned cpu_has(void) {
    return 0;
}
#endif

unsigned tamis_i_cpu_features(void) {
    return cpu_has() & ~cpu_switched_off();
}
