/* agg.c - the aggregates: a set of keys, and the union of sets
 *
 * The state of tamis_agg is the digests of its keys.  The set is made at the end, when their number is known,
 * from different digests in an order of their own: it does not matter how many workers collected them.
 *
 * The state of tamis_agg_merge is the union so far.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agg.h"
#include "digests.h"

#include <libpq/pqformat.h>
#include <miscadmin.h>

static MemoryContext agg_context(FunctionCallInfo fcinfo) {
    MemoryContext context;
    if (!AggCheckCallContext(fcinfo, &context))
        ereport(ERROR, (errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
                        errmsg("this function is a part of an aggregate")));
    return context;
}

static void *agg_argument(FunctionCallInfo fcinfo, int which) {
    return PG_ARGISNULL(which) ? NULL : PG_GETARG_POINTER(which);
}

/* ---- tamis_agg ---- */

/* What all states of one call have in common. */
typedef struct agg_shape {
    tamis_key_form form;
    int64 n; /* 0: as many as there are */
    double p;
    set_seed seed;
} agg_shape;

typedef struct agg_state {
    agg_shape shape;
    digests *keys;
    StringInfo message; /* NULL, or from a worker in the place of keys */
} agg_state;

static agg_state *agg_new(const agg_shape *shape, MemoryContext context) {
    agg_state *const state = MemoryContextAlloc(context, sizeof *state);
    state->shape = *shape;
    state->keys = digests_new(context);
    state->message = NULL;
    return state;
}

/* Arguments: state, key, perhaps n, p. */
static agg_shape agg_shape_of(FunctionCallInfo fcinfo, tamis_key_form form) {
    const bool with_n = PG_NARGS() == 4;
    const int last = PG_NARGS() - 1;
    if (PG_ARGISNULL(last) || PG_ARGISNULL(2))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                        errmsg("the number of keys and the error rate may not be null")));
    const agg_shape shape = {form, with_n ? PG_GETARG_INT64(2) : 0, PG_GETARG_FLOAT8(last),
                             set_session_seed()};
    return shape;
}

static bool agg_same(const agg_shape *a, const agg_shape *b) {
    return a->form == b->form && a->n == b->n && a->p == b->p && a->seed.low == b->seed.low &&
           a->seed.high == b->seed.high;
}

static void agg_expect_same(const agg_shape *a, const agg_shape *b) {
    if (!agg_same(a, b))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("number of keys, error rate and seed must be the same in all rows")));
}

Datum set_agg_add(FunctionCallInfo fcinfo, tamis_key_form form, set_key_reader read) {
    MemoryContext context = agg_context(fcinfo);
    agg_state *state = agg_argument(fcinfo, 0);
    const agg_shape shape = agg_shape_of(fcinfo, form);
    if (state == NULL) {
        const bool with_n = PG_NARGS() == 4;
        (void)set_plan(with_n ? shape.n : 1, shape.p, with_n); /* refuses what cannot be */
        state = agg_new(&shape, context);
    } else {
        agg_expect_same(&state->shape, &shape);
    }
    if (!PG_ARGISNULL(1)) {
        const set_key key = read(fcinfo, 1);
        digests_add(state->keys, set_digest(set_hasher(shape.seed), &key));
    }
    PG_RETURN_POINTER(state);
}

