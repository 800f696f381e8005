#!/bin/sh
# setup.sh GROUP... - make sure that what a group of tasks needs is installed
#
# Groups: build, words, test, lint, fuzz, bench, coverage, figures.  Where apt-get is there and we may use it,
# missing packages are installed; otherwise they are listed, and the script fails.
set -eu

packages() {
    case $1 in
    build) echo gcc cmake ninja-build libc6-dev libxxhash-dev ;;
    words) echo wamerican-insane ;;
    test) echo libcmocka-dev pkg-config g++ binutils python3 ;;
    lint) echo clang clang-format clang-tidy ;;
    fuzz) echo clang libclang-rt-14-dev ;;
    bench) echo libbloom-dev gnuplot-nox ;;
    coverage) echo gcovr ;;
    figures) echo gnuplot-nox ;;
    *) echo "setup.sh: no group '$1'" >&2; exit 2 ;;
    esac
}

missing=
for group in "$@"; do
    for package in $(packages "$group"); do
        dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -q '^installed$' ||
            missing="$missing $package"
    done
done
[ -n "$missing" ] || exit 0

if command -v apt-get >/dev/null 2>&1; then
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then as_root="sudo -n"; else as_root=no; fi
    fi
    if [ "$as_root" != no ]; then
        echo "installing:$missing" >&2
        export DEBIAN_FRONTEND=noninteractive
        # shellcheck disable=SC2086
        $as_root apt-get install -y --no-install-recommends $missing >/dev/null 2>&1 ||
            { $as_root apt-get update >/dev/null &&
              $as_root apt-get install -y --no-install-recommends $missing >/dev/null; }
        exit 0
    fi
fi
echo "setup.sh: please install these packages (names as in Debian 12):$missing" >&2
exit 1
