/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net.c: IP addresses and networks: ip("10.0.0.1"), cidr("10.0.0.0/8").containsIP(…).
 *
 * The syntax is that of Go's netip (go_addr.c) without zones and IPv4 addresses mapped to IPv6.
 */
#include "cel/library/library_internal.h"

#include "object/gofmt/go_addr.h"
#include "object/gofmt/go_quote.h"

typedef kc__go_addr net_address;

static kc__cel_equality equal_addresses(const void *a, const void *b)
{
    const net_address *x = a, *y = b;
    return kc__cel_equality_of(x->length == y->length && x->bits == y->bits &&
                               memcmp(x->bytes, y->bytes, x->length) == 0);
}

static void write_address(const void *data, kc_buf *out)
{
    kc__go_addr_write(data, out);
}

static void write_network(const void *data, kc_buf *out)
{
    write_address(data, out);
    kc_buf_printf(out, "/%u", ((const net_address *)data)->bits);
}

static uint64_t address_size(const void *data)
{
    return ((const net_address *)data)->length;
}

/* Bytes of the prefix. */
static uint64_t network_size(const void *data)
{
    return (((const net_address *)data)->bits + 7u) / 8;
}

const kc_cel_type kc__cel_type_ip = KC__CEL_OPAQUE("net.IP", equal_addresses, write_address,
                                                   .size = address_size, .go_name = "netip.Addr");
const kc_cel_type kc__cel_type_cidr = KC__CEL_OPAQUE(
    "net.CIDR", equal_addresses, write_network, .size = network_size, .go_name = "netip.Prefix");

/* ---- parsing ---- */

static kc_cel_value net_error(kc__cel_eval *ev, const char *before, kc_str text, const char *after)
{
    kc_scoped(kc_buf) message = {0};
    kc_buf_puts(&message, before);
    kc__go_quote(&message, text);
    kc_buf_puts(&message, after);
    return kc__cel_error(ev, "%s", kc_buf_cstr(&message));
}

static bool parse_ip(kc__cel_eval *ev, kc_str text, net_address *ret, kc_cel_value *ret_error)
{
    kc_scoped(kc_buf) why = {0};
    kc_buf_puts(&why, " parse error during conversion from string: ");
    if (!kc__go_addr_parse(text, ret, &why))
        *ret_error = net_error(ev, "IP Address ", text, kc_buf_cstr(&why));
    else if (ret->has_zone)
        *ret_error = net_error(ev, "IP address ", text, " with zone value is not allowed");
    else if (kc__go_addr_is_mapped(ret))
        *ret_error = net_error(ev, "IPv4-mapped IPv6 address ", text, " is not allowed");
    else
        return true;
    return false;
}

#define NETWORK_ERROR "network address parse error during conversion from string: "

static bool parse_network(kc__cel_eval *ev, kc_str text, net_address *ret, kc_cel_value *ret_error)
{
    kc_scoped(kc_buf) why = {0};
    if (!kc__go_addr_parse_prefix(text, ret, &why))
        *ret_error = kc__cel_error(ev, NETWORK_ERROR NETWORK_ERROR "%s", kc_buf_cstr(&why));
    else if (kc__go_addr_is_mapped(ret))
        *ret_error =
            net_error(ev, NETWORK_ERROR "IPv4-mapped IPv6 address ", text, " is not allowed");
    else
        return true;
    return false;
}

/* ---- addresses ---- */

static const net_address *address_of(kc_cel_value v)
{
    return v.opaque.data;
}

KC__CEL_FUNCTION(string_to_ip)
{
    net_address address;
    kc_cel_value error;
    return parse_ip(ev, a[0].text, &address, &error)
               ? kc__cel_opaque(ev, &kc__cel_type_ip, &address, sizeof(address))
               : error;
}

KC__CEL_FUNCTION(is_ip)
{
    net_address address;
    kc_cel_value error;
    return kc__cel_bool(parse_ip(ev, a[0].text, &address, &error));
}

KC__CEL_FUNCTION(ip_is_canonical)
{
    net_address address;
    kc_cel_value error;
    kc_scoped(kc_buf) text = {0};
    if (!parse_ip(ev, a[0].text, &address, &error))
        return error;
    write_address(&address, &text);
    return kc__cel_bool(kc_str_eq(kc_buf_str(&text), a[0].text));
}

KC__CEL_FUNCTION(opaque_to_string)
{
    kc_scoped(kc_buf) text = {0};
    a[0].opaque.type->write(a[0].opaque.data, &text);
    return kc__cel_copy_text(ev, KC_CEL_STRING, kc_buf_str(&text));
}

KC__CEL_FUNCTION(ip_family)
{
    return kc__cel_int(address_of(a[0])->length == 4 ? 4 : 6);
}

static bool all_zero(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i])
            return false;
    return true;
}

static bool is_unspecified(const net_address *ip)
{
    return all_zero(ip->bytes, ip->length);
}

