/* SPDX-License-Identifier: Apache-2.0 */
/* openapi.c: OpenAPI documents of built-in kinds. */
#include "kc/thread.h"
#include "openapi_testing.h"

/* ---- schemas ---- */

static void required_scalar_has_a_zero_default(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    read_v3(&f, "", "v1");
    ASSERT_AT(FIELD("core.v1.ContainerPort", "containerPort.default"), "0");
    ASSERT_AT(FIELD("core.v1.ContainerPort", "containerPort.format"), "\"int32\"");
    ASSERT_AT(FIELD("core.v1.ContainerPort", "name.default"), "");
    ASSERT_AT(FIELD("core.v1.ContainerPort", "protocol.default"), "\"TCP\"");
    ASSERT_AT(SCHEMA("core.v1.ContainerPort") ".required", "[\"containerPort\"]");
}

static void struct_field_has_reference_and_default(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    read_v3(&f, "", "v1");
    ASSERT_AT(FIELD("core.v1.Pod", "spec.allOf"), "[" REF("core.v1.PodSpec") "]");
    ASSERT_AT(FIELD("core.v1.Pod", "spec.default"), "{}");
    ASSERT_AT(FIELD("core.v1.PodSpec", "securityContext.default"), "");
    ASSERT_AT(FIELD("core.v1.PodSpec", "containers.items"),
              "{\"allOf\":[" REF("core.v1.Container") "],\"default\":{}}");
}

static void reference_without_default_stands_alone(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    read_v3(&f, "", "v1");
    ASSERT_AT(FIELD("core.v1.PodSpec", "overhead.additionalProperties"),
              "{\"$ref\":\"#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity\"}");
    ASSERT_AT(FIELD("core.v1.Secret", "data.additionalProperties"),
              "{\"type\":\"string\",\"format\":\"byte\"}");
}

static void list_and_map_types_are_published(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    read_v3(&f, "", "v1");
#define VOLUMES FIELD("core.v1.PodSpec", "volumes")
    ASSERT_AT(VOLUMES ".x-kubernetes-list-type", "\"map\"");
    ASSERT_AT(VOLUMES ".x-kubernetes-list-map-keys", "[\"name\"]");
    ASSERT_AT(VOLUMES ".x-kubernetes-patch-merge-key", "\"name\"");
    ASSERT_AT(VOLUMES ".x-kubernetes-patch-strategy", "\"merge,retainKeys\"");
    ASSERT_AT(FIELD("core.v1.PodSpec", "nodeSelector.x-kubernetes-map-type"), "\"atomic\"");
    ASSERT_AT(FIELD("core.v1.PersistentVolumeSpec", "claimRef.x-kubernetes-map-type"),
              "\"granular\"");
    ASSERT_AT(SCHEMA("core.v1.ObjectReference") ".x-kubernetes-map-type", "\"atomic\"");
    ASSERT_AT(SCHEMA("core.v1.ContainerPort") ".x-kubernetes-map-type", "");
}

static void enumerations_list_and_describe_their_values(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    read_v3(&f, "", "v1");
    ASSERT_AT(FIELD("core.v1.ContainerPort", "protocol.enum"), "[\"SCTP\",\"TCP\",\"UDP\"]");
    assert_contains(at(&f, FIELD("core.v1.ContainerPort", "protocol.description")),
                    "Possible enum values:\\n - `\\\"SCTP\\\"` is the SCTP protocol.");
    ASSERT_AT(FIELD("core.v1.PersistentVolumeClaimSpec", "accessModes.items.enum"),
              "[\"ReadOnlyMany\",\"ReadWriteMany\",\"ReadWriteOnce\",\"ReadWriteOncePod\"]");
}

static void union_names_its_discriminator(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    read_v3(&f, "", "v1");
    ASSERT_AT(SCHEMA("core.v1.SeccompProfile") ".x-kubernetes-unions",
              "[{\"discriminator\":\"type\",\"fields-to-discriminateBy\":"
              "{\"localhostProfile\":\"LocalhostProfile\"}}]");
}

static void scalar_types_have_their_own_schemas(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    read_v3(&f, "", "v1");
    ASSERT_AT(SHARED("api.resource.Quantity") ".oneOf",
              "[{\"type\":\"string\"},{\"type\":\"number\"}]");
    ASSERT_AT(SHARED("util.intstr.IntOrString") ".format", "\"int-or-string\"");
    ASSERT_AT(SHARED("apis.meta.v1.Time") ".format", "\"date-time\"");
    ASSERT_AT(SHARED("apis.meta.v1.Duration"), "");
    read_v2(&f);
    assert_string_equal(at(&f, "definitions['io.k8s.apimachinery.pkg.api.resource.Quantity'].type"),
                        "\"string\"");
}

