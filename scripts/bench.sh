#!/bin/sh
# bench.sh TAMIS - measure everything, keep the figures, draw the plots
#
# Writes bench/results/<cpu>-<compiler>.csv, with the command lines as comments, and draws
# docs/figures/bench-*.svg.  Takes less than a quarter of an hour; ROUNDS=3 makes it short, KINDS=a,b
# leaves kinds out.  An idle machine gives better figures, but the ratios hold on a busy one too.
set -eu
tamis=${1:?usage: bench.sh TAMIS}
case $tamis in /*) ;; *) tamis=$PWD/$tamis ;; esac
cd "$(dirname "$0")/.."
rounds=${ROUNDS:-9}
kinds=${KINDS:-}
# Further runs with the kinds that read one line, and the standard.
few=${KINDS:-bloom,blocked-bloom,rank,line,line/set}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The name of the processor, as part of a file name.
cpu() {
    { sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | sed 1q | grep . || uname -m; } |
        tr '[:upper:]' '[:lower:]' | sed -e 's/(r)\|(tm)\|cpu\|processor//g' -e 's/@.*//' \
            -e 's/[^a-z0-9]\{1,\}/-/g' -e 's/^-//' -e 's/-$//'
}

# measure KINDS OPTIONS: one run, appended to the rows of the others.
measure() {
    only=$1
    shift
    echo "tamis bench $*${only:+ --kind $only}" >&2
    "$tamis" bench "$@" --rounds "$rounds" ${only:+--kind "$only"} --csv >"$work/run"
    [ -s "$work/rows" ] || sed 1q "$work/run" >"$work/rows"
    echo "# tamis bench $* --rounds $rounds${only:+ --kind $only} --csv" >>"$work/rows"
    sed 1d "$work/run" >>"$work/rows"
}

measure "$kinds" -n 1M
measure "$kinds" -n 10M
measure "$kinds" -n 60M
measure "$few" -n 60M --keys digest
measure "$few" -n 60M --huge off
measure "$few" -n 60M --threads 2
# Error rates: small tables, many queries.
sizes="8 10 12 14 16 20 24"
full=$rounds
rounds=3
for bits in $sizes; do
    measure "$kinds" -n 200k --bits "$bits"
done
rounds=$full
# What reads cost among so many instructions.
measure calibrator-1+50,calibrator-1+100,calibrator-1+150,calibrator-1+200 -n 60M

compiler=$(sed -n 3p "$work/rows" | cut -d , -f 20)
results=bench/results/$(cpu)-$compiler.csv
mkdir -p bench/results docs/figures
{
    echo "# $(uname -sm), $(grep -c ^processor /proc/cpuinfo 2>/dev/null || echo '?') processors, $(cpu)," \
        "$compiler; load $(cut -d ' ' -f 1-3 /proc/loadavg 2>/dev/null || echo unknown)"
    cat "$work/rows"
} >"$results"
echo "wrote $results" >&2

python3 scripts/bench-bars.py "$results"
echo "drew docs/figures/bench-*.svg" >&2
