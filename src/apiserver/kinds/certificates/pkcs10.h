/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pkcs10.h: requests for certificates (PKCS#10, PEM), and certificates, as clients send them in
 * CertificateSigningRequests. Verification of a signature takes up to a millisecond. Pure; any
 * thread.
 */
#ifndef KC_APISERVER_PKCS10_H
#define KC_APISERVER_PKCS10_H

#include "kc/buf.h"

/* PEM text of a request; longer text is not parsed. */
enum { KC__PKCS10_MAX_BYTES = 64 << 10 };

/* Whether the base64 text is a request in PEM with a valid signature. Otherwise appends the reason.
 */
bool kc__pkcs10_check(kc_str base64, kc_buf *why);
/* Whether the subject of a request has this organization. *ret_found is unchanged on failure:
 * false, with the reason appended. */
bool kc__pkcs10_has_organization(kc_str base64, const char *organization, bool *ret_found,
                                 kc_buf *why);
/* Whether the base64 text is empty, or only certificates in PEM. Otherwise appends the reason. */
bool kc__pkcs10_check_certificates(kc_str base64, kc_buf *why);

#endif
