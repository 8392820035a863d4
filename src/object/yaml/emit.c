/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.c: strings in YAML's four styles, and their layout.
 *
 *     plain             if it parses to the same string and breaks no syntax
 *     'single quoted'   if only syntax prevents plain style (": ", " #", a leading '-', …)
 *     "double quoted"   if it would parse as a number, boolean, …, or has characters that need an
 *                       escape
 *     |                 if it has line breaks, and a block preserves all of it
 *
 * Styles, escapes and folding at the first space after column 80 are kubectl's. There are two
 * differences, so that the output parses to the input: a key "<<" is quoted, and Unicode line
 * breaks are escaped.
 */
#include "kc/utf8.h"
#include "object/model/object_internal.h"
#include "object/yaml/yaml_internal.h"

#include <stdio.h>

enum { STEP = 2, WIDTH = 80, LONGEST_SIMPLE_KEY = 128 };

/* ---- layout ---- */

static void yaml_emit_put(kc__yaml_emitter *e, kc_str character)
{
    kc_buf_append(e->out, character);
    e->column++;
}

static void put_char(kc__yaml_emitter *e, char c)
{
    yaml_emit_put(e, kc_str_of(&c, 1));
}

static void put_break(kc__yaml_emitter *e)
{
    kc_buf_putc(e->out, '\n');
    e->column = 0;
}

void kc__yaml_emit_indent(kc__yaml_emitter *e)
{
    size_t indent = e->indent < 0 ? 0 : (size_t)e->indent;
    if (!e->indention || e->column > indent || (e->column == indent && !e->whitespace))
        put_break(e);
    while (e->column < indent)
        put_char(e, ' ');
    e->whitespace = e->indention = true;
}

void kc__yaml_emit_indicator(kc__yaml_emitter *e, const char *text, bool spaced, bool indention)
{
    if (spaced && !e->whitespace)
        put_char(e, ' ');
    kc_buf_puts(e->out, text);
    e->column += strlen(text);
    e->whitespace = false;
    e->indention = e->indention && indention;
}

/* ---- choice of style ---- */

enum style { PLAIN, SINGLE_QUOTED, DOUBLE_QUOTED, LITERAL };

/* Properties that exclude a style. */
typedef struct analysis {
    bool line_break;  /* Contains one. */
    bool indicator;   /* Contains a character with a meaning in block style. */
    bool edge;        /* Starts or ends with a space or a break. */
    bool final_space; /* Ends with a space. */
    bool space_break; /* Contains a space before a break. */
    bool special;     /* Contains a character that needs an escape. */
} analysis;

static bool is_blank_at(kc_str text, size_t at)
{
    return at >= text.n || text.p[at] == ' ' || text.p[at] == '\t';
}

/* True if the character has a syntactic meaning at this position. */
static bool is_indicator(kc_str text, size_t at)
{
    char c = text.p[at];
    if (at == 0 && strchr("#,[]{}&*!|>'\"%@`", c))
        return c != '\0';
    if (c == ':' || (at == 0 && (c == '?' || c == '-')))
        return is_blank_at(text, at + 1);
    return c == '#' && strchr(" \t\r\n", text.p[at - 1]);
}

/* For the character of n bytes at p. Escapes code points beyond U+FFFF, too, as kubectl does. */
static bool needs_escape(const unsigned char *p, size_t n)
{
    switch (n) {
    case 1: return (p[0] < ' ' && p[0] != '\n') || p[0] == 0x7F;
    case 2: return p[0] == 0xC2 && p[1] < 0xA0;
    case 3:
        return (p[0] == 0xE2 && p[1] == 0x80 && (p[2] == 0xA8 || p[2] == 0xA9)) ||
               (p[0] == 0xEF && ((p[1] == 0xBB && p[2] == 0xBF) || (p[1] == 0xBF && p[2] >= 0xBE)));
    default: return true;
    }
}

static size_t length_at(kc_str text, size_t at)
{
    size_t n = kc_utf8_next(kc_str_sub(text, at, text.n), NULL);
    return n ? n : 1;
}

