#!/bin/sh
# test_bad_input.sh - each mistake gets one clear line, exit code 2, and leaves files as they were
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

seq 1 5000 >keys
"$tamis" build -p 0.001 -o good.tamis keys
cp good.tamis set.tamis
mkdir folder

# refuse TEXT COMMAND...: trouble, the message contains TEXT, set.tamis is as it was.
refuse() {
    expect_refusal "$@"
    cmp -s good.tamis set.tamis || fail "the old set was changed: $*"
}

# Usage.
expect_usage() {
    code=0
    "$tamis" "$@" >stdout 2>stderr || code=$?
}
expect_usage
{ [ "$code" -eq 2 ] && grep -q '^usage: tamis' stderr && [ ! -s stdout ]; } || fail "tamis alone"
expect_usage --help
{ [ "$code" -eq 0 ] && grep -q '^usage: tamis' stdout && [ ! -s stderr ]; } || fail "tamis --help"
expect 0 "$tamis" --version
grep -qx 'tamis [0-9]*\.[0-9]*\.[0-9]*' stdout || fail "--version"
"$tamis" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' >commands
[ "$(wc -l <commands)" -ge 12 ] || fail "--help lists $(tr '\n' ' ' <commands)"
while read -r command; do
    expect 0 "$tamis" help "$command"
    grep -q "^usage: tamis $command " stdout || fail "help $command"
    mv stdout help
    expect 0 "$tamis" "$command" --help
    expect_output help
    [ "$command" != table ] || continue # what follows it is a verb
    refuse "unknown" "$tamis" "$command" --nonsense
    refuse "unknown option '-Z'" "$tamis" "$command" -Z
done <commands
refuse "did you mean 'query'" "$tamis" qurey
refuse "no command 'frobnicate'" "$tamis" frobnicate
refuse "no command 'nothing'" "$tamis" help nothing
refuse "needs a value" "$tamis" plan -n
refuse "needs a value" "$tamis" build --kind
refuse "-n N" "$tamis" plan
refuse "too much" "$tamis" plan -n 5 extra
refuse "-o SET" "$tamis" build keys
refuse "'load' or 'save'" "$tamis" server
refuse "'load' or 'save'" "$tamis" server send set.tamis localhost:1 key
refuse "SET ADDRESS KEY" "$tamis" server load set.tamis localhost:1
refuse "ADDRESS KEY SET" "$tamis" server save localhost:1 key
refuse "cannot connect to ./none: No such file" "$tamis" server load set.tamis ./none key
refuse "neither HOST:PORT" "$tamis" server save nowhere key out.tamis
refuse "-o SET" "$tamis" merge set.tamis set.tamis
refuse "two sets" "$tamis" merge set.tamis -o set.tamis
refuse "which set" "$tamis" query
refuse "which set" "$tamis" add
refuse "one set" "$tamis" info
refuse "one set" "$tamis" verify set.tamis set.tamis
refuse "--like excludes" "$tamis" build --like set.tamis -n 5 -o set.tamis keys
refuse "standard input" "$tamis" query - <set.tamis
refuse "standard input" "$tamis" query - keys - <set.tamis
refuse "needs -o" "$tamis" add - keys <set.tamis
refuse "-o: the name" "$tamis" build -o "" keys

# Numbers.
for p in 0 1 -0.1 1.5 2 100 1e-400 nan NaN inf -inf; do
    refuse "-p: $p is out of range" "$tamis" plan -n 1000 -p "$p"
    refuse "-p: $p is out of range" "$tamis" build -p "$p" -o set.tamis keys
done
for p in abc "" 0.1x 0,1 1%; do
    refuse "-p: '$p' is not a number" "$tamis" plan -n 1000 -p "$p"
    refuse "-p: '$p' is not a number" "$tamis" build -p "$p" -o set.tamis keys
done
for n in abc "" -5 1.5 1e 1e-3 10X 10MM 0x10 nan inf . e5 " 5" "5 " 1,000 --; do
    refuse "-n: '$n' is not a whole number" "$tamis" plan -n "$n"
    refuse "-n: '$n' is not a whole number" "$tamis" build -n "$n" -o set.tamis keys
done
for n in 0 0.0 0k 0e9; do
    refuse "-n: must be at least 1" "$tamis" plan -n "$n"
    refuse "-n: must be at least 1" "$tamis" build -n "$n" -o set.tamis keys
