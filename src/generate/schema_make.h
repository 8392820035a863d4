/* SPDX-License-Identifier: Apache-2.0 */
/* schema_make.h: schemas from types of the model. */
#ifndef KC_GENERATE_SCHEMA_MAKE_H
#define KC_GENERATE_SCHEMA_MAKE_H

#include "generate/schema.h"

typedef struct kc__schema_maker {
    kc_arena *arena;
    bool allow_dangerous_types;
    bool embedded_object_meta; /* Embedded metadata has properties. */
    kc_map done;               /* By the type's address as bytes: kc__schema. */
    kc_map under_way;
    kc_error *err;
    bool failed; /* An error was added. */
} kc__schema_maker;

void kc__schema_maker_done(kc__schema_maker *maker);

#define kc__maker_fail(maker, at, ...) \
    ((maker)->failed = true, (void)kc__gen_error((maker)->err, at, __VA_ARGS__))

/* The schema of a kind, with apiVersion, kind and metadata. */
kc__schema *kc__schema_of_kind(kc__schema_maker *maker, const kc__gen_type *type);

/* Applies all markers that speak of schemas, in their order of priority. `resolved` is the schema
 * of the type the field refers to, for checks; NULL: the schema has all there is. */
void kc__schema_apply(kc__schema_maker *maker, const kc__gen_markers *markers, kc__schema *schema,
                      const kc__schema *resolved);
/* The same for those of items, to the items' schema. */
void kc__schema_apply_items(kc__schema_maker *maker, const kc__gen_markers *markers,
                            kc__schema *items, const kc__schema *resolved);

/* A rule as JSON; the texts that are empty are left out. */
kc_str kc__schema_rule(kc_arena *arena, kc_str rule, kc_str message);

#endif
