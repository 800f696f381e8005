#!/bin/sh
# fuzz.sh BUILD_DIR SECONDS - run every fuzz target for a while, two at a time
#
# What a target learns stays in BUILD_DIR/corpus/<entry>, so that the next run goes on from there.  An
# input that breaks a target is left in BUILD_DIR/findings/: it belongs in tests/robust/ with the fix.
set -eu
build=$1 seconds=$2
source=$(cd "$(dirname "$0")/.." && pwd)

if [ "${3:-}" = one ]; then
    target=$4
    name=$(basename "$target")
    entry=${name#fuzz_}
    mkdir -p "$build/corpus/$entry" "$build/findings"
    seeds=$source/fuzz/seeds/$entry
    [ -d "$seeds" ] || seeds=
    log=$build/findings/$name.log
    if "$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$build/findings/$entry-" "$build/corpus/$entry" ${seeds:+"$seeds"} \
        >"$log" 2>&1; then
        printf '%-24s %s runs, ok\n' "$name" \
            "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
    else
        tail -n 60 "$log"
        echo "$name: failed; the input is in $build/findings" >&2
        exit 1
    fi
    exit 0
fi

set -- "$build"/fuzz/fuzz_*
targets=
for target; do
    [ -f "$target" ] && [ -x "$target" ] && targets="$targets$target
"
done
[ -n "$targets" ] || { echo "fuzz.sh: no fuzz targets in $build/fuzz" >&2; exit 1; }
printf %s "$targets" | xargs -P 2 -I '{}' sh "$0" "$build" "$seconds" one '{}'
