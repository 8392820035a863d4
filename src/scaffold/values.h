/* SPDX-License-Identifier: Apache-2.0 */
/* values.h: what templates are filled with. */
#ifndef KC_SCAFFOLD_VALUES_H
#define KC_SCAFFOLD_VALUES_H

#include "kc/arena.h"
#include "scaffold/project.h"
#include "scaffold/template.h"

enum { KC__MAX_VALUES = 56 };

typedef struct kc__values {
    kc__template_value items[KC__MAX_VALUES];
    size_t n;
    kc_arena arena;
} kc__values;
void kc__values_done(kc__values *values);

typedef struct kc__values_opts {
    kc_str license;    /* Stands before C files. */
    kc_str controller; /* The name of the controller to be made. Defaults to the kind's. */
    kc_str spoke;      /* The version to convert. */
} kc__values_opts;

/* Of the project, and of a kind of it if `resource` is not NULL. */
void kc__values_fill(kc__values *ret, const kc__project *project, const kc__resource *resource,
                     const kc__values_opts *opts);

/* One more; its value is copied, and returned. */
const char *kc__values_put(kc__values *values, const char *name, kc_str value);
/* Must be there. */
const char *kc__values_get(const kc__values *values, const char *name);

static inline kc__template_values kc__values_of(const kc__values *values)
{
    return (kc__template_values){values->items, values->n};
}

/* In no namespace. */
bool kc__is_cluster_scoped(const kc__resource *resource);

#endif
