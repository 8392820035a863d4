/* SPDX-License-Identifier: Apache-2.0 */
/* runtime_class.h: what the RuntimeClass of a new pod adds to it. */
#ifndef KC_APISERVER_RUNTIME_CLASS_H
#define KC_APISERVER_RUNTIME_CLASS_H

#include "apiserver/call/call.h"

kc__rest_phase_fn kc__admission_runtime_class_mutate;
kc__rest_phase_fn kc__admission_runtime_class_validate;

#endif
