/* SPDX-License-Identifier: Apache-2.0 */
/* status.h: writing a Status, the object that says how a request ended. */
#ifndef KC_OBJECT_STATUS_H
#define KC_OBJECT_STATUS_H

#include "kc/buf.h"
#include "kc/error.h"

typedef struct kc__status_opts {
    bool details;          /* Write details even when there are none. */
    kc_str continue_token; /* For metadata.continue: how to go on with an expired list. */
} kc__status_opts;

/* Appends the Status of an error as JSON. opts may be NULL. */
void kc__status_write(kc_buf *out, const kc_error *error, const kc__status_opts *opts);
/* Appends the Status of a success about an object. */
void kc__status_write_success(kc_buf *out, kc_str group, kc_str resource, kc_str name, kc_str uid);

#endif
