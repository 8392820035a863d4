/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_check.c: the rules a CRD's schema must obey, in the order in which Kubernetes applies
 * them: what the root may have, whether it is structural (schema_structural.c), whether its
 * defaults are valid, which keywords it uses (schema_openapi.c).
 *
 * Not here: metadata inside defaults of embedded resources, and the meaning of CEL rules.
 */
#include "object/schema_check_internal.h"

#include "object/go_json.h"
#include "object/go_quote.h"

#include <stdarg.h>

enum { FEW_MEMBERS = 16 };

size_t kc__check_enter(kc__check *c, const char *fmt, ...)
{
    size_t before = c->path.n;
    va_list args;
    va_start(args, fmt);
    kc_buf_putc(&c->path, '.');
    kc_buf_vprintf(&c->path, fmt, args);
    va_end(args);
    return before;
}

void kc__check_leave(kc__check *c, size_t before)
{
    c->path.n = before;
}

void kc__check_add(kc__check *c, kc_field_error_type type, const char *keyword, kc_str value,
                   const char *detail)
{
    size_t before = c->path.n;
    if (*keyword)
        kc__check_enter(c, "%s", keyword);
    kc_field_errors_add(c->errors, type, kc_buf_cstr(&c->path), value, "%s", detail);
    kc__check_leave(c, before);
}

void kc__check_required(kc__check *c, const char *keyword, const char *detail)
{
    kc__check_add(c, KC_FIELD_REQUIRED, keyword, (kc_str){0}, detail);
}

void kc__check_forbid(kc__check *c, const char *keyword, const char *detail)
{
    kc__check_add(c, KC_FIELD_FORBIDDEN, keyword, (kc_str){0}, detail);
}

void kc__check_invalid(kc__check *c, const char *keyword, const kc_value *value, const char *detail)
{
    kc_scoped(kc_buf) text = {0};
    if (value)
        kc__go_value(&text, value);
    else
        kc_buf_puts(&text, "\"\"");
    kc__check_add(c, KC_FIELD_INVALID, keyword, kc_buf_str(&text), detail);
}

kc_str kc__word_of(const kc_value *schema, const char *keyword)
{
    return kc_as_str(kc_get(schema, keyword));
}

bool kc__is_true(const kc_value *schema, const char *keyword)
{
    return kc_as_bool(kc_get(schema, keyword), false);
}

const kc_value *kc__given(const kc_value *schema, const char *keyword)
{
    const kc_value *value = kc_get(schema, keyword);
    return kc_type_of(value) == KC_NULL ? NULL : value;
}

const kc_value *kc__subschema(const kc_value *schema, const char *keyword)
{
    const kc_value *value = kc_get(schema, keyword);
    return kc_type_of(value) == KC_OBJECT ? value : NULL;
}

typedef struct member_index {
    const kc_value *object;
    kc_map members;
} member_index;

const kc_value *kc__check_member(kc__check *c, const kc_value *object, kc_str name)
{
    if (kc_len(object) <= FEW_MEMBERS)
        return kc_get_str(object, name);
    kc_str address = kc_str_of((const char *)&object, sizeof(object));
    member_index *index = kc_map_get(&c->indexes, address);
    if (!index) {
        index = kc_arena_new(&c->memory, member_index);
        index->object = object;
        kc_members (object, member, value)
            kc_map_put(&index->members, member, (void *)value);
        kc_map_put(&c->indexes, kc_str_of((const char *)&index->object, sizeof(object)), index);
    }
    return kc_map_get(&index->members, name);
}

static void check_done(kc__check *c)
{
    kc_map_each (&c->indexes, entry)
        kc_map_done(&((member_index *)entry->value)->members);
    kc_map_done(&c->indexes);
    kc_arena_done(&c->memory);
    kc_buf_done(&c->path);
}

/* ---- The root under a status subresource ---- */

/* What a schema has beyond nothing: not null, false, or empty. */
static bool is_set(const kc_value *schema, const char *keyword)
{
    const kc_value *value = kc_get(schema, keyword);
    switch (kc_type_of(value)) {
    case KC_ABSENT:
    case KC_NULL: return false;
    case KC_BOOL: return kc_as_bool(value, false);
    case KC_STRING: return kc_as_str(value).n > 0;
    default: return true;
    }
}

