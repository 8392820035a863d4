/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c: types from structural schemas, as Kubernetes declares them.
 *
 * An object with properties becomes an object type, one with additionalProperties a map, an array a
 * list. Parts without a type, such as those with only x-kubernetes-preserve-unknown-fields, have no
 * type in CEL and are left out. Object types are named by their path, and two paths are two types
 * even if their schemas are equal: Kubernetes refuses to compare them.
 *
 * Each type also says how large its values can be, for the estimation of costs: the limits of the
 * schema, or what fits into a request of 3 MiB.
 */
#include "cel/type/type_internal.h"

#define REQUEST_BYTES (INT64_C(3) * 1024 * 1024)

enum { MAX_SCHEMA_DEPTH = 100, MAX_SCHEMA_TYPES = 50000 };

typedef struct schema_typer {
    kc_arena *arena;
    size_t n_types;
} schema_typer;

/* A type and the least bytes that one of its values takes in JSON. */
typedef struct sized_type {
    kc_cel_type *type;
    int64_t min_bytes;
} sized_type;

static sized_type declare(schema_typer *t, const kc_schema *schema, const char *name,
                          unsigned depth, bool resource);

static sized_type new_declared(schema_typer *t, const kc_schema *schema, const kc_cel_type *like,
                               int64_t min_bytes, int64_t max_elements)
{
    kc_cel_type *type = kc_arena_alloc(t->arena, sizeof(*type));
    *type = *like;
    type->declared = true;
    type->nullable = kc_schema_nullable(schema);
    type->max_elements = (uint64_t)KC_MAX(max_elements, 0);
    type->min_bytes = (uint64_t)min_bytes;
    t->n_types++;
    return (sized_type){type, min_bytes};
}

/* ---- strings ---- */

static int64_t longest_choice(const kc_value *choices)
{
    int64_t longest = 0;
    kc_value_each_item (choices, choice)
        longest = KC_MAX(longest, (int64_t)kc_value_as_str(choice).n);
    return longest;
}

static int64_t max_text(const kc_schema *schema)
{
    int64_t max = kc_schema_max_length(schema);
    if (max >= 0)
        return max * 4;
    const kc_value *choices = kc_schema_enum(schema);
    return kc_value_len(choices) ? longest_choice(choices) : REQUEST_BYTES - 2;
}

static sized_type declare_string(schema_typer *t, const kc_schema *schema)
{
    const char *format = kc_schema_format(schema);
    int64_t max = kc_schema_max_length(schema);
    if (strcmp(format, "byte") == 0)
        return new_declared(t, schema, &kc__cel_type_bytes, 2, max >= 0 ? max : REQUEST_BYTES - 2);
    if (strcmp(format, "duration") == 0)
        return new_declared(t, schema, &kc__cel_type_duration, 3, 32);
    if (strcmp(format, "date") == 0) {
        sized_type date = new_declared(t, schema, &kc__cel_type_timestamp, 12, 12);
        date.type->format = "date";
        return date;
    }
    if (strcmp(format, "date-time") == 0)
        return new_declared(t, schema, &kc__cel_type_timestamp, 21, 32);
    return new_declared(t, schema, &kc__cel_type_string, 2, max_text(schema));
}

/* ---- containers ---- */

static sized_type declare_list(schema_typer *t, const kc_schema *schema, const char *name,
                               unsigned depth)
{
    const kc_schema *items = kc_schema_items(schema);
    if (!items)
        return (sized_type){0};
    const char *item_name = kc_arena_printf(t->arena, "%s.@idx", name);
    sized_type item = declare(t, items, item_name, depth, kc_schema_embeds_resource(items));
    if (!item.type)
        return item;
    int64_t max = kc_schema_max_items(schema);
    if (max < 0)
        max = (REQUEST_BYTES - 2) / (item.min_bytes + 1);
    sized_type list = new_declared(t, schema, &kc__cel_type_list_dyn, 2, max);
    list.type->params[0] = item.type;
    list.type->list_type = kc_schema_list_type(schema);
    list.type->list_keys = kc_schema_list_map_keys(schema);
    return list;
}

static sized_type declare_map(schema_typer *t, const kc_schema *schema, const char *name,
                              unsigned depth)
{
    const kc_schema *values = kc_schema_additional(schema);
    const char *value_name = kc_arena_printf(t->arena, "%s.@elem", name);
    sized_type value = declare(t, values, value_name, depth, kc_schema_embeds_resource(values));
    if (!value.type)
        return value;
    int64_t max = kc_schema_max_properties(schema);
    if (max < 0)
        max = (REQUEST_BYTES - 2) / (value.min_bytes + 6);
    sized_type map = new_declared(t, schema, &kc__cel_type_map_dyn, 2, max);
    map.type->params[1] = value.type;
    return map;
}

/* ---- objects ---- */

typedef KC_VEC(kc__cel_field) field_vec;

static int compare_fields(const void *a, const void *b)
{
    const kc__cel_field *x = a, *y = b;
    return kc_str_cmp(x->name, y->name);
}

static void finish_object(schema_typer *t, kc_cel_type *object, field_vec *fields)
{
    kc_vec_sort(fields, compare_fields);
    kc__cel_field *kept = kc_arena_alloc(t->arena, (fields->n + 1) * sizeof(*kept));
    if (fields->n)
        memcpy(kept, fields->items, fields->n * sizeof(*kept));
    object->fields = kept;
    object->n_fields = fields->n;
    kc_vec_each (fields, field)
        object->has_escapes |= !kc_str_eq(field->name, field->json);
    kc_vec_done(fields);
}

static void add_string_field(schema_typer *t, field_vec *fields, const char *name)
{
    sized_type text = new_declared(t, NULL, &kc__cel_type_string, 2, REQUEST_BYTES - 2);
    kc_vec_push(fields, (kc__cel_field){kc_cstr(name), kc_cstr(name), text.type});
}

