/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inner.h: values as Kubernetes' own structs write themselves, for the errors that show one.
 */
#ifndef KC_APISERVER_INNER_H
#define KC_APISERVER_INNER_H

#include "kc/arena.h"
#include "kc/view.h"

/* A value of a type ("io.k8s.api.core.v1.SecurityContext") in one line; in the arena. */
const char *kc__inner_json(const char *type, const kc_value *value, kc_arena *arena);

/* The lines that differ between two values of a type, with three around them, as `diff -u` has
 * them; without the names of files. Empty when there are too many to compare. */
const char *kc__inner_diff(const char *type, const kc_value *before, const kc_value *after,
                           kc_arena *arena);

#endif
