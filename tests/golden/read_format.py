#!/usr/bin/env python3
"""read_format.py - a second reader of the file format, written from docs/format.md alone

    read_format.py FILE...             one line for each: "ok KIND COUNT [FORM]", or why it is refused
    read_format.py --ask N FILE...     N characters 0 or 1: is key number 0 .. N-1 in the set?
    read_format.py --key TEXT FILE...  1 or 0

It shares no code with the library and needs nothing but Python 3, so that agreement of the two says that
the specification is complete.  Keys have at most 16 bytes here; the numbering of keys is that of README.md.

SPDX-License-Identifier: MIT
"""
import functools
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import make_aes_vectors  # noqa: E402

M64 = (1 << 64) - 1
M32 = (1 << 32) - 1
XXH3, AES = 1, 2  # the hashes

# ---- XXH3, after its published specification ----

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
MX1, MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25


def u32(data, at):
    return struct.unpack_from("<I", data, at)[0]


def u64(data, at):
    return struct.unpack_from("<Q", data, at)[0]


def swap32(x):
    return int.from_bytes(x.to_bytes(4, "little"), "big")


def swap64(x):
    return int.from_bytes(x.to_bytes(8, "little"), "big")


def avalanche3(h):
    h ^= h >> 37
    h = h * MX1 & M64
    return h ^ h >> 32


def avalanche64(h):
    h ^= h >> 33
    h = h * P64_2 & M64
    h ^= h >> 29
    h = h * P64_3 & M64
    return h ^ h >> 32


def fold(a, b):
    product = a * b
    return (product & M64) ^ (product >> 64)


def xxh3_128(data, seed):
    """(low, high) of at most 16 bytes."""
    n = len(data)
    if n > 16:
        raise ValueError("keys of more than 16 bytes are not needed here")
    if n == 0:
        return (avalanche64(seed ^ u64(SECRET, 64) ^ u64(SECRET, 72)),
                avalanche64(seed ^ u64(SECRET, 80) ^ u64(SECRET, 88)))
    if n <= 3:
        low = data[0] << 16 | data[n >> 1] << 24 | data[n - 1] | n << 8
        high = swap32(low)
        high = (high << 13 | high >> 19) & M32
        flip_low = (u32(SECRET, 0) ^ u32(SECRET, 4)) + seed & M64
        flip_high = (u32(SECRET, 8) ^ u32(SECRET, 12)) - seed & M64
        return avalanche64(low ^ flip_low), avalanche64(high ^ flip_high)
    if n <= 8:
        seed ^= swap32(seed & M32) << 32
        word = u32(data, 0) + (u32(data, n - 4) << 32)
        keyed = word ^ ((u64(SECRET, 16) ^ u64(SECRET, 24)) + seed & M64)
        product = keyed * (P64_1 + (n << 2) & M64)
        low, high = product & M64, product >> 64
        high = high + (low << 1) & M64
        low ^= high >> 3
        low = (low ^ low >> 35) * MX2 & M64
        return low ^ low >> 28, avalanche3(high)
    flip_low = (u64(SECRET, 32) ^ u64(SECRET, 40)) - seed & M64
    flip_high = (u64(SECRET, 48) ^ u64(SECRET, 56)) + seed & M64
    first, last = u64(data, 0), u64(data, n - 8)
    product = (first ^ last ^ flip_low) * P64_1
    low, high = product & M64, product >> 64
    low = low + (n - 1 << 54) & M64
    last ^= flip_high
    high = high + last + (last & M32) * (P32_2 - 1) & M64
    low ^= swap64(high)
    product = low * P64_2
    low, high = product & M64, (product >> 64) + high * P64_2 & M64
    return avalanche3(low), avalanche3(high)


def mix16(data, at, secret_at):
    return fold(u64(data, at) ^ u64(SECRET, secret_at), u64(data, at + 8) ^ u64(SECRET, secret_at + 8))


