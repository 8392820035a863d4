/* SPDX-License-Identifier: Apache-2.0 */
/* webhook_rules.h: whom the server calls. */
#ifndef KC_APISERVER_WEBHOOK_RULES_H
#define KC_APISERVER_WEBHOOK_RULES_H

#include "apiserver/kinds/rules.h"

/* {"url": …} or {"service": …}. */
void kc__check_webhook_client(const kc__place *config);

#endif
