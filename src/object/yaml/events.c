/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.c: wraps libyaml.
 *
 * kubectl's parser is a translation of libyaml, so both accept the same text; libyaml has been
 * fuzzed for years. This file adds what libyaml leaves to its caller:
 *
 *   - it validates the text first: UTF-8, no control characters, few %TAG lines (libyaml compares
 *     each with all others);
 *   - libyaml's cost per token grows with the number of open [ and {, so the sum of that number
 * over all events is limited (FLOW_WORK); with the depth limit, time is linear in the text;
 *   - it replaces libyaml's errors, written for authors of parsers, by clear messages:
 * `plain_words`, one line per message; to explain another one, add a line.
 *
 * A source is one parse; not thread-safe.
 */
#include "kc/utf8.h"
#include "object/model/object_internal.h"
#include "object/yaml/yaml_internal.h"

#include <yaml.h>

enum {
    FREE_FLOW_DEPTH = 16, /* Levels of [ and { whose cost is not counted. */
};
#define BYTE_ORDER_MARK "\xEF\xBB\xBF"
#define FLOW_WORK       ((uint64_t)32 << 20)

struct kc__yaml_source {
    yaml_parser_t parser;
    yaml_event_t event; /* The last one; zeroed: empty. */
    kc_str text;
    kc__yaml_mark start; /* Of `text` in the whole text. */
    size_t flow_depth;
    uint64_t flow_work;
};

int kc__yaml_fail(kc__yaml_mark at, kc_error *err, const char *fmt, ...)
{
    kc_scoped(kc_buf) what = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&what, fmt, args);
    va_end(args);
    return kc_error_set(err, KC_BAD_REQUEST, "line %zu, column %zu: %s", at.line, at.column,
                        kc_buf_cstr(&what));
}

/* ---- validation of the text ---- */

static bool starts_character(char c)
{
    return (c & 0xC0) != 0x80;
}

static kc__yaml_mark mark_of(kc_str text, size_t at)
{
    kc__yaml_mark mark = {1, 1};
    for (size_t i = 0; i < KC_MIN(at, text.n); i++) {
        if (text.p[i] == '\n')
            mark = (kc__yaml_mark){mark.line + 1, 1};
        else
            mark.column += starts_character(text.p[i]);
    }
    return mark;
}

