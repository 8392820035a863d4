/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.c: writes values of cells, and the cells that every kind has. Cells of metadata come from
 * the object's header; only a cell that needs the root causes the object to be parsed, once per
 * row.
 */
#include "apiserver/printing/table.h"

#include <inttypes.h>

const kc_value *kc__print_row_root(kc__print_row *row)
{
    if (!row->view)
        row->view = kc_view_of(row->object);
    return kc_view_root(row->view);
}

const kc_value *kc__print_row_at(kc__print_row *row, const char *path)
{
    const kc_value *value = kc__print_row_root(row);
    kc_str rest = kc_cstr(path);
    while (rest.p)
        value = kc_value_get_str(value, kc_str_cut(&rest, '.'));
    return kc_value_type(value) == KC_JSON_NULL ? NULL : value;
}

/* ---- values ---- */

void kc__print_cell_put_text(kc_buf *out, kc_str text)
{
    kc_json_quote(out, text);
}

void kc__print_cell_put_number(kc_buf *out, int64_t number)
{
    kc_buf_printf(out, "%" PRId64, number);
}

void kc__print_cell_put_since(kc_buf *out, const kc__print_row *row, kc_str timestamp)
{
    char text[KC_DURATION_TEXT];
    kc_json_quote(out, kc_time_age(timestamp, row->now, text));
}

static void put_count(kc_buf *out, const kc_value *value)
{
    bool list = kc_value_type(value) == KC_JSON_ARRAY;
    kc__print_cell_put_number(out,
                              list ? (int64_t)kc_value_len(value) : kc_value_as_i64_or(value, 0));
}

void kc__print_cell_at(kc_buf *out, kc__print_row *row, const kc__print_column *column)
{
    const kc_value *value = kc__print_row_at(row, column->path);
    kc_str text = kc_value_as_str(value);
    if (column->counts)
        put_count(out, value);
    else if (text.n)
        kc__print_cell_put_text(out, text);
    else if (kc_value_type(value) == KC_JSON_BOOL)
        kc_buf_puts(out, kc_value_as_bool(value, false) ? "true" : "false");
    else if (kc_value_type(value) == KC_JSON_INT)
        kc__print_cell_put_number(out, kc_value_as_i64_or(value, 0));
    else
        kc__print_cell_put_text(out, kc_cstr(column->fallback));
}

/* ---- cells ---- */

void kc__print_cell_name(kc_buf *out, kc__print_row *row)
{
    kc__print_cell_put_text(out, kc_object_name(row->object));
}

void kc__print_cell_age(kc_buf *out, kc__print_row *row)
{
    kc__print_cell_put_since(out, row, kc_object_creation_timestamp(row->object));
}

void kc__print_cell_created(kc_buf *out, kc__print_row *row)
{
    kc_str created = kc_object_creation_timestamp(row->object);
    kc__print_cell_put_text(out, kc_str_empty(created) ? KC_STR("0001-01-01T00:00:00Z") : created);
}
