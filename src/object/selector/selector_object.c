/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selector_object.c: converts a LabelSelector object to a selector.
 *
 *     {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": …, "operator": …, "values": …}]}
 *
 * Values of the wrong type, which a typed server rejects when decoding, are rejected here by name.
 * As in Go's decoding, null counts as absent and unknown members are ignored.
 */
#include "object/selector/selector_internal.h"

static const struct {
    const char *name;
    kc_selector_op op;
} operators[] = {
    {"In", KC_SELECT_IN},
    {"NotIn", KC_SELECT_NOT_IN},
    {"Exists", KC_SELECT_EXISTS},
    {"DoesNotExist", KC_SELECT_DOES_NOT_EXIST},
};

typedef struct selector_object_reader {
    kc_arena arena; /* For lists of values; their text belongs to the view. */
    kc__selector_requirements requirements;
} selector_object_reader;

static void selector_object_reader_done(selector_object_reader *r)
{
    kc_arena_done(&r->arena);
    kc_vec_done(&r->requirements);
}

static bool selector_object_is_omitted(const kc_value *value)
{
    return kc_value_type(value) <= KC_JSON_NULL;
}

/* Fails when a value is present and has the wrong type. */
static int want(const kc_value *value, kc_json_type type, const char *what, kc_error *err)
{
    if (selector_object_is_omitted(value) || kc_value_type(value) == type)
        return 0;
    return kc_error_set(err, KC_BAD_REQUEST, "%s of a label selector must be of type %s, not %s",
                        what, kc_json_type_name(type), kc_json_type_name(kc_value_type(value)));
}

/* Null counts as the empty string. */
static kc_str selector_object_text_of(const kc_value *value)
{
    kc_str text = kc_value_as_str(value);
    return text.p ? text : KC_STR("");
}

static int selector_object_retain(selector_object_reader *r, const kc_requirement *requirement,
                                  kc_error *err)
{
    kc_vec_push(&r->requirements, *requirement);
    return kc__selector_check_requirement(requirement, err);
}

static int read_labels(selector_object_reader *r, const kc_value *labels, kc_error *err)
{
    int failed = want(labels, KC_JSON_OBJECT, "matchLabels", err);
    kc_value_each_member (labels, key, value) {
        kc_str *values = kc_arena_alloc(&r->arena, sizeof(*values));
        *values = selector_object_text_of(value);
        failed = want(value, KC_JSON_STRING, "each value in matchLabels", err);
        if (!failed)
            failed = selector_object_retain(
                r, &(kc_requirement){key, KC_SELECT_EQUALS, values, 1, 0}, err);
        if (failed)
            break;
    }
    return failed;
}

static int read_operator(const kc_value *value, kc_selector_op *ret, kc_error *err)
{
    kc_scoped(kc_buf) quoted = {0};
    int failed = want(value, KC_JSON_STRING, "operator in matchExpressions", err);
    if (failed)
        return failed;
    for (size_t i = 0; i < KC_COUNT(operators); i++) {
        if (kc_str_is(kc_value_as_str(value), operators[i].name)) {
            *ret = operators[i].op;
            return 0;
        }
    }
    kc_json_quote(&quoted, kc_value_as_str(value));
    return kc_error_set(err, KC_BAD_REQUEST, "%s is not a valid label selector operator",
                        kc_buf_cstr(&quoted));
}

static int read_values(selector_object_reader *r, const kc_value *list, kc_requirement *to,
                       kc_error *err)
{
    int failed = want(list, KC_JSON_ARRAY, "values in matchExpressions", err);
    kc_str *values = kc_arena_alloc(&r->arena, (kc_value_len(list) + 1) * sizeof(*values));
    kc_value_each_item (list, item) {
        failed = want(item, KC_JSON_STRING, "each of the values in matchExpressions", err);
        if (failed)
            break;
        values[to->n_values++] = selector_object_text_of(item);
    }
    to->values = values;
    return failed;
}

static int read_expression(selector_object_reader *r, const kc_value *expression, kc_error *err)
{
    const kc_value *key = kc_value_get(expression, "key");
    kc_requirement requirement = {.key = selector_object_text_of(key)};
    int failed = want(expression, KC_JSON_OBJECT, "each item of matchExpressions", err);
    if (!failed)
        failed = want(key, KC_JSON_STRING, "key in matchExpressions", err);
    if (!failed)
        failed = read_operator(kc_value_get(expression, "operator"), &requirement.op, err);
    if (!failed)
        failed = read_values(r, kc_value_get(expression, "values"), &requirement, err);
    return failed ? failed : selector_object_retain(r, &requirement, err);
}

static int read_expressions(selector_object_reader *r, const kc_value *expressions, kc_error *err)
{
    int failed = want(expressions, KC_JSON_ARRAY, "matchExpressions", err);
    kc_value_each_item (expressions, expression) {
        failed = read_expression(r, expression, err);
        if (failed)
            break;
    }
    return failed;
}

kc_selector *kc_selector_of(const kc_value *label_selector, kc_error *err)
{
    kc_scoped(selector_object_reader) r = {0};
    if (want(label_selector, KC_JSON_OBJECT, "the object", err) < 0 ||
        read_labels(&r, kc_value_get(label_selector, "matchLabels"), err) < 0 ||
        read_expressions(&r, kc_value_get(label_selector, "matchExpressions"), err) < 0)
        return NULL;
    kc_selector *selector = kc__selector_make(r.requirements.items, r.requirements.n);
    selector->nothing = selector_object_is_omitted(label_selector);
    return selector;
}
