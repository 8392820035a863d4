/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_annotations.c: validates the annotations that named the seccomp and AppArmor profiles of
 * a pod and its containers before there were fields:
 *
 *     seccomp.security.alpha.kubernetes.io/pod               runtime/default, unconfined,
 *     container.seccomp.security.alpha.kubernetes.io/NAME    localhost/PATH
 *     container.apparmor.security.beta.kubernetes.io/NAME
 *
 * An annotation and a field must not contradict each other, and AppArmor annotations of a pod do
 * not change.
 */
#include "apiserver/kinds/core/profile_annotations.h"

#include "kc/map.h"

#define SECCOMP_POD       "seccomp.security.alpha.kubernetes.io/pod"
#define SECCOMP_CONTAINER "container.seccomp.security.alpha.kubernetes.io/"
#define APP_ARMOR         "container.apparmor.security.beta.kubernetes.io/"
#define MIRROR            "kubernetes.io/config.mirror"
#define LOCALHOST         "localhost/"

static const char *const container_lists[] = {"initContainers", "containers",
                                              "ephemeralContainers"};

/* The text after a prefix that it has. */
static kc_str text_after(kc_str text, const char *prefix)
{
    return kc_str_sub(text, strlen(prefix), text.n);
}

/* ---- annotations alone ---- */

static void check_local_path(const kc__location *at, kc_str path)
{
    kc_str rest = path;
    if (kc_str_starts(path, KC_STR("/")))
        kc__location_error_text(at, KC_FIELD_INVALID, path, "must be a relative path");
    while (rest.p)
        if (kc_str_is(kc_str_cut(&rest, '/'), "..")) {
            kc__location_error_text(at, KC_FIELD_INVALID, path, "must not contain '..'");
            return;
        }
}

/* `at` is the annotation; Kubernetes shows its name as that of a member. */
static void check_seccomp_annotation(const kc__location *at)
{
    static const char *const known[] = {"runtime/default", "docker/default", "unconfined", NULL};
    const kc_str text = kc__location_text(at);
    if (kc_str_is_any(text, known))
        return;
    if (kc_str_starts(text, KC_STR(LOCALHOST)))
        check_local_path(at, text_after(text, LOCALHOST));
    else
        kc__location_error(at, KC_FIELD_INVALID, "must be a valid seccomp profile");
}

static void check_app_armor_annotation(const kc__location *at, kc_str container,
                                       const kc_map *containers)
{
    const kc_str text = kc__location_text(at);
    if (!kc_map_get(containers, container))
        kc__location_error_text(at, KC_FIELD_INVALID, container, "container not found");
    if (text.n && !kc_str_is(text, "runtime/default") && !kc_str_is(text, "unconfined") &&
        !kc_str_starts(text, KC_STR(LOCALHOST)))
        kc__location_error(at, KC_FIELD_INVALID, "invalid AppArmor profile name: \"%.*s\"",
                           KC_ARG(text));
}

static void add_container_names(const kc_value *spec, kc_map *names)
{
    for (size_t i = 0; i < KC_COUNT(container_lists); i++)
        kc_value_each_item (kc_value_get(spec, container_lists[i]), container)
            kc_map_put(names, kc_value_as_str(kc_value_get(container, "name")), (void *)container);
}

void kc__validate_profile_annotations(const kc__location *annotations, const kc_value *spec)
{
    kc_scoped(kc_map) containers = {0};
    kc_value_each_member (annotations->value, key, value) {
        (void)value;
        if (!kc_str_is(key, SECCOMP_POD) && !kc_str_starts(key, KC_STR(SECCOMP_CONTAINER)))
            continue;
        const char *name = kc_arena_strndup(&annotations->errors->arena, key.p, key.n);
        const kc__location at = kc__location_member(annotations, name);
        check_seccomp_annotation(&at);
    }
    kc_value_each_member (annotations->value, key, value) {
        const kc__location at = kc__location_entry(annotations, key, value);
        if (!kc_str_starts(key, KC_STR(APP_ARMOR)))
            continue;
        if (!containers.n)
            add_container_names(spec, &containers);
        check_app_armor_annotation(&at, text_after(key, APP_ARMOR), &containers);
    }
}

/* ---- annotations and fields ---- */

