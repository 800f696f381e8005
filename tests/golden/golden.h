/* golden.h - how the golden files are made: shared by their generator and their test
 *
 * Every file has exact parameters and a fixed seed; README.md says which keys are in which.  A kind
 * that has no row here gets one file, <kind>.tamis, with the defaults of its parameters.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_GOLDEN_H
#define TAMIS_TESTS_GOLDEN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tamis/shared.h"
#include "tamis/tamis.h"
#include "tamis/window.h"

#define GOLDEN_SEED UINT64_C(0x74616d6973) /* "tamis" */
#define GOLDEN_KEYS 100u /* in most files; the rest of the first 1000 is asked for */

/* What is done with the keys. */
typedef enum golden_story {
    EMPTY,     /* nothing */
    KEYS,      /* keys 0 to 99 */
    TWO,       /* "apple" and "pear" */
    MERGED,    /* keys 0 to 99 merged with keys 50 to 149 */
    REMOVED,   /* keys 0 to 149, keys 0 to 9 three more times, then keys 100 to 149 removed */
    SATURATED, /* key 1 twenty times, keys 2 to 5 once, then key 1 removed ten times */
    INTEGERS,  /* the integers 0 to 99, times 2^32 + 1 */
    VALUES,    /* keys 0 to 99, key i with the value i mod 8, of keys 0 to 9 then updated to 7 */
    TICKS, /* keys 0 to 149 in ticks of ten, keys 20 to 29 again in the last; one bucket is cleared */
    N_STORIES
} golden_story;

typedef struct golden_file {
    const char *name; /* without .tamis */
    tamis_kind kind;
    golden_story story;
    uint64_t capacity, seed;
    uint64_t value[TAMIS_PARAMS_MAX];
} golden_file;

