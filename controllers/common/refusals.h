/* SPDX-License-Identifier: Apache-2.0 */
/* refusals.h: interprets errors of the server for controllers. */
#ifndef KC_CONTROLLERS_REFUSALS_H
#define KC_CONTROLLERS_REFUSALS_H

#include "kc/error.h"

/* The namespace is terminating and accepts no new objects: do not retry. */
static inline bool kc__common_namespace_is_terminating(const kc_error *err)
{
    kc_vec_each (&err->causes, cause)
        if (cause->reason && strcmp(cause->reason, "NamespaceTerminating") == 0)
            return true;
    return false;
}

#endif
