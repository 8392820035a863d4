/* SPDX-License-Identifier: Apache-2.0 */
/* leaf.h: a certificate that a CA of the server signs. */
#ifndef KC_APISERVER_LEAF_H
#define KC_APISERVER_LEAF_H

#include "apiserver/serving/authority.h"

#define KC__SERVING_LEAF_LIFETIME (365 * KC__SERVING_DAY)

typedef struct kc__serving_leaf {
    const char *cert_path, *key_path;
    kc__cert_spec spec;
} kc__serving_leaf;

/* Creates the certificate if it is missing, expires within 30 days, is of another CA, or does not
 * match its key or its names. */
int kc__serving_leaf_ensure(kc__serving_pass *pass, const kc__serving_authority *ca,
                            const kc__serving_leaf *leaf, kc_error *err);

#endif
