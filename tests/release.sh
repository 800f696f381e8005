# shellcheck shell=sh
# release.sh - for the scripts that look at what users get: a release build of its own
#
# Sourced by test_*.sh, which are called as: sh SCRIPT SOURCE BUILD CC
# It sets $source, $build and $cc; $release, the build of what users get; and $work, a folder that goes at the end.
set -eu
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd) cc=$3
release=$build/release-tree

fail() {
    echo "FAIL: $*"
    exit 1
}

# The release build is brought up to date.  Tests run side by side: a lock lets one build while the others wait.
mkdir -p "$release"
(
    command -v flock >/dev/null && flock 9
    cmake -S "$source" -B "$release" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_INSTALL_LIBDIR=lib >"$release/log" 2>&1 &&
        cmake --build "$release" >>"$release/log" 2>&1
) 9>"$release/lock" || {
    cat "$release/log"
    fail "the release build"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
