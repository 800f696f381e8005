/* functions.c - what SQL calls: the type, keys and questions, rows that tell about sets
 *
 * SPDX-License-Identifier: MIT
 */
#include "agg.h"
#include "digests.h"
#include "sets.h"

#include <common/base64.h>
#include <funcapi.h>
#include <libpq/pqformat.h>
#include <utils/builtins.h>
#include <utils/guc.h>

PG_MODULE_MAGIC;

void _PG_init(void);

void _PG_init(void) {
    set_define_seed();
    set_define_kept();
    MarkGUCPrefixReserved("tamis"); /* after all settings of it */
    digests_define();
}

/* ---- the type: base64 in text, since hexadecimal digits would be twice as long as its bytes ---- */

static Datum checked(struct varlena *value) {
    set_check_size(VARSIZE_ANY_EXHDR(value));
    tamis_filter_free(set_decode(value, CurrentMemoryContext));
    return PointerGetDatum(value);
}

/* Base64, or what bytea has: \x and hexadecimal digits. */
PG_FUNCTION_INFO_V1(tamis_sql_in);
Datum tamis_sql_in(PG_FUNCTION_ARGS) {
    const char *const text = PG_GETARG_CSTRING(0);
    if (text[0] == '\\')
        return checked(DatumGetByteaPP(DirectFunctionCall1(byteain, PG_GETARG_DATUM(0))));
    const int length = (int)strlen(text), room = pg_b64_dec_len(length);
    struct varlena *const value = palloc(VARHDRSZ + (Size)room);
    const int size = pg_b64_decode(text, length, VARDATA(value), room);
    if (size < 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                        errmsg("a set as text is base64, or \\x and hexadecimal digits")));
    SET_VARSIZE(value, VARHDRSZ + (Size)size);
    return checked(value);
}

PG_FUNCTION_INFO_V1(tamis_sql_out);
Datum tamis_sql_out(PG_FUNCTION_ARGS) {
    const struct varlena *const value = PG_GETARG_BYTEA_PP(0);
    const int size = (int)VARSIZE_ANY_EXHDR(value), room = pg_b64_enc_len(size);
    set_check_size((uint64)size);
    char *const text = palloc((Size)room + 1);
    const int length = pg_b64_encode(VARDATA_ANY(value), size, text, room);
    if (length < 0)
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("a set has no text")));
    text[length] = '\0';
    PG_RETURN_CSTRING(text);
}

PG_FUNCTION_INFO_V1(tamis_sql_receive);
Datum tamis_sql_receive(PG_FUNCTION_ARGS) {
    return checked(DatumGetByteaPP(DirectFunctionCall1(bytearecv, PG_GETARG_DATUM(0))));
}

PG_FUNCTION_INFO_V1(tamis_sql_of_bytes);
Datum tamis_sql_of_bytes(PG_FUNCTION_ARGS) {
    return checked(PG_GETARG_BYTEA_P_COPY(0));
}

/* ---- keys: for each type of them the step of the aggregate, and the question ---- */

#define KEYS(type, form)                                                                           \
    PG_FUNCTION_INFO_V1(tamis_sql_add_##type);                                                     \
    Datum tamis_sql_add_##type(PG_FUNCTION_ARGS) {                                                 \
        return set_agg_add(fcinfo, form, set_key_of_##type);                                       \
    }                                                                                              \
    PG_FUNCTION_INFO_V1(tamis_sql_has_##type);                                                     \
    Datum tamis_sql_has_##type(PG_FUNCTION_ARGS) {                                                 \
        const set_key key = set_key_of_##type(fcinfo, 1);                                          \
        PG_RETURN_BOOL(set_contains(fcinfo, &key));                                                \
    }

KEYS(text, TAMIS_KEYS_BYTES)
KEYS(bytea, TAMIS_KEYS_BYTES)
KEYS(smallint, TAMIS_KEYS_U64)
KEYS(integer, TAMIS_KEYS_U64)
KEYS(bigint, TAMIS_KEYS_U64)
KEYS(uuid, TAMIS_KEYS_BYTES)
KEYS(date, TAMIS_KEYS_BYTES)
KEYS(timestamp, TAMIS_KEYS_BYTES)
KEYS(timestamptz, TAMIS_KEYS_BYTES)
KEYS(numeric, TAMIS_KEYS_BYTES)

/* ---- two sets in one ---- */

PG_FUNCTION_INFO_V1(tamis_sql_merge);
Datum tamis_sql_merge(PG_FUNCTION_ARGS) {
    tamis_filter *const one = set_decode(PG_GETARG_BYTEA_PP(0), CurrentMemoryContext),
                        *const two = set_decode(PG_GETARG_BYTEA_PP(1), CurrentMemoryContext);
    set_merge(one, two, PG_GETARG_BOOL(2));
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
                      Float8GetDatum(info.fpr_promised),
                      text_of(forms[tamis_filter_key_form(filter)]),
                      text_of(tamis_hash_name(info.params.hash))};
    return row_of(fcinfo, values);
}

PG_FUNCTION_INFO_V1(tamis_sql_plan);
Datum tamis_sql_plan(PG_FUNCTION_ARGS) {
    const tamis_plan plan = set_plan(PG_GETARG_INT64(0), PG_GETARG_FLOAT8(1), true);
    Datum values[] = {text_of(tamis_kind_name(plan.params.kind)), Int64GetDatum((int64)plan.bytes),
                      Float8GetDatum(plan.bits_per_key), Float8GetDatum(plan.fpr),
                      Float8GetDatum(plan.lines_per_query)};
    return row_of(fcinfo, values);
}
