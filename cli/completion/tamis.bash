# bash completion for tamis(1)
# made by 'make completion' from the help of the tool; do not edit
# SPDX-License-Identifier: MIT

# The kinds that this tamis knows.
_tamis_kinds() {
    "$1" plan -n 1000 --all --json 2>/dev/null | sed -n 's/^ *"kind": "\([^"]*\)",*$/\1/p'
}

_tamis() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} files=-f words=
    COMPREPLY=()
    [[ $command != table || $COMP_CWORD -eq 2 ]] || command="table ${COMP_WORDS[2]}"
    if [[ $COMP_CWORD -eq 1 ]]; then
        words="plan build query add remove uniq info verify merge table server bench reproduce help --help --version"
    elif [[ $command == table ]]; then
        words="plan create put get delete dump import export info verify rebuild bench"
    elif [[ $command == server && $COMP_CWORD -eq 2 && $word != -* ]]; then
        words="load save"
    elif [[ $command == help ]]; then
        words="plan build query add remove uniq info verify merge table server bench reproduce"
    else
        case $previous in
        --bits | --bucket | --bytes | --check | --copies | --db | --delimiter | --each | --failure | --field | --hash | --jobs | --key-max | --line-bits | --lines | --odds | --overshoot | --replace | --replacements | --rounds | --samples | --seed | --slots | --stash | --table-bytes | --threads | --ticks | --time-field | --time-format | --unstamped | --user | --value-max | --values | --window | -d | -e | -f | -j | -n | -p | -w) return ;;
        --sort) words="balanced bytes speed lines weighted" ;;
        --sync) words="each batch none" ;;
        --like | --set | -o | -s) files=-f ;;
        --directory | --plot-data) files=-d ;;
        --kind) words="$(_tamis_kinds "${COMP_WORDS[0]}")" ;;
        --summary) words="multiple single interpolation multiple-counting single-counting song" ;;
        --huge) words="on off" ;;
        --task) words="plan small shared" ;;
        --format) words="tsv jsonl" ;;
        --keys) words="u64 digest" ;;
        *)
            [[ $word == -* ]] && case $command in
            plan) words="-n -p --kind --deletes --replacements --merges --ticks --bytes --copies --overshoot --lines --failure --sort --line-bits --values --offline --grow --threads --all --search --json --check --seed --changes --help" ;;
            build) words="-o -p -n --kind --deletes --replacements --merges --ticks --bytes --copies --overshoot --lines --failure --sort --line-bits --grow --overfull --hash --seed --like --compact -j --jobs --verbose -e -f --field -d --delimiter -0 --null --crlf --u64 --hex --help" ;;
            query) words="-v --invert -c --count -q --quiet -j --jobs -e -f --field -d --delimiter -0 --null --crlf --u64 --hex --help" ;;
            add) words="-o --grow -p --verbose -e -f --field -d --delimiter -0 --null --crlf --u64 --hex --help" ;;
            remove) words="-o --verbose -e -f --field -d --delimiter -0 --null --crlf --u64 --hex --help" ;;
            uniq) words="-s --set -p -n -w --window --time-field --time-format --unstamped --ticks --grow --overfull -v --invert -c --count -e -f --field -d --delimiter -0 --null --crlf --u64 --hex --help" ;;
            info) words="--json --help" ;;
            verify) words="--json --help" ;;
            merge) words="-o -p --beyond --verbose --help" ;;
            server) words="--user --db --verbose --help" ;;
            bench) words="--kind -n --table-bytes --bits --sort --keys --rounds --huge --threads --task --json --csv --help" ;;
            reproduce) words="--full --json --plot-data --help" ;;
            "table plan") words="-n -p --odds --summary --bucket --slots --no-deletes --key-max --value-max --stash --hash --seed --json --help" ;;
            "table create") words="-n -p --odds --summary --bucket --slots --no-deletes --key-max --value-max --stash --hash --seed --help" ;;
            "table put") words="--sync -0 --null --hex --help" ;;
            "table get") words="-0 --null --hex -e -v --invert -c --count --help" ;;
            "table delete") words="--sync -0 --null --hex --help" ;;
            "table dump") words="-0 --null --hex --help" ;;
            "table import") words="--sync --format --help" ;;
            "table export") words="--format --help" ;;
            "table info") words="--json --help" ;;
            "table verify") words="--json --help" ;;
            "table rebuild") words="--sync --repair --help" ;;
            "table bench") words="--json -p --samples --directory --peers --names --each --replace --grow -n --help" ;;
            *) return ;;
            esac
            ;;
        esac
    fi
    if [[ -n $words ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen $files -- "$word")
    fi
}

complete -F _tamis tamis
