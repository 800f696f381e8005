#!/bin/sh
# hash-cost.sh LIBRARY [ROUNDS] - time and instructions of the hashes, beside each other
#
# LIBRARY is a libtamis.a of a release build.
set -eu
library=$1
rounds=${2:-41}
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CC:-cc}" -std=c11 -O2 -I "$here/include" -I "$here/src" -o "$work/hash_cost" "$here/tests/cost/hash_cost.c" \
    "$library" -lm
"$work/hash_cost" "$rounds"
