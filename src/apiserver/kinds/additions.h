/* SPDX-License-Identifier: Apache-2.0 */
/* additions.h: custom resources sorted into the groups and versions of a snapshot. */
#ifndef KC_APISERVER_ADDITIONS_H
#define KC_APISERVER_ADDITIONS_H

#include "apiserver/kinds/registry.h"
#include "kc/arena.h"

/* The memory of what kc__add_resources made; needed until the snapshot is there. */
typedef struct kc__added {
    kc_arena arena;
} kc__added;

void kc__added_done(kc__added *added);

/* Replaces the groups and resources of `opts` by those with its additions. */
void kc__add_resources(kc__kinds_opts *opts, kc__added *added);

#endif
