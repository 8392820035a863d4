#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
linearizable.py: concurrent clients see one history.

Clients create, update (with and without a version), delete and get a few objects, and note when each
request was sent, when its answer came and what it said. A history is linearizable when every request
can be given one moment between the two so that, in the order of these moments, a simple register
would have given the same answers (history.py).

The other tests hold what follows from it but is seen across objects: a write is visible on every
connection once it was acknowledged, a list is one moment's state, and a watch from a list's version
misses nothing.
"""
import random
import threading
import time

from harness import (CONFIGMAPS, SOAK, Client, Server, Threads, Watch, configmap, run, test, version_of, wait_for)
from history import INFINITY, Call, explain, linearizable

NS = "default"
SECONDS = 60 if SOAK else 1.5

# ---- the checker ----


def call(start, end, verb, outcome="ok", value=None, expected=None, shown=None, version=None):
    return Call(start, end, verb, value, expected, outcome, shown, version)


@test
def checker_accepts_linearizable_histories():
    assert linearizable([])
    assert linearizable([
        call(0, 1, "create", value="a", version=5), call(0, 9, "get", shown="b", version=6),
        call(2, 3, "update", value="b", version=6), call(2, 4, "update", "conflict", value="c", expected=5),
        call(5, 6, "delete"), call(7, 8, "get", "missing")])
    # One of two overlapping creations wins, whichever began first.
    assert linearizable([call(0, 5, "create", "exists", value="a"), call(1, 4, "create", value="b", version=5)])
    # What was not answered may have happened later, or not at all.
    lost = call(0, INFINITY, "create", "unknown", value="a")
    assert linearizable([lost, call(1, 2, "get", "missing"), call(3, 4, "create", "exists", value="b")])
    assert linearizable([lost, call(1, 2, "get", "missing"), call(3, 4, "get", "missing")])


@test
def checker_rejects_histories_that_are_not_linearizable():
    made = call(0, 1, "create", value="a", version=5)
    changed = call(2, 3, "update", value="b", version=6)
    wrong = {
        "a stale read": [made, changed, call(4, 5, "get", shown="a", version=5)],
        "a value nobody wrote": [made, call(2, 3, "get", shown="z", version=5)],
        "a version nobody was given": [made, call(2, 3, "get", shown="a", version=7)],
        "a read before the write": [call(0, 1, "get", shown="a", version=5),
                                    call(2, 3, "create", value="a", version=5)],
        "two creations": [made, call(0, 1, "create", value="b", version=6)],
        "a lost update": [made, call(2, 3, "update", value="b", expected=5, version=6),
                          call(2, 3, "update", value="c", expected=5, version=7)],
        "a conflict without a cause": [made, call(2, 3, "update", "conflict", value="b", expected=5)],
        "an unconditional conflict": [made, call(0, 3, "update", "conflict", value="b"), changed],
        "a deletion of nothing": [call(0, 1, "delete")],
        "a return from the dead": [made, call(2, 3, "delete"), call(4, 5, "get", shown="a", version=5)],
        "two readers in different orders": [
            made, call(2, 20, "update", value="b", version=6), call(2, 20, "update", value="c", version=7),
            call(3, 4, "get", shown="b", version=6), call(5, 6, "get", shown="c", version=7),
            call(7, 8, "get", shown="b", version=6)],
    }
    for what, history in wrong.items():
        assert not linearizable(history), what


# ---- histories of a live server ----

OUTCOMES = {"NotFound": "missing", "AlreadyExists": "exists", "Conflict": "conflict"}


class Recorder:
    """A client that does this and that to a few objects and notes it."""

    def __init__(self, server, number, names):
        self.client = Client(server)
        self.number = number
        self.random = random.Random(random.random())
        self.known = {name: 1 for name in names}  # The last version seen of each.
        self.calls = {name: [] for name in names}
        self.serial = 0

    def work(self, until):
        while time.monotonic() < until:
            self.one(self.random.choice(list(self.known)))

    def one(self, name):
        verb = self.random.choice(("create", "update", "update", "replace", "replace", "delete", "get", "get", "get"))
        self.serial += 1
        value = "%d-%d" % (self.number, self.serial) if verb in ("create", "update", "replace") else None
        expected = self.known[name] if verb == "update" else None
        path = CONFIGMAPS % NS + "/" + name
        request = {
            "create": ("POST", CONFIGMAPS % NS, configmap(NS, name, value)),
            "update": ("PUT", path, configmap(NS, name, value, expected)),
            "replace": ("PUT", path, configmap(NS, name, value)),
            "delete": ("DELETE", path),
            "get": ("GET", path),
        }[verb]
        start = time.monotonic_ns()
        status, answer = self.client.request(*request)
        end = time.monotonic_ns()
        self.note(name, Call(start, end, "update" if verb == "replace" else verb, value, expected,
                             *self.outcome(status, answer, verb)))

    def outcome(self, status, answer, verb):
        if status in (200, 201):
            if verb == "delete":
                return "ok", None, None
            return "ok", answer["data"]["value"], version_of(answer)
        assert answer.get("reason") in OUTCOMES, answer
        return OUTCOMES[answer["reason"]], None, None

    def note(self, name, made):
        if made.version:
            self.known[name] = made.version
        if made.value and made.outcome == "ok":
            assert made.shown == made.value, made
        self.calls[name].append(made)


def recorded(server, names, clients):
    recorders = [Recorder(server, n, names) for n in range(clients)]
    threads = Threads()
    until = time.monotonic() + min(SECONDS, 20)  # To search takes longer than to record.
    for recorder in recorders:
        threads.go(recorder.work, until)
    threads.join(SECONDS + 60)
    return {name: [c for r in recorders for c in r.calls[name]] for name in names}


@test
def concurrent_clients_see_one_history_of_each_object():
    names = ["reg-%d" % i for i in range(3)]
    with Server() as server:
        server.start()
        histories = recorded(server, names, 10)
    contended = 0
    for name, history in histories.items():
        assert linearizable(history), "not linearizable: %s\n%s" % (name, explain(history))
        spoilt = spoil(history)
        assert spoilt and not linearizable(spoilt), "a wrong history of %s was accepted" % name
        contended += sum(c.outcome in ("conflict", "exists") for c in history)
    print("%d calls on %d objects by 10 clients, %d of them lost a race or came late"
          % (sum(map(len, histories.values())), len(names), contended))


def spoil(history):
    """The history with one stale read in it, long after the value was replaced."""
    reads = [i for i, c in enumerate(history) if c.verb == "get" and c.outcome == "ok"]
    reads.sort(key=lambda i: history[i].start)
    for old in reads:
        new = reads[-1]
        if history[new].start > history[old].end and history[new].version != history[old].version:
            last = history[new]
            stale = last._replace(shown=history[old].shown, version=history[old].version)
            return history[:new] + [stale] + history[new + 1:]
    return None


# ---- races by themselves ----


@test
def update_without_resource_version_never_conflicts():
    path = CONFIGMAPS % NS + "/contended"

    def overwrite(server, number):
        client = Client(server)
        for n in range(25):
            status, answer = client.request("PUT", path, configmap(NS, "contended", "%d-%d" % (number, n)))
            assert status == 200, answer

    with Server() as server:
        server.start()
        assert Client(server).request("POST", CONFIGMAPS % NS, configmap(NS, "contended", "0"))[0] == 201
        threads = Threads()
        for number in range(24):
            threads.go(overwrite, server, number)
        threads.join()


@test
def update_of_deleted_object_with_version_returns_not_found():
    with Server() as server:
        server.start()
        one, other, seen = Client(server), Client(server), set()
        # One of 60 deletions comes first on an idle machine; the order is that of two threads, and so of the machine.
        for n in range(3000):
            if n >= 60 and 404 in seen:
                break
            path = CONFIGMAPS % NS + "/going-%d" % n
            status, made = one.request("POST", CONFIGMAPS % NS, configmap(NS, "going-%d" % n, "a"))
            assert status == 201, made
            threads = Threads()
            threads.go(lambda: one.request("DELETE", path))
            status, answer = other.request("PUT", path, dict(made, data={"value": "b"}))
            threads.join()
            assert status == 200 or (status == 404 and answer["reason"] == "NotFound"), answer
            seen.add(status)
        assert 404 in seen


# ---- across objects and connections ----


@test
def acknowledged_write_is_visible_on_every_connection():
    path = CONFIGMAPS % NS
    with Server() as server:
        server.start()
        clients = [Client(server) for _ in range(16)]
        status, item = clients[0].request("POST", path, configmap(NS, "shared", "0"))
        assert status == 201
        for n in range(1, 4000 if SOAK else 150):
            writer, reader, lister = random.sample(clients, 3)
            status, item = writer.request("PUT", path + "/shared", configmap(NS, "shared", str(n)))
            assert status == 200, item
            status, seen = reader.request("GET", path + "/shared")
            assert status == 200 and seen["data"]["value"] == str(n), seen
            status, seen = lister.request("GET", path)
            assert seen["items"][0]["data"]["value"] == str(n), seen
            assert version_of(seen) >= version_of(item)
        clients[3].request("DELETE", path + "/shared")
        for client in clients:
            assert client.request("GET", path + "/shared")[0] == 404
            assert client.request("GET", path)[1]["items"] == []


def keep_pair(server, stop, rounds):
    """A is always as new as B, or one ahead."""
    client = Client(server)
    while not stop.is_set():
        rounds[0] += 1
        for name in ("a", "b"):
            status, answer = client.request("PUT", CONFIGMAPS % NS + "/" + name,
                                            configmap(NS, name, str(rounds[0])))
            assert status == 200, answer


def read_pairs(server, stop, lists, options):
    client = Client(server)
    while not stop.is_set():
        status, answer = client.request("GET", CONFIGMAPS % NS + options)
        assert status == 200, answer
        items = answer["items"]
        if "continue" in answer["metadata"]:
            status, rest = client.request(
                "GET", CONFIGMAPS % NS + options + "&continue=" + answer["metadata"]["continue"])
            assert status == 200, rest
            items += rest["items"]
        a, b = [int(i["data"]["value"]) for i in items]
        assert b <= a <= b + 1, "a list shows a=%d and b=%d" % (a, b)
        assert max(version_of(i) for i in items) <= version_of(answer)
        lists[0] += 1


@test
def list_is_a_snapshot_of_one_revision_whole_or_paged():
    with Server() as server:
        server.start()
        for name in ("a", "b"):
            Client(server).request("POST", CONFIGMAPS % NS, configmap(NS, name, "0"))
        stop, rounds, lists, threads = threading.Event(), [0], [0], Threads()
        threads.go(keep_pair, server, stop, rounds)
        for options in ("?x=y", "?x=y", "?limit=1", "?limit=1"):
            threads.go(read_pairs, server, stop, lists, options)
        time.sleep(SECONDS)
        wait_for(lambda: threads.failures or rounds[0] > 10 and lists[0] > 10, 20, "lists beside changes")
        stop.set()
        threads.join()
        print("%d lists beside %d changes" % (lists[0], 2 * rounds[0]))


def churn(server, number, stop):
    client, alive = Client(server), set()
    serial = 0
    while not stop.is_set():
        name = "c%d-%d" % (number, random.randrange(5))
        serial += 1
        if name in alive and random.random() < 0.4:
            assert client.request("DELETE", CONFIGMAPS % NS + "/" + name)[0] == 200
            alive.discard(name)
        elif name in alive:
            assert client.request("PUT", CONFIGMAPS % NS + "/" + name, configmap(NS, name, str(serial)))[0] == 200
        else:
            assert client.request("POST", CONFIGMAPS % NS, configmap(NS, name, str(serial)))[0] == 201
            alive.add(name)


def snapshot(client):
    status, answer = client.request("GET", CONFIGMAPS % NS)
    assert status == 200, answer
    return version_of(answer), {i["metadata"]["name"]: (i["data"]["value"], version_of(i)) for i in answer["items"]}


def follow(watch, state, since, until):
    """Applies events until the version is reached."""
    for event in watch:
        item, version = event["object"], version_of(event["object"])
        assert version > since, "%d after %d" % (version, since)
        if version > until:
            return
        since, name = version, item["metadata"]["name"]
        assert (event["type"] == "ADDED") == (name not in state), event
        if event["type"] == "DELETED":
            del state[name]
        else:
            state[name] = (item["data"]["value"], version)


def from_list(server, client):
    """A list, and a watch that goes on from it."""
    first, state = snapshot(client)
    return Watch(server, CONFIGMAPS % NS, first), first, state


def from_stream(server, client):
    """A watch that begins with what there is, up to the bookmark that says so."""
    del client
    watch = Watch(server, CONFIGMAPS % NS, options="&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                  "&allowWatchBookmarks=true")
    assert watch.status == 200, watch.failure
    state = {}
    for event in watch:
        item, version = event["object"], version_of(event["object"])
        if event["type"] == "BOOKMARK":
            assert item["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}, item
            assert all(v <= version for _, v in state.values())
            return watch, version, state
        assert event["type"] == "ADDED", event
        state[item["metadata"]["name"]] = (item["data"]["value"], version)
    raise AssertionError("the watch ended within what there is")


def leads_to_every_later_list(begin):
    with Server() as server:
        server.start()
        stop, threads, client = threading.Event(), Threads(), Client(server)
        for number in range(4):
            threads.go(churn, server, number, stop)
        until, checks = time.monotonic() + SECONDS, 0
        while time.monotonic() < until or checks <= 5:
            watch, first, state = begin(server, client)
            later, goal = snapshot(client)
            follow(watch, state, first, later)
            watch.close()
            assert state == goal, "from %d to %d" % (first, later)
            checks += 1
        stop.set()
        threads.join()
        print("%d times" % checks)


@test
def watch_from_list_version_leads_to_every_later_list():
    leads_to_every_later_list(from_list)


@test
def streamed_list_and_its_watch_lead_to_every_later_list():
    leads_to_every_later_list(from_stream)


run()
