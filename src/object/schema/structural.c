/* SPDX-License-Identifier: Apache-2.0 */
/*
 * structural.c: checks that a schema is structural. The structure of an object (types, properties,
 * items) must be outside of allOf, anyOf, oneOf and not, so that every field has one known type;
 * inside of these only values may be restricted, and only of fields in the structure.
 *
 * Three traversals: of the structure (check_node), of restrictions inside it (check_nested), and of
 * both in parallel (check_complete). Errors are sorted, as in Kubernetes.
 */
#include "object/schema/schema_check_internal.h"

typedef enum schema_structural_place { ROOT, ITEM, FIELD } schema_structural_place;

/* ---- schemas without a structural form ---- */

static const char *unsupported_keyword(const kc_value *schema)
{
    static const struct {
        const char *keyword, *message;
    } keywords[] = {
        {"id", "OpenAPIV3Schema 'id' is not supported"},
        {"$schema", "OpenAPIV3Schema 'schema' is not supported"},
        {"$ref", "OpenAPIV3Schema '$ref' is not supported"},
        {"patternProperties", "OpenAPIV3Schema 'patternProperties' is not supported"},
        {"dependencies", "OpenAPIV3Schema 'dependencies' is not supported"},
        {"additionalItems", "OpenAPIV3Schema 'additionalItems' is not supported"},
        {"definitions", "OpenAPIV3Schema 'definitions' is not supported"},
    };
    for (size_t i = 0; i < KC_COUNT(keywords); i++) {
        const kc_value *value = kc__schema_keyword_value(schema, keywords[i].keyword);
        kc_json_type type = kc_value_type(value);
        bool empty = (type == KC_JSON_STRING && !kc_value_as_str(value).n) ||
                     (type == KC_JSON_OBJECT && !kc_value_len(value) && i != 5);
        if (value && !empty)
            return keywords[i].message;
    }
    if (kc_value_len(kc_value_get(schema, "items")) &&
        kc_value_type(kc_value_get(schema, "items")) == KC_JSON_ARRAY)
        return "OpenAPIV3Schema 'items' must be a schema, but is an array";
    const kc_value *preserve =
        kc__schema_keyword_value(schema, "x-kubernetes-preserve-unknown-fields");
    if (preserve && !kc_value_as_bool(preserve, true))
        return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
    return NULL;
}

const char *kc__schema_structural_obstacle(const kc_value *schema)
{
    static const char *const children[] = {"items", "additionalProperties", "not"};
    static const char *const lists[] = {"allOf", "anyOf", "oneOf"};
    const char *why = unsupported_keyword(schema);
    for (size_t i = 0; !why && i < KC_COUNT(children); i++)
        if (kc__schema_subschema(schema, children[i]))
            why = kc__schema_structural_obstacle(kc_value_get(schema, children[i]));
    for (size_t i = 0; i < KC_COUNT(lists); i++)
        kc_value_each_item (kc_value_get(schema, lists[i]), branch)
            if (!why)
                why = kc__schema_structural_obstacle(branch);
    kc_value_each_member (kc_value_get(schema, "properties"), name, property) {
        (void)name;
        if (!why)
            why = kc__schema_structural_obstacle(property);
    }
    return why;
}

/* ---- value restrictions ---- */

static void check_nested(kc__schema_checker *c, const kc_value *schema, bool skip_any,
                         schema_structural_place level);

static void check_branches(kc__schema_checker *c, const kc_value *schema, const char *keyword,
                           bool skip_any_of_first, schema_structural_place level)
{
    size_t i = 0;
    kc_value_each_item (kc_value_get(schema, keyword), branch) {
        size_t before = kc__schema_check_enter(c, "%s[%zu]", keyword, i);
        check_nested(c, branch, skip_any_of_first && i == 0, level);
        kc__schema_check_leave(c, before);
        i++;
    }
}

