#!/bin/sh
# test_counted.sh - tamis build without -n plans for the different keys, keeps the promise, and tells what it found
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

bytes() {
    expect 0 "$tamis" info --json "$1"
    sed -n 's/^ *"bytes": \([0-9]*\),$/\1/p' stdout
}

# Few different keys are counted exactly.
seq 1 20000 >some
cat some some some >thrice
expect 0 "$tamis" build --seed 3 -o some.tamis some
expect_silent
expect 0 "$tamis" build --seed 3 -o thrice.tamis thrice
expect_message "60,000 keys came, 20,000 of them different: the set is made for 20,000"
cmp some.tamis thrice.tamis || fail "keys that come again make another set"
expect 0 "$tamis" build --seed 3 --deletes --copies 3 -o copies.tamis thrice
expect_message "60,000 keys came, 20,000 of them different: the set is made for 20,000"
# It is told where it matters.
{ cat some; seq 1 500; } >nearly
expect 0 "$tamis" build -o nearly.tamis nearly
expect_silent
expect 0 "$tamis" build --verbose -o nearly.tamis nearly
grep -q '20,500 keys came, 20,000 of them different: the set is made for 20,000' stderr || fail "--verbose"
expect 0 "$tamis" build -o empty.tamis /dev/null
expect_silent

# Many are estimated: of 100,000, with a standard error of 203 and a margin of 965, at least 100,000 are planned for,
# and at most 101,930, but with odds of 1e-6 each.  If all are different, the lines are counted and nothing changes.
seq 1 100000 >many
awk '{ print; print 100001 - $1 }' many >twice
expect 0 "$tamis" build --seed 3 -o many.tamis many
expect_silent
expect 0 "$tamis" info --json many.tamis
expect_json "d['capacity'] == 100000"
for seed in 1 2 3 4 5 6 7 8; do
    expect 0 "$tamis" build --seed $seed -p 0.001 -o twice.tamis twice
    grep -q '^tamis build: 200,000 keys came, about [0-9,]* of them different: the set is made for 10[01],[0-9]*$' stderr ||
        fail "what is told"
    expect 0 "$tamis" info --json twice.tamis
    expect_json "100000 <= d['capacity'] <= 101930 and d['fpr'] <= 0.001"
done
"$tamis" build -p 0.001 -n 200000 -o large.tamis twice
[ $(($(bytes twice.tamis) * 100)) -lt $(($(bytes large.tamis) * 52)) ] || fail "the set is not half as large"
expect 0 "$tamis" query -c twice.tamis many
[ "$(cat stdout)" = 100000 ] || fail "keys are missing"

# The same keys make the same set, whatever the number of threads.
"$tamis" build --seed 9 -j 1 -o one.tamis twice 2>/dev/null
for jobs in 2 5; do
    "$tamis" build --seed 9 -j $jobs -o jobs.tamis twice 2>/dev/null
    cmp one.tamis jobs.tamis || fail "-j $jobs makes another set"
done

# What is asked for is planned for the different keys, and promises are kept: also by a kind that is placed with
# the knowledge of all keys, where those that come again would disturb.
for need in "-p 1e-6" "-p 1e-6 --kind dleft" "--kind bloom" "--grow" "--merges" "--deletes --copies 2" "--bytes 150K" \
    "--bytes 150K -p 0.01"; do
    # shellcheck disable=SC2086
    expect 0 "$tamis" build --seed 4 $need -o need.tamis twice
    expect_message "of them different: the set is made for 10"
    rate=0.01
    case $need in *1e-6*) rate=1e-6 ;; esac
    expect 0 "$tamis" info --json need.tamis
    expect_json "100000 <= d['capacity'] <= 101930 and d['fpr'] <= $rate"
    expect 0 "$tamis" query -c need.tamis many
    [ "$(cat stdout)" = 100000 ] || fail "keys are missing: $need"
done
# A set that counts copies has room for all of them, unless it is told how many there may be.
expect 0 "$tamis" build --deletes -o deletes.tamis twice
expect_message "of them different: the set counts copies and is made for all (see --copies, or sort -u)"
expect 0 "$tamis" info --json deletes.tamis
expect_json "d['capacity'] == 200000 and d['count'] == 200000"
# Equal keys fill a line sooner than others: another kind, with counters, takes them.
expect_json "d['kind'] != 'line'"
cat many many many many many >five
expect 0 "$tamis" build --deletes -o five.tamis five
for turn in 1 2 3 4 5; do
    [ "$("$tamis" query -c five.tamis many)" = 100000 ] || fail "copies are missing before removal $turn"
    expect 0 "$tamis" remove five.tamis many
done
[ "$("$tamis" query -c five.tamis many)" = 0 ] || fail "copies that were removed"
expect 2 "$tamis" build --deletes --kind line -o none.tamis five
expect_message "perhaps of many equal keys"
# Nothing is estimated that is given.
expect 0 "$tamis" build -n 300000 -o given.tamis twice
expect_silent
expect 0 "$tamis" info --json given.tamis
expect_json "d['capacity'] == 300000"

# An estimate that is too low is made good: the set is built again, for more.
TAMIS_BUILD_ESTIMATE=0.3 "$tamis" build --seed 3 -p 0.001 -o low.tamis twice 2>stderr || fail "a low estimate"
if grep -q '100,9' stderr; then
    echo "skipped: a low estimate, which only a build for tests can make"
else
    [ "$(wc -l <stderr)" -eq 1 ] || fail "a low estimate is told"
    for need in "-p 0.001" "-p 1e-6 --kind dleft" "--kind bloom" "--deletes --copies 2" "--kind line -p 1e-4"; do
        # shellcheck disable=SC2086
        TAMIS_BUILD_ESTIMATE=0.3 expect 0 "$tamis" build --seed 3 $need -o low.tamis twice
        expect 0 "$tamis" info --json low.tamis
        rate=$(echo "$need" | sed -n 's/.*-p \([^ ]*\).*/\1/p')
        expect_json "100000 <= d['capacity'] <= 200000 and d['fpr'] <= ${rate:-0.01}"
        expect 0 "$tamis" query -c low.tamis many
        [ "$(cat stdout)" = 100000 ] || fail "keys are missing after a low estimate"
    done
fi

# Copies are no reason for a warning or worse: -n counts different keys.  By chance a full set errs a bit more or less
# often than planned, which is within the promise for keys that come once, and so for copies.
cat some some >copies
for kind in rank-counting steady counting-bloom; do
    for seed in 1 2 3 4 5 6; do
        expect 0 "$tamis" build --seed $seed -n 20000 -p 0.01 --copies 2 --kind $kind -o copies.tamis copies
        expect_silent
    done
    expect 0 "$tamis" build --seed 1 --overfull -n 20000 -p 0.01 --copies 2 --kind $kind -o copies.tamis copies
    expect_silent
    expect 0 "$tamis" info --json copies.tamis
    expect_json "d['count'] == 40000 and d['capacity'] == 20000 and d['fpr'] < 0.0105"
    expect 0 "$tamis" build --seed 1 -n 100000 -p 0.01 --copies 2 --kind $kind -o copies.tamis twice
    expect_silent
    expect_refusal "nothing was saved" \
        "$tamis" build --seed 1 -n 15000 -p 0.01 --copies 2 --kind $kind -o copies.tamis copies
done
expect 0 "$tamis" build --overfull -n 1000 --kind bloom -o over.tamis many
expect_message "warning: over.tamis holds "
