"""bench.py - what calls of the Python module cost, beside Python's set, C and an older module, in one run

    python3 bench.py [--keys N] [--c PROGRAM] [--older FOLDER] [--svg FILE]

PROGRAM is bench.c, compiled and linked with the library.  FOLDER has another tamis, which TAMIS_LIBRARY may tell its
library.  The times are nanoseconds per key, the best of several runs, with N keys (a million) in the set.

SPDX-License-Identifier: MIT
"""
import argparse
import array
import json
import math
import os
import subprocess
import sys
import threading
import time
import timeit

FPR = 0.001


def best(call, n, repeats=7, before=None):
    least = None
    for _ in range(repeats):
        if before:
            before()
        begin = time.perf_counter()
        call()
        took = (time.perf_counter() - begin) / n * 1e9
        least = took if least is None or took < least else least
    return least


def one(statement, names):
    """A call for one key, without the cost of the loop."""
    n = 200_000
    loop = min(timeit.repeat("pass", number=n, repeat=5))
    return (min(timeit.repeat(statement, globals=names, number=n, repeat=7)) - loop) / n * 1e9


def singles(made, words):
    names = {"f": made, "s": words[1234], "b": words[1234].encode(), "i": 1234 << 40}
    for name in ("s", "b", "i"):
        made.add(names[name])
    return {f"one {what} {op}": one(statement.format(name), names)
            for name, what in (("s", "str"), ("b", "bytes"), ("i", "int"))
            for op, statement in (("add", "f.add({})"), ("in", "{} in f"))}


def batches(tamis, n, words, only_old):
    out = {}
    numbers = [i * 0x9E3779B97F4A7C15 % 2 ** 64 for i in range(n)]
    forms = {"list of str": words, "list of bytes": [w.encode() for w in words], "list of int": numbers,
             "array('Q')": array.array("Q", numbers)}
    try:
        import numpy
    except ImportError:
        numpy = None
    if numpy:
        forms["numpy uint64"] = numpy.array(numbers, dtype="u8")
    if numpy and not only_old:
        forms["numpy int64"] = numpy.array(numbers, dtype="u8").view("i8") & (2 ** 63 - 1)
        forms["numpy uint32"] = numpy.arange(n, dtype="u4")
        forms["numpy uint64, every second"] = numpy.arange(2 * n, dtype="u8")[::2]
        forms["numpy S25"] = numpy.array(forms["list of bytes"])
        forms["numpy U25"] = numpy.array(words)
        ends = numpy.cumsum([0] + [len(w) for w in words])
        forms["offsets and data"] = tamis.Offsets(ends, "".join(words).encode())
        try:
            import pandas
            forms["pandas column of int"] = pandas.Series(forms["numpy uint64"])
            forms["pandas column of str"] = pandas.Series(words)
        except ImportError:
            pass
    for name, keys in forms.items():
        f = tamis.Filter(n, FPR, seed=1)
        out[f"{name} add"] = best(lambda: f.add_many(keys), n, 5, f.clear)
        out[f"{name} in"] = best(lambda: f.contains_many(keys), n, 5)
    return out


def python_set(n, words):
    numbers = [i * 0x9E3779B97F4A7C15 % 2 ** 64 for i in range(n)]
    blobs = [w.encode() for w in words]
    out = singles(set(words), words)
    for name, keys in (("str", words), ("bytes", blobs), ("int", numbers)):
        made = set()
        out[f"list of {name} add"] = best(lambda: made.update(keys), n, 3, made.clear)
        out[f"list of {name} in"] = best(lambda: [key in made for key in keys], n, 3)
    return out


