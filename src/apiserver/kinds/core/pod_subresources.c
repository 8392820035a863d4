/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_subresources.c: changes of a pod that its immutable spec allows only through a subresource:
 * `kubectl debug` adds an ephemeral container, which then cannot change; a resize changes the CPU
 * and memory of containers. All other changes in the request are silently dropped, except for
 * added, removed or renamed containers: validation rejects those.
 */
#include "apiserver/kinds/core/pod_subresources.h"

#include "apiserver/kinds/core/pod_rules.h"
#include "apiserver/kinds/core/qos.h"
#include "kc/diff.h"
#include "object/model/value_members.h"

static bool is_resize(const char *part)
{
    return !strcmp(part, "resize");
}

static bool is_ephemeral(const char *part)
{
    return !strcmp(part, "ephemeralcontainers");
}

/* ---- preparation ---- */

static void take_pod_member(kc_edit *edit, kc_node *to, const char *name, const kc_node *from)
{
    const kc_node *value = kc_node_get(from, kc_cstr(name));
    if (value)
        kc_node_set(edit, to, kc_cstr(name), kc_node_clone(edit, value));
    else
        kc_node_remove(to, kc_cstr(name));
}

/* Returns the old containers with the resources of the new ones; the new containers if the names
 * differ. */
static kc_node *resized(kc_edit *edit, const kc_node *given, const kc_value *old)
{
    kc_node *merged = kc_node_from_value(edit, old);
    kc_node_iter next = kc__node_iter(given, KC_JSON_ARRAY);
    kc_node_each_item (merged, container) {
        const kc_node *now = kc__node_iter_item(&next);
        if (!kc_str_eq(kc_node_as_str(kc_node_get(now, KC_STR("name"))),
                       kc_node_as_str(kc_node_get(container, KC_STR("name")))))
            return kc_node_clone(edit, given);
        take_pod_member(edit, container, "resources", now);
        take_pod_member(edit, container, "resizePolicy", now);
    }
    return merged;
}

static void set_or_remove(kc_edit *edit, kc_node *object, const char *name, kc_node *value)
{
    if (value)
        kc_node_set(edit, object, kc_cstr(name), value);
    else
        kc_node_remove(object, kc_cstr(name));
}

static void prepare_resize(kc_edit *edit, const kc_value *old)
{
    static const char *const lists[] = {"containers", "initContainers"};
    const kc_value *old_spec = kc_value_get(old, "spec");
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    kc_node *kept[KC_COUNT(lists)];
    for (size_t i = 0; i < KC_COUNT(lists); i++) {
        const kc_node *given = kc_node_get(spec, kc_cstr(lists[i]));
        if (kc_node_len(given) != kc_value_len(kc_value_get(old_spec, lists[i])))
            return;
        kept[i] = resized(edit, given, kc_value_get(old_spec, lists[i]));
    }
    kc_edit_set_root(edit, kc_node_from_value(edit, old));
    spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    for (size_t i = 0; i < KC_COUNT(lists); i++)
        set_or_remove(edit, spec, lists[i], kept[i]);
}

static void prepare_ephemeral(kc_edit *edit, const kc_value *old)
{
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    kc_node *kept = kc_node_clone(edit, kc_node_get(spec, KC_STR("ephemeralContainers")));
    kc_edit_set_root(edit, kc_node_from_value(edit, old));
    spec = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("spec"));
    set_or_remove(edit, spec, "ephemeralContainers", kept);
}

void kc__strategy_prepare_pod_subresource(kc_edit *edit, const kc_value *old, const char *part)
{
    if (is_resize(part))
        prepare_resize(edit, old);
    else if (is_ephemeral(part))
        prepare_ephemeral(edit, old);
}

/* ---- ephemeral containers ---- */

static void remember_names(kc_map *names, const kc_value *containers)
{
    kc_value_each_item (containers, container)
        kc_map_put(names, kc_value_as_str(kc_value_get(container, "name")), (void *)container);
}

