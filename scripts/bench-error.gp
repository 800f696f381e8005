# bench-error.gp - error rate against bits per key: lines predicted, points measured
# Set before: data (a block per kind: a line with its name, then bits, predicted, measured), image (the SVG to
# write), kinds (how many blocks).
set terminal svg size 860,520 font "sans-serif,12" background "white"
set output image
set title "Error rate by size (lines: predicted, points: measured, 200,000 keys)"
set xlabel "bits per key"
set ylabel "error rate"
set logscale y
set format y "10^{%L}"
set grid
set key outside right top noenhanced
plot for [i=0:kinds-1] data index i using 1:2 with lines lw 1.5 lc i+1 title columnheader(1), \
     for [i=0:kinds-1] data index i using 1:3 with points pt 7 ps 0.5 lc i+1 notitle
