#!/bin/sh
# setup.sh GROUP... - make sure that what a group of tasks needs is installed
#
# Groups: build, use, words, test, shells, lint, fuzz, cross, aarch64, i686, bench, coverage, figures,
# instructions, amalgamation, python, newcomer, bare, deb, reference, site, test-site, pictures, ci; of integrations: pydata, redis, leveldb,
# postgresql, sqlite, sqlite-shell, web.
# What is needed is looked for by use (a program in the path, a header that compiles), so it does not matter
# how it got there.
# What is missing is installed where apt-get is there and we may use it; otherwise it is listed, under
# the names of Debian's packages, and the script fails.
set -eu

packages() {
    case $1 in
    build) echo gcc libc6-dev cmake ninja-build libxxhash-dev ;;
    use) echo pkg-config ;;
    words) echo wamerican-insane ;;
    test) echo g++ binutils pkg-config libcmocka-dev python3 python3-dev musl-tools ;;
    shells) echo zsh fish ;;
    lint) echo clang clang-format clang-tidy shellcheck mandoc ;;
    fuzz) echo clang libclang-rt-dev ;;
    cross) echo gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user ;;
    aarch64) echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user ;;
    i686) echo gcc-i686-linux-gnu libc6-dev-i386-cross ;;
    bench) echo g++ libbloom-dev libleveldb-dev libdpdk-dev libsqlite3-dev liblmdb-dev python3 ;;
    coverage) echo gcovr ;;
    instructions) echo valgrind python3 ;;
    figures) echo python3 ;;
    amalgamation) echo python3 gcc libxxhash-dev ;;
    python) echo python3 python3-dev gcc libxxhash-dev ;;
    pydata) echo python3-dev python3-venv python3-pip python3-numpy python3-pandas python3-distributed ;;
    reference) echo doxygen python3 ;;
    ci) echo ccache ;;
    newcomer) echo git npm pkg-config ;;
    bare) echo git debootstrap util-linux ;;
    redis) echo redis-server redis-tools python3-redis ;;
    sqlite) echo libsqlite3-dev ;;
    sqlite-shell) echo sqlite3 ;;
    leveldb) echo g++ libleveldb-dev ;;
    postgresql) echo postgresql-15 postgresql-client-15 postgresql-server-dev-15 ;;
    site) echo python3-markdown doxygen python3 mandoc npm ;;
    test-site) echo chromium ;;
    pictures) echo pngquant ;;
    web) echo clang-14 lld-14 binaryen wasi-libc libclang-rt-14-dev-wasm32 npm ;;
    deb) echo build-essential dpkg-dev debhelper dh-python lintian pkg-config libcmocka-dev python3-dev ;;
    *) return 1 ;;
    esac
}

has_program() { command -v "$1" >/dev/null 2>&1; }
has_header() {
    printf '#include <stddef.h>\n#include <stdint.h>\n#include <stdarg.h>\n#include <setjmp.h>\n%s\n' \
        "#include <$2>" | "$1" -E - >/dev/null 2>&1
}
has_file() { [ -r "$1" ]; }

