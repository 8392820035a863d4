/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonpath_parse.c: parses the text of a JSONPath template into lists of nodes.
 *
 * The parser follows client-go's, byte for byte where it matters, because existing templates rely
 * on what it happens to accept:
 *
 * - A bracket ends at the next ']' in any context, and is split at commas before its quotes are
 *   interpreted.
 * - ['a.b'] is read as .a.b: its dots separate, and a backslash escapes them.
 * - All backslashes are dropped from a name, an escaped one too.
 * - The first quote in a filter must be closed before a ')' ends the filter; the left side ends at
 *   the first of '!<>='.
 *
 * The same functions parse the content of brackets and filters as a small template. Such a text
 * contains no ']' in a bracket and no whole filter in a filter, so the nesting is at most three
 * levels: filter, union, name.
 */
#include "kc/ascii.h"
#include "object/path/jsonpath_internal.h"

#include <stdio.h>

typedef struct jsonpath_parse_parser {
    kc_arena *arena;
    kc_str text;
    size_t at;
    kc_error *err;
} jsonpath_parse_parser;

static int jsonpath_parse_fail(jsonpath_parse_parser *p, const char *why)
{
    return kc_error_set(p->err, KC_BAD_REQUEST, "%s", why);
}

static int fail_text(jsonpath_parse_parser *p, const char *fmt, kc_str text)
    __attribute__((format(printf, 2, 0)));

/* fmt has one "%.*s". */
static int fail_text(jsonpath_parse_parser *p, const char *fmt, kc_str text)
{
    char why[256];
    snprintf(why, sizeof(why), fmt, KC_ARG(kc_str_sub(text, 0, 200)));
    return jsonpath_parse_fail(p, why);
}

static kc_str rest(const jsonpath_parse_parser *p)
{
    return kc_str_sub(p->text, p->at, p->text.n);
}

static bool jsonpath_parse_skip(jsonpath_parse_parser *p, kc_str what)
{
    bool there = kc_str_starts(rest(p), what);
    p->at += there ? what.n : 0;
    return there;
}

/* The current byte; -1 at the end. */
static int jsonpath_parse_now(const jsonpath_parse_parser *p)
{
    return p->at < p->text.n ? (unsigned char)p->text.p[p->at] : -1;
}

static kc__jsonpath_node *jsonpath_parse_add(jsonpath_parse_parser *p, kc__jsonpath_list *list,
                                             kc__jsonpath_node_type type)
{
    kc__jsonpath_node *node = kc_arena_new(p->arena, kc__jsonpath_node);
    node->type = type;
    if (list->first)
        list->last->next = node;
    else
        list->first = node;
    list->last = node;
    return node;
}

static void jsonpath_parse_add_text(jsonpath_parse_parser *p, kc__jsonpath_list *list, kc_str text)
{
    yyjson_set_strn(&jsonpath_parse_add(p, list, KC__JSONPATH_TEXT)->literal, text.n ? text.p : "",
                    text.n);
}

/* Bytes beyond ASCII count as letters. */
static bool jsonpath_parse_is_word(int c)
{
    return c == '_' || kc_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c >= 0x80;
}

static bool ends_name(int c)
{
    return c <= 0 ? c < 0 : strchr(" \t\r\n.,[]$@{}", c) != NULL;
}

/* "unrecognized character in action: U+0023 '#'" */
static int fail_character(jsonpath_parse_parser *p)
{
    char why[80];
    int c = jsonpath_parse_now(p);
    bool printable = c >= ' ' && c < 0x7f;
    snprintf(why, sizeof(why),
             printable ? "unrecognized character in action: U+%04X '%c'"
                       : "unrecognized character in action: U+%04X",
             (unsigned)c, c);
    return jsonpath_parse_fail(p, why);
}

