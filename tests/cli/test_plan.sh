#!/bin/sh
# test_plan.sh - the questions that 'tamis plan' answers, and what 'tamis build' takes from them
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

expect 0 "$tamis" plan --bytes 1MiB -n 1e6 --json
expect_json "d['bytes'] <= 2**20 and d['n'] == d['capacity'] == 10**6 and 0.01 < d['fpr'] < 0.03" \
    "0 < d['fpr_half'] < d['fpr'] and d['lines_per_insert'] >= 1"
expect 0 "$tamis" plan --bytes 1M -p 0.001 --all --json
expect_json "all(p['bytes'] <= 2**20 and p['fpr'] <= 0.001 for p in d)" \
    "(lambda near, n: d[:len(near)] == sorted(near, key=lambda p: p['ns_insert'] + p['ns_lookup']) and
        n == sorted(n, reverse=True) and min(p['n'] for p in near) > 500000)(
        *[[p if near else p['n'] for p in d if (1.12 * p['n'] >= max(q['n'] for q in d)) == near] for near in (True, False)])"
expect 0 "$tamis" plan --bytes 1M -p 0.001 --all --sort bytes --json
expect_json "(lambda n: n == sorted(n, reverse=True))([p['n'] for p in d[1:]]) and d[0]['n'] > 600000"
# The table fits a terminal of 80 columns, whatever is asked for; parameters follow below it.
for need in "-n 10M -p 0.001" "-n 1 -p 0.5" "-n 1G -p 1e-9" "--bytes 64G -p 1e-5" \
    "-n 1e6 --deletes --copies 200 --overshoot 0.5"; do
    # shellcheck disable=SC2086
    expect 0 "$tamis" plan $need --all
    awk 'length > 80 { print; bad = 1 } END { exit bad }' stdout || fail "more than 80 columns: $need"
    # shellcheck disable=SC2086
    "$tamis" plan $need --all --json >json
    python3 - stdout json <<'PYTHON' || fail "the table of $need"
import json, re, sys
text = open(sys.argv[1]).read()
plans = json.load(open(sys.argv[2]))
question, table, below, times = text.split("\n\n")[:4]
assert [line.split()[0] for line in table.split("\n")[1:]] == [p["kind"] for p in plans], table
assert times.startswith("ns, in cache  "), times
for line, plan in zip(times.strip().split("\n")[1:], plans, strict=True):
    told = [plan[f"ns_{call}{cached}"] for call in ("insert", "lookup", "remove") for cached in ("", "_cached")]
    rounded = [float(x) for x in re.sub("^" + plan["kind"], "", line).replace("/", " ").split()]
    assert all(abs(x - y) <= 0.5 for x, y in zip(rounded, [x for x in told if x is not None], strict=True)), line
for plan in plans:
    mine = re.search(r"^%s((\n? +\w+=\d+)+)" % plan["kind"], below, re.M).group(1)
    assert dict(x.split("=") for x in mine.split()) == {k: str(v) for k, v in plan["params"].items()}, mine
PYTHON
done
expect 0 "$tamis" plan --bytes 1MB -p 0.001
grep -q '^977 KiB at error rate 0.001: the most keys$' stdout || fail "plan --bytes: first line"
expect 0 "$tamis" plan -n 1000000 --bytes 1e6
grep -q ' (8.00 bits per key): the least error rate$' stdout || fail "plan -n --bytes: first line"

expect 0 "$tamis" plan -n 100000 --overshoot 0.5 --json
expect_json "d['n'] == 100000 and d['capacity'] == 150000"
expect 0 "$tamis" plan -n 100000 --copies 20 --all --json
expect_json "len(d) >= 2 and all(p['counts'] for p in d)"
expect 0 "$tamis" plan -n 100000 --values 4 --json
expect_json "d['params']['value_bits'] == 4"
expect 0 "$tamis" plan -n 100000 --lines 1.5 --all --json
expect_json "len(d) >= 2 and all(p['lines_per_query'] <= 1.502 for p in d)"
expect 0 "$tamis" plan -n 100000 --failure 1e-15 --all --json
expect_json "all(p['overflow_probability'] <= 1e-15 for p in d)"
expect 0 "$tamis" plan -n 100000 --sort lines --all --json
expect_json "(lambda lines: lines == sorted(lines))([p['lines_per_query'] for p in d[1:]])"
expect 0 "$tamis" plan -n 100000 --line-bits 3 --all --json
expect_json "(lambda w: w == sorted(w))([p['bits_per_key'] + 3 * p['lines_per_query'] for p in d[1:]])"
expect 0 "$tamis" plan -n 100000 --merges --all --json
expect_json "len(d) >= 4 and all(p['merges'] for p in d)"
expect 0 "$tamis" plan -n 100000 --sort speed --all --json
expect_json "(lambda ns: ns == sorted(ns))([p['ns_insert'] + p['ns_lookup'] for p in d[1:]])" \
    "all(p['ns_insert_cached'] <= p['ns_insert'] and p['ns_lookup_cached'] <= p['ns_lookup'] for p in d)" \
    "all((p['ns_remove'] is not None) == p['deletes'] for p in d)"
