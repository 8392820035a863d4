/* SPDX-License-Identifier: Apache-2.0 */
/* Cluster IPs and node ports of Services: allocation, refusal, release, and what is stored. */
#include "api_testing.h"

#include "apiserver/services/node_ports.h"
#include "apiserver/services/service_claim.h"
#include "kc/thread.h"

#define SERVICES  "/api/v1/namespaces/default/services"
#define ADDRESSES "/apis/networking.k8s.io/v1/ipaddresses"
#define CIDRS     "/apis/networking.k8s.io/v1/servicecidrs"

static const reply *make_service(api *a, const char *name, const char *spec)
{
    return api_post(a, SERVICES, text(a, "{'metadata':{'name':'%s'},'spec':{%s}}", name, spec));
}

static bool address_exists(api *a, const char *ip)
{
    return api_get(a, text(a, ADDRESSES "/%s", ip))->status == 200;
}

/* The ports that are recorded as taken: "30001 30005". */
static const char *recorded_ports(api *a)
{
    kc__node_port_set ports = {0};
    const char *why = NULL, *list = "";
    kc__service_numbers_ports(api_inside(a)->numbers, &ports, &why);
    assert_null(why);
    for (uint32_t port = 1; port <= UINT16_MAX; port++)
        if (kc__node_port_set_has(&ports, (uint16_t)port))
            list = text(a, "%s%s%u", list, *list ? " " : "", port);
    return list;
}

static void cluster_ip_is_an_ip_address_object(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *service = make_service(a, "web", "'ports':[{'port':80}]");
    assert_code(service, 201);
    const reply *address = api_get(a, text(a, ADDRESSES "/%s", r_text(service, "spec.clusterIP")));
    assert_at(address, "spec.parentRef",
              "{\"resource\":\"services\",\"namespace\":\"default\",\"name\":\"web\"}");
    assert_at(address, "metadata.labels",
              "{\"ipaddress.kubernetes.io/ip-family\":\"IPv4\","
              "\"ipaddress.kubernetes.io/managed-by\":\"ipallocator.k8s.io\"}");
    assert_at(address, "metadata.managedFields[0].manager", "kube-apiserver");
    assert_true(address_exists(a, "10.96.0.1")); /* Of the Service "kubernetes". */
}

static void taken_and_foreign_cluster_ips_are_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(make_service(a, "a", "'clusterIP':'10.96.0.9','ports':[{'port':80}]"), 201);
    assert_status(make_service(a, "b", "'clusterIP':'10.96.0.9','ports':[{'port':80}]"), 422,
                  "Invalid",
                  "Service \"b\" is invalid: spec.clusterIPs: Invalid value: [\"10.96.0.9\"]: "
                  "failed to allocate IP 10.96.0.9: provided IP is already allocated");
    assert_status(make_service(a, "b", "'clusterIP':'10.96.0.0','ports':[{'port':80}]"), 422,
                  "Invalid",
                  "Service \"b\" is invalid: spec.clusterIPs: Invalid value: [\"10.96.0.0\"]: "
                  "failed to allocate IP 10.96.0.0: the provided network does not match the "
                  "current range");
}

static void taken_and_foreign_node_ports_are_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(make_service(a, "a", "'type':'NodePort','ports':[{'port':80,'nodePort':30001}]"),
                201);
    assert_status(make_service(a, "b", "'type':'NodePort','ports':[{'port':80,'nodePort':30001}]"),
                  422, "Invalid",
                  "Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: 30001: "
                  "provided port is already allocated");
    assert_status(make_service(a, "b", "'type':'NodePort','ports':[{'port':80,'nodePort':1}]"), 422,
                  "Invalid",
                  "Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: 1: provided "
                  "port is not in the valid range. The range of valid ports is 30000-32767");
    assert_string_equal(recorded_ports(a), "30001");
}

static void refused_and_dry_writes_take_nothing(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(make_service(a, "a", "'clusterIP':'10.96.0.9','ports':[{'port':80}]"), 201);
    assert_code(make_service(a, "a", "'type':'NodePort','ports':[{'port':80,'nodePort':30001}]"),
                409);
    assert_code(make_service(a, "b", "'type':'NodePort','ports':[{'port':-1,'nodePort':30002}]"),
                422);
    assert_code(api_post(a, SERVICES "?dryRun=All",
                         "{'metadata':{'name':'b'},'spec':{'type':'NodePort','clusterIP':"
                         "'10.96.0.8','ports':[{'port':80,'nodePort':30003}]}}"),
                201);
    assert_string_equal(recorded_ports(a), "");
    assert_string_equal(r_names(api_get(a, ADDRESSES)), "10.96.0.1 10.96.0.9");
}

