/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_default.c: applies defaults. A default is set where a member is absent, or null where null
 * is not allowed; then defaults are applied inside it, too. Elements of lists and values of maps
 * are never added, but a null one is replaced.
 *
 * Most of a schema has no defaults: nodes know whether any is below them
 * (KC__SCHEMA_DEFAULTS_BELOW), and a traversal skips the others.
 *
 * Defaults multiply: a list of a hundred empty objects whose schema has such a list as a default,
 * five levels deep, is gigabytes. So defaulting has a budget of bytes and values. The size of a
 * default with all nested defaults is computed when the schema is compiled, bottom up
 * (kc__schema_default_measure), in time linear in the schema. A default that does not fit is
 * rejected before any of it is copied: an object that cannot be defaulted costs one traversal.
 */
#include "object/schema/schema_default_internal.h"

bool kc__schema_row_may_default(const kc__schema_property_row *row)
{
    return row->schema &&
           (row->schema->flags & KC__SCHEMA_NAMED || kc__schema_default_node(row->schema));
}

/* ---- checking ---- */

/* The number of rows with a default: all listed ones, or fewer if definitions are named. */
static size_t count_defaults(const kc__schema_property_table *table)
{
    const uint16_t *defaults = kc__schema_table_defaults(table);
    size_t n = 0;
    for (uint32_t i = 0; i < table->n_defaults; i++)
        n += kc__schema_row_has_default(&table->rows[defaults[i]]);
    return n;
}

/* Names in an object are distinct, so counting those with a default suffices. */
static bool would_default_object(const kc_schema *schema, const kc_value *object)
{
    const kc__schema_property_table *table = schema->fields;
    size_t there = 0;
    kc_value_each_member (object, name, value) {
        const kc__schema_property_row *row =
            table ? kc__schema_table_find(table, name.p, name.n) : NULL;
        const kc_schema *child = row && row->schema ? row->schema : schema->additional;
        there += kc__schema_row_has_default(row);
        if (kc__schema_takes_default(child, kc_value_type(value) == KC_JSON_NULL) ||
            kc_schema_would_default(child, value))
            return true;
    }
    return table && there < table->n_defaults && there < count_defaults(table);
}

bool kc_schema_would_default(const kc_schema *schema, const kc_value *value)
{
    if (!kc__schema_has_defaults_below(schema))
        return false;
    if (kc_value_type(value) == KC_JSON_OBJECT)
        return would_default_object(schema, value);
    kc_value_each_item (value, item)
        if (kc__schema_takes_default(schema->items, kc_value_type(item) == KC_JSON_NULL) ||
            kc_schema_would_default(schema->items, item))
            return true;
    return false;
}

/* ---- measuring ---- */

static void schema_default_grow(uint32_t *sum, size_t by)
{
    if (__builtin_add_overflow(*sum, by, sum))
        *sum = UINT32_MAX;
}

static void schema_default_shrink(uint32_t *sum, uint32_t by)
{
    if (*sum != UINT32_MAX)
        *sum -= KC_MIN(*sum, by);
}

/* A member with its name, two quotes, a colon and a comma. */
static kc__schema_size member_size(size_t name, const kc__schema_size *value)
{
    kc__schema_size size = *value;
    schema_default_grow(&size.bytes, name + 4);
    schema_default_grow(&size.values, 1);
    return size;
}

static void add_size(kc__schema_size *sum, const kc__schema_size *by)
{
    schema_default_grow(&sum->bytes, by->bytes);
    schema_default_grow(&sum->values, by->values);
}

/* What a row adds to an object without it; zero while unknown. */
static kc__schema_size row_size(const kc__schema_property_row *row)
{
    if (!kc__schema_row_has_default(row) || row->schema->flags & KC__SCHEMA_NAMED)
        return (kc__schema_size){0};
    return member_size(row->n, &row->schema->extras->filled_size);
}

kc__schema_size kc__schema_default_sum(const kc__schema_property_row *rows, size_t n)
{
    kc__schema_size sum = {0};
    for (size_t i = 0; i < n; i++) {
        kc__schema_size size = row_size(&rows[i]);
        add_size(&sum, &size);
    }
    return sum;
}

static void measure_place(const kc_schema *schema, const kc_value *value, kc__schema_size *size)
{
    if (kc__schema_takes_default(schema, kc_value_type(value) == KC_JSON_NULL))
        add_size(size, &schema->extras->filled_size);
    else
        kc__schema_default_measure(schema, value, size);
}

