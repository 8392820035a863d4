/* SPDX-License-Identifier: Apache-2.0 */
/* Which admission plugins a server runs, by the flags that enable and disable them. */
#include "apiserver/admission/plugin_selection.h"
#include "apiserver/admission/chain/plugins.h"
#include "testing.h"

static kc__admission_selection parsed(const char *names)
{
    kc__admission_selection selection = 0;
    assert_int_equal(kc__admission_selection_parse(names, &selection, NULL), 0);
    return selection;
}

static bool runs(kc__admission_selection selection, const char *name)
{
    for (size_t i = 0; i < kc__admission_n_plugins; i++)
        if (!strcmp(kc__admission_plugins[i].name, name))
            return selection >> i & 1;
    fail_msg("there is no plugin %s", name);
    return false;
}

static void default_selection_lacks_plugins_that_are_off(void **state)
{
    (void)state;
    const kc__admission_selection on = kc__admission_selection_of(0, 0);
    for (size_t i = 0; i < kc__admission_n_plugins; i++)
        assert_int_equal(on >> i & 1, !kc__admission_plugins[i].off_by_default);
    assert_true(runs(on, "LimitRanger"));
    assert_true(runs(on, "PodSecurity"));
    assert_true(runs(on, "ServiceAccount"));
}

static void flags_enable_and_disable_plugins(void **state)
{
    (void)state;
    const kc__admission_selection on =
        kc__admission_selection_of(parsed("ServiceAccount"), parsed("LimitRanger, PodSecurity"));
    assert_true(runs(on, "ServiceAccount"));
    assert_false(runs(on, "LimitRanger"));
    assert_false(runs(on, "PodSecurity"));
    assert_true(runs(on, "NamespaceLifecycle"));
    assert_true(runs(on, "ServiceAllocation"));
}

static void repeated_flag_adds_to_the_selection(void **state)
{
    (void)state;
    kc__admission_selection selection = parsed("LimitRanger");
    assert_int_equal(kc__admission_selection_parse("Priority", &selection, NULL), 0);
    assert_true(selection == (parsed("LimitRanger") | parsed("Priority")));
    assert_true(parsed("") == 0);
}

static void unknown_name_is_rejected_with_the_nearest(void **state)
{
    (void)state;
    static const char *const wrong[] = {"LimitRange",   "*",          "-LimitRanger", "EventQuota",
                                        "LimitRanger,", "PodTopology"};
    kc_scoped(kc_error) err = {0};
    kc__admission_selection selection = 0;
    for (size_t i = 0; i < KC_COUNT(wrong); i++)
        assert_int_equal(kc__admission_selection_parse(wrong[i], &selection, NULL), -KC_INVALID);
    kc__admission_selection_parse("LimitRange", &selection, &err);
    assert_contains(
        kc_error_text(&err),
        "invalid value 'LimitRange': must be one of AlwaysAdmit, NamespaceAutoProvision, ");
    assert_contains(kc_error_text(&err), "; did you mean 'LimitRanger'?");
}

/* The names and the order of kube-apiserver's AllOrderedPlugins. */
static void plugins_are_those_of_kubernetes_in_its_order(void **state)
{
    (void)state;
    static const char *const order[] = {"AlwaysAdmit",
                                        "NamespaceAutoProvision",
                                        "NamespaceLifecycle",
                                        "NamespaceExists",
                                        "LimitPodHardAntiAffinityTopology",
                                        "LimitRanger",
                                        "ServiceAccount",
                                        "NodeRestriction",
                                        "TaintNodesByCondition",
                                        "AlwaysPullImages",
                                        "ImagePolicyWebhook",
                                        "PodSecurity",
                                        "PodNodeSelector",
                                        "Priority",
                                        "DefaultTolerationSeconds",
                                        "PodTolerationRestriction",
                                        "EventRateLimit",
                                        "ExtendedResourceToleration",
                                        "DefaultStorageClass",
                                        "StorageObjectInUseProtection",
                                        "OwnerReferencesPermissionEnforcement",
                                        "PersistentVolumeClaimResize",
                                        "RuntimeClass",
                                        "CertificateApproval",
                                        "CertificateSigning",
                                        "ClusterTrustBundleAttest",
                                        "CertificateSubjectRestriction",
                                        "DefaultIngressClass",
                                        "DenyServiceExternalIPs",
                                        "PodTopologyLabels",
                                        "MutatingAdmissionPolicy",
                                        "MutatingAdmissionWebhook",
                                        "ValidatingAdmissionPolicy",
                                        "ValidatingAdmissionWebhook",
                                        "ResourceQuota",
                                        "AlwaysDeny"};
    for (size_t i = 0; i < KC_COUNT(order); i++)
        assert_string_equal(kc__admission_selectable_plugin(i), order[i]);
    assert_null(kc__admission_selectable_plugin(KC_COUNT(order)));
}

TESTS(default_selection_lacks_plugins_that_are_off, flags_enable_and_disable_plugins,
      repeated_flag_adds_to_the_selection, unknown_name_is_rejected_with_the_nearest,
      plugins_are_those_of_kubernetes_in_its_order)
