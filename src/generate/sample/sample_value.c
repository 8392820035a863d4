/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_value.c: texts and numbers that satisfy a schema.
 *
 * A text is derived from its field's name (deploymentName → deployment-name), which is more useful
 * in a sample than "string", and lengthened or cut as the schema requires. A format gives its own
 * text; with a pattern that the name does not match, the text is generated from the pattern.
 * Patterns are checked with the code that the API server uses.
 *
 * To add a format: a row of `formats`.
 */
#include "generate/sample/sample_value.h"

#include "kc/ascii.h"
#include "kc/json.h"
#include "kc/schema.h"

#include <math.h>

enum { MAX_LENGTH = 1024 };

/* ---- pieces ---- */

kc_str kc__gen_sample_piece(const kc__gen_schema *schema, kc__gen_schema_piece piece)
{
    kc_str found = schema->pieces[piece];
    for (size_t i = 0; i < schema->n_all_of && !found.p; i++)
        found = kc__gen_sample_piece(schema->all_of[i], piece);
    return found;
}

static bool is_upper_limit(kc__gen_schema_piece piece)
{
    return piece == KC__GEN_SCHEMA_MAXIMUM || piece == KC__GEN_SCHEMA_MAX_LENGTH ||
           piece == KC__GEN_SCHEMA_MAX_ITEMS || piece == KC__GEN_SCHEMA_MAX_PROPERTIES;
}

bool kc__gen_sample_limit(const kc__gen_schema *schema, kc__gen_schema_piece piece, double *ret)
{
    kc_auto(kc_view) *view = kc_view_parse(schema->pieces[piece], NULL, NULL);
    double narrowest = 0, other = 0;
    bool found = view && kc_value_as_f64(kc_view_root(view), &narrowest);
    for (size_t i = 0; i < schema->n_all_of; i++) {
        if (!kc__gen_sample_limit(schema->all_of[i], piece, &other))
            continue;
        if (!found || (is_upper_limit(piece) ? other < narrowest : other > narrowest))
            narrowest = other;
        found = true;
    }
    if (found)
        *ret = narrowest;
    return found;
}

size_t kc__gen_sample_count(const kc__gen_schema *schema, kc__gen_schema_piece piece, size_t most)
{
    double count = 0;
    kc__gen_sample_limit(schema, piece, &count);
    return count <= 0 ? 0 : count >= (double)most ? most : (size_t)count;
}

/* ---- texts ---- */

static const struct gen_sample_value_format {
    const char *name, *text;
} formats[] = {
    {"byte", "c2FtcGxl"},
    {"cidr", "192.0.2.0/24"},
    {"creditcard", "4111111111111111"},
    {"bsonobjectid", "507f1f77bcf86cd799439011"},
    {"date", "2025-01-31"},
    {"date-time", "2025-01-31T12:00:00Z"},
    {"datetime", "2025-01-31T12:00:00Z"},
    {"duration", "1m"},
    {"email", "robot@example.com"},
    {"hexcolor", "#336699"},
    {"hostname", "example.com"},
    {"ipv4", "192.0.2.1"},
    {"ipv6", "2001:db8::1"},
    {"isbn", "978-0-13-110362-7"},
    {"isbn10", "0-13-110362-8"},
    {"isbn13", "978-0-13-110362-7"},
    {"mac", "00:00:5e:00:53:01"},
    {"rgbcolor", "rgb(51,102,153)"},
    {"ssn", "111-11-1111"},
    {"uri", "https://example.com"},
    {"uuid", "a3bb189e-8bf9-4888-9912-ace4e6543002"},
    {"uuid3", "a3bb189e-8bf9-3888-9912-ace4e6543002"},
    {"uuid4", "a3bb189e-8bf9-4888-9912-ace4e6543002"},
    {"uuid5", "a3bb189e-8bf9-5888-9912-ace4e6543002"},
};

static const char *text_of_format(kc_str json)
{
    for (size_t i = 0; i < KC_COUNT(formats); i++)
        if (json.n > 2 && kc_str_is(kc_str_sub(json, 1, json.n - 1), formats[i].name))
            return formats[i].text;
    return NULL;
}

/* deploymentName → deployment-name; the second is deployment-name-2. */
static void name_text(kc_str name, size_t nth, kc_buf *out)
{
    for (size_t i = 0; i < name.n; i++) {
        const char c = name.p[i];
        const bool upper = c >= 'A' && c <= 'Z';
        const bool after_lower = i > 0 && !(name.p[i - 1] >= 'A' && name.p[i - 1] <= 'Z');
        if (upper && after_lower)
            kc_buf_putc(out, '-');
        kc_buf_putc(out, kc_lower(c));
    }
    if (nth)
        kc_buf_printf(out, "-%zu", nth + 1);
}

