/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_strategy.c: the strategies of PersistentVolumes and PersistentVolumeClaims. The spec of a
 * claim, apart from a few fields, and the source of a volume are immutable.
 */
#include "apiserver/kinds/core/pod_rules.h"
#include "apiserver/kinds/core/storage_rules.h"
#include "apiserver/kinds/internal_form.h"
#include "apiserver/kinds/strategy.h"
#include "kc/diff.h"
#include "kc/quantity.h"

static void set_pending(kc_edit *edit)
{
    kc_node *status = kc_node_object(edit);
    kc_node_set(edit, status, KC_STR("phase"), kc_node_str(edit, KC_STR("Pending")));
    kc_node_set(edit, kc_edit_root(edit), KC_STR("status"), status);
}

/* ---- PersistentVolumeClaim ---- */

static const kc__validate_rule claim_[] = {{"spec", .code = kc__validate_claim_spec}};
static const kc__validate_rule_table claim_rules = KC__VALIDATE_RULES(claim_);

/* Whether the source is a claim or a snapshot, the kinds that dataSource supported before
 * dataSourceRef existed. */
static bool is_old_source(const kc_node *source)
{
    kc_str group = kc__defaults_node_text(source, "apiGroup"),
           kind = kc__defaults_node_text(source, "kind");
    return (!group.n && kc_str_is(kind, "PersistentVolumeClaim")) ||
           (kc_str_is(group, "snapshot.storage.k8s.io") && kc_str_is(kind, "VolumeSnapshot"));
}

/* dataSource and dataSourceRef both name the source of the data; if only one is set, it is
 * copied to the other. An unsupported dataSource is dropped, and a dataSourceRef with a namespace
 * is not copied. */
static void align_sources(kc_edit *edit, kc_node *spec)
{
    kc_node *ref = kc_node_get(spec, KC_STR("dataSourceRef"));
    kc_node *source = kc_node_get(spec, KC_STR("dataSource"));
    if (kc_node_type(source) == KC_JSON_OBJECT && kc_node_type(ref) != KC_JSON_OBJECT) {
        if (is_old_source(source))
            kc_node_set(edit, spec, KC_STR("dataSourceRef"), kc_node_clone(edit, source));
        else
            kc_node_remove(spec, KC_STR("dataSource"));
    } else if (kc_node_type(ref) == KC_JSON_OBJECT && kc_node_type(source) != KC_JSON_OBJECT &&
               !kc__defaults_node_text(ref, "namespace").n) {
        kc_node_set(edit, spec, KC_STR("dataSource"), kc_node_clone(edit, ref));
    }
}

static void prepare_claim(kc_edit *edit)
{
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    set_pending(edit);
    if (spec)
        align_sources(edit, spec);
}

/* Takes the mutable fields from the old claim, then compares the rest. */
static void check_claim_unchanged(const kc__location *spec, const kc_value *old, bool bound)
{
    kc_auto(kc_edit) *now = kc_edit_of_value(spec->value);
    kc_auto(kc_edit) *before = kc_edit_of_value(old);
    if (kc_str_empty(kc_value_as_str(kc_value_get(old, "volumeName")))) {
        kc_node_remove(kc_edit_root(now), KC_STR("volumeName"));
        kc_node_remove(kc_edit_root(before), KC_STR("volumeName"));
    }
    if (!kc_value_get(old, "storageClassName") &&
        !kc_str_empty(kc__location_member_text(spec, "storageClassName")))
        kc_node_remove(kc_edit_root(now), KC_STR("storageClassName"));
    for (int i = 0; bound && i < 2; i++) {
        kc_node *root = kc_edit_root(i ? before : now);
        kc_node *resources = kc_node_get(root, KC_STR("resources"));
        kc_node_remove(kc_node_get(resources, KC_STR("requests")), KC_STR("storage"));
        kc_node_remove(root, KC_STR("volumeAttributesClassName"));
    }
    kc_auto(kc_view) *x = kc_edit_view(now, NULL), *y = kc_edit_view(before, NULL);
    if (!kc_value_equal(kc_view_root(x), kc_view_root(y), NULL))
        kc__location_error(spec, KC_FIELD_FORBIDDEN,
                           "spec is immutable after creation except resources.requests and "
                           "volumeAttributesClassName for bound claims\n%s",
                           kc__internal_form_diff("io.k8s.api.core.v1.PersistentVolumeClaimSpec",
                                                  kc_view_root(y), kc_view_root(x),
                                                  &spec->errors->arena));
}

static kc_quantity size_in(const kc_value *list)
{
    kc_quantity quantity = {0};
    kc_quantity_from(kc_value_get(list, "storage"), &quantity, NULL);
    return quantity;
}

