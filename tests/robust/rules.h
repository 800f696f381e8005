/* rules.h - one damaged file for each rule of the format: shared by their generator and their test
 *
 * A row names the rule, the sound file to begin with, the fields to be written over, whether the checksums
 * are made right afterwards, and the answer of the loader.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_RULES_H
#define TAMIS_TESTS_RULES_H

#include "base/base.h"
#include "hash/hash.h"

#define RULE_ROOM  1024u
#define WRITES_MAX 6u

/* The sound files: keys 0 to 7, seed 1 (AES: 2^65 + 1), 3 hashes.  Of lines: the stash is at byte 320 (one
 * entry, two slots), three front lines at 384, 448 and 512, none of which has given anything away, two of
 * the back at 576 and 640. */
typedef enum rule_base {
    BITS,
    PARTS,
    COUNTERS,
    BLOCKS,
    AES,
    LINES,
    LINE_SET,
    NOTHING,
    N_BASES
} rule_base;

static const tamis_params rule_bases[] = {
    [BITS] = {sizeof(tamis_params), TAMIS_KIND_BLOOM, TAMIS_HASH_XXH3, 8, 1, 0, 0, {100, 3}, 0},
    [PARTS] = {sizeof(tamis_params), TAMIS_KIND_BLOOM, TAMIS_HASH_XXH3, 8, 1, 0, 0, {101, 3, 1}, 0},
    [COUNTERS] =
        {sizeof(tamis_params), TAMIS_KIND_COUNTING_BLOOM, TAMIS_HASH_XXH3, 8, 1, 0, 0, {100, 3}, 0},
    [BLOCKS] =
        {sizeof(tamis_params), TAMIS_KIND_BLOCKED_BLOOM, TAMIS_HASH_XXH3, 8, 1, 0, 0, {1, 3}, 0},
    [AES] = {sizeof(tamis_params), TAMIS_KIND_BLOOM, TAMIS_HASH_AES, 8, 1, 2, 0, {100, 3}, 0},
    [LINES] =
        {sizeof(tamis_params), TAMIS_KIND_LINE, TAMIS_HASH_XXH3, 8, 1, 0, 1, {3, 90, 6, 2, 4}, 0},
    [LINE_SET] = {sizeof(tamis_params),
                  TAMIS_KIND_LINE,
                  TAMIS_HASH_XXH3,
                  8,
                  1,
                  0,
                  1,
                  {3, 90, 6, 2, 4, 0, 1},
                  0},
};

typedef enum rule_fix { AS_IS, FIX_HEADER, FIX_BOTH } rule_fix;

typedef struct rule {
    const char *name;
    rule_base base;
    rule_fix fix;
    tamis_status status;
    const char *reason;
    struct {
        unsigned at, width;
        uint64_t value;
    } write[WRITES_MAX];
    unsigned length; /* cut or filled up with zeros to this length; 0: as it is */
    unsigned lose;   /* the byte at this place is lost; 0: none */
} rule;

#define R_RANGE   "a parameter in the header is out of range"
#define R_PROMISE "the promised error rate is out of range"
#define R_FIT     "the table does not fit the number of keys"
#define R_CUT     "the file is cut off within the body"
#define R_STASH   "the stash does not hold as many keys as it claims"
#define R_HOMES   "the entries of a line do not fit its homes"
#define R_GAP     "a line has data between its parts or past its end"
#define R_GIVEN   "an entry of the back belongs to no home that was given away"
#define R_STAYS   "the stash has an entry that belongs into a line"
#define R_KEYS    "the lines do not hold as many keys as the filter claims"
#define BAD       TAMIS_E_FORMAT

