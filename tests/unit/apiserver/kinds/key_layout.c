/* SPDX-License-Identifier: Apache-2.0 */
/* key_layout.c: storage prefixes, compared with those of kube-apiserver v1.34 in etcd. */
#include "apiserver/kinds/key_layout.h"
#include "apiserver/storage/stored_key.h"
#include "apiserver/storage/stored_key_layout_1.h"
#include "testing.h"

/* The prefix of every resource that is stored, and where layout 1 had it, written out: nothing here
 * is derived. */
static const struct {
    const char *group, *plural, *prefix, *layout_1;
} expected[] = {
    {"", "configmaps", "/registry/configmaps/", "/registry/core/configmaps/"},
    {"", "endpoints", "/registry/services/endpoints/", "/registry/core/endpoints/"},
    {"", "events", "/registry/events/", "/registry/core/events/"},
    {"", "limitranges", "/registry/limitranges/", "/registry/core/limitranges/"},
    {"", "namespaces", "/registry/namespaces/", "/registry/core/namespaces/"},
    {"", "nodes", "/registry/minions/", "/registry/core/nodes/"},
    {"", "persistentvolumeclaims", "/registry/persistentvolumeclaims/",
     "/registry/core/persistentvolumeclaims/"},
    {"", "persistentvolumes", "/registry/persistentvolumes/", "/registry/core/persistentvolumes/"},
    {"", "pods", "/registry/pods/", "/registry/core/pods/"},
    {"", "podtemplates", "/registry/podtemplates/", "/registry/core/podtemplates/"},
    {"", "replicationcontrollers", "/registry/controllers/",
     "/registry/core/replicationcontrollers/"},
    {"", "resourcequotas", "/registry/resourcequotas/", "/registry/core/resourcequotas/"},
    {"", "secrets", "/registry/secrets/", "/registry/core/secrets/"},
    {"", "serviceaccounts", "/registry/serviceaccounts/", "/registry/core/serviceaccounts/"},
    {"", "services", "/registry/services/specs/", "/registry/core/services/"},
    {"apiregistration.k8s.io", "apiservices", "/registry/apiregistration.k8s.io/apiservices/",
     "/registry/apiregistration.k8s.io/apiservices/"},
    {"apps", "controllerrevisions", "/registry/controllerrevisions/",
     "/registry/apps/controllerrevisions/"},
    {"apps", "daemonsets", "/registry/daemonsets/", "/registry/apps/daemonsets/"},
    {"apps", "deployments", "/registry/deployments/", "/registry/apps/deployments/"},
    {"apps", "replicasets", "/registry/replicasets/", "/registry/apps/replicasets/"},
    {"apps", "statefulsets", "/registry/statefulsets/", "/registry/apps/statefulsets/"},
    {"events.k8s.io", "events", "/registry/events/", "/registry/core/events/"},
    {"autoscaling", "horizontalpodautoscalers", "/registry/horizontalpodautoscalers/",
     "/registry/autoscaling/horizontalpodautoscalers/"},
    {"batch", "cronjobs", "/registry/cronjobs/", "/registry/batch/cronjobs/"},
    {"batch", "jobs", "/registry/jobs/", "/registry/batch/jobs/"},
    {"certificates.k8s.io", "certificatesigningrequests", "/registry/certificatesigningrequests/",
     "/registry/certificates.k8s.io/certificatesigningrequests/"},
    {"networking.k8s.io", "ingressclasses", "/registry/ingressclasses/",
     "/registry/networking.k8s.io/ingressclasses/"},
    {"networking.k8s.io", "ingresses", "/registry/ingress/",
     "/registry/networking.k8s.io/ingresses/"},
    {"networking.k8s.io", "ipaddresses", "/registry/ipaddresses/",
     "/registry/networking.k8s.io/ipaddresses/"},
    {"networking.k8s.io", "servicecidrs", "/registry/servicecidrs/",
     "/registry/networking.k8s.io/servicecidrs/"},
    {"networking.k8s.io", "networkpolicies", "/registry/networkpolicies/",
     "/registry/networking.k8s.io/networkpolicies/"},
    {"policy", "poddisruptionbudgets", "/registry/poddisruptionbudgets/",
     "/registry/policy/poddisruptionbudgets/"},
    {"rbac.authorization.k8s.io", "clusterrolebindings", "/registry/clusterrolebindings/",
     "/registry/rbac.authorization.k8s.io/clusterrolebindings/"},
    {"rbac.authorization.k8s.io", "clusterroles", "/registry/clusterroles/",
     "/registry/rbac.authorization.k8s.io/clusterroles/"},
    {"rbac.authorization.k8s.io", "rolebindings", "/registry/rolebindings/",
     "/registry/rbac.authorization.k8s.io/rolebindings/"},
    {"rbac.authorization.k8s.io", "roles", "/registry/roles/",
     "/registry/rbac.authorization.k8s.io/roles/"},
    {"storage.k8s.io", "csidrivers", "/registry/csidrivers/",
     "/registry/storage.k8s.io/csidrivers/"},
    {"storage.k8s.io", "csinodes", "/registry/csinodes/", "/registry/storage.k8s.io/csinodes/"},
    {"storage.k8s.io", "csistoragecapacities", "/registry/csistoragecapacities/",
     "/registry/storage.k8s.io/csistoragecapacities/"},
    {"storage.k8s.io", "storageclasses", "/registry/storageclasses/",
     "/registry/storage.k8s.io/storageclasses/"},
    {"storage.k8s.io", "volumeattachments", "/registry/volumeattachments/",
     "/registry/storage.k8s.io/volumeattachments/"},
    {"storage.k8s.io", "volumeattributesclasses", "/registry/volumeattributesclasses/",
     "/registry/storage.k8s.io/volumeattributesclasses/"},
    {"admissionregistration.k8s.io", "mutatingwebhookconfigurations",
     "/registry/mutatingwebhookconfigurations/",
     "/registry/admissionregistration.k8s.io/mutatingwebhookconfigurations/"},
    {"admissionregistration.k8s.io", "mutatingadmissionpolicies",
     "/registry/mutatingadmissionpolicies/", "/registry/mutatingadmissionpolicies/"},
    {"admissionregistration.k8s.io", "mutatingadmissionpolicybindings",
     "/registry/mutatingadmissionpolicybindings/", "/registry/mutatingadmissionpolicybindings/"},
    {"admissionregistration.k8s.io", "validatingadmissionpolicies",
     "/registry/validatingadmissionpolicies/",
     "/registry/admissionregistration.k8s.io/validatingadmissionpolicies/"},
    {"admissionregistration.k8s.io", "validatingadmissionpolicybindings",
     "/registry/validatingadmissionpolicybindings/",
     "/registry/admissionregistration.k8s.io/validatingadmissionpolicybindings/"},
    {"admissionregistration.k8s.io", "validatingwebhookconfigurations",
     "/registry/validatingwebhookconfigurations/",
     "/registry/admissionregistration.k8s.io/validatingwebhookconfigurations/"},
    {"apiextensions.k8s.io", "customresourcedefinitions",
     "/registry/apiextensions.k8s.io/customresourcedefinitions/",
     "/registry/apiextensions.k8s.io/customresourcedefinitions/"},
    {"scheduling.k8s.io", "priorityclasses", "/registry/priorityclasses/",
     "/registry/scheduling.k8s.io/priorityclasses/"},
    {"coordination.k8s.io", "leases", "/registry/leases/", "/registry/coordination.k8s.io/leases/"},
    {"node.k8s.io", "runtimeclasses", "/registry/runtimeclasses/",
     "/registry/node.k8s.io/runtimeclasses/"},
    {"discovery.k8s.io", "endpointslices", "/registry/endpointslices/",
     "/registry/discovery.k8s.io/endpointslices/"},
    {"resource.k8s.io", "deviceclasses", "/registry/deviceclasses/",
     "/registry/resource.k8s.io/deviceclasses/"},
    {"resource.k8s.io", "resourceclaims", "/registry/resourceclaims/",
     "/registry/resource.k8s.io/resourceclaims/"},
    {"resource.k8s.io", "resourceclaimtemplates", "/registry/resourceclaimtemplates/",
     "/registry/resource.k8s.io/resourceclaimtemplates/"},
    {"resource.k8s.io", "resourceslices", "/registry/resourceslices/",
     "/registry/resource.k8s.io/resourceslices/"},
    {"flowcontrol.apiserver.k8s.io", "flowschemas", "/registry/flowschemas/",
     "/registry/flowcontrol.apiserver.k8s.io/flowschemas/"},
    {"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations",
     "/registry/prioritylevelconfigurations/",
     "/registry/flowcontrol.apiserver.k8s.io/prioritylevelconfigurations/"},
};

