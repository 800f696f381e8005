"""Everything but plain sets: plans, building, windows, shared sets, tables, pickling, records.

SPDX-License-Identifier: MIT
"""
import array
import ctypes
import dataclasses
import gc
import os
import pathlib
import pickle
import random
import re
import signal
import sys
import tempfile
import threading
import time
import unittest

import tamis
from tamis import _native, _plans

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SEED = 20081204


class Records(unittest.TestCase):
    """The structs of the headers, the native module and the classes have the same members."""

    def test_members_are_those_of_the_headers(self):
        if not (SOURCE / "include").is_dir():
            self.skipTest("no headers here")
        text = "".join((SOURCE / "include/tamis" / name).read_text()
                       for name in ("tamis.h", "plan.h", "shared.h", "window.h", "table.h"))
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        for name, members in _native.members().items():
            with self.subTest(struct=name):
                body = re.search(r"typedef struct %s \{(.*?)\n\}" % name, text, re.S).group(1)
                declared = [part.split()[-1].lstrip("*") for one in re.sub(r"\[.*?\]", "", body).split(";")[:-1]
                            for part in one.split(",")]
                self.assertEqual(set(members) | {"struct_size"}, set(declared) - {"n_loads"})

    def test_classes_have_all_members(self):
        members = _native.members()
        for cls, struct in ((tamis.Plan, "tamis_plan"), (tamis.Info, "tamis_info"),
                            (tamis.SharedPlan, "tamis_shared_plan"), (tamis.Window, "tamis_window_state"),
                            (tamis.TableInfo, "tamis_table_state")):
            self.assertEqual({f.name for f in dataclasses.fields(cls)}, set(members[struct]), struct)

    def test_limits_of_numbers(self):
        for bad in (-1, 1 << 64):
            self.assertRaises(tamis.ArgumentError, tamis.Filter, params=tamis.Params("bloom", bad))
        self.assertRaises(TypeError, tamis.Filter, params=tamis.Params("bloom", 1.5))
        self.assertRaises(TypeError, tamis.plan, 10, overshoot="much")
        self.assertRaises(tamis.ArgumentError, tamis.plan, 10, replacements=1 << 32)

    def test_refusals_name_the_member_and_its_value(self):
        for error, text, call in (
                (tamis.ArgumentError, "copies is 256, but must be 1 to 255", lambda: tamis.plan(10, copies=256)),
                (tamis.ArgumentError, "fpr is 1.5, but must be above 0 and below 1", lambda: tamis.Filter(10, 1.5)),
                (tamis.ArgumentError, "n is 2199023255552, but sets have at most 2^40 keys", lambda: tamis.plan(1 << 41)),
                (tamis.UnsupportedError, "counting-bloom has no values (value_bits is 4); these have: rank, line, steady",
                 lambda: tamis.Filter(10, kind="counting-bloom", value_bits=4)),
                (tamis.UnsupportedError, "no kind can do merges, copies of 3 and value_bits of 4 together; possible without merges, copies or value_bits",
                 lambda: tamis.plan(10, merges=True, copies=3, value_bits=4)),
                (tamis.UnsupportedError, "no kind can do merges, copies of 3 and value_bits of 4 together; possible without merges, copies or value_bits",
                 lambda: tamis.plans(10, merges=True, copies=3, value_bits=4)),
                (tamis.UnsupportedError, "a window (ticks is 5) forgets keys by itself and cannot also remove them (deletes); "
                 "possible without deletes or ticks", lambda: tamis.plan_shared(10, threads=2, ticks=5, deletes=True)),
                (tamis.ArgumentError, "hashes is 99, which is out of its range",
                 lambda: tamis.Filter(params=tamis.Params("bloom", 10, values={"hashes": 99})))):
            with self.subTest(text), self.assertRaises(error) as caught:
                call()
            self.assertEqual(str(caught.exception), text)