/* clang-format off */
static const rule rules[] = {
    {"empty", NOTHING, AS_IS, BAD, "the file is empty", {{0, 0, 0}}, 0, 0},
    {"magic", BITS, FIX_HEADER, BAD, "this is not a tamis file", {{1, 1, 't'}}, 0, 0},
    {"magic-only", BITS, AS_IS, BAD, "the file is cut off within the header", {{0, 0, 0}}, 8, 0},
    {"magic-high-bit", BITS, FIX_HEADER, BAD, "this is not a tamis file", {{0, 1, 0x09}}, 0, 0},
    {"magic-line-ends", BITS, AS_IS, BAD, "this is not a tamis file", {{0, 0, 0}}, 0, 6},
    {"short-foreign", BITS, AS_IS, BAD, "this is not a tamis file", {{0, 4, 0x6c6c6568}}, 5, 0},
    {"header-cut-off", BITS, AS_IS, BAD, "the file is cut off within the header", {{0, 0, 0}}, 255, 0},
    {"version-newer", BITS, FIX_HEADER, TAMIS_E_VERSION,
     "the file has a newer format than this version of tamis can read", {{8, 4, 5}}, 0, 0},
    {"version-newer-other-checksum", BITS, AS_IS, TAMIS_E_VERSION,
     "the file has a newer format than this version of tamis can read", {{8, 4, 0xffffffff}}, 0, 0},
    {"version-zero", BITS, FIX_HEADER, BAD, "the header has version 0, which does not exist",
     {{8, 4, 0}}, 0, 0},
    {"header-checksum", BITS, AS_IS, BAD, "the header is damaged: its checksum does not match",
     {{32, 8, 2}}, 0, 0},
    {"header-size", BITS, FIX_HEADER, BAD, "the header has the wrong size", {{12, 4, 512}}, 0, 0},
    {"hash-unknown", BITS, FIX_HEADER, BAD, "the header names an unknown hash", {{20, 4, 2}}, 0, 0},
    {"reserved-first", BITS, FIX_HEADER, BAD, "a reserved field of the header is not zero",
     {{184, 1, 1}}, 0, 0},
    {"reserved-last", BITS, FIX_HEADER, BAD, "a reserved field of the header is not zero",
     {{239, 1, 0x80}}, 0, 0},
    {"reserved-first-of-version-2", BITS, FIX_HEADER, BAD, "a reserved field of the header is not zero",
     {{8, 4, 2}, {184, 4, 1}, {188, 1, 1}}, 0, 0},
    {"reserved-last-of-version-2", BITS, FIX_HEADER, BAD, "a reserved field of the header is not zero",
     {{8, 4, 2}, {184, 4, 2}, {239, 1, 1}}, 0, 0},
    {"key-form-unknown", BITS, FIX_HEADER, BAD, "the header names an unknown form of keys",
     {{8, 4, 2}, {184, 4, 3}}, 0, 0},
    {"key-form-2-to-31", BITS, FIX_HEADER, BAD, "the header names an unknown form of keys",
     {{8, 4, 2}, {184, 4, 0x80000001}}, 0, 0},
    {"version-not-needed", BITS, FIX_HEADER, BAD, "the header has a higher version than it needs",
     {{8, 4, 2}}, 0, 0},
    {"version-3-of-a-small-body", BITS, FIX_HEADER, BAD, "the header has a higher version than it needs",
     {{8, 4, 3}}, 0, 0},
    {"hash-unknown-of-version-2", AES, FIX_HEADER, BAD, "the header names an unknown hash",
     {{20, 4, 3}}, 0, 0},
    {"seed-high-of-xxh3", BITS, FIX_HEADER, BAD, "a reserved field of the header is not zero",
     {{8, 4, 2}, {184, 4, 1}, {192, 8, 1}}, 0, 0},
    {"reserved-before-seed-high", AES, FIX_HEADER, BAD, "a reserved field of the header is not zero",
     {{188, 1, 1}}, 0, 0},
    {"reserved-after-seed-high", AES, FIX_HEADER, BAD, "a reserved field of the header is not zero",
     {{200, 1, 1}}, 0, 0},
    {"version-4-without-a-promise", BITS, FIX_HEADER, BAD, "the header has a higher version than it needs",
     {{8, 4, 4}}, 0, 0},
    {"promise-of-version-2", BITS, FIX_HEADER, BAD, "a reserved field of the header is not zero",
     {{8, 4, 2}, {184, 4, 1}, {200, 8, 0x3f847ae147ae147b}}, 0, 0},
    {"promise-of-one", BITS, FIX_HEADER, BAD, R_PROMISE, {{8, 4, 4}, {200, 8, 0x3ff0000000000000}}, 0, 0},
    {"promise-negative", BITS, FIX_HEADER, BAD, R_PROMISE, {{8, 4, 4}, {200, 8, 0xbf847ae147ae147b}}, 0, 0},
    {"promise-minus-zero", BITS, FIX_HEADER, BAD, R_PROMISE,
     {{8, 4, 4}, {200, 8, 0x8000000000000000}}, 0, 0},
    {"promise-not-a-number", BITS, FIX_HEADER, BAD, R_PROMISE,
     {{8, 4, 4}, {200, 8, 0x7ff8000000000000}}, 0, 0},
    {"reserved-after-promise", BITS, FIX_HEADER, BAD, "a reserved field of the header is not zero",
     {{8, 4, 4}, {200, 8, 0x3f847ae147ae147b}, {208, 1, 1}}, 0, 0},
    {"seed-zero-of-aes", AES, FIX_HEADER, BAD, "the header has no seed",
     {{32, 8, 0}, {192, 8, 0}}, 0, 0},
    {"kind-zero", BITS, FIX_HEADER, BAD, "the header names an unknown kind of filter", {{16, 4, 0}}, 0, 0},
    {"kind-unknown", BITS, FIX_HEADER, BAD, "the header names an unknown kind of filter",
     {{16, 4, 0x80000001}}, 0, 0},
    {"seed-zero", BITS, FIX_HEADER, BAD, "the header has no seed", {{32, 8, 0}}, 0, 0},
    {"capacity-zero", BITS, FIX_HEADER, BAD, R_RANGE, {{24, 8, 0}}, 0, 0},
    {"capacity-too-large", BITS, FIX_HEADER, BAD, R_RANGE, {{24, 8, (UINT64_C(1) << 40) + 1}}, 0, 0},
    {"capacity-2-to-60", BITS, FIX_HEADER, BAD, R_RANGE, {{24, 8, UINT64_C(1) << 60}}, 0, 0},
    {"stash-where-there-is-none", BITS, FIX_HEADER, BAD, R_RANGE, {{40, 8, 1}}, 0, 0},
    {"value-unused-not-zero", BITS, FIX_HEADER, BAD, R_RANGE, {{80, 8, 1}}, 0, 0},
    {"value-last-not-zero", BITS, FIX_HEADER, BAD, R_RANGE, {{176, 8, 1}}, 0, 0},
    {"bloom-bits-left-to-default", BITS, FIX_HEADER, BAD, R_RANGE, {{56, 8, 0}}, 0, 0},
    {"bloom-bits-too-many", BITS, FIX_HEADER, BAD, R_RANGE, {{56, 8, (UINT64_C(1) << 48) + 1}}, 0, 0},
    {"bloom-bits-fewer-than-hashes", BITS, FIX_HEADER, BAD, R_RANGE, {{56, 8, 2}}, 0, 0},
    {"bloom-bits-2-to-64", BITS, FIX_HEADER, BAD, R_RANGE, {{56, 8, UINT64_MAX}}, 0, 0},
    {"bloom-hashes-left-to-default", BITS, FIX_HEADER, BAD, R_RANGE, {{64, 8, 0}}, 0, 0},
    {"bloom-hashes-too-many", BITS, FIX_HEADER, BAD, R_RANGE, {{64, 8, 65}}, 0, 0},
    {"bloom-partitioned-not-0-or-1", BITS, FIX_HEADER, BAD, R_RANGE, {{72, 8, 2}}, 0, 0},
    {"counting-counters-left-to-default", COUNTERS, FIX_HEADER, BAD, R_RANGE, {{56, 8, 0}}, 0, 0},
    {"counting-counters-too-many", COUNTERS, FIX_HEADER, BAD, R_RANGE,
     {{56, 8, (UINT64_C(1) << 46) + 1}}, 0, 0},
    {"counting-hashes-too-many", COUNTERS, FIX_HEADER, BAD, R_RANGE, {{64, 8, 65}}, 0, 0},
    {"blocked-blocks-left-to-default", BLOCKS, FIX_HEADER, BAD, R_RANGE, {{56, 8, 0}}, 0, 0},
    {"blocked-blocks-too-many", BLOCKS, FIX_HEADER, BAD, R_RANGE, {{56, 8, (UINT64_C(1) << 39) + 1}}, 0, 0},
    {"blocked-hashes-too-many", BLOCKS, FIX_HEADER, BAD, R_RANGE, {{64, 8, 17}}, 0, 0},
    {"blocked-lanes-without-a-bit", BLOCKS, FIX_HEADER, BAD, R_RANGE, {{72, 8, 8}}, 0, 0},
    {"blocked-lanes-not-0-or-8", BLOCKS, FIX_HEADER, BAD, R_RANGE, {{64, 8, 16}, {72, 8, 16}}, 0, 0},
    {"body-words-too-few", BITS, FIX_HEADER, BAD,
     "the size of the body does not follow from the parameters", {{48, 8, 8}}, 0, 0},
    {"body-words-too-many", BITS, FIX_HEADER, BAD,
     "the size of the body does not follow from the parameters", {{48, 8, UINT64_C(1) << 61}}, 0, 0},
    {"bits-more-than-body", BITS, FIX_HEADER, BAD,
     "the size of the body does not follow from the parameters", {{56, 8, 513}}, 0, 0},
    {"body-missing", BITS, AS_IS, BAD, R_CUT, {{0, 0, 0}}, 256, 0},
    {"body-cut-off", BITS, AS_IS, BAD, R_CUT, {{0, 0, 0}}, 383, 0},
    {"body-promised-2-to-45-bytes", BITS, FIX_HEADER, BAD, R_CUT,
     {{24, 8, UINT64_C(1) << 40}, {56, 8, UINT64_C(1) << 48}, {48, 8, (UINT64_C(1) << 42) + 8}}, 0, 0},
    {"body-too-long", BITS, AS_IS, BAD, "the file goes on after its end", {{0, 0, 0}}, 385, 0},
    {"body-too-long-by-a-line", BITS, FIX_BOTH, BAD, "the file goes on after its end", {{0, 0, 0}}, 448, 0},
    {"body-checksum", BITS, AS_IS, BAD, "the body is damaged: its checksum does not match",
     {{320, 1, 0xff}}, 0, 0},
    {"count-too-large", BITS, FIX_BOTH, BAD, "the number of keys is out of range",
     {{256, 8, (UINT64_C(1) << 62) + 1}}, 0, 0},
    {"state-reserved-first", BITS, FIX_BOTH, BAD, "a reserved word of the state is not zero",
     {{272, 8, 1}}, 0, 0},
    {"state-reserved-last", BITS, FIX_BOTH, BAD, "a reserved word of the state is not zero",
     {{312, 8, UINT64_C(1) << 63}}, 0, 0},
    {"stash-used-without-stash", BITS, FIX_BOTH, BAD, R_STASH, {{264, 8, 1}}, 0, 0},
    {"bloom-bit-past-end", BITS, FIX_BOTH, BAD, "the table has bits past its end",
     {{332, 1, 0x10}}, 0, 0},
    {"bloom-bit-in-last-word", BITS, FIX_BOTH, BAD, "the table has bits past its end",
     {{383, 1, 0x80}}, 0, 0},
    {"bloom-bit-past-last-part", PARTS, FIX_BOTH, BAD, "the table has bits past its end",
     {{332, 1, 0x08}}, 0, 0},
    {"bloom-keys-without-count", BITS, FIX_BOTH, BAD, R_FIT, {{256, 8, 0}}, 0, 0},
    {"bloom-more-bits-than-keys-can-set", BITS, FIX_BOTH, BAD, R_FIT, {{256, 8, 3}}, 0, 0},
    {"bloom-count-without-keys", BITS, FIX_BOTH, BAD, R_FIT,
     {{256, 8, 8}, {320, 8, 0}, {328, 8, 0}}, 0, 0},
    {"bloom-count-past-64-bits-without-keys", BITS, FIX_BOTH, BAD, R_FIT,
     {{64, 8, 64}, {256, 8, UINT64_C(1) << 62}, {320, 8, 0}, {328, 8, 0}}, 0, 0},
    {"counting-counter-past-end", COUNTERS, FIX_BOTH, BAD, "the table has counters past its end",
     {{370, 1, 1}}, 0, 0},
    {"counting-sum", COUNTERS, FIX_BOTH, BAD, "the counters do not add up to the number of keys",
     {{256, 8, 9}}, 0, 0},
    {"counting-no-keys-counted", COUNTERS, FIX_BOTH, BAD,
     "the counters do not add up to the number of keys", {{256, 8, 0}}, 0, 0},
    {"counting-sum-past-64-bits", COUNTERS, FIX_BOTH, BAD,
     "the counters do not add up to the number of keys",
     {{64, 8, 64}, {256, 8, UINT64_C(1) << 61}}, 0, 0},
    {"blocked-more-bits-than-keys-can-set", BLOCKS, FIX_BOTH, BAD, R_FIT, {{256, 8, 1}}, 0, 0},
    {"blocked-keys-without-count", BLOCKS, FIX_BOTH, BAD, R_FIT, {{256, 8, 0}}, 0, 0},
    {"kind-line-of-before", LINES, FIX_HEADER, BAD,
     "a set of the old kind line, which is no longer read; build it again", {{16, 4, 10}}, 0, 0},
    {"kind-line-set-of-before", LINE_SET, FIX_HEADER, BAD,
     "a set of the old kind line-set, which is no longer read; build it again", {{16, 4, 11}}, 0, 0},
    {"line-lines-left-to-default", LINES, FIX_HEADER, BAD, R_RANGE, {{56, 8, 0}}, 0, 0},
    {"line-lines-too-many", LINES, FIX_HEADER, BAD, R_RANGE,
     {{56, 8, (UINT64_C(1) << 38) + 1}, {80, 8, UINT64_C(1) << 38}}, 0, 0},
    {"line-homes-left-to-default", LINES, FIX_HEADER, BAD, R_RANGE, {{64, 8, 0}}, 0, 0},
    {"line-homes-too-many", LINES, FIX_HEADER, BAD, R_RANGE, {{64, 8, 127}}, 0, 0},
    {"line-fingerprints-left-to-default", LINES, FIX_HEADER, BAD, R_RANGE, {{72, 8, 0}}, 0, 0},
    {"line-fingerprints-too-long", LINES, FIX_HEADER, BAD, R_RANGE,
     {{72, 8, 41}, {80, 8, 0}, {88, 8, 0}}, 0, 0},
    {"line-fingerprints-too-long-for-the-back", LINES, FIX_HEADER, BAD, R_RANGE, {{72, 8, 34}}, 0, 0},
    {"line-back-too-large", LINES, FIX_HEADER, BAD, R_RANGE, {{80, 8, (UINT64_C(1) << 38) + 1}}, 0, 0},
    {"line-back-without-homes", LINES, FIX_HEADER, BAD, R_RANGE, {{88, 8, 0}}, 0, 0},
    {"line-homes-without-a-back", LINES, FIX_HEADER, BAD, R_RANGE, {{80, 8, 0}}, 0, 0},
    {"line-back-homes-too-many", LINES, FIX_HEADER, BAD, R_RANGE, {{88, 8, 127}}, 0, 0},
    {"line-back-homes-too-few-for-two-places", LINES, FIX_HEADER, BAD, R_RANGE, {{88, 8, 3}}, 0, 0},
    {"line-back-homes-too-few-for-one-place", LINES, FIX_HEADER, BAD, R_RANGE,
     {{80, 8, 1}, {88, 8, 2}}, 0, 0},
    {"line-values-too-long", LINES, FIX_HEADER, BAD, R_RANGE, {{96, 8, 9}}, 0, 0},
    {"line-too-many-planes", LINES, FIX_HEADER, BAD, R_RANGE,
     {{72, 8, 33}, {80, 8, 0}, {88, 8, 0}, {96, 8, 8}}, 0, 0},
    {"line-too-many-planes-of-the-back", LINES, FIX_HEADER, BAD, R_RANGE, {{72, 8, 26}, {96, 8, 8}}, 0, 0},
    {"line-entries-of-63-bits", LINES, FIX_HEADER, BAD, R_RANGE,
     {{56, 8, (UINT64_C(1) << 37) + 1}, {72, 8, 18}, {80, 8, UINT64_C(1) << 37}}, 0, 0},
    {"line-set-not-0-or-1", LINES, FIX_HEADER, BAD, R_RANGE, {{104, 8, 2}}, 0, 0},
    {"line-set-with-values", LINE_SET, FIX_HEADER, BAD, R_RANGE, {{96, 8, 1}}, 0, 0},
    {"line-value-unused-not-zero", LINES, FIX_HEADER, BAD, R_RANGE, {{112, 8, 1}}, 0, 0},
    {"line-stash-left-to-default", LINES, FIX_HEADER, BAD, R_RANGE, {{40, 8, 0}}, 0, 0},
    {"line-start-without-a-home", LINES, FIX_BOTH, BAD, R_HOMES, {{402, 1, 0x40}}, 0, 0},
    {"line-home-without-a-start", LINES, FIX_BOTH, BAD, R_HOMES, {{384, 1, 1}}, 0, 0},
    {"line-home-without-a-start-in-the-back", LINES, FIX_BOTH, BAD, R_HOMES, {{640, 1, 1}}, 0, 0},
    {"line-data-in-a-free-place", LINES, FIX_BOTH, BAD, "a line has data where it is free",
     {{409, 1, 0x80}}, 0, 0},
    {"line-bit-in-the-gap", LINES, FIX_BOTH, BAD, R_GAP, {{402, 1, 0x80}}, 0, 0},
    {"line-bit-past-the-end", LINES, FIX_BOTH, BAD, R_GAP, {{639, 1, 0x80}}, 0, 0},
    {"line-back-gives-away", LINES, FIX_BOTH, BAD, "a line of the back has given homes away",
     {{576, 1, 0x10}}, 0, 0},
    {"line-back-entry-of-a-line-that-gave-nothing", LINES, FIX_BOTH, BAD, R_GIVEN,
     {{256, 8, 9}, {576, 1, 0x21}}, 0, 0},
    {"line-back-entry-of-a-home-that-is-here", LINES, FIX_BOTH, BAD, R_GIVEN,
     {{256, 8, 9}, {395, 1, 0x3c}, {576, 1, 0x21}}, 0, 0},
    {"line-back-entry-of-no-line", LINES, FIX_BOTH, BAD, R_GIVEN,
     {{256, 8, 9}, {640, 1, 0x22}}, 0, 0},
    {"line-back-entry-of-no-home", LINES, FIX_BOTH, BAD, R_GIVEN,
     {{256, 8, 9}, {395, 1, 0x3c}, {576, 1, 0x21}, {630, 1, 0x20}, {635, 1, 0x02}}, 0, 0},
    {"line-stash-entry-of-a-line-that-gave-nothing", LINES, FIX_BOTH, BAD, R_STAYS,
     {{256, 8, 9}, {264, 8, 1}, {320, 8, UINT64_C(197) << 32}, {328, 8, 197}, {352, 1, 1}}, 0, 0},
    {"line-stash-entry-of-no-line", LINES, FIX_BOTH, BAD, R_STAYS,
     {{256, 8, 9}, {264, 8, 1}, {320, 8, UINT64_C(197) << 32 | 3}, {328, 8, 197}, {352, 1, 1}}, 0, 0},
    {"line-stash-entry-of-no-home", LINES, FIX_BOTH, BAD, R_STAYS,
     {{256, 8, 9}, {395, 1, 0x3c}, {264, 8, 1}, {320, 8, UINT64_C(5760) << 32}, {328, 8, 5760},
      {352, 1, 1}}, 0, 0},
    {"line-stash-entry-of-a-set", LINE_SET, FIX_BOTH, BAD, R_STAYS,
     {{256, 8, 9}, {264, 8, 1}, {320, 8, UINT64_C(197) << 32}, {328, 8, 197}, {352, 1, 1}}, 0, 0},
    {"line-fewer-keys-than-counted", LINES, FIX_BOTH, BAD, R_KEYS, {{256, 8, 9}}, 0, 0},
    {"line-more-keys-than-counted", LINES, FIX_BOTH, BAD, R_KEYS, {{256, 8, 7}}, 0, 0},
    {"line-set-of-more-keys-than-counted", LINE_SET, FIX_BOTH, BAD, R_KEYS, {{256, 8, 7}}, 0, 0},
    {"line-set-counted-without-keys", LINE_SET, FIX_BOTH, BAD, R_KEYS, {{384, 192, 0}}, 0, 0},
};
/* clang-format on */
enum { N_RULES = sizeof rules / sizeof *rules };