def threads(tamis, n):
    """Keys per second of one and of two threads in a shared set."""
    out = {}
    parts = [memoryview(array.array("Q", range(i * n, (i + 1) * n))) for i in range(2)]
    for needs in ({}, {"deletes": True}):
        f = tamis.SharedFilter(2 * n, FPR, threads=2, seed=1, **needs)
        for op in ("update", "count_many"):
            def work(part, call=getattr(f, op)):
                for at in range(0, n, n // 10):
                    call(part[at:at + n // 10])

            def both():
                pair = [threading.Thread(target=work, args=(part,)) for part in parts]
                for each in pair:
                    each.start()
                for each in pair:
                    each.join()
            clear = f.clear if op == "update" else None
            alone = best(lambda: [work(part) for part in parts], 2 * n, 5, clear)
            together = best(both, 2 * n, 5, clear)
            out[f"{f.kind} {op}"] = (alone, together)
    return out


SHOWN = ("one str add", "one str in", "one int in", "list of str add", "list of str in", "list of int in",
         "numpy uint64 add", "numpy uint64 in")


def picture(path, columns):
    """Bars on a logarithmic scale, as SVG."""
    colours, height, left, scale = ("#1b6ca8", "#b0b0b0", "#d98e04", "#444444"), 14, 150, 150
    rows, y = [], 34
    for name in SHOWN:
        rows.append(f'<text x="{left - 8}" y="{y + height}" text-anchor="end">{name}</text>')
        for (_, values), colour in zip(columns, colours):
            if name in values:
                width = max(2, scale * math.log10(values[name] / 2))
                rows.append(f'<rect x="{left}" y="{y}" width="{width:.0f}" height="{height - 3}" fill="{colour}"/>'
                            f'<text x="{left + width + 4:.0f}" y="{y + height - 4}">{values[name]:.0f}</text>')
                y += height
        y += 10
    for i, (title, _) in enumerate(columns):
        rows.append(f'<rect x="{left + i * 130}" y="8" width="12" height="12" fill="{colours[i]}"/>'
                    f'<text x="{left + 16 + i * 130}" y="18">{title}</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + 560}" height="{y}" font-family="sans-serif" '
                   f'font-size="11"><rect width="100%" height="100%" fill="white"/>\n' + "\n".join(rows) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--c")
    parser.add_argument("--older")
    parser.add_argument("--svg", help="draw a picture")
    parser.add_argument("--only-old", action="store_true")
    options = parser.parse_args()
    n = options.keys
    import tamis
    words = [f"http://example.org/{i}" for i in range(n)]
    f = tamis.Filter(n, FPR, seed=1)
    f.update(words)
    mine = {**singles(f, words), **batches(tamis, n, words, options.only_old)}
    if options.only_old:
        json.dump(mine, sys.stdout)
        return
    older = {}
    if options.older:
        told = subprocess.run([sys.executable, __file__, "--only-old", "--keys", str(n)], check=True, text=True,
                              stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": options.older})
        older = json.loads(told.stdout)
    plain, c = python_set(n, words), {}
    if options.c:
        told = subprocess.run([options.c, str(n), str(FPR)], check=True, text=True, stdout=subprocess.PIPE)
        numbers = [float(x) for x in told.stdout.split()]
        c = {"numpy uint64 add": numbers[0], "numpy uint64 in": numbers[1], "array('Q') add": numbers[0],
             "array('Q') in": numbers[1], "offsets and data add": numbers[2], "offsets and data in": numbers[3]}
    print(f"Python {sys.version.split()[0]}, {n} keys, {f!r}, ns per key")
    print(f"{'':34}{'tamis':>8}{'older':>8}{'set':>8}{'C':>8}")
    for name, took in mine.items():
        others = "".join(f"{x[name]:8.1f}" if name in x else f"{'-':>8}" for x in (older, plain, c))
        print(f"{name:34}{took:8.1f}{others}")
    if options.svg:
        picture(options.svg, [("tamis", mine), ("ctypes, before", older), ("Python's set", plain), ("C", c)])
    for name, (alone, together) in threads(tamis, n * 4).items():
        print(f"shared, {name:26}{alone:8.1f} one thread{together:8.1f} two threads{alone / together:8.2f} times")


if __name__ == "__main__":
    main()
