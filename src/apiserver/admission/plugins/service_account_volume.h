/* SPDX-License-Identifier: Apache-2.0 */
/* service_account_volume.h: the volume with the token of a pod's service account. */
#ifndef KC_APISERVER_SERVICE_ACCOUNT_VOLUME_H
#define KC_APISERVER_SERVICE_ACCOUNT_VOLUME_H

#include "kc/edit.h"
#include "kc/rand.h"

/*
 * Mounts a projected volume with a token, the CA certificate of the server and the namespace in
 * every container that mounts nothing at that path. The volume is kube-api-access-xxxxx; a volume
 * that is already named so is used instead.
 */
void kc__admission_mount_token(kc_edit *edit, kc_node *spec, kc_rand *rand);

#endif
