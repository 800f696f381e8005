/* functions.c - what SQL calls: the type, the aggregate, questions
 *
 * The state of an aggregate is a filter.  Workers of a parallel query make one each, of the same plan and the
 * same seed; it is sent as a file and merged.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sets.h"

#include <funcapi.h>
#include <libpq/pqformat.h>
#include <utils/builtins.h>

PG_MODULE_MAGIC;

void _PG_init(void);

void _PG_init(void) {
    set_define_seed();
}

/* ---- the type: in text that of bytea, in messages its bytes ---- */

static Datum checked(struct varlena *value) {
    tamis_filter_free(set_decode(value, CurrentMemoryContext));
    return PointerGetDatum(value);
}

PG_FUNCTION_INFO_V1(tamis_sql_in);
Datum tamis_sql_in(PG_FUNCTION_ARGS) {
    return checked(DatumGetByteaPP(DirectFunctionCall1(byteain, PG_GETARG_DATUM(0))));
}

PG_FUNCTION_INFO_V1(tamis_sql_receive);
Datum tamis_sql_receive(PG_FUNCTION_ARGS) {
    return checked(DatumGetByteaPP(DirectFunctionCall1(bytearecv, PG_GETARG_DATUM(0))));
}

PG_FUNCTION_INFO_V1(tamis_sql_of_bytes);
Datum tamis_sql_of_bytes(PG_FUNCTION_ARGS) {
    return checked(PG_GETARG_BYTEA_P_COPY(0));
}

/* ---- the aggregate ---- */

typedef struct agg_state {
    tamis_filter *filter;
    int64 n;
    double p;
} agg_state;

static MemoryContext agg_context(FunctionCallInfo fcinfo) {
    MemoryContext context;
    if (!AggCheckCallContext(fcinfo, &context))
        ereport(ERROR, (errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
                        errmsg("this function is a part of an aggregate")));
    return context;
}

static agg_state *agg_begin(FunctionCallInfo fcinfo, tamis_key_form form, MemoryContext context) {
    if (PG_ARGISNULL(2) || PG_ARGISNULL(3))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                        errmsg("the number of keys and the error rate may not be null")));
    agg_state *const state = MemoryContextAlloc(context, sizeof *state);
    state->n = PG_GETARG_INT64(2);
    state->p = PG_GETARG_FLOAT8(3);
    const tamis_plan plan = set_plan(state->n, state->p);
    state->filter = set_make(&plan, form, context);
    return state;
}

typedef set_key (*key_reader)(FunctionCallInfo fcinfo, int argument);

/* state, key, n, p: one more key. */
static Datum agg_add(FunctionCallInfo fcinfo, tamis_key_form form, key_reader read) {
    MemoryContext context = agg_context(fcinfo);
    agg_state *state = PG_ARGISNULL(0) ? NULL : (agg_state *)PG_GETARG_POINTER(0);
    if (state == NULL)
        state = agg_begin(fcinfo, form, context);
    else if (PG_ARGISNULL(2) || PG_ARGISNULL(3) || PG_GETARG_INT64(2) != state->n ||
             PG_GETARG_FLOAT8(3) != state->p)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("number of keys and error rate must be the same in all rows")));
    if (!PG_ARGISNULL(1)) {
        const set_key key = read(fcinfo, 1);
        const tamis_status status =
            form == TAMIS_KEYS_U64 ? tamis_filter_insert_u64(state->filter, key.number, NULL)
                                   : tamis_filter_insert(state->filter, key.data, key.size, NULL);
        set_expect(status, "there are more keys than the set was made for", NULL);
    }
    PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(tamis_sql_add_bytes);
Datum tamis_sql_add_bytes(PG_FUNCTION_ARGS) {
    return agg_add(fcinfo, TAMIS_KEYS_BYTES, set_key_of_bytes);
}

PG_FUNCTION_INFO_V1(tamis_sql_add_integer);
Datum tamis_sql_add_integer(PG_FUNCTION_ARGS) {
    return agg_add(fcinfo, TAMIS_KEYS_U64, set_key_of_integer);
}

PG_FUNCTION_INFO_V1(tamis_sql_add_uuid);
Datum tamis_sql_add_uuid(PG_FUNCTION_ARGS) {
    return agg_add(fcinfo, TAMIS_KEYS_BYTES, set_key_of_uuid);
}

/* The second state may be of a context that ends with this row. */
PG_FUNCTION_INFO_V1(tamis_sql_combine);
Datum tamis_sql_combine(PG_FUNCTION_ARGS) {
    MemoryContext context = agg_context(fcinfo);
    agg_state *state = PG_ARGISNULL(0) ? NULL : (agg_state *)PG_GETARG_POINTER(0);
    const agg_state *const other = PG_ARGISNULL(1) ? NULL : (agg_state *)PG_GETARG_POINTER(1);
    if (other != NULL && state != NULL)
        set_expect(tamis_filter_merge(state->filter, other->filter, 0),
                   "these sets cannot be merged", NULL);
    if (other != NULL && state == NULL) {
        const tamis_allocator allocator = set_allocator(context);
        state = MemoryContextAlloc(context, sizeof *state);
        *state = *other;
        set_expect(tamis_filter_clone(other->filter, &allocator, &state->filter), "a set", NULL);
    }
    if (state == NULL)
        PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
}

