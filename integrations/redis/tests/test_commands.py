"""Every command by a real client: answers in both protocols, arity, wrong types, wrong values.

SPDX-License-Identifier: MIT
"""
import re

from support import *

KEYS = [b"key:%d" % i for i in range(2000)]


class Commands(Case):
    def setUp(self):
        self.one = self.server()
        self.x = self.raw(self.one).call
        self.y = self.raw(self.one, 3).call

    def test_add_exists_del_answers_in_both_protocols(self):
        x, y = self.x, self.y
        self.assertEqual(x("TAMIS.RESERVE", "s", 1000, 0.001, "DELETES"), "OK")
        self.assertIs(y("TAMIS.ADD", "s", "apple"), True)
        self.assertIs(y("TAMIS.ADD", "s", "apple"), False)
        self.assertEqual(x("TAMIS.ADD", "s", "pear"), 1)
        self.assertEqual(x("TAMIS.ADD", "s", "pear"), 0)
        self.assertIs(y("TAMIS.EXISTS", "s", "apple"), True)
        self.assertEqual(x("TAMIS.EXISTS", "s", "plum"), 0)
        self.assertEqual(x("TAMIS.COUNT", "s", "apple"), 2)
        self.assertEqual(x("TAMIS.CARD", "s"), 4)
        self.assertEqual(x("TAMIS.DEL", "s", "apple"), 1)
        self.assertEqual(x("TAMIS.DEL", "s", "apple"), 1)
        self.assertEqual(x("TAMIS.DEL", "s", "apple"), 0)
        self.assertEqual(x("TAMIS.EXISTS", "s", "apple"), 0)
        self.assertEqual(y("TAMIS.MADD", "s", "a", "b", "a"), [True, True, False])
        self.assertEqual(x("TAMIS.MADD", "s", "a", "c"), [0, 1])
        self.assertEqual(y("TAMIS.MEXISTS", "s", "a", "nothing", "c"), [True, False, True])
        self.assertEqual(x("TAMIS.MDEL", "s", "a", "nothing", "c"), [1, 0, 1])

    def test_many_keys_are_all_there_and_few_others(self):
        self.x("TAMIS.RESERVE", "s", len(KEYS), 0.01)
        self.assertGreater(sum(self.x("TAMIS.MADD", "s", *KEYS)), 0.97 * len(KEYS))
        self.assertEqual(self.x("TAMIS.MEXISTS", "s", *KEYS), [1] * len(KEYS))
        strangers = [b"other:%d" % i for i in range(20000)]
        errors = sum(self.x("TAMIS.MEXISTS", "s", *strangers))
        self.assertLess(errors, 270)  # 0.01 promised: mean 200 at most, 5 sigma

    def test_keys_are_any_bytes(self):
        for key in (b"", b"\0", b"a\0b", b"\xff" * 1000, b"\r\n", b"x" * (1 << 20)):
            self.assertEqual(self.x("TAMIS.ADD", "s", key), 1)
            self.assertEqual(self.x("TAMIS.EXISTS", "s", key), 1)

    def test_missing_keys(self):
        x = self.x
        self.assertEqual(x("TAMIS.EXISTS", "none", "a"), 0)
        self.assertEqual(x("TAMIS.MEXISTS", "none", "a", "b"), [0, 0])
        self.assertEqual(x("TAMIS.COUNT", "none", "a"), 0)
        self.assertEqual(x("TAMIS.CARD", "none"), 0)
        for command in (("DEL", "none", "a"), ("MDEL", "none", "a"), ("INFO", "none"),
                        ("INFO", "none", "bytes"), ("DUMP", "none", 0)):
            self.refused("ERR not found", x, "TAMIS." + command[0], *command[1:])
        self.refused("ERR set 'none': not found", x, "TAMIS.MERGE", "to", "none")
        self.assertEqual(x("EXISTS", "none", "to"), 0)

    def test_add_makes_a_growing_set_by_the_settings(self):
        x, y = self.x, self.y
        x("CONFIG", "SET", "tamis.capacity", 500)
        x("CONFIG", "SET", "tamis.error-rate", "0.005")
        x("CONFIG", "SET", "tamis.deletes", "yes")
        self.assertEqual(x("CONFIG", "GET", "tamis.error-rate"), [b"tamis.error-rate", b"0.005"])
        x("TAMIS.MADD", "s", *KEYS)
        info = y("TAMIS.INFO", "s")
        self.assertEqual(info[b"error_rate_promised"], 0.005)
        self.assertTrue(info[b"grows"] and info[b"deletes"] and info[b"counts"])
        self.assertEqual(info[b"capacity"], 500 + 1000 + 2000)
        self.assertEqual(info[b"links"], 3)
        self.assertEqual(info[b"items"], len(KEYS))
        self.assertLessEqual(info[b"error_rate"], 0.005)
        self.assertEqual(x("TAMIS.MEXISTS", "s", *KEYS), [1] * len(KEYS))

    def test_wrong_settings_are_refused(self):
        for name, value in (("capacity", 0), ("capacity", 1 << 41), ("error-rate", 0),
                            ("error-rate", 1), ("error-rate", "nan"), ("error-rate", "x"),
                            ("max-bytes", 0), ("compat", "yes")):
            self.refused("", self.x, "CONFIG", "SET", "tamis." + name, value)
        self.assertEqual(self.x("CONFIG", "GET", "tamis.error-rate")[1], b"0.01")

    def test_fixed_set_is_full_at_its_capacity(self):
        for kind in ("line", "rank"):
            x, key = self.x, "full:" + kind
            x("TAMIS.RESERVE", key, 100, 0.001, "FIXED", "KIND", kind, "SEED", 5)
            answers = x("TAMIS.MADD", key, *KEYS[:150])
            faults = [a for a in answers if isinstance(a, Fault)]
            self.assertEqual(len(faults), 50)
            self.assertEqual(str(faults[0]), "ERR the set is full")
            self.assertEqual(x("TAMIS.CARD", key), 100)
            self.refused("ERR the set is full", x, "TAMIS.ADD", key, "one more")
            self.assertEqual(x("TAMIS.MEXISTS", key, *KEYS[:100]), [1] * 100)
        self.assertEqual(x("TAMIS.ADD", "full:line", KEYS[0]), 0)
        self.assertEqual(x("TAMIS.DEL", "full:rank", KEYS[0]), 1)
        self.assertEqual(x("TAMIS.ADD", "full:rank", "one more"), 1)

    def test_sets_that_cannot_delete_say_so(self):
        self.x("TAMIS.ADD", "s", "a")
        self.refused("cannot delete", self.x, "TAMIS.DEL", "s", "a")
        self.refused("cannot delete", self.x, "TAMIS.MDEL", "s", "a")

    def test_ambiguous_removal_is_refused_and_keeps_the_key(self):
        x = self.x
        x("TAMIS.RESERVE", "s", 100, 0.1, "DELETES", "KIND", "line", "SEED", 9)
        x("TAMIS.MADD", "s", *KEYS[:500])
        x("TAMIS.MADD", "s", *KEYS[:400])  # again, in another link
        answers = x("TAMIS.MDEL", "s", *KEYS[:400])
        self.assertIn(-1, answers)
        self.assertEqual(x("TAMIS.MEXISTS", "s", *KEYS[:500]), [1] * 500)

    def test_info_fields_one_by_one_and_all(self):
        x, y = self.x, self.y
        x("TAMIS.RESERVE", "s", 5000, 0.01, "FIXED", "SEED", "0x1234567890abcdef1234567890abcdef")
        self.assertIsNone(y("TAMIS.INFO", "s", "bits_per_key"))
        x("TAMIS.MADD", "s", *KEYS)
        info = y("TAMIS.INFO", "s")
        pairs = x("TAMIS.INFO", "s")
        self.assertEqual(pairs[::2], list(info))
        for name, value in info.items():
            self.assertEqual(y("TAMIS.INFO", "s", name.upper()), value)
        self.assertEqual(info[b"capacity"], 5000)
        self.assertAlmostEqual(info[b"fill"], info[b"items"] / 5000)
        self.assertEqual(info[b"error_rate_promised"], 0.01)
        self.refused("no such field", x, "TAMIS.INFO", "s", "colour")

    def test_plan_tells_what_reserve_makes(self):
        x, y = self.x, self.y
        for options in ((), ("DELETES",), ("FIXED",), ("DELETES", "FIXED"), ("KIND", "bloom")):
            plan = y("TAMIS.PLAN", 100000, 0.001, *options)
            x("TAMIS.RESERVE", "s", 100000, 0.001, *options)
            self.assertEqual(y("TAMIS.INFO", "s", "kind"), plan[b"kind"])
            self.assertLess(abs(y("MEMORY", "USAGE", "s") / plan[b"bytes"] - 1), 0.05)
            x("DEL", "s")
        self.assertIs(y("TAMIS.PLAN", 1 << 40, 0.001)[b"allowed"], False)

    def test_reserve_refuses_what_is_wrong(self):
        x = self.x
        for arguments, text in (
                ((0, 0.1), "ERR n must be"), ((-1, 0.1), "ERR n must be"), (("x", 0.1), "ERR n must be"),
                ((1 << 41, 0.1), "ERR n must be"), ((10, 0), "ERR p must be"), ((10, 1), "ERR p must be"),
                ((10, "nan"), "ERR p must be"), ((10, "inf"), "ERR p must be"), ((10, "0.1x"), "ERR p must be"),
                ((10, -0.1), "ERR p must be"), ((10, 0.1, "KIND"), "ERR syntax"),
                ((10, 0.1, "KIND", "line-set"), "use line"), ((10, 0.1, "KIND", "x"), "no such kind"),
                ((10, 0.1, "KIND", "x"), " bloom, counting-bloom, "),
                ((10, 0.1, "KIND", ""), ", steady, window"), ((10, 0.1, "COMPAT", "0,1,1"), "of another filter"),
                ((10, 0.1, "SEED", 0), "a seed is"),
                ((10, 0.1, "SEED", "0x"), "a seed is"), ((10, 0.1, "SEED", "0x" + "1" * 33), "a seed is"),
                ((10, 0.1, "LARGE"), "ERR syntax"), ((10, 0.1, "PARAMS", "1,2"), "the parameters"),
                ((10, 0.1, "PARAMS", "99" + ",1" * 20), "the parameters"),
                ((10, 0.1, "PARAMS", "1" + ",18446744073709551615" * 21), "the parameters"),
                ((10, 0.1, "PARAMS", "1" + ",18446744073709551615" * 4 + ",0" + ",18446744073709551615" * 16),
                 "ERR capacity is 18446744073709551615, but sets have 1 to 2^40 keys"),
                ((10, 0.1, "PARAMS", "1,1000,0,0,1,0,0,99" + ",0" * 14), "ERR hashes is 99, which is out of its range"),
                ((10, 0.1, "KIND", "bloom", "DELETES"), "ERR bloom cannot remove keys (deletes); these can: "),
                ((1 << 40, 1e-15, "KIND", "dleft-counting"), "ERR dleft-counting cannot do n of 1099511627776, fpr"),
                ((1 << 40, 1e-9), "more memory")):
            self.refused(text, x, "TAMIS.RESERVE", "s", *arguments)
            self.assertEqual(x("EXISTS", "s"), 0)
        x("TAMIS.RESERVE", "s", 10, 0.1)
        self.refused("ERR item exists", x, "TAMIS.RESERVE", "s", 10, 0.1)

    def test_reserve_seeds_are_random_or_given(self):
        x = self.x
        for key, seed in (("a", 7), ("b", 7), ("c", 8), ("d", None), ("e", None)):
            x("TAMIS.RESERVE", key, 100, 0.01, *(("SEED", seed) if seed else ()))
            x("TAMIS.MADD", key, *KEYS[:50])
        digests = x("DEBUG", "DIGEST-VALUE", "a", "b", "c", "d", "e")
        self.assertEqual(digests[0], digests[1])
        self.assertEqual(len(set(digests)), 4)

    def test_arity(self):
        for name in ("RESERVE", "ADD", "MADD", "EXISTS", "MEXISTS", "DEL", "MDEL", "COUNT", "CARD",
                     "INFO", "MERGE", "PLAN", "DUMP", "LOAD", "TICK"):
            self.refused("wrong number of arguments", self.x, "TAMIS." + name)
        for command in (("ADD", "s"), ("ADD", "s", "a", "b"), ("EXISTS", "s", "a", "b"), ("CARD", "s", "a"),
                        ("INFO", "s", "kind", "x"), ("LOAD", "s", 1, 0), ("LOAD", "s", 1, 0, "x", "PROMISE")):
            self.refused("wrong number of arguments", self.x, "TAMIS." + command[0], *command[1:])

    def test_wrong_types(self):
        x = self.x
        x("SET", "text", "a")
        x("TAMIS.ADD", "s", "a")
        for command in (("RESERVE", "text", 10, 0.1), ("ADD", "text", "a"), ("MADD", "text", "a"),
                        ("EXISTS", "text", "a"), ("MEXISTS", "text", "a"), ("DEL", "text", "a"),
                        ("MDEL", "text", "a"), ("COUNT", "text", "a"), ("CARD", "text"), ("INFO", "text"),
                        ("MERGE", "text", "s"), ("MERGE", "s", "text"), ("DUMP", "text", 0),
                        ("LOAD", "text", 5, 0, "x")):
            self.refused("WRONGTYPE", x, "TAMIS." + command[0], *command[1:])
        self.refused("WRONGTYPE", x, "GET", "s")
        self.assertEqual(x("TYPE", "s"), "tamis-set")

    def test_merge(self):
        x = self.x
        for key in ("a", "b"):
            x("TAMIS.RESERVE", key, 1000, 0.01, "FIXED", "SEED", 3)
        x("TAMIS.MADD", "a", *KEYS[:400])
        x("TAMIS.MADD", "b", *KEYS[400:800])
        self.assertEqual(x("TAMIS.MERGE", "both", "a", "b"), "OK")
        self.assertEqual(x("TAMIS.MEXISTS", "both", *KEYS[:800]), [1] * 800)
        self.assertEqual(x("TAMIS.MERGE", "a", "b"), "OK")
        self.assertEqual(x("DEBUG", "DIGEST-VALUE", "a")[0], x("DEBUG", "DIGEST-VALUE", "both")[0])
        x("TAMIS.RESERVE", "other", 1000, 0.01, "FIXED", "SEED", 4)
        before = x("DEBUG", "DIGEST-VALUE", "a")
        self.refused("ERR set 'other': its seed differs", x, "TAMIS.MERGE", "a", "b", "other")
        self.assertEqual(x("DEBUG", "DIGEST-VALUE", "a"), before)
        x("TAMIS.RESERVE", "g", 100, 0.01, "GROW", "SEED", 3, "KIND", "blocked-bloom")  # of growing sets the links
        x("TAMIS.MADD", "g", *KEYS[800:1000])
        x("TAMIS.RESERVE", "h", 100, 0.1, "GROW", "SEED", 3, "KIND", "blocked-bloom")
        x("TAMIS.MADD", "h", *KEYS[1000:1100])
        self.assertEqual(x("TAMIS.MERGE", "h", "g"), "OK")
        self.assertEqual(x("TAMIS.MEXISTS", "h", *KEYS[800:1100]), [1] * 300)

    def test_merge_keeps_what_is_promised(self):
        x, y = self.x, self.y
        for key, first in (("a", 0), ("b", 3000)):
            x("TAMIS.RESERVE", key, 3000, 0.001, "FIXED", "SEED", 3, "KIND", "bloom")
            x("TAMIS.MADD", key, *range(first, first + 3000))
        before = x("DEBUG", "DIGEST-VALUE", "a")
        for command in (("a", "b"), ("new", "a", "b")):
            self.refused("ERR set 'b': the union would err at rate 0.0", x, "TAMIS.MERGE", *command)
            self.refused("and 0.001 is promised", x, "TAMIS.MERGE", *command)
        self.assertEqual(x("DEBUG", "DIGEST-VALUE", "a"), before)
        self.assertEqual(x("EXISTS", "new"), 0)
        told = y("TAMIS.MERGEBEYOND", "new", "a", "b")
        self.assertGreater(told[b"error_rate"], 0.01)
        self.assertEqual(told[b"error_rate_promised"], 0.001)
        self.assertEqual(y("TAMIS.MERGEBEYOND", "a", "b"), told)
        self.assertEqual(x("DEBUG", "DIGEST-VALUE", "a"), x("DEBUG", "DIGEST-VALUE", "new"))
        self.assertEqual(x("TAMIS.MEXISTS", "a", *range(6000)), [1] * 6000)
        self.assertEqual(float(x("TAMIS.INFO", "a", "error_rate_promised")), 0.001)

    def test_merge_of_growing_sets_tells_which_is_too_much(self):
        x = self.x
        names = [f"g{i}" for i in range(20)]
        for name in names:
            x("TAMIS.RESERVE", name, 500, 0.01, "SEED", 3)
            x("TAMIS.MADD", name, *range(500))
        before = x("DEBUG", "DIGEST-VALUE", "g0")
        with self.assertRaises(Fault) as caught:
            x("TAMIS.MERGE", *names)
        self.assertRegex(str(caught.exception), r"^ERR set 'g\d+': the union would err at rate 0\.01\d*, and 0\.01 is")
        self.assertEqual(x("DEBUG", "DIGEST-VALUE", "g0"), before)

    def test_merge_with_itself_changes_nothing(self):
        x = self.x
        for name, options in (("g", ()), ("f", ("FIXED",))):
            x("TAMIS.RESERVE", name, 1000, 0.01, "SEED", 3, "KIND", "bloom", *options)
            x("TAMIS.MADD", name, *KEYS[:900])
            before = x("DEBUG", "DIGEST-VALUE", name), x("TAMIS.CARD", name)
            self.assertEqual(x("TAMIS.MERGE", name, name, name), "OK")
            self.assertEqual((x("DEBUG", "DIGEST-VALUE", name), x("TAMIS.CARD", name)), before)
            self.assertEqual(x("TAMIS.MERGE", name + "2", name, name), "OK")
            self.assertEqual(x("TAMIS.CARD", name + "2"), before[1])

    def test_merge_tells_what_does_not_fit_together(self):
        x = self.x
        for name, options in (("bloom", ("KIND", "bloom")), ("other", ("KIND", "blocked-bloom")),
                              ("large", ("KIND", "bloom")), ("fixed", ("KIND", "steady", "DELETES")),
                              ("fixed2", ("KIND", "steady", "DELETES"))):
            x("TAMIS.RESERVE", name, 2000 if name == "large" else 1000, 0.01, "FIXED", "SEED", 3, *options)
        x("TAMIS.RESERVE", "empty", 1000, 0.01, "SEED", 3, "KIND", "bloom")
        for text, command in (
                ("'other': it is of kind blocked-bloom and the others are bloom", ("bloom", "other")),
                ("'other': it is of kind", ("new", "bloom", "empty", "other")),
                ("'large': its parameters differ", ("bloom", "large")),
                ("'fixed2': sets of kind steady can be merged only if", ("fixed", "fixed2")),
                ("'b?d': not found", ("bloom", b"b\nd"))):
            self.refused("ERR set " + text, x, "TAMIS.MERGE", *command)
        self.assertEqual(x("TAMIS.MERGE", "empty", "large"), "OK")

    def test_what_was_promised_goes_with_the_set(self):
        x = self.x
        for options in ((), ("FIXED",), ("FIXED", "DELETES")):
            x("TAMIS.RESERVE", "s", 300, 0.02, *options)
            load(self.one.client, "t", dump(self.one.client, "s"))
            x("COPY", "s", "u")
            for name in ("s", "t", "u"):
                self.assertEqual(float(x("TAMIS.INFO", name, "error_rate_promised")), 0.02)
                self.assertEqual(x("TAMIS.INFO", name, "grows"), 0 if options else 1)
            x("DEL", "s", "t", "u")

    def test_dump_and_load_move_a_set(self):
        x = self.x
        for options in ((), ("FIXED",), ("DELETES",)):
            x("TAMIS.RESERVE", "s", 300, 0.01, *options)
            x("TAMIS.MADD", "s", *KEYS[:300])
            file = dump(self.one.client, "s")
            for part in (1000, 1 << 20):
                self.assertEqual(load(self.one.client, "t", file, part), len(file))
                self.assertEqual(x("DEBUG", "DIGEST-VALUE", "s"), x("DEBUG", "DIGEST-VALUE", "t"))
                self.assertEqual(x("TAMIS.INFO", "s", "grows"), x("TAMIS.INFO", "t", "grows"))
                x("DEL", "t")
            x("DEL", "s")

    def test_load_large_set_is_checked_in_the_background(self):
        x = self.x
        x("TAMIS.RESERVE", "s", 2000000, 0.001, "FIXED", "SEED", 1)
        for at in range(0, 20):
            x("TAMIS.MADD", "s", *(b"%d:%d" % (at, i) for i in range(5000)))
        file = dump(self.one.client, "s")
        self.assertGreater(len(file), 3 << 20)
        self.assertEqual(load(self.one.client, "t", file), len(file))
        self.assertEqual(x("DEBUG", "DIGEST-VALUE", "s"), x("DEBUG", "DIGEST-VALUE", "t"))
        damaged = file[:-1] + bytes([file[-1] ^ 1])
        self.refused("checksum does not match", load, self.one.client, "u", damaged)
        self.assertEqual(x("EXISTS", "u"), 0)
        # in a transaction nobody can wait: it is checked at once
        pipe = self.one.client.pipeline(transaction=True)
        for at in range(0, len(file), 1 << 20):
            pipe.execute_command("TAMIS.LOAD", "v", len(file), at, file[at:at + (1 << 20)])
        self.assertEqual(pipe.execute()[-1], len(file))
        self.assertEqual(x("DEBUG", "DIGEST-VALUE", "s"), x("DEBUG", "DIGEST-VALUE", "v"))

    def test_dump_of_a_set_that_changes_is_refused(self):
        x = self.x
        x("TAMIS.RESERVE", "s", 2000000, 0.001)
        cursor, size, part = x("TAMIS.DUMP", "s", 0)
        self.assertNotEqual(cursor, b"0")
        self.assertEqual(len(part), 1 << 20)
        self.assertGreater(size, len(part))
        self.assertEqual(x("TAMIS.DUMP", "s", cursor)[1], size)
        x("TAMIS.ADD", "s", "a")
        self.refused("has changed", x, "TAMIS.DUMP", "s", cursor)
        for bad in ("x", "-1", "1", "5-", "0-0-0", "99999999999-0", "99999999999-1", "1" * 80):
            self.refused("ERR ", x, "TAMIS.DUMP", "s", bad)

    def test_load_refuses_what_is_wrong_and_a_loading_key_is_no_set(self):
        x = self.x
        x("TAMIS.MADD", "s", *KEYS[:100])
        file = dump(self.one.client, "s")
        for arguments in ((0, 0, "x"), (10, 10, "x"), ("x", 0, "x"), (10, -1, "x"), (10, 0, ""),
                          (10, 1, "x"), (10, 0, "x" * 11), (1 << 62, 0, "x")):
            self.refused("ERR ", x, "TAMIS.LOAD", "t", *arguments)
            self.assertEqual(x("EXISTS", "t"), 0)
        self.refused("item exists", x, "TAMIS.LOAD", "s", len(file), 0, file)
        self.assertEqual(x("TAMIS.LOAD", "t", len(file), 0, file[:300]), 300)
        for command in (("ADD", "t", "a"), ("EXISTS", "t", "a"), ("CARD", "t"), ("INFO", "t"),
                        ("DUMP", "t", 0), ("MERGE", "t", "s"), ("MERGE", "s", "t"), ("MADD", "t", "a")):
            self.refused("still being loaded", x, "TAMIS." + command[0], *command[1:])
        self.refused("item exists", x, "TAMIS.RESERVE", "t", 10, 0.1)
        self.refused("the size is not", x, "TAMIS.LOAD", "t", len(file) + 1, 300, file[300:])
        self.refused("the offset is not", x, "TAMIS.LOAD", "t", len(file), 299, file[299:])
        self.refused("after the end", x, "TAMIS.LOAD", "t", len(file), 300, file[300:] + b"x")
        self.assertEqual(x("TAMIS.LOAD", "t", len(file), 0, file[:500]), 500)  # begins again
        self.assertEqual(x("TAMIS.LOAD", "t", len(file), 500, file[500:]), len(file))
        self.assertEqual(x("TAMIS.MEXISTS", "t", *KEYS[:100]), [1] * 100)

    def test_files_of_the_tool_and_of_the_server_are_the_same(self):
        path = os.path.join(self.one.folder, "words.tamis")
        words = b"\n".join(KEYS)
        subprocess.run([TOOL, "build", "-p", "0.001", "-o", path], input=words, check=True)
        with open(path, "rb") as file:
            load(self.one.client, "s", file.read())
        self.assertEqual(self.x("TAMIS.MEXISTS", "s", *KEYS), [1] * len(KEYS))
        self.x("TAMIS.RESERVE", "t", 3000, 0.001, "DELETES")
        self.x("TAMIS.MADD", "t", *KEYS)
        with open(path + "2", "wb") as file:
            file.write(dump(self.one.client, "t"))
        found = subprocess.run([TOOL, "query", path + "2"], input=words, check=True,
                               stdout=subprocess.PIPE).stdout
        self.assertEqual(found.split(), KEYS)

    def test_command_docs_and_key_specs(self):
        x, y = self.x, self.y
        docs = y("COMMAND", "DOCS", *("TAMIS." + n for n in ("RESERVE", "MERGE", "PLAN", "DEL")))
        self.assertEqual(docs[b"tamis.merge"][b"since"], b"0.1.0")
        self.assertIn(b"empty set", docs[b"tamis.reserve"][b"summary"])
        names = [a[b"name"] for a in docs[b"tamis.reserve"][b"arguments"]]
        self.assertEqual(names[:4], [b"key", b"n", b"p", b"deletes"])
        keys = x("COMMAND", "GETKEYS", "TAMIS.MERGE", "a", "b", "c")
        self.assertEqual(keys, [b"a", b"b", b"c"])
        self.assertEqual(x("COMMAND", "GETKEYS", "TAMIS.ADD", "a", "b"), [b"a"])
        self.assertEqual(x("COMMAND", "GETKEYSANDFLAGS", "TAMIS.EXISTS", "a", "b"),
                         [[b"a", ["RO", "access"]]])
        merged = dict((k, set(f)) for k, f in x("COMMAND", "GETKEYSANDFLAGS", "TAMIS.MERGE", "a", "b", "c"))
        self.assertIn("RW", merged[b"a"])
        self.assertEqual((merged[b"b"], merged[b"c"]), ({"RO", "access"}, {"RO", "access"}))
        flags = {c[0]: c[2] for c in x("COMMAND", "INFO", "tamis.add", "tamis.exists", "tamis.del")}
        self.assertTrue({"write", "denyoom", "fast"} <= set(flags[b"tamis.add"]))
        self.assertTrue({"readonly", "fast"} <= set(flags[b"tamis.exists"]))
        self.assertNotIn("denyoom", flags[b"tamis.del"])

    def test_events_watch_and_metrics(self):
        x = self.x
        x("CONFIG", "SET", "notify-keyspace-events", "Ed")
        listener = self.one.client.pubsub(ignore_subscribe_messages=True)
        listener.psubscribe("__keyevent@0__:*")
        listener.get_message(timeout=DEADLINE)
        x("TAMIS.RESERVE", "s", 100, 0.01, "DELETES")
        x("TAMIS.ADD", "s", "a")
        x("TAMIS.DEL", "s", "a")
        x("TAMIS.DEL", "s", "a")
        events = []
        for _ in range(10 * DEADLINE):
            message = listener.get_message(timeout=0.1)
            if message:
                events.append((message["channel"].split(b":")[1], message["data"]))
            if len(events) == 3:
                break
        self.assertEqual(events, [(b"tamis.reserve", b"s"), (b"tamis.add", b"s"), (b"tamis.del", b"s")])
        listener.close()
        numbers = dict(line.split(":") for line in x("INFO", "tamis").decode().split("\r\n") if ":" in line)
        self.assertEqual((numbers["tamis_sets"], numbers["tamis_keys_added"], numbers["tamis_keys_removed"],
                          numbers["tamis_removals_not_found"]), ("1", "1", "1", "1"))
        watcher = self.raw(self.one).call
        for key, changed in (("a", True), ("a", False)):  # new, then there already
            x("DEL", "w") if changed else None
            if changed:
                x("TAMIS.RESERVE", "w", 100, 0.01)
            watcher("WATCH", "w")
            x("TAMIS.ADD", "w", key)
            watcher("MULTI")
            watcher("PING")
            self.assertEqual(watcher("EXEC") is None, changed)

    def test_memory_limits(self):
        x = self.x
        x("CONFIG", "SET", "tamis.max-bytes", "100kb")
        self.refused("max-bytes", x, "TAMIS.RESERVE", "s", 1000000, 0.01)
        x("TAMIS.RESERVE", "s", 5000, 0.01)
        added, refused = 0, None
        for i in range(100):
            answers = x("TAMIS.MADD", "s", *(b"%d-%d" % (i, j) for j in range(1000)))
            refused = next((a for a in answers if isinstance(a, Fault)), None)
            added += sum(not isinstance(a, Fault) for a in answers)
            if refused is not None:
                break
        self.assertIn("max-bytes", str(refused))
        self.assertLessEqual(x("MEMORY", "USAGE", "s"), 100 << 10)
        self.assertGreaterEqual(added, 15000)
        x("CONFIG", "SET", "tamis.max-bytes", "1gb")
        self.assertIn(x("TAMIS.ADD", "s", "one more"), (0, 1))
        x("CONFIG", "SET", "maxmemory", 1)
        for command in (("ADD", "s", "a"), ("MADD", "s", "a"), ("RESERVE", "t", 10, 0.1),
                        ("LOAD", "t", 10, 0, "x"), ("MERGE", "t", "s")):
            self.refused("OOM", x, "TAMIS." + command[0], *command[1:])
        self.assertEqual(x("TAMIS.EXISTS", "s", b"0-0"), 1)

    def test_access_control(self):
        """Users by command, by what they may do to keys, and by the category where servers know it."""
        x = self.x
        x("TAMIS.RESERVE", "a", 100, 0.01, "SEED", 1)
        x("TAMIS.RESERVE", "b", 100, 0.01, "SEED", 1)
        x("ACL", "SETUSER", "reader", "on", "nopass", "%R~*", "+@all")
        x("ACL", "SETUSER", "asker", "on", "nopass", "~a", "+tamis.exists")
        x("ACL", "SETUSER", "merger", "on", "nopass", "%R~b", "~a", "+tamis.merge")
        reader, asker, merger = (self.raw(self.one).call for _ in range(3))
        reader("AUTH", "reader", "")
        for command in (("EXISTS", "a", "x"), ("MEXISTS", "a", "x"), ("CARD", "a"), ("INFO", "a"), ("DUMP", "a", 0)):
            reader("TAMIS." + command[0], *command[1:])
        for command in (("ADD", "a", "x"), ("MADD", "a", "x"), ("DEL", "a", "x"), ("TICK", "a"), ("MERGE", "a", "b"),
                        ("RESERVE", "c", 10, 0.1), ("LOAD", "c", 10, 0, "x")):
            self.refused("NOPERM", reader, "TAMIS." + command[0], *command[1:])
        asker("AUTH", "asker", "")
        self.assertEqual(asker("TAMIS.EXISTS", "a", "x"), 0)
        self.refused("NOPERM", asker, "TAMIS.EXISTS", "b", "x")
        self.refused("NOPERM", asker, "TAMIS.CARD", "a")
        merger("AUTH", "merger", "")
        self.assertEqual(merger("TAMIS.MERGE", "a", "b"), "OK")
        self.refused("NOPERM", merger, "TAMIS.MERGE", "b", "a")
        if b"tamis" not in [c.encode() if isinstance(c, str) else c for c in x("ACL", "CAT")]:
            self.skipTest("this server knows no categories of modules")
        for name, categories in (("add", "write fast"), ("madd", "write slow"), ("exists", "read fast"),
                                 ("plan", "read slow"), ("tick", "write slow")):
            told = set(x("COMMAND", "INFO", "tamis." + name)[0][6])
            self.assertEqual(told, {"@tamis", *("@" + c for c in categories.split())}, name)
        x("ACL", "SETUSER", "watcher", "on", "nopass", "~*", "+@all", "-@write")
        watcher = self.raw(self.one).call
        watcher("AUTH", "watcher", "")
        watcher("TAMIS.EXISTS", "a", "x")
        self.refused("NOPERM", watcher, "TAMIS.ADD", "a", "x")
        x("ACL", "SETUSER", "only", "on", "nopass", "~*", "+@tamis")
        only = self.raw(self.one).call
        only("AUTH", "only", "")
        self.assertEqual(only("TAMIS.ADD", "a", "y"), 1)
        self.refused("NOPERM", only, "GET", "a")

    def test_lua_and_transactions(self):
        x = self.x
        self.assertEqual(x("EVAL", "return redis.call('TAMIS.MADD', KEYS[1], 'a', 'b')", 1, "s"), [1, 1])
        x("MULTI")
        x("TAMIS.ADD", "s", "c")
        x("TAMIS.EXISTS", "s", "c")
        self.assertEqual(x("EXEC"), [1, 1])

    def test_example_of_the_readme(self):
        page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "README.md")
        with open(page, encoding="utf-8") as file:
            lines = re.findall(r"^> (TAMIS\..*)\n(.*)$", file.read(), re.MULTILINE)
        self.assertEqual(len(lines), 3)
        for command, wanted in lines:
            answer = self.x(*command.split())
            self.assertEqual(f"(integer) {answer}" if isinstance(answer, int) else answer, wanted)

    def test_server_answers_as_the_tables_of_docs_say(self):
        """docs/redis.md has the table of commands that the server tells."""
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
        sys.path.insert(0, source)
        import docs
        page = os.path.join(source, "..", "..", "docs", "redis.md")
        with open(page, encoding="utf-8") as file:
            self.assertIn(docs.table(self.y("COMMAND", "DOCS")), file.read(),
                          "run 'make redis-docs'")


if __name__ == "__main__":
    main()
