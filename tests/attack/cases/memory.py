# SPDX-License-Identifier: Apache-2.0
"""
Clients that make the server hold memory: watches with large selectors, lists that nobody reads, pages that are kept, objects that
grow, many large bodies at a time. Each has a bound on the resident memory it may cost, and what it cost is given back.
"""
import socket
import struct
import threading
import time
import urllib.parse

from attack import MIB, NS, ROOM, SANITIZED, SLACK, TOKEN, Reader, Skipped, Target, attack, bound, connect, has_flag, head_of, wait_for

CONFIGMAPS = "/api/v1/namespaces/%s/configmaps" % NS
ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/%s/roles" % NS


# A body whose tree takes many times its bytes.
MANY_VALUES = b'{"metadata":{"name":"n"},"unknown":[' + b"0," * 1400000 + b"0]}"


def fill(t, prefix, count, size, threads=4):
    """Creates ConfigMaps with texts of this size."""

    def some(k):
        admin = t.admin()
        for i in range(k, count, threads):
            status, answer = admin.request("POST", CONFIGMAPS, {"metadata": {"name": "%s-%d" % (prefix, i)}, "data": {"k": "x" * size}})
            assert status in (201, 409), answer

    workers = [threading.Thread(target=some, args=(k,)) for k in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def empty(t):
    status, answer = t.admin().request("DELETE", CONFIGMAPS)
    assert status == 200, answer


def ask(t, path, accept="application/json", buffer=4096):
    """Sends a GET and reads nothing; the socket has a small receive buffer."""
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    s.settimeout(30)
    s.connect(("127.0.0.1", t.port))
    s.sendall(head_of("GET", path).replace(b"Accept: application/json\r\n", b"Accept: %s\r\n" % accept.encode()))
    return s


def metric(t, name):
    """The sum of a metric's series; 0 without any."""
    reader = Reader(connect(t))
    reader.s.sendall(head_of("GET", "/metrics"))
    _, fields = reader.head()
    text = reader.exactly(int(fields["content-length"])).decode()
    reader.s.close()
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.split("\n") if line.split("{")[0].split(" ")[0] == name)


def close(sockets):
    for s in sockets:
        s.close()


def h2_frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def ask_over_h2(t, path, accept, streams):
    """Sends GETs on one HTTP/2 connection whose windows stay as they are: the answers stay in the server."""
    fields = ((":method", "GET"), (":scheme", "http"), (":path", path), (":authority", "localhost"), ("accept", accept),
              ("authorization", "Bearer " + TOKEN))
    block = b"".join(b"\x00" + bytes([len(k)]) + k.encode() + bytes([len(v)]) + v.encode() for k, v in fields)
    s = connect(t)
    s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + h2_frame(4, 0, 0))
    s.sendall(b"".join(h2_frame(1, 5, 2 * i + 1, block) for i in range(streams)))
    return s


def settled(t, before, share=0.2, slack=8 * MIB, within=8):
    """Fails unless resident memory comes back to what it was."""
    most = before * (1 + share) + slack
    wait_for(lambda: t.rss() < most, within * SLACK, "memory below %.1f MiB" % (most / MIB))


# ---- selectors ----


@attack(growth=16 * MIB, mix=True)
def selectors_of_60_kilobytes_are_refused(t):
    values = ",".join("v%d" % i for i in range(9000))[:60000]
    for kind in ("labelSelector=k+in+(%s)" % values, "fieldSelector=" + ",".join("metadata.name!%%3D%d" % i for i in range(3000))):
        for watch in ("", "&watch=1"):
            status, answer = t.admin().request("GET", CONFIGMAPS + "?" + kind + watch)
            assert status == 400 and "the limit is" in answer["message"], answer


@attack(growth=128 * MIB)
def watches_with_the_largest_selectors_stay_within_their_budget(t):
    selector = ",".join("%s notin (%s)" % ("k%d" % i, ",".join("v%d" % j for j in range(4))) for i in range(250))[:16000].rsplit(",k", 1)[0]
    path = CONFIGMAPS + "?watch=1&labelSelector=" + urllib.parse.quote(selector)
    open_watches, refused, sockets = 0, 0, []
    for _ in range(2500):
        s = connect(t)
        s.sendall(head_of("GET", path))
        status, _ = Reader(s).head()
        assert status in (200, 429), status
        open_watches, refused = open_watches + (status == 200), refused + (status == 429)
        sockets.append(s)
    close(sockets)
    assert open_watches > 500 and refused > 100, (open_watches, refused)


@attack(target={"flags": ["--max-watches-per-user", "100"]}, growth=16 * MIB)
def watches_of_one_user_are_limited(t):
    sockets, codes = [], []
    for _ in range(150):
        s = connect(t)
        s.sendall(head_of("GET", CONFIGMAPS + "?watch=1"))
        codes.append(Reader(s).head()[0])
        sockets.append(s)
    assert codes[:100] == [200] * 100 and codes[100:] == [429] * 50, codes
    close(sockets)


# ---- readers that do not read ----


