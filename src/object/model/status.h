/* SPDX-License-Identifier: Apache-2.0 */
/* status.h: writes a Status, the object that reports the result of a request. */
#ifndef KC_OBJECT_STATUS_H
#define KC_OBJECT_STATUS_H

#include "kc/buf.h"
#include "kc/error.h"

typedef struct kc__status_opts {
    bool details;          /* Write details even if they are empty. */
    kc_str continue_token; /* For metadata.continue: continues an expired list. */
} kc__status_opts;

/* Appends the Status of an error as JSON. opts may be NULL. */
void kc__status_write(kc_buf *out, const kc_error *error, const kc__status_opts *opts);
/* Appends the Status of a success about an object. */
void kc__status_write_success(kc_buf *out, kc_str group, kc_str resource, kc_str name, kc_str uid);

#endif