/* Adapts the length; changes the front if the end distinguishes several values. */
static void fit_length(const kc__gen_schema *schema, size_t nth, kc_buf *text)
{
    double most = MAX_LENGTH;
    const size_t least = kc__gen_sample_count(schema, KC__GEN_SCHEMA_MIN_LENGTH, MAX_LENGTH);
    while (text->n < least)
        kc_buf_putc(text, 'a');
    if (kc__gen_sample_limit(schema, KC__GEN_SCHEMA_MAX_LENGTH, &most) && most >= 0 &&
        (double)text->n > most) {
        const size_t cut = text->n - (size_t)most;
        if (nth)
            memmove(text->p, text->p + cut, text->n - cut);
        text->n -= cut;
    }
}

static bool is_allowed(const kc_schema *compiled, const kc_buf *text)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_buf) json = {0};
    kc_json_quote(&json, kc_buf_str(text));
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&json), NULL, NULL);
    return view && kc_schema_validate(compiled, kc_view_root(view), NULL, &errors);
}

static kc_schema *gen_sample_value_compile(const kc__gen_schema *schema)
{
    kc_scoped(kc_buf) json = {0};
    kc__gen_schema_write(schema, &json);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&json), NULL, NULL);
    return view ? kc_schema_compile(kc_view_root(view), NULL, NULL) : NULL;
}

/* Replaces a text that does not match by one generated from the pattern, if possible. */
static void fit_pattern(const kc__gen_schema *schema, size_t nth, kc_buf *text)
{
    const size_t least = kc__gen_sample_count(schema, KC__GEN_SCHEMA_MIN_LENGTH, MAX_LENGTH);
    const size_t more[] = {0, 1, 2, 3, 7, least};
    kc_auto(kc_view) *pattern =
        kc_view_parse(kc__gen_sample_piece(schema, KC__GEN_SCHEMA_PATTERN), NULL, NULL);
    kc_auto(kc_schema) *compiled = pattern ? gen_sample_value_compile(schema) : NULL;
    if (!compiled || is_allowed(compiled, text))
        return;
    for (size_t i = 0; i < KC_COUNT(more); i++) {
        kc_scoped(kc_buf) made = {0};
        if (!kc__gen_sample_pattern(kc_value_as_str(kc_view_root(pattern)), more[i], nth, &made) ||
            !is_allowed(compiled, &made))
            continue;
        kc_buf_clear(text);
        kc_buf_append(text, kc_buf_str(&made));
        return;
    }
}

void kc__gen_sample_text(const kc__gen_schema *schema, kc_str name, size_t nth, kc_buf *out)
{
    kc_scoped(kc_buf) text = {0};
    const char *of_format = text_of_format(kc__gen_sample_piece(schema, KC__GEN_SCHEMA_FORMAT));
    if (of_format) {
        kc_buf_puts(&text, of_format);
    } else {
        name_text(name, nth, &text);
        fit_length(schema, nth, &text);
    }
    fit_pattern(schema, nth, &text);
    kc_json_quote(out, kc_buf_str(&text));
}

/* ---- numbers ---- */

static bool gen_sample_value_is_true(const kc__gen_schema *schema, kc__gen_schema_piece piece)
{
    return kc_str_is(kc__gen_sample_piece(schema, piece), "true");
}

/* 1 if it is allowed, else the nearest limit. */
static double number(const kc__gen_schema *schema, double step, bool integer)
{
    double least = -HUGE_VAL, most = HUGE_VAL;
    kc__gen_sample_limit(schema, KC__GEN_SCHEMA_MINIMUM, &least);
    kc__gen_sample_limit(schema, KC__GEN_SCHEMA_MAXIMUM, &most);
    const bool above = gen_sample_value_is_true(schema, KC__GEN_SCHEMA_EXCLUSIVE_MINIMUM);
    const bool below = gen_sample_value_is_true(schema, KC__GEN_SCHEMA_EXCLUSIVE_MAXIMUM);
    double value = 1;
    if (value < least || (above && value <= least))
        value = least + (above ? step : 0);
    value = ceil(value / step) * step;
    if (value > most || (below && value >= most))
        value = floor((most - (below ? step : 0)) / step) * step;
    if (!integer && (value < least || (above && value <= least)))
        value = (least + most) / 2;
    return value;
}

void kc__gen_sample_number(const kc__gen_schema *schema, size_t nth, kc_buf *out)
{
    const bool integer =
        !kc_str_is(kc__gen_sample_piece(schema, KC__GEN_SCHEMA_TYPE), "\"number\"");
    double step = 1;
    if (!kc__gen_sample_limit(schema, KC__GEN_SCHEMA_MULTIPLE_OF, &step) || step <= 0)
        step = 1;
    kc_json_write_double(out, number(schema, step, integer) + (double)nth * step);
}
