/* SPDX-License-Identifier: Apache-2.0 */
/* apply_set_internal.h: the state of an apply set, shared by apply_set.c and apply_members.c. */
#ifndef KC_CLIENT_APPLY_SET_INTERNAL_H
#define KC_CLIENT_APPLY_SET_INTERNAL_H

#include "client/apply/apply_set.h"

struct kc__apply_set {
    const kc_kind *kind; /* Of the parent. */
    char *ns, *name, *tooling, *id;
    kc_object *parent;     /* As last read or written. */
    kc__apply_scope scope; /* As last read. */
    /* "Kind.group" to the const kc_kind that is listed. The keys are those of `kind_names`. */
    kc_map kinds;
    kc__apply_names kind_names;
};

#endif
