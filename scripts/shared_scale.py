#!/usr/bin/env python3
"""shared_scale.py - how inserts into a shared set scale, by simulation of its locks

    scripts/shared_scale.py [--regions 64] [--hold NS] [--free NS] [--move NS] [--sort NS]

Threads insert for ever.  One by one: a thread works for 'free' nanoseconds, draws a region, waits until its lock is
free, holds it for 'hold', and goes on.  In batches of 2,048 keys: it sorts for 'sort' per key, begins with a random
region, and holds one region after the other, in ascending order, for 'hold' per key.  Taking a lock that another
thread had last takes 'move' longer: its cache line comes from there.

What is not in it: memory and its bandwidth, which all threads share, and the processor's frequency.  So it tells
what locks cost, and no more.  'hold' and 'free' are measured: TAMIS_HOLD=60000000 tests/model_shared_threads.

SPDX-License-Identifier: MIT
"""
import argparse
import heapq
import random

BATCH = 2048


def simulate(threads, a, batches, keys):
    """Nanoseconds per key of all threads together; share of the time that they wait."""
    rng = random.Random(20260118 + threads)
    free_at = [0.0] * a.regions   # when the lock of a region is free again
    last = [-1] * a.regions       # who had it
    left = [0] * threads          # regions that a batch has still to visit
    place = [0] * threads
    waited = 0.0
    done = 0
    events = [(rng.random() * (a.free + a.hold), t) for t in range(threads)]
    heapq.heapify(events)
    now = 0.0
    while done < keys:
        now, t = heapq.heappop(events)
        if batches:
            if left[t] == 0:
                left[t] = a.regions
                place[t] = rng.randrange(a.regions)
                heapq.heappush(events, (now + BATCH * a.sort, t))
                continue
            region, count = place[t], BATCH / a.regions
            place[t] = (region + 1) % a.regions
            left[t] -= 1
        else:
            region, count = rng.randrange(a.regions), 1
        begin = max(now, free_at[region]) + (a.move if last[region] != t else 0)
        waited += begin - now
        last[region] = t
        free_at[region] = begin + count * a.hold
        done += count
        heapq.heappush(events, (free_at[region] + (0 if batches else a.free), t))
    return now / done, waited / (now * threads)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--regions", type=int, default=64)
    parser.add_argument("--hold", type=float, default=80, help="ns per key under the lock")
    parser.add_argument("--free", type=float, default=100, help="ns per key outside")
    parser.add_argument("--move", type=float, default=80, help="ns that a lock of another thread takes longer")
    parser.add_argument("--sort", type=float, default=6, help="ns per key of a batch outside")
    parser.add_argument("--hold-batch", type=float, default=20, help="ns per key of a batch under the lock")
    parser.add_argument("--keys", type=int, default=400000)
    a = parser.parse_args()
    print(f"{a.regions} regions")
    print("threads   one by one: speedup  waiting   batches: speedup  waiting")
    single = argparse.Namespace(**vars(a))
    batch = argparse.Namespace(**{**vars(a), "hold": a.hold_batch})
    base = [simulate(1, single, False, a.keys)[0], simulate(1, batch, True, a.keys)[0]]
    for threads in (1, 2, 4, 8, 16, 32, 64):
        one = simulate(threads, single, False, a.keys)
        many = simulate(threads, batch, True, a.keys * 4)
        print(f"{threads:7d}   {base[0] / one[0]:19.1f}  {one[1]:7.1%}   {base[1] / many[0]:16.1f}  {many[1]:7.1%}")


if __name__ == "__main__":
    main()
