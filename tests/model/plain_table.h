/* plain_table.h - a multilevel table reduced to which slots are in use, with a real summary beside it
 *
 * What the tests of summaries and plans share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_PLAIN_TABLE_H
#define TAMIS_TESTS_PLAIN_TABLE_H

#include "support.h"

#include <math.h>

#include "plan/table.h"
#include "table/summary.h"
#include "unit/summary_make.h"

#define CRISIS UINT32_MAX

typedef struct plain_item {
    tamis_digest digest;
    unsigned type; /* or CRISIS */
} plain_item;

typedef struct plain_table {
    tamis_i_summary summary;
    unsigned n_types;
    unsigned bucket; /* slots */
    uint64_t buckets[TAMIS_I_SUMMARY_TYPES_MAX];
    unsigned char *load[TAMIS_I_SUMMARY_TYPES_MAX]; /* items in each bucket */
} plain_table;

static inline void plain_table_make(plain_table *t, tamis_i_summary_id id, unsigned n_types,
                                    const uint64_t *buckets, unsigned bucket,
                                    const tamis_i_summary_params *params) {
    t->summary = summary_make(id, params);
    t->n_types = n_types;
    t->bucket = bucket;
    for (unsigned i = 0; i < n_types; i++) {
        t->buckets[i] = buckets[i];
        t->load[i] = calloc((size_t)buckets[i], 1);
        assert_non_null(t->load[i]);
    }
}

static inline void plain_table_planned(plain_table *t, tamis_i_summary_id id, unsigned bucket,
                                       const tamis_i_table_plan *plan) {
    plain_table_make(t, id, plan->n_types, plan->buckets, bucket, &plan->summary);
}

static inline void plain_table_clear(plain_table *t) {
    tamis_i_summary_clear(&t->summary);
    for (unsigned i = 0; i < t->n_types; i++)
        memset(t->load[i], 0, (size_t)t->buckets[i]);
}

static inline void plain_table_free(plain_table *t) {
    free(t->summary.body);
    for (unsigned i = 0; i < t->n_types; i++)
        free(t->load[i]);
}

static inline plain_item plain_table_put(plain_table *t, uint64_t *random) {
    plain_item item = {.type = CRISIS};
    item.digest.lo = test_random(random);
    item.digest.hi = test_random(random);
    for (unsigned i = 0; i < t->n_types; i++) {
        unsigned char *const load =
            &t->load[i][tamis_i_table_bucket(item.digest, i, t->buckets[i])];
        if (*load < t->bucket) {
            ++*load;
            item.type = i;
            assert_ok(t->summary.kind->insert(&t->summary, item.digest, i));
            break;
        }
    }
    return item;
}

static inline void plain_table_delete(plain_table *t, const plain_item *item) {
    if (item->type == CRISIS)
        return;
    t->load[item->type][tamis_i_table_bucket(item->digest, item->type, t->buckets[item->type])]--;
    assert_ok(t->summary.kind->remove(&t->summary, item->digest, item->type));
}

/* Fill an empty table with n items; then how many had a crisis, and how many get a wrong type. */
static inline void plain_table_build(plain_table *t, unsigned n, plain_item *items,
                                     uint64_t *random, unsigned *crises, unsigned *failures) {
    plain_table_clear(t);
    *crises = *failures = 0;
    for (unsigned i = 0; i < n; i++) {
        items[i] = plain_table_put(t, random);
        *crises += items[i].type == CRISIS;
    }
    for (unsigned i = 0; i < n; i++) {
        if (items[i].type == CRISIS)
            continue;
        const unsigned type = t->summary.kind->ask(&t->summary, items[i].digest);
        assert_int_not_equal(type, TAMIS_I_SUMMARY_NONE);
        *failures += type != items[i].type;
    }
}

static inline uint64_t plain_table_false_positives(const plain_table *t, unsigned queries,
                                                   uint64_t *random) {
    uint64_t hits = 0;
    for (unsigned i = 0; i < queries; i++) {
        const tamis_digest digest = {test_random(random), test_random(random)};
        hits += t->summary.kind->ask(&t->summary, digest) != TAMIS_I_SUMMARY_NONE;
    }
    return hits;
}

/* A number from the environment, for longer runs. */
static inline unsigned from_environment(const char *name, unsigned otherwise) {
    const char *const text = getenv(name);
    const unsigned value = text == NULL ? 0 : (unsigned)strtoul(text, NULL, 10);
    return value != 0 ? value : otherwise;
}

#endif
