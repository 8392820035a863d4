/* SPDX-License-Identifier: Apache-2.0 */
/* service_network.c: see service_network.h. */
#include "apiserver/services/service_network.h"

#include "apiserver/kinds/networking/address_rules.h"

#include <arpa/inet.h>

/* The part that is left for clients: a sixteenth, within these limits, as in Kubernetes. */
enum { LEFT_PART = 16, LEFT_MIN = 16, LEFT_MAX = 256 };

static uint32_t left_for_clients(uint64_t size)
{
    if (size <= LEFT_MIN)
        return 0;
    return (uint32_t)KC_MIN(KC_MAX(size / LEFT_PART, LEFT_MIN), LEFT_MAX);
}

static uint32_t address_of_bytes(const unsigned char bytes[4])
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

bool kc__service_network_parse(kc_str text, kc__service_network *ret)
{
    kc__cidr cidr;
    if (!kc__cidr_parse(text, &cidr) || cidr.six || cidr.bits == 0 || cidr.bits > 30)
        return false;
    const uint32_t hosts = UINT32_MAX >> cidr.bits;
    const uint32_t network = address_of_bytes(cidr.address) & ~hosts;
    ret->first = network + 1;
    ret->last = network + hosts - 1;
    ret->draw_from = ret->first + left_for_clients((uint64_t)hosts + 1);
    return true;
}

bool kc__service_network_contains(const kc__service_network *network, uint32_t address)
{
    return address >= network->first && address <= network->last;
}

/* Tries the `n` addresses from `low` on, beginning at a random one. */
static bool draw_from_part(uint32_t low, uint64_t n, kc_rand *rand,
                           bool (*is_taken)(uint32_t address, void *user), void *user,
                           uint32_t *ret_address)
{
    const uint64_t start = n ? kc_rand_below(rand, n) : 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t address = low + (uint32_t)((start + i) % n);
        if (!is_taken(address, user)) {
            *ret_address = address;
            return true;
        }
    }
    return false;
}

bool kc__service_network_draw(const kc__service_network *network, kc_rand *rand,
                              bool (*is_taken)(uint32_t address, void *user), void *user,
                              uint32_t *ret_address)
{
    return draw_from_part(network->draw_from, (uint64_t)network->last - network->draw_from + 1,
                          rand, is_taken, user, ret_address) ||
           draw_from_part(network->first, network->draw_from - network->first, rand, is_taken, user,
                          ret_address);
}

kc_str kc__service_network_print(uint32_t address, char out[INET_ADDRSTRLEN])
{
    const struct in_addr in = {.s_addr = htonl(address)};
    inet_ntop(AF_INET, &in, out, INET_ADDRSTRLEN);
    return kc_cstr(out);
}

bool kc__service_network_parse_address(kc_str text, uint32_t *ret)
{
    char copy[INET_ADDRSTRLEN];
    struct in_addr address;
    if (!text.n || text.n >= sizeof(copy))
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = 0;
    if (inet_pton(AF_INET, copy, &address) != 1)
        return false;
    *ret = ntohl(address.s_addr);
    return true;
}
