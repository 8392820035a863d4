/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_options.c: the flags of Services, with the names and defaults of kube-apiserver.
 *
 * The address that a server advertises defaults to the one that HTTPS listens on. A server that
 * listens on all addresses advertises the one from which this machine reaches others. One that
 * listens on loopback advertises none: an endpoint must not be a loopback address, and any other
 * address would lead nowhere.
 */
#include "service_options.h"

#include "apiserver/services/service_network.h"
#include "kc/mem.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIELD(name) .offset = offsetof(kc__cli_service_options, name)
#define SERVICES    "Services"

enum { MIN_ADDRESSES = 8 }; /* As in kube-apiserver. */

static int parse_service_range(const char *text, void *ret, kc_error *err)
{
    kc__service_network network;
    if (!kc__service_network_parse(kc_cstr(text), &network) ||
        network.last - network.first + 3 < MIN_ADDRESSES)
        return kc__cli_flag_invalid(text,
                                    "an IPv4 network of at least 8 addresses, such as "
                                    "10.96.0.0/12",
                                    err);
    *(const char **)ret = text;
    return 0;
}

static int parse_node_port_range(const char *text, void *ret, kc_error *err)
{
    if (kc__node_port_range_parse(kc_cstr(text), ret))
        return 0;
    return kc__cli_flag_invalid(text, "a range of ports, such as 30000-32767", err);
}

/* Endpoints must not have such addresses. */
static bool is_advertisable(const char *text)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, text, &v4) == 1) {
        const uint32_t address = ntohl(v4.s_addr);
        return address && address >> 24 != 127 && address >> 16 != 0xa9fe && address >> 28 < 0xe;
    }
    return inet_pton(AF_INET6, text, &v6) == 1 && !IN6_IS_ADDR_UNSPECIFIED(&v6) &&
           !IN6_IS_ADDR_LOOPBACK(&v6) && !IN6_IS_ADDR_LINKLOCAL(&v6) && !IN6_IS_ADDR_MULTICAST(&v6);
}

static int parse_advertise_address(const char *text, void *ret, kc_error *err)
{
    if (!is_advertisable(text))
        return kc__cli_flag_invalid(text,
                                    "an IP address that other machines can reach: not unspecified, "
                                    "loopback, link-local or multicast",
                                    err);
    *(const char **)ret = text;
    return 0;
}

static const kc__cli_flag flags[] = {
    {"service-cluster-ip-range", .argument = "CIDR", .initial = KC__SERVICE_NETWORK_DEFAULT,
     .group = SERVICES, FIELD(range), .parse = parse_service_range,
     .help = "network from which cluster IPs of Services are allocated, IPv4",
     .details = "The first start stores it as the ServiceCIDR kubernetes, which has precedence "
                "afterwards. Further ServiceCIDRs add networks. Servers of one store have the "
                "same."},
    {"service-node-port-range", .argument = "RANGE", .initial = "30000-32767", .group = SERVICES,
     FIELD(node_ports), .parse = parse_node_port_range,
     .help = "ports that are allocated to Services of the types NodePort and LoadBalancer",
     .details = "Servers of one store have the same."},
    {"advertise-address", .argument = "ADDRESS", .group = SERVICES, FIELD(advertise_address),
     .parse = parse_advertise_address,
     .help = "IP address of this server as an endpoint of the Service kubernetes; defaults to "
             "--bind-address, or for 0.0.0.0 to the address from which this machine reaches others",
     .details = "A server that listens on a loopback address and has no such flag is not listed "
                "as an endpoint. The server is listed while it runs; with --backend=etcd, one "
                "that was killed is removed within 16 seconds."},
};

const kc__cli_flag_set kc__cli_service_flags = {KC__CLI_FLAGS(flags),
                                                .size = sizeof(kc__cli_service_options)};

/* ---- the address that is advertised ---- */

/* The source address of packets to an address of the documentation network. Nothing is sent. */
static char *address_toward_others(int family)
{
    struct sockaddr_in to4 = {.sin_family = AF_INET, .sin_port = htons(9)}, own4 = {0};
    struct sockaddr_in6 to6 = {.sin6_family = AF_INET6, .sin6_port = htons(9)}, own6 = {0};
    const bool six = family == AF_INET6;
    char text[INET6_ADDRSTRLEN];
    socklen_t size = six ? sizeof(own6) : sizeof(own4);
    inet_pton(AF_INET, "192.0.2.1", &to4.sin_addr);
    inet_pton(AF_INET6, "2001:db8::1", &to6.sin6_addr);
    const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return NULL;
    const struct sockaddr *to = six ? (struct sockaddr *)&to6 : (struct sockaddr *)&to4;
    struct sockaddr *own = six ? (struct sockaddr *)&own6 : (struct sockaddr *)&own4;
    const bool known = connect(fd, to, size) == 0 && getsockname(fd, own, &size) == 0 &&
                       inet_ntop(family, six ? (void *)&own6.sin6_addr : (void *)&own4.sin_addr,
                                 text, sizeof(text));
    close(fd);
    return known && is_advertisable(text) ? kc_strdup(text) : NULL;
}

char *kc__cli_service_advertised(const kc__cli_service_options *o, const char *bind_address)
{
    if (o->advertise_address)
        return kc_strdup(o->advertise_address);
    if (!strcmp(bind_address, "0.0.0.0"))
        return address_toward_others(AF_INET);
    if (!strcmp(bind_address, "::")) {
        char *four = address_toward_others(AF_INET);
        return four ? four : address_toward_others(AF_INET6);
    }
    return is_advertisable(bind_address) ? kc_strdup(bind_address) : NULL;
}
