#!/usr/bin/env python3
"""completion.py TAMIS FOLDER - completion for bash, zsh and fish, made from the help of the tool

Commands, options and their descriptions come from 'tamis --help' and 'tamis help COMMAND', so that all three
shells know what the tool knows.  Only what the values of options may be stands here; a test compares the files
with what this makes of the tool as it is.

SPDX-License-Identifier: MIT
"""
import collections
import pathlib
import re
import subprocess
import sys

Option = collections.namedtuple("Option", "names value text")
# What may follow an option: words, or what the shell finds itself.  By default nothing is offered.
VALUES = {
    "--kind": "kinds", "--sort": "balanced bytes speed lines weighted", "--keys": "u64 digest", "--huge": "on off", "--task": "plan small shared",
    "--summary": "multiple single interpolation multiple-counting single-counting song",
    "--sync": "each batch none", "--format": "tsv jsonl", "-o": "files", "--output": "files", "-s": "files", "--set": "files",
    "--like": "files", "--plot-data": "folders", "--directory": "folders",
}
NOTE = ("made by 'make completion' from the help of the tool; do not edit",
        "SPDX-License-Identifier: MIT")
OPTION = re.compile(r"^ {2,6}(-\w)?(?:, )?(--[\w-]+)?(?: (\S+))?(?: +(\S.*))?$")


def options_of(lines):
    """The options that lines of a help describe."""
    options = []
    for line in lines:
        m = OPTION.match(line)
        if m and (m.group(1) or m.group(2)):
            names = [n for n in m.group(1, 2) if n]
            options.append(Option(names, m.group(3), m.group(4) or ""))
        elif options and line.startswith(" " * 16) and not options[-1].text:
            options[-1] = options[-1]._replace(text=line.strip())
    return options


def short(text):
    """The beginning of a description, up to the end of its first part."""
    if not text.startswith("-"):
        text = re.split(r"(?<=\w)(?:[.:;] |$)", text)[0]
    return re.sub(r" \([^)]*\)?$", "", text).rstrip(" .:;,")


class Tool:
    """The tool as its help tells it: commands, verbs of 'table', and the options of each."""

    def __init__(self, program):
        self.program = program
        self.commands = re.findall(r"^  ([a-z]+)  +(.*)$", self.help("--help"), re.M)
        self.options = {}
        for name, _ in self.commands:
            if name != "table":
                self.options[name] = options_of(self.help("help", name).split("\n"))
        text = self.help("help", "table")
        usage = re.findall(r"^(?:usage:|      ) tamis table ([a-z]+) +(.*?)  +(\S.*)$", text, re.M)
        self.verbs = [(name, summary) for name, _, summary in usage]
        for name, line, _ in usage:
            self.options["table " + name] = self.of_verb(name, line, text)

    def help(self, *words):
        return subprocess.run([self.program, *words], capture_output=True, text=True, check=True).stdout

    def of_verb(self, verb, usage, text):
        """The sections "Of put, get and dump:" of the help that name the verb, and what its usage names."""
        options = []
        for names, lines in re.findall(r"^Of (.*):\n((?:  .*\n)+)", text, re.M):
            if verb in re.findall(r"[a-z]+", names):
                options += options_of(lines.split("\n"))
        known = {name for option in options for name in option.names}
        every = {o.names[0]: o for o in options_of(text.split("\n"))}
        options += [every[name] for name in re.findall(r"-\w\b", usage) if name not in known and name in every]
        return options

    def values(self, option):
        """What may follow an option; None if nothing does."""
        if option.value is None:
            return None
        return next((VALUES[name] for name in option.names if name in VALUES), "")


# --- bash ---------------------------------------------------------------------------------------------


