/* SPDX-License-Identifier: Apache-2.0 */
/* certificate_signer.h: signs the certificates of CertificateSigningRequests for the controllers,
 * with a CA of the command. */
#ifndef KC_CMD_CERTIFICATE_SIGNER_H
#define KC_CMD_CERTIFICATE_SIGNER_H

#include "flags.h"

#include "apiserver/serving/request_signer.h"
#include "kc/controllers.h"

typedef struct kc__cli_signing_options {
    const char *cert_file, *key_file; /* NULL: those of the plane, if it has some. */
    int64_t duration;                 /* Maximum validity of a certificate. */
} kc__cli_signing_options;

/* Rows for kc__cli_flag_part. */
extern const kc__cli_flag_set kc__cli_signing_part;

/* A signer in use. */
typedef struct kc__cli_signer {
    kc__serving_signer *ca; /* NULL: none. */
    int64_t duration;
    kc_certificate_signer signer; /* For kc_controllers_opts. */
} kc__cli_signer;

/* Opens the CA of the options, else the one of these files, which may be NULL: no signer. */
int kc__cli_signer_open(kc__cli_signer *signer, const kc__cli_signing_options *options,
                        const char *cert_file, const char *key_file, kc_error *err);
void kc__cli_signer_done(kc__cli_signer *signer);

#endif