static void deleted_service_releases_its_numbers(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char spec[] =
        "'type':'NodePort','clusterIP':'10.96.0.9','ports':[{'port':80,'nodePort':30001}]";
    for (int i = 0; i < 2; i++) {
        assert_code(make_service(a, "a", spec), 201);
        assert_code(api_delete(a, SERVICES "/a", NULL), 200);
        assert_false(address_exists(a, "10.96.0.9"));
        assert_string_equal(recorded_ports(a), "");
    }
}

static void deleted_collection_releases_all_numbers(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    for (int i = 0; i < 20; i++)
        assert_code(make_service(a, text(a, "s%d", i), "'type':'NodePort','ports':[{'port':80}]"),
                    201);
    assert_int_equal(r_count(api_get(a, ADDRESSES), "items"), 21);
    assert_code(api_delete(a, SERVICES, NULL), 200);
    assert_int_equal(r_count(api_get(a, ADDRESSES), "items"), 0);
    assert_string_equal(recorded_ports(a), "");
}

static void service_with_a_finalizer_keeps_its_numbers_until_it_is_removed(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_post(a, SERVICES,
                         "{'metadata':{'name':'a','finalizers':['x.y/z']},'spec':{'type':"
                         "'NodePort','clusterIP':'10.96.0.9','ports':[{'port':80,'nodePort':30001}"
                         "]}}"),
                201);
    assert_code(api_delete(a, SERVICES "/a", NULL), 200);
    assert_true(address_exists(a, "10.96.0.9"));
    assert_string_equal(recorded_ports(a), "30001");
    assert_code(api_patch(a, SERVICES "/a", "{'metadata':{'finalizers':null}}"), 200);
    assert_false(address_exists(a, "10.96.0.9"));
    assert_string_equal(recorded_ports(a), "");
}

static void changes_of_the_type_take_and_release_numbers(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(make_service(a, "a", "'type':'ExternalName','externalName':'x.y'"), 201);
    assert_int_equal(r_count(api_get(a, ADDRESSES), "items"), 1);
    assert_code(api_patch(a, SERVICES "/a",
                          "{'spec':{'type':'NodePort','externalName':null,'ports':[{'port':80,"
                          "'nodePort':30001}]}}"),
                200);
    const char *ip = r_text(api_get(a, SERVICES "/a"), "spec.clusterIP");
    assert_true(address_exists(a, ip));
    assert_string_equal(recorded_ports(a), "30001");
    assert_code(api_patch(a, SERVICES "/a", "{'spec':{'type':'ClusterIP'}}"), 200);
    assert_true(address_exists(a, ip));
    assert_string_equal(recorded_ports(a), "");
    assert_code(api_patch(a, SERVICES "/a", "{'spec':{'type':'ExternalName','externalName':'x'}}"),
                200);
    assert_false(address_exists(a, ip));
}

static void changed_ports_are_exchanged(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(make_service(a, "a", "'type':'NodePort','ports':[{'port':80,'nodePort':30001}]"),
                201);
    assert_code(make_service(a, "b", "'type':'NodePort','ports':[{'port':80,'nodePort':30002}]"),
                201);
    assert_code(api_patch(a, SERVICES "/a", "{'spec':{'ports':[{'port':80,'nodePort':30003}]}}"),
                200);
    assert_string_equal(recorded_ports(a), "30002 30003");
    assert_code(api_patch(a, SERVICES "/a", "{'spec':{'ports':[{'port':80,'nodePort':30002}]}}"),
                422);
    assert_code(api_patch(a, SERVICES "/a", "{'metadata':{'labels':{'x':'y'}}}"), 200);
    assert_string_equal(recorded_ports(a), "30002 30003");
}

static void protocols_of_a_new_port_share_a_node_port(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *drawn = make_service(a, "a",
                                      "'type':'NodePort','ports':[{'name':'t','port':53},{'name':"
                                      "'u','port':53,'protocol':'UDP'}]");
    assert_code(drawn, 201);
    assert_string_equal(r_text(drawn, "spec.ports[0].nodePort"),
                        r_text(drawn, "spec.ports[1].nodePort"));
    assert_string_equal(recorded_ports(a), r_text(drawn, "spec.ports[0].nodePort"));
    const reply *set = make_service(a, "b",
                                    "'type':'NodePort','ports':[{'name':'t','port':53},{'name':"
                                    "'u','port':53,'protocol':'UDP','nodePort':30001}]");
    assert_at(set, "spec.ports[0].nodePort", "30001");
}

