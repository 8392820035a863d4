/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field_error.c: lists of field errors and their wording. The types, their text and their reasons
 * are one table in field_error.h.
 */
#include "kc/field_error.h"

#include "kc/json.h"
#include "object/go_json.h"
#include "object/go_quote.h"

enum { MOST_TEXT = 8 << 20 };

static const struct {
    const char *text, *reason;
} types[] = {
#define TYPE_ROW(name, text, reason) [KC_FIELD_##name] = {text, reason},
    KC_FIELD_ERROR_TYPES(TYPE_ROW)
#undef TYPE_ROW
};

void kc_field_errors_done(kc_field_errors *errors)
{
    if (!errors)
        return;
    kc_arena_done(&errors->arena);
    kc_vec_done(&errors->list);
    errors->dropped = 0;
}

static bool shows_value(kc_field_error_type type)
{
    return type != KC_FIELD_REQUIRED && type != KC_FIELD_FORBIDDEN && type != KC_FIELD_TOO_LONG &&
           type != KC_FIELD_INTERNAL;
}

/* Many errors about one long value would repeat it many times, so their text is limited as well. */
bool kc_field_errors_is_full(const kc_field_errors *errors)
{
    return errors->list.n >= (errors->limit ? errors->limit : 1000) ||
           errors->arena.used > MOST_TEXT;
}

static void add(kc_field_errors *errors, kc_field_error_type type, const char *field,
                kc_str value_json, const char *detail, va_list args)
{
    if (kc_field_errors_is_full(errors)) {
        errors->dropped++;
        return;
    }
    kc_scoped(kc_buf) body = {0};
    kc_buf_puts(&body, types[type].text);
    if (shows_value(type) && value_json.n)
        kc_buf_printf(&body, ": %.*s", KC_ARG(value_json));
    kc_scoped(kc_buf) said = {0};
    if (detail)
        kc_buf_vprintf(&said, detail, args);
    if (said.n)
        kc_buf_printf(&body, ": %.*s", KC_ARG(kc_buf_str(&said)));
    kc_vec_push(&errors->list,
                (kc_field_error){.type = type,
                                 .field = kc_arena_strndup(&errors->arena, field, strlen(field)),
                                 .body = kc_arena_strndup(&errors->arena, body.p, body.n)});
}

void kc_field_errors_add(kc_field_errors *errors, kc_field_error_type type, const char *field,
                         kc_str value_json, const char *detail, ...)
{
    va_list args;
    va_start(args, detail);
    add(errors, type, field, value_json, detail, args);
    va_end(args);
}

void kc_field_errors_add_value(kc_field_errors *errors, kc_field_error_type type, const char *field,
                               const kc_value *value, const char *detail, ...)
{
    kc_scoped(kc_buf) text = {0};
    if (shows_value(type))
        kc__go_value(&text, value);
    va_list args;
    va_start(args, detail);
    add(errors, type, field, kc_buf_str(&text), detail, args);
    va_end(args);
}

static bool holds(const kc_field_errors *errors, size_t n, const kc_field_error *error)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(errors->list.items[i].field, error->field) &&
            !strcmp(errors->list.items[i].body, error->body))
            return true;
    return false;
}

void kc_field_errors_merge(kc_field_errors *errors, const kc_field_errors *from)
{
    errors->dropped += from->dropped;
    kc_vec_each (&from->list, e) {
        if (holds(errors, errors->list.n, e))
            continue;
        if (kc_field_errors_is_full(errors)) {
            errors->dropped++;
            continue;
        }
        kc_vec_push(
            &errors->list,
            (kc_field_error){.type = e->type,
                             .field = kc_arena_strndup(&errors->arena, e->field, strlen(e->field)),
                             .body = kc_arena_strndup(&errors->arena, e->body, strlen(e->body))});
    }
}

/* "a: b", or "[a: b, c: d]" when there are several different ones. */
static void join(const kc_field_errors *errors, kc_buf *out)
{
    size_t different = 0;
    for (size_t i = 0; i < errors->list.n; i++) {
        const kc_field_error *e = &errors->list.items[i];
        if (holds(errors, i, e))
            continue;
        kc_buf_printf(out, "%s%s: %s", different ? ", " : "", e->field, e->body);
        different++;
    }
    if (different > 1) {
        kc_autofree char *all = kc_buf_take(out);
        kc_buf_printf(out, "[%s]", all);
    }
}

int kc_field_errors_to_error(const kc_field_errors *errors, kc_str group, kc_str kind, kc_str name,
                             kc_error *err)
{
    if (!errors->list.n)
        return 0;
    kc_scoped(kc_buf) all = {0};
    kc_scoped(kc_buf) quoted = {0};
    join(errors, &all);
    kc_json_quote(&quoted, name);
    kc_error_set(err, KC_INVALID, "%.*s%s%.*s %s is invalid: %s", KC_ARG(kind), group.n ? "." : "",
                 KC_ARG(group), kc_buf_cstr(&quoted), kc_buf_cstr(&all));
    kc_error_about(err, group, kind, name);
    kc_vec_each (&errors->list, e)
        kc_error_add_cause(err, types[e->type].reason, kc_cstr(e->field), kc_cstr(e->body));
    return -(int)KC_INVALID;
}
