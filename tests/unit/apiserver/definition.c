/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that tools/definitions writes, and the lookups over them. */
#include "apiserver/kinds/definition.h"
#include "testing.h"

static const kc__message *definition(const char *name)
{
    const kc__message *found = kc__definition_find(kc_cstr(name));
    assert_non_null(found);
    assert_str(found->name, name);
    return found;
}

/* A field by its path in JSON: "spec.containers.ports". */
static const kc__field *field_at(const char *kind, const char *path)
{
    const kc__message *message = definition(kind);
    const kc__field *field = NULL;
    kc_str rest = kc_cstr(path);
    while (rest.p) {
        assert_non_null(message);
        field = kc__message_field(message, kc_str_cut(&rest, '.'));
        assert_non_null(field);
        message = field->message;
    }
    return field;
}

#define POD        "io.k8s.api.core.v1.Pod"
#define SERVICE    "io.k8s.api.core.v1.Service"
#define DEPLOYMENT "io.k8s.api.apps.v1.Deployment"

static void messages_are_found_by_name(void **state)
{
    (void)state;
    assert_string_equal(definition(POD)->go_name, "v1.Pod");
    assert_string_equal(definition("io.k8s.api.autoscaling.v2.HPAScalingRules")->go_name,
                        "v2.HPAScalingRules");
    assert_null(kc__definition_find(KC_STR("io.k8s.api.core.v1.Po")));
    assert_null(kc__definition_find(KC_STR("")));
}

static void messages_are_sorted_and_each_finds_itself(void **state)
{
    (void)state;
    assert_in_range(kc__n_definitions, 900, 3000);
    for (size_t i = 0; i < kc__n_definitions; i++) {
        assert_ptr_equal(kc__definition_find(kc__definitions[i]->name), kc__definitions[i]);
        if (i)
            assert_true(kc_str_cmp(kc__definitions[i - 1]->name, kc__definitions[i]->name) < 0);
    }
}

static void every_field_is_found_by_its_name_and_number(void **state)
{
    (void)state;
    for (size_t i = 0; i < kc__n_definitions; i++) {
        const kc__message *message = kc__definitions[i];
        for (size_t j = 0; j < message->n_fields; j++) {
            const kc__field *field = &message->fields[j];
            assert_non_null(field->go_type);
            if (field->number)
                assert_ptr_equal(kc__message_numbered(message, field->number), field);
            if (!(field->marks & KC__INLINE))
                assert_ptr_equal(kc__message_field(message, field->name), field);
            bool refers = field->kind == KC__FIELD_MESSAGE || field->kind == KC__FIELD_LIST;
            assert_int_equal(field->message != NULL, refers);
        }
    }
}

static void absent_fields_are_absent(void **state)
{
    (void)state;
    const kc__message *pod = definition(POD);
    assert_null(kc__message_field(pod, KC_STR("")));
    assert_null(kc__message_field(pod, KC_STR("Spec")));
    assert_null(kc__message_field(pod, KC_STR("zz")));
    assert_null(kc__message_numbered(pod, 0));
    assert_null(kc__message_numbered(pod, 4));
    assert_null(kc__message_numbered(pod, UINT32_MAX));
}

static void fields_stand_in_the_order_of_go(void **state)
{
    (void)state;
    const kc__message *meta = definition("io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference");
    const char *const names[] = {"apiVersion", "kind",       "name",
                                 "uid",        "controller", "blockOwnerDeletion"};
    const int numbers[] = {5, 1, 3, 4, 6, 7};
    assert_int_equal(meta->n_fields, KC_COUNT(names));
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        assert_str(meta->fields[i].name, names[i]);
        assert_int_equal(meta->fields[i].number, numbers[i]);
    }
}

static void kinds_have_an_inline_type_meta_without_a_number(void **state)
{
    (void)state;
    const kc__message *pod = definition(POD);
    assert_true(pod->fields[0].marks & KC__INLINE);
    assert_int_equal(pod->fields[0].number, 0);
    assert_str(pod->fields[0].message->name, "io.k8s.apimachinery.pkg.apis.meta.v1.TypeMeta");
    assert_int_equal(field_at(POD, "kind")->kind, KC__FIELD_STRING);
    assert_int_equal(field_at(POD, "apiVersion")->kind, KC__FIELD_STRING);
    const char *set = "io.k8s.api.apps.v1.StatefulSet";
    assert_non_null(field_at(set, "spec.volumeClaimTemplates.apiVersion"));
    assert_null(kc__message_field(field_at(POD, "spec")->message, KC_STR("kind")));
}

