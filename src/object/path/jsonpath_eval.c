/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonpath_eval.c: evaluates a compiled JSONPath.
 *
 * Each node maps one list of values to the next. Every visit of a value costs a step of one budget,
 * and every list is limited, so no template can exceed the time and memory of the options, whatever
 * `..`, unions and ranges multiply. Recursion: `..` goes as deep as the values (which the reader
 * has limited), ranges as deep as they nest.
 *
 * To add a node type: a row in the `evaluators` table.
 */
#include "object/gofmt/go_text.h"
#include "object/path/jsonpath_internal.h"

#include <inttypes.h>

enum { DEFAULT_STEPS = 10 * 1000 * 1000, DEFAULT_RESULTS = 1000 * 1000 };

/* Finding a member scans the others, which is cheaper than visiting them. */
enum { MEMBERS_A_STEP = 16 };

typedef struct eval {
    const kc_jsonpath *path;
    bool allow_missing;
    size_t max_steps, steps_left, max_results;
    enum { WITHIN_LIMITS, OUT_OF_STEPS, TOO_MANY_RESULTS } limit;
    kc__jsonpath_sink sink;
    void *user;
    kc_error *err;
} eval;

static int eval_list(eval *e, const kc__jsonpath_list *list, const kc_values *in, kc_values *out);

static int jsonpath_eval_fail(eval *e, const char *fmt, ...) KC_PRINTF(2, 3);

static int jsonpath_eval_fail(eval *e, const char *fmt, ...)
{
    kc_scoped(kc_buf) text = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&text, fmt, args);
    va_end(args);
    return kc_error_set(e->err, KC_BAD_REQUEST, "%s", kc_buf_cstr(&text));
}

static int fail_limit(eval *e)
{
    if (e->limit == OUT_OF_STEPS)
        return jsonpath_eval_fail(e, "the template visits more than %zu values", e->max_steps);
    return jsonpath_eval_fail(e, "the template finds more than %zu values", e->max_results);
}

static int spend(eval *e, size_t steps)
{
    if (steps <= e->steps_left) {
        e->steps_left -= steps;
        return 0;
    }
    e->limit = OUT_OF_STEPS;
    return fail_limit(e);
}

static int jsonpath_eval_return(eval *e, kc_values *out, const kc_value *value)
{
    if (out->n >= e->max_results) {
        e->limit = TOO_MANY_RESULTS;
        return fail_limit(e);
    }
    kc_vec_push(out, value);
    return spend(e, 1);
}

static int append_all(eval *e, kc_values *out, const kc_values *values)
{
    int failed = 0;
    for (size_t i = 0; i < values->n && !failed; i++)
        failed = jsonpath_eval_return(e, out, values->items[i]);
    return failed;
}

static int eval_field(eval *e, const kc__jsonpath_node *node, const kc_values *in, kc_values *out)
{
    for (size_t i = 0; i < in->n; i++) {
        int failed = spend(e, 1 + kc_value_len(in->items[i]) / MEMBERS_A_STEP);
        const kc_value *member = kc_value_get_str(in->items[i], node->name);
        if (!failed && member)
            failed = jsonpath_eval_return(e, out, member);
        if (failed)
            return failed;
    }
    if (in->n && !out->n && !e->allow_missing)
        return jsonpath_eval_fail(e, "%.*s is not found", KC_ARG(node->name));
    return 0;
}

/* The bounds of a slice in an array of n items; both equal for an empty one. */
static int slice_bounds(eval *e, const kc__jsonpath_node *node, int64_t n, int64_t *ret_from,
                        int64_t *ret_to)
{
    int64_t from = node->slice.has_from ? node->slice.from : 0;
    int64_t to = node->slice.has_to ? node->slice.to : n;
    from += from < 0 ? n : 0;
    to += to < 0 || (to == 0 && node->slice.single) ? n : 0;
    *ret_from = from;
    *ret_to = to;
    if (from == to)
        return 0;
    if (from < 0 || from >= n)
        return jsonpath_eval_fail(
            e, "array index out of bounds: index %" PRId64 ", length %" PRId64, from, n);
    if (to < 0 || to > n)
        return jsonpath_eval_fail(
            e, "array index out of bounds: index %" PRId64 ", length %" PRId64, to - 1, n);
    if (from > to)
        return jsonpath_eval_fail(
            e, "starting index %" PRId64 " is greater than ending index %" PRId64, from, to);
    if (node->slice.has_step && node->slice.step <= 0)
        return jsonpath_eval_fail(e, "step must be > 0");
    return 0;
}

