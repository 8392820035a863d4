/* SPDX-License-Identifier: Apache-2.0 */
/* crd_tables_internal.h: declarations shared by the type tables of the CRD versions. */
#ifndef KC_APISERVER_CRD_TABLES_INTERNAL_H
#define KC_APISERVER_CRD_TABLES_INTERNAL_H

#include "apiserver/kinds/apiextensions/crd_type.h"

/* The types of v1, by their index in the table. */
enum {
    KC__T_TYPE_META,
    KC__T_OWNER,
    KC__T_MANAGED,
    KC__T_OBJECT_META,
    KC__T_CRD,
    KC__T_CRD_LIST,
    KC__T_SPEC,
    KC__T_CONVERSION,
    KC__T_WEBHOOK,
    KC__T_CLIENT,
    KC__T_SERVICE,
    KC__T_VERSION,
    KC__T_SELECTABLE,
    KC__T_COLUMN,
    KC__T_NAMES,
    KC__T_STATUS,
    KC__T_CONDITION,
    KC__T_VALIDATION,
    KC__T_SUBRESOURCES,
    KC__T_SUB_STATUS,
    KC__T_SUB_SCALE,
    KC__T_SCHEMA,
    KC__T_DOCS,
    KC__T_RULE,
    KC__N_CRD_TYPES,
};

extern const kc__type_message kc__crd_types[KC__N_CRD_TYPES];

#define TYPE(name) &kc__crd_types[KC__T_##name]
#define OF(kind_, shape_, marks_, go_) \
    .kind = KC__FIELD_##kind_, .shape = KC__##shape_, .marks = marks_, .go_type = go_
#define FIELD(name_, number_, kind_, shape_, marks_, go_) \
    .name = KC_STR_INIT(name_), .number = number_, OF(kind_, shape_, marks_, go_)
/* A message with the fields `of`_fields and their indexes by name and by number. */
#define MESSAGE_OF(package, version, kind, of)      \
    {.name = KC_STR_INIT(package version "." kind), \
     .go_name = version "." kind,                   \
     .fields = of##_fields,                         \
     .n_fields = KC_COUNT(of##_fields),             \
     .by_name = of##_order,                         \
     .by_number = of##_numbers}

#endif
