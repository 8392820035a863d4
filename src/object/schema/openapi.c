/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi.c: which OpenAPI keywords a CRD may use, where, and in which combinations. One traversal
 * of every subschema.
 *
 * Keywords with quadratic cost are rejected here (uniqueItems), and so are list types whose keys
 * could be absent.
 */
#include "object/schema/schema_check_internal.h"

#include "object/gofmt/go_json.h"
#include "object/gofmt/go_quote.h"
#include "object/schema/field_path.h"

/* Properties of a subtree. */
typedef struct subtree {
    bool is_root;
    bool inside_meta;
    const char *no_defaults; /* Why defaults are rejected; NULL when they are allowed. */
} subtree;

static void schema_openapi_check(kc__schema_checker *c, const kc_value *schema, subtree scope);

static void check_at(kc__schema_checker *c, const char *step, const kc_value *schema, subtree scope)
{
    if (kc_value_type(schema) != KC_JSON_OBJECT)
        return;
    size_t before = kc__schema_check_enter(c, "%s", step);
    schema_openapi_check(c, schema, scope);
    kc__schema_check_leave(c, before);
}

static void report_unsupported(kc__schema_checker *c, const char *keyword, const kc_value *value,
                               const char *detail)
{
    kc_scoped(kc_buf) text = {0};
    kc__go_value(&text, value);
    kc__schema_check_add(c, KC_FIELD_NOT_SUPPORTED, keyword, kc_buf_str(&text), detail);
}

/* ---- keywords ---- */

static void schema_openapi_check_type(kc__schema_checker *c, const kc_value *schema)
{
    static const char *const types[] = {"array",  "boolean", "integer",
                                        "number", "object",  "string"};
    kc_str type = kc__schema_keyword_text(schema, "type");
    bool known = !type.n;
    for (size_t i = 0; i < KC_COUNT(types); i++)
        known = known || kc_str_is(type, types[i]);
    if (!known)
        report_unsupported(c, "type", kc_value_get(schema, "type"),
                           "supported values: \"array\", \"boolean\", \"integer\", \"number\", "
                           "\"object\", \"string\"");
}

static void check_default(kc__schema_checker *c, const kc_value *schema, const subtree *scope)
{
    if (!kc__schema_keyword_value(schema, "default") || !scope->no_defaults)
        return;
    kc_scoped(kc_buf) detail = {0};
    kc_buf_printf(&detail, "must not be set %s", scope->no_defaults);
    kc__schema_check_forbid(c, "default", kc_buf_cstr(&detail));
}

static void check_refused(kc__schema_checker *c, const kc_value *schema)
{
    static const char *const refused[] = {"id",          "additionalItems", "patternProperties",
                                          "definitions", "dependencies",    "$ref"};
    for (size_t i = 0; i < KC_COUNT(refused); i++) {
        const kc_value *value = kc__schema_keyword_value(schema, refused[i]);
        kc_json_type type = kc_value_type(value);
        bool empty = (i == 0 && !kc_value_as_str(value).n) ||
                     ((i == 2 || i == 3) && type == KC_JSON_OBJECT && !kc_value_len(value));
        if (!value || empty)
            continue;
        kc_scoped(kc_buf) detail = {0};
        kc_buf_printf(&detail, "%s is not supported", refused[i]);
        kc__schema_check_forbid(c, refused[i], kc_buf_cstr(&detail));
    }
}

