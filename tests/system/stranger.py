#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
stranger.py: `kc up` as another user of the same machine meets it.

root runs `kc up` with a pod, a Secret and a logged-in administrator. The user nobody then tries to read, write and list every file of the data
directory, to connect to every socket, to look into every process, to find secrets in command lines and temporary files, and to use every port without
credentials (stranger_probe.py). Nothing of it may succeed.

Needs root, a user nobody and, for pods with volumes, mount namespaces; skipped elsewhere.
"""
import base64
import http.client
import json
import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import traceback

import stranger_probe
from harness import BINARY, LIMIT, Skipped, free_port, has_private_mounts, run, test, wait_for

VALUE = "the-value-of-a-secret-4711"


def as_user(user, target):
    """Runs the probe as this user, in a child: the interpreter itself may be in a directory of root's."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            os.chdir("/")
            os.setgroups([])
            os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
            os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
            with os.fdopen(writing, "w") as out:
                json.dump(stranger_probe.probe(target), out)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    assert os.waitpid(pid, 0)[1] == 0, "the probe failed"
    return json.loads(text)


class Plane:
    """`kc up` of root, below a directory that every user can enter."""

    def __init__(self, flags=(), root_mode=None, umask=-1):
        if os.getuid() != 0:
            raise Skipped("not root")
        self.since = time.time() - 1
        self.top = tempfile.mkdtemp(prefix="kc-stranger-")
        os.chmod(self.top, 0o755)
        self.root = os.path.join(self.top, "data")
        if root_mode is not None:
            os.mkdir(self.root)
            os.chmod(self.root, root_mode)
        self.secure, self.insecure = free_port(), free_port()
        self.output = os.path.join(self.top, "out")
        with open(os.open(self.output, os.O_WRONLY | os.O_CREAT, 0o600), "w") as out:
            self.process = subprocess.Popen([BINARY, "up", "--file-rootpath", self.root, "--secure-port", str(self.secure),
                                             "--insecure-port", str(self.insecure)] + list(flags), stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                                            umask=umask)
        wait_for(lambda: "ready after" in self.text() or self.process.poll() is not None, 60, "kc up")
        assert self.process.poll() is None, self.text()

    def text(self):
        with open(self.output, errors="replace") as f:
            return f.read()

    def request(self, method, path, body=None):
        """As root, whom the server trusts on loopback."""
        line = http.client.HTTPConnection("127.0.0.1", self.insecure, timeout=30)
        line.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
        answer = line.getresponse()
        status, text = answer.status, answer.read()
        line.close()
        return status, json.loads(text or b"{}")

    def create(self, path, body):
        status, answer = self.request("POST", path, body)
        assert status == 201, answer

    def processes(self):
        """The process and all its descendants."""
        parents = {}
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    with open("/proc/%s/stat" % name) as f:
                        parents[int(name)] = int(f.read().rsplit(")", 1)[1].split()[1])
                except OSError:
                    pass
        pids = [self.process.pid]
        for pid in pids:
            pids += [child for child, parent in parents.items() if parent == pid]
        return pids

    def sockets(self):
        """The inodes of the sockets of all processes."""
        inodes = set()
        for pid in self.processes():
            for name in os.listdir("/proc/%d/fd" % pid):
                try:
                    link = os.readlink("/proc/%d/fd/%s" % (pid, name))
                except OSError:
                    continue
                if link.startswith("socket:["):
                    inodes.add(link[8:-1])
        return inodes

    def ports(self):
        own, ports = self.sockets(), set()
        for table in ("tcp", "tcp6"):
            with open("/proc/net/" + table) as f:
                for line in list(f)[1:]:
                    fields = line.split()
                    if fields[3] == "0A" and fields[9] in own:
                        ports.add(int(fields[1].rsplit(":", 1)[1], 16))
        return sorted(ports)

    def abstract_sockets(self):
        own = self.sockets()
        with open("/proc/net/unix") as f:
            rows = [line.split() for line in f]
        return [row[7][1:] for row in rows if len(row) > 7 and row[6] in own and row[7].startswith("@")]

    def paths(self):
        """Everything below the data directory, and the files that the process has open elsewhere, except devices."""
        found = {}
        for directory, _, names in os.walk(self.root):
            found[directory] = "dir"
            for name in names:
                path = os.path.join(directory, name)
                mode = os.lstat(path).st_mode
                if not stat.S_ISLNK(mode):
                    found[path] = "socket" if stat.S_ISSOCK(mode) else "file"
        for name in os.listdir("/proc/%d/fd" % self.process.pid):
            try:
                path = os.readlink("/proc/%d/fd/%s" % (self.process.pid, name))
            except OSError:
                continue
            if path.startswith("/") and not path.startswith(("/dev/", "/proc/", "/sys/")) and os.path.isfile(path):
                found.setdefault(path, "file")
        return sorted(found.items())

    def secrets(self):
        """What must not be found anywhere, by name."""
        def read(name):
            with open(os.path.join(self.root, name)) as f:
                return f.read()
        kubeconfig = read("admin.kubeconfig")
        secrets = {"the value of a Secret": VALUE, "the same in base64": base64.b64encode(VALUE.encode()).decode(),
                   "the key of Secrets": re.search(r"secret: (\S+)", read("encryption.yaml")).group(1),
                   "the token of networks": read("networks.token").strip(),
                   "the key that signs tokens": read("certs/sa.key").splitlines()[1]}
        for name in ("client-key-data", "token"):
            match = re.search(name + r": \"?([^\s\"]+)", kubeconfig)
            if match:
                secrets["%s of the administrator" % name] = match.group(1)
        for name in os.listdir(self.root):
            if "password" in name:
                secrets["the password of the administrator"] = read(name).strip()
        return {name: value for name, value in secrets.items() if len(value) > 8}

    def probe(self):
        nobody = pwd.getpwnam("nobody")
        target = {"paths": self.paths(), "pids": self.processes(), "abstract": self.abstract_sockets(), "ports": self.ports(), "secrets": self.secrets(),
                  "since": self.since, "leftovers": ["/tmp", "/var/tmp", "/dev/shm", "/run"]}
        answer = as_user(nobody, target)
        assert answer["uid"] == nobody.pw_uid and answer["groups"] == [], answer
        print("   %d paths, %d processes, %d ports, %d secrets" % (len(target["paths"]), len(target["pids"]), len(target["ports"]), len(target["secrets"])))
        return target, answer

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)
        if kind:
            print(self.text()[-2000:])
        shutil.rmtree(self.top, ignore_errors=True)


