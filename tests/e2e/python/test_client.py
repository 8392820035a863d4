# SPDX-License-Identifier: Apache-2.0
"""The Python client against a server of this build: typed and dynamic. The server and KUBECONFIG are given (scripts/e2e)."""

import json
import os
import threading
import unittest

from kubernetes import client, config, dynamic, watch
from kubernetes.client.rest import ApiException

NAMESPACE = f"python-{os.getpid()}"


def config_map(name, data=None, labels=None):
    """A ConfigMap to create."""
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels=labels), data=data or {"key": "value"})


def setUpModule():
    config.load_kube_config()
    client.CoreV1Api().create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=NAMESPACE)))


def tearDownModule():
    client.CoreV1Api().delete_namespace(NAMESPACE)


class Typed(unittest.TestCase):
    """The client made from the API's definitions."""

    def setUp(self):
        self.core = client.CoreV1Api()

    def names(self, **selection):
        return [item.metadata.name for item in self.core.list_namespaced_config_map(NAMESPACE, **selection).items]

    def test_what_is_created_is_read_back(self):
        made = self.core.create_namespaced_config_map(NAMESPACE, config_map("greeting", {"text": "grüße, 漢字"}))
        read = self.core.read_namespaced_config_map("greeting", NAMESPACE)
        self.assertEqual(read, made)
        self.assertEqual(read.data["text"], "grüße, 漢字")
        self.assertIsNotNone(read.metadata.creation_timestamp.tzinfo)

    def test_a_list_in_pages_is_whole(self):
        for i in range(5):
            self.core.create_namespaced_config_map(NAMESPACE, config_map(f"page-{i}", labels={"list": "paged"}))
        names, pages, token = [], 0, None
        while True:
            page = self.core.list_namespaced_config_map(NAMESPACE, label_selector="list=paged", limit=2, _continue=token)
            names += [item.metadata.name for item in page.items]
            pages, token = pages + 1, page.metadata._continue
            if not token:
                break
        self.assertEqual(names, [f"page-{i}" for i in range(5)])
        self.assertEqual(pages, 3)

    def test_labels_and_fields_select(self):
        self.core.create_namespaced_config_map(NAMESPACE, config_map("selected", labels={"select": "me"}))
        self.assertEqual(self.names(label_selector="select in (me, you)"), ["selected"])
        self.assertEqual(self.names(field_selector="metadata.name=selected"), ["selected"])
        self.assertEqual(self.names(label_selector="select=you"), [])

    def test_a_watch_tells_what_comes_changes_and_goes(self):
        def write():
            self.core.create_namespaced_config_map(NAMESPACE, config_map("watched"))
            changed = self.core.read_namespaced_config_map("watched", NAMESPACE)
            changed.data = {"key": "changed"}
            self.core.replace_namespaced_config_map("watched", NAMESPACE, changed)
            self.core.delete_namespaced_config_map("watched", NAMESPACE)

        version = self.core.list_namespaced_config_map(NAMESPACE).metadata.resource_version
        writer = threading.Thread(target=write)
        writer.start()
        seen, events = [], watch.Watch()
        for event in events.stream(
            self.core.list_namespaced_config_map,
            NAMESPACE,
            field_selector="metadata.name=watched",
            resource_version=version,
            timeout_seconds=20,
        ):
            seen.append(event["type"])
            if event["type"] == "DELETED":
                events.stop()
        writer.join()
        self.assertEqual(seen, ["ADDED", "MODIFIED", "DELETED"])

    def test_a_json_patch_changes(self):
        # The typed client sends a list as a JSON patch.
        self.core.create_namespaced_config_map(NAMESPACE, config_map("patched"))
        body = [{"op": "add", "path": "/data/more", "value": "1"}]
        now = self.core.patch_namespaced_config_map("patched", NAMESPACE, body)
        self.assertEqual(now.data, {"key": "value", "more": "1"})

    def test_a_deletion_is_final(self):
        self.core.create_namespaced_config_map(NAMESPACE, config_map("deleted"))
        self.core.delete_namespaced_config_map("deleted", NAMESPACE)
        with self.assertRaises(ApiException) as refused:
            self.core.read_namespaced_config_map("deleted", NAMESPACE)
        self.assertEqual(refused.exception.status, 404)
        status = json.loads(refused.exception.body)
        self.assertEqual(status["reason"], "NotFound")
        self.assertEqual(status["details"], {"name": "deleted", "kind": "configmaps"})

    def test_a_selection_is_deleted_at_once(self):
        for i in range(3):
            self.core.create_namespaced_config_map(NAMESPACE, config_map(f"many-{i}", labels={"many": "yes"}))
        self.core.delete_collection_namespaced_config_map(NAMESPACE, label_selector="many=yes")
        self.assertEqual(self.names(label_selector="many=yes"), [])

    def test_a_dry_run_keeps_nothing(self):
        made = self.core.create_namespaced_config_map(NAMESPACE, config_map("tried"), dry_run="All")
        self.assertEqual(made.metadata.name, "tried")
        self.assertNotIn("tried", self.names())

    def test_a_second_of_the_same_name_is_refused(self):
        self.core.create_namespaced_config_map(NAMESPACE, config_map("twice"))
        with self.assertRaises(ApiException) as refused:
            self.core.create_namespaced_config_map(NAMESPACE, config_map("twice"))
        self.assertEqual(refused.exception.status, 409)

    def test_the_version_is_read(self):
        self.assertEqual(client.VersionApi().get_code().major, "1")


class Dynamic(unittest.TestCase):
    """The client made from what the server says it serves."""

    def setUp(self):
        self.dynamic = dynamic.DynamicClient(client.ApiClient())
        self.resource = self.dynamic.resources.get(api_version="v1", kind="ConfigMap")

    def manifest(self, name):
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"key": "value"}}

    def test_kinds_are_found_by_discovery(self):
        found = self.dynamic.resources.get(api_version="apps/v1", kind="Deployment")
        self.assertEqual((found.name, found.namespaced), ("deployments", True))
        self.assertIn("watch", found.verbs)

    def test_an_object_lives_and_dies(self):
        made = self.resource.create(body=self.manifest("dynamic"), namespace=NAMESPACE)
        self.assertEqual(made.metadata.namespace, NAMESPACE)
        now = self.resource.patch(
            body={"data": {"key": "changed"}},
            name="dynamic",
            namespace=NAMESPACE,
            content_type="application/merge-patch+json",
        )
        self.assertEqual(now.data.key, "changed")
        self.resource.delete(name="dynamic", namespace=NAMESPACE)
        with self.assertRaises(dynamic.exceptions.NotFoundError):
            self.resource.get(name="dynamic", namespace=NAMESPACE)

    def test_a_watch_begins_with_what_is_there(self):
        self.resource.create(body=self.manifest("seen"), namespace=NAMESPACE)
        for event in self.resource.watch(namespace=NAMESPACE, field_selector="metadata.name=seen", timeout=20):
            self.assertEqual((event["type"], event["object"].metadata.name), ("ADDED", "seen"))
            break


if __name__ == "__main__":
    unittest.main()
