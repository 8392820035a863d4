/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field_error.c: lists of field errors and their messages. field_error.h has the table of types,
 * their texts and reasons.
 */
#include "kc/field_error.h"

#include "kc/json.h"
#include "kc/map.h"
#include "object/gofmt/go_json.h"
#include "object/gofmt/go_quote.h"

enum { MOST_TEXT = 1 << 20 };

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
    errors->dropped = errors->text = 0;
}

static bool shows_value(kc_field_error_type type)
{
    return type != KC_FIELD_REQUIRED && type != KC_FIELD_FORBIDDEN && type != KC_FIELD_TOO_LONG &&
           type != KC_FIELD_INTERNAL;
}

/* Many errors about one long value would repeat it many times, so the size of the text is limited,
 * too. */
bool kc_field_errors_is_full(const kc_field_errors *errors)
{
    return errors->list.n >= (errors->limit ? errors->limit : 1000) || errors->text > MOST_TEXT;
}

/* Counts an error instead of keeping it, before its text, which may be long, is built. */
static bool field_error_drop(kc_field_errors *errors)
{
    bool full = kc_field_errors_is_full(errors);
    errors->dropped += full;
    return full;
}

static void field_error_retain(kc_field_errors *errors, kc_field_error_type type, kc_str field,
                               kc_str body)
{
    errors->text += field.n + body.n;
    kc_vec_push(&errors->list,
                (kc_field_error){.type = type,
                                 .field = kc_arena_strndup(&errors->arena, field.p, field.n),
                                 .body = kc_arena_strndup(&errors->arena, body.p, body.n)});
}

/* Truncates a long value at the end of a character. */
static void show_value(kc_buf *body, kc_str value)
{
    size_t n = KC_MIN(value.n, KC_FIELD_VALUE_MAX);
    while (n && n < value.n && ((unsigned char)value.p[n] & 0xC0) == 0x80)
        n--;
    kc_buf_puts(body, ": ");
    kc_buf_append(body, kc_str_sub(value, 0, n));
    if (n < value.n)
        kc_buf_puts(body, "... (truncated)");
}

static void field_error_add(kc_field_errors *errors, kc_field_error_type type, const char *field,
                            kc_str value_json, const char *detail, va_list args)
{
    kc_scoped(kc_buf) body = {0};
    kc_buf_puts(&body, types[type].text);
    if (shows_value(type) && value_json.n)
        show_value(&body, value_json);
    kc_scoped(kc_buf) detail_text = {0};
    if (detail)
        kc_buf_vprintf(&detail_text, detail, args);
    if (detail_text.n)
        kc_buf_printf(&body, ": %.*s", KC_ARG(kc_buf_str(&detail_text)));
    field_error_retain(errors, type, kc_cstr(field), kc_buf_str(&body));
}

void kc_field_errors_add(kc_field_errors *errors, kc_field_error_type type, const char *field,
                         kc_str value_json, const char *detail, ...)
{
    va_list args;
    if (field_error_drop(errors))
        return;
    va_start(args, detail);
    field_error_add(errors, type, field, value_json, detail, args);
    va_end(args);
}

void kc_field_errors_add_value(kc_field_errors *errors, kc_field_error_type type, const char *field,
                               const kc_value *value, const char *detail, ...)
{
    kc_scoped(kc_buf) text = {.limit = 2 * KC_FIELD_VALUE_MAX};
    if (field_error_drop(errors))
        return;
    if (shows_value(type))
        kc__go_value(&text, value);
    va_list args;
    va_start(args, detail);
    field_error_add(errors, type, field, kc_buf_str(&text), detail, args);
    va_end(args);
}

/* Errors by field and body: comparing many errors pairwise would be slow. */
typedef struct distinct {
    kc_map seen;
    kc_arena arena; /* Of the keys. */
} distinct;

static void distinct_done(distinct *d)
{
    kc_map_done(&d->seen);
    kc_arena_done(&d->arena);
}

/* False if an equal one exists. */
static bool field_error_record(distinct *d, const kc_field_error *e)
{
    size_t field = strlen(e->field) + 1, body = strlen(e->body);
    char *key = kc_arena_alloc(&d->arena, field + body + 1);
    memcpy(key, e->field, field);
    memcpy(key + field, e->body, body + 1);
    return !kc_map_put(&d->seen, kc_str_of(key, field + body), (void *)e);
}

void kc_field_errors_merge(kc_field_errors *errors, const kc_field_errors *from)
{
    kc_scoped(distinct) held = {0};
    errors->dropped += from->dropped;
    if (from->list.n)
        kc_vec_each (&errors->list, e)
            field_error_record(&held, e);
    kc_vec_each (&from->list, e) {
        if (!field_error_record(&held, e) || field_error_drop(errors))
            continue;
        field_error_retain(errors, e->type, kc_cstr(e->field), kc_cstr(e->body));
    }
}

/* "a: b", or "[a: b, c: d]" for several different ones. */
static void field_error_join(const kc_field_errors *errors, kc_buf *out)
{
    kc_scoped(distinct) detail_text = {0};
    kc_buf_putc(out, '[');
    kc_vec_each (&errors->list, e) {
        if (!field_error_record(&detail_text, e))
            continue;
        kc_buf_puts(out, detail_text.seen.n > 1 ? ", " : "");
        kc_buf_puts(out, e->field);
        kc_buf_puts(out, ": ");
        kc_buf_puts(out, e->body);
    }
    if (errors->dropped)
        kc_buf_puts(out, ", and more");
    kc_buf_putc(out, ']');
    if (detail_text.seen.n == 1 && !errors->dropped) {
        memmove(out->p, out->p + 1, out->n - 2);
        out->n -= 2;
    }
}

int kc_field_errors_to_error(const kc_field_errors *errors, kc_str group, kc_str kind, kc_str name,
                             kc_error *err)
{
    if (!errors->list.n)
        return 0;
    kc_scoped(kc_buf) all = {0};
    kc_scoped(kc_buf) quoted = {0};
    field_error_join(errors, &all);
    kc_json_quote(&quoted, name);
    const int result =
        kc_error_set(err, KC_INVALID, "%.*s%s%.*s %s is invalid: %s", KC_ARG(kind),
                     group.n ? "." : "", KC_ARG(group), kc_buf_cstr(&quoted), kc_buf_cstr(&all));
    kc_error_about(err, group, kind, name);
    kc_vec_each (&errors->list, e)
        kc_error_add_cause(err, types[e->type].reason, kc_cstr(e->field), kc_cstr(e->body));
    return result;
}
