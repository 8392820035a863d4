#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
quota.py: quotas under load and kill -9. An object and the usage of its quotas are one commit, so
after every crash the usage equals the number of stored objects, and no quota is ever exceeded.
"""
import random
import time

from harness import (CONFIGMAPS, SOAK, Broken, Client, Server, Threads, configmap, make_namespace, run, test)

WRITERS = 8
GONE = (Broken, ConnectionRefusedError, ConnectionResetError)
QUOTAS = "/api/v1/namespaces/space/resourcequotas"


def make_quota(server, name, hard):
    client = Client(server)
    quota = {"kind": "ResourceQuota", "apiVersion": "v1", "metadata": {"name": name}, "spec": {"hard": hard}}
    status, answer = client.request("POST", QUOTAS, quota)
    assert status == 201, answer
    set_status(server, name, hard, {key: "0" for key in hard})


def set_status(server, name, hard, used):
    """What the quota controller does."""
    patch = {"status": {"hard": hard, "used": used}}
    status, answer = Client(server).request("PATCH", "%s/%s/status" % (QUOTAS, name), patch,
                                            "application/merge-patch+json")
    assert status == 200, answer


def used(server, name, resource):
    status, answer = Client(server).request("GET", "%s/%s" % (QUOTAS, name))
    assert status == 200, answer
    return int(answer["status"]["used"][resource])


def stored(server):
    status, answer = Client(server).request("GET", CONFIGMAPS % "space")
    assert status == 200, answer
    return {item["metadata"]["name"] for item in answer["items"]}


class Writer:
    def __init__(self, server, number):
        self.server, self.number = server, number
        self.serial = self.refused = 0
        self.acknowledged = set()

    def create(self, client):
        self.serial += 1
        name = "w%d-%d" % (self.number, self.serial)
        status, answer = client.request("POST", CONFIGMAPS % "space", configmap("space", name, "x"))
        if status == 201:
            self.acknowledged.add(name)
            return True
        assert status == 403 and "exceeded quota: " in answer["message"], answer
        self.refused += 1
        return False

    def create_until_it_breaks(self):
        client = Client(self.server)
        try:
            while True:
                self.create(client)
        except GONE:
            client.close()

    def create_until_refused(self):
        client = Client(self.server)
        while self.create(client):
            pass
        client.close()


def check(server, writers, limit):
    objects = stored(server)
    for writer in writers:
        missing = writer.acknowledged - objects
        assert not missing, "acknowledged, not stored: %s" % sorted(missing)
    counted = used(server, "wide", "count/configmaps")
    assert counted == len(objects), "%d objects, %d charged" % (len(objects), counted)
    assert used(server, "tight", "configmaps") == counted
    assert len(objects) <= limit, "%d objects, the limit is %d" % (len(objects), limit)
    return len(objects)


@test
def usage_equals_stored_objects_after_every_kill():
    limit = 200000
    with Server() as server:
        server.start()
        make_namespace(server, "space")
        make_quota(server, "tight", {"configmaps": str(limit)})
        make_quota(server, "wide", {"count/configmaps": str(limit)})
        writers = [Writer(server, i) for i in range(WRITERS)]
        for _ in range(30 if SOAK else 4):
            threads = Threads()
            for writer in writers:
                threads.go(writer.create_until_it_breaks)
            time.sleep(random.uniform(0.05, 0.6))
            server.kill()
            threads.join()
            server.start()
            count = check(server, writers, limit)
        print("objects after the last kill: %d" % count)


@test
def writers_fill_a_quota_exactly():
    limit = 500
    with Server() as server:
        server.start()
        make_namespace(server, "space")
        make_quota(server, "tight", {"configmaps": str(limit)})
        make_quota(server, "wide", {"count/configmaps": str(10 * limit)})
        writers = [Writer(server, i) for i in range(WRITERS)]
        threads = Threads()
        for writer in writers:
            threads.go(writer.create_until_refused)
        threads.join()
        assert check(server, writers, limit) == limit
        assert sum(len(writer.acknowledged) for writer in writers) == limit
        assert all(writer.refused == 1 for writer in writers)


@test
def raised_limit_admits_as_many_as_it_adds():
    with Server() as server:
        server.start()
        make_namespace(server, "space")
        make_quota(server, "tight", {"configmaps": "0"})
        make_quota(server, "wide", {"count/configmaps": "1000"})
        writers = [Writer(server, i) for i in range(WRITERS)]
        for limit in (10, 11, 60):
            hard = {"configmaps": str(limit)}
            Client(server).request("PATCH", QUOTAS + "/tight", {"spec": {"hard": hard}},
                                   "application/merge-patch+json")
            set_status(server, "tight", hard, {})
            threads = Threads()
            for writer in writers:
                threads.go(writer.create_until_refused)
            threads.join()
            assert check(server, writers, limit) == limit


if __name__ == "__main__":
    run()
