/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_validate_version.c: validates one version of a CRD: its deprecation, schema, subresources,
 * columns, selectable fields.
 *
 * kc_schema_check does most of the schema validation. On an update an unchanged schema is not
 * validated again: Kubernetes does not reject old CRDs by rules that are newer than they are, and
 * large schemas dominate the cost.
 */
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "apiserver/kinds/apiextensions/crd_validate_internal.h"
#include "kc/diff.h"
#include "kc/map.h"
#include "kc/schema.h"
#include "object/gofmt/go_quote.h"
#include "object/schema/field_path.h"

#include <stdio.h>

enum { MOST_SELECTABLE = 8, MOST_WARNING = 256 };

/* ---- deprecation ---- */

static void check_text(kc__crd_check *c, kc_str text)
{
    if (text.n > MOST_WARNING)
        kc__crd_invalid(c, "deprecationWarning", text, "must be <= 256 characters long");
    if (!text.n)
        kc__crd_invalid(c, "deprecationWarning", text, "must not be an empty string");
    for (size_t at = 0; at < text.n;) {
        size_t from = at;
        if (kc__go_is_printable(kc__go_next_rune(text, &at)))
            continue;
        char detail[128];
        snprintf(detail, sizeof(detail),
                 "must only contain printable UTF-8 characters; non-printable character found at "
                 "index %zu",
                 from);
        kc__crd_invalid(c, "deprecationWarning", text, detail);
        return;
    }
}

static void check_deprecation(kc__crd_check *c, const kc_value *version)
{
    const kc_value *warning = kc_value_get(version, "deprecationWarning");
    if (kc_value_type(warning) != KC_JSON_STRING)
        return;
    if (!kc_value_as_bool(kc_value_get(version, "deprecated"), false))
        kc__crd_invalid(c, "deprecationWarning", kc_value_as_str(warning),
                        "can only be set for deprecated versions");
    else
        check_text(c, kc_value_as_str(warning));
}

/* ---- schema ---- */

static const kc_value *old_version(const kc__crd_check *c, kc_str name)
{
    kc_value_each_item (kc_value_get(kc_value_get(c->old, "spec"), "versions"), version)
        if (kc_str_eq(kc_value_as_str(kc_value_get(version, "name")), name))
            return version;
    return NULL;
}

static bool has_same_schema(const kc_value *version, const kc_value *old)
{
    return old &&
           kc_value_equal(kc_value_get(old, "schema"), kc_value_get(version, "schema"), NULL);
}

static bool is_as_before(const kc_value *version, const kc_value *old)
{
    return has_same_schema(version, old) &&
           kc_value_equal(kc_value_get(old, "subresources"), kc_value_get(version, "subresources"),
                          NULL);
}

/* Whether a schema need not be structural: unknown fields are preserved, and the CRD was sent as
 * v1beta1 or the old schema was not structural either. */
static bool may_be_loose(const kc__crd_check *c, const kc_value *version)
{
    if (!kc_value_as_bool(kc_value_get(c->spec, "preserveUnknownFields"), false))
        return false;
    kc_scoped(kc_field_errors) violations = {0};
    const kc_value *old =
        kc__crd_schema_of(old_version(c, kc_value_as_str(kc_value_get(version, "name"))));
    return c->rules->beta || (old && !kc_schema_check_structural(old, "", &violations));
}

/* Accepts any schema that can be compiled. */
static void check_usable(kc__crd_check *c, const kc_value *schema)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_schema) *compiled = kc_schema_compile(schema, NULL, &err);
    if (!compiled)
        kc__crd_invalid(c, "openAPIV3Schema", (kc_str){0}, kc_error_text(&err));
}

void kc__crd_check_schema(kc__crd_check *c, const kc_value *version, bool status)
{
    const kc_value *schema = kc__crd_schema_of(version);
    const kc_value *old = old_version(c, kc_value_as_str(kc_value_get(version, "name")));
    if (!schema || is_as_before(version, old))
        return;
    if (may_be_loose(c, version)) {
        check_usable(c, schema);
        return;
    }
    kc__crd_rule_check rules;
    size_t before = kc__crd_enter(c, ".openAPIV3Schema");
    kc__crd_rule_check_init(&rules, c->old, has_same_schema(version, old));
    kc_schema_check(schema,
                    &(kc_schema_check_opts){.base = kc_buf_cstr(&c->path),
                                            .status_subresource = status,
                                            .rules = &rules.checks},
                    c->errors);
    kc__crd_rule_check_done(&rules);
    kc__crd_leave(c, before);
}

