"""What the tests share: servers that are started, stopped and cleaned away.

A test file is run as  test_x.py MODULE TOOL : the module's file, and the command line tool.  The server
is redis-server, or the program that TAMIS_REDIS_SERVER names.  Servers listen on a socket in a temporary
folder; those that must be reached by others (replicas, clusters) on 127.0.0.1.

SPDX-License-Identifier: MIT
"""
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import redis

SERVER = os.environ.get("TAMIS_REDIS_SERVER", "redis-server")
SEED = int(os.environ.get("TAMIS_TEST_SEED", "20261"))
LONG = os.environ.get("TAMIS_TEST_LONG") == "1"
DEADLINE = 60  # seconds that a server may take to start, stop or catch up


def chance():
    """A generator of its own for each test, from the printed seed."""
    return random.Random(SEED)


def free_port():
    """A port that nobody has at the moment.

    It and a cluster's second one, 10,000 further, are below the ports that the system gives to clients.
    """
    for _ in range(1000):
        port = random.SystemRandom().randrange(10000, 22000)
        with socket.socket() as probe, socket.socket() as bus:
            try:
                probe.bind(("127.0.0.1", port))
                bus.bind(("127.0.0.1", port + 10000))
                return port
            except OSError:
                continue
    raise RuntimeError("no free port")


def wait_until(true, what):
    """Ask until it is so, within bounds."""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        if true():
            return
        time.sleep(0.02)
    raise AssertionError(f"not within {DEADLINE} s: {what}")


class Server:
    """One server with the module, in a folder of its own."""

    def __init__(self, *options, port=0, module=True):
        self.folder = tempfile.mkdtemp(prefix="tamis-redis-")
        self.port = port
        self.options = list(options)
        self.module = module
        self.process = None
        self.start()

    def command(self):
        words = [SERVER, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder,
                 "--unixsocket", os.path.join(self.folder, "socket"), "--save", "",
                 "--daemonize", "no", "--logfile", os.path.join(self.folder, "log"),
                 "--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0",
                 "--enable-module-command", "yes"]
        if self.module:
            words += ["--loadmodule", MODULE]
        return words + self.options

    def start(self):
        self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.client = self.connect()
        wait_until(self.answers, "a server that answers")

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError("the server ended: " + self.log()[-2000:])
        try:
            return self.client.ping()
        except (redis.exceptions.ConnectionError, redis.exceptions.BusyLoadingError):
            return False

    def connect(self, **options):
        return redis.Redis(unix_socket_path=os.path.join(self.folder, "socket"), **options)

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def stop(self, save=False):
        """End it in order; with 'save' it writes a snapshot first."""
        if self.process is None or self.process.poll() is not None:
            return
        wait_until(lambda: self.shut_down("SAVE" if save else "NOSAVE"), "a server that ends")
        self.client.close()
        self.process.wait(DEADLINE)

    def shut_down(self, word):
        """A server refuses to end while a child writes its first append-only file, as after a full copy."""
        try:
            self.client.execute_command("SHUTDOWN", word)
        except redis.exceptions.ResponseError:
            return False
        except redis.exceptions.ConnectionError:
            pass
        return True

    def kill(self):
        self.process.kill()
        self.process.wait(DEADLINE)

    def restart(self, save=True):
        self.stop(save)
        self.start()

    def close(self):
        self.kill()
        self.client.close()
        for _ in range(250):  # a child that writes a snapshot may live a little longer
            shutil.rmtree(self.folder, ignore_errors=True)
            if not os.path.exists(self.folder):
                break
            time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


CLI = os.environ.get("TAMIS_REDIS_CLI", "redis-cli")


