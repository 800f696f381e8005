"""tamis.dask on a real scheduler with worker processes, one of which is killed.  Skipped where there is no Dask.

SPDX-License-Identifier: MIT
"""
import array
import os
import signal
import time
import unittest
from unittest import mock

import tamis

try:
    import dask
    import dask.array
    import dask.bag
    import dask.dataframe
    import distributed
    import numpy
    import pandas
    import tamis.dask
except ImportError:
    distributed = None

SEED = 20150522
PARTS, EACH = 24, 5000


def make(part, pause=0.0):
    """Keys of a partition; those of neighbours overlap by half."""
    time.sleep(pause)
    first = part * EACH // 2
    return pandas.DataFrame({"url": [f"http://example.org/{i}" for i in range(first, first + EACH)],
                             "n": range(first, first + EACH)})


def everything():
    return range((PARTS - 1) * EACH // 2 + EACH)


@unittest.skipUnless(distributed, "no Dask here")
class Dask(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        dask.config.set({"distributed.comm.timeouts.connect": "30s"})
        cls.cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1",
                                               dashboard_address=None)
        cls.client = distributed.Client(cls.cluster)
        cls.frame = dask.dataframe.from_delayed([dask.delayed(make)(i) for i in range(PARTS)], meta=make(0)[:0])

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.cluster.close()

    def check(self, made, keys, fpr):
        self.assertEqual(made.count_many(keys), len(keys))
        strange = [f"other {i}" for i in range(20_000)]
        most = fpr * len(strange)
        self.assertLessEqual(made.count_many(strange), most + 5 * most ** 0.5)

    def test_build_from_every_collection(self):
        words = [f"http://example.org/{i}" for i in everything()]
        n = len(words)
        for keys in (self.frame["url"], dask.bag.from_sequence(words, npartitions=7),
                     [dask.delayed(list)(words[:100]), dask.delayed(words[100:])]):
            self.check(tamis.dask.build(keys, n, 0.01).compute(), words, 0.01)
        made = tamis.dask.build(self.frame, n, 0.01, column="n", lanes=5, split_every=2).compute()
        self.check(made, list(everything()), 0.01)
        array = dask.array.arange(n, chunks=3000)
        self.check(tamis.dask.build(array, n, 0.01, deletes=True).compute(), list(everything()), 0.01)
        again = [tamis.dask.build(array, n, 0.01, seed=SEED, lanes=lanes).compute().to_bytes() for lanes in (3, 3)]
        self.assertEqual(*again)
        self.assertRaises(TypeError, tamis.dask.build, 5, 10)

    def test_where_and_publish(self):
        some = tamis.Filter(1000, 1e-6, seed=SEED)
        some.update(f"http://example.org/{i}" for i in range(100, 200))
        published = tamis.dask.publish(some, self.client)
        self.assertEqual(len(self.client.who_has(published)[published.key]), 2)  # a copy on each worker
        found = tamis.dask.where(self.frame, published, column="url").compute()
        self.assertEqual(found["n"].tolist(), list(range(100, 200)))
        rest = tamis.dask.where(self.frame["url"], published, absent=True)
        self.assertEqual(len(rest.compute()), PARTS * EACH - 100)
        bag = dask.bag.from_sequence([f"http://example.org/{i}" for i in range(300)], npartitions=3)
        self.assertEqual(len(tamis.dask.where(bag, published).compute()), 100)
        self.assertEqual(len(tamis.dask.where(bag, some, absent=True).compute()), 200)
        numbers = tamis.Filter(100, 1e-6, seed=SEED)
        numbers.update(range(50))
        array = dask.array.arange(1000, chunks=100)
        self.assertEqual(tamis.dask.where(array, numbers).compute().tolist(), list(range(50)))

    def test_distinct(self):
        n = len(everything())
        for collection, column in ((self.frame, "url"), (self.frame, "n"), (self.frame["url"], None)):
            kept = tamis.dask.distinct(collection, n, 0.001, column=column, shards=5).compute()
            keys = kept[column] if column else kept
            self.assertEqual(len(set(keys)), len(keys))  # no duplicate is left
            self.assertGreaterEqual(len(keys), n - 5 * (n * 0.001) ** 0.5 - n * 0.001)
        words = [f"w{i % 700}" for i in range(3000)]
        bag = tamis.dask.distinct(dask.bag.from_sequence(words, npartitions=6), 700, 1e-6).compute()
        self.assertEqual(bag, words[:700])  # the first of each, in order
        array = tamis.dask.distinct(dask.array.from_array(numpy.arange(3000) % 700, chunks=500), 700, 1e-6)
        self.assertEqual(array.compute().tolist(), list(range(700)))

    def test_a_job_draws_its_seed(self):
        """Which shard a key goes to is not known beforehand, and is the same for all tasks of a job."""
        seen = []

        class Native:
            def __getattr__(self, name):
                return getattr(tamis._native, name)

            def shards(self, params, keys, n):
                seen.append(params["seed"] | params["seed_high"] << 64)
                return tamis._native.shards(params, keys, n)

        bag = dask.bag.from_sequence(range(1000), npartitions=3)
        with mock.patch.object(tamis.dask, "_native", Native()):
            jobs = []
            for seed in (0, 0, 77):
                seen.clear()
                once = tamis.dask.distinct(bag, 1000, 1e-6, shards=4, seed=seed).compute(scheduler="synchronous")
                self.assertEqual(sorted(once), list(range(1000)))
                self.assertEqual(len(set(seen)), 1)
                jobs.append(seen[0])
        self.assertNotEqual(jobs[0], jobs[1])
        self.assertTrue(jobs[0] >> 64 and jobs[1] >> 64)
        self.assertEqual(jobs[2], 77)
        one, two = (tamis.dask.build(bag, 1000, 0.01).compute(scheduler="synchronous").params.seed for _ in range(2))
        self.assertTrue(one != two and one >> 64 and two >> 64)

    def test_more_keys_than_promised(self):
        bag = dask.bag.from_sequence(range(60_000), npartitions=6)
        with self.assertRaisesRegex(tamis.PromiseError, "0.01 was promised"):
            tamis.dask.build(bag, 20_000, 0.01, lanes=3, seed=SEED).compute()
        made = tamis.dask.build(bag, 20_000, 0.01, lanes=3, seed=SEED, beyond=True).compute()
        self.assertEqual(made.count_many(range(60_000)), 60_000)
        for beyond in (False, True):  # a line has no room for them
            with self.assertRaisesRegex(tamis.FullError, "plan with copies"):
                tamis.dask.build(bag, 20_000, 0.01, lanes=6, seed=SEED, beyond=beyond, deletes=True).compute()
        # as many as were promised, but counted several times
        parts = [dask.delayed(list)(range(max(0, i - 500), i + 1000)) for i in range(0, 10_000, 1000)]
        tamis.dask.build(parts, 10_000, 0.01, lanes=4, seed=SEED).compute()
        for kind, fpr, n in (("blocked-bloom", 0.001, 20_000), ("blocked-bloom", 1e-5, 5000), ("bloom", 0.01, 5000)):
            params = tamis.plan(n, fpr, merges=True, kind=kind).params
            for seed in range(1, 60):
                one, two, much = (tamis.Filter(params=params, seed=seed) for _ in range(3))
                one.update(array.array("Q", range(3 * n // 4)))
                two.update(array.array("Q", range(n // 4, n)))
                tamis.dask._union([one, two], False)
                if seed < 5:
                    much.update(array.array("Q", range(n, 2 * n)))
                    self.assertRaises(tamis.PromiseError, tamis.dask._union, [one, two, much], False)

    def test_join(self):
        right = dask.dataframe.from_pandas(pandas.DataFrame(
            {"url": [f"http://example.org/{i}" for i in range(0, 400, 4)], "price": range(100)}), npartitions=2)
        plain = self.frame.merge(right, on="url", how="inner").compute()
        quick = tamis.dask.join(self.frame, right, "url", 100, client=self.client).compute()
        self.assertEqual(sorted(quick["n"]), sorted(plain["n"]))
        lazy = tamis.dask.join(self.frame, right, "url", 100).compute()
        self.assertEqual(sorted(lazy["price"]), sorted(plain["price"]))

    def test_worker_that_is_killed(self):
        """What it had is made again, and the set is the same, byte for byte."""
        slow = [dask.delayed(make)(i, 0.05) for i in range(PARTS)]
        n = len(everything())
        for needs in ({}, {"deletes": True, "copies": 2, "replacements": 10}):
            made = tamis.dask.build(slow, n, 0.01, column="url", seed=SEED, lanes=4, **needs)
            whole = made.compute().to_bytes()
            self.client.restart()
            future = self.client.compute(made)
            time.sleep(0.4)
            victim = sorted(self.client.run(os.getpid).values())[0]
            self.assertFalse(future.done(), "it was too quick to be disturbed")
            os.kill(victim, signal.SIGKILL)
            result = future.result(timeout=60)
            self.assertEqual(result.to_bytes(), whole)
            self.check(result, [f"http://example.org/{i}" for i in everything()], 0.01)


if __name__ == "__main__":
    unittest.main()
