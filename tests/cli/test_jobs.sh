#!/bin/sh
# test_jobs.sh - several threads: the same sets, answers and messages as with one
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

# Some blocks of a megabyte, with lines of many lengths, one longer than a block, and no newline at the end.
awk 'BEGIN { for (i = 0; i < 300000; i++) printf "%d-%s\n", i, substr("abcdefghijklmnopqrst", 1, i % 20) }' >a
awk 'BEGIN { for (i = 0; i < 150000; i++) printf "%s", "0123456789"; print ""; for (i = 0; i < 100000; i++) print i * 7919 }' >b
printf 'last' >>b
cat a b >both

for options in "-n 500k" "" "-n 500k --kind rank" "-n 500k --kind dleft-dynamic" "-n 100k --grow"; do
    for jobs in 1 2 5; do
        # shellcheck disable=SC2086
        expect 0 "$tamis" build -p 0.001 --seed 7 $options -j $jobs -o "set$jobs" a b
    done
    cmp set1 set2 || fail "two threads make another set ($options)"
    cmp set1 set5 || fail "five threads make another set ($options)"
done
expect 0 "$tamis" build -p 0.001 --seed 7 -n 500k -o set1 a b
expect 0 "$tamis" build -p 0.001 --seed 7 -n 500k -j 3 -o set2 - <both
"$tamis" query -j 1 set1 both | sort >all1
"$tamis" query -j 1 set2 a b | sort >all2
cmp all1 all2 || fail "standard input"

# Answers in the order of the input, of files and of pipes.
expect 0 "$tamis" build -p 0.001 --seed 7 -n 500k -o set1 a
for jobs in 1 2 5; do
    expect 0 "$tamis" query -v -j $jobs set1 a b
    mv stdout "out$jobs"
    expect 0 "$tamis" query -c -j $jobs set1 a b
    mv stdout "count$jobs"
    # shellcheck disable=SC2002
    cat b | "$tamis" query -v -j $jobs set1 >"pipe$jobs"
done
for jobs in 2 5; do
    cmp out1 "out$jobs" || fail "answers in another order"
    cmp count1 "count$jobs" || fail "another count"
    cmp out1 "pipe$jobs" || fail "other answers from a pipe" # of a all keys are in
done
expect 0 "$tamis" query -q -j 3 set1 a
expect 1 "$tamis" query -q -v -j 3 set1 a
# A key at a time is answered at once.
mkfifo pipe
"$tamis" query -j 3 set1 <pipe >answers &
exec 3>pipe
printf '0-\n' >&3
for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ -s answers ] || sleep 0.2
done
[ "$(cat answers)" = "0-" ] || fail "an answer is kept back"
exec 3>&-
wait

# The first mistake is told, with its number in its file.
awk 'BEGIN { for (i = 1; i <= 400000; i++) print i == 333333 || i == 399999 ? "bad" i : i }' >numbers
echo 17 >good
for jobs in 1 4; do
    expect_refusal "numbers: key 333333 is not an integer below 2^64: 'bad333333'" \
        "$tamis" build --u64 -n 1M -j $jobs -o set3 good numbers
    [ ! -e set3 ] || fail "a set was saved"
done
head -n 333332 numbers >fine
expect 0 "$tamis" build --u64 -n 1M -j 4 -o set3 fine
for jobs in 1 4; do
    code=0
    "$tamis" query --u64 -j $jobs set3 numbers >stdout 2>stderr || code=$?
    [ $code -eq 2 ] || fail "exit code $code"
    cmp stdout fine || fail "not the keys before the mistake"
    expect_message "key 333333"
done
# So is a set that is full, and a warning about line ends, once.
expect_refusal "the set is full" "$tamis" build -n 100 --kind dleft-counting -j 3 -o set4 a
sed 's/$/\r/' a >crlf
expect 0 "$tamis" build -n 1M -j 3 -o set4 crlf crlf
[ "$(grep -c 'CR LF' stderr)" -eq 1 ] || fail "one warning expected"
# Keys of the command line and of files.
expect 0 "$tamis" query -c -j 3 -e 0- -e nothing set1 a
[ "$(cat stdout)" = 300001 ] || fail "-e with -j"
for wrong in 0 65 x; do
    expect 2 "$tamis" query -j $wrong set1 a
    expect_message "--jobs"
done
