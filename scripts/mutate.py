#!/usr/bin/env python3
"""mutate.py [OPTION...] [FILE...] - does the suite notice when the code is wrong?

Each mutant is the library with one change: a constant (off by one, a flipped bit, doubled or halved), a
comparison (< for <=, == for !=, ...) or a sign (+ for -, ++ for --, a minus less).  It is compiled and the C
tests (unit, golden, robust, model) are run until one fails.

    killed      a test failed, crashed or did not end
    survived    all tests passed: a hole in the suite, or a change that changes no result
    equivalent  the object code is what it was
    refused     the compiler does not take it

The sample is drawn from a seed: first one change of each sort in every file, then further ones.  What was
found out is kept in the output folder, so that a run that was stopped goes on where it was; a file that has
changed since is done anew.

How it is fast: all tests are linked with one shared library, so that a mutant costs one compilation and one
link.  A first run with line counters (gcov) tells which test executes which line; only these are run, the
quickest first.  A line that no test executes is a survivor at once.

Not looked at: assertions, prefetches, comments, text, conditions of the preprocessor.

SPDX-License-Identifier: MIT
"""
import argparse
import collections
import concurrent.futures
import glob
import gzip
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import subprocess
import sys
import threading
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
ROOMS = ("filter", "plan", "model", "file", "table")
TESTS = ("unit", "golden", "robust", "model")
NO_KERNELS = re.compile(r"^unit_(base|permute|plan|plan_needs|plan_order|grow|grow_merge|refresh|summary|summary_kinds|table"
                        r"|table_plan|threads)$")
CPU_OFF = "avx2,bmi2,popcnt"
CC = os.environ.get("CC", "cc")
FLAGS = ["-std=c11", "-O1", "-fPIC", "-w", "-DTAMIS_TESTING=1", "-DNDEBUG",
         f"-DTAMIS_SOURCE_DIR=\"{SOURCE}\"", "-Iinclude", "-Isrc", "-Itests"]
LIBRARIES = ["-lcmocka", "-lm", "-lpthread"]
MEMORY = 8 << 30
RESULTS = ("killed", "survived", "equivalent", "refused")

