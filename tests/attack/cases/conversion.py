# SPDX-License-Identifier: Apache-2.0
"""
Conversion webhooks that hang, answer with garbage or with far too much. Requests that need them fail; all other clients are served as
if the webhook did not exist, and memory stays bounded. The webhook is tests/e2e/fixtures/converter.
"""
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time

from attack import HERE, MIB, NS, SLACK, attack

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
FIXTURE = os.path.join(HERE, "../e2e/fixtures/converter")


class Webhook:
    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="converter.")
        self.process = subprocess.Popen([FIXTURE, self.directory])
        while not os.path.exists(os.path.join(self.directory, "port")):
            time.sleep(0.02)
        self.port = open(os.path.join(self.directory, "port")).read()
        self.ca = open(os.path.join(self.directory, "ca")).read()
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.directory)

    def reviews(self):
        path = os.path.join(self.directory, "log")
        return len(open(path).readlines()) if os.path.exists(path) else 0


def define(t, hook, path, objects=1, size=10):
    """A CRD with the webhook, and objects of its stored version v1; returns the paths of v1 and v2."""
    client, group = t.admin(), "%s.example.com" % t.unique("conv")
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": name, "served": True, "storage": name == "v1", "schema": schema} for name in ("v1", "v2")]
    conversion = {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {
        "url": "https://127.0.0.1:%s%s" % (hook.port, path), "caBundle": hook.ca}}}
    status, answer = client.request("POST", CRDS, {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "servers." + group},
        "spec": {"group": group, "scope": "Namespaced", "names": {"plural": "servers", "kind": "Server"}, "versions": versions,
                 "conversion": conversion}})
    assert status == 201, answer
    paths = ["/apis/%s/%s/namespaces/%s/servers" % (group, version, NS) for version in ("v1", "v2")]
    for _ in range(200):
        if client.request("GET", paths[0])[0] == 200:
            break
        time.sleep(0.05)
    for i in range(objects):
        status, answer = client.request("POST", paths[0], {"apiVersion": group + "/v1", "kind": "Server",
                                                           "metadata": {"name": "s%d" % i}, "spec": {"text": "x" * size}})
        assert status == 201, answer
    return paths


def in_parallel(t, n, function):
    """Calls function(client) in n threads; their results."""
    results, threads = [], []

    def run():
        results.append(function(t.admin()))
    for _ in range(n):
        threads.append(threading.Thread(target=run))
        threads[-1].start()
    for thread in threads:
        thread.join()
    return results


@attack(growth=20 * MIB)
def webhook_that_hangs_delays_only_its_own_requests(t):
    with Webhook() as hook:
        v1, v2 = define(t, hook, "/hang;seconds=60", objects=20)
        started = time.time()
        # Lists, gets, patches and watches of 30 clients, each with a deadline of its own.
        results = in_parallel(t, 30, lambda client: [client.request("GET", v2 + "?timeout=3s")[0],
                                                     client.request("GET", v2 + "/s1?timeout=3s")[0],
                                                     client.request("PATCH", v2 + "/s2?timeout=3s", {"spec": {"a": 1}},
                                                                    "application/merge-patch+json")[0]])
        assert all(status in (500, 504) for one in results for status in one), results
        assert time.time() - started < 30 * SLACK
        assert t.admin().request("GET", v1)[0] == 200
        status, answer = t.admin().request("DELETE", v1 + "/s3")
        assert status == 200, answer


@attack(growth=64 * MIB)
def answers_of_100_megabytes_are_cut(t):
    with Webhook() as hook:
        _, v2 = define(t, hook, "/huge;mb=100", objects=3)
        for status, answer in in_parallel(t, 4, lambda client: client.request("GET", v2 + "/s1")):
            assert status == 500 and "the response exceeds" in answer["message"], (status, answer)


@attack(growth=20 * MIB)
def garbage_is_refused_with_a_message(t):
    deep = "[" * 100000
    many = json.dumps({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": {
        "uid": "x", "result": {"status": "Success"}, "convertedObjects": [{}] * 10000}})
    with Webhook() as hook:
        for body in ("", "{", "null", "[]", "\\xff\\xfe", deep[:3000], many[:3000], '{"response":{"uid":1}}'):
            _, v2 = define(t, hook, "/raw;body=" + "".join("%%%02X" % b for b in body.encode()), objects=2)
            for path in (v2 + "/s1", v2):
                status, answer = t.admin().request("GET", path)
                assert status in (429, 500) and "conversion webhook for" in answer["message"], (body[:20], status, answer)


@attack(growth=64 * MIB)
def list_of_many_objects_is_converted_in_bounded_batches(t):
    with Webhook() as hook:
        _, v2 = define(t, hook, "/convert", objects=600, size=3000)
        for status, answer in in_parallel(t, 6, lambda client: client.request("GET", v2)):
            assert status == 200 and len(answer["items"]) == 600, status
        assert hook.reviews() <= 12, hook.reviews()