static void check_keywords(kc__schema_checker *c, const kc_value *schema, const subtree *scope)
{
    const kc_value *items = kc_value_get(schema, "items");
    schema_openapi_check_type(c, schema);
    check_default(c, schema, scope);
    check_refused(c, schema);
    if (kc_str_is(kc__schema_keyword_text(schema, "type"), "null"))
        kc__schema_check_forbid(c, "type",
                                "type cannot be set to null, use nullable as an alternative");
    if (kc_value_type(items) == KC_JSON_ARRAY && kc_value_len(items))
        kc__schema_check_forbid(c, "items", "items must be a schema object and not an array");
    if (scope->inside_meta && kc__schema_keyword_is_true(schema, "x-kubernetes-embedded-resource"))
        kc__schema_check_forbid(c, "x-kubernetes-embedded-resource",
                                "must not be used inside of resource meta");
    if (kc__schema_keyword_is_true(schema, "uniqueItems"))
        kc__schema_check_forbid(
            c, "uniqueItems",
            "uniqueItems cannot be set to true since the runtime complexity becomes "
            "quadratic");
}

/* ---- subschemas ---- */

static void check_additional(kc__schema_checker *c, const kc_value *schema, subtree scope)
{
    const kc_value *additional = kc__schema_keyword_value(schema, "additionalProperties");
    if (!additional)
        return;
    if (kc_value_len(kc_value_get(schema, "properties")) && !kc_value_as_bool(additional, false))
        kc__schema_check_forbid(c, "additionalProperties",
                                "additionalProperties and properties are mutual exclusive");
    if (scope.inside_meta)
        scope.no_defaults = "inside additionalProperties applying to object metadata";
    check_at(c, "additionalProperties", additional, scope);
}

static const char *no_defaults_in(kc_str name)
{
    if (kc_str_is(name, "metadata"))
        return "in top-level metadata";
    return kc_str_is(name, "kind") ? "in top-level kind" : "in top-level apiVersion";
}

static void check_properties(kc__schema_checker *c, const kc_value *schema, subtree scope,
                             bool is_root)
{
    bool resource = is_root || kc__schema_keyword_is_true(schema, "x-kubernetes-embedded-resource");
    kc_value_each_member (kc_value_get(schema, "properties"), name, property) {
        subtree inner = scope;
        kc_autofree char *step = kc_asprintf("properties[%.*s]", KC_ARG(name));
        if (resource && kc__schema_is_meta(name.p, name.n)) {
            inner.inside_meta = true;
            if (is_root)
                inner.no_defaults = no_defaults_in(name);
        }
        check_at(c, step, property, inner);
    }
}

static void schema_openapi_check_list(kc__schema_checker *c, const kc_value *list,
                                      const char *keyword, subtree scope)
{
    size_t i = 0;
    kc_value_each_item (list, schema) {
        kc_autofree char *step = kc_asprintf("%s[%zu]", keyword, i++);
        check_at(c, step, schema, scope);
    }
}

static void check_named(kc__schema_checker *c, const kc_value *schema, const char *keyword,
                        subtree scope)
{
    kc_value_each_member (kc_value_get(schema, keyword), name, value) {
        kc_autofree char *step = kc_asprintf("%s[%.*s]", keyword, KC_ARG(name));
        check_at(c, step, value, scope);
    }
}

static void check_subschemas(kc__schema_checker *c, const kc_value *schema, subtree scope)
{
    bool is_root = scope.is_root;
    scope.is_root = false;
    check_additional(c, schema, scope);
    check_properties(c, schema, scope, is_root);
    check_at(c, "not", kc_value_get(schema, "not"), scope);
    schema_openapi_check_list(c, kc_value_get(schema, "allOf"), "allOf", scope);
    schema_openapi_check_list(c, kc_value_get(schema, "oneOf"), "oneOf", scope);
    schema_openapi_check_list(c, kc_value_get(schema, "anyOf"), "anyOf", scope);
    check_named(c, schema, "definitions", scope);
    check_at(c, "items", kc_value_get(schema, "items"), scope);
    schema_openapi_check_list(c, kc_value_get(schema, "items"), "items", scope);
    check_named(c, schema, "dependencies", scope);
}

/* ---- lists and maps ---- */

