"""Commands of other filters, by the calls that redis-py has for them: bf() and cf().

SPDX-License-Identifier: MIT
"""
from support import *

KEYS = [f"key:{i}" for i in range(500)]


class Compat(Case):
    def setUp(self):
        self.one = self.server("--tamis.compat", "yes")
        self.bf, self.cf = self.one.client.bf(), self.one.client.cf()

    def test_off_by_default(self):
        other = self.server()
        self.refused("unknown command", other.client.bf().add, "s", "a")
        self.refused("unknown command", other.client.cf().add, "s", "a")

    def test_bloom_calls(self):
        bf = self.bf
        self.assertTrue(bf.create("s", 0.001, 1000))
        self.assertTrue(bf.create("e", 0.001, 1000, expansion=2))
        self.assertTrue(bf.create("f", 0.001, 100, noScale=True))
        self.refused("item exists", bf.create, "s", 0.001, 1000)
        self.refused("0 < error rate range < 1", bf.create, "x", 0, 10)
        self.refused("0 < error rate range < 1", bf.create, "x", 1.5, 10)
        self.refused("capacity", bf.create, "x", 0.1, 0)
        self.refused("bad expansion", bf.create, "x", 0.1, 10, 0)
        self.assertEqual(bf.add("s", "a"), 1)
        self.assertEqual(bf.add("s", "a"), 0)
        self.assertEqual(bf.add("new", "a"), 1)
        self.assertEqual(bf.madd("s", "a", "b", "c"), [0, 1, 1])
        self.assertEqual(bf.exists("s", "b"), 1)
        self.assertEqual(bf.exists("s", "no"), 0)
        self.assertEqual(bf.mexists("s", "b", "no", "c"), [1, 0, 1])
        self.assertEqual(bf.exists("missing", "b"), 0)
        self.assertEqual(bf.insert("i", ["a", "b", "a"], capacity=1000, error=0.01), [1, 1, 0])
        self.assertEqual(bf.insert("i", ["c"], noCreate=True), [1])
        self.refused("not found", lambda: bf.insert("missing", ["c"], noCreate=True))
        answers = bf.madd("f", *KEYS)
        self.assertIn("non scaling filter is full", str(answers[-1]))
        self.refused("non scaling filter is full", bf.add, "f", "one more")
        self.assertEqual(self.one.client.execute_command("BF.CARD", "f"), 100)
        info = bf.info("s")
        self.assertEqual((info.capacity, info.filterNum, info.insertedNum, info.expansionRate), (1000, 1, 3, 2))
        self.assertGreater(info.size, 1000)
        self.refused("not found", bf.info, "missing")
        bf.madd("grown", *KEYS)
        self.assertEqual(bf.mexists("grown", *KEYS), [1] * len(KEYS))
        self.assertGreater(bf.info("grown").filterNum, 1)

    def test_cuckoo_calls(self):
        cf = self.cf
        self.assertTrue(cf.create("s", 1000))
        self.assertTrue(cf.create("e", 1000, expansion=1))
        self.assertTrue(cf.create("b", 1000, bucket_size=4))
        self.assertTrue(cf.create("m", 1000, max_iterations=10))
        self.refused("item exists", cf.create, "s", 1000)
        self.refused("BUCKETSIZE", lambda: cf.create("x", 1000, bucket_size=300))
        self.refused("MAXITERATIONS", lambda: cf.create("x", 1000, max_iterations=70000))
        self.assertEqual(cf.add("s", "a"), 1)
        self.assertEqual(cf.add("s", "a"), 1)
        self.assertEqual(cf.addnx("s", "a"), 0)
        self.assertEqual(cf.addnx("s", "b"), 1)
        self.assertEqual(cf.count("s", "a"), 2)
        self.assertEqual(cf.exists("s", "a"), 1)
        self.assertEqual(self.one.client.execute_command("CF.MEXISTS", "s", "a", "no"), [1, 0])
        self.assertEqual(cf.insert("i", ["a", "b", "a"], capacity=1000), [1, 1, 1])
        self.assertEqual(cf.insertnx("i", ["a", "c"]), [0, 1])
        self.refused("not found", lambda: cf.insert("missing", ["a"], nocreate=True))
        self.assertEqual(cf.delete("s", "a"), 1)
        self.assertEqual(cf.delete("s", "a"), 1)
        self.assertEqual(cf.delete("s", "a"), 0)
        self.refused("Not found", cf.delete, "missing", "a")
        info = cf.info("s")
        self.assertEqual((info.filterNum, info.insertedNum, info.deletedNum), (1, 3, 2))
        self.assertGreater(info.bucketNum, 0)
        for key in KEYS:
            cf.add("grown", key)
        self.assertTrue(all(cf.exists("grown", key) for key in KEYS))
        self.refused("WRONGTYPE", lambda: [self.one.client.set("t", 1), cf.add("t", "a")])

    def test_scandump_and_loadchunk(self):
        for calls, name in ((self.bf, "bloom"), (self.cf, "cuckoo")):
            for key in KEYS:
                calls.add(name, key)
            chunks, at = [], 0
            for _ in range(1000):
                at, data = calls.scandump(name, at)
                if at == 0:
                    break
                chunks.append((at, data))
            self.assertGreaterEqual(len(chunks), 2)
            for at, data in chunks:
                self.assertTrue(calls.loadchunk(name + "2", at, data))
            one, two = self.one.client.execute_command("DEBUG", "DIGEST-VALUE", name, name + "2")
            self.assertEqual(one, two)
            self.refused("item exists", calls.loadchunk, name, *chunks[0])
            self.refused("", calls.loadchunk, name + "3", *chunks[1])
            self.refused("", calls.loadchunk, name + "3", 1, b"short")

    def test_compat_sets_are_ours_and_are_replicated(self):
        replica = self.server(port=free_port())  # without these commands
        primary = self.server("--tamis.compat", "yes", port=free_port())
        replica.client.execute_command("REPLICAOF", "127.0.0.1", str(primary.port))
        bf, cf = primary.client.bf(), primary.client.cf()
        wait_until(lambda: replica.client.info("replication")["master_link_status"] == "up", "a link")
        bf.madd("b", *KEYS)
        bf.insert("b2", KEYS, capacity=50)
        cf.insert("c", KEYS)
        for key in KEYS[:100]:
            cf.delete("c", key)
        self.assertEqual(primary.client.wait(1, 10000), 1)
        self.assertEqual(primary.client.execute_command("DEBUG", "DIGEST"),
                         replica.client.execute_command("DEBUG", "DIGEST"))
        self.assertEqual(replica.client.execute_command("TAMIS.CARD", "c"), 400)


if __name__ == "__main__":
    main()
