/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h: the files of a project with their templates, and the lines inserted at markers. */
#ifndef KC_SCAFFOLD_PLAN_H
#define KC_SCAFFOLD_PLAN_H

#include <stdbool.h>
#include <stddef.h>

/* Parts to create; several at a time. */
typedef enum kc__scaffold_part {
    KC__SCAFFOLD_PART_PROJECT = 1 << 0,
    KC__SCAFFOLD_PART_ALL_NAMESPACES = 1 << 1,  /* The manager watches all namespaces, */
    KC__SCAFFOLD_PART_NAMESPACED = 1 << 2,      /* or its own, */
    KC__SCAFFOLD_PART_CLUSTER_BINDING = 1 << 3, /* but needs cluster-scoped permissions. */

    KC__SCAFFOLD_PART_API = 1 << 4,         /* One of the next two goes with it: */
    KC__SCAFFOLD_PART_TYPES = 1 << 5,       /* with an example of a field, */
    KC__SCAFFOLD_PART_TYPES_IMAGE = 1 << 6, /* or for running an image. */

    KC__SCAFFOLD_PART_CONTROLLER = 1 << 7,        /* One of the next five goes with it: */
    KC__SCAFFOLD_PART_CONTROLLER_OWN = 1 << 8,    /* of a kind of the project, */
    KC__SCAFFOLD_PART_CONTROLLER_SSA = 1 << 9,    /* which applies what it owns, */
    KC__SCAFFOLD_PART_CONTROLLER_IMAGE = 1 << 10, /* which runs an image, */
    KC__SCAFFOLD_PART_CONTROLLER_OTHER = 1 << 11, /* of a kind of another project, */
    KC__SCAFFOLD_PART_CONTROLLER_CORE = 1 << 12,  /* of one of Kubernetes'. */
    KC__SCAFFOLD_PART_MODULE = 1 << 13,           /* A package that has another project's types, */
    KC__SCAFFOLD_PART_SOURCES = 1 << 14,          /* or a folder of them. */

    KC__SCAFFOLD_PART_WEBHOOK = 1 << 15, /* Any of the following. */
    KC__SCAFFOLD_PART_DEFAULTING = 1 << 16,
    KC__SCAFFOLD_PART_VALIDATION = 1 << 17,      /* Of structs, */
    KC__SCAFFOLD_PART_VALIDATION_CORE = 1 << 18, /* or of objects. */
    KC__SCAFFOLD_PART_CONVERSION = 1 << 19,
    KC__SCAFFOLD_PART_SPOKE = 1 << 20, /* A version for it; once for each. */
} kc__scaffold_part;

typedef struct kc__scaffold_planned_file {
    kc__scaffold_part part;
    const char *source; /* A template's name. */
    const char *path;   /* A template itself. */
    bool shared;        /* Shared by several kinds: skipped silently if it exists. */
    const char *former; /* Unchanged output of this template is replaced. */
} kc__scaffold_planned_file;

typedef struct kc__scaffold_planned_lines {
    kc__scaffold_part part;
    const char *path, *marker;
    const char *lines;  /* A template; NULL: */
    const char *source; /* that of this name. */
    bool once;          /* If the file has the first of the lines, it has them all, edited. */
} kc__scaffold_planned_lines;

extern const kc__scaffold_planned_file kc__scaffold_planned_files[];
extern const size_t kc__scaffold_n_planned_files;
extern const kc__scaffold_planned_lines kc__scaffold_planned_lines_of[];
extern const size_t kc__scaffold_n_planned_lines;

#endif
