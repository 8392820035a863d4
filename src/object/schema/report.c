/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c: validation errors, with the messages of kube-openapi as apiextensions-apiserver
 * converts them to field errors. They contain the path twice: as the field (below the base, without
 * a leading dot; "<nil>" when there is neither) and inside the sentence ("spec.x in body …").
 */
#include "object/schema/schema_validate_internal.h"

#include "object/gofmt/go_json.h"
#include "object/gofmt/go_quote.h"

#include <stdarg.h>

void kc__schema_validator_init(kc__schema_validator *v, const kc_schema_validate_opts *opts)
{
    v->errors = NULL;
    v->base = opts && opts->base && *opts->base ? opts->base : NULL;
    v->matches = v->spent = 0;
    v->inside = v->depth = 0;
    v->exhausted = false;
    v->counting = false;
    v->old = NULL;
    v->old_things = NULL;
    v->differs = false;
    v->pattern_steps = KC__REGEX_STEPS_MAX;
    kc__schema_last_rows_init(v->last_rows);
}

/* True if nothing is to be reported: in the quiet pass, while branches are compared, or because the
 * list is full. */
static bool is_silent(kc__schema_validator *v)
{
    if (v->errors && !v->counting && !kc_field_errors_is_full(v->errors))
        return false;
    if (v->errors)
        v->errors->dropped++;
    return true;
}

static const char *schema_report_field_of(const kc__schema_validator *v, const char *path,
                                          kc_buf *out)
{
    if (*path == '.')
        path++;
    if (!*path)
        return v->base ? v->base : "<nil>";
    if (v->base)
        kc_buf_printf(out, "%s.", v->base);
    kc_buf_puts(out, path);
    return kc_buf_cstr(out);
}

static void schema_report_add(kc__schema_validator *v, const char *path, kc_field_error_type type,
                              kc_str value, const char *detail)
{
    kc_scoped(kc_buf) field = {0};
    kc__schema_charge_bytes(v, strlen(path) + value.n + strlen(detail));
    kc_field_errors_add(v->errors, type, schema_report_field_of(v, path, &field), value, "%s",
                        detail);
}

static void add_sentence(kc__schema_validator *v, const kc__schema_path_frame *at,
                         kc_field_error_type type, kc_str value, const char *fmt, va_list args)
{
    kc_scoped(kc_buf) path = {0};
    kc_scoped(kc_buf) detail = {0};
    kc__schema_path_write(&path, at, KC__SCHEMA_PATH_BODY);
    kc_buf_printf(&detail, "%s in body ", kc_buf_cstr(&path));
    kc_buf_vprintf(&detail, fmt, args);
    schema_report_add(v, kc_buf_cstr(&path), type, value, kc_buf_cstr(&detail));
}

bool kc__schema_report(kc__schema_validator *v, const kc__schema_path_frame *at,
                       kc_field_error_type type, kc_str value, const char *fmt, ...)
{
    if (is_silent(v))
        return false;
    va_list args;
    va_start(args, fmt);
    add_sentence(v, at, type, value, fmt, args);
    va_end(args);
    return false;
}

bool kc__schema_report_value(kc__schema_validator *v, const kc__schema_path_frame *at,
                             kc_field_error_type type, const kc_value *value, const char *fmt, ...)
{
    if (is_silent(v))
        return false;
    kc_scoped(kc_buf) text = {0};
    kc__go_value(&text, value);
    va_list args;
    va_start(args, fmt);
    add_sentence(v, at, type, kc_buf_str(&text), fmt, args);
    va_end(args);
    return false;
}

bool kc__schema_report_plain(kc__schema_validator *v, const kc__schema_path_frame *at,
                             kc_field_error_type type, kc_str value, const char *fmt, ...)
{
    if (is_silent(v))
        return false;
    kc_scoped(kc_buf) path = {0};
    kc_scoped(kc_buf) detail = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&detail, fmt, args);
    va_end(args);
    kc__schema_path_write(&path, at, KC__SCHEMA_PATH_BODY);
    schema_report_add(v, kc_buf_cstr(&path), type, value, kc_buf_cstr(&detail));
    return false;
}

bool kc__schema_report_composite(kc__schema_validator *v, const kc__schema_path_frame *at,
                                 const char *fmt, ...)
{
    if (is_silent(v))
        return false;
    kc_scoped(kc_buf) path = {0};
    kc_scoped(kc_buf) detail = {0};
    kc__schema_path_write(&path, at, KC__SCHEMA_PATH_BODY);
    kc__go_quote(&detail, kc_buf_str(&path));
    kc_buf_putc(&detail, ' ');
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&detail, fmt, args);
    va_end(args);
    schema_report_add(v, "", KC_FIELD_INVALID, KC_STR("\"\""), kc_buf_cstr(&detail));
    return false;
}

bool kc__schema_report_type(kc__schema_validator *v, const kc_schema *schema, const char *found,
                            const kc__schema_path_frame *at)
{
    if (is_silent(v))
        return false;
    kc_scoped(kc_buf) quoted = {0};
    kc_buf_printf(&quoted, "\"%s\"", found);
    return kc__schema_report(v, at, KC_FIELD_TYPE_INVALID, kc_buf_str(&quoted),
                             "must be of type %s: %s", kc_schema_type(schema),
                             kc_buf_cstr(&quoted));
}

bool kc__schema_report_required(kc__schema_validator *v, const kc__schema_path_frame *at,
                                const kc__schema_property_row *row)
{
    kc__schema_path_frame missing = {.parent = at, .name = row->name, .n = row->n};
    return kc__schema_report_plain(v, &missing, KC_FIELD_REQUIRED, (kc_str){0}, "%s", "");
}

bool kc__schema_report_forbidden(kc__schema_validator *v, const kc__schema_path_frame *at,
                                 kc_str name)
{
    if (is_silent(v))
        return false;
    kc_scoped(kc_buf) path = {0};
    kc_scoped(kc_buf) detail = {0};
    kc_scoped(kc_buf) quoted = {0};
    kc__schema_path_write(&path, at, KC__SCHEMA_PATH_BODY);
    kc_buf_printf(&detail, "%s.%.*s in body is a forbidden property", kc_buf_cstr(&path),
                  KC_ARG(name));
    kc__go_quote(&quoted, name);
    schema_report_add(v, kc_buf_cstr(&path), KC_FIELD_INVALID, kc_buf_str(&quoted),
                      kc_buf_cstr(&detail));
    return false;
}
