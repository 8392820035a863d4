# SPDX-License-Identifier: Apache-2.0
"""
Pods as processes that try to take over the plane and the machine: they look for keys, kubeconfigs and the store, leave their sandbox, act as
other pods and users, speak to the API server over loopback without credentials, fill the disk, and ask for what the node does not have.
"""
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time

from attack import BINARY, NS, SLACK, Skipped, Target, attack, free_port, has_private_mounts

PODS = "/api/v1/namespaces/%s/pods" % NS
FIRST_UID, LAST_UID = 2000000000, 2000065535
LEAN = ["--without", "hub,network-service,initial"]


def needs_root():
    if os.geteuid() != 0:
        raise Skipped("pods get users of their own only where kc is root")


class Plane(Target):
    """`kc up` whose directory is not below /tmp, of which pods have their own."""

    def __init__(self, **options):
        needs_root()
        super().__init__(verb="up", **options)
        self.place = tempfile.mkdtemp(prefix="kc-attack-", dir="/var/lib")
        os.chmod(self.place, 0o755)
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory = os.path.join(self.place, "data")

    def _command(self):
        self.port = free_port()
        return [BINARY, "up", "--file-rootpath", self.directory, "--secure-port", "0", "--insecure-port", str(self.port)] + self.flags

    def __exit__(self, *error):
        try:
            return super().__exit__(*error)
        finally:
            shutil.rmtree(self.place, ignore_errors=True)

    def run(self, script, spec=None, container=None, phases=("Succeeded", "Failed"), timeout=15):
        """Runs a shell script in a pod; the pod and what it printed, errors among the rest in order: on a pipe of their own they could
        be read after it."""
        name = self.unique("pod")
        c = dict({"name": "c", "image": "none", "command": ["sh", "-c", "exec 2>&1; " + script]}, **(container or {}))
        body = {"metadata": {"name": name},
                "spec": dict({"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [c]}, **(spec or {}))}
        status, answer = self.admin().request("POST", PODS, body)
        assert status == 201, answer
        until = time.monotonic() + timeout * SLACK
        while time.monotonic() < until:
            status, pod = self.admin().request("GET", PODS + "/" + name)
            if pod.get("status", {}).get("phase") in phases:
                return pod, self.log_of(pod)
            time.sleep(0.05)
        raise AssertionError("the pod did not end: %s" % json.dumps(pod.get("status")))

    def log_of(self, pod):
        path = os.path.join(self.directory, "pods", "pods", pod["metadata"]["uid"], "c", "0.log")
        if not os.path.exists(path):
            return ""
        with open(path, errors="replace") as f:
            return "".join(line.split(" ", 3)[3] for line in f)


@attack(alone=True)
def pod_cannot_read_keys_kubeconfig_or_store():
    with Plane(flags=LEAN) as t:
        t.ready()
        loot = [os.path.join(directory, name) for directory, _, names in os.walk(t.directory) for name in names]
        assert any(path.endswith("ca.key") for path in loot), loot
        script = "".join("cat %s; " % path for path in loot + [t.tokens]) + "find %s; find /var /etc /root /home -name '*.key' -path '*kc-attack*'; echo end" % t.directory
        _, output = t.run(script)
        assert output.rstrip().endswith("end"), output[-500:]
        assert "PRIVATE KEY" not in output and "token-of-the-system-tests" not in output, output[:2000]
        assert t.directory + "/" not in output.replace("cat: " + t.directory, ""), output[:2000]


@attack(alone=True)
def pod_cannot_gain_privileges():
    with Plane(flags=LEAN) as t:
        t.ready()
        _, output = t.run("id -u; id -G; grep -E 'Cap|NoNewPrivs|Seccomp:' /proc/self/status; "
                        "unshare -U true && echo ESCAPED; unshare -m true && echo ESCAPED; unshare -n true && echo ESCAPED; "
                        "mount -t tmpfs none /mnt && echo ESCAPED; mount -t proc none /proc && echo ESCAPED; "
                        "setpriv --reuid=0 true && echo ESCAPED; setpriv --reuid=%d true && echo ESCAPED; "
                        "setpriv --regid=0 true && echo ESCAPED; chroot / true && echo ESCAPED; "
                        "mknod /tmp/disk b 254 0 && echo ESCAPED; ping -c 1 127.0.0.1 >/dev/null && echo PING; echo end" % (FIRST_UID + 60000))
        assert output.rstrip().endswith("end") and "ESCAPED" not in output, output
        assert "NoNewPrivs:\t1" in output and "Seccomp:\t2" in output, output
        assert output.count("0000000000000000") == 5, output
        uid, gid = output.split()[:2]
        assert FIRST_UID <= int(uid) <= LAST_UID and gid == uid, output


TRACE = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    ctypes.set_errno(0)
    done = getattr(libc, name)(*arguments)
    print(name, "ALLOWED" if done >= 0 else os.strerror(ctypes.get_errno()))
pid = os.fork()
if pid == 0:
    import time
    time.sleep(5)
    os._exit(0)
call("ptrace", 16, pid, 0, 0)
call("process_vm_readv", pid, None, 0, None, 0, 0)
call("syscall", 321, 0, 0, 0)
call("syscall", 323, 0)
call("syscall", 425, 8, 0)
call("keyctl", 0, -3, 0) if hasattr(libc, "keyctl") else None
call("syscall", 250, 0, -3, 0)
call("setns", 0, 0)
print("end")
"""


@attack(alone=True)
def pod_cannot_use_dangerous_system_calls():
    if os.uname().machine != "x86_64" or not os.path.exists("/usr/bin/python3"):
        raise Skipped("needs /usr/bin/python3 on x86-64")
    with Plane(flags=LEAN) as t:
        t.ready()
        _, output = t.run("", container={"command": ["/usr/bin/python3", "-c", TRACE]})
        assert output.rstrip().endswith("end") and "ALLOWED" not in output, output


@attack(alone=True)
def pod_sees_its_own_processes_only():
    with Plane(flags=LEAN) as t:
        t.ready()
        pid = t.process.pid
        _, output = t.run("cat /proc/%d/environ /proc/%d/maps; ls -l /proc/%d/fd; kill -9 %d; kill -9 -1; ls -d /proc/[0-9]* | wc -l; "
                        "env; ls -l /proc/self/fd; pwd" % (pid, pid, pid, pid))
        assert t.process.poll() is None
        assert "/proc/%d/environ: " % pid in output and "HOSTNAME=" in output, output
        # Elsewhere the file for the termination message, which the pod may write, has its path on the machine.
        hidden = ("kc-attack",) if has_private_mounts() else ()
        for word in ("KUBECONFIG", "/store", "token") + hidden:
            assert word not in output.replace("/proc/%d" % pid, ""), (word, output)


@attack(alone=True)
def pods_have_different_users_and_do_not_share_files():
    with Plane(flags=LEAN) as t:
        t.ready()
        first, output = t.run("id -u; echo sesame > /tmp/mine; chmod 600 /tmp/mine")
        second, other = t.run("id -u; find /tmp /var/tmp /var/lib /dev/shm -name mine 2>/dev/null; cat /tmp/mine; echo end")
        uids = {output.split()[0], other.split()[0]}
        assert len(uids) == 2 and all(FIRST_UID <= int(uid) <= LAST_UID for uid in uids), uids
        assert "sesame" not in other, other
        for pod, uid in ((first, output.split()[0]), (second, other.split()[0])):
            directory = os.path.join(t.directory, "pods", "pods", pod["metadata"]["uid"])
            assert os.stat(directory).st_mode & 0o077 == 0
            with open(os.path.join(directory, ".user")) as f:
                assert f.read() == uid


@attack(alone=True, long=True)  # Storage is measured every ten seconds.
def pod_that_fills_its_volume_is_evicted():
    with Plane(flags=LEAN) as t:
        t.ready()
        pod, _ = t.run("head -c 3000000 /dev/zero > /v/x; sleep 60", phases=("Failed",), timeout=20,
                       spec={"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Mi"}}]},
                       container={"volumeMounts": [{"name": "v", "mountPath": "/v"}]})
        assert pod["status"]["reason"] == "Evicted", pod["status"]


@attack(alone=True)
def pod_cannot_request_host_access():
    asks = [({"hostPID": True}, {}), ({"hostIPC": True}, {}), ({"securityContext": {"runAsUser": 0}}, {}),
            ({}, {"securityContext": {"runAsUser": 0}}), ({}, {"securityContext": {"runAsGroup": 0}}),
            ({}, {"securityContext": {"privileged": True}}),
            ({"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}}, {}),
            ({}, {"securityContext": {"seccompProfile": {"type": "Localhost", "localhostProfile": "none.json"}}})]
    with Plane(flags=LEAN) as t:
        t.ready()
        for i, (spec, container) in enumerate(asks):
            c = dict({"name": "c", "image": "none", "command": ["sh", "-c", "echo ESCAPED; id"]}, **container)
            body = {"metadata": {"name": "ask-%d" % i}, "spec": dict({"containers": [c]}, **spec)}
            status, answer = t.admin().request("POST", PODS, body)
            assert status == 201, answer
        for i in range(len(asks)):
            until = time.monotonic() + 10 * SLACK
            waiting = {}
            while time.monotonic() < until and waiting.get("reason") != "CreateContainerConfigError":
                pod = t.admin().request("GET", PODS + "/ask-%d" % i)[1]
                waiting = (pod.get("status", {}).get("containerStatuses") or [{}])[0].get("state", {}).get("waiting") or {}
                time.sleep(0.05)
            assert waiting.get("reason") == "CreateContainerConfigError", (asks[i], pod.get("status"))
            assert "ESCAPED" not in t.log_of(pod)


@attack(alone=True)
def unprivileged_kc_up_refuses_process_pods():
    if os.geteuid() != 0:
        raise Skipped("changes its user")
    place = tempfile.mkdtemp(prefix="kc-attack-", dir="/var/lib")
    try:
        os.chown(place, 65534, 65534)
        os.chmod(place, 0o755)
        binary = shutil.copy(BINARY, place)
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", "HOME=" + place]
        done = subprocess.run(nobody + [binary, "up", "--file-rootpath", place + "/data", "--pods=process", "--secure-port=0",
                                        "--insecure-port", str(free_port())], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=90)
        assert done.returncode == 2 and b"requires root" in done.stdout, done.stdout
        done = subprocess.run(nobody + [binary, "controllers", "--pods=process", "--pods-dir", place + "/pods", "-s", "http://127.0.0.1:1"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=90)
        assert done.returncode == 1 and b"--unsafe-pods-can-read-credentials" in done.stdout, done.stdout
    finally:
        shutil.rmtree(place, ignore_errors=True)


# ---- a server that runs apart ----


def warnings_of_controllers(*flags):
    """The log of `kc controllers` until it has tried to reach its server, which is not there."""
    process = subprocess.Popen([BINARY, "controllers", "--server=http://127.0.0.1:%d" % free_port(), "--leader-elect=false"] + list(flags),
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    reader = threading.Timer(60, process.kill)
    reader.start()
    try:
        lines = []
        for line in process.stderr:
            lines.append(line.decode())
            if "refused" in lines[-1] or "connect" in lines[-1].lower():
                break
        return "".join(lines)
    finally:
        process.kill()
        process.wait()
        reader.cancel()


@attack(alone=True)
def controllers_whose_pods_may_be_trusted_by_a_server_warn():
    words = "administrators of one with --authn-allow-localhost"
    shares = "--pods-allow-root" if os.geteuid() == 0 else "--unsafe-pods-can-read-credentials"
    with tempfile.TemporaryDirectory(prefix="kc-pods-") as directory:
        log = warnings_of_controllers("--pods=process", "--pods-dir", directory, shares)
        assert words in log, log
        log = warnings_of_controllers("--pods=simulate")
        assert words not in log, log
