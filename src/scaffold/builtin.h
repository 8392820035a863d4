/* SPDX-License-Identifier: Apache-2.0 */
/* builtin.h: the kinds of Kubernetes that kc/kinds.h has, by name. */
#ifndef KC_SCAFFOLD_BUILTIN_H
#define KC_SCAFFOLD_BUILTIN_H

#include "kc/str.h"

typedef struct kc__builtin {
    const char *variable;                        /* "kc_kind_deployment" */
    const char *group, *version, *kind, *plural; /* The core group is "". */
    bool namespaced;
} kc__builtin;

/* The group in full, or its first word, or "core", as kubebuilder takes it. NULL: there is none. */
const kc__builtin *kc__builtin_find(kc_str group, kc_str version, kc_str kind);

#endif
