# SPDX-License-Identifier: Apache-2.0
"""
Requests within all limits that cost as much as a client can make them cost. While one runs, other clients' p99 stays below 50 ms (the
runner holds it), the I/O loops spend a few milliseconds on it, and the whole server no more than two seconds of CPU time.
"""
import json
import os

import harness
from attack import MIB, NS, SANITIZED, SLACK, SLOW, SOAK, Skipped, Threads, TooSlow, Watch, attack
from sweep import JSON_PATCH, MERGE, STRATEGIC, Meter, sweep, sweep_pairs

CORE = "/api/v1/namespaces/%s/" % NS
CPU = 2.0    # Seconds one request may cost.
LOOPS = 0.030  # Seconds of it on I/O loops: receiving the body and sending the answer.
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
MANY = 64000
TAKEN = (201, 413)  # Valid; some are larger than what may be stored, which is found last.


def most_on_loops(total):
    """Of the CPU time of a request: a constant for its bytes, and a share for the probe's requests, which the loops serve meanwhile. Only
    the constant is wider where other programs run: a bound near the whole time would hold for every request."""
    return min(LOOPS * SLACK, 0.05 * SLOW) + 0.1 * total


class Costs:
    """CPU time of the I/O loops and of all threads while requests run."""

    def __init__(self, t):
        self.t, self.meter = t, Meter(t)

    def _used(self):
        directory, loops, total = "/proc/%d/task" % self.t.process.pid, 0, 0
        for task in os.listdir(directory):
            with open("%s/%s/comm" % (directory, task)) as f:
                name = f.read()
            with open("%s/%s/schedstat" % (directory, task)) as f:
                used = int(f.read().split()[0]) / 1e9
            total += used
            loops += used if name.startswith("http-") else 0
        return loops, total

    def send(self, method, path, body=b"", kind="application/json", accept="application/json"):
        """Sends a request and holds the bounds on what it costs; (status, answer)."""
        data = body if isinstance(body, bytes) else json.dumps(body, separators=(",", ":")).encode()
        loops, total = self._used()
        status, answer, _, _ = self.meter.send(method, path, data, kind, accept)
        loops_now, total_now = self._used()
        if SANITIZED and status == 504:
            raise Skipped("a sanitizer makes it cost more than a request may")
        if self.t.mixed:
            return status, answer
        what = "%s %s, %d bytes" % (method, path, len(data))
        assert total_now - total < CPU * SLACK, "%s: %.2f s of CPU time" % (what, total_now - total)
        if loops_now - loops >= most_on_loops(total_now - total):
            raise TooSlow("%s: %.0f of %.0f ms on I/O loops" % (what, (loops_now - loops) * 1e3, (total_now - total) * 1e3))
        return status, answer


def numbered(prefix, value, n=MANY):
    return {"%s%d" % (prefix, i): value for i in range(n)}


def named(kind, version="v1", **more):
    return dict({"apiVersion": version, "kind": kind, "metadata": {"name": "latency"}}, **more)


def dry(plural, path=CORE):
    return path + plural + "?dryRun=All"


@attack(mix=True)
def three_megabytes_of_floats_are_parsed_and_written(t):
    text = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"x":[%s]}' % ",".join(
        ["1.7976931348623157e308"] * 130000)
    status, answer = Costs(t).send("POST", dry("configmaps"), text.encode())
    assert status == 201, answer[:300]


@attack(mix=True)
def pod_with_64k_limits_is_refused_quickly(t):
    pod = named("Pod", spec={"containers": [{"name": "c", "image": "i", "resources": {"limits": numbered("k", "1")}}]})
    status, answer = Costs(t).send("POST", dry("pods"), pod)
    assert status == 422, answer[:300]
    assert len(json.loads(answer)["details"]["causes"]) <= 1000


@attack(mix=True)
def pod_with_64k_extended_limits_is_accepted_quickly(t):
    pod = named("Pod", spec={"containers": [{"name": "c", "image": "i", "resources": {
        "limits": numbered("a.io/k", "1"), "requests": numbered("a.io/k", "1")}}]})
    status, answer = Costs(t).send("POST", dry("pods"), pod)
    assert status in TAKEN, answer[:300]


