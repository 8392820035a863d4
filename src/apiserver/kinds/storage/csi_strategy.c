/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_strategy.c: the strategies of storage drivers: the capabilities of each (CSIDriver), the
 * nodes that have it (CSINode), and which volume is to be attached to which node
 * (VolumeAttachment).
 */
#include "apiserver/kinds/core/pod_rules.h"
#include "apiserver/kinds/internal_form.h"
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

static const kc__defaults_entry driver_spec_[] = {
    {.field = "attachRequired", .json = "true"},
    {.field = "podInfoOnMount", .json = "false"},
    {.field = "storageCapacity", .json = "false"},
    {.field = "fsGroupPolicy", .json = "\"ReadWriteOnceWithFSType\""},
    {.field = "requiresRepublish", .json = "false"},
    {.field = "seLinuxMount", .json = "false"},
};
static const kc__defaults driver_spec_defaults = {
    .list = driver_spec_, .n = KC_COUNT(driver_spec_), .code = choose_modes};
static const kc__defaults_entry driver_[] = {{.field = "spec", .of = &driver_spec_defaults}};
static const kc__defaults driver_defaults = KC__DEFAULTS(driver_);

static const char *const group_policies[] = {"File", "None", "ReadWriteOnceWithFSType", NULL};
static const char *const modes[] = {"Persistent", "Ephemeral", NULL};

static void check_expiration(const kc__location *seconds)
{
    if (!seconds->value)
        return;
    if (kc__location_number(seconds) < 600)
        kc__location_error(seconds, KC_FIELD_INVALID,
                           "may not specify a duration less than 10 minutes");
    if (kc__location_number(seconds) > (int64_t)1 << 32)
        kc__location_error(seconds, KC_FIELD_INVALID,
                           "may not specify a duration larger than 2^32 seconds");
}

static void check_tokens(const kc__location *requests)
{
    kc_scoped(kc_map) audiences = {0};
    size_t i = 0;
    kc_value_each_item (requests->value, value) {
        kc__location item = kc__location_item(requests, value, i++),
                     audience = kc__location_member(&item, "audience");
        kc__location seconds = kc__location_member(&item, "expirationSeconds");
        if (kc_map_put(&audiences, kc__location_text(&audience), &audiences))
            kc__location_error(&audience, KC_FIELD_DUPLICATE, NULL);
        else
            check_expiration(&seconds);
    }
}

/* Kubernetes reports the path without the index. */
static void check_modes(const kc__location *list)
{
    kc_value_each_item (list->value, value) {
        kc__location shown = *list;
        shown.value = value;
        kc__validate_one_of(&shown, modes);
    }
}

static const kc__validate_rule driver_rule_[] = {
    {"fsGroupPolicy", .required = "", .one_of = group_policies},
    {"tokenRequests", .code = check_tokens},
    {"volumeLifecycleModes", .code = check_modes},
};
static const kc__validate_rule_table driver_rule = KC__VALIDATE_RULES(driver_rule_);
static const kc__validate_rule driver_object_[] = {{"spec", .of = &driver_rule}};
static const kc__validate_rule_table driver_rules = KC__VALIDATE_RULES(driver_object_);

