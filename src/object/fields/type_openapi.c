/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type_openapi.c: types from OpenAPI schemas, as kube-openapi's schemaconv converts them.
 *
 * The conversion reads the JSON of a schema, not a compiled kc_schema: the topology depends on
 * facts that validation does not need, such as formats without a check. It follows no references; a
 * reference is the address of the named type, which is filled when its own definition is converted.
 */
#include "object/fields/fields_internal.h"

#define QUANTITY      "io.k8s.apimachinery.pkg.api.resource.Quantity"
#define RAW_EXTENSION "io.k8s.apimachinery.pkg.runtime.RawExtension"

typedef struct converter {
    kc__fields_types *types;
    kc_str metadata;
    kc_str root;      /* Name of the definition … */
    unsigned nesting; /* … and how deep in it, for messages. */
    size_t schemas;
    kc_buf problems;
} converter;

static void report(converter *c, const char *fmt, kc_str detail)
{
    kc_buf_puts(&c->problems, c->problems.n ? "\n" : "");
    for (unsigned i = 0; i < c->nesting && c->problems.n < 4096; i++)
        kc_buf_puts(&c->problems, "inlined in ");
    kc_buf_printf(&c->problems, "%.*s: ", KC_ARG(c->root));
    kc_buf_puts(&c->problems, fmt);
    kc_buf_append(&c->problems, detail);
}

static kc_str extension(const kc_value *schema, const char *name)
{
    return kc_value_as_str(kc_value_get(schema, name));
}

static kc_str first_type(const kc_value *schema)
{
    const kc_value *type = kc_value_get(schema, "type");
    return kc_value_as_str(kc_value_type(type) == KC_JSON_ARRAY ? kc_value_at(type, 0) : type);
}

static const kc__fields_type *convert_inline(converter *c, const kc_value *schema, bool preserve);
static void convert_into(converter *c, kc__fields_type *type, const kc_value *schema,
                         bool preserve);

/* ---- relations ---- */

static bool map_relation(converter *c, const kc_value *schema, kc__fields_relation *ret)
{
    const kc_value *value = kc_value_get(schema, "x-kubernetes-map-type");
    kc_str type = kc_value_as_str(value);
    if (!value)
        return false;
    if (!kc_str_is(type, "atomic") && !kc_str_is(type, "granular")) {
        report(c, "unknown map type ", type);
        return false;
    }
    *ret = kc_str_is(type, "atomic") ? KC__FIELDS_ATOMIC : KC__FIELDS_GRANULAR;
    return true;
}

static void add_keys(converter *c, kc__fields_type *type, const kc_value *schema)
{
    const kc_value *keys = kc_value_get(schema, "x-kubernetes-list-map-keys");
    if (!keys)
        report(c, "missing map keys", (kc_str){0});
    if (kc_value_len(keys) > KC__FIELDS_MAX_KEYS) {
        report(c, "too many map keys", (kc_str){0});
        return;
    }
    kc_value_each_item (keys, key)
        if (kc_value_type(key) == KC_JSON_STRING)
            kc__fields_type_add_key(c->types, type, kc_value_as_str(key));
}

static kc__fields_relation patch_relation(converter *c, kc__fields_type *type,
                                          const kc_value *schema)
{
    kc_str strategy = extension(schema, "x-kubernetes-patch-strategy");
    const kc_value *key = kc_value_get(schema, "x-kubernetes-patch-merge-key");
    if (kc_str_is(strategy, "merge") || kc_str_is(strategy, "merge,retainKeys")) {
        if (key)
            kc__fields_type_add_key(c->types, type, kc_value_as_str(key));
        return KC__FIELDS_ASSOCIATIVE;
    }
    if (!kc_str_is(strategy, "retainKeys"))
        report(c, "unknown patch strategy ", strategy);
    return KC__FIELDS_ATOMIC;
}

/* Adds the keys of the list, too. */
static kc__fields_relation list_relation(converter *c, kc__fields_type *type,
                                         const kc_value *schema)
{
    const kc_value *value = kc_value_get(schema, "x-kubernetes-list-type");
    kc_str list = kc_value_as_str(value);
    if (!value && kc_value_get(schema, "x-kubernetes-patch-strategy"))
        return patch_relation(c, type, schema);
    if (kc_str_is(list, "map"))
        add_keys(c, type, schema);
    if (kc_str_is(list, "map") || kc_str_is(list, "set"))
        return KC__FIELDS_ASSOCIATIVE;
    if (value && !kc_str_is(list, "atomic"))
        report(c, "unknown list type ", list);
    return KC__FIELDS_ATOMIC;
}

