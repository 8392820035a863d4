/* SPDX-License-Identifier: Apache-2.0 */
/* document.h: writes documents, as pure functions of their input. */
#ifndef KC_APISERVER_OPENAPI_DOCUMENT_H
#define KC_APISERVER_OPENAPI_DOCUMENT_H

#include "apiserver/openapi/descriptions.h"
#include "apiserver/openapi/openapi.h"
#include "kc/buf.h"

typedef struct kc__openapi_input {
    const kc__registry *kinds;
    const kc__openapi_descriptions *texts; /* NULL: no descriptions. */
} kc__openapi_input;

/* Append a document as JSON. The same input produces the same bytes. */
void kc__openapi_write_v3(kc_buf *out, const kc__openapi_input *in,
                          const kc__registry_version *version);
void kc__openapi_write_v2(kc_buf *out, const kc__openapi_input *in);

#endif
