# SPDX-License-Identifier: Apache-2.0
"""
audit_steps.py: requests whose audit events are compared with those of kube-apiserver, and what of an event is compared.

Each request of STEPS has the audit ID step-N, so events are found by their request. Requests of `prepare` are not compared: they create what the
steps need. What a server chooses (uids, versions, times, tokens) is replaced before events are compared.
"""
import base64
import hashlib
import http.client
import http.server
import json
import os
import re
import ssl
import subprocess
import tempfile
import threading
import time

MERGE, JSON_PATCH, APPLY = "application/merge-patch+json", "application/json-patch+json", "application/apply-patch+yaml"
STRATEGIC, YAML = "application/strategic-merge-patch+json", "application/yaml"
CONFIGMAPS, QUIET = "/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/quiet/configmaps"
DEPLOYMENTS, SECRETS = "/apis/apps/v1/namespaces/default/deployments", "/api/v1/namespaces/default/secrets"
AUDITED, WATCHED, PODS = "/api/v1/namespaces/audited", "/api/v1/namespaces/watched", "/api/v1/namespaces/audited/pods"
SERVICES, ACCOUNTS = "/api/v1/namespaces/default/services", "/api/v1/namespaces/default/serviceaccounts"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
ROBOTS = "/apis/example.com/%s/namespaces/default/robots"
POD = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


def step(method, path, body=None, token="admintoken", kind="application/json", **headers):
    return (method, path, body, token, kind, {name.replace("_", "-"): value for name, value in headers.items()})


def review(group, kind, **spec):
    return {"apiVersion": group + "/v1", "kind": kind, "spec": spec}


