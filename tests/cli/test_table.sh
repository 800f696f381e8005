#!/bin/sh
# test_table.sh - tamis table: items in and out, exit codes, mistakes
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

seq 1 3000 | awk '{ print "key" $1 "\tvalue " $1 * $1 }' >items
cut -f 1 items >keys

for summary in multiple single interpolation multiple-counting single-counting; do
    expect 0 "$tamis" table create -n 3000 --summary $summary $summary.tab
    expect_silent
    expect 0 "$tamis" table put $summary.tab items
    expect_silent
    expect 0 "$tamis" table get $summary.tab keys
    expect_output items
    expect 0 "$tamis" table dump $summary.tab
    sort stdout >dumped
    sort items | cmp -s - dumped || fail "dump of $summary"
    expect 0 "$tamis" table verify $summary.tab
    printf '%s: good\n' $summary.tab >good
    expect_output good

    # What is put again is replaced; what is deleted is gone.
    printf 'key1\tnew\nkey2\t\n' >changes
    expect 0 "$tamis" table put --sync each $summary.tab changes
    printf 'key1\tnew\nkey2\t\nkey3\tvalue 9\n' >expected
    printf 'key1\nkey2\nkey3\nkeyless\n' >asked
    expect 0 "$tamis" table get $summary.tab asked
    expect_output expected
    expect 0 "$tamis" table get -v $summary.tab asked
    echo keyless >expected
    expect_output expected
    expect 0 "$tamis" table get -c $summary.tab asked
    echo 3 >expected
    expect_output expected
    expect 0 "$tamis" table get -e key3 -e keyless $summary.tab </dev/null
    printf 'key3\tvalue 9\n' >expected
    expect_output expected
    expect 1 "$tamis" table get -e keyless $summary.tab
    head -n 1000 keys >gone
    expect 0 "$tamis" table delete --sync none $summary.tab gone
    expect 1 "$tamis" table get $summary.tab gone
    expect 1 "$tamis" table delete $summary.tab gone
    expect_message "1000 of 1000 keys were not in the table"
    expect 0 "$tamis" table rebuild $summary.tab
    grep -q '^2000 items, [0-9]* moved$' stdout || fail "rebuild of $summary"
    expect 0 "$tamis" table verify --json $summary.tab
    expect_json 'd["good"] is True' 'd["count"] == 2000' 'd["failures"] == 0'
    expect 0 "$tamis" table info --json $summary.tab
    expect_json 'd["count"] == 2000' 'd["capacity"] == 3000' "d[\"summary\"] == \"$summary\"" \
        'd["deleted"] == 0' 'd["rebuild_due"] is False' 'd["recovered"] is False' \
        'sum(d["level_count"]) + d["stash_used"] == 2000' '0 <= d["fpr"] < 0.01' \
        'd["params"]["bucket"] == 1' 'len(d["params"]["buckets"]) == len(d["level_count"])'
    expect 0 "$tamis" table info $summary.tab
    grep -q "^summary  *$summary\$" stdout || fail "info of $summary"
done

# The baseline: nothing can be deleted.
expect 0 "$tamis" table create -n 3000 --summary song song.tab
expect 0 "$tamis" table put --sync none song.tab items
expect_silent
expect 0 "$tamis" table get song.tab keys
expect_output items
expect 2 "$tamis" table delete song.tab gone
expect_message "items of a table with the summary song cannot be deleted"
expect 0 "$tamis" table put --sync each song.tab changes
expect 0 "$tamis" table rebuild song.tab
echo '3000 items, 0 moved' >expected
expect_output expected
expect 0 "$tamis" table verify --json song.tab
expect_json 'd["good"] is True' 'd["count"] == 3000' 'd["failures"] == 0'
expect 0 "$tamis" table info --json song.tab
expect_json 'd["summary"] == "song"' 'len(d["level_count"]) == 10' 'd["recovered"] is False' \
    'sum(d["level_count"]) + d["stash_used"] == 3000'
expect 0 "$tamis" table plan -n 10000 --summary song --json
expect_json 'd["slots"] == 131072' 'd["summary_bits"] == 8 * 49152' 'd["params"]["counter_bits"][0] == 3' \
    '0.0018 < d["fpr"] < 0.002' 'd["crisis"] == 1' 'd["failure"] == 0'
expect 2 "$tamis" table plan -n 10000 --summary song --bucket 2
expect_message "there is no such table: this kind cannot do that"

