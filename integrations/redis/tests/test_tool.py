"""'tamis server': sets to and from a server by the command line tool, and servers that answer wrongly.

SPDX-License-Identifier: MIT
"""
import threading

from support import *

KEYS = [b"key:%d" % i for i in range(20000)]


def tool(*words, environment=None, **more):
    """The tool's exit code and what it says."""
    done = subprocess.run([TOOL, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE,
                          env={**os.environ, **(environment or {})}, check=False, **more)
    return done.returncode, done.stdout, done.stderr.decode()


class Liar:
    """Something on a local socket that answers each command with the same bytes."""

    def __init__(self, answer):
        self.folder = tempfile.mkdtemp(prefix="tamis-liar-")
        self.path = os.path.join(self.folder, "socket")
        self.answer = answer
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.path)
        self.socket.listen(1)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            one, _ = self.socket.accept()
            with one:
                while one.recv(1 << 20):
                    one.sendall(self.answer)
                    if len(self.answer) == 0:
                        break
        except OSError:
            pass

    def close(self):
        self.socket.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Tool(Case):
    def setUp(self):
        self.one = self.server(port=free_port())
        self.x = self.raw(self.one).call
        self.tcp = f"127.0.0.1:{self.one.port}"
        self.local = os.path.join(self.one.folder, "socket")
        self.set = os.path.join(self.one.folder, "set.tamis")
        subprocess.run([TOOL, "build", "--deletes", "--grow", "-n", "1000", "--seed", "7", "-o", self.set], input=b"\n".join(KEYS),
                       check=True)

    def said(self, text, *words, **more):
        code, _, says = tool("server", *words, **more)
        self.assertEqual(code, 2, says)
        self.assertIn(text, says)
        self.assertEqual(says.count("\n"), 1, says)

    def test_there_and_back(self):
        back = os.path.join(self.one.folder, "back.tamis")
        for address in (self.tcp, self.local):
            self.assertEqual(tool("server", "load", self.set, address, "s"), (0, b"", ""))
            self.assertEqual(self.x("TAMIS.MEXISTS", "s", *KEYS), [1] * len(KEYS))
            self.assertEqual(tool("server", "save", address, "s", back), (0, b"", ""))
            with open(self.set, "rb") as a, open(back, "rb") as b:
                self.assertEqual(a.read(), b.read())
            self.said("item exists", "load", self.set, address, "s")
            self.assertEqual(self.x("TAMIS.DEL", "s", KEYS[0]), 1)
            self.assertEqual(self.x("DEL", "s"), 1)

    def test_large_set_in_many_parts(self):
        large = os.path.join(self.one.folder, "large.tamis")
        subprocess.run([TOOL, "build", "-n", "4000000", "-p", "0.001", "--seed", "7", "-o", large], input=b"\n".join(KEYS), check=True)
        self.assertGreater(os.path.getsize(large), 6 << 20)
        code, _, says = tool("server", "load", "--verbose", large, self.tcp, "s")
        self.assertEqual((code, "line" in says), (0, True), says)
        self.assertEqual(self.x("TAMIS.MEXISTS", "s", *KEYS), [1] * len(KEYS))
        with open(large, "rb") as file:
            self.assertEqual(tool("server", "save", self.local, "s", "-"), (0, file.read(), ""))

    def test_password_user_and_database(self):
        self.x("ACL", "SETUSER", "carrier", "on", ">sesame", "~*", "+@all")
        self.assertEqual(tool("server", "load", "--user", "carrier", "--db", "3", self.set, self.tcp, "s",
                              environment={"TAMIS_SERVER_PASSWORD": "sesame"}), (0, b"", ""))
        self.assertEqual(self.x("EXISTS", "s"), 0)
        self.x("SELECT", 3)
        self.assertEqual(self.x("TAMIS.MEXISTS", "s", *KEYS), [1] * len(KEYS))
        self.said("WRONGPASS", "load", "--user", "carrier", self.set, self.tcp, "t",
                  environment={"TAMIS_SERVER_PASSWORD": "wrong"})
        self.said("TAMIS_SERVER_PASSWORD", "load", "--user", "carrier", self.set, self.tcp, "t")
        self.said("out of range", "load", "--db", "99", self.set, self.tcp, "t")
        self.x("CONFIG", "SET", "requirepass", "secret")
        self.said("NOAUTH", "save", self.tcp, "s", self.set)
        self.assertEqual(tool("server", "save", "--db", "3", self.tcp, "s", "-",
                              environment={"TAMIS_SERVER_PASSWORD": "secret"})[0], 0)

    def test_what_is_wrong_is_told(self):
        self.x("SET", "text", "a")
        out = os.path.join(self.one.folder, "out.tamis")
        for text, words in (("'load' or 'save'", ()), ("'load' or 'save'", ("send", "a", "b", "c")),
                            ("SET ADDRESS KEY", ("load", self.set, self.tcp)),
                            ("ADDRESS KEY SET", ("save", self.tcp, "s", out, "more")),
                            ("not found", ("save", self.tcp, "none", out)),
                            ("WRONGTYPE", ("save", self.tcp, "text", out)),
                            ("WRONGTYPE", ("load", self.set, self.tcp, "text")),
                            ("cannot connect", ("save", "127.0.0.1:1", "s", out)),
                            ("cannot connect", ("save", "/none/such", "s", out)),
                            ("cannot connect", ("save", "/" + 200 * "x", "s", out)),
                            ("neither", ("save", "host", "s", out)), ("neither", ("save", "host:", "s", out)),
                            ("neither", ("save", ":6379", "s", out)), ("cannot connect", ("save", "[::1]:1", "s", out)),
                            ("none.tamis", ("load", "none.tamis", self.tcp, "s"))):
            self.said(text, *words)
        self.assertFalse(os.path.exists(out))
        self.assertEqual(self.x("DBSIZE"), 1)
        plain = self.server(module=False)
        self.said("unknown command", "load", self.set, os.path.join(plain.folder, "socket"), "s")

    def test_servers_that_answer_wrongly(self):
        out = os.path.join(self.one.folder, "out.tamis")
        part = b"*3\r\n$1\r\n0\r\n:%d\r\n$%d\r\n%s\r\n"
        for text, answer in (("cannot ", b""), ("does not answer as", b"HTTP/1.1 400 Bad Request\r\n"),
                             ("does not answer as", b"\r\n"), ("does not answer as", b"x" * 100000),
                             ("does not answer as", b"*3\n"), ("does not answer as", b"*2\r\n$1\r\n0\r\n:1\r\n"),
                             ("does not answer as", b"*3\r\n$-1\r\n"), ("does not answer as", b"*-1\r\n"),
                             ("does not answer as", b"*99999999999999999999999\r\n"),
                             ("does not answer as", b"*3\r\n$64\r\n" + b"1" * 64 + b"\r\n"),
                             ("does not answer as", b"*3\r\n$1\r\n0xx:1\r\n"),
                             ("does not answer as", b"*3\r\n$1\r\n0\r\n:-5\r\n"),
                             ("does not answer as", b"*3\r\n$1\r\n0\r\n:10\r\n$9223372036854775807\r\n"),
                             ("not those of one set", part % (10, 0, b"")), ("not those of one set", part % (10, 5, b"abcde")),
                             ("not those of one set", part % (3, 5, b"abcde")), ("is not a set", part % (5, 5, b"abcde")),
                             ("not those of one set", (b"*3\r\n$3\r\n5-0\r\n:5\r\n$5\r\nabcde\r\n")),
                             ("is not a set", part % (300, 300, b"\0" * 300)), ("answers: ERR no", b"-ERR no\r\n"),
                             ("answers: a?b", b"-a\x1bb\r\n")):
            liar = Liar(answer)
            self.addCleanup(liar.close)
            self.said(text, "save", liar.path, "s", out)
        for answer in (b":5\r\n", b"+OK\r\n", b"$2\r\nOK\r\n"):
            liar = Liar(answer)
            self.addCleanup(liar.close)
            self.said("has taken 5" if answer == b":5\r\n" else "does not answer as", "load", self.set, liar.path, "s")
        self.assertFalse(os.path.exists(out))

    def test_damaged_answers_are_never_a_set(self):
        """A file with one byte changed, from a server that sends it: refused, or the same set."""
        with open(self.set, "rb") as file:
            whole = file.read()
        random = chance()
        out = os.path.join(self.one.folder, "out.tamis")
        for _ in range(40):
            bad = bytearray(whole)
            bad[random.choice((random.randrange(256), random.randrange(len(bad))))] ^= 1 << random.randrange(8)
            liar = Liar(b"*3\r\n$1\r\n0\r\n:%d\r\n$%d\r\n%s\r\n" % (len(bad), len(bad), bytes(bad)))
            self.addCleanup(liar.close)
            self.said("is not a set", "save", liar.path, "s", out)


if __name__ == "__main__":
    main()
