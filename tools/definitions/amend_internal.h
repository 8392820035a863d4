/* SPDX-License-Identifier: Apache-2.0 */
/* amend_internal.h: what the two halves of the reader of amendments share. */
#ifndef KC_DEFINITIONS_AMEND_INTERNAL_H
#define KC_DEFINITIONS_AMEND_INTERNAL_H

#include "model.h"

/* A file of amendments while it is read. */
typedef struct amending {
    model *m;
    const char *path;
    int line;
    package *package;        /* Of the lines that are read; NULL: none was named yet. */
    message *msg;            /* Whose fields they are; NULL likewise. */
    message *like;           /* Whose fields `same` copies; NULL: there is none. */
    kc_str *text;            /* Where a description goes; NULL: the package has its own. */
    const kc_str *described; /* The last that got one from this file. */
} amending;

/* The next word of a line, and what follows it; empty at the end. */
kc_str amend_word(kc_str *rest);
/* A message by its name in the package at hand, or by its full name; ends the build without one. */
message *amend_message(const amending *a, kc_str name);
/* NUMBER TYPE of a field. */
void amend_read_type(amending *a, field *f, kc_str *words);
/* The rest of the words. Returns the field it stands behind: p == NULL: the last, empty: none. */
kc_str amend_read_words(amending *a, field *f, kc_str words);
/* Fills in what follows from the rest: the type in Go, and the enumeration that it is. */
void amend_finish_field(amending *a, field *f);

#endif
