/* SPDX-License-Identifier: Apache-2.0 */
/* encryption_rewrite.h: rewrites the values of a storage in the form of the current configuration.
 */
#ifndef KC_APISERVER_ENCRYPTION_REWRITE_H
#define KC_APISERVER_ENCRYPTION_REWRITE_H

#include "apiserver/storage/encryption/encryption.h"
#include "apiserver/storage/storage.h"

typedef struct kc__encryption_rewritten {
    size_t objects, rewritten;
    size_t unreadable;    /* Left as they are. */
    kc_error first_error; /* Why the first of those cannot be read; the caller releases it. */
} kc__encryption_rewritten;

/* Rewrites every value that kc__encryption_seal would write in another form; each gets a new
 * revision. May be interrupted and run again: values that are as they should be are skipped. No
 * other writer may use the storage. Negative: the storage failed. Blocks. */
int kc__encryption_rewrite(kc__storage *storage, kc__encryption *encryption,
                           kc__encryption_resource (*resource_of)(kc_str prefix),
                           kc__encryption_rewritten *ret, kc_error *err);

#endif
