/* SPDX-License-Identifier: Apache-2.0 */
/*
 * security_rules.c: validates the security contexts of a pod and its containers: users and groups,
 * seccomp and AppArmor profiles, sysctls, privileges, Windows options.
 *
 * Some members that Kubernetes' internal form has in the security context are in the spec itself
 * (hostPID, shareProcessNamespace); errors about them have the path that Kubernetes reports.
 */
#include "apiserver/kinds/core/pod_rules.h"
#include "apiserver/kinds/internal_form.h"
#include "kc/ascii.h"

/* ---- profiles: none, the runtime's, or a file of the host ---- */

static const char *const profile_types[] = {"Localhost", "RuntimeDefault", "Unconfined", NULL};

static void check_profile_type(const kc__location *type, const char *needed)
{
    if (kc__location_is_set(type))
        kc__validate_one_of(type, profile_types);
    else
        kc__location_error(type, KC_FIELD_REQUIRED, "%s", needed);
}

static void check_seccomp(const kc__location *profile)
{
    kc__location type = kc__location_member(profile, "type"),
                 file = kc__location_member(profile, "localhostProfile");
    if (!profile->value)
        return;
    check_profile_type(&type, "type is required when seccompProfile is set");
    if (!kc__location_text_is(&type, "Localhost")) {
        if (file.value)
            kc__location_error_json(&file, KC_FIELD_INVALID,
                                    kc__internal_form_json("io.k8s.api.core.v1.SeccompProfile",
                                                           profile->value, &file.errors->arena),
                                    "can only be set when seccomp type is Localhost");
    } else if (file.value) {
        kc__validate_path(&file, true);
    } else {
        kc__location_error(&file, KC_FIELD_REQUIRED, "must be set when seccomp type is Localhost");
    }
}

static void check_app_armor_file(const kc__location *file)
{
    static const char needed[] = "must be set when AppArmor type is Localhost";
    kc_str text = kc__location_text(file);
    if (!text.n)
        kc__location_error(file, KC_FIELD_REQUIRED, needed);
    else if (kc_str_trim(text).n != text.n)
        kc__location_error(file, KC_FIELD_INVALID, "must not be padded with whitespace");
    if (text.n > 4095)
        kc__location_error(file, KC_FIELD_TOO_LONG, "may not be more than 4095 bytes");
}

static void check_app_armor(const kc__location *profile)
{
    kc__location type = kc__location_member(profile, "type"),
                 file = kc__location_member(profile, "localhostProfile");
    if (!profile->value)
        return;
    if (kc__location_text_is(&type, "Localhost"))
        check_app_armor_file(&file);
    else if (!kc__location_text_is(&type, "RuntimeDefault") &&
             !kc__location_text_is(&type, "Unconfined"))
        check_profile_type(&type, "type is required when appArmorProfile is set");
    else if (file.value)
        kc__location_error(&file, KC_FIELD_INVALID,
                           "can only be set when AppArmor type is Localhost");
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

/* A NetBIOS name, or DNS labels. */
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

static void check_windows_user(const kc__location *name, kc_str user)
{
    if (!user.n)
        kc__location_error(name, KC_FIELD_INVALID, "runAsUserName's User cannot be empty");
    else if (user.n > 104)
        kc__location_error(name, KC_FIELD_INVALID,
                           "runAsUserName's User length must not be longer than 104 characters");
    if (is_only(user, ". "))
        kc__location_error(name, KC_FIELD_INVALID,
                           "runAsUserName's User cannot contain only periods or spaces");
    if (has_one_of(user, "\"/\\:;|=,+*?<>@[]"))
        kc__location_error(name, KC_FIELD_INVALID,
                           "runAsUserName's User cannot contain the following characters: "
                           "\"/\\:;|=,+*?<>@[]");
}

static void check_user_name(const kc__location *name)
{
    kc_str user = kc__location_text(name), domain = kc_str_cut(&user, '\\');
    if (!name->value)
        return;
    if (!kc__location_is_set(name)) {
        kc__location_error(name, KC_FIELD_INVALID, "runAsUserName cannot be an empty string");
    } else if (has_control(kc__location_text(name))) {
        kc__location_error(name, KC_FIELD_INVALID,
                           "runAsUserName cannot contain control characters");
    } else if (kc_str_find(user, '\\') >= 0) {
        kc__location_error(name, KC_FIELD_INVALID,
                           "runAsUserName cannot contain more than one backslash");
    } else if (!user.p) {
        check_windows_user(name, domain);
    } else {
        if (domain.n >= 256)
            kc__location_error(name, KC_FIELD_INVALID,
                               "runAsUserName's Domain length must be under 256 characters");
        if (!is_windows_domain(domain))
            kc__location_error(
                name, KC_FIELD_INVALID,
                "runAsUserName's Domain doesn't match the NetBios nor the DNS format");
        check_windows_user(name, user);
    }
}

static void check_credentials(const kc__location *spec)
{
    if (spec->value && !kc__location_is_set(spec))
        kc__location_error(spec, KC_FIELD_INVALID, "gmsaCredentialSpec cannot be an empty string");
    else if (kc__location_text(spec).n > 64 * 1024)
        kc__location_error(spec, KC_FIELD_INVALID, "gmsaCredentialSpec size must be under 64 KiB");
}

static const kc__validate_rule windows_[] = {
    {"gmsaCredentialSpecName", .name = &kc__validate_name_dns_subdomain},
    {"gmsaCredentialSpec", .code = check_credentials},
    {"runAsUserName", .code = check_user_name},
};
static const kc__validate_rule_table windows = KC__VALIDATE_RULES(windows_);

/* ---- sysctls ---- */

/* Lower-case words with - and _ inside, separated by dots or slashes. */
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

/* Sysctls of a namespace are not allowed if the pod shares that namespace with the host. */
static void check_namespace(const kc__location *name, const kc__location *spec)
{
    static const char *const of_ipc[] = {"kernel.shm", "kernel.msg", "fs.mqueue."};
    kc_str text = kc__location_text(name);
    bool ipc = kc_str_is(text, "kernel.sem");
    for (size_t i = 0; i < KC_COUNT(of_ipc); i++)
        ipc = ipc || kc_str_starts(text, kc_cstr(of_ipc[i]));
    if (kc_str_starts(text, KC_STR("net.")) && kc__location_member_is_true(spec, "hostNetwork"))
        kc__location_error(name, KC_FIELD_INVALID,
                           "may not be specified when 'hostNetwork' is true");
    else if (ipc && kc__location_member_is_true(spec, "hostIPC"))
        kc__location_error(name, KC_FIELD_INVALID, "may not be specified when 'hostIPC' is true");
}

static void check_sysctls(const kc__location *list)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_value_each_item (list->value, value) {
        kc__location item = kc__location_item(list, value, i++),
                     name = kc__location_member(&item, "name");
        if (!kc__location_is_set(&name))
            kc__location_error(&name, KC_FIELD_REQUIRED, NULL);
        else if (!is_sysctl(kc__location_text(&name)))
            kc__location_error(
                &name, KC_FIELD_INVALID,
                "must have at most 253 characters and match regex "
                "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$");
        else
            kc__validate_unique(&name, &seen);
        check_namespace(&name, list->up->up);
    }
}

