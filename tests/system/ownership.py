#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
ownership.py: kill -9 between writes of managed fields.

Writers apply, update and patch ConfigMaps of their own as several managers. A model of data and owners predicts each answer. After a
kill and a restart every object must be exactly as its last acknowledged answer showed it, managedFields with their times and the
resourceVersion included; where an answer was still to come, it may instead be what the model predicts for that request.
"""
import json
import random
import time

from harness import (CONFIGMAPS, SOAK, Broken, Client, Server, Threads, make_namespace, file_backend_only, run, test, wait_for)
from powercut import Unplugged

NAMESPACE = "owned"
WRITERS = 5
OBJECTS_EACH = 6
KEYS = ["k%d" % i for i in range(6)]
MANAGERS = ["ann", "bob", "eve"]
GONE = (Broken, ConnectionRefusedError, ConnectionResetError)


class Model:
    """Members of `data` and who owns them: {(manager, operation): keys}."""

    def __init__(self, data, owners):
        self.data = dict(data)
        self.owners = {entry: set(keys) for entry, keys in owners.items()}

    def copy(self):
        return Model(self.data, self.owners)

    def take(self, entry, keys):
        """Other entries lose the keys."""
        for other, owned in self.owners.items():
            if other != entry:
                owned -= keys

    def update(self, manager, values):
        """A merge patch: a value of None removes the member."""
        changed = {k for k, v in values.items() if self.data.get(k) != v}
        self.take(None, {k for k in changed if values[k] is None})
        written = {k for k in changed if values[k] is not None}
        entry = (manager, "Update")
        self.take(entry, written)
        self.owners.setdefault(entry, set()).update(written)
        for key in changed:
            self.data.pop(key, None)
            if values[key] is not None:
                self.data[key] = values[key]
        return self.tidy()

    def apply(self, manager, values):
        """An apply with force: members that the manager applied before and now omits go, unless another manager owns them."""
        entry = (manager, "Apply")
        self.take(entry, {k for k, v in values.items() if self.data.get(k) != v})
        dropped = self.owners.get(entry, set()) - set(values)
        self.owners[entry] = set(values)
        for key in dropped:
            if not any(key in owned for owned in self.owners.values()):
                self.data.pop(key, None)
        self.data.update(values)
        return self.tidy()

    def tidy(self):
        self.owners = {entry: keys for entry, keys in self.owners.items() if keys}
        return self

    def __eq__(self, other):
        return self.data == other.data and self.owners == other.owners

    def __repr__(self):
        return "%s %s" % (self.data, {"%s %s" % e: sorted(k) for e, k in sorted(self.owners.items())})


def model_of(item):
    """Data and owners as an object shows them."""
    owners = {}
    for entry in item["metadata"].get("managedFields", []):
        keys = {k[2:] for k in entry["fieldsV1"].get("f:data", {}) if k.startswith("f:")}
        if keys:
            owners[entry["manager"], entry["operation"]] = keys
    return Model(item.get("data", {}), owners)


class Object:
    """`shown` is the last acknowledged answer, `pending` the model of the change whose answer never came."""

    def __init__(self, name):
        self.name = name
        self.shown = None
        self.pending = None


class Writer:
    def __init__(self, server, number):
        self.server = server
        self.random = random.Random(random.random())
        self.objects = [Object("w%d-%d" % (number, i)) for i in range(OBJECTS_EACH)]
        self.serial = 0
        self.acknowledged = 0
        self.unchanged = 0

    def write_until_it_breaks(self):
        client = Client(self.server)
        try:
            while True:
                self.write(client, self.random.choice(self.objects))
        except GONE:
            client.close()

    def write(self, client, target):
        model = model_of(target.shown) if target.shown else Model({}, {})
        request, expected = self.request(target, model)
        target.pending = expected
        status, answer = client.request(*request)
        assert status in (200, 201), (target.name, status, answer)
        assert model_of(answer) == expected, (request, model, model_of(answer), expected)
        if target.shown and model == expected:
            assert answer["metadata"] == target.shown["metadata"], "a write without a change moved %s" % target.name
            self.unchanged += 1
        target.shown, target.pending = answer, None
        self.acknowledged += 1

    def values(self):
        self.serial += 1
        return {k: self.random.choice(["same", "same", "v%d" % self.serial]) for k in self.random.sample(KEYS, 2)}

    def request(self, target, model):
        """A request and the model after it. The label keeps one entry in the object for ever."""
        path, values, manager = CONFIGMAPS % NAMESPACE, self.values(), self.random.choice(MANAGERS)
        if not target.shown:
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": target.name, "labels": {"l": "1"}}, "data": values}
            return ("POST", path + "?fieldManager=creator", body), Model({}, {}).update("creator", values)
        path += "/" + target.name
        if self.random.random() < 0.5:
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": target.name}, "data": values}
            return (("PATCH", path + "?force=true&fieldManager=" + manager, body, "application/apply-patch+yaml"),
                    model.copy().apply(manager, values))
        if self.random.random() < 0.3:
            values[self.random.choice(KEYS)] = None
        if self.random.random() < 0.5:
            return (("PATCH", path + "?fieldManager=" + manager, {"data": values}, "application/merge-patch+json"),
                    model.copy().update(manager, values))
        after = model.copy().update(manager, values)
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": target.name, "labels": {"l": "1"}}, "data": after.data}
        return ("PUT", path + "?fieldManager=" + manager, body), after

    def compare(self, found):
        """After a restart. Returns how many unacknowledged changes were stored."""
        stored = 0
        for target in self.objects:
            item = found.pop(target.name, None)
            if item != target.shown:
                assert target.pending, "%s is %s, acknowledged was %s" % (target.name, json.dumps(item), json.dumps(target.shown))
                assert item and model_of(item) == target.pending, (target.name, item, target.pending)
                stored += 1
            target.shown, target.pending = item, None
        return stored


def everything(server):
    status, answer = Client(server).request("GET", CONFIGMAPS % NAMESPACE)
    assert status == 200, answer
    return {i["metadata"]["name"]: dict(i, apiVersion="v1", kind="ConfigMap") for i in answer["items"]
            if i["metadata"]["name"] != "kube-root-ca.crt"}


def survives(make, rounds):
    with make() as server:
        server.start()
        make_namespace(server, NAMESPACE)
        writers = [Writer(server, n) for n in range(WRITERS)]
        stored = 0
        for number in range(rounds):
            load = Threads()
            for writer in writers:
                load.go(writer.write_until_it_breaks)
            time.sleep(random.uniform(0.05, 1.0))
            if number == rounds - 1:
                wait_for(lambda: load.failures or sum(w.unchanged for w in writers), 20, "a write is without a change")
            server.kill()
            load.join()
            server.start()
            found = everything(server)
            stored += sum(writer.compare(found) for writer in writers)
            assert not found, "objects that were never sent: %s" % sorted(found)
        print("%d kills: %d writes acknowledged, %d of them without a change; %d unacknowledged changes were stored"
              % (rounds, sum(w.acknowledged for w in writers), sum(w.unchanged for w in writers), stored))


@test
def ownership_after_kill_is_that_of_the_last_acknowledged_write():
    survives(Server, 50 if SOAK else 4)


@test
@file_backend_only
def ownership_after_power_cut_is_that_of_the_last_acknowledged_write():
    survives(Unplugged, 30 if SOAK else 2)


run()
