#!/bin/sh
# test_event_time.sh - tamis uniq --time-field: windows move by what the lines tell, whatever the time is now
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

# The log of a day, and what a window of W seconds in T ticks prints of it: tick number floor(time / (W / T)), a key is
# old if it came in this tick or one of the T before, and a late line has the tick of the lines before it.
cat >oracle.py <<'PYTHON'
import datetime, random, sys
from fractions import Fraction
forms = {
    "iso": lambda t: t.strftime("%Y-%m-%dT%H:%M:%SZ"),
    "blank": lambda t: t.strftime("%Y-%m-%d %H:%M:%S"),
    "zone": lambda t: t.astimezone(datetime.timezone(datetime.timedelta(hours=5, minutes=30))).isoformat(),
    "seconds": lambda t: "%d" % t.timestamp(),
    "apache": lambda t: t.astimezone(datetime.timezone(datetime.timedelta(hours=-8))).strftime("[%d/%b/%Y:%H:%M:%S %z]"),
    "syslog": lambda t: t.strftime("%b %e %T"),
}
utc = datetime.timezone.utc
random.seed(18)
lines, now = [], datetime.datetime(2023, 12, 31, 6, 0, 0, tzinfo=utc)  # over a New Year and into a leap year
while len(lines) < 10000:
    now += datetime.timedelta(seconds=random.choice((0, 0, 1, 2, 3, 5, 15)))
    late = datetime.timedelta(seconds=random.randrange(2000) if random.random() < 0.01 else 0)
    lines.append((now - late, "user%d" % int(2000 * random.random() ** 2)))
for name, form in forms.items():
    with open(name + ".log", "w") as file:
        file.writelines(form(t) + " " + key + "\n" for t, key in lines)
with open("middle.csv", "w") as file:
    file.writelines("%s,%s,%d\n" % (key, forms["blank"](t), i % 7) for i, (t, key) in enumerate(lines))

def expect(name, window, ticks, keep):
    seen, present, newest, late, most, new = {}, None, None, 0, 0, []
    for number, (t, key) in enumerate(lines):
        tick = int(Fraction(int(t.timestamp()) * ticks, window).__floor__())
        if present is not None and tick < present:
            late += 1
            most = max(most, (newest - t).total_seconds())
        present = tick if present is None else max(present, tick)
        newest = t if newest is None else max(newest, t)
        key = keep(number, key)
        if key not in seen or seen[key] < present - ticks:
            new.append(number)
        seen[key] = present
    with open(name, "w") as file:
        file.writelines("%d\n" % (n + 1) for n in new)
    return late, most

late, most = expect("hour", 3600, 8, lambda i, k: k)
expect("week", 7 * 86400, 8, lambda i, k: k)
expect("quarter", 900, 126, lambda i, k: k)
expect("csv", 3600, 8, lambda i, k: (k, i % 7))
print("%d %.3g" % (late, most / 60))
PYTHON
python3 oracle.py >late
read -r n_late most_late <late
[ "$n_late" -gt 50 ] && [ "$(wc -l <hour)" -gt 1000 ] && [ "$(wc -l <hour)" -gt $((2 * $(wc -l <week))) ] ||
    fail "the log does not ask for much"

# numbers FILE: which lines of the file are the output.
numbers() {
    awk 'NR == FNR { out[FNR] = $0; n = FNR; next }
         out[at + 1] == $0 { print FNR; at++ }
         END { if (at != n) print "not lines of the input" }' stdout "$1" >printed
}
# prints EXPECTED FILE OPTION...: these lines come out, and the late ones are told.
prints() {
    expected=$1 file=$2
    shift 2
    wanted=$expected
    expect 0 "$tamis" uniq -p 1e-12 -n 4000 "$@" "$file"
    numbers "$file"
    expected=$wanted
    cmp -s "$expected" printed || fail "$file: not the lines that should come out: $*"
}

prints hour iso.log -w 1h --time-field 1
expect_message "warning: $n_late of 10,000 lines were late, by up to $most_late min, and count as of the time when they came"
[ "$(wc -l <stderr)" -eq 1 ] || fail "more than one message"
for file in iso blank zone seconds; do
    prints hour $file.log -w 1h --time-field 1
