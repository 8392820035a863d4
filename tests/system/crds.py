#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
crds.py: many CRDs, and CRDs that are deleted while their objects are in use.

A thousand CRDs with schemas as real projects write them (10 KB of text each) must be served
milliseconds after their creation, use at most 100 KB of memory each, and let a server start within
a second.

A deleted CRD deletes its objects, also those that clients create at that moment. A watch of them
delivers a DELETED event for each, and then ends.
"""
import json
import os
import threading
import time

from harness import LIMIT, Client, Server, Threads, Watch, bound, holds, run, sanitized, test, wait_for

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MANY = 1000
GROUPS = 20
MOST_BYTES = bound(100, 1000) << 10  # Of memory for a definition.
SOON = bound(0.01, 0.1)  # Seconds from the answer to being served, for most; and ten times that for nearly all.
START = bound(1.0, 5.0)  # Seconds from the start of a process to its being ready …
START_WORK = bound(0.6, 3.0)  # … or, where others use the machine as well, of work of a processor until then.


# ---- definitions ----


def leaf(number):
    """A field such as there are in most schemas, with the words that explain it."""
    words = "Tells how the part of the machine with the number %d is to be run, and what of it is kept. " % number
    kinds = [
        {"type": "string", "minLength": 1, "maxLength": 253, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},
        {"type": "integer", "format": "int32", "minimum": 0, "maximum": 65535, "default": 80},
        {"type": "string", "enum": ["Always", "IfNotPresent", "Never"], "default": "Always"},
        {"type": "boolean", "default": False},
        {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        {"type": "object", "additionalProperties": {"type": "string"}},
    ]
    return dict(kinds[number % len(kinds)], description=words)


def section(number):
    fields = {"field%d" % i: leaf(number + i) for i in range(8)}
    return {"type": "object", "description": "A section of the machine.", "properties": fields,
            "required": ["field0"]}


def condition():
    fields = {name: {"type": "string", "description": "What controllers say about the machine."}
              for name in ("type", "status", "reason", "message", "lastTransitionTime")}
    return {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"],
            "items": {"type": "object", "required": ["type", "status"], "properties": fields}}


def schema():
    spec = {"section%d" % i: section(i) for i in range(5)}
    spec["size"] = {"type": "integer", "default": 3}
    return {"type": "object", "description": "A machine, and what it is for.", "properties": {
        "spec": {"type": "object", "properties": spec},
        "status": {"type": "object", "properties": {"conditions": condition()}}}}


def definition(plural, group, described):
    kind = plural.capitalize()
    columns = [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
               {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}]
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": described},
               "subresources": {"status": {}}, "additionalPrinterColumns": columns}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "%s.%s" % (plural, group)},
            "spec": {"group": group, "scope": "Namespaced", "versions": [version],
                     "names": {"plural": plural, "kind": kind, "shortNames": [plural + "x"]}}}


def place(number):
    """Plural and group of the definition with a number."""
    return "machines%d" % number, "g%d.example.com" % (number % GROUPS)


def objects_of(number):
    plural, group = place(number)
    return "/apis/%s/v1/namespaces/default/%s" % (group, plural)


def is_served(client, path):
    return client.request("GET", path)[0] == 200


def create(client, number, described):
    """Seconds until its objects were served, after the answer."""
    plural, group = place(number)
    # Schemas differ, as those of different projects do: nothing is saved by sharing them.
    own = dict(described, description="Machines of kind %d." % number)
    status, answer = client.request("POST", CRDS, definition(plural, group, own))
    assert status == 201, answer
    start = time.monotonic()
    while not is_served(client, objects_of(number)):
        assert time.monotonic() - start < bound(10, LIMIT), "%s is not served" % objects_of(number)
    return time.monotonic() - start


def check_discovery(client):
    status, answer = client.request("GET", "/apis")
    assert status == 200
    ours = [g["name"] for g in answer["groups"] if g["name"].endswith(".example.com")]
    assert len(ours) == GROUPS, ours
    found = 0
    for group in ours:
        _, listed = client.request("GET", "/apis/%s/v1" % group)
        found += sum("/" not in r["name"] for r in listed["resources"])
    assert found == MANY, "%d resources in discovery" % found


def check_object(client, number):
    """It is used as any other."""
    plural, group = place(number)
    machine = {"apiVersion": group + "/v1", "kind": plural.capitalize(), "metadata": {"name": "one"},
               "spec": {"section1": {"field0": 7}, "unknown": 1}}
    status, answer = client.request("POST", objects_of(number), machine)
    assert status == 201, answer
    filled = {"field0": 7, "field1": "Always", "field2": False, "field7": 80}
    assert answer["spec"] == {"section1": filled, "size": 3}, answer["spec"]
    machine["spec"]["section1"]["field0"] = 70000
    assert client.request("POST", objects_of(number), machine)[0] == 422


def restart(server):
    """Seconds until the next process was ready, and how many of them it worked."""
    assert server.stop() == 0
    started = time.monotonic()
    server.start()
    took = time.monotonic() - started
    with open("/proc/%d/stat" % server.process.pid) as f:
        ticks = f.read().rsplit(")", 1)[1].split()[11:13]  # utime, stime
    return took, sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


@test
def thousand_crds_are_served_soon_and_use_little_memory():
    described = schema()
    size = len(json.dumps(described))
    assert 9000 < size < 13000, "the schema has %d bytes" % size
    with Server() as server:
        server.start()
        client = Client(server)
        before = server.rss()
        started = time.monotonic()
        waits = sorted(create(client, i, described) for i in range(MANY))
        took = time.monotonic() - started
        each = (server.rss() - before) / MANY
        print("  %d definitions in %.1f s, served after %.1f ms (median), %.1f ms (the slowest); %.1f KB each" %
              (MANY, took, waits[MANY // 2] * 1e3, waits[-1] * 1e3, each / 1024))
        middle, late = waits[MANY // 2], waits[MANY * 95 // 100]
        assert (middle < SOON and late < 10 * SOON) or sanitized(), "served after %.3f s, %.3f s" % (middle, late)
        holds(each, MOST_BYTES, "a definition")
        check_discovery(client)
        check_object(client, 0)
        check_object(client, MANY - 1)
        client.close()
        took, work = restart(server)
        print("  ready %.0f ms after the start (%.0f ms of work); %.1f KB each then" %
              (took * 1e3, work * 1e3, (server.rss() - before) / MANY / 1024))
        assert took < START or work < START_WORK or sanitized(), "ready after %.2f s, %.2f s of work" % (took, work)
        client = Client(server)
        check_discovery(client)
        assert is_served(client, objects_of(MANY // 2))
        holds((server.rss() - before) / MANY, MOST_BYTES, "a definition after a start")


# ---- definitions that go ----


class Creator:
    """Creates objects as fast as it can, whatever becomes of their definition."""

    def __init__(self, server, name):
        self.client, self.name, self.stored, self.refused = Client(server), name, 0, 0
        self.stopped = threading.Event()

    def run(self):
        number = 0
        while not self.stopped.is_set():
            number += 1
            status, answer = self.client.request("POST", objects_of(0), {
                "apiVersion": place(0)[1] + "/v1", "kind": place(0)[0].capitalize(),
                "metadata": {"name": "%s-%d" % (self.name, number)}})
            assert status in (201, 403, 404), answer
            self.stored += status == 201
            self.refused += status != 201


def follow(server, seen):
    """What a watch says about one life of the definition: every object that came also goes."""
    present = set()
    watch = Watch(server, objects_of(0))
    if watch.status != 200:
        watch.close()
        return
    for event in watch:
        assert event["type"] in ("ADDED", "MODIFIED", "DELETED"), event
        name = event["object"]["metadata"]["name"]
        if event["type"] == "DELETED":
            present.remove(name)
            seen.append(name)
        else:
            present.add(name)
    assert not present, "the watch ended, and %d objects were left" % len(present)


@test
def crds_deleted_under_load_leave_nothing_behind():
    rounds = 5
    with Server() as server:
        server.start()
        client, threads, seen = Client(server), Threads(), []
        plural, group = place(0)
        name = "%s/%s.%s" % (CRDS, plural, group)
        small = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        creators = [Creator(server, "c%d" % i) for i in range(4)]
        for creator in creators:
            threads.go(creator.run)
        for _ in range(rounds):
            status, answer = client.request("POST", CRDS, definition(plural, group, small))
            assert status == 201, answer
            wait_for(lambda: is_served(client, objects_of(0)), 20, "the definition is served")
            items = client.request("GET", objects_of(0))[1]["items"]
            born = client.request("GET", name)[1]["metadata"]["creationTimestamp"]
            assert all(i["metadata"]["creationTimestamp"] >= born for i in items), "objects were left behind"
            watchers = Threads()
            for _ in range(3):
                watchers.go(follow, server, seen)
            time.sleep(0.2)  # For some objects to be created: it is the load of the test.
            status, answer = client.request("DELETE", name)
            assert status == 200, answer
            wait_for(lambda: client.request("GET", name)[0] == 404, 60, "the definition is gone")
            watchers.join(60)
        for creator in creators:
            creator.stopped.set()
        threads.join()
        stored = sum(c.stored for c in creators)
        assert stored and seen and sum(c.refused for c in creators)
        print("  %d objects came and went with %d definitions" % (stored, rounds))
        small["properties"] = {"spec": {"type": "object"}}
        assert client.request("POST", CRDS, definition(plural, group, small))[0] == 201
        wait_for(lambda: is_served(client, objects_of(0)), 20, "the definition is served")
        assert client.request("GET", objects_of(0))[1]["items"] == [], "objects were left behind"


run()
