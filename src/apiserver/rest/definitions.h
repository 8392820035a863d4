/* SPDX-License-Identifier: Apache-2.0 */
/*
 * definitions.h: keeps what is served in step with the CustomResourceDefinitions that are stored:
 * their status, the resources they bring, their end.
 */
#ifndef KC_APISERVER_DEFINITIONS_H
#define KC_APISERVER_DEFINITIONS_H

#include "apiserver/rest/call.h"

typedef struct kc__crds kc__crds;

/* Lives on the first lane's loop. When it returns, what is stored is served. Blocks; not from a
 * loop's thread. */
kc__crds *kc__crds_start(kc__api *api);
/* No more changes are made; writes under way may still end. The store is open. Blocks likewise. */
void kc__crds_stop(kc__crds *definitions);
/* After the store was closed. NULL is allowed; returns NULL. */
kc__crds *kc__crds_free(kc__crds *definitions);

#endif
