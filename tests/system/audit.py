#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
audit.py: the audit log of a running server.

Its events are compared, member by member, with those that kube-apiserver v1.34.1 wrote for the same requests under the same policy
(tests/conformance/audit; scripts/record-audit records them). Disks without space and slow or failing webhooks must not delay or fail requests in the
mode batch, and must fail them in the mode blocking-strict.
"""
import errno
import http.server
import json
import os
import subprocess
import tempfile
import threading
import time

from audit_steps import STEPS, await_events, is_lost, play
from harness import CONFIGMAPS, LIMIT, TOKEN, Client, Server, Skipped, bound, configmap, connect, head_of, run, test, wait_for

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(HERE, "../conformance/audit")
TOKENS = TOKEN + ',tester,9,"system:masters"\nadmintoken,admin,1,"system:masters"\nusertoken,alice,2,"dev"\n'


def file_with(text, name):
    path = os.path.join(tempfile.mkdtemp(prefix="kc-audit-"), name)
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, 0o600)
    return path


EVERYTHING = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n"


def audited(*flags, policy=None):
    return Server(flags=["--audit-policy-file", policy or file_with(EVERYTHING, "policy.yaml")] + list(flags))


def metric(server, name):
    """The value of a metric; 0 if it is missing."""
    status, text = Client(server).request("GET", "/metrics")
    assert status == 200
    for line in (text if isinstance(text, str) else text.decode()).splitlines():
        if line.startswith(name + " "):
            return float(line.rsplit(" ", 1)[1])
    return 0.0


def read(path):
    with open(path) as f:
        return f.read()


@test
def events_equal_those_of_kube_apiserver():
    log = os.path.join(tempfile.mkdtemp(prefix="kc-audit-"), "audit.log")
    flags = ["--audit-log-path", log, "--authorization-mode", "RBAC", "--token-auth-file", file_with(TOKENS, "tokens.csv"),
             "--service-account-issuer", "https://kubernetes.default.svc", "--authn-allow-localhost=false", "--anonymous-auth=true"]
    with audited(*flags, policy=os.path.join(RECORDED, "policy.yaml")) as server:
        server.spawn()
        wait_for(lambda: os.path.exists(log) and serves(server), 20, "the server")
        play("127.0.0.1", server.port, False)
        own = await_events(lambda: read(log))
    recorded = {}
    for line in read(os.path.join(RECORDED, "events.jsonl")).splitlines():
        event = json.loads(line)
        recorded[int(event["auditID"][5:]), event["stage"]] = event
    assert sorted(key for key in own if not is_lost(key)) == sorted(recorded), set(own) ^ set(recorded)
    assert own[next(key for key in own if is_lost(key))]["requestObject"]["data"] == {"k": "applied"}
    for key, event in recorded.items():
        for member in sorted(set(event) | set(own[key])):
            assert event.get(member) == own[key].get(member), (STEPS[key[0]], key[1], member, event.get(member), own[key].get(member))
    print("   %d events" % len(recorded))


def serves(server):
    try:
        return Client(server, timeout=5).request("GET", "/livez")[0] == 200
    except OSError:
        return False


@test
def full_disk_does_not_fail_requests_in_batch_mode():
    with audited("--audit-log-path", "/dev/full", "--audit-log-mode", "batch") as server:
        server.start()
        status, _ = Client(server).request("POST", CONFIGMAPS % "default", configmap("default", "a", "1"))
        assert status == 201, status
        wait_for(lambda: metric(server, 'apiserver_audit_error_total{plugin="log"}') > 0, LIMIT, "the metric of lost events")


@test
def full_disk_fails_requests_in_blocking_strict_mode_only():
    with audited("--audit-log-path", "/dev/full", "--audit-log-mode", "blocking-strict") as server:
        server.spawn()
        wait_for(lambda: rejected(server), 20, "a rejected request")
        status, body = Client(server).request("POST", CONFIGMAPS % "default", configmap("default", "a", "1"))
        assert status == 500 and "failed to store audit event" in str(body), (status, body)
    with audited("--audit-log-path", "/dev/full", "--audit-log-mode", "blocking") as server:
        server.start()
        status, _ = Client(server).request("POST", CONFIGMAPS % "default", configmap("default", "a", "1"))
        assert status == 201, status


class SmallDisk:
    """A file system of 128 KiB, which can be filled."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="kc-audit-")
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k,mode=0700", "tmpfs", self.path], capture_output=True, text=True)
        if done.returncode:
            os.rmdir(self.path)
            raise Skipped("cannot mount: " + done.stderr.strip())
        self.log, self.ballast = os.path.join(self.path, "audit.log"), os.path.join(self.path, "ballast")
        return self

    def fill(self):
        with open(self.ballast, "ab", buffering=0) as f:
            try:
                while True:
                    f.write(b"x" * 4096)
            except OSError as e:
                assert e.errno == errno.ENOSPC, e

    def empty(self):
        os.unlink(self.ballast)

    def __exit__(self, *failure):
        subprocess.run(["umount", "-l", self.path], check=True)
        os.rmdir(self.path)


