#!/bin/sh
# figures.sh TAMIS_BINARY - draw the plots of docs/models.md and README.md into docs/figures
#
# The numbers come from the models, by 'tamis reproduce --plot-data', and from plans; plot.py only draws them.
# SPDX-License-Identifier: MIT
set -eu
[ $# -eq 1 ] || { echo "usage: $(basename "$0") TAMIS_BINARY" >&2; exit 2; }
here=$(dirname "$0")
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
trap 'exit 130' HUP INT TERM
"$1" reproduce --plot-data "$data"
python3 "$here/figures.py" "$data" "$here/../docs/figures"
python3 "$here/figure-errors.py" "$1"
