/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of Pod Security. */
#include "apiserver/admission/pod_security/pod_security_config.h"
#include "testing.h"

#define HEAD                                                \
    "apiVersion: pod-security.admission.config.k8s.io/v1\n" \
    "kind: PodSecurityConfiguration\n"

static void valid_configuration_is_read(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__pod_security_config) *config = kc__pod_security_config_parse(
        KC_STR(HEAD "defaults: {enforce: restricted, enforce-version: v1.30, warn: ''}\n"
                    "exemptions: {usernames: [root], runtimeClasses: [vm], namespaces: [space]}\n"),
        &err);
    assert_non_null(config);
    assert_int_equal(config->defaults.enforce.level, KC__POD_SECURITY_RESTRICTED);
    assert_int_equal(config->defaults.enforce.minor, 30);
    assert_int_equal(config->defaults.warn.level, KC__POD_SECURITY_PRIVILEGED);
    assert_true(kc__pod_security_is_exempt(config->usernames, KC_STR("root")));
    assert_true(kc__pod_security_is_exempt(config->runtime_classes, KC_STR("vm")));
    assert_true(kc__pod_security_is_exempt(config->namespaces, KC_STR("space")));
    assert_false(kc__pod_security_is_exempt(config->namespaces, KC_STR("")));
}

static void wrong_configuration_is_rejected(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"kind: Pod", "expected kind PodSecurityConfiguration of "
                      "pod-security.admission.config.k8s.io/v1, got Pod of "},
        {HEAD "x: 1", "unknown field \"x\""},
        {HEAD "defaults: {x: 1}", "unknown field \"defaults.x\""},
        {HEAD "defaults: {enforce: high}",
         "defaults.enforce: Invalid value: \"high\": must be one of privileged, baseline, "
         "restricted"},
        {HEAD "defaults: {warn: x, audit-version: z}",
         "[defaults.warn: Invalid value: \"x\": must be one of privileged, baseline, restricted, "
         "defaults.audit-version: Invalid value: \"z\": must be \"latest\" or \"v1.x\"]"},
        {HEAD "exemptions: {usernames: ['']}",
         "exemptions.usernames[0]: Invalid value: \"\": username must not be empty"},
        {HEAD "exemptions: {namespaces: [n]}",
         "exemptions.namespaces[0]: Invalid value: false: must be a string"},
        {HEAD "defaults: {enforce: 1}", "defaults.enforce: Invalid value: 1: must be a string"},
        {HEAD "exemptions: {namespaces: [a, a]}",
         "exemptions.namespaces[1]: Duplicate value: \"a\""},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_error) err = {0};
        assert_null(kc__pod_security_config_parse(kc_cstr(cases[i].text), &err));
        assert_string_equal(kc_error_text(&err), cases[i].error);
    }
}

TESTS(valid_configuration_is_read, wrong_configuration_is_rejected)
