# SPDX-License-Identifier: Apache-2.0
"""
Connections, heads and bodies of clients that have not authenticated, and what they may cost: bodies and header bombs, idle connections, slow
heads, stalled handshakes; another process that wants the port; request lines and paths that are read in two ways.
"""
import errno
import socket
import ssl
import struct
import time

from attack import MIB, NS, ROOM, TOKEN, SANITIZED, SLACK, Reader, Skipped, Target, attack, bound, connect, free_port, head_of, wait_for

CONFIGMAPS = "/api/v1/namespaces/%s/configmaps" % NS
UNTRUSTED = {"trust_localhost": False}
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def connections(t, count, port=None):
    """Open connections."""
    return [socket.create_connection(("127.0.0.1", port or t.port), timeout=90) for _ in paced(range(count))]


def paced(items, every=20, pause=0.004):
    """The items, with pauses: what is measured is what they cost the server, not how busy this machine is."""
    for i, item in enumerate(items):
        if i % every == every - 1:
            time.sleep(pause)
        yield item


def close(sockets):
    for s in sockets:
        s.close()


def answer_of(s):
    """The first bytes of an answer; b"" when the server closed."""
    try:
        return s.recv(200)
    except OSError:
        return b""


def raw(t, request):
    s = connect(t)
    s.sendall(request)
    answer = answer_of(s)
    s.close()
    return answer


def metric(t, name):
    """The sum of a metric's series."""
    reader = Reader(connect(t))
    reader.s.sendall(head_of("GET", "/metrics"))
    status, fields = reader.head()
    text = reader.exactly(int(fields["content-length"])) if "content-length" in fields else b"".join(iter(reader.chunk, b""))
    reader.s.close()
    assert status == 200, text
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.decode().splitlines() if line.startswith(name))


# ---- bodies ----


