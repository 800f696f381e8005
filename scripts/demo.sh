#!/bin/sh
# demo.sh TAMIS [RATE] - the main job on real data: a word list becomes a set, and the promise is checked
#
# Every second word of the largest word list becomes a key, the others are looked up as absent keys: both
# are real words.  Fails if a key is not found, or if more absent words are found than the promised
# error rate explains (by more than four standard deviations).
set -eu

tamis=${1:?usage: demo.sh TAMIS [RATE]}
rate=${2:-0.001}
export LC_ALL=C

fail() {
    echo "demo.sh: $*" >&2
    exit 1
}

# The number called $1 in the JSON on standard input.
field() {
    sed -n "s/^ *\"$1\": \([-+.0-9e]*\),*\$/\1/p"
}

# The kinds that can do what is asked for, the best first.
kinds() {
    "$tamis" plan -n "$n" -p "$rate" --all --json "$@" | sed -n 's/^ *"kind": "\(.*\)",$/\1/p'
}

commas() {
    echo "$1" | sed -e ':a' -e 's/^\([0-9]\{1,\}\)\([0-9]\{3\}\)/\1,\2/' -e 'ta'
}

milliseconds() {
    date +%s%N | sed 's/[0-9]\{6\}$//'
}

list=$(find -L /usr/share/dict -maxdepth 1 -type f -exec wc -c {} + 2>/dev/null |
    sed '/ total$/d' | sort -n | sed -n '$s/^ *[0-9]* //p')
[ -n "$list" ] || fail "no word list in /usr/share/dict"
list=$(readlink -f "$list")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT PIPE TERM

sort -u "$list" >"$work/all"
sed -n 'n;p' "$work/all" >"$work/absent"
sed -n 'p;n' "$work/all" >"$work/keys"
n=$(wc -l <"$work/keys")
m=$(wc -l <"$work/absent")

echo "$("$tamis" --version): $(commas $((n + m))) words of $list"
echo "$(commas "$n") of them become keys, the $(commas "$m") others are looked up and are not there."
echo
echo "1. What will it cost?   tamis plan -n $n -p $rate --all"
echo
"$tamis" plan -n "$n" -p "$rate" --all >"$work/plan"
sed 's/^\(.\)/   \1/' "$work/plan"
echo
echo "2. Is the promise kept?   tamis build -p $rate --kind K -o words.tamis; tamis query words.tamis"
echo
printf '   %-15s %9s %9s %9s %9s %15s %9s %9s %9s\n' kind "file" "bits/key" "bound" "build" \
    "keys found" "promised" "measured" "kept?"

broken=
for kind in $(kinds); do
    set_file=$work/$kind.tamis
    start=$(milliseconds)
    "$tamis" build -p "$rate" --kind "$kind" -o "$set_file" "$work/keys"
    time=$(($(milliseconds) - start))
    "$tamis" verify "$set_file" >/dev/null
    "$tamis" plan -n "$n" -p "$rate" --kind "$kind" --json >"$work/plan"
    found=$("$tamis" query -c "$set_file" "$work/keys") || true
    false=$("$tamis" query -c "$set_file" "$work/absent") || true
    promised=$(field fpr <"$work/plan")
    kept=$(awk -v f="$false" -v m="$m" -v p="$promised" \
        'BEGIN { print (f / m <= p + 4 * sqrt(p * (1 - p) / m)) ? "yes" : "NO" }')
    [ "$found" -eq "$n" ] || kept="LOST"
    [ "$kept" = yes ] || broken="$broken $kind"
    awk -v kind="$kind" -v bytes="$(wc -c <"$set_file")" -v bits="$(field bits_per_key <"$work/plan")" \
        -v bound="$(field bound_bits_per_key <"$work/plan")" -v ms="$time" -v found="$found" \
        -v n="$n" -v p="$promised" -v f="$false" -v m="$m" -v kept="$kept" \
        'BEGIN { printf "   %-15s %5.0f KiB %9.2f %9.2f %6d ms %15s %9.6f %9.6f %9s\n",
                 kind, bytes / 1024, bits, bound, ms, found "/" n, p, f / m, kept }'
done
echo
echo "   A plain list of these keys takes $(($(wc -c <"$work/keys") / 1024)) KiB.  The bound is log2(1/error rate):"
echo "   no filter with that error rate can have fewer bits per key."
echo
changing=$(kinds --deletes | head -n 1)
set_file=$work/$changing.tamis
echo "3. A set that changes:   tamis build --deletes ($changing); tamis remove words.tamis, every third key"
echo
"$tamis" build -p "$rate" --deletes -o "$set_file" "$work/keys"
[ "$("$tamis" info --json "$set_file" | sed -n 's/^ *"kind": "\(.*\)",$/\1/p')" = "$changing" ] ||
    fail "the first of 'tamis plan --deletes --all' is not what 'tamis build --deletes' makes"
sed -n 'n;n;p' "$work/keys" >"$work/removed"
awk 'NR % 3 != 0' "$work/keys" >"$work/kept"
"$tamis" remove "$set_file" "$work/removed"
kept=$(wc -l <"$work/kept")
removed=$(wc -l <"$work/removed")
found=$("$tamis" query -c "$set_file" "$work/kept") || true
ghosts=$("$tamis" query -c "$set_file" "$work/removed") || true
now=$("$tamis" info --json "$set_file" | field fpr)
echo "   $(commas "$removed") keys removed; of the $(commas "$kept") that stay $(commas "$found") are found;"
echo "   of the removed ones $(commas "$ghosts") still answer \"present\" (error rate now $(printf %.1e "$now"))."
echo
[ "$found" -eq "$kept" ] || fail "keys were lost by removing others"
[ -z "$broken" ] || fail "promise broken:$broken"
awk -v g="$ghosts" -v m="$removed" -v p="$now" \
    'BEGIN { exit !(g / m <= p + 4 * sqrt(p * (1 - p) / m) + 1 / m) }' ||
    fail "removed keys are still found"
echo "All keys were found, and every promised error rate was kept."
