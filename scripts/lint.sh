#!/bin/sh
# lint.sh BUILD_DIR - clang-tidy over the sources, shellcheck over the scripts, mandoc over the manual
#
# BUILD_DIR holds compile_commands.json: what is compiled there is checked.  The tests are left out, their
# macros are cmocka's.  One file at a time: clang-tidy 14 mixes up the va_list of several.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
here=$(pwd)
jobs=$(nproc 2>/dev/null || echo 2)

sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$build/compile_commands.json" | sort -u |
    grep -E "^$here/(src|cli|bench|experiments|integrations)/" | grep -v /tests/ |
    xargs -P "$jobs" -n 1 clang-tidy -p "$build" --quiet --warnings-as-errors='*' 2>"$build/lint.log" ||
    { grep -v 'warnings* generated' "$build/lint.log" >&2; echo "lint.sh: clang-tidy found fault" >&2; exit 1; }

find scripts tests bindings packaging .ci cli integrations \( -name "*.sh" -o -name "*.bash" -o -path .ci/run \
    -o -path 'packaging/debian/tests/*' -not -name control \) -print0 |
    xargs -0 shellcheck --severity=warning

mandoc -T lint -W warning docs/man/*.[135]
