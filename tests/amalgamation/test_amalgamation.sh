#!/bin/sh
# test_amalgamation.sh SOURCE BUILD CC - two files are the whole library
#
# tamis.c compiles with one command and both compilers, without a warning, in C11 and in the compiler's
# own dialect; tamis.h in C++ too.  The example of README.md and a program that makes a filter of every kind
# run with it, and the files of the latter are those of the library, byte for byte.
set -eu
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd) cc=$3
. "$source/tests/install/release.sh"
release_tree "$source" "$build" "$cc"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=$source/tests/amalgamation/round_trip.c
warnings="-Wall -Wextra -Werror"

fail() {
    echo "FAIL: $*"
    exit 1
}
python3 "$source/scripts/amalgamate.py" "$source" "$work" || fail "amalgamate.py"
cd "$work"
[ "$(find . -type f | sort | tr '\n' ' ')" = "./tamis.c ./tamis.h " ] || fail "more or less than two files"

# What the library makes.
mkdir library
# shellcheck disable=SC2086
"$cc" $warnings -I"$source/include" "$program" "$release/libtamis.a" -lm -o with_library
./with_library library || fail "the program with the library"

# The same with the amalgamation.  What gcc warns of depends on its level, for clang it does not.
for compiler in gcc clang; do
    command -v $compiler >/dev/null || { echo "no $compiler here"; continue; }
    [ $compiler = gcc ] && level=-O2 || level=-O0
    # shellcheck disable=SC2086
    $compiler $level $warnings -c tamis.c -o tamis_$compiler.o || fail "$compiler -c tamis.c"
    # shellcheck disable=SC2086
    $compiler $level $warnings -DAMALGAMATION -I. "$program" tamis_$compiler.o -lm -o with_$compiler
    mkdir $compiler
    ./with_$compiler $compiler >$compiler.out || { cat $compiler.out; fail "the program with $compiler"; }
    diff -r library $compiler || fail "$compiler: other files than those of the library"
    # Only our names are exported, whatever the statics are called.
    nm -g --defined-only tamis_$compiler.o | awk '$3 !~ /^tamis_/' | grep . && fail "foreign symbols"
    if [ "$(uname -m)" = x86_64 ]; then
        objdump -d tamis_$compiler.o | grep -q '%ymm' || fail "$compiler: no AVX2 kernels"
    fi
    echo "ok: $compiler, $(find $compiler -name '*.tamis' | wc -l) kinds"
done
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only tamis.c || fail "C11"
echo '#include "tamis.h"' >header.cc
g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I. header.cc || fail "C++"

# All that is exported by the shared library, and the example: one command, nothing before it.
nm -D --defined-only "$release/libtamis.so" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort >exported
nm -g --defined-only tamis_gcc.o 2>/dev/null | awk '{ print $3 }' | sort >defined
[ -s exported ] || fail "no exported symbols"
[ ! -s defined ] || [ -z "$(comm -23 exported defined)" ] || fail "missing: $(comm -23 exported defined)"
sed -n '/^```c$/,/^```$/p' "$source/README.md" | sed '/^```/d; s|<tamis/tamis.h>|"tamis.h"|' >example.c
"$cc" example.c tamis.c -lm -o example || fail "the example"
./example | grep -q '^apple: probably there$' || fail "the example's answer"
echo "ok: example"
