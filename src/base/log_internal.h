/* SPDX-License-Identifier: Apache-2.0 */
/* log_internal.h: between the logger (log.c) and its formats (log_console.c, log_json.c). */
#ifndef KC_BASE_LOG_INTERNAL_H
#define KC_BASE_LOG_INTERNAL_H

#include "kc/buf.h"
#include "kc/log.h"

/* One message, with all that can be written of it. */
typedef struct kc__log_record {
    int64_t wall;
    kc_log_level level;
    int v;
    const char *name; /* NULL without one. */
    const char *msg;
    const char *file; /* NULL when the caller is not to be shown. */
    int line;
    kc_str bound;           /* The logger's own fields, as `fields` below wrote them. */
    const kc_field *fields; /* Up to the first without a key. */
} kc__log_record;

/* A format. To add one: write these two, and name it in kc_log_format and in log.c's table. */
typedef struct kc__log_formatter {
    /* Appends fields; what was appended for several calls may be joined. */
    void (*fields)(kc_buf *out, const kc_field *fields, bool colour);
    /* Appends the whole line, with its newline, which is the only one in it. */
    void (*line)(kc_buf *out, const kc__log_record *record, bool colour);
} kc__log_formatter;

extern const kc__log_formatter kc__log_console;
extern const kc__log_formatter kc__log_json;

/* How a format writes what may not stand in its text as it is. */
typedef struct kc__log_escapes {
    bool quoted; /* Between double quotes: those and the backslash are escaped. */
    /* Appends a byte that belongs to no character. */
    void (*invalid)(kc_buf *out, unsigned char byte);
    /* Appends a control or formatting character (never above U+FFFF). */
    void (*character)(kc_buf *out, uint32_t code_point);
} kc__log_escapes;

/* Appends text, escaped, and cut when it is too long. */
void kc__log_put_escaped(kc_buf *out, kc_str text, const kc__log_escapes *escapes);
/* True for text that would be written as it is, by any format. */
bool kc__log_is_plain(kc_str text);

/* "2025-11-17T08:30:00.123Z" */
void kc__log_put_time(kc_buf *out, int64_t wall);
/* "error", "warn", "info", "debug" */
const char *kc__log_level_text(kc_log_level level);

#endif
