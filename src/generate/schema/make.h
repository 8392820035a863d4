/* SPDX-License-Identifier: Apache-2.0 */
/* make.h: builds schemas from types of the model. */
#ifndef KC_GENERATE_SCHEMA_MAKE_H
#define KC_GENERATE_SCHEMA_MAKE_H

#include "generate/schema/schema.h"

typedef struct kc__gen_schema_maker {
    kc_arena *arena;
    bool allow_dangerous_types;
    bool embedded_object_meta; /* Embedded metadata gets properties. */
    kc_map done;               /* By the type's address as bytes: kc__gen_schema. */
    kc_map under_way;
    kc_error *err;
    bool failed; /* An error was added. */
} kc__gen_schema_maker;

void kc__gen_schema_maker_done(kc__gen_schema_maker *maker);

#define kc__gen_schema_maker_fail(maker, at, ...) \
    ((maker)->failed = true, (void)kc__gen_error((maker)->err, at, __VA_ARGS__))

/* The schema of a kind, with apiVersion, kind and metadata. */
kc__gen_schema *kc__gen_schema_of_kind(kc__gen_schema_maker *maker, const kc__gen_type *type);

/* Applies all schema markers in order of priority. `resolved` is the schema of the referenced type,
 * for checks; NULL: the schema itself is complete. */
void kc__gen_schema_apply(kc__gen_schema_maker *maker, const kc__gen_markers *markers,
                          kc__gen_schema *schema, const kc__gen_schema *resolved);
/* The same for markers of items, to the items' schema. */
void kc__gen_schema_apply_items(kc__gen_schema_maker *maker, const kc__gen_markers *markers,
                                kc__gen_schema *items, const kc__gen_schema *resolved);

/* A rule as JSON without empty texts. */
kc_str kc__gen_schema_rule(kc_arena *arena, kc_str rule, kc_str message);

#endif
