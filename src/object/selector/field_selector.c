/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field_selector.c: field selectors: parsing, printing, transforming, matching through a callback.
 * field_defs.c has the table of fields.
 *
 * The rules are those of apimachinery's fields package. Terms are sorted as text before they are
 * parsed, so that order and first error do not depend on the client's order. A field's name has no
 * escapes and ends at the first operator.
 */
#include "kc/field_selector.h"

#include "kc/arena.h"
#include "kc/utf8.h"
#include "object/model/object_internal.h"

struct kc_field_selector {
    kc_arena arena; /* Text of the requirements. */
    KC_VEC(kc_field_requirement) requirements;
};

typedef KC_VEC(kc_str) terms;

/* Splits at commas without a backslash before them. The backslashes stay. */
static void field_selector_split(kc_str text, terms *out)
{
    size_t from = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\\') {
            i++;
        } else if (text.p[i] == ',') {
            kc_vec_push(out, kc_str_sub(text, from, i));
            from = i + 1;
        }
    }
    kc_vec_push(out, kc_str_sub(text, from, text.n));
    kc_vec_sort(out, kc_str_compare);
}

/* Splits a term at its first operator; the value is still escaped. */
static bool cut_term(kc_str term, kc_field_requirement *ret)
{
    static const struct {
        kc_str sign;
        bool negated;
    } operators[] = {
        {KC_STR_INIT("!="), true}, {KC_STR_INIT("=="), false}, {KC_STR_INIT("="), false}};
    for (size_t i = 0; i < term.n; i++) {
        kc_str rest = kc_str_sub(term, i, term.n);
        for (size_t k = 0; k < KC_COUNT(operators); k++) {
            if (!kc_str_starts(rest, operators[k].sign))
                continue;
            *ret = (kc_field_requirement){kc_str_sub(term, 0, i),
                                          kc_str_sub(rest, operators[k].sign.n, rest.n),
                                          operators[k].negated};
            return true;
        }
    }
    return false;
}

static bool is_special(char c)
{
    return c == '\\' || c == ',' || c == '=';
}

static int bad_escape(kc_str sequence, kc_error *err)
{
    size_t n = sequence.n > 1 ? 1 + kc_utf8_next(kc_str_sub(sequence, 1, sequence.n), NULL) : 1;
    return kc_error_set(err, KC_BAD_REQUEST,
                        "invalid field selector: invalid escape sequence: %.*s",
                        KC_ARG(kc_str_sub(sequence, 0, n)));
}

static int field_selector_unescape(kc_str value, kc_buf *out, kc_error *err)
{
    for (size_t i = 0; i < value.n; i++) {
        char c = value.p[i];
        if (c == '\\') {
            if (i + 1 == value.n || !is_special(value.p[i + 1]))
                return bad_escape(kc_str_sub(value, i, value.n), err);
            c = value.p[++i];
        } else if (is_special(c)) {
            return kc_error_set(err, KC_BAD_REQUEST,
                                "invalid field selector: unescaped character in value: %d", c);
        }
        kc_buf_putc(out, c);
    }
    return 0;
}

static void field_selector_add(kc_field_selector *selector, kc_str field, kc_str value,
                               bool negated)
{
    kc_vec_push(&selector->requirements,
                (kc_field_requirement){kc_arena_str(&selector->arena, field),
                                       kc_arena_str(&selector->arena, value), negated});
}

static int parse_term(kc_field_selector *selector, kc_str text, kc_str term, kc_error *err)
{
    kc_scoped(kc_buf) value = {0};
    kc_field_requirement r;
    if (!cut_term(term, &r))
        return kc_error_set(err, KC_BAD_REQUEST,
                            "invalid selector: '%.*s'; can't understand '%.*s'", KC_ARG(text),
                            KC_ARG(term));
    int failed = field_selector_unescape(r.value, &value, err);
    /* "=" alone is ignored and selects everything. */
    if (!failed && (r.field.n || value.n))
        field_selector_add(selector, r.field, kc_buf_str(&value), r.negated);
    return failed;
}

static int field_selector_parse(kc_field_selector *selector, kc_str text, kc_error *err)
{
    terms list = {0};
    int failed = 0;
    field_selector_split(text, &list);
    for (size_t i = 0; i < list.n && !failed; i++)
        if (list.items[i].n)
            failed = parse_term(selector, text, list.items[i], err);
    kc_vec_done(&list);
    return failed;
}

kc_field_selector *kc_field_selector_parse(kc_str text, kc_error *err)
{
    if (text.n > KC_FIELD_SELECTOR_MAX_BYTES) {
        kc_error_set(err, KC_BAD_REQUEST, "a field selector may have at most %zu bytes",
                     KC_FIELD_SELECTOR_MAX_BYTES);
        return NULL;
    }
    kc_auto(kc_field_selector) *selector = kc_new(kc_field_selector);
    return field_selector_parse(selector, text, err) < 0 ? NULL : kc_take(selector);
}

kc_field_selector *kc_field_selector_free(kc_field_selector *selector)
{
    if (!selector)
        return NULL;
    kc_arena_done(&selector->arena);
    kc_vec_done(&selector->requirements);
    free(selector);
    return NULL;
}

bool kc_field_selector_is_everything(const kc_field_selector *selector)
{
    return !selector || !selector->requirements.n;
}

const kc_field_requirement *kc_field_selector_requirements(const kc_field_selector *selector,
                                                           size_t *ret_n)
{
    *ret_n = selector ? selector->requirements.n : 0;
    return selector ? selector->requirements.items : NULL;
}

bool kc_field_selector_exact(const kc_field_selector *selector, kc_str field, kc_str *ret_value)
{
    if (!selector)
        return false;
    kc_vec_each (&selector->requirements, r) {
        if (r->negated || !kc_str_eq(r->field, field))
            continue;
        *ret_value = r->value;
        return true;
    }
    return false;
}

void kc_field_selector_escape(kc_buf *out, kc_str value)
{
    for (size_t i = 0; i < value.n; i++) {
        if (is_special(value.p[i]))
            kc_buf_putc(out, '\\');
        kc_buf_putc(out, value.p[i]);
    }
}

void kc_field_selector_write(kc_buf *out, const kc_field_selector *selector)
{
    if (!selector)
        return;
    kc_vec_each (&selector->requirements, r) {
        kc_buf_puts(out, r == selector->requirements.items ? "" : ",");
        kc_buf_append(out, r->field);
        kc_buf_puts(out, r->negated ? "!=" : "=");
        kc_field_selector_escape(out, r->value);
    }
}

kc_field_selector *kc_field_selector_transform(const kc_field_selector *selector,
                                               kc_field_transform_fn fn, void *user, kc_error *err)
{
    kc_auto(kc_field_selector) *changed = kc_new(kc_field_selector);
    size_t n;
    const kc_field_requirement *list = kc_field_selector_requirements(selector, &n);
    for (size_t i = 0; i < n; i++) {
        kc_str field = list[i].field, value = list[i].value;
        if (fn(list[i].field, list[i].value, &field, &value, err, user) < 0)
            return NULL;
        if (field.n || value.n)
            field_selector_add(changed, field, value, list[i].negated);
    }
    return kc_take(changed);
}

bool kc_field_selector_match(const kc_field_selector *selector, kc_field_value_fn fn, void *user)
{
    if (!selector)
        return true;
    kc_vec_each (&selector->requirements, r)
        if (kc_str_eq(fn(r->field, user), r->value) == r->negated)
            return false;
    return true;
}
