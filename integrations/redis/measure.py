#!/usr/bin/env python3
"""measure.py MODULE TOOL [PART...] - what the module does on this machine, as lines of text

Parts: memory (bits per key beside the plan, error rate), speed (redis-benchmark and batches), latency (how long the
server is silent while a set of a gigabyte is loaded, grows and is freed).  Without a part all are run.

SPDX-License-Identifier: MIT
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "tests"))
import threading

from support import *

BENCHMARK = os.environ.get("TAMIS_REDIS_BENCHMARK", "redis-benchmark")


def memory():
    """Bits per key by MEMORY USAGE beside the plan, and the error rate through the server."""
    n, asked = 1000000, 1000000
    with Server() as one:
        x = Raw(one, 3).call
        for p, options in ((0.01, ()), (0.001, ()), (0.001, ("DELETES",)), (0.0001, ("DELETES",))):
            plan = x("TAMIS.PLAN", n, p, "FIXED", *options)
            x("TAMIS.RESERVE", "s", n, p, "FIXED", "SEED", SEED, *options)
            for at in range(0, n, 5000):
                x("TAMIS.MADD", "s", *(b"key:%d" % i for i in range(at, at + 5000)))
            used = x("MEMORY", "USAGE", "s")
            errors = 0
            for at in range(0, asked, 5000):
                errors += sum(x("TAMIS.MEXISTS", "s", *(b"no:%d" % i for i in range(at, at + 5000))))
            print(f"memory: p {p} {' '.join(options) or '-'} {plan[b'kind'].decode()}: plan {plan[b'bits_per_key']:.3f} "
                  f"bits per key, MEMORY USAGE {8 * used / n:.3f} ({100 * (used / plan[b'bytes'] - 1):+.2f} %); "
                  f"{errors} errors in {asked}, {errors / asked / p:.3f} of the promise", flush=True)
            x("DEL", "s")


def benchmark(one, *words):
    """Requests per second of redis-benchmark with pipelines of 16."""
    out = subprocess.run([BENCHMARK, "-s", os.path.join(one.folder, "socket"), "-P", "16", "-n", "1000000",
                          "-r", "1000000", "-c", "20", "--csv", *words], check=True, stdout=subprocess.PIPE).stdout
    return float(out.decode().strip().split("\n")[-1].split(",")[1].strip('"'))


def speed():
    rounds = []
    with Server() as one:
        x = Raw(one, 2).call
        x("TAMIS.RESERVE", "f", 1000000, 0.001)
        x("TAMIS.RESERVE", "d", 1000000, 0.001, "DELETES")
        for _ in range(3):
            rounds.append((benchmark(one, "SET", "key:__rand_int__", "1"), benchmark(one, "GET", "key:__rand_int__"),
                           benchmark(one, "TAMIS.ADD", "f", "key:__rand_int__"),
                           benchmark(one, "TAMIS.EXISTS", "f", "key:__rand_int__"),
                           benchmark(one, "TAMIS.EXISTS", "d", "key:__rand_int__")))
        names = ("SET", "GET", "TAMIS.ADD", "TAMIS.EXISTS", "TAMIS.EXISTS of DELETES")
        middle = [sorted(column)[1] for column in zip(*rounds)]
        for name, rate in zip(names, middle):
            print(f"speed: {name:24} {rate:9.0f} per second", flush=True)
        print(f"speed: ADD / SET {middle[2] / middle[0]:.2f}, EXISTS / GET {middle[3] / middle[1]:.2f}")
        for command, single in (("TAMIS.MADD", middle[2]), ("TAMIS.MEXISTS", middle[3])):
            items = ["key:__rand_int__"] * 1000
            out = subprocess.run([BENCHMARK, "-s", os.path.join(one.folder, "socket"), "-n", "2000", "-c", "4",
                                  "-r", "1000000", "--csv", command, "f", *items], check=True,
                                 stdout=subprocess.PIPE).stdout
            rate = 1000 * float(out.decode().strip().split("\n")[-1].split(",")[1].strip('"'))
            print(f"speed: {command} of 1,000: {rate:9.0f} keys per second, {rate / single:.2f} of single commands",
                  flush=True)


class Silence:
    """The longest time between two answers of PING while something else is done."""

    def __init__(self, one):
        self.call = Raw(one, 2).call
        self.longest, self.done = 0.0, False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.done:
            begin = time.monotonic()
            self.call("PING")
            self.longest = max(self.longest, time.monotonic() - begin)
            time.sleep(0.0005)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done = True
        self.thread.join()


def quietly(one, what, work):
    with Silence(one) as silence:
        begin = time.monotonic()
        work()
        took = time.monotonic() - begin
        time.sleep(0.3)
    print(f"latency: {what}: {took:.2f} s, the server silent for at most {1000 * silence.longest:.1f} ms", flush=True)


def latency():
    n = 620000000 // SCALE  # with deletes at 1 in 1000: a gigabyte
    with Server() as one:
        x = Raw(one, 2).call
        x("CONFIG", "SET", "tamis.max-bytes", "16gb")
        with Silence(one) as silence:
            time.sleep(1)
        print(f"latency: nothing: the server silent for at most {1000 * silence.longest:.1f} ms", flush=True)
        path = os.path.join(one.folder, "big.tamis")
        subprocess.run([TOOL, "build", "--grow", "--deletes", "-n", str(n), "-p", "0.001", "-o", path],
                       input=b"\n".join(b"key:%d" % i for i in range(100000)), check=True, stderr=subprocess.DEVNULL)
        size = os.path.getsize(path)
        print(f"latency: a file of {size / (1 << 20):.0f} MiB")

        def send():
            with open(path, "rb") as file:
                for at in range(0, size, 1 << 20):
                    x("TAMIS.LOAD", "s", size, at, file.read(1 << 20))
        quietly(one, "RESERVE of that size", lambda: x("TAMIS.RESERVE", "r", n, 0.001, "DELETES"))
        quietly(one, "LOAD", send)
        quietly(one, "INFO", lambda: x("TAMIS.INFO", "s"))
        quietly(one, "DUMP, the first part, with the checksums of all", lambda: x("TAMIS.DUMP", "s", "0"))
        quietly(one, "UNLINK", lambda: x("UNLINK", "r"))
        quietly(one, "DEL", lambda: x("DEL", "s"))
    with Server() as one:
        x = Raw(one, 2).call
        x("CONFIG", "SET", "tamis.max-bytes", "16gb")
        # A Bloom filter of a gigabyte that was made for 1,000 keys: it grows when they are in.
        x("TAMIS.RESERVE", "g", 1000, 0.001, "GROW", "PARAMS", "1,1000,0,0,7,8589934592,10" + ",0" * 14)
        load(one.client, "h", dump(one.client, "g"))  # with memory that is really used
        quietly(one, "MADD of the first 1,000 keys", lambda: x("TAMIS.MADD", "h", *(b"%d" % i for i in range(1000))))
        quietly(one, "growth of a set of 1 GiB", lambda: x("TAMIS.MADD", "h", *(b"+%d" % i for i in range(10))))
        print(f"latency: {x('TAMIS.INFO', 'h', 'links')} links")
        x("DEL", "g", "h")
        x("TAMIS.RESERVE", "w", n * 3 // 4, 0.001, "WINDOW", 24)
        print(f"latency: a window of {x('TAMIS.INFO', 'w', 'bytes') / (1 << 20):.0f} MiB")
        x("TAMIS.MADD", "w", *(b"%d" % i for i in range(1000)))
        quietly(one, "TICK, the first", lambda: x("TAMIS.TICK", "w"))
        quietly(one, "TICK STEP 10000", lambda: x("TAMIS.TICK", "w", "STEP", 10000))
        quietly(one, "TICK, with all to be cleared", lambda: x("TAMIS.TICK", "w"))


SCALE = int(os.environ.get("TAMIS_MEASURE_SCALE", "1"))
for part in sys.argv[3:] or ["memory", "speed", "latency"]:
    {"memory": memory, "speed": speed, "latency": latency}[part]()
