/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selector_check.c: what a requirement of a label selector must look like, in the words of
 * Kubernetes: clients and tests compare these messages, so they follow apimachinery's letter by
 * letter, regular expressions and odd commas included.
 *
 * All that is wrong with a requirement is told at once: "key: …" for one finding, "[key: …,
 * values[0][app]: …]" for several.
 */
#include "object/selector_internal.h"

#include <stdio.h>

enum { KEY_NAME_MAX = 63, KEY_PREFIX_MAX = 253, VALUE_MAX = 63, MOST_FINDINGS = 100 };

#define QUALIFIED_FORMAT "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
#define LABEL_FORMAT     "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define QUALIFIED_RULE                                                                        \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with "  \
    "an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for " \
    "validation is '" QUALIFIED_FORMAT "')"
#define SUBDOMAIN_RULE                                                                      \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "   \
    "'-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com'" \
    ", regex used for validation is '" LABEL_FORMAT "(\\." LABEL_FORMAT ")*')"
#define VALUE_RULE                                                                              \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or " \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "          \
    "'my_value',  or '12345', regex used for validation is '(" QUALIFIED_FORMAT ")?')"

static bool is_lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

static bool is_qualified(kc_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]) && s.p[i] != '-' && s.p[i] != '_' && s.p[i] != '.')
            return false;
    return s.n > 0 && is_alnum(s.p[0]) && is_alnum(s.p[s.n - 1]);
}

static bool is_dns_label(kc_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_lower_alnum(s.p[i]) && s.p[i] != '-')
            return false;
    return s.n > 0 && s.p[0] != '-' && s.p[s.n - 1] != '-';
}

static bool is_subdomain(kc_str s)
{
    if (!s.n)
        return false;
    while (s.p)
        if (!is_dns_label(kc_str_cut(&s, '.')))
            return false;
    return true;
}

static void problem(kc_buf *problems, const char *text)
{
    if (problems->n)
        kc_buf_puts(problems, "; ");
    kc_buf_puts(problems, text);
}

static void check_prefix(kc_str prefix, kc_buf *problems)
{
    if (!prefix.n) {
        problem(problems, "prefix part must be non-empty");
        return;
    }
    if (prefix.n > KEY_PREFIX_MAX)
        problem(problems, "prefix part must be no more than 253 characters");
    if (!is_subdomain(prefix))
        problem(problems, "prefix part " SUBDOMAIN_RULE);
}

bool kc__check_label_key(kc_str key, kc_buf *problems)
{
    ptrdiff_t slash = kc_str_find(key, '/');
    size_t before = problems->n;
    if (slash >= 0 && kc_str_rfind(key, '/') != slash) {
        problem(problems, "a qualified name " QUALIFIED_RULE " with an optional DNS subdomain "
                          "prefix and '/' (e.g. 'example.com/MyName')");
        return false;
    }
    if (slash >= 0)
        check_prefix(kc_str_sub(key, 0, (size_t)slash), problems);
    kc_str name = kc_str_sub(key, (size_t)(slash + 1), key.n);
    if (!name.n)
        problem(problems, "name part must be non-empty");
    else if (name.n > KEY_NAME_MAX)
        problem(problems, "name part must be no more than 63 characters");
    if (!is_qualified(name))
        problem(problems, "name part " QUALIFIED_RULE);
    return problems->n == before;
}

bool kc__check_label_value(kc_str value, kc_buf *problems)
{
    size_t before = problems->n;
    if (value.n > VALUE_MAX)
        problem(problems, "must be no more than 63 characters");
    if (value.n && !is_qualified(value))
        problem(problems, VALUE_RULE);
    return problems->n == before;
}

typedef struct findings {
    kc_buf text;
    size_t n;
} findings;

/* Begins "field: Invalid value: "; the value and the reason follow. */
static kc_buf *begin(findings *f, const char *field)
{
    kc_buf_printf(&f->text, "%s%s: Invalid value: ", f->n ? ", " : "", field);
    f->n++;
    return &f->text;
}

static void write_values(kc_buf *out, const kc_requirement *r)
{
    if (!r->n_values) {
        kc_buf_puts(out, "null");
        return;
    }
    kc_buf_putc(out, '[');
    for (size_t i = 0; i < r->n_values; i++) {
        kc_buf_puts(out, i ? "," : "");
        kc_json_quote(out, r->values[i]);
    }
    kc_buf_putc(out, ']');
}

/* How many values each operator takes, and what is said when it has another number. */
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
    kc_buf *out = begin(f, "values");
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
        if (kc__label_number(r->values[i], &number))
            continue;
        snprintf(field, sizeof(field), "values[%zu]", i);
        kc_buf *out = begin(f, field);
        kc_json_quote(out, r->values[i]);
        kc_buf_puts(out, ": for 'Gt', 'Lt' operators, the value must be an integer");
    }
}

static void check_values(const kc_requirement *r, findings *f)
{
    for (size_t i = 0; i < r->n_values && f->n < MOST_FINDINGS; i++) {
        kc_scoped(kc_buf) problems = {0};
        kc_scoped(kc_buf) field = {0};
        if (kc__check_label_value(r->values[i], &problems))
            continue;
        kc_buf_printf(&field, "values[%zu][%.*s]", i, KC_ARG(r->key));
        kc_buf *out = begin(f, kc_buf_cstr(&field));
        kc_json_quote(out, r->values[i]);
        kc_buf_printf(out, ": %s", kc_buf_cstr(&problems));
    }
}

static void check_key(const kc_requirement *r, findings *f)
{
    kc_scoped(kc_buf) problems = {0};
    if (kc__check_label_key(r->key, &problems))
        return;
    kc_buf *out = begin(f, "key");
    kc_json_quote(out, r->key);
    kc_buf_printf(out, ": %s", kc_buf_cstr(&problems));
}

int kc__check_requirement(const kc_requirement *r, kc_error *err)
{
    findings f = {0};
    check_key(r, &f);
    check_count(r, &f);
    check_numbers(r, &f);
    check_values(r, &f);
    int result = 0;
    if (f.n)
        result = kc_error_set(err, KC_BAD_REQUEST, f.n > 1 ? "[%s]" : "%s", kc_buf_cstr(&f.text));
    kc_buf_done(&f.text);
    return result;
}
