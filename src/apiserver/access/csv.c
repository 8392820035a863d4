/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.c: comma-separated values, as Go's encoding/csv reads them.
 *
 * One pass, in place: what is written (an unescaped quoted field) never overtakes what is read.
 * Fields are slices of the text, so nothing is allocated and nothing can be too long but the text
 * itself, which the caller limits.
 */
#include "apiserver/access/csv.h"

/* At the end of a line, or of the text? How many bytes does that end have? */
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
            return kc_error_set(err, KC_INVALID,
                                "line %zu: a quote stands in a field that does not begin with one",
                                csv->line + 1);
    *ret = kc_str_of(from, (size_t)(csv->at - from));
    return 0;
}

/* Behind the opening quote, up to behind the closing one, with "" as one quote and a line's end as
 * one '\n'. False when there is no closing one. */
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
        return kc_error_set(err, KC_INVALID, "line %zu: the quote that opens a field is not closed",
                            opened + 1);
    if (!field_ends(csv))
        return kc_error_set(err, KC_INVALID, "line %zu: text follows the quote that closes a field",
                            csv->line + 1);
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
