/* peer_lmdb.c - LMDB, a B+ tree in a mapped file (Debian: liblmdb-dev)
 *
 * One file, no read-ahead.  The items of a batch are put in one transaction, and looked up in
 * one read transaction, which is its fastest mode.  For one read per lookup it must have the branch
 * pages in memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench/table.h"

#include <lmdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct lmdb_own {
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi dbi;
} lmdb_own;

static const char *lmdb_open(kept *table, bool write) {
    lmdb_own *const o = table->own;
    if (write) {
        char lock[4200];
        snprintf(lock, sizeof lock, "%s-lock", table->path);
        (void)unlink(lock);
    }
    const unsigned flags = MDB_NOSUBDIR | MDB_NORDAHEAD | MDB_NOLOCK | (write ? 0 : MDB_RDONLY);
    if (mdb_env_create(&o->env) != 0 || mdb_env_set_mapsize(o->env, (size_t)1 << 34) != 0 ||
        mdb_env_open(o->env, table->path, flags, 0600) != 0 ||
        mdb_txn_begin(o->env, NULL, write ? 0 : MDB_RDONLY, &o->txn) != 0 ||
        mdb_dbi_open(o->txn, NULL, 0, &o->dbi) != 0)
        return "LMDB could not be opened";
    return NULL;
}

static bool lmdb_put(kept *table, const table_item *item) {
    lmdb_own *const o = table->own;
    MDB_val k = {item->key_size, (void *)(uintptr_t)item->key};
    MDB_val v = {item->value_size, (void *)(uintptr_t)item->value};
    return mdb_put(o->txn, o->dbi, &k, &v, 0) == 0;
}

static bool lmdb_commit(kept *table) {
    lmdb_own *const o = table->own;
    return mdb_txn_commit(o->txn) == 0 && mdb_txn_begin(o->env, NULL, 0, &o->txn) == 0;
}

static bool lmdb_finish(kept *table) {
    lmdb_own *const o = table->own;
    const bool good = mdb_txn_commit(o->txn) == 0;
    mdb_env_close(o->env);
    return good;
}

static bool lmdb_get(kept *table, const table_item *item, unsigned char *value) {
    lmdb_own *const o = table->own;
    MDB_val k = {item->key_size, (void *)(uintptr_t)item->key}, v;
    if (mdb_get(o->txn, o->dbi, &k, &v) != 0 || v.mv_size != item->value_size)
        return false;
    memcpy(value, v.mv_data, item->value_size);
    return true;
}

static void lmdb_close(kept *table) {
    lmdb_own *const o = table->own;
    mdb_txn_abort(o->txn);
    mdb_env_close(o->env);
}

static double lmdb_fast_bytes(kept *table) {
    lmdb_own *const o = table->own;
    MDB_stat stat;
    if (mdb_stat(o->txn, o->dbi, &stat) != 0)
        return 0;
    return (double)stat.ms_branch_pages * (double)stat.ms_psize;
}

const keeper table_keeper_lmdb = {.name = "LMDB",
                                  .own_size = sizeof(lmdb_own),
                                  .put = lmdb_put,
                                  .commit = lmdb_commit,
                                  .finish = lmdb_finish,
                                  .open = lmdb_open,
                                  .get = lmdb_get,
                                  .close = lmdb_close,
                                  .fast_bytes = lmdb_fast_bytes};
