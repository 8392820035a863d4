/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonpath_eval.c: evaluating a compiled JSONPath.
 *
 * Each node turns one list of values into the next. Everything that touches a value pays a step
 * from one budget, and every list is limited, so no template can take more time or memory than the
 * options say, whatever `..`, unions and ranges multiply. Recursion: `..` goes as deep as the
 * values are (which the reader has limited), ranges as deep as they nest.
 *
 * To add a node type: a row in the `evaluators` table.
 */
#include "object/go_text.h"
#include "object/jsonpath_internal.h"

#include <inttypes.h>

enum { DEFAULT_STEPS = 10 * 1000 * 1000, DEFAULT_RESULTS = 1000 * 1000 };

/* Looking for a member walks over the others, which is cheaper than visiting them. */
enum { MEMBERS_A_STEP = 16 };

typedef struct eval {
    const kc_jsonpath *path;
    bool allow_missing;
    size_t max_steps, steps_left, max_results;
    enum { WITHIN_LIMITS, OUT_OF_STEPS, TOO_MANY_RESULTS } limit;
    kc__jp_sink sink;
    void *user;
    kc_error *err;
} eval;

static int eval_list(eval *e, const kc__jp_list *list, const kc_values *in, kc_values *out);

static int fail(eval *e, const char *fmt, ...) KC_PRINTF(2, 3);

static int fail(eval *e, const char *fmt, ...)
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
        return fail(e, "the template looks at more than %zu values", e->max_steps);
    return fail(e, "the template finds more than %zu values", e->max_results);
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

static int give(eval *e, kc_values *out, const kc_value *value)
{
    if (out->n >= e->max_results) {
        e->limit = TOO_MANY_RESULTS;
        return fail_limit(e);
    }
    kc_vec_push(out, value);
    return spend(e, 1);
}

static int give_all(eval *e, kc_values *out, const kc_values *values)
{
    int failed = 0;
    for (size_t i = 0; i < values->n && !failed; i++)
        failed = give(e, out, values->items[i]);
    return failed;
}

static int eval_field(eval *e, const kc__jp_node *node, const kc_values *in, kc_values *out)
{
    for (size_t i = 0; i < in->n; i++) {
        int failed = spend(e, 1 + kc_len(in->items[i]) / MEMBERS_A_STEP);
        const kc_value *member = kc_get_str(in->items[i], node->name);
        if (!failed && member)
            failed = give(e, out, member);
        if (failed)
            return failed;
    }
    if (in->n && !out->n && !e->allow_missing)
        return fail(e, "%.*s is not found", KC_ARG(node->name));
    return 0;
}

/* From where to where a slice goes in an array of n items; the same place for an empty one. */
static int slice_bounds(eval *e, const kc__jp_node *node, int64_t n, int64_t *ret_from,
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
        return fail(e, "array index out of bounds: index %" PRId64 ", length %" PRId64, from, n);
    if (to < 0 || to > n)
        return fail(e, "array index out of bounds: index %" PRId64 ", length %" PRId64, to - 1, n);
    if (from > to)
        return fail(e, "starting index %" PRId64 " is greater than ending index %" PRId64, from,
                    to);
    if (node->slice.has_step && node->slice.step <= 0)
        return fail(e, "step must be > 0");
    return 0;
}

static int give_slice(eval *e, const kc_value *array, int64_t from, int64_t to, int64_t step,
                      kc_values *out)
{
    int64_t at = 0, next = from;
    int failed = spend(e, (size_t)from / MEMBERS_A_STEP);
    kc_items (array, item) {
        if (failed || at == to)
            break;
        if (at++ != next)
            continue;
        next = step < to - next ? next + step : to;
        failed = give(e, out, item);
    }
    return failed;
}

static int eval_slice(eval *e, const kc__jp_node *node, const kc_values *in, kc_values *out)
{
    for (size_t i = 0; i < in->n; i++) {
        const kc_value *array = in->items[i];
        int64_t from, to;
        int failed = spend(e, 1);
        if (!failed && kc_type_of(array) == KC_NULL)
            continue;
        if (!failed && kc_type_of(array) != KC_ARRAY)
            failed = fail(e, "%s is not array or slice", kc__go_type(kc_type_of(array)));
        if (!failed)
            failed = slice_bounds(e, node, (int64_t)kc_len(array), &from, &to);
        if (failed)
            return failed;
        if (from == to)
            break; /* An empty slice ends it for the values behind this one too, as in client-go. */
        failed = give_slice(e, array, from, to, node->slice.has_step ? node->slice.step : 1, out);
        if (failed)
            return failed;
    }
    return 0;
}

static int eval_wildcard(eval *e, const kc__jp_node *node, const kc_values *in, kc_values *out)
{
    int failed = 0;
    (void)node;
    for (size_t i = 0; i < in->n && !failed; i++) {
        failed = spend(e, 1);
        kc_items (in->items[i], item)
            failed = failed ? failed : give(e, out, item);
        kc_members (in->items[i], name, member) {
            (void)name;
            failed = failed ? failed : give(e, out, member);
        }
    }
    return failed;
}

