/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_ca.h: writes the ConfigMap kube-system/extension-apiserver-authentication when the CAs of
 * clients change, and restores it when a client changes or deletes it.
 */
#ifndef KC_APISERVER_CLIENT_CA_H
#define KC_APISERVER_CLIENT_CA_H

#include "apiserver/background/bootstrap.h"

typedef struct kc__client_ca kc__client_ca;

/* Runs on the first context's loop. `trust` is copied. Must not be called from a loop's thread. */
kc__client_ca *kc__client_ca_start(kc__rest_api *api, const kc__bootstrap_trust *trust);
/* Publishes other values, which are copied; the server writes them within a second. Blocks; must
 * not be called from a loop's thread. NULL is allowed. */
void kc__client_ca_replace(kc__client_ca *client_ca, const kc__bootstrap_trust *trust);
/* Starts no more writes; one in progress may still complete. The store must be open. Blocks; must
 * not be called from a loop's thread. NULL is allowed. */
void kc__client_ca_stop(kc__client_ca *client_ca);
/* Call it after the store is closed. NULL is allowed; returns NULL. */
kc__client_ca *kc__client_ca_free(kc__client_ca *client_ca);

#endif
