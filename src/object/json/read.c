/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.c: the full JSON parser: converts text from outside to a document that satisfies all rules
 * of json.h.
 *
 * yyjson parses; one traversal of the result then checks what yyjson does not: depth, numbers
 * beyond 64 bits, duplicate members. Errors of yyjson (invalid UTF-8, lone surrogates, control
 * characters, NUL) become errors with a line and a column.
 *
 * Duplicates are rare, so detecting them must be cheap: short objects compare pairwise, long ones
 * use a hash table. If there are any, the document is rebuilt without the earlier ones.
 */
#include "object/model/object_internal.h"

#include "kc/map.h"

#include <math.h>

enum { PAIRWISE = 12, MOST_DUPLICATES = 100 };

typedef struct checker {
    kc_str json;      /* The original text, for positions. */
    const char *text; /* The copy that the document points into; same offsets. */
    unsigned max_depth;
    bool has_duplicates;
    kc_paths *duplicates;
    kc_buf path;
    kc_error *err;
} checker;

void kc_paths_done(kc_paths *paths)
{
    kc_vec_each (paths, path)
        free(*path);
    kc_vec_done(paths);
}

/* "line 3, column 14: …" */
static int error_at(kc_str json, size_t at, kc_error *err, const char *what)
{
    size_t line = 1, line_start = 0;
    at = KC_MIN(at, json.n);
    for (size_t i = 0; i < at; i++) {
        if (json.p[i] == '\n') {
            line++;
            line_start = i + 1;
        }
    }
    return kc_error_set(err, KC_BAD_REQUEST, "line %zu, column %zu: %s", line, at - line_start + 1,
                        what);
}

static void report_duplicate(checker *c, kc_str name)
{
    c->has_duplicates = true;
    if (!c->duplicates || c->duplicates->n >= MOST_DUPLICATES)
        return;
    kc_vec_push(c->duplicates,
                kc_asprintf("%s%s%.*s", kc_buf_cstr(&c->path), c->path.n ? "." : "", KC_ARG(name)));
}

static kc_str key_str(yyjson_val *key)
{
    return kc_str_of(yyjson_get_str(key), yyjson_get_len(key));
}

static void find_duplicates_pairwise(checker *c, yyjson_val *object)
{
    kc_str names[PAIRWISE];
    size_t n = 0, i, max;
    yyjson_val *key, *value;
    yyjson_obj_foreach(object, i, max, key, value)
    {
        kc_str name = key_str(key);
        for (size_t j = 0; j < n; j++) {
            if (kc_str_eq(names[j], name)) {
                report_duplicate(c, name);
                break;
            }
        }
        names[n++] = name;
    }
}

static void find_duplicates_hashed(checker *c, yyjson_val *object)
{
    kc_scoped(kc_map) seen = {0};
    size_t i, max;
    yyjson_val *key, *value;
    yyjson_obj_foreach(object, i, max, key, value)
    {
        kc_str name = key_str(key);
        if (kc_map_put(&seen, name, value))
            report_duplicate(c, name);
    }
}

static int json_read_check_value(checker *c, yyjson_val *value, unsigned depth, size_t near);

static int json_read_check_object(checker *c, yyjson_val *object, unsigned depth)
{
    if (yyjson_obj_size(object) <= PAIRWISE)
        find_duplicates_pairwise(c, object);
    else
        find_duplicates_hashed(c, object);

    size_t i, max, before = c->path.n;
    yyjson_val *key, *value;
    yyjson_obj_foreach(object, i, max, key, value)
    {
        kc_str name = key_str(key);
        if (c->duplicates) {
            if (before)
                kc_buf_putc(&c->path, '.');
            kc_buf_append(&c->path, name);
        }
        if (json_read_check_value(c, value, depth, (size_t)(name.p - c->text)) < 0)
            return -1;
        c->path.n = before;
    }
    return 0;
}

static int check_array(checker *c, yyjson_val *array, unsigned depth, size_t near)
{
    size_t i, max, before = c->path.n;
    yyjson_val *value;
    yyjson_arr_foreach(array, i, max, value)
    {
        if (c->duplicates)
            kc_buf_printf(&c->path, "[%zu]", i);
        if (json_read_check_value(c, value, depth, near) < 0)
            return -1;
        c->path.n = before;
    }
    return 0;
}

/* `near` is an offset in the text shortly before the value, for values without a position of their
 * own. */
