/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_storage.c: PersistentVolumes and PersistentVolumeClaims. What a claim asks for and what
 * a volume is do not change later.
 */
#include "apiserver/kinds/inner.h"
#include "apiserver/kinds/pod_rules.h"
#include "apiserver/kinds/storage_rules.h"
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

static const kc__rule claim_[] = {{"spec", .code = kc__check_claim_spec}};
static const kc__rules claim_rules = KC__RULES(claim_);

/* A claim or a snapshot: what was possible before everything was. */
static bool is_old_source(const kc_node *source)
{
    kc_str group = kc__node_text(source, "apiGroup"), kind = kc__node_text(source, "kind");
    return (!group.n && kc_str_is(kind, "PersistentVolumeClaim")) ||
           (kc_str_is(group, "snapshot.storage.k8s.io") && kc_str_is(kind, "VolumeSnapshot"));
}

/* Two fields say what a new volume shall hold; one that is there stands for both. */
static void align_sources(kc_edit *edit, kc_node *spec)
{
    kc_node *ref = kc_node_get(spec, KC_STR("dataSourceRef"));
    kc_node *source = kc_node_get(spec, KC_STR("dataSource"));
    if (kc_node_type(source) == KC_OBJECT && kc_node_type(ref) != KC_OBJECT) {
        if (is_old_source(source))
            kc_node_set(edit, spec, KC_STR("dataSourceRef"), kc_node_clone(edit, source));
        else
            kc_node_remove(spec, KC_STR("dataSource"));
    } else if (kc_node_type(ref) == KC_OBJECT && kc_node_type(source) != KC_OBJECT &&
               !kc__node_text(ref, "namespace").n) {
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

/* What may change is taken from the old one. */
static void check_claim_unchanged(const kc__place *spec, const kc_value *old, bool bound)
{
    kc_auto(kc_edit) *now = kc_edit_of_value(spec->value);
    kc_auto(kc_edit) *before = kc_edit_of_value(old);
    if (kc_str_empty(kc_as_str(kc_get(old, "volumeName")))) {
        kc_node_remove(kc_edit_root(now), KC_STR("volumeName"));
        kc_node_remove(kc_edit_root(before), KC_STR("volumeName"));
    }
    if (!kc_get(old, "storageClassName") && !kc_str_empty(kc__text_in(spec, "storageClassName")))
        kc_node_remove(kc_edit_root(now), KC_STR("storageClassName"));
    for (int i = 0; bound && i < 2; i++) {
        kc_node *root = kc_edit_root(i ? before : now);
        kc_node *resources = kc_node_get(root, KC_STR("resources"));
        kc_node_remove(kc_node_get(resources, KC_STR("requests")), KC_STR("storage"));
        kc_node_remove(root, KC_STR("volumeAttributesClassName"));
    }
    kc_auto(kc_view) *x = kc_edit_view(now, NULL), *y = kc_edit_view(before, NULL);
    if (!kc_value_equal(kc_view_root(x), kc_view_root(y), NULL))
        kc__wrong(spec, KC_FIELD_FORBIDDEN,
                  "spec is immutable after creation except resources.requests and "
                  "volumeAttributesClassName for bound claims\n%s",
                  kc__inner_diff("io.k8s.api.core.v1.PersistentVolumeClaimSpec", kc_view_root(y),
                                 kc_view_root(x), &spec->errors->arena));
}

static kc_quantity size_in(const kc_value *list)
{
    kc_quantity quantity = {0};
    kc_quantity_from(kc_get(list, "storage"), &quantity, NULL);
    return quantity;
}

static void validate_claim_update(const kc_value *object, const kc_value *old,
                                  kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    kc__place resources = kc__member(&spec, "resources"),
              requests = kc__member(&resources, "requests");
    kc__place storage = kc__member(&requests, "storage"), mode = kc__member(&root, "volumeMode");
    const kc_value *before = kc_get(old, "spec"), *status = kc_get(old, "status");
    bool bound = kc_str_is(kc_as_str(kc_get(status, "phase")), "Bound");
    kc_quantity now = size_in(requests.value);
    check_claim_unchanged(&spec, before, bound);
    if (kc_quantity_cmp(now, size_in(kc_get(kc_get(before, "resources"), "requests"))) < 0 &&
        kc_quantity_cmp(now, size_in(kc_get(status, "capacity"))) <= 0)
        kc__wrong(&storage, KC_FIELD_FORBIDDEN, "field can not be less than status.capacity");
    mode.value = kc_get(spec.value, "volumeMode");
    kc__check_same(&mode, kc_get(before, "volumeMode"));
}

static void validate_claim_status(const kc_value *object, const kc_value *old,
                                  kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), status = kc__member(&root, "status");
    kc__place capacity = kc__member(&status, "capacity");
    (void)old;
    kc_members (capacity.value, name, value) {
        kc__place entry = kc__entry(&capacity, name, value);
        kc__check_basic(&entry);
    }
}

const kc__strategy kc__strategy_claim = {
    .shows_deleted = true,
    .defaults = &kc__claim_defaults,
    .prepare = prepare_claim,
    .rules = &claim_rules,
    .validate_update = validate_claim_update,
    .validate_status = validate_claim_status,
};

/* ---- PersistentVolume ---- */

static const kc__default pending_[] = {{.field = "phase", .json = "\"Pending\""}};
static const kc__defaults pending = KC__DEFAULTS(pending_);
static const kc__default volume_default_[] = {
    {.field = "spec", .of = &kc__persistent_volume_spec_defaults},
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

static void check_capacity(const kc__place *capacity)
{
    if (!kc_len(capacity->value))
        kc__wrong(capacity, KC_FIELD_REQUIRED, NULL);
    if (!kc_get(capacity->value, "storage") || kc_len(capacity->value) > 1) {
        if (capacity->value)
            kc__wrong(capacity, KC_FIELD_NOT_SUPPORTED, "supported values: \"storage\"");
        else
            kc__wrong_as(capacity, KC_FIELD_NOT_SUPPORTED, "null", "supported values: \"storage\"");
    }
    kc_members (capacity->value, name, value) {
        kc__place entry = kc__entry(capacity, name, value);
        kc__check_basic(&entry);
        kc__check_positive(&entry);
    }
}

static void check_no_steps(const kc__place *path)
{
    kc__check_path(path, false);
}

static void check_handle(const kc__place *csi)
{
    kc__place handle = kc__member(csi, "volumeHandle");
    if (!kc__there(&handle))
        kc__wrong(&handle, KC_FIELD_REQUIRED, NULL);
}

static const kc__rule folder_[] = {{"path", .required = "", .code = check_no_steps}};
static const kc__rule csi_[] = {{.code = kc__check_driver}, {.code = check_handle}};
static const kc__rules folder = KC__RULES(folder_), csi = KC__RULES(csi_);

static const kc__rules *source_rules(const char *source)
{
    if (!strcmp(source, "hostPath") || !strcmp(source, "local"))
        return &folder;
    return !strcmp(source, "csi") ? &csi : kc__remote_volume_rules(source);
}

static void check_source(const kc__place *spec)
{
    size_t found = 0;
    for (size_t i = 0; i < KC_COUNT(sources); i++) {
        kc__place one = kc__member(spec, sources[i]);
        const kc__rules *rules = source_rules(sources[i]);
        if (!one.value)
            continue;
        if (found++)
            kc__wrong(&one, KC_FIELD_FORBIDDEN, "may not specify more than 1 volume type");
        else if (rules)
            kc__rules_check(rules, &one);
    }
    if (!found)
        kc__wrong(spec, KC_FIELD_REQUIRED, "must specify a volume type");
}

/* A folder of a node is only there. */
static void check_nodes(const kc__place *spec)
{
    kc__place affinity = kc__member(spec, "nodeAffinity");
    kc__place required = kc__member(&affinity, "required");
    if (affinity.value && required.value)
        kc__check_node_selector(&required);
    else if (affinity.value)
        kc__wrong(&required, KC_FIELD_REQUIRED, "must specify required node constraints");
}

static void check_local(const kc__place *spec)
{
    kc__place affinity = kc__member(spec, "nodeAffinity");
    if (kc__member(spec, "local").value && !affinity.value)
        kc__wrong(&affinity, KC_FIELD_REQUIRED, "Local volume requires node affinity");
}

/* Nobody cleans up a whole machine. */
static void check_recycling(const kc__place *spec)
{
    kc__place policy = kc__member(spec, "persistentVolumeReclaimPolicy");
    kc_str path = kc_as_str(kc_get(kc_get(spec->value, "hostPath"), "path"));
    if (kc_str_is(path, "/") && kc__text_is(&policy, "Recycle"))
        kc__wrong(&policy, KC_FIELD_FORBIDDEN, "may not be 'recycle' for a hostPath mount of '/'");
}

static void check_attributes_class(const kc__place *spec)
{
    kc__place class = kc__member(spec, "volumeAttributesClassName"),
              driver = kc__member(spec, "csi");
    if (!class.value)
        return;
    if (!kc__there(&class))
        kc__wrong(&class, KC_FIELD_REQUIRED, "an empty string is disallowed");
    else
        kc__check_class_name(&class);
    if (!driver.value)
        kc__wrong(&driver, KC_FIELD_REQUIRED,
                  "has to be specified when using volumeAttributesClassName");
}

static const kc__rule volume_spec_[] = {
    {"accessModes", .required = ""},
    {"accessModes", .code = kc__check_access_modes},
    {"capacity", .code = check_capacity},
    {"persistentVolumeReclaimPolicy", .one_of = reclaims},
    {.code = check_nodes},
    {.code = check_source},
    {.code = check_local},
    {.code = check_recycling},
    {"storageClassName", .code = kc__check_class_name},
    {"volumeMode", .one_of = kc__volume_modes},
    {.code = check_attributes_class},
};
static const kc__rules volume_spec = KC__RULES(volume_spec_);
static const kc__rule volume_[] = {{"spec", .of = &volume_spec}};
static const kc__rules volume_rules = KC__RULES(volume_);

static void validate_volume_update(const kc_value *object, const kc_value *old,
                                   kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    kc__place source = kc__member(&spec, "persistentvolumesource");
    kc__place mode = kc__member(&root, "volumeMode");
    const kc_value *before = kc_get(old, "spec");
    for (size_t i = 0; i < KC_COUNT(sources); i++) {
        const kc_value *x = kc_get(spec.value, sources[i]), *y = kc_get(before, sources[i]);
        if (!!x == !!y && (!x || kc_value_equal(x, y, NULL)))
            continue;
        kc__wrong(&source, KC_FIELD_FORBIDDEN,
                  "spec.persistentvolumesource is immutable after creation\n%s",
                  kc__inner_diff("io.k8s.api.core.v1.PersistentVolumeSource", before, spec.value,
                                 &errors->arena));
        break;
    }
    mode.value = kc_get(spec.value, "volumeMode");
    kc__check_same(&mode, kc_get(before, "volumeMode"));
}

const kc__strategy kc__strategy_volume = {
    .shows_deleted = true,
    .defaults = &volume_defaults,
    .prepare = set_pending,
    .rules = &volume_rules,
    .validate_update = validate_volume_update,
};
