/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_codec.c: splits a text into its documents, as views or as objects, and defines the YAML
 * codec.
 *
 * Text that starts with '{' may be JSON, and kubectl tries that first: one object, or several in a
 * row. If it is not JSON (flow style, or "---" after the first object) the rest is parsed as YAML.
 * When both reject the text, the JSON error is returned if the text looks like JSON.
 *
 * Either way a document arrives here as JSON text and goes through the parser that json.h
 * describes, which finds duplicates; `sink` determines the result. To produce another form of
 * documents, write another sink.
 */
#include "object/yaml/yaml_internal.h"

#include "kc/codec.h"

typedef struct yaml_codec_sink yaml_codec_sink;
struct yaml_codec_sink {
    /* Parses the JSON of one document, which is at `at`, and passes it on. */
    int (*take)(yaml_codec_sink *s, kc_str json, kc__yaml_mark at, const kc_json_opts *opts,
                kc_error *err);
    kc_decoded_fn each_object;
    kc_yaml_each_fn each_view;
    kc_yaml_each_line_fn each_line; /* Instead of each_view. */
    void *user;
    bool only_first; /* Ignore all documents but the first. */
    size_t taken;
    bool stopped; /* Not an error of the text: `each` stopped the parsing. */
};

static int handed_over(yaml_codec_sink *s, int result)
{
    s->taken++;
    s->stopped = result < 0;
    return result < 0 ? result : 0;
}

static int take_view(yaml_codec_sink *s, kc_str json, kc__yaml_mark at, const kc_json_opts *opts,
                     kc_error *err)
{
    kc_view *view = kc_view_parse(json, opts, err);
    if (!view)
        return kc_error_result(err);
    return handed_over(s, s->each_line ? s->each_line(view, at.line, s->user)
                                       : s->each_view(view, s->user));
}

/* Most often a mapping whose colons are not followed by a space. */
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

static int take_object(yaml_codec_sink *s, kc_str json, kc__yaml_mark at, const kc_json_opts *opts,
                       kc_error *err)
{
    if (json.p[0] != '{')
        return no_object(json, at, err);
    kc_object *object = kc_object_parse(json, opts, err);
    return object ? handed_over(s, s->each_object(object, s->user)) : kc_error_result(err);
}

/* ---- JSON first ---- */

static size_t yaml_codec_skip_space(kc_str text, size_t at)
{
    while (at < text.n && strchr(" \t\r\n", text.p[at]) && text.p[at])
        at++;
    return at;
}

static bool char_is(kc_str text, size_t at, char c)
{
    return at < text.n && text.p[at] == c;
}

/* The position after the brace that closes the one at `at`; 0 when there is none. */
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

/* One JSON object that begins on this line. An error leaves no duplicates behind. */
static int take_json(yaml_codec_sink *s, kc_str json, size_t line, const kc_json_opts *opts,
                     kc_error *err)
{
    size_t known = opts->duplicates ? opts->duplicates->n : 0;
    int result = s->take(s, json, (kc__yaml_mark){line, 1}, opts, err);
    if (result < 0 && !s->stopped)
        forget_paths(opts->duplicates, known);
    return result;
}

/* The error of the JSON text at `from`, with its position in the whole text: the text before is
 * replaced by blanks. */
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
    return kc_error_result(err);
}

/* Where YAML continues after an object that ends at `at`: on the next line, if the rest of this one
 * is blank. */
static size_t yaml_codec_next_line(kc_str text, size_t at)
{
    size_t next = yaml_codec_skip_space(text, at);
    if (next == text.n)
        return next;
    kc_str line = kc_str_sub(text, at, next);
    ptrdiff_t line_break = kc_str_find(line, '\n');
    return line_break < 0 ? next : at + (size_t)line_break + 1;
}

static size_t count_lines(kc_str text, size_t from, size_t to)
{
    size_t n = 0;
    for (size_t i = from; i < to; i++)
        n += text.p[i] == '\n';
    return n;
}

/*
 * Takes JSON objects from the start of the text while there are any. *ret_at is where YAML must
 * continue, the end when nothing is left. Fails when `each` stopped it, and when two or more
 * objects are followed by something else.
 */
