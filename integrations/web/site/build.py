#!/usr/bin/python3
"""build.py PACKAGE MODULES XML OUTPUT - the site: planner, sets, documentation, reference

PACKAGE is the folder of tamis.js and tamis.wasm, MODULES that of npm's modules, XML what Doxygen made of the headers
(scripts/reference.sh).  OUTPUT becomes one folder of static files, which work from file:// as well.  Pages are flat, so
that links are names.  A link that leads nowhere is an error.

SPDX-License-Identifier: MIT
"""
import base64
import gzip
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as tree

import markdown
from markdown.extensions.toc import TocExtension

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
HEADERS = ["tamis.h", "plan.h", "shared.h", "window.h", "small.h", "table.h", "model.h"]
GROUPS = [
    ("Begin", ["guide", "choosing", "planning", "what-can-go-wrong", "growth"]),
    ("Kinds of sets", ["line", "steady", "rank", "balanced-bloom", "dleft-counting", "small", "windows", "threads", "table"]),
    ("Doors", ["python", "web", "redis", "databases", "scale"]),
    ("Inside", ["architecture", "format", "keys", "hash", "models", "performance", "platforms", "mutation"]),
]
MANUALS = [("tamis.1", "tamis(1), the command"), ("tamis.3", "tamis(3), the library"), ("tamis-format.5", "tamis-format(5), files")]
faults = []


class Site:
    def __init__(self, output):
        self.output = output
        self.search = []
        self.pages = {}  # path in the repository -> (name of the page, title)

    def add(self, source, name, title):
        self.pages[str(source)] = (name, title)

    def link(self, source, target):
        """Where a link of a file of the repository leads on the site."""
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return target
        path, mark, anchor = target.partition("#")
        found = (ROOT / source).parent.joinpath(path).resolve()
        try:
            inside = str(found.relative_to(ROOT))
        except ValueError:
            inside = None
        if inside in self.pages:
            return self.pages[inside][0] + mark + anchor
        if inside and inside.startswith("docs/figures/") and found.is_file():
            return "figures/" + found.name
        if inside and found.is_file():
            name = "files/" + inside + ("" if found.suffix == ".txt" else ".txt")
            copy = self.output / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(found, copy)
            return name
        faults.append(f"{source}: the link {target} leads nowhere")
        return target

    def index(self, url, title, page, text):
        text = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", text))).strip().lower()
        self.search.append([url, html.unescape(title), page, text[:1500]])


def navigation(site, current):
    out = []
    titles = {name: title for name, title in site.pages.values()}
    groups = [(name, [f"{page}.html" for page in pages]) for name, pages in GROUPS]
    listed = {page for _, pages in groups for page in pages}
    rest = [name for path, (name, _) in site.pages.items() if path.startswith("docs/") and path.endswith(".md") and name not in listed]
    groups += [("More", rest + ["contributing.html", "changelog.html"]),
               ("Reference", ["reference.html"] + [f"reference-{h[:-2]}.html" for h in HEADERS] + [f"man-{m}.html" for m, _ in MANUALS])]
    for group, pages in groups:
        items = []
        for page in pages:
            if page not in titles:
                continue
            here = ' aria-current="page"' if page == current else ""
            items.append(f'<li><a href="{page}"{here}>{html.escape(short(titles[page]))}</a></li>')
        if items:
            out.append(f"<h2>{group}</h2><ul>{''.join(items)}</ul>")
    return "".join(out)


def short(title):
    return re.split(r": | – ", title)[0]


def frame(site, name, title, body, active="", scripts="", head=""):
    doors = [("planner.html", "Planner"), ("set.html", "Try a set"), ("docs.html", "Docs"), ("reference.html", "Reference")]
    links = "".join("<a href=\"%s\"%s>%s</a>" % (url, " aria-current=\"page\"" if url == active else "", text) for url, text in doors)
    page = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="connect-src 'none'; form-action 'none'; object-src 'none'">
