/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c: errors of a compilation, with the line and column of their place.
 *
 * Columns count code points from 1, as cel-go displays them. An error without a place has line -1
 * and column 0. More than KC__CEL_ERRORS_MAX errors are counted, not kept.
 */
#include "cel/syntax/syntax_internal.h"

#include "kc/utf8.h"

#include <stdio.h>

static size_t rune_step(kc_str text, size_t at)
{
    size_t n = kc_utf8_next(kc_str_of(text.p + at, text.n - at), NULL);
    return n ? n : 1;
}

static void locate(kc_str text, uint32_t at, int *ret_line, int *ret_column)
{
    int line = 1, column = 1;
    for (size_t i = 0; i < at && i < text.n; i += rune_step(text, i)) {
        column++;
        if (text.p[i] == '\n') {
            line++;
            column = 1;
        }
    }
    *ret_line = line;
    *ret_column = column;
}

void kc__cel_report(kc__cel_source *source, uint32_t at, const char *fmt, ...)
{
    source->last_at = at;
    if (source->errors->items.n >= KC__CEL_ERRORS_MAX) {
        source->errors->left_off++;
        return;
    }
    kc_cel_error error = {.line = at == KC__CEL_INSTANTIATION ? 0 : -1};
    if (at < KC__CEL_INSTANTIATION)
        locate(source->text, at, &error.line, &error.column);
    if (error.line == 1 && !source->text.n)
        error.column = 0; /* As cel-go counts in an empty text. */
    kc_scoped(kc_buf) message = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&message, fmt, args);
    va_end(args);
    error.message = kc_buf_take(&message);
    kc_vec_push(&source->errors->items, error);
}

bool kc__cel_failed(const kc__cel_source *source)
{
    return source->errors->items.n > 0;
}

void kc_cel_errors_done(kc_cel_errors *errors)
{
    kc_vec_each (&errors->items, error)
        free(error->message);
    kc_vec_done(&errors->items);
    errors->left_off = 0;
}

static kc_str line_of(kc_str text, int line)
{
    kc_str rest = text, found = {0};
    for (int i = 0; i < line && rest.p; i++)
        found = kc_str_cut(&rest, '\n');
    return found;
}

/* A dot per character before the column and a caret at it; wide ones under characters beyond
 * ASCII. */
static void write_pointer(kc_str line, int column, kc_buf *out)
{
    size_t at = 0;
    for (int i = 1; i < column && at < line.n; i++) {
        size_t n = rune_step(line, at);
        kc_buf_puts(out, n > 1 ? "\uff0e" : ".");
        at += n;
    }
    kc_buf_puts(out, at < line.n && rune_step(line, at) > 1 ? "\uff3e" : "^");
}

static void write_error(const kc_cel_error *error, kc_str expression, kc_buf *out)
{
    enum { MAX_SNIPPET = 16384 };
    if (error->line == 0) { /* Not of the text: displayed without a place. */
        kc_buf_puts(out, error->message);
        return;
    }
    kc_buf_printf(out, "ERROR: <input>:%d:%d: %s", error->line, error->column, error->message);
    if (error->line < 1 || !expression.n)
        return;
    kc_str line = line_of(expression, error->line);
    if (line.n > MAX_SNIPPET)
        return;
    kc_buf_puts(out, "\n | ");
    for (size_t i = 0; i < line.n; i++)
        kc_buf_putc(out, line.p[i] == '\t' ? ' ' : line.p[i]);
    kc_buf_puts(out, "\n | ");
    write_pointer(line, error->column, out);
}

static int compare_errors(const void *a, const void *b)
{
    const kc_cel_error *const *x = a, *const *y = b;
    if ((*x)->line != (*y)->line)
        return (*x)->line < (*y)->line ? -1 : 1;
    if ((*x)->column != (*y)->column)
        return (*x)->column < (*y)->column ? -1 : 1;
    return (*x > *y) - (*x < *y); /* Stable: both are in one array. */
}

void kc_cel_errors_write(const kc_cel_errors *errors, kc_str expression, kc_buf *out)
{
    const kc_cel_error *sorted[KC__CEL_ERRORS_MAX];
    size_t n = KC_MIN(errors->items.n, (size_t)KC__CEL_ERRORS_MAX);
    for (size_t i = 0; i < n; i++)
        sorted[i] = &errors->items.items[i];
    qsort(sorted, n, sizeof(*sorted), compare_errors);
    for (size_t i = 0; i < n; i++) {
        if (i)
            kc_buf_putc(out, '\n');
        write_error(sorted[i], expression, out);
    }
    if (errors->left_off)
        kc_buf_printf(out, "\n%zu more errors were truncated", errors->left_off);
}