/* ---- references ---- */

/* The last part of a "$ref", also that of an allOf of one. Empty for none. */
static kc_str referred_name(const kc_value *schema)
{
    kc_str ref = extension(schema, "$ref");
    const kc_value *all = kc_value_get(schema, "allOf");
    if (!ref.n && kc_value_len(all) == 1)
        ref = extension(kc_value_at(all, 0), "$ref");
    ptrdiff_t slash = kc_str_rfind(ref, '/');
    return kc_str_sub(ref, (size_t)(slash + 1), ref.n);
}

static const kc__fields_type *convert_ref(converter *c, const kc_value *schema, bool preserve)
{
    kc_str name = referred_name(schema);
    kc__fields_relation relation;
    if (!name.n)
        return convert_inline(c, schema, preserve);
    const kc__fields_type *target = kc__fields_type_new(c->types, name);
    return map_relation(c, schema, &relation)
               ? kc__fields_type_with_relation(c->types, target, relation)
               : target;
}

/* ---- shapes ---- */

static kc__fields_scalar scalar_of(kc_str type, kc_str format)
{
    if (kc_str_is(type, "integer") || kc_str_is(type, "number"))
        return KC__FIELDS_NUMERIC;
    if (kc_str_is(type, "boolean"))
        return KC__FIELDS_BOOLEAN;
    if (kc_str_is(type, "string") && (!format.n || kc_str_is(format, "byte")))
        return KC__FIELDS_STRING;
    return KC__FIELDS_UNTYPED;
}

static const kc__fields_type *rest_type(converter *c, const kc_value *schema, bool preserve)
{
    const kc_value *additional = kc_value_get(schema, "additionalProperties");
    const kc__fields_type *deduced = kc__fields_types_deduced(c->types);
    switch (kc_value_type(additional)) {
    case KC_JSON_OBJECT: return convert_ref(c, additional, preserve);
    case KC_JSON_BOOL: return kc_value_as_bool(additional, false) ? deduced : NULL;
    default: break;
    }
    bool free_form = !kc_value_len(kc_value_get(schema, "properties"));
    return preserve || free_form ? deduced : NULL;
}

/* apiVersion, kind and metadata of a resource. */
static void add_resource_fields(converter *c, kc__fields_type *type)
{
    const kc__fields_type *string = kc__fields_scalar_type(c->types, KC__FIELDS_STRING);
    kc__fields_type_add_field(c->types, type, KC_STR("apiVersion"), string, NULL);
    kc__fields_type_add_field(c->types, type, KC_STR("kind"), string, NULL);
    if (c->metadata.n)
        kc__fields_type_add_field(c->types, type, KC_STR("metadata"),
                                  kc__fields_type_new(c->types, c->metadata), NULL);
}

static void convert_object(converter *c, kc__fields_type *type, const kc_value *schema,
                           bool preserve)
{
    kc__fields_relation relation = KC__FIELDS_GRANULAR;
    kc_value_each_member (kc_value_get(schema, "properties"), name, property)
        kc__fields_type_add_field(c->types, type, name, convert_ref(c, property, preserve),
                                  kc_value_get(property, "default"));
    map_relation(c, schema, &relation);
    kc__fields_type_set_object(type, rest_type(c, schema, preserve), relation);
    if (c->metadata.n &&
        kc_value_as_bool(kc_value_get(schema, "x-kubernetes-embedded-resource"), false))
        add_resource_fields(c, type);
}

static const kc__fields_type *items_type(converter *c, const kc_value *schema, bool preserve)
{
    const kc_value *items = kc_value_get(schema, "items");
    if (kc_value_type(items) == KC_JSON_OBJECT)
        return convert_ref(c, items, preserve);
    if (kc_value_type(items) == KC_JSON_ARRAY) {
        report(c, "structural schema arrays must have exactly one member subtype", (kc_str){0});
        return kc__fields_types_deduced(c->types);
    }
    if (first_type(schema).n)
        report(c, "`items` must be specified on arrays", (kc_str){0});
    return kc__fields_types_atomic(c->types);
}

