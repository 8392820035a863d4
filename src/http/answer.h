/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.h: the head of an answer, as HTTP/1.1 writes it; what is checked in it is checked for
 * HTTP/2 too.
 */
#ifndef KC_HTTP_ANSWER_H
#define KC_HTTP_ANSWER_H

#include "http/body.h"

/* "Not Found"; a class' name for a code not listed: "Client Error". Never NULL. */
const char *kc__status_text(int status);

/*
 * Whether a handler may set this field: a valid name and value, and none of those that are the
 * carrier's to set (Connection, Content-Length, Transfer-Encoding, Date…). A field that may not is
 * left out: text of a client must not become a line of an answer.
 */
bool kc__answer_field_ok(const kc__header *field);

/* Appends its decimal digits. */
void kc__put_number(kc_buf *out, size_t number);

/* Status line, Content-Type, fields and Date; the caller adds what frames the body, and the empty
 * line. */
void kc__answer_head(kc_buf *out, const kc__answer *answer, kc_str date);

#endif
