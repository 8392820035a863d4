/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types_names.c: derives C names from JSON names.
 *
 * Two JSON names may give one C name (proxyURL and proxyUrl), and nested fields may have the same
 * path (a.b and aB): the second gets a number appended.
 */
#include "generate/types/types_internal.h"

#include "kc/ascii.h"

static bool is_upper(kc_str name, size_t at)
{
    return at < name.n && name.p[at] >= 'A' && name.p[at] <= 'Z';
}

static bool is_lower(kc_str name, size_t at)
{
    return at < name.n && name.p[at] >= 'a' && name.p[at] <= 'z';
}

/* A capital after another character, or the last of several before a word (ofAKind, HTTPRoute); not
 * before the s of a plural (clusterIPs). */
static bool begins_word(kc_str name, size_t at)
{
    if (at == 0 || !is_upper(name, at) || !kc_is_alnum(name.p[at - 1]))
        return false;
    const bool plural = at + 1 < name.n && name.p[at + 1] == 's' && !is_lower(name, at + 2);
    return !is_upper(name, at - 1) || (is_lower(name, at + 1) && !plural);
}

kc_str kc__gen_types_snake(kc_arena *arena, kc_str name)
{
    kc_scoped(kc_buf) out = {0};
    for (size_t i = 0; i < name.n; i++) {
        const char c = name.p[i];
        if (begins_word(name, i))
            kc_buf_putc(&out, '_');
        kc_buf_putc(&out, kc_is_alnum(c) ? kc_lower(c) : '_');
    }
    return kc_arena_str(arena, kc_buf_str(&out));
}

/* Keywords of C, or of C++, which may read the header. */
static const char *const words[] = {
    "auto",     "bool",     "break",     "case",    "char",     "class",    "const",
    "continue", "default",  "delete",    "do",      "double",   "else",     "enum",
    "extern",   "false",    "float",     "for",     "goto",     "if",       "inline",
    "int",      "long",     "namespace", "new",     "operator", "private",  "public",
    "register", "restrict", "return",    "short",   "signed",   "sizeof",   "static",
    "struct",   "switch",   "template",  "this",    "true",     "typedef",  "typename",
    "union",    "unsigned", "using",     "virtual", "void",     "volatile", "while",
};

kc_str kc__gen_types_c_name(kc_arena *arena, kc_str json_name)
{
    kc_str name = kc__gen_types_snake(arena, json_name);
    bool taken = name.n == 0 || kc_is_digit(name.p[0]);
    for (size_t i = 0; i < KC_COUNT(words) && !taken; i++)
        taken = kc_str_is(name, words[i]);
    if (taken)
        name = kc_cstr(kc_arena_printf(arena, "f_%.*s", KC_ARG(name)));
    return name;
}

/* Functions of common system headers. */
static const char *const functions[] = {
    "accept", "access", "alarm",  "bind",   "clock",  "close", "connect", "exit",
    "index",  "kill",   "link",   "listen", "main",   "open",  "pause",   "pipe",
    "random", "read",   "remove", "rename", "select", "send",  "signal",  "sleep",
    "socket", "stat",   "sync",   "system", "time",   "wait",  "write",   NULL,
};

kc_str kc__gen_types_kind_name(kc_arena *arena, kc_str kind)
{
    const kc_str name = kc__gen_types_c_name(arena, kind);
    if (!kc_str_is_any(name, functions))
        return name;
    return kc_cstr(kc_arena_printf(arena, "%.*s_kind", KC_ARG(name)));
}

kc_str kc__gen_types_take_name(kc_arena *arena, kc_map *taken, kc_str name)
{
    kc_str free_name = name;
    for (unsigned i = 2; kc_map_get(taken, free_name); i++)
        free_name = kc_cstr(kc_arena_printf(arena, "%.*s_%u", KC_ARG(name), i));
    kc_map_put(taken, free_name, taken);
    return free_name;
}

bool kc__gen_types_can_be_named(kc_str json_name)
{
    const kc_str trimmed = kc_str_trim(json_name);
    for (size_t i = 0; i < json_name.n; i++)
        if ((unsigned char)json_name.p[i] < ' ' || strchr(",\\\x7f", json_name.p[i]))
            return false;
    return json_name.n && trimmed.n == json_name.n && !kc_str_is(json_name, "-");
}
