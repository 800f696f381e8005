-- tamis--1.0.sql: compact sets, asked from a few bits per key
-- SPDX-License-Identifier: MIT
\echo Use "CREATE EXTENSION tamis" to load this file. \quit

-- A set is a file of tamis in one value.  It is not compressed: there is nothing to gain.
CREATE TYPE tamis;
CREATE FUNCTION tamis_in(cstring) RETURNS tamis
    AS 'MODULE_PATHNAME', 'tamis_sql_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_out(tamis) RETURNS cstring
    AS 'MODULE_PATHNAME', 'tamis_sql_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_receive(internal) RETURNS tamis
    AS 'MODULE_PATHNAME', 'tamis_sql_receive' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_send(tamis) RETURNS bytea
    AS 'byteasend' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_analyze(internal) RETURNS boolean
    AS 'MODULE_PATHNAME', 'tamis_sql_analyze' LANGUAGE C STRICT;
CREATE TYPE tamis (
    INPUT = tamis_in, OUTPUT = tamis_out, RECEIVE = tamis_receive, SEND = tamis_send, ANALYZE = tamis_analyze,
    INTERNALLENGTH = VARIABLE, STORAGE = external
);

CREATE FUNCTION tamis(bytea) RETURNS tamis
    AS 'MODULE_PATHNAME', 'tamis_sql_of_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (bytea AS tamis) WITH FUNCTION tamis(bytea);
CREATE CAST (tamis AS bytea) WITHOUT FUNCTION;