static int parse_word(jsonpath_parse_parser *p, kc__jsonpath_list *list)
{
    size_t from = p->at;
    while (!ends_name(jsonpath_parse_now(p)))
        p->at++;
    kc_str word = kc_str_sub(p->text, from, p->at);
    if (kc_str_is(word, "true") || kc_str_is(word, "false"))
        yyjson_set_bool(&jsonpath_parse_add(p, list, KC__JSONPATH_LITERAL)->literal, word.n == 4);
    else
        jsonpath_parse_add(p, list, KC__JSONPATH_WORD)->name = word;
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

static int parse_number(jsonpath_parse_parser *p, kc__jsonpath_list *list)
{
    size_t from = p->at;
    int64_t integer;
    double number;
    if (jsonpath_parse_now(p) == '+' || jsonpath_parse_now(p) == '-')
        p->at++;
    while (jsonpath_parse_now(p) == '.' || kc_is_digit(jsonpath_parse_now(p)))
        p->at++;
    kc_str text = kc_str_sub(p->text, from, p->at);
    if (parse_integer(text, &integer))
        yyjson_set_sint(&jsonpath_parse_add(p, list, KC__JSONPATH_LITERAL)->literal, integer);
    else if (parse_double(text, &number))
        yyjson_set_real(&jsonpath_parse_add(p, list, KC__JSONPATH_LITERAL)->literal, number);
    else
        return fail_text(p, "cannot parse number %.*s", text);
    return 0;
}

/* From the current position to the end of the name. */
static int parse_field(jsonpath_parse_parser *p, kc__jsonpath_list *list)
{
    size_t from = p->at, n = 0;
    while (!ends_name(jsonpath_parse_now(p)))
        p->at += jsonpath_parse_now(p) == '\\' && p->at + 1 < p->text.n ? 2 : 1;
    kc_str raw = kc_str_sub(p->text, from, p->at);
    if (kc_str_is(raw, "*")) {
        jsonpath_parse_add(p, list, KC__JSONPATH_WILDCARD);
        return 0;
    }
    char *name = kc_arena_alloc(p->arena, raw.n + 1);
    for (size_t i = 0; i < raw.n; i++)
        if (raw.p[i] != '\\')
            name[n++] = raw.p[i];
    jsonpath_parse_add(p, list, KC__JSONPATH_FIELD)->name = kc_str_of(name, n);
    return 0;
}

static int parse_recursive(jsonpath_parse_parser *p, kc__jsonpath_list *list)
{
    if (list->last && list->last->type == KC__JSONPATH_RECURSIVE)
        return jsonpath_parse_fail(p, "invalid multiple recursive descent");
    jsonpath_parse_add(p, list, KC__JSONPATH_RECURSIVE);
    return jsonpath_parse_is_word(jsonpath_parse_now(p)) ? parse_field(p, list) : 0;
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

static bool jsonpath_parse_put_rune(kc_buf *out, int64_t code)
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

/* Decodes the escape after a backslash, as in a Go string. */
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
        return code >= 0 && jsonpath_parse_put_rune(out, code);
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

static int parse_quote(jsonpath_parse_parser *p, kc__jsonpath_list *list)
{
    size_t from = p->at++;
    char quote = p->text.p[from];
    kc_scoped(kc_buf) plain = {0};
    while (jsonpath_parse_now(p) != quote || p->text.p[p->at - 1] == '\\') {
        if (jsonpath_parse_now(p) < 0 || jsonpath_parse_now(p) == '\n')
            return jsonpath_parse_fail(p, "unterminated quoted string");
        p->at++;
    }
    p->at++;
    kc_str raw = kc_str_sub(p->text, from, p->at);
    if (!unquote(kc_str_sub(raw, 1, raw.n - 1), quote, &plain))
        return fail_text(p, "unquote string %.*s error invalid syntax", raw);
    jsonpath_parse_add_text(p, list, kc_arena_str(p->arena, kc_buf_str(&plain)));
    return 0;
}

/* Parses "before text after" as the content of braces. */
static int parse_inner(jsonpath_parse_parser *p, const char *before, kc_str text, const char *after,
                       kc__jsonpath_list *ret)
{
    kc__jsonpath_lists lists = {0};
    kc_scoped(kc_buf) whole = {0};
    kc_buf_printf(&whole, "{%s", before);
    kc_buf_append(&whole, text);
    kc_buf_printf(&whole, "%s}", after);
    kc_str inner = kc_arena_str(p->arena, kc_buf_str(&whole));
    int failed = kc__jsonpath_parse(p->arena, inner, &lists, p->err);
    if (!failed)
        *ret = lists.items[0];
    kc_vec_done(&lists);
    for (kc__jsonpath_node *node = failed ? NULL : ret->first; node; node = node->next)
        if (node->type == KC__JSONPATH_WORD &&
            (kc_str_is(node->name, "range") || kc_str_is(node->name, "end")))
            return fail_text(p, "%.*s is not allowed in brackets", node->name);
    return failed;
}

static int parse_union(jsonpath_parse_parser *p, kc__jsonpath_list *list, kc_str text)
{
    kc__jsonpath_lists lists = {0};
    int failed = 0;
    while (text.p && !failed) {
        kc_str item = kc_str_cut(&text, ',');
        while (item.n && item.p[0] == ' ')
            item = kc_str_sub(item, 1, item.n);
        while (item.n && item.p[item.n - 1] == ' ')
            item.n--;
        failed = parse_inner(p, "[", item, "]", kc_vec_add(&lists));
    }
    kc__jsonpath_node *node = jsonpath_parse_add(p, list, KC__JSONPATH_UNION);
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

static int parse_quoted_name(jsonpath_parse_parser *p, kc__jsonpath_list *list, kc_str text)
{
    kc__jsonpath_list inner = {0};
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

/* Removes "-12" or nothing from the front. */
static kc_str jsonpath_parse_take_number(kc_str *text)
{
    size_t n = text->n && text->p[0] == '-';
    while (n < text->n && kc_is_digit(text->p[n]))
        n++;
    kc_str number = kc_str_sub(*text, 0, n);
    *text = kc_str_sub(*text, n, text->n);
    return number;
}

static int slice_number(jsonpath_parse_parser *p, kc_str text, int64_t *ret, bool *ret_has)
{
    *ret_has = text.n > 0;
    if (text.n && !kc_str_to_i64(text, ret))
        return fail_text(p, "array index %.*s is not a number", text);
    return 0;
}

static int parse_slice(jsonpath_parse_parser *p, kc__jsonpath_list *list, kc_str text)
{
    kc_str left = text, numbers[3] = {jsonpath_parse_take_number(&left)};
    size_t n = 1;
    for (; n < 3 && left.n && left.p[0] == ':'; n++) {
        left = kc_str_sub(left, 1, left.n);
        numbers[n] = jsonpath_parse_take_number(&left);
    }
    if (left.n)
        return fail_text(p, "invalid array index %.*s", text);
    kc__jsonpath_node *node = jsonpath_parse_add(p, list, KC__JSONPATH_SLICE);
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

/* After the opening bracket. */
static int parse_bracket(jsonpath_parse_parser *p, kc__jsonpath_list *list)
{
    size_t from = p->at;
    while (jsonpath_parse_now(p) != ']') {
        if (jsonpath_parse_now(p) < 0 || jsonpath_parse_now(p) == '\n')
            return jsonpath_parse_fail(p, "unterminated array");
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

/* Moves to the ')' that ends a filter: not before the first quote is closed. */
static int find_filter_end(jsonpath_parse_parser *p)
{
    int quote = 0;
    bool closed = false;
    for (; jsonpath_parse_now(p) != ')' || (quote && !closed); p->at++) {
        int c = jsonpath_parse_now(p);
        if (c < 0 || c == '\n')
            return jsonpath_parse_fail(p, "unterminated filter");
        if (!quote && (c == '"' || c == '\''))
            quote = c;
        else if (c == quote && p->text.p[p->at - 1] != '\\')
            closed = true;
    }
    return 0;
}

/* After "[?(". */
static int parse_filter(jsonpath_parse_parser *p, kc__jsonpath_list *list)
{
    size_t from = p->at, op = 0;
    int failed = find_filter_end(p);
    if (failed)
        return failed;
    kc_str text = kc_str_sub(p->text, from, p->at++);
    if (!jsonpath_parse_skip(p, KC_STR("]")))
        return jsonpath_parse_fail(p, "unclosed array expect ]");
    kc__jsonpath_node *node = jsonpath_parse_add(p, list, KC__JSONPATH_FILTER);
    while (op < text.n && !is_operator(text.p[op]))
        op++;
    size_t right = op;
    while (right < text.n && is_operator(text.p[right]))
        right++;
    /* If an operator is at the very end, its last character is the right operand. */
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

static int parse_step(jsonpath_parse_parser *p, kc__jsonpath_list *list)
{
    int c = jsonpath_parse_now(p);
    if (c < 0 || c == '\n' || c == '\r')
        return jsonpath_parse_fail(p, "unclosed action");
    if (jsonpath_parse_skip(p, KC_STR("[?(")))
        return parse_filter(p, list);
    if (jsonpath_parse_skip(p, KC_STR("..")))
        return parse_recursive(p, list);
    if (jsonpath_parse_skip(p, KC_STR("[")))
        return parse_bracket(p, list);
    if (jsonpath_parse_skip(p, KC_STR(".")))
        return parse_field(p, list);
    if (jsonpath_parse_skip(p, KC_STR(" ")) || jsonpath_parse_skip(p, KC_STR("@")) ||
        jsonpath_parse_skip(p, KC_STR("$")))
        return 0;
    if (c == '"' || c == '\'')
        return parse_quote(p, list);
    if (c == '+' || c == '-' || kc_is_digit(c))
        return parse_number(p, list);
    return jsonpath_parse_is_word(c) ? parse_word(p, list) : fail_character(p);
}

int kc__jsonpath_parse(kc_arena *arena, kc_str text, kc__jsonpath_lists *out, kc_error *err)
{
    jsonpath_parse_parser p = {.arena = arena, .text = text, .err = err};
    int failed = 0;
    while (p.at < text.n && !failed) {
        ptrdiff_t brace = kc_str_find(rest(&p), '{');
        size_t plain = brace < 0 ? text.n - p.at : (size_t)brace;
        if (plain)
            jsonpath_parse_add_text(&p, kc_vec_add(out), kc_str_sub(text, p.at, p.at + plain));
        p.at += plain;
        if (!jsonpath_parse_skip(&p, KC_STR("{")))
            break;
        kc__jsonpath_list list = {0};
        while (!failed && !jsonpath_parse_skip(&p, KC_STR("}")))
            failed = parse_step(&p, &list);
        kc_vec_push(out, list);
    }
    return failed;
}
