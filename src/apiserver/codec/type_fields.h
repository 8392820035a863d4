/* SPDX-License-Identifier: Apache-2.0 */
/* type_fields.h: the types of built-in kinds as types of field ownership (object/fields). */
#ifndef KC_APISERVER_TYPE_FIELDS_H
#define KC_APISERVER_TYPE_FIELDS_H

#include "apiserver/codec/api_types.h"
#include "object/fields/fields_type.h"

/* Adds a message, under its full name, and all messages that it refers to. The graph must not be
 * finished. Adding a message again returns its type. */
const kc__fields_type *kc__type_fields_add(kc__fields_types *types,
                                           const kc__type_message *message);

#endif
