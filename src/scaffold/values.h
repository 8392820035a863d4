/* SPDX-License-Identifier: Apache-2.0 */
/* values.h: the values of templates. */
#ifndef KC_SCAFFOLD_VALUES_H
#define KC_SCAFFOLD_VALUES_H

#include "kc/arena.h"
#include "scaffold/project.h"
#include "scaffold/template.h"

enum { KC__SCAFFOLD_MAX_VALUES = 56 };

typedef struct kc__scaffold_values {
    kc__scaffold_template_value items[KC__SCAFFOLD_MAX_VALUES];
    size_t n;
    kc_arena arena;
} kc__scaffold_values;
void kc__scaffold_values_done(kc__scaffold_values *values);

typedef struct kc__scaffold_values_opts {
    kc_str license;    /* Text before C files. */
    kc_str controller; /* The name of the controller to create. Defaults to the kind's. */
    kc_str spoke;      /* The version to convert. */
} kc__scaffold_values_opts;

/* Values of the project, and of a kind of it if `resource` is not NULL. */
void kc__scaffold_values_fill(kc__scaffold_values *ret, const kc__scaffold_project_file *project,
                              const kc__scaffold_resource *resource,
                              const kc__scaffold_values_opts *opts);

/* Adds a value, which is copied and returned. */
const char *kc__scaffold_values_put(kc__scaffold_values *values, const char *name, kc_str value);
/* Must exist. */
const char *kc__scaffold_values_get(const kc__scaffold_values *values, const char *name);

static inline kc__scaffold_template_values kc__scaffold_values_of(const kc__scaffold_values *values)
{
    return (kc__scaffold_template_values){values->items, values->n};
}

/* Cluster-scoped. */
bool kc__scaffold_is_cluster_scoped(const kc__scaffold_resource *resource);

#endif
