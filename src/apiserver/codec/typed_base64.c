/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed_base64.c: bytes in JSON, decoded and encoded like Go's base64.StdEncoding.
 *
 * The decoder accepts line breaks anywhere and set bits after the last byte; the encoder writes
 * neither. Text that is already in the encoder's form, which is nearly all text, is only checked.
 */
#include "apiserver/codec/typed_internal.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Value of the digit plus one; 0: not a digit. */
#define RUN8(c, v)                                                                \
    [c] = (v) + 1, [(c) + 1] = (v) + 2, [(c) + 2] = (v) + 3, [(c) + 3] = (v) + 4, \
    [(c) + 4] = (v) + 5, [(c) + 5] = (v) + 6, [(c) + 6] = (v) + 7, [(c) + 7] = (v) + 8
static const uint8_t values[256] = {
    RUN8('A', 0),  RUN8('I', 8),  RUN8('Q', 16), ['Y'] = 25, ['Z'] = 26,
    RUN8('a', 26), RUN8('i', 34), RUN8('q', 42), ['y'] = 51, ['z'] = 52,
    RUN8('0', 52), ['8'] = 61,    ['9'] = 62,    ['+'] = 63, ['/'] = 64,
};

static int typed_base64_value(char c)
{
    return values[(unsigned char)c] - 1;
}

static bool is_break(char c)
{
    return c == '\n' || c == '\r';
}

bool kc__typed_base64_is_clean(kc_str text)
{
    if (text.n % 4)
        return false;
    size_t n = text.n;
    while (n && text.n - n < 2 && text.p[n - 1] == '=')
        n--;
    for (size_t i = 0; i < n; i++)
        if (typed_base64_value(text.p[i]) < 0)
            return false;
    unsigned unused = n == text.n ? 0 : text.n - n == 1 ? 3 : 15;
    return !unused || !((unsigned)typed_base64_value(text.p[n - 1]) & unused);
}

static size_t skip_breaks(kc_str text, size_t at)
{
    while (at < text.n && is_break(text.p[at]))
        at++;
    return at;
}

/* Reads the four digits of a group at *at. Returns their number, or -1 with the position in
 * *ret_bad. A group with fewer than four digits is the last. */
static int read_group(kc_str text, size_t *at, uint8_t group[4], size_t *ret_bad)
{
    for (int n = 0; n < 4;) {
        if (*at == text.n) {
            *ret_bad = *at - (size_t)n;
            return n ? -1 : 0;
        }
        char c = text.p[(*at)++];
        int value = typed_base64_value(c);
        *ret_bad = *at - 1;
        if (value >= 0)
            group[n++] = (uint8_t)value;
        else if (c == '=' && n >= 2)
            return n;
        else if (!is_break(c))
            return -1;
    }
    return 4;
}

/* After the first '=' of a group of `n` digits: only the second '=' may follow. */
static bool ends_well(kc_str text, size_t at, int n, size_t *ret_bad)
{
    at = skip_breaks(text, at);
    if (n == 2) {
        *ret_bad = at == text.n ? at : at - 1;
        if (at == text.n || text.p[at] != '=')
            return false;
        at = skip_breaks(text, at + 1);
    }
    *ret_bad = at;
    return at == text.n;
}

static void write_group(kc_buf *out, const uint8_t group[4], int n)
{
    char text[4] = {digits[group[0]], digits[group[1]], '=', '='};
    if (n == 2)
        text[1] = digits[group[1] & 0x30];
    else
        text[2] = digits[n == 3 ? group[2] & 0x3c : group[2]];
    if (n == 4)
        text[3] = digits[group[3]];
    kc_buf_append(out, kc_str_of(text, 4));
}

bool kc__typed_base64_rewrite(kc_buf *out, kc_str text, size_t *ret_bad)
{
    uint8_t group[4];
    size_t at = 0;
    int n = 4;
    while (n == 4) {
        n = read_group(text, &at, group, ret_bad);
        if (n < 0 || ((n == 2 || n == 3) && !ends_well(text, at, n, ret_bad)))
            return false;
        if (n)
            write_group(out, group, n);
    }
    return true;
}