static void validate_claim_update(const kc_value *object, const kc_value *old,
                                  kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc__location resources = kc__location_member(&spec, "resources"),
                 requests = kc__location_member(&resources, "requests");
    kc__location storage = kc__location_member(&requests, "storage"),
                 mode = kc__location_member(&root, "volumeMode");
    const kc_value *before = kc_value_get(old, "spec"), *status = kc_value_get(old, "status");
    bool bound = kc_str_is(kc_value_as_str(kc_value_get(status, "phase")), "Bound");
    kc_quantity now = size_in(requests.value);
    check_claim_unchanged(&spec, before, bound);
    if (kc_quantity_cmp(now, size_in(kc_value_get(kc_value_get(before, "resources"), "requests"))) <
            0 &&
        kc_quantity_cmp(now, size_in(kc_value_get(status, "capacity"))) <= 0)
        kc__location_error(&storage, KC_FIELD_FORBIDDEN,
                           "field can not be less than status.capacity");
    mode.value = kc_value_get(spec.value, "volumeMode");
    kc__validate_same(&mode, kc_value_get(before, "volumeMode"));
}

static void validate_claim_status(const kc_value *object, const kc_value *old,
                                  kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 status = kc__location_member(&root, "status");
    kc__location capacity = kc__location_member(&status, "capacity");
    (void)old;
    kc_value_each_member (capacity.value, name, value) {
        kc__location entry = kc__location_entry(&capacity, name, value);
        kc__validate_basic(&entry);
    }
}

const kc__strategy kc__strategy_claim = {
    .shows_deleted = true,
    .defaults = &kc__defaults_claim,
    .prepare = prepare_claim,
    .rules = &claim_rules,
    .validate_update = validate_claim_update,
    .validate_status = validate_claim_status,
};

/* ---- PersistentVolume ---- */

static const kc__defaults_entry pending_[] = {{.field = "phase", .json = "\"Pending\""}};
static const kc__defaults pending = KC__DEFAULTS(pending_);
static const kc__defaults_entry volume_default_[] = {
    {.field = "spec", .of = &kc__defaults_persistent_volume_spec},
    {.field = "status", .of = &pending},
};
static const kc__defaults volume_defaults = KC__DEFAULTS(volume_default_);

static const char *const reclaims[] = {"Delete", "Recycle", "Retain", NULL};
static const char *const sources[] = {"hostPath",
                                      "gcePersistentDisk",
                                      "awsElasticBlockStore",
                                      "glusterfs",
                                      "flocker",
                                      "nfs",
                                      "rbd",
                                      "quobyte",
                                      "cephfs",
                                      "iscsi",
                                      "cinder",
                                      "fc",
                                      "flexVolume",
                                      "azureFile",
                                      "vsphereVolume",
                                      "photonPersistentDisk",
                                      "portworxVolume",
                                      "azureDisk",
                                      "scaleIO",
                                      "local",
                                      "storageos",
                                      "csi"};

static void check_capacity(const kc__location *capacity)
{
    if (!kc_value_len(capacity->value))
        kc__location_error(capacity, KC_FIELD_REQUIRED, NULL);
    if (!kc_value_get(capacity->value, "storage") || kc_value_len(capacity->value) > 1) {
        if (capacity->value)
            kc__location_error(capacity, KC_FIELD_NOT_SUPPORTED, "supported values: \"storage\"");
        else
            kc__location_error_json(capacity, KC_FIELD_NOT_SUPPORTED, "null",
                                    "supported values: \"storage\"");
    }
    kc_value_each_member (capacity->value, name, value) {
        kc__location entry = kc__location_entry(capacity, name, value);
        kc__validate_basic(&entry);
        kc__validate_positive(&entry);
    }
}

static void check_no_steps(const kc__location *path)
{
    kc__validate_path(path, false);
}

static void check_handle(const kc__location *csi)
{
    kc__location handle = kc__location_member(csi, "volumeHandle");
    if (!kc__location_is_set(&handle))
        kc__location_error(&handle, KC_FIELD_REQUIRED, NULL);
}

static const kc__validate_rule dir_rules[] = {{"path", .required = "", .code = check_no_steps}};
static const kc__validate_rule csi_[] = {{.code = kc__validate_driver}, {.code = check_handle}};
static const kc__validate_rule_table dir = KC__VALIDATE_RULES(dir_rules),
                                     csi = KC__VALIDATE_RULES(csi_);

static const kc__validate_rule_table *source_rules(const char *source)
{
    if (!strcmp(source, "hostPath") || !strcmp(source, "local"))
        return &dir;
    return !strcmp(source, "csi") ? &csi : kc__validate_remote_volume_rules(source);
}

static void check_source(const kc__location *spec)
{
    size_t found = 0;
    for (size_t i = 0; i < KC_COUNT(sources); i++) {
        kc__location one = kc__location_member(spec, sources[i]);
        const kc__validate_rule_table *rules = source_rules(sources[i]);
        if (!one.value)
            continue;
        if (found++)
            kc__location_error(&one, KC_FIELD_FORBIDDEN, "may not specify more than 1 volume type");
        else if (rules)
            kc__validate_by_rules(rules, &one);
    }
    if (!found)
        kc__location_error(spec, KC_FIELD_REQUIRED, "must specify a volume type");
}

