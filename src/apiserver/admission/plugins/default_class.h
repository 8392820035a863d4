/* SPDX-License-Identifier: Apache-2.0 */
/* default_class.h: the default StorageClass of claims, the default IngressClass of Ingresses. */
#ifndef KC_APISERVER_DEFAULT_CLASS_H
#define KC_APISERVER_DEFAULT_CLASS_H

#include "apiserver/call/call.h"

kc__rest_phase_fn kc__admission_default_storage_class;
kc__rest_phase_fn kc__admission_default_ingress_class;

#endif
