/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kinds/warnings.h"
#include "apiserver/kinds/registry.h"
#include "testing.h"

/* All warnings about an object that replaces another ("" stands for none), one a line. */
static void assert_warns(const char *group, const char *plural, const char *json,
                         const char *before, const char *expected)
{
    kc_auto(kc__kinds) *kinds = kc__kinds_new(NULL);
    const kc__resource *resource =
        kc__kinds_find(kinds, kc_cstr(group), KC_STR("v1"), kc_cstr(plural));
    kc_auto(kc_view) *view = view_of(json), *old = *before ? view_of(before) : NULL;
    kc_scoped(kc_paths) warnings = {0};
    kc_scoped(kc_buf) text = {0};
    assert_true(kc__kind_warns(resource));
    kc__kind_warnings(resource, kc_view_root(view), kc_view_root(old), &warnings);
    for (size_t i = 0; i < warnings.n; i++)
        kc_buf_printf(&text, "%s\n", warnings.items[i]);
    assert_string_equal(kc_buf_cstr(&text), expected);
}

static void assert_pod_warns(const char *json, const char *expected)
{
    assert_warns("", "pods", json, "", expected);
}

static void an_ordinary_pod_gives_no_warning(void **state)
{
    (void)state;
    assert_pod_warns("{'metadata':{'annotations':{'a':'b'}},'spec':{'nodeSelector':{'disk':'ssd'},"
                     "'volumes':[{'name':'v','emptyDir':{}}],'containers':[{'name':'c',"
                     "'env':[{'name':'A','value':'1'},{'name':'B'}]}]}}",
                     "");
}

static void what_is_over_is_named_with_what_took_its_place(void **state)
{
    (void)state;
    assert_pod_warns(
        "{'metadata':{'annotations':{'security.alpha.kubernetes.io/sysctls':'x'}},"
        "'spec':{'nodeSelector':{'beta.kubernetes.io/os':'linux'},'topologySpreadConstraints':"
        "[{'topologyKey':'failure-domain.beta.kubernetes.io/zone'}],"
        "'volumes':[{'name':'a'},{'name':'v','gitRepo':{}}]}}",
        "spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "
        "\"kubernetes.io/os\" instead\n"
        "spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is "
        "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead\n"
        "spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching "
        "no pod\n"
        "metadata.annotations[security.alpha.kubernetes.io/sysctls]: non-functional in v1.11+; use "
        "the \"sysctls\" field instead\n"
        "spec.volumes[1].gitRepo: deprecated in v1.11, and disabled by default in v1.33+\n");
}

static void what_stands_twice_is_named(void **state)
{
    (void)state;
    assert_pod_warns(
        "{'spec':{'hostAliases':[{'ip':'1.1.1.1'},{'ip':'1.1.1.1'}],'imagePullSecrets':[{'name':"
        "'s'},{'name':'s'},{}],'terminationGracePeriodSeconds':-1,'initContainers':[{'env':[{'name':"
        "'A','value':'1'},{'name':'A','value':'2'}]}],'containers':[{'env':[{'name':'A','value':"
        "'1'},{'name':'A','value':'$(A)2'}]},{'env':[{'name':'B','value':'1'},{'name':'B','value':"
        "'$(B)'}]}]}}",
        "spec.hostAliases[1].ip: duplicate ip \"1.1.1.1\"\n"
        "spec.imagePullSecrets[1].name: duplicate name \"s\"\n"
        "spec.imagePullSecrets[2].name: invalid empty name \"\"\n"
        "spec.initContainers[0].env[1]: hides previous definition of \"A\", which may be dropped "
        "when using apply\n"
        "spec.containers[1].env[1]: hides previous definition of \"B\", which may be dropped when "
        "using apply\n"
        "spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be "
        "treated as 1\n");
}

#define SELECTS(of) "{'spec':{'template':{'spec':{'nodeSelector':{'" of "':'x'}}}}}"
#define WARNING                                                                          \
    "spec.template.spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; " \
    "use \"kubernetes.io/arch\" instead\n"

static void a_template_is_looked_at_when_it_changes(void **state)
{
    (void)state;
    const char *now = SELECTS("beta.kubernetes.io/arch");
    assert_warns("apps", "deployments", now, "", WARNING);
    assert_warns("apps", "statefulsets", now, SELECTS("disk"), WARNING);
    assert_warns("batch", "jobs", now, now, "");
    assert_warns("", "pods", "{'spec':{'nodeSelector':{'beta.kubernetes.io/os':'x'}}}", "{}", "");
    assert_warns("batch", "cronjobs",
                 "{'spec':{'jobTemplate':{'spec':{'template':{'spec':{'volumes':[{'rbd':{}}]}}}}}}",
                 "",
                 "spec.jobTemplate.spec.template.spec.volumes[0].rbd: deprecated in v1.28, "
                 "non-functional in v1.31+\n");
}

static void a_service_says_what_it_ignores(void **state)
{
    (void)state;
    assert_warns("", "services", "{'spec':{'type':'ClusterIP','clusterIP':'10.0.0.1'}}", "", "");
    assert_warns("", "services",
                 "{'spec':{'type':'ClusterIP','clusterIP':'None','sessionAffinity':'None',"
                 "'externalIPs':['1.1.1.1'],'externalName':'x'}}",
                 "",
                 "spec.externalIPs is ignored for headless services\n"
                 "spec.SessionAffinity is ignored for headless services\n"
                 "spec.externalName is ignored when spec.type is not \"ExternalName\"\n");
    assert_warns("", "services", "{'spec':{'type':'ExternalName','externalIPs':['1.1.1.1']}}", "",
                 "spec.externalIPs is ignored when spec.type is \"ExternalName\"\n");
}

static void warnings_have_an_end(void **state)
{
    (void)state;
    kc_scoped(kc_buf) json = {0};
    kc_scoped(kc_paths) warnings = {0};
    kc_buf_puts(&json, "{'spec':{'imagePullSecrets':[{}");
    for (int i = 0; i < 5000; i++)
        kc_buf_puts(&json, ",{}");
    kc_buf_puts(&json, "]}}");
    kc_auto(kc__kinds) *kinds = kc__kinds_new(NULL);
    kc_auto(kc_view) *view = view_of(kc_buf_cstr(&json));
    kc__kind_warnings(kc__kinds_find(kinds, KC_STR(""), KC_STR("v1"), KC_STR("pods")),
                      kc_view_root(view), NULL, &warnings);
    assert_int_equal(warnings.n, 100);
}

TESTS(an_ordinary_pod_gives_no_warning, what_is_over_is_named_with_what_took_its_place,
      what_stands_twice_is_named, a_template_is_looked_at_when_it_changes,
      a_service_says_what_it_ignores, warnings_have_an_end)
