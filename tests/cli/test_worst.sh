#!/bin/sh
# test_worst.sh - the worst inputs, for every kind and command: one line, exit code 2, nothing changed or
# left behind, in bounded time and memory
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"
tab=$(printf '\t')

# Memory is bounded, but not for a sanitizer, which reserves terabytes.
limit=600000
# shellcheck disable=SC3045,SC2015
(ulimit -v $limit && "$tamis" --version) >/dev/null 2>&1 && ulimit -v $limit || limit=
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:allocator_may_return_null=1"

# There are many commands here, so that these do without other programs.
# run COMMAND...: sets 'code', and 'line' to the one line on stderr, if there is one.
run() {
    code=0
    "$@" >stdout 2>stderr || code=$?
    line=''
    more=''
    { read -r line && read -r more; } <stderr || [ -z "$more" ] || fail "the last line has no end: $*"
    [ -z "$more" ] || fail "more than one line on stderr: $*"
    [ "$code" -le 2 ] || fail "exit code $code: $*"
}
good() {
    run "$@"
    [ "$code" -eq 0 ] && [ -z "$line" ] || fail "exit code $code: $*"
}
refuse() {
    run "$@"
    [ "$code" -eq 2 ] || fail "exit code $code instead of 2: $*"
    case $line in
    tamis*": "*) ;;
    *) fail "no proper message: $*" ;;
    esac
    [ ! -s stdout ] || fail "output on trouble: $*"
}
# either COMMAND...: it is done, perhaps with a warning, or refused.
either() {
    run "$@"
    case $code-$line in
    0- | 0-tamis*"warning: "* | 2-tamis*) ;;
    *) fail "exit code $code: $*" ;;
    esac
}
# same FILE: it is as it was.
same() {
    cmp -s "$1" "kept/$1" || fail "$1 was changed"
}
keep() {
    mkdir -p kept
    cp "$@" kept
}

all=$(kinds)
deleting=' ' # what is built without --deletes can do it
for kind in $all; do
    if "$tamis" plan -n 3000 --kind "$kind" --json | grep -q '"deletes": true'; then deleting="$deleting$kind "; fi
done
[ "$(echo "$all" | wc -l)" -ge 9 ] || fail "kinds"
seq 1 3000 >keys
seq 2001 5000 >others
for kind in $all; do
    "$tamis" build --kind "$kind" --seed 1 -o "$kind.set" keys
    "$tamis" build --kind "$kind" --seed 1 --grow -n 400 -o "$kind.series" keys
