/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64.c: encodes three bytes as four letters of six bits. Decoding is strict: each byte sequence
 * has exactly one text, so encoded values can be compared as text.
 */
#include "kc/base64.h"

static const char letters[2][65] = {
    [KC_BASE64] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    [KC_BASE64_URL] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
};

/* Up to three bytes as the top of a 24-bit number. */
static uint32_t group_of(kc_str bytes, size_t at)
{
    uint32_t group = 0;
    for (size_t i = 0; i < 3; i++)
        group = group << 8 | (at + i < bytes.n ? (unsigned char)bytes.p[at + i] : 0);
    return group;
}

void kc_base64_write(kc_buf *out, kc_str bytes, kc_base64 variant)
{
    const char *alphabet = letters[variant];
    char *at = kc_buf_reserve(out, (bytes.n + 2) / 3 * 4);
    if (!at)
        return;
    for (size_t i = 0; i < bytes.n; i += 3) {
        uint32_t group = group_of(bytes, i);
        size_t used = bytes.n - i < 3 ? bytes.n - i + 1 : 4;
        for (size_t j = 0; j < 4; j++) {
            if (j < used)
                *at++ = alphabet[group >> (18 - 6 * j) & 63];
            else if (variant == KC_BASE64)
                *at++ = '=';
        }
    }
    out->n = (size_t)(at - out->p);
}

/* The six bits of a letter, or -1. */
static int base64_value_of(char c, kc_base64 variant)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == letters[variant][62])
        return 62;
    return c == letters[variant][63] ? 63 : -1;
}

/* Removes the padding; false when it is not correct. */
static bool unpad(kc_str *text)
{
    if (text->n % 4)
        return false;
    for (int i = 0; i < 2 && text->n && text->p[text->n - 1] == '='; i++)
        text->n--;
    return true;
}

static bool read_letters(kc_buf *out, kc_str text, kc_base64 variant)
{
    uint32_t bits = 0;
    unsigned held = 0;
    for (size_t i = 0; i < text.n; i++) {
        int value = base64_value_of(text.p[i], variant);
        if (value < 0)
            return false;
        bits = bits << 6 | (uint32_t)value;
        held += 6;
        if (held >= 8) {
            held -= 8;
            kc_buf_putc(out, (char)(bits >> held & 0xFF));
        }
    }
    return !(bits & ((1u << held) - 1));
}

bool kc_base64_read(kc_buf *out, kc_str text, kc_base64 variant)
{
    size_t before = out->n;
    if ((variant == KC_BASE64 && !unpad(&text)) || text.n % 4 == 1 ||
        !read_letters(out, text, variant)) {
        out->n = before;
        return false;
    }
    return true;
}
