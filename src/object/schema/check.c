/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c: the rules for a CRD's schema, in the order in which Kubernetes applies them: the root,
 * structural form (structural.c), valid defaults, allowed keywords (openapi.c), CEL rules. One rule
 * is added: defaults may not turn a small object into one that is too large to store
 * (schema_default.c).
 *
 * CEL is a layer above this one: the caller passes functions that check rules. Metadata inside
 * defaults of embedded resources is not checked.
 */
#include "object/schema/schema_check_internal.h"

#include "object/gofmt/go_json.h"
#include "object/gofmt/go_quote.h"

#include <stdarg.h>

enum { FEW_MEMBERS = 16 };

size_t kc__schema_check_enter(kc__schema_checker *c, const char *fmt, ...)
{
    size_t before = c->path.n;
    va_list args;
    va_start(args, fmt);
    kc_buf_putc(&c->path, '.');
    kc_buf_vprintf(&c->path, fmt, args);
    va_end(args);
    return before;
}

void kc__schema_check_leave(kc__schema_checker *c, size_t before)
{
    c->path.n = before;
}

void kc__schema_check_add(kc__schema_checker *c, kc_field_error_type type, const char *keyword,
                          kc_str value, const char *detail)
{
    size_t before = c->path.n;
    if (*keyword)
        kc__schema_check_enter(c, "%s", keyword);
    kc_field_errors_add(c->errors, type, kc_buf_cstr(&c->path), value, "%s", detail);
    kc__schema_check_leave(c, before);
}

void kc__schema_check_required(kc__schema_checker *c, const char *keyword, const char *detail)
{
    kc__schema_check_add(c, KC_FIELD_REQUIRED, keyword, (kc_str){0}, detail);
}

void kc__schema_check_forbid(kc__schema_checker *c, const char *keyword, const char *detail)
{
    kc__schema_check_add(c, KC_FIELD_FORBIDDEN, keyword, (kc_str){0}, detail);
}

void kc__schema_check_invalid(kc__schema_checker *c, const char *keyword, const kc_value *value,
                              const char *detail)
{
    kc_scoped(kc_buf) text = {0};
    if (value)
        kc__go_value(&text, value);
    else
        kc_buf_puts(&text, "\"\"");
    kc__schema_check_add(c, KC_FIELD_INVALID, keyword, kc_buf_str(&text), detail);
}

kc_str kc__schema_keyword_text(const kc_value *schema, const char *keyword)
{
    return kc_value_as_str(kc_value_get(schema, keyword));
}

bool kc__schema_keyword_is_true(const kc_value *schema, const char *keyword)
{
    return kc_value_as_bool(kc_value_get(schema, keyword), false);
}

const kc_value *kc__schema_keyword_value(const kc_value *schema, const char *keyword)
{
    const kc_value *value = kc_value_get(schema, keyword);
    return kc_value_type(value) == KC_JSON_NULL ? NULL : value;
}

const kc_value *kc__schema_subschema(const kc_value *schema, const char *keyword)
{
    const kc_value *value = kc_value_get(schema, keyword);
    return kc_value_type(value) == KC_JSON_OBJECT ? value : NULL;
}

typedef struct member_index {
    const kc_value *object;
    kc_map members;
} member_index;

const kc_value *kc__schema_check_member(kc__schema_checker *c, const kc_value *object, kc_str name)
{
    if (kc_value_len(object) <= FEW_MEMBERS)
        return kc_value_get_str(object, name);
    kc_str address = kc_str_of((const char *)&object, sizeof(object));
    member_index *index = kc_map_get(&c->indexes, address);
    if (!index) {
        index = kc_arena_new(&c->memory, member_index);
        index->object = object;
        kc_value_each_member (object, member, value)
            kc_map_put(&index->members, member, (void *)value);
        kc_map_put(&c->indexes, kc_str_of((const char *)&index->object, sizeof(object)), index);
    }
    return kc_map_get(&index->members, name);
}

static void check_done(kc__schema_checker *c)
{
    kc_map_each (&c->indexes, entry)
        kc_map_done(&((member_index *)entry->value)->members);
    kc_map_done(&c->indexes);
    kc_arena_done(&c->memory);
    kc_buf_done(&c->path);
}

/* ---- the root with a status subresource ---- */

/* True if a keyword is set: not null, false, or empty. */
static bool schema_check_is_set(const kc_value *schema, const char *keyword)
{
    const kc_value *value = kc_value_get(schema, keyword);
    switch (kc_value_type(value)) {
    case KC_JSON_ABSENT:
    case KC_JSON_NULL: return false;
    case KC_JSON_BOOL: return kc_value_as_bool(value, false);
    case KC_JSON_STRING: return kc_value_as_str(value).n > 0;
    default: return true;
    }
}

