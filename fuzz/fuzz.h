/* fuzz.h - what several fuzz targets need
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FUZZ_FUZZ_H
#define TAMIS_FUZZ_FUZZ_H

#include "filter/filter.h"

#include <stdlib.h>
#include <time.h>

static inline void must(bool condition) {
    if (!condition)
        abort();
}

/* ---- memory: no more than the input justifies ---- */

typedef struct budget {
    size_t most;
    size_t live;
} budget;

static inline void *budget_alloc(void *context, size_t size, size_t align) {
    budget *const b = context;
    must(size <= b->most && align >= 64);
    b->live++;
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static inline void budget_free(void *context, void *block, size_t size) {
    budget *const b = context;
    must(size <= b->most && b->live > 0);
    b->live--;
    free(block);
}

/* ---- time: in proportion to the input ---- */

/* Since 'from', no more than what 'size' bytes justify.  Some hundred times what is usual, and sanitizers are
 * slow: only what grows faster than the input comes to this. */
static inline void must_be_quick(clock_t from, size_t size) {
    must((double)(clock() - from) / CLOCKS_PER_SEC <= 0.25 + 20e-6 * (double)size);
}

/* A block of its own with the input but for its first byte, so that a read past the end is seen; to
 * be freed. */
static inline unsigned char *input_after_first(const uint8_t *data, size_t n) {
    unsigned char *const bytes = malloc(n == 1 ? 1 : n - 1);
    must(bytes != NULL);
    memcpy(bytes, data + 1, n - 1);
    return bytes;
}

/* What libFuzzer calls: each target defines it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* ---- filters as bytes ---- */

static inline unsigned char *encode(const tamis_filter *filter, size_t *size) {
    *size = (size_t)tamis_filter_encoded_size(filter);
    unsigned char *const bytes = malloc(*size);
    must(bytes != NULL);
    must(tamis_filter_encode(filter, bytes, *size) == TAMIS_OK);
    return bytes;
}

static inline bool same(const tamis_filter *a, const tamis_filter *b) {
    size_t a_size, b_size;
    unsigned char *const a_bytes = encode(a, &a_size);
    unsigned char *const b_bytes = encode(b, &b_size);
    const bool equal = a_size == b_size && memcmp(a_bytes, b_bytes, a_size) == 0;
    free(a_bytes);
    free(b_bytes);
    return equal;
}

#endif
