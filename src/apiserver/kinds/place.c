/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.c: places, their paths, and errors about them.
 */
#include "apiserver/kinds/place.h"
#include "kc/json.h"

#include <stdarg.h>

kc__place kc__place_root(const kc_value *object, kc_field_errors *errors)
{
    return (kc__place){.value = object, .errors = errors};
}

static const kc_value *unless_null(const kc_value *value)
{
    return kc_type_of(value) == KC_NULL ? NULL : value;
}

kc__place kc__member(const kc__place *up, const char *name)
{
    return (kc__place){.up = up,
                       .name = name,
                       .value = unless_null(kc_get(up->value, name)),
                       .errors = up->errors};
}

kc__place kc__item(const kc__place *up, const kc_value *value, size_t index)
{
    return (kc__place){.up = up, .index = index, .value = unless_null(value), .errors = up->errors};
}

kc__place kc__entry(const kc__place *up, kc_str key, const kc_value *value)
{
    return (kc__place){.up = up, .key = key, .value = unless_null(value), .errors = up->errors};
}

static void write_path(kc_buf *out, const kc__place *place)
{
    if (!place->up)
        return;
    write_path(out, place->up);
    if (place->name)
        kc_buf_printf(out, "%s%s", out->n ? "." : "", place->name);
    else if (place->key.p)
        kc_buf_printf(out, "[%.*s]", KC_ARG(place->key));
    else
        kc_buf_printf(out, "[%zu]", place->index);
}

const char *kc__place_path(const kc__place *place)
{
    kc_scoped(kc_buf) out = {0};
    write_path(&out, place);
    return kc_arena_printf(&place->errors->arena, "%s", kc_buf_cstr(&out));
}

/* ---- looking ---- */

bool kc__there(const kc__place *place)
{
    switch (kc_type_of(place->value)) {
    case KC_ABSENT:
    case KC_NULL: return false;
    case KC_BOOL: return kc_as_bool(place->value, false);
    case KC_INT: return kc_as_i64_or(place->value, 1) != 0;
    case KC_STRING: return kc_as_str(place->value).n > 0;
    case KC_ARRAY:
    case KC_OBJECT: return kc_len(place->value) > 0;
    default: return true;
    }
}

kc_str kc__text(const kc__place *place)
{
    return kc_as_str(place->value);
}

int64_t kc__number(const kc__place *place)
{
    return kc_as_i64_or(place->value, 0);
}

bool kc__text_is(const kc__place *place, const char *text)
{
    return kc_str_is(kc__text(place), text);
}

kc_str kc__text_in(const kc__place *place, const char *name)
{
    return kc_as_str(kc_get(place->value, name));
}

bool kc__true_in(const kc__place *place, const char *name)
{
    return kc_as_bool(kc_get(place->value, name), false);
}

/* ---- errors ---- */

static const char *detail_of(const kc__place *place, const char *fmt, va_list args)
{
    kc_scoped(kc_buf) out = {0};
    kc_buf_vprintf(&out, fmt ? fmt : "", args);
    return kc_arena_printf(&place->errors->arena, "%s", kc_buf_cstr(&out));
}

void kc__wrong(const kc__place *place, kc_field_error_type type, const char *detail, ...)
{
    va_list args;
    va_start(args, detail);
    const char *text = detail_of(place, detail, args);
    va_end(args);
    const char *path = kc__place_path(place);
    if (place->value)
        kc_field_errors_add_value(place->errors, type, path, place->value, "%s", text);
    else
        kc_field_errors_add(place->errors, type, path, KC_STR("\"\""), "%s", text);
}

void kc__wrong_as(const kc__place *place, kc_field_error_type type, const char *json,
                  const char *detail, ...)
{
    va_list args;
    va_start(args, detail);
    const char *text = detail_of(place, detail, args);
    va_end(args);
    kc_field_errors_add(place->errors, type, kc__place_path(place), kc_cstr(json), "%s", text);
}

void kc__wrong_text(const kc__place *place, kc_field_error_type type, kc_str shown,
                    const char *detail)
{
    kc_scoped(kc_buf) quoted = {0};
    kc_json_quote(&quoted, shown);
    kc_field_errors_add(place->errors, type, kc__place_path(place), kc_buf_str(&quoted), "%s",
                        detail ? detail : "");
}

void kc__not_supported(const kc__place *place, const char *const *values)
{
    kc_scoped(kc_buf) out = {0};
    for (size_t i = 0; values[i]; i++)
        kc_buf_printf(&out, "%s\"%s\"", i ? ", " : "", values[i]);
    kc__wrong(place, KC_FIELD_NOT_SUPPORTED, "supported values: %s", kc_buf_cstr(&out));
}