/* Only properties.status validates the status, so the root may not constrain it further. */
static void check_root_with_status(kc__schema_checker *c, const kc_value *schema)
{
    static const char *const refused[] = {"nullable",
                                          "default",
                                          "maxProperties",
                                          "minProperties",
                                          "enum",
                                          "allOf",
                                          "oneOf",
                                          "anyOf",
                                          "not",
                                          "additionalProperties",
                                          "x-kubernetes-embedded-resource",
                                          "x-kubernetes-int-or-string",
                                          "x-kubernetes-list-map-keys",
                                          "x-kubernetes-list-type",
                                          "x-kubernetes-map-type"};
    if (schema_check_is_set(schema, "type") &&
        !kc_str_is(kc__schema_keyword_text(schema, "type"), "object")) {
        kc__schema_check_invalid(
            c, "type", kc_value_get(schema, "type"),
            "only \"object\" is allowed as the type at the root of the schema if the "
            "status subresource is enabled");
        return;
    }
    for (size_t i = 0; i < KC_COUNT(refused); i++) {
        if (!schema_check_is_set(schema, refused[i]))
            continue;
        kc__schema_check_invalid(
            c, "", schema,
            "only [Description Type Format Title Maximum ExclusiveMaximum Minimum "
            "ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf "
            "Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] "
            "fields are allowed at the root of the schema if the status subresource is enabled");
        return;
    }
}

/* ---- defaults ---- */

typedef struct defaults_at {
    const kc_schema *schema;
    bool is_resource; /* The root, or an embedded one. */
    bool inside_meta;
} defaults_at;

/* `json` is the schema that has the default. */
static void check_default(kc__schema_checker *c, const kc_value *json, const kc_value *value,
                          const defaults_at *at)
{
    const kc_schema_rule_checks *rules = c->rules;
    if (!at->inside_meta &&
        kc__schema_count_unknown(at->schema, value, at->is_resource, true, NULL, 0))
        kc__schema_check_invalid(c, "default", value, "must not have unknown fields");
    size_t before = kc__schema_check_enter(c, "default");
    kc_autofree char *base = kc_strdup(kc_buf_cstr(&c->path));
    bool valid =
        kc_schema_validate(at->schema, value, &(kc_schema_validate_opts){.base = base}, c->errors);
    if (valid && rules)
        rules->check_default(json, at->schema, at->is_resource, base, c->errors, rules->user);
    kc__schema_check_leave(c, before);
}

/* Does not descend into additionalProperties, as in Kubernetes. */
static void check_defaults(kc__schema_checker *c, const kc_value *json, defaults_at at)
{
    const kc_value *value = kc__schema_keyword_value(json, "default"),
                   *items = kc__schema_subschema(json, "items");
    if (kc__schema_keyword_is_true(json, "x-kubernetes-embedded-resource")) {
        at.inside_meta = false;
        at.is_resource = true;
    }
    if (value)
        check_default(c, json, value, &at);
    if (items) {
        size_t before = kc__schema_check_enter(c, "items");
        check_defaults(
            c, items,
            (defaults_at){.schema = kc_schema_items(at.schema), .inside_meta = at.inside_meta});
        kc__schema_check_leave(c, before);
    }
    kc_value_each_member (kc_value_get(json, "properties"), name, property) {
        size_t before = kc__schema_check_enter(c, "properties[%.*s]", KC_ARG(name));
        bool meta = at.is_resource && kc__schema_is_meta(name.p, name.n);
        check_defaults(c, property,
                       (defaults_at){.schema = kc_schema_property(at.schema, name),
                                     .inside_meta = at.inside_meta || meta});
        kc__schema_check_leave(c, before);
    }
}

/* ---- effect of defaults on an empty object ---- */

static bool schema_check_is_too_much(const kc__schema_size *size)
{
    return size->bytes > KC_SCHEMA_DEFAULT_MAX_BYTES || size->values > KC_SCHEMA_DEFAULT_MAX_VALUES;
}

static void report_expansion(kc__schema_checker *c, const char *keyword,
                             const kc__schema_size *size)
{
    kc_scoped(kc_buf) detail = {0};
    kc_buf_printf(&detail,
                  "defaults would expand to %s%u bytes and %u values in every object: limits are "
                  "%zu bytes and %zu values",
                  size->bytes == UINT32_MAX ? "more than " : "", size->bytes, size->values,
                  KC_SCHEMA_DEFAULT_MAX_BYTES, KC_SCHEMA_DEFAULT_MAX_VALUES);
    kc__schema_check_add(c, KC_FIELD_TOO_LONG, keyword, (kc_str){0}, kc_buf_cstr(&detail));
}

static bool check_expansion(kc__schema_checker *c, const kc_value *json, const kc_schema *schema);

