#!/bin/sh
# test_readme.sh SOURCE BUILD CC - the lines of README.md that install and use the library work as printed
#
# There are two blocks: one for root, below /usr/local, and one for anybody, below the home directory.  Each is
# run as it stands, by one shell, in a tree where the example was saved.  Only the build is not made again:
# by MAKEFLAGS that of the tests is installed.  For root it happens in a namespace with its own /usr/local and /etc.
. "$1/tests/release.sh"

# The clone of a user who has saved the example.
mkdir "$work/clone" "$work/home"
ln -s "$source"/* "$work/clone"
cd "$work/clone"
rm -f build
# shellcheck disable=SC2016
sed -n '/^```c$/,/^```$/p' README.md | sed '/^```/d' >example.c
# The n-th block of commands that has a 'make install' in it.
block() {
    awk -v n="$1" '
        /^    / { block = block substr($0, 5) "\n"; next }
        { if (block ~ /make install/ && --n == 0) printf "%s", block; block = "" }' README.md
}
block 1 >root.sh
block 2 >user.sh
grep -q '^make install *#' root.sh || fail "no block of README.md is for root"
grep -q '^make install PREFIX=' user.sh || fail "no block of README.md is for a home directory"
unset PKG_CONFIG_PATH LD_LIBRARY_PATH DESTDIR PREFIX
export MAKEFLAGS="-- RELEASE=$release"
unset MAKELEVEL MFLAGS
export HOME="$work/home"

# check WHAT COMMAND...: it runs all lines and prints the answer of the example
check() {
    what=$1
    shift
    "$@" >"$work/out" 2>&1 || { cat "$work/out"; fail "$what"; }
    grep -q '^apple: probably there$' "$work/out" || { cat "$work/out"; fail "$what: the answer"; }
    echo "ok: $what"
}
check "below the home directory" sh -eux user.sh
[ -x "$HOME/.local/bin/tamis" ] || fail "nothing in the home directory"

# With DESTDIR nothing outside of it is touched: the cache of the linker neither.
mkdir bin
printf '#!/bin/sh\ntouch "%s/ldconfig-was-run"\n' "$work" >bin/ldconfig
chmod +x bin/ldconfig
PATH=$work/clone/bin:$PATH DESTDIR=$work/stage make install >"$work/out" 2>&1 ||
    { cat "$work/out"; fail "DESTDIR"; }
[ -s "$work/stage/usr/local/lib/pkgconfig/tamis.pc" ] || fail "DESTDIR is not respected"
[ ! -e "$work/ldconfig-was-run" ] || fail "ldconfig is run with DESTDIR"
echo "ok: DESTDIR"

cat >as_root.sh <<'E2'
mount -t tmpfs none /usr/local && cp -a /etc "$1" 2>/dev/null
mount --bind "$1" /etc || exit 77
ldconfig
! pkg-config --exists tamis || exit 77
exec sh -eux root.sh
E2
if ! unshare -rm true 2>/dev/null; then
    echo "skipped: as root (no namespaces here)"
    exit 0
fi
code=0
unshare -rm sh as_root.sh "$work/etc" >"$work/root" 2>&1 || code=$?
if [ "$code" -eq 77 ]; then
    echo "skipped: as root (no mounts here, or tamis is installed)"
    exit 0
fi
# shellcheck disable=SC2016
check "as root, below /usr/local" sh -c 'cat "$1"; exit "$2"' sh "$work/root" "$code"
