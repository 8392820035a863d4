/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_strategy.c: the strategy of Pods. A new Pod is Pending and has its QoS class; most of its
 * spec is immutable. A Pod on a node is deleted gracefully: the node agent stops it and then
 * deletes it with grace period 0. A Pod that is not scheduled, or is finished, is deleted at once.
 */
#include "apiserver/kinds/core/pod_rules.h"
#include "apiserver/kinds/core/pod_subresources.h"
#include "apiserver/kinds/core/profile_annotations.h"
#include "apiserver/kinds/core/qos.h"
#include "apiserver/kinds/internal_form.h"
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/warnings.h"
#include "kc/diff.h"
#include "object/model/node_fields.h"

/* ---- defaults ---- */

/* A resource with a limit but no request requests the limit. `of` is a container or the spec. */
static void request_limits(kc_edit *edit, kc_node *of)
{
    kc_node *resources = kc_node_get(of, KC_STR("resources"));
    kc_node *limits = kc_node_get(resources, KC_STR("limits"));
    if (!kc_node_len(limits))
        return;
    kc_scoped(kc__node_fields) requests =
        kc__node_fields_of(edit, kc_node_ensure_object(edit, resources, KC_STR("requests")));
    kc_node_each_member (limits, name, value)
        if (!kc__node_fields_get(&requests, name))
            kc__node_fields_set(&requests, name, kc_node_clone(edit, value));
}

/* With hostNetwork, the host port defaults to the container port. */
static void share_ports(kc_edit *edit, kc_node *container)
{
    kc_node_each_item (kc_node_get(container, KC_STR("ports")), port) {
        int64_t own = 0;
        kc_node_as_i64(kc_node_get(port, KC_STR("containerPort")), &own);
        if (own && kc__defaults_node_absent(port, "hostPort"))
            kc_node_set(edit, port, KC_STR("hostPort"), kc_node_i64(edit, own));
    }
}

static void complete_pod(kc_edit *edit, kc_node *pod)
{
    static const char *const lists[] = {"containers", "initContainers"};
    kc_node *spec = kc_node_get(pod, KC_STR("spec"));
    bool shared = kc_node_as_bool(kc_node_get(spec, KC_STR("hostNetwork")), false);
    for (size_t i = 0; i < KC_COUNT(lists); i++) {
        kc_node_each_item (kc_node_get(spec, kc_cstr(lists[i])), container) {
            request_limits(edit, container);
            if (shared)
                share_ports(edit, container);
        }
    }
    if (!spec)
        return;
    request_limits(edit, spec);
    kc__defaults_set(edit, spec, "enableServiceLinks", "true");
}

/* Aligns podIP and podIPs: podIP is the first entry of the list. */
static void align_addresses(kc_edit *edit, kc_node *status)
{
    kc_node *list = kc_node_get(status, KC_STR("podIPs"));
    kc_str one = kc__defaults_node_text(status, "podIP"), first = {0};
    kc_node_each_item (list, item)
        first = first.p ? first : kc__defaults_node_text(item, "ip");
    if (first.n && !one.n)
        kc_node_set(edit, status, KC_STR("podIP"), kc_node_str(edit, first));
    if (!one.n || kc_str_eq(one, first))
        return;
    kc_node *item = kc_node_object(edit);
    list = kc_node_array(edit);
    kc_node_set(edit, item, KC_STR("ip"), kc_node_str(edit, one));
    kc_node_append(list, item);
    kc_node_set(edit, status, KC_STR("podIPs"), list);
}
static const kc__defaults status_defaults = {.code = align_addresses};

static const kc__defaults_entry pod[] = {
    {.field = "spec", .of = &kc__defaults_pod_spec},
    {.field = "status", .of = &status_defaults},
};
static const kc__defaults defaults = {.list = pod, .n = KC_COUNT(pod), .code = complete_pod};

/* ---- fields that the server controls ---- */

/* A negative grace period becomes 1 second. */
static void end_soon(kc_edit *edit, kc_node *spec)
{
    int64_t seconds = 0;
    kc_node *grace = kc_node_get(spec, KC_STR("terminationGracePeriodSeconds"));
    if (kc_node_as_i64(grace, &seconds) && seconds < 0)
        kc_node_set(edit, spec, KC_STR("terminationGracePeriodSeconds"), kc_node_i64(edit, 1));
}

