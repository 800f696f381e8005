#!/bin/sh
# test_python.sh SOURCE BUILD CC - the Python module: tests against the wheel, and a wheel from the source distribution
#
# The wheel is installed into a new environment without a compiler in its path, for python3 and for the system's own
# Python.  PYTHONS names others: one wheel serves 3.9 and later.
. "$1/tests/release.sh"
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1 CC="$cc"
unset PYTHONPATH TAMIS_LIBRARY CFLAGS LDFLAGS || true
python=${PYTHON:-python3}
backend=$source/bindings/python/build_backend/tamis_build.py
version=$(sed -n 's/^#define TAMIS_VERSION_[A-Z]* \([0-9]*\)/\1/p' "$source/include/tamis/tamis.h" |
    paste -sd .)
"$python" -c 'import sysconfig, os; assert os.path.exists(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null || {
    echo "skipped: no headers of Python here"
    exit 0
}

# --- a wheel, with the library of the release build: that saves half a minute -------------------------
TAMIS_LIBRARY=$release/libtamis.a CFLAGS=-Werror "$python" "$backend" wheel "$work/wheel" >"$work/name" 2>"$work/log" ||
    fail "$(cat "$work/log")"
wheel=$(cat "$work/name")
case $wheel in
*"/tamis-$version-cp39-abi3-"*.whl) ;;
*) fail "the wheel is '$wheel'" ;;
esac

# Only what a wheel may use: no symbol of Python's that 3.9 lacks, none of ours in the way of others.
mkdir "$work/content"
(cd "$work/content" && "$python" -m zipfile -e "$wheel" .)
nm -D --defined-only "$work/content/tamis/_native.abi3.so" | awk '{print $3}' >"$work/defined"
[ "$(cat "$work/defined")" = PyInit__native ] || fail "exported: $(cat "$work/defined")"
[ -s "$work/content/tamis-$version.dist-info/licenses/LICENSE.xxHash" ] || fail "the licence of xxHash"

# --- installed into new environments, and tested there --------------------------------------------------
PYTHONS=${PYTHONS:-$python /usr/bin/python3}
tested=
for each in $PYTHONS; do
    real=$("$each" -c 'import os, sys; print(os.path.realpath(sys.executable))') || continue
    case " $tested " in *" $real "*) continue ;; esac
    tested="$tested $real"
    if "$each" -m venv "$work/venv" >/dev/null 2>&1; then
        tool=$work/venv/bin/python
        PATH=$work/venv/bin "$tool" -m pip install -q "$wheel" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
        "$tool" -m pip list 2>/dev/null | grep -q "^tamis  *$version" || fail "pip list of $each"
    else # Debian has venv in a package of its own
        tool=$each
        export PYTHONPATH=$work/content
    fi
    (cd "$source/tests/python" && "$tool" -W error -m unittest -b test_filter test_product test_doors) ||
        fail "tests with $("$each" --version)"
    rm -rf "$work/venv"
    unset PYTHONPATH
    echo "ok: $("$each" --version)"
done

# --- the library that 'make' has built is taken, unless a source is newer --------------------------------
mkdir -p "$work/tree/build/release" "$work/bin"
cp -R "$source/CMakeLists.txt" "$source/LICENSE" "$source/include" "$source/src" "$source/scripts" "$source/bindings" "$work/tree"
cp "$release/libtamis.a" "$work/tree/build/release"
cat >"$work/bin/cc" <<END
#!/bin/sh
case "\$*" in *tamis.c*) echo "the library is compiled again"; exit 1 ;; esac
exec "$cc" "\$@"
END
chmod +x "$work/bin/cc"
own() {
    env -u CC PATH="$work/bin:$PATH" "$python" "$work/tree/bindings/python/build_backend/tamis_build.py" install "$work/shared" \
        >"$work/log" 2>&1
}
own || { cat "$work/log"; fail "the library that is there is not taken"; }
touch "$work/tree/include/tamis/tamis.h"
own && fail "a library is taken that is older than its sources"
grep -q 'compiled again' "$work/log" || { cat "$work/log"; fail "a newer source"; }
echo "ok: a library that is there"

# --- what is missing is named ------------------------------------------------------------------------------
CC=no-such-compiler "$python" "$backend" install "$work/none" >"$work/log" 2>&1 && fail "it compiles without a compiler"
[ "$(cat "$work/log")" = "tamis_build: please install these packages (names as in Debian 12): gcc libc6-dev" ] ||
    { cat "$work/log"; fail "a missing compiler"; }
PREFIX=$work/log "$source/bindings/python/install.sh" >"$work/out" 2>&1 && fail "it installs below a file"
grep -q '^install.sh: .* cannot be written; without root: make install-python PREFIX=' "$work/out" ||
    { cat "$work/out"; fail "a folder that cannot be written"; }
echo "ok: what is missing"

# --- the source distribution builds from itself alone ---------------------------------------------------
"$python" "$backend" sdist "$work/sdist" >"$work/name" 2>"$work/log" || fail "$(cat "$work/log")"
mkdir "$work/alone"
tar -xzf "$(cat "$work/name")" -C "$work/alone"
cd "$work/alone/tamis-$version"
CFLAGS=-O0 "$python" build_backend/tamis_build.py install "$work/own" 2>"$work/log" || fail "$(cat "$work/log")"
cd "$work"
answer='import tamis; f = tamis.Filter(100); f.add("a"); assert "a" in f; print(tamis.__version__)'
[ "$(PYTHONPATH=$work/own "$python" -c "$answer")" = "$version" ] || fail "built from the source distribution"
echo "ok: source distribution"

# --- make install-python, with the shared library ---------------------------------------------------------
DESTDIR=$work/stage PREFIX=/opt/tamis PYTHON=$python TAMIS_LIBRARY=$release/libtamis.so \
    "$source/bindings/python/install.sh" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
to=$(sed -n 's/^installed //p' "$work/log")
case $to in
"$work"/stage/opt/tamis/lib/python*/tamis) ;;
*) fail "installed to '$to'" ;;
esac
[ "$(PYTHONPATH=${to%/tamis} LD_LIBRARY_PATH=$release "$python" -c "$answer")" = "$version" ] || fail "installed"
# The library is linked, not compiled in: it is found, or not, as any other of the system's.
readelf -d "$to/_native.abi3.so" | grep -q 'NEEDED.*libtamis\.so' || fail "the library is not linked"
echo "ok: installed"