static void convert_list(converter *c, kc__fields_type *type, const kc_value *schema, bool preserve)
{
    kc__fields_relation relation = list_relation(c, type, schema);
    kc__fields_type_set_list(type, items_type(c, schema, preserve), relation);
}

/* ---- schemas ---- */

static bool preserves_unknown(const kc_value *schema)
{
    return kc_value_as_bool(kc_value_get(schema, "x-kubernetes-preserve-unknown-fields"), false);
}

static const kc__fields_type *convert_inline(converter *c, const kc_value *schema, bool preserve)
{
    kc_str type = first_type(schema);
    if (kc_str_is_any(type, (const char *const[]){"integer", "number", "boolean", "string", NULL}))
        return kc__fields_scalar_type(c->types, scalar_of(type, extension(schema, "format")));
    kc__fields_type *made = kc__fields_type_new(c->types, (kc_str){0});
    c->nesting++;
    convert_into(c, made, schema, preserve);
    c->nesting--;
    return made;
}

static void convert_into(converter *c, kc__fields_type *type, const kc_value *schema, bool preserve)
{
    kc_str name = first_type(schema);
    preserve |= preserves_unknown(schema);
    if (++c->schemas > KC__FIELDS_MAX_SCHEMAS) {
        if (c->schemas == KC__FIELDS_MAX_SCHEMAS + 1)
            report(c, "too many schemas", (kc_str){0});
        return;
    }
    if (kc_str_is(name, "object") || !name.n)
        convert_object(c, type, schema, preserve);
    if (kc_str_is(name, "array") || !name.n)
        convert_list(c, type, schema, preserve);
    if (name.n && (type->has_object || type->has_list))
        return;
    type->scalar = (uint8_t)scalar_of(name, extension(schema, "format"));
    if (name.n && !kc_str_is_any(name, (const char *const[]){"integer", "number", "boolean",
                                                             "string", NULL})) {
        report(c, "unrecognized type: '", name);
        kc_buf_putc(&c->problems, '\'');
    }
}

static void convert_definition(converter *c, kc_str name, const kc_value *schema, bool preserve)
{
    if (kc_value_get(schema, "$ref"))
        return;
    kc__fields_type *type = kc__fields_type_new(c->types, name);
    const kc__fields_type *atomic = kc__fields_types_atomic(c->types);
    c->root = name;
    if (kc_str_is(name, QUANTITY)) {
        type->scalar = KC__FIELDS_UNTYPED;
    } else if (kc_str_is(name, RAW_EXTENSION)) {
        type->scalar = KC__FIELDS_UNTYPED;
        kc__fields_type_set_list(type, atomic, KC__FIELDS_ATOMIC);
        kc__fields_type_set_object(type, atomic, KC__FIELDS_ATOMIC);
    } else {
        convert_into(c, type, schema, preserve);
    }
}

static int converter_result(converter *c, kc_error *err)
{
    int result = c->problems.n ? kc_error_set(err, KC_INVALID, "%s", kc_buf_cstr(&c->problems)) : 0;
    kc_buf_done(&c->problems);
    return result;
}

int kc__fields_types_add_openapi(kc__fields_types *types, const kc_value *definitions,
                                 const kc__fields_openapi_opts *opts, kc_error *err)
{
    converter c = {.types = types, .metadata = opts ? opts->metadata : (kc_str){0}};
    kc_value_each_member (definitions, name, schema)
        convert_definition(&c, name, schema, opts && opts->preserve_unknown);
    return converter_result(&c, err);
}

int kc__fields_types_add_custom(kc__fields_types *types, kc_str name, const kc_value *schema,
                                const kc__fields_openapi_opts *opts, kc_error *err)
{
    converter c = {.types = types, .metadata = opts ? opts->metadata : (kc_str){0}, .root = name};
    kc__fields_type *type = kc__fields_type_new(types, name);
    if (!schema) {
        kc__fields_type_set_object(type, kc__fields_types_deduced(types), KC__FIELDS_GRANULAR);
        return 0;
    }
    convert_into(&c, type, schema, opts && opts->preserve_unknown);
    add_resource_fields(&c, type);
    return converter_result(&c, err);
}