/* As in Kubernetes, the only part of a sent status that counts is the QoS class. */
static void prepare_pod(kc_edit *edit)
{
    kc_node *root = kc_edit_root(edit);
    const kc_str sent = kc__defaults_node_text(kc_node_get(root, KC_STR("status")), "qosClass");
    const kc_str class = sent.n ? sent : kc_cstr(kc__qos_class(kc_node_get(root, KC_STR("spec"))));
    kc_node *status = kc_node_object(edit);
    end_soon(edit, kc_node_get(root, KC_STR("spec")));
    kc_node_set(edit, status, KC_STR("phase"), kc_node_str(edit, KC_STR("Pending")));
    kc_node_set(edit, status, KC_STR("qosClass"), kc_node_str(edit, class));
    kc_node_set(edit, root, KC_STR("status"), status);
}

/* The QoS class does not change. */
static void prepare_pod_update(kc_edit *edit, const kc_value *old, const char *subresource)
{
    const kc_value *class = kc_value_get(kc_value_get(old, "status"), "qosClass");
    if (subresource)
        kc__strategy_prepare_pod_subresource(edit, old, subresource);
    kc_node *status = kc_node_get(kc_edit_root(edit), KC_STR("status"));
    if (subresource && class && kc__defaults_node_absent(status, "qosClass"))
        kc_node_set(edit, status, KC_STR("qosClass"), kc_node_from_value(edit, class));
}

/* ---- checks ---- */

static void check_image(const kc__location *image)
{
    if (kc_str_trim(kc__location_text(image)).n != kc__location_text(image).n)
        kc__location_error(image, KC_FIELD_INVALID, "must not have leading or trailing whitespace");
}

static const kc__validate_rule container_[] = {{"image", .code = check_image}};
static const kc__validate_rule_table container_rules = KC__VALIDATE_RULES(container_);
static const kc__validate_rule only_pods_[] = {
    {"containers", .of = &container_rules},
    {"initContainers", .of = &container_rules},
};
static const kc__validate_rule_table only_pods = KC__VALIDATE_RULES(only_pods_);

/* A service account token needs a service account. */
static void check_tokens(const kc__location *volume)
{
    kc__location projected = kc__location_member(volume, "projected");
    kc__location sources = kc__location_member(&projected, "sources");
    size_t i = 0;
    kc_value_each_item (sources.value, value) {
        kc__location source = kc__location_item(&sources, value, i++);
        kc__location token = kc__location_member(&source, "serviceAccountToken");
        if (token.value)
            kc__location_error(&token, KC_FIELD_FORBIDDEN,
                               "must not be specified when serviceAccountName is not set");
    }
}

static const kc__validate_rule volume_[] = {{.code = check_tokens}};
static const kc__validate_rule_table volume_rules = KC__VALIDATE_RULES(volume_);
static const kc__validate_rule without_account_[] = {{"volumes", .of = &volume_rules}};
static const kc__validate_rule_table without_account = KC__VALIDATE_RULES(without_account_);

static void check_pod(const kc__location *spec)
{
    kc__validate_pod_spec(spec);
    if (kc_str_empty(kc__location_member_text(spec, "serviceAccountName")))
        kc__validate_by_rules(&without_account, spec);
    kc__validate_by_rules(&only_pods, spec);
}

static void validate_pod(const kc_value *object, kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc__location ephemeral = kc__location_member(&spec, "ephemeralContainers");
    kc__location node = kc__location_member(&spec, "nodeName");
    kc__validate_pod_annotations(&root);
    check_pod(&spec);
    if (kc__location_is_set(&ephemeral))
        kc__location_error(&ephemeral, KC_FIELD_FORBIDDEN, "cannot be set on create");
    if (kc__location_is_set(&node) && kc_value_len(kc_value_get(spec.value, "schedulingGates")))
        kc__location_error(&node, KC_FIELD_FORBIDDEN,
                           "cannot be set until all schedulingGates have been cleared");
    const kc__location metadata = kc__location_member(&root, "metadata"),
                       annotations = kc__location_member(&metadata, "annotations");
    kc__validate_profile_fields(&annotations, &spec);
}

/* ---- updates ---- */

static bool same_number_of_containers(const kc__location *spec, const kc_value *old,
                                      const char *name)
{
    kc__location containers = kc__location_member(spec, name);
    if (kc_value_len(containers.value) == kc_value_len(kc_value_get(old, name)))
        return true;
    kc__location_error(&containers, KC_FIELD_FORBIDDEN,
                       "pod updates may not add or remove containers");
    return false;
}

static const kc__validate_rule changed_container_[] = {
    {"image", .required = "", .code = check_image}};
static const kc__validate_rule_table changed_container = KC__VALIDATE_RULES(changed_container_);

