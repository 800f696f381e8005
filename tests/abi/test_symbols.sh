#!/bin/sh
# test_symbols.sh SOURCE BUILD CC [--update] - the libraries export what symbols.txt and symbols-model.txt list
#
# After a change of the public headers, 'make symbols' (that is, --update) writes the list anew; the
# difference belongs in the same commit, and a symbol that goes away is a new SONAME.
. "$1/tests/release.sh"
lists=$source/tests/abi
most=170 # functions of libtamis: one more is one to be thought about twice
export LC_ALL=C

# check LIBRARY LIST HEADER...: what it exports, what LIST says, and what the headers promise
check() {
    library=$1 list=$lists/$2
    shift 2
    nm -D --defined-only "$release/$library.so" | awk '{ print $3 }' | sort >"$work/exported"
    [ "$update" = yes ] && cp "$work/exported" "$list"
    grep -v '^tamis_' "$work/exported" && fail "$library exports without our prefix"
    grep '^tamis_i_' "$work/exported" && fail "$library: internal, but exported"
    # The functions of these headers alone, with default visibility, by name.
    for header in "$@"; do
        echo "#include <tamis/$header>"
    done >"$work/all.c"
    "$cc" -std=c11 -E -I"$source/include" "$work/all.c" |
        awk -v own="$*" '/^# [0-9]+ "/ { split($3, part, "/"); name = part[length(part)]
            sub(/"$/, "", name); on = index(" " own " ", " " name " ") > 0; next } on' |
        tr '\n' ' ' | tr ';{}' '\n\n\n' | grep 'visibility("default")' |
        sed -e 's/__attribute__((visibility("default")))//' -e 's/__attribute__((warn_unused_result))//' \
            -e 's/(.*//' -e 's/ *$//' -e 's/.*[ *]//' | sort -u >"$work/declared"
    diff "$work/declared" "$work/exported" >"$work/diff" ||
        { cat "$work/diff"; fail "$library: declared (<) and exported (>) differ"; }
    diff "$list" "$work/exported" >"$work/diff" ||
        { cat "$work/diff"; fail "$list (<) and $library (>) differ; see 'make symbols'"; }
    echo "ok: $library, $(wc -l <"$work/exported") symbols"
}
update=no
[ "${4:-}" = --update ] && update=yes
check libtamis symbols.txt tamis.h plan.h table.h small.h shared.h window.h
[ "$(wc -l <"$lists/symbols.txt")" -le "$most" ] || fail "libtamis exports more than $most functions"
check libtamis-model symbols-model.txt model.h

# Who links the archive gets our internal names too: they must keep to their prefix.
for archive in libtamis libtamis-model; do
    nm -g --defined-only "$release/$archive.a" | awk 'NF == 3 { print $3 }' | grep -v '^tamis_' &&
        fail "global in $archive.a without our prefix"
done
exit 0
