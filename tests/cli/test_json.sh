#!/bin/sh
# test_json.sh - every --json document is valid and has the documented fields
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

plan_fields="kind params bytes bits_per_key bound_bits_per_key fpr overflow_probability lines_per_query"
info_fields="kind params capacity count bytes bits_per_key fpr stash_used stash_size load_histogram"

seq 1 1000 >keys
for kind in $(kinds); do
    expect 0 "$tamis" plan -n 1e7 -p 0.001 --kind "$kind" --json
    expect_json "set('$plan_fields'.split()) <= d.keys() and d['kind'] == '$kind'" \
        "all(type(v) is int for v in d['params'].values()) and len(d['params']) > 0" \
        "type(d['bytes']) is int and abs(d['bits_per_key'] - d['bytes'] * 8 / 1e7) < 1e-9" \
        "0 < d['fpr'] <= 0.001 and d['bits_per_key'] >= 9.96" \
        "abs(d['bound_bits_per_key'] - 9.965784284662087) < 1e-12" \
        "0 <= d['overflow_probability'] <= 1 and 1 <= d['lines_per_query']"

    "$tamis" plan -n 1000 -p 0.01 --kind "$kind" --json >plan.json
    "$tamis" build -n 1000 -p 0.01 --kind "$kind" -o set.tamis keys
    expect 0 "$tamis" info --json set.tamis
    expect_json "set('$info_fields'.split()) <= d.keys() and d['kind'] == '$kind'" \
        "d['capacity'] == 1000 and 950 < d['count'] <= 1000 and d['hash'] == 'aes' and len(d['seed']) == 34 and int(d['seed'], 16) > 0" \
        "0 < d['fpr'] < 0.02 and isinstance(d['bits_per_key'], number)" \
        "d['stash_used'] <= d['stash_size']" \
        "len(d['load_histogram']) > 0 and all(type(v) is int for v in d['load_histogram'])" \
        "(lambda p: p['params'] == d['params'] and p['bytes'] == d['bytes'])(json.load(open('plan.json')))" \
        "d['file_bytes'] == json.load(open('plan.json'))['file_bytes'] == __import__('os').path.getsize('set.tamis')"

    # While a set is empty its bits per key are unknown.
    "$tamis" build -n 1000 --kind "$kind" -o empty.tamis /dev/null
    expect 0 "$tamis" info --json empty.tamis
    expect_json "d['count'] == 0 and d['bits_per_key'] is None and d['fpr'] == 0"
    expect 0 "$tamis" verify --json set.tamis
    expect_json "d['good'] is True and d['reason'] is None and d['kind'] == '$kind'" \
        "d['file_bytes'] == $(wc -c <set.tamis)"
done

expect 0 "$tamis" plan -n 1e7 --all --json
expect_json "isinstance(d, list) and len(d) >= 3" \
    "(lambda near, rest: d == sorted(near, key=lambda p: p['ns_insert'] + p['ns_lookup']) + rest and
        all(a['bytes'] <= 1.02 * b['bytes'] for a, b in zip(rest, rest[1:])))(
        *[[p for p in d if (p['bytes'] <= 1.12 * min(q['bytes'] for q in d)) == near] for near in (True, False)])"
expect 0 "$tamis" plan -n 1e7 --all --sort bytes --json
expect_json "all(a['bytes'] <= 1.02 * b['bytes'] for a, b in zip(d[1:], d[2:]))"
expect 0 "$tamis" plan -n 1e7 --all --deletes --json
expect_json "len(d) >= 1 and all(p['deletes'] for p in d)"
expect 0 "$tamis" plan -n 1e7 --json
expect_json "isinstance(d, dict) and d['capacity'] == 10000000"

head -c 300 set.tamis >cut.tamis
expect 2 "$tamis" verify --json cut.tamis
expect_json "d['good'] is False and len(d['reason']) > 0 and d['kind'] is None"

