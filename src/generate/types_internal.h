/* SPDX-License-Identifier: Apache-2.0 */
/* types_internal.h: schemas of a CRD, back to C: names, comments, markers. */
#ifndef KC_GENERATE_TYPES_INTERNAL_H
#define KC_GENERATE_TYPES_INTERNAL_H

#include "kc/arena.h"
#include "kc/buf.h"
#include "kc/map.h"
#include "kc/view.h"

/* ---- names ---- */

/* deploymentName → deployment_name; clusterIPs → cluster_ips; HTTPRoute → http_route. */
kc_str kc__types_snake(kc_arena *arena, kc_str name);
/* The same, and no word of C. */
kc_str kc__types_c_name(kc_arena *arena, kc_str name);
/* The same, and no function of the C library, as a kind Link or Index would be. */
kc_str kc__types_kind_name(kc_arena *arena, kc_str kind);
/* A name that is not in `taken` yet, and then is: name, name_2, name_3… */
kc_str kc__types_take_name(kc_arena *arena, kc_map *taken, kc_str name);

/* Whether +kc:json can say it. */
bool kc__types_can_be_named(kc_str json_name);

/* ---- what a schema is ---- */

typedef enum kc__types_form {
    KC__TYPES_ONE,    /* One value with a C type of its own. */
    KC__TYPES_LIST,   /* items */
    KC__TYPES_MAP,    /* additionalProperties */
    KC__TYPES_STRUCT, /* properties */
    KC__TYPES_RAW,    /* Anything else: kc_raw. */
} kc__types_form;

kc__types_form kc__types_form_of(const kc_value *schema);
/* It is what Kubernetes has conditions for, which is a struct of the SDK. */
bool kc__types_is_condition(const kc_value *schema);
/* The C type of KC__TYPES_ONE and KC__TYPES_RAW. */
const char *kc__types_value(const kc_value *schema);

/* ---- comments and markers ---- */

/* Appends a schema's description as comments, each line behind `indent`. */
void kc__types_describe(kc_buf *out, const char *indent, const kc_value *schema);

/* What markers stand at. */
typedef enum kc__types_place {
    KC__TYPES_FIELD = 1,
    KC__TYPES_ITEMS = 2, /* A field, of which they say what each item is. */
    KC__TYPES_TYPE = 4,
} kc__types_place;

/* Appends a marker for each thing a schema says of one value. What the C type says by itself
 * (int32, date-time) is left out. */
void kc__types_mark(kc_buf *out, const char *indent, const kc_value *schema, kc__types_place place);

/* The same of a schema that is a part of one: only what has a marker of its own. */
void kc__types_mark_limits(kc_buf *out, const char *indent, const kc_value *schema,
                           kc__types_place place);

/* The two schemas of an allOf that comes of a type and a field which both have limits; NULL: it is
 * none, and cannot be said. */
const kc_value *kc__types_both(const kc_value *schema);

/* Appends what of a schema nothing at this place can say: keywords, with commas between. */
void kc__types_lost(kc_buf *out, const kc_value *schema, kc__types_place place);

/* Appends a value as a marker has it, and a list of them: as people write it where that is safe
 * (robot, a;b), else in quotes ("a robot", {"a","true"}). */
void kc__types_put_value(kc_buf *out, const kc_value *value);
void kc__types_put_list(kc_buf *out, const kc_value *values);

/* Appends the markers of a kind: names, columns, subresources of one version of a CRD. */
void kc__types_mark_kind(kc_buf *out, const kc_value *crd, const kc_value *version);

#endif