static int append_slice(eval *e, const kc_value *array, int64_t from, int64_t to, int64_t step,
                        kc_values *out)
{
    int64_t at = 0, next = from;
    int failed = spend(e, (size_t)from / MEMBERS_A_STEP);
    kc_value_each_item (array, item) {
        if (failed || at == to)
            break;
        if (at++ != next)
            continue;
        next = step < to - next ? next + step : to;
        failed = jsonpath_eval_return(e, out, item);
    }
    return failed;
}

static int eval_slice(eval *e, const kc__jsonpath_node *node, const kc_values *in, kc_values *out)
{
    for (size_t i = 0; i < in->n; i++) {
        const kc_value *array = in->items[i];
        int64_t from, to;
        int failed = spend(e, 1);
        if (!failed && kc_value_type(array) == KC_JSON_NULL)
            continue;
        if (!failed && kc_value_type(array) != KC_JSON_ARRAY)
            failed = jsonpath_eval_fail(e, "%s is not array or slice",
                                        kc__go_type(kc_value_type(array)));
        if (!failed)
            failed = slice_bounds(e, node, (int64_t)kc_value_len(array), &from, &to);
        if (failed)
            return failed;
        if (from == to)
            break; /* As in client-go, an empty slice also ends the evaluation for later values. */
        failed = append_slice(e, array, from, to, node->slice.has_step ? node->slice.step : 1, out);
        if (failed)
            return failed;
    }
    return 0;
}

static int eval_wildcard(eval *e, const kc__jsonpath_node *node, const kc_values *in,
                         kc_values *out)
{
    int failed = 0;
    (void)node;
    for (size_t i = 0; i < in->n && !failed; i++) {
        failed = spend(e, 1);
        kc_value_each_item (in->items[i], item)
            failed = failed ? failed : jsonpath_eval_return(e, out, item);
        kc_value_each_member (in->items[i], name, member) {
            (void)name;
            failed = failed ? failed : jsonpath_eval_return(e, out, member);
        }
    }
    return failed;
}

/* A value and all its descendants, but only non-empty containers and strings: not numbers, not [].
 */
static int descend(eval *e, const kc_value *value, kc_values *out)
{
    int failed = spend(e, 1);
    if (!failed && (kc_value_len(value) || kc_value_as_str(value).n))
        failed = jsonpath_eval_return(e, out, value);
    kc_value_each_item (value, item)
        failed = failed ? failed : descend(e, item, out);
    kc_value_each_member (value, name, member) {
        (void)name;
        failed = failed ? failed : descend(e, member, out);
    }
    return failed;
}

static int eval_recursive(eval *e, const kc__jsonpath_node *node, const kc_values *in,
                          kc_values *out)
{
    int failed = 0;
    (void)node;
    for (size_t i = 0; i < in->n && !failed; i++)
        failed = descend(e, in->items[i], out);
    return failed;
}

static int eval_union(eval *e, const kc__jsonpath_node *node, const kc_values *in, kc_values *out)
{
    int failed = 0;
    for (size_t i = 0; i < node->choice.n && !failed; i++)
        failed = eval_list(e, &node->choice.lists[i], in, out);
    return failed;
}

static int eval_text(eval *e, const kc__jsonpath_node *node, const kc_values *in, kc_values *out)
{
    (void)in;
    return jsonpath_eval_return(e, out, &node->literal);
}

static int eval_literal(eval *e, const kc__jsonpath_node *node, const kc_values *in, kc_values *out)
{
    int failed = 0;
    for (size_t i = 0; i < in->n && !failed; i++)
        failed = jsonpath_eval_return(e, out, &node->literal);
    return failed;
}

static int eval_word(eval *e, const kc__jsonpath_node *node, const kc_values *in, kc_values *out)
{
    (void)in;
    (void)out;
    return jsonpath_eval_fail(e, "unrecognized identifier %.*s", KC_ARG(node->name));
}

/* 1 when the left side finds a value. An error means 0, unless it is a limit. */
static int exists(eval *e, const kc__jsonpath_node *node, const kc_values *item, kc_values *left)
{
    kc_error *err = e->err;
    e->err = NULL;
    int failed = eval_list(e, &node->filter.left, item, left);
    e->err = err;
    if (e->limit)
        return fail_limit(e);
    return !failed && left->n > 0;
}

/* 1 when the item passes, 0 when not, or an error. */
static int compare_sides(eval *e, const kc__jsonpath_node *node, const kc_values *item,
                         kc_values *left, kc_values *right)
{
    if (!node->filter.op.n)
        return exists(e, node, item, left);
    int failed = eval_list(e, &node->filter.left, item, left);
    if (failed || !left->n)
        return failed;
    if (left->n > 1)
        return jsonpath_eval_fail(e, "can only compare one element at a time");
    failed = eval_list(e, &node->filter.right, item, right);
    if (failed || !right->n)
        return failed;
    if (right->n > 1)
        return jsonpath_eval_fail(e, "can only compare one element at a time");
    return kc__jsonpath_compare(left->items[0], node->filter.op, right->items[0], e->err);
}

