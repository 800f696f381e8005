/* shrink.c - buckets whose fingerprints shrink as they fill
 *
 * A bucket of 64 bits has 60 bits for fingerprints and 4 for its state, one of 128 bits has 120 and 8.
 * With load a, each fingerprint gets floor(60/a) bits.  When one is added, all lose their last bits;
 * what is left is still a prefix of the full fingerprint, and that is all that a query needs.
 *
 * Semi-sorting.  Fingerprints are kept in the order of their first bit (128: first two bits).  The state
 * then tells, beside the load, how many of them begin with 0 (128: with 00, 01, 10, 11), and that bit
 * (those bits) need not be stored.  The states go as far as this:
 *
 *      64 bits    loads 0 to 3, 6          1 state each                       5
 *                 load 4: 5, load 5: 6     how many begin with 0             11     together  16
 *      128 bits   loads 0 to 5, 8 to 10    how many begin with 0             51
 *                 load 6: C(9,3) = 84      how many begin with 00, 01, 10    84
 *                 load 7: C(10,3) = 120                                     120
 *                 load 11                  1 state                            1     together 256
 *
 * so that the fingerprint told is one or two bits longer than the one stored:
 *
 *      64 bits    load  1  2  3  4  5  6             128 bits   load  1  2  3  4  5  6  7  8  9 10 11
 *               stored 60 30 20 15 12 10                      stored 61 60 40 30 24 20 17 15 13 12 10
 *                 told 60 30 20 16 13 10                        told 62 61 41 31 25 22 19 16 14 13 10
 *
 * (More than about 60 stored bits would gain nothing.)
 *
 * Groups.  Four buckets may share their bits: with T fingerprints in the group each is stored in
 * floor(240/T) bits, and the one or two bits told by the state of its bucket come on top.  One thing must be
 * seen to: a bucket that goes from load 3 to 4 (128: from 5 to 6) tells one bit more than before, and
 * if floor(240/T) stays the same, that bit must have been kept.  So in a group whose next fingerprint
 * will not make the others shorter, buckets with load 3 (5) or less store one bit more, out of those that
 * the division leaves over.  A test goes through all loads of four buckets.
 *
 * Layout of a group of n buckets, from bit 0 up:
 *
 *      [ fingerprints of bucket 0 | of bucket 1 | ... | zeros ][ states of buckets 0, 1, ... ]
 *        60 n (120 n) bits in all                                4 (8) bits each
 *
 * Search.  The state bounds the fingerprints that begin as the wanted one does.  They lie side by side,
 * two of them on average, and are compared at once: the wanted one is repeated by a multiplication,
 * and fields of x = stored ^ repeated that are zero are found without a carry from field to field:
 * with H the highest bits and L the other bits of all fields, ((x & L) + L) | x has the highest bit clear
 * just where the field is zero.
 *
 * Plain buckets are those of section II.A: not semi-sorted, the state is the load, and the fingerprints
 * are those stored, in the order in which they came.
 *
 * Invariants, tested by tamis_i_shrink_check():
 *   B1  fingerprints of a bucket are in the order of their first bit (two bits), older ones first;
 *   B2  bits past the last fingerprint are zero.
 *
 * After Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese, "Bloom Filters via d-Left Hashing and Dynamic
 * Bit Reassignment", Allerton 2006, sections II.A to II.C.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/shrink.h"

#include "base/cpu.h"
#include "bits/field.h"
#include "bits/group.h"
#include "bits/search.h"

#define GROUP TAMIS_I_SHRINK_GROUP
#define LOADS TAMIS_I_SHRINK_LOADS

/* What a state means. */
typedef struct meaning {
    uint8_t bound[5]; /* fingerprints from bound[g] to bound[g+1] begin with the bits g; the last
                       * bound is the load */
    uint8_t alone;    /* bits in which a bucket by itself stores each */
    uint8_t told;     /* bits of each that the state tells */
    uint8_t keeps;    /* 1: at a higher load the state will tell one bit more */
} meaning;

