#!/bin/sh
# test_plan_check.sh - needs at random: planned, built, measured, every promise kept
#
# TAMIS_CHECK_NEEDS, TAMIS_CHECK_CHANGING and TAMIS_CHECK_KEYS make it longer: docs/planner.md tells of 200 needs.
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

needs=${TAMIS_CHECK_NEEDS:-40}
expect 0 "$tamis" plan --check "$needs" -n "${TAMIS_CHECK_KEYS:-20000}"
grep -q "^$needs of $needs promises kept; " stdout || fail "the last line does not say so"
[ "$(grep -c ' yes$' stdout)" -eq "$needs" ] || fail "not one row for each need"

# The same needs come each time, others with another seed.
expect 0 "$tamis" plan --check 3 -n 1000
mv stdout first
expect 0 "$tamis" plan --check 3 -n 1000
expect_output first
expect 0 "$tamis" plan --check 3 -n 1000 --seed 2
! cmp -s first stdout || fail "the seed has no effect"

# Sets whose keys are replaced, in copies or not.
changing=${TAMIS_CHECK_CHANGING:-8}
expect 0 "$tamis" plan --check "$changing" -n "${TAMIS_CHECK_KEYS:-500}" --changes
grep -q "^$changing of $changing promises kept; " stdout || fail "not all promises of sets that change"
expect 2 "$tamis" plan --check 3 --changes --threads 2
expect 2 "$tamis" plan -n 100 --changes
expect 2 "$tamis" plan --check 0
expect 2 "$tamis" plan --check x
exit 0
