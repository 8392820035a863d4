#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
etcd_faults.py: three API servers on three members of etcd, while processes die or stop, paths go
dead, history is compacted, disks fill, clocks jump and leases end.

Clients at every server work on the same few objects, watchers resume at any server, pagers list in
pages. Whatever happens, the history of each object must be linearizable, watchers must see every
event once and in order (or get 410 and list again), and lists must be states of one revision. At
the end every server, and etcd itself, must have the same objects.

A fault is a function that does it, holds it for some seconds and repairs it; FAULTS lists them. The
test prints for how long clients of the servers that were not hit themselves had no answer: reads and
writes. The short version has one seed and three faults, the long one ten seeds and all of them.
KC_FAULTS=leader_paused,clock_jumps chooses.
"""
import mmap
import os
import random
import struct
import tempfile
import threading
import time

from etcd_clients import NS, Flag, Follower, Pager, Worker, check
from etcd_cluster import SIZE, Cluster
from etcd_values import config_map_data
from history import Call
from harness import (CONFIGMAPS, SEED, SOAK, Client, Server, Threads, built, configmap, long_test, run, test,
                     version_of, wait_for)

HOLD = 3.0
CALM = 1.5  # Between two faults, at least.
CLIENTS = 3  # At each server.


# ---- the faults ----


def leader_killed(c):
    member = c.leader()
    c.member_kill(member)
    time.sleep(HOLD)
    c.member_start(member)


def follower_killed(c):
    member = c.follower(random.randrange(2))
    c.member_kill(member)
    time.sleep(HOLD)
    c.member_start(member)


def leader_paused(c):
    paused(c, "m%d" % c.leader())


def follower_paused(c):
    paused(c, "m%d" % c.follower(random.randrange(2)))


def paused(c, name):
    c.pause(name)
    time.sleep(HOLD + random.random() * HOLD)
    c.resume(name)


def server_killed(c):
    number = random.randrange(SIZE)
    c.servers[number].kill()
    time.sleep(HOLD / 3)
    c.servers[number].start(60)
    return number


def server_paused(c):
    number = random.randrange(SIZE)
    paused(c, "s%d" % number)
    return number


def endpoint_frozen(c):
    """One server gets no answer of one member, not even an error."""
    server, member = random.randrange(SIZE), random.randrange(SIZE)
    c.path(server, member, "freeze")
    time.sleep(2 * HOLD)
    c.path(server, member, "forward")


def endpoint_refused(c):
    server, member = random.randrange(SIZE), random.randrange(SIZE)
    c.path(server, member, "refuse")
    time.sleep(HOLD)
    c.path(server, member, "forward")


def server_isolated(c):
    """One server reaches no member; the others go on."""
    server, mode = random.randrange(SIZE), random.choice(("freeze", "refuse"))
    c.path(server, None, mode)
    time.sleep(HOLD)
    c.path(server, None, "forward")
    return server


def server_isolated_beyond_compaction(c):
    """History that a server has not read is dropped: it lists everything again."""
    server = random.randrange(SIZE)
    c.path(server, None, "refuse")
    time.sleep(HOLD / 2)
    c.compact()
    time.sleep(HOLD / 2)
    c.path(server, None, "forward")
    return server


def history_compacted(c):
    for _ in range(6):
        c.compact()
        time.sleep(HOLD / 6)


def clock_jumps(c):
    """The wall clock of the servers is set: a day on, a day back, and right again."""
    for seconds in (86400, -86400, 0):
        c.clock.set(seconds)
        time.sleep(HOLD / 3)


def leases_revoked(c):
    """Leases that the servers still use end early."""
    for _ in range(3):
        c.revoke_leases()
        time.sleep(HOLD / 3)


FAULTS = [leader_killed, follower_killed, leader_paused, follower_paused, server_killed, server_paused,
          endpoint_frozen, endpoint_refused, server_isolated, server_isolated_beyond_compaction,
          history_compacted, clock_jumps, leases_revoked]
SHORT = [leader_killed, endpoint_frozen, server_isolated_beyond_compaction]


# ---- a run ----


class Clock:
    """The offset of the servers' wall clock, which tests/system/clock.c reads."""

    def __init__(self):
        handle, self.path = tempfile.mkstemp(prefix="kc-clock-")
        os.write(handle, struct.pack("q", 0))
        self.block = mmap.mmap(handle, 8)
        os.close(handle)

    def set(self, seconds):
        self.block[:] = struct.pack("q", seconds)

    def discard(self):
        self.block.close()
        os.unlink(self.path)


class Events:
    """Creates Events at all servers: their leases are what leases_revoked ends. None may be refused while
    no other fault is at work."""

    def __init__(self, servers):
        self.servers, self.made, self.refused = servers, 0, []

    def work(self, stop):
        while not stop.is_set():
            time.sleep(0.1)
            for server in self.servers:
                body = {"kind": "Event", "apiVersion": "v1", "reason": "Test",
                        "metadata": {"name": "event-%d" % self.made, "namespace": NS},
                        "involvedObject": {"kind": "ConfigMap", "namespace": NS, "name": "a"}}
                try:
                    status, answer = Client(server, timeout=12.0).request("POST", "/api/v1/namespaces/%s/events" % NS, body)
                except Exception as e:
                    status, answer = 0, str(e)
                self.made += 1
                if status != 201:
                    self.refused.append((time.monotonic(), status, str(answer)[:200]))


