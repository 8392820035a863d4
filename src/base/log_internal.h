/* SPDX-License-Identifier: Apache-2.0 */
/* log_internal.h: the interface between the logger (log.c) and its formats (log_console.c,
 * log_json.c). */
#ifndef KC_BASE_LOG_INTERNAL_H
#define KC_BASE_LOG_INTERNAL_H

#include "kc/buf.h"
#include "kc/log.h"

/* One message with all its attributes. */
typedef struct kc__log_record {
    int64_t wall;
    kc_log_level level;
    int v;
    const char *name; /* NULL without one. */
    const char *msg;
    const char *file; /* NULL when the caller is not shown. */
    int line;
    kc_str bound;           /* The logger's own fields, as formatted by `fields` below. */
    const kc_field *fields; /* Ended by a field without a key. */
} kc__log_record;

/* A format. To add one: implement these two functions, and add it to kc_log_format and to the table
 * in log.c. */
typedef struct kc__log_formatter {
    /* Appends fields; the output of several calls may be concatenated. */
    void (*fields)(kc_buf *out, const kc_field *fields, bool colour);
    /* Appends the whole line, with its newline, which is the only one in it. */
    void (*line)(kc_buf *out, const kc__log_record *record, bool colour);
} kc__log_formatter;

extern const kc__log_formatter kc__log_console;
extern const kc__log_formatter kc__log_json;

/* How a format escapes characters. */
typedef struct kc__log_escapes {
    bool quoted; /* Text is in double quotes: escape those and the backslash. */
    /* Appends a byte that is not part of a valid character. */
    void (*invalid)(kc_buf *out, unsigned char byte);
    /* Appends a control or formatting character (never above U+FFFF). */
    void (*character)(kc_buf *out, uint32_t code_point);
} kc__log_escapes;

/* Appends text, escaped, and truncated when it is too long. */
void kc__log_append_escaped(kc_buf *out, kc_str text, const kc__log_escapes *escapes);
/* True for text that no format needs to escape. */
bool kc__log_is_plain(kc_str text);

/* "2025-11-17T08:30:00.123Z" */
void kc__log_append_time(kc_buf *out, int64_t wall);
/* "error", "warn", "info", "debug" */
const char *kc__log_level_text(kc_log_level level);

#endif
