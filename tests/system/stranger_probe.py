# SPDX-License-Identifier: Apache-2.0
"""
stranger_probe.py: what another user of the machine can do to a running `kc up`. stranger.py runs `probe` as that user, with its targets; the result
lists what succeeded, as sentences.
"""
import encodings.idna  # noqa: F401  Loaded before the user changes: the library may be in a directory of root's.
import http.client
import os
import socket
import ssl
import stat
import tempfile

PRIVATE = ("environ", "mem", "maps", "smaps", "numa_maps", "auxv", "io", "stack", "syscall", "pagemap", "personality", "fd", "fdinfo", "map_files", "cwd",
           "root", "exe")
OPEN = {"/healthz", "/livez", "/readyz", "/version"}
PATHS = ("/", "/api", "/apis", "/api/v1", "/api/v1/secrets", "/api/v1/namespaces", "/api/v1/pods", "/api/v1/configmaps", "/metrics", "/logs", "/debug/pprof/",
         "/debug/queue", "/openapi/v2", "/openapi/v3", "/version", "/healthz", "/livez", "/readyz", "/readyz?verbose", "/v1/networks", "/pods", "/people",
         "/people/tokens", "/apis/platform.kubecontroller.io/v1/users", "/.well-known/openid-configuration", "/openid/v1/jwks", "/containerLogs/default/p/c",
         "/exec", "/run", "/stats", "/configz", "/..%2f..%2fetc/shadow")

target, found, unanswered = {}, [], []


def attempt(sentence, action):
    """Notes the sentence if the action succeeds."""
    try:
        result = action()
    except (OSError, ValueError):
        return None
    found.append(sentence)
    return result


def read_some(path):
    with open(path, "rb") as f:
        return f.read(64)


def write_nothing(path):
    os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK))


def create_in(path):
    handle, name = tempfile.mkstemp(dir=path)
    os.close(handle)
    os.unlink(name)


def connect_to(address):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        with socket.socket(socket.AF_UNIX, kind) as s:
            try:
                s.connect(address)
                return
            except ConnectionRefusedError:
                raise
            except OSError as e:
                last = e
    raise last


def try_path(path, kind):
    if kind == "dir":
        attempt("list " + path, lambda: os.listdir(path))
        attempt("create a file in " + path, lambda: create_in(path))
    elif kind == "socket":
        attempt("connect to " + path, lambda: connect_to(path))
    else:
        attempt("read " + path, lambda: read_some(path))
        attempt("write to " + path, lambda: write_nothing(path))


def try_process(pid):
    base = "/proc/%d/" % pid
    for name in PRIVATE:
        path = base + name
        if name in ("cwd", "root", "exe"):
            attempt("follow " + path, lambda: os.readlink(path))
        elif name in ("fd", "fdinfo", "map_files"):
            attempt("list " + path, lambda: os.listdir(path))
        else:
            attempt("read " + path, lambda: read_some(path))
    attempt("signal process %d" % pid, lambda: os.kill(pid, 0))
    for name in ("cmdline", "comm", "status", "stat", "limits", "mountinfo", "cgroup"):
        try:
            with open(base + name, "rb") as f:
                search(f.read(), base + name)
        except OSError:
            pass


def search(data, where):
    for name, secret in target["secrets"].items():
        if secret.encode() in data:
            found.append("find %s in %s" % (name, where))


def search_leftovers(top):
    for directory, _, names in os.walk(top, onerror=lambda e: None):
        for name in names:
            path = os.path.join(directory, name)
            try:
                info = os.lstat(path)
                if not stat.S_ISREG(info.st_mode) or info.st_mtime < target["since"] or info.st_size > 1 << 26:
                    continue
                with open(path, "rb") as f:
                    search(f.read(), path)
            except OSError:
                pass


def ask(port, tls, path, headers):
    context = ssl._create_unverified_context() if tls else None
    line = (http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=10) if tls
            else http.client.HTTPConnection("127.0.0.1", port, timeout=10))
    try:
        line.request("GET", path, headers=headers)
        answer = line.getresponse()
        return answer.status, answer.read(1 << 20)
    finally:
        line.close()


def try_port(port):
    answered = False
    for tls in (False, True):
        for path in PATHS:
            for headers in ({}, {"X-Remote-User": "admin", "X-Remote-Group": "system:masters"}, {"Host": "localhost", "Origin": "http://localhost"}):
                try:
                    status, body = ask(port, tls, path, headers)
                except (OSError, http.client.HTTPException):
                    break  # Not this protocol.
                answered = True
                where = "%s://127.0.0.1:%d%s" % ("https" if tls else "http", port, path)
                search(body, where)
                if status < 400 and path.split("?")[0] not in OPEN:
                    found.append("get %s (%d)" % (where, status))
    if not answered:
        unanswered.append(port)


def probe(targets):
    target.update(targets)
    for path, kind in target["paths"]:
        try_path(path, kind)
    for pid in target["pids"]:
        try_process(pid)
    for name in target["abstract"]:
        attempt("connect to the abstract socket " + name, lambda: connect_to("\0" + name))
    for top in target["leftovers"]:
        search_leftovers(top)
    for port in target["ports"]:
        try_port(port)
    return {"found": sorted(set(found)), "unanswered": unanswered, "uid": os.getuid(), "groups": os.getgroups()}