<title>{html.escape(title)}</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='6.5' fill='none' stroke='%230072b2' stroke-width='2'/%3E%3Cpath d='M3 6h10M3 10h10M6 3v10M10 3v10' stroke='%230072b2'/%3E%3C/svg%3E">
<link rel="stylesheet" href="style.css">{head}
<script src="site.js"></script>
</head>
<body>
<a class="skip" href="#main">To the content</a>
<header class="bar"><div><a class="name" href="index.html">tamis</a><nav aria-label="Site">{links}</nav>
<div class="search"><input id="search-box" type="search" placeholder="Search  /" aria-label="Search" autocomplete="off" data-index="search-index.js" data-root="">
<ul id="search-results" aria-label="Results"></ul></div>
<button type="button" class="theme" aria-label="Light or dark" title="Light or dark">◐</button></div></header>
<main id="main">{body}</main>
<footer><div>tamis {site.version}, MIT licence. Plots by uPlot (<a href="uplot-licence.txt">licence</a>).</div></footer>
{scripts}</body>
</html>
"""
    (site.output / name).write_text(page, encoding="utf-8")


def text_page(site, name, title, content, headings, active="docs.html"):
    contents = "".join(f'<li><a href="#{anchor}">{text}</a></li>' for anchor, text in headings)
    toc = f'<nav class="side toc" aria-label="On this page"><h2>On this page</h2><ul>{contents}</ul></nav>' if contents else ""
    body = f"""<div class="pages"><nav class="side" aria-label="Pages">{navigation(site, name)}</nav>
<article class="text">{content}</article>{toc}</div>"""
    frame(site, name, f"{title} – tamis", body, active)


def index_headings(site, name, title, content):
    """A page's parts, by its headings, for the search."""
    parts = re.split(r'(<h[1-3] id="[^"]+">.*?</h[1-3]>)', content, flags=re.S)
    anchor, heading = "", title
    for part in parts:
        found = re.match(r'<h([1-3]) id="([^"]+)">(.*?)</h\1>', part, re.S)
        if found:
            anchor = "" if found.group(1) == "1" else "#" + found.group(2)
            heading = re.sub(r"<[^>]+>", "", found.group(3))
        elif part.strip():
            site.index(name + anchor, heading, title, part)


def markdown_page(site, source):
    name, title = site.pages[source]
    text = (ROOT / source).read_text(encoding="utf-8")
    converter = markdown.Markdown(extensions=["tables", "fenced_code", "sane_lists", TocExtension(slugify=slug)])
    converter.preprocessors.deregister("html_block")  # the documents have no HTML; what looks like it is text
    converter.inlinePatterns.deregister("html")
    content = converter.convert(text)
    content = re.sub(r'(<(?:a|img)\b[^>]*?\b(?:href|src)=")([^"]+)"',
                     lambda m: m.group(1) + html.escape(site.link(source, html.unescape(m.group(2)))) + '"', content)
    content = re.sub(r' style="text-align: (left|right|center);?"', lambda m: f' align="{m.group(1)}"', content)
    content = content.replace(' align="left"', "").replace(' align="right"', ' class="right"').replace(' align="center"', "")
    content = content.replace("<pre>", '<pre tabindex="0">')
    headings = re.findall(r'<h2 id="([^"]+)">(.*?)</h2>', content, re.S)
    index_headings(site, name, title, content)
    text_page(site, name, title, content, [(a, re.sub(r"<[^>]+>", "", t)) for a, t in headings])


def slug(value, separator):
    """The anchors of the hosts that show Markdown, so that links are the same everywhere."""
    return re.sub(r"\s", separator, re.sub(r"[^\w\s-]", "", value.strip().lower()))


# ---- the headers ----

def inner(node):
    """The text of an XML element of Doxygen, as HTML."""
    out = [linked(node.text)]
    for child in node:
        out.append(element(child))
        out.append(linked(child.tail))
    return "".join(out)


def linked(words):
    """Text, in which names of the interface lead to their description."""
    return re.sub(r"\btamis_\w+", lambda m: f'<a href="{members[m.group()]}">{m.group()}</a>' if m.group() in members else m.group(),
                  html.escape(words or "", quote=False))