static void schema_structural_check_values(kc__schema_checker *c, const kc_value *schema,
                                           bool skip_any, bool skip_all_any,
                                           schema_structural_place level)
{
    const kc_value *none = kc__schema_subschema(schema, "not");
    kc_str pattern = kc__schema_keyword_text(schema, "pattern");
    kc_scoped(kc_buf) why = {0};
    if (!skip_any)
        check_branches(c, schema, "anyOf", false, level);
    check_branches(c, schema, "allOf", skip_all_any, level);
    check_branches(c, schema, "oneOf", false, level);
    if (none) {
        size_t before = kc__schema_check_enter(c, "not");
        check_nested(c, none, false, level);
        kc__schema_check_leave(c, before);
    }
    kc_buf_puts(&why, "must be a valid regular expression, but isn't: ");
    if (pattern.n && !kc__pattern_valid(pattern, &why))
        kc__schema_check_invalid(c, "pattern", kc_value_get(schema, "pattern"), kc_buf_cstr(&why));
}

/* Keywords that belong to the structure, and their required values here. */
static void check_no_structure(kc__schema_checker *c, const kc_value *schema)
{
    static const struct {
        const char *keyword, *how;
        kc_json_type type; /* Counts if it is not empty or false. */
    } keywords[] = {
        {"type", "must be empty to be structural", KC_JSON_STRING},
        {"title", "must be empty to be structural", KC_JSON_STRING},
        {"description", "must be empty to be structural", KC_JSON_STRING},
        {"nullable", "must be false to be structural", KC_JSON_BOOL},
        {"x-kubernetes-preserve-unknown-fields", "must be false to be structural", KC_JSON_BOOL},
        {"x-kubernetes-embedded-resource", "must be false to be structural", KC_JSON_BOOL},
        {"x-kubernetes-int-or-string", "must be false to be structural", KC_JSON_BOOL},
        {"x-kubernetes-list-map-keys", "must be empty to be structural", KC_JSON_ARRAY},
        {"x-kubernetes-list-type", "must be undefined to be structural", KC_JSON_ABSENT},
        {"x-kubernetes-map-type", "must be undefined to be structural", KC_JSON_ABSENT},
        {"x-kubernetes-validations", "must be empty to be structural", KC_JSON_ARRAY},
        {"default", "must be undefined to be structural", KC_JSON_ABSENT},
    };
    for (size_t i = 0; i < KC_COUNT(keywords); i++) {
        const kc_value *value = kc__schema_keyword_value(schema, keywords[i].keyword);
        kc_json_type type = keywords[i].type;
        bool counts = value && (type == KC_JSON_ABSENT ||
                                (type == KC_JSON_STRING && kc_value_as_str(value).n) ||
                                (type == KC_JSON_BOOL && kc_value_as_bool(value, false)) ||
                                (type == KC_JSON_ARRAY && kc_value_len(value)));
        if (counts)
            kc__schema_check_forbid(c, keywords[i].keyword, keywords[i].how);
    }
}

static void check_nested(kc__schema_checker *c, const kc_value *schema, bool skip_any,
                         schema_structural_place level)
{
    const kc_value *items = kc__schema_subschema(schema, "items");
    const kc_value *additional = kc__schema_keyword_value(schema, "additionalProperties");
    schema_structural_check_values(c, schema, skip_any, false, level);
    if (items) {
        size_t before = kc__schema_check_enter(c, "items");
        check_nested(c, items, false, level);
        kc__schema_check_leave(c, before);
    }
    kc_value_each_member (kc_value_get(schema, "properties"), name, property) {
        size_t before = kc__schema_check_enter(c, "properties[%.*s]", KC_ARG(name));
        check_nested(c, property, false, FIELD);
        if (kc_str_is(name, "metadata"))
            kc__schema_check_forbid(c, "", "must not be specified in a nested context");
        kc__schema_check_leave(c, before);
    }
    if (kc_value_type(additional) == KC_JSON_OBJECT || kc_value_as_bool(additional, false))
        kc__schema_check_forbid(c, "additionalProperties", "must be undefined to be structural");
    check_no_structure(c, schema);
}

