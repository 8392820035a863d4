/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.c: comma-separated values, as Go's encoding/csv reads them.
 *
 * One pass, in place: the write position (an unescaped quoted field) never overtakes the read
 * position. Fields are slices of the text, so nothing is allocated, and only the length of the
 * text, which the caller limits, is bounded.
 */
#include "apiserver/access/csv.h"

/* The length of a line ending at the current position; 0: none. */
static size_t line_end(const kc__csv *csv)
{
    const size_t left = (size_t)(csv->end - csv->at);
    if (left >= 1 && csv->at[0] == '\n')
        return 1;
    return left >= 2 && csv->at[0] == '\r' && csv->at[1] == '\n' ? 2 : 0;
}

static bool field_ends(const kc__csv *csv)
{
    return csv->at == csv->end || *csv->at == ',' || line_end(csv);
}

static int plain_field(kc__csv *csv, kc_str *ret, kc_error *err)
{
    char *from = csv->at;
    for (; !field_ends(csv); csv->at++)
        if (*csv->at == '"')
            return kc_error_set(err, KC_INVALID, "line %zu: quote in an unquoted field",
                                csv->line + 1);
    *ret = kc_str_of(from, (size_t)(csv->at - from));
    return 0;
}

/* Unescapes from after the opening quote to after the closing one: "" becomes one quote, a line
 * ending becomes one '\n'. False if there is no closing quote. */
static bool unescape(kc__csv *csv, kc_str *ret)
{
    char *from = csv->at, *to = csv->at;
    for (; csv->at < csv->end; csv->at++) {
        if (*csv->at == '"' && (++csv->at == csv->end || *csv->at != '"')) {
            *ret = kc_str_of(from, (size_t)(to - from));
            return true;
        }
        if (line_end(csv)) {
            csv->at += line_end(csv) - 1;
            csv->line++;
        }
        *to++ = *csv->at;
    }
    return false;
}

static int quoted_field(kc__csv *csv, kc_str *ret, kc_error *err)
{
    const size_t opened = csv->line;
    if (!unescape(csv, ret))
        return kc_error_set(err, KC_INVALID, "line %zu: unterminated quoted field", opened + 1);
    if (!field_ends(csv))
        return kc_error_set(err, KC_INVALID, "line %zu: text after a closing quote", csv->line + 1);
    return 0;
}

static int next_field(kc__csv *csv, kc_str *ret, kc_error *err)
{
    if (csv->at == csv->end || *csv->at != '"')
        return plain_field(csv, ret, err);
    csv->at++;
    return quoted_field(csv, ret, err);
}

static void skip_line_end(kc__csv *csv)
{
    const size_t n = line_end(csv);
    csv->at += n;
    csv->line += n > 0;
}

int kc__csv_next(kc__csv *csv, kc__csv_record *ret, kc_error *err)
{
    while (line_end(csv))
        skip_line_end(csv);
    if (csv->at == csv->end)
        return 0;
    kc__csv_record record = {.line = csv->line + 1};
    for (;;) {
        kc_str field = {0};
        const int failed = next_field(csv, &field, err);
        if (failed)
            return failed;
        if (record.n < KC__CSV_FIELDS)
            record.fields[record.n] = field;
        record.n++;
        if (csv->at == csv->end || *csv->at != ',')
            break;
        csv->at++;
    }
    skip_line_end(csv);
    *ret = record;
    return 1;
}
