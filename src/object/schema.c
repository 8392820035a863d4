/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c: the lifetime of compiled schemas, and what can be asked of a node. schema_internal.h
 * has the picture of one; schema_compile.c makes them.
 */
#include "object/schema_internal.h"

const uint8_t kc__type_bits[32] = {
    [YYJSON_TYPE_NULL] = KC__NULL,
    [YYJSON_TYPE_BOOL] = KC__BOOLEAN,
    [YYJSON_TYPE_BOOL | YYJSON_SUBTYPE_TRUE] = KC__BOOLEAN,
    [YYJSON_TYPE_NUM | YYJSON_SUBTYPE_UINT] = KC__INTEGER,
    [YYJSON_TYPE_NUM | YYJSON_SUBTYPE_SINT] = KC__INTEGER,
    [YYJSON_TYPE_NUM | YYJSON_SUBTYPE_REAL] = KC__NUMBER,
    [YYJSON_TYPE_STR] = KC__STRING,
    [YYJSON_TYPE_STR | YYJSON_SUBTYPE_NOESC] = KC__STRING,
    [YYJSON_TYPE_ARR] = KC__ARRAY,
    [YYJSON_TYPE_OBJ] = KC__OBJECT,
};

kc_schema_defs *kc__document_new(void)
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
    assert(root->flags & KC__IS_ROOT);
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

static const kc__row *row_of(const kc_schema *schema, kc_str name)
{
    return schema && schema->fields ? kc__table_find(schema->fields, name.p ? name.p : "", name.n)
                                    : NULL;
}

const kc_schema *kc_schema_property(const kc_schema *schema, kc_str name)
{
    const kc__row *row = row_of(schema, name);
    return row ? row->schema : NULL;
}

const kc_schema *kc_schema_field(const kc_schema *schema, kc_str name)
{
    return schema ? kc__member_schema(schema, name.p ? name.p : "", name.n) : NULL;
}

const kc_schema *kc_schema_additional(const kc_schema *schema)
{
    return schema ? schema->additional : NULL;
}

const kc_schema *kc_schema_items(const kc_schema *schema)
{
    return schema ? schema->items : NULL;
}

const kc_schema *kc_schema_property_at(const kc_schema *schema, size_t index, kc_str *ret_name)
{
    const kc__table *table = schema ? schema->fields : NULL;
    for (size_t i = 0; table && i < table->n; i++) {
        if (!table->rows[i].schema || index--)
            continue;
        *ret_name = kc_str_of(table->rows[i].name, table->rows[i].n);
        return table->rows[i].schema;
    }
    return NULL;
}

const char *kc_schema_type(const kc_schema *schema)
{
    switch (schema ? schema->types : 0) {
    case KC__BOOLEAN: return "boolean";
    case KC__INTEGER: return "integer";
    case KC__NUMBER: return "number";
    case KC__STRING: return "string";
    case KC__ARRAY: return "array";
    case KC__OBJECT: return "object";
    case KC__INTEGER | KC__STRING: return "integer,string";
    default: return "";
    }
}

static bool has(const kc_schema *schema, unsigned flag)
{
    return schema && schema->flags & flag;
}

bool kc_schema_nullable(const kc_schema *schema)
{
    return has(schema, KC__NULLABLE);
}

bool kc_schema_preserves_unknown(const kc_schema *schema)
{
    return has(schema, KC__PRESERVE);
}

bool kc_schema_embeds_resource(const kc_schema *schema)
{
    return has(schema, KC__EMBEDDED);
}

bool kc_schema_int_or_string(const kc_schema *schema)
{
    return has(schema, KC__INT_OR_STRING);
}

bool kc_schema_requires(const kc_schema *schema, kc_str name)
{
    const kc__row *row = row_of(schema, name);
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

static const kc__extras *extras_of(const kc_schema *schema)
{
    static const kc__extras none = {.merge_key = ""};
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