static int yaml_codec_read_json(yaml_codec_sink *s, kc_str text, const kc_json_opts *opts,
                                size_t *ret_at, kc_error *err)
{
    size_t at = yaml_codec_skip_space(text, 0), counted = 0, line = 1, end;
    *ret_at = 0;
    while (char_is(text, at, '{') && (end = object_end(text, at))) {
        kc_scoped(kc_error) why = {0};
        line += count_lines(text, counted, at);
        counted = at;
        int result = take_json(s, kc_str_sub(text, at, end), line, opts, &why);
        if (s->stopped)
            return result;
        if (result < 0)
            break;
        *ret_at = yaml_codec_next_line(text, end);
        at = yaml_codec_skip_space(text, end);
    }
    return s->taken > 1 && at < text.n ? error_in_place(text, at, opts, err) : 0;
}

static bool looks_like_json(kc_str text)
{
    size_t at = yaml_codec_skip_space(text, 0);
    return char_is(text, at, '{') && char_is(text, yaml_codec_skip_space(text, at + 1), '"');
}

/* ---- YAML ---- */

static int read_yaml(yaml_codec_sink *s, kc_str text, size_t from, const kc_json_opts *opts,
                     kc_error *err)
{
    kc_auto(kc__yaml_reader) *reader = kc__yaml_reader_new(text, from, opts, err);
    /* The reader has already checked size and depth. */
    const kc_json_opts checked = {.max_bytes = SIZE_MAX, .duplicates = opts->duplicates};
    kc_str json;
    kc__yaml_mark at;
    int result;
    if (!reader)
        return kc_error_result(err);
    if (s->only_first)
        kc__yaml_reader_only_first(reader);
    while ((result = kc__yaml_reader_next(reader, &json, &at, err)) > 0)
        if ((result = s->take(s, json, at, &checked, err)) < 0)
            return result;
    return result;
}

static int yaml_codec_read_text(yaml_codec_sink *s, kc_str text, const kc_json_opts *opts,
                                kc_error *err)
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

    int result = yaml_codec_read_json(s, text, opts, &at, err);
    if (result < 0 || (at && at == text.n))
        return result;
    result = read_yaml(s, text, at, opts, &why);
    if (result == 0 || s->stopped)
        return result;
    if (why.reason == KC_BAD_REQUEST && !s->taken && looks_like_json(text))
        return error_in_place(text, yaml_codec_skip_space(text, 0), opts, err);
    return kc_error_move(err, &why);
}

int kc_yaml_each(kc_str yaml, const kc_json_opts *opts, kc_yaml_each_fn each, void *user,
                 kc_error *err)
{
    yaml_codec_sink s = {.take = take_view, .each_view = each, .user = user};
    return yaml_codec_read_text(&s, yaml, opts, err);
}

int kc_yaml_each_line(kc_str yaml, const kc_json_opts *opts, kc_yaml_each_line_fn each, void *user,
                      kc_error *err)
{
    yaml_codec_sink s = {.take = take_view, .each_line = each, .user = user};
    return yaml_codec_read_text(&s, yaml, opts, err);
}

static int keep_one(kc_view *view, void *user)
{
    kc_view **kept = user;
    if (!*kept) {
        *kept = view;
        return 0;
    }
    kc_view_free(view);
    return -1;
}

kc_view *kc_yaml_parse(kc_str yaml, const kc_json_opts *opts, kc_error *err)
{
    kc_auto(kc_view) *view = NULL;
    yaml_codec_sink s = {.take = take_view, .each_view = keep_one, .user = &view};
    if (yaml_codec_read_text(&s, yaml, opts, err) < 0) {
        if (s.stopped)
            kc_error_set(err, KC_BAD_REQUEST, "expected one document, found more");
        return NULL;
    }
    return view ? kc_take(view) : kc_view_parse(KC_STR("null"), NULL, err);
}

static int keep_first(kc_view *view, void *user)
{
    *(kc_view **)user = view;
    return -1; /* Stops the parsing; not an error. */
}

kc_view *kc_yaml_parse_first(kc_str yaml, const kc_json_opts *opts, kc_error *err)
{
    kc_view *view = NULL;
    yaml_codec_sink s = {
        .take = take_view, .each_view = keep_first, .user = &view, .only_first = true};
    int result = yaml_codec_read_text(&s, yaml, opts, err);
    if (view)
        return view;
    return result < 0 ? NULL : kc_view_parse(KC_STR("null"), NULL, err);
}

/* ---- the codec ---- */

static int yaml_decode(kc_str bytes, const kc_decode_opts *opts, kc_decoded_fn each, void *user,
                       kc_error *err)
{
    yaml_codec_sink s = {.take = take_object, .each_object = each, .user = user};
    return yaml_codec_read_text(&s, bytes, opts ? &opts->json : NULL, err);
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
