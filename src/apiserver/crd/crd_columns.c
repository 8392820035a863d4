/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_columns.c: the columns that a CRD defines for its objects (additionalPrinterColumns).
 *
 * A column finds its value by a JSONPath and shows the first match, according to its type:
 *
 *     string     any value, printed as kubectl -o jsonpath does
 *     integer    a number, without its fraction
 *     number     a number
 *     boolean    true or false
 *     date       the age
 *
 * A missing value, or one of another type, is null. The name comes first; a version without columns
 * of its own shows the age. Kubernetes accepts invalid paths: such a column and all columns after
 * it are dropped.
 */
#include "apiserver/crd/crd_resource_internal.h"
#include "apiserver/printing/columns_internal.h"

#include <math.h>

enum {
    MOST_STEPS = 100000,
    MOST_BYTES = 1 << 20,    /* Bytes per cell. */
    ROW_BYTES = 4 << 20,     /* Bytes of all cells of a row. */
    ROW_STEPS = 5000 * 1000, /* Columns times values of the object. */
    FEWEST_COLUMNS = 50,     /* A row has at least this many columns, whatever its object. */
};

/* A column costs a walk over the object, and a CRD may define tens of thousands of columns. */
static bool is_beyond(kc__print_row *row)
{
    size_t values = kc_value_count(kc__print_row_root(row));
    size_t most = KC_MAX(ROW_STEPS / (values + 1), (size_t)FEWEST_COLUMNS);
    return row->looked_up++ >= most || row->written > ROW_BYTES;
}

/* The first match of the column's path; NULL if there is none, or the row exceeds its limits. */
static const kc_value *find_column_value(kc__print_row *row)
{
    static const kc_jsonpath_opts limits = {
        .allow_missing = true, .max_steps = MOST_STEPS, .max_bytes = MOST_BYTES};
    kc_scoped(kc_values) found = {0};
    if (is_beyond(row))
        return NULL;
    if (kc_jsonpath_find(row->column->user, kc__print_row_root(row), &limits, &found, NULL) < 0)
        return NULL;
    return found.n ? found.items[0] : NULL;
}

static void cell_string(kc_buf *out, kc__print_row *row)
{
    const kc_value *value = find_column_value(row);
    kc_scoped(kc_buf) text = {.limit = MOST_BYTES};
    if (!value || kc_value_type(value) == KC_JSON_NULL) {
        kc_buf_puts(out, value ? "\"<no value>\"" : "null");
        return;
    }
    kc_jsonpath_print_value(&text, value);
    row->written += text.n;
    kc__print_cell_put_text(out, kc_buf_str(&text));
}

static void cell_integer(kc_buf *out, kc__print_row *row)
{
    const kc_value *value = find_column_value(row);
    int64_t integer;
    double number;
    if (kc_value_as_i64(value, &integer))
        kc__print_cell_put_number(out, integer);
    else if (kc_value_as_f64(value, &number) && fabs(number) < 0x1p63)
        kc__print_cell_put_number(out, (int64_t)number);
    else
        kc_buf_puts(out, "null");
}

static void cell_number(kc_buf *out, kc__print_row *row)
{
    double number;
    if (kc_value_as_f64(find_column_value(row), &number))
        kc_json_write_double(out, number);
    else
        kc_buf_puts(out, "null");
}

static void cell_boolean(kc_buf *out, kc__print_row *row)
{
    const kc_value *value = find_column_value(row);
    if (kc_value_type(value) == KC_JSON_BOOL)
        kc_buf_puts(out, kc_value_as_bool(value, false) ? "true" : "false");
    else
        kc_buf_puts(out, "null");
}

static void cell_date(kc_buf *out, kc__print_row *row)
{
    const kc_value *value = find_column_value(row);
    kc_str text = kc_value_as_str(value);
    kc_time ignored;
    if (!text.p)
        kc_buf_puts(out, "null");
    else if (text.n && !kc_str_is(text, "null") && kc_time_parse(text, &ignored, NULL) < 0)
        kc_buf_puts(out, "\"<invalid>\"");
    else
        kc__print_cell_put_since(out, row, kc_str_is(text, "null") ? (kc_str){0} : text);
}

/* ---- compiling columns ---- */

static kc__print_cell *cell_of(kc_str type)
{
    static const struct {
        const char *type;
        kc__print_cell *cell;
    } cells[] = {{"integer", cell_integer},
                 {"number", cell_number},
                 {"boolean", cell_boolean},
                 {"date", cell_date}};
    for (size_t i = 0; i < KC_COUNT(cells); i++)
        if (kc_str_is(type, cells[i].type))
            return cells[i].cell;
    return cell_string;
}

static const char *column_text_of(kc_arena *arena, const kc_value *column, const char *member)
{
    kc_str text = kc_value_as_str(kc_value_get(column, member));
    return text.n ? kc_arena_strndup(arena, text.p, text.n) : "";
}

/* Without a description, Kubernetes describes the column by its JSONPath. */
static const char *description_of(kc_arena *arena, const kc_value *column, kc_str path)
{
    const char *own = column_text_of(arena, column, "description");
    return *own ? own
                : kc_arena_printf(arena,
                                  "Custom resource definition column (in JSONPath format): %.*s",
                                  KC_ARG(path));
}

/* Returns false if its path is invalid. */
static bool make_column(kc_arena *arena, const kc_value *column, kc_jsonpath **ret_path,
                        kc__print_column *ret)
{
    kc_str path = kc_value_as_str(kc_value_get(column, "jsonPath"));
    *ret_path = kc_jsonpath_parse(path, &(kc_jsonpath_parse_opts){.bare = true}, NULL);
    if (!*ret_path)
        return false;
    *ret =
        (kc__print_column){.name = column_text_of(arena, column, "name"),
                           .type = column_text_of(arena, column, "type"),
                           .format = column_text_of(arena, column, "format"),
                           .description = description_of(arena, column, path),
                           .priority = (int)kc_value_as_i64_or(kc_value_get(column, "priority"), 0),
                           .cell = cell_of(kc_value_as_str(kc_value_get(column, "type"))),
                           .user = *ret_path};
    return true;
}

void kc__crd_columns(kc_arena *arena, const kc_value *columns, kc__custom_parts *ret)
{
    static const kc__print_column name = KC__PRINT_NAME_COLUMN;
    static const kc__print_column age = {.name = "Age",
                                         .type = "date",
                                         .description = KC__PRINT_CREATED_TEXT,
                                         .cell = kc__print_cell_age};
    size_t n = kc_value_len(columns);
    kc__print_column *list = kc_arena_calloc(arena, n + 2, sizeof(*list));
    ret->paths = kc_arena_calloc(arena, n + 1, sizeof(kc_jsonpath *));
    ret->columns = (kc__print_columns){.list = list, .n = n ? 1 : 2};
    list[0] = name;
    list[1] = age;
    kc_value_each_item (columns, column) {
        size_t i = ret->n_paths;
        if (!make_column(arena, column, &ret->paths[i], &list[i + 1]))
            break;
        ret->n_paths++;
        ret->columns.n++;
    }
}
