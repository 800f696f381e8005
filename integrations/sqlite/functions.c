/* functions.c - what SQL calls, and the entry point
 *
 * A set that is the same for all rows, a constant, is found at the first and kept for the
 * statement.  Others are looked for among those that were asked last (kept.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "sets.h"

#include <string.h>

SQLITE_EXTENSION_INIT1

/* tamis_contains(blob, key) */
static void sql_contains(sqlite3_context *call, int n, sqlite3_value **values) {
    (void)n;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    set *held = sqlite3_get_auxdata(call, 0);
    if (held != NULL) {
        (void)set_answer(call, held->filter, values[1]);
        return;
    }
    held = kept_set(call, values[0]);
    if (held == NULL)
        return;
    if (!set_answer(call, held->filter, values[1]))
        kept_forget(sqlite3_user_data(call), held);
    sqlite3_set_auxdata(call, 0, held,
                        set_release); /* gives it back at once if the blob is no constant */
}

/* tamis_contains(table, column, rowid, key) */
static void sql_contains_row(sqlite3_context *call, int n, sqlite3_value **values) {
    (void)n;
    set *const held = kept_row(call, values);
    if (held == NULL)
        return;
    if (!set_answer(call, held->filter, values[3]))
        kept_forget(sqlite3_user_data(call), held);
    set_release(held);
}

/* tamis_has(name, key) */
static void sql_has(sqlite3_context *call, int n, sqlite3_value **values) {
    (void)n;
    const set *held = sqlite3_get_auxdata(call, 0);
    if (held == NULL) {
        const char *const name = (const char *)sqlite3_value_text(values[0]);
        set *const found = name == NULL ? NULL : set_find(sqlite3_user_data(call), name);
        if (found == NULL) {
            sqlite3_result_error(call, "no set of that name is open (tamis_open)", -1);
            return;
        }
        found->holders += 2; /* one for the statement, one until this call is over */
        sqlite3_set_auxdata(call, 0, found, set_release);
        (void)set_answer(call, found->filter, values[1]);
        set_release(found);
        return;
    }
    (void)set_answer(call, held->filter, values[1]);
}

/* The set in a file: a copy, or with 'map' a view on it. */
static tamis_filter *open_file(sqlite3_context *call, const char *path, bool map) {
    tamis_filter *filter = NULL;
    const char *reason = NULL;
    tamis_status status = TAMIS_E_UNSUPPORTED;
    if (map)
        status = tamis_filter_map(path, NULL, &filter, &reason);
    if (status == TAMIS_E_UNSUPPORTED) /* also a machine, or a form, that cannot be mapped */
        status = tamis_filter_load(path, NULL, &filter, &reason);
    return set_expect(call, status, path, reason) ? filter : NULL;
}

/* tamis_open(name, file or blob [, 'map']): the name is then used by tamis_has. */
static void sql_open(sqlite3_context *call, int n, sqlite3_value **values) {
    const char *const name = (const char *)sqlite3_value_text(values[0]);
    const bool is_blob = sqlite3_value_type(values[1]) == SQLITE_BLOB;
    const char *const how = n > 2 ? (const char *)sqlite3_value_text(values[2]) : NULL;
    if (name == NULL || (!is_blob && sqlite3_value_type(values[1]) != SQLITE_TEXT) ||
        (n > 2 && (is_blob || how == NULL || strcmp(how, "map") != 0))) {
        sqlite3_result_error(call, "tamis_open(name, file or blob), or (name, file, 'map')", -1);
        return;
    }
    const char *const path = is_blob ? "blob" : (const char *)sqlite3_value_text(values[1]);
    if (path == NULL) {
        sqlite3_result_error_nomem(call);
        return;
    }
    tamis_filter *const filter =
        is_blob ? set_decode(call, values[1]) : open_file(call, path, how != NULL);
    if (filter == NULL)
        return;
    set *const opened = set_new(filter, name, path);
    if (opened == NULL) {
        sqlite3_result_error_nomem(call);
        return;
    }
    set_add(sqlite3_user_data(call), opened);
    sqlite3_result_int64(call, (sqlite3_int64)tamis_filter_count(filter));
}