TOKEN = re.compile(r"""
    (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<directive>(?m:^)[ ]*\#[ ]*(?!define)\w+(?:/\*.*?\*/|\\\n|[^\n])*)
  | (?P<define>(?m:^)[ ]*\#[ ]*define[ ]+\w+(?:\([^)]*\))?)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<number>(?:0[xX][0-9a-fA-F]+|[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?\.?)\w*)
  | (?P<space>\s+)
  | (?P<sign><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.X | re.S)
COMPARISONS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",),
               "!=": ("==",)}
SIGNS = {"+": "-", "-": "+", "+=": "-=", "-=": "+=", "++": "--", "--": "++"}
SKIPPED = re.compile(r"^(TAMIS_(I_)?ASSERT\w*|_?[Ss]tatic_assert|_Static_assert|assert|TAMIS_PREFETCH\w*|__attribute__)$")


def fail(text):
    sys.exit(f"mutate.py: {text}")


def files_like(*patterns):
    """The files of the project that fit one of the patterns."""
    return sorted({f for p in patterns for f in glob.glob(p, root_dir=SOURCE) if (SOURCE / f).is_file()})


def library_sources():
    """As in CMakeLists.txt: a folder in a room is a family of processors."""
    return files_like("src/*/*.c", "src/*/*/*.c")


# --- mutants ------------------------------------------------------------------------------------------


def other_number(text, draw):
    """Another constant in the place of 'text'; None if it is left alone."""
    m = re.match(r"^(0[xX][0-9a-fA-F]+|[0-9]+)([uUlL]*)$", text)
    if m:
        value = int(m.group(1), 16 if m.group(1)[:2] in ("0x", "0X") else 10)
        if value > 0xffff:  # a mask or a factor: one bit
            value ^= 1 << draw.randrange(value.bit_length())
            return f"{value:#x}{m.group(2)}"
        return f"{value + draw.choice((1, -1) if value > 0 else (1,))}{m.group(2)}"
    try:
        value = float(text)
    except ValueError:
        return None
    return repr(value * draw.choice((2, 0.5))) if value != 0 else "1.0"


def code_of(text):
    """The tokens of a file that may be changed, as (offset, group, token, the token before)."""
    found, before, depth = [], "", 0
    skipping = False  # within the brackets of an assertion or the like
    for m in TOKEN.finditer(text):
        group, token = m.lastgroup, m.group()
        if group in ("comment", "space", "directive", "string"):
            continue
        if group == "define":
            before, skipping = "", False
            continue
        if skipping:
            depth += {"(": 1, ")": -1}.get(token, 0)
            skipping = depth > 0
            before = token
            continue
        if group == "word" and SKIPPED.match(token):
            skipping, depth = True, 0
            # up to the bracket that opens it
            if not text[m.end():].lstrip().startswith("("):
                skipping = False
        elif group in ("number", "sign"):
            found.append((m.start(), group, token, before))
        before = token
    return found


def changes_of(text, draw):
    """Every place that may be changed, by sort: (offset, length, what stands there instead)."""
    changes = {"constant": [], "comparison": [], "sign": []}
    for at, group, token, before in code_of(text):
        binary = bool(re.match(r"[\w)\]]", before[-1:])) and before not in ("return", "case")
        if group == "number":
            new = other_number(token, draw)
            if new is not None:
                changes["constant"].append((at, len(token), new))
        elif token in COMPARISONS:
            changes["comparison"].append((at, len(token), draw.choice(COMPARISONS[token])))
        elif token in ("+", "-") and not binary:
            if token == "-":
                changes["sign"].append((at, 1, " "))
        elif token in SIGNS:
            changes["sign"].append((at, len(token), SIGNS[token]))
    return changes


def sample(files, n, seed):
    """n mutants: rounds over all files and sorts, each in an order of its own."""
    draw = random.Random(seed)
    places = {}
    for file in files:
        text = (SOURCE / file).read_text()
        for sort, changes in changes_of(text, draw).items():
            draw.shuffle(changes)
            places[file, sort] = changes
    chosen = []
    while len(chosen) < n and any(places.values()):
        turn = [key for key, changes in places.items() if changes]
        draw.shuffle(turn)
        chosen += [make_mutant(file, sort, *places[file, sort].pop()) for file, sort in turn]
    return chosen[:n]


def make_mutant(file, sort, at, length, new):
    text = (SOURCE / file).read_text()
    changed = text[:at] + new + text[at + length:]
    line = text.count("\n", 0, at)
    column = at - text.rfind("\n", 0, at)
    return {"file": file, "line": line + 1, "column": column, "sort": sort, "old": text[at:at + length],
            "new": new.strip() or "(nothing)", "before": text.split("\n")[line].strip(),
            "after": changed.split("\n")[line].strip(), "text": changed,
            "id": hashlib.sha256(f"{file} {at} {new} {text}".encode()).hexdigest()[:16]}


# --- building and running -----------------------------------------------------------------------------


def run(command, **options):
    return subprocess.run(command, cwd=SOURCE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          **options)


def compile_to(source, out, flags, first=()):
    """Compile; 'first' are folders that come before all others.  The output of the compiler if it failed."""
    done = run([CC, *[f"-I{folder}" for folder in first], *FLAGS, *flags, "-MMD", "-MF", f"{out}.d", "-c", str(source),
                "-o", str(out)])
    return None if done.returncode == 0 else done.stdout.decode(errors="replace")


def needs_of(out):
    """The files of this project that an object was made from."""
    words = pathlib.Path(f"{out}.d").read_text().replace("\\\n", " ").split()[1:]
    return {w for w in words if not w.startswith("/")}


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Test:
    """A test program, with all CPU features or none."""

    def __init__(self, program, name, off):
        self.program, self.off = program, off
        self.name = name + ("-off" if off else "")
        self.seconds = self.last = 0.0

    def run(self, program, library, where, timeout, extra=None):
        """'passed', or how it failed."""
        env = dict(os.environ, LD_LIBRARY_PATH=str(library), TMPDIR=str(where), **(extra or {}))
        if self.off:
            env["TAMIS_CPU_OFF"] = CPU_OFF
        begin = time.monotonic()
        with subprocess.Popen([str(program)], cwd=where, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limits,
                              start_new_session=True) as process:
            try:
                code = process.wait(timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                return f"no end after {timeout:.0f} s"
        self.last = time.monotonic() - begin
        return "passed" if code == 0 else f"exit code {code}" if code > 0 else f"signal {-code}"


class Bench:
    """The library and the tests, compiled, with what is known of them."""

    def __init__(self, out, jobs, slowest, say):
        self.out, self.jobs, self.slowest, self.say = out, jobs, slowest, say
        self.objects, self.tests = {}, []
        for folder in ("objects", "tests", "counted", "run"):
            (out / folder).mkdir(parents=True, exist_ok=True)

    def all(self, function, items):
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(function, items))

    def compile_all(self, folder, flags):
        """All objects of the library, those that are out of date."""
        def one(source):
            out = self.out / folder / source.replace("/", "_").replace(".c", ".o")
            if not self.fresh(out):
                text = compile_to(source, out, flags)
                if text is not None:
                    fail(f"{source} does not compile\n{text}")
            return source, out
        return dict(self.all(one, library_sources()))

    def fresh(self, out):
        try:
            made = out.stat().st_mtime
            return all((SOURCE / need).stat().st_mtime < made for need in needs_of(out))
        except FileNotFoundError:
            return False

    def link(self, objects, library, flags=()):
        done = run([CC, "-shared", "-Wl,-z,defs", *flags, *map(str, objects), "-lm", "-o", str(library)])
        return done.returncode == 0 or fail(f"{library} cannot be linked\n{done.stdout.decode()}")

    def link_test(self, objects, program, library):
        done = run([CC, *map(str, objects), f"-L{library}", "-ltamis", *LIBRARIES, "-o", str(program)])
        return done.returncode == 0 or fail(f"{program} cannot be linked\n{done.stdout.decode()}")

    def build(self):
        self.objects = self.compile_all("objects", [])
        self.library = self.out / "library"
        self.library.mkdir(exist_ok=True)
        self.link(self.objects.values(), self.library / "libtamis.so")
        self.support = self.out / "tests" / "support.o"
        if not self.fresh(self.support) and compile_to("tests/support.c", self.support, []) is not None:
            fail("tests/support.c does not compile")
        sources = files_like(*[f"tests/{room}/test_*.c" for room in TESTS])

        def one(source):
            room, stem = source.split("/")[1], pathlib.Path(source).stem[5:]
            name = stem if stem.startswith(f"{room}_") or stem == room else f"{room}_{stem}"
            program = self.out / "tests" / name
            if not self.fresh(pathlib.Path(f"{program}.o")) or not program.exists():
                text = compile_to(source, f"{program}.o", [])
                if text is not None:
                    fail(f"{source} does not compile\n{text}")
                self.link_test([f"{program}.o", self.support], program, self.library)
            off = [False, True] if room == "unit" and not NO_KERNELS.match(name) else [False]
            return [Test(program, name, o) for o in off]
        self.tests = [test for tests in self.all(one, sources) for test in tests]
        self.key = hashlib.sha256("".join((SOURCE / path).read_text() for path in files_like(
            "src/*/*", "src/*/*/*", "include/tamis/*", "tests/*.[ch]", "tests/*/*.[ch]")).encode()).hexdigest()

    # --- which test executes which line

    def learn(self, count):
        """Run all tests unchanged: how long they take, and which lines they execute.  Kept test by test."""
        memory = self.out / "learned.json"
        what = {"key": self.key, "slowest": self.slowest, "counted": count}
        known = json.loads(memory.read_text()) if memory.exists() else {}
        if {k: known.get(k) for k in what} != what:
            known = dict(what, seconds={}, lines={}, functions={}, left=[])
        new = [t for t in self.tests if t.name not in known["seconds"] and t.name not in known["left"]]
        if not new:
            self.take(known)
            return
        self.say(f"running {len(new)} tests unchanged")
        if count:
            objects = self.compile_all("counted", ["--coverage", "-fprofile-abs-path"])
            library = self.out / "counted" / "library"
            library.mkdir(exist_ok=True)
            self.link(objects.values(), library / "libtamis.so", ["--coverage"])
        lock = threading.Lock()

        def one(test):
            where = self.out / "run" / f"learn-{test.name}"
            where.mkdir(exist_ok=True)
            data = where / "counts"
            extra = {"GCOV_PREFIX": str(data), "GCOV_PREFIX_STRIP": "0"}
            result = test.run(test.program, self.library, where, self.slowest)
            seconds, lines, functions = test.last, None, {}
            if result == "passed" and count:
                if test.run(test.program, library, where, 20 * self.slowest, extra) == "passed":
                    lines, functions = self.counts(data)
                else:
                    self.say(f"{test.name} fails where lines are counted; it is run for every line")
            run(["rm", "-rf", str(where)])
            with lock:
                if result != "passed":
                    known["left"].append(test.name)
                    self.say(f"left out: {test.name}: {result}")
                else:
                    known["seconds"][test.name] = round(seconds, 2)
                    if lines is not None:
                        known["lines"][test.name] = lines
                        known["functions"].update(functions)
                memory.write_text(json.dumps(known))
        self.all(one, new)
        self.take(known)

    def counts(self, data):
        """The lines of each file that were executed, and the functions of each file."""
        work = data / "gcov"
        work.mkdir(parents=True, exist_ok=True)
        for path in data.rglob("*.gcda"):
            # gcov looks for the notes of the compiler beside the counts
            notes = pathlib.Path("/") / path.relative_to(data).with_suffix(".gcno")
            if not path.with_suffix(".gcno").exists():
                path.with_suffix(".gcno").symlink_to(notes)
        subprocess.run(["gcov", "--json-format", *map(str, data.rglob("*.gcda"))], cwd=work, check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lines, functions = collections.defaultdict(set), collections.defaultdict(set)
        for path in work.glob("*.gcov.json.gz"):
            for file in json.loads(gzip.decompress(path.read_bytes()))["files"]:
                try:
                    name = str(pathlib.Path(SOURCE, file["file"]).resolve().relative_to(SOURCE))
                except ValueError:
                    continue
                lines[name].update(line["line_number"] * (1 if line["count"] > 0 else -1)
                                   for line in file["lines"])
                functions[name].update((f["start_line"], f["end_line"]) for f in file["functions"])
        return ({name: sorted(found) for name, found in lines.items()},
                {name: sorted(found) for name, found in functions.items()})

    def take(self, known):
        for test in self.tests:
            test.seconds = known["seconds"].get(test.name)
        self.tests = sorted((t for t in self.tests if t.seconds is not None), key=lambda t: t.seconds)
        self.lines, self.functions = known["lines"], known["functions"]
        self.say(f"{len(self.tests)} tests, {sum(t.seconds for t in self.tests):.0f} s; "
                 f"left out: {' '.join(known['left']) or 'none'}")

    def tests_for(self, mutant):
        """The tests that execute its line, or, outside of functions, any line of its file.  A header without code
        has no lines that are counted: then it is any line of a file that takes it in."""
        file, line = mutant["file"], mutant["line"]
        if not any(file in lines for lines in self.lines.values()):
            users = [source for source, out in self.objects.items() if file in needs_of(out)]
            return [t for t in self.tests if t.name not in self.lines or
                    any(n > 0 for user in users for n in self.lines[t.name].get(user, ()))]
        inside = any(first <= line <= last for first, last in self.functions.get(file, ()))
        chosen = []
        for test in self.tests:
            if test.name not in self.lines:
                chosen.append(test)
                continue
            found = self.lines[test.name].get(file, [])
            if not inside:
                take = any(n > 0 for n in found)
            else:
                # A statement of several lines is counted on its first ones.
                at = max((abs(n) for n in found if abs(n) <= line), default=0)
                take = at in found
            if take:
                chosen.append(test)
        return chosen

    # --- one mutant

    def judge(self, mutant, place):
        """Compile, link and test it in the folder 'place'.  The result and what tells of it."""
        run(["rm", "-rf", str(place)])
        for folder in ("tree", "library", "run"):
            (place / folder).mkdir(parents=True)
        changed = place / "tree" / mutant["file"]
        changed.parent.mkdir(parents=True)
        changed.write_text(mutant["text"])
        objects, differs = dict(self.objects), False
        for source, old in self.objects.items():
            if mutant["file"] not in needs_of(old):
                continue
            new = place / old.name
            whence = changed if source == mutant["file"] else SOURCE / source
            if compile_to(whence, new, [], [place / "tree/src", place / "tree/include"]) is not None:
                return "refused", ""
            differs = differs or new.read_bytes() != old.read_bytes()
            objects[source] = new
        # Tests that have the changed header compiled in are made anew.
        again = mutant["file"].endswith(".h")
        tests = self.tests_for(mutant)
        if not differs and not (again and any(mutant["file"] in needs_of(f"{t.program}.o") for t in tests)):
            return "equivalent", ""
        self.link(objects.values(), place / "library" / "libtamis.so")
        if not tests:
            return "survived", "no test executes the line"
        for test in tests:
            program = test.program
            if again and mutant["file"] in needs_of(f"{program}.o"):
                program = self.test_again(test, place)
                if program is None:
                    return "refused", ""
            result = test.run(program, place / "library", place / "run", 10 + 6 * test.seconds)
            if result != "passed":
                return "killed", f"{test.name}: {result}"
        return "survived", f"{len(tests)} tests passed"

    def test_again(self, test, place):
        program = place / test.program.name
        if not program.exists():
            source = next(n for n in needs_of(f"{test.program}.o") if re.match(r"tests/\w+/test_\w+\.c$", n))
            if compile_to(source, f"{program}.o", [], [place / "tree/src", place / "tree/include"]) is not None:
                return None
            self.link_test([f"{program}.o", self.support], program, self.library)
        return program


# --- the report ---------------------------------------------------------------------------------------


def percent(counts):
    judged = counts["killed"] + counts["survived"]
    return f"{100 * counts['killed'] / judged:.1f} %" if judged else "-"


def report(results, say):
    for what in ("room", "sort"):
        table = collections.defaultdict(collections.Counter)
        for r in results:
            name = r["file"].split("/")[1] if what == "room" else r["sort"]
            table[name][r["result"]] += 1
            if what == "room":
                table["all"][r["result"]] += 1
        say(f"\n{what:12}" + "".join(f"{name:>12}" for name in RESULTS) + f"{'killed of judged':>18}")
        for name in sorted(table, key=lambda n: (n == "all", n)):
            say(f"{name:12}" + "".join(f"{table[name][r]:12}" for r in RESULTS) + f"{percent(table[name]):>18}")
    survivors = [r for r in results if r["result"] == "survived"]
    say(f"\n{len(survivors)} survivors")
    for r in sorted(survivors, key=lambda r: (r["file"], r["line"])):
        say(f"\n{r['file']}:{r['line']}:{r['column']}: {r['old']} -> {r['new']}  ({r['detail']})")
        say(f"  - {r['before']}\n  + {r['after']}")


def arguments():
    parser = argparse.ArgumentParser(description="change the code at random places and see whether tests fail")
    parser.add_argument("-n", type=int, default=200, help="mutants (200)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (1)")
    parser.add_argument("--jobs", "-j", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--slowest", type=float, default=120, metavar="SECONDS",
                        help="leave out tests that take longer (120)")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no mutant after so long")
    parser.add_argument("--no-count", action="store_true", help="run all tests for each mutant, not those of its line")
    parser.add_argument("--again", action="store_true", help="forget what was found out before")
    parser.add_argument("--list", action="store_true", help="print the sample and judge nothing")
    parser.add_argument("--sources", action="store_true", help="print the files that a mutant is linked from, and judge nothing")
    parser.add_argument("--output", type=pathlib.Path, default=SOURCE / "build/mutate")
    parser.add_argument("files", nargs="*", help=f"the files to change (those of src/{{{','.join(ROOMS)}}})")
    return parser.parse_args()


def main():
    options = arguments()
    begin = time.monotonic()

    def say(text):
        print(text, flush=True)
    if options.sources:
        say("\n".join(library_sources()))
        return
    files = [os.path.relpath(pathlib.Path(f).resolve(), SOURCE) for f in options.files] or files_like(
        *[f"src/{room}/*.[ch]" for room in ROOMS])
    mutants = sample(files, options.n, options.seed)
    say(f"{len(mutants)} mutants of {len(files)} files, seed {options.seed}")
    if options.list:
        for m in mutants:
            say(f"{m['file']}:{m['line']}:{m['column']}: {m['old']} -> {m['new']}\n  - {m['before']}\n  + {m['after']}")
        return
    options.output.mkdir(parents=True, exist_ok=True)
    bench = Bench(options.output.resolve(), options.jobs, options.slowest, say)
    bench.build()
    bench.learn(not options.no_count)
    store = options.output / "results.json"
    known = {}
    if store.exists() and not options.again:
        # What survived fewer tests is judged again.
        known = {r["id"]: r for r in json.loads(store.read_text()) if r["key"] == bench.key and
                 (r["result"] != "survived" or r["slowest"] >= options.slowest)}
    lock, places = threading.Lock(), [bench.out / "run" / f"worker-{i}" for i in range(options.jobs)]

    def one(mutant):
        if mutant["id"] in known or time.monotonic() - begin > 60 * options.minutes:
            return
        with lock:
            place = places.pop()
        began = time.monotonic()
        result, detail = bench.judge(mutant, place)
        with lock:
            places.append(place)
            row = {k: v for k, v in mutant.items() if k != "text"}
            known[mutant["id"]] = dict(row, result=result, detail=detail, key=bench.key, slowest=options.slowest,
                                       seconds=round(time.monotonic() - began, 1))
            store.write_text(json.dumps(list(known.values()), indent=1))
            say(f"{result:10} {mutant['file']}:{mutant['line']}: {mutant['old']} -> {mutant['new']}  {detail}")
    bench.all(one, mutants)
    done = [known[m["id"]] for m in mutants if m["id"] in known]
    report(done, say)
    say(f"\n{len(done)} of {len(mutants)} mutants judged; {store}")


if __name__ == "__main__":
    main()
