/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.h: which kind a command is about, and what is wrong with how it was named. */
#ifndef KC_SCAFFOLD_KINDS_H
#define KC_SCAFFOLD_KINDS_H

#include "scaffold/scaffold.h"

/* A kind as it was named. */
typedef struct kc__named_kind {
    const char *group, *version, *kind;
    const char *plural; /* NULL: not said. */
    const kc__external_opts *external;
} kc__named_kind;

/* KC_INVALID, with the flag, if a name is missing or is none. */
int kc__check_named(const kc__named_kind *named, kc_error *err);

/* The kind in the project; 0 if it is not there. */
bool kc__find_named(const kc__project *project, const kc__named_kind *named, kc__resource *ret);
/* KC_ALREADY_EXISTS if its types are elsewhere than it was named with now. */
int kc__check_place(const kc__resource *there, const kc__named_kind *named, kc_error *err);
/* One whose types live elsewhere: external, or Kubernetes' own. 1, or 0 if it is neither. */
int kc__make_foreign(const kc__named_kind *named, kc__resource *ret, kc_error *err);
/* KC_NOT_FOUND, with a kind that was probably meant, else `advice`. */
int kc__no_such_kind(const kc__project *project, const kc__named_kind *named, const char *advice,
                     kc_error *err);

/* The parts that its foreign types need, and its place in a namespaced project. */
unsigned kc__parts_around(const kc__project *project, const kc__resource *resource);

#endif
