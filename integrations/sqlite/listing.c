/* listing.c - the table tamis_sets: the sets that a connection has open
 *
 *     SELECT name, keys, bytes FROM tamis_sets;
 *
 * SPDX-License-Identifier: MIT
 */
#include "sets.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

typedef struct table {
    sqlite3_vtab base;
    const connection *in;
} table;

/* A set that is closed meanwhile stays until the cursor has left it. */
typedef struct cursor {
    sqlite3_vtab_cursor base;
    set **sets;
    size_t n, at;
    tamis_info info;
} cursor;

enum { NAME, SOURCE, KIND, CAPACITY, COUNT, BYTES, BITS_PER_KEY, FPR, KEYS, FPR_PROMISED };

static int listing_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
                           sqlite3_vtab **out, char **error) {
    (void)argc, (void)argv, (void)error;
    table *const made = sqlite3_malloc64(sizeof *made);
    if (made == NULL)
        return SQLITE_NOMEM;
    memset(made, 0, sizeof *made);
    made->in = aux;
    *out = &made->base;
    (void)sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    return sqlite3_declare_vtab(
        db,
        "CREATE TABLE x (name TEXT, source TEXT, kind TEXT, capacity INTEGER, "
        "count INTEGER, bytes INTEGER, bits_per_key REAL, fpr REAL, keys TEXT, fpr_promised REAL)");
}

static int listing_disconnect(sqlite3_vtab *base) {
    sqlite3_free(base);
    return SQLITE_OK;
}

static int listing_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
    (void)base;
    info->estimatedCost = 100;
    return SQLITE_OK;
}

static int listing_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    (void)base;
    cursor *const made = sqlite3_malloc64(sizeof *made);
    if (made == NULL)
        return SQLITE_NOMEM;
    memset(made, 0, sizeof *made);
    *out = &made->base;
    return SQLITE_OK;
}

static void listing_leave(cursor *c) {
    for (size_t i = 0; i < c->n; i++)
        set_release(c->sets[i]);
    sqlite3_free(c->sets);
    c->sets = NULL;
    c->n = c->at = 0;
}

static int listing_close(sqlite3_vtab_cursor *base) {
    listing_leave((cursor *)base);
    sqlite3_free(base);
    return SQLITE_OK;
}

static int listing_look(cursor *c) {
    tamis_info_init(&c->info);
    if (c->at < c->n && tamis_filter_info(c->sets[c->at]->filter, &c->info) != TAMIS_OK)
        return SQLITE_ERROR;
    return SQLITE_OK;
}

static int listing_filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc,
                          sqlite3_value **argv) {
    (void)number, (void)text, (void)argc, (void)argv;
    cursor *const c = (cursor *)base;
    const connection *const in = ((const table *)base->pVtab)->in;
    listing_leave(c);
    size_t n = 0;
    for (const set *at = in->named; at != NULL; at = at->next)
        n++;
    c->sets = sqlite3_malloc64((n + 1) * sizeof(set *));
    if (c->sets == NULL)
        return SQLITE_NOMEM;
    for (set *at = in->named; at != NULL; at = at->next) {
        at->holders++;
        c->sets[c->n++] = at;
    }
    return listing_look(c);
}

static int listing_next(sqlite3_vtab_cursor *base) {
    cursor *const c = (cursor *)base;
    c->at++;
    return listing_look(c);
}

static int listing_eof(sqlite3_vtab_cursor *base) {
    const cursor *const c = (const cursor *)base;
    return c->at >= c->n;
}

static int listing_column(sqlite3_vtab_cursor *base, sqlite3_context *out, int column) {
    const cursor *const c = (const cursor *)base;
    const set *const here = c->sets[c->at];
    switch (column) {
    case NAME:
        sqlite3_result_text(out, here->name, -1, SQLITE_TRANSIENT);
        break;
    case SOURCE:
        sqlite3_result_text(out, here->source, -1, SQLITE_TRANSIENT);
        break;
    case KIND:
        sqlite3_result_text(out, tamis_kind_name(c->info.params.kind), -1, SQLITE_STATIC);
        break;
    case CAPACITY:
        sqlite3_result_int64(out, (sqlite3_int64)c->info.capacity);
        break;
    case COUNT:
        sqlite3_result_int64(out, (sqlite3_int64)tamis_filter_count(here->filter));
        break;
    case BYTES:
        sqlite3_result_int64(out, (sqlite3_int64)c->info.bytes);
        break;
    case BITS_PER_KEY:
        if (c->info.count > 0) /* else null */
            sqlite3_result_double(out, c->info.bits_per_key);
        break;
    case FPR:
        sqlite3_result_double(out, c->info.fpr);
        break;
    case FPR_PROMISED:
        sqlite3_result_double(out, c->info.fpr_promised);
        break;
    case KEYS:
        sqlite3_result_text(out, set_form_name(tamis_filter_key_form(here->filter)), -1,
                            SQLITE_STATIC);
        break;
    default:
        break;
    }
    return SQLITE_OK;
}

static int listing_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out) {
    *out = (sqlite3_int64)((const cursor *)base)->at + 1;
    return SQLITE_OK;
}

const sqlite3_module listing = {
    .xConnect = listing_connect, /* without xCreate it is there by its name alone */
    .xBestIndex = listing_best_index,
    .xDisconnect = listing_disconnect,
    .xOpen = listing_open,
    .xClose = listing_close,
    .xFilter = listing_filter,
    .xNext = listing_next,
    .xEof = listing_eof,
    .xColumn = listing_column,
    .xRowid = listing_rowid,
};
