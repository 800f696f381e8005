#!/bin/sh
# test_compact.sh - the compact form on the command line
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

seq 1 20000 >keys
seq 20001 40000 >others
for kind in rank rank-counting; do
    "$tamis" build --kind "$kind" -p 0.001 --seed 5 -o whole.tamis keys
    "$tamis" build --kind "$kind" -p 0.001 --seed 5 --compact -o small.tamis keys
    [ "$(wc -c <small.tamis)" -lt "$(wc -c <whole.tamis)" ] || fail "$kind: not smaller"
    [ "$("$tamis" query -c small.tamis keys)" -eq 20000 ] || fail "$kind: keys are missing"
    "$tamis" query whole.tamis others >a || :
    "$tamis" query small.tamis others >b || :
    cmp a b || fail "$kind: other answers"
    "$tamis" verify small.tamis >/dev/null || fail "$kind: not good"
    "$tamis" info small.tamis >a
    "$tamis" info - <small.tamis >b
    grep -q "^compact  *.* bits per key" a || fail "$kind: info does not tell the compact size"
    sed 1d a >c
    sed 1d b | cmp - c || fail "$kind: info of a pipe"
    "$tamis" build --like whole.tamis --compact -o - keys | cmp - small.tamis || fail "$kind: like"

    # A set that is changed becomes a whole one.
    seq 1 100 | "$tamis" remove small.tamis
    [ "$(wc -c <small.tamis)" -eq "$(wc -c <whole.tamis)" ] || fail "$kind: not whole"
    [ "$("$tamis" query -c small.tamis keys)" -lt 19910 ] || fail "$kind: keys were not removed"
done
"$tamis" build --compact -o default.tamis keys
"$tamis" info default.tamis | grep -q "^kind  *rank$" || fail "rank is not the default"

expect 2 "$tamis" build --compact --kind bloom -o no.tamis keys
expect_message "no compact form"
"$tamis" build --kind bloom -o bloom.tamis keys
expect 2 "$tamis" build --compact --like bloom.tamis -o no.tamis keys
expect_message "no compact form"
[ ! -e no.tamis ] || fail "a file was written"

# Damage is seen.
head -c 1000 default.tamis >cut.tamis
expect 2 "$tamis" verify cut.tamis
expect_message "damaged"