static const golden_file golden_table[] = {
    {"bloom", TAMIS_KIND_BLOOM, KEYS, 100, GOLDEN_SEED, {1000, 7}},
    {"bloom-partitioned", TAMIS_KIND_BLOOM, KEYS, 100, GOLDEN_SEED, {1003, 7, 1}},
    {"bloom-merged", TAMIS_KIND_BLOOM, MERGED, 100, GOLDEN_SEED, {2048, 10}},
    {"bloom-seed", TAMIS_KIND_BLOOM, KEYS, 100, UINT64_MAX, {1025, 64}},
    {"bloom-empty", TAMIS_KIND_BLOOM, EMPTY, 1, 1, {1, 1}},
    {"bloom-two", TAMIS_KIND_BLOOM, TWO, 2, 1, {64, 4}},
    {"bloom-promise", TAMIS_KIND_BLOOM, KEYS, 100, GOLDEN_SEED, {1000, 7}},
    {"bloom-parts", TAMIS_KIND_BLOOM, KEYS, 100, GOLDEN_SEED, {600001, 7}},
    {"blocked-bloom-promise-parts-aes-u64",
     TAMIS_KIND_BLOCKED_BLOOM,
     INTEGERS,
     100,
     GOLDEN_SEED,
     {1024, 8}},
    {"blocked-bloom-parts-aes-u64",
     TAMIS_KIND_BLOCKED_BLOOM,
     INTEGERS,
     100,
     GOLDEN_SEED,
     {1024, 8}},
    {"bloom-aes", TAMIS_KIND_BLOOM, KEYS, 100, GOLDEN_SEED, {1000, 7}},
    {"blocked-bloom-aes-u64", TAMIS_KIND_BLOCKED_BLOOM, INTEGERS, 100, GOLDEN_SEED, {3, 8}},
    {"dleft-counting-aes", TAMIS_KIND_DLEFT_COUNTING, REMOVED, 200, GOLDEN_SEED, {0}},
    {"bloom-bytes", TAMIS_KIND_BLOOM, KEYS, 100, GOLDEN_SEED, {1000, 7}},
    {"blocked-bloom-u64", TAMIS_KIND_BLOCKED_BLOOM, INTEGERS, 100, GOLDEN_SEED, {3, 8}},
    {"counting-bloom", TAMIS_KIND_COUNTING_BLOOM, REMOVED, 100, GOLDEN_SEED, {999, 5}},
    {"counting-bloom-saturated", TAMIS_KIND_COUNTING_BLOOM, SATURATED, 5, GOLDEN_SEED, {33, 3}},
    {"counting-bloom-empty", TAMIS_KIND_COUNTING_BLOOM, EMPTY, 1, 1, {1, 1}},
    {"blocked-bloom", TAMIS_KIND_BLOCKED_BLOOM, KEYS, 100, GOLDEN_SEED, {3, 8}},
    {"blocked-bloom-16", TAMIS_KIND_BLOCKED_BLOOM, MERGED, 100, GOLDEN_SEED, {7, 16}},
    {"blocked-bloom-1", TAMIS_KIND_BLOCKED_BLOOM, KEYS, 100, UINT64_MAX, {1, 1}},
    {"blocked-bloom-empty", TAMIS_KIND_BLOCKED_BLOOM, EMPTY, 1, 1, {1, 1}},
    {"blocked-bloom-lanes", TAMIS_KIND_BLOCKED_BLOOM, MERGED, 100, GOLDEN_SEED, {3, 8, 8}},
    {"blocked-bloom-lanes-aes-u64",
     TAMIS_KIND_BLOCKED_BLOOM,
     INTEGERS,
     100,
     GOLDEN_SEED,
     {3, 8, 8}},
    {"dleft", TAMIS_KIND_DLEFT, KEYS, 100, GOLDEN_SEED, {64, 3, 9, 1}},
    {"dleft-128", TAMIS_KIND_DLEFT, KEYS, 100, GOLDEN_SEED, {128, 3, 5, 1}},
    {"dleft-group", TAMIS_KIND_DLEFT, KEYS, 100, GOLDEN_SEED, {64, 2, 12, 4}},
    {"dleft-128-group", TAMIS_KIND_DLEFT, KEYS, 100, GOLDEN_SEED, {128, 4, 4, 4}},
    {"dleft-plain", TAMIS_KIND_DLEFT, KEYS, 100, GOLDEN_SEED, {64, 3, 9, 1, 1}},
    {"dleft-128-plain", TAMIS_KIND_DLEFT, KEYS, 100, GOLDEN_SEED, {128, 2, 8, 4, 1}},
    {"dleft-stash", TAMIS_KIND_DLEFT, KEYS, 100, GOLDEN_SEED, {64, 3, 5, 1}},
    {"dleft-counting", TAMIS_KIND_DLEFT_COUNTING, REMOVED, 200, GOLDEN_SEED, {0}},
    {"dleft-counting-short", TAMIS_KIND_DLEFT_COUNTING, REMOVED, 200, UINT64_MAX, {3, 5, 11, 6, 3}},
    {"dleft-dynamic", TAMIS_KIND_DLEFT_DYNAMIC, REMOVED, 200, GOLDEN_SEED, {0}},
    {"dleft-dynamic-one", TAMIS_KIND_DLEFT_DYNAMIC, REMOVED, 200, 7, {3, 6, 170, 11, 2, 1}},
    {"dleft-dynamic-plan", TAMIS_KIND_DLEFT_DYNAMIC, REMOVED, 150, 9, {3, 5, 168, 10, 255, 2, 3}},
    {"dleft-empty", TAMIS_KIND_DLEFT, EMPTY, 1, 1, {64, 2, 1, 1}},
    {"rank", TAMIS_KIND_RANK, REMOVED, 200, GOLDEN_SEED, {0}},
    {"rank-extensions", TAMIS_KIND_RANK, REMOVED, 180, GOLDEN_SEED, {4, 64, 12, 30, 8, 30, 4, 4}},
    {"rank-values", TAMIS_KIND_RANK, VALUES, 100, GOLDEN_SEED, {2, 48, 16, 49, 13, 52, 2, 1, 3}},
    {"rank-counting", TAMIS_KIND_RANK_COUNTING, REMOVED, 200, GOLDEN_SEED, {0}},
    {"rank-counting-saturated",
     TAMIS_KIND_RANK_COUNTING,
     SATURATED,
     5,
     GOLDEN_SEED,
     {1, 7, 9, 2, 2, 3, 1, 1, 2}},
    {"balanced-bloom", TAMIS_KIND_BALANCED_BLOOM, KEYS, 200, GOLDEN_SEED, {0}},
    {"balanced-bloom-single",
     TAMIS_KIND_BALANCED_BLOOM,
     KEYS,
     100,
     GOLDEN_SEED,
     {1, 1, 256, 10, 8, 10, UINT64_C(1) << 31}},
    {"balanced-bloom-sequential",
     TAMIS_KIND_BALANCED_BLOOM,
     KEYS,
     100,
     GOLDEN_SEED,
     {2, 4, 320, 13, 11, 8, UINT64_C(1) << 30, 0, 1300}},
    {"balanced-bloom-mht",
     TAMIS_KIND_BALANCED_BLOOM,
     KEYS,
     100,
     GOLDEN_SEED,
     {3, 3, 512, 11, 32, 10, UINT64_C(1) << 30, UINT64_C(1) << 30}},
    {"balanced-bloom-merged",
     TAMIS_KIND_BALANCED_BLOOM,
     MERGED,
     150,
     GOLDEN_SEED,
     {3, 3, 512, 11, 8, 14}},
    {"steady", TAMIS_KIND_STEADY, REMOVED, 200, GOLDEN_SEED, {0}},
    {"steady-spill", TAMIS_KIND_STEADY, REMOVED, 130, GOLDEN_SEED, {3, 512, 60, 9, 2, 512, 1}},
    {"steady-values", TAMIS_KIND_STEADY, VALUES, 100, GOLDEN_SEED, {3, 512, 40, 12, 1, 512, 0, 3}},
    {"steady-counting",
     TAMIS_KIND_STEADY,
     REMOVED,
     150,
     GOLDEN_SEED,
     {2, 1024, 130, 9, 0, 0, 0, 0, 2, 2}},
    {"window", TAMIS_KIND_WINDOW, KEYS, 200, GOLDEN_SEED, {0}},
    {"window-ticks", TAMIS_KIND_WINDOW, TICKS, 70, GOLDEN_SEED, {3, 512, 40, 9, 1, 512, 1, 5}},
    {"window-stash", TAMIS_KIND_WINDOW, TICKS, 60, 3, {1, 1024, 90, 12, 0, 0, 0, 5}},
    {"line", TAMIS_KIND_LINE, REMOVED, 200, GOLDEN_SEED, {0}},
    {"line-away", TAMIS_KIND_LINE, REMOVED, 150, GOLDEN_SEED, {2, 60, 9, 3, 2}},
    {"line-stash", TAMIS_KIND_LINE, KEYS, 100, GOLDEN_SEED, {4, 126, 20, 1, 4}},
    {"line-crowd", TAMIS_KIND_LINE, SATURATED, 15, GOLDEN_SEED, {1, 90, 6}},
    {"line-values", TAMIS_KIND_LINE, VALUES, 100, GOLDEN_SEED, {2, 60, 8, 2, 2, 3}},
    {"line-set", TAMIS_KIND_LINE, MERGED, 150, UINT64_MAX, {3, 60, 9, 3, 2, 0, 1}},
    {"line-set-aes-u64", TAMIS_KIND_LINE, INTEGERS, 100, GOLDEN_SEED, {2, 17, 12, 2, 2, 0, 1}},
};
enum { N_GOLDEN = sizeof golden_table / sizeof *golden_table };