/* An ephemeral container has no ports, no probes, no lifecycle handlers and no resources. */
static void check_purpose(const kc__location *container)
{
    static const char *const none[] = {"ports",          "resources",    "livenessProbe",
                                       "readinessProbe", "startupProbe", "lifecycle"};
    kc__location mounts = kc__location_member(container, "volumeMounts");
    size_t n = 0;
    for (size_t i = 0; i < KC_COUNT(none); i++) {
        kc__location member = kc__location_member(container, none[i]);
        if (kc__location_is_set(&member))
            kc__location_error(&member, KC_FIELD_FORBIDDEN,
                               "cannot be set for an Ephemeral Container");
    }
    kc_value_each_item (mounts.value, value) {
        kc__location mount = kc__location_item(&mounts, value, n++);
        kc__location path = kc__location_member(&mount, "subPath"),
                     expr = kc__location_member(&mount, "subPathExpr");
        if (kc__location_is_set(&path))
            kc__location_error(&path, KC_FIELD_FORBIDDEN,
                               "cannot be set for an Ephemeral Container");
        if (kc__location_is_set(&expr))
            kc__location_error(&expr, KC_FIELD_FORBIDDEN,
                               "cannot be set for an Ephemeral Container");
    }
}

/* Collects the pod's volumes, which were validated with the rest of the pod. */
static void find_volumes(const kc__location *spec, kc_map *ret)
{
    kc_scoped(kc_field_errors) unused = {0};
    kc__location root = kc__location_root(spec->value, &unused),
                 volumes = kc__location_member(&root, "volumes");
    kc__validate_volumes(&volumes, ret);
}

static void check_ephemeral_containers(const kc__location *spec)
{
    kc__location list = kc__location_member(spec, "ephemeralContainers");
    kc_scoped(kc_map) others = {0}, all = {0};
    kc__validate_pod_context pod = kc__validate_pod_context_of(spec);
    size_t i = 0;
    find_volumes(spec, &pod.volumes);
    remember_names(&others, kc_value_get(spec->value, "containers"));
    remember_names(&others, kc_value_get(spec->value, "initContainers"));
    remember_names(&all, kc_value_get(spec->value, "containers"));
    remember_names(&all, kc_value_get(spec->value, "initContainers"));
    kc_value_each_item (list.value, value) {
        kc__location container = kc__location_item(&list, value, i++);
        kc__location name = kc__location_member(&container, "name");
        kc__location target = kc__location_member(&container, "targetContainerName");
        kc__validate_container(&container, &pod);
        kc__validate_unique(&name, &all);
        if (kc__location_is_set(&target) && !kc_map_get(&others, kc__location_text(&target)))
            kc__location_error(&target, KC_FIELD_NOT_FOUND, NULL);
        check_purpose(&container);
    }
    kc_map_done(&pod.volumes);
}

/* Existing ephemeral containers must stay unchanged, in any order. */
static void check_kept(const kc__location *spec, const kc_value *old_spec)
{
    kc__location list = kc__location_member(spec, "ephemeralContainers");
    kc_scoped(kc_map) now = {0};
    remember_names(&now, list.value);
    kc_value_each_item (kc_value_get(old_spec, "ephemeralContainers"), old) {
        kc_str name = kc_value_as_str(kc_value_get(old, "name"));
        const kc_value *same = kc_map_get(&now, name);
        if (!same)
            kc__location_error(&list, KC_FIELD_FORBIDDEN,
                               "existing ephemeral containers \"%.*s\" may not be removed\n",
                               KC_ARG(name));
        else if (!kc_value_equal(same, old, NULL))
            kc__location_error(&list, KC_FIELD_FORBIDDEN,
                               "existing ephemeral containers \"%.*s\" may not be changed\n",
                               KC_ARG(name));
    }
}

/* ---- resize ---- */

static void refuse_pod_change(kc_field_errors *errors, const char *why)
{
    kc_field_errors_add(errors, KC_FIELD_FORBIDDEN, "[]", (kc_str){0}, "%s", why);
}

static bool is_static(const kc_value *pod)
{
    return kc_value_get(kc_value_get(kc_value_get(pod, "metadata"), "annotations"),
                        "kubernetes.io/config.mirror");
}

