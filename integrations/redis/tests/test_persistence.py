"""Sets that leave memory and come back: snapshots, append-only files, DUMP and RESTORE, COPY, freeing.

SPDX-License-Identifier: MIT
"""
from support import *

KEYS = [b"key:%d" % i for i in range(3000)]
KINDS = ("bloom", "counting-bloom", "blocked-bloom", "dleft", "dleft-counting", "dleft-dynamic", "rank",
         "rank-counting", "balanced-bloom", "line", "steady", "window")


def fill(x):
    """Sets of every kind, fixed and growing; their names."""
    for kind in KINDS:
        for growth in ("FIXED", "GROW"):
            key = f"{kind}:{growth}"
            x("TAMIS.RESERVE", key, 4000 if growth == "FIXED" else 500, 0.02, growth, "KIND", kind)
            x("TAMIS.MADD", key, *KEYS)
    return [f"{kind}:{growth}" for kind in KINDS for growth in ("FIXED", "GROW")]


class Persistence(Case):
    def check(self, x, names, digests):
        self.assertEqual(x("DEBUG", "DIGEST-VALUE", *names), digests)
        for name in names:
            self.assertEqual(x("TAMIS.MEXISTS", name, *KEYS), [1] * len(KEYS))
            self.assertEqual(x("TAMIS.INFO", name, "error_rate_promised"), b"0.02")
            self.assertEqual(x("TAMIS.INFO", name, "grows"), int(name.endswith("GROW")))

    def restarted(self, *options, before=None):
        one = self.server(*options)
        x = self.raw(one).call
        x("CONFIG", "SET", "tamis.capacity", 100)
        names = fill(x)
        x("TAMIS.RESERVE", "large", 40000, 0.001, "SEED", 5)
        for at in range(0, 40):
            x("TAMIS.MADD", "large", *(b"%d/%d" % (at, i) for i in range(1000)))
        digests = x("DEBUG", "DIGEST-VALUE", *names, "large")
        file = dump(one.client, "large")
        self.assertGreater(len(file), 70000)
        x("TAMIS.LOAD", "half", len(file), 0, file[:70000])
        half = x("DEBUG", "DIGEST-VALUE", "half")
        if before:
            before(x)
        one.restart(save=before is None)
        x = self.raw(one).call
        self.check(x, names, digests[:-1])
        self.assertEqual(x("DEBUG", "DIGEST-VALUE", "large"), digests[-1:])
        self.assertEqual(x("DEBUG", "DIGEST-VALUE", "half"), half)
        self.assertEqual(x("TAMIS.LOAD", "half", len(file), 70000, file[70000:]), len(file))
        self.assertEqual(x("DEBUG", "DIGEST-VALUE", "half"), digests[-1:])
        return x

    def test_snapshot_restart(self):
        self.restarted()

    def test_append_only_file_restart(self):
        self.restarted("--appendonly", "yes", before=lambda x: None)

    def rewrite(self, x):
        x("BGREWRITEAOF")
        wait_until(lambda: b"aof_rewrite_in_progress:0" in x("INFO", "persistence") and
                   b"aof_rewrite_scheduled:0" in x("INFO", "persistence"), "a rewritten file")
        self.assertIn(b"aof_last_bgrewrite_status:ok", x("INFO", "persistence"))

    def test_append_only_file_rewritten_as_commands(self):
        self.restarted("--appendonly", "yes", "--aof-use-rdb-preamble", "no", before=self.rewrite)

    def test_append_only_file_rewritten_as_snapshot(self):
        self.restarted("--appendonly", "yes", before=self.rewrite)

    def test_dump_restore_and_copy(self):
        one = self.server()
        x = self.raw(one).call
        names = fill(x)
        digests = x("DEBUG", "DIGEST-VALUE", *names)
        for name in names:
            self.assertEqual(x("RESTORE", "r:" + name, 0, x("DUMP", name)), "OK")
            self.assertEqual(x("COPY", name, "c:" + name), 1)
            self.assertEqual(x("TAMIS.INFO", "r:" + name), x("TAMIS.INFO", name))
        self.check(x, ["r:" + n for n in names], digests)
        self.check(x, ["c:" + n for n in names], digests)
        x("TAMIS.ADD", "c:rank:GROW", "only in the copy")
        self.assertEqual(x("DEBUG", "DIGEST-VALUE", *names), digests)
        file = dump(one.client, "rank:GROW")
        x("TAMIS.LOAD", "half", len(file), 0, file[:1000])
        self.refused("ERR", x, "COPY", "half", "half2")
        self.assertEqual(x("EXISTS", "half2"), 0)
        self.assertEqual(x("RESTORE", "half3", 0, x("DUMP", "half")), "OK")
        self.assertEqual(x("TAMIS.LOAD", "half3", len(file), 1000, file[1000:]), len(file))

    def test_sets_grow_on_after_a_restart(self):
        one = self.server()
        x = self.raw(one).call
        x("TAMIS.RESERVE", "s", 100, 0.01, "DELETES")
        x("TAMIS.MADD", "s", *KEYS[:1000])
        one.restart()
        x = self.raw(one).call
        x("TAMIS.MADD", "s", *KEYS[1000:])
        self.assertEqual(x("TAMIS.MEXISTS", "s", *KEYS), [1] * len(KEYS))
        self.assertGreaterEqual(x("TAMIS.INFO", "s", "links"), 5)
        self.assertLessEqual(float(x("TAMIS.INFO", "s", "error_rate")), 0.01)

    def test_memory_is_given_back(self):
        one = self.server()
        x = self.raw(one).call

        def number(name):
            return int(dict(l.split(":") for l in x("INFO", "everything").decode().split("\r\n")
                            if l.count(":") == 1)[name])
        before = number("used_memory")
        for way in ("DEL", "UNLINK"):
            x("TAMIS.RESERVE", "big", 30000000, 0.001, "FIXED")
            x("TAMIS.MADD", "small", *KEYS)
            self.assertEqual(number("tamis_sets"), 2)
            self.assertGreater(number("tamis_bytes"), 40 << 20)
            x(way, "big", "small")
            wait_until(lambda: number("tamis_bytes") == 0, "memory that is given back")
            self.assertEqual(number("tamis_sets"), 0)
        x("TAMIS.MADD", "small", *KEYS)
        x("FLUSHALL", "ASYNC")
        wait_until(lambda: number("tamis_bytes") == 0, "memory that is given back")
        self.assertLess(number("used_memory"), before + (4 << 20))

    def test_active_defragmentation_keeps_sets_sound(self):
        one = self.server()
        x = self.raw(one).call
        try:
            x("CONFIG", "SET", "activedefrag", "yes")
        except Fault:
            self.skipTest("this server was built without defragmentation")
        for name, value in (("active-defrag-ignore-bytes", 1), ("active-defrag-threshold-lower", 0),
                            ("active-defrag-cycle-min", 40), ("active-defrag-cycle-max", 60)):
            x("CONFIG", "SET", name, value)
        for i in range(3000):
            x("TAMIS.RESERVE", f"s{i}", 20, 0.01, "SEED", 1)
            x("TAMIS.MADD", f"s{i}", *KEYS[:20])
        for i in range(0, 3000):
            if i % 7:
                x("DEL", f"s{i}")
        end = time.monotonic() + 3
        while time.monotonic() < end:
            x("TAMIS.ADD", "s0", "a")
            if b"active_defrag_hits:0" not in x("INFO", "stats"):
                break
        for i in range(0, 3000, 7):
            self.assertEqual(x("TAMIS.MEXISTS", f"s{i}", *KEYS[:20]), [1] * 20)


if __name__ == "__main__":
    main()
