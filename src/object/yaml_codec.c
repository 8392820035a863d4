/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_codec.c: from a text to its documents, as views or as objects, and the YAML codec.
 *
 * Text that starts with '{' may be JSON, and kubectl tries that first: one object, or several one
 * after the other. Where it is not (flow style, or "---" behind the first object) the rest is read
 * as YAML. When both refuse the text, the error of JSON is given if the text looks like JSON.
 *
 * Either way a document arrives here as JSON text and goes through the reader json.h describes,
 * which finds duplicates; `sink` says what is made of it. To hand documents over in another form,
 * write another sink.
 */
#include "object/yaml_internal.h"

#include "kc/codec.h"

typedef struct sink sink;
struct sink {
    /* Reads the JSON of one document, which stands at `at`, and hands it over. */
    int (*take)(sink *s, kc_str json, kc__yaml_mark at, const kc_json_opts *opts, kc_error *err);
    kc_decoded_fn each_object;
    kc_yaml_each_fn each_view;
    void *user;
    size_t taken;
    bool stopped; /* The error is not of the text: `each` said stop. */
};

static int handed_over(sink *s, int result)
{
    s->taken++;
    s->stopped = result < 0;
    return result < 0 ? result : 0;
}

static int error_code(const kc_error *err)
{
    return -(int)(err && err->reason ? err->reason : KC_BAD_REQUEST);
}

static int take_view(sink *s, kc_str json, kc__yaml_mark at, const kc_json_opts *opts,
                     kc_error *err)
{
    (void)at;
    kc_view *view = kc_view_parse(json, opts, err);
    return view ? handed_over(s, s->each_view(view, s->user)) : error_code(err);
}

/* Most often a mapping whose colons have no space behind them. */
static int no_object(kc_str json, kc__yaml_mark at, kc_error *err)
{
    bool colon = json.p[0] == '"' && kc_str_contains(json, KC_STR(":"));
    return kc__yaml_fail(at, err, "a document must be an object; this is %s%s",
                         json.p[0] == '['   ? "a list"
                         : json.p[0] == '"' ? "a string"
                                            : "a number or a boolean",
                         colon ? "; did you mean 'key: value', with a space behind the colon?"
                               : "");
}

static int take_object(sink *s, kc_str json, kc__yaml_mark at, const kc_json_opts *opts,
                       kc_error *err)
{
    if (json.p[0] != '{')
        return no_object(json, at, err);
    kc_object *object = kc_object_parse(json, opts, err);
    return object ? handed_over(s, s->each_object(object, s->user)) : error_code(err);
}

/* ---- JSON first ---- */

static size_t skip_space(kc_str text, size_t at)
{
    while (at < text.n && strchr(" \t\r\n", text.p[at]) && text.p[at])
        at++;
    return at;
}

static bool char_is(kc_str text, size_t at, char c)
{
    return at < text.n && text.p[at] == c;
}

/* Behind the brace that closes the one at `at`; 0 when none does. */
static size_t object_end(kc_str text, size_t at)
{
    size_t depth = 0;
    bool quoted = false;
    for (; at < text.n; at++) {
        char c = text.p[at];
        if (quoted && c == '\\')
            at++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '{' || c == '['))
            depth++;
        else if (!quoted && (c == '}' || c == ']') && --depth == 0)
            return at + 1;
    }
    return 0;
}

static void forget_paths(kc_paths *paths, size_t keep)
{
    while (paths && paths->n > keep)
        free(kc_vec_pop(paths));
}

/* One JSON object. An error of it leaves no duplicates behind. */
static int take_json(sink *s, kc_str json, const kc_json_opts *opts, kc_error *err)
{
    size_t known = opts->duplicates ? opts->duplicates->n : 0;
    int result = s->take(s, json, (kc__yaml_mark){1, 1}, opts, err);
    if (result < 0 && !s->stopped)
        forget_paths(opts->duplicates, known);
    return result;
}

/* The error of the JSON text at `from`, with its place in the whole: what stands before is made
 * blank. */
static int error_in_place(kc_str text, size_t from, const kc_json_opts *opts, kc_error *err)
{
    const kc_json_opts quiet = {.max_bytes = SIZE_MAX, .max_depth = opts->max_depth};
    kc_autofree char *copy = kc_str_dup(text);
    size_t end = char_is(text, from, '{') ? object_end(text, from) : 0;
    for (size_t i = 0; i < from; i++)
        copy[i] = copy[i] == '\n' ? '\n' : ' ';
    kc_auto(kc_object) *object = kc_object_parse(kc_str_of(copy, end ? end : text.n), &quiet, err);
    if (object)
        kc_error_set(err, KC_BAD_REQUEST, "the text is not JSON");
    return error_code(err);
}

/* Where YAML goes on behind an object that ends at `at`: on the next line, if nothing else stands
 * in this one. */