static bool check_expansion_at(kc__schema_checker *c, const char *step, const kc_value *json,
                               const kc_schema *schema)
{
    if (kc_value_type(json) != KC_JSON_OBJECT || !schema)
        return true;
    size_t before = kc__schema_check_enter(c, "%s", step);
    bool ok = check_expansion(c, json, schema);
    kc__schema_check_leave(c, before);
    return ok;
}

/* Checks one default alone, then all of an object together. Reports only the innermost path: what
 * is around it is too large because of it. */
static bool check_expansion(kc__schema_checker *c, const kc_value *json, const kc_schema *schema)
{
    bool ok = true;
    if (!(schema->flags & KC__SCHEMA_DEFAULTS_BELOW) && !kc__schema_default_node(schema))
        return true;
    kc_value_each_member (kc_value_get(json, "properties"), name, property) {
        kc_autofree char *step = kc_asprintf("properties[%.*s]", KC_ARG(name));
        ok &= check_expansion_at(c, step, property, kc_schema_property(schema, name));
    }
    ok &= check_expansion_at(c, "items", kc_value_get(json, "items"), schema->items);
    ok &= check_expansion_at(c, "additionalProperties", kc_value_get(json, "additionalProperties"),
                             schema->additional);
    kc__schema_size empty = kc__schema_default_of_empty(schema);
    if (ok && kc__schema_default_node(schema) &&
        schema_check_is_too_much(&schema->extras->filled_size)) {
        report_expansion(c, "default", &schema->extras->filled_size);
        ok = false;
    } else if (ok && schema_check_is_too_much(&empty)) {
        report_expansion(c, "properties", &empty);
        ok = false;
    }
    return ok;
}

/* ---- all rules ---- */

static size_t count_errors(const kc_field_errors *errors)
{
    return errors->list.n + errors->dropped;
}

/* Checks defaults only in a structural schema, since their types must be known. True when rules may
 * be checked. */
static bool check_structure(kc__schema_checker *c, const kc_value *openapi,
                            const kc_schema *compiled)
{
    size_t before = count_errors(c->errors);
    kc__schema_check_structural(c, openapi);
    if (count_errors(c->errors) == before)
        check_defaults(c, openapi, (defaults_at){.schema = compiled, .is_resource = true});
    bool valid = count_errors(c->errors) == before;
    if (compiled)
        check_expansion(c, openapi, compiled);
    return valid && compiled;
}

static void check_keywords_and_rules(kc__schema_checker *c, const kc_value *openapi,
                                     const kc_schema *compiled, bool may_have_rules)
{
    const kc_schema_rule_checks *rules = c->rules;
    size_t first = c->errors->list.n;
    kc__schema_check_openapi(c, openapi);
    if (may_have_rules && rules)
        rules->check_rules(openapi, compiled, kc_buf_cstr(&c->path), first, c->errors, rules->user);
}

bool kc_schema_check(const kc_value *openapi, const kc_schema_check_opts *opts,
                     kc_field_errors *errors)
{
    kc_scoped(kc_error) err = {0};
    kc__schema_checker c = {.errors = errors, .rules = opts ? opts->rules : NULL};
    size_t before = count_errors(errors);
    bool structural = false;
    kc_buf_puts(&c.path, opts && opts->base ? opts->base : "spec.validation.openAPIV3Schema");
    const char *unstructurable = kc__schema_structural_obstacle(openapi);
    kc_auto(kc_schema) *compiled = kc_schema_compile(openapi, NULL, &err);

    if (opts && opts->status_subresource)
        check_root_with_status(&c, openapi);
    if (kc__schema_keyword_is_true(openapi, "nullable"))
        kc__schema_check_forbid(&c, "nullable", "nullable cannot be true at the root");
    if (!unstructurable)
        structural = check_structure(&c, openapi, compiled);
    check_keywords_and_rules(&c, openapi, compiled, structural);
    bool ok = count_errors(errors) == before;
    if (ok && (unstructurable || !compiled)) {
        kc_scoped(kc_buf) why = {0};
        kc_buf_printf(&why, "%s%s", unstructurable ? "" : "error building validator: ",
                      unstructurable ? unstructurable : kc_error_text(&err));
        kc__schema_check_invalid(&c, "", NULL, kc_buf_cstr(&why));
        ok = false;
    }
    check_done(&c);
    return ok;
}

bool kc_schema_check_structural(const kc_value *openapi, const char *base, kc_field_errors *errors)
{
    kc__schema_checker c = {.errors = errors};
    size_t before = count_errors(errors);
    kc_buf_puts(&c.path, base);
    const char *unstructurable = kc__schema_structural_obstacle(openapi);
    if (unstructurable)
        kc__schema_check_invalid(&c, "", NULL, unstructurable);
    else
        kc__schema_check_structural(&c, openapi);
    check_done(&c);
    return count_errors(errors) == before;
}
