/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.c: tokens of a marker's value, and the guess of its type.
 *
 * controller-gen reads markers with Go's general scanner, so the tokens are Go's: names, numbers,
 * strings in quotes or backticks, and single characters. The guesses follow it too: a number is one
 * only if a delimiter follows ("100Mi" is text), a brace opens a map if its first token is followed
 * by a colon, and a list has the type of its first item.
 */
#include "generate/markers/scan.h"

#include "kc/ascii.h"
#include "kc/utf8.h"

char kc__gen_marker_peek(kc__gen_marker_scan *scan)
{
    while (scan->at < scan->text.n && strchr(" \t\r\n", scan->text.p[scan->at]) &&
           scan->text.p[scan->at])
        scan->at++;
    return scan->at < scan->text.n ? scan->text.p[scan->at] : 0;
}

/* Non-ASCII bytes of letters are parts of names, as in Go. */
static bool in_name(char c, bool first)
{
    return (kc_is_alnum(c) && !(first && kc_is_digit(c))) || c == '_' || (c & 0x80);
}

kc_str kc__gen_marker_name(kc__gen_marker_scan *scan)
{
    kc__gen_marker_peek(scan);
    const size_t from = scan->at;
    while (scan->at < scan->text.n && in_name(scan->text.p[scan->at], scan->at == from))
        scan->at++;
    return kc_str_sub(scan->text, from, scan->at);
}

/* ---- tokens ---- */

static char byte_at(const kc__gen_marker_scan *scan, size_t at)
{
    return at < scan->text.n ? scan->text.p[at] : 0;
}

static bool gen_marker_scan_skip_digits(kc__gen_marker_scan *scan)
{
    const size_t from = scan->at;
    while (kc_is_digit(byte_at(scan, scan->at)))
        scan->at++;
    return scan->at > from;
}

static bool skip_exponent(kc__gen_marker_scan *scan)
{
    if (kc_lower(byte_at(scan, scan->at)) != 'e')
        return true;
    scan->at++;
    if (byte_at(scan, scan->at) == '+' || byte_at(scan, scan->at) == '-')
        scan->at++;
    return gen_marker_scan_skip_digits(scan);
}

/* A Go number: a leading 0 is octal. */
static kc__gen_marker_token gen_marker_scan_number(kc__gen_marker_scan *scan)
{
    const size_t from = scan->at;
    bool is_float = false;
    gen_marker_scan_skip_digits(scan);
    const kc_str number = kc_str_sub(scan->text, from, scan->at);
    if (byte_at(scan, scan->at) == '.') {
        scan->at++;
        gen_marker_scan_skip_digits(scan);
        is_float = true;
    }
    if (kc_lower(byte_at(scan, scan->at)) == 'e') {
        is_float = true;
        if (!skip_exponent(scan))
            return KC__GEN_TOKEN_BAD;
    }
    if (is_float)
        return KC__GEN_TOKEN_FLOAT;
    const bool octal = number.n > 1 && number.p[0] == '0';
    for (size_t i = 0; octal && i < number.n; i++)
        if (number.p[i] > '7')
            return KC__GEN_TOKEN_BAD;
    return KC__GEN_TOKEN_INT;
}

static kc__gen_marker_token gen_marker_scan_string(kc__gen_marker_scan *scan)
{
    const char quote = scan->text.p[scan->at++];
    while (scan->at < scan->text.n) {
        const char c = scan->text.p[scan->at++];
        if (c == quote)
            return quote == '`' ? KC__GEN_TOKEN_RAW : KC__GEN_TOKEN_STRING;
        if (c == '\\' && quote == '"')
            scan->at = KC_MIN(scan->at + 1, scan->text.n);
    }
    return KC__GEN_TOKEN_BAD;
}

