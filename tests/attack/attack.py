# SPDX-License-Identifier: Apache-2.0
"""
attack.py: the harness of the attack suite. README.md says how a case is written.

A case is a function marked with @attack. The runner starts a target (a `kc` process under a memory cap), measures
other clients' latency and the process's memory while the case runs, and asserts the bounds that the case names:

    @attack(growth=64 * MIB)
    def many_label_selectors_are_refused(t):
        status, answer = t.admin().request("GET", "/api/v1/pods?labelSelector=" + "a" * 100000)
        assert status == 400, answer

The probe runs in a process of its own with connections to every I/O loop. It sends on a fixed schedule and counts
latency from the scheduled time, so a blocked loop shows in every request that should have been sent meanwhile.
"""
import importlib.util
import json
import os
import random
import resource
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "system"))

import harness  # noqa: E402
from harness import (BINARY, SOAK, LIMIT, TOKEN, Broken, Client, Reader, Skipped, Threads, Watch, bound, connect, free_port,  # noqa: E402,F401
                     has_private_mounts, head_of, sanitized, wait_for)

MIB = 1 << 20
P99 = 0.050  # Seconds: the bound on other clients' latency while any single request runs.
TRIES = 3  # Measurements of a case's latency, of which one must hold the bound.
NS = "attack"
SANITIZED = sanitized()
# Sanitizers slow everything down: pauses are multiplied by this.
SLOW = 10 if SANITIZED else 1
# Bounds on time are multiplied by this. Other programs may use the machine while the quick cases run: they have ten times as much.
SLACK = float(os.environ.get("KC_ATTACK_SLACK", SLOW if SOAK else 10))
# Bounds on memory are multiplied by this: how much the allocator holds at its peak depends on which threads run at the same time.
ROOM = 1 if SOAK or "KC_ATTACK_SLACK" in os.environ else 4


class TooSlow(AssertionError):
    """Other clients waited longer than the case allows."""


def has_flag(verb, flag, _known={}):
    """Whether this binary has a flag."""
    if verb not in _known:
        _known[verb] = subprocess.run([BINARY, verb, "--help"], stdout=subprocess.PIPE).stdout.decode()
    return flag in _known[verb]


class Target(harness.Server):
    """A server under attack. verb: "apiserver" or "up". trust_localhost: loopback peers of this uid need no token.
    cap: bytes of private memory the process may map, so that a defect ends the target and not the machine. trim: interval
    at which it returns freed memory; None: its default."""

    def __init__(self, verb="apiserver", flags=(), trust_localhost=True, cap=4096 * MIB, open_files=65536,
                 environment=None, trim="1s"):
        super().__init__(flags=flags, open_files=open_files, environment=environment)
        self.verb, self.trust, self.cap, self.count = verb, trust_localhost, cap, 0
        self.mixed = False  # Several cases run at once: what the server uses is not one case's doing.
        self._thread = threading.local()
        if trim and has_flag(verb, "--memory-trim-interval"):  # None: the default.
            self.flags += ["--memory-trim-interval", trim]

    def _limits(self):
        super()._limits()
        if not SANITIZED:
            resource.setrlimit(resource.RLIMIT_DATA, (self.cap, self.cap))

    def _command(self):
        self.port = free_port()
        command = [BINARY, self.verb, "--file-rootpath", self.directory, "--secure-port", "0", "--insecure-port",
                   str(self.port)]
        if self.verb == "up":
            command += ["--metrics-bind-address", "0", "--health-probe-bind-address", "0"]
        if self.verb == "apiserver":
            command += ["--disable-admission-plugins", "ServiceAccount"]
        if self.verb == "apiserver" or not self.trust:
            command += ["--authn-allow-localhost=%s" % ("true" if self.trust else "false")]
        return command + self.flags

    def ready(self):
        """Waits until it serves, and makes the namespace of the cases."""
        self.start(timeout=20 * SLACK)
        admin = self.admin()
        status, answer = admin.request("POST", "/api/v1/namespaces", {"metadata": {"name": NS}})
        assert status in (201, 409), answer
        return self

    def admin(self, timeout=60.0):
        """A client with the administrator's token."""
        return Client(self, timeout)

    def unique(self, prefix):
        """A name no other case uses."""
        self.count += 1
        return "%s-%d-%x" % (prefix, self.count, random.getrandbits(32))

    def made(self, path):
        """The object at the path is removed when the case ends, however it ends."""
        self._paths().append(path)

    def _paths(self):
        """Those of the case that this thread runs."""
        if not hasattr(self._thread, "paths"):
            self._thread.paths = []
        return self._thread.paths

    def clean(self):
        """Removes what the case of this thread made, the newest first."""
        paths, client = self._paths(), self.admin()
        while paths:
            path = paths.pop()
            wait_for(lambda: client.request("DELETE", path)[0] in (200, 404), LIMIT, path + " is removed")

    def cpu(self):
        """Seconds of processor time the process has used."""
        with open("/proc/%d/stat" % self.process.pid) as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def serves(self):
        """Fails unless the process lives and answers."""
        assert self.process.poll() is None, "the server ended with %s: %s" % (self.process.returncode, self.log_text())
        status, answer = self.admin(timeout=10 * SLACK).request("GET", "/readyz")
        assert status == 200, answer


