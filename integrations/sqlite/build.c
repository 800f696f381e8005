/* build.c - the aggregate tamis_build(key, p [, n])
 *
 * With the number of keys a set is made at the first one, and the others follow.  Without it the digests are
 * kept, 16 bytes for each row, and the set is made at the end.  Rows may repeat keys: a set for as many keys
 * as there are rows counts them, and if it is more than a tenth too large it is made again for that number.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

typedef struct building {
    bool begun, failed;
    tamis_key_form form;
    double p;
    uint64_t n;           /* 0: not given */
    tamis_filter *filter; /* if it was */
    tamis_hasher *hasher; /* else; of malloc, which aligns it */
    tamis_digest *digests;
    size_t count, room;
} building;

bool build_plan(sqlite3_context *call, double p, uint64_t n, tamis_plan *plan) {
    tamis_need need;
    tamis_need_init(&need);
    need.n = n;
    need.fpr = p;
    need.merges = true;
    tamis_plan_init(plan);
    if (!(p > 0 && p < 1)) {
        sqlite3_result_error(call, "an error rate is above 0 and below 1", -1);
        return false;
    }
    if (n < 1 || n > TAMIS_CAPACITY_MAX) {
        sqlite3_result_error(call, "a set is for 1 to 2^40 keys", -1);
        return false;
    }
    const tamis_status status = tamis_plan_make(&need, plan);
    char why[512] = "";
    if (status != TAMIS_OK)
        (void)tamis_plan_explain(&need, why, sizeof why);
    return set_expect(call, status, "this set cannot be planned", why[0] != '\0' ? why : NULL);
}

/* An empty set of the connection's seed, or NULL, and an error was given. */
static tamis_filter *build_make(sqlite3_context *call, const building *b, uint64_t n) {
    const connection *const in = sqlite3_user_data(call);
    tamis_plan plan;
    if (!build_plan(call, b->p, n, &plan))
        return NULL;
    plan.params.hash = in->seed.hash;
    plan.params.seed = in->seed.seed;
    plan.params.seed_high = in->seed.seed_high;
    const int most = sqlite3_limit(sqlite3_context_db_handle(call), SQLITE_LIMIT_LENGTH, -1);
    if (plan.bytes > (uint64_t)most) {
        char *const text =
            sqlite3_mprintf("a set for %llu keys at this error rate is too big: %llu "
                            "bytes, and a value has %d at most",
                            n, plan.bytes, most);
        if (text == NULL)
            sqlite3_result_error_nomem(call);
        else
            sqlite3_result_error(call, text, -1);
        sqlite3_free(text);
        return NULL;
    }
    tamis_filter *filter = NULL;
    if (!set_expect(call, tamis_filter_create(&plan.params, NULL, &filter),
                    "this set cannot be made", NULL))
        return NULL;
    if (set_expect(call, tamis_filter_set_key_form(filter, b->form), "this set cannot be made",
                   NULL))
        return filter;
    tamis_filter_free(filter);
    return NULL;
}

/* The rate and the number are those of the first row that has a key. */
static bool build_begin(sqlite3_context *call, building *b, int n, sqlite3_value **values) {
    const connection *const in = sqlite3_user_data(call);
    b->p = sqlite3_value_double(values[1]);
    if (sqlite3_value_numeric_type(values[1]) == SQLITE_NULL ||
        (n > 2 && sqlite3_value_numeric_type(values[2]) != SQLITE_INTEGER)) {
        sqlite3_result_error(call, "tamis_build(key, p [, n]): p and n are numbers", -1);
        return false;
    }
    if (n > 2) {
        const sqlite3_int64 keys = sqlite3_value_int64(values[2]);
        b->n = keys < 1 ? 0 : (uint64_t)keys;
        b->filter = build_make(call, b, b->n);
        return b->filter != NULL;
    }
    tamis_plan plan; /* an error rate that cannot be is told at once */
    b->hasher = malloc(sizeof *b->hasher);
    return set_expect(call, b->hasher == NULL ? TAMIS_E_NOMEM : TAMIS_OK, "", NULL) &&
           build_plan(call, b->p, 1, &plan) &&
           set_expect(call, tamis_hasher_init(b->hasher, &in->seed), "the seed", NULL);
}