class Product(unittest.TestCase):
    def test_every_need_is_taken(self):
        needs = dict(deletes=True, offline=True, grows=True, copies=2, value_bits=2, order="weighted", bytes=1 << 20,
                     overshoot=0.1, lines_max=5.0, failure_max=1e-3, line_bits=2.0, replacements=50, merges=True,
                     hash="xxh3", ticks=4, search=True)
        self.assertEqual(set(_plans.NEEDS) | {"n", "fpr"}, set(_native.members()["tamis_need"]))
        rest = set(_native.members()["tamis_need"]) - set(needs) - {"n", "fpr", "kind"}
        self.assertEqual(rest, set(), "a need that this test does not know")
        for name, value in needs.items():
            with self.subTest(need=name):
                self.assertGreater(tamis.plan(1000, 0.01, **{name: value}).bytes, 0)
        self.assertEqual(tamis.plan(1000, hash="xxh3").params.hash, "xxh3")

    def test_merges_with_deletes(self):
        plan = tamis.plan(100_000, 0.01, deletes=True, merges=True)
        self.assertLessEqual({"merge", "remove"}, tamis.abilities(plan.kind))
        a = tamis.Filter(1000, 0.01, deletes=True, merges=True, seed=SEED)
        b = tamis.Filter(params=a.params)
        a.update(range(400))
        b.update(range(400, 800))
        a |= b
        self.assertEqual(a.count_many(range(800)), 800)
        a.remove(5)

    def test_build(self):
        keys = array.array("Q", range(20_000))
        f = tamis.Filter.build(keys, 0.01, kind="dleft", seed=SEED)
        plain = tamis.Filter(20_000, 0.01, kind="dleft", seed=SEED)
        plain.update(keys)
        self.assertEqual(f.count_many(keys), 20_000)
        self.assertLess(f.info().bytes, plain.info().bytes)
        wrong = f.count_many(range(20_000, 220_000))
        self.assertLessEqual(wrong, 2000 + 5 * 2000 ** 0.5)  # 5 sigma
        words = tamis.Filter.build((str(i) for i in range(100)), n=100)
        self.assertEqual(words.count_many(map(str, range(100))), 100)
        self.assertRaises(tamis.ArgumentError, tamis.Filter.build, keys, passes=-1)
        self.assertRaises(TypeError, tamis.Filter.build, keys, 0.01, params=f.params)
        again = tamis.Filter.build(keys, params=f.params)
        self.assertEqual(again.count_many(keys), 20_000)

    def test_refresh(self):
        f = tamis.Filter(params=tamis.Params("dleft-dynamic", 2000, seed=SEED))
        rng = random.Random(SEED)
        keys = list(range(2000))
        f.update(keys)
        for i in range(20_000):
            at = rng.randrange(2000)
            f.remove(keys[at])
            keys[at] = 10_000 + i
            f.add(keys[at])
        worn = f.info().fpr
        self.assertRaises(tamis.MismatchError, f.refresh, keys[1:])
        f.refresh(keys)
        self.assertLess(f.info().fpr, worn)
        self.assertEqual(f.count_many(keys), 2000)

    def test_window(self):
        f = tamis.Filter(4000, 0.001, ticks=3, seed=SEED)
        self.assertIn("forget", tamis.abilities(f.kind))
        for tick in range(10):
            f.update(range(tick * 1000, tick * 1000 + 1000))
            state = f.window()
            self.assertEqual((state.ticks, state.now, len(state.ages)), (3, tick, 4))
            for past in range(tick + 1):
                found = f.count_many(range(past * 1000, past * 1000 + 1000))
                if past >= tick - 3:
                    self.assertEqual(found, 1000)
                else:
                    self.assertLessEqual(found, 10)  # 1 expected
            if tick == 5:
                f = pickle.loads(pickle.dumps(f))
            f.tick()
        self.assertEqual(f.step(1 << 40), 0)
        self.assertRaises(tamis.UnsupportedError, tamis.Filter(10).tick)
        self.assertRaises(tamis.UnsupportedError, tamis.Filter(10).window)
        self.assertRaises(tamis.ArgumentError, f.step, -1)

    def test_key_form(self):
        f = tamis.Filter(10, seed=SEED)
        self.assertEqual(f.key_form, "unknown")
        f.key_form = "u64"
        self.assertEqual(pickle.loads(pickle.dumps(f)).key_form, "u64")
        with self.assertRaises(tamis.ArgumentError):
            f.key_form = "text"

    def test_view_of_memory(self):
        f = tamis.Filter(1000, seed=SEED)
        f.update(range(1000))
        data = bytearray(f.to_bytes())
        view = tamis.Filter.view(data)
        self.assertEqual(view.count_many(range(1000)), 1000)
        self.assertRaises(tamis.ReadOnlyError, view.add, 1)
        with self.assertRaises(BufferError):
            data.append(1)  # the view holds it
        view.close()
        data.append(1)
        self.assertRaises(tamis.FormatError, tamis.Filter.view, data)
        data.append(2)

    def test_open_whatever_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            one, two = os.path.join(folder, "f"), os.path.join(folder, "t")
            f = tamis.Filter(10, seed=SEED)
            f.add("a")
            f.save(one)
            with tamis.Table(two) as t:
                t["a"] = "b"
            self.assertIn("a", tamis.open(one))
            self.assertIn("a", tamis.open(one, mmap=True))
            with tamis.open(two) as t:
                self.assertEqual(t["a"], b"b")
                self.assertTrue(t.info().read_only)
            self.assertRaises(FileNotFoundError, tamis.open, one + "x")
            pathlib.Path(one).write_bytes(b"something else")
            self.assertRaises(tamis.FormatError, tamis.open, one)

    def test_pickle(self):
        f = tamis.Filter(1000, seed=SEED)
        f.update(range(1000))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            self.assertEqual(pickle.loads(pickle.dumps(f, protocol)).to_bytes(), f.to_bytes())
        apart = []
        data = pickle.dumps(f, 5, buffer_callback=apart.append)
        self.assertLess(len(data), 200)
        self.assertEqual(pickle.loads(data, buffers=apart).to_bytes(), f.to_bytes())
        whole = bytearray(pickle.dumps(f))
        whole[len(whole) // 2] ^= 1
        self.assertRaises(tamis.FormatError, pickle.loads, whole)

        class Mine(tamis.Filter):
            pass
        self.assertIs(type(Mine(10).copy()), Mine)

    def test_subclass(self):
        class Named(tamis.Filter):
            def __init__(self, name):
                super().__init__(1000, 0.01, seed=SEED)
                self.name = name
        f = Named("x")
        self.assertEqual((f.name, f.add("a"), "a" in f), ("x", True, True))
        self.assertIn("tamis.Named", repr(f))
        f.__init__("y")  # begins anew
        self.assertNotIn("a", f)
        empty = tamis.Filter.__new__(tamis.Filter)
        self.assertTrue(empty.closed)
        self.assertRaises(ValueError, empty.add, 1)
        self.assertRaises(TypeError, _native.create, 5, tamis.Params("bloom", 10)._dict(), 0)
        self.assertRaises(TypeError, _native.create, int, tamis.Params("bloom", 10)._dict(), 0)

    def test_size(self):
        f = tamis.Filter(1_000_000, seed=SEED)
        self.assertGreater(sys.getsizeof(f), f.info().bytes)
        f.close()
        self.assertLess(sys.getsizeof(f), 1000)

    def test_documented(self):
        for cls in (tamis.Filter, tamis.SharedFilter, tamis.Table):
            for name in dir(cls):
                if not name.startswith("_"):
                    self.assertTrue(getattr(cls, name).__doc__, f"{cls.__name__}.{name}")
        for name in tamis.__all__:
            thing = getattr(tamis, name)
            if callable(thing) and name not in ("Key", "Path"):
                self.assertTrue(thing.__doc__, name)

    def test_stubs_have_what_the_module_has(self):
        text = (pathlib.Path(tamis.__file__).parent / "_native.pyi").read_text()
        for name in dir(_native):
            if not name.startswith("__"):
                self.assertRegex(text, r"(def|class) %s\b|^%s:" % (name, name) if name != "version" else "version: str")
        for cls in (_native.Set, _native.Table):
            for name in vars(cls):
                if not name.startswith("__"):
                    self.assertRegex(text, r"def %s\(" % name)


def raises(call, *args):
    try:
        call(*args)
    except (tamis.Error, TypeError, ValueError, KeyError, RuntimeError):
        pass


class Leaks(unittest.TestCase):
    """Calls that succeed and calls that fail leave as many blocks and references as there were."""

    def calls(self):
        class Bad:
            def __index__(self):
                raise RuntimeError("no")
        f = tamis.Filter(1000, 0.01, kind="bloom", seed=SEED)
        h = tamis.Filter(1000, 0.01, deletes=True, seed=SEED)
        shared = tamis.SharedFilter(1000, 0.01, seed=SEED)
        view = tamis.Filter.view(f.to_bytes())
        table = tamis.Table(seed=SEED)
        table["a"] = "b"
        full = tamis.Filter(params=tamis.Params("dleft", 1, seed=SEED, stash=1,
                                                values={"buckets": 1, "subtables": 2}))
        data, word, number = f.to_bytes(), "a word " * 5, 1 << 40
        numbers, words = array.array("i", range(600)), [f"w{i}" for i in range(600)]
        offsets = tamis.Offsets(array.array("i", [0, 3, 2]), b"abcdef")
        yield "one", lambda: (f.add(word), word in f, f.add(number), number in f, f.copies(word), len(f), bool(f),
                              h.add(word), h.discard(word), h.discard(word), shared.add(word), word in shared)
        yield "buffer", lambda: (f.add(bytearray(b"a")), memoryview(b"abc")[::2] in f)
        yield "faults", lambda: [raises(call, bad) for call in (f.add, f.__contains__, f.remove, f.copies, f.value)
                                 for bad in (None, -1, 1 << 64, Bad(), "\ud800", ["a"])]
        yield "many", lambda: (f.update(words), f.update(numbers), f.add_many(numbers), f.contains_many(iter(words)),
                               shared.update(words), shared.contains_many(numbers), f.count_many(tuple(words)))
        yield "many faults", lambda: [raises(call, bad) for call in (f.update, f.add_many, f.contains_many)
                                      for bad in (["a", None], [Bad()], array.array("d", [1]), b"abc", 5, offsets,
                                                  array.array("i", [-1]), [bytearray(b"a"), None])]
        yield "full", lambda: (full.clear(), raises(full.update, numbers), raises(full.add, 5))
        yield "whole", lambda: (f.info(), f.params, repr(f), f.copy(), f.to_bytes(), shared.snapshot(), shared.copy(),
                                pickle.loads(pickle.dumps(f)), f | f.copy(), raises(f.merge, h), raises(f.merge, f))
        yield "files", lambda: (tamis.Filter.from_bytes(data), tamis.Filter.view(data), raises(view.add, 1),
                                raises(tamis.Filter.from_bytes, data[:-1]), raises(tamis.Filter.view, b"x"),
                                raises(f.save, "/nowhere/x"), raises(f.save, "a\0b"))
        yield "plans", lambda: (tamis.plan(1000, 0.01, kind="bloom"), raises(tamis.plan, -1), raises(tamis.plan, 1, 2))
        yield "build", lambda: tamis.Filter.build(numbers, 0.1, kind="bloom", seed=SEED)
        yield "table", lambda: (table.get("a"), table["a"], "x" in table, raises(table.__getitem__, "x"), dict(table),
                                table.__setitem__("c", "d"), table.__delitem__("c"), raises(table.__delitem__, "c"),
                                raises(table.__setitem__, "a", 5), raises(table.__setitem__, "a", "b" * 2000),
                                table.info(), table.stats(), repr(table), table.get_many(words), table.put_many([]),
                                table.put_many([("e", bytearray(b"f"))]), raises(table.put_many, [("e", 5)]),
                                raises(table.get_many, [bytearray(b"a"), None]), raises(table.put_many, [("e",)]))

    def test_blocks(self):
        for name, call in self.calls():
            with self.subTest(calls=name):
                more = [150]
                # Caches and free lists of Python's fill up in the first rounds, those of pickle slowly.
                while min(more) >= 75 and len(more) < 20:
                    gc.collect()
                    before = sys.getallocatedblocks()
                    for _ in range(150):
                        call()
                    gc.collect()
                    more.append(sys.getallocatedblocks() - before)
                self.assertLess(min(more), 75, more)  # a leak is there in each round, 150 times

    def test_references(self):
        word, blob, number = "some word", b"some bytes", 1 << 50
        f = tamis.Filter(1000, seed=SEED)
        counts = [sys.getrefcount(x) for x in (word, blob, number, True, False)]
        for _ in range(100):
            f.add(word), word in f, f.add(blob), f.add(number), f.update([word, blob, number] * 10)
            f.contains_many([word, blob, number]), f.copies(word)
            raises(f.update, [word, None])
        after = [sys.getrefcount(x) for x in (word, blob, number, True, False)]
        for before, now in zip(counts, after):
            self.assertLess(abs(now - before), 50)


class Shared(unittest.TestCase):
    def test_calls(self):
        for kind in tamis.kinds():
            with self.subTest(kind=kind):
                f = tamis.SharedFilter(50_000, 0.01, threads=2, kind=kind, deletes="remove" in tamis.abilities(kind), seed=SEED)
                self.assertTrue(f.add("a"))
                self.assertIn("a", f)
                self.assertEqual(f.copies("a"), 1)
                self.assertEqual(f.add_many(range(1000)).tolist().count(True), len(f) - 1)
                self.assertEqual(f.count_many(range(1000)), 1000)
                self.assertEqual(sum(f.contains_many([f"k{i}" for i in range(1000)])) < 40, True)
                if "remove" in tamis.abilities(kind):
                    f.remove("a")
                    self.assertFalse(f.discard("a") and "a" in f)
                    self.assertEqual(f.remove_many([5, 6]).tolist(), [True, True])
                    f.update([5, 6])
                plain = f.snapshot()
                self.assertIs(type(plain), tamis.Filter)
                self.assertEqual(plain.count_many(range(1000)), 1000)
                for twin in (f.copy(), pickle.loads(pickle.dumps(f)), plain.share()):
                    self.assertIs(type(twin), tamis.SharedFilter)
                    self.assertEqual((twin.shards, twin.count_many(range(1000))), (f.shards, 1000))
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, "f")
                    f.save(path)
                    self.assertEqual(tamis.SharedFilter.open(path).count_many(range(1000)), 1000)
                    self.assertEqual(tamis.Filter.open(path, mmap=True).count_many(range(1000)), 1000)
                if "merge" in tamis.abilities(kind):
                    g = tamis.SharedFilter(params=f.params, shards=f.shards)
                    g.add("b")
                    f |= g
                    self.assertIn("b", f)
                    f.merge(g.snapshot())
                self.assertIn(kind, repr(f))
                self.assertEqual(f.info().kind, kind)
                f.clear()
                self.assertEqual(len(f), 0)
                f.close()
                self.assertRaises(ValueError, f.add, 1)

    def test_plan(self):
        plan = tamis.plan_shared(1_000_000, 0.001, threads=8, deletes=True)
        f = tamis.SharedFilter(params=plan.params, shards=plan.shards)
        self.assertEqual((f.shards, f.info().bytes), (plan.shards, plan.bytes))
        for bad in (0, 1025):
            self.assertRaises(tamis.ArgumentError, tamis.plan_shared, 1000, threads=bad)
            self.assertRaises(tamis.ArgumentError, tamis.SharedFilter, params=plan.params, shards=bad)

    def test_full(self):
        params = tamis.Params("dleft", 1, seed=SEED, stash=1, values={"buckets": 1, "subtables": 2})
        f = tamis.SharedFilter(params=params, shards=2)
        with self.assertRaises(tamis.FullError) as caught:
            f.update(range(100_000))
        self.assertEqual(caught.exception.done, len(f))

    def test_threads(self):
        """Threads fill a set by batches of every form, while others ask, save and copy: no key is lost."""
        for made in (tamis.SharedFilter(60_000, 0.001, threads=4, seed=SEED),
                     tamis.SharedFilter(60_000, 0.001, threads=4, deletes=True, seed=SEED),
                     tamis.Filter(60_000, 0.001, deletes=True, seed=SEED)):
            faults, done = [], threading.Event()

            def fill(part, f=made):
                first = part * 20_000
                numbers = array.array("Q", range(first, first + 10_000))
                for at in range(0, 10_000, 500):
                    f.update(numbers[at:at + 500])
                    f.update([str(i) for i in range(first + at, first + at + 500)])
                    if f.count_many(numbers[:at + 500]) != at + 500:
                        faults.append("a key is lost")

            def look(f=made):
                while not done.is_set():
                    copy = f.copy()
                    if copy.count_many(range(3)) not in (0, 1, 2, 3) or len(f) < len(copy):
                        faults.append("a copy")
                    f.info()
            threads = [threading.Thread(target=fill, args=(i,)) for i in range(3)]
            watcher = threading.Thread(target=look)
            for thread in (*threads, watcher):
                thread.start()
            for thread in threads:
                thread.join()
            done.set()
            watcher.join()
            self.assertEqual(faults, [])
            firsts = (0, 20_000, 40_000)
            everything = array.array("Q", [i for first in firsts for i in range(first, first + 10_000)])
            self.assertEqual(made.count_many(everything), 30_000)
            self.assertEqual(made.count_many(map(str, everything)), 30_000)

    def test_merges_that_cross(self):
        f, g = (tamis.Filter(10_000, kind="bloom", seed=SEED) for _ in range(2))
        f.update(range(100))
        threads = [threading.Thread(target=lambda a=a, b=b: [a.merge(b) for _ in range(200)])
                   for a, b in ((f, g), (g, f), (f, g), (g, f))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(g.count_many(range(100)), 100)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_fork(self):
        """A child may use sets that nobody used, or only read, when it was made; others say what is wrong."""
        keys = array.array("Q", range(2_000_000))
        quiet, busy = tamis.Filter(1000, seed=SEED), tamis.Filter(len(keys), 0.001, kind="bloom", seed=SEED)
        shared = tamis.SharedFilter(len(keys), 0.001, seed=SEED)
        quiet.add(1)
        go = True

        def work():
            while go:
                busy.update(keys)
                shared.update(keys)
        thread = threading.Thread(target=work)
        thread.start()
        try:
            for _ in range(5):
                time.sleep(0.01)
                child = os.fork()
                if child == 0:
                    code = 1
                    try:
                        answers = []
                        for f in (quiet, busy, shared):
                            try:
                                f.add(5)
                                answers.append(5 in f)
                            except RuntimeError as fault:
                                answers.append("forked" in str(fault))
                        del busy, shared
                        code = 0 if answers == [True] * 3 and 1 in quiet else 1
                    finally:
                        os._exit(code)
                self.assertEqual(os.waitpid(child, 0)[1], 0)
        finally:
            go = False
            thread.join()
        self.assertEqual(busy.count_many(keys), len(keys))


class Tables(unittest.TestCase):
    def test_is_a_mapping(self):
        rng = random.Random(SEED)
        for made in (tamis.Table(seed=SEED), tamis.Table(capacity=2000, key_max=8, value_max=20, seed=SEED)):
            model = {}
            for _ in range(4000):
                key = rng.randrange(1000)
                raw = key.to_bytes(8, "little")
                if rng.random() < 0.2 and raw in model:
                    del made[key], model[raw]
                else:
                    made[key] = model[raw] = rng.randbytes(rng.randrange(20))
            self.assertEqual(len(made), len(model))
            self.assertEqual(dict(made), model)
            self.assertEqual(dict(made.items()), model)
            self.assertEqual(sorted(made.values()), sorted(model.values()))
            self.assertEqual(set(made.keys()), set(model))
            self.assertEqual(made.verify(), 0)
            made.update({"a": "b", b"c": bytearray(b"d")})
            self.assertEqual((made["a"], made["c"], made.pop("a"), made.get("a"), made.get("a", 5)),
                             (b"b", b"d", b"b", None, 5))
            self.assertEqual(made.setdefault("e", "f"), b"f")
            self.assertNotIn("a", made)
            self.assertNotIn("x" * 5000, made)
            for call in (lambda: made["a"], lambda: made.pop("a"), lambda: made.__delitem__("a")):
                self.assertRaises(KeyError, call)
            with self.assertRaises(RuntimeError):
                for key in made:
                    del made[key]
            self.assertTrue(made.rebuild())
            made.clear()
            self.assertEqual((len(made), list(made)), (0, []))

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.tab")
            with tamis.Table(path, seed=SEED) as t:
                for i in range(5000):
                    t[str(i)] = str(i * i)
                t.sync()
                self.assertRaises(tamis.LockedError, tamis.Table.open, path)
                self.assertIn("in a file", repr(t))
            self.assertIn("closed", repr(t))
            self.assertRaises(ValueError, len, t)
            self.assertRaises(tamis.FileError, tamis.Table, path)
            if sys.platform == "linux":
                with tamis.Table.open(path) as t, tamis.Table.open(path, read_only=True) as reader:
                    t[b"new"] = b"value"
                    self.assertNotIn(b"new", reader)
                    self.assertTrue(reader.refresh())
                    self.assertEqual(reader[b"new"], b"value")
                    self.assertFalse(reader.refresh())
                    del t[b"new"]
            for how in ("map", "read"):
                with tamis.Table.open(path, read_only=True, io=how) as t:
                    self.assertEqual([t[str(i)] for i in range(0, 5000, 7)],
                                     [str(i * i).encode() for i in range(0, 5000, 7)])
                    with self.assertRaises(tamis.ReadOnlyError):
                        t["a"] = "b"
                    self.assertGreater(t.stats()["hits"], 700)
                    self.assertEqual(t.info().count, 5000)
            data = bytearray(pathlib.Path(path).read_bytes())
            data[len(data) // 2] ^= 255
            pathlib.Path(path).write_bytes(data)
            with self.assertRaises(tamis.FormatError):
                with tamis.Table.open(path) as t:
                    t.verify()
            self.assertRaises(FileNotFoundError, tamis.Table.open, path + "x")

    def test_what_is_refused(self):
        t = tamis.Table()
        for bad in (5, None, 1.5, ["a"]):
            self.assertRaises(TypeError, t.__setitem__, "a", bad)
        self.assertRaises(TypeError, t.__getitem__, None)
        self.assertRaises(tamis.ArgumentError, t.__setitem__, "a", "b" * 1001)
        self.assertRaises(tamis.ArgumentError, tamis.Table, summary="none")
        self.assertRaises(tamis.ArgumentError, tamis.Table, sync="always")
        self.assertRaises(TypeError, pickle.dumps, t)
        self.assertRaises(TypeError, t.get)

        class Closing:
            def __index__(self):
                t.close()
                return 5
        for call in (lambda: t[Closing()], lambda: t.__setitem__(Closing(), "a"), lambda: Closing() in t):
            t = tamis.Table()
            self.assertRaises(ValueError, call)

    def test_many(self):
        for t in (tamis.Table(seed=SEED), tamis.Table(capacity=2000, key_max=8, value_max=20, seed=SEED)):
            t.put_many((i, str(i)) for i in range(1000))
            self.assertEqual(len(t), 1000)
            self.assertEqual(t.get_many(range(990, 1005)), [str(i).encode() for i in range(990, 1000)] + [None] * 5)
            self.assertEqual(t.get_many(["x" * 2000, 5]), [None, b"5"])
            self.assertEqual(t.get_many([]), [])
            for bad in ([("a", 5)], [("a",)], ["ab"], [(None, "a")], 5, [("a", "b" * 2000)]):
                self.assertRaises((TypeError, ValueError), t.put_many, bad)
            self.assertRaises(TypeError, t.get_many, [1, None])
            self.assertNotIn("a", t)
            t.close()
            self.assertRaises(ValueError, t.get_many, [1])

    def test_plan(self):
        plan = tamis.plan_table(10_000, summary="single")
        self.assertLess(plan["crisis"], 1e-6)
        self.assertIn("single", tamis.summaries())
        self.assertRaises(TypeError, tamis.plan_table, 10, no_such=1)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_fork(self):
        with tempfile.TemporaryDirectory() as folder:
            t, memory = tamis.Table(os.path.join(folder, "t")), tamis.Table()
            t["a"] = memory["a"] = "b"
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    try:
                        t["c"] = "d"
                    except RuntimeError:
                        code = 0 if memory["a"] == b"b" else 1
                    t.close()
                    del t
                finally:
                    os._exit(code)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            t["c"] = "d"
            t.close()
            with tamis.Table.open(os.path.join(folder, "t")) as t:
                self.assertEqual(dict(t), {b"a": b"b", b"c": b"d"})

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_fork_of_readers(self):
        """A reader is refused too: its lock is that of its parent.  The library sees what Python does not."""
        with tempfile.TemporaryDirectory() as folder:
            for more in ({}, {"capacity": 100, "key_max": 8}):
                path = os.path.join(folder, f"t{len(more)}")
                with tamis.Table(path, **more) as t:
                    t["a"] = ""
                t = tamis.Table.open(path, read_only=True)
                for fork, fault in ((os.fork, RuntimeError), (ctypes.CDLL(None).fork, tamis.LockedError)):
                    child = fork()
                    if child == 0:
                        code = 1
                        try:
                            try:
                                t["a"]
                            except fault:
                                t.close()
                                with tamis.Table.open(path, read_only=True) as own:
                                    code = 0 if t.closed and own["a"] == b"" else 1
                        finally:
                            os._exit(code)
                    self.assertEqual(os.waitpid(child, 0)[1], 0)
                self.assertEqual(t["a"], b"")
                t.close()

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_fork_inside_a_call(self):
        """A child does not wait for a thread that it does not have."""
        t, items, go = tamis.Table(), [(i, b"") for i in range(50_000)], True

        def work():
            while go:
                t.put_many(items)
        thread = threading.Thread(target=work)
        thread.start()
        try:
            for _ in range(20):
                time.sleep(0.002)
                child = os.fork()
                if child == 0:
                    code = 1
                    try:
                        signal.alarm(20)
                        try:
                            t["a"] = "b"
                            code = 0 if t["a"] == b"b" else 1
                        except RuntimeError as fault:
                            t.close()
                            code = 0 if "forked" in str(fault) else 1
                    finally:
                        os._exit(code)
                self.assertEqual(os.waitpid(child, 0)[1], 0)
        finally:
            go = False
            thread.join()


if __name__ == "__main__":
    unittest.main()
