/* SPDX-License-Identifier: Apache-2.0 */
/* namespace_exists.h: the admission plugin NamespaceExists. */
#ifndef KC_APISERVER_NAMESPACE_EXISTS_H
#define KC_APISERVER_NAMESPACE_EXISTS_H

#include "apiserver/call/call.h"

kc__rest_phase_fn kc__admission_namespace_exists;

#endif