# A rebuild that is due is told.
tail -n 2000 keys >rest
expect 0 "$tamis" table delete multiple.tab rest
expect_message "rebuild' is due"

# Separators and bytes of any kind.
expect 0 "$tamis" table create -n 10 --bucket 4 --key-max 6 --value-max 4 --seed 7 bytes.tab
printf '0900\t0a00\n\tff\n' >hex
expect 0 "$tamis" table put --hex bytes.tab hex
printf '0900\n\n' >hex_keys
expect 0 "$tamis" table get --hex bytes.tab hex_keys
expect_output hex
printf 'a\nb\tc\nd\0' | "$tamis" table put -0 bytes.tab || fail "put -0"
printf 'a\nb\0' >null_keys
expect 0 "$tamis" table get -0 bytes.tab null_keys
printf 'a\nb\tc\nd\0' >expected
expect_output expected
expect 0 "$tamis" table info bytes.tab
grep -q '^items  *3 of 10$' stdout || fail "three items"

# Plans.
expect 0 "$tamis" table plan -n 1M
grep -q '^error rate  *0.00[0-9]*$' stdout || fail "plan"
expect 0 "$tamis" table plan -n 1M -p 0.01 --odds 1e-6 --bucket 2 --no-deletes --json
expect_json 'd["capacity"] == 1000000' 'd["fpr"] <= 0.01' 'd["crisis"] + d["failure"] <= 1e-6' \
    'd["params"]["bucket"] == 2' 'isinstance(d["fast_bits_per_item"], float)'

# The bench counts reads itself and asks the system; both agree where the reads go past the cache.
if "$tamis" table bench -n 2000 --json >stdout 2>/dev/null; then
    expect_json 'all(r["wrong"] == 0 for r in d)' 'd[0]["reads_per_hit"] == 1' \
        'd[0]["reads_per_miss"] < 0.007' \
        'd[0]["read_calls_per_hit"] in (None, d[0]["reads_per_hit"])' \
        'd[0]["read_calls_per_miss"] in (None, d[0]["reads_per_miss"])'
fi
if "$tamis" table bench -n 2000 --names --each 2 --replace 2 --json >stdout 2>/dev/null; then
    expect_json 'all(r["wrong"] == 0 for r in d)' 'd[0]["item_bytes"] > 105' 'd[0]["put_each_ns"] > 0' \
        'd[1]["replaced_bytes_per_item"] < 1.5 * d[0]["item_bytes"]'
fi
if "$tamis" table bench -n 2000 -p 0.1 --json >stdout 2>/dev/null; then
    expect_json 'd[0]["table"] == "tamis, past the cache" and d[0]["fast_bytes_per_item"] < 1.4 and d[0]["reads_per_miss"] > 0.02'
fi
expect 2 "$tamis" table bench -n 2000 -p 0.1 --grow
if "$tamis" table bench -n 20000 --grow --json >stdout 2>/dev/null; then
    expect_json 'all(r["wrong"] == 0 for r in d)' 'd[0]["items"] == 1000' 'd[-1]["closed"]' \
        'd[-1]["items"] == 20000' 'd[-1]["file_bytes_per_item"] < 1.3 * 32'
fi
[ -z "$(find . -name 'tamis-*-[0-9]*')" ] || fail "the bench left a file"

# Mistakes: one line, exit code 2, nothing changed.
cp single.tab before.tab
refuse() {
    expect_refusal "$@"
    cmp -s before.tab single.tab || fail "the table was changed: $*"
}
refuse "what shall be done" "$tamis" table
refuse "there is no 'nonsense'" "$tamis" table nonsense
refuse "which table" "$tamis" table put
refuse "unknown" "$tamis" table put --nonsense single.tab
refuse "needs a value" "$tamis" table put --sync
refuse "none of each, batch, none" "$tamis" table put --sync often single.tab items
refuse "for tables with slots" "$tamis" table create --stash 5 --bucket page new.tab
refuse "how many items" "$tamis" table create --stash 5 new.tab
refuse "how many items" "$tamis" table plan
refuse "one name" "$tamis" table create
refuse "one name" "$tamis" table create -n 5
refuse "there is no summary" "$tamis" table create -n 5 --summary none new.tab
refuse "not a number" "$tamis" table create -n 5 -p 2 new.tab
refuse "too large" "$tamis" table create -n 5 --bucket 9 new.tab
refuse "cannot be made" "$tamis" table create -n 5 --bucket 4 --key-max 2000 new.tab
[ ! -e new.tab ] || fail "a table was made by mistake"
refuse "exists already" "$tamis" table create -n 5 single.tab
refuse "no such file" "$tamis" table get missing.tab keys
refuse "No such file" "$tamis" table put single.tab missing
refuse "not a tamis table" "$tamis" table info items
refuse "is too much" "$tamis" table plan -n 5 surplus
printf '%040d\n' 1 >long
refuse "line 1: the key is longer than 32 bytes" "$tamis" table delete single.tab long
printf '%040d\tx\n' 1 >long
refuse "line 1: the key is longer than 32 bytes" "$tamis" table put single.tab long
printf 'k\t%040d\n' 1 >long
refuse "line 1: the value is longer than 32 bytes" "$tamis" table put single.tab long
printf 'zz\t\n' >nohex
refuse "line 1 is not hexadecimal" "$tamis" table put --hex single.tab nohex
head -c 100000 single.tab >cut.tab
refuse "cut off" "$tamis" table verify cut.tab

