# SPDX-License-Identifier: Apache-2.0
"""
Clients that try to get rights they do not have: processes of other users on the loopback interface, web pages and proxies, requests
as another user, objects that say whom to trust.
"""
import array
import encodings.idna  # noqa: F401  Children that gave up root cannot load it.
import json
import os
import socket
import time

from attack import NS, SLACK, Skipped, Target, attack, free_port

NOBODY = 65534
MAPS = "/api/v1/namespaces/%s/configmaps" % NS
AUTHENTICATION = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"


# ---- clients without a token ----


def request_text(method="GET", path="/api/v1/namespaces", fields=(), body=b"", version="1.1", host="127.0.0.1"):
    lines = ["%s %s HTTP/%s" % (method, path, version)]
    if host:
        lines.append("Host: " + host)
    if body:
        lines += ["Content-Type: application/json", "Content-Length: %d" % len(body)]
    lines += list(fields) + ["Connection: close", "", ""]
    return "\r\n".join(lines).encode() + body


def receive(s):
    answer = b""
    while True:
        more = s.recv(65536)
        if not more:
            return answer
        answer += more


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.") else 0


def ask(port, text):
    """Sends a request from this process; its status."""
    with socket.create_connection(("127.0.0.1", port), timeout=90) as s:
        s.sendall(text)
        return status_of(receive(s))


def as_user(uid, function):
    """What function() returns, bytes, in a child that runs as uid."""
    if os.geteuid() != 0:
        raise Skipped("only root can act as another user")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            os.write(writer, function())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as f:
        answer = f.read()
    os.waitpid(child, 0)
    return answer


def ask_as(uid, port, text):
    return int(as_user(uid, lambda: b"%d" % ask(port, text)) or 0)


def map_text(name):
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}).encode()


def names_of_maps(t):
    status, answer = t.admin().request("GET", MAPS)
    assert status == 200, answer
    return [item["metadata"]["name"] for item in answer["items"]]


# ---- users of this machine ----


@attack()
def loopback_request_of_another_uid_is_unauthorized(t):
    assert ask(t.port, request_text()) == 200, "the user that runs kc is not trusted"
    for uid in (NOBODY, 1000, 2000000007):
        assert ask_as(uid, t.port, request_text()) == 401, "uid %d" % uid
        assert ask_as(uid, t.port, request_text("POST", MAPS, body=map_text("evil"))) == 401
    assert "evil" not in names_of_maps(t)


@attack()
def post_and_close_of_another_uid_creates_nothing(t):
    """The kernel reports uid 0 for a socket that its owner has closed, once the end of the connection is acknowledged."""

    def flood():
        for i in range(900):
            s = socket.create_connection(("127.0.0.1", t.port))
            s.sendall(request_text("POST", MAPS, body=map_text("evil-%d" % i)))
            if i % 3 == 1:
                s.shutdown(socket.SHUT_WR)
            elif i % 3 == 2:  # A reset: the address pair is free at once.
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            s.close()
        return b"done"

    assert as_user(NOBODY, flood) == b"done"
    time.sleep(0.2)
    assert not [name for name in names_of_maps(t) if name.startswith("evil")]


@attack()
def socket_of_another_uid_stays_untrusted_when_root_holds_it(t):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)

    def pass_on():
        s = socket.create_connection(("127.0.0.1", t.port))
        theirs.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [s.fileno()]))])
        return b"done"

    assert as_user(NOBODY, pass_on) == b"done"
    _, ancillary, _, _ = ours.recvmsg(1, socket.CMSG_LEN(4))
    with socket.socket(fileno=int.from_bytes(ancillary[0][2], "little")) as s:
        s.settimeout(10)
        s.sendall(request_text())
        assert status_of(receive(s)) == 401
    ours.close()
    theirs.close()


@attack(alone=True)
def users_of_pods_cannot_be_trusted():
    for user in ("nobody", "65534", "2000000000", "2000065535"):
        with Target(flags=["--authn-localhost-users", user]) as t:
            code, output = t.refuses_to_start()
            assert code == 1 and "cannot be trusted" in output, (user, code, output)
    with Target(flags=["--authn-localhost-users", "4242"]) as t:
        t.ready()
        assert ask_as(4242, t.port, request_text()) == 200
        assert ask_as(4243, t.port, request_text()) == 401


# ---- web pages, proxies, other users ----


@attack()
def dns_rebinding_and_proxied_requests_are_unauthorized(t):
    fields = ["Origin: https://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site", "Via: 1.1 proxy", "Forwarded: for=192.0.2.1",
              "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Proto: https", "X-Real-IP: 127.0.0.1", "CF-Connecting-IP: 192.0.2.1",
              "True-Client-IP: 192.0.2.1", "X-Client-IP: 192.0.2.1", "X-Cluster-Client-Ip: 192.0.2.1", "X-Original-URL: /",
              "X-Remote-User: root", "Proxy-Connection: keep-alive"]
    for field in fields:
        assert ask(t.port, request_text(fields=[field])) == 401, field
    for host in ("rebound.example", "rebound.example:%d" % t.port, "localhost.evil.example", "0.0.0.0"):
        assert ask(t.port, request_text(host=host)) == 401, host
    assert ask(t.port, request_text(version="1.0", host=None)) == 401
    assert ask(t.port, request_text(path="http://rebound.example/api/v1/namespaces")) == 401
    assert ask(t.port, request_text()) == 200


