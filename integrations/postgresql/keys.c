/* keys.c - the bytes of keys
 *
 * docs/keys.md says which they are.  All but integers are texts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sets.h"

#include <datatype/timestamp.h>
#include <mb/pg_wchar.h>
#include <pgtime.h>
#include <utils/builtins.h>
#include <utils/date.h>
#include <utils/datetime.h>
#include <utils/numeric.h>
#include <utils/timestamp.h>
#include <utils/uuid.h>

static set_key key_of_bytes(const void *data, size_t size) {
    const set_key key = {TAMIS_KEYS_BYTES, data, size, 0};
    return key;
}

static set_key key_of_string(const char *text) {
    return key_of_bytes(text, strlen(text));
}

static set_key key_of_number(int64 number) {
    const set_key key = {TAMIS_KEYS_U64, NULL, 0, (uint64_t)number};
    return key;
}

set_key set_key_of_bytea(FunctionCallInfo fcinfo, int argument) {
    const struct varlena *const value = PG_DETOAST_DATUM_PACKED(fcinfo->args[argument].value);
    return key_of_bytes(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
}

/* In UTF-8, whatever the encoding of the database is; a database without one has bytes. */
set_key set_key_of_text(FunctionCallInfo fcinfo, int argument) {
    const set_key as_stored = set_key_of_bytea(fcinfo, argument);
    const int encoding = GetDatabaseEncoding();
    if (encoding == PG_UTF8 || encoding == PG_SQL_ASCII || as_stored.size == 0)
        return as_stored;
    const char *const text = as_stored.data, *const utf8 = pg_server_to_any(
                                                 text, (int)as_stored.size, PG_UTF8);
    return utf8 == text ? as_stored : key_of_string(utf8);
}

set_key set_key_of_smallint(FunctionCallInfo fcinfo, int argument) {
    return key_of_number(DatumGetInt16(fcinfo->args[argument].value));
}

set_key set_key_of_integer(FunctionCallInfo fcinfo, int argument) {
    return key_of_number(DatumGetInt32(fcinfo->args[argument].value));
}

set_key set_key_of_bigint(FunctionCallInfo fcinfo, int argument) {
    return key_of_number(DatumGetInt64(fcinfo->args[argument].value));
}

set_key set_key_of_uuid(FunctionCallInfo fcinfo, int argument) {
    return key_of_string(
        DatumGetCString(DirectFunctionCall1(uuid_out, fcinfo->args[argument].value)));
}

set_key set_key_of_numeric(FunctionCallInfo fcinfo, int argument) {
    return key_of_string(numeric_normalize(DatumGetNumeric(fcinfo->args[argument].value)));
}

/* ---- dates and times ---- */

#define KEY_TIME_MAX 48

/* Years are those of ISO 8601: 0 is the year before 1. */
static char *write_date(char *to, const struct pg_tm *tm) {
    const int year = tm->tm_year;
    return to + snprintf(to, KEY_TIME_MAX, "%s%04d-%02d-%02d", year < 0 ? "-" : "",
                         year < 0 ? -year : year, tm->tm_mon, tm->tm_mday);
}

set_key set_key_of_date(FunctionCallInfo fcinfo, int argument) {
    const DateADT date = DatumGetDateADT(fcinfo->args[argument].value);
    if (DATE_NOT_FINITE(date))
        return key_of_string(DATE_IS_NOBEGIN(date) ? "-infinity" : "infinity");
    struct pg_tm tm = {0};
    j2date(date + POSTGRES_EPOCH_JDATE, &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
    char *const text = palloc(KEY_TIME_MAX);
    return key_of_bytes(text, (size_t)(write_date(text, &tm) - text));
}

static set_key key_of_time(Timestamp time, const char *zone) {
    if (TIMESTAMP_NOT_FINITE(time))
        return key_of_string(TIMESTAMP_IS_NOBEGIN(time) ? "-infinity" : "infinity");
    struct pg_tm tm;
    fsec_t fraction;
    if (timestamp2tm(time, NULL, &tm, &fraction, NULL, NULL) != 0)
        ereport(ERROR,
                (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), errmsg("timestamp out of range")));
    char *const text = palloc(2 * KEY_TIME_MAX);
    char *end = write_date(text, &tm);
    end += sprintf(end, "T%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
    if (fraction != 0)
        end += sprintf(end, ".%06d", (int)fraction);
    end += sprintf(end, "%s", zone);
    return key_of_bytes(text, (size_t)(end - text));
}

set_key set_key_of_timestamp(FunctionCallInfo fcinfo, int argument) {
    return key_of_time(DatumGetTimestamp(fcinfo->args[argument].value), "");
}

/* It is kept in UTC. */
set_key set_key_of_timestamptz(FunctionCallInfo fcinfo, int argument) {
    return key_of_time(DatumGetTimestampTz(fcinfo->args[argument].value), "Z");
}

tamis_digest set_digest(const tamis_hasher *hasher, const set_key *key) {
    return key->form == TAMIS_KEYS_U64 ? tamis_hash_u64(hasher, key->number)
                                       : tamis_hash(hasher, key->data, key->size);
}
