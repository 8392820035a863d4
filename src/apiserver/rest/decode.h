/* SPDX-License-Identifier: Apache-2.0 */
/* decode.h: from the bytes of a request to an object of the resource's kind. */
#ifndef KC_APISERVER_DECODE_H
#define KC_APISERVER_DECODE_H

#include "apiserver/rest/call.h"

/* Reads the body into call->given: any encoding, of the right kind, typed, unknown fields reported
 * as the request asks for it. */
kc__verdict kc__decode_body(kc__call *call);

/* The same for an object of a custom resource, in the version of the request; the sentences of
 * strict decoding are added to `complaints`. 0 or negative. *object is replaced. */
int kc__decode_custom(kc__call *call, kc_object **object, kc_paths *complaints, kc_error *err);

/* The body as DeleteOptions, typed; *ret is NULL without a body. */
kc__verdict kc__decode_options_body(kc__call *call, kc_object **ret);

/* Whether the object is of the resource's kind; one that does not say is. 0, or negative in the
 * words of Kubernetes' decoder. *object may be replaced. */
int kc__decode_kind(kc__call *call, kc_object **object, kc_error *err);

/* "strict decoding error: …": all sentences in one, the arena's. */
const char *kc__complaints_join(const kc_paths *complaints, kc_arena *arena);

#endif
