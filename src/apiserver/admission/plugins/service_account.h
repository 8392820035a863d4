/* SPDX-License-Identifier: Apache-2.0 */
/* service_account.h: the service account of a pod, and the volume with its token. */
#ifndef KC_APISERVER_SERVICE_ACCOUNT_H
#define KC_APISERVER_SERVICE_ACCOUNT_H

#include "apiserver/call/call.h"

kc__rest_phase_fn kc__admission_service_account_mutate;
kc__rest_phase_fn kc__admission_service_account_validate;
/* Ends a wait for the account. */
void kc__admission_service_account_release(kc__rest_call *call);

#endif
