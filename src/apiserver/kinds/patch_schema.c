/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch_schema.c: the API types as a schema for strategic_patch.h. A schema node is a message; a
 * value without a message (maps, raw JSON) is `anything`, whose members are merged one by one.
 */
#include "apiserver/kinds/patch_schema.h"

static const kc__type_message anything = {.name = KC_STR_INIT("")};

static const kc__type_message *node_of(const kc__type_field *field)
{
    bool structured = field->kind == KC__FIELD_MESSAGE && field->shape != KC__MAPPED;
    return structured ? field->message : &anything;
}

static bool describe(const void *node, kc_str name, kc_patch_field *ret)
{
    if (node == &anything) {
        ret->object = &anything;
        return true;
    }
    const kc__type_field *field = kc__type_message_field(node, name);
    if (!field)
        return false;
    if (field->shape == KC__REPEATED)
        ret->element = node_of(field);
    else
        ret->object = node_of(field);
    ret->merge_key = kc_cstr(field->merge_key);
    ret->merge = field->marks & KC__PATCH_MERGES;
    ret->replace = field->marks & KC__PATCH_REPLACES;
    ret->retain_keys = field->marks & KC__PATCH_RETAINS;
    return true;
}

kc_patch_schema kc__strategy_patch_schema_of(const kc__type_message *type)
{
    return (kc_patch_schema){.field = describe, .root = type ? type : &anything};
}
