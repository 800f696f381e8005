# bench.gp - bars per kind: times of the operations as multiples of the calibrator
# Set before: data (a table with a head line), image (the SVG to write), heading.
set terminal svg size 720,360 font "sans-serif,12" background "white"
set output image
set title heading.": times the calibrator of one line" noenhanced
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.9 border -1
set boxwidth 0.9
set ylabel "ratio"
set yrange [0:*]
set grid ytics
set key outside right top
set xtics noenhanced
plot for [i=2:5] data using i:xtic(1) title columnheader(i)
