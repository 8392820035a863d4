/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload_rules.c: selectors and templates that must fit each other, and counts in a status that
 * must make sense.
 */
#include "apiserver/kinds/workload_rules.h"
#include "kc/selector.h"

void kc__check_workload_selector(const kc__place *spec, const char *what)
{
    kc__place selector = kc__member(spec, "selector");
    if (!selector.value) {
        kc__wrong(&selector, KC_FIELD_REQUIRED, NULL);
        return;
    }
    kc__check_selector(&selector);
    if (!kc_len(kc_get(selector.value, "matchLabels")) &&
        !kc_len(kc_get(selector.value, "matchExpressions")))
        kc__wrong(&selector, KC_FIELD_INVALID, "empty selector is invalid for %s", what);
}

bool kc__check_selector_matches(const kc__place *spec, const char *unreadable)
{
    static const char why[] = "`selector` does not match template `labels`";
    kc__place template = kc__member(spec, "template"), metadata = kc__member(&template, "metadata");
    kc__place labels = kc__member(&metadata, "labels"), selector = kc__member(spec, "selector");
    kc_auto(kc_selector) *parsed = kc_selector_of(selector.value, NULL);
    if (!parsed) {
        kc__wrong(&selector, KC_FIELD_INVALID, "%s", unreadable);
        return false;
    }
    if (kc_selector_match_value(parsed, labels.value))
        return true;
    if (labels.value)
        kc__wrong(&labels, KC_FIELD_INVALID, why);
    else
        kc__wrong_as(&labels, KC_FIELD_INVALID, "null", why);
    return true;
}

void kc__check_runs_on(const kc__place *template, const char *what)
{
    static const char *const always[] = {"Always", NULL};
    kc__place spec = kc__member(template, "spec"), policy = kc__member(&spec, "restartPolicy");
    kc__place deadline = kc__member(&spec, "activeDeadlineSeconds");
    if (!kc__text_is(&policy, "Always"))
        kc__not_supported(&policy, always);
    if (deadline.value)
        kc__wrong(&deadline, KC_FIELD_FORBIDDEN, "activeDeadlineSeconds in %s is not Supported",
                  what);
}

void kc__check_counts(const kc__place *status, const char *const *members)
{
    for (size_t i = 0; members[i]; i++) {
        kc__place count = kc__member(status, members[i]);
        kc__check_at_least_0(&count);
    }
}

void kc__check_counts_within(const kc__place *status, const char *const *members,
                             const char *beyond_ready)
{
    kc__place all = kc__member(status, "replicas"), ready = kc__member(status, "readyReplicas");
    kc__place available = kc__member(status, "availableReplicas");
    for (size_t i = 0; members[i]; i++) {
        kc__place count = kc__member(status, members[i]);
        if (kc__number(&count) > kc__number(&all))
            kc__wrong_number(&count, "cannot be greater than status.replicas");
    }
    if (kc__number(&available) > kc__number(&ready))
        kc__wrong(&available, KC_FIELD_INVALID, "cannot be greater than %s", beyond_ready);
}