/* Node affinity must have required terms. */
static void check_nodes(const kc__location *spec)
{
    kc__location affinity = kc__location_member(spec, "nodeAffinity");
    kc__location required = kc__location_member(&affinity, "required");
    if (affinity.value && required.value)
        kc__validate_node_selector(&required);
    else if (affinity.value)
        kc__location_error(&required, KC_FIELD_REQUIRED, "must specify required node constraints");
}

static void check_local(const kc__location *spec)
{
    kc__location affinity = kc__location_member(spec, "nodeAffinity");
    if (kc__location_member(spec, "local").value && !affinity.value)
        kc__location_error(&affinity, KC_FIELD_REQUIRED, "Local volume requires node affinity");
}

/* A hostPath volume of "/" cannot be recycled. */
static void check_recycling(const kc__location *spec)
{
    kc__location policy = kc__location_member(spec, "persistentVolumeReclaimPolicy");
    kc_str path = kc_value_as_str(kc_value_get(kc_value_get(spec->value, "hostPath"), "path"));
    if (kc_str_is(path, "/") && kc__location_text_is(&policy, "Recycle"))
        kc__location_error(&policy, KC_FIELD_FORBIDDEN,
                           "may not be 'recycle' for a hostPath mount of '/'");
}

static void check_attributes_class(const kc__location *spec)
{
    kc__location class = kc__location_member(spec, "volumeAttributesClassName"),
                 driver = kc__location_member(spec, "csi");
    if (!class.value)
        return;
    if (!kc__location_is_set(&class))
        kc__location_error(&class, KC_FIELD_REQUIRED, "an empty string is disallowed");
    else
        kc__validate_class_name(&class);
    if (!driver.value)
        kc__location_error(&driver, KC_FIELD_REQUIRED,
                           "has to be specified when using volumeAttributesClassName");
}

static const kc__validate_rule volume_spec_[] = {
    {"accessModes", .required = ""},
    {"accessModes", .code = kc__validate_access_modes},
    {"capacity", .code = check_capacity},
    {"persistentVolumeReclaimPolicy", .one_of = reclaims},
    {.code = check_nodes},
    {.code = check_source},
    {.code = check_local},
    {.code = check_recycling},
    {"storageClassName", .code = kc__validate_class_name},
    {"volumeMode", .one_of = kc__validate_volume_modes},
    {.code = check_attributes_class},
};
static const kc__validate_rule_table volume_spec = KC__VALIDATE_RULES(volume_spec_);
static const kc__validate_rule volume_[] = {{"spec", .of = &volume_spec}};
static const kc__validate_rule_table volume_rules = KC__VALIDATE_RULES(volume_);

/* Kubernetes applies the rules of a volume twice in an update, and clients see both errors. */
static void validate_volume_update(const kc_value *object, const kc_value *old,
                                   kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc__validate_by_rules(&volume_rules, &root);
    kc__location source = kc__location_member(&spec, "persistentvolumesource");
    kc__location mode = kc__location_member(&root, "volumeMode");
    const kc_value *before = kc_value_get(old, "spec");
    for (size_t i = 0; i < KC_COUNT(sources); i++) {
        const kc_value *x = kc_value_get(spec.value, sources[i]),
                       *y = kc_value_get(before, sources[i]);
        if (!!x == !!y && (!x || kc_value_equal(x, y, NULL)))
            continue;
        kc__location_error(&source, KC_FIELD_FORBIDDEN,
                           "spec.persistentvolumesource is immutable after creation\n%s",
                           kc__internal_form_diff("io.k8s.api.core.v1.PersistentVolumeSource",
                                                  before, spec.value, &errors->arena));
        break;
    }
    mode.value = kc_value_get(spec.value, "volumeMode");
    kc__validate_same(&mode, kc_value_get(before, "volumeMode"));
}

/* The phase of a new volume begins when the volume is created. */
static void prepare_volume(kc_edit *edit)
{
    set_pending(edit);
    kc_node *root = kc_edit_root(edit);
    const kc_node *created =
        kc_node_get(kc_node_get(root, KC_STR("metadata")), KC_STR("creationTimestamp"));
    if (created)
        kc_node_set(edit, kc_node_get(root, KC_STR("status")), KC_STR("lastPhaseTransitionTime"),
                    kc_node_clone(edit, created));
}

const kc__strategy kc__strategy_volume = {
    .shows_deleted = true,
    .defaults = &volume_defaults,
    .prepare = prepare_volume,
    .rules = &volume_rules,
    .validate_update = validate_volume_update,
};
