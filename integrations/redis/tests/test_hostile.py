"""Bytes from anyone: changed and truncated RESTORE payloads, files and parts.

After each of them the server answers PING, and what it accepted never says "absent" of a key that is in:
either the set is refused, or it is the very set.  TAMIS_TEST_LONG=1 tries 100,000 of them.

SPDX-License-Identifier: MIT
"""
from support import *

TRIES = 100000 if LONG else 4000
KEYS = [b"key:%d" % i for i in range(200)]
HEAD = 10  # bytes of a payload that name the type: with others it is another type, and not ours
CRC = None


def crc64(data):
    """The checksum at the end of what DUMP gives: CRC-64/Jones, reflected, as the servers compute it."""
    global CRC
    if CRC is None:
        CRC = []
        for byte in range(256):
            value = byte
            for _ in range(8):
                value = value >> 1 ^ (0x95ac9329ac4bc9b5 if value & 1 else 0)
            CRC.append(value)
    value = 0
    for byte in data:
        value = CRC[(value ^ byte) & 255] ^ value >> 8
    return value


def sealed(payload):
    """A payload whose checksum is right again."""
    return payload[:-8] + crc64(payload[:-8]).to_bytes(8, "little")


def changed(random, data):
    """The data with some damage."""
    data = bytearray(data)
    how = random.randrange(6)
    if how == 0:
        return bytes(data[:random.randrange(len(data))])
    if how == 1:
        at = random.randrange(len(data))
        data[at:at] = random.randbytes(random.randrange(1, 20))
    elif how == 2:
        at = random.randrange(len(data))
        del data[at:at + random.randrange(1, 20)]
    elif how == 3:
        at = random.randrange(min(len(data), 400))
        data[at:at + 8] = random.choice((0, 1, 255, 1 << 31, 1 << 40, (1 << 64) - 1)).to_bytes(8, "little")
    else:
        for _ in range(random.randrange(1, 4)):
            at = random.randrange(min(len(data), random.choice((64, 400, len(data)))))
            data[at] ^= 1 << random.randrange(8)
    return bytes(data)


class Hostile(Case):
    def setUp(self):
        self.one = self.server()
        self.x = self.raw(self.one).call

    def sources(self):
        for i, options in enumerate((("FIXED",), ("GROW",), ("DELETES", "GROW"), ("KIND", "rank", "FIXED"),
                                     ("WINDOW", 3, "GROW"))):
            n = 60 if "GROW" in options else 300
            self.x("TAMIS.RESERVE", f"s{i}", n, 0.01, "SEED", 3, *options)
            self.x("TAMIS.MADD", f"s{i}", *KEYS)
        return [f"s{i}" for i in range(5)]

    def check(self, accepted):
        """The server lives, and what it took is the set that it was made from."""
        self.assertEqual(self.x("PING"), "PONG")
        if accepted:
            self.assertEqual(self.x("TAMIS.MEXISTS", "t", *KEYS), [1] * len(KEYS))
            self.x("TAMIS.INFO", "t")
            self.x("TAMIS.ADD", "t", "another")
        self.x("DEL", "t")

    def test_restore(self):
        random = chance()
        payloads = [(s, self.x("DUMP", s)) for s in self.sources()]
        self.assertEqual(sealed(payloads[0][1]), payloads[0][1])
        file = dump(self.one.client, "s1")
        self.x("TAMIS.LOAD", "half", len(file), 0, file[:500])
        payloads.append(("half", self.x("DUMP", "half")))
        refused = taken = 0
        for _ in range(TRIES):
            source, payload = random.choice(payloads)
            bad = payload[:HEAD] + changed(random, payload[HEAD:-10]) + payload[-10:]
            try:
                self.x("RESTORE", "t", 0, sealed(bad))
                taken += 1
                accepted = source != "half"
            except Fault as fault:
                self.assertRegex(str(fault), "Bad data format|checksum")
                refused += 1
                accepted = False
            if accepted and self.x("DEBUG", "DIGEST-VALUE", "t") == self.x("DEBUG", "DIGEST-VALUE", "half"):
                accepted = False
            try:
                self.check(accepted)
            except Fault as fault:  # a changed form may turn a set into one that is being loaded
                self.assertIn("still being loaded", str(fault))
                self.x("DEL", "t")
        print(f"# RESTORE: {refused} refused, {taken} taken", file=sys.stderr)
        self.assertGreater(refused, 0.9 * TRIES)
        self.assertIn("a set is refused: ", self.one.log())

    def test_files(self):
        random = chance()
        files = [(s, dump(self.one.client, s)) for s in self.sources()]
        refused = taken = 0
        for _ in range(TRIES // 2):
            source, file = random.choice(files)
            bad = changed(random, file)
            if not bad:
                continue
            try:
                load(self.one.client, "t", bad, random.choice((100, 1000, 1 << 20)))
                taken += 1
                accepted = True
            except redis.exceptions.ResponseError as fault:
                self.assertIn("the set is refused: ", str(fault))
                self.assertEqual(self.x("EXISTS", "t"), 0)
                refused += 1
                accepted = False
            self.check(accepted)
        print(f"# LOAD: {refused} refused, {taken} taken", file=sys.stderr)
        self.assertGreater(refused, 0.9 * TRIES / 2)

    def test_parts_in_any_order(self):
        random = chance()
        file = dump(self.one.client, self.sources()[1])
        for _ in range(TRIES // 2):
            size = random.choice((len(file), len(file), 1, 0, len(file) + 1, 1 << 62, (1 << 64) - 1))
            at = random.choice((0, 0, 700, 1400, len(file) - 1, 1 << 63))
            end = random.choice((at + 700, len(file), at + 1))
            try:
                self.x("TAMIS.LOAD", "t", size, at, file[at:end])
            except Fault as fault:
                self.assertRegex(str(fault), "^ERR ")
            self.assertEqual(self.x("PING"), "PONG")
            if random.randrange(20) == 0:
                self.x("DEL", "t")

    def test_huge_claims_cost_nothing(self):
        """Sizes of 2^40 and more, with nothing behind them."""
        before = int(self.one.client.info("memory")["used_memory"])
        head = self.x("DUMP", self.sources()[0])[:-10]
        for size in (1 << 30, 1 << 40, (1 << 62) - 1):
            length = b"\x02\x81" + size.to_bytes(8, "big")  # an unsigned number of 64 bits
            start = head.index(b"\x89TAMIS") - 40
            for at in range(max(start, HEAD), head.index(b"\x89TAMIS")):
                bad = head[:at] + length + head[at:] + b"\0" * 10
                self.refused("Bad data format", self.x, "RESTORE", "t", 0, sealed(bad))
        peak = int(self.one.client.info("memory")["used_memory_peak"])
        self.assertLess(peak, before + (64 << 20))


if __name__ == "__main__":
    main()
