/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_security_policy.c: reads the Pod Security labels of a namespace. A wrong label enforces the
 * strictest level, and neither audits nor warns. A namespace that enforces a level warns at that
 * level too, unless it has a label for warnings.
 */
#include "apiserver/admission/pod_security/pod_security_policy.h"

#include "kc/json.h"

#define PREFIX "pod-security.kubernetes.io/"

static const char *const level_names[] = {"privileged", "baseline", "restricted"};

const char *kc__pod_security_level_name(kc__pod_security_level level)
{
    return level_names[level];
}

const char *kc__pod_security_level_parse(kc_str text, kc__pod_security_level *ret)
{
    for (size_t i = 0; i < KC_COUNT(level_names); i++) {
        if (kc_str_is(text, level_names[i])) {
            *ret = (kc__pod_security_level)i;
            return NULL;
        }
    }
    *ret = KC__POD_SECURITY_RESTRICTED;
    return "must be one of privileged, baseline, restricted";
}

const char *kc__pod_security_version_parse(kc_str text, kc__pod_security_standard *ret)
{
    const kc_str minor = kc_str_sub(text, 3, text.n);
    ret->pinned = false;
    ret->minor = 0;
    if (kc_str_is(text, "latest"))
        return NULL;
    /* kc_str_to_i64 accepts no sign but '-', which the first digit excludes; no leading zeros. */
    if (!kc_str_starts(text, KC_STR("v1.")) || !minor.n || minor.p[0] < '0' || minor.p[0] > '9' ||
        (minor.n > 1 && minor.p[0] == '0') || !kc_str_to_i64(minor, &ret->minor)) {
        ret->minor = 0;
        return "must be \"latest\" or \"v1.x\"";
    }
    ret->pinned = true;
    return NULL;
}

void kc__pod_security_standard_write(kc_buf *out, const kc__pod_security_standard *standard)
{
    kc_buf_printf(out, "%s:", level_names[standard->level]);
    if (standard->pinned)
        kc_buf_printf(out, "v1.%lld", (long long)standard->minor);
    else
        kc_buf_puts(out, "latest");
}

bool kc__pod_security_standard_equals(const kc__pod_security_standard *a,
                                      const kc__pod_security_standard *b)
{
    return a->level == b->level && a->pinned == b->pinned && a->minor == b->minor;
}

static bool is_equivalent(const kc__pod_security_standard *a, const kc__pod_security_standard *b)
{
    return (!a->level && !b->level) || kc__pod_security_standard_equals(a, b);
}

bool kc__pod_security_policy_is_equivalent(const kc__pod_security_policy *a,
                                           const kc__pod_security_policy *b)
{
    return is_equivalent(&a->enforce, &b->enforce) && is_equivalent(&a->audit, &b->audit) &&
           is_equivalent(&a->warn, &b->warn);
}

bool kc__pod_security_policy_is_privileged(const kc__pod_security_policy *policy)
{
    return !policy->enforce.level && !policy->audit.level && !policy->warn.level;
}

/* ---- labels ---- */

static void add_label_error(kc_field_errors *errors, const char *label, const kc_value *value,
                            const char *why)
{
    kc_scoped(kc_buf) field = {0};
    if (!errors)
        return;
    kc_buf_printf(&field, "metadata.labels[%s]", label);
    kc_field_errors_add_value(errors, KC_FIELD_INVALID, kc_buf_cstr(&field), value, "%s", why);
}

typedef struct mode_labels {
    bool has_level, has_version, level_is_wrong;
} mode_labels;

static mode_labels read_mode(const kc_value *labels, const char *level_label,
                             const char *version_label, kc__pod_security_standard *ret,
                             kc_field_errors *errors)
{
    const kc_value *level = kc_value_get(labels, level_label),
                   *version = kc_value_get(labels, version_label);
    mode_labels found = {.has_level = level != NULL, .has_version = version != NULL};
    const char *why;
    if (level && (why = kc__pod_security_level_parse(kc_value_as_str(level), &ret->level))) {
        found.level_is_wrong = true;
        add_label_error(errors, level_label, level, why);
    }
    if (version && (why = kc__pod_security_version_parse(kc_value_as_str(version), ret)))
        add_label_error(errors, version_label, version, why);
    return found;
}

kc__pod_security_policy kc__pod_security_policy_of(const kc_value *labels,
                                                   const kc__pod_security_policy *defaults,
                                                   kc_field_errors *errors)
{
    kc__pod_security_policy p = *defaults;
    const mode_labels enforce = read_mode(labels, PREFIX "enforce", PREFIX "enforce-version",
                                          &p.enforce, errors),
                      audit = read_mode(labels, PREFIX "audit", PREFIX "audit-version", &p.audit,
                                        errors),
                      warn =
                          read_mode(labels, PREFIX "warn", PREFIX "warn-version", &p.warn, errors);
    if (audit.level_is_wrong)
        p.audit.level = KC__POD_SECURITY_PRIVILEGED;
    if (warn.level_is_wrong)
        p.warn.level = KC__POD_SECURITY_PRIVILEGED;
    if (warn.has_level || !enforce.has_level || enforce.level_is_wrong ||
        p.enforce.level <= p.warn.level)
        return p;
    p.warn.level = p.enforce.level;
    if (!warn.has_version) {
        p.warn.pinned = p.enforce.pinned;
        p.warn.minor = p.enforce.minor;
    }
    return p;
}
