/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_quote.c: quoting as Go's time package does it. Whatever is quoted here came from outside and
 * goes into an error's message, so only its first kilobyte is shown.
 */
#include "object/go_quote.h"

enum { MOST_SHOWN = 1024 };

void kc__go_quote(kc_buf *out, kc_str text)
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