static int filter_item(eval *e, const kc__jsonpath_node *node, const kc_value *item, kc_values *out)
{
    kc_scoped(kc_values) left = {0};
    kc_scoped(kc_values) right = {0};
    const kc_values alone = {.items = &item, .n = 1, .cap = 1};
    int passes = compare_sides(e, node, &alone, &left, &right);
    return passes > 0 ? jsonpath_eval_return(e, out, item) : passes;
}

static int eval_filter(eval *e, const kc__jsonpath_node *node, const kc_values *in, kc_values *out)
{
    int failed = 0;
    for (size_t i = 0; i < in->n && !failed; i++) {
        failed = spend(e, 1);
        if (!failed && kc_value_type(in->items[i]) != KC_JSON_ARRAY)
            failed = jsonpath_eval_fail(e, "%s is not array or slice and cannot be filtered",
                                        kc__go_type(kc_value_type(in->items[i])));
        kc_value_each_item (in->items[i], item)
            failed = failed ? failed : filter_item(e, node, item, out);
    }
    return failed;
}

static int (*const evaluators[])(eval *, const kc__jsonpath_node *, const kc_values *,
                                 kc_values *) = {
    [KC__JSONPATH_FIELD] = eval_field,       [KC__JSONPATH_SLICE] = eval_slice,
    [KC__JSONPATH_FILTER] = eval_filter,     [KC__JSONPATH_UNION] = eval_union,
    [KC__JSONPATH_WILDCARD] = eval_wildcard, [KC__JSONPATH_RECURSIVE] = eval_recursive,
    [KC__JSONPATH_TEXT] = eval_text,         [KC__JSONPATH_LITERAL] = eval_literal,
    [KC__JSONPATH_WORD] = eval_word,
};

/* Appends the result of the whole list for `in` to `out`. */
static int eval_list(eval *e, const kc__jsonpath_list *list, const kc_values *in, kc_values *out)
{
    kc_scoped(kc_values) now = {0};
    kc_scoped(kc_values) next = {0};
    int failed = 0;
    for (const kc__jsonpath_node *node = list->first; node && !failed; node = node->next) {
        kc_vec_clear(&next);
        failed = evaluators[node->type](e, node, node == list->first ? in : &now, &next);
        kc_values swap = now;
        now = next;
        next = swap;
    }
    if (failed)
        return failed;
    return append_all(e, out, list->first ? &now : in);
}

static int run_parts(eval *e, size_t from, size_t to, const kc_value *root);

static int run_range(eval *e, size_t at, const kc_values *values)
{
    int failed = 0;
    for (size_t i = 0; i < values->n && !failed; i++)
        failed = run_parts(e, at + 1, e->path->parts[at].body_end, values->items[i]);
    return failed;
}

static int run_parts(eval *e, size_t from, size_t to, const kc_value *root)
{
    const kc_values start = {.items = &root, .n = 1, .cap = 1};
    int failed = 0;
    for (size_t i = from; i < to && !failed;) {
        const kc__jsonpath_part *part = &e->path->parts[i];
        kc_scoped(kc_values) values = {0};
        failed = spend(e, 1);
        if (!failed && part->kind != KC__JSONPATH_END)
            failed = eval_list(e, &part->list, &start, &values);
        if (failed)
            break;
        if (part->kind == KC__JSONPATH_PRINTS)
            failed = e->sink(&values, e->err, e->user);
        else if (part->kind == KC__JSONPATH_RANGE)
            failed = run_range(e, i, &values);
        i = part->kind == KC__JSONPATH_RANGE ? part->resume : i + 1;
    }
    return failed;
}

int kc__jsonpath_run(const kc_jsonpath *path, const kc_value *root, const kc_jsonpath_opts *opts,
                     kc__jsonpath_sink sink, void *user, kc_error *err)
{
    size_t steps = opts && opts->max_steps ? opts->max_steps : DEFAULT_STEPS;
    eval e = {
        .path = path,
        .allow_missing = opts && opts->allow_missing,
        .max_steps = steps,
        .steps_left = steps,
        .max_results = opts && opts->max_results ? opts->max_results : DEFAULT_RESULTS,
        .sink = sink,
        .user = user,
        .err = err,
    };
    return run_parts(&e, 0, path->n, root);
}
