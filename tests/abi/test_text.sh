#!/bin/sh
# test_text.sh SOURCE BUILD CC - rules for the text of the sources
#
#   T1  no tab, no carriage return, no space at the end of a line but in scripts, where it may be data;
#       the last line is complete
#   T2  no C line has more than 110 columns (clang-format keeps code within 100; this is for comments)
#   T3  every C file names its licence in one SPDX line, in its first comment
#   T4  a C file of more than 800 lines says in its first comment why it is "not split"
#   T5  no text names a folder of somebody's home
set -eu
cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
fault() {
    echo "FAIL: $*"
    status=1
}

find include src cli bench experiments integrations fuzz tests scripts cmake .ci \
    \( -name '*.[ch]' -o -name '*.sh' -o -name '*.cmake' -o -name CMakeLists.txt -o -path .ci/run \) \
    -not -path '*/build/*' 2>/dev/null | sort >"$work/files"
echo ./CMakeLists.txt >>"$work/files"
tab=$(printf '\t')
return=$(printf '\r')

while read -r file; do
    grep -n "$tab" "$file" && fault "T1 $file: tab"
    grep -n "$return" "$file" && fault "T1 $file: carriage return"
    [ -z "$(tail -c 1 "$file")" ] || fault "T1 $file: the last line is incomplete"
    grep -nE '/(home|root|Users)/[a-z]' "$file" && fault "T5 $file: a path of one machine"
    case $file in
    *.sh) ;;
    *) grep -n ' $' "$file" && fault "T1 $file: space at the end of a line" ;;
    esac
    case $file in
    *.[ch])
        LC_ALL=C.UTF-8 awk 'length($0) > 110 { print FILENAME ":" FNR ": " length($0) " columns"; bad = 1 }
            END { exit bad }' "$file" || fault "T2 $file"
        sed -n '1,/\*\//p' "$file" >"$work/comment"
        [ "$(grep -c 'SPDX-License-Identifier: MIT' "$work/comment")" -eq 1 ] || fault "T3 $file"
        if [ "$(wc -l <"$file")" -gt 800 ]; then
            grep -qi 'not split' "$work/comment" || fault "T4 $file: $(wc -l <"$file") lines"
        fi
        ;;
    esac
done <"$work/files"
[ "$status" -eq 0 ] && echo "ok: $(wc -l <"$work/files") files"
exit "$status"