static bool check_containers(const kc__location *spec, const kc_value *old, const char *name)
{
    kc__location containers = kc__location_member(spec, name);
    if (!same_number_of_containers(spec, old, name))
        return false;
    kc__validate_items_by_rules(&changed_container, &containers);
    return true;
}

/* Scheduling gates can only be removed. */
static void check_gates(const kc__location *spec, const kc_value *old)
{
    kc__location gates = kc__location_member(spec, "schedulingGates");
    kc_scoped(kc_map) before = {0};
    size_t i = 0;
    kc_value_each_item (kc_value_get(old, "schedulingGates"), gate)
        kc_map_put(&before, kc_value_as_str(kc_value_get(gate, "name")), (void *)gate);
    kc_value_each_item (gates.value, value) {
        kc__location gate = kc__location_item(&gates, value, i++),
                     name = kc__location_member(&gate, "name");
        if (!kc_map_get(&before, kc__location_text(&name)))
            kc__location_error(&name, KC_FIELD_FORBIDDEN,
                               "only deletion is allowed, but found new scheduling gate '%.*s'",
                               KC_ARG(kc__location_text(&name)));
    }
}

static bool check_deadline(const kc__location *spec, const kc_value *old)
{
    kc__location deadline = kc__location_member(spec, "activeDeadlineSeconds");
    int64_t before;
    bool had = kc_value_as_i64(kc_value_get(old, "activeDeadlineSeconds"), &before);
    if (!deadline.value) {
        if (had)
            kc__location_error_json(&deadline, KC_FIELD_INVALID, "null",
                                    "must not update from a positive integer to nil value");
        return true;
    }
    if (!had || kc__location_number(&deadline) <= before)
        return true;
    kc__location_error(&deadline, KC_FIELD_INVALID, "must be less than or equal to previous value");
    return false;
}

/* Returns a toleration without its tolerationSeconds, as text. */
static kc_str toleration_key(const kc_value *toleration, kc_arena *arena)
{
    return kc_cstr(kc_arena_printf(arena, "%s\n%s\n%s\n%s",
                                   kc_value_as_cstr(kc_value_get(toleration, "key"), ""),
                                   kc_value_as_cstr(kc_value_get(toleration, "operator"), ""),
                                   kc_value_as_cstr(kc_value_get(toleration, "value"), ""),
                                   kc_value_as_cstr(kc_value_get(toleration, "effect"), "")));
}

static void check_only_added_tolerations(const kc__location *spec, const kc_value *old)
{
    kc__location tolerations = kc__location_member(spec, "tolerations");
    kc_scoped(kc_map) now = {0};
    kc_arena *arena = &spec->errors->arena;
    kc_value_each_item (tolerations.value, item)
        kc_map_put(&now, toleration_key(item, arena), (void *)item);
    kc_value_each_item (kc_value_get(old, "tolerations"), item) {
        if (kc_map_get(&now, toleration_key(item, arena)))
            continue;
        kc__location_error(&tolerations, KC_FIELD_FORBIDDEN,
                           "existing toleration can not be modified except its tolerationSeconds");
        return;
    }
    kc__validate_tolerations(&tolerations);
}

/* Takes a mutable field from the old spec, for the comparison of the rest. */
static void take_pod_field(kc_edit *edit, const kc_value *old, const char *name)
{
    kc_node *root = kc_edit_root(edit);
    if (kc_value_get(old, name))
        kc_node_set(edit, root, kc_cstr(name), kc_node_from_value(edit, kc_value_get(old, name)));
    else
        kc_node_remove(root, kc_cstr(name));
}

static void take_images(kc_edit *edit, const kc_value *old, const char *name)
{
    kc_value_iter at = kc__value_iter(kc_value_get(old, name), KC_JSON_ARRAY);
    kc_node_each_item (kc_node_get(kc_edit_root(edit), kc_cstr(name)), container) {
        const kc_value *image = kc_value_get(kc__value_iter_item(&at), "image");
        if (image)
            kc_node_set(edit, container, KC_STR("image"), kc_node_from_value(edit, image));
    }
}

