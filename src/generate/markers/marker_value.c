/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marker_value.c: parses a marker's values into JSON.
 *
 *     text      bare up to ',', ';' or '}', or in "quotes" or `backticks`
 *     number    -1, 0.5          bool   true, false
 *     list      a;b;c or {a, b, c}
 *     map       {key: value, "another key": {1, 2}}
 *
 * All values end as JSON, so the parser writes JSON directly. It does not know the markers and
 * allocates only the two buffers. Braces may be nested MAX_DEPTH deep.
 */
#include "generate/markers/scan.h"

#include "kc/json.h"

enum { MAX_DEPTH = 64 };

/* One value being parsed. */
typedef struct gen_marker_value_reader {
    kc__gen_marker_scan *scan;
    kc_buf *json;
    kc_error *err;
    unsigned depth;
} gen_marker_value_reader;

void kc__gen_marker_read_done(kc__gen_marker_read *read)
{
    kc_buf_done(&read->text);
    kc_buf_done(&read->json);
}

static int gen_marker_value_fail(const gen_marker_value_reader *r, const char *wanted, kc_str got)
{
    if (!got.n)
        return kc_error_set(r->err, KC_INVALID, "expected %s at the end", wanted);
    return kc_error_set(r->err, KC_INVALID, "expected %s, not '%.*s'", wanted, KC_ARG(got));
}

/* ---- scalars ---- */

static bool ends_text(char c, bool key)
{
    return c == ',' || c == ';' || c == '}' || c == 0 || (key && c == ':');
}

/* Into `out`, as text. A bare text ends at the next delimiter outside of quotes. */
static int gen_marker_value_read_text(const gen_marker_value_reader *r, bool key, kc_buf *out,
                                      bool *ret_quoted)
{
    kc_str word;
    kc__gen_marker_token token = kc__gen_marker_scan_token(r->scan, false, &word);
    size_t end = r->scan->at;
    const size_t from = end - word.n;
    *ret_quoted = token == KC__GEN_TOKEN_STRING || token == KC__GEN_TOKEN_RAW;
    if (*ret_quoted)
        return kc__gen_marker_unquote(word, out)
                   ? 0
                   : kc_error_set(r->err, KC_INVALID, "%.*s has an unknown escape", KC_ARG(word));
    if (token == KC__GEN_TOKEN_END)
        return gen_marker_value_fail(r, "a text", word);
    while (token != KC__GEN_TOKEN_BAD && !ends_text(kc__gen_marker_peek(r->scan), key)) {
        token = kc__gen_marker_scan_token(r->scan, false, &word);
        end = r->scan->at;
    }
    if (token == KC__GEN_TOKEN_BAD)
        return kc_error_set(r->err, KC_INVALID, "%.*s has no closing quote", KC_ARG(word));
    kc_buf_append(out, kc_str_sub(r->scan->text, from, end));
    return 0;
}

static int json_text(const gen_marker_value_reader *r, bool key)
{
    kc_scoped(kc_buf) text = {0};
    bool quoted;
    if (gen_marker_value_read_text(r, key, &text, &quoted) < 0)
        return -1;
    kc_json_quote(r->json, kc_buf_str(&text));
    return 0;
}

static int json_bool(const gen_marker_value_reader *r)
{
    kc_str word;
    kc__gen_marker_scan_token(r->scan, true, &word);
    if (!kc_str_is(word, "true") && !kc_str_is(word, "false"))
        return gen_marker_value_fail(r, "true or false", word);
    kc_buf_append(r->json, word);
    return 0;
}

