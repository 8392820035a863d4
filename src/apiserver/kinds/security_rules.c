/* SPDX-License-Identifier: Apache-2.0 */
/*
 * security_rules.c: what a pod and its containers may do on their host: users and groups, profiles
 * of the kernel, privileges, and which of these a system does not know.
 *
 * Some members that Kubernetes keeps in the security context stand in the spec itself (hostPID,
 * shareProcessNamespace); errors about them keep the path that Kubernetes gives.
 */
#include "apiserver/kinds/inner.h"
#include "apiserver/kinds/pod_rules.h"
#include "kc/ascii.h"

/* ---- profiles: of the system, of the runtime, or a file of the host ---- */

static const char *const profile_types[] = {"Localhost", "RuntimeDefault", "Unconfined", NULL};

static void check_profile_type(const kc__place *type, const char *needed)
{
    if (kc__there(type))
        kc__check_one_of(type, profile_types);
    else
        kc__wrong(type, KC_FIELD_REQUIRED, "%s", needed);
}

static void check_seccomp(const kc__place *profile)
{
    kc__place type = kc__member(profile, "type"), file = kc__member(profile, "localhostProfile");
    if (!profile->value)
        return;
    check_profile_type(&type, "type is required when seccompProfile is set");
    if (!kc__text_is(&type, "Localhost")) {
        if (file.value)
            kc__wrong_as(&file, KC_FIELD_INVALID,
                         kc__inner_json("io.k8s.api.core.v1.SeccompProfile", profile->value,
                                        &file.errors->arena),
                         "can only be set when seccomp type is Localhost");
    } else if (file.value) {
        kc__check_path(&file, true);
    } else {
        kc__wrong(&file, KC_FIELD_REQUIRED, "must be set when seccomp type is Localhost");
    }
}

static void check_app_armor_file(const kc__place *file)
{
    static const char needed[] = "must be set when AppArmor type is Localhost";
    kc_str text = kc__text(file);
    if (!text.n)
        kc__wrong(file, KC_FIELD_REQUIRED, needed);
    else if (kc_str_trim(text).n != text.n)
        kc__wrong(file, KC_FIELD_INVALID, "must not be padded with whitespace");
    if (text.n > 4095)
        kc__wrong(file, KC_FIELD_TOO_LONG, "may not be more than 4095 bytes");
}

static void check_app_armor(const kc__place *profile)
{
    kc__place type = kc__member(profile, "type"), file = kc__member(profile, "localhostProfile");
    if (!profile->value)
        return;
    if (kc__text_is(&type, "Localhost"))
        check_app_armor_file(&file);
    else if (!kc__text_is(&type, "RuntimeDefault") && !kc__text_is(&type, "Unconfined"))
        check_profile_type(&type, "type is required when appArmorProfile is set");
    else if (file.value)
        kc__wrong(&file, KC_FIELD_INVALID, "can only be set when AppArmor type is Localhost");
}

/* ---- Windows ---- */

static bool has_control(kc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < ' ' || text.p[i] == 0x7f)
            return true;
    return false;
}

static bool has_one_of(kc_str text, const char *set)
{
    for (size_t i = 0; i < text.n; i++)
        if (strchr(set, text.p[i]))
            return true;
    return false;
}

static bool is_only(kc_str text, const char *set)
{
    for (size_t i = 0; i < text.n; i++)
        if (!strchr(set, text.p[i]))
            return false;
    return text.n > 0;
}

/* A NetBios name, or labels of DNS. */
static bool is_windows_domain(kc_str domain)
{
    if (domain.n && domain.n <= 15 && domain.p[0] != '.' && !has_one_of(domain, "\\/:*?\"<>|"))
        return true;
    kc_str rest = domain;
    while (rest.p) {
        kc_str label = kc_str_cut(&rest, '.');
        if (!label.n || label.n > 63 || label.p[0] == '-' || label.p[label.n - 1] == '-')
            return false;
        for (size_t i = 0; i < label.n; i++)
            if (!kc_is_alnum(label.p[i]) && label.p[i] != '-')
                return false;
    }
    return true;
}

