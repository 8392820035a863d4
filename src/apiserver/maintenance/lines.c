/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.c: reads lines of bounded length and parses them. The file may come from anywhere, so a
 * line is never longer in memory than a value may be (tests/fuzz/maintenance_lines.c).
 */
#include "apiserver/maintenance/lines.h"

#include "apiserver/storage/storage.h"

#include <errno.h>

void kc__maintenance_lines_done(kc__maintenance_lines *lines)
{
    kc_buf_done(&lines->text);
}

static int line_failed(const kc__maintenance_lines *lines, kc_error *err)
{
    return kc_error_wrap(err, "line %zu", lines->number);
}

/* Reads up to the next newline or the end. */
static int read_line_text(kc__maintenance_lines *lines, bool *ret_end, kc_error *err)
{
    int c = 0;
    kc_buf_clear(&lines->text);
    while ((c = getc(lines->in)) != EOF && c != '\n') {
        if (lines->text.n == KC__STORAGE_MAX_VALUE)
            return kc_error_set(err, KC_TOO_LARGE, "the object is longer than 16 MiB");
        kc_buf_putc(&lines->text, (char)c);
    }
    if (c == EOF && ferror(lines->in))
        return kc_error_set(err, KC_BAD_REQUEST, "cannot read: %s", strerror(errno));
    *ret_end = c == EOF;
    return 0;
}

static kc_object *parse_line(const kc__maintenance_lines *lines, kc_error *err)
{
    kc_scoped(kc_paths) twice = {0};
    const kc_json_opts opts = {.max_bytes = KC__STORAGE_MAX_VALUE, .duplicates = &twice};
    kc_auto(kc_object) *object = kc_object_parse(kc_buf_str(&lines->text), &opts, err);
    if (object && !twice.n)
        return kc_take(object);
    if (object)
        kc_error_set(err, KC_INVALID, "the member \"%s\" occurs twice", twice.items[0]);
    line_failed(lines, err);
    return NULL;
}

kc_object *kc__maintenance_lines_next(kc__maintenance_lines *lines, bool *ret_end, kc_error *err)
{
    bool last = false;
    *ret_end = false;
    while (!last) {
        lines->number++;
        if (read_line_text(lines, &last, err) < 0) {
            line_failed(lines, err);
            return NULL;
        }
        if (kc_str_trim(kc_buf_str(&lines->text)).n)
            return parse_line(lines, err);
    }
    *ret_end = true;
    return NULL;
}