/* tamis_close(name): 1, or 0 if there was none. */
static void sql_close(sqlite3_context *call, int n, sqlite3_value **values) {
    (void)n;
    const char *const name = (const char *)sqlite3_value_text(values[0]);
    sqlite3_result_int(call, name != NULL && set_drop(sqlite3_user_data(call), name));
}

/* Say what the union of sets would be, one of which is the caller's own and is changed by it. */
static void merge_refuse(sqlite3_context *call, tamis_filter *one, const tamis_filter *two) {
    tamis_info info;
    tamis_info_init(&info);
    const double own = tamis_filter_promise(one);
    const double promise = own > 0 ? own : tamis_filter_promise(two);
    if (!set_expect(call, tamis_filter_merge(one, two, TAMIS_MERGE_BEYOND), "a set", NULL) ||
        !set_expect(call, tamis_filter_info(one, &info), "a set", NULL))
        return;
    char *const text =
        sqlite3_mprintf("the union would have an error rate of %.3g, and %.3g was promised; "
                        "tamis_merge(set, set, 'beyond') permits it",
                        info.fpr, promise);
    if (text == NULL)
        sqlite3_result_error_nomem(call);
    else
        sqlite3_result_error(call, text, -1);
    sqlite3_free(text);
}

/* tamis_merge(blob, blob [, 'beyond']) */
static void sql_merge(sqlite3_context *call, int n, sqlite3_value **values) {
    const char *const how = n > 2 ? (const char *)sqlite3_value_text(values[2]) : NULL;
    if (n > 2 && (how == NULL || strcmp(how, "beyond") != 0)) {
        sqlite3_result_error(call, "tamis_merge(set, set), or (set, set, 'beyond')", -1);
        return;
    }
    if (sqlite3_value_type(values[0]) == SQLITE_NULL ||
        sqlite3_value_type(values[1]) == SQLITE_NULL)
        return;
    tamis_filter *const one = set_decode(call, values[0]);
    tamis_filter *const two = one == NULL ? NULL : set_decode(call, values[1]);
    if (two != NULL) {
        const tamis_status status =
            tamis_filter_merge(one, two, how != NULL ? TAMIS_MERGE_BEYOND : 0);
        if (status == TAMIS_E_PROMISE)
            merge_refuse(call, one, two);
        else if (set_expect(call, status, "these sets cannot be merged",
                            status == TAMIS_E_FULL ? "no room for the keys of both" : NULL))
            set_encode(call, one);
    }
    tamis_filter_free(two);
    tamis_filter_free(one);
}

static void sql_json(sqlite3_context *call, char *json) {
    if (json == NULL)
        sqlite3_result_error_nomem(call);
    else
        sqlite3_result_text(call, json, -1, sqlite3_free);
}

/* tamis_info(blob): JSON */
static void sql_info(sqlite3_context *call, int n, sqlite3_value **values) {
    (void)n;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    tamis_filter *const filter = set_decode(call, values[0]);
    if (filter == NULL)
        return;
    tamis_info info;
    tamis_info_init(&info);
    if (set_expect(call, tamis_filter_info(filter, &info), "a set", NULL)) {
        char bits[32] = "null"; /* of no key */
        if (info.count > 0)
            sqlite3_snprintf(sizeof bits, bits, "%!.15g", info.bits_per_key);
        sql_json(call,
                 sqlite3_mprintf("{\"kind\":\"%s\",\"capacity\":%llu,\"count\":%llu,\"bytes\":%llu,"
                                 "\"bits_per_key\":%s,\"fpr\":%!.15g,\"fpr_promised\":%!.15g,"
                                 "\"keys\":\"%s\",\"hash\":\"%s\"}",
                                 tamis_kind_name(info.params.kind), info.capacity,
                                 tamis_filter_count(filter), info.bytes, bits, info.fpr,
                                 info.fpr_promised, set_form_name(tamis_filter_key_form(filter)),
                                 tamis_hash_name(info.params.hash)));
    }
    tamis_filter_free(filter);
}

