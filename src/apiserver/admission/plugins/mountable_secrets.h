/* SPDX-License-Identifier: Apache-2.0 */
/* mountable_secrets.h: which secrets a pod refers to, and which of them its account allows. Pure.
 */
#ifndef KC_APISERVER_MOUNTABLE_SECRETS_H
#define KC_APISERVER_MOUNTABLE_SECRETS_H

#include "kc/buf.h"
#include "kc/view.h"

/* Whether the pod spec names a secret anywhere. */
bool kc__admission_pod_uses_secrets(const kc_value *spec);
/* Whether a projected volume has a token of a service account. */
bool kc__admission_pod_uses_token_volume(const kc_value *spec);

/* Append why the account does not allow a secret of the pod, in the words of Kubernetes; nothing if
 * it allows all. The first one is reported. */
void kc__admission_check_mountable(const kc_value *account, const kc_value *spec, kc_buf *out);
/* The same for the ephemeral containers only. */
void kc__admission_check_ephemeral_mountable(const kc_value *account, const kc_value *spec,
                                             kc_buf *out);

#endif
