/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonpath_parse.c: the text of a JSONPath template to lists of nodes.
 *
 * The reader follows client-go's, byte for byte where it matters, because templates in the wild
 * rely on what it happens to accept:
 *
 * - A bracket ends at the next ']' wherever that stands, and is split at commas before its quotes
 *   are looked at.
 * - ['a.b'] is read as .a.b is: its dots separate, and a backslash escapes them.
 * - All backslashes are dropped from a name, an escaped one too.
 * - The first quote in a filter must be closed before a ')' ends the filter; the left side ends at
 *   the first of '!<>='.
 *
 * What stands in brackets and filters is read by the same functions as a small template of its own.
 * Such a text holds no ']' in a bracket and no whole filter in a filter, so that goes three levels
 * deep at most: filter, union, name.
 */
#include "kc/ascii.h"
#include "object/jsonpath_internal.h"

#include <stdio.h>

typedef struct parser {
    kc_arena *arena;
    kc_str text;
    size_t at;
    kc_error *err;
} parser;

static int fail(parser *p, const char *why)
{
    return kc_error_set(p->err, KC_BAD_REQUEST, "%s", why);
}

static int fail_text(parser *p, const char *fmt, kc_str text) __attribute__((format(printf, 2, 0)));

/* fmt has one "%.*s". */
static int fail_text(parser *p, const char *fmt, kc_str text)
{
    char why[256];
    snprintf(why, sizeof(why), fmt, KC_ARG(kc_str_sub(text, 0, 200)));
    return fail(p, why);
}

static kc_str rest(const parser *p)
{
    return kc_str_sub(p->text, p->at, p->text.n);
}

static bool skip(parser *p, kc_str what)
{
    bool there = kc_str_starts(rest(p), what);
    p->at += there ? what.n : 0;
    return there;
}

/* The byte at the current place; -1 at the end. */
static int now(const parser *p)
{
    return p->at < p->text.n ? (unsigned char)p->text.p[p->at] : -1;
}

static kc__jp_node *add(parser *p, kc__jp_list *list, kc__jp_type type)
{
    kc__jp_node *node = kc_arena_new(p->arena, kc__jp_node);
    node->type = type;
    if (list->first)
        list->last->next = node;
    else
        list->first = node;
    list->last = node;
    return node;
}

static void add_text(parser *p, kc__jp_list *list, kc_str text)
{
    yyjson_set_strn(&add(p, list, KC__JP_TEXT)->literal, text.n ? text.p : "", text.n);
}

/* Bytes beyond ASCII count as letters. */
static bool is_word(int c)
{
    return c == '_' || kc_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c >= 0x80;
}

static bool ends_name(int c)
{
    return c <= 0 ? c < 0 : strchr(" \t\r\n.,[]$@{}", c) != NULL;
}

/* "unrecognized character in action: U+0023 '#'" */
static int fail_character(parser *p)
{
    char why[80];
    int c = now(p);
    bool printable = c >= ' ' && c < 0x7f;
    snprintf(why, sizeof(why),
             printable ? "unrecognized character in action: U+%04X '%c'"
                       : "unrecognized character in action: U+%04X",
             (unsigned)c, c);
    return fail(p, why);
}

static int parse_word(parser *p, kc__jp_list *list)
{
    size_t from = p->at;
    while (!ends_name(now(p)))
        p->at++;
    kc_str word = kc_str_sub(p->text, from, p->at);
    if (kc_str_is(word, "true") || kc_str_is(word, "false"))
        yyjson_set_bool(&add(p, list, KC__JP_LITERAL)->literal, word.n == 4);
    else
        add(p, list, KC__JP_WORD)->name = word;
    return 0;
}

/* With sign and point; digits only elsewhere. */
static bool parse_double(kc_str text, double *ret)
{
    char copy[400];
    size_t digits = 0, points = 0;
    for (size_t i = 0; i < text.n; i++) {
        digits += kc_is_digit(text.p[i]);
        points += text.p[i] == '.';
    }
    if (!digits || points > 1 || text.n >= sizeof(copy))
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    *ret = strtod(copy, NULL);
    return *ret <= 1.7976931348623157e308 && *ret >= -1.7976931348623157e308;
}

static bool parse_integer(kc_str text, int64_t *ret)
{
    if (text.n > 1 && text.p[0] == '+' && text.p[1] != '-')
        text = kc_str_sub(text, 1, text.n);
    return kc_str_to_i64(text, ret);
}

