#!/usr/bin/env python3
"""figures-balanced.py TAMIS - the plots of docs/balanced-bloom.md, into docs/figures

Theory and measurement both come from 'tamis reproduce --full bal.': lines are computed, dots measured.

SPDX-License-Identifier: MIT
"""
import pathlib
import subprocess
import sys

import plot

OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "docs/figures"
BALANCED = plot.COLOURS["balanced-bloom"]


def reproduced(tool):
    """The figures by their names: (computed, simulated or None)."""
    made = subprocess.run([tool, "reproduce", "--full", "bal."], check=False, capture_output=True, text=True)
    if made.returncode not in (0, 1):  # 1: a figure differs from its paper; it is drawn as it is
        sys.exit(made.stderr)
    out = {}
    for line in made.stdout.splitlines():
        words = line.split()
        if len(words) >= 6 and words[0].startswith("bal."):
            out[words[0]] = [float(word) if word != "-" else None for word in (words[2], words[4])]
    return out


def series(figures, prefix):
    """Points of the figures prefix<number>: computed ones, and those that were simulated."""
    rows = sorted((int(name[len(prefix):]), *values) for name, values in figures.items()
                  if name.startswith(prefix) and name[len(prefix):].isdigit())
    if not rows:
        sys.exit(f"figures-balanced.py: no figures {prefix}*")
    return [(x, y) for x, y, _ in rows], [(x, y) for x, _, y in rows if y is not None]


def regions(figures):
    chart = plot.Lines("Keys that find no block, against blocks read", "8 keys per block, 3 choices (Figure 3 a). Lines: theory. Dots: measured.",
                       ("blocks read per insert", 1, 1.4, 0.1), ("keys in the overflow list", 1e-5, 1, 10))
    for name, scheme, more in (("SEQUENTIAL", "sequential", {"dash": "6 4"}), ("MHT", "mht", {"thick": True})):
        line, dots = series(figures, f"bal.f3a.{scheme}.a")
        looks = dict(series(figures, f"bal.accesses.{scheme}.a")[1])  # what was read, beside what was aimed at
        chart.add(name, [(x / 100, y) for x, y in line], colour=BALANCED, dots=[(looks[x], y) for x, y in dots if x in looks], **more)
    chart.save(OUTPUT / "balanced-regions.svg")


def loads(figures):
    line, dots = series(figures, "bal.f3b.sequential.r")
    chart = plot.Lines("Keys that find no block, against the size of blocks", "1.2 blocks read per insert, 3 choices (Figure 3 b). Lines: theory. Dots: measured.",
                       ("keys per block", 0, 32, 4), ("keys in the overflow list", 0, 0.06, 0.01), log_y=False)
    chart.add("SEQUENTIAL", line, colour=BALANCED, dash="6 4", dots=dots)
    left = ((1.8 ** 0.5 - 1) / 2) ** 3  # Theorem 5: p + p^2 = 0.2, and p^3 is left, whatever the load
    chart.add("MHT", [(1, left), (32, left)], colour=BALANCED, thick=True)
    chart.save(OUTPUT / "balanced-loads.svg")


def errors(figures):
    chart = plot.Lines("Error rate against bits per key", "Blocks of 256 bits, 1.2 blocks read per insert (Figure 4). Lines: theory. Dots: measured.",
                       ("bits per key", 8, 40, 4), ("error rate", 1e-9, 0.1, 10))
    for name, prefix, more in (("blocked-bloom", "blocked.counted.info", {}), ("SINGLE", "single.exact.info", {"colour": BALANCED, "dash": "6 4"}),
                               ("MHT", "mht.keyed.info", {"colour": BALANCED, "thick": True}), ("bloom", "standard.info", {})):
        line, dots = series(figures, f"bal.f4.{prefix}.b")
        chart.add(name, line, dots=dots, **more)
    chart.add("MHT, the paper's", series(figures, "bal.f4.mht.b")[0], colour=plot.GREY, dash="2 4")
    chart.save(OUTPUT / "balanced-error.svg")


def reads(figures):
    chart = plot.Lines("Blocks read while a filter fills", "MHT, 3 choices, 16 bits per key, blocks of 256 bits. Lines: theory. Dots: measured.",
                       ("keys in, percent of the capacity", 20, 100, 10), ("blocks read", 1, 2.4, 0.2), log_y=False)
    line, dots = series(figures, "bal.filling.query.n")
    chart.add("by an absent key", line, colour=BALANCED, thick=True, dots=dots)
    line, dots = series(figures, "bal.filling.insert.n")
    chart.add("by an insert so far", line, colour=BALANCED, dash="6 4", dots=dots)
    chart.save(OUTPUT / "balanced-reads.svg")


if __name__ == "__main__":
    found = reproduced(sys.argv[1])
    for draw in (regions, loads, errors, reads):
        draw(found)
