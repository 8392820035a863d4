/* SPDX-License-Identifier: Apache-2.0 */
/* qos.h: the class of service of a pod, by what its containers request and are limited to. */
#ifndef KC_APISERVER_QOS_H
#define KC_APISERVER_QOS_H

#include "kc/edit.h"

/* "Guaranteed", "Burstable" or "BestEffort", of a PodSpec. */
const char *kc__qos_class(const kc_node *spec);

#endif
