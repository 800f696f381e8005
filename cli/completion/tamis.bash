# bash completion for tamis(1)
# SPDX-License-Identifier: MIT

# The kinds that this tamis knows.
_tamis_kinds() {
    "$1" plan -n 1000 --all --json 2>/dev/null | sed -n 's/^ *"kind": "\([^"]*\)",*$/\1/p'
}

_tamis() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local commands="plan build query add remove uniq info verify merge table bench reproduce help"
    local keys="-e -f --field -d --delimiter -0 --null --crlf --u64 --hex"
    local needs="-n -p --kind --deletes --replacements --merges --bytes --copies --overshoot --lines --failure --sort --line-bits"
    local options

    COMPREPLY=()
    if [[ $COMP_CWORD -eq 1 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$word")
        return
    fi
    if [[ ${COMP_WORDS[1]} == table && $COMP_CWORD -eq 2 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "plan create put get delete dump info verify rebuild bench" -- "$word")
        return
    fi
    case $previous in
    --summary)
        options="multiple single interpolation multiple-counting single-counting"
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
        return
        ;;
    --sync)
        mapfile -t COMPREPLY < <(compgen -W "each batch none" -- "$word")
        return
        ;;
    --kind)
        mapfile -t COMPREPLY < <(compgen -W "$(_tamis_kinds "${COMP_WORDS[0]}")" -- "$word")
        return
        ;;
    --keys)
        mapfile -t COMPREPLY < <(compgen -W "u64 digest" -- "$word")
        return
        ;;
    --huge)
        mapfile -t COMPREPLY < <(compgen -W "on off" -- "$word")
        return
        ;;
    --sort)
        mapfile -t COMPREPLY < <(compgen -W "bytes lines weighted" -- "$word")
        return
        ;;
    --odds | --bucket | --slots | --key-max | --value-max | --stash | --samples)
        return
        ;;
    -n | -p | -e | -f | --field | -d | --delimiter | --seed | --table-bytes | --bits | --rounds | --threads | --bytes | --copies | --values | --overshoot | --lines | \
        --failure | --line-bits | --check | --replacements)
        return
        ;;
    esac
    case ${COMP_WORDS[1]} in
    plan) options="$needs --values --offline --grow --all --json --check --seed" ;;
    build) options="-o --output $needs --grow --overfull --seed --like --compact --verbose $keys" ;;
    query) options="-v --invert -c --count -q --quiet $keys" ;;
    add) options="-o --output --grow -p --verbose $keys" ;;
    remove) options="-o --output --verbose $keys" ;;
    uniq) options="-s --set -n -p --grow --overfull -v --invert -c --count $keys" ;;
    info | verify) options="--json" ;;
    merge) options="-o --output -p --verbose" ;;
    table)
        case ${COMP_WORDS[2]} in
        plan | create)
            options="-n -p --odds --summary --bucket --slots --no-deletes --key-max --value-max --stash --seed"
            [[ ${COMP_WORDS[2]} == create ]] || options+=" --json"
            ;;
        put | delete) options="--sync -0 --null --hex" ;;
        get) options="-e -v --invert -c --count -0 --null --hex" ;;
        dump) options="-0 --null --hex" ;;
        info | verify) options="--json" ;;
        rebuild) options="--repair --sync" ;;
        bench) options="-n --samples --directory --peers --json" ;;
        *) return ;;
        esac
        ;;
    bench) options="--kind -n --table-bytes --bits --keys --rounds --huge --threads --json --csv" ;;
    reproduce) options="--full --json --plot-data" ;;
    help)
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word")
        return
        ;;
    *) return ;;
    esac
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options --help" -- "$word")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}

complete -F _tamis tamis