static bool build_keep(sqlite3_context *call, building *b, tamis_digest digest) {
    if (b->count == b->room) {
        const size_t room = b->room == 0 ? 1024 : 2 * b->room;
        tamis_digest *const more = sqlite3_realloc64(b->digests, room * sizeof *more);
        if (more == NULL) {
            set_too_big(call, "the list of keys", room * sizeof *more);
            return false;
        }
        b->digests = more;
        b->room = room;
    }
    b->digests[b->count++] = digest;
    return true;
}

static bool build_add(sqlite3_context *call, building *b, int n, sqlite3_value **values) {
    set_key key;
    if (!set_key_of(call, values[0], &key))
        return false;
    if (!b->begun) {
        b->form = key.form;
        if (!build_begin(call, b, n, values))
            return false;
        b->begun = true;
    }
    if (key.form != b->form) {
        sqlite3_result_error(call, "the keys of a set are all integers, or all texts or blobs", -1);
        return false;
    }
    if (b->filter == NULL)
        return build_keep(call, b, set_digest(b->hasher, &key));
    const tamis_digest digest = set_digest(tamis_filter_hasher(b->filter), &key);
    return set_expect(call, tamis_filter_insert_digest(b->filter, digest, NULL),
                      "there are more keys than the set was made for", NULL);
}

void build_step(sqlite3_context *call, int n, sqlite3_value **values) {
    building *const b = sqlite3_aggregate_context(call, sizeof *b);
    if (b == NULL) {
        sqlite3_result_error_nomem(call);
        return;
    }
    if (!b->failed && sqlite3_value_type(values[0]) != SQLITE_NULL)
        b->failed = !build_add(call, b, n, values);
}

/* All digests in a set for n keys. */
static tamis_filter *build_all(sqlite3_context *call, const building *b, uint64_t n) {
    tamis_filter *const filter = build_make(call, b, n);
    if (filter != NULL &&
        !set_expect(call, tamis_filter_insert_many_digest(filter, b->digests, b->count, NULL, NULL),
                    "this set cannot be made", NULL)) {
        tamis_filter_free(filter);
        return NULL;
    }
    return filter;
}

/* The count misses keys that a false answer hid: of n keys not more than p n, and chance, of which six
 * standard deviations are allowed for. */
static uint64_t build_distinct(const building *b, uint64_t counted) {
    const double most = (double)counted / (1 - b->p), hidden = most * b->p;
    const double n = ceil((double)counted + hidden + 6 * sqrt(hidden) + 6);
    return n < (double)b->count ? (uint64_t)n : b->count;
}

static tamis_filter *build_at_end(sqlite3_context *call, const building *b) {
    tamis_filter *const first = build_all(call, b, b->count);
    if (first == NULL)
        return NULL;
    const uint64_t n = build_distinct(b, tamis_filter_count(first));
    if (n > b->count - b->count / 10)
        return first;
    tamis_filter_free(first);
    return build_all(call, b, n);
}

/* A set that does not keep what was promised is not given out. */
static bool build_kept(sqlite3_context *call, const building *b, const tamis_filter *filter) {
    const tamis_status status = tamis_filter_keeps(filter, b->p);
    if (status != TAMIS_E_PROMISE)
        return set_expect(call, status, "a set", NULL);
    sqlite3_result_error(call, "there are more keys than the set was made for", -1);
    return false;
}

void build_final(sqlite3_context *call) {
    building *const b = sqlite3_aggregate_context(call, 0);
    if (b == NULL) /* no row */
        return;
    if (!b->failed && b->begun) {
        if (b->filter == NULL)
            b->filter = build_at_end(call, b);
        if (b->filter != NULL && build_kept(call, b, b->filter))
            set_encode(call, b->filter);
    }
    tamis_filter_free(b->filter);
    sqlite3_free(b->digests);
    free(b->hasher);
}