static void schema_lists_its_group_version_kinds(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    read_v3(&f, "rbac.authorization.k8s.io", "v1");
    ASSERT_AT(SCHEMA("rbac.v1.Role") ".x-kubernetes-group-version-kind",
              "[{\"group\":\"rbac.authorization.k8s.io\",\"kind\":\"Role\",\"version\":\"v1\"}]");
    ASSERT_AT(SCHEMA("rbac.v1.RoleList") ".x-kubernetes-group-version-kind[0].kind",
              "\"RoleList\"");
    ASSERT_AT(SCHEMA("rbac.v1.PolicyRule") ".x-kubernetes-group-version-kind", "");
    ASSERT_AT("components.schemas['io.k8s.apimachinery.pkg.apis.meta.v1.Status']"
              ".x-kubernetes-group-version-kind",
              "[{\"group\":\"\",\"kind\":\"Status\",\"version\":\"v1\"}]");
}

static void document_has_only_referenced_schemas(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    read_v3(&f, "coordination.k8s.io", "v1");
    assert_string_not_equal(at(&f, SCHEMA("coordination.v1.LeaseSpec")), "");
    assert_string_not_equal(at(&f, SHARED("apis.meta.v1.MicroTime")), "");
    ASSERT_AT(SCHEMA("core.v1.Pod"), "");
    ASSERT_AT(SHARED("api.resource.Quantity"), "");
}

/* ---- descriptions ---- */

static void types_and_fields_have_descriptions(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    read_v3(&f, "", "v1");
    ASSERT_AT(SCHEMA("core.v1.ContainerPort") ".description",
              "\"ContainerPort represents a network port in a single container.\"");
    ASSERT_AT(FIELD("core.v1.ContainerPort", "hostIP.description"),
              "\"What host IP to bind the external port to.\"");
    ASSERT_AT(FIELD("core.v1.Pod", "apiVersion.type"), "\"string\"");
    assert_string_not_equal(at(&f, SHARED("api.resource.Quantity") ".description"), "");
}

static void comment_lines_are_joined_without_markers(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    read_v3(&f, "", "v1");
    ASSERT_AT(FIELD("core.v1.ContainerPort", "name.description"),
              "\"If specified, this must be an IANA_SVC_NAME and unique within the pod. Each named "
              "port in a pod must have a unique name. Name for the port that can be referred to by "
              "services.\"");
    ASSERT_AT(
        "components.schemas['io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent']"
        ".properties.object.description",
        "\"Object is:\\n * If Type is Added or Modified: the new state of the object.\\n * If "
        "Type is Deleted: the state of the object immediately before deletion.\\n * If Type "
        "is Error: *Status is recommended; other types may make sense\\n   depending on "
        "context.\"");
}

static void todo_comments_are_left_out(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    read_v3(&f, "", "v1");
    ASSERT_AT(FIELD("core.v1.Event", "message.description"),
              "\"A human-readable description of the status of this operation.\"");
    ASSERT_AT(SCHEMA("core.v1.LocalObjectReference") ".description",
              "\"LocalObjectReference contains enough information to let you locate the referenced "
              "object inside the same namespace.\"");
}

/* ---- operations ---- */

static void patch_accepts_field_validation(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    read_v3(&f, "", "v1");
    ASSERT_AT(MAP ".patch.x-kubernetes-group-version-kind",
              "{\"group\":\"\",\"kind\":\"ConfigMap\",\"version\":\"v1\"}");
    ASSERT_AT(MAP ".patch.parameters[2].name", "\"fieldValidation\"");
    ASSERT_AT(MAP ".patch.parameters[2].in", "\"query\"");
    ASSERT_AT(MAP ".patch.requestBody.content['application/strategic-merge-patch+json'].schema",
              META_REF("Patch"));
    ASSERT_AT(MAP ".patch.x-kubernetes-action", "\"patch\"");
}

static void path_parameters_are_shared_by_operations(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    read_v3(&f, "", "v1");
    ASSERT_AT(MAP ".parameters[0].name", "\"name\"");
    ASSERT_AT(MAP ".parameters[0].required", "true");
    ASSERT_AT(MAP ".parameters[1].name", "\"namespace\"");
    ASSERT_AT(MAP ".parameters[2].name", "\"pretty\"");
    ASSERT_AT(MAP ".parameters[3]", "");
    ASSERT_AT(MAP ".get.parameters", "");
    ASSERT_AT("paths['/api/v1/configmaps'].parameters[0].name", "\"allowWatchBookmarks\"");
    ASSERT_AT("paths['/api/v1/configmaps'].get.parameters", "");
}