/* apiVersion, kind and metadata of a resource, which a schema need not declare. */
static void add_resource_fields(schema_typer *t, field_vec *fields, const char *name)
{
    sized_type metadata = new_declared(t, NULL, &kc__cel_type_map_dyn, 2, 0);
    *metadata.type = (kc_cel_type){.kind = KC_CEL_OBJECT, .declared = true};
    metadata.type->name = kc_arena_printf(t->arena, "%s.metadata", name);
    field_vec inner = {0};
    add_string_field(t, &inner, "name");
    add_string_field(t, &inner, "generateName");
    finish_object(t, metadata.type, &inner);
    add_string_field(t, fields, "apiVersion");
    add_string_field(t, fields, "kind");
    kc_vec_push(fields, (kc__cel_field){KC_STR("metadata"), KC_STR("metadata"), metadata.type});
}

static bool declares(const kc_schema *schema, const char *name, const char *type)
{
    return strcmp(kc_schema_type(kc_schema_property(schema, kc_cstr(name))), type) == 0;
}

/* Whether a resource declares its own fields completely; if not, none of its declarations count. */
static bool declares_resource_fields(const kc_schema *schema)
{
    const kc_schema *metadata = kc_schema_property(schema, KC_STR("metadata"));
    return declares(schema, "kind", "string") && declares(schema, "apiVersion", "string") &&
           declares(schema, "metadata", "object") && declares(metadata, "name", "string") &&
           declares(metadata, "generateName", "string");
}

static bool is_resource_field(kc_str name)
{
    return kc_str_is(name, "apiVersion") || kc_str_is(name, "kind") || kc_str_is(name, "metadata");
}

static sized_type declare_object(schema_typer *t, const kc_schema *schema, const char *name,
                                 unsigned depth, bool resource)
{
    sized_type object = new_declared(t, schema, &kc__cel_type_map_dyn, 2, 0);
    object.type->kind = KC_CEL_OBJECT;
    object.type->name = name;
    object.type->n_params = 0;
    object.type->params[0] = object.type->params[1] = NULL;
    field_vec fields = {0};
    size_t at = 0;
    kc_str json;
    const kc_schema *property;
    resource = resource && !declares_resource_fields(schema);
    while ((property = kc_schema_property_next(schema, &at, &json))) {
        if (resource && is_resource_field(json))
            continue;
        kc_str escaped = json;
        bool expressible = kc__cel_escape(t->arena, json, &escaped);
        const char *path = kc_arena_printf(t->arena, "%s.%.*s", name, KC_ARG(escaped));
        sized_type field = declare(t, property, path, depth, kc_schema_embeds_resource(property));
        if (!field.type)
            continue;
        if (expressible)
            kc_vec_push(&fields,
                        (kc__cel_field){escaped, kc_arena_str(t->arena, json), field.type});
        if (kc_schema_requires(schema, json) && !kc_schema_default_value(property))
            object.min_bytes += (int64_t)json.n + field.min_bytes + 4;
    }
    if (resource)
        add_resource_fields(t, &fields, name);
    finish_object(t, object.type, &fields);
    object.type->min_bytes = (uint64_t)object.min_bytes;
    return object;
}

static sized_type declare(schema_typer *t, const kc_schema *schema, const char *name,
                          unsigned depth, bool resource)
{
    sized_type none = {0};
    if (!schema || depth > MAX_SCHEMA_DEPTH || t->n_types > MAX_SCHEMA_TYPES)
        return none;
    if (kc_schema_int_or_string(schema)) {
        int64_t max = kc_schema_max_length(schema);
        return new_declared(t, schema, &kc__cel_type_dyn, 1,
                            max >= 0 ? max * 4 : REQUEST_BYTES - 2);
    }
    const char *type = kc_schema_type(schema);
    if (strcmp(type, "object") == 0)
        return kc_schema_additional(schema) && !resource
                   ? declare_map(t, schema, name, depth + 1)
                   : declare_object(t, schema, name, depth + 1, resource);
    if (strcmp(type, "array") == 0)
        return declare_list(t, schema, name, depth + 1);
    if (strcmp(type, "string") == 0)
        return declare_string(t, schema);
    if (strcmp(type, "boolean") == 0)
        return new_declared(t, schema, &kc__cel_type_bool, 4, 0);
    if (strcmp(type, "number") == 0)
        return new_declared(t, schema, &kc__cel_type_double, 1, 0);
    if (strcmp(type, "integer") == 0)
        return new_declared(t, schema, &kc__cel_type_int, 1, 0);
    return none;
}

const kc_cel_type *kc_cel_types_schema(kc_cel_types *types, const kc_schema *schema,
                                       const char *name, const kc_cel_schema_opts *opts)
{
    schema_typer t = {.arena = kc__cel_types_arena(types)};
    const char *copy = kc_arena_strndup(t.arena, name, strlen(name));
    return declare(&t, schema, copy, 0, opts && opts->resource_root).type;
}

const kc_cel_type *kc_cel_type_of_field(const kc_cel_type *object, kc_str json)
{
    const kc__cel_field *field =
        object && object->kind == KC_CEL_OBJECT ? kc__cel_type_field_of_json(object, json) : NULL;
    return field ? field->type : NULL;
}

const kc_cel_type *kc_cel_type_of_elements(const kc_cel_type *container)
{
    if (!container || (container->kind != KC_CEL_LIST && container->kind != KC_CEL_MAP))
        return NULL;
    return container->params[container->n_params - 1];
}

uint64_t kc_cel_type_max_count(const kc_cel_type *type)
{
    return (uint64_t)REQUEST_BYTES / (type->min_bytes + 1);
}
