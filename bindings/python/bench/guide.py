"""guide.py - the jobs of docs/python.md, measured

    python3 guide.py [--lines N] [--rows N]

SPDX-License-Identifier: MIT
"""
import argparse
import itertools
import os
import sqlite3
import subprocess
import sys
import tempfile
import time

import tamis


def dedupe(n):
    """N lines, half of which come again: the program of the guide, and a set of Python's for a tenth of them."""
    for what, lines in (("tamis", n), ("set", n // 10)):
        command = f"seq -f http://example.org/page/%.0f 1 {lines // 2}; seq -f http://example.org/page/%.0f 1 {lines // 2}"
        kept = 0
        seen = tamis.Filter(lines // 2, 0.001, seed=1) if what == "tamis" else set()
        begin = time.perf_counter()
        with subprocess.Popen(["sh", "-c", command], stdout=subprocess.PIPE, bufsize=1 << 20) as source, \
                open(os.devnull, "wb") as out:
            while True:
                some = list(itertools.islice(source.stdout, 100_000))
                if not some:
                    break
                if what == "tamis":
                    new = seen.add_many(some)
                    kept += sum(new)
                    out.writelines(itertools.compress(some, new))
                else:
                    for line in some:
                        if line not in seen:
                            seen.add(line)
                            out.write(line)
                    kept = len(seen)
        took = time.perf_counter() - begin
        size = sys.getsizeof(seen) + (sum(map(sys.getsizeof, seen)) if what == "set" else 0)
        print(f"dedupe, {what:6}{lines:11} lines {took:6.1f} s, {took / lines * 1e9:5.0f} ns per line, "
              f"{size / 1e6:7.0f} MB, kept {kept}, {1 - kept / (lines // 2):.4%} too few", flush=True)
        del seen


def lookups(rows):
    """A question in ten has an answer in the data base."""
    with tempfile.TemporaryDirectory() as folder:
        base = sqlite3.connect(os.path.join(folder, "base"))
        base.execute("create table prices (name text primary key, price integer) without rowid")
        base.executemany("insert into prices values (?, ?)", ((f"item {i}", i) for i in range(rows)))
        base.commit()
        known = tamis.Filter(rows, 0.01, seed=1)
        known.update(f"item {i}" for i in range(rows))
        names = [f"item {i * 7919 % (10 * rows)}" for i in range(rows)]
        ask = base.cursor()

        def price(name):
            return ask.execute("select price from prices where name = ?", (name,)).fetchone()
        begin = time.perf_counter()
        plain = sum(price(name) is not None for name in names)
        first = time.perf_counter()
        quick = sum(name in known and price(name) is not None for name in names)
        end = time.perf_counter()
        assert plain == quick
        print(f"lookups in SQLite, {rows}, {plain / rows:.0%} there: {(first - begin) / rows * 1e6:.2f} us each, "
              f"with a filter before {(end - first) / rows * 1e6:.2f} us: {(first - begin) / (end - first):.1f} times")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", type=int, default=100_000_000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    lookups(options.rows)
    dedupe(options.lines)


if __name__ == "__main__":
    main()
