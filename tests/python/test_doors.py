"""What surrounds sets: interpreters, files that change, promises that are kept, seeds, help and notebooks.

SPDX-License-Identifier: MIT
"""
import decimal
import fractions
import functools
import inspect
import math
import operator
import os
import pickle
import pydoc
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest
from xml.etree import ElementTree

import tamis
from tamis import _native

SEED = 20081204


class Promises(unittest.TestCase):
    """A set knows what was promised for it, and a merge does not break it without a word."""

    def test_sets_carry_the_rate(self):
        f = tamis.Filter(1000, 0.004, seed=SEED)
        f.update(range(1000))
        for one in (f, f.copy(), f.share(), f.share().snapshot(), pickle.loads(pickle.dumps(f)), tamis.Filter(params=f.params),
                    tamis.Filter.build(range(1000), 0.004), tamis.SharedFilter(1000, 0.004)):
            self.assertEqual(one.info().fpr_promised, 0.004)
        self.assertEqual(tamis.Filter(1000).info().fpr_promised, 0.01)
        self.assertEqual(tamis.Filter(params=tamis.Params("bloom", 1000)).info().fpr_promised, 0)

    def test_a_merge_beyond_it_is_refused(self):
        for kind in tamis.kinds():
            if "merge" not in tamis.abilities(kind):
                continue
            with self.subTest(kind=kind):
                a = tamis.Filter(20_000, 0.001, kind=kind, merges=True, seed=SEED)
                b = tamis.Filter(params=a.params)
                a.update(range(20_000))
                b.update(range(20_000, 40_000))
                before = a.to_bytes()
                said = None
                calls = [lambda: a.merge(b), lambda: a.update(b), lambda: a | b, lambda: operator.ior(a, b), lambda: a.share().merge(b),
                         lambda: a.share().merge(b.share())]
                for call in calls:
                    with self.assertRaises(tamis.FullError if kind in ("window", "line") else tamis.PromiseError) as caught:
                        call()
                    self.assertEqual(a.to_bytes(), before)
                    if kind in ("window", "line"):  # their slots are full
                        self.assertIn("the keys of both", str(caught.exception))
                        continue
                    said = re.fullmatch(r"the union would have an error rate of (\S+), and 0.001 was promised; beyond=True permits it", str(caught.exception))
                    self.assertIsNotNone(said, str(caught.exception))
                if said is None:
                    continue
                shared = a.share()
                a.merge(b, beyond=True)
                self.assertEqual(a.count_many(range(40_000)), 40_000)
                self.assertAlmostEqual(float(said[1]) / a.info().fpr, 1, delta=0.01)
                self.assertGreater(a.info().fpr, 0.001)
                shared.merge(b.share(), True)
                self.assertEqual(shared.count_many(range(40_000)), 40_000)

    def test_half_and_half_is_fine(self):
        a = tamis.Filter(20_000, 0.001, merges=True, seed=SEED)
        b = tamis.Filter(params=a.params)
        a.update(range(10_000))
        b.update(range(10_000, 20_000))
        a |= b
        self.assertEqual(a.count_many(range(20_000)), 20_000)


class Seeds(unittest.TestCase):
    def test_all_bits_are_drawn(self):
        made = {"build": lambda hash: tamis.Filter.build([1, 2, 3], hash=hash), "Filter": lambda hash: tamis.Filter(10, hash=hash),
                "SharedFilter": lambda hash: tamis.SharedFilter(10, hash=hash), "seeded": lambda hash: tamis.Filter(params=tamis.plan(10, hash=hash).params.seeded())}
        for name, make in made.items():
            for hash, bits in (("aes", 128), ("xxh3", 64)):
                with self.subTest(call=name, hash=hash):
                    seeds = [make(hash).params.seed for _ in range(80)]
                    self.assertEqual(len(set(seeds)), 80)
                    every = (1 << bits) - 1
                    self.assertEqual(functools.reduce(operator.or_, seeds), every)  # each bit is 1 in one, 0 in another
                    self.assertEqual(functools.reduce(operator.and_, seeds), 0)
        params = tamis.plan(10).params
        self.assertEqual(params.seeded(5).seed, 5)
        self.assertEqual(params.seeded(1 << 100).seeded().seed, 1 << 100)


