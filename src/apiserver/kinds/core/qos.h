/* SPDX-License-Identifier: Apache-2.0 */
/* qos.h: the QoS class of a pod, from the requests and limits of its containers. */
#ifndef KC_APISERVER_QOS_H
#define KC_APISERVER_QOS_H

#include "kc/edit.h"

/* Returns "Guaranteed", "Burstable" or "BestEffort" for a PodSpec. */
const char *kc__qos_class(const kc_node *spec);

#endif