done
prints hour apache.log -w 1h --time-field 1 --time-format '[%d/%b/%Y:%H:%M:%S %z]'
prints hour syslog.log -w 1h --time-field 1 --time-format '%b %d %T'
prints hour seconds.log -w 1h --time-field 1 --time-format %s
prints hour blank.log -w 1h --time-field 1 --time-format '%Y-%m-%d %H:%M:%S'
prints hour blank.log -w 1h --time-field 1 --time-format '%F %T' -f 3 -d ' '
prints hour middle.csv -w 1h --time-field 2 -f 1 -d ,
prints csv middle.csv -w 1h --time-field 2 -d ,
prints week iso.log -w 7d --time-field 1
prints quarter iso.log -w 15min --ticks 126 --time-field 1
for window in 60m 60min 60minutes 3600s 3600sec 1hour 3600000ms "1 hour"; do
    prints hour iso.log -w "$window" --time-field 1
done
prints week iso.log -w 1week --time-field 1
# It does not matter when and how fast the lines come, nor in how many files.
mkfifo pipe
{ head -n 3000 iso.log; sleep 0.2; tail -n +3001 iso.log; } >pipe &
cat pipe | "$tamis" uniq -p 1e-12 -w 1h --time-field 1 >stdout 2>stderr
wait $!
numbers iso.log
cmp hour printed || fail "from a pipe"
head -n 7000 iso.log >first.log
tail -n +7001 iso.log >second.log
expect 0 "$tamis" uniq -p 1e-12 -w 1h --time-field 1 first.log second.log
numbers iso.log
cmp hour printed || fail "two files"
expect 0 "$tamis" uniq -c -p 1e-12 -w 1h --time-field 1 iso.log
[ "$(cat stdout)" -eq "$(wc -l <hour)" ] || fail "-c"

# What a time may look like.  All of these are 2024-02-29 12:00:00 in UTC.
same() {
    printf '%s\n' "2024-02-29T12:00:00Z key" "$@" >stamps
    expect 0 "$tamis" uniq -w 16ms --ticks 1 --time-field 1 -p 1e-9 stamps
    expect_silent
    [ "$(wc -l <stdout)" -eq 1 ] || fail "not the same time: $(tail -n +2 stdout | head -n 1)"
}
same "2024-02-29 12:00:00 key" "2024-02-29 12:00 key" "2024-02-29T12:00:00.000Z key" "2024-02-29T12:00:00,0 key" \
    "2024-02-29T14:00:00+02:00 key" "2024-02-29T14:00:00+0200 key" "2024-02-29T14:00:00+02 key" \
    "2024-02-29 04:30:00 -0730 key" "2024-03-01T00:00+12:00 key" "2024-02-29 12:00:00 UTC key" "1709208000 key" \
    "1709208000.0 key" "1709208000.000001 key" "2024-02-29T12:00Z   key" "$(printf '2024-02-29T12:00Z\tkey')"
# and these are 0.5 s later, and the first second of 2000, 1970, 1 and 10000, as others count them.
step() {
    printf '%s %s\n' "$1" key "$2" key "$3" key >stamps
    expect 0 "$tamis" uniq -w "$4" --ticks 1 --time-field 1 -p 1e-9 stamps
    expect_silent
    printf '%s key\n' "$1" "$3" >expected # a tick after the second is two after the first
    expect_output expected
}
step 2024-02-29T12:00:00 2024-02-29T12:00:00.5 2024-02-29T12:00:02 500ms
step 1999-12-31T23:59:59Z 946684800 2000-01-01T00:00:03 1s
step 1900-02-28T23:59:59 1900-03-01 1900-03-01T00:00:03 1s
step -2 -1 1970-01-01T00:00:01 1s
step -1.5 1969-12-31T23:59:59.0 1970-01-01T00:00:00.75 500ms
step 0001-01-01 -62135596799 0001-01-01T00:00:03 1s
for bad in 2023-02-29 1900-02-29 2024-13-01 2024-00-01 2024-01-00 2024-04-31 2024-02-29T24:00 2024-02-29T12:60 \
    2024-02-29T12:00:61 2024-02-29Z 2024-02-29T 2024-02-29T12:00+1 24-02-29 1709208000000 12e5 0x10 x .5 5. - \
    2024-02-29T12:00:00Zulu; do
    printf '1 a\n%s a\n' "$bad" >stamps
    expect 2 "$tamis" uniq -w 1h --time-field 1 stamps
    expect_message "stamps: line 2 has no time that can be read where --time-field says (see --time-format, --unstamped): '$bad a'"
done

