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
#include "kc/controller.h"
#include "kc/selector.h"

/* Pods, ReplicaSets: by the uid of their controller. */
#define KC__BY_CONTROLLER "controller"
/* Pods: by spec.nodeName; those without one by "". */
#define KC__BY_NODE "node"
/* And the other way, for watches of pods (kc_map_fn): the key of the node that a pod is on. */
void kc__node_of_pod(const kc_object *pod, kc_enqueuer *to, void *user);

/* ReplicaSets, Deployments: by a label that their selector requires and their namespace
 * (kc__index_of_label); those that require no certain value by the namespace alone. So that who
 * might select an object is found by its labels. */
#define KC__BY_SELECTOR "selector"

/* Pods, ReplicaSets that have no controller: by each of their labels and their namespace, and by
 * the namespace alone. So that a selector finds what it might adopt. */
#define KC__ORPHANS "orphans"

/* The selector in an object's spec; the caller's. NULL on error. */
kc_selector *kc__selector_in(const kc_object *object, kc_error *err);

/* What a label of a namespace is found under in the two above, in `out`, in place of what was
 * there; with an empty key the namespace alone. */
void kc__index_of_label(kc_buf *out, kc_str ns, kc_str key, kc_str value);
/* The first label of which a selector requires a certain value; empty ones if there is none. */
void kc__required_label(const kc_selector *selector, kc_str *ret_key, kc_str *ret_value);

int kc__make_indexes(kc_cache *cache, kc_error *err);

#endif
