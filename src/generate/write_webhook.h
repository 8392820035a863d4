/* SPDX-License-Identifier: Apache-2.0 */
/* write_webhook.h: which webhooks a project has, as configurations of the API server. */
#ifndef KC_GENERATE_WRITE_WEBHOOK_H
#define KC_GENERATE_WRITE_WEBHOOK_H

#include "generate/model.h"
#include "generate/output.h"

/*
 * Writes manifests.yaml with a MutatingWebhookConfiguration and a ValidatingWebhookConfiguration,
 * each where there is a webhook of its kind; nothing where there is none. `header` is text before
 * the first document; NULL: none. Negative with KC_INVALID and a line for each mistake; then
 * nothing was put.
 */
int kc__write_webhooks(const kc__gen_model *model, const char *header, kc__gen_put *put, void *user,
                       kc_error *err);

#endif
