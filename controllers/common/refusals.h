/* SPDX-License-Identifier: Apache-2.0 */
/* refusals.h: what a server's refusal means to a controller. */
#ifndef KC_CONTROLLERS_REFUSALS_H
#define KC_CONTROLLERS_REFUSALS_H

#include "kc/error.h"

/* Nothing can be made in a namespace that is being deleted: no reason to try again. */
static inline bool kc__namespace_is_ending(const kc_error *err)
{
    kc_vec_each (&err->causes, cause)
        if (cause->reason && strcmp(cause->reason, "NamespaceTerminating") == 0)
            return true;
    return false;
}

#endif
