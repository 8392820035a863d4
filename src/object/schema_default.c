/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_default.c: filling in defaults. A default comes where a member is absent, or null where
 * null is not allowed; then defaults are filled in below it too. Elements of lists and values of
 * maps are never added, but a null one is replaced.
 *
 * Most of a schema has no defaults: nodes know whether any is below them (KC__DEFAULTS_BELOW), and
 * walks turn back where none is.
 */
#include "object/schema_internal.h"

enum { FEW_ROWS = 64 };

static bool takes_default(const kc_schema *schema, bool is_null)
{
    return is_null && schema && !(schema->flags & KC__NULLABLE) && kc__default_of(schema);
}

static bool goes_on(const kc_schema *schema)
{
    return schema && schema->flags & KC__DEFAULTS_BELOW;
}

/* Which rows of a table an object has members for. */
typedef struct row_set {
    uint64_t few;
    uint64_t *many;
} row_set;

static void row_set_done(row_set *set)
{
    free(set->many);
}

static row_set row_set_for(const kc__table *table)
{
    row_set set = {0};
    if (table && table->n > FEW_ROWS)
        set.many = kc_calloc(table->n / 64 + 1, sizeof(*set.many));
    return set;
}

static void mark(row_set *set, size_t at)
{
    *(set->many ? &set->many[at / 64] : &set->few) |= UINT64_C(1) << at % 64;
}

static bool is_marked(const row_set *set, size_t at)
{
    return (set->many ? set->many[at / 64] : set->few) >> at % 64 & 1;
}

/* The first row from `at` on that has a default and no member; table->n when there is none. */
static size_t next_missing(const kc__table *table, const row_set *there, size_t at)
{
    while (at < table->n && (is_marked(there, at) || !kc__default_of(table->rows[at].schema)))
        at++;
    return at;
}

/* ---- Looking only ---- */

static bool would_default_object(const kc_schema *schema, const kc_value *object)
{
    const kc__table *table = schema->fields;
    kc_scoped(row_set) there = row_set_for(table);
    kc_members (object, name, value) {
        const kc__row *row = table ? kc__table_find(table, name.p, name.n) : NULL;
        const kc_schema *child = row && row->schema ? row->schema : schema->additional;
        if (row)
            mark(&there, (size_t)(row - table->rows));
        if (takes_default(child, kc_type_of(value) == KC_NULL) ||
            kc_schema_would_default(child, value))
            return true;
    }
    return table && table->n_defaults && next_missing(table, &there, 0) < table->n;
}

bool kc_schema_would_default(const kc_schema *schema, const kc_value *value)
{
    if (!goes_on(schema))
        return false;
    if (kc_type_of(value) == KC_OBJECT)
        return would_default_object(schema, value);
    kc_items (value, item)
        if (takes_default(schema->items, kc_type_of(item) == KC_NULL) ||
            kc_schema_would_default(schema->items, item))
            return true;
    return false;
}

/* ---- Filling in ---- */

static void fill(kc_edit *edit, const kc_schema *schema, kc_node *node);

/* A default, complete with defaults of its own. */
static kc_node *default_node(kc_edit *edit, const kc_schema *schema)
{
    kc_node *node = kc_node_copy(edit, kc__default_of(schema));
    fill(edit, schema, node);
    return node;
}

/* A value where it stands: a null becomes its default, others are filled in. */
static void fill_place(kc_edit *edit, const kc_schema *schema, kc_node *place)
{
    if (!takes_default(schema, yyjson_mut_is_null(place))) {
        fill(edit, schema, place);
        return;
    }
    kc_node *filled = default_node(edit, schema);
    place->tag = filled->tag;
    place->uni = filled->uni;
}

static void fill_object(kc_edit *edit, const kc_schema *schema, kc_node *object)
{
    const kc__table *table = schema->fields;
    kc_scoped(row_set) there = row_set_for(table);
    kc_node_members (object, name, value) {
        const kc__row *row = table ? kc__table_find(table, name.p, name.n) : NULL;
        if (row)
            mark(&there, (size_t)(row - table->rows));
        fill_place(edit, row && row->schema ? row->schema : schema->additional, value);
    }
    for (size_t i = 0; table && (i = next_missing(table, &there, i)) < table->n; i++)
        kc_node_add(edit, object, kc_str_of(table->rows[i].name, table->rows[i].n),
                    default_node(edit, table->rows[i].schema));
}

static void fill(kc_edit *edit, const kc_schema *schema, kc_node *node)
{
    if (!goes_on(schema))
        return;
    if (yyjson_mut_is_obj(node))
        fill_object(edit, schema, node);
    kc_node_items (node, item)
        fill_place(edit, schema->items, item);
}

void kc_schema_default(const kc_schema *schema, kc_edit *edit)
{
    fill(edit, schema, kc_edit_root(edit));
}