static const char *expected_prefix(const kc__resource *r)
{
    for (size_t i = 0; i < KC_COUNT(expected); i++)
        if (!strcmp(expected[i].group, r->group) && !strcmp(expected[i].plural, r->plural))
            return expected[i].prefix;
    fail_msg("%s.%s is not in the list", r->plural, r->group);
    return NULL;
}

static void every_built_in_resource_has_the_prefix_of_kubernetes(void **state)
{
    (void)state;
    for (size_t i = 0; i < kc__resource_n_builtins; i++) {
        const kc__resource *r = &kc__resource_builtins[i];
        if (r->storage)
            assert_string_equal(r->key_prefix, expected_prefix(r));
        else
            assert_null(r->key_prefix);
    }
    for (size_t i = 0; i < KC_COUNT(expected); i++)
        assert_str(kc__resource_key_builtin_prefix(expected[i].group, expected[i].plural),
                   expected[i].prefix);
}

static void no_built_in_prefix_contains_another(void **state)
{
    (void)state;
    for (size_t i = 0; i < kc__resource_n_builtins; i++)
        for (size_t j = 0; j < kc__resource_n_builtins; j++) {
            const kc__resource *a = &kc__resource_builtins[i], *b = &kc__resource_builtins[j];
            if (!a->storage || !b->storage || !strcmp(a->storage, b->storage))
                continue;
            assert_false(kc_str_starts(kc_cstr(a->key_prefix), kc_cstr(b->key_prefix)));
        }
}