struct tamis_i_shrink {
    unsigned buckets;      /* in a group */
    unsigned words;        /* of a group */
    unsigned state_bits;   /* of a bucket */
    unsigned payload_bits; /* of a group */
    unsigned load_max;
    unsigned order_bits;        /* leading bits that fingerprints are ordered by */
    const meaning *states;      /* by state */
    const uint8_t *first_state; /* by load */
    const uint8_t *stored;      /* bits of a fingerprint, by fingerprints in the group */
    tamis_i_shrink_finder *find;
    tamis_i_shrink_searcher *search[2]; /* portable, with BMI2 */
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
TAMIS_INLINE const meaning *meaning_of(const tamis_i_shrink *layout, const uint64_t *group,
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

TAMIS_INLINE place place_of(const tamis_i_shrink *layout, const uint64_t *group, unsigned bucket) {
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

TAMIS_INLINE bool find_in(const tamis_i_shrink *layout, const uint64_t *group, unsigned bucket,
                          uint64_t print) {
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

static const tamis_i_shrink layouts[8];

/* The same search, compiled for each layout: for one key in one bucket, and for many keys in all their
 * buckets, once more with BMI2, whose shifts and masks take half the instructions. */
#define SEARCH(suffix, attributes, find)                                                           \
    attributes static void search##suffix(const tamis_i_probe *probes, size_t n, unsigned d,       \
                                          const tamis_i_probe *next, bool *found) {                \
        for (size_t i = 0; i < n; i++) {                                                           \
            const tamis_i_probe *const p = &probes[i];                                             \
            bool is = false;                                                                       \
            for (unsigned j = 0; j < d; j++) {                                                     \
                TAMIS_PREFETCH(next[i].at[j]);                                                     \
                is |= find(p->at[j], (unsigned)p->word[1 + j], p->word[0]);                        \
            }                                                                                      \
            found[i] = is;                                                                         \
        }                                                                                          \
    }

#define FIND_64(group, bucket, print)    find_in_64(group, print)
#define FIND_64X4(group, bucket, print)  find_in(&layouts[1], group, bucket, print)
#define FIND_128(group, bucket, print)   find_in(&layouts[2], group, bucket, print)
#define FIND_128X4(group, bucket, print) find_in(&layouts[3], group, bucket, print)

#define FIND_64P(group, bucket, print)    find_in(&layouts[4], group, bucket, print)
#define FIND_64X4P(group, bucket, print)  find_in(&layouts[5], group, bucket, print)
#define FIND_128P(group, bucket, print)   find_in(&layouts[6], group, bucket, print)
#define FIND_128X4P(group, bucket, print) find_in(&layouts[7], group, bucket, print)

SEARCH(64, , FIND_64)
SEARCH(64x4, , FIND_64X4)
SEARCH(128, , FIND_128)
SEARCH(128x4, , FIND_128X4)
SEARCH(64p, , FIND_64P)
SEARCH(64x4p, , FIND_64X4P)
SEARCH(128p, , FIND_128P)
SEARCH(128x4p, , FIND_128X4P)

#if defined(__x86_64__) && defined(__GNUC__)
#define BMI2 __attribute__((target("bmi,bmi2")))
SEARCH(64_bmi2, BMI2, FIND_64)
SEARCH(64x4_bmi2, BMI2, FIND_64X4)
SEARCH(128_bmi2, BMI2, FIND_128)
SEARCH(128x4_bmi2, BMI2, FIND_128X4)
#else
#define search64_bmi2    search64
#define search64x4_bmi2  search64x4
#define search128_bmi2   search128
#define search128x4_bmi2 search128x4
#endif

static bool find64(const uint64_t *group, unsigned bucket, uint64_t print) {
    (void)bucket;
    return find_in_64(group, print);
}

static bool find64x4(const uint64_t *group, unsigned bucket, uint64_t print) {
    return find_in(&layouts[1], group, bucket, print);
}

static bool find128(const uint64_t *group, unsigned bucket, uint64_t print) {
    return find_in(&layouts[2], group, bucket, print);
}

static bool find128x4(const uint64_t *group, unsigned bucket, uint64_t print) {
    return find_in(&layouts[3], group, bucket, print);
}

/* Plain buckets are there to be compared with: no kernels of their own. */
static bool find64p(const uint64_t *group, unsigned bucket, uint64_t print) {
    return find_in(&layouts[4], group, bucket, print);
}

static bool find64x4p(const uint64_t *group, unsigned bucket, uint64_t print) {
    return find_in(&layouts[5], group, bucket, print);
}

static bool find128p(const uint64_t *group, unsigned bucket, uint64_t print) {
    return find_in(&layouts[6], group, bucket, print);
}

static bool find128x4p(const uint64_t *group, unsigned bucket, uint64_t print) {
    return find_in(&layouts[7], group, bucket, print);
}

static const tamis_i_shrink layouts[8] = {
    {1, 1, 4, 60, 6, 1, states64, first64, stored64, find64, {search64, search64_bmi2}},
    {4, 4, 4, 240, 6, 1, states64, first64, stored64x4, find64x4, {search64x4, search64x4_bmi2}},
    {1, 2, 8, 120, 11, 2, states128, first128, stored128, find128, {search128, search128_bmi2}},
    {4,
     8,
     8,
     480,
     11,
     2,
     states128,
     first128,
     stored128x4,
     find128x4,
     {search128x4, search128x4_bmi2}},
    {1, 1, 4, 60, 6, 0, plain64, first_plain, stored64, find64p, {search64p, search64p}},
    {4, 4, 4, 240, 6, 0, plain64, first_plain, stored64x4, find64x4p, {search64x4p, search64x4p}},
    {1, 2, 8, 120, 11, 0, plain128, first_plain, stored128, find128p, {search128p, search128p}},
    {4,
     8,
     8,
     480,
     11,
     0,
     plain128,
     first_plain,
     stored128x4,
     find128x4p,
     {search128x4p, search128x4p}},
};

const tamis_i_shrink *tamis_i_shrink_layout(uint64_t bucket_bits, uint64_t group, bool plain) {
    if ((bucket_bits != 64 && bucket_bits != 128) || (group != 1 && group != GROUP))
        return NULL;
    return &layouts[4 * plain + 2 * (bucket_bits == 128) + (group == GROUP)];
}

unsigned tamis_i_shrink_words(const tamis_i_shrink *layout) {
    return layout->words;
}

unsigned tamis_i_shrink_load_max(const tamis_i_shrink *layout) {
    return layout->load_max;
}

tamis_i_shrink_finder *tamis_i_shrink_find(const tamis_i_shrink *layout) {
    return layout->find;
}

tamis_i_shrink_searcher *tamis_i_shrink_search(const tamis_i_shrink *layout, unsigned features) {
    return layout->search[(features & TAMIS_I_CPU_BMI2) != 0];
}

unsigned tamis_i_shrink_load(const tamis_i_shrink *layout, const uint64_t *group, unsigned bucket) {
    return meaning_of(layout, group, bucket)->bound[4];
}

unsigned tamis_i_shrink_bits_alone(const tamis_i_shrink *layout, unsigned load) {
    const meaning *const any = &layout->states[layout->first_state[load]];
    return any->alone + any->told;
}

unsigned tamis_i_shrink_bits(const tamis_i_shrink *layout, const uint64_t *group, unsigned bucket) {
    const place p = place_of(layout, group, bucket);
    return p.stored + p.state->told;
}

/* The bits that fingerprints are ordered by. */
static uint64_t order_of(const tamis_i_shrink *layout, uint64_t print) {
    return layout->order_bits == 0 ? 0 : print >> (64 - layout->order_bits);
}

/* A group taken apart: full fingerprints, of which only the bits that were told are not zero. */
typedef struct parts {
    unsigned load[GROUP];
    uint64_t print[GROUP][LOADS];
} parts;

static void take_apart(const tamis_i_shrink *layout, const uint64_t *group, parts *out) {
    for (unsigned b = 0; b < layout->buckets; b++) {
        const place p = place_of(layout, group, b);
        out->load[b] = p.state->bound[4];
        unsigned begins = 0;
        for (unsigned i = 0; i < out->load[b]; i++) {
            while (i >= p.state->bound[begins + 1])
                begins++;
            const uint64_t rest = tamis_i_field_get(group, p.at + i * p.stored, p.stored);
            out->print[b][i] = ((uint64_t)begins << p.stored | rest)
                               << (64 - p.stored - p.state->told);
        }
    }
}

/* The state of a bucket whose fingerprints are in order: the number of its bounds among those of its load,
 * in the order of the tables: by how many begin with the first bits, then with the next, ... */
static unsigned state_for(const tamis_i_shrink *layout, const uint64_t *prints, unsigned load) {
    unsigned state = layout->first_state[load];
    const unsigned told = layout->states[state].told;
    if (told == 0)
        return state;
    unsigned count[4] = {0, 0, 0, 0};
    for (unsigned i = 0; i < load; i++)
        count[prints[i] >> (64 - told)]++;
    if (told == 1)
        return state + count[0];
    unsigned left = load;
    for (unsigned c = 0; c < count[0]; c++, left--)
        state += (left + 1) * (left + 2) / 2;
    for (unsigned c = 0; c < count[1]; c++, left--)
        state += left + 1;
    return state + count[2];
}

static void put_together(const tamis_i_shrink *layout, uint64_t *group, const parts *in) {
    unsigned all = 0, at = 0;
    for (unsigned b = 0; b < layout->buckets; b++)
        all += in->load[b];
    const unsigned bits = layout->stored[all];
    const unsigned stays = layout->stored[all + 1] == bits;
    memset(group, 0, layout->words * sizeof *group);
    for (unsigned b = 0; b < layout->buckets; b++) {
        const unsigned load = in->load[b];
        const meaning *const any = &layout->states[layout->first_state[load]]; /* of this load */
        const unsigned stored = bits + (any->keeps & stays), told = any->told;
        for (unsigned i = 0; i < load; i++, at += stored)
            tamis_i_field_put(group, at, stored, in->print[b][i] >> (64 - stored - told));
        const unsigned shift = 64 - layout->state_bits * (layout->buckets - b);
        group[layout->words - 1] |= (uint64_t)state_for(layout, in->print[b], load) << shift;
    }
    TAMIS_ASSERT(at <= layout->payload_bits);
}

/* The same as take apart, add and put together, for a single bucket of 64 bits: each field is cut to its
 * new length and moved to its new place in turn. */
static bool insert64(uint64_t *group, uint64_t print) {
    const meaning *const old = &states64[group[0] >> 60];
    const unsigned load = old->bound[4], width = old->alone;
    if (load == 6)
        return false;
    const unsigned state = first64[load + 1], new_width = states64[state].alone;
    const unsigned told = states64[state].told;
    const unsigned cut = load == 0 ? 0 : width + old->told - new_width - told;
    /* How many begin with 0: told, or counted by their highest bits, since they are in order. */
    unsigned zeros = old->bound[1];
    if (old->told == 0)
        for (zeros = 0; zeros < load && (group[0] >> (width * (zeros + 1) - 1) & 1) == 0;)
            zeros++;
    const unsigned first = (unsigned)(print >> 63), at = first == 0 ? zeros : load;
    const uint64_t keep = tamis_i_low_mask(new_width), mask = tamis_i_low_mask(width);
    uint64_t word = (print >> (64 - new_width - told) & keep) << at * new_width;
    for (unsigned i = 0; i < load; i++) {
        uint64_t field = group[0] >> i * width & mask;
        if (old->told != 0 && i >= zeros)
            field |= (uint64_t)1 << width;
        word |= (field >> cut & keep) << (i + (i >= at)) * new_width;
    }
    zeros += first == 0;
    group[0] = word | (uint64_t)(state + (told != 0 ? zeros : 0)) << 60;
    return true;
}

bool tamis_i_shrink_insert(const tamis_i_shrink *layout, uint64_t *group, unsigned bucket,
                           uint64_t print) {
    if (layout == &layouts[0])
        return insert64(group, print);
    if (tamis_i_shrink_load(layout, group, bucket) == layout->load_max)
        return false;
    parts p;
    take_apart(layout, group, &p);
    uint64_t *const prints = p.print[bucket];
    unsigned i = p.load[bucket]++;
    for (; i > 0 && order_of(layout, prints[i - 1]) > order_of(layout, print); i--)
        prints[i] = prints[i - 1];
    prints[i] = print;
    put_together(layout, group, &p);
    return true;
}

bool tamis_i_shrink_check(const tamis_i_shrink *layout, const uint64_t *group,
                          const char **reason) {
    parts p;
    uint64_t again[TAMIS_I_SHRINK_WORDS];
    take_apart(layout, group, &p);
    for (unsigned b = 0; b < layout->buckets; b++) {
        for (unsigned i = 1; i < p.load[b]; i++) {
            if (order_of(layout, p.print[b][i - 1]) > order_of(layout, p.print[b][i])) {
                *reason = "a bucket is not in order";
                return false;
            }
        }
    }
    put_together(layout, again, &p);
    if (memcmp(again, group, layout->words * sizeof *group) != 0) {
        *reason = "a bucket has data past its fingerprints";
        return false;
    }
    return true;
}
