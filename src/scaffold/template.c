/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template.c: fills values into templates.
 *
 * What differs between projects in more than a value is a template of its own, or an empty value:
 * so a template reads like the resulting file. Values are not expanded again.
 *
 * To add a template: a file under src/scaffold/templates, and a row of the table in plan.c.
 */
#include "scaffold/template.h"

const kc__scaffold_template *kc__scaffold_template_find(const char *name)
{
    for (size_t i = 0; i < kc__scaffold_n_templates; i++)
        if (!strcmp(kc__scaffold_templates[i].name, name))
            return &kc__scaffold_templates[i];
    return NULL;
}

/* The name if the text starts with {{name}}; else empty. */
static kc_str name_at(kc_str text)
{
    size_t n = 2;
    if (text.n < 5 || text.p[0] != '{' || text.p[1] != '{')
        return (kc_str){0};
    while (n < text.n && ((text.p[n] >= 'a' && text.p[n] <= 'z') || text.p[n] == '_'))
        n++;
    const bool closed = n > 2 && n + 1 < text.n && text.p[n] == '}' && text.p[n + 1] == '}';
    return closed ? kc_str_sub(text, 2, n) : (kc_str){0};
}

static const kc__scaffold_template_value *scaffold_template_find(
    kc__scaffold_template_values values, kc_str name)
{
    for (size_t i = 0; i < values.n; i++)
        if (kc_str_is(name, values.items[i].name))
            return &values.items[i];
    return NULL;
}

int kc__scaffold_template_expand(kc_str text, kc__scaffold_template_values values, kc_buf *out,
                                 kc_error *err)
{
    size_t line = 1;
    for (size_t at = 0; at < text.n;) {
        kc_str name = name_at(kc_str_sub(text, at, text.n));
        if (!name.n) {
            line += text.p[at] == '\n';
            kc_buf_putc(out, text.p[at++]);
            continue;
        }
        const kc__scaffold_template_value *value = scaffold_template_find(values, name);
        if (!value)
            return kc_error_set(err, KC_INVALID, "line %zu: unknown value '%.*s'", line,
                                KC_ARG(name));
        kc_buf_append(out, kc_cstr(value->value));
        at += name.n + 4;
    }
    return 0;
}
