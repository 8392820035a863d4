#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
abuse.py: clients that mean harm, or are just broken, over real sockets.

Each test keeps an honest client at work beside the bad ones and holds its slowest answer to a bound;
the server's memory must come back or stay where it was, and it must be ready at the end.
"""
import os
import random
import socket
import struct
import threading
import time

from harness import (CONFIGMAPS, LIMIT, SOAK, TOKEN, Client, Server, Threads, bound, configmap, connect, head_of, holds, long_test,
                     run, test, wait_for)

NS = "default"
MEGABYTE = 1 << 20
SLOWEST = bound(2.0, 20.0)  # Answer to an honest client.
REFUSALS = (b"HTTP/1.1 400", b"HTTP/1.1 501", b"HTTP/1.1 505")


class Honest:
    """A client that goes on with its work; its slowest answer."""

    def __init__(self, server):
        self.server = server
        self.stop = threading.Event()
        self.threads = Threads()
        self.count, self.slowest = 0, 0.0

    def work(self):
        client = Client(self.server)
        while not self.stop.is_set():
            start = time.monotonic()
            status, answer = client.request("GET", "/api/v1/namespaces/default")
            assert status == 200, answer
            self.slowest = max(self.slowest, time.monotonic() - start)
            self.count += 1
            time.sleep(0.002)

    def __enter__(self):
        self.threads.go(self.work)
        return self

    def __exit__(self, kind, *_):
        if not kind:
            wait_for(lambda: self.count > 10 or self.threads.failures, 20, "an honest client is served")
        self.stop.set()
        if not kind:
            self.threads.join()
            assert self.slowest < SLOWEST, "an honest client waited %.1f s" % self.slowest


def closed(s):
    """Whether the server has closed the connection; what it said before is read and dropped."""
    s.setblocking(False)
    try:
        while s.recv(1 << 16):
            pass
        return True
    except BlockingIOError:
        return False
    except OSError:
        return True


def trickle(sockets, pieces, every, timeout):
    """Sends each socket a byte now and then until all are closed; how long the last one lived."""
    start = time.monotonic()
    alive, at = list(sockets), 0
    while alive and time.monotonic() < start + timeout:
        for s in alive:
            try:
                s.send(pieces[at % len(pieces):at % len(pieces) + 1])
            except OSError:
                pass
        at += 1
        time.sleep(every)
        alive = [s for s in alive if not closed(s)]
    return len(alive), time.monotonic() - start


def slow_heads(count, timeout):
    with Server() as server:
        server.start()
        with Honest(server) as honest:
            sockets = [connect(server) for _ in range(count)]
            for s in sockets:
                s.sendall(head_of("GET", "/api")[:-2] + b"X-Slow: ")
            alive, took = trickle(sockets, b"abcdefgh", 0.2, timeout)
        print("%d slow heads, %d still open after %.0f s; beside them %d answers, the slowest after %.0f ms"
              % (count, alive, took, honest.count, honest.slowest * 1e3))
        for s in sockets:
            s.close()
        return alive


@test
def slow_heads_of_500_clients_do_not_delay_others():
    slow_heads(500, 2)


@long_test
def slow_heads_are_closed_at_the_head_timeout():
    assert slow_heads(500, 45) == 0


@long_test
def slow_bodies_are_closed_at_the_body_timeout():
    with Server() as server:
        server.start()
        with Honest(server):
            sockets = [connect(server) for _ in range(200)]
            for s in sockets:
                s.sendall(head_of("POST", "/api/v1/namespaces", bytes(100000)) + b"{")
            alive, took = trickle(sockets, b" ", 0.5, 80)
        assert alive == 0, "%d of 200 still open after %.0f s" % (alive, took)


@test
def many_requests_on_one_connection_leak_no_memory():
    count, batch = 100000, 50
    with Server() as server:
        server.start()
        client = Client(server)
        assert client.request("POST", CONFIGMAPS % NS, configmap(NS, "one", "x" * 1000))[0] == 201
        pipeline(server, 10000, batch)
        before = server.rss()
        start = time.monotonic()
        pipeline(server, count, batch)
        took, grown = time.monotonic() - start, server.rss() - before
        print("%d requests on one connection in %.1f s, memory %+.2f MiB" % (count, took, grown / MEGABYTE))
        holds(grown, bound(2, 20) * MEGABYTE, "growth")


def pipeline(server, count, batch):
    """Requests one after the other on one connection, some sent ahead of their answers."""
    s = connect(server)
    request = head_of("GET", CONFIGMAPS % NS + "/one") * batch
    mark, rest, answers = b"HTTP/1.1 200 OK\r\n", b"", 0
    for n in range(count // batch):
        s.sendall(request)
        while answers < (n + 1) * batch:
            got = s.recv(1 << 18)
            assert got, "closed after %d answers" % answers
            text = rest + got
            answers += text.count(mark)
            rest = text[-len(mark) + 1:]  # A mark that is cut in two counts when its end has come.
    s.close()


@test
def repeated_writes_and_deletes_leak_no_memory():
    with Server() as server:
        server.start()

        def churn(rounds, number):
            client = Client(server)
            for n in range(rounds):
                name = "churn-%d-%d" % (number, n % 7)
                assert client.request("POST", CONFIGMAPS % NS, configmap(NS, name, "v"))[0] == 201
                assert client.request("PUT", CONFIGMAPS % NS + "/" + name, {"kind": "nonsense"})[0] == 400
                assert client.request("DELETE", CONFIGMAPS % NS + "/" + name)[0] == 200

        def churns(rounds):
            threads = Threads()
            for number in range(4):
                threads.go(churn, rounds, number)
            threads.join()

        churns(60)
        before = server.rss()
        rounds = 3000 if SOAK else 100
        churns(rounds)
        # Events of the last minutes are kept, about 2 KiB for each change.
        grown, kept = server.rss() - before, rounds * 4 * 2 * 4096
        print("%d changes, memory %+.2f MiB" % (rounds * 8, grown / MEGABYTE))
        holds(grown, kept + bound(4, 40) * MEGABYTE, "growth")


@test
def short_lived_connections_leak_nothing():
    with Server() as server:
        server.start()

        def knock(count):
            for n in range(count):
                s = connect(server)
                s.sendall((b"", b"G", b"GET /api HTTP/1.1\r\n", head_of("GET", "/api"), b"\0\xff\r\n\r\n")[n % 5])
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", n % 2, 0))
                s.close()

        with Honest(server):
            knock(500)
            first = server.connections()
            before = server.rss()
            knock(20000 if SOAK else 3000)
            wait_for(lambda: server.connections() <= first, LIMIT, "their sockets are closed")
            grown = server.rss() - before
        print("memory %+.2f MiB" % (grown / MEGABYTE))
        holds(grown, bound(2, 20) * MEGABYTE, "growth")


@test
def connections_beyond_the_descriptor_limit_use_no_cpu():
    with Server(open_files=200) as server:
        server.start()
        crowd = [connect(server) for _ in range(400)]
        wait_for(lambda: busy(server) < 0.1, LIMIT, "it rests while there are too many")
        for s in crowd:
            s.close()
        status, _ = Client(server).request("GET", "/readyz")
        assert status == 200, status


def busy(server):
    """The share of a processor that it uses for half a second."""
    before, start = cpu(server), time.monotonic()
    time.sleep(0.5)
    share = (cpu(server) - before) / (time.monotonic() - start)
    print("%.0f %% of a processor" % (share * 100))
    return share


def cpu(server):
    """Seconds of processor time it has used."""
    with open("/proc/%d/stat" % server.process.pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@test
def invalid_requests_get_a_status_or_a_closed_connection():
    with Server() as server:
        server.start()
        with Honest(server):
            for n in range(300):
                s = connect(server)
                s.sendall(random.randbytes(random.randrange(1, 3000)) + b"\r\n\r\n")
                s.shutdown(socket.SHUT_WR)
                got = b"".join(iter(lambda: received(s), b""))
                assert got == b"" or got[:12] in REFUSALS, got[:80]
                s.close()


def received(s):
    try:
        return s.recv(1 << 16)
    except ConnectionError:
        return b""


@test
def body_beyond_the_limit_is_refused_before_it_is_read():
    with Server() as server:
        server.start()
        before = server.rss()
        sockets = [connect(server) for _ in range(20)]
        for s in sockets:
            s.sendall(head_of("POST", "/api/v1/namespaces", bytes(9)).replace(b": 9\r", b": 1000000000\r"))
        for s in sockets:
            assert received(s).startswith(b"HTTP/1.1 413 "), "no 413"
            s.close()
        grown = server.rss() - before
        print("memory %+.2f MiB" % (grown / MEGABYTE))
        holds(grown, bound(1, 10) * MEGABYTE, "growth")


# ---- HTTP/2 ----

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def text(value):
    return bytes((len(value),)) + value


def get_headers(path):
    """:method GET, :scheme http, :path, :authority, authorization, by HPACK's static table and plain texts."""
    bearer = ("Bearer " + TOKEN).encode()
    return b"\x82\x86\x04" + text(path) + b"\x01" + text(b"localhost") + b"\x0f\x08" + text(bearer)