static int parse_number(parser *p, kc__jp_list *list)
{
    size_t from = p->at;
    int64_t integer;
    double number;
    if (now(p) == '+' || now(p) == '-')
        p->at++;
    while (now(p) == '.' || kc_is_digit(now(p)))
        p->at++;
    kc_str text = kc_str_sub(p->text, from, p->at);
    if (parse_integer(text, &integer))
        yyjson_set_sint(&add(p, list, KC__JP_LITERAL)->literal, integer);
    else if (parse_double(text, &number))
        yyjson_set_real(&add(p, list, KC__JP_LITERAL)->literal, number);
    else
        return fail_text(p, "cannot parse number %.*s", text);
    return 0;
}

/* From the current place to the end of the name. */
static int parse_field(parser *p, kc__jp_list *list)
{
    size_t from = p->at, n = 0;
    while (!ends_name(now(p)))
        p->at += now(p) == '\\' && p->at + 1 < p->text.n ? 2 : 1;
    kc_str raw = kc_str_sub(p->text, from, p->at);
    if (kc_str_is(raw, "*")) {
        add(p, list, KC__JP_WILDCARD);
        return 0;
    }
    char *name = kc_arena_alloc(p->arena, raw.n + 1);
    for (size_t i = 0; i < raw.n; i++)
        if (raw.p[i] != '\\')
            name[n++] = raw.p[i];
    add(p, list, KC__JP_FIELD)->name = kc_str_of(name, n);
    return 0;
}

static int parse_recursive(parser *p, kc__jp_list *list)
{
    if (list->last && list->last->type == KC__JP_RECURSIVE)
        return fail(p, "invalid multiple recursive descent");
    add(p, list, KC__JP_RECURSIVE);
    return is_word(now(p)) ? parse_field(p, list) : 0;
}

/* Up to `n` digits of a base at s[*at]; -1 when there are fewer. */
static int64_t read_digits(kc_str s, size_t *at, size_t n, int base)
{
    int64_t code = 0;
    for (size_t i = 0; i < n; i++, ++*at) {
        int digit = *at < s.n ? kc_hex_value(s.p[*at]) : -1;
        if (digit < 0 || digit >= base)
            return -1;
        code = code * base + digit;
    }
    return code;
}

static bool put_rune(kc_buf *out, int64_t code)
{
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return false;
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    kc_buf_putc(out, (char)(first[n] | code >> (6 * (n - 1))));
    while (--n)
        kc_buf_putc(out, (char)(0x80 | (code >> (6 * (n - 1)) & 0x3F)));
    return true;
}

/* What follows a backslash, as in a Go string. */
static bool unquote_escape(kc_str s, size_t *at, char quote, kc_buf *out)
{
    static const char from[] = "abfnrtv\\", to[] = "\a\b\f\n\r\t\v\\";
    if (*at == s.n)
        return false;
    char c = s.p[(*at)++];
    const char *found = c ? strchr(from, c) : NULL;
    int64_t code = -1;
    if (found || c == quote) {
        kc_buf_putc(out, found ? to[found - from] : c);
        return true;
    }
    if (c == 'u' || c == 'U') {
        code = read_digits(s, at, c == 'u' ? 4 : 8, 16);
        return code >= 0 && put_rune(out, code);
    }
    if (c == 'x') {
        code = read_digits(s, at, 2, 16);
    } else if (c >= '0' && c <= '7') {
        --*at;
        code = read_digits(s, at, 3, 8);
    }
    if (code < 0 || code > 0xFF)
        return false;
    kc_buf_putc(out, (char)code);
    return true;
}

static bool unquote(kc_str s, char quote, kc_buf *out)
{
    for (size_t i = 0; i < s.n;) {
        char c = s.p[i++];
        if (c == quote)
            return false;
        if (c != '\\')
            kc_buf_putc(out, c);
        else if (!unquote_escape(s, &i, quote, out))
            return false;
    }
    return true;
}

