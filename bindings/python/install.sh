#!/bin/sh
# install.sh - install the Python module below $DESTDIR$PREFIX, for the interpreter $PYTHON
#
# It goes where that interpreter looks for modules below PREFIX; PYTHONDIR names another folder.  Beside the
# module its version is written, which stands in include/tamis/tamis.h.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${DESTDIR:=}" "${PREFIX:=/usr/local}" "${PYTHON:=python3}"

version=$(sed -n 's/^#define TAMIS_VERSION_[A-Z]* \([0-9]*\)/\1/p' "$here/../../include/tamis/tamis.h" |
    paste -sd .)
if [ -z "${PYTHONDIR:-}" ]; then
    PYTHONDIR=$("$PYTHON" - "$PREFIX" <<'END'
import os, site, sys, sysconfig
prefix = os.path.abspath(sys.argv[1])
known = [p for p in site.getsitepackages() + [site.getusersitepackages()]
         if p.startswith(os.path.join(prefix, "lib") + os.sep)]
variables = {"base": prefix, "platbase": prefix}
print(known[0] if known else sysconfig.get_path("purelib", "posix_prefix", variables))
END
    )
fi

to=$DESTDIR$PYTHONDIR/tamis
mkdir -p "$to"
for file in "$here"/tamis/*.py "$here"/tamis/py.typed; do
    install -m 644 "$file" "$to/"
done
printf 'version = "%s"\nsoname = "libtamis.so.%s"\n' "$version" "${version%.*}" >"$to/_version.py"
chmod 644 "$to/_version.py"
echo "installed $to"
