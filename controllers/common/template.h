/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template.h: compares and hashes whole pod templates.
 *
 * Two templates are equal if they mean the same: the order of members does not matter, and an empty
 * value equals an absent one. The label pod-template-hash is ignored: it is derived from the rest.
 */
#ifndef KC_CONTROLLERS_TEMPLATE_H
#define KC_CONTROLLERS_TEMPLATE_H

#include "kc/view.h"

#define KC__COMMON_HASH_LABEL "pod-template-hash"
#define KC__COMMON_HASH_TEXT  16 /* Size of a hash's text with NUL. */

/* The canonical text of a template, which equal templates have in common; the caller frees it.
 * `json` is a template. */
char *kc__common_template_text(kc_str json);

/*
 * A short name for a template text: equal texts have equal names; the letters and digits used do
 * not form words. `collisions` (-1: none) gives another name after a hash collision.
 */
kc_str kc__common_template_hash(kc_str text, int64_t collisions, char out[KC__COMMON_HASH_TEXT]);

#endif
