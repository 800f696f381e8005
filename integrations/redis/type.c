/* type.c - the data type: snapshots, append-only files, copies, digests, memory, freeing
 *
 * A value in a snapshot, and in what DUMP and RESTORE carry:
 *
 *      0, like, size of the file, pieces of 64 KiB      a set
 *      1, like, size of the file, bytes so far, pieces   a set that is being loaded
 *
 * 'like' is the three numbers of a set_like.
 *
 * The bytes are those of a file (tamis-format(5)), and the one loader of the library reads them.  RESTORE
 * takes bytes from anyone: every length is checked, nothing is allocated for bytes that have not arrived, and
 * an error gives NULL, after which the server answers with an error and goes on.
 *
 * SPDX-License-Identifier: MIT
 */
#include "set.h"

#include <string.h>

server_type *set_type;

enum { FORM_SET = 0, FORM_LOADING = 1 };

/* ---- out ---- */

/* Of a set that is being loaded: the pieces to tell of.  The last one counts
 * only when it has been looked at. */
static size_t type_pieces(const set *s, uint64_t *bytes) {
    const pieces *const p = s->pieces;
    const bool all = p->bytes == s->size;
    *bytes = p->bytes - (all ? p->list[p->n - 1].size : 0);
    return p->n - (all ? 1 : 0);
}

static void type_save_like(server_io *io, const set_like *like) {
    server.SaveUnsigned(io, like->bucket_size);
    server.SaveUnsigned(io, like->max_iterations);
    server.SaveUnsigned(io, like->expansion);
}

static void type_save(server_io *io, void *value) {
    const set *const s = value;
    if (s->filter == NULL) {
        server.SaveUnsigned(io, FORM_LOADING);
        type_save_like(io, &s->like);
        server.SaveUnsigned(io, s->size);
        uint64_t bytes;
        const size_t n = type_pieces(s, &bytes);
        server.SaveUnsigned(io, bytes);
        for (size_t i = 0; i < n; i++)
            server.SaveStringBuffer(io, s->pieces->list[i].data, s->pieces->list[i].size);
        return;
    }
    const uint64_t size = tamis_filter_encoded_size(s->filter);
    server.SaveUnsigned(io, FORM_SET);
    type_save_like(io, &s->like);
    server.SaveUnsigned(io, size);
    for (uint64_t at = 0; at < size;) {
        char part[SET_PIECE];
        const size_t n = size - at < sizeof part ? (size_t)(size - at) : sizeof part;
        if (tamis_filter_encode_part(s->filter, at, part, n) != TAMIS_OK)
            return; /* cannot be: there are that many bytes */
        server.SaveStringBuffer(io, part, n);
        at += n;
    }
}

/* A part of the set's file, as the command that loads it. */
static void type_emit(server_io *io, server_string *key, const set *s, uint64_t size,
                      uint64_t offset, const piece *part) {
    char like[SET_LIKE_TEXT];
    const long long bytes = (long long)size, at = (long long)offset;
    if (set_like_text(&s->like, like))
        server.EmitAOF(io, "TAMIS.LOAD", "sllbcc", key, bytes, at, part->data, part->size, "COMPAT",
                       like);
    else
        server.EmitAOF(io, "TAMIS.LOAD", "sllb", key, bytes, at, part->data, part->size);
}

static void type_rewrite(server_io *io, server_string *key, void *value) {
    const set *const s = value;
    if (s->filter == NULL) {
        uint64_t at = 0, bytes;
        const size_t n = type_pieces(s, &bytes);
        for (size_t i = 0; i < n; at += s->pieces->list[i++].size)
            type_emit(io, key, s, s->size, at, &s->pieces->list[i]);
        return;
    }
    const uint64_t size = tamis_filter_encoded_size(s->filter);
    for (uint64_t at = 0; at < size;) {
        char part[SET_PIECE];
        const size_t n = size - at < sizeof part ? (size_t)(size - at) : sizeof part;
        if (tamis_filter_encode_part(s->filter, at, part, n) != TAMIS_OK)
            return;
        type_emit(io, key, s, size, at, &(piece){part, n});
        at += n;
    }
}

/* ---- in ---- */

/* Read pieces until there are 'size' bytes of them. */
static bool type_load_pieces(server_io *io, pieces *p, uint64_t size, const char **reason) {
    while (p->bytes < size) {
        size_t n = 0;
        char *const data = server.LoadStringBuffer(io, &n);
        if (server.IsIOError(io) || data == NULL) {
            *reason = "it is cut off";
            server.Free(data);
            return false;
        }
        if (n == 0 || n > size - p->bytes || !pieces_take(p, data, n)) {
            *reason = n == 0 || n > size - p->bytes ? "its pieces are not as many bytes as it says"
                                                    : tamis_status_text(TAMIS_E_NOMEM);
            server.Free(data);
            return false;
        }
    }
    return true;
}

