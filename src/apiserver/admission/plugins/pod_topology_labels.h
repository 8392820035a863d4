/* SPDX-License-Identifier: Apache-2.0 */
/* pod_topology_labels.h: the admission plugin PodTopologyLabels: a pod has the zone and region of
 * its node as labels. */
#ifndef KC_APISERVER_POD_TOPOLOGY_LABELS_H
#define KC_APISERVER_POD_TOPOLOGY_LABELS_H

#include "apiserver/call/call.h"

kc__rest_phase_fn kc__admission_topology_labels_mutate, kc__admission_topology_labels_body;

#endif
