/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_csi.c: drivers of storage: what each one can do (CSIDriver), on which nodes it is
 * (CSINode), and which volume shall be at which node (VolumeAttachment).
 */
#include "apiserver/kinds/inner.h"
#include "apiserver/kinds/pod_rules.h"
#include "apiserver/kinds/strategy.h"
#include "kc/diff.h"

/* ---- CSIDriver ---- */

static void choose_modes(kc_edit *edit, kc_node *spec)
{
    if (kc_node_len(kc_node_get(spec, KC_STR("volumeLifecycleModes"))))
        return;
    kc_node *modes = kc_node_array(edit);
    kc_node_append(modes, kc_node_str(edit, KC_STR("Persistent")));
    kc_node_set(edit, spec, KC_STR("volumeLifecycleModes"), modes);
}

static const kc__default driver_spec_[] = {
    {.field = "attachRequired", .json = "true"},
    {.field = "podInfoOnMount", .json = "false"},
    {.field = "storageCapacity", .json = "false"},
    {.field = "fsGroupPolicy", .json = "\"ReadWriteOnceWithFSType\""},
    {.field = "requiresRepublish", .json = "false"},
    {.field = "seLinuxMount", .json = "false"},
};
static const kc__defaults driver_spec_defaults = {
    .list = driver_spec_, .n = KC_COUNT(driver_spec_), .code = choose_modes};
static const kc__default driver_[] = {{.field = "spec", .of = &driver_spec_defaults}};
static const kc__defaults driver_defaults = KC__DEFAULTS(driver_);

static const char *const group_policies[] = {"File", "None", "ReadWriteOnceWithFSType", NULL};
static const char *const modes[] = {"Persistent", "Ephemeral", NULL};

static void check_expiration(const kc__place *seconds)
{
    if (!seconds->value)
        return;
    if (kc__number(seconds) < 600)
        kc__wrong(seconds, KC_FIELD_INVALID, "may not specify a duration less than 10 minutes");
    if (kc__number(seconds) > (int64_t)1 << 32)
        kc__wrong(seconds, KC_FIELD_INVALID, "may not specify a duration larger than 2^32 seconds");
}

static void check_tokens(const kc__place *requests)
{
    kc_scoped(kc_map) audiences = {0};
    size_t i = 0;
    kc_items (requests->value, value) {
        kc__place item = kc__item(requests, value, i++), audience = kc__member(&item, "audience");
        kc__place seconds = kc__member(&item, "expirationSeconds");
        if (kc_map_put(&audiences, kc__text(&audience), &audiences))
            kc__wrong(&audience, KC_FIELD_DUPLICATE, NULL);
        else
            check_expiration(&seconds);
    }
}

/* Kubernetes leaves out the index. */
static void check_modes(const kc__place *list)
{
    kc_items (list->value, value) {
        kc__place shown = *list;
        shown.value = value;
        kc__check_one_of(&shown, modes);
    }
}

static const kc__rule driver_rule_[] = {
    {"fsGroupPolicy", .required = "", .one_of = group_policies},
    {"tokenRequests", .code = check_tokens},
    {"volumeLifecycleModes", .code = check_modes},
};
static const kc__rules driver_rule = KC__RULES(driver_rule_);
static const kc__rule driver_object_[] = {{"spec", .of = &driver_rule}};
static const kc__rules driver_rules = KC__RULES(driver_object_);

static void validate_driver_update(const kc_value *object, const kc_value *old,
                                   kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    kc__place attach = kc__member(&spec, "attachRequired");
    kc__place list = kc__member(&spec, "volumeLifecycleModes");
    const kc_value *before = kc_get(old, "spec");
    attach.name = "attachedRequired"; /* As Kubernetes spells it. */
    kc__check_same(&attach, kc_get(before, "attachRequired"));
    kc__check_same(&list, kc_get(before, "volumeLifecycleModes"));
}

