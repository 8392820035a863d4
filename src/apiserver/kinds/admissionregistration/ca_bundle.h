/* SPDX-License-Identifier: Apache-2.0 */
/* ca_bundle.h: checks the CA bundle of a webhook as kube-apiserver does. */
#ifndef KC_APISERVER_CA_BUNDLE_H
#define KC_APISERVER_CA_BUNDLE_H

#include "kc/buf.h"

/* Whether the bundle, as base64, has at least one certificate in PEM, or is empty. If not, `why`
 * gets Kubernetes' message; it may be NULL. */
bool kc__hook_bundle_check(kc_str base64, kc_buf *why);

#endif