# ---- other clients ----


class Line:
    """One connection of the probe."""

    def __init__(self, port, first):
        self.s = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.due, self.sent, self.got = first, False, b""

    def send(self, request):
        self.s.sendall(request)
        self.sent = True

    def receive(self):
        """True when an answer is complete."""
        more = self.s.recv(1 << 16)
        if not more:
            raise OSError("closed by the server")
        self.got += more
        end = self.got.find(b"\r\n\r\n")
        if end < 0:
            return False
        length = [l for l in self.got[:end].lower().split(b"\r\n") if l.startswith(b"content-length:")]
        if len(self.got) < end + 4 + int(length[0].split(b":")[1]):
            return False
        if not self.got.startswith(b"HTTP/1.1 200"):
            raise OSError(self.got[:200].decode(errors="replace"))
        self.got, self.sent = b"", False
        return True


def probe(port, lines, interval):
    """The probe's process: prints one JSON object when its standard input is closed."""
    request = head_of("GET", "/api/v1/namespaces/default")
    chooser, latencies, failures = selectors.DefaultSelector(), [], []
    now = time.monotonic()
    open_lines = [Line(port, now + interval * i / lines) for i in range(lines)]
    for line in open_lines:
        chooser.register(line.s, selectors.EVENT_READ, line)
    chooser.register(sys.stdin, selectors.EVENT_READ, None)
    print("ready", flush=True)
    while not failures:
        now = time.monotonic()
        for line in open_lines:
            if not line.sent and line.due <= now:
                line.send(request)
        idle = [line.due for line in open_lines if not line.sent]
        events = chooser.select(max(0.0, min(idle, default=now + 1) - now))
        if any(key.data is None for key, _ in events):
            break
        for key, _ in events:
            try:
                if key.data.receive():
                    latencies.append(time.monotonic() - key.data.due)
                    key.data.due += interval
            except OSError as e:
                failures.append(str(e))
    now = time.monotonic()
    latencies += [now - line.due for line in open_lines if line.sent]  # What is still waiting counts too.
    latencies.sort()
    at = lambda share: latencies[min(len(latencies) - 1, int(len(latencies) * share))] if latencies else 0.0
    print(json.dumps({"n": len(latencies), "p50": at(0.5), "p99": at(0.99), "max": at(1.0), "failures": failures}))


class Measure:
    """Latency of other clients and memory of the target while a case runs."""

    def __init__(self, target, lines=8, interval=0.02):
        self.target = target
        self.before = self.peak = target.rss()
        self.cpu = target.cpu()
        self.began = time.monotonic()
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--probe", str(target.port), str(lines),
                                         str(interval)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == b"ready\n", "the probe did not start"
        self.over = threading.Event()
        self.sampler = threading.Thread(target=self._sample, daemon=True)
        self.sampler.start()

    def _sample(self):
        while not self.over.wait(0.02):
            try:
                self.peak = max(self.peak, self.target.rss())
            except OSError:
                return

    def end(self):
        """Stops measuring; the figures."""
        time.sleep(max(0.0, 0.3 - (time.monotonic() - self.began)))  # Enough samples for a percentile.
        self.over.set()
        self.sampler.join()
        out, _ = self.process.communicate(timeout=60)
        self.latency = json.loads(out)
        self.cpu = self.target.cpu() - self.cpu
        return self

    def row(self):
        l = self.latency
        return "p99 %6.1f ms  max %6.1f ms  RSS %4d → %4d MiB  cpu %5.2f s" % (
            l["p99"] * 1e3, l["max"] * 1e3, self.before / MIB, self.peak / MIB, self.cpu)


