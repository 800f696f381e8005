#!/bin/sh
# test_completion.sh - bash completion offers the commands, options, kinds and files that there are
# SPDX-License-Identifier: MIT
. "$1/tests/cli/support.sh"

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
for command in plan build query add remove info verify merge bench reproduce; do
    "$tamis" help $command | sed -n 's/^  *\(-.*\)$/\1/p' | sed 's/   .*//' | tr ', ' '\n\n' |
        grep '^-' | sort >options
    offer $command - | grep -v -e '^--help$' -e '^--output$' >offered
    cmp options offered || fail "options of $command: $(tr '\n' ' ' <offered)"
done

kinds | sort >all
offer plan --kind "" >offered
cmp all offered || fail "kinds: $(tr '\n' ' ' <offered)"
[ "$(offer build --kind blo)" = "$(printf 'blocked-bloom\nbloom')" ] || fail "beginning of a kind"

: >some.tamis
[ "$(offer info so)" = some.tamis ] || fail "files"
