#!/bin/sh
# test_round_trip.sh - build, save, query, add, remove, merge for every kind
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

seq 1 20000 | sed 's/^/key /' >keys
seq 1 20000 | sed 's/^/absent /' >absent
seq 20001 20500 | sed 's/^/key /' >extra
seq 1 200000 | sed 's/^/flood /' >flood
sort keys >sorted

[ -n "$(kinds)" ] || fail "no kinds"
kinds | grep -qx bloom || fail "no bloom"
kinds --deletes | grep -qx counting-bloom || fail "no counting-bloom"
if kinds --deletes | grep -qx bloom; then fail "bloom cannot delete"; fi

# count SET FILE: how many keys of the file are found.
count() {
    "$tamis" query -c "$1" "$2" || [ $? -eq 1 ]
}

# few SET FILE: at most 1.5 % of the 20,000 keys of the file are found (promised 1 %, 7 sigma).
few() {
    [ "$(count "$1" "$2")" -le 300 ] || fail "too many false positives in $1"
}

for kind in $(kinds); do
    for known in "" "-n 20000"; do
        # shellcheck disable=SC2086
        expect 0 "$tamis" build --kind "$kind" $known -o set.tamis keys
        expect_silent
        expect 0 "$tamis" query set.tamis keys
        expect_output keys
        expect 1 "$tamis" query -v set.tamis keys
        [ ! -s stdout ] || fail "$kind: output of nothing"
        few set.tamis absent
        expect 0 "$tamis" verify set.tamis
        expect 0 "$tamis" info --json set.tamis
        expect_json "d['kind'] == '$kind' and d['capacity'] == 20000"
        expect_json "19600 <= d['count'] <= 20000"
    done

    # The same seed and keys give the same bytes, whichever way they came in; counted first they may be
    # placed better, but the same way each time.
    "$tamis" build --kind "$kind" --seed 7 -n 20000 -o a.tamis keys
    "$tamis" build --kind "$kind" --seed 0x7 -n 20k -o - <keys >b.tamis
    cmp a.tamis b.tamis || fail "$kind: the way of the keys matters"
    "$tamis" build --kind "$kind" --seed 7 -o a.tamis keys
    "$tamis" build --kind "$kind" --seed 7 -o - <keys >b.tamis
    cmp a.tamis b.tamis || fail "$kind: the way of counted keys matters"
    "$tamis" build --kind "$kind" -n 20000 -o c.tamis keys
    "$tamis" build --kind "$kind" -n 20000 -o d.tamis keys
    if cmp -s c.tamis d.tamis; then fail "$kind: the seed is not random"; fi

    # From a pipe, as set and as keys.
    "$tamis" query - keys <a.tamis >out
    cmp keys out || fail "$kind: set from stdin"
    cat a.tamis | "$tamis" query - keys >out
    cmp keys out || fail "$kind: set from a pipe"
    cat keys | "$tamis" query a.tamis >out
    cmp keys out || fail "$kind: keys from a pipe"

    # Adding a little beyond the capacity finds all, and warns if the promise is broken by it.
    cp a.tamis added.tamis
    expect 0 "$tamis" add added.tamis extra
    mv stderr said
    if "$tamis" info --json added.tamis |
        python3 -c 'import json, sys; d = json.load(sys.stdin); sys.exit(d["fpr"] <= d["fpr_promised"])'; then
        grep -q warning said || fail "$kind: no warning of a broken promise"
    else
        [ ! -s said ] || fail "$kind: a warning though the promise is kept"
    fi
    [ "$(count added.tamis keys)" -eq 20000 ] || fail "$kind: add lost keys"
    [ "$(count added.tamis extra)" -eq 500 ] || fail "$kind: add did not add"
    cp a.tamis kept.tamis
    expect 0 "$tamis" add a.tamis -o other.tamis extra
    cmp a.tamis kept.tamis || fail "$kind: add -o changed the set"
    cmp other.tamis added.tamis || fail "$kind: add -o differs from add"

    # Far beyond it the set takes all, or is full and stays as it was.
    if "$tamis" add added.tamis flood 2>stderr; then
        [ "$(count added.tamis flood)" -eq 200000 ] || fail "$kind: a flood lost keys"
    else
        expect_message "the set is full"
        cmp added.tamis other.tamis || fail "$kind: a full set was changed"
    fi
    [ "$(wc -l <stderr)" -eq 1 ] || fail "$kind: a flood needs one line"

    # Two halves merged are the whole, if the kind can do it.
    head -n 10000 keys >half1
    tail -n 10000 keys >half2
    "$tamis" build --like a.tamis -o half1.tamis half1
    "$tamis" build --like half1.tamis -o half2.tamis half2
    if "$tamis" plan -n 5 --kind "$kind" --json | grep -q '"merges": false'; then
        expect 2 "$tamis" merge half1.tamis half2.tamis -o no.tamis
        expect_message "cannot be merged; these can: bloom, "
        [ ! -e no.tamis ] || fail "$kind: a refused merge wrote a file"
        continue
    fi
    expect 0 "$tamis" merge half1.tamis half2.tamis -o merged.tamis
    [ "$(count merged.tamis keys)" -eq 20000 ] || fail "$kind: merge lost keys"
    few merged.tamis absent
    expect 0 "$tamis" merge --beyond half1.tamis half2.tamis half1.tamis -o half1.tamis
    [ "$(count half1.tamis keys)" -eq 20000 ] || fail "$kind: merge onto an input lost keys"
    # Twice the keys that were planned would break the promise: only if that is wanted.
    seq 20000 39999 >others
    "$tamis" build --like half1.tamis -o others.tamis others
    expect 2 "$tamis" merge merged.tamis others.tamis -o no.tamis
    if "$tamis" merge --beyond merged.tamis others.tamis -o beyond.tamis 2>full; then
        expect_message "more often than the 0.01 that was promised"
        [ "$(count beyond.tamis others)" -eq 20000 ] || fail "$kind: merge beyond the promise lost keys"
    else # fingerprints need room, promise or not
        # A set does not store a key that seems to be there.
        grep -q '^tamis merge: merged.tamis and others.tamis have [0-9,]* keys, and there is no room for those of both;' stderr ||
            fail "$kind: merge of too many keys"
        cmp -s full stderr || fail "$kind: merge beyond the promise: $(cat full)"
    fi
    expect 0 "$tamis" merge -p 0.03 merged.tamis others.tamis -o series.tamis
    [ "$(count series.tamis keys) $(count series.tamis others)" = "20000 20000" ] || fail "$kind: merge -p lost keys"
    expect 2 "$tamis" merge a.tamis c.tamis -o no.tamis
    expect_message "differ in seed"
    [ ! -e no.tamis ] || fail "$kind: a failed merge wrote a file"
