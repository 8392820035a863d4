# SPDX-License-Identifier: Apache-2.0
"""
Clients that forge, replay and flood credentials: tokens of service accounts, tokens of issuers that do not answer, header fields of
front proxies.
"""
import base64
import hashlib
import hmac
import json
import os
import socket
import tempfile
import threading
import time

from attack import MIB, NS, SLACK, Target, attack, free_port

ACCOUNTS = "/api/v1/namespaces/%s/serviceaccounts" % NS
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"


def encode(data):
    return base64.urlsafe_b64encode(data if isinstance(data, bytes) else json.dumps(data).encode()).rstrip(b"=").decode()


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def status_of(port, fields=(), path="/api/v1/namespaces"):
    """The status of a request with these header fields. The host is foreign, so that loopback trust does not apply."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as s:
        lines = ["GET %s HTTP/1.1" % path, "Host: kubernetes.example", *fields, "Connection: close", "", ""]
        s.sendall("\r\n".join(lines).encode())
        return int(s.recv(64).split(b" ", 2)[1])


def with_token(t, token):
    """Every authenticated user may read /api."""
    return status_of(t.port, ["Authorization: Bearer " + token], "/api")


def issue(t, body=None):
    """A token of a new account, and the account's name."""
    name = t.unique("account")
    status, answer = t.admin().request("POST", ACCOUNTS, {"metadata": {"name": name}})
    assert status == 201, answer
    spec = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": body or {}}
    status, answer = t.admin().request("POST", "%s/%s/token" % (ACCOUNTS, name), spec)
    assert status == 201, answer
    return answer["status"]["token"], name


def public_key(t):
    """The server's key as it publishes it, in the forms that an attacker would use as a shared secret."""
    status, answer = t.admin().request("GET", "/openid/v1/jwks")
    assert status == 200, answer
    key = answer["keys"][0]
    return [json.dumps(key).encode(), (key.get("n") or key["x"]).encode(), decode(key.get("n") or key["x"])]


def forgeries(t, token):
    header, payload, signature = token.split(".")
    h, p = json.loads(decode(header)), json.loads(decode(payload))
    admin = {**p, "sub": "system:serviceaccount:kube-system:admin"}
    flipped = bytearray(decode(signature))
    flipped[5] ^= 1
    yield "another subject", ".".join([header, encode(admin), signature])
    yield "flipped bit", ".".join([header, payload, encode(bytes(flipped))])
    yield "no signature", ".".join([header, payload, ""])
    yield "zeros", ".".join([header, payload, encode(bytes(len(flipped)))])
    for name in ("none", "None", "NONE", ""):
        yield "algorithm %r" % name, ".".join([encode({**h, "alg": name}), encode(admin), ""])
        yield "algorithm %r, old signature" % name, ".".join([encode({**h, "alg": name}), payload, signature])
    for secret in public_key(t):
        text = ".".join([encode({**h, "alg": "HS256"}), encode(admin)])
        yield "HS256", text + "." + encode(hmac.new(secret, text.encode(), hashlib.sha256).digest())
    for kid in ("", "unknown", "../../../../etc/passwd", "' OR 1=1 --", "x" * 300):
        yield "key id %.20r" % kid, ".".join([encode({**h, "kid": kid}), encode(admin), signature])
    yield "key in the header", ".".join([encode({**h, "jwk": {"kty": "oct", "k": "AA"}, "jku": "https://evil.example/keys"}), encode(admin), signature])
    yield "expired later", ".".join([header, encode({**p, "exp": p["exp"] + 10**6}), signature])
    yield "padding", token + "="
    yield "four parts", token + ".x"
    yield "white space", token.replace(".", ".\t", 1)
    yield "64 KiB", ".".join([header, encode({**p, "pad": "x" * 66000}), signature])