# Names with quotes, control characters, UTF-8 and bytes that are none.
for name in 'a"b' 'a\b' "$(printf 'a\tb\nc')" "$(printf 'caf\303\251')" "$(printf 'x\377\300\257y')" \
    "$(printf 'cut\342\202')"; do
    cp set.tamis "$name"
    expect 0 "$tamis" info --json "$name"
    expect_json "type(d['file']) is str"
    expect 2 "$tamis" info "$name.missing"
    expect 0 "$tamis" verify --json "$name"
done
cp set.tamis "$(printf 'q"\\\001\303\251')"
expect 0 "$tamis" info --json "$(printf 'q"\\\001\303\251')"
expect_json 'd["file"] == "q" + chr(34) + chr(92) + chr(1) + chr(233)'

# A seed is a string, for most readers round numbers above 2^53; it is accepted as it was printed, with its
# quotes or without.
for seed in 1 18446744073709551615; do
    "$tamis" build --seed $seed -n 1000 --kind bloom -o seed.tamis keys
    expect 0 "$tamis" info --json seed.tamis
    expect_json "d['seed'] == '$seed'"
    quoted=$(sed -n 's/^ *"seed": \(.*\),$/\1/p' stdout)
    [ "$quoted" = "\"$seed\"" ] || fail "the seed is no string: $quoted"
    "$tamis" build --seed "$quoted" -n 1000 --kind bloom -o again.tamis keys
    cmp seed.tamis again.tamis || fail "a seed as it was printed"
done
for seed in '"' '""' '"5' '5"' '"0"'; do
    expect 2 "$tamis" build --seed "$seed" -o no.tamis keys
    expect_message "--seed: '$seed'"
done
"$tamis" table create -n 10 --seed 18446744073709551615 t.table
expect 0 "$tamis" table info --json t.table
expect_json "d['seed'] == '18446744073709551615'"
# So is every other number that is larger: here the count that a forged file claims.
"$tamis" build -n 10 --kind bloom -o large.tamis </dev/null
PYTHONDONTWRITEBYTECODE=1 python3 - "$source_dir/tests/golden" <<'PYTHON'
import struct, sys
sys.path.insert(0, sys.argv[1])
import read_format as format
data = bytearray(open("large.tamis", "rb").read())
for value, count in ((2**53, "int"), (2**53 + 1, "str")):
    data[256:264] = struct.pack("<Q", value)
    data[256 + 64] = 1
    data[240:248] = struct.pack("<Q", format.xxh3_64(bytes(data[256:])))
    data[248:256] = struct.pack("<Q", format.xxh3_64(bytes(data[:248])))
    open("large-" + count + ".tamis", "wb").write(data)
PYTHON
for type in int str; do
    expect 0 "$tamis" info --json large-$type.tamis
    expect_json "type(d['count']) is $type and int(d['count']) in (2**53, 2**53 + 1)"
done

# Calibrators are always measured, those with idle instructions if they are named.
expect 0 "$tamis" bench --kind bloom,calibrator-1+50 -n 1000 --rounds 1 --json
expect_json "{r['kind'] for r in d} == {'calibrator-1', 'calibrator-2', 'calibrator-3', 'calibrator-1+50', 'bloom'}"
expect_json "all(r['ns'] > 0 and r['ratio'] > 0 for r in d)"
expect 0 "$tamis" bench --kind bloom -n 1000 --rounds 1 --json
expect_json "{r['kind'] for r in d} == {'calibrator-1', 'calibrator-2', 'calibrator-3', 'bloom'}"

# The text forms say the same.
expect 0 "$tamis" info set.tamis
for word in kind parameters capacity count size "error rate" stash; do
    grep -q "^$word" stdout || fail "info does not show: $word"
done
expect 0 "$tamis" plan -n 10M -p 0.001
grep -q '^10,000,000 keys, error rate 0.001 (.* 9.97 bits per key)$' stdout || fail "plan: first line"