class Cluster:
    """Nodes on 127.0.0.1, the first of them primaries.

    A node that was silent for 'timeout' ms is given up: long enough for a machine with much else to do.
    """

    def __init__(self, primaries, replicas, timeout=30000):
        self.nodes = []
        try:
            for _ in range(primaries * (1 + replicas)):
                self.nodes.append(Server("--cluster-enabled", "yes", "--cluster-node-timeout", str(timeout),
                                         "--appendonly", "no", port=free_port()))
            self.cli("create", *(f"127.0.0.1:{node.port}" for node in self.nodes), "--cluster-replicas",
                     str(replicas), "--cluster-yes")
            wait_until(self.ready, "a cluster that is ready")
        except BaseException:
            self.close()
            raise

    def ready(self):
        states = [node.client.cluster("info") for node in self.nodes if node.process.poll() is None]
        return all(state["cluster_state"] == "ok" and int(state["cluster_known_nodes"]) == len(self.nodes)
                   for state in states)

    def cli(self, *words):
        done = subprocess.run([CLI, "--cluster", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=4 * DEADLINE, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stdout.decode()[-2000:])

    def client(self, node=0):
        return redis.RedisCluster(host="127.0.0.1", port=self.nodes[node].port)

    def close(self):
        for node in self.nodes:
            node.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Fault(Exception):
    """An error that a server answered with."""


class Raw:
    """A connection that speaks RESP2 or RESP3 and hides nothing: answers come as they are, errors within
    them as Fault objects, maps as dict."""

    def __init__(self, server, protocol):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(DEADLINE)
        self.socket.connect(os.path.join(server.folder, "socket"))
        self.file = self.socket.makefile("rb")
        self.call("HELLO", protocol)

    def close(self):
        self.file.close()
        self.socket.close()

    def call(self, *words):
        words = [w if isinstance(w, bytes) else str(w).encode() for w in words]
        self.socket.sendall(b"*%d\r\n" % len(words) +
                            b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
        answer = self.read()
        if isinstance(answer, Fault):
            raise answer
        return answer

    def read(self):
        line = self.file.readline()
        form, rest = line[:1], line[1:-2]
        if form == b"+":
            return rest.decode()
        if form == b"-":
            return Fault(rest.decode())
        if form == b":":
            return int(rest)
        if form == b",":
            return float(rest)
        if form == b"#":
            return rest == b"t"
        if form == b"_":
            return None
        if form in b"$=":
            data = None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
            return data
        if form in b"*~>":
            return None if rest == b"-1" else [self.read() for _ in range(int(rest))]
        if form == b"%":
            return dict((self.read(), self.read()) for _ in range(int(rest)))
        raise AssertionError(f"no answer of RESP: {line!r}")


class Case(unittest.TestCase):
    """A test with servers that are closed whatever happens."""

    def server(self, *options, **more):
        one = Server(*options, **more)
        self.addCleanup(one.close)
        return one

    def raw(self, server, protocol=2):
        one = Raw(server, protocol)
        self.addCleanup(one.close)
        return one

    def caught_up(self, primary, replica):
        def same():
            theirs = replica.client.info("replication")
            return (theirs.get("master_link_status") == "up" and
                    theirs["slave_repl_offset"] >= primary.client.info("replication")["master_repl_offset"])
        wait_until(same, "a replica that has all")

    def assert_same(self, primary, replica):
        self.caught_up(primary, replica)
        self.assertEqual(primary.client.execute_command("DEBUG", "DIGEST"),
                         replica.client.execute_command("DEBUG", "DIGEST"))

    def refused(self, text, call, *arguments):
        with self.assertRaises((redis.exceptions.ResponseError, Fault)) as caught:
            call(*arguments)
        self.assertIn(text, str(caught.exception))


def dump(client, key):
    """The file of a set, collected part by part."""
    cursor, whole, size = b"0", [], None
    for _ in range(1 << 20):
        cursor, size, part = client.execute_command("TAMIS.DUMP", key, cursor)
        whole.append(part)
        if cursor == b"0":
            break
    whole = b"".join(whole)
    assert len(whole) == size
    return whole


def load(client, key, file, part=1 << 20):
    """Load a file into a key, part by part; the last answer."""
    answer = None
    for at in range(0, len(file), part):
        answer = client.execute_command("TAMIS.LOAD", key, len(file), at, file[at:at + part])
    return answer


def main():
    print(f"# {SERVER}, seed {SEED}", file=sys.stderr)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=1, warnings="ignore")


MODULE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ""
TOOL = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else ""