static void check_rest_unchanged(const kc__location *spec, const kc_value *old)
{
    kc_auto(kc_edit) *edit = kc_edit_of_value(spec->value);
    take_pod_field(edit, old, "activeDeadlineSeconds");
    take_pod_field(edit, old, "schedulingGates");
    take_pod_field(edit, old, "tolerations");
    take_images(edit, old, "containers");
    take_images(edit, old, "initContainers");
    if (kc_value_as_i64_or(kc_value_get(old, "terminationGracePeriodSeconds"), 0) < 0 &&
        kc_value_as_i64_or(kc_value_get(spec->value, "terminationGracePeriodSeconds"), 0) == 1)
        take_pod_field(edit, old, "terminationGracePeriodSeconds");
    kc_auto(kc_view) *view = kc_edit_view(edit, NULL);
    if (!kc_value_equal(kc_view_root(view), old, NULL))
        kc__location_error(
            spec, KC_FIELD_FORBIDDEN,
            "pod updates may not change fields other than `spec.containers[*].image`,"
            "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
            "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` "
            "(allow it to be set to 1 if it was previously negative)\n%s",
            kc__internal_form_diff("io.k8s.api.core.v1.PodSpec", old, kc_view_root(view),
                                   &spec->errors->arena));
}

static void validate_pod_update(const kc_value *object, const kc_value *old_object,
                                kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    const kc_value *old = kc_value_get(old_object, "spec");
    const kc__location metadata = kc__location_member(&root, "metadata"),
                       annotations = kc__location_member(&metadata, "annotations");
    kc__validate_pod_annotations(&root);
    check_pod(&spec);
    kc__validate_profile_changes(&annotations, kc_value_nested(old_object, "metadata.annotations"));
    kc__validate_pod_annotations(&root); /* Kubernetes reports these errors twice. */
    if (!check_containers(&spec, old, "containers") ||
        !check_containers(&spec, old, "initContainers") || !check_deadline(&spec, old))
        return;
    check_only_added_tolerations(&spec, old);
    check_gates(&spec, old);
    check_rest_unchanged(&spec, old);
}

static void validate_pod_status(const kc_value *object, const kc_value *old,
                                kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 status = kc__location_member(&root, "status");
    (void)old;
    kc__validate_pod_status(&status);
}

/* ---- deletion ---- */

static int64_t grace(const kc_value *object, const int64_t *requested)
{
    const kc_value *spec = kc_value_get(object, "spec"), *status = kc_value_get(object, "status");
    kc_str phase = kc_value_as_str(kc_value_get(status, "phase"));
    int64_t seconds =
        requested ? *requested
                  : kc_value_as_i64_or(kc_value_get(spec, "terminationGracePeriodSeconds"), 0);
    if (kc_str_empty(kc_value_as_str(kc_value_get(spec, "nodeName"))) ||
        kc_str_is(phase, "Failed") || kc_str_is(phase, "Succeeded"))
        return 0;
    return seconds < 0 ? 1 : seconds;
}

static const kc_field_def selectable[] = {
    {.field = "spec.nodeName"},
    {.field = "spec.restartPolicy"},
    {.field = "spec.schedulerName"},
    {.field = "spec.serviceAccountName"},
    {.field = "spec.hostNetwork", .otherwise = "false"},
    {.field = "status.phase"},
    {.field = "status.podIP"},
    {.field = "status.podIPs", .path = "status.podIPs[0].ip"},
    {.field = "status.nominatedNodeName"},
};

const kc__strategy kc__strategy_pod = {
    .generation = true,
    .keeps_status = true, /* prepare_pod replaces it. */
    .shows_deleted = true,
    .selectable = selectable,
    .n_selectable = KC_COUNT(selectable),
    .defaults = &defaults,
    .prepare = prepare_pod,
    .prepare_update = prepare_pod_update,
    .validate = validate_pod,
    .validate_update = validate_pod_update,
    .validate_part = kc__validate_pod_subresource,
    .validate_status = validate_pod_status,
    .grace = grace,
    .warn = kc__warnings_pod,
    .warns_new_only = true,
    .warns_of_name = "the Pod's hostname",
};

/* ---- PodTemplate ---- */

static const kc__defaults_entry pod_template[] = {
    {.field = "template", .of = &kc__defaults_pod_template}};
static const kc__defaults template_defaults = KC__DEFAULTS(pod_template);

static void validate_template(const kc_value *object, kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 template = kc__location_member(&root, "template");
    kc__validate_pod_template(&template);
}

static void validate_template_update(const kc_value *object, const kc_value *old,
                                     kc_field_errors *errors)
{
    (void)old;
    validate_template(object, errors);
}

const kc__strategy kc__strategy_pod_template = {
    .shows_deleted = true,
    .generation = true,
    .defaults = &template_defaults,
    .validate = validate_template,
    .validate_update = validate_template_update,
    .warn = kc__warnings_bare_template,
    .warns_if_changed = "metadata.generation",
};
