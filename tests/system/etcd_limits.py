#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
etcd_limits.py: API servers on an etcd whose space or time is over: a database beyond its quota, a
member with a full disk, Events whose lease ends, a burst of readers while etcd stands still.
"""
import os
import signal
import socket
import time

from etcd_cluster import SIZE, Cluster, encoded
from harness import (CONFIGMAPS, Broken, Client, Etcd, Reader, Server, SmallDisk, Watch, configmap, connect, head_of,
                     long_test, run, test, wait_for)

NS = "default"
QUOTA = 24 << 20


def create(client, name, size):
    try:
        return client.request("POST", CONFIGMAPS % NS, configmap(NS, name, "x" * size))
    except (Broken, socket.timeout) as e:
        return 599, str(e)


def fill_database(client):
    """Creates objects until etcd refuses one; returns the names of those it accepted, and of the refused one."""
    names = []
    for n in range(200):
        status, answer = create(client, "n%03d" % n, 400000)
        if status == 201:
            names.append("n%03d" % n)
            continue
        assert status == 503 and "space exceeded" in answer["message"], answer
        return names, "n%03d" % n
    raise AssertionError("etcd has taken %d objects" % len(names))


def release_space(cluster):
    """What an operator does: history and free pages go, and the alarm is cleared."""
    cluster.compact()
    for member in range(SIZE):
        cluster.ask(member, "maintenance/defragment", timeout=30)
    alarms = cluster.ask_any("maintenance/alarm", {"action": "GET"}).get("alarms", [])
    assert alarms, "etcd has raised no alarm"
    for alarm in alarms:
        cluster.ask_any("maintenance/alarm", {"action": "DEACTIVATE", "memberID": alarm["memberID"], "alarm": "NOSPACE"})


def names_of(client):
    status, answer = client.request("GET", CONFIGMAPS % NS)
    assert status == 200, answer
    return [item["metadata"]["name"] for item in answer["items"]]


@test
def full_database_refuses_writes_and_serves_reads_and_deletions():
    with Cluster(member_flags=["--quota-backend-bytes", str(QUOTA)]) as cluster:
        clients = [Client(server) for server in cluster.servers]
        accepted, refused = fill_database(clients[0])
        names = names_of(clients[0])
        # The write with which etcd exceeds its quota is refused, but may have been applied.
        assert names in (accepted, accepted + [refused]), names
        for client in clients:
            assert names_of(client) == names
        for name in names[: len(names) // 2]:
            status, answer = clients[1].request("DELETE", CONFIGMAPS % NS + "/" + name)
            assert status == 200, answer
        release_space(cluster)
        wait_for(lambda: create(clients[2], "after", 10)[0] in (201, 409), 30, "writes work again")
        left = names_of(clients[0])
        assert left == ["after"] + names[len(names) // 2:], left
        print("%d objects until the database was full" % len(names))


@long_test
def member_with_a_full_disk_does_not_stop_the_others():
    with SmallDisk("160m") as disk:
        places = [disk.directory + "/m"] + [None] * (SIZE - 1)
        with Cluster(disk=lambda i: places[i]) as cluster:
            client, acknowledged = Client(cluster.servers[0], timeout=20), []
            disk.fill()
            longest, n = 0.0, 0
            until = time.monotonic() + 60
            while time.monotonic() < until and runs(cluster, 0):
                start = time.monotonic()
                name, n = "n%04d" % n, n + 1
                if create(client, name, 100000)[0] == 201:
                    acknowledged.append(name)
                longest = max(longest, time.monotonic() - start)
            assert not runs(cluster, 0), "the member with a full disk still runs"
            for i in range(20):
                if create(client, "after-%d" % i, 100)[0] == 201:
                    acknowledged.append("after-%d" % i)
            os.unlink(os.path.join(disk.directory, "filler"))
            cluster.member_start(0)
            for server in cluster.servers:
                found = {i["metadata"]["name"] for i in Client(server).request("GET", CONFIGMAPS % NS)[1]["items"]}
                assert set(acknowledged) <= found, sorted(set(acknowledged) - found)
            print("%d writes beside a full disk, the slowest in %.1f s" % (len(acknowledged), longest))


def runs(cluster, member):
    try:
        os.kill(cluster.pid_of("m%d" % member), 0)
    except ProcessLookupError:
        return False
    return True


@test
def events_end_with_their_lease_on_every_server():
    with Cluster(server_flags=["--event-ttl", "2s"]) as cluster:
        path = "/api/v1/namespaces/%s/events" % NS
        body = {"kind": "Event", "apiVersion": "v1", "reason": "Test", "metadata": {"name": "short", "namespace": NS},
                "involvedObject": {"kind": "ConfigMap", "namespace": NS, "name": "a"}}
        status, made = Client(cluster.servers[0]).request("POST", path, body)
        assert status == 201, made
        watch = Watch(cluster.servers[1], path, made["metadata"]["resourceVersion"])
        seen = next(watch)
        assert seen["type"] == "DELETED" and seen["object"]["metadata"]["name"] == "short", seen
        assert Client(cluster.servers[2]).request("GET", path + "/short")[0] == 404
        watch.close()
        assert not cluster.ask_any("kv/range", {"key": encoded("/registry/events/%s/short" % NS)}).get("kvs")


@test
def burst_of_readers_waits_for_etcd_and_is_answered():
    """Their number is above the limit of reads in flight; one answer of etcd serves them all."""
    readers = 500
    etcd = Etcd(os.path.join("/tmp", "kc-burst-%d" % os.getpid()))
    try:
        with Server(flags=["--backend", "etcd", "--etcd-servers", etcd.start()]) as server:
            etcd.make_keys(server.directory)
            server.start()
            sockets = [connect(server) for _ in range(readers)]
            os.kill(etcd.pid(), signal.SIGSTOP)
            for s in sockets:
                s.sendall(head_of("GET", "/api/v1/namespaces/default"))
            time.sleep(0.3)
            os.kill(etcd.pid(), signal.SIGCONT)
            answers = [Reader(s).head()[0] for s in sockets]
            assert answers == [200] * readers, {a: answers.count(a) for a in answers}
            for s in sockets:
                s.close()
    finally:
        etcd.discard()


run()