static int parse_quote(parser *p, kc__jp_list *list)
{
    size_t from = p->at++;
    char quote = p->text.p[from];
    kc_scoped(kc_buf) plain = {0};
    while (now(p) != quote || p->text.p[p->at - 1] == '\\') {
        if (now(p) < 0 || now(p) == '\n')
            return fail(p, "unterminated quoted string");
        p->at++;
    }
    p->at++;
    kc_str raw = kc_str_sub(p->text, from, p->at);
    if (!unquote(kc_str_sub(raw, 1, raw.n - 1), quote, &plain))
        return fail_text(p, "unquote string %.*s error invalid syntax", raw);
    add_text(p, list, kc_arena_str(p->arena, kc_buf_str(&plain)));
    return 0;
}

/* Reads "before text after" as what stands in braces. */
static int parse_inner(parser *p, const char *before, kc_str text, const char *after,
                       kc__jp_list *ret)
{
    kc__jp_lists lists = {0};
    kc_scoped(kc_buf) whole = {0};
    kc_buf_printf(&whole, "{%s", before);
    kc_buf_append(&whole, text);
    kc_buf_printf(&whole, "%s}", after);
    kc_str inner = kc_arena_str(p->arena, kc_buf_str(&whole));
    int failed = kc__jp_parse(p->arena, inner, &lists, p->err);
    if (!failed)
        *ret = lists.items[0];
    kc_vec_done(&lists);
    for (kc__jp_node *node = failed ? NULL : ret->first; node; node = node->next)
        if (node->type == KC__JP_WORD &&
            (kc_str_is(node->name, "range") || kc_str_is(node->name, "end")))
            return fail_text(p, "%.*s cannot stand in brackets", node->name);
    return failed;
}

static int parse_union(parser *p, kc__jp_list *list, kc_str text)
{
    kc__jp_lists lists = {0};
    int failed = 0;
    while (text.p && !failed) {
        kc_str item = kc_str_cut(&text, ',');
        while (item.n && item.p[0] == ' ')
            item = kc_str_sub(item, 1, item.n);
        while (item.n && item.p[item.n - 1] == ' ')
            item.n--;
        failed = parse_inner(p, "[", item, "]", kc_vec_add(&lists));
    }
    kc__jp_node *node = add(p, list, KC__JP_UNION);
    node->choice.n = lists.n;
    node->choice.lists = kc_arena_alloc(p->arena, (lists.n + 1) * sizeof(*lists.items));
    memcpy(node->choice.lists, lists.items, lists.n * sizeof(*lists.items));
    kc_vec_done(&lists);
    return failed;
}

static bool is_quoted_name(kc_str text)
{
    return text.n >= 2 && text.p[0] == '\'' && text.p[text.n - 1] == '\'' &&
           kc_str_find(kc_str_sub(text, 1, text.n - 1), '\'') < 0;
}

static int parse_quoted_name(parser *p, kc__jp_list *list, kc_str text)
{
    kc__jp_list inner = {0};
    int failed = parse_inner(p, ".", kc_str_sub(text, 1, text.n - 1), "", &inner);
    if (failed)
        return failed;
    if (list->first)
        list->last->next = inner.first;
    else
        list->first = inner.first;
    list->last = inner.last;
    return 0;
}

/* Takes "-12" or nothing from the front. */
static kc_str take_number(kc_str *text)
{
    size_t n = text->n && text->p[0] == '-';
    while (n < text->n && kc_is_digit(text->p[n]))
        n++;
    kc_str number = kc_str_sub(*text, 0, n);
    *text = kc_str_sub(*text, n, text->n);
    return number;
}

static int slice_number(parser *p, kc_str text, int64_t *ret, bool *ret_has)
{
    *ret_has = text.n > 0;
    if (text.n && !kc_str_to_i64(text, ret))
        return fail_text(p, "array index %.*s is not a number", text);
    return 0;
}

static int parse_slice(parser *p, kc__jp_list *list, kc_str text)
{
    kc_str left = text, numbers[3] = {take_number(&left)};
    size_t n = 1;
    for (; n < 3 && left.n && left.p[0] == ':'; n++) {
        left = kc_str_sub(left, 1, left.n);
        numbers[n] = take_number(&left);
    }
    if (left.n)
        return fail_text(p, "invalid array index %.*s", text);
    kc__jp_node *node = add(p, list, KC__JP_SLICE);
    int failed = slice_number(p, numbers[0], &node->slice.from, &node->slice.has_from);
    if (!failed)
        failed = slice_number(p, numbers[1], &node->slice.to, &node->slice.has_to);
    if (!failed)
        failed = slice_number(p, numbers[2], &node->slice.step, &node->slice.has_step);
    if (n == 1) {
        node->slice.single = node->slice.has_to = true;
        node->slice.to = (int64_t)((uint64_t)node->slice.from + 1);
    }
    return failed;
}

