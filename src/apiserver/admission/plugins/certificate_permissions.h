/* SPDX-License-Identifier: Apache-2.0 */
/* certificate_permissions.h: the admission plugins CertificateApproval and CertificateSigning. */
#ifndef KC_APISERVER_CERTIFICATE_PERMISSIONS_H
#define KC_APISERVER_CERTIFICATE_PERMISSIONS_H

#include "apiserver/call/call.h"

kc__rest_phase_fn kc__admission_certificate_approval;
kc__rest_phase_fn kc__admission_certificate_signing;

#endif