class Truncated(unittest.TestCase):
    """A file that is made shorter while it is open does not end the process, unless the caller has mapped it."""

    def ends_well(self, source):
        done = subprocess.run([sys.executable, "-c", "import os, sys, tempfile, tamis\n" + textwrap.dedent(source)], check=False,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout.strip(), done.stderr), (0, "alive", ""))

    def test_set(self):
        self.ends_well("""
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "set")
                f = tamis.Filter(400_000, 0.001, seed=1)
                f.update(range(400_000))
                f.save(path)
                sets = [tamis.open(path), tamis.Filter.open(path), tamis.SharedFilter.open(path)]
                os.truncate(path, 4096)
                assert all(one.count_many(range(400_000)) == 400_000 for one in sets)
                print("alive")
        """)

    def test_table(self):
        self.ends_well("""
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "table")
                for reopen in (tamis.open, tamis.Table.open, None):
                    t = tamis.Table(path)
                    t.put_many((str(i), 50 * "v") for i in range(20_000))
                    t.sync()
                    if reopen is not None:
                        t.close()
                        t = reopen(path)
                    os.truncate(path, 8192)
                    for i in range(20_000):
                        try:
                            assert t.get(str(i)) == 50 * b"v"  # from memory
                        except tamis.Error:
                            pass
                    try:
                        t.close()
                    except tamis.Error:
                        pass
                    os.remove(path)
                print("alive")
        """)


class Interpreters(unittest.TestCase):
    """Each interpreter of a process has a module of its own, with classes of its own."""

    WITHIN = textwrap.dedent("""
        import sys
        sys.path[:] = {path!r}
        import tamis
        for call, error in ((lambda: tamis.Filter(0), tamis.ArgumentError), (lambda: tamis.Filter.from_bytes(b"x" * 300), tamis.FormatError),
                            (lambda: tamis.Filter(10).remove("a"), tamis.UnsupportedError), (lambda: tamis.Filter(10).add(-1), tamis.ArgumentError),
                            (lambda: tamis.Table()["a"], KeyError), (lambda: tamis.Filter(10).update([2 ** 64]), tamis.ArgumentError)):
            try:
                call()
            except error:
                continue
            raise SystemExit("no error")
        class Mine(tamis.Filter):
            pass
        kept = Mine(1000, 0.01)
        kept.update(range(1000))
        assert kept.count_many(range(1000)) == 1000 and type(kept.copy()) is Mine
        table = tamis.Table()
        table["a"] = "b"
    """)

    def setUp(self):
        for name in ("_interpreters", "_xxsubinterpreters"):
            try:
                self.own = __import__(name)
            except ImportError:
                continue
            return
        self.skipTest("no module of interpreters here")

    def run_in(self, which, text):
        answer = self.own.run_string(which, text)  # raises in older versions, tells in newer ones
        self.assertIsNone(answer)

    def refuse(self):
        self.assertRaises(tamis.ArgumentError, tamis.Filter, params=tamis.Params("bloom", -1))
        self.assertRaises(tamis.FormatError, tamis.Filter.from_bytes, b"x" * 300)

    def test_errors_are_classes_of_the_interpreter(self):
        self.refuse()
        text = self.WITHIN.format(path=sys.path)
        first, second = self.own.create(), self.own.create()
        self.run_in(first, text)
        self.refuse()
        self.run_in(second, text)
        self.run_in(first, text)
        self.own.destroy(first)
        self.refuse()
        self.run_in(second, text)
        self.own.destroy(second)
        self.refuse()

    def test_a_module_that_is_loaded_again_is_another(self):
        source = "import sys, tamis\nkept = tamis.Filter(10)\nold = tamis.ArgumentError\n" \
            "for name in [n for n in sys.modules if n.startswith('tamis')]: del sys.modules[name]\n" \
            "import tamis as new\nassert new.Filter is not type(kept)\n" \
            "for cls, error in ((type(kept), old), (new.Filter, new.ArgumentError)):\n" \
            "    try: cls(10).add(-1)\n    except error: pass\n    else: raise SystemExit('no error')\n" \
            "kept.add('a'); assert 'a' in kept\n"
        subprocess.run([sys.executable, "-c", source], check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})