static kc__gen_marker_token scan_word(kc__gen_marker_scan *scan, bool numbers)
{
    const char c = kc__gen_marker_peek(scan);
    if (scan->at >= scan->text.n)
        return KC__GEN_TOKEN_END;
    if (c == '"' || c == '`')
        return gen_marker_scan_string(scan);
    if (in_name(c, true)) {
        kc__gen_marker_name(scan);
        return KC__GEN_TOKEN_NAME;
    }
    if (numbers && (kc_is_digit(c) || (c == '.' && kc_is_digit(byte_at(scan, scan->at + 1)))))
        return gen_marker_scan_number(scan);
    scan->at++;
    return KC__GEN_TOKEN_SIGN;
}

kc__gen_marker_token kc__gen_marker_scan_token(kc__gen_marker_scan *scan, bool numbers,
                                               kc_str *ret_text)
{
    kc__gen_marker_peek(scan);
    const size_t from = scan->at;
    const kc__gen_marker_token token = scan_word(scan, numbers);
    *ret_text = kc_str_sub(scan->text, from, scan->at);
    return token;
}

/* ---- strings ---- */

static bool gen_marker_scan_put_rune(uint32_t rune, kc_buf *out)
{
    if (rune > 0x10ffff || (rune >= 0xd800 && rune < 0xe000) || rune == 0)
        return false;
    if (rune < 0x80) {
        kc_buf_putc(out, (char)rune);
    } else if (rune < 0x800) {
        kc_buf_putc(out, (char)(0xc0 | rune >> 6));
        kc_buf_putc(out, (char)(0x80 | (rune & 0x3f)));
    } else if (rune < 0x10000) {
        kc_buf_putc(out, (char)(0xe0 | rune >> 12));
        kc_buf_putc(out, (char)(0x80 | (rune >> 6 & 0x3f)));
        kc_buf_putc(out, (char)(0x80 | (rune & 0x3f)));
    } else {
        kc_buf_putc(out, (char)(0xf0 | rune >> 18));
        kc_buf_putc(out, (char)(0x80 | (rune >> 12 & 0x3f)));
        kc_buf_putc(out, (char)(0x80 | (rune >> 6 & 0x3f)));
        kc_buf_putc(out, (char)(0x80 | (rune & 0x3f)));
    }
    return true;
}

/* \x41, \u0041, \U00000041: `digits` of them from *at. */
static bool put_hex(kc_str text, size_t *at, unsigned digits, kc_buf *out)
{
    uint32_t rune = 0;
    for (unsigned i = 0; i < digits; i++, ++*at) {
        const int value = *at < text.n ? kc_hex_value(text.p[*at]) : -1;
        if (value < 0)
            return false;
        rune = rune << 4 | (uint32_t)value;
    }
    if (digits == 2 && rune >= 0x80)
        return false; /* A byte that is not valid UTF-8. */
    return gen_marker_scan_put_rune(rune, out);
}

static bool put_escape(kc_str text, size_t *at, kc_buf *out)
{
    static const char names[] = "abfnrtv\\\"'", values[] = "\a\b\f\n\r\t\v\\\"'";
    if (*at >= text.n)
        return false;
    const char c = text.p[(*at)++];
    const char *known = c ? strchr(names, c) : NULL;
    if (known) {
        kc_buf_putc(out, values[known - names]);
        return true;
    }
    switch (c) {
    case 'x': return put_hex(text, at, 2, out);
    case 'u': return put_hex(text, at, 4, out);
    case 'U': return put_hex(text, at, 8, out);
    default: return false;
    }
}

bool kc__gen_marker_unquote(kc_str token, kc_buf *out)
{
    const kc_str inside = kc_str_sub(token, 1, token.n - 1);
    if (token.p[0] == '`') {
        kc_buf_append(out, inside);
        return true;
    }
    for (size_t i = 0; i < inside.n;) {
        const char c = inside.p[i++];
        if (c != '\\')
            kc_buf_putc(out, c);
        else if (!put_escape(inside, &i, out))
            return false;
    }
    return true;
}

