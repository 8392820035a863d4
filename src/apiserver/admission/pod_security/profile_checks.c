/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_checks.c: the checks about the profiles of AppArmor, seccomp and SELinux. A profile is
 * set for the pod or for a container, in the security context or, before the fields existed, in
 * annotations. seccomp is checked by baseline, which forbids bad profiles, and by restricted, which
 * requires a good one.
 */
#include "apiserver/admission/pod_security/pod_security_internal.h"
#include "object/gofmt/go_quote.h"

#define APP_ARMOR_PREFIX "container.apparmor.security.beta.kubernetes.io/"
#define SECCOMP_POD      "seccomp.security.alpha.kubernetes.io/pod"
#define SECCOMP_PREFIX   "container.seccomp.security.alpha.kubernetes.io/"

/* ---- profiles of containers and the pod ---- */

/* Where a profile is set, and to what. */
typedef struct profile_use {
    bool pod_is_bad, pod_is_good;
    kc__pod_security_names bad, unset; /* Containers. */
    kc__pod_security_names values;     /* The bad ones. */
} profile_use;

static void profile_use_done(profile_use *use)
{
    kc_vec_done(&use->bad);
    kc_vec_done(&use->unset);
    kc_vec_done(&use->values);
}

/* Both AppArmor and seccomp allow these types. */
static bool is_good_type(kc_str type)
{
    static const char *const good[] = {"RuntimeDefault", "Localhost", NULL};
    return kc_str_is_any(type, good);
}

/* `profile` is a member of the security context. */
static void find_profiles(const kc_value *spec, const char *profile, profile_use *ret)
{
    const kc_value *of_pod = kc__pod_security_context(spec, profile);
    const kc_str type = kc_value_as_str(kc_value_get(of_pod, "type"));
    ret->pod_is_good = of_pod && is_good_type(type);
    ret->pod_is_bad = of_pod && !ret->pod_is_good;
    if (ret->pod_is_bad)
        kc_vec_push(&ret->values, type);
    kc__pod_security_each_container(spec, container)
    {
        const kc_value *own = kc__pod_security_context(container, profile);
        const kc_str own_type = kc_value_as_str(kc_value_get(own, "type"));
        if (!own)
            kc_vec_push(&ret->unset, kc__pod_security_name_of(container));
        if (!own || is_good_type(own_type))
            continue;
        kc_vec_push(&ret->bad, kc__pod_security_name_of(container));
        kc_vec_push(&ret->values, own_type);
    }
    kc__pod_security_names_sort(&ret->values);
}

/* "KEY=VALUE" with the value quoted, as a new text in the arena. */
static kc_str annotation_text(kc_arena *arena, kc_str key, kc_str value)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text, "%.*s=", KC_ARG(key));
    kc__go_quote(&text, value);
    return kc_arena_str(arena, kc_buf_str(&text));
}

/* ---- AppArmor ---- */

static bool is_good_app_armor_annotation(kc_str value)
{
    return !value.n || kc_str_is(value, "runtime/default") ||
           kc_str_starts(value, KC_STR("localhost/"));
}

static void find_app_armor_annotations(const kc_value *metadata, kc_arena *arena,
                                       kc__pod_security_names *ret)
{
    kc_value_each_member (kc_value_get(metadata, "annotations"), key, value)
        if (kc_str_starts(key, KC_STR(APP_ARMOR_PREFIX)) &&
            !is_good_app_armor_annotation(kc_value_as_str(value)))
            kc_vec_push(ret, annotation_text(arena, key, kc_value_as_str(value)));
    kc__pod_security_names_sort(ret);
}

static void write_app_armor_detail(kc_buf *out, const profile_use *use, size_t n_annotations)
{
    kc__pod_security_write_setters(out, use->pod_is_bad, &use->bad);
    if (n_annotations)
        kc_buf_printf(out, "%s%s", out->n ? " and " : "",
                      kc__pod_security_plural(n_annotations, "annotation", "annotations"));
    kc_buf_puts(out, " must not set AppArmor profile type to ");
}

void kc__pod_security_app_armor(const kc__pod_security_check *check,
                                const kc__pod_security_pod *pod, kc__pod_security_finding *ret)
{
    kc_scoped(profile_use) use = {0};
    kc_scoped(kc__pod_security_names) annotations = {0};
    kc_scoped(kc_arena) arena = {0};
    (void)check;
    find_profiles(pod->spec, "appArmorProfile", &use);
    find_app_armor_annotations(pod->metadata, &arena, &annotations);
    if (!use.pod_is_bad && !use.bad.n && !annotations.n)
        return;
    write_app_armor_detail(&ret->detail, &use, annotations.n);
    kc_vec_each (&annotations, text)
        kc_vec_push(&use.values, *text);
    kc__pod_security_quote(&ret->detail, &use.values);
    ret->reason = kc__pod_security_plural(use.values.n, "forbidden AppArmor profile",
                                          "forbidden AppArmor profiles");
}

/* ---- seccomp ---- */

