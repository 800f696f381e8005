#!/bin/sh
# test_deb.sh SOURCE OUTPUT - the Debian packages in OUTPUT, which packaging/deb.sh has built
#
# lintian has no error and no warning; the packages have what they should and nothing of this machine; their
# own tests (debian/tests) and the example of README.md work with what is in them, unpacked into a folder.  With
# TAMIS_DEB_INSTALL=1, for root on a machine that may be changed, they are really installed, tested, and removed.
set -eu
source=$(cd "$1" && pwd) output=$(cd "$2" && pwd)
work=$(mktemp -d)
chmod 755 "$work" # the user of a server reads packages there
trap 'rm -rf "$work"' EXIT
version=$(sed -n 's/^#define TAMIS_VERSION_[A-Z]* \([0-9]*\)/\1/p' "$source/include/tamis/tamis.h" |
    paste -sd .)
soversion=${version%.*}
tests=$output/tamis-$version/debian/tests

fail() {
    echo "FAIL: $*"
    exit 1
}
own_tests() {
    for name in tool library python module sqlite postgresql leveldb; do
        "$@" sh "$tests/$name" >"$work/log" 2>&1 || { cat "$work/log"; fail "debian/tests/$name"; }
        echo "ok: debian/tests/$name"
    done
}

# --- lintian ----------------------------------------------------------------------------------------
as_root=
[ "$(id -u)" -ne 0 ] || as_root=--allow-root
lintian $as_root --fail-on error,warning "$output"/tamis_*.changes >"$work/lintian" 2>&1 ||
    { cat "$work/lintian"; fail "lintian"; }
grep -E '^[EW]:' "$work/lintian" && fail "lintian"
echo "ok: lintian"

# --- what is there ----------------------------------------------------------------------------------
mkdir "$work/unpacked"
for package in libtamis$soversion libtamis-dev tamis redis-tamis libsqlite3-mod-tamis postgresql-15-tamis libtamis-leveldb-dev python3-tamis; do
    deb=$(echo "$output/${package}"_*.deb)
    [ -f "$deb" ] || fail "no package $package"
    [ "$(dpkg-deb -f "$deb" Version)" = "$version-1" ] || fail "the version of $package"
    dpkg-deb -x "$deb" "$work/unpacked"
done
root=$work/unpacked/usr
lib=$(dirname "$(echo "$root"/lib/*/libtamis.so)")
for file in "$root/bin/tamis" "$lib/libtamis.so.$version" "$lib/libtamis.a" "$lib/pkgconfig/tamis.pc" \
    "$lib/cmake/tamis/tamisConfig.cmake" "$root/share/man/man1/tamis.1.gz" \
    "$root/share/man/man3/tamis.3.gz" "$root/share/man/man5/tamis-format.5.gz" \
    "$root/share/bash-completion/completions/tamis" "$root/include/tamis/tamis.h" \
    "$root/lib/python3/dist-packages/tamis/__init__.py" "$root/lib/redis/modules/tamis.so" \
    "$root/lib/sqlite3/tamis.so" "$root/lib/postgresql/15/lib/tamis.so" "$root/share/postgresql/15/extension/tamis.control" \
    "$root/include/tamis_leveldb.h" "$lib/libtamis-leveldb.a" "$lib/pkgconfig/tamis-leveldb.pc" \
    "$root/share/doc/redis-tamis/examples/tamis_shards.py" "$root/share/doc/tamis/copyright"; do
    [ -s "$file" ] || fail "no file $file"
done
for header in "$source"/include/tamis/*.h "$source"/include/tamis/*.hpp; do
    cmp "$header" "$root/include/tamis/$(basename "$header")" || fail "$header"
done
grep -rlF -e "$output" -e "$source" "$work/unpacked" && fail "a path of this machine is in the packages"
depends=$(dpkg-deb -f "$output"/libtamis-dev_*.deb Depends)
[ "$depends" = "libtamis$soversion (= $version-1)" ] || fail "libtamis-dev depends on '$depends'"
dpkg-deb -f "$output"/python3-tamis_*.deb Depends | grep -q "libtamis$soversion (>= $version)" ||
    fail "python3-tamis does not depend on the library"
# Links of the pages lead to files; headers are in the package of the library's developers.
find "$root/share/doc/tamis" -name '*.md' | while read -r page; do
    grep -oE '\]\([^)#]+' "$page" | sed 's/^](//' | grep -v '://' | sort -u |
        while read -r link; do
            [ -e "$(dirname "$page")/$link" ] || echo "$page: $link"
        done
done | grep . && fail "links that lead nowhere"
[ -s "$root/share/doc/tamis/docs/choosing.md" ] || fail "no pages"
echo "ok: files"

# --- what is in them works --------------------------------------------------------------------------
unpacked() {
    env PATH="$root/bin:$PATH" PKG_CONFIG_PATH="$lib/pkgconfig" LD_LIBRARY_PATH="$lib" \
        TAMIS_MODULES="$root/lib/redis/modules" TAMIS_SQLITE="$root/lib/sqlite3" TAMIS_EXTENSIONS="$work/unpacked" \
        PYTHONPATH="$root/lib/python3/dist-packages" PYTHONDONTWRITEBYTECODE=1 "$@"
}
own_tests unpacked
sed -n '/^```c$/,/^```$/p' "$source/README.md" | sed '/^```/d' >"$work/example.c"
cd "$work"
# shellcheck disable=SC2046
cc -Wall -Werror example.c -o example $(unpacked pkg-config --cflags --libs tamis)
unpacked ./example | grep -q '^apple: probably there$' || fail "the example of README.md"
echo "ok: example"

# --- really installed -------------------------------------------------------------------------------
if [ -n "${TAMIS_DEB_INSTALL:-}" ]; then
    packages=$(find "$output" -maxdepth 1 -name '*.deb' -not -name '*dbgsym*')
    # shellcheck disable=SC2086
    dpkg -i $packages >"$work/log" 2>&1 || { cat "$work/log"; fail "dpkg -i"; }
    # shellcheck disable=SC2064
    trap "dpkg -P python3-tamis libtamis-leveldb-dev postgresql-15-tamis libsqlite3-mod-tamis redis-tamis tamis libtamis-dev libtamis$soversion >/dev/null; rm -rf '$work'" EXIT
    own_tests env PATH=/usr/bin:/bin
    man -w tamis >/dev/null && man -w 5 tamis-format >/dev/null || echo "no man here"
    echo "ok: installed"
fi