# What is at fault is a line: those before it are done, and that is told.
expect 0 "$tamis" table create -n 20 --key-max 4 partly.tab
printf 'one\t1\ntoolong\t2\nnine\t9\n' >partly
expect 2 "$tamis" table put partly.tab partly
expect_message "line 2: the key is longer than 4 bytes; the lines before it are stored"
expect 0 "$tamis" table dump partly.tab
printf 'one\t1\n' >expected
expect_output expected
printf 'one\ntoolong\n' >partly
expect 2 "$tamis" table delete partly.tab partly
expect_message "line 2: the key is longer than 4 bytes; the lines before it are deleted"
printf 'toolong\n' >partly
expect 2 "$tamis" table delete partly.tab partly
grep -q "before it" stderr && fail "there is no line before"

# A full table: what was before the line is stored.
expect 0 "$tamis" table create -n 20 --slots 1 --odds 0.5 --stash 1 full.tab
expect 2 "$tamis" table put full.tab items
expect_message "the table is full"
stored=$(sed -n 's/.*line \([0-9]*\): the table is full (it holds \([0-9]*\) items.*/\1 \2/p' stderr)
line=${stored% *} count=${stored#* }
[ "$line" -eq $((count + 1)) ] || fail "full at line $line with $count items"
head -n "$count" items >fitting
cut -f 1 fitting >fitting_keys
expect 0 "$tamis" table get full.tab fitting_keys
expect_output fitting

# A damaged item is told, and a repair goes on without it.
python3 - single.tab <<'PYTHON'
import sys
with open(sys.argv[1], "r+b") as file:
    data = bytearray(file.read())
    at = data.rfind(b"key2500")  # in its slot: the journal, where it may be too, comes before
    data[at] ^= 1
    file.seek(0)
    file.write(data)
PYTHON
expect 2 "$tamis" table verify single.tab
expect_message "an item is damaged"
expect 2 "$tamis" table get single.tab keys
expect_message "damaged"
expect 0 "$tamis" table rebuild --repair single.tab
expect_message "1 damaged slots were emptied"
expect 0 "$tamis" table verify single.tab
expect 0 "$tamis" table info --json single.tab
expect_json 'd["count"] == 1999'

# A table of pages: no sizes are given, and it grows.
expect 0 "$tamis" table create pages.tab
expect 0 "$tamis" table put pages.tab items
cut -f 1 items >all_keys
expect 0 "$tamis" table get pages.tab all_keys
expect_output items
head -n 500 all_keys >some_keys
expect 0 "$tamis" table delete pages.tab some_keys
expect 1 "$tamis" table get pages.tab some_keys
expect 0 "$tamis" table dump pages.tab
sort stdout >dumped
tail -n +501 items | sort >expected
cmp -s expected dumped || fail "the dump of a page table differs"
expect 0 "$tamis" table rebuild pages.tab
expect 0 "$tamis" table verify pages.tab
expect 0 "$tamis" table info pages.tab
grep -q '^pages  *[0-9]' stdout || fail "info of pages"
expect 0 "$tamis" table info --json pages.tab
expect_json 'd["count"] > 1000 and d["file_bytes"] < 400000'
expect 0 "$tamis" table plan --bucket page -n 1M --key-max 16 --value-max 16 --json
expect_json '36 < d["slow_bytes_per_item"] < 44 and 14 < d["fast_bits_per_item"] < 17'
expect 0 "$tamis" table plan --bucket page -n 1M
grep -q '^fast memory' stdout || fail "plan of pages"
# Values longer than a page, and a key that is too long.
printf 'k\t%01000d\nlong\t%0100000d\n' 1 2 >long
expect 0 "$tamis" table put pages.tab long
printf 'k\nlong\n' >long_keys
expect 0 "$tamis" table get pages.tab long_keys
expect_output long
expect 0 "$tamis" table verify pages.tab
expect 0 "$tamis" table export pages.tab
grep -c . stdout >count
expect 0 "$tamis" table info --json pages.tab
expect_json "d['count'] == $(cat count)" 'd["file_bytes"] > 100000'
printf '%0990d\t%0990d\n' 1 2 >long
expect 2 "$tamis" table put pages.tab long
expect_message "line 1: key and value together are longer than 1000 bytes"

# Import and export: any bytes, both forms, into a table that is made.
python3 - >any.tsv <<'PYTHON'
import os, random, sys
random.seed(5)
lines = [b"\\\\back\ttab\\tin\\nit\\r", b"\t", "k\u00fcmmel\t\u20ac \U0001f9c2".encode(), b"quote\"\t\x01\x7f"]
for i in range(300):
    raw = bytes(random.randrange(256) for _ in range(random.randrange(1, 40)))
    key = b"%d" % i + raw[:9]
    value = raw[9:]
    def tsv(b):
        return (b.replace(b"\\", b"\\\\").replace(b"\t", b"\\t").replace(b"\n", b"\\n").replace(b"\r", b"\\r"))
    lines.append(tsv(key) + b"\t" + tsv(value))
sys.stdout.buffer.write(b"".join(line + b"\n" for line in lines))
PYTHON
LC_ALL=C sort any.tsv >any.sorted
expect 0 "$tamis" table import any.tab any.tsv
expect_silent
expect 0 "$tamis" table export any.tab
LC_ALL=C sort stdout | cmp -s any.sorted - || fail "export of TSV"
expect 0 "$tamis" table export --format jsonl any.tab
cp stdout any.jsonl
python3 - <<'PYTHON'
import json
with open("any.jsonl", encoding="utf-8") as file:
    items = [json.loads(line) for line in file]
assert len(items) == 304 and any("value_hex" in i for i in items) and any(i.get("value") == "\u20ac \U0001f9c2" for i in items)
with open("escaped.jsonl", "w", encoding="ascii") as file:
    for item in items:
        file.write(json.dumps(item) + "\n")
PYTHON
for form in any escaped; do
    expect 0 "$tamis" table import --format jsonl $form-json.tab $form.jsonl
    expect 0 "$tamis" table export $form-json.tab
    LC_ALL=C sort stdout | cmp -s any.sorted - || fail "$form: import of JSON lines"
done
expect 0 "$tamis" table create -n 500 --key-max 20 --value-max 40 slots.tab
expect 0 "$tamis" table import --sync none slots.tab any.tsv
expect 0 "$tamis" table export slots.tab
LC_ALL=C sort stdout | cmp -s any.sorted - || fail "import into slots"
bad() {
    printf '%s\n' "$3" >bad
    expect 2 "$tamis" table import --format "$1" any.tab bad
    expect_message "line 1: "
    expect_message "$2"
}
tab=$(printf '\t')
bad tsv "after a backslash" "a\\q$tab"
bad tsv "after a backslash" "a$tab\\"
bad jsonl "not a JSON object" '[]'
bad jsonl "not a JSON object" '{"key": "a"} x'
bad jsonl "not an object of strings" '{"key": 1}'
bad jsonl "not an object of strings" '{"key": "\ud800"}'
bad jsonl "none of key, value" '{"key": "a", "color": "red"}'
bad jsonl "is not hexadecimal" '{"key_hex": "abc"}'
bad jsonl "there is no key" '{"value": "a"}'
printf '%01001d\tx\n' 1 >long
expect 2 "$tamis" table import any.tab long
expect_message "longer than the table takes"
expect_refusal "none of tsv, jsonl" "$tamis" table export --format csv any.tab
expect_refusal "which table" "$tamis" table import
expect 0 "$tamis" table plan -n 1M --json
expect_json 'd["file_bytes"] > 1e8 and 4e6 < d["fast_bytes"] < 5e6'
