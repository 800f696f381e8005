#!/usr/bin/env python3
"""amalgamate.py SOURCE OUTPUT - the library as two files, tamis.c and tamis.h

tamis.h is the public headers, one after the other.  tamis.c is every .c file below src/ with the headers that it
needs, each header once.  Both keep the text and the comments of the sources.

The header of xxHash, which the hash is compiled from, becomes a part of tamis.c with its licence.  It is the
one that the compiler CC (cc) finds; the variable XXHASH_H names another.

Files that become one share their names.  Functions have that of their module in front, but variables, types
and constants are plain words, and a processor's engine has the names of the portable one.  So every name
that several .c files declare for themselves gets the name of its file in front, and the macros of a file end
with it.  Names are replaced as tokens, not by #define: a macro would also change the members of that name of
structs that a header has declared.

SPDX-License-Identifier: MIT
"""
import collections
import os
import pathlib
import re
import shlex
import subprocess
import sys

TOKEN = re.compile(r"""
    (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<directive>(?m:^)[ ]*\#(?:/\*.*?\*/|\\\n|[^\n])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<number>\.?[0-9](?:[eEpP][+-]|[\w.])*)
  | (?P<space>\s+)
  | (?P<sign>->|.)
""", re.X | re.S)
INCLUDE = re.compile(r'^[ ]*#[ ]*include[ ]*(?:"([^"]+)"|<(tamis/[^>]+)>)[^\n]*\n', re.M)
DEFINE = re.compile(r"^[ ]*#[ ]*define[ ]+(\w+)", re.M)
FEATURE = re.compile(r"^#define _(?:GNU|DEFAULT|POSIX_C|XOPEN)_SOURCE\b[^\n]*\n", re.M)
XXHASH = re.compile(r"^#include <xxhash\.h>[^\n]*\n", re.M)
GUARD = re.compile(r"^#ifndef (\w+)\n#define \1\n", re.M)
KEYWORDS = set("""static const inline extern volatile restrict struct union enum typedef void char short
    int long float double signed unsigned _Bool bool if else for while do switch case default return
    sizeof goto break continue _Static_assert _Alignas _Thread_local""".split())
OWN = ("tamis_", "TAMIS_")
TAMIS_C = """tamis.c - the whole library in one file; made by 'make amalgamation'

    cc -O2 -c tamis.c

Needs tamis.h beside it and nothing else; programs link with -lm.  It is C11: a program in C++ includes
tamis.h, and is linked with the object that a C compiler makes of this file.
Kernels for AVX2, BMI2 and POPCNT are compiled in, whatever the options say, and chosen at run time.

The part that is marked as xxhash.h is xxHash @XXHASH@ by Yann Collet, unchanged.  It has a licence of its
own, BSD with two clauses, which stands at its beginning.
"""
PREAMBLE = """#ifdef __cplusplus
#error "tamis.c is C, not C++: compile it with a C compiler, 'cc -O2 -c tamis.c', and link the object"
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wunused-function" /* not every helper of a header is used */
#endif
#include "tamis.h"
"""


def tokens(text):
    return [(m.lastgroup, m.group()) for m in TOKEN.finditer(text)]


def without_attributes(code):
    """Drop __attribute__((...)) from a list of words and signs."""
    out, i = [], 0
    while i < len(code):
        if code[i] == "__attribute__":
            depth, i = 0, i + 1
            while True:
                depth += {"(": 1, ")": -1}.get(code[i], 0)
                i += 1
                if depth == 0:
                    break
        else:
            out.append(code[i])
            i += 1
    return out


def is_word(token):
    return re.match(r"[A-Za-z_]", token) is not None and token not in KEYWORDS


def declared_by(code):
    """Names that one declaration or definition at file scope declares."""
    names, braces, parens = [], 0, 0
    # Names of types: a tag is declared where its body follows, constants stand in the body of an enum.
    for i, token in enumerate(code):
        if token in ("struct", "union", "enum") and i + 1 < len(code):
            body = i + 1 if code[i + 1] == "{" else i + 2
            if body < len(code) and code[body] == "{":
                if body == i + 2:
                    names.append(code[i + 1])
                if token == "enum":
                    j = body + 1
                    while code[j] != "}":
                        if code[j - 1] in "{," and is_word(code[j]):
                            names.append(code[j])
                        j += 1
    # What is declared: the word before '(', '[', '=', ',' or ';' outside of all brackets.
    for i, token in enumerate(code):
        if braces == 0 and parens == 0 and i > 0:
            if token in "([=,;" and is_word(code[i - 1]):
                names.append(code[i - 1])
                if token == "(" and code[0] != "typedef":
                    break  # a function; its parameters are its own
                if token == "=":
                    break
            elif token == "(" and code[i + 1] == "*" and is_word(code[i + 2]):
                names.append(code[i + 2])  # a pointer to a function
        braces += {"{": 1, "}": -1}.get(token, 0)
        parens += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token, 0)
    return names


def file_scope_names(text):
    """Every name without our prefix that a .c file declares at file scope."""
    names, statement, depth = set(), [], 0
    for group, token in tokens(text):
        if group == "directive":
            # A template may be given a declaration by a macro: '#define OPS static const type ops'.
            body = re.match(r"\s*#\s*define\s+\w+\s+(static\s[^\n(=]*)$", token)
            if body:
                names.add(body.group(1).split()[-1].lstrip("*"))
        if group in ("comment", "directive", "space"):
            continue
        statement.append(token)
        depth += {"{": 1, "}": -1}.get(token, 0)
        # A body ends a function; that of a type or the value of a variable goes on to a ';'.
        if depth == 0 and (token == ";" or (token == "}" and ")" in statement and
                                            statement[statement.index("{") - 1] == ")")):
            names.update(declared_by(without_attributes(statement)))
            statement = []
    macros = set(DEFINE.findall(text))
    return {n for n in names if not n.startswith(OWN)} - macros


