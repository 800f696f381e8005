#!/bin/sh
# test_messages.sh - what is often written by mistake is refused with what to do instead
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

seq 1 100 >keys
"$tamis" build -p 1e-6 -o set.tamis keys
cp set.tamis before.tamis
"$tamis" table create -n 100 items.table

# A key where a file is expected.
for command in "query set.tamis" "add set.tamis" "build -o new.tamis" "uniq" "table get items.table"; do
    # shellcheck disable=SC2086
    expect_refusal "apple: No such file or directory; keys are read from files, a key itself is given by -e apple" \
        "$tamis" $command apple
done
expect_refusal "by -e 'red apple'" "$tamis" query set.tamis "red apple"
expect_refusal "by -e ''" "$tamis" query set.tamis ""
expect_refusal "keys/apple: Not a directory" "$tamis" query set.tamis keys/apple
expect_refusal "set: No such file" "$tamis" query set apple
for verb in put import delete; do # which have no -e
    expect 2 "$tamis" table $verb items.table apple
    grep -q 'apple: No such file or directory$' stderr || fail "table $verb: a missing file"
done

# Windows: lines, or a time in any unit that has one name only.
for window in 1ms 5s 5sec 5seconds 3m 3min 3minutes 1h 1hour 2hours "2 hours" 7d 1day 7days 2w 2weeks 0.5h 1e3s; do
    printf 'a\nb\na\n' | expect 0 "$tamis" uniq -p 1e-9 -w "$window"
done
for window in 1000 1e6 1M 1.5k; do
    printf 'a\nb\na\n' | expect 0 "$tamis" uniq -p 1e-9 -w "$window"
done
for window in 1y 1month hour "" 10X 1hou 1sday "1 " h1 -5 nan; do
    expect_refusal "--window: '$window' is neither a number of lines (1000000, 1e6, 1M) nor a time in s, min, h, days or weeks" \
        "$tamis" uniq -w "$window" keys
done

# Keys cannot be removed from every set.
expect_refusal "build it with --deletes, or --kind one of counting-bloom, " "$tamis" remove set.tamis keys
expect_message "keys cannot be removed from it"
cmp set.tamis before.tamis || fail "remove has changed a set from which nothing can be removed"

# Items without a tab are no items.
printf 'apple\tred\nlemon yellow\nlime\tgreen\n' >items
expect_refusal "items: line 2 has no tab: an item is KEY, tab, VALUE, or KEY, tab if the value is empty; the lines before it are stored" \
    "$tamis" table put items.table items
expect 0 "$tamis" table dump items.table
printf 'apple\tred\n' >expected
expect_output expected
printf '6161\n' >hex
expect_refusal "hex: line 1 has no tab" "$tamis" table put --hex items.table hex
expect_refusal "keys: line 1: it has no tab: an item is KEY, tab, VALUE" "$tamis" table import items.table keys
printf 'lemon\t\n' | expect 0 "$tamis" table put items.table
expect 0 "$tamis" table get items.table -e lemon
printf 'lemon\t\n' >expected
expect_output expected

# What is compressed is not taken for lines: from files and pipes, before anything is done, by all that read keys.
python3 - <<'PYTHON'
import bz2, gzip, lzma
data = open("keys", "rb").read()
open("keys.gz", "wb").write(gzip.compress(data))
open("keys.bz2", "wb").write(bz2.compress(data))
open("empty.bz2", "wb").write(bz2.compress(b""))
open("keys.xz", "wb").write(lzma.compress(data))
open("keys.zst", "wb").write(b"\x28\xb5\x2f\xfd\x04\x00\x51\x00")
open("keys.lz4", "wb").write(b"\x04\x22\x4d\x18\x60\x70\x73")
open("keys.Z", "wb").write(b"\x1f\x9d\x90\x31\x14\x28")
open("integers", "wb").write(b"1\n2\n")
PYTHON
"$tamis" build --deletes -p 1e-6 -o deletes.tamis keys
"$tamis" build --u64 -p 1e-6 -o u64.tamis keys
compressed() {
    name=$1 form=$2 printer=$3
    shift 3
    expect_refusal "$name: is compressed ($form), and its lines are not the keys: $printer $name | tamis $command ..." \
        "$tamis" "$@" "$name"
    expect_refusal "standard input: is compressed ($form), and its lines are not the keys: $printer FILE | tamis $command ..." \
        "$tamis" "$@" <"$name"
    mkfifo pipe
    { head -c 1 "$name"; sleep 0.1; tail -c +2 "$name"; } >pipe &
    expect_refusal "standard input: is compressed ($form)" "$tamis" "$@" <pipe
    wait $! || true
    rm pipe
}
for command in query add build uniq remove; do
    case $command in
    build) set -- build -o new.tamis ;;
    uniq) set -- uniq ;;
    remove) set -- remove deletes.tamis ;;
    *) set -- $command set.tamis ;;
    esac
    compressed keys.gz gzip zcat "$@"
done
command=build
compressed keys.gz gzip zcat build -j 2 -n 5 -o new.tamis
command=query
compressed keys.gz gzip zcat query --u64 u64.tamis
compressed keys.gz gzip zcat query --hex set.tamis
compressed keys.bz2 bzip2 bzcat query set.tamis
compressed empty.bz2 bzip2 bzcat query set.tamis
compressed keys.xz xz xzcat query set.tamis
compressed keys.zst zstd zstdcat query set.tamis
compressed keys.lz4 lz4 lz4cat query set.tamis
compressed keys.Z compress zcat query set.tamis
for command in "table put" "table get" "table delete" "table import"; do
    # shellcheck disable=SC2086
    compressed keys.gz gzip zcat $command items.table
done
expect 2 "$tamis" uniq keys keys.gz
[ ! -s stdout ] || fail "the keys before a compressed file came out"
[ ! -e new.tamis ] || fail "a set was made of compressed keys"
cmp set.tamis before.tamis || fail "compressed keys were added"
# But words that begin so are words, also in the middle of a file, and with -0 any bytes are keys.
printf 'BZh9\nBZh91\n7zXZ\n' >words
expect 0 "$tamis" uniq words
expect_output words
printf 'a\n\037\213\010\nb\n' >middle
expect 0 "$tamis" uniq middle
expect_output middle
{ printf 'a\n'; sleep 0.1; printf '\037\213\010\n'; } | expect 0 "$tamis" uniq
printf 'a\n\037\213\010\n' >expected
expect_output expected
printf '\037\213\010\0b\0' >nul
expect 0 "$tamis" uniq -0 nul
expect_output nul
