/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h: which files there are, from which templates, and what is inserted where. */
#ifndef KC_SCAFFOLD_PLAN_H
#define KC_SCAFFOLD_PLAN_H

#include <stdbool.h>
#include <stddef.h>

/* What is being made; several at a time. */
typedef enum kc__part {
    KC__PART_PROJECT = 1 << 0,
    KC__PART_ALL_NAMESPACES = 1 << 1,  /* Its manager looks after all of them, */
    KC__PART_NAMESPACED = 1 << 2,      /* or after its own, */
    KC__PART_CLUSTER_BINDING = 1 << 3, /* but needs something of the whole cluster. */

    KC__PART_API = 1 << 4,         /* One of the next two goes with it: */
    KC__PART_TYPES = 1 << 5,       /* with an example of a field, */
    KC__PART_TYPES_IMAGE = 1 << 6, /* or for running an image. */

    KC__PART_CONTROLLER = 1 << 7,        /* One of the next five goes with it: */
    KC__PART_CONTROLLER_OWN = 1 << 8,    /* of a kind of the project, */
    KC__PART_CONTROLLER_SSA = 1 << 9,    /* which applies what it owns, */
    KC__PART_CONTROLLER_IMAGE = 1 << 10, /* which runs an image, */
    KC__PART_CONTROLLER_OTHER = 1 << 11, /* of a kind of another project, */
    KC__PART_CONTROLLER_CORE = 1 << 12,  /* of one of Kubernetes'. */
    KC__PART_MODULE = 1 << 13,           /* A package that has another project's types, */
    KC__PART_SOURCES = 1 << 14,          /* or a folder of them. */

    KC__PART_WEBHOOK = 1 << 15, /* Any of the following. */
    KC__PART_DEFAULTING = 1 << 16,
    KC__PART_VALIDATION = 1 << 17,      /* Of structs, */
    KC__PART_VALIDATION_CORE = 1 << 18, /* or of objects. */
    KC__PART_CONVERSION = 1 << 19,
    KC__PART_SPOKE = 1 << 20, /* A version for it; once for each. */
} kc__part;

typedef struct kc__planned_file {
    kc__part part;
    const char *source; /* A template's name. */
    const char *path;   /* A template itself. */
    bool shared;        /* By several kinds: one that is there is left without a word. */
    const char *former; /* What this template made is nobody's own work: it is replaced. */
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
