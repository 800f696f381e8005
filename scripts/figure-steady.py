#!/usr/bin/env python3
"""figure-steady.py CURVE PLANNED - docs/figures/steady-curve.svg, from the file that TAMIS_TEST_CURVE names

    TAMIS_TEST_ONLY='*curve*' TAMIS_TEST_CURVE=curve.txt build/dev/tests/model_filter_steady
    scripts/figure-steady.py curve.txt 0.0099992

PLANNED is the rate that the test prints.

SPDX-License-Identifier: MIT
"""
import pathlib
import sys

import plot

OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "docs/figures/steady-curve.svg"


def main():
    curve, planned = sys.argv[1], float(sys.argv[2])
    rows = [line.split() for line in pathlib.Path(curve).read_text().splitlines()]
    points = [(int(row[0]) / 1e6, 100 * float(row[2])) for row in rows]
    end = points[-1][0]
    chart = plot.Lines("The error rate over 10⁹ operations", "steady, 100,000 keys, fast form, at 90 to 100 % of its capacity. As if it were full.",
                       ("million operations", 0, end, end / 10), ("error rate, %", 0.96, 1.04, 0.01), log_y=False)
    chart.add("2 % more", [(0, 102 * planned), (end, 102 * planned)], dash="6 4")
    chart.add("2 % less", [(0, 98 * planned), (end, 98 * planned)], dash="6 4")
    chart.add("planned", [(0, 100 * planned), (end, 100 * planned)], colour=plot.COLOURS["bound"])
    chart.add("measured", points, colour=plot.COLOURS["steady"])
    chart.save(OUTPUT)


main()
