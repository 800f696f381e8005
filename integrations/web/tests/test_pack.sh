#!/bin/sh
# test_pack.sh PACKAGE README - 'npm pack' makes a package that can be installed; its README's example and that of README run
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAIL: $*"
    exit 1
}
package=$(cd "$1" && pwd)
readme=$(readlink -f "$2")
cd "$work"
npm pack --silent "$package" >name
tar tzf "$(cat name)" | sort >files
for file in LICENSE README.md package.json tamis.d.ts tamis.js tamis.wasm; do
    grep -qx "package/$file" files || fail "no $file in the package"
done
[ "$(wc -l <files)" -eq 6 ] || { cat files; fail "the package has other files too"; }
echo '{ "private": true, "type": "module" }' >package.json
npm install --silent --offline --no-audit --no-fund "./$(cat name)" || fail "npm install"
{
    awk '/^```js$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$package/README.md"
    # The variables of the example.
    cat <<'END'
if (set.has("apple") || again.has("apple") || !built.has("key") || built.has("no key") && built.has("nor this"))
    throw new Error("the example answers wrongly");
if (tamis.plan({ n: 1e7, fpr: 0.001 }).bytes !== 16595968)
    throw new Error("README.md states another size");
console.log("ok: the example of README.md, version " + tamis.version);
END
} >example.js
node example.js || fail "the example of README.md"
awk '/^```js$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$readme" >first.js
[ "$(node first.js)" = "true false" ] || fail "the example of the first page"
# Node 18 has no global 'crypto'.
echo 'delete globalThis.crypto; await import("./first.js");' >old.js
[ "$(node old.js)" = "true false" ] || fail "the example of the first page, with node 18"
version=$(node -p 'require("./node_modules/tamis/package.json").version')
node example.js | grep -q "version $version\$" || fail "package.json has version $version"
