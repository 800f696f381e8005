"""Sets that forget: answers tick by tick, on replicas, in snapshots, append-only files and files of the tool.

SPDX-License-Identifier: MIT
"""
from support import *

TICKS = 3


def keys(tick, n=200):
    return [b"%d/%d" % (tick, i) for i in range(n)]


class Window(Case):
    def assert_remembers(self, x, key, now, ticks=TICKS):
        """All keys of the last ticks, and of those before hardly any: 0.01 is promised, 18 of 200 is 10 standard errors."""
        for tick in range(max(0, now - 8), now + 1):
            found = sum(map(bool, x("TAMIS.MEXISTS", key, *keys(tick))))
            if tick >= now - ticks:
                self.assertEqual(found, 200, (tick, now))
            else:
                self.assertLess(found, 18, (tick, now))

    def test_keys_are_forgotten_after_their_ticks(self):
        for protocol in (2, 3):
            for growth in ("FIXED", "GROW"):
                x = self.raw(self.server(), protocol).call
                self.assertEqual(x("TAMIS.RESERVE", "w", 1000, 0.01, "WINDOW", TICKS, growth), "OK")
                self.assertEqual(x("TAMIS.INFO", "w", "kind"), b"window")
                self.assertEqual(x("TAMIS.INFO", "w", "window"), TICKS)
                for now in range(12):
                    self.assertEqual(x("TAMIS.INFO", "w", "tick"), now)
                    self.assertGreater(sum(x("TAMIS.MADD", "w", *keys(now))), 190)
                    self.assert_remembers(x, "w", now)
                    self.assertEqual(x("TAMIS.TICK", "w"), now + 1)
                self.assertEqual(x("TAMIS.INFO", "w", "links"), 1)
                self.assertLessEqual(float(x("TAMIS.INFO", "w", "error_rate")), 0.01)

    def test_a_key_that_is_added_again_is_young_again(self):
        x = self.raw(self.server(), 3).call
        x("TAMIS.RESERVE", "w", 1000, 0.0001, "WINDOW", TICKS)
        self.assertEqual(x("TAMIS.ADD", "w", "often"), True)
        x("TAMIS.ADD", "w", "once")
        for _ in range(9):
            x("TAMIS.TICK", "w")
            self.assertEqual(x("TAMIS.ADD", "w", "often"), False)
        self.assertEqual(x("TAMIS.MEXISTS", "w", "often", "once"), [True, False])
        for _ in range(TICKS + 1):
            x("TAMIS.TICK", "w")
        self.assertEqual(x("TAMIS.EXISTS", "w", "often"), False)
        self.assertEqual(x("TAMIS.ADD", "w", "often"), True)

    def test_steps_clear_what_is_forgotten(self):
        x = self.raw(self.server()).call
        x("TAMIS.RESERVE", "w", 5000, 0.01, "WINDOW", 1)
        x("TAMIS.MADD", "w", *keys(0, 2000))
        x("TAMIS.TICK", "w")
        x("TAMIS.TICK", "w")
        left = x("TAMIS.INFO", "w", "to_clear")
        self.assertGreater(left, 12)
        self.assertGreater(x("TAMIS.CARD", "w"), 1900)
        self.assertEqual(x("TAMIS.TICK", "w", "STEP", 10), left - 10)
        self.assertEqual(x("TAMIS.TICK", "w", "STEP", 1 << 40), 0)
        self.assertEqual(x("TAMIS.CARD", "w"), 0)
        self.assertEqual(x("TAMIS.TICK", "w", "step", 0), 0)

    def test_a_fixed_window_refuses_and_has_room_again(self):
        x = self.raw(self.server()).call
        x("TAMIS.RESERVE", "w", 100, 0.01, "WINDOW", 1, "FIXED")
        answers = x("TAMIS.MADD", "w", *keys(0))
        self.assertTrue(any(isinstance(a, Fault) for a in answers))
        in_it = [k for k, a in zip(keys(0), answers) if not isinstance(a, Fault)]
        self.assertGreaterEqual(len(in_it), 100)
        self.assertEqual(x("TAMIS.ADD", "w", in_it[0]), 0)  # what is there can be made young
        self.refused("full", x, "TAMIS.ADD", "w", "one more")
        x("TAMIS.TICK", "w")
        x("TAMIS.TICK", "w")
        self.assertEqual([a for a in x("TAMIS.MADD", "w", *keys(1, 100)) if isinstance(a, Fault)], [])

    def test_wrong_calls(self):
        x = self.raw(self.server()).call
        x("SET", "text", "a")
        x("TAMIS.RESERVE", "s", 100, 0.01)
        x("TAMIS.RESERVE", "w", 100, 0.01, "WINDOW", 126)
        for text, command in (("wrong number", ()), ("wrong number", ("w", "STEP")), ("syntax", ("w", "STEPS", 1)),
                              ("out of range", ("w", "STEP", -1)), ("out of range", ("w", "STEP", "x")),
                              ("not found", ("none",)), ("WRONGTYPE", ("text",)), ("no ticks", ("s",)),
                              ("wrong number", ("w", "STEP", 1, 2))):
            self.refused(text, x, "TAMIS.TICK", *command)
        for ticks in (0, 127, -1, "x", 1 << 70):
            self.refused("1 to 126", x, "TAMIS.RESERVE", "t", 100, 0.01, "WINDOW", ticks)
        self.refused("syntax", x, "TAMIS.RESERVE", "t", 100, 0.01, "WINDOW")
        self.refused("a window (ticks is 3) forgets keys by itself", x,
                     "TAMIS.RESERVE", "t", 100, 0.01, "WINDOW", 3, "DELETES")
        self.refused("rank cannot forget keys (ticks is 3); these can: window", x,
                     "TAMIS.RESERVE", "t", 100, 0.01, "WINDOW", 3, "KIND", "rank")
        self.refused("cannot delete", x, "TAMIS.DEL", "w", "a")
        self.assertEqual(x("TAMIS.INFO", "s", "window"), 0)
        self.assertEqual(x("TAMIS.INFO", "s", "tick"), 0)

    def ticked(self, x, growth):
        """A window in its sixth tick, with the ticks of the file that says so."""
        x("TAMIS.RESERVE", "w:" + growth, 300, 0.01, "WINDOW", TICKS, growth)
        for now in range(6):
            if now > 0:
                x("TAMIS.TICK", "w:" + growth)
            x("TAMIS.MADD", "w:" + growth, *(keys(now) if growth == "GROW" else keys(now, 60)))

    def test_snapshots_and_append_only_files_keep_ticks(self):
        for options in ((), ("--appendonly", "yes"), ("--appendonly", "yes", "--aof-use-rdb-preamble", "no")):
            one = self.server(*options)
            x = self.raw(one).call
            self.ticked(x, "GROW")
            self.ticked(x, "FIXED")
            digests = x("DEBUG", "DIGEST-VALUE", "w:GROW", "w:FIXED")
            if "--aof-use-rdb-preamble" in options:
                x("BGREWRITEAOF")
                wait_until(lambda: b"aof_rewrite_in_progress:0" in x("INFO", "persistence") and
                           b"aof_rewrite_scheduled:0" in x("INFO", "persistence"), "a rewritten file")
            one.restart(save=not options)
            x = self.raw(one).call
            self.assertEqual(x("DEBUG", "DIGEST-VALUE", "w:GROW", "w:FIXED"), digests)
            self.assert_remembers(x, "w:GROW", 5)
            self.assertEqual(x("TAMIS.TICK", "w:GROW"), 6)
            self.assertEqual(x("TAMIS.INFO", "w:FIXED", "tick"), 5)

    def test_dump_load_and_the_tool(self):
        one = self.server()
        x = self.raw(one).call
        self.ticked(x, "GROW")
        file = dump(one.client, "w:GROW")
        load(one.client, "copy", file)
        self.assertEqual(x("DEBUG", "DIGEST-VALUE", "copy"), x("DEBUG", "DIGEST-VALUE", "w:GROW"))
        self.assertEqual(x("TAMIS.TICK", "copy"), 6)
        path = os.path.join(one.folder, "w.tamis")
        with open(path, "wb") as out:
            out.write(file)
        told = subprocess.run([TOOL, "query", path], input=b"\n".join(keys(5)), stdout=subprocess.PIPE, check=True)
        self.assertEqual(told.stdout.split(), keys(5))
        x("TAMIS.TICK", "w:GROW")
        self.refused("changed", x, "TAMIS.DUMP", "w:GROW", b"1-0")

    def test_replicas_forget_the_same(self):
        primary, replica = self.server(port=free_port()), self.server(port=free_port())
        replica.client.execute_command("REPLICAOF", "127.0.0.1", str(primary.port))
        x = self.raw(primary).call
        random = chance()
        x("TAMIS.RESERVE", "f", 300, 0.01, "WINDOW", 2, "FIXED")
        x("TAMIS.RESERVE", "g", 300, 0.01, "WINDOW", 2)
        refused = 0
        for _ in range(600):
            for key in "fg":
                pick = random.randrange(20)
                if pick == 0:
                    x("TAMIS.TICK", key)
                elif pick == 1:
                    x("TAMIS.TICK", key, "STEP", random.randrange(3))
                else:
                    refused += sum(isinstance(a, Fault) for a in
                                   x("TAMIS.MADD", key, *(b"%d" % random.randrange(2000) for _ in range(20))))
        self.assertGreater(refused, 100)
        self.assert_same(primary, replica)
        for key in "fg":
            self.assertGreater(x("TAMIS.INFO", key, "tick"), 10)
        self.assertNotIn("CRITICAL", replica.log())

    def test_events_and_totals(self):
        one = self.server()
        x = self.raw(one).call
        x("CONFIG", "SET", "notify-keyspace-events", "Ed")
        listener = one.connect().pubsub()
        listener.psubscribe("__keyevent@0__:tamis.tick")
        self.assertEqual(listener.get_message(timeout=DEADLINE)["type"], "psubscribe")
        x("TAMIS.RESERVE", "w", 100, 0.01, "WINDOW", 2)
        x("TAMIS.TICK", "w")
        x("TAMIS.TICK", "w")
        self.assertIn(b"tamis_ticks:2", x("INFO", "tamis"))
        events = []
        wait_until(lambda: events.append(listener.get_message()) or
                   sum(e is not None and e["type"] == "pmessage" for e in events) == 2, "two events")
        listener.close()


if __name__ == "__main__":
    main()
