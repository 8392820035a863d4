/* SPDX-License-Identifier: Apache-2.0 */
/*
 * indexes.h: cache indexes that several controllers use. kc_controllers_add creates them once,
 * before any informer starts.
 *
 *     const kc_list_opts opts = {.index = KC__COMMON_INDEX_CONTROLLER, .value = uid};
 *     kc_cache_list(cache, &kc_kind_pod, &opts, …)
 *
 * To add an index: a name here, a row in indexes.c.
 */
#ifndef KC_CONTROLLERS_INDEXES_H
#define KC_CONTROLLERS_INDEXES_H

#include "kc/cache.h"
#include "kc/controller.h"
#include "kc/selector.h"

/* Pods and ReplicaSets by the uid of their controller. */
#define KC__COMMON_INDEX_CONTROLLER "controller"
/* Pods by spec.nodeName; unassigned pods by "". */
#define KC__COMMON_INDEX_NODE "node"
/* Map-to-keys function for watches of pods: adds the key of the pod's node. */
void kc__common_node_of_pod(const kc_object *pod, kc_enqueuer *to, void *user);

/* Scheduled pods by "NAMESPACE/CLAIM" of each claim that they mount. */
#define KC__COMMON_INDEX_CLAIM "claim"
/* Writes the name of the claim of a pod's volume: the one that it names, or that of an ephemeral
 * volume. Replaces the content of `ret`. False: the volume has none. */
bool kc__common_claim_of_volume(kc_str pod, const kc_value *volume, kc_buf *ret);

/* ReplicaSets and Deployments by a label that their selector requires and their namespace
 * (kc__common_index_of_label); selectors without a required label value by the namespace alone. The
 * index finds the owners that may select an object with given labels. */
#define KC__COMMON_INDEX_SELECTOR "selector"

/* Pods and ReplicaSets without a controller by each of their labels and their namespace, and by the
 * namespace alone. The index finds the orphans that a selector may adopt. */
#define KC__COMMON_INDEX_ORPHANS "orphans"

/* Parses spec.selector of an object; the caller frees it. NULL on error. */
kc_selector *kc__common_selector_in(const kc_object *object, kc_error *err);

/* Writes to `out` the index value of a label in a namespace, for the two indexes above; replaces
 * the content of `out`. An empty key gives the value of the namespace alone. */
void kc__common_index_of_label(kc_buf *out, kc_str ns, kc_str key, kc_str value);
/* Finds the first label for which a selector requires one value; empty strings if there is none. */
void kc__common_required_label(const kc_selector *selector, kc_str *ret_key, kc_str *ret_value);

int kc__common_make_indexes(kc_cache *cache, kc_error *err);

#endif
