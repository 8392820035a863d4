/* SPDX-License-Identifier: Apache-2.0 */
/* execute.h: executes a plan (plan.h) in a project's directory. */
#ifndef KC_SCAFFOLD_EXECUTE_H
#define KC_SCAFFOLD_EXECUTE_H

#include "scaffold/scaffold.h"
#include "scaffold/values.h"

/* The license header of the project's sources. */
#define KC__SCAFFOLD_BOILERPLATE "hack/boilerplate.txt"

void kc__scaffold_report(const kc__scaffold *s, kc__scaffold_report_kind what, const char *path,
                         const char *lines);

/* Writes a file if it does not exist, or with force. */
int kc__scaffold_write_file(const kc__scaffold *s, const char *path, kc_str text, kc_error *err);

/* Parts of a project, or, with `resource`, of a kind, which is recorded in PROJECT. */
typedef struct kc__scaffold_execution {
    kc__scaffold_project_file *project;
    const kc__scaffold_resource *resource; /* NULL: the project alone. */
    unsigned parts;                        /* kc__scaffold_part */
    kc_str controller;                     /* See kc__scaffold_values_opts. */
    kc__scaffold_names spokes;             /* Versions to convert. */
} kc__scaffold_execution;
/* Files first, then lines, PROJECT last. */
int kc__scaffold_execute(const kc__scaffold *s, const kc__scaffold_execution *what, kc_error *err);

/* The directory of a kind's sources: by type, or by group within. The values "controllers", "tests"
 * and "webhooks". */
void kc__scaffold_write_targets(const kc__scaffold *s, const kc__scaffold_project_file *project,
                                const kc__scaffold_resource *resource, kc__scaffold_values *values);

#endif
