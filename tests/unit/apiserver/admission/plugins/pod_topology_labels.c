/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin PodTopologyLabels. */
#include "api_testing.h"

#include "apiserver/admission/plugin_selection.h"

#define PODS "/api/v1/namespaces/default/pods"
#define ZONE "topology.kubernetes.io/zone"

static api *start_with_node(const char *plugins)
{
    kc__admission_selection on = 0;
    kc__admission_selection_parse(plugins, &on, NULL);
    api *a = api_start(&(api_opts){.server.enabled_plugins = on});
    assert_code(api_post(a, "/api/v1/nodes",
                         "{'metadata':{'name':'n1','labels':{'" ZONE "':'a',"
                         "'topology.kubernetes.io/region':'r','other':'x'}}}"),
                201);
    return a;
}

static const reply *make_pod(api *a, const char *name, const char *spec)
{
    return api_post(a, PODS,
                    text(a,
                         "{'metadata':{'name':'%s','labels':{'" ZONE "':'old','own':'1'}},'spec':{"
                         "'containers':[{'name':'c','image':'i'}]%s}}",
                         name, spec));
}

static const reply *bind_pod(api *a, const char *name, const char *node)
{
    assert_code(api_post(a, text(a, PODS "/%s/binding", name),
                         text(a,
                              "{'metadata':{'name':'%s','labels':{'sent':'1'}},'target':{'kind':"
                              "'Node','name':'%s'}}",
                              name, node)),
                201);
    return api_get(a, text(a, PODS "/%s", name));
}

static void bound_pod_has_the_topology_of_its_node(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_node("PodTopologyLabels");
    assert_code(make_pod(a, "p", ""), 201);
    assert_at(bind_pod(a, "p", "n1"), "metadata.labels",
              "{\"own\":\"1\",\"sent\":\"1\",\"topology.kubernetes.io/region\":\"r\","
              "\"" ZONE "\":\"a\"}");
}

static void new_pod_of_a_node_has_its_topology(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_node("PodTopologyLabels");
    assert_at(make_pod(a, "p", ",'nodeName':'n1'"), "metadata.labels",
              "{\"own\":\"1\",\"topology.kubernetes.io/region\":\"r\",\"" ZONE "\":\"a\"}");
    assert_at(make_pod(a, "q", ",'nodeName':'gone'"), "metadata.labels",
              "{\"own\":\"1\",\"" ZONE "\":\"old\"}");
}

static void labels_of_a_binding_are_ignored_by_default(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_node("");
    assert_code(make_pod(a, "p", ""), 201);
    assert_at(bind_pod(a, "p", "n1"), "metadata.labels", "{\"own\":\"1\",\"" ZONE "\":\"old\"}");
}

TESTS(bound_pod_has_the_topology_of_its_node, new_pod_of_a_node_has_its_topology,
      labels_of_a_binding_are_ignored_by_default)
