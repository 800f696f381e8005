#!/usr/bin/env python3
"""demo.py MODULE TOOL [FILE] - a set in a cluster of three primaries and three replicas, and the loss of a node

FILE has one key per line; default: the word list of the package wamerican-insane.  Servers listen on 127.0.0.1 and
are gone at the end.

SPDX-License-Identifier: MIT
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "tests"))
from support import *
import tamis_shards

WORDS = sys.argv[3] if len(sys.argv) > 3 else "/usr/share/dict/american-english-insane"
SHARDS = 48
BATCH = 20000


def in_batches(what, items, work):
    """Do the work batch by batch; tell how fast.  All answers."""
    begin, answers = time.monotonic(), []
    for at in range(0, len(items), BATCH):
        answers += work(items[at:at + BATCH])
    took = time.monotonic() - begin
    print(f"   {what}: {len(items)} keys in {took:.1f} s, {len(items) / took:,.0f} per second")
    return answers


def plain(client, command, items):
    """SET or GET of each key, in pipelines."""
    pipe = client.pipeline()
    for item in items:
        pipe.execute_command(command, item, *([1] if command == "SET" else []))
    return pipe.execute()


def used(cluster):
    return sum(node.client.info("memory")["used_memory"] for node in cluster.nodes[:3])


def main():
    with open(WORDS, "rb") as file:
        words = list(dict.fromkeys(file.read().split(b"\n")))
    words = [w for w in words if w]
    print(f"1. a cluster of three primaries and three replicas of {SERVER}")
    with Cluster(3, 1, 2000) as cluster:
        client = cluster.client()
        print(f"2. a set of {len(words)} keys of {WORDS}, at 1 in 1000 with deletes, in {SHARDS} shards")
        shards = tamis_shards.Shards(client, "words", SHARDS)
        shards.reserve(len(words), 0.001, "DELETES")
        in_batches("TAMIS.MADD", words, shards.add_many)
        size = sum(client.execute_command("MEMORY", "USAGE", shards.key(i)) for i in range(SHARDS))
        print(f"   {8 * size / len(words):.1f} bits per key by MEMORY USAGE of all shards")
        info = client.execute_command("TAMIS.INFO", shards.key(0))
        print("   one shard:", dict(zip((i.decode() for i in info[::2]), info[1::2])))
        there = in_batches("TAMIS.MEXISTS", words, shards.contains_many)
        strangers = in_batches("TAMIS.MEXISTS", [w + b"?" for w in words], shards.contains_many)
        print(f"   there: {sum(there)}; of as many others {sum(strangers)}, {sum(strangers) / len(words):.5f}")
        some = words[:100000]
        before = used(cluster)
        in_batches("SET", some, lambda items: plain(client, "SET", items))
        in_batches("GET", some, lambda items: plain(client, "GET", items))
        print(f"   {8 * (used(cluster) - before) / len(some):.0f} bits per key as plain keys")
        print("3. a primary is killed")
        for node in cluster.nodes[:3]:
            node.client.wait(1, 10000)
        begin = time.monotonic()
        cluster.nodes[0].kill()

        def taken_over():
            nodes = cluster.nodes[1].client.cluster("nodes").items()
            alive = [n for name, n in nodes
                     if "master" in n["flags"] and f":{cluster.nodes[0].port}" not in name]
            return cluster.nodes[1].client.cluster("info")["cluster_state"] == "ok" and len(alive) == 3
        wait_until(taken_over, "a replica that has taken over")
        print(f"   a replica has taken over after {time.monotonic() - begin:.1f} s")
        after = tamis_shards.Shards(cluster.client(1), "words", SHARDS)
        there = in_batches("TAMIS.MEXISTS", words, after.contains_many)
        print(f"   there: {sum(there)} of {len(words)}")
        if not all(there):
            sys.exit("demo.py: keys were lost")
    print("4. all servers are gone, and their files")


main()