static bool has_own_resources(const kc_value *pod)
{
    const kc_value *resources = kc_value_get(kc_value_get(pod, "spec"), "resources");
    return kc_value_len(kc_value_get(resources, "requests")) ||
           kc_value_len(kc_value_get(resources, "limits"));
}

/* Rejects pods that can never be resized. False: skip the other checks. */
static bool can_resize(const kc_value *pod, const kc_value *old, kc_field_errors *errors)
{
    const char *system =
        kc_value_as_cstr(kc_value_get(kc_value_get(kc_value_get(old, "spec"), "os"), "name"), "");
    const char *why = has_own_resources(pod) || has_own_resources(old)
                          ? "pods with pod-level resources cannot be resized"
                      : is_static(old)             ? "static pods cannot be resized"
                      : !strcmp(system, "windows") ? "windows pods cannot be resized"
                                                   : NULL;
    if (why)
        refuse_pod_change(errors, why);
    return !why;
}

static void check_class(const kc__location *spec, const kc_value *old)
{
    kc_auto(kc_edit) *edit = kc_edit_of_value(spec->value);
    const char *class = kc__qos_class(kc_edit_root(edit));
    const char *before =
        kc_value_as_cstr(kc_value_get(kc_value_get(old, "status"), "qosClass"), "");
    if (*before && strcmp(class, before) != 0)
        kc__location_error_json(spec, KC_FIELD_INVALID,
                                kc_arena_printf(&spec->errors->arena, "\"%s\"", before),
                                "Pod QOS Class may not change as a result of resizing");
}

/* A node agent that supports resize reports the resources of running containers. */
static void check_support(const kc__location *spec, const kc_value *old)
{
    kc_value_each_item (kc_value_get(kc_value_get(old, "status"), "containerStatuses"), status) {
        if (!kc_value_get(kc_value_get(status, "state"), "running"))
            continue;
        if (!kc_value_get(status, "resources"))
            kc__location_error(spec, KC_FIELD_FORBIDDEN,
                               "Pod running on node without support for resize");
        return;
    }
}

static bool check_same_containers(const kc__location *spec, const kc_value *old_spec,
                                  const char *name)
{
    kc__location list = kc__location_member(spec, name);
    const kc_value *old = kc_value_get(old_spec, name);
    bool same = kc_value_len(list.value) == kc_value_len(old);
    size_t i = 0;
    if (!same)
        kc__location_error(&list, KC_FIELD_FORBIDDEN, "%s may not be added or removed on resize",
                           name);
    kc_value_iter before = kc__value_iter(old, KC_JSON_ARRAY);
    kc_value_each_item (same ? list.value : NULL, value) {
        kc__location container = kc__location_item(&list, value, i++);
        kc__location own = kc__location_member(&container, "name");
        if (kc_str_eq(kc__location_text(&own),
                      kc_value_as_str(kc_value_get(kc__value_iter_item(&before), "name"))))
            continue;
        same = false;
        kc__location_error(&own, KC_FIELD_FORBIDDEN, "%s may not be renamed or reordered on resize",
                           name);
    }
    return same;
}

static void check_not_removed(const kc__location *resources, const kc_value *old, const char *name)
{
    kc__location list = kc__location_member(resources, name);
    bool removed = kc_value_len(kc_value_get(old, name)) > kc_value_len(list.value);
    kc_scoped(kc__value_members) in_list = {.object = list.value};
    kc_value_each_member (kc_value_get(old, name), resource, quantity)
        removed = removed || (quantity && !kc__value_members_find(&in_list, resource));
    if (removed)
        kc__location_error(&list, KC_FIELD_FORBIDDEN, "resource %s cannot be removed", name);
}

/* Returns the new list with the old CPU and memory. */
static kc_node *with_old_amounts(kc_edit *edit, const kc_node *list, const kc_value *old)
{
    static const char *const names[] = {"cpu", "memory"};
    if (!old)
        return NULL;
    kc_node *mixed = list ? kc_node_clone(edit, list) : kc_node_object(edit);
    for (size_t i = 0; i < KC_COUNT(names); i++)
        set_or_remove(edit, mixed, names[i], kc_node_from_value(edit, kc_value_get(old, names[i])));
    return mixed;
}

