#!/bin/sh
# space.sh TAMIS [N] - bits per key that the kinds need for the same error rate, as a table
#
# TAMIS is the command line tool, N the number of keys (default 1000000).  The last column is what a rank
# filter takes in its compact form, with N keys in.
# SPDX-License-Identifier: MIT
set -eu
tamis=$1 n=${2:-1000000}
kinds="bloom counting-bloom dleft dleft-counting rank rank-counting"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seq 1 "$n" >"$work/keys"

printf '| error rate | bound |'
for kind in $kinds; do printf ' %s |' "$kind"; done
printf ' rank, compact |\n|---|---|'
for kind in $kinds; do printf '%s' '---|'; done
printf '%s\n' '---|'
field() { sed -n "s/.*\"$1\": *\([0-9.e+-]*\).*/\1/p" | head -n 1; }
for p in 0.01 0.001 0.0001; do
    bound=$("$tamis" plan -n "$n" -p "$p" --kind bloom --json | field bound_bits_per_key)
    printf '| %s | %.2f |' "$p" "$bound"
    for kind in $kinds; do
        bits=$("$tamis" plan -n "$n" -p "$p" --kind "$kind" --json | field bits_per_key)
        printf ' %.2f |' "$bits"
    done
    "$tamis" build -n "$n" -p "$p" --compact --seed 1 -o "$work/set" "$work/keys"
    wc -c <"$work/set" | awk -v n="$n" '{ printf " %.2f |\n", 8 * $1 / n }'
done