static void fields_of_inline_structs_are_the_parents(void **state)
{
    (void)state;
    const kc__field *empty = field_at(POD, "spec.volumes.emptyDir");
    assert_string_equal(empty->go_type, "v1.EmptyDirVolumeSource");
    assert_true(empty->marks & KC__POINTER);
    const kc__message *volume = field_at(POD, "spec.volumes")->message;
    assert_null(kc__message_field(volume, KC_STR("volumeSource")));
    const kc__field *inlined = kc__message_numbered(volume, 2);
    assert_true(inlined->marks & KC__INLINE);
    assert_ptr_equal(inlined->message, definition("io.k8s.api.core.v1.VolumeSource"));
    /* Two deep: a rule within a rule with operations within a named one. */
    const char *policy = "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy";
    assert_non_null(field_at(policy, "spec.matchConstraints.resourceRules.apiGroups"));
    /* Without a name in Go's tag. */
    assert_int_equal(field_at(POD, "spec.ephemeralContainers.image")->number, 2);
}

static void go_says_what_is_left_out(void **state)
{
    (void)state;
    assert_int_equal(field_at(POD, "spec.nodeName")->marks, KC__OMIT_EMPTY);
    assert_int_equal(field_at(POD, "spec.priority")->marks, KC__OMIT_EMPTY | KC__POINTER);
    assert_int_equal(field_at(POD, "spec.containers.name")->marks, KC__REQUIRED);
    assert_true(field_at(POD, "metadata.creationTimestamp")->marks & KC__OMIT_ZERO);
    assert_false(field_at(POD, "spec.containers")->marks & KC__OMIT_EMPTY);
}

static void required_is_what_openapi_requires(void **state)
{
    (void)state;
    assert_true(field_at(DEPLOYMENT, "spec.selector")->marks & KC__REQUIRED);
    assert_true(field_at(DEPLOYMENT, "spec.template")->marks & KC__REQUIRED);
    assert_false(field_at(DEPLOYMENT, "spec.replicas")->marks & KC__REQUIRED);
    assert_false(field_at(DEPLOYMENT, "metadata")->marks & KC__REQUIRED);
    assert_true(field_at("io.k8s.api.core.v1.PodList", "items")->marks & KC__REQUIRED);
}

static void lists_know_how_they_are_patched(void **state)
{
    (void)state;
    const kc__field *containers = field_at(POD, "spec.containers");
    assert_int_equal(containers->shape, KC__REPEATED);
    assert_int_equal(containers->marks, KC__PATCH_MERGES | KC__LIST_IS_MAP | KC__REQUIRED);
    assert_string_equal(containers->merge_key, "name");
    assert_string_equal(containers->list_keys, "name");

    const kc__field *ports = field_at(SERVICE, "spec.ports");
    assert_true(ports->marks & KC__PATCH_MERGES);
    assert_string_equal(ports->merge_key, "port");
    assert_string_equal(ports->list_keys, "port protocol");

    const kc__field *finalizers = field_at(POD, "metadata.finalizers");
    assert_int_equal(finalizers->marks, KC__OMIT_EMPTY | KC__PATCH_MERGES | KC__LIST_IS_SET);
    assert_null(finalizers->merge_key);

    assert_true(field_at(POD, "spec.tolerations")->marks & KC__LIST_IS_ATOMIC);
    assert_true(field_at(POD, "spec.volumes")->marks & KC__PATCH_RETAINS);
    assert_true(field_at(DEPLOYMENT, "spec.strategy")->marks & KC__PATCH_RETAINS);
    assert_false(field_at(DEPLOYMENT, "spec.strategy")->marks & KC__PATCH_MERGES);
    assert_string_equal(field_at(POD, "spec.containers.ports")->merge_key, "containerPort");
    assert_string_equal(field_at(POD, "spec.containers.ports")->list_keys,
                        "containerPort protocol");
}

static void structs_and_maps_that_are_merged_whole_say_so(void **state)
{
    (void)state;
    assert_true(definition("io.k8s.api.core.v1.ObjectReference")->marks & KC__MAP_IS_ATOMIC);
    assert_true(field_at(POD, "spec.nodeSelector")->marks & KC__MAP_IS_ATOMIC);
    assert_int_equal(definition(POD)->marks, 0);
}

static void defaults_are_json(void **state)
{
    (void)state;
    assert_string_equal(field_at(SERVICE, "spec.ports.protocol")->fallback, "\"TCP\"");
    const char *disk = "io.k8s.api.core.v1.AzureDiskVolumeSource";
    assert_string_equal(field_at(disk, "readOnly")->fallback, "false");
    assert_string_equal(field_at(disk, "cachingMode")->fallback, "\"ReadWrite\"");
    assert_null(field_at(POD, "spec.nodeName")->fallback);
}

