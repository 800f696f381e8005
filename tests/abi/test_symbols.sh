#!/bin/sh
# test_symbols.sh SOURCE BUILD CC [--update] - the library exports what symbols.txt lists
#
# After a change of the public headers, 'make symbols' (that is, --update) writes the list anew; the
# difference belongs in the same commit, and a symbol that goes away is a new SONAME.
set -eu
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd) cc=$3
. "$source/tests/install/release.sh"
release_tree "$source" "$build" "$cc"
list=$source/tests/abi/symbols.txt
export LC_ALL=C

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAIL: $*"
    exit 1
}

nm -D --defined-only "$release/libtamis.so" | awk '{ print $3 }' | sort >"$work/exported"
[ "${4:-}" = --update ] && cp "$work/exported" "$list"

grep -v '^tamis_' "$work/exported" && fail "exported without our prefix"
grep '^tamis_i_' "$work/exported" && fail "internal, but exported"

# The functions that the public headers promise: those with default visibility, by name.
for header in "$source"/include/tamis/*.h; do
    echo "#include <tamis/$(basename "$header")>"
done >"$work/all.c"
"$cc" -std=c11 -E -P -I"$source/include" "$work/all.c" | tr '\n' ' ' | tr ';{}' '\n\n\n' |
    grep 'visibility("default")' |
    sed -e 's/__attribute__((visibility("default")))//' -e 's/__attribute__((warn_unused_result))//' \
        -e 's/(.*//' -e 's/ *$//' -e 's/.*[ *]//' | sort -u >"$work/declared"
diff "$work/declared" "$work/exported" >"$work/diff" ||
    { cat "$work/diff"; fail "declared (<) and exported (>) differ"; }
diff "$list" "$work/exported" >"$work/diff" ||
    { cat "$work/diff"; fail "tests/abi/symbols.txt (<) and the library (>) differ; see 'make symbols'"; }

# Who links the archive gets our internal names too: they must keep to their prefix.
nm -g --defined-only "$release/libtamis.a" | awk 'NF == 3 { print $3 }' | grep -v '^tamis_' &&
    fail "global in the archive without our prefix"
echo "ok: $(wc -l <"$work/exported") symbols"
