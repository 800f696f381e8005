"""figures.py SOURCE TAMIS [--update] - the figures of figures.txt, and the tables of docs/scale.md

Prints what differs, and ends with 1 if anything does; with --update writes it into the pages instead.

SPDX-License-Identifier: MIT
"""
import functools
import json
import os
import re
import subprocess
import sys
import types

SOURCE, TAMIS = sys.argv[1:3]
UPDATE = "--update" in sys.argv[3:]
PLACE = re.compile(r"\{([^{}:]+):([^{}]*)\}")
faults = figures = 0


def fault(text):
    global faults
    faults += 1
    print(f"FAIL: {text}")


@functools.lru_cache(maxsize=None)
def plan(options):
    """A plan with the members of its JSON; with --all one for each kind."""
    run = subprocess.run([TAMIS, "plan", "--json", *options.split()], check=True, capture_output=True)
    told = json.loads(run.stdout, object_hook=lambda members: types.SimpleNamespace(**members))
    if not isinstance(told, list):
        return told
    return types.SimpleNamespace(**{one.kind.replace("-", "_"): one for one in told})


def entries(path):
    """Page, plans and templates of each block."""
    for block in re.split(r"\n\s*\n", open(path, encoding="utf-8").read()):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if lines:
            rest = [line.strip() for line in lines[1:]]
            yield lines[0], [r for r in rest if not r.startswith("= ")], [r[2:] for r in rest if r.startswith("= ")]


def said(template):
    """What finds the figures of a template in a page, where lines may be broken anywhere."""
    parts = PLACE.split(template)
    text = "".join(re.escape(part) if i % 3 == 0 else r"([^\s|()`]+?)" if i % 3 == 1 else "" for i, part in enumerate(parts))
    # a figure at the end goes as far as its word
    return re.compile(re.sub(r"(?:\\ )+", r"\\s+", text) + r"(?=[.,;:]?(?:[\s|()`]|$))")


def check(page, text, template, names):
    """The page with the figures that are printed."""
    global figures
    found = list(said(template).finditer(text))
    if len(found) != 1:
        fault(f"{page} says {len(found)} times: {template}")
        return text
    for number, (expression, form) in reversed(list(enumerate(PLACE.findall(template), 1))):
        figures += 1
        want = format(eval(expression, {"above": lambda p: p.bits_per_key - p.bound_bits_per_key}, names), form)
        have = found[0].group(number)
        if have != want:
            if not UPDATE:
                fault(f"{page} says {have}, and the plan {want}: {template}")
            text = text[:found[0].start(number)] + want + text[found[0].end(number):]
    return text


def change(page, edit):
    path = os.path.join(SOURCE, page)
    text = open(path, encoding="utf-8").read()
    changed = edit(text)
    if UPDATE and changed != text:
        with open(path, "w", encoding="utf-8") as file:
            file.write(changed)


def check_tables(page, command):
    """All tables of a page are what a command prints."""
    global figures
    run = subprocess.run([sys.executable, *command], check=True, capture_output=True, text=True)
    rows = [line for line in run.stdout.splitlines() if line.startswith("|")]

    def edit(text):
        global figures
        lines = text.split("\n")
        places = [i for i, line in enumerate(lines) if line.startswith("|")]
        if len(places) != len(rows):
            fault(f"{page} has {len(places)} rows of tables, and {command[0]} prints {len(rows)}")
            return text
        for place, row in zip(places, rows):
            figures += 1
            if lines[place] != row and not UPDATE:
                fault(f"{page} says {lines[place]}, and {command[0]} {row}")
            lines[place] = row
        return "\n".join(lines)
    change(page, edit)


for page, options, templates in entries(os.path.join(SOURCE, "tests/cli/figures.txt")):
    names = dict(zip("abcdefgh", map(plan, options)))
    for template in templates:
        change(page, lambda text: check(page, text, template, names))
check_tables("docs/scale.md", [os.path.join(SOURCE, "integrations/redis/scale.py"), TAMIS])
if not faults:
    print(f"ok: {figures} figures")
sys.exit(faults > 0)
