#!/bin/sh
# test_engines.sh SOURCE BUILD CC - instruction sets are named in the folders of their processors only
#
# Target attributes, intrinsics and their headers belong to src/bits/<family>/, src/hash/<family>/ and src/filter/<family>/,
# say x86, and to the files of a family in src/kinds/<kind>/; the names of compiler targets to one header of a family.
# Processor features are asked for in src/base/cpu.c alone, and by the test of what is compiled for one processor.
set -eu
cd "$1"
status=0
words='__attribute__ *\(\(target|immintrin\.h|arm_neon\.h|x86intrin\.h|TAMIS_I_TARGET_|__m(128|256|512)'
words="$words|[a-z]mmintrin\.h|arm_(acle|sve)\.h|target_clones|pragma +(GCC|clang) .*target|__builtin_(ia32|neon|aarch64)_"
words="$words|\b_mm(256|512)?_[a-z]|\b_(pdep|pext|bzhi|tzcnt|lzcnt|blsr)_u(32|64)\b|\bv[a-z0-9]+q?_[usfp](8|16|32|64)\b"

# search WORDS: lines of sources outside of the folders of processors
search() {
    find src include cli bench experiments fuzz tests bindings \( -name '*.[ch]' -o -name '*.[ch]pp' \) |
        grep -v -e '^src/\(bits\|hash\|filter\)/[^/]*/' -e '^src/kinds/[^/]*/[a-z_]*_\(x86\|arm\)\.[ch]$' | sort |
        xargs grep -nE "$1" /dev/null || :
}

found=$(search "$words")
[ -z "$found" ] || { echo "$found"; echo "FAIL: an instruction set outside of its folder"; status=1; }
found=$(search '__builtin_cpu_supports|__get_cpuid|cpuid\.h|getauxval' | grep -v -e '^src/base/cpu\.c:' || :)
[ -z "$found" ] || { echo "$found"; echo "FAIL: only src/base/cpu.c asks for features"; status=1; }
found=$(grep -rnE '__attribute__ *\(\(target' src | grep -v '^src/hash/[^/]*/target\.h:' || :)
[ -z "$found" ] || { echo "$found"; echo "FAIL: targets are named in src/hash/<family>/target.h"; status=1; }
found=$(grep -rn 'tamis_i_cpu_features()' src | grep -v -e '^src/base/' -e '^src/\(filter\|table\)/handle\.c:' -e '^src/hash/hasher\.c:' || :)
[ -z "$found" ] || { echo "$found"; echo "FAIL: handles ask for features, once"; status=1; }

# The check can fail: the folders themselves are full of what it looks for.
count=$(grep -rlE "$words" src/bits/x86 src/hash/x86 | wc -l)
[ "$count" -ge 8 ] || { echo "FAIL: only $count files of processors found"; status=1; }
[ "$status" -eq 0 ] && echo "ok: $count files name instruction sets, all in their folders"
exit "$status"
