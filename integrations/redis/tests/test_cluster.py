"""One logical set over the nodes of a cluster: spread, moved while clients write, and after a failover.

SPDX-License-Identifier: MIT
"""
import threading

from support import *

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tamis_shards

KEYS = [b"key:%d" % i for i in range(30000)]


class ClusterCase(Case):
    def test_shards_are_moved_while_clients_write(self):
        with Cluster(3, 0) as cluster:
            shards = tamis_shards.Shards(cluster.client(), "set", 24)
            shards.reserve(2 * len(KEYS), 0.001, "DELETES")  # also if batches are sent twice
            acknowledged, faults, stop = [], [], threading.Event()

            def write():
                own = tamis_shards.Shards(cluster.client(1), "set", 24)
                for at in range(0, len(KEYS), 300):
                    for _ in range(20):  # a shard that is just being moved: once more
                        try:
                            own.add_many(KEYS[at:at + 300])
                            acknowledged.extend(KEYS[at:at + 300])
                            break
                        except redis.exceptions.RedisError as fault:
                            faults.append(fault)
                            time.sleep(0.05)
                    if stop.is_set() and len(acknowledged) > 300:
                        break

            writer = threading.Thread(target=write)
            writer.start()
            ids = {node.port: node.client.cluster("myid").decode() for node in cluster.nodes}
            first, second = cluster.nodes[0].port, cluster.nodes[1].port
            cluster.cli("reshard", f"127.0.0.1:{first}", "--cluster-from", ids[first], "--cluster-to", ids[second],
                        "--cluster-slots", "2000", "--cluster-yes")
            stop.set()
            writer.join()
            self.assertGreater(len(acknowledged), 300)
            wait_until(cluster.ready, "a cluster that is ready")
            client = cluster.client()
            after = tamis_shards.Shards(client, "set", 24)
            self.assertTrue(all(after.contains_many(acknowledged)))
            strangers = after.contains_many(b"other:%d" % i for i in range(20000))
            self.assertLess(sum(strangers), 60)  # 0.001 promised: mean 20 at most
            self.assertEqual(set(after.remove_many(acknowledged[:1000])), {1})
            print(f"# {len(acknowledged)} keys written while slots moved, {len(faults)} batches sent again",
                  file=sys.stderr)

    def test_shares_are_even(self):
        shards = tamis_shards.Shards(None, "x", 100)
        counts = [0] * 100
        for key in KEYS:
            counts[shards.shard(key)] += 1
        chi = sum((c - 300) ** 2 / 300 for c in counts)
        self.assertLess(chi, 148.2)  # 99.9 % of 99 degrees of freedom
        self.assertEqual(shards.shard("key:1"), shards.shard(b"key:1"))


if __name__ == "__main__":
    main()
