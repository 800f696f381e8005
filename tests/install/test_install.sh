#!/bin/sh
# test_install.sh SOURCE BUILD CC - what is installed can be used, in every way that users have
. "$1/tests/release.sh"

prefix=$work/prefix
program=$source/tests/install/program.c
version=$(sed -n 's/^#define TAMIS_VERSION_[A-Z]* \([0-9]*\)/\1/p' "$source/include/tamis/tamis.h" |
    paste -sd .)
warnings="-Wall -Wextra -Werror"
# The program checks its answers, and prints the version of the library that it found.
check() {
    what=$1
    shift
    answer=$("$@") || fail "$what: the program failed"
    [ "$answer" = "tamis $version" ] || fail "$what: '$answer', expected 'tamis $version'"
    echo "ok: $what"
}
needs() { readelf -d "$1" | grep -q 'NEEDED.*libtamis\.so'; }

# --- what is there ------------------------------------------------------------------------------
cmake --install "$release" --prefix "$prefix" >"$work/log" 2>&1 || { cat "$work/log"; fail install; }
for file in bin/tamis lib/libtamis.a lib/libtamis.so lib/libtamis-model.a lib/libtamis-model.so \
    lib/pkgconfig/tamis.pc lib/pkgconfig/tamis-model.pc \
    lib/cmake/tamis/tamisConfig.cmake lib/cmake/tamis/tamisConfigVersion.cmake \
    share/bash-completion/completions/tamis share/zsh/site-functions/_tamis \
    share/fish/vendor_completions.d/tamis.fish share/man/man1/tamis.1 share/doc/tamis/LICENSE; do
    [ -s "$prefix/$file" ] || fail "$file is not installed"
