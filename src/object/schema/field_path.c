/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field_path.c: follows the path of a field into a schema.
 *
 *     path:  { "." name | "['" name "']" }
 *
 * A step goes to a property, or, in a schema without properties, to a key of additionalProperties.
 * Tokens are those of Kubernetes: a delimiter, text up to the next delimiter, or a quoted string.
 */
#include "object/schema/field_path.h"

typedef struct field_walk {
    kc_str rest;
    const kc_value *schema;
    kc_buf *out, *why;
} field_walk;

static bool fail_path(field_walk *w, const char *message, kc_str about)
{
    kc_buf_printf(w->why, "%s%.*s", message, KC_ARG(about));
    return false;
}

/* The next token; false at the end. */
static bool next_token(field_walk *w, kc_str *ret)
{
    kc_str text = w->rest;
    size_t n = 0;
    bool quoted = text.n && text.p[0] == '\'';
    if (!text.n)
        return false;
    for (; n < text.n; n++) {
        char c = text.p[n];
        if (quoted && n > 0 && c == '\'' && text.p[n - 1] != '\\') {
            n++;
            break;
        }
        if (!quoted && (c == '.' || c == '[' || c == ']')) {
            n += n == 0;
            break;
        }
    }
    *ret = kc_str_sub(text, 0, n);
    w->rest = kc_str_sub(text, n, text.n);
    return true;
}

static bool enter_field(field_walk *w, kc_str name)
{
    const kc_value *properties = kc_value_get(w->schema, "properties");
    const kc_value *additional = kc_value_get(w->schema, "additionalProperties");
    bool named = kc_value_len(properties) > 0;
    const kc_value *next = named ? kc_value_get_str(properties, name) : additional;
    if (!next)
        return fail_path(w, "does not refer to a valid field", (kc_str){0});
    w->schema = next;
    if (w->out && named)
        kc_buf_printf(w->out, "%s%.*s", w->out->n ? "." : "", KC_ARG(name));
    else if (w->out)
        kc_buf_printf(w->out, "[%.*s]", KC_ARG(name));
    return true;
}

/* Appends the content of a quoted string. */
static bool unescape_key(field_walk *w, kc_str quoted, kc_buf *out)
{
    static const char from[] = "abfnrtv'\\", to[] = "\a\b\f\n\r\t\v'\\";
    for (size_t i = 1; i + 1 < quoted.n; i++) {
        char c = quoted.p[i];
        if (c == '\\' && i + 2 < quoted.n) {
            const char *at = memchr(from, quoted.p[++i], sizeof(from) - 1);
            if (!at)
                return fail_path(w, "invalid string literal: invalid escape char ",
                                 kc_str_sub(quoted, i - 1, i + 1));
            c = to[at - from];
        }
        kc_buf_putc(out, c);
    }
    return true;
}

static bool enter_key(field_walk *w)
{
    kc_scoped(kc_buf) key = {0};
    kc_str token;
    if (!next_token(w, &token))
        return fail_path(w, "unexpected end of JSON path", (kc_str){0});
    if (token.n < 2 || token.p[0] != '\'' || token.p[token.n - 1] != '\'')
        return fail_path(w, "expected single quoted string but got ", token);
    if (!unescape_key(w, token, &key) || !enter_field(w, kc_buf_str(&key)))
        return false;
    if (!next_token(w, &token))
        return fail_path(w, "unexpected end of JSON path", (kc_str){0});
    return kc_str_is(token, "]") || fail_path(w, "expected ] but got ", token);
}

static bool enter_step(field_walk *w, kc_str token, bool keys)
{
    if (kc_str_is(token, "["))
        return keys ? enter_key(w) : fail_path(w, "array notation is not allowed", (kc_str){0});
    if (!kc_str_is(token, "."))
        return fail_path(w, "expected [ or . but got: ", token);
    if (!next_token(w, &token))
        return fail_path(w, "unexpected end of JSON path", (kc_str){0});
    return enter_field(w, token);
}

const kc_value *kc__schema_field_path(const kc_value *openapi, kc_str path, bool keys, kc_buf *out,
                                      kc_buf *why)
{
    field_walk w = {.rest = path, .schema = openapi, .out = out, .why = why};
    for (kc_str token; next_token(&w, &token);)
        if (!enter_step(&w, token, keys))
            return NULL;
    return w.schema;
}
