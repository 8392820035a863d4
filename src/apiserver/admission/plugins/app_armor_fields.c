/* SPDX-License-Identifier: Apache-2.0 */
/*
 * app_armor_fields.c: AppArmor profiles of new pods. Before v1.30 an annotation named the profile
 * of a container:
 *
 *     container.apparmor.security.beta.kubernetes.io/NAME: runtime/default | unconfined |
 * localhost/…
 *
 * The server sets securityContext.appArmorProfile of the container from it, unless the container
 * has that field or the pod has the same profile, and warns. An annotation that is no valid profile
 * only causes the warning. In Kubernetes this is a part of the strategy of pods; here it is a
 * built-in plugin, because a strategy cannot warn about what it changes.
 */
#include "apiserver/admission/plugins/app_armor_fields.h"

#include "apiserver/admission/chain/plugin_request.h"
#include "apiserver/kinds/defaults.h"

#define PREFIX    "container.apparmor.security.beta.kubernetes.io/"
#define LOCALHOST "localhost/"

enum { MAX_PROFILE_NAME = 4095 };

/* `type` NULL: none. */
typedef struct app_armor_profile {
    const char *type;
    kc_str file; /* Of the type Localhost. */
} app_armor_profile;

static app_armor_profile profile_of_annotation(kc_str text)
{
    if (kc_str_is(text, "unconfined"))
        return (app_armor_profile){.type = "Unconfined"};
    if (kc_str_is(text, "runtime/default"))
        return (app_armor_profile){.type = "RuntimeDefault"};
    const kc_str file = kc_str_starts(text, KC_STR(LOCALHOST))
                            ? kc_str_sub(text, strlen(LOCALHOST), text.n)
                            : (kc_str){0};
    if (!file.n || file.n > MAX_PROFILE_NAME || kc_str_trim(file).n != file.n)
        return (app_armor_profile){0};
    return (app_armor_profile){.type = "Localhost", .file = file};
}

static kc_node *profile_of(const kc_node *owner)
{
    const kc_node *context = kc_node_get(owner, KC_STR("securityContext"));
    kc_node *profile = kc_node_get(context, KC_STR("appArmorProfile"));
    return kc_node_type(profile) == KC_JSON_OBJECT ? profile : NULL;
}

static bool is_same_profile(const kc_node *field, const app_armor_profile *profile)
{
    return field && kc_str_is(kc__defaults_node_text(field, "type"), profile->type) &&
           kc_str_eq(kc__defaults_node_text(field, "localhostProfile"), profile->file);
}

static void set_profile(kc_edit *edit, kc_node *container, const app_armor_profile *profile)
{
    kc_node *context = kc_node_ensure_object(edit, container, KC_STR("securityContext"));
    kc_node *field = kc_node_object(edit);
    kc_node_set(edit, field, KC_STR("type"), kc_node_str(edit, kc_cstr(profile->type)));
    if (profile->file.n)
        kc_node_set(edit, field, KC_STR("localhostProfile"), kc_node_str(edit, profile->file));
    kc_node_set(edit, context, KC_STR("appArmorProfile"), field);
}

static void sync_container(kc__rest_call *call, kc_edit *edit, const kc_node *pod,
                           kc_node *container)
{
    const kc_str name = kc__defaults_node_text(container, "name");
    const kc_node *annotations =
        kc_node_get(kc_node_get(pod, KC_STR("metadata")), KC_STR("annotations"));
    const char *key = kc_arena_printf(call->arena, PREFIX "%.*s", KC_ARG(name));
    const kc_node *annotation = kc_node_get(annotations, kc_cstr(key));
    if (!annotation || profile_of(container))
        return;
    const app_armor_profile profile = profile_of_annotation(kc_node_as_str(annotation));
    if (profile.type && is_same_profile(profile_of(kc_node_get(pod, KC_STR("spec"))), &profile))
        return;
    if (profile.type)
        set_profile(edit, container, &profile);
    kc__rest_warn(
        call, kc_cstr(kc_arena_printf(call->arena,
                                      "metadata.annotations[%s]: deprecated since v1.30; use the "
                                      "\"appArmorProfile\" field instead",
                                      key)));
}

/* Whether an annotation names a profile: pods without one cost nothing more. */
static bool has_app_armor_annotation(const kc_node *pod)
{
    kc_node_each_member (kc_node_get(kc_node_get(pod, KC_STR("metadata")), KC_STR("annotations")),
                         name, value) {
        (void)value;
        if (kc_str_starts(name, KC_STR(PREFIX)))
            return true;
    }
    return false;
}

kc__rest_verdict kc__admission_app_armor_fields(kc__rest_call *call)
{
    static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};
    if (!kc__admission_creates(call, "core/pods"))
        return KC__REST_NEXT;
    kc_edit *edit = kc__draft_edit(&call->draft);
    const kc_node *pod = kc_edit_root(edit), *spec = kc_node_get(pod, KC_STR("spec"));
    if (!has_app_armor_annotation(pod) ||
        kc_str_is(kc__defaults_node_text(kc_node_get(spec, KC_STR("os")), "name"), "windows"))
        return KC__REST_NEXT;
    for (size_t i = 0; i < KC_COUNT(lists); i++)
        kc_node_each_item (kc_node_get(spec, kc_cstr(lists[i])), container)
            sync_container(call, edit, pod, container);
    return KC__REST_NEXT;
}