expect 0 "$tamis" plan -n 100000 --sort balanced
balanced=$(cat stdout)
[ "$balanced" = "$("$tamis" plan -n 100000)" ] || fail "plan: balanced is the default"
expect 0 "$tamis" plan -n 100000 --kind steady --deletes
grep -qE '^ns, in cache +insert +lookup +remove$' stdout || fail "plan: times"
grep -qE '^steady( +[0-9]+ / +[0-9]+){3}$' stdout || fail "plan: times of steady"
expect 0 "$tamis" plan -n 100000 --replacements 100 --copies 3 --kind rank-counting -p 0.1 --json
expect_json "d['replacements'] == 100 and d['bits_per_key'] > 6"
expect 0 "$tamis" plan -n 100000 --deletes --copies 3 --kind rank-counting -p 0.1
grep -q '^rank-counting: holds until each key was replaced 10,000 times (--replacements)$' stdout ||
    fail "plan --deletes: replacements"
for p in 1e-2 1e-4 1e-6; do # what is taken with a search comes first
    "$tamis" plan -n 10M -p $p --all >all && "$tamis" plan -n 10M -p $p --search >one || fail "plan"
    [ "$(sed -n 4p all)" = "$(sed -n 4p one)" ] || fail "plan --all -p $p: the first is not what is taken"
done
expect 0 "$tamis" plan -n 100000 --offline --kind dleft --json
expect_json "d['params']['subtables'] == 2"

# What makes no sense is refused with one line.
for options in "" "-p 0.1" "--bytes 0" "--bytes 1x" "--bytes -5" "--bytes nan" "--bytes 1e30" \
    "-n 10 --copies 256" "-n 10 --copies 0" "-n 10 --values 9" "-n 10 --overshoot -1" "-n 10 --overshoot nan" \
    "-n 10 --lines 0.5" "-n 10 --lines x" "-n 10 --failure 0" "-n 10 --failure 2" "-n 10 --sort size" \
    "-n 10 --line-bits 0" "--bytes 1" "-n 1e6 --bytes 100" "-n 1T --overshoot 900" \
    "-n 10 --copies 2 --kind bloom" "-n 10 --values 2 --kind bloom" "-n 1000 --lines 1 --kind dleft" \
    "-n 10 --merges --kind rank" "-n 10 --merges --copies 2 --values 2" "-n 10 --replacements 0" \
    "-n 10 --replacements 10001" "-n 10 --replacements 5 --kind bloom"; do
    # shellcheck disable=SC2086
    expect 2 "$tamis" plan $options
    [ ! -s stdout ] || fail "plan $options: output"
done

# The line names the option at fault and its value, and what to do without.
explains() {
    says=$1
    shift
    expect 2 "$tamis" "$@"
    expect_message "$says"
}
explains "plan: no kind can do --merges, --copies of 3 and --values of 4 together; possible without --merges, --copies or --values" \
    plan -n 1e6 --merges --copies 3 --values 4
explains "plan: --kind: there is no kind 'line-set' any more: use line" plan -n 1e6 --kind line-set
explains "build: --kind: there is no kind 'line-set' any more: use line" build --kind line-set -o no.tamis /dev/null
explains "plan: counting-bloom has no values (--values is 4); these have: rank, line, steady" \
    plan -n 1e6 --kind counting-bloom --values 4
explains "plan: a window (--ticks is 5) forgets keys by itself and cannot also remove them (--deletes); possible without" \
    plan -n 1e6 --deletes --ticks 5
explains "build: a window (--ticks is 5) forgets keys by itself and cannot also remove them (--replacements is 3)" \
    build --replacements 3 --ticks 5 -o no.tamis /dev/null
