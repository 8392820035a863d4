/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificate_signer.c: connects the controllers of CertificateSigningRequests with a CA.
 * Controllers use public headers only, so the command brings the two together: `kc up` with the CA
 * of its server, `kc controllers` with files.
 */
#include "certificate_signer.h"

#include "kc/clock.h"

#include <stddef.h>

#define FIELD(name) .offset = offsetof(kc__cli_signing_options, name)
#define SIGNING     "Certificates"
#define MIN_LIFE    (10 * KC_MINUTE)

static const kc__cli_flag flags[] = {
    {"cluster-signing-cert-file", .argument = "FILE", .group = SIGNING, FIELD(cert_file),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help =
         "CA that signs approved CertificateSigningRequests of the signers kubernetes.io/*, PEM"},
    {"cluster-signing-key-file", .argument = "FILE", .group = SIGNING, FIELD(key_file),
     .parse = kc__cli_flag_text, .values = "FILE", .help = "private key of that CA, PEM"},
    {"cluster-signing-duration", .argument = "DURATION", .initial = "8760h", .group = SIGNING,
     FIELD(duration), .parse = kc__cli_flag_duration,
     .help = "maximum validity of a signed certificate; a request may set a shorter one"},
};

const kc__cli_flag_set kc__cli_signing_part = {KC__CLI_FLAGS(flags),
                                               .size = sizeof(kc__cli_signing_options)};

/* ---- signing ---- */

static kc__serving_signing_request request_to_sign(const kc_certificate_request *request,
                                                   const kc__cli_signer *signer)
{
    const int64_t wanted = request->expiration_seconds * KC_SECOND;
    return (kc__serving_signing_request){
        .name = request->signer,
        .pem = request->pem,
        .usages = request->usages,
        .n_usages = request->n_usages,
        .lifetime = wanted ? KC_MIN(KC_MAX(wanted, MIN_LIFE), signer->duration) : signer->duration,
        .now = kc_clock_wall(kc_clock_real())};
}

static int cli_sign(const kc_certificate_request *request, kc_buf *out, void *user, kc_error *err)
{
    const kc__cli_signer *signer = user;
    const kc__serving_signing_request wanted = request_to_sign(request, signer);
    return kc__serving_sign_request(signer->ca, &wanted, out, err);
}

static bool cli_is_node_client(const kc_certificate_request *request, kc_buf *ret_name, void *user)
{
    const kc__serving_signing_request wanted = request_to_sign(request, user);
    return kc__serving_is_node_client(&wanted, ret_name);
}

static bool cli_certificate_end(kc_str pem, kc_time *ret, void *user)
{
    (void)user;
    return kc__serving_certificate_end(pem, ret);
}

int kc__cli_signer_open(kc__cli_signer *signer, const kc__cli_signing_options *options,
                        const char *cert_file, const char *key_file, kc_error *err)
{
    if (!options->cert_file != !options->key_file)
        return kc_error_set(err, KC_INVALID,
                            "--cluster-signing-cert-file and --cluster-signing-key-file need each "
                            "other");
    if (options->cert_file) {
        cert_file = options->cert_file;
        key_file = options->key_file;
    }
    if (!cert_file || !key_file)
        return 0;
    signer->ca = kc__serving_signer_new(cert_file, key_file, err);
    if (!signer->ca)
        return kc_error_result(err);
    signer->duration = options->duration;
    signer->signer = (kc_certificate_signer){.sign = cli_sign,
                                             .is_node_client = cli_is_node_client,
                                             .certificate_end = cli_certificate_end,
                                             .user = signer};
    return 0;
}

void kc__cli_signer_done(kc__cli_signer *signer)
{
    signer->ca = kc__serving_signer_free(signer->ca);
}
