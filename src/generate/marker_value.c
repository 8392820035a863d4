/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marker_value.c: reads a marker's values, into JSON.
 *
 *     text      bare up to ',', ';' or '}', or in "quotes" or `backticks`
 *     number    -1, 0.5          bool   true, false
 *     list      a;b;c or {a, b, c}
 *     map       {key: value, "another key": {1, 2}}
 *
 * JSON is what everything ends as, so a value is written as JSON while it is read. Nothing here
 * knows which markers there are; nothing allocates but the two buffers. Braces may be nested
 * MAX_DEPTH deep.
 */
#include "generate/marker_scan.h"

#include "kc/json.h"

enum { MAX_DEPTH = 64 };

/* One value being read. */
typedef struct reader {
    kc__marker_scan *scan;
    kc_buf *json;
    kc_error *err;
    unsigned depth;
} reader;

void kc__marker_read_done(kc__marker_read *read)
{
    kc_buf_done(&read->text);
    kc_buf_done(&read->json);
}

static int fail(const reader *r, const char *wanted, kc_str got)
{
    if (!got.n)
        return kc_error_set(r->err, KC_INVALID, "%s is expected at its end", wanted);
    return kc_error_set(r->err, KC_INVALID, "%s is expected, not '%.*s'", wanted, KC_ARG(got));
}

/* ---- scalars ---- */

static bool ends_text(char c, bool key)
{
    return c == ',' || c == ';' || c == '}' || c == 0 || (key && c == ':');
}

/* Into `out`, as text. A bare one runs to the next delimiter; strings inside it hide theirs. */
static int read_text(const reader *r, bool key, kc_buf *out, bool *ret_quoted)
{
    kc_str word;
    kc__marker_token token = kc__marker_scan_token(r->scan, false, &word);
    size_t end = r->scan->at;
    const size_t from = end - word.n;
    *ret_quoted = token == KC__TOKEN_STRING || token == KC__TOKEN_RAW;
    if (*ret_quoted)
        return kc__marker_unquote(word, out)
                   ? 0
                   : kc_error_set(r->err, KC_INVALID, "%.*s has an escape that there is not",
                                  KC_ARG(word));
    if (token == KC__TOKEN_END)
        return fail(r, "a text", word);
    while (token != KC__TOKEN_BAD && !ends_text(kc__marker_peek(r->scan), key)) {
        token = kc__marker_scan_token(r->scan, false, &word);
        end = r->scan->at;
    }
    if (token == KC__TOKEN_BAD)
        return kc_error_set(r->err, KC_INVALID, "%.*s has no closing quote", KC_ARG(word));
    kc_buf_append(out, kc_str_sub(r->scan->text, from, end));
    return 0;
}

static int json_text(const reader *r, bool key)
{
    kc_scoped(kc_buf) text = {0};
    bool quoted;
    if (read_text(r, key, &text, &quoted) < 0)
        return -1;
    kc_json_quote(r->json, kc_buf_str(&text));
    return 0;
}

static int json_bool(const reader *r)
{
    kc_str word;
    kc__marker_scan_token(r->scan, true, &word);
    if (!kc_str_is(word, "true") && !kc_str_is(word, "false"))
        return fail(r, "true or false", word);
    kc_buf_append(r->json, word);
    return 0;
}

static int json_number(const reader *r, bool whole)
{
    kc_str word;
    const bool minus = kc__marker_peek(r->scan) == '-';
    r->scan->at += minus;
    const kc__marker_token token = kc__marker_scan_token(r->scan, true, &word);
    if (token != KC__TOKEN_INT && (whole || token != KC__TOKEN_FLOAT))
        return fail(r, whole ? "a whole number" : "a number", word);
    kc_autofree char *text = kc_asprintf("%s%.*s", minus ? "-" : "", KC_ARG(word));
    int64_t number;
    if (!whole) {
        const double value = strtod(text, NULL);
        if (value - value != 0)
            return kc_error_set(r->err, KC_INVALID, "%s is too large", text);
        kc_json_write_double(r->json, value);
        return 0;
    }
    if (!kc_str_to_i64(kc_cstr(text), &number))
        return kc_error_set(r->err, KC_INVALID, "%s is too large", text);
    kc_buf_printf(r->json, "%lld", (long long)number);
    return 0;
}

/* ---- lists and maps ---- */

static int json_any(reader *r, bool in_list);

static int json_guessed(reader *r, int kind);

/* An item of a list whose items are guessed one by one, or all by the first. */
static int json_item(reader *r, const kc__marker_guess *list, bool guess_each)
{
    if (guess_each)
        return json_any(r, true);
    return json_guessed(r, list->item);
}

static int expect(const reader *r, char sign)
{
    kc_str word = {0};
    if (kc__marker_peek(r->scan) == sign) {
        r->scan->at++;
        return 0;
    }
    kc__marker_scan_token(r->scan, true, &word);
    return fail(r, (char[]){'\'', sign, '\'', 0}, word);
}

static int json_braced_list(reader *r, const kc__marker_guess *list, bool guess_each)
{
    const char *comma = "";
    r->scan->at++;
    while (kc__marker_peek(r->scan) != '}' && kc__marker_peek(r->scan)) {
        kc_buf_puts(r->json, comma);
        comma = ",";
        kc__marker_guess inner = {list->kind, list->depth - 1, list->item};
        const int read =
            !guess_each && list->depth > 1
                ? (kc__marker_peek(r->scan) == '{'
                       ? (kc_buf_putc(r->json, '['), json_braced_list(r, &inner, false))
                       : fail(r, "'{'", kc_str_sub(r->scan->text, r->scan->at, r->scan->at + 1)))
                : json_item(r, list, guess_each);
        if (read < 0)
            return -1;
        if (kc__marker_peek(r->scan) == '}')
            break;
        if (expect(r, ',') < 0)
            return -1;
    }
    kc_buf_putc(r->json, ']');
    return expect(r, '}');
}

