/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h: objects as rows and columns, for clients that show them to people: Table of meta.k8s.io.
 *
 * Which columns a resource has is a constant table with a function for each cell (columns.c). A
 * Table is written row by row, straight from objects, so that a list of any length needs no more
 * memory than its longest row:
 *
 *     kc__table table = {.columns = kc__columns_of(resource), .include = include, .now = now};
 *     kc__table_begin(&table, out, &meta);
 *     …
 *     kc__table_row(&table, out, object);                         for each, when there is room
 *     …
 *     kc__table_end(&table, out);
 *
 * One object, or that of a watch event, is a Table with one row: kc__table_of. The first event of a
 * watch has the columns' definitions, those after it have not.
 */
#ifndef KC_APISERVER_TABLE_H
#define KC_APISERVER_TABLE_H

#include "apiserver/kinds/resource.h"
#include "apiserver/printing/partial.h"
#include "kc/time.h"

/* ---- columns ---- */

/* The row that is being written. */
typedef struct kc__row {
    const kc_object *object;
    kc_time now;
    kc_view *view; /* Of the object; made when the first cell asks for it: kc__row_root. */
    const struct kc__column *column; /* Whose cell is being written. */
} kc__row;

/* Appends the value of one cell, as JSON. */
typedef void kc__cell(kc_buf *out, kc__row *row);

typedef struct kc__column {
    const char *name;        /* "Last Seen" */
    const char *type;        /* Of OpenAPI: "string", "integer", "date", … */
    const char *format;      /* "name" in the one column that is the object's. Defaults to "". */
    const char *description; /* Defaults to "". */
    int priority;            /* Above 0: shown only by a client that has room (-o wide). */
    /* What stands in it: the value at `path` ("spec.type"), text as it is, other values as JSON,
     * and `otherwise` (defaults to "") where there is none; with `counts` a number, 0 where there
     * is none, of a list how many it holds. Or, without a path, what `cell` appends. */
    const char *path;
    const char *otherwise;
    bool counts;
    kc__cell *cell;
    const void *user; /* What the cell needs to know. Defaults to nothing. */
} kc__column;

typedef struct kc__columns {
    const kc__column *list;
    size_t n;
    /* Appends a JSON array of conditions ("Completed") of the row; NULL, or nothing appended: it
     * has none. */
    void (*conditions)(kc_buf *out, kc__row *row);
    bool null_when_empty; /* Without rows it says "rows":null, not []. */
} kc__columns;

/* Those of a resource, which a custom one brings along; Name and Age if it has none of its own.
 * Never NULL. */
const kc__columns *kc__columns_of(const kc__resource *resource);

/* Those of the Scale of a resource's objects. */
const kc__columns *kc__scale_columns(const kc__resource *resource);

/* The object, parsed. Lives as long as the row. */
const kc_value *kc__row_root(kc__row *row);

/* The value at a place of names and dots; NULL when there is none. */
const kc_value *kc__row_at(kc__row *row, const char *path);

/* Cells that many kinds have, and values for cells of one's own. */
void kc__cell_name(kc_buf *out, kc__row *row);
void kc__cell_age(kc_buf *out, kc__row *row);
void kc__cell_created(kc_buf *out, kc__row *row);
/* Appends the cell of a column that has a path. */
void kc__cell_at(kc_buf *out, kc__row *row, const kc__column *column);
void kc__cell_put_text(kc_buf *out, kc_str text);
void kc__cell_put_number(kc_buf *out, int64_t number);
/* How long ago it was; "<unknown>" when it is empty. */
void kc__cell_put_since(kc_buf *out, const kc__row *row, kc_str timestamp);

/* ---- tables ---- */

/* What stands in a row beside its cells. */
typedef enum kc__include {
    KC__INCLUDE_METADATA, /* PartialObjectMetadata */
    KC__INCLUDE_NONE,
    KC__INCLUDE_OBJECT,
} kc__include;

/* Of the query parameter includeObject; empty is Metadata. KC_BAD_REQUEST for anything else. */
int kc__include_parse(kc_str text, kc__include *ret, kc_error *err);

typedef struct kc__table {
    const kc__columns *columns;
    kc__meta_version version; /* Defaults to v1. */
    kc__include include;      /* Defaults to metadata. */
    /* In whose form whole objects are shown, where that is not the one that is stored. Defaults to
     * none. */
    const kc__resource *resource;
    kc_time now;     /* What ages are counted to. */
    bool no_headers; /* Without definitions of columns. */
    bool started;    /* A row was written. */
} kc__table;

/* Whole lists: `meta` is that of the list. */
void kc__table_begin(kc__table *table, kc_buf *out, const kc__list_meta *meta);
void kc__table_row(kc__table *table, kc_buf *out, const kc_object *object);
void kc__table_end(kc__table *table, kc_buf *out);

/* A Table with one row. Sets no_headers, so that the next one (of a watch) comes without. */
void kc__table_of(kc__table *table, kc_buf *out, const kc_object *object);

#endif
