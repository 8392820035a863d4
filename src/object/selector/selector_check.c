/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selector_check.c: validates a requirement of a label selector, with Kubernetes' messages. Clients
 * and tests compare these messages, so they equal apimachinery's letter by letter, with regular
 * expressions and odd commas.
 *
 * All problems of a requirement are reported at once: "key: …" for one, "[key: …, values[0][app]:
 * …]" for several.
 */
#include "object/selector/selector_internal.h"

#include "kc/names.h"

#include <stdio.h>

enum { MOST_FINDINGS = 100 };

static bool selector_check_name(kc_name_rule rule, kc_str text, kc_buf *problems)
{
    const char *messages[KC_NAME_MESSAGES];
    size_t n = kc_name_check(rule, text, messages);
    for (size_t i = 0; i < n; i++)
        kc_buf_printf(problems, "%s%s", problems->n ? "; " : "", messages[i]);
    return n == 0;
}

bool kc__selector_check_key(kc_str key, kc_buf *problems)
{
    return selector_check_name(KC_NAME_QUALIFIED, key, problems);
}

static bool check_label_value(kc_str value, kc_buf *problems)
{
    return selector_check_name(KC_NAME_LABEL_VALUE, value, problems);
}

typedef struct findings {
    kc_buf text;
    size_t n;
} findings;

/* Begins "field: Invalid value: "; the value and the reason follow. */
static kc_buf *selector_check_begin(findings *f, const char *field)
{
    kc_buf_printf(&f->text, "%s%s: Invalid value: ", f->n ? ", " : "", field);
    f->n++;
    return &f->text;
}

static void write_values(kc_buf *out, const kc_requirement *r)
{
    if (r->n_values)
        kc_json_quote_all(out, r->values, r->n_values);
    else
        kc_buf_puts(out, "null");
}

/* The number of values of each operator, and the message for a wrong number. */
static void check_count(const kc_requirement *r, findings *f)
{
    static const struct {
        size_t least, most;
        const char *rule;
    } counts[] = {
#define ONE_EXACTLY 1, 1, "exact-match compatibility requires one single value"
#define ONE_OR_MORE 1, SIZE_MAX, "for 'in', 'notin' operators, values set can't be empty"
#define ONE_NUMBER  1, 1, "for 'Gt', 'Lt' operators, exactly one value is required"
#define NONE        0, 0, "values set must be empty for exists and does not exist"
        [KC_SELECT_EQUALS] = {ONE_EXACTLY},     [KC_SELECT_DOUBLE_EQUALS] = {ONE_EXACTLY},
        [KC_SELECT_NOT_EQUALS] = {ONE_EXACTLY}, [KC_SELECT_IN] = {ONE_OR_MORE},
        [KC_SELECT_NOT_IN] = {ONE_OR_MORE},     [KC_SELECT_EXISTS] = {NONE},
        [KC_SELECT_DOES_NOT_EXIST] = {NONE},    [KC_SELECT_GREATER] = {ONE_NUMBER},
        [KC_SELECT_LESS] = {ONE_NUMBER},
    };
    if (r->n_values >= counts[r->op].least && r->n_values <= counts[r->op].most)
        return;
    kc_buf *out = selector_check_begin(f, "values");
    write_values(out, r);
    kc_buf_printf(out, ": %s", counts[r->op].rule);
}

static void check_numbers(const kc_requirement *r, findings *f)
{
    if (r->op != KC_SELECT_GREATER && r->op != KC_SELECT_LESS)
        return;
    for (size_t i = 0; i < r->n_values && f->n < MOST_FINDINGS; i++) {
        char field[32];
        int64_t number;
        if (kc__selector_parse_number(r->values[i], &number))
            continue;
        snprintf(field, sizeof(field), "values[%zu]", i);
        kc_buf *out = selector_check_begin(f, field);
        kc_json_quote(out, r->values[i]);
        kc_buf_puts(out, ": for 'Gt', 'Lt' operators, the value must be an integer");
    }
}

static void selector_check_values(const kc_requirement *r, findings *f)
{
    for (size_t i = 0; i < r->n_values && f->n < MOST_FINDINGS; i++) {
        kc_scoped(kc_buf) problems = {0};
        kc_scoped(kc_buf) field = {0};
        if (check_label_value(r->values[i], &problems))
            continue;
        kc_buf_printf(&field, "values[%zu][%.*s]", i, KC_ARG(r->key));
        kc_buf *out = selector_check_begin(f, kc_buf_cstr(&field));
        kc_json_quote(out, r->values[i]);
        kc_buf_printf(out, ": %s", kc_buf_cstr(&problems));
    }
}

static void check_key(const kc_requirement *r, findings *f)
{
    kc_scoped(kc_buf) problems = {0};
    if (kc__selector_check_key(r->key, &problems))
        return;
    kc_buf *out = selector_check_begin(f, "key");
    kc_json_quote(out, r->key);
    kc_buf_printf(out, ": %s", kc_buf_cstr(&problems));
}

int kc__selector_check_requirement(const kc_requirement *r, kc_error *err)
{
    findings f = {0};
    check_key(r, &f);
    check_count(r, &f);
    check_numbers(r, &f);
    selector_check_values(r, &f);
    int result = 0;
    if (f.n)
        result = kc_error_set(err, KC_BAD_REQUEST, f.n > 1 ? "[%s]" : "%s", kc_buf_cstr(&f.text));
    kc_buf_done(&f.text);
    return result;
}
