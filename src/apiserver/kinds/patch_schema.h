/* SPDX-License-Identifier: Apache-2.0 */
/* patch_schema.h: the strategic merge patch schema of built-in kinds. */
#ifndef KC_APISERVER_PATCH_SCHEMA_H
#define KC_APISERVER_PATCH_SCHEMA_H

#include "apiserver/codec/api_types.h"
#include "kc/strategic_patch.h"

/* Returns the schema from the markers of the API definitions: which lists are merged, and by
 * which key. */
kc_patch_schema kc__strategy_patch_schema_of(const kc__type_message *type);

#endif
