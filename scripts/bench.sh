#!/bin/sh
# bench.sh TAMIS - measure everything, keep the figures, draw the plots
#
# Writes bench/results/<cpu>-<compiler>.csv, with the command lines as comments, and, where gnuplot is
# there, docs/figures/bench-*.svg.  Takes less than a quarter of an hour; ROUNDS=3 makes it short, KINDS=a,b
# leaves kinds out.  An idle machine gives better figures, but the ratios hold on a busy one too.
set -eu
tamis=${1:?usage: bench.sh TAMIS}
case $tamis in /*) ;; *) tamis=$PWD/$tamis ;; esac
cd "$(dirname "$0")/.."
rounds=${ROUNDS:-9}
kinds=${KINDS:-}
# Further runs with the kinds that read one line, and the standard.
few=${KINDS:-bloom,blocked-bloom,rank,line,line-set}
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

# For the plots: one line per kind, one column per operation, times the calibrator of one line.
# table N_RUN MODE
table() {
    awk -F , -v run="$1" -v mode="$2" '
        /^#/ { n++; next }
        n == run && $4 == mode && $21 == 1 && $1 !~ /^calibrator/ {
            if (!($1 in seen)) { seen[$1] = 1; order[++kinds] = $1 }
            ratio[$1, $3] = $13
        }
        END {
            print "kind insert query0 query50 query100"
            for (i = 1; i <= kinds; i++) {
                k = order[i]
                print k, ratio[k, "insert"], ratio[k, "query0"], ratio[k, "query50"], ratio[k, "query100"]
            }
        }' "$work/rows"
}

if ! command -v gnuplot >/dev/null 2>&1; then
    echo "no gnuplot: no plots" >&2
    exit 0
fi
for plot in "1 1m" "2 10m" "3 60m"; do
    number=${plot% *} name=${plot#* }
    for mode in single ahead batch; do
        table "$number" "$mode" >"$work/$name-$mode"
        gnuplot -e "data='$work/$name-$mode'; image='docs/figures/bench-$name-$mode.svg'" \
            -e "heading='$name, $mode'" scripts/bench.gp
    done
done

# Error rate against bits per key, all kinds: one block per kind, predicted and measured; from run 7 on.
awk -F , '
    /^#/ { n++; next }
    n >= 7 && $3 == "query0" && $17 != "" && !(($1, n) in seen) {
        seen[$1, n] = 1
        if (!($1 in rows)) order[++kinds] = $1
        rows[$1] = rows[$1] $16 " " $18 " " ($17 > 0 ? $17 : "nan") "\n"
    }
    END { for (i = 1; i <= kinds; i++) printf "\"%s\"\n%s\n\n", order[i], rows[order[i]] }' \
    "$work/rows" >"$work/error"
gnuplot -e "data='$work/error'; image='docs/figures/bench-error.svg'" \
    -e "kinds=$(grep -c '^"' "$work/error")" scripts/bench-error.gp
echo "drew docs/figures/bench-*.svg" >&2