def element(node):
    tag = node.tag
    if tag == "para":
        blocks = [i for i, child in enumerate(node) if child.tag in ("itemizedlist", "orderedlist", "verbatim", "programlisting", "preformatted",
                                                                     "simplesect", "parameterlist", "table")]
        if not blocks:
            return f"<p>{inner(node)}</p>"
        # Blocks are not allowed within a paragraph: it ends before them.
        out, now = [], linked(node.text)
        for i, child in enumerate(node):
            if i in blocks:
                out += [f"<p>{now}</p>" if now.strip() else "", element(child)]
                now = linked(child.tail)
            else:
                now += element(child) + linked(child.tail)
        return "".join(out) + (f"<p>{now}</p>" if now.strip() else "")
    if tag in ("verbatim", "preformatted"):
        return f'<pre tabindex="0">{html.escape("".join(node.itertext()), quote=False)}</pre>'
    if tag == "programlisting":
        lines = [listing(line) for line in node.findall("codeline")]
        return f'<pre tabindex="0">{html.escape(chr(10).join(lines), quote=False)}</pre>'
    if tag == "ref":
        anchor = (node.text or "").strip("()")
        target = members.get(anchor)
        words = html.escape("".join(node.itertext()), quote=False)
        return f'<a href="{target}">{words}</a>' if target else words
    simple = {"computeroutput": "code", "itemizedlist": "ul", "orderedlist": "ol", "listitem": "li", "bold": "strong", "emphasis": "em"}
    if tag in simple:
        return f"<{simple[tag]}>{inner(node)}</{simple[tag]}>"
    return {"linebreak": "<br>", "ndash": "–", "mdash": "—", "sp": " "}.get(tag) or inner(node)


def listing(line):
    out = []
    for part in line.iter():
        if part.tag == "sp":
            out.append(" ")
        if part.text:
            out.append(part.text)
        if part is not line and part.tail:
            out.append(part.tail)
    return "".join(out).rstrip()


def described(member):
    return "".join(inner(member.find(part)) for part in ("briefdescription", "detaileddescription"))


def declaration(member):
    kind = member.get("kind")
    name = member.findtext("name")
    plain = lambda node: re.sub(r"\s+", " ", "".join(node.itertext())).strip() if node is not None else ""
    if kind == "define":
        args = [param.findtext("defname") for param in member.findall("param")]
        args = f"({', '.join(a for a in args if a)})" if args and args[0] else ""
        value = plain(member.find("initializer"))
        return f"#define {name}{args} {value}" if len(value) < 80 else f"#define {name}{args}"
    if kind == "enum":
        values = []
        for value in member.findall("enumvalue"):
            about = re.sub(r"\s+", " ", "".join("".join(value.find(p).itertext()) for p in ("briefdescription", "detaileddescription"))).strip()
            values.append((f"    {value.findtext('name')} {plain(value.find('initializer'))},", about))
        width = min(max((len(v) for v, _ in values), default=0) + 1, 44)
        lines = [f"{v:<{width}}/* {about} */" if about else v for v, about in values]
        return f"typedef enum {name} {{\n" + "\n".join(lines) + f"\n}} {name};"
    definition = re.sub(r"\b(TAMIS_API|TAMIS_MUST_CHECK|TAMIS_MODEL_API)\b *", "", member.findtext("definition") or name)
    text = definition + (member.findtext("argsstring") or "") + ";"
    if kind == "function" and len(text) > 82:
        head, _, args = text.partition("(")
        text = head + "(\n    " + ",\n    ".join(re.split(r", (?![^()]*\))", args[:-2])) + ");"
    return text


def struct(folder, name):
    """A struct as it is written, its members with what they are."""
    lines = []
    for path in folder.glob("struct*.xml"):
        compound = tree.parse(path).getroot().find("compounddef")
        if compound.findtext("compoundname") != name:
            continue
        for member in compound.iter("memberdef"):
            about = re.sub(r"\s+", " ", "".join("".join(member.find(p).itertext()) for p in
                                                ("briefdescription", "detaileddescription"))).strip()
            text = "    " + (member.findtext("definition") or "").replace(name + "::", "") + (member.findtext("argsstring") or "") + ";"
            lines += wrap(about, "    ") + [text] if about else [text]
        return (f"typedef struct {name} {{\n" + "\n".join(lines) + f"\n}} {name};",
                "".join(inner(compound.find(part)) for part in ("briefdescription", "detaileddescription")))
    return None, ""


