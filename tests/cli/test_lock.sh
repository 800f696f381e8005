#!/bin/sh
# test_lock.sh - several that change one set at the same time: none loses what another has added
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

# Eight at once, each with keys of its own.
expect 0 "$tamis" build -n 20000 -p 1e-4 --deletes -o set.tamis /dev/null
for i in 1 2 3 4 5 6 7 8; do
    seq -f "$i-%.0f" 1 500 >keys.$i
    "$tamis" add set.tamis keys.$i &
done
wait
cat keys.? >all
expect 1 "$tamis" query -v set.tamis all
expect 0 "$tamis" info --json set.tamis
expect_json 'd["count"] >= 3990'
expect 0 "$tamis" verify set.tamis

# The same with removal, by another name of the file.
ln -s set.tamis link.tamis
for i in 1 2 3 4; do
    "$tamis" remove link.tamis keys.$i &
    "$tamis" add -o ./set.tamis set.tamis keys.$((i + 4)) &
done
wait
cat keys.[5-8] >rest
expect 1 "$tamis" query -v set.tamis rest
expect 0 "$tamis" info --json set.tamis
expect_json '3980 <= d["count"] <= 4000'

# Merges into one of their parts.
expect 0 "$tamis" build -n 20000 -p 1e-4 --kind bloom -o sum.tamis /dev/null
for i in 1 2 3 4 5 6; do
    expect 0 "$tamis" build --like sum.tamis -o part.$i keys.$i
done
cat keys.[1-6] >all
cp sum.tamis empty.tamis
# Again and again: a file is seldom replaced just while another program compares its two names.
for _ in $(seq 40); do
    cp empty.tamis sum.tamis
    for i in 1 2 3 4 5 6; do
        "$tamis" merge -o sum.tamis sum.tamis part.$i &
    done
    wait
    expect 1 "$tamis" query -v sum.tamis all
done

# The second waits until the first is done, and readers do not wait.
mkfifo slow
"$tamis" add set.tamis slow &
first=$!
exec 3>slow
echo early >&3
sleep 0.2
{ echo late | "$tamis" add set.tamis; } 3>&- &
second=$!
sleep 0.3
kill -0 $second 2>/dev/null || fail "the second did not wait"
expect 0 "$tamis" info set.tamis
exec 3>&-
wait $first || fail "the first"
wait $second || fail "the second"
printf 'early\nlate\n' >both
expect 1 "$tamis" query -v set.tamis both

# Who is ended while it holds the lock does not keep the others away.
"$tamis" add set.tamis slow &
first=$!
exec 3>slow
sleep 0.2
kill -KILL $first
wait $first 2>/dev/null || :
exec 3>&-
echo after | timeout 20 "$tamis" add set.tamis || fail "a lock stayed"

# Streams whose keys are kept in one set.
for i in 1 2 3 4; do
    "$tamis" uniq -s stream.tamis keys.$i >new.$i &
    [ "$i" -eq 1 ] && wait # the set is made
done
wait
cat keys.[1-4] >all
expect 1 "$tamis" query -v stream.tamis all
