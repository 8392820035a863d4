/* SPDX-License-Identifier: Apache-2.0 */
/* protocols.h: which protocol a connection speaks. */
#ifndef KC_HTTP_PROTOCOLS_H
#define KC_HTTP_PROTOCOLS_H

#include "http/conn.h"

/* Of what a client offers (as TLS has it: lengths and names), the one we like best; NULL when there
 * is none. */
const kc__protocol *kc__protocol_of_offer(const unsigned char *offer, size_t n);
/* By the name that was agreed on; HTTP/1.1 when none was. */
const kc__protocol *kc__protocol_named(kc_str name);
/* By the first bytes of a plain connection; NULL while they could be either. */
const kc__protocol *kc__protocol_of_bytes(kc_str first);

/* Bytes that are surely enough for that. */
enum { KC__PREFACE = 24 };

#endif
