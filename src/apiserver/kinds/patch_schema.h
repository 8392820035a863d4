/* SPDX-License-Identifier: Apache-2.0 */
/* patch_schema.h: how strategic merge patches treat the fields of a built-in kind. */
#ifndef KC_APISERVER_PATCH_SCHEMA_H
#define KC_APISERVER_PATCH_SCHEMA_H

#include "apiserver/kinds/definition.h"
#include "kc/strategic_patch.h"

/* By the markers of the definitions: which lists are merged, and by which key. */
kc_patch_schema kc__patch_schema_of(const kc__message *type);

#endif
