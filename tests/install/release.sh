# shellcheck shell=sh
# release.sh - for the scripts that look at what users get: a release build of its own
#
# Sourced.  'release_tree SOURCE BUILD CC' brings BUILD/release-tree up to date and sets $release to it.
# Tests run side by side: a lock lets one build while the others wait.
release_tree() {
    release=$2/release-tree
    mkdir -p "$release"
    (
        command -v flock >/dev/null && flock 9
        cmake -S "$1" -B "$release" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$3" \
            -DCMAKE_INSTALL_LIBDIR=lib >"$release/log" 2>&1 &&
            cmake --build "$release" >>"$release/log" 2>&1
    ) 9>"$release/lock" || {
        cat "$release/log"
        echo "the release build failed"
        exit 1
    }
}
