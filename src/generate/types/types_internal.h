/* SPDX-License-Identifier: Apache-2.0 */
/* types_internal.h: converts schemas of a CRD to C: names, comments, markers. */
#ifndef KC_GENERATE_TYPES_INTERNAL_H
#define KC_GENERATE_TYPES_INTERNAL_H

#include "kc/arena.h"
#include "kc/buf.h"
#include "kc/map.h"
#include "kc/view.h"

/* ---- names ---- */

/* deploymentName → deployment_name; clusterIPs → cluster_ips; HTTPRoute → http_route. */
kc_str kc__gen_types_snake(kc_arena *arena, kc_str name);
/* The same, avoiding C keywords. */
kc_str kc__gen_types_c_name(kc_arena *arena, kc_str name);
/* The same, avoiding C library functions, as for a kind Link or Index. */
kc_str kc__gen_types_kind_name(kc_arena *arena, kc_str kind);
/* A name that is not in `taken`, which it is added to: name, name_2, name_3… */
kc_str kc__gen_types_take_name(kc_arena *arena, kc_map *taken, kc_str name);

/* Whether +kc:json can express it. */
bool kc__gen_types_can_be_named(kc_str json_name);

/* ---- schema types ---- */

typedef enum kc__gen_types_form {
    KC__GEN_TYPES_ONE,    /* One value with a C type of its own. */
    KC__GEN_TYPES_LIST,   /* items */
    KC__GEN_TYPES_MAP,    /* additionalProperties */
    KC__GEN_TYPES_STRUCT, /* properties */
    KC__GEN_TYPES_RAW,    /* Anything else: kc_raw. */
} kc__gen_types_form;

kc__gen_types_form kc__gen_types_form_of(const kc_value *schema);
/* It has the form of Kubernetes conditions, which is a struct of the SDK. */
bool kc__gen_types_is_condition(const kc_value *schema);
/* The C type of KC__GEN_TYPES_ONE and KC__GEN_TYPES_RAW. */
const char *kc__gen_types_value(const kc_value *schema);

/* ---- comments and markers ---- */

/* Appends a schema's description as comments, each line after `indent`. */
void kc__gen_types_describe(kc_buf *out, const char *indent, const kc_value *schema);

/* Places of markers. */
typedef enum kc__gen_types_position {
    KC__GEN_TYPES_FIELD = 1,
    KC__GEN_TYPES_ITEMS = 2, /* A field, for markers of its items. */
    KC__GEN_TYPES_TYPE = 4,
} kc__gen_types_position;

/* Appends a marker for each constraint of a value's schema. Those implied by the C type (int32,
 * date-time) are omitted. */
void kc__gen_types_mark(kc_buf *out, const char *indent, const kc_value *schema,
                        kc__gen_types_position place);

/* The same for a partial schema: only constraints with a marker of their own. */
void kc__gen_types_mark_limits(kc_buf *out, const char *indent, const kc_value *schema,
                               kc__gen_types_position place);

/* The two schemas of an allOf that stems from limits of both a type and a field; NULL: another
 * allOf, which cannot be expressed. */
const kc_value *kc__gen_types_both(const kc_value *schema);

/* Appends the keywords of a schema that cannot be expressed at this place, separated by commas. */
void kc__gen_types_unrepresentable(kc_buf *out, const kc_value *schema,
                                   kc__gen_types_position place);

/* Appends a value, or a list of values, in marker syntax: bare where that is safe (robot, a;b),
 * else quoted ("a robot", {"a","true"}). */
void kc__gen_types_put_value(kc_buf *out, const kc_value *value);
void kc__gen_types_put_list(kc_buf *out, const kc_value *values);

/* Appends the markers of a kind: names, columns, subresources of one version of a CRD. */
void kc__gen_types_mark_kind(kc_buf *out, const kc_value *crd, const kc_value *version);

#endif
