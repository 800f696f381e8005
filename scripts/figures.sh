#!/bin/sh
# figures.sh TAMIS_BINARY - draw the plots of docs/models.md into docs/figures
#
# The numbers come from the models, by 'tamis reproduce --plot-data'; gnuplot only draws them.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2154 # $data comes from draw.sh
. "$(dirname "$0")/draw.sh"

"$1" reproduce --plot-data "$data"

draw error "Error rate against bits per key" \
    "bits per key" "error rate" <<'PLOT'
eval powers_y
set xrange [6:32]
set yrange [1e-9:0.2]
file = f("error.dat")
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

draw overhead "Bits per key above the bound: lower is better" \
    "error rate" "bits per key - log_2(1/error)" <<'PLOT'
set logscale x
set format x "10^{%T}"
set xrange [0.05:1e-7]
set yrange [0:18]
file = f("error.dat")
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

draw loads "How full buckets are: mean load 6" \
    "load of a bucket" "fraction of buckets" <<'PLOT'
eval powers_y
set xrange [0:17]
set yrange [1e-12:1]
set style data linespoints
set pointsize 0.6
file = f("loads.dat")
plot file index "poisson" lw 2 pt 7 lc rgb grey title "one choice: Poisson", \
     file index "2-left inserted" lw 2 pt 7 lc rgb orange title "2 choices, insertions only", \
     file index "2-left steady" lw 2 dt 2 pt 6 lc rgb orange title "2 choices, steady state", \
     file index "3-left inserted" lw 2 pt 7 lc rgb green title "3 choices, insertions only", \
     file index "3-left steady" lw 2 dt 2 pt 6 lc rgb green title "3 choices, steady state", \
     file index "4-left inserted" lw 2 pt 7 lc rgb blue title "4 choices, insertions only", \
     file index "4-left steady" lw 2 dt 2 pt 6 lc rgb blue title "4 choices, steady state"
PLOT

draw regions "Where a balancing scheme is optimal: above its curve (load 8)" \
    "accesses per insert" "fraction of keys in the overflow list" <<'PLOT'
eval powers_y
set xrange [1:1.6]
set yrange [1e-6:1]
file = f("regions.dat")
plot file index "sequential 2" lw 2 dt 2 lc rgb orange title "SEQUENTIAL, 2 choices", \
     file index "sequential 3" lw 2 dt 2 lc rgb green title "SEQUENTIAL, 3 choices", \
     file index "sequential 4" lw 2 dt 2 lc rgb blue title "SEQUENTIAL, 4 choices", \
     file index "mht 2" lw 2 lc rgb orange title "MHT, 2 choices", \
     file index "mht 3" lw 2 lc rgb green title "MHT, 3 choices", \
     file index "mht 4" lw 2 lc rgb blue title "MHT, 4 choices"
PLOT