done
for n in 1099511627777 1e13 2T 99999999999999999999999 1e999999999999 18446744073709551616; do
    refuse "-n: $n is too large" "$tamis" plan -n "$n"
    refuse "-n: $n is too large" "$tamis" build -n "$n" -o set.tamis keys
done
for n in 10000000 1e7 1E+7 10M 10000k 0.01G 1.0e7 1000.0e4 00010000000; do
    expect 0 "$tamis" plan -n "$n" --json
    expect_json "d['capacity'] == 10000000"
done
expect 0 "$tamis" plan -n 1099511627776
for seed in 0 -1 abc 18446744073709551616 ""; do
    refuse "--seed: '$seed'" "$tamis" build --seed "$seed" -o set.tamis keys
done
refuse "no kind 'cuckoo', only bloom, " "$tamis" plan -n 5 --kind cuckoo
refuse "no kind ''" "$tamis" build --kind "" -o set.tamis keys
refuse "cannot remove keys (--deletes); these can: counting-bloom" \
    "$tamis" plan -n 5 --kind bloom --deletes
refuse "cannot remove keys" "$tamis" build --kind bloom --deletes -o set.tamis keys
refuse "cannot remove keys" "$tamis" build --kind bloom --deletes -n 5000 -o set.tamis keys

# Files of keys.
for command in "build -o set.tamis" "build -n 10 -o set.tamis" "query set.tamis" "add set.tamis"; do
    # shellcheck disable=SC2086
    refuse "missing: No such file or directory" "$tamis" $command keys missing
    # shellcheck disable=SC2086
    refuse "folder: Is a directory" "$tamis" $command keys folder
    # shellcheck disable=SC2086
    refuse "keys/below: Not a directory" "$tamis" $command keys/below
done
refuse "standard input: Is a directory" "$tamis" query set.tamis <folder
refuse "standard input" "$tamis" build -o set.tamis <&-

