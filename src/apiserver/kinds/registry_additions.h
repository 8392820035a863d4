/* SPDX-License-Identifier: Apache-2.0 */
/* registry_additions.h: sorts custom resources into the groups and versions of a registry. */
#ifndef KC_APISERVER_ADDITIONS_H
#define KC_APISERVER_ADDITIONS_H

#include "apiserver/kinds/registry.h"
#include "kc/arena.h"

/* Owns the memory that kc__registry_add_resources allocated. Must live until the registry is
 * built. */
typedef struct kc__registry_additions {
    kc_arena arena;
} kc__registry_additions;

void kc__registry_additions_done(kc__registry_additions *added);

/* Replaces the groups and resources of `opts` with a list that includes its additions. */
void kc__registry_add_resources(kc__registry_opts *opts, kc__registry_additions *added);

#endif