static void operation_ids_match_kubernetes(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    read_v3(&f, "", "v1");
    ASSERT_AT(MAPS ".get.operationId", "\"listCoreV1NamespacedConfigMap\"");
    ASSERT_AT(MAPS ".delete.operationId", "\"deleteCoreV1CollectionNamespacedConfigMap\"");
    ASSERT_AT("paths['/api/v1/configmaps'].get.operationId",
              "\"listCoreV1ConfigMapForAllNamespaces\"");
    ASSERT_AT("paths['/api/v1/nodes/{name}/proxy/{path}'].options.operationId",
              "\"connectCoreV1OptionsNodeProxyWithPath\"");
    ASSERT_AT("paths['/api/v1/watch/nodes'].get.operationId", "\"watchCoreV1NodeList\"");
    read_v3(&f, "rbac.authorization.k8s.io", "v1");
#define ROLE "paths['/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}']"
    ASSERT_AT(ROLE ".put.operationId", "\"replaceRbacAuthorizationV1ClusterRole\"");
    ASSERT_AT(ROLE ".put.tags", "[\"rbacAuthorization_v1\"]");
}

static void subresource_operations_use_their_own_kind(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    read_v3(&f, "apps", "v1");
#define SCALE "paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale']"
    ASSERT_AT(SCALE ".put.requestBody.content['*/*'].schema", REF("autoscaling.v1.Scale"));
    ASSERT_AT(SCALE ".put.x-kubernetes-group-version-kind.group", "\"autoscaling\"");
    ASSERT_AT(SCALE ".put.description", "\"replace scale of the specified Deployment\"");
    ASSERT_AT(SCALE ".delete", "");
}

static void unsupported_verbs_have_no_operations(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    read_v3(&f, "", "v1");
    ASSERT_AT("paths['/api/v1/namespaces/{namespace}/bindings'].get", "");
    assert_string_not_equal(at(&f, "paths['/api/v1/namespaces/{namespace}/bindings'].post"), "");
    ASSERT_AT("paths['/api/v1/namespaces/{namespace}/bindings/{name}']", "");
    ASSERT_AT("paths['/api/v1/watch/componentstatuses']", "");
    ASSERT_AT("paths['/api/v1/namespaces'].delete", "");
}

/* ---- the index and hashes ---- */

static void index_lists_every_group_version_with_its_hash(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    kc_auto(kc__openapi_document) *apps =
        kc__openapi_v3(f.openapi, f.kinds, KC_STR("apps"), KC_STR("v1"));
    read_document(&f, kc__openapi_index(f.openapi, f.kinds));
    kc_autofree char *expected =
        kc_asprintf("\"/openapi/v3/apis/apps/v1?hash=%.*s\"", KC_ARG(kc__openapi_hash(apps)));
    ASSERT_AT("paths['apis/apps/v1'].serverRelativeURL", expected);
    assert_string_not_equal(at(&f, "paths['api/v1'].serverRelativeURL"), "");
    size_t n;
    kc__registry_versions(f.kinds, &n);
    assert_int_equal(kc_value_len(kc_value_get(kc_view_root(f.view), "paths")), n);
}

static void equal_registries_have_equal_hashes(void **state)
{
    (void)state;
    kc_scoped(fixture) one = builtin(), other = builtin();
    kc_auto(kc__openapi_document) *a = kc__openapi_v2(one.openapi, one.kinds, KC__OPENAPI_JSON);
    kc_auto(kc__openapi_document) *b = kc__openapi_v2(other.openapi, other.kinds, KC__OPENAPI_JSON);
    assert_str(kc__openapi_hash(a), kc__openapi_hash(b).p);
    assert_int_equal(kc__openapi_hash(a).n, KC__OPENAPI_HASH - 1);
}

static void hash_is_known_after_document_was_built(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    char hash[KC__OPENAPI_HASH];
    kc_str apps = KC_STR("apps"), v1 = KC_STR("v1");
    assert_false(kc__openapi_v3_hash(f.openapi, f.kinds, apps, v1, hash));
    assert_false(kc__openapi_v2_hash(f.openapi, f.kinds, hash));
    kc_auto(kc__openapi_document) *doc = kc__openapi_v3(f.openapi, f.kinds, apps, v1);
    assert_true(kc__openapi_v3_hash(f.openapi, f.kinds, apps, v1, hash));
    assert_str(kc__openapi_hash(doc), hash);
    assert_false(kc__openapi_v3_hash(f.openapi, f.kinds, apps, KC_STR("v7"), hash));
    assert_null(kc__openapi_v3(f.openapi, f.kinds, apps, KC_STR("v7")));
}