# Files that are no sets, or damaged ones.
head -c 100 good.tamis >short.tamis
head -c 300 good.tamis >cut.tamis
head -c -1 good.tamis >one_less.tamis
{ cat good.tamis; echo; } >one_more.tamis
: >empty.tamis
head -c 100000 /dev/urandom >random.tamis
python3 - <<'PYTHON'
data = bytearray(open("good.tamis", "rb").read())
data[len(data) // 2] ^= 1
open("flipped.tamis", "wb").write(data)
data[len(data) // 2] ^= 1
data[0] ^= 0xFF
open("magic.tamis", "wb").write(data)
PYTHON
for file in keys short.tamis cut.tamis one_less.tamis one_more.tamis empty.tamis random.tamis \
    flipped.tamis magic.tamis; do
    cp "$file" before
    for command in "query" "add" "info" "info --json" "verify"; do
        # shellcheck disable=SC2086
        refuse "$file: " "$tamis" $command "$file" </dev/null
        cmp -s "$file" before || fail "$command changed $file"
    done
    refuse "$file: " "$tamis" build --like "$file" -o set.tamis keys
    refuse "$file: " "$tamis" merge good.tamis "$file" -o set.tamis
    refuse "$file: " "$tamis" merge "$file" good.tamis -o set.tamis
    # From a pipe, too.
    code=0
    # shellcheck disable=SC2002
    cat "$file" | "$tamis" info - >stdout 2>stderr || code=$?
    [ "$code" -eq 2 ] && [ "$(wc -l <stderr)" -eq 1 ] || fail "$file from a pipe"
    expect_message "standard input: "
done
for command in query info verify add remove "build -o set.tamis --like" "merge -o set.tamis good.tamis"; do
    # shellcheck disable=SC2086
    refuse "missing.tamis: No such file or directory" "$tamis" $command missing.tamis </dev/null
    # shellcheck disable=SC2086
    refuse "folder: Is a directory" "$tamis" $command folder </dev/null
done

# Where to write: not over the keys, by whatever name, nor over anything else that is no set.
cp keys k.txt
ln k.txt hard.txt
ln -s k.txt soft.txt
cp keys notes.txt
"$tamis" table create -n 10 t.table
cp t.table table.before
for name in k.txt ./k.txt hard.txt soft.txt; do
    refuse "cannot write $name: keys are read from it" "$tamis" build -o $name k.txt
    refuse "cannot write $name: keys are read from it" "$tamis" build -n 5000 -o $name keys k.txt
    refuse "cannot write $name: keys are read from it" "$tamis" add set.tamis -o $name k.txt
    refuse "cannot write $name: it is the standard input" "$tamis" build -o $name <k.txt
    refuse "cannot write $name: it is the standard input" "$tamis" build -o $name keys - <k.txt
    refuse "cannot write $name: there is a file that is no set" "$tamis" build -o $name keys
    cmp -s keys k.txt || fail "the keys were replaced: $name"
done
refuse "cannot write set.tamis: keys are read from it" "$tamis" add set.tamis set.tamis
for name in notes.txt t.table magic.tamis; do
    refuse "cannot write $name: there is a file that is no set" "$tamis" build -o $name keys
    refuse "cannot write $name: there is a file that is no set" "$tamis" add set.tamis -o $name keys
    refuse "cannot write $name: there is a file that is no set" "$tamis" merge set.tamis good.tamis -o $name
done
cmp -s keys notes.txt || fail "a text was replaced"
cmp -s t.table table.before || fail "a table was replaced"
# An empty file, a damaged set and a set that is written as it is read may be replaced.
: >new.tamis
expect 0 "$tamis" build -o new.tamis keys
cp cut.tamis cut2.tamis
expect 0 "$tamis" build -o cut2.tamis keys
expect 0 "$tamis" build --like new.tamis -o new.tamis keys
expect 0 "$tamis" build --compact -o new.tamis keys
expect 0 "$tamis" build -o new.tamis keys
refuse "folder: Is a directory" "$tamis" build -o folder keys
refuse "No such file or directory" "$tamis" build -o nowhere/set.tamis keys
refuse "Not a directory" "$tamis" build -o keys/set.tamis keys
refuse "No such file or directory" "$tamis" merge good.tamis good.tamis -o nowhere/set.tamis
refuse "No such file or directory" "$tamis" add set.tamis -o nowhere/set.tamis keys
# The mistake is told before the keys are read.
mkfifo never
refuse "No such file or directory" "$tamis" build -o nowhere/set.tamis never

# A build that would break its promise is trouble, unless it is asked for.
seq 1 20000 >many
for kind in $(kinds); do
    refuse "" "$tamis" build -n 3 --kind "$kind" -o set.tamis many
    rm -f none.tamis
    refuse "nothing was saved" "$tamis" build -n 300 --kind "$kind" -o none.tamis many
    [ ! -e none.tamis ] || fail "$kind: a set that breaks its promise was saved"
done
refuse "more keys came than -n 3: the error rate would be 1 instead of 0.01; nothing was saved" \
    "$tamis" build -n 3 --kind bloom -o set.tamis many
refuse "more keys came than -n 1,000" "$tamis" build -n 1000 --bytes 2000 --kind bloom -o set.tamis many
"$tamis" build -n 3000 --kind bloom -o small.tamis /dev/null
refuse "is made for 3,000 (--like)" "$tamis" build --like small.tamis -o set.tamis many
for how in "-n 300 --kind bloom" "--like small.tamis"; do
    # shellcheck disable=SC2086
    expect 0 "$tamis" build --overfull $how -o over.tamis many
    expect_message "warning: over.tamis holds "
    expect 0 "$tamis" query -c over.tamis many
    [ "$(cat stdout)" = 20000 ] || fail "--overfull lost keys"
done
# Copies are not more keys: the promise is kept.
seq 1 900 >copies
expect 0 "$tamis" build -n 1000 --kind rank-counting -o over.tamis copies copies
expect 0 "$tamis" build --grow -n 3 -o over.tamis many

# What only another user cannot read or write; root can, so become somebody else.
echo secret >unreadable
chmod 000 unreadable
cp good.tamis unreadable.tamis
chmod 000 unreadable.tamis
mkdir locked
chmod 555 locked
chmod 755 .
if [ "$(id -u)" -ne 0 ]; then
    as() { "$@"; }
elif setpriv --reuid=65534 --regid=65534 --clear-groups "$tamis" --version >/dev/null 2>&1; then
    as() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
else
    as() { return 99; }
fi
if as "$tamis" --version >/dev/null; then
    chmod 777 .
    refuse "unreadable: Permission denied" as "$tamis" query set.tamis unreadable
    refuse "unreadable: Permission denied" as "$tamis" build -o set.tamis unreadable
    refuse "unreadable.tamis: Permission denied" as "$tamis" info unreadable.tamis
    refuse "Permission denied" as "$tamis" build -o locked/set.tamis keys
    [ -z "$(ls locked)" ] || fail "something was written to a locked folder"
    chmod 755 .
else
    echo "skipped: permissions, for want of another user"
fi
