# SPDX-License-Identifier: Apache-2.0
"""The Python client against a server of this build: typed and dynamic. The server and KUBECONFIG are given (scripts/e2e)."""

import inspect
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

    def test_created_object_is_read_back(self):
        made = self.core.create_namespaced_config_map(NAMESPACE, config_map("greeting", {"text": "grüße, 漢字"}))
        read = self.core.read_namespaced_config_map("greeting", NAMESPACE)
        self.assertEqual(read, made)
        self.assertEqual(read.data["text"], "grüße, 漢字")
        self.assertIsNotNone(read.metadata.creation_timestamp.tzinfo)

    def test_paged_list_is_complete(self):
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

    def test_labels_and_fields_select_objects(self):
        self.core.create_namespaced_config_map(NAMESPACE, config_map("selected", labels={"select": "me"}))
        self.assertEqual(self.names(label_selector="select in (me, you)"), ["selected"])
        self.assertEqual(self.names(field_selector="metadata.name=selected"), ["selected"])
        self.assertEqual(self.names(label_selector="select=you"), [])

    def test_watch_delivers_added_modified_and_deleted_events(self):
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
            timeout_seconds=90,
        ):
            seen.append(event["type"])
            if event["type"] == "DELETED":
                events.stop()
        writer.join()
        self.assertEqual(seen, ["ADDED", "MODIFIED", "DELETED"])

    def test_json_patch_changes_the_object(self):
        # The typed client sends a list as a JSON patch.
        self.core.create_namespaced_config_map(NAMESPACE, config_map("patched"))
        body = [{"op": "add", "path": "/data/more", "value": "1"}]
        now = self.core.patch_namespaced_config_map("patched", NAMESPACE, body)
        self.assertEqual(now.data, {"key": "value", "more": "1"})

    def test_deleted_object_is_not_found(self):
        self.core.create_namespaced_config_map(NAMESPACE, config_map("deleted"))
        self.core.delete_namespaced_config_map("deleted", NAMESPACE)
        with self.assertRaises(ApiException) as refused:
            self.core.read_namespaced_config_map("deleted", NAMESPACE)
        self.assertEqual(refused.exception.status, 404)
        status = json.loads(refused.exception.body)
        self.assertEqual(status["reason"], "NotFound")
        self.assertEqual(status["details"], {"name": "deleted", "kind": "configmaps"})

    def test_selected_collection_is_deleted(self):
        for i in range(3):
            self.core.create_namespaced_config_map(NAMESPACE, config_map(f"many-{i}", labels={"many": "yes"}))
        self.core.delete_collection_namespaced_config_map(NAMESPACE, label_selector="many=yes")
        self.assertEqual(self.names(label_selector="many=yes"), [])

    def test_dry_run_stores_nothing(self):
        made = self.core.create_namespaced_config_map(NAMESPACE, config_map("tried"), dry_run="All")
        self.assertEqual(made.metadata.name, "tried")
        self.assertNotIn("tried", self.names())

    def test_second_object_of_the_same_name_is_refused(self):
        self.core.create_namespaced_config_map(NAMESPACE, config_map("twice"))
        with self.assertRaises(ApiException) as refused:
            self.core.create_namespaced_config_map(NAMESPACE, config_map("twice"))
        self.assertEqual(refused.exception.status, 409)

    def test_version_is_read(self):
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

    def test_object_is_created_changed_and_deleted(self):
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

    def test_watch_starts_with_existing_objects(self):
        self.resource.create(body=self.manifest("seen"), namespace=NAMESPACE)
        for event in self.resource.watch(namespace=NAMESPACE, field_selector="metadata.name=seen", timeout=90):
            self.assertEqual((event["type"], event["object"].metadata.name), ("ADDED", "seen"))
            break


# Newer versions of the client encode a body of this content type; older ones send text only.
ENCODES_APPLIED = "application/apply-patch+yaml" in inspect.getsource(client.rest)


def applied(body):
    """An object as this version of the client takes it for server-side apply."""
    return body if ENCODES_APPLIED else json.dumps(body)


