/* SPDX-License-Identifier: Apache-2.0 */
/* node_ports.c: see node_ports.h. */
#include "apiserver/services/node_ports.h"

#include "kc/base64.h"

#include <stdio.h>

/* The part that is left for clients: a 32nd, within these limits, as in Kubernetes. */
enum { LEFT_PART = 32, LEFT_MIN = 16, LEFT_MAX = 128 };
enum { SET_BYTES = (UINT16_MAX + 1) / 8 };

/* ---- ranges ---- */

kc_str kc__node_port_range_print(kc__node_port_range range, char out[KC__NODE_PORT_RANGE_TEXT])
{
    snprintf(out, KC__NODE_PORT_RANGE_TEXT, "%u-%u", range.first, range.last);
    return kc_cstr(out);
}

bool kc__node_port_range_parse(kc_str text, kc__node_port_range *ret)
{
    const bool is_size = kc_str_find(text, '+') >= 0;
    kc_str rest = text;
    const kc_str low = kc_str_cut(&rest, is_size ? '+' : '-');
    uint64_t first, last;
    if (!rest.p || !kc_str_to_u64(low, &first) || !kc_str_to_u64(rest, &last))
        return false;
    if (is_size)
        last = last > UINT16_MAX ? UINT64_MAX : first + last;
    if (!first || last > UINT16_MAX || first > last)
        return false;
    *ret = (kc__node_port_range){(uint16_t)first, (uint16_t)last};
    return true;
}

bool kc__node_port_range_contains(kc__node_port_range range, int64_t port)
{
    return port >= range.first && port <= range.last;
}

/* ---- sets ---- */

bool kc__node_port_set_has(const kc__node_port_set *set, uint16_t port)
{
    return set->words[port / 64] >> (port % 64) & 1;
}

void kc__node_port_set_add(kc__node_port_set *set, uint16_t port)
{
    set->words[port / 64] |= UINT64_C(1) << (port % 64);
}

void kc__node_port_set_remove(kc__node_port_set *set, uint16_t port)
{
    set->words[port / 64] &= ~(UINT64_C(1) << (port % 64));
}

bool kc__node_port_set_is_empty(const kc__node_port_set *set)
{
    for (size_t i = 0; i < KC_COUNT(set->words); i++)
        if (set->words[i])
            return false;
    return true;
}

static void add_port(kc__node_port_set *set, const kc_value *value)
{
    const int64_t port = kc_value_as_i64_or(value, 0);
    if (port > 0 && port <= UINT16_MAX)
        kc__node_port_set_add(set, (uint16_t)port);
}

void kc__node_port_set_add_service(kc__node_port_set *set, const kc_value *spec)
{
    add_port(set, kc_value_get(spec, "healthCheckNodePort"));
    kc_value_each_item (kc_value_get(spec, "ports"), port)
        add_port(set, kc_value_get(port, "nodePort"));
}

/* ---- drawing ---- */

static uint32_t left_for_clients(uint32_t size)
{
    if (size <= LEFT_MIN)
        return 0;
    return KC_MIN(KC_MAX(size / LEFT_PART, (uint32_t)LEFT_MIN), (uint32_t)LEFT_MAX);
}

static bool draw_port(uint32_t low, uint32_t n, const kc__node_port_set *taken, kc_rand *rand,
                      uint16_t *ret_port)
{
    const uint32_t start = n ? (uint32_t)kc_rand_below(rand, n) : 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint16_t port = (uint16_t)(low + (start + i) % n);
        if (!kc__node_port_set_has(taken, port)) {
            *ret_port = port;
            return true;
        }
    }
    return false;
}

bool kc__node_port_draw(kc__node_port_range range, const kc__node_port_set *taken, kc_rand *rand,
                        uint16_t *ret_port)
{
    const uint32_t size = (uint32_t)range.last - range.first + 1, left = left_for_clients(size);
    return draw_port(range.first + left, size - left, taken, rand, ret_port) ||
           draw_port(range.first, left, taken, rand, ret_port);
}

/* ---- the stored object ---- */

/* `data` has the most significant byte first. */
static bool add_bits(kc__node_port_set *set, kc__node_port_range range, kc_str data)
{
    for (size_t i = 0; i < data.n; i++) {
        const unsigned char byte = (unsigned char)data.p[data.n - 1 - i];
        for (unsigned bit = 0; bit < 8; bit++) {
            const uint64_t port = range.first + i * 8 + bit;
            if (!(byte >> bit & 1))
                continue;
            if (port > range.last)
                return false;
            kc__node_port_set_add(set, (uint16_t)port);
        }
    }
    return true;
}

bool kc__node_port_set_read(const kc_object *allocation, kc__node_port_range *ret_range,
                            kc__node_port_set *set)
{
    kc_scoped(kc_buf) data = {0};
    kc_auto(kc_view) *view = kc_view_of(allocation);
    const kc_value *root = kc_view_root(view);
    return kc__node_port_range_parse(kc_value_as_str(kc_value_get(root, "range")), ret_range) &&
           kc_base64_read(&data, kc_value_as_str(kc_value_get(root, "data")), KC_BASE64) &&
           add_bits(set, *ret_range, kc_buf_str(&data));
}

static size_t collect_bits(const kc__node_port_set *set, kc__node_port_range range,
                           unsigned char bytes[SET_BYTES])
{
    size_t n = 0;
    for (uint32_t port = range.first; port <= range.last; port++) {
        const uint32_t offset = port - range.first;
        if (!kc__node_port_set_has(set, (uint16_t)port))
            continue;
        bytes[offset / 8] |= (unsigned char)(1 << (offset % 8));
        n = offset / 8 + 1;
    }
    return n;
}

kc_object *kc__node_port_set_write(kc__node_port_range range, const kc__node_port_set *set)
{
    unsigned char low_first[SET_BYTES] = {0};
    char data[SET_BYTES], text[KC__NODE_PORT_RANGE_TEXT];
    kc_scoped(kc_buf) json = {0};
    const size_t n = collect_bits(set, range, low_first);
    for (size_t i = 0; i < n; i++)
        data[i] = (char)low_first[n - 1 - i];
    kc_buf_printf(&json,
                  "{\"kind\":\"RangeAllocation\",\"apiVersion\":\"v1\",\"metadata\":{"
                  "\"resourceVersion\":\"0\"},\"range\":\"%s\",\"data\":\"",
                  kc__node_port_range_print(range, text).p);
    kc_base64_write(&json, kc_str_of(data, n), KC_BASE64);
    kc_buf_puts(&json, "\"}");
    return kc_object_parse(kc_buf_str(&json), NULL, NULL);
}