def wrap(text, indent, width=84):
    lines, now = [], indent + "/*"
    for word in text.split():
        if len(now) + len(word) + 1 > width:
            lines.append(now)
            now = indent + " *"
        now += " " + word
    return lines + [now + " */"]


members = {}


def header_page(site, folder, header):
    stem = header[:-2]
    name = f"reference-{stem}.html"
    root = tree.parse(folder / f"{stem}_8h.xml").getroot().find("compounddef")
    title = f"tamis/{header}"
    out = [f"<h1>{title}</h1>{described(root)}"]
    headings, seen = [], set()
    structs = [node.text for node in root.findall("innerclass")]
    site.index(name, title, "Reference", described(root))
    line = lambda section: min((int(member.find("location").get("line")) for member in section.findall("memberdef")), default=0)
    for section in sorted(root.findall("sectiondef"), key=line):
        heading = section.findtext("header") or {"define": "Macros", "typedef": "Types", "enum": "Enumerations", "func": "Functions",
                                                  "var": "Variables"}.get(section.get("kind"), "Others")
        anchor = slug(heading, "-")
        while anchor in seen:
            anchor += "-2"
        seen.add(anchor)
        about = section.find("description")
        part = [f'<h2 id="{anchor}">{html.escape(heading)}</h2>', inner(about) if about is not None else ""]
        for member in section.findall("memberdef"):
            one = member.findtext("name")
            if one in seen or re.fullmatch(r"TAMIS_\w+_H", one) or one.startswith("__"):
                continue
            seen.add(one)
            text = declaration(member)
            about = described(member)
            if one in structs:
                structs.remove(one)
                whole, more = struct(folder, one)
                text, about = whole or text, more or about
            part.append(f'<section class="member" id="{one}"><h3>{one}</h3><pre tabindex="0">{html.escape(text, quote=False)}</pre>{about}</section>')
            site.index(f"{name}#{one}", one, title, about)
        if len(part) > 2:
            headings.append((anchor, html.escape(heading)))
            out += part
    if structs:
        out.append('<h2 id="structs">Structs</h2>')
        headings.append(("structs", "Structs"))
        for one in structs:
            whole, about = struct(folder, one)
            if whole and one not in seen:
                seen.add(one)
                out.append(f'<section class="member" id="{one}"><h3>{one}</h3><pre tabindex="0">{html.escape(whole, quote=False)}</pre>{about}</section>')
                site.index(f"{name}#{one}", one, title, about)
    text_page(site, name, title, "".join(out), headings, "reference.html")


def collect_members(folder):
    for header in HEADERS:
        root = tree.parse(folder / f"{header[:-2]}_8h.xml").getroot()
        for name in [m.findtext("name") for m in root.iter("memberdef")] + [n.text for n in root.iter("innerclass")]:
            members.setdefault(name, f"reference-{header[:-2]}.html#{name}")


# ---- the rest ----

def manual_page(site, manual, title):
    made = subprocess.run(["mandoc", "-T", "html", "-O", "fragment", str(ROOT / "docs/man" / manual)],
                          check=True, capture_output=True, text=True).stdout
    name = f"man-{manual}.html"
    made = re.sub(r'<table class="(head|foot)">.*?</table>', "", made, flags=re.S)
    made = re.sub(r"<(/?)h1\b", r"<\1h2", re.sub(r"<(/?)h2\b", r"<\1h3", made))
    made = re.sub(r'<h([23]) class="S[hs]" id="([^"]+)"><a class="permalink" href="[^"]*">(.*?)</a></h\1>', r'<h\1 id="\2">\3</h\1>', made, flags=re.S)
    made = made.replace("<pre>", '<pre tabindex="0">')
    headings = re.findall(r'<h2 id="([^"]+)">(.*?)</h2>', made, re.S)
    content = f"<h1>{title}</h1>{made}"
    index_headings(site, name, title, content)
    text_page(site, name, title, content, headings, "reference.html")


