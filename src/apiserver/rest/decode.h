/* SPDX-License-Identifier: Apache-2.0 */
/* decode.h: from the bytes of a request to an object of the resource's kind. */
#ifndef KC_APISERVER_DECODE_H
#define KC_APISERVER_DECODE_H

#include "apiserver/rest/call.h"

/* Reads the body into call->given: any encoding, of the right kind, typed, unknown fields reported
 * as the request asks for it. */
kc__verdict kc__decode_body(kc__call *call);

/* The body as an object of whatever kind, as DeleteOptions are read; *ret is NULL without a body.
 */
kc__verdict kc__decode_options_body(kc__call *call, kc_object **ret);

/* Gives `object` its type: what Kubernetes would make of it. `text` is where it came from, for
 * complaints about fields that stand there twice; may be empty. The result replaces *object. */
kc__verdict kc__decode_typed(kc__call *call, kc_object **object, kc_str text, kc_reason strict);

#endif