const kc__strategy kc__strategy_csi_driver = {
    .conditional = true,
    .shows_deleted = true,
    .defaults = &driver_defaults,
    .rules = &driver_rules,
    .validate_update = validate_driver_update,
};

/* ---- CSINode ---- */

#define MAX_NODE_ID 256

static void check_node_id(const kc__place *id)
{
    if (!kc__there(id))
        kc__wrong(id, KC_FIELD_REQUIRED, NULL);
    if (kc__text(id).n > MAX_NODE_ID)
        kc__wrong(id, KC_FIELD_INVALID, "must be %d characters or less", MAX_NODE_ID);
}

/* Errors are about the driver. */
static void check_topology_keys(const kc__place *driver)
{
    kc_scoped(kc_map) seen = {0};
    kc_items (kc_get(driver->value, "topologyKeys"), value) {
        kc__place shown = *driver;
        shown.value = value;
        if (!kc__there(&shown))
            kc__wrong(&shown, KC_FIELD_REQUIRED, NULL);
        kc__check_unique(&shown, &seen);
        kc__check_name(&shown, KC_NAME_QUALIFIED);
    }
}

static const kc__rule allocatable_[] = {{"count", .number = KC__AT_LEAST_0}};
static const kc__rules allocatable = KC__RULES(allocatable_);
static const kc__rule node_driver_[] = {
    {"name", .code = kc__check_driver_name},
    {"nodeID", .code = check_node_id},
    {"allocatable", .of = &allocatable},
};
static const kc__rules node_driver = KC__RULES(node_driver_);

static void check_drivers(const kc__place *drivers)
{
    kc_scoped(kc_map) names = {0};
    size_t i = 0;
    kc_items (drivers->value, value) {
        kc__place driver = kc__item(drivers, value, i++), name = kc__member(&driver, "name");
        kc__rules_check(&node_driver, &driver);
        kc__check_unique(&name, &names);
        check_topology_keys(&driver);
    }
}

static const kc__rule node_spec_[] = {{"drivers", .code = check_drivers}};
static const kc__rules node_spec = KC__RULES(node_spec_);
static const kc__rule node_[] = {{"spec", .of = &node_spec}};
static const kc__rules node_rules = KC__RULES(node_);

const kc__strategy kc__strategy_csi_node = {
    .conditional = true, .shows_deleted = true, .rules = &node_rules};

/* ---- VolumeAttachment ---- */

static void check_source(const kc__place *source)
{
    static const char one[] =
        "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    kc__place inline_spec = kc__member(source, "inlineVolumeSpec");
    kc__place name = kc__member(source, "persistentVolumeName");
    if (!inline_spec.value && !name.value)
        kc__wrong(source, KC_FIELD_REQUIRED, one);
    else if (inline_spec.value && name.value)
        kc__wrong(source, KC_FIELD_FORBIDDEN, one);
    else if (name.value && !kc__there(&name))
        kc__wrong(&name, KC_FIELD_REQUIRED, "must specify non empty persistentVolumeName");
}

static const kc__rule attachment_spec_[] = {
    {"attacher", .code = kc__check_driver_name},
    {"source", .code = check_source},
    {"nodeName", .name = &kc__dns_subdomain},
};
static const kc__rules attachment_spec = KC__RULES(attachment_spec_);
static const kc__rule attachment_[] = {{"spec", .of = &attachment_spec}};
static const kc__rules attachment_rules = KC__RULES(attachment_);

static void validate_attachment_update(const kc_value *object, const kc_value *old,
                                       kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    if (!kc_value_equal(spec.value, kc_get(old, "spec"), NULL))
        kc__wrong_as(&spec, KC_FIELD_INVALID,
                     kc__inner_json("io.k8s.api.storage.v1.VolumeAttachmentSpec", spec.value,
                                    &errors->arena),
                     "field is immutable");
}

const kc__strategy kc__strategy_volume_attachment = {
    .conditional = true,
    .shows_deleted = true,
    .rules = &attachment_rules,
    .validate_update = validate_attachment_update,
};
