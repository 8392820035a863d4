/* SPDX-License-Identifier: Apache-2.0 */
/* The network of cluster IPs: its addresses, and draws from it. */
#include "testing.h"

#include "apiserver/services/service_network.h"

static kc__service_network network_of(const char *text)
{
    kc__service_network network;
    assert_true(kc__service_network_parse(kc_cstr(text), &network));
    return network;
}

static const char *print(uint32_t address)
{
    static char text[INET_ADDRSTRLEN];
    return kc__service_network_print(address, text).p;
}

static void addresses_of_network_and_broadcast_are_not_used(void **state)
{
    (void)state;
    const kc__service_network network = network_of("10.96.0.0/12");
    assert_string_equal(print(network.first), "10.96.0.1");
    assert_string_equal(print(network.last), "10.111.255.254");
    assert_string_equal(print(network.draw_from), "10.96.1.1");
    assert_true(kc__service_network_contains(&network, network.first));
    assert_true(kc__service_network_contains(&network, network.last));
    assert_false(kc__service_network_contains(&network, network.first - 1));
    assert_false(kc__service_network_contains(&network, network.last + 1));
}

/* A sixteenth, from 16 to 256 addresses; none of a network of 16. */
static void lower_part_is_left_for_clients(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t left;
    } cases[] = {{"10.0.0.0/28", 0},  {"10.0.0.0/27", 16},  {"10.0.0.0/24", 16},
                 {"10.0.0.0/23", 32}, {"10.0.0.0/20", 256}, {"10.0.0.0/12", 256},
                 {"10.0.0.7/29", 0}};
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        const kc__service_network network = network_of(cases[i].text);
        assert_int_equal(network.draw_from - network.first, cases[i].left);
    }
}

static void text_that_is_no_usable_network_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",           "10.0.0.0",    "10.0.0.0/33", "10.0.0.0/31",
                                        "2001::/112", "10.0.0/8",    "x/8",         "10.0.0.0/0",
                                        "10.0.0.0/",  "10.0.0.0/-1", "10.0.0.0/32"};
    kc__service_network network;
    for (size_t i = 0; i < KC_COUNT(texts); i++)
        assert_false(kc__service_network_parse(kc_cstr(texts[i]), &network));
}

typedef struct taken_addresses {
    uint32_t items[300];
    size_t n, calls;
} taken_addresses;

static bool is_taken(uint32_t address, void *user)
{
    taken_addresses *taken = user;
    taken->calls++;
    for (size_t i = 0; i < taken->n; i++)
        if (taken->items[i] == address)
            return true;
    return false;
}

static void draws_give_every_address_once_and_the_lower_part_last(void **state)
{
    (void)state;
    kc_rand rand;
    taken_addresses taken = {0};
    uint32_t address;
    const kc__service_network network = network_of("10.0.0.0/24");
    kc_rand_seed(&rand, 1);
    while (kc__service_network_draw(&network, &rand, is_taken, &taken, &address)) {
        assert_true(kc__service_network_contains(&network, address));
        assert_int_equal(address < network.draw_from, taken.n >= 254 - 16);
        taken.items[taken.n++] = address;
    }
    assert_int_equal(taken.n, 254);
}

static void draw_asks_at_most_once_for_each_taken_address(void **state)
{
    (void)state;
    kc_rand rand;
    taken_addresses taken = {.n = 200};
    uint32_t address;
    const kc__service_network network = network_of("10.0.0.0/12");
    kc_rand_seed(&rand, 1);
    for (uint32_t i = 0; i < 200; i++)
        taken.items[i] = network.draw_from + i;
    assert_true(kc__service_network_draw(&network, &rand, is_taken, &taken, &address));
    assert_true(taken.calls <= 201);
}

static void addresses_are_parsed_in_canonical_form(void **state)
{
    (void)state;
    uint32_t address;
    assert_true(kc__service_network_parse_address(KC_STR("10.96.0.1"), &address));
    assert_int_equal(address, 0x0a600001);
    assert_false(kc__service_network_parse_address(KC_STR("None"), &address));
    assert_false(kc__service_network_parse_address(KC_STR("::1"), &address));
    assert_false(kc__service_network_parse_address(KC_STR("100.100.100.1000000"), &address));
}

TESTS(addresses_of_network_and_broadcast_are_not_used, lower_part_is_left_for_clients,
      text_that_is_no_usable_network_is_refused,
      draws_give_every_address_once_and_the_lower_part_last,
      draw_asks_at_most_once_for_each_taken_address, addresses_are_parsed_in_canonical_form)
