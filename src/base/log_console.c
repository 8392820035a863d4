/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_console.c: the text format, for terminals.
 *
 *     2025-11-17T08:30:00.123Z INFO  manager      listening                      port=6443
 *     └ time                   └ level           └ message                        └ fields
 *                                    └ name
 *
 * Columns are padded to line up; a longer value shifts the rest. A value that is empty or contains
 * a space, a quote, an equals sign or a character to escape is quoted, so that programs can parse
 * key=value. Keys are treated the same way.
 */
#include "base/log_internal.h"
#include "kc/number.h"

#include <inttypes.h>

enum { NAME_WIDTH = 12, MESSAGE_WIDTH = 30 };

static const char dim[] = "\x1b[2m", plain[] = "\x1b[0m";

static const struct {
    const char *text, *colour;
} levels[] = {
    [KC_LOG_ERROR - KC_LOG_ERROR] = {"ERROR", "\x1b[31m"},
    [KC_LOG_WARN - KC_LOG_ERROR] = {"WARN ", "\x1b[33m"},
    [KC_LOG_INFO - KC_LOG_ERROR] = {"INFO ", "\x1b[32m"},
    [KC_LOG_DEBUG - KC_LOG_ERROR] = {"DEBUG", "\x1b[35m"},
};

static void put_byte(kc_buf *out, unsigned char byte)
{
    kc_buf_printf(out, "\\x%02x", byte);
}

static void append_console_character(kc_buf *out, uint32_t c)
{
    switch (c) {
    case '\n': kc_buf_puts(out, "\\n"); break;
    case '\r': kc_buf_puts(out, "\\r"); break;
    case '\t': kc_buf_puts(out, "\\t"); break;
    default: kc_buf_printf(out, c < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)c);
    }
}

static const kc__log_escapes unquoted = {.invalid = put_byte,
                                         .character = append_console_character};
static const kc__log_escapes quoted = {
    .quoted = true, .invalid = put_byte, .character = append_console_character};

static bool needs_quotes(kc_str text)
{
    if (text.n == 0 || text.n > KC_LOG_MAX_VALUE || !kc__log_is_plain(text))
        return true;
    return kc_str_find(text, ' ') >= 0 || kc_str_find(text, '"') >= 0 ||
           kc_str_find(text, '=') >= 0;
}

static void put_word(kc_buf *out, kc_str text)
{
    if (!needs_quotes(text)) {
        kc_buf_append(out, text);
        return;
    }
    kc_buf_putc(out, '"');
    kc__log_append_escaped(out, text, &quoted);
    kc_buf_putc(out, '"');
}

static void put_value(kc_buf *out, const kc_field *field)
{
    switch (field->type) {
    case KC_FIELD_NULL: kc_buf_puts(out, "null"); break;
    case KC_FIELD_STR: put_word(out, field->str); break;
    case KC_FIELD_INT: kc_buf_printf(out, "%" PRId64, field->i); break;
    case KC_FIELD_UINT: kc_buf_printf(out, "%" PRIu64, field->u); break;
    case KC_FIELD_BOOL: kc_buf_puts(out, field->b ? "true" : "false"); break;
    case KC_FIELD_DOUBLE: kc_double_write(out, field->d, false); break;
    case KC_FIELD_DURATION: kc_duration_write(out, field->i); break;
    }
}

static void put_coloured(kc_buf *out, const char *text, const char *colour)
{
    kc_buf_printf(out, "%s%s%s", colour ? colour : "", text, colour ? plain : "");
}

static void put_fields(kc_buf *out, const kc_field *fields, bool colour)
{
    for (; fields->key; fields++) {
        kc_buf_putc(out, ' ');
        kc_buf_puts(out, colour ? dim : "");
        put_word(out, kc_cstr(fields->key));
        kc_buf_putc(out, '=');
        kc_buf_puts(out, colour ? plain : "");
        put_value(out, fields);
    }
}

/* Pads with spaces to a width, counted in characters from `start`. */
static void pad(kc_buf *out, size_t start, size_t width)
{
    size_t shown = 0;
    for (size_t i = start; i < out->n; i++)
        shown += ((unsigned char)out->p[i] & 0xc0) != 0x80;
    for (; shown < width; shown++)
        kc_buf_putc(out, ' ');
}

static void put_head(kc_buf *out, const kc__log_record *record, bool colour)
{
    kc_buf_puts(out, colour ? dim : "");
    kc__log_append_time(out, record->wall);
    kc_buf_puts(out, colour ? plain : "");
    kc_buf_putc(out, ' ');
    size_t level = (size_t)(record->level - KC_LOG_ERROR);
    put_coloured(out, levels[level].text, colour ? levels[level].colour : NULL);
    kc_buf_putc(out, ' ');
    size_t start = out->n;
    kc__log_append_escaped(out, kc_cstr(record->name), &unquoted);
    pad(out, start, NAME_WIDTH);
    kc_buf_putc(out, ' ');
}

static void put_line(kc_buf *out, const kc__log_record *record, bool colour)
{
    put_head(out, record, colour);
    size_t start = out->n;
    kc__log_append_escaped(out, kc_cstr(record->msg), &unquoted);
    if (record->v || record->file || record->bound.n || record->fields->key)
        pad(out, start, MESSAGE_WIDTH);
    if (record->v)
        put_fields(out, (const kc_field[]){kc_kv("v", record->v), {0}}, colour);
    if (record->file) {
        kc_autofree char *caller = kc_asprintf("%s:%d", record->file, record->line);
        put_fields(out, (const kc_field[]){kc_kv("caller", caller), {0}}, colour);
    }
    kc_buf_append(out, record->bound);
    put_fields(out, record->fields, colour);
    kc_buf_putc(out, '\n');
}

const kc__log_formatter kc__log_console = {.fields = put_fields, .line = put_line};