def slow_readers_of(t, accept, query="", readers=100):
    fill(t, "r", 400, 16000)
    before = t.rss()
    sockets = [ask(t, CONFIGMAPS + query, accept) for _ in range(readers)]
    time.sleep(1.5)
    assert SANITIZED or t.rss() - before < 48 * MIB * ROOM, "memory grew by %.1f MiB" % ((t.rss() - before) / MIB)
    close(sockets)


@attack(growth=96 * MIB, p99=None)
def slow_readers_of_a_yaml_list_use_bounded_memory(t):
    slow_readers_of(t, "application/yaml")


@attack(growth=96 * MIB, p99=None)
def slow_readers_of_an_indented_list_use_bounded_memory(t):
    slow_readers_of(t, "application/json", "?pretty=true")


@attack(growth=96 * MIB, p99=None)
def slow_readers_of_a_table_use_bounded_memory(t):
    slow_readers_of(t, "application/json;as=Table;v=v1;g=meta.k8s.io", "?includeObject=Object")


@attack(growth=96 * MIB, p99=None)
def slow_readers_of_a_json_list_use_bounded_memory(t):
    slow_readers_of(t, "application/json")


# ---- old states ----


def rewrite(t, admin, prefix, count, size, fill_with):
    for i in range(count):
        status, answer = admin.request("PUT", "%s/%s-%d" % (CONFIGMAPS, prefix, i),
                                       {"metadata": {"name": "%s-%d" % (prefix, i)}, "data": {"k": fill_with * size}})
        assert status == 200, answer


HISTORY = {"flags": ["--history-bytes", "8Mi"]}


@attack(growth=96 * MIB, p99=None, target=HISTORY)
def kept_pages_share_a_budget_and_expire_with_410(t):
    """Fourteen states of 6 MB, each with a page that could be asked for: 84 MB without a budget."""
    fill(t, "p", 12, 500000)
    admin, tokens = t.admin(), []
    for round_ in range(14):
        status, answer = admin.request("GET", CONFIGMAPS + "?limit=1")
        assert status == 200, answer
        tokens.append(answer["metadata"]["continue"])
        rewrite(t, admin, "p", 12, 500000, "abcdefghijklmnop"[round_])
    status, answer = admin.request("GET", CONFIGMAPS + "?limit=1&continue=" + tokens[0])
    assert status == 410 and answer["reason"] == "Expired" and answer["metadata"]["continue"], answer
    assert admin.request("GET", CONFIGMAPS + "?limit=1&continue=" + answer["metadata"]["continue"])[0] == 200
    assert admin.request("GET", CONFIGMAPS + "?limit=1&continue=" + tokens[-1])[0] == 200


@attack(growth=96 * MIB, p99=None, target=HISTORY)
def unread_lists_of_old_snapshots_are_aborted(t):
    fill(t, "o", 12, 500000)
    admin, sockets = t.admin(), []
    for round_ in range(14):
        sockets.append(ask(t, CONFIGMAPS, "application/yaml"))
        time.sleep(0.05)
        rewrite(t, admin, "o", 12, 500000, "abcdefghijklmnop"[round_])
    assert metric(t, "kc_store_snapshot_readers_ended_total") > 5
    close(sockets)


# ---- large objects ----


@attack(growth=64 * MIB, mix=True)
def growing_patches_stop_at_the_object_limit(t):
    name, admin = t.unique("grows"), t.admin()
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": ["x" * 500000]}
    path = "%s/%s" % (ROLES, name)
    t.made(path)
    status, answer = admin.request("POST", ROLES, {"metadata": {"name": name}, "rules": [rule]})
    assert status == 201, answer
    copy = {"op": "copy", "from": "/rules/0/resourceNames/0", "path": "/rules/0/resourceNames/-"}
    codes = [admin.request("PATCH", path, [copy], "application/json-patch+json") for _ in range(11)]
    assert [c for c, _ in codes] == [200, 200] + [413] * 9, [c for c, _ in codes]
    assert "limit is 1572864" in codes[-1][1]["message"], codes[-1][1]
    status, answer = admin.request("PATCH", path, [copy] * 5, "application/json-patch+json")
    assert status == 413 and "exceeds the limit of 3145728 bytes" in answer["message"], answer


@attack(growth=64 * MIB, mix=True)
def objects_above_the_limit_are_refused_by_every_write(t):
    name, admin = t.unique("large"), t.admin()
    path = "%s/%s" % (ROLES, name)
    t.made(path)
    role = lambda size: {"metadata": {"name": name},
                         "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": ["x" * size]}]}
    status, answer = admin.request("POST", ROLES, role(1600000))
    assert status == 413 and answer["reason"] == "RequestEntityTooLarge", answer
    assert admin.request("POST", ROLES, role(100))[0] == 201
    assert admin.request("PUT", path, role(1600000))[0] == 413
    assert admin.request("PATCH", path, role(1600000), "application/merge-patch+json")[0] == 413


