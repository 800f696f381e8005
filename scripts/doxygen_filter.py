#!/usr/bin/env python3
"""doxygen_filter.py HEADER - a public header with its comments in the form that Doxygen reads

The headers are written for people who open them; their comments are plain.  Here the first comment becomes that
of the file, a comment before a declaration that of the declaration and of those that follow it without an empty
line, a comment behind a member or a macro that of it, and a ruled comment begins a section.

SPDX-License-Identifier: MIT
"""
import re
import sys

COMMENT = re.compile(r"/\*(.*?)\*/", re.S)
NAME = re.compile(r"\b(tamis_\w+)\(")
INIT = "Set all members to zero, and struct_size: to be called before a member is set."


def body(comment):
    """The text of a comment in Doxygen's Markdown; indented lines are code and stay as they are."""
    text = comment[2:-2].strip()
    lines = []
    for line in text.split("\n"):
        line = re.sub(r"^ *\* ?", "", line).rstrip()
        if line.startswith("    "):
            if lines and lines[-1] and not lines[-1].startswith("    "):
                lines.append("")
            lines.append(line)
            continue
        parts = re.split(r"'([^'\s][^'\n]*)'(?!\w)", line)
        for i, part in enumerate(parts):
            if i % 2:
                parts[i] = f"`{part}`"
            else:
                parts[i] = re.sub(r"([\\@<>#*|&])", r"\\\1", part).replace("%", "%%")
        line = "".join(parts)
        if lines and lines[-1].startswith("    "):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def documented(comment):
    return "/** " + body(comment) + "\n*/"


def trailing(code):
    """Comments within a declaration: behind a member on its line, or on lines of their own before one."""
    def mark(m):
        line = code[code.rfind("\n", 0, m.start()) + 1:m.start()]
        return "/**" + ("< " if line.strip() else " ") + body(m.group()) + " */"
    return COMMENT.sub(mark, code)


def declarations(code):
    """The declarations of a paragraph: macros line by line, the rest up to a ';' or '}' outside of brackets."""
    out, now, depth = [], "", 0
    for line in code.split("\n"):
        now += line + "\n"
        plain = COMMENT.sub("", now)
        if plain.count("/*"):
            continue
        if depth == 0 and now.startswith("#"):
            if not line.endswith("\\"):
                out, now = out + [now], ""
            continue
        depth = plain.count("{") - plain.count("}")
        if depth == 0 and plain.rstrip().endswith((";", "}")):
            out, now = out + [now], ""
    return out + [now] if now.strip() else out


def paragraph(text):
    comment = COMMENT.match(text)
    if not comment:
        code = declarations(text)
        if len(code) == 1 and re.match(r"static inline void tamis_\w+_init\(", code[0]):
            return documented(f"/* {INIT} */") + "\n" + code[0]
        return "".join(trailing(one) for one in code)
    rest = text[comment.end():].lstrip("\n")
    rest = re.sub(r"^/\*[^*\n]*\*/\n(?=#define [^\n]*/\*)", "", rest, flags=re.M)
    code = declarations(rest)
    # Macros before the declaration that the comment is about; a word over macros that have comments.
    macros = []
    while code and code[0].startswith("#"):
        macros.append(trailing(code.pop(0)))
    if not code:
        if any("/**" in macro for macro in macros):
            return "".join(macros)
        return documented(comment.group()) + "\n" + "".join(macros)
    macros = [macro if "/**" in macro else "/** Used by what follows. */\n" + macro for macro in macros]
    out = macros + [documented(comment.group()) + "\n" + trailing(code[0])]
    first = NAME.search(code[0])
    for other in code[1:]:
        if first and NAME.search(other):
            out.append(f"/** @copydoc {first.group(1)} */\n")
        out.append(trailing(other))
    return "".join(out)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    first = COMMENT.match(text)
    title, _, about = body(first.group()).partition("\n")
    about = re.sub(r"SPDX-License.*", "", about)
    out = [f"/** @file\n{title.split(' - ', 1)[1].capitalize()}.\n{about}\n*/\n"]
    # Paragraphs: what empty lines outside of comments and brackets separate.
    parts, now, depth = [], "", 0
    for line in text[first.end():].split("\n"):
        plain = COMMENT.sub("", now)
        if not line.strip() and "/*" not in plain and plain.count("{") <= plain.count("}") + depth:
            parts, now = parts + [now], ""
        elif re.match(r'(extern "C" \{|\})$', line):
            parts, now = parts + [now, line + "\n"], ""
        else:
            now += line + "\n"
    section = False
    for part in parts + [now]:
        ruled = re.match(r"/\* -{20,}\n(.*?)\*/\n*", part, re.S)
        if ruled:
            title, _, about = body("/*" + ruled.group(1) + "*/").partition("\n")
            out.append(("/** @} */\n" if section else "") + f"/** @name {title}\n{about}\n@{{ */\n")
            section, part = True, part[ruled.end():]
        if part.startswith(("#ifdef __cplusplus", "#if", "#endif", "#include", "}", "extern")):
            if part.startswith("#ifdef __cplusplus") and section:
                out.append("/** @} */\n")
                section = False
            out.append(part)
        elif part.strip():
            out.append(paragraph(part))
    sys.stdout.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