/* The form of keys that a file tells, by its name. */
static inline tamis_key_form golden_form(const char *name) {
    const char *const last = strrchr(name, '-');
    if (last != NULL && strcmp(last, "-bytes") == 0)
        return TAMIS_KEYS_BYTES;
    return last != NULL && strcmp(last, "-u64") == 0 ? TAMIS_KEYS_U64 : TAMIS_KEYS_UNKNOWN;
}

#define GOLDEN_INTEGER(i) ((i)*UINT64_C(0x100000001))

/* File number i, from 0 on; false after the last. */
static inline bool golden_next(unsigned i, golden_file *file) {
    if (i < N_GOLDEN) {
        *file = golden_table[i];
        return true;
    }
    i -= N_GOLDEN;
    for (int kind = 1; kind < 256; kind++) {
        bool known = tamis_kind_name((tamis_kind)kind) == NULL;
        for (unsigned row = 0; row < N_GOLDEN; row++)
            known = known || golden_table[row].kind == (tamis_kind)kind;
        if (known)
            continue;
        if (i-- == 0) {
            const bool removes = (tamis_kind_abilities((tamis_kind)kind) & TAMIS_CAN_REMOVE) != 0;
            *file = (golden_file){.name = tamis_kind_name((tamis_kind)kind),
                                  .kind = (tamis_kind)kind,
                                  .story = removes ? REMOVED : KEYS,
                                  .capacity = 200,
                                  .seed = GOLDEN_SEED};
            return true;
        }
    }
    return false;
}

/* Key number i: nothing for 0; else its decimal number, filled up with letters to a length of up to 16.
 * Returns its size. */
static inline size_t golden_key(uint64_t i, char key[24]) {
    if (i == 0)
        return 0;
    size_t size = (size_t)snprintf(key, 24, "%llu", (unsigned long long)i);
    for (; size < i * 7 % 17; size++)
        key[size] = (char)('a' + size + i % 5);
    return size;
}

static inline bool golden_insert(tamis_filter *filter, uint64_t first, uint64_t end) {
    for (uint64_t i = first; i < end; i++) {
        char key[24];
        const size_t size = golden_key(i, key);
        if (tamis_filter_insert(filter, key, size, NULL) != TAMIS_OK)
            return false;
    }
    return true;
}

