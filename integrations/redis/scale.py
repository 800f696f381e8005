#!/usr/bin/env python3
"""scale.py [TOOL] - the numbers of docs/scale.md: 10^12 keys over a cluster of 16,384 slots

TOOL is the command line tool, whose planner tells the bytes (default: build/release/tamis).  Everything
else is computed here: the slots by the servers' own hash, CRC-16 of what is between the braces, with simulated
keys from a fixed seed.

SPDX-License-Identifier: MIT
"""
import binascii
import json
import math
import random
import subprocess
import sys

TOOL = sys.argv[1] if len(sys.argv) > 1 else "build/release/tamis"
SLOTS = 16384
KEYS = 10**12
RATE = 0.001


def slot(key):
    """The slot of a key: CRC-16/XMODEM of what is between the first braces, or of all."""
    begin = key.find("{")
    end = key.find("}", begin + 1)
    if begin >= 0 and end > begin + 1:
        key = key[begin + 1:end]
    return binascii.crc_hqx(key.encode(), 0) % SLOTS


def plan(n):
    out = subprocess.run([TOOL, "plan", "-n", str(n), "-p", str(RATE), "--deletes", "--kind", "steady", "--json"], check=True,
                         stdout=subprocess.PIPE).stdout
    told = json.loads(out)
    return told[0] if isinstance(told, list) else told


def spread(shards, nodes):
    """Shards on the fullest node, when nodes have equal ranges of slots; and slots that have no shard."""
    per_slot = [0] * SLOTS
    for i in range(shards):
        per_slot[slot("{set:%d}" % i)] += 1
    width = SLOTS / nodes
    per_node = [0] * nodes
    for s, n in enumerate(per_slot):
        per_node[min(int(s / width), nodes - 1)] += n
    return max(per_node), min(per_node), max(per_slot), per_slot.count(0)


def fan_out(batch, shards, nodes, rng, rounds=200):
    """Commands and nodes that a batch of random items goes to, on average."""
    node_of = [min(int(slot("{set:%d}" % i) / (SLOTS / nodes)), nodes - 1) for i in range(shards)]
    commands = reached = 0
    for _ in range(rounds):
        hit = {rng.randrange(shards) for _ in range(batch)}
        commands += len(hit)
        reached += len({node_of[s] for s in hit})
    return commands / rounds, reached / rounds


def main():
    rng = random.Random(20261)
    print(f"10^12 keys at 1 in {1 / RATE:.0f} with deletes; seed 20261\n")
    print("| shards | keys each, mean and 5 sigma | bytes of one | bits per key | all, TB | 5 sigma costs |")
    print("|---:|---:|---:|---:|---:|---:|")
    sizes = {}
    for shards in (4096, 16384, 65536):
        mean = KEYS / shards
        each = math.ceil(mean + 5 * math.sqrt(mean))
        told = plan(each)
        sizes[shards] = told["bytes"]
        print(f"| {shards} | {each} | {told['bytes'] / 2**20:.0f} MiB | {8 * told['bytes'] / mean:.3f} | "
              f"{told['bytes'] * shards / 1e12:.3f} | {100 * (each / mean - 1):.3f} % |")
    print("\n| nodes | shards | GB per node, mean | fullest | emptiest | fullest / mean | slots without a shard |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for nodes in (16, 64, 256):
        for shards in (4096, 16384, 65536):
            most, least, _, empty = spread(shards, nodes)
            one = sizes[shards] / 1e9
            print(f"| {nodes} | {shards} | {one * shards / nodes:.1f} | {one * most:.1f} | {one * least:.1f} | "
                  f"{most * nodes / shards:.3f} | {empty} |")
    print("\n| nodes | GB of the fullest node | to copy it at 1 Gbit/s, s | at 10 Gbit/s, s |")
    print("|---:|---:|---:|---:|")
    for nodes in (16, 64, 256):
        most = spread(16384, nodes)[0] * sizes[16384]
        print(f"| {nodes} | {most / 1e9:.1f} | {most * 8 / 1e9:.0f} | {most * 8 / 1e10:.0f} |")
    print("\n| batch | nodes | commands | nodes reached | items per command |")
    print("|---:|---:|---:|---:|---:|")
    for batch in (1, 100, 10000, 1000000):
        for nodes in (16, 64, 256):
            commands, reached = fan_out(batch, 16384, nodes, rng, 200 if batch < 10**5 else 5)
            print(f"| {batch} | {nodes} | {commands:.1f} | {reached:.1f} | {batch / commands:.1f} |")


if __name__ == "__main__":
    main()
