#!/usr/bin/env python3
"""bench-bars.py RESULTS - the bars of docs/performance.md, from a file of bench/results that scripts/bench.sh wrote

The first three runs of the file are those of 1, 10 and 60 million keys.  Bars are times as multiples of the calibrator of one line,
sorted by those of a query for an absent key.

SPDX-License-Identifier: MIT
"""
import pathlib
import sys

import plot

OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "docs/figures"
RUNS = {"1m": "1 million keys, in cache", "10m": "10 million keys", "60m": "60 million keys, out of cache"}
MODES = {"single": "one key at a time", "ahead": "fetched ahead", "batch": "in batches"}
COLUMNS = {"query0": "query, absent", "query100": "query, present", "insert": "insert"}


def main():
    runs = []
    for line in pathlib.Path(sys.argv[1]).read_text().splitlines():
        if line.startswith("# tamis bench"):
            runs.append([])
        elif runs and not line.startswith("#"):
            runs[-1].append(line.split(","))
    for rows, (size, keys) in zip(runs, RUNS.items()):
        for mode, how in MODES.items():
            ratios = {}
            for row in rows:
                if row[3] == mode and row[20] == "1" and not row[0].startswith("calibrator"):
                    ratios.setdefault(row[0], {})[row[2]] = float(row[12])
            table = [(kind, [found.get(name) for name in COLUMNS]) for kind, found in ratios.items() if "query0" in found]
            plot.bars(OUTPUT / f"bench-{size}-{mode}.svg", f"{keys}, {how}", "time of a call, as a multiple of the calibrator of one line: shorter is better",
                      table, "times the calibrator", list(COLUMNS.values()))


if __name__ == "__main__":
    main()