def lines_of(path):
    """The events of a log, and the number of lines that are torn."""
    events, torn = [], 0
    for line in read(path).splitlines():
        try:
            events.append(json.loads(line))
        except ValueError:
            torn += 1
    return events, torn


def create(server, name):
    began = time.monotonic()
    status, _ = Client(server).request("POST", CONFIGMAPS % "default", configmap("default", name, "1"))
    return status, time.monotonic() - began


@test
def disk_that_fills_up_and_is_emptied_loses_events_but_no_request_in_batch_mode():
    with SmallDisk() as disk, audited("--audit-log-path", disk.log, "--audit-log-mode", "batch") as server:
        server.start()
        disk.fill()
        slowest = 0.0
        for i in range(300):
            status, took = create(server, "full-%d" % i)
            assert status == 201, status
            slowest = max(slowest, took)
        assert slowest < bound(1.0, 10.0), slowest
        wait_for(lambda: metric(server, 'apiserver_audit_error_total{plugin="log"}') > 0, LIMIT, "the metric of lost events")
        disk.empty()
        assert create(server, "later")[0] == 201
        wait_for(lambda: '"name":"later"' in read(disk.log), LIMIT, "events after the disk was full")
        assert lines_of(disk.log)[1] <= 1, "torn lines"


@test
def disk_that_fills_up_fails_requests_in_blocking_strict_mode_until_it_is_emptied():
    with SmallDisk() as disk, audited("--audit-log-path", disk.log, "--audit-log-mode", "blocking-strict") as server:
        server.start()
        assert create(server, "before")[0] == 201
        disk.fill()
        wait_for(lambda: create(server, "full")[0] == 500, 20, "a rejected request")
        before = metric_of_rejected(server, disk)
        assert before > 0, before
        assert create(server, "after")[0] == 201
        # The event of a complete response follows the response.
        wait_for(lambda: any(e.get("objectRef", {}).get("name") == "after" for e in lines_of(disk.log)[0]), 20, "the event of the last request")
        assert lines_of(disk.log)[1] <= 1, "torn lines"


def metric_of_rejected(server, disk):
    """Requests for metrics fail, too, while the disk is full."""
    disk.empty()
    return metric(server, "apiserver_audit_requests_rejected_total")


def rejected(server):
    try:
        return Client(server, timeout=5).request("GET", "/api")[0] == 500
    except OSError:
        return False


