/* SPDX-License-Identifier: Apache-2.0 */
/* v1_internal.h: the reader of FieldsV1, which also reads the entries around it (managed_read.c) in
 * one pass over the text. */
#ifndef KC_FIELDS_V1_INTERNAL_H
#define KC_FIELDS_V1_INTERNAL_H

#include "object/fields/fields_set.h"

typedef struct kc__fields_reader {
    const char *at, *end;
    unsigned depth;
    kc__fields_builder builder;
    bool exact; /* So far the text is what kc__fields_v1_write would write. */
    kc_error *err;
} kc__fields_reader;

void kc__fields_reader_skip_space(kc__fields_reader *reader);

/* True, and advances, when the next character after white space is `c`. */
static inline bool kc__fields_reader_next_is(kc__fields_reader *reader, char c)
{
    if (reader->at < reader->end && (unsigned char)*reader->at <= ' ')
        kc__fields_reader_skip_space(reader);
    if (reader->at >= reader->end || *reader->at != c)
        return false;
    reader->at++;
    return true;
}

/* A string after its opening quote; unescaped, in the arena if it has escapes. */
int kc__fields_reader_string(kc__fields_reader *reader, kc_str *ret) KC_MUST_CHECK;
/* Skips a value: finds its end by quotes and brackets. */
int kc__fields_reader_skip(kc__fields_reader *reader) KC_MUST_CHECK;
/* A FieldsV1; *ret_text is its text. */
int kc__fields_reader_set(kc__fields_reader *reader, const kc__fields_set **ret_set,
                          kc_str *ret_text, bool *ret_canonical) KC_MUST_CHECK;
/* Sets an error; returns a negative number. */
int kc__fields_reader_failed(kc__fields_reader *reader, const char *why);

#endif
