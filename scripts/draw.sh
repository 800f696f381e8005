# shellcheck shell=sh
# draw.sh - what the scripts that draw plots share
#
# Sourced by figures*.sh, which are called with the path of the tool.  It sets $data, a folder for numbers that
# goes at the end; what is drawn is written to docs/figures.
# SPDX-License-Identifier: MIT
set -eu
export LC_ALL=C

[ $# -eq 1 ] || { echo "usage: $(basename "$0") TAMIS_BINARY" >&2; exit 2; }
out=$(cd "$(dirname "$0")/.." && pwd)/docs/figures
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
trap 'exit 130' HUP INT TERM
mkdir -p "$out"

# draw NAME TITLE XLABEL YLABEL: gnuplot commands from stdin, after the common ones.
draw() {
    {
        cat <<'PLOT'
set terminal svg size 1000,540 dynamic font "sans-serif,14" background "#ffffff"
set grid lc rgb "#dddddd"
set border lc rgb "#444444"
set key outside right top Left reverse spacing 1.2
set style data lines
set pointsize 0.8
# Okabe and Ito's colours, which everybody can tell apart.
black = "#000000"; orange = "#e69f00"; sky = "#56b4e9"; green = "#009e73"
blue = "#0072b2"; red = "#d55e00"; pink = "#cc79a7"; grey = "#999999"
# "eval powers_y": the scale of an axis in powers of ten.
powers_y = 'set logscale y; set format y "10^{%T}"'
PLOT
        echo "data = '$data'"
        echo "f(name) = data.'/'.name"
        echo "set output '$out/$1.svg'"
        echo "set title \"$2\"; set xlabel \"$3\"; set ylabel \"$4\""
        cat
    } | gnuplot
}
