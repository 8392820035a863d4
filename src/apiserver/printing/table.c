/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c: writes Tables. It knows no kinds.
 *
 *     {"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{…},
 *      "columnDefinitions":[{"name":"Name",…},…],                      null without headers
 *      "rows":[{"cells":["a",1,"5m"],"object":{…}},…]}
 *
 * The bookmark that ends the initial events of a watch keeps its metadata whatever includeObject
 * says: clients wait for its annotation.
 */
#include "apiserver/printing/table.h"
#include "apiserver/kinds/conversion.h"
#include "kc/meta.h"

/* ---- options ---- */

int kc__print_include_parse(kc_str text, kc__print_include *ret, kc_error *err)
{
    static const struct {
        kc_str name;
        kc__print_include include;
    } known[] = {
        {KC_STR_INIT(""), KC__PRINT_INCLUDE_METADATA},
        {KC_STR_INIT("Metadata"), KC__PRINT_INCLUDE_METADATA},
        {KC_STR_INIT("None"), KC__PRINT_INCLUDE_NONE},
        {KC_STR_INIT("Object"), KC__PRINT_INCLUDE_OBJECT},
    };
    for (size_t i = 0; i < KC_COUNT(known); i++) {
        if (!kc_str_eq(text, known[i].name))
            continue;
        *ret = known[i].include;
        return 0;
    }
    kc_scoped(kc_buf) quoted = {0};
    kc_json_quote(&quoted, text);
    return kc_error_set(err, KC_BAD_REQUEST,
                        "Unable to convert to Table as requested: includeObject: Invalid value: "
                        "%s: must be 'Metadata', 'Object', 'None', or empty",
                        kc_buf_cstr(&quoted));
}

/* ---- the head ---- */

static void write_table_text(kc_buf *out, const char *before, const char *text)
{
    kc_buf_puts(out, before);
    kc_json_quote(out, kc_cstr(text));
}

static void write_definitions(kc_buf *out, const kc__print_columns *columns)
{
    kc_buf_putc(out, '[');
    for (size_t i = 0; i < columns->n; i++) {
        const kc__print_column *column = &columns->list[i];
        write_table_text(out, i ? ",{\"name\":" : "{\"name\":", column->name);
        write_table_text(out, ",\"type\":", column->type);
        write_table_text(out, ",\"format\":", column->format);
        write_table_text(out, ",\"description\":", column->description);
        kc_buf_printf(out, ",\"priority\":%d}", column->priority);
    }
    kc_buf_putc(out, ']');
}

/* Writes everything before the rows; the caller has chosen the content of `metadata`. */
static void begin_table(kc__print_table *table, kc_buf *out)
{
    table->started = false;
    kc_buf_puts(out, ",\"columnDefinitions\":");
    if (table->no_headers)
        kc_buf_puts(out, "null");
    else
        write_definitions(out, table->columns);
    kc_buf_puts(out, ",\"rows\":");
}

static void begin_metadata(const kc__print_table *table, kc_buf *out)
{
    kc_buf_printf(out, "{\"kind\":\"Table\",\"apiVersion\":\"%s\",\"metadata\":",
                  kc__print_meta_api_version(table->version));
}

void kc__print_table_begin(kc__print_table *table, kc_buf *out, const kc__print_list_meta *meta)
{
    begin_metadata(table, out);
    kc__print_list_meta_write(out, meta);
    begin_table(table, out);
}

/* ---- rows ---- */

static bool ends_initial_events(const kc_object *object)
{
    return kc_object_annotation_is(object, KC_STR("k8s.io/initial-events-end"), KC_STR("true"));
}

static void write_object(const kc__print_table *table, kc_buf *out, const kc_object *row)
{
    kc_auto(kc_object) *shown = NULL;
    if (table->resource && table->include == KC__PRINT_INCLUDE_OBJECT)
        shown = kc__convert_from_stored(table->resource, row, NULL);
    const kc_object *object = shown ? shown : row;
    if (table->include == KC__PRINT_INCLUDE_OBJECT)
        kc_buf_append(out, kc_object_json(object));
    else if (table->include == KC__PRINT_INCLUDE_METADATA || ends_initial_events(object))
        kc__print_partial_write(out, object, table->version);
    else
        kc_buf_puts(out, "null");
}

static void write_conditions(const kc__print_columns *columns, kc_buf *out, kc__print_row *row)
{
    if (!columns->conditions)
        return;
    kc_scoped(kc_buf) conditions = {0};
    columns->conditions(&conditions, row);
    if (!conditions.n)
        return;
    kc_buf_puts(out, ",\"conditions\":");
    kc_buf_append(out, kc_buf_str(&conditions));
}

void kc__print_table_row(kc__print_table *table, kc_buf *out, const kc_object *object)
{
    const kc__print_columns *columns = table->columns;
    kc__print_row row = {.object = object, .now = table->now};
    kc_buf_puts(out, table->started ? ",{\"cells\":[" : "[{\"cells\":[");
    for (size_t i = 0; i < columns->n; i++) {
        kc_buf_puts(out, i ? "," : "");
        row.column = &columns->list[i];
        if (row.column->path)
            kc__print_cell_at(out, &row, row.column);
        else
            row.column->cell(out, &row);
    }
    kc_buf_putc(out, ']');
    write_conditions(columns, out, &row);
    kc_buf_puts(out, ",\"object\":");
    write_object(table, out, object);
    kc_buf_putc(out, '}');
    table->started = true;
    kc_view_free(row.view);
}

void kc__print_table_end(kc__print_table *table, kc_buf *out)
{
    if (table->started)
        kc_buf_putc(out, ']');
    else
        kc_buf_puts(out, table->columns->null_when_empty ? "null" : "[]");
    kc_buf_putc(out, '}');
}

void kc__print_table_of(kc__print_table *table, kc_buf *out, const kc_object *object)
{
    kc_str revision = kc_object_resource_version(object);
    begin_metadata(table, out);
    kc_buf_puts(out, kc_str_empty(revision) ? "{" : "{\"resourceVersion\":");
    if (!kc_str_empty(revision))
        kc_json_quote(out, revision);
    kc_buf_putc(out, '}');
    begin_table(table, out);
    kc__print_table_row(table, out, object);
    kc__print_table_end(table, out);
    table->no_headers = true;
}
