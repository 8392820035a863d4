/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_storage.c: PersistentVolumes, PersistentVolumeClaims and StorageClasses. What a claim
 * asks for, what a volume is and how a class makes volumes do not change later.
 */
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
                  "volumeAttributesClassName for bound claims");
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

const kc__strategy kc__strategy_claim = {
    .shows_deleted = true,
    .defaults = &kc__claim_defaults,
    .prepare = set_pending,
    .rules = &claim_rules,
    .validate_update = validate_claim_update,
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
        kc__check_positive(&entry);
    }
}

static void check_source(const kc__place *spec)
{
    size_t found = 0;
    for (size_t i = 0; i < KC_COUNT(sources); i++) {
        kc__place one = kc__member(spec, sources[i]);
        if (one.value && found++)
            kc__wrong(&one, KC_FIELD_FORBIDDEN, "may not specify more than 1 volume type");
    }
    if (!found)
        kc__wrong(spec, KC_FIELD_REQUIRED, "must specify a volume type");
}

static const kc__rule volume_spec_[] = {
    {"accessModes", .required = ""},
    {"accessModes", .code = kc__check_access_modes},
    {"capacity", .code = check_capacity},
    {"persistentVolumeReclaimPolicy", .one_of = reclaims},
    {.code = check_source},
    {"storageClassName", .code = kc__check_class_name},
    {"volumeMode", .one_of = kc__volume_modes},
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
                  "spec.persistentvolumesource is immutable after creation");
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

/* ---- StorageClass ---- */

static const kc__default class_default_[] = {
    {.field = "reclaimPolicy", .json = "\"Delete\""},
    {.field = "volumeBindingMode", .json = "\"Immediate\""},
};
static const kc__defaults class_defaults = KC__DEFAULTS(class_default_);

static const char *const class_reclaims[] = {"Delete", "Retain", NULL};
static const char *const binding_modes[] = {"Immediate", "WaitForFirstConsumer", NULL};

static const kc__rule class_[] = {
    {"provisioner", .required = "", .name = &kc__annotation_key},
    {"reclaimPolicy", .one_of = class_reclaims},
    {"volumeBindingMode", .required = "", .one_of = binding_modes},
};
static const kc__rules class_rules = KC__RULES(class_);

static void validate_class_update(const kc_value *object, const kc_value *old,
                                  kc_field_errors *errors)
{
    static const char *const fixed[] = {"parameters", "provisioner", "reclaimPolicy"};
    kc__place root = kc__place_root(object, errors), mode = kc__member(&root, "volumeBindingMode");
    for (size_t i = 0; i < KC_COUNT(fixed); i++) {
        kc__place member = kc__member(&root, fixed[i]);
        const kc_value *before = kc_get(old, fixed[i]);
        if (!!member.value != !!before || (before && !kc_value_equal(member.value, before, NULL)))
            kc__wrong(&member, KC_FIELD_FORBIDDEN, "updates to %s are forbidden.", fixed[i]);
    }
    kc__check_same(&mode, kc_get(old, "volumeBindingMode"));
}

const kc__strategy kc__strategy_storage_class = {
    .shows_deleted = true,
    .defaults = &class_defaults,
    .rules = &class_rules,
    .validate_update = validate_class_update,
};
