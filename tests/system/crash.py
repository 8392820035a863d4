#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
crash.py: kill -9 under load, again and again on the same directory.

Every key belongs to one writer, so what it must hold after a crash is known: the state of the last
acknowledged change or, where an answer was still to come, that of the change that was under way.
Followers watch all the time and go on from the last version they saw, also across a crash, also from
a bookmark. At the end the log of the follower of everything is the history of the store: each
acknowledged change must be in it, nothing else than what was sent, no version twice, none missing;
replayed, it must give the lists and the pages that clients were shown.
"""
import random
import signal
import time

from harness import (CONFIGMAPS, SOAK, Broken, Client, Server, Threads, Watch, configmap, make_namespace, file_backend_only, run, test,
                     version_of, wait_for)
from powercut import Unplugged

NAMESPACES = ("north", "south")
WRITERS = 6
KEYS_EACH = 8
GONE = (Broken, ConnectionRefusedError, ConnectionResetError)


class Key:
    """What its writer knows of an object. `state` is None or (value, version, uid); `pending` is the
    change whose answer never came: ("delete", None) or ("put", value)."""

    def __init__(self, ns, name):
        self.ns, self.name = ns, name
        self.state = None
        self.pending = None
        self.sent = []
        self.serial = 0

    def path(self):
        return CONFIGMAPS % self.ns + "/" + self.name


class Writer:
    def __init__(self, server, number):
        self.server = server
        self.random = random.Random(random.random())
        self.keys = [Key(NAMESPACES[i % 2], "w%d-k%d" % (number, i)) for i in range(KEYS_EACH)]
        self.acknowledged = []  # (version, key, value)
        self.deletions = 0

    def write_until_it_breaks(self):
        client = Client(self.server)
        try:
            while True:
                self.write(client, self.random.choice(self.keys))
        except GONE:
            client.close()

    def write(self, client, key):
        if key.state and self.random.random() < 0.2:
            self.delete(client, key)
            return
        key.serial += 1
        value = "%s-%d" % (key.name, key.serial)
        key.sent.append(value)
        key.pending = ("put", value)
        status, answer = client.request(*self.put(key, value))
        assert status == (200 if key.state else 201), (key.name, key.state, status, answer)
        key.pending = None
        assert answer["data"]["value"] == value, answer
        if key.state:
            assert answer["metadata"]["uid"] == key.state[2] and version_of(answer) > key.state[1], (key.state, answer)
        key.state = (value, version_of(answer), answer["metadata"]["uid"])
        self.acknowledged.append((key.state[1], (key.ns, key.name), value))

    def put(self, key, value):
        """Method, path, body and type of one of the ways to store a value. Some are large, so that the
        file grows and values reach over many pages."""
        padding = "x" * self.random.choice((0, 0, 0, 0, 100, 3000, 30000))
        if not key.state:
            return "POST", CONFIGMAPS % key.ns, configmap(key.ns, key.name, value, padding=padding)
        way = self.random.randrange(4)
        if way == 0:
            return "PATCH", key.path(), {"data": {"value": value}}, "application/merge-patch+json"
        if way == 1:
            patch = [{"op": "replace", "path": "/data/value", "value": value}]
            return "PATCH", key.path(), patch, "application/json-patch+json"
        version = key.state[1] if way == 2 else None
        return "PUT", key.path(), configmap(key.ns, key.name, value, version, padding=padding)

    def delete(self, client, key):
        key.pending = ("delete", None)
        status, answer = client.request("DELETE", key.path())
        assert status == 200, (key.name, answer)
        key.pending = None
        key.state = None
        self.deletions += 1

    def compare(self, found):
        """After a restart: what is there is what was acknowledged, or what was under way."""
        unknown = 0
        for key in self.keys:
            state = found.pop((key.ns, key.name), None)
            if state != key.state:
                assert key.pending, ("acknowledged %s, found %s of %s" % (key.state, state, key.name))
                wanted = key.pending[1]
                assert (state[0] if state else None) == wanted, (key.name, key.state, key.pending, state)
                unknown += 1
            key.state, key.pending = state, None
        return unknown


class Follower:
    """Watches, and keeps a log of (version, type, key, value)."""

    def __init__(self, server, path, since, options=""):
        self.server, self.path, self.options = server, path, options
        self.last = since
        self.log = []
        self.bookmarks = self.resumed = 0
        self.goal = None

    def follow(self):
        while self.goal is None or self.last < self.goal:
            try:
                self.follow_one()
            except GONE:
                time.sleep(0.005)

    def follow_one(self):
        seconds = random.randrange(1, 3)
        watch = Watch(self.server, self.path, self.last,
                      "&allowWatchBookmarks=true&timeoutSeconds=%d%s" % (seconds, self.options))
        assert watch.status == 200, watch.failure
        self.resumed += 1
        for event in watch:
            self.take(event)

    def take(self, event):
        item = event["object"]
        assert event["type"] != "ERROR", item
        version = version_of(item)
        if event["type"] == "BOOKMARK":
            assert version >= self.last, "a bookmark of %d after %d" % (version, self.last)
            self.bookmarks += 1
        else:
            assert version > self.last, "%s of %d after %d" % (event["type"], version, self.last)
            key = (item["metadata"]["namespace"], item["metadata"]["name"])
            if is_ours(item):
                self.log.append((version, event["type"], key, item["data"]["value"]))
        self.last = version


class Pager:
    """Begins lists in pages before a crash and goes on with them after it."""

    def __init__(self, server):
        self.server = server
        self.open = None
        self.expired = 0
        self.lists = []  # (version, {key: (value, version)})

    def begin_until_it_breaks(self):
        client = Client(self.server)
        try:
            while True:
                status, page = client.request("GET", "/api/v1/configmaps?limit=%d" % random.randrange(1, 9))
                assert status == 200, page
                if "continue" in page["metadata"]:
                    self.open = page
                time.sleep(0.01)
        except GONE:
            client.close()

    def go_on(self):
        page, self.open = self.open, None
        if not page:
            return
        items, version = page["items"], version_of(page)
        while "continue" in page["metadata"]:
            status, page = Client(self.server).request(
                "GET", "/api/v1/configmaps?limit=7&continue=" + page["metadata"]["continue"])
            if status == 410:
                assert page["reason"] == "Expired", page
                self.expired += 1
                return
            assert status == 200, page
            assert version_of(page) == version, (version, page["metadata"])
            items += page["items"]
        self.lists.append((version, states(items)))


def is_ours(item):
    """And not the server's own."""
    return item["metadata"]["namespace"] != "kube-system"