static void find_seccomp_annotation(const kc_value *metadata, kc_str key, kc_arena *arena,
                                    kc__pod_security_names *ret)
{
    const kc_value *value = kc_value_get_str(kc_value_get(metadata, "annotations"), key);
    const kc_str text = kc_value_as_str(value);
    if (value && !kc_str_is(text, "runtime/default") && !kc_str_is(text, "docker/default") &&
        !kc_str_starts(text, KC_STR("localhost/")))
        kc_vec_push(ret, annotation_text(arena, key, text));
}

void kc__pod_security_seccomp_annotations(const kc__pod_security_check *check,
                                          const kc__pod_security_pod *pod,
                                          kc__pod_security_finding *ret)
{
    kc_scoped(kc__pod_security_names) found = {0};
    kc_scoped(kc_arena) arena = {0};
    (void)check;
    find_seccomp_annotation(pod->metadata, KC_STR(SECCOMP_POD), &arena, &found);
    kc__pod_security_each_container(pod->spec, container) find_seccomp_annotation(
        pod->metadata,
        kc_cstr(kc_arena_printf(&arena, SECCOMP_PREFIX "%.*s",
                                KC_ARG(kc__pod_security_name_of(container)))),
        &arena, &found);
    if (!found.n)
        return;
    ret->reason = "seccompProfile";
    kc__pod_security_names_sort(&found);
    kc_buf_printf(&ret->detail, "forbidden %s ",
                  kc__pod_security_plural(found.n, "annotation", "annotations"));
    kc_vec_each (&found, text)
        kc_buf_printf(&ret->detail, "%s%.*s", text == found.items ? "" : ", ", KC_ARG(*text));
}

/* Reports profiles that are set to a bad type. */
static bool report_bad_seccomp(const profile_use *use, kc__pod_security_finding *ret)
{
    if (!use->pod_is_bad && !use->bad.n)
        return false;
    ret->reason = "seccompProfile";
    kc__pod_security_write_setters(&ret->detail, use->pod_is_bad, &use->bad);
    kc_buf_puts(&ret->detail, " must not set securityContext.seccompProfile.type to ");
    kc__pod_security_quote(&ret->detail, &use->values);
    return true;
}

void kc__pod_security_seccomp(const kc__pod_security_check *check, const kc__pod_security_pod *pod,
                              kc__pod_security_finding *ret)
{
    kc_scoped(profile_use) use = {0};
    (void)check;
    find_profiles(pod->spec, "seccompProfile", &use);
    report_bad_seccomp(&use, ret);
}

void kc__pod_security_seccomp_required(const kc__pod_security_check *check,
                                       const kc__pod_security_pod *pod,
                                       kc__pod_security_finding *ret)
{
    kc_scoped(profile_use) use = {0};
    (void)check;
    find_profiles(pod->spec, "seccompProfile", &use);
    if (report_bad_seccomp(&use, ret) || use.pod_is_good || !use.unset.n)
        return;
    ret->reason = "seccompProfile";
    kc_buf_puts(&ret->detail, "pod or ");
    kc__pod_security_write_containers(&ret->detail, &use.unset);
    kc_buf_puts(&ret->detail, " must set securityContext.seccompProfile.type to "
                              "\"RuntimeDefault\" or \"Localhost\"");
}

/* ---- SELinux ---- */

typedef struct selinux_use {
    const char *const *allowed;
    bool user, role;
    kc__pod_security_names types; /* The bad ones. */
} selinux_use;

/* Whether the options are forbidden; records why. */
static bool has_bad_options(const kc_value *of, selinux_use *use)
{
    const kc_value *options = kc__pod_security_context(of, "seLinuxOptions");
    const kc_str type = kc_value_as_str(kc_value_get(options, "type"));
    const bool user = kc_value_as_str(kc_value_get(options, "user")).n > 0,
               role = kc_value_as_str(kc_value_get(options, "role")).n > 0,
               bad_type = type.n && !kc_str_is_any(type, use->allowed);
    use->user |= user;
    use->role |= role;
    if (bad_type)
        kc_vec_push(&use->types, type);
    return user || role || bad_type;
}

static void write_selinux_detail(kc_buf *out, selinux_use *use)
{
    kc__pod_security_names_sort(&use->types);
    kc_buf_puts(out, " set forbidden securityContext.seLinuxOptions: ");
    if (use->types.n) {
        kc_buf_printf(out, "%s ", kc__pod_security_plural(use->types.n, "type", "types"));
        kc__pod_security_quote(out, &use->types);
    }
    if (use->user)
        kc_buf_printf(out, "%suser may not be set", use->types.n ? "; " : "");
    if (use->role)
        kc_buf_printf(out, "%srole may not be set", use->types.n || use->user ? "; " : "");
}

void kc__pod_security_selinux(const kc__pod_security_check *check, const kc__pod_security_pod *pod,
                              kc__pod_security_finding *ret)
{
    selinux_use use = {.allowed = check->allowed};
    kc_scoped(kc__pod_security_names) containers = {0};
    const bool of_pod = has_bad_options(pod->spec, &use);
    kc__pod_security_each_container(pod->spec, container) if (has_bad_options(container, &use))
        kc_vec_push(&containers, kc__pod_security_name_of(container));
    if (of_pod || containers.n) {
        ret->reason = "seLinuxOptions";
        kc__pod_security_write_setters(&ret->detail, of_pod, &containers);
        write_selinux_detail(&ret->detail, &use);
    }
    kc_vec_done(&use.types);
}
