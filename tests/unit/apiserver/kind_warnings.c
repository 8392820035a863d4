/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kinds/warnings.h"

#include "kinds_samples.h"

typedef void warn_fn(const kc_value *object, kc_paths *warnings);

static void assert_warned(warn_fn *warn, const char *json, const char *expected)
{
    kc_scoped(kc_paths) warnings = {0};
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_object) *object = object_of(json);
    kc_auto(kc_view) *view = kc_view_of(object);
    warn(kc_view_root(view), &warnings);
    for (size_t i = 0; i < warnings.n; i++)
        kc_buf_printf(&out, "%s%s", i ? "\n" : "", warnings.items[i]);
    assert_string_equal(kc_buf_cstr(&out), expected);
}

static void an_ordinary_object_is_not_warned_about(void **state)
{
    (void)state;
    assert_warned(kc__pod_warnings, POD_WITH(""), "");
    assert_warned(kc__service_warnings, "{'spec':{'type':'ClusterIP'}}", "");
    assert_warned(kc__ingress_warnings, "{'metadata':{}}", "");
}

static void variables_and_ports_hide_others(void **state)
{
    (void)state;
    assert_warned(kc__pod_warnings,
                  CONTAINER_WITH("'env':[{'name':'a'},{'name':'b'},{'name':'a'}],"
                                 "'ports':[{'containerPort':80},{'containerPort':80}]"),
                  "spec.containers[0].env[2]: hides previous definition of \"a\", which may be "
                  "dropped when using apply\n"
                  "spec.containers[0].ports[1]: duplicate port definition with "
                  "spec.containers[0].ports[0]");
    assert_warned(kc__template_warnings, "{'spec':{'template':{'spec':{'imagePullSecrets':[{}]}}}}",
                  "spec.template.spec.imagePullSecrets[0].name: invalid empty name \"\"");
}

static void some_fields_of_a_service_are_not_looked_at(void **state)
{
    (void)state;
    assert_warned(kc__service_warnings, "{'spec':{'clusterIP':'None','sessionAffinity':'None'}}",
                  "spec.SessionAffinity is ignored for headless services");
    assert_warned(kc__service_warnings, "{'spec':{'type':'ClusterIP','externalName':'x'}}",
                  "spec.externalName is ignored when spec.type is not \"ExternalName\"");
    assert_warned(kc__service_warnings,
                  "{'spec':{'type':'ExternalName','externalIPs':['1.1.1.1']}}",
                  "spec.externalIPs is ignored when spec.type is \"ExternalName\"");
}

static void the_class_of_an_ingress_was_an_annotation(void **state)
{
    (void)state;
    assert_warned(kc__ingress_warnings,
                  "{'metadata':{'annotations':{'kubernetes.io/ingress.class':'x'}}}",
                  "annotation \"kubernetes.io/ingress.class\" is deprecated, please use "
                  "'spec.ingressClassName' instead");
}

TESTS(an_ordinary_object_is_not_warned_about, variables_and_ports_hide_others,
      some_fields_of_a_service_are_not_looked_at, the_class_of_an_ingress_was_an_annotation)
