/* SPDX-License-Identifier: Apache-2.0 */
/*
 * always_pull_images.c: implements the admission plugin AlwaysPullImages. Containers and image
 * volumes of a pod pull their image at every start, so that only pods with credentials for an image
 * can use it. Updates of a pod that add no image are not changed.
 */
#include "apiserver/admission/plugins/always_pull_images.h"

#include "apiserver/admission/chain/plugin_request.h"
#include "kc/buf.h"
#include "kc/map.h"

static const char *const container_lists[] = {"initContainers", "containers",
                                              "ephemeralContainers"};

static void add_images(const kc_value *spec, kc_map *images)
{
    for (size_t i = 0; i < KC_COUNT(container_lists); i++)
        kc_value_each_item (kc_value_get(spec, container_lists[i]), container)
            kc_map_put(images, kc_value_as_str(kc_value_get(container, "image")),
                       (void *)container);
}

/* Whether every image of the pod is an image of the stored pod. */
static bool has_only_old_images(const kc__rest_call *call, const kc_value *spec)
{
    kc_scoped(kc_map) now = {0};
    kc_scoped(kc_map) before = {0};
    kc_auto(kc_view) *old = call->current ? kc_view_of(call->current) : NULL;
    if (!old)
        return false;
    add_images(spec, &now);
    add_images(kc_value_get(kc_view_root(old), "spec"), &before);
    kc_map_each (&now, entry)
        if (!kc_map_get(&before, entry->key))
            return false;
    return true;
}

static bool is_ignored_pod(const kc__rest_call *call, const kc_value *pod)
{
    return has_only_old_images(call, kc_value_get(pod, "spec"));
}

/* ---- mutation ---- */

static void pull_always(kc_edit *edit, kc_node *owner, const char *member)
{
    if (kc_node_type(owner) == KC_JSON_OBJECT)
        kc_node_set(edit, owner, kc_cstr(member), kc_node_str(edit, KC_STR("Always")));
}

kc__rest_verdict kc__admission_always_pull_mutate(kc__rest_call *call)
{
    if (!kc__admission_writes(call, "core/pods", NULL))
        return KC__REST_NEXT;
    kc_edit *edit = kc__draft_edit(&call->draft);
    kc_auto(kc_view) *view = kc_edit_view(edit, NULL);
    if (!view || is_ignored_pod(call, kc_view_root(view)))
        return KC__REST_NEXT;
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    for (size_t i = 0; i < KC_COUNT(container_lists); i++)
        kc_node_each_item (kc_node_get(spec, kc_cstr(container_lists[i])), container)
            pull_always(edit, container, "imagePullPolicy");
    kc_node_each_item (kc_node_get(spec, KC_STR("volumes")), volume)
        pull_always(edit, kc_node_get(volume, KC_STR("image")), "pullPolicy");
    return KC__REST_NEXT;
}

/* ---- validation ---- */

/* Appends one rejection, as Kubernetes prints a list of them. */
static void reject_policy(kc__rest_call *call, const char *field, kc_str policy, kc_buf *out)
{
    const kc_str name = kc_object_name(call->proposed);
    kc_buf_printf(
        out,
        "%spods \"%.*s\" is forbidden: %s: Unsupported value: \"%.*s\": supported values: "
        "\"Always\"",
        out->n ? ", " : "", KC_ARG(name), field, KC_ARG(policy));
}

static size_t reject_containers(kc__rest_call *call, const kc_value *spec, kc_buf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < KC_COUNT(container_lists); i++) {
        size_t at = 0;
        kc_value_each_item (kc_value_get(spec, container_lists[i]), container) {
            const kc_str policy = kc_value_as_str(kc_value_get(container, "imagePullPolicy"));
            const char *field = kc_arena_printf(call->arena, "spec.%s[%zu].imagePullPolicy",
                                                container_lists[i], at++);
            if (!kc_str_is(policy, "Always")) {
                reject_policy(call, field, policy, out);
                n++;
            }
        }
    }
    return n;
}

static size_t reject_volumes(kc__rest_call *call, const kc_value *spec, kc_buf *out)
{
    size_t n = 0, at = 0;
    kc_value_each_item (kc_value_get(spec, "volumes"), volume) {
        const kc_value *image = kc_value_get(volume, "image");
        const kc_str policy = kc_value_as_str(kc_value_get(image, "pullPolicy"));
        const char *field =
            kc_arena_printf(call->arena, "spec.volumes[%zu].image.pullPolicy", at++);
        if (image && !kc_str_is(policy, "Always")) {
            reject_policy(call, field, policy, out);
            n++;
        }
    }
    return n;
}

kc__rest_verdict kc__admission_always_pull_validate(kc__rest_call *call)
{
    kc_scoped(kc_buf) why = {0};
    if (!kc__admission_writes(call, "core/pods", NULL))
        return KC__REST_NEXT;
    kc_auto(kc_view) *view = kc_view_of(call->proposed);
    const kc_value *spec = kc_value_get(kc_view_root(view), "spec");
    if (is_ignored_pod(call, kc_view_root(view)))
        return KC__REST_NEXT;
    const size_t n = reject_containers(call, spec, &why) + reject_volumes(call, spec, &why);
    return n ? kc__rest_fail(call, KC_UNKNOWN, n > 1 ? "[%s]" : "%s", kc_buf_cstr(&why))
             : KC__REST_NEXT;
}
