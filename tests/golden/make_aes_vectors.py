#!/usr/bin/env python3
"""make_aes_vectors.py - test vectors of the hash for strangers' keys, as tests/unit/aes_vectors.h

    tests/golden/make_aes_vectors.py >tests/unit/aes_vectors.h

Written from docs/format.md with whole numbers of any size, and shares no code with the library.  The cipher is
checked against the example of FIPS 197 (appendix C.1) first.  Byte i of all keys is the top byte of
2654435761 * 11400714785074694797^i mod 2^64, as in tests/unit/test_hash.c.

SPDX-License-Identifier: MIT
"""
P2 = 2**64


def times(a, b):
    """A product in the field of AES."""
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a = (a << 1) ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


def sbox_entry(a):
    inverse = next((b for b in range(256) if times(a, b) == 1), 0)
    turned = [(inverse << i | inverse >> (8 - i)) & 255 for i in range(5)]
    return turned[0] ^ turned[1] ^ turned[2] ^ turned[3] ^ turned[4] ^ 0x63


SBOX = [sbox_entry(a) for a in range(256)]


def expand(key):
    words = [list(key[4 * i:4 * i + 4]) for i in range(4)]
    constant = 1
    for i in range(4, 44):
        word = list(words[i - 1])
        if i % 4 == 0:
            word = [SBOX[b] for b in word[1:] + word[:1]]
            word[0] ^= constant
            constant = times(constant, 2)
        words.append([a ^ b for a, b in zip(words[i - 4], word)])
    return [sum(words[4 * i:4 * i + 4], []) for i in range(11)]


def encrypt(rounds, block):
    state = [a ^ b for a, b in zip(block, rounds[0])]
    for i in range(1, 11):
        state = [SBOX[b] for b in state]
        state = [state[(4 * c + r + 4 * r) % 16] for c in range(4) for r in range(4)]
        if i < 10:
            mixed = []
            for c in range(4):
                a = state[4 * c:4 * c + 4]
                mixed += [times(2, a[r]) ^ times(3, a[(r + 1) % 4]) ^ a[(r + 2) % 4] ^ a[(r + 3) % 4]
                          for r in range(4)]
            state = mixed
        state = [a ^ b for a, b in zip(state, rounds[i])]
    return bytes(state)


def number(some_bytes):
    return int.from_bytes(some_bytes, "little")


class Hash:
    def __init__(self, seed):
        master = expand(seed.to_bytes(16, "little"))
        derived = [encrypt(master, i.to_bytes(16, "little")) for i in range(39)]
        self.rounds = expand(derived[0])
        self.w = [number(b) for b in derived[1:5]]
        r = number(derived[5])
        self.r = (r % 2**58, r // P2 % 2**58)
        self.k = [sum((number(b[4 * j:4 * j + 4]) % 2**26) << 32 * j for j in range(4)) for b in derived[6:38]]
        self.salt = number(derived[38]) % P2

    def dot(self, key, places):
        words = [number(key[at + 4 * i:at + 4 * i + 4]) for at in places for i in range(4)]
        return sum(w * k for w, k in zip(words, self.k))

    def block(self, key):
        n = len(key)
        if n <= 15:
            return number(key + bytes(15 - n) + bytes([n])) ^ self.w[0]
        if n == 16:
            return number(key) ^ self.w[1]
        fold = lambda v: v % 2**127 + v // 2**127
        if n <= 128:
            return fold(n + self.dot(key, [n - 16] + list(range(0, n - 16, 16)))) ^ self.w[2]
        a, (r0, r1) = n, self.r
        for at in list(range(0, n - 127, 128)) + ([n - 128] if n % 128 else []):
            a0, a1 = a % P2, a // P2
            a = fold(a0 * r0 + 2 * a1 * r1 + P2 * (a0 * r1 + a1 * r0) + self.dot(key, range(at, at + 128, 16)))
        return a ^ self.w[3]

    def digest(self, key):
        d = number(encrypt(self.rounds, self.block(key).to_bytes(16, "little")))
        return d % P2, d // P2


def main():
    fips = encrypt(expand(bytes(range(16))), bytes(17 * i for i in range(16)))
    assert fips.hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"
    word, text = 2654435761, bytearray()
    for _ in range(70000):
        text.append(word >> 56)
        word = word * 11400714785074694797 % P2
    text = bytes(text)
    print("/* aes_vectors.h - made by tests/golden/make_aes_vectors.py\n *\n * SPDX-License-Identifier: MIT\n */")
    print("/* clang-format off */")
    sizes = list(range(301)) + [383, 384, 385, 1023, 1024, 1025, 4096, 65537, 69999]
    for name, seed, which in (("first", 0x0F1E2D3C4B5A69788796A5B4C3D2E1F0, sizes), ("zero", 0, range(0, 300, 23)),
                              ("ones", 2**128 - 1, range(0, 300, 29))):
        hash_of = Hash(seed)
        for size in which:
            lo, hi = hash_of.digest(text[:size])
            print(f"AES_VECTOR(0x{seed % P2:x}u, 0x{seed // P2:x}u, {size}, 0x{lo:016x}u, 0x{hi:016x}u)")
        ones = hash_of.digest(b"\xff" * 1024)
        print(f"AES_ONES(0x{seed % P2:x}u, 0x{seed // P2:x}u, 128, 0x%016xu, 0x%016xu)" % hash_of.digest(b"\xff" * 128))
        print(f"AES_ONES(0x{seed % P2:x}u, 0x{seed // P2:x}u, 1024, 0x%016xu, 0x%016xu)" % ones)


if __name__ == "__main__":
    main()