@attack(mix=True)
def secret_with_data_and_string_data_of_64k_keys_is_merged_quickly(t):
    secret = named("Secret", data=numbered("k", "YQ=="), stringData=numbered("j", "1"))
    status, answer = Costs(t).send("POST", dry("secrets"), secret)
    assert status in TAKEN, answer[:300]


@attack(mix=True)
def config_map_with_two_maps_of_64k_keys_is_compared_quickly(t):
    status, answer = Costs(t).send("POST", dry("configmaps"),
                                   named("ConfigMap", data=numbered("k", "v"), binaryData=numbered("j", "YQ==")))
    assert status in TAKEN, answer[:300]
    status, answer = Costs(t).send("POST", dry("configmaps"),
                                   named("ConfigMap", data=numbered("k", "v"), binaryData=numbered("k", "YQ==")))
    assert status == 422, answer[:300]


@attack(mix=True)
def node_with_a_capacity_of_64k_resources_is_checked_quickly(t):
    status, answer = Costs(t).send("POST", dry("nodes", "/api/v1/"), named("Node", status={"capacity": numbered("k", "1")}))
    assert status in TAKEN, answer[:300]


@attack(mix=True)
def job_with_64k_labels_is_completed_quickly(t):
    template = {"metadata": {"labels": numbered("k", "a")},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    job = named("Job", "batch/v1", spec={"template": template})
    job["metadata"]["labels"] = numbered("k", "a")
    status, answer = Costs(t).send("POST", dry("jobs", "/apis/batch/v1/namespaces/%s/" % NS), job)
    assert status in TAKEN, answer[:300]


@attack(mix=True)
def errors_repeat_a_long_list_only_a_few_times(t):
    quota = named("ResourceQuota", spec={"scopes": ["a%d" % i for i in range(100000)], "hard": numbered("a.io/k", "1", 20000)})
    status, answer = Costs(t).send("POST", dry("resourcequotas"), quota)
    assert status == 422 and len(answer) < 16 * MIB, (status, len(answer))


@attack(growth=192 * MIB)
def error_of_refused_update_truncates_a_long_template(t):
    jobs = "/apis/batch/v1/namespaces/%s/jobs" % NS
    spec = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    job = named("Job", "batch/v1", spec={"template": {"spec": spec}})
    assert t.admin().request("POST", jobs, job)[0] == 201
    spec["volumes"] = [{"name": "v%d" % i} for i in range(150000)]
    status, answer = Costs(t).send("PUT", jobs + "/latency?dryRun=All", job)
    assert status == 422 and len(answer) < 4 * MIB, (status, len(answer))


@attack(mix=True)
def limit_range_with_five_maps_is_compared_quickly(t):
    maps = {name: numbered("a.io/k", "1", 20000) for name in ("max", "min", "default", "defaultRequest")}
    status, answer = Costs(t).send("POST", dry("limitranges"),
                                   named("LimitRange", spec={"limits": [dict(maps, type="Container")]}))
    assert status == 201, answer[:300]


@attack(mix=True)
def yaml_body_of_700k_documents_is_read_to_the_end_of_the_first(t):
    status, answer = Costs(t).send("POST", dry("configmaps"), b"---\n" * 700000, "application/yaml")
    assert status == 422, answer[:300]
    first = b"metadata: {name: a}\n" + b"---\n}: ]\n" * 200000
    status, answer = Costs(t).send("POST", dry("configmaps"), first, "application/yaml")
    assert status == 201, answer[:300]


@attack(mix=True)
def long_object_is_rendered_and_patched_off_the_loops(t):
    name, costs = t.unique("long"), Costs(t)
    body = named("ConfigMap", data=numbered("k", "value", 60000))
    body["metadata"]["name"] = name
    one = CORE + "configmaps/" + name
    t.made(one)
    status, answer = costs.send("POST", CORE + "configmaps", body)
    assert status == 201, answer[:300]
    for path, accept in ((one, "application/yaml"), (one + "?pretty=true", "application/json"), (one, TABLE),
                         (CORE + "configmaps", "application/yaml"), (CORE + "configmaps", TABLE),
                         (CORE + "configmaps?labelSelector=a%3Db", "application/json")):
        status, answer = costs.send("GET", path, accept=accept)
        assert status == 200, answer[:300]
    operations = [{"op": "replace", "path": "/data/k%d" % i, "value": "b"} for i in range(9000)]
    for kind, patch in ((MERGE, {"data": numbered("k", "a", 60000)}), (STRATEGIC, {"data": numbered("j", "a", 20000)}),
                        (MERGE, {"data": numbered("k", None, 30000)}), (JSON_PATCH, operations)):
        status, answer = costs.send("PATCH", one + "?dryRun=All", patch, kind)
        assert status in (200, 413, 422), answer[:300]
    status, answer = costs.send("DELETE", one)
    assert status == 200, answer[:300]


def fill_namespace(t, ns, n):
    assert t.admin().request("POST", "/api/v1/namespaces", {"metadata": {"name": ns}})[0] == 201

    def create(start):
        client = t.admin()
        for i in range(start, n, 4):
            status, answer = client.request("POST", "/api/v1/namespaces/%s/configmaps" % ns,
                                            {"metadata": {"name": "m%d" % i, "labels": {"a": "b"}}, "data": {"k": "v" * 500}})
            assert status == 201, answer

    threads = Threads()
    for start in range(4):
        threads.go(create, start)
    threads.join()


@attack()
def selectors_over_many_objects_do_not_block_the_loops(t):
    ns, costs = t.unique("many"), Costs(t)
    maps = "/api/v1/namespaces/%s/configmaps" % ns
    fill_namespace(t, ns, 20000 if SOAK else 4000)
    for query in ("?labelSelector=a%3Dc", "?labelSelector=a%3Db", "?fieldSelector=metadata.name%3Dnone",
                  "?limit=1000", "?labelSelector=a%3Dc&limit=5"):
        status, answer = costs.send("GET", maps + query)
        assert status == 200, answer[:300]
    status, answer = costs.send("GET", maps, accept=TABLE)
    assert status == 200, answer[:300]
    watch = Watch(t, maps, options="&labelSelector=a%3Dc&timeoutSeconds=1")
    assert list(watch) == []
    status, answer = costs.send("DELETE", maps + "?labelSelector=a%3Db&dryRun=All")
    assert status == 200, answer[:300]


@attack(mix=True)
def many_long_requests_at_once_are_answered_or_refused(t):
    body = named("ConfigMap", data=numbered("k", "v", 30000))

    def send():
        for _ in range(3):
            status, answer = t.admin().request("POST", dry("configmaps"), body)
            assert status in (201, 429), (status, str(answer)[:300])

    threads = Threads()
    for _ in range(6):
        threads.go(send)
    threads.join()


@attack()
def sampled_lists_and_maps_are_validated_quickly(t):
    """Every 60th list or map of the built-in kinds; the long version has all of them."""
    found = list(sweep(Meter(t), 100000, 150 * SLACK, every=60))
    assert not found, "\n".join("%.0f ms %s %s %s %d" % (f[0] * 1e3, f[1], f[2], f[3], f[4]) for f in found)


@attack(long=True, p99=None)
def every_list_and_map_of_every_kind_is_validated_quickly(t):
    found = list(sweep(Meter(t), 1000000, 700 * SLACK))
    assert not found, "\n".join("%.0f ms %s %s %s %d" % (f[0] * 1e3, f[1], f[2], f[3], f[4]) for f in found)


@attack(long=True, p99=None)
def pairs_of_lists_and_maps_are_validated_quickly(t):
    found = list(sweep_pairs(Meter(t), 1000000, 700 * SLACK, 1500, seed=harness.SEED))
    assert not found, "\n".join("%.0f ms %s %s %s %d" % (f[0] * 1e3, f[1], f[2], f[3], f[4]) for f in found)