static size_t next_line(kc_str text, size_t at)
{
    size_t next = skip_space(text, at);
    if (next == text.n)
        return next;
    kc_str line = kc_str_sub(text, at, next);
    ptrdiff_t line_break = kc_str_find(line, '\n');
    return line_break < 0 ? next : at + (size_t)line_break + 1;
}

/*
 * Takes JSON objects from the start of the text for as long as there are any. *ret_at is where YAML
 * has to go on, the end when nothing is left. Fails when `each` said stop, and when what follows
 * two or more objects is none.
 */
static int read_json(sink *s, kc_str text, const kc_json_opts *opts, size_t *ret_at, kc_error *err)
{
    size_t at = skip_space(text, 0);
    *ret_at = 0;
    while (char_is(text, at, '{')) {
        size_t end = object_end(text, at);
        kc_scoped(kc_error) why = {0};
        int result = end ? take_json(s, kc_str_sub(text, at, end), opts, &why) : -1;
        if (s->stopped)
            return result;
        if (result < 0)
            break;
        *ret_at = next_line(text, end);
        at = skip_space(text, end);
    }
    return s->taken > 1 && at < text.n ? error_in_place(text, at, opts, err) : 0;
}

static bool looks_like_json(kc_str text)
{
    size_t at = skip_space(text, 0);
    return char_is(text, at, '{') && char_is(text, skip_space(text, at + 1), '"');
}

/* ---- YAML ---- */

static int read_yaml(sink *s, kc_str text, size_t from, const kc_json_opts *opts, kc_error *err)
{
    kc_auto(kc__yaml_reader) *reader = kc__yaml_reader_new(text, from, opts, err);
    /* The reader has checked size and depth. */
    const kc_json_opts checked = {.max_bytes = SIZE_MAX, .duplicates = opts->duplicates};
    kc_str json;
    kc__yaml_mark at;
    int result;
    if (!reader)
        return error_code(err);
    while ((result = kc__yaml_reader_next(reader, &json, &at, err)) > 0)
        if ((result = s->take(s, json, at, &checked, err)) < 0)
            return result;
    return result;
}

static int read_text(sink *s, kc_str text, const kc_json_opts *opts, kc_error *err)
{
    static const kc_json_opts defaults = {0};
    kc_scoped(kc_error) why = {0};
    size_t at = 0;
    opts = opts ? opts : &defaults;
    text = text.p ? text : KC_STR("");
    size_t max_bytes = opts->max_bytes ? opts->max_bytes : KC_JSON_MAX_BYTES;
    if (text.n > max_bytes)
        return kc_error_set(err, KC_TOO_LARGE, "the text has %zu bytes: limit is %zu", text.n,
                            max_bytes);

    int result = read_json(s, text, opts, &at, err);
    if (result < 0 || (at && at == text.n))
        return result;
    result = read_yaml(s, text, at, opts, &why);
    if (result == 0 || s->stopped)
        return result;
    if (why.reason == KC_BAD_REQUEST && !s->taken && looks_like_json(text))
        return error_in_place(text, skip_space(text, 0), opts, err);
    return kc_error_move(err, &why);
}

int kc_yaml_each(kc_str yaml, const kc_json_opts *opts, kc_yaml_each_fn each, void *user,
                 kc_error *err)
{
    sink s = {.take = take_view, .each_view = each, .user = user};
    return read_text(&s, yaml, opts, err);
}

static int keep_one(kc_view *view, void *user)
{
    kc_view **kept = user;
    if (!*kept) {
        *kept = view;
        return 0;
    }
    kc_view_free(view);
    return -(int)KC_BAD_REQUEST;
}

kc_view *kc_yaml_parse(kc_str yaml, const kc_json_opts *opts, kc_error *err)
{
    kc_auto(kc_view) *view = NULL;
    sink s = {.take = take_view, .each_view = keep_one, .user = &view};
    if (read_text(&s, yaml, opts, err) < 0) {
        if (s.stopped)
            kc_error_set(err, KC_BAD_REQUEST, "there is more than one document");
        return NULL;
    }
    return view ? kc_take(view) : kc_view_parse(KC_STR("null"), NULL, err);
}

/* ---- The codec ---- */

static int yaml_decode(kc_str bytes, const kc_decode_opts *opts, kc_decoded_fn each, void *user,
                       kc_error *err)
{
    sink s = {.take = take_object, .each_object = each, .user = user};
    return read_text(&s, bytes, opts ? &opts->json : NULL, err);
}

static int yaml_encode(const kc_object *object, kc_buf *out, kc_error *err)
{
    (void)err;
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_yaml_write(out, kc_view_root(view));
    return 0;
}

const kc_codec kc_codec_yaml = {
    .name = "yaml",
    .media_types = "application/yaml",
    .streams = true,
    .decode = yaml_decode,
    .encode = yaml_encode,
};
