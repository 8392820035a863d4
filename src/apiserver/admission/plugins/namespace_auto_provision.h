/* SPDX-License-Identifier: Apache-2.0 */
/* namespace_auto_provision.h: the admission plugin NamespaceAutoProvision: an object that is
 * created in a namespace that does not exist creates the namespace, too. */
#ifndef KC_APISERVER_NAMESPACE_AUTO_PROVISION_H
#define KC_APISERVER_NAMESPACE_AUTO_PROVISION_H

#include "apiserver/call/call.h"

kc__rest_phase_fn kc__admission_auto_provision, kc__admission_auto_provision_body;

#endif