/* A state on its way: its shape, then the digests. */
PG_FUNCTION_INFO_V1(tamis_sql_serialize);
Datum tamis_sql_serialize(PG_FUNCTION_ARGS) {
    (void)agg_context(fcinfo);
    const agg_state *const state = (const agg_state *)PG_GETARG_POINTER(0);
    StringInfoData message;
    pq_begintypsend(&message);
    pq_sendbytes(&message, (const char *)&state->shape, sizeof state->shape);
    digests_send(state->keys, &message);
    PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

PG_FUNCTION_INFO_V1(tamis_sql_deserialize);
Datum tamis_sql_deserialize(PG_FUNCTION_ARGS) {
    (void)agg_context(fcinfo);
    bytea *const sent = PG_GETARG_BYTEA_PP(0);
    agg_state *const state = palloc0(sizeof *state);
    state->message = makeStringInfo();
    appendBinaryStringInfo(state->message, VARDATA_ANY(sent), (int)VARSIZE_ANY_EXHDR(sent));
    pq_copymsgbytes(state->message, (char *)&state->shape, sizeof state->shape);
    PG_RETURN_POINTER(state);
}

static void agg_add_all(digests *to, digests *from) {
    tamis_digest block[256];
    digests_reader *const reader = digests_read(from);
    for (size_t n; (n = digests_next(reader, block, lengthof(block))) > 0;)
        for (size_t i = 0; i < n; i++)
            digests_add(to, block[i]);
    digests_close(reader);
}

/* The second state may be of a context that ends with this row. */
PG_FUNCTION_INFO_V1(tamis_sql_combine);
Datum tamis_sql_combine(PG_FUNCTION_ARGS) {
    MemoryContext context = agg_context(fcinfo);
    agg_state *state = agg_argument(fcinfo, 0);
    const agg_state *const other = agg_argument(fcinfo, 1);
    if (other == NULL && state == NULL)
        PG_RETURN_NULL();
    if (other != NULL) {
        if (state == NULL)
            state = agg_new(&other->shape, context);
        agg_expect_same(&state->shape, &other->shape);
        if (other->message != NULL)
            digests_receive(state->keys, other->message);
        else
            agg_add_all(state->keys, other->keys);
    }
    PG_RETURN_POINTER(state);
}

static tamis_status agg_fill(tamis_filter *filter, digests *keys) {
    tamis_digest block[512];
    tamis_status status = TAMIS_OK;
    digests_reader *const reader = digests_read(keys);
    for (size_t n; status == TAMIS_OK && (n = digests_next(reader, block, lengthof(block))) > 0;) {
        CHECK_FOR_INTERRUPTS();
        status = tamis_filter_insert_many_digest(filter, block, n, NULL, NULL);
    }
    digests_close(reader);
    return status;
}

/* A plan says with which odds its set is full before its time.  Where n is not given, a set for some
 * more keys is then made; where it is, sets of one n are to be merged. */
static tamis_filter *agg_build(const agg_state *state, uint64 count) {
    const agg_shape *const shape = &state->shape;
    uint64 n = shape->n > 0 ? (uint64)shape->n : Max(count, 1);
    for (unsigned tries = 0;; tries++) {
        const tamis_plan plan = set_plan((int64)n, shape->p, shape->n > 0);
        tamis_filter *const filter = set_make(&plan, shape->form, shape->seed);
        const tamis_status status = agg_fill(filter, state->keys);
        if (status == TAMIS_OK)
            return filter;
        if (status != TAMIS_E_FULL || shape->n > 0 || tries == 8)
            ereport(ERROR,
                    (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                     errmsg("the set is full: %s", tamis_status_text(status)),
                     errhint("This happens by chance, once in a million sets. Choose another "
                             "tamis.seed.")));
        tamis_filter_free(filter);
        n += n / 64 + 16;
    }
}

PG_FUNCTION_INFO_V1(tamis_sql_finish);
Datum tamis_sql_finish(PG_FUNCTION_ARGS) {
    (void)agg_context(fcinfo);
    const agg_state *const state = agg_argument(fcinfo, 0);
    if (state == NULL)
        PG_RETURN_NULL();
    const uint64 count = digests_count(state->keys);
    const int64 n = state->shape.n;
    if (n > 0 && count > (uint64)n)
        ereport(
            ERROR,
            (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
             errmsg("there are more keys than the " INT64_FORMAT " that the set was made for", n),
             errdetail("There are " UINT64_FORMAT " different keys.", count),
             errhint("Give a larger number of keys, or none: tamis_agg(key, p).")));
    tamis_filter *const filter = agg_build(state, count);
    struct varlena *const value = set_encode(filter);
    tamis_filter_free(filter);
    PG_RETURN_POINTER(value);
}

/* ---- tamis_agg_merge ---- */

typedef struct union_state {
    tamis_filter *filter;
    bool beyond;
} union_state;

/* State, set, perhaps 'beyond'. */
PG_FUNCTION_INFO_V1(tamis_sql_union_add);
Datum tamis_sql_union_add(PG_FUNCTION_ARGS) {
    MemoryContext context = agg_context(fcinfo);
    union_state *state = agg_argument(fcinfo, 0);
    const bool beyond = PG_NARGS() == 3 && !PG_ARGISNULL(2) && PG_GETARG_BOOL(2);
    if (!PG_ARGISNULL(1) && state == NULL) {
        state = MemoryContextAlloc(context, sizeof *state);
        state->filter = set_decode(PG_GETARG_BYTEA_PP(1), context);
        state->beyond = beyond;
    } else if (!PG_ARGISNULL(1)) {
        tamis_filter *const added = set_decode(PG_GETARG_BYTEA_PP(1), CurrentMemoryContext);
        set_merge(state->filter, added, beyond);
        tamis_filter_free(added);
    }
    if (state == NULL)
        PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(tamis_sql_union_combine);
Datum tamis_sql_union_combine(PG_FUNCTION_ARGS) {
    MemoryContext context = agg_context(fcinfo);
    union_state *state = agg_argument(fcinfo, 0);
    const union_state *const other = agg_argument(fcinfo, 1);
    if (other != NULL && state != NULL)
        set_merge(state->filter, other->filter, state->beyond);
    if (other != NULL && state == NULL) {
        const tamis_allocator allocator = set_allocator(context);
        state = MemoryContextAlloc(context, sizeof *state);
        state->beyond = other->beyond;
        set_expect(tamis_filter_clone(other->filter, &allocator, &state->filter), "a set", NULL);
    }
    if (state == NULL)
        PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(tamis_sql_union_serialize);
Datum tamis_sql_union_serialize(PG_FUNCTION_ARGS) {
    (void)agg_context(fcinfo);
    const union_state *const state = (const union_state *)PG_GETARG_POINTER(0);
    const struct varlena *const file = set_encode(state->filter);
    StringInfoData message;
    pq_begintypsend(&message);
    pq_sendbyte(&message, state->beyond);
    pq_sendbytes(&message, VARDATA_ANY(file), (int)VARSIZE_ANY_EXHDR(file));
    PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

PG_FUNCTION_INFO_V1(tamis_sql_union_deserialize);
Datum tamis_sql_union_deserialize(PG_FUNCTION_ARGS) {
    (void)agg_context(fcinfo);
    bytea *const sent = PG_GETARG_BYTEA_PP(0);
    StringInfoData message = {VARDATA_ANY(sent), (int)VARSIZE_ANY_EXHDR(sent), 0, 0};
    union_state *const state = palloc(sizeof *state);
    state->beyond = pq_getmsgbyte(&message) != 0;
    const int size = message.len - message.cursor;
    const tamis_allocator allocator = set_allocator(CurrentMemoryContext);
    const char *reason = NULL;
    set_expect(tamis_filter_decode(pq_getmsgbytes(&message, size), (size_t)size, &allocator,
                                   &state->filter, &reason),
               "a state of tamis_agg_merge", reason);
    PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(tamis_sql_union_finish);
Datum tamis_sql_union_finish(PG_FUNCTION_ARGS) {
    (void)agg_context(fcinfo);
    const union_state *const state = agg_argument(fcinfo, 0);
    if (state == NULL)
        PG_RETURN_NULL();
    PG_RETURN_POINTER(set_encode(state->filter));
}
