#!/bin/sh
# bare.sh [--long] SOURCE [BASE] - what README.md says, done on a bare Debian
#
# debootstrap makes the smallest Debian there is, with make and git in it and nothing else, from the mirror that apt
# uses here.  SOURCE is cloned into it, and the commands of README.md are run there as printed, by root: what they need
# they install, or name.  Python's module is installed and used without a network.  --long adds 'make test' after
# 'make install', the packages, PostgreSQL, LevelDB and node.  BASE, a folder made by debootstrap, is copied instead.
# Needs root and the means of a container, namespaces and mounts, and a mirror; without them it ends with 77.  Whatever
# was started in there ends with this script.
set -eu
export LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin
cannot() {
    echo "skipped: $*"
    exit 77
}
if [ -z "${TAMIS_BARE:-}" ]; then
    [ "$(id -u)" -eq 0 ] || cannot "needs root"
    unshare --mount --pid --fork true 2>/dev/null || cannot "no namespaces here"
    TAMIS_BARE=1 exec unshare --mount --pid --fork --kill-child sh "$0" "$@"
fi
long=
if [ "${1:-}" = --long ]; then
    long=1
    shift
fi
source=$(cd "${1:?usage: bare.sh [--long] SOURCE [BASE]}" && pwd)
base=${2:-}
begin=$(date +%s)
failed=
work=$(mktemp -d)
root=$work/bare log=$work/log out=$work/bare/newcomer/out
trap 'umount -l "$root/proc" "$root/dev/shm" "$root/dev/pts" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' HUP INT PIPE TERM

fail() {
    echo "FAIL: $*"
    exit 1
}
# inside COMMANDS: a shell of the bare system runs them, in the clone
inside() {
    chroot "$root" /usr/bin/env -i HOME=/newcomer PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        ${http_proxy:+http_proxy="$http_proxy"} sh -euc "cd /newcomer/tamis; $1"
}
# step WORDS COMMANDS: its output is kept in 'out' of the bare system's root, and shown if it fails
step() {
    code=0
    inside "$2" >"$out" 2>"$log" </dev/null || code=$?
    if [ "$code" -eq 0 ]; then
        printf '%5d s  %s\n' $(($(date +%s) - begin)) "$1"
    else
        tail -n 40 "$out" "$log"
        printf '%5d s  FAILED: %s\n' $(($(date +%s) - begin)) "$1"
        failed="$failed
    $1"
    fi
}
# block PATTERN: the first indented block of README.md's clone that has such a line
block() {
    awk -v p="$1" '
        /^    / { block = block substr($0, 5) "\n"; next }
        { if (block ~ p) { printf "%s", block; exit } block = "" }' "$root/newcomer/tamis/README.md"
}
# code LANGUAGE [PATTERN]: the first block of code in that language that has such a line
code() {
    awk -v l="$1" -v p="${2:-.}" '
        /^```/ { if (inside && block ~ p) { printf "%s", block; exit } open = !open; inside = open && $0 == "```" l; block = ""; next }
        inside { block = block $0 "\n" }' "$root/newcomer/tamis/README.md"
}

# --- the bare system --------------------------------------------------------------------------------
if [ -n "$base" ]; then
    cp -a "$base" "$root"
else
    # What apt knows here of Debian's main archive: address and code name.
    # shellcheck disable=SC2016
    from=$(apt-get indextargets --format '$(LABEL) $(CODENAME) $(REPO_URI)' | awk '
        $1 == "Debian" && $2 !~ /-/ { print $2, $3; exit }')
    [ -n "$from" ] || cannot "apt knows no mirror of Debian here"
    # shellcheck disable=SC2086
    set -- $from
    debootstrap --variant=minbase --include=make,git "$1" "$root" "$2" >"$log" 2>&1 ||
        { tail -n 20 "$log"; cannot "debootstrap from that mirror"; }
fi
mount -t proc proc "$root/proc"
mkdir -p "$root/dev/shm" "$root/dev/pts"
mount -t tmpfs none "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=666 none "$root/dev/pts"
ln -sf pts/ptmx "$root/dev/ptmx" # terminals of its own
cp /etc/resolv.conf /etc/hosts "$root/etc"
echo 'APT::Get::Assume-Yes "true";' >"$root/etc/apt/apt.conf.d/90yes" # who reads README.md says yes
git clone -q --no-hardlinks "$source" "$root/newcomer/tamis"
inside 'set -- gcc cc cmake ninja python3 node; for i; do ! command -v "$i" || exit 1; done' || fail "the system is not bare"
printf '%5d s  a bare system, and a clone\n' $(($(date +%s) - begin))

# --- README.md, from the top ------------------------------------------------------------------------
step "make run" "make run; tail -n 1 /newcomer/out | grep -q 'every promised error rate was kept'"
code c >"$root/newcomer/tamis/example.c"
step "make install, and the example in C" "$(block '^make install  ')
    ./a.out | grep -q '^apple: probably there$'"
printf '%s\n' apple plum >"$root/newcomer/tamis/words.txt"
printf '%s\n' apple pear >"$root/newcomer/tamis/candidates.txt"
step "command line" "$(code sh)"

step "Python: packages" "$(block 'venv' | sed -n '/^apt/p')"
step "Python: an environment, without a network" "unshare --net sh -eux <<'E2'
$(block 'venv' | sed '/^apt/d')
~/venv/bin/python -m doctest README.md
cd / && ~/venv/bin/python -c 'import tamis; print(tamis.__file__)'
E2"
step "Python: make install-python" "unshare --net make install-python && /usr/bin/python3 -m doctest README.md"

code sql '-- SQLite' >"$root/newcomer/tamis/lines.sql"
# What 'make run' has compiled is not compiled again.
shared='if grep tamis_objects /newcomer/last; then exit 1; fi'
step "SQLite" "make sqlite >/newcomer/last; $shared"'
    sh -euxc "$(tail -n 1 /newcomer/last)" <lines.sql | grep -x "1|0"'
code '' 'TAMIS' | sed -n 's/^> //p' >"$root/newcomer/tamis/lines.redis"
code '' 'TAMIS' | sed '/^> /d' >"$root/newcomer/tamis/answers.redis"
step "Redis" "make redis >/newcomer/last; $shared"'
    sed -n "s/.*\(apt install [a-z-]*\).*/\1/p" /newcomer/last | sh -eux
    sh -euxc "exec $(tail -n 1 /newcomer/last)" >/newcomer/server 2>&1 &
    for i in $(seq 100); do ! redis-cli ping >/dev/null 2>&1 || break; sleep 0.1; done
    redis-cli --no-raw <lines.redis | tee /newcomer/answers | cmp - answers.redis || { cat /newcomer/server /newcomer/answers; exit 1; }
    redis-cli shutdown || true'

if [ -n "$long" ]; then
    code js >"$root/newcomer/tamis/lines.mjs"
    step "node" 'make web >/newcomer/last; mkdir /newcomer/project; cd /newcomer/project
        sh -euxc "$(grep -o "npm install .*" /newcomer/last)"; cp ../tamis/lines.mjs .; node --version; node lines.mjs | grep -x "true false"'
    step "LevelDB" 'make leveldb'
    step "PostgreSQL" 'make postgresql && make install-postgresql'
    step "make test, after make install" "make test"
    step "make deb" "make deb"
fi
[ -z "$failed" ] || { echo "FAILED:$failed"; exit 1; }
echo "ok"
