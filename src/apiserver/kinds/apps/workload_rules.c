/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload_rules.c: rules for workloads: the selector must match the template's labels, and the
 * replica counts of a status must be consistent.
 */
#include "apiserver/kinds/apps/workload_rules.h"
#include "kc/selector.h"

void kc__validate_workload_selector(const kc__location *spec, const char *what)
{
    kc__location selector = kc__location_member(spec, "selector");
    if (!selector.value) {
        kc__location_error(&selector, KC_FIELD_REQUIRED, NULL);
        return;
    }
    kc__validate_selector(&selector);
    if (!kc_value_len(kc_value_get(selector.value, "matchLabels")) &&
        !kc_value_len(kc_value_get(selector.value, "matchExpressions")))
        kc__location_error(&selector, KC_FIELD_INVALID, "empty selector is invalid for %s", what);
}

bool kc__validate_selector_matches(const kc__location *spec, const char *unreadable)
{
    static const char why[] = "`selector` does not match template `labels`";
    kc__location template = kc__location_member(spec, "template"),
                 metadata = kc__location_member(&template, "metadata");
    kc__location labels = kc__location_member(&metadata, "labels"),
                 selector = kc__location_member(spec, "selector");
    kc_auto(kc_selector) *parsed = kc_selector_of(selector.value, NULL);
    if (!parsed) {
        kc__location_error(&selector, KC_FIELD_INVALID, "%s", unreadable);
        return false;
    }
    if (kc_selector_match_value(parsed, labels.value))
        return true;
    if (labels.value)
        kc__location_error(&labels, KC_FIELD_INVALID, why);
    else
        kc__location_error_json(&labels, KC_FIELD_INVALID, "null", why);
    return true;
}

void kc__validate_runs_on(const kc__location *template, const char *what)
{
    static const char *const always[] = {"Always", NULL};
    kc__location spec = kc__location_member(template, "spec"),
                 policy = kc__location_member(&spec, "restartPolicy");
    kc__location deadline = kc__location_member(&spec, "activeDeadlineSeconds");
    if (!kc__location_text_is(&policy, "Always"))
        kc__location_not_supported(&policy, always);
    if (deadline.value)
        kc__location_error(&deadline, KC_FIELD_FORBIDDEN,
                           "activeDeadlineSeconds in %s is not Supported", what);
}

void kc__validate_counts(const kc__location *status, const char *const *members)
{
    for (size_t i = 0; members[i]; i++) {
        kc__location count = kc__location_member(status, members[i]);
        kc__validate_at_least_0(&count);
    }
}

void kc__validate_counts_within(const kc__location *status, const char *const *members,
                                const char *beyond_ready)
{
    kc__location all = kc__location_member(status, "replicas"),
                 ready = kc__location_member(status, "readyReplicas");
    kc__location available = kc__location_member(status, "availableReplicas");
    for (size_t i = 0; members[i]; i++) {
        kc__location count = kc__location_member(status, members[i]);
        if (kc__location_number(&count) > kc__location_number(&all))
            kc__location_error_number(&count, "cannot be greater than status.replicas");
    }
    if (kc__location_number(&available) > kc__location_number(&ready))
        kc__location_error(&available, KC_FIELD_INVALID, "cannot be greater than %s", beyond_ready);
}
