/* SPDX-License-Identifier: Apache-2.0 */
/* go_addr.h: parses and writes IP addresses and prefixes as Go's net/netip does, with its errors.
 */
#ifndef KC_GO_ADDR_H
#define KC_GO_ADDR_H

#include "kc/buf.h"

typedef struct kc__go_addr {
    uint8_t bytes[16];
    uint8_t length; /* 4 or 16. */
    uint8_t bits;   /* Of a prefix. */
    bool has_zone;
} kc__go_addr;

/* netip.ParseAddr. On failure returns false and appends Go's error to `why`. */
bool kc__go_addr_parse(kc_str text, kc__go_addr *ret, kc_buf *why);
/* netip.ParsePrefix. On failure returns false and appends Go's error to `why`. */
bool kc__go_addr_parse_prefix(kc_str text, kc__go_addr *ret, kc_buf *why);

/* True for an IPv4 address mapped to IPv6: ::ffff:1.2.3.4. */
bool kc__go_addr_is_mapped(const kc__go_addr *addr);

/* Addr.String, without the zone. */
void kc__go_addr_write(const kc__go_addr *addr, kc_buf *out);

#endif
