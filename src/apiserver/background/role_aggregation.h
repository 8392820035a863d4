/* SPDX-License-Identifier: Apache-2.0 */
/*
 * role_aggregation.h: the rules of aggregated ClusterRoles: those with an aggregationRule have the
 * rules of all ClusterRoles that their selectors match.
 */
#ifndef KC_APISERVER_ROLE_AGGREGATION_H
#define KC_APISERVER_ROLE_AGGREGATION_H

#include "apiserver/call/call.h"

typedef struct kc__aggregation kc__aggregation;

/* Starts the thread that writes the rules, and waits until the rules of all stored roles are
 * written. Call it before requests are served. NULL on error. */
kc__aggregation *kc__aggregation_start(kc__rest_api *api, kc_error *err);
/* Its loop, which other work in the background may use until the thread ends; NULL for NULL. */
kc__loop *kc__aggregation_loop(kc__aggregation *aggregation);
/* Ends its watch. The loops and the store must still run. NULL is allowed. Blocks. */
void kc__aggregation_stop(kc__aggregation *aggregation);
/* Ends the thread; after the store is closed. NULL is allowed; returns NULL. */
kc__aggregation *kc__aggregation_free(kc__aggregation *aggregation);

#endif