def members(code):
    """Where in a list of tokens the members of structs are declared: these keep their names."""
    kept, braces = set(), []
    solid = [i for i, (group, _) in enumerate(code) if group not in ("space", "comment")]
    for k, i in enumerate(solid):
        token = code[i][1]
        if token == "{":
            before = [code[j][1] for j in solid[max(0, k - 2):k]]
            braces.append("struct" in before or "union" in before)
        elif token == "}" and braces:
            braces.pop()
        elif braces and braces[-1] and k + 1 < len(solid):
            if code[solid[k + 1]][1] in (";", ",", "[", ":", ")"):
                kept.add(i)
    return kept


def renamed(text, names, prefix):
    code = tokens(text)
    kept, out, before = members(code), [], ""
    for i, (group, token) in enumerate(code):
        if group == "directive":
            head = re.match(r"\s*#\s*define\s+\w+", token)
            if head:
                body = token[head.end():]
                token = head.group() + renamed(body, names, prefix)
        elif group == "word" and token in names and before not in (".", "->") and i not in kept:
            token = prefix + token
        if group not in ("space", "comment"):
            before = token
        out.append(token)
    return "".join(out)


class Joiner:
    """Puts headers in the place of #include lines, each header once."""

    def __init__(self, source, public):
        self.source, self.public, self.seen = source, public, set()

    def header(self, name):
        path = self.source / "include" / name
        if path.exists() and not self.public:
            return ""  # in tamis.h
        if not path.exists():
            path = self.source / "src" / name
        if path in self.seen:
            return ""
        self.seen.add(path)
        return self.expand(path.read_text())

    def expand(self, text):
        return INCLUDE.sub(lambda m: self.header(m.group(1) or m.group(2)), text)


def with_templates(source, text):
    """A header without a guard is a template: a part of the file that includes it."""
    def part(m):
        path = source / "src" / (m.group(1) or "")
        if not path.is_file() or GUARD.search(path.read_text()):
            return m.group()
        return with_templates(source, path.read_text())
    return INCLUDE.sub(part, text)


def title(name):
    return f"\n/* {'=' * 90}\n * {name}\n */\n"


def xxhash():
    """The text of the header of xxHash, and its version."""
    path = os.environ.get("XXHASH_H")
    if not path:
        # The compiler's list of what '#include <xxhash.h>' brings in.
        rule = subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-xc", "-M", "-"], input="#include <xxhash.h>\n",
                              capture_output=True, text=True, check=False).stdout
        path = next((word for word in rule.split() if word.endswith("/xxhash.h")), None)
    if not path:
        sys.exit("amalgamate.py: there is no header of xxHash (Debian: libxxhash-dev)")
    text = pathlib.Path(path).read_text()
    version = tuple(int(n) for n in re.findall(
        r"#\s*define XXH_VERSION_(?:MAJOR|MINOR|RELEASE)\s+([0-9]+)", text))
    if version < (0, 8, 0):
        sys.exit(f"amalgamate.py: {path} is not xxHash 0.8.0 or newer")
    if "BSD 2-Clause License" not in text[:2000]:
        sys.exit(f"amalgamate.py: {path} does not begin with the licence that is expected")
    return text, ".".join(str(n) for n in version)


def opening(first, licence):
    return "/* " + (first + "\n" + licence).rstrip().replace("\n", "\n * ").replace(" * \n", " *\n") + "\n */\n"


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: amalgamate.py SOURCE OUTPUT")
    source, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    licence = (source / "LICENSE").read_text()

    joiner = Joiner(source, public=True)
    text = [opening("tamis.h - all public headers in one file; made by 'make amalgamation'\n", licence)]
    headers = sorted((source / "include/tamis").glob("*.h"))
    for path in sorted(headers, key=lambda p: p.name != "tamis.h"):
        text += [title(path.relative_to(source)), joiner.header("tamis/" + path.name)]
    (output / "tamis.h").write_text("".join(text))

    joiner = Joiner(source, public=False)
    hash_text, version = xxhash()
    hash_text = title("xxhash.h") + hash_text + title("src/hash/key.c, the rest of it")
    text = [opening(TAMIS_C.replace("@XXHASH@", version), licence), PREAMBLE]
    # Those of one processor come last: what they include is within an #if.
    paths = sorted((source / "src").glob("**/*.c"), key=lambda p: (len(p.parts), p))
    files = {path: FEATURE.sub("", with_templates(source, path.read_text())) for path in paths}
    names = {path: file_scope_names(own) for path, own in files.items()}
    times = collections.Counter(name for own in names.values() for name in own)
    for path, own in files.items():
        shared = {name for name in names[path] if times[name] > 1}
        own = renamed(own, shared, "_".join(path.relative_to(source / "src").with_suffix("").parts) + "_")
        macros = DEFINE.findall(own)
        own = joiner.expand(own)
        text += [title(path.relative_to(source)), XXHASH.sub(lambda m: hash_text, own)]
        text += [f"#undef {macro}\n" for macro in dict.fromkeys(macros)]
    (output / "tamis.c").write_text("".join(text))


if __name__ == "__main__":
    main()