/* Behind the opening bracket. */
static int parse_bracket(parser *p, kc__jp_list *list)
{
    size_t from = p->at;
    while (now(p) != ']') {
        if (now(p) < 0 || now(p) == '\n')
            return fail(p, "unterminated array");
        p->at++;
    }
    kc_str text = kc_str_sub(p->text, from, p->at++);
    if (kc_str_is(text, "*"))
        text = KC_STR(":");
    if (kc_str_find(text, ',') >= 0)
        return parse_union(p, list, text);
    if (is_quoted_name(text))
        return parse_quoted_name(p, list, text);
    return parse_slice(p, list, text);
}

static bool is_operator(char c)
{
    return c == '!' || c == '<' || c == '>' || c == '=';
}

/* Moves to the ')' that ends a filter: not one before the first quote has been closed. */
static int find_filter_end(parser *p)
{
    int quote = 0;
    bool closed = false;
    for (; now(p) != ')' || (quote && !closed); p->at++) {
        int c = now(p);
        if (c < 0 || c == '\n')
            return fail(p, "unterminated filter");
        if (!quote && (c == '"' || c == '\''))
            quote = c;
        else if (c == quote && p->text.p[p->at - 1] != '\\')
            closed = true;
    }
    return 0;
}

/* Behind "[?(". */
static int parse_filter(parser *p, kc__jp_list *list)
{
    size_t from = p->at, op = 0;
    int failed = find_filter_end(p);
    if (failed)
        return failed;
    kc_str text = kc_str_sub(p->text, from, p->at++);
    if (!skip(p, KC_STR("]")))
        return fail(p, "unclosed array expect ]");
    kc__jp_node *node = add(p, list, KC__JP_FILTER);
    while (op < text.n && !is_operator(text.p[op]))
        op++;
    size_t right = op;
    while (right < text.n && is_operator(text.p[right]))
        right++;
    /* Of an operator at the very end, its last character is what it is compared with. */
    if (right == text.n && right > op + 1)
        right--;
    if (op == 0 || op == right || right == text.n)
        return parse_inner(p, "", text, "", &node->filter.left);
    node->filter.op = kc_str_sub(text, op, right);
    failed = parse_inner(p, "", kc_str_sub(text, 0, op), "", &node->filter.left);
    if (failed)
        return failed;
    return parse_inner(p, "", kc_str_sub(text, right, text.n), "", &node->filter.right);
}

static int parse_step(parser *p, kc__jp_list *list)
{
    int c = now(p);
    if (c < 0 || c == '\n' || c == '\r')
        return fail(p, "unclosed action");
    if (skip(p, KC_STR("[?(")))
        return parse_filter(p, list);
    if (skip(p, KC_STR("..")))
        return parse_recursive(p, list);
    if (skip(p, KC_STR("[")))
        return parse_bracket(p, list);
    if (skip(p, KC_STR(".")))
        return parse_field(p, list);
    if (skip(p, KC_STR(" ")) || skip(p, KC_STR("@")) || skip(p, KC_STR("$")))
        return 0;
    if (c == '"' || c == '\'')
        return parse_quote(p, list);
    if (c == '+' || c == '-' || kc_is_digit(c))
        return parse_number(p, list);
    return is_word(c) ? parse_word(p, list) : fail_character(p);
}

int kc__jp_parse(kc_arena *arena, kc_str text, kc__jp_lists *out, kc_error *err)
{
    parser p = {.arena = arena, .text = text, .err = err};
    int failed = 0;
    while (p.at < text.n && !failed) {
        ptrdiff_t brace = kc_str_find(rest(&p), '{');
        size_t plain = brace < 0 ? text.n - p.at : (size_t)brace;
        if (plain)
            add_text(&p, kc_vec_add(out), kc_str_sub(text, p.at, p.at + plain));
        p.at += plain;
        if (!skip(&p, KC_STR("{")))
            break;
        kc__jp_list list = {0};
        while (!failed && !skip(&p, KC_STR("}")))
            failed = parse_step(&p, &list);
        kc_vec_push(out, list);
    }
    return failed;
}