static inline bool golden_remove(tamis_filter *filter, uint64_t first, uint64_t end) {
    for (uint64_t i = first; i < end; i++) {
        char key[24];
        const size_t size = golden_key(i, key);
        if (tamis_filter_remove(filter, key, size) != TAMIS_OK)
            return false;
    }
    return true;
}

/* What happens to the new filter of a file.  false if a call failed. */
static inline bool golden_tell(golden_story story, const tamis_params *params,
                               tamis_filter *filter) {
    tamis_filter *other;
    bool ok = true;
    switch (story) {
    case KEYS:
        ok = golden_insert(filter, 0, GOLDEN_KEYS);
        break;
    case TWO:
        ok = tamis_filter_insert(filter, "apple", 5, NULL) == TAMIS_OK &&
             tamis_filter_insert(filter, "pear", 4, NULL) == TAMIS_OK;
        break;
    case MERGED:
        ok = golden_insert(filter, 0, 100) && tamis_filter_create(params, NULL, &other) == TAMIS_OK;
        if (ok) {
            ok = golden_insert(other, 50, 150) &&
                 tamis_filter_merge(filter, other, TAMIS_MERGE_BEYOND) == TAMIS_OK;
            tamis_filter_free(other);
        }
        break;
    case REMOVED:
        ok = golden_insert(filter, 0, 150);
        for (unsigned i = 0; i < 3; i++)
            ok = ok && golden_insert(filter, 0, 10);
        ok = ok && golden_remove(filter, 100, 150);
        break;
    case SATURATED:
        for (unsigned i = 0; i < 20; i++)
            ok = ok && golden_insert(filter, 1, 2);
        ok = ok && golden_insert(filter, 2, 6);
        for (unsigned i = 0; i < 10; i++)
            ok = ok && golden_remove(filter, 1, 2);
        break;
    case INTEGERS:
        for (uint64_t i = 0; i < GOLDEN_KEYS; i++)
            ok = ok && tamis_filter_insert_u64(filter, GOLDEN_INTEGER(i), NULL) == TAMIS_OK;
        break;
    case VALUES:
        for (uint64_t i = 0; i < GOLDEN_KEYS; i++) {
            char key[24];
            const size_t size = golden_key(i, key);
            ok = ok && tamis_filter_insert_value(filter, key, size, i % 8, NULL) == TAMIS_OK;
        }
        for (uint64_t i = 0; i < 10; i++) {
            char key[24];
            const size_t size = golden_key(i, key);
            ok = ok && tamis_filter_update_value(filter, key, size, 7) == TAMIS_OK;
        }
        break;
    case TICKS:
        for (uint64_t tick = 0; tick < 15; tick++)
            ok = ok && golden_insert(filter, 10 * tick, 10 * tick + 10) &&
                 (tick == 14 || tamis_window_tick(filter) == TAMIS_OK);
        ok = ok && golden_insert(filter, 20, 30) && tamis_window_tick(filter) == TAMIS_OK &&
             tamis_window_step(filter, 1, NULL) == TAMIS_OK;
        break;
    default:
        break;
    }
    return ok;
}

/* What is promised for those whose name says so. */
#define GOLDEN_PROMISE 0.01

/* The filter of a file, or NULL if a call failed. */
static inline tamis_filter *golden_make(const golden_file *file) {
    tamis_params params;
    tamis_params_init(&params);
    params.kind = file->kind;
    params.capacity = file->capacity;
    params.hash = strstr(file->name, "-aes") != NULL ? TAMIS_HASH_AES : TAMIS_HASH_XXH3;
    params.seed = file->seed;
    params.seed_high = params.hash == TAMIS_HASH_AES ? ~file->seed : 0;
    memcpy(params.value, file->value, sizeof params.value);
    params.fpr = strstr(file->name, "-promise") != NULL ? GOLDEN_PROMISE : 0;
    tamis_filter *filter;
    if (tamis_filter_create(&params, NULL, &filter) != TAMIS_OK)
        return NULL;
    bool ok = golden_tell(file->story, &params, filter);
    if (ok && golden_form(file->name) != TAMIS_KEYS_UNKNOWN)
        ok = tamis_filter_set_key_form(filter, golden_form(file->name)) == TAMIS_OK;
    if (ok)
        return filter;
    tamis_filter_free(filter);
    return NULL;
}

