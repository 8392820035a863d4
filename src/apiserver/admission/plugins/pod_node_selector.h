/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_node_selector.h: the admission plugin PodNodeSelector: the node selector of a namespace is
 * that of its pods.
 */
#ifndef KC_APISERVER_POD_NODE_SELECTOR_H
#define KC_APISERVER_POD_NODE_SELECTOR_H

#include "apiserver/call/call.h"

/* The configuration: a default selector and, by namespace, the allowed labels. Any thread. */
typedef struct kc__admission_node_selectors kc__admission_node_selectors;

/* Reads {podNodeSelectorPluginConfig: {NAMESPACE: LABELS}} (YAML or JSON). NULL on error:
 * KC_INVALID. The caller frees it. */
kc__admission_node_selectors *kc__admission_node_selectors_parse(kc_str text, kc_error *err);
/* NULL is allowed. Returns NULL. */
kc__admission_node_selectors *kc__admission_node_selectors_free(
    kc__admission_node_selectors *selectors);
KC_AUTO_DEFINE(kc__admission_node_selectors, kc__admission_node_selectors_free)

kc__rest_phase_fn kc__admission_pod_node_selector_mutate, kc__admission_pod_node_selector_validate;

#endif
