# SPDX-License-Identifier: Apache-2.0
"""
Definitions and custom objects whose schemas ask for much work or memory: defaults that multiply, alternatives and patterns
that are tried again and again, tables that grow with the square of what a client sends. Every request within the limits
costs less than two seconds of processor time.
"""
import http.client
import json
import re
import resource
import threading
import time

from attack import MIB, NS, SANITIZED, SLACK, TOKEN, Skipped, Target, attack

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "schema.attack.example"
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
MOST_CPU = 2.0
PAUSE = 1.5 if SANITIZED else 0.3  # Until a definition that was stored is served.


def objects(**properties):
    return {"type": "object", "properties": properties}


def lists(items, **more):
    return dict({"type": "array", "items": items}, **more)


def version(schema, name="v1", storage=True, **more):
    return dict({"name": name, "served": True, "storage": storage, "schema": {"openAPIV3Schema": schema}}, **more)


class Kind:
    """A definition and the paths of its objects."""

    def __init__(self, t, *versions):
        self.t, self.plural = t, t.unique("kind").replace("-", "") + "s"
        self.kind = self.plural.capitalize()
        self.path = "%s/%s.%s" % (CRDS, self.plural, GROUP)
        self.body = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                     "metadata": {"name": "%s.%s" % (self.plural, GROUP)},
                     "spec": {"group": GROUP, "scope": "Namespaced",
                              "names": {"plural": self.plural, "kind": self.kind}, "versions": list(versions)}}
        self.collection = "/apis/%s/v1/namespaces/%s/%s" % (GROUP, NS, self.plural)

    def create(self):
        self.t.made(self.path)
        return self.t.admin().request("POST", CRDS, self.body)

    def serve(self):
        status, answer = self.create()
        assert status == 201, answer
        until = time.monotonic() + 10 * SLACK
        while self.t.admin().request("GET", self.collection)[0] != 200:
            assert time.monotonic() < until, "the definition is not served"
            time.sleep(0.01)
        return self

    def change(self, edit):
        """Stores the definition with another spec, and waits until it is served."""
        client = self.t.admin()
        status, now = client.request("GET", self.path)
        edit(now["spec"])
        status, answer = client.request("PUT", self.path, now)
        assert status == 200, answer
        time.sleep(PAUSE)

    def object(self, name, **fields):
        return dict({"apiVersion": GROUP + "/v1", "kind": self.kind, "metadata": {"name": name}}, **fields)

    def post(self, name, **fields):
        return self.t.admin().request("POST", self.collection, self.object(name, **fields))

    def names(self):
        status, answer = self.t.admin().request("GET", self.collection)
        assert status == 200, answer
        return [item["metadata"]["name"] for item in answer["items"]]

    def remove(self):
        assert self.t.admin().request("DELETE", self.path)[0] in (200, 404)


class Cheap:
    """Asserts that what happens inside costs little."""

    def __init__(self, t, what):
        self.t, self.what = t, what

    def __enter__(self):
        self.before = self.t.cpu()

    def __exit__(self, kind, value, trace):
        spent = self.t.cpu() - self.before
        assert kind or spent < MOST_CPU * SLACK, "%s took %.2f s of processor time" % (self.what, spent)


def raw_get(t, path, accept="application/json"):
    """(status, bytes), for answers that are long or in another form."""
    connection = http.client.HTTPConnection("127.0.0.1", t.port, timeout=60 * SLACK)
    connection.request("GET", path, headers={"Accept": accept, "Authorization": "Bearer " + TOKEN})
    answer = connection.getresponse()
    return answer.status, answer.read()


def nested_defaults(depth, n=100):
    schema = objects(x={"type": "string", "default": "y"})
    for _ in range(depth):
        schema = objects(l=lists(schema, default=[{}] * n))
    return objects(spec=dict(schema, default={}))


# ---- defaults ----


@attack(growth=64 * MIB, mix=True)
def crd_with_multiplying_defaults_is_refused_with_the_path(t):
    for depth in (3, 5, 20):
        status, answer = Kind(t, version(nested_defaults(depth))).create()
        assert status == 422, (depth, status)
        cause = answer["details"]["causes"][0]
        assert cause["reason"] == "FieldValueTooLong" and cause["field"].endswith("properties[l].default"), cause
    kind = Kind(t, version(nested_defaults(2))).serve()
    status, answer = kind.post("a")
    assert status == 201 and len(answer["spec"]["l"]) == 100, status


