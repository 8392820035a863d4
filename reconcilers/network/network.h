/* SPDX-License-Identifier: Apache-2.0 */
/* network.h: sets up the reconciler with a given transport, for tests. */
#ifndef KC_NETWORK_H
#define KC_NETWORK_H

#include "kc/app.h"

/* As its setup does, which creates the transport from the setting. Takes ownership of
 * `transport`. */
int kc__network_set_up(const kc_reconciler_setup *setup, kc_transport *transport, void **ret_user,
                       kc_error *err);

#endif
