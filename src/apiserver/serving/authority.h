/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authority.h: a certificate authority in files, which is replaced in time.
 *
 *     CA.crt        the certificate that signs, then other certificates that clients trust
 *     CA.key        its key
 *     CA-next.crt   the successor, and its key
 *     CA-next.key
 *
 * Clients have copies of CA.crt, and only certificates of a CA that they know are valid for them.
 * So a CA that this server created is replaced in two steps:
 *
 *     a year before it ends     the successor is created, and clients can learn it from CA.crt
 *     60 days before it ends    the successor signs; the old CA stays in CA.crt until it has ended
 *
 * A CA of the operator is never changed.
 */
#ifndef KC_APISERVER_AUTHORITY_H
#define KC_APISERVER_AUTHORITY_H

#include "apiserver/serving/certificates.h"
#include "http/tls/certificate.h"

#define KC__SERVING_DAY (24 * KC_HOUR)

/* One pass over the certificates of a directory. */
typedef struct kc__serving_pass {
    const kc__serving_certificates_opts *opts;
    int64_t wall;
    bool changed; /* A file was written: the directory must be synced. */
} kc__serving_pass;

/* Set name and paths. */
typedef struct kc__serving_authority {
    const char *name; /* The common name, which identifies a CA that this server created. */
    const char *cert_path, *key_path;
    bool replace_now;      /* Take the next step of the replacement now. */
    kc__cert_keypair pair; /* The key may be missing. */
} kc__serving_authority;

/* Reads the CA; creates it if it does not exist, or takes the step of its replacement that is due.
 * An unusable CA is an error, because it may be the operator's. */
int kc__serving_authority_ensure(kc__serving_pass *pass, kc__serving_authority *ca, kc_error *err);
void kc__serving_authority_done(kc__serving_authority *ca);

/* Why a certificate cannot be used for `ahead` more nanoseconds; NULL if it can. */
const char *kc__serving_problem_of_time(const kc__serving_pass *pass, const X509 *cert,
                                        int64_t ahead);

#endif