done
for header in "$source"/include/tamis/*.h "$source"/include/tamis/*.hpp; do
    cmp "$header" "$prefix/include/tamis/$(basename "$header")" || fail "$header is not installed"
done
for page in "$source"/docs/man/*.[135]; do
    cmp "$page" "$prefix/share/man/man${page##*.}/$(basename "$page")" || fail "no page $page"
done
find "$prefix/include" -type f | grep -v '/include/tamis/[a-z0-9_]*\.hp*$' && fail "more than the headers"
soname=$(readelf -d "$prefix/lib/libtamis.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[ "$soname" = "libtamis.so.${version%.*}" ] || fail "the SONAME is '$soname'"
[ -e "$prefix/lib/$soname" ] || fail "$soname is not installed"
if readelf -d "$prefix/lib/libtamis.so" "$prefix/lib/libtamis-model.so" "$prefix/bin/tamis" | grep NEEDED |
    grep -vE '\[(libc|libm|ld-linux.*)\.so'; then
    fail "more than libc and libm is needed"
fi
grep -rIlF -e "$release" -e "$source" -e "$prefix" "$prefix/lib" "$prefix/share" &&
    fail "a path of this machine is in the installed files"
# Every link of every page leads to a file, in the installed tree as well as here.
links() {
    find "$1" -name '*.md' | while read -r page; do
        grep -oE '\]\([^)#]+' "$page" | sed 's/^](//' | grep -v '://' | sort -u |
            while read -r link; do
                [ -e "$(dirname "$page")/$link" ] || echo "$page: $link"
            done
    done
}
[ "$(find "$prefix/share/doc/tamis" -name '*.md' | wc -l)" -gt 10 ] || fail "no pages are installed"
links "$prefix/share/doc/tamis" | grep . && fail "links that lead nowhere"
for page in README.md docs/choosing.md docs/planner.md; do
    sed 's|](\.\./\.\./\.\./include|](include|g' "$prefix/share/doc/tamis/$page" |
        cmp - "$source/$page" || fail "$page is not what it was"
done
answer=$("$prefix/bin/tamis" --version) || fail "tamis --version"
case $answer in
*"$version"*) ;;
*) fail "tamis --version prints '$answer'" ;;
esac
echo "ok: files"

# --- four ways to use it, and again after the tree was moved --------------------------------------
use_all() {
    where=$1
    out=$work/$2
    mkdir -p "$out"
    export PKG_CONFIG_PATH="$where/lib/pkgconfig"
    [ "$(pkg-config --modversion tamis)" = "$version" ] || fail "pkg-config: version"

    # shellcheck disable=SC2046,SC2086
    "$cc" $warnings $(pkg-config --cflags tamis tamis-model) "$program" -o "$out/shared" $(pkg-config --libs tamis tamis-model)
    needs "$out/shared" || fail "pkg-config did not link the shared library"
    check "$2: pkg-config, shared" env LD_BIND_NOW=1 LD_LIBRARY_PATH="$where/lib" "$out/shared"

    # shellcheck disable=SC2046,SC2086
    "$cc" $warnings $(pkg-config --cflags tamis tamis-model) "$program" -o "$out/static" -static \
        $(pkg-config --static --libs tamis tamis-model)
    check "$2: pkg-config, static" "$out/static"

    # shellcheck disable=SC2086
    "$cc" $warnings -I"$where/include" "$program" -o "$out/plain" -L"$where/lib" -ltamis -ltamis-model
    check "$2: plain cc" env LD_LIBRARY_PATH="$where/lib" "$out/plain"

    # shellcheck disable=SC2086
    "$cc" $warnings -I"$where/include" "$program" -o "$out/archive" "$where/lib/libtamis.a" "$where/lib/libtamis-model.a" -lm
    needs "$out/archive" && fail "the archive brought the shared library in"
    check "$2: plain cc, archive" "$out/archive"

    # shellcheck disable=SC2046,SC2086
    g++ $warnings -x c++ $(pkg-config --cflags tamis tamis-model) "$program" -o "$out/cxx" -x none \
        $(pkg-config --libs tamis tamis-model)
    check "$2: C++" env LD_LIBRARY_PATH="$where/lib" "$out/cxx"

    cmake -S "$source/tests/install/find_package" -B "$out/cmake" -G Ninja \
        -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$where" -DPROGRAM="$program" \
        -DEXPECTED_VERSION="$version" >"$out/log" 2>&1 &&
        cmake --build "$out/cmake" >>"$out/log" 2>&1 || { cat "$out/log"; fail "$2: find_package"; }
    needs "$out/cmake/with_shared" || fail "tamis::tamis is not the shared library"
    needs "$out/cmake/with_static" && fail "tamis::static is not the static library"
    check "$2: find_package, tamis::tamis" "$out/cmake/with_shared"
    check "$2: find_package, tamis::static" "$out/cmake/with_static"
}
use_all "$prefix" installed
mv "$prefix" "$work/moved elsewhere"
ln -s "moved elsewhere" "$work/moved"
use_all "$work/moved" moved

# --- DESTDIR --------------------------------------------------------------------------------------
DESTDIR=$work/stage cmake --install "$release" --prefix /opt/tamis >"$work/log" 2>&1
[ -x "$work/stage/opt/tamis/bin/tamis" ] || fail "DESTDIR is not respected"
echo "ok: DESTDIR"

# --- as a part of another project: usable, and nothing of ours is installed -----------------------
cmake -S "$source/tests/install/subproject" -B "$work/sub" -G Ninja -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_BUILD_TYPE=Debug -DTAMIS_DIR="$source" -DPROGRAM="$program" >"$work/log" 2>&1 &&
    cmake --build "$work/sub" >>"$work/log" 2>&1 &&
    cmake --install "$work/sub" --prefix "$work/sub-prefix" >>"$work/log" 2>&1 ||
    { cat "$work/log"; fail "subproject"; }
check "subproject" "$work/sub-prefix/bin/program"
find "$work/sub-prefix" -type f | grep -v '/bin/program$' && fail "a subproject installs our files"
[ -e "$work/sub/tamis/tamis" ] && fail "a subproject builds our tool"

# --- no build system at all -----------------------------------------------------------------------
# shellcheck disable=SC2086
"$cc" -I"$source/include" -I"$source/src" "$program" "$source"/src/*/*.c "$source"/src/*/*/*.c -lm -o "$work/one"
check "cc src/*/*.c src/*/*/*.c" "$work/one"
