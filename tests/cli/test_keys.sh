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
expect 0 "$tamis" build -p 1e-9 -o set.tamis crlf
expect_message "warning: crlf: lines end in CR LF, and the CR is part of the keys; --crlf drops it"
expect 0 "$tamis" query set.tamis crlf
expect_message "warning: crlf: lines end in CR LF"
expect_output crlf
expect 1 "$tamis" query set.tamis lf
expect_silent
expect 0 "$tamis" query set.tamis crlf crlf
[ "$(wc -l <stderr)" -eq 1 ] || fail "line ends are told once"
# It does not with --crlf; the lines come out as they are.
expect 0 "$tamis" build -p 1e-9 --crlf -o set.tamis crlf
expect_silent
expect 0 "$tamis" query set.tamis lf
expect_output lf
expect 1 "$tamis" query set.tamis crlf
expect 0 "$tamis" query --crlf set.tamis crlf
expect_silent
expect_output crlf
expect 0 "$tamis" query --crlf -v -c set.tamis - <<END
a
b
a b
END
[ "$(cat stdout)" = 1 ] || fail "--crlf without CR"
# Not told where the CR does no harm: in other forms, behind the key, with NUL.
printf '1\r\n2\r\n' >numbers
expect 0 "$tamis" build --u64 -o no.tamis numbers
expect_silent
printf 'ff\r\n' | expect 0 "$tamis" build --hex -o no.tamis
expect_silent
printf 'a,b\r\n' | expect 0 "$tamis" build -f 1 -d , -o no.tamis
expect_silent
printf 'a\r\0b\r\0' | expect 0 "$tamis" build -0 -o no.tamis
expect_silent

# Keys of the command line: before the files, and instead of standard input.
build -e one -e 'two words' -e ''
[ "$(info_count)" -eq 3 ] || fail "-e"
printf 'one\ntwo words\n\n' >given
expect 0 "$tamis" query set.tamis given
expect_output given
expect 0 "$tamis" query -e one -e three set.tamis </dev/null
[ "$(cat stdout)" = one ] || fail "query -e"
echo 'two words' >second
printf 'one\ntwo words\n' >both
expect 0 "$tamis" query -e one set.tamis second
expect_output both
expect 0 "$tamis" query -e one set.tamis - <second
expect_output both
expect 0 "$tamis" query -q -e one - <set.tamis
expect 1 "$tamis" query -q -e nothing set.tamis
expect 0 "$tamis" query -e -e -v set.tamis
[ "$(cat stdout)" = -e ] || fail "-e -e"
expect 0 "$tamis" add -e four set.tamis
expect 0 "$tamis" query -q -e four set.tamis
build --kind rank --u64 -e 5 -e 0x6
expect 0 "$tamis" remove --u64 -e 0x5 set.tamis
expect 1 "$tamis" query --u64 -q -e 5 set.tamis
expect 0 "$tamis" query --u64 -q -e 6 set.tamis
cp set.tamis before.tamis
expect 2 "$tamis" add --u64 -e 7 -e x -e 8 set.tamis
expect_message "-e: key 2 is not an integer below 2^64: 'x'"
cmp set.tamis before.tamis || fail "a failed add -e changed the file"
# More than one batch of them.
# shellcheck disable=SC2046
build $(seq -f '-e %.0f' 1 10000)
[ "$(info_count)" -eq 10000 ] || fail "many -e"

