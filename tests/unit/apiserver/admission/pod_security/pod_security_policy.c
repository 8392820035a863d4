/* SPDX-License-Identifier: Apache-2.0 */
/* The Pod Security policy that the labels of a namespace make. */
#include "apiserver/admission/pod_security/pod_security_policy.h"
#include "testing.h"

/* "ENFORCE AUDIT WARN" and the errors of these labels. */
static char *policy_of(const char *labels)
{
    kc_autofree char *json = kc_asprintf("{%s}", labels);
    const kc__pod_security_policy defaults = {0};
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_buf) out = {0};
    for (char *c = json; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    kc_auto(kc_view) *view = kc_view_parse(kc_cstr(json), NULL, NULL);
    const kc__pod_security_policy p =
        kc__pod_security_policy_of(kc_view_root(view), &defaults, &errors);
    const kc__pod_security_standard *all[] = {&p.enforce, &p.audit, &p.warn};
    for (size_t i = 0; i < KC_COUNT(all); i++) {
        kc_buf_puts(&out, i ? " " : "");
        kc__pod_security_standard_write(&out, all[i]);
    }
    for (size_t i = 0; i < errors.list.n; i++)
        kc_buf_printf(&out, "|%s: %s", errors.list.items[i].field, errors.list.items[i].body);
    return kc_buf_take(&out);
}

#define ASSERT_POLICY(labels, expected)               \
    do {                                              \
        kc_autofree char *policy = policy_of(labels); \
        assert_string_equal(policy, expected);        \
    } while (0)
#define L "'pod-security.kubernetes.io/"

static void labels_set_levels_and_versions(void **state)
{
    (void)state;
    ASSERT_POLICY("", "privileged:latest privileged:latest privileged:latest");
    ASSERT_POLICY(L "audit':'baseline'," L "audit-version':'v1.20'",
                  "privileged:latest baseline:v1.20 privileged:latest");
}

static void enforced_level_warns_too_unless_a_label_says_otherwise(void **state)
{
    (void)state;
    ASSERT_POLICY(L "enforce':'restricted'," L "enforce-version':'v1.9'",
                  "restricted:v1.9 privileged:latest restricted:v1.9");
    ASSERT_POLICY(L "enforce':'restricted'," L "warn-version':'v1.3'",
                  "restricted:latest privileged:latest restricted:v1.3");
    ASSERT_POLICY(L "enforce':'restricted'," L "warn':'baseline'",
                  "restricted:latest privileged:latest baseline:latest");
}

static void wrong_label_enforces_restricted_and_is_reported(void **state)
{
    (void)state;
    ASSERT_POLICY(L "enforce':'x'," L "audit':'y'",
                  "restricted:latest privileged:latest privileged:latest|metadata.labels["
                  "pod-security.kubernetes.io/enforce]: Invalid value: \"x\": must be one of "
                  "privileged, baseline, restricted|metadata.labels[pod-security.kubernetes.io/"
                  "audit]: Invalid value: \"y\": must be one of privileged, baseline, restricted");
}

static void versions_are_latest_or_minor_versions_of_1(void **state)
{
    (void)state;
    static const char *const wrong[] = {"v1",      "v1.",   "v1.01",  "v2.0",
                                        "1.20",    "v1.-1", "v1.2.3", "v1.99999999999999999999",
                                        "latests", ""};
    kc__pod_security_standard s;
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        assert_string_equal(kc__pod_security_version_parse(kc_cstr(wrong[i]), &s),
                            "must be \"latest\" or \"v1.x\"");
        assert_false(s.pinned);
    }
    assert_null(kc__pod_security_version_parse(KC_STR("v1.0"), &s));
    assert_true(s.pinned && s.minor == 0);
    assert_null(kc__pod_security_version_parse(KC_STR("latest"), &s));
    assert_false(s.pinned);
}

TESTS(labels_set_levels_and_versions, enforced_level_warns_too_unless_a_label_says_otherwise,
      wrong_label_enforces_restricted_and_is_reported, versions_are_latest_or_minor_versions_of_1)