/* `what` is "seccomp" or "apparmor". `at` is the place of the field. */
static void check_profile_matches(const kc__location *at, const kc_value *profile,
                                  kc_str annotation, const char *what)
{
    const kc_str type = kc_value_as_str(kc_value_get(profile, "type")),
                 file = kc_value_as_str(kc_value_get(profile, "localhostProfile"));
    const kc__location type_at = kc__location_member(at, "type"),
                       file_at = kc__location_member(at, "localhostProfile");
    const bool is_local = kc_str_starts(annotation, KC_STR(LOCALHOST)),
               is_docker = !strcmp(what, "seccomp") && kc_str_is(annotation, "docker/default");
    if ((kc_str_is(type, "Unconfined") && !kc_str_is(annotation, "unconfined")) ||
        (kc_str_is(type, "RuntimeDefault") && !kc_str_is(annotation, "runtime/default") &&
         !is_docker) ||
        (kc_str_is(type, "Localhost") && !is_local))
        kc__location_error(&type_at, KC_FIELD_FORBIDDEN,
                           "%s type in annotation and field must match", what);
    else if (kc_str_is(type, "Localhost") && !kc_str_eq(text_after(annotation, LOCALHOST), file))
        kc__location_error(&file_at, KC_FIELD_FORBIDDEN,
                           "%s profile in annotation and field must match", what);
}

/* The annotation of a container; NULL: none. */
static const kc_value *annotation_of(const kc__location *annotations, const char *prefix,
                                     kc_str container)
{
    const char *key =
        kc_arena_printf(&annotations->errors->arena, "%s%.*s", prefix, KC_ARG(container));
    return kc_value_get(annotations->value, key);
}

static void check_container_profiles(const kc__location *annotations, const kc_value *pod_armor,
                                     const kc__location *container, bool app_armor)
{
    const kc__location context = kc__location_member(container, "securityContext"),
                       at = kc__location_member(&context,
                                                app_armor ? "appArmorProfile" : "seccompProfile");
    const kc_value *profile = at.value ? at.value : app_armor ? pod_armor : NULL;
    const kc_value *annotation =
        profile ? annotation_of(annotations, app_armor ? APP_ARMOR : SECCOMP_CONTAINER,
                                kc__location_member_text(container, "name"))
                : NULL;
    if (annotation)
        check_profile_matches(&at, profile, kc_value_as_str(annotation),
                              app_armor ? "apparmor" : "seccomp");
}

static void check_all_containers(const kc__location *annotations, const kc__location *spec,
                                 const kc_value *pod_armor, bool app_armor)
{
    for (size_t l = 0; l < KC_COUNT(container_lists); l++) {
        const kc__location list = kc__location_member(spec, container_lists[l]);
        size_t i = 0;
        kc_value_each_item (list.value, value) {
            const kc__location container = kc__location_item(&list, value, i++);
            check_container_profiles(annotations, pod_armor, &container, app_armor);
        }
    }
}

void kc__validate_profile_fields(const kc__location *annotations, const kc__location *spec)
{
    const kc__location context = kc__location_member(spec, "securityContext"),
                       seccomp = kc__location_member(&context, "seccompProfile"),
                       armor = kc__location_member(&context, "appArmorProfile");
    const kc_value *of_pod = kc_value_get(annotations->value, SECCOMP_POD);
    if (!kc_value_len(annotations->value))
        return;
    if (seccomp.value && of_pod)
        check_profile_matches(&seccomp, seccomp.value, kc_value_as_str(of_pod), "seccomp");
    check_all_containers(annotations, spec, NULL, false);
    if (!kc_str_is(kc_value_as_str(kc_value_nested(spec->value, "os.name")), "windows"))
        check_all_containers(annotations, spec, armor.value, true);
}

/* ---- updates ---- */

static void check_kept(const kc__location *annotations, const kc_value *old, const char *prefix,
                       bool exact, const char *what)
{
    kc_value_each_member (old, key, value) {
        const kc_value *now = kc_value_get_str(annotations->value, key);
        const kc__location at = kc__location_entry(annotations, key, value);
        if (!(exact ? kc_str_is(key, prefix) : kc_str_starts(key, kc_cstr(prefix))) ||
            (now && kc_str_eq(kc_value_as_str(now), kc_value_as_str(value))))
            continue;
        kc__location_error(&at, KC_FIELD_FORBIDDEN, "may not remove or update %s", what);
    }
    kc_value_each_member (annotations->value, key, value) {
        const kc__location at = kc__location_entry(annotations, key, value);
        if ((exact ? kc_str_is(key, prefix) : kc_str_starts(key, kc_cstr(prefix))) &&
            !kc_value_get_str(old, key))
            kc__location_error(&at, KC_FIELD_FORBIDDEN, "may not add %s", what);
    }
}

void kc__validate_profile_changes(const kc__location *annotations, const kc_value *old)
{
    check_kept(annotations, old, APP_ARMOR, false, "AppArmor annotations");
    check_kept(annotations, old, MIRROR, true, "mirror pod annotation");
}
