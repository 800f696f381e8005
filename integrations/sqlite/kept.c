/* kept.c - the last sets that a connection has asked
 *
 * A set in a column is bytes that must be read and verified, some milliseconds for some megabytes,
 * before one question is answered.  So the last ones are kept.  What names a set is its length and
 * its header, whose checksums are those of all that follows (docs/format.md): a blob with the name
 * of a set that is kept is that set, and no more than its first 256 bytes is looked at.  A set that
 * is kept is a view of a copy of its bytes, which is verified in parts, as questions touch them.
 *
 * The database hands over a column as a whole, which takes longer than to answer.
 * tamis_contains(table, column, rowid, key) reads the header alone, in the row as it is now, by a
 * handle of incremental input.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sets.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

#define KEPT_BYTES ((sqlite3_int64)64 << 20) /* unless tamis_keep says otherwise */
#define KEPT_SETS  64                        /* they are looked through one after the other */

void kept_begin(connection *in) {
    in->keep_bytes = KEPT_BYTES;
}

/* Drop those that were used least lately, until the others fit. */
static void kept_fit(connection *in) {
    sqlite3_int64 bytes = 0;
    unsigned n = 0;
    for (set **at = &in->kept; *at != NULL;) {
        set *const here = *at;
        const uint64_t size = here->bytes;
        if (n == KEPT_SETS || size > (uint64_t)(in->keep_bytes - bytes)) {
            *at = here->next;
            set_release(here);
            continue;
        }
        bytes += (sqlite3_int64)size;
        n++;
        at = &here->next;
    }
}

void kept_end(connection *in) {
    in->keep_bytes = 0;
    kept_fit(in);
}

/* The set of this name, held once more, and first in the list; or NULL. */
static set *kept_find(connection *in, const unsigned char *head, uint64_t size) {
    for (set **at = &in->kept; *at != NULL; at = &(*at)->next) {
        set *const here = *at;
        if (here->bytes != size || memcmp(here->head, head, KEPT_HEAD) != 0)
            continue;
        *at = here->next;
        here->next = in->kept;
        in->kept = here;
        here->holders++;
        return here;
    }
    return NULL;
}

void kept_forget(connection *in, const set *damaged) {
    for (set **at = &in->kept; *at != NULL; at = &(*at)->next)
        if (*at == damaged) {
            set *const here = *at;
            *at = here->next;
            set_release(here);
            return;
        }
}

/* A copy of so many bytes, whose lines are those of the memory; NULL, and an error was given. */
static unsigned char *kept_room(sqlite3_context *call, size_t size) {
    unsigned char *const room = aligned_alloc(64, (size + 64) / 64 * 64);
    if (room == NULL)
        set_too_big(call, "a set", size);
    return room;
}

/* A set of bytes that it then owns, kept if there is room.  Held once by the caller; NULL, and an
 * error was given. */
static set *kept_make(sqlite3_context *call, unsigned char *bytes, size_t size) {
    connection *const in = sqlite3_user_data(call);
    tamis_filter *filter = NULL;
    const char *reason = NULL;
    tamis_status status = tamis_filter_view_parts(bytes, size, NULL, &filter, &reason);
    if (status == TAMIS_E_UNSUPPORTED) /* a machine of the other order of bytes */
        status = tamis_filter_decode(bytes, size, NULL, &filter, &reason);
    set *const made =
        set_expect(call, status, "not a set of tamis", reason) ? set_new(filter, NULL, NULL) : NULL;
    if (made == NULL) {
        if (status == TAMIS_OK)
            sqlite3_result_error_nomem(call);
        free(bytes);
        return NULL;
    }
    made->memory = bytes;
    made->bytes = size;
    memcpy(made->head, bytes, KEPT_HEAD);
    if (size <= (uint64_t)in->keep_bytes) {
        made->holders++;
        made->next = in->kept;
        in->kept = made;
        kept_fit(in);
    }
    return made;
}

