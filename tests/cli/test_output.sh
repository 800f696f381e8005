#!/bin/sh
# test_output.sh - full disks, closed pipes, limits, links, devices, interrupts
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

seq 1 200000 >keys
"$tamis" build -p 0.001 -o good.tamis keys
cp good.tamis set.tamis

same() {
    cmp -s good.tamis set.tamis || fail "$1: the old set was changed"
}

# expect_full COMMAND...: with stdout on a full disk.
expect_full() {
    code=0
    "$@" >/dev/full 2>stderr || code=$?
    [ "$code" -eq 2 ] || fail "exit code $code on a full disk: $*"
    [ "$(wc -l <stderr)" -eq 1 ] || fail "not one line on stderr: $*"
    grep -qi "no space left" stderr || fail "no reason given: $*"
}
if [ -w /dev/full ]; then
    expect_full "$tamis" query set.tamis keys
    expect_full "$tamis" query -c set.tamis keys
    expect_full "$tamis" plan -n 1000
    expect_full "$tamis" plan -n 1000 --json
    expect_full "$tamis" info set.tamis
    expect_full "$tamis" verify set.tamis
    expect_full "$tamis" --help
    expect_full "$tamis" --version
    expect_full "$tamis" help build
    expect_full "$tamis" build -o - keys
    expect_full "$tamis" add set.tamis -o - keys
    expect 2 "$tamis" build -o /dev/full keys
    expect_message "no space left"
fi

# A closed stdout is an error, too, and never lets a file take its place.
for command in "query set.tamis keys" "info set.tamis" "build -o - keys" "--version"; do
    code=0
    # shellcheck disable=SC2086
    "$tamis" $command >&- 2>stderr || code=$?
    [ "$code" -eq 2 ] && [ "$(wc -l <stderr)" -eq 1 ] || fail "closed stdout: $command"
done
"$tamis" build -o new.tamis keys >&- 2>&- <&-
"$tamis" verify new.tamis >/dev/null

# A limit on the size of files stands for a full disk: the set does not fit.
limited() {
    (
        ulimit -f 64
        "$tamis" "$@"
    )
}
expect 2 limited build -p 0.001 -n 200000 -o set.tamis keys
expect_message "cannot write set.tamis: "
same "build -n"
expect 2 limited build -p 0.001 -o set.tamis keys
same "build"
expect 2 limited build -p 0.001 -o other.tamis keys
[ ! -e other.tamis ] || fail "a failed build left a file"
expect 2 limited add set.tamis keys
same "add"
expect 2 limited merge set.tamis good.tamis -o set.tamis
same "merge"
seq 1 20 >few
expect 0 limited build -p 0.001 -o few.tamis few

# A real full disk, where we may mount one.
mkdir disk
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=256k tmpfs disk 2>/dev/null; then
    trap 'umount "$work/disk"; rm -rf "$work"' EXIT
    "$tamis" build -o disk/set.tamis few
    cp disk/set.tamis before.tamis
    expect 2 "$tamis" build -p 0.001 -o disk/set.tamis keys
    expect_message "cannot write disk/set.tamis: no space left"
    cmp disk/set.tamis before.tamis || fail "full disk: the old set was changed"
    [ "$(ls -A disk)" = set.tamis ] || fail "full disk: something stayed"
    TMPDIR=$work/disk
    expect 2 "$tamis" build -p 0.001 -o set.tamis keys
    expect_message "temporary file in "
    same "full TMPDIR"
    [ "$(ls -A disk)" = set.tamis ] || fail "full TMPDIR: something stayed"
    TMPDIR=$work/tmp
else
    echo "skipped: a full disk, for it cannot be mounted here"
fi
TMPDIR=$work/missing
expect 2 "$tamis" build -p 0.001 -o set.tamis keys
expect_message "temporary file in $work/missing: No such file or directory"
same "missing TMPDIR"
expect 0 "$tamis" build -p 0.001 -n 200000 -o other.tamis keys
TMPDIR=$work/tmp

# Like any filter in a pipeline, it ends when nobody reads: by SIGPIPE, or if that is ignored by an
# error.
{ code=0; "$tamis" query set.tamis keys 2>stderr || code=$?; echo "$code" >code; } | head -n 1 >out
[ "$(cat out)" = 1 ] || fail "head"
[ "$(cat code)" -eq 141 ] && [ ! -s stderr ] || fail "SIGPIPE: code $(cat code)"
(
    trap '' PIPE
    { code=0; "$tamis" query set.tamis keys 2>stderr || code=$?; echo "$code" >code; } | head -n 1 >out
)
[ "$(cat code)" -eq 2 ] && [ "$(wc -l <stderr)" -eq 1 ] || fail "EPIPE: code $(cat code)"

