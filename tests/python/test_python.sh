#!/bin/sh
# test_python.sh SOURCE BUILD CC - the Python module, from the source tree and installed
. "$1/tests/release.sh"
export PYTHONDONTWRITEBYTECODE=1
unset PYTHONPATH TAMIS_LIBRARY || true
python=${PYTHON:-python3}

# --- from the source tree -------------------------------------------------------------------------
cd "$source/tests/python"
export TAMIS_LIBRARY="$release/libtamis.so" PYTHONPATH="$source/bindings/python"
"$python" test_layout.py --program >"$work/layout.c"
"$cc" -Wall -Wextra -Werror -I"$source/include" "$work/layout.c" -o "$work/layout"
"$work/layout" >"$work/layout.txt"
[ "$(wc -l <"$work/layout.txt")" -gt 30 ] || fail "the layout of the structs"
TAMIS_LAYOUT=$work/layout.txt "$python" -W error -m unittest -b test_layout test_filter || fail "tests"

# --- how the library is found -----------------------------------------------------------------------
answer='import tamis; f = tamis.Filter(100); f.add("a"); assert "a" in f; print(tamis.__version__)'
version=$(sed -n 's/^#define TAMIS_VERSION_[A-Z]* \([0-9]*\)/\1/p' "$source/include/tamis/tamis.h" |
    paste -sd .)
TAMIS_LIBRARY=/nowhere/libtamis.so "$python" -c 'import tamis' 2>"$work/err" && fail "no library"
grep -q 'ImportError: libtamis was not found; TAMIS_LIBRARY' "$work/err" || fail "$(cat "$work/err")"
TAMIS_LIBRARY=libc.so.6 "$python" -c 'import tamis' 2>"$work/err" && fail "another library"
grep -q 'ImportError: libc.so.6 has no tamis_' "$work/err" || fail "$(cat "$work/err")"
unset TAMIS_LIBRARY PYTHONPATH

# --- installed --------------------------------------------------------------------------------------
DESTDIR=$work/stage PREFIX=/opt/tamis PYTHON=$python "$source/bindings/python/install.sh" >"$work/log"
to=$(sed -n 's/^installed //p' "$work/log")
case $to in
"$work"/stage/opt/tamis/lib/python*/tamis) ;;
*) fail "installed to '$to'" ;;
esac
DESTDIR=$work/stage cmake --install "$release" --prefix /opt/tamis >"$work/log" 2>&1
cd "$work"
export PYTHONPATH="${to%/tamis}"
[ "$("$python" -c "$answer")" = "$version" ] || fail "the library below the same prefix"
mv stage/opt/tamis/lib/libtamis.so* .
"$python" -c "$answer" 2>/dev/null && fail "which library is this?"
[ "$(LD_LIBRARY_PATH=$work "$python" -c "$answer")" = "$version" ] || fail "LD_LIBRARY_PATH"
sed -i 's/^version = .*/version = "99.1.0"/' "$to/_version.py"
LD_LIBRARY_PATH=$work "$python" -c 'import tamis' 2>"$work/err" && fail "a library of another version"
grep -q "this module needs 99.1.0" "$work/err" || fail "$(cat "$work/err")"
echo "ok: installed"