/* ---- the structure ---- */

/* True if the value counts as absent. */
static bool schema_structural_is_empty(const kc_value *value)
{
    switch (kc_value_type(value)) {
    case KC_JSON_BOOL: return !kc_value_as_bool(value, true);
    case KC_JSON_STRING: return !kc_value_as_str(value).n;
    case KC_JSON_ARRAY:
    case KC_JSON_OBJECT: return !kc_value_len(value);
    case KC_JSON_INT:
    case KC_JSON_FLOAT: return false;
    default: return true;
    }
}

/* {"type": …} and nothing else. */
static bool is_only_type(const kc_value *schema, const char *type)
{
    bool only = kc_str_is(kc__schema_keyword_text(schema, "type"), type);
    kc_value_each_member (schema, name, value)
        only = only && (kc_str_is(name, "type") || schema_structural_is_empty(value));
    return only;
}

static bool is_int_or_string(const kc_value *any_of)
{
    return kc_value_len(any_of) == 2 && is_only_type(kc_value_at(any_of, 0), "integer") &&
           is_only_type(kc_value_at(any_of, 1), "string");
}

static void check_extensions(kc__schema_checker *c, const kc_value *schema)
{
    static const char *const others[] = {"x-kubernetes-preserve-unknown-fields",
                                         "x-kubernetes-embedded-resource"};
    for (size_t i = 0; i < KC_COUNT(others); i++)
        if (kc__schema_keyword_is_true(schema, "x-kubernetes-int-or-string") &&
            kc__schema_keyword_is_true(schema, others[i]))
            kc__schema_check_invalid(c, others[i], kc_value_get(schema, others[i]),
                                     "must be false if x-kubernetes-int-or-string is true");
}

static void schema_structural_check_type(kc__schema_checker *c, const kc_value *schema,
                                         schema_structural_place level)
{
    static const char *const missing[] = {
        [ROOT] = "must not be empty at the root",
        [ITEM] = "must not be empty for specified array items",
        [FIELD] = "must not be empty for specified object fields",
    };
    kc_str type = kc__schema_keyword_text(schema, "type");
    bool object = kc_str_is(type, "object");
    if (kc__schema_keyword_is_true(schema, "x-kubernetes-embedded-resource") && !object) {
        const char *how = "must be object if x-kubernetes-embedded-resource is true";
        if (type.n)
            kc__schema_check_invalid(c, "type", kc_value_get(schema, "type"), how);
        else
            kc__schema_check_required(c, "type", how);
    } else if (!type.n && !kc__schema_keyword_is_true(schema, "x-kubernetes-int-or-string") &&
               !kc__schema_keyword_is_true(schema, "x-kubernetes-preserve-unknown-fields")) {
        kc__schema_check_required(c, "type", missing[level]);
    }
    if (level == ROOT && type.n && !object)
        kc__schema_check_invalid(c, "type", kc_value_get(schema, "type"),
                                 "must be object at the root");
}

/* apiVersion and kind of a resource must be strings. */
static void check_type_meta(kc__schema_checker *c, const kc_value *properties)
{
    static const char *const names[] = {"kind", "apiVersion"};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        const kc_value *schema = kc__schema_subschema(properties, names[i]);
        if (!schema || kc_str_is(kc__schema_keyword_text(schema, "type"), "string"))
            continue;
        size_t before = kc__schema_check_enter(c, "properties[%s]", names[i]);
        kc__schema_check_invalid(c, "type", kc__schema_keyword_value(schema, "type"),
                                 "must be string");
        kc__schema_check_leave(c, before);
    }
}

