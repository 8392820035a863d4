/* SPDX-License-Identifier: Apache-2.0 */
/* bootstrap.h: the objects every control plane has from its first moment. */
#ifndef KC_APISERVER_BOOTSTRAP_H
#define KC_APISERVER_BOOTSTRAP_H

#include "apiserver/rest/call.h"

/* Creates those that are not there. Before requests are served; blocks until they are stored.
 * `client_ca`: PEM of the authorities whose clients are let in; empty: not to be published. */
int kc__bootstrap_objects(kc__api *api, kc_str client_ca, kc_error *err);

#endif