def reference_page(site, folder):
    rows = []
    for header in HEADERS:
        root = tree.parse(folder / f"{header[:-2]}_8h.xml").getroot().find("compounddef")
        brief = "".join(root.find("briefdescription").itertext()).strip()
        rows.append(f'<tr><td><a href="reference-{header[:-2]}.html">tamis/{header}</a></td><td>{html.escape(brief)}</td></tr>')
    manuals = "".join(f'<li><a href="man-{m}.html">{t}</a></li>' for m, t in MANUALS)
    content = f"""<h1>Reference</h1><p>The headers are the manual; these pages are made from them. Search finds every function by its name.</p>
<h2 id="headers">Headers</h2><table><tbody>{''.join(rows)}</tbody></table><h2 id="manuals">Manual pages</h2><ul>{manuals}</ul>
<h2 id="others">Other languages</h2><ul><li><a href="python.html">Python</a></li><li><a href="{site.link('docs/x.md', '../integrations/web/tamis.d.ts')}">JavaScript:
tamis.d.ts</a>, described in <a href="web.html">web</a></li><li><a href="{site.link('docs/x.md', '../include/tamis/tamis.hpp')}">C++: tamis.hpp</a></li></ul>"""
    text_page(site, "reference.html", "Reference", content, [], "reference.html")


def home(site):
    doors = [("planner.html", "Planner", "say what you need, see what every structure costs"),
             ("set.html", "Try a set", "a file of keys becomes a set, here in the browser"),
             ("guide.html", "Guide", "four worked examples, from storage to operations"),
             ("man-tamis.1.html", "Command line", "tamis plan, build, query, uniq"),
             ("reference.html", "C and C++", "the headers, function by function"),
             ("python.html", "Python", "the same sets, with in and len"),
             ("redis.html", "Redis and Valkey", "a module for the server that is there"),
             ("web.html", "node and browsers", "the library as WebAssembly"),
             ("models.html", "The analysis", "what is promised, and where it was confirmed")]
    items = "".join(f'<li><a href="{url}"><strong>{name}</strong><span>{about}</span></a></li>' for url, name, about in doors)
    body = f"""<div class="hero"><div><h1>Compact sets that change</h1>
<p>A C library and a command that answer <em>is this key in the set?</em> from a few bits per key. Never wrong for a key that is in; for
others wrong with a probability that is <strong>promised</strong> before the set is built, <strong>computed</strong> from its parameters and
<strong>measured</strong> by the tests.</p>
<p class="row"><a class="button primary" href="planner.html">Plan a set</a> <a class="button" href="readme.html">Read on</a></p></div>
<a href="figures/{HERO}"><img src="figures/{HERO}" alt="Error rate against bits per key of line, steady, Bloom and others"></a></div>
<ul class="doors">{items}</ul>"""
    frame(site, "index.html", "tamis – compact sets that change", body)


HERO = "errors.svg"
DIGITS = "".join(base64.b85encode(bytes([0, 0, 0, i])).decode()[-1] for i in range(85))


