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

/* ReplicaSets, Deployments: by a label that their selector requires and their namespace
 * (kc__selector_value); those that require no certain value by the namespace alone. So that who
 * might select an object is found by its labels. */
#define KC__BY_SELECTOR "selector"

/* What a selector is found under, in `out`, in place of what was there: with an empty key those
 * that require no certain value. */
void kc__selector_value(kc_buf *out, kc_str ns, kc_str key, kc_str value);

int kc__make_indexes(kc_cache *cache, kc_error *err);

#endif
