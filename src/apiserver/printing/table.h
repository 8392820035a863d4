/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h: objects as rows and columns, for clients that show them to people: Table of meta.k8s.io.
 *
 * The columns of a resource are a constant table with a function for each cell (columns.c). A Table
 * is written row by row, directly from the objects, so that a list of any length needs no more
 * memory than its longest row:
 *
 *     kc__print_table table = {.columns = kc__print_columns_of(resource), .include = include,
 *                              .now = now};
 *     kc__print_table_begin(&table, out, &meta);
 *     … kc__print_table_row(&table, out, object); for each, when there is room
 *     … kc__print_table_end(&table, out);
 *
 * A single object, or that of a watch event, is a Table with one row: kc__print_table_of. The first
 * event of a watch has the column definitions, later ones do not.
 */
#ifndef KC_APISERVER_TABLE_H
#define KC_APISERVER_TABLE_H

#include "apiserver/kinds/resource.h"
#include "apiserver/printing/partial.h"
#include "kc/time.h"

/* ---- columns ---- */

/* The row that is being written. */
typedef struct kc__print_row {
    const kc_object *object;
    kc_time now;
    /* The parsed object; created when the first cell needs it: kc__print_row_root. */
    kc_view *view;
    const struct kc__print_column *column; /* The column of the current cell. */
    /* Columns of custom resources: columns looked up, bytes written (crd_columns.c). */
    size_t looked_up, written;
} kc__print_row;

/* Appends the value of one cell, as JSON. */
typedef void kc__print_cell(kc_buf *out, kc__print_row *row);

typedef struct kc__print_column {
    const char *name;        /* "Last Seen" */
    const char *type;        /* OpenAPI type: "string", "integer", "date", … */
    const char *format;      /* "name" for the column of the object's name. Defaults to "". */
    const char *description; /* Defaults to "". */
    int priority;            /* Above 0: shown only with -o wide. */
    /* The content: the value at `path` ("spec.type"), strings as they are, other values as JSON,
     * and `fallback` (defaults to "") if there is none; with `counts` a number, 0 if there is
     * none, for a list its length. Without a path: what `cell` appends. */
    const char *path;
    const char *fallback;
    bool counts;
    kc__print_cell *cell;
    const void *user; /* Data for the cell function. Defaults to none. */
} kc__print_column;

typedef struct kc__print_columns {
    const kc__print_column *list;
    size_t n;
    /* Appends a JSON array of conditions ("Completed") of the row; NULL, or nothing appended:
     * none. */
    void (*conditions)(kc_buf *out, kc__print_row *row);
    bool null_when_empty; /* A Table without rows has "rows":null instead of []. */
} kc__print_columns;

/* The columns of a resource; a custom resource has its own. Name and Age if it has none. Never
 * NULL. */
const kc__print_columns *kc__print_columns_of(const kc__resource *resource);

/* The columns of the Scale of a resource's objects. Never NULL. */
const kc__print_columns *kc__print_scale_columns(const kc__resource *resource);
/* The `scale_columns` of custom resources. */
extern const kc__print_columns kc__print_custom_scale_columns;

/* The parsed object. Lives as long as the row. */
const kc_value *kc__print_row_root(kc__print_row *row);

/* The value at a dotted path; NULL if there is none. */
const kc_value *kc__print_row_at(kc__print_row *row, const char *path);

/* Cells that many kinds have, and helpers for custom cells. */
void kc__print_cell_name(kc_buf *out, kc__print_row *row);
void kc__print_cell_age(kc_buf *out, kc__print_row *row);
void kc__print_cell_created(kc_buf *out, kc__print_row *row);
/* Appends the cell of a column that has a path. */
void kc__print_cell_at(kc_buf *out, kc__print_row *row, const kc__print_column *column);
void kc__print_cell_put_text(kc_buf *out, kc_str text);
void kc__print_cell_put_number(kc_buf *out, int64_t number);
/* The age of a timestamp; "<unknown>" if it is empty. */
void kc__print_cell_put_since(kc_buf *out, const kc__print_row *row, kc_str timestamp);

/* ---- tables ---- */

/* What a row contains in addition to its cells. */
typedef enum kc__print_include {
    KC__PRINT_INCLUDE_METADATA, /* PartialObjectMetadata */
    KC__PRINT_INCLUDE_NONE,
    KC__PRINT_INCLUDE_OBJECT,
} kc__print_include;

/* Parses the query parameter includeObject; empty is Metadata. KC_BAD_REQUEST for anything else. */
int kc__print_include_parse(kc_str text, kc__print_include *ret, kc_error *err);

typedef struct kc__print_table {
    const kc__print_columns *columns;
    kc__print_meta_version version; /* Defaults to v1. */
    kc__print_include include;      /* Defaults to metadata. */
    /* The resource in whose version whole objects are shown, if it is not the stored one. Defaults
     * to none. */
    const kc__resource *resource;
    kc_time now;     /* The time against which ages are computed. */
    bool no_headers; /* Without column definitions. */
    bool started;    /* A row was written. */
} kc__print_table;

/* For whole lists: `meta` is that of the list. */
void kc__print_table_begin(kc__print_table *table, kc_buf *out, const kc__print_list_meta *meta);
void kc__print_table_row(kc__print_table *table, kc_buf *out, const kc_object *object);
void kc__print_table_end(kc__print_table *table, kc_buf *out);

/* A Table with one row. Sets no_headers, so that the next one of a watch has no column
 * definitions. */
void kc__print_table_of(kc__print_table *table, kc_buf *out, const kc_object *object);

#endif
