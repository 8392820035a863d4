/* SPDX-License-Identifier: Apache-2.0 */
/*
 * escape.c: names of fields as identifiers.
 *
 * Kubernetes escapes what is no identifier: "__dot__" for a point, "__dash__", "__slash__",
 * "__underscores__" for two underscores, and "__in__" for a reserved word. A name with any other
 * character, or one that begins with a digit, cannot be written in an expression.
 */
#include "cel/type/type_internal.h"

#include "kc/ascii.h"

static bool is_reserved_name(kc_str name)
{
    static const char *const reserved[] = {
        "true",      "false",  "null",     "in",   "as",     "break", "const", "continue",
        "else",      "for",    "function", "if",   "import", "let",   "loop",  "package",
        "namespace", "return", "var",      "void", "while",  NULL};
    return kc_str_is_any(name, reserved);
}

/* What stands for the text at `at`, and how long that text is. NULL when it cannot be escaped. */
static const char *escape_at(kc_str name, size_t at, size_t *ret_length)
{
    char c = name.p[at];
    *ret_length = 1;
    switch (c) {
    case '.': return "__dot__";
    case '-': return "__dash__";
    case '/': return "__slash__";
    case '_':
        if (at + 1 < name.n && name.p[at + 1] == '_') {
            *ret_length = 2;
            return "__underscores__";
        }
        return "_";
    default: return kc_is_alnum(c) ? "" : NULL;
    }
}

bool kc__cel_escape(kc_arena *arena, kc_str name, kc_str *ret)
{
    if (!name.n || kc_is_digit(name.p[0]))
        return false;
    if (is_reserved_name(name)) {
        *ret = kc_cstr(kc_arena_printf(arena, "__%.*s__", KC_ARG(name)));
        return true;
    }
    kc_scoped(kc_buf) out = {0};
    for (size_t at = 0, length; at < name.n; at += length) {
        const char *escaped = escape_at(name, at, &length);
        if (!escaped)
            return false;
        if (*escaped)
            kc_buf_puts(&out, escaped);
        else
            kc_buf_putc(&out, name.p[at]);
    }
    *ret = kc_arena_str(arena, kc_buf_str(&out));
    return true;
}
