"""What the extension costs per row.  measure.py MODULE TOOL PG_CONFIG [ROWS]

One server, one run: a pass over ROWS integers that does nothing with them, one that compares them with a
constant, and one that asks a set; the aggregate alone and with two workers, of many keys and of few; a join with
and without the set before it; the index 'bloom' of PostgreSQL on what it is for; and statements that ask one
question of a set of 3.2 MB, by pgbench beside others.  Medians of five repetitions in turns.

SPDX-License-Identifier: MIT
"""
import os
import re
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "tests"))
from support import Server  # noqa: E402

ROWS = int(sys.argv[4]) if len(sys.argv) > 4 else 10_000_000
ROUNDS = 5


def seconds(server, before, statement):
    """The time that the server itself tells, of a statement whose rows are not sent."""
    text = server.sql(before + "; EXPLAIN (ANALYZE, TIMING off, COSTS off) " + statement)
    return float(text.rsplit("Execution Time: ", 1)[1].split(" ")[0]) / 1000


def medians(server, cases):
    times = {name: [] for name in cases}
    for _ in range(ROUNDS):
        for name, (before, statement) in cases.items():
            times[name].append(seconds(server, before, statement))
    return {name: statistics.median(list_) for name, list_ in times.items()}


def statements(server):
    """Microseconds per statement, the least of five runs that take turns: chance only adds."""
    server.sql("CREATE TABLE one AS SELECT tamis_agg(i, 2000000, 0.001) AS set FROM generate_series(1, 200000) i")
    asked = {"SELECT 1": "SELECT 1", "its row": "SELECT pg_column_size(set) FROM one", "its question": "SELECT set @> :key::bigint FROM one"}
    least = {}
    for _ in range(ROUNDS):
        for mode in ("simple", "prepared"):
            for name, statement in asked.items():
                with open(server.path("statement"), "w", encoding="utf-8") as file:
                    file.write(f"\\set key random(1, 400000)\n{statement};\n")
                os.chmod(server.path("statement"), 0o644)
                words = server.command("pgbench", "-n", "-h", server.folder, "-U", "postgres", "-M", mode, "-T", "1",
                                       "-f", server.path("statement"), "postgres")
                text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
                took = float(re.search(r"latency average = ([0-9.]+) ms", text).group(1)) * 1000
                least[mode, name] = min(took, least.get((mode, name), took))
    for (mode, name), took in least.items():
        print(f"{mode:10} {name:15} {took:8.0f} us")


def main():
    server = Server(sys.argv[1], sys.argv[3], "shared_buffers=2GB", "work_mem=1GB", "max_wal_size=8GB", "jit=off")
    alone, workers = "SET max_parallel_workers_per_gather = 0", "SET max_parallel_workers_per_gather = 2"
    try:
        server.sql(f"""CREATE EXTENSION tamis; CREATE EXTENSION bloom;
            CREATE TABLE t AS SELECT i::bigint AS id, ((i * 7919::bigint) % 1000003)::int AS k, i % 1000 AS a, i % 997 AS b
                FROM generate_series(1, {ROWS}) i;
            CREATE TABLE d AS SELECT i * 1000::bigint AS id, md5(i::text) AS note FROM generate_series(1, {ROWS // 1000}) i;
            CREATE TABLE s AS SELECT tamis_agg(id, {ROWS // 1000}, 0.001) AS set FROM d;
            ANALYZE; VACUUM t""")
        one_set = "(SELECT set FROM s)"
        join = "SELECT count(d.note) FROM t JOIN d USING (id)"
        took = medians(server, {
            "pass": (alone, "SELECT count(*) FROM t"),
            "constant": (alone, "SELECT count(*) FROM t WHERE id <> 7"),
            "set": (alone, f"SELECT count(*) FROM t WHERE {one_set} @> id"),
            "aggregate, alone": (alone, f"SELECT tamis_agg(id, {ROWS}, 0.01) FROM t"),
            "aggregate, 2 workers": (workers, f"SELECT tamis_agg(id, {ROWS}, 0.01) FROM t"),
            "aggregate of 1000 keys": (alone, "SELECT tamis_agg(a, 0.01) FROM t"),
            "hash join": (alone, join),
            "hash join after the set": (alone, join + f" WHERE {one_set} @> t.id"),
        })
        for name, time in took.items():
            print(f"{name:26} {time:8.3f} s  {time / ROWS * 1e9:7.1f} ns per row")
        print(f"the set costs {(took['set'] - took['constant']) / ROWS * 1e9:.1f} ns per row more than a constant")
        server.sql("CREATE INDEX ON t USING bloom (a, b, k) WITH (length = 80)")
        index = medians(server, {
            "columns, pass": (alone + "; SET enable_bitmapscan = off", "SELECT count(*) FROM t WHERE a = 5 AND k = 77"),
            "columns, bloom index": (alone, "SELECT count(*) FROM t WHERE a = 5 AND k = 77")})
        for name, time in index.items():
            print(f"{name:26} {time:8.3f} s")
        print(server.sql("SELECT 'bytes: set ' || pg_column_size(set) || ', index ' || pg_relation_size('t_a_b_k_idx') FROM s"))
        statements(server)
    finally:
        server.close()


main()
