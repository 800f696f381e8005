#!/bin/sh
# instructions.sh LIBRARY [CC] - instructions per operation, as CSV: kind,rate,op,mode,instructions
#
# LIBRARY is a libtamis.a of a release build.  callgrind counts what the machine executes, so that the numbers
# are the same in every run; the processor's own extensions decide which kernels are chosen.
set -eu
library=$1
cc=${2:-${CC:-cc}}
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cc" -std=c11 -O2 -I "$here/include" -o "$work/instructions" "$here/bench/instructions/instructions.c" \
    "$library" -lm

count() { # KIND RATE OP MODE
    valgrind --tool=callgrind --toggle-collect=measured_calls --callgrind-out-file=/dev/null \
        "$work/instructions" "$@" >"$work/n" 2>"$work/log" || {
        [ -s "$work/n" ] || [ "$3" = remove ] || { cat "$work/log" >&2; return 1; }
        return 0
    }
    awk -v n="$(cat "$work/n")" -v row="$1,$2,$3,$4" \
        '/Collected/ { printf "%s,%.1f\n", row, $NF / n }' "$work/log"
}

echo kind,rate,op,mode,instructions
for kind in $("$work/instructions"); do
    for rate in 0.01 0.001; do
        for op in insert absent present remove; do
            for mode in single batch; do
                count "$kind" "$rate" "$op" "$mode"
            done
        done
    done
done
