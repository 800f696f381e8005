/* peer_sqlite.c - SQLite, a B-tree in a file with a page cache of its own (Debian: libsqlite3-dev)
 *
 * CREATE TABLE t(k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID, which is one tree.  The items are put in
 * transactions, with a write-ahead log, as its documentation advises for speed, and synchronous=FULL, so
 * that each transaction is durable.  They are looked up by one prepared statement in one read
 * transaction.  For one read per lookup it must have the internal pages of the tree in memory; its dbstat
 * table gives them, if compiled in.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench/table.h"

#include <math.h>
#include <sqlite3.h>
#include <string.h>

typedef struct sqlite_own {
    sqlite3 *db;
    sqlite3_stmt *statement;
} sqlite_own;

static bool sqlite_run(const sqlite_own *o, const char *sql) {
    return sqlite3_exec(o->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static const char *sqlite_open(kept *table, bool write) {
    sqlite_own *const o = table->own;
    const int flags = write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    bool good = sqlite3_open_v2(table->path, &o->db, flags, NULL) == SQLITE_OK;
    if (write)
        good = good && sqlite_run(o, "PRAGMA journal_mode=WAL") &&
               sqlite_run(o, "PRAGMA synchronous=FULL") &&
               sqlite_run(o, "CREATE TABLE t(k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID");
    good = good && sqlite_run(o, "BEGIN") &&
           sqlite3_prepare_v2(o->db,
                              write ? "INSERT OR REPLACE INTO t VALUES(?, ?)"
                                    : "SELECT v FROM t WHERE k = ?",
                              -1, &o->statement, NULL) == SQLITE_OK;
    if (!good) {
        (void)sqlite3_close(o->db);
        return "SQLite could not be opened";
    }
    return NULL;
}

static bool sqlite_put(kept *table, const table_item *item) {
    sqlite_own *const o = table->own;
    sqlite3_bind_blob(o->statement, 1, item->key, (int)item->key_size, SQLITE_STATIC);
    sqlite3_bind_blob(o->statement, 2, item->value, (int)item->value_size, SQLITE_STATIC);
    return sqlite3_step(o->statement) == SQLITE_DONE && sqlite3_reset(o->statement) == SQLITE_OK;
}

static bool sqlite_commit(kept *table) {
    return sqlite_run(table->own, "COMMIT") && sqlite_run(table->own, "BEGIN");
}

static void sqlite_close(kept *table) {
    sqlite_own *const o = table->own;
    (void)sqlite3_finalize(o->statement);
    (void)sqlite_run(o, "COMMIT");
    (void)sqlite3_close(o->db);
}

/* The log goes into the file, so that reading meets one file. */
static bool sqlite_finish(kept *table) {
    sqlite_own *const o = table->own;
    const bool good = sqlite_run(o, "COMMIT") && sqlite_run(o, "PRAGMA wal_checkpoint(TRUNCATE)") &&
                      sqlite_run(o, "PRAGMA journal_mode=DELETE");
    (void)sqlite3_finalize(o->statement);
    (void)sqlite3_close(o->db);
    return good;
}

static bool sqlite_get(kept *table, const table_item *item, unsigned char *value) {
    sqlite_own *const o = table->own;
    sqlite3_bind_blob(o->statement, 1, item->key, (int)item->key_size, SQLITE_STATIC);
    const bool found = sqlite3_step(o->statement) == SQLITE_ROW &&
                       sqlite3_column_bytes(o->statement, 0) == (int)item->value_size;
    if (found)
        memcpy(value, sqlite3_column_blob(o->statement, 0), item->value_size);
    (void)sqlite3_reset(o->statement);
    return found;
}

static double sqlite_fast_bytes(kept *table) {
    sqlite_own *const o = table->own;
    sqlite3_stmt *statement = NULL;
    double bytes = NAN;
    if (sqlite3_prepare_v2(o->db, "SELECT sum(pgsize) FROM dbstat WHERE pagetype = 'internal'", -1,
                           &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        bytes = sqlite3_column_double(statement, 0);
    (void)sqlite3_finalize(statement);
    return bytes;
}

const keeper table_keeper_sqlite = {.name = "SQLite",
                                    .own_size = sizeof(sqlite_own),
                                    .put = sqlite_put,
                                    .commit = sqlite_commit,
                                    .finish = sqlite_finish,
                                    .open = sqlite_open,
                                    .get = sqlite_get,
                                    .close = sqlite_close,
                                    .fast_bytes = sqlite_fast_bytes};
