#!/bin/sh
# test_headers.sh SOURCE BUILD CC - each public header compiles alone, in any order, twice, in C and C++
set -eu
source=$(cd "$1" && pwd) cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"

headers=$(cd "$source/include" && ls tamis/*.h)
n=0
emit() { # emit HEADER...: one source that includes them in this order
    n=$((n + 1))
    for header; do
        echo "#include <$header>"
    done >"$work/case$n.c"
    echo "int case$n(void); int case$n(void) { return TAMIS_VERSION_MAJOR; }" >>"$work/case$n.c"
}
# shellcheck disable=SC2086
emit $headers $headers
# shellcheck disable=SC2046
emit $(printf '%s\n' "$headers" | sort -r)
for a in $headers; do
    emit "$a"
    emit "$a" "$a"
    for b in $headers; do
        [ "$a" = "$b" ] || emit "$a" "$b"
    done
done

try() { # try COMPILER LANGUAGE STANDARD
    command -v "$1" >/dev/null || return 0
    for file in "$work"/case*.c; do
        # shellcheck disable=SC2086
        "$1" -x "$2" -std="$3" $warnings -I"$source/include" -fsyntax-only "$file" ||
            { echo "FAIL: $1 -std=$3"; cat "$file"; exit 1; }
    done
    echo "ok: $1 -std=$3, $n cases"
}
try "$cc" c c11
try "$cc" c gnu17
command -v g++ >/dev/null || { echo "FAIL: no g++"; exit 1; }
for cxx in g++ clang++; do
    try $cxx c++ c++11
    try $cxx c++ c++17
done
