# support.sh - what the tests of the command line share
#
# Sourced by test_*.sh, which are called as: sh SCRIPT SOURCE_DIR BUILD_DIR CC
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
set -eu
export LC_ALL=C

# shellcheck disable=SC2034
source_dir=$(cd "$1" && pwd)
tamis=$(cd "$2" && pwd)/tamis
[ -x "$tamis" ] || { echo "no $tamis" >&2; exit 1; }

work=$(mktemp -d)
trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
trap 'exit 130' HUP INT PIPE TERM
cd "$work"
# Everything temporary must be gone at the end of each run of the tool (see expect_clean).
mkdir "$work/tmp"
export TMPDIR="$work/tmp"

fail() {
    echo "FAILED: $*" >&2
    [ ! -s "$work/stderr" ] || sed 's/^/    stderr: /' "$work/stderr" >&2
    exit 1
}

# expect CODE COMMAND...: run it, with stdout and stderr in files of these names; the exit code must be
# CODE.  Any trouble must be told in one line on stderr that begins with "tamis".
expect() {
    expected=$1
    shift
    code=0
    "$@" >"$work/stdout" 2>"$work/stderr" || code=$?
    [ "$code" -eq "$expected" ] || fail "exit code $code instead of $expected: $*"
    if [ "$expected" -eq 2 ]; then
        [ "$(wc -l <"$work/stderr")" -eq 1 ] || fail "not one line on stderr: $*"
        grep -q '^tamis[ a-z]*: .' "$work/stderr" || fail "no proper message: $*"
    fi
    expect_clean "$*"
}

expect_clean() {
    [ -z "$(ls -A "$work/tmp")" ] || fail "temporary files stayed: $1"
    [ -z "$(find "$work" -name '.tamis-*')" ] || fail "temporary files stayed: $1"
}

# expect_message TEXT: stderr of the last command contains it.
expect_message() {
    grep -qF -- "$1" "$work/stderr" || fail "message does not say '$1'"
}

# expect_refusal TEXT COMMAND...: trouble, the message contains TEXT, and nothing was written to stdout.
expect_refusal() {
    text=$1
    shift
    expect 2 "$@"
    expect_message "$text"
    [ ! -s "$work/stdout" ] || fail "output on trouble: $*"
}

# expect_output FILE: stdout of the last command has the content of FILE.
expect_output() {
    cmp -s "$1" "$work/stdout" || fail "output differs from $1"
}

expect_silent() {
    [ ! -s "$work/stderr" ] || fail "there should be nothing on stderr"
}

# expect_json EXPRESSION...: stdout of the last command is one JSON document, called d, for which the
# Python expressions hold.
expect_json() {
    python3 - "$work/stdout" "$@" <<'PYTHON' || fail "JSON is not as expected"
import json, sys
def refuse(name):
    raise ValueError(name + " is no JSON")
with open(sys.argv[1], encoding="utf-8") as file:
    d = json.load(file, parse_constant=refuse)
number = (int, float)
for expression in sys.argv[2:]:
    if not eval(expression):
        sys.exit(expression + " does not hold for " + json.dumps(d)[:2000])
PYTHON
}

# The kinds that can do what is asked for: kinds [--deletes]
kinds() {
    "$tamis" plan -n 1000 --all --json "$@" | sed -n 's/^ *"kind": "\(.*\)",$/\1/p'
}
