/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_parts.c: changes of a pod that its spec does not allow: `kubectl debug` adds a container to
 * look into it with, which then stays as it is; a resize changes how much processor and memory its
 * containers may use. Whatever else the client sends with it is left out without a word, except
 * where containers come, go or change their names: that is for the checks to refuse.
 */
#include "apiserver/kinds/pod_parts.h"

#include "apiserver/kinds/pod_rules.h"
#include "apiserver/kinds/qos.h"
#include "kc/diff.h"

static bool is_resize(const char *part)
{
    return !strcmp(part, "resize");
}

static bool is_ephemeral(const char *part)
{
    return !strcmp(part, "ephemeralcontainers");
}

/* ---- what is left of a change ---- */

static void take(kc_edit *edit, kc_node *to, const char *name, const kc_node *from)
{
    const kc_node *value = kc_node_get(from, kc_cstr(name));
    if (value)
        kc_node_set(edit, to, kc_cstr(name), kc_node_clone(edit, value));
    else
        kc_node_remove(to, kc_cstr(name));
}

/* The old containers with what the new ones may use; the new ones if they are not the same. */
static kc_node *resized(kc_edit *edit, const kc_node *given, const kc_value *old)
{
    kc_node *merged = kc_node_copy(edit, old);
    size_t i = 0;
    kc_node_items (merged, container) {
        const kc_node *now = kc_node_at(given, i++);
        if (!kc_str_eq(kc_node_as_str(kc_node_get(now, KC_STR("name"))),
                       kc_node_as_str(kc_node_get(container, KC_STR("name")))))
            return kc_node_clone(edit, given);
        take(edit, container, "resources", now);
        take(edit, container, "resizePolicy", now);
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
    const kc_value *old_spec = kc_get(old, "spec");
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    kc_node *kept[KC_COUNT(lists)];
    for (size_t i = 0; i < KC_COUNT(lists); i++) {
        const kc_node *given = kc_node_get(spec, kc_cstr(lists[i]));
        if (kc_node_len(given) != kc_len(kc_get(old_spec, lists[i])))
            return;
        kept[i] = resized(edit, given, kc_get(old_spec, lists[i]));
    }
    kc_edit_set_root(edit, kc_node_copy(edit, old));
    spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    for (size_t i = 0; i < KC_COUNT(lists); i++)
        set_or_remove(edit, spec, lists[i], kept[i]);
}

static void prepare_ephemeral(kc_edit *edit, const kc_value *old)
{
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    kc_node *kept = kc_node_clone(edit, kc_node_get(spec, KC_STR("ephemeralContainers")));
    kc_edit_set_root(edit, kc_node_copy(edit, old));
    spec = kc_node_need_object(edit, kc_edit_root(edit), KC_STR("spec"));
    set_or_remove(edit, spec, "ephemeralContainers", kept);
}

void kc__pod_part_prepare(kc_edit *edit, const kc_value *old, const char *part)
{
    if (is_resize(part))
        prepare_resize(edit, old);
    else if (is_ephemeral(part))
        prepare_ephemeral(edit, old);
}

/* ---- ephemeral containers ---- */

static void remember_names(kc_map *names, const kc_value *containers)
{
    kc_items (containers, container)
        kc_map_put(names, kc_as_str(kc_get(container, "name")), (void *)container);
}

/* It serves nobody: it has no ports, is not probed, and has no resources of its own. */
static void check_purpose(const kc__place *container)
{
    static const char *const none[] = {"ports",          "resources",    "livenessProbe",
                                       "readinessProbe", "startupProbe", "lifecycle"};
    kc__place mounts = kc__member(container, "volumeMounts");
    size_t n = 0;
    for (size_t i = 0; i < KC_COUNT(none); i++) {
        kc__place member = kc__member(container, none[i]);
        if (kc__there(&member))
            kc__wrong(&member, KC_FIELD_FORBIDDEN, "cannot be set for an Ephemeral Container");
    }
    kc_items (mounts.value, value) {
        kc__place mount = kc__item(&mounts, value, n++);
        kc__place path = kc__member(&mount, "subPath"), expr = kc__member(&mount, "subPathExpr");
        if (kc__there(&path))
            kc__wrong(&path, KC_FIELD_FORBIDDEN, "cannot be set for an Ephemeral Container");
        if (kc__there(&expr))
            kc__wrong(&expr, KC_FIELD_FORBIDDEN, "cannot be set for an Ephemeral Container");
    }
}

/* The pod's volumes, which were checked with the rest of it. */
static void find_volumes(const kc__place *spec, kc_map *ret)
{
    kc_scoped(kc_field_errors) unused = {0};
    kc__place root = kc__place_root(spec->value, &unused), volumes = kc__member(&root, "volumes");
    kc__check_volumes(&volumes, ret);
}

static void check_ephemeral_containers(const kc__place *spec)
{
    kc__place list = kc__member(spec, "ephemeralContainers");
    kc_scoped(kc_map) others = {0}, all = {0};
    kc__pod_around pod = kc__pod_around_of(spec);
    size_t i = 0;
    find_volumes(spec, &pod.volumes);
    remember_names(&others, kc_get(spec->value, "containers"));
    remember_names(&others, kc_get(spec->value, "initContainers"));
    remember_names(&all, kc_get(spec->value, "containers"));
    remember_names(&all, kc_get(spec->value, "initContainers"));
    kc_items (list.value, value) {
        kc__place container = kc__item(&list, value, i++);
        kc__place name = kc__member(&container, "name");
        kc__place target = kc__member(&container, "targetContainerName");
        kc__check_container(&container, &pod);
        kc__check_unique(&name, &all);
        if (kc__there(&target) && !kc_map_get(&others, kc__text(&target)))
            kc__wrong(&target, KC_FIELD_NOT_FOUND, NULL);
        check_purpose(&container);
    }
    kc_map_done(&pod.volumes);
}

/* Those that are there stay as they are, in any order. */
static void check_kept(const kc__place *spec, const kc_value *old_spec)
{
    kc__place list = kc__member(spec, "ephemeralContainers");
    kc_scoped(kc_map) now = {0};
    remember_names(&now, list.value);
    kc_items (kc_get(old_spec, "ephemeralContainers"), old) {
        kc_str name = kc_as_str(kc_get(old, "name"));
        const kc_value *same = kc_map_get(&now, name);
        if (!same)
            kc__wrong(&list, KC_FIELD_FORBIDDEN,
                      "existing ephemeral containers \"%.*s\" may not be removed\n", KC_ARG(name));
        else if (!kc_value_equal(same, old, NULL))
            kc__wrong(&list, KC_FIELD_FORBIDDEN,
                      "existing ephemeral containers \"%.*s\" may not be changed\n", KC_ARG(name));
    }
}

/* ---- resize ---- */

static void refuse(kc_field_errors *errors, const char *why)
{
    kc_field_errors_add(errors, KC_FIELD_FORBIDDEN, "[]", (kc_str){0}, "%s", why);
}

static bool is_static(const kc_value *pod)
{
    return kc_get(kc_get(kc_get(pod, "metadata"), "annotations"), "kubernetes.io/config.mirror");
}

static bool has_own_resources(const kc_value *pod)
{
    const kc_value *resources = kc_get(kc_get(pod, "spec"), "resources");
    return kc_len(kc_get(resources, "requests")) || kc_len(kc_get(resources, "limits"));
}

/* What can never be resized; false: nothing more is said about it. */
static bool can_resize(const kc_value *pod, const kc_value *old, kc_field_errors *errors)
{
    const char *system = kc_as_cstr(kc_get(kc_get(kc_get(old, "spec"), "os"), "name"), "");
    const char *why = has_own_resources(pod) || has_own_resources(old)
                          ? "pods with pod-level resources cannot be resized"
                      : is_static(old)             ? "static pods cannot be resized"
                      : !strcmp(system, "windows") ? "windows pods cannot be resized"
                                                   : NULL;
    if (why)
        refuse(errors, why);
    return !why;
}

static void check_class(const kc__place *spec, const kc_value *old)
{
    kc_auto(kc_edit) *edit = kc_edit_of_value(spec->value);
    const char *class = kc__qos_class(kc_edit_root(edit));
    const char *before = kc_as_cstr(kc_get(kc_get(old, "status"), "qosClass"), "");
    if (*before && strcmp(class, before) != 0)
        kc__wrong_as(spec, KC_FIELD_INVALID,
                     kc_arena_printf(&spec->errors->arena, "\"%s\"", before),
                     "Pod QOS Class may not change as a result of resizing");
}

/* An agent that can resize says what running containers have. */
static void check_support(const kc__place *spec, const kc_value *old)
{
    kc_items (kc_get(kc_get(old, "status"), "containerStatuses"), status) {
        if (!kc_get(kc_get(status, "state"), "running"))
            continue;
        if (!kc_get(status, "resources"))
            kc__wrong(spec, KC_FIELD_FORBIDDEN, "Pod running on node without support for resize");
        return;
    }
}

static bool check_same_containers(const kc__place *spec, const kc_value *old_spec, const char *name)
{
    kc__place list = kc__member(spec, name);
    const kc_value *old = kc_get(old_spec, name);
    bool same = kc_len(list.value) == kc_len(old);
    size_t i = 0;
    if (!same)
        kc__wrong(&list, KC_FIELD_FORBIDDEN, "%s may not be added or removed on resize", name);
    kc_iter before = kc__iter(old, KC_ARRAY);
    kc_items (same ? list.value : NULL, value) {
        kc__place container = kc__item(&list, value, i++);
        kc__place own = kc__member(&container, "name");
        if (kc_str_eq(kc__text(&own), kc_as_str(kc_get(kc__iter_item(&before), "name"))))
            continue;
        same = false;
        kc__wrong(&own, KC_FIELD_FORBIDDEN, "%s may not be renamed or reordered on resize", name);
    }
    return same;
}

static void check_not_removed(const kc__place *resources, const kc_value *old, const char *name)
{
    kc__place list = kc__member(resources, name);
    bool removed = kc_len(kc_get(old, name)) > kc_len(list.value);
    kc_members (kc_get(old, name), resource, quantity)
        removed = removed || (quantity && !kc_get_str(list.value, resource));
    if (removed)
        kc__wrong(&list, KC_FIELD_FORBIDDEN, "resource %s cannot be removed", name);
}

/* The new list with the old processor and memory. */
static kc_node *with_old_amounts(kc_edit *edit, const kc_node *list, const kc_value *old)
{
    static const char *const names[] = {"cpu", "memory"};
    if (!old)
        return NULL;
    kc_node *mixed = list ? kc_node_clone(edit, list) : kc_node_object(edit);
    for (size_t i = 0; i < KC_COUNT(names); i++)
        set_or_remove(edit, mixed, names[i], kc_node_copy(edit, kc_get(old, names[i])));
    return mixed;
}

/* Whether the container differs in nothing but the processor and memory it may use. */
static bool differs_in_amounts_only(const kc_value *container, const kc_value *old)
{
    static const char *const lists[] = {"limits", "requests"};
    kc_auto(kc_edit) *edit = kc_edit_of_value(container);
    const kc_node *given = kc_node_get(kc_edit_root(edit), KC_STR("resources"));
    kc_node *mixed = kc_node_object(edit);
    for (size_t i = 0; i < KC_COUNT(lists); i++)
        set_or_remove(edit, mixed, lists[i],
                      with_old_amounts(edit, kc_node_get(given, kc_cstr(lists[i])),
                                       kc_get(kc_get(old, "resources"), lists[i])));
    kc_node_set(edit, kc_edit_root(edit), KC_STR("resources"), mixed);
    kc_auto(kc_view) *view = kc_edit_view(edit, NULL);
    return view && kc_value_equal(kc_view_root(view), old, NULL);
}

static bool runs_on(const kc_value *container)
{
    return kc_str_is(kc_as_str(kc_get(container, "restartPolicy")), "Always");
}

static void check_amounts_kept(const kc__place *spec, const kc_value *old_spec, bool init)
{
    kc__place list = kc__member(spec, init ? "initContainers" : "containers");
    kc_iter before = kc__iter(kc_get(old_spec, list.name), KC_ARRAY);
    size_t i = 0;
    kc_items (list.value, value) {
        const kc_value *old = kc__iter_item(&before), *held = kc_get(old, "resources");
        kc__place container = kc__item(&list, value, i++);
        kc__place resources = kc__member(&container, "resources");
        if (init && !runs_on(old))
            continue;
        check_not_removed(&resources, held, "requests");
        check_not_removed(&resources, held, "limits");
    }
}

static void check_rest_unchanged(const kc__place *spec, const kc_value *old_spec, bool init)
{
    kc__place list = kc__member(spec, init ? "initContainers" : "containers");
    kc_iter before = kc__iter(kc_get(old_spec, list.name), KC_ARRAY);
    kc_items (list.value, value) {
        const kc_value *old = kc__iter_item(&before);
        bool sidecar = init && runs_on(value);
        if (init && !sidecar ? kc_value_equal(value, old, NULL)
                             : differs_in_amounts_only(value, old))
            continue;
        kc__wrong(spec, KC_FIELD_FORBIDDEN, "%s",
                  !init     ? "only cpu and memory resources are mutable"
                  : sidecar ? "only cpu and memory resources for sidecar containers are mutable"
                            : "resources for non-sidecar init containers are immutable");
    }
}

static void check_resize(const kc__place *spec, const kc_value *old)
{
    const kc_value *old_spec = kc_get(old, "spec");
    kc__check_pod_spec(spec);
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

/* ---- either ---- */

void kc__pod_part_check(const kc_value *pod, const kc_value *old, const char *part,
                        kc_field_errors *errors)
{
    kc__place root = kc__place_root(pod, errors), spec = kc__member(&root, "spec");
    if (is_resize(part)) {
        if (can_resize(pod, old, errors))
            check_resize(&spec, old);
    } else if (is_ephemeral(part)) {
        if (is_static(old)) {
            refuse(errors, "static pods do not support ephemeral containers");
            return;
        }
        kc__check_pod_spec(&spec);
        check_ephemeral_containers(&spec);
        check_kept(&spec, kc_get(old, "spec"));
    }
}