/* ---- subresources ---- */

static bool is_simple_path(kc__crd_check *c, const char *member, kc_str path)
{
    if (path.n && path.p[0] == '.')
        return true;
    kc__crd_invalid(c, member, path, "must be a simple json path starting with .");
    return false;
}

static void check_replicas(kc__crd_check *c, const char *member, kc_str path, const char *below,
                           const char *detail)
{
    if (!path.n)
        kc__crd_required(c, member, "");
    else if (is_simple_path(c, member, path) && !kc_str_starts(path, kc_cstr(below)))
        kc__crd_invalid(c, member, path, detail);
}

void kc__crd_check_subresources(kc__crd_check *c, const kc_value *subresources)
{
    const kc_value *scale = kc_value_get(subresources, "scale");
    if (kc_value_type(scale) != KC_JSON_OBJECT)
        return;
    check_replicas(c, "scale.specReplicasPath",
                   kc_value_as_str(kc_value_get(scale, "specReplicasPath")), ".spec.",
                   "should be a json path under .spec");
    check_replicas(c, "scale.statusReplicasPath",
                   kc_value_as_str(kc_value_get(scale, "statusReplicasPath")), ".status.",
                   "should be a json path under .status");
    kc_str selector = kc_value_as_str(kc_value_get(scale, "labelSelectorPath"));
    if (selector.n && is_simple_path(c, "scale.labelSelectorPath", selector) &&
        !kc_str_starts(selector, KC_STR(".spec.")) && !kc_str_starts(selector, KC_STR(".status.")))
        kc__crd_invalid(c, "scale.labelSelectorPath", selector,
                        "should be a json path under either .spec or .status");
}

/* ---- columns ---- */

static bool is_one_of(kc_str text, const char *const *words)
{
    for (; *words; words++)
        if (kc_str_is(text, *words))
            return true;
    return false;
}

static void check_column(kc__crd_check *c, const kc_value *column)
{
    static const char *const types[] = {"boolean", "date", "integer", "number", "string", NULL};
    static const char *const formats[] = {"byte",  "date",  "date-time", "double", "float",
                                          "int32", "int64", "password",  NULL};
    static const char one_type[] = "must be one of boolean,date,integer,number,string";
    kc_str type = kc_value_as_str(kc_value_get(column, "type")),
           format = kc_value_as_str(kc_value_get(column, "format"));
    kc_str path = kc_value_as_str(kc_value_get(column, "jsonPath"));
    if (!kc_value_as_str(kc_value_get(column, "name")).n)
        kc__crd_required(c, "name", "");
    if (!type.n)
        kc__crd_required(c, "type", one_type);
    else if (!is_one_of(type, types))
        kc__crd_invalid(c, "type", type, one_type);
    if (format.n && !is_one_of(format, formats))
        kc__crd_invalid(c, "format", format,
                        "must be one of byte,date,date-time,double,float,int32,int64,password");
    if (!path.n)
        kc__crd_required(c, "JSONPath", "");
    else
        is_simple_path(c, "JSONPath", path);
}

void kc__crd_check_columns(kc__crd_check *c, const kc_value *columns)
{
    size_t i = 0;
    kc_value_each_item (columns, column) {
        size_t before = kc__crd_enter(c, "[%zu]", i++);
        check_column(c, column);
        kc__crd_leave(c, before);
    }
}

/* ---- selectable fields ---- */