static void load_balancer_without_node_ports_takes_those_that_the_client_set(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(make_service(a, "a",
                             "'type':'LoadBalancer','allocateLoadBalancerNodePorts':false,'ports':"
                             "[{'name':'a','port':80},{'name':'b','port':81,'nodePort':30001}]"),
                201);
    assert_string_equal(recorded_ports(a), "30001");
}

static void health_check_port_is_taken_and_released(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(make_service(a, "a",
                             "'type':'LoadBalancer','allocateLoadBalancerNodePorts':false,"
                             "'externalTrafficPolicy':'Local','healthCheckNodePort':30001,'ports':"
                             "[{'port':80}]"),
                201);
    assert_string_equal(recorded_ports(a), "30001");
    assert_status(make_service(a, "b",
                               "'type':'LoadBalancer','externalTrafficPolicy':'Local',"
                               "'healthCheckNodePort':30001,'ports':[{'port':80}]"),
                  500, "InternalError",
                  "Internal error occurred: failed to allocate requested HealthCheck NodePort "
                  "30001: provided port is already allocated");
    assert_code(api_patch(a, SERVICES "/a", "{'spec':{'externalTrafficPolicy':'Cluster'}}"), 200);
    assert_string_equal(recorded_ports(a), "");
}

static void full_ranges_are_reported(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(
        &(api_opts){.server = {.service_range = "10.1.0.0/29", .node_ports = {31000, 31001}}});
    assert_at(api_get(a, SERVICES "/kubernetes"), "spec.clusterIP", "10.1.0.1");
    assert_at(api_get(a, CIDRS "/kubernetes"), "spec.cidrs", "[\"10.1.0.0/29\"]");
    for (int i = 0; i < 2; i++)
        assert_code(make_service(a, text(a, "p%d", i), "'type':'NodePort','ports':[{'port':80}]"),
                    201);
    assert_string_equal(recorded_ports(a), "31000 31001");
    assert_status(make_service(a, "x", "'type':'NodePort','ports':[{'port':80}]"), 500,
                  "InternalError",
                  "Internal error occurred: failed to allocate a nodePort: range is full");
    for (int i = 0; i < 3; i++)
        assert_code(make_service(a, text(a, "c%d", i), "'ports':[{'port':80}]"), 201);
    assert_status(make_service(a, "x", "'ports':[{'port':80}]"), 500, "InternalError",
                  "Internal error occurred: failed to allocate a serviceIP: range is full");
}

static void further_network_is_used_if_it_is_ready(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.server.service_range = "10.1.0.0/29"});
    static const char spec[] = "'clusterIP':'10.2.0.9','ports':[{'port':80}]";
    assert_code(make_service(a, "a", spec), 422);
    assert_code(api_post(a, CIDRS, "{'metadata':{'name':'more'},'spec':{'cidrs':['10.2.0.0/24']}}"),
                201);
    assert_code(make_service(a, "a", spec), 201);
    for (int i = 0; i < 5; i++)
        assert_code(make_service(a, text(a, "c%d", i), "'ports':[{'port':80}]"), 201);
    const reply *beyond = make_service(a, "d", "'ports':[{'port':80}]");
    assert_true(kc_str_starts(kc_cstr(r_text(beyond, "spec.clusterIP")), KC_STR("10.2.0.")));
    assert_code(api_patch(a, CIDRS "/more/status",
                          "{'status':{'conditions':[{'type':'Ready','status':'False','reason':'r',"
                          "'message':'','lastTransitionTime':'2026-01-01T00:00:00Z'}]}}"),
                200);
    assert_code(make_service(a, "e", "'ports':[{'port':80}]"), 500);
}

/* ---- writes that another one precedes ---- */

typedef struct claim_group {
    kc_latch done;
    kc__store_write service;
} claim_group;

static void claim_done(void *user)
{
    kc_latch_count_down(&((claim_group *)user)->done);
}

static void service_done(kc__store_write *write)
{
    claim_group *group = kc_container_of(write, claim_group, service);
    kc_object_unref(write->result);
    kc_error_done(&write->error);
    kc_latch_count_down(&group->done);
}

/* Stores a Service with its claim, as a request does. Returns the outcome for the Service. */
static kc__storage_outcome store_claimed(api *a, kc__service_claim *claim, const kc_object *service)
{
    kc__rest_api *inside = api_inside(a);
    claim_group group = {.service = {.cache = kc__service_numbers_services(inside->numbers),
                                     .verb = KC__STORAGE_PUT,
                                     .key = KC_STR("default/late"),
                                     .object = service,
                                     .loop = inside->contexts[0].loop,
                                     .done = service_done}};
    kc__store_write *writes[1 + KC__SERVICE_CLAIM_MAX] = {&group.service};
    kc_latch_init(&group.done);
    kc_latch_add(&group.done, 2);
    const size_t n =
        kc__service_claim_join(claim, inside->contexts[0].loop, writes + 1, claim_done, &group);
    kc__store_submit_group(inside->store, writes, n + 1);
    kc_latch_wait(&group.done);
    kc_latch_done(&group.done);
    return group.service.outcome;
}