explains "plan: -n is 1000000000000, which with --overshoot of 900 is more than 2^40 keys" \
    plan -n 1T --overshoot 900
explains "plan: --bytes is 100, but -n of 1000000 with -p of 0.01 takes 1" plan -n 1e6 -p 0.01 --bytes 100
grep -q 'takes [0-9]* bytes$' stderr || fail "plan: bytes that are taken"
explains "plan: dleft-counting cannot do -n of 1000 and -p of 1e-15 together; possible with -p of 0.01 or" \
    plan -n 1000 -p 1e-15 --kind dleft-counting

# What each wish costs, if it is more than 5 %: what would be planned without it.
expect 0 "$tamis" plan -n 10M --copies 3 --merges
grep -qx 'without --copies: [a-z-]*, [0-9.]* bits per key (7. % less)' stdout || fail "plan: without copies"
grep -qx 'without --merges: steady, [0-9.]* bits per key (7. % less)' stdout || fail "plan: without merges"
for wishes in "--deletes --merges" "--values 8 --deletes" "--ticks 9" "--grow" "--overshoot 1" "--kind bloom" \
    "--kind rank-counting --copies 20 --lines 1" "--failure 1e-30 --deletes" "--replacements 50 --copies 3" \
    "--deletes --merges --threads 4" "--merges" ""; do
    # shellcheck disable=SC2086
    "$tamis" plan -n 1e5 -p 0.001 $wishes --json >with && "$tamis" plan -n 1e5 -p 0.001 $wishes >told || fail "plan $wishes"
    python3 - "$tamis" with told "$wishes" <<'PYTHON' || fail "the costs of '$wishes'"
import json, re, subprocess, sys
tamis, plan, told, wishes = sys.argv[1], json.load(open(sys.argv[2])), open(sys.argv[3]).read(), sys.argv[4]
options = re.findall(r"--\w+(?: [^-]\S*)?", wishes)
want = []
for option in options:
    rest = " ".join(o for o in options if o != option).split()
    less = json.loads(subprocess.run([tamis, "plan", "-n", "1e5", "-p", "0.001", "--json", *rest], capture_output=True, check=True).stdout)
    if less["bits_per_key"] <= 0.95 * plan["bits_per_key"]:
        want.append((option.split()[0][2:], less["kind"], less["bits_per_key"], less["bytes"], less["n"], less["fpr"]))
have = [(w["wish"], w["kind"], w["bits_per_key"], w["bytes"], w["n"], w["fpr"]) for w in plan["without"]]
assert sorted(have) == sorted(want), (have, want)
lines = [f"without --{w}: {kind}, {bits:.2f} bits per key " for w, kind, bits, *_ in have]
assert [re.sub(r"\(.*", "", line) for line in told.split("\n") if line.startswith("without")] == lines, told
PYTHON
done
expect 0 "$tamis" plan --bytes 1M --copies 3 --merges
grep -q '^without --merges: steady, [0-9,]* keys ([0-9]* % more)$' stdout || fail "plan: keys without merges"
expect 0 "$tamis" plan -n 1e6 --bytes 1M --values 4
grep -q '^without --values: [a-z-]*, error rate [0-9.e-]* (in place of [0-9.e-]*)$' stdout || fail "plan: errors without values"

# build plans in the same way.
seq 1 20000 >keys
expect 0 "$tamis" build --bytes 40000 -o set.tamis keys
[ "$(wc -c <set.tamis)" -le 40256 ] || fail "build --bytes: size"
expect 0 "$tamis" info --json set.tamis
expect_json "0 < d['fpr'] < 0.001"
expect 0 "$tamis" build --overshoot 1 -p 0.001 -o set.tamis keys
seq 20001 40000 | "$tamis" add set.tamis 2>stderr || fail "add"
[ ! -s stderr ] || fail "add within the overshoot warns"
expect 0 "$tamis" info --json set.tamis
expect_json "d['capacity'] == 40000 and d['fpr'] < 0.0012"
expect 0 "$tamis" build --copies 5 -n 20000 -o set.tamis keys keys keys
expect 0 "$tamis" info --json set.tamis
expect_json "d['count'] == 60000"
expect 0 "$tamis" build --merges --replacements 20 -p 0.001 -o set.tamis keys
expect 0 "$tamis" remove set.tamis keys
expect_silent
exit 0
