#!/bin/sh
# site.sh PACKAGE OUTPUT [--tests] - build the site into the folder OUTPUT
#
# PACKAGE is the folder of tamis.js and tamis.wasm.  What comes from npm is pinned by package-lock.json and installed beside
# OUTPUT, in OUTPUT-modules; with --tests that of the tests as well.
# SPDX-License-Identifier: MIT
set -eu
package=$(cd "$1" && pwd)
mkdir -p "$2" "$2-modules" "$2-reference"
output=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
omit=--omit=dev
[ "${3:-}" = --tests ] && omit=--include=dev

modules=$output-modules
if ! cmp -s "$here/package-lock.json" "$modules/package-lock.json" || ! [ -e "$modules/done$omit" ]; then
    cp "$here/package.json" "$here/package-lock.json" "$modules"
    rm -f "$modules"/done*
    (cd "$modules" && npm ci --loglevel=error --no-audit --no-fund "$omit") >"$modules/log" 2>&1 || {
        cat "$modules/log" >&2
        echo "site.sh: 'npm ci' could not fetch what package-lock.json names; it needs a network, once" >&2
        exit 1
    }
    touch "$modules/done$omit"
    [ "$omit" = --omit=dev ] || touch "$modules/done--omit=dev"
fi
"$here/../../../scripts/reference.sh" "$output-reference" >"$output-reference/log.txt" || { cat "$output-reference/log.txt"; exit 1; }
/usr/bin/python3 "$here/build.py" "$package" "$modules/node_modules" "$output-reference/xml" "$output"