def longest_gap(workers, writes, begin, end):
    """The longest time without a good answer of one server, which overlaps begin to end."""
    times = sorted(t / 1e9 for w in workers for t in w.good[writes])
    gaps = [b - a for a, b in zip(times, times[1:]) if b >= begin and a <= end]
    return max(gaps, default=0.0)


class Run:
    def __init__(self, cluster, seed, names=8):
        self.cluster, self.stop, self.goal = cluster, threading.Event(), Flag()
        self.names = ["reg-%d" % i for i in range(names)]
        servers = cluster.servers
        self.empty_at = version_of(Client(servers[0]).request("GET", CONFIGMAPS % NS)[1])
        self.workers = [Worker(servers[n % SIZE], n, self.names, seed * 1000 + n) for n in range(SIZE * CLIENTS)]
        self.followers = [Follower(servers, seed * 1000 + 100 + n) for n in range(4)]
        self.pagers = [Pager(servers, seed * 1000 + 200 + n) for n in range(2)]
        self.events = Events(servers)
        self.threads = Threads()
        self.windows = []

    def start(self):
        for follower in self.followers:
            follower.list()
        for client in self.workers + self.pagers + [self.events]:
            self.threads.go(client.work, self.stop)
        for follower in self.followers:
            self.threads.go(follower.follow, self.goal)

    def fault(self, function):
        begin = time.monotonic()
        hit = function(self.cluster)
        self.cluster.healthy()
        self.await_servers()
        self.windows.append((function.__name__, begin, time.monotonic(), hit))
        time.sleep(CALM)

    def await_servers(self):
        """Until each server has answered a read and a write again."""
        now = time.monotonic()
        for number in range(SIZE):
            mine = self.workers[number::SIZE]
            wait_for(lambda: all(any(w.good[kind] and w.good[kind][-1] / 1e9 > now for w in mine) for kind in (True, False)),
                     60, "server %d answers again" % number)

    def finish(self):
        """Ends the clients; all servers must show the same objects as etcd."""
        self.stop.set()
        time.sleep(0.5)
        status, marker = Client(self.cluster.servers[0]).request("POST", CONFIGMAPS % NS, configmap(NS, "end", "end"))
        assert status == 201, marker
        self.goal.value = version_of(marker)
        self.threads.join(90)
        stored = {key.rsplit("/", 1)[1]: (config_map_data(value)["value"], version)
                  for key, (value, version) in self.cluster.values("/registry/configmaps/%s/" % NS).items()}
        for server in self.cluster.servers:
            status, answer = Client(server).request("GET", CONFIGMAPS % NS)
            found = {i["metadata"]["name"]: (i["data"]["value"], version_of(i)) for i in answer["items"]}
            assert found == stored, "%s instead of %s" % (found, stored)
        for follower in self.followers:
            assert follower.segments[-1].state == stored, "a watcher ended with another state"
        self.final_reads(stored)
        return check(self.workers, self.followers, self.pagers, self.empty_at)

    def final_reads(self, stored):
        """What was acknowledged last is what is there at the end: the last call of each history."""
        now = time.monotonic_ns()
        for name in self.names:
            value, version = stored.get(name, (None, None))
            self.workers[0].note(name, Call(now, now + 1, "get", None, None, "ok" if value else "missing", value, version))

    def gaps(self):
        """For each fault: how long the servers that were not hit had no good answer."""
        for name, begin, end, hit in self.windows:
            others = [n for n in range(SIZE) if n != hit]
            reads, writes = (max(longest_gap(self.workers[n::SIZE], kind, begin, end) for n in others) for kind in (False, True))
            yield name, reads, writes


def play(faults, seed, least=0):
    """One cluster, these faults in turn, and at least so many operations."""
    random.seed(seed)
    clock = Clock()
    try:
        with Cluster(preload=built("clock"), environment={"KC_CLOCK_OFFSET": clock.path}) as cluster:
            cluster.clock = clock
            round_ = Run(cluster, seed)
            round_.start()
            time.sleep(CALM)
            for fault in faults:
                round_.fault(fault)
            while sum(len(w.good[k]) for w in round_.workers for k in w.good) < least:
                time.sleep(0.5)
            figures = round_.finish()
            return figures, list(round_.gaps()), round_
    finally:
        clock.discard()


def report(seed, figures, gaps, round_):
    print("seed %d: %s" % (seed, ", ".join("%d %s" % (n, what) for what, n in figures.items())))
    failures = {}
    for worker in round_.workers:
        for what, n in worker.failures.items():
            failures[what] = failures.get(what, 0) + n
    print("  failures: %s; events: %d, refused %d" % (failures, round_.events.made, len(round_.events.refused)))
    for name, reads, writes in gaps:
        print("  %-36s longest without an answer: reads %.1f s, writes %.1f s" % (name, reads, writes), flush=True)


@test
def clients_see_one_history_while_members_servers_and_paths_fail():
    seeds = [SEED + n for n in range(10)] if SOAK else [SEED]
    chosen = [f for f in FAULTS if f.__name__ in os.environ.get("KC_FAULTS", "").split(",")]
    for seed in seeds:
        faults = chosen or (random.Random(seed).sample(FAULTS, len(FAULTS)) if SOAK else SHORT)
        report(seed, *play(faults, seed, 10000 if SOAK else 0))


if __name__ == "__main__":
    run()