class Webhook:
    """Receives EventLists; answers after a delay, the first ones with errors."""

    def __init__(self, delay=0.0, errors=0):
        self.lists, self.errors, outer = [], errors, self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                time.sleep(delay)
                failing = outer.errors > 0
                outer.errors -= 1
                if not failing:
                    outer.lists.append((self.path, body))
                self.send_response(503 if failing else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        url = "http://127.0.0.1:%d/events/here" % self.server.server_address[1]
        self.kubeconfig = file_with(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c", "clusters": [{"name": "c", "cluster": {"server": url}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}], "users": [{"name": "u", "user": {}}]}), "webhook.yaml")

    def events(self):
        return [event for _, body in list(self.lists) for event in body["items"]]


@test
def webhook_receives_lists_of_events_and_failed_deliveries_are_repeated():
    webhook = Webhook(errors=2)
    flags = ["--audit-webhook-config-file", webhook.kubeconfig, "--audit-webhook-batch-max-wait", "100ms",
             "--audit-webhook-initial-backoff", "50ms"]
    with audited(*flags) as server:
        server.start()
        Client(server).request("POST", CONFIGMAPS % "default", configmap("default", "hooked", "1"))
        wait_for(lambda: any(e.get("objectRef", {}).get("name") == "hooked" for e in webhook.events()), 20, "the event")
    path, body = webhook.lists[0]
    assert path == "/events/here" and body["kind"] == "EventList" and body["apiVersion"] == "audit.k8s.io/v1", (path, body)
    assert all("kind" not in event and event["auditID"] for event in body["items"])


@test
def slow_webhook_delays_no_request_and_lost_events_are_counted():
    webhook = Webhook(delay=bound(5.0, 30.0))
    flags = ["--audit-webhook-config-file", webhook.kubeconfig, "--audit-webhook-batch-buffer-size", "20",
             "--audit-webhook-batch-max-size", "5", "--audit-webhook-batch-max-wait", "10ms"]
    with audited(*flags) as server:
        server.start()
        client, slowest = Client(server), 0.0
        for _ in range(200):
            began = time.monotonic()
            assert client.request("GET", "/api/v1/namespaces/default")[0] == 200
            slowest = max(slowest, time.monotonic() - began)
        assert slowest < bound(2.0, 20.0), slowest  # The webhook takes longer.
        assert metric(server, 'apiserver_audit_error_total{plugin="buffered"}') > 0


@test
def failing_webhook_fails_requests_in_blocking_strict_mode():
    webhook = Webhook(errors=1 << 30)
    flags = ["--audit-webhook-config-file", webhook.kubeconfig, "--audit-webhook-mode", "blocking-strict", "--audit-webhook-initial-backoff", "5ms"]
    with audited(*flags) as server:
        server.spawn()
        wait_for(lambda: rejected(server), 30, "a rejected request")
        assert create(server, "refused")[0] == 500
        webhook.errors = 0
        wait_for(lambda: create(server, "accepted")[0] in (201, 409), 30, "an accepted request")
        assert metric(server, "apiserver_audit_requests_rejected_total") > 0


@test
def slow_webhook_delays_requests_and_loses_no_event_in_blocking_mode():
    webhook = Webhook(delay=0.3)
    policy = file_with(EVERYTHING.replace("rules:", "omitStages: [RequestReceived]\nrules:"), "policy.yaml")
    flags = ["--audit-webhook-config-file", webhook.kubeconfig, "--audit-webhook-mode", "blocking", "--audit-webhook-batch-buffer-size", "20"]
    with audited(*flags, policy=policy) as server:
        server.start()
        client, began = Client(server), time.monotonic()
        for i in range(100):
            assert client.request("GET", "/api/v1/namespaces/default?n=%d" % i)[0] == 200
        took = time.monotonic() - began
        assert took > 1.0, took  # 100 events cannot be in a buffer of 20.
        wait_for(lambda: len({e["requestURI"] for e in webhook.events() if "?n=" in e["requestURI"]}) == 100, 20, "all events")
        assert metric(server, 'apiserver_audit_error_total{plugin="buffered"}') == 0


@test
def client_that_disconnects_from_a_long_list_leaves_an_event_marked_as_truncated():
    log = os.path.join(tempfile.mkdtemp(prefix="kc-audit-"), "audit.log")
    policy = file_with(EVERYTHING.replace("Metadata", "RequestResponse"), "policy.yaml")
    with audited("--audit-log-path", log, policy=policy) as server:
        server.start()
        for i in range(40):
            Client(server).request("POST", CONFIGMAPS % "default", configmap("default", "big-%d" % i, "v" * 500000))
        s = connect(server, receive_buffer=4096)
        s.sendall(head_of("GET", CONFIGMAPS % "default" + "?n=gone"))
        s.recv(100)
        s.close()
        ended = '"stage":"ResponseComplete","requestURI":"%s?n=gone"' % (CONFIGMAPS % "default")
        wait_for(lambda: ended in read(log), 20, "the event")
        event = next(json.loads(line) for line in read(log).splitlines() if ended in line)
        assert event["annotations"]["audit.k8s.io/truncated"] == "true" and "responseObject" not in event, list(event)


@test
def request_whose_body_does_not_arrive_is_recorded():
    log = os.path.join(tempfile.mkdtemp(prefix="kc-audit-"), "audit.log")
    with audited("--audit-log-path", log) as server:
        server.start()
        s = connect(server)
        s.sendall(head_of("POST", CONFIGMAPS % "default" + "?n=short", b"x" * 100) + b"x" * 50)
        time.sleep(0.2)
        s.close()
        wait_for(lambda: read(log).count("?n=short") == 2, 20, "both events")
        events = [json.loads(line) for line in read(log).splitlines() if "?n=short" in line]
        assert [e["stage"] for e in events] == ["RequestReceived", "ResponseComplete"], events
        assert events[1]["responseStatus"]["code"] == 400, events


@test
def rotated_files_are_kept_up_to_their_number():
    log = os.path.join(tempfile.mkdtemp(prefix="kc-audit-"), "audit.log")
    flags = ["--audit-log-path", log, "--audit-log-maxsize", "1", "--audit-log-maxbackup", "2", "--audit-log-compress"]
    with audited(*flags) as server:
        server.start()
        client = Client(server)
        for i in range(4000):
            client.request("GET", "/api/v1/namespaces/default/configmaps/none?padding=" + "x" * 500)
        names = sorted(os.listdir(os.path.dirname(log)))
    assert os.path.getsize(log) <= 1 << 20
    assert len([n for n in names if n.endswith(".log.gz")]) == 2 and len(names) == 3, names
    for line in read(log).splitlines():
        json.loads(line)


if __name__ == "__main__":
    run()
