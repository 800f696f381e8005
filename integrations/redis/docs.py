#!/usr/bin/env python3
"""docs.py PAGE MODULE TOOL - write the table of commands in PAGE anew, from what a server tells of them

SPDX-License-Identifier: MIT
"""
import os
import sys

BEGIN = "<!-- commands: made by 'make redis-docs' -->\n"
END = "<!-- end of commands -->\n"


def words(argument):
    """One argument as a manual spells it."""
    kind = argument[b"type"]
    name = argument[b"name"].decode()
    token = argument.get(b"token", b"").decode()
    flags = argument.get(b"flags", [])
    if kind == b"pure-token":
        text = token
    elif kind == b"oneof":
        text = "|".join(words(a) for a in argument[b"arguments"])
    else:
        text = f"{token} {name}" if token else name
    if "multiple" in flags:
        text += f" [{text} ...]"
    return f"[{text}]" if "optional" in flags else text


def table(docs):
    """The table of all commands of this module, from the answer of COMMAND DOCS."""
    rows = ["| command | what it does | cost |", "|---|---|---|"]
    for name, about in sorted(docs.items()):
        if not name.startswith(b"tamis."):
            continue
        line = " ".join([name.decode().upper()] + [words(a) for a in about[b"arguments"]])
        line = line.replace("|", "\\|")
        rows.append(f"| `{line}` | {about[b'summary'].decode()} | {about[b'complexity'].decode()} |")
    return BEGIN + "\n".join(rows) + "\n" + END


def rewrite(page):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "tests"))
    import support
    with support.Server() as server:
        text = table(support.Raw(server, 3).call("COMMAND", "DOCS"))
    with open(page, encoding="utf-8") as file:
        old = file.read()
    before, rest = old.split(BEGIN)
    with open(page, "w", encoding="utf-8") as file:
        file.write(before + text + rest.split(END)[1])


if __name__ == "__main__":
    PAGE = sys.argv.pop(1)
    rewrite(PAGE)
