/* SPDX-License-Identifier: Apache-2.0 */
/* webhook_rules.h: validation of webhook client configs. */
#ifndef KC_APISERVER_WEBHOOK_RULES_H
#define KC_APISERVER_WEBHOOK_RULES_H

#include "apiserver/kinds/validate_rules.h"

/* Validates a client config: {"url": …} or {"service": …}. */
void kc__validate_webhook_client(const kc__location *config);

#endif
