/* SPDX-License-Identifier: Apache-2.0 */
/*
 * review_selector.h: the field and label selectors of an access review: the part of a collection
 * that the review is about. They are text (rawSelector) or a list of requirements.
 */
#ifndef KC_APISERVER_REVIEW_SELECTOR_H
#define KC_APISERVER_REVIEW_SELECTOR_H

#include "apiserver/authz/authz_selectors.h"
#include "apiserver/kinds/location.h"
#include "apiserver/reviews/review.h"

/* Validates both selectors of spec.resourceAttributes. Unknown operators are valid: a client may be
 * newer than the server. */
void kc__review_validate_selectors(const kc__location *resources);
/* Reads both selectors; those that cannot be read are left out. `resources` may be NULL. */
void kc__review_read_selectors(const kc_value *resources, kc__authz_selectors *ret);
/* Appends a sentence for each selector that cannot be read, or only in part; nothing if both can.
 * `resources` may be NULL. */
void kc__review_report_selectors(const kc_value *resources, kc_buf *out);

#endif