static int json_bare_list(reader *r, const kc__marker_guess *list, bool guess_each)
{
    const char *comma = "";
    for (char c = kc__marker_peek(r->scan); c && c != ',' && c != '}';) {
        kc_buf_puts(r->json, comma);
        comma = ",";
        if (json_item(r, list, guess_each) < 0)
            return -1;
        c = kc__marker_peek(r->scan);
        if (c == ',' || c == '}' || !c)
            break;
        if (expect(r, ';') < 0)
            return -1;
        c = kc__marker_peek(r->scan);
    }
    kc_buf_putc(r->json, ']');
    return 0;
}

static int json_list(reader *r, const kc__marker_guess *list, bool guess_each)
{
    if (++r->depth > MAX_DEPTH)
        return kc_error_set(r->err, KC_INVALID, "it is nested more than %d deep", MAX_DEPTH);
    kc_buf_putc(r->json, '[');
    const int read = kc__marker_peek(r->scan) == '{' ? json_braced_list(r, list, guess_each)
                                                     : json_bare_list(r, list, guess_each);
    r->depth--;
    return read;
}

static int json_map(reader *r)
{
    const char *comma = "";
    if (++r->depth > MAX_DEPTH)
        return kc_error_set(r->err, KC_INVALID, "it is nested more than %d deep", MAX_DEPTH);
    if (expect(r, '{') < 0)
        return -1;
    kc_buf_putc(r->json, '{');
    while (kc__marker_peek(r->scan) != '}' && kc__marker_peek(r->scan)) {
        kc_buf_puts(r->json, comma);
        comma = ",";
        if (json_text(r, true) < 0 || expect(r, ':') < 0)
            return -1;
        kc_buf_putc(r->json, ':');
        if (json_any(r, false) < 0)
            return -1;
        if (kc__marker_peek(r->scan) == '}')
            break;
        if (expect(r, ',') < 0)
            return -1;
    }
    kc_buf_putc(r->json, '}');
    r->depth--;
    return expect(r, '}');
}

static int json_guessed(reader *r, int kind)
{
    switch (kind) {
    case KC__GUESS_BOOL: return json_bool(r);
    case KC__GUESS_INT: return json_number(r, true);
    case KC__GUESS_NUMBER: return json_number(r, false);
    case KC__GUESS_MAP: return json_map(r);
    default: return json_text(r, false);
    }
}

static int json_any(reader *r, bool in_list)
{
    const kc__marker_guess guess = kc__marker_guess_type(*r->scan, !in_list);
    return guess.kind == KC__GUESS_LIST ? json_list(r, &guess, false)
                                        : json_guessed(r, (int)guess.kind);
}

/* ---- values ---- */

static int json_of_type(reader *r, kc__marker_type type)
{
    const kc__marker_guess texts = {KC__GUESS_LIST, 1, KC__GUESS_STRING};
    switch (type) {
    case KC__MARKER_BOOL: return json_bool(r);
    case KC__MARKER_INT: return json_number(r, true);
    case KC__MARKER_NUMBER: return json_number(r, false);
    case KC__MARKER_STRINGS: return json_list(r, &texts, false);
    case KC__MARKER_ANYS: return json_list(r, &texts, true);
    default: return json_any(r, false);
    }
}

static int read_json(kc__marker_scan *scan, kc__marker_read *into, kc_error *err)
{
    const kc_str text = kc_str_trim(kc_str_sub(scan->text, scan->at, scan->text.n));
    scan->at = scan->text.n;
    kc_buf_append(&into->text, text);
    if (kc_str_starts(text, KC_STR("ref(")))
        return 0;
    kc_auto(kc_view) *view = kc_view_parse(text, NULL, err);
    if (!view)
        return kc_error_wrap(err, "it is not JSON");
    kc_json_write(&into->json, kc_view_root(view));
    return 0;
}

static void read_rest(kc__marker_scan *scan, kc__marker_read *into)
{
    kc_buf_append(&into->text, kc_str_sub(scan->text, scan->at, scan->text.n));
    kc_json_quote(&into->json, kc_buf_str(&into->text));
    scan->at = scan->text.n;
}

int kc__marker_value(kc__marker_scan *scan, kc__marker_type type, kc__marker_read *into,
                     kc_error *err)
{
    reader r = {.scan = scan, .json = &into->json, .err = err};
    if (type == KC__MARKER_JSON)
        return read_json(scan, into, err);
    if (type == KC__MARKER_REST) {
        read_rest(scan, into);
        return 0;
    }
    if (type == KC__MARKER_STRING) {
        if (read_text(&r, false, &into->text, &into->quoted) < 0)
            return -1;
        kc_json_quote(&into->json, kc_buf_str(&into->text));
        return 0;
    }
    const char first = kc__marker_peek(scan);
    const size_t from = scan->at;
    if (json_of_type(&r, type) < 0)
        return -1;
    into->quoted = first == '"' || first == '`';
    kc_buf_append(&into->text, kc_str_trim(kc_str_sub(scan->text, from, scan->at)));
    return 0;
}
