#!/usr/bin/env python3
"""figures.py DATA OUTPUT - the plots of docs/models.md, from the numbers of 'tamis reproduce --plot-data'

SPDX-License-Identifier: MIT
"""
import math
import pathlib
import sys

import plot

CHOICES = {"2": "#e69f00", "3": "#009e73", "4": "#0072b2"}


def errors(data, output):
    file = plot.blocks(data / "error.dat")
    chart = plot.Lines("Error rate against bits per key", "Sets without removal: computed by the models", ("bits per key", 6, 30, 4),
                       ("error rate", 1e-9, 0.1, 10))
    chart.add("bound", file["bound"], dash="3 5")
    chart.add("bloom", file["bloom"], thick=True)
    chart.add("blocked-bloom", file["blocked-bloom"])
    chart.add("balanced-bloom", file["balanced-bloom"])
    chart.add("dleft", file["dleft-128"])
    chart.add("rank", file["rank"], thick=True)
    chart.save(output / "error.svg")


def overhead(data, output):
    file = plot.blocks(data / "error.dat")
    over = lambda name: [(rate, bits + math.log2(rate)) for bits, rate in file[name]]
    chart = plot.Lines("Bits per key above the bound", "What a structure takes beyond log₂(1/error): lower is better",
                       ("error rate", 0.1, 1e-7, 0.1), ("bits per key above the bound", 0, 16, 4), log_y=False, log_x=True)
    chart.add("bloom", over("bloom"), thick=True)
    chart.add("blocked-bloom", over("blocked-bloom"))
    chart.add("balanced-bloom", over("balanced-bloom"))
    chart.add("dleft", over("dleft-128"))
    chart.add("dleft-counting", over("dleft-counting"), dash="6 4")
    chart.add("rank", over("rank"), thick=True)
    chart.save(output / "overhead.svg")


def loads(data, output):
    file = plot.blocks(data / "loads.dat")
    chart = plot.Lines("How full buckets are", "Mean load 6. Solid: keys are only inserted. Dashed: removed and replaced, for ever.",
                       ("load of a bucket", 0, 16, 2), ("fraction of buckets", 1e-12, 1, 100))
    chart.add("one choice", file["poisson"], colour=plot.GREY)
    for choices, colour in CHOICES.items():
        if choices != "3":
            chart.add(f"{choices} choices, replaced", file[f"{choices}-left steady"], colour=colour, dash="6 4")
        chart.add(f"{choices} choices", file[f"{choices}-left inserted"], colour=colour, thick=True)
    chart.save(output / "loads.svg")


def regions(data, output):
    file = plot.blocks(data / "regions.dat")
    chart = plot.Lines("Where a balancing scheme is optimal: above its curve", "Load 8. Solid: MHT. Dashed: SEQUENTIAL.",
                       ("accesses per insert", 1, 1.6, 0.1), ("keys in the overflow list", 1e-6, 1, 10))
    for choices, colour in CHOICES.items():
        chart.add(f"SEQUENTIAL, {choices}", file[f"sequential {choices}"], colour=colour, dash="6 4")
        chart.add(f"MHT, {choices}", file[f"mht {choices}"], colour=colour, thick=True)
    chart.save(output / "regions.svg")


if __name__ == "__main__":
    for draw in (errors, overhead, loads, regions):
        draw(*(pathlib.Path(arg) for arg in sys.argv[1:]))
