/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_pod.c: Pods. A new one is Pending and has its class of service; of its spec little can
 * be changed afterwards. One that runs on a node is deleted gracefully: the node's agent ends it
 * and then deletes it for good. One that is not scheduled, or is done, goes at once.
 */
#include "apiserver/kinds/inner.h"
#include "apiserver/kinds/pod_parts.h"
#include "apiserver/kinds/pod_rules.h"
#include "apiserver/kinds/qos.h"
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/warnings.h"
#include "kc/diff.h"

/* ---- defaults ---- */

/* Who limits a resource and does not say what it requests, requests that much. A container, or the
 * spec. */
static void request_limits(kc_edit *edit, kc_node *of)
{
    kc_node *resources = kc_node_get(of, KC_STR("resources"));
    kc_node *limits = kc_node_get(resources, KC_STR("limits"));
    if (!kc_node_len(limits))
        return;
    kc_node *requests = kc_node_need_object(edit, resources, KC_STR("requests"));
    kc_node_members (limits, name, value)
        if (!kc_node_get(requests, name))
            kc_node_set(edit, requests, name, kc_node_clone(edit, value));
}

/* With the network of the host, a port of the container is one of the host. */
static void share_ports(kc_edit *edit, kc_node *container)
{
    kc_node_items (kc_node_get(container, KC_STR("ports")), port) {
        int64_t own = 0;
        kc_node_as_i64(kc_node_get(port, KC_STR("containerPort")), &own);
        if (own && kc__node_absent(port, "hostPort"))
            kc_node_set(edit, port, KC_STR("hostPort"), kc_node_i64(edit, own));
    }
}

static void complete(kc_edit *edit, kc_node *pod)
{
    static const char *const lists[] = {"containers", "initContainers"};
    kc_node *spec = kc_node_get(pod, KC_STR("spec"));
    bool shared = kc_node_as_bool(kc_node_get(spec, KC_STR("hostNetwork")), false);
    for (size_t i = 0; i < KC_COUNT(lists); i++) {
        kc_node_items (kc_node_get(spec, kc_cstr(lists[i])), container) {
            request_limits(edit, container);
            if (shared)
                share_ports(edit, container);
        }
    }
    if (!spec)
        return;
    request_limits(edit, spec);
    kc__default_set(edit, spec, "enableServiceLinks", "true");
}

