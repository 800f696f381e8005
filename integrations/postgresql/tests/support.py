"""A server for tests: its own cluster and socket in a temporary folder, ended and cleaned away after use.

PostgreSQL does not run as root: as root its programs are run as the user postgres.

SPDX-License-Identifier: MIT
"""
import os
import shutil
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEADLINE = 60  # seconds that a server may take to start or stop


class Failure(Exception):
    """What the server said instead of an answer."""


class Server:
    """A cluster that loads the extension from a folder (Debian's setting extension_destdir)."""

    def __init__(self, module, pg_config, *settings):
        self.places = {what: self.ask(pg_config, what) for what in ("bindir", "pkglibdir", "sharedir")}
        self.folder = tempfile.mkdtemp(prefix="tamis-pg-")
        self.lay_out(module)
        self.as_user = []
        if os.geteuid() == 0:
            self.as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
            shutil.chown(self.folder, "postgres", "postgres")
        self.process = None
        try:
            self.run("initdb", "-D", self.path("data"), "-U", "postgres", "-A", "trust", "-N", "--no-locale",
                     "-E", "UTF8")
            self.start(settings)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def ask(pg_config, what):
        return subprocess.run([pg_config, "--" + what], check=True, capture_output=True, text=True).stdout.strip()

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def lay_out(self, module):
        """The extension as 'make install' would put it, below a folder of its own."""
        for target, sources in ((self.places["pkglibdir"], [module]),
                                (os.path.join(self.places["sharedir"], "extension"),
                                 [os.path.join(HERE, name) for name in ("tamis.control", "tamis--1.0.sql")])):
            below = self.path("root", target.lstrip("/"))
            os.makedirs(below)
            for source in sources:
                shutil.copy(source, below)
        for folder, _, _ in os.walk(self.folder):
            os.chmod(folder, 0o755)

    def command(self, program, *words):
        return [*self.as_user, os.path.join(self.places["bindir"], program), *words]

    def run(self, program, *words):
        done = subprocess.run(self.command(program, *words), cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=DEADLINE,
                              check=False)
        if done.returncode != 0:
            raise Failure(done.stdout[-3000:])

    def start(self, settings):
        words = ["-D", self.path("data"), "-k", self.folder, "-h", ""]
        for setting in ("extension_destdir=" + self.path("root"), "fsync=off", *settings):
            words += ["-c", setting]
        with open(self.path("log"), "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(self.command("postgres", *words), cwd=self.folder,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + DEADLINE
        while True:
            try:
                self.sql("SELECT 1")
                return
            except Failure:
                if self.process.poll() is not None or time.monotonic() > end:
                    with open(self.path("log"), encoding="utf-8", errors="replace") as log:
                        raise AssertionError("no server: " + log.read()[-3000:]) from None
                time.sleep(0.05)

    def sql(self, text, **variables):
        """All rows as lines, columns separated by |; a failure with its code."""
        words = ["psql", "-h", self.folder, "-U", "postgres", "-XqAt", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose"]
        for name, value in variables.items():
            words += ["-v", f"{name}={value}"]
        done = subprocess.run(words, input=text, capture_output=True, text=True, timeout=10 * DEADLINE, check=False)
        if done.returncode != 0:
            raise Failure(done.stderr)
        return done.stdout.strip()

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(DEADLINE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
