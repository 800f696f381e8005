#!/bin/sh
# test_hpp.sh SOURCE BUILD CC - tamis.hpp compiles without a warning as C++11 to C++20, and works
. "$1/tests/release.sh"
cd "$work"
native="-mavx2 -mbmi -mbmi2 -mlzcnt -mpopcnt -maes"
grep -q avx2 /proc/cpuinfo 2>/dev/null && grep -q ' aes ' /proc/cpuinfo || native=
for standard in 11 14 17 20; do
    # shellcheck disable=SC2086
    g++ -std=c++$standard $native -O2 -Wall -Wextra -Wpedantic -Wconversion -Werror -I"$source/include" \
        "$source/tests/abi/hpp.cpp" "$release/libtamis.a" -lm -o hpp$standard || fail "C++$standard does not compile"
    ./hpp$standard || fail "C++$standard"
    echo "ok: C++$standard"
done
