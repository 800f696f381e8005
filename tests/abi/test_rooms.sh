#!/bin/sh
# test_rooms.sh SOURCE BUILD CC - each room uses only itself and the rooms above it
#
# Two looks at the same rule: the #include lines of the sources, and the symbols that the objects of a
# release build take from each other.  'model' uses 'base' alone; the structures are named by src/filter/kinds.c alone;
# what is outside of src/ uses the public headers and its own.  A file of a folder of src/kinds knows less than the room,
# no other folder of it, and is known to the lists of kinds and of planners alone.  And scripts/mutate.py knows all
# sources, and static functions have the name of their module.
. "$1/tests/release.sh"
order="base hash bits filter table small model plan kinds file api shared"
lists="filter/kinds plan/planners" # they name what is in src/kinds
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

# part FILE: what a file of a folder of src/kinds is for, by its name
part() {
    case $(basename "$1") in
    *_bits* | *_word* | *_tables* | *_x86* | *_arm*) echo bits ;;
    *_model*) echo model ;;
    *_plan*) echo plan ;;
    *) echo structure ;;
    esac
}

# may_know FILE OTHER: files as 'room/name' or 'kinds/kind/name'
may_know() {
    case $1,$2 in
    kinds/*,kinds/*)
        [ "$(dirname "$1")" = "$(dirname "$2")" ] || return 1
        case $(part "$1"),$(part "$2") in
        bits,bits | model,model | plan,plan | plan,model | plan,bits | structure,structure | structure,bits) ;;
        *) return 1 ;;
        esac
        ;;
    kinds/*)
        case $(part "$1"),$2 in
        *,base/* | bits,hash/* | bits,bits/native.h | model,model/* | plan,model/* | plan,plan/*) ;;
        structure,*) may_use filter "${2%%/*}" ;;
        *) return 1 ;;
        esac
        ;;
    *,kinds/*)
        case " $lists " in *" ${1%.c} "*) return 0 ;; esac
        return 1
        ;;
    *) may_use "${1%%/*}" "${2%%/*}" ;;
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
    other=${included%%/*}
    allowed=no
    case $included in
    tamis/*) allowed=yes ;;
    *..*) ;;
    */*)
        case $file in
        src/*) may_know "${file#src/}" "$included" && allowed=yes ;;
        *) case " $clients " in *" $other "*) allowed=yes ;; esac ;;
        esac
        ;;
    *)
        if [ -e "$(dirname "$file")/$included" ]; then
            allowed=yes
            case $file in
            src/kinds/*) may_know "${file#src/}" "$(dirname "${file#src/}")/$included" || allowed=no ;;
            esac
        fi
        ;;
    esac
    [ "$allowed" = yes ] || { echo "FAIL: $file includes $included"; status=1; }
done <"$work/includes"
[ -s "$work/includes" ] || { echo "FAIL: no #include found"; status=1; }

# "symbol file" of the library, then every use of a symbol across files
cd "$release/CMakeFiles/tamis_objects.dir/src"
for object in */*.o */*/*.o; do
    nm -g --defined-only "$object" | awk -v file="${object%.o}" 'NF == 3 { print $3, file }'
done | sort >"$work/homes"
for object in */*.o */*/*.o; do
    nm -u "$object" | awk -v object="$object" '{ print $2, object }'
done | sort >"$work/uses"
join "$work/uses" "$work/homes" >"$work/links"
while read -r symbol object other; do
    [ "${other%%/*}" = "${object%%/*}" ] && [ "${other%%/*}" != kinds ] && continue
    may_know "${object%.o}" "$other" ||
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