@attack()
def impersonation_is_never_ignored(t):
    """The sender is an administrator: a field that is ignored would keep these rights."""
    for field, code in (("Impersonate-User: viewer", 403), ("impersonate-user: viewer", 403), ("impersonate-group: viewers", 500),
                        ("Impersonate-Uid: 7", 500), ("Impersonate-Extra-Scopes: view", 500)):
        assert ask(t.port, request_text(fields=[field])) == code, field
        name = t.unique("as")
        text = request_text("POST", MAPS, fields=[field], body=map_text(name))
        assert ask(t.port, text) == code, field
        assert t.admin().request("GET", "%s/%s" % (MAPS, name))[0] == 404


# ---- objects that say whom to trust ----


@attack()
def forged_client_cas_are_restored_within_seconds(t):
    def authorities():
        status, answer = t.admin().request("GET", AUTHENTICATION)
        return answer["data"].get("client-ca-file") if status == 200 else None

    def is_put_right():
        until = time.monotonic() + 5 * SLACK
        while time.monotonic() < until:
            if authorities() == before:
                return True
            time.sleep(0.05)
        return False

    before = authorities()
    assert before
    status, answer = t.admin().request("GET", AUTHENTICATION)
    answer["data"]["client-ca-file"] = "-----BEGIN CERTIFICATE-----\nforged\n-----END CERTIFICATE-----\n"
    assert t.admin().request("PUT", AUTHENTICATION, answer)[0] == 200
    assert is_put_right()
    assert t.admin().request("DELETE", AUTHENTICATION)[0] == 200
    assert is_put_right()


# ---- other ports of a plane ----


def plane(flags=()):
    """`kc up` whose metrics, health and networks have ports of their own."""
    t = Target(verb="up", flags=["--pods", "simulate", "--reconcilers", "network"])
    t.metrics, t.health, t.networks = free_port(), free_port(), free_port()
    t.flags += ["--metrics-bind-address", "127.0.0.1:%d" % t.metrics, "--health-probe-bind-address", "127.0.0.1:%d" % t.health,
                "--network-service-bind-address", "127.0.0.1:%d" % t.networks] + list(flags)
    return t


def wait_until_up(t):
    t.ready()
    until = time.monotonic() + 20 * SLACK
    while "kc is up" not in t.log_text():
        assert time.monotonic() < until, t.log_text()
        time.sleep(0.02)


@attack(alone=True)
def debug_pages_need_the_own_user_and_health_is_public():
    with plane() as t:
        wait_until_up(t)
        pages = [(t.metrics, "/metrics"), (t.health, "/debug/queue")]
        for port, path in pages:
            assert ask(port, request_text(path=path)) == 200, path
            assert ask_as(NOBODY, port, request_text(path=path)) == 401, path
            assert ask(port, request_text(path=path, host="rebound.example")) == 401, path
            assert ask(port, request_text(path=path, fields=["X-Forwarded-For: 127.0.0.1"])) == 401, path
            assert ask(port, request_text(path=path, fields=["Authorization: Bearer guessed"])) == 401, path
        assert ask_as(NOBODY, t.health, request_text(path="/healthz")) == 200


@attack(alone=True)
def network_service_without_its_token_is_unauthorized():
    with plane() as t:
        wait_until_up(t)
        body = b'{"cidr":"10.0.0.0/8"}'
        for fields in ([], ["Authorization: Bearer guessed"], ["Authorization: Basic eDp4"]):
            assert ask(t.networks, request_text(path="/v1/networks", fields=fields)) == 401
            assert ask(t.networks, request_text("PUT", "/v1/networks/default/evil", fields=fields, body=body)) == 401
        path = os.path.join(t.directory, "networks.token")
        assert os.stat(path).st_mode & 0o777 == 0o600
        with open(path) as f:
            token = "Authorization: Bearer " + f.read().strip()
        assert ask(t.networks, request_text(path="/v1/networks", fields=[token])) == 200
        assert ask(t.networks, request_text(path="/v1/networks/default/evil", fields=[token])) == 404


# ---- pods ----


@attack(alone=True)
def process_pod_is_not_admin():
    if os.geteuid() != 0:
        raise Skipped("pods of other users than ours need root")
    with Target(verb="up", flags=["--pods", "process", "--without", "hub,network-service"]) as t:
        t.ready()
        script = ("import socket; s = socket.create_connection(('127.0.0.1', %d)); "
                  "s.sendall(b'GET /api/v1/secrets HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nConnection: close\\r\\n\\r\\n'); "
                  "print(s.recv(100).split(b'\\r\\n')[0])" % t.port)
        pod = {"metadata": {"name": "intruder"},
               "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "none", "command": ["python3", "-c", script]}]}}
        assert t.admin().request("POST", "/api/v1/namespaces/%s/pods" % NS, pod)[0] == 201
        path, until = "/api/v1/namespaces/%s/pods/intruder" % NS, time.monotonic() + 15 * SLACK
        while time.monotonic() < until:
            _, answer = t.admin().request("GET", path)
            if answer["status"].get("phase") in ("Succeeded", "Failed"):
                break
            time.sleep(0.1)
        _, log = t.admin().request("GET", path + "/log")
        assert "401 Unauthorized" in log, (answer["status"], log)
