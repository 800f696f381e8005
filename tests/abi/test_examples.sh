#!/bin/sh
# test_examples.sh SOURCE BUILD CC - the examples in the pages and in the public headers compile and run
#
# Pages: every block fenced as 'c' that has a main.  Headers: every indented block in a comment that
# compares a status with TAMIS_OK (others are sketches), put into a main that declares 'status' and
# 'filter'.  Each must end with exit code 0.  What stands to the right of a statement, far enough, is
# output that it must print.
. "$1/tests/release.sh"
run() { # run NAME: compile and run work/NAME.c in a folder of its own
    mkdir "$work/$1.dir"
    "$cc" -std=c11 -Wall -Wextra -Werror -Wno-unused-variable -I"$source/include" "$work/$1.c" \
        "$release/libtamis.a" -lm -o "$work/$1" || { cat "$work/$1.c"; fail "$1 does not compile"; }
    (cd "$work/$1.dir" && "$work/$1" >output 2>&1) ||
        { cat "$work/$1.c" "$work/$1.dir/output"; fail "$1 does not run"; }
    if [ -e "$work/$1.prints" ]; then
        while read -r line; do
            grep -qF "$line" "$work/$1.dir/output" ||
                { cat "$work/$1.dir/output"; fail "$1 does not print '$line'"; }
        done <"$work/$1.prints"
    fi
    grep -q 'never printed' "$work/$1.dir/output" && fail "$1 prints what it says it never does"
    echo "ok: $1"
}

for page in README.md docs/guide.md docs/windows.md docs/table.md; do
    awk -v work="$work/$(basename "$page" .md)" '
    /^```c$/ { inside = 1; text = ""; next }
    /^```/ && inside { inside = 0; if (text ~ /main *\(/) { n++; printf "%s", text > (work n ".c") }; next }
    inside { text = text $0 "\n" }' "$source/$page"
done
[ -e "$work/README1.c" ] || fail "README.md has no example in C with a main"
[ -e "$work/guide1.c" ] || fail "docs/guide.md has no example in C with a main"
mv "$work/table1.c" "$work/table-page1.c" || fail "docs/table.md has no example in C with a main"
for example in "$work"/README*.c "$work"/guide*.c "$work"/windows*.c "$work"/table-page*.c; do
    run "$(basename "$example" .c)"
done

for header in "$source"/include/tamis/*.h; do
    name=$(basename "$header" .h)
    awk -v work="$work" -v name="$name" '
        function finish() {
            if (text ~ /== TAMIS_OK/ && text ~ /;\n/) {
                n++
                file = work "/" name n ".c"
                print "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>" > file
                print "#include <tamis/tamis.h>\n#include <tamis/plan.h>" > file
                print "#include <tamis/" name ".h>\nint main(void) {" > file
                print "tamis_status status = TAMIS_OK;\ntamis_filter *filter = NULL;\n{" > file
                printf "%s", text > file
                print "}\ntamis_filter_free(filter);\nreturn (int)status;\n}" > file
                if (prints != "")
                    printf "%s", prints > (work "/" name n ".prints")
            }
            text = ""
            prints = ""
        }
        /^ \*     .*;     +[^ ]/ {
            at = match($0, /;     +[^ ]/)
            prints = prints substr($0, at + RLENGTH - 1) "\n"
            $0 = substr($0, 1, at)
        }
        /^ \*     / { text = text substr($0, 4) "\n"; next }
        { finish() }' "$header"
    for example in "$work/$name"[0-9]*.c; do
        if [ -e "$example" ]; then run "$(basename "$example" .c)"; fi
    done
done
[ -e "$work/tamis1.c" ] || fail "tamis.h has no example"
[ -e "$work/plan1.c" ] || fail "plan.h has no example"
