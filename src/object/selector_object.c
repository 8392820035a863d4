/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selector_object.c: a LabelSelector object to a selector.
 *
 *     {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": …, "operator": …, "values": …}]}
 *
 * Values of the wrong type, which a typed server refuses while decoding, are refused here by name.
 * As in Go's decoding, a null counts as left out and unknown members are ignored.
 */
#include "object/selector_internal.h"

static const struct {
    const char *name;
    kc_selector_op op;
} operators[] = {
    {"In", KC_SELECT_IN},
    {"NotIn", KC_SELECT_NOT_IN},
    {"Exists", KC_SELECT_EXISTS},
    {"DoesNotExist", KC_SELECT_DOES_NOT_EXIST},
};

typedef struct reader {
    kc_arena arena; /* Lists of values; their text is the view's. */
    kc__requirements requirements;
} reader;

static void reader_done(reader *r)
{
    kc_arena_done(&r->arena);
    kc_vec_done(&r->requirements);
}

static bool is_left_out(const kc_value *value)
{
    return kc_type_of(value) <= KC_NULL;
}

/* Fails when a value that is there has another type. */
static int want(const kc_value *value, kc_type type, const char *what, kc_error *err)
{
    if (is_left_out(value) || kc_type_of(value) == type)
        return 0;
    return kc_error_set(err, KC_BAD_REQUEST, "%s of a label selector must be of type %s, not %s",
                        what, kc_type_name(type), kc_type_name(kc_type_of(value)));
}

/* Null reads as the empty string. */
static kc_str text_of(const kc_value *value)
{
    kc_str text = kc_as_str(value);
    return text.p ? text : KC_STR("");
}

static int keep(reader *r, const kc_requirement *requirement, kc_error *err)
{
    kc_vec_push(&r->requirements, *requirement);
    return kc__check_requirement(requirement, err);
}

static int read_labels(reader *r, const kc_value *labels, kc_error *err)
{
    int failed = want(labels, KC_OBJECT, "matchLabels", err);
    kc_members (labels, key, value) {
        kc_str *values = kc_arena_alloc(&r->arena, sizeof(*values));
        *values = text_of(value);
        failed = want(value, KC_STRING, "each value in matchLabels", err);
        if (!failed)
            failed = keep(r, &(kc_requirement){key, KC_SELECT_EQUALS, values, 1, 0}, err);
        if (failed)
            break;
    }
    return failed;
}

static int read_operator(const kc_value *value, kc_selector_op *ret, kc_error *err)
{
    kc_scoped(kc_buf) quoted = {0};
    int failed = want(value, KC_STRING, "operator in matchExpressions", err);
    if (failed)
        return failed;
    for (size_t i = 0; i < KC_COUNT(operators); i++) {
        if (kc_str_is(kc_as_str(value), operators[i].name)) {
            *ret = operators[i].op;
            return 0;
        }
    }
    kc_json_quote(&quoted, kc_as_str(value));
    return kc_error_set(err, KC_BAD_REQUEST, "%s is not a valid label selector operator",
                        kc_buf_cstr(&quoted));
}

static int read_values(reader *r, const kc_value *list, kc_requirement *to, kc_error *err)
{
    int failed = want(list, KC_ARRAY, "values in matchExpressions", err);
    kc_str *values = kc_arena_alloc(&r->arena, (kc_len(list) + 1) * sizeof(*values));
    kc_items (list, item) {
        failed = want(item, KC_STRING, "each of the values in matchExpressions", err);
        if (failed)
            break;
        values[to->n_values++] = text_of(item);
    }
    to->values = values;
    return failed;
}

static int read_expression(reader *r, const kc_value *expression, kc_error *err)
{
    const kc_value *key = kc_get(expression, "key");
    kc_requirement requirement = {.key = text_of(key)};
    int failed = want(expression, KC_OBJECT, "each item of matchExpressions", err);
    if (!failed)
        failed = want(key, KC_STRING, "key in matchExpressions", err);
    if (!failed)
        failed = read_operator(kc_get(expression, "operator"), &requirement.op, err);
    if (!failed)
        failed = read_values(r, kc_get(expression, "values"), &requirement, err);
    return failed ? failed : keep(r, &requirement, err);
}

static int read_expressions(reader *r, const kc_value *expressions, kc_error *err)
{
    int failed = want(expressions, KC_ARRAY, "matchExpressions", err);
    kc_items (expressions, expression) {
        failed = read_expression(r, expression, err);
        if (failed)
            break;
    }
    return failed;
}

kc_selector *kc_selector_of(const kc_value *label_selector, kc_error *err)
{
    kc_scoped(reader) r = {0};
    if (want(label_selector, KC_OBJECT, "the object", err) < 0 ||
        read_labels(&r, kc_get(label_selector, "matchLabels"), err) < 0 ||
        read_expressions(&r, kc_get(label_selector, "matchExpressions"), err) < 0)
        return NULL;
    kc_selector *selector = kc__selector_make(r.requirements.items, r.requirements.n);
    selector->nothing = is_left_out(label_selector);
    return selector;
}
