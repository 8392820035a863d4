/* SPDX-License-Identifier: Apache-2.0 */
/*
 * indexes.h: the indexes that several controllers look objects up by. They are made before anything
 * starts (kc_controllers_add), once for all of them.
 *
 *     kc_cache_list(cache, &kc_kind_pod, &(kc_list_opts){.index = KC__BY_CONTROLLER, .value = uid},
 * …)
 *
 * To add one: a name here, a row in indexes.c.
 */
#ifndef KC_CONTROLLERS_INDEXES_H
#define KC_CONTROLLERS_INDEXES_H

#include "kc/cache.h"

/* Pods, ReplicaSets: by the uid of their controller; those without one by KC__ORPHANS_OF and their
 * namespace. */
#define KC__BY_CONTROLLER "controller"
#define KC__ORPHANS_OF    "orphans/"
/* Pods: by spec.nodeName; those without one by "". */
#define KC__BY_NODE "node"

int kc__make_indexes(kc_cache *cache, kc_error *err);

#endif
