/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field_path.h: paths to fields of a schema, such as .spec.labels['a.b']: the fieldPath of CEL
 * rules and the jsonPath of selectable fields.
 */
#ifndef KC_SCHEMA_FIELD_PATH_H
#define KC_SCHEMA_FIELD_PATH_H

#include "kc/buf.h"
#include "kc/view.h"

/*
 * Follows a path into an OpenAPI schema and returns the schema of the field. NULL with Kubernetes'
 * message in `why` when the schema has no such field. `out` receives the path as errors show it
 * (spec.labels[a.b]) and may be NULL. Without `keys`, brackets are an error.
 */
const kc_value *kc__schema_field_path(const kc_value *openapi, kc_str path, bool keys, kc_buf *out,
                                      kc_buf *why);

#endif
