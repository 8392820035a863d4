/* SPDX-License-Identifier: Apache-2.0 */
/* webhook_error.h: failed calls of webhooks, in the words of kube-apiserver's client. */
#ifndef KC_APISERVER_WEBHOOK_ERROR_H
#define KC_APISERVER_WEBHOOK_ERROR_H

#include "http/client/http_client.h"
#include "kc/buf.h"
#include "kc/view.h"

/* Appends why a call without success failed. */
void kc__hook_write_error(kc_buf *out, const kc__http_client_response *response, const char *url);
/* Reports a body that is not a JSON object. `root` is its value, or NULL: it is no JSON, for the
 * reason `why`. Returns negative. */
int kc__hook_report_no_object(kc_str body, const kc_value *root, const kc_error *why,
                              kc_error *err);

#endif
