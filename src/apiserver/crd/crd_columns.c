/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_columns.c: the columns that a definition gives its objects (additionalPrinterColumns).
 *
 * A column finds its value by a JSONPath and shows the first it finds, by its type:
 *
 *     string     whatever it is, printed as kubectl -o jsonpath does
 *     integer    a number, without its fraction
 *     number     a number
 *     boolean    true or false
 *     date       how long ago it was
 *
 * What is absent, or of another type, is null. The name comes first; without columns of its own a
 * version has its age. Kubernetes accepts paths that are none: from such a column on there are no
 * more.
 */
#include "apiserver/crd/crd_resource_internal.h"
#include "apiserver/printing/columns_internal.h"

#include <math.h>

enum { MOST_STEPS = 100000, MOST_BYTES = 1 << 20 };

static const kc_jsonpath_opts limits = {
    .allow_missing = true, .max_steps = MOST_STEPS, .max_bytes = MOST_BYTES};

/* The first thing the column's path finds; NULL when there is nothing. */
static const kc_value *find(kc__row *row)
{
    kc_scoped(kc_values) found = {0};
    if (kc_jsonpath_find(row->column->user, kc__row_root(row), &limits, &found, NULL) < 0)
        return NULL;
    return found.n ? found.items[0] : NULL;
}

static void cell_string(kc_buf *out, kc__row *row)
{
    const kc_value *value = find(row);
    kc_scoped(kc_buf) text = {.limit = MOST_BYTES};
    if (!value || kc_type_of(value) == KC_NULL) {
        kc_buf_puts(out, value ? "\"<no value>\"" : "null");
        return;
    }
    kc_jsonpath_print_value(&text, value);
    kc__cell_put_text(out, kc_buf_str(&text));
}

static void cell_integer(kc_buf *out, kc__row *row)
{
    const kc_value *value = find(row);
    int64_t whole;
    double number;
    if (kc_as_i64(value, &whole))
        kc__cell_put_number(out, whole);
    else if (kc_as_f64(value, &number) && fabs(number) < 0x1p63)
        kc__cell_put_number(out, (int64_t)number);
    else
        kc_buf_puts(out, "null");
}

static void cell_number(kc_buf *out, kc__row *row)
{
    double number;
    if (kc_as_f64(find(row), &number))
        kc_json_write_double(out, number);
    else
        kc_buf_puts(out, "null");
}

static void cell_boolean(kc_buf *out, kc__row *row)
{
    const kc_value *value = find(row);
    if (kc_type_of(value) == KC_BOOL)
        kc_buf_puts(out, kc_as_bool(value, false) ? "true" : "false");
    else
        kc_buf_puts(out, "null");
}

static void cell_date(kc_buf *out, kc__row *row)
{
    const kc_value *value = find(row);
    kc_str text = kc_as_str(value);
    kc_time ignored;
    if (!text.p)
        kc_buf_puts(out, "null");
    else if (text.n && !kc_str_is(text, "null") && kc_time_parse(text, &ignored, NULL) < 0)
        kc_buf_puts(out, "\"<invalid>\"");
    else
        kc__cell_put_since(out, row, kc_str_is(text, "null") ? (kc_str){0} : text);
}

/* ---- making them ---- */

static kc__cell *cell_of(kc_str type)
{
    static const struct {
        const char *type;
        kc__cell *cell;
    } cells[] = {{"integer", cell_integer},
                 {"number", cell_number},
                 {"boolean", cell_boolean},
                 {"date", cell_date}};
    for (size_t i = 0; i < KC_COUNT(cells); i++)
        if (kc_str_is(type, cells[i].type))
            return cells[i].cell;
    return cell_string;
}

static const char *text_of(kc_arena *arena, const kc_value *column, const char *member)
{
    kc_str text = kc_as_str(kc_get(column, member));
    return text.n ? kc_arena_strndup(arena, text.p, text.n) : "";
}

/* Kubernetes says where a column comes from when its author does not. */
static const char *description_of(kc_arena *arena, const kc_value *column, kc_str path)
{
    const char *own = text_of(arena, column, "description");
    return *own ? own
                : kc_arena_printf(arena,
                                  "Custom resource definition column (in JSONPath format): %.*s",
                                  KC_ARG(path));
}

/* False when its path is none. */
static bool make_column(kc_arena *arena, const kc_value *column, kc_jsonpath **ret_path,
                        kc__column *ret)
{
    kc_str path = kc_as_str(kc_get(column, "jsonPath"));
    *ret_path = kc_jsonpath_parse(path, &(kc_jsonpath_parse_opts){.bare = true}, NULL);
    if (!*ret_path)
        return false;
    *ret = (kc__column){.name = text_of(arena, column, "name"),
                        .type = text_of(arena, column, "type"),
                        .format = text_of(arena, column, "format"),
                        .description = description_of(arena, column, path),
                        .priority = (int)kc_as_i64_or(kc_get(column, "priority"), 0),
                        .cell = cell_of(kc_as_str(kc_get(column, "type"))),
                        .user = *ret_path};
    return true;
}

void kc__custom_columns(kc_arena *arena, const kc_value *columns, kc__custom_parts *ret)
{
    static const kc__column name = KC__NAME_COLUMN;
    static const kc__column age = {
        .name = "Age", .type = "date", .description = KC__CREATED_TEXT, .cell = kc__cell_age};
    size_t n = kc_len(columns);
    kc__column *list = kc_arena_calloc(arena, n + 2, sizeof(*list));
    ret->paths = kc_arena_calloc(arena, n + 1, sizeof(kc_jsonpath *));
    ret->columns = (kc__columns){.list = list, .n = n ? 1 : 2};
    list[0] = name;
    list[1] = age;
    kc_items (columns, column) {
        size_t i = ret->n_paths;
        if (!make_column(arena, column, &ret->paths[i], &list[i + 1]))
            break;
        ret->n_paths++;
        ret->columns.n++;
    }
}
