/* SPDX-License-Identifier: Apache-2.0 */
/* values.h: what templates are filled with. */
#ifndef KC_SCAFFOLD_VALUES_H
#define KC_SCAFFOLD_VALUES_H

#include "kc/arena.h"
#include "scaffold/project.h"
#include "scaffold/template.h"

enum { KC__MAX_VALUES = 24 };

typedef struct kc__values {
    kc__template_value items[KC__MAX_VALUES];
    size_t n;
    kc_arena arena;
} kc__values;
void kc__values_done(kc__values *values);

/* Of the project, and of a kind of it if `resource` is not NULL. `license` stands before C files.
 */
void kc__values_fill(kc__values *ret, const kc__project *project, const kc__resource *resource,
                     kc_str license);

static inline kc__template_values kc__values_of(const kc__values *values)
{
    return (kc__template_values){values->items, values->n};
}

#endif
