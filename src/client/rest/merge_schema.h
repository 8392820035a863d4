/* SPDX-License-Identifier: Apache-2.0 */
/* merge_schema.h: the types of a kc_merge_schema, and those that a client keeps. */
#ifndef KC_CLIENT_MERGE_SCHEMA_H
#define KC_CLIENT_MERGE_SCHEMA_H

#include "client/rest/client_internal.h"
#include "kc/extract_applied.h"
#include "object/fields/fields_type.h"

/* The type of a kind, which lives as long as the schema; NULL if there is none. */
const kc__fields_type *kc__client_merge_type(const kc_merge_schema *schema, kc_gvk gvk);

#endif