def states(items):
    return {(i["metadata"]["namespace"], i["metadata"]["name"]): (i["data"]["value"], version_of(i)) for i in items if is_ours(i)}


def list_all(server):
    status, answer = Client(server).request("GET", "/api/v1/configmaps")
    assert status == 200, answer
    return version_of(answer), [item for item in answer["items"] if is_ours(item)]


def replay(log, lists):
    """The state a log leads to; on the way, each list is compared with the state of its version."""
    state = {}
    lists = sorted(lists, key=lambda l: l[0])
    for version, kind, key, value in log + [(float("inf"), None, None, None)]:
        while lists and lists[0][0] < version:
            at, shown = lists.pop(0)
            assert shown == state, "the pages of %d differ from the state of then" % at
        if kind == "ADDED":
            assert key not in state, (version, key)
        elif kind:
            assert key in state, (version, kind, key)
        if kind == "DELETED":
            assert state.pop(key)[0] == value, (version, key, value)
        elif kind:
            state[key] = (value, version)
    return state


def check_history(writers, log, first, final):
    """The log of everything against what was sent and acknowledged."""
    versions = [entry[0] for entry in log]
    assert versions == list(range(first + 1, final + 1)), "versions are missing: " + str(
        sorted(set(range(first + 1, final + 1)) - set(versions))[:10])
    by_version = {entry[0]: entry for entry in log}
    sent = {(k.ns, k.name): set(k.sent) for w in writers for k in w.keys}
    acknowledged = [a for w in writers for a in w.acknowledged]
    assert len({a[0] for a in acknowledged}) == len(acknowledged), "a version was given twice"
    for version, key, value in acknowledged:
        assert by_version[version][2:] == (key, value), (version, key, value, by_version[version])
    stored = [(key, value) for _, kind, key, value in log if kind != "DELETED"]
    assert len(set(stored)) == len(stored), "a change was made twice"
    for key, value in stored:
        assert value in sent[key], "nobody sent %s of %s" % (value, key)


def check_part(whole, part, matches):
    """A follower of a part saw exactly that part."""
    assert part == [entry for entry in whole if matches(entry[2])], "a follower of a part saw something else"


