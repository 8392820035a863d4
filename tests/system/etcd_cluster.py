# SPDX-License-Identifier: Apache-2.0
"""
etcd_cluster.py: three members of etcd and three API servers on loopback, with a proxy between each
server and each member.

    with Cluster() as cluster:
        cluster.servers[0].port
        cluster.leader()                      # the index of a member
        cluster.member_kill(1); cluster.member_start(1)
        cluster.path(0, 1, "freeze")          # server 0 gets no answer of member 1

Members are asked over the JSON gateway of etcd (`ask`), past the proxies.
"""
import base64
import json
import os
import signal
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from etcd_proxy import Proxies
from harness import ROOT, Etcd, Server, Skipped, wait_for

SIZE = 3


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def share_keys(servers, directory):
    """Gives servers on one etcd the same authorities and keys."""
    Etcd(directory).make_keys(directory)
    for server in servers:
        shutil.copytree(os.path.join(directory, "certs"), os.path.join(server.directory, "certs"))


class Cluster:
    """`member_flags`, `server_flags`: further ones; `environment`: of the servers; `disk(i)`: the
    directory of a member's data, or None: for one that has a file system of its own."""

    def __init__(self, member_flags=(), server_flags=(), preload=None, environment=None, disk=None):
        if not shutil.which("etcd"):
            raise Skipped("there is no etcd")
        self.directory = tempfile.mkdtemp(prefix="kc-etcd-")
        self.member_flags = list(member_flags)
        self.members = [Etcd(disk and disk(i) or os.path.join(self.directory, "m%d" % i)) for i in range(SIZE)]
        self.stopped = set()  # Processes that SIGSTOP has stopped.
        self._choose_ports()
        self.proxies = Proxies([self.ports[m] for _ in range(SIZE) for m in range(SIZE)])
        self.servers = [self._server(i, server_flags, preload, environment) for i in range(SIZE)]
        share_keys(self.servers, self.directory)

    def _choose_ports(self):
        numbers = subprocess.run([os.path.join(ROOT, "tests/e2e/free-ports"), str(2 * SIZE)], check=True,
                                 capture_output=True, text=True).stdout.split()
        self.ports = [int(n) for n in numbers[:SIZE]]
        for member, client, peer in zip(self.members, numbers[:SIZE], numbers[SIZE:]):
            os.makedirs(member.directory, exist_ok=True)
            for name, port in (("url", client), ("peer", peer)):
                with open(os.path.join(member.directory, name), "w") as f:
                    f.write("http://127.0.0.1:%s\n" % port)
        self.peers = ",".join("m%d=http://127.0.0.1:%s" % (i, p) for i, p in enumerate(numbers[SIZE:]))

    def _server(self, i, flags, preload, environment):
        urls = ",".join("http://127.0.0.1:%d" % self.proxies.ports[i * SIZE + m] for m in range(SIZE))
        return Server(preload=preload, environment=environment,
                      flags=["--backend", "etcd", "--etcd-servers", urls] + list(flags))

    def __enter__(self):
        try:
            starts = [self._spawn(i) for i in range(SIZE)]
            assert all(s.wait() == 0 for s in starts), "etcd did not start"
            for server in self.servers:
                server.start(90)
        except BaseException:
            self.discard()
            raise
        return self

    def __exit__(self, kind, value, trace):
        try:
            self.resume_all()
            for server in self.servers:
                if not kind and server.process.poll() is None:
                    code = server.stop(60)
                    assert code == 0, "stopped, a server ended with %d: %s" % (code, server.log_text())
        finally:
            for i, server in enumerate(self.servers):
                if kind and os.path.exists(server.directory + ".log"):
                    print("log of server %d: %s" % (i, server.log_text()))
            self.discard()

    def discard(self):
        self.resume_all()
        for server in self.servers:
            server.discard()
        self.proxies.stop()
        for member in self.members:
            member.discard()
        shutil.rmtree(self.directory, ignore_errors=True)

    # ---- members ----

    def _spawn(self, i):
        flags = ["--name", "m%d" % i, "--initial-cluster", self.peers, "--initial-cluster-token", self.directory]
        return subprocess.Popen([Etcd.PROGRAM, "start", self.members[i].directory] + flags + self.member_flags,
                                stdout=subprocess.DEVNULL)

    def member_start(self, i):
        assert self._spawn(i).wait() == 0, "member %d of etcd did not start" % i

    def member_kill(self, i):
        self.members[i].stop()

    def ask(self, i, path, body=None, timeout=5.0):
        """A request to a member over its gateway; None if it does not answer."""
        url = "http://127.0.0.1:%d/v3/%s" % (self.ports[i], path)
        try:
            with urllib.request.urlopen(url, json.dumps(body or {}).encode(), timeout=timeout) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as e:
            return json.load(e)
        except OSError:
            return None

    def ask_any(self, path, body=None, timeout=10.0):
        for i in range(SIZE):
            answer = self.ask(i, path, body, timeout) if self.pid_of("m%d" % i) not in self.stopped else None
            if answer is not None and "error" not in answer:
                return answer
        raise AssertionError("no member of etcd answers %s" % path)

    def leader(self):
        """The index of the member that leads."""
        until = time.monotonic() + 30
        while time.monotonic() < until:
            for i in range(SIZE):
                status = self.ask(i, "maintenance/status", timeout=1.0)
                if status and status.get("leader") == status["header"]["member_id"]:
                    return i
            time.sleep(0.1)
        raise AssertionError("etcd has no leader")

    def follower(self, n=0):
        """One of the others."""
        return [i for i in range(SIZE) if i != self.leader()][n % (SIZE - 1)]

    def revision(self):
        return int(self.ask_any("kv/range", {"key": encoded("x")})["header"]["revision"])

    def values(self, prefix):
        """Key to (value, revision) of everything below a prefix. Values are bytes."""
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        found = self.ask_any("kv/range", {"key": encoded(prefix), "range_end": encoded(end)}).get("kvs", [])
        return {base64.b64decode(kv["key"]).decode(): (base64.b64decode(kv["value"]), int(kv["mod_revision"])) for kv in found}

    def compact(self):
        revision = self.revision()
        self.ask_any("kv/compaction", {"revision": str(revision)})
        return revision

    def revoke_leases(self):
        leases = self.ask_any("lease/leases").get("leases", [])
        for lease in leases:
            self.ask_any("lease/revoke", {"ID": lease["ID"]})
        return len(leases)

    # ---- processes and paths ----

    def pid_of(self, name):
        """Of `m0` (a member) or `s0` (a server); 0 if it does not run."""
        index = int(name[1:])
        try:
            return self.members[index].pid() if name[0] == "m" else self.servers[index].process.pid
        except FileNotFoundError:
            return 0

    def pause(self, name):
        self.stopped.add(self.pid_of(name))
        os.kill(self.pid_of(name), signal.SIGSTOP)

    def resume(self, name):
        self.stopped.discard(self.pid_of(name))
        os.kill(self.pid_of(name), signal.SIGCONT)

    def resume_all(self):
        for pid in list(self.stopped):
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass
            self.stopped.discard(pid)

    def path(self, server, member, mode):
        """What the proxy between them does; member None: all of the server's."""
        for m in range(SIZE) if member is None else [member]:
            self.proxies.set(server * SIZE + m, mode)

    def healthy(self, timeout=60.0):
        """Waits until all members answer."""
        wait_for(lambda: all((self.ask(i, "maintenance/status", timeout=1.0) or {}).get("leader", "0") != "0"
                             for i in range(SIZE)), timeout, "all members of etcd answer")