def needs_private_mounts():
    if not has_private_mounts():
        raise Skipped("no mount namespaces")


def furnish(plane):
    """A Secret, and a pod that has it in its environment and in a volume."""
    plane.create("/api/v1/namespaces/default/secrets", {"metadata": {"name": "s"}, "stringData": {"key": VALUE}})
    env = [{"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": "s", "key": "key"}}}]
    script = "echo $SECRET; cat /secret/key > /scratch/copy; sleep 1000"
    mounts = [{"name": "secret", "mountPath": "/secret"}, {"name": "scratch", "mountPath": "/scratch"}]
    plane.create("/api/v1/namespaces/default/pods", {
        "metadata": {"name": "p"},
        "spec": {"terminationGracePeriodSeconds": 1,
                 "containers": [{"name": "c", "image": "none", "command": ["sh", "-c", script], "env": env, "volumeMounts": mounts}],
                 "volumes": [{"name": "secret", "secret": {"secretName": "s"}}, {"name": "scratch", "emptyDir": {}}]}})

    def running():
        return plane.request("GET", "/api/v1/namespaces/default/pods/p")[1].get("status", {}).get("phase") == "Running"
    wait_for(running, 60, "the pod")
    wait_for(lambda: len(plane.processes()) > 1, LIMIT, "the process of the pod")
    time.sleep(0.5)


@test
def another_user_can_read_neither_keys_nor_data():
    needs_private_mounts()
    with Plane() as plane:
        furnish(plane)
        target, answer = plane.probe()
        assert len(target["pids"]) > 1 and len(target["paths"]) > 20 and len(target["secrets"]) >= 6, target
        assert len(target["ports"]) >= 2 and set(answer["unanswered"]) == set(), (target["ports"], answer)
        assert answer["found"] == [], answer["found"]


@test
def another_user_can_read_names_only_in_a_directory_that_everyone_can_enter_with_any_umask():
    needs_private_mounts()
    with Plane(root_mode=0o755, umask=0) as plane:
        furnish(plane)
        _, answer = plane.probe()
        assert answer["found"] == ["list " + plane.root], answer["found"]


@test
def probe_finds_what_is_open():
    """The probe must fail where something is open: a readable file, a secret in it, a world-writable socket directory."""
    with Plane() as plane:
        os.chmod(plane.root, 0o755)
        key = os.path.join(plane.root, "encryption.yaml")
        os.chmod(key, 0o644)
        leftover = tempfile.NamedTemporaryFile(dir="/tmp", delete=False)
        with leftover, open(key, "rb") as f:
            leftover.write(f.read())
        os.chmod(leftover.name, 0o644)
        try:
            _, answer = plane.probe()
        finally:
            os.unlink(leftover.name)
        for sentence in ("read " + key, "find the key of Secrets in " + leftover.name, "list " + plane.root):
            assert sentence in answer["found"], (sentence, answer["found"])


if __name__ == "__main__":
    run()
