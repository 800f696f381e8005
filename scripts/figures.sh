#!/bin/sh
# figures.sh TAMIS_BINARY - draw the plots of docs/models.md into docs/figures
#
# The numbers come from the models, by 'tamis reproduce --plot-data'; gnuplot only draws them.
# SPDX-License-Identifier: MIT
set -eu
export LC_ALL=C

[ $# -eq 1 ] || { echo "usage: figures.sh TAMIS_BINARY" >&2; exit 2; }
out=$(cd "$(dirname "$0")/.." && pwd)/docs/figures
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
trap 'exit 130' HUP INT TERM

"$1" reproduce --plot-data "$data"
mkdir -p "$out"

# draw NAME: gnuplot commands from stdin, after the common ones.
draw() {
    {
        cat <<'PLOT'
set terminal svg size 1000,540 dynamic font "sans-serif,14" background "#ffffff"
set grid lc rgb "#dddddd"
set border lc rgb "#444444"
set key outside right top Left reverse spacing 1.2
set style data lines
# Okabe and Ito's colours, which everybody can tell apart.
black = "#000000"; orange = "#e69f00"; sky = "#56b4e9"; green = "#009e73"
blue = "#0072b2"; red = "#d55e00"; pink = "#cc79a7"; grey = "#999999"
PLOT
        echo "data = '$data'"
        echo "set output '$out/$1.svg'"
        cat
    } | gnuplot
}

draw error <<'PLOT'
set title "Error rate against bits per key"
set xlabel "bits per key"
set ylabel "error rate"
set logscale y
set format y "10^{%T}"
set xrange [6:32]
set yrange [1e-9:0.2]
file = data."/error.dat"
plot file index "bound" lw 2 dt 3 lc rgb grey title "bound: log_2(1/error) bits", \
     file index "bloom" lw 2 lc rgb black title "bloom", \
     file index "blocked-bloom" lw 2 lc rgb sky title "blocked-bloom, 512 bits", \
     file index "balanced-bloom" lw 2 lc rgb orange title "balanced-bloom, MHT", \
     file index "dleft-64" lw 2 lc rgb green title "dleft, 64-bit buckets", \
     file index "dleft-128" lw 2 lc rgb blue title "dleft, 128-bit buckets", \
     file index "rank" lw 2 lc rgb red title "rank", \
     file index "dleft-counting" lw 2 dt 2 lc rgb pink title "dleft-counting", \
     file index "rank-counting" lw 2 dt 2 lc rgb red title "rank-counting", \
     file index "counting-bloom" lw 2 dt 2 lc rgb black title "counting-bloom"
PLOT

draw overhead <<'PLOT'
set title "Bits per key above the bound: lower is better"
set xlabel "error rate"
set ylabel "bits per key - log_2(1/error)"
set logscale x
set format x "10^{%T}"
set xrange [0.05:1e-7]
set yrange [0:18]
file = data."/error.dat"
over(bits, rate) = bits + log(rate) / log(2)
plot file index "bloom" using 2:(over($1, $2)) lw 2 lc rgb black title "bloom", \
     file index "blocked-bloom" using 2:(over($1, $2)) lw 2 lc rgb sky \
         title "blocked-bloom, 512 bits", \
     file index "balanced-bloom" using 2:(over($1, $2)) lw 2 lc rgb orange \
         title "balanced-bloom, MHT", \
     file index "dleft-64" using 2:(over($1, $2)) lw 2 lc rgb green title "dleft, 64-bit buckets", \
     file index "dleft-128" using 2:(over($1, $2)) lw 2 lc rgb blue \
         title "dleft, 128-bit buckets", \
     file index "rank" using 2:(over($1, $2)) lw 2 lc rgb red title "rank", \
     file index "dleft-counting" using 2:(over($1, $2)) lw 2 dt 2 lc rgb pink \
         title "dleft-counting", \
     file index "rank-counting" using 2:(over($1, $2)) lw 2 dt 2 lc rgb red title "rank-counting"
PLOT

draw loads <<'PLOT'
set title "How full buckets are: mean load 6"
set xlabel "load of a bucket"
set ylabel "fraction of buckets"
set logscale y
set format y "10^{%T}"
set xrange [0:17]
set yrange [1e-12:1]
set style data linespoints
set pointsize 0.6
file = data."/loads.dat"
plot file index "poisson" lw 2 pt 7 lc rgb grey title "one choice: Poisson", \
     file index "2-left inserted" lw 2 pt 7 lc rgb orange title "2 choices, insertions only", \
     file index "2-left steady" lw 2 dt 2 pt 6 lc rgb orange title "2 choices, steady state", \
     file index "3-left inserted" lw 2 pt 7 lc rgb green title "3 choices, insertions only", \
     file index "3-left steady" lw 2 dt 2 pt 6 lc rgb green title "3 choices, steady state", \
     file index "4-left inserted" lw 2 pt 7 lc rgb blue title "4 choices, insertions only", \
     file index "4-left steady" lw 2 dt 2 pt 6 lc rgb blue title "4 choices, steady state"
PLOT

draw regions <<'PLOT'
set title "Where a balancing scheme is optimal: above its curve (load 8)"
set xlabel "accesses per insert"
set ylabel "fraction of keys in the overflow list"
set logscale y
set format y "10^{%T}"
set xrange [1:1.6]
set yrange [1e-6:1]
file = data."/regions.dat"
plot file index "sequential 2" lw 2 dt 2 lc rgb orange title "SEQUENTIAL, 2 choices", \
     file index "sequential 3" lw 2 dt 2 lc rgb green title "SEQUENTIAL, 3 choices", \
     file index "sequential 4" lw 2 dt 2 lc rgb blue title "SEQUENTIAL, 4 choices", \
     file index "mht 2" lw 2 lc rgb orange title "MHT, 2 choices", \
     file index "mht 3" lw 2 lc rgb green title "MHT, 3 choices", \
     file index "mht 4" lw 2 lc rgb blue title "MHT, 4 choices"
PLOT
