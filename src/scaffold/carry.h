/* SPDX-License-Identifier: Apache-2.0 */
/* carry.h: carrying out a plan (plan.h) in a project's folder. */
#ifndef KC_SCAFFOLD_CARRY_H
#define KC_SCAFFOLD_CARRY_H

#include "scaffold/scaffold.h"
#include "scaffold/values.h"

/* What stands at the top of the project's sources. */
#define KC__BOILERPLATE "hack/boilerplate.txt"

void kc__say(const kc__scaffold *s, kc__said what, const char *path, const char *lines);

/* Writes a file, unless it is there: then only with force. */
int kc__put_file(const kc__scaffold *s, const char *path, kc_str text, kc_error *err);

/* Parts of a project, or, with `resource`, of a kind of it, which is noted in PROJECT. */
typedef struct kc__carrying {
    kc__project *project;
    const kc__resource *resource; /* NULL: the project alone. */
    unsigned parts;               /* kc__part */
    kc_str controller;            /* See kc__values_opts. */
    kc__names spokes;             /* Versions to convert. */
} kc__carrying;
/* Files first, then lines, PROJECT last. */
int kc__carry_out(const kc__scaffold *s, const kc__carrying *what, kc_error *err);

/* Where a kind's sources are: in the folder of their sort, or in one of their group within. The
 * values "controllers", "tests" and "webhooks". */
void kc__put_places(const kc__scaffold *s, const kc__project *project, const kc__resource *resource,
                    kc__values *values);

#endif