/* Was key number i put into this file, and not removed? */
static inline bool golden_holds(const golden_file *file, uint64_t i) {
    switch (file->story) {
    case KEYS:
    case REMOVED:
    case VALUES:
        return i < 100;
    case MERGED:
        return i < 150;
    case SATURATED:
        return i >= 1 && i < 6;
    case TICKS: /* the present tick is number 15 */
        return (i >= 20 && i < 30) || (i / 10 + file->value[TAMIS_WINDOW_TICKS] >= 15 && i < 150);
    default:
        return false;
    }
}

/* Series: which plan a further link has is the planner's business and may change, so that these files are
 * read, and never made again.  Keys 0 to 99; of kinds that remove, keys 100 to 119 were in for a while. */
typedef struct golden_grown {
    const char *name;
    tamis_kind kind;
} golden_grown;

static const golden_grown golden_series[] = {
    {"series-bloom", TAMIS_KIND_BLOOM}, {"series-blocked-bloom", TAMIS_KIND_BLOCKED_BLOOM},
    {"series-rank", TAMIS_KIND_RANK},   {"series-bloom-bytes", TAMIS_KIND_BLOOM},
    {"series-line", TAMIS_KIND_LINE},
};
enum { N_SERIES = sizeof golden_series / sizeof *golden_series };

static inline tamis_filter *golden_make_series(const golden_grown *series) {
    tamis_params params;
    tamis_growth growth;
    tamis_filter *filter;
    tamis_params_init(&params);
    tamis_growth_init(&growth);
    params.kind = series->kind;
    params.capacity = 20;
    params.hash = TAMIS_HASH_XXH3;
    params.seed = GOLDEN_SEED;
    growth.fpr = 0.05;
    growth.automatic = true;
    if (tamis_filter_create(&params, NULL, &filter) != TAMIS_OK)
        return NULL;
    bool ok = tamis_filter_allow_growth(filter, &growth) == TAMIS_OK &&
              golden_insert(filter, 0, GOLDEN_KEYS);
    if (ok && (tamis_kind_abilities(series->kind) & TAMIS_CAN_REMOVE) != 0)
        ok = golden_insert(filter, GOLDEN_KEYS, GOLDEN_KEYS + 20) &&
             golden_remove(filter, GOLDEN_KEYS, GOLDEN_KEYS + 20);
    if (ok && golden_form(series->name) != TAMIS_KEYS_UNKNOWN)
        ok = tamis_filter_set_key_form(filter, golden_form(series->name)) == TAMIS_OK;
    if (ok)
        return filter;
    tamis_filter_free(filter);
    return NULL;
}

/* Sharded sets: three shards, keys 0 to 99.  One has grown, and is like a series never made again. */
typedef struct golden_sharded {
    const char *name;
    tamis_kind kind;
    uint64_t capacity; /* of a shard */
    bool grows;
} golden_sharded;

static const golden_sharded golden_shards[] = {
    {"shards-rank", TAMIS_KIND_RANK, 60, false},
    {"shards-bloom-bytes", TAMIS_KIND_BLOOM, 60, false},
    {"shards-line", TAMIS_KIND_LINE, 60, false},
    {"shards-series-dleft-counting", TAMIS_KIND_DLEFT_COUNTING, 15, true},
};
enum { N_SHARDED = sizeof golden_shards / sizeof *golden_shards };

static inline bool golden_fill_shards(const golden_sharded *sharded, tamis_shared *set) {
    char key[64];
    tamis_growth growth;
    tamis_growth_init(&growth);
    growth.fpr = 0.05;
    growth.automatic = true;
    bool ok = !sharded->grows || tamis_shared_allow_growth(set, &growth) == TAMIS_OK;
    for (uint64_t i = 0; ok && i < GOLDEN_KEYS; i++)
        ok = tamis_shared_insert(set, key, golden_key(i, key), NULL) == TAMIS_OK;
    if (ok && golden_form(sharded->name) != TAMIS_KEYS_UNKNOWN)
        ok = tamis_shared_set_key_form(set, golden_form(sharded->name)) == TAMIS_OK;
    return ok;
}

static inline tamis_filter *golden_make_shards(const golden_sharded *sharded) {
    tamis_params params;
    tamis_shared *set;
    tamis_filter *filter = NULL;
    tamis_params_init(&params);
    params.kind = sharded->kind;
    params.capacity = sharded->capacity;
    params.hash = TAMIS_HASH_XXH3;
    params.seed = GOLDEN_SEED;
    if (tamis_shared_create(&params, 3, NULL, &set) != TAMIS_OK)
        return NULL;
    if (!golden_fill_shards(sharded, set) || tamis_shared_snapshot(set, NULL, &filter) != TAMIS_OK)
        filter = NULL;
    tamis_shared_free(set);
    return filter;
}

#endif
