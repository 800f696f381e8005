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
        self.refused("capacity", bf.create, "x", 0.1, 0)
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
        self.assertEqual((info.filterNum, info.insertedNum, info.deletedNum), (1, 1, 2))
        self.assertEqual((info.bucketNum, info.bucketSize, info.expansionRate), (512, 2, 1))
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
            self.refused("received bad data" if name == "bloom" else "item exists", calls.loadchunk, name, *chunks[0])
            self.refused("", calls.loadchunk, name + "3", *chunks[1])
            self.refused("", calls.loadchunk, name + "3", 1, b"short")

    def test_errors_to_the_letter(self):
        x = self.raw(self.one).call
        x("BF.ADD", "bf", "a")
        x("CF.ADD", "cf", "a")
        reserve, most = ("BF.RESERVE", "x"), 1 << 40
        for text, command in (
                ("ERR bad error rate", (*reserve, "x", 10)),
                ("ERR error rate must be in the range (0.000000, 1.000000)", (*reserve, 1, 10)),
                ("ERR bad capacity", (*reserve, 0.1, "x")),
                (f"ERR capacity must be in the range [1, {most}]", (*reserve, 0.1, 0)),
                ("ERR no expansion", (*reserve, 0.1, 10, "EXPANSION")),
                ("ERR bad expansion", (*reserve, 0.1, 10, "EXPANSION", "x")),
                ("ERR expansion must be in the range [0, 32768]", (*reserve, 0.1, 10, "EXPANSION", -1)),
                ("Nonscaling filters cannot expand", (*reserve, 0.1, 10, "NONSCALING", "EXPANSION", 2)),
                ("Nonscaling filters cannot expand", (*reserve, 0.1, 10, "EXPANSION", 2, "NONSCALING")),
                ("ERR wrong number of arguments for 'BF.RESERVE' command", (*reserve, 0.1, 10, *"abcd")),
                ("Bad error rate", ("BF.INSERT", "x", "ERROR", "x", "ITEMS", "a")),
                ("Bad capacity", ("BF.INSERT", "x", "CAPACITY", 0, "ITEMS", "a")),
                ("Bad expansion", ("BF.INSERT", "x", "EXPANSION", -1, "ITEMS", "a")),
                ("Unknown argument received", ("BF.INSERT", "x", "SPEED", 1, "ITEMS", "a")),
                ("ERR wrong number of arguments for 'BF.INSERT' command", ("BF.INSERT", "x", "NOCREATE", "ITEMS")),
                ("Invalid information value", ("BF.INFO", "bf", "speed")),
                ("Second argument must be numeric", ("BF.SCANDUMP", "bf", "x")),
                ("ERR Second argument must be numeric", ("BF.LOADCHUNK", "bf", "x", "y")),
                ("ERR received bad data", ("BF.LOADCHUNK", "x", 1, "y")),
                ("ERR received bad data", ("BF.LOADCHUNK", "bf", 9, "y")),
                ("ERR not found", ("BF.LOADCHUNK", "x", 9, "y")),
                ("Bad capacity", ("CF.RESERVE", "x", "y")),
                (f"Capacity must be in the range [2 * BUCKETSIZE, {most}]", ("CF.RESERVE", "x", 3)),
                (f"Capacity must be in the range [2 * BUCKETSIZE, {most}]", ("CF.RESERVE", "x", 9, "BUCKETSIZE", 5)),
                ("Couldn't parse BUCKETSIZE", ("CF.RESERVE", "x", 9, "BUCKETSIZE", "y")),
                ("BUCKETSIZE: value must be in the range [1, 255]", ("CF.RESERVE", "x", 9, "BUCKETSIZE", 256)),
                ("MAXITERATIONS: value must be in the range [1, 65535]", ("CF.RESERVE", "x", 9, "MAXITERATIONS", 0)),
                ("EXPANSION: value must be in the range [0, 32768]", ("CF.RESERVE", "x", 9, "EXPANSION", -1)),
                ("ERR wrong number of arguments for 'CF.RESERVE' command", ("CF.RESERVE", "x", 9, "EXPANSION")),
                (f"Capacity must be in the range [cf-bucket-size * 2, {most}]",
                 ("CF.INSERT", "x", "CAPACITY", 3, "ITEMS", "a")),
                ("Unknown argument received", ("CF.INSERT", "x", "EXPANSION", 3, "ITEMS", "a")),
                ("Not found", ("CF.DEL", "x", "a")),
                ("Invalid position", ("CF.SCANDUMP", "cf", -1)),
                ("Invalid position", ("CF.LOADCHUNK", "cf", 0, "y")),
                ("Invalid header", ("CF.LOADCHUNK", "x", 1, "y")),
                ("Couldn't create filter!", ("CF.LOADCHUNK", "x", 1, bytes(16))),
                ("Couldn't load chunk!", ("CF.LOADCHUNK", "cf", 9, "y"))):
            with self.assertRaises(Fault) as caught:
                x(*command)
            self.assertEqual(str(caught.exception).lower(), text.lower(), command)
        self.assertEqual(x("EXISTS", "x"), 0)

    def test_arguments_are_told(self):
        """What clients complete and check by; what commands do is described by those who made them."""
        x = self.raw(self.one, 3).call
        docs = x("COMMAND", "DOCS")
        for command, names in (
                ("bf.add", "key item"), ("bf.reserve", "key error_rate capacity expansion nonscaling"),
                ("bf.insert", "key capacity error expansion nocreate nonscaling items item"),
                ("bf.info", "key single_value"), ("cf.reserve", "key capacity bucketsize maxiterations expansion"),
                ("cf.insertnx", "key capacity nocreate items item"), ("cf.loadchunk", "key iterator data")):
            told = docs[command.encode()]
            self.assertEqual(b" ".join(a[b"name"] for a in told[b"arguments"]).decode(), names)
            self.assertNotIn(b"summary", told)
        self.assertEqual(x("COMMAND", "GETKEYS", "BF.MADD", "a", "b", "c"), [b"a"])

    def test_info_of_one_field(self):
        two, three = (self.raw(self.one, protocol).call for protocol in (2, 3))
        two("BF.RESERVE", "s", 0.01, 100)
        two("BF.MADD", "s", "a", "b")
        two("BF.RESERVE", "f", 0.01, 100, "NONSCALING")
        two("BF.RESERVE", "z", 0.01, 100, "EXPANSION", 0)
        two("BF.INSERT", "y", "EXPANSION", 0, "ITEMS", "a")
        two("BF.RESERVE", "e", 0.01, 100, "EXPANSION", 4)
        for name, word, full, number in (("s", "CAPACITY", "Capacity", 100), ("s", "filters", "Number of filters", 1),
                                         ("s", "ITEMS", "Number of items inserted", 2),
                                         ("s", "EXPANSION", "Expansion rate", 2), ("e", "EXPANSION", "Expansion rate", 4),
                                         ("f", "EXPANSION", "Expansion rate", None),
                                         ("z", "EXPANSION", "Expansion rate", None),
                                         ("y", "EXPANSION", "Expansion rate", None)):
            self.assertEqual(two("BF.INFO", name, word), [number])
            self.assertEqual(three("BF.INFO", name, word), {full: number})
        self.assertEqual(two("BF.INFO", "s", "SIZE"), [two("BF.INFO", "s")[3]])
        self.assertEqual(list(three("BF.INFO", "f")),
                         ["Capacity", "Size", "Number of filters", "Number of items inserted", "Expansion rate"])

    def test_info_tells_what_was_asked_for(self):
        """Numbers without effect here: on this server, after a restart, on a replica, and in another key."""
        x = self.raw(self.one).call
        x("CF.RESERVE", "c", 2000, "BUCKETSIZE", 4, "MAXITERATIONS", 500, "EXPANSION", 3)
        x("CF.ADD", "c", "a")
        asked = ["Bucket size", 4, "Expansion rate", 4, "Max iterations", 500]
        self.assertEqual(x("CF.INFO", "c")[10:], asked)
        self.assertEqual(x("CF.INFO", "c")[2:4], ["Number of buckets", 512])
        x("COPY", "c", "d")
        at, parts = 0, []
        for _ in range(1000):
            at, data = x("CF.SCANDUMP", "c", at)
            if at == 0:
                break
            parts.append((at, data))
        for part in parts:
            x("CF.LOADCHUNK", "e", *part)
        x("RESTORE", "f", 0, x("DUMP", "c"))
        for name in "def":
            self.assertEqual(x("CF.INFO", name)[10:], asked)
        self.one.restart()
        x = self.raw(self.one).call
        for name in "cdef":
            self.assertEqual(x("CF.INFO", name)[10:], asked)
        x("TAMIS.RESERVE", "ours", 1000, 0.01, "DELETES", "FIXED")
        self.assertEqual(x("CF.INFO", "ours")[10:], ["Bucket size", 2, "Expansion rate", 0, "Max iterations", 20])

    def test_append_only_file_keeps_what_was_asked_for(self):
        one = self.server("--tamis.compat", "yes", "--appendonly", "yes", "--aof-use-rdb-preamble", "no")
        x = self.raw(one).call
        x("CF.RESERVE", "c", 100, "EXPANSION", 8)
        x("CF.ADD", "c", "a")
        for rewritten in (False, True):
            if rewritten:
                x("BGREWRITEAOF")
                wait_until(lambda: not one.client.info("persistence")["aof_rewrite_in_progress"] and
                           not one.client.info("persistence")["aof_rewrite_scheduled"], "a rewritten file")
            one.restart(save=False)
            x = self.raw(one).call
            self.assertEqual(x("CF.INFO", "c")[12:14], ["Expansion rate", 8])

    def test_cuckoo_ends_where_it_ends_elsewhere(self):
        two, three = (self.raw(self.one, protocol).call for protocol in (2, 3))
        two("CF.RESERVE", "c", 4)  # 31 filters of 4 keys, the 32nd takes none
        for i in range(124):
            self.assertEqual(two("CF.ADD", "c", i), 1)
        for command in (("CF.ADD", "c", "x"), ("CF.ADDNX", "c", "x"), ("CF.INSERT", "c", "ITEMS", "x")):
            self.refused("Maximum expansions reached", two, *command)
        two("CF.RESERVE", "d", 4, "EXPANSION", 2)
        two("CF.INSERT", "d", "ITEMS", *range(1000))
        self.assertEqual(two("CF.ADD", "d", "x"), 1)
        two("CF.RESERVE", "f", 4, "EXPANSION", 0)
        self.assertEqual(two("CF.INSERT", "f", "ITEMS", *"abcdef"), [1, 1, 1, 1, -1, -1])
        self.assertEqual(three("CF.INSERT", "f", "ITEMS", "e"), [False])
        self.assertEqual(three("CF.INSERTNX", "f", "ITEMS", "a", "e"), [0, -1])
        self.refused("Filter is full", two, "CF.ADD", "f", "e")
        self.refused("Filter is full", two, "CF.ADDNX", "f", "e")

    def test_bloom_list_ends_with_the_first_that_is_refused(self):
        x = self.raw(self.one).call
        self.assertEqual(x("BF.INSERT", "f", "CAPACITY", 3, "NONSCALING", "ITEMS", *"abc"), [1, 1, 1])
        answers = x("BF.INSERT", "f", "ITEMS", *"abcdd")
        self.assertEqual([str(a) for a in answers], ["0", "0", "0", "ERR non scaling filter is full"])
        self.assertEqual(len(x("BF.MADD", "f", *"dab")), 1)

    def test_protocol_3_answers(self):
        x = self.raw(self.one, 3).call
        self.assertEqual(x("CF.RESERVE", "a", 9), "OK")
        for command, answer in ((("ADD", "a", 3), True), (("ADDNX", "a", 3), False), (("ADDNX", "a", 4), True),
                                (("INSERT", "a", "ITEMS", 4, 5), [True, True]), (("INSERTNX", "a", "ITEMS", 4, 6), [0, 1]),
                                (("DEL", "a", 3), True), (("DEL", "a", 3), False), (("EXISTS", "a", 4), True),
                                (("MEXISTS", "a", 4, 3), [True, False]), (("COUNT", "a", 4), 2)):
            told = x("CF." + command[0], *command[1:])
            self.assertEqual((told, [type(t) for t in told] if isinstance(told, list) else type(told)),
                             (answer, [type(t) for t in answer] if isinstance(answer, list) else type(answer)))
        self.assertEqual(x("CF.INFO", "a")["Number of items inserted"], 4)

    def test_scandump_of_what_is_empty(self):
        x = self.raw(self.one).call
        x("CF.RESERVE", "c", 100)
        self.assertEqual(x("CF.SCANDUMP", "c", 0), [0, None])
        x("CF.ADD", "c", "a")
        self.assertEqual(x("CF.SCANDUMP", "c", 1 << 40), [0, None])
        x("BF.RESERVE", "b", 0.01, 100)
        self.assertEqual(x("BF.SCANDUMP", "b", 0)[0], 1)
        self.assertEqual(x("BF.SCANDUMP", "b", 1 << 40), [0, b""])
        self.assertEqual(x("BF.SCANDUMP", "b", -1), [0, b""])

    def test_info_reads_no_tables(self):
        """A set of a gigabyte is told of as quickly as a small one; so is one that has grown."""
        x = self.raw(self.one).call
        x("CONFIG", "SET", "tamis.max-bytes", 1 << 40)
        x("CF.RESERVE", "c", 1 << 26)
        x("BF.RESERVE", "b", 0.0001, 1 << 28)
        for name, n in (("g", 30000), ("h", 30000)):
            x("CF.RESERVE" if name == "g" else "TAMIS.RESERVE", name, n, *(() if name == "g" else (0.001,)))
            for i in range(0, 200000, 10000):
                x("TAMIS.MADD", name, *range(i, i + 10000))
        for name in "cbgh":
            for command in ("CF.INFO", "BF.INFO"):
                self.assertLess(self.usec(command, name), 1000)

    def usec(self, *command):
        """The shortest time of the server for a command, of several tries: others may be at work."""
        tries = []
        for _ in range(10):
            self.one.client.config_resetstat()
            self.one.client.execute_command(*command)
            tries.append(self.one.client.info("commandstats")["cmdstat_" + command[0].lower()]["usec"])
        return min(tries)

    def test_compat_sets_are_ours_and_are_replicated(self):
        replica = self.server(port=free_port())  # without these commands
        primary = self.server("--tamis.compat", "yes", port=free_port())
        replica.client.execute_command("REPLICAOF", "127.0.0.1", str(primary.port))
        bf, cf = primary.client.bf(), primary.client.cf()
        wait_until(lambda: replica.client.info("replication")["master_link_status"] == "up", "a link")
        bf.madd("b", *KEYS)
        bf.insert("b2", KEYS, capacity=50)
        cf.create("c", 300, bucket_size=4, expansion=8)
        cf.insert("c", KEYS)
        for key in KEYS[:100]:
            cf.delete("c", key)
        self.assertEqual(primary.client.wait(1, 10000), 1)
        self.assertEqual(primary.client.execute_command("DEBUG", "DIGEST"),
                         replica.client.execute_command("DEBUG", "DIGEST"))
        self.assertEqual(replica.client.execute_command("TAMIS.CARD", "c"), 400)


if __name__ == "__main__":
    main()