done

for kind in $(kinds --replacements 10); do
    "$tamis" build --deletes --kind "$kind" -p 0.001 -o set.tamis keys
    head -n 10000 keys >half1
    tail -n 10000 keys >half2
    expect 0 "$tamis" remove set.tamis half1
    expect_silent
    [ "$(count set.tamis half2)" -eq 10000 ] || fail "$kind: remove lost other keys"
    [ "$(count set.tamis half1)" -le 30 ] || fail "$kind: removed keys are still there"
    # Keys that were never there are refused, the others removed.
    head -n 5 half2 >some
    cp some mixed
    echo "certainly absent" >>mixed
    expect 1 "$tamis" remove set.tamis mixed
    expect_message "1 of 6 keys"
    expect 1 "$tamis" remove set.tamis half2 -o other.tamis
    expect_message "of 10,000 keys were certainly not in the set"
    [ "$(count set.tamis half2)" -ge 9995 ] || fail "$kind: remove -o changed the set"
    [ "$(count other.tamis half2)" -le 10 ] || fail "$kind: remove -o did not remove"
done

# What cannot be done is refused and leaves the file alone.
"$tamis" build --kind bloom -o set.tamis keys
cp set.tamis before.tamis
expect 2 "$tamis" remove set.tamis keys
expect_message "counting-bloom"
cmp set.tamis before.tamis || fail "a refused remove changed the file"
"$tamis" build --kind blocked-bloom -o other.tamis keys
expect 2 "$tamis" merge set.tamis other.tamis -o no.tamis
expect_message "differ in kind (bloom, blocked-bloom)"
"$tamis" build --kind bloom -n 99999 -o other.tamis keys
expect 2 "$tamis" merge set.tamis other.tamis -o no.tamis
expect_message "differ in bits"
