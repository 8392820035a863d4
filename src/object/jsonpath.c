/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonpath.c: the public side of JSONPath: compiling the parts, finding, printing. Reading is in
 * jsonpath_parse.c, evaluating in jsonpath_eval.c, how values look in jsonpath_print.c.
 *
 * Ranges are resolved here, once: a part with `range` learns where its body ends and where to go on
 * afterwards. A range that is never ended takes everything behind it as its body, after which
 * client-go goes on with what follows the last end it met, or with the same parts again; so does
 * this.
 */
#include "object/jsonpath_internal.h"

enum { DEFAULT_PRINTED = 64 << 20 };

/* Removes the words range and end from a list, which do nothing to values. */
static int take_words(kc__jp_list *list, kc__jp_kind *ret, kc_error *err)
{
    size_t n = 0;
    for (kc__jp_node **at = &list->first; *at;) {
        bool range = (*at)->type == KC__JP_WORD && kc_str_is((*at)->name, "range");
        bool end = (*at)->type == KC__JP_WORD && kc_str_is((*at)->name, "end");
        if (!range && !end) {
            at = &(*at)->next;
            continue;
        }
        *ret = range ? KC__JP_RANGE : KC__JP_END;
        *at = (*at)->next;
        n++;
    }
    if (n > 1)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "only one range or end can stand in a pair of braces");
    return 0;
}

/* Closes the ranges that are still open at the end of the template. */
static void resolve_open(kc_jsonpath *path, const size_t *open, size_t depth, size_t last_end)
{
    for (size_t i = 0; i < depth; i++) {
        kc__jp_part *part = &path->parts[open[i]];
        part->body_end = path->n;
        part->resume = last_end > open[i] ? last_end + 1 : open[i] + 1;
    }
}

static int resolve_ranges(kc_jsonpath *path, kc_error *err)
{
    size_t open[KC_JSONPATH_MAX_RANGES], depth = 0, last_end = 0;
    for (size_t i = 0; i < path->n; i++) {
        kc__jp_part *part = &path->parts[i];
        if (part->kind == KC__JP_RANGE) {
            if (depth == KC_JSONPATH_MAX_RANGES)
                return kc_error_set(err, KC_BAD_REQUEST, "ranges can nest at most %u deep",
                                    KC_JSONPATH_MAX_RANGES);
            open[depth++] = i;
        } else if (part->kind == KC__JP_END) {
            if (!depth)
                return kc_error_set(err, KC_BAD_REQUEST, "not in range, nothing to end");
            kc__jp_part *range = &path->parts[open[--depth]];
            range->body_end = i;
            range->resume = i + 1;
            last_end = i;
        }
    }
    resolve_open(path, open, depth, last_end);
    return 0;
}

static int compile(kc_jsonpath *path, kc_str text, kc_error *err)
{
    kc__jp_lists lists = {0};
    int failed = kc__jp_parse(&path->arena, text, &lists, err);
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
    return compile(path, kc_str_of(copy, n), err) < 0 ? NULL : kc_take(path);
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
    int failed = kc__jp_run(path, root, opts, keep_values, ret, err);
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
    int failed = kc__jp_run(path, root, opts, print_values, &text, err);
    if (!failed)
        kc_buf_append(out, kc_buf_str(&text));
    return failed;
}