static analysis analyse(kc_str text)
{
    analysis a = {0};
    a.indicator = kc_str_starts(text, KC_STR("---")) || kc_str_starts(text, KC_STR("..."));
    for (size_t i = 0, n; i < text.n; i += n) {
        char c = text.p[i];
        n = length_at(text, i);
        a.line_break |= c == '\n';
        a.space_break |= c == '\n' && i && text.p[i - 1] == ' ';
        a.indicator |= is_indicator(text, i);
        a.special |= needs_escape((const unsigned char *)text.p + i, n);
    }
    if (text.n) {
        char first = text.p[0], last = text.p[text.n - 1];
        a.final_space = last == ' ';
        a.edge = a.final_space || last == '\n' || first == ' ' || first == '\n';
    }
    return a;
}

/* 1:30 and similar, which YAML 1.1 reads as a number in base 60:
 * [-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)? */
static bool is_base60(kc_str text)
{
    size_t i = text.n && (text.p[0] == '-' || text.p[0] == '+'), parts = 0;
    if (i == text.n || text.p[i] < '0' || text.p[i] > '9')
        return false;
    while (i < text.n && ((text.p[i] >= '0' && text.p[i] <= '9') || text.p[i] == '_'))
        i++;
    for (; i < text.n && text.p[i] == ':'; parts++) {
        size_t start = ++i;
        while (i < text.n && text.p[i] >= '0' && text.p[i] <= '9')
            i++;
        if (i == start || i > start + 2 || (i == start + 2 && text.p[start] > '5'))
            return false;
    }
    if (i < text.n && text.p[i] == '.')
        for (i++; i < text.n && ((text.p[i] >= '0' && text.p[i] <= '9') || text.p[i] == '_');)
            i++;
    return parts && i == text.n;
}

static bool reads_as_string(kc_str text, bool key)
{
    return kc__yaml_resolve(text).type == KC__YAML_STRING && !is_base60(text) &&
           !(key && kc_str_is(text, "<<"));
}

static enum style style_of(kc_str text, bool key)
{
    analysis a = analyse(text);
    if (a.line_break)
        return key || a.special || a.space_break || a.final_space ? DOUBLE_QUOTED : LITERAL;
    if (a.special || !reads_as_string(text, key))
        return DOUBLE_QUOTED;
    return a.edge || a.indicator ? SINGLE_QUOTED : PLAIN;
}

/* Any of YAML's: LF, CR, NEL, LS and PS. */
static bool is_break_at(kc_str text, size_t at)
{
    kc_str rest = kc_str_sub(text, at, text.n);
    switch (rest.p[0]) {
    case '\n':
    case '\r': return true;
    case '\xC2': return kc_str_starts(rest, KC_STR("\xC2\x85"));
    case '\xE2':
        return kc_str_starts(rest, KC_STR("\xE2\x80\xA8")) ||
               kc_str_starts(rest, KC_STR("\xE2\x80\xA9"));
    default: return false;
    }
}

bool kc__yaml_is_simple_key(kc_str key)
{
    if (key.n > LONGEST_SIMPLE_KEY)
        return false;
    for (size_t i = 0; i < key.n; i++)
        if (is_break_at(key, i))
            return false;
    return true;
}

/* ---- styles ---- */

static bool is_space_at(kc_str text, size_t at)
{
    return at < text.n && text.p[at] == ' ';
}

/* True if the line may be folded at the space at `at`. */
static bool may_fold(const kc__yaml_emitter *e, kc_str text, size_t at, bool key)
{
    return !key && e->column > WIDTH && at > 0 && at + 1 < text.n && text.p[at - 1] != ' ';
}

/* The end of the characters from `at` on that neither fold nor double. */
static size_t run_end(kc_str text, size_t at)
{
    while (at < text.n && text.p[at] != ' ' && text.p[at] != '\'')
        at++;
    return at;
}

static void put_run(kc__yaml_emitter *e, kc_str run)
{
    kc_buf_append(e->out, run);
    for (size_t i = 0; i < run.n; i++)
        e->column += (run.p[i] & 0xC0) != 0x80;
}

/* Plain text, or the content of single quotes, where a quote is doubled. */
static void put_folded(kc__yaml_emitter *e, kc_str text, bool key, bool quoted)
{
    for (size_t i = 0; i < text.n;) {
        size_t end = run_end(text, i);
        put_run(e, kc_str_sub(text, i, end));
        e->indention = e->indention && end == i;
        if (end == text.n)
            return;
        i = end + 1;
        if (text.p[end] == ' ' && may_fold(e, text, end, key) && !is_space_at(text, i)) {
            kc__yaml_emit_indent(e);
            continue;
        }
        if (quoted && text.p[end] == '\'')
            put_char(e, '\'');
        put_char(e, text.p[end]);
        e->indention = false;
    }
}