/* A claim of the cluster IP 10.96.0.9 and the node port 30001 for a new Service. */
static kc__service_claim *claim_for(api *a, const kc_object *service)
{
    kc__rest_api *inside = api_inside(a);
    kc_rand rand;
    kc_rand_seed(&rand, 1);
    return kc__service_claim_new(inside->numbers,
                                 &(kc__service_claim_change){.new = service, .rand = &rand});
}

static kc_object *late_service(void)
{
    return kc_object_parse(
        KC_STR("{\"kind\":\"Service\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"late\","
               "\"namespace\":\"default\",\"uid\":\"u\",\"resourceVersion\":\"0\"},\"spec\":{"
               "\"type\":\"NodePort\",\"clusterIPs\":[\"10.96.0.9\"],\"ports\":[{\"port\":80,"
               "\"nodePort\":30001}]}}"),
        NULL, NULL);
}

static void assert_claim_is_lost(const char *earlier)
{
    kc_auto(api) *a = api_start(NULL);
    kc_auto(kc_object) *service = late_service();
    kc__service_claim *claim = claim_for(a, service);
    assert_false(kc__service_claim_is_lost(claim));
    assert_code(make_service(a, "early", earlier), 201);
    const size_t addresses = r_count(api_get(a, ADDRESSES), "items");
    const char *ports = recorded_ports(a);
    assert_int_equal(store_claimed(a, claim, service), KC__STORAGE_SKIPPED);
    assert_true(kc__service_claim_is_lost(claim));
    assert_null(kc__service_claim_error(claim));
    assert_code(api_get(a, SERVICES "/late"), 404);
    assert_int_equal(r_count(api_get(a, ADDRESSES), "items"), addresses);
    assert_string_equal(recorded_ports(a), ports);
    kc__service_claim_free(claim);
}

static void claim_of_an_address_that_another_write_took_stores_nothing(void **state)
{
    (void)state;
    assert_claim_is_lost("'clusterIP':'10.96.0.9','ports':[{'port':80}]");
}

static void claim_of_a_port_that_another_write_took_stores_nothing(void **state)
{
    (void)state;
    assert_claim_is_lost("'type':'NodePort','ports':[{'port':80,'nodePort':30001}]");
}

static void claim_is_rebased_on_other_ports_that_were_taken(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    kc_auto(kc_object) *service = late_service();
    kc__service_claim *claim = claim_for(a, service);
    assert_code(
        make_service(a, "early", "'type':'NodePort','ports':[{'port':80,'nodePort':30002}]"), 201);
    assert_int_equal(store_claimed(a, claim, service), KC__STORAGE_STORED);
    assert_false(kc__service_claim_is_lost(claim));
    assert_string_equal(recorded_ports(a), "30001 30002");
    assert_true(address_exists(a, "10.96.0.9"));
    kc__service_claim_free(claim);
}

static void claim_of_a_port_that_is_taken_is_lost_at_once(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    kc_auto(kc_object) *service = late_service();
    assert_code(
        make_service(a, "early", "'type':'NodePort','ports':[{'port':80,'nodePort':30001}]"), 201);
    kc__service_claim *claim = claim_for(a, service);
    assert_true(kc__service_claim_is_lost(claim));
    kc__service_claim_free(claim);
}

TESTS(cluster_ip_is_an_ip_address_object, taken_and_foreign_cluster_ips_are_refused,
      taken_and_foreign_node_ports_are_refused, refused_and_dry_writes_take_nothing,
      deleted_service_releases_its_numbers, deleted_collection_releases_all_numbers,
      service_with_a_finalizer_keeps_its_numbers_until_it_is_removed,
      changes_of_the_type_take_and_release_numbers, changed_ports_are_exchanged,
      protocols_of_a_new_port_share_a_node_port,
      load_balancer_without_node_ports_takes_those_that_the_client_set,
      health_check_port_is_taken_and_released, full_ranges_are_reported,
      further_network_is_used_if_it_is_ready,
      claim_of_an_address_that_another_write_took_stores_nothing,
      claim_of_a_port_that_another_write_took_stores_nothing,
      claim_is_rebased_on_other_ports_that_were_taken,
      claim_of_a_port_that_is_taken_is_lost_at_once)
