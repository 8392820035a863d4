/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static const cel_setup plain = {0};

static void addresses_and_networks_are_parsed_and_compared(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"ip('192.168.0.1').family()", "4"},
        {"ip('::1').isLoopback()", "true"},
        {"ip('127.0.0.1') == ip('127.0.0.1')", "true"},
        {"isIP('256.0.0.1')", "false"},
        {"isIP('::ffff:1.2.3.4')", "false"},
        {"ip.isCanonical('2001:DB8::1')", "false"},
        {"string(ip('2001:DB8::1'))", "\"2001:db8::1\""},
        {"ip('10.0.0.1').isGlobalUnicast()", "true"},
        {"cidr('192.168.0.0/24').containsIP('192.168.0.5')", "true"},
        {"cidr('192.168.0.0/24').containsIP(ip('192.168.1.5'))", "false"},
        {"cidr('192.168.0.0/16').containsCIDR('192.168.1.0/24')", "true"},
        {"cidr('192.168.0.7/24').masked() == cidr('192.168.0.0/24')", "true"},
        {"cidr('192.168.0.7/24').prefixLength()", "24"},
        {"cidr('192.168.0.7/24').ip() == ip('192.168.0.7')", "true"},
        {"isCIDR('10.0.0.0/33')", "false"},
    };
    ASSERT_CEL(&plain, rows);
}

static void addresses_are_parsed_and_written_as_in_go(void **state)
{
    (void)state;
#define NO_IP(text) "error: IP Address \"" text "\" parse error during conversion from string: "
#define NO_NETWORK                                                       \
    "error: network address parse error during conversion from string: " \
    "network address parse error during conversion from string: netip."
    static const cel_row rows[] = {
        {"ip('256.1.1.1')",
         NO_IP("256.1.1.1") "ParseAddr(\"256.1.1.1\"): IPv4 field has value >255"},
        {"ip('1.2.3')", NO_IP("1.2.3") "ParseAddr(\"1.2.3\"): IPv4 address too short"},
        {"ip('1..2.3')", NO_IP("1..2.3") "ParseAddr(\"1..2.3\"): IPv4 field must have at least one "
                                         "digit (at \".2.3\")"},
        {"ip('01.2.3.4')",
         NO_IP("01.2.3.4") "ParseAddr(\"01.2.3.4\"): IPv4 field has octet with leading zero"},
        {"ip('::1::2')", NO_IP("::1::2") "ParseAddr(\"::1::2\"): multiple :: in address (at "
                                         "\":2\")"},
        {"ip('1:2')", NO_IP("1:2") "ParseAddr(\"1:2\"): address string too short"},
        {"ip('::12345')", NO_IP("::12345") "ParseAddr(\"::12345\"): each group must have 4 or less "
                                           "digits (at \"12345\")"},
        {"ip('fe80::1%e')", "error: IP address \"fe80::1%e\" with zone value is not allowed"},
        {"string(ip('::102:304'))", "\"::102:304\""},
        {"string(ip('1:0:0:2:0:0:0:3'))", "\"1:0:0:2::3\""},
        {"string(ip('::'))", "\"::\""},
        {"cidr('10.0.0.0/08')",
         NO_NETWORK "ParsePrefix(\"10.0.0.0/08\"): bad bits after slash: \"08\""},
        {"cidr('10.0.0.0/33')",
         NO_NETWORK "ParsePrefix(\"10.0.0.0/33\"): prefix length out of range"},
        {"cidr('10.0.0.0')", NO_NETWORK "ParsePrefix(\"10.0.0.0\"): no '/'"},
        {"cidr('10.0.0.0/8').containsIP('x')", "error: no such overload"},
    };
    ASSERT_CEL(&plain, rows);
}

static void comparisons_cost_the_size_of_networks(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"cidr('2001:db8::/128') == cidr('2001:db8::/128')", "true", 5},
        {"cidr('2001:db8::/128') != cidr('2001:db8::/128')", "false", 6},
        {"cidr('0.0.0.0/0') != cidr('0.0.0.0/0')", "false", 2},
        {"cidr('x') == cidr('0.0.0.0/0')", NO_NETWORK "ParsePrefix(\"x\"): no '/'", 2},
    };
    ASSERT_CEL(&plain, rows);
}

TESTS(comparisons_cost_the_size_of_networks, addresses_and_networks_are_parsed_and_compared,
      addresses_are_parsed_and_written_as_in_go)
