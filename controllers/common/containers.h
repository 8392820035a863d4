/* SPDX-License-Identifier: Apache-2.0 */
/* containers.h: facts about containers that several controllers need. */
#ifndef KC_CONTROLLERS_CONTAINERS_H
#define KC_CONTROLLERS_CONTAINERS_H

#include "api/core_v1/zz_generated.h"

/* Whether an init container is a sidecar, which keeps running beside the main containers. */
static inline bool kc__common_is_sidecar(const kc_container *init)
{
    return init->restart_policy && !strcmp(init->restart_policy, "Always");
}

#endif
