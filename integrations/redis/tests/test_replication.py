"""Replicas have the same bytes: after mixed commands, refused ones, restarts of either side, and failover.

TAMIS_TEST_LONG=1 sends a million commands.

SPDX-License-Identifier: MIT
"""
from support import *

COMMANDS = 1000000 if LONG else 20000
BATCH = 500


class Replication(Case):
    def pair(self, *options):
        primary = self.server(*options, port=free_port())
        replica = self.server(*options, port=free_port())
        replica.client.execute_command("REPLICAOF", "127.0.0.1", str(primary.port))
        self.caught_up(primary, replica)
        return primary, replica

    def mixed(self, random, pipe):
        """One command of any sort."""
        key = "s%d" % random.randrange(12)
        item = b"k%d" % random.randrange(5000)
        pick = random.randrange(100)
        if pick < 2:
            pipe.execute_command("TAMIS.TICK", key, *random.choice(((), ("STEP", random.randrange(20)))))
        elif pick < 40:
            pipe.execute_command("TAMIS.ADD", key, item)
        elif pick < 55:
            pipe.execute_command("TAMIS.MADD", key, *(b"k%d" % random.randrange(5000) for _ in range(8)))
        elif pick < 75:
            pipe.execute_command("TAMIS.DEL", key, item)
        elif pick < 85:
            pipe.execute_command("TAMIS.MDEL", key, item, b"k%d" % random.randrange(5000))
        elif pick < 92:
            pipe.execute_command("TAMIS.EXISTS", key, item)
        elif pick < 95:
            kind = random.choice(("line", "rank", "bloom", "dleft-counting", "rank-counting", "steady",
                                  "window"))
            ticks = ("WINDOW", random.randrange(1, 5)) if kind == "window" else ()
            pipe.execute_command("TAMIS.RESERVE", key, random.randrange(1, 300), 0.01, "KIND", kind,
                                 random.choice(("GROW", "FIXED")), "SEED", 7, *ticks)
        elif pick < 96:
            pipe.execute_command(random.choice(("TAMIS.MERGE", "TAMIS.MERGEBEYOND")), key,
                                 *("s%d" % random.randrange(12) for _ in range(random.randrange(1, 3))))
        elif pick < 97:
            pipe.execute_command("COPY", key, "s%d" % random.randrange(12), "REPLACE")
        elif pick < 98:
            pipe.execute_command("SET", "text", item)
        else:
            pipe.execute_command("UNLINK", key)

    def send(self, primary, random, n):
        for _ in range(0, n, BATCH):
            pipe = primary.client.pipeline(transaction=False)
            for _ in range(BATCH):
                self.mixed(random, pipe)
            pipe.execute(raise_on_error=False)

    def test_mixed_commands_and_restarts(self):
        random = chance()
        primary, replica = self.pair("--appendonly", "yes")
        for server in (primary, replica):
            server.client.config_set("tamis.capacity", 200)
        for step in range(5):
            self.send(primary, random, COMMANDS // 5)
            self.assert_same(primary, replica)
            one = (replica, primary)[step % 2]
            one.restart()
            one.client.config_set("tamis.capacity", 200)
            if one is replica:
                replica.client.execute_command("REPLICAOF", "127.0.0.1", str(primary.port))
            self.assert_same(primary, replica)
        self.assertGreater(primary.client.dbsize(), 3)
        print(f"# {COMMANDS} commands, {primary.client.dbsize()} keys", file=sys.stderr)

    def test_refused_parts_are_not_replicated(self):
        primary, replica = self.pair()
        x = self.raw(primary).call
        x("TAMIS.RESERVE", "s", 100, 0.01, "FIXED")
        answers = x("TAMIS.MADD", "s", *(b"%d" % i for i in range(150)))
        self.assertTrue(any(isinstance(a, Fault) for a in answers))
        self.assert_same(primary, replica)
        primary.client.config_set("tamis.max-bytes", 60000)  # the replica has no such limit
        for i in range(60):
            x("TAMIS.MADD", "t", *(b"%d.%d" % (i, j) for j in range(500)))
        self.assertGreater(int(primary.client.info("tamis")["tamis_refused_full"]) +
                           x("TAMIS.CARD", "t"), 10000)
        self.assert_same(primary, replica)
        replica.client.config_set("tamis.max-bytes", 1)  # nor does it refuse what the primary sends
        primary.client.config_set("tamis.max-bytes", "1gb")
        for i in range(60):
            x("TAMIS.MADD", "t", *(b"%d:%d" % (i, j) for j in range(500)))
        x("TAMIS.RESERVE", "u", 100000, 0.001)
        self.assert_same(primary, replica)

    def test_loads_are_replicated_also_half_way(self):
        primary, replica = self.pair()
        x = self.raw(primary).call
        x("TAMIS.RESERVE", "s", 2000000, 0.001, "SEED", 1)
        x("TAMIS.MADD", "s", *(b"%d" % i for i in range(5000)))
        file = dump(primary.client, "s")
        load(primary.client, "t", file)
        self.assertEqual(x("TAMIS.CARD", "t"), x("TAMIS.CARD", "s"))
        self.assert_same(primary, replica)
        x("TAMIS.LOAD", "u", len(file), 0, file[:1 << 20])
        late = self.server(port=free_port())  # a full copy, with a set that is being loaded
        late.client.execute_command("REPLICAOF", "127.0.0.1", str(primary.port))
        self.assert_same(primary, late)
        x("TAMIS.LOAD", "u", len(file), 1 << 20, file[1 << 20:])
        self.assert_same(primary, late)
        self.assertEqual(x("DEBUG", "DIGEST-VALUE", "s"), x("DEBUG", "DIGEST-VALUE", "u"))
        bad = file[:-1] + bytes([file[-1] ^ 255])
        self.refused("refused", load, primary.client, "v", bad)
        self.assert_same(primary, replica)
        self.assertEqual(late.client.exists("v"), 0)
        self.assertEqual(replica.client.execute_command("TAMIS.CARD", "u"), x("TAMIS.CARD", "s"))

    def test_failover_loses_nothing(self):
        primary, replica = self.pair()
        primary.client.execute_command("TAMIS.RESERVE", "s", 1000, 0.001, "DELETES", "SEED", 1)
        keys = [b"%d" % i for i in range(20000)]
        for at in range(0, len(keys), 1000):
            primary.client.execute_command("TAMIS.MADD", "s", *keys[at:at + 1000])
        self.assertEqual(primary.client.wait(1, 10000), 1)
        primary.kill()
        replica.client.execute_command("REPLICAOF", "NO", "ONE")
        self.assertEqual(replica.client.execute_command("TAMIS.MEXISTS", "s", *keys), [1] * len(keys))
        self.assertEqual(replica.client.execute_command("TAMIS.ADD", "s", "after"), 1)


if __name__ == "__main__":
    main()
