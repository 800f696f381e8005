#!/bin/sh
# test_figures.sh SOURCE BUILD CC [--update] - figures in the documentation are those that the planner prints
#
# figures.txt says which.  After a change of the planner call it with --update: it writes them into the pages.
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"
# shellcheck disable=SC2154
python3 "$source_dir/tests/cli/figures.py" "$source_dir" "$tamis" ${4+"$4"} || fail "figures: see tests/cli/figures.txt"