/* The metadata of the root is known; a schema may only restrict names. */
static bool says_more(const kc_value *metadata)
{
    static const char *const silent[] = {"type", "default", "properties", "externalDocs",
                                         "example"};
    bool more = false;
    kc_value_each_member (metadata, name, value) {
        bool counts_empty = kc_str_is(name, "additionalProperties") || kc_str_is(name, "items") ||
                            kc_str_is(name, "not");
        bool empty =
            counts_empty ? kc_value_type(value) == KC_JSON_NULL : schema_structural_is_empty(value);
        for (size_t i = 0; i < KC_COUNT(silent); i++)
            empty = empty || kc_str_is(name, silent[i]);
        more = more || !empty;
    }
    kc_value_each_member (kc_value_get(metadata, "properties"), name, value) {
        (void)value;
        more = more || !(kc_str_is(name, "name") || kc_str_is(name, "generateName"));
    }
    return more;
}

static void schema_structural_check_metadata(kc__schema_checker *c, const kc_value *metadata,
                                             bool is_resource, schema_structural_place level)
{
    size_t before = kc__schema_check_enter(c, "properties[metadata]");
    if (is_resource && !kc_str_is(kc__schema_keyword_text(metadata, "type"), "object"))
        kc__schema_check_invalid(c, "type", kc__schema_keyword_value(metadata, "type"),
                                 "must be object");
    if (level == ROOT && says_more(metadata))
        kc__schema_check_forbid(
            c, "",
            "must not specify anything other than name and generateName, but metadata "
            "is implicitly specified");
    kc__schema_check_leave(c, before);
}

static void schema_structural_check_node(kc__schema_checker *c, const kc_value *schema,
                                         schema_structural_place level);

static void check_children(kc__schema_checker *c, const kc_value *schema,
                           schema_structural_place level)
{
    const kc_value *items = kc__schema_subschema(schema, "items");
    const kc_value *additional = kc__schema_keyword_value(schema, "additionalProperties");
    if (kc_str_is(kc__schema_keyword_text(schema, "type"), "array") && !items)
        kc__schema_check_required(c, "items", "must be specified");
    if (items) {
        size_t before = kc__schema_check_enter(c, "items");
        schema_structural_check_node(c, items, ITEM);
        kc__schema_check_leave(c, before);
    }
    kc_value_each_member (kc_value_get(schema, "properties"), name, property) {
        size_t before = kc__schema_check_enter(c, "properties[%.*s]", KC_ARG(name));
        schema_structural_check_node(c, property, FIELD);
        kc__schema_check_leave(c, before);
    }
    if (additional && level == ROOT)
        kc__schema_check_forbid(c, "additionalProperties", "must not be used at the root");
    if (kc_value_type(additional) == KC_JSON_OBJECT) {
        size_t before = kc__schema_check_enter(c, "additionalProperties");
        schema_structural_check_node(c, additional, FIELD);
        kc__schema_check_leave(c, before);
    }
}

static void schema_structural_check_node(kc__schema_checker *c, const kc_value *schema,
                                         schema_structural_place level)
{
    const kc_value *properties = kc__schema_subschema(schema, "properties");
    const kc_value *metadata = kc__schema_subschema(properties, "metadata");
    bool embedded = kc__schema_keyword_is_true(schema, "x-kubernetes-embedded-resource");
    check_children(c, schema, level);
    check_extensions(c, schema);
    schema_structural_check_values(
        c, schema, is_int_or_string(kc_value_get(schema, "anyOf")),
        is_int_or_string(kc_value_get(kc_value_at(kc_value_get(schema, "allOf"), 0), "anyOf")),
        level);
    schema_structural_check_type(c, schema, level);
    if (embedded && kc__schema_keyword_value(schema, "additionalProperties"))
        kc__schema_check_forbid(c, "additionalProperties",
                                "must not be used if x-kubernetes-embedded-resource is set");
    if (embedded || level == ROOT)
        check_type_meta(c, properties);
    if (metadata)
        schema_structural_check_metadata(c, metadata, embedded || level == ROOT, level);
    if (embedded && !kc__schema_keyword_is_true(schema, "x-kubernetes-preserve-unknown-fields") &&
        !kc_value_len(properties))
        kc__schema_check_required(
            c, "properties",
            "must not be empty if x-kubernetes-embedded-resource is true without "
            "x-kubernetes-preserve-unknown-fields");
}