@attack(growth=320 * MIB, p99=None, target={"flags": ["--memory-soft-limit", "100Mi", "--memory-hard-limit", "300Mi"]})
def many_concurrent_large_bodies_are_refused_with_429(t):
    """Each takes some ten times its size while it is decoded."""
    codes, lock = [], threading.Lock()

    def send(k):
        for _ in range(3):
            reader = Reader(connect(t))
            reader.s.sendall(head_of("POST", CONFIGMAPS, MANY_VALUES) + MANY_VALUES)
            status, _ = reader.head()
            reader.s.close()
            with lock:
                codes.append(status)

    workers = [threading.Thread(target=send, args=(k,)) for k in range(40)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(codes) == 120 and set(codes) <= {201, 409, 429} and 429 in codes, set(codes)


# ---- short memory ----


@attack(alone=True)
def server_short_of_memory_refuses_large_requests_and_serves_small_ones():
    with Target(flags=["--memory-soft-limit", "1Mi", "--memory-hard-limit", "4Gi"]) as t:
        t.start(timeout=20 * SLACK)
        admin = t.admin()
        wait_for(lambda: admin.request("GET", "/api/v1/pods")[0] == 429, 5 * SLACK, "a list is refused")
        status, answer = admin.request("GET", "/api/v1/pods")
        assert status == 429 and answer["reason"] == "TooManyRequests", answer
        assert admin.request("GET", "/api/v1/pods?limit=5")[0] == 200
        assert admin.request("GET", "/api/v1/namespaces/default")[0] == 200
        assert admin.request("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "small"}})[0] == 201
        assert admin.request("DELETE", "/api/v1/namespaces/default/configmaps/small")[0] == 200
        assert admin.request("GET", "/readyz")[0] == 200


@attack(alone=True)
def server_above_the_hard_limit_cancels_slow_readers_and_is_not_ready():
    if SANITIZED:
        raise Skipped("a sanitizer alone needs more than this limit")
    with Target(flags=["--memory-soft-limit", "60Mi", "--memory-hard-limit", "90Mi"]) as t:
        t.ready()
        admin = t.admin()
        status, answer = admin.request("POST", CONFIGMAPS, {"metadata": {"name": "big"}, "data": {"k": "x" * 1000000}})
        assert status == 201, answer
        sockets = []
        try:
            for _ in range(40):  # Few at a time: workers render them, and their queue is bounded.
                sockets.append(ask_over_h2(t, CONFIGMAPS + "/big", "application/yaml", 5))  # 1 MB each.
                time.sleep(0.1)
                if metric(t, "kc_memory_cancelled_responses_total") > 0:
                    break
            wait_for(lambda: metric(t, "kc_memory_cancelled_responses_total") > 0, 10 * SLACK, "responses are cancelled")
        finally:
            close(sockets)
        wait_for(lambda: admin.request("GET", "/readyz")[0] == 200, 20 * SLACK, "the server is ready")
        assert admin.request("GET", CONFIGMAPS + "?limit=1")[0] == 200


# ---- giving memory back ----


def burst(t):
    """Watches, slow readers and large bodies; resident memory at its peak."""
    sockets = [ask(t, CONFIGMAPS, "application/yaml") for _ in range(100)]
    sockets += [ask(t, CONFIGMAPS + "?watch=1&resourceVersion=1") for _ in range(500)]
    for _ in range(10):
        s = connect(t)
        s.sendall(head_of("POST", CONFIGMAPS, MANY_VALUES) + MANY_VALUES)
        Reader(s).head()
        s.close()
    peak = t.rss()
    close(sockets)
    return peak


def check_memory_can_be_measured():
    if SANITIZED:
        raise Skipped("bounds on memory do not hold with a sanitizer")
    if not has_flag("apiserver", "--memory-trim-interval"):
        raise Skipped("this binary does not trim")


@attack(alone=True)
def memory_of_a_burst_is_returned():
    """Resident memory is where it was before, soon: memory is trimmed every second."""
    check_memory_can_be_measured()
    with Target() as t:
        t.ready()
        fill(t, "b", 50, 200000)
        time.sleep(1.5)
        before = t.rss()
        peak = burst(t)
        settled(t, before, slack=bound(8 * MIB, (peak - before) / 2))
        return "RSS %d → %d → %d MiB" % (before / MIB, peak / MIB, t.rss() / MIB)


@attack(long=True, alone=True)
def memory_of_a_burst_is_returned_at_the_usual_trim_interval():
    """A minute later, and without an allowance: the first burst fills caches and pools, the second leaves nothing."""
    check_memory_can_be_measured()
    with Target(trim=None) as t:
        t.ready()
        fill(t, "b", 50, 200000)
        burst(t)
        time.sleep(60)
        before = t.rss()
        peak = burst(t)
        time.sleep(60)
        assert t.rss() < before * 1.2, "RSS %d → %d → %d MiB" % (before / MIB, peak / MIB, t.rss() / MIB)
        return "RSS %d → %d → %d MiB" % (before / MIB, peak / MIB, t.rss() / MIB)
