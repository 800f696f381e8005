#!/bin/sh
# sanitize.sh SOURCE [TEST...] - the tests of the Python module with the native module and the library under
# AddressSanitizer and UndefinedBehaviorSanitizer
#
# Python itself is not built so: the run-time is preloaded, and its own allocator is switched off, so that each object
# is a block of its own.  PYTHON names the interpreter.  A minute or two: half of it is the compiler.
set -eu
source=$(cd "$1" && pwd)
shift
python=${PYTHON:-/usr/bin/python3}
cc=${CC:-gcc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CC=$cc CFLAGS='-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined' \
    "$python" "$source/bindings/python/build_backend/tamis_build.py" install "$work/own" 2>"$work/log" ||
    { cat "$work/log"; exit 1; }
[ $# -gt 0 ] || set -- test_filter test_product test_doors test_arrays
cd "$source/tests/python"
# Python leaves much to the end of the process: leaks are looked for by test_product.Leaks.
LD_PRELOAD="$("$cc" -print-file-name=libasan.so) $("$cc" -print-file-name=libubsan.so)" \
    ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1 \
    PYTHONMALLOC=malloc PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$work/own" \
    "$python" -m unittest -b "$@"
