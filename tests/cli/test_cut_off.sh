#!/bin/sh
# test_cut_off.sh - a set below 64 MiB is asked from memory: who cuts off its file does not end the command
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

mkfifo pipe
for n in 1000 300000; do # verified at once, or in parts, if it were mapped
    seq 1 "$n" >keys
    expect 0 "$tamis" build -p 0.001 --seed 7 -o good.tamis keys
    for change in cut overwrite; do
        cp good.tamis set.tamis
        "$tamis" query -c set.tamis pipe >stdout 2>stderr &
        child=$!
        exec 3>pipe # the pipe is opened after the set
        if [ "$change" = cut ]; then
            : >set.tamis
        else
            dd if=/dev/zero of=set.tamis bs=1024 count=8 conv=notrunc 2>/dev/null
        fi
        cat keys >&3
        exec 3>&-
        code=0
        wait "$child" || code=$?
        [ "$code" -eq 0 ] || fail "exit code $code after the file was changed ($change, $n keys)"
        [ "$(cat stdout)" -eq "$n" ] || fail "$(cat stdout) of $n keys ($change)"
    done
done
