/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_default_internal.h: what the two implementations of defaulting share: schema_default.c
 * sets defaults in a tree, rewrite.c in a value and its text. Both charge the same budget, in the
 * same order.
 */
#ifndef KC_SCHEMA_DEFAULT_INTERNAL_H
#define KC_SCHEMA_DEFAULT_INTERNAL_H

#include "object/schema/schema_internal.h"

/* Depth at which nested defaults are rejected: recursive definitions have no end. */
enum { KC__SCHEMA_DEFAULT_NESTING = KC_JSON_MAX_DEPTH + 128 };

/* Whether a value is replaced by the default of its schema. */
static inline bool kc__schema_takes_default(const kc_schema *schema, bool is_null)
{
    return is_null && schema && !(schema->flags & KC__SCHEMA_NULLABLE) &&
           kc__schema_default_node(schema);
}

/* Whether a member of the value, at any depth, may get a default. */
static inline bool kc__schema_has_defaults_below(const kc_schema *schema)
{
    return schema && schema->flags & KC__SCHEMA_DEFAULTS_BELOW;
}

static inline bool kc__schema_row_has_default(const kc__schema_property_row *row)
{
    return row && kc__schema_default_node(row->schema);
}

/* ---- the budget of one object ---- */

typedef struct kc__schema_budget {
    kc__schema_size left;
    const kc_schema_default_opts *opts;
    kc_error *err;
} kc__schema_budget;

/* opts may be NULL. */
void kc__schema_budget_init(kc__schema_budget *budget, const kc_schema_default_opts *opts,
                            kc_error *err);
/* Charges the default of a schema, with a name of this many bytes. Its final size is only checked:
 * nested defaults are charged one by one. Negative: the budget is exceeded. */
int kc__schema_budget_charge(kc__schema_budget *budget, const kc_schema *schema, size_t name,
                             const kc__schema_path_frame *at);
/* Sets the error of an exceeded budget. */
int kc__schema_budget_reject(const kc__schema_budget *budget, const kc__schema_path_frame *at);

/* ---- the rows of a table for which an object has members ---- */

typedef struct kc__schema_row_set {
    uint64_t few;
    uint64_t *many; /* NULL: `few` suffices. */
} kc__schema_row_set;

static inline kc__schema_row_set kc__schema_row_set_for(const kc__schema_property_table *table)
{
    enum { FEW_ROWS = 64 };
    kc__schema_row_set set = {0};
    if (table->n > FEW_ROWS)
        set.many = kc_calloc(table->n / 64 + 1, sizeof(*set.many));
    return set;
}

static inline void kc__schema_row_set_done(kc__schema_row_set *set)
{
    if (set->many)
        free(set->many);
}

static inline void kc__schema_row_set_add(kc__schema_row_set *set, size_t at)
{
    *(set->many ? &set->many[at / 64] : &set->few) |= UINT64_C(1) << at % 64;
}

static inline bool kc__schema_row_set_has(const kc__schema_row_set *set, size_t at)
{
    return (set->many ? set->many[at / 64] : set->few) >> at % 64 & 1;
}

#endif
