/* SPDX-License-Identifier: Apache-2.0 */
/* body.h: decodes the bytes of a request body into an object of any kind. */
#ifndef KC_APISERVER_BODY_H
#define KC_APISERVER_BODY_H

#include "apiserver/request/phases.h"

/* Media types of request bodies. */
typedef enum kc__rest_body_type {
    KC__REST_BODY_JSON,
    KC__REST_BODY_YAML,
    KC__REST_BODY_PROTOBUF
} kc__rest_body_type;

/* Reads Content-Type; without one the body is JSON. KC__REST_FAIL (415) for an unknown type. */
kc__rest_verdict kc__rest_body_type_of(kc__rest_call *call, kc__rest_body_type *ret);

/*
 * Decodes the body into an object; null becomes an empty object. `duplicates`, which may be NULL,
 * receives the paths of duplicate YAML members (duplicate JSON members are still found in the
 * text). NULL on error, with the message of Kubernetes' decoder. The caller drops the reference.
 */
kc_object *kc__rest_body_read(kc_str body, kc__rest_body_type type, kc_paths *duplicates,
                              kc_error *err);

/* Appends what Kubernetes says about a body that kc_yaml_parse_first has refused; `why` for what is
 * only this server's limit. */
void kc__rest_body_yaml_error(kc_buf *out, kc_str body, const kc_error *why);

/* Appends the beginning of a body for an error message: text that begins like an object unchanged,
 * other bytes in hexadecimal. */
void kc__rest_body_summary(kc_buf *out, kc_str body);

#endif
