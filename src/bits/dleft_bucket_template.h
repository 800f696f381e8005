/* dleft_bucket_template.h - the search in buckets of dleft_bucket.h, compiled once per processor family
 *
 * The including file defines DLEFT_TARGET, attributes of all functions, and DLEFT_OPS, the declaration of the
 * operations of all eight layouts.  The layouts are here, so that the compiler knows them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/dleft_bucket.h"
#include "bits/field.h"
#include "bits/search.h"

#define GROUP TAMIS_I_DLEFT_GROUP

/* What a state means. */
typedef struct meaning {
    uint8_t bound[5]; /* fingerprints from bound[g] to bound[g+1] begin with the bits g; the last
                       * bound is the load */
    uint8_t alone;    /* bits in which a bucket by itself stores each */
    uint8_t told;     /* bits of each that the state tells */
    uint8_t keeps;    /* 1: at a higher load the state will tell one bit more */
} meaning;

struct tamis_i_dleft_bucket {
    unsigned buckets;      /* in a group */
    unsigned words;        /* of a group */
    unsigned state_bits;   /* of a bucket */
    unsigned payload_bits; /* of a group */
    unsigned load_max;
    unsigned order_bits;        /* leading bits that fingerprints are ordered by */
    const meaning *states;      /* by state */
    const uint8_t *first_state; /* by load */
    const uint8_t *stored;      /* bits of a fingerprint, by fingerprints in the group */
    unsigned number;            /* of the layout */
};

static const meaning states64[16] = {
    {{0, 0, 0, 0, 0}, 62, 0, 1}, {{0, 1, 1, 1, 1}, 60, 0, 1}, {{0, 2, 2, 2, 2}, 30, 0, 1},
    {{0, 3, 3, 3, 3}, 20, 0, 1}, {{0, 0, 4, 4, 4}, 15, 1, 0}, {{0, 1, 4, 4, 4}, 15, 1, 0},
    {{0, 2, 4, 4, 4}, 15, 1, 0}, {{0, 3, 4, 4, 4}, 15, 1, 0}, {{0, 4, 4, 4, 4}, 15, 1, 0},
    {{0, 0, 5, 5, 5}, 12, 1, 0}, {{0, 1, 5, 5, 5}, 12, 1, 0}, {{0, 2, 5, 5, 5}, 12, 1, 0},
    {{0, 3, 5, 5, 5}, 12, 1, 0}, {{0, 4, 5, 5, 5}, 12, 1, 0}, {{0, 5, 5, 5, 5}, 12, 1, 0},
    {{0, 6, 6, 6, 6}, 10, 0, 0},
};
static const uint8_t first64[7] = {0, 1, 2, 3, 4, 9, 15};
static const uint8_t stored64[8] = {62, 60, 30, 20, 15, 12, 10, 0};
static const uint8_t stored64x4[26] = {62, 61, 60, 59, 58, 48, 40, 34, 30, 26, 24, 21, 20,
                                       18, 17, 16, 15, 14, 13, 12, 12, 11, 10, 10, 10, 0};