/* A value and all below it, but only what has something in it: not numbers, not []. */
static int descend(eval *e, const kc_value *value, kc_values *out)
{
    int failed = spend(e, 1);
    if (!failed && (kc_len(value) || kc_as_str(value).n))
        failed = give(e, out, value);
    kc_items (value, item)
        failed = failed ? failed : descend(e, item, out);
    kc_members (value, name, member) {
        (void)name;
        failed = failed ? failed : descend(e, member, out);
    }
    return failed;
}

static int eval_recursive(eval *e, const kc__jp_node *node, const kc_values *in, kc_values *out)
{
    int failed = 0;
    (void)node;
    for (size_t i = 0; i < in->n && !failed; i++)
        failed = descend(e, in->items[i], out);
    return failed;
}

static int eval_union(eval *e, const kc__jp_node *node, const kc_values *in, kc_values *out)
{
    int failed = 0;
    for (size_t i = 0; i < node->choice.n && !failed; i++)
        failed = eval_list(e, &node->choice.lists[i], in, out);
    return failed;
}

static int eval_text(eval *e, const kc__jp_node *node, const kc_values *in, kc_values *out)
{
    (void)in;
    return give(e, out, &node->literal);
}

static int eval_literal(eval *e, const kc__jp_node *node, const kc_values *in, kc_values *out)
{
    int failed = 0;
    for (size_t i = 0; i < in->n && !failed; i++)
        failed = give(e, out, &node->literal);
    return failed;
}

static int eval_word(eval *e, const kc__jp_node *node, const kc_values *in, kc_values *out)
{
    (void)in;
    (void)out;
    return fail(e, "unrecognized identifier %.*s", KC_ARG(node->name));
}

/* 1 when the left side finds something. An error means that it does not, unless it is a limit. */
static int exists(eval *e, const kc__jp_node *node, const kc_values *item, kc_values *left)
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
static int compare_sides(eval *e, const kc__jp_node *node, const kc_values *item, kc_values *left,
                         kc_values *right)
{
    if (!node->filter.op.n)
        return exists(e, node, item, left);
    int failed = eval_list(e, &node->filter.left, item, left);
    if (failed || !left->n)
        return failed;
    if (left->n > 1)
        return fail(e, "can only compare one element at a time");
    failed = eval_list(e, &node->filter.right, item, right);
    if (failed || !right->n)
        return failed;
    if (right->n > 1)
        return fail(e, "can only compare one element at a time");
    return kc__jp_compare(left->items[0], node->filter.op, right->items[0], e->err);
}

static int filter_item(eval *e, const kc__jp_node *node, const kc_value *item, kc_values *out)
{
    kc_scoped(kc_values) left = {0};
    kc_scoped(kc_values) right = {0};
    const kc_values alone = {.items = &item, .n = 1, .cap = 1};
    int passes = compare_sides(e, node, &alone, &left, &right);
    return passes > 0 ? give(e, out, item) : passes;
}

static int eval_filter(eval *e, const kc__jp_node *node, const kc_values *in, kc_values *out)
{
    int failed = 0;
    for (size_t i = 0; i < in->n && !failed; i++) {
        failed = spend(e, 1);
        if (!failed && kc_type_of(in->items[i]) != KC_ARRAY)
            failed = fail(e, "%s is not array or slice and cannot be filtered",
                          kc__go_type(kc_type_of(in->items[i])));
        kc_items (in->items[i], item)
            failed = failed ? failed : filter_item(e, node, item, out);
    }
    return failed;
}

static int (*const evaluators[])(eval *, const kc__jp_node *, const kc_values *, kc_values *) = {
    [KC__JP_FIELD] = eval_field,       [KC__JP_SLICE] = eval_slice,
    [KC__JP_FILTER] = eval_filter,     [KC__JP_UNION] = eval_union,
    [KC__JP_WILDCARD] = eval_wildcard, [KC__JP_RECURSIVE] = eval_recursive,
    [KC__JP_TEXT] = eval_text,         [KC__JP_LITERAL] = eval_literal,
    [KC__JP_WORD] = eval_word,
};

/* Appends to `out` what the whole list makes of `in`. */
static int eval_list(eval *e, const kc__jp_list *list, const kc_values *in, kc_values *out)
{
    kc_scoped(kc_values) now = {0};
    kc_scoped(kc_values) next = {0};
    int failed = 0;
    for (const kc__jp_node *node = list->first; node && !failed; node = node->next) {
        kc_vec_clear(&next);
        failed = evaluators[node->type](e, node, node == list->first ? in : &now, &next);
        kc_values swap = now;
        now = next;
        next = swap;
    }
    if (failed)
        return failed;
    return give_all(e, out, list->first ? &now : in);
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
        const kc__jp_part *part = &e->path->parts[i];
        kc_scoped(kc_values) values = {0};
        failed = spend(e, 1);
        if (!failed && part->kind != KC__JP_END)
            failed = eval_list(e, &part->list, &start, &values);
        if (failed)
            break;
        if (part->kind == KC__JP_PRINTS)
            failed = e->sink(&values, e->err, e->user);
        else if (part->kind == KC__JP_RANGE)
            failed = run_range(e, i, &values);
        i = part->kind == KC__JP_RANGE ? part->resume : i + 1;
    }
    return failed;
}

int kc__jp_run(const kc_jsonpath *path, const kc_value *root, const kc_jsonpath_opts *opts,
               kc__jp_sink sink, void *user, kc_error *err)
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
