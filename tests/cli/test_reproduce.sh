#!/bin/sh
# test_reproduce.sh - tamis reproduce: selection, verdicts, JSON, exit codes
# SPDX-License-Identifier: MIT
# shellcheck source=tests/cli/support.sh
. "$1/tests/cli/support.sh"

fields="id paper printed computed expected simulated stderr verdict note"

# One figure, and all that begin with something.
expect 0 "$tamis" reproduce dleft.t1.load7
grep -q '^dleft.t1.load7  *5.6e-31  *5.56[0-9]*e-31  *0.0143[0-9]*  *0.01[0-9]*  .* agrees ' stdout || fail "no figure of table 1"
[ "$(wc -l <stdout)" -eq 2 ] || fail "not one figure"
grep -q '^tamis reproduce: 1 agree, 0 typo, 0 differ' stderr || fail "no summary"
expect 0 "$tamis" reproduce dleft.t1.
[ "$(wc -l <stdout)" -eq 9 ] || fail "not the eight figures of table 1"
expect 0 "$tamis" reproduce 'dleft.t1*' dlcbf.fpr.bound
[ "$(wc -l <stdout)" -eq 10 ] || fail "not the figures asked for"

# A figure is there once, however it was asked for.
expect 0 "$tamis" reproduce dlcbf.fpr.bound dlcbf.fpr. 'dlcbf.fpr.b*'
[ "$(grep -c '^dlcbf.fpr.bound ' stdout)" -eq 1 ] || fail "a figure twice"

# Exit code 1 if a figure differs, and only then: a slip of the paper does not count.
expect 0 "$tamis" reproduce dlcbf.counter
grep -q ' typo ' stdout || fail "no typo"
expect 1 "$tamis" reproduce rank.t1.gt128
grep -q ' differs ' stdout || fail "no difference"

# Trouble.
expect 2 "$tamis" reproduce dleft.t1.load99
grep -q "'dleft.t1.load99'" stderr || fail "the unknown figure is not named"
expect 2 "$tamis" reproduce dleft
expect 2 "$tamis" reproduce ''
expect 2 "$tamis" reproduce --fast
expect 2 "$tamis" reproduce --plot-data nowhere/at/all
expect 2 "$tamis" reproduce --plot-data . dleft.t1.load1
expect 0 "$tamis" reproduce --help

expect 0 "$tamis" reproduce --json dleft.t1. dlcbf.sec4. rank.t2.po.1e-2 dleft.bloom16
expect_json "isinstance(d, list) and all(set('$fields'.split()) == set(f) for f in d)" \
    "all(f['verdict'] in ('agrees', 'typo', None) for f in d)" \
    "[f['computed'] for f in d if f['id'] == 'dlcbf.sec4.dlcbf'] == [24 / 2048]" \
    "[f['printed'] for f in d if f['id'] == 'dlcbf.sec4.dlcbf'] == [0.01172]" \
    "[f['printed'] for f in d if f['id'] == 'dlcbf.sec4.ratio14'] == ['over 100']" \
    "all((f['simulated'] is None) == (f['stderr'] is None) == (f['expected'] is None) for f in d)" \
    "[f['printed'] for f in d if f['id'] == 'rank.t2.po.1e-2'] == ['at most 1e-10']" \
    "all(abs(f['simulated'] - f['computed']) < 5 * f['stderr'] for f in d if f['id'] == 'dleft.bloom16')"

# The data of the plots.
expect 0 "$tamis" reproduce --plot-data .
for file in error.dat loads.dat regions.dat; do
    [ "$(grep -c '^[0-9]' "$file")" -gt 50 ] || fail "too few points in $file"
    ! grep -qi 'nan\|inf' "$file" || fail "no numbers in $file"
done
