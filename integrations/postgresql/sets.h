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

#define SET_BYTES_MAX ((uint64)750 << 20)

/* ---- keys.c: the bytes of keys, as docs/keys.md has them ---- */

typedef struct set_key {
    tamis_key_form form;
    const void *data; /* of bytes */
    size_t size;
    uint64_t number; /* of an integer, with a sign or without */
} set_key;

/* Read an argument of a call as a key. */
typedef set_key (*set_key_reader)(FunctionCallInfo fcinfo, int argument);
set_key set_key_of_text(FunctionCallInfo fcinfo, int argument); /* varchar too */
set_key set_key_of_bytea(FunctionCallInfo fcinfo, int argument);
set_key set_key_of_smallint(FunctionCallInfo fcinfo, int argument);
set_key set_key_of_integer(FunctionCallInfo fcinfo, int argument);
set_key set_key_of_bigint(FunctionCallInfo fcinfo, int argument);
set_key set_key_of_uuid(FunctionCallInfo fcinfo, int argument);
set_key set_key_of_date(FunctionCallInfo fcinfo, int argument);
set_key set_key_of_timestamp(FunctionCallInfo fcinfo, int argument);
set_key set_key_of_timestamptz(FunctionCallInfo fcinfo, int argument);
set_key set_key_of_numeric(FunctionCallInfo fcinfo, int argument);
tamis_digest set_digest(const tamis_hasher *hasher, const set_key *key);

/* ---- sets.c ---- */

/* Where filters of a context get their memory. */
tamis_allocator set_allocator(MemoryContext context);

/* Report a failure; does not return if 'status' is one.  'reason' may be NULL. */
void set_expect(tamis_status status, const char *what, const char *reason);

/* The seed of this session's sets, the setting tamis.seed, and the hash of a seed, valid until the next
 * call. */
typedef struct set_seed {
    uint64 low, high;
} set_seed;
void set_define_seed(void);
set_seed set_session_seed(void);
const tamis_hasher *set_hasher(set_seed seed);

/* Plan and make an empty set.  What a dump could not carry is refused. */
tamis_plan set_plan(int64 n, double p, bool merges);
tamis_filter *set_make(const tamis_plan *plan, tamis_key_form form, set_seed seed);
void set_check_size(uint64 bytes);

/* Decode a value that is not in the toast table, and encode one in the current context. */
tamis_filter *set_decode(const struct varlena *value, MemoryContext context);
struct varlena *set_encode(const tamis_filter *filter);

/* Add 'source' to 'filter'.  A union that breaks their promise is an error, unless it is permitted. */
void set_merge(tamis_filter *filter, const tamis_filter *source, bool beyond);

/* ---- kept.c: the last sets of a session ---- */

/* Is the key in the set that is argument 0?  The set is read and checked once, and again only if another one
 * comes.  Keys of another form than the set's are an error: they would all be absent. */
bool set_contains(FunctionCallInfo fcinfo, const set_key *key);

/* What the planner asks of a set: the keys in it and its error rate now. */
void set_glance(Datum datum, double *count, double *fpr);

void set_define_kept(void);

#endif