@attack(growth=160 * MIB, mix=True)
def object_multiplied_by_long_defaults_is_invalid(t):
    item = objects(s={"type": "string", "default": "x" * 100000})
    kind = Kind(t, version(objects(spec=objects(l=lists(item))))).serve()
    assert kind.post("small", spec={"l": [{}] * 3})[0] == 201
    with Cheap(t, "an object with 600,000 long defaults"):
        status, answer = kind.post("large", spec={"l": [{}] * 600000})
    assert status == 422 and "spec.l[15].s" in answer["message"], (status, answer["message"][:300])


def add_default(spec):
    schema = spec["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"]["properties"]["l"]["items"]["properties"]["s"]["default"] = "x" * 10000


def late_defaults(t):
    """Objects of which one is too large for the defaults that their definition gets later."""
    kind = Kind(t, version(objects(spec=objects(l=lists(objects(s={"type": "string"})))))).serve()
    assert kind.post("small", spec={"l": [{}]})[0] == 201
    assert kind.post("large", spec={"l": [{}] * 1000})[0] == 201
    kind.change(add_default)
    return kind


@attack(growth=64 * MIB, mix=True)
def object_too_large_for_new_defaults_is_reported_and_can_be_deleted(t):
    kind, client = late_defaults(t), t.admin()
    large = kind.collection + "/large"
    status, answer = client.request("GET", large)
    assert status == 500 and answer["reason"] == "StorageReadError", answer
    assert "%s/large" % NS in answer["message"], answer["message"]
    assert kind.names() == ["small"], "a list is not the others"
    status, answer = client.request("PATCH", large, {"metadata": {"labels": {"a": "b"}}}, "application/merge-patch+json")
    assert status == 500 and answer["reason"] == "StorageReadError", answer
    status, text = client.request("GET", "/metrics")
    reads = re.search(r"^apiserver_unservable_object_reads_total (\d+)", text, re.M)
    assert reads and int(reads.group(1)) >= 3, "it is not counted"
    assert t.log_text().count("stored object cannot be served") == 1 or t.count > 1, "it is not logged once"
    assert client.request("DELETE", large)[0] == 200
    assert client.request("GET", large)[0] == 404


@attack(alone=True)
def server_with_an_object_too_large_for_new_defaults_restarts():
    with Target(verb="up", flags=["--metrics-bind-address=", "--health-probe-bind-address="]) as t:
        t.ready()
        kind = late_defaults(t)
        t.stop()
        t.start()
        assert kind.names() == ["small"]
        assert t.admin().request("DELETE", kind.collection + "/large")[0] == 200
        assert kind.names() == ["small"]


# ---- work ----


@attack(growth=160 * MIB)
def schema_alternatives_are_evaluated_in_bounded_time(t):
    numbers = dict({"type": "integer"}, anyOf=[{"maximum": -i - 1} for i in range(1000)])
    enums = dict(ANYTHING, anyOf=[{"enum": [{"a": i}]} for i in range(2000)])
    all_of = objects(l=lists({"type": "string"}))
    all_of["allOf"] = [{"properties": {"l": {"items": {"maxLength": 10 ** 6 + i}}}} for i in range(1000)]
    for schema, value in ((objects(l=lists(numbers)), {"l": list(range(400000))}),
                          (enums, {"l": list(range(200000))}), (all_of, {"l": ["a" * 1400000]})):
        kind = Kind(t, version(objects(spec=schema))).serve()
        with Cheap(t, "an object with many alternatives"):
            status, answer = kind.post("a", spec=value)
        assert status == 422 and "too complex to validate" in answer["message"], (status, answer["message"][:300])
        kind.remove()


@attack(growth=64 * MIB)
def nested_enums_over_a_large_object_take_bounded_time(t):
    schema, value = ANYTHING, {"v": ["x%d" % i for i in range(100000)]}
    for i in range(200):
        schema = dict(ANYTHING, enum=[{"a": i, "b": 1}], properties={"a": schema})
        value = {"a": value, "c": 1}
    kind = Kind(t, version(objects(spec=schema))).serve()
    with Cheap(t, "an object of nested enums"):
        assert kind.post("a", spec=value)[0] == 422


@attack(growth=64 * MIB)
def patterns_are_matched_in_bounded_time(t):
    cases = (("^(a+)+$", ["a" * 14 + "b"] * 150000), ("^(a+)+$", ["a" * 5000 + "b"] * 200), ("(x|w)*[yz]", ["x" * 200000]),
             ("x+x+[yz]", ["x" * 1400000]), ("x{1,1000}x{1,1000}[yz]", ["x" * 1400000]), ("x" * 15000 + "[yz]", ["x" * 1400000]))
    for pattern, values in cases:
        kind = Kind(t, version(objects(spec=objects(l=lists({"type": "string", "pattern": pattern}))))).serve()
        with Cheap(t, "matching " + pattern[:30]):
            assert kind.post("a", spec={"l": values})[0] == 422
        kind.remove()


