"""Arrays of numpy and columns of pandas as keys.  Skipped where there is no numpy.

SPDX-License-Identifier: MIT
"""
import threading
import unittest

import tamis

try:
    import numpy
except ImportError:
    numpy = None
try:
    import pandas
except ImportError:
    pandas = None

SEED = 20060920


@unittest.skipUnless(numpy, "no numpy here")
class Numpy(unittest.TestCase):
    def setUp(self):
        self.f = tamis.Filter(20_000, 1e-6, seed=SEED)

    def same(self, array, keys):
        """Adding an array is adding its items; answers are arrays of bools."""
        f, g = self.f.copy(), self.f.copy()
        added = f.add_many(array)
        self.assertIs(type(added), numpy.ndarray)
        self.assertEqual(added.dtype, numpy.bool_)
        self.assertEqual(added.tolist(), [g.add(key) for key in keys])
        self.assertEqual(f.to_bytes(), g.to_bytes())
        self.assertTrue(f.contains_many(array).all())
        self.assertEqual(f.count_many(array), len(keys))
        self.assertEqual(f.count_many(keys), len(keys))

    def test_integers(self):
        for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
            for order in "<>":
                with self.subTest(kind=kind, order=order):
                    top = min(numpy.iinfo(kind).max, 2 ** 63 - 1)
                    numbers = sorted({0, 1, 5, 100, top // 3, top})
                    array = numpy.array(numbers * 400, dtype=order + kind)
                    self.same(array, numbers * 400)
                    self.same(array[::2], (numbers * 400)[::2])
                    self.same(array[::-3], (numbers * 400)[::-3])
                    if kind[0] == "i":
                        array[-1] = -1
                        self.assertRaises(ValueError, self.f.update, array)
                        self.assertRaises(ValueError, self.f.update, array[::-1])
                        self.assertEqual(len(self.f), 0)
        self.same(numpy.array([2 ** 64 - 1], dtype="u8"), [2 ** 64 - 1])
        square = numpy.arange(24, dtype="u4").reshape(4, 6)
        self.same(square, list(range(24)))
        self.assertRaises(BufferError, self.f.update, square[:, ::2])
        record = numpy.zeros(10, dtype=[("a", "i4"), ("b", "u8")])
        record["b"] = range(10)
        self.same(record["b"], list(range(10)))  # items that are not aligned, 12 bytes apart
        self.assertRaises(TypeError, self.f.update, record)

    def test_times_are_their_text(self):
        days = numpy.array(["2026-03-01", "1969-12-31", "0001-01-01", "9999-12-31"] * 2000, dtype="M8[D]")
        texts = ["2026-03-01", "1969-12-31", "0001-01-01", "9999-12-31"] * 2000
        self.same(days, texts)
        self.same(days[::-3], texts[::-3])
        self.same(days.astype("M8[D]").reshape(4, 2000), texts)
        self.same(days.astype("M8[h]"), [text + "T00:00:00" for text in texts])
        for unit, part in (("ms", "250"), ("us", "250001"), ("ns", "250001000")):
            times = numpy.array(["2026-03-01T09:05:00." + part, "2026-03-01T09:05:00"] * 2000, dtype=f"M8[{unit}]")
            self.same(times, ["2026-03-01T09:05:00." + (part + "000")[:6], "2026-03-01T09:05:00"] * 2000)
            self.assertTrue(self.f.copy().add(times[0]) and self.f.copy().add(times[0].item() if unit != "ns" else 5))
        one = self.f.copy()
        one.add(numpy.datetime64("2026-03-01T09:05:00.25"))
        self.assertEqual(one.contains_many(["2026-03-01T09:05:00.250000", "2026-03-01"]).tolist(), [True, False])
        for bad in (numpy.array(["2026-03"], dtype="M8[M]"), numpy.array([1, 2], dtype="m8[s]"), numpy.array(["NaT", "2026-03-01"], dtype="M8[D]"),
                    numpy.array([5], dtype="M8[ps]"), numpy.array([5], dtype="M8[2s]"), [numpy.float64(1.5)], [numpy.float32(1)],
                    [numpy.datetime64("NaT", "s")], [numpy.timedelta64(5, "s")]):
            self.assertRaises(TypeError, self.f.update, bad)
        for bad in (numpy.array([1000, 1], dtype="M8[ns]"), numpy.array([40_000_000], dtype="M8[D]"), numpy.array([-800_000], dtype="M8[D]")):
            self.assertRaises(tamis.ArgumentError, self.f.update, bad)
        self.assertEqual(len(self.f), 0)

    def test_text_and_bytes(self):
        words = ["", "a", "grün", "日本語", "x" * 40, "a\0b", "\U0001f600"] * 300
        array = numpy.array(words)
        self.assertEqual(array.dtype.kind, "U")
        self.same(array, words)
        self.same(array.astype(">U40"), words)
        self.same(array[::3], words[::3])
        short = [word.encode()[:20] for word in words]
        self.same(numpy.array(short), short)
        self.same(numpy.array(short)[::-2], short[::-2])
        self.same(numpy.array(words, dtype=object), words)
        self.same(numpy.array(words, dtype=object)[::2], words[::2])
        mixed = ["a", b"b", 5] * 500
        self.same(numpy.array(mixed, dtype=object), mixed)
        self.same(numpy.array(["z" * 400_000, "y"]), ["z" * 400_000, "y"])
        self.same(numpy.array(["", ""]), ["", ""])
        broken = numpy.array(["ab"] * 3000)
        broken.view("u4")[5000] = 0xD800
        self.assertRaises(ValueError, self.f.update, broken)
        broken.view("u4")[5000] = 0xFFFFFFFF
        self.assertRaises(ValueError, self.f.update, broken)
        self.assertEqual(len(self.f), 0)

    def test_what_is_refused(self):
        for bad in (numpy.zeros(3), numpy.zeros(3, bool), numpy.zeros(3, "m8[s]"), numpy.zeros(3, complex),
                    numpy.array(5), numpy.array("2026-03-01", "M8[D]"), numpy.array([1, None], dtype=object)):
            self.assertRaises(TypeError, self.f.update, bad)
        self.assertEqual(len(self.f), 0)

    def test_scalars_and_flags(self):
        self.f.update(numpy.arange(50))
        for key in (numpy.uint64(7), numpy.int32(7), numpy.uint8(7), 7):
            self.assertIn(key, self.f)
        self.assertRaises(ValueError, self.f.add, numpy.int64(-1))
        self.assertIn(numpy.str_("a"), tamis.Filter.build(["a"]))
        frozen = numpy.arange(50)
        frozen.flags.writeable = False
        self.assertEqual(self.f.count_many(frozen), 50)
        mask = self.f.contains_many(numpy.arange(45, 55))
        self.assertEqual(numpy.arange(45, 55)[mask].tolist(), [45, 46, 47, 48, 49])
        with self.assertRaises(ValueError):
            mask[0] = False
        offsets = tamis.Offsets(numpy.array([0, 1, 3], "i4"), numpy.frombuffer(b"abb", "u1"))
        self.assertEqual(self.f.contains_many(offsets).tolist(), [False, False])

    def test_array_that_changes_meanwhile(self):
        array = numpy.arange(2_000_000, dtype="i4")[::2]
        text = numpy.array(["abc"] * 200_000)
        f = tamis.Filter(3_000_000, 0.01, kind="bloom", seed=SEED)
        stop = threading.Event()

        def spoil():
            while not stop.is_set():
                array[::7] ^= 1
                text.view("u4")[::5] ^= 3
        thread = threading.Thread(target=spoil)
        thread.start()
        try:
            for _ in range(5):
                f.update(array)
                f.update(text)
        finally:
            stop.set()
            thread.join()


@unittest.skipUnless(pandas, "no pandas here")
class Pandas(unittest.TestCase):
    def setUp(self):
        self.f = tamis.Filter(20_000, 1e-6, seed=SEED)

    def test_columns(self):
        numbers, words = list(range(1000)), [f"key {i}" for i in range(1000)]
        for series, keys in ((pandas.Series(numbers), numbers), (pandas.Index(numbers), numbers),
                             (pandas.RangeIndex(1000), numbers), (pandas.Series(numbers, dtype="Int64"), numbers),
                             (pandas.Series(numbers, dtype="uint16"), numbers),
                             (pandas.Series(words), words), (pandas.Index(words), words),
                             (pandas.Series(words, dtype="string"), words),
                             (pandas.Series(words, dtype="category"), words),
                             (pandas.Series(numbers, dtype="category"), numbers)):
            with self.subTest(dtype=series.dtype, type=type(series).__name__):
                f, g = self.f.copy(), self.f.copy()
                added = f.add_many(series)
                self.assertIs(type(added), numpy.ndarray)
                g.update(keys)
                self.assertEqual(f.to_bytes(), g.to_bytes())
                f.update(series[::2])
                self.assertTrue(f.contains_many(series).all())
        frame = pandas.DataFrame({"url": words, "n": numbers})
        self.f.update(words[:10])
        self.assertEqual(frame[self.f.contains_many(frame["url"])]["n"].tolist(), list(range(10)))
        self.assertEqual(len(frame[~self.f.contains_many(frame.url)]), 990)

    def test_times_are_their_text(self):
        times = pandas.Series(pandas.date_range("2026-03-01 09:05", periods=5000, freq="250ms"))
        texts = [one.to_pydatetime().isoformat() for one in times]
        for zone, end, shift in ((None, "", 0), ("UTC", "Z", 0), ("Europe/Berlin", "Z", 1)):
            with self.subTest(zone=zone):
                keys = times if zone is None else times.dt.tz_localize("UTC").dt.tz_convert(zone)
                f, g = self.f.copy(), self.f.copy()
                added = f.add_many(keys)
                self.assertEqual((type(added), len(added)), (numpy.ndarray, 5000))
                g.update(text + end for text in texts)
                self.assertEqual(f.to_bytes(), g.to_bytes())
                self.assertTrue(all(one in f for one in keys[:10]))  # a Timestamp is a datetime
                self.assertEqual(f.count_many(pandas.Index(keys)), 5000)
                self.assertEqual(f.count_many(list(keys)), 5000)
        f = self.f.copy()
        f.update(pandas.Series([one.date() for one in times[:3]]))
        self.assertIn("2026-03-01", f)

    def test_what_is_refused(self):
        for bad in (pandas.Series([1.5]), pandas.Series(["a", None]), pandas.Series([1, None], dtype="Int64"),
                    pandas.Series(["a", None], dtype="string"), pandas.Series([True]),
                    pandas.MultiIndex.from_tuples([(1, 2)]), pandas.Series(pandas.to_timedelta(["1d"])),
                    pandas.Series(pandas.to_datetime(["2020-01-01", None])), pandas.Series(pandas.period_range("2020", periods=3)), [pandas.NaT],
                    pandas.Series(pandas.to_datetime(["2020-01-01", None], utc=True))):
            self.assertRaises(TypeError, self.f.update, bad)
        for bad in (pandas.Series(pandas.to_datetime([1], unit="ns")), [pandas.Timestamp(1)]):
            self.assertRaises(tamis.ArgumentError, self.f.update, bad)
        self.assertEqual(len(self.f), 0)


if __name__ == "__main__":
    unittest.main()