static int json_read_check_value(checker *c, yyjson_val *value, unsigned depth, size_t near)
{
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_RAW:
        return error_at(c->json, (size_t)(yyjson_get_raw(value) - c->text), c->err,
                        "the number does not fit 64 bits");
    case YYJSON_TYPE_OBJ:
    case YYJSON_TYPE_ARR:
        if (depth == c->max_depth)
            return error_at(c->json, near, c->err, "objects and arrays are nested too deeply");
        return yyjson_is_obj(value) ? json_read_check_object(c, value, depth + 1)
                                    : check_array(c, value, depth + 1, near);
    default: return 0;
    }
}

/* Keeps the last member of each name, everywhere. */
static void drop_duplicates(yyjson_mut_val *value)
{
    size_t i, max;
    yyjson_mut_val *key, *member;
    if (yyjson_mut_is_arr(value)) {
        yyjson_mut_arr_foreach(value, i, max, member) drop_duplicates(member);
    }
    if (!yyjson_mut_is_obj(value))
        return;
    kc_scoped(kc_map) last = {0};
    yyjson_mut_obj_foreach(value, i, max, key, member)
    {
        drop_duplicates(member);
        kc_map_put(&last, kc_str_of(yyjson_mut_get_str(key), yyjson_mut_get_len(key)), member);
    }
    if (last.n == max)
        return;
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(value);
    while ((key = yyjson_mut_obj_iter_next(&iter))) {
        kc_str name = kc_str_of(yyjson_mut_get_str(key), yyjson_mut_get_len(key));
        if (kc_map_get(&last, name) != yyjson_mut_obj_iter_get_val(key))
            yyjson_mut_obj_iter_remove(&iter);
    }
}

static yyjson_doc *without_duplicates(yyjson_doc *doc)
{
    yyjson_mut_doc *copy = yyjson_doc_mut_copy(doc, NULL);
    yyjson_doc *result = NULL;
    if (copy) {
        drop_duplicates(yyjson_mut_doc_get_root(copy));
        result = yyjson_mut_doc_imut_copy(copy, NULL);
    }
    yyjson_mut_doc_free(copy);
    yyjson_doc_free(doc);
    return result;
}

static int json_read_check(kc_view *view, kc_str json, unsigned max_depth, kc_paths *duplicates,
                           kc_error *err)
{
    checker c = {.json = json,
                 .text = view->text,
                 .max_depth = max_depth,
                 .duplicates = duplicates,
                 .err = err};
    int ret = json_read_check_value(&c, yyjson_doc_get_root(view->doc), 0, 0);
    kc_buf_done(&c.path);
    if (ret < 0 || !c.has_duplicates)
        return ret;
    view->doc = without_duplicates(view->doc);
    return view->doc ? 0 : kc_error_out_of_memory(err);
}

int kc__json_read(kc_str json, const kc_json_opts *opts, kc_view *ret, kc_error *err)
{
    size_t max_bytes = opts && opts->max_bytes ? opts->max_bytes : KC_JSON_MAX_BYTES;
    unsigned max_depth = opts && opts->max_depth ? opts->max_depth : KC_JSON_MAX_DEPTH;
    if (json.n > max_bytes)
        return kc_error_set(err, KC_TOO_LARGE, "the text has %zu bytes: limit is %zu", json.n,
                            max_bytes);

    kc_view view = {.text = kc_try_alloc(json.n + YYJSON_PADDING_SIZE, SIZE_MAX)};
    if (!view.text)
        return kc_error_out_of_memory(err);
    if (json.n)
        memcpy(view.text, json.p, json.n);
    memset(view.text + json.n, 0, YYJSON_PADDING_SIZE);

    yyjson_read_err why;
    view.doc = yyjson_read_opts(view.text, json.n, YYJSON_READ_INSITU | YYJSON_READ_BIGNUM_AS_RAW,
                                NULL, &why);
    int result;
    if (!view.doc && why.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        result = kc_error_out_of_memory(err);
    else if (!view.doc)
        result = error_at(json, why.pos, err, json.n ? why.msg : "the text is empty");
    else
        result = json_read_check(&view, json, KC_MIN(max_depth, KC_JSON_MAX_DEPTH),
                                 opts ? opts->duplicates : NULL, err);
    if (result < 0) {
        yyjson_doc_free(view.doc);
        free(view.text);
        return result;
    }
    *ret = view;
    return 0;
}