def xxh3_64(data):
    """Of 9 bytes and more, without a seed: the checksum."""
    n = len(data)
    if n <= 16:
        low = u64(data, 0) ^ u64(SECRET, 24) ^ u64(SECRET, 32)
        high = u64(data, n - 8) ^ u64(SECRET, 40) ^ u64(SECRET, 48)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        product = low * high
        return avalanche3(n + swapped + high + (product >> 64 ^ product & M64) & M64)
    if n <= 128:
        acc = n * P64_1 & M64
        for i in range((n - 1) // 32, -1, -1):
            acc += mix16(data, 16 * i, 32 * i) + mix16(data, n - 16 * (i + 1), 32 * i + 16)
        return avalanche3(acc & M64)
    if n <= 240:
        acc = n * P64_1 & M64
        for i in range(8):
            acc += mix16(data, 16 * i, 16 * i)
        acc = avalanche3(acc & M64)
        for i in range(8, n // 16):
            acc += mix16(data, 16 * i, 16 * (i - 8) + 3)
        return avalanche3(acc + mix16(data, n - 16, 136 - 17) & M64)
    lanes = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]

    def stripe(at, secret_at):
        for i in range(8):
            word = u64(data, at + 8 * i)
            keyed = word ^ u64(SECRET, secret_at + 8 * i)
            lanes[i ^ 1] = lanes[i ^ 1] + word & M64
            lanes[i] = lanes[i] + (keyed & M32) * (keyed >> 32) & M64

    blocks = (n - 1) // 1024
    for block in range(blocks):
        for i in range(16):
            stripe(1024 * block + 64 * i, 8 * i)
        for i in range(8):
            lanes[i] = (lanes[i] ^ lanes[i] >> 47 ^ u64(SECRET, 128 + 8 * i)) * P32_1 & M64
    for i in range((n - 1 - 1024 * blocks) // 64):
        stripe(1024 * blocks + 64 * i, 8 * i)
    stripe(n - 64, 192 - 64 - 7)
    acc = n * P64_1
    for i in range(4):
        acc += fold(lanes[2 * i] ^ u64(SECRET, 11 + 16 * i), lanes[2 * i + 1] ^ u64(SECRET, 19 + 16 * i))
    return avalanche3(acc & M64)


# ---- the format ----

MAGIC = b"\x89TAMIS\r\n"
BLOOM, COUNTING, BLOCKED, DLEFT, DLCBF, DDLCBF, RANK, RANK_COUNTING, BALANCED = range(1, 10)
STEADY, WINDOW, LINE = 12, 13, 14
OTHERS = (RANK, RANK_COUNTING, BALANCED, STEADY, WINDOW, LINE)
NONE = 255
NAMES = {BLOOM: "bloom", COUNTING: "counting-bloom", BLOCKED: "blocked-bloom", DLEFT: "dleft",
         DLCBF: "dleft-counting", DDLCBF: "dleft-dynamic", RANK: "rank", RANK_COUNTING: "rank-counting",
         BALANCED: "balanced-bloom", STEADY: "steady", WINDOW: "window", LINE: "line"}
STATE = {RANK: 4, RANK_COUNTING: 4, BALANCED: 3, WINDOW: 2}  # words of the state in use, from number 2 on
STEP = 0xD1342543DE82EF95
FACTORS = (0x6A09E667, 0xBB67AE85, 0x3C6EF373, 0xA54FF53B, 0x510E527F, 0x9B05688D, 0x1F83D9AB, 0x5BE0CD19,
           0xCBBB9D5D, 0x629A292B, 0x9159015B, 0x152FECD9, 0x67332667, 0x8EB44A87, 0xDB0C2E0D, 0x47B5481D)


PLACE_FACTORS = (
    0x428A2F99, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A5, 0xAB1C5ED5,
    0xD807AA99, 0x12835B01, 0x243185BF, 0x550C7DC3, 0x72BE5D75, 0x80DEB1FF, 0x9BDC06A7, 0xC19BF175,
    0xE49B69C1, 0xEFBE4787, 0x0FC19DC7, 0x240CA1CD, 0x2DE92C6F, 0x4A7484AB, 0x5CB0A9DD, 0x76F988DB,
    0x983E5153, 0xA831C66D, 0xB00327C9, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967)


class Refused(Exception):
    pass


def must(condition, reason):
    if not condition:
        raise Refused(reason)


def mix(x):
    x ^= x >> 32
    x = x * 0xE9846AF9B1A615D5 & M64
    x ^= x >> 29
    x = x * 0x9E6C63D0876A68D9 & M64
    return x ^ x >> 32


def stash_words(capacity):
    slots = capacity + capacity // 4 + 1 if capacity else 0
    return slots, (2 * slots + (slots + 7) // 8 + 7) // 8 * 8


class Shrink:
    """Buckets of a dleft table: section 6.4."""

    def __init__(self, bits, group, plain):
        self.plain = plain
        self.group, self.payload, self.state_bits = group, bits // 64 * 60 * group, bits // 16
        self.most, self.telling = (6, 3) if bits == 64 else (11, 5)
        self.states = []
        for load in range(self.most + 1):
            told = self.told(load)
            if told == 0:
                self.states.append((load,))
            elif told == 1:
                self.states += [(zeros, load - zeros) for zeros in range(load + 1)]
            else:
                self.states += [(a, b, c, load - a - b - c) for a in range(load + 1)
                                for b in range(load - a + 1) for c in range(load - a - b + 1)]

    def told(self, load):
        if self.plain:
            return 0
        if self.telling == 3:
            return int(load in (4, 5))
        return 2 if load in (6, 7) else int(load <= 10)

    def length(self, total):
        if total == 0:
            return 62
        most = 60 if self.payload == 60 else 62 - total
        return min(most, self.payload // total)

    def read(self, value):
        """The buckets of a group as lists of (fingerprint, bits), and whether it is in order."""
        numbers = [value >> self.payload + self.state_bits * b & (1 << self.state_bits) - 1
                   for b in range(self.group)]
        if max(numbers) >= len(self.states):
            return [], False
        states = [self.states[number] for number in numbers]
        total = sum(map(sum, states))
        stays = self.group > 1 and total < 4 * self.most and self.length(total) == self.length(total + 1)
        at, buckets = 0, []
        for counts in states:
            load, prints = sum(counts), []
            told = self.told(load)
            stored = self.length(total) + int(stays and load <= self.telling and not self.plain)
            for begins, count in enumerate(counts):
                for _ in range(count):
                    prints.append((begins << stored | value >> at & (1 << stored) - 1, stored + told))
                    at += stored
            buckets.append(prints)
        clean = value >> at & (1 << self.payload - at) - 1 == 0
        return buckets, clean


def stream(digest, i):
    low, high = digest
    return digest[i] if i < 2 else mix(low + i * (high | 1) & M64)


class Steady:
    """Buckets of a steady table: section 6.12."""

    def __init__(self, values):
        (self.n, self.bits, self.homes, self.r, self.m, self.back_bits, self.k, self.v, self.c,
         self.copies_max) = values[:10]
        self.groups = (self.n - 1 >> self.k) + 1
        self.words = (self.n * self.bits + self.m * self.back_bits) // 64

    @staticmethod
    def slots(bits, homes, width):
        return max(bits - homes, 0) // (1 + width)

    def sound(self):
        if not (1 <= self.n <= 1 << 38 and 1 <= self.bits <= 32768 and self.bits % 512 == 0 and self.r >= 1
                and self.r <= 48 and self.v <= 8 and self.c <= 8 and 1 <= self.homes < self.bits
                and 1 <= self.copies_max <= 255
                and self.slots(self.bits, self.homes, self.r + self.v + self.c) > 0):
            return False
        if self.m == 0:
            return self.back_bits == 0 and self.k == 0
        if not (self.m <= 1 << 38 and 1 <= self.back_bits <= 32768 and self.back_bits % 512 == 0
                and self.k <= 8 and self.m <= self.groups * self.homes):
            return False
        self.back_homes = (self.groups * self.homes - 1) // self.m + 1
        width = self.r + self.k + 1 + self.v + self.c
        return width <= 64 and self.slots(self.back_bits, self.back_homes, width) > 0

    def read_bucket(self, value, bits, homes, width):
        """The runs of the homes that are held, each a list of slots."""
        slots = self.slots(bits, homes, width)
        index = value & (1 << homes + slots) - 1
        ones = bin(index).count("1")
        held = homes if ones <= slots else homes + slots - ones
        runs, at = [], 0
        while len(runs) < held:
            run = 0
            while index >> at & 1:
                at, run = at + 1, run + 1
            at += 1
            runs.append(run)
        must(sum(runs) <= slots and at <= homes + slots
             and index >> at == (0 if held == homes else (1 << homes + slots - at) - 1),
             "the index of a bucket fits no number of slots")
        value >>= homes + slots
        for i, run in enumerate(runs):
            runs[i] = [value >> width * j & (1 << width) - 1 for j in range(run)]
            value >>= width * run
        must(value == 0, "a bucket has data past its last slot")
        return runs

    def read(self, bits):
        width = self.r + self.v + self.c
        self.front, self.back = [], []
        for i in range(self.n):
            value = bits >> i * self.bits & (1 << self.bits) - 1
            self.front.append(self.read_bucket(value, self.bits, self.homes, width))
            must(self.m > 0 or len(self.front[-1]) == self.homes,
                 "a bucket has given homes away, but there is no back")
        bits >>= self.n * self.bits
        for i in range(self.m):
            value = bits >> i * self.back_bits & (1 << self.back_bits) - 1
            self.back.append(self.read_bucket(value, self.back_bits, self.back_homes, width + self.k + 1))
            must(len(self.back[-1]) == self.back_homes, "a bucket of the back has given homes away")
        found = sum(len(self.runs(b, h)) for b in range(self.n)
                    for h in range(len(self.front[b]), self.homes))
        must(found == sum(len(run) for bucket in self.back for run in bucket),
             "a slot of the back belongs to no home that was given away")

    def runs(self, bucket, home):
        """The slots of a home, as in the front."""
        if home < len(self.front[bucket]):
            return self.front[bucket][home]
        q, m = divmod((bucket >> self.k) * self.homes + home, self.m)
        step = 1 + ((q + 1) * 0x9E3779B97F4A7C15 % (1 << 64) * (self.m - 1) >> 64)
        slots = []
        for place in range(2 if self.m > 1 else 1):
            for slot in self.back[(m + place * step) % self.m][q]:
                told = slot >> self.r & (1 << self.k + 1) - 1
                if told == bucket % (1 << self.k) + (place << self.k):
                    slots.append(slot & (1 << self.r) - 1 | slot >> self.r + self.k + 1 << self.r)
        return slots

    def slots_of(self, digest):
        """What stands beside the fingerprint in the slots of a key."""
        x = digest[0] * self.n
        return [slot >> self.r for slot in self.runs(x >> 64, (x & M64) * self.homes >> 64)
                if (slot ^ digest[1]) & (1 << self.r) - 1 == 0]

    def keys(self):
        return sum(1 + (slot >> self.r + self.v) for b in range(self.n) for h in range(self.homes)
                   for slot in self.runs(b, h))

    def contains(self, digest):
        return bool(self.slots_of(digest))


class Window(Steady):
    """The same with stamps: section 6.13."""

    def __init__(self, values):
        self.ticks = values[7]
        bits = 2
        while 1 << bits < self.ticks + 2:
            bits += 1
        super().__init__(values[:7] + (bits, 0, 1))

    def sound(self):
        return 1 <= self.ticks <= 126 and super().sound()

    def age(self, now, stamp):
        return (now - stamp) % (1 << self.v)

    def check(self, now, left, stashed):
        must(left <= self.n + 1 and now <= 1 << 62,
             "the window has more buckets to clear than buckets, or too many ticks")
        ages = [(self.age(now, slot >> self.r), left > b + 1)
                for b in range(self.n) for h in range(self.homes) for slot in self.runs(b, h)]
        ages += [(self.age(now, count - 1), left > 0) for count in stashed.values()]
        must(all(age <= self.ticks + uncleared for age, uncleared in ages)
             and all(count <= 1 << self.v for count in stashed.values()),
             "the window holds keys that are too old")

    def live(self, now, digest, stashed):
        stamps = self.slots_of(digest) + [stashed[d] - 1 for d in (digest,) if d in stashed]
        return any(self.age(now, stamp) <= self.ticks for stamp in stamps)


class Row:
    """Lines of one kind, front or back: section 6.9."""

    def __init__(self, homes, prints, values):
        self.homes, self.prints, self.planes = homes, prints, prints + values
        self.entries, self.gap = next(((c, g) for c in range(63, 1, -1) for g in range(8) if self.fits(c, g)), (0, 0))

    def fits(self, entries, gap):
        first = self.homes + 1 + entries + gap
        begins = [self.homes + 1] + [first + j * entries for j in range(self.planes)]
        return first + self.planes * entries <= 512 and all(b % 8 + entries <= 64 for b in begins)

    def read(self, line):
        """The fingerprints and values of each home, and 'away'."""
        c = self.entries

        def take(n):
            nonlocal line
            line, part = line >> n, line & (1 << n) - 1
            return part

        held, away, starts, gap = take(self.homes), take(1), take(c), take(self.gap)
        planes = [take(c) for _ in range(self.planes)]
        must(bin(starts).count("1") == bin(held).count("1"), "the entries of a line do not fit its homes")
        load = starts.bit_length()
        must(not any(plane >> load for plane in planes), "a line has data where it is free")
        must(gap == 0 and line == 0, "a line has data between its parts or past its end")
        runs, homes = {}, [home for home in range(self.homes) if held >> home & 1]
        for i in range(load):
            if i == 0 or starts >> i - 1 & 1:
                home = homes.pop(0)
                runs[home] = []
            bits = sum((plane >> i & 1) << j for j, plane in enumerate(planes))
            runs[home].append((bits & (1 << self.prints) - 1, bits >> self.prints))
        return runs, away


class Line:
    """Lines, and a back for the homes that they have given away: section 6.9."""

    def __init__(self, values):
        self.n, self.homes, self.r, self.m, self.back_homes, self.v, self.set = values[:7]
        self.words = 8 * (self.n + self.m)

    def sound(self):
        if not (1 <= self.n <= 1 << 38 and 1 <= self.homes <= 126 and 1 <= self.r <= 40 and self.m <= 1 << 38
                and self.v <= 8 and self.set <= 1 and not (self.set and self.v)):
            return False
        self.h, k = (self.homes - 1).bit_length(), (self.n - 1).bit_length()
        if k + self.h + self.r > 62 or self.r + self.v > 40:
            return False
        self.front_row = Row(self.homes, self.r, self.v)
        if self.m == 0:
            return self.back_homes == 0 and self.front_row.entries > 0
        self.laps = -(-self.n // self.m)
        if not (1 <= self.back_homes <= 126 and self.laps * min(self.m, 2) <= self.back_homes
                and self.r + self.h + self.v <= 40):
            return False
        self.back_row = Row(self.back_homes, self.r + self.h, self.v)
        return self.front_row.entries > 0 and self.back_row.entries > 0

    def places(self, line):
        i, b = divmod(line, self.m)
        yield b, i
        if self.m > 1:
            yield (b + 1 + (mix(i + 1) * (self.m - 1) >> 64)) % self.m, self.laps + i

    def is_away(self, line, home):
        runs, away = self.front[line]
        return away and home > max(runs, default=-1)

    def read(self, bits):
        lines = [bits >> 512 * i & (1 << 512) - 1 for i in range(self.n + self.m)]
        self.front = [self.front_row.read(line) for line in lines[:self.n]]
        self.back = []
        for line in lines[self.n:]:
            runs, away = self.back_row.read(line)
            must(not away, "a line of the back has given homes away")
            self.back.append(runs)
        found = 0
        for line in range(self.n if self.m else 0):
            for b, home in self.places(line):
                found += sum(self.is_away(line, f >> self.r) and f >> self.r < self.homes
                             for f, _ in self.back[b].get(home, ()))
        must(found == sum(len(run) for runs in self.back for run in runs.values()),
             "an entry of the back belongs to no home that was given away")

    def check(self, stashed, count):
        keys = sum(len(run) for runs, _ in self.front for run in runs.values())
        keys += sum(len(run) for runs in self.back for run in runs.values())
        for (low, high), copies in stashed.items():
            line, home = low ^ (high << 32 & M64 | high >> 32), high >> self.r
            fingerprint = high & (1 << self.r) - 1
            must(line < self.n and home < self.homes
                 and (self.is_away(line, home) or not self.set
                      and [f for f, _ in self.front[line][0].get(home, ())].count(fingerprint) >= 4),
                 "the stash has an entry that belongs into a line")
            keys += copies
        must(keys <= count and (keys == 0) == (count == 0) if self.set else keys == count,
             "the lines do not hold as many keys as the filter claims")

    def values_of(self, digest, stashed):
        """The values of the entries of a key; 0 of one in the stash."""
        x = digest[0] * self.n
        line, x = x >> 64, (x & M64) * self.homes
        home, fingerprint = x >> 64, (x & M64) >> 64 - self.r
        if not self.is_away(line, home):
            return [v for f, v in self.front[line][0].get(home, ()) if f == fingerprint]
        high = fingerprint | home << self.r
        found = [v for b, place in (self.places(line) if self.m else ())
                 for f, v in self.back[b].get(place, ()) if f == high]
        return found + [0] * stashed.get((line ^ (high << 32 & M64 | high >> 32), high), 0)


class Rank:
    """Buckets of a rank table: section 6.7."""

    def __init__(self, values, counting):
        self.n, self.homes, self.fingerprintbits = [values[0], values[6], values[7]], values[1], values[2]
        self.slots, self.extra, self.counting = values[3:6], values[8], counting
        self.width = self.fingerprintbits + self.extra
        self.start, self.stride, self.end = [], [], 0
        self.link_bits = [self.n[1].bit_length(), self.n[2].bit_length(), 0]
        for kind in range(3):
            head = (self.homes if kind == 0 else 1) + self.link_bits[kind]
            least = 0 if kind == 0 else 1 + self.n[kind].bit_length()
            self.start.append(self.end)
            self.stride.append(max(head + self.slots[kind] * (1 + self.width), least))
            self.end += self.n[kind] * self.stride[kind]

    def sound(self):
        n, z = self.n, self.slots
        return (1 <= self.homes <= 64 and 1 <= self.fingerprintbits <= 56 and self.width <= 64
                and 1 <= n[0] <= 1 << 38 and 1 <= z[0] and max(z) <= 512 and n[2] <= n[1] <= n[0]
                and all((z[i] == 0) == (n[i] == 0) for i in (1, 2)) and self.counting <= self.extra <= 8
                and (n[0] <= 1024 or max(z) <= 8 * self.homes))

    def piece(self, bits, kind, number):
        return bits >> self.start[kind] + number * self.stride[kind] & (1 << self.stride[kind]) - 1

    def read(self, bits, state):
        """The chains of all homes as lists of slots, by bucket and home."""
        self.used, chains = [set(), set(), set()], []
        for number in range(self.n[0]):
            chains.append(self.read_bucket(bits, number))
        for kind in (1, 2):
            head, fresh = state[2 * kind - 2:2 * kind]
            free = set()
            while head:
                must(head <= fresh and head - 1 not in free | self.used[kind],
                     "the list of free extensions is broken")
                free.add(head - 1)
                piece = self.piece(bits, kind, head - 1)
                head = piece >> 1
                must(piece & 1 == 0 and head <= self.n[kind], "the list of free extensions is broken")
            must(free | self.used[kind] == set(range(fresh)), "the list of free extensions is broken")
            for number in range(fresh, self.n[kind]):
                must(self.piece(bits, kind, number) == 0, "an extension that was never used is not empty")
        must(bits >> self.end == 0, "the table has data past its end")
        return chains

    def read_bucket(self, bits, number):
        base, higher, slots, at = 0, 0, [], 0
        for kind in range(3):
            piece = self.piece(bits, kind, number)
            first = self.homes if kind == 0 else 1
            if kind == 0:
                base = piece & (1 << first) - 1
            else:
                must(piece & 1, "a bucket names an extension that is none")
                must(number not in self.used[kind], "an extension is not used by just one bucket")
                self.used[kind].add(number)
            link = piece >> first & (1 << self.link_bits[kind]) - 1
            piece >>= first + self.link_bits[kind]
            higher |= (piece & (1 << self.slots[kind]) - 1) << at
            piece >>= self.slots[kind]
            slots += [piece >> self.width * i & (1 << self.width) - 1 for i in range(self.slots[kind])]
            at += self.slots[kind]
            if link == 0:
                break
            must(link <= self.n[kind + 1], "a bucket names an extension that is none")
            number = link - 1
        ones = bin(base).count("1")
        load = ones + bin(higher).count("1")
        must(at - self.slots[kind] < load <= at or kind == 0 and load <= at,
             "a bucket has an extension that it does not need")
        must(higher >> load == 0 and not any(slots[load:]), "a bucket has data past its last fingerprint")
        chains, reached = [], 0
        for home in range(self.homes):
            chain, s = [], bin(base & (1 << home) - 1).count("1")
            while base >> home & 1:
                chain.append(slots[s])
                if not higher >> s & 1:
                    break
                s = ones + bin(higher & (1 << s) - 1).count("1")
                must(len(chain) <= load, "a bucket has a fingerprint that no chain leads to")
            chains.append(chain)
            reached += len(chain)
        must(reached == load, "a bucket has a fingerprint that no chain leads to")
        return chains

    def copies(self, slot):
        return 1 + (slot >> self.fingerprintbits if self.counting else 0)


class Balanced:
    """Blocks of a balanced Bloom filter: section 6.8."""

    def __init__(self, values):
        (self.scheme, self.choices, self.bits, self.blocks, self.hashes, self.most, self.coin, ratio,
         self.budget) = values[:9]
        self.ratio, self.counter = ratio, self.most.bit_length()
        self.parts = [(0, self.blocks)] * self.choices
        if self.scheme == 3 and self.sound():
            weights = [1 << 32]
            while len(weights) < self.choices:
                weights.append(weights[-1] * ratio >> 32)
            spare, ends = self.blocks - self.choices, [0]
            for i in range(self.choices):
                ends.append(i + 1 + spare * sum(weights[:i + 1]) // sum(weights))
            self.parts = [(a, b - a) for a, b in zip(ends, ends[1:])]

    def sound(self):
        mht = self.scheme == 3
        return (1 <= self.scheme <= 3 and 1 <= self.choices <= (1 if self.scheme == 1 else 8)
                and 64 <= self.bits <= 512 and self.bits % 64 == 0
                and (self.choices if mht else 1) <= self.blocks <= 1 << 38 and 1 <= self.hashes <= 32
                and 1 <= self.most <= 4095 and 1 <= self.coin <= 1 << 32
                and (1 <= self.ratio <= 1 << 32 if mht else self.ratio == 0)
                and (self.budget == 0 or 1000 <= self.budget <= 8000))

    def read(self, bits):
        blocks = [bits >> self.bits * i & (1 << self.bits) - 1 for i in range(self.blocks)]
        must(bits >> self.bits * self.blocks == 0, "the table has data past its end")
        self.loads = [b & (1 << self.counter) - 1 for b in blocks]
        self.filters = [b >> self.counter for b in blocks]
        must(max(self.loads) <= self.most, "a block holds more keys than it can")

    def asks(self, digest):
        """Whether a block holds the key, and whether the stash has to be asked."""
        low, high = digest[1] & M32, digest[1] >> 32
        span = self.bits - self.counter
        places = [((low * f + high & M32) >> 16) * span >> 16 for f in PLACE_FACTORS[:self.hashes]]
        for i, (first, blocks) in enumerate(self.parts):
            x = stream(digest, i + 1 if i else 0) * blocks
            block, coin = first + (x >> 64), (x & M64) >> 32
            if all(self.filters[block] >> p & 1 for p in places):
                return True, False
            if (self.loads[block] << 32 | coin) < (self.most - 1 << 32) + self.coin:
                return False, False
        return False, True


def check_header(data):
    must(len(data) > 0, "the file is empty")
    must(data[:8] == MAGIC[:len(data)], "this is not a tamis file")
    must(len(data) >= 256, "the file is cut off within the header")
    version, header_size, _, hash_id = struct.unpack_from("<4I", data, 8)
    must(version <= 4, "the file has a newer format than this version of tamis can read")
    must(xxh3_64(data[:248]) == u64(data, 248), "the header is damaged: its checksum does not match")
    must(version >= 1, "the header has version 0, which does not exist")
    must(header_size == 256, "the header has the wrong size")
    must(hash_id == XXH3 or (hash_id == AES and version > 1), "the header names an unknown hash")
    reserved = data[184:188] * (version < 2) + data[188:192] + data[192:200] * (hash_id != AES)
    reserved += data[200:208] * (version < 4) + data[208:240]
    must(not any(reserved), "a reserved field of the header is not zero")
    form = u32(data, 184)
    must(form <= 2, "the header names an unknown form of keys")
    large = u32(data, 16) < 128 and u64(data, 48) > 8192
    must(version == 1 or version == 2 and (form > 0 or hash_id != XXH3) or version == 3 and large
         or version == 4 and any(data[200:208]), "the header has a higher version than it needs")


def hash_of(data):
    """Which hash a header names, and its seed of up to 128 bits."""
    return u32(data, 20), u64(data, 32) | u64(data, 192) << 64


def digest_of(which, key):
    hash_id, seed = which
    return xxh3_128(key, seed) if hash_id == XXH3 else aes_hash(seed).digest(key)


@functools.lru_cache(None)
def aes_hash(seed):
    return make_aes_vectors.Hash(seed)


def part_ends(n_body):
    """Section 1.1: where the parts of a body end, in bytes."""
    size = 65536
    while 1 + -(-(8 * n_body - 64) // size) > 65536:
        size *= 2
    return [64] + list(range(64 + size, 8 * n_body, size)) + [8 * n_body]


class Filter:
    def __init__(self, data):
        self.read_header(data)
        must(len(data) >= self.end, "the file is cut off within the body")
        must(len(data) == self.end, "the file goes on after its end")
        body, sums = data[256:256 + 8 * self.n_body], data[256 + 8 * self.n_body:]
        damaged = "the body is damaged: its checksum does not match"
        must(xxh3_64(sums if sums else body) == u64(data, 240), damaged)
        if sums:
            at = [0] + part_ends(self.n_body)
            for i, (a, b) in enumerate(zip(at, at[1:])):
                must(xxh3_64(body[a:b]) == u64(sums, 8 * i), damaged)
        self.words = struct.unpack("<%dQ" % self.n_body, body)
        self.table = self.words[8 + stash_words(self.stash)[1]:]
        self.count = self.words[0]
        must(self.count <= 1 << 62, "the number of keys is out of range")
        must(not any(self.words[2 + STATE.get(self.kind, 0):8]), "a reserved word of the state is not zero")
        self.read_stash()
        self.check_table()

    def read_header(self, data):
        check_header(data)
        kind = u32(data, 16)
        for number, name in ((10, "line"), (11, "line-set")):
            must(kind != number, f"a set of the old kind {name}, which is no longer read; build it again")
        must(kind in NAMES, "the header names an unknown kind of filter")
        self.kind = kind
        self.capacity, self.seed, self.stash, n_body = struct.unpack_from("<4Q", data, 24)
        self.values = struct.unpack_from("<16Q", data, 56)
        self.hash = hash_of(data)
        must(u64(data, 200) < 0x3FF << 52, "the promised error rate is out of range")
        self.promise = struct.unpack_from("<d", data, 200)[0]
        must(self.hash[1] != 0, "the header has no seed")
        must(self.parameters_are_sound(), "a parameter in the header is out of range")
        must(n_body == self.n_body, "the size of the body does not follow from the parameters")
        self.end = 256 + 8 * n_body + (8 * len(part_ends(n_body)) if u32(data, 8) > 2 and n_body > 8192 else 0)

    def read_stash(self):
        slots, words = stash_words(self.stash)
        stash = self.words[8:8 + words]
        counts = [stash[2 * slots + i // 8] >> 8 * (i % 8) & 255 for i in range(slots)]
        self.stashed = {}
        for i in range(slots):
            must(counts[i] or not any(stash[2 * i:2 * i + 2]), "the stash has data in an empty slot")
            if counts[i]:
                key = stash[2 * i:2 * i + 2]
                self.stashed[key] = self.stashed.get(key, 0) + counts[i]
        must(sum(map(bool, counts)) == self.words[1] <= self.stash,
             "the stash does not hold as many keys as it claims")

    def dleft_parameters_are_sound(self):
        bits, subtables, buckets, group, plain = self.values[:5]
        if bits not in (64, 128) or group not in (1, 4) or not 2 <= subtables <= 4 or plain > 1:
            return False
        words = subtables * (buckets // group) * (bits // 64 * group)
        self.n_body = 8 + stash_words(self.stash)[1] + (words + 7) // 8 * 8
        return (1 <= self.capacity <= 1 << 40 and not any(self.values[5:]) and self.stash > 0
                and 1 <= buckets <= 1 << 38 and buckets % group == 0)

    def other_parameters_are_sound(self):
        if self.kind == LINE:
            self.shape = Line(self.values)
            self.n_body = 8 + stash_words(self.stash)[1] + self.shape.words
            return (1 <= self.capacity <= 1 << 40 and self.stash > 0 and not any(self.values[7:])
                    and self.shape.sound())
        if self.kind in (STEADY, WINDOW):
            self.shape = (Steady if self.kind == STEADY else Window)(self.values)
            self.n_body = 8 + stash_words(self.stash)[1] + self.shape.words
            return (1 <= self.capacity <= 1 << 40 and self.stash > 0
                    and not any(self.values[10 if self.kind == STEADY else 8:]) and self.shape.sound())
        if self.kind == BALANCED:
            self.shape = Balanced(self.values)
            words = self.shape.blocks * (self.shape.bits // 64)
            lines = (words + 7) // 8
        else:
            self.shape = Rank(self.values, self.kind == RANK_COUNTING)
            lines = self.shape.end // 512 + 1 + (self.shape.end % 512 > 448)
        self.n_body = 8 + stash_words(self.stash)[1] + 8 * lines
        return (1 <= self.capacity <= 1 << 40 and self.stash > 0 and not any(self.values[9:])
                and self.shape.sound())

    def read_other_table(self):
        bits = sum(word << 64 * i for i, word in enumerate(self.table))
        stashed = sum(self.stashed.values())
        if self.kind == LINE:
            self.shape.read(bits)
            self.shape.check(self.stashed, self.count)
            return
        if self.kind == WINDOW:
            self.shape.read(bits)
            self.shape.check(*self.words[2:4], self.stashed)
            stashed = len(self.stashed)
            must(sum(len(self.shape.runs(b, h)) for b in range(self.shape.n)
                     for h in range(self.shape.homes)) + stashed == self.count,
                 "the buckets do not hold as many keys as the filter claims")
            return
        if self.kind == STEADY:
            self.shape.read(bits)
            must(self.shape.keys() + stashed == self.count,
                 "the buckets do not hold as many keys as the filter claims")
            return
        if self.kind == BALANCED:
            self.shape.read(bits)
            must(sum(self.shape.loads) + stashed + self.words[3] == self.count,
                 "the blocks do not hold as many keys as the filter claims")
            must(self.words[4] <= 1, "the mark of merged filters is neither 0 nor 1")
            return
        self.chains = self.shape.read(bits, self.words[2:6])
        keys, most = 0, max(16, 1 << self.values[8]) if self.kind == RANK_COUNTING else 16
        saturated, mask = False, (1 << self.shape.fingerprintbits) - 1
        for chain in (c for bucket in self.chains for c in bucket):
            sums = {}
            for slot in chain:
                sums[slot & mask] = sums.get(slot & mask, 0) + self.shape.copies(slot)
            keys += sum(sums.values())
            saturated |= any(n >= most for n in sums.values())
        must(saturated or keys + stashed == self.count,
             "the buckets do not hold as many keys as the filter claims")

    def other_contains(self, digest):
        if self.kind == LINE:
            return bool(self.shape.values_of(digest, self.stashed))
        if self.kind == WINDOW:
            return self.shape.live(self.words[2], digest, self.stashed)
        if self.kind == STEADY:
            return self.shape.contains(digest) or digest in self.stashed
        if self.kind == BALANCED:
            found, on = self.shape.asks(digest)
            budget = self.capacity * self.shape.budget // 1000
            spent = budget and self.words[2] >= budget
            return found or (on or spent) and digest in self.stashed
        x = digest[0] * self.shape.n[0]
        chain = self.chains[x >> 64][(x & M64) * self.shape.homes >> 64]
        mask = (1 << self.shape.fingerprintbits) - 1
        return any((slot ^ digest[1]) & mask == 0 for slot in chain) or digest in self.stashed

    def counting_parameters_are_sound(self):
        """Sections 6.5 and 6.6."""
        self.d, self.per_subtable = self.values[:2]
        if self.kind == DLCBF:
            cells, self.r, self.c, moves = self.values[2:6]
            self.bucket_bits = (cells * (self.c + self.r) + 7) // 8 * 8
            sound = 2 <= cells <= 16 and 1 <= self.r <= 32 and 1 <= self.c <= 8 and cells * self.c <= 64
        else:
            self.bucket_bits, self.r, self.c, self.sizes, moves = self.values[2:7]
            self.c = 0 if self.c == NONE else self.c
            sound = self.values[4] == NONE or 1 <= self.c <= 8
            sound = sound and 1 <= self.sizes <= 2 and 2 <= self.r <= 32
            self.told = int(self.sizes == 1)
            self.room = self.bucket_bits - 8 - 5 * self.sizes
            sound = sound and self.room >= 2 * (self.r - self.told + self.c)
        if not sound or any(self.values[self.kind + 1:]) or not (1 <= moves <= 8 or moves == NONE):
            return False
        if not (2 <= self.d <= 4 and 1 <= self.per_subtable <= 1 << 38 and 1 <= self.bucket_bits <= 512):
            return False
        self.per_line = 512 // self.bucket_bits
        lines = (self.d * self.per_subtable + self.per_line - 1) // self.per_line
        self.n_body = 8 + stash_words(self.stash)[1] + 8 * lines
        return 1 <= self.capacity <= 1 << 40 and self.stash > 0 and self.per_subtable << self.r <= 1 << 62

    def parameters_are_sound(self):
        if self.kind in OTHERS:
            return self.other_parameters_are_sound()
        if self.kind in (DLCBF, DDLCBF):
            return self.counting_parameters_are_sound()
        if self.kind == DLEFT:
            return self.dleft_parameters_are_sound()
        cells, self.k = self.values[:2]
        used = 2 if self.kind == COUNTING else 3
        if not 1 <= self.capacity <= 1 << 40 or self.stash != 0 or any(self.values[used:]):
            return False
        if self.kind == BLOOM:
            lines, sound = (cells + 511) // 512, self.k <= cells <= 1 << 48 and self.values[2] <= 1
        elif self.kind == COUNTING:
            lines, sound = (cells + 127) // 128, 1 <= cells <= 1 << 46
        else:
            lines, sound = cells, 1 <= cells <= 1 << 39 and self.values[2] in (0, 8)
            sound = sound and (self.values[2] == 0 or self.k == 8)
        self.n_body = 8 + 8 * lines
        return sound and 1 <= self.k <= (16 if self.kind == BLOCKED else 64)

    def read_buckets(self):
        bits, subtables, buckets, group, plain = self.values[:5]
        shrink, width = Shrink(bits, group, plain), bits // 64 * group
        self.buckets = []
        for at in range(0, subtables * buckets // group * width, width):
            value = sum(self.table[at + i] << 64 * i for i in range(width))
            found, clean = shrink.read(value)
            must(clean, "a bucket has data past its fingerprints")
            for prints in found:
                first = [p >> n - bits // 64 for p, n in prints]
                must(plain or first == sorted(first), "a bucket is not in order")
            self.buckets += found
        must(not any(self.table[subtables * buckets // group * width:]), "the table has data past its end")
        must(sum(map(len, self.buckets)) + sum(self.stashed.values()) == self.count,
             "the buckets do not hold as many keys as the filter claims")

    def read_cells(self, value):
        """The remainders and counters of a bucket of dleft-counting."""
        n, head = self.values[2], min(self.r, 8)
        field = lambda at, width: value >> at & (1 << width) - 1
        found = []
        for i in range(n):
            remainder = field(i * head, head) | field(n * (head + self.c) + i * (self.r - head), self.r - head) << head
            found.append((remainder, field(n * head + i * self.c, self.c)))
        used = max([i + 1 for i in range(n) if found[i][1]], default=0)
        for i, (remainder, count) in enumerate(found):
            must(i >= used or count, "a bucket has an empty cell before one in use")
            must(i < used or not remainder, "a bucket has data in an empty cell")
        must(not value >> n * (self.c + self.r), "a bucket has data past its cells")
        return [(remainder, self.r, count) for remainder, count in found[:used]]

    def read_elements(self, value):
        """The elements of a bucket of dleft-dynamic: bits, how many, keys."""
        state = value >> self.room
        groups = (state & 15, state >> 4 & 15)
        more = (state >> 8 & 31, state >> (13 if self.sizes == 2 else 8) & 31)
        n, head = sum(groups), min(self.r - self.told, 8)
        most = min(15, self.room // (self.r - self.told + self.c))
        tails = [self.r + x - self.told - head for x in more]
        end = n * (head + self.c) + groups[0] * tails[0] + groups[1] * tails[1]
        must(n <= most and end <= self.room and all(self.r + x <= min(self.r + 31, 56) for x in more),
             "a bucket holds more than fits")
        if self.sizes == 1:
            must(n or not more[0], "a bucket has lengths that do not occur")
        else:
            must(all(groups[g] or not more[g] for g in range(2)) and (0 in groups or more[0] > more[1]),
                 "a bucket has lengths that do not occur")
        must(not (value & (1 << self.room) - 1) >> end, "a bucket has data past its elements")
        found, at = [], n * (head + self.c)
        for i in range(n):
            g = int(i >= groups[0])
            bits = value >> i * head & (1 << head) - 1
            bits = bits << tails[g] | value >> at & (1 << tails[g]) - 1
            if self.told:
                bits |= g << head + tails[g]
            found.append((bits, self.r + more[g], 1 + (value >> n * head + i * self.c & (1 << self.c) - 1)))
            at += tails[g]
        return found

    def read_counting(self):
        self.buckets, read = [], self.read_cells if self.kind == DLCBF else self.read_elements
        lines = [sum(self.table[8 * i + j] << 64 * j for j in range(8)) for i in range(len(self.table) // 8)]
        for number in range(self.d * self.per_subtable):
            line, slot = divmod(number, self.per_line)
            value = lines[line] >> slot * self.bucket_bits & (1 << self.bucket_bits) - 1
            lines[line] ^= value << slot * self.bucket_bits
            self.buckets.append(read(value))
        must(not any(lines), "the table has data outside of its buckets")
        must(sum(count for b in self.buckets for _, _, count in b) + sum(self.stashed.values()) == self.count,
             "the buckets do not hold as many keys as the filter claims")

    def counting_copies(self, digest):
        low, high = digest
        fingerprint = low * (self.per_subtable << self.r) >> 64
        remainder = fingerprint & (1 << self.r) - 1
        salt = self.seed if self.hash[0] == XXH3 else aes_hash(self.hash[1]).salt
        mixed = mix(remainder + mix(salt) & M64)
        whole = remainder << 64 - self.r | high >> self.r
        found = self.stashed.get(digest, 0)
        for i in range(self.d):
            turn = 21 * (i - 1) if i else 0
            turned = (mixed << turn | mixed >> 64 - turn) & M64
            bucket = (fingerprint >> self.r) + (turned * self.per_subtable >> 64 if i else 0)
            for bits, n, count in self.buckets[i * self.per_subtable + bucket % self.per_subtable]:
                found += count if whole >> 64 - n == bits else 0
        return found

    def check_table(self):
        if self.kind in OTHERS:
            self.read_other_table()
            return
        if self.kind in (DLCBF, DDLCBF):
            self.read_counting()
            return
        if self.kind == DLEFT:
            self.read_buckets()
            return
        if self.kind == COUNTING:
            counters = [w >> 4 * i & 15 for w in self.table for i in range(16)]
            must(not any(counters[self.values[0]:]), "the table has counters past its end")
            must(15 in counters or sum(counters) == self.count * self.k,
                 "the counters do not add up to the number of keys")
            return
        bits = [i for i in range(64 * len(self.table)) if self.table[i // 64] >> i % 64 & 1]
        if self.kind == BLOOM:
            end = self.values[0] // self.k * self.k if self.values[2] else self.values[0]
            must(not bits or bits[-1] < end, "the table has bits past its end")
        must((len(bits) == 0) == (self.count == 0) and len(bits) <= self.count * self.k,
             "the table does not fit the number of keys")

    def positions(self, digest):
        low, high = digest
        if self.kind == BLOCKED:
            block = low * self.values[0] >> 64
            if self.values[2] == 8:
                yield from (512 * block + 64 * i + (high >> 8 * i) % 64 for i in range(8))
                return
            for factor in FACTORS[:self.k]:
                yield 512 * block + (((high & M32) * factor + (high >> 32) & M32) >> 23)
            return
        parts = self.kind == BLOOM and self.values[2]
        span = self.values[0] // self.k if parts else self.values[0]
        for i in range(self.k):
            yield (i * span if parts else 0) + (low * span >> 64)
            low = low * STEP + high & M64

    def dleft_contains(self, digest):
        subtables, buckets = self.values[1:3]
        for i in range(subtables):
            fingerprints = self.buckets[i * buckets + (stream(digest, i) * buckets >> 64)]
            if any(stream(digest, 4) >> 64 - n == p for p, n in fingerprints):
                return True
        return digest in self.stashed

    def copies(self, key):
        if self.kind in OTHERS:
            return int(bool(self.other_contains(digest_of(self.hash, key))))
        if self.kind in (DLCBF, DDLCBF):
            return self.counting_copies(digest_of(self.hash, key))
        if self.kind == DLEFT:
            return int(self.dleft_contains(digest_of(self.hash, key)))
        places = self.positions(digest_of(self.hash, key))
        if self.kind == COUNTING:
            return min(self.table[i // 16] >> 4 * (i % 16) & 15 for i in places)
        return min(self.table[i // 64] >> i % 64 & 1 for i in places)

    def contains(self, key):
        return self.copies(key) > 0


SERIES = 128


class Series:
    """A set in several filters: section 6.10."""

    def __init__(self, data):
        check_header(data)
        capacity, self.seed, stash, n_body = struct.unpack_from("<4Q", data, 24)
        values = struct.unpack_from("<16Q", data, 56)
        self.hash = hash_of(data)
        must(self.hash[1] != 0, "the header has no seed")
        must(1 <= values[0] <= 41 and values[1] != 0 and not any(values[2:]) and stash == 0,
             "a parameter in the header is out of range")
        must((len(data) - 256) // 8 >= n_body, "the file is cut off within the body")
        must(len(data) - 256 == 8 * n_body, "the file goes on after its end")
        at, pieces, heads = 256, [], b""
        for _ in range(values[0]):
            must(len(data) - at >= 256, "the size of the series is not that of its links")
            head = data[at:at + 256]
            link = Filter.__new__(Filter)
            link.read_header(head)
            end = at + link.end
            must(end <= len(data), "the size of the series is not that of its links")
            pieces.append((link, data[at:end]))
            heads += head
            at = end
            form = link.values[6] if link.kind == LINE else 0
            must(link.kind == pieces[0][0].kind and link.hash == self.hash
                 and form == (pieces[0][0].values[6] if link.kind == LINE else 0),
                 "the links of the series differ in kind or seed")
            must(u32(head, 184) == u32(data, 184), "the links of the series differ in the form of keys")
        must(at == len(data), "the size of the series is not that of its links")
        must(sum(link.capacity for link, _ in pieces) == capacity,
             "the capacity of the series is not that of its links")
        must(xxh3_64(heads) == u64(data, 240), "the body is damaged: its checksum does not match")
        self.links = [Filter(piece) for _, piece in pieces]
        self.kind = self.links[0].kind
        self.count = sum(link.count for link in self.links)
        must(self.count <= 1 << 62, "the number of keys is out of range")

    def contains(self, key):
        return any(link.contains(key) for link in self.links)


SHARDS = 129


class Shards:
    """A set of which each key is in one of several filters or series: section 6.11."""

    def __init__(self, data):
        check_header(data)
        capacity, _, stash, n_body = struct.unpack_from("<4Q", data, 24)
        values = struct.unpack_from("<16Q", data, 56)
        must(1 <= values[0] <= 1024 and not any(values[1:]) and stash == 0,
             "a parameter in the header is out of range")
        must((len(data) - 256) // 8 >= n_body, "the file is cut off within the body")
        must(len(data) - 256 == 8 * n_body, "the file goes on after its end")
        at, firsts, pieces, sums = 256, [], [], b""
        for _ in range(values[0]):
            series = len(data) - at >= 256 and u32(data, at + 16) == SERIES
            must(len(data) - at >= (512 if series else 256), "the size of the set is not that of its shards")
            first = Filter.__new__(Filter)
            first.read_header(data[at + 256 * series:at + 256 * series + 256])
            end = at + (256 + 8 * u64(data, at + 48) if series else first.end)
            must(end <= len(data), "the size of the set is not that of its shards")
            firsts.append(first)
            alike = [(f.kind, f.capacity, f.stash, f.values, f.hash) for f in (first, firsts[0])]
            must(alike[0] == alike[1], "the shards of the set differ in kind, size or seed")
            must(u32(data, at + 256 * series + 184) == u32(data, 184),
                 "the shards of the set differ in the form of keys")
            pieces.append(data[at:end])
            sums += data[at + 248:at + 256]
            at = end
        must(at == len(data), "the size of the set is not that of its shards")
        must(hash_of(data) == firsts[0].hash, "the shards of the set differ in kind, size or seed")
        must(firsts[0].capacity * values[0] == capacity, "the capacity of the set is not that of its shards")
        must(xxh3_64(sums) == u64(data, 240), "the body is damaged: its checksum does not match")
        self.shards = [Series(p) if u32(p, 16) == SERIES else Filter(p) for p in pieces]
        self.kind, self.hash = firsts[0].kind, firsts[0].hash
        self.count = sum(shard.count for shard in self.shards)
        must(self.count <= 1 << 62, "the number of keys is out of range")

    def contains(self, key):
        low, high = digest_of(self.hash, key)
        number = mix(mix(low ^ 0x73686172642d6f66) ^ high) * len(self.shards) >> 64
        return self.shards[number].contains(key)


def open_set(data):
    if len(data) >= 256 and data[:8] == MAGIC and u32(data, 16) == SHARDS:
        return Shards(data)
    if len(data) >= 256 and data[:8] == MAGIC and u32(data, 16) == SERIES:
        return Series(data)
    return Filter(data)


def numbered_key(i):
    """Key number i of the golden files."""
    if i == 0:
        return b""
    text = str(i)
    while len(text) < i * 7 % 17:
        text += chr(ord("a") + len(text) + i % 5)
    return text.encode()


def main(arguments):
    question, argument = None, None
    if len(arguments) > 2 and arguments[0] in ("--ask", "--key"):
        question, argument, arguments = arguments[0], arguments[1], arguments[2:]
    status = 0
    for path in arguments:
        with open(path, "rb") as file:
            data = file.read()
        try:
            found = open_set(data)
        except Refused as refused:
            print(refused)
            status = 1
            continue
        if question == "--ask":
            print("".join("01"[found.contains(numbered_key(i))] for i in range(int(argument))))
        elif question == "--key":
            print(int(found.contains(argument.encode())))
        else:
            form = ("", " bytes", " u64")[u32(data, 184)]
            print("ok", NAMES[found.kind], str(found.count) + form)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