static int json_number(const gen_marker_value_reader *r, bool integer)
{
    kc_str word;
    const bool minus = kc__gen_marker_peek(r->scan) == '-';
    r->scan->at += minus;
    const kc__gen_marker_token token = kc__gen_marker_scan_token(r->scan, true, &word);
    if (token != KC__GEN_TOKEN_INT && (integer || token != KC__GEN_TOKEN_FLOAT))
        return gen_marker_value_fail(r, integer ? "an integer" : "a number", word);
    kc_autofree char *text = kc_asprintf("%s%.*s", minus ? "-" : "", KC_ARG(word));
    int64_t number;
    if (!integer) {
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

static int json_any(gen_marker_value_reader *r, bool in_list);

static int json_guessed(gen_marker_value_reader *r, int kind);

/* An item of a list whose items are guessed one by one, or all by the first. */
static int json_item(gen_marker_value_reader *r, const kc__gen_marker_guess *list, bool guess_each)
{
    if (guess_each)
        return json_any(r, true);
    return json_guessed(r, list->item);
}

static int expect(const gen_marker_value_reader *r, char sign)
{
    kc_str word = {0};
    if (kc__gen_marker_peek(r->scan) == sign) {
        r->scan->at++;
        return 0;
    }
    kc__gen_marker_scan_token(r->scan, true, &word);
    return gen_marker_value_fail(r, (char[]){'\'', sign, '\'', 0}, word);
}

static int json_braced_list(gen_marker_value_reader *r, const kc__gen_marker_guess *list,
                            bool guess_each);

/* An item of a list in braces: a nested list if the guess says so. */
static int json_inner(gen_marker_value_reader *r, const kc__gen_marker_guess *list, bool guess_each)
{
    const kc__gen_marker_guess inner = {list->kind, list->depth - 1, list->item};
    if (guess_each || list->depth <= 1)
        return json_item(r, list, guess_each);
    if (kc__gen_marker_peek(r->scan) != '{')
        return expect(r, '{');
    kc_buf_putc(r->json, '[');
    return json_braced_list(r, &inner, false);
}

static int json_braced_list(gen_marker_value_reader *r, const kc__gen_marker_guess *list,
                            bool guess_each)
{
    const char *comma = "";
    r->scan->at++;
    while (kc__gen_marker_peek(r->scan) != '}' && kc__gen_marker_peek(r->scan)) {
        kc_buf_puts(r->json, comma);
        comma = ",";
        if (json_inner(r, list, guess_each) < 0)
            return -1;
        if (kc__gen_marker_peek(r->scan) == '}' || !kc__gen_marker_peek(r->scan))
            break;
        if (expect(r, ',') < 0)
            return -1;
    }
    kc_buf_putc(r->json, ']');
    return expect(r, '}');
}

static int json_bare_list(gen_marker_value_reader *r, const kc__gen_marker_guess *list,
                          bool guess_each)
{
    const char *comma = "";
    for (char c = kc__gen_marker_peek(r->scan); c && c != ',' && c != '}';) {
        kc_buf_puts(r->json, comma);
        comma = ",";
        if (json_item(r, list, guess_each) < 0)
            return -1;
        c = kc__gen_marker_peek(r->scan);
        if (c == ',' || c == '}' || !c)
            break;
        if (expect(r, ';') < 0)
            return -1;
        c = kc__gen_marker_peek(r->scan);
    }
    kc_buf_putc(r->json, ']');
    return 0;
}

static int json_list(gen_marker_value_reader *r, const kc__gen_marker_guess *list, bool guess_each)
{
    if (++r->depth > MAX_DEPTH)
        return kc_error_set(r->err, KC_INVALID, "nested more than %d deep", MAX_DEPTH);
    kc_buf_putc(r->json, '[');
    const int read = kc__gen_marker_peek(r->scan) == '{' ? json_braced_list(r, list, guess_each)
                                                         : json_bare_list(r, list, guess_each);
    r->depth--;
    return read;
}

static int json_map(gen_marker_value_reader *r)
{
    const char *comma = "";
    if (++r->depth > MAX_DEPTH)
        return kc_error_set(r->err, KC_INVALID, "nested more than %d deep", MAX_DEPTH);
    if (expect(r, '{') < 0)
        return kc_error_result(r->err);
    kc_buf_putc(r->json, '{');
    while (kc__gen_marker_peek(r->scan) != '}' && kc__gen_marker_peek(r->scan)) {
        kc_buf_puts(r->json, comma);
        comma = ",";
        if (json_text(r, true) < 0 || expect(r, ':') < 0)
            return kc_error_result(r->err);
        kc_buf_putc(r->json, ':');
        if (json_any(r, false) < 0)
            return kc_error_result(r->err);
        if (kc__gen_marker_peek(r->scan) == '}' || !kc__gen_marker_peek(r->scan))
            break;
        if (expect(r, ',') < 0)
            return kc_error_result(r->err);
    }
    kc_buf_putc(r->json, '}');
    r->depth--;
    return expect(r, '}');
}

static int json_guessed(gen_marker_value_reader *r, int kind)
{
    switch (kind) {
    case KC__GEN_GUESS_BOOL: return json_bool(r);
    case KC__GEN_GUESS_INT: return json_number(r, true);
    case KC__GEN_GUESS_NUMBER: return json_number(r, false);
    case KC__GEN_GUESS_MAP: return json_map(r);
    default: return json_text(r, false);
    }
}

static int json_any(gen_marker_value_reader *r, bool in_list)
{
    const kc__gen_marker_guess guess = kc__gen_marker_guess_type(*r->scan, !in_list);
    return guess.kind == KC__GEN_GUESS_LIST ? json_list(r, &guess, false)
                                            : json_guessed(r, (int)guess.kind);
}

/* ---- values ---- */

static int json_of_type(gen_marker_value_reader *r, kc__gen_marker_type type)
{
    const kc__gen_marker_guess texts = {KC__GEN_GUESS_LIST, 1, KC__GEN_GUESS_STRING};
    switch (type) {
    case KC__GEN_MARKER_BOOL: return json_bool(r);
    case KC__GEN_MARKER_INT: return json_number(r, true);
    case KC__GEN_MARKER_NUMBER: return json_number(r, false);
    case KC__GEN_MARKER_STRINGS: return json_list(r, &texts, false);
    case KC__GEN_MARKER_ANYS: return json_list(r, &texts, true);
    default: return json_any(r, false);
    }
}

static int gen_marker_value_read_json(kc__gen_marker_scan *scan, kc__gen_marker_read *into,
                                      kc_error *err)
{
    const kc_str text = kc_str_trim(kc_str_sub(scan->text, scan->at, scan->text.n));
    scan->at = scan->text.n;
    kc_buf_append(&into->text, text);
    if (kc_str_starts(text, KC_STR("ref(")))
        return 0;
    kc_auto(kc_view) *view = kc_view_parse(text, NULL, err);
    if (!view)
        return kc_error_wrap(err, "not valid JSON");
    kc_json_write(&into->json, kc_view_root(view));
    return 0;
}

static void read_rest(kc__gen_marker_scan *scan, kc__gen_marker_read *into)
{
    kc_buf_append(&into->text, kc_str_sub(scan->text, scan->at, scan->text.n));
    kc_json_quote(&into->json, kc_buf_str(&into->text));
    scan->at = scan->text.n;
}

int kc__gen_marker_value(kc__gen_marker_scan *scan, kc__gen_marker_type type,
                         kc__gen_marker_read *into, kc_error *err)
{
    gen_marker_value_reader r = {.scan = scan, .json = &into->json, .err = err};
    if (type == KC__GEN_MARKER_JSON)
        return gen_marker_value_read_json(scan, into, err);
    if (type == KC__GEN_MARKER_REST) {
        read_rest(scan, into);
        return 0;
    }
    if (type == KC__GEN_MARKER_STRING) {
        if (gen_marker_value_read_text(&r, false, &into->text, &into->quoted) < 0)
            return kc_error_result(err);
        kc_json_quote(&into->json, kc_buf_str(&into->text));
        return 0;
    }
    const char first = kc__gen_marker_peek(scan);
    const size_t from = scan->at;
    if (json_of_type(&r, type) < 0)
        return kc_error_result(err);
    into->quoted = first == '"' || first == '`';
    kc_buf_append(&into->text, kc_str_trim(kc_str_sub(scan->text, from, scan->at)));
    return 0;
}
