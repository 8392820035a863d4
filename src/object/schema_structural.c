/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_structural.c: is a schema structural? The structure of an object (types, properties,
 * items) must stand outside of allOf, anyOf, oneOf and not, so that every field has one known type;
 * inside of these only values may be restricted, and only of fields the structure has.
 *
 * Three walks: over the structure (check_node), over restrictions inside of it (check_nested), and
 * over both side by side (check_complete). Kubernetes sorts what they find, and so does this.
 */
#include "object/schema_check_internal.h"

typedef enum place { ROOT, ITEM, FIELD } place;

/* ---- Things that have no structural form ---- */

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
        const kc_value *value = kc__given(schema, keywords[i].keyword);
        kc_type type = kc_type_of(value);
        bool empty = (type == KC_STRING && !kc_as_str(value).n) ||
                     (type == KC_OBJECT && !kc_len(value) && i != 5);
        if (value && !empty)
            return keywords[i].message;
    }
    if (kc_len(kc_get(schema, "items")) && kc_type_of(kc_get(schema, "items")) == KC_ARRAY)
        return "OpenAPIV3Schema 'items' must be a schema, but is an array";
    const kc_value *preserve = kc__given(schema, "x-kubernetes-preserve-unknown-fields");
    if (preserve && !kc_as_bool(preserve, true))
        return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
    return NULL;
}

const char *kc__unstructurable(const kc_value *schema)
{
    static const char *const children[] = {"items", "additionalProperties", "not"};
    static const char *const lists[] = {"allOf", "anyOf", "oneOf"};
    const char *why = unsupported_keyword(schema);
    for (size_t i = 0; !why && i < KC_COUNT(children); i++)
        if (kc__subschema(schema, children[i]))
            why = kc__unstructurable(kc_get(schema, children[i]));
    for (size_t i = 0; i < KC_COUNT(lists); i++)
        kc_items (kc_get(schema, lists[i]), branch)
            if (!why)
                why = kc__unstructurable(branch);
    kc_members (kc_get(schema, "properties"), name, property) {
        (void)name;
        if (!why)
            why = kc__unstructurable(property);
    }
    return why;
}

/* ---- Restrictions of values ---- */

static void check_nested(kc__check *c, const kc_value *schema, bool skip_any, place level);

static void check_branches(kc__check *c, const kc_value *schema, const char *keyword,
                           bool skip_any_of_first, place level)
{
    size_t i = 0;
    kc_items (kc_get(schema, keyword), branch) {
        size_t before = kc__check_enter(c, "%s[%zu]", keyword, i);
        check_nested(c, branch, skip_any_of_first && i == 0, level);
        kc__check_leave(c, before);
        i++;
    }
}

static void check_values(kc__check *c, const kc_value *schema, bool skip_any, bool skip_all_any,
                         place level)
{
    const kc_value *none = kc__subschema(schema, "not");
    kc_str pattern = kc__word_of(schema, "pattern");
    kc_scoped(kc_buf) why = {0};
    if (!skip_any)
        check_branches(c, schema, "anyOf", false, level);
    check_branches(c, schema, "allOf", skip_all_any, level);
    check_branches(c, schema, "oneOf", false, level);
    if (none) {
        size_t before = kc__check_enter(c, "not");
        check_nested(c, none, false, level);
        kc__check_leave(c, before);
    }
    kc_buf_puts(&why, "must be a valid regular expression, but isn't: ");
    if (pattern.n && !kc__pattern_valid(pattern, &why))
        kc__check_invalid(c, "pattern", kc_get(schema, "pattern"), kc_buf_cstr(&why));
}