static void concurrent_users_share_a_document(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    kc_auto(kc__openapi_document) *a =
        kc__openapi_v3(f.openapi, f.kinds, KC_STR("apps"), KC_STR("v1"));
    kc_auto(kc__openapi_document) *b =
        kc__openapi_v3(f.openapi, f.kinds, KC_STR("apps"), KC_STR("v1"));
    assert_ptr_equal(a, b);
}

static void document_outlives_its_registry(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    kc_auto(kc__openapi_document) *before =
        kc__openapi_v3(f.openapi, f.kinds, KC_STR("apps"), KC_STR("v1"));
    kc__registry_unref(f.kinds);
    f.kinds = kc__registry_new(&(kc__registry_opts){.find_type = kc__type_lookup});
    kc_auto(kc__openapi_document) *after =
        kc__openapi_v3(f.openapi, f.kinds, KC_STR("apps"), KC_STR("v1"));
    assert_ptr_not_equal(before, after);
    assert_str(kc__openapi_body(before), kc__openapi_body(after).p);
}

/* ---- version 2 ---- */

static void v2_has_no_defaults_and_shared_parameters(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    read_v2(&f);
#define DEFINITION(name) "definitions['io.k8s.api." name "']"
    ASSERT_AT("swagger", "\"2.0\"");
    ASSERT_AT(DEFINITION("core.v1.ContainerPort") ".properties.protocol.default", "");
    ASSERT_AT(DEFINITION("core.v1.Pod") ".properties.spec['$ref']",
              "\"#/definitions/io.k8s.api.core.v1.PodSpec\"");
    ASSERT_AT(MAPS ".post.parameters[0]",
              "{\"name\":\"body\",\"in\":\"body\",\"required\":true,\"schema\":"
              "{\"$ref\":\"#/definitions/io.k8s.api.core.v1.ConfigMap\"}}");
    kc_autofree char *ref = kc_strdup(at(&f, MAP ".patch.parameters[3]['$ref']"));
    kc_autofree char *key = kc_asprintf("parameters['%.*s'].name", (int)strlen(ref) - 15,
                                        ref + strlen("\"#/parameters/"));
    ASSERT_AT(key, "\"fieldValidation\"");
    ASSERT_AT(MAP ".patch.consumes[0]", "\"application/json-patch+json\"");
}

static void v2_protobuf_has_the_hash_of_its_json(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    kc_auto(kc__openapi_document) *json = kc__openapi_v2(f.openapi, f.kinds, KC__OPENAPI_JSON);
    kc_auto(kc__openapi_document) *bytes = kc__openapi_v2(f.openapi, f.kinds, KC__OPENAPI_PROTOBUF);
    assert_str(kc__openapi_hash(bytes), kc__openapi_hash(json).p);
    /* swagger = 1: "2.0" */
    assert_memory_equal(kc__openapi_body(bytes).p,
                        "\x0a\x03"
                        "2.0",
                        5);
}

/* ---- threads ---- */

static void read_documents_often(void *user)
{
    fixture *f = user;
    for (int i = 0; i < 5; i++) {
        kc_auto(kc__openapi_document) *lease =
            kc__openapi_v3(f->openapi, f->kinds, KC_STR("coordination.k8s.io"), KC_STR("v1"));
        kc_auto(kc__openapi_document) *index = kc__openapi_index(f->openapi, f->kinds);
        assert_true(kc_str_contains(kc__openapi_body(index), kc__openapi_hash(lease)));
    }
}

static void documents_are_read_by_many_threads(void **state)
{
    (void)state;
    kc_scoped(fixture) f = builtin();
    kc_thread *threads[4];
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        threads[i] = kc_thread_start("asks", read_documents_often, &f, NULL);
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        kc_thread_join(threads[i]);
}

TESTS(required_scalar_has_a_zero_default, struct_field_has_reference_and_default,
      reference_without_default_stands_alone, list_and_map_types_are_published,
      enumerations_list_and_describe_their_values, union_names_its_discriminator,
      scalar_types_have_their_own_schemas, schema_lists_its_group_version_kinds,
      document_has_only_referenced_schemas, types_and_fields_have_descriptions,
      comment_lines_are_joined_without_markers, todo_comments_are_left_out,
      patch_accepts_field_validation, path_parameters_are_shared_by_operations,
      operation_ids_match_kubernetes, subresource_operations_use_their_own_kind,
      unsupported_verbs_have_no_operations, index_lists_every_group_version_with_its_hash,
      equal_registries_have_equal_hashes, hash_is_known_after_document_was_built,
      concurrent_users_share_a_document, document_outlives_its_registry,
      v2_has_no_defaults_and_shared_parameters, v2_protobuf_has_the_hash_of_its_json,
      documents_are_read_by_many_threads)
