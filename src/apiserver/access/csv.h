/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.h: records of comma-separated values (RFC 4180), one after the other.
 *
 *     kc__csv csv = {.at = text, .end = text + n};
 *     while ((more = kc__csv_next(&csv, &record, err)) > 0)
 *         use(record.fields, record.n, record.line);
 *
 * The text is changed on the way: quoted fields are unescaped where they stand, so a secret that
 * was read is in one place only.
 */
#ifndef KC_APISERVER_CSV_H
#define KC_APISERVER_CSV_H

#include "kc/error.h"

/* Fields of a record beyond these are checked and dropped. */
#define KC__CSV_FIELDS 8

typedef struct kc__csv {
    char *at, *end;
    size_t line; /* Of `at`, from 0. */
} kc__csv;

typedef struct kc__csv_record {
    kc_str fields[KC__CSV_FIELDS]; /* In the text. */
    size_t n;                      /* How many the record has, those dropped too. */
    size_t line;                   /* Where it begins, from 1. */
} kc__csv_record;

/*
 * The next record. 1: there is one; 0: the end, *ret untouched; KC_INVALID with the line for text
 * that is none: a quote in an unquoted field, or a quoted one that does not end. Empty lines are
 * skipped, "\r\n" ends a line as "\n" does, spaces are part of a field.
 */
int kc__csv_next(kc__csv *csv, kc__csv_record *ret, kc_error *err);

#endif
