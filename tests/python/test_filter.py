"""The Python module: every call, keys of every type, buffers, errors, files.

SPDX-License-Identifier: MIT
"""
import array
import copy
import ctypes
import datetime
import decimal
import doctest
import gc
import itertools
import math
import mmap
import os
import pathlib
import pickle
import sys
import tempfile
import threading
import time
import unittest
import uuid
import weakref

import tamis

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SEED = 20110509


class Index:
    """An integer of some other library."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


class Kinds(unittest.TestCase):
    """What holds for a filter of every kind."""

    def filters(self, n=1000):
        for kind in tamis.kinds():
            with self.subTest(kind=kind):
                yield tamis.Filter(n, 0.01, kind=kind, seed=SEED, deletes="remove" in tamis.abilities(kind))

    def test_keys_are_found_and_few_others(self):
        for f in self.filters():
            f.update(str(i) for i in range(1000))
            self.assertEqual(f.count_many(str(i) for i in range(1000)), 1000)
            wrong = f.count_many(str(i) for i in range(1000, 11000))
            self.assertLessEqual(wrong, 145)  # 100 expected at most; 4.5 sigma above
            self.assertGreaterEqual(len(f), 900)

    def test_batch_equals_single_calls(self):
        keys = array.array("Q", (i * i for i in range(500)))
        for f in self.filters():
            g = tamis.Filter(params=f.params)
            h = tamis.Filter(params=f.params)
            added = f.add_many(keys)
            self.assertEqual(added.tolist(), [g.add(key) for key in keys])
            self.assertEqual(h.add_many(list(keys)).tolist(), added.tolist())
            self.assertEqual(f.to_bytes(), g.to_bytes())
            self.assertEqual(f.to_bytes(), h.to_bytes())
            probe = array.array("Q", range(2000))
            self.assertEqual(f.contains_many(probe).tolist(), [key in f for key in probe])
            self.assertEqual(f.count_many(probe), sum(f.contains_many(probe)))

    def test_removal(self):
        for f in self.filters():
            f.update(["a", "b", "c"])
            if "remove" not in tamis.abilities(f.kind):
                for call, key in ((f.remove, "a"), (f.discard, "a"), (f.remove_many, ["a"])):
                    with self.assertRaisesRegex(tamis.UnsupportedError, "make it with deletes=True"):
                        call(key)
                self.assertIn("a", f)
                continue
            f.remove("a")
            self.assertNotIn("a", f)
            with self.assertRaises(KeyError):
                f.remove("a")
            self.assertFalse(f.discard("a"))
            self.assertTrue(f.discard("b"))
            self.assertEqual(f.remove_many(["c", "never there"]).tolist(), [True, False])
            self.assertEqual(len(f), 0)

    def test_copies(self):
        for f in self.filters():
            f.add(5)
            f.add(5)
            self.assertEqual(f.copies(5), 2 if "count" in tamis.abilities(f.kind) else 1)
            self.assertEqual(f.copies(6), 0)

    def test_merge(self):
        for f in self.filters():
            g = tamis.Filter(params=f.params)
            f.add("f")
            g.add("g")
            if "merge" not in tamis.abilities(f.kind):
                with self.assertRaises(tamis.UnsupportedError):
                    f | g
                continue
            union = f | g
            self.assertIn("f", union)
            self.assertIn("g", union)
            self.assertNotIn("g", f)
            before = f
            f |= g
            self.assertIs(f, before)
            self.assertEqual(f.to_bytes(), union.to_bytes())
            h = tamis.Filter(params=f.params)
            h.update(g)
            self.assertIn("g", h)

    def test_copy_clear_pickle_file(self):
        with tempfile.TemporaryDirectory() as folder:
            for f in self.filters():
                f.update(range(700))
                path = os.path.join(folder, f.kind + ".tamis")
                f.save(path)
                data = f.to_bytes()
                self.assertEqual(pathlib.Path(path).read_bytes(), data)
                twins = [f.copy(), copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f)),
                         tamis.Filter.from_bytes(data), tamis.Filter.from_bytes(memoryview(bytearray(data))),
                         tamis.Filter.open(path), tamis.Filter.open(pathlib.Path(path)),
                         tamis.Filter.open(os.fsencode(path), mmap=True)]
                f.clear()
                self.assertEqual(len(f), 0)
                self.assertNotIn(1, f)
                for twin in twins:
                    self.assertEqual(twin.to_bytes(), data)
                    self.assertEqual(twin.count_many(range(700)), 700)
                with self.assertRaises(tamis.ReadOnlyError):
                    twins[-1].add(1)
                twins[-1].copy().add(1)

    def test_info_and_params(self):
        for f in self.filters():
            f.update(range(500))
            info = f.info()
            self.assertEqual(info.count, len(f))
            self.assertEqual(info.params, f.params)
            self.assertEqual(info.kind, f.kind)
            self.assertEqual(info.params.capacity, 1000)
            self.assertEqual(info.params.seed, SEED)
            self.assertEqual(info.bytes + 256, len(f.to_bytes()))
            self.assertTrue(0 < info.fpr < 0.01)
            self.assertTrue(math.isclose(info.bits_per_key, 8 * info.bytes / info.count))
            self.assertTrue(info.load_histogram)
            self.assertIn(f.kind, repr(f))

    def test_plans(self):
        for kind in tamis.kinds():
            with self.subTest(kind=kind):
                plan = tamis.plan(5000, 0.003, kind=kind)
                self.assertEqual(plan.kind, kind)
                self.assertLessEqual(plan.fpr, 0.003)
                self.assertEqual(tamis.Filter(params=plan.params).info().bytes, plan.bytes)
        inverse = tamis.plan(5000, bytes=8000)
        self.assertLessEqual(inverse.bytes, 8000)
        self.assertLess(inverse.fpr, 0.02)
        most = tamis.plan(fpr=0.01, bytes=8000)
        self.assertGreater(most.n, 5000)
        self.assertIn("count", tamis.abilities(tamis.plan(5000, copies=3).kind))
        self.assertEqual(tamis.plan(5000, overshoot=1).params.capacity, 10000)
        lines = [p.lines_per_query for p in tamis.plans(5000, order="lines")]
        self.assertEqual(lines, sorted(lines))
        every = tamis.plans(5000, 0.003, order="speed", deletes=True)
        times = [p.ns_insert + p.ns_lookup + p.ns_remove for p in every]
        self.assertEqual(times, sorted(times))
        every = tamis.plans(10_000_000, 0.003, deletes=True)  # balanced: the quickest of those that are near
        near = [p for p in every if p.bytes <= 1.12 * min(q.bytes for q in every)]
        times = [p.ns_insert + p.ns_lookup + p.ns_remove for p in near]
        self.assertEqual(every[:len(near)], near)
        self.assertEqual(times, sorted(times))
        self.assertEqual([p.bytes for p in every[len(near):]], sorted(p.bytes for p in every[len(near):]))
        self.assertTrue(all("remove" in tamis.abilities(p.kind) for p in every))


class Keys(unittest.TestCase):
    def setUp(self):
        self.f = tamis.Filter(100, 1e-6, seed=SEED)

    def test_types_of_one_key(self):
        f = self.f
        self.assertTrue(f.add("grün"))
        for same in ("grün".encode(), bytearray("grün".encode()), memoryview("grün".encode())):
            self.assertIn(same, f)
            self.assertFalse(f.add(same))
        self.assertTrue(f.add(1 << 63))
        self.assertIn((1 << 63).to_bytes(8, "little"), f)
        self.assertIn(Index(1 << 63), f)
        self.assertTrue(f.add(""))
        self.assertIn(b"", f)
        self.assertTrue(f.add(b"a\0b"))
        self.assertNotIn(b"a", f)
        self.assertIn(memoryview(b"aX\0XbX")[::2], f)
        self.assertEqual(f.contains_many(["grün", 1 << 63, Index(3), "", b"a\0b", bytearray(b"a")]).tolist(),
                         [True, True, False, True, True, False])

    def test_dates_numbers_and_uuids_are_their_text(self):
        # docs/keys.md: the same texts behind every door
        zone = datetime.timezone(datetime.timedelta(hours=-5, minutes=-30))
        texts = [
            (datetime.date(2026, 3, 1), "2026-03-01"),
            (datetime.date(1, 1, 1), "0001-01-01"),
            (datetime.datetime(2026, 3, 1), "2026-03-01T00:00:00"),
            (datetime.datetime(2026, 3, 1, 9, 5), "2026-03-01T09:05:00"),
            (datetime.datetime(2026, 3, 1, 9, 5, 0, 250000), "2026-03-01T09:05:00.250000"),
            (datetime.datetime(2026, 3, 1, 9, 5, 0, 1, datetime.timezone.utc), "2026-03-01T09:05:00.000001Z"),
            (datetime.datetime(2026, 3, 1, 20, 0, tzinfo=zone), "2026-03-02T01:30:00Z"),
            (uuid.UUID("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"), "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        ]
        for number, digits in (("12.50", "12.5"), ("-0.030", "-0.03"), ("1200", "1200"), ("1.2E3", "1200"), ("1E2", "100"), ("100", "100"),
                               ("1E-7", "0.0000001"), ("-1.50E-3", "-0.0015"), ("-0", "0"), ("0.000", "0"), ("0E+5", "0"), ("0E999999", "0"), ("7", "7"),
                               ("7.000", "7"), ("1E+30", "1" + 30 * "0"), ("NaN", "NaN"), ("-NaN", "NaN"), ("Infinity", "Infinity"),
                               ("-Infinity", "-Infinity"), ("123456789012345678901234567890.10", "123456789012345678901234567890.1")):
            texts.append((decimal.Decimal(number), digits))
        f = tamis.Filter(1000, 1e-9, seed=SEED)
        for value, text in texts:
            with self.subTest(value=repr(value)):
                one = tamis.Filter(params=f.params)
                other = tamis.Filter(params=f.params)
                one.add(value)
                other.add(text)
                self.assertEqual(one.to_bytes(), other.to_bytes())
                self.assertIn(value, other)
        f.update(value for value, _ in texts)
        self.assertEqual(f.count_many([text for _, text in texts]), len(texts))
        self.assertEqual(len(f), len({text for _, text in texts}))
        for bad, error in ((datetime.time(1, 2), TypeError), (datetime.timedelta(1), TypeError), (1.5, TypeError),
                           (decimal.Decimal("1E+999999999"), tamis.ArgumentError)):
            self.assertRaises(error, f.add, bad)
        with self.assertRaisesRegex(TypeError, "a date, a UUID or a Decimal, not float: make it a Decimal"):
            f.add(1.5)
        table = tamis.Table()
        table[datetime.date(2026, 3, 1)] = "Sunday"
        self.assertEqual(table["2026-03-01"], b"Sunday")

    def test_what_is_no_key(self):
        for call in (self.f.add, self.f.__contains__, self.f.remove, self.f.copies):
            for bad in (None, 1.5, ("a",), [1], object()):
                self.assertRaises(TypeError, call, bad)
            for bad in (-1, 1 << 64):
                self.assertRaises(ValueError, call, bad)
        self.assertRaises(TypeError, self.f.update, [1, None])

    def test_buffers(self):
        numbers = [1, 2, 1 << 63]
        data = array.array("Q", numbers).tobytes()
        views = [array.array("Q", numbers), memoryview(data).cast("Q"), memoryview(bytearray(data)).cast("Q")]
        if array.array("L").itemsize == 8:
            views.append(array.array("L", numbers))
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.flush()
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
                with memoryview(mapped).cast("Q") as view:
                    self.assertEqual(self.f.add_many(view).tolist(), [True] * 3)
        for view in views:
            self.assertEqual(self.f.contains_many(view).tolist(), [True] * 3)
            self.assertEqual(self.f.count_many(view), 3)
        self.assertEqual(self.f.add_many(array.array("Q")).tolist(), [])
        self.assertEqual(self.f.contains_many([]).tolist(), [])
        held = array.array("Q", numbers)
        self.f.update(held)
        held.append(4)  # BufferError if the call still held the buffer

    def test_what_is_no_buffer_of_keys(self):
        for bad in (b"12345678", bytearray(8), "12345678", memoryview(b"12345678"), array.array("d", [1.0]),
                    memoryview(bytes(8)).cast("?"), memoryview(bytes(8)).cast("Q", shape=[])):
            for call in (self.f.update, self.f.add_many, self.f.contains_many, self.f.count_many):
                self.assertRaises(TypeError, call, bad)
        self.assertRaises(TypeError, self.f.update, 5)
        self.assertRaises(ValueError, self.f.update, array.array("q", [*range(5000), -1]))
        self.assertRaises(ValueError, self.f.update, array.array("b", [1, -1]))
        self.assertEqual(len(self.f), 0)

    def test_integers_of_any_size(self):
        numbers = [0, 1, 100, 127]
        for form in "bBhHiIlLqQ":
            f = self.f.copy()
            self.assertEqual(f.add_many(array.array(form, numbers)).tolist(), [True] * 4)
            self.assertEqual(f.count_many(numbers), 4)
            if form not in "bB":  # bytes are one key
                view = memoryview(array.array(form, numbers))[::-2]
                self.assertEqual(f.contains_many(view).tolist(), [True] * 2)
        self.assertEqual(self.f.add_many(memoryview(array.array("Q", range(8)))[::2]).tolist(), [True] * 4)
        self.assertEqual([i for i in range(8) if i in self.f], [0, 2, 4, 6])
        square = memoryview(array.array("Q", range(8))).cast("B").cast("Q", shape=[2, 4])
        self.assertEqual(self.f.count_many(square), 4)
        ctypes_array = (ctypes.c_uint32.__ctype_be__ * 3)(1, 2, 258)
        self.f.update(ctypes_array)
        self.assertIn(258, self.f)
        self.assertIn(1, self.f)

    def test_offsets(self):
        words = ["apple", "", "grün", "x" * 1000, "pear"]
        data = "".join(words).encode()
        ends = list(itertools.accumulate(len(word.encode()) for word in words))
        for form in "iIqQ":
            f = self.f.copy()
            keys = tamis.Offsets(array.array(form, [0, *ends]), data)
            self.assertEqual(len(keys), 5)
            self.assertEqual(f.add_many(keys).tolist(), [True] * 5)
            self.assertEqual(f.count_many(words), 5)
            self.assertEqual(f.contains_many(tamis.Offsets(array.array(form, [5, 5]), bytearray(9))).tolist(), [True])
        many = tamis.Offsets(array.array("i", range(5001)), bytes(5000))
        self.assertEqual(self.f.count_many(many), 0)
        for bad in ([0, 6, 5], [0, 100], [-1, 3], [2, 1]):
            keys = tamis.Offsets(array.array("i", bad), b"12345678")
            for call in (self.f.update, self.f.add_many, self.f.contains_many):
                self.assertRaises(ValueError, call, keys)
        self.assertEqual(len(self.f), 0)
        self.assertRaises(ValueError, tamis.Offsets, array.array("i"), b"")
        self.assertRaises(TypeError, self.f.update, tamis.Offsets(array.array("h", [0, 1]), b"1"))
        self.assertRaises(TypeError, self.f.update, tamis.Offsets(array.array("d", [0, 1]), b"1"))

    def test_objects_that_lie(self):
        class Text(str):
            def encode(self, *_):
                return b"another"

            def __len__(self):
                return 10 ** 6

            def __hash__(self):
                return 1

        class Number(int):
            def __index__(self):
                return -5

        class Worse:
            def __index__(self):
                raise RuntimeError("no")

        self.f.add(Text("apple"))
        self.assertIn("apple", self.f)
        self.assertIn(Text("apple"), self.f)
        self.f.add(Number(7))
        self.assertIn(7, self.f)
        self.assertRaises(RuntimeError, self.f.add, Worse())
        self.assertRaises(RuntimeError, self.f.update, ["a", Worse()])
        self.assertNotIn("a", self.f)
        self.assertRaises(UnicodeEncodeError, self.f.add, "\ud800")
        self.assertRaises(UnicodeEncodeError, self.f.update, ["a", "\ud800"])

        keys = [str(i) for i in range(5000)]

        class Shrinks:
            def __index__(self):
                del keys[10:]
                return 5
        keys[3] = Shrinks()
        self.f.update(keys)
        self.assertEqual(self.f.count_many(keys), 10)

        def endless():
            yield "a"
            raise KeyError("within")
        self.assertRaises(KeyError, self.f.update, endless())

    def test_more_keys_than_a_group(self):
        f = tamis.Filter(50_000, 0.001, seed=SEED)
        f.update(f"key {i}" for i in range(20_000))
        self.assertEqual(f.count_many(f"key {i}" for i in range(20_000)), 20_000)
        self.assertEqual(len(f.contains_many(map(str, range(20_000)))), 20_000)

    def test_answers_are_bools_that_cannot_change(self):
        answers = self.f.add_many([1, 1, 2])
        self.assertEqual(answers.format, "?")
        self.assertIs(answers[0], True)
        self.assertIs(answers[1], False)
        with self.assertRaises(TypeError):
            answers[0] = False


class Errors(unittest.TestCase):
    def test_arguments(self):
        self.assertRaises(tamis.ArgumentError, tamis.Filter)
        self.assertRaises(TypeError, tamis.Filter, 10, no_such_need=1)
        self.assertRaises(tamis.ArgumentError, tamis.plan, 10, order="size")
        self.assertRaises(tamis.ArgumentError, tamis.plan, 10, copies=1 << 32)
        self.assertRaises(TypeError, tamis.Filter, 10, params=tamis.Params("bloom", 10))
        for bad in (0, -1, (1 << 40) + 1, 1 << 64):
            self.assertRaises(tamis.ArgumentError, tamis.Filter, bad)
        for bad in (0, 1, -0.5, math.nan):
            self.assertRaises(ValueError, tamis.Filter, 10, bad)
        self.assertRaises(tamis.ArgumentError, tamis.Filter, 10, kind="bloomy")
        self.assertRaises(tamis.UnsupportedError, tamis.Filter, 10, kind="bloom", deletes=True)
        for call in (lambda: tamis.plan(10, kind="line-set"), lambda: tamis.Filter(params=tamis.Params("line-set", 10)), lambda: tamis.Filter(10, kind="line-set")):
            with self.assertRaisesRegex(tamis.ArgumentError, "there is no kind 'line-set' any more: use 'line'"):
                call()
        self.assertRaises(tamis.ArgumentError, tamis.Filter, params=tamis.Params("bloom", 10, values={"x": 1}))
        self.assertRaises(tamis.ArgumentError, tamis.Filter,
                          params=tamis.Params("bloom", 10, values={"hashes": 65}))
        self.assertRaises(tamis.ArgumentError, tamis.Filter, 10, seed=-1)

    def test_each_status_has_a_class(self):
        text = (SOURCE / "include/tamis/tamis.h").read_text()
        numbers = {int(line.split("=")[1].split("/")[0].strip(" ,")) for line in text.splitlines()
                   if line.startswith("    TAMIS_E_")}
        self.assertEqual(numbers, set(tamis._errors.ERRORS))
        for number, error in tamis._errors.ERRORS.items():
            self.assertTrue(issubclass(error, tamis.Error))
            raised = tamis._errors.error(number)
            self.assertIs(type(raised), error)
            self.assertEqual(raised.status, number)
            self.assertNotEqual(str(raised), "unknown status")
            self.assertEqual(str(raised), raised.reason)

    def test_full(self):
        params = tamis.Params("dleft", 1, seed=SEED, stash=1, values={"buckets": 1, "subtables": 2})
        for keys in (array.array("Q", range(100_000)), range(100_000)):
            f = tamis.Filter(params=params)
            with self.assertRaises(tamis.FullError) as caught:
                f.update(keys)
            done = caught.exception.done
            self.assertTrue(0 < done < 1000)
            self.assertEqual(f.count_many(range(done)), done)
            self.assertRaises(tamis.FullError, f.add, done)

    def test_mismatch(self):
        a, b = tamis.Filter(10, kind="bloom"), tamis.Filter(10, kind="bloom")
        with self.assertRaises(tamis.MismatchError):
            a | b
        with self.assertRaises(TypeError):
            a | {1}
        self.assertRaises(tamis.ArgumentError, a.merge, a)

    def test_damaged_data(self):
        data = tamis.Filter(100, seed=SEED).to_bytes()
        for bad in (b"", b"x", data[:-1], data + b"\0", data[:300] + b"\xff" + data[301:], bytes(len(data))):
            with self.assertRaises(tamis.FormatError) as caught:
                tamis.Filter.from_bytes(bad)
            self.assertTrue(caught.exception.reason)
        with tempfile.NamedTemporaryFile() as file:
            file.write(data[:-8])
            file.flush()
            for mapped in (False, True):
                self.assertRaises(tamis.FormatError, tamis.Filter.open, file.name, mmap=mapped)

    def test_files_that_are_not_there(self):
        for mapped in (False, True):
            self.assertRaises(FileNotFoundError, tamis.Filter.open, "/nowhere/a.tamis", mmap=mapped)
        with self.assertRaises(tamis.FileError) as caught:
            tamis.Filter(10).save("/nowhere/a.tamis")
        self.assertIsInstance(caught.exception, OSError)
        self.assertRaises(ValueError, tamis.Filter(10).save, "a\0b")

    def test_closed(self):
        with tamis.Filter(10) as f:
            self.assertFalse(f.closed)
        self.assertTrue(f.closed)
        f.close()
        self.assertIn("closed", repr(f))
        for call in (lambda: f.add(1), lambda: 1 in f, lambda: len(f), f.copy, f.info, f.to_bytes,
                     lambda: f.update([1]), lambda: f.contains_many([1]), lambda: tamis.Filter(10).merge(f)):
            self.assertRaises(ValueError, call)
        self.assertRaises(AttributeError, lambda: f.no_such_thing)

    def test_key_that_closes_the_filter(self):
        f = tamis.Filter(10)

        def keys():
            yield 1
            f.close()
        self.assertRaises(ValueError, f.update, keys())

    def test_arguments_that_close_the_filter(self):
        params = tamis.Params("rank", 100, seed=SEED, values={"value_bits": 3})

        class Closing:
            """What is asked for its content closes the filter first."""
            def __init__(self, f, answer):
                self.f, self.answer = f, answer

            def tell(self):
                self.f.close()
                return self.answer
            __index__ = __float__ = __fspath__ = tell

        class LookAlike:
            def __init__(self, f):
                self.f = f

            @property
            def _handle(self):
                handle = self.f._handle
                self.f.close()
                return handle

        calls = [
            lambda f, path: f.add("a", value=Closing(f, 1)),
            lambda f, path: f.add(Closing(f, 1)),
            lambda f, path: f.add(Closing(f, 1), value=1),
            lambda f, path: f.set_value("a", Closing(f, 1)),
            lambda f, path: f.set_value(Closing(f, 1), 1),
            lambda f, path: f.value(Closing(f, 1)),
            lambda f, path: f.remove(Closing(f, 1)),
            lambda f, path: f.discard(Closing(f, 1)),
            lambda f, path: f.copies(Closing(f, 1)),
            lambda f, path: Closing(f, 1) in f,
            lambda f, path: f.grow(Closing(f, 1)),
            lambda f, path: f.grow(0, Closing(f, 0.5)),
            lambda f, path: f.allow_growth(Closing(f, 0.5)),
            lambda f, path: f.save(Closing(f, path)),
            lambda f, path: f.save(Closing(f, path), compact=True),
            lambda f, path: f.contains_many([Closing(f, 1)]),
            lambda f, path: f.add_many([Closing(f, 1)]),
            lambda f, path: f.remove_many([Closing(f, 1)]),
        ]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f.tamis")
            for number, call in enumerate(calls):
                with self.subTest(number=number):
                    f = tamis.Filter(params=params)
                    f.add("a")
                    self.assertRaises(ValueError, call, f, path)
                    self.assertTrue(f.closed)
                    self.assertFalse(os.path.exists(path))
        f = tamis.Filter(params=params)
        for other in (LookAlike(f), LookAlike(tamis.Filter(params=params)), None, 5, {1}):
            self.assertRaises(TypeError, f.merge, other)
        self.assertFalse(f.closed)

    def test_closed_by_another_thread(self):
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            for _ in range(50):
                f = tamis.Filter(10, kind="bloom", seed=SEED)
                begun = threading.Event()

                def ask():
                    keys = array.array("Q", range(100))
                    while True:
                        try:
                            f.add(5)
                            f.add_many(keys)
                            if 5 not in f or f.count_many(keys) != 100:
                                return
                            begun.set()
                        except ValueError:
                            ended.append(True)
                            return
                ended = []
                threads = [threading.Thread(target=ask) for _ in range(3)]
                for thread in threads:
                    thread.start()
                begun.wait()
                f.close()
                for thread in threads:
                    thread.join()
                self.assertEqual(len(ended), 3)
        finally:
            sys.setswitchinterval(interval)

    def test_close_waits_for_what_is_in_use(self):
        keys = array.array("Q", range(3_000_000))
        f = tamis.Filter(len(keys), 0.001, kind="bloom", seed=SEED)
        found, begun = [], threading.Event()

        def work():
            begun.set()
            try:
                f.update(keys)
                found.append(True)
            except ValueError:  # it was closed before the call began
                found.append(False)
        thread = threading.Thread(target=work)
        thread.start()
        begun.wait()
        time.sleep(0.005)
        f.close()
        self.assertTrue(f.closed)
        self.assertRaises(ValueError, f.add, 1)
        thread.join()
        self.assertEqual(len(found), 1)


class Others(unittest.TestCase):
    def test_values(self):
        f = tamis.Filter(params=tamis.Params("rank", 100, seed=SEED, values={"value_bits": 3, "fingerprint_bits": 30}))
        self.assertEqual(f.value_bits, 3)
        self.assertTrue(f.add("a", value=5))
        f.add("b")
        self.assertEqual((f.value("a"), f.value("b")), (5, 0))
        f.set_value("a", 7)
        self.assertEqual(f.value("a"), 7)
        for bad in (8, -1, 1 << 32):
            self.assertRaises(tamis.ArgumentError, f.set_value, "a", bad)
            self.assertRaises(tamis.ArgumentError, f.add, "c", value=bad)
        self.assertRaises(KeyError, f.value, "c")
        self.assertRaises(tamis.UnsupportedError, tamis.Filter(10, kind="bloom").add, "a", value=1)

    def test_compact_form(self):
        f = tamis.Filter(1000, 0.01, kind="rank", deletes=True, seed=SEED)
        f.update(range(600))
        data = f.to_bytes(compact=True)
        self.assertLess(len(data), len(f.to_bytes()))
        self.assertEqual(tamis.Filter.from_bytes(data).count_many(range(600)), 600)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f.tamis")
            f.save(path, compact=True)
            self.assertEqual(pathlib.Path(path).read_bytes(), data)
            self.assertEqual(tamis.Filter.open(path).count_many(range(600)), 600)
        self.assertRaises(tamis.UnsupportedError, tamis.Filter(10, kind="bloom").to_bytes, compact=True)
        self.assertRaises(tamis.FormatError, tamis.Filter.from_bytes, data[:-1])

    def test_growth(self):
        f = tamis.Filter(500, 0.01, kind="bloom", grows=True, seed=SEED)
        f.allow_growth(0.01)
        f.update(range(5000))
        info = f.info()
        self.assertGreater(info.n_links, 2)
        self.assertGreaterEqual(info.capacity, 5000)
        self.assertLessEqual(info.fpr, 0.01)
        self.assertEqual(info.fpr_promised, 0.01)
        self.assertEqual(f.count_many(range(5000)), 5000)
        again = tamis.Filter.from_bytes(f.to_bytes())
        again.grow(100)
        self.assertEqual(again.info().n_links, info.n_links + 1)
        self.assertEqual(again.count_many(range(5000)), 5000)
        more = tamis.Filter(100, 0.01, kind="bloom", grows=True, seed=SEED)
        more.update(range(5000, 5100))
        self.assertRaises(tamis.PromiseError, tamis.Filter.allow_growth, f, info.fpr / 2)
        f.allow_growth(0.02)
        f |= more
        self.assertEqual(f.info().n_links, info.n_links + 1)
        self.assertEqual(f.count_many(range(5100)), 5100)
        self.assertLessEqual(f.info().fpr, 0.02)
        self.assertRaises(tamis.MismatchError, f.merge, tamis.Filter(100, kind="bloom", seed=SEED + 1))
        self.assertRaises(tamis.ArgumentError, again.grow, 100, 1.5)
        self.assertRaises(tamis.ArgumentError, again.grow, -1)

    def test_memory_is_freed(self):
        f = tamis.Filter(10)
        gone = weakref.ref(f)
        del f
        gc.collect()
        self.assertIsNone(gone())

        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        if not os.path.exists("/proc/self/statm"):
            self.skipTest("no /proc here")
        before = resident()
        for _ in range(40):  # 12 MB each
            f = tamis.Filter(10_000_000, 0.01, kind="bloom", seed=SEED)
            f.update(range(1000))
            f.copy()
        del f
        self.assertLess(resident() - before, 100 << 20)

    def test_threads_share_a_filter(self):
        f = tamis.Filter(4000, 0.001, kind="counting-bloom", deletes=True, seed=SEED)

        def work(first):
            for i in range(first, first + 1000):
                f.add(i)
        threads = [threading.Thread(target=work, args=(i * 1000,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(f), 4000)
        self.assertEqual(f.count_many(range(4000)), 4000)

    def test_file_of_the_library(self):
        for path in sorted((SOURCE / "tests/golden").glob("*.tamis")):
            with self.subTest(path=path.name):
                self.assertEqual(tamis.Filter.open(path, mmap=True).to_bytes(), path.read_bytes())

    def test_damage_is_met_where_it_is_touched(self):
        f = tamis.Filter(200000, 0.01)
        f.update(range(200000))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "set.tamis")
            f.save(path)
            with tamis.Filter.open(path, mmap=True) as view:
                view.verify()
                self.assertEqual(view.damage, 0)
            with open(path, "r+b") as file:
                file.seek(100000)
                file.write(b"damage")
            for trusted in False, True:
                with tamis.Filter.open(path, mmap=True, trusted=trusted) as view:
                    if not trusted:
                        self.assertEqual(view.damage, 0)
                        self.assertEqual(view.count_many(range(200000)), 200000)
                        self.assertEqual(view.damage, 1)
                    with self.assertRaises(tamis.FormatError):
                        view.verify()
                    with self.assertRaises(tamis.FormatError):
                        view.copy()
                    self.assertEqual(view.damage, 1)
            with self.assertRaises(tamis.FormatError):
                tamis.Filter.open(path)
            with self.assertRaises(ValueError):
                tamis.Filter.open(path, trusted=True)

    def test_examples(self):
        page = doctest.testfile(str(SOURCE / "docs/python.md"), module_relative=False)
        self.assertEqual(page.failed, 0)
        self.assertGreater(page.attempted, 20)
        page = doctest.testfile(str(SOURCE / "README.md"), module_relative=False)
        self.assertEqual((page.failed, page.attempted), (0, 4))
        self.assertEqual(doctest.testmod(tamis).failed, 0)


if __name__ == "__main__":
    unittest.main()