@attack(growth=400 * MIB)
def large_crds_take_less_than_two_seconds(t):
    keys = ["k%d" % i for i in range(10000)]
    key_list = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys}
    many = [version({"type": "object", "maxProperties": 10 ** 6 + i}, "v%d" % i, i == 1, deprecated=i > 1) for i in range(1, 8001)]
    for versions in ([version(objects(spec=objects(**{"p%d" % i: {"type": "string", "maxLength": i + 1} for i in range(30000)})))],
                     [version(objects(spec=objects(**{"p%d" % i: objects(q={"type": "string", "default": "x"}) for i in range(15000)})))],
                     [version(objects(l=lists(objects(**{k: {"type": "string", "default": ""} for k in keys}), **key_list)))], many):
        kind = Kind(t, *versions)
        with Cheap(t, "a definition of many parts"):
            kind.serve()
            time.sleep(PAUSE)
        kind.remove()
        time.sleep(PAUSE)


@attack(growth=160 * MIB)
def list_of_many_map_keys_is_checked_in_linear_time(t):
    keys = ["k%d" % i for i in range(10000)]
    item = objects(**{k: {"type": "string"} for k in keys})
    item["required"] = keys
    key_list = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys}
    kind = Kind(t, version(objects(spec=objects(l=lists(item, **key_list))))).serve()
    with Cheap(t, "a list of ten thousand keys"):
        status, answer = kind.post("a", spec={"l": [{k: "" for k in keys}, {k: "" for k in keys}]})
    assert status == 422 and "Duplicate value" in answer["message"], status


@attack(growth=160 * MIB)
def table_of_many_columns_is_bounded(t):
    columns = [{"name": "c%d" % i, "type": "string", "jsonPath": ".spec"} for i in range(8000)]
    kind = Kind(t, version(objects(spec=ANYTHING), additionalPrinterColumns=columns)).serve()
    assert kind.post("a", spec={"p%d" % i: 1 for i in range(60000)})[0] == 201
    with Cheap(t, "a table of many columns"):
        status, body = raw_get(t, kind.collection, TABLE)
    assert status == 200 and len(json.loads(body)["rows"][0]["cells"]) == 8001, status


@attack(growth=400 * MIB)
def openapi_of_two_thousand_versions_takes_less_than_two_seconds(t):
    versions = [version(ANYTHING, "v%d" % i, i == 1) for i in range(1, 2001)]
    kind = Kind(t, *versions).serve()
    for path in ("/openapi/v3", "/openapi/v2"):
        with Cheap(t, path):
            assert raw_get(t, path)[0] == 200
    other = Kind(t, version(ANYTHING)).serve()
    with Cheap(t, "the index after one more definition"):
        before = t.cpu()
        assert raw_get(t, "/openapi/v3")[0] == 200
        assert t.cpu() - before < 0.4 * SLACK, "every version was written again"


# ---- memory ----


def mapped(t):
    with open("/proc/%d/statm" % t.process.pid) as f:
        return int(f.read().split()[0]) * resource.getpagesize()


def flood(kind, statuses):
    for i in range(6):
        try:
            name = "a%x-%d" % (threading.get_ident(), i)
            statuses.append(kind.post(name, spec={"p%d" % k: k for k in range(50000)})[0])
        except OSError:
            statuses.append(0)


@attack(alone=True)
def requests_are_refused_while_memory_is_short_and_served_afterwards():
    if SANITIZED:
        raise Skipped("sanitizers need address space")
    with Target() as t:
        t.ready()
        kind, statuses = Kind(t, version(objects(spec=ANYTHING))).serve(), []
        limits = resource.prlimit(t.process.pid, resource.RLIMIT_AS)
        resource.prlimit(t.process.pid, resource.RLIMIT_AS, (mapped(t) + 24 * MIB, limits[1]))
        threads = [threading.Thread(target=flood, args=(kind, statuses)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert t.process.poll() is None, "the server ended: " + t.log_text()
        assert 429 in statuses, statuses
        assert t.admin().request("GET", "/readyz")[0] == 200
        resource.prlimit(t.process.pid, resource.RLIMIT_AS, limits)
        status, answer = kind.post("after", spec={})
        assert status == 201, answer
