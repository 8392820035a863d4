#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
migration.py: a store of layout 1, opened by a server of now that is killed, or loses power, while it migrates.

The store has 20 MB, more than one step of the migration. However often the server dies, the next start completes
the migration: every object is there with its uid, version and content, and a watch from a version before the
migration tells every event since.

The store of layout 1 is made of one of now by kc_layout1 (layout1.c): the same changes under the old keys.
"""
import atexit
import functools
import hashlib
import json
import os
import random
import shutil
import subprocess
import tempfile
import time

from harness import (BINARY, CONFIGMAPS, SOAK, Client, Server, Skipped, Watch, configmap, make_namespace, run, test,
                     version_of, wait_for)
from powercut import Unplugged

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
ROBOTS = "/apis/example.com/v1/namespaces/south/robots"
LARGE = 100_000
OBJECTS = 200
ROUNDS = 40 if SOAK else 3

ROBOT_DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "robots.example.com"},
    "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "robots", "kind": "Robot"},
             "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                 "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


def must(client, method, path, body=None):
    status, answer = client.request(method, path, body)
    assert status in (200, 201), (method, path, status, answer)
    return answer


def fill(server):
    """Returns the version of the moment from which watches shall go on."""
    client = Client(server)
    make_namespace(server, "south")
    must(client, "POST", CRDS, ROBOT_DEFINITION)
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "reader"}, "rules": []}
    must(client, "POST", ROLES, role)
    since = version_of(must(client, "POST", CONFIGMAPS % "south", configmap("south", "first", "0")))
    for i in range(OBJECTS):
        must(client, "POST", CONFIGMAPS % "south", configmap("south", "c%d" % i, str(i), padding="x" * LARGE))
    for i in range(0, OBJECTS, 7):
        must(client, "DELETE", CONFIGMAPS % "south" + "/c%d" % i)
    for i in range(20):
        must(client, "POST", ROBOTS, {"apiVersion": "example.com/v1", "kind": "Robot", "metadata": {"name": "r%d" % i}})
    return since


def content(server):
    """Every object of the test by path and name: uid, version and a digest of all of it."""
    client, found = Client(server), {}
    for path in (CONFIGMAPS % "south", ROLES, ROBOTS, CRDS, "/api/v1/namespaces", "/api/v1/services"):
        for item in must(client, "GET", path)["items"]:
            digest = hashlib.sha256(json.dumps(item, sort_keys=True).encode()).hexdigest()
            found[path, item["metadata"]["name"]] = (item["metadata"]["uid"], version_of(item), digest)
    return found


def events(server, since):
    """The events of configmaps since a version, up to the last there is."""
    last = int(must(Client(server), "GET", CONFIGMAPS % "south")["metadata"]["resourceVersion"])
    marker = version_of(must(Client(server), "PUT", CONFIGMAPS % "south" + "/first", configmap("south", "first", "1")))
    told = []
    for event in Watch(server, CONFIGMAPS % "south", since):
        version = version_of(event["object"])
        if version == marker:
            return told
        assert version <= last, event
        told.append((event["type"], event["object"]["metadata"]["name"], version))
    raise AssertionError("the watch ended")


class Old:
    """A directory of layout 1, and what is in it."""

    def __init__(self):
        tool = os.path.join(os.path.dirname(os.path.abspath(BINARY)), "tests/kc_layout1")
        if not os.path.exists(tool):
            raise Skipped("%s is not built" % tool)
        self.directory = tempfile.mkdtemp(prefix="kc-layout1-")
        with Server() as server:
            server.start()
            self.since = fill(server)
            self.content = content(server)
            assert server.stop() == 0, server.log_text()
            subprocess.run([tool, server.directory + "/store", self.directory + "/store"], check=True)
            shutil.copytree(server.directory + "/certs", self.directory + "/certs")

    def copy(self):
        directory = tempfile.mkdtemp(prefix="kc-system-")
        shutil.copytree(self.directory, directory, dirs_exist_ok=True)
        return directory


@functools.lru_cache
def old_store():
    """Made once for all tests."""
    old = Old()
    atexit.register(shutil.rmtree, old.directory, ignore_errors=True)
    return old


def assert_whole(server, old):
    """Everything is there, and the history, too."""
    assert content(server) == old.content, server.log_text()
    told = events(server, old.since)
    assert len(told) == OBJECTS + len(range(0, OBJECTS, 7)), len(told)
    assert [v for _, _, v in told] == sorted(v for _, _, v in told)


def has_migrated(server):
    return "migrated the store" in server.log_text()


def time_of_migration(old):
    """Seconds from the start of the process to the end of the migration."""
    with Server(old.copy()) as server:
        started = time.monotonic()
        server.spawn()
        wait_for(lambda: has_migrated(server), 60, "migrated")
        return time.monotonic() - started


def die_while_migrating(make_server, old, what):
    """Starts it and kills it at random moments of its migration, again and again; then it starts, and has everything."""
    took, early = time_of_migration(old), 0
    for _ in range(ROUNDS):
        with make_server(old.copy()) as server:
            for _ in range(random.choice((1, 2, 3))):
                server.spawn()
                time.sleep(random.random() * took)
                early += not has_migrated(server)
                server.kill()
            server.start()
            assert_whole(server, old)
    print("migrated after %.2f s; %d %s before the end of the migration" % (took, early, what))


@test
def store_killed_during_migration_is_complete_after_next_start():
    die_while_migrating(Server, old_store(), "kills")


@test
def store_after_power_cut_during_migration_is_complete_after_next_start():
    die_while_migrating(Unplugged, old_store(), "power cuts")


run()