static bool is_loopback(const net_address *ip)
{
    return ip->length == 4 ? ip->bytes[0] == 127 : all_zero(ip->bytes, 15) && ip->bytes[15] == 1;
}

static bool is_link_local_multicast(const net_address *ip)
{
    const uint8_t *b = ip->bytes;
    return ip->length == 4 ? b[0] == 224 && b[1] == 0 && b[2] == 0
                           : b[0] == 0xFF && (b[1] & 0x0F) == 2;
}

static bool is_link_local_unicast(const net_address *ip)
{
    const uint8_t *b = ip->bytes;
    return ip->length == 4 ? b[0] == 169 && b[1] == 254 : b[0] == 0xFE && (b[1] & 0xC0) == 0x80;
}

static bool is_multicast(const net_address *ip)
{
    return ip->length == 4 ? (ip->bytes[0] & 0xF0) == 0xE0 : ip->bytes[0] == 0xFF;
}

static bool is_global_unicast(const net_address *ip)
{
    static const uint8_t broadcast[4] = {255, 255, 255, 255};
    if (ip->length == 4 && memcmp(ip->bytes, broadcast, 4) == 0)
        return false;
    return !is_unspecified(ip) && !is_loopback(ip) && !is_multicast(ip) &&
           !is_link_local_unicast(ip);
}

#define IP_PREDICATE(name)                           \
    KC__CEL_FUNCTION(ip_##name)                      \
    {                                                \
        return kc__cel_bool(name(address_of(a[0]))); \
    }
IP_PREDICATE(is_unspecified)
IP_PREDICATE(is_loopback)
IP_PREDICATE(is_link_local_multicast)
IP_PREDICATE(is_link_local_unicast)
IP_PREDICATE(is_global_unicast)

/* ---- networks ---- */

KC__CEL_FUNCTION(string_to_cidr)
{
    net_address network;
    kc_cel_value error;
    return parse_network(ev, a[0].text, &network, &error)
               ? kc__cel_opaque(ev, &kc__cel_type_cidr, &network, sizeof(network))
               : error;
}

KC__CEL_FUNCTION(is_cidr)
{
    net_address network;
    kc_cel_value error;
    return kc__cel_bool(parse_network(ev, a[0].text, &network, &error));
}

static bool same_prefix(const net_address *a, const net_address *b, unsigned bits)
{
    if (a->length != b->length || memcmp(a->bytes, b->bytes, bits / 8) != 0)
        return false;
    uint8_t mask = (uint8_t)(0xFF00u >> (bits % 8));
    return bits % 8 == 0 || ((a->bytes[bits / 8] ^ b->bytes[bits / 8]) & mask) == 0;
}

KC__CEL_FUNCTION(cidr_contains_ip)
{
    net_address ip;
    kc_cel_value error;
    if (a[1].kind == KC_CEL_OPAQUE)
        ip = *address_of(a[1]);
    else if (!parse_ip(ev, a[1].text, &ip, &error))
        return kc__cel_no_such_overload(); /* As in Kubernetes, which loses the error. */
    const net_address *network = address_of(a[0]);
    return kc__cel_bool(same_prefix(network, &ip, network->bits));
}

KC__CEL_FUNCTION(cidr_contains_cidr)
{
    net_address other;
    kc_cel_value error;
    if (a[1].kind == KC_CEL_OPAQUE)
        other = *address_of(a[1]);
    else if (!parse_network(ev, a[1].text, &other, &error))
        return error;
    const net_address *network = address_of(a[0]);
    return kc__cel_bool(network->bits <= other.bits && same_prefix(network, &other, network->bits));
}

KC__CEL_FUNCTION(cidr_ip)
{
    net_address ip = *address_of(a[0]);
    ip.bits = 0;
    return kc__cel_opaque(ev, &kc__cel_type_ip, &ip, sizeof(ip));
}

KC__CEL_FUNCTION(cidr_prefix_length)
{
    return kc__cel_int(address_of(a[0])->bits);
}

KC__CEL_FUNCTION(cidr_masked)
{
    net_address network = *address_of(a[0]);
    for (unsigned bit = network.bits; bit < network.length * 8u; bit++)
        network.bytes[bit / 8] &= (uint8_t)~(0x80u >> (bit % 8));
    return kc__cel_opaque(ev, &kc__cel_type_cidr, &network, sizeof(network));
}

/* ---- costs ---- */

static uint64_t contains_ip_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)n, (void)result;
    return kc__cel_cost_factor(2 * kc__cel_size(a[0]), KC__CEL_STRING_FACTOR);
}

static uint64_t contains_cidr_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    return contains_ip_cost(a, n, result) +
           kc__cel_cost_factor(kc__cel_size(a[0]), KC__CEL_STRING_FACTOR) + 1;
}

/* The second argument is parsed. */
static uint64_t parsing_cost(const kc_cel_value *a)
{
    return kc__cel_cost_factor(kc__cel_size(a[1]), KC__CEL_STRING_FACTOR);
}