static const meaning states128[256] = {
    {{0, 0, 0, 0, 0}, 62, 1, 1},     {{0, 0, 1, 1, 1}, 61, 1, 1},
    {{0, 1, 1, 1, 1}, 61, 1, 1},     {{0, 0, 2, 2, 2}, 60, 1, 1},
    {{0, 1, 2, 2, 2}, 60, 1, 1},     {{0, 2, 2, 2, 2}, 60, 1, 1},
    {{0, 0, 3, 3, 3}, 40, 1, 1},     {{0, 1, 3, 3, 3}, 40, 1, 1},
    {{0, 2, 3, 3, 3}, 40, 1, 1},     {{0, 3, 3, 3, 3}, 40, 1, 1},
    {{0, 0, 4, 4, 4}, 30, 1, 1},     {{0, 1, 4, 4, 4}, 30, 1, 1},
    {{0, 2, 4, 4, 4}, 30, 1, 1},     {{0, 3, 4, 4, 4}, 30, 1, 1},
    {{0, 4, 4, 4, 4}, 30, 1, 1},     {{0, 0, 5, 5, 5}, 24, 1, 1},
    {{0, 1, 5, 5, 5}, 24, 1, 1},     {{0, 2, 5, 5, 5}, 24, 1, 1},
    {{0, 3, 5, 5, 5}, 24, 1, 1},     {{0, 4, 5, 5, 5}, 24, 1, 1},
    {{0, 5, 5, 5, 5}, 24, 1, 1},     {{0, 0, 0, 0, 6}, 20, 2, 0},
    {{0, 0, 0, 1, 6}, 20, 2, 0},     {{0, 0, 0, 2, 6}, 20, 2, 0},
    {{0, 0, 0, 3, 6}, 20, 2, 0},     {{0, 0, 0, 4, 6}, 20, 2, 0},
    {{0, 0, 0, 5, 6}, 20, 2, 0},     {{0, 0, 0, 6, 6}, 20, 2, 0},
    {{0, 0, 1, 1, 6}, 20, 2, 0},     {{0, 0, 1, 2, 6}, 20, 2, 0},
    {{0, 0, 1, 3, 6}, 20, 2, 0},     {{0, 0, 1, 4, 6}, 20, 2, 0},
    {{0, 0, 1, 5, 6}, 20, 2, 0},     {{0, 0, 1, 6, 6}, 20, 2, 0},
    {{0, 0, 2, 2, 6}, 20, 2, 0},     {{0, 0, 2, 3, 6}, 20, 2, 0},
    {{0, 0, 2, 4, 6}, 20, 2, 0},     {{0, 0, 2, 5, 6}, 20, 2, 0},
    {{0, 0, 2, 6, 6}, 20, 2, 0},     {{0, 0, 3, 3, 6}, 20, 2, 0},
    {{0, 0, 3, 4, 6}, 20, 2, 0},     {{0, 0, 3, 5, 6}, 20, 2, 0},
    {{0, 0, 3, 6, 6}, 20, 2, 0},     {{0, 0, 4, 4, 6}, 20, 2, 0},
    {{0, 0, 4, 5, 6}, 20, 2, 0},     {{0, 0, 4, 6, 6}, 20, 2, 0},
    {{0, 0, 5, 5, 6}, 20, 2, 0},     {{0, 0, 5, 6, 6}, 20, 2, 0},
    {{0, 0, 6, 6, 6}, 20, 2, 0},     {{0, 1, 1, 1, 6}, 20, 2, 0},
    {{0, 1, 1, 2, 6}, 20, 2, 0},     {{0, 1, 1, 3, 6}, 20, 2, 0},
    {{0, 1, 1, 4, 6}, 20, 2, 0},     {{0, 1, 1, 5, 6}, 20, 2, 0},
    {{0, 1, 1, 6, 6}, 20, 2, 0},     {{0, 1, 2, 2, 6}, 20, 2, 0},
    {{0, 1, 2, 3, 6}, 20, 2, 0},     {{0, 1, 2, 4, 6}, 20, 2, 0},
    {{0, 1, 2, 5, 6}, 20, 2, 0},     {{0, 1, 2, 6, 6}, 20, 2, 0},
    {{0, 1, 3, 3, 6}, 20, 2, 0},     {{0, 1, 3, 4, 6}, 20, 2, 0},
    {{0, 1, 3, 5, 6}, 20, 2, 0},     {{0, 1, 3, 6, 6}, 20, 2, 0},
    {{0, 1, 4, 4, 6}, 20, 2, 0},     {{0, 1, 4, 5, 6}, 20, 2, 0},
    {{0, 1, 4, 6, 6}, 20, 2, 0},     {{0, 1, 5, 5, 6}, 20, 2, 0},
    {{0, 1, 5, 6, 6}, 20, 2, 0},     {{0, 1, 6, 6, 6}, 20, 2, 0},
    {{0, 2, 2, 2, 6}, 20, 2, 0},     {{0, 2, 2, 3, 6}, 20, 2, 0},
    {{0, 2, 2, 4, 6}, 20, 2, 0},     {{0, 2, 2, 5, 6}, 20, 2, 0},
    {{0, 2, 2, 6, 6}, 20, 2, 0},     {{0, 2, 3, 3, 6}, 20, 2, 0},
    {{0, 2, 3, 4, 6}, 20, 2, 0},     {{0, 2, 3, 5, 6}, 20, 2, 0},
    {{0, 2, 3, 6, 6}, 20, 2, 0},     {{0, 2, 4, 4, 6}, 20, 2, 0},
    {{0, 2, 4, 5, 6}, 20, 2, 0},     {{0, 2, 4, 6, 6}, 20, 2, 0},
    {{0, 2, 5, 5, 6}, 20, 2, 0},     {{0, 2, 5, 6, 6}, 20, 2, 0},
    {{0, 2, 6, 6, 6}, 20, 2, 0},     {{0, 3, 3, 3, 6}, 20, 2, 0},
    {{0, 3, 3, 4, 6}, 20, 2, 0},     {{0, 3, 3, 5, 6}, 20, 2, 0},
    {{0, 3, 3, 6, 6}, 20, 2, 0},     {{0, 3, 4, 4, 6}, 20, 2, 0},
    {{0, 3, 4, 5, 6}, 20, 2, 0},     {{0, 3, 4, 6, 6}, 20, 2, 0},
    {{0, 3, 5, 5, 6}, 20, 2, 0},     {{0, 3, 5, 6, 6}, 20, 2, 0},
    {{0, 3, 6, 6, 6}, 20, 2, 0},     {{0, 4, 4, 4, 6}, 20, 2, 0},
    {{0, 4, 4, 5, 6}, 20, 2, 0},     {{0, 4, 4, 6, 6}, 20, 2, 0},
    {{0, 4, 5, 5, 6}, 20, 2, 0},     {{0, 4, 5, 6, 6}, 20, 2, 0},
    {{0, 4, 6, 6, 6}, 20, 2, 0},     {{0, 5, 5, 5, 6}, 20, 2, 0},
    {{0, 5, 5, 6, 6}, 20, 2, 0},     {{0, 5, 6, 6, 6}, 20, 2, 0},
    {{0, 6, 6, 6, 6}, 20, 2, 0},     {{0, 0, 0, 0, 7}, 17, 2, 0},
    {{0, 0, 0, 1, 7}, 17, 2, 0},     {{0, 0, 0, 2, 7}, 17, 2, 0},
    {{0, 0, 0, 3, 7}, 17, 2, 0},     {{0, 0, 0, 4, 7}, 17, 2, 0},
    {{0, 0, 0, 5, 7}, 17, 2, 0},     {{0, 0, 0, 6, 7}, 17, 2, 0},
    {{0, 0, 0, 7, 7}, 17, 2, 0},     {{0, 0, 1, 1, 7}, 17, 2, 0},
    {{0, 0, 1, 2, 7}, 17, 2, 0},     {{0, 0, 1, 3, 7}, 17, 2, 0},
    {{0, 0, 1, 4, 7}, 17, 2, 0},     {{0, 0, 1, 5, 7}, 17, 2, 0},
    {{0, 0, 1, 6, 7}, 17, 2, 0},     {{0, 0, 1, 7, 7}, 17, 2, 0},
    {{0, 0, 2, 2, 7}, 17, 2, 0},     {{0, 0, 2, 3, 7}, 17, 2, 0},
    {{0, 0, 2, 4, 7}, 17, 2, 0},     {{0, 0, 2, 5, 7}, 17, 2, 0},
    {{0, 0, 2, 6, 7}, 17, 2, 0},     {{0, 0, 2, 7, 7}, 17, 2, 0},
    {{0, 0, 3, 3, 7}, 17, 2, 0},     {{0, 0, 3, 4, 7}, 17, 2, 0},
    {{0, 0, 3, 5, 7}, 17, 2, 0},     {{0, 0, 3, 6, 7}, 17, 2, 0},
    {{0, 0, 3, 7, 7}, 17, 2, 0},     {{0, 0, 4, 4, 7}, 17, 2, 0},
    {{0, 0, 4, 5, 7}, 17, 2, 0},     {{0, 0, 4, 6, 7}, 17, 2, 0},
    {{0, 0, 4, 7, 7}, 17, 2, 0},     {{0, 0, 5, 5, 7}, 17, 2, 0},
    {{0, 0, 5, 6, 7}, 17, 2, 0},     {{0, 0, 5, 7, 7}, 17, 2, 0},
    {{0, 0, 6, 6, 7}, 17, 2, 0},     {{0, 0, 6, 7, 7}, 17, 2, 0},
    {{0, 0, 7, 7, 7}, 17, 2, 0},     {{0, 1, 1, 1, 7}, 17, 2, 0},
    {{0, 1, 1, 2, 7}, 17, 2, 0},     {{0, 1, 1, 3, 7}, 17, 2, 0},
    {{0, 1, 1, 4, 7}, 17, 2, 0},     {{0, 1, 1, 5, 7}, 17, 2, 0},
    {{0, 1, 1, 6, 7}, 17, 2, 0},     {{0, 1, 1, 7, 7}, 17, 2, 0},
    {{0, 1, 2, 2, 7}, 17, 2, 0},     {{0, 1, 2, 3, 7}, 17, 2, 0},
    {{0, 1, 2, 4, 7}, 17, 2, 0},     {{0, 1, 2, 5, 7}, 17, 2, 0},
    {{0, 1, 2, 6, 7}, 17, 2, 0},     {{0, 1, 2, 7, 7}, 17, 2, 0},
    {{0, 1, 3, 3, 7}, 17, 2, 0},     {{0, 1, 3, 4, 7}, 17, 2, 0},
    {{0, 1, 3, 5, 7}, 17, 2, 0},     {{0, 1, 3, 6, 7}, 17, 2, 0},
    {{0, 1, 3, 7, 7}, 17, 2, 0},     {{0, 1, 4, 4, 7}, 17, 2, 0},
    {{0, 1, 4, 5, 7}, 17, 2, 0},     {{0, 1, 4, 6, 7}, 17, 2, 0},
    {{0, 1, 4, 7, 7}, 17, 2, 0},     {{0, 1, 5, 5, 7}, 17, 2, 0},
    {{0, 1, 5, 6, 7}, 17, 2, 0},     {{0, 1, 5, 7, 7}, 17, 2, 0},
    {{0, 1, 6, 6, 7}, 17, 2, 0},     {{0, 1, 6, 7, 7}, 17, 2, 0},
    {{0, 1, 7, 7, 7}, 17, 2, 0},     {{0, 2, 2, 2, 7}, 17, 2, 0},
    {{0, 2, 2, 3, 7}, 17, 2, 0},     {{0, 2, 2, 4, 7}, 17, 2, 0},
    {{0, 2, 2, 5, 7}, 17, 2, 0},     {{0, 2, 2, 6, 7}, 17, 2, 0},
    {{0, 2, 2, 7, 7}, 17, 2, 0},     {{0, 2, 3, 3, 7}, 17, 2, 0},
    {{0, 2, 3, 4, 7}, 17, 2, 0},     {{0, 2, 3, 5, 7}, 17, 2, 0},
    {{0, 2, 3, 6, 7}, 17, 2, 0},     {{0, 2, 3, 7, 7}, 17, 2, 0},
    {{0, 2, 4, 4, 7}, 17, 2, 0},     {{0, 2, 4, 5, 7}, 17, 2, 0},
    {{0, 2, 4, 6, 7}, 17, 2, 0},     {{0, 2, 4, 7, 7}, 17, 2, 0},
    {{0, 2, 5, 5, 7}, 17, 2, 0},     {{0, 2, 5, 6, 7}, 17, 2, 0},
    {{0, 2, 5, 7, 7}, 17, 2, 0},     {{0, 2, 6, 6, 7}, 17, 2, 0},
    {{0, 2, 6, 7, 7}, 17, 2, 0},     {{0, 2, 7, 7, 7}, 17, 2, 0},
    {{0, 3, 3, 3, 7}, 17, 2, 0},     {{0, 3, 3, 4, 7}, 17, 2, 0},
    {{0, 3, 3, 5, 7}, 17, 2, 0},     {{0, 3, 3, 6, 7}, 17, 2, 0},
    {{0, 3, 3, 7, 7}, 17, 2, 0},     {{0, 3, 4, 4, 7}, 17, 2, 0},
    {{0, 3, 4, 5, 7}, 17, 2, 0},     {{0, 3, 4, 6, 7}, 17, 2, 0},
    {{0, 3, 4, 7, 7}, 17, 2, 0},     {{0, 3, 5, 5, 7}, 17, 2, 0},
    {{0, 3, 5, 6, 7}, 17, 2, 0},     {{0, 3, 5, 7, 7}, 17, 2, 0},
    {{0, 3, 6, 6, 7}, 17, 2, 0},     {{0, 3, 6, 7, 7}, 17, 2, 0},
    {{0, 3, 7, 7, 7}, 17, 2, 0},     {{0, 4, 4, 4, 7}, 17, 2, 0},
    {{0, 4, 4, 5, 7}, 17, 2, 0},     {{0, 4, 4, 6, 7}, 17, 2, 0},
    {{0, 4, 4, 7, 7}, 17, 2, 0},     {{0, 4, 5, 5, 7}, 17, 2, 0},
    {{0, 4, 5, 6, 7}, 17, 2, 0},     {{0, 4, 5, 7, 7}, 17, 2, 0},
    {{0, 4, 6, 6, 7}, 17, 2, 0},     {{0, 4, 6, 7, 7}, 17, 2, 0},
    {{0, 4, 7, 7, 7}, 17, 2, 0},     {{0, 5, 5, 5, 7}, 17, 2, 0},
    {{0, 5, 5, 6, 7}, 17, 2, 0},     {{0, 5, 5, 7, 7}, 17, 2, 0},
    {{0, 5, 6, 6, 7}, 17, 2, 0},     {{0, 5, 6, 7, 7}, 17, 2, 0},
    {{0, 5, 7, 7, 7}, 17, 2, 0},     {{0, 6, 6, 6, 7}, 17, 2, 0},
    {{0, 6, 6, 7, 7}, 17, 2, 0},     {{0, 6, 7, 7, 7}, 17, 2, 0},
    {{0, 7, 7, 7, 7}, 17, 2, 0},     {{0, 0, 8, 8, 8}, 15, 1, 0},
    {{0, 1, 8, 8, 8}, 15, 1, 0},     {{0, 2, 8, 8, 8}, 15, 1, 0},
    {{0, 3, 8, 8, 8}, 15, 1, 0},     {{0, 4, 8, 8, 8}, 15, 1, 0},
    {{0, 5, 8, 8, 8}, 15, 1, 0},     {{0, 6, 8, 8, 8}, 15, 1, 0},
    {{0, 7, 8, 8, 8}, 15, 1, 0},     {{0, 8, 8, 8, 8}, 15, 1, 0},
    {{0, 0, 9, 9, 9}, 13, 1, 0},     {{0, 1, 9, 9, 9}, 13, 1, 0},
    {{0, 2, 9, 9, 9}, 13, 1, 0},     {{0, 3, 9, 9, 9}, 13, 1, 0},
    {{0, 4, 9, 9, 9}, 13, 1, 0},     {{0, 5, 9, 9, 9}, 13, 1, 0},
    {{0, 6, 9, 9, 9}, 13, 1, 0},     {{0, 7, 9, 9, 9}, 13, 1, 0},
    {{0, 8, 9, 9, 9}, 13, 1, 0},     {{0, 9, 9, 9, 9}, 13, 1, 0},
    {{0, 0, 10, 10, 10}, 12, 1, 0},  {{0, 1, 10, 10, 10}, 12, 1, 0},
    {{0, 2, 10, 10, 10}, 12, 1, 0},  {{0, 3, 10, 10, 10}, 12, 1, 0},
    {{0, 4, 10, 10, 10}, 12, 1, 0},  {{0, 5, 10, 10, 10}, 12, 1, 0},
    {{0, 6, 10, 10, 10}, 12, 1, 0},  {{0, 7, 10, 10, 10}, 12, 1, 0},
    {{0, 8, 10, 10, 10}, 12, 1, 0},  {{0, 9, 10, 10, 10}, 12, 1, 0},
    {{0, 10, 10, 10, 10}, 12, 1, 0}, {{0, 11, 11, 11, 11}, 10, 0, 0},
};
static const uint8_t first128[12] = {0, 1, 3, 6, 10, 15, 21, 105, 225, 234, 244, 255};
static const uint8_t stored128[13] = {62, 61, 60, 40, 30, 24, 20, 17, 15, 13, 12, 10, 0};
static const uint8_t stored128x4[46] = {
    62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 48, 43, 40, 36, 34, 32, 30, 28, 26, 25, 24, 22, 21,
    20, 20, 19, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 12, 12, 11, 11, 11, 10, 0};