PLAIN = [
    step("POST", "/api/v1/namespaces", {"metadata": {"name": "quiet"}}),
    step("POST", CONFIGMAPS, {"metadata": {"name": "a", "labels": {"l": "1"}}, "data": {"k": "v"}}),
    step("GET", CONFIGMAPS + "/a"),
    step("GET", CONFIGMAPS + "/missing"),
    step("PUT", CONFIGMAPS + "/a", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "w"}}),
    step("PATCH", CONFIGMAPS + "/a", {"data": {"k": "x"}}, kind=MERGE),
    step("PATCH", CONFIGMAPS + "/a", [{"op": "replace", "path": "/data/k", "value": "y"}], kind=JSON_PATCH),
    step("PATCH", CONFIGMAPS + "/applied?fieldManager=me",
         {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"k": "v"}}, kind=APPLY),
    step("GET", CONFIGMAPS + "?fieldSelector=metadata.name%3Da"),
    step("GET", CONFIGMAPS + "/a", Accept=TABLE),
    step("GET", SECRETS, token="usertoken"),
    step("GET", "/api/v1/pods", token="wrong"),
    step("GET", SECRETS, Impersonate_User="bob", Impersonate_Group="ops"),
    step("GET", SECRETS, token="usertoken", Impersonate_User="bob"),
    step("POST", DEPLOYMENTS, {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": POD}}),
    step("PUT", DEPLOYMENTS + "/d/scale", {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d", "namespace": "default"},
                                           "spec": {"replicas": 2}}),
    step("GET", DEPLOYMENTS + "/d/status"),
    step("GET", CONFIGMAPS + "?watch=1&timeoutSeconds=1&resourceVersion=0&fieldSelector=metadata.name%3Dnone"),
    step("GET", "/version"),
    step("GET", "/api"),
    step("GET", "/nonsense"),
    step("POST", SECRETS, {"metadata": {"generateName": "g-"}, "stringData": {"password": "secret"}}),
    step("POST", CONFIGMAPS, {"metadata": {"name": "Bad_Name"}}),
    step("POST", CONFIGMAPS + "?dryRun=All", {"metadata": {"name": "dry"}}),
    step("POST", QUIET, {"metadata": {"name": "q"}, "data": {"k": "v"}}),
    step("PATCH", QUIET + "/q", {"data": {"k": "x"}}, kind=MERGE),
    step("GET", QUIET),
    step("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
         review("authorization.k8s.io", "SelfSubjectAccessReview", resourceAttributes={"verb": "get", "resource": "pods"})),
    step("GET", "/api/v1/nodes", X_Forwarded_For="10.1.2.3, 10.4.5.6", X_Real_Ip="10.9.9.9"),
    step("DELETE", CONFIGMAPS + "/a", {"propagationPolicy": "Background"}),
    step("DELETE", CONFIGMAPS + "/applied"),
    step("DELETE", QUIET),
    step("DELETE", DEPLOYMENTS + "/d", {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}),
]

# Bodies and formats: what is decoded, what is not, and how responses look.
FORMATS = [
    step("POST", CONFIGMAPS, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata: {k: v}\n", kind=YAML),
    step("GET", CONFIGMAPS + "/yaml", Accept=YAML),
    step("GET", CONFIGMAPS + "/yaml?pretty=true"),
    step("PATCH", CONFIGMAPS + "/yaml?fieldManager=me&force=true", "apiVersion: v1\nkind: ConfigMap\ndata:\n  k: applied\n", kind=APPLY),
    step("PATCH", CONFIGMAPS + "/yaml?fieldManager=you", {"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "conflict"}}, kind=APPLY),
    step("PATCH", CONFIGMAPS + "/yaml", {"metadata": {"labels": {"s": "1"}}}, kind=STRATEGIC),
    step("PATCH", CONFIGMAPS + "/yaml", [{"op": "test", "path": "/data/k", "value": "other"}], kind=JSON_PATCH),
    step("PATCH", CONFIGMAPS + "/yaml", "{nonsense", kind=MERGE),
    step("PATCH", CONFIGMAPS + "/yaml", {"data": {}}, kind="application/json"),
    step("POST", CONFIGMAPS, "{nonsense"),
    step("POST", CONFIGMAPS, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "wrong"}}),
    step("POST", CONFIGMAPS + "?fieldValidation=Strict", {"metadata": {"name": "strict"}, "unknown": 1}),
    step("POST", CONFIGMAPS + "?fieldValidation=Warn", {"metadata": {"name": "warned"}, "unknown": 1}),
    step("POST", CONFIGMAPS, "text", kind="text/plain"),
    step("POST", CONFIGMAPS, {"metadata": {"name": "elsewhere", "namespace": "other"}}),
    step("POST", CONFIGMAPS, {"metadata": {"name": "warned"}}),
    step("POST", "/api/v1/namespaces/nowhere/configmaps", {"metadata": {"name": "x"}}),
    step("PUT", CONFIGMAPS + "/yaml", {"metadata": {"name": "another"}}),
    step("PUT", CONFIGMAPS + "/yaml", {"metadata": {"name": "yaml", "resourceVersion": "1"}, "data": {}}),
    step("PUT", CONFIGMAPS + "/created-by-put", {"metadata": {"name": "created-by-put"}}),
    step("GET", CONFIGMAPS, Accept="text/html"),
    step("GET", CONFIGMAPS + "?limit=1"),
    step("GET", CONFIGMAPS + "?fieldSelector=nonsense%3D1"),
    step("GET", CONFIGMAPS + "?resourceVersion=nonsense"),
    step("GET", CONFIGMAPS, Accept=PARTIAL),
    step("GET", CONFIGMAPS, Accept=TABLE),
    step("GET", CONFIGMAPS + "/yaml?timeout=nonsense"),
    step("GET", WATCHED + "/configmaps"),
    step("GET", WATCHED + "/configmaps/long"),
    step("GET", WATCHED + "/configmaps", Accept=YAML),
    step("GET", WATCHED + "/configmaps?pretty=true&limit=2"),
    step("PUT", WATCHED + "/configmaps/long", {"metadata": {"name": "long"}, "data": {"k": "w" * 40000}}),
]

# Verbs, paths and users.
VERBS = [
    step("HEAD", CONFIGMAPS + "/yaml"),
    step("POST", CONFIGMAPS + "/yaml", {}),
    step("PATCH", CONFIGMAPS, {}, kind=MERGE),
    step("GET", "/api/v1/nonsense"),
    step("GET", "/apis/nonsense.io/v1/things"),
    step("GET", "/"),
    step("GET", "/apis/apps/v1"),
    step("GET", "/openapi/v3"),
    step("GET", "/api/v1/pods", token=None),
    step("GET", "/version", token=None),
    step("GET", "/api/v1/pods", token=None, Authorization="Basic YTpi"),
    step("GET", "/api/v1/nodes", token="usertoken"),
    step("GET", "/api/v1/nodes/n", token="usertoken"),
    step("GET", SERVICES + "/named", token="usertoken"),
    step("GET", SERVICES + "/named"),
    step("GET", SERVICES + "/unnamed"),
    step("GET", "/api/v1/watch/namespaces/default/configmaps?timeoutSeconds=1&resourceVersion=0"),
    step("GET", SECRETS + "?watch=1&timeoutSeconds=1", token="usertoken"),
    step("GET", CONFIGMAPS + "?watch=1&timeoutSeconds=1&resourceVersion=nonsense"),
    step("GET", SECRETS, Impersonate_User="bob", Impersonate_Uid="u-1", Impersonate_Extra_Scopes="view"),
    step("GET", SECRETS, Impersonate_User="system:serviceaccount:default:robot"),
    step("GET", SECRETS, Impersonate_Group="ops"),
    step("GET", SECRETS, User_Agent="a" * 1500),
    step("GET", SECRETS, X_Forwarded_For="nonsense, 2001:DB8::0001", X_Real_Ip="::ffff:10.1.1.1"),
    step("GET", SECRETS, X_Real_Ip="10.7.7.7"),
    step("GET", SECRETS + "?labelSelector=a%20in%20(b,c)"),
    step("GET", SECRETS + "?labelSelector=%21%21"),
    step("DELETE", CONFIGMAPS + "/missing"),
    step("DELETE", CONFIGMAPS + "/yaml", {"preconditions": {"uid": "00000000-0000-0000-0000-000000000000"}}),
    step("DELETE", CONFIGMAPS + "/yaml?dryRun=All"),
    step("DELETE", CONFIGMAPS + "/yaml?propagationPolicy=Foreground&gracePeriodSeconds=0"),
    step("DELETE", CONFIGMAPS + "/warned", "{nonsense"),
    step("DELETE", CONFIGMAPS + "/warned", "propagationPolicy: Orphan\n", kind=YAML),
    step("DELETE", CONFIGMAPS + "?labelSelector=never%3Dset", {"gracePeriodSeconds": 5}),
    step("GET", "/api/v1/namespaces/default/endpoints"),
    step("GET", "/api/v1/namespaces/default/endpoints?watch=1&timeoutSeconds=1&resourceVersion=0"),
    step("GET", "/api/v1/namespaces/default/endpoints", token="usertoken"),
]

# Namespaces, pods, accounts, reviews, custom resources: subresources and annotations.
KINDS = [
    step("PUT", AUDITED + "/finalize", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "audited"}, "spec": {"finalizers": ["kubernetes"]}}),
    step("PUT", AUDITED + "/status", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "audited"}, "status": {"phase": "Active"}}),
    step("PATCH", AUDITED, {"metadata": {"labels": {"pod-security.kubernetes.io/audit": "restricted"}}}, kind=MERGE),
    step("POST", PODS, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}),
    step("POST", PODS, {"metadata": {"name": "host"}, "spec": {"hostNetwork": True, "containers": [{"name": "c", "image": "i"}]}}),
    step("PUT", PODS + "/p/status", {"metadata": {"name": "p"}, "status": {"phase": "Running"}}),
    step("PATCH", PODS + "/p/status", {"status": {"message": "patched"}}, kind=STRATEGIC),
    step("GET", PODS + "/p/log"),
    step("GET", PODS + "/missing/log"),
    step("POST", PODS + "/p/binding", {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}),
    step("POST", "/api/v1/namespaces/audited/bindings", {"metadata": {"name": "missing"}, "target": {"kind": "Node", "name": "n"}}),
    step("POST", PODS + "/missing/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "missing", "namespace": "audited"}}),
    step("POST", PODS + "/p/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p", "namespace": "audited"},
                                        "deleteOptions": {"gracePeriodSeconds": 0}}),
    step("DELETE", PODS + "/p", {"gracePeriodSeconds": 0}),
    step("POST", ACCOUNTS, {"metadata": {"name": "robot"}}),
    step("POST", ACCOUNTS + "/robot/token", {"spec": {"audiences": ["https://kubernetes.default.svc"], "expirationSeconds": 3600}}),
    step("POST", ACCOUNTS + "/missing/token", {"spec": {}}),
    step("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review("authentication.k8s.io", "TokenReview", token="wrong")),
    step("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}),
    step("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
         review("authorization.k8s.io", "SubjectAccessReview", user="alice", nonResourceAttributes={"verb": "get", "path": "/version"})),
    step("POST", "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews",
         review("authorization.k8s.io", "LocalSubjectAccessReview", user="alice", resourceAttributes={"namespace": "default", "verb": "get", "resource": "pods"})),
    step("POST", ROBOTS % "v1", {"apiVersion": "example.com/v1", "kind": "Robot", "metadata": {"name": "r"}, "spec": {"arms": 2}}),
    step("POST", ROBOTS % "v1", {"apiVersion": "example.com/v1", "kind": "Robot", "metadata": {"name": "bad"}, "spec": {"arms": "many"}}),
    step("GET", ROBOTS % "v1beta1" + "/r"),
    step("GET", ROBOTS % "v1beta1" + "/r", token="usertoken"),
    step("PATCH", ROBOTS % "v1" + "/r", {"spec": {"arms": 3}}, kind=MERGE),
    step("PUT", ROBOTS % "v1" + "/r/status", {"apiVersion": "example.com/v1", "kind": "Robot", "metadata": {"name": "r"}, "status": {"ok": True}}),
    step("GET", ROBOTS % "v1" + "/r/scale"),
    step("GET", ROBOTS % "v1"),
    step("DELETE", ROBOTS % "v1" + "/r"),
    step("DELETE", ROBOTS % "v1"),
    step("POST", "/api/v1/namespaces", {"metadata": {"name": "brief"}, "spec": {"finalizers": ["kubernetes"]}}),
    step("DELETE", "/api/v1/namespaces/brief"),
    step("GET", "/api/v1/namespaces/brief"),
]

# kube-apiserver loses the event of a patch that is not JSON: it cannot write it. This server records the patch as JSON, or without it.
LOST = {("PATCH", APPLY), ("PATCH", MERGE)}

# Admission: webhooks (AdmissionServer) and policies.
GUARDED = "/api/v1/namespaces/guarded/configmaps"
ADMITTED = [
    step("POST", GUARDED, {"metadata": {"name": "plain"}}),
    step("POST", GUARDED, {"metadata": {"name": "mutated"}, "data": {"mutate": "yes"}}),
    step("POST", GUARDED, {"metadata": {"name": "denied"}, "data": {"deny": "yes"}}),
    step("POST", GUARDED, {"metadata": {"name": "audited"}, "data": {"audit": "yes"}}),
    step("POST", GUARDED, {"metadata": {"name": "refused"}, "data": {"refuse": "yes"}}),
    step("PATCH", GUARDED + "/plain", {"data": {"mutate": "again"}}, kind=MERGE),
    step("DELETE", GUARDED + "/plain"),
    step("POST", GUARDED, {"metadata": {"name": "slow"}, "data": {"slow": "yes"}}),
]

STEPS = PLAIN + FORMATS + VERBS + KINDS + ADMITTED


# ---- what the steps need ----

class AdmissionServer:
    """A webhook: the data of a ConfigMap chooses its answer."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="kc-audit-")
        key, cert = os.path.join(self.dir, "key.pem"), os.path.join(self.dir, "cert.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", cert,
                        "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, stderr=subprocess.DEVNULL)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), AdmissionHandler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        with open(cert, "rb") as f:
            self.client_config = {"url": "https://127.0.0.1:%d/" % self.server.server_address[1], "caBundle": base64.b64encode(f.read()).decode()}

    def hook(self, name, path):
        config = dict(self.client_config, url=self.client_config["url"] + path)
        return hook(name, config, ["CREATE", "UPDATE"])


class AdmissionHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
        data = (request.get("object") or {}).get("data") or {}
        response = {"uid": request["uid"], "allowed": True, "auditAnnotations": {"seen": request["operation"], "not a key": "x"}}
        if self.path.startswith("/mutate") and data.get("mutate"):
            patch = [{"op": "add", "path": "/metadata/labels", "value": {"mutated": data["mutate"]}}]
            response.update(patchType="JSONPatch", patch=base64.b64encode(json.dumps(patch).encode()).decode())
        if self.path.startswith("/validate") and data.get("deny"):
            response.update(allowed=False, status={"message": "no", "reason": "Forbidden", "code": 403}, warnings=["denied"])
        if data.get("slow"):
            time.sleep(0.7)
        body = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def hook(name, config, operations):
    return {"name": name + ".example.com", "clientConfig": config, "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Ignore",
            "timeoutSeconds": 5, "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "guarded"}},
            "rules": [{"operations": operations, "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]}


def policy(name, field, action):
    rule = {"expression": "!has(object.data) || !('%s' in object.data)" % field, "message": field + " is not allowed"}
    match = {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}],
             "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "guarded"}}}
    annotation = {"key": "name", "valueExpression": "'name is ' + object.metadata.name"}
    return [step("POST", ADMISSION + "/validatingadmissionpolicies",
                 {"metadata": {"name": name}, "spec": {"matchConstraints": match, "validations": [rule], "auditAnnotations": [annotation]}}),
            step("POST", ADMISSION + "/validatingadmissionpolicybindings",
                 {"metadata": {"name": name}, "spec": {"policyName": name, "validationActions": action}})]


def robots():
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"arms": {"type": "integer"}}},
                                               "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
    version = {"served": True, "storage": False, "schema": {"openAPIV3Schema": schema},
               "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.arms", "statusReplicasPath": ".status.arms"}}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "robots.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "robots", "singular": "robot", "kind": "Robot", "listKind": "RobotList"},
                     "versions": [dict(version, name="v1", storage=True), dict(version, name="v1beta1", deprecated=True)]}}


def prepare(send):
    """Creates what the steps need; `send` takes a step and returns status and body."""
    webhook = AdmissionServer()
    unreachable = {"url": "https://127.0.0.1:1/"}
    made = [step("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}}) for name, labels in (
        ("audited", {"pod-security.kubernetes.io/enforce": "baseline"}), ("watched", {}), ("guarded", {}))]
    made += [step("POST", WATCHED + "/configmaps", {"metadata": {"name": "long"}, "data": {"k": "v" * 40000}}),
             step("POST", SERVICES, {"metadata": {"name": "named"}, "spec": {"clusterIP": "None", "ports": [{"port": 80}]}}),
             step("POST", SERVICES, {"metadata": {"name": "unnamed"}, "spec": {"clusterIP": "None", "ports": [{"port": 80}]}}),
             step("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", robots())]
    made += policy("auditing.example.com", "audit", ["Audit", "Warn"]) + policy("refusing.example.com", "refuse", ["Deny", "Audit"])
    made += [step("POST", ADMISSION + "/mutatingwebhookconfigurations",
                  {"metadata": {"name": "mutating"}, "webhooks": [webhook.hook("one", "mutate"), hook("two", unreachable, ["CREATE"])]}),
             step("POST", ADMISSION + "/validatingwebhookconfigurations",
                  {"metadata": {"name": "validating"}, "webhooks": [hook("three", unreachable, ["CREATE"]), webhook.hook("four", "validate")]})]
    made += [step("POST", WATCHED + "/configmaps", {"metadata": {"name": "item-%d" % i}, "data": {"k": "v" * 5000}}) for i in range(8)]
    for request in made:
        status, body = send(request)
        assert status == 201, (request, status, body)

    def probe(field):
        return step("POST", GUARDED + "?dryRun=All", {"metadata": {"name": "x"}, "data": {field: "yes"}})

    # Policies and webhooks take effect later.
    for request, wanted, text in ((step("GET", ROBOTS % "v1beta1"), 200, b""), (probe("refuse"), 422, b""), (probe("deny"), 403, b""),
                                  (probe("mutate"), 201, b'"mutated":"yes"')):
        until = time.monotonic() + 90
        status, body = send(request)
        while status != wanted or text not in body:
            assert time.monotonic() < until, (request, status, body)
            time.sleep(0.2)
            status, body = send(request)


# ---- playing ----

def exchange(host, port, tls, request, audit_id=None):
    method, path, body, token, kind, headers = request
    context = ssl._create_unverified_context() if tls else None
    connection = (http.client.HTTPSConnection(host, port, context=context, timeout=60) if tls
                  else http.client.HTTPConnection(host, port, timeout=60))
    all_headers = {"User-Agent": "recorder/1", "Accept": "application/json"}
    if token:
        all_headers["Authorization"] = "Bearer " + token
    if audit_id:
        all_headers["Audit-Id"] = audit_id
    all_headers.update(headers)
    if body is not None:
        all_headers["Content-Type"] = kind
    text = body if body is None or isinstance(body, str) else json.dumps(body)
    connection.request(method, path, text, all_headers)
    response = connection.getresponse()
    status, answer = response.status, response.read()
    connection.close()
    return status, answer


def play(host, port, tls):
    """Sends all requests; the responses are not compared here."""
    prepare(lambda request: exchange(host, port, tls, request))
    for i, request in enumerate(STEPS):
        exchange(host, port, tls, request, "step-%d" % i)


# ---- comparing ----

UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
CHOSEN = {"resourceVersion": "RV", "continue": "CONTINUE", "token": "TOKEN"}


def normal(value, name=None):
    """Replaces what a server chooses, and long texts by their hash."""
    if isinstance(value, dict):
        return {k: normal(v, k) for k, v in sorted(value.items()) if k != "selfLink"}
    if isinstance(value, list):
        return [normal(item, name) for item in value]
    if isinstance(value, str):
        if name in CHOSEN and value:
            return CHOSEN[name]
        if TIME.match(value):
            return "TIME"
        if name == "cells" and re.match(r"^\d+s$", value):
            return "AGE"
        if name == "name" and re.match(r"^g-[a-z0-9]{5}$", value):
            return "g-NAME"
        value = UID.sub("UID", value)
        if len(value) > 2000:
            return "%d bytes, sha256 %s" % (len(value), hashlib.sha256(value.encode()).hexdigest())
    return value


def is_lost(key):
    """Whether kube-apiserver has no such event, because of the request's body."""
    method, _, body, _, kind, _ = STEPS[key[0]]
    return (method, kind) in LOST and isinstance(body, str) and key[1] == "ResponseComplete"


def events_of(text):
    """The events of the steps by number and stage, normalized."""
    found = {}
    for line in text.splitlines():
        event = json.loads(line)
        if not event["auditID"].startswith("step-"):
            continue
        for key in [k for k in event.get("annotations", {}) if k.startswith("apiserver.latency.k8s.io/")]:
            event["annotations"][key] = "LATENCY"
        found[int(event["auditID"][5:]), event["stage"]] = normal(event)
    return found


def await_events(read, seconds=90):
    """Reads the log until the last request is complete."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        events = events_of(read())
        if (len(STEPS) - 1, "ResponseComplete") in events:
            return events
        time.sleep(0.1)
    return events_of(read())
