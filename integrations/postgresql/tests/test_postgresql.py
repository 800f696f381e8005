"""The extension in a real server.  test_postgresql.py MODULE TOOL PG_CONFIG

SPDX-License-Identifier: MIT
"""
import base64
import os
import random
import re
import subprocess
import sys
import unittest

from support import HERE, Failure, Server

MODULE, TOOL, PG_CONFIG = sys.argv[1:4]
SEED = int(os.environ.get("TAMIS_TEST_SEED", "20261"))
SERVER = None
PARALLEL = """SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
    SET max_parallel_workers_per_gather = 2;"""

# Values of types, and the texts that docs/keys.md has for them.
KEYS = {
    "text": {"apple": "apple", "na\u00efve": "na\u00efve"},
    "bytea": {"apple": "apple"},
    "smallint": {"7": "7", "32767": "32767"},
    "integer": {"7": "7", "2147483647": "2147483647"},
    "bigint": {"7": "7", "-1": str(2**64 - 1)},
    "uuid": {"A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
    "date": {"2026-03-01": "2026-03-01", "0001-01-01": "0001-01-01", "0001-01-01 BC": "0000-01-01",
             "0045-02-03 BC": "-0044-02-03", "12345-06-07": "12345-06-07", "infinity": "infinity",
             "-infinity": "-infinity"},
    "timestamp": {"2026-03-01 09:05:00": "2026-03-01T09:05:00", "2026-03-01 09:05:00.25": "2026-03-01T09:05:00.250000",
                  "1969-12-31 23:59:59.000001": "1969-12-31T23:59:59.000001", "-infinity": "-infinity",
                  "0002-01-01 00:00:00 BC": "-0001-01-01T00:00:00"},
    "timestamptz": {"2026-03-01 09:05:00+01": "2026-03-01T08:05:00Z", "infinity": "infinity",
                    "2026-03-01 01:05:00.25+02": "2026-02-28T23:05:00.250000Z"},
    "numeric": {"12.50": "12.5", "-0.00": "0", "1E2": "100", "0.030": "0.03", "-7": "-7", "NaN": "NaN",
                "Infinity": "Infinity", "18446744073709551616.10": "18446744073709551616.1", "100.000": "100"},
}


def sql(text, **variables):
    return SERVER.sql(text, **variables)


class Extension(unittest.TestCase):
    def refused(self, code, text):
        with self.assertRaises(Failure) as caught:
            sql(text)
        self.assertIn(f"ERROR:  {code}", str(caught.exception))
        self.assertEqual(sql("SELECT 1"), "1")  # and the server is well
        return str(caught.exception)

    def test_no_key_is_lost_and_errors_keep_the_promise(self):
        rows = sql(f"SET tamis.seed = '{SEED:#x}';" """
            CREATE TABLE t AS SELECT i AS id, 'key ' || i AS name FROM generate_series(1, 100000) i;
            CREATE TABLE s AS SELECT tamis_agg(name, 100000, 0.01) AS names, tamis_agg(id, 100000, 0.01) AS ids FROM t;
            SELECT count(*) FROM t, s WHERE s.names @> t.name AND tamis_contains(s.ids, t.id);
            SELECT count(*) FROM s, generate_series(1, 100000) i WHERE s.names @> ('other ' || i);
            SELECT count(*) FROM s, generate_series(1000001, 1100000) i WHERE s.ids @> i::bigint""").split()
        self.assertEqual(rows[0], "100000")
        # 1000 errors are promised at most; four standard deviations above that is chance
        self.assertLessEqual(max(int(rows[1]), int(rows[2])), 1126)
        self.assertGreater(min(int(rows[1]), int(rows[2])), 300)

    def test_kinds_of_keys(self):
        self.assertEqual(sql("""
            WITH s AS (SELECT tamis_agg(k, 10, 0.0001) AS set FROM (VALUES ('\\x00ff'::bytea), ('')) v (k))
                SELECT set @> '\\x00ff'::bytea, set @> ''::bytea, set @> '\\x00'::bytea FROM s;
            WITH u AS (SELECT tamis_agg(k, 10, 0.0001) AS set
                       FROM (VALUES ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid)) v (k))
                SELECT set @> 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid,
                       set @> '00000000-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid FROM u;
            WITH i AS (SELECT tamis_agg(k, 10, 0.0001) AS set FROM (VALUES (-1), (7)) v (k))
                SELECT set @> -1::bigint, set @> 7::int, set @> 8::bigint FROM i"""),
                         "t|t|f\nt|f\nt|t|f")

    def test_nulls_and_nothing(self):
        self.assertEqual(sql("""
            SELECT tamis_agg(x, 10, 0.01) IS NULL FROM (SELECT 'a' AS x WHERE false) n;
            SELECT (tamis_info(tamis_agg(x, 10, 0.01))).count FROM (VALUES ('a'), (NULL), ('b')) v (x);
            SELECT tamis_contains(NULL, 'a') IS NULL"""), "t\n2\nt")

    def test_wrong_arguments_are_refused(self):
        for n, p in ((0, 0.1), (-1, 0.1), (2**41, 0.1), (10, 0), (10, 1), (10, -1), (10, "'NaN'")):
            self.refused("22023", f"SELECT tamis_agg('a'::text, {n}, {p})")
        self.refused("22004", "SELECT tamis_agg('a'::text, NULL, 0.1)")
        self.refused("22023", "SELECT tamis_agg(i::text, i, 0.1) FROM generate_series(1, 2) i")
        self.refused("54000", "SELECT tamis_agg('a'::text, 1000000000, 1e-9)")
        self.assertIn("no kind can do n of 1000, fpr of 1e-300 and merges together; possible with fpr of 0.01",
                      self.refused("0A000", "SELECT tamis_plan(1000, 1e-300)"))
        self.refused("42804", "SELECT tamis_agg('a'::text, 10, 0.1) @> 7::bigint")
        self.refused("42804", "SELECT tamis_agg(7::bigint, 10, 0.1) @> '7'::text")

    def test_more_keys_than_promised_are_refused(self):
        words = self.refused("54000", "SELECT tamis_agg(i::text, 1000, 0.001) FROM generate_series(1, 2000) i")
        self.assertIn("1000", words)
        self.assertEqual(sql("SELECT tamis_agg((i % 1000)::text, 1000, 0.001) @> '5'::text "
                             "FROM generate_series(1, 5000) i"), "t")

    def test_workers_make_one_set(self):
        self.assertEqual(sql("""
            CREATE TABLE p AS SELECT i AS id FROM generate_series(1, 300000) i; ANALYZE p;
            SET tamis.seed = '0x1234'; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
            SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 0;
            CREATE TABLE one AS SELECT tamis_agg(id, 300000, 0.001) AS set FROM p;
            SET max_parallel_workers_per_gather = 2;
            CREATE TABLE two AS SELECT tamis_agg(id, 300000, 0.001) AS set FROM p;
            SELECT count(*) FROM p, one, two WHERE one.set @> p.id AND two.set @> p.id;
            SELECT sum((one.set @> i::bigint)::int) <= 430, sum((two.set @> i::bigint)::int) <= 430
                FROM one, two, generate_series(1000001, 1350000) i"""),
                         "300000\nt|t")  # 350 errors at most are promised; four standard deviations more
        plan = sql("""SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
            SET max_parallel_workers_per_gather = 2;
            EXPLAIN (ANALYZE, COSTS off, TIMING off) SELECT tamis_agg(id, 300000, 0.001) FROM p""")
        self.assertIn("Partial Aggregate", plan)
        self.assertRegex(plan, r"Workers Launched: [12]")

    def test_workers_share_a_random_seed_also_after_a_rollback(self):
        self.assertEqual(sql("""
            CREATE TABLE r AS SELECT i AS id FROM generate_series(1, 200000) i; ANALYZE r;
            SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
            BEGIN; SELECT tamis_plan(10, 0.1) IS NULL; ROLLBACK;
            SELECT count(*) FROM r, (SELECT tamis_agg(id, 200000, 0.001) AS set FROM r) s WHERE s.set @> r.id"""),
                         "f\n200000")

    def test_seeds(self):
        sets = "(SELECT tamis_agg('a'::text, 10, 0.1))"
        self.assertEqual(sql(f"SET tamis.seed = '0xFf'; SELECT {sets}::bytea = {sets}::bytea"), "t")
        one, two = sql(f"SELECT {sets}"), sql(f"SELECT {sets}")
        self.assertNotEqual(one, two)  # other sessions, other seeds
        self.refused("22023", f"SELECT tamis_merge('{one}', '{two}')")
        for seed in ("0", "xyz", "0x", "ff", "0x" + "1" * 33, "12 "):
            self.refused("22023", f"SELECT tamis_plan(1, 0.1); SET tamis.seed = '{seed}'")
        sql(f"SELECT tamis_plan(1, 0.1); SET tamis.seed = '0x{'f' * 32}'")

    def test_merge(self):
        self.assertEqual(sql("""
            SELECT m @> 'a'::text, m @> 'b'::text, m @> 'c'::text, (tamis_info(m)).count FROM
            (SELECT tamis_merge(tamis_agg(x, 1000, 0.00001), tamis_agg(y, 1000, 0.00001)) AS m
             FROM (VALUES ('a', 'b')) v (x, y)) w"""), "t|t|f|2")
        words = self.refused("22023",
                             "SELECT tamis_merge(tamis_agg(1::bigint, 1000, 0.1), tamis_agg(1::bigint, 99, 0.1))")
        self.assertIn("the same n and p", words)

    def test_a_union_that_breaks_the_promise_is_refused(self):
        # at this rate a set is a blocked-bloom, in which any union has room
        sql(f"""SET tamis.seed = '{SEED}'; CREATE TABLE full_sets AS SELECT g, tamis_agg(g * 100000 + i, 20000, 0.02) AS set
                FROM generate_series(0, 2) g, generate_series(1, 20000) i GROUP BY g;
            INSERT INTO full_sets SELECT * FROM full_sets WHERE g = 0; ANALYZE full_sets""")
        two = "(SELECT set FROM full_sets WHERE g = 1), (SELECT set FROM full_sets WHERE g = 2)"
        words = self.refused("54000", f"SELECT tamis_merge({two})")
        self.assertIn("instead of 0.02", words)
        self.assertIn("beyond => true", words)
        self.assertEqual(sql(f"""CREATE TABLE beyond AS SELECT tamis_merge({two}, beyond => true) AS set;
            SELECT count(*) FROM beyond, generate_series(1, 2) g, generate_series(1, 20000) i WHERE set @> (g * 100000 + i);
            SELECT (i).fpr > 0.04, (i).fpr_promised FROM (SELECT tamis_info(set) AS i FROM beyond) q"""),
                         "40000\nt|0.02")
        for workers in (0, 2):
            before = f"{PARALLEL} SET max_parallel_workers_per_gather = {workers};"
            self.assertIn("tamis_agg_merge(set, true)", self.refused("54000", f"{before} SELECT tamis_agg_merge(set) FROM full_sets"))
            self.refused("54000", f"{before} SELECT tamis_agg_merge(set, false) FROM full_sets")
            self.assertEqual(sql(f"""{before} SELECT count(*) FROM generate_series(0, 2) g, generate_series(1, 20000) i,
                (SELECT tamis_agg_merge(set, true) AS set FROM full_sets) u WHERE set @> (g * 100000 + i)"""), "60000")
            # a set of the same keys, again: nothing is broken
            self.assertEqual(sql(f"""{before} SELECT (tamis_info(tamis_agg_merge(set))).fpr <= 0.02
                FROM full_sets WHERE g = 0"""), "t")

    def test_a_union_without_room_is_refused(self):
        sql(f"""SET tamis.seed = '{SEED}'; CREATE TABLE line_sets AS SELECT g, tamis_agg(g * 100000 + i, 20000, 0.001) AS set
                FROM generate_series(1, 4) g, generate_series(1, 20000) i WHERE g < 3 OR i <= 10000 GROUP BY g;
            ANALYZE line_sets""")
        self.assertEqual(sql("SELECT DISTINCT (tamis_info(set)).kind FROM line_sets"), "line")
        two = "(SELECT set FROM line_sets WHERE g = 1), (SELECT set FROM line_sets WHERE g = 2)"
        for more in ("", ", beyond => true"):
            self.assertIn("these sets cannot be merged: no room for the keys of both",
                          self.refused("54000", f"SELECT tamis_merge({two}{more})"))
        for workers in (0, 2):
            before = f"{PARALLEL} SET max_parallel_workers_per_gather = {workers};"
            for more in ("", ", true"):
                self.assertIn("no room for the keys of both", self.refused("54000", f"{before} SELECT tamis_agg_merge(set{more}) FROM line_sets"))
            self.assertEqual(sql(f"""{before} SELECT count(*) FROM generate_series(3, 4) g, generate_series(1, 10000) i,
                (SELECT tamis_agg_merge(set) AS set FROM line_sets WHERE g > 2) u WHERE set @> (g * 100000 + i);
                SELECT (tamis_info(tamis_agg_merge(set))).fpr <= 0.001 FROM line_sets WHERE g > 2"""), "20000\nt")

    def test_plan_and_info(self):
        kind, size, bits, rate, lines = sql("SELECT (p).* FROM (SELECT tamis_plan(1000000, 0.001) AS p) q").split("|")
        self.assertLessEqual(float(rate), 0.001)
        self.assertAlmostEqual(float(bits), int(size) * 8 / 1e6, places=6)
        self.assertGreaterEqual(float(lines), 1)
        row = sql("""SELECT (i).kind, (i).capacity, (i).count, (i).keys, (i).hash, (i).bytes = (p).bytes
            FROM (SELECT tamis_info(tamis_agg(x, 1000000, 0.001)) AS i, tamis_plan(1000000, 0.001) AS p
                  FROM generate_series(1, 5) x) q""")
        self.assertEqual(row, f"{kind}|1000000|5|integers|aes|t")
        self.assertEqual(sql("""SELECT (tamis_info(tamis_agg(x, 0.02))).fpr_promised, (tamis_info(tamis_agg(x, 9, 0.03))).fpr_promised
            FROM generate_series(1, 5) x"""), "0.02|0.03")

    def test_files_of_the_tool_and_back(self):
        folder = SERVER.path("files")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "keys"), "w", encoding="utf-8") as file:
            file.writelines(f"{i}\n" for i in range(1000))
        subprocess.run([TOOL, "build", "-p", "0.0001", "-o", os.path.join(folder, "set"), os.path.join(folder, "keys")],
                       check=True, capture_output=True)
        os.chmod(folder, 0o755)
        os.chmod(os.path.join(folder, "set"), 0o644)
        self.assertEqual(sql("""SELECT count(*) FROM generate_series(0, 999) i,
            (SELECT pg_read_binary_file(:'file')::tamis AS set) s WHERE s.set @> i::text""",
                             file=os.path.join(folder, "set")), "1000")
        text = sql("SELECT tamis_agg(i::text, 100, 0.0001) FROM generate_series(1, 100) i")
        with open(os.path.join(folder, "back"), "wb") as file:
            file.write(base64.b64decode(text))
        done = subprocess.run([TOOL, "query", "-c", os.path.join(folder, "back"), os.path.join(folder, "keys")],
                              check=True, capture_output=True, text=True)
        self.assertIn(int(re.findall(r"\d+", done.stdout)[0]), range(100, 103))

    def test_damaged_values_are_refused(self):
        chance = random.Random(SEED)
        print(f"# seed {SEED}", file=sys.stderr)
        good = base64.b64decode(sql("SELECT tamis_agg(i::text, 50, 0.01) FROM generate_series(1, 50) i"))
        statements = ["CREATE TABLE bad (b bytea);"]
        cases = [good[:n] for n in (0, 1, 8, 255, 256, len(good) - 1)] + [good + b"\0"]
        for _ in range(300):
            wrong = bytearray(good)
            wrong[chance.randrange(len(good))] ^= 1 << chance.randrange(8)
            cases.append(bytes(wrong))
        statements += [f"INSERT INTO bad VALUES ('\\x{case.hex()}');" for case in cases]
        statements.append("""
            CREATE FUNCTION accepts(b bytea) RETURNS boolean LANGUAGE plpgsql AS
                $$ BEGIN PERFORM b::tamis; RETURN true; EXCEPTION WHEN data_corrupted THEN RETURN false; END $$;
            SELECT count(*) FROM bad WHERE accepts(b);
            SELECT count(*) FROM bad""")
        self.assertEqual(sql("\n".join(statements)).split(), ["0", str(len(cases))])

    def test_the_set_of_a_query_may_change_from_row_to_row(self):
        self.assertEqual(sql("""
            CREATE TABLE many AS SELECT g AS id, tamis_agg((g * 100 + i)::text, 3000, 0.00001) AS set
                FROM generate_series(1, 6) g, generate_series(0, 2999) i GROUP BY g;
            CREATE TABLE small AS SELECT g AS id, tamis_agg((g * 10 + i)::text, 5, 0.00001) AS set
                FROM generate_series(1, 60) g, generate_series(0, 4) i GROUP BY g;
            SELECT count(*) FROM many a, many b WHERE a.set @> (b.id * 100)::text AND b.id >= a.id;
            SELECT count(*) FROM small a, small b WHERE a.set @> (b.id * 10)::text"""), "21\n60")

    # ---- the aggregate, in parallel ----

    def test_workers_give_the_same_bytes_and_no_key_too_many(self):
        sql("""CREATE TABLE w AS SELECT i % 60000 AS id FROM generate_series(1, 150000) i; ANALYZE w""")
        for seed in range(1, 4):
            for call in ("tamis_agg(id, 60000, 0.0001)", "tamis_agg(id, 0.0001)", "tamis_agg('k' || id, 1e-7)"):
                marks = sql(f"SET tamis.seed = '{SEED + seed}';" + "".join(f"""
                    {PARALLEL} SET max_parallel_workers_per_gather = {workers}; SET work_mem = '{memory}';
                    SET parallel_leader_participation = {leader};
                    SELECT md5(tamis_agg::bytea) FROM (SELECT {call} AS tamis_agg FROM w) q;"""
                    for workers, memory, leader in ((0, "4MB", "on"), (0, "64kB", "on"), (1, "64kB", "off"),
                                                    (2, "4MB", "on"), (2, "64kB", "on"), (4, "128kB", "off"))))
                self.assertEqual(len(set(marks.split())), 1, (seed, call))

    def test_n_is_exact_whatever_the_workers(self):
        sql("CREATE TABLE x AS SELECT i % 5000 AS id FROM generate_series(1, 50000) i; ANALYZE x")
        for seed in range(1, 14):
            self.assertEqual(sql(f"""SET tamis.seed = '{seed}'; {PARALLEL}
                SELECT (tamis_info(tamis_agg(id, 5000, 0.0001))).capacity FROM x"""), "5000")
        for workers in (0, 2):
            words = self.refused("54000", f"""{PARALLEL} SET max_parallel_workers_per_gather = {workers};
                SELECT tamis_agg(id, 4999, 0.0001) FROM x""")
            self.assertIn("5000 different keys", words)

    def test_more_digests_than_memory_has(self):
        """Runs of 4096 digests, more than 64 of them: two levels."""
        self.assertEqual(sql(f"""SET work_mem = '64kB'; SET tamis.seed = '{SEED}';
            CREATE TABLE big AS SELECT tamis_agg(i, 300000, 0.001) AS set FROM generate_series(1, 600000) j,
                LATERAL (SELECT (j * 7919::bigint) % 300000 AS i) r;
            SELECT count(*) FROM big, generate_series(0, 299999) i WHERE set @> i::bigint;
            SET work_mem = '64MB';
            SELECT set::bytea = (SELECT tamis_agg(i::bigint, 300000, 0.001)::bytea FROM generate_series(0, 299999) i)
                FROM big;
            DROP TABLE big;
            SELECT count(*) FROM pg_ls_tmpdir()"""), "300000\nt\n0")

    def test_files_of_workers_do_not_stay(self):
        """Neither of groups that nobody read, nor after an error."""
        sql("CREATE TABLE f AS SELECT i AS id, i % 3 AS g FROM generate_series(1, 100000) i; ANALYZE f")
        several = f"{PARALLEL} SET work_mem = '64kB'; SET enable_hashagg = off;"
        self.assertEqual(sql(f"{several} SELECT count(*) FROM (SELECT tamis_agg(id, 0.01) FROM f GROUP BY g LIMIT 1) q"),
                         "1")
        self.refused("22012", f"{several} SELECT g, (tamis_info(tamis_agg(id, 0.01))).count / 0 FROM f GROUP BY g")
        left = [name for folder, _, names in os.walk(SERVER.path("data", "base", "pgsql_tmp")) for name in names]
        self.assertEqual(left, [])

    def test_windows_and_many_groups(self):
        self.assertEqual(sql("""SET work_mem = '64kB';
            SELECT max(k), min(k) FROM (SELECT (tamis_info(tamis_agg(i, 1e-6) OVER (ORDER BY i / 3000))).count -
                (i / 3000 + 1) * 3000 AS k FROM generate_series(0, 14999) i) q;
            SELECT count(*), sum((tamis_info(s)).count) FROM
                (SELECT tamis_agg(i, 1e-9) AS s FROM generate_series(0, 9999) i GROUP BY i % 2000) q;
            SELECT count(*) FROM (SELECT tamis_agg(j, 1e-9) AS s FROM generate_series(0, 49999) j GROUP BY j % 3) q;
            SELECT count(*) FROM pg_ls_tmpdir()"""), "0|0\n2000|10000\n3\n0")

    def test_union_of_sets(self):
        sql(f"""SET tamis.seed = '{SEED}';
            CREATE TABLE days AS SELECT d AS day, tamis_agg(d * 1000 + i, 20000, 0.001) AS set
                FROM generate_series(1, 20) d, generate_series(0, 999) i GROUP BY d; ANALYZE days""")
        for workers in (0, 2):
            self.assertEqual(sql(f"""{PARALLEL} SET max_parallel_workers_per_gather = {workers};
                SELECT count(*) FROM (SELECT tamis_agg_merge(set) AS set FROM days) u, generate_series(1000, 20999) i
                    WHERE set @> i;
                SELECT count(*) < 130 FROM (SELECT tamis_agg_merge(set) AS set FROM days) u,
                    generate_series(100000, 199999) i WHERE set @> i;
                SELECT tamis_agg_merge(set) IS NULL FROM days WHERE day > 99"""), "20000\nt\nt")
        self.refused("22023", "SELECT tamis_agg_merge(s) FROM (SELECT tamis_agg(1, n, 0.1) AS s "
                              "FROM (VALUES (10), (20)) v (n) GROUP BY n) q")

    # ---- keys ----

    def test_keys_of_all_types_are_those_of_the_tool(self):
        folder = SERVER.path("types")
        os.makedirs(folder, exist_ok=True)
        for kind, keys in KEYS.items():
            values = ", ".join(f"('{value}'::{kind})" for value in keys)
            # in a zone that is not UTC, and a style that is not ISO
            text = sql(f"""SET timezone = 'Asia/Kolkata'; SET datestyle = 'German'; SET extra_float_digits = 0;
                SELECT tamis_agg(k, 1e-9) FROM (VALUES {values}) v (k)""")
            with open(os.path.join(folder, "set"), "wb") as file:
                file.write(base64.b64decode(text))
            with open(os.path.join(folder, "keys"), "w", encoding="utf-8") as file:
                file.writelines(text + "\n" for text in keys.values())
            form = ["--u64"] if kind in ("smallint", "integer", "bigint") else []
            done = subprocess.run([TOOL, "query", *form, "-v", os.path.join(folder, "set"), os.path.join(folder, "keys")],
                                  check=False, capture_output=True, text=True)
            self.assertEqual(done.stdout, "", kind)  # none that is absent
            self.assertEqual(done.stderr, "", kind)
            asked = " AND ".join(f"s @> '{value}'::{kind}" for value in keys)
            self.assertEqual(sql(f"SELECT {asked} FROM (SELECT '{text}'::tamis AS s) q"), "t", kind)

    def test_text_is_utf8_in_any_database(self):
        sql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
        latin = "\\connect latin\nSET client_encoding = 'UTF8';"
        text = sql(f"{latin} CREATE EXTENSION tamis; SELECT tamis_agg('caf\u00e9'::text, 1e-9)")
        self.assertEqual(sql(f"SELECT '{text}'::tamis @> 'caf\u00e9'::text"), "t")
        sql("DROP DATABASE latin")

    # ---- values ----

    def test_a_dump_comes_back(self):
        self.assertEqual(sql("""SET tamis.seed = '7'; CREATE TABLE dumped AS SELECT tamis_agg(i, 0.001) AS set
                FROM generate_series(1, 20000) i;
            SELECT length(set::text) <= (length(set::bytea) + 2) / 3 * 4, set::text::tamis::bytea = set::bytea,
                   set::bytea::text::tamis::bytea = set::bytea FROM dumped"""), "t|t|t")
        before = sql("SELECT md5(set::bytea) FROM dumped")
        SERVER.run("pg_dump", "-h", SERVER.folder, "-U", "postgres", "-t", "dumped", "-f", SERVER.path("dump"), "postgres")
        sql("DROP TABLE dumped")
        SERVER.run("psql", "-h", SERVER.folder, "-U", "postgres", "-Xq", "-f", SERVER.path("dump"))
        self.assertEqual(sql("SELECT md5(set::bytea) FROM dumped; DROP TABLE dumped"), before)
        for wrong in ("iVRBTUlT", "iVRB TUlTDQoK!", "", "\\x0"):
            with self.assertRaises(Failure):
                sql(f"SELECT '{wrong}'::tamis")

    def test_what_a_dump_cannot_carry_is_refused(self):
        """750 MB of set are 1000 MB of text: below the 1 GB of a row.  No such set is made here."""
        most = int(sql("SELECT bytes FROM tamis_plan(450000000, 0.001)"))
        self.assertIn(most, range(700 * 2**20, 750 * 2**20))
        self.assertLess((750 * 2**20 + 2) // 3 * 4, 2**30 - 2**24)
        self.assertIn("750 MB", self.refused("54000", "SELECT tamis_plan(500000000, 0.001)"))
        self.refused("54000", "SELECT tamis_agg('a'::text, 500000000, 0.001)")

    # ---- sets that are kept ----

    BLOCKS = r"Buffers: shared hit=(\d+)(?: read=(\d+))?"

    def blocks(self, before, question):
        text = sql(f"{before} EXPLAIN (ANALYZE, BUFFERS, COSTS off, TIMING off, SUMMARY off) {question}")
        return sum(int(n or 0) for n in re.search(self.BLOCKS, text).groups())

    def test_a_question_reads_a_set_once_in_a_session(self):
        sql("CREATE TABLE large AS SELECT 1 AS id, tamis_agg(i, 2000000, 0.001) AS set FROM generate_series(1, 200000) i")
        question = "SELECT set @> 7 FROM large;"
        self.assertGreater(self.blocks("", question), 300)
        self.assertLess(self.blocks(question, question), 20)
        self.assertLess(self.blocks(f"BEGIN; {question} COMMIT;", question), 20)
        self.assertGreater(self.blocks(f"SET tamis.cache = '1MB'; {question}", question), 300)
        self.assertEqual(sql(f"""{question} {question} SELECT set @> 0 FROM large;
            UPDATE large SET set = (SELECT tamis_agg(i, 1e-9) FROM generate_series(300000, 400000) i);
            {question} SELECT set @> 300000 FROM large; TRUNCATE large;
            INSERT INTO large SELECT 1, tamis_agg(i, 1e-9) FROM generate_series(1, 100000) i; {question}"""),
                         "t\nt\nf\nf\nt\nt")

    def test_sets_that_are_kept_have_their_bounds(self):
        for cache in ("0", "60kB", "64MB"):
            self.assertEqual(sql(f"""SET tamis.cache = '{cache}';
                CREATE TABLE several AS SELECT g, tamis_agg(g * 10000 + i, 1e-9) AS set
                    FROM generate_series(0, 7) g, generate_series(0, 4999) i GROUP BY g;
                SELECT count(*) FROM several a, several b, generate_series(0, 2) WHERE a.set @> (b.g * 10000 + 4999);
                SELECT count(*) FROM several a JOIN several b ON a.set @> (a.g * 10000 + b.g) AND b.set @> (b.g * 10000 + a.g);
                SELECT count(*) FROM several a WHERE a.set @> 4999;
                DROP TABLE several"""), "24\n64\n1")

    # ---- estimates ----

    def rows(self, query, before=""):
        return int(re.search(r"rows=(\d+)", sql(f"{before} EXPLAIN {query}")).group(1))

    def test_the_planner_knows_the_set(self):
        """30,000 of 100,000 keys, and 5 % of the others."""
        sql("""CREATE TABLE e AS SELECT i AS id FROM generate_series(1, 100000) i; ANALYZE e;
            CREATE TABLE es AS SELECT tamis_agg(i, 30000, 0.05) AS set FROM generate_series(1, 30000) i; ANALYZE es""")
        known = "'" + sql("SELECT set FROM es") + "'::tamis"
        for query in (f"SELECT * FROM e WHERE {known} @> id", f"SELECT * FROM e WHERE tamis_contains({known}, id)",
                      "SELECT * FROM e WHERE (SELECT set FROM es) @> id", "SELECT id FROM e JOIN es ON set @> id",
                      "SELECT id FROM e JOIN es ON tamis_contains(set, id)"):
            self.assertLess(abs(self.rows(query) - 33500), 700, query[-60:])
        self.assertLess(abs(self.rows(f"SELECT * FROM e WHERE NOT {known} @> id") - 66500), 700)
        small = sql("SELECT tamis_agg(i, 0.0001) FROM generate_series(1, 500) i")
        self.assertLess(abs(self.rows(f"SELECT * FROM e WHERE '{small}'::tamis @> id") - 510), 20)

    def test_examples_of_the_documentation(self):
        blocks = []
        for page in ("README.md", "docs/databases.md"):
            with open(os.path.join(HERE, "..", "..", page), encoding="utf-8") as file:
                blocks += re.findall(r"```sql\n(.*?)```", file.read(), re.DOTALL)
        blocks = [block for block in blocks if "tamis_agg" in block]
        self.assertEqual(len(blocks), 2)
        for block in blocks:
            wanted = re.findall(r"^-- => (.*)$", block, re.MULTILINE)
            answers = sql("CREATE SCHEMA example; SET search_path = example, public;\n" + block +
                          ";DROP SCHEMA example CASCADE").split("\n")
            self.assertEqual(answers, wanted)


def complaints():
    """Files that were not closed, processes that died."""
    with open(SERVER.path("log"), encoding="utf-8", errors="replace") as log:
        return [line for line in log if re.search("leak|terminated by signal|PANIC", line)]


if __name__ == "__main__":
    SERVER = Server(MODULE, PG_CONFIG)
    try:
        sql("CREATE EXTENSION tamis")
        result = unittest.main(argv=sys.argv[:1], exit=False).result
        heard = complaints()
        print(*heard, sep="", end="", file=sys.stderr)
    finally:
        SERVER.close()
    sys.exit(bool(heard) or not result.wasSuccessful())
