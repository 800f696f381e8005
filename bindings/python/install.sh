#!/bin/sh
# install.sh - install the Python module below $DESTDIR$PREFIX, for the interpreter $PYTHON
#
# It goes where that interpreter looks for modules below PREFIX; PYTHONDIR names another folder.  The library is
# compiled in, or, if TAMIS_LIBRARY names libtamis.so, linked (build_backend/tamis_build.py).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${DESTDIR:=}" "${PREFIX:=/usr/local}" "${PYTHON:=python3}"

if [ -z "${PYTHONDIR:-}" ]; then
    PYTHONDIR=$("$PYTHON" - "$PREFIX" <<'END_OF_PROGRAM'
import os, site, sys, sysconfig
prefix = os.path.abspath(sys.argv[1])
known = [p for p in site.getsitepackages() + [site.getusersitepackages()]
         if p.startswith(os.path.join(prefix, "lib") + os.sep)]
variables = {"base": prefix, "platbase": prefix}
print(known[0] if known else sysconfig.get_path("platlib", "posix_prefix", variables))
END_OF_PROGRAM
    )
fi

# Said before it is compiled.
{ mkdir -p "$DESTDIR$PYTHONDIR" && [ -w "$DESTDIR$PYTHONDIR" ]; } 2>/dev/null || {
    echo "install.sh: $DESTDIR$PYTHONDIR cannot be written; without root: make install-python PREFIX=\$HOME/.local" >&2
    exit 1
}
"$PYTHON" "$here/build_backend/tamis_build.py" install "$DESTDIR$PYTHONDIR"
echo "installed $DESTDIR$PYTHONDIR/tamis"