/* Keywords that belong to the structure, and how they must be here. */
static void check_no_structure(kc__check *c, const kc_value *schema)
{
    static const struct {
        const char *keyword, *how;
        kc_type type; /* That counts, if it is not empty or false. */
    } keywords[] = {
        {"type", "must be empty to be structural", KC_STRING},
        {"title", "must be empty to be structural", KC_STRING},
        {"description", "must be empty to be structural", KC_STRING},
        {"nullable", "must be false to be structural", KC_BOOL},
        {"x-kubernetes-preserve-unknown-fields", "must be false to be structural", KC_BOOL},
        {"x-kubernetes-embedded-resource", "must be false to be structural", KC_BOOL},
        {"x-kubernetes-int-or-string", "must be false to be structural", KC_BOOL},
        {"x-kubernetes-list-map-keys", "must be empty to be structural", KC_ARRAY},
        {"x-kubernetes-list-type", "must be undefined to be structural", KC_ABSENT},
        {"x-kubernetes-map-type", "must be undefined to be structural", KC_ABSENT},
        {"x-kubernetes-validations", "must be empty to be structural", KC_ARRAY},
        {"default", "must be undefined to be structural", KC_ABSENT},
    };
    for (size_t i = 0; i < KC_COUNT(keywords); i++) {
        const kc_value *value = kc__given(schema, keywords[i].keyword);
        kc_type type = keywords[i].type;
        bool counts = value && (type == KC_ABSENT || (type == KC_STRING && kc_as_str(value).n) ||
                                (type == KC_BOOL && kc_as_bool(value, false)) ||
                                (type == KC_ARRAY && kc_len(value)));
        if (counts)
            kc__check_forbid(c, keywords[i].keyword, keywords[i].how);
    }
}

static void check_nested(kc__check *c, const kc_value *schema, bool skip_any, place level)
{
    const kc_value *items = kc__subschema(schema, "items");
    const kc_value *additional = kc__given(schema, "additionalProperties");
    check_values(c, schema, skip_any, false, level);
    if (items) {
        size_t before = kc__check_enter(c, "items");
        check_nested(c, items, false, level);
        kc__check_leave(c, before);
    }
    kc_members (kc_get(schema, "properties"), name, property) {
        size_t before = kc__check_enter(c, "properties[%.*s]", KC_ARG(name));
        check_nested(c, property, false, FIELD);
        if (kc_str_is(name, "metadata"))
            kc__check_forbid(c, "", "must not be specified in a nested context");
        kc__check_leave(c, before);
    }
    if (kc_type_of(additional) == KC_OBJECT || kc_as_bool(additional, false))
        kc__check_forbid(c, "additionalProperties", "must be undefined to be structural");
    check_no_structure(c, schema);
}

/* ---- The structure ---- */

/* As if it were not there. */
static bool is_empty(const kc_value *value)
{
    switch (kc_type_of(value)) {
    case KC_BOOL: return !kc_as_bool(value, true);
    case KC_STRING: return !kc_as_str(value).n;
    case KC_ARRAY:
    case KC_OBJECT: return !kc_len(value);
    case KC_INT:
    case KC_FLOAT: return false;
    default: return true;
    }
}

/* {"type": …} and nothing else. */
static bool is_only_type(const kc_value *schema, const char *type)
{
    bool only = kc_str_is(kc__word_of(schema, "type"), type);
    kc_members (schema, name, value)
        only = only && (kc_str_is(name, "type") || is_empty(value));
    return only;
}

static bool is_int_or_string(const kc_value *any_of)
{
    return kc_len(any_of) == 2 && is_only_type(kc_at(any_of, 0), "integer") &&
           is_only_type(kc_at(any_of, 1), "string");
}

static void check_extensions(kc__check *c, const kc_value *schema)
{
    static const char *const others[] = {"x-kubernetes-preserve-unknown-fields",
                                         "x-kubernetes-embedded-resource"};
    for (size_t i = 0; i < KC_COUNT(others); i++)
        if (kc__is_true(schema, "x-kubernetes-int-or-string") && kc__is_true(schema, others[i]))
            kc__check_invalid(c, others[i], kc_get(schema, others[i]),
                              "must be false if x-kubernetes-int-or-string is true");
}

static void check_type(kc__check *c, const kc_value *schema, place level)
{
    static const char *const missing[] = {
        [ROOT] = "must not be empty at the root",
        [ITEM] = "must not be empty for specified array items",
        [FIELD] = "must not be empty for specified object fields",
    };
    kc_str type = kc__word_of(schema, "type");
    bool object = kc_str_is(type, "object");
    if (kc__is_true(schema, "x-kubernetes-embedded-resource") && !object) {
        const char *how = "must be object if x-kubernetes-embedded-resource is true";
        if (type.n)
            kc__check_invalid(c, "type", kc_get(schema, "type"), how);
        else
            kc__check_required(c, "type", how);
    } else if (!type.n && !kc__is_true(schema, "x-kubernetes-int-or-string") &&
               !kc__is_true(schema, "x-kubernetes-preserve-unknown-fields")) {
        kc__check_required(c, "type", missing[level]);
    }
    if (level == ROOT && type.n && !object)
        kc__check_invalid(c, "type", kc_get(schema, "type"), "must be object at the root");
}

