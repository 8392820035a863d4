/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonpath.c: the public functions of JSONPath: compiling, finding, printing. jsonpath_parse.c
 * parses, jsonpath_eval.c evaluates, jsonpath_print.c formats values.
 *
 * Ranges are resolved here, once: a part with `range` gets the end of its body and the part to
 * continue with. The body of an unterminated range is everything after it; then client-go continues
 * with what follows the last `end` it met, or with the same parts again, and so does this
 * implementation.
 */
#include "object/path/jsonpath_internal.h"

enum { DEFAULT_PRINTED = 64 << 20 };

/* Removes the words range and end from a list; they do not affect values. */
static int take_words(kc__jsonpath_list *list, kc__jsonpath_value_kind *ret, kc_error *err)
{
    size_t n = 0;
    for (kc__jsonpath_node **at = &list->first; *at;) {
        bool range = (*at)->type == KC__JSONPATH_WORD && kc_str_is((*at)->name, "range");
        bool end = (*at)->type == KC__JSONPATH_WORD && kc_str_is((*at)->name, "end");
        if (!range && !end) {
            at = &(*at)->next;
            continue;
        }
        *ret = range ? KC__JSONPATH_RANGE : KC__JSONPATH_END;
        *at = (*at)->next;
        n++;
    }
    if (n > 1)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "only one range or end is allowed in a pair of braces");
    return 0;
}

/* Closes the ranges that are still open at the end of the template. */
static void resolve_open(kc_jsonpath *path, const size_t *open, size_t depth, size_t last_end)
{
    for (size_t i = 0; i < depth; i++) {
        kc__jsonpath_part *part = &path->parts[open[i]];
        part->body_end = path->n;
        part->resume = last_end > open[i] ? last_end + 1 : open[i] + 1;
    }
}

static int resolve_ranges(kc_jsonpath *path, kc_error *err)
{
    size_t open[KC_JSONPATH_MAX_RANGES], depth = 0, last_end = 0;
    for (size_t i = 0; i < path->n; i++) {
        kc__jsonpath_part *part = &path->parts[i];
        if (part->kind == KC__JSONPATH_RANGE) {
            if (depth == KC_JSONPATH_MAX_RANGES)
                return kc_error_set(err, KC_BAD_REQUEST, "ranges can nest at most %u deep",
                                    KC_JSONPATH_MAX_RANGES);
            open[depth++] = i;
        } else if (part->kind == KC__JSONPATH_END) {
            if (!depth)
                return kc_error_set(err, KC_BAD_REQUEST, "not in range, nothing to end");
            kc__jsonpath_part *range = &path->parts[open[--depth]];
            range->body_end = i;
            range->resume = i + 1;
            last_end = i;
        }
    }
    resolve_open(path, open, depth, last_end);
    return 0;
}

static int jsonpath_compile(kc_jsonpath *path, kc_str text, kc_error *err)
{
    kc__jsonpath_lists lists = {0};
    int failed = kc__jsonpath_parse(&path->arena, text, &lists, err);
    path->n = failed ? 0 : lists.n;
    path->parts = kc_arena_calloc(&path->arena, path->n + 1, sizeof(*path->parts));
    for (size_t i = 0; i < path->n && !failed; i++) {
        path->parts[i].list = lists.items[i];
        failed = take_words(&path->parts[i].list, &path->parts[i].kind, err);
    }
    kc_vec_done(&lists);
    return failed ? failed : resolve_ranges(path, err);
}

kc_jsonpath *kc_jsonpath_parse(kc_str text, const kc_jsonpath_parse_opts *opts, kc_error *err)
{
    kc_auto(kc_jsonpath) *path = kc_new(kc_jsonpath);
    bool wrap = opts && opts->bare && !kc_str_starts(text, KC_STR("{"));
    if (text.n > KC_JSONPATH_MAX_BYTES) {
        kc_error_set(err, KC_BAD_REQUEST, "a JSONPath template may have at most %zu bytes",
                     KC_JSONPATH_MAX_BYTES);
        return NULL;
    }
    char *copy = kc_arena_alloc(&path->arena, text.n + 2);
    size_t n = 0;
    if (wrap)
        copy[n++] = '{';
    if (text.n)
        memcpy(copy + n, text.p, text.n);
    n += text.n;
    if (wrap)
        copy[n++] = '}';
    return jsonpath_compile(path, kc_str_of(copy, n), err) < 0 ? NULL : kc_take(path);
}

kc_jsonpath *kc_jsonpath_free(kc_jsonpath *path)
{
    if (!path)
        return NULL;
    kc_arena_done(&path->arena);
    free(path);
    return NULL;
}

static int keep_values(const kc_values *values, kc_error *err, void *user)
{
    kc_values *ret = user;
    (void)err;
    kc_vec_each (values, value)
        kc_vec_push(ret, *value);
    return 0;
}

int kc_jsonpath_find(const kc_jsonpath *path, const kc_value *root, const kc_jsonpath_opts *opts,
                     kc_values *ret, kc_error *err)
{
    size_t before = ret->n;
    int failed = kc__jsonpath_run(path, root, opts, keep_values, ret, err);
    if (failed)
        ret->n = before;
    return failed;
}

static int print_values(const kc_values *values, kc_error *err, void *user)
{
    kc_buf *out = user;
    kc_vec_each (values, value) {
        kc_buf_puts(out, value == values->items ? "" : " ");
        kc_jsonpath_print_value(out, *value);
        if (out->failed)
            return kc_error_set(err, KC_BAD_REQUEST, "the result would be larger than %zu bytes",
                                out->limit);
    }
    return 0;
}

int kc_jsonpath_print(const kc_jsonpath *path, const kc_value *root, const kc_jsonpath_opts *opts,
                      kc_buf *out, kc_error *err)
{
    kc_scoped(kc_buf) text = {.limit = opts && opts->max_bytes ? opts->max_bytes : DEFAULT_PRINTED};
    int failed = kc__jsonpath_run(path, root, opts, print_values, &text, err);
    if (!failed)
        kc_buf_append(out, kc_buf_str(&text));
    return failed;
}
