/* SPDX-License-Identifier: Apache-2.0 */
/* certificate_request.h: what the server sets in CertificateSigningRequests, and the admission
 * plugin CertificateSubjectRestriction. */
#ifndef KC_APISERVER_CERTIFICATE_REQUEST_H
#define KC_APISERVER_CERTIFICATE_REQUEST_H

#include "apiserver/call/call.h"

/* A stage `allocate`: the requester of a new request; the times of conditions. */
kc__rest_phase_fn kc__admission_certificate_fields;
/* CertificateSubjectRestriction */
kc__rest_phase_fn kc__admission_certificate_subject;

#endif