/* apiVersion and kind of a resource are strings. */
static void check_type_meta(kc__check *c, const kc_value *properties)
{
    static const char *const names[] = {"kind", "apiVersion"};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        const kc_value *schema = kc__subschema(properties, names[i]);
        if (!schema || kc_str_is(kc__word_of(schema, "type"), "string"))
            continue;
        size_t before = kc__check_enter(c, "properties[%s]", names[i]);
        kc__check_invalid(c, "type", kc__given(schema, "type"), "must be string");
        kc__check_leave(c, before);
    }
}

/* Metadata of the root is known; a schema may only restrict names. */
static bool says_more(const kc_value *metadata)
{
    static const char *const silent[] = {"type", "default", "properties", "externalDocs",
                                         "example"};
    bool more = false;
    kc_members (metadata, name, value) {
        bool counts_empty = kc_str_is(name, "additionalProperties") || kc_str_is(name, "items") ||
                            kc_str_is(name, "not");
        bool empty = counts_empty ? kc_type_of(value) == KC_NULL : is_empty(value);
        for (size_t i = 0; i < KC_COUNT(silent); i++)
            empty = empty || kc_str_is(name, silent[i]);
        more = more || !empty;
    }
    kc_members (kc_get(metadata, "properties"), name, value) {
        (void)value;
        more = more || !(kc_str_is(name, "name") || kc_str_is(name, "generateName"));
    }
    return more;
}

static void check_metadata(kc__check *c, const kc_value *metadata, bool is_resource, place level)
{
    size_t before = kc__check_enter(c, "properties[metadata]");
    if (is_resource && !kc_str_is(kc__word_of(metadata, "type"), "object"))
        kc__check_invalid(c, "type", kc__given(metadata, "type"), "must be object");
    if (level == ROOT && says_more(metadata))
        kc__check_forbid(c, "",
                         "must not specify anything other than name and generateName, but metadata "
                         "is implicitly specified");
    kc__check_leave(c, before);
}

static void check_node(kc__check *c, const kc_value *schema, place level);

static void check_children(kc__check *c, const kc_value *schema, place level)
{
    const kc_value *items = kc__subschema(schema, "items");
    const kc_value *additional = kc__given(schema, "additionalProperties");
    if (kc_str_is(kc__word_of(schema, "type"), "array") && !items)
        kc__check_required(c, "items", "must be specified");
    if (items) {
        size_t before = kc__check_enter(c, "items");
        check_node(c, items, ITEM);
        kc__check_leave(c, before);
    }
    kc_members (kc_get(schema, "properties"), name, property) {
        size_t before = kc__check_enter(c, "properties[%.*s]", KC_ARG(name));
        check_node(c, property, FIELD);
        kc__check_leave(c, before);
    }
    if (additional && level == ROOT)
        kc__check_forbid(c, "additionalProperties", "must not be used at the root");
    if (kc_type_of(additional) == KC_OBJECT) {
        size_t before = kc__check_enter(c, "additionalProperties");
        check_node(c, additional, FIELD);
        kc__check_leave(c, before);
    }
}

static void check_node(kc__check *c, const kc_value *schema, place level)
{
    const kc_value *properties = kc__subschema(schema, "properties");
    const kc_value *metadata = kc__subschema(properties, "metadata");
    bool embedded = kc__is_true(schema, "x-kubernetes-embedded-resource");
    check_children(c, schema, level);
    check_extensions(c, schema);
    check_values(c, schema, is_int_or_string(kc_get(schema, "anyOf")),
                 is_int_or_string(kc_get(kc_at(kc_get(schema, "allOf"), 0), "anyOf")), level);
    check_type(c, schema, level);
    if (embedded && kc__given(schema, "additionalProperties"))
        kc__check_forbid(c, "additionalProperties",
                         "must not be used if x-kubernetes-embedded-resource is set");
    if (embedded || level == ROOT)
        check_type_meta(c, properties);
    if (metadata)
        check_metadata(c, metadata, embedded || level == ROOT, level);
    if (embedded && !kc__is_true(schema, "x-kubernetes-preserve-unknown-fields") &&
        !kc_len(properties))
        kc__check_required(c, "properties",
                           "must not be empty if x-kubernetes-embedded-resource is true without "
                           "x-kubernetes-preserve-unknown-fields");
}