static void check_type_is(kc__schema_checker *c, const kc_value *schema, const char *type,
                          const char *how)
{
    if (!kc__schema_keyword_text(schema, "type").n)
        kc__schema_check_required(c, "type", how);
    else if (!kc_str_is(kc__schema_keyword_text(schema, "type"), type))
        kc__schema_check_invalid(c, "type", kc_value_get(schema, "type"), how);
}

static void check_map_type(kc__schema_checker *c, const kc_value *schema)
{
    const kc_value *map_type = kc__schema_keyword_value(schema, "x-kubernetes-map-type");
    kc_str type = kc_value_as_str(map_type);
    if (!map_type)
        return;
    check_type_is(c, schema, "object", "must be object if x-kubernetes-map-type is specified");
    if (!kc_str_is(type, "atomic") && !kc_str_is(type, "granular"))
        report_unsupported(c, "x-kubernetes-map-type", map_type,
                           "supported values: \"atomic\", \"granular\"");
}

/* Elements of a set are compared as a whole, so their parts must not have owners. */
static void check_set_items(kc__schema_checker *c, const kc_value *items)
{
    const char *how = "must be atomic as item of a list with x-kubernetes-list-type=set";
    const kc_value *list_type = kc__schema_keyword_value(items, "x-kubernetes-list-type");
    kc_str type = kc__schema_keyword_text(items, "type");
    kc_scoped(kc_buf) shown = {0};
    kc__go_value(&shown, list_type);
    size_t before = kc__schema_check_enter(c, "items");
    if (kc_str_is(type, "array") && list_type && !kc_str_is(kc_value_as_str(list_type), "atomic"))
        kc__schema_check_add(c, KC_FIELD_INVALID, "x-kubernetes-list-type", kc_buf_str(&shown),
                             how);
    if (kc_str_is(type, "object") &&
        !kc_str_is(kc__schema_keyword_text(items, "x-kubernetes-map-type"), "atomic"))
        kc__schema_check_add(c, KC_FIELD_INVALID, "x-kubernetes-map-type", kc_buf_str(&shown), how);
    kc__schema_check_leave(c, before);
}

/* Keys of a map must name scalar properties of its elements. */
static void check_map_keys(kc__schema_checker *c, const kc_value *keys, const kc_value *items)
{
    kc_scoped(kc_map) seen = {0};
    kc_value_each_item (keys, key) {
        kc_str name = kc_value_as_str(key);
        const kc_value *property =
            kc__schema_check_member(c, kc_value_get(items, "properties"), name);
        kc_str type = kc__schema_keyword_text(property, "type");
        if (!property) {
            kc__schema_check_invalid(c, "x-kubernetes-list-map-keys", keys,
                                     "entries must all be names of item properties");
        } else if (kc_str_is(type, "array") || kc_str_is(type, "object")) {
            size_t before = kc__schema_check_enter(c, "items.properties[%.*s]", KC_ARG(name));
            kc__schema_check_invalid(
                c, "type", kc_value_get(items, "type"),
                "must be a scalar type if parent array's x-kubernetes-list-type is "
                "map");
            kc__schema_check_leave(c, before);
        }
        if (kc_map_put(&seen, name, (void *)key))
            kc__schema_check_invalid(c, "x-kubernetes-list-map-keys", keys,
                                     "must not contain duplicate entries");
    }
}

static void check_map(kc__schema_checker *c, const kc_value *schema)
{
    const kc_value *keys = kc_value_get(schema, "x-kubernetes-list-map-keys");
    const kc_value *given = kc__schema_keyword_value(schema, "items"),
                   *items = kc__schema_subschema(schema, "items");
    if (!kc_value_len(keys))
        kc__schema_check_required(c, "x-kubernetes-list-map-keys",
                                  "must not be empty if x-kubernetes-list-type is map");
    if (!given)
        kc__schema_check_required(c, "items",
                                  "must have a schema if x-kubernetes-list-type is map");
    else if (!items)
        kc__schema_check_invalid(c, "items", given,
                                 "must only have a single schema if x-kubernetes-list-type is map");
    else if (kc_str_is(kc__schema_keyword_text(items, "type"), "object"))
        check_map_keys(c, keys, items);
    else
        kc__schema_check_invalid(c, "items.type", kc__schema_keyword_value(items, "type"),
                                 "must be object if parent array's x-kubernetes-list-type is map");
}

