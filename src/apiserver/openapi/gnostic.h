/* SPDX-License-Identifier: Apache-2.0 */
/* gnostic.h: a document of version 2 as protobuf, which older clients ask for instead of JSON. */
#ifndef KC_APISERVER_GNOSTIC_H
#define KC_APISERVER_GNOSTIC_H

#include "kc/buf.h"
#include "kc/error.h"

/* Appends `json`, a document of version 2, as the message openapi.v2.Document of gnostic. What the
 * message has no field for is left out. Fails only if it is no JSON. */
int kc__gnostic_v2(kc_str json, kc_buf *out, kc_error *err);

#endif
