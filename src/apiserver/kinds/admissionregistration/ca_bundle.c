/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ca_bundle.c: a bundle is valid if one of its PEM blocks is a certificate. Blocks of other types,
 * blocks with headers and text between blocks are ignored, as Go's x509 does.
 */
#include "apiserver/kinds/admissionregistration/ca_bundle.h"

#include "kc/base64.h"

#include <openssl/err.h>
#include <openssl/pem.h>

typedef enum pem_block {
    PEM_END,   /* No block is left. */
    PEM_OTHER, /* Not a certificate. */
    PEM_BROKEN,
    PEM_CERTIFICATE,
} pem_block;

static pem_block read_pem_block(BIO *in)
{
    char *name = NULL, *header = NULL;
    unsigned char *data = NULL;
    long n = 0;
    pem_block block = PEM_END;
    if (PEM_read_bio(in, &name, &header, &data, &n)) {
        const unsigned char *at = data;
        const bool plain = !strcmp(name, "CERTIFICATE") && !*header;
        X509 *certificate = plain ? d2i_X509(NULL, &at, n) : NULL;
        block = certificate ? PEM_CERTIFICATE : plain ? PEM_BROKEN : PEM_OTHER;
        X509_free(certificate);
    }
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(data);
    ERR_clear_error();
    return block;
}

/* Why no block is a certificate. `blocks` is the number of blocks. */
static const char *why_no_certificate(bool broken, size_t blocks)
{
    if (broken)
        return "failed to parse certificate: x509: malformed certificate";
    return blocks ? "no valid certificate authority data seen"
                  : "unable to parse bytes as PEM block";
}

bool kc__hook_bundle_check(kc_str base64, kc_buf *why)
{
    kc_scoped(kc_buf) pem = {0};
    if (!kc_base64_read(&pem, base64, KC_BASE64) || !pem.n)
        return true;
    BIO *in = BIO_new_mem_buf(pem.p, (int)pem.n);
    size_t blocks = 0;
    bool broken = false, found = false;
    for (pem_block block; !found && (block = read_pem_block(in)) != PEM_END; blocks++) {
        found = block == PEM_CERTIFICATE;
        broken |= block == PEM_BROKEN;
    }
    BIO_free(in);
    if (!found && why)
        kc_buf_printf(why, "unable to load root certificates: %s",
                      why_no_certificate(broken, blocks));
    return found;
}
