/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_strategy.c: the strategy of Nodes. A Node registers itself and sends its status with the
 * create.
 */
#include "apiserver/kinds/internal_form.h"
#include "apiserver/kinds/networking/address_rules.h"
#include "apiserver/kinds/strategy.h"

/* Allocatable defaults to capacity. */
static void complete_status(kc_edit *edit, kc_node *status)
{
    kc_node *capacity = kc_node_get(status, KC_STR("capacity"));
    if (kc_node_len(capacity) && kc__defaults_node_absent(status, "allocatable"))
        kc_node_set(edit, status, KC_STR("allocatable"), kc_node_clone(edit, capacity));
}

static const kc__defaults status_defaults = {.code = complete_status};

/* Aligns podCIDR and podCIDRs: podCIDR is the first entry of the list. */
static void align_networks(kc_edit *edit, kc_node *spec)
{
    kc_node *list = kc_node_get(spec, KC_STR("podCIDRs"));
    kc_str one = kc__defaults_node_text(spec, "podCIDR"), first = {0};
    kc_node_each_item (list, item)
        first = first.p ? first : kc_node_as_str(item);
    if (first.n && !one.n)
        kc_node_set(edit, spec, KC_STR("podCIDR"), kc_node_str(edit, first));
    if (!one.n || kc_str_eq(one, first))
        return;
    list = kc_node_array(edit);
    kc_node_append(list, kc_node_str(edit, one));
    kc_node_set(edit, spec, KC_STR("podCIDRs"), list);
}
static const kc__defaults spec_defaults = {.code = align_networks};

static const kc__defaults_entry node_[] = {
    {.field = "spec", .of = &spec_defaults},
    {.field = "status", .of = &status_defaults},
};
static const kc__defaults defaults = KC__DEFAULTS(node_);

/* Kubernetes reports taints below metadata. */
static void check_taints(const kc__location *root)
{
    static const char *const known[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", NULL};
    kc__location metadata = kc__location_member(root, "metadata"),
                 taints = kc__location_member(&metadata, "taints");
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    taints.value = kc_value_get(kc_value_get(root->value, "spec"), "taints");
    kc_value_each_item (taints.value, value) {
        kc__location taint = kc__location_item(&taints, value, i++),
                     effect = kc__location_member(&taint, "effect");
        kc__location key = kc__location_member(&taint, "key"),
                     text = kc__location_member(&taint, "value");
        kc__validate_name(&key, KC_NAME_QUALIFIED);
        kc__validate_name(&text, KC_NAME_LABEL_VALUE);
        if (kc__location_is_set(&effect))
            kc__validate_one_of(&effect, known);
        else
            kc__location_error(&effect, KC_FIELD_REQUIRED, NULL);
        const char *pair =
            kc_arena_printf(&taint.errors->arena, "%.*s\n%.*s", KC_ARG(kc__location_text(&key)),
                            KC_ARG(kc__location_text(&effect)));
        if (kc_map_put(&seen, kc_cstr(pair), &seen))
            kc__location_error_json(
                &taint, KC_FIELD_DUPLICATE,
                kc__internal_form_json("io.k8s.api.core.v1.Taint", value, &taint.errors->arena),
                "taints must be unique by key and effect pair");
    }
}

/* At most one CIDR per IP family. */
static void check_networks(const kc__location *spec)
{
    kc__location list = kc__location_member(spec, "podCIDRs");
    kc__cidr networks[2];
    size_t i = 0, valid = 0;
    kc_value_each_item (list.value, value) {
        kc__location item = kc__location_item(&list, value, i++);
        kc__validate_cidr(&item);
        if (valid < 2 && kc__cidr_parse(kc__location_text(&item), &networks[valid]))
            valid++;
    }
    if (i > 2 || (i == 2 && valid == 2 && networks[0].six == networks[1].six))
        kc__location_error(&list, KC_FIELD_INVALID,
                           "may specify no more than one CIDR for each IP family");
}

/* Kubernetes reports the resources of a Node as members, not as map entries. */
static void check_amounts(const kc__location *status)
{
    static const char *const lists[] = {"capacity", "allocatable"};
    for (size_t l = 0; l < KC_COUNT(lists); l++) {
        kc__location list = kc__location_member(status, lists[l]);
        kc_value_each_member (list.value, name, value) {
            kc__location entry = kc__location_entry(&list, name, value);
            entry.name = name.p; /* NUL-terminated, like all strings of a view. */
            kc__validate_quantity_at_least_0(&entry);
        }
    }
}

static void validate_node(const kc_value *object, kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc__location status = kc__location_member(&root, "status");
    check_taints(&root);
    check_amounts(&status);
    check_networks(&spec);
}

static void validate_node_status(const kc_value *object, const kc_value *old,
                                 kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 status = kc__location_member(&root, "status");
    kc__location list = kc__location_member(&status, "addresses");
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    (void)old;
    check_amounts(&status);
    kc_value_each_item (list.value, value) {
        kc__location item = kc__location_item(&list, value, i++);
        const char *pair = kc_arena_printf(&errors->arena, "%.*s\n%.*s",
                                           KC_ARG(kc__location_member_text(&item, "type")),
                                           KC_ARG(kc__location_member_text(&item, "address")));
        if (kc_map_put(&seen, kc_cstr(pair), &seen))
            kc__location_error_json(
                &item, KC_FIELD_DUPLICATE,
                kc__internal_form_json("io.k8s.api.core.v1.NodeAddress", value, &errors->arena),
                NULL);
    }
}

static void validate_node_update(const kc_value *object, const kc_value *old,
                                 kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc__location provider = kc__location_member(&spec, "providerID");
    const kc_value *before = kc_value_get(kc_value_get(old, "spec"), "providerID");
    validate_node(object, errors);
    if (before && !kc_str_eq(kc__location_text(&provider), kc_value_as_str(before)))
        kc__location_error(&provider, KC_FIELD_FORBIDDEN,
                           "node updates may not change providerID except from \"\" to valid");
    kc__location external = kc__location_member(&spec, "externalID");
    if (!kc_str_eq(kc__location_text(&external),
                   kc_value_as_str(kc_value_get(kc_value_get(old, "spec"), "externalID"))))
        kc__location_error(&external, KC_FIELD_FORBIDDEN, "may not be updated");
}

static const kc_field_def selectable[] = {{.field = "spec.unschedulable", .otherwise = "false"}};

const kc__strategy kc__strategy_node = {
    .keeps_status = true,
    .selectable = selectable,
    .n_selectable = KC_COUNT(selectable),
    .defaults = &defaults,
    .validate = validate_node,
    .validate_update = validate_node_update,
    .validate_status = validate_node_status,
};