def open_http2(server):
    s = connect(server)
    s.sendall(PREFACE + frame(SETTINGS, 0, 0))
    return s


def frames_until_closed(s, timeout=bound(10.0, LIMIT)):
    """The kinds and payloads of all frames up to the end."""
    got, end = b"", time.monotonic() + timeout
    while time.monotonic() < end:
        part = received(s)
        if not part:
            break
        got += part
    else:
        raise AssertionError("the connection stays open")
    while len(got) >= 9:
        length = int.from_bytes(got[:3], "big")
        yield got[3], got[9:9 + length]
        got = got[9 + length:]


@test
def http2_works_on_the_plain_port():
    with Server() as server:
        server.start()
        s = open_http2(server)
        s.sendall(frame(HEADERS, 5, 1, get_headers(b"/readyz")))
        seen = b""
        while b"ok" not in seen:
            part = received(s)
            assert part, seen
            seen += part
        s.close()


@test
def rapid_resets_end_the_connection_and_do_not_delay_others():
    with Server() as server:
        server.start()
        with Honest(server):
            before = server.rss()
            for _ in range(3):
                s = open_http2(server)
                headers = get_headers(b"/api/v1/namespaces")
                code = reset_until_closed(s, headers, 40000)
                assert code == 11, "GOAWAY says %s, not ENHANCE_YOUR_CALM" % code
                s.close()
            grown = server.rss() - before
        print("memory %+.2f MiB" % (grown / MEGABYTE))
        holds(grown, bound(16, 64) * MEGABYTE, "growth")