/* Without semi-sorting: the state is the load, other states do not occur. */
static const meaning plain64[16] = {
    {{0, 0, 0, 0, 0}, 62, 0, 0}, {{0, 1, 1, 1, 1}, 60, 0, 0}, {{0, 2, 2, 2, 2}, 30, 0, 0},
    {{0, 3, 3, 3, 3}, 20, 0, 0}, {{0, 4, 4, 4, 4}, 15, 0, 0}, {{0, 5, 5, 5, 5}, 12, 0, 0},
    {{0, 6, 6, 6, 6}, 10, 0, 0},
};
static const meaning plain128[256] = {
    {{0, 0, 0, 0, 0}, 62, 0, 0}, {{0, 1, 1, 1, 1}, 61, 0, 0},     {{0, 2, 2, 2, 2}, 60, 0, 0},
    {{0, 3, 3, 3, 3}, 40, 0, 0}, {{0, 4, 4, 4, 4}, 30, 0, 0},     {{0, 5, 5, 5, 5}, 24, 0, 0},
    {{0, 6, 6, 6, 6}, 20, 0, 0}, {{0, 7, 7, 7, 7}, 17, 0, 0},     {{0, 8, 8, 8, 8}, 15, 0, 0},
    {{0, 9, 9, 9, 9}, 13, 0, 0}, {{0, 10, 10, 10, 10}, 12, 0, 0}, {{0, 11, 11, 11, 11}, 10, 0, 0},
};
static const uint8_t first_plain[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

/* Is one of the fields, 'width' bits each, 'length' bits in all, equal to 'rest'?  Bits past the length do
 * not matter. */
TAMIS_INLINE bool match(uint64_t fields, unsigned length, unsigned width, uint64_t rest) {
    const uint64_t ones = tamis_i_repeat[width], high = ones << (width - 1), low = high - ones;
    const uint64_t x = fields ^ rest * ones;
    return (~(((x & low) + low) | x) & high & tamis_i_low_mask(length)) != 0;
}

/* The states are the last bits of the last word. */
TAMIS_INLINE const meaning *meaning_of(const tamis_i_dleft_bucket *layout, const uint64_t *group,
                                       unsigned bucket) {
    const unsigned shift = 64 - layout->state_bits * (layout->buckets - bucket);
    const unsigned mask = (1u << layout->state_bits) - 1;
    return &layout->states[group[layout->words - 1] >> shift & mask];
}

/* Where the fingerprints of a bucket are. */
typedef struct place {
    const meaning *state;
    unsigned at;     /* the first bit */
    unsigned stored; /* bits of each */
} place;

TAMIS_INLINE place place_of(const tamis_i_dleft_bucket *layout, const uint64_t *group,
                            unsigned bucket) {
    place p = {.state = meaning_of(layout, group, bucket)};
    if (layout->buckets == 1) {
        p.stored = p.state->alone;
        return p;
    }
    const meaning *states[GROUP];
    unsigned all = 0;
    for (unsigned i = 0; i < GROUP; i++) {
        states[i] = meaning_of(layout, group, i);
        all += states[i]->bound[4];
    }
    const unsigned bits = layout->stored[all];
    const unsigned stays = layout->stored[all + 1] == bits;
    for (unsigned i = 0; i < GROUP - 1; i++)
        p.at += i < bucket ? states[i]->bound[4] * (bits + (states[i]->keeps & stays)) : 0;
    p.stored = bits + (p.state->keeps & stays);
    return p;
}

TAMIS_INLINE bool find_in(const tamis_i_dleft_bucket *layout, const uint64_t *group,
                          unsigned bucket, uint64_t print) {
    const place p = place_of(layout, group, bucket);
    const unsigned width = p.stored;
    const uint64_t wanted = print >> (64 - width - p.state->told);
    const uint8_t *const bound = p.state->bound + (wanted >> width);
    const uint64_t rest = wanted & tamis_i_low_mask(width);
    unsigned at = p.at + bound[0] * width, length = (unsigned)(bound[1] - bound[0]) * width;
    if (TAMIS_LIKELY(length <= 64)) {
        /* Two words from the first bit on; past the last word of the group nothing is needed. */
        const unsigned word = at / 64, shift = at % 64;
        const unsigned next = word + 1 < layout->words ? word + 1 : word;
        const uint64_t fields = group[word] >> shift | group[next] << 1 << (63 - shift);
        return match(fields, length, width, rest);
    }
    for (const unsigned step = tamis_i_whole[width]; length > 0; at += step) {
        const unsigned now = length < step ? length : step;
        if (match(tamis_i_field_get(group, at, now), now, width, rest))
            return true;
        length -= now;
    }
    return false;
}

/* The search in a single bucket of 64 bits, state by state: the whole word is compared at once, and a mask
 * says which fields count for each first bit. */
typedef struct plan64 {
    uint64_t ones;    /* the lowest bits of all fields */
    uint64_t low;     /* all but the highest bits of all fields */
    uint64_t high[2]; /* the highest bits of the fields that begin with 0, with 1 */
    uint64_t rest;    /* the bits of a fingerprint that are stored */
    uint8_t shift;    /* brings the bits told of a full fingerprint down */
    uint8_t width;    /* of a field */
} plan64;

static const plan64 plans64[16] = {
    {0x0u, 0x0u, {0x0u, 0x0u}, 0xfffffffffffffffu, 4, 60},
    {0x1u, 0x7ffffffffffffffu, {0x800000000000000u, 0x0u}, 0xfffffffffffffffu, 4, 60},
    {0x40000001u, 0x7ffffffdfffffffu, {0x800000020000000u, 0x0u}, 0x3fffffffu, 34, 30},
    {0x10000100001u, 0x7ffff7ffff7ffffu, {0x800008000080000u, 0x0u}, 0xfffffu, 44, 20},
    {0x200040008001u, 0x7ffefffdfffbfffu, {0x0u, 0x800100020004000u}, 0x7fffu, 48, 15},
    {0x200040008001u, 0x7ffefffdfffbfffu, {0x4000u, 0x800100020000000u}, 0x7fffu, 48, 15},
    {0x200040008001u, 0x7ffefffdfffbfffu, {0x20004000u, 0x800100000000000u}, 0x7fffu, 48, 15},
    {0x200040008001u, 0x7ffefffdfffbfffu, {0x100020004000u, 0x800000000000000u}, 0x7fffu, 48, 15},
    {0x200040008001u, 0x7ffefffdfffbfffu, {0x800100020004000u, 0x0u}, 0x7fffu, 48, 15},
    {0x1001001001001u, 0x7ff7ff7ff7ff7ffu, {0x0u, 0x800800800800800u}, 0xfffu, 51, 12},
    {0x1001001001001u, 0x7ff7ff7ff7ff7ffu, {0x800u, 0x800800800800000u}, 0xfffu, 51, 12},
    {0x1001001001001u, 0x7ff7ff7ff7ff7ffu, {0x800800u, 0x800800800000000u}, 0xfffu, 51, 12},
    {0x1001001001001u, 0x7ff7ff7ff7ff7ffu, {0x800800800u, 0x800800000000000u}, 0xfffu, 51, 12},
    {0x1001001001001u, 0x7ff7ff7ff7ff7ffu, {0x800800800800u, 0x800000000000000u}, 0xfffu, 51, 12},
    {0x1001001001001u, 0x7ff7ff7ff7ff7ffu, {0x800800800800800u, 0x0u}, 0xfffu, 51, 12},
    {0x4010040100401u, 0x7fdff7fdff7fdffu, {0x802008020080200u, 0x0u}, 0x3ffu, 54, 10},
};

TAMIS_INLINE bool find_in_64(const uint64_t *group, uint64_t print) {
    const plan64 *const s = &plans64[group[0] >> 60];
    const uint64_t wanted = print >> s->shift;
    const uint64_t x = group[0] ^ (wanted & s->rest) * s->ones;
    return (~(((x & s->low) + s->low) | x) & s->high[wanted >> s->width]) != 0;
}

static const tamis_i_dleft_bucket layouts[8] = {
    {1, 1, 4, 60, 6, 1, states64, first64, stored64, 0},
    {4, 4, 4, 240, 6, 1, states64, first64, stored64x4, 1},
    {1, 2, 8, 120, 11, 2, states128, first128, stored128, 2},
    {4, 8, 8, 480, 11, 2, states128, first128, stored128x4, 3},
    {1, 1, 4, 60, 6, 0, plain64, first_plain, stored64, 4},
    {4, 4, 4, 240, 6, 0, plain64, first_plain, stored64x4, 5},
    {1, 2, 8, 120, 11, 0, plain128, first_plain, stored128, 6},
    {4, 8, 8, 480, 11, 0, plain128, first_plain, stored128x4, 7},
};

/* The same search, compiled for each layout: for one key in one bucket, and for many keys in all their
 * buckets. */
#define SEARCH(number, find)                                                                       \
    DLEFT_TARGET static bool dleft_find_##number(const uint64_t *group, unsigned bucket,           \
                                                 uint64_t print) {                                 \
        (void)bucket;                                                                              \
        return find;                                                                               \
    }                                                                                              \
    DLEFT_TARGET static void dleft_search_##number(const tamis_i_probe *probes, size_t n,          \
                                                   unsigned d, const tamis_i_probe *next,          \
                                                   bool *found) {                                  \
        for (size_t i = 0; i < n; i++) {                                                           \
            const tamis_i_probe *const p = &probes[i];                                             \
            bool is = false;                                                                       \
            for (unsigned j = 0; j < d; j++) {                                                     \
                const uint64_t *const group = p->at[j];                                            \
                const unsigned bucket = (unsigned)p->word[1 + j];                                  \
                const uint64_t print = p->word[0];                                                 \
                (void)bucket;                                                                      \
                TAMIS_PREFETCH(next[i].at[j]);                                                     \
                is |= find;                                                                        \
            }                                                                                      \
            found[i] = is;                                                                         \
        }                                                                                          \
    }

SEARCH(0, find_in_64(group, print))
SEARCH(1, find_in(&layouts[1], group, bucket, print))
SEARCH(2, find_in(&layouts[2], group, bucket, print))
SEARCH(3, find_in(&layouts[3], group, bucket, print))
SEARCH(4, find_in(&layouts[4], group, bucket, print))
SEARCH(5, find_in(&layouts[5], group, bucket, print))
SEARCH(6, find_in(&layouts[6], group, bucket, print))
SEARCH(7, find_in(&layouts[7], group, bucket, print))

DLEFT_OPS = {{dleft_find_0, dleft_search_0}, {dleft_find_1, dleft_search_1},
             {dleft_find_2, dleft_search_2}, {dleft_find_3, dleft_search_3},
             {dleft_find_4, dleft_search_4}, {dleft_find_5, dleft_search_5},
             {dleft_find_6, dleft_search_6}, {dleft_find_7, dleft_search_7}};

#undef SEARCH
