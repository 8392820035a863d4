/* SPDX-License-Identifier: Apache-2.0 */
/* write_webhook.h: writes webhook configurations of a project. */
#ifndef KC_GENERATE_WRITE_WEBHOOK_H
#define KC_GENERATE_WRITE_WEBHOOK_H

#include "generate/model/model.h"
#include "generate/write/output.h"

/*
 * Writes manifests.yaml with a MutatingWebhookConfiguration and a ValidatingWebhookConfiguration,
 * each if there is a webhook of its kind; nothing if there is none. `header` is text before the
 * first document; NULL: none. Negative with KC_INVALID and a line for each mistake; then nothing is
 * written.
 */
int kc__gen_write_webhooks(const kc__gen_model *model, const char *header, kc__gen_output_put *put,
                           void *user, kc_error *err);

#endif