@attack(target={"flags": ["--service-account-jwks-uri=https://127.0.0.1/keys"]})
def forged_service_account_tokens_are_unauthorized(t):
    token, _ = issue(t)
    assert with_token(t, token) == 200
    for name, forged in forgeries(t, token):
        assert with_token(t, forged) in (400, 401, 431), name
        status, answer = t.admin().request("POST", REVIEWS, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": forged}})
        assert status == 201 and not answer["status"].get("authenticated"), (name, answer)
    assert with_token(t, token) == 200


@attack()
def token_of_a_deleted_object_is_unauthorized_at_once(t):
    status, secret = t.admin().request("POST", "/api/v1/namespaces/%s/secrets" % NS, {"metadata": {"name": t.unique("bound")}})
    assert status == 201, secret
    bound = {"kind": "Secret", "apiVersion": "v1", "name": secret["metadata"]["name"], "uid": secret["metadata"]["uid"]}
    token, account = issue(t, {"boundObjectRef": bound})
    assert with_token(t, token) == 200
    t.admin().request("DELETE", "/api/v1/namespaces/%s/secrets/%s" % (NS, bound["name"]))
    assert with_token(t, token) == 401
    # Another object of the same name does not revive it.
    assert t.admin().request("POST", "/api/v1/namespaces/%s/secrets" % NS, {"metadata": {"name": bound["name"]}})[0] == 201
    assert with_token(t, token) == 401
    other, account = issue(t)
    assert with_token(t, other) == 200
    t.admin().request("DELETE", "%s/%s" % (ACCOUNTS, account))
    assert t.admin().request("POST", ACCOUNTS, {"metadata": {"name": account}})[0] == 201
    assert with_token(t, other) == 401


@attack(growth=32 * MIB)
def token_for_another_audience_is_unauthorized(t):
    token, _ = issue(t, {"audiences": ["vault"]})
    assert with_token(t, token) == 401


@attack(growth=32 * MIB)
def thousands_of_forged_tokens_cost_a_bounded_time_each(t):
    """Each has a known key, so that its signature is computed."""
    token, _ = issue(t)
    header, payload, signature = token.split(".")
    p = json.loads(decode(payload))
    n, before = 2000, t.cpu()
    with socket.create_connection(("127.0.0.1", t.port), timeout=60) as s:
        got = b""
        for i in range(n):
            forged = ".".join([header, encode({**p, "jti": "%d" % i}), signature])
            s.sendall(("GET /api HTTP/1.1\r\nHost: kubernetes.example\r\nAuthorization: Bearer %s\r\n\r\n" % forged).encode())
            while got.count(b"HTTP/1.1 ") < i + 1:
                more = s.recv(65536)
                if not more:
                    break
                got += more
            if not more:
                break
        assert b"HTTP/1.1 200" not in got
        count = max(1, got.count(b"HTTP/1.1 401"))
    assert (t.cpu() - before) / count < 0.005 * SLACK, "%.1f ms each" % ((t.cpu() - before) / count * 1000)
    assert with_token(t, token) == 200


# ---- header fields of front proxies ----


@attack(target={"flags": []})
def front_proxy_fields_of_other_clients_mean_nothing(t):
    smuggled = ["X-Remote-User: admin", "X-Remote-Group: system:masters", "X-Remote-Uid: 0", "X-Remote-Extra-scopes: all"]
    for fields in (smuggled, [f.lower() for f in smuggled], [f.upper() for f in smuggled], smuggled * 3,
                   ["X_Remote_User: admin", "X_Remote_Group: system:masters"],
                   ["X-Remote-User : admin"], ["X-Remote-User:admin\r\n X-Remote-Group: system:masters"],
                   [*smuggled, "Connection: X-Remote-User"]):
        assert status_of(t.port, fields) in (400, 401), fields
        assert status_of(t.port, [*fields, "Authorization: Bearer wrong"]) in (400, 401), fields
        upgrade = ["Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
        assert status_of(t.port, [*fields, *upgrade], "/api/v1/namespaces?watch=1") in (400, 401), fields


# ---- an issuer that does not answer ----


class Tarpit:
    """Accepts connections and never answers."""

    def __init__(self):
        self.port = free_port()
        self.listener = socket.create_server(("127.0.0.1", self.port), backlog=512)
        self.kept = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                self.kept.append(self.listener.accept()[0])
            except OSError:
                return

    def close(self):
        self.listener.close()
        for s in self.kept:
            s.close()


@attack(alone=True)
def tokens_of_a_silent_issuer_delay_nobody_else():
    """Tokens wait for the issuer's keys, at most 1024 of them; others are authenticated meanwhile."""
    tarpit = Tarpit()
    issuer = "https://127.0.0.1:%d" % tarpit.port
    config = tempfile.NamedTemporaryFile("w", suffix=".yaml")
    json.dump({"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration",
               "jwt": [{"issuer": {"url": issuer, "audiences": ["a"]}, "claimMappings": {"username": {"claim": "sub", "prefix": ""}}}]}, config)
    config.flush()
    os.chmod(config.name, 0o600)
    waiting = []
    with Target(flags=["--authentication-config", config.name]) as t:
        t.ready()
        token, _ = issue(t)
        for i in range(300):
            claims = {"iss": issuer, "aud": "a", "sub": "x%d" % i, "exp": int(time.time()) + 300}
            forged = ".".join([encode({"alg": "RS256", "kid": "k%d" % i}), encode(claims), encode(bytes(256))])
            s = socket.create_connection(("127.0.0.1", t.port), timeout=30)
            s.sendall(("GET /api HTTP/1.1\r\nHost: kubernetes.example\r\nAuthorization: Bearer %s\r\n\r\n" % forged).encode())
            waiting.append(s)
        for _ in range(20):
            begun = time.monotonic()
            assert with_token(t, token) == 200
            assert time.monotonic() - begun < 2 * SLACK
        t.serves()
        for s in waiting:
            s.close()
        t.stop()
    tarpit.close()
