#!/bin/sh
# test_grow.sh - sets that grow: built, added to, shown, refused, built anew
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

seq 1 500 >first
seq 501 5000 >second
seq 100001 140000 >absent
for kind in $(kinds); do
    expect 0 "$tamis" build --grow -p 0.01 --kind "$kind" -o set.tamis first
    expect_silent
    expect 0 "$tamis" info --json set.tamis
    expect_json "d['fpr_promised'] == 0.01 and len(d['links']) == 1 and d['capacity'] == 500"
    expect 0 "$tamis" add set.tamis second
    expect_silent
    expect 0 "$tamis" info --json set.tamis
    expect_json "len(d['links']) == 4 and d['capacity'] == 7500 and d['fpr'] <= 0.01" \
        "sum(l['count'] for l in d['links']) == d['count'] and sum(l['bytes'] for l in d['links']) == d['bytes']" \
        "d['compact_bytes'] is None"
    [ "$("$tamis" query -c set.tamis first second)" = 5000 ] || fail "$kind: keys are lost"
    wrong=$("$tamis" query -c set.tamis absent)
    [ "$wrong" -lt 490 ] || fail "$kind: $wrong of 40000 absent keys are claimed" # 400 + 4.5 sigma
    expect 0 "$tamis" verify set.tamis
    expect 0 "$tamis" info set.tamis
    grep -q '^link 4 ' stdout || fail "$kind: info does not show the links"
    # One link again, smaller.
    expect 0 "$tamis" build --like set.tamis -o small.tamis first second
    expect 0 "$tamis" info --json small.tamis
    expect_json "len(d['links']) == 1 and d['kind'] == '$kind' and d['fpr'] <= 0.01 and d['fpr_promised'] == 0.01"
    [ "$(wc -c <small.tamis)" -lt "$(wc -c <set.tamis)" ] || fail "$kind: not smaller"
    [ "$("$tamis" query -c small.tamis first second)" = 5000 ] || fail "$kind: keys are lost"
done

# A set that was not made to grow does so when asked.
expect 0 "$tamis" build -n 500 -p 0.01 --kind bloom -o set.tamis first
expect 0 "$tamis" add -o over.tamis set.tamis second
expect_message "(see --grow)"
expect 0 "$tamis" add --grow -o grown.tamis set.tamis second
expect_silent
expect 0 "$tamis" info --json grown.tamis
expect_json "len(d['links']) == 4 and d['fpr'] <= d['fpr_promised'] < 0.021"
expect 0 "$tamis" add -p 0.05 -o grown.tamis set.tamis second
expect 0 "$tamis" info --json grown.tamis
expect_json "d['fpr'] <= d['fpr_promised'] == 0.05"
expect 0 "$tamis" build -n 500 --kind bloom -o empty.tamis /dev/null
expect 0 "$tamis" add --grow empty.tamis first
expect 0 "$tamis" info --json empty.tamis
expect_json "d['fpr_promised'] == 0.02" # twice what it was planned for
expect 2 "$tamis" add -p 0.0001 set.tamis second
[ "$("$tamis" query -c set.tamis first)" = 500 ] || fail "a refused growth changed the set"

# Removing keys: those that several links claim stay, and no other key is lost.
expect 0 "$tamis" build --grow -n 100 -p 0.1 --deletes -o set.tamis first second
code=0
"$tamis" remove set.tamis first 2>stderr || code=$?
[ "$code" -le 1 ] || fail "remove"
[ "$("$tamis" query -c set.tamis second)" = 4500 ] || fail "remove lost keys"
expect 1 "$tamis" remove set.tamis absent
expect_message "claimed by several of its links"

# Merging: the links of both, under a promise that has room for them.
for kind in bloom dleft line; do
    expect 0 "$tamis" build --grow -p 0.01 -n 200 --seed 7 --kind "$kind" -o a.tamis first
    expect 0 "$tamis" build --grow -p 0.01 -n 700 --seed 7 --kind "$kind" -o b.tamis second
    expect 0 "$tamis" merge -p 0.02 -o both.tamis a.tamis b.tamis
    expect_silent
    [ "$("$tamis" query -c both.tamis first second)" = 5000 ] || fail "$kind: a merge lost keys"
    expect 0 "$tamis" info --json both.tamis
    expect_json "len(d['links']) == 5 and d['fpr'] <= d['fpr_promised'] == 0.02"
    expect 0 "$tamis" verify both.tamis
    expect 0 "$tamis" add both.tamis absent
    [ "$("$tamis" query -c both.tamis first second absent)" = 45000 ] || fail "$kind: keys are lost"
    expect 0 "$tamis" info --json both.tamis
    expect_json "d['fpr'] <= 0.02"
done
# Sets that were not made to grow, of a kind that cannot merge.
expect 0 "$tamis" build -p 0.01 -n 5000 --seed 7 --kind dleft -o a.tamis first
expect 0 "$tamis" build --like a.tamis -o b.tamis second
expect 2 "$tamis" merge -o x.tamis a.tamis b.tamis
expect_message "(or see -p)"
expect 0 "$tamis" merge -p 0.05 -o both.tamis a.tamis b.tamis
[ "$("$tamis" query -c both.tamis first second)" = 5000 ] || fail "a merge lost keys"
# Refused: nothing is written.
expect 2 "$tamis" merge -o x.tamis grown.tamis grown.tamis
expect_message "promise more with -p, or permit it with --beyond"
expect 2 "$tamis" merge -p 0.001 -o x.tamis grown.tamis grown.tamis
expect_message "cannot be promised"
expect 2 "$tamis" merge -p 1.5 -o x.tamis grown.tamis grown.tamis
expect 2 "$tamis" merge -p 0.5 -o x.tamis grown.tamis a.tamis
expect_message "differ in kind (bloom, dleft)"
expect 0 "$tamis" build --kind dleft -n 1000 --seed 8 -o b.tamis first
expect 2 "$tamis" merge -p 0.5 -o x.tamis a.tamis b.tamis
expect_message "differ in seed"
[ ! -e x.tamis ] || fail "a refused merge wrote a file"

# What does not go together.
expect 2 "$tamis" build --grow --compact -o x.tamis first
expect 2 "$tamis" build --grow --bytes 1M -o x.tamis first
expect 2 "$tamis" build --grow --like set.tamis -o x.tamis first
expect 2 "$tamis" remove --grow set.tamis first
expect 2 "$tamis" remove -p 0.1 set.tamis first

# Through pipes.
"$tamis" build --grow -n 100 -p 0.01 -o - first | "$tamis" add -o - - second | "$tamis" query -c - second >count
[ "$(cat count)" = 4500 ] || fail "pipes"
exit 0
