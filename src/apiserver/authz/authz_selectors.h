/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authz_selectors.h: parsed selectors of a request, whose requirements are part of its attributes.
 *
 *     kc_scoped(kc__authz_selectors) selectors = {0};
 *     kc__authz_selectors_parse(&selectors, field_text, label_text);
 *     kc__authz_select(&attributes, &selectors);
 */
#ifndef KC_APISERVER_AUTHZ_SELECTORS_H
#define KC_APISERVER_AUTHZ_SELECTORS_H

#include "apiserver/authz/authz.h"

typedef struct kc__authz_selectors {
    kc_field_selector *fields; /* NULL: none, or not readable. */
    kc_selector *labels;       /* Likewise. */
} kc__authz_selectors;

/* Parses the text of both selectors; each may be empty. */
void kc__authz_selectors_parse(kc__authz_selectors *selectors, kc_str fields, kc_str labels);
/* Adds the requirements to the attributes, which borrow them. */
void kc__authz_select(kc__authz_attributes *a, const kc__authz_selectors *selectors);
void kc__authz_selectors_done(kc__authz_selectors *selectors);

#endif
