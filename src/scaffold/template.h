/* SPDX-License-Identifier: Apache-2.0 */
/* template.h: texts with named values in them, {{name}}, and nothing else: no conditions, no loops.
 */
#ifndef KC_SCAFFOLD_TEMPLATE_H
#define KC_SCAFFOLD_TEMPLATE_H

#include "kc/buf.h"
#include "kc/error.h"

typedef struct kc__template {
    const char *name; /* "project/main.c.in": its file under src/scaffold/templates. */
    kc_str text;
} kc__template;

/* Written by the build, sorted by name. */
extern const kc__template kc__templates[];
extern const size_t kc__n_templates;

/* NULL: there is none. */
const kc__template *kc__template_find(const char *name);

typedef struct kc__template_value {
    const char *name;
    const char *value; /* NULL: empty. */
} kc__template_value;

typedef struct kc__template_values {
    const kc__template_value *items;
    size_t n;
} kc__template_values;

/* Appends the text with its values. {{name}} is of lower case letters and underscores; any other
 * text between braces stays as it is. KC_INVALID, with the line, for a name without a value. */
int kc__template_expand(kc_str text, kc__template_values values, kc_buf *out, kc_error *err);

#endif
