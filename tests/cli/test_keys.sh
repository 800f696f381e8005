#!/bin/sh
# test_keys.sh - how keys are written: lines, NUL, integers, hexadecimal, any bytes, any length
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

# A small error rate: none of the few absent keys below is found by chance.
build() {
    "$tamis" build -p 1e-9 -o set.tamis "$@"
}

info_count() {
    "$tamis" info --json set.tamis | sed -n 's/^ *"count": \([0-9]*\),$/\1/p'
}

# A last line without newline counts; files are not joined; an empty line is the empty key.
printf 'one\ntwo' >a
printf 'three\n\nfour' >b
build a b
[ "$(info_count)" -eq 5 ] || fail "5 keys expected, not $(info_count)"
printf 'one\ntwo\nthree\n\nfour\n' >all
expect 0 "$tamis" query set.tamis all
expect_output all
expect 1 "$tamis" query set.tamis - <<END
twothree
one 
END
expect 0 "$tamis" query -c set.tamis a b
[ "$(cat stdout)" = 5 ] || fail "query -c"
expect 1 "$tamis" query -c -v set.tamis a b
[ "$(cat stdout)" = 0 ] || fail "query -c -v"
expect 0 "$tamis" query -q set.tamis a
[ ! -s stdout ] || fail "query -q prints"
expect 1 "$tamis" query -q -v set.tamis a
# An empty input is no key; one newline is one.
: >empty
echo >newline
expect 0 "$tamis" build -o set.tamis empty
[ "$(info_count)" -eq 0 ] || fail "empty input"
expect 1 "$tamis" query set.tamis newline
expect 0 "$tamis" build -o set.tamis newline
[ "$(info_count)" -eq 1 ] || fail "one empty line"
expect 0 "$tamis" query set.tamis newline
expect_output newline
expect 1 "$tamis" query set.tamis empty

# A carriage return belongs to the key.
printf 'a\r\nb\r\n' >crlf
printf 'a\nb\n' >lf
build crlf
expect 0 "$tamis" query set.tamis crlf
expect_output crlf
expect 1 "$tamis" query set.tamis lf

# All bytes: NUL within lines, newline within NUL-separated keys.
printf 'a\0b\nc\200\377\n' >bytes
build bytes
expect 0 "$tamis" query set.tamis bytes
expect_output bytes
printf 'a\nb\0c\0' >null
build -0 null
[ "$(info_count)" -eq 2 ] || fail "-0"
expect 0 "$tamis" query -0 set.tamis null
expect_output null
expect 0 "$tamis" query --null -c set.tamis null
printf 'a\nb\nc\n' >lines
printf 'c\n' >only
expect 0 "$tamis" query set.tamis lines
expect_output only

# Integers: the value counts, not how it is written; the output is as written.
printf '255\n 18446744073709551615\n0\n007\r\n' >numbers
build --u64 numbers
printf '0xff\n0XFFFFFFFFFFFFFFFF\n0x0\n7\n' >same
expect 0 "$tamis" query --u64 set.tamis same
expect_output same
expect 0 "$tamis" query --u64 set.tamis numbers
expect_output numbers
printf '1\n2\n' >others
expect 1 "$tamis" query --u64 set.tamis others
# The key of an integer is its 8 bytes, lowest first.
printf 'ff00000000000000\nFFFFffffFFFFffff\n0000000000000000\n0700000000000000\n' >hex
expect 0 "$tamis" query --hex set.tamis hex
expect_output hex
for bad in "" -1 1.5 abc 0x 18446744073709551616 0x10000000000000000 "1 2" +5; do
    printf '17\n%s\n' "$bad" >bad
    cp set.tamis before.tamis
    expect 2 "$tamis" build --u64 -o set.tamis numbers bad
    expect_message "bad: key 2 is not an integer"
    cmp set.tamis before.tamis || fail "a failed build changed the file"
    expect 2 "$tamis" build --u64 -n 10 -o set.tamis bad
    cmp set.tamis before.tamis || fail "a failed build changed the file"
    expect 2 "$tamis" add --u64 set.tamis bad
    cmp set.tamis before.tamis || fail "a failed add changed the file"
done
# What came before the bad line is answered.
printf '255\nx\n0\n' >bad
expect 2 "$tamis" query --u64 set.tamis bad
printf '255\n' >only
expect_output only

# Hexadecimal.
printf '6f6e65\n\n00ff\n' >hex
build --hex hex
printf 'one\n\n' >text
expect 0 "$tamis" query set.tamis text
expect_output text
for bad in 6 6g 0x6f "6f 6f"; do
    echo "$bad" >bad
    expect 2 "$tamis" query --hex set.tamis bad
    expect_message "bad: key 1 is not hexadecimal: '$bad'"
done

# Long keys, across any buffer; they differ only in the last byte.
head -c 3000000 /dev/zero | tr '\0' x >long
{ cat long; echo a; cat long; echo b; echo short; } >keys
{ cat long; echo c; } >absent
build keys
[ "$(info_count)" -eq 3 ] || fail "long keys"
expect 0 "$tamis" query set.tamis keys
expect_output keys
expect 1 "$tamis" query set.tamis absent
od -An -v -tx1 keys | tr -d ' \n' | sed 's/0a/\n/g' >hexkeys
expect 0 "$tamis" query --hex set.tamis hexkeys
expect_output hexkeys
# All lengths around the edges of a buffer.
awk 'BEGIN { s = ""; for (i = 0; i < 3000; i++) { print s i % 7; s = s "x" } }' >lengths
build lengths
expect 0 "$tamis" query set.tamis lengths
expect_output lengths

# A slow pipe gets its answers at once.
printf 'one\n' >one
build one
mkfifo in out
"$tamis" query set.tamis <in >out &
exec 3>in 4<out
echo one >&3
read -r answer <&4
[ "$answer" = one ] || fail "no answer on a slow pipe"
exec 3>&- 4<&-
wait
