/* SPDX-License-Identifier: Apache-2.0 */
/* body.h: from the bytes of a request's body to an object of any kind. */
#ifndef KC_APISERVER_BODY_H
#define KC_APISERVER_BODY_H

#include "apiserver/rest/call.h"

/* The media types bodies come in. */
typedef enum kc__body_type { KC__BODY_JSON, KC__BODY_YAML, KC__BODY_PROTOBUF } kc__body_type;

/* By Content-Type, JSON where there is none. KC__FAIL (415) for another. */
kc__verdict kc__body_type_of(kc__call *call, kc__body_type *ret);

/*
 * The body as an object; null is an empty one. `duplicates`, which may be NULL, gets the paths of
 * members of YAML that stand there twice (of JSON the text itself still tells). NULL on error, in
 * the words of Kubernetes' decoder. The caller drops the reference.
 */
kc_object *kc__body_read(kc_str body, kc__body_type type, kc_paths *duplicates, kc_error *err);

/* Appends the beginning of a body for a message: text that begins as an object as it is, other
 * bytes in hexadecimal. */
void kc__body_summary(kc_buf *out, kc_str body);

#endif
