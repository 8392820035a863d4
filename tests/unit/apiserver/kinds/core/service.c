/* SPDX-License-Identifier: Apache-2.0 */
#include "kinds_testing.h"

#define SERVICE "io.k8s.api.core.v1.Service"
#define SERVICE_OF(spec) \
    "{'kind':'Service','apiVersion':'v1','metadata':{'name':'s'},'spec':{" spec "}}"

static void assert_service(const char *json, const char *expected)
{
    assert_new(SERVICE, &kc__strategy_service, json, expected);
}

static void assert_spec(const char *json, const char *expected)
{
    kc_auto(kc_object) *object = prepared(SERVICE, &kc__strategy_service, json);
    kc_auto(kc_view) *view = kc_view_of(object);
    assert_value_json(kc_value_get(kc_view_root(view), "spec"), expected);
}

static void service_spec_is_defaulted(void **state)
{
    (void)state;
    assert_spec(SERVICE_OF("'ports':[{'port':80}]"),
                "{\"ports\":[{\"protocol\":\"TCP\",\"port\":80,\"targetPort\":80}],"
                "\"type\":\"ClusterIP\",\"sessionAffinity\":\"None\",\"ipFamilies\":[\"IPv4\"],"
                "\"ipFamilyPolicy\":\"SingleStack\",\"internalTrafficPolicy\":\"Cluster\"}");
    assert_spec(SERVICE_OF("'type':'ExternalName','externalName':'a.b'"),
                "{\"type\":\"ExternalName\",\"sessionAffinity\":\"None\","
                "\"externalName\":\"a.b\"}");
}

static void headless_service_without_selector_has_both_families(void **state)
{
    (void)state;
    assert_spec(SERVICE_OF("'clusterIP':'None'"),
                "{\"clusterIP\":\"None\",\"clusterIPs\":[\"None\"],\"type\":\"ClusterIP\","
                "\"sessionAffinity\":\"None\",\"ipFamilies\":[\"IPv4\",\"IPv6\"],"
                "\"ipFamilyPolicy\":\"RequireDualStack\",\"internalTrafficPolicy\":\"Cluster\"}");
}

static void invalid_service_ports_are_reported(void **state)
{
    (void)state;
    assert_service(SERVICE_OF(""), "spec.ports: Required value");
    assert_service(SERVICE_OF("'clusterIP':'None'"), "");
    assert_service(SERVICE_OF("'ports':[{'port':80},{'port':81,'name':'b'}]"),
                   "spec.ports[0].name: Required value");
    assert_service(SERVICE_OF("'ports':[{'port':70000}]"),
                   "spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, "
                   "inclusive\n"
                   "spec.ports[0].targetPort: Invalid value: 70000: must be between 1 and 65535, "
                   "inclusive");
}

static void fields_of_another_service_type_are_invalid(void **state)
{
    (void)state;
    assert_service(SERVICE_OF("'type':'Foo','ports':[{'port':80}]"),
                   "spec.type: Unsupported value: \"Foo\": supported values: \"ClusterIP\", "
                   "\"ExternalName\", \"LoadBalancer\", \"NodePort\"");
    assert_service(SERVICE_OF("'ports':[{'port':80,'nodePort':30000}]"),
                   "spec.ports[0].nodePort: Forbidden: may not be used when `type` is "
                   "'ClusterIP'");
    assert_service(SERVICE_OF("'type':'ExternalName'"), "spec.externalName: Required value");
}

static void cluster_ip_is_immutable(void **state)
{
    (void)state;
    assert_changed(SERVICE, &kc__strategy_service,
                   SERVICE_OF("'ports':[{'port':80}],'clusterIP':'10.96.0.9'"),
                   SERVICE_OF("'ports':[{'port':80}],'clusterIP':'10.96.0.8'"),
                   "spec.clusterIPs[0]: Invalid value: [\"10.96.0.8\"]: may not change once set");
}

/* The spec that an update ends up with. */
static void assert_updated(const char *before, const char *after, const char *expected)
{
    kc_auto(kc_object) *old = prepared(SERVICE, &kc__strategy_service, before);
    kc_auto(kc_object) *new = completed(SERVICE, &kc__strategy_service, after);
    kc_auto(kc_view) *view = kc_view_of(old);
    kc_auto(kc_edit) *edit = kc_edit_of(new);
    kc__strategy_service.prepare_update(edit, kc_view_root(view), NULL);
    kc_autofree char *wanted = kc_str_dup(kc_cstr(expected));
    kc_auto(kc_object) *frozen = kc_edit_freeze(edit, NULL);
    kc_autofree char *json = kc_str_dup(kc_object_json(frozen));
    for (char *p = wanted; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    assert_contains(json, wanted);
}

static void update_keeps_allocated_ip_and_node_port(void **state)
{
    (void)state;
    assert_updated(SERVICE_OF("'type':'NodePort','clusterIP':'10.96.0.9','ports':[{'port':80,"
                              "'nodePort':30001}]"),
                   SERVICE_OF("'type':'NodePort','ports':[{'port':80}]"), "'nodePort':30001");
    assert_updated(SERVICE_OF("'clusterIP':'10.96.0.9','ports':[{'port':80}]"),
                   SERVICE_OF("'ports':[{'port':81}]"), "'clusterIPs':['10.96.0.9']");
}

TESTS(service_spec_is_defaulted, headless_service_without_selector_has_both_families,
      invalid_service_ports_are_reported, fields_of_another_service_type_are_invalid,
      cluster_ip_is_immutable, update_keeps_allocated_ip_and_node_port)
