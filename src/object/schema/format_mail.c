/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format_mail.c: validates one e-mail address by RFC 5322 and Go's net/mail: ann@example.org,
 * "Ann" <ann@example.org>, ann@[10.0.0.1] (comment), team: ann@example.org;
 *
 * The parser consumes the front of `s`; its only state is the position.
 */
#include "object/schema/schema_internal.h"

typedef struct mail {
    kc_str s;
} mail;

static bool at(const mail *m, char c)
{
    return m->s.n && m->s.p[0] == c;
}

static void eat(mail *m, size_t n)
{
    m->s = kc_str_sub(m->s, n, m->s.n);
}

static bool eat_char(mail *m, char c)
{
    bool there = at(m, c);
    if (there)
        eat(m, 1);
    return there;
}

static void schema_format_mail_skip_space(mail *m)
{
    while (at(m, ' ') || at(m, '\t'))
        eat(m, 1);
}

/* A visible character; all beyond ASCII are. */
static bool is_visible(char c)
{
    return (c > ' ' && c < 0x7F) || (unsigned char)c >= 0x80;
}

static bool is_atom_char(char c)
{
    return is_visible(c) && !strchr("()<>[]:;@\\,\"", c);
}

/* The rest of a comment whose '(' is consumed. Comments nest. */
static bool comment(mail *m)
{
    size_t depth = 1;
    while (m->s.n && depth) {
        if (at(m, '\\') && m->s.n > 1)
            eat(m, 1);
        else if (at(m, '('))
            depth++;
        else if (at(m, ')'))
            depth--;
        eat(m, 1);
    }
    return !depth;
}

static bool skip_comments(mail *m)
{
    schema_format_mail_skip_space(m);
    while (eat_char(m, '(')) {
        if (!comment(m))
            return false;
        schema_format_mail_skip_space(m);
    }
    return true;
}

static bool quoted(mail *m, size_t *ret_n)
{
    bool escaped = false;
    size_t n = 0, i = 1;
    for (; i < m->s.n; i++) {
        char c = m->s.p[i];
        bool blank = c == ' ' || c == '\t';
        if (!escaped && c == '"')
            break;
        if (!escaped && c == '\\') {
            escaped = true;
            continue;
        }
        if (!is_visible(c) && !blank)
            return false;
        escaped = false;
        n++;
    }
    if (i == m->s.n)
        return false;
    eat(m, i + 1);
    *ret_n = n;
    return true;
}

static kc_str atom(mail *m)
{
    size_t n = 0;
    while (n < m->s.n && is_atom_char(m->s.p[n]))
        n++;
    kc_str found = kc_str_sub(m->s, 0, n);
    eat(m, n);
    return found;
}

static bool dot_atom(mail *m)
{
    kc_str text = atom(m);
    return text.n && text.p[0] != '.' && text.p[text.n - 1] != '.' &&
           !kc_str_contains(text, KC_STR(".."));
}

/* [10.0.0.1] */
static bool domain_literal(mail *m)
{
    ptrdiff_t close = kc_str_find(m->s, ']');
    if (close < 0)
        return false;
    kc_str inside = kc_str_sub(m->s, 1, (size_t)close);
    eat(m, (size_t)close + 1);
    bool leading_zero = false;
    for (size_t i = 0; i + 1 < inside.n; i++)
        leading_zero |=
            inside.p[i] == '0' && (!i || inside.p[i - 1] == '.') && inside.p[i + 1] != '.';
    return kc__schema_is_ipv6(inside) || (kc__schema_is_ipv4(inside) && !leading_zero);
}

/* ann@example.org; consumes nothing if there is none. */
static bool addr_spec(mail *m)
{
    mail before = *m;
    size_t n = 0;
    schema_format_mail_skip_space(m);
    bool ok = at(m, '"') ? quoted(m, &n) && n : dot_atom(m);
    ok = ok && eat_char(m, '@');
    if (ok) {
        schema_format_mail_skip_space(m);
        ok = at(m, '[') ? domain_literal(m) : dot_atom(m);
    }
    if (!ok)
        *m = before;
    return ok;
}

/* One or more words: the name of a person or a group. */
static bool phrase(mail *m)
{
    size_t n;
    for (size_t words = 0;; words++) {
        if (words && !skip_comments(m))
            return false;
        schema_format_mail_skip_space(m);
        bool word = m->s.n && (at(m, '"') ? quoted(m, &n) : atom(m).n > 0);
        if (!word)
            return words > 0;
    }
}

static bool address(mail *m, bool may_be_group, size_t *count);

static bool group(mail *m, size_t *count)
{
    schema_format_mail_skip_space(m);
    if (eat_char(m, ';'))
        return skip_comments(m);
    for (;;) {
        schema_format_mail_skip_space(m);
        if (!address(m, false, count) || !skip_comments(m))
            return false;
        if (eat_char(m, ';'))
            return skip_comments(m);
        if (!eat_char(m, ','))
            return false;
    }
}

static bool address(mail *m, bool may_be_group, size_t *count)
{
    schema_format_mail_skip_space(m);
    if (!m->s.n)
        return false;
    if (addr_spec(m)) {
        ++*count;
        schema_format_mail_skip_space(m);
        return !eat_char(m, '(') || comment(m);
    }
    if (!at(m, '<') && !phrase(m))
        return false;
    schema_format_mail_skip_space(m);
    if (may_be_group && eat_char(m, ':'))
        return group(m, count);
    if (!eat_char(m, '<') || !addr_spec(m) || !eat_char(m, '>'))
        return false;
    ++*count;
    return true;
}

bool kc__schema_is_email(kc_str text)
{
    mail m = {text};
    size_t count = 0;
    return address(&m, true, &count) && skip_comments(&m) && !m.s.n && count == 1;
}