/* ---- Restrictions and structure side by side ---- */

typedef struct paths {
    kc_buf structure, restriction;
} paths;

static void check_complete_nested(kc__check *c, const kc_value *nested, const kc_value *schema,
                                  paths *at);

static void require(kc__check *c, const paths *at)
{
    kc_field_errors_add(c->errors, KC_FIELD_REQUIRED, kc_buf_cstr((kc_buf *)&at->structure),
                        (kc_str){0}, "because it is defined in %s",
                        kc_buf_cstr((kc_buf *)&at->restriction));
}

/* Restrictions in the branches of `holder`, against the structure `schema`. */
static void check_complete(kc__check *c, const kc_value *holder, const kc_value *schema, paths *at)
{
    static const char *const lists[] = {"allOf", "anyOf", "oneOf"};
    size_t before = at->restriction.n;
    const kc_value *none = kc__subschema(holder, "not");
    if (none) {
        kc_buf_puts(&at->restriction, ".not");
        check_complete_nested(c, none, schema, at);
        at->restriction.n = before;
    }
    for (size_t i = 0; i < KC_COUNT(lists); i++) {
        size_t n = 0;
        kc_items (kc_get(holder, lists[i]), branch) {
            kc_buf_printf(&at->restriction, ".%s[%zu]", lists[i], n++);
            check_complete_nested(c, branch, schema, at);
            at->restriction.n = before;
        }
    }
}

static void check_complete_child(kc__check *c, const kc_value *nested, const kc_value *schema,
                                 paths *at, const char *step)
{
    size_t structure = at->structure.n, restriction = at->restriction.n;
    kc_buf_puts(&at->structure, step);
    kc_buf_puts(&at->restriction, step);
    check_complete_nested(c, nested, schema, at);
    at->structure.n = structure;
    at->restriction.n = restriction;
}

static void check_complete_nested(kc__check *c, const kc_value *nested, const kc_value *schema,
                                  paths *at)
{
    const kc_value *items = kc__subschema(nested, "items");
    if (!schema) {
        require(c, at);
        return;
    }
    check_complete(c, nested, schema, at);
    if (items)
        check_complete_child(c, items, kc__subschema(schema, "items"), at, ".items");
    kc_members (kc_get(nested, "properties"), name, property) {
        kc_autofree char *step = kc_asprintf(".properties[%.*s]", KC_ARG(name));
        const kc_value *known = kc__check_member(c, kc_get(schema, "properties"), name);
        check_complete_child(c, property, kc_type_of(known) == KC_OBJECT ? known : NULL, at, step);
    }
}

/* ---- All ---- */

static int by_text(const void *a, const void *b)
{
    const kc_field_error *x = a, *y = b;
    kc_autofree char *one = kc_asprintf("%s: %s", x->field, x->body);
    kc_autofree char *two = kc_asprintf("%s: %s", y->field, y->body);
    return strcmp(one, two);
}

void kc__check_structural(kc__check *c, const kc_value *schema)
{
    kc_scoped(kc_field_errors) found = {.limit = c->errors->limit};
    kc_field_errors *errors = c->errors;
    paths at = {0};
    c->errors = &found;
    check_node(c, schema, ROOT);
    kc_buf_append(&at.structure, kc_buf_str(&c->path));
    kc_buf_append(&at.restriction, kc_buf_str(&c->path));
    check_complete(c, schema, schema, &at);
    c->errors = errors;
    kc_buf_done(&at.structure);
    kc_buf_done(&at.restriction);
    kc_vec_sort(&found.list, by_text);
    kc_field_errors_merge(c->errors, &found);
}
