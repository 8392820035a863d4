/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificates.h: the controllers of CertificateSigningRequests:
 *
 *     signer.c     csrsigning    approved requests of the built-in signers get their certificate
 *     approver.c   csrapproving  requests of nodes for client certificates are approved
 *     cleaner.c    csrcleaner    old requests are deleted
 */
#ifndef KC_CONTROLLERS_CERTIFICATES_H
#define KC_CONTROLLERS_CERTIFICATES_H

#include "kc/controllers.h"
#include "kc/reconcile.h"
#include "kc/view.h"

extern const kc_kind kc__csr_kind; /* CertificateSigningRequest */

/* Whether the request has a condition of this type with status True. */
bool kc__csr_has_condition(const kc_value *request, const char *type);

/* What a signer reads of a request; slices of the view and the arena. */
void kc__csr_read(const kc_value *request, kc_arena *arena, kc_certificate_request *ret);

/* The request with one more condition. NULL on error. */
kc_object *kc__csr_with_condition(const kc_object *request, const char *type, const char *reason,
                                  kc_str message, kc_error *err);

#endif
