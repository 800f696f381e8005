#!/bin/sh
# test_completion.sh - completion in bash, zsh and fish offers the commands, options, kinds and files that there
# are, and the manual describes them
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

# The files are those that the help of this tool makes.
mkdir made
python3 "$source_dir/scripts/completion.py" "$tamis" made || fail "completion.py"
diff -r made "$source_dir/cli/completion" || fail "cli/completion is out of date: make completion"

# What fish offers for a command line; its tamis is this one.
mkdir bin
ln -s "$tamis" bin/tamis
in_fish() {
    PATH="$work/bin:$PATH" HOME="$work" fish --no-config -c "
        source '$source_dir/cli/completion/tamis.fish'
        complete -C '$1'" | cut -f 1 | sort
}
if command -v fish >/dev/null; then
    "$tamis" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | sort >commands
    in_fish "tamis " | grep -v '^help$' >offered
    cmp commands offered || fail "fish: commands: $(tr '\n' ' ' <offered)"
    [ "$(in_fish 'tamis table re')" = rebuild ] || fail "fish: verbs"
    [ "$(in_fish 'tamis plan --kind line')" = line ] || fail "fish: kinds"
    [ "$(in_fish 'tamis build --comp')" = --compact ] || fail "fish: options of build"
    [ -z "$(in_fish 'tamis plan --comp')" ] || fail "fish: options of another command"
    [ "$(in_fish 'tamis table put --s')" = --sync ] || fail "fish: options of a verb"
    [ "$(in_fish 'tamis table put --sync n')" = none ] || fail "fish: values"
else
    echo "skipped: no fish"
fi

# zsh: what its functions are asked to offer.
in_zsh() {
    zsh -fc '
        _arguments() { print -rl -- "$@" }
        _describe() { print -rl -- ${(P)2} }
        words=("${@:2}") CURRENT=$(($# - 1))
        source $1' zsh "$source_dir/cli/completion/_tamis" "$@"
}
if command -v zsh >/dev/null; then
    in_zsh tamis "" | grep -q '^query:print the keys' || fail "zsh: commands"
    in_zsh tamis table "" | grep -q '^rebuild:make deleted' || fail "zsh: verbs"
    in_zsh tamis build "" | grep -q '^--compact\[' || fail "zsh: options of build"
    in_zsh tamis table put "" | grep -q '^--sync\[.*(each batch none)$' || fail "zsh: values"
    for name in $("$tamis" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | grep -v table); do
        "$tamis" help "$name" | sed -n 's/^  *\(-.*\)$/\1/p' | sed 's/   .*//' | tr ', ' '\n\n' | grep '^-' |
            sort >options
        in_zsh tamis "$name" "" | sed -n 's/^([^)]*)//; s/^\(-[^[]*\)\[.*/\1/p' | grep -v '^--help$' | sort >offered
        cmp options offered || fail "zsh: options of $name: $(tr '\n' ' ' <offered)"
    done
else
    echo "skipped: no zsh"
fi

command -v bash >/dev/null || { echo "skipped: no bash"; exit 0; }

# offer WORD...: what is offered for the last word, one per line.
offer() {
    bash -c '
        source "$1/cli/completion/tamis.bash"
        shift
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        _tamis 2>/dev/null
        printf "%s\n" "${COMPREPLY[@]}"' bash "$source_dir" "$tamis" "$@" | sort
}

"$tamis" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | sort >commands
offer "" | grep -v -e '^-' -e '^help$' >offered
cmp commands offered || fail "commands: $(tr '\n' ' ' <offered)"
[ "$(offer qu)" = query ] || fail "beginning of a command"

# Every option that the help names is offered, and the other way round.
for command in $(grep -vx table commands); do
    "$tamis" help $command | sed -n 's/^  *\(-.*\)$/\1/p' | sed 's/   .*//' | tr ', ' '\n\n' |
        grep '^-' | sort >options
    offer $command - | grep -v -e '^--help$' -e '^--output$' >offered
    cmp options offered || fail "options of $command: $(tr '\n' ' ' <offered)"
done

# The same for the verbs of tables, whose help names the options under "Of put, get and dump:".
"$tamis" help table | sed -n 's/^       *tamis table \([a-z]*\) .*/\1/p; s/^usage: tamis table \([a-z]*\) .*/\1/p' | sort >verbs
offer table "" >offered
cmp verbs offered || fail "verbs of table: $(tr '\n' ' ' <offered)"
while read -r verb; do
    "$tamis" help table | sed -n "/^Of /,\$ { /^Of /! { p; b; }; s/$/ /; s/[,:]/ /g; / $verb /! s/.*/Of none/; p; }" |
        awk '/^Of / { wanted = $2 != "none"; next } wanted' | sed 's/   [^ -].*//' | tr ', ' '\n\n' | grep '^-' >options
    [ "$verb" != bench ] || printf '%s\n' -n >>options # its usage line names it
    sort -o options options
    offer table "$verb" - | grep -v '^--help$' >offered
    cmp options offered || fail "options of table $verb: $(tr '\n' ' ' <offered)"
done <verbs

# The manual describes every command and every option that the help names, in the command's own section
# or in one of the lists that its synopsis refers to.
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 0; }
python3 - "$tamis" "$source_dir/docs/man/tamis.1" <<'PYTHON' || fail "the manual is not complete"
import re, subprocess, sys
tamis, page = sys.argv[1], open(sys.argv[2], encoding="utf-8").read()
def output(*words):
    return subprocess.run([tamis, *words], capture_output=True, text=True, check=True).stdout
synopsis = page.split(".Sh SYNOPSIS")[1].split(".Sh ")[0]
sections = dict(re.findall(r"^\.Ss (\w+)\n(.*?)(?=^\.S[sh] )", page, re.M | re.S))
lists = dict(re.findall(r"^\.Ar (\w+-options)\n(.*?)^\.El", page, re.M | re.S))
missing = []
for command in re.findall(r"^  ([a-z]+)  ", output("--help"), re.M):
    if command not in sections:
        missing.append(command)
        continue
    own = "".join(re.findall(rf"^\.Cm {command}\n(.*?)(?=^\.Nm|\Z)", synopsis, re.M | re.S))
    text = sections[command]
    for name in re.findall(r"\w+-options", own):
        text += lists[name]
    if command == "add": # its list is that of remove
        text += sections["remove"]
    macros = " ".join(re.findall(r"^\..*", text, re.M))
    for line in re.findall(r"^ +(-.*)", output("help", command), re.M):
        for option in re.split(r",? ", line.split("   ")[0]):
            if option.startswith("-") and not re.search(rf"(Fl|,) {option[1:]}(?![\w-])", macros):
                missing.append(command + " " + option)
if missing:
    sys.exit("not in the manual: " + ", ".join(missing))
PYTHON

kinds | sort >all
offer plan --kind "" >offered
cmp all offered || fail "kinds: $(tr '\n' ' ' <offered)"
[ "$(offer build --kind blo)" = "$(printf 'blocked-bloom\nbloom')" ] || fail "beginning of a kind"

: >some.tamis
[ "$(offer info so)" = some.tamis ] || fail "files"
