/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.h: reads records of comma-separated values (RFC 4180), one after the other.
 *
 *     kc__csv csv = {.at = text, .end = text + n};
 *     while ((more = kc__csv_next(&csv, &record, err)) > 0)
 *         use(record.fields, record.n, record.line);
 *
 * The text is modified: quoted fields are unescaped in place, so a secret exists in one place only.
 */
#ifndef KC_APISERVER_CSV_H
#define KC_APISERVER_CSV_H

#include "kc/error.h"

/* Further fields of a record are checked and dropped. */
#define KC__CSV_FIELDS 8

typedef struct kc__csv {
    char *at, *end;
    size_t line; /* Of `at`, from 0. */
} kc__csv;

typedef struct kc__csv_record {
    kc_str fields[KC__CSV_FIELDS]; /* Slices of the text. */
    size_t n;                      /* Number of fields of the record, including dropped ones. */
    size_t line;                   /* The line where it begins, from 1. */
} kc__csv_record;

/*
 * Reads the next record. 1: success; 0: the end, *ret unchanged; KC_INVALID with the line for
 * invalid text: a quote in an unquoted field, or an unterminated quoted field. Empty lines are
 * skipped, "\r\n" ends a line as "\n" does, spaces are part of a field.
 */
int kc__csv_next(kc__csv *csv, kc__csv_record *ret, kc_error *err);

#endif
