/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference_rules.c: validates references to fields of a pod and to resources of its containers,
 * used by environment variables and downward API files.
 */
#include "apiserver/kinds/core/pod_rules.h"
#include "kc/ascii.h"
#include "kc/quantity.h"

/* Whether the path is metadata.labels['NAME'] or metadata.annotations['NAME']; NAME must be a
 * qualified name. The error is reported for the whole reference. */
static bool check_subscript(const kc__location *ref, kc_str path)
{
    static const char *const maps[] = {"metadata.labels['", "metadata.annotations['"};
    const char *messages[KC_NAME_MESSAGES];
    for (size_t m = 0; m < KC_COUNT(maps); m++) {
        kc_str start = kc_cstr(maps[m]);
        if (!kc_str_starts(path, start) || !kc_str_ends(path, KC_STR("']")))
            continue;
        char *name = kc_arena_printf(&ref->errors->arena, "%.*s",
                                     KC_ARG(kc_str_sub(path, start.n, path.n - 2)));
        for (char *c = name; m && *c; c++)
            *c = kc_lower(*c);
        size_t n = kc_name_check(KC_NAME_QUALIFIED, kc_cstr(name), messages);
        for (size_t i = 0; i < n; i++)
            kc__location_error_text(ref, KC_FIELD_INVALID, kc_cstr(name), messages[i]);
        return true;
    }
    return false;
}

void kc__validate_field_ref(const kc__location *ref, const char *const *paths)
{
    kc__location version = kc__location_member(ref, "apiVersion"),
                 path = kc__location_member(ref, "fieldPath");
    kc_str text = kc__location_text(&path);
    if (!kc__location_is_set(&version)) {
        kc__location_error(&version, KC_FIELD_REQUIRED, NULL);
        return;
    }
    if (!text.n) {
        kc__location_error(&path, KC_FIELD_REQUIRED, NULL);
        return;
    }
    if (!kc__location_text_is(&version, "v1")) {
        kc__location_error(&path, KC_FIELD_INVALID,
                           "error converting fieldPath: unsupported pod version: %.*s",
                           KC_ARG(kc__location_text(&version)));
        return;
    }
    if (check_subscript(ref, text))
        return;
    if (kc_str_is_any(text, paths))
        return;
    static const char *const known[] = {"metadata.annotations",
                                        "metadata.labels",
                                        "metadata.name",
                                        "metadata.namespace",
                                        "metadata.uid",
                                        "spec.nodeName",
                                        "status.hostIP",
                                        "spec.serviceAccountName",
                                        "status.hostIPs",
                                        "status.podIP",
                                        "status.podIPs",
                                        "spec.restartPolicy",
                                        "spec.host",
                                        NULL};
    for (size_t i = 0; known[i]; i++) {
        if (kc_str_is(text, known[i])) {
            kc__location_not_supported(&path, paths);
            return;
        }
    }
    kc__location_error(&path, KC_FIELD_INVALID,
                       "error converting fieldPath: field label not supported: %.*s", KC_ARG(text));
}

/* The divisor must be a unit that is valid for the resource. */
static void check_divisor(const kc__location *ref, kc_str resource)
{
    static const char *const cpu[] = {"1m", "1", NULL};
    static const char *const bytes[] = {"1",   "1k",  "1M",  "1G",  "1T",  "1P",  "1E",
                                        "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei", NULL};
    static const char units[] = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei";
    kc__location divisor = kc__location_member(ref, "divisor");
    kc_str what = resource, text = kc__location_text(&divisor);
    kc_str_cut(&what, '.');
    bool is_cpu = kc_str_is(what, "cpu");
    bool known = is_cpu || kc_str_is(what, "memory") || kc_str_is(what, "ephemeral-storage") ||
                 kc_str_starts(what, KC_STR("hugepages-"));
    if (!known || !text.n || kc_str_is(text, "0"))
        return;
    const char *const *allowed = is_cpu ? cpu : bytes;
    if (kc_str_is_any(text, allowed))
        return;
    if (is_cpu)
        kc__location_error_text(
            &divisor, KC_FIELD_INVALID, resource,
            "only divisor's values 1m and 1 are supported with the cpu resource");
    else
        kc__location_error_text(
            &divisor, KC_FIELD_INVALID, resource,
            kc_arena_printf(&ref->errors->arena,
                            "only divisor's values %s are supported with the %s resource", units,
                            kc_str_is(what, "memory")              ? "memory"
                            : kc_str_is(what, "ephemeral-storage") ? "local ephemeral storage"
                                                                   : "hugepages"));
}

void kc__validate_resource_field_ref(const kc__location *ref, bool in_volume)
{
    static const char *const known[] = {"limits.cpu",
                                        "limits.ephemeral-storage",
                                        "limits.memory",
                                        "requests.cpu",
                                        "requests.ephemeral-storage",
                                        "requests.memory",
                                        NULL};
    kc__location name = kc__location_member(ref, "containerName"),
                 resource = kc__location_member(ref, "resource");
    kc_str text = kc__location_text(&resource);
    bool found = kc_str_starts(text, KC_STR("limits.hugepages-")) ||
                 kc_str_starts(text, KC_STR("requests.hugepages-"));
    for (size_t i = 0; known[i]; i++)
        found = found || kc_str_is(text, known[i]);
    if (in_volume && !kc__location_is_set(&name))
        kc__location_error(&name, KC_FIELD_REQUIRED, NULL);
    else if (!text.n)
        kc__location_error(&resource, KC_FIELD_REQUIRED, NULL);
    else if (!found)
        kc__location_not_supported(&resource, known);
    check_divisor(ref, text);
}
