#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
rolling.py: three servers on one etcd behind a balancer, restarted in turn, and clients that never
retry: no request may fail, and no watch may lose or repeat an event.

The balancer passes bytes, and sends new connections to servers whose /readyz answers 200. It asks
every 100 ms, so the servers' --shutdown-delay-duration of 2 s is long enough for it to notice.

A client opens another connection when the server has said so (Connection: close, GOAWAY), and a
watch goes on from its last resourceVersion when the server has ended it. Everything else counts as
a failure. HTTP/2 is spoken by rolling_h2.js.
"""
import json
import os
import select
import shutil
import socket
import subprocess
import threading
import time
from contextlib import ExitStack

from etcd import SharedEtcd
from harness import (CONFIGMAPS, LIMIT, SOAK, TOKEN, Broken, Client, Server, Skipped, Threads, Watch, bound, configmap,
                     make_namespace, run, test, version_of, wait_for)

SERVERS = 3
DELAY = bound("2s", "5s")  # Servers that stop are noticed in this time.
HEALTH_INTERVAL = 0.1
ROUNDS = 3 if SOAK else 1


class Balancer:
    """Passes connections on to servers that are ready, in turn."""

    def __init__(self, servers):
        self.servers = servers
        self.ready = set()
        self.turn = 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        self.stopped = threading.Event()
        self.refused = 0
        for function in (self.check, self.accept):
            threading.Thread(target=function, daemon=True).start()

    def is_ready(self, server):
        try:
            client = Client(server, timeout=bound(2, 10))
            status, _ = client.request("GET", "/readyz")
            client.close()
            return status == 200
        except (OSError, Broken):
            return False

    def check(self):
        while not self.stopped.is_set():
            self.ready = {s for s in self.servers if self.is_ready(s)}
            time.sleep(HEALTH_INTERVAL)

    def accept(self):
        while not self.stopped.is_set():
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def choose(self):
        self.turn += 1
        ready = [s for s in self.servers if s in self.ready]
        return ready[self.turn % len(ready)] if ready else None

    def serve(self, client):
        server = self.choose()
        try:
            backend = socket.create_connection(("127.0.0.1", server.port), timeout=5)
        except (OSError, AttributeError):
            self.refused += 1
            client.close()
            return
        for s in (client, backend):
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            s.settimeout(None)
        self.pump(client, backend)

    @staticmethod
    def pump(client, backend):
        """Until both sides have ended."""
        other = {client: backend, backend: client}
        open_sides = {client, backend}
        try:
            while open_sides:
                for s in select.select(list(open_sides), [], [])[0]:
                    data = s.recv(1 << 16)
                    if data:
                        other[s].sendall(data)
                    else:
                        open_sides.discard(s)
                        other[s].shutdown(socket.SHUT_WR)
        except OSError:
            pass
        finally:
            client.close()
            backend.close()

    def stop(self):
        self.stopped.set()
        self.listener.close()


class Work:
    """Clients that work until they are stopped; what they wrote, and what a watch saw."""

    def __init__(self, balancer, ns):
        self.balancer, self.ns = balancer, ns
        self.stopped, self.ended = threading.Event(), threading.Event()  # The clients; the watch, too.
        self.lock = threading.Lock()
        self.failures, self.written, self.seen = [], [], []
        self.count = 0
        self.watches = 0

    def fail(self, what):
        with self.lock:
            self.failures.append("%.3f %s" % (time.monotonic(), what))

    def wrote(self, item):
        with self.lock:
            self.written.append(version_of(item))

    def step(self, client, method, path, body=None, expect=200):
        """Returns the answer, or None after a failure."""
        try:
            status, answer = client.request(method, path, body)
        except (OSError, Broken) as e:
            self.fail("%s %s: %r" % (method, path, e))
            return None
        with self.lock:
            self.count += 1
        if status != expect:
            self.fail("%s %s: %d %s" % (method, path, status, str(answer)[:300]))
            return None
        return answer

    def client(self, number):
        """POST, GET, PUT, LIST, over a connection that is kept."""
        path, i = CONFIGMAPS % self.ns, 0
        client = Client(self.balancer)
        while not self.stopped.is_set():
            name = "h1-%d-%d" % (number, i)
            made = self.step(client, "POST", path, configmap(self.ns, name, "1"), 201)
            if made:
                self.wrote(made)
                self.step(client, "GET", path + "/" + name)
                changed = self.step(client, "PUT", path + "/" + name,
                                    configmap(self.ns, name, "2", version_of(made)))
                if changed:
                    self.wrote(changed)
            self.step(client, "GET", path + "?limit=5")
            i += 1
            time.sleep(0.002)

    def watch(self, since):
        """Follows the namespace; goes on where the server has ended the watch."""
        while True:
            try:
                watch = Watch(self.balancer, CONFIGMAPS % self.ns, since, "&allowWatchBookmarks=true")
                if watch.status != 200:
                    self.fail("watch from %s: %s" % (since, watch.failure))
                    return
                self.watches += 1
                for event in watch:
                    if event["type"] == "ERROR":
                        self.fail("watch from %s: %s" % (since, event["object"]))
                        return
                    since = version_of(event["object"])
                    if event["type"] != "BOOKMARK":
                        self.seen.append(since)
                    if self.ended.is_set() and self.is_complete():
                        return
            except (OSError, Broken) as e:
                self.fail("watch from %s: %r" % (since, e))
                return

    def is_complete(self):
        with self.lock:
            return self.seen and self.written and self.seen[-1] >= max(self.written)


def h2_client(balancer, ns):
    if not shutil.which("node"):
        raise Skipped("there is no node")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rolling_h2.js")
    return subprocess.Popen(["node", script, str(balancer.port), TOKEN, ns], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE)


def restart_all(servers, balancer):
    for server in servers:
        code = server.stop()
        assert code == 0, "the server ended with %d: %s" % (code, server.log_text())
        server.start()
        wait_for(lambda: len(balancer.ready) == len(servers), 30, "the balancer sees all servers")


def servers_on(etcd, stack):
    flags = etcd.flags() + ["--shutdown-delay-duration", DELAY]
    servers = [stack.enter_context(Server(flags=flags)) for _ in range(SERVERS)]
    etcd.share_keys(*servers)
    for server in servers:
        server.start()
    return servers


@test
def rolling_restart_of_three_servers_fails_no_request_and_loses_no_event():
    with ExitStack() as stack:
        etcd = stack.enter_context(SharedEtcd())
        servers = servers_on(etcd, stack)
        make_namespace(servers[0], "h1")
        make_namespace(servers[0], "h2")
        balancer = Balancer(servers)
        wait_for(lambda: len(balancer.ready) == SERVERS, 30, "the balancer sees all servers")
        work, threads, watches = Work(balancer, "h1"), Threads(), Threads()
        _, listed = Client(servers[0]).request("GET", CONFIGMAPS % "h1")
        watches.go(work.watch, version_of(listed))
        for number in range(4):
            threads.go(work.client, number)
        h2 = h2_client(balancer, "h2")
        time.sleep(1)
        for _ in range(ROUNDS):
            restart_all(servers, balancer)
        time.sleep(1)
        work.stopped.set()
        result = json.loads(h2.communicate(b"stop\n", timeout=60)[0])
        threads.join()
        work.ended.set()
        # One more write, so that the watch has an event to end with.
        status, last = Client(servers[0]).request("POST", CONFIGMAPS % "h1", configmap("h1", "last", "1"))
        assert status == 201, last
        work.wrote(last)
        watches.join()
        balancer.stop()
        print("h1: %d requests, %d watches, %d events; h2: %d requests (%d unsent), %d sessions, %d watches, %d events" % (
            work.count, work.watches, len(work.seen), result["requests"], result["unsent"], result["sessions"], result["watches"],
            len(result["seen"])))
        assert not work.failures, "\n".join(work.failures[:20])
        assert not result["failures"], "\n".join(result["failures"][:20])
        assert balancer.refused == 0, "no server was there for %d connections" % balancer.refused
        lost = sorted(set(work.written) ^ set(work.seen))
        assert work.seen == sorted(work.written), "the watch lost or repeated events: %s" % lost[:10]
        assert result["seen"] == sorted(result["written"]), "the watch over HTTP/2 lost or repeated events"
        assert work.watches > 1 and result["watches"] > 1, "no watch was ended"


@test
def server_that_stops_fails_readiness_first_and_serves_meanwhile():
    with ExitStack() as stack:
        etcd = stack.enter_context(SharedEtcd())
        flags = etcd.flags() + ["--shutdown-delay-duration", bound("2s", "20s")]
        server = stack.enter_context(Server(flags=flags))
        etcd.share_keys(server)
        server.start()
        client = Client(server)
        status, _ = client.request("GET", "/readyz")
        assert status == 200
        stopping = Threads()
        stopping.go(lambda: server.stop())
        wait_for(lambda: Client(server).request("GET", "/readyz")[0] == 500, LIMIT, "/readyz fails")
        assert Client(server).request("GET", "/livez")[0] == 200
        status, made = Client(server).request("POST", CONFIGMAPS % "default", configmap("default", "late", "1"))
        assert status == 201, made
        stopping.join()
        server.process = None


if __name__ == "__main__":
    run()