static void check_windows_user(const kc__place *name, kc_str user)
{
    if (!user.n)
        kc__wrong(name, KC_FIELD_INVALID, "runAsUserName's User cannot be empty");
    else if (user.n > 104)
        kc__wrong(name, KC_FIELD_INVALID,
                  "runAsUserName's User length must not be longer than 104 characters");
    if (is_only(user, ". "))
        kc__wrong(name, KC_FIELD_INVALID,
                  "runAsUserName's User cannot contain only periods or spaces");
    if (has_one_of(user, "\"/\\:;|=,+*?<>@[]"))
        kc__wrong(name, KC_FIELD_INVALID,
                  "runAsUserName's User cannot contain the following characters: "
                  "\"/\\:;|=,+*?<>@[]");
}

static void check_user_name(const kc__place *name)
{
    kc_str user = kc__text(name), domain = kc_str_cut(&user, '\\');
    if (!name->value)
        return;
    if (!kc__there(name)) {
        kc__wrong(name, KC_FIELD_INVALID, "runAsUserName cannot be an empty string");
    } else if (has_control(kc__text(name))) {
        kc__wrong(name, KC_FIELD_INVALID, "runAsUserName cannot contain control characters");
    } else if (kc_str_find(user, '\\') >= 0) {
        kc__wrong(name, KC_FIELD_INVALID, "runAsUserName cannot contain more than one backslash");
    } else if (!user.p) {
        check_windows_user(name, domain);
    } else {
        if (domain.n >= 256)
            kc__wrong(name, KC_FIELD_INVALID,
                      "runAsUserName's Domain length must be under 256 characters");
        if (!is_windows_domain(domain))
            kc__wrong(name, KC_FIELD_INVALID,
                      "runAsUserName's Domain doesn't match the NetBios nor the DNS format");
        check_windows_user(name, user);
    }
}

static void check_credentials(const kc__place *spec)
{
    if (spec->value && !kc__there(spec))
        kc__wrong(spec, KC_FIELD_INVALID, "gmsaCredentialSpec cannot be an empty string");
    else if (kc__text(spec).n > 64 * 1024)
        kc__wrong(spec, KC_FIELD_INVALID, "gmsaCredentialSpec size must be under 64 KiB");
}

static const kc__rule windows_[] = {
    {"gmsaCredentialSpecName", .name = &kc__dns_subdomain},
    {"gmsaCredentialSpec", .code = check_credentials},
    {"runAsUserName", .code = check_user_name},
};
static const kc__rules windows = KC__RULES(windows_);

/* ---- the kernel's settings ---- */

/* Words of lower case, with - and _ inside, between dots or slashes. */
static bool is_sysctl(kc_str name)
{
    bool edge = true;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool letter = kc_is_digit(c) || (c >= 'a' && c <= 'z');
        bool separator = c == '.' || c == '/';
        if (!letter && (edge || (!separator && c != '-' && c != '_')))
            return false;
        if (separator && !kc_is_alnum(name.p[i - 1]))
            return false;
        edge = separator;
    }
    return name.n && name.n <= 253 && kc_is_alnum(name.p[name.n - 1]);
}

/* Settings of a namespace that is the host's are the host's. */
static void check_namespace(const kc__place *name, const kc__place *spec)
{
    static const char *const of_ipc[] = {"kernel.shm", "kernel.msg", "fs.mqueue."};
    kc_str text = kc__text(name);
    bool ipc = kc_str_is(text, "kernel.sem");
    for (size_t i = 0; i < KC_COUNT(of_ipc); i++)
        ipc = ipc || kc_str_starts(text, kc_cstr(of_ipc[i]));
    if (kc_str_starts(text, KC_STR("net.")) && kc__true_in(spec, "hostNetwork"))
        kc__wrong(name, KC_FIELD_INVALID, "may not be specified when 'hostNetwork' is true");
    else if (ipc && kc__true_in(spec, "hostIPC"))
        kc__wrong(name, KC_FIELD_INVALID, "may not be specified when 'hostIPC' is true");
}

