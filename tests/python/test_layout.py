"""The structs and functions of bindings/python are those of the headers.

'test_layout.py --program' prints a C program that tells the layout of the structs, all members that the headers
give them; TAMIS_LAYOUT names the file with its output.

SPDX-License-Identifier: MIT
"""
import ctypes
import dataclasses
import os
import pathlib
import re
import sys
import unittest

import tamis
from tamis import _library

SOURCE = pathlib.Path(__file__).resolve().parents[2]
WHERE = "bindings/python/tamis/_library.py"


def header(name):
    text = (SOURCE / "include/tamis" / name).read_text()
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def program():
    lines = ["#include <stdio.h>", "#include <tamis/plan.h>", "int main(void) {"]
    for name in _library.STRUCTS:
        body = re.search(r"typedef struct %s \{(.*?)\n\}" % name, header("tamis.h") + header("plan.h"), re.S)
        lines.append(f'    printf("{name} %zu\\n", sizeof({name}));')
        for declaration in body.group(1).split(";")[:-1]:
            for member in re.sub(r"\[.*?\]", "", declaration).split(","):
                member = f"{name}, {member.split()[-1].lstrip('*')}"
                lines.append('    printf("%s %%zu %%zu\\n", offsetof(%s), sizeof((*(%s *)0).%s));' %
                             (member.replace(", ", "."), member, *member.split(", ")))
    return "\n".join(lines + ["    return 0;", "}"])


class Layout(unittest.TestCase):
    def test_structs(self):
        seen = dict(line.split(" ", 1) for line in
                    pathlib.Path(os.environ["TAMIS_LAYOUT"]).read_text().splitlines())
        own = {}
        for name, struct in _library.STRUCTS.items():
            own[name] = str(ctypes.sizeof(struct))
            for member, _ in struct._fields_:
                field = getattr(struct, member)
                own[f"{name}.{member}"] = f"{field.offset} {field.size}"
        self.assertEqual(own, seen, f"a struct of the headers has changed: {WHERE} must follow")

    def test_dataclasses_have_all_members(self):
        for record, struct in ((tamis.Plan, _library.Plan), (tamis.Info, _library.Info)):
            members = {name for name, _ in struct._fields_} - {"struct_size", "n_loads"}
            self.assertEqual({f.name for f in dataclasses.fields(record)}, members)

    def test_functions(self):
        declared = {}
        for name in ("tamis.h", "plan.h"):
            for call, arguments in re.findall(r"TAMIS_API[^;(]*?\b(tamis_\w+)\(([^;]*)\);", header(name)):
                declared[call] = [] if arguments.strip() == "void" else arguments.split(",")
        for name, (_result, arguments) in _library.FUNCTIONS.items():
            self.assertIn(name, declared)
            self.assertEqual(len(arguments), len(declared[name]), name)

    def test_limits(self):
        text = header("tamis.h")
        for name, value in (("TAMIS_PARAMS_MAX", _library.PARAMS_MAX), ("TAMIS_LOADS_MAX", _library.LOADS_MAX)):
            self.assertIn(f"#define {name} {value}\n", text)


if __name__ == "__main__":
    if sys.argv[1:] == ["--program"]:
        print(program())
    else:
        unittest.main()
