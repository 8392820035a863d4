/* SPDX-License-Identifier: Apache-2.0 */
/* builtin.h: the built-in kinds of kc/kinds.h, by name. */
#ifndef KC_SCAFFOLD_BUILTIN_H
#define KC_SCAFFOLD_BUILTIN_H

#include "kc/str.h"

typedef struct kc__scaffold_builtin {
    const char *variable;                        /* "kc_kind_deployment" */
    const char *group, *version, *kind, *plural; /* The core group is "". */
    bool namespaced;
} kc__scaffold_builtin;

/* The full group, its first label, or "core", as kubebuilder accepts it. NULL if there is none. */
const kc__scaffold_builtin *kc__scaffold_builtin_find(kc_str group, kc_str version, kc_str kind);

#endif
