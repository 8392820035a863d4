#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
faults.py: a disk that fails, a disk that is full, files that are damaged.

A failed write must be a 5xx to the client, never a hang and never a lie; reads go on; and when the
disk works again, so do writes, without a restart. Where the outcome of a write is unknown, /readyz
says so and writes are refused until the server has reopened its store; then, and after a restart,
exactly the acknowledged state is there, with the write of unknown outcome possibly on top.

faults.c fails the calls of a real server; see there. What is wrong with files is found before
anything is written: the server ends with one sentence, and the file is as it was.
"""
import errno
import hashlib
import mmap
import os
import random
import re
import shutil
import struct
import subprocess
import tempfile
import threading
import time

from harness import (CONFIGMAPS, LIMIT, SOAK, Broken, Client, Server, SmallDisk, Skipped, Threads, bound, built, configmap, run, test, wait_for)
from powercut import Unplugged

NS = "default"
LARGE = 400_000  # Too large for the journal.
MEGABYTE = 1 << 20
WRITES, SYNCS, LAST_WRITES, STRETCHES = 1, 2, 4, 8
HANG = 0xffffffff  # In the place of an errno: the call waits until the disk works again.


class Disk:
    """The control block of faults.c."""

    def __init__(self, directory):
        handle, self.path = tempfile.mkstemp(prefix="kc-faults-")
        os.write(handle, bytes(16))
        self.block = mmap.mmap(handle, 16)
        os.close(handle)
        self.environment = {"KC_FAULTS_CONTROL": self.path, "KC_FAULTS_DIRECTORY": os.path.realpath(directory)}

    def fail(self, which, number, skip=0):
        """From now on. The number is written last: it is what switches faults on."""
        self.block[0:4] = bytes(4)
        self.block[4:16] = struct.pack("III", which, skip, 0)
        self.block[0:4] = struct.pack("I", number)

    def work(self):
        self.block[0:4] = bytes(4)

    def hits(self):
        return struct.unpack("IIII", self.block[:])[3]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.block.close()
        os.unlink(self.path)


class Keeper:
    """A client that knows what it was told: for each name the last acknowledged value (None: gone)
    and the values of unknown outcome since."""

    def __init__(self, server):
        self.server = server
        self.client = Client(server, timeout=bound(15, LIMIT))
        self.known, self.doubtful = {}, {}
        self.serial = self.refused = self.done = 0

    def write(self, name=None, size=0):
        """One change; its status. Statuses other than success leave the outcome in doubt."""
        name = name or "n%d" % random.randrange(12)
        exists = self.known.get(name) is not None or None in self.doubtful.get(name, ())
        self.serial += 1
        value = "%d-%s" % (self.serial, "x" * size)
        if exists and random.random() < 0.2 and not size:
            return self.noted(name, None, *self.client.request("DELETE", CONFIGMAPS % NS + "/" + name))
        body = configmap(NS, name, value)
        if exists:
            status, answer = self.client.request("PUT", CONFIGMAPS % NS + "/" + name, body)
        else:
            status, answer = self.client.request("POST", CONFIGMAPS % NS, body)
        return self.noted(name, value, status, answer)

    def noted(self, name, value, status, answer):
        if status in (200, 201):
            self.known[name], self.doubtful[name] = value, []
            self.done += 1
        elif status in (404, 409) and self.doubtful.get(name):
            pass  # The doubtful change was stored, or not: `settle` finds out.
        else:
            assert 500 <= status <= 599, (status, answer)
            assert answer["kind"] == "Status" and answer["message"] and answer["code"] == status, answer
            self.doubtful.setdefault(name, []).append(value)
            self.refused += 1
        return status

    def settle(self):
        """Looks at what there is: it must be what was acknowledged, or a later doubtful value."""
        status, answer = Client(self.server).request("GET", CONFIGMAPS % NS)
        assert status == 200, answer
        found = {i["metadata"]["name"]: i["data"]["value"] for i in answer["items"]}
        for name in set(found) | set(self.known) | set(self.doubtful):
            allowed = [self.known.get(name)] + self.doubtful.get(name, [])
            assert found.get(name) in allowed, "%s is %.40s, not one of %.80s" % (name, found.get(name), allowed)
            self.known[name], self.doubtful[name] = found.get(name), []

    def exact(self):
        """What there is is what was acknowledged, and nothing of what was refused. It may still come
        after a restart, unless `forget` says that it must not."""
        doubts, self.doubtful = self.doubtful, {}
        self.settle()
        self.doubtful = doubts

    def forget(self):
        self.doubtful = {}


def ready(server):
    return Client(server).request("GET", "/readyz")[0]


def failing_server(make=Server, **more):
    library = built("faults")
    directory = tempfile.mkdtemp(prefix="kc-system-")
    disk = Disk(directory)
    return disk, make(directory, preload=library, environment=disk.environment, **more)


def restarted(server, keeper):
    """A restart by SIGKILL, and the comparison with what was acknowledged."""
    server.kill()
    server.start()
    keeper.client.close()
    keeper.settle()


# ---- a disk that fails ----


def recovered(server, disk, keeper, certain=False):
    """After a fault writes work again: at once, and nothing that was refused comes back, when it is certain
    that nothing was stored; else when the server has found out, without a restart."""
    disk.work()
    if certain:
        keeper.exact()
        assert keeper.write() in (200, 201)
        keeper.forget()
        keeper.exact()
    else:
        wait_for(lambda: keeper.write() in (200, 201) or time.sleep(0.05), 15, "writes work again without a restart")
        keeper.settle()
    assert ready(server) == 200


def fault_passes(which, number, certain):
    """Faults in the middle of a commit. `certain`: they say that nothing was stored."""
    disk, server = failing_server()
    with disk, server:
        server.start()
        keeper = Keeper(server)
        for _ in range(20):
            assert keeper.write() in (200, 201)
        for _ in range(3):
            disk.fail(which, number)
            statuses = [keeper.write() for _ in range(5)]
            assert disk.hits() > 0 and all(s >= 500 for s in statuses), (disk.hits(), statuses)
            keeper.exact()
            recovered(server, disk, keeper, certain)
            for _ in range(10):
                assert keeper.write() in (200, 201)
            assert ready(server) == 200
        disk.fail(which, number)
        keeper.write()
        disk.work()
        if certain:
            keeper.exact()
            keeper.forget()
        restarted(server, keeper)
        assert keeper.write() in (200, 201)


@test
def full_disk_refuses_writes_serves_reads_and_recovers():
    fault_passes(WRITES, errno.ENOSPC, certain=True)


@test
def failed_disk_writes_refuse_writes_serve_reads_and_recover():
    fault_passes(WRITES, errno.EIO, certain=True)


@test
def failed_disk_syncs_refuse_writes_serve_reads_and_recover():
    fault_passes(SYNCS, errno.EIO, certain=False)


def recoveries(server):
    text = Client(server).request("GET", "/metrics")[1]
    return int(text.split("\nkc_store_recoveries_total ")[1].split("\n")[0])


@test
def failed_last_write_stops_writes_until_the_store_is_reopened():
    for number in (errno.EIO, errno.ENOSPC):
        disk, server = failing_server()
        with disk, server:
            server.start()
            keeper = Keeper(server)
            for _ in range(20):
                assert keeper.write() in (200, 201)
            disk.fail(LAST_WRITES, number)
            # A large change goes to LMDB at once, whose last step is its header page.
            assert keeper.write("large", size=LARGE) >= 500 and disk.hits() > 0
            assert ready(server) == 500
            assert all(keeper.write() >= 500 for _ in range(5))
            keeper.exact()
            time.sleep(1.5)  # Reopening fails as long as the disk does.
            assert ready(server) == 500 and all(keeper.write() >= 500 for _ in range(5))
            disk.work()
            wait_for(lambda: ready(server) == 200, LIMIT, "the server is ready without a restart")
            assert recoveries(server) == 1
            keeper.settle()
            for _ in range(20):
                assert keeper.write() in (200, 201)
            restarted(server, keeper)
            assert ready(server) == 200 and keeper.write() in (200, 201)


@test
def hanging_disk_times_out_writes_and_serves_reads():
    # A disk that only is slow must not reach it.
    disk, server = failing_server(flags=["--request-timeout=%ds" % bound(1, 15)])
    with disk, server:
        server.start()
        keeper = Keeper(server)
        for _ in range(10):
            assert keeper.write() in (200, 201)
        disk.fail(SYNCS, HANG)
        start, threads = time.monotonic(), Threads()
        threads.go(keeper.write, "late")
        wait_for(disk.hits, LIMIT, "the disk hangs")
        for _ in range(20):
            began = time.monotonic()
            status, answer = Client(server).request("GET", CONFIGMAPS % NS)
            assert status == 200 and all(i["metadata"]["name"] != "late" for i in answer["items"]), answer
            assert time.monotonic() - began < bound(0.5, 10)
        threads.join()
        assert keeper.refused == 1 and time.monotonic() - start < bound(5, 150)
        disk.work()
        wait_until_it_writes(keeper)
        keeper.settle()  # The one that timed out was stored, or never will be.
        restarted(server, keeper)


@test
def fault_at_any_point_of_a_commit_loses_no_acknowledged_write():
    disk, server = failing_server()
    with disk, server:
        server.start()
        keeper = Keeper(server)
        for n in range(200 if SOAK else 24):
            for _ in range(random.randrange(1, 6)):
                assert keeper.write() in (200, 201)
            disk.fail(random.choice((WRITES, SYNCS, LAST_WRITES, 15)), random.choice((errno.EIO, errno.ENOSPC)),
                      skip=random.randrange(4))
            for _ in range(4):
                keeper.write()
            recovered(server, disk, keeper)
            if n % 4 == 0:
                restarted(server, keeper)
        print("%d changes acknowledged, %d refused" % (keeper.done, keeper.refused))


@test
def fault_followed_by_power_cut_loses_no_acknowledged_write():
    disk, server = failing_server(Unplugged)
    with disk, server:
        server.start()
        keeper = Keeper(server)
        for _ in range(200 if SOAK else 20):
            for _ in range(random.randrange(1, 6)):
                assert keeper.write() in (200, 201)
            disk.fail(random.choice((WRITES, SYNCS, LAST_WRITES, 15)), random.choice((errno.EIO, errno.ENOSPC)),
                      skip=random.randrange(4))
            for _ in range(random.randrange(1, 4)):
                keeper.write()
            if random.random() < 0.5:
                recovered(server, disk, keeper)
            disk.work()
            restarted(server, keeper)
        print("%d changes acknowledged, %d refused, %d sectors lost" % (keeper.done, keeper.refused, server.undone))


@test
def concurrent_writers_on_a_failing_disk_are_all_answered():
    disk, server = failing_server()
    with disk, server:
        server.start()
        keepers, stop, threads = [Keeper(server) for _ in range(6)], threading.Event(), Threads()

        def work(keeper, number):
            while not stop.is_set():
                keeper.write("c%d-%d" % (number, random.randrange(4)))

        for number, keeper in enumerate(keepers):
            threads.go(work, keeper, number)
        def await_more(what, count):
            before = count()
            wait_for(lambda: threads.failures or count() > before, LIMIT, what)
            time.sleep(0.1)  # For the others.

        for which in (WRITES, WRITES, WRITES, SYNCS):
            await_more("one has written", lambda: sum(k.done for k in keepers))
            disk.fail(which, errno.EIO)
            await_more("one was refused", lambda: sum(k.refused for k in keepers))
            disk.work()
        wait_for(lambda: threads.failures or all(k.done for k in keepers), LIMIT, "each has written")
        stop.set()
        threads.join()
        merged = Keeper(server)
        for keeper in keepers:
            merged.known.update(keeper.known)
            merged.doubtful.update(keeper.doubtful)
        merged.exact()
        assert all(k.done for k in keepers) and sum(k.refused for k in keepers)
        restarted(server, merged)


@test
def deletes_on_a_full_disk_free_space_for_writes():
    with SmallDisk("48m") as disk, Server(os.path.join(disk.directory, "data")) as server:
        server.start()
        client, names = Client(server), ["n%04d" % n for n in range(2000)]
        for name in names:
            status, answer = client.request("POST", CONFIGMAPS % NS, configmap(NS, name, "x" * 2000))
            assert status == 201, answer
        status, answer = client.request("POST", CONFIGMAPS % NS, {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "held", "finalizers": ["example.io/hold"]}})
        assert status == 201, answer
        disk.fill()
        refused = 0
        for n in range(400):  # Until pages that were freed inside the file are used up, too.
            status, answer = client.request("POST", CONFIGMAPS % NS, configmap(NS, "more%d" % n, "y" * 20000))
            assert status in (201, 503), answer
            refused += status == 503
        assert refused > 100 and "no space" in answer["message"], (refused, answer)
        path = CONFIGMAPS % NS + "/held"
        status, answer = client.request("DELETE", path)
        assert status == 200 and answer["metadata"]["deletionTimestamp"], answer
        status, answer = client.request("PATCH", path, {"metadata": {"finalizers": None}},
                                        kind="application/merge-patch+json")
        assert status == 200, answer
        for name in names:
            status, answer = client.request("DELETE", CONFIGMAPS % NS + "/" + name)
            assert status == 200, answer
        for n in range(20):
            status, answer = client.request("POST", CONFIGMAPS % NS, configmap(NS, "again%d" % n, "z" * 2000))
            assert status == 201, answer
        server.kill()
        server.start()
        found = {i["metadata"]["name"] for i in Client(server).request("GET", CONFIGMAPS % NS)[1]["items"]}
        assert not found & set(names) and {"again%d" % n for n in range(20)} <= found
        print("%d creates refused, %d deletes done" % (refused, len(names)))


@test
def full_small_filesystem_refuses_writes_and_recovers():
    with SmallDisk("4m") as disk, Server(os.path.join(disk.directory, "data")) as server:
        server.start()
        keeper = Keeper(server)
        statuses = [keeper.write("big-%d" % n, 100000) for n in range(80)]
        assert statuses[0] == 201 and statuses[-1] >= 500, statuses
        keeper.exact()
        for n in range(40):
            if keeper.known.get("big-%d" % n):
                status = keeper.noted("big-%d" % n, None,
                                      *keeper.client.request("DELETE", CONFIGMAPS % NS + "/big-%d" % n))
                assert status == 200
        subprocess.run(["mount", "-o", "remount,size=64m", disk.directory], check=True)
        wait_until_it_writes(keeper)
        restarted(server, keeper)
        assert keeper.write() in (200, 201)


def wait_until_it_writes(keeper):
    until = time.monotonic() + bound(5, LIMIT)
    while keeper.write("probe") not in (200, 201):
        assert time.monotonic() < until, "writes do not work again although there is room"
        time.sleep(0.05)


# ---- damaged files ----


def stored(objects=200):
    """A directory with a store of some objects, that was closed properly."""
    server = Server()
    server.start()
    client = Client(server)
    for n in range(objects):
        status, answer = client.request("POST", CONFIGMAPS % NS, configmap(NS, "n%03d" % n, "value-%d-" % n * 40))
        assert status == 201, answer
    assert server.stop() == 0
    return server


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def refused(server, path, what):
    """It ends with one sentence, not by a signal, and leaves the file alone."""
    before = digest(path)
    code, text = server.refuses_to_start()
    assert code is not None and code > 0, (what, code, text)
    lines = [l for l in text.strip().split("\n") if l.startswith("kc")]
    assert len(lines) == 1 and os.path.basename(path) in lines[0], (what, text)
    assert digest(path) == before, what + ": the file was changed"


def data_of(server):
    return os.path.join(server.directory, "store", "data.mdb")


@test
def truncated_file_is_refused_and_unchanged():
    with stored() as server:
        path = data_of(server)
        size = os.path.getsize(path)
        beyond = 2 * MEGABYTE  # What stands behind the pages may be missing; it is made again.
        for length in (size - beyond - 1, size // 2, 65536, 8192, 4096, 100, 1):
            os.truncate(path, length)
            refused(server, path, "%d of %d bytes" % (length, size))


@test
def foreign_file_is_refused_and_unchanged():
    for what, content in (("text", b"Dear diary,\n" * 1000), ("noise", random.randbytes(1 << 16)),
                          ("zeros", bytes(1 << 16)), ("short text", b"hello\n")):
        with Server() as server:
            os.mkdir(os.path.join(server.directory, "store"))
            with open(data_of(server), "wb") as f:
                f.write(content)
            refused(server, data_of(server), what)


@test
def flipped_bit_in_a_stored_object_is_refused_and_unchanged():
    with stored() as server:
        path = data_of(server)
        with open(path, "rb") as f:
            whole = f.read()
        for n in (0, 57, 199):
            # Pages are copied when they change: an old copy may be in a free page.
            copies = [match.start() + 4 for match in re.finditer(b"\"value-%d-" % n, whole)]
            assert copies
            with open(path, "r+b") as f:
                for at in copies:
                    f.seek(at)
                    f.write(bytes([whole[at] ^ 4]))
            refused(server, path, "a flipped bit in object %d" % n)
            with open(path, "wb") as f:
                f.write(whole)
        server.start()


@test
def random_damage_causes_no_crash_hang_or_changed_object():
    with stored() as server:
        path = data_of(server)
        with open(path, "rb") as f:
            whole = f.read()
        used = [page for page in range(0, len(whole), 4096) if any(whole[page:page + 4096])]
        outcomes = {}
        for n in range(300 if SOAK else 15):
            spoilt = bytearray(whole)
            for _ in range(random.choice((1, 1, 4, 64))):
                spoilt[random.choice(used) + random.randrange(4096)] ^= 1 << random.randrange(8)
            with open(path, "r+b") as f:
                f.write(spoilt)
            outcome = damaged_start(server, spoilt)
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
        print(outcomes)
        assert set(outcomes) <= {"refused", "served whole"}, outcomes


def damaged_start(server, spoilt):
    """What becomes of a start on a damaged file."""
    server.spawn()
    until = time.monotonic() + bound(10, LIMIT)
    while time.monotonic() < until:
        code = server.process.poll()
        if code is not None:
            with open(data_of(server), "rb") as f:
                assert code != 1 or f.read() == spoilt, "the file was changed"
            return "refused" if code == 1 else "ended with %d" % code
        try:
            status, answer = Client(server, timeout=5).request("GET", CONFIGMAPS % NS)
        except (OSError, Broken):
            time.sleep(0.005)
            continue
        whole = status == 200 and [i["data"]["value"] for i in answer["items"]] == sorted_values(200)
        server.kill()
        return "served whole" if whole else "served wrong objects"
    server.kill()
    return "hung"


def sorted_values(n):
    return ["value-%d-" % i * 40 for i in range(n)]


@test
def read_only_directory_is_refused():
    with Server() as server:
        if os.geteuid() == 0:  # To root modes mean nothing: a read-only mount does.
            directory = tempfile.mkdtemp(prefix="kc-system-")
            if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,size=1m", "kc", directory],
                              stderr=subprocess.DEVNULL).returncode:
                os.rmdir(directory)
                raise Skipped("a filesystem cannot be mounted here")
            try:
                with Server(os.path.join(directory, "data")) as there:
                    code, text = there.refuses_to_start()
            finally:
                subprocess.run(["umount", "-l", directory], check=False)
                shutil.rmtree(directory)
        else:
            os.chmod(server.directory, 0o500)
            code, text = server.refuses_to_start()
            os.chmod(server.directory, 0o700)
        assert code == 1 and len(text.strip().split("\n")) == 1 and text.startswith("kc apiserver: "), (code, text)


@test
def second_server_on_the_directory_is_refused_and_the_first_continues():
    with Server() as server:
        server.start()
        second = Server(server.directory)
        code, text = second.refuses_to_start()
        os.unlink(second.tokens)
        assert code == 1 and text.startswith("kc apiserver: ") and len(text.strip().split("\n")) == 1, (code, text)
        assert Keeper(server).write() == 201


run()
