/* SPDX-License-Identifier: Apache-2.0 */
/*
 * location.c: validation locations, their paths, and errors about them.
 */
#include "apiserver/kinds/location.h"
#include "kc/json.h"

#include <stdarg.h>

kc__location kc__location_root(const kc_value *object, kc_field_errors *errors)
{
    return (kc__location){.value = object, .errors = errors};
}

static const kc_value *unless_null(const kc_value *value)
{
    return kc_value_type(value) == KC_JSON_NULL ? NULL : value;
}

kc__location kc__location_member(const kc__location *up, const char *name)
{
    return (kc__location){.up = up,
                          .name = name,
                          .value = unless_null(kc_value_get(up->value, name)),
                          .errors = up->errors};
}

kc__location kc__location_item(const kc__location *up, const kc_value *value, size_t index)
{
    return (kc__location){
        .up = up, .index = index, .value = unless_null(value), .errors = up->errors};
}

kc__location kc__location_entry(const kc__location *up, kc_str key, const kc_value *value)
{
    return (kc__location){.up = up, .key = key, .value = unless_null(value), .errors = up->errors};
}

static void write_location_path(kc_buf *out, const kc__location *location)
{
    if (!location->up)
        return;
    write_location_path(out, location->up);
    if (location->name)
        kc_buf_printf(out, "%s%s", out->n ? "." : "", location->name);
    else if (location->key.p)
        kc_buf_printf(out, "[%.*s]", KC_ARG(location->key));
    else
        kc_buf_printf(out, "[%zu]", location->index);
}

const char *kc__location_path(const kc__location *location)
{
    kc_scoped(kc_buf) out = {0};
    write_location_path(&out, location);
    return kc_arena_printf(&location->errors->arena, "%s", kc_buf_cstr(&out));
}

/* ---- reading values ---- */

bool kc__location_is_set(const kc__location *location)
{
    switch (kc_value_type(location->value)) {
    case KC_JSON_ABSENT:
    case KC_JSON_NULL: return false;
    case KC_JSON_BOOL: return kc_value_as_bool(location->value, false);
    case KC_JSON_INT: return kc_value_as_i64_or(location->value, 1) != 0;
    case KC_JSON_STRING: return kc_value_as_str(location->value).n > 0;
    case KC_JSON_ARRAY:
    case KC_JSON_OBJECT: return kc_value_len(location->value) > 0;
    default: return true;
    }
}

kc_str kc__location_text(const kc__location *location)
{
    return kc_value_as_str(location->value);
}

int64_t kc__location_number(const kc__location *location)
{
    return kc_value_as_i64_or(location->value, 0);
}

bool kc__location_text_is(const kc__location *location, const char *text)
{
    return kc_str_is(kc__location_text(location), text);
}

kc_str kc__location_member_text(const kc__location *location, const char *name)
{
    return kc_value_as_str(kc_value_get(location->value, name));
}

bool kc__location_member_is_true(const kc__location *location, const char *name)
{
    return kc_value_as_bool(kc_value_get(location->value, name), false);
}

/* ---- errors ---- */

static const char *detail_of(const kc__location *location, const char *fmt, va_list args)
{
    kc_scoped(kc_buf) out = {0};
    kc_buf_vprintf(&out, fmt ? fmt : "", args);
    return kc_arena_printf(&location->errors->arena, "%s", kc_buf_cstr(&out));
}

/* Counts errors beyond the limit, without formatting their text. */
static bool dropped(const kc__location *location)
{
    bool full = kc_field_errors_is_full(location->errors);
    location->errors->dropped += full;
    return full;
}

void kc__location_error(const kc__location *location, kc_field_error_type type, const char *detail,
                        ...)
{
    va_list args;
    if (dropped(location))
        return;
    va_start(args, detail);
    const char *text = detail_of(location, detail, args);
    va_end(args);
    const char *path = kc__location_path(location);
    if (location->value)
        kc_field_errors_add_value(location->errors, type, path, location->value, "%s", text);
    else
        kc_field_errors_add(location->errors, type, path, KC_STR("\"\""), "%s", text);
}

void kc__location_error_json(const kc__location *location, kc_field_error_type type,
                             const char *json, const char *detail, ...)
{
    va_list args;
    if (dropped(location))
        return;
    va_start(args, detail);
    const char *text = detail_of(location, detail, args);
    va_end(args);
    kc_field_errors_add(location->errors, type, kc__location_path(location), kc_cstr(json), "%s",
                        text);
}

void kc__location_error_text(const kc__location *location, kc_field_error_type type, kc_str shown,
                             const char *detail)
{
    kc_scoped(kc_buf) quoted = {0};
    if (dropped(location))
        return;
    kc_json_quote(&quoted, shown);
    kc_field_errors_add(location->errors, type, kc__location_path(location), kc_buf_str(&quoted),
                        "%s", detail ? detail : "");
}

void kc__location_not_supported(const kc__location *location, const char *const *values)
{
    kc_scoped(kc_buf) out = {0};
    for (size_t i = 0; values[i]; i++)
        kc_buf_printf(&out, "%s\"%s\"", i ? ", " : "", values[i]);
    kc__location_error(location, KC_FIELD_NOT_SUPPORTED, "supported values: %s", kc_buf_cstr(&out));
}
