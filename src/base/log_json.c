/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_json.c: one JSON object per line.
 *
 *     {"ts":…,"level":…,"logger":…,"msg":…,"v":…,"caller":…, fields of the logger, of the message}
 *
 * "logger", "v" and "caller" are present only if they have a value. A field with one of these six
 * names is written as "fields.NAME", so that no line has a duplicate key by accident. Invalid UTF-8
 * becomes U+FFFD, because JSON cannot represent it.
 */
#include "base/log_internal.h"
#include "kc/number.h"

#include <inttypes.h>
#include <math.h>

static void put_replacement(kc_buf *out, unsigned char byte)
{
    (void)byte;
    kc_buf_puts(out, "\\ufffd");
}

static void append_json_character(kc_buf *out, uint32_t c)
{
    switch (c) {
    case '\n': kc_buf_puts(out, "\\n"); break;
    case '\r': kc_buf_puts(out, "\\r"); break;
    case '\t': kc_buf_puts(out, "\\t"); break;
    default: kc_buf_printf(out, "\\u%04x", (unsigned)c);
    }
}

static void put_string(kc_buf *out, kc_str text)
{
    static const kc__log_escapes escapes = {
        .quoted = true, .invalid = put_replacement, .character = append_json_character};
    kc_buf_putc(out, '"');
    kc__log_append_escaped(out, text, &escapes);
    kc_buf_putc(out, '"');
}

static void put_member(kc_buf *out, const char *key, const char *text)
{
    kc_buf_printf(out, ",\"%s\":", key);
    put_string(out, kc_cstr(text));
}

static void put_value(kc_buf *out, const kc_field *field)
{
    switch (field->type) {
    case KC_FIELD_NULL: kc_buf_puts(out, "null"); break;
    case KC_FIELD_STR: put_string(out, field->str); break;
    case KC_FIELD_INT: kc_buf_printf(out, "%" PRId64, field->i); break;
    case KC_FIELD_UINT: kc_buf_printf(out, "%" PRIu64, field->u); break;
    case KC_FIELD_BOOL: kc_buf_puts(out, field->b ? "true" : "false"); break;
    case KC_FIELD_DOUBLE: {
        const char *quote = isfinite(field->d) ? "" : "\"";
        kc_buf_puts(out, quote);
        kc_double_write(out, field->d, false);
        kc_buf_puts(out, quote);
        break;
    }
    case KC_FIELD_DURATION:
        kc_buf_putc(out, '"');
        kc_duration_write(out, field->i);
        kc_buf_putc(out, '"');
        break;
    }
}

static bool is_reserved(const char *key)
{
    static const char *const names[] = {"ts", "level", "logger", "msg", "v", "caller"};
    for (size_t i = 0; i < KC_COUNT(names); i++)
        if (strcmp(key, names[i]) == 0)
            return true;
    return false;
}

static void put_fields(kc_buf *out, const kc_field *fields, bool colour)
{
    (void)colour;
    for (; fields->key; fields++) {
        kc_buf_putc(out, ',');
        if (is_reserved(fields->key))
            kc_buf_printf(out, "\"fields.%s\"", fields->key);
        else
            put_string(out, kc_cstr(fields->key));
        kc_buf_putc(out, ':');
        put_value(out, fields);
    }
}

static void put_line(kc_buf *out, const kc__log_record *record, bool colour)
{
    kc_buf_puts(out, "{\"ts\":\"");
    kc__log_append_time(out, record->wall);
    kc_buf_putc(out, '"');
    put_member(out, "level", kc__log_level_text(record->level));
    if (record->name)
        put_member(out, "logger", record->name);
    put_member(out, "msg", record->msg);
    if (record->v)
        kc_buf_printf(out, ",\"v\":%d", record->v);
    if (record->file) {
        kc_autofree char *caller = kc_asprintf("%s:%d", record->file, record->line);
        put_member(out, "caller", caller);
    }
    kc_buf_append(out, record->bound);
    put_fields(out, record->fields, colour);
    kc_buf_puts(out, "}\n");
}

const kc__log_formatter kc__log_json = {.fields = put_fields, .line = put_line};
