/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h: which files there are, from which templates, and what is inserted where. */
#ifndef KC_SCAFFOLD_PLAN_H
#define KC_SCAFFOLD_PLAN_H

#include <stdbool.h>
#include <stddef.h>

/* What is being made; several at a time. */
typedef enum kc__part {
    KC__PART_PROJECT = 1,
    KC__PART_API = 2,
    KC__PART_CONTROLLER = 4,
    KC__PART_WEBHOOK = 8, /* Any of the following. */
    KC__PART_DEFAULTING = 16,
    KC__PART_VALIDATION = 32,
    KC__PART_CONVERSION = 64,
} kc__part;

typedef struct kc__planned_file {
    kc__part part;
    const char *source; /* A template's name. */
    const char *path;   /* A template itself. */
    bool shared;        /* By several kinds: one that is there is left without a word. */
} kc__planned_file;

typedef struct kc__planned_lines {
    kc__part part;
    const char *path, *marker;
    const char *lines;  /* A template; NULL: */
    const char *source; /* that of this name. */
    bool once;          /* If the file has the first of the lines, it has them all, changed. */
} kc__planned_lines;

extern const kc__planned_file kc__planned_files[];
extern const size_t kc__n_planned_files;
extern const kc__planned_lines kc__planned_lines_of[];
extern const size_t kc__n_planned_lines;

#endif