def reset_until_closed(s, headers, most):
    """Opens streams and resets them at once; the code of the GOAWAY that ends it."""
    reader = Threads()
    frames = []
    reader.go(lambda: frames.extend(frames_until_closed(s)))
    try:
        for first in range(1, 2 * most, 200):
            s.sendall(b"".join(frame(HEADERS, 5, n, headers) + frame(RST_STREAM, 0, n, struct.pack(">I", 8))
                               for n in range(first, first + 200, 2)))
    except OSError:
        pass
    reader.join(15)
    return next((struct.unpack(">I", p[4:8])[0] for kind, p in frames if kind == GOAWAY), None)


@test
def unread_lists_use_bounded_memory():
    with Server() as server:
        server.start()
        client = Client(server)
        for n in range(100):
            item = configmap(NS, "n%d" % n, "v", padding="abcdefghij" * 3000)
            assert client.request("POST", CONFIGMAPS % NS, item)[0] == 201
        before = server.rss()
        plain = head_of("GET", CONFIGMAPS % NS)
        packed = plain.replace(b"Accept:", b"Accept-Encoding: gzip\r\nAccept:")
        sockets = [connect(server, receive_buffer=4096) for _ in range(100)]
        for n, s in enumerate(sockets):
            s.sendall((plain, packed)[n % 2])
        for _ in range(2):  # 500 lists more, on streams whose window is closed.
            s = connect(server)
            s.sendall(PREFACE + frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0)))
            headers = get_headers((CONFIGMAPS % NS).encode())
            s.sendall(b"".join(frame(HEADERS, 5, n, headers) for n in range(1, 500, 2)))
            sockets.append(s)
        with Honest(server):
            time.sleep(0.7)
            grown = server.rss() - before
        print("600 lists of 3 MB that nobody reads take %.0f MiB" % (grown / MEGABYTE))
        holds(grown, bound(100, 400) * MEGABYTE, "growth")
        for s in sockets:
            s.close()


@test
def control_frame_floods_end_the_connection_or_are_bounded():
    floods = {
        "pings": frame(PING, 0, 0, bytes(8)),
        "settings": frame(SETTINGS, 0, 0),
        "window updates": frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1)),
        "empty continuations": frame(CONTINUATION, 0, 1),
        "empty data": frame(DATA, 0, 1),
    }
    for what, one in floods.items():
        with Server() as server:
            server.start()
            before = server.rss()
            with Honest(server):
                s = open_http2(server)
                if "continuations" in what:
                    s.sendall(frame(HEADERS, 1, 1, get_headers(b"/api")))  # Without END_HEADERS.
                elif "data" in what:
                    s.sendall(frame(HEADERS, 4, 1, get_headers(b"/api")))  # Without END_STREAM.
                flood(s, one * 1000, 2.0 if SOAK else 0.4)
                grown = server.rss() - before
                s.close()
            print("%s: memory %+.2f MiB" % (what, grown / MEGABYTE))
            holds(grown, bound(8, 80) * MEGABYTE, what)


def flood(s, bytes_, seconds):
    """Sends without reading any answer, until the time is over or nothing goes any more."""
    s.settimeout(0.2)
    until = time.monotonic() + seconds
    try:
        while time.monotonic() < until:
            s.sendall(bytes_)
    except OSError:
        pass


run()
