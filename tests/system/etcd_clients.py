# SPDX-License-Identifier: Apache-2.0
"""
etcd_clients.py: clients of several API servers that expect failures, and what they must have seen.

    Worker      creates, changes, deletes and gets a few objects at one server, and notes each call
    Follower    lists, watches and resumes at any server; lists again after 410
    Pager       lists in pages, at any server

`check` decides when all have ended. An answer with 5xx or 429, a timeout and a broken connection leave
a write with an unknown outcome: it may have happened, at any time after. If a watcher or a reader has
seen its value, it has happened under that version.
"""
import random
import socket
import threading
import time

from harness import CONFIGMAPS, Broken, Client, Watch, configmap, version_of
from history import INFINITY, Call, explain, linearizable

NS = "default"
OUTCOMES = {"NotFound": "missing", "AlreadyExists": "exists", "Conflict": "conflict"}
VERBS = ("create", "update", "update", "replace", "replace", "delete", "get", "get", "get", "get")
PAUSE = 0.05  # After a failure.


def failed(status):
    return status >= 500 or status == 429


class Worker:
    """Its calls are at one server, so that the server's availability is seen: `good` has the times of
    calls that were answered, by whether they write."""

    def __init__(self, server, number, names, seed):
        self.client = Client(server, timeout=15.0)
        self.number, self.random, self.serial = number, random.Random(seed), 0
        self.known = {name: 1 for name in names}  # The last version seen of each.
        self.calls = {name: [] for name in names}
        self.good = {True: [], False: []}
        self.failures = {}

    def work(self, stop):
        while not stop.is_set():
            if not self.one(self.random.choice(list(self.known))):
                time.sleep(PAUSE)

    def one(self, name):
        verb = self.random.choice(VERBS)
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
        outcome = self.ask(request, verb)
        end = time.monotonic_ns() if outcome and outcome[0] != "unknown" else INFINITY
        if outcome and (verb != "get" or outcome[0] != "unknown"):
            self.note(name, Call(start, end, "update" if verb == "replace" else verb, value, expected, *outcome))
        if end != INFINITY:
            self.good[verb != "get"].append(end)
        return end != INFINITY

    def ask(self, request, verb):
        """Outcome, value and version; None if the request was certainly not sent."""
        try:
            status, answer = self.client.request(*request)
        except (socket.timeout, Broken) as e:
            return self.fail(type(e).__name__)
        except OSError:
            return None
        if failed(status):
            return self.fail("%s %s" % (status, answer.get("reason") if isinstance(answer, dict) else ""))
        if status in (200, 201):
            return ("ok", None, None) if verb == "delete" else ("ok", answer["data"]["value"], version_of(answer))
        assert answer.get("reason") in OUTCOMES, answer
        return OUTCOMES[answer["reason"]], None, None

    def fail(self, what):
        self.failures[what] = self.failures.get(what, 0) + 1
        return "unknown", None, None

    def note(self, name, made):
        if made.version:
            self.known[name] = made.version
        if made.value and made.outcome == "ok":
            assert made.shown == made.value, made
        self.calls[name].append(made)


class Segment:
    """What a watcher saw without a gap: every event after `first`, up to `last`."""

    def __init__(self, first, state):
        self.first = self.last = first
        self.state = state
        self.events = []

    def take(self, event):
        item, version = event["object"], version_of(event["object"])
        if event["type"] == "BOOKMARK":
            assert version >= self.last, "a bookmark of %d after %d" % (version, self.last)
            self.last = version
            return
        assert version > self.last, "%d after %d: %s" % (version, self.last, event["type"])
        self.last, name = version, item["metadata"]["name"]
        assert (event["type"] == "ADDED") == (name not in self.state), event
        self.events.append((version, event["type"], name, item["data"]["value"]))
        if event["type"] == "DELETED":
            del self.state[name]
        else:
            self.state[name] = (item["data"]["value"], version)


def items_of(answer):
    return {i["metadata"]["name"]: (i["data"]["value"], version_of(i)) for i in answer["items"]}


class Follower:
    def __init__(self, servers, seed):
        self.servers, self.random = servers, random.Random(seed)
        self.segments, self.resumed, self.snapshots = [], 0, []

    def follow(self, goal):
        """Until the version that `goal` returns is reached; None: not known yet."""
        while not (goal() and self.segments and self.segments[-1].last >= goal()):
            try:
                if not self.segments or self.segments[-1] is None:
                    self.list()
                else:
                    self.watch(goal)
            except (Broken, socket.timeout, OSError):
                time.sleep(PAUSE)

    def list(self):
        status, answer = Client(self.random.choice(self.servers), timeout=12.0).request("GET", CONFIGMAPS % NS)
        if failed(status):
            raise Broken(str(status))
        assert status == 200, answer
        self.snapshots.append((version_of(answer), items_of(answer)))
        segment = Segment(version_of(answer), items_of(answer))
        self.segments = [s for s in self.segments if s] + [segment]

    def watch(self, goal):
        segment = self.segments[-1]
        watch = Watch(self.random.choice(self.servers), CONFIGMAPS % NS, segment.last,
                      "&allowWatchBookmarks=true&timeoutSeconds=20", timeout=4.0)
        try:
            if watch.status == 410:
                self.segments.append(None)
            if watch.status != 200:
                raise Broken(str(watch.status))
            self.resumed += 1
            for event in watch:
                if event["type"] == "ERROR":
                    if event["object"].get("code") == 410:
                        self.segments.append(None)
                    raise Broken(str(event["object"]))
                segment.take(event)
                if goal() and segment.last >= goal():
                    return
        finally:
            watch.close()