/* tamis_plan(p, n): JSON */
static void sql_plan(sqlite3_context *call, int n, sqlite3_value **values) {
    (void)n;
    const sqlite3_int64 keys = sqlite3_value_int64(values[1]);
    tamis_plan plan;
    if (build_plan(call, sqlite3_value_double(values[0]), keys < 1 ? 0 : (uint64_t)keys, &plan))
        sql_json(call, sqlite3_mprintf(
                           "{\"kind\":\"%s\",\"bytes\":%llu,\"bits_per_key\":%!.15g,\"fpr\":%!.15g,"
                           "\"lines_per_query\":%!.15g}",
                           tamis_kind_name(plan.params.kind), plan.bytes, plan.bits_per_key,
                           plan.fpr, plan.lines_per_query));
}

/* tamis_seed(): the seed of sets that this connection makes; tamis_seed(text) sets it. */
static void sql_seed(sqlite3_context *call, int n, sqlite3_value **values) {
    connection *const in = sqlite3_user_data(call);
    if (n > 0) {
        const char *const text = (const char *)sqlite3_value_text(values[0]);
        if (tamis_seed_parse(text, &in->seed) != TAMIS_OK) {
            sqlite3_result_error(
                call, "a seed is a number from 1 to 2^64 - 1, or up to 32 digits after 0x", -1);
            return;
        }
    }
    sql_json(call, sqlite3_mprintf("0x%016llx%016llx", in->seed.seed_high, in->seed.seed));
}

static void sql_end(void *held) {
    connection *const in = held;
    while (in->named != NULL)
        (void)set_drop(in, in->named->name);
    kept_end(in);
    sqlite3_free(in);
}

/* ---- the list ---- */

#define PURE (SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS)
#define HERE                                                                                       \
    (SQLITE_UTF8 |                                                                                 \
     SQLITE_DIRECTONLY) /* what depends on the connection, and not on its arguments alone */

static const struct function {
    const char *name;
    int arguments, flags;
    void (*call)(sqlite3_context *, int, sqlite3_value **);
} functions[] = {
    {"tamis_contains", 2, PURE, sql_contains}, {"tamis_contains", 4, SQLITE_UTF8, sql_contains_row},
    {"tamis_has", 2, SQLITE_UTF8, sql_has},    {"tamis_merge", 2, PURE, sql_merge},
    {"tamis_merge", 3, PURE, sql_merge},       {"tamis_info", 1, PURE, sql_info},
    {"tamis_plan", 2, PURE, sql_plan},         {"tamis_open", 2, HERE, sql_open},
    {"tamis_open", 3, HERE, sql_open},         {"tamis_close", 1, HERE, sql_close},
    {"tamis_keep", 0, HERE, kept_limit},       {"tamis_keep", 1, HERE, kept_limit},
    {"tamis_seed", 0, HERE, sql_seed},         {"tamis_seed", 1, HERE, sql_seed},
};

static int sql_register(sqlite3 *db, connection *in) {
    int status = SQLITE_OK;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0] && status == SQLITE_OK; i++)
        status =
            sqlite3_create_function_v2(db, functions[i].name, functions[i].arguments,
                                       functions[i].flags, in, functions[i].call, NULL, NULL, NULL);
    for (int arguments = 2; arguments <= 3 && status == SQLITE_OK; arguments++)
        status =
            sqlite3_create_function_v2(db, "tamis_build", arguments, SQLITE_UTF8 | SQLITE_INNOCUOUS,
                                       in, NULL, build_step, build_final, NULL);
    return status;
}

int sqlite3_tamis_init(sqlite3 *db, char **error, const sqlite3_api_routines *api);

__attribute__((visibility("default"))) int sqlite3_tamis_init(sqlite3 *db, char **error,
                                                              const sqlite3_api_routines *api) {
    SQLITE_EXTENSION_INIT2(api);
    connection *const in = sqlite3_malloc64(sizeof *in);
    if (in == NULL)
        return SQLITE_NOMEM;
    memset(in, 0, sizeof *in);
    kept_begin(in);
    tamis_params_init(&in->seed);
    in->seed.hash = TAMIS_HASH_AES;
    if (tamis_seed_draw(&in->seed) != TAMIS_OK) {
        sqlite3_free(in);
        *error = sqlite3_mprintf("the system gives no random seed");
        return SQLITE_ERROR;
    }
    /* The table owns what the connection has: it is freed with it, also if this fails. */
    const int status = sqlite3_create_module_v2(db, "tamis_sets", &listing, in, sql_end);
    return status == SQLITE_OK ? sql_register(db, in) : status;
}
