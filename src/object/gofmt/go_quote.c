/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_quote.c: Go's two formats of quoted strings, and its definition of printable characters.
 *
 * The table lists the ranges of Unicode that are not printable: controls, spaces other than the
 * ASCII one, formatting characters, private use. Unassigned code points count as printable, since
 * future versions of Unicode will assign some of them.
 */
#include "object/gofmt/go_quote.h"

#include "kc/utf8.h"
#include "object/model/object_internal.h"

enum { MOST_SHOWN = 1024 };

static const struct {
    uint32_t first, last;
} not_printable[] = {
    {0x0, 0x1F},        {0x7F, 0xA0},          {0xAD, 0xAD},       {0x600, 0x605},
    {0x61C, 0x61C},     {0x6DD, 0x6DD},        {0x70F, 0x70F},     {0x890, 0x891},
    {0x8E2, 0x8E2},     {0x1680, 0x1680},      {0x180E, 0x180E},   {0x2000, 0x200F},
    {0x2028, 0x202F},   {0x205F, 0x206F},      {0x3000, 0x3000},   {0xD800, 0xF8FF},
    {0xFEFF, 0xFEFF},   {0xFFF0, 0xFFFB},      {0xFFFE, 0xFFFF},   {0x110BD, 0x110BD},
    {0x110CD, 0x110CD}, {0x13430, 0x1343F},    {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
    {0xE0000, 0xE00FF}, {0xE01F0, UINT32_MAX},
};

bool kc__go_is_printable(uint32_t code)
{
    for (size_t i = 0; i < KC_COUNT(not_printable) && not_printable[i].first <= code; i++)
        if (code <= not_printable[i].last)
            return false;
    return true;
}

uint32_t kc__go_next_rune(kc_str text, size_t *at)
{
    uint32_t code = UINT32_MAX;
    size_t n = kc_utf8_next(kc_str_sub(text, *at, text.n), &code);
    *at += n ? n : 1;
    return code;
}

void kc__go_quote_bytes(kc_buf *out, kc_str text)
{
    kc_buf_putc(out, '"');
    for (size_t i = 0; i < KC_MIN(text.n, (size_t)MOST_SHOWN); i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c < ' ' || c >= 0x80)
            kc_buf_printf(out, "\\x%02x", c);
        else
            kc_buf_printf(out, "%s%c", c == '"' || c == '\\' ? "\\" : "", c);
    }
    kc_buf_puts(out, text.n > MOST_SHOWN ? "...\"" : "\"");
}

static void go_quote_escape(kc_buf *out, uint32_t code, unsigned char byte)
{
    static const char shorts[] = {['\a'] = 'a', ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n',
                                  ['\v'] = 'v', ['\f'] = 'f', ['\r'] = 'r'};
    if (code < sizeof(shorts) && shorts[code])
        kc_buf_printf(out, "\\%c", shorts[code]);
    else if (code == UINT32_MAX || code < 0x80)
        kc_buf_printf(out, "\\x%02x", byte);
    else
        kc_buf_printf(out, code < 0x10000 ? "\\u%04x" : "\\U%08x", code);
}

void kc__go_quote(kc_buf *out, kc_str text)
{
    size_t from = 0;
    kc_buf_putc(out, '"');
    for (size_t at = 0; at < text.n;) {
        size_t start = at;
        uint32_t code = kc__go_next_rune(text, &at);
        bool quoted = code == '"' || code == '\\';
        if (kc__go_is_printable(code) && !quoted)
            continue;
        kc_buf_append(out, kc_str_sub(text, from, start));
        from = at;
        if (quoted)
            kc_buf_printf(out, "\\%c", (char)code);
        else
            go_quote_escape(out, code, (unsigned char)text.p[start]);
    }
    kc_buf_append(out, kc_str_sub(text, from, text.n));
    kc_buf_putc(out, '"');
}
