/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unescape.c: the content of string and bytes literals.
 *
 * In a string, \x and octal escapes are code points; in bytes they are bytes, and \u and \U are
 * errors. Line ends become \n. A raw literal has no escapes.
 */
#include "cel/syntax/syntax_internal.h"

#include "kc/ascii.h"

static void append_rune(kc_buf *out, uint32_t code)
{
    if (code < 0x80) {
        kc_buf_putc(out, (char)code);
    } else if (code < 0x800) {
        kc_buf_putc(out, (char)(0xC0 | code >> 6));
        kc_buf_putc(out, (char)(0x80 | (code & 0x3F)));
    } else if (code < 0x10000) {
        kc_buf_putc(out, (char)(0xE0 | code >> 12));
        kc_buf_putc(out, (char)(0x80 | (code >> 6 & 0x3F)));
        kc_buf_putc(out, (char)(0x80 | (code & 0x3F)));
    } else {
        kc_buf_putc(out, (char)(0xF0 | code >> 18));
        kc_buf_putc(out, (char)(0x80 | (code >> 12 & 0x3F)));
        kc_buf_putc(out, (char)(0x80 | (code >> 6 & 0x3F)));
        kc_buf_putc(out, (char)(0x80 | (code & 0x3F)));
    }
}

static bool append_code(kc_buf *out, uint32_t code, bool bytes, const char **why)
{
    if (bytes) {
        kc_buf_putc(out, (char)code);
        return true;
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
        *why = "invalid unicode code point";
        return false;
    }
    append_rune(out, code);
    return true;
}

/* Digits of the given base; the lexer has checked them. */
static uint32_t read_digits(const char *p, size_t n, unsigned base)
{
    uint32_t code = 0;
    for (size_t i = 0; i < n; i++)
        code = code * base + (uint32_t)kc_hex_value(p[i]);
    return code;
}

/* The escape at p[0] == '\\'; *ret_length receives its length. */
static bool append_escape(kc_buf *out, const char *p, bool bytes, size_t *ret_length,
                          const char **why)
{
    static const char letters[] = "abfnrtv", meanings[] = "\a\b\f\n\r\t\v";
    char c = p[1];
    const char *letter = strchr(letters, c);
    *ret_length = 2;
    if (letter) {
        kc_buf_putc(out, meanings[letter - letters]);
        return true;
    }
    if (c == 'u' || c == 'U') {
        size_t n = c == 'u' ? 4 : 8;
        *ret_length = 2 + n;
        *why = "unable to unescape string";
        return !bytes && append_code(out, read_digits(p + 2, n, 16), false, why);
    }
    if (c == 'x' || c == 'X') {
        *ret_length = 4;
        return append_code(out, read_digits(p + 2, 2, 16), bytes, why);
    }
    if (kc_is_digit(c)) {
        *ret_length = 4;
        return append_code(out, read_digits(p + 1, 3, 8), bytes, why);
    }
    kc_buf_putc(out, c);
    return true;
}

static bool append_content(kc_buf *out, kc_str content, bool raw, bool bytes, const char **why)
{
    for (size_t i = 0; i < content.n;) {
        char c = content.p[i];
        size_t length = 1;
        if (c == '\r') {
            kc_buf_putc(out, '\n');
            length = i + 1 < content.n && content.p[i + 1] == '\n' ? 2 : 1;
        } else if (c != '\\' || raw) {
            kc_buf_putc(out, c);
        } else if (!append_escape(out, content.p + i, bytes, &length, why)) {
            return false;
        }
        i += length;
    }
    return true;
}

bool kc__cel_unescape(kc_arena *arena, kc_str token, bool bytes, kc_str *ret, const char **why)
{
    if (bytes)
        token = kc_str_sub(token, 1, token.n);
    bool raw = kc_lower(token.p[0]) == 'r';
    if (raw)
        token = kc_str_sub(token, 1, token.n);
    bool triple = token.n >= 6 && token.p[1] == token.p[0] && token.p[2] == token.p[0];
    size_t quotes = triple ? 3 : 1;
    kc_str content = kc_str_sub(token, quotes, token.n - quotes);
    if (!memchr(content.p, '\\', content.n) && !memchr(content.p, '\r', content.n)) {
        *ret = kc_arena_str(arena, content);
        return true;
    }
    kc_scoped(kc_buf) out = {0};
    if (!append_content(&out, content, raw, bytes, why))
        return false;
    *ret = kc_arena_str(arena, kc_buf_str(&out));
    return true;
}
