# SPDX-License-Identifier: Apache-2.0
"""
harness.py: a real server in its own process, clients over real sockets, and a test runner. A
test's name states condition and result.

The client is a few lines over a socket and not a library, because these tests must know what the
network said and when: an answer that came is an acknowledgement, a connection that broke before it
is not, and the difference is what is being tested.

    server = Server()                   # in a new directory, on a free port
    server.start()
    status, answer = Client(server).request("GET", "/api/v1/namespaces")
    for event in Watch(server, "/api/v1/configmaps", since): …
    server.kill()                       # SIGKILL; server.start() then starts on the same directory

Programs end with `run()`, which runs every function that has been marked with @test. The
environment says how: KC names the binary (build/release/kc), KC_SOAK=1 asks for the long version,
KC_SEED repeats what was random, KC_BACKEND=etcd gives each directory an etcd of its own.
"""
import ctypes
import errno
import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BINARY = os.environ.get("KC", os.path.join(ROOT, "build/release/kc"))
SOAK = os.environ.get("KC_SOAK", "") not in ("", "0")
BACKEND = os.environ.get("KC_BACKEND", "file")
SEED = int(os.environ.get("KC_SEED", random.SystemRandom().randrange(1 << 32)))

LIMIT = 90.0  # Seconds to wait for what must happen: no bound on latency, but a test that hangs must end.
PR_SET_THP_DISABLE = 41
_libc = ctypes.CDLL(None)

TOKEN = "token-of-the-system-tests"
CONFIGMAPS = "/api/v1/namespaces/%s/configmaps"


class Skipped(Exception):
    """A test that cannot run here says why."""


class Broken(Exception):
    """The connection ended before the answer: whether the request had an effect is not known."""


# ---- the server ----


def free_port():
    """One that no outgoing connection gets, of a neighbour with ten thousand of them either, and no other test."""
    return int(subprocess.run([os.path.join(ROOT, "tests/e2e/free-ports"), "1"], stdout=subprocess.PIPE, check=True).stdout)


def built(name):
    """The path of one of the libraries to preload, which stand beside the binary as released."""
    path = os.path.join(os.path.dirname(os.path.abspath(BINARY)), "tests/libkc_%s.so" % name)
    if not os.path.exists(path):
        raise Skipped("%s is not built" % path)
    return path


def file_backend_only(function):
    """For a test that looks into the files of a store."""

    def skipped():
        raise Skipped("about the files of the backend file")

    skipped.__name__ = function.__name__
    return function if BACKEND == "file" else skipped


