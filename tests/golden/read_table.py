#!/usr/bin/env python3
"""read_table.py FILE - a second reader of tables of pages, written from docs/format.md alone

Prints all items, sorted: key, tab, value.  Checks every rule of the format on the way, the filters too.  A
file whose name ends in .blocks has the number of each block (8 bytes) before its bytes, and blocks of zeros
are left out.  Keys have at most 16 bytes here.

SPDX-License-Identifier: MIT
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from read_format import M64, Refused, digest_of, mix, must, u32, u64, xxh3_64  # noqa: E402

BLOCK = 4096
MAGIC = b"\x89TAMTAB\n"


def u16(data, at):
    return data[at] | data[at + 1] << 8


class Table:
    def __init__(self, data):
        self.data = data
        self.read_header()
        self.taken = {0, 1, 2}
        self.owned = set()
        root = self.choose_root()
        self.items = {}
        self.leaves = []
        self.read_index(root)
        must(len(self.leaves) == u64(root, 32), "pages of the root")
        self.read_pages()
        must(len(self.items) == u64(root, 24), "items of the root")
        if u64(root, 16) == 1:
            must(u32(root, 48) == u32(root, 68) == 0, "a closed table has no log")
            self.read_filters(root)
        elif u32(root, 48) != 0:
            self.read_log(u32(root, 48), u32(root, 68), u64(root, 8))

    def block(self, number):
        must(0 < number < self.n_blocks, "a block outside of the file")
        return self.data[number * BLOCK:(number + 1) * BLOCK]

    def take(self, number, count=1):
        for i in range(number, number + count):
            must(0 < i < self.n_blocks and i not in self.taken, "a block is taken twice")
            self.taken.add(i)

    def read_header(self):
        h = self.data[:BLOCK]
        must(h[:8] == MAGIC and u32(h, 8) == 3 and u32(h, 12) == BLOCK, "header")
        must(xxh3_64(h[:4088]) == u64(h, 4088), "checksum of the header")
        must(u32(h, 16) == 3 and u64(h, 56) == BLOCK and u64(h, 80) == 1, "parameters")
        must(1 <= u64(h, 40) <= 1000 and 1 <= u64(h, 48), "sizes")
        self.long = u64(h, 48) > 1000
        seed = u64(h, 32)
        self.salt = mix(seed ^ 0x706167657461626C)
        self.hash = (u32(h, 20), seed | u64(h, 608) << 64)
        self.filter_bits, self.filter_hashes = u64(h, 224), u64(h, 352)

    def choose_root(self):
        roots = []
        for place in (0, 1):
            root = self.data[(1 + place) * BLOCK:(2 + place) * BLOCK]
            number = u64(root, 8)
            good = xxh3_64(root[8:]) ^ mix(self.salt) == u64(root, 0)
            if good and number > 0 and number % 2 == place:
                roots.append((number, root))
        must(roots, "both roots are damaged")
        root = max(roots)[1]
        self.n_blocks = u64(root, 40)
        must(3 <= self.n_blocks <= len(self.data) // BLOCK, "the file is cut off")
        return root

    def sealed(self, number, expected):
        self.take(number)
        block = self.block(number)
        own = mix(xxh3_64(block[4:]) ^ mix(self.salt + number & M64)) & 0xFFFFFFFF
        must(u32(block, 0) == own == expected, "checksum of block %d" % number)
        return block

    def read_index(self, root):
        twigs = 0
        for b in range(u32(root, 64)):
            branch = self.sealed(u32(root, 80 + 8 * b), u32(root, 84 + 8 * b))
            for t in range(u32(branch, 4)):
                twig = self.sealed(u32(branch, 16 + 8 * t), u32(branch, 20 + 8 * t))
                twigs += 1
                for i in range(u32(twig, 4)):
                    at = 16 + 16 * i
                    self.leaves.append((u32(twig, at), u32(twig, at + 4), u32(twig, at + 8),
                                        u16(twig, at + 12), u16(twig, at + 14)))
        must(twigs == u32(root, 60), "twigs of the root")
        firsts = [leaf[0] for leaf in self.leaves]
        must(firsts[0] == 0 and sorted(set(firsts)) == firsts, "order of the pages")

    def read_pages(self):
        for i, (first, number, check, count, used) in enumerate(self.leaves):
            end = self.leaves[i + 1][0] if i + 1 < len(self.leaves) else 1 << 32
            page = self.sealed(number, check)
            must(u32(page, 4) == first and u16(page, 8) == count, "head of a page")
            must(u16(page, 10) + count == used, "bytes of a page")
            heads = u16(page, 14) if u16(page, 12) == 0 else 0
            at, stop, entry = 16, 16 + u16(page, 10) - heads, BLOCK
            for k in range(count):
                entry, elsewhere = entry - 1, False
                tag = page[entry]
                if u16(page, 12) != 0:
                    key_size, value_size = u16(page, 12) - 1, u16(page, 14)
                else:
                    key_size, entry = self.size(page, entry)
                    code, entry = self.size(page, entry)
                    value_size, elsewhere = code // 2, code % 2 == 1
                key = page[at:at + key_size]
                value = page[at + key_size:at + key_size + value_size]
                at += key_size + value_size
                if elsewhere:
                    value = self.elsewhere(key, value)
                    must(value is not None, "a long value")
                digest = digest_of(self.hash, key)
                must(first <= digest[0] >> 32 < end, "place of an item")
                must(tag == digest[0] & 255, "tag of an item")
                must(key not in self.items, "a key is there twice")
                self.items[key] = value
            must(at == stop and entry == BLOCK - count - heads, "sizes of a page")
            must(not any(page[stop:entry]), "end of a page")

    def elsewhere(self, key, place):
        """The value that an item leads to; None if it is not there."""
        start, size, check = u32(place, 0), u32(place, 4), u64(place, 8)
        must(self.long and len(place) == 16 and 1000 - len(key) < size <= 1 << 26, "form of a long value")
        blocks = range(start, start + (size + BLOCK - 1) // BLOCK)
        value = self.data[start * BLOCK:start * BLOCK + size]
        if len(value) < size or xxh3_64(value) ^ mix(self.salt + 2 + start & M64) != check:
            return None
        must(not self.taken & set(blocks), "a block is taken twice")
        self.taken |= set(blocks)
        self.owned |= set(blocks)
        return value

    @staticmethod
    def size(page, entry):
        """A size whose first byte is before 'entry'; and where the next one begins."""
        if page[entry - 1] < 128:
            return page[entry - 1], entry - 1
        must(0 < page[entry - 2] < 128, "form of a size")
        return page[entry - 1] & 127 | page[entry - 2] << 7, entry - 2

    def read_filters(self, root):
        start, blocks = u32(root, 52), u32(root, 56)
        self.take(start, blocks)
        at, total, keys = start * BLOCK, self.salt, sorted(self.items)
        digests = sorted(digest_of(self.hash, key) for key in keys)
        for i, (first, _, _, count, _) in enumerate(self.leaves):
            end = self.leaves[i + 1][0] if i + 1 < len(self.leaves) else 1 << 32
            head = u64(self.data, at)
            n, room, load = head & 65535, head >> 16 & 65535, head >> 32
            must(n == (room * self.filter_bits + 7999) // 8000, "length of a filter")
            must(count <= load <= room <= count + 63, "room of a filter")
            words = [u64(self.data, at + 8 * j) for j in range((n + 7) // 8 + 1)]
            for w in words:
                total = mix(total ^ w) + w & M64
            at += 8 * len(words)
            must(n % 8 == 0 or words[-1] >> 8 * (n % 8) == 0, "the end of a filter")
            for digest in digests:
                if not first <= digest[0] >> 32 < end:
                    continue
                x, step = digest[1], digest[0] | 1
                for _ in range(self.filter_hashes):
                    x = x * 0x9E3779B97F4A7C15 + step & M64
                    bit = (x >> 32) * (8 * n) >> 32
                    must(words[1 + bit // 64] >> bit % 64 & 1, "a filter does not know an item")
        if self.long:
            n = u64(self.data, at)
            words = [u64(self.data, at + 8 * j) for j in range(n + 1)]
            for w in words:
                total = mix(total ^ w) + w & M64
            at += 8 * (n + 1)
            bits = {64 * j + i for j in range(n) for i in range(64) if words[1 + j] >> i & 1}
            must(bits == self.owned, "blocks of long values")
        must(at <= (start + blocks) * BLOCK and total == u64(root, 72), "checksum of the filters")

    def read_log(self, start, blocks, epoch):
        must(1 <= blocks <= 4096, "blocks of the log")
        self.take(start, blocks)
        log = self.data[start * BLOCK:(start + blocks) * BLOCK]
        at, number = 0, 1
        while at + 32 <= len(log):
            key_size, value_size = u16(log, at + 24), u32(log, at + 28)
            size = (32 + key_size + value_size + 7) // 8 * 8
            if size > len(log) - at or u64(log, at + 8) != epoch or u32(log, at + 16) != number:
                break
            if xxh3_64(log[at + 8:at + size]) ^ mix(self.salt + 1 & M64) != u64(log, at):
                break
            key = log[at + 32:at + 32 + key_size]
            value = log[at + 32 + key_size:at + 32 + key_size + value_size]
            if log[at + 26] == 3:
                value = self.elsewhere(key, value)
                if value is None:
                    break
            if log[at + 26] in (1, 3):
                self.items[key] = value
            else:
                must(log[at + 26] == 2 and key in self.items, "a deletion in the log")
                del self.items[key]
            at, number = at + size, number + 1


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    if not path.endswith(".blocks"):
        return data
    whole = bytearray()
    for at in range(0, len(data), 8 + BLOCK):
        whole += bytes(u64(data, at) * BLOCK - len(whole))
        whole += data[at + 8:at + 8 + BLOCK]
    return bytes(whole)


def main(path):
    try:
        table = Table(read(path))
    except Refused as refused:
        print(refused)
        return 1
    lines = [key + b"\t" + value for key, value in table.items.items()]
    for line in sorted(lines):
        sys.stdout.buffer.write(line + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
