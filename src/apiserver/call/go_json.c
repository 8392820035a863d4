/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_json.c: a JSON scanner that finds the first invalid character. A stack of characters holds the
 * open objects and arrays, so depth needs no recursion.
 *
 * It only runs on texts that another parser has rejected, so it need not be fast.
 */
#include "apiserver/call/go_json.h"

#include "kc/ascii.h"

#include <stdio.h>

typedef struct go_json_scanner {
    kc_str text;
    size_t at;
    kc_buf open; /* '{' and '[' */
    kc_buf *out;
} go_json_scanner;

static bool is_end(const go_json_scanner *s)
{
    return s->at >= s->text.n;
}

static char here(const go_json_scanner *s)
{
    return is_end(s) ? '\0' : s->text.p[s->at];
}

static void skip_blanks(go_json_scanner *s)
{
    while (!is_end(s) && strchr(" \t\r\n", here(s)) && here(s))
        s->at++;
}

static void quote(kc_buf *out, unsigned char c)
{
    if (c == '\'' || c == '\\')
        kc_buf_printf(out, "'\\%c'", c);
    else if (c == '\n' || c == '\r' || c == '\t')
        kc_buf_printf(out, "'\\%c'", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
    else if (c < 0x20 || c == 0x7F)
        kc_buf_printf(out, "'\\x%02x'", c);
    else if (c >= 0x80) /* Go treats the byte as a character. */
        kc_buf_printf(out, c < 0xA0 ? "'\\u%04x'" : "'%c%c'", c < 0xA0 ? c : 0xC0 | c >> 6,
                      0x80 | (c & 0x3F));
    else
        kc_buf_printf(out, "'%c'", c);
}

/* Appends the error at the current position. Returns false, so that callers can return it. */
static bool wrong(go_json_scanner *s, const char *context)
{
    if (is_end(s)) {
        kc_buf_puts(s->out, "unexpected end of JSON input");
        return false;
    }
    kc_buf_puts(s->out, "invalid character ");
    quote(s->out, (unsigned char)here(s));
    kc_buf_printf(s->out, " %s", context);
    return false;
}

static bool scan_literal(go_json_scanner *s, const char *word)
{
    for (const char *p = word + 1; *p; p++) {
        s->at++;
        if (here(s) != *p) {
            char context[48];
            snprintf(context, sizeof(context), "in literal %s (expecting '%c')", word, *p);
            return wrong(s, context);
        }
    }
    s->at++;
    return true;
}

static bool scan_escape(go_json_scanner *s)
{
    s->at++;
    if (here(s) == 'u') {
        for (int i = 0; i < 4; i++) {
            s->at++;
            if (is_end(s) || !strchr("0123456789abcdefABCDEF", here(s)) || !here(s))
                return wrong(s, "in \\u hexadecimal character escape");
        }
        return true;
    }
    return !is_end(s) && here(s) && strchr("bfnrt\\/\"", here(s))
               ? true
               : wrong(s, "in string escape code");
}

static bool scan_string(go_json_scanner *s)
{
    for (s->at++; here(s) != '"'; s->at++) {
        if (is_end(s) || (unsigned char)here(s) < 0x20)
            return wrong(s, "in string literal");
        if (here(s) == '\\' && !scan_escape(s))
            return false;
    }
    s->at++;
    return true;
}

static void skip_digits(go_json_scanner *s)
{
    while (kc_is_digit(here(s)))
        s->at++;
}

static bool scan_number(go_json_scanner *s)
{
    if (here(s) == '-')
        s->at++;
    if (!kc_is_digit(here(s)))
        return wrong(s, "in numeric literal");
    if (here(s) == '0')
        s->at++;
    else
        skip_digits(s);
    if (here(s) == '.') {
        s->at++;
        if (!kc_is_digit(here(s)))
            return wrong(s, "after decimal point in numeric literal");
        skip_digits(s);
    }
    if (here(s) == 'e' || here(s) == 'E') {
        s->at++;
        if (here(s) == '+' || here(s) == '-')
            s->at++;
        if (!kc_is_digit(here(s)))
            return wrong(s, "in exponent of numeric literal");
        skip_digits(s);
    }
    return true;
}

/* A key and its colon. */
static bool scan_key(go_json_scanner *s)
{
    skip_blanks(s);
    if (here(s) != '"')
        return wrong(s, "looking for beginning of object key string");
    if (!scan_string(s))
        return false;
    skip_blanks(s);
    if (here(s) != ':')
        return wrong(s, "after object key");
    s->at++;
    return true;
}

static bool scan_scalar(go_json_scanner *s)
{
    switch (here(s)) {
    case '"': return scan_string(s);
    case 't': return scan_literal(s, "true");
    case 'f': return scan_literal(s, "false");
    case 'n': return scan_literal(s, "null");
    default:
        return here(s) == '-' || kc_is_digit(here(s)) ? scan_number(s)
                                                      : wrong(s, "looking for beginning of value");
    }
}

/* Scans the beginning of a value: all of a scalar, the opening bracket of others. *ret_whole: the
 * value is complete. */
static bool scan_value(go_json_scanner *s, bool *ret_whole)
{
    skip_blanks(s);
    char c = here(s);
    *ret_whole = true;
    if (c != '{' && c != '[')
        return scan_scalar(s);
    s->at++;
    skip_blanks(s);
    if (here(s) == (c == '{' ? '}' : ']')) {
        s->at++;
        return true;
    }
    kc_buf_putc(&s->open, c);
    *ret_whole = false;
    return c == '[' || scan_key(s);
}

/* Scans what follows a value in an object or array: the closing bracket, or a comma. */
static bool scan_separator(go_json_scanner *s, bool *ret_whole)
{
    bool object = s->open.p[s->open.n - 1] == '{';
    skip_blanks(s);
    char c = here(s);
    if (c == (object ? '}' : ']')) {
        s->at++;
        s->open.n--;
        return true;
    }
    if (c != ',')
        return wrong(s, object ? "after object key:value pair" : "after array element");
    s->at++;
    *ret_whole = false;
    return !object || scan_key(s);
}

static bool scan(go_json_scanner *s)
{
    bool complete = false;
    while (!complete || s->open.n)
        if (!(complete ? scan_separator(s, &complete) : scan_value(s, &complete)))
            return false;
    skip_blanks(s);
    return is_end(s) || wrong(s, "after top-level value");
}

bool kc__rest_go_json_error(kc_str text, kc_buf *out)
{
    go_json_scanner s = {.text = text, .out = out};
    bool fine = scan(&s);
    kc_buf_done(&s.open);
    return !fine;
}

const char *kc__rest_go_json_type(const kc_value *value)
{
    switch (kc_value_type(value)) {
    case KC_JSON_BOOL: return "bool";
    case KC_JSON_INT:
    case KC_JSON_FLOAT: return "number";
    case KC_JSON_STRING: return "string";
    case KC_JSON_ARRAY: return "array";
    case KC_JSON_OBJECT: return "object";
    default: return "";
    }
}
