#!/bin/sh
# test_many_keys.sh - a million keys through a pipe; memory that does not grow with their number
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

# peak COMMAND...: run it and print its largest resident memory in KiB.  A process inherits the peak of
# the one that it is forked from, so this must be a small program.
cat >peak.c <<'C'
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    struct rusage usage;
    int status;
    pid_t child = fork();
    if (child == 0 && argc > 1) {
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    if (wait4(child, &status, 0, &usage) != child || status != 0)
        return 1;
    printf("%ld\n", usage.ru_maxrss);
    return 0;
}
C
"$3" -O1 -D_DEFAULT_SOURCE -o peak peak.c
peak() {
    "$work/peak" "$@"
}

n=1000000
seq 1 $n | "$tamis" build -n $n -p 0.01 -o known.tamis
seq 1 $n | "$tamis" build -p 0.01 -o counted.tamis
for set_file in known counted; do
    found=$(seq 1 $n | "$tamis" query -c $set_file.tamis)
    [ "$found" -eq $n ] || fail "$set_file: $found of $n keys found"
    "$tamis" info --json $set_file.tamis >stdout
    expect_json "d['capacity'] == $n and 0.98 * $n < d['count'] <= $n and d['fpr'] < 0.0101"
    # 0.01 promised; the interval is five standard deviations.
    false=$(seq $((n + 1)) $((2 * n)) | "$tamis" query -c $set_file.tamis)
    [ "$false" -le 10500 ] || fail "$set_file: $false of $n absent keys found"
    [ "$(seq 1 $((2 * n)) | "$tamis" query -v -c $set_file.tamis)" -eq $((n - false)) ] ||
        fail "$set_file: -v and not -v do not add up"
done

twenty_times() {
    seq 1 100000 >once
    for _ in 1 2 3 4 5; do cat once once once once; done
}

# The same set, and twenty times as many keys read: the memory is the same.
small=$(seq 1 100000 | peak "$tamis" build -n 100000 -o small.tamis)
large=$(twenty_times | peak "$tamis" build -n 100000 -o large.tamis)
echo "peak memory: $small KiB for 100,000 keys, $large KiB for 2,000,000"
[ "$large" -le $((small + 1024)) ] || fail "memory grows with -n given"
# Without -n the digests would take 30 MiB; they are in a file.  The set itself takes 2.4 MiB.
large=$(twenty_times | peak "$tamis" build -o large.tamis)
echo "peak memory: $large KiB for 2,000,000 keys that are counted first"
[ "$large" -le $((small + 8192)) ] || fail "the digests are in memory"
# A query maps the set and reads keys in pieces.
large=$(seq 1 $n | peak "$tamis" query known.tamis | tail -n 1)
echo "peak memory: $large KiB for a query of $n keys"
[ "$large" -le $((small + 8192)) ] || fail "memory of a query"
