#!/bin/sh
# installed.sh PREFIX - after an installation below PREFIX: let programs find the library, or say how
#
# Root's linker gets its cache anew.  Where pkg-config or the linker still do not look, the line is printed that
# makes them.
set -eu
prefix=$1
pc=$(find "$prefix"/lib* -path '*/pkgconfig/tamis.pc' 2>/dev/null | head -n 1)
[ -n "$pc" ] || { echo "installed.sh: no tamis.pc below $prefix" >&2; exit 1; }
libdir=${pc%/pkgconfig/tamis.pc}
PATH=$PATH:/sbin:/usr/sbin
if [ "$(id -u)" -eq 0 ] && command -v ldconfig >/dev/null; then
    ldconfig || echo "installed.sh: ldconfig failed" >&2
fi
line=
if command -v pkg-config >/dev/null; then
    # pkg-config may tell a folder by another of its names.
    found=$(cd "$(pkg-config --variable=pcfiledir tamis 2>/dev/null)" 2>/dev/null && pwd -P) || found=
    [ "$found" = "$(cd "$libdir/pkgconfig" && pwd -P)" ] || line=" PKG_CONFIG_PATH=$libdir/pkgconfig"
else
    echo "pkg-config is not installed: use cc -I$prefix/include FILE... -L$libdir -ltamis"
fi
case :${LD_LIBRARY_PATH:-}: in
*:"$libdir":*) ;;
*) ldconfig -p 2>/dev/null | grep -qF " => $libdir/libtamis.so" || line="$line LD_LIBRARY_PATH=$libdir" ;;
esac
[ -z "$line" ] || echo "programs find it after: export$line"
