/* SPDX-License-Identifier: Apache-2.0 */
/* network.h: the reconciler over a way of the caller's to the network service: for tests. */
#ifndef KC_NETWORK_H
#define KC_NETWORK_H

#include "kc/app.h"

/* As its setup does, which makes a way of the setting. `transport` is taken over. */
int kc__network_set_up(const kc_setup *setup, kc_transport *transport, void **ret_user,
                       kc_error *err);

#endif