class Pager:
    """Lists page by page: all pages are of one revision, or a page is answered with 410."""

    def __init__(self, servers, seed):
        self.servers, self.random = servers, random.Random(seed)
        self.snapshots, self.expired = [], 0

    def work(self, stop):
        while not stop.is_set():
            try:
                self.one()
            except (Broken, socket.timeout, OSError):
                time.sleep(PAUSE)

    def page(self, rest):
        server = self.random.choice(self.servers)
        path = CONFIGMAPS % NS + "?limit=2" + ("&continue=" + rest if rest else "")
        status, answer = Client(server, timeout=12.0).request("GET", path)
        if failed(status):
            raise Broken(str(status))
        assert status == 200 or (status == 410 and rest), answer
        return answer if status == 200 else None

    def one(self):
        rest, versions, items = None, set(), {}
        while rest != "":
            answer = self.page(rest)
            if not answer:
                self.expired += 1
                return
            versions.add(version_of(answer))
            items.update(items_of(answer))
            rest = answer["metadata"].get("continue", "")
            time.sleep(self.random.random() * 0.05)
        assert len(versions) == 1, "pages of the revisions %s" % versions
        self.snapshots.append((versions.pop(), items))


# ---- what they must have seen ----


def union(followers):
    """Version to event, of all watchers: they must agree."""
    log = {}
    for segment in (s for f in followers for s in f.segments if s):
        for event in segment.events:
            assert log.setdefault(event[0], event) == event, "two watchers saw %s and %s" % (log[event[0]], event)
    return log


def check_segments(followers, log):
    """Every watcher has seen every event once."""
    versions = sorted(log)
    for segment in (s for f in followers for s in f.segments if s):
        expected = [v for v in versions if segment.first < v <= segment.last]
        assert [e[0] for e in segment.events] == expected, "a watcher missed %s between %d and %d" % (
            sorted(set(expected) - {e[0] for e in segment.events})[:10], segment.first, segment.last)


def is_covered(followers, reached, until):
    """Whether the watchers together have seen everything from one version to another."""
    for segment in sorted((s for f in followers for s in f.segments if s), key=lambda s: s.first):
        if segment.first > reached:
            break
        reached = max(reached, segment.last)
    return reached >= until


def check_snapshots(snapshots, log, empty_at):
    """Lists, whole and paged, are states of one revision."""
    state, events = {}, sorted(log.values())
    at = 0
    for version, items in sorted(snapshots, key=lambda s: s[0]):
        while at < len(events) and events[at][0] <= version:
            number, kind, name, value = events[at]
            if number > empty_at and kind == "DELETED":
                del state[name]
            elif number > empty_at:
                state[name] = (value, number)
            at += 1
        assert items == state, "a list at %d: %s instead of %s" % (version, items, state)


def resolve(calls, seen):
    """A write of unknown outcome whose value was seen has happened."""
    def one(c):
        version = seen.get(c.value) if c.outcome == "unknown" and c.value else None
        return c._replace(outcome="ok", shown=c.value, version=version) if version else c
    return [one(c) for c in calls]


def check(workers, followers, pagers, empty_at):
    """Returns the figures."""
    log = union(followers)
    check_segments(followers, log)
    seen = {value: version for version, kind, _, value in log.values() if kind != "DELETED"}
    histories = {}
    for worker in workers:
        for name, calls in worker.calls.items():
            histories.setdefault(name, []).extend(calls)
    for calls in histories.values():
        seen.update({c.shown: c.version for c in calls if c.outcome == "ok" and c.shown})
    snapshots = [s for f in followers for s in f.snapshots] + [s for p in pagers for s in p.snapshots]
    if is_covered(followers, empty_at, max(s[0] for s in snapshots)):
        check_snapshots(snapshots, log, empty_at)
    unknown = 0
    for name, calls in histories.items():
        calls = resolve(calls, seen)
        unknown += sum(c.end == INFINITY for c in calls)
        assert linearizable(calls), "not linearizable: %s\n%s" % (name, explain(calls))
    return {"operations": sum(map(len, histories.values())), "unknown": unknown, "events": len(log),
            "watches": sum(f.resumed for f in followers), "lists": len(snapshots),
            "relisted": sum(len([s for s in f.segments if s]) - 1 for f in followers),
            "expired pages": sum(p.expired for p in pagers)}


class Flag(threading.Event):
    """Set by a value."""

    value = None

    def __call__(self):
        return self.value