static uint64_t contains_ip_string_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    return contains_ip_cost(a, n, result) + parsing_cost(a);
}

static uint64_t contains_cidr_string_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    return contains_cidr_cost(a, n, result) + parsing_cost(a);
}

static kc__cel_estimate estimate_contains_ip(const kc__cel_estimate_args *args)
{
    (void)args;
    return kc__cel_estimate_traversal(kc__cel_range(8, 32));
}

static kc__cel_estimate estimate_contains_cidr(const kc__cel_estimate_args *args)
{
    kc__cel_estimate estimate = estimate_contains_ip(args);
    kc_cel_cost masking = kc__cel_range_factor(kc__cel_range(4, 16), KC__CEL_STRING_FACTOR);
    estimate.cost =
        kc__cel_range_add(estimate.cost, kc__cel_range_add(masking, kc__cel_range(1, 1)));
    return estimate;
}

static kc__cel_estimate add_parsing(kc__cel_estimate estimate, const kc__cel_estimate_args *args)
{
    estimate.cost = kc__cel_range_add(estimate.cost,
                                      kc__cel_range_factor(args->sizes[1], KC__CEL_STRING_FACTOR));
    return estimate;
}

static kc__cel_estimate estimate_contains_ip_string(const kc__cel_estimate_args *args)
{
    return add_parsing(estimate_contains_ip(args), args);
}

static kc__cel_estimate estimate_contains_cidr_string(const kc__cel_estimate_args *args)
{
    return add_parsing(estimate_contains_cidr(args), args);
}

#define T_IP   &kc__cel_type_ip
#define T_CIDR &kc__cel_type_cidr
#define PARSING(function, id, impl, result)                                                    \
    KC__CEL_ROW(function, id, false, impl, kc__cel_cost_first, kc__cel_estimate_first, result, \
                T_STRING)
#define IP_MEMBER(function, id, impl, result) \
    KC__CEL_ROW(function, id, true, impl, NULL, NULL, result, T_IP)

static const kc__cel_overload overloads[] = {
    PARSING("ip", "string_to_ip", string_to_ip, T_IP),
    PARSING("isIP", "is_ip", is_ip, T_BOOL),
    KC__CEL_ROW("ip.isCanonical", "ip_is_canonical", false, ip_is_canonical,
                kc__cel_cost_first_twice, kc__cel_estimate_first_twice, T_BOOL, T_STRING),
    KC__CEL_ROW("string", "ip_to_string", false, opaque_to_string, NULL, NULL, T_STRING, T_IP),
    IP_MEMBER("family", "ip_family", ip_family, T_INT),
    IP_MEMBER("isUnspecified", "ip_is_unspecified", ip_is_unspecified, T_BOOL),
    IP_MEMBER("isLoopback", "ip_is_loopback", ip_is_loopback, T_BOOL),
    IP_MEMBER("isLinkLocalMulticast", "ip_is_link_local_multicast", ip_is_link_local_multicast,
              T_BOOL),
    IP_MEMBER("isLinkLocalUnicast", "ip_is_link_local_unicast", ip_is_link_local_unicast, T_BOOL),
    IP_MEMBER("isGlobalUnicast", "ip_is_global_unicast", ip_is_global_unicast, T_BOOL),
    PARSING("cidr", "string_to_cidr", string_to_cidr, T_CIDR),
    PARSING("isCIDR", "is_cidr", is_cidr, T_BOOL),
    KC__CEL_ROW("string", "cidr_to_string", false, opaque_to_string, NULL, NULL, T_STRING, T_CIDR),
    KC__CEL_ROW("containsIP", "cidr_contains_ip_string", true, cidr_contains_ip,
                contains_ip_string_cost, estimate_contains_ip_string, T_BOOL, T_CIDR, T_STRING),
    KC__CEL_ROW("containsIP", "cidr_contains_ip_ip", true, cidr_contains_ip, contains_ip_cost,
                estimate_contains_ip, T_BOOL, T_CIDR, T_IP),
    KC__CEL_ROW("containsCIDR", "cidr_contains_cidr_string", true, cidr_contains_cidr,
                contains_cidr_string_cost, estimate_contains_cidr_string, T_BOOL, T_CIDR, T_STRING),
    KC__CEL_ROW("containsCIDR", "cidr_contains_cidr", true, cidr_contains_cidr, contains_cidr_cost,
                estimate_contains_cidr, T_BOOL, T_CIDR, T_CIDR),
    KC__CEL_ROW("ip", "cidr_ip", true, cidr_ip, NULL, NULL, T_IP, T_CIDR),
    KC__CEL_ROW("prefixLength", "cidr_prefix_length", true, cidr_prefix_length, NULL, NULL, T_INT,
                T_CIDR),
    KC__CEL_ROW("masked", "cidr_masked", true, cidr_masked, NULL, NULL, T_CIDR, T_CIDR),
};

const kc__cel_library kc__cel_library_net = {overloads, KC_COUNT(overloads), KC__CEL_NET_30};