# ---- cases ----


class Case:
    def __init__(self, function, options):
        self.function = function
        self.name = function.__name__
        self.group = function.__module__.replace("attack_cases_", "")
        self.options = options

    def run(self):
        """Runs the case; returns its row of figures. A latency above the bound is measured again: a server that holds other clients up
        does so each time, a machine whose processors are taken by another guest does not."""
        for _ in range(TRIES - 1):
            try:
                return self._run_once()
            except TooSlow as why:
                print("%s: %s; measuring again" % (self.name, why), flush=True)
        return self._run_once()

    def _run_once(self):
        if self.options["alone"]:
            return self.function() or ""
        with Target(**self.options["target"]) as t:
            t.ready()
            measure = Measure(t)
            try:
                self.play(t)
            finally:
                measure.end()
            t.serves()
            self._hold(measure)
            return measure.row()

    def play(self, target):
        """Runs the function against the target, and removes what it made."""
        try:
            self.function(target)
        finally:
            if target.process.poll() is None:
                target.clean()

    def _hold(self, measure):
        latency, growth = measure.latency, measure.peak - measure.before
        assert not latency["failures"], "another client was refused: %s" % latency["failures"]
        if self.options["growth"] and not SANITIZED:
            assert growth < self.options["growth"] * ROOM, "memory grew by %.1f MiB" % (growth / MIB)
        if self.options["p99"] and latency["p99"] >= self.options["p99"] * SLACK:
            raise TooSlow("other clients' p99: %.1f ms" % (latency["p99"] * 1e3))


_cases = []


def attack(long=False, alone=False, target=None, p99=P99, growth=256 * MIB, mix=False):
    """Marks a case. long: only `make soak` runs it. alone: the case starts its own targets and takes no argument.
    target: arguments of Target. p99 (seconds) and growth (bytes): bounds; None: not held. mix: the case may run beside
    others against one target, again and again: it uses t.unique() for names and says what it t.made()."""

    def mark(function):
        options = {"long": long, "alone": alone, "target": target or {}, "p99": p99, "growth": growth, "mix": mix}
        _cases.append(Case(function, options))
        return function

    return mark


def load_cases():
    directory = os.path.join(HERE, "cases")
    for name in sorted(os.listdir(directory)):
        if name.endswith(".py"):
            spec = importlib.util.spec_from_file_location("attack_cases_" + name[:-3], os.path.join(directory, name))
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return _cases


def mixed_cases():
    return [case for case in _cases if case.options["mix"]]


def chosen(words):
    """Cases of a group, or whose names contain all the words."""
    for case in load_cases():
        if case.options["long"] and not SOAK:
            continue
        if all(word == case.group or word in case.name for word in words):
            yield case


def main(words):
    if not os.access(BINARY, os.X_OK):
        sys.exit("%s is not there: build it, or name another in KC" % BINARY)
    passed = failed = 0
    for case in chosen(words):
        start, outcome, row = time.monotonic(), "ok", ""
        print("running: %s %s" % (case.group, case.name), flush=True)  # scripts/failures names it if it does not end.
        random.seed(harness.SEED)
        try:
            row = case.run()
        except Skipped as why:
            outcome = "skipped (%s)" % why
        except Exception:
            traceback.print_exc(file=sys.stdout)
            outcome = "FAILED, KC_SEED=%d" % harness.SEED
            failed += 1
        passed += outcome == "ok"
        print("%-11s %-72s %s (%.1f s)  %s" % (case.group, case.name, outcome, time.monotonic() - start, row), flush=True)
        if outcome.startswith("FAILED"):
            print("    again: " + harness.replay("tests/attack/run", case.group, case.name), flush=True)
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__" and sys.argv[1:2] == ["--probe"]:
    probe(int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
