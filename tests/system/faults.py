#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
faults.py: a disk that fails, a disk that is full, files that are damaged.

A failed write must be a 5xx to the client, never a hang and never a lie; reads go on; and when the
disk works again, either writes do too or, where nobody can know what the last one did, the server
says so in /readyz and refuses writes until it is started again. After that restart exactly the
acknowledged state is there, with a write of unknown outcome possibly on top.

faults.c fails the calls of a real server; see there. What is wrong with files is found before
anything is written: the server ends with one sentence, and the file is as it was.
"""
import errno
import hashlib
import mmap
import os
import random
import shutil
import struct
import subprocess
import tempfile
import threading
import time

from harness import (CONFIGMAPS, SOAK, Broken, Client, Server, Skipped, Threads, built, configmap, run, test, wait_for)
from powercut import Unplugged

NS = "default"
MEGABYTE = 1 << 20
WRITES, SYNCS, LAST_WRITES, STRETCHES = 1, 2, 4, 8
HANG = 0xffffffff  # In the place of an errno: the call waits until the disk works again.


class Disk:
    """The control block of faults.c."""

    def __init__(self, folder):
        handle, self.path = tempfile.mkstemp(prefix="kc-faults-")
        os.write(handle, bytes(16))
        self.block = mmap.mmap(handle, 16)
        os.close(handle)
        self.environment = {"KC_FAULTS_CONTROL": self.path, "KC_FAULTS_FOLDER": os.path.realpath(folder)}

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
        self.client = Client(server, timeout=15)
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
    folder = tempfile.mkdtemp(prefix="kc-system-")
    disk = Disk(folder)
    return disk, make(folder, preload=library, environment=disk.environment, **more)


def restarted(server, keeper):
    """A restart by SIGKILL, and the comparison with what was acknowledged."""
    server.kill()
    server.start()
    keeper.client.close()
    keeper.settle()


# ---- a disk that fails ----


def recovered(server, disk, keeper):
    """After a fault writes work again, and nothing that was refused comes back (True); or they do not, the
    server says so, and a restart helps (False)."""
    disk.work()
    keeper.exact()
    if keeper.write() in (200, 201):
        keeper.forget()
        keeper.exact()
        assert ready(server) == 200
        return True
    assert ready(server) == 500 and all(keeper.write() >= 500 for _ in range(3))
    keeper.exact()
    restarted(server, keeper)
    return False


def fault_passes(which, number, certain):
    """Faults in the middle of a commit. `certain`: they say that nothing was stored, and so no restart is needed."""
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
            assert recovered(server, disk, keeper) or not certain
            for _ in range(10):
                assert keeper.write() in (200, 201)
            assert ready(server) == 200
        disk.fail(which, number)
        keeper.write()
        disk.work()
        keeper.exact()
        if certain:
            keeper.forget()
        restarted(server, keeper)
        assert keeper.write() in (200, 201)


@test
def a_full_disk_refuses_writes_serves_reads_and_recovers():
    fault_passes(WRITES, errno.ENOSPC, certain=True)


@test
def a_disk_that_cannot_write_refuses_writes_serves_reads_and_recovers():
    fault_passes(WRITES, errno.EIO, certain=True)


@test
def a_disk_that_cannot_sync_refuses_writes_serves_reads_and_recovers_or_asks_for_a_restart():
    fault_passes(SYNCS, errno.EIO, certain=False)


@test
def a_failed_last_write_is_told_and_stops_writes_until_a_restart():
    for number in (errno.EIO, errno.ENOSPC):
        disk, server = failing_server()
        with disk, server:
            server.start()
            keeper = Keeper(server)
            for _ in range(20):
                assert keeper.write() in (200, 201)
            disk.fail(LAST_WRITES, number)
            assert keeper.write() >= 500 and disk.hits() > 0
            disk.work()
            assert ready(server) == 500
            assert all(keeper.write() >= 500 for _ in range(5))
            keeper.exact()
            restarted(server, keeper)
            assert ready(server) == 200 and keeper.write() in (200, 201)


@test
def a_disk_that_hangs_times_writes_out_and_serves_reads():
    disk, server = failing_server(flags=["--request-timeout=1s"])
    with disk, server:
        server.start()
        keeper = Keeper(server)
        for _ in range(10):
            assert keeper.write() in (200, 201)
        disk.fail(SYNCS, HANG)
        start, threads = time.monotonic(), Threads()
        threads.go(keeper.write, "late")
        wait_for(disk.hits, 5, "the disk hangs")
        for _ in range(20):
            began = time.monotonic()
            status, answer = Client(server).request("GET", CONFIGMAPS % NS)
            assert status == 200 and all(i["metadata"]["name"] != "late" for i in answer["items"]), answer
            assert time.monotonic() - began < 0.5
        threads.join()
        assert keeper.refused == 1 and time.monotonic() - start < 5
        disk.work()
        wait_until_it_writes(keeper)
        keeper.settle()  # The one that timed out was stored, or never will be.
        restarted(server, keeper)


@test
def a_fault_at_any_moment_of_a_commit_loses_nothing_that_was_acknowledged():
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
            if recovered(server, disk, keeper) and n % 4 == 0:
                restarted(server, keeper)
        print("%d changes acknowledged, %d refused" % (keeper.done, keeper.refused))


@test
def a_fault_and_then_a_power_cut_lose_nothing_that_was_acknowledged():
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
        for which in (WRITES, WRITES, WRITES, SYNCS):
            time.sleep(0.1)
            disk.fail(which, errno.EIO)
            time.sleep(0.1)
            disk.work()
        time.sleep(0.1)
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
def a_small_filesystem_that_is_really_full_refuses_writes_and_recovers():
    folder = tempfile.mkdtemp(prefix="kc-system-")
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "kc", folder],
                                           stderr=subprocess.DEVNULL).returncode:
        os.rmdir(folder)
        raise Skipped("a filesystem cannot be mounted here")
    try:
        with Server(os.path.join(folder, "data")) as server:
            server.start()
            keeper = Keeper(server)
            statuses = [keeper.write("big-%d" % n, 100000) for n in range(80)]
            assert statuses[0] == 201 and statuses[-1] >= 500, statuses
            keeper.exact()
            for n in range(40):  # Room comes back as objects go and history is forgotten, or by a larger disk.
                if keeper.known.get("big-%d" % n):
                    keeper.noted("big-%d" % n, None,
                                 *keeper.client.request("DELETE", CONFIGMAPS % NS + "/big-%d" % n))
            subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
            wait_until_it_writes(keeper)
            restarted(server, keeper)
            assert keeper.write() in (200, 201)
    finally:
        subprocess.run(["umount", "-l", folder], check=False)
        os.rmdir(folder)


def wait_until_it_writes(keeper):
    until = time.monotonic() + 5
    while keeper.write("probe") not in (200, 201):
        assert time.monotonic() < until, "writes do not work again although there is room"
        time.sleep(0.05)


# ---- damaged files ----


def stored(objects=200):
    """A folder with a store of some objects, that was closed properly."""
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
    code, text = server.refuses_to_start(5)
    assert code is not None and code > 0, (what, code, text)
    lines = [l for l in text.strip().split("\n") if l.startswith("kc")]
    assert len(lines) == 1 and os.path.basename(path) in lines[0], (what, text)
    assert digest(path) == before, what + ": the file was changed"


def data_of(server):
    return os.path.join(server.folder, "store", "data.mdb")


@test
def a_truncated_file_is_refused_and_left_alone():
    with stored() as server:
        path = data_of(server)
        size = os.path.getsize(path)
        beyond = 2 * MEGABYTE  # What stands behind the pages may be missing; it is made again.
        for length in (size - beyond - 1, size // 2, 65536, 8192, 4096, 100, 1):
            os.truncate(path, length)
            refused(server, path, "%d of %d bytes" % (length, size))


@test
def a_foreign_file_is_refused_and_left_alone():
    for what, content in (("text", b"Dear diary,\n" * 1000), ("noise", random.randbytes(1 << 16)),
                          ("zeros", bytes(1 << 16)), ("short text", b"hello\n")):
        with Server() as server:
            os.mkdir(os.path.join(server.folder, "store"))
            with open(data_of(server), "wb") as f:
                f.write(content)
            refused(server, data_of(server), what)


@test
def a_flipped_bit_in_a_stored_object_is_refused_and_left_alone():
    with stored() as server:
        path = data_of(server)
        with open(path, "rb") as f:
            whole = f.read()
        for n in (0, 57, 199):
            at = whole.index(b"value-%d-" % n)
            with open(path, "r+b") as f:
                f.seek(at + 4)
                f.write(bytes([whole[at + 4] ^ 4]))
            refused(server, path, "a flipped bit in object %d" % n)
            with open(path, "r+b") as f:
                f.seek(at + 4)
                f.write(whole[at + 4:at + 5])
        server.start()


@test
def random_damage_never_ends_in_a_signal_a_hang_or_a_changed_object():
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
    until = time.monotonic() + 10
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
def a_folder_that_cannot_be_written_is_refused():
    with Server() as server:
        if os.geteuid() == 0:  # To root modes mean nothing: a read-only mount does.
            folder = tempfile.mkdtemp(prefix="kc-system-")
            if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,size=1m", "kc", folder],
                              stderr=subprocess.DEVNULL).returncode:
                os.rmdir(folder)
                raise Skipped("a filesystem cannot be mounted here")
            try:
                with Server(os.path.join(folder, "data")) as there:
                    code, text = there.refuses_to_start(5)
            finally:
                subprocess.run(["umount", "-l", folder], check=False)
                shutil.rmtree(folder)
        else:
            os.chmod(server.folder, 0o500)
            code, text = server.refuses_to_start(5)
            os.chmod(server.folder, 0o700)
        assert code == 1 and len(text.strip().split("\n")) == 1 and text.startswith("kc apiserver: "), (code, text)


@test
def a_second_server_on_the_folder_is_refused_while_the_first_goes_on():
    with Server() as server:
        server.start()
        second = Server(server.folder)
        code, text = second.refuses_to_start(5)
        os.unlink(second.tokens)
        assert code == 1 and text.startswith("kc apiserver: ") and len(text.strip().split("\n")) == 1, (code, text)
        assert Keeper(server).write() == 201


run()
