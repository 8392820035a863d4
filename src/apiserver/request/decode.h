/* SPDX-License-Identifier: Apache-2.0 */
/* decode.h: decodes a request body into an object of the resource's kind. */
#ifndef KC_APISERVER_DECODE_H
#define KC_APISERVER_DECODE_H

#include "apiserver/kinds/resource_ops.h"
#include "apiserver/request/phases.h"

/* Reads the body into call->body: any encoding, of the right kind, typed. Reports strict decoding
 * errors as the request's fieldValidation says. */
kc__rest_verdict kc__rest_decode_body(kc__rest_call *call);
/* Reads the parameters of a POST, CreateOptions, and the body. */
kc__rest_verdict kc__rest_decode_create(kc__rest_call *call);
/* The same for a subresource whose body is not the object itself: call->subresource_body. */
kc__rest_verdict kc__rest_decode_subresource(kc__rest_call *call);

/* The same for an object that is not the request body: checks its kind and types it. *object is
 * replaced. 0 or negative. */
int kc__rest_decode_object(kc__rest_call *call, kc_object **object,
                           const kc__resource_decode_source *source, kc_paths *strict_errors,
                           kc_error *err);

/* The body as DeleteOptions, typed; *ret is NULL without a body. */
kc__rest_verdict kc__rest_decode_options_body(kc__rest_call *call, kc_object **ret);

/* Checks that the object is of the resource's kind; sets kind and apiVersion if absent. 0, or
 * negative with the message of Kubernetes' decoder. *object may be replaced. */
int kc__rest_decode_kind(kc__rest_call *call, kc_object **object, kc_error *err);

/* "strict decoding error: …": all errors in one message, allocated in the arena. */
const char *kc__rest_join_strict_errors(const kc_paths *strict_errors, kc_arena *arena);

#endif
