/* sets.h - sets as values of PostgreSQL
 *
 * A value of the type tamis is a file of the format, in one varlena.  Every value was through the loader when
 * it came in; what is in a table or a message is checked again when it is used, since a disk may err.
 *
 * Memory of filters comes from memory contexts: after an error the server frees them, and nothing leaks.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_POSTGRESQL_SETS_H
#define TAMIS_POSTGRESQL_SETS_H

#include <postgres.h>

#include <fmgr.h>

#include <tamis/plan.h>

/* A key as a call got it. */
typedef struct set_key {
    tamis_key_form form;
    const void *data; /* of bytes */
    size_t size;
    uint64_t number; /* of an integer, with a sign or without */
} set_key;

set_key set_key_of_bytes(FunctionCallInfo fcinfo, int argument); /* text, varchar, bytea */
set_key set_key_of_integer(FunctionCallInfo fcinfo, int argument);
set_key set_key_of_uuid(FunctionCallInfo fcinfo, int argument);

/* Where filters of a context get their memory. */
tamis_allocator set_allocator(MemoryContext context);

/* Report a failure; does not return if 'status' is one.  'reason' may be NULL. */
void set_expect(tamis_status status, const char *what, const char *reason);

/* Plan and make an empty set of this session's seed, that others of it can be merged with. */
tamis_plan set_plan(int64 n, double p);
tamis_filter *set_make(const tamis_plan *plan, tamis_key_form form, MemoryContext context);

/* Decode a value that is not in the toast table, and encode one in the current context. */
tamis_filter *set_decode(const struct varlena *value, MemoryContext context);
struct varlena *set_encode(const tamis_filter *filter);

/* Is the key in the set that is argument 0?  The set is read and checked once, and again only if another one
 * comes.  Keys of another form than the set's are an error: they would all be absent. */
bool set_contains(FunctionCallInfo fcinfo, const set_key *key);

/* The seed of this session's sets: the setting tamis.seed. */
void set_define_seed(void);

#endif
