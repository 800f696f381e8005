#!/bin/sh
# wasm.sh OUTPUT [HEADERS] - compile the library and web.c to the WebAssembly module OUTPUT
#
# HEADERS is the folder where xxhash.h is.  With clang, lld, wasi-libc and binaryen of Debian; CLANG names another clang.  The
# module imports nothing and has no names.  It is compiled for size: a page has it inside.
# SPDX-License-Identifier: MIT
set -eu
out=$1
headers=${2:-/usr/include}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
cp "$headers/xxhash.h" "$work"

export work
export CLANG="${CLANG:-clang-14}"
export FLAGS="--target=wasm32-wasi -Oz -flto -std=c11 -fvisibility=hidden -ffunction-sections -fdata-sections \
-DTAMIS_BUILDING_LIBTAMIS=1 -DTAMIS_POSIX_ONLY=1 -DTAMIS_PLAN_ANY_MACHINE=1 -D_WASI_EMULATED_MMAN \
-I$work -I$root/include -I$root/src -Wall -Wextra -Wno-deprecated-declarations -Wno-implicit-function-declaration"
cat >"$work/compile" <<'END'
for file in "$@"; do
    "$CLANG" $FLAGS -c "$file" -o "$work/$(echo "$file" | tr / _).o" || exit 255
done
END
(
    cd "$root"
    # Exact tables live in files; a browser has none.
    find src -name '*.c' -not -path 'src/table/*' -not -path '*/x86/*' -not -path '*/arm/*'
    printf '%s\n' integrations/web/web.c integrations/web/host.c
) | sed "s|^|$root/|" | xargs -P "$(nproc 2>/dev/null || echo 2)" -n 8 sh "$work/compile"

# clang has binaryen make it smaller still: a tenth.
"$CLANG" --target=wasm32-wasi -Oz -flto -mexec-model=reactor -Wl,--gc-sections -Wl,--strip-all -Wl,-z,stack-size=262144 \
    -Wl,--wrap=open,--wrap=read,--wrap=close "$work"/*.o -lwasi-emulated-mman -o "$work/out.wasm"
mv "$work/out.wasm" "$out"