-- What the planner asks.
CREATE FUNCTION tamis_restriction(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'tamis_sql_restriction' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_join(internal, oid, internal, smallint, internal) RETURNS double precision
    AS 'MODULE_PATHNAME', 'tamis_sql_join' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_support' LANGUAGE C STRICT PARALLEL SAFE;

-- Parts of the aggregates.
CREATE FUNCTION tamis_agg_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_combine' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION tamis_agg_serialize(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'tamis_sql_serialize' LANGUAGE C STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_agg_deserialize(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_deserialize' LANGUAGE C STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_agg_finish(internal) RETURNS tamis
    AS 'MODULE_PATHNAME', 'tamis_sql_finish' LANGUAGE C PARALLEL SAFE;

CREATE FUNCTION tamis_agg_add(internal, text, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_add_text' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION tamis_agg_add(internal, text, bigint, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_add_text' LANGUAGE C PARALLEL SAFE;
CREATE AGGREGATE tamis_agg(key text, p double precision) (
    SFUNC = tamis_agg_add, STYPE = internal, FINALFUNC = tamis_agg_finish,
    COMBINEFUNC = tamis_agg_combine, SERIALFUNC = tamis_agg_serialize, DESERIALFUNC = tamis_agg_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_agg(key text, n bigint, p double precision) (
    SFUNC = tamis_agg_add, STYPE = internal, FINALFUNC = tamis_agg_finish,
    COMBINEFUNC = tamis_agg_combine, SERIALFUNC = tamis_agg_serialize, DESERIALFUNC = tamis_agg_deserialize,
    PARALLEL = SAFE
);
CREATE FUNCTION tamis_contains(set tamis, key text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'tamis_sql_has_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT tamis_support;
CREATE OPERATOR @> (LEFTARG = tamis, RIGHTARG = text, FUNCTION = tamis_contains,
    RESTRICT = tamis_restriction, JOIN = tamis_join);

CREATE FUNCTION tamis_agg_add(internal, bytea, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_add_bytea' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION tamis_agg_add(internal, bytea, bigint, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_add_bytea' LANGUAGE C PARALLEL SAFE;
CREATE AGGREGATE tamis_agg(key bytea, p double precision) (
    SFUNC = tamis_agg_add, STYPE = internal, FINALFUNC = tamis_agg_finish,
    COMBINEFUNC = tamis_agg_combine, SERIALFUNC = tamis_agg_serialize, DESERIALFUNC = tamis_agg_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_agg(key bytea, n bigint, p double precision) (
    SFUNC = tamis_agg_add, STYPE = internal, FINALFUNC = tamis_agg_finish,
    COMBINEFUNC = tamis_agg_combine, SERIALFUNC = tamis_agg_serialize, DESERIALFUNC = tamis_agg_deserialize,
    PARALLEL = SAFE
);
CREATE FUNCTION tamis_contains(set tamis, key bytea) RETURNS boolean
    AS 'MODULE_PATHNAME', 'tamis_sql_has_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT tamis_support;
CREATE OPERATOR @> (LEFTARG = tamis, RIGHTARG = bytea, FUNCTION = tamis_contains,
    RESTRICT = tamis_restriction, JOIN = tamis_join);

CREATE FUNCTION tamis_agg_add(internal, smallint, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_add_smallint' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION tamis_agg_add(internal, smallint, bigint, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_add_smallint' LANGUAGE C PARALLEL SAFE;
CREATE AGGREGATE tamis_agg(key smallint, p double precision) (
    SFUNC = tamis_agg_add, STYPE = internal, FINALFUNC = tamis_agg_finish,
    COMBINEFUNC = tamis_agg_combine, SERIALFUNC = tamis_agg_serialize, DESERIALFUNC = tamis_agg_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_agg(key smallint, n bigint, p double precision) (
    SFUNC = tamis_agg_add, STYPE = internal, FINALFUNC = tamis_agg_finish,
    COMBINEFUNC = tamis_agg_combine, SERIALFUNC = tamis_agg_serialize, DESERIALFUNC = tamis_agg_deserialize,
    PARALLEL = SAFE
);
CREATE FUNCTION tamis_contains(set tamis, key smallint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'tamis_sql_has_smallint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT tamis_support;
CREATE OPERATOR @> (LEFTARG = tamis, RIGHTARG = smallint, FUNCTION = tamis_contains,
    RESTRICT = tamis_restriction, JOIN = tamis_join);

CREATE FUNCTION tamis_agg_add(internal, integer, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_add_integer' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION tamis_agg_add(internal, integer, bigint, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_add_integer' LANGUAGE C PARALLEL SAFE;
CREATE AGGREGATE tamis_agg(key integer, p double precision) (
    SFUNC = tamis_agg_add, STYPE = internal, FINALFUNC = tamis_agg_finish,
    COMBINEFUNC = tamis_agg_combine, SERIALFUNC = tamis_agg_serialize, DESERIALFUNC = tamis_agg_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_agg(key integer, n bigint, p double precision) (
    SFUNC = tamis_agg_add, STYPE = internal, FINALFUNC = tamis_agg_finish,
    COMBINEFUNC = tamis_agg_combine, SERIALFUNC = tamis_agg_serialize, DESERIALFUNC = tamis_agg_deserialize,
    PARALLEL = SAFE
);
CREATE FUNCTION tamis_contains(set tamis, key integer) RETURNS boolean
    AS 'MODULE_PATHNAME', 'tamis_sql_has_integer' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT tamis_support;
CREATE OPERATOR @> (LEFTARG = tamis, RIGHTARG = integer, FUNCTION = tamis_contains,
    RESTRICT = tamis_restriction, JOIN = tamis_join);

CREATE FUNCTION tamis_agg_add(internal, bigint, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_add_bigint' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION tamis_agg_add(internal, bigint, bigint, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_add_bigint' LANGUAGE C PARALLEL SAFE;
CREATE AGGREGATE tamis_agg(key bigint, p double precision) (
    SFUNC = tamis_agg_add, STYPE = internal, FINALFUNC = tamis_agg_finish,
    COMBINEFUNC = tamis_agg_combine, SERIALFUNC = tamis_agg_serialize, DESERIALFUNC = tamis_agg_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_agg(key bigint, n bigint, p double precision) (
    SFUNC = tamis_agg_add, STYPE = internal, FINALFUNC = tamis_agg_finish,
    COMBINEFUNC = tamis_agg_combine, SERIALFUNC = tamis_agg_serialize, DESERIALFUNC = tamis_agg_deserialize,
    PARALLEL = SAFE
);
CREATE FUNCTION tamis_contains(set tamis, key bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'tamis_sql_has_bigint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT tamis_support;
CREATE OPERATOR @> (LEFTARG = tamis, RIGHTARG = bigint, FUNCTION = tamis_contains,
    RESTRICT = tamis_restriction, JOIN = tamis_join);

CREATE FUNCTION tamis_agg_add(internal, uuid, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_add_uuid' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION tamis_agg_add(internal, uuid, bigint, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_add_uuid' LANGUAGE C PARALLEL SAFE;
CREATE AGGREGATE tamis_agg(key uuid, p double precision) (
    SFUNC = tamis_agg_add, STYPE = internal, FINALFUNC = tamis_agg_finish,
    COMBINEFUNC = tamis_agg_combine, SERIALFUNC = tamis_agg_serialize, DESERIALFUNC = tamis_agg_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_agg(key uuid, n bigint, p double precision) (
    SFUNC = tamis_agg_add, STYPE = internal, FINALFUNC = tamis_agg_finish,
    COMBINEFUNC = tamis_agg_combine, SERIALFUNC = tamis_agg_serialize, DESERIALFUNC = tamis_agg_deserialize,
    PARALLEL = SAFE
);
CREATE FUNCTION tamis_contains(set tamis, key uuid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'tamis_sql_has_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT tamis_support;
CREATE OPERATOR @> (LEFTARG = tamis, RIGHTARG = uuid, FUNCTION = tamis_contains,
    RESTRICT = tamis_restriction, JOIN = tamis_join);

CREATE FUNCTION tamis_agg_add(internal, date, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_add_date' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION tamis_agg_add(internal, date, bigint, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_add_date' LANGUAGE C PARALLEL SAFE;
CREATE AGGREGATE tamis_agg(key date, p double precision) (
    SFUNC = tamis_agg_add, STYPE = internal, FINALFUNC = tamis_agg_finish,
    COMBINEFUNC = tamis_agg_combine, SERIALFUNC = tamis_agg_serialize, DESERIALFUNC = tamis_agg_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_agg(key date, n bigint, p double precision) (
    SFUNC = tamis_agg_add, STYPE = internal, FINALFUNC = tamis_agg_finish,
    COMBINEFUNC = tamis_agg_combine, SERIALFUNC = tamis_agg_serialize, DESERIALFUNC = tamis_agg_deserialize,
    PARALLEL = SAFE
);
CREATE FUNCTION tamis_contains(set tamis, key date) RETURNS boolean
    AS 'MODULE_PATHNAME', 'tamis_sql_has_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT tamis_support;
CREATE OPERATOR @> (LEFTARG = tamis, RIGHTARG = date, FUNCTION = tamis_contains,
    RESTRICT = tamis_restriction, JOIN = tamis_join);

CREATE FUNCTION tamis_agg_add(internal, timestamp, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_add_timestamp' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION tamis_agg_add(internal, timestamp, bigint, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_add_timestamp' LANGUAGE C PARALLEL SAFE;
CREATE AGGREGATE tamis_agg(key timestamp, p double precision) (
    SFUNC = tamis_agg_add, STYPE = internal, FINALFUNC = tamis_agg_finish,
    COMBINEFUNC = tamis_agg_combine, SERIALFUNC = tamis_agg_serialize, DESERIALFUNC = tamis_agg_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_agg(key timestamp, n bigint, p double precision) (
    SFUNC = tamis_agg_add, STYPE = internal, FINALFUNC = tamis_agg_finish,
    COMBINEFUNC = tamis_agg_combine, SERIALFUNC = tamis_agg_serialize, DESERIALFUNC = tamis_agg_deserialize,
    PARALLEL = SAFE
);
CREATE FUNCTION tamis_contains(set tamis, key timestamp) RETURNS boolean
    AS 'MODULE_PATHNAME', 'tamis_sql_has_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT tamis_support;
CREATE OPERATOR @> (LEFTARG = tamis, RIGHTARG = timestamp, FUNCTION = tamis_contains,
    RESTRICT = tamis_restriction, JOIN = tamis_join);

CREATE FUNCTION tamis_agg_add(internal, timestamptz, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_add_timestamptz' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION tamis_agg_add(internal, timestamptz, bigint, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_add_timestamptz' LANGUAGE C PARALLEL SAFE;
CREATE AGGREGATE tamis_agg(key timestamptz, p double precision) (
    SFUNC = tamis_agg_add, STYPE = internal, FINALFUNC = tamis_agg_finish,
    COMBINEFUNC = tamis_agg_combine, SERIALFUNC = tamis_agg_serialize, DESERIALFUNC = tamis_agg_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_agg(key timestamptz, n bigint, p double precision) (
    SFUNC = tamis_agg_add, STYPE = internal, FINALFUNC = tamis_agg_finish,
    COMBINEFUNC = tamis_agg_combine, SERIALFUNC = tamis_agg_serialize, DESERIALFUNC = tamis_agg_deserialize,
    PARALLEL = SAFE
);
CREATE FUNCTION tamis_contains(set tamis, key timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'tamis_sql_has_timestamptz' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT tamis_support;
CREATE OPERATOR @> (LEFTARG = tamis, RIGHTARG = timestamptz, FUNCTION = tamis_contains,
    RESTRICT = tamis_restriction, JOIN = tamis_join);

CREATE FUNCTION tamis_agg_add(internal, numeric, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_add_numeric' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION tamis_agg_add(internal, numeric, bigint, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_add_numeric' LANGUAGE C PARALLEL SAFE;
CREATE AGGREGATE tamis_agg(key numeric, p double precision) (
    SFUNC = tamis_agg_add, STYPE = internal, FINALFUNC = tamis_agg_finish,
    COMBINEFUNC = tamis_agg_combine, SERIALFUNC = tamis_agg_serialize, DESERIALFUNC = tamis_agg_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_agg(key numeric, n bigint, p double precision) (
    SFUNC = tamis_agg_add, STYPE = internal, FINALFUNC = tamis_agg_finish,
    COMBINEFUNC = tamis_agg_combine, SERIALFUNC = tamis_agg_serialize, DESERIALFUNC = tamis_agg_deserialize,
    PARALLEL = SAFE
);
CREATE FUNCTION tamis_contains(set tamis, key numeric) RETURNS boolean
    AS 'MODULE_PATHNAME', 'tamis_sql_has_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT tamis_support;
CREATE OPERATOR @> (LEFTARG = tamis, RIGHTARG = numeric, FUNCTION = tamis_contains,
    RESTRICT = tamis_restriction, JOIN = tamis_join);

CREATE FUNCTION tamis_merge(tamis, tamis, beyond boolean DEFAULT false) RETURNS tamis
    AS 'MODULE_PATHNAME', 'tamis_sql_merge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION tamis_union_add(internal, tamis) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_union_add' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION tamis_union_add(internal, tamis, boolean) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_union_add' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION tamis_union_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_union_combine' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION tamis_union_serialize(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'tamis_sql_union_serialize' LANGUAGE C STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_union_deserialize(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'tamis_sql_union_deserialize' LANGUAGE C STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_union_finish(internal) RETURNS tamis
    AS 'MODULE_PATHNAME', 'tamis_sql_union_finish' LANGUAGE C PARALLEL SAFE;
CREATE AGGREGATE tamis_agg_merge(set tamis) (
    SFUNC = tamis_union_add, STYPE = internal, FINALFUNC = tamis_union_finish,
    COMBINEFUNC = tamis_union_combine, SERIALFUNC = tamis_union_serialize, DESERIALFUNC = tamis_union_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_agg_merge(set tamis, beyond boolean) (
    SFUNC = tamis_union_add, STYPE = internal, FINALFUNC = tamis_union_finish,
    COMBINEFUNC = tamis_union_combine, SERIALFUNC = tamis_union_serialize, DESERIALFUNC = tamis_union_deserialize,
    PARALLEL = SAFE
);

CREATE FUNCTION tamis_info(set tamis, OUT kind text, OUT capacity bigint, OUT count bigint, OUT bytes bigint,
        OUT bits_per_key double precision, OUT fpr double precision, OUT fpr_promised double precision, OUT keys text,
        OUT hash text)
    AS 'MODULE_PATHNAME', 'tamis_sql_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_plan(n bigint, p double precision, OUT kind text, OUT bytes bigint,
        OUT bits_per_key double precision, OUT fpr double precision, OUT lines_per_query double precision)
    AS 'MODULE_PATHNAME', 'tamis_sql_plan' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
