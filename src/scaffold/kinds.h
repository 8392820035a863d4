/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.h: resolves and validates the kind that a command names. */
#ifndef KC_SCAFFOLD_KINDS_H
#define KC_SCAFFOLD_KINDS_H

#include "scaffold/scaffold.h"

/* A kind as named by flags. */
typedef struct kc__scaffold_named_kind {
    const char *group, *version, *kind;
    const char *plural; /* NULL: not given. */
    const kc__scaffold_external_opts *external;
} kc__scaffold_named_kind;

/* KC_INVALID, with the flag, if a name is missing or invalid. */
int kc__scaffold_check_named(const kc__scaffold_named_kind *named, kc_error *err);

/* The kind in the project; 0 if it is not there. */
bool kc__scaffold_find_named(const kc__scaffold_project_file *project,
                             const kc__scaffold_named_kind *named, kc__scaffold_resource *ret);
/* KC_ALREADY_EXISTS if its types are elsewhere than the flags say. */
int kc__scaffold_check_target(const kc__scaffold_resource *there,
                              const kc__scaffold_named_kind *named, kc_error *err);
/* A kind whose types are elsewhere: external, or built-in. 1, or 0 if it is neither. */
int kc__scaffold_make_foreign(const kc__scaffold_named_kind *named, kc__scaffold_resource *ret,
                              kc_error *err);
/* KC_NOT_FOUND, with a suggestion, else `advice`. */
int kc__scaffold_kind_not_found(const kc__scaffold_project_file *project,
                                const kc__scaffold_named_kind *named, const char *advice,
                                kc_error *err);

/* The parts that its foreign types need, and its place in a namespaced project. */
unsigned kc__scaffold_parts_around(const kc__scaffold_project_file *project,
                                   const kc__scaffold_resource *resource);

#endif