static void check_sysctls(const kc__place *list)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_items (list->value, value) {
        kc__place item = kc__item(list, value, i++), name = kc__member(&item, "name");
        if (!kc__there(&name))
            kc__wrong(&name, KC_FIELD_REQUIRED, NULL);
        else if (!is_sysctl(kc__text(&name)))
            kc__wrong(&name, KC_FIELD_INVALID,
                      "must have at most 253 characters and match regex "
                      "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$");
        else
            kc__check_unique(&name, &seen);
        check_namespace(&name, list->up->up);
    }
}

/* ---- of a pod ---- */

static const char *const change_policies[] = {"Always", "OnRootMismatch", NULL};
static const char *const group_policies[] = {"Merge", "Strict", NULL};
static const char *const label_policies[] = {"Recursive", NULL};

static const kc__rule pod_ids_[] = {
    {"fsGroup", .high = INT32_MAX},
    {"runAsUser", .high = INT32_MAX},
    {"runAsGroup", .high = INT32_MAX},
    {"supplementalGroups", .high = INT32_MAX},
};
static const kc__rule pod_profiles_[] = {
    {"sysctls", .code = check_sysctls},
    {"fsGroupChangePolicy", .one_of = change_policies},
    {"seccompProfile", .code = check_seccomp},
    {"windowsOptions", .of = &windows},
    {"appArmorProfile", .code = check_app_armor},
    {"supplementalGroupsPolicy", .one_of = group_policies},
    {"seLinuxChangePolicy", .one_of = label_policies},
};
static const kc__rules pod_ids = KC__RULES(pod_ids_), pod_profiles = KC__RULES(pod_profiles_);

void kc__check_pod_security(const kc__place *spec)
{
    kc__place context = kc__member(spec, "securityContext");
    kc__place shared = kc__member(&context, "shareProcessNamespace");
    shared.value = kc_get(spec->value, "shareProcessNamespace");
    kc__rules_check(&pod_ids, &context);
    if (kc__there(&shared) && kc__true_in(spec, "hostPID"))
        kc__wrong(&shared, KC_FIELD_INVALID,
                  "ShareProcessNamespace and HostPID cannot both be enabled");
    kc__rules_check(&pod_profiles, &context);
}

/* ---- of a container ---- */

static const char *const proc_mounts[] = {"Default", "Unmasked", NULL};

static const kc__rule container_ids_[] = {
    {"runAsUser", .high = INT32_MAX},
    {"runAsGroup", .high = INT32_MAX},
    {"procMount", .one_of = proc_mounts},
};
static const kc__rules container_ids = KC__RULES(container_ids_);

static void wrong_privileges(const kc__place *context, const char *why)
{
    kc__wrong_as(context, KC_FIELD_INVALID,
                 kc__inner_json("io.k8s.api.core.v1.SecurityContext", context->value,
                                &context->errors->arena),
                 "%s", why);
}

/* One that may not get more privileges must not have them all. */
static void check_escalation(const kc__place *context)
{
    kc__place escalation = kc__member(context, "allowPrivilegeEscalation");
    if (!escalation.value || kc__there(&escalation))
        return;
    if (kc__true_in(context, "privileged"))
        wrong_privileges(context, "cannot set `allowPrivilegeEscalation` to false and `privileged` "
                                  "to true");
    kc_items (kc_get(kc_get(context->value, "capabilities"), "add"), capability)
        if (kc_str_is(kc_as_str(capability), "CAP_SYS_ADMIN"))
            wrong_privileges(context, "cannot set `allowPrivilegeEscalation` to false and "
                                      "`capabilities.Add` CAP_SYS_ADMIN");
}

static const kc__rule container_profiles_[] = {
    {"seccompProfile", .code = check_seccomp},
    {.code = check_escalation},
    {"windowsOptions", .of = &windows},
    {"appArmorProfile", .code = check_app_armor},
};
static const kc__rules container_profiles = KC__RULES(container_profiles_);

void kc__check_container_security(const kc__place *context, bool host_users)
{
    kc__place mount = kc__member(context, "procMount");
    if (!context->value)
        return;
    kc__rules_check(&container_ids, context);
    if (host_users && kc__text_is(&mount, "Unmasked"))
        kc__wrong(&mount, KC_FIELD_INVALID, "`hostUsers` must be false to use `Unmasked`");
    kc__rules_check(&container_profiles, context);
}
