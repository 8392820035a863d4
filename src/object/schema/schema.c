/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c: the lifetime of compiled schemas, and the accessors of a node. schema_internal.h shows
 * the structure; compile.c builds it.
 */
#include "object/schema/schema_internal.h"

const uint8_t kc__schema_type_bits[32] = {
    [YYJSON_TYPE_NULL] = KC__SCHEMA_NULL,
    [YYJSON_TYPE_BOOL] = KC__SCHEMA_BOOLEAN,
    [YYJSON_TYPE_BOOL | YYJSON_SUBTYPE_TRUE] = KC__SCHEMA_BOOLEAN,
    [YYJSON_TYPE_NUM | YYJSON_SUBTYPE_UINT] = KC__SCHEMA_INTEGER,
    [YYJSON_TYPE_NUM | YYJSON_SUBTYPE_SINT] = KC__SCHEMA_INTEGER,
    [YYJSON_TYPE_NUM | YYJSON_SUBTYPE_REAL] = KC__SCHEMA_NUMBER,
    [YYJSON_TYPE_STR] = KC__SCHEMA_STRING,
    [YYJSON_TYPE_STR | YYJSON_SUBTYPE_NOESC] = KC__SCHEMA_STRING,
    [YYJSON_TYPE_ARR] = KC__SCHEMA_ARRAY,
    [YYJSON_TYPE_OBJ] = KC__SCHEMA_OBJECT,
};

kc_schema_defs *kc__schema_document_new(void)
{
    kc_schema_defs *document = kc_new(kc_schema_defs);
    kc_ref_init(&document->refs);
    return document;
}

kc_schema_defs *kc_schema_defs_ref(const kc_schema_defs *defs)
{
    if (defs)
        kc_ref_add(&((kc_schema_defs *)defs)->refs);
    return (kc_schema_defs *)defs;
}

kc_schema_defs *kc_schema_defs_unref(const kc_schema_defs *defs)
{
    kc_schema_defs *document = (kc_schema_defs *)defs;
    if (!document || !kc_ref_drop(&document->refs))
        return NULL;
    for (kc__pattern *p = document->patterns; p; p = p->next)
        kc__pattern_done(p);
    kc_map_done(&document->names);
    kc_schema_defs_unref(document->uses);
    kc_arena_done(&document->arena);
    free(document);
    return NULL;
}

const kc_schema *kc_schema_defs_get(const kc_schema_defs *defs, kc_str name)
{
    return defs ? kc_map_get(&defs->names, name) : NULL;
}

size_t kc_schema_defs_memory(const kc_schema_defs *defs)
{
    if (!defs)
        return 0;
    return sizeof(*defs) + defs->arena.used + defs->names.cap * sizeof(kc_map_entry);
}

static kc_schema_defs *document_of(const kc_schema *root)
{
    assert(root->flags & KC__SCHEMA_IS_ROOT);
    return kc_container_of(root, kc_schema_defs, root);
}

kc_schema *kc_schema_ref(const kc_schema *root)
{
    if (root)
        kc_schema_defs_ref(document_of(root));
    return (kc_schema *)root;
}

kc_schema *kc_schema_unref(const kc_schema *root)
{
    if (root)
        kc_schema_defs_unref(document_of(root));
    return NULL;
}

size_t kc_schema_memory(const kc_schema *root)
{
    return root ? kc_schema_defs_memory(document_of(root)) : 0;
}

static const kc__schema_property_row *row_of(const kc_schema *schema, kc_str name)
{
    return schema && schema->fields
               ? kc__schema_table_find(schema->fields, name.p ? name.p : "", name.n)
               : NULL;
}

const kc_schema *kc_schema_property(const kc_schema *schema, kc_str name)
{
    const kc__schema_property_row *row = row_of(schema, name);
    return row ? row->schema : NULL;
}

const kc_schema *kc_schema_field(const kc_schema *schema, kc_str name)
{
    return schema ? kc__schema_member_schema(schema, name.p ? name.p : "", name.n) : NULL;
}

const kc_schema *kc_schema_additional(const kc_schema *schema)
{
    return schema ? schema->additional : NULL;
}

const kc_schema *kc_schema_items(const kc_schema *schema)
{
    return schema ? schema->items : NULL;
}