class Etcd:
    """A member of etcd, started by tests/e2e/etcd; its directory outlives the process."""

    PROGRAM = os.path.join(ROOT, "tests/e2e/etcd")

    def __init__(self, directory):
        self.directory = directory

    def start(self, *flags):
        done = subprocess.run([self.PROGRAM, "start", self.directory] + list(flags), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def stop(self):
        subprocess.run([self.PROGRAM, "stop", self.directory], check=True)

    def make_keys(self, directory):
        """Those that a server on etcd needs, in its directory, unless it has them."""
        subprocess.run([self.PROGRAM, "keys", directory, BINARY], check=True)

    def pid(self):
        with open(os.path.join(self.directory, "pid")) as f:
            return int(f.read())

    def discard(self):
        if os.path.exists(self.directory):
            self.stop()
            shutil.rmtree(self.directory, ignore_errors=True)


class Server:
    """A server on a directory; the directory outlives the process, and is removed with the object."""

    def __init__(self, directory=None, preload=None, environment=None, open_files=65536, flags=()):
        self.directory = directory or tempfile.mkdtemp(prefix="kc-system-")
        self.environment = dict(os.environ, **(environment or {}))
        if preload:
            self.environment["LD_PRELOAD"] = preload
        self.open_files = open_files
        handle, self.tokens = tempfile.mkstemp(prefix="kc-tokens-")
        with os.fdopen(handle, "w") as f:
            f.write('%s,tester,1,"system:masters"\n' % TOKEN)
        self.flags = ["--token-auth-file", self.tokens] + list(flags)
        self.process = None
        self.port = 0
        own_etcd = BACKEND == "etcd" and "--backend" not in self.flags
        self.etcd = Etcd(self.directory + ".etcd") if own_etcd else None

    def _limits(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        wanted = self.open_files if hard == resource.RLIM_INFINITY else min(self.open_files, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        # Where the kernel gives huge pages to everyone, RSS grows in steps of 2 MiB, at moments of its choice.
        _libc.prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)

    def _backend(self):
        """Starts what the backend needs; returns the server's flags for it."""
        if not self.etcd:
            return []
        self.etcd.make_keys(self.directory)
        return ["--backend", "etcd", "--etcd-servers", self.etcd.start()]

    def _command(self):
        self.port = free_port()
        return [BINARY, "apiserver", "--file-rootpath", self.directory, "--secure-port", "0", "--insecure-port",
                str(self.port), "--authn-allow-localhost", "--disable-admission-plugins", "ServiceAccount"] + self.flags + self._backend()

    def spawn(self):
        """Starts the process and does not wait for anything."""
        command = self._command()
        self.log = open(self.directory + ".log", "ab")
        self.process = subprocess.Popen(command, env=self.environment, stdout=self.log,
                                        stderr=self.log, preexec_fn=self._limits)

    def start(self, timeout=LIMIT):
        """Starts the process and waits until it serves."""
        self.spawn()
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise AssertionError("the server ended with %s: %s" % (self.process.returncode, self.log_text()))
            try:
                status, _ = Client(self, timeout=5).request("GET", "/readyz")
                if status == 200:
                    return self
            except (OSError, Broken):
                pass
            time.sleep(0.005)
        raise AssertionError("the server did not become ready: " + self.log_text())

    def refuses_to_start(self, timeout=LIMIT):
        """Starts it where it must not: returns its exit code and what it wrote to stderr."""
        try:
            done = subprocess.run(self._command(), env=self.environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=timeout)
        except subprocess.TimeoutExpired:
            return None, "it runs"
        return done.returncode, done.stderr.decode(errors="replace")

    def log_text(self):
        with open(self.directory + ".log", errors="replace") as f:
            return f.read()[-2000:]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.log.close()

    def stop(self, timeout=LIMIT):
        """SIGTERM; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout)
        self.log.close()
        return code

    def rss(self):
        """Bytes of memory the process has now."""
        with open("/proc/%d/status" % self.process.pid) as f:
            for line in f:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
        return 0

    def connections(self):
        """How many sockets the process has open: what a client sees may lag behind."""
        directory, count = "/proc/%d/fd" % self.process.pid, 0
        for name in os.listdir(directory):
            try:
                count += os.readlink(os.path.join(directory, name)).startswith("socket:")
            except FileNotFoundError:
                pass
        return count

    def discard(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        if self.etcd:
            self.etcd.discard()
        shutil.rmtree(self.directory, ignore_errors=True)
        for path in (self.directory + ".log", self.tokens):
            if os.path.exists(path):
                os.unlink(path)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        """At the end of a test that went well, the server must go down as well: it then also tells
        what a sanitizer found."""
        try:
            if not kind and self.process and self.process.poll() is None:
                code = self.stop()
                assert code == 0, "stopped, the server ended with %d: %s" % (code, self.log_text())
        finally:
            if kind and os.path.exists(self.directory + ".log"):
                print("log of the server: " + self.log_text())
            self.discard()


class SmallDisk:
    """A file system of its own, with a directory on it."""

    def __init__(self, size):
        self.directory = tempfile.mkdtemp(prefix="kc-system-")
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + size, "kc", self.directory],
                                               stderr=subprocess.DEVNULL).returncode:
            os.rmdir(self.directory)
            raise Skipped("a filesystem cannot be mounted here")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.directory], check=False)
        os.rmdir(self.directory)

    def fill(self):
        fd = os.open(os.path.join(self.directory, "filler"), os.O_WRONLY | os.O_CREAT)
        try:
            while True:
                os.write(fd, bytes(4096))
        except OSError as e:
            assert e.errno == errno.ENOSPC
        finally:
            os.close(fd)


# ---- clients ----


def connect(server, timeout=LIMIT, receive_buffer=None):
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if receive_buffer:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    s.settimeout(timeout)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        s.connect(("127.0.0.1", server.port))
    except OSError:
        s.close()
        raise
    return s


def head_of(method, path, body=b"", kind="application/json"):
    lines = "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n" % (method, path, TOKEN)
    lines += "Accept: application/json\r\n"
    if body or method in ("POST", "PUT", "PATCH"):
        lines += "Content-Type: %s\r\nContent-Length: %d\r\n" % (kind, len(body))
    return lines.encode() + b"\r\n"


class Reader:
    """Takes lines and counted bytes from a socket."""

    def __init__(self, s):
        self.s = s
        self.bytes = b""

    def more(self):
        try:
            got = self.s.recv(1 << 16)
        except socket.timeout:
            raise
        except OSError as e:
            raise Broken(str(e))
        if not got:
            raise Broken("closed")
        self.bytes += got

    def until(self, mark):
        at = self.bytes.find(mark)
        while at < 0:
            self.more()
            at = self.bytes.find(mark)
        taken, self.bytes = self.bytes[:at], self.bytes[at + len(mark):]
        return taken

    def exactly(self, n):
        while len(self.bytes) < n:
            self.more()
        taken, self.bytes = self.bytes[:n], self.bytes[n:]
        return taken

    def head(self):
        """The status and the header fields, in small letters."""
        lines = self.until(b"\r\n\r\n").decode().split("\r\n")
        fields = dict((k.lower(), v.strip()) for k, v in (l.split(":", 1) for l in lines[1:]))
        return int(lines[0].split()[1]), fields

    def chunk(self):
        """The next chunk, b"" for the last."""
        size = int(self.until(b"\r\n").split(b";")[0], 16)
        taken = self.exactly(size)
        self.exactly(2)
        return taken


class Client:
    """One connection, opened when it is needed and again after it broke."""

    def __init__(self, server, timeout=LIMIT):
        self.server = server
        self.timeout = timeout
        self.reader = None

    def close(self):
        if self.reader:
            self.reader.s.close()
        self.reader = None

    def request(self, method, path, body=None, kind="application/json"):
        """(status, parsed answer). Broken when the connection ended without one; OSError when there
        was no connection, and so certainly no request."""
        data = b"" if body is None else json.dumps(body).encode()
        if not self.reader:
            self.reader = Reader(connect(self.server, self.timeout))
        try:
            try:
                self.reader.s.sendall(head_of(method, path, data, kind) + data)
            except socket.timeout:
                raise
            except OSError as e:
                raise Broken(str(e))
            return self._answer()
        except BaseException:
            self.close()
            raise

    def _answer(self):
        status, fields = self.reader.head()
        if fields.get("transfer-encoding") == "chunked":
            parts = list(iter(self.reader.chunk, b""))
            data = b"".join(parts)
        else:
            data = self.reader.exactly(int(fields.get("content-length", 0)))
        if fields.get("connection", "").lower() == "close":
            self.close()
        if "json" in fields.get("content-type", ""):
            return status, json.loads(data)
        return status, data.decode()


class Watch:
    """The events of a watch, one after the other, until the server ends it (StopIteration) or the
    connection breaks (Broken)."""

    def __init__(self, server, path, since=None, options="", timeout=LIMIT):
        query = "?watch=1" + ("&resourceVersion=%s" % since if since is not None else "") + options
        self.reader = Reader(connect(server, timeout))
        try:
            self.reader.s.sendall(head_of("GET", path + query))
        except OSError as e:
            raise Broken(str(e))
        self.status, fields = self.reader.head()
        self.failure = None
        if self.status != 200:
            self.failure = json.loads(self.reader.exactly(int(fields["content-length"])))
        self.text = b""

    def __iter__(self):
        return self

    def __next__(self):
        while b"\n" not in self.text:
            chunk = self.reader.chunk() if self.status == 200 else b""
            if not chunk:
                self.close()
                raise StopIteration
            self.text += chunk
        line, self.text = self.text.split(b"\n", 1)
        return json.loads(line)

    def close(self):
        self.reader.s.close()


def configmap(ns, name, value, version=None, **more):
    metadata = {"namespace": ns, "name": name}
    if version is not None:
        metadata["resourceVersion"] = str(version)
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": dict(more, value=value)}


def version_of(item):
    return int(item["metadata"]["resourceVersion"])


def make_namespace(server, name):
    status, answer = Client(server).request(
        "POST", "/api/v1/namespaces", {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}})
    assert status == 201, answer


# ---- running ----


class Threads:
    """Runs functions beside each other; an exception of one is raised where they are joined."""

    def __init__(self):
        self.threads = []
        self.failures = []

    def go(self, function, *arguments):
        def body():
            try:
                function(*arguments)
            except BaseException:  # Whatever it was: it is shown where the threads are joined.
                self.failures.append(traceback.format_exc())

        thread = threading.Thread(target=body, daemon=True)
        self.threads.append(thread)
        thread.start()

    def join(self, timeout=120.0):
        timeout = bound(timeout, max(timeout, 120.0))
        until = time.monotonic() + timeout
        for thread in self.threads:
            thread.join(max(0.0, until - time.monotonic()))
            assert not thread.is_alive(), "a client still waits for something"
        assert not self.failures, "\n".join(self.failures)


def sanitized():
    """Whether the binary is one with a sanitizer, whose memory says nothing."""
    with open(BINARY, "rb") as f:
        program = f.read()
    return b"__asan_init" in program or b"__tsan_init" in program


def has_private_mounts():
    """Whether this machine gives processes mounts of their own. A chroot does not, even to root; pods have no volumes there, and see the
    machine's files."""
    return subprocess.run(["unshare", "--mount", "--propagation", "private", "true"], stderr=subprocess.DEVNULL).returncode == 0


def bound(tight, wide):
    """A bound on time or memory. The long version has the machine for itself and holds the tight one; elsewhere the
    machine may be slow or busy, and `wide` is at least ten times what an idle one shows."""
    return tight if SOAK else wide


def holds(size, limit, what):
    """A bound on memory."""
    assert size < limit or sanitized(), "%s: %.2f MiB, more than %.2f" % (what, size / 2**20, limit / 2**20)


def wait_for(condition, timeout, what):
    """The timeout is a bound in the long version only."""
    timeout = bound(timeout, max(timeout, LIMIT))
    until = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < until, "in %g s not so: %s" % (timeout, what)
        time.sleep(0.01)


_tests = []


def test(function):
    _tests.append(function)
    return function


def long_test(function):
    """One that only the long version runs."""
    if SOAK:
        _tests.append(function)
    return function


def replay(*command):
    """The command that repeats a run, with what it had from the environment."""
    settings = ["KC_SEED=%d" % SEED] + ["%s=%s" % (name, os.environ[name]) for name in ("KC", "KC_BACKEND", "KC_SOAK") if name in os.environ]
    return " ".join(settings + list(command))


def run():
    """Runs the tests, or those whose names contain an argument; the exit code says how it went."""
    if not os.access(BINARY, os.X_OK):
        sys.exit("%s is not there: build it, or name another in KC" % BINARY)
    failed = 0
    for function in _tests:
        if not all(word in function.__name__ for word in sys.argv[1:]):
            continue
        random.seed(SEED)
        start = time.monotonic()
        outcome = "ok"
        print("running: " + function.__name__, flush=True)  # scripts/failures names it if it does not end.
        try:
            function()
        except Skipped as why:
            outcome = "skipped (%s)" % why
        except BaseException as e:
            if isinstance(e, KeyboardInterrupt):
                raise
            traceback.print_exc(file=sys.stdout)
            outcome = "FAILED, KC_SEED=%d" % SEED
            failed += 1
        print("%-70s %s (%.1f s)" % (function.__name__, outcome, time.monotonic() - start), flush=True)
        if outcome.startswith("FAILED"):
            print("    again: " + replay("tests/system/" + os.path.basename(sys.argv[0]), function.__name__), flush=True)
    sys.exit(1 if failed else 0)