static void check_list_type(kc__schema_checker *c, const kc_value *schema)
{
    const kc_value *given = kc__schema_keyword_value(schema, "x-kubernetes-list-type");
    const kc_value *items = kc__schema_subschema(schema, "items");
    kc_str type = kc_value_as_str(given);
    bool keys = kc_value_len(kc_value_get(schema, "x-kubernetes-list-map-keys"));
    if (given && !kc_str_is(kc__schema_keyword_text(schema, "type"), "array"))
        check_type_is(c, schema, "array", "must be array if x-kubernetes-list-type is specified");
    else if (given && kc_str_is(type, "set") && items)
        check_set_items(c, items);
    if (given && !kc_str_is(type, "atomic") && !kc_str_is(type, "set") && !kc_str_is(type, "map"))
        report_unsupported(c, "x-kubernetes-list-type", given,
                           "supported values: \"atomic\", \"set\", \"map\"");
    if (keys && !given)
        kc__schema_check_required(c, "x-kubernetes-list-type",
                                  "must be map if x-kubernetes-list-map-keys is non-empty");
    else if (keys && !kc_str_is(type, "map"))
        kc__schema_check_invalid(c, "x-kubernetes-list-type", given,
                                 "must be map if x-kubernetes-list-map-keys is non-empty");
    if (given && kc_str_is(type, "map"))
        check_map(c, schema);
}

static void check_key_is_there(kc__schema_checker *c, const kc_value *property, kc_str name,
                               bool is_required)
{
    size_t before = kc__schema_check_enter(c, "items.properties[%.*s]", KC_ARG(name));
    if (!is_required && !kc__schema_keyword_value(property, "default"))
        kc__schema_check_required(
            c, "default",
            "this property is in x-kubernetes-list-map-keys, so it must have a "
            "default or be a required property");
    if (kc__schema_keyword_is_true(property, "nullable"))
        kc__schema_check_forbid(c, "nullable",
                                "this property is in x-kubernetes-list-map-keys, so it cannot be "
                                "nullable");
    kc__schema_check_leave(c, before);
}

static void check_keys_are_there(kc__schema_checker *c, const kc_value *keys, const kc_value *items)
{
    kc_scoped(kc_map) required = {0};
    kc_value_each_item (kc_value_get(items, "required"), name)
        kc_map_put(&required, kc_value_as_str(name), (void *)name);
    kc_value_each_item (keys, key) {
        kc_str name = kc_value_as_str(key);
        const kc_value *property =
            kc__schema_check_member(c, kc_value_get(items, "properties"), name);
        if (property)
            check_key_is_there(c, property, name, kc_map_get(&required, name) != NULL);
    }
}

/* Elements of sets and maps, and keys of maps, must not be null. */
static void check_never_null(kc__schema_checker *c, const kc_value *schema)
{
    const kc_value *items = kc__schema_subschema(schema, "items");
    kc_str type = kc__schema_keyword_text(schema, "x-kubernetes-list-type");
    bool map = kc_str_is(type, "map");
    if (!items || (!map && !kc_str_is(type, "set")))
        return;
    if (kc__schema_keyword_is_true(items, "nullable"))
        kc__schema_check_forbid(c, "items.nullable",
                                map ? "cannot be nullable when x-kubernetes-list-type is map"
                                    : "cannot be nullable when x-kubernetes-list-type is set");
    if (map)
        check_keys_are_there(c, kc_value_get(schema, "x-kubernetes-list-map-keys"), items);
}

/* ---- CEL rules: their form ---- */