class Words(unittest.TestCase):
    """What people read and write: numbers of other types, help, notebooks."""

    def test_numbers_of_other_types(self):
        exact = tamis.plan(1_000_000, 0.01)
        self.assertEqual(tamis.plan(1e6, .01), exact)
        self.assertEqual(tamis.plan(fractions.Fraction(1_000_000).numerator, fractions.Fraction(1, 100)), exact)
        self.assertEqual(tamis.plan(1e6, decimal.Decimal("0.01")), exact)
        self.assertEqual(tamis.plan(1e6, .01, copies=3.0), tamis.plan(1e6, .01, copies=3))
        self.assertEqual(tamis.Filter(1e3, .01).params.capacity, 1000)
        for call in (tamis.plan, tamis.plans, tamis.plan_shared, tamis.Filter, tamis.SharedFilter):
            for bad, words in ((dict(n=1000.5), "n is a whole number, not 1000.5"), (dict(n=math.inf), "n is a whole number, not inf"),
                               (dict(n="1000"), "n is a whole number, not '1000'"), (dict(fpr="1%"), "fpr is a number, not '1%': write 0.01"),
                               (dict(fpr="0.5 %"), "write 0.005"), (dict(fpr="0.01"), "fpr is a number, not '0.01'"),
                               (dict(fpr="%"), "fpr is a number, not '%'$"), (dict(fpr=[0.1]), "fpr is a number"),
                               (dict(copies=1.5), "copies is a whole number"), (dict(overshoot="10%"), "write 0.1")):
                with self.assertRaisesRegex(TypeError, words):
                    call(**{"n": 1000, **bad})
        with self.assertRaisesRegex(TypeError, "no 'colour'; it has: n, fpr, kind, deletes"):
            tamis.plan(1000, colour=1)

    def test_help_names_the_needs(self):
        names = set(_native.members()["tamis_need"])
        for call in (tamis.plan, tamis.plans, tamis.plan_shared, tamis.Filter, tamis.SharedFilter):
            self.assertLessEqual(names, set(inspect.signature(call).parameters), call)
        text = pydoc.plain(pydoc.render_doc(tamis.Filter))
        for name in names - {"n", "fpr"}:
            self.assertRegex(text, rf"(?m)^ *\|? *{name}  +\w|^ *\|? *{name}  +\"")
        self.assertIn("value_bits", pydoc.plain(pydoc.render_doc(tamis.plan)))

        class Mine(tamis.Filter):
            def __init__(self, size):
                super().__init__(size)

        self.assertEqual(list(inspect.signature(Mine).parameters), ["size"])
        self.assertEqual(Mine(1e3).params.capacity, 1000)

    def test_notebooks(self):
        f = tamis.Filter(100_000, 0.01, seed=SEED)
        f.update(range(1234))
        for shown in (f, f.share(), f.info(), tamis.plan(100_000), tamis.plan_shared(100_000)):
            text = shown._repr_html_()
            self.assertIn(f.kind, text)
            self.assertEqual(ElementTree.fromstring(text).tag, "table")
        self.assertIn("1,234", f._repr_html_())
        f.close()
        self.assertIn("closed", f._repr_html_())

    def test_an_empty_set_has_no_bits_per_key(self):
        self.assertIsNone(tamis.Filter(100).info().bits_per_key)


if __name__ == "__main__":
    unittest.main()
