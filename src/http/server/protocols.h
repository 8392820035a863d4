/* SPDX-License-Identifier: Apache-2.0 */
/* protocols.h: selects the protocol of a connection. */
#ifndef KC_HTTP_PROTOCOLS_H
#define KC_HTTP_PROTOCOLS_H

#include "http/server/conn.h"

/* Returns the preferred protocol among those that a client offers (in the ALPN wire format:
 * lengths and names); NULL if there is none. */
const kc__conn_protocol *kc__conn_protocol_by_alpn(const unsigned char *offer, size_t n);
/* By the negotiated name; HTTP/1.1 if there is none. */
const kc__conn_protocol *kc__conn_protocol_by_name(kc_str name);
/* By the first bytes of a plain connection; NULL while they are ambiguous. */
const kc__conn_protocol *kc__conn_protocol_by_preface(kc_str first);

/* Number of bytes that is always sufficient for that. */
enum { KC__CONN_PREFACE_BYTES = 24 };

#endif