def unauthenticated_head(length):
    return ("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (CONFIGMAPS, length)).encode()


@attack(target=UNTRUSTED, growth=32 * MIB, mix=True)
def bodies_of_unauthenticated_clients_are_not_buffered(t):
    body = b"x" * (3 * MIB - 1)
    sockets = connections(t, 300)
    for s in paced(sockets, 5):
        s.setblocking(False)
        try:
            s.send(unauthenticated_head(3 * MIB) + body)
        except BlockingIOError:
            pass
    time.sleep(0.5)
    for s in sockets:
        s.settimeout(10)
        assert answer_of(s)[9:12] in (b"401", b""), "not refused"
    close(sockets)


@attack(target={"trust_localhost": False, "flags": ["--anonymous-auth"]}, growth=48 * MIB)
def bodies_of_anonymous_clients_share_one_budget(t):
    sockets = connections(t, 100)
    for s in paced(sockets, 2, 0.01):
        s.setblocking(False)
        for i in range(4):
            try:
                s.send((unauthenticated_head(3 * MIB) if i == 0 else b"") + b"x" * MIB)
            except OSError:
                break
    time.sleep(0.5)
    close(sockets)


@attack(target=UNTRUSTED, mix=True)
def continue_is_not_sent_to_unauthenticated_clients(t):
    answer = raw(t, unauthenticated_head(1000)[:-2] + b"Expect: 100-continue\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 401"), answer


@attack(growth=160 * MIB)
def bodies_in_flight_of_one_user_are_bounded(t):
    head = head_of("POST", CONFIGMAPS, b"x" * (3 * MIB))
    sockets = connections(t, 100)
    for s in sockets:
        s.setblocking(False)
        s.send(head)
    piece, sent = b"x" * 65536, dict.fromkeys(sockets, 0)
    end = time.monotonic() + 4
    while time.monotonic() < end and any(n < 3 * MIB - 1 for n in sent.values()):
        for s in paced(sockets, 10):
            try:
                sent[s] += s.send(piece[:min(65536, 3 * MIB - 1 - sent[s])]) if sent[s] < 3 * MIB - 1 else 0
            except BlockingIOError:
                pass
            except OSError:
                sent[s] = 3 * MIB
    refused = 0
    for s in sockets:
        try:
            refused += s.recv(20)[9:12] == b"429"
        except OSError:
            pass
    assert refused > 50, "%d of 100 refused" % refused
    close(sockets)


# ---- heads ----


def bomb(times):
    """A head of some hundred bytes that decodes to `times` * 4000."""
    literal = b"\x40\x06x-bomb" + b"\x7f\xa1\x1e" + b"b" * 4000
    return bytes([0x83, 0x86, 0x84, 0x41, 0x09]) + b"localhost" + literal + b"\xbe" * times


@attack(target=UNTRUSTED, growth=32 * MIB, mix=True)
def http2_header_bombs_are_bounded(t):
    sockets = []
    for _ in paced(range(40), 2, 0.02):
        s = connect(t)
        sockets.append(s)
        try:
            s.sendall(PREFACE + frame(4, 0, 0, struct.pack(">HI", 4, 0)))
            for i in range(100):  # The first defines the field, the others only name it.
                block = bomb(29) if i == 0 else bytes([0x83, 0x86, 0x84, 0xbf]) + b"\xbe" * 30
                s.sendall(frame(1, 4, 2 * i + 1, block))
        except OSError:
            pass
    time.sleep(0.5)
    close(sockets)


@attack(target=UNTRUSTED, growth=48 * MIB, mix=True)
def endless_http2_heads_are_bounded(t):
    sockets = []
    for _ in paced(range(500), 5):
        s = connect(t)
        sockets.append(s)
        s.sendall(PREFACE + frame(4, 0, 0) + frame(1, 0, 1, bomb(30)))
    time.sleep(0.5)
    close(sockets)


@attack(growth=64 * MIB, mix=True)
def http2_header_bombs_of_an_authenticated_client_are_bounded(t):
    sockets = []
    token = b"\x0f\x08" + bytes([7 + len(TOKEN)]) + b"Bearer " + TOKEN.encode()
    for _ in paced(range(20), 1, 0.05):
        s = connect(t)
        sockets.append(s)
        try:
            s.sendall(PREFACE + frame(4, 0, 0, struct.pack(">HI", 4, 0)))
            for i in range(200):
                block = bomb(29) if i == 0 else bytes([0x83, 0x86, 0x84]) + b"\xbe" * 30
                s.sendall(frame(1, 4, 2 * i + 1, block + token))
        except OSError:
            pass
    time.sleep(0.5)
    close(sockets)


@attack(target=UNTRUSTED, growth=48 * MIB, mix=True)
def slow_large_heads_are_bounded(t):
    sockets = connections(t, 500)
    for s in sockets:
        s.setblocking(False)
    part = b"X-Filler: " + b"x" * 8000 + b"\r\n"
    for i in range(15):
        for s in paced(sockets, 25):
            try:
                s.send((b"GET / HTTP/1.1\r\nHost: localhost\r\n" if i == 0 else b"") + part)
            except OSError:
                pass
    close(sockets)


@attack(target=UNTRUSTED, growth=48 * MIB, mix=True)
def unread_refusals_are_bounded(t):
    sockets = connections(t, 300)
    flood = b"GET /api/v1/pods HTTP/1.1\r\nHost: localhost\r\n\r\n" * 500
    for s in paced(sockets, 5):
        s.setblocking(False)
        try:
            s.send(flood)
        except OSError:
            pass
    time.sleep(0.5)
    close(sockets)


# ---- connections ----


@attack(target={"open_files": 1024, "trust_localhost": False}, growth=64 * MIB)
def idle_connections_up_to_the_descriptor_limit_do_not_lock_others_out(t):
    sockets = []
    for _ in range(3000):
        sockets += connections(t, 1)
        if len(sockets) % 500 == 0:
            start = time.monotonic()
            assert t.admin().request("GET", "/api/v1/namespaces/default")[0] == 200
            assert time.monotonic() - start < 2 * SLACK, "a new client waited"
    assert metric(t, "http_server_connections_evicted_total") >= 1500
    assert t.log_text().count("too many connections") in range(1, 5), t.log_text()
    close(sockets)


@attack(target={"open_files": 1024}, growth=64 * MIB)
def idle_keep_alive_connections_do_not_lock_others_out(t):
    sockets = []
    for i in range(1500):
        s = connections(t, 1)[0]
        s.sendall(head_of("GET", "/version"))
        assert s.recv(4096)[9:12] == b"200"
        sockets.append(s)
    start = time.monotonic()
    assert t.admin().request("GET", "/api/v1/namespaces/default")[0] == 200
    assert time.monotonic() - start < 2 * SLACK, "a new client waited"
    assert metric(t, 'http_server_connections_evicted_total{state="idle"}') > 0
    close(sockets)


@attack(target={"open_files": 1024, "trust_localhost": False}, growth=64 * MIB)
def slow_heads_up_to_the_descriptor_limit_do_not_lock_others_out(t):
    sockets = []
    for i in range(2000):
        s = connections(t, 1)[0]
        s.sendall(b"GET / HTTP/1.1\r\nHo")
        sockets.append(s)
    for s in sockets[-500:]:
        try:
            s.sendall(b"s")
        except OSError:
            pass
    assert t.admin(timeout=5 * SLACK).request("GET", "/api/v1/namespaces/default")[0] == 200
    close(sockets)


def start_of_handshake():
    """The first flight of a client, without the rest."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    tls = context.wrap_bio(incoming, outgoing)
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


@attack(alone=True)
def stalled_tls_handshakes_do_not_lock_others_out():
    port = free_port()
    with Target(flags=["--secure-port", str(port), "--tls-handshake-timeout", "2s"], open_files=1024) as t:
        t.ready()
        before, hello, sockets = t.rss(), start_of_handshake(), []
        for i in range(1000):
            s = socket.create_connection(("127.0.0.1", port), timeout=90)
            try:
                s.sendall(hello if i % 2 else hello[:20])
            except OSError:
                pass
            sockets.append(s)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        start = time.monotonic()
        with context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=5 * SLACK)) as s:
            s.sendall(head_of("GET", "/version"))
            assert s.recv(100)[9:12] == b"200"
        assert time.monotonic() - start < 2 * SLACK, "a new client waited"
        growth = t.rss() - before
        assert SANITIZED or growth < 96 * MIB * ROOM, "memory grew by %d MiB" % (growth / MIB)
        wait_for(lambda: metric(t, "http_server_connections ") < 10, 10, "stalled handshakes are closed")
        assert metric(t, "http_server_tls_handshake_timeouts_total") > 500
        close(sockets)
        return "RSS %4d → %4d MiB" % (before / MIB, (before + growth) / MIB)


@attack(alone=True)
def idle_tls_connections_are_closed_when_memory_is_short():
    """They hold what lists need; without eviction they would do so for three minutes."""
    if SANITIZED:
        raise Skipped("a sanitizer alone needs more than this limit")
    port = free_port()
    with Target(flags=["--secure-port", str(port), "--memory-soft-limit", "64Mi", "--memory-hard-limit", "1Gi",
                       "--max-connections", "20000"]) as t:
        t.ready()
        admin, sockets, refused = t.admin(), [], False
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        while not refused and len(sockets) < 6000:
            for _ in range(100):
                sockets.append(context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=60)))
            refused = admin.request("GET", "/api/v1/configmaps")[0] == 429
        assert refused, "%d connections, %d MiB: memory is not short" % (len(sockets), t.rss() / MIB)
        start = time.monotonic()
        wait_for(lambda: admin.request("GET", "/api/v1/configmaps")[0] == 200, 60, "lists are answered")
        took = time.monotonic() - start
        assert metric(t, "http_server_connections_evicted_total{state=\"unauthenticated\"}") > 0
        assert admin.request("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "small"}})[0] == 201
        close(sockets)
        return "%d connections, lists after %.1f s" % (len(sockets), took)


@attack(alone=True)
def memory_of_a_burst_is_returned():
    if SANITIZED:
        raise Skipped("a sanitizer keeps memory")
    with Target(trim="1s") as t:
        t.ready()
        admin = t.admin()
        for _ in range(20):
            admin.request("GET", "/api/v1/namespaces/default")
        before, sockets = t.rss(), connections(t, 20)
        body = b'{"metadata":{"name":"x"},"data":{"a":"' + b"x" * (3 * MIB - 100) + b'"}}'
        for s in sockets:
            s.sendall(head_of("POST", CONFIGMAPS, body) + body[:-1])
        wait_for(lambda: t.rss() > before + 40 * MIB, 5, "bodies are there")
        peak = t.rss()
        close(sockets)
        # Less than 2 MiB is not worth a trim.
        most = bound(before * 1.2 + 2 * MIB, before + (peak - before) / 2)
        wait_for(lambda: t.rss() < most, 6, "memory is given back: %d of %d MiB" % (t.rss() / MIB, before / MIB))
        return "RSS %4d → %4d → %4d MiB" % (before / MIB, peak / MIB, t.rss() / MIB)


# ---- ports ----


@attack(mix=True)
def another_process_cannot_listen_on_the_port(t):
    for reuse in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, reuse, 1)
            try:
                s.bind(("127.0.0.1", t.port))
                s.listen()
            except OSError as e:
                assert e.errno == errno.EADDRINUSE, e
            else:
                raise AssertionError("another socket listens on the port")


# ---- request lines and paths ----


@attack(mix=True)
def request_lines_with_other_than_one_space_are_refused(t):
    fields = "\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n" % TOKEN
    for line in ("GET  /version HTTP/1.1", "GET /version  HTTP/1.1", "GET\t/version HTTP/1.1", "GET /version HTTP/1.1 ", " GET /version HTTP/1.1"):
        answer = raw(t, (line + fields).encode())
        assert answer.startswith(b"HTTP/1.1 400"), (line, answer)
    assert raw(t, ("GET /version HTTP/1.1" + fields).encode()).startswith(b"HTTP/1.1 200")


@attack(mix=True)
def escaped_dot_segments_are_refused(t):
    for path in ("..%2f", "%2e%2e%2f", "..%2F..%2fsecrets", "%2e%2e/secrets", "a%2f..%2fb", ".%2e", "%2e"):
        answer = raw(t, head_of("GET", "%s/%s" % (CONFIGMAPS, path)))
        assert answer.startswith(b"HTTP/1.1 400"), (path, answer)