/* Whether the container differs only in CPU and memory. */
static bool differs_in_amounts_only(const kc_value *container, const kc_value *old)
{
    static const char *const lists[] = {"limits", "requests"};
    kc_auto(kc_edit) *edit = kc_edit_of_value(container);
    const kc_node *given = kc_node_get(kc_edit_root(edit), KC_STR("resources"));
    kc_node *mixed = kc_node_object(edit);
    for (size_t i = 0; i < KC_COUNT(lists); i++)
        set_or_remove(edit, mixed, lists[i],
                      with_old_amounts(edit, kc_node_get(given, kc_cstr(lists[i])),
                                       kc_value_get(kc_value_get(old, "resources"), lists[i])));
    kc_node_set(edit, kc_edit_root(edit), KC_STR("resources"), mixed);
    kc_auto(kc_view) *view = kc_edit_view(edit, NULL);
    return view && kc_value_equal(kc_view_root(view), old, NULL);
}

static bool runs_on(const kc_value *container)
{
    return kc_str_is(kc_value_as_str(kc_value_get(container, "restartPolicy")), "Always");
}

static void check_amounts_kept(const kc__location *spec, const kc_value *old_spec, bool init)
{
    kc__location list = kc__location_member(spec, init ? "initContainers" : "containers");
    kc_value_iter before = kc__value_iter(kc_value_get(old_spec, list.name), KC_JSON_ARRAY);
    size_t i = 0;
    kc_value_each_item (list.value, value) {
        const kc_value *old = kc__value_iter_item(&before), *held = kc_value_get(old, "resources");
        kc__location container = kc__location_item(&list, value, i++);
        kc__location resources = kc__location_member(&container, "resources");
        if (init && !runs_on(old))
            continue;
        check_not_removed(&resources, held, "requests");
        check_not_removed(&resources, held, "limits");
    }
}

static void check_rest_unchanged(const kc__location *spec, const kc_value *old_spec, bool init)
{
    kc__location list = kc__location_member(spec, init ? "initContainers" : "containers");
    kc_value_iter before = kc__value_iter(kc_value_get(old_spec, list.name), KC_JSON_ARRAY);
    kc_value_each_item (list.value, value) {
        const kc_value *old = kc__value_iter_item(&before);
        bool sidecar = init && runs_on(value);
        if (init && !sidecar ? kc_value_equal(value, old, NULL)
                             : differs_in_amounts_only(value, old))
            continue;
        kc__location_error(spec, KC_FIELD_FORBIDDEN, "%s",
                           !init ? "only cpu and memory resources are mutable"
                           : sidecar
                               ? "only cpu and memory resources for sidecar containers are mutable"
                               : "resources for non-sidecar init containers are immutable");
    }
}

static void check_resize(const kc__location *spec, const kc_value *old)
{
    const kc_value *old_spec = kc_value_get(old, "spec");
    kc__validate_pod_spec(spec);
    check_class(spec, old);
    check_support(spec, old);
    bool same = check_same_containers(spec, old_spec, "containers");
    if (!check_same_containers(spec, old_spec, "initContainers") || !same)
        return;
    check_amounts_kept(spec, old_spec, true);
    check_amounts_kept(spec, old_spec, false);
    check_rest_unchanged(spec, old_spec, false);
    check_rest_unchanged(spec, old_spec, true);
}

/* ---- both subresources ---- */

void kc__validate_pod_subresource(const kc_value *pod, const kc_value *old, const char *part,
                                  kc_field_errors *errors)
{
    kc__location root = kc__location_root(pod, errors), spec = kc__location_member(&root, "spec");
    if (is_resize(part)) {
        if (can_resize(pod, old, errors))
            check_resize(&spec, old);
    } else if (is_ephemeral(part)) {
        if (is_static(old)) {
            refuse_pod_change(errors, "static pods do not support ephemeral containers");
            return;
        }
        kc__validate_pod_spec(&spec);
        check_ephemeral_containers(&spec);
        check_kept(&spec, kc_value_get(old, "spec"));
    }
}