static void emit_plain(kc__yaml_emitter *e, kc_str text, bool key)
{
    if (!e->whitespace)
        put_char(e, ' ');
    put_folded(e, text, key, false);
    e->whitespace = e->indention = false;
}

void kc__yaml_emit_plain(kc__yaml_emitter *e, kc_str text)
{
    emit_plain(e, text, true);
}

static void emit_single_quoted(kc__yaml_emitter *e, kc_str text, bool key)
{
    kc__yaml_emit_indicator(e, "'", true, false);
    put_folded(e, text, key, true);
    kc__yaml_emit_indicator(e, "'", false, false);
}

static uint32_t code_point(kc_str character)
{
    static const unsigned char first_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = (unsigned char)character.p[0] & first_bits[character.n];
    for (size_t i = 1; i < character.n; i++)
        code = code << 6 | ((unsigned char)character.p[i] & 0x3F);
    return code;
}

static void put_escape(kc__yaml_emitter *e, kc_str character)
{
    static const struct {
        uint32_t code;
        char letter;
    } letters[] = {{0, '0'},     {7, 'a'},    {8, 'b'},    {'\t', 't'},   {'\n', 'n'},
                   {11, 'v'},    {12, 'f'},   {'\r', 'r'}, {27, 'e'},     {'"', '"'},
                   {'\\', '\\'}, {0x85, 'N'}, {0xA0, '_'}, {0x2028, 'L'}, {0x2029, 'P'}};
    uint32_t code = code_point(character);
    char text[16];
    snprintf(text, sizeof(text),
             code <= 0xFF     ? "\\x%02X"
             : code <= 0xFFFF ? "\\u%04X"
                              : "\\U%08X",
             (unsigned)code);
    for (size_t i = 0; i < KC_COUNT(letters); i++)
        if (letters[i].code == code)
            snprintf(text, sizeof(text), "\\%c", letters[i].letter);
    kc_buf_puts(e->out, text);
    e->column += strlen(text);
}

static void emit_double_quoted(kc__yaml_emitter *e, kc_str text, bool key)
{
    kc__yaml_emit_indicator(e, "\"", true, false);
    for (size_t i = 0, n; i < text.n; i += n) {
        char c = text.p[i];
        n = length_at(text, i);
        if (c == '"' || c == '\\' || c == '\n' ||
            needs_escape((const unsigned char *)text.p + i, n)) {
            put_escape(e, kc_str_sub(text, i, i + n));
        } else if (c == ' ' && may_fold(e, text, i, key)) {
            kc__yaml_emit_indent(e);
            if (is_space_at(text, i + 1))
                put_char(e, '\\');
        } else {
            yaml_emit_put(e, kc_str_sub(text, i, i + n));
        }
    }
    kc__yaml_emit_indicator(e, "\"", false, false);
}

/* "2" when the first line cannot show the indentation; "-" and "+" for none and several breaks at
 * the end. */
static void put_block_hints(kc__yaml_emitter *e, kc_str text)
{
    bool ends_with_break = text.p[text.n - 1] == '\n';
    if (text.p[0] == ' ' || text.p[0] == '\n')
        put_char(e, '0' + STEP);
    if (!ends_with_break)
        put_char(e, '-');
    else if (text.n == 1 || text.p[text.n - 2] == '\n')
        put_char(e, '+');
}

static void emit_literal(kc__yaml_emitter *e, kc_str text)
{
    kc__yaml_emit_indicator(e, "|", true, false);
    put_block_hints(e, text);
    put_break(e);
    e->whitespace = e->indention = true;
    while (text.p) {
        kc_str line = kc_str_cut(&text, '\n');
        if (line.n) {
            kc__yaml_emit_indent(e);
            kc_buf_append(e->out, line);
            e->column += line.n;
            e->indention = false;
        }
        if (text.p) {
            put_break(e);
            e->indention = true;
        }
    }
}

void kc__yaml_emit_string(kc__yaml_emitter *e, kc_str text, bool key)
{
    int before = e->indent;
    e->indent = before < 0 ? STEP : before + STEP;
    switch (style_of(text, key)) {
    case PLAIN: emit_plain(e, text, key); break;
    case SINGLE_QUOTED: emit_single_quoted(e, text, key); break;
    case DOUBLE_QUOTED: emit_double_quoted(e, text, key); break;
    case LITERAL: emit_literal(e, text); break;
    }
    e->indent = before;
}