def bash(tool):
    after = {}
    for options in tool.options.values():
        for option in options:
            values = tool.values(option)
            if values is not None:
                for name in option.names:
                    after.setdefault(values, set()).add(name)
    offer = {"kinds": '$(_tamis_kinds "${COMP_WORDS[0]}")'}
    out = ["# bash completion for tamis(1)", *(f"# {line}" for line in NOTE), "",
           "# The kinds that this tamis knows.",
           "_tamis_kinds() {",
           '    "$1" plan -n 1000 --all --json 2>/dev/null | sed -n \'s/^ *"kind": "\\([^"]*\\)",*$/\\1/p\'',
           "}", "",
           "_tamis() {",
           "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}",
           "    local command=${COMP_WORDS[1]} files=-f words=",
           "    COMPREPLY=()",
           "    [[ $command != table || $COMP_CWORD -eq 2 ]] || command=\"table ${COMP_WORDS[2]}\"",
           "    if [[ $COMP_CWORD -eq 1 ]]; then",
           "        words=\"" + " ".join(n for n, _ in tool.commands) + " help --help --version\"",
           "    elif [[ $command == table ]]; then",
           "        words=\"" + " ".join(n for n, _ in tool.verbs) + "\"",
           "    elif [[ $command == server && $COMP_CWORD -eq 2 && $word != -* ]]; then",
           "        words=\"load save\"",
           "    elif [[ $command == help ]]; then",
           "        words=\"" + " ".join(n for n, _ in tool.commands) + "\"",
           "    else",
           "        case $previous in"]
    for values in sorted(after):
        does = {"": "return", "files": "files=-f", "folders": "files=-d"}
        out.append("        " + " | ".join(sorted(after[values])) + ") "
                   + does.get(values, f'words="{offer.get(values, values)}"') + " ;;")
    out += ["        *)",
            "            [[ $word == -* ]] && case $command in"]
    for name, options in tool.options.items():
        pattern = f'"{name}"' if " " in name else name
        words = " ".join(n for o in options for n in o.names)
        out.append(f"            {pattern}) words=\"{words} --help\" ;;")
    out += ["            *) return ;;",
            "            esac",
            "            ;;",
            "        esac",
            "    fi",
            "    if [[ -n $words ]]; then",
            "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")",
            "    else",
            "        compopt -o filenames 2>/dev/null",
            "        mapfile -t COMPREPLY < <(compgen $files -- \"$word\")",
            "    fi",
            "}", "",
            "complete -F _tamis tamis"]
    return out


# --- zsh ----------------------------------------------------------------------------------------------


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh_option(tool, option):
    text = short(option.text).replace("[", "(").replace("]", ")").replace(":", " -")
    values = tool.values(option)
    action = ""
    if values is not None:
        action = ":" + option.value.replace(":", "") + ":" + {
            "kinds": "_tamis_kinds", "files": "_files", "folders": "_files -/", "": " "}.get(values, f"({values})")
    if len(option.names) == 2:
        both = "(" + " ".join(option.names) + ")"
        return quoted(both) + "{" + ",".join(option.names) + "}" + quoted(f"[{text}]{action}")
    return quoted(f"{option.names[0]}[{text}]{action}")


def zsh(tool):
    out = ["#compdef tamis", *(f"# {line}" for line in NOTE), "",
           "_tamis_kinds() {",
           "    local -a kinds",
           '    kinds=(${(f)"$($service plan -n 1000 --all --json 2>/dev/null |',
           '        sed -n \'s/^ *"kind": "\\([^"]*\\)",*$/\\1/p\')"})',
           "    compadd -a kinds",
           "}", "",
           "_tamis_options() {",
           "    case $1 in"]
    for name, options in tool.options.items():
        out.append(f"    {quoted(name)})")
        out.append("        _arguments -S \\")
        out += [f"            {zsh_option(tool, option)} \\" for option in options]
        out.append("            '--help[its options]' '*:file:_files' ;;")
    out += ["    esac", "}", "", "_tamis() {", "    local -a commands verbs", "    commands=("]
    out += ["        " + quoted(f"{name}:{text}") for name, text in tool.commands]
    out += ["        'help:the options of a command'", "    )", "    verbs=("]
    out += ["        " + quoted(f"{name}:{text}") for name, text in tool.verbs]
    out += ["    )",
            "    if (( CURRENT == 2 )); then",
            "        _describe command commands",
            "        _arguments '--help[what there is]' '--version[the version]'",
            "    elif [[ $words[2] == help ]]; then",
            "        (( CURRENT > 3 )) || _describe command commands",
            "    elif [[ $words[2] == table ]]; then",
            "        if (( CURRENT == 3 )); then",
            "            _describe verb verbs",
            "        else",
            "            local verb=$words[3]",
            "            shift 2 words",
            "            (( CURRENT -= 2 ))",
            "            _tamis_options \"table $verb\"",
            "        fi",
            "    else",
            "        local command=$words[2]",
            "        shift words",
            "        (( CURRENT -= 1 ))",
            "        _tamis_options $command",
            "    fi",
            "}", "",
            "_tamis \"$@\""]
    return out


