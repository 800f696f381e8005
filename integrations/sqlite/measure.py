"""What the extension costs per row and per statement.  measure.py MODULE [ROWS]

One database in memory, one run: a pass over ROWS integers with a constant, one that asks a set by name, one
that asks a blob; a join with and without the set before it.  Medians of three repetitions in turns.

SPDX-License-Identifier: MIT
"""
import os
import sqlite3
import statistics
import sys
import tempfile
import time

ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension(os.path.splitext(sys.argv[1])[0])
db.execute("CREATE TABLE t AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < "
           f"{ROWS}) SELECT i * 7919 % 100000007 AS id FROM r")
db.execute("CREATE TABLE d (id INTEGER PRIMARY KEY, note TEXT)")
db.execute("INSERT INTO d SELECT id, 'note ' || id FROM t WHERE rowid % 1000 = 0")
db.execute("CREATE TABLE s AS SELECT tamis_build(id, 0.001) AS ids FROM d")
db.execute("SELECT tamis_open('ids', ids) FROM s").fetchall()
blob = db.execute("SELECT ids FROM s").fetchone()[0]
join = "SELECT count(d.note) FROM t JOIN d ON d.id = t.id"
CASES = {
    "constant": "SELECT count(*) FROM t WHERE id <> 7",
    "set by name": "SELECT count(*) FROM t WHERE tamis_has('ids', id)",
    "set as a bound blob": "SELECT count(*) FROM t WHERE tamis_contains(:ids, id)",
    "join": join,
    "join after the set": join + " WHERE tamis_has('ids', t.id)",
    "tamis_build(id, p, n)": f"SELECT length(tamis_build(id, 0.001, {ROWS})) FROM t",
    "tamis_build(id, p)": "SELECT length(tamis_build(id, 0.001)) FROM t",
}
times = {name: [] for name in CASES}
answers = {}
for _ in range(3):
    for name, text in CASES.items():
        begin = time.perf_counter()
        answers[name] = db.execute(text, {"ids": blob}).fetchone()[0]
        times[name].append(time.perf_counter() - begin)
assert answers["join"] == answers["join after the set"]
for name, list_ in times.items():
    print(f"{name:24} {statistics.median(list_):7.3f} s  {statistics.median(list_) / ROWS * 1e9:7.1f} ns per row")
more = statistics.median(times["set by name"]) - statistics.median(times["constant"])
print(f"tamis_has costs {more / ROWS * 1e9:.1f} ns per row more than a constant")

with tempfile.TemporaryDirectory() as folder:
    db = sqlite3.connect(os.path.join(folder, "db"), isolation_level=None)
    db.enable_load_extension(True)
    db.load_extension(os.path.splitext(sys.argv[1])[0])
    db.execute("CREATE TABLE s (id INTEGER PRIMARY KEY, ids BLOB)")
    db.execute("INSERT INTO s SELECT 1, tamis_build(i, 0.001) FROM (WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r "
               "WHERE i < 2000000) SELECT i FROM r)")
    column = "SELECT tamis_contains(ids, ?) FROM s"
    for name, keep, cache, text in (
            ("a row without the set", 0, 2000, "SELECT id + ? FROM s"),
            ("SQLite reads the set", 0, 2000, "SELECT ? + length(substr(ids, 1, 1)) FROM s"),
            ("tamis_contains(column, key), not kept", 0, 2000, column),
            ("the same, kept", 64 << 20, 2000, column),
            ("kept, and a page cache of 16 MB", 64 << 20, 16000, column),
            ("tamis_contains(table, column, rowid, key)", 64 << 20, 2000, "SELECT tamis_contains('s', 'ids', 1, ?)")):
        db.execute("SELECT tamis_keep(?)", (keep,)).fetchall()
        db.execute(f"PRAGMA cache_size = -{cache}")
        each = []
        for i in range(300):
            begin = time.perf_counter()
            db.execute(text, (i + 1,)).fetchall()
            each.append(time.perf_counter() - begin)
        print(f"{name:42} {statistics.median(each) * 1e6:9.1f} us per statement")
