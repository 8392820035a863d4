/* SPDX-License-Identifier: Apache-2.0 */
/* Node ports, and the RangeAllocation in which servers share them. */
#include "testing.h"

#include "apiserver/services/node_ports.h"

static const kc__node_port_range usual = {KC__NODE_PORT_FIRST, KC__NODE_PORT_LAST};

static void ranges_are_parsed_as_in_kube_apiserver(void **state)
{
    (void)state;
    static const char *const invalid[] = {"",     "30000",       "30000-",       "-32767",
                                          "0-10", "32767-30000", "30000-65536",  "x-y",
                                          "1+",   "30000+40000", "30000 - 32767"};
    char text[KC__NODE_PORT_RANGE_TEXT];
    kc__node_port_range range;
    assert_true(kc__node_port_range_parse(KC_STR("30000-32767"), &range));
    assert_string_equal(kc__node_port_range_print(range, text).p, "30000-32767");
    assert_true(kc__node_port_range_parse(KC_STR("30000+10"), &range));
    assert_string_equal(kc__node_port_range_print(range, text).p, "30000-30010");
    assert_true(kc__node_port_range_parse(KC_STR("1-65535"), &range));
    for (size_t i = 0; i < KC_COUNT(invalid); i++)
        assert_false(kc__node_port_range_parse(kc_cstr(invalid[i]), &range));
}

/* As kube-apiserver writes them: big.Int.Bytes() in base64. */
static void ports_are_stored_in_the_form_of_kube_apiserver(void **state)
{
    (void)state;
    static const struct {
        uint16_t ports[4];
        const char *data;
    } cases[] = {
        {{0}, ""}, {{30000}, "AQ=="}, {{30001, 30008}, "AQI="}, {{30000, 30007, 30015}, "gIE="}};
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc__node_port_set set = {0}, again = {0};
        kc__node_port_range range;
        for (size_t p = 0; p < 4 && cases[i].ports[p]; p++)
            kc__node_port_set_add(&set, cases[i].ports[p]);
        kc_auto(kc_object) *object = kc__node_port_set_write(usual, &set);
        kc_auto(kc_view) *view = kc_view_of(object);
        assert_string_equal(kc_value_as_cstr(kc_value_get(kc_view_root(view), "data"), "?"),
                            cases[i].data);
        assert_string_equal(kc_value_as_cstr(kc_value_get(kc_view_root(view), "range"), "?"),
                            "30000-32767");
        assert_true(kc__node_port_set_read(object, &range, &again));
        assert_memory_equal(&set, &again, sizeof(set));
    }
}

static void all_ports_of_a_range_survive_storing(void **state)
{
    (void)state;
    kc__node_port_set set = {0}, again = {0};
    kc__node_port_range range, all = {1, UINT16_MAX};
    for (uint32_t port = 1; port <= UINT16_MAX; port += 3)
        kc__node_port_set_add(&set, (uint16_t)port);
    kc_auto(kc_object) *object = kc__node_port_set_write(all, &set);
    assert_true(kc__node_port_set_read(object, &range, &again));
    assert_memory_equal(&set, &again, sizeof(set));
}

static void invalid_allocation_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"range\":\"30000-30007\",\"data\":\"gIE=\"}", /* A port after the last. */
        "{\"range\":\"30000-32767\",\"data\":\"!\"}",
        "{\"range\":\"x\",\"data\":\"\"}",
        "{}",
    };
    for (size_t i = 0; i < KC_COUNT(texts); i++) {
        kc__node_port_set set = {0};
        kc__node_port_range range;
        kc_auto(kc_object) *object = kc_object_parse(kc_cstr(texts[i]), NULL, NULL);
        assert_non_null(object);
        assert_false(kc__node_port_set_read(object, &range, &set));
    }
}

static void draws_give_every_port_once_and_the_lower_part_last(void **state)
{
    (void)state;
    kc_rand rand;
    kc__node_port_set taken = {0};
    uint16_t port;
    size_t n = 0;
    kc_rand_seed(&rand, 1);
    for (; kc__node_port_draw(usual, &taken, &rand, &port); n++) {
        assert_true(kc__node_port_range_contains(usual, port));
        assert_false(kc__node_port_set_has(&taken, port));
        assert_int_equal(port < 30000 + 86, n >= 2768 - 86);
        kc__node_port_set_add(&taken, port);
    }
    assert_int_equal(n, 2768);
}

static void small_range_has_no_lower_part(void **state)
{
    (void)state;
    kc_rand rand;
    const kc__node_port_set taken = {0};
    uint16_t port;
    kc_rand_seed(&rand, 1);
    assert_true(kc__node_port_draw((kc__node_port_range){7, 7}, &taken, &rand, &port));
    assert_int_equal(port, 7);
}

static void ports_of_a_service_include_the_one_of_health_checks(void **state)
{
    (void)state;
    kc__node_port_set set = {0};
    kc_auto(kc_view) *view = kc_view_parse(
        KC_STR("{\"healthCheckNodePort\":30002,\"ports\":[{\"port\":80,\"nodePort\":30000},"
               "{\"port\":81},{\"port\":82,\"nodePort\":-1},{\"port\":82,\"nodePort\":70000}]}"),
        NULL, NULL);
    kc__node_port_set_add_service(&set, NULL);
    assert_true(kc__node_port_set_is_empty(&set));
    kc__node_port_set_add_service(&set, kc_view_root(view));
    assert_true(kc__node_port_set_has(&set, 30000));
    assert_true(kc__node_port_set_has(&set, 30002));
    kc__node_port_set_remove(&set, 30000);
    kc__node_port_set_remove(&set, 30002);
    assert_true(kc__node_port_set_is_empty(&set));
}

TESTS(ranges_are_parsed_as_in_kube_apiserver, ports_are_stored_in_the_form_of_kube_apiserver,
      all_ports_of_a_range_survive_storing, invalid_allocation_is_refused,
      draws_give_every_port_once_and_the_lower_part_last, small_range_has_no_lower_part,
      ports_of_a_service_include_the_one_of_health_checks)