# A link stays a link; permissions stay; a new file gets those of the umask.
mkdir target
cp few.tamis target/set.tamis
chmod 640 target/set.tamis
ln -s target/set.tamis link.tamis
expect 0 "$tamis" add link.tamis few
[ -L link.tamis ] || fail "the link was replaced"
[ "$(stat -c %a target/set.tamis)" = 640 ] || fail "permissions were not kept"
(umask 027 && "$tamis" build -o masked.tamis few)
[ "$(stat -c %a masked.tamis)" = 640 ] || fail "umask"
# Devices and pipes are written to.
expect 0 "$tamis" build -o /dev/null few
[ -c /dev/null ] || fail "/dev/null was replaced"
mkfifo fifo
cat fifo >copy.tamis &
expect 0 "$tamis" build -o fifo few
wait
expect 0 "$tamis" verify copy.tamis
[ -p fifo ] || fail "the pipe was replaced"
"$tamis" build -o - few | "$tamis" add - -o - few | "$tamis" query - few >out
cmp few out || fail "sets through pipes"

# An interrupt leaves nothing behind and the old set as it was.
for how in "-n 200000" ""; do
    for signal in INT TERM HUP; do
        # shellcheck disable=SC2086
        python3 - "$tamis" $how <<PYTHON || fail "signal $signal"
import os, signal, subprocess, sys, time
run = subprocess.Popen([sys.argv[1], "build", "-o", "set.tamis", *sys.argv[2:]],
                       stdin=subprocess.PIPE, stderr=subprocess.PIPE)
run.stdin.write(b"".join(b"%d\n" % i for i in range(200000)))
run.stdin.flush()
time.sleep(0.2)
run.send_signal(signal.SIG$signal)
sys.exit(run.wait() != -signal.SIG$signal)
PYTHON
        same "signal $signal"
        expect_clean "signal $signal"
    done
done

# A terminal gets no set, and a progress bar only if the work is long.
if python3 -c 'import pty' 2>/dev/null; then
    python3 - "$tamis" <<'PYTHON' || fail "terminal"
import os, pty, subprocess, sys, time
def run(args, feed, seconds):
    master, slave = pty.openpty()
    p = subprocess.Popen([sys.argv[1], *args], stdin=subprocess.PIPE, stdout=slave, stderr=slave)
    end = time.time() + seconds
    try:
        while feed:
            p.stdin.write(feed)
            p.stdin.flush()
            if time.time() > end:
                break
            time.sleep(0.05)
        p.stdin.close()
    except BrokenPipeError:
        pass
    os.set_blocking(master, False)
    code = p.wait()
    try:
        text = os.read(master, 1 << 20)
    except BlockingIOError:
        text = b""
    return code, text
code, text = run(["build", "-o", "-"], b"key\n", 0)
assert code == 2 and b"terminal" in text, (code, text)
code, text = run(["build", "-o", "short.tamis"], b"key\n", 0)
assert code == 0 and text == b"", (code, text)
code, text = run(["build", "-n", "1000", "-o", "long.tamis"], b"key\n", 1.6)
assert code == 0 and b"tamis build: " in text and text.endswith(b"\r\033[K"), (code, text)

# A file of known length whose answers are taken slowly: the time that is left is told, and it shrinks.  The
# line fits a terminal of 80 columns.
import re
with open("many", "w") as file:
    file.writelines("a key of some length, number %d\n" % i for i in range(60000))
assert subprocess.call([sys.argv[1], "build", "-o", "many.tamis", "many"]) == 0
master, slave = pty.openpty()
p = subprocess.Popen([sys.argv[1], "query", "many.tamis", "many"], stdout=subprocess.PIPE, stderr=slave)
while p.stdout.read(40000):
    time.sleep(0.05)
assert p.wait() == 0
text = os.read(master, 1 << 20).decode()
lines = [line for line in text.split("\r\033[K") if line]
left = [int(n) for line in lines for n in re.findall(r", (\d+) s left$", line)]
assert len(left) >= 2 and left[0] > 0 and left[-1] < left[0], lines
assert max(map(len, lines)) < 80, lines
PYTHON
fi