# One field of a line, and the whole line comes out.
printf 'k1\tx\ty\nk2\t\tz\n' >tabbed
build -f 2 tabbed
printf 'x\n\n' >fields
expect 0 "$tamis" query set.tamis fields
expect_output fields
expect 0 "$tamis" query --field 2 set.tamis tabbed
expect_output tabbed
printf 'y,k1\r\nz,k3\r\n' >commas
build -e k1
expect 0 "$tamis" query -f 2 -d , --crlf set.tamis commas
printf 'y,k1\r\n' >only
expect_output only
expect 0 "$tamis" query -v -f 1 --delimiter=, set.tamis commas
expect_output commas
expect 0 "$tamis" query -f 1 -d '\t' set.tamis tabbed
printf 'k1\tx\ty\n' >only
expect_output only
printf 'k1\0a\0' >null
expect 0 "$tamis" query -0 -f1 set.tamis null
expect 0 "$tamis" query -f 7 -e k1 set.tamis
printf 'a 7\nb 0x9\n' >numbered
build --u64 -f 2 -d ' ' numbered
expect 0 "$tamis" query --u64 -e 7 -e 9 -c set.tamis
[ "$(cat stdout)" = 2 ] || fail "--u64 --field"
cp set.tamis before.tamis
expect 2 "$tamis" add --u64 -f 3 -d ' ' set.tamis numbered
expect_message "numbered: key 1 has too few fields: 'a 7'"
cmp set.tamis before.tamis || fail "a failed add -f changed the file"
for bad in "-f 0" "-f x" "-f 1 -d" "-d ," "-f 1 -d ab" "-f 1 --delimiter="; do
    # shellcheck disable=SC2086
    expect 2 "$tamis" query $bad set.tamis
done

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
# Text is not asked for among integers, nor the other way round: a silent "absent" would be all that comes.
cp set.tamis before.tamis
for command in "query set.tamis" "query -0 set.tamis" "add set.tamis" "build --like set.tamis -o set.tamis"; do
    # shellcheck disable=SC2086
    expect 2 "$tamis" $command same
    expect_message "the keys of set.tamis are integers (--u64), but text or bytes were given"
done
expect 2 "$tamis" add --hex set.tamis -e ff
expect_message "-e: key 1 has not the 8 bytes of an integer: 'ff'"
expect 0 "$tamis" info --json set.tamis
expect_json "d['key_form'] == 'u64'"
build --kind rank same
cp set.tamis text.tamis
for command in "query text.tamis" "add text.tamis" "remove text.tamis" "build --like text.tamis -o text.tamis"; do
    # shellcheck disable=SC2086
    expect 2 "$tamis" $command --u64 same
    expect_message "the keys of text.tamis are text or bytes, but integers (--u64) were given"
    [ ! -s stdout ] || fail "output on trouble: $command"
    cmp set.tamis text.tamis || fail "$command changed a set of another form"
done
expect 0 "$tamis" query --hex set.tamis -e "$(printf 0xff | od -An -tx1 | tr -d ' ')"
expect 0 "$tamis" info --json set.tamis
expect_json "d['key_form'] == 'bytes'"
expect 0 "$tamis" info set.tamis
grep -qx 'form of keys    text or bytes' stdout || fail "info: form of keys"
# The form stays with a set that is changed, grows, is compact or merged.
"$tamis" build --compact --u64 -o compact.tamis same
expect 2 "$tamis" query compact.tamis same
expect_message "integers (--u64)"
"$tamis" build --grow -n 2 --u64 -o grown.tamis same
"$tamis" add --u64 grown.tamis others 2>stderr
expect 2 "$tamis" add grown.tamis same
expect_message "integers (--u64)"
"$tamis" build -n 10 --kind bloom --seed 5 --u64 -o int.tamis same
"$tamis" build -n 10 --kind bloom --seed 5 -o text.tamis same
expect 2 "$tamis" merge int.tamis text.tamis -o merged.tamis
expect_message "the keys of int.tamis are integers (--u64), those of text.tamis are text or bytes"
[ ! -e merged.tamis ] || fail "sets of different forms were merged"
expect 0 "$tamis" merge int.tamis int.tamis -o merged.tamis
expect 0 "$tamis" query --u64 merged.tamis same
expect 2 "$tamis" query merged.tamis same
# Sets of before, and of programs that do not say, take all forms, and stay what they are.
cp "$source_dir/tests/golden/bloom.tamis" old.tamis
expect 0 "$tamis" info --json old.tamis
expect_json "d['key_form'] is None"
expect 0 "$tamis" add --u64 old.tamis same
expect 0 "$tamis" add --hex old.tamis -e ff
expect 0 "$tamis" add old.tamis -e some
expect 0 "$tamis" query --u64 old.tamis same
expect 0 "$tamis" info old.tamis
grep -qx 'form of keys    not known' stdout || fail "info: no form of keys"
mv before.tamis set.tamis
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
