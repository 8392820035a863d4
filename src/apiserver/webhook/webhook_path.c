/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_path.c: cleans the path of a webhook as the client of kube-apiserver does.
 *
 *     //validate     /validate
 *     /a//b/../c/    /a/c
 *     /a%2Fb         /a/b       a URL is unescaped before it is cleaned
 *     (none)         /
 *
 * The path never leaves "/": ".." at the top is dropped.
 */
#include "apiserver/webhook/webhook_endpoint.h"

#include "kc/ascii.h"
#include "kc/buf.h"
#include "kc/vec.h"

static int hex_digit_value(char c)
{
    return kc_is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
}

static void append_unescaped(kc_buf *out, kc_str path)
{
    for (size_t i = 0; i < path.n; i++) {
        const bool escape = path.p[i] == '%' && i + 2 < path.n && kc_is_hex(path.p[i + 1]) &&
                            kc_is_hex(path.p[i + 2]);
        kc_buf_putc(out, escape ? (char)(hex_digit_value(path.p[i + 1]) << 4 |
                                         hex_digit_value(path.p[i + 2]))
                                : path.p[i]);
        i += escape ? 2 : 0;
    }
}

/* Whether Go's net/url leaves the byte unescaped in a path. */
static bool is_plain_in_path(char c)
{
    return kc_is_alnum(c) || (c && strchr("-_.~$&+,/:;=@", c));
}

static void append_escaped(kc_buf *out, kc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (is_plain_in_path(text.p[i]))
            kc_buf_putc(out, text.p[i]);
        else
            kc_buf_printf(out, "%%%02X", (unsigned char)text.p[i]);
}

void kc__hook_path_clean(kc_buf *out, kc_str path, bool escaped)
{
    kc_scoped(kc_buf) plain = {0};
    KC_VEC(kc_str) segments = {0};
    if (escaped)
        append_unescaped(&plain, path);
    else
        kc_buf_append(&plain, path);
    kc_str rest = kc_buf_str(&plain);
    while (rest.p && rest.n) {
        const kc_str segment = kc_str_cut(&rest, '/');
        if (kc_str_is(segment, ".."))
            segments.n -= segments.n > 0;
        else if (segment.n && !kc_str_is(segment, "."))
            kc_vec_push(&segments, segment);
    }
    if (!segments.n)
        kc_buf_putc(out, '/');
    for (size_t i = 0; i < segments.n; i++) {
        kc_buf_putc(out, '/');
        append_escaped(out, segments.items[i]);
    }
    kc_vec_done(&segments);
}
