#!/bin/sh
# test_parts.sh - damage in a large set: told by all commands, and no key is said to be absent because of it
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

seq 1 200000 >keys
seq 300000 340000 >others
damage="the body is damaged: its checksum does not match"

# Files below 64 MiB are loaded, and refused if they are damaged.  So small a set is mapped for this test.
expect 0 "$tamis" build -p 0.001 --seed 7 --kind blocked-bloom -o set.tamis keys
printf 'damage' | dd of=set.tamis bs=1 seek=102400 conv=notrunc 2>/dev/null
expect_refusal "$damage" "$tamis" query set.tamis keys
export TAMIS_MAPPED_LEAST=1

for kind in blocked-bloom line rank; do
    expect 0 "$tamis" build -p 0.001 --seed 7 --kind $kind -o good.tamis keys
    [ "$(wc -c <good.tamis)" -gt 200000 ] || fail "the set is too small for this test"
    expect 0 "$tamis" verify good.tamis
    expect 0 "$tamis" query -c good.tamis keys
    [ "$(cat stdout)" -eq 200000 ] || fail "keys are missing"

    # Some bytes in the table are changed; 100 KiB from the beginning, whatever the size.
    cp good.tamis set.tamis
    printf 'damage' | dd of=set.tamis bs=1 seek=102400 conv=notrunc 2>/dev/null
    expect_refusal "$damage" "$tamis" verify set.tamis
    expect_refusal "$damage" "$tamis" info set.tamis
    expect_refusal "$damage" "$tamis" merge -o out.tamis good.tamis set.tamis
    [ ! -e out.tamis ] || fail "a damaged set was merged"
    expect 2 "$tamis" verify --json set.tamis
    grep -q '"good": *false' stdout || fail "verify --json"

    # Asked: exit code 2, one message, and each key that was in is printed.
    for jobs in 1 2; do
        expect 2 "$tamis" query -j $jobs set.tamis keys
        expect_message "set.tamis: $damage"
        cmp -s stdout keys || fail "keys were said to be absent because of damage ($kind, $jobs)"
    done
    expect 2 "$tamis" query -v set.tamis keys
    [ ! -s stdout ] || fail "keys were said to be absent, which is certain ($kind)"
    expect 2 "$tamis" query -c set.tamis others
    asked=$(cat stdout)
    "$tamis" query -c good.tamis others >before || true
    [ "$asked" -gt "$(cat before)" ] || fail "no key met the damage"

    # The same with the last checksum, and with the end cut off.
    size=$(wc -c <good.tamis)
    cp good.tamis set.tamis
    printf 'damaged!' | dd of=set.tamis bs=1 seek=$((size - 8)) conv=notrunc 2>/dev/null
    expect_refusal "$damage" "$tamis" query -c set.tamis keys
    head -c $((size - 8)) good.tamis >set.tamis
    expect_refusal "the file is cut off within the body" "$tamis" query -c set.tamis keys
done
