#!/bin/sh
# test_uniq.sh - tamis uniq: what comes out, at once and in order, and what the set knows afterwards
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

# The first of equal lines come out, in their order; none of 5,000 is lost at 1e-6, but with odds of 0.5 %.
awk 'BEGIN { srand(7); for (i = 0; i < 20000; i++) print "line " int(5000 * rand() * rand()) }' >lines
awk '!seen[$0]++' lines >first
awk 'seen[$0]++' lines >again
expect 0 "$tamis" uniq -p 1e-9 lines
expect_silent
expect_output first
expect 0 "$tamis" uniq -p 1e-9 <lines
expect_output first
expect 0 "$tamis" uniq -v -p 1e-9 lines
expect_output again
expect 0 "$tamis" uniq -c -p 1e-9 lines
[ "$(cat stdout)" -eq "$(wc -l <first)" ] || fail "-c"
expect 0 "$tamis" uniq -n "$(wc -l <first)" -p 1e-9 lines
expect_output first
expect 0 "$tamis" uniq lines lines
[ "$(wc -l <stdout)" -le "$(wc -l <first)" ] || fail "a key came twice"
expect 0 "$tamis" uniq /dev/null
[ ! -s stdout ] || fail "nothing in, something out"
printf 'a\nb\na' | expect 0 "$tamis" uniq
printf 'a\nb\n' >expected
expect_output expected

# The forms of keys, and one field of a line.
printf '1\n0x1\n01\n2\n' | expect 0 "$tamis" uniq --u64
printf '1\n2\n' >expected
expect_output expected
printf 'a\0b\0a\0' | expect 0 "$tamis" uniq -0
printf 'a\0b\0' >expected
expect_output expected
printf 'x,1\r\ny,1\r\nz,2\r\n' | expect 0 "$tamis" uniq --crlf -f 2 -d ,
printf 'x,1\r\nz,2\r\n' >expected
expect_output expected
printf 'x\n' | expect 0 "$tamis" uniq -e y -e x -e y -
printf 'y\nx\n' >expected
expect_output expected

# With a set it remembers, whether the set was made to grow or not, and of whatever kind.
printf 'a\nb\nb\n' >one
printf 'b\nc\n' >two
expect 0 "$tamis" uniq -s seen.tamis one
expect 0 "$tamis" verify seen.tamis
expect 0 "$tamis" uniq --set seen.tamis two
echo c >expected
expect_output expected
expect 0 "$tamis" uniq -s seen.tamis -c one two
[ "$(cat stdout)" = 0 ] || fail "the set has forgotten"
expect 0 "$tamis" query seen.tamis -e a -e b -e c
[ "$(wc -l <stdout)" -eq 3 ] || fail "the set lacks keys"
for kind in $(kinds); do
    "$tamis" build -n 100 -p 1e-6 --kind "$kind" -o set.tamis one
    expect 0 "$tamis" info --json set.tamis
    expect_json "d['count'] in (2, 3)"
    before=$(sed -n 's/^ *"count": \([0-9]*\),$/\1/p' stdout)
    expect 0 "$tamis" uniq -s set.tamis one two two one
    expect_output expected
    expect 0 "$tamis" info --json set.tamis
    expect_json "d['count'] == $before + 1"
done
# A set that grows does so.
seq 1 3000 >many
"$tamis" build --grow -n 100 -p 1e-6 -o grows.tamis -e 1
expect 0 "$tamis" uniq -s grows.tamis many
tail -n 2999 many >expected
expect_output expected
expect 0 "$tamis" info --json grows.tamis
expect_json "d['fpr'] <= 1e-6 and len(d['links']) > 1 and d['count'] == 3000"

# One that does not takes the keys that it was made for, exactly; what has come before may come again.
head -n 100 many >hundred
expect 0 "$tamis" uniq -n 100 -p 1e-9 -s full.tamis hundred hundred
expect_output hundred
cp full.tamis before.tamis
expect 0 "$tamis" uniq -s full.tamis hundred
expect_silent
expect 2 "$tamis" uniq -n 100 -p 1e-9 hundred many
expect_message "the set has the 100 keys that it was made for, and more are new (see -n, --grow, --overfull)"
expect_output hundred
expect 2 "$tamis" uniq -s full.tamis many
expect_message "more are new; it was not saved"
[ ! -s stdout ] || fail "keys beyond the last came out"
cmp full.tamis before.tamis || fail "a full set was saved"
expect 0 "$tamis" uniq -n 100 -p 1e-9 --grow -s other.tamis many
expect_output many
expect 0 "$tamis" uniq --grow -s full.tamis many
[ "$(wc -l <stdout)" -gt 2800 ] || fail "--grow"
cp before.tamis full.tamis
expect 0 "$tamis" uniq --overfull -s full.tamis many
expect_message "warning: full.tamis holds"

