#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
sweep.py: requests with as many small entries as fit, for every list and map of every built-in kind.

The kinds and their fields come from the server's own OpenAPI document, so a new kind is covered as
soon as it is served. For each list or map a body is made whose one long field has distinct entries,
and it is sent as a create, an update, a strategic merge patch, a merge patch, an apply patch (with and without other owners of its
fields), and a create of the protobuf form that the server made of it, all as dry runs.
What a request costs is the CPU time of the whole server process, which does not depend on what else
the machine does.

    sweep.py [--bytes N] [--above MILLISECONDS] [--every N] [--pairs COUNT] [KIND...]

prints every request that costs more. cases/latency.py holds a sample of it, and in `make soak` all of it, to a bound.
"""
import json
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from harness import Reader, Server, connect, head_of  # noqa: E402

STRATEGIC = "application/strategic-merge-patch+json"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"

SELECTOR = {"matchLabels": {"a": "b"}}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
JOB_TEMPLATE = {"spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
HOOK = {"name": "a.b.c", "clientConfig": {"url": "https://example.org/"}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"]}

# What a valid object of a kind needs beside its name.
BASES = {
    "Pod": {"spec": {"containers": [{"name": "c", "image": "i"}]}},
    "PodTemplate": {"template": TEMPLATE},
    "Deployment": {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
    "ReplicaSet": {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
    "DaemonSet": {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
    "StatefulSet": {"spec": {"selector": SELECTOR, "template": TEMPLATE, "serviceName": "s"}},
    "ReplicationController": {"spec": {"selector": {"a": "b"}, "template": TEMPLATE}},
    "Job": {"spec": {"template": JOB_TEMPLATE}},
    "CronJob": {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": JOB_TEMPLATE}}}},
    "Service": {"spec": {"ports": [{"port": 80}]}},
    "PersistentVolume": {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
                                  "hostPath": {"path": "/a"}}},
    "PersistentVolumeClaim": {"spec": CLAIM},
    "HorizontalPodAutoscaler": {"spec": {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}}},
    "Ingress": {"spec": {"defaultBackend": {"service": {"name": "a", "port": {"number": 80}}}}},
    "NetworkPolicy": {"spec": {"podSelector": {}}},
    "StorageClass": {"provisioner": "a"},
    "PriorityClass": {"value": 1},
    "IngressClass": {"spec": {"controller": "a.io/b"}},
    "RuntimeClass": {"handler": "a"},
    "CSIDriver": {"spec": {}},
    "CSINode": {"spec": {"drivers": []}},
    "VolumeAttachment": {"spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "p"}}},
    "RoleBinding": {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"}},
    "ClusterRoleBinding": {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "a"}},
    "Event": {"involvedObject": {"namespace": "default"}, "reason": "r", "type": "Normal", "action": "a"},
    "MutatingWebhookConfiguration": {"webhooks": [HOOK]},
    "ValidatingWebhookConfiguration": {"webhooks": [HOOK]},
    "EndpointSlice": {"addressType": "IPv4", "endpoints": []},
    "CustomResourceDefinition": {
        "spec": {"group": "g.example.org", "scope": "Namespaced", "names": {"plural": "as", "kind": "A"},
                 "versions": [{"name": "v1", "served": True, "storage": True,
                               "schema": {"openAPIV3Schema": {"type": "object"}}}]}},
}
NAMES = {"CustomResourceDefinition": "as.g.example.org"}

DEEPEST = 9


class Schema:
    """The definitions of the server, and what small values of them look like."""

    def __init__(self, document):
        self.definitions = document["definitions"]

    def resolve(self, schema):
        ref = schema.get("$ref") or (schema.get("allOf") or [{}])[0].get("$ref")
        return (self.definitions[ref.rsplit("/", 1)[1]], ref) if ref else (schema, None)

    def value(self, schema, n, depth=0):
        """A small value; different for different n where it is text or a number."""
        schema, ref = self.resolve(schema)
        kind = schema.get("type")
        if ref and ref.endswith("Quantity"):
            return str(n)
        if kind == "string":
            return "2024-01-01T00:00:00Z" if schema.get("format") == "date-time" else \
                "YWFh" if schema.get("format") == "byte" else "a%d" % n
        if kind in ("integer", "number"):
            return n % 60000 + 1
        if kind == "boolean":
            return True
        if kind == "array":
            return []
        keys = schema.get("required", [])
        properties = schema.get("properties", {})
        if depth > 3:
            return {}
        return {k: self.value(properties[k], n, depth + 1) for k in keys if k in properties}

    def entry(self, field, n):
        """An element of the list `field`, with the members that tell elements apart."""
        item, _ = self.resolve(field["items"])
        value = self.value(field["items"], n)
        if isinstance(value, dict):
            for key in field.get("x-kubernetes-list-map-keys", []) + [field.get("x-kubernetes-patch-merge-key"),
                                                                      "name", "key"]:
                if key in item.get("properties", {}):
                    value[key] = self.value(item["properties"][key], n)
        return value

    def fields(self, name):
        """(path, schema) of every list and map; a path is names, and "[]" for an element of a list."""
        yield from self._fields({"$ref": "/" + name}, (), ())

    def _fields(self, schema, path, seen):
        schema, ref = self.resolve(schema)
        if len(path) > DEEPEST or (ref and seen.count(ref) > 0):
            return
        seen = seen + ((ref,) if ref else ())
        if schema.get("type") == "array":
            yield path, schema
            yield from self._fields(schema["items"], path + ("[]",), seen)
        elif "additionalProperties" in schema:
            yield path, schema
        for key, sub in schema.get("properties", {}).items():
            if path == () and key in ("apiVersion", "kind"):
                continue
            yield from self._fields(sub, path + (key,), seen)


def crowd(schema, field, size):
    """As many entries as fit into `size` bytes."""
    if field.get("type") == "array":
        n = max(1, size // (len(json.dumps(schema.entry(field, 99999))) + 2))
        return [schema.entry(field, i) for i in range(n)]
    inner = field["additionalProperties"]
    n = max(1, size // (len(json.dumps(schema.value(inner, 99999))) + 12))
    return {"k%d" % i: schema.value(inner, i) for i in range(n)}


def place(schema, root_name, body, path, crowded):
    """Puts the long field at its place; what is on the way is made small and valid where it is not there."""
    at, sub = body, {"$ref": "/" + root_name}
    for i, step in enumerate(path):
        sub, _ = schema.resolve(sub)
        last = i == len(path) - 1
        if step == "[]":
            if not at:
                at.append(schema.entry(sub, 1))
            if last:
                raise AssertionError(path)
            at, sub = at[0], sub["items"]
            continue
        sub = sub["properties"][step]
        if last:
            at[step] = crowded
            return
        if step not in at or at[step] is None:
            at[step] = schema.value(sub, 1)
        at = at[step]


class Kind:
    def __init__(self, definition, gvk, path):
        self.definition, self.kind, self.path = definition, gvk["kind"], path
        self.api_version = (gvk["group"] + "/" if gvk["group"] else "") + gvk["version"]

    def name(self):
        return NAMES.get(self.kind, "sweep")

    def base(self):
        body = {"apiVersion": self.api_version, "kind": self.kind, "metadata": {"name": self.name()}}
        return json.loads(json.dumps(dict(body, **BASES.get(self.kind, {}))))


def kinds_of(document):
    """Every kind that can be created, by the POST operations of the document."""
    found = {}
    for path, operations in document["paths"].items():
        action = operations.get("post", {})
        gvk = action.get("x-kubernetes-group-version-kind")
        body = [p for p in action.get("parameters", []) if p.get("in") == "body"]
        if not gvk or not body or "{name}" in path or "$ref" not in body[0]["schema"]:
            continue
        definition = body[0]["schema"]["$ref"].rsplit("/", 1)[1]
        if definition not in found or "{namespace}" in path:
            found[definition] = Kind(definition, gvk, path.replace("{namespace}", "default"))
    return [found[name] for name in sorted(found)]


class Meter:
    """A server, a connection, and what a request to it costs."""

    def __init__(self, server):
        self.server = server
        self.reader = None

    def cpu(self):
        """Nanoseconds of all threads."""
        directory, total = "/proc/%d/task" % self.server.process.pid, 0
        for task in os.listdir(directory):
            with open("%s/%s/schedstat" % (directory, task)) as f:
                total += int(f.read().split()[0])
        return total

    def send(self, method, path, body=b"", kind="application/json", accept="application/json"):
        """(status, answer, seconds of CPU, seconds of time)"""
        if not self.reader:
            self.reader = Reader(connect(self.server, 120))
        head = head_of(method, path, body, kind).replace(b"Accept: application/json", b"Accept: " + accept.encode())
        cpu, start = self.cpu(), time.monotonic()
        self.reader.s.sendall(head + body)
        status, fields = self.reader.head()
        if fields.get("transfer-encoding") == "chunked":
            data = b"".join(iter(self.reader.chunk, b""))
        else:
            n = int(fields.get("content-length", 0))
            parts = [self.reader.bytes]
            have = len(self.reader.bytes)
            while have < n:
                parts.append(self.reader.s.recv(1 << 20))
                have += len(parts[-1])
            data = b"".join(parts)
            self.reader.bytes = data[n:]
            data = data[:n]
        seconds = time.monotonic() - start
        if fields.get("connection", "").lower() == "close":
            self.reader.s.close()
            self.reader = None
        return status, data, (self.cpu() - cpu) / 1e9, seconds


def requests_of(kind, body):
    """(label, method, path, content type) of what is tried with a body."""
    one = "%s/%s" % (kind.path, kind.name())
    yield "create", "POST", kind.path + "?dryRun=All", "application/json", body
    yield "update", "PUT", one + "?dryRun=All", "application/json", body
    yield "strategic", "PATCH", one + "?dryRun=All", STRATEGIC, body
    yield "merge", "PATCH", one + "?dryRun=All", MERGE, body
    yield "apply", "PATCH", one + "?dryRun=All&fieldManager=sweep", APPLY, body
    yield "apply/force", "PATCH", one + "?dryRun=All&fieldManager=sweep&force=true", APPLY, body


def costs_of(meter, kind, body):
    """(label, status, answer, CPU seconds) of each request with a body."""
    data = json.dumps(body, separators=(",", ":")).encode()
    for label, method, where, content, _ in requests_of(kind, body):
        status, answer, cpu, _ = meter.send(method, where, data, content)
        yield label, status, answer, cpu
    # The server translates the body into protobuf, if the kind has that form and the object is valid.
    create = kind.path + "?dryRun=All"
    status, answer, cpu, _ = meter.send("POST", create, data, accept=PROTOBUF)
    yield "to protobuf", status, answer, cpu
    if status == 201 and answer.startswith(b"k8s\0"):
        status, answer, cpu, _ = meter.send("POST", create, answer, PROTOBUF)
        yield "protobuf", status, answer, cpu


def sweep(meter, size, above, wanted=(), every=1, out=sys.stdout):
    """Yields (cpu seconds, label, kind, path, status) of every request above the bound."""
    _, text, _, _ = meter.send("GET", "/openapi/v2")
    document = json.loads(text)
    schema = Schema(document)
    count = 0
    for kind in kinds_of(document):
        if wanted and kind.kind not in wanted:
            continue
        status, answer, _, _ = meter.send("POST", kind.path, json.dumps(kind.base()).encode())
        if status not in (201, 409):
            print("-- %s cannot be created: %d %s" % (kind.kind, status, answer[:300]), file=out)
        for path, field in schema.fields(kind.definition):
            count += 1
            if count % every:
                continue
            body = kind.base()
            try:
                place(schema, kind.definition, body, path, crowd(schema, field, size))
            except (TypeError, KeyError, IndexError) as e:
                print("-- %s %s: %r" % (kind.kind, ".".join(path), e), file=out)
                continue
            for label, status, answer, cpu in costs_of(meter, kind, body):
                if cpu * 1000 > above:
                    yield cpu, label, kind.kind, ".".join(path), status, answer


def sweep_pairs(meter, size, above, count, wanted=(), seed=1, out=sys.stdout):
    """The same with two long fields in one object, chosen at random, whose entries have the same names:
    what looks each of one up in the other takes long then."""
    chance = random.Random(seed)
    document = json.loads(meter.send("GET", "/openapi/v2")[1])
    schema = Schema(document)
    kinds = [k for k in kinds_of(document) if not wanted or k.kind in wanted]
    fields = {k.definition: list(schema.fields(k.definition)) for k in kinds}
    for kind in kinds:
        meter.send("POST", kind.path, json.dumps(kind.base()).encode())
    for _ in range(count):
        kind = chance.choice(kinds)
        chosen = chance.sample(fields[kind.definition], min(2, len(fields[kind.definition])))
        body = kind.base()
        try:
            for path, field in chosen:
                place(schema, kind.definition, body, path, crowd(schema, field, size // 2))
        except (TypeError, KeyError, IndexError, AttributeError):
            continue
        for label, status, answer, cpu in costs_of(meter, kind, body):
            if cpu * 1000 > above:
                yield cpu, label, kind.kind, " ".join(".".join(p) for p, _ in chosen), status, answer


def main():
    size, above, wanted, every, pairs = 1 << 20, 100, [], 1, 0
    arguments = sys.argv[1:]
    while arguments:
        a = arguments.pop(0)
        if a == "--bytes":
            size = int(arguments.pop(0))
        elif a == "--above":
            above = float(arguments.pop(0))
        elif a == "--pairs":
            pairs = int(arguments.pop(0))
        elif a == "--every":
            every = int(arguments.pop(0))
        else:
            wanted.append(a)
    with Server() as server:
        server.start()
        meter = Meter(server)
        found = sweep_pairs(meter, size, above, pairs, wanted) if pairs else \
            sweep(meter, size, above, wanted, every)
        for cpu, label, kind, path, status, answer in found:
            print("%8.0f ms  %-10s %-28s %s  %d" % (cpu * 1000, label, kind, path, status), flush=True)


if __name__ == "__main__":
    main()
