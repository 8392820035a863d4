/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template.h: pod templates, compared and hashed as a whole.
 *
 * Two templates are the same when they mean the same: members in any order, what is empty as if it
 * were absent. The label that tells the pods of different templates apart (pod-template-hash) does
 * not count: it is derived from the rest.
 */
#ifndef KC_CONTROLLERS_TEMPLATE_H
#define KC_CONTROLLERS_TEMPLATE_H

#include "kc/view.h"

#define KC__HASH_LABEL "pod-template-hash"
#define KC__HASH_TEXT  16 /* Room for a hash's text and a NUL. */

/* The template's text in the one form that equal templates have in common; the caller frees it.
 * `json` is a template. */
char *kc__template_text(kc_str json);

/*
 * A short name for a template text: the same for the same text, in letters and digits that do not
 * make words. `collisions` (-1: none) gives another one where two templates have the same.
 */
kc_str kc__template_hash(kc_str text, int64_t collisions, char out[KC__HASH_TEXT]);

#endif
