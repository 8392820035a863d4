/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference_rules.c: references to fields of a pod and to resources of its containers, which become
 * variables of the environment or files.
 */
#include "apiserver/kinds/pod_rules.h"
#include "kc/ascii.h"
#include "kc/quantity.h"

/* metadata.labels['NAME']: whether it is one; NAME must be one of a label. The error is about the
 * whole reference. */
static bool check_subscript(const kc__place *ref, kc_str path)
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
            kc__wrong_text(ref, KC_FIELD_INVALID, kc_cstr(name), messages[i]);
        return true;
    }
    return false;
}

void kc__check_field_ref(const kc__place *ref, const char *const *paths)
{
    kc__place version = kc__member(ref, "apiVersion"), path = kc__member(ref, "fieldPath");
    kc_str text = kc__text(&path);
    if (!kc__there(&version)) {
        kc__wrong(&version, KC_FIELD_REQUIRED, NULL);
        return;
    }
    if (!text.n) {
        kc__wrong(&path, KC_FIELD_REQUIRED, NULL);
        return;
    }
    if (!kc__text_is(&version, "v1")) {
        kc__wrong(&path, KC_FIELD_INVALID,
                  "error converting fieldPath: unsupported pod version: %.*s",
                  KC_ARG(kc__text(&version)));
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
            kc__not_supported(&path, paths);
            return;
        }
    }
    kc__wrong(&path, KC_FIELD_INVALID,
              "error converting fieldPath: field label not supported: %.*s", KC_ARG(text));
}

/* A resource is told in one of the units that make sense for it. */
static void check_divisor(const kc__place *ref, kc_str resource)
{
    static const char *const cpu[] = {"1m", "1", NULL};
    static const char *const bytes[] = {"1",   "1k",  "1M",  "1G",  "1T",  "1P",  "1E",
                                        "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei", NULL};
    static const char units[] = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei";
    kc__place divisor = kc__member(ref, "divisor");
    kc_str what = resource, text = kc__text(&divisor);
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
        kc__wrong_text(&divisor, KC_FIELD_INVALID, resource,
                       "only divisor's values 1m and 1 are supported with the cpu resource");
    else
        kc__wrong_text(
            &divisor, KC_FIELD_INVALID, resource,
            kc_arena_printf(&ref->errors->arena,
                            "only divisor's values %s are supported with the %s resource", units,
                            kc_str_is(what, "memory")              ? "memory"
                            : kc_str_is(what, "ephemeral-storage") ? "local ephemeral storage"
                                                                   : "hugepages"));
}

void kc__check_resource_field_ref(const kc__place *ref, bool in_volume)
{
    static const char *const known[] = {"limits.cpu",
                                        "limits.ephemeral-storage",
                                        "limits.memory",
                                        "requests.cpu",
                                        "requests.ephemeral-storage",
                                        "requests.memory",
                                        NULL};
    kc__place name = kc__member(ref, "containerName"), resource = kc__member(ref, "resource");
    kc_str text = kc__text(&resource);
    bool found = kc_str_starts(text, KC_STR("limits.hugepages-")) ||
                 kc_str_starts(text, KC_STR("requests.hugepages-"));
    for (size_t i = 0; known[i]; i++)
        found = found || kc_str_is(text, known[i]);
    if (in_volume && !kc__there(&name))
        kc__wrong(&name, KC_FIELD_REQUIRED, NULL);
    else if (!text.n)
        kc__wrong(&resource, KC_FIELD_REQUIRED, NULL);
    else if (!found)
        kc__not_supported(&resource, known);
    check_divisor(ref, text);
}