def application(site, package, modules):
    """The planner and the sets.  The module is inside of a script, so that it needs no fetch."""
    module = (package / "tamis.wasm").read_bytes()
    plain = (package / "tamis.js").read_text(encoding="utf-8")
    plain = re.sub(r"^export ", "", plain, flags=re.M).replace("import.meta.url", "location.href")
    # Comments and indentation stay in the sources.
    comments = lambda code: re.sub(r"^\s*(//.*\n|\n)?", "", re.sub(r"/\*.*?\*/\n?", "", code, flags=re.S), flags=re.M)
    worker = comments(plain + (HERE / "worker.js").read_text(encoding="utf-8"))
    packed = gzip.compress(module + worker.encode(), 9, mtime=0)
    inside = {"text": base64.b85encode(packed, pad=True).decode(), "digits": DIGITS, "size": len(packed), "moduleSize": len(module)}
    (site.output / "engine.js").write_text(f"window.TAMIS_ENGINE = {json.dumps(inside)};\n" +
                                           comments((HERE / "engine.js").read_text(encoding="utf-8")), encoding="utf-8")
    shutil.copyfile(modules / "uplot/dist/uPlot.iife.min.js", site.output / "uplot.js")
    shutil.copyfile(modules / "uplot/dist/uPlot.min.css", site.output / "uplot.css")
    shutil.copyfile(modules / "uplot/LICENSE", site.output / "uplot-licence.txt")
    for name in ("planner.js", "set.js", "site.js"):
        (site.output / name).write_text(comments((HERE / name).read_text(encoding="utf-8")), encoding="utf-8")
    style = comments((HERE / "style.css").read_text(encoding="utf-8"))
    (site.output / "style.css").write_text(re.sub(r"\s*([{};,])\s*", r"\1", style), encoding="utf-8")
    frame(site, "planner.html", "Planner – tamis", (HERE / "planner.html").read_text(encoding="utf-8"), "planner.html",
          '<script src="uplot.js"></script><script src="engine.js"></script><script src="planner.js"></script>',
          '\n<link rel="stylesheet" href="uplot.css">')
    frame(site, "set.html", "Try a set – tamis", (HERE / "set.html").read_text(encoding="utf-8"), "set.html",
          '<script src="engine.js"></script><script src="set.js"></script>')
    site.index("planner.html", "Planner", "Planner", "plan a set: keys, error rate, bytes, deletes, calculator")
    site.index("set.html", "Try a set", "Try a set", "make a set from a file of keys in the browser, leaked passwords")


def title_of(path):
    return re.search(r"^# (.+)$", path.read_text(encoding="utf-8"), re.M).group(1).replace("`", "")


def main():
    package, modules, folder, output = (pathlib.Path(arg).resolve() for arg in sys.argv[1:])
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    site = Site(output)
    version = re.findall(r"^#define TAMIS_VERSION_\w+ (\d+)", (ROOT / "include/tamis/tamis.h").read_text(), re.M)
    site.version = ".".join(version[:3])
    documents = sorted(path.name for path in (ROOT / "docs").glob("*.md"))
    for name in documents:
        page = "planning.html" if name == "planner.md" else name[:-3] + ".html"  # planner.html is the planner itself
        site.add(f"docs/{name}", page, title_of(ROOT / "docs" / name))
    site.add("README.md", "readme.html", "tamis")
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        site.add(name, name[:-3].lower() + ".html", title_of(ROOT / name))
    for path in ("bindings/python/README.md", "integrations/web/README.md", "packaging/README.md", "tests/golden/README.md"):
        if (ROOT / path).is_file():
            site.add(path, path.replace("/README.md", "").replace("/", "-") + ".html", title_of(ROOT / path))
    for header in HEADERS:
        site.add(f"include/tamis/{header}", f"reference-{header[:-2]}.html", f"tamis/{header}")
    for manual, title in MANUALS:
        site.add(f"docs/man/{manual}", f"man-{manual}.html", title)
    site.add("reference", "reference.html", "Overview")
    shutil.copytree(ROOT / "docs/figures", output / "figures")
    collect_members(folder)
    for source in [path for path in site.pages if path.endswith(".md")]:
        markdown_page(site, source)
    for header in HEADERS:
        header_page(site, folder, header)
    for manual, title in MANUALS:
        manual_page(site, manual, title)
    reference_page(site, folder)
    home(site)
    shutil.copyfile(output / "guide.html", output / "docs.html")
    application(site, package, modules)
    (output / "search-index.js").write_text("window.TAMIS_SEARCH = " + json.dumps(site.search, ensure_ascii=False) + ";\n", encoding="utf-8")
    if faults:
        sys.exit("build.py: " + "\nbuild.py: ".join(faults))
    pages = len(list(output.glob("*.html")))
    planner = sum((output / name).stat().st_size for name in
                  ("planner.html", "style.css", "site.js", "uplot.js", "uplot.css", "engine.js", "planner.js"))
    print(f"{output}/index.html: {pages} pages; the planner has {planner} bytes in all")


if __name__ == "__main__":
    main()
