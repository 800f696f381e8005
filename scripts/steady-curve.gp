# steady-curve.gp - docs/figures/steady-curve.svg, from the file that TAMIS_TEST_CURVE names:
#
#     TAMIS_TEST_CURVE=curve.txt build/dev/tests/model_filter_steady
#     gnuplot -e "data='curve.txt'; planned=0.00999472" scripts/steady-curve.gp
#
# 'planned' is the rate that the test prints.
# SPDX-License-Identifier: MIT
set terminal svg size 1000,540 dynamic font "sans-serif,14" background "#ffffff"
set grid lc rgb "#dddddd"
set border lc rgb "#444444"
set key outside right top Left reverse spacing 1.2
set output "docs/figures/steady-curve.svg"
set title "steady at 90 to 100 % of its capacity: the error rate over 10^9 operations"
set xlabel "million operations"
set ylabel "error rate of a full set, %"
set yrange [0.95:1.05]
plot 100 * planned with lines lc rgb "#999999" title "planned", \
     102 * planned with lines dt 2 lc rgb "#d55e00" title "2 % more", \
     data using ($1 / 1e6):($3 * 100) with lines lc rgb "#0072b2" title "measured"
