/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_url.h: checks Kubernetes' rules for the URL of a webhook.
 */
#ifndef KC_APISERVER_WEBHOOK_URL_H
#define KC_APISERVER_WEBHOOK_URL_H

#include "kc/buf.h"
#include "kc/field_error.h"

/* Calls `wrong` for each rule that the URL violates, with Kubernetes' messages and order.
 * `shown` is the invalid part; empty for KC_FIELD_REQUIRED. */
typedef void kc__hook_url_error_fn(kc_field_error_type type, kc_str shown, const char *detail,
                                   void *user);
void kc__hook_url_check(kc_str text, kc__hook_url_error_fn *wrong, void *user);

#endif