# --- fish ---------------------------------------------------------------------------------------------


def fish(tool):
    out = ["# fish completion for tamis(1)", *(f"# {line}" for line in NOTE), "",
           "# Is the command line at these words?  __tamis_at plan, __tamis_at table put",
           "function __tamis_at",
           "    set -l words (commandline -opc)",
           "    test (count $words) -gt (count $argv)",
           "    or return 1",
           "    set -l last (math (count $argv) + 1)",
           "    set -l here $words[2..$last]",
           '    test "$here" = "$argv"',
           "end",
           "function __tamis_kinds",
           '    tamis plan -n 1000 --all --json 2>/dev/null | string match -rg \'^ *"kind": "([^"]*)"\'',
           "end", "",
           "complete -c tamis -n 'test (count (commandline -opc)) -eq 1' -f -l help -d 'what there is'",
           "complete -c tamis -n 'test (count (commandline -opc)) -eq 1' -f -l version -d 'the version'"]
    for name, text in [*tool.commands, ("help", "the options of a command")]:
        out.append(f"complete -c tamis -n 'test (count (commandline -opc)) -eq 1' -f -a {name} -d {quoted(text)}")
        if name != "help":
            out.append(f"complete -c tamis -n '__tamis_at help' -f -a {name} -d {quoted(text)}")
    at_verb = "__tamis_at table; and test (count (commandline -opc)) -eq 2"
    for name, text in tool.verbs:
        out.append(f"complete -c tamis -n '{at_verb}' -f -a {name} -d {quoted(text)}")
    out.append("complete -c tamis -n '__tamis_at server; and test (count (commandline -opc)) -eq 2' -f -a 'load save'")
    for name, options in tool.options.items():
        for option in options:
            words = [f"complete -c tamis -n '__tamis_at {name}'"]
            words += [f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names]
            values = tool.values(option)
            if values is not None:
                words.append({"kinds": "-x -a '(__tamis_kinds)'", "files": "-r",
                              "folders": "-x -a '(__fish_complete_directories)'", "": "-x"}.get(
                                  values, f"-x -a '{values}'"))
            out.append(" ".join([*words, "-d", quoted(short(option.text))]))
        out.append(f"complete -c tamis -n '__tamis_at {name}' -l help -d 'its options'")
    return out


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: completion.py TAMIS FOLDER")
    tool, folder = Tool(sys.argv[1]), pathlib.Path(sys.argv[2])
    known = {name for options in tool.options.values() for o in options for name in o.names}
    for name, values in VALUES.items():
        if name not in known and name not in ("--output", "-s", "--set"):
            sys.exit(f"completion.py: no command has the option {name}")
        text = " ".join(tool.help("help", c) for c, _ in tool.commands)
        for word in values.split():
            if values not in ("kinds", "files", "folders") and not re.search(rf"\b{word}\b", text):
                sys.exit(f"completion.py: the help does not name {word} for {name}")
    for name, make in (("tamis.bash", bash), ("_tamis", zsh), ("tamis.fish", fish)):
        (folder / name).write_text("\n".join(make(tool)) + "\n")


if __name__ == "__main__":
    main()