static bool yaml_events_is_control(unsigned char c)
{
    return (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
}

static bool is_tag_directive(kc_str text, size_t at)
{
    /* The last byte of each of YAML's line breaks, and of some other characters, which only makes
     * the limit stricter. */
    static const char breaks[] = "\n\r\x85\xA8\xA9\xBF";
    return kc_str_starts(kc_str_sub(text, at, text.n), KC_STR("%TAG")) &&
           (!at || strchr(breaks, text.p[at - 1]));
}

static int check_character(kc_str text, size_t at, kc_error *err)
{
    unsigned char c = (unsigned char)text.p[at];
    if (c == '\0')
        return kc__yaml_fail(mark_of(text, at), err, "NUL bytes are not allowed in YAML");
    if (yaml_events_is_control(c))
        return kc__yaml_fail(mark_of(text, at), err,
                             "the control character 0x%02x is not allowed; write \"\\x%02x\" in "
                             "double quotes",
                             c, c);
    return kc__yaml_fail(mark_of(text, at), err, "the text is not UTF-8");
}

static int yaml_events_check_text(kc_str text, kc_error *err)
{
    unsigned directives = 0;
    for (size_t i = 0; i < text.n;) {
        unsigned char c = (unsigned char)text.p[i];
        if (c == '%' && is_tag_directive(text, i) && ++directives > KC_YAML_MAX_TAG_DIRECTIVES)
            return kc__yaml_fail(mark_of(text, i), err, "more than %u %%TAG directives",
                                 KC_YAML_MAX_TAG_DIRECTIVES);
        size_t n = yaml_events_is_control(c) ? 0
                   : c < 0x80                ? 1
                                             : kc_utf8_next(kc_str_sub(text, i, text.n), NULL);
        if (!n)
            return check_character(text, i, err);
        i += n;
    }
    return 0;
}

kc__yaml_source *kc__yaml_source_new(kc_str text, size_t from, kc_error *err)
{
    if (yaml_events_check_text(text, err) < 0)
        return NULL;
    kc__yaml_source *source = kc_new(kc__yaml_source);
    source->start = mark_of(text, from);
    if (from == 0 && kc_str_starts(text, KC_STR(BYTE_ORDER_MARK)))
        from = strlen(BYTE_ORDER_MARK); /* libyaml skips it, too, but counts a column for it. */
    source->text = kc_str_sub(text, from, text.n);
    if (!yaml_parser_initialize(&source->parser)) {
        free(source);
        kc_error_set(err, KC_INTERNAL, "out of memory");
        return NULL;
    }
    yaml_parser_set_encoding(&source->parser, YAML_UTF8_ENCODING);
    const char *p = source->text.n ? source->text.p : "";
    yaml_parser_set_input_string(&source->parser, (const unsigned char *)p, source->text.n);
    return source;
}

kc__yaml_source *kc__yaml_source_free(kc__yaml_source *source)
{
    if (!source)
        return NULL;
    yaml_event_delete(&source->event);
    yaml_parser_delete(&source->parser);
    free(source);
    return NULL;
}

/* ---- errors ---- */

/* The reported position of an error: where libyaml stopped, or where the enclosing construct began.
 * With AT_PROBLEM_SINCE the message ends with the line of the latter. */
enum yaml_events_place { AT_PROBLEM, AT_PROBLEM_SINCE, AT_CONTEXT };

/* libyaml's messages, and ours. */
static const struct {
    const char *problem;
    enum yaml_events_place place;
    const char *words;
} plain_words[] = {
    {"could not find expected ':'", AT_CONTEXT,
     "missing ': ' after this key; a colon must be followed by a space"},
    {"mapping values are not allowed in this context", AT_PROBLEM,
     "a ':' is not allowed here; check the indentation, and quote text that contains ': '"},
    {"mapping keys are not allowed in this context", AT_PROBLEM,
     "a key is not allowed here; check the indentation"},
    {"block sequence entries are not allowed in this context", AT_PROBLEM,
     "a list item is not allowed here; put '- ' on a line of its own and check the indentation"},
    {"did not find expected key", AT_PROBLEM_SINCE,
     "expected a key; check the indentation of the object that starts on line"},
    {"did not find expected '-' indicator", AT_PROBLEM_SINCE,
     "expected '- '; check the indentation of the list that starts on line"},
    {"did not find expected ',' or ']'", AT_PROBLEM_SINCE,
     "expected ',' or ']' in the list that starts on line"},
    {"did not find expected ',' or '}'", AT_PROBLEM_SINCE,
     "expected ',' or '}' in the object that starts on line"},
    {"did not find expected node content", AT_PROBLEM, "expected a value"},
    {"did not find expected <document start>", AT_PROBLEM,
     "a second document must start with '---'"},
    {"found unexpected end of stream", AT_PROBLEM_SINCE,
     "the text ends inside the quotes that open on line"},
    {"found unexpected document indicator", AT_PROBLEM_SINCE,
     "the document ends inside the quotes that open on line"},
    {"found a tab character that violates indentation", AT_PROBLEM,
     "a tab is used for indentation; use spaces"},
    {"found a tab character where an indentation space is expected", AT_PROBLEM,
     "a tab is used for indentation; use spaces"},
    {"found unknown escape character", AT_PROBLEM,
     "unknown escape; write \\\\ for a backslash, or use single quotes"},
    {"found invalid Unicode character escape code", AT_PROBLEM,
     "the escape names no character; surrogates are allowed only in pairs and only in JSON"},
    {"did not find expected hexdecimal number", AT_PROBLEM, "the escape lacks a hexadecimal digit"},
    {"did not find expected alphabetic or numeric character", AT_CONTEXT,
     "the name of an anchor (&) or alias (*) is missing or has a wrong sign; quote text that "
     "starts with '&' or '*'"},
    {"found undefined tag handle", AT_PROBLEM,
     "the tag uses a handle that no %TAG line declares; quote text that starts with '!'"},
    {"found incompatible YAML document", AT_PROBLEM, "only YAML 1.1 and 1.2 can be read"},
};

static kc__yaml_mark mark_from(const kc__yaml_source *source, yaml_mark_t mark)
{
    return (kc__yaml_mark){source->start.line + mark.line,
                           mark.column + (mark.line ? 1 : source->start.column)};
}

/* The character at libyaml's cursor, if that is inside its buffer. */
static char current_character(const yaml_parser_t *parser)
{
    return parser->buffer.pointer < parser->buffer.last ? (char)*parser->buffer.pointer : '\0';
}

static int bad_start(const kc__yaml_source *source, kc__yaml_mark at, kc_error *err)
{
    char c = current_character(&source->parser);
    if (c == '\t')
        return kc__yaml_fail(at, err, "a tab is used for indentation; use spaces");
    return kc__yaml_fail(at, err, "a value cannot start with '%c'; quote it", c);
}

static int reader_error(const kc__yaml_source *source, kc_error *err)
{
    const yaml_parser_t *parser = &source->parser;
    kc__yaml_mark at = mark_of(source->text, parser->problem_offset);
    at.column += at.line == 1 ? source->start.column - 1 : 0;
    at.line += source->start.line - 1;
    return kc__yaml_fail(at, err, "%s",
                         parser->problem ? parser->problem : "the text cannot be read");
}

static int in_plain_words(const kc__yaml_source *source, const char *problem, kc_error *err)
{
    kc__yaml_mark at = mark_from(source, source->parser.problem_mark);
    kc__yaml_mark context = mark_from(source, source->parser.context_mark);
    if (strcmp(problem, "found character that cannot start any token") == 0)
        return bad_start(source, at, err);
    for (size_t i = 0; i < KC_COUNT(plain_words); i++) {
        if (strcmp(problem, plain_words[i].problem) != 0)
            continue;
        switch (plain_words[i].place) {
        case AT_PROBLEM: return kc__yaml_fail(at, err, "%s", plain_words[i].words);
        case AT_CONTEXT: return kc__yaml_fail(context, err, "%s", plain_words[i].words);
        case AT_PROBLEM_SINCE:
            return kc__yaml_fail(at, err, "%s %zu", plain_words[i].words, context.line);
        }
    }
    return kc__yaml_fail(at, err, "%s", problem);
}

static int parser_error(const kc__yaml_source *source, kc_error *err)
{
    const yaml_parser_t *parser = &source->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return kc_error_set(err, KC_INTERNAL, "out of memory");
    if (parser->error == YAML_READER_ERROR)
        return reader_error(source, err);
    return in_plain_words(source, parser->problem ? parser->problem : "the text is not YAML", err);
}

/* Go's library counts lines from 0, except those of its scanner, and omits line 0. */
void kc__yaml_source_go_error(const kc__yaml_source *source, kc_buf *out)
{
    const yaml_parser_t *parser = &source->parser;
    size_t line = parser->problem_mark.line
                      ? parser->problem_mark.line + (parser->error == YAML_SCANNER_ERROR)
                      : parser->context_mark.line;
    if (!parser->error)
        return;
    kc_buf_puts(out, "yaml: ");
    if (line)
        kc_buf_printf(out, "line %zu: ", line);
    kc_buf_puts(out, parser->problem ? parser->problem : "unknown problem parsing YAML content");
}

/* ---- events ---- */

static kc_str str_of(const yaml_char_t *text)
{
    return kc_cstr((const char *)text);
}

/* libyaml does not distinguish "! 12" from "12", except by their length in the text. */
static bool has_bare_tag(const yaml_event_t *event)
{
    size_t characters = 0, spans = event->end_mark.index - event->start_mark.index;
    if (!event->data.scalar.plain_implicit)
        return false;
    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return true;
    if (event->data.scalar.anchor || event->start_mark.line != event->end_mark.line)
        return false;
    for (size_t i = 0; i < event->data.scalar.length; i++)
        characters += starts_character((char)event->data.scalar.value[i]);
    return spans > characters;
}

static void take_scalar(const yaml_event_t *event, kc__yaml_event *ret)
{
    ret->type = KC__YAML_SCALAR;
    ret->anchor = str_of(event->data.scalar.anchor);
    ret->tag = has_bare_tag(event) ? KC_STR("!") : str_of(event->data.scalar.tag);
    ret->value = kc_str_of((const char *)event->data.scalar.value, event->data.scalar.length);
    ret->implicit = event->data.scalar.plain_implicit;
}

/* Counts the open [ and {, and their cost. */
static int note_flow(kc__yaml_source *source, kc__yaml_mark at, kc_error *err)
{
    const yaml_event_t *event = &source->event;
    bool opens = (event->type == YAML_SEQUENCE_START_EVENT &&
                  event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE) ||
                 (event->type == YAML_MAPPING_START_EVENT &&
                  event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE);
    bool closes = event->type == YAML_SEQUENCE_END_EVENT || event->type == YAML_MAPPING_END_EVENT;
    /* A flow collection contains no block collections, so every end inside it was counted. */
    if (opens)
        source->flow_depth++;
    else if (closes && source->flow_depth)
        source->flow_depth--;
    if (source->flow_depth > FREE_FLOW_DEPTH)
        source->flow_work += source->flow_depth;
    if (source->flow_work > FLOW_WORK)
        return kc__yaml_fail(at, err, "too much text inside too many '[' and '{'");
    return 0;
}

static void take_event(const yaml_event_t *event, kc__yaml_event *ret)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT: ret->type = KC__YAML_DOCUMENT; break;
    case YAML_DOCUMENT_END_EVENT: ret->type = KC__YAML_DOCUMENT_END; break;
    case YAML_SEQUENCE_END_EVENT: ret->type = KC__YAML_SEQUENCE_END; break;
    case YAML_MAPPING_END_EVENT: ret->type = KC__YAML_MAPPING_END; break;
    case YAML_SCALAR_EVENT: take_scalar(event, ret); break;
    case YAML_ALIAS_EVENT:
        ret->type = KC__YAML_ALIAS;
        ret->anchor = str_of(event->data.alias.anchor);
        break;
    case YAML_SEQUENCE_START_EVENT:
        ret->type = KC__YAML_SEQUENCE;
        ret->anchor = str_of(event->data.sequence_start.anchor);
        break;
    case YAML_MAPPING_START_EVENT:
        ret->type = KC__YAML_MAPPING;
        ret->anchor = str_of(event->data.mapping_start.anchor);
        break;
    default: ret->type = KC__YAML_STREAM_END; break;
    }
}

int kc__yaml_next(kc__yaml_source *source, kc__yaml_event *ret, kc_error *err)
{
    do {
        yaml_event_delete(&source->event);
        if (!yaml_parser_parse(&source->parser, &source->event))
            return parser_error(source, err);
    } while (source->event.type == YAML_STREAM_START_EVENT);

    kc__yaml_event event = {.mark = mark_from(source, source->event.start_mark)};
    take_event(&source->event, &event);
    int result = note_flow(source, event.mark, err);
    if (result == 0)
        *ret = event;
    return result;
}
