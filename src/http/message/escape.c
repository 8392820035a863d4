/* SPDX-License-Identifier: Apache-2.0 */
/*
 * escape.c: the only place that decodes percent-encoding, so that nothing is decoded twice: "%252F"
 * becomes "%2F" and stays that. The caller decides which decoded bytes are valid.
 */
#include "http/message/escape.h"

#include "kc/ascii.h"
#include "kc/utf8.h"

/* Returns the byte encoded by the escape at `at`, or -1. */
static int escaped_byte(kc_str text, size_t at)
{
    if (text.n - at < 3)
        return -1;
    int high = kc_hex_value(text.p[at + 1]), low = kc_hex_value(text.p[at + 2]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

bool kc__http_percent_decode(kc_str text, kc__http_plus plus, char *out, size_t *ret_n,
                             kc_str *ret_bad)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '%') {
            int byte = escaped_byte(text, i);
            if (byte < 0) {
                if (ret_bad)
                    *ret_bad = kc_str_sub(text, i, i + 3);
                return false;
            }
            out[n++] = (char)byte;
            i += 2;
        } else {
            out[n++] = c == '+' && plus == KC__HTTP_PLUS_IS_SPACE ? ' ' : c;
        }
    }
    *ret_n = n;
    return true;
}

/* Appends the character at the front of `text` and returns its length. */
static size_t quote_one(kc_buf *out, kc_str text)
{
    unsigned char c = (unsigned char)text.p[0];
    size_t n = c < 0x80 ? 0 : kc_utf8_next(text, NULL);
    if (n) {
        kc_buf_append(out, kc_str_sub(text, 0, n));
        return n;
    }
    if (c == '"' || c == '\\')
        kc_buf_printf(out, "\\%c", c);
    else if (c >= 0x20 && c < 0x7F)
        kc_buf_putc(out, (char)c);
    else
        kc_buf_printf(out, "\\x%02x", c);
    return 1;
}

void kc__http_quote(kc_buf *out, kc_str text)
{
    enum { LONGEST = 256 };
    kc_buf_putc(out, '"');
    size_t at = 0;
    while (at < text.n && at < LONGEST)
        at += quote_one(out, kc_str_sub(text, at, text.n));
    kc_buf_puts(out, at < text.n ? "...\"" : "\"");
}