/* The bytes of a damaged file in 'bytes', which has RULE_ROOM; their number, or SIZE_MAX if the sound
 * file could not be made. */
static inline size_t rule_bytes(const rule *r, unsigned char *bytes) {
    if (r->base == NOTHING)
        return 0;
    tamis_filter *filter;
    if (tamis_filter_create(&rule_bases[r->base], NULL, &filter) != TAMIS_OK)
        return SIZE_MAX;
    bool ok = true;
    for (uint64_t key = 0; key < 8; key++)
        ok = ok && tamis_filter_insert_u64(filter, key, NULL) == TAMIS_OK;
    size_t size = (size_t)tamis_filter_encoded_size(filter);
    memset(bytes, 0, RULE_ROOM);
    ok = ok && size <= RULE_ROOM && tamis_filter_encode(filter, bytes, size) == TAMIS_OK;
    tamis_filter_free(filter);
    if (!ok)
        return SIZE_MAX;
    for (unsigned i = 0; i < WRITES_MAX; i++)
        for (unsigned byte = 0; byte < r->write[i].width; byte++)
            bytes[r->write[i].at + byte] =
                byte < 8 ? (unsigned char)(r->write[i].value >> 8 * byte) : 0;
    if (r->length != 0)
        size = r->length;
    if (r->fix == FIX_BOTH)
        tamis_i_put_u64(bytes + 240, tamis_i_checksum(bytes + 256, size - 256));
    if (r->fix != AS_IS)
        tamis_i_put_u64(bytes + 248, tamis_i_checksum(bytes, 248));
    if (r->lose != 0)
        memmove(bytes + r->lose, bytes + r->lose + 1, --size - r->lose);
    return size;
}

#endif
