/* SPDX-License-Identifier: Apache-2.0 */
/* The repair of recorded cluster IPs and node ports, when a server starts. */
#include "api_testing.h"

#include "apiserver/background/bootstrap_writes.h"
#include "apiserver/background/service_repair.h"
#include "apiserver/services/node_ports.h"
#include "apiserver/services/service_numbers.h"

#define SERVICES  "/api/v1/namespaces/default/services"
#define ADDRESSES "/apis/networking.k8s.io/v1/ipaddresses"
#define MANAGED                                   \
    "'ipaddress.kubernetes.io/ip-family':'IPv4'," \
    "'ipaddress.kubernetes.io/managed-by':'ipallocator.k8s.io'"

static void make_node_port_service(api *a, const char *name, int port)
{
    assert_code(api_post(a, SERVICES,
                         text(a,
                              "{'metadata':{'name':'%s'},'spec':{'type':'NodePort','ports':[{"
                              "'port':80,'nodePort':%d}]}}",
                              name, port)),
                201);
}

static const reply *make_address(api *a, const char *ip, const char *labels, const char *service)
{
    const reply *r = api_post(a, ADDRESSES,
                              text(a,
                                   "{'metadata':{'name':'%s','labels':{%s}},'spec':{'parentRef':{"
                                   "'resource':'services','namespace':'default','name':'%s'}}}",
                                   ip, labels, service));
    assert_code(r, 201);
    return r;
}

static kc__node_port_set recorded(api *a)
{
    kc__node_port_set ports = {0};
    const char *why = NULL;
    kc__service_numbers_ports(api_inside(a)->numbers, &ports, &why);
    assert_null(why);
    return ports;
}

/* Replaces the record of node ports; NULL: removes it. */
static void record_ports(api *a, const kc__node_port_set *ports)
{
    const kc__service_numbers *numbers = api_inside(a)->numbers;
    kc__watch_cache *ranges = kc__service_numbers_ranges(numbers);
    kc_auto(kc_object) *stored = kc__watch_cache_get(ranges, KC_STR(KC__NODE_PORT_KEY));
    kc__bootstrap_writes writes;
    kc__bootstrap_writes_init(&writes, api_inside(a));
    if (ports)
        kc__bootstrap_writes_put(&writes, ranges, KC_STR(KC__NODE_PORT_KEY),
                                 kc__node_port_set_write(kc__service_numbers_range(numbers), ports),
                                 kc_object_revision(stored));
    else
        kc__bootstrap_writes_delete(&writes, ranges, KC_STR(KC__NODE_PORT_KEY),
                                    kc_object_revision(stored));
    assert_int_equal(kc__bootstrap_writes_wait(&writes, NULL), 0);
}

static void missing_address_of_a_service_is_created(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_node_port_service(a, "web", 30001);
    const char *ip = r_text(api_get(a, SERVICES "/web"), "spec.clusterIP");
    assert_code(api_delete(a, text(a, ADDRESSES "/%s", ip), NULL), 200);
    api_restart(a);
    assert_at(api_get(a, text(a, ADDRESSES "/%s", ip)), "spec.parentRef.name", "web");
}

static void address_with_a_wrong_parent_or_without_labels_is_replaced(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_node_port_service(a, "web", 30001);
    const char *path =
        text(a, ADDRESSES "/%s", r_text(api_get(a, SERVICES "/web"), "spec.clusterIP"));
    assert_code(api_delete(a, path, NULL), 200);
    make_address(a, r_text(api_get(a, SERVICES "/web"), "spec.clusterIP"), MANAGED, "other");
    api_restart(a);
    assert_at(api_get(a, path), "spec.parentRef.name", "web");
    assert_code(api_patch(a, path, "{'metadata':{'labels':null}}"), 200);
    api_restart(a);
    assert_at(api_get(a, path), "metadata.labels",
              "{\"ipaddress.kubernetes.io/ip-family\":\"IPv4\","
              "\"ipaddress.kubernetes.io/managed-by\":\"ipallocator.k8s.io\"}");
}

static void address_of_a_service_that_does_not_exist_is_removed_after_a_minute(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    make_address(a, "10.96.0.50", MANAGED, "gone");
    make_address(a, "10.96.0.51", "", "gone"); /* Of a client. */
    api_restart(a);
    assert_code(api_get(a, ADDRESSES "/10.96.0.50"), 200);
    api_advance(a, 61 * KC_SECOND);
    api_restart(a);
    assert_code(api_get(a, ADDRESSES "/10.96.0.50"), 404);
    assert_code(api_get(a, ADDRESSES "/10.96.0.51"), 200);
    assert_code(api_get(a, ADDRESSES "/10.96.0.1"), 200);
}

static void address_that_its_service_does_not_have_is_removed(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    make_node_port_service(a, "web", 30001);
    make_address(a, "10.96.0.50", MANAGED, "web");
    api_advance(a, 6 * KC_SECOND);
    api_restart(a);
    assert_code(api_get(a, ADDRESSES "/10.96.0.50"), 404);
}

/* As a store of an earlier version, or one that was imported. */
static void missing_record_of_node_ports_is_created_from_the_services(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_node_port_service(a, "one", 30001);
    make_node_port_service(a, "two", 30002);
    record_ports(a, NULL);
    assert_code(api_post(a, SERVICES,
                         "{'metadata':{'name':'x'},'spec':{'type':'NodePort','ports':[{'port':80}]"
                         "}}"),
                500);
    api_restart(a);
    const kc__node_port_set ports = recorded(a);
    assert_true(kc__node_port_set_has(&ports, 30001) && kc__node_port_set_has(&ports, 30002));
    make_node_port_service(a, "three", 30003);
}

static void port_of_a_service_that_is_not_recorded_is_recorded(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_node_port_service(a, "one", 30001);
    record_ports(a, &(kc__node_port_set){0});
    api_restart(a);
    const kc__node_port_set ports = recorded(a);
    assert_true(kc__node_port_set_has(&ports, 30001));
}

static void recorded_port_without_a_service_is_released_in_the_third_round(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    kc__node_port_set leaked = {0};
    make_node_port_service(a, "one", 30001);
    kc__node_port_set_add(&leaked, 30001);
    kc__node_port_set_add(&leaked, 30005);
    record_ports(a, &leaked);
    kc__service_repair *repair = kc__service_repair_start(api_inside(a), NULL);
    assert_non_null(repair);
    for (int round = 2; round <= 3; round++) {
        kc__node_port_set ports = recorded(a);
        assert_true(kc__node_port_set_has(&ports, 30005));
        kc__service_repair_run(repair);
    }
    const kc__node_port_set ports = recorded(a);
    assert_false(kc__node_port_set_has(&ports, 30005));
    assert_true(kc__node_port_set_has(&ports, 30001));
    kc__service_repair_free(repair);
}

static void store_that_agrees_is_not_written(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_node_port_service(a, "one", 30001);
    api_restart(a);
    const uint64_t before = kc__store_revision(api_inside(a)->store);
    api_restart(a);
    assert_int_equal(kc__store_revision(api_inside(a)->store), before);
}

TESTS(missing_address_of_a_service_is_created,
      address_with_a_wrong_parent_or_without_labels_is_replaced,
      address_of_a_service_that_does_not_exist_is_removed_after_a_minute,
      address_that_its_service_does_not_have_is_removed,
      missing_record_of_node_ports_is_created_from_the_services,
      port_of_a_service_that_is_not_recorded_is_recorded,
      recorded_port_without_a_service_is_released_in_the_third_round,
      store_that_agrees_is_not_written)
