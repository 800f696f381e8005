"""The extension in a real server.  test_postgresql.py MODULE TOOL PG_CONFIG

SPDX-License-Identifier: MIT
"""
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
        self.refused("22023", "SELECT tamis_merge(tamis_agg(1::bigint, 1000, 0.1), tamis_agg(1::bigint, 99, 0.1))")

    def test_plan_and_info(self):
        kind, size, bits, rate, lines = sql("SELECT (p).* FROM (SELECT tamis_plan(1000000, 0.001) AS p) q").split("|")
        self.assertLessEqual(float(rate), 0.001)
        self.assertAlmostEqual(float(bits), int(size) * 8 / 1e6, places=6)
        self.assertGreaterEqual(float(lines), 1)
        row = sql("""SELECT (i).kind, (i).capacity, (i).count, (i).keys, (i).hash, (i).bytes = (p).bytes
            FROM (SELECT tamis_info(tamis_agg(x, 1000000, 0.001)) AS i, tamis_plan(1000000, 0.001) AS p
                  FROM generate_series(1, 5) x) q""")
        self.assertEqual(row, f"{kind}|1000000|5|integers|aes|t")

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
            file.write(bytes.fromhex(text[2:]))
        done = subprocess.run([TOOL, "query", "-c", os.path.join(folder, "back"), os.path.join(folder, "keys")],
                              check=True, capture_output=True, text=True)
        self.assertIn(int(re.findall(r"\d+", done.stdout)[0]), range(100, 103))

    def test_damaged_values_are_refused(self):
        chance = random.Random(SEED)
        print(f"# seed {SEED}", file=sys.stderr)
        good = bytes.fromhex(sql("SELECT tamis_agg(i::text, 50, 0.01) FROM generate_series(1, 50) i")[2:])
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


if __name__ == "__main__":
    SERVER = Server(MODULE, PG_CONFIG)
    try:
        sql("CREATE EXTENSION tamis")
        result = unittest.main(argv=sys.argv[:1], exit=False).result
    finally:
        SERVER.close()
    sys.exit(not result.wasSuccessful())