done
"$tamis" build --compact -o compact.set keys
"$tamis" table create -n 5000 --seed 1 t.table
sed "s/.*/&${tab}value of &/" keys | "$tamis" table put t.table
keep ./*.set ./*.series t.table keys

# ---- Keys of every form.
: >empty
yes '' | head -n 3000 >newlines
printf 'a\0b\nc\0\n\0\0' >nul
head -c 10485760 /dev/zero | tr '\0' k >long
yes same | head -n 1000000 >equal
printf 'a\nb' >no_newline
# Line ends are told of if the first line has one (test_keys.sh).
{ echo first; seq 1 100 | sed 's/$/\r/'; } >crlf
{ echo first; head -c 100000 /dev/urandom; } >random
for kind in $all; do
    for input in empty nul long no_newline crlf random; do
        good "$tamis" build --kind "$kind" -o new.set $input
        # Each key is found.
        run "$tamis" query -v new.set $input
        [ "$code" -eq 1 ] && [ -z "$line" ] && [ ! -s stdout ] || fail "$kind: keys of $input are lost"
    done
    good "$tamis" verify new.set
    keep new.set
    # Very many equal keys are taken or refused.
    for input in newlines equal; do
        either "$tamis" build --kind "$kind" -n 1000 -o new.set $input
        if [ "$code" -eq 0 ]; then
            good "$tamis" query -q new.set $input
            keep new.set
        else
            same new.set
        fi
    done
    # More memory than there is.
    [ -z "$limit" ] || refuse "$tamis" build --kind "$kind" -n 100G -o new.set keys
    same new.set
done
for input in nul long newlines random; do
    refuse "$tamis" build --u64 -o new.set $input
    refuse "$tamis" query --u64 new.set $input
    refuse "$tamis" add --u64 new.set $input
done
for input in nul long crlf random; do
    refuse "$tamis" build --hex -o new.set $input
    refuse "$tamis" query --hex new.set $input
    refuse "$tamis" add --hex new.set $input
done
for key in -1 18446744073709551616 0x 0x10000000000000000 1.5 1e3 '' x '1 2' nan; do
    echo "$key" >bad
    refuse "$tamis" query --u64 bloom.set bad
    refuse "$tamis" build --u64 -o new.set keys bad
    same new.set
done
if [ -n "$limit" ]; then # a key without end
    # shellcheck disable=SC3045
    refuse sh -c "ulimit -v 100000; exec \"\$0\" query bloom.set /dev/zero" "$tamis"
    refuse sh -c "ulimit -v 100000; exec \"\$0\" build -o new.set /dev/zero" "$tamis"
fi
expect_clean keys

# ---- Files that are cut or have one wrong bit; each byte of the header in turn, over the kinds.
python3 - "$tamis" <<'PYTHON' || fail "a damaged file was accepted"
import glob, os, subprocess, sys
def run(*words):
    done = subprocess.run([sys.argv[1], *words], stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode, done.stdout, done.stderr
commands = [["info"], ["verify"], ["query", "-c"], ["add"], ["remove"], ["info", "--json"]]
turn = 0
def refused(file, data, what):
    global turn
    open("damaged", "wb").write(data)
    if file.endswith("table"):
        command = ["table", ("info", "verify", "dump", "get", "put")[turn % 5]]
    else:
        command = commands[turn % len(commands)]
    turn += 1
    if command[0] == "remove" and b"remove" not in can:
        command = ["verify"]
    code, out, err = run(*command, "damaged")
    good = code == 2 and err.count(b"\n") == 1 and err.startswith(b"tamis ") and not out
    if not good or open("damaged", "rb").read() != data:
        sys.exit(f"{file}, {what}: {command} gives {code} {out[:200]} {err[:500]}")
files = sorted(glob.glob("*.set")) + sorted(glob.glob("*.series"))
files.remove("new.set")
for i, file in enumerate(files):
    data = open(file, "rb").read()
    can = b"remove" if not run("remove", "-o", "gone", file)[0] else b""
    for size in {0, 1, 7, 8, 64, 255, 256, 257, len(data) // 2, len(data) - 1}:
        refused(file, data[:size], f"cut at {size}")
    refused(file, data + b"\0", "one more")
    places = list(range(i, 256, len(files))) + [len(data) // 2 + i, len(data) - 1]
    for at in places:
        wrong = bytearray(data)
        wrong[at] ^= 1 << (at + i) % 8
        refused(file, bytes(wrong), f"wrong at {at}")
os.path.exists("gone") and os.remove("gone")
# Of a table the header is checked by every command, and the slots by verify.
data = open("t.table", "rb").read()
for size in (0, 1, 8, 100, 4095, 4096, 8192, len(data) - 4096, len(data) - 1):
    refused("t.table", data[:size], f"cut at {size}")
for at in range(0, 64, 3):
    wrong = bytearray(data)
    wrong[at] ^= 1 << at % 8
    refused("t.table", bytes(wrong), f"wrong at {at}")
PYTHON
rm damaged
if truncate -s 1T far 2>/dev/null; then
    for kind in $all; do
        head -c 4096 "$kind.set" | dd of=far conv=notrunc status=none
        refuse "$tamis" info far
        refuse "$tamis" add far keys
    done
    dd if=t.table of=far bs=4096 count=2 conv=notrunc status=none
    refuse "$tamis" table info far
    rm far
fi
for file in ./*.set ./*.series t.table; do
    [ "$file" = ./new.set ] || same "${file#./}"
done
expect_clean damaged

# ---- Files of another sort, and what a kind cannot do.
last=
for kind in $all; do
    for file in "$kind.set" "$kind.series"; do
        for verb in put get delete dump info verify rebuild "rebuild --repair"; do
            # shellcheck disable=SC2086
            refuse "$tamis" table $verb $file </dev/null
        done
        refuse "$tamis" table create -n 5 "$file"
        # Every command takes a set that has grown.
        good "$tamis" query -q "$file" keys
        run "$tamis" query -v "$file" keys
        [ "$code" -eq 1 ] && [ ! -s stdout ] || fail "$file lost keys"
        good "$tamis" info --json "$file"
        good "$tamis" verify "$file"
        good "$tamis" add --grow -o new.set "$file" others
        good "$tamis" verify new.set
        [ "$("$tamis" query -c new.set keys others)" = 6000 ] || fail "$file: add lost keys"
        good "$tamis" build --like "$file" -o new.set keys
        refuse "$tamis" add -p 1e-9 -o new.set "$file" keys # has more errors already
        run "$tamis" remove -o new.set "$file" keys
        case $deleting in
        *" $kind "*) [ "$code" -le 1 ] || fail "remove from $file" ;;
        *) [ "$code" -eq 2 ] || fail "remove from $file" ;;
        esac
        same "$file"
    done
    either "$tamis" merge -o new.set "$kind.series" "$kind.series" # if the promise has room for both
    good "$tamis" merge -p 0.5 -o new.set "$kind.set" "$kind.series"
    good "$tamis" verify new.set
    refuse "$tamis" merge -p 1e-9 -o new.set "$kind.series" "$kind.set"
    [ -z "$last" ] || refuse "$tamis" merge -o new.set "$kind.set" "$last.set"
    [ -z "$last" ] || refuse "$tamis" merge -p 0.5 -o new.set "$kind.series" "$last.series"
    last=$kind
    case $kind in
    rank | rank-counting) ;;
    *) refuse "$tamis" build --compact --like "$kind.set" -o new.set keys ;;
    esac
    refuse "$tamis" build --compact --like "$kind.series" -o new.set keys
done
for command in query info verify add remove "build -o new.set --like" "merge -o new.set bloom.set"; do
    # shellcheck disable=SC2086
    refuse "$tamis" $command t.table </dev/null
    # shellcheck disable=SC2086
    for file in /dev/zero /dev/null missing keys/below . ''; do
        refuse timeout 20 "$tamis" $command "$file" </dev/null
    done
done
good "$tamis" query -q compact.set keys
refuse "$tamis" merge -o new.set compact.set compact.set
same t.table
expect_clean kinds

# ---- Options.
numbers='0 -1 1e99 NaN inf -inf 0x x 1e-400 99999999999999999999999'
for option in n p bytes copies values lines failure line-bits check seed kind sort overshoot replacements; do
    for number in $numbers '' '1 x'; do
        case $option-$number in
        overshoot-0 | overshoot-1e-400) continue ;;
        n-* | p-*) refuse "$tamis" plan -n 1000 -$option "$number" ;;
        *) refuse "$tamis" plan -n 1000 --$option "$number" ;;
        esac
    done
done
for number in $numbers ''; do
    for option in -n -p --odds --bucket --slots --key-max --stash --seed --summary; do
        refuse "$tamis" table create -n 10 $option "$number" x.table
    done
    for option in -n --table-bytes --bits --rounds --keys --huge --kind; do
        refuse "$tamis" bench --kind bloom $option "$number"
    done
    for option in -n --samples; do
        refuse "$tamis" table bench $option "$number"
    done
    refuse "$tamis" table bench -n 10 --directory "$number"
    refuse "$tamis" build -n "$number" -o new.set keys
    [ "$number" = '' ] || refuse "$tamis" add -p "$number" -o new.set bloom.set keys
done
for words in "plan --check 5 --json" "plan --check 5 -p 0.1" "plan -n 5 --seed 3" "plan -n 5 --al=1" \
    "plan -n 5 --all=yes" "query --invert=1 bloom.set" "query -Z bloom.set" "query --cuont bloom.set" \
    "query --" "query" "add" "info" "info bloom.set rank.set" "verify --" "merge -o new.set" \
    "build -o new.set --like" "build -o" "build --output" "build --u bloom.set" "add --compact bloom.set" \
    "remove --grow rank.set" "remove -p 0.1 rank.set" "info --u64 bloom.set" "merge --json bloom.set" \
    "table" "table --" "table frob" "table put" "table put --sync" "table put --sync now t.table" \
    "table create -n 5" "table create --bucket 1 t2.table" "table create -n 5 a b" "table info" "table info -c t.table" \
    "table dump t.table keys" "table get -Z t.table" "table get --sync none t.table" \
    "table rebuild t.table keys" "table bench t.table" "bench bloom" "bench -n 5 --table-bytes 1M" \
    "bench --kind bloom,,rank" "reproduce nothing" "reproduce --plot-data" "reproduce --plot-data nowhere" \
    "reproduce --full --plot-data kept" "help nothing" "qurey" "-x" "--frob"; do
    # shellcheck disable=SC2086
    refuse "$tamis" $words </dev/null
done
# Of an option that is repeated the last counts.
good "$tamis" build --kind rank --kind bloom -p 0.5 -p 0.01 --u64 --u64 --hex --u64 -o x.set -o new.set keys
[ ! -e x.set ] || fail "the first -o was taken"
"$tamis" info new.set | grep -q 'kind *bloom' || fail "the first --kind was taken"

# ---- Names: beginning with '-', with blanks, newlines, UTF-8, and bytes that are none.
newline='a
b'
latin=$(printf 'caf\351')
for name in -x -- --help "two words" "$newline" "$latin" "naïve ∈" '*' '$(false)'; do
    cp keys "./$name"
    good "$tamis" build --kind bloom -o "./$name.set" -- "./$name"
    [ "$("$tamis" query -c -- "./$name.set" "./$name")" = 3000 ] || fail "$name"
    rm "./$name"
    refuse "$tamis" query "./$name.set" "./$name"
    refuse "$tamis" table info "./$name"
    mv -- "./$name.set" "./$name"
    case $name in
    --) continue ;;
    esac
    good "$tamis" verify -- "$name"
    good "$tamis" info --json -- "$name"
    cat stdout >>names.json
    [ "$("$tamis" query -c -- "$name" keys)" = 3000 ] || fail "$name"
    either "$tamis" add -- "$name" others
    good "$tamis" build --kind bloom --output="$name" -- keys
done
{ echo '['; sed 's/^}$/},/' names.json; echo '0]'; } >stdout
expect_json "len(d) == 9 and d[0]['file'] == '-x'"

# ---- Where to write.
keep new.set
mkdir folder
mkfifo pipe
good "$tamis" build -o new.set keys
keep new.set
for kind in $all; do
    refuse "$tamis" build --kind "$kind" -o /dev/full keys
    refuse "$tamis" add -o /dev/full "$kind.series" keys
    refuse "$tamis" build --kind "$kind" -o folder keys
done
for target in folder/ folder/. nowhere/x keys/x ''; do
    refuse "$tamis" build -o "$target" keys
done
for command in "add bloom.set keys" "remove rank.set keys" "merge bloom.set bloom.set" \
    "build --grow keys" "build --compact keys" "build --like bloom.series keys"; do
    for target in /dev/full folder nowhere/x keys/x; do
        # shellcheck disable=SC2086
        refuse "$tamis" ${command} -o $target
    done
    # shellcheck disable=SC2086
    refuse sh -c '"$@" >/dev/full' sh "$tamis" $command -o -
    # shellcheck disable=SC2086
    refuse sh -c '"$@" >&-' sh "$tamis" $command -o -
    # A file size limit ends no program, and leaves no file.
    # shellcheck disable=SC2086
    refuse sh -c 'ulimit -f 1; exec "$@"' sh "$tamis" $command -o new.set
    same new.set
done
[ -z "$(ls -A folder)" ] || fail "something is in the folder"
# Output that cannot be printed.
for command in "plan -n 5 --all" "plan -n 5 --json" "plan --check 2 -n 50" "query bloom.set keys" \
    "query -c bloom.set keys" "info bloom.series" "info --json rank.series" "verify bloom.set" \
    "verify --json bloom.set" "help" "--version" "help table" "table plan -n 5" "table info t.table" \
    "table get t.table keys" "table get -c t.table keys" "table dump t.table" "table verify t.table" \
    "table verify --json t.table" "bench --kind bloom -n 1000 --rounds 1 --json" \
    "table bench -n 10 --samples 10"; do
    # shellcheck disable=SC2086
    refuse sh -c '"$@" >/dev/full' sh "$tamis" $command
    # shellcheck disable=SC2086
    refuse sh -c '"$@" >&-' sh "$tamis" $command
done
for command in "query bloom.set" "build -o new.set" "add bloom.set" "remove rank.set" "info -" "verify -" \
    "table put t.table" "table get t.table" "table delete t.table" "merge -o new.set bloom.set -"; do
    # shellcheck disable=SC2086
    refuse sh -c '"$@" <&-' sh "$tamis" $command
    # shellcheck disable=SC2086
    refuse "$tamis" $command <folder
done
# Without any stream a command works or does not; it never writes to the files it opened.
for command in "query bloom.set keys" "info bloom.set" "verify missing" "table get t.table keys" \
    "add -o new.set bloom.set keys" "plan -n 5"; do
    code=0
    # shellcheck disable=SC2086
    sh -c '"$@" <&- >&- 2>&-' sh "$tamis" $command || code=$?
    [ $code -le 2 ] || fail "exit code $code without streams: $command"
done
for file in bloom.set rank.set rank.series keys t.table; do
    same $file
done
# A reader that goes away.
for command in "query bloom.set keys keys keys" "plan -n 5 --all --json" "table dump t.table"; do
    # shellcheck disable=SC2086
    { code=0; "$tamis" $command 2>stderr || code=$?; echo $code >code; } | head -n 1 >/dev/null
    case $(cat code) in
    0 | 141) [ ! -s stderr ] || fail "message to nobody: $command" ;;
    2) [ "$(wc -l <stderr)" -eq 1 ] || fail "not one line: $command" ;; # SIGPIPE was ignored before
    *) fail "exit code $(cat code) without reader: $command" ;;
    esac
done

# ---- Pipes, and input that is the output.
for kind in $all; do
    cat "$kind.series" >pipe &
    [ "$(timeout 20 "$tamis" query -c pipe keys)" = 3000 ] || fail "$kind: a set from a pipe"
    wait $!
    "$tamis" build --kind "$kind" --seed 1 -o pipe keys &
    [ "$(timeout 20 "$tamis" query -c - keys <pipe)" = 3000 ] || fail "$kind: a set to a pipe"
    wait $! || fail "$kind: a set to a pipe"
done
cp keys itself
refuse "$tamis" build -o itself itself
cmp keys itself || fail "output is input"
cp bloom.set itself
refuse "$tamis" add itself itself
refuse "$tamis" build --like itself -o itself itself
cmp bloom.set itself || fail "output is input"
either "$tamis" merge itself itself -o itself
refuse timeout 20 "$tamis" table info pipe
refuse timeout 20 "$tamis" table put pipe keys
refuse "$tamis" table create -n 5 pipe
expect_clean output

# ---- Two at once: the set is that of one of them, and a table has one writer.
cp counting-bloom.set shared
for i in 1 2 3 4; do
    seq ${i}00000 ${i}02000 >part$i
    "$tamis" add shared part$i 2>/dev/null &
done
wait
good "$tamis" verify shared
[ "$("$tamis" query -c shared keys)" = 3000 ] || fail "two writers lost keys"
expect_clean "two writers"
cp t.table both.table
"$tamis" table put both.table <pipe 2>first &
writer=$!
exec 7>pipe
printf 'early\tfirst value\n' >&7
i=0
until grep -q 'first value' both.table; do # then it has the lock, too
    i=$((i + 1))
    [ $i -lt 600 ] || fail "the first writer does not store"
    sleep 0.1
done
refuse "$tamis" table put both.table /dev/null
refuse "$tamis" table delete both.table /dev/null
refuse "$tamis" table rebuild both.table
refuse "$tamis" table get both.table keys
printf 'late\tvalue\n' >&7
exec 7>&-
wait $writer || fail "the first writer: $(cat first)"
echo late | "$tamis" table get both.table >stdout
[ "$(cat stdout)" = "late${tab}value" ] || fail "the first writer's item is lost"
good "$tamis" table verify both.table

# ---- Tables.
keep both.table
for file in long random; do
    refuse "$tamis" table put t.table $file
    run "$tamis" table get t.table $file
    [ "$code" -le 1 ] && [ -z "$line" ] || fail "get $file"
    refuse "$tamis" table put --hex t.table $file
    refuse "$tamis" table get --hex t.table $file
done
good "$tamis" table verify t.table
head -n 100000 equal | sed "s/\$/$tab/" >fewer
good "$tamis" table put --sync none t.table fewer
sed "s/\$/$tab/" nul >nul_items
good "$tamis" table put t.table empty nul_items
run "$tamis" table get t.table empty
[ "$code" -eq 1 ] || fail "get of nothing"
for name in t.table nowhere/t keys/t folder /dev/full '' .; do
    refuse "$tamis" table create -n 5 "$name"
done
[ -z "$limit" ] || refuse "$tamis" table create -n 10G large.table
refuse "$tamis" table create -n 1T large.table
refuse "$tamis" table create -n 5 --key-max 4088 --value-max 4087 large.table
refuse "$tamis" table create -n 5 --bucket 5 large.table
[ ! -e large.table ] || fail "a table that could not be made stayed"
refuse sh -c 'ulimit -f 1; exec "$@"' sh "$tamis" table create -n 5000 large.table
[ ! -e large.table ] || fail "a table that could not be made stayed"
"$tamis" table create -n 20 small.table
sed "s/\$/$tab/" keys >items
refuse "$tamis" table put small.table items
refuse "$tamis" table put small.table keys
good "$tamis" table verify small.table
refuse "$tamis" table put bloom.set t.table
same bloom.set

# ---- Files and folders that may not be read or written, for those who are not root.
if [ "$(id -u)" -eq 0 ]; then
    as() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
else
    as() { "$@"; }
fi
chmod 755 .
if as "$tamis" --version >/dev/null 2>&1; then
    mkdir locked
    cp bloom.set rank.set t.table keys locked
    chmod 444 locked/*
    cp locked/bloom.set secret
    chmod 000 secret
    chmod 555 locked
    for command in "add locked/bloom.set keys" "remove locked/rank.set keys" "build -o locked/new keys" \
        "build -o locked/bloom.set keys" "merge -o locked/new bloom.set bloom.set" "query secret keys" \
        "query bloom.set secret" "info secret" "verify secret" "merge -o x bloom.set secret" \
        "build -o /dev/null --like secret keys" "build -o /dev/null secret" "table create -n 5 locked/x.table" \
        "table put locked/t.table keys" "table delete locked/t.table keys" "table rebuild locked/t.table" \
        "table info secret" "table bench -n 10 --directory locked"; do
        # shellcheck disable=SC2086
        refuse as "$tamis" $command
    done
    for command in "query -q locked/bloom.set locked/keys" "info locked/bloom.set" "verify locked/rank.set" \
        "table get -c locked/t.table locked/keys" "table verify locked/t.table"; do
        # shellcheck disable=SC2086
        good as "$tamis" $command
    done
    [ "$(ls locked | wc -l)" -eq 4 ] || fail "something was written to a locked folder"
    chmod 755 locked
else
    echo "skipped: permissions, for want of another user"
fi
expect_clean "the end"
exit 0
