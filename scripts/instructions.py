#!/usr/bin/env python3
"""instructions.py TABLE NOW - compare counted instructions with those of a committed table

TABLE has kind, rate, op, mode, before, after: what the operation took before the boundary between structures
and engines was redrawn (with the hash XXH3), and what it takes now (AES; callgrind knows no VAES).  NOW is the
output of instructions.sh.  Rows that differ from 'after' by more than 1 % are printed; the exit code is 1 if one
takes over 2 % more.

With --write TABLE BEFORE NOW the table is made.

SPDX-License-Identifier: MIT
"""
import csv
import sys


def read(path):
    with open(path, newline="") as file:
        return {tuple(row[:4]): row[4:] for row in list(csv.reader(file))[1:]}


def write(table, before, now):
    old, new = read(before), read(now)
    with open(table, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["kind", "rate", "op", "mode", "before", "after"])
        for key, value in new.items():
            out.writerow([*key, old.get(key, ["-"])[0], value[0]])


def compare(table, now):
    worst, bad = 0.0, False
    new = read(now)
    for key, (_, after) in read(table).items():
        if key not in new:
            sys.exit(f"instructions.py: no row {','.join(key)} was counted")
        ratio = float(new[key][0]) / float(after)
        worst = max(worst, ratio)
        bad = bad or ratio > 1.02
        if abs(ratio - 1) > 0.01:
            print(f"{' '.join(key):44} {after:>8} -> {new[key][0]:>8}  {ratio:.3f}")
    print(f"{len(new)} operations; the worst takes {worst:.3f} times the instructions of the table")
    return 1 if bad else 0


def main():
    if len(sys.argv) == 5 and sys.argv[1] == "--write":
        write(*sys.argv[2:])
    elif len(sys.argv) == 3:
        sys.exit(compare(*sys.argv[1:]))
    else:
        sys.exit("usage: instructions.py TABLE NOW | --write TABLE BEFORE NOW")


if __name__ == "__main__":
    main()
