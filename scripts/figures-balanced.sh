#!/bin/sh
# figures-balanced.sh TAMIS_BINARY - draw the plots of docs/balanced-bloom.md into docs/figures
#
# Theory and measurement both come from 'tamis reproduce --full bal.'; gnuplot only draws them.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2154 # $data comes from draw.sh
. "$(dirname "$0")/draw.sh"

# A figure that differs from its paper makes the status 1, and is drawn as it is.
"$1" reproduce --full bal. >"$data/all" || [ $? -eq 1 ]

# series PREFIX LETTER NAME: lines "x computed simulated stderr" of the figures PREFIX.<letter><x>
series() {
    awk -v prefix="$1.$2" 'index($1, prefix) == 1 {
        x = substr($1, length(prefix) + 1)
        if (x ~ /^[0-9]+$/)
            print x, $3, ($5 == "-" ? "NaN" : $5), ($5 == "-" ? "NaN" : $6)
    }' "$data/all" | sort -n >"$data/$3"
    [ -s "$data/$3" ] || { echo "figures-balanced.sh: no figures $1.$2*" >&2; exit 1; }
}

series bal.f3a.sequential a seq
series bal.f3a.mht a mht
series bal.accesses.sequential a seq-looks
series bal.accesses.mht a mht-looks
series bal.f3b.sequential r load
series bal.f4.mht b mht
for kind in standard blocked.counted single.exact mht.keyed; do
    series "bal.f4.$kind.info" b "$kind"
done
series bal.reads.absent b absent
series bal.reads.keyed b keyed
series bal.filling.insert n insert
series bal.filling.query n query

draw balanced-regions "Figure 3 (a): least overflow, 8 keys per block, 3 choices; lines theory, points measured" \
    "blocks read per insert" "fraction of keys in the overflow list" <<'PLOT'
eval powers_y
set xrange [1.03:1.42]
plot f("seq") using ($1/100):2 with lines lw 2 lc rgb orange title "SEQUENTIAL, Theorem 4", \
     "< paste ".f("seq")." ".f("seq-looks") using 7:3:4 with yerrorbars pt 7 lc rgb orange \
         title "measured", \
     f("mht") using ($1/100):2 with lines lw 2 lc rgb green title "MHT, Theorem 5", \
     "< paste ".f("mht")." ".f("mht-looks") using 7:3:4 with yerrorbars pt 7 lc rgb green \
         title "measured"
PLOT

draw balanced-loads "Figure 3 (b): least overflow with 1.2 blocks read per insert, 3 choices" \
    "keys per block" "fraction of keys in the overflow list" <<'PLOT'
set yrange [0:*]
q = (sqrt(1.8) - 1) / 2
plot f("load") using 1:2 with lines lw 2 lc rgb orange title "SEQUENTIAL, Theorem 4", \
     f("load") using 1:3:4 with yerrorbars pt 7 lc rgb orange title "measured", \
     q**3 with lines lw 2 lc rgb green title "MHT, Theorem 5"
PLOT

draw balanced-error "Figure 4: error rates, blocks of 256 bits; lines theory, points measured" \
    "bits per key" "error rate" <<'PLOT'
eval powers_y
set xrange [7:41]
plot f("blocked.counted") using 1:2 with lines lw 2 lc rgb sky title "blocked", \
     f("blocked.counted") using 1:3:4 with yerrorbars pt 7 lc rgb sky title "measured", \
     f("single.exact") using 1:2 with lines lw 2 lc rgb blue title "SINGLE", \
     f("single.exact") using 1:3:4 with yerrorbars pt 7 lc rgb blue title "measured", \
     f("mht.keyed") using 1:2 with lines lw 2 lc rgb green title "MHT", \
     f("mht.keyed") using 1:3:4 with yerrorbars pt 7 lc rgb green title "measured", \
     f("mht") using 1:2 with lines lw 1 dt 3 lc rgb green title "MHT, as the paper computes it", \
     f("standard") using 1:2 with lines lw 2 lc rgb black title "standard", \
     f("standard") using 1:3:4 with yerrorbars pt 7 lc rgb black title "measured"
PLOT

draw balanced-reads "Blocks read while a filter fills up: MHT, 3 choices, 16 bits per key, blocks of 256 bits" \
    "keys in, percent of the capacity" "blocks read" <<'PLOT'
set xrange [15:105]
set yrange [0.95:2.5]
set key inside left top
plot f("query") using 1:2 with lines lw 2 lc rgb red title "per query of an absent key, theory", \
     f("query") using 1:3:4 with yerrorbars pt 7 lc rgb red title "measured", \
     f("insert") using 1:2 with lines lw 2 lc rgb green title "per insert so far, theory", \
     f("insert") using 1:3:4 with yerrorbars pt 7 lc rgb green title "measured"
PLOT