# New keys are dropped with the odds of the error rate, and no more: of 100,000 at 0.05 at most 5,000, by 5 standard
# deviations 5,345; at least 500, for the set errs as planned when it is full.
seq 1 100000 >large
expect 0 "$tamis" uniq -p 0.05 -n 100000 -c large
dropped=$((100000 - $(cat stdout)))
{ [ "$dropped" -le 5345 ] && [ "$dropped" -ge 500 ]; } || fail "$dropped of 100000 keys dropped at 0.05"

# Mistakes.
expect 2 "$tamis" uniq -s - one
expect_message "it needs a file"
expect 2 "$tamis" uniq -s one one
expect_message "cannot write one: keys are read from it"
expect 2 "$tamis" uniq -s one two
expect_message "cannot write one: there is a file that is no set"
expect 2 "$tamis" uniq missing
expect 2 "$tamis" uniq --u64 -s seen.tamis -e 1
expect_message "the keys of seen.tamis are text or bytes, but integers (--u64) were given"
cp seen.tamis before.tamis
printf '5\nx\n' >bad
expect 2 "$tamis" uniq --u64 -s new.tamis bad
expect_message "bad: key 2 is not an integer"
[ ! -e new.tamis ] || fail "a set was made of bad keys"
# What could not be printed has not been seen.
if [ -w /dev/full ]; then
    code=0
    "$tamis" uniq -s seen.tamis many >/dev/full 2>stderr || code=$?
    [ "$code" -eq 2 ] && [ "$(wc -l <stderr)" -eq 1 ] || fail "full disk: exit code $code"
    cmp seen.tamis before.tamis || fail "keys that were not printed are in the set"
fi

# A slow pipe gets its lines at once.
mkfifo in out
"$tamis" uniq <in >out &
exec 3>in 4<out
printf 'one\none\ntwo\n' >&3
read -r answer <&4
[ "$answer" = one ] || fail "no answer on a slow pipe"
read -r answer <&4
[ "$answer" = two ] || fail "no second answer on a slow pipe"
exec 3>&- 4<&-
wait

# A window: every key is printed when it did not come within the last W lines, and what comes again within W is not.
# With W = 800 in 8 ticks a key is forgotten after more than 800 and at most 900 lines.
awk 'BEGIN { srand(9); for (i = 0; i < 20000; i++) print "line " int(3000 * rand()) }' >lines
expect 0 "$tamis" uniq -w 800 -p 1e-9 lines
awk 'NR == FNR { out[FNR] = $0; n = FNR; next }
     { due = !($0 in last) || FNR - last[$0] > 900; may = due || FNR - last[$0] > 800
       if (out[next_out + 1] == $0 && may) { next_out++ } else if (due) { print "missed: " FNR; exit 1 }
       last[$0] = FNR }
     END { if (next_out != n) { print "too many"; exit 1 } }' stdout lines || fail "a window of lines"
printf 'a\nb\na\nc\nd\ne\nf\ng\na\n' >lines
printf 'a\nb\nc\nd\ne\nf\ng\na\n' >expected
expect 0 "$tamis" uniq -w 2 --ticks 2 -p 1e-9 lines
expect_output expected
printf 'a\na\n' | expect 0 "$tamis" uniq -w 1h --ticks 126 -n 10
echo a >expected
expect_output expected
"$tamis" uniq -w 0.2s --ticks 2 -n 10 -p 1e-9 <in >out &
exec 3>in 4<out
echo a >&3
read -r answer <&4
[ "$answer" = a ] || fail "no answer in a window of time"
sleep 1
echo a >&3
read -r answer <&4
[ "$answer" = a ] || fail "a window of time has not forgotten"
exec 3>&- 4<&-
wait $! || fail "a window of time"
expect 0 "$tamis" uniq -w 100 -s window.tamis one
expect 0 "$tamis" uniq -w 100 -s window.tamis -c one
[ "$(cat stdout)" = 0 ] || fail "the window has forgotten"
expect 0 "$tamis" query window.tamis -e a
expect 2 "$tamis" uniq -s window.tamis one
expect 2 "$tamis" uniq -w 100 --ticks 3 -s window.tamis one
expect 2 "$tamis" uniq -w 100 -s seen.tamis one
expect 2 "$tamis" uniq --ticks 3 one
for bad in 0 -5 1y '' 0s 1e12s nan 5e20; do
    expect 2 "$tamis" uniq -w "$bad" one
done
