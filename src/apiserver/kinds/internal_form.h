/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal_form.h: formats values like Kubernetes' internal Go structs, for the error messages that
 * show one.
 */
#ifndef KC_APISERVER_INNER_H
#define KC_APISERVER_INNER_H

#include "kc/arena.h"
#include "kc/view.h"

/* Formats a value of a type ("io.k8s.api.core.v1.SecurityContext") on one line. The text is in
 * the arena. */
const char *kc__internal_form_json(const char *type, const kc_value *value, kc_arena *arena);

/* Returns the lines that differ between two values of a type, with three lines of context, in
 * the format of `diff -u` without file names. Empty when there are too many lines to compare. */
const char *kc__internal_form_diff(const char *type, const kc_value *before, const kc_value *after,
                                   kc_arena *arena);

#endif
