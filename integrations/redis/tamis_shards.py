"""tamis_shards.py - one logical set, spread over many keys of a Redis or Valkey cluster

    import redis, tamis_shards
    client = redis.RedisCluster(host="127.0.0.1", port=7000)
    seen = tamis_shards.Shards(client, "seen", 64)
    seen.reserve(10**9, 0.001, "DELETES")
    new = seen.add_many(keys)           # a list of booleans, in the order of the keys
    there = seen.contains_many(keys)

Shard i is the key {name:i}; the braces make the cluster place each of them by its own name.  Which shard an
item belongs to is decided here, by a hash that no set uses (BLAKE2b), so that each shard gets an even share of
its own hash's values.  All who use a set must agree on its name and the number of shards, which cannot change
later; nodes can, since the cluster moves whole shards.  Programs in C use tamis_digest_shard with a hasher of a
seed of their own: other shards, so a set is used by the one or the other.

SPDX-License-Identifier: MIT
"""
import hashlib
import math

BATCH = 1000  # items of one command


class Shards:
    """A set in 'shards' parts; 'client' is redis.Redis or redis.RedisCluster."""

    def __init__(self, client, name, shards):
        if shards < 1:
            raise ValueError("at least one shard")
        self.client, self.name, self.n = client, name, shards

    def key(self, shard):
        return "{%s:%d}" % (self.name, shard)

    def shard(self, item):
        """Which shard an item, bytes or text, belongs to."""
        data = item.encode() if isinstance(item, str) else bytes(item)
        digest = int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
        return digest * self.n >> 64

    def reserve(self, n, p, *options):
        """Make all shards, for n items in all: each for its mean share and five standard deviations more."""
        share = n / self.n
        each = math.ceil(share + 5 * math.sqrt(share))
        for shard in range(self.n):
            self.client.execute_command("TAMIS.RESERVE", self.key(shard), each, p, *options)

    def add_many(self, items):
        return [bool(answer) for answer in self._split("TAMIS.MADD", items)]

    def contains_many(self, items):
        return [bool(answer) for answer in self._split("TAMIS.MEXISTS", items)]

    def remove_many(self, items):
        """1 removed, 0 certainly not there, -1 refused, as of TAMIS.DEL."""
        return self._split("TAMIS.MDEL", items)

    def count(self):
        return sum(self.client.execute_command("TAMIS.CARD", self.key(i)) for i in range(self.n))

    def _split(self, command, items):
        """Send each item to its shard, many in a command and all commands in a pipeline."""
        items = list(items)
        where = {}
        for place, item in enumerate(items):
            where.setdefault(self.shard(item), []).append(place)
        pipe = self.client.pipeline(transaction=False) if self._plain() else self.client.pipeline()
        sent = []
        for shard, places in where.items():
            for at in range(0, len(places), BATCH):
                some = places[at:at + BATCH]
                pipe.execute_command(command, self.key(shard), *(items[i] for i in some))
                sent.append(some)
        answers = [None] * len(items)
        for some, got in zip(sent, pipe.execute() if sent else []):
            for place, answer in zip(some, got):
                if isinstance(answer, Exception):
                    raise answer
                answers[place] = answer
        return answers

    def _plain(self):
        return not hasattr(self.client, "get_primaries")