# Formats: as strptime has them, in English.
format() {
    printf '%s key\n' "$2" "$2" >stamps
    printf '%s key\n' "$3" >>stamps
    expect 0 "$tamis" uniq -w 1s --ticks 1 --time-field 1 -p 1e-9 --time-format "$1" stamps
    printf '%s key\n' "$2" "$3" >expected
    expect_output expected
    expect_silent
}
format '%a %b %e %H:%M:%S %Y' 'Thu Feb 29 23:59:59 2024' 'Fri Mar  1 00:00:01 2024'
format '%A, %d %B %Y %I:%M:%S %p' 'Thursday, 29 February 2024 11:59:59 AM' 'Thursday, 29 February 2024 12:00:01 PM'
format '%D %T' '12/31/99 23:59:59' '01/01/00 00:00:01'
format '%F %R %z' '2024-02-29 12:00 +0000' '2024-02-29 13:01 +0100'
format '%Y%m%d%H%M%S' 20240229235959 20240301000001
format '%Q' 1709208000999 1709208002999
format '%s.%f' 1709208000.999 1709208002.999
format '%H:%M:%S,%f %% x' '23:59:57,5 % x' '23:59:59,5 % x'
format '%b %d %T' 'Dec 31 23:59:59' 'Jan 1 00:00:01'
printf '2024-02-29 a\n' >stamps
expect_refusal "line 1 has no time" "$tamis" uniq -w 1h --time-field 1 --time-format '%d.%m.%Y' stamps
expect_refusal "--time-format: %i is none of" "$tamis" uniq -w 1h --time-field 1 --time-format '%Y %i' stamps
expect_refusal "--time-format: % is none of" "$tamis" uniq -w 1h --time-field 1 --time-format '%Y%' stamps

# The key is the line without its time, where the time is; printed is the whole line.
keys() {
    printf '%s\n' "$@" | expect 0 "$tamis" uniq -w 1h --time-field "$field" -p 1e-9 -s keys.tamis
    expect 0 "$tamis" query keys.tamis -e "$key"
    [ "$(cat stdout)" = "$key" ] || fail "the key is not '$key'"
    rm keys.tamis
}
key='a b' field=1 && keys '5 a b' '6   a b'
key='a  b ' field=1 && keys '5 a  b '
key='a b' field=2 && keys 'a 5 b' 'a  6 b'
key='a b' field=3 && keys 'a b 5' 'a b  6'
key='' field=1 && keys '5' '6 '
printf 'a,5,b\r\n' | expect 0 "$tamis" uniq -w 1h --time-field 2 -d , --crlf -s keys.tamis
expect 0 "$tamis" query keys.tamis -e a,b
printf '5,a,b\0' | expect 0 "$tamis" uniq -0 -w 1h --time-field 1 -d , -s keys.tamis
printf 'a,b,7\r\n' | expect 0 "$tamis" uniq --crlf -w 1h --time-field 3 -d , -s keys.tamis
[ ! -s stdout ] || fail "the same key is new"

# Lines without a time are trouble, or belong to the one before.
printf '0 a\ntrace\n7200 b\ntrace\n7201 b\ntrace\n' >stamps
expect 2 "$tamis" uniq -w 1h --time-field 1 stamps
expect_message "stamps: line 2 has no time"
printf '0 a\ntrace\n7200 b\ntrace\n' >expected
expect 0 "$tamis" uniq -w 1h --time-field 1 --unstamped -p 1e-9 stamps
expect_output expected
expect_message "warning: 3 of 6 lines had no time, and count as of the line before"

# A file whose times are not asked for.
for input in stamps -; do
    expect 0 "$tamis" uniq -w 1h $input <stamps
    [ "$input" = - ] && name="standard input" || name=stamps
    expect_message "warning: $name is a file, and --window counts the time while it is read; --time-field takes the time of its lines"
done
for quiet in "-w 100" "-w 1h --time-field 1 --unstamped" ""; do
    # shellcheck disable=SC2086
    expect 0 "$tamis" uniq $quiet stamps
    ! grep -q "is a file" stderr || fail "a warning for nothing: $quiet"
done
# shellcheck disable=SC2002
cat stamps | expect 0 "$tamis" uniq -w 1h
expect_silent

expect_refusal "--time-field is for a window of time" "$tamis" uniq --time-field 1 stamps
expect_refusal "--time-field is for a window of time" "$tamis" uniq -w 100 --time-field 1 stamps
expect_refusal "--time-format is for --time-field" "$tamis" uniq -w 1h --time-format %s stamps
expect_refusal "--unstamped is for --time-field" "$tamis" uniq -w 1h --unstamped stamps
expect_refusal "a key of -e has no time" "$tamis" uniq -w 1h --time-field 1 -e a
expect_refusal "--time-field: must be at least 1" "$tamis" uniq -w 1h --time-field 0 stamps