static void special_messages_are_kinds_of_fields(void **state)
{
    (void)state;
    assert_int_equal(field_at(POD, "metadata.creationTimestamp")->kind, KC__FIELD_TIME);
    assert_int_equal(field_at(POD, "metadata.managedFields.fieldsV1")->kind, KC__FIELD_FIELDS_V1);
    assert_int_equal(field_at(SERVICE, "spec.ports.targetPort")->kind, KC__FIELD_INT_OR_STRING);
    const kc__field *limits = field_at(POD, "spec.containers.resources.limits");
    assert_int_equal(limits->kind, KC__FIELD_QUANTITY);
    assert_int_equal(limits->shape, KC__MAPPED);
    assert_string_equal(limits->go_type, "v1.ResourceList");
    assert_int_equal(field_at("io.k8s.api.coordination.v1.Lease", "spec.renewTime")->kind,
                     KC__FIELD_MICRO_TIME);
    assert_int_equal(field_at("io.k8s.api.apps.v1.ControllerRevision", "data")->kind,
                     KC__FIELD_RAW);
    assert_int_equal(field_at("io.k8s.api.core.v1.Secret", "data")->kind, KC__FIELD_BYTES);
    const kc__field *extra = field_at("io.k8s.api.authentication.v1.UserInfo", "extra");
    assert_int_equal(extra->kind, KC__FIELD_LIST);
    assert_int_equal(extra->shape, KC__MAPPED);
    assert_string_equal(extra->message->fields[0].go_type, "[]string");
    assert_null(kc__definition_find(KC_STR("io.k8s.apimachinery.pkg.apis.meta.v1.Time")));
}

static void types_are_named_as_go_names_them(void **state)
{
    (void)state;
    assert_string_equal(field_at("io.k8s.api.core.v1.ConfigMap", "data")->go_type,
                        "map[string]string");
    assert_string_equal(field_at(POD, "spec.containers")->go_type, "[]v1.Container");
    assert_string_equal(field_at(POD, "spec.restartPolicy")->go_type, "v1.RestartPolicy");
    assert_string_equal(field_at(POD, "metadata")->go_type, "v1.ObjectMeta");
    assert_string_equal(field_at(POD, "metadata.uid")->go_type, "types.UID");
    assert_string_equal(field_at(DEPLOYMENT, "spec.replicas")->go_type, "int32");
    assert_string_equal(field_at("io.k8s.api.core.v1.Secret", "data")->go_type,
                        "map[string][]uint8");
}

static void assert_kind(const char *api_version, const char *kind, const char *name)
{
    const kc__message *found = kc__definition_of_kind(kc_cstr(api_version), kc_cstr(kind));
    assert_non_null(found);
    assert_str(found->name, name);
}

static void kinds_are_found_by_api_version(void **state)
{
    (void)state;
    assert_kind("v1", "Pod", POD);
    assert_kind("apps/v1", "Deployment", DEPLOYMENT);
    assert_kind("rbac.authorization.k8s.io/v1", "Role", "io.k8s.api.rbac.v1.Role");
    assert_kind("internal.apiserver.k8s.io/v1alpha1", "StorageVersion",
                "io.k8s.api.apiserverinternal.v1alpha1.StorageVersion");
    const char *options = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
    assert_kind("v1", "DeleteOptions", options);
    assert_kind("apps/v1", "DeleteOptions", options);
    assert_kind("v1", "Status", "io.k8s.apimachinery.pkg.apis.meta.v1.Status");
    assert_kind("v1", "List", "io.k8s.api.core.v1.List");
}

static void what_is_no_kind_is_not_found_as_one(void **state)
{
    (void)state;
    assert_null(kc__definition_of_kind(KC_STR("v1"), KC_STR("PodSpec")));
    assert_null(kc__definition_of_kind(KC_STR("v1"), KC_STR("ObjectMeta")));
    assert_null(kc__definition_of_kind(KC_STR("apps/v1"), KC_STR("Pod")));
    assert_null(kc__definition_of_kind(KC_STR(""), KC_STR("")));
    char longest[600];
    memset(longest, 'v', sizeof(longest));
    assert_null(kc__definition_of_kind(kc_str_of(longest, sizeof(longest)), KC_STR("Pod")));
    assert_null(kc__definition_of_kind(KC_STR("v1"), kc_str_of(longest, sizeof(longest))));
}

TESTS(messages_are_found_by_name, messages_are_sorted_and_each_finds_itself,
      every_field_is_found_by_its_name_and_number, absent_fields_are_absent,
      fields_stand_in_the_order_of_go, kinds_have_an_inline_type_meta_without_a_number,
      fields_of_inline_structs_are_the_parents, go_says_what_is_left_out,
      required_is_what_openapi_requires, lists_know_how_they_are_patched,
      structs_and_maps_that_are_merged_whole_say_so, defaults_are_json,
      special_messages_are_kinds_of_fields, types_are_named_as_go_names_them,
      kinds_are_found_by_api_version, what_is_no_kind_is_not_found_as_one)
