#!/usr/bin/env python3
"""figure-errors.py TAMIS [--measure] - the picture of README.md: errors against bits per key

Lines are what plans promise for a million keys in so many bits; dots are measured: a set is built and asked four million
keys that are not in it.  --measure measures anew and writes bench/results/errors.csv; its rows of other libraries stay.

SPDX-License-Identifier: MIT
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import plot

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEASURED = ROOT / "bench/results/errors.csv"
KINDS = ["line", "steady", "bloom", "blocked-bloom"]
N, ABSENT = 1000000, 4000000


def run(*words):
    return subprocess.run([str(word) for word in words], check=False, capture_output=True, text=True).stdout


def promised(tool, kind):
    points = []
    for bits in range(6, 21):
        made = run(tool, "plan", "-n", N, "--bytes", bits * N // 8, "--kind", kind, "--json")
        if made:
            plan = json.loads(made)
            points.append((plan["bits_per_key"], plan["fpr"]))
    return points


def measure(tool):
    rows = []
    with tempfile.TemporaryDirectory() as work:
        keys, absent, made = (f"{work}/{name}" for name in ("keys", "absent", "set.tamis"))
        pathlib.Path(keys).write_text("".join(f"{i}\n" for i in range(N)))
        pathlib.Path(absent).write_text("".join(f"{N + i}\n" for i in range(ABSENT)))
        for kind in KINDS:
            for bits in range(8, 20, 2):
                run(tool, "build", "--u64", "-n", N, "--bytes", bits * N // 8, "--kind", kind, "--seed", 1, "-o", made, keys)
                info = json.loads(run(tool, "info", made, "--json"))
                wrong = int(run(tool, "query", "--u64", "-c", made, absent))
                rows.append(f"{kind},{8 * info['bytes'] / N:.3f},{wrong / ABSENT:.4g}")
                pathlib.Path(made).unlink()
    return rows


def main():
    tool = sys.argv[1]
    lines = MEASURED.read_text().splitlines()
    if "--measure" in sys.argv:
        others = [line for line in lines if line.startswith(("#", "kind,")) or line.split(",")[0] not in KINDS]
        lines = others + measure(tool)
        MEASURED.write_text("\n".join(lines) + "\n")
    dots = {}
    for line in lines:
        if not line.startswith(("#", "kind,")):
            kind, bits, rate = line.split(",")
            dots.setdefault(kind, []).append((float(bits), float(rate)))
    chart = plot.Lines("Fewer errors from the same memory",
                       "Error rate of a set of a million keys. Lines: promised before it is built. Dots: measured (cuckoo: two million).",
                       ("bits per key", 6, 18, 2), ("error rate", 1e-5, 0.1, 10))
    chart.add("bound", [(bits / 4, 2 ** (-bits / 4)) for bits in range(24, 80)], dash="3 5")
    for kind in reversed(KINDS):
        chart.add(kind, promised(tool, kind), thick=kind in ("line", "steady"), dots=dots.get(kind, ()))
    chart.add("cuckoo", dots["cuckoo"], dots=dots["cuckoo"])
    chart.save(ROOT / "docs/figures/errors.svg")


if __name__ == "__main__":
    main()