/* ---- pods ---- */

static const char *const change_policies[] = {"Always", "OnRootMismatch", NULL};
static const char *const group_policies[] = {"Merge", "Strict", NULL};
static const char *const label_policies[] = {"Recursive", NULL};

static const kc__validate_rule pod_ids_[] = {
    {"fsGroup", .high = INT32_MAX},
    {"runAsUser", .high = INT32_MAX},
    {"runAsGroup", .high = INT32_MAX},
    {"supplementalGroups", .high = INT32_MAX},
};
static const kc__validate_rule pod_profiles_[] = {
    {"sysctls", .code = check_sysctls},
    {"fsGroupChangePolicy", .one_of = change_policies},
    {"seccompProfile", .code = check_seccomp},
    {"windowsOptions", .of = &windows},
    {"appArmorProfile", .code = check_app_armor},
    {"supplementalGroupsPolicy", .one_of = group_policies},
    {"seLinuxChangePolicy", .one_of = label_policies},
};
static const kc__validate_rule_table pod_ids = KC__VALIDATE_RULES(pod_ids_),
                                     pod_profiles = KC__VALIDATE_RULES(pod_profiles_);

void kc__validate_pod_security(const kc__location *spec)
{
    kc__location context = kc__location_member(spec, "securityContext");
    kc__location shared = kc__location_member(&context, "shareProcessNamespace");
    shared.value = kc_value_get(spec->value, "shareProcessNamespace");
    kc__validate_by_rules(&pod_ids, &context);
    if (kc__location_is_set(&shared) && kc__location_member_is_true(spec, "hostPID"))
        kc__location_error(&shared, KC_FIELD_INVALID,
                           "ShareProcessNamespace and HostPID cannot both be enabled");
    kc__validate_by_rules(&pod_profiles, &context);
}

/* ---- containers ---- */

static const char *const proc_mounts[] = {"Default", "Unmasked", NULL};

static const kc__validate_rule container_ids_[] = {
    {"runAsUser", .high = INT32_MAX},
    {"runAsGroup", .high = INT32_MAX},
    {"procMount", .one_of = proc_mounts},
};
static const kc__validate_rule_table container_ids = KC__VALIDATE_RULES(container_ids_);

static void wrong_privileges(const kc__location *context, const char *why)
{
    kc__location_error_json(context, KC_FIELD_INVALID,
                            kc__internal_form_json("io.k8s.api.core.v1.SecurityContext",
                                                   context->value, &context->errors->arena),
                            "%s", why);
}

/* allowPrivilegeEscalation=false excludes privileged mode and CAP_SYS_ADMIN. */
static void check_escalation(const kc__location *context)
{
    kc__location escalation = kc__location_member(context, "allowPrivilegeEscalation");
    if (!escalation.value || kc__location_is_set(&escalation))
        return;
    if (kc__location_member_is_true(context, "privileged"))
        wrong_privileges(context, "cannot set `allowPrivilegeEscalation` to false and `privileged` "
                                  "to true");
    kc_value_each_item (kc_value_get(kc_value_get(context->value, "capabilities"), "add"),
                        capability)
        if (kc_str_is(kc_value_as_str(capability), "CAP_SYS_ADMIN"))
            wrong_privileges(context, "cannot set `allowPrivilegeEscalation` to false and "
                                      "`capabilities.Add` CAP_SYS_ADMIN");
}

static const kc__validate_rule container_profiles_[] = {
    {"seccompProfile", .code = check_seccomp},
    {.code = check_escalation},
    {"windowsOptions", .of = &windows},
    {"appArmorProfile", .code = check_app_armor},
};
static const kc__validate_rule_table container_profiles = KC__VALIDATE_RULES(container_profiles_);

void kc__validate_container_security(const kc__location *context, bool host_users)
{
    kc__location mount = kc__location_member(context, "procMount");
    if (!context->value)
        return;
    kc__validate_by_rules(&container_ids, context);
    if (host_users && kc__location_text_is(&mount, "Unmasked"))
        kc__location_error(&mount, KC_FIELD_INVALID, "`hostUsers` must be false to use `Unmasked`");
    kc__validate_by_rules(&container_profiles, context);
}