static void check_selectable_field(kc__crd_check *c, const kc_value *schema, kc_str path)
{
    kc_scoped(kc_buf) why = {0}, detail = {0};
    const kc_value *found = kc__schema_field_path(schema, path, false, NULL, &why);
    if (!found) {
        kc_buf_printf(&detail, "is an invalid path: %s", kc_buf_cstr(&why));
        kc__crd_invalid(c, "jsonPath", path, kc_buf_cstr(&detail));
        return;
    }
    if (kc_str_is(path, ".metadata") || kc_str_starts(path, KC_STR(".metadata.")))
        kc__crd_invalid(c, "jsonPath", path, "must not point to fields in metadata");
    static const char *const types[] = {"string", "boolean", "integer", NULL};
    if (!is_one_of(kc_value_as_str(kc_value_get(found, "type")), types))
        kc__crd_invalid(c, "jsonPath", path,
                        "must point to a field of type string, boolean or integer. Enum string "
                        "fields and strings with formats are allowed.");
}

static void check_one_selectable(kc__crd_check *c, const kc_value *schema, const kc_value *field,
                                 size_t index, kc_map *seen, size_t *distinct)
{
    kc_str path = kc_value_as_str(kc_value_get(field, "jsonPath"));
    size_t before = kc__crd_enter(c, "[%zu]", index);
    size_t errors = c->errors->list.n;
    if (!path.n)
        kc__crd_required(c, "jsonPath", "");
    else
        check_selectable_field(c, schema, path);
    bool usable = path.n && c->errors->list.n == errors;
    bool duplicate = path.n && kc_map_put(seen, path, (void *)field);
    if (usable && duplicate) {
        kc_scoped(kc_buf) shown = {0};
        kc__go_quote(&shown, path);
        kc__crd_enter(c, ".jsonPath");
        kc_field_errors_add(c->errors, KC_FIELD_DUPLICATE, kc_buf_cstr(&c->path),
                            kc_buf_str(&shown), NULL);
    } else {
        *distinct += usable;
    }
    kc__crd_leave(c, before);
}

void kc__crd_check_selectable(kc__crd_check *c, const kc_value *version, const char *without)
{
    const kc_value *fields = kc_value_get(version, "selectableFields");
    const kc_value *schema = kc__crd_schema_of(version);
    size_t n = kc_value_len(fields), distinct = 0;
    if (!n)
        return;
    if (!schema) {
        kc__crd_invalid(c, "", (kc_str){0}, without);
        return;
    }
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_value_each_item (fields, field) {
        if (kc_field_errors_is_full(c->errors))
            break;
        check_one_selectable(c, schema, field, i++, &seen, &distinct);
    }
    if (distinct > MOST_SELECTABLE) {
        char count[24];
        snprintf(count, sizeof(count), "%zu", distinct);
        kc_field_errors_add(c->errors, KC_FIELD_TOO_MANY, kc_buf_cstr(&c->path), kc_cstr(count),
                            "must have at most %d items", MOST_SELECTABLE);
    }
}

/* ---- the whole version ---- */

void kc__crd_check_version(kc__crd_check *c, const kc_value *version, const bool *shared)
{
    const kc_value *subresources = kc_value_get(version, "subresources");
    bool status = kc_value_type(kc_value_get(subresources, "status")) == KC_JSON_OBJECT;
    size_t before;
    check_deprecation(c, version);
    if (!shared[KC__CRD_SHARED_SCHEMA]) {
        before = kc__crd_enter(c, ".schema");
        kc__crd_check_schema(c, version, status);
        kc__crd_leave(c, before);
    }
    if (!shared[KC__CRD_SHARED_SUBRESOURCES]) {
        before = kc__crd_enter(c, ".subresources");
        kc__crd_check_subresources(c, subresources);
        kc__crd_leave(c, before);
    }
    if (!shared[KC__CRD_SHARED_COLUMNS]) {
        before = kc__crd_enter(c, ".additionalPrinterColumns");
        kc__crd_check_columns(c, kc_value_get(version, "additionalPrinterColumns"));
        kc__crd_leave(c, before);
    }
    if (!shared[KC__CRD_SHARED_FIELDS]) {
        before = kc__crd_enter(c, ".selectableFields");
        kc__crd_check_selectable(
            c, version, "may only be set when `version.schema.openAPIV3Schema` is not included");
        kc__crd_leave(c, before);
    }
}