static bool type_load_like(server_io *io, set_like *like) {
    like->bucket_size = server.LoadUnsigned(io);
    like->max_iterations = server.LoadUnsigned(io);
    like->expansion = server.LoadUnsigned(io);
    return like_sound(like) ||
           (like->bucket_size == 0 && like->max_iterations == 0 && like->expansion == 0);
}

static bool type_load_set(server_io *io, set *s, const char **reason) {
    const bool like = type_load_like(io, &s->like);
    const uint64_t size = server.LoadUnsigned(io);
    if (server.IsIOError(io)) {
        *reason = "it is cut off";
        return false;
    }
    if (!like) {
        *reason = "its numbers of another filter are out of range";
        return false;
    }
    pieces *const p = pieces_new();
    *reason = tamis_status_text(TAMIS_E_NOMEM);
    const bool sound =
        p != NULL && type_load_pieces(io, p, size, reason) && set_decode(s, p, reason) == TAMIS_OK;
    pieces_drop(p);
    return sound;
}

static bool type_load_loading(server_io *io, set *s, const char **reason) {
    const bool like = type_load_like(io, &s->like);
    s->size = server.LoadUnsigned(io);
    const uint64_t have = server.LoadUnsigned(io);
    if (server.IsIOError(io) || !like || s->size == 0 || have >= s->size || s->size > INT64_MAX) {
        *reason = "its sizes are out of range";
        return false;
    }
    s->pieces = pieces_new();
    *reason = tamis_status_text(TAMIS_E_NOMEM);
    if (s->pieces == NULL)
        return false;
    atomic_fetch_add(&totals.loading, 1);
    return type_load_pieces(io, s->pieces, have, reason);
}

static void *type_load(server_io *io, int version) {
    const char *reason = "it has a newer format than this module";
    set *const s = set_new();
    if (s == NULL) {
        server.LogIOError(io, "warning", "tamis: no memory for a set");
        return NULL;
    }
    bool sound = false;
    if (version == SET_TYPE_VERSION) {
        const uint64_t form = server.LoadUnsigned(io);
        reason = "it is of an unknown form";
        if (server.IsIOError(io))
            reason = "it is cut off";
        else if (form == FORM_SET)
            sound = type_load_set(io, s, &reason);
        else if (form == FORM_LOADING)
            sound = type_load_loading(io, s, &reason);
    }
    if (sound)
        return s;
    server.LogIOError(io, "warning", "tamis: a set is refused: %s", reason);
    set_free(s);
    return NULL;
}

/* ---- the rest ---- */

static size_t type_memory(const void *value) {
    return set_memory(value);
}

/* The first bytes of a file have checksums over all others, and over the parameters. */
static void type_digest(server_digest *digest, void *value) {
    const set *const s = value;
    char head[256];
    if (s->filter != NULL && tamis_filter_encode_part(s->filter, 0, head, sizeof head) == TAMIS_OK)
        server.DigestAddStringBuffer(digest, head, sizeof head);
    char like[SET_LIKE_TEXT];
    if (set_like_text(&s->like, like))
        server.DigestAddStringBuffer(digest, like, strlen(like));
    uint64_t bytes;
    const size_t n = s->pieces == NULL ? 0 : type_pieces(s, &bytes);
    for (size_t i = 0; i < n; i++)
        server.DigestAddStringBuffer(digest, s->pieces->list[i].data, s->pieces->list[i].size);
    server.DigestEndSequence(digest);
}

/* The server frees what takes an effort above 64 in the background, if it was asked to. */
static size_t type_free_effort(server_string *key, const void *value) {
    (void)key;
    return set_memory(value) / 4096 + 1;
}

static void *type_copy(server_string *from, server_string *to, const void *value) {
    (void)from;
    (void)to;
    const set *const s = value;
    return s->filter == NULL ? NULL : set_copy(s);
}

/* A set's tables are large blocks, which the server's defragmentation leaves where they are; a filter
 * cannot be moved.  The small block that holds them together can. */
static int type_defrag(server_defrag *ctx, server_string *key, void **value) {
    (void)key;
    void *const moved = server.DefragAlloc(ctx, *value);
    if (moved != NULL)
        *value = moved;
    return 0;
}

const server_type_methods set_methods = {
    .version = SERVER_TYPE_VERSION,
    .rdb_load = type_load,
    .rdb_save = type_save,
    .aof_rewrite = type_rewrite,
    .mem_usage = type_memory,
    .digest = type_digest,
    .free = set_free,
    .free_effort = type_free_effort,
    .copy = type_copy,
    .defrag = type_defrag,
};