class Trial:
    """One directory, its writers and followers, and what happened to them."""

    def __init__(self, server):
        self.server = server
        for ns in NAMESPACES:
            make_namespace(server, ns)
        self.first, _ = list_all(server)
        self.highest = self.first
        self.writers = [Writer(server, n) for n in range(WRITERS)]
        self.pager = Pager(server)
        self.unknown = 0
        one = "&fieldSelector=metadata.name%3Dw1-k0"
        self.followers = [Follower(server, "/api/v1/configmaps", self.first),
                          Follower(server, "/api/v1/configmaps", self.first),
                          Follower(server, CONFIGMAPS % "north", self.first),
                          Follower(server, CONFIGMAPS % "north", self.first, one)]

    def round(self):
        """Load, a kill at some moment, a restart, and the comparison."""
        load = Threads()
        for writer in self.writers:
            load.go(writer.write_until_it_breaks)
        load.go(self.pager.begin_until_it_breaks)
        before = self.written()
        time.sleep(random.uniform(0.05, 1.2))
        wait_for(lambda: self.written() > before or load.failures, 20, "something is acknowledged before the kill")
        self.server.kill()
        load.join()
        while random.random() < 0.25:  # Also while it starts.
            self.server.spawn()
            time.sleep(random.uniform(0.0, 0.06))
            self.server.kill()
        self.server.start()
        self.compare()

    def written(self):
        return sum(len(w.acknowledged) for w in self.writers)

    def compare(self):
        version, items = list_all(self.server)
        for _, state in states(items).items():
            assert state[1] <= version
        newest = max([self.highest] + [w.acknowledged[-1][0] for w in self.writers if w.acknowledged])
        assert version >= newest, "the version went back from %d to %d" % (newest, version)
        self.highest = version
        found = {(i["metadata"]["namespace"], i["metadata"]["name"]):
                 (i["data"]["value"], version_of(i), i["metadata"]["uid"]) for i in items}
        self.unknown += sum(writer.compare(found) for writer in self.writers)
        assert not found, "nobody made these: %s" % found
        self.pager.go_on()

    def finish(self, following):
        final, items = list_all(self.server)
        for follower in self.followers:
            follower.goal = final
        following.join()
        whole = self.followers[0].log
        check_history(self.writers, whole, self.first, final)
        assert replay(whole, self.pager.lists) == states(items), "the log does not lead to the final state"
        check_part(whole, self.followers[1].log, lambda key: True)
        check_part(whole, self.followers[2].log, lambda key: key[0] == "north")
        check_part(whole, self.followers[3].log, lambda key: key == ("north", "w1-k0"))

    def tell(self, rounds):
        print("%d ends: %d changes acknowledged, %d of unknown outcome of which %d were stored; %d events followed "
              "by each of two, %d watches resumed, %d bookmarks; %d lists in pages went on after a crash, %d expired"
              % (rounds, sum(len(w.acknowledged) + w.deletions for w in self.writers), rounds * WRITERS, self.unknown,
                 len(self.followers[0].log), sum(f.resumed for f in self.followers),
                 sum(f.bookmarks for f in self.followers), len(self.pager.lists), self.pager.expired))


# ---- the tests ----


def survives(make, rounds):
    with make() as server:
        server.start()
        trial = Trial(server)
        following = Threads()
        for follower in trial.followers:
            following.go(follower.follow)
        for _ in range(rounds):
            trial.round()
            assert not following.failures, following.failures[0]
        trial.finish(following)
        trial.tell(rounds)
        return server


@test
def acknowledged_writes_survive_kills_and_watches_resume():
    survives(Server, 50 if SOAK else 3)


class Stopped(Server):
    """One whose kill is a SIGTERM under load, on which it must end by itself."""

    def kill(self):
        code = self.stop()
        assert code in (0, -signal.SIGTERM), "stopped under load it ended with %d: %s" % (code, self.log_text())


@test
def acknowledged_writes_survive_stops_under_load():
    survives(Stopped, 20 if SOAK else 2)


@test
@file_backend_only
def acknowledged_writes_survive_power_cuts():
    server = survives(Unplugged, 50 if SOAK else 2)
    print("%d sectors that were written and not synced were lost" % server.undone)
    assert server.undone or not SOAK


@test
@file_backend_only
def disk_that_ignores_syncs_fails_this_test():
    server = Unplugged(lies=True)
    try:
        survives(lambda: server, 20)  # The first round that loses something ends it.
    except AssertionError:
        assert server.undone, "that failed before anything was lost"
        return
    raise AssertionError("writes were lost and nothing was noticed")


run()
