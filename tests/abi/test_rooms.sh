#!/bin/sh
# test_rooms.sh SOURCE BUILD CC - each room uses only itself and the rooms above it
#
# Two looks at the same rule: the #include lines of the sources, and the symbols that the objects of a
# release build take from each other.  'model' uses 'base' alone, and so do the models of kinds; the structures
# are named by src/filter/kinds.c alone; what is outside of src/ uses the public headers and its own.  And
# scripts/mutate.py knows all sources, and static functions have the name of their module.
. "$1/tests/release.sh"
order="base hash bits kinds filter table small model plan file api shared"
clients="cli bench experiments integrations"
cd "$source"
status=0

# may_use ROOM OTHER
may_use() {
    [ "$1" = "$2" ] && return 0
    [ "$1" = model ] && { [ "$2" = base ]; return; }
    for room in $order; do
        [ "$room" = "$2" ] && return 0
        [ "$room" = "$1" ] && return 1
    done
    return 1
}

# room_of PATH: that of its folder, but models and planners of a kind are in those rooms
room_of() {
    case $1 in
    kinds/*_model.c* | kinds/*_model.h) echo model ;;
    kinds/*_plan.c*) echo plan ;;
    *) echo "${1%%/*}" ;;
    esac
}

for room in src/*/; do
    case " $order " in
    *" $(basename "$room") "*) ;;
    *) echo "FAIL: $room is no room of the design"; status=1 ;;
    esac
done

# "path included", for every #include that is not of the system
find src $clients -name '*.[ch]' 2>/dev/null | sort >"$work/files"
while read -r file; do
    sed -n -e 's/^ *# *include *"\([^"]*\)".*/\1/p' -e 's/^ *# *include *<\(tamis\/[^>]*\)>.*/\1/p' \
        "$file" | sed "s|^|$file |"
done <"$work/files" >"$work/includes"
while read -r file included; do
    room=$(room_of "${file#src/}")
    other=$(room_of "$included")
    allowed=no
    case $included in
    tamis/*) allowed=yes ;;
    *..*) ;;
    */*)
        case $file in
        src/*) may_use "$room" "$other" && allowed=yes ;;
        *) case " $clients " in *" $other "*) allowed=yes ;; esac ;;
        esac
        ;;
    *) [ -e "$(dirname "$file")/$included" ] && allowed=yes ;;
    esac
    [ "$allowed" = yes ] || { echo "FAIL: $file includes $included"; status=1; }
done <"$work/includes"
[ -s "$work/includes" ] || { echo "FAIL: no #include found"; status=1; }

# "symbol room" of the library, then every use of a symbol across rooms
cd "$release/CMakeFiles/tamis_objects.dir/src"
for object in */*.o */*/*.o; do
    nm -g --defined-only "$object" | awk -v room="$(room_of "$object")" 'NF == 3 { print $3, room }'
done | sort >"$work/homes"
for object in */*.o */*/*.o; do
    nm -u "$object" | awk -v object="$object" '{ print $2, object }'
done | sort >"$work/uses"
join "$work/uses" "$work/homes" >"$work/links"
while read -r symbol object other; do
    may_use "$(room_of "$object")" "$other" ||
        { echo "FAIL: src/${object%.o} uses $symbol of src/$other"; status=1; }
done <"$work/links"

# Mutants are linked from the same sources.
printf 'src/%s\n' */*.o */*/*.o | sed 's/\.o$//' | sort >"$work/linked"
"$source/scripts/mutate.py" --sources | sort >"$work/mutated"
if ! diff "$work/linked" "$work/mutated"; then
    echo "FAIL: scripts/mutate.py takes other sources than the library has"
    status=1
fi

# What profiles and backtraces show begins with a word of its file's path; 'choices' is a template of engines,
# XXH3 is that of xxhash.h.
for object in */*.o */*/*.o; do
    nm "$object" | awk -v object="${object%.c.o}" '$2 == "t" { print object, $3 }'
done | grep -v -e ' tamis_i_' -e '^bits/.* choices_' -e '^hash/key [Xx][Xx][Hh]3_' >"$work/statics" || :
if awk '{ n = split($1, words, /[\/_]/); first = $2; sub(/[_.].*/, "", first)
          for (i = 1; i <= n; i++) if (words[i] == first) next
          print }' "$work/statics" | grep .; then
    echo "FAIL: static functions without the name of their module"
    status=1
fi
[ "$(wc -l <"$work/statics")" -ge 300 ] || { echo "FAIL: too few static functions found"; status=1; }

# the structures
sed -n 's/^extern const tamis_i_kind \(tamis_i_[a-z_0-9]*\);.*/\1/p' "$source/src/filter/filter.h" |
    sort >"$work/kinds"
[ -s "$work/kinds" ] || { echo "FAIL: src/filter/filter.h names no structure"; status=1; }
if join "$work/uses" "$work/kinds" | grep -v ' filter/kinds\.c\.o$'; then
    echo "FAIL: a structure is named outside of src/filter/kinds.c"
    status=1
fi
[ "$status" -eq 0 ] && echo "ok: $(wc -l <"$work/includes") includes, $(wc -l <"$work/links") links"
exit "$status"
