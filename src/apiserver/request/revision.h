/* SPDX-License-Identifier: Apache-2.0 */
/* revision.h: the resourceVersion that a read names. */
#ifndef KC_APISERVER_REVISION_H
#define KC_APISERVER_REVISION_H

#include "apiserver/call/call.h"

/* 504: a future revision. */
kc__rest_verdict kc__rest_fail_future_revision(kc__rest_call *call, uint64_t wanted, uint64_t is);
/* The same, but only sets the error. */
void kc__rest_future_revision_error(kc_error *err, uint64_t wanted, uint64_t is);

/* Parses a resourceVersion: KC_BAD_REQUEST if it is invalid. Empty is 0. */
int kc__rest_parse_revision(kc_str text, uint64_t *ret, kc_error *err);

#endif
