#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
watchers.py: many watchers, and slow ones.

An idle watcher may use a few kilobytes of memory and no CPU time: the test opens ten thousand, one
change must reach all of them, and the next ten thousand must reuse their memory.

Watchers that never read must not affect others: the server closes them once they lag too far
behind, watchers that read get every event soon, and the memory of the server stays within the
bounds of its queues.
"""
import resource
import select
import socket
import time

from harness import (CONFIGMAPS, LIMIT, Client, Server, Threads, Watch, bound, configmap, connect, head_of, holds,
                     long_test, run, test, version_of, wait_for)

NS = "default"
CROWD = 10000
MOST_BYTES = bound(16, 80) << 10  # Of memory for an idle watcher.
MEGABYTE = 1 << 20


def raise_limit(wanted):
    """As many open files as are allowed; how many watchers that allows."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard == resource.RLIM_INFINITY or hard >= wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


class Crowd:
    """Many watches on one thread."""

    def __init__(self, server, count, since):
        self.poll = select.epoll()
        self.sockets = {}
        request = head_of("GET", CONFIGMAPS % NS + "?watch=1&resourceVersion=%d" % since)
        for _ in range(count):
            s = connect(server)
            s.sendall(request)
            s.setblocking(False)
            self.sockets[s.fileno()] = s
            self.poll.register(s, select.EPOLLIN)

    def await_bytes(self, mark, timeout):
        """Waits until each has received `mark`; how long it took."""
        start = time.monotonic()
        waiting = dict.fromkeys(self.sockets, b"")
        while waiting:
            left = start + timeout - time.monotonic()
            assert left > 0, "%d of %d did not receive %s" % (len(waiting), len(self.sockets), mark)
            for fd, _ in self.poll.poll(left):
                got = self.sockets[fd].recv(1 << 16)
                assert got, "the server closed a watch"
                if fd in waiting:
                    waiting[fd] += got
                    if mark in waiting[fd]:
                        del waiting[fd]
        return time.monotonic() - start

    def close(self):
        for s in self.sockets.values():
            # Without the wait of a proper goodbye: thousands of those would use up the ports.
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            s.close()
        self.poll.close()


def settled(server):
    """The memory once it no longer changes."""
    last, same = server.rss(), 0
    while same < 5:
        time.sleep(0.05)
        now = server.rss()
        same, last = (same + 1, now) if abs(now - last) < 65536 else (0, now)
    return last


def open_crowd(server, count, since):
    crowd = Crowd(server, count, since)
    crowd.await_bytes(b"\r\n\r\n", bound(60, 300))
    return crowd


@test
def ten_thousand_idle_watchers_use_little_memory_and_get_every_event():
    count = min(CROWD, raise_limit(CROWD + 1000) - 500)
    with Server() as server:
        server.start()
        client = Client(server)
        status, item = client.request("POST", CONFIGMAPS % NS, configmap(NS, "news", "none"))
        assert status == 201, item
        crowd = open_crowd(server, 100, version_of(item))
        crowd.close()
        empty = settled(server)
        crowd = open_crowd(server, count, version_of(item))
        full = settled(server)
        each = (full - empty) / count
        status, item = client.request("PUT", CONFIGMAPS % NS + "/news", configmap(NS, "news", "extra"))
        assert status == 200, item
        took = crowd.await_bytes(b'"extra"', bound(20, LIMIT))
        assert client.request("GET", "/readyz")[0] == 200
        told = settled(server)
        crowd.close()
        crowd = open_crowd(server, count, version_of(item))
        again = settled(server)
        crowd.close()
        after = settled(server)
        print("%d watchers: %.1f KiB each, all told in %.2f s; MiB: %.1f without, %.1f with, %.1f told, "
              "%.1f the next as many, %.1f after" % (count, each / 1024, took, empty / MEGABYTE, full / MEGABYTE, told / MEGABYTE,
                                    again / MEGABYTE, after / MEGABYTE))
        holds(each, MOST_BYTES, "each watcher")
        holds(again, max(full, told) * bound(1.1, 1.7), "with the next as many")


# ---- slow ones ----


def ignoring(server, since):
    """A watch that asks and never reads."""
    s = connect(server, receive_buffer=4096)
    s.sendall(head_of("GET", CONFIGMAPS % NS + "?watch=1&resourceVersion=%d" % since))
    return s


class Reading:
    """A watch that reads everything, and how late it was."""

    def __init__(self, server, since):
        self.watch = Watch(server, CONFIGMAPS % NS, since)
        self.seen, self.latest = [], 0.0

    def read_to(self, last):
        for event in self.watch:
            number, sent = event["object"]["data"]["value"].split("@")
            self.seen.append(int(number))
            self.latest = max(self.latest, time.monotonic() - float(sent))
            if self.seen[-1] == last:
                self.watch.close()
                return


def flow(server, count, size, rate):
    """Events of a size, so many bytes a second; the highest memory on the way."""
    client, padding, highest = Client(server), "x" * size, 0
    start = time.monotonic()
    for n in range(count):
        time.sleep(max(0.0, start + n * size / rate - time.monotonic()))
        item = configmap(NS, "stream-%d" % (n % 4), "%d@%f" % (n, time.monotonic()), padding=padding)
        if n < 4:
            status, answer = client.request("POST", CONFIGMAPS % NS, item)
        else:
            status, answer = client.request("PUT", CONFIGMAPS % NS + "/stream-%d" % (n % 4), item)
        assert status in (200, 201), answer
        highest = max(highest, server.rss())
    return highest


def slow_watchers(count, size, rate, timeout):
    with Server() as server:
        server.start()
        status, answer = Client(server).request("GET", CONFIGMAPS % NS)
        since = version_of(answer)
        first = server.connections()
        slow = [ignoring(server, since) for _ in range(50)]
        readers = [Reading(server, since) for _ in range(10)]
        threads = Threads()
        for reader in readers:
            threads.go(reader.read_to, count - 1)
        before = server.rss()
        highest = flow(server, count, size, rate)
        threads.join()
        if timeout:
            wait_for(lambda: server.connections() <= first, timeout, "the slow ones are closed")
        for one in slow:
            one.close()
        late = max(r.latest for r in readers)
        print("%.0f MB of events: readers at most %.2f s late, memory grew by %.0f MiB"
              % (count * size / 1e6, late, (highest - before) / MEGABYTE))
        for reader in readers:
            assert reader.seen == list(range(count)), "a reader missed something"
        assert late < bound(2.0, 20.0), "a reader got an event after %.1f s" % late
        # The ring of recent events (128 MiB), a few objects, and what stands in buffers of sockets. What 50
        # watchers do not read is 2 GB.
        holds(highest - before, bound(200, 500) * MEGABYTE, "growth")
        assert Client(server).request("GET", "/readyz")[0] == 200


@test
def watchers_that_never_read_do_not_delay_others_or_grow_memory():
    slow_watchers(count=400, size=100000, rate=10e6, timeout=0)


@long_test
def watchers_that_never_read_are_closed_under_load():
    slow_watchers(count=6000, size=10000, rate=1e6, timeout=45)


run()