/* All defaults except those of present members: the cost depends on the object, not on the schema.
 */
static void measure_object(const kc_schema *schema, const kc_value *object, kc__schema_size *size)
{
    const kc__schema_property_table *table = schema->fields;
    kc__schema_size missing = kc__schema_default_of_empty(schema);
    kc_value_each_member (object, name, value) {
        const kc__schema_property_row *row =
            table ? kc__schema_table_find(table, name.p, name.n) : NULL;
        kc__schema_size there = row_size(row);
        schema_default_shrink(&missing.bytes, there.bytes);
        schema_default_shrink(&missing.values, there.values);
        measure_place(row && row->schema ? row->schema : schema->additional, value, size);
    }
    add_size(size, &missing);
}

void kc__schema_default_measure(const kc_schema *schema, const kc_value *value,
                                kc__schema_size *size)
{
    if (!kc__schema_has_defaults_below(schema))
        return;
    if (kc_value_type(value) == KC_JSON_OBJECT)
        measure_object(schema, value, size);
    kc_value_each_item (value, item)
        measure_place(schema->items, item, size);
}

kc__schema_size kc__schema_default_of_empty(const kc_schema *schema)
{
    const kc__schema_property_table *table = schema ? schema->fields : NULL;
    return table && table->n_defaults ? *kc__schema_table_sum(table) : (kc__schema_size){0};
}

/* ---- the budget ---- */

static size_t max_bytes(const kc_schema_default_opts *opts)
{
    return opts && opts->max_bytes ? opts->max_bytes : KC_SCHEMA_DEFAULT_MAX_BYTES;
}

static size_t max_values(const kc_schema_default_opts *opts)
{
    return opts && opts->max_values ? opts->max_values : KC_SCHEMA_DEFAULT_MAX_VALUES;
}

void kc__schema_budget_init(kc__schema_budget *budget, const kc_schema_default_opts *opts,
                            kc_error *err)
{
    *budget = (kc__schema_budget){.opts = opts, .err = err};
    budget->left.bytes = (uint32_t)KC_MIN(max_bytes(opts), (size_t)UINT32_MAX - 1);
    budget->left.values = (uint32_t)KC_MIN(max_values(opts), (size_t)UINT32_MAX - 1);
}

int kc__schema_budget_reject(const kc__schema_budget *budget, const kc__schema_path_frame *at)
{
    kc_scoped(kc_buf) path = {0}, detail = {0};
    kc__schema_path_write(&path, at, KC__SCHEMA_PATH_FIELD);
    kc_buf_printf(&detail,
                  "defaults of the schema would add more than %zu bytes or %zu values to the "
                  "object",
                  max_bytes(budget->opts), max_values(budget->opts));
    const int result =
        kc_error_set(budget->err, KC_TOO_LARGE, "%s: %s", kc_buf_cstr(&path), kc_buf_cstr(&detail));
    kc_error_add_cause(budget->err, "FieldValueTooLong", kc_buf_str(&path), kc_buf_str(&detail));
    return result;
}

int kc__schema_budget_charge(kc__schema_budget *budget, const kc_schema *schema, size_t name,
                             const kc__schema_path_frame *at)
{
    kc__schema_size own = member_size(name, &schema->extras->default_size);
    kc__schema_size filled = member_size(name, &schema->extras->filled_size);
    if (KC_MAX(own.bytes, filled.bytes) > budget->left.bytes ||
        KC_MAX(own.values, filled.values) > budget->left.values)
        return kc__schema_budget_reject(budget, at);
    budget->left.bytes -= own.bytes;
    budget->left.values -= own.values;
    return 0;
}

/* ---- applying ---- */

typedef struct schema_default_filling {
    kc_edit *edit;
    kc__schema_budget budget;
    unsigned depth;
} schema_default_filling;

static int schema_default_fill(schema_default_filling *f, const kc_schema *schema, kc_node *node,
                               const kc__schema_path_frame *at);

/* A default with all nested defaults; fails when the budget is exceeded. */
static int default_node(schema_default_filling *f, const kc_schema *schema, size_t name,
                        const kc__schema_path_frame *at, kc_node **ret)
{
    int failed = kc__schema_budget_charge(&f->budget, schema, name, at);
    if (failed < 0)
        return failed;
    kc_node *node = kc_node_from_value(f->edit, kc__schema_default_node(schema));
    failed = schema_default_fill(f, schema, node, at);
    if (failed == 0)
        *ret = node;
    return failed;
}

