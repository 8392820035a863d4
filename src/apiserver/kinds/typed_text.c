/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed_text.c: stepping over canonical text, and the output that is only written where it differs.
 *
 * The text is that of a kc_object: compact, valid, ended by NUL. So a string ends at the first
 * quote with an even number of backslashes before it, anything that is no string or container
 * before the next ',', '}' or ']', and no step has to look where the end is.
 *
 * Output positions count what is in `out` and what is pending behind it (typed_internal.h). They
 * stay true however often pending bytes are flushed, and are what members are remembered by.
 */
#include "apiserver/kinds/typed_internal.h"

/* True when the quote at `p` belongs to the string that begins behind `from`. */
static bool is_escaped(const char *from, const char *p)
{
    size_t n = 0;
    while (p - n > from && p[-1 - (ptrdiff_t)n] == '\\')
        n++;
    return n % 2;
}

/* From behind an opening quote to the closing one. */
static const char *closing_quote(const char *at)
{
    const char *from = at;
    for (;; at++) {
        at = strchr(at, '"');
        assert(at);
        if (!is_escaped(from, at))
            return at;
        from = at + 1; /* What lies before is counted: no byte is looked at twice. */
    }
}

kc_str kc__typed_string(kc__typed *t)
{
    const char *from = t->at + 1, *to = closing_quote(from);
    t->at = to + 1;
    return kc_str_of(from, (size_t)(to - from));
}

kc_str kc__typed_word(kc__typed *t)
{
    const char *from = t->at;
    while (*t->at != ',' && *t->at != '}' && *t->at != ']')
        t->at++;
    return kc_str_of(from, (size_t)(t->at - from));
}

static void skip_container(kc__typed *t)
{
    size_t depth = 0;
    do {
        switch (*t->at) {
        case '"': t->at = closing_quote(t->at + 1); break;
        case '{':
        case '[': depth++; break;
        case '}':
        case ']': depth--; break;
        default: break;
        }
        t->at++;
    } while (depth);
}

void kc__typed_skip(kc__typed *t)
{
    if (*t->at == '"')
        kc__typed_string(t);
    else if (*t->at == '{' || *t->at == '[')
        skip_container(t);
    else
        kc__typed_word(t);
}

void kc__typed_flush(kc__typed *t, const char *to)
{
    kc_buf_append(&t->out, kc_str_of(t->copied, (size_t)(to - t->copied)));
    t->copied = t->at;
}

void kc__typed_roll_back(kc__typed *t, size_t position)
{
    if (t->out.n > position)
        t->out.n = position;
    else
        kc_buf_append(&t->out, kc_str_of(t->copied, position - t->out.n));
    t->copied = t->at;
}

void kc__typed_replace(kc__typed *t, const char *from, kc_str text)
{
    if (kc_str_eq(kc_str_of(from, (size_t)(t->at - from)), text))
        return;
    kc__typed_flush(t, from);
    kc_buf_append(&t->out, text);
}