/* A state on its way: n and p, then the file. */
PG_FUNCTION_INFO_V1(tamis_sql_serialize);
Datum tamis_sql_serialize(PG_FUNCTION_ARGS) {
    (void)agg_context(fcinfo);
    const agg_state *const state = (const agg_state *)PG_GETARG_POINTER(0);
    const struct varlena *const file = set_encode(state->filter);
    StringInfoData message;
    pq_begintypsend(&message);
    pq_sendint64(&message, (uint64)state->n);
    pq_sendfloat8(&message, state->p);
    pq_sendbytes(&message, VARDATA_ANY(file), (int)VARSIZE_ANY_EXHDR(file));
    PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

PG_FUNCTION_INFO_V1(tamis_sql_deserialize);
Datum tamis_sql_deserialize(PG_FUNCTION_ARGS) {
    (void)agg_context(fcinfo);
    bytea *const sent = PG_GETARG_BYTEA_PP(0);
    StringInfoData message = {VARDATA_ANY(sent), (int)VARSIZE_ANY_EXHDR(sent), 0, 0};
    agg_state *const state = palloc(sizeof *state);
    state->n = pq_getmsgint64(&message);
    state->p = pq_getmsgfloat8(&message);
    const int size = message.len - message.cursor;
    const tamis_allocator allocator = set_allocator(CurrentMemoryContext);
    const char *reason = NULL;
    set_expect(tamis_filter_decode(pq_getmsgbytes(&message, size), (size_t)size, &allocator,
                                   &state->filter, &reason),
               "a state of tamis_agg", reason);
    PG_RETURN_POINTER(state);
}

/* A set that does not keep what was promised is not given out. */
static void agg_check(const agg_state *state) {
    const tamis_status status = tamis_filter_keeps(state->filter, state->p);
    if (status != TAMIS_E_PROMISE) {
        set_expect(status, "a set", NULL);
        return;
    }
    tamis_info info;
    tamis_info_init(&info);
    set_expect(tamis_filter_info(state->filter, &info), "a set", NULL);
    ereport(ERROR,
            (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
             errmsg("there are more keys than the " INT64_FORMAT " that the set was made for",
                    state->n),
             errdetail("Its error rate would be %g instead of %g.", info.fpr, state->p),
             errhint("Give a larger number of keys.")));
}

PG_FUNCTION_INFO_V1(tamis_sql_finish);
Datum tamis_sql_finish(PG_FUNCTION_ARGS) {
    (void)agg_context(fcinfo);
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    const agg_state *const state = (const agg_state *)PG_GETARG_POINTER(0);
    agg_check(state);
    PG_RETURN_POINTER(set_encode(state->filter));
}

/* ---- questions ---- */

PG_FUNCTION_INFO_V1(tamis_sql_has_bytes);
Datum tamis_sql_has_bytes(PG_FUNCTION_ARGS) {
    const set_key key = set_key_of_bytes(fcinfo, 1);
    PG_RETURN_BOOL(set_contains(fcinfo, &key));
}

PG_FUNCTION_INFO_V1(tamis_sql_has_integer);
Datum tamis_sql_has_integer(PG_FUNCTION_ARGS) {
    const set_key key = set_key_of_integer(fcinfo, 1);
    PG_RETURN_BOOL(set_contains(fcinfo, &key));
}

PG_FUNCTION_INFO_V1(tamis_sql_has_uuid);
Datum tamis_sql_has_uuid(PG_FUNCTION_ARGS) {
    const set_key key = set_key_of_uuid(fcinfo, 1);
    PG_RETURN_BOOL(set_contains(fcinfo, &key));
}

PG_FUNCTION_INFO_V1(tamis_sql_merge);
Datum tamis_sql_merge(PG_FUNCTION_ARGS) {
    tamis_filter *const one = set_decode(PG_GETARG_BYTEA_PP(0), CurrentMemoryContext),
                        *const two = set_decode(PG_GETARG_BYTEA_PP(1), CurrentMemoryContext);
    set_expect(tamis_filter_merge(one, two, 0), "these sets cannot be merged", NULL);
    PG_RETURN_POINTER(set_encode(one));
}

/* ---- rows that tell about a set, or about one that could be made ---- */

static Datum row_of(FunctionCallInfo fcinfo, Datum *values) {
    TupleDesc columns;
    if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE)
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("a row is not expected here")));
    bool nulls[16] = {false};
    Assert(columns->natts <= 16);
    return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls));
}

static Datum text_of(const char *text) {
    return CStringGetTextDatum(text != NULL ? text : "");
}

PG_FUNCTION_INFO_V1(tamis_sql_info);
Datum tamis_sql_info(PG_FUNCTION_ARGS) {
    const char *const forms[] = {"unknown", "bytes", "integers"};
    tamis_filter *const filter = set_decode(PG_GETARG_BYTEA_PP(0), CurrentMemoryContext);
    tamis_info info;
    tamis_info_init(&info);
    set_expect(tamis_filter_info(filter, &info), "a set", NULL);
    Datum values[] = {text_of(tamis_kind_name(info.params.kind)),
                      Int64GetDatum((int64)info.capacity),
                      Int64GetDatum((int64)tamis_filter_count(filter)),
                      Int64GetDatum((int64)info.bytes),
                      Float8GetDatum(info.bits_per_key),
                      Float8GetDatum(info.fpr),
                      text_of(forms[tamis_filter_key_form(filter)]),
                      text_of(tamis_hash_name(info.params.hash))};
    return row_of(fcinfo, values);
}

PG_FUNCTION_INFO_V1(tamis_sql_plan);
Datum tamis_sql_plan(PG_FUNCTION_ARGS) {
    const tamis_plan plan = set_plan(PG_GETARG_INT64(0), PG_GETARG_FLOAT8(1));
    Datum values[] = {text_of(tamis_kind_name(plan.params.kind)), Int64GetDatum((int64)plan.bytes),
                      Float8GetDatum(plan.bits_per_key), Float8GetDatum(plan.fpr),
                      Float8GetDatum(plan.lines_per_query)};
    return row_of(fcinfo, values);
}