set *kept_set(sqlite3_context *call, sqlite3_value *blob) {
    if (sqlite3_value_type(blob) != SQLITE_BLOB) {
        sqlite3_result_error(call, "a set is a blob", -1);
        return NULL;
    }
    const unsigned char *const bytes = sqlite3_value_blob(blob);
    const size_t size = bytes == NULL ? 0 : (size_t)sqlite3_value_bytes(blob);
    set *const known =
        size >= KEPT_HEAD ? kept_find(sqlite3_user_data(call), bytes, (uint64_t)size) : NULL;
    if (known != NULL)
        return known;
    unsigned char *const own = kept_room(call, size);
    if (own == NULL)
        return NULL;
    if (size > 0)
        memcpy(own, bytes, size);
    return kept_make(call, own, size);
}

/* ---- a set in a row ---- */

/* Open the value that a table, a column and a row name: "table", or "schema.table". */
static sqlite3_blob *kept_open(sqlite3_context *call, sqlite3_value **values) {
    sqlite3 *const db = sqlite3_context_db_handle(call);
    const char *const table = (const char *)sqlite3_value_text(values[0]);
    const char *const column = (const char *)sqlite3_value_text(values[1]);
    if (table == NULL || column == NULL || sqlite3_value_type(values[2]) != SQLITE_INTEGER) {
        sqlite3_result_error(call, "tamis_contains(table, column, rowid, key)", -1);
        return NULL;
    }
    const char *const dot = strchr(table, '.');
    char *schema = sqlite3_mprintf("%.*s", dot == NULL ? 0 : (int)(dot - table), table);
    if (schema == NULL) {
        sqlite3_result_error_nomem(call);
        return NULL;
    }
    const bool named = dot != NULL && sqlite3_db_readonly(db, schema) >= 0;
    sqlite3_blob *blob = NULL;
    const int status = sqlite3_blob_open(db, named ? schema : "main", named ? dot + 1 : table,
                                         column, sqlite3_value_int64(values[2]), 0, &blob);
    sqlite3_free(schema);
    if (status == SQLITE_OK)
        return blob;
    sqlite3_result_error(call, sqlite3_errmsg(db), -1);
    sqlite3_result_error_code(call, status);
    return NULL;
}

set *kept_row(sqlite3_context *call, sqlite3_value **values) {
    sqlite3_blob *const blob = kept_open(call, values);
    if (blob == NULL)
        return NULL;
    unsigned char head[KEPT_HEAD], *bytes = NULL;
    set *held = NULL;
    const int size = sqlite3_blob_bytes(blob);
    int status = SQLITE_OK;
    if (size >= KEPT_HEAD) {
        status = sqlite3_blob_read(blob, head, KEPT_HEAD, 0);
        if (status == SQLITE_OK)
            held = kept_find(sqlite3_user_data(call), head, (uint64_t)size);
    }
    if (status == SQLITE_OK && held == NULL)
        bytes = kept_room(call, (size_t)size);
    if (bytes != NULL) {
        status = sqlite3_blob_read(blob, bytes, size, 0);
        if (status == SQLITE_OK)
            held = kept_make(call, bytes, (size_t)size);
        else
            free(bytes);
    }
    if (status != SQLITE_OK)
        sqlite3_result_error_code(call, status);
    (void)sqlite3_blob_close(blob); /* of reading; there is nothing to be lost */
    return held;
}

void kept_limit(sqlite3_context *call, int n, sqlite3_value **values) {
    connection *const in = sqlite3_user_data(call);
    if (n > 0) {
        const sqlite3_int64 bytes = sqlite3_value_int64(values[0]);
        if (sqlite3_value_numeric_type(values[0]) != SQLITE_INTEGER || bytes < 0) {
            sqlite3_result_error(call, "tamis_keep(bytes): a number, 0 or more", -1);
            return;
        }
        in->keep_bytes = bytes;
        kept_fit(in);
    }
    sqlite3_result_int64(call, in->keep_bytes);
}
