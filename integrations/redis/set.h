/* set.h - the value of a key: a set, or the bytes of one that is being loaded
 *
 * Memory comes from the server's allocator by its call that may fail; no path ends the server.  Each set
 * counts its own bytes, for MEMORY USAGE and for the limit tamis.max-bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_REDIS_SET_H
#define TAMIS_REDIS_SET_H

#include "server.h"

#include <tamis/plan.h>

#include <stdatomic.h>
#include <stdbool.h>

typedef struct piece {
    char *data;
    size_t size;
} piece;

/* Bytes that arrived in pieces, in order.  A set that is being loaded has them, and so has, while it makes
 * the filter, a thread: who drops them last frees them. */
typedef struct pieces {
    _Atomic int owners;
    bool keep; /* more than one owner: what has been read is kept */
    piece *list;
    size_t n, room;
    uint64_t bytes;         /* in all pieces */
    size_t next, next_from; /* the piece that is read next, and from which byte on */
} pieces;

/* What a set has allocated.  It stays where it is as long as the filter lives: the filter's allocator
 * has its address. */
typedef struct memory_count {
    _Atomic size_t bytes;
    bool limited; /* by tamis.max-bytes */
} memory_count;

/* What clients of other filters ask for and are told again (compat.c): numbers of a filter that we do not
 * have.  All zero: nobody asked. */
typedef struct set_like {
    uint64_t bucket_size, max_iterations, expansion;
} set_like;
#define LIKE_BUCKET_MAX     255
#define LIKE_ITERATIONS_MAX 65535
#define LIKE_EXPANSION_MAX  32768

static inline bool like_known(const set_like *like) {
    return like->bucket_size != 0;
}

/* Can these numbers have been asked for? */
static inline bool like_sound(const set_like *like) {
    return like->bucket_size >= 1 && like->bucket_size <= LIKE_BUCKET_MAX &&
           like->max_iterations >= 1 && like->max_iterations <= LIKE_ITERATIONS_MAX &&
           like->expansion <= LIKE_EXPANSION_MAX;
}

typedef struct set {
    tamis_filter *filter; /* NULL while it is being loaded */
    memory_count *memory;
    uint64_t capacity; /* keys that a set which does not grow takes */
    set_like like;
    bool grows;
    bool deletes;     /* its kind can remove */
    bool counts;      /* its kind keeps copies: adding a key again changes it */
    bool forgets;     /* it is a window: adding a key again makes it young */
    uint64_t removed; /* keys, since the set is in memory */
    uint64_t room;    /* keys that all links are made for */
    unsigned n_links;
    size_t counted; /* bytes of memory when links and room were last counted: a new link has more */
    uint64_t stamp; /* grows with each change: parts of a dump belong together */
    uint64_t size;  /* bytes that are to arrive in all */
    pieces *pieces; /* NULL if it is not being loaded; all of them there: a thread is at it */
} set;

/* For INFO. */
typedef struct set_totals {
    _Atomic uint64_t sets, bytes, loading;
    _Atomic uint64_t added, removed, ticks, not_found, ambiguous, full, refused_loads;
} set_totals;
extern set_totals totals;

/* tamis.max-bytes. */
extern _Atomic uint64_t set_max_bytes;

extern server_type *set_type;
extern const server_type_methods set_methods;
#define SET_TYPE_NAME    "tamis-set"
#define SET_TYPE_VERSION 1

/* Bytes of one piece of a set on its way: in snapshots, append-only files and dumps. */
#define SET_PIECE ((size_t)64 << 10)

/* A value without a filter; NULL without memory. */
set *set_new(void);

/* Free a value and all that it has. */
void set_free(void *value);

/* What a filter of this set is allocated by. */
tamis_allocator set_allocator(set *s);

/* Take over a filter that was made by set_allocator(s), or that has changed from the ground up; lets it
 * grow if it was made to. */
tamis_status set_adopt(set *s, tamis_filter *filter);

/* Make the filter of a new set.  'promise' is what was asked for; a set that grows keeps it. */
tamis_status set_create(set *s, const tamis_params *params, double promise, bool grows);

/* Count links and room again if a link has come.  Costs what tamis_filter_glance does, once for each link;
 * so those who only want to know the numbers read no tables. */
void set_count_links(set *s);

/* A copy; NULL without memory. */
set *set_copy(const set *source);

/* Make the filter of a new set from pieces, which are all there.  On failure the reason is told.  May run in
 * another thread. */
tamis_status set_decode(set *s, pieces *p, const char **reason);

/* Write these numbers in the form that COMPAT takes.  False if nobody asked for them. */
#define SET_LIKE_TEXT 64
bool set_like_text(const set_like *like, char *text);

/* No pieces yet; NULL without memory. */
pieces *pieces_new(void);

/* Add one piece.  False without memory. */
bool pieces_add(pieces *p, const char *data, size_t size);

/* Like it, but takes over memory of the server. */
bool pieces_take(pieces *p, char *data, size_t size);

/* No longer needed here.  NULL is allowed. */
void pieces_drop(pieces *p);

/* Bytes of memory. */
size_t set_memory(const set *s);

#endif
