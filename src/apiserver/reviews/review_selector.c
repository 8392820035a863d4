/* SPDX-License-Identifier: Apache-2.0 */
/*
 * review_selector.c: see review_selector.h.
 *
 * A requirement with an operator that the server does not know is left out, and the status reports
 * it: requirements are combined by "and", so the decision is about more objects, never about fewer.
 * A field can be compared with one value only.
 */
#include "apiserver/reviews/review_selector.h"

#include "kc/field_selector.h"
#include "kc/selector.h"

/* ---- validation ---- */

static void check_operator(const kc__location *requirement)
{
    const kc__location op = kc__location_member(requirement, "operator"),
                       values = kc__location_member(requirement, "values");
    const bool compares = kc__location_text_is(&op, "In") || kc__location_text_is(&op, "NotIn");
    const bool exists =
        kc__location_text_is(&op, "Exists") || kc__location_text_is(&op, "DoesNotExist");
    if (compares && !kc__location_is_set(&values))
        kc__location_error(&values, KC_FIELD_REQUIRED,
                           "must be specified when `operator` is 'In' or 'NotIn'");
    if (exists && kc__location_is_set(&values))
        kc__location_error(&values, KC_FIELD_FORBIDDEN,
                           "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
}

static void check_field_requirement(const kc__location *requirement)
{
    const kc__location key = kc__location_member(requirement, "key");
    if (!kc__location_is_set(&key))
        kc__location_error(&key, KC_FIELD_REQUIRED, "must be specified");
    check_operator(requirement);
}

static void check_label_requirement(const kc__location *requirement)
{
    const kc__location key = kc__location_member(requirement, "key"),
                       values = kc__location_member(requirement, "values");
    size_t i = 0;
    check_operator(requirement);
    kc__validate_name(&key, KC_NAME_QUALIFIED);
    kc_value_each_item (values.value, value) {
        const kc__location item = kc__location_item(&values, value, i++);
        kc__validate_name(&item, KC_NAME_LABEL_VALUE);
    }
}

static void check_selector(const kc__location *selector,
                           void (*check_requirement)(const kc__location *requirement))
{
    const kc__location raw = kc__location_member(selector, "rawSelector"),
                       list = kc__location_member(selector, "requirements");
    size_t i = 0;
    if (!selector->value)
        return;
    if (kc__location_is_set(&raw) && kc__location_is_set(&list))
        kc__location_error(&raw, KC_FIELD_INVALID,
                           "may not specified at the same time as requirements");
    if (!kc__location_is_set(&raw) && !kc__location_is_set(&list))
        kc__location_error(&list, KC_FIELD_REQUIRED,
                           "when %s is specified, requirements or rawSelector is required",
                           kc__location_path(selector));
    kc_value_each_item (list.value, value) {
        const kc__location item = kc__location_item(&list, value, i++);
        check_requirement(&item);
    }
}

void kc__review_validate_selectors(const kc__location *resources)
{
    const kc__location fields = kc__location_member(resources, "fieldSelector"),
                       labels = kc__location_member(resources, "labelSelector");
    check_selector(&fields, check_field_requirement);
    check_selector(&labels, check_label_requirement);
}

/* ---- reading ---- */

/* How many requirements can be read, and how many not. */
typedef struct readable {
    size_t good, bad;
} readable;

static bool is_readable_label(const kc_value *requirement)
{
    static const char *const operators[] = {"In", "NotIn", "Exists", "DoesNotExist", NULL};
    return kc_str_is_any(kc_value_as_str(kc_value_get(requirement, "operator")), operators);
}

static bool is_readable_field(const kc_value *requirement)
{
    static const char *const operators[] = {"In", "NotIn", NULL};
    return kc_value_len(kc_value_get(requirement, "values")) == 1 &&
           kc_str_is_any(kc_value_as_str(kc_value_get(requirement, "operator")), operators);
}

static bool is_readable_label_text(kc_str text)
{
    kc_auto(kc_selector) *selector = kc_selector_parse(text, NULL);
    return selector != NULL;
}

static bool is_readable_field_text(kc_str text)
{
    kc_auto(kc_field_selector) *selector = kc_field_selector_parse(text, NULL);
    return selector != NULL;
}

static readable read_selector(const kc_value *selector, bool (*reads_text)(kc_str text),
                              bool (*reads)(const kc_value *requirement))
{
    const kc_str raw = kc_value_as_str(kc_value_get(selector, "rawSelector"));
    readable r = {.bad = !kc_str_empty(raw) && !reads_text(raw)};
    kc_value_each_item (kc_value_get(selector, "requirements"), requirement) {
        const bool good = reads(requirement);
        r.good += good;
        r.bad += !good;
    }
    return r;
}

static void report_selector(kc_buf *out, const char *name, readable r)
{
    if (r.bad)
        kc_buf_printf(out, "%sspec.resourceAttributes.%s %signored due to parse error",
                      out->n ? "; " : "", name, r.good ? "partially " : "");
}

/* ---- requirements ---- */

static kc_selector_op label_operator(kc_str text)
{
    if (kc_str_is(text, "In"))
        return KC_SELECT_IN;
    if (kc_str_is(text, "NotIn"))
        return KC_SELECT_NOT_IN;
    return kc_str_is(text, "Exists") ? KC_SELECT_EXISTS : KC_SELECT_DOES_NOT_EXIST;
}

static kc_requirement label_requirement(const kc_value *requirement, kc_arena *arena)
{
    const kc_value *list = kc_value_get(requirement, "values");
    kc_str *values = kc_arena_calloc(arena, kc_value_len(list) + 1, sizeof(*values));
    size_t n = 0;
    kc_value_each_item (list, value)
        values[n++] = kc_value_as_str(value);
    return (kc_requirement){
        .key = kc_value_as_str(kc_value_get(requirement, "key")),
        .op = label_operator(kc_value_as_str(kc_value_get(requirement, "operator"))),
        .values = values,
        .n_values = n};
}

static kc_selector *read_label_requirements(const kc_value *list)
{
    kc_scoped(kc_arena) arena = {0};
    kc_requirement *read = kc_arena_calloc(&arena, kc_value_len(list) + 1, sizeof(*read));
    size_t n = 0;
    kc_value_each_item (list, requirement)
        if (is_readable_label(requirement))
            read[n++] = label_requirement(requirement, &arena);
    return n ? kc_selector_new(read, n, NULL) : NULL;
}

/* As the text that means the same. */
static kc_field_selector *read_field_requirements(const kc_value *list)
{
    kc_scoped(kc_buf) text = {0};
    kc_value_each_item (list, requirement) {
        if (!is_readable_field(requirement))
            continue;
        const bool equal = kc_str_is(kc_value_as_str(kc_value_get(requirement, "operator")), "In");
        kc_buf_puts(&text, text.n ? "," : "");
        kc_buf_append(&text, kc_value_as_str(kc_value_get(requirement, "key")));
        kc_buf_puts(&text, equal ? "=" : "!=");
        kc_field_selector_escape(
            &text, kc_value_as_str(kc_value_at(kc_value_get(requirement, "values"), 0)));
    }
    return text.n ? kc_field_selector_parse(kc_buf_str(&text), NULL) : NULL;
}

void kc__review_read_selectors(const kc_value *resources, kc__authz_selectors *ret)
{
    const kc_value *fields = kc_value_get(resources, "fieldSelector"),
                   *labels = kc_value_get(resources, "labelSelector");
    kc__authz_selectors_parse(ret, kc_value_as_str(kc_value_get(fields, "rawSelector")),
                              kc_value_as_str(kc_value_get(labels, "rawSelector")));
    if (!ret->fields)
        ret->fields = read_field_requirements(kc_value_get(fields, "requirements"));
    if (!ret->labels)
        ret->labels = read_label_requirements(kc_value_get(labels, "requirements"));
}

/* ---- problems ---- */

void kc__review_report_selectors(const kc_value *resources, kc_buf *out)
{
    report_selector(out, "fieldSelector",
                    read_selector(kc_value_get(resources, "fieldSelector"), is_readable_field_text,
                                  is_readable_field));
    report_selector(out, "labelSelector",
                    read_selector(kc_value_get(resources, "labelSelector"), is_readable_label_text,
                                  is_readable_label));
}
