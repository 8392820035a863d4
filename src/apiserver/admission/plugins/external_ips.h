/* SPDX-License-Identifier: Apache-2.0 */
/* external_ips.h: the admission plugin DenyServiceExternalIPs. */
#ifndef KC_APISERVER_EXTERNAL_IPS_H
#define KC_APISERVER_EXTERNAL_IPS_H

#include "apiserver/call/call.h"

kc__rest_phase_fn kc__admission_deny_external_ips;

#endif
