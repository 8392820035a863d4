/* SPDX-License-Identifier: Apache-2.0 */
/* access_spec.h: the attributes of a request as the spec of a SubjectAccessReview: what an
 * authorization webhook receives, and the variable of its match conditions. */
#ifndef KC_APISERVER_AUTHZ_ACCESS_SPEC_H
#define KC_APISERVER_AUTHZ_ACCESS_SPEC_H

#include "apiserver/authz/authz.h"

typedef enum kc__authz_spec_form {
    KC__AUTHZ_SPEC_V1,
    KC__AUTHZ_SPEC_V1BETA1,  /* Names the groups `group`. */
    KC__AUTHZ_SPEC_COMPLETE, /* v1 with all members of the user and the attributes, even if they are
                                empty: for match conditions. */
} kc__authz_spec_form;

/* Appends the spec as JSON, in the order of Kubernetes' type. */
void kc__authz_spec_write(kc_buf *out, const kc__authz_attributes *a, kc__authz_spec_form form);

#endif
