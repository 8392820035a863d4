/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_internal.h: the columns that are defined per kind, for the table of columns.c, and the
 * words in which they are written.
 */
#ifndef KC_APISERVER_COLUMNS_INTERNAL_H
#define KC_APISERVER_COLUMNS_INTERNAL_H

#include "apiserver/printing/table.h"

/* As the API's reference describes the members of metadata. */
#define KC__NAME_TEXT                                                                             \
    "Name must be unique within a namespace. Is required when creating resources, although some " \
    "resources may allow a client to request the generation of an appropriate name "              \
    "automatically. Name is primarily intended for creation idempotence and configuration "       \
    "definition. Cannot be updated. More info: "                                                  \
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
#define KC__CREATED_TEXT                                                                    \
    "CreationTimestamp is a timestamp representing the server time when this object was "   \
    "created. It is not guaranteed to be set in happens-before order across separate "      \
    "operations. Clients may not set this value. It is represented in RFC3339 form and is " \
    "in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: "            \
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"

#define KC__TEXT_COLUMN(title, of, text) \
    {.name = title, .type = "string", .description = text, .cell = of}
#define KC__WIDE_COLUMN(title, of, text) \
    {.name = title, .type = "string", .description = text, .priority = 1, .cell = of}
#define KC__NAME_COLUMN            \
    {.name = "Name",               \
     .type = "string",             \
     .format = "name",             \
     .description = KC__NAME_TEXT, \
     .cell = kc__cell_name}
#define KC__AGE_COLUMN KC__TEXT_COLUMN("Age", kc__cell_age, KC__CREATED_TEXT)

/* columns_core.c */
extern const kc__columns kc__config_map_columns, kc__secret_columns, kc__namespace_columns,
    kc__service_account_columns, kc__lease_columns;
/* columns_event.c */
extern const kc__columns kc__event_columns;

#endif