/* One address, or a list of them: the first is the one. */
static void align_addresses(kc_edit *edit, kc_node *status)
{
    kc_node *list = kc_node_get(status, KC_STR("podIPs"));
    kc_str one = kc__node_text(status, "podIP"), first = {0};
    kc_node_items (list, item)
        first = first.p ? first : kc__node_text(item, "ip");
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

static const kc__default pod[] = {
    {.field = "spec", .of = &kc__pod_spec_defaults},
    {.field = "status", .of = &status_defaults},
};
static const kc__defaults defaults = {.list = pod, .n = KC_COUNT(pod), .code = complete};

/* ---- what the server decides ---- */

/* Less than no time is the shortest there is. */
static void end_soon(kc_edit *edit, kc_node *spec)
{
    int64_t seconds = 0;
    kc_node *grace = kc_node_get(spec, KC_STR("terminationGracePeriodSeconds"));
    if (kc_node_as_i64(grace, &seconds) && seconds < 0)
        kc_node_set(edit, spec, KC_STR("terminationGracePeriodSeconds"), kc_node_i64(edit, 1));
}

static void prepare(kc_edit *edit)
{
    kc_node *root = kc_edit_root(edit);
    const char *class = kc__qos_class(kc_node_get(root, KC_STR("spec")));
    kc_node *status = kc_node_object(edit);
    end_soon(edit, kc_node_get(root, KC_STR("spec")));
    kc_node_set(edit, status, KC_STR("phase"), kc_node_str(edit, KC_STR("Pending")));
    kc_node_set(edit, status, KC_STR("qosClass"), kc_node_str(edit, kc_cstr(class)));
    kc_node_set(edit, root, KC_STR("status"), status);
}

/* The class is for life. */
static void prepare_update(kc_edit *edit, const kc_value *old, const char *subresource)
{
    const kc_value *class = kc_get(kc_get(old, "status"), "qosClass");
    if (subresource)
        kc__pod_part_prepare(edit, old, subresource);
    kc_node *status = kc_node_get(kc_edit_root(edit), KC_STR("status"));
    if (subresource && class && kc__node_absent(status, "qosClass"))
        kc_node_set(edit, status, KC_STR("qosClass"), kc_node_copy(edit, class));
}

/* ---- checks ---- */

static void check_image(const kc__place *image)
{
    if (kc_str_trim(kc__text(image)).n != kc__text(image).n)
        kc__wrong(image, KC_FIELD_INVALID, "must not have leading or trailing whitespace");
}

static const kc__rule container_[] = {{"image", .code = check_image}};
static const kc__rules container_rules = KC__RULES(container_);
static const kc__rule only_pods_[] = {
    {"containers", .of = &container_rules},
    {"initContainers", .of = &container_rules},
};
static const kc__rules only_pods = KC__RULES(only_pods_);

/* A token is some service account's. */
static void check_tokens(const kc__place *volume)
{
    kc__place projected = kc__member(volume, "projected");
    kc__place sources = kc__member(&projected, "sources");
    size_t i = 0;
    kc_items (sources.value, value) {
        kc__place source = kc__item(&sources, value, i++);
        kc__place token = kc__member(&source, "serviceAccountToken");
        if (token.value)
            kc__wrong(&token, KC_FIELD_FORBIDDEN,
                      "must not be specified when serviceAccountName is not set");
    }
}

static const kc__rule volume_[] = {{.code = check_tokens}};
static const kc__rules volume_rules = KC__RULES(volume_);
static const kc__rule without_account_[] = {{"volumes", .of = &volume_rules}};
static const kc__rules without_account = KC__RULES(without_account_);

static void check(const kc__place *spec)
{
    kc__check_pod_spec(spec);
    if (kc_str_empty(kc__text_in(spec, "serviceAccountName")))
        kc__rules_check(&without_account, spec);
    kc__rules_check(&only_pods, spec);
}

static void validate(const kc_value *object, kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    kc__place ephemeral = kc__member(&spec, "ephemeralContainers");
    kc__place node = kc__member(&spec, "nodeName");
    kc__check_pod_annotations(&root);
    check(&spec);
    if (kc__there(&ephemeral))
        kc__wrong(&ephemeral, KC_FIELD_FORBIDDEN, "cannot be set on create");
    if (kc__there(&node) && kc_len(kc_get(spec.value, "schedulingGates")))
        kc__wrong(&node, KC_FIELD_FORBIDDEN,
                  "cannot be set until all schedulingGates have been cleared");
}

/* ---- what may change ---- */

static bool same_number_of_containers(const kc__place *spec, const kc_value *old, const char *name)
{
    kc__place containers = kc__member(spec, name);
    if (kc_len(containers.value) == kc_len(kc_get(old, name)))
        return true;
    kc__wrong(&containers, KC_FIELD_FORBIDDEN, "pod updates may not add or remove containers");
    return false;
}

static const kc__rule changed_container_[] = {{"image", .required = "", .code = check_image}};
static const kc__rules changed_container = KC__RULES(changed_container_);

static bool check_containers(const kc__place *spec, const kc_value *old, const char *name)
{
    kc__place containers = kc__member(spec, name);
    if (!same_number_of_containers(spec, old, name))
        return false;
    kc__rules_check_below(&changed_container, &containers);
    return true;
}

/* Gates only go. */
static void check_gates(const kc__place *spec, const kc_value *old)
{
    kc__place gates = kc__member(spec, "schedulingGates");
    kc_scoped(kc_map) before = {0};
    size_t i = 0;
    kc_items (kc_get(old, "schedulingGates"), gate)
        kc_map_put(&before, kc_as_str(kc_get(gate, "name")), (void *)gate);
    kc_items (gates.value, value) {
        kc__place gate = kc__item(&gates, value, i++), name = kc__member(&gate, "name");
        if (!kc_map_get(&before, kc__text(&name)))
            kc__wrong(&name, KC_FIELD_FORBIDDEN,
                      "only deletion is allowed, but found new scheduling gate '%.*s'",
                      KC_ARG(kc__text(&name)));
    }
}

static bool check_deadline(const kc__place *spec, const kc_value *old)
{
    kc__place deadline = kc__member(spec, "activeDeadlineSeconds");
    int64_t before;
    bool had = kc_as_i64(kc_get(old, "activeDeadlineSeconds"), &before);
    if (!deadline.value) {
        if (had)
            kc__wrong_as(&deadline, KC_FIELD_INVALID, "null",
                         "must not update from a positive integer to nil value");
        return true;
    }
    if (!had || kc__number(&deadline) <= before)
        return true;
    kc__wrong(&deadline, KC_FIELD_INVALID, "must be less than or equal to previous value");
    return false;
}

/* A toleration without its seconds, as text. */
static kc_str toleration_key(const kc_value *toleration, kc_arena *arena)
{
    return kc_cstr(kc_arena_printf(
        arena, "%s\n%s\n%s\n%s", kc_as_cstr(kc_get(toleration, "key"), ""),
        kc_as_cstr(kc_get(toleration, "operator"), ""), kc_as_cstr(kc_get(toleration, "value"), ""),
        kc_as_cstr(kc_get(toleration, "effect"), "")));
}

static void check_only_added_tolerations(const kc__place *spec, const kc_value *old)
{
    kc__place tolerations = kc__member(spec, "tolerations");
    kc_scoped(kc_map) now = {0};
    kc_arena *arena = &spec->errors->arena;
    kc_items (tolerations.value, item)
        kc_map_put(&now, toleration_key(item, arena), (void *)item);
    kc_items (kc_get(old, "tolerations"), item) {
        if (kc_map_get(&now, toleration_key(item, arena)))
            continue;
        kc__wrong(&tolerations, KC_FIELD_FORBIDDEN,
                  "existing toleration can not be modified except its tolerationSeconds");
        return;
    }
    kc__check_tolerations(&tolerations);
}

/* The new spec with what may differ taken from the old one. */
static void take(kc_edit *edit, const kc_value *old, const char *name)
{
    kc_node *root = kc_edit_root(edit);
    if (kc_get(old, name))
        kc_node_set(edit, root, kc_cstr(name), kc_node_copy(edit, kc_get(old, name)));
    else
        kc_node_remove(root, kc_cstr(name));
}

static void take_images(kc_edit *edit, const kc_value *old, const char *name)
{
    kc_iter at = kc__iter(kc_get(old, name), KC_ARRAY);
    kc_node_items (kc_node_get(kc_edit_root(edit), kc_cstr(name)), container) {
        const kc_value *image = kc_get(kc__iter_item(&at), "image");
        if (image)
            kc_node_set(edit, container, KC_STR("image"), kc_node_copy(edit, image));
    }
}

static void check_rest_unchanged(const kc__place *spec, const kc_value *old)
{
    kc_auto(kc_edit) *edit = kc_edit_of_value(spec->value);
    take(edit, old, "activeDeadlineSeconds");
    take(edit, old, "schedulingGates");
    take(edit, old, "tolerations");
    take_images(edit, old, "containers");
    take_images(edit, old, "initContainers");
    if (kc_as_i64_or(kc_get(old, "terminationGracePeriodSeconds"), 0) < 0 &&
        kc_as_i64_or(kc_get(spec->value, "terminationGracePeriodSeconds"), 0) == 1)
        take(edit, old, "terminationGracePeriodSeconds");
    kc_auto(kc_view) *view = kc_edit_view(edit, NULL);
    if (!kc_value_equal(kc_view_root(view), old, NULL))
        kc__wrong(spec, KC_FIELD_FORBIDDEN,
                  "pod updates may not change fields other than `spec.containers[*].image`,"
                  "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
                  "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` "
                  "(allow it to be set to 1 if it was previously negative)\n%s",
                  kc__inner_diff("io.k8s.api.core.v1.PodSpec", old, kc_view_root(view),
                                 &spec->errors->arena));
}

static void validate_update(const kc_value *object, const kc_value *old_object,
                            kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    const kc_value *old = kc_get(old_object, "spec");
    kc__check_pod_annotations(&root);
    check(&spec);
    if (!check_containers(&spec, old, "containers") ||
        !check_containers(&spec, old, "initContainers") || !check_deadline(&spec, old))
        return;
    check_only_added_tolerations(&spec, old);
    check_gates(&spec, old);
    check_rest_unchanged(&spec, old);
}

static void validate_status(const kc_value *object, const kc_value *old, kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), status = kc__member(&root, "status");
    (void)old;
    kc__check_pod_status(&status);
}