static bool has_line_break(kc_str text)
{
    return kc_str_find(text, '\n') >= 0 || kc_str_find(text, '\r') >= 0;
}

static void check_rule_message(kc__schema_checker *c, const kc_value *rule)
{
    kc_str text = kc_str_trim(kc__schema_keyword_text(rule, "rule"));
    kc_str given = kc__schema_keyword_text(rule, "message"), message = kc_str_trim(given);
    if (!text.n)
        kc__schema_check_required(c, "rule", "rule is not specified");
    else if (given.n && !message.n)
        kc__schema_check_invalid(c, "message", kc_value_get(rule, "message"),
                                 "must be non-empty if specified");
    else if (has_line_break(message))
        kc__schema_check_invalid(c, "message", kc_value_get(rule, "message"),
                                 "must not contain line breaks");
    else if (has_line_break(text) && !message.n)
        kc__schema_check_required(c, "message",
                                  "message must be specified if rule contains line breaks");
}

static void check_rule_path(kc__schema_checker *c, const kc_value *schema, const kc_value *rule)
{
    const kc_value *given = kc_value_get(rule, "fieldPath");
    kc_str path = kc_value_as_str(given);
    kc_scoped(kc_buf) why = {0};
    if (path.n && !kc_str_trim(path).n)
        kc__schema_check_invalid(c, "fieldPath", given, "must be non-empty if specified");
    if (has_line_break(path))
        kc__schema_check_invalid(c, "fieldPath", given, "must not contain line breaks");
    if (path.n && !kc__schema_field_path(schema, path, true, NULL, &why))
        kc__schema_check_invalid(c, "fieldPath", given, "must be a valid path");
}

static void check_rule(kc__schema_checker *c, const kc_value *schema, const kc_value *rule)
{
    static const char *const reasons[] = {"FieldValueDuplicate", "FieldValueForbidden",
                                          "FieldValueInvalid", "FieldValueRequired"};
    kc_str expression = kc__schema_keyword_text(rule, "messageExpression");
    const kc_value *reason = kc__schema_keyword_value(rule, "reason");
    bool known = !reason;
    check_rule_message(c, rule);
    if (expression.n && !kc_str_trim(expression).n)
        kc__schema_check_required(c, "messageExpression",
                                  "messageExpression must be non-empty if specified");
    for (size_t i = 0; i < KC_COUNT(reasons); i++)
        known = known || kc_str_is(kc_value_as_str(reason), reasons[i]);
    if (!known)
        report_unsupported(c, "reason", reason,
                           "supported values: \"FieldValueDuplicate\", \"FieldValueForbidden\", "
                           "\"FieldValueInvalid\", \"FieldValueRequired\"");
    check_rule_path(c, schema, rule);
}

static void schema_openapi_check_rules(kc__schema_checker *c, const kc_value *schema)
{
    size_t i = 0;
    kc_value_each_item (kc_value_get(schema, "x-kubernetes-validations"), rule) {
        size_t before = kc__schema_check_enter(c, "x-kubernetes-validations[%zu]", i++);
        check_rule(c, schema, rule);
        kc__schema_check_leave(c, before);
    }
}

static void schema_openapi_check(kc__schema_checker *c, const kc_value *schema, subtree scope)
{
    const kc_value *preserve =
        kc__schema_keyword_value(schema, "x-kubernetes-preserve-unknown-fields");
    check_keywords(c, schema, &scope);
    check_subschemas(c, schema, scope);
    if (preserve && !kc_value_as_bool(preserve, true))
        kc__schema_check_invalid(c, "x-kubernetes-preserve-unknown-fields", preserve,
                                 "must be true or undefined");
    check_map_type(c, schema);
    check_list_type(c, schema);
    check_never_null(c, schema);
    schema_openapi_check_rules(c, schema);
}

void kc__schema_check_openapi(kc__schema_checker *c, const kc_value *schema)
{
    schema_openapi_check(c, schema, (subtree){.is_root = true});
}
