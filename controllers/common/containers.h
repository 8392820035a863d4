/* SPDX-License-Identifier: Apache-2.0 */
/* containers.h: what is said of containers in more than one place. */
#ifndef KC_CONTROLLERS_CONTAINERS_H
#define KC_CONTROLLERS_CONTAINERS_H

#include "api/core_v1/zz_generated.h"

/* An init container that goes on beside the containers. */
static inline bool kc__is_sidecar(const kc_container *init)
{
    return init->restart_policy && !strcmp(init->restart_policy, "Always");
}

#endif
