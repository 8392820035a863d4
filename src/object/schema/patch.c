/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch.c: a structural schema as the source of strategies for strategic merge patches. A node of
 * kc_patch_schema is a kc_schema.
 */
#include "kc/strategic_patch.h"

static bool field(const void *node, kc_str name, kc_patch_field *ret)
{
    const kc_schema *schema = node, *of = kc_schema_field(schema, name);
    if (!of) {
        /* Fields that are preserved without a schema are merged as by a merge patch. */
        ret->object = ret->element = schema;
        return kc_schema_preserves_unknown(schema);
    }
    unsigned strategy = kc_schema_patch_strategy(of);
    ret->object = of;
    ret->element = kc_schema_items(of);
    ret->merge_key = kc_schema_patch_merge_key(of);
    ret->merge = strategy & KC_STRATEGY_MERGE;
    ret->replace = strategy & KC_STRATEGY_REPLACE;
    ret->retain_keys = strategy & KC_STRATEGY_RETAIN_KEYS;
    return true;
}

kc_patch_schema kc_patch_schema_of(const kc_schema *schema)
{
    return (kc_patch_schema){.field = field, .root = schema};
}