static void key_resolves_to_its_built_in_prefix(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "default/a", "kube-system/a.b.c"};
    for (size_t i = 0; i < KC_COUNT(expected); i++)
        for (size_t n = 0; n < KC_COUNT(names); n++) {
            kc_autofree char *key = kc_asprintf("%s%s", expected[i].prefix, names[n]);
            assert_str(kc__storage_key_prefix(kc_cstr(key)), expected[i].prefix);
        }
}

static void key_without_a_resource_has_no_prefix(void **state)
{
    (void)state;
    static const char *const keys[] = {"",
                                       "/registry",
                                       "/registry/",
                                       "/registry//",
                                       "pods",
                                       "/other/a/b",
                                       "/registry/pods",
                                       "/registry//pods/",
                                       "/registry/a.b/c",
                                       "/registry/a.b//c",
                                       "registry/a",
                                       "/registry/services/"};
    for (size_t i = 0; i < KC_COUNT(keys); i++)
        assert_int_equal(kc__storage_key_prefix(kc_cstr(keys[i])).n, 0);
}

static kc_str custom_prefix(kc_buf *out, const char *group, const char *plural)
{
    kc_buf_clear(out);
    kc__resource_key_custom_prefix(out, kc_cstr(group), kc_cstr(plural));
    return kc_buf_str(out);
}

/* Whatever a definition calls itself: its group has a dot and is not built in. */
static void custom_prefix_never_equals_a_built_in_one(void **state)
{
    (void)state;
    static const char *const groups[] = {"example.com", "k8s.io", "pods.services", "a.b",
                                         "samplecrd.k8s.io"};
    kc_scoped(kc_buf) prefix = {0};
    for (size_t g = 0; g < KC_COUNT(groups); g++) {
        assert_false(kc__resource_key_group_is_builtin(kc_cstr(groups[g])));
        for (size_t i = 0; i < KC_COUNT(expected); i++) {
            const kc_str custom = custom_prefix(&prefix, groups[g], expected[i].plural);
            assert_false(kc__resource_key_prefix_is_builtin(custom));
            assert_true(kc_str_eq(kc__storage_key_prefix(custom), custom));
        }
    }
}

