/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_node.c: Nodes. They register themselves, and bring their status along.
 */
#include "apiserver/kinds/address_rules.h"
#include "apiserver/kinds/inner.h"
#include "apiserver/kinds/strategy.h"

/* What may be given to pods is all there is, unless the node says otherwise. */
static void complete_status(kc_edit *edit, kc_node *status)
{
    kc_node *capacity = kc_node_get(status, KC_STR("capacity"));
    if (kc_node_len(capacity) && kc__node_absent(status, "allocatable"))
        kc_node_set(edit, status, KC_STR("allocatable"), kc_node_clone(edit, capacity));
}

static const kc__defaults status_defaults = {.code = complete_status};

/* One network, or a list of them: the first is the one. */
static void align_networks(kc_edit *edit, kc_node *spec)
{
    kc_node *list = kc_node_get(spec, KC_STR("podCIDRs"));
    kc_str one = kc__node_text(spec, "podCIDR"), first = {0};
    kc_node_items (list, item)
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

static const kc__default node_[] = {
    {.field = "spec", .of = &spec_defaults},
    {.field = "status", .of = &status_defaults},
};
static const kc__defaults defaults = KC__DEFAULTS(node_);

/* A new one takes no pods until somebody found it ready. */
static void prepare(kc_edit *edit)
{
    static const char key[] = "node.kubernetes.io/not-ready";
    kc_node *spec = kc_node_need_object(edit, kc_edit_root(edit), KC_STR("spec"));
    kc_node *taints = kc_node_get(spec, KC_STR("taints")), *taint = kc_node_object(edit);
    if (!taints) {
        taints = kc_node_array(edit);
        kc_node_set(edit, spec, KC_STR("taints"), taints);
    }
    kc_node_items (taints, item)
        if (kc_str_is(kc__node_text(item, "key"), key) &&
            kc_str_is(kc__node_text(item, "effect"), "NoSchedule"))
            return;
    kc_node_set(edit, taint, KC_STR("key"), kc_node_str(edit, kc_cstr(key)));
    kc_node_set(edit, taint, KC_STR("effect"), kc_node_str(edit, KC_STR("NoSchedule")));
    kc_node_append(taints, taint);
}

/* Kubernetes tells of taints under metadata. */
static void check_taints(const kc__place *root)
{
    static const char *const known[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", NULL};
    kc__place metadata = kc__member(root, "metadata"), taints = kc__member(&metadata, "taints");
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    taints.value = kc_get(kc_get(root->value, "spec"), "taints");
    kc_items (taints.value, value) {
        kc__place taint = kc__item(&taints, value, i++), effect = kc__member(&taint, "effect");
        kc__place key = kc__member(&taint, "key"), text = kc__member(&taint, "value");
        kc__check_name(&key, KC_NAME_QUALIFIED);
        kc__check_name(&text, KC_NAME_LABEL_VALUE);
        if (kc__there(&effect))
            kc__check_one_of(&effect, known);
        else
            kc__wrong(&effect, KC_FIELD_REQUIRED, NULL);
        const char *pair = kc_arena_printf(&taint.errors->arena, "%.*s\n%.*s",
                                           KC_ARG(kc__text(&key)), KC_ARG(kc__text(&effect)));
        if (kc_map_put(&seen, kc_cstr(pair), &seen))
            kc__wrong_as(&taint, KC_FIELD_DUPLICATE,
                         kc__inner_json("io.k8s.api.core.v1.Taint", value, &taint.errors->arena),
                         "taints must be unique by key and effect pair");
    }
}

/* Of each family of addresses there is one. */
static void check_networks(const kc__place *spec)
{
    kc__place list = kc__member(spec, "podCIDRs");
    kc__network networks[2];
    size_t i = 0, valid = 0;
    kc_items (list.value, value) {
        kc__place item = kc__item(&list, value, i++);
        kc__check_cidr(&item);
        if (valid < 2 && kc__network_parse(kc__text(&item), &networks[valid]))
            valid++;
    }
    if (i > 2 || (i == 2 && valid == 2 && networks[0].six == networks[1].six))
        kc__wrong(&list, KC_FIELD_INVALID, "may specify no more than one CIDR for each IP family");
}

/* Kubernetes names resources of nodes by members. */
static void check_amounts(const kc__place *status)
{
    static const char *const lists[] = {"capacity", "allocatable"};
    for (size_t l = 0; l < KC_COUNT(lists); l++) {
        kc__place list = kc__member(status, lists[l]);
        kc_members (list.value, name, value) {
            kc__place entry =
                kc__member(&list, kc_arena_printf(&list.errors->arena, "%.*s", KC_ARG(name)));
            entry.value = value;
            kc__check_quantity_at_least_0(&entry);
        }
    }
}

static void validate(const kc_value *object, kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    kc__place status = kc__member(&root, "status");
    check_taints(&root);
    check_amounts(&status);
    check_networks(&spec);
}

static void validate_status(const kc_value *object, const kc_value *old, kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), status = kc__member(&root, "status");
    kc__place list = kc__member(&status, "addresses");
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    (void)old;
    check_amounts(&status);
    kc_items (list.value, value) {
        kc__place item = kc__item(&list, value, i++);
        const char *pair =
            kc_arena_printf(&errors->arena, "%.*s\n%.*s", KC_ARG(kc__text_in(&item, "type")),
                            KC_ARG(kc__text_in(&item, "address")));
        if (kc_map_put(&seen, kc_cstr(pair), &seen))
            kc__wrong_as(&item, KC_FIELD_DUPLICATE,
                         kc__inner_json("io.k8s.api.core.v1.NodeAddress", value, &errors->arena),
                         NULL);
    }
}

static void validate_update(const kc_value *object, const kc_value *old, kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    kc__place provider = kc__member(&spec, "providerID");
    const kc_value *before = kc_get(kc_get(old, "spec"), "providerID");
    validate(object, errors);
    if (before && !kc_str_eq(kc__text(&provider), kc_as_str(before)))
        kc__wrong(&provider, KC_FIELD_FORBIDDEN,
                  "node updates may not change providerID except from \"\" to valid");
    kc__place external = kc__member(&spec, "externalID");
    if (!kc_str_eq(kc__text(&external), kc_as_str(kc_get(kc_get(old, "spec"), "externalID"))))
        kc__wrong(&external, KC_FIELD_FORBIDDEN, "may not be updated");
}

static const kc_field_def selectable[] = {{.field = "spec.unschedulable", .otherwise = "false"}};

const kc__strategy kc__strategy_node = {
    .keeps_status = true,
    .selectable = selectable,
    .n_selectable = KC_COUNT(selectable),
    .defaults = &defaults,
    .prepare = prepare,
    .validate = validate,
    .validate_update = validate_update,
    .validate_status = validate_status,
};