/* ---- restrictions and structure in parallel ---- */

typedef struct paths {
    kc_buf structure, restriction;
} paths;

static void check_complete_nested(kc__schema_checker *c, const kc_value *nested,
                                  const kc_value *schema, paths *at);

static void require(kc__schema_checker *c, const paths *at)
{
    kc_field_errors_add(c->errors, KC_FIELD_REQUIRED, kc_buf_cstr((kc_buf *)&at->structure),
                        (kc_str){0}, "because it is defined in %s",
                        kc_buf_cstr((kc_buf *)&at->restriction));
}

/* Compares restrictions in the branches of `holder` with the structure `schema`. */
static void check_complete(kc__schema_checker *c, const kc_value *holder, const kc_value *schema,
                           paths *at)
{
    static const char *const lists[] = {"allOf", "anyOf", "oneOf"};
    size_t before = at->restriction.n;
    const kc_value *none = kc__schema_subschema(holder, "not");
    if (none) {
        kc_buf_puts(&at->restriction, ".not");
        check_complete_nested(c, none, schema, at);
        at->restriction.n = before;
    }
    for (size_t i = 0; i < KC_COUNT(lists); i++) {
        size_t n = 0;
        kc_value_each_item (kc_value_get(holder, lists[i]), branch) {
            kc_buf_printf(&at->restriction, ".%s[%zu]", lists[i], n++);
            check_complete_nested(c, branch, schema, at);
            at->restriction.n = before;
        }
    }
}

static void check_complete_child(kc__schema_checker *c, const kc_value *nested,
                                 const kc_value *schema, paths *at, const char *step)
{
    size_t structure = at->structure.n, restriction = at->restriction.n;
    kc_buf_puts(&at->structure, step);
    kc_buf_puts(&at->restriction, step);
    check_complete_nested(c, nested, schema, at);
    at->structure.n = structure;
    at->restriction.n = restriction;
}

static void check_complete_nested(kc__schema_checker *c, const kc_value *nested,
                                  const kc_value *schema, paths *at)
{
    const kc_value *items = kc__schema_subschema(nested, "items");
    if (!schema) {
        require(c, at);
        return;
    }
    check_complete(c, nested, schema, at);
    if (items)
        check_complete_child(c, items, kc__schema_subschema(schema, "items"), at, ".items");
    kc_value_each_member (kc_value_get(nested, "properties"), name, property) {
        kc_autofree char *step = kc_asprintf(".properties[%.*s]", KC_ARG(name));
        const kc_value *known =
            kc__schema_check_member(c, kc_value_get(schema, "properties"), name);
        check_complete_child(c, property, kc_value_type(known) == KC_JSON_OBJECT ? known : NULL, at,
                             step);
    }
}

/* ---- all rules ---- */

static int schema_structural_by_text(const void *a, const void *b)
{
    const kc_field_error *x = a, *y = b;
    kc_autofree char *one = kc_asprintf("%s: %s", x->field, x->body);
    kc_autofree char *two = kc_asprintf("%s: %s", y->field, y->body);
    return strcmp(one, two);
}

void kc__schema_check_structural(kc__schema_checker *c, const kc_value *schema)
{
    kc_scoped(kc_field_errors) found = {.limit = c->errors->limit};
    kc_field_errors *errors = c->errors;
    paths at = {0};
    c->errors = &found;
    schema_structural_check_node(c, schema, ROOT);
    kc_buf_append(&at.structure, kc_buf_str(&c->path));
    kc_buf_append(&at.restriction, kc_buf_str(&c->path));
    check_complete(c, schema, schema, &at);
    c->errors = errors;
    kc_buf_done(&at.structure);
    kc_buf_done(&at.restriction);
    kc_vec_sort(&found.list, schema_structural_by_text);
    kc_field_errors_merge(c->errors, &found);
}
