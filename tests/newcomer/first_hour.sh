#!/bin/sh
# first_hour.sh [--tests] SOURCE [LIST] - what a newcomer does with a fresh clone and the README
#
# Clones SOURCE, runs the README's first command and, with --tests, the second; installs below a folder of
# its own, compiles the README's example with pkg-config, and uses the tool on a list of millions of real
# keys: LIST, one per line, or the names of all packages of the npm registry.  Nothing is known here that
# the README does not say.  Each step is timed; any surprise ends it.
set -eu
export LC_ALL=C
tests=
if [ "${1:-}" = --tests ]; then
    tests=1
    shift
fi
source=$(cd "${1:?usage: first_hour.sh [--tests] SOURCE [LIST]}" && pwd)
list=${2:+$(readlink -f "$2")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT PIPE TERM
begin=$(date +%s)

fail() {
    echo "FAIL: $*"
    exit 1
}
step() { # step WORDS...: what was just done, and when
    printf '%5d s  %s\n' $(($(date +%s) - begin)) "$*"
}

git clone -q "$source" "$work/tamis"
cd "$work/tamis"
step "cloned"
make run >"$work/log" 2>&1 || { tail -n 50 "$work/log"; fail "make run"; }
step "make run: the first result"
if [ -n "$tests" ]; then
    make test >"$work/log" 2>&1 || { tail -n 50 "$work/log"; fail "make test"; }
    step "make test: $(grep -E '^[0-9]+% tests passed' "$work/log")"
fi

prefix=$work/prefix
make install PREFIX="$prefix" >"$work/log" 2>&1 || { tail -n 50 "$work/log"; fail "make install"; }
awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 } inside' README.md >"$work/example.c"
PKG_CONFIG_PATH=$(find "$prefix" -name pkgconfig -type d)
LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
export PKG_CONFIG_PATH LD_LIBRARY_PATH
# shellcheck disable=SC2046 # pkg-config's words are words
"${CC:-cc}" "$work/example.c" $(pkg-config --cflags --libs tamis) -o "$work/example" || fail "the example does not compile"
"$work/example" >"$work/out" || fail "the example does not run"
grep -q '^apple: probably there$' "$work/out" || fail "the example does not find apple"
step "installed; the README's example says: $(tr '\n' ' ' <"$work/out")"

# ---- a real list ----
PATH=$prefix/bin:$PATH
cd "$work"
if [ -z "$list" ]; then
    command -v npm >/dev/null || fail "no npm, and no list of keys given"
    npm pack --silent all-the-package-names >/dev/null 2>&1 || fail "npm pack all-the-package-names"
    tar xzf all-the-package-names-*.tgz package/names.json
    sed -n 's/^  "\(.*\)",*$/\1/p' package/names.json >names
    list=$work/names
fi
sort -u "$list" >all
sed -n 'p;n' all >keys
sed -n 'n;p' all >absent
n=$(wc -l <keys) m=$(wc -l <absent)
step "$((n + m)) names: $n are keys, $m are not"

for deletes in "" --deletes; do
    # shellcheck disable=SC2086 # no word at all, if empty
    tamis build -p 0.001 $deletes -o names.tamis keys || fail "tamis build $deletes"
    step "tamis build -p 0.001 $deletes: $(tamis info names.tamis --json | sed -n 's/^ *"\(kind\|bytes\)": *"*\([^",]*\)"*,$/\2/p' | tr '\n' ' ')"
    found=$(tamis query -c names.tamis keys) || fail "tamis query of the keys"
    [ "$found" -eq "$n" ] || fail "only $found of $n keys are found"
    wrong=$(tamis query -c names.tamis absent) || [ $? -eq 1 ] || fail "tamis query of absent keys"
    # mean m/1000, four standard deviations
    awk -v w="$wrong" -v m="$m" 'BEGIN { exit w > m * 0.001 + 4 * sqrt(m * 0.001) }' ||
        fail "$wrong of $m absent keys are found: more than promised"
    step "all keys found, $wrong of $m absent ones too"
    tamis verify names.tamis >/dev/null || fail "tamis verify"
done
head -n 1000000 keys >some
tamis remove names.tamis some || fail "tamis remove"
[ "$(tamis query -c names.tamis keys)" -ge $((n - 1000000)) ] || fail "removed more than was asked for"
tail -n +1000001 keys >others
[ "$(tamis query -c names.tamis others)" -eq $((n - 1000000)) ] || fail "a key that was kept is gone"
tamis add names.tamis some || fail "tamis add"
[ "$(tamis query -c names.tamis keys)" -eq "$n" ] || fail "a key is gone"
step "a million keys removed and added again: none lost"
tamis build -n "$((n + m))" -p 0.001 --kind blocked-bloom --seed 7 -o a.tamis keys || fail "tamis build --seed"
tamis build --like a.tamis -o b.tamis absent || fail "tamis build --like"
tamis merge a.tamis b.tamis -o c.tamis || fail "tamis merge"
[ "$(tamis query -c c.tamis all)" -eq $((n + m)) ] || fail "a key is gone after the merge"
step "two halves merged"
code=0
tamis build -p 2 -o x.tamis keys 2>err || code=$?
{ [ "$code" -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && [ ! -e x.tamis ]; } || fail "a wrong error rate is not refused in one line"
step "ok"