static void every_built_in_group_is_reserved(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(expected); i++)
        assert_true(kc__resource_key_group_is_builtin(kc_cstr(expected[i].group)));
    static const char *const more[] = {"authentication.k8s.io",     "authorization.k8s.io",
                                       "apiregistration.k8s.io",    "resource.k8s.io",
                                       "internal.apiserver.k8s.io", "storagemigration.k8s.io"};
    for (size_t i = 0; i < KC_COUNT(more); i++)
        assert_true(kc__resource_key_group_is_builtin(kc_cstr(more[i])));
    assert_false(kc__resource_key_group_is_builtin(KC_STR("core")));
    assert_false(kc__resource_key_group_is_builtin(KC_STR("k8s.io")));
}

static void built_in_prefixes_are_recognized(void **state)
{
    (void)state;
    kc_scoped(kc_buf) prefix = {0};
    assert_true(kc__resource_key_prefix_is_builtin(
        custom_prefix(&prefix, "apiextensions.k8s.io", "customresourcedefinitions")));
    assert_true(kc__resource_key_prefix_is_builtin(KC_STR("/registry/services/")));
    assert_true(kc__resource_key_prefix_is_builtin(KC_STR("/registry/pods/default/")));
    assert_true(kc__resource_key_prefix_is_builtin(KC_STR("/registry/")));
    assert_false(kc__resource_key_prefix_is_builtin(
        custom_prefix(&prefix, "rbac.authorization.k8s.io", "clusterroles")));
}

static void layout_1_keys_are_migrated(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    for (size_t i = 0; i < KC_COUNT(expected); i++) {
        kc_autofree char *old = kc_asprintf("%sdefault/a", expected[i].layout_1);
        kc_autofree char *new = kc_asprintf("%sdefault/a", expected[i].prefix);
        kc_buf_clear(&out);
        if (strcmp(old, new) == 0) {
            assert_false(kc__storage_key_migrate(&out, kc_cstr(old)));
            continue;
        }
        assert_true(kc__storage_key_migrate(&out, kc_cstr(old)));
        assert_string_equal(kc_buf_cstr(&out), new);
        kc_buf_clear(&out);
        assert_false(kc__storage_key_migrate(&out, kc_cstr(new))); /* Once is enough. */
        assert_int_equal(out.n, 0);
    }
}

static void keys_of_custom_resources_are_not_migrated(void **state)
{
    (void)state;
    static const char *const keys[] = {"/registry/example.com/robots/default/a",
                                       "/registry/rbac.authorization.k8s.io/widgets/a",
                                       "/registry/example.com/pods/a",
                                       "/registry/core",
                                       "/registry/core/pods",
                                       "a",
                                       "",
                                       "/registry/core/unknown/a"};
    kc_scoped(kc_buf) out = {0};
    for (size_t i = 0; i < KC_COUNT(keys); i++)
        assert_false(kc__storage_key_migrate(&out, kc_cstr(keys[i])));
    assert_int_equal(out.n, 0);
}

/* kube-apiserver's names, by which a configuration of encryption selects them. */
static void records_of_servers_belong_to_resources_of_the_core_group(void **state)
{
    (void)state;
    static const struct {
        const char *prefix, *resource;
    } cases[] = {{"/registry/ranges/", "servicenodeportallocations"},
                 {"/registry/masterleases/", "apiServerIPInfo"}};
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_str group, plural;
        kc__resource_key_resource(kc_cstr(cases[i].prefix), &group, &plural);
        assert_true(kc_str_is(group, "") && kc_str_is(plural, cases[i].resource));
        assert_true(kc__resource_key_is_record(kc_cstr(cases[i].prefix)));
    }
    assert_false(kc__resource_key_is_record(KC_STR("/registry/pods/")));
}

TESTS(every_built_in_resource_has_the_prefix_of_kubernetes, no_built_in_prefix_contains_another,
      key_resolves_to_its_built_in_prefix, key_without_a_resource_has_no_prefix,
      custom_prefix_never_equals_a_built_in_one, every_built_in_group_is_reserved,
      built_in_prefixes_are_recognized, layout_1_keys_are_migrated,
      keys_of_custom_resources_are_not_migrated,
      records_of_servers_belong_to_resources_of_the_core_group)