const kc_schema *kc_schema_property_next(const kc_schema *schema, size_t *at, kc_str *ret_name)
{
    const kc__schema_property_table *table = schema ? schema->fields : NULL;
    while (table && *at < table->n) {
        const kc__schema_property_row *row = &table->rows[(*at)++];
        if (!row->schema)
            continue;
        *ret_name = kc_str_of(row->name, row->n);
        return row->schema;
    }
    return NULL;
}

const char *kc_schema_type(const kc_schema *schema)
{
    switch (schema ? schema->types : 0) {
    case KC__SCHEMA_BOOLEAN: return "boolean";
    case KC__SCHEMA_INTEGER: return "integer";
    case KC__SCHEMA_NUMBER: return "number";
    case KC__SCHEMA_STRING: return "string";
    case KC__SCHEMA_ARRAY: return "array";
    case KC__SCHEMA_OBJECT: return "object";
    case KC__SCHEMA_INTEGER | KC__SCHEMA_STRING: return "integer,string";
    default: return "";
    }
}

static bool schema_has(const kc_schema *schema, unsigned flag)
{
    return schema && schema->flags & flag;
}

bool kc_schema_nullable(const kc_schema *schema)
{
    return schema_has(schema, KC__SCHEMA_NULLABLE);
}

bool kc_schema_preserves_unknown(const kc_schema *schema)
{
    return schema_has(schema, KC__SCHEMA_PRESERVE);
}

bool kc_schema_embeds_resource(const kc_schema *schema)
{
    return schema_has(schema, KC__SCHEMA_EMBEDDED);
}

bool kc_schema_int_or_string(const kc_schema *schema)
{
    return schema_has(schema, KC__SCHEMA_IS_INT_OR_STRING);
}

bool kc_schema_requires(const kc_schema *schema, kc_str name)
{
    const kc__schema_property_row *row = row_of(schema, name);
    return row && row < schema->fields->rows + schema->fields->n_required;
}

kc_list_type kc_schema_list_type(const kc_schema *schema)
{
    return schema ? (kc_list_type)schema->list_type : KC_LIST_UNSET;
}

kc_map_type kc_schema_map_type(const kc_schema *schema)
{
    return schema ? (kc_map_type)schema->map_type : KC_MAP_UNSET;
}

static const kc__schema_extras *extras_of(const kc_schema *schema)
{
    static const kc__schema_extras none = {.merge_key = ""};
    return schema && schema->extras ? schema->extras : &none;
}

const kc_value *kc_schema_list_map_keys(const kc_schema *schema)
{
    return extras_of(schema)->list_map_keys;
}

unsigned kc_schema_patch_strategy(const kc_schema *schema)
{
    return schema ? schema->patch : 0;
}

kc_str kc_schema_patch_merge_key(const kc_schema *schema)
{
    return kc_cstr(extras_of(schema)->merge_key);
}

const kc_value *kc_schema_default_value(const kc_schema *schema)
{
    return extras_of(schema)->default_value;
}

const kc_value *kc_schema_validations(const kc_schema *schema)
{
    return extras_of(schema)->validations;
}

static const kc__schema_size_rules *size_rules_of(const kc_schema *schema)
{
    static const kc__schema_size_rules none = {
        .min_items = -1, .max_items = -1, .min_properties = -1, .max_properties = -1};
    return schema && schema->checks && schema->checks->size ? schema->checks->size : &none;
}

static const kc__schema_text_rules *text_rules_of(const kc_schema *schema)
{
    static const kc__schema_text_rules none = {.min = -1, .max = -1, .format_name = ""};
    return schema && schema->checks && schema->checks->text ? schema->checks->text : &none;
}

int64_t kc_schema_max_length(const kc_schema *schema)
{
    return text_rules_of(schema)->max;
}

int64_t kc_schema_max_items(const kc_schema *schema)
{
    return size_rules_of(schema)->max_items;
}

int64_t kc_schema_max_properties(const kc_schema *schema)
{
    return size_rules_of(schema)->max_properties;
}

const char *kc_schema_format(const kc_schema *schema)
{
    const char *format = text_rules_of(schema)->format_name;
    return format ? format : "";
}

const kc_value *kc_schema_enum(const kc_schema *schema)
{
    return schema && schema->checks && schema->checks->choice ? schema->checks->choice->values
                                                              : NULL;
}