static void validate_driver_update(const kc_value *object, const kc_value *old,
                                   kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc__location attach = kc__location_member(&spec, "attachRequired");
    kc__location list = kc__location_member(&spec, "volumeLifecycleModes");
    const kc_value *before = kc_value_get(old, "spec");
    attach.name = "attachedRequired"; /* As Kubernetes spells it. */
    kc__validate_same(&attach, kc_value_get(before, "attachRequired"));
    kc__validate_same(&list, kc_value_get(before, "volumeLifecycleModes"));
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

static void check_node_id(const kc__location *id)
{
    if (!kc__location_is_set(id))
        kc__location_error(id, KC_FIELD_REQUIRED, NULL);
    if (kc__location_text(id).n > MAX_NODE_ID)
        kc__location_error(id, KC_FIELD_INVALID, "must be %d characters or less", MAX_NODE_ID);
}

/* Errors are reported for the driver. */
static void check_topology_keys(const kc__location *driver)
{
    kc_scoped(kc_map) seen = {0};
    kc_value_each_item (kc_value_get(driver->value, "topologyKeys"), value) {
        kc__location shown = *driver;
        shown.value = value;
        if (!kc__location_is_set(&shown))
            kc__location_error(&shown, KC_FIELD_REQUIRED, NULL);
        kc__validate_unique(&shown, &seen);
        kc__validate_name(&shown, KC_NAME_QUALIFIED);
    }
}

static const kc__validate_rule allocatable_[] = {{"count", .number = KC__VALIDATE_AT_LEAST_0}};
static const kc__validate_rule_table allocatable = KC__VALIDATE_RULES(allocatable_);
static const kc__validate_rule node_driver_[] = {
    {"name", .code = kc__validate_driver_name},
    {"nodeID", .code = check_node_id},
    {"allocatable", .of = &allocatable},
};
static const kc__validate_rule_table node_driver = KC__VALIDATE_RULES(node_driver_);

static void check_drivers(const kc__location *drivers)
{
    kc_scoped(kc_map) names = {0};
    size_t i = 0;
    kc_value_each_item (drivers->value, value) {
        kc__location driver = kc__location_item(drivers, value, i++),
                     name = kc__location_member(&driver, "name");
        kc__validate_by_rules(&node_driver, &driver);
        kc__validate_unique(&name, &names);
        check_topology_keys(&driver);
    }
}

static const kc__validate_rule node_spec_[] = {{"drivers", .code = check_drivers}};
static const kc__validate_rule_table node_spec = KC__VALIDATE_RULES(node_spec_);
static const kc__validate_rule node_[] = {{"spec", .of = &node_spec}};
static const kc__validate_rule_table node_rules = KC__VALIDATE_RULES(node_);

const kc__strategy kc__strategy_csi_node = {
    .conditional = true, .shows_deleted = true, .rules = &node_rules};

/* ---- VolumeAttachment ---- */

static void check_source(const kc__location *source)
{
    static const char one[] =
        "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    kc__location inline_spec = kc__location_member(source, "inlineVolumeSpec");
    kc__location name = kc__location_member(source, "persistentVolumeName");
    if (!inline_spec.value && !name.value)
        kc__location_error(source, KC_FIELD_REQUIRED, one);
    else if (inline_spec.value && name.value)
        kc__location_error(source, KC_FIELD_FORBIDDEN, one);
    else if (name.value && !kc__location_is_set(&name))
        kc__location_error(&name, KC_FIELD_REQUIRED, "must specify non empty persistentVolumeName");
}

static const kc__validate_rule attachment_spec_[] = {
    {"attacher", .code = kc__validate_driver_name},
    {"source", .code = check_source},
    {"nodeName", .name = &kc__validate_name_dns_subdomain},
};
static const kc__validate_rule_table attachment_spec = KC__VALIDATE_RULES(attachment_spec_);
static const kc__validate_rule attachment_[] = {{"spec", .of = &attachment_spec}};
static const kc__validate_rule_table attachment_rules = KC__VALIDATE_RULES(attachment_);

static void validate_attachment_update(const kc_value *object, const kc_value *old,
                                       kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    if (!kc_value_equal(spec.value, kc_value_get(old, "spec"), NULL))
        kc__location_error_json(&spec, KC_FIELD_INVALID,
                                kc__internal_form_json("io.k8s.api.storage.v1.VolumeAttachmentSpec",
                                                       spec.value, &errors->arena),
                                "field is immutable");
}

const kc__strategy kc__strategy_volume_attachment = {
    .conditional = true,
    .shows_deleted = true,
    .rules = &attachment_rules,
    .validate_update = validate_attachment_update,
};
