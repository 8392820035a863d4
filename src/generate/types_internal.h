/* SPDX-License-Identifier: Apache-2.0 */
/* types_internal.h: schemas of a CRD, back to comments and markers. */
#ifndef KC_GENERATE_TYPES_INTERNAL_H
#define KC_GENERATE_TYPES_INTERNAL_H

#include "kc/buf.h"
#include "kc/view.h"

/* Appends a schema's description as comments, each line behind `indent`. */
void kc__types_describe(kc_buf *out, const char *indent, const kc_value *schema);

/* What markers stand at. */
typedef enum kc__types_place {
    KC__TYPES_FIELD,
    KC__TYPES_ITEMS, /* A field, of which they say what each item is. */
    KC__TYPES_TYPE,
} kc__types_place;

/* Appends a marker for each thing a schema says of one value. What the C type says by itself
 * (int32, date-time) is left out. */
void kc__types_mark(kc_buf *out, const char *indent, const kc_value *schema, kc__types_place place);

/* A value that may be a number is a quantity: its pattern is theirs. */
bool kc__types_is_quantity(const kc_value *schema);

/* Appends the markers of a kind: names, columns, subresources of one version of a CRD. */
void kc__types_mark_kind(kc_buf *out, const kc_value *crd, const kc_value *version);

#endif
