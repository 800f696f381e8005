#!/bin/sh
# run.sh SOURCE LIBRARY PYTHON TEST... - build the Python module with a static library, and run tests of tests/python
set -eu
source=$1 library=$2 python=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TAMIS_LIBRARY=$library "$python" "$source/bindings/python/build_backend/tamis_build.py" install "$work/own" \
    2>"$work/log" || { cat "$work/log"; exit 1; }
cd "$source/tests/python"
"$python" -c 'import numpy, pandas, distributed' # the tests would be skipped without them
PYTHONPATH=$work/own PYTHONDONTWRITEBYTECODE=1 "$python" -m unittest -b "$@"
