/* SPDX-License-Identifier: Apache-2.0 */
/* gnostic.h: OpenAPI v2 as protobuf, which older clients request instead of JSON. */
#ifndef KC_APISERVER_GNOSTIC_H
#define KC_APISERVER_GNOSTIC_H

#include "kc/buf.h"
#include "kc/error.h"

/* Appends `json`, a v2 document, as the gnostic message openapi.v2.Document. Members without a
 * field in the message are omitted. Fails only if `json` is not JSON. */
int kc__openapi_gnostic_v2(kc_str json, kc_buf *out, kc_error *err);

#endif
