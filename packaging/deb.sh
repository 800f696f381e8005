#!/bin/sh
# deb.sh SOURCE OUTPUT - build the Debian packages and their source package in OUTPUT
#
# debian/ is made from packaging/debian: @VERSION@ is the one in include/tamis/tamis.h, @SOVERSION@ its first
# two numbers, in the texts and in the names of files.  DEB_BUILD_OPTIONS=nocheck leaves the tests out.
# Each step is told before it begins, with what it takes and where its output is.
set -eu
source=$(cd "$1" && pwd)
mkdir -p "$2"
output=$(cd "$2" && pwd)
version=$(sed -n 's/^#define TAMIS_VERSION_[A-Z]* \([0-9]*\)/\1/p' "$source/include/tamis/tamis.h" |
    paste -sd .)
soversion=${version%.*}
tree=$output/tamis-$version
shown=$2
packages="libtamis$soversion libtamis-dev tamis redis-tamis libsqlite3-mod-tamis postgresql-15-tamis libtamis-leveldb-dev python3-tamis"
say() { echo "deb: $*"; }

say "tamis $version, in $shown"
say "1. the source package: this tree, with debian/ made from packaging/debian"
rm -rf "$output"/*tamis*
mkdir -p "$tree"
cd "$source"
# What git knows or would take; all but the builds where there is no git.
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    date=$(git log -1 --format=%cd --date=rfc)
    files="git ls-files -co --exclude-standard"
else
    date=$(date -R -r CHANGELOG.md)
    files="find . -type f -not -path ./build*"
fi
$files | while read -r file; do
    if [ -f "$file" ]; then echo "$file"; fi
done | tar -cf - -T - | tar -xf - -C "$tree"
tar -C "$output" -czf "$output/tamis_$version.orig.tar.gz" "tamis-$version"

for file in $(cd packaging/debian && find . -type f | sed 's|^\./||'); do
    to=$tree/debian/$(echo "$file" | sed "s/@SOVERSION@/$soversion/")
    mkdir -p "$(dirname "$to")"
    sed -e "s/@VERSION@/$version/g" -e "s/@SOVERSION@/$soversion/g" -e "s/@DATE@/$date/g" \
        "packaging/debian/$file" >"$to"
    if [ -x "packaging/debian/$file" ]; then chmod +x "$to"; fi
done
# Programs that use a symbol need the version that has it.  While the major version is 0, that is this one.
{
    echo "libtamis.so.$soversion libtamis$soversion #MINVER#"
    sed "s/.*/ &@Base $version/" tests/abi/symbols.txt
    echo "libtamis-model.so.$soversion libtamis$soversion #MINVER#"
    sed "s/.*/ &@Base $version/" tests/abi/symbols-model.txt
} >"$tree/debian/libtamis$soversion.symbols"
# Nobody asked for these packages by a bug of Debian's, since they are not uploaded there.
for package in $packages; do
    echo "$package: initial-upload-closes-no-bugs" >"$tree/debian/$package.lintian-overrides"
done
case " ${DEB_BUILD_OPTIONS:-} " in
*" nocheck "*) say "2. dpkg-buildpackage: compiles everything, without tests (nocheck); a minute or two" ;;
*) say "2. dpkg-buildpackage: compiles everything and runs the unit and golden tests; some minutes" ;;
esac
say "   its output is in $shown/log"
cd "$tree"
dpkg-buildpackage -us -uc "-j$(nproc)" >"$output/log" 2>&1 || {
    tail -n 60 "$output/log"
    echo "deb.sh: the build failed; the whole output is in $output/log" >&2
    exit 1
}
cd "$output"
say "3. packages:"
files=
for package in $packages; do
    file=$(echo "$package"_*.deb)
    files="$files $shown/$file"
    say "   $(du -k "$file" | cut -f 1) KB  $file: $(dpkg-deb -f "$file" Description | head -n 1)"
done
say "   to install them, as root: apt install$files"