/* ---- deletion ---- */

static int64_t grace(const kc_value *object, const int64_t *asked)
{
    const kc_value *spec = kc_get(object, "spec"), *status = kc_get(object, "status");
    kc_str phase = kc_as_str(kc_get(status, "phase"));
    int64_t seconds =
        asked ? *asked : kc_as_i64_or(kc_get(spec, "terminationGracePeriodSeconds"), 0);
    if (kc_str_empty(kc_as_str(kc_get(spec, "nodeName"))) || kc_str_is(phase, "Failed") ||
        kc_str_is(phase, "Succeeded"))
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
    .shows_deleted = true,
    .selectable = selectable,
    .n_selectable = KC_COUNT(selectable),
    .defaults = &defaults,
    .prepare = prepare,
    .prepare_update = prepare_update,
    .validate = validate,
    .validate_update = validate_update,
    .validate_part = kc__pod_part_check,
    .validate_status = validate_status,
    .grace = grace,
    .warn = kc__pod_warnings,
};

/* ---- PodTemplate ---- */

static const kc__default pod_template[] = {{.field = "template", .of = &kc__pod_template_defaults}};
static const kc__defaults template_defaults = KC__DEFAULTS(pod_template);

static void validate_template(const kc_value *object, kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), template = kc__member(&root, "template");
    kc__check_pod_template(&template);
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
};