class Apply(unittest.TestCase):
    """Server-side apply by both clients."""

    def setUp(self):
        self.dynamic = dynamic.DynamicClient(client.ApiClient())
        self.resource = self.dynamic.resources.get(api_version="v1", kind="ConfigMap")

    def apply(self, name, manager, force=False, **data):
        body = applied({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
        return self.resource.server_side_apply(
            body=body, name=name, namespace=NAMESPACE, field_manager=manager, force_conflicts=force
        )

    def entries(self, name):
        read = client.CoreV1Api().read_namespaced_config_map(name, NAMESPACE)
        return [(entry.manager, entry.operation, entry.fields_v1) for entry in read.metadata.managed_fields]

    def test_applied_fields_are_owned_and_removed_when_dropped(self):
        self.apply("applied", "one", a="1", b="2")
        self.assertEqual(self.entries("applied"), [("one", "Apply", {"f:data": {"f:a": {}, "f:b": {}}})])
        now = self.apply("applied", "one", a="3")
        self.assertEqual(now.to_dict()["data"], {"a": "3"})
        again = self.apply("applied", "one", a="3")
        self.assertEqual(again.metadata.resourceVersion, now.metadata.resourceVersion)

    def test_conflict_names_the_manager_and_force_takes_the_field(self):
        self.apply("contested", "one", a="1")
        with self.assertRaises(dynamic.exceptions.ConflictError) as refused:
            self.apply("contested", "two", a="2")
        causes = json.loads(refused.exception.body)["details"]["causes"]
        self.assertEqual(causes, [{"reason": "FieldManagerConflict", "message": 'conflict with "one"', "field": ".data.a"}])
        self.apply("contested", "two", force=True, a="2")
        self.assertEqual(self.entries("contested"), [("two", "Apply", {"f:data": {"f:a": {}}})])

    def test_typed_client_applies(self):
        api = client.ApiClient()
        api.select_header_content_type = lambda *_: "application/apply-patch+yaml"
        body = applied({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "typed"}, "data": {"a": "1"}})
        now = client.CoreV1Api(api).patch_namespaced_config_map("typed", NAMESPACE, body, field_manager="typed-manager")
        self.assertEqual(now.data, {"a": "1"})
        self.assertEqual(self.entries("typed"), [("typed-manager", "Apply", {"f:data": {"f:a": {}}})])

    def test_other_writes_are_updates_of_the_user_agent(self):
        client.CoreV1Api().create_namespaced_config_map(NAMESPACE, config_map("written"))
        client.CoreV1Api().patch_namespaced_config_map("written", NAMESPACE, {"data": {"more": "1"}}, field_manager="patcher")
        self.assertEqual(
            sorted(self.entries("written")),
            [
                ("OpenAPI-Generator", "Update", {"f:data": {".": {}, "f:key": {}}}),
                ("patcher", "Update", {"f:data": {"f:more": {}}}),
            ],
        )


class Custom(unittest.TestCase):
    """Kinds that are made while the server runs: their definition by the typed client, their objects by both."""

    GROUP, VERSION, PLURAL = f"python-{os.getpid()}.example.com", "v1", "probes"

    @classmethod
    def setUpClass(cls):
        cls.definitions = client.ApiextensionsV1Api()
        spec = {
            "type": "object",
            "required": ["range"],
            "properties": {"range": {"type": "integer", "maximum": 100}, "unit": {"type": "string", "default": "m"}},
        }
        version = {
            "name": cls.VERSION,
            "served": True,
            "storage": True,
            "subresources": {"status": {}},
            "schema": {
                "openAPIV3Schema": {
                    "type": "object",
                    "properties": {
                        "spec": spec,
                        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                    },
                }
            },
        }
        cls.definitions.create_custom_resource_definition(
            {
                "metadata": {"name": f"{cls.PLURAL}.{cls.GROUP}"},
                "spec": {
                    "group": cls.GROUP,
                    "scope": "Namespaced",
                    "names": {"plural": cls.PLURAL, "kind": "Probe"},
                    "versions": [version],
                },
            }
        )
        cls.wait_until_established()
        cls.where = (cls.GROUP, cls.VERSION, NAMESPACE, cls.PLURAL)

    @classmethod
    def wait_until_established(cls):
        name = f"{cls.PLURAL}.{cls.GROUP}"
        following = watch.Watch().stream(
            cls.definitions.list_custom_resource_definition, field_selector=f"metadata.name={name}", timeout_seconds=90
        )
        for event in following:
            conditions = (event["object"].status and event["object"].status.conditions) or []
            if any(c.type == "Established" and c.status == "True" for c in conditions):
                return
        raise AssertionError("the definition was never established")

    @classmethod
    def tearDownClass(cls):
        cls.definitions.delete_custom_resource_definition(f"{cls.PLURAL}.{cls.GROUP}")

    def setUp(self):
        self.custom = client.CustomObjectsApi()

    def make(self, name, **spec):
        body = {"apiVersion": f"{self.GROUP}/{self.VERSION}", "kind": "Probe", "metadata": {"name": name}, "spec": spec}
        return self.custom.create_namespaced_custom_object(*self.where, body)

    def patch_as(self, content_type, name, body):
        """As one of the kinds of patches: the client would choose one by the form of the body."""
        api = client.ApiClient()
        api.select_header_content_type = lambda *_: content_type
        return client.CustomObjectsApi(api).patch_namespaced_custom_object(*self.where, name, body)

    def test_object_has_its_defaults(self):
        made = self.make("default", range=5)
        self.assertEqual(made["spec"], {"range": 5, "unit": "m"})
        self.assertEqual(made["metadata"]["generation"], 1)
        self.assertEqual(self.custom.get_namespaced_custom_object(*self.where, "default"), made)

    def test_object_is_replaced_with_the_read_version(self):
        made = self.make("replaced", range=5)
        made["spec"]["range"] = 6
        now = self.custom.replace_namespaced_custom_object(*self.where, "replaced", made)
        self.assertEqual((now["spec"]["range"], now["metadata"]["generation"]), (6, 2))
        with self.assertRaises(ApiException) as refused:
            self.custom.replace_namespaced_custom_object(*self.where, "replaced", made)
        self.assertEqual(refused.exception.status, 409)

    def test_merge_and_json_patch_apply_and_strategic_is_refused(self):
        self.make("patched", range=5)
        now = self.patch_as("application/merge-patch+json", "patched", {"spec": {"unit": "km"}})
        self.assertEqual(now["spec"], {"range": 5, "unit": "km"})
        now = self.patch_as("application/json-patch+json", "patched", [{"op": "replace", "path": "/spec/range", "value": 7}])
        self.assertEqual(now["spec"], {"range": 7, "unit": "km"})
        with self.assertRaises(ApiException) as refused:
            self.patch_as("application/strategic-merge-patch+json", "patched", {"spec": {"range": 8}})
        self.assertEqual(refused.exception.status, 415)

    def test_status_is_a_subresource(self):
        made = self.make("status", range=5)
        made["status"], made["spec"]["range"] = {"seen": [1, 2.5, None, {"any": "thing"}]}, 99
        now = self.custom.replace_namespaced_custom_object_status(*self.where, "status", made)
        self.assertEqual((now["status"], now["spec"]["range"]), ({"seen": [1, 2.5, None, {"any": "thing"}]}, 5))
        self.assertEqual(now["metadata"]["generation"], 1)

    def test_schema_violation_is_refused_with_its_field(self):
        with self.assertRaises(ApiException) as refused:
            self.make("far", range=101)
        status = json.loads(refused.exception.body)
        self.assertEqual((refused.exception.status, status["reason"]), (422, "Invalid"))
        self.assertEqual([cause["field"] for cause in status["details"]["causes"]], ["spec.range"])

    def test_watch_delivers_added_modified_and_deleted_events(self):
        version = self.custom.list_namespaced_custom_object(*self.where)["metadata"]["resourceVersion"]

        def change():
            self.make("watched", range=5)
            self.patch_as("application/merge-patch+json", "watched", {"spec": {"range": 6}})
            self.custom.delete_namespaced_custom_object(*self.where, "watched")

        changes = threading.Thread(target=change)
        changes.start()
        seen = []
        for event in watch.Watch().stream(
            self.custom.list_namespaced_custom_object,
            *self.where,
            resource_version=version,
            field_selector="metadata.name=watched",
            timeout_seconds=90,
        ):
            seen.append((event["type"], event["object"]["spec"]["range"]))
            if event["type"] == "DELETED":
                break
        changes.join()
        self.assertEqual(seen, [("ADDED", 5), ("MODIFIED", 6), ("DELETED", 6)])

    def test_custom_object_is_applied_with_its_status(self):
        body = {"apiVersion": f"{self.GROUP}/{self.VERSION}", "kind": "Probe", "metadata": {"name": "applied"}}
        resource = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version=body["apiVersion"], kind="Probe")
        made = resource.server_side_apply(
            body=applied(dict(body, spec={"range": 5})), name="applied", namespace=NAMESPACE, field_manager="one"
        )
        self.assertEqual(made.to_dict()["spec"], {"range": 5, "unit": "m"})
        self.assertEqual(made.to_dict()["metadata"]["managedFields"][0]["fieldsV1"], {"f:spec": {"f:range": {}}})
        now = resource.status.patch(
            body=applied(dict(body, status={"ready": True})),
            name="applied",
            namespace=NAMESPACE,
            field_manager="two",
            content_type="application/apply-patch+yaml",
        )
        self.assertEqual(
            [(e.manager, e.operation, e.subresource) for e in now.metadata.managedFields],
            [("one", "Apply", None), ("two", "Apply", "status")],
        )

    def test_dynamic_client_finds_the_new_kind(self):
        resource = dynamic.DynamicClient(client.ApiClient()).resources.get(
            api_version=f"{self.GROUP}/{self.VERSION}", kind="Probe"
        )
        self.make("found", range=5)
        self.assertEqual(resource.get(name="found", namespace=NAMESPACE).spec.unit, "m")
        self.assertEqual(resource.status.patch(
            body={"status": {"ready": True}}, name="found", namespace=NAMESPACE, content_type="application/merge-patch+json"
        ).status.ready, True)


if __name__ == "__main__":
    unittest.main()
