/* SPDX-License-Identifier: Apache-2.0 */
/* The endpoints of the Service "kubernetes". tests/e2e/services.bats has several servers. */
#include "api_testing.h"

#include "apiserver/background/service_endpoint_objects.h"

#define ENDPOINTS "/api/v1/namespaces/default/endpoints/kubernetes"
#define SLICE     "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes"

static api *start_advertising(void)
{
    return api_start(
        &(api_opts){.server = {.advertise_address = "10.0.0.1", .advertise_port = 6444}});
}

static void server_is_listed_while_it_runs(void **state)
{
    (void)state;
    kc_auto(api) *a = start_advertising();
    assert_at(api_get(a, ENDPOINTS), "subsets",
              "[{\"addresses\":[{\"ip\":\"10.0.0.1\"}],\"ports\":[{\"name\":\"https\",\"port\":6444"
              ",\"protocol\":\"TCP\"}]}]");
    assert_at(api_get(a, ENDPOINTS), "metadata.labels",
              "{\"endpointslice.kubernetes.io/skip-mirror\":\"true\"}");
    const reply *slice = api_get(a, SLICE);
    assert_at(slice, "endpoints",
              "[{\"addresses\":[\"10.0.0.1\"],\"conditions\":{\"ready\":true}}]");
    assert_at(slice, "ports", "[{\"name\":\"https\",\"protocol\":\"TCP\",\"port\":6444}]");
    assert_at(slice, "addressType", "IPv4");
    assert_at(slice, "metadata.labels", "{\"kubernetes.io/service-name\":\"kubernetes\"}");
    assert_at(slice, "metadata.generation", "1");
    assert_at(slice, "metadata.managedFields[0].manager", "kube-apiserver");
    assert_at(api_get(a, "/api/v1/namespaces/default/services/kubernetes"),
              "spec.ports[0].targetPort", "6444");
}

static void server_that_advertises_no_address_is_not_listed(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_get(a, ENDPOINTS), 404);
    assert_code(api_get(a, SLICE), 404);
}

static void stopped_server_is_removed_and_listed_again(void **state)
{
    (void)state;
    kc_auto(api) *a = start_advertising();
    const char *uid = r_text(api_get(a, ENDPOINTS), "metadata.uid");
    api_restart(a);
    assert_at(api_get(a, SLICE), "metadata.generation", "3");
    assert_at(api_get(a, SLICE), "endpoints[0].addresses", "[\"10.0.0.1\"]");
    assert_at(api_get(a, ENDPOINTS), "metadata.uid", uid);
}

/* ---- the objects ---- */

static kc_object *endpoints_of(const char *one, const char *other, const kc_object *stored)
{
    kc_scoped(kc__service_endpoint_list) servers = {0};
    kc_rand rand;
    kc_rand_seed(&rand, 1);
    if (one)
        kc__service_endpoint_list_add(&servers, kc_cstr(one));
    if (other)
        kc__service_endpoint_list_add(&servers, kc_cstr(other));
    return kc__service_endpoint_endpoints(&servers, 7000, stored,
                                          &(kc__service_endpoint_new){.rand = &rand});
}

static kc_object *slice_of(const kc_object *endpoints, const kc_object *stored)
{
    kc_rand rand;
    kc_rand_seed(&rand, 1);
    return kc__service_endpoint_slice(endpoints, stored,
                                      &(kc__service_endpoint_new){.rand = &rand});
}

static void objects_that_are_right_are_not_made_again(void **state)
{
    (void)state;
    kc_auto(kc_object) *endpoints = endpoints_of("10.0.0.1", "10.0.0.2", NULL);
    kc_auto(kc_object) *slice = slice_of(endpoints, NULL);
    assert_null(endpoints_of("10.0.0.1", "10.0.0.2", endpoints));
    assert_null(slice_of(endpoints, slice));
}

static void objects_without_servers_have_no_addresses(void **state)
{
    (void)state;
    kc_auto(kc_object) *before = endpoints_of("10.0.0.1", NULL, NULL);
    kc_auto(kc_object) *slice_before = slice_of(before, NULL);
    kc_auto(kc_object) *endpoints = endpoints_of(NULL, NULL, before);
    kc_auto(kc_object) *slice = slice_of(endpoints, slice_before);
    assert_null(strstr(kc_object_json(endpoints).p, "subsets"));
    assert_non_null(strstr(kc_object_json(slice).p, "\"endpoints\":null,\"ports\":null"));
    assert_null(endpoints_of(NULL, NULL, endpoints));
    assert_null(slice_of(endpoints, slice));
}

/* Servers may have different ports: the first one decides, and the others do not change it. */
static void ports_of_stored_endpoints_stay(void **state)
{
    (void)state;
    kc_auto(kc_object) *stored = kc_object_parse(
        KC_STR("{\"kind\":\"Endpoints\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"kubernetes\""
               ",\"namespace\":\"default\",\"labels\":{\"own\":\"x\"}},\"subsets\":[{\"addresses\":"
               "[{\"ip\":\"10.0.0.9\"}],\"ports\":[{\"name\":\"https\",\"port\":6443,\"protocol\":"
               "\"TCP\"}]}]}"),
        NULL, NULL);
    kc_auto(kc_object) *endpoints = endpoints_of("10.0.0.1", "10.0.0.9", stored);
    const char *json = kc_object_json(endpoints).p;
    assert_non_null(strstr(json, "\"addresses\":[{\"ip\":\"10.0.0.1\"},{\"ip\":\"10.0.0.9\"}],"
                                 "\"ports\":[{\"name\":\"https\",\"port\":6443"));
    assert_non_null(strstr(json, "\"own\":\"x\",\"endpointslice.kubernetes.io/skip-mirror\""));
    kc_auto(kc_object) *slice = slice_of(endpoints, NULL);
    assert_non_null(strstr(kc_object_json(slice).p, "\"port\":6443"));
}

static void slice_has_the_addresses_of_one_family(void **state)
{
    (void)state;
    kc_auto(kc_object) *both = endpoints_of("10.0.0.1", "2001:db8::1", NULL);
    kc_auto(kc_object) *v4 = slice_of(both, NULL);
    assert_non_null(strstr(kc_object_json(v4).p, "\"addressType\":\"IPv4\""));
    assert_null(strstr(kc_object_json(v4).p, "2001:db8::1"));
    kc_auto(kc_object) *six = endpoints_of("2001:db8::1", NULL, NULL);
    kc_auto(kc_object) *v6 = slice_of(six, NULL);
    assert_non_null(strstr(kc_object_json(v6).p, "\"addressType\":\"IPv6\""));
}

TESTS(server_is_listed_while_it_runs, server_that_advertises_no_address_is_not_listed,
      stopped_server_is_removed_and_listed_again, objects_that_are_right_are_not_made_again,
      objects_without_servers_have_no_addresses, ports_of_stored_endpoints_stay,
      slice_has_the_addresses_of_one_family)
