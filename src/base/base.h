/* base.h - what every room needs: assertions, checked arithmetic, little-endian codecs, memory
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BASE_BASE_H
#define TAMIS_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tamis/tamis.h"

/* States an internal invariant.  Compiled in for tests and fuzzing only.  Arguments of callers and the
 * contents of files are never asserted; they get a status. */
#ifdef TAMIS_TESTING
#include <stdlib.h>
#define TAMIS_ASSERT(condition) ((condition) ? (void)0 : abort())
#else
#define TAMIS_ASSERT(condition) ((void)0)
#endif

#define TAMIS_LINE_BYTES 64u
#define TAMIS_LINE_WORDS 8u

/* TAMIS_INLINE: for functions compiled separately for each set of constant arguments.  TAMIS_APART: for
 * code that a short function seldom needs and should not save registers for.  A function that does nothing
 * but fetch must be TAMIS_INLINE, or be called by its address: GCC takes it for one without any effect, and
 * leaves out its calls. */
#if defined(__GNUC__)
#define TAMIS_INLINE         static inline __attribute__((always_inline))
#define TAMIS_APART          static __attribute__((noinline))
#define TAMIS_LIKELY(x)      __builtin_expect(!!(x), 1)
#define TAMIS_UNLIKELY(x)    __builtin_expect(!!(x), 0)
#define TAMIS_PREFETCH(p)    __builtin_prefetch((p), 0, 3)
#define TAMIS_PREFETCH_RW(p) __builtin_prefetch((p), 1, 3)
#else
#define TAMIS_INLINE         static inline
#define TAMIS_APART          static
#define TAMIS_LIKELY(x)      (x)
#define TAMIS_UNLIKELY(x)    (x)
#define TAMIS_PREFETCH(p)    ((void)(p))
#define TAMIS_PREFETCH_RW(p) ((void)(p))
#endif

/* Only where the compiler has it; on 32-bit machines it does not. hash/hash.h has products for all.
 * Code for one processor family may use it directly. */
#if defined(__SIZEOF_INT128__)
#define TAMIS_I_HAS_U128 1
__extension__ typedef unsigned __int128 tamis_i_u128;
#endif

/* Checked arithmetic: true and the result, or false and no result if it does not fit in 64 bits. */
static inline bool tamis_i_add(uint64_t a, uint64_t b, uint64_t *sum) {
    if (a > UINT64_MAX - b)
        return false;
    *sum = a + b;
    return true;
}

static inline bool tamis_i_mul(uint64_t a, uint64_t b, uint64_t *product) {
    if (b != 0 && a > UINT64_MAX / b)
        return false;
    *product = a * b;
    return true;
}

/* 'value' rounded up to a multiple of 'step' (not 0). */
static inline bool tamis_i_round_up(uint64_t value, uint64_t step, uint64_t *rounded) {
    const uint64_t rest = value % step;
    return tamis_i_add(value, rest == 0 ? 0 : step - rest, rounded);
}

/* Little-endian codecs, byte by byte: right on any machine, and compiled to one move on most. */
static inline uint32_t tamis_i_get_u32(const unsigned char *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t tamis_i_get_u64(const unsigned char *p) {
    return (uint64_t)tamis_i_get_u32(p) | (uint64_t)tamis_i_get_u32(p + 4) << 32;
}

static inline void tamis_i_put_u32(unsigned char *p, uint32_t v) {
    p[0] = (unsigned char)v;
    p[1] = (unsigned char)(v >> 8);
    p[2] = (unsigned char)(v >> 16);
    p[3] = (unsigned char)(v >> 24);
}

static inline void tamis_i_put_u64(unsigned char *p, uint64_t v) {
    tamis_i_put_u32(p, (uint32_t)v);
    tamis_i_put_u32(p + 4, (uint32_t)(v >> 32));
}

static inline bool tamis_i_little_endian(void) {
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* Memory.  A NULL allocator stands for the system's memory: blocks of TAMIS_I_HUGE bytes and more are
 * mapped separately, aligned to a huge page and advised to become huge pages. */
#define TAMIS_I_HUGE ((size_t)2 << 20)

/* A block of 'size' zero bytes, aligned to a cache line; NULL if there is none. */
void *tamis_i_alloc_zeroed(const tamis_allocator *allocator, size_t size);

/* Like tamis_i_alloc_zeroed, but the content does not matter. */
void *tamis_i_alloc(const tamis_allocator *allocator, size_t size);

/* Free what one of the two above returned for 'size'.  NULL is allowed. */
void tamis_i_free(const tamis_allocator *allocator, void *block, size_t size);

/* Is an allocator of a caller complete? */
static inline bool tamis_i_allocator_ok(const tamis_allocator *allocator) {
    return allocator == NULL || (allocator->alloc != NULL && allocator->free != NULL);
}

/* Fill 'seed' with random bits from the system, never 0.  TAMIS_E_IO. */
tamis_status tamis_i_random_seed(uint64_t *seed);

/* What an errno means, as a static text. */
const char *tamis_i_errno_text(int number);

/* Refuse bytes that are not valid: set the reason, return TAMIS_E_FORMAT. */
static inline tamis_status tamis_i_refuse(const char **reason, const char *why) {
    *reason = why;
    return TAMIS_E_FORMAT;
}

/* Copy a struct of the public interface in: 'own_size' bytes at 'own', of which the caller knows the
 * first 'their_size' at 'theirs'.  Members that the caller does not know become zero.  False if the
 * caller knows more than we do and uses it, or if its struct_size makes no sense. */
bool tamis_i_struct_in(void *own, size_t own_size, const void *theirs);

/* Copy a struct out to a caller.  The caller has set struct_size, and it stays.  False if it makes no
 * sense. */
bool tamis_i_struct_out(void *theirs, const void *own, size_t own_size);

#endif