/* The status is validated by properties.status alone, so the root may not say more about it. */
static void check_root_with_status(kc__check *c, const kc_value *schema)
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
    if (is_set(schema, "type") && !kc_str_is(kc__word_of(schema, "type"), "object")) {
        kc__check_invalid(c, "type", kc_get(schema, "type"),
                          "only \"object\" is allowed as the type at the root of the schema if the "
                          "status subresource is enabled");
        return;
    }
    for (size_t i = 0; i < KC_COUNT(refused); i++) {
        if (!is_set(schema, refused[i]))
            continue;
        kc__check_invalid(
            c, "", schema,
            "only [Description Type Format Title Maximum ExclusiveMaximum Minimum "
            "ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf "
            "Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] "
            "fields are allowed at the root of the schema if the status subresource is enabled");
        return;
    }
}

/* ---- Defaults ---- */

typedef struct defaults_at {
    const kc_schema *schema;
    bool is_resource; /* The root, or an embedded one. */
    bool inside_meta;
} defaults_at;

static void check_default(kc__check *c, const kc_value *value, const defaults_at *at)
{
    if (!at->inside_meta && kc__count_unknown(at->schema, value, at->is_resource, true, NULL, 0))
        kc__check_invalid(c, "default", value, "must not have unknown fields");
    size_t before = kc__check_enter(c, "default");
    kc_autofree char *base = kc_strdup(kc_buf_cstr(&c->path));
    kc_schema_validate(at->schema, value, &(kc_schema_validate_opts){.base = base}, c->errors);
    kc__check_leave(c, before);
}

/* Not into additionalProperties, as in Kubernetes. */
static void check_defaults(kc__check *c, const kc_value *json, defaults_at at)
{
    const kc_value *value = kc__given(json, "default"), *items = kc__subschema(json, "items");
    if (kc__is_true(json, "x-kubernetes-embedded-resource")) {
        at.inside_meta = false;
        at.is_resource = true;
    }
    if (value)
        check_default(c, value, &at);
    if (items) {
        size_t before = kc__check_enter(c, "items");
        check_defaults(
            c, items,
            (defaults_at){.schema = kc_schema_items(at.schema), .inside_meta = at.inside_meta});
        kc__check_leave(c, before);
    }
    kc_members (kc_get(json, "properties"), name, property) {
        size_t before = kc__check_enter(c, "properties[%.*s]", KC_ARG(name));
        bool meta = at.is_resource && kc__is_meta(name.p, name.n);
        check_defaults(c, property,
                       (defaults_at){.schema = kc_schema_property(at.schema, name),
                                     .inside_meta = at.inside_meta || meta});
        kc__check_leave(c, before);
    }
}

/* ---- All of them ---- */

/* Defaults are looked at only in a schema that is structural, since their types must be known. */
static void check_structure(kc__check *c, const kc_value *openapi, const kc_schema *compiled)
{
    size_t before = c->errors->list.n + c->errors->dropped;
    kc__check_structural(c, openapi);
    if (c->errors->list.n + c->errors->dropped == before)
        check_defaults(c, openapi, (defaults_at){.schema = compiled, .is_resource = true});
}

bool kc_schema_check(const kc_value *openapi, const kc_schema_check_opts *opts,
                     kc_field_errors *errors)
{
    kc_scoped(kc_error) err = {0};
    kc__check c = {.errors = errors};
    size_t before = errors->list.n + errors->dropped;
    kc_buf_puts(&c.path, opts && opts->base ? opts->base : "spec.validation.openAPIV3Schema");
    const char *unstructurable = kc__unstructurable(openapi);
    kc_auto(kc_schema) *compiled = kc_schema_compile(openapi, NULL, &err);

    if (opts && opts->status_subresource)
        check_root_with_status(&c, openapi);
    if (kc__is_true(openapi, "nullable"))
        kc__check_forbid(&c, "nullable", "nullable cannot be true at the root");
    if (!unstructurable)
        check_structure(&c, openapi, compiled);
    kc__check_openapi(&c, openapi);
    bool ok = errors->list.n + errors->dropped == before;
    if (ok && (unstructurable || !compiled)) {
        kc_scoped(kc_buf) why = {0};
        kc_buf_printf(&why, "%s%s", unstructurable ? "" : "error building validator: ",
                      unstructurable ? unstructurable : kc_error_text(&err));
        kc__check_invalid(&c, "", NULL, kc_buf_cstr(&why));
        ok = false;
    }
    check_done(&c);
    return ok;
}

bool kc_schema_check_structural(const kc_value *openapi, const char *base, kc_field_errors *errors)
{
    kc__check c = {.errors = errors};
    size_t before = errors->list.n + errors->dropped;
    kc_buf_puts(&c.path, base);
    const char *unstructurable = kc__unstructurable(openapi);
    if (unstructurable)
        kc__check_invalid(&c, "", NULL, unstructurable);
    else
        kc__check_structural(&c, openapi);
    check_done(&c);
    return errors->list.n + errors->dropped == before;
}
