"""cluster.py - a set of many keys on two worker processes of Dask, with and without the loss of one

    python3 cluster.py [--keys N] [--parts P] [--sets N]

N keys (10^8) in P partitions (200) become one set, for an error rate of 1 %.  Then it is asked for all of them, and for
10^7 others, and built again while a worker is killed.  Beside it, --sets keys (2 * 10^6) as Python's sets, one for each
partition, merged in the same tree.

SPDX-License-Identifier: MIT
"""
import argparse
import hashlib
import os
import signal
import time

import dask
import distributed
import numpy

import tamis
import tamis.dask

FPR = 0.01


def keys_of(part, each):
    """Distinct numbers without order."""
    return numpy.arange(part * each, (part + 1) * each, dtype="u8") * numpy.uint64(0x9E3779B97F4A7C15)


def count(keys, made):
    return made.count_many(keys)


def peak():
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


def union(sets):
    return set().union(*sets)


def cluster():
    made = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1",
                                    dashboard_address=None, memory_limit=0)
    return made, distributed.Client(made)


def told(client, name, begin):
    print(f"{name:50}{time.perf_counter() - begin:8.1f} s{sum(client.run(peak).values()):8.0f} MB in both workers, peak",
          flush=True)


def sets(client, n, parts):
    client.restart()
    each = n // parts
    begin = time.perf_counter()
    some = [dask.delayed(lambda keys: set(keys.tolist()))(dask.delayed(keys_of)(i, each)) for i in range(parts)]
    while len(some) > 1:
        some = [dask.delayed(union)(some[at:at + 4]) for at in range(0, len(some), 4)]
    total = dask.delayed(len)(some[0]).compute()
    told(client, f"Python's sets, {total} keys", begin)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keys", type=int, default=100_000_000)
    parser.add_argument("--parts", type=int, default=200)
    parser.add_argument("--sets", type=int, default=2_000_000)
    options = parser.parse_args()
    n, each = options.keys, options.keys // options.parts
    made, client = cluster()
    parts = [dask.delayed(keys_of)(i, each) for i in range(options.parts)]
    plan = tamis.dask.build(parts, n, FPR, seed=1, lanes=2)
    begin = time.perf_counter()
    whole = plan.compute()
    told(client, f"tamis, {n} keys in {options.parts} partitions", begin)
    print(f"  {whole!r}, {whole.info().bytes / 1e6:.0f} MB")
    begin = time.perf_counter()
    published = tamis.dask.publish(whole, client)
    found = sum(dask.compute(*[dask.delayed(count)(part, published) for part in parts]))
    told(client, f"asked for all of them: {found} found", begin)
    strange = [dask.delayed(keys_of)(2 * options.parts + i, 500_000) for i in range(20)]
    wrong = sum(dask.compute(*[dask.delayed(count)(part, published) for part in strange]))
    print(f"  of 10000000 others {wrong} found: {wrong / 1e7:.4%}, promised {FPR:.0%}")
    digest = hashlib.sha256(whole.to_bytes()).hexdigest()
    client.restart()
    begin = time.perf_counter()
    future = client.compute(plan)
    time.sleep(2)
    late = future.done()
    os.kill(sorted(client.run(os.getpid).values())[0], signal.SIGKILL)
    same = hashlib.sha256(future.result().to_bytes()).hexdigest() == digest
    told(client, "built again, one of the workers killed after 2 s", begin)
    print(f"  the same bytes: {same}" + (" (it was killed too late)" if late else ""))
    sets(client, options.sets, max(1, options.sets // each))
    client.close()
    made.close()


if __name__ == "__main__":
    main()
