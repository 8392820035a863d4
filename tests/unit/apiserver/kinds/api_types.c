/* SPDX-License-Identifier: Apache-2.0 */
/* The type tables that tools/definitions generates, and the lookups over them. */
#include "apiserver/codec/api_types.h"
#include "testing.h"

static const kc__type_message *definition(const char *name)
{
    const kc__type_message *found = kc__type_lookup(kc_cstr(name));
    assert_non_null(found);
    assert_str(found->name, name);
    return found;
}

/* A field by its path in JSON: "spec.containers.ports". */
static const kc__type_field *field_at(const char *kind, const char *path)
{
    const kc__type_message *message = definition(kind);
    const kc__type_field *field = NULL;
    kc_str rest = kc_cstr(path);
    while (rest.p) {
        assert_non_null(message);
        field = kc__type_message_field(message, kc_str_cut(&rest, '.'));
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
    assert_null(kc__type_lookup(KC_STR("io.k8s.api.core.v1.Po")));
    assert_null(kc__type_lookup(KC_STR("")));
}

static void messages_are_sorted_and_each_finds_itself(void **state)
{
    (void)state;
    assert_in_range(kc__type_n_messages, 900, 3000);
    for (size_t i = 0; i < kc__type_n_messages; i++) {
        assert_ptr_equal(kc__type_lookup(kc__type_messages[i]->name), kc__type_messages[i]);
        if (i)
            assert_true(kc_str_cmp(kc__type_messages[i - 1]->name, kc__type_messages[i]->name) < 0);
    }
}

static void every_field_is_found_by_name_and_number(void **state)
{
    (void)state;
    for (size_t i = 0; i < kc__type_n_messages; i++) {
        const kc__type_message *message = kc__type_messages[i];
        for (size_t j = 0; j < message->n_fields; j++) {
            const kc__type_field *field = &message->fields[j];
            assert_non_null(field->go_type);
            if (field->number)
                assert_ptr_equal(kc__type_message_field_by_number(message, field->number), field);
            if (!(field->marks & KC__INLINE))
                assert_ptr_equal(kc__type_message_field(message, field->name), field);
            bool refers = field->kind == KC__FIELD_MESSAGE || field->kind == KC__FIELD_LIST;
            assert_int_equal(field->message != NULL, refers);
        }
    }
}

static void unknown_field_is_not_found(void **state)
{
    (void)state;
    const kc__type_message *pod = definition(POD);
    assert_null(kc__type_message_field(pod, KC_STR("")));
    assert_null(kc__type_message_field(pod, KC_STR("Spec")));
    assert_null(kc__type_message_field(pod, KC_STR("zz")));
    assert_null(kc__type_message_field_by_number(pod, 0));
    assert_null(kc__type_message_field_by_number(pod, 4));
    assert_null(kc__type_message_field_by_number(pod, UINT32_MAX));
}

static void fields_are_in_struct_order(void **state)
{
    (void)state;
    const kc__type_message *meta =
        definition("io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference");
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
    const kc__type_message *pod = definition(POD);
    assert_true(pod->fields[0].marks & KC__INLINE);
    assert_int_equal(pod->fields[0].number, 0);
    assert_str(pod->fields[0].message->name, "io.k8s.apimachinery.pkg.apis.meta.v1.TypeMeta");
    assert_int_equal(field_at(POD, "kind")->kind, KC__FIELD_STRING);
    assert_int_equal(field_at(POD, "apiVersion")->kind, KC__FIELD_STRING);
    const char *set = "io.k8s.api.apps.v1.StatefulSet";
    assert_non_null(field_at(set, "spec.volumeClaimTemplates.apiVersion"));
    assert_null(kc__type_message_field(field_at(POD, "spec")->message, KC_STR("kind")));
}

static void fields_of_inline_structs_belong_to_the_parent(void **state)
{
    (void)state;
    const kc__type_field *empty = field_at(POD, "spec.volumes.emptyDir");
    assert_string_equal(empty->go_type, "v1.EmptyDirVolumeSource");
    assert_true(empty->marks & KC__POINTER);
    const kc__type_message *volume = field_at(POD, "spec.volumes")->message;
    assert_null(kc__type_message_field(volume, KC_STR("volumeSource")));
    const kc__type_field *inlined = kc__type_message_field_by_number(volume, 2);
    assert_true(inlined->marks & KC__INLINE);
    assert_ptr_equal(inlined->message, definition("io.k8s.api.core.v1.VolumeSource"));
    /* Two deep: a rule within a rule with operations within a named one. */
    const char *policy = "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy";
    assert_non_null(field_at(policy, "spec.matchConstraints.resourceRules.apiGroups"));
    /* Without a name in Go's tag. */
    assert_int_equal(field_at(POD, "spec.ephemeralContainers.image")->number, 2);
}

static void omit_marks_follow_the_go_tags(void **state)
{
    (void)state;
    assert_int_equal(field_at(POD, "spec.nodeName")->marks, KC__OMIT_EMPTY);
    assert_int_equal(field_at(POD, "spec.priority")->marks, KC__OMIT_EMPTY | KC__POINTER);
    assert_int_equal(field_at(POD, "spec.containers.name")->marks, KC__REQUIRED);
    assert_true(field_at(POD, "metadata.creationTimestamp")->marks & KC__OMIT_ZERO);
    assert_false(field_at(POD, "spec.containers")->marks & KC__OMIT_EMPTY);
}

static void required_marks_follow_openapi(void **state)
{
    (void)state;
    assert_true(field_at(DEPLOYMENT, "spec.selector")->marks & KC__REQUIRED);
    assert_true(field_at(DEPLOYMENT, "spec.template")->marks & KC__REQUIRED);
    assert_false(field_at(DEPLOYMENT, "spec.replicas")->marks & KC__REQUIRED);
    assert_false(field_at(DEPLOYMENT, "metadata")->marks & KC__REQUIRED);
    assert_true(field_at("io.k8s.api.core.v1.PodList", "items")->marks & KC__REQUIRED);
}

static void lists_have_merge_and_map_keys(void **state)
{
    (void)state;
    const kc__type_field *containers = field_at(POD, "spec.containers");
    assert_int_equal(containers->shape, KC__REPEATED);
    assert_int_equal(containers->marks, KC__PATCH_MERGES | KC__LIST_IS_MAP | KC__REQUIRED);
    assert_string_equal(containers->merge_key, "name");
    assert_string_equal(containers->list_keys, "name");

    const kc__type_field *ports = field_at(SERVICE, "spec.ports");
    assert_true(ports->marks & KC__PATCH_MERGES);
    assert_string_equal(ports->merge_key, "port");
    assert_string_equal(ports->list_keys, "port protocol");

    const kc__type_field *finalizers = field_at(POD, "metadata.finalizers");
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

static void atomic_structs_and_maps_are_marked(void **state)
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

static void definitions_of_1_34_are_present(void **state)
{
    (void)state;
    const char *slice = "io.k8s.api.resource.v1.ResourceSlice";
    assert_int_equal(field_at(POD, "status.observedGeneration")->number, 17);
    assert_int_equal(field_at(POD, "status.conditions.observedGeneration")->number, 7);
    assert_int_equal(field_at(slice, "spec.devices.attributes")->shape, KC__MAPPED);
    assert_string_equal(field_at(slice, "spec.devices.attributes")->go_type,
                        "map[v1.QualifiedName]v1.DeviceAttribute");
    definition("io.k8s.api.networking.v1.IPAddress");
    definition("io.k8s.api.storage.v1.VolumeAttributesClassList");
    definition("io.k8s.api.admissionregistration.v1beta1.MutatingAdmissionPolicy");
    assert_non_null(
        kc__type_lookup_kind(KC_STR("apiregistration.k8s.io/v1"), KC_STR("APIService")));
}

static void enumerations_are_json_arrays(void **state)
{
    (void)state;
    assert_string_equal(
        kc__type_enumerations[field_at(SERVICE, "spec.ports.protocol")->enumeration],
        "[\"SCTP\",\"TCP\",\"UDP\"]");
    assert_int_not_equal(field_at(POD, "status.containerStatuses.stopSignal")->enumeration, 0);
    assert_int_equal(field_at(POD, "spec.nodeName")->enumeration, 0);
    assert_null(kc__type_enumerations[0]);
}

static void special_messages_have_their_own_field_kinds(void **state)
{
    (void)state;
    assert_int_equal(field_at(POD, "metadata.creationTimestamp")->kind, KC__FIELD_TIME);
    assert_int_equal(field_at(POD, "metadata.managedFields.fieldsV1")->kind, KC__FIELD_FIELDS_V1);
    assert_int_equal(field_at(SERVICE, "spec.ports.targetPort")->kind, KC__FIELD_INT_OR_STRING);
    const kc__type_field *limits = field_at(POD, "spec.containers.resources.limits");
    assert_int_equal(limits->kind, KC__FIELD_QUANTITY);
    assert_int_equal(limits->shape, KC__MAPPED);
    assert_string_equal(limits->go_type, "v1.ResourceList");
    assert_int_equal(field_at("io.k8s.api.coordination.v1.Lease", "spec.renewTime")->kind,
                     KC__FIELD_MICRO_TIME);
    assert_int_equal(field_at("io.k8s.api.apps.v1.ControllerRevision", "data")->kind,
                     KC__FIELD_RAW);
    assert_int_equal(field_at("io.k8s.api.core.v1.Secret", "data")->kind, KC__FIELD_BYTES);
    const kc__type_field *extra = field_at("io.k8s.api.authentication.v1.UserInfo", "extra");
    assert_int_equal(extra->kind, KC__FIELD_LIST);
    assert_int_equal(extra->shape, KC__MAPPED);
    assert_string_equal(extra->message->fields[0].go_type, "[]string");
    assert_null(kc__type_lookup(KC_STR("io.k8s.apimachinery.pkg.apis.meta.v1.Time")));
}

static void fields_have_their_go_type(void **state)
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
    const kc__type_message *found = kc__type_lookup_kind(kc_cstr(api_version), kc_cstr(kind));
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

static void message_without_type_meta_is_not_a_kind(void **state)
{
    (void)state;
    assert_null(kc__type_lookup_kind(KC_STR("v1"), KC_STR("PodSpec")));
    assert_null(kc__type_lookup_kind(KC_STR("v1"), KC_STR("ObjectMeta")));
    assert_null(kc__type_lookup_kind(KC_STR("apps/v1"), KC_STR("Pod")));
    assert_null(kc__type_lookup_kind(KC_STR(""), KC_STR("")));
    char longest[600];
    memset(longest, 'v', sizeof(longest));
    assert_null(kc__type_lookup_kind(kc_str_of(longest, sizeof(longest)), KC_STR("Pod")));
    assert_null(kc__type_lookup_kind(KC_STR("v1"), kc_str_of(longest, sizeof(longest))));
}

TESTS(messages_are_found_by_name, messages_are_sorted_and_each_finds_itself,
      every_field_is_found_by_name_and_number, unknown_field_is_not_found,
      fields_are_in_struct_order, kinds_have_an_inline_type_meta_without_a_number,
      fields_of_inline_structs_belong_to_the_parent, omit_marks_follow_the_go_tags,
      required_marks_follow_openapi, lists_have_merge_and_map_keys,
      atomic_structs_and_maps_are_marked, defaults_are_json, definitions_of_1_34_are_present,
      enumerations_are_json_arrays, special_messages_have_their_own_field_kinds,
      fields_have_their_go_type, kinds_are_found_by_api_version,
      message_without_type_meta_is_not_a_kind)