/* ---- type guesses ---- */

enum { MAX_LOOK_AHEAD = 64 };

static bool ends_value(char c)
{
    return c == ',' || c == ';' || c == '}' || c == 0;
}

/* Skips a string that is a map's key. */
static void skip_key(kc__gen_marker_scan *scan)
{
    kc_str word;
    const kc__gen_marker_token token = kc__gen_marker_scan_token(scan, false, &word);
    if (token == KC__GEN_TOKEN_STRING || token == KC__GEN_TOKEN_RAW)
        return;
    for (char c = kc__gen_marker_peek(scan); !ends_value(c) && c != ':';
         c = kc__gen_marker_peek(scan))
        kc__gen_marker_scan_token(scan, false, &word);
}

static kc__gen_marker_guess guess_scalar(kc__gen_marker_scan scan)
{
    kc_str word;
    kc__gen_marker_token token = kc__gen_marker_scan_token(&scan, true, &word);
    if (kc_str_is(word, "true") || kc_str_is(word, "false"))
        return (kc__gen_marker_guess){.kind = KC__GEN_GUESS_BOOL};
    if (kc_str_is(word, "-"))
        token = kc__gen_marker_scan_token(&scan, true, &word);
    if ((token == KC__GEN_TOKEN_INT || token == KC__GEN_TOKEN_FLOAT) &&
        ends_value(kc__gen_marker_peek(&scan)))
        return (kc__gen_marker_guess){.kind = token == KC__GEN_TOKEN_INT ? KC__GEN_GUESS_INT
                                                                         : KC__GEN_GUESS_NUMBER};
    return (kc__gen_marker_guess){.kind = KC__GEN_GUESS_STRING};
}

/* The list type of the guessed item type. */
static kc__gen_marker_guess list_of(kc__gen_marker_guess item)
{
    if (item.kind == KC__GEN_GUESS_LIST)
        return (kc__gen_marker_guess){KC__GEN_GUESS_LIST, item.depth + 1, item.item};
    return (kc__gen_marker_guess){KC__GEN_GUESS_LIST, 1, (int)item.kind};
}

static kc__gen_marker_guess guess_one(kc__gen_marker_scan scan, unsigned depth)
{
    kc_str word;
    const char first = kc__gen_marker_peek(&scan);
    if (first == '"' || first == '\'' || first == '`' || depth > MAX_LOOK_AHEAD)
        return (kc__gen_marker_guess){.kind = KC__GEN_GUESS_STRING};
    if (first != '{')
        return guess_scalar(scan);
    scan.at++;
    const char second = kc__gen_marker_peek(&scan);
    const kc__gen_marker_guess item = guess_one(scan, depth + 1);
    if (item.kind != KC__GEN_GUESS_STRING)
        return list_of(item);
    skip_key(&scan);
    const bool colon =
        kc__gen_marker_scan_token(&scan, true, &word) == KC__GEN_TOKEN_SIGN && kc_str_is(word, ":");
    if (colon || second == '}')
        return (kc__gen_marker_guess){.kind = KC__GEN_GUESS_MAP};
    return list_of(item);
}

/* A ';' before the first ',' makes a list without braces. */
static bool is_legacy_list(kc__gen_marker_scan scan)
{
    for (;;) {
        kc_str word;
        const kc__gen_marker_token token = kc__gen_marker_scan_token(&scan, true, &word);
        if (token == KC__GEN_TOKEN_END || (token == KC__GEN_TOKEN_SIGN && kc_str_is(word, ",")))
            return false;
        if (token == KC__GEN_TOKEN_SIGN && kc_str_is(word, ";"))
            return true;
    }
}

kc__gen_marker_guess kc__gen_marker_guess_type(kc__gen_marker_scan scan, bool legacy)
{
    const kc__gen_marker_guess one = guess_one(scan, 0);
    return legacy && is_legacy_list(scan) ? list_of(one) : one;
}
