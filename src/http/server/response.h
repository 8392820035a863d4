/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response.h: the head of a response in HTTP/1.1 format; its checks apply to HTTP/2 too.
 */
#ifndef KC_HTTP_SERVER_RESPONSE_H
#define KC_HTTP_SERVER_RESPONSE_H

#include "http/server/body.h"
#include "http/server/conn.h"

/* Returns "Not Found"; for an unknown code the name of its class: "Client Error". Never NULL. */
const char *kc__http_status_text(int status);

/*
 * Returns whether a handler may set this field: name and value are valid, and the field is not
 * reserved for the carrier (Connection, Content-Length, Transfer-Encoding, Date…). Other fields are
 * omitted, so that a client's text cannot inject a line into a response.
 */
bool kc__http_response_field_ok(const kc__http_header *field);

/* Builds a refusal, sent by a carrier without a handler: `text`, or the body that the limits
 * have for this status. A 429 has a Retry-After. Borrows the text. */
kc__http_response kc__http_response_refusal(const kc__http_limits *limits, int status, kc_str text);

/* Appends the decimal digits of a number. */
void kc__http_append_number(kc_buf *out, size_t number);

/* Appends status line, Content-Type, fields and Date; the caller adds the framing of the body
 * and the empty line. */
void kc__http_response_head(kc_buf *out, const kc__http_response *response, kc_str date);

#endif