/* A value in place: a null becomes its default, others are filled in. */
static int fill_place(schema_default_filling *f, const kc_schema *schema, kc_node *place,
                      const kc__schema_path_frame *at)
{
    if (!kc__schema_takes_default(schema, yyjson_mut_is_null(place)))
        return kc__schema_has_defaults_below(schema) ? schema_default_fill(f, schema, place, at)
                                                     : 0;
    kc_node *filled = NULL;
    const int failed = default_node(f, schema, 0, at, &filled);
    if (failed < 0)
        return failed;
    place->tag = filled->tag;
    place->uni = filled->uni;
    return 0;
}

static int fill_row(schema_default_filling *f, const kc__schema_property_row *row, kc_node *object,
                    const kc__schema_path_frame *at)
{
    kc__schema_path_frame here = {.parent = at, .name = row->name, .n = row->n};
    kc_node *node = NULL;
    const int failed = default_node(f, row->schema, row->n, &here, &node);
    if (failed < 0)
        return failed;
    kc_node_add(f->edit, object, kc_str_of(row->name, row->n), node);
    return 0;
}

/* Adds the members with a default that an object lacks. */
static int fill_missing(schema_default_filling *f, const kc__schema_property_table *table,
                        const kc__schema_row_set *there, kc_node *object,
                        const kc__schema_path_frame *at)
{
    const uint16_t *defaults = kc__schema_table_defaults(table);
    for (uint32_t i = 0; i < table->n_defaults; i++) {
        const kc__schema_property_row *row = &table->rows[defaults[i]];
        if (kc__schema_row_set_has(there, defaults[i]) || !kc__schema_row_has_default(row))
            continue;
        const int failed = fill_row(f, row, object, at);
        if (failed < 0)
            return failed;
    }
    return 0;
}

static int fill_object(schema_default_filling *f, const kc_schema *schema, kc_node *object,
                       const kc__schema_path_frame *at)
{
    const kc__schema_property_table *table = schema->fields;
    const bool fills = table && table->n_defaults;
    kc_scoped(kc__schema_row_set) there =
        fills ? kc__schema_row_set_for(table) : (kc__schema_row_set){0};
    kc_node_each_member (object, name, value) {
        const kc__schema_property_row *row =
            table ? kc__schema_table_find(table, name.p, name.n) : NULL;
        bool property = row && row->schema;
        kc__schema_path_frame here = {.parent = at, .name = name.p, .n = name.n};
        here.step = property ? KC__SCHEMA_STEP_PROPERTY : KC__SCHEMA_STEP_ADDITIONAL;
        if (fills && row)
            kc__schema_row_set_add(&there, (size_t)(row - table->rows));
        const int failed = fill_place(f, property ? row->schema : schema->additional, value, &here);
        if (failed < 0)
            return failed;
    }
    return fills ? fill_missing(f, table, &there, object, at) : 0;
}

static int fill_array(schema_default_filling *f, const kc_schema *schema, kc_node *array,
                      const kc__schema_path_frame *at)
{
    kc__schema_path_frame here = {.parent = at, .step = KC__SCHEMA_STEP_INDEX};
    kc_node_each_item (array, item) {
        const int failed = fill_place(f, schema->items, item, &here);
        if (failed < 0)
            return failed;
        here.n++;
    }
    return 0;
}

static int schema_default_fill(schema_default_filling *f, const kc_schema *schema, kc_node *node,
                               const kc__schema_path_frame *at)
{
    if (!kc__schema_has_defaults_below(schema))
        return 0;
    if (f->depth >= KC__SCHEMA_DEFAULT_NESTING)
        return kc__schema_budget_reject(&f->budget, at);
    f->depth++;
    int done = yyjson_mut_is_obj(node) ? fill_object(f, schema, node, at)
                                       : fill_array(f, schema, node, at);
    f->depth--;
    return done;
}

int kc_schema_default(const kc_schema *schema, kc_edit *edit, const kc_schema_default_opts *opts,
                      kc_error *err)
{
    schema_default_filling f = {.edit = edit};
    kc__schema_budget_init(&f.budget, opts, err);
    return schema_default_fill(&f, schema, kc_edit_root(edit), NULL);
}