present() {
    case $1 in
    gcc) has_program "${CC:-cc}" ;;
    libc6-dev) has_header "${CC:-cc}" stdio.h ;;
    cmake) has_program cmake ;;
    ninja-build) has_program ninja ;;
    libxxhash-dev) has_header "${CC:-cc}" xxhash.h ;;
    wamerican-insane) has_file /usr/share/dict/american-english-insane ;;
    g++) has_program g++ ;;
    binutils) has_program nm ;;
    pkg-config) has_program pkg-config ;;
    libcmocka-dev) has_header "${CC:-cc}" cmocka.h ;;
    python3) has_program python3 ;;
    musl-tools) has_program musl-gcc ;;
    zsh) has_program zsh ;;
    fish) has_program fish ;;
    clang) has_program clang ;;
    clang-format) has_program clang-format ;;
    clang-tidy) has_program clang-tidy ;;
    shellcheck) has_program shellcheck ;;
    mandoc) has_program mandoc ;;
    libclang-rt-dev) has_program clang &&
        has_file "$(clang -print-file-name=libclang_rt.fuzzer-"$(uname -m)".a 2>/dev/null)" ;;
    gcc-s390x-linux-gnu) has_program s390x-linux-gnu-gcc ;;
    libc6-dev-s390x-cross) has_header s390x-linux-gnu-gcc stdio.h ;;
    gcc-aarch64-linux-gnu) has_program aarch64-linux-gnu-gcc ;;
    libc6-dev-arm64-cross) has_header aarch64-linux-gnu-gcc stdio.h ;;
    gcc-i686-linux-gnu) has_program i686-linux-gnu-gcc ;;
    libc6-dev-i386-cross) has_header i686-linux-gnu-gcc stdio.h ;;
    qemu-user) has_program qemu-s390x && has_program qemu-aarch64 ;;
    libleveldb-dev) has_header "${CC:-cc}" leveldb/c.h ;;
    libdpdk-dev) has_file /usr/include/dpdk/rte_member.h ;;
    libbloom-dev) has_header "${CC:-cc}" bloom.h ;;
    libsqlite3-dev) has_header "${CC:-cc}" sqlite3.h ;;
    liblmdb-dev) has_header "${CC:-cc}" lmdb.h ;;
    git) has_program git ;;
    debootstrap) PATH=$PATH:/usr/sbin has_program debootstrap ;;
    util-linux) has_program unshare ;;
    sqlite3) has_program sqlite3 ;;
    npm) has_program npm ;;
    gcovr) has_program gcovr ;;
    valgrind) has_program valgrind ;;
    gnuplot-nox) has_program gnuplot ;;
    build-essential) dpkg-query -W -f '${Status}' build-essential 2>/dev/null | grep -q ' installed$' ;;
    dpkg-dev) has_program dpkg-buildpackage ;;
    debhelper) has_program dh ;;
    dh-python) has_program dh_python3 ;;
    lintian) has_program lintian ;;
    doxygen) has_program doxygen ;;
    ccache) has_program ccache ;;
    binaryen) has_program wasm-opt ;;
    clang-14) has_program clang-14 ;;
    lld-14) has_program wasm-ld-14 ;;
    python3-markdown) /usr/bin/python3 -c 'import markdown' 2>/dev/null ;;
    chromium) has_program chromium ;;
    pngquant) has_program pngquant ;;
    wasi-libc) has_file /usr/lib/wasm32-wasi/libc.a ;;
    libclang-rt-14-dev-wasm32) has_program clang-14 &&
        has_file "$(clang-14 --target=wasm32-wasi -print-libgcc-file-name 2>/dev/null)" ;;
    redis-server) has_program redis-server ;;
    redis-tools) has_program redis-cli ;;
    postgresql-15) set -- /usr/lib/postgresql/*/bin/initdb && has_file "$1" ;;
    postgresql-client-15) has_program psql ;;
    postgresql-server-dev-15) has_program pg_config && has_file "$(pg_config --includedir-server)/postgres.h" ;;
    python3-dev) /usr/bin/python3 -c \
        'import os, sysconfig as s; assert os.path.exists(s.get_path("include") + "/Python.h")' 2>/dev/null ;;
    python3-venv) /usr/bin/python3 -c 'import ensurepip' 2>/dev/null ;;
    python3-pip) /usr/bin/python3 -c 'import pip' 2>/dev/null ;;
    python3-numpy) /usr/bin/python3 -c 'import numpy' 2>/dev/null ;;
    python3-pandas) /usr/bin/python3 -c 'import pandas' 2>/dev/null ;;
    python3-distributed) /usr/bin/python3 -c 'import dask.dataframe, distributed' 2>/dev/null ;;
    python3-redis) /usr/bin/python3 -c 'import redis' 2>/dev/null ;;
    esac
}

may_install() {
    has_program apt-get || return 1
    [ "$(id -u)" -eq 0 ] && as_root= && return 0
    has_program sudo && sudo -n true 2>/dev/null && as_root="sudo -n"
}

missing=
for group in "$@"; do
    list=$(packages "$group") || { echo "setup.sh: no group '$group'" >&2; exit 2; }
    for package in $list; do
        present "$package" || missing="$missing $package"
    done
done
[ -n "$missing" ] || exit 0

if may_install; then
    echo "installing:$missing" >&2
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    # The lists of packages may be missing or old: then they are fetched, and it is tried once more.
    # shellcheck disable=SC2086
    $as_root apt-get install -y --no-install-recommends $missing >"$log" 2>&1 ||
        { $as_root apt-get update >"$log" 2>&1 &&
          $as_root apt-get install -y --no-install-recommends $missing >"$log" 2>&1; } ||
        { tail -n 20 "$log" >&2; echo "setup.sh: could not install:$missing" >&2; exit 1; }
    exit 0
fi
echo "setup.sh: please install these packages (names as in Debian 12):$missing" >&2
exit 1
