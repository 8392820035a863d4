# SPDX-License-Identifier: Apache-2.0
"""
Admission webhooks that hang, answer with garbage or with far too much. Writes that they select fail within their timeout; all other
clients are served as if the webhook did not exist, and memory stays bounded.
"""
import base64
import json
import os
import ssl
import subprocess
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from attack import MIB, NS, SLACK, Threads, attack

HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
MAPS = "/api/v1/namespaces/%s/configmaps" % NS


class Webhook:
    """An HTTPS server on loopback. `answer(handler)` sends what it likes."""

    def __init__(self, answer):
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                try:
                    answer(self)
                except OSError:  # The client has closed the connection.
                    self.close_connection = True

            def log_message(self, *_):
                pass

        with tempfile.TemporaryDirectory(prefix="kc-hook-") as directory:
            cert, key = os.path.join(directory, "cert"), os.path.join(directory, "key")
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                            "-subj", "/CN=hook", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert],
                           check=True, stderr=subprocess.DEVNULL)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(cert, key)
            with open(cert, "rb") as f:
                self.ca = base64.b64encode(f.read()).decode()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads, self.server.block_on_close = True, False
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def reply(handler, body):
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def configure(t, hook, timeout):
    """Registers the webhook for ConfigMaps with a label, and waits until it is in effect. The label's value."""
    name, admin = t.unique("hook"), t.admin()
    t.made("%s/%s" % (HOOKS, name))
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    status, answer = admin.request("POST", HOOKS, {"metadata": {"name": name}, "webhooks": [{
        "name": name + ".attack.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Fail",
        "timeoutSeconds": timeout, "objectSelector": {"matchLabels": {"hook": name}}, "rules": [rule],
        "clientConfig": {"url": "https://127.0.0.1:%d/" % hook.server.server_address[1], "caBundle": hook.ca}}]})
    assert status == 201, answer
    for _ in range(200):
        if create(t, name)[0] != 201:
            return name
        time.sleep(0.05)
    raise AssertionError("the webhook is not asked")


def create(t, label, dry="?dryRun=All"):
    return t.admin().request("POST", MAPS + dry, {"metadata": {"name": t.unique("map"), "labels": {"hook": label}}})


@attack(growth=32 * MIB)
def admission_webhook_that_hangs_delays_only_its_own_requests(t):
    with Webhook(lambda handler: time.sleep(60)) as hook:
        label = configure(t, hook, timeout=1)
        start, results = time.monotonic(), []

        def send():
            for _ in range(2):
                results.append(create(t, label))

        threads = Threads()
        for _ in range(30):
            threads.go(send)
        others = time.monotonic()
        assert create(t, "other")[0] == 201
        assert time.monotonic() - others < 1 * SLACK, "a write that the webhook does not select waited"
        threads.join()
        assert time.monotonic() - start < 5 * SLACK, "requests waited beyond the timeout of the webhook"
        assert len(results) == 60 and all(status == 500 for status, _ in results), results[:3]
        assert "failed calling webhook" in results[0][1]["message"], results[0]


@attack(growth=64 * MIB)
def admission_response_of_100_megabytes_is_cut(t):
    with Webhook(lambda handler: reply(handler, b'{"kind":"' + b"x" * (100 << 20) + b'"}')) as hook:
        label = configure(t, hook, timeout=10)
        results, threads = [], Threads()
        for _ in range(4):
            threads.go(lambda: results.append(create(t, label)))
        threads.join()
        assert len(results) == 4 and all(status == 500 for status, _ in results), results


@attack(growth=32 * MIB)
def malformed_admission_responses_are_refused(t):
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {"uid": "another", "allowed": True}}
    bodies = [b"", b"{", b"null", b"[]", b"\xff\xfe", b"[" * 100000, b'{"response":{"uid":1}}', json.dumps(review).encode(),
              json.dumps(dict(review, response={"allowed": "yes"})).encode()]
    turn = []
    with Webhook(lambda handler: reply(handler, turn[-1])) as hook:
        turn.append(bodies[0])
        label = configure(t, hook, timeout=5)
        for body in bodies:
            turn.append(body)
            status, answer = create(t, label)
            assert status == 500 and "webhook" in answer["message"], (body[:20], status, answer)
